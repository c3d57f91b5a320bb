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

from ..convolution import convolution_backward_bias
from .call import Call
from .convolution_algorithms import why_not, workspace_bytes
from .convolution_directions import direction_of
from .convolution_runs import Operands, run
from .registry import implements, not_supported


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
    dy, db = call.operands("dy", "db")
    call.check()
    factors = call.factors()
    result = convolution_backward_bias(
        dy=dy.load(),
        db=db.prior(factors["beta"]),
        compute_dtype=dy.compute_dtype,
        **factors,
    )
    db.store(result)
