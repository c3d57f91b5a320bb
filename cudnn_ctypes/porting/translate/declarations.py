"""Declarations of variables in Python, and what they begin with."""

from __future__ import annotations

import re

from ..c_types import UNKNOWN, CType, array_of
from ..syntax import Node
from .base import Record
from .loops import Loops
from .names import number
from .values import Untranslatable, Value

__all__ = ["Declarations"]


class Declarations(Loops):
    """Variables."""

    def _do_declaration(self, node: Node) -> None:
        base = self.type_of(node)
        words = node.words("storage_class_specifier")
        for declarator in node.each("declarator"):
            self.clear()
            value = declarator["value"]
            if declarator.kind == "init_declarator":
                declarator = declarator["declarator"]
            name, kind = self.declared(base, declarator)
            self.refuse("::" in name, node, "a static member")
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
        if kind.kind == "unknown" or kind.reference:
            found = self.peek(value).type if value else UNKNOWN
            if found.kind in ("unknown", "void", "function"):
                raise self.fail(node, "a type that is not known")
            self.refuse(kind.reference and not found.is_object, node, "a reference to a number")
            if kind.reference:
                text = self.expression(value).text
                python = self.declare(name, found.plain, refers=True).name
                self.emit(f"{python} = {text}", node.line)
                return
            kind = found.plain
        made = None
        if kind.kind == "array":
            kind, made = self._array(node, kind, value)
        filled = name in self.program.filled and kind.kind == "pointer"
        is_simple = kind.is_number or kind.kind == "pointer"
        cell = name in self.addressed and is_simple and not filled
        variable = self.declare(name, kind, cell=cell)
        variable.filled = filled
        made = made or self.initial(node, kind, value)
        text = made.text
        if kind.is_integer and kind.const and not cell:
            variable.bounds = made.bounds
        if filled and text in ("", "None"):
            text = self.device_pointer("cudart.DevicePointer", kind.pointed)
        if cell and kind.kind == "enum" and kind.element:
            self.before.append(f"{variable.name} = {self.element(kind)}()")
            self.emit(f"{variable.name}.value = {text}" if text else "", node.line)
            return
        if cell:
            text = self._cell(kind, text)
        elif self.is_destroyed(kind):
            text = f"{self._scope(node.line)}({text})"
        elif not text and len(self.scopes) == 1:
            text = "None" if kind.kind == "pointer" else self.convert(number(0), kind).text
        self.emit(f"{variable.name} = {text}" if text else "", node.line)

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

    def initial(self, node: Node, kind: CType, value: Node) -> Value:
        """What a variable is when it is declared; no text if it need not exist yet."""
        if value.kind == "argument_list":
            return self.constructed(node, kind, value.children)
        if value.kind == "initializer_list":
            return self.initialized(node, kind, value.children)
        is_object = kind.is_object or kind.kind == "string"
        if not value:
            return self.constructed(node, kind, []) if is_object else Value("", kind)
        found = self.converted(value, kind)
        if found.text == "None" and kind.kind == "opaque":
            return Value(f"{self.element(kind)}()", kind)
        return Value(self.copied(found, value), kind, found.bounds)

    def _array(self, node: Node, kind: CType, value: Node) -> tuple[CType, Value]:
        """The type of an array, with its length, and its Python."""
        lengths, element = kind.dimensions
        values = ""
        if value.kind == "initializer_list":
            values = self._list(element, value, len(lengths))
            lengths[0] = lengths[0] or str(len(value.children))
        elif value and element.name == "char":
            values = self.expression(value).text
            lengths[0] = lengths[0] or f"strlen({values}) + 1"
        if not all(lengths) or (value and not values and value.kind != "initializer_list"):
            raise self.fail(node, "an array without a length, or made so")
        texts = [self.element(element), *lengths, *([f"values={values}"] if values else [])]
        kind = array_of(element, *lengths)
        return kind, Value(f"array({', '.join(texts)})", kind)

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
            texts.append(self.copied(value, one))
        zeros = all(one in ("0", "0.0", "[]") for one in texts)
        return "" if zeros else f"[{', '.join(texts)}]"

    def initialized(self, node: Node, kind: CType, listed: list[Node]) -> Value:
        kind = kind.plain
        record = self.program.records.get(kind.name)
        is_plain = record is None or not (record.defaults or "__init__" in record.methods)
        zeros = is_plain and all(one.text in ("0", "NULL") for one in listed)
        if kind.kind == "vector":
            texts = [self.copied(self.converted(one, kind.pointed), one) for one in listed]
            return Value(f"Vector({self.element(kind.pointed)}, [{', '.join(texts)}])", kind)
        if record and is_plain and not zeros:
            pairs = zip(listed, record.fields.items(), strict=False)
            texts = [self._member(record, one, *member) for one, member in pairs]
            return Value(f"{kind.element}({', '.join(texts)})", kind)
        if kind.is_object:
            return self.constructed(node, kind, [] if zeros else listed)
        self.refuse(len(listed) > 1, node, f"a {kind} from a list")
        return self.converted(listed[0], kind) if listed else self.convert(number(0), kind)

    def _member(self, record: Record, node: Node, name: str, kind: CType) -> str:
        prefix = ""
        if node.kind == "initializer_pair":
            name = node["designator"].text.lstrip(".")
            prefix, node = f"{self.safe_field(name)}=", node["value"]
            kind = record.fields[name]
        if kind.kind == "array" and node.kind == "initializer_list":
            lengths, element = kind.dimensions
            return prefix + (self._list(element, node, len(lengths)) or "[]")
        return prefix + self.copied(self.converted(node, kind), node)

    def field_kind(self, name: str, kind: CType) -> str:
        """What `Struct.fields` says of a field."""
        lengths, element = kind.dimensions
        if lengths:
            return f"({', '.join([self.element(element), *lengths])})"
        record = self.program.records.get(kind.name) if kind.kind == "struct" else None
        constructor = record.methods.get("__init__") if record else None
        if constructor and any(not one.default for one in constructor.parameters):
            return "lambda: None"  # the constructor makes it
        text = self.element(kind)
        celled = name in self.program.addressed_fields and not kind.is_object
        return f"cell({text})" if celled and kind.kind != "string" else text
