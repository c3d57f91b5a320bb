"""Streams of C++: what << prints and >> reads."""

from __future__ import annotations

from typing import Any

from ..runtime.containers import MANIPULATORS
from .calls import Calls
from .program import children, text_of
from .types import BOOL, CType
from .value import COMPARISON, OR, Untranslatable, Value

__all__ = ["Streams"]

_INPUT_WORDS = {"integer": "int", "string": "str"}


class Streams(Calls):
    """Streams."""

    def _streaming(self, node: Any, line: int) -> None:
        stream, operator = _stream_of(node)
        if operator == ">>":
            self._reading(node, line)
            return
        texts = [self._printed(one) for one in _operands(node)[1:]]
        name = self.expression_or_stream(stream)
        self.emit(f"{name}({', '.join(texts)})", line)

    def expression_or_stream(self, node: Any) -> str:
        """The Python name of a stream."""
        name = text_of(node).removeprefix("std::")
        name = "cerr" if name == "clog" else name
        return name if name in ("cout", "cerr") else self.expression(node).text

    def _printed(self, node: Any) -> str:
        name = text_of(node).removeprefix("std::")
        if name in ("endl", "flush"):
            return '"\\n"' if name == "endl" else '""'
        if name in MANIPULATORS:
            return name
        value = self.expression(node)
        if (
            value.type.name in ("char", "unsigned char", "signed char")
            and not value.type.is_pointer
        ):
            return f"chr({value.text})"
        if value.type.is_pointer and not value.type.is_text:
            raise self.fail(node, "printing a pointer")
        if value.type.kind == "float" and value.weak:
            return self.convert(value, value.type).text
        if not (value.type.is_number or value.type.is_text or value.type.kind == "string"):
            raise self.fail(node, f"printing a {value.type}")
        return self.convert(value, BOOL).text if value.type.name == "truth" else value.text

    def _reading(self, node: Any, line: int) -> None:
        stream, *targets = _operands(node)
        name = self.expression(stream).text
        for target in targets:
            place = self.place(target)
            self.note_write(place)
            self.out.add(f"{place.target} = {name}.word({self.word_reader(place.type)})", line)

    def word_reader(self, kind: CType) -> str:
        """What makes a word of text a value."""
        if kind.kind == "float":
            return "float32" if kind.bits == 32 else "float"
        if kind.kind not in _INPUT_WORDS or kind.name == "char":
            raise Untranslatable(f"reading a {kind}")
        return _INPUT_WORDS[kind.kind]

    def truth(self, node: Any) -> Value:
        inner = _bare(node)
        if inner.type == "binary_expression" and _stream_of(inner) and _stream_of(inner)[1] == ">>":
            return self._reading_condition(inner)
        if inner.type == "call_expression" and text_of(inner).startswith(
            ("std::getline(", "getline(")
        ):
            stream, target = children(inner.child_by_field_name("arguments"))[:2]
            place = self.place(target)
            if not place.simple:
                raise self.fail(node, "reading a line into this")
            text = f"({place.target} := {self.expression(stream).text}.line()) is not None"
            return Value(text, BOOL, COMPARISON)
        return super().truth(node)

    def _reading_condition(self, node: Any) -> Value:
        stream, *targets = _operands(node)
        parts = []
        for target in targets:
            place = self.place(target)
            if not place.simple:
                raise self.fail(node, "reading into this within a condition")
            reader = self.word_reader(place.type)
            name = self.expression(stream).text
            parts.append(f"({place.target} := {name}.word({reader})) is not None")
        return Value(" and ".join(parts), BOOL, COMPARISON if len(parts) == 1 else OR)


def _bare(node: Any) -> Any:
    while (
        node.type in ("parenthesized_expression", "condition_clause") and len(children(node)) == 1
    ):
        node = children(node)[0]
    if node.type == "cast_expression" and text_of(node.child_by_field_name("type")) == "void":
        return _bare(node.child_by_field_name("value"))
    return node


def _stream_of(node: Any) -> Any:
    """The leftmost operand of a chain of << or >>, and the operator, if it may be a stream."""
    if node.type != "binary_expression":
        return None
    operator = text_of(node.child_by_field_name("operator"))
    if operator not in ("<<", ">>"):
        return None
    first = _operands(node)[0]
    return (first, operator) if first.type in ("identifier", "qualified_identifier") else None


def _operands(node: Any) -> list[Any]:
    operator = text_of(node.child_by_field_name("operator"))
    found: list[Any] = []
    while (
        node.type == "binary_expression"
        and text_of(node.child_by_field_name("operator")) == operator
    ):
        found.insert(0, node.child_by_field_name("right"))
        node = node.child_by_field_name("left")
    return [node, *found]
