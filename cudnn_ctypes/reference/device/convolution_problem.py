"""A convolution as its four descriptors state it: its direction, its algorithms, their conditions.

The reference device computes all algorithms alike. But a program that queries algorithms, checks
their statuses and allocates workspaces should see the same as on a GPU. So the conditions below
were read off cuDNN 9.19 on an H200, with some 140 convolutions in three directions.

Workspace sizes are nominal: the textbook needs of the method, of the order of cuDNN's own.
"""

from __future__ import annotations

import enum
import functools
import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import element_bits, numpy_dtype, vector_length
from ...raw.descriptors import Convolution, Filter, Tensor
from ...raw.operand_rules import Operand, convolutions
from ...raw.strides import has_strides, is_packed
from ..geometry import Geometry
from .call import Call, word
from .registry import bad_param


@dataclass(frozen=True)
class Problem:
    """The records of the descriptors of x, w, the convolution and y, in any direction.

    `names` are the parameters' names in C, in the same order: for backward data dxDesc, wDesc,
    convDesc, dyDesc.
    """

    x: Tensor
    w: Filter
    convolution: Convolution
    y: Tensor
    names: tuple[str, ...]

    @classmethod
    def read(cls, call: Call, *names: str) -> Problem:
        """Read the descriptors of x, w, the convolution and y, given by their C names."""
        x, w, convolution, y = names
        return cls(
            call.record(x, Tensor),
            call.record(w, Filter),
            call.record(convolution, Convolution),
            call.record(y, Tensor),
            names,
        )

    @functools.cached_property
    def geometry(self) -> Geometry:
        """The shapes and options together.

        Raises Refused BAD_PARAM if they do not fit each other. cuDNN 9.19 accepts a group count
        that does not fit the channels, and goes by the channels; here it is refused.
        """
        return fitting(self.x, self.w, self.convolution, self.names, self.y)

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of the reference functions: padding, stride, dilation, groups, mode."""
        return _options(self.convolution)

    @property
    def compute_dtype(self) -> np.dtype[Any]:
        """In which products are summed; float32 also where cuDNN may sum in half precision."""
        if self.convolution.compute_data_type == raw.CUDNN_DATA_HALF:
            return np.dtype(np.float32)
        return numpy_dtype(self.convolution.compute_data_type)


def fitting(
    x: Tensor, w: Filter, convolution: Convolution, names: tuple[str, ...], y: Tensor | None = None
) -> Geometry:
    """x, w, a convolution, and y together; BAD_PARAM, with `names`, if they do not fit."""
    result = None if y is None else Operand(names[-1], y)
    operands = Operand(names[0], x), Operand(names[1], w)
    for broken in convolutions.fitting(*operands, convDesc=convolution, y=result):
        raise bad_param(str(broken))
    try:
        return Geometry.of(x.shape, w.shape, **_options(convolution))
    except ValueError as error:
        raise bad_param(
            f"{names[0]}, {names[1]} and {names[2]} do not fit each other: {error}"
        ) from None


def _options(convolution: Convolution) -> dict[str, Any]:
    return {
        "padding": convolution.padding,
        "stride": convolution.stride,
        "dilation": convolution.dilation,
        "groups": convolution.groups,
        "mode": word(convolution.mode, "CUDNN_"),
    }


class Method(enum.Enum):
    """How an algorithm works, whichever its direction."""

    IMPLICIT = "implicit matrix product"
    PRECOMPUTED = "implicit matrix product with precomputed offsets"
    ATOMIC = "implicit matrix product in parts that are added up in memory"
    ATOMIC_PRECOMPUTED = "the same with precomputed offsets"
    COLUMNS = "matrix product with the columns in memory"
    FFT = "Fourier transform"
    TILED_FFT = "Fourier transform of tiles"
    WINOGRAD = "Winograd's transform, not fused"
    NONE = "no kernel in any case"


@dataclass(frozen=True)
class Direction:
    """One of the three convolution operations.

    - `name`: the direction in the names of cuDNN's functions.
    - `order`: the order of these functions' descriptors: x, w, the convolution (c) and y.
    - `methods`: the algorithms, in the order in which ``_v7`` prefers them.
    - `nondeterministic`: the algorithms whose order of summation changes from call to call.
    - `max_count`: the result of ``…AlgorithmMaxCount``: cuDNN counts some algorithms once per math
      type.
    """

    name: str
    order: str
    methods: dict[Any, Method]
    nondeterministic: frozenset[Any]
    max_count: int

    def problem(self, call: Call) -> Problem:
        """The problem that the descriptors of a call in this direction describe."""
        names = dict(zip(self.order, call.descriptors, strict=True))
        return Problem.read(call, *(names[role] for role in "xwcy"))


FORWARD = Direction(
    "Forward",
    "xwcy",
    {
        raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM: Method.PRECOMPUTED,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM: Method.IMPLICIT,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_GEMM: Method.COLUMNS,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_FFT: Method.FFT,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING: Method.TILED_FFT,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED: Method.WINOGRAD,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD: Method.NONE,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_DIRECT: Method.NONE,
    },
    frozenset(),
    max_count=10,
)

BACKWARD_DATA = Direction(
    "BackwardData",
    "wycx",
    {
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_1: Method.PRECOMPUTED,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0: Method.ATOMIC,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING: Method.TILED_FFT,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT: Method.FFT,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED: Method.WINOGRAD,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD: Method.NONE,
    },
    frozenset({raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0}),
    max_count=8,
)

BACKWARD_FILTER = Direction(
    "BackwardFilter",
    "xycw",
    {
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1: Method.PRECOMPUTED,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0: Method.ATOMIC,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3: Method.ATOMIC_PRECOMPUTED,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED: Method.WINOGRAD,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT: Method.FFT,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING: Method.TILED_FFT,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD: Method.NONE,
    },
    frozenset({raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3}),
    max_count=9,
)

DIRECTIONS = (FORWARD, BACKWARD_DATA, BACKWARD_FILTER)


def direction_of(call: Call) -> Direction:
    """The direction that the function's name says."""
    return next(direction for direction in DIRECTIONS if direction.name in call.name)


_FLOAT, _DOUBLE = raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_DOUBLE
_HALF, _BFLOAT16 = raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
_INT8, _INT8x4, _INT8x32 = raw.CUDNN_DATA_INT8, raw.CUDNN_DATA_INT8x4, raw.CUDNN_DATA_INT8x32

# Data type of x, w and y -> in which types products may be summed.
_FLOATING = {_FLOAT: (_FLOAT,), _DOUBLE: (_DOUBLE,), _HALF: (_FLOAT, _HALF), _BFLOAT16: (_FLOAT,)}
# Data type of x and w, summed in INT32 -> data types of y. Forward only.
_INTEGER = {
    _INT8: (_INT8, _FLOAT, raw.CUDNN_DATA_INT32),
    _INT8x4: (_INT8x4, _FLOAT),
    _INT8x32: (_INT8x32,),
}
_PLAIN = (Method.IMPLICIT, Method.PRECOMPUTED, Method.ATOMIC)  # also for NHWC and integers
_FFT_SIZE = 256  # pixels of the largest padded image that is transformed whole
_TILE = 32  # pixels of a flat tile of the tiled transform


def why_not(direction: Direction, algorithm: Any, problem: Problem) -> str:
    """Why cuDNN has no kernel for the problem with this algorithm; "" if it has one.

    Raises Refused BAD_PARAM if the shapes do not fit each other.
    """
    method = direction.methods.get(algorithm, Method.NONE)
    spatial = problem.geometry.spatial
    if method is Method.NONE:
        return f"cuDNN has no kernel for {algorithm!r}"
    if spatial == 1:
        return "cuDNN has no kernel for 3 dimensions: give a 1d convolution a height of 1"
    if spatial > 3:
        return f"cuDNN has no kernel for {spatial} spatial dimensions"
    return (
        _types(direction, method, problem)
        or _layouts(direction, method, problem)
        or _sizes(direction, method, problem)
    )


def result_types(problem: Problem) -> tuple[raw.cudnnDataType_t, ...]:
    """The data types of y for the types of x, w and the sums; empty if no kernel supports them.

    Integers are for the forward direction alone.
    """
    data, compute = problem.x.data_type, problem.convolution.compute_data_type
    if problem.w.data_type != data:
        return ()
    if data in _FLOATING:
        return (data,) if compute in _FLOATING[data] else ()
    return _INTEGER.get(data, ()) if compute == raw.CUDNN_DATA_INT32 else ()


def _types(direction: Direction, method: Method, p: Problem) -> str:
    data, compute = p.x.data_type, p.convolution.compute_data_type
    integer = data in _INTEGER
    if p.y.data_type not in result_types(p) or (integer and direction is not FORWARD):
        x_name, w_name, _, y_name = p.names
        return (
            f"cuDNN has no kernel for {x_name} {data.name}, {w_name} {p.w.data_type.name} and "
            f"{y_name} {p.y.data_type.name}, summed in {compute.name}"
        )
    made = p.geometry.y_shape if direction is BACKWARD_FILTER else p.geometry.w_shape
    lines = p.geometry.spatial == 3 or 1 in made[2:]
    usable = {
        Method.FFT: (_FLOAT, _HALF),
        Method.TILED_FFT: (_FLOAT, _HALF, *((_DOUBLE,) if lines else ())),
        Method.WINOGRAD: (_FLOAT, _HALF, _BFLOAT16),
    }.get(method, (data,))
    if data not in usable or (integer and method not in _PLAIN):
        return f"not for {data.name} with this algorithm"
    if compute == _HALF:
        without = (Method.ATOMIC,) if direction is BACKWARD_FILTER else ()
        last = p.w.format == raw.CUDNN_TENSOR_NHWC
        algorithm_1 = method is Method.PRECOMPUTED and direction is not FORWARD
        if (
            (p.geometry.spatial == 3 and not (algorithm_1 and (direction is BACKWARD_DATA or last)))
            or method not in (*_PLAIN, Method.WINOGRAD)
            or method in without
        ):
            return "not summed in HALF with this algorithm"
    return ""


def _layouts(direction: Direction, method: Method, p: Problem) -> str:
    x_name, w_name, _, y_name = p.names
    if vector_length(p.x.data_type) > 1:
        if p.w.format != raw.CUDNN_TENSOR_NCHW_VECT_C or not _in_vectors(p.x):
            return f"{x_name} and {w_name} must be in vectors, CUDNN_TENSOR_NCHW_VECT_C"
        if method is Method.IMPLICIT and p.y.data_type == _FLOAT and not is_packed(p.y, start=1):
            return f"{y_name} must be NCHW with this algorithm"
        return ""
    if p.w.format == raw.CUDNN_TENSOR_NHWC:
        flat = p.geometry.spatial == 2
        last = (p.x,) if direction is FORWARD and flat else (p.x, p.y)
        if not all(is_packed(tensor, "nhwc", 1) for tensor in last):
            names = x_name if len(last) == 1 else f"{x_name} and {y_name}"
            return f"{w_name} lies in NHWC, so {names} must, too"
        if not (is_packed(p.y, start=1) or is_packed(p.y, "nhwc", 1)):
            return f"{y_name} must be NCHW or NHWC, as {w_name} is NHWC"
        if method not in (_PLAIN if flat else (Method.PRECOMPUTED,)):
            return "not for NHWC with this algorithm"
        double = p.x.data_type == _DOUBLE and (direction is not FORWARD or p.geometry.spatial == 3)
        half = p.convolution.compute_data_type == _HALF and direction is BACKWARD_FILTER and flat
        return "not for NHWC with these data types" if double or half else ""
    if p.x.data_type == _INT8:
        return f"{x_name}, {w_name} and {y_name} must be in NHWC for INT8"
    transformed = method in (Method.FFT, Method.TILED_FFT)
    needs_x = transformed or direction is BACKWARD_FILTER
    needs_y = transformed or direction is BACKWARD_DATA
    if p.geometry.spatial == 3:
        needs_x = needs_x and not (direction is BACKWARD_FILTER and method in _PLAIN)
        needs_x = needs_x or (direction is BACKWARD_DATA and method is not Method.ATOMIC)
        needs_y = needs_y or (direction is BACKWARD_FILTER and method is Method.ATOMIC_PRECOMPUTED)
    tiles = direction is BACKWARD_DATA and method is Method.TILED_FFT and p.geometry.spatial == 2
    start = 2 if tiles else 1  # there may be gaps between planes, between images
    if (needs_x and not is_packed(p.x, start=start)) or (needs_y and not is_packed(p.y, start=1)):
        return f"not with {w_name} in NCHW and these strides of {x_name} and {y_name}"
    return ""


def _sizes(direction: Direction, method: Method, p: Problem) -> str:
    g = p.geometry
    whole = g.w_shape[2:]
    unit = set(g.dilation) == {1}
    flat = g.spatial == 2
    if p.x.data_type in _INTEGER:
        dilates = unit or p.x.data_type == _INT8x32
        if not (flat and dilates) or _odd_channels(p):
            return "INT8 needs multiples of 4 channels, 2 spatial dimensions and dilation 1"
    short = all(padding < size for padding, size in zip(g.padding, whole, strict=True))
    if direction is BACKWARD_FILTER:  # it moves the results over the image; its tiles are lines
        short = short and all(map(operator.lt, g.padding, g.y_shape[2:]))
        line = flat and 1 in g.y_shape[2:] and set(g.stride) == {1}
        if method is Method.TILED_FFT and not line:
            return "tiled FFT of a filter's gradient is for a line of results and stride 1"
    match method:
        case Method.COLUMNS if not flat:
            return "this algorithm is for 2 spatial dimensions"
        case Method.ATOMIC_PRECOMPUTED if flat and not unit:
            return "this algorithm is for dilation 1"
        case Method.FFT:
            dilated = (d > 1 < size for d, size in zip(g.dilation, whole, strict=True))
            unit = unit or (direction is BACKWARD_DATA and not any(dilated))
            plain = flat and unit and short and set(g.stride) == {1}
            if not (plain and max(g.padded) <= _FFT_SIZE):
                return (
                    "FFT is for 2 spatial dimensions, stride and dilation 1, padding below the "
                    "filter size (and the result's, for its gradient), and padded images of up to "
                    f"{_FFT_SIZE} pixels"
                )
        case Method.TILED_FFT:
            most = 2 if flat and min(whole) > 1 else 1
            if direction is BACKWARD_DATA and sorted(g.stride) == [2, 3]:
                sizes = zip(g.padding, whole, g.stride, strict=True)
                most = 3 if all(0 < n < size - (step == 2) for n, size, step in sizes) else most
            if not (unit and short and max(g.stride) <= most):
                return (
                    "tiled FFT is for dilation 1, stride 1, or 2 of flat filters without a size of "
                    "1 (2 and 3 of padded gradients of data), and padding below the filter size"
                )
        case Method.WINOGRAD if whole not in ((3, 3), (5, 5)) or set(g.stride) != {1} or not unit:
            return (
                "Winograd's algorithm is for 3x3 and 5x5 filters, stride and dilation 1; these are "
                f"{whole}, {g.stride} and {g.dilation}"
            )
    return ""


def why_not_fused(p: Problem) -> str:
    """The same for integers of a convolution with bias and activation, and any algorithm."""
    plain = _types(FORWARD, Method.PRECOMPUTED, p) or _layouts(FORWARD, Method.PRECOMPUTED, p)
    return plain or ("INT8 needs multiples of 4 channels" if _odd_channels(p) else "")


def _odd_channels(p: Problem) -> bool:
    return bool(p.geometry.w_shape[0] % 4 or p.geometry.x_shape[1] % 4)


def workspace_bytes(direction: Direction, algorithm: Any, problem: Problem) -> int:
    """How much scratch memory an algorithm that has a kernel asks for.

    - offsets: 4 bytes for each filter tap;
    - columns: the patches of one image, in the type that products are summed in;
    - transforms: x, w and y in the transformed domain, complex float32 for FFT (half the spectrum
      is enough), 6x6 values for each 4x4 outputs for Winograd.
    """
    g = problem.geometry
    (batch, channels), filters = g.x_shape[:2], g.w_shape[0]
    images, weights = batch * (channels + filters), math.prod(g.w_shape[:2])
    match direction.methods[algorithm]:
        case Method.PRECOMPUTED | Method.ATOMIC_PRECOMPUTED:
            return 4 * math.prod(g.w_shape[1:])
        case Method.COLUMNS:
            bits = element_bits(problem.convolution.compute_data_type)
            return bits // 8 * math.prod(g.w_shape[1:]) * g.groups * math.prod(g.y_shape[2:])
        case Method.FFT:
            *rows, last = g.padded
            return 8 * (images + weights) * math.prod(rows) * (last // 2 + 1)
        case Method.TILED_FFT:
            tile = _TILE if g.spatial == 2 else _TILE // 2
            spectrum = int(tile ** (g.spatial - 1)) * (tile // 2 + 1)
            tiles = math.prod(-(-size // tile) for size in g.padded)
            return 8 * (images * tiles + weights) * spectrum
        case Method.WINOGRAD:
            tiles = math.prod(-(-size // 4) for size in g.y_shape[2:])
            return 4 * 36 * (images * tiles + weights)
    return 0


def _in_vectors(tensor: Tensor) -> bool:
    filled = Filter(tensor.data_type, raw.CUDNN_TENSOR_NCHW_VECT_C, tensor.shape)
    return tensor.shape[1] % vector_length(tensor.data_type) == 0 and has_strides(
        tensor, filled.strides, 1
    )
