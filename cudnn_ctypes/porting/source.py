"""A C, C++ or CUDA program as a syntax tree, with its macros and the files that it includes.

The preprocessor does not run: both branches of an ``#if`` are seen, and a macro is a call whose
definition `Source.macros` has.
"""

from __future__ import annotations

import functools
import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..evidence.files import CommandError, read_bytes
from .syntax import Node

if TYPE_CHECKING:
    from tree_sitter import Parser

__all__ = ["Include", "Macro", "Source", "parse", "parse_text"]

_LANGUAGES = {".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp"}
"""Languages by a file's suffix; others are CUDA, whose grammar takes C++ too."""

_INSTALL = "pip install 'cudnn-ctypes[porting]'"


@dataclass(frozen=True, slots=True)
class Macro:
    """A ``#define``.

    Attributes
    ----------
    name : str
    parameters : tuple of str or None
        None for a macro that is no function; "..." for further arguments.
    body : str
        What it stands for, in one line, without comments.
    line : int
        From 1.
    """

    name: str
    parameters: tuple[str, ...] | None
    body: str
    line: int


@dataclass(frozen=True, slots=True)
class Include:
    """An ``#include``: the name of the file, and whether it stands in ``<>``."""

    line: int
    name: str
    system: bool


class Source:
    """A parsed program.

    Parameters
    ----------
    code : bytes
    path : Path, optional
        Its file, for messages and to choose the language.
    language : str, optional
        "c", "cpp" or "cuda". Default: by the suffix; another one if the text does not fit it.

    Attributes
    ----------
    code : bytes
    path : Path
    language : str
        The one that it was read as.
    root : Node
    """

    def __init__(
        self, code: bytes, path: Path | None = None, *, language: str | None = None
    ) -> None:
        self.code = code
        self.path: Path = Path("program.cu") if path is None else path
        # A comment in the body of a macro ends the macro for the grammars.
        readable = _DEFINE.sub(lambda found: _COMMENT.sub(_blank, found[0]), code)
        readable = _EXPORTED.sub(lambda found: found[1] + b" " * len(found[2]), readable)
        self.language: str
        self.root: Node
        self.language, self.root = _best(readable, self.path, language)

    def __repr__(self) -> str:
        return f"<Source {self.path}: {len(self.lines)} lines of {self.language}>"

    @functools.cached_property
    def lines(self) -> list[str]:
        """The text of each line; that of line n is ``lines[n - 1]``."""
        return self.code.decode("utf-8", "replace").splitlines()

    @functools.cached_property
    def includes(self) -> list[Include]:
        """All files that it includes."""
        files = [(node.line, node["path"].text) for node in self.root.find("preproc_include")]
        return [Include(line, name.strip('<>"'), name.startswith("<")) for line, name in files]

    @functools.cached_property
    def macros(self) -> dict[str, Macro]:
        """Macros by name; the last definition of a name counts."""
        macros = map(_macro, self.root.find("preproc_def", "preproc_function_def"))
        return {macro.name: macro for macro in macros}


def _macro(node: Node) -> Macro:
    listed = node["parameters"]
    names = [one.text for one in listed.all if one.text not in ("(", ")", ",")]
    body = re.sub(r"\\\r?\n", " ", node["value"].text)
    return Macro(
        node["name"].text, tuple(names) if listed else None, " ".join(body.split()), node.line
    )


def parse(path: Path | str) -> Source:
    """Read and parse a file.

    Raises
    ------
    CommandError
        If it cannot be read, or tree-sitter is not installed.
    """
    path = Path(path)
    code = read_bytes(path)
    if b"\0" in code:
        raise CommandError(f"{path}: this is no text")
    return Source(code, path)


def parse_text(text: str, *, language: str | None = None) -> Source:
    """Parse a program that is no file; the language is CUDA if none is named."""
    return Source(text.encode(), language=language)


_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define\b(?:\\\r?\n|/\*.*?\*/|[^\n])*", re.M | re.S)
_COMMENT = re.compile(rb"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
"""A comment, or a text in quotes, in which no comment begins."""


_EXPORTED = re.compile(
    rb"(\b(?:class|struct)\s+)([A-Z][A-Z0-9_]{2,})(?=\s+\w+\s*(?:final\b\s*)?[:{;])"
)
"""``class LIBRARY_API Layer``: for the grammars such a macro is the name of the class."""


def _blank(found: re.Match[bytes]) -> bytes:
    """Blanks in a comment's place; its lines stay, and so does the sign that a macro goes on."""
    return re.sub(rb"[^\n\\]", b" ", found[0]) if found[0].startswith(b"/") else found[0]


# -- the grammars ---------------------------------------------------------------------------------


def _best(code: bytes, path: Path, language: str | None) -> tuple[str, Node]:
    """The language, and the tree in which the fewest places could not be read."""
    first = language or _LANGUAGES.get(path.suffix.lower(), "cuda")
    root = _tree(code, first)
    if language or not root.tree.has_error:
        return first, root
    trees = [(first, root)]
    trees += [(each, _tree(code, each)) for each in ("cuda", "cpp", "c") if each != first]
    return min(trees, key=lambda pair: len(pair[1].errors))


def _tree(code: bytes, language: str) -> Node:
    return Node(_parser(language).parse(code).root_node)


@functools.cache
def _parser(language: str) -> Parser:
    try:
        tree_sitter: Any = importlib.import_module("tree_sitter")
        grammar: Any = importlib.import_module(f"tree_sitter_{language}")
    except ImportError as error:
        raise CommandError(
            f"reading C needs tree-sitter and its grammars ({error.name} is missing): {_INSTALL}"
        ) from None
    parser: Parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    return parser
