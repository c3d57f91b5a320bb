"""C's conversions between types: assignments, casts, sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .places import Places
from .syntax import Node
from .types import BOOL, INT, SIZE, STRING, CType
from .value import Untranslatable, Value, truth

__all__ = ["CONDITION", "Conversions"]

# What Python's `and` and `or` give, which is C's result only as a condition.
CONDITION = CType("bool", "condition", 8, False)


class Conversions(Places):
    """Values as other types."""

    def convert(self, value: Value, wanted: CType) -> Value:
        """A value as another type, as C's assignment converts it."""
        wanted, have = wanted.plain, value.type
        if have == CONDITION:
            value = Value(f"bool({value.text})", BOOL)
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
            return Value(self.as_string(value), STRING)
        if wanted.kind == "unknown":
            return value
        pointers = have.is_pointer or have.kind in ("opaque", "function", "unknown")
        to_pointer = wanted.is_pointer or (wanted.kind == "opaque" and have.is_pointer)
        if wanted.kind == have.kind or (to_pointer and pointers):
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

    def float_operand(self, value: Value, kind: CType) -> Value:
        """A number that is combined with a float or double, converted where Python would not."""
        from_float = value.type.kind == "float" and value.type.bits < kind.bits
        return self.convert(value, kind) if from_float else value

    def integer_operand(self, value: Value, kind: CType) -> Value:
        """An integer that is combined with one of type `kind`."""
        if kind.signed or value.nonnegative:
            return value
        return Value(f"uint{kind.bits}({value.text})", kind)

    def _cast_expression(self, node: Node) -> Value:
        return self.cast(node, node["value"], self.type_of(node["type"]))

    def cast(self, node: Node, inner: Node, wanted: CType) -> Value:
        """C's ``(wanted) inner``."""
        if wanted.is_pointer and inner.stripped.kind == "call_expression":
            return self.converted(inner, wanted)
        value = self.expression(inner)
        if wanted.kind == "void":
            return value
        if wanted.is_number and value.type.is_pointer:
            raise self.fail(node, "a pointer as a number")
        if not (wanted.is_pointer and value.type.is_pointer):
            return self.convert(value, wanted).read()
        have, to = value.type.pointed, wanted.pointed
        same = to.kind in ("void", "unknown") or have.plain == to.plain
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
                return Value(f"sizeof({value.text})", SIZE, (0, INT.range[1]))
        if kind.is_pointer:
            return Value("8", SIZE, (8, 8))
        return Value(f"sizeof({self.element(kind)})", SIZE, (0, INT.range[1]))

    def as_string(self, value: Value) -> str:
        """A value as a Python string."""
        if value.type.kind == "string" or (value.type.is_text and value.text[0] == '"'):
            return value.after("==")
        if value.type.is_text:
            return f"string({value.text})"
        if value.type.name == "char":
            return f"chr({value.text})"
        raise Untranslatable(f"a string of {value.type}")
