"""Convolutions on the reference device, at the level of the C calls.

Statuses are cuDNN 9.19's on an H200:

- BAD_PARAM: NULL; a descriptor that was never set; shapes that do not fit together; a workspace
  that is NULL or too small.
- NOT_SUPPORTED: data types, layouts or an algorithm for which cuDNN has no kernel (see
  `convolution_algorithms`). The fused convolution and the bias gradient have their own conditions,
  stated there.
- EXECUTION_FAILED: memory that is not allocated, or too small (see `memory`).

Stricter than cuDNN 9.19: the group count must fit the channels, and every algorithm needs the whole
workspace that ``…WorkspaceSize`` reports. The workspace is overwritten, as on a GPU.
"""

from __future__ import annotations

import numpy as np

from ... import raw
from ..convolution import convolution_backward_bias
from .call import Call
from .convolution_algorithms import why_not, workspace_bytes
from .convolution_directions import direction_of
from .convolution_runs import Operands, run
from .registry import bad_param, implements, not_supported

_BIAS_GRADIENT_TYPES = (raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF)


@implements(
    "cudnnConvolutionForward", "cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter"
)
def convolution(call: Call) -> None:
    direction, algo = direction_of(call), call["algo"]
    problem = direction.problem(call)
    operands, factors = Operands.of(call, problem), call.factors()
    reason = why_not(direction, algo, problem)
    if reason:
        raise not_supported(reason)
    call.use_workspace("workSpace", workspace_bytes(direction, algo, problem))
    run(direction, problem, operands, **factors)


@implements("cudnnConvolutionBackwardBias")
def backward_bias(call: Call) -> None:
    """The bias gradient: dy with 4 or more dimensions in FLOAT, DOUBLE or HALF; db (1, C, 1...) of
    the same type."""
    dy, db = call.operands("dy", "db")
    shape = dy.shape
    wanted = (1, *shape[1:2], *(1,) * (len(shape) - 2))
    if len(shape) == 3 or (len(shape) > 3 and dy.data_type not in _BIAS_GRADIENT_TYPES):
        raise not_supported(
            f"cuDNN has no kernel for dy of {len(shape)} dimensions in {dy.data_type.name}"
        )
    if len(shape) < 3 or db.shape != wanted or db.data_type != dy.data_type:
        raise bad_param(
            f"dbDesc must hold {dy.data_type.name} and shape {wanted}, got {db.data_type.name} and "
            f"{db.shape}"
        )
    factors = call.factors()
    result = convolution_backward_bias(
        dy=dy.load(),
        db=db.prior(factors["beta"]),
        compute_dtype=np.float64 if dy.dtype == np.float64 else np.float32,
        **factors,
    )
    db.store(result)
