"""What cuDNN's descriptors hold, read back from the library into plain data.

The reference device uses real descriptors: a program sets them through C, and here they are read
through C. Every function takes a descriptor and the name of the parameter that it came as, and
raises `Refused` with BAD_PARAM if it is NULL or was never set.
"""

from __future__ import annotations

from ctypes import c_double, c_int, c_int32, c_uint32
from dataclasses import dataclass
from typing import Any

from ... import raw
from ...dtypes import vector_length
from ..layout import packed_strides
from .dispatch import Refused

__all__ = [
    "Activation",
    "Convolution",
    "Filter",
    "Tensor",
    "TensorTransform",
    "activation",
    "convolution",
    "filter_",
    "get",
    "tensor",
    "tensor_transform",
]

Ints = tuple[int, ...]

_MOST_DIMENSIONS = 8  # CUDNN_DIM_MAX
_MOST_SPATIAL = 6  # cudnnGetConvolutionNdDescriptor refuses to be asked for more


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor descriptor.

    Attributes
    ----------
    shape : tuple of int
        (N, C, spatial...). The vectorised types too count single channels here.
    strides : tuple of int
        In elements; in vectors for the vectorised types, whose channel stride leads from one
        vector of channels to the next.
    """

    data_type: raw.cudnnDataType_t
    shape: Ints
    strides: Ints


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter descriptor; `shape` is (K, C / groups, spatial...)."""

    data_type: raw.cudnnDataType_t
    format: raw.cudnnTensorFormat_t
    shape: Ints

    @property
    def strides(self) -> Ints:
        """As for `Tensor`; a filter is always packed."""
        filters, channels, *sizes = self.shape
        vectors = (filters, channels // vector_length(self.data_type), *sizes)
        last = self.format == raw.CUDNN_TENSOR_NHWC
        return packed_strides(vectors, "NHWC" if last else "NCHW")


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution descriptor; `padding`, `stride` and `dilation` hold one int per dimension."""

    padding: Ints
    stride: Ints
    dilation: Ints
    mode: raw.cudnnConvolutionMode_t
    compute_type: raw.cudnnDataType_t
    groups: int
    math_type: raw.cudnnMathType_t
    reorder_type: raw.cudnnReorderType_t


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation descriptor; `coefficient` is the ceiling of clipped ReLU and ELU's alpha."""

    mode: raw.cudnnActivationMode_t
    nan_propagation: raw.cudnnNanPropagation_t
    coefficient: float
    swish_beta: float


@dataclass(frozen=True, slots=True)
class TensorTransform:
    """A tensor transform descriptor: `fold` holds one int per spatial dimension."""

    format: raw.cudnnTensorFormat_t
    pad_before: Ints
    pad_after: Ints
    fold: Ints
    direction: raw.cudnnFoldingDirection_t


def tensor(descriptor: Any, name: str) -> Tensor:
    """What a tensor descriptor holds (``cudnnGetTensorNdDescriptor``)."""
    data_type, count = raw.cudnnDataType_t(), c_int()
    shape, strides = _ints(_MOST_DIMENSIONS), _ints(_MOST_DIMENSIONS)
    get(
        raw.cudnnGetTensorNdDescriptor,
        name,
        descriptor,
        _MOST_DIMENSIONS,
        data_type,
        count,
        shape,
        strides,
    )
    n = _dimensions(count.value, name)
    return Tensor(data_type.value, tuple(shape[:n]), tuple(strides[:n]))


def filter_(descriptor: Any, name: str) -> Filter:
    """What a filter descriptor holds (``cudnnGetFilterNdDescriptor``)."""
    data_type, layout = raw.cudnnDataType_t(), raw.cudnnTensorFormat_t()
    count, shape = c_int(), _ints(_MOST_DIMENSIONS)
    get(
        raw.cudnnGetFilterNdDescriptor,
        name,
        descriptor,
        _MOST_DIMENSIONS,
        data_type,
        layout,
        count,
        shape,
    )
    return Filter(data_type.value, layout.value, tuple(shape[: _dimensions(count.value, name)]))


def convolution(descriptor: Any, name: str) -> Convolution:
    """What a convolution descriptor holds (``cudnnGetConvolutionNdDescriptor`` and others)."""
    padding, stride, dilation = _ints(_MOST_SPATIAL), _ints(_MOST_SPATIAL), _ints(_MOST_SPATIAL)
    mode, compute_type = raw.cudnnConvolutionMode_t(), raw.cudnnDataType_t()
    count, groups = c_int(), c_int()
    math_type, reorder_type = raw.cudnnMathType_t(), raw.cudnnReorderType_t()
    get(
        raw.cudnnGetConvolutionNdDescriptor,
        name,
        descriptor,
        _MOST_SPATIAL,
        count,
        padding,
        stride,
        dilation,
        mode,
        compute_type,
    )
    get(raw.cudnnGetConvolutionGroupCount, name, descriptor, groups)
    get(raw.cudnnGetConvolutionMathType, name, descriptor, math_type)
    get(raw.cudnnGetConvolutionReorderType, name, descriptor, reorder_type)
    n = _dimensions(count.value, name)
    return Convolution(
        tuple(padding[:n]),
        tuple(stride[:n]),
        tuple(dilation[:n]),
        mode.value,
        compute_type.value,
        groups.value,
        math_type.value,
        reorder_type.value,
    )


def activation(descriptor: Any, name: str) -> Activation:
    """What an activation descriptor holds; one that was never set holds garbage, as in C."""
    mode, nan = raw.cudnnActivationMode_t(), raw.cudnnNanPropagation_t()
    coefficient, swish_beta = c_double(), c_double()
    get(raw.cudnnGetActivationDescriptor, name, descriptor, mode, nan, coefficient)
    get(raw.cudnnGetActivationDescriptorSwishBeta, name, descriptor, swish_beta)
    return Activation(mode.value, nan.value, coefficient.value, swish_beta.value)


def tensor_transform(descriptor: Any, name: str, dimensions: int) -> TensorTransform:
    """What a transform descriptor for tensors of `dimensions` dimensions holds."""
    layout, direction = raw.cudnnTensorFormat_t(), raw.cudnnFoldingDirection_t()
    count = max(dimensions, 3)  # cuDNN refuses to be asked for less
    before, after, fold = (c_int32 * count)(), (c_int32 * count)(), (c_uint32 * count)()
    get(
        raw.cudnnGetTensorTransformDescriptor,
        name,
        descriptor,
        count,
        layout,
        before,
        after,
        fold,
        direction,
    )
    return TensorTransform(
        layout.value,
        tuple(before[:dimensions]),
        tuple(after[:dimensions]),
        tuple(fold[: dimensions - 2]),
        direction.value,
    )


def get(function: raw.Function, name: str, descriptor: Any, *rest: Any) -> None:
    """Call a get function; what it refuses, the call that asked refuses."""
    if not descriptor:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")
    status = function.unchecked(descriptor, *rest)
    if status != raw.CUDNN_STATUS_SUCCESS:
        raise Refused(status, f"{name} cannot be read: {function.__name__} gave {status}")


def _dimensions(count: int, name: str) -> int:
    if count == 0:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} was created, but never set")
    return count


def _ints(length: int) -> Any:
    return (c_int * length)()
