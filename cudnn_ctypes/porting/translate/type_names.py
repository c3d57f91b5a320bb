"""Types as C writes them: names, declarators, parameters."""

from __future__ import annotations

import re
from dataclasses import replace

from .base import Base
from .libraries import foreign_type
from .program import Parameter
from .syntax import Node
from .types import PRIMITIVES, UNKNOWN, CType, array_of, pointer_to
from .value import REASONS

__all__ = ["TypeNames", "function_declarator"]

_QUALIFIERS = re.compile(
    r"\b(const|static|volatile|inline|extern|struct|class|enum|typename|restrict|__restrict__|"
    r"constexpr|register|unsigned(?=\s+std::))\b"
)
_SPECIFIERS = ("struct_specifier", "class_specifier", "enum_specifier", "union_specifier")
_NAMES = ("identifier", "field_identifier", "type_identifier", "qualified_identifier")


class TypeNames(Base):
    """Types by name and by declarator."""

    def named_type(self, name: str) -> CType | None:
        """The type of that name, or None."""
        name = " ".join(_QUALIFIERS.sub(" ", name).split()).removeprefix("std::")
        if name in self.program.types:
            return self.program.types[name]
        words = sorted(name.split(), key=lambda word: (word != "unsigned", word == "int"))
        ordered = " ".join(words)
        for spelled in (name, ordered, ordered.removesuffix(" int")):
            if spelled in PRIMITIVES:
                return PRIMITIVES[spelled]
        return foreign_type(name)

    def type_of(self, node: Node) -> CType:
        """The type of a declaration, parameter or cast, without what declarators add."""
        declares = node.kind in ("type_descriptor", "function_definition", "type_definition")
        declares = declares or node.kind.endswith(("declaration", "_loop"))
        kind = self._base_type(node["type"] if declares else node)
        if "const" in node.words("type_qualifier"):
            kind = replace(kind, const=True)
        is_whole = node.kind == "type_descriptor" and node["declarator"]
        return self.declared(kind, node["declarator"])[1] if is_whole else kind

    def _base_type(self, node: Node) -> CType:
        if node.kind == "placeholder_type_specifier":
            return UNKNOWN
        if node.kind == "template_type" or (
            node.kind == "qualified_identifier" and "<" in node.text
        ):
            template = node["name"] if node.kind == "qualified_identifier" else node
            if template["name"].text != "vector":
                raise self.fail(node, "a template")
            to = self.type_of(template.arguments[0])
            return CType("vector", "vector", to=to, element="Vector")
        name = node.text
        if node.kind in _SPECIFIERS:
            unnamed = [one.name for one in self.program.records.values() if one.node == node]
            name = node["name"].text or "".join(unnamed)
        found = self.named_type(name) if name else None
        if found is None:
            raise self.fail(node, "a type that is not known")
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
            length = self.expression(node["size"]) if node["size"] else None
            if length and not length.type.is_integer:
                raise self.fail(node, "the length of an array")
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
            found.append(Parameter(name, kind, one["default_value"]))
        return found


def function_declarator(node: Node) -> Node:
    """The part of a declaration that says that it is one of a function, if it is."""
    node = node["declarator"]
    while node.kind in ("pointer_declarator", "reference_declarator"):
        node = node["declarator"] or node.children[-1]
    return node if node.kind == "function_declarator" else Node(None)
