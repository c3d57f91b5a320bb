"""The variables of a program: their types and first values, by name.

Names are looked up in the function around a place, then in the whole file, members of structs
included, then in its headers. Blocks within a function are not told apart.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .source import Source
from .syntax import Node

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
    value : Node
        What it begins with; empty if with nothing.
    line : int
    """

    name: str
    type: str
    pointers: int
    is_array: bool
    value: Node
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
        for node in source.root.find("declaration", "parameter_declaration", "field_declaration"):
            known = self._by_function.setdefault(node.home.id, {})
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
        own = self._by_function.get(expression.home.id, {})
        return own.get(name) or self._by_function[0].get(name) or self._anywhere.get(name)

    def name_in(self, expression: Node) -> str:
        """The name of a variable or, of a member, its last name; "" if there is none."""
        if expression.kind in ("identifier", "field_identifier"):
            return expression.text
        for field in ("field", "argument", "value"):
            inner = expression[field]
            if inner and expression.kind in _NAMING:
                return self.name_in(inner)
        if expression.kind == "parenthesized_expression" and expression.children:
            return self.name_in(expression.children[0])
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

    def _declared(self, node: Node) -> Iterator[Variable]:
        kind = re.sub(r"\b(?:const|struct|enum|volatile)\b", "", node["type"].text)
        for declarator in node.each("declarator"):
            yield from _variable(declarator, " ".join(kind.split()), node.line)


def _variable(node: Node, kind: str, line: int) -> Iterator[Variable]:
    """The variable of a declarator; nothing for a function's prototype."""
    pointers, is_array, value = 0, False, Node(None)
    while node.kind not in ("identifier", "field_identifier"):
        if node.kind == "init_declarator":
            value = node["value"]
        pointers += node.kind == "pointer_declarator"
        is_array |= node.kind == "array_declarator"
        inner = node["declarator"]
        inner = inner or next((one for one in node.named if "declarator" in one.kind), inner)
        if node.kind == "function_declarator":
            return
        if not inner:  # a reference: its name has no field
            inner = next((one for one in node.named if one.kind == "identifier"), inner)
        if not inner:
            return
        node = inner
    yield Variable(node.text, kind, pointers, is_array, value, line)


_NAMING = (
    "pointer_expression",
    "field_expression",
    "subscript_expression",
    "cast_expression",
)
