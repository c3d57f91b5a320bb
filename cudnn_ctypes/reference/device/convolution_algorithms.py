"""The algorithms of a convolution: the conditions for each, and its workspace.

The reference device computes all algorithms alike. But a program that queries algorithms, checks
their statuses and allocates workspaces should see the same as on a GPU. So the conditions below
were read off cuDNN 9.19 on an H200, with some 140 convolutions in three directions.

Workspace sizes are nominal: the textbook needs of the method, of the order of cuDNN's own.
"""

from __future__ import annotations

import math
from typing import Any

from ... import raw
from ...dtypes import element_bits, vector_length
from ...raw.descriptors import Filter, Tensor
from ..layout import packed_strides
from .convolution_directions import BACKWARD_DATA, BACKWARD_FILTER, FORWARD, Direction, Method
from .convolution_problem import Problem

__all__ = ["result_types", "why_not", "why_not_fused", "workspace_bytes"]


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
_TILE = 32  # pixels of a tile of the tiled transform


def why_not(direction: Direction, algorithm: Any, problem: Problem) -> str:
    """Why cuDNN has no kernel for the problem with this algorithm; "" if it has one.

    Raises
    ------
    Refused
        BAD_PARAM if the shapes do not fit each other.
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
        or _sizes(method, problem)
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
    usable = {
        Method.FFT: (_FLOAT, _HALF),
        Method.TILED_FFT: (_FLOAT, _HALF, *((_DOUBLE,) if p.geometry.spatial == 3 else ())),
        Method.WINOGRAD: (_FLOAT, _HALF, _BFLOAT16),
    }.get(method, (data,))
    if data not in usable or (integer and method not in _PLAIN):
        return f"not for {data.name} with this algorithm"
    if compute == _HALF:
        without = (Method.ATOMIC,) if direction is BACKWARD_FILTER else ()
        data_1 = direction is BACKWARD_DATA and method is Method.PRECOMPUTED
        if (
            (p.geometry.spatial == 3 and not data_1)
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
        return ""
    if p.w.format == raw.CUDNN_TENSOR_NHWC:
        last = (p.x,) if direction is FORWARD else (p.x, p.y)
        if not all(_channels_last(tensor) for tensor in last):
            names = x_name if direction is FORWARD else f"{x_name} and {y_name}"
            return f"{w_name} lies in NHWC, so {names} must, too"
        if not (_channels_first(p.y) or _channels_last(p.y)):
            return f"{y_name} must be NCHW or NHWC, as {w_name} is NHWC"
        if method not in (_PLAIN if p.geometry.spatial == 2 else (Method.PRECOMPUTED,)):
            return "not for NHWC with this algorithm"
        double = p.x.data_type == _DOUBLE and (direction is not FORWARD or p.geometry.spatial == 3)
        half = p.convolution.compute_data_type == _HALF and direction is BACKWARD_FILTER
        return "not for NHWC with these data types" if double or half else ""
    if p.x.data_type == _INT8:
        return f"{x_name}, {w_name} and {y_name} must be in NHWC for INT8"
    transformed = method in (Method.FFT, Method.TILED_FFT)
    needs_x = transformed or direction is BACKWARD_FILTER
    needs_y = transformed or direction is BACKWARD_DATA
    if p.geometry.spatial == 3:
        needs_x = needs_x and not (direction is BACKWARD_FILTER and method is Method.PRECOMPUTED)
        needs_x = needs_x or (direction is BACKWARD_DATA and method is not Method.ATOMIC)
        needs_y = needs_y or (direction is BACKWARD_FILTER and method is Method.ATOMIC_PRECOMPUTED)
    if (needs_x and not _channels_first(p.x)) or (needs_y and not _channels_first(p.y)):
        return f"not with {w_name} in NCHW and these strides of {x_name} and {y_name}"
    return ""


def _sizes(method: Method, p: Problem) -> str:
    g = p.geometry
    whole = g.w_shape[2:]
    unit = set(g.dilation) == {1}
    flat = g.spatial == 2
    if p.x.data_type in _INTEGER:
        dilates = unit or p.x.data_type == _INT8x32
        if not (flat and dilates) or _odd_channels(p):
            return "INT8 needs multiples of 4 channels, 2 spatial dimensions and dilation 1"
    short = all(padding < size for padding, size in zip(g.padding, whole, strict=True))
    match method:
        case Method.COLUMNS if not flat:
            return "this algorithm is for 2 spatial dimensions"
        case Method.ATOMIC_PRECOMPUTED if flat and not unit:
            return "this algorithm is for dilation 1"
        case Method.FFT if not (
            flat and unit and short and set(g.stride) == {1} and max(g.padded) <= _FFT_SIZE
        ):
            return (
                "FFT is for 2 spatial dimensions, stride and dilation 1, padding below the filter "
                f"size, and padded images of up to {_FFT_SIZE} pixels"
            )
        case Method.TILED_FFT:
            steps = zip(g.stride, whole, strict=True)
            fine = all(step == 1 or (flat and step == 2 <= size) for step, size in steps)
            if not (unit and short and fine):
                return (
                    "tiled FFT is for dilation 1, stride 1 or 2, and padding below the filter size"
                )
        case Method.WINOGRAD if whole not in ((3, 3), (5, 5)) or set(g.stride) != {1} or not unit:
            return "Winograd's algorithm is for 3x3 and 5x5 filters, stride and dilation 1"
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
            spectrum = int(_TILE ** (g.spatial - 1)) * (_TILE // 2 + 1)
            tiles = math.prod(-(-size // _TILE) for size in g.padded)
            return 8 * (images * tiles + weights) * spectrum
        case Method.WINOGRAD:
            tiles = math.prod(-(-size // 4) for size in g.y_shape[2:])
            return 4 * 36 * (images * tiles + weights)
    return 0


def _channels_first(tensor: Tensor) -> bool:
    return _packed(tensor, packed_strides(tensor.shape))


def _channels_last(tensor: Tensor) -> bool:
    return _packed(tensor, packed_strides(tensor.shape, "NHWC"))


def _in_vectors(tensor: Tensor) -> bool:
    filled = Filter(tensor.data_type, raw.CUDNN_TENSOR_NCHW_VECT_C, tensor.shape)
    return tensor.shape[1] % vector_length(tensor.data_type) == 0 and _packed(
        tensor, filled.strides
    )


def _packed(tensor: Tensor, strides: tuple[int, ...]) -> bool:
    """Whether each image has these strides; images may have gaps between them, and the stride of a
    dimension of size 1 is ignored."""
    sizes = tensor.shape[1:]
    pairs = zip(tensor.strides[1:], strides[1:], sizes, strict=True)
    return all(have == wanted or size == 1 for have, wanted, size in pairs)
