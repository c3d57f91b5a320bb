"""The backend descriptors that live: the kind of each, and whether it may be finalized.

cuDNN does not check the kind of a descriptor that is the value of an attribute: it reads it as the
expected kind. And it crashes while finalizing some incomplete descriptors. So this module knows the
descriptors that were created through ``raw``, by address. Descriptors that other libraries created
are unknown here and pass unchecked.
"""

from __future__ import annotations

import functools
from typing import Any

from . import live, mode
from .attributes import ATTRIBUTES, Attribute, code_of, kind_name
from .enums import cudnnBackendAttributeName_t as Name
from .enums import cudnnBackendDescriptorType_t as Kind
from .enums import cudnnBackendOperationGraphMode_t as Mode

# One of these attributes must be set before finalizing; else cuDNN 9.28 crashes.
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

# The operation that a graph of each mode must contain; else cuDNN 9.28 crashes while finalizing it.
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
    {*(_MODE, _OPS), *(name for names in _REQUIRED.values() for name in names)}
)
"""Attributes whose absence or value makes cuDNN end the process while finalizing."""


class Descriptor:
    """A descriptor that was created and not yet destroyed.

    - `kind`: None for a kind that is newer than the headers.
    - `values`: the values that were set for attributes in `NOTED`: enum codes or descriptors (None
      for unknown descriptors).
    - `filled`: True for a descriptor that cuDNN filled.
    """

    __slots__ = ("filled", "kind", "values")

    def __init__(self, kind: Kind | None) -> None:
        self.kind: Kind | None = kind
        self.values: dict[Name, tuple[int | Descriptor | None, ...]] = {}
        self.filled: bool = False

    def missing(self) -> str:
        """A sentence naming an attribute or operation that finalizing needs; "" if none lacks."""
        if self.kind is None or self.filled:
            return ""
        required = _REQUIRED.get(self.kind, ())
        if required and not any(name in self.values for name in required):
            return f"{' or '.join(map(str, required))} is not set"
        (mode,) = self.values.get(_MODE, (None,))
        if not isinstance(mode, int):
            return ""
        wanted = _MODES.get(Mode(mode))
        operations = self.children(_OPS)
        if wanted is None or wanted in operations or None in operations:
            return ""
        return f"a graph of {Mode(mode)} without an {kind_name(wanted)}"

    def children(self, name: Name) -> tuple[Kind | None, ...]:
        """The kinds of the descriptors that were set for an attribute; None for unknown ones."""
        found = self.values.get(name, ())
        return tuple(each.kind if isinstance(each, Descriptor) else None for each in found)


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


def made_up(address: int | None) -> bool:
    """Whether no descriptor was created at an address, as far as that is known."""
    return address is not None and not mode.runtime.may_live(address, _living)


def destroyed(address: int | None) -> None:
    """Note that a descriptor was destroyed."""
    _living.pop(address or 0, None)
