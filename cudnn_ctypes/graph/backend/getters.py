"""Reading the attributes of a finalized descriptor with ``cudnnBackendGetAttribute``.

These take the raw handle: in an error message the descriptor's own ``repr`` would read again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ... import raw
from ...errors import CudnnError
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw.attributes import Attribute, element_type
from .values import decode

__all__ = ["descriptor_count", "fill_descriptors", "read_values"]

_DESCRIPTOR = Type.CUDNN_TYPE_BACKEND_DESCRIPTOR


def read_values(handle: raw.cudnnBackendDescriptor_t, attribute: Attribute) -> Any:
    """The values of an attribute that holds no descriptors, in the type in which it has them."""
    refusal: CudnnError | None = None
    for type_ in attribute.types:
        if type_ == _DESCRIPTOR:
            continue
        try:
            count = _count(handle, attribute, type_) if attribute.is_array else 1
            array = (element_type(type_) * max(count, 1))()
            written = ctypes.c_int64()
            raw.cudnnBackendGetAttribute(handle, attribute.name, type_, count, written, array)
            return decode(attribute, type_, array, min(count, written.value))
        except CudnnError as error:
            refusal = refusal or error
    try:
        assert refusal is not None
        raise refusal
    finally:
        del refusal  # else it would keep this call's frames, and the descriptor, alive


def descriptor_count(handle: raw.cudnnBackendDescriptor_t, attribute: Attribute) -> int:
    """For how many descriptors room is to be made."""
    if attribute.short_name == "knob_choices":  # cuDNN counts none
        return len(raw.cudnnBackendKnobType_t)
    return _count(handle, attribute, _DESCRIPTOR) if attribute.is_array else 1


def fill_descriptors(
    handle: raw.cudnnBackendDescriptor_t,
    attribute: Attribute,
    made: Sequence[raw.cudnnBackendDescriptor_t],
) -> int:
    """Have cuDNN fill created descriptors; returns how many it filled."""
    count, written = len(made), ctypes.c_int64()
    array = (ctypes.c_void_p * max(count, 1))(*(each.value for each in made))
    raw.cudnnBackendGetAttribute(handle, attribute.name, _DESCRIPTOR, count, written, array)
    return min(count, written.value)


def _count(handle: raw.cudnnBackendDescriptor_t, attribute: Attribute, type_: Type) -> int:
    count = ctypes.c_int64()
    raw.cudnnBackendGetAttribute(handle, attribute.name, type_, 0, count, None)
    return count.value
