"""C's preprocessor, as far as a reader keeps it: conditions are decided, macros are written out.

Lines keep their numbers. Macros that are constants stay in the text as names, and of a macro that
checks the status of a call the call stays.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ...raw import constants
from .. import source
from ..source import Untranslatable, evaluated

_LONGEST = 20_000  # characters of one macro
_NESTED = 100  # macros within macros of a condition
_ROOM = 2_000_000  # characters that the macros of a program stand for, before it is parsed


class Macro(source.Macro):
    """A ``#define`` of which the translator asks what its calls stand for."""

    @property
    def is_function(self) -> bool:
        return self.parameters is not None

    def substituted(self, arguments: list[str], written_out: Callable[[str], str]) -> str:
        """Its body with arguments put in: written out, but for those that ``#`` and ``##`` take."""
        parameters = list(self.parameters or ())
        arguments = [] if arguments == [""] and not parameters else arguments
        if parameters[-1:] == ["..."]:
            count = len(parameters) - 1
            arguments = [*arguments[:count], ", ".join(arguments[count:])]
            parameters[-1] = "__VA_ARGS__"
        if len(parameters) != len(arguments):
            raise Untranslatable(f"{self.name} takes {len(parameters)} arguments")
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
        return replaced(body, {name: written_out(one) for name, one in texts.items()})


@dataclass
class Source:
    """A C text without directives, and its macros.

    `includes` are its headers with their lines; `refused` are macros that cannot be used, with
    reasons; `notes` are lines that were not understood, with reasons; `room` counts what macros
    may still be written out to; `predefined` are the compiler's; `checks` tells whether a macro
    only checks the status of a call.
    """

    text: str = ""
    macros: dict[str, Macro] = field(default_factory=dict)
    includes: list[tuple[int, str]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    notes: list[tuple[int, str]] = field(default_factory=list)
    room: int = _ROOM
    predefined: dict[str, Macro] = field(default_factory=dict)
    checks: Callable[[Macro, str], bool] = lambda macro, argument: False

    def spend(self, characters: int) -> None:
        """Count characters that macros were written out to.

        Raises Untranslatable if the program has no more of them.
        """
        self.room -= characters
        if self.room < 0:
            raise Untranslatable("macros that stand for more text than this reader takes")

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
_OPENING = re.compile(r"\s*\(")
_TOKEN = re.compile(rf"{_LITERAL}|\b\d[\w']*|[A-Za-z_]\w*")
_WORD = re.compile(rf"({_LITERAL})|//[^\n]*|/\*.*?\*/|[A-Za-z_]\w*", re.DOTALL)


def preprocess(text: str, language: str) -> Source:
    """Decide conditions, collect macros, and replace those that stand for no value."""
    source = Source()
    lines = text.split("\n")
    output: list[str] = []
    defined = {
        name: Macro(name, None, body, 0) for name, body in _compiler_macros(language).items()
    }
    source.predefined = dict(defined)
    active: list[tuple[bool, bool]] = []  # whether this part is read, and whether one was
    position = 0
    while position < len(lines):
        first = position
        position += 1
        is_read = not active or active[-1][0]
        if not _DIRECTIVE.match(lines[first]):
            output.append(lines[first] if is_read else "")
            continue
        while lines[position - 1].endswith("\\") and position < len(lines):
            position += 1
        line = "\n".join([*(one[:-1] for one in lines[first : position - 1]), lines[position - 1]])
        output.extend([""] * (position - first))
        match = _DIRECTIVE.match(_COMMENT.sub(lambda found: found[1] or " ", line))
        assert match
        word, rest = match[1], match[2].strip()
        if word in ("if", "ifdef", "ifndef"):
            met = is_read and _holds(word, rest, first + 1, source, defined)
            active.append((met, met))
        elif word in ("elif", "else") and active:
            met = not active[-1][1] and (len(active) == 1 or active[-2][0])
            met = met and (word == "else" or _holds("if", rest, first + 1, source, defined))
            active[-1] = (met, active[-1][1] or met)
        elif word == "endif" and active:
            active.pop()
        elif is_read and word == "include":
            source.includes.append((first + 1, rest.strip('<>"')))
        elif is_read and word == "undef":
            defined.pop(rest, None)
        elif is_read and word == "define":
            _define(rest, first + 1, source, defined)
    source.text = "\n".join(output)
    return source


def _define(rest: str, line: int, source: Source, defined: dict[str, Macro]) -> None:
    match = _DEFINE.match(rest)
    if match is None:
        return
    name, body = match[1], match[4].strip()
    names = None if match[2] is None else tuple(one.strip() for one in match[3].split(",") if one)
    if name in source.macros and source.macros[name].body != body:
        source.refused[name] = f"a macro that is defined twice: {name}"
    if len(body) > _LONGEST:
        source.refused[name] = f"a macro of more than {_LONGEST} characters: {name}"
        source.notes.append((line, source.refused[name]))
        body = "0"
    defined[name] = source.macros[name] = Macro(name, names, body, line)


def _holds(word: str, text: str, line: int, source: Source, defined: dict[str, Macro]) -> bool:
    """Whether a condition is met; one that is not understood is not, and is noted."""
    if word != "if":
        return ((text.split() or [""])[0] in defined) == (word == "ifdef")
    try:
        if len(text) > _LONGEST:
            raise Untranslatable(f"a condition of more than {_LONGEST} characters")
        text = _written_out(text, source, defined, ())
        return evaluated(_TOKEN.sub(lambda match: _known(match[0]), text)) != 0
    except Untranslatable as reason:
        source.notes.append((line, str(reason)))
        return False


def _known(word: str) -> str:
    """What a word of a condition is where it is no macro."""
    return "0" if word.isidentifier() and word not in _OPERATORS else word


_DEFINED = re.compile(r"\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_OPERATORS = ("true", "false", "and", "or", "not", "compl", "bitand", "bitor", "xor", "not_eq")


def _written_out(
    text: str, source: Source, defined: dict[str, Macro], within: tuple[str, ...]
) -> str:
    """C text with its macros written out, those in themselves left as names."""
    if len(within) > _NESTED:
        raise Untranslatable(f"macros that are nested too deeply: {within[0]}")
    parts, position = list[str](), 0
    while match := _TOKEN.search(text, position):
        parts.append(text[position : match.start()])
        position = match.end()
        name = match[0]
        if name == "defined" and (asked := _DEFINED.match(text, position)):
            position = asked.end()
            parts.append("1" if (asked[1] or asked[2]) in defined else "0")
        elif name not in defined or name in within:
            parts.append(name)
        else:
            found = _call(text, position, defined[name], source, defined, within)
            position = found[1] if found else position
            parts.append(found[0] if found else name)
    return "".join([*parts, text[position:]])


def _call(
    text: str,
    position: int,
    macro: Macro,
    source: Source,
    defined: dict[str, Macro],
    within: tuple[str, ...],
) -> tuple[str, int] | None:
    """What a macro stands for whose name ends at `position`, and where its arguments end."""
    body = macro.body
    if macro.is_function:
        opening = _OPENING.match(text, position)
        close, cuts = brackets(text, opening.end() - 1) if opening else (-1, [])
        if close < 0 or not opening:
            return None
        source.spend(close - position)
        arguments = pieces(text, [opening.end() - 1, *cuts, close])
        position = close + 1
        if source.checks(macro, arguments[0]):
            return _written_out(arguments[0], source, defined, within), position
        # Constants, too, for macros that make text of what they are given.
        quotes = any("#" in defined[one].body for one in re.findall(r"\w+", body) if one in defined)
        names = {**source.macros, **source.predefined} if quotes else defined

        def argument(one: str) -> str:
            return _written_out(one, source, names, within)

        body = macro.substituted(arguments, argument)
    source.spend(len(body) + 100)
    return _written_out(body, source, defined, (*within, macro.name)), position


def write_out(source: Source, kept: set[str]) -> None:
    """Write the macros in the text out, but for those that are constants or cannot be used."""
    macros = {
        name: one
        for name, one in source.macros.items()
        if name not in kept and name not in source.refused
    }
    text = source.text
    code = _COMMENT.sub(lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text)
    parts, position = list[str](), 0
    while match := _TOKEN.search(code, position):
        parts.append(text[position : match.start()])
        position = match.end()
        macro = macros.get(match[0])
        try:
            found = _call(code, position, macro, source, macros, ()) if macro else None
        except (Untranslatable, RecursionError) as reason:
            source.notes.append((code.count("\n", 0, match.start()) + 1, str(reason)))
            found, source.room = None, _ROOM
        if found is None:
            parts.append(match[0])
            continue
        written, end = found
        lines = code.count("\n", position, end)
        written = written if written.count("\n") <= lines else written.replace("\n", " ")
        begins = code[code.rfind("\n", 0, match.start()) + 1 : match.start()].isspace()
        if end > position and begins and _UNENDED.match(code, end) and not _WHOLE.match(written):
            written += ";"
        parts.append(written + "\n" * (lines - written.count("\n")))
        position = end
    source.text = "".join([*parts, text[position:]])


_UNENDED = re.compile(r"\s*[a-zA-Z}_]")  # what may follow a statement without a semicolon
_WHOLE = re.compile(r"(for|while|if)\b|.*[;}]\s*$", re.DOTALL)  # the head of a loop, a statement


def is_loose(text: str) -> bool:
    """Whether a macro is an expression with an operator outside of parentheses.

    C puts ``a + 1`` into ``2 * A`` as text, so it means ``2 * a + 1``.
    """
    text = re.sub(rf"{_LITERAL}|\b\d[\w.]*([eEpP][-+]?\d+\w*)?", "0", text)
    while (shorter := re.sub(r"\([^()]*\)|\[[^][]*\]|->|::|##?", " 0", text)) != text:
        text = shorter
    is_statement = re.search(r"[{};]|^\s*(do|if|for|while|switch|return|goto)\b", text)
    return bool(is_statement) or bool(re.search(r"\w\s*(?!=)[-+*/%<>&|^?,]", text))


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


def replaced(text: str, names: dict[str, str], spend: Callable[[int], None] | None = None) -> str:
    """C text with whole words replaced, outside of strings and comments.

    `spend` is called with the length of what a word is replaced with.
    """

    def other(match: re.Match[str]) -> str:
        word = names.get(match[0])
        if word is None:
            return match[0]
        if spend is not None:
            spend(len(word))
        return word

    return _WORD.sub(other, text) if names else text


def _compiler_macros(language: str) -> dict[str, str]:
    """What a compiler for the headers that this package was made from defines."""
    numbers = ("CUDNN_VERSION", "CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")
    found = {name: str(getattr(constants, name)) for name in numbers}
    found |= {"__linux__": "1", "__GNUC__": "13", "__x86_64__": "1"}
    found |= {"CUDART_VERSION": "13000", "CUDA_VERSION": "13000"}
    found |= {"__cplusplus": "201703L"} if language != "c" else {}
    return found | ({"__CUDACC__": "1", "__NVCC__": "1"} if language == "cuda" else {})
