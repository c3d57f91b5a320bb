"""The variables of a program: their types and first values, by name.

Names are looked up in the function around a place, then in the whole file, members of structs
included, then in its headers. Blocks within a function are not told apart.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .source import Source

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Declarations", "Variable"]


@dataclass(frozen=True)
class Variable:
    """A declared name.

    Attributes
    ----------
    name : str
    type : str
        As it is written, without ``const``, ``struct``, ``*`` and ``[]``: "float".
    pointers : int
        How many ``*``.
    is_array : bool
    value : Node or None
        What it begins with.
    line : int
    """

    name: str
    type: str
    pointers: int
    is_array: bool
    value: Node | None
    line: int

    @property
    def is_plain(self) -> bool:
        """True unless the variable is a pointer or an array."""
        return not self.pointers and not self.is_array


class Declarations:
    """The variables of a program, by the function that they are in.

    Parameters
    ----------
    source : Source
    headers : sequence of Source
        Of the program itself.
    """

    def __init__(self, source: Source, headers: Sequence[Source] = ()) -> None:
        self.source = source
        self.headers: list[Declarations] = [Declarations(header) for header in headers]
        self._by_function: dict[int, dict[str, Variable]] = {0: {}}
        for node in source.of_type("declaration", "parameter_declaration", "field_declaration"):
            home = self.function(node)
            known = self._by_function.setdefault(home.id if home else 0, {})
            for variable in self._declared(node):
                known[variable.name] = variable

    @functools.cached_property
    def names(self) -> set[str]:
        """The names of all variables, those of the headers included."""
        own = {name for known in self._by_function.values() for name in known}
        return own.union(*(header.names for header in self.headers))

    def find(self, expression: Node) -> Variable | None:
        """The variable that an expression names: ``x``, ``&x``, ``x[2]``, ``layer->x``."""
        name = self.name_in(expression)
        home = self.function(expression)
        own = self._by_function.get(home.id if home else 0, {})
        return own.get(name) or self._by_function[0].get(name) or self._anywhere.get(name)

    def name_in(self, expression: Node) -> str:
        """The name of a variable or, of a member, its last name; "" if there is none."""
        if expression.type in ("identifier", "field_identifier"):
            return self.source.text(expression)
        for field in ("field", "argument", "value"):
            inner = expression.child_by_field_name(field)
            if inner is not None and expression.type in _NAMING:
                return self.name_in(inner)
        if expression.type == "parenthesized_expression" and expression.named_children:
            return self.name_in(expression.named_children[0])
        return ""

    @functools.cached_property
    def _anywhere(self) -> dict[str, Variable]:
        """For members of structs that are declared in a header or elsewhere."""
        found: dict[str, Variable] = {}
        for header in reversed(self.headers):
            found |= header._anywhere
        own: set[str] = set()
        for known in self._by_function.values():
            found |= {name: each for name, each in known.items() if name not in own}
            own |= known.keys()
        return found

    @staticmethod
    def function(node: Node | None) -> Node | None:
        """The function definition around a node."""
        while node is not None and node.type not in ("function_definition", "lambda_expression"):
            node = node.parent
        return node

    def _declared(self, node: Node) -> Iterator[Variable]:
        kind = re.sub(r"\b(?:const|struct|enum|volatile)\b", "", self.source.field(node, "type"))
        for declarator in node.children_by_field_name("declarator"):
            yield from self._variable(declarator, " ".join(kind.split()), self.source.line(node))

    def _variable(self, node: Node, kind: str, line: int) -> Iterator[Variable]:
        """The variable of a declarator; nothing for a function's prototype."""
        pointers, is_array, value = 0, False, None
        while node.type not in ("identifier", "field_identifier"):
            if node.type == "init_declarator":
                value = node.child_by_field_name("value")
            pointers += node.type == "pointer_declarator"
            is_array |= node.type == "array_declarator"
            inner = node.child_by_field_name("declarator")
            inner = inner or next((n for n in node.named_children if "declarator" in n.type), None)
            if node.type == "function_declarator":
                return
            if inner is None:  # a reference: its name has no field
                named = [n for n in node.named_children if n.type == "identifier"]
                if not named:
                    return
                inner = named[0]
            node = inner
        yield Variable(self.source.text(node), kind, pointers, is_array, value, line)


_NAMING = (
    "pointer_expression",
    "field_expression",
    "subscript_expression",
    "cast_expression",
)
