"""From a C, C++ or CUDA text to a Python program."""

from __future__ import annotations

import ast
import ctypes
import re
from dataclasses import dataclass, field
from pathlib import Path

from ...evidence.files import CommandError, read_bytes
from .. import runtime
from .. import source as parse
from ..syntax import Node
from .base import Program
from .definitions import Definitions, top_level
from .libraries import MODULES
from .preprocess import Macro, Source, preprocess
from .usage import note_uses
from .values import REASONS, told

__all__ = ["Translation", "translate"]

_HEADER = '''"""{name} in Python, written by ``python -m cudnn_ctypes port --translate``.

The number at the end of a line is that of its line in {name}.
"""
'''

_KERNEL_HEADERS = {
    "cuda_fp16.h": re.compile(r"\b(__)?half2?\b"),
    "cuda_bf16.h": re.compile(r"\b__nv_bfloat16\b"),
}
"""Headers of types that CUDA C++ does not have by itself, by what names the types."""

_TYPES = ("type_definition", "struct_specifier", "enum_specifier")


@dataclass
class Translation:
    """A translated program.

    Parameters
    ----------
    python : str
        The program.
    not_translated : list of (str, str)
        Line in C (in a header: with its name) and reason of each part that raises when reached.
    kernels : list of str
        Kernels that NVRTC compiles, so that the program needs a GPU.
    statements : int
        How many statements of C it has.
    """

    python: str
    not_translated: list[tuple[str, str]] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)
    statements: int = 0


def translate(text: str, name: str, folder: Path | None = None) -> Translation:
    """Translate a program.

    Parameters
    ----------
    text : str
        C, C++ or CUDA source.
    name : str
        Its file's name; the ending tells the language.
    folder : Path or None
        Where headers between quotes are looked for.

    Returns
    -------
    Translation

    Raises
    ------
    CommandError
        If the text or a header has NUL characters, or tree-sitter is not installed.
    """
    language = {".c": "c", ".cu": "cuda", ".cuh": "cuda"}.get(Path(name).suffix, "cpp")
    return _Translator(language, name, folder).translate(text)


class _Translator(Definitions):
    def __init__(self, language: str, name: str, folder: Path | None) -> None:
        super().__init__(Program(language))
        self.name, self.folder = name, folder
        self.origins: list[tuple[int, str]] = []  # how many lines come from which file

    def translate(self, text: str) -> Translation:
        program = self.program
        text = self._with_headers(self.name, text, set())
        source = preprocess(text, program.language)
        c_math = re.search(r"#\s*include\s*<math\.h>", text) is not None
        program.overloads_math = program.language != "c" and (c_math or program.language == "cuda")
        program.using_std = "using namespace std;" in text
        program.macros, program.refused = source.macros, source.refused
        self.notes += source.notes
        parsed = parse.Source(source.text.encode(), Path(self.name))
        self.parser_language, root = parsed.language, parsed.root
        nodes = top_level(root)
        for node in nodes:
            self.read(node)
        note_uses(root, program)
        self.addressed = set(program.addressed)
        self.out.shown = self._shown_line
        self._write_all(nodes, source)
        python = self._assembled(_kernel_source(nodes, source.macros))
        notes = [(self._shown_line(line), reason) for line, reason in sorted(self.notes)]
        return Translation(python, notes, sorted(self.kernel_names), self.statements)

    def _with_headers(self, name: str, text: str, seen: set[str]) -> str:
        """The text behind those of the headers between quotes that lie beside it."""
        if "\0" in text:
            raise CommandError(f"{name}: this is no text")
        seen.add(name)
        whole = ""
        for header in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M):
            path = self.folder / header if self.folder else None
            if header not in seen and path and path.is_file():
                whole += self._with_headers(header, read_bytes(path).decode(errors="replace"), seen)
        self.origins.append((text.count("\n") + 1, name))
        return f"{whole}{text}\n"

    def _shown_line(self, line: int) -> str:
        """A line of the text as users find it: with its file where that is a header."""
        for count, name in self.origins[:-1]:
            if line <= count:
                return f"{name}:{line}"
            line -= count
        return str(line)

    def _write_all(self, nodes: list[Node], source: Source) -> None:
        reached = 0
        for before, node in zip([Node(None), *nodes], nodes, strict=False):
            self._write_constants(source, reached, node.line)
            reached, mark = node.line, len(self.out.lines)
            if before and node.tree.start_point[0] > before.tree.end_point[0] + 1:
                self.out.blank()
            if self.out.lines and self.out.lines[-1][0] and node.kind != "comment":
                self.out.add("")
                self.out.add("")
            self.steps = 0
            try:
                self.clear()
                self.write(node)
                ast.parse("\n".join("    " * n + text for n, text, _ in self.out.lines[mark:]))
            except REASONS as reason:
                del self.out.lines[mark:]
                self.function, self.record, self.scopes = None, None, self.scopes[:1]
                self.out.depth = 0
                self.out.spaced()
                self.not_translated(node, told(reason), raises=False)
        self._write_constants(source, reached, 1 << 30)

    def _write_constants(self, source: Source, first: int, last: int) -> None:
        """Write the macros that are constants and stand in these lines."""
        for name, macro in source.macros.items():
            done = macro.is_function or name in self.scopes[0]
            if done or not first <= macro.line <= last or name not in source.used:
                continue
            self.steps = 0
            try:
                self.clear()
                value = self.expand(macro, [], Node(None, macro.line))
                moves = value != self.expand(macro, [], Node(None, macro.line + 1))  # __LINE__
            except REASONS:
                continue
            simple = value.type.is_number or value.type.is_text
            if simple and not (moves or self.before or self.after):
                text = self.convert(value, value.type).text if value.weak else value.text
                variable = self.declare(name, value.type)
                variable.bounds = value.bounds
                self.out.add(f"{variable.name} = {text}", macro.line)

    def _assembled(self, kernels: str) -> str:
        body = self.out.text()
        if kernels:
            names = "".join(f'    "{name}",\n' for name in self.kernel_names)
            body = f'kernels = Kernels(\n    r"""\n{kernels}\n""",\n{names})\n\n{body}'
        if "main" in self.program.functions:
            body = body.rstrip() + '\n\n\nif __name__ == "__main__":\n    run(main)\n'
        return f"{_HEADER.format(name=self.name)}\n{_imports(body)}\n{body.strip()}\n"


def _imports(body: str) -> str:
    names = {one.id for one in ast.walk(ast.parse(body)) if isinstance(one, ast.Name)}
    own = sorted(names & runtime.NAMES)
    of_ctypes = sorted(x for x in names - runtime.NAMES if x[0] != "_" and hasattr(ctypes, x))
    lines = [f"from ctypes import {', '.join(of_ctypes)}", ""] if of_ctypes else []
    lines += [statement for name, statement in MODULES.items() if name in names]
    line = f"from cudnn_ctypes.porting.runtime import {', '.join(own)}"
    if len(line) > 100:
        line = line.partition("import")[0] + "import (\n    " + ",\n    ".join(own) + ",\n)"
    lines += [line] if own else []
    return "\n".join(lines) + "\n\n"


def _kernel_source(tops: list[Node], macros: dict[str, Macro]) -> str:
    """The CUDA text of kernels and of what they use."""
    nodes = [one for one in tops if one.kind != "comment"]
    found = [one for one in nodes if re.search(r"__(global|device|constant)__", _head(one))]
    words = set(re.findall(r"\w+", " ".join(one.text for one in found)))
    parts = []
    for node in nodes if found else []:
        text = node.text
        is_constant = node.kind == "declaration" and re.match(r"(static )?const(expr)? ", text)
        if node in found or ((node.kind in _TYPES or is_constant) and _defined(node) & words):
            parts.append(f"{text};" if text.startswith(("struct", "enum")) else text)
    text = " ".join(parts)
    includes = [
        f"#include <{header}>" for header, names in _KERNEL_HEADERS.items() if names.search(text)
    ]
    return "\n".join([*includes, *_defines(macros, text), *parts])


def _defines(macros: dict[str, Macro], text: str) -> list[str]:
    needed: set[str] = set()
    pending = set(re.findall(r"\w+", text)) & set(macros)
    while pending:
        needed |= pending
        words = {word for one in pending for word in re.findall(r"\w+", macros[one].body)}
        pending = (words & set(macros)) - needed
    lines = []
    for macro in sorted((macros[one] for one in needed), key=lambda one: one.line):
        parameters = "" if macro.parameters is None else f"({', '.join(macro.parameters)})"
        body = macro.body.replace("\n", "\\\n")
        lines.append(f"#define {macro.name}{parameters} {body}")
    return lines


def _head(node: Node) -> str:
    """The C text of a declaration before its body, through templates."""
    return _head(node.children[-1]) if node.kind == "template_declaration" else node.head


def _defined(node: Node) -> set[str]:
    """Names that a declaration gives to something."""
    found = [one.text for one in node.find("type_identifier", "enumerator")]
    for one in node.each("declarator"):
        found += [name.text for name in one.find("identifier", "type_identifier")][:1]
    return {name.split("=")[0].strip() for name in found}
