"""The syntax tree of a C program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["CASTS", "Node", "commas"]

CASTS = ("static_cast", "reinterpret_cast", "const_cast")


class Node:
    """A node of tree-sitter's tree; a child that is missing is an empty node, which is false.

    `line` is the line of the C program that the node stands for: where a macro is written out, the
    line that uses it.
    """

    __slots__ = ("_line", "tree")

    def __init__(self, tree: Any, line: int = 0) -> None:
        self.tree: Any = tree
        self._line = line

    def __bool__(self) -> bool:
        return self.tree is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and bool(self.tree == other.tree)

    def __getitem__(self, field: str) -> Node:
        """The child in a field."""
        found = self.tree.child_by_field_name(field) if self.tree is not None else None
        return Node(found, self._line)

    def each(self, field: str) -> list[Node]:
        return [Node(one, self._line) for one in self.tree.children_by_field_name(field)]

    @property
    def fields(self) -> list[tuple[str, Node]]:
        """Its children with the names of their fields."""
        named = enumerate(self.tree.children)
        return [(self.tree.field_name_for_child(i) or "", Node(x, self._line)) for i, x in named]

    @property
    def kind(self) -> str:
        return str(self.tree.type) if self.tree is not None else ""

    @property
    def text(self) -> str:
        return str(self.tree.text.decode(errors="replace")) if self.tree is not None else ""

    @property
    def operator(self) -> str:
        return self["operator"].text

    @property
    def id(self) -> int:
        """A number that no other node of its tree has; 0 if it is empty."""
        return int(self.tree.id) if self.tree is not None else 0

    @property
    def line(self) -> int:
        """The line that it begins in, from 1."""
        return self._line or int(self.tree.start_point[0]) + 1

    @property
    def place(self) -> tuple[int, int]:
        """The line that it begins in, and the byte in that line, from 1."""
        return self.line, int(self.tree.start_point[1]) + 1

    @property
    def last_line(self) -> int:
        """The line that it ends in."""
        return int(self.tree.end_point[0]) + 1

    @property
    def parent(self) -> Node:
        return Node(self.tree.parent if self.tree is not None else None, self._line)

    @property
    def home(self) -> Node:
        """The function definition around it."""
        node = self
        while node and node.kind not in ("function_definition", "lambda_expression"):
            node = node.parent
        return node

    def declares(self, name: Node) -> bool:
        """Whether it is a declaration of the variable that this identifier names."""
        return self.kind == "declaration" or self["declarator"] == name

    @property
    def all(self) -> list[Node]:
        """Its children, punctuation too."""
        return [Node(one, self._line) for one in self.tree.children] if self else []

    @property
    def named(self) -> list[Node]:
        """Its children that are no punctuation."""
        return [Node(one, self._line) for one in self.tree.named_children] if self else []

    @property
    def children(self) -> list[Node]:
        """Its children that are no punctuation and no comments."""
        return [one for one in self.named if one.kind != "comment"]

    @property
    def head(self) -> str:
        """The C text of a definition before its body."""
        body = self["body"].tree
        return self.text[: body.start_byte - self.tree.start_byte] if body else self.text

    def words(self, *kinds: str) -> set[str]:
        """The texts of its own children of these kinds."""
        return {str(one.text.decode()) for one in self.tree.children if one.type in kinds}

    def find(self, *kinds: str) -> Iterator[Node]:
        """The nodes of these kinds in it, itself too, in the order of the text."""
        pending = [self.tree] if self else []
        while pending:
            one = pending.pop()
            if one.type in kinds:
                yield Node(one, self._line)
            pending.extend(reversed(one.named_children))

    @property
    def errors(self) -> list[Node]:
        """Places in it that the grammar could not read: a missing parenthesis, too."""
        found, pending = [], [self.tree] if self else []
        while pending:
            one = pending.pop()
            if one.is_error or one.is_missing:
                found.append(Node(one, self._line))
            if one.has_error:
                pending.extend(reversed(one.children))
        return found

    def has(self, *kinds: str) -> bool:
        """Whether there is a node of these kinds in it."""
        return next(self.find(*kinds), None) is not None

    @property
    def bare(self) -> Node:
        """Without the parentheses around it."""
        node = self
        while node.kind in ("parenthesized_expression", "condition_clause"):
            if len(node.children) != 1:
                break
            node = node.children[0]
        return node

    @property
    def stripped(self) -> Node:
        """Without the parentheses and casts around it."""
        node = self.bare
        while True:
            if node.kind == "cast_expression":
                node = node["value"].bare
            elif node.kind == "call_expression" and node["function"]["name"].text in CASTS:
                node = node["arguments"].children[0].bare
            else:
                return node

    @property
    def called(self) -> str:
        return self["function"].text

    @property
    def arguments(self) -> list[Node]:
        return self["arguments"].children

    @property
    def address_of(self) -> Node:
        """What stands after ``&``, through casts."""
        node = self.stripped
        taken = node.kind == "pointer_expression" and node.operator == "&"
        return node["argument"] if taken else Node(None)


def commas(node: Node) -> list[Node]:
    """The expressions that commas separate."""
    if node.kind == "comma_expression":
        return [*commas(node["left"]), *commas(node["right"])]
    return [node]
