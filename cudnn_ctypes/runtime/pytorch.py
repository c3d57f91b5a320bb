"""PyTorch's tensors by a short way: their own methods instead of a DLPack capsule.

PyTorch is never imported here. What its data types are in cuDNN is learned from the first tensor of
each type, which comes by DLPack.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from cudnn_ctypes.dtypes import data_type_name, element_bits, numpy_dtype
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.enums import cudnnDataType_t
from cudnn_ctypes.raw.process import Bounded
from cudnn_ctypes.raw.strides import extent
from cudnn_ctypes.raw.torch_forms import unreadable

from . import cuda
from .foreign import Borrowed, Imported
from .interface import Runtime
from .layout import Shape
from .stream import LEGACY_DEFAULT, as_stream_pointer

TensorForm = tuple[Runtime, Shape, Shape, cudnnDataType_t, int, bool, int]
"""A tensor's description: on the host or not, shape, strides, data type, offset in bytes, read-only
or not, size in bytes."""

_data_types: dict[tuple[Any, Any], tuple[cudnnDataType_t, int]] = {}
"""Type and bytes of an element, by PyTorch's dtype and layout."""

_forms: Bounded[tuple[Any, ...], TensorForm] = Bounded()
"""Tensor forms by PyTorch's dtype, layout, shape and strides, and on the host or not."""

_kinds: dict[type, bool] = {}


def is_torch(kind: type) -> bool:
    """True for PyTorch's own tensor classes; subclasses may behave in any way."""
    known = _kinds.get(kind)
    if known is None:
        known = _kinds[kind] = (kind.__module__, kind.__name__) in (
            ("torch", "Tensor"),
            ("torch.nn.parameter", "Parameter"),
        )
    return known


def learn(tensor: Any, imported: Imported) -> None:
    """Remember the type of a tensor that came by DLPack."""
    if element_bits(imported.data_type) >= 8 and not tensor.dtype.is_complex:
        known = imported.data_type, element_bits(imported.data_type) // 8
        _data_types[tensor.dtype, tensor.layout] = known


def from_torch(tensor: Any, *, stream: Any = None) -> tuple[Borrowed, TensorForm] | None:
    """A tensor for use on `stream`, which waits for PyTorch's current one; None: ask DLPack.

    DLPack knows what is to be said of tensors on another device, of a type not seen before, that
    require gradients, or of complex numbers.

    Raises BufferError if its elements are not what lies in memory.
    """
    if why := unreadable(tensor):
        raise BufferError(why)
    runtime = mode.runtime
    if tensor.requires_grad or not runtime.has(tensor):
        return None
    key = tensor.dtype, tensor.layout, tensor.shape, tensor.stride(), runtime
    form = _forms.get(key) or _learned(*key)
    if form is None:
        return None
    ordinal = runtime.ordinal_of(tensor)
    if tensor.is_cuda:
        follow(ordinal, 0 if stream is None else as_stream_pointer(stream))
    return Borrowed(tensor.data_ptr(), form[-1], ordinal, runtime, stream, tensor), form


def _learned(
    dtype: Any, layout: Any, shape: Any, strides: Shape, runtime: Runtime
) -> TensorForm | None:
    """The form of tensors like this one, if their type is known."""
    known = _data_types.get((dtype, layout))
    if known is None:
        return None
    data_type, size = known
    nbytes = extent(shape, strides) * size
    form = runtime, tuple(shape), strides, data_type, 0, False, nbytes
    return _forms.keep((dtype, layout, shape, strides, runtime), form)


@functools.cache
def streams() -> Callable[[int], int]:
    """PyTorch's own function for `current_stream`."""
    function: Callable[[int], int] = sys.modules["torch"]._C._cuda_getCurrentRawStream
    return function


def current_stream(ordinal: int) -> int:
    """The address of PyTorch's current stream of a GPU; 0 is the legacy default stream."""
    return streams()(ordinal)


def follow(ordinal: int, stream: int) -> None:
    """Have `stream` of a GPU wait for what is on PyTorch's current stream of it."""
    before = current_stream(ordinal)
    if before != stream:
        _order(ordinal, before=before, after=stream)


def precede(ordinal: int, stream: int) -> None:
    """Have PyTorch's current stream of a GPU wait for what is on `stream`."""
    _order(ordinal, before=stream, after=current_stream(ordinal))


def _order(ordinal: int, *, before: int, after: int) -> None:
    if (before or LEGACY_DEFAULT) != (after or LEGACY_DEFAULT):
        with cuda.on(ordinal):
            cuda.order(before=before, after=after)


def computes_gradients(tensor: Any) -> bool:
    """Whether PyTorch would compute gradients through an operation on this tensor, here and now."""
    return tensor.requires_grad and gradients_enabled()


def gradients_enabled() -> bool:
    """Whether PyTorch computes gradients here and now, of what requires them."""
    return bool(sys.modules["torch"].is_grad_enabled())


Form = tuple[Shape, Shape, Any]
"""Shape, strides and type of a tensor."""


def bytes_form(nbytes: int) -> Form:
    """The form of bytes without a shape."""
    return (nbytes,), (1,), sys.modules["torch"].uint8


def empty_bytes(like: Any, nbytes: int) -> Any:
    """New memory without a shape, from PyTorch, on the device of `like`."""
    return like.new_empty((nbytes,), dtype=sys.modules["torch"].uint8)


def torch_dtype(data_type: cudnnDataType_t) -> Any:
    """PyTorch's name of a type; booleans of one byte are bytes.

    Raises TypeError if PyTorch has no such type.
    """
    known = _dtypes.get(data_type)
    if known is None:
        known = _dtypes[data_type] = _dtype_of(data_type)
    return known


_dtypes: dict[cudnnDataType_t, Any] = {}
"""PyTorch's, by type."""


def _dtype_of(data_type: cudnnDataType_t) -> Any:
    torch = sys.modules["torch"]
    if data_type == cudnnDataType_t.CUDNN_DATA_BYTE_BOOLEAN:
        return torch.uint8
    dtype = getattr(torch, numpy_dtype(data_type).name, None)
    if dtype is None:
        raise TypeError(f"PyTorch has no {data_type_name(data_type)}: give memory for it yourself")
    return dtype
