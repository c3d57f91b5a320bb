"""Write ``raw/constants.py``: the macros that have a value, and those that compute one."""

from __future__ import annotations

import ast
import re

from .model import Headers, Macro
from .text import FILLED, banner, dunder_all, import_from

_BODY = "The macros, with the expressions that C has for them, by header."
_INTEGER_SUFFIX = re.compile(r"^(0[xX][0-9a-fA-F]+|\d+)[uUlL]+$")


def emit_constants(headers: Headers) -> str:
    enum_of = {e.name: enum.name for enum in headers.enums for e in enum.enumerators}
    enums = {enum.name for enum in headers.enums}
    known = {macro.name for macro in headers.macros}
    imported: set[str] = set()
    parts = []
    header = ""
    for macro in headers.macros:
        for token in macro.tokens:
            if token in enum_of or token in enums:
                imported.add(token)
            elif token.isidentifier() and token not in known | set(macro.parameters or ()):
                raise NotImplementedError(f"{macro.name}: {token} is no constant")
        if macro.header != header:
            header = macro.header
            parts.append(f"\n# --- {header} ---\n\n")
        parts.append(_macro(macro, enums))
    top = banner(headers.version, "The numeric macros", _BODY)
    parts.append("\n" + dunder_all(macro.name for macro in headers.macros))
    checks = f"# ruff: noqa: RUF022\n{FILLED}"
    return checks + _blank_lines(top + import_from(".enums", imported) + "".join(parts))


def _macro(macro: Macro, enums: set[str]) -> str:
    expression = _expression(macro.tokens)
    if macro.parameters is None:
        return f"{macro.name} = {expression}\n"
    parameters = ", ".join(f"{name}: int" for name in macro.parameters)
    result = next((token for token in macro.tokens if token in enums), "int")
    return f"\n\ndef {macro.name}({parameters}) -> {result}:\n    return {expression}\n\n\n"


def _expression(tokens: tuple[str, ...]) -> str:
    """A C expression of integers in Python; a cast to an enum is a call of its class."""
    python = [_INTEGER_SUFFIX.sub(r"\1", token) for token in tokens]
    python = ["//" if token == "/" else token for token in python]
    return ast.unparse(ast.parse(" ".join(python), mode="eval"))


def _blank_lines(text: str) -> str:
    """Two blank lines around functions, one elsewhere."""
    return re.sub(r"\n{4,}", "\n\n\n", text)
