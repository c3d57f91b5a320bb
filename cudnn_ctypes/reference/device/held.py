"""What a call's descriptors hold: the reference device uses real ones, and reads their records."""

from __future__ import annotations

from typing import Any, TypeVar

from ... import raw
from ...raw.descriptors import record
from .dispatch import Refused

__all__ = ["read", "word"]

_Record = TypeVar("_Record")


def read(
    kind: type[_Record] | tuple[type[_Record], ...],
    descriptor: Any,
    name: str,
    unset: raw.cudnnStatus_t = raw.CUDNN_STATUS_BAD_PARAM,
) -> _Record:
    """The record of a descriptor.

    Parameters
    ----------
    kind
        Which record: `Tensor`, for example, or several kinds.
    descriptor
        A handle.
    name
        The parameter that it came as.
    unset
        The status for a descriptor that was created, but never set.

    Raises
    ------
    Refused
        If it is NULL (BAD_PARAM) or was never set.
    """
    if not descriptor:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")
    held = record(descriptor)
    if held is None:
        raise Refused(unset, f"{name} was created, but never set")
    assert isinstance(held, kind)
    return held


def word(member: Any, prefix: str) -> Any:
    """An enumerator as the reference functions spell it: lower case, without C's prefix."""
    return member.name.removeprefix(prefix).lower()
