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
from .attributes import ATTRIBUTES, Attribute, code_of, kind_name
from .enums import cudnnBackendAttributeName_t as Name
from .enums import cudnnBackendDescriptorType_t as Kind
from .enums import cudnnBackendOperationGraphMode_t as Mode

__all__ = ["NOTED", "Descriptor", "attribute", "created", "destroyed", "known"]

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

# What an operation graph of a mode must hold, else cuDNN 9.28 does not survive finalizing it.
_MODES: dict[Mode, Kind] = {
    Mode.CUDNN_OPERATIONGRAPH_MODE_CONV_FORWARD: (
        Kind.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR
    ),
    Mode.CUDNN_OPERATIONGRAPH_MODE_CONV_BWD_DATA: (
        Kind.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR
    ),
    Mode.CUDNN_OPERATIONGRAPH_MODE_CONV_BWD_FILTER: (
        Kind.CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR
    ),
    Mode.CUDNN_OPERATIONGRAPH_MODE_NORM_BWD: Kind.CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
}
_MODE, _OPS = Name.CUDNN_ATTR_OPERATIONGRAPH_MODE, Name.CUDNN_ATTR_OPERATIONGRAPH_OPS

NOTED: frozenset[Name] = frozenset(
    {_MODE, _OPS, *(name for names in _REQUIRED.values() for name in names)}
)
"""Attributes that decide whether finalizing is survived."""


class Descriptor:
    """One descriptor that lives.

    Attributes
    ----------
    kind : cudnnBackendDescriptorType_t, optional
        None for a kind that is newer than the headers.
    given : dict
        What was set of the attributes in `NOTED`: codes, or the kinds of descriptors, None for
        unknown ones.
    filled : bool
        Whether cuDNN filled it.
    """

    __slots__ = ("filled", "given", "kind")

    def __init__(self, kind: Kind | None) -> None:
        self.kind: Kind | None = kind
        self.given: dict[Name, tuple[int | None, ...]] = {}
        self.filled: bool = False

    def missing(self) -> str:
        """What it lacks to be finalized, as a sentence; "" if nothing is known to lack."""
        if self.kind is None or self.filled:
            return ""
        required = _REQUIRED.get(self.kind, ())
        if required and not any(name in self.given for name in required):
            return f"{' or '.join(map(str, required))} is not set"
        (mode,) = self.given.get(_MODE, (None,))
        operations = self.given.get(_OPS, ())
        wanted = None if mode is None else _MODES.get(Mode(mode))
        if mode is None or wanted is None or wanted in operations or None in operations:
            return ""
        return f"a graph of {Mode(mode)} without an {kind_name(wanted)}"


_living: dict[int, Descriptor] = {}


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
