"""Attributes of backend descriptors: cuDNN reads or writes as many elements as the count says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ctypes_support import room
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["ELEMENT_SIZES", "fragment"]

# Bytes of one element of a backend attribute, where they are not the 4 of an enum.
ELEMENT_SIZES = {
    "CUDNN_TYPE_HANDLE": 8,
    "CUDNN_TYPE_BOOLEAN": 1,
    "CUDNN_TYPE_INT64": 8,
    "CUDNN_TYPE_DOUBLE": 8,
    "CUDNN_TYPE_VOID_PTR": 8,
    "CUDNN_TYPE_CHAR": 1,
    "CUDNN_TYPE_FRACTION": 16,
    "CUDNN_TYPE_BACKEND_DESCRIPTOR": 8,
}

_COUNTS = {
    "cudnnBackendSetAttribute": "elementCount",
    "cudnnBackendGetAttribute": "requestedElementCount",
}


def fragment(binding: Binding) -> Fragment | None:
    count = _COUNTS.get(binding.name)
    if count is None:
        return None
    return Fragment(
        before=[f"_check_room(attributeType, {count}, arrayOfElements)"],
        scope={"_check_room": _check_room(binding.name)},
    )


def _check_room(name: str) -> Callable[[Any, Any, Any], None]:
    from ..enums import cudnnBackendAttributeType_t

    sizes = {member: ELEMENT_SIZES.get(member.name, 4) for member in cudnnBackendAttributeType_t}

    def check(attribute_type: Any, count: Any, elements: Any) -> None:
        size, given = sizes.get(attribute_type), room(elements)
        if size is None or given is None or type(count) is not int:
            return
        if count * size > given:
            kind = cudnnBackendAttributeType_t(attribute_type)
            raise ValueError(
                f"{name}() argument 'arrayOfElements': {count} elements of {kind} are "
                f"{count * size} bytes, got {given}"
            )

    return check
