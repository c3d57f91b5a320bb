"""Drops the records of descriptors that a call may change: C takes them without const.

Records are dropped for every status, since a failed call may have set some values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import records
from ..call_source import is_handle
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding, Parameter

__all__ = ["fragment"]


def fragment(binding: Binding) -> Fragment | None:
    destroys = binding.name.startswith("cudnnDestroy")
    # Many functions that only read also lack the const; the headers mark those as [in].
    changed = [
        p.name
        for p in binding.parameters
        if p.changes_descriptor and (destroys or p.direction != "in")
    ]
    by_name = {p.name: p for p in binding.parameters}
    if binding.name in ("cudnnSetStream", "cudnnDestroy"):
        changed.append("handle")
    if not changed and not binding.noted:
        return None
    return Fragment(
        after=[line for name in changed for line in _forgetting(by_name[name])],
        success=[f"_noted({', '.join(by_name)})"] if binding.noted else [],
        scope={
            "_forget_record": records.forget,
            "_records": records.cache,
            "_bytes": bytes,
            "_noted": _noting(binding),
        },
    )


def _forgetting(parameter: Parameter) -> list[str]:
    """Lines for `records.forget`, without a Python call for the usual argument."""
    name = parameter.name
    pointer = f"_of_{name}" if is_handle(parameter) else name
    return [
        f"if {pointer}.__class__ is not _kind_{name}: _forget_record({name})",
        f"elif (_known := _records.pop(_bytes({pointer}), None)) is not None: _known.drop()",
    ]


def _noting(binding: Binding) -> Callable[..., None]:
    def noted(*arguments: Any) -> None:
        from .. import descriptors

        getattr(descriptors, f"note_{binding.noted}")(*arguments)

    return noted
