"""Destroying an object sets every variable that holds it to NULL; a second destroy is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import live, mode
from ..ctypes_support import OpaquePointer
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["fragment"]

_BAD_PARAM = 2000  # cudnnStatus_t


def fragment(binding: Binding) -> Fragment | None:
    if "Destroy" in binding.name:
        (handle,) = binding.parameters
        return Fragment(
            before=[
                f"if _is_destroyed({handle.name}):",
                f"    return _refused({_BAD_PARAM}, {{args}}, "
                f"'{handle.name} was destroyed already')",
                f"_address_before = _address({handle.name})",
            ],
            success=[f"_destroyed({handle.name}, _address_before)"],
            scope={
                "_is_destroyed": live.is_destroyed,
                "_address": live.address,
                "_destroyed": live.destroyed,
            },
        )
    pointers = [
        p.name
        for p in binding.parameters
        if p.type.kind == "pointer"
        and p.direction != "in"
        and issubclass(p.type.base, OpaquePointer)
    ]
    if not pointers:
        return None
    if binding.name == "cudnnCreate":
        return Fragment(
            success=[f"_created({pointers[0]})", f"_note_gpu({pointers[0]})"],
            scope={"_created": live.created, "_note_gpu": _note_gpu},
        )
    if "Create" in binding.name:
        return Fragment(success=[f"_created({pointers[0]})"], scope={"_created": live.created})
    return Fragment(
        success=[f"_read_back({', '.join(pointers)})"], scope={"_read_back": _read_back}
    )


def _note_gpu(argument: object) -> None:
    mode.runtime.handle_created(argument)


def _read_back(*arguments: object) -> None:
    """Note the new variables that hold descriptors read back from another descriptor."""
    for argument in arguments:
        variable = live.out_variable(argument)
        if isinstance(variable, OpaquePointer):
            live.named(variable, live.address(variable))
