"""Types as C writes them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from .libraries import foreign_type
from .loops import Loops
from .program import children, text_of
from .types import PRIMITIVES, UNKNOWN, CType, array_of, pointer_to
from .value import Untranslatable

__all__ = ["TypeNames"]

_QUALIFIERS = re.compile(
    r"\b(const|static|volatile|inline|extern|struct|class|enum|typename|restrict|__restrict__|"
    r"constexpr|register|unsigned(?=\s+std::))\b"
)
_DECLARING = (
    "declaration",
    "parameter_declaration",
    "optional_parameter_declaration",
    "field_declaration",
    "type_descriptor",
    "function_definition",
    "type_definition",
    "for_range_loop",
)


class TypeNames(Loops):
    """Types by name and by declarator."""

    def named_type(self, name: str) -> CType | None:
        name = " ".join(_QUALIFIERS.sub(" ", name).split()).removeprefix("std::")
        if name in self.program.types:
            return self.program.types[name]
        ordered = " ".join(
            sorted(name.split(), key=lambda word: (word != "unsigned", word == "int"))
        )
        for spelled in (name, ordered, re.sub(r"\s+int$", "", ordered)):
            if spelled in PRIMITIVES:
                return PRIMITIVES[spelled]
        return foreign_type(name)

    def type_of(self, node: Any, declarator: Any = None) -> CType:
        """The type of a declaration, parameter or cast, with what its declarator adds."""
        named = node
        if node.type in _DECLARING:
            named = node.child_by_field_name("type")
            declarator = declarator or (
                node.child_by_field_name("declarator") if node.type == "type_descriptor" else None
            )
        kind = self._base_type(named)
        if "const" in _leading_words(node):
            kind = replace(kind, const=True)
        return self.declared(kind, declarator)[1] if declarator is not None else kind

    def _base_type(self, node: Any) -> CType:
        if node.type == "placeholder_type_specifier":
            return UNKNOWN
        if node.type == "template_type" or (
            node.type == "qualified_identifier" and "<" in text_of(node)
        ):
            return self._template_type(node)
        if node.type in (
            "struct_specifier",
            "class_specifier",
            "enum_specifier",
            "union_specifier",
        ):
            unnamed = [one.name for one in self.program.records.values() if one.node == node]
            name = text_of(node.child_by_field_name("name")) or "".join(unnamed)
            if not name or (found := self.named_type(name)) is None:
                raise self.fail(node, "a type that is not known")
            return found
        found = self.named_type(text_of(node))
        if found is None:
            raise self.fail(node, "a type that is not known")
        return found

    def _template_type(self, node: Any) -> CType:
        inner = node.child_by_field_name("name") if node.type == "qualified_identifier" else node
        arguments = inner.child_by_field_name("arguments")
        if text_of(inner.child_by_field_name("name")) != "vector" or arguments is None:
            raise self.fail(node, "a template")
        return CType("vector", "vector", to=self.type_of(children(arguments)[0]), element="Vector")

    def declared(self, kind: CType, node: Any) -> tuple[str, CType]:
        """The name and type that a declarator makes of a base type."""
        if node.type in ("identifier", "field_identifier", "type_identifier"):
            return text_of(node), kind
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type != "abstract_array_declarator":
            named = [one for one in children(node) if one.type != "type_qualifier"]
            inner = named[0] if named else None
        if node.type in ("pointer_declarator", "abstract_pointer_declarator"):
            kind = pointer_to(kind)
        elif node.type in ("reference_declarator", "abstract_reference_declarator"):
            kind = replace(kind, reference=True)
        elif node.type in ("array_declarator", "abstract_array_declarator"):
            kind = self._array_type(kind, node)
        elif node.type == "function_declarator":
            kind = CType("function", to=kind, parameters=self._parameter_types(node))
        elif node.type != "parenthesized_declarator":
            raise self.fail(node, "a declarator")
        return self.declared(kind, inner) if inner is not None else ("", kind)

    def _parameter_types(self, node: Any) -> tuple[CType, ...]:
        """The types in the parentheses of a function's type; none if some are not known."""
        try:
            named = children(node.child_by_field_name("parameters"))
            return tuple(
                self.type_of(one, one.child_by_field_name("declarator"))
                for one in named
                if text_of(one) != "void"
            )
        except Untranslatable:
            return ()

    def _array_type(self, kind: CType, node: Any) -> CType:
        size = node.child_by_field_name("size")
        if size is None:
            return array_of(kind, "")
        value = self.expression(size)
        if not value.type.is_integer:
            raise self.fail(node, "the length of an array")
        return array_of(kind, value.text)


def _leading_words(node: Any) -> set[str]:
    if node.type not in _DECLARING:
        return set()
    kinds = ("type_qualifier", "storage_class_specifier")
    return {text_of(one) for one in node.children if one.type in kinds}
