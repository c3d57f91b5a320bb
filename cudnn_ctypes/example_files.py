"""The example files: their folder and titles, and a function that copies them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Example", "examples", "files", "folder"]


@dataclass(frozen=True)
class Example:
    """An example program or notebook.

    Attributes
    ----------
    path : Path
        Relative to the examples' folder.
    title : str
        The first paragraph of its description.
    about : str
        The rest of its description.
    """

    path: Path
    title: str
    about: str


def folder() -> Path:
    """The examples' folder: in the installed package, or beside it in a checkout.

    Raises
    ------
    FileNotFoundError
    """
    package = Path(__file__).parent
    for place in (package / "examples", package.parent / "examples"):
        if (place / "README.md").is_file():
            return place
    raise FileNotFoundError(f"no examples in {package}, nor beside it")


def examples() -> Iterator[Example]:
    """All programs in reading order, then all notebooks."""
    place = folder()
    for path in sorted(place.glob("[0-9]*.py")):
        title, about = _parts(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "")
        yield Example(path.relative_to(place), title, about)
    for path in sorted(place.glob("notebooks/[0-9]*.ipynb")):
        first = json.loads(path.read_text("utf-8"))["cells"][0]["source"]
        title, about = _parts("".join(first).lstrip("# "))
        yield Example(path.relative_to(place), title, about)


def _parts(text: str) -> tuple[str, str]:
    """The first paragraph of a text as one line, and the other paragraphs."""
    first, _, others = text.strip().partition("\n\n")
    return " ".join(first.split()), others.strip()


def files() -> list[Path]:
    """All programs, notebooks and texts, relative to the examples' folder."""
    place = folder()
    return sorted(
        path.relative_to(place)
        for path in place.rglob("*")
        if path.is_file() and path.suffix in (".py", ".c", ".ipynb", ".md")
    )
