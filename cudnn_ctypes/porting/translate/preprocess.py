"""C's preprocessor, as far as a reader keeps it: conditions are decided, macros are collected.

Lines keep their numbers. Macros that are constants or calls stay in the text as names; those that
stand for types, keywords or nothing are replaced in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...raw import constants

__all__ = ["Macro", "Source", "preprocess", "replaced"]


@dataclass(frozen=True)
class Macro:
    """A ``#define``: `parameters` is None for one without parentheses."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    line: int


@dataclass
class Source:
    """A C text without directives, and its macros."""

    text: str = ""
    macros: dict[str, Macro] = field(default_factory=dict)
    redefined: set[str] = field(default_factory=set)
    textual: dict[str, str] = field(default_factory=dict)


_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)(.*)", re.DOTALL)
_DEFINE = re.compile(r"\s*(\w+)(\(([^)]*)\))?(.*)", re.DOTALL)
_LITERAL = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_COMMENT = re.compile(rf"({_LITERAL})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(rf"({_LITERAL})|//[^\n]*|/\*.*?\*/|[A-Za-z_]\w*", re.DOTALL)

# Words that begin what is no expression.
_NOT_VALUES = frozenset(
    [
        "void",
        "char",
        "short",
        "int",
        "long",
        "float",
        "double",
        "unsigned",
        "signed",
        "const",
        "static",
        "inline",
        "extern",
        "struct",
        "half",
        "__inline__",
        "__forceinline__",
        "restrict",
        "__restrict__",
        "size_t",
        "bool",
        "typename",
        "class",
    ]
)


def preprocess(text: str, known: dict[str, str], types: set[str]) -> Source:
    """Decide conditions, collect macros, and replace those that stand for no value.

    Parameters
    ----------
    text : str
        C, C++ or CUDA.
    known : dict
        Macros that the compiler defines, with their values.
    types : set of str
        Names of types beyond those of C.
    """
    source = Source()
    lines = text.split("\n")
    output: list[str] = []
    defined = dict(known)
    active: list[list[bool]] = []  # whether this part is read, and whether one was
    position = 0
    while position < len(lines):
        first, line = position, lines[position]
        position += 1
        match = _DIRECTIVE.match(line)
        if not match:
            output.append(line if all(part[0] for part in active) else "")
            continue
        while line.endswith("\\") and position < len(lines):
            line = line[:-1] + "\n" + lines[position]
            position += 1
        output.extend([""] * (position - first))
        match = _DIRECTIVE.match(_COMMENT.sub(lambda found: found[1] or " ", line))
        assert match
        word, rest = match[1], match[2].strip()
        if word in ("if", "ifdef", "ifndef"):
            met = all(part[0] for part in active) and _holds(word, rest, defined)
            active.append([met, met])
        elif word in ("elif", "else") and active:
            met = not active[-1][1] and (word == "else" or _holds("if", rest, defined))
            met = met and all(part[0] for part in active[:-1])
            active[-1] = [met, active[-1][1] or met]
        elif word == "endif" and active:
            active.pop()
        elif all(part[0] for part in active):
            _directive(word, rest, first + 1, source, defined)
    source.text = "\n".join(output)
    _take_out_textual(source, types)
    return source


def _directive(word: str, rest: str, line: int, source: Source, defined: dict[str, str]) -> None:
    if word == "undef":
        defined.pop(rest, None)
    elif word == "define":
        match = _DEFINE.match(rest)
        if match is None:
            return
        name, parameters, body = match[1], match[3], match[4].strip()
        names = None
        if match[2] is not None:
            names = tuple(part.strip() for part in parameters.split(",")) if parameters else ()
        known = source.macros.get(name)
        if known is not None and known.body != body:
            source.redefined.add(name)
        defined[name] = body
        source.macros[name] = Macro(name, names, body, line)


def _holds(word: str, text: str, defined: dict[str, str]) -> bool:
    if word != "if":
        name = text.split()[0] if text.split() else ""
        return (name in defined) == (word == "ifdef")
    text = re.sub(
        r"defined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
        lambda match: "1" if (match[1] or match[2]) in defined else "0",
        text,
    )
    for _ in range(8):
        text = re.sub(r"[A-Za-z_]\w*", lambda match: f"({defined.get(match[0]) or 0})", text)
    text = re.sub(r"(\d)[uUlL]+\b", r"\1", text)
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    if not re.fullmatch(r"[\w\s()<>=!+\-*/%&|^~]*", text):
        return False
    try:
        return bool(eval(text, {"__builtins__": {}}))
    except Exception:  # what is no condition to Python is none to this reader
        return False


def _take_out_textual(source: Source, types: set[str]) -> None:
    words = _NOT_VALUES | types
    for name, macro in list(source.macros.items()):
        if macro.parameters is not None:
            continue
        first = re.match(r"\w+", macro.body)
        listed = _is_list(macro.body)
        if not macro.body or listed or (first and first[0] in words) or macro.body[0] in "{;":
            source.textual[name] = macro.body
            del source.macros[name]
    source.text = replaced(source.text, source.textual)


def _is_list(text: str) -> bool:
    """Whether a macro stands for several values: a comma outside of parentheses."""
    text = re.sub(_LITERAL, "", text)
    while "(" in text and (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return "," in text


def without_namespaces(text: str) -> str:
    """C++ text without the names of its own namespaces, and ``::`` alone, before its names."""
    for name in set(re.findall(r"^[ \t]*namespace\s+(\w+)\s*\{", text, re.M)) - {"std"}:
        qualified = re.compile(rf"({_LITERAL})|(?<!::)\b{name}\s*::\s*(?=[A-Za-z_~])")
        text = qualified.sub(lambda match: match[1] or "", text)
    of_all = re.compile(rf"({_LITERAL})|(?<![\w>:])::(?=[A-Za-z_])")
    return of_all.sub(lambda match: match[1] or "", text)


def replaced(text: str, names: dict[str, str]) -> str:
    """C text with whole words replaced, outside of strings and comments."""

    def word(match: re.Match[str]) -> str:
        return names.get(match[0], match[0])

    return _WORD.sub(word, text) if names else text


def compiler_macros(language: str) -> dict[str, str]:
    """What a compiler for the headers that this package was made from defines."""
    numbers = ("CUDNN_VERSION", "CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")
    found = {name: str(getattr(constants, name)) for name in numbers if hasattr(constants, name)}
    found |= {"__linux__": "1", "__GNUC__": "13", "__x86_64__": "1"}
    found |= {"CUDART_VERSION": "13000", "CUDA_VERSION": "13000"}
    if language != "c":
        found |= {"__cplusplus": "201703L"}
    return found | ({"__CUDACC__": "1", "__NVCC__": "1"} if language == "cuda" else {})
