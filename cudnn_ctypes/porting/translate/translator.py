"""The whole program: definitions of functions and records, and the module that is written."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import runtime
from .. import source as parse
from ..program import INT, UNKNOWN, CType
from ..source import Node, Untranslatable
from .base import MODULES, REASONS, Function, Parameter, Program, Record, told
from .calls import addressed_in, is_status_check, note_uses
from .expressions import function_declarator
from .preprocess import Source, preprocess, write_out
from .statements import Statements

_CLASSES = ("struct_specifier", "class_specifier")


def top_level(root: Node) -> list[Node]:
    """What stands outside of functions, in ``extern "C"`` too."""
    found = []
    for one in root.named:
        body = one["body"]
        if one.kind == "linkage_specification" and body:
            found += top_level(body) if body.kind.endswith("_list") else [body]
        else:
            found.append(one)
    return found


class _Translator(Statements):
    """What stands outside of functions, and the module that is written."""

    # Reading.

    def read(self, node: Node) -> None:
        """Take up what a declaration outside of functions adds to the program."""
        with contextlib.suppress(*REASONS):  # whoever uses the name is told
            kind, name = node["type"], node["name"].text
            if node.kind in (*_CLASSES, "enum_specifier"):
                self._read_type(node, name)
            elif node.kind == "type_definition":
                self._read_type_definition(node)
            elif node.kind == "declaration" and kind["body"]:
                self._read_type(kind, kind["name"].text or f"Struct{kind.line}")
            elif node.kind == "alias_declaration":
                self.program.types[name] = self.type_of(kind)
            elif node.kind == "function_definition" and "::" not in _name_of(node):
                self._read_function(node)

    def _read_type_definition(self, node: Node) -> None:
        kind, declarators = node["type"], node.each("declarator")
        tag, alias = kind["name"].text, declarators[0].text
        types = self.program.types
        if kind.kind in _CLASSES and tag and alias.isidentifier():
            types[tag] = types[alias] = CType("struct", alias, element=self.safe(alias))
        if kind["body"]:
            self._read_type(kind, alias if alias.isidentifier() else tag)
            types.setdefault(tag, types.get(alias, UNKNOWN))
        for declarator in declarators:
            if declarator.text not in types:
                name, made = self.declared(self.type_of(node), declarator)
                types[name] = made

    def _read_type(self, node: Node, name: str) -> None:
        if node.kind == "enum_specifier" and name:
            self.program.types[name] = INT
        if not node["body"] or not name or node.kind == "enum_specifier":
            return
        self.program.types[name] = CType("struct", name, element=self.safe(name))
        record = self.program.records[name] = Record(name, node)
        try:
            if node.kind == "class_specifier" or node.words("base_class_clause"):
                raise Untranslatable("a class")
            for member in node["body"].children:
                self._read_member(record, member)
        except REASONS as reason:
            record.problem = told(reason)
            del self.program.types[name]

    def _read_member(self, record: Record, node: Node) -> None:
        words = node.text.split("(")[0].split()
        is_data = node.kind == "field_declaration" and not function_declarator(node)
        if not is_data or "static" in words:
            raise self.fail(node, "a class, since it has more than data")
        base = self.type_of(node)
        self.refuse(node["default_value"], node, "an initial value of a member")
        for declarator in node.each("declarator"):
            name, kind = self.declared(base, declarator)
            self.refuse(kind.reference, node, "a member that is a reference")
            record.fields[name] = kind.plain

    def _signature(self, node: Node) -> Function:
        name, kind = self.declared(self.type_of(node), node["declarator"])
        parameters = self.parameters(function_declarator(node))
        return Function(name, parameters, kind.pointed, node, self.safe(name))

    def _read_function(self, node: Node) -> None:
        name = _name_of(node)
        try:
            function = self._signature(node)
        except REASONS as reason:
            function = Function(name, [], UNKNOWN, node, problem=told(reason))
        if "__host__" not in node.head and re.search(r"__(global|device)__", node.head):
            function.problem = "a function that runs on the GPU"
        function.is_check = is_status_check(node, self.program)
        before = self.program.functions.get(name)
        if before is not None:
            function.problem = before.problem = "several functions of one name"
        self.program.functions[name] = function

    # Writing.

    def write(self, node: Node) -> None:
        """Write what stands outside of functions, or say why it cannot be translated."""
        kind = node["type"] if node.kind in ("type_definition", "declaration") else node
        record = next((one for one in self.program.records.values() if one.node == kind), None)
        if node.kind == "comment":
            self.comment(node)
        elif node.kind == "function_definition":
            self._write_function(node)
        elif node.kind in ("template_declaration", "namespace_definition"):
            raise Untranslatable(f"a {node.kind.split('_')[0]}")
        elif record is not None:
            self._write_record(record)
        elif kind.kind == "enum_specifier":
            self._do_enum_specifier(kind)
        elif node.kind == "expression_statement" and node.text.strip("; \n"):
            raise Untranslatable("a macro outside of functions")
        elif node.kind == "ERROR":
            self.not_translated(node, "what the parser does not understand")
        if node.kind == "declaration":
            is_kernels = re.search(r"__(constant|device|managed)__", node.text)
            self.refuse(is_kernels, node, "memory of kernels")
            self.statement(node)

    def _do_enum_specifier(self, node: Node) -> None:
        text = "0"
        for one in node["body"].children:
            text = self.expression(one["value"]).text if one["value"] else text
            name = self.declare(one["name"].text, INT).name
            self.out.add(f"{name} = {text}", one.line)
            text = f"{name} + 1"

    def _write_record(self, record: Record) -> None:
        self.out.spaced()
        if record.problem:
            raise Untranslatable(record.problem)
        fields = [
            f'"{self.safe_field(name)}": {self.field_kind(name, kind)}'
            for name, kind in record.fields.items()
        ]
        self.out.add(f"class {self.safe(record.name)}(Struct):", record.node.line)
        self.out.depth += 1
        self.out.add(f"fields = {{{', '.join(fields)}}}")
        self.out.depth -= 1

    def _write_function(self, node: Node) -> None:
        name = _name_of(node)
        function = self.program.functions.get(name)
        if function is None:
            raise Untranslatable("a function of a class")
        if function.problem and not function.is_check:  # else its calls raise by themselves
            raise Untranslatable(function.problem)
        if not function.problem:
            self.out.spaced()
            self._write_body(function)

    def _write_body(self, function: Function) -> None:
        node, outer, start = function.node, self.scopes[:1], len(self.out.lines)
        self.function, self.scopes = function, [*outer, {}]
        self.addressed, _ = addressed_in(node, self.program)
        self.global_writes, self.jumps, self.statics = set(), [], []
        self.labels = {one["label"].text for one in node.find("goto_statement")}
        self.clear()
        names, prologue = list[str](), list[str]()
        for parameter in function.parameters:
            names.append(self._parameter(parameter, prologue))
        header = f"def {function.python}({', '.join(names)}):"
        self.out.add(header, node.line)
        depth, mark = self.out.depth, len(self.out.lines)
        self.out.depth += 1
        for text in prologue:
            self.out.add(text)
        self.sequence(node["body"].named)
        self.out.depth = depth + 1
        if all(text.startswith("#") or not text for _, text, _ in self.out.lines[mark:]):
            self.out.add("pass")
        if self.global_writes:
            text = f"global {', '.join(sorted(self.global_writes))}"
            self.out.lines.insert(mark, (self.out.depth, text, 0))
        self.out.lines[start:start] = self.statics
        self.out.depth = depth
        self.function, self.scopes = None, outer
        self.addressed = set(self.program.addressed)

    def _parameter(self, parameter: Parameter, prologue: list[str]) -> str:
        """The Python of a parameter; what the function makes of it goes to `prologue`."""
        kind, name = parameter.type, parameter.name
        addressed = name in self.addressed and (kind.is_number or kind.kind == "pointer")
        cell = kind.is_cell or addressed
        variable = self.declare(name or "_", kind.plain, cell=cell, refers=kind.reference)
        python = variable.name
        if addressed and not kind.is_cell:
            prologue.append(f"{python} = {self._cell(kind.plain, python)}")
        if kind.kind in ("struct", "vector") and not kind.reference:
            prologue.append(f"{python} = copied({python})")
        return python

    def __init__(self, language: str, name: str, folders: Sequence[Path]) -> None:
        super().__init__(Program(language))
        self.name, self.folders = name, folders
        self.constants: set[str] = set()  # macros that stay as names
        self.origins: list[tuple[int, str]] = []  # how many lines come from which file
        self.missing: set[str] = set()  # headers

    def translate(self, files: Sequence[tuple[Path, str]]) -> Translation:
        program, seen = self.program, {path for path, _ in files}
        text = "".join(self._with_headers(*file, seen) for file in files)
        source = preprocess(text, program.language)
        missing = [
            (line, f"a header that is not found, {name}: -I names its folder")
            for line, name in source.includes
            if name in self.missing
        ]
        c_math = re.search(r"#\s*include\s*<math\.h>", text) is not None
        program.overloads_math = program.language != "c" and (c_math or program.language == "cuda")
        program.using_std = "using namespace std;" in text
        program.macros, program.refused = source.macros, source.refused
        self._write_macros_out(source)
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
        python = self._assembled()
        notes = [(self._shown_line(line), why) for line, why in [*missing, *sorted(self.notes)]]
        return Translation(python, notes, self.statements)

    def _write_macros_out(self, source: Source) -> None:
        """Write macros out, but for constants; of those that check a call the call stays."""
        functions = self.program.functions
        for one in parse.Source(source.text.encode(), Path(self.name)).root.find(
            "function_definition"
        ):
            name, checks = _name_of(one), is_status_check(one, self.program)
            functions[name] = Function(name, [], UNKNOWN, one, is_check=checks)
        source.checks = functools.cache(self.only_checks)
        for name, macro in source.macros.items():
            with contextlib.suppress(*REASONS):
                self.clear()
                value = None if macro.is_function else self.constant(macro)
                simple = value is not None and (value.type.is_number or value.type.is_text)
                if simple and not (self.before or self.after) and "__" not in macro.body:
                    self.constants.add(name)
        functions.clear()
        write_out(source, self.constants)

    def _with_headers(self, path: Path, text: str, seen: set[Path]) -> str:
        """The text behind those of its headers that are found."""
        whole = ""
        for quote, name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)', text, re.M):
            folders = [*([path.parent] if quote == '"' else []), *self.folders]
            found = parse.header(name, folders)
            if found is not None and found not in seen:
                seen.add(found)
                whole += self._with_headers(found, parse.text_of(found), seen)
            elif quote == '"' and parse.is_missing(name, folders):
                self.missing.add(name)
        self.origins.append((text.count("\n") + 1, path.name))
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
                self.function, self.scopes = None, self.scopes[:1]
                self.out.depth = 0
                self.out.spaced()
                self.not_translated(node, told(reason), raises=False)
        self._write_constants(source, reached, 1 << 30)

    def _write_constants(self, source: Source, first: int, last: int) -> None:
        """Write the macros that are constants and stand in these lines."""
        for name, macro in source.macros.items():
            done = name not in self.constants or name in self.scopes[0]
            if done or not first <= macro.line <= last or name not in source.used:
                continue
            self.steps = 0
            try:
                self.clear()
                value = self.constant(macro)
            except REASONS:
                continue
            text = self.convert(value, value.type).text if value.weak else value.text
            variable = self.declare(name, value.type)
            variable.bounds = value.bounds
            self.out.add(f"{variable.name} = {text}", macro.line)

    def _assembled(self) -> str:
        body = self.out.text()
        if "main" in self.program.functions:
            body = body.rstrip() + '\n\n\nif __name__ == "__main__":\n    run(main)\n'
        return f"{_HEADER.format(name=self.name)}\n{_imports(body)}\n{body.strip()}\n"


def _name_of(function: Node) -> str:
    return re.sub(r"\(.*", "", function["declarator"].text, flags=re.DOTALL).strip("*& \n")


_HEADER = '''"""{name} in Python, written by ``python -m cudnn_ctypes port --translate``.

The number at the end of a line is that of its line in {name}.
"""
'''


@dataclass
class Translation:
    """A translated program.

    - `python`: the program.
    - `not_translated`: line in C (in a header: with its name) and reason of each part that raises
      when reached.
    - `statements`: how many statements of C it has.
    """

    python: str
    not_translated: list[tuple[str, str]] = field(default_factory=list)
    statements: int = 0


def translate(*paths: Path, folders: Sequence[Path] = ()) -> Translation:
    """Translate a program.

    - `*paths`: its C, C++ or CUDA files; the endings tell the language. The last one's lines are
      shown without the file's name.
    - `folders`: where headers are looked for, besides the folder of the file that includes them.

    Raises CommandError if a file cannot be read or is no text, or tree-sitter is not installed.
    """
    languages = {_LANGUAGES.get(path.suffix, "cpp") for path in paths}
    language = next(one for one in ("cuda", "cpp", "c") if one in languages)
    files = [(path, parse.text_of(path)) for path in paths]
    return _Translator(language, paths[-1].name, folders).translate(files)


_LANGUAGES = {".c": "c", ".cu": "cuda", ".cuh": "cuda"}


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
