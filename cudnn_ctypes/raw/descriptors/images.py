"""Records of tensors, filters, convolutions, poolings and activations."""

from __future__ import annotations

from ctypes import byref, c_double, c_int, c_size_t
from dataclasses import dataclass, field
from typing import Any

from ..constants import CUDNN_DIM_MAX
from ..enums import (
    CUDNN_TENSOR_NHWC,
    cudnnActivationMode_t,
    cudnnConvolutionMode_t,
    cudnnDataType_t,
    cudnnMathType_t,
    cudnnNanPropagation_t,
    cudnnPoolingMode_t,
    cudnnReorderType_t,
    cudnnTensorFormat_t,
)
from ..layouts import vector_length
from ..records import reader
from ..strides import packed
from ..types import (
    cudnnActivationDescriptor_t,
    cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t,
    cudnnPoolingDescriptor_t,
    cudnnTensorDescriptor_t,
)
from .reading import call, ints

Ints = tuple[int, ...]

_MOST_SPATIAL = CUDNN_DIM_MAX - 2  # cuDNN refuses requests for more
_INT = 4  # bytes


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor descriptor.

    - `shape`: (N, C, spatial...). C counts single channels, also for vectorised types.
    - `strides`: in elements; in vectors for vectorised types, whose channel stride is the step from
      one vector of channels to the next.
    - `size_in_bytes`: bytes from the first element to the last.
    """

    data_type: cudnnDataType_t
    shape: Ints
    strides: Ints
    size_in_bytes: int = field(default=0, repr=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter descriptor; `shape` is (K, C / groups, spatial...)."""

    data_type: cudnnDataType_t
    format: cudnnTensorFormat_t
    shape: Ints
    size_in_bytes: int = field(default=0, repr=False)

    @property
    def strides(self) -> Ints:
        """Strides in elements, in vectors for vectorised types; a filter is always packed."""
        filters, channels, *sizes = self.shape
        dims = [filters, channels // vector_length(self.data_type), *sizes]
        order = list(range(len(dims)))
        if self.format == CUDNN_TENSOR_NHWC:
            order = [0, *order[2:], 1]
        return packed(dims, order)


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution descriptor; `padding`, `stride` and `dilation` hold one int per dimension."""

    padding: Ints
    stride: Ints
    dilation: Ints
    groups: int
    mode: cudnnConvolutionMode_t
    compute_data_type: cudnnDataType_t
    math_type: cudnnMathType_t
    reorder_type: cudnnReorderType_t


@dataclass(frozen=True, slots=True)
class Pooling:
    """A pooling descriptor; `window`, `padding` and `stride` hold one int per dimension."""

    window: Ints
    padding: Ints
    stride: Ints
    mode: cudnnPoolingMode_t
    nan_propagation: cudnnNanPropagation_t


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation descriptor; `coef` is the ceiling of clipped ReLU and ELU's alpha."""

    mode: cudnnActivationMode_t
    nan_propagation: cudnnNanPropagation_t
    coef: float
    swish_beta: float


@reader(cudnnTensorDescriptor_t)
def _tensor(descriptor: Any) -> Tensor | None:
    numbers, size = ints(2 + 2 * CUDNN_DIM_MAX), c_size_t()
    shape, strides = 2 * _INT, (2 + CUDNN_DIM_MAX) * _INT
    code = call(
        "cudnnGetTensorNdDescriptor",
        descriptor,
        CUDNN_DIM_MAX,
        byref(numbers),
        byref(numbers, _INT),
        byref(numbers, shape),
        byref(numbers, strides),
    )
    data_type, n, *rest = numbers
    if code or not n or call("cudnnGetTensorSizeInBytes", descriptor, byref(size)):
        return None
    return Tensor(
        cudnnDataType_t(data_type),
        tuple(rest[:n]),
        tuple(rest[CUDNN_DIM_MAX : CUDNN_DIM_MAX + n]),
        size.value,
    )


@reader(cudnnFilterDescriptor_t)
def _filter(descriptor: Any) -> Filter | None:
    numbers, size = ints(3 + CUDNN_DIM_MAX), c_size_t()
    code = call(
        "cudnnGetFilterNdDescriptor",
        descriptor,
        CUDNN_DIM_MAX,
        byref(numbers),
        byref(numbers, _INT),
        byref(numbers, 2 * _INT),
        byref(numbers, 3 * _INT),
    )
    data_type, layout, n, *shape = numbers
    if code or not n or call("cudnnGetFilterSizeInBytes", descriptor, byref(size)):
        return None
    return Filter(
        cudnnDataType_t(data_type), cudnnTensorFormat_t(layout), tuple(shape[:n]), size.value
    )


@reader(cudnnConvolutionDescriptor_t)
def _convolution(descriptor: Any) -> Convolution | None:
    padding, stride, dilation = ints(_MOST_SPATIAL), ints(_MOST_SPATIAL), ints(_MOST_SPATIAL)
    n, mode, compute_data_type, groups, math_type, reorder_type = (c_int() for _ in range(6))
    code = call(
        "cudnnGetConvolutionNdDescriptor",
        descriptor,
        _MOST_SPATIAL,
        byref(n),
        padding,
        stride,
        dilation,
        byref(mode),
        byref(compute_data_type),
    )
    if (
        code
        or not n
        or call("cudnnGetConvolutionGroupCount", descriptor, byref(groups))
        or call("cudnnGetConvolutionMathType", descriptor, byref(math_type))
        or call("cudnnGetConvolutionReorderType", descriptor, byref(reorder_type))
    ):
        return None
    return Convolution(
        tuple(padding[: n.value]),
        tuple(stride[: n.value]),
        tuple(dilation[: n.value]),
        groups.value,
        cudnnConvolutionMode_t(mode.value),
        cudnnDataType_t(compute_data_type.value),
        cudnnMathType_t(math_type.value),
        cudnnReorderType_t(reorder_type.value),
    )


@reader(cudnnPoolingDescriptor_t)
def _pooling(descriptor: Any) -> Pooling | None:
    mode, nan, n = c_int(), c_int(), c_int()
    window, padding, stride = ints(_MOST_SPATIAL), ints(_MOST_SPATIAL), ints(_MOST_SPATIAL)
    code = call(
        "cudnnGetPoolingNdDescriptor",
        descriptor,
        _MOST_SPATIAL,
        byref(mode),
        byref(nan),
        byref(n),
        window,
        padding,
        stride,
    )
    if code or not 0 < n.value <= _MOST_SPATIAL:
        return None
    return Pooling(
        tuple(window[: n.value]),
        tuple(padding[: n.value]),
        tuple(stride[: n.value]),
        cudnnPoolingMode_t(mode.value),
        cudnnNanPropagation_t(nan.value),
    )


@reader(cudnnActivationDescriptor_t)
def _activation(descriptor: Any) -> Activation | None:
    """The record, or None if the values are garbage because the descriptor was never set."""
    mode, nan, coef, swish_beta = c_int(), c_int(), c_double(), c_double()
    about = (byref(mode), byref(nan), byref(coef))
    if (
        call("cudnnGetActivationDescriptor", descriptor, *about)
        or call("cudnnGetActivationDescriptorSwishBeta", descriptor, byref(swish_beta))
        or not cudnnActivationMode_t(mode.value).known
    ):
        return None
    return Activation(
        cudnnActivationMode_t(mode.value),
        cudnnNanPropagation_t(nan.value),
        coef.value,
        swish_beta.value,
    )
