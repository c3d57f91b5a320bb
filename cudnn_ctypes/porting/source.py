"""A C, C++ or CUDA program as a syntax tree, with what stands beside the tree: macros, comments.

The preprocessor does not run: both branches of an ``#if`` are seen, and a macro is a call whose
definition `Source.macros` has.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudnn_ctypes.command_line import CommandError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

__all__ = ["Comment", "Include", "Macro", "Source", "parse", "parse_text"]

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
class Comment:
    """A comment: its first line, its last, and its text without the marks."""

    line: int
    end_line: int
    text: str


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
    tree : tree_sitter.Tree
    root : tree_sitter.Node
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
        self.tree: Any
        self.language, self.tree = _best(readable, self.path, language)
        self.root: Node = self.tree.root_node

    def __repr__(self) -> str:
        return f"<Source {self.path}: {len(self.lines)} lines of {self.language}>"

    # -- positions -------------------------------------------------------------------------------

    @functools.cached_property
    def lines(self) -> list[str]:
        """The text of each line; that of line n is ``lines[n - 1]``."""
        return self.code.decode("utf-8", "replace").splitlines()

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.code[node.start_byte : node.end_byte].decode("utf-8", "replace")

    @staticmethod
    def line(node: Node) -> int:
        """The line that a node begins in, from 1."""
        return int(node.start_point[0]) + 1

    @staticmethod
    def column(node: Node) -> int:
        """The byte in its line that a node begins at, from 1."""
        return int(node.start_point[1]) + 1

    # -- nodes -----------------------------------------------------------------------------------

    def walk(self, node: Node | None = None) -> Iterator[Node]:
        """A node, by default the whole program, and all named ones in it, in the text's order."""
        waiting = [self.root if node is None else node]
        while waiting:
            each = waiting.pop()
            yield each
            waiting.extend(reversed(each.named_children))

    def of_type(self, *types: str, within: Node | None = None) -> Iterator[Node]:
        """The nodes of these types, in the text's order."""
        return (node for node in self.walk(within) if node.type in types)

    def field(self, node: Node, name: str) -> str:
        """The text of a node's field, "" if it has none."""
        child = node.child_by_field_name(name)
        return "" if child is None else self.text(child)

    def arguments(self, call: Node) -> list[Node]:
        """The arguments of a ``call_expression``, without comments."""
        found = call.child_by_field_name("arguments")
        return [] if found is None else [n for n in found.named_children if n.type != "comment"]

    @functools.cached_property
    def errors(self) -> list[Node]:
        """Places that the grammar could not read."""
        return [node for node in _all(self.root) if node.is_error or node.is_missing]

    # -- beside the tree -------------------------------------------------------------------------

    @functools.cached_property
    def comments(self) -> list[Comment]:
        """All comments, those in macros too."""
        places = [(node.start_byte, node.end_byte) for node in self.of_type("comment")]
        for define in _DEFINE.finditer(self.code):
            inside = _COMMENT.finditer(self.code, define.start(), define.end())
            places += [match.span() for match in inside if match[0].startswith(b"/")]
        return [self._comment(*place) for place in sorted(set(places))]

    def _comment(self, start: int, end: int) -> Comment:
        first = self.code.count(b"\n", 0, start) + 1
        text = self.code[start:end].decode("utf-8", "replace")
        return Comment(first, first + text.count("\n"), _plain(text))

    @functools.cached_property
    def includes(self) -> list[Include]:
        """All files that it includes."""
        found = []
        for node in self.of_type("preproc_include"):
            written = self.field(node, "path")
            found.append(Include(self.line(node), written.strip('<>"'), written.startswith("<")))
        return found

    @functools.cached_property
    def macros(self) -> dict[str, Macro]:
        """Macros by name; the last definition of a name counts."""
        return {
            macro.name: macro
            for macro in map(self._macro, self.of_type("preproc_def", "preproc_function_def"))
        }

    def _macro(self, node: Node) -> Macro:
        listed = node.child_by_field_name("parameters")
        names = None if listed is None else [self.text(n) for n in listed.children]
        parameters = None if names is None else tuple(n for n in names if n not in ("(", ")", ","))
        body = _COMMENT.sub(_blank, self.field(node, "value").encode()).decode()
        body = re.sub(r"\\\r?\n", " ", body)
        return Macro(self.field(node, "name"), parameters, " ".join(body.split()), self.line(node))

    def fragment(self, text: str) -> Source:
        """Statements that do not stand in the program, such as a macro's body, as a program.

        They are in the body of its only function.
        """
        return Source(f"void fragment() {{\n{text};\n}}".encode(), self.path, language="cuda")


def parse(path: Path | str) -> Source:
    """Read and parse a file.

    Raises
    ------
    CommandError
        If it cannot be read, or tree-sitter is not installed.
    """
    path = Path(path)
    try:
        code = path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: it cannot be read: {error.strerror}") from None
    if b"\0" in code[:4096]:
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


def _plain(comment: str) -> str:
    """A comment without its marks."""
    if comment.startswith("//"):
        return comment.lstrip("/").strip()
    lines = comment[2:].removesuffix("*/").splitlines()
    return "\n".join(re.sub(r"^\s*\*+ ?", "", line).rstrip() for line in lines).strip()


# -- the grammars ---------------------------------------------------------------------------------


def _best(code: bytes, path: Path, language: str | None) -> tuple[str, Tree]:
    """The language, and the tree in which the fewest places could not be read."""
    first = language or _LANGUAGES.get(path.suffix.lower(), "cuda")
    tree = _parser(first).parse(code)
    if language or not tree.root_node.has_error:
        return first, tree
    trees = [(first, tree)]
    trees += [(each, _parser(each).parse(code)) for each in ("cuda", "cpp", "c") if each != first]
    return min(trees, key=lambda pair: _mistakes(pair[1].root_node))


def _mistakes(root: Node) -> int:
    return sum(node.is_error or node.is_missing for node in _all(root))


def _all(root: Node) -> Iterable[Node]:
    """All nodes, also those without a name, which a missing parenthesis is."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.has_error:
            waiting.extend(reversed(node.children))


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
