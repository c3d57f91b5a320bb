"""Write ``raw/enums.py``: one class per C enum, one enumerator per line."""

from __future__ import annotations

from .model import Enum, Enumerator, Headers
from .overrides import RENUMBERED
from .text import FILLED, LINE_LENGTH, banner, by_header, close, deprecations, filled, string_table

_BODY = """
One class per C enum. Every enumerator is a name of this module too, as in C. A comment names the
cuDNN version that brought an enumerator, where that is not its enum's.
"""

_FACTS = """
By the C names of enums and enumerators: versions, deprecation, headers.
"""


def emit_enums(headers: Headers) -> str:
    parts = [f"# ruff: noqa: I001\n{FILLED}", banner(headers.version, "The enums", _BODY)]
    parts.append("from typing import TYPE_CHECKING\n\nfrom .ctypes_support import CudnnEnum\n")
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


def emit_enum_facts(headers: Headers) -> str:
    declarations = [d for enum in headers.enums for d in (enum, *enum.enumerators)]
    parts = [FILLED, banner(headers.version, "What the headers say of the enums", _FACTS)]
    since: dict[str, list[str]] = {}
    for enum in headers.enums:
        since.setdefault(enum.since or "", []).append(enum.name)
        for each in enum.enumerators:
            if each.since and (each.since != enum.since or each.since.startswith("9.")):
                since.setdefault(each.since, []).append(each.name)
    parts.append("_BROUGHT: dict[str, tuple[str, ...]] = {\n")
    for version in sorted(since, key=lambda text: [*map(int, text.split("."))]):
        names = filled((f'"{name}"' for name in since[version]), " " * 8)
        parts.append(f'    "{version}": (\n{names}    ),\n')
    parts.append("}\n\n")
    parts.append(
        "ENUM_SINCE: dict[str, str] = "
        "{name: since for since, names in _BROUGHT.items() for name in names}\n"
        '"""The first version that has it; what is not here is as old as its enum."""'
        "\n\n"
    )
    parts.append(deprecations("ENUM_DEPRECATED", declarations))
    parts.append("\n" + by_header("ENUM_HEADERS", headers.enums))
    labels = {d.name: d.pointee for e in headers.enums for d in e.enumerators if d.pointee}
    parts.append("\n# The descriptor that is passed with a label.\n")
    parts.append(string_table("ENUM_POINTEES", labels))
    parts.append("\n# The value in releases that number it differently.\n")
    parts.append(_renumbered())
    return "".join(parts)


def _renumbered() -> str:
    lines = ""
    for name, values in RENUMBERED.items():
        entries = ", ".join(f'"{release}": {value}' for release, value in values.items())
        lines += f'    "{name}": {{{entries}}},\n'
    return f"ENUM_RENUMBERED: dict[str, dict[str, int]] = {{\n{lines}}}\n"


def _enum(enum: Enum) -> str:
    lines = [f"class {enum.name}(CudnnEnum):\n"]
    lines += [f"    {_assignment(enumerator, enum)}\n" for enumerator in enum.enumerators]
    return "".join(lines)


def _assignment(enumerator: Enumerator, enum: Enum) -> str:
    value = enumerator.alias_of or enumerator.value
    line = f"{enumerator.name} = {value}"
    notes = []
    if enumerator.since != enum.since:
        notes.append(f"since {enumerator.since}")
    if enumerator.deprecated and not enum.deprecated:
        notes.append("deprecated")
    note = f"  # {', '.join(notes)}" if notes else ""
    if len(line + note) + 4 > LINE_LENGTH:
        return f"{enumerator.name} = (\n        {value}{note}\n    )"
    return line + note


def _names(enum: Enum) -> str:
    """All members as names of the module: `__members__` has the aliases too, in order."""
    names = [enumerator.name for enumerator in enum.enumerators]
    target = f"{names[0]}," if len(names) == 1 else ", ".join(names)
    value = f"{enum.name}.__members__.values()"
    if len(f"{target} = {value}") > LINE_LENGTH:
        target = f"(\n{filled(names)})"
    # To type checkers a name with small letters is a variable, whose type must stand there.
    small = "".join(f"{name}: {enum.name}\n" for name in names if not name.isupper())
    return f"{small}{target} = {value}\n"
