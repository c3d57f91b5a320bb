"""Write ``raw/enums.py``: one class per C enum, one enumerator per line."""

from __future__ import annotations

from .model import Enum, Enumerator, Headers
from .overrides import RENUMBERED
from .text import FILLED, LINE_LENGTH, banner, class_statement, close, filled, origin, wrapped

_BODY = """
One class per C enum. Every enumerator is a name of this module too, as in C.
"""


def emit_enums(headers: Headers) -> str:
    parts = [f"# ruff: noqa: I001\n{FILLED}", banner(headers.version, "The enums", _BODY)]
    parts.append("from typing import TYPE_CHECKING\n\n")
    parts.append("from .ctypes_support import CudnnEnum\nfrom .origins import enumerator\n")
    parts += [f"\n\n{_enum(enum)}" for enum in headers.enums]
    parts.append("\n\n# --- enumerators as names of the module, as in C ---\n\n")
    parts += [_names(enum) for enum in headers.enums]
    parts.append(_ALL)
    return close("".join(parts))


_ALL = """
if not TYPE_CHECKING:  # type checkers take all names that are defined here
    __all__ = [
        name for enum in CudnnEnum.__subclasses__() if enum.__module__ == __name__
        for name in (enum.__name__, *enum.__members__)
    ]
"""


def _enum(enum: Enum) -> str:
    lines = [f"{class_statement(enum.name, 'CudnnEnum', origin(enum))}\n"]
    lines += [f"    {_assignment(enumerator, enum)}\n" for enumerator in enum.enumerators]
    return "".join(lines)


def _assignment(enumerator: Enumerator, enum: Enum) -> str:
    value = str(enumerator.alias_of or enumerator.value)
    notes = []
    if enumerator.since != enum.since:
        notes.append(f'since="{enumerator.since}"')
    if enumerator.deprecated and (enumerator.replaced_by or not enum.deprecated):
        notes.append(f'replaced_by="{enumerator.replaced_by or ""}"')
    if enumerator.pointee:
        notes.append(f'pointee="{enumerator.pointee}"')
    if enumerator.name in RENUMBERED:
        former = ", ".join(f'"{r}": {code}' for r, code in RENUMBERED[enumerator.name].items())
        notes.append(f"former_values={{{former}}}")
    if not notes:
        return f"{enumerator.name} = {value}"
    line = f"{enumerator.name} = enumerator({', '.join((value, *notes))})"
    if len(line) + 4 <= LINE_LENGTH:
        return line
    return f"{enumerator.name} = enumerator(\n{filled((value, *notes), ' ' * 8)}    )"


def _names(enum: Enum) -> str:
    """All members as names of the module: `__members__` has the aliases too, in order."""
    names = [enumerator.name for enumerator in enum.enumerators]
    target = f"{names[0]}," if len(names) == 1 else ", ".join(names)
    value = f"{enum.name}.__members__.values()"
    line = f"{target} = {value}"
    if len(line) > LINE_LENGTH:
        line = wrapped(f"({target}) = {value}")
    # To type checkers a name with small letters is a variable, whose type must stand there.
    small = "".join(f"{name}: {enum.name}\n" for name in names if not name.isupper())
    return f"{small}{line}\n"
