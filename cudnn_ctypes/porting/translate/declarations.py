"""Declarations of variables in Python, and what they begin with."""

from __future__ import annotations

import re

from .literals import number
from .loops import Loops
from .program import Program
from .syntax import Node
from .types import UNKNOWN, CType, array_of
from .value import Untranslatable, Value

__all__ = ["Declarations"]


class Declarations(Loops):
    """Variables."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.statics: list[tuple[int, str, int]] = []  # lines to write before the function

    def _do_declaration(self, node: Node) -> None:
        base = self.type_of(node)
        words = node.words("storage_class_specifier")
        for declarator in node.each("declarator"):
            self.clear()
            value = declarator["value"]
            if declarator.kind == "init_declarator":
                declarator = declarator["declarator"]
            name, kind = self.declared(base, declarator)
            if kind.kind == "function":
                value = self._arguments(base, declarator)
                if not value:
                    continue
                kind = base
            if "extern" in words and not value:
                continue
            if "static" in words and self.function is not None:
                self._static(node, name, kind, value)
            else:
                self._variable(node, name, kind, value)

    def _arguments(self, base: CType, declarator: Node) -> Node:
        """The arguments in ``Class name(a, b)``, which reads as a function's declaration."""
        listed = declarator["parameters"].children
        is_function = any(self.named_type(one["type"].text) for one in listed) or not listed
        if is_function or self.function is None or base.kind not in ("struct", "vector"):
            return Node(None)
        block = self.fragment(f"f{declarator['parameters'].text}", declarator.line)
        return next(block.find("argument_list"))

    def _static(self, node: Node, name: str, kind: CType, value: Node) -> None:
        """A variable of a function that lives on: one of the module with the function's name."""
        if self.record or not (kind.is_number or kind.kind == "array") or not self.function:
            raise self.fail(node, f"a static {kind}")
        kept, scopes, addressed = self.out.lines, self.scopes, self.addressed
        self.out.lines, self.scopes = [], scopes[:1]
        long_name = f"{self.function.name}_{name}"
        self.addressed = {long_name} if name in addressed else set()
        try:
            self._variable(node, long_name, kind, value)
            self.statics += [(0, text, line) for _, text, line in self.out.lines]
        finally:
            self.out.lines, self.scopes, self.addressed = kept, scopes, addressed
        self.scopes[-1][name] = self.scopes[0][long_name]

    def _variable(self, node: Node, name: str, kind: CType, value: Node) -> None:
        if kind.reference or kind.kind == "unknown":
            if not value:
                raise self.fail(node, "a type that is not known")
            found = self.expression(value)
            if found.type.kind in ("unknown", "void", "function"):
                raise self.fail(node, "a type that is not known")
            if kind.is_cell and not found.type.is_object:
                raise self.fail(node, "a reference to a number")
            if kind.reference:
                kind = found.type.plain if kind.kind == "unknown" else kind.plain
                text = (self.convert(found, kind) if found.type.is_number else found).text
                self.emit(f"{self.declare(name, kind).name} = {text}", node.line)
                return
            kind = found.type.plain
        text = ""
        if kind.kind == "array":
            kind, text = self._array(node, kind, value)
        filled = name in self.program.filled and kind.kind == "pointer"
        is_simple = kind.is_number or kind.kind == "pointer"
        cell = name in self.addressed and is_simple and not filled
        variable = self.declare(name, kind, cell=cell)
        variable.filled = filled
        text = text or self._initial(node, kind, value)
        if kind.is_integer and kind.const and value:
            variable.bounds = self.peek(value).bounds if not cell else None
        if filled and text in ("", "None"):
            text = self.device_pointer("cudart.DevicePointer", kind.pointed)
        if cell and kind.kind == "enum" and kind.element:
            self.before.append(f"{variable.name} = {self.element(kind)}()")
            text = f".value = {text}" if text else ""
        elif cell:
            text = f" = {self._cell(kind, text)}"
        elif self.is_destroyed(kind):
            text = f" = {self._scope(node.line)}({text})"
        elif text or len(self.scopes) == 1:
            text = f" = {text or _ZEROS.get(kind.name, '0.0' if kind.kind == 'float' else '0')}"
        self.emit(f"{variable.name}{text}" if text else "", node.line)

    def _cell(self, kind: CType, text: str) -> str:
        if kind.kind == "pointer":
            return f"Cell({text})"
        plain = re.fullmatch(r"float32\((-?[\w.+-]+)\)", text)
        return f"{self.element(kind)}({plain[1] if plain else text})"

    def _scope(self, line: int) -> str:
        """The block at whose end objects are destroyed; it begins here if there is none yet."""
        if len(self.scopes) == 1:
            raise Untranslatable("a global object with a destructor")
        if "scope" not in self.scopes[-1]:
            name = self.declare("scope", UNKNOWN).name
            before, self.before = self.before, []
            for text in [*before, f"with Scope() as {name}:"]:
                self.out.add(text, line)
            self.out.depth += 1
        return self.scopes[-1]["scope"].name

    # Initial values.

    def _initial(self, node: Node, kind: CType, value: Node) -> str:
        """What a variable is when it is declared; nothing if it need not exist yet."""
        if value.kind == "argument_list":
            return self.construction(node, kind, value.children).text
        if value.kind == "initializer_list":
            return self.initialized(node, kind, value.children).text
        if kind.is_object or kind.kind == "string":
            if not value:
                return self.constructed(node, kind, []).text
            found = self.converted(value, kind)
            null = found.text == "None" and kind.kind == "opaque"
            return f"{self.element(kind)}()" if null else self.copied(found, value)
        if value:
            return self.converted(value, kind).text
        return "None" if kind.kind == "pointer" and len(self.scopes) == 1 else ""

    def _array(self, node: Node, kind: CType, value: Node) -> tuple[CType, str]:
        """The type of an array, with its length, and its Python."""
        lengths, element = kind.dimensions
        values = ""
        if value.kind == "initializer_list":
            values = self._list(element, value, len(lengths))
            lengths[0] = lengths[0] or str(len(value.children))
        elif value and element.name == "char":
            values = self.expression(value).text
            lengths[0] = lengths[0] or f"strlen({values}) + 1"
        elif value:
            raise self.fail(node, "an array made so")
        if not all(lengths):
            raise self.fail(node, "an array without a length")
        texts = [self.element(element), *lengths, *([f"values={values}"] if values else [])]
        return array_of(element, *lengths), f"array({', '.join(texts)})"

    def _list(self, element: CType, node: Node, depth: int) -> str:
        """The elements of an array, as a list; nothing if all are zero."""
        texts = []
        for one in node.children:
            if one.kind == "initializer_pair" or (depth > 1 and one.kind != "initializer_list"):
                raise self.fail(node, "an array whose elements are named or not in inner braces")
            if depth > 1:
                texts.append(self._list(element, one, depth - 1) or "[]")
                continue
            value = self.converted(one, element)
            if element.kind == "float" and one.kind != "initializer_list":
                plain = self.peek(one)
                value = plain if plain.constant is not None else value
            texts.append(value.text)
        zeros = all(one in ("0", "0.0", "[]") for one in texts)
        return "" if zeros else f"[{', '.join(texts)}]"

    def initialized(self, node: Node, kind: CType, listed: list[Node]) -> Value:
        kind = kind.plain
        record = self.program.records.get(kind.name)
        zeros = all(one.text in ("0", "NULL") for one in listed)
        if kind.kind == "vector":
            texts = [self.converted(one, kind.pointed).text for one in listed]
            return Value(f"Vector({self.element(kind.pointed)}, [{', '.join(texts)}])", kind)
        if kind.kind == "struct" and record and "__init__" not in record.methods and not zeros:
            texts = [
                self._member(one, name, member)
                for one, (name, member) in zip(listed, record.fields.items(), strict=False)
            ]
            return Value(f"{kind.element}({', '.join(texts)})", kind)
        if kind.is_object:
            made = record is not None and "__init__" in record.methods
            return self.constructed(node, kind, [] if zeros and not made else listed)
        if len(listed) > 1:
            raise Untranslatable(f"a {kind} from a list")
        return self.converted(listed[0], kind) if listed else self.convert(number(0), kind)

    def _member(self, node: Node, name: str, kind: CType) -> str:
        prefix = ""
        if node.kind == "initializer_pair":
            name = node["designator"].text.lstrip(".")
            prefix, node = f"{self.safe_field(name)}=", node["value"]
            records = [x for x in self.program.records.values() if name in x.fields]
            kind = records[0].fields[name]
        if kind.kind == "array" and node.kind == "initializer_list":
            lengths, element = kind.dimensions
            return prefix + (self._list(element, node, len(lengths)) or "[]")
        return prefix + self.converted(node, kind).text

    def field_kind(self, name: str, kind: CType) -> str:
        """What `Struct.fields` says of a field."""
        lengths, element = kind.dimensions
        if lengths:
            return f"({', '.join([self.element(element), *lengths])})"
        record = self.program.records.get(kind.name) if kind.kind == "struct" else None
        made = record.methods.get("__init__") if record else None
        if made and any(not one.default for one in made.parameters):
            return "lambda: None"  # the constructor makes it
        text = self.element(kind)
        celled = name in self.program.addressed_fields and not kind.is_object
        return f"cell({text})" if celled and kind.kind != "string" else text


_ZEROS = {"float": "float32(0)"}
