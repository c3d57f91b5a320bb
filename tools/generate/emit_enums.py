"""Write ``raw/enums.py``: one class per C enum, one enumerator per line."""

from __future__ import annotations

from .model import Declaration, Enum, Enumerator, Headers
from .overrides import RENUMBERED
from .text import LINE_LENGTH, RUFF, banner, deprecations, dunder_all, string_table

_BODY = """
One class per C enum. Every enumerator is a name of this module too, as in C. A comment names the
cuDNN version that brought an enumerator, where that is not 9.0.0; `ENUM_SINCE`,
`ENUM_DEPRECATED` and `ENUM_RENUMBERED` are data by the C names of enums and enumerators.
"""


def emit_enums(headers: Headers) -> str:
    parts = [RUFF, banner(headers.version, "The enums", _BODY)]
    parts.append("from .ctypes_support import CudnnEnum\n")
    parts += [f"\n\n{_enum(enum)}" for enum in headers.enums]
    parts.append("\n\n# --- enumerators as names of the module, as in C ---\n")
    parts += [f"\n{_names(enum)}" for enum in headers.enums]
    declarations: list[Declaration] = []
    for enum in headers.enums:
        declarations += [enum, *enum.enumerators]
    since = {d.name: d.since for d in declarations if d.since and d.since != "9.0.0"}
    parts.append("\n# The first version that has it, where that is not 9.0.0.\n")
    parts.append(string_table("ENUM_SINCE", since))
    parts.append("\n" + deprecations("ENUM_DEPRECATED", declarations))
    parts.append("\n" + string_table("ENUM_HEADERS", {e.name: e.header for e in headers.enums}))
    labels = {d.name: d.pointee for e in headers.enums for d in e.enumerators if d.pointee}
    parts.append("\n# The descriptor that is passed with a label.\n")
    parts.append(string_table("ENUM_POINTEES", labels))
    parts.append("\n# The value in releases that number it differently.\n")
    parts.append(_renumbered())
    parts.append("\n" + dunder_all(d.name for d in declarations))
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
    lines = "".join(f"    {name},\n" for name in names)
    target = f"({names[0]},)" if len(names) == 1 else f"(\n{lines})"
    # To type checkers a name with small letters is a variable, whose type must stand there.
    small = "".join(f"{name}: {enum.name}\n" for name in names if not name.isupper())
    return f"{small}{target} = {enum.name}.__members__.values()\n"
