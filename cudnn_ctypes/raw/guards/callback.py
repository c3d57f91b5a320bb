"""A reference to the callback that cuDNN holds: C keeps only its address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..types import cudnnCallback_t
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]

_kept: list[tuple[Any, ...]] = []


def fragment(binding: Binding) -> Fragment | None:
    if not any(
        p.type.kind == "value" and p.type.base is cudnnCallback_t for p in binding.parameters
    ):
        return None
    return Fragment(success=["_kept[:] = [{args}]"], scope={"_kept": _kept})
