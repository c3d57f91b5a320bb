"""C's preprocessor, as far as a reader keeps it: conditions are decided, macros are collected.

Lines keep their numbers. Macros that are constants or calls stay in the text as names; those that
stand for types, keywords or nothing are replaced in it.
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass, field, replace

from ...raw import constants
from .. import source
from .values import Untranslatable

__all__ = ["Macro", "Source", "brackets", "pieces", "preprocess", "replaced"]


class Macro(source.Macro):
    """A ``#define`` of which the translator asks what its calls stand for."""

    @property
    def is_function(self) -> bool:
        return self.parameters is not None

    def substituted(self, arguments: list[str], macros: dict[str, Macro]) -> str:
        """Its body with arguments put in."""
        parameters = list(self.parameters or ())
        if parameters[-1:] == ["..."]:
            count = len(parameters) - 1
            arguments = [*arguments[:count], ", ".join(arguments[count:])]
            parameters[-1] = "__VA_ARGS__"
        if len(parameters) != len(arguments):
            raise Untranslatable(f"{self.name} takes {len(parameters)} arguments")
        if any("#" in macros[one].body for one in re.findall(r"\w+", self.body) if one in macros):
            values = {name: one.body for name, one in macros.items() if not one.is_function}
            values = _compiler_macros("c") | values
            arguments = [replaced(one, values) for one in arguments]
        texts = dict(zip(parameters, arguments, strict=True))

        def quoted(match: re.Match[str]) -> str:
            text = texts.get(match[1], "").replace("\\", "\\\\").replace('"', '\\"')
            return f'"{text}"'

        rest = ", __VA_ARGS__" if texts.get("__VA_ARGS__") else ""
        body = re.sub(r",\s*##\s*__VA_ARGS__", rest, self.body)
        body = re.sub(r"(?<!#)#\s*(\w+)", quoted, body)
        body = re.sub(
            r"\w+(\s*##\s*\w+)+",
            lambda match: "".join(texts.get(one, one) for one in re.split(r"\s*##\s*", match[0])),
            body,
        )
        return replaced(body, texts).replace("\n", " ")


@dataclass
class Source:
    """A C text without directives, and its macros."""

    text: str = ""
    macros: dict[str, Macro] = field(default_factory=dict)
    redefined: set[str] = field(default_factory=set)

    @functools.cached_property
    def used(self) -> set[str]:
        """The words of the text and of the macros."""
        bodies = [one.body for one in self.macros.values()]
        return set(re.findall(r"\w+", " ".join([self.text, *bodies])))


_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)(.*)", re.DOTALL)
_DEFINE = re.compile(r"\s*(\w+)(\(([^)]*)\))?(.*)", re.DOTALL)
_LITERAL = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_BRACKET = re.compile(rf"{_LITERAL}|[][(){{}},]")
_COMMENT = re.compile(rf"({_LITERAL})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_UNREAD = re.compile(rf"{_LITERAL}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(rf"({_LITERAL})|//[^\n]*|/\*.*?\*/|[A-Za-z_]\w*", re.DOTALL)

# Words that begin what is no expression.
_NOT_VALUES = re.compile(
    r"(void|char|short|int|long|float|double|(un)?signed|const|static|inline|extern|struct|half|"
    r"__(force)?inline__|(__)?restrict(__)?|size_t|bool|typename|class)\b"
)


def preprocess(text: str, language: str) -> Source:
    """Decide conditions, collect macros, and replace those that stand for no value."""
    source = Source()
    lines = text.split("\n")
    output: list[str] = []
    defined = _compiler_macros(language)
    active: list[tuple[bool, bool]] = []  # whether this part is read, and whether one was
    position = 0
    while position < len(lines):
        first, line = position, lines[position]
        position += 1
        is_read = all(part[0] for part in active)
        if not _DIRECTIVE.match(line):
            output.append(line if is_read else "")
            continue
        while line.endswith("\\") and position < len(lines):
            line = line[:-1] + "\n" + lines[position]
            position += 1
        output.extend([""] * (position - first))
        match = _DIRECTIVE.match(_COMMENT.sub(lambda found: found[1] or " ", line))
        assert match
        word, rest = match[1], match[2].strip()
        if word in ("if", "ifdef", "ifndef"):
            met = is_read and _holds(word, rest, defined)
            active.append((met, met))
        elif word in ("elif", "else") and active:
            met = not active[-1][1] and (word == "else" or _holds("if", rest, defined))
            met = met and all(part[0] for part in active[:-1])
            active[-1] = (met, active[-1][1] or met)
        elif word == "endif" and active:
            active.pop()
        elif is_read and word == "undef":
            defined.pop(rest, None)
        elif is_read and word == "define":
            _define(rest, first + 1, source, defined)
    source.text = "\n".join(output)
    _take_out_textual(source)
    _splice_loose(source)
    source.text = _without_namespaces(_terminated(source))
    return source


def _define(rest: str, line: int, source: Source, defined: dict[str, str]) -> None:
    match = _DEFINE.match(rest)
    if match is None:
        return
    name, body = match[1], match[4].strip()
    names = None if match[2] is None else tuple(one.strip() for one in match[3].split(",") if one)
    if name in source.macros and source.macros[name].body != body:
        source.redefined.add(name)
    defined[name] = body
    source.macros[name] = Macro(name, names, body, line)


def _holds(word: str, text: str, defined: dict[str, str]) -> bool:
    if word != "if":
        return ((text.split() or [""])[0] in defined) == (word == "ifdef")
    text = re.sub(
        r"defined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
        lambda match: "1" if (match[1] or match[2]) in defined else "0",
        text,
    )
    for _ in range(8):
        text = re.sub(r"[A-Za-z_]\w*", lambda match: f"({defined.get(match[0]) or 0})", text)
    text = re.sub(r"(\d)[uUlL]+\b", r"\1", text)
    text = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or "))
    try:
        allowed = re.fullmatch(r"[\w\s()<>=!+\-*/%&|^~]*", text)
        calls = re.search(r"[\d)]\s*\(", text)
        return bool(allowed and not calls and eval(text, {"__builtins__": {}}))
    except Exception:  # what is no condition to Python is none to this reader
        return False


def _take_out_textual(source: Source) -> None:
    """Replace macros that stand for no value, in other macros too."""
    textual = {"": ""}
    while textual:
        textual = {
            name: macro.body
            for name, macro in source.macros.items()
            if not macro.is_function
            and (_NOT_VALUES.match(macro.body) or macro.body[:1] in "{;" or _is_list(macro.body))
        }
        source.text = replaced(source.text, textual)
        for name, macro in list(source.macros.items()):
            source.macros[name] = replace(macro, body=replaced(macro.body, textual))
            if name in textual:
                del source.macros[name]


def _splice_loose(source: Source) -> None:
    """Write out macros with bare operators that bind to what stands beside the macro.

    C puts ``a + 1`` into ``2 * A`` as text, so it means ``2 * a + 1``.
    """
    for name, macro in source.macros.items():
        if name not in source.redefined and _is_loose(macro.body):
            for other in source.macros.values():
                if other != macro:
                    body = _spliced(other.body, macro, source.macros)
                    source.macros[other.name] = replace(other, body=body)
            source.text = _spliced(source.text, macro, source.macros)


def _is_loose(text: str) -> bool:
    """Whether a macro is an expression with an operator outside of parentheses."""
    text = re.sub(rf"{_LITERAL}|\b\d[\w.]*([eEpP][-+]\d+\w*)?", "0", text)
    while (shorter := re.sub(r"\([^()]*\)|\[[^][]*\]|->|::|##?", " 0", text)) != text:
        text = shorter
    is_statement = re.search(r"[{};]|^\s*(do|if|for|while|switch|return|goto)\b", text)
    return not is_statement and bool(re.search(r"\w\s*(?!=)[-+*/%<>&|^?]", text))


def _spliced(text: str, macro: Macro, macros: dict[str, Macro]) -> str:
    """C text with a macro written out wherever what stands beside it is part of its expression."""
    code = _UNREAD.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in reversed(list(re.finditer(rf"(?<![\w.#]){macro.name}\b", code))):
        start, end = match.span()
        arguments: list[str] = []
        if macro.is_function:
            opening = re.match(r"\s*\(", code[end:])
            close, cuts = brackets(code, end + opening.end() - 1) if opening else (-1, [])
            if close < 0 or not opening:
                continue
            arguments = pieces(text, [end + opening.end() - 1, *cuts, close])
            end = close + 1
        is_whole = re.search(r"[(\[{,;=:]\s*$|^\s*$", code[:start])
        if not (is_whole and re.match(r"\s*([)\]},;]|$)", code[end:])):
            text = text[:start] + macro.substituted(arguments, macros) + text[end:]
    return text


def _is_list(text: str) -> bool:
    """Whether a macro stands for several values: a comma outside of parentheses."""
    text = re.sub(_LITERAL, "", text)
    while "(" in text and (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return "," in text


def _terminated(source: Source) -> str:
    """The text with a semicolon after macro calls that stand alone without one."""
    text = source.text
    for macro in source.macros.values():
        if not macro.is_function:
            continue
        is_head = re.match(r"(for|while|if)\b", macro.body) and macro.body[-1] not in ";}"
        for match in reversed(list(re.finditer(rf"^[ \t]*{macro.name}\s*\(", text, re.M))):
            end, cuts = brackets(text, match.end() - 1)
            if is_head and end >= 0:  # the head of a loop, whose body follows
                arguments = pieces(text, [match.end() - 1, *cuts, end])
                head = macro.substituted(arguments, source.macros)
                text = text[: match.start()] + head + text[end + 1 :]
            elif end >= 0 and re.match(r"\s*[a-zA-Z}#/*_&]", text[end + 1 :]):
                text = text[: end + 1] + ";" + text[end + 1 :]
    return text


def brackets(text: str, start: int) -> tuple[int, list[int]]:
    """Where the bracket that opens at `start` closes (-1: nowhere), and its own commas."""
    depth = 0
    commas: list[int] = []
    for match in _BRACKET.finditer(text, start):
        depth += (match[0] in "([{") - (match[0] in ")]}")
        if not depth:
            return match.start(), commas
        if match[0] == "," and depth == 1:
            commas.append(match.start())
    return -1, []


def pieces(text: str, cuts: list[int]) -> list[str]:
    """What stands between the characters at these places."""
    return [text[a + 1 : b].strip() for a, b in itertools.pairwise(cuts)]


def _without_namespaces(text: str) -> str:
    """C++ text without the names of its own namespaces, and ``::`` alone, before its names."""
    names = set(re.findall(r"^[ \t]*namespace\s+(\w+)\s*\{", text, re.M)) - {"std"}
    for prefix in [*(rf"(?<!::)\b{name}\s*::\s*" for name in names), r"(?<![\w>:])::"]:
        qualified = re.compile(rf"({_LITERAL})|{prefix}(?=[A-Za-z_~])")
        text = qualified.sub(lambda match: match[1] or "", text)
    return text


def replaced(text: str, names: dict[str, str]) -> str:
    """C text with whole words replaced, outside of strings and comments."""
    return _WORD.sub(lambda match: names.get(match[0], match[0]), text) if names else text


def _compiler_macros(language: str) -> dict[str, str]:
    """What a compiler for the headers that this package was made from defines."""
    numbers = ("CUDNN_VERSION", "CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")
    found = {name: str(getattr(constants, name)) for name in numbers}
    found |= {"__linux__": "1", "__GNUC__": "13", "__x86_64__": "1"}
    found |= {"CUDART_VERSION": "13000", "CUDA_VERSION": "13000"}
    found |= {"__cplusplus": "201703L"} if language != "c" else {}
    return found | ({"__CUDACC__": "1", "__NVCC__": "1"} if language == "cuda" else {})
