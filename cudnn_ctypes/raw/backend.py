"""The backend descriptors that live: what kind each is, and whether it may be finalized.

cuDNN reads a descriptor that is given as a value as the kind that it expects there, without a look
at what it is, and it does not survive the finalizing of some that are incomplete. So what was
created through ``raw`` is known here by its address. Nothing is known of what other libraries
created; it passes.
"""

from __future__ import annotations

import functools
from typing import Any

from . import live
from .attributes import ATTRIBUTES, Attribute, code_of
from .enums import cudnnBackendAttributeName_t as Name
from .enums import cudnnBackendDescriptorType_t as Kind

__all__ = ["CHECKED", "Descriptor", "attribute", "created", "destroyed", "known", "required"]

# One of them must be set before finalizing, which cuDNN 9.28 does not survive else.
_REQUIRED: dict[Kind, tuple[Name, ...]] = {
    Kind.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: (Name.CUDNN_ATTR_ENGINECFG_ENGINE,),
    Kind.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: (
        Name.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
        Name.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
    ),
    Kind.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR: (
        Name.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE,
    ),
}

CHECKED: frozenset[Name] = frozenset(
    {Name.CUDNN_ATTR_TENSOR_DATA_TYPE, *(name for names in _REQUIRED.values() for name in names)}
)
"""Attributes whose values are looked at, or noted."""


class Descriptor:
    """One descriptor that lives.

    Attributes
    ----------
    kind : cudnnBackendDescriptorType_t, optional
        None for a kind that is newer than the headers.
    complete : bool
        Whether finalizing it is survived.
    """

    __slots__ = ("complete", "kind")

    def __init__(self, kind: Kind | None) -> None:
        self.kind = kind
        self.complete = not required(kind)


_living: dict[int, Descriptor] = {}


def required(kind: Kind | None) -> tuple[Name, ...]:
    """Attributes of which one must be set before a descriptor of this kind is finalized."""
    return _REQUIRED.get(kind, ()) if kind is not None else ()


def attribute(name: Name) -> Attribute | None:
    """The facts of an attribute; None for one that is newer than the headers."""
    return _attributes().get(name)


@functools.cache
def _attributes() -> dict[Name, Attribute]:
    return {each.name: each for table in ATTRIBUTES.values() for each in table.values()}


@functools.cache
def _kinds() -> dict[int, Kind]:
    """The descriptor types by their codes in the loaded library."""
    return {int(code_of(kind)): kind for kind in Kind if kind.known}


def created(kind: Any, argument: Any) -> None:
    """Note that a descriptor was created, by C's arguments."""
    variable = live.out_variable(argument)
    address = live.address(variable)
    if address is not None:
        vars(variable)["_is_backend"] = True
        _living[address] = Descriptor(_kinds().get(int(kind)))


def known(address: int | None) -> Descriptor | None:
    """The descriptor at an address."""
    return _living.get(address or 0)


def destroyed(address: int | None) -> None:
    """Note that a descriptor was destroyed."""
    _living.pop(address or 0, None)
