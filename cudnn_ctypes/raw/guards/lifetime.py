"""What was destroyed becomes NULL, so that a second use is an error and not a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ctypes_support import OpaquePointer
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]


def fragment(binding: Binding) -> Fragment | None:
    if not binding.name.startswith(("cudnnDestroy", "cudnnBackendDestroy")):
        return None
    (handle,) = binding.parameters
    return Fragment(success=[f"_set_null({handle.name})"], scope={"_set_null": _set_null})


def _set_null(handle: Any) -> None:
    owner = getattr(handle, "_as_parameter_", handle)
    if isinstance(owner, OpaquePointer):
        owner.value = None
