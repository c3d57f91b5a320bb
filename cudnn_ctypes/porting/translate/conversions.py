"""Types as C writes them, and C's conversions between types."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from .. import c_types as c
from ..c_types import CType, array_of, pointer_to
from ..syntax import Node
from .base import Base, Parameter
from .libraries import foreign_type
from .values import REASONS, Untranslatable, Value, truth

__all__ = ["CONDITION", "Conversions", "function_declarator"]

_QUALIFIERS = re.compile(
    r"\b(const|static|volatile|inline|extern|struct|class|enum|typename|restrict|__restrict__|"
    r"constexpr|register|unsigned(?=\s+std::))\b"
)
_SPECIFIERS = ("struct_specifier", "class_specifier", "enum_specifier", "union_specifier")
_NAMES = ("identifier", "field_identifier", "type_identifier", "qualified_identifier")

# What Python's `and` and `or` give, which is C's result only as a condition.
CONDITION = CType("bool", "condition", 8, False)


class Conversions(Base):
    """Types by name and by declarator, and values as other types."""

    def named_type(self, name: str) -> CType | None:
        """The type of that name, or None."""
        name = " ".join(_QUALIFIERS.sub(" ", name).split()).removeprefix("std::")
        if name in self.program.types:
            return self.program.types[name]
        return c.primitive(name) or foreign_type(name) or c.duration(name)

    def type_of(self, node: Node) -> CType:
        """The type of a declaration, parameter or cast, without what declarators add."""
        declares = node.kind in ("type_descriptor", "function_definition", "type_definition")
        declares = declares or node.kind.endswith(("declaration", "_loop"))
        kind = self._base_type(node["type"] if declares else node)
        if node.words("type_qualifier") & {"const", "constexpr"}:
            kind = replace(kind, const=True)
        is_whole = node.kind == "type_descriptor" and node["declarator"]
        return self.declared(kind, node["declarator"])[1] if is_whole else kind

    def _base_type(self, node: Node) -> CType:
        if node.kind == "placeholder_type_specifier":
            return c.UNKNOWN
        template = node["name"] if node.kind == "qualified_identifier" else node
        if template["name"].text == "vector":
            to = self.type_of(template.arguments[0])
            self.refuse(self.is_destroyed(to), node, "a vector of objects with a destructor")
            return CType("vector", "vector", to=to, element="Vector")
        name = node.text
        if node.kind in _SPECIFIERS:
            unnamed = [one.name for one in self.program.records.values() if one.node == node]
            name = node["name"].text or "".join(unnamed)
        found = self.named_type(name) if name else None
        if name in self.type_parameters:
            return CType("unknown", name)
        if found is None:
            is_template = template.kind == "template_type"
            raise self.fail(node, "a template" if is_template else "a type that is not known")
        return found

    def declared(self, kind: CType, node: Node) -> tuple[str, CType]:
        """The name and type that a declarator makes of a base type."""
        if node.kind in _NAMES:
            return node.text, kind
        inner = node["declarator"]
        if not inner and node.kind != "abstract_array_declarator":
            inner = next((x for x in node.children if x.kind != "type_qualifier"), inner)
        if node.kind.endswith("pointer_declarator"):
            kind = pointer_to(kind)
        elif node.kind.endswith("reference_declarator"):
            kind = replace(kind, reference=True)
        elif node.kind.endswith("array_declarator"):
            self.refuse(self.is_destroyed(kind), node, "an array of objects with a destructor")
            length = self.expression(node["size"]) if node["size"] else None
            self.refuse(length and not length.type.is_integer, node, "the length of an array")
            kind = array_of(kind, length.text if length else "")
        elif node.kind == "function_declarator":
            kind = CType("function", to=kind, parameters=self._parameter_types(node))
        elif node.kind != "parenthesized_declarator":
            raise self.fail(node, "a declarator")
        return self.declared(kind, inner) if inner else ("", kind)

    def _parameter_types(self, node: Node) -> tuple[CType, ...]:
        """The types in the parentheses of a function's type; none if some are not known."""
        try:
            return tuple(one.type for one in self.parameters(node))
        except REASONS:
            return ()

    def parameters(self, declarator: Node) -> list[Parameter]:
        """The parameters of a function; arrays are pointers."""
        found = []
        for one in declarator["parameters"].children:
            if one.text == "void":
                continue
            if one.kind not in ("parameter_declaration", "optional_parameter_declaration"):
                raise self.fail(one, "a parameter that is not known")
            name, kind = "", self.type_of(one)
            if one["declarator"]:
                name, kind = self.declared(kind, one["declarator"])
            kind = pointer_to(kind.pointed) if kind.kind == "array" else kind
            copies = self.is_destroyed(kind) and not kind.reference
            self.refuse(copies, one, "an object with a destructor as an argument")
            found.append(Parameter(name, kind, one["default_value"]))
        return found

    def convert(self, value: Value, wanted: CType) -> Value:
        """A value as another type, as C's assignment converts it."""
        wanted, have = wanted.plain, value.type
        if have == CONDITION:
            value = Value(f"bool({value.text})", c.BOOL)
            value = value if wanted.kind == "bool" else truth(f"int({value.text})", "c")
            have = value.type
        if wanted.kind == "bool" and have.kind != "bool":
            null = f"not is_null({value.text})"
            return truth(null if have.is_pointer else f"bool({value.text})")
        if wanted.is_number and have.is_number:
            as_number = self._as_float if wanted.kind == "float" else self._as_integer
            return as_number(value, wanted)
        if (wanted.is_pointer or wanted.kind == "opaque") and value.is_zero:
            return Value("None", wanted)
        if wanted.kind == "string" and (have.is_text or have.kind == "string"):
            return Value(self.as_string(value), c.STRING)
        if wanted.kind == "unknown":
            return value
        pointers = have.is_pointer or have.kind in ("opaque", "function", "unknown")
        to_pointer = wanted.is_pointer or (wanted.kind == "opaque" and have.is_pointer)
        to_rows = wanted.pointed.kind == "array" and have.pointed.is_number
        if not to_rows and (wanted.kind == have.kind or (to_pointer and pointers)):
            return value.typed(wanted)
        raise Untranslatable(f"converting {have} to {wanted}")

    def _as_integer(self, value: Value, wanted: CType) -> Value:
        have = value.type
        if wanted.kind == "enum":
            same = not wanted.element or have.name == wanted.name
            text = value.text if same else f"{self.element(wanted)}({value.text})"
            return Value(text, wanted)
        if have.kind == "float":
            return Value(f"int({value.text})", wanted)
        low, high = value.range
        if wanted.range[0] <= low and high <= wanted.range[1]:
            return replace(value, type=wanted, bounds=(low, high))
        return Value(f"{'' if wanted.signed else 'u'}int{wanted.bits}({value.text})", wanted)

    def _as_float(self, value: Value, wanted: CType) -> Value:
        if value.type == wanted and not value.weak:
            return value
        if wanted.bits < 64:
            return Value(f"float{wanted.bits}({value.text})", wanted)
        if value.type.is_integer and value.text.lstrip("-").isdigit():
            return Value(f"{value.text}.0", wanted)
        if value.weak:
            return Value(repr(float(np.float32(value.constant or 0))), wanted)
        return Value(f"float({value.text})", wanted)

    def operand(self, value: Value, kind: CType) -> Value:
        """A number that is combined with others as `kind`, converted where Python would not."""
        if kind.kind == "float":
            narrower = value.type.kind == "float" and value.type.bits < kind.bits
            return self.convert(value, kind) if narrower else value
        wraps = not kind.signed and not value.nonnegative
        return Value(f"uint{kind.bits}({value.text})", kind) if wraps else value

    def _cast_expression(self, node: Node) -> Value:
        return self.cast(node, node["value"], self.type_of(node["type"]))

    def cast(self, node: Node, inner: Node, wanted: CType) -> Value:
        """C's ``(wanted) inner``."""
        value = self.expression(inner)
        if wanted.kind == "void":
            return value
        self.refuse(wanted.is_number and value.type.is_pointer, node, "a pointer as a number")
        if not (wanted.is_pointer and value.type.is_pointer):
            return self.convert(value, wanted).read()
        have, to = value.type.pointed, wanted.pointed
        same = to.kind in ("void", "unknown") or str(have) == str(to)
        if not same and to.is_number and (have.is_number or have.kind in ("void", "array")):
            return Value(f"cast({value.text}, {self.element(to)})", wanted)
        if value.is_zero or same or have.kind == "void":
            return value.typed(wanted)
        raise self.fail(node, f"casting {value.type} to {wanted}")

    def _sizeof_expression(self, node: Node) -> Value:
        named, argument = node["type"], node["value"].bare
        kind = self.type_of(named) if named else self.named_type(argument.text)
        if kind is None:
            value = self.peek(argument)
            kind = value.type
            if kind.kind == "array":
                return Value(f"sizeof({value.text})", c.SIZE, (0, c.INT.range[1]))
        if kind.is_pointer:
            return Value("8", c.SIZE, (8, 8))
        return Value(f"sizeof({self.element(kind)})", c.SIZE, (0, c.INT.range[1]))

    def as_string(self, value: Value) -> str:
        """A value as a Python string."""
        if value.type.kind == "string" or (value.type.is_text and value.text[0] == '"'):
            return value.after("==")
        if value.type.is_text:
            return f"string({value.text})"
        raise Untranslatable(f"a string of {value.type}")


def function_declarator(node: Node) -> Node:
    """The part of a declaration that says that it is one of a function, if it is."""
    node = node["declarator"]
    while node.kind in ("pointer_declarator", "reference_declarator"):
        node = node["declarator"] or node.children[-1]
    is_pointer = node["declarator"].kind == "parenthesized_declarator"
    return node if node.kind == "function_declarator" and not is_pointer else Node(None)
