"""Backend attributes and descriptor types as a program may name them."""

from __future__ import annotations

from typing import Any

from ...arguments import suggestion
from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendDescriptorType_t as Kind
from ...raw.attributes import ATTRIBUTES, KINDS, Attribute, kind_name, owner_and_short_name

__all__ = ["as_kind", "attribute"]


def as_kind(kind: Any) -> Kind:
    """The descriptor type that `kind` means: an enumerator, or its name, short or C's.

    Raises
    ------
    TypeError
        If `kind` is something else.
    ValueError
        If there is no such type.
    """
    if isinstance(kind, Kind):
        return kind
    if not isinstance(kind, str):
        raise TypeError(
            f"kind: expected a cudnnBackendDescriptorType_t or a name such as 'tensor', "
            f"got {kind!r} ({type(kind).__name__})"
        )
    if kind in Kind.__members__:
        return Kind[kind]
    if kind.lower() not in KINDS:
        raise ValueError(
            f"cuDNN has no backend descriptor {kind!r}{suggestion(kind.lower(), KINDS)}"
        )
    return KINDS[kind.lower()]


def attribute(kind: Kind, name: str | Name) -> Attribute:
    """The attribute `name` of a descriptor type.

    Parameters
    ----------
    name : str or cudnnBackendAttributeName_t
        Short ("data_type"), with the descriptor type ("tensor.data_type"), or C's.

    Raises
    ------
    AttributeError
        If this descriptor type has no such attribute; names like it are suggested.
    """
    own = ATTRIBUTES[kind]
    if isinstance(name, Name):
        owner, short = owner_and_short_name(name)
        if owner == kind:
            return own[short]
        raise AttributeError(f"{name} is an attribute of {kind_name(owner)}, not {kind_name(kind)}")
    if name in Name.__members__:
        return attribute(kind, Name[name])
    short = name.removeprefix(f"{kind_name(kind)}.")
    if short not in own:
        listed = ", ".join(own)
        raise AttributeError(
            f"{kind_name(kind)} has no attribute {short!r}{suggestion(short, own)}; it has {listed}"
        )
    return own[short]
