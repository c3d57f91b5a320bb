"""Write ``raw/uses.py``: what stands on each C function, and which example uses it."""

from __future__ import annotations

import re
from pathlib import Path

from .model import Headers
from .text import banner

_BODY = """
Read from the source of the package's layers 2 and 3 and of the examples.
"""

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def emit_uses(headers: Headers) -> str:
    from .users import users

    used = users(frozenset(function.name for function in headers.functions))
    words = {path.name: _words(path) for path in sorted(EXAMPLES.glob("*.py"))}
    lines = ""
    for function in headers.functions:
        objects = used.get(function.name, [])
        example = _example([function.name], words) or _example(objects, words)
        name, used_by = f'    "{function.name}": ', f'"{" ".join(objects)}"'
        row = f'{name}({used_by}, "{example}"),\n'
        if len(row) > 101:
            row = f'{name}(\n        {used_by},\n        "{example}",\n    ),\n'
        lines += row
    text = f"USES: dict[str, tuple[str, str]] = {{\n{lines}}}\n"
    return (
        banner(headers.version, "What uses the functions", _BODY)
        + text
        + '"""By C function: objects of layers 2 and 3, the most direct first, and an example."""\n'
    )


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
