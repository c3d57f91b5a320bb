"""Write ``raw/uses.json``: what stands on each C function, and which example uses it."""

from __future__ import annotations

import re
from pathlib import Path

from .model import Headers
from .text import COMMAND, json_table

_SOURCE = f"Read from the source of layers 2 and 3 and of the examples by ``{COMMAND}``"

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def emit_uses(headers: Headers) -> str:
    from .users import users

    used = users(frozenset(function.name for function in headers.functions))
    words = {path.name: _words(path) for path in sorted(EXAMPLES.glob("*.py"))}
    rows: dict[str, tuple[str, str]] = {}
    for function in headers.functions:
        objects = used.get(function.name, [])
        example = _example([function.name], words) or _example(objects, words)
        rows[function.name] = " ".join(objects), example
    return json_table("What uses the functions", headers.version, _SOURCE, rows)


def _words(path: Path) -> set[str]:
    code = re.sub(r"#[^\n]*", "", path.read_text())
    return set(re.findall(r"\w+", code))


def _example(names: list[str], words: dict[str, set[str]]) -> str:
    """The first example with one of the names; of a method, the class and the method."""
    for name in names:
        for example, present in words.items():
            if set(name.split(".")) <= present:
                return example
    return ""
