"""Pieces of Python text that several emitters write.

They are laid out as `ruff format` does, but that lists of names fill their lines, and that one
empty line stands between declarations.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping

from .model import Declaration

LINE_LENGTH = 100
FILLED = "# fmt: off\n"  # names fill their lines
RUFF = f"# ruff: noqa: I001, RUF022\n{FILLED}"  # what follows the headers' order is not sorted
COMMAND = "python -m tools.generate"

# C's arithmetic types, by the names of ctypes.
CTYPES = {
    "char": "c_char",
    "int": "c_int",
    "unsigned int": "c_uint",
    "unsigned long long": "c_ulonglong",
    "int32_t": "c_int32",
    "uint32_t": "c_uint32",
    "int64_t": "c_int64",
    "size_t": "c_size_t",
    "float": "c_float",
    "double": "c_double",
}


def banner(version: str, title: str, body: str = "") -> str:
    """The docstring of a generated module, and the import that postpones its annotations."""
    return (
        f'"""{title} of cuDNN {version}.\n\n{body.strip()}\n\n'
        f"Generated from the cuDNN headers by ``{COMMAND}``; do not edit.\n"
        '"""\n\nfrom __future__ import annotations\n\n'
    )


def python_type(base: str) -> str:
    """The Python name of a C type: ctypes' for arithmetic types, C's own for the others."""
    return CTYPES.get(base, base)


def import_from(module: str, names: Iterable[str]) -> str:
    """``from module import a, b``, wrapped when long."""
    wanted = sorted(set(names), key=_import_order)
    if not wanted:
        return ""
    line = f"from {module} import {', '.join(wanted)}\n"
    if len(line) <= LINE_LENGTH:
        return line
    return f"from {module} import (\n{filled(wanted)})\n"


def close(text: str) -> str:
    """Declarations with one empty line between them, as in stubs."""
    return re.sub(r"\n{3,}", "\n\n", text)


def filled(words: Iterable[str], indent: str = "    ") -> str:
    """Words and commas in lines that are as long as they may be."""
    text = " ".join(f"{word}," for word in words)
    lines = textwrap.wrap(text, LINE_LENGTH - len(indent), break_on_hyphens=False)
    return "".join(f"{indent}{line}\n" for line in lines)


def wrapped(text: str) -> str:
    """Lines that begin a list in brackets where it opens, broken behind commas only."""
    kept = re.sub(r"(?<!,) ", "\0", text)
    return textwrap.fill(kept, LINE_LENGTH, subsequent_indent=" ").replace("\0", " ")


def _import_order(name: str) -> tuple[int, str]:
    """Constants, classes, then the rest, as isort sorts members."""
    if name.isupper():
        return 0, name.lower()
    return (1 if name[0].isupper() else 2), name.lower()


def origin(declaration: Declaration) -> list[str]:
    """The keywords of a class that say where a type comes from."""
    words = [f'header="{declaration.header}"', f'since="{declaration.since}"']
    if declaration.deprecated:
        words.append(f'replaced_by="{declaration.replaced_by or ""}"')
    return words


def class_statement(name: str, base: str, keywords: Iterable[str]) -> str:
    """``class name(base, keywords):``, wrapped when long."""
    arguments = [base, *keywords]
    line = f"class {name}({', '.join(arguments)}):"
    if len(f"{line} ...") <= LINE_LENGTH:
        return line
    return f"class {name}(\n{filled(arguments)}):"


def json_table(title: str, version: str, source: str, rows: Mapping[str, object]) -> str:
    """A JSON file of one table, a row per line, and what wrote it."""
    banner = json.dumps(f"{title} of cuDNN {version}. {source}; do not edit.")
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
    return f'{{\n "about": {banner},\n "rows": {{\n{lines}\n }}\n}}\n'


def dunder_all(names: Iterable[str]) -> str:
    """``__all__``, in the order of the headers."""
    return "__all__ = [\n" + filled(f'"{name}"' for name in names) + "]\n"
