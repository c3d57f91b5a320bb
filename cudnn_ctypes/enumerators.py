"""Enumerators by short names: "relu" for ``CUDNN_ACTIVATION_RELU``."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from .arguments import suggestion
from .dtypes import data_type_name
from .raw import cudnnDataType_t
from .raw.ctypes_support import CudnnEnum

__all__ = ["enumerator", "short_name", "shown"]

E = TypeVar("E", bound=CudnnEnum)


def enumerator(cls: type[E], value: Any, name: str) -> E:
    """The member of `cls` for the value of the argument called `name`.

    Parameters
    ----------
    value : member of `cls`, or str
        A string is C's name, the part of it that differs between members, or a longer ending
        ("per_channel" for CUDNN_NORM_PER_CHANNEL), in any case and with "-" or "_".

    Raises
    ------
    TypeError
        If `value` is no string and belongs to another enum, or to none.
    ValueError
        If `cls` has no such member.
    """
    if type(value) is cls:
        return value
    names = [short_name(member) for member in cls if not member.is_count]
    if not isinstance(value, str):
        raise TypeError(
            f"{name}: expected a {cls.__name__} or one of {', '.join(map(repr, names))}, "
            f"got {value!r} ({type(value).__name__})"
        )
    wanted = value.replace("-", "_").upper()
    for member in cls.__members__.values():
        if wanted in (member.name.upper(), short_name(member).upper()):
            return member
    ending = [m for m in cls.__members__.values() if m.name.upper().endswith(f"_{wanted}")]
    if len(ending) == 1:
        return ending[0]
    question = suggestion(wanted.lower(), names)
    raise ValueError(
        f"{name}: expected one of {', '.join(map(repr, names))}, got {value!r}{question}"
    )


def short_name(member: CudnnEnum) -> str:
    """A member's name in lower case, without the common prefix of its enum's members."""
    if not member.known:
        return member.name
    short = member.name[_prefix_length(type(member), member.is_count) :]
    return short.lower()


@functools.cache
def _prefix_length(cls: type[CudnnEnum], with_count: bool) -> int:
    members = cls.__members__.items()
    words = [name.split("_") for name, each in members if with_count or not each.is_count]
    if len(words) == 1:  # "cross_channel_dim1" of CUDNN_LRN_CROSS_CHANNEL_DIM1
        return len("_".join([*words[0][:2], ""]))
    shared = 0
    while len({tuple(each[: shared + 1]) for each in words}) == 1:
        shared += 1
    # "algo_0" rather than "0", "norm" rather than nothing.
    while shared and not all("_".join(each[shared:]).isidentifier() for each in words):
        shared -= 1
    return len("_".join([*words[0][:shared], ""]))


def shown(value: Any) -> str:
    """A value as text for a descriptor's ``repr``; enumerators by their short names."""
    if isinstance(value, cudnnDataType_t):
        return repr(data_type_name(value) if value.known else value.name)
    if isinstance(value, CudnnEnum):
        return repr(short_name(value))
    return repr(value)
