"""From a C, C++ or CUDA text to a Python program."""

from __future__ import annotations

import ast
import ctypes
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import runtime
from .. import source as parse
from .collect import note_uses
from .definitions import Definitions
from .kernel_source import kernel_source
from .libraries import MODULES
from .preprocess import (
    Macro,
    Source,
    compiler_macros,
    preprocess,
    replaced,
    without_namespaces,
)
from .program import Program, children, descendants, text_of
from .value import REASONS, Untranslatable, Value, told

__all__ = ["Translation", "translate"]

_HEADER = '''"""{name} in Python, written by ``python -m cudnn_ctypes port --translate``.

The number at the end of a line is that of its line in {name}.
"""
'''


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
        If tree-sitter is not installed.
    """
    language = {".c": "c", ".cu": "cuda", ".cuh": "cuda"}.get(Path(name).suffix, "cpp")
    return _Translator(language, name, folder).translate(text)


class _Translator(Definitions):
    def __init__(self, language: str, name: str, folder: Path | None) -> None:
        super().__init__(Program(language))
        self.name, self.folder = name, folder
        self.origins: list[tuple[int, str]] = []  # how many lines come from which file

    def translate(self, text: str) -> Translation:
        text = self._with_headers(self.name, text, set())
        source = preprocess(text, compiler_macros(self.program.language), set())
        if re.search(r"#\s*include\s*<math\.h>", text):
            self.program.changed.add("math.h")
        self.program.using_std = "using namespace std;" in text
        self.program.macros, self.redefined = source.macros, source.redefined
        source.text = without_namespaces(self._terminated(source))
        self.parsed = parse.Source(source.text.encode(), Path(self.name))
        root = self.parsed.root
        tops = list(root.named_children)
        for node in tops:
            self.read(node)
        note_uses(root, self.program)
        self._note_indexed(root)
        self.addressed = set(self.program.addressed)
        self.out.shown = self._shown_line
        self._write_all(tops, source)
        python = self._assembled(kernel_source(root, source.macros))
        notes = [(self._shown_line(line), reason) for line, reason in sorted(self.notes)]
        return Translation(python, notes, sorted(self.kernel_names), self.statements)

    def _with_headers(self, name: str, text: str, seen: set[str]) -> str:
        """The text behind those of the headers between quotes that lie beside it."""
        seen.add(name)
        whole = ""
        for header in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M):
            path = self.folder / header if self.folder else None
            if header not in seen and path and path.is_file():
                whole += self._with_headers(header, path.read_text(errors="replace"), seen)
        self.origins.append((text.count("\n") + 1, name))
        return f"{whole}{text}\n"

    def _shown_line(self, line: int) -> str:
        """A line of the text as users find it: with its file where that is a header."""
        for count, name in self.origins:
            if line <= count or name == self.name:
                return str(line) if name == self.name else f"{name}:{line}"
            line -= count
        return str(line)

    def _terminated(self, source: Source) -> str:
        """The text with a semicolon after macro calls that stand alone without one."""
        text = source.text
        for macro in source.macros.values():
            if macro.parameters is None:
                continue
            heads = re.match(r"(for|while|if)\b", macro.body) and macro.body[-1] not in ";}"
            for match in reversed(list(re.finditer(rf"^[ \t]*{macro.name}\s*\(", text, re.M))):
                end = _closing(text, match.end() - 1)
                if heads and end >= 0:  # the head of a loop, whose body follows
                    given = [one.strip() for one in text[match.end() : end].split(",")]
                    text = text[: match.start()] + self._substituted(macro, given) + text[end + 1 :]
                    continue
                after = re.match(r"\s*(\S)", text[end + 1 :]) if end >= 0 else None
                if after and (after[1].isalpha() or after[1] in "}#/*_&"):
                    text = text[: end + 1] + ";" + text[end + 1 :]
        return text

    def _note_indexed(self, root: Any) -> None:
        """Note the structs and handles to which some pointer is indexed or moved."""
        pointers: dict[str, set[str]] = {}
        kinds = ("parameter_declaration", "declaration", "field_declaration")
        for one in descendants(root, *kinds):
            named = one.child_by_field_name("type")
            for declarator in one.children_by_field_name("declarator"):
                inner = declarator.child_by_field_name("declarator")
                starred = declarator if declarator.type != "init_declarator" else inner
                if starred is not None and starred.type == "pointer_declarator":
                    pointers.setdefault(text_of(starred).strip("* "), set()).add(text_of(named))
        for one in descendants(
            root, "subscript_expression", "update_expression", "binary_expression"
        ):
            target = one.child_by_field_name("argument") or one.child_by_field_name("left")
            if one.type == "binary_expression" and text_of(
                one.child_by_field_name("operator")
            ) not in ("+", "-"):
                continue
            name = text_of(target.child_by_field_name("field") or target)
            for kind in pointers.get(name, ()):
                self.program.indexed.add(kind.replace("struct ", ""))

    # Macros.

    def expand(self, macro: Macro, arguments: list[str]) -> Value:
        if macro.name in self.redefined:
            raise Untranslatable(f"a macro that is defined twice: {macro.name}")
        if macro.name in self.expanding:
            raise Untranslatable(f"a macro that uses itself: {macro.name}")
        body = self._substituted(macro, arguments)
        root = self.fragment(f"x = {body}")
        if root.has_error:
            raise Untranslatable(f"the macro {macro.name}: {body}")
        statement = next(descendants(root, "expression_statement"))
        node = children(statement)[0].child_by_field_name("right")
        if node is None:
            raise Untranslatable(f"the macro {macro.name}: {body}")
        self.expanding.append(macro.name)
        try:
            return self.expression(node)
        finally:
            self.expanding.pop()

    def expand_statement(self, node: Any, macro: Macro, arguments: list[str]) -> None:
        body = self._substituted(macro, arguments)
        root = self.fragment(body)
        if root.has_error or macro.name in self.expanding or macro.name in self.redefined:
            raise self.fail(node, "a macro that cannot be taken apart")
        compound = next(descendants(root, "compound_statement"))
        line, self.at_line = self.at_line, self.line(node)
        self.expanding.append(macro.name)
        self.scopes.append({})
        try:
            for one in children(compound):
                self._clear()
                self._statement(one)
        finally:
            self.scopes.pop()
            self.expanding.pop()
            self.at_line = line

    def fragment(self, text: str) -> Any:
        """The tree of statements that do not stand in the program."""
        code = f"void fragment() {{ {text}; }}".encode()
        return parse.Source(code, language=self.parsed.language).root

    def _substituted(self, macro: Macro, arguments: list[str]) -> str:
        parameters = list(macro.parameters or ())
        if parameters and parameters[-1] == "...":
            count = len(parameters) - 1
            arguments = [*arguments[:count], ", ".join(arguments[count:])]
            parameters[-1] = "__VA_ARGS__"
        if len(parameters) != len(arguments):
            raise Untranslatable(f"{macro.name} takes {len(parameters)} arguments")
        words = re.findall(r"\w+", macro.body)
        macros = self.program.macros
        if any("#" in macros[one].body for one in words if one in macros):
            values = {name: one.body for name, one in macros.items() if one.parameters is None}
            arguments = [replaced(one, values) for one in arguments]
        given = dict(zip(parameters, arguments, strict=True))
        body = re.sub(
            r",\s*##\s*__VA_ARGS__", ", __VA_ARGS__" if given.get("__VA_ARGS__") else "", macro.body
        )
        body = re.sub(
            r"(?<!#)#\s*(\w+)",
            lambda match: (
                '"' + given.get(match[1], "").replace("\\", "\\\\").replace('"', '\\"') + '"'
            ),
            body,
        )
        body = re.sub(
            r"(\w+)\s*##\s*(\w+)",
            lambda match: given.get(match[1], match[1]) + given.get(match[2], match[2]),
            body,
        )
        return replaced(body, given).replace("\n", " ")

    def _macro_constants(self, source: Source, first: int, last: int) -> None:
        """Write the constants that are defined in these lines."""
        for macro in source.macros.values():
            if macro.parameters is not None or not first <= macro.line <= last:
                continue
            uses = len(re.findall(rf"\b{macro.name}\b", source.text))
            uses += sum(
                macro.name in re.findall(r"\w+", one.body) for one in source.macros.values()
            )
            if not uses or macro.name in self.scopes_of_macros:
                continue
            try:
                self._clear()
                value = self.expand(macro, [])
            except Untranslatable:
                continue
            if self.before or self.after or not (value.type.is_number or value.type.is_text):
                continue
            if value.text == "__file__":
                continue
            text = self.convert(value, value.type).text if value.weak else value.text
            self.out.add(f"{self.safe(macro.name)} = {text}", macro.line)
            self.scopes_of_macros.add(macro.name)

    # The whole.

    def _write_all(self, tops: list[Any], source: Source) -> None:
        reached = 0
        for node in tops:
            line = node.start_point[0] + 1
            self._macro_constants(source, reached, line)
            reached = line
            before = len(self.out.lines)
            self._separate(tops, node)
            try:
                self._clear()
                self.write(node)
            except REASONS as reason:
                self.out.depth = 0
                del self.out.lines[before:]
                self.not_translated_definition(node, told(reason))
                self._end()
        self._macro_constants(source, reached, 1 << 30)

    def _separate(self, tops: list[Any], node: Any) -> None:
        """Empty lines as in C; two after a function or class."""
        index = tops.index(node)
        if index and node.start_point[0] > tops[index - 1].end_point[0] + 1:
            self.out.blank()
        if self.out.lines and self.out.lines[-1][0] and node.type != "comment":
            self.out.add("")
            self.out.add("")

    def misread_macro_call(self, node: Any) -> Any:
        if node.type not in (
            "declaration",
            "expression_statement",
            "macro_type_specifier",
            "ERROR",
        ):
            return None
        text = text_of(node).strip()
        match = re.match(r"(\w+)\s*\(", text)
        macro = self.program.macros.get(match[1]) if match else None
        if not match or macro is None or macro.parameters is None or self.expanding:
            return None
        if node.type == "expression_statement" and not node.has_error:
            return None
        if _closing(text, match.end() - 1) != len(text.rstrip("; ")) - 1:
            return None
        root = self.fragment("x = " + text)
        if root.has_error:
            return None
        statement = next(descendants(root, "expression_statement"))
        return children(statement)[0].child_by_field_name("right")

    def _assembled(self, kernels: str) -> str:
        body = self.out.text()
        if kernels:
            names = "".join(f'    "{name}",\n' for name in self.kernel_names)
            body = f'kernels = Kernels(\n    r"""\n{kernels}\n""",\n{names})\n\n{body}'
        if "main" in self.program.functions:
            body = body.rstrip() + '\n\n\nif __name__ == "__main__":\n    run(main)\n'
        return f"{_HEADER.format(name=self.name)}\n{_imports(body)}\n{body.strip()}\n"


def _closing(text: str, start: int) -> int:
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if not depth:
            return index
    return -1


def _imports(body: str) -> str:
    names = {one.id for one in ast.walk(ast.parse(body)) if isinstance(one, ast.Name)}
    own = sorted(names & runtime.NAMES)
    of_ctypes = sorted(
        one for one in names - runtime.NAMES if one[0] != "_" and hasattr(ctypes, one)
    )
    lines = [f"from ctypes import {', '.join(of_ctypes)}", ""] if of_ctypes else []
    lines += [statement for name, statement in MODULES.items() if name in names]
    if own:
        joined = ", ".join(own)
        line = f"from cudnn_ctypes.porting.runtime import {joined}"
        if len(line) > 100:
            lines += [
                "from cudnn_ctypes.porting.runtime import (",
                *[f"    {one}," for one in own],
                ")",
            ]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n\n"
