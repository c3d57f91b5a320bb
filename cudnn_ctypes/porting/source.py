"""A C, C++ or CUDA program as a syntax tree, with its macros and the files that it includes.

The preprocessor does not run: both branches of an ``#if`` are seen, and a macro is a call whose
definition `Source.macros` has.
"""

from __future__ import annotations

import functools
import importlib
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..evidence.files import CommandError, read_bytes
from ..raw import constants

if TYPE_CHECKING:
    from tree_sitter import Parser

CASTS = ("static_cast", "reinterpret_cast", "const_cast")


class Node:
    """A node of tree-sitter's tree; a child that is missing is an empty node, which is false.

    `line` is the line of the C program that the node stands for: where a macro is written out, the
    line that uses it.
    """

    __slots__ = ("_line", "tree")

    def __init__(self, tree: Any, line: int = 0) -> None:
        self.tree: Any = tree
        self._line = line

    def __bool__(self) -> bool:
        return self.tree is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and bool(self.tree == other.tree)

    def __getitem__(self, field: str) -> Node:
        """The child in a field."""
        found = self.tree.child_by_field_name(field) if self.tree is not None else None
        return Node(found, self._line)

    def each(self, field: str) -> list[Node]:
        return [Node(one, self._line) for one in self.tree.children_by_field_name(field)]

    @property
    def kind(self) -> str:
        return str(self.tree.type) if self.tree is not None else ""

    @property
    def text(self) -> str:
        return str(self.tree.text.decode(errors="replace")) if self.tree is not None else ""

    @property
    def operator(self) -> str:
        return self["operator"].text

    @property
    def id(self) -> int:
        """A number that no other node of its tree has; 0 if it is empty."""
        return int(self.tree.id) if self.tree is not None else 0

    @property
    def line(self) -> int:
        """The line that it begins in, from 1."""
        return self._line or int(self.tree.start_point[0]) + 1

    @property
    def place(self) -> tuple[int, int]:
        """The line that it begins in, and the byte in that line, from 1."""
        return self.line, int(self.tree.start_point[1]) + 1

    @property
    def last_line(self) -> int:
        """The line that it ends in."""
        return int(self.tree.end_point[0]) + 1

    @property
    def parent(self) -> Node:
        return Node(self.tree.parent if self.tree is not None else None, self._line)

    @property
    def home(self) -> Node:
        """The function definition around it."""
        node = self
        while node and node.kind not in ("function_definition", "lambda_expression"):
            node = node.parent
        return node

    def declares(self, name: Node) -> bool:
        """Whether it is a declaration of the variable that this identifier names."""
        return self.kind == "declaration" or self["declarator"] == name

    @property
    def all(self) -> list[Node]:
        """Its children, punctuation too."""
        return [Node(one, self._line) for one in self.tree.children] if self else []

    @property
    def named(self) -> list[Node]:
        """Its children that are no punctuation."""
        return [Node(one, self._line) for one in self.tree.named_children] if self else []

    @property
    def children(self) -> list[Node]:
        """Its children that are no punctuation and no comments."""
        return [one for one in self.named if one.kind != "comment"]

    @property
    def head(self) -> str:
        """The C text of a definition before its body."""
        body = self["body"].tree
        return self.text[: body.start_byte - self.tree.start_byte] if body else self.text

    def words(self, *kinds: str) -> set[str]:
        """The texts of its own children of these kinds."""
        return {str(one.text.decode()) for one in self.tree.children if one.type in kinds}

    def find(self, *kinds: str) -> Iterator[Node]:
        """The nodes of these kinds in it, itself too, in the order of the text."""
        pending = [self.tree] if self else []
        while pending:
            one = pending.pop()
            if one.type in kinds:
                yield Node(one, self._line)
            pending.extend(reversed(one.named_children))

    @property
    def errors(self) -> list[Node]:
        """Places in it that the grammar could not read: a missing parenthesis, too."""
        found, pending = [], [self.tree] if self else []
        while pending:
            one = pending.pop()
            if one.is_error or one.is_missing:
                found.append(Node(one, self._line))
            if one.has_error:
                pending.extend(reversed(one.children))
        return found

    def has(self, *kinds: str) -> bool:
        """Whether there is a node of these kinds in it."""
        return next(self.find(*kinds), None) is not None

    @property
    def bare(self) -> Node:
        """Without the parentheses around it."""
        node = self
        while node.kind in ("parenthesized_expression", "condition_clause"):
            if len(node.children) != 1:
                break
            node = node.children[0]
        return node

    @property
    def stripped(self) -> Node:
        """Without the parentheses and casts around it."""
        node = self.bare
        while True:
            if node.kind == "cast_expression":
                node = node["value"].bare
            elif node.kind == "call_expression" and node["function"]["name"].text in CASTS:
                node = node["arguments"].children[0].bare
            else:
                return node

    @property
    def called(self) -> str:
        return self["function"].text

    @property
    def arguments(self) -> list[Node]:
        return self["arguments"].children

    @property
    def address_of(self) -> Node:
        """What stands after ``&``, through casts."""
        node = self.stripped
        taken = node.kind == "pointer_expression" and node.operator == "&"
        return node["argument"] if taken else Node(None)


def commas(node: Node) -> list[Node]:
    """The expressions that commas separate."""
    if node.kind == "comma_expression":
        return [*commas(node["left"]), *commas(node["right"])]
    return [node]


_LANGUAGES = {".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp"}
"""Languages by a file's suffix; others are CUDA, whose grammar takes C++ too."""

_INSTALL = "pip install 'cudnn-ctypes[porting]'"


@dataclass(frozen=True, slots=True)
class Macro:
    """A ``#define``.

    - `parameters`: None for a macro that is no function; "..." for further arguments.
    - `body`: what it stands for, in one line, without comments.
    - `line`: from 1.
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

    - `path`: its file, for messages and to choose the language.
    - `language`: "c", "cpp" or "cuda". Default: by the suffix; another one if the text does not fit
      it.

    - `language`: the one that it was read as.
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


def text_of(path: Path) -> str:
    """The text of a file: UTF-8, or Latin-1 where it is not.

    Raises CommandError if it cannot be read, or has NUL characters.
    """
    code = read_bytes(path)
    if b"\0" in code:
        raise CommandError(f"{path}: this is no text")
    try:
        return code.decode("utf-8-sig")
    except UnicodeDecodeError:
        return code.decode("latin-1")


def header(name: str, folders: Iterable[Path]) -> Path | None:
    """The file that an ``#include`` names: the first that one of these folders has."""
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


_PROVIDED = re.compile(
    r"(cu|nv|device_|driver_|vector_|std|math|string|assert|time)\w*(/.*)?\.h|\w+"
)


def is_missing(name: str, folders: Iterable[Path]) -> bool:
    """Whether a header in quotes is nowhere: not in these folders, nor one of CUDA or of C."""
    return header(name, folders) is None and not _PROVIDED.fullmatch(name)


def parse(path: Path | str) -> Source:
    """Read and parse a file.

    Raises CommandError if it cannot be read, or tree-sitter is not installed.
    """
    path = Path(path)
    return Source(text_of(path).encode(), path)


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


def own_headers(source: Source, folders: Sequence[Path] = ()) -> list[Source]:
    """The headers of a program and those that they include, each once, as far as they are found.

    - `folders`: where they are looked for, besides the folder of the file that includes them.
    """
    seen, found, waiting = {source.path.resolve()}, list[Source](), [source]
    while waiting:
        above = waiting.pop()
        for include in above.includes:
            beside = () if include.system else (above.path.parent,)
            path = header(include.name, (*beside, *folders))
            if path is not None and path.resolve() not in seen:
                seen.add(path.resolve())
                found.append(parse(path))
                waiting.append(found[-1])
    return found


_KNOWN = {
    "CUDNN_MAJOR": constants.CUDNN_MAJOR,
    "CUDNN_MINOR": constants.CUDNN_MINOR,
    "CUDNN_PATCHLEVEL": constants.CUDNN_PATCHLEVEL,
    "CUDNN_VERSION": constants.CUDNN_VERSION,
}


def left_out(source: Source) -> Iterator[tuple[int, int]]:
    """First and last line of each branch that only other releases of cuDNN compile."""
    for node in source.root.find("preproc_if", "preproc_elif"):
        value, other = holds(node["condition"].text), node["alternative"]
        if value is False:  # up to the line before the next branch begins
            yield node.line + 1, other.line - 1 if other else node.last_line
        elif value is True and other:
            yield other.line, other.last_line


def holds(condition: str) -> bool | None:
    """Whether a condition on the version of cuDNN holds; None if it asks for something else.

    Examples
    --------
    >>> holds("CUDNN_MAJOR >= 8"), holds("CUDNN_VERSION < 7000"), holds("USE_DOUBLE")
    (True, False, None)
    """
    text = re.sub(r"\bdefined\s*\(?\s*(CUDNN_(?:MAJOR|VERSION))\s*\)?", "1", condition)
    # A macro that frameworks define.
    text = re.sub(r"\bCUDNN_VERSION_MIN\s*\(([^,()]+),([^,()]+),([^,()]+)\)", _at_least, text)
    for name, value in _KNOWN.items():
        text = re.sub(rf"\b{name}\b", str(value), text)
    try:
        return evaluated(text) != 0
    except Untranslatable:
        return None


def _at_least(version: re.Match[str]) -> str:
    release = [_KNOWN[name] for name in ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")]
    wanted = [part.strip() for part in version.groups()]
    return str(int(all(map(str.isdigit, wanted)) and release >= [*map(int, wanted)]))


# --- conditions ----------------------------------------------------------------------------------


class Untranslatable(Exception):
    """A construct that is not known; the message says which."""


_SAME = {"and": "&&", "or": "||", "not": "!", "compl": "~", "bitand": "&", "bitor": "|"}
_SAME |= {"xor": "^", "not_eq": "!="}
_RESULTS: dict[str, Callable[[int, int], int]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": lambda left, right: left << min(max(right, 0), 64),
    ">>": lambda left, right: left >> min(max(right, 0), 64),
    "/": lambda left, right: int(Fraction(left, right)),
    "%": lambda left, right: left - right * int(Fraction(left, right)),
}
_OF_ONE: dict[str, Callable[[int], int]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
    "!": operator.not_,
}


def evaluated(text: str) -> int:
    """The value of a condition of ``#if``.

    Raises Untranslatable if names in it, which stand for nothing here, decide it, or it is no
    expression of integers.
    """
    root = parse_text(f"int condition = ({text}\n);", language="cpp").root
    value = next(root.find("init_declarator"), Node(None))["value"]
    if root.errors or len(root.children) != 1 or not value:
        raise Untranslatable(f"a condition that is not known: {text[:60]}")
    try:
        return _value(value)
    except RecursionError:
        raise Untranslatable("a condition that is nested too deeply") from None
    except (KeyError, ValueError, ZeroDivisionError):
        raise Untranslatable(f"a condition that is not known: {text[:60]}") from None


def _value(node: Node) -> int:
    sign = _SAME.get(node.operator, node.operator)
    if node.kind == "parenthesized_expression" and len(node.children) == 1:
        return _value(node.children[0])
    if node.kind == "number_literal":
        digits = re.sub("[uUlL']", "", node.text)
        return int(re.sub("^(-?)0(?=[0-7])", r"\g<1>0o", digits), 0)
    if node.kind == "char_literal" and re.fullmatch(r"'[^\\]'", node.text):
        return ord(node.text[1])
    if node.kind in ("true", "false"):
        return int(node.kind == "true")
    if node.kind == "conditional_expression":
        chosen = "consequence" if _value(node["condition"]) else "alternative"
        return _value(node[chosen])
    if node.kind == "unary_expression":
        return int(_OF_ONE[sign](_value(node["argument"])))
    if sign in ("&&", "||"):
        return int(_decided(node, sign == "||"))
    if node.kind == "binary_expression":
        return int(_RESULTS[sign](_value(node["left"]), _value(node["right"])))
    raise Untranslatable(f"a condition that is not known: {node.text[:60]}")


def _decided(node: Node, deciding: bool) -> bool:
    """``&&`` or ``||``: what is not known does not matter where the other side decides."""
    try:
        if bool(_value(node["left"])) == deciding:
            return deciding
    except Untranslatable:
        if bool(_value(node["right"])) != deciding:
            raise
        return deciding
    return bool(_value(node["right"]))
