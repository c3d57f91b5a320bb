"""A reference to the callback that cuDNN holds: C keeps only its address."""

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
