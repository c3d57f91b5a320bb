"""The callback that cuDNN holds is kept alive: only its address is known to C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]

_kept: list[tuple[Any, ...]] = []


def fragment(binding: Binding) -> Fragment | None:
    if binding.name != "cudnnSetCallback":
        return None
    return Fragment(success=["_kept[:] = [{args}]"], scope={"_kept": _kept})
