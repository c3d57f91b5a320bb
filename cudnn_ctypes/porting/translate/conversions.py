"""C's conversions between types: assignments, casts, sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .places import Places, _unwrapped
from .program import stripped, text_of
from .types import (
    BOOL,
    INT,
    SIZE,
    STRING,
    CType,
)
from .value import (
    COMPARISON,
    NOT,
    Value,
)

__all__ = ["Conversions"]


class Conversions(Places):
    """Values as other types."""

    def convert(self, value: Value, wanted: CType) -> Value:
        """A value as another type, as C's assignment converts it."""
        wanted, have = wanted.plain(), value.type
        if wanted.kind == "bool" and have.kind != "bool":
            if have.is_pointer:
                return Value(f"not is_null({value.text})", BOOL, NOT)
            return Value(f"bool({value.text})", BOOL, nonnegative=True, small=True)
        if have.name == "truth":
            value = Value(f"int(bool({value.text}))", INT, nonnegative=True, small=True)
            have = INT
        if wanted.is_number and have.is_number:
            return self._converted_number(value, wanted)
        if wanted.is_pointer and (value.constant == 0 or value.text == "None"):
            return Value("None", wanted)
        if wanted.kind == "string" and (have.is_text or have.kind == "string"):
            return Value(self.as_string(value), STRING, value.level)
        if wanted.kind == have.kind or wanted.kind == "unknown":
            return replace(value, type=wanted if wanted.kind != "unknown" else have)
        if wanted.is_pointer and (
            have.is_pointer or have.kind in ("opaque", "function", "unknown")
        ):
            return value.typed(wanted)
        if wanted.kind == "opaque" and (have.is_pointer or value.constant == 0):
            return Value("None", wanted) if value.constant == 0 else value.typed(wanted)
        raise self.fail_text(f"converting {have} to", str(wanted))

    def _converted_number(self, value: Value, wanted: CType) -> Value:
        have = value.type
        if wanted.kind == "float":
            return self._converted_to_float(value, wanted)
        if wanted.kind == "enum":
            if wanted.element and have.name != wanted.name:
                return Value(f"{self.element(wanted)}({value.text})", wanted)
            return value.typed(wanted)
        if have.kind == "float":
            return replace(Value(f"int({value.text})", wanted), small=False)
        fits = value.constant is not None and _fits(value.constant, wanted)
        same = have.signed == wanted.signed and have.bits <= wanted.bits
        widened = not have.signed and wanted.signed and have.bits < wanted.bits
        known = (
            value.nonnegative
            and (value.small or have.bits <= wanted.bits)
            and (
                wanted.bits >= 32
                and (value.small or not (wanted.signed and have.bits >= wanted.bits))
            )
        )
        if value.nonnegative and have.signed and have.bits <= wanted.bits:
            known = True
        if have.kind in ("enum", "bool"):
            known = wanted.bits >= 32
        if fits or same or widened or known:
            return replace(value, type=wanted)
        sign = "" if wanted.signed else "u"
        text = f"{sign}int{wanted.bits}({value.text})"
        return Value(text, wanted, nonnegative=not wanted.signed)

    def _converted_to_float(self, value: Value, wanted: CType) -> Value:
        have = value.type
        if wanted.bits == 64:
            if have.kind == "float" and have.bits == 64:
                return value
            if value.constant is not None and have.is_integer and value.text.lstrip("-").isdigit():
                return Value(f"{value.text}.0", wanted, value.level, constant=value.constant)
            return Value(f"float({value.text})", wanted, constant=value.constant)
        if have == wanted and not value.weak:
            return value
        shown = f"float{wanted.bits}({value.text})"
        return Value(shown, wanted, constant=value.constant)

    def _cast_expression(self, node: Any) -> Value:
        wanted = self.type_of(node.child_by_field_name("type"))
        return self.cast(node, node.child_by_field_name("value"), wanted)

    def cast(self, node: Any, inner: Any, wanted: CType) -> Value:
        """C's ``(wanted) inner``."""
        if wanted.kind == "void":
            return self.expression(inner)
        if wanted.is_pointer and stripped(inner).type == "call_expression":
            return self.converted(inner, wanted)
        value = self.expression(inner)
        if wanted.is_pointer and value.type.is_pointer:
            return self._cast_pointer(value, wanted)
        if wanted.is_number and value.type.is_pointer:
            raise self.fail(node, "a pointer as a number")
        return self.convert(value, wanted)

    def _cast_pointer(self, value: Value, wanted: CType) -> Value:
        have, to = value.type.pointed, wanted.pointed
        if value.text == "None" or to.kind in ("void", "unknown") or have.plain() == to.plain():
            return value.typed(wanted)
        if to.is_number and (have.is_number or have.kind in ("void", "array")):
            return Value(f"cast({value.text}, {self.element(to)})", wanted)
        if have.kind == "void":
            return value.typed(wanted)
        raise self.fail_text(f"casting {value.type} to", str(wanted))

    def _sizeof_expression(self, node: Any) -> Value:
        named = node.child_by_field_name("type")
        if named is not None:
            kind = self.type_of(named)
        else:
            argument = _unwrapped(node.child_by_field_name("value"))
            as_type = self.named_type(text_of(argument))
            kind = as_type or self.type_only(argument)
            if kind.kind == "array":
                text = self.expression(argument).text
                return Value(f"sizeof({text})", SIZE, nonnegative=True, small=True)
        if kind.is_pointer:
            return Value("8", SIZE, nonnegative=True, small=True, constant=8)
        return Value(f"sizeof({self.element(kind)})", SIZE, nonnegative=True, small=True)

    named_type: Callable[[str], CType | None]
    """The type of that name, or None."""

    def as_string(self, value: Value) -> str:
        """A value as a Python string."""
        if value.type.kind == "string" or (value.type.is_text and value.text[0] == '"'):
            return value.at(COMPARISON + 1)
        if value.type.is_text:
            return f"string({value.text})"
        if value.type.name == "char":
            return f"chr({value.text})"
        raise self.fail_text("a string of", str(value.type))

    def wrapped(self, value: Value) -> Value:
        """An unsigned result modulo its width; others as they are."""
        kind = value.type
        if not kind.is_integer or kind.signed or kind.kind == "bool":
            return value
        return Value(f"uint{kind.bits}({value.text})", kind, nonnegative=True)


def _fits(number: float, kind: CType) -> bool:
    low = -(1 << kind.bits - 1) if kind.signed else 0
    high = 1 << (kind.bits - 1 if kind.signed else kind.bits)
    return low <= number < high and number == int(number)
