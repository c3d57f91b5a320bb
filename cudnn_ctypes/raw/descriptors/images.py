"""Records of tensors, filters, convolutions, poolings and activations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .. import enums, types
from ..constants import CUDNN_DIM_MAX
from ..layouts import vector_length
from ..records import reader
from ..strides import packed
from .reading import check_set, read

Ints = tuple[int, ...]

_MOST_SPATIAL = CUDNN_DIM_MAX - 2  # cuDNN refuses requests for more


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor descriptor.

    - `shape`: (N, C, spatial...). C counts single channels, also for vectorised types.
    - `strides`: in elements; in vectors for vectorised types, whose channel stride is the step from
      one vector of channels to the next.
    - `size_in_bytes`: bytes from the first element to the last.
    """

    data_type: enums.cudnnDataType_t
    shape: Ints
    strides: Ints
    size_in_bytes: int = field(default=0, repr=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter descriptor; `shape` is (K, C / groups, spatial...)."""

    data_type: enums.cudnnDataType_t
    format: enums.cudnnTensorFormat_t
    shape: Ints
    size_in_bytes: int = field(default=0, repr=False)

    @property
    def strides(self) -> Ints:
        """Strides in elements, in vectors for vectorised types; a filter is always packed."""
        filters, channels, *sizes = self.shape
        dims = [filters, channels // vector_length(self.data_type), *sizes]
        order = list(range(len(dims)))
        if self.format == enums.CUDNN_TENSOR_NHWC:
            order = [0, *order[2:], 1]
        return packed(dims, order)


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution descriptor; `padding`, `stride` and `dilation` hold one int per dimension."""

    padding: Ints
    stride: Ints
    dilation: Ints
    groups: int
    mode: enums.cudnnConvolutionMode_t
    compute_data_type: enums.cudnnDataType_t
    math_type: enums.cudnnMathType_t
    reorder_type: enums.cudnnReorderType_t


@dataclass(frozen=True, slots=True)
class Pooling:
    """A pooling descriptor; `window`, `padding` and `stride` hold one int per dimension."""

    window: Ints
    padding: Ints
    stride: Ints
    mode: enums.cudnnPoolingMode_t
    nan_propagation: enums.cudnnNanPropagation_t


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation descriptor; `coef` is the ceiling of clipped ReLU and ELU's alpha."""

    mode: enums.cudnnActivationMode_t
    nan_propagation: enums.cudnnNanPropagation_t
    coef: float
    swish_beta: float


@reader(types.cudnnTensorDescriptor_t)
def _tensor(descriptor: Any) -> Tensor:
    data_type, n, shape, strides = read["cudnnGetTensorNdDescriptor"](descriptor, CUDNN_DIM_MAX)
    check_set(n)
    (size,) = read["cudnnGetTensorSizeInBytes"](descriptor)
    return Tensor(data_type, shape[:n], strides[:n], size)


@reader(types.cudnnFilterDescriptor_t)
def _filter(descriptor: Any) -> Filter:
    data_type, layout, n, shape = read["cudnnGetFilterNdDescriptor"](descriptor, CUDNN_DIM_MAX)
    check_set(n)
    return Filter(data_type, layout, shape[:n], *read["cudnnGetFilterSizeInBytes"](descriptor))


@reader(types.cudnnConvolutionDescriptor_t)
def _convolution(descriptor: Any) -> Convolution:
    n, padding, stride, dilation, *enumerators = read["cudnnGetConvolutionNdDescriptor"](
        descriptor, _MOST_SPATIAL
    )
    check_set(n)
    (groups,) = read["cudnnGetConvolutionGroupCount"](descriptor)
    enumerators += read["cudnnGetConvolutionMathType"](descriptor)
    enumerators += read["cudnnGetConvolutionReorderType"](descriptor)
    return Convolution(padding[:n], stride[:n], dilation[:n], groups, *enumerators)


@reader(types.cudnnPoolingDescriptor_t)
def _pooling(descriptor: Any) -> Pooling:
    mode, nan, n, window, padding, stride = read["cudnnGetPoolingNdDescriptor"](
        descriptor, _MOST_SPATIAL
    )
    check_set(0 < n <= _MOST_SPATIAL)
    return Pooling(window[:n], padding[:n], stride[:n], mode, nan)


@reader(types.cudnnActivationDescriptor_t)
def _activation(descriptor: Any) -> Activation:
    """The values are garbage if it was never set."""
    mode, *others = read["cudnnGetActivationDescriptor"](descriptor)
    check_set(mode.known)
    return Activation(mode, *others, *read["cudnnGetActivationDescriptorSwishBeta"](descriptor))
