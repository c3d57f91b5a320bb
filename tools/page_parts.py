"""Parts of which the site's generated pages are put together."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = [
    "CONTENTS",
    "auto",
    "code",
    "drop_others",
    "grid",
    "keywords",
    "prose",
    "summary",
    "title",
    "write",
]

_written: set[Path] = set()
FOLDER = Path(__file__).parent.parent / "docs" / "reference"  # not kept in git


def write(path: str, *parts: str) -> None:
    """Write a page, unless it stands there already: Sphinx builds again what is new."""
    text = "\n\n".join(part for part in parts if part) + "\n"
    file = FOLDER / path
    file.parent.mkdir(parents=True, exist_ok=True)
    _written.add(file)
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def drop_others() -> None:
    """Remove pages of earlier builds, of names that are gone."""
    for file in FOLDER.rglob("*.*"):
        if file not in _written:
            file.unlink()


CONTENTS = "\n".join(["```{toctree}", ":hidden:", ":glob:", "", "*", "```"])


# Pages with docstrings are reStructuredText: as parts of Markdown pages they take three times as
# long, and their parsed files grow to a megabyte.


def title(text: str) -> str:
    """The title of a page in reStructuredText."""
    return f"{text}\n{'=' * len(text)}"


def keywords(name: str) -> str:
    """The words of a name, by which the search finds its page, in reStructuredText."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    words = [word.lower() for word in words]
    words += ["norm"] if "normalization" in words else []
    return f".. meta::\n   :keywords: {', '.join(words)}"


def auto(kind: str, item: Any, *options: str) -> str:
    """What a docstring says, in reStructuredText."""
    return "\n".join([f".. auto{kind}:: {item}", *(f"   :{option}" for option in options)])


def grid(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head)]
    lines += [["---"] * len(lines[0])]
    lines += [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def summary(item: Any) -> str:
    """The first sentence of a docstring."""
    text = " ".join((inspect.getdoc(item) or "").partition("\n\n")[0].split())
    return text.replace("``", "`")


def code(text: str, language: str = "") -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def prose(docstring: str) -> str:
    """A docstring's paragraphs in Markdown: a star is a star, and indented lines stay code."""
    lines = docstring.replace("``", "`").splitlines()
    return "\n".join(x if x.startswith("    ") else x.replace("*", r"\*") for x in lines)
