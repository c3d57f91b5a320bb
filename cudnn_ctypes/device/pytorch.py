"""PyTorch's tensors by a short way: their own methods instead of a DLPack capsule.

PyTorch is never imported here. What its data types are in cuDNN is learned from the first tensor of
each type, which comes by DLPack.
"""

from __future__ import annotations

import sys
from typing import Any

from cudnn_ctypes.dtypes import element_bits
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.enums import cudnnDataType_t

from . import cuda
from .borrowed import Borrowed, Imported
from .stream import LEGACY_DEFAULT, as_stream_pointer, order

__all__ = ["follow", "from_torch", "is_torch", "learn"]

_data_types: dict[tuple[Any, Any], tuple[cudnnDataType_t, int]] = {}
"""Type and bytes of an element, by PyTorch's dtype and layout."""

_kinds: dict[type, bool] = {}


def is_torch(kind: type) -> bool:
    """Whether it is the class of PyTorch's tensors itself: of a subclass nobody knows."""
    known = _kinds.get(kind)
    if known is None:
        known = _kinds[kind] = (kind.__module__, kind.__name__) in (
            ("torch", "Tensor"),
            ("torch.nn.parameter", "Parameter"),
        )
    return known


def learn(tensor: Any, imported: Imported) -> None:
    """Remember the type of a tensor that came by DLPack."""
    if element_bits(imported.data_type) >= 8:
        size = element_bits(imported.data_type) // 8
        _data_types[tensor.dtype, tensor.layout] = imported.data_type, size


def from_torch(tensor: Any, *, stream: Any = None) -> Imported | None:
    """A tensor for use on `stream`, which waits for PyTorch's current one; None: ask DLPack.

    DLPack knows what is to be said of tensors on another device, of a type not seen before, that
    require gradients, or whose elements are conjugated when they are read.

    Raises
    ------
    BufferError
        If its elements are negated when they are read.
    """
    if tensor.is_neg():  # PyTorch's capsule does not tell
        raise BufferError("PyTorch negates these elements when it reads them: pass x.resolve_neg()")
    known = _data_types.get((tensor.dtype, tensor.layout))
    on_host = mode.reference_device_active
    if (
        known is None
        or tensor.requires_grad
        or tensor.is_conj()
        or tensor.is_cuda == on_host
        or (on_host and tensor.device.type != "cpu")
    ):
        return None
    data_type, size = known
    shape, strides = tuple(tensor.shape), tensor.stride()
    count = 1
    for n, step in zip(shape, strides, strict=True):
        if n == 0:
            count = 0
            break
        count += (n - 1) * step
    ordinal = 0 if on_host else tensor.get_device()
    if not on_host:
        follow(ordinal, as_stream_pointer(stream))
    memory = Borrowed(
        tensor.data_ptr(),
        count * size,
        device_id=ordinal,
        on_host=on_host,
        stream=stream,
        keeper=tensor,
    )
    return Imported(memory, shape, strides, data_type, False)


def follow(ordinal: int, stream: int) -> None:
    """Have `stream` of a GPU wait for what is on PyTorch's current stream of it."""
    current = sys.modules["torch"]._C._cuda_getCurrentRawStream(ordinal)
    if (current or LEGACY_DEFAULT) != (stream or LEGACY_DEFAULT):
        with cuda.current_context(ordinal):
            order(before=current, after=stream)
