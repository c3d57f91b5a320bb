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

The fused convolution accepts every algorithm but DIRECT, even if the plain one has no kernel for
it.

Queries for algorithms answer as cuDNN 9.19:

- ``_v7`` does not time (its ``time`` is -1). It lists the preferred algorithm first, and algorithms
  without a kernel last, with their status;
- ``Find…`` gives times in milliseconds. For descriptors that do not fit together it succeeds, with
  rows of BAD_PARAM. ``Find…`` allocates its own memory; ``Find…Ex`` overwrites the caller's output,
  and gives algorithms that need a larger workspace the status INTERNAL_ERROR_UNEXPECTED_VALUE.

NumPy computes all algorithms in the same way. So one run is timed, all algorithms get this time,
and their order is cuDNN's order of preference: no algorithm looks faster by chance. Each is listed
once, with the descriptor's math type; cuDNN lists some twice.

cuDNN accepts im2col descriptors that do not fit together, and convolutions that cannot be folded;
these calls are refused here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

from ... import raw
from ...raw import descriptors
from ...raw.descriptors import Convolution, Filter, Tensor
from ..convolution import (
    convolution_backward_bias,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_bias_activation_forward,
    convolution_forward,
)
from ..geometry import im2col
from ..reorder import reorder_bias, reorder_filter, restore_bias, restore_filter
from ..tiles import Array
from ..transform import TensorTransform, folded_backward_data
from . import lent
from .call import Call, word
from .convolution_problem import (
    BACKWARD_DATA,
    DIRECTIONS,
    FORWARD,
    Direction,
    Problem,
    direction_of,
    fitting,
    result_types,
    why_not,
    why_not_fused,
    workspace_bytes,
)
from .memory import Operand, joined_vectors, scribble, zeros
from .registry import Refused, bad_param, implements, not_supported

FUSED = (raw.CUDNN_ACTIVATION_RELU, raw.CUDNN_ACTIVATION_IDENTITY)
"""Activations that cuDNN fuses into convolutions."""


class Operands(NamedTuple):
    """x, w and y, or their gradients."""

    x: Operand
    w: Operand
    y: Operand

    @classmethod
    def of(cls, call: Call, problem: Problem) -> Operands:
        """The memory of a call."""
        x, w, _, y = problem.names
        return cls(call.described(x), call.described(w), call.described(y))


def run(
    direction: Direction,
    problem: Problem,
    operands: Operands,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> None:
    """result = alpha * (convolution, or its gradient) + beta * result, in place."""
    x, w, y = operands
    options: dict[str, Any] = {
        **problem.options,
        "alpha": alpha,
        "beta": beta,
        "compute_dtype": problem.compute_dtype,
    }
    if direction is FORWARD:
        y.keep_apart(x, w)
        filters = load_filter(problem, w)
        y.store(convolution_forward(x.load(), filters, y=y.prior(beta), **options))
    elif direction is BACKWARD_DATA:
        x.keep_apart(w, y)
        dx = convolution_backward_data(
            w=w.load(), dy=y.load(), dx_shape=problem.x.shape, dx=x.prior(beta), **options
        )
        x.store(dx)
    else:
        w.keep_apart(x, y)
        dw = convolution_backward_filter(
            x=x.load(), dy=y.load(), dw_shape=problem.w.shape, dw=w.prior(beta), **options
        )
        w.store(dw)


def reordered(problem: Problem) -> bool:
    """Whether the program has reordered the filter and the bias itself."""
    return (
        problem.w.data_type == raw.CUDNN_DATA_INT8x32
        and problem.convolution.reorder_type == raw.CUDNN_NO_REORDER
    )


def load_filter(problem: Problem, w: Operand) -> Array:
    """w, put back into its order where the program has reordered it for the INT8x32 kernels."""
    if not reordered(problem):
        return w.load()
    return joined_vectors(restore_filter(w.stored()))


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
    call.compute(convolution_backward_bias, "dy", "db")


@implements("cudnnConvolutionBiasActivationForward")
def bias_activation_forward(call: Call) -> None:
    """z with y's shape and type, bias (1, K, 1...) in y's type or FLOAT; ReLU or identity.

    z and its descriptor are required even if alpha2 is 0.
    """
    x, w, z, bias, y = call.operands("x", "w", "z", "bias", "y")
    problem, algo = Problem.read(call, "xDesc", "wDesc", "convDesc", "yDesc"), call["algo"]
    activation = call.record("activationDesc", descriptors.Activation)
    factors = call.factors()
    _check(algo, problem, z, bias)
    if activation.mode not in FUSED:
        raise not_supported(
            f"cuDNN fuses only RELU and IDENTITY, activationDesc holds {activation.mode.name}"
        )
    if not why_not(FORWARD, algo, problem):
        call.use_workspace("workSpace", workspace_bytes(FORWARD, algo, problem))
    y.keep_apart(x, w)  # z may be where y is
    z.check()
    bias_values = bias.load().reshape(-1)
    y.store(
        convolution_bias_activation_forward(
            x.load(),
            load_filter(problem, w),
            None if factors["alpha2"] == 0 else z.load(),
            restore_bias(bias_values) if reordered(problem) else bias_values,
            **problem.options,
            **factors,
            activation=word(activation.mode, "CUDNN_ACTIVATION_"),
            compute_dtype=problem.compute_dtype,
            out_dtype=y.dtype,
        )
    )


def _check(algo: Any, p: Problem, z: Operand, bias: Operand) -> None:
    per_channel = (1, p.y.shape[1], *(1,) * p.geometry.spatial)
    results = result_types(p)
    integer = p.convolution.compute_data_type == raw.CUDNN_DATA_INT32
    bias_type = raw.CUDNN_DATA_FLOAT if integer else p.x.data_type
    if len(bias.shape) != len(per_channel):
        raise bad_param(f"biasDesc must have shape {per_channel}: {bias.shape}")
    if not results or p.geometry.spatial not in (2, 3):
        raise not_supported(why_not(FORWARD, algo, p))
    if algo == raw.CUDNN_CONVOLUTION_FWD_ALGO_DIRECT or algo not in FORWARD.methods:
        raise not_supported(f"cuDNN has no kernel for {algo!r}")
    if z.described != p.y:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
            f"zDesc must hold what yDesc holds, {_said(p.y)}; it holds {_said(z.described)}",
        )
    if bias.shape != per_channel:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
            f"biasDesc must have shape {per_channel}, got {bias.shape}",
        )
    if p.y.data_type not in results or p.y.data_type == raw.CUDNN_DATA_INT32:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
            f"cuDNN has no kernel for xDesc {p.x.data_type.name} and yDesc {p.y.data_type.name}",
        )
    if bias.data_type != bias_type:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
            f"biasDesc must hold {bias_type.name}, got {bias.data_type.name}",
        )
    if integer and (reason := why_not_fused(p)):
        raise not_supported(reason)


def _said(tensor: Any) -> str:
    return f"{tensor.data_type.name} {tensor.shape} with strides {tensor.strides}"


# -- queries --------------------------------------------------------------------------------------


_SUCCESS = raw.CUDNN_STATUS_SUCCESS
_NO_SPACE = raw.CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE


def _named(pattern: str) -> list[str]:
    """C's names of a function in all three directions."""
    return [pattern.format(direction.name) for direction in DIRECTIONS]


@implements(*_named("cudnnGetConvolution{}AlgorithmMaxCount"))
def max_count(call: Call) -> None:
    call.put(count=direction_of(call).max_count)


@implements(*_named("cudnnGetConvolution{}WorkspaceSize"))
def workspace_size(call: Call) -> None:
    direction, algo = direction_of(call), call["algo"]
    problem = direction.problem(call)
    call.require("sizeInBytes")
    reason = why_not(direction, algo, problem)
    if reason:
        raise not_supported(reason)
    call.put(sizeInBytes=workspace_bytes(direction, algo, problem))


@implements(*_named("cudnnGetConvolution{}Algorithm_v7"))
def offer(call: Call) -> None:
    direction = direction_of(call)
    problem = direction.problem(call)
    if call["requestedAlgoCount"] < 0 or not call["perfResults"]:
        raise bad_param("requestedAlgoCount is negative, or perfResults is NULL")
    _fill(call, problem, [_row(direction, algo, problem) for algo in direction.methods])


@implements(
    *_named("cudnnFindConvolution{}Algorithm"), *_named("cudnnFindConvolution{}AlgorithmEx")
)
def find(call: Call) -> None:
    direction = direction_of(call)
    problem = direction.problem(call)
    operands = Operands.of(call, problem) if "workSpace" in call else None
    if call["requestedAlgoCount"] < 1:
        raise bad_param("requestedAlgoCount is less than 1")
    call.require("returnedAlgoCount", "perfResults")
    if 0 in (*problem.x.strides, *problem.y.strides):
        raise not_supported("cuDNN times no convolution of tensors with a stride of 0")
    try:
        rows = [_row(direction, algo, problem) for algo in direction.methods]
    except Refused as refused:  # the descriptors do not fit each other
        rows = [_Row(algo, refused.status) for algo in direction.methods]
    if operands:
        limit = call["workSpaceSizeInBytes"] if call["workSpace"] else 0
        for row in rows:
            if row.status == _SUCCESS and row.memory > limit:
                row.status = _NO_SPACE
    usable = [row for row in rows if row.status == _SUCCESS]
    if usable:
        if operands:
            scribble(call["workSpace"], max(row.memory for row in usable), "workSpace")
        milliseconds = _timed(direction, problem, operands)
        for row in usable:
            row.milliseconds = milliseconds
    _fill(call, problem, rows)


@dataclass
class _Row:
    """One entry of a table of algorithms; `milliseconds` is -1 if not timed."""

    algorithm: Any
    status: raw.cudnnStatus_t
    memory: int = 0
    milliseconds: float = -1.0


def _row(direction: Direction, algorithm: Any, problem: Problem) -> _Row:
    if why_not(direction, algorithm, problem):
        return _Row(algorithm, raw.CUDNN_STATUS_NOT_SUPPORTED)
    return _Row(algorithm, _SUCCESS, workspace_bytes(direction, algorithm, problem))


def _timed(direction: Direction, problem: Problem, operands: Operands | None) -> float:
    """Milliseconds of the convolution in NumPy; without operands, in memory of its own."""
    owners = []
    if operands is None:
        described: tuple[Any, ...] = (problem.x, problem.w, problem.y)
        owners = [zeros(each) for each in described]
        operands = Operands(
            *(
                Operand(name, each, address)
                for name, each, (_, address) in zip("xwy", described, owners, strict=True)
            )
        )
    start = time.perf_counter()
    with lent.any_contents():  # the results are not used
        run(direction, problem, operands)
    milliseconds = 1e3 * (time.perf_counter() - start)
    del owners  # until here
    return milliseconds


def _fill(call: Call, problem: Problem, rows: list[_Row]) -> None:
    """Fill the table of a call: usable rows first, in cuDNN's order of preference."""
    direction = direction_of(call)
    rows = sorted(rows, key=lambda row: row.status != _SUCCESS)[: call["requestedAlgoCount"]]
    for position, row in enumerate(rows):
        entry = call["perfResults"][position]
        entry.algo = row.algorithm
        entry.status = row.status
        entry.time = row.milliseconds
        entry.memory = row.memory
        entry.determinism = (
            raw.CUDNN_NON_DETERMINISTIC
            if row.algorithm in direction.nondeterministic
            else raw.CUDNN_DETERMINISTIC
        )
        entry.mathType = problem.convolution.math_type
    call.offer(returnedAlgoCount=len(rows))


# -- transforms -----------------------------------------------------------------------------------


_INT8x32 = raw.CUDNN_DATA_INT8x32


@implements("cudnnIm2Col")
def im2col_(call: Call) -> None:
    """x of 4 dimensions, a floating type, one group; the columns are packed, in the type of x."""
    call.require("colBuffer")
    x, image, w = call.operand("x"), call.record("xDesc", Tensor), call.record("wDesc", Filter)
    convolution = call.record("convDesc", Convolution)
    call.check()
    if w.data_type == raw.CUDNN_DATA_INT8:
        raise not_supported("wDesc is INT8")
    geometry = fitting(image, w, convolution, ("xDesc", "wDesc", "convDesc"))
    columns = im2col(
        x.load(),
        geometry.w_shape,
        padding=geometry.padding,
        stride=geometry.stride,
        dilation=geometry.dilation,
        mode=geometry.mode,
    )
    call.array("colBuffer", x.data_type, *columns.shape)[...] = columns


@implements("cudnnReorderFilterAndBias")
def reorder_filter_and_bias(call: Call) -> None:
    """INT8x32 filters of 4 dimensions are reordered, others copied; the bias holds K floats."""
    default = call["reorderType"] == raw.CUDNN_DEFAULT_REORDER
    described = call.record("filterDesc", Filter)
    if default and not described.shape[1]:
        reason = f"filterDesc has fewer channels than a vector: {described.shape}"
        raise Refused(raw.CUDNN_STATUS_EXECUTION_FAILED_CUDART, reason)
    w, result = call.operands("filterData", "reorderedFilterData")
    if len(w.shape) > 4:
        raise bad_param(f"filterDesc has more than 4 dimensions: {w.shape}")
    if call["reorderBias"]:
        call.require("biasData", "reorderedBiasData")
    if default and (w.data_type != _INT8x32 or len(w.shape) != 4 or w.shape[0] % 32):
        raise not_supported(
            f"only INT8x32 filters of 4 dimensions with a multiple of 32 outputs are reordered, "
            f"filterDesc holds {w.data_type.name} {w.shape}"
        )
    stored = w.stored()
    result.stored("write")[...] = reorder_filter(stored) if default else stored.copy()
    if call["reorderBias"]:
        bias = call.array("biasData", raw.CUDNN_DATA_FLOAT, w.shape[0])
        reordered = call.array("reorderedBiasData", raw.CUDNN_DATA_FLOAT, w.shape[0])
        reordered[...] = reorder_bias(bias) if default else bias.copy()


@implements("cudnnGetFoldedConvBackwardDataDescriptors")
def folded_backward_data_descriptors(call: Call) -> None:
    """Folding is correct for 4 dimensions, cross-correlation, dilation 1 and one group only."""
    problem = Problem.read(call, "gradDesc", "filterDesc", "convDesc", "diffDesc")
    geometry, convolution, layout = problem.geometry, problem.convolution, call["transformFormat"]
    if geometry.spatial != 2:
        raise bad_param("cuDNN folds exactly 2 spatial dimensions")
    if (
        geometry.mode != "cross_correlation"
        or set(geometry.dilation) != {1}
        or geometry.groups != 1
        or layout not in (raw.CUDNN_TENSOR_NCHW, raw.CUDNN_TENSOR_NHWC)
    ):
        raise not_supported(
            "only cross-correlation with dilation 1 and one group can be folded, with a "
            "transformFormat of NCHW or NHWC"
        )
    folded = folded_backward_data(
        geometry.w_shape, geometry.x_shape, padding=geometry.padding, stride=geometry.stride
    )
    data_type = problem.x.data_type
    options = (2, folded.padding, (1, 1), (1, 1), convolution.mode, convolution.compute_data_type)
    tensors, filters = raw.cudnnSetTensorNdDescriptorEx, raw.cudnnSetFilterNdDescriptor
    for name, function, arguments in (
        ("foldedFilterDesc", filters, (data_type, layout, 4, folded.w_shape)),
        ("paddedDiffDesc", tensors, (layout, data_type, 4, folded.dy_shape)),
        ("foldedConvDesc", raw.cudnnSetConvolutionNdDescriptor, options),
        ("foldedGradDesc", tensors, (layout, data_type, 4, folded.dx_shape)),
        ("filterFoldTransDesc", *_transform(layout, folded.fold_w)),
        ("diffPadTransDesc", *_transform(layout, folded.pad_dy)),
        ("gradFoldTransDesc", *_transform(layout, folded.fold_dx)),
        ("gradUnfoldTransDesc", *_transform(layout, folded.unfold_dx)),
    ):
        call.require(name)
        status = function.unchecked(call[name], *arguments)
        if status != raw.CUDNN_STATUS_SUCCESS:
            raise Refused(status, f"{name} cannot be set: {function.__name__} gave {status}")


def _transform(layout: raw.cudnnTensorFormat_t, transform: TensorTransform) -> tuple[Any, Any]:
    """The function that sets a transform descriptor, and its arguments."""
    direction = (
        raw.CUDNN_TRANSFORM_FOLD if transform.direction == "fold" else raw.CUDNN_TRANSFORM_UNFOLD
    )
    arguments = (4, layout, transform.pad_before, transform.pad_after, transform.fold, direction)
    return raw.cudnnSetTensorTransformDescriptor, arguments
