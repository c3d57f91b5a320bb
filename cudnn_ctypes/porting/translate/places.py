"""What C can assign to or take the address of, in Python."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

from .libraries import foreign
from .literals import Literals
from .program import Variable, children, text_of
from .types import (
    CHAR,
    INT,
    PRIMITIVES,
    TEXT,
    CType,
    array_of,
    pointer_to,
)
from .value import (
    ATOM,
    MULTIPLICATIVE,
    UNARY,
    Place,
    Value,
)

__all__ = ["Places"]


class Places(Literals):
    """Variables, elements, members, and what pointers point to."""

    def _identifier(self, node: Any) -> Value:
        name = text_of(node)
        if self.place_or_none(node):
            return self.place(node).read()
        macro = self.program.macros.get(name)
        if macro and macro.parameters is None:
            return self._macro_constant(macro)
        return self._named_constant(node, name)

    def place_or_none(self, node: Any) -> Place | None:
        """The place of a name, or None if the name is no variable."""
        name = text_of(node)
        variable = self.lookup(name)
        if variable is not None:
            return self._variable_place(variable)
        if self.record and name in self.record.fields:
            return self._field_place("self", name, self.record.fields[name])
        return None

    def _variable_place(self, variable: Variable) -> Place:
        if variable.cell:
            target = f"{variable.name}.value"
            place = Place(target, variable.type, variable.name, True)
            return replace(place, nonnegative=variable.nonnegative)
        if variable.filled:
            return Place(variable.name, variable.type, variable.name)
        simple = not variable.is_global and variable.name.isidentifier()
        return Place(variable.name, variable.type, "", False, simple, variable.nonnegative)

    def _field_place(self, owner: str, name: str, ctype: CType) -> Place:
        target = f"{owner}.{self.safe_field(name)}"
        if name in self.program.addressed_fields and not ctype.is_object and ctype.kind != "array":
            return Place(f"{target}.value", ctype, target, True)
        return Place(target, ctype)

    def safe_field(self, name: str) -> str:
        """A Python name for a field of C."""
        return (
            f"{name}_" if name in ("fields", "from", "in", "is", "lambda", "pass", "def") else name
        )

    def place(self, node: Any) -> Place:
        """The place that an expression names.

        Raises
        ------
        Untranslatable
        """
        node = _unwrapped(node)
        if node.type == "identifier":
            found = self.place_or_none(node)
            if found is not None:
                return found
        elif node.type == "subscript_expression":
            return self._subscript_place(node)
        elif node.type == "pointer_expression" and text_of(node).startswith("*"):
            return self._pointed_place(node)
        elif node.type == "field_expression":
            return self._member_place(node)
        raise self.fail(node, "not something that can be assigned to")

    def _subscript_place(self, node: Any) -> Place:
        base = self.expression(node.child_by_field_name("argument"))
        index = self.expression(_index(node))
        if not index.type.is_integer:
            raise self.fail(node, "an index that is no integer")
        if base.type.kind == "string":
            raise self.fail(node, "assigning to a character of a string")
        if base.type.kind not in ("pointer", "array", "vector") or not base.type.to:
            raise self.fail(node, f"indexing {base.type}")
        handles = base.type.pointed.kind == "opaque"
        if base.type.kind == "pointer" and self.by_reference(base.type) and not handles:
            raise self.fail(node, f"indexing {base.type}")
        return Place(f"{base.at(ATOM)}[{index.text}]", base.type.pointed)

    def _pointed_place(self, node: Any) -> Place:
        argument = children(node)[-1]
        base = self.expression(argument)
        if base.type.kind not in ("pointer", "array") or base.type.pointed.kind in (
            "void",
            "unknown",
        ):
            raise self.fail(node, f"what {base.type} points to")
        if base.type.kind == "pointer" and self.by_reference(base.type):
            return Place(base.text, base.type.pointed)
        return Place(f"{base.at(ATOM)}[0]", base.type.pointed)

    def by_reference(self, pointer: CType) -> bool:
        """Whether a pointer of this type is the object itself in Python.

        It is for structs and handles, unless some pointer to that type is indexed or moved.
        """
        to = pointer.pointed
        return to.kind == "opaque" or (to.is_object and to.name not in self.program.indexed)

    def _member_place(self, node: Any) -> Place:
        owner = self.expression(node.child_by_field_name("argument"))
        name = text_of(node.child_by_field_name("field"))
        ctype = owner.type
        text = owner.at(ATOM)
        if ctype.kind in ("pointer", "array"):
            if not self.by_reference(ctype):
                text += "[0]"
            ctype = ctype.pointed
        if ctype.kind != "struct":
            raise self.fail(node, f"a member of {ctype}")
        record = self.program.records.get(ctype.name)
        if record is None:
            if ctype.name == "dim3":
                return Place(f"{text}.{name}", PRIMITIVES["unsigned int"])
            return self._foreign_member(node, ctype, text, name)
        if name not in record.fields:
            raise self.fail(node, f"{ctype} has no such member")
        return self._field_place(text, name, record.fields[name])

    def _foreign_member(self, node: Any, ctype: CType, text: str, name: str) -> Place:
        found = foreign(ctype.name)
        fields = dict(getattr(found[1], "_fields_", ())) if found else {}
        from .libraries import of_ctypes

        if f"_{name}" in fields and found:  # an enum that the class reads as one
            return Place(f"{text}.{name}", of_ctypes(type(getattr(found[1](), name))))
        if name not in fields:
            raise self.fail(text_node(node), f"{ctype} has no such member")
        kind = fields[name]
        if issubclass(kind, ctypes.Array):
            is_text = kind._type_ is ctypes.c_char
            held = TEXT if is_text else array_of(of_ctypes(kind._type_), str(kind._length_))
            return Place(f"{text}.{name}", held)
        return Place(f"{text}.{name}", of_ctypes(kind), "", True)

    def _subscript_expression(self, node: Any) -> Value:
        kind = self.type_only(node.child_by_field_name("argument"))
        if kind.kind == "string" or (kind.kind == "pointer" and kind.is_text):
            base = self.expression(node.child_by_field_name("argument"))
            index = self.expression(_index(node))
            return Value(f"char_at({base.text}, {index.text})", CHAR, small=True)
        return self.place(node).read()

    def _field_expression(self, node: Any) -> Value:
        return self.place(node).read()

    def _pointer_expression(self, node: Any) -> Value:
        argument = children(node)[-1]
        if not text_of(node).startswith("*"):
            return self.address(argument)
        kind = self.type_only(argument)
        if kind.kind == "pointer" and kind.is_text:
            return Value(f"char_at({self.expression(argument).text}, 0)", CHAR, small=True)
        return self.place(node).read()

    def address(self, node: Any) -> Value:
        """C's ``&node``."""
        node = _unwrapped(node)
        if node.type == "subscript_expression":
            argument = node.child_by_field_name("argument")
            base = self.expression(argument)
            index = self.expression(_index(node))
            to = base.type.pointed
            if self.by_reference(pointer_to(to)):
                return Value(f"{base.at(ATOM)}[{index.text}]", pointer_to(to))
            if base.type.kind == "array" and argument.type == "subscript_expression":
                base = self.address(argument).typed(pointer_to(to))  # a row of the whole array
            elif base.type.kind == "vector":
                base = Value(f"{base.at(ATOM)}.data()", pointer_to(to))
            return self.moved(base, index, "+")
        place = self.place(node)
        if place.type.is_object:
            inner = pointer_to(place.type)
            return Value(
                place.target if self.by_reference(inner) else f"Pointer([{place.target}])", inner
            )
        if place.type.kind == "array":
            return Value(place.target, pointer_to(place.type.pointed))
        if not place.object:
            if node.type == "pointer_expression":
                return self.expression(children(node)[-1])
            raise self.fail(node, "the address of this variable")
        shown = place.object if place.type.kind == "pointer" else f"Pointer({place.object})"
        return Value(shown, pointer_to(place.type))

    def moved(self, base: Value, count: Value, operator: str) -> Value:
        """C's ``base + count`` and ``base - count`` of a pointer."""
        to = base.type.pointed
        if to.kind in ("void", "unknown"):
            raise self.fail_text("moving a pointer to", str(to))
        if to.kind == "pointer" or (to.is_object and to.kind != "opaque"):
            element = "object"
        elif to.kind == "array":
            element = self.element(_innermost(to))
            row = _row_length(to)
            count = Value(f"{count.at(MULTIPLICATIVE)} * {row}", INT, MULTIPLICATIVE)
        else:
            element = self.element(to)
        text = count.text if operator == "+" else f"-{count.at(UNARY)}"
        if count.constant == 0:
            whole = to.kind == "array"
            return Value(f"Pointer({base.text})" if whole else base.text, pointer_to(to))
        return Value(f"offset({base.text}, {text}, {element})", pointer_to(to))

    def fail_text(self, reason: str, what: str) -> Exception:
        """An exception for a construct without a node of its own."""
        from .value import Untranslatable

        return Untranslatable(f"{reason} {what}")


def text_node(node: Any) -> Any:
    """The node of a member's name."""
    return node


def _unwrapped(node: Any) -> Any:
    while node.type == "parenthesized_expression":
        node = children(node)[0]
    return node


def _innermost(kind: CType) -> CType:
    while kind.kind == "array":
        kind = kind.pointed
    return kind


def _row_length(kind: CType) -> str:
    lengths = []
    while kind.kind == "array":
        lengths.append(kind.length)
        kind = kind.pointed
    return " * ".join(lengths)


def _index(node: Any) -> Any:
    """What stands in the brackets of a subscript."""
    found = node.child_by_field_name("indices") or node.child_by_field_name("index")
    return children(found)[0] if found.type.endswith("list") else found
