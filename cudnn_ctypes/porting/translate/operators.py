"""Operators of C in Python: arithmetic, comparisons, conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .conversions import Conversions
from .program import text_of
from .types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    PRIMITIVES,
    SIZE,
    STRING,
    CType,
    common,
    pointer_to,
    promoted,
)
from .value import (
    ADDITIVE,
    AND,
    ATOM,
    BITAND,
    BITOR,
    BITXOR,
    COMPARISON,
    MULTIPLICATIVE,
    NOT,
    OR,
    SHIFT,
    UNARY,
    Value,
)

__all__ = ["Operators"]

_LEVELS = {
    "*": MULTIPLICATIVE,
    "/": MULTIPLICATIVE,
    "%": MULTIPLICATIVE,
    "+": ADDITIVE,
    "-": ADDITIVE,
    "<<": SHIFT,
    ">>": SHIFT,
    "&": BITAND,
    "^": BITXOR,
    "|": BITOR,
}
_COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")


class Operators(Conversions):
    """Operators that give a value."""

    def _unary_expression(self, node: Any) -> Value:
        operator = text_of(node.child_by_field_name("operator"))
        argument = node.child_by_field_name("argument")
        if operator in ("!", "not"):
            return self.negated(argument)
        value = self.expression(argument)
        if not value.type.is_number:
            raise self.fail(node, f"{operator} of {value.type}")
        kind = promoted(value.type)
        if operator == "+":
            return value.typed(kind)
        if operator == "-":
            constant = None if value.constant is None else -value.constant
            found = Value(f"-{value.at(UNARY)}", kind, UNARY, weak=value.weak, constant=constant)
            return self.wrapped(replace(found, small=value.small))
        if operator == "~" and kind.is_integer:
            return self.wrapped(Value(f"~{value.at(UNARY)}", kind, UNARY))
        raise self.fail(node, "an operator that is not known")

    def truth(self, node: Any) -> Value:
        """A condition, for ``if``, ``while``, ``and``, ``or`` and ``not``."""
        value = self.expression(node)
        if value.type.is_pointer or value.type.kind == "opaque":
            return Value(f"not is_null({value.text})", BOOL, NOT)
        if not value.type.is_number and value.type.kind != "stream":
            raise self.fail(node, f"the truth of {value.type}")
        return value

    def negated(self, node: Any) -> Value:
        """C's ``!node``."""
        value = self.truth(node)
        if value.text.startswith("not is_null(") and value.level == NOT:
            return Value(value.text[4:], BOOL, nonnegative=True)
        found = Value(f"not {value.at(NOT)}", BOOL, NOT, nonnegative=True, small=True)
        return found.typed(INT if self.program.language == "c" else BOOL)

    def _binary_expression(self, node: Any) -> Value:
        operator = text_of(node.child_by_field_name("operator"))
        left_node = node.child_by_field_name("left")
        right_node = node.child_by_field_name("right")
        if operator in ("&&", "||", "and", "or"):
            return self._logical(operator, left_node, right_node)
        left = self.expression(left_node)
        if left.type.kind == "stream" and operator in ("<<", ">>"):
            raise self.fail(node, "a stream within an expression")
        right = self.expression(right_node)
        if operator in _COMPARISONS:
            return self.compared(node, operator, left, right)
        return self.computed(node, operator, left, right)

    def _logical(self, operator: str, left_node: Any, right_node: Any) -> Value:
        word, level = ("and", AND) if operator in ("&&", "and") else ("or", OR)
        self.conditional += 1
        left = self.truth(left_node)
        right = self.truth(right_node)
        self.conditional -= 1
        kind = INT if self.program.language == "c" else BOOL
        plain = all(
            one.type.kind == "bool" or one.level in (NOT, COMPARISON) for one in (left, right)
        )
        text = f"{left.at(level)} {word} {right.at(level + 1)}"
        # Python's result is one of the operands; only as a condition is it C's.
        return Value(text, kind if plain else CType("bool", "truth", 8, False), level)

    def compared(self, node: Any, operator: str, left: Value, right: Value) -> Value:
        """A comparison."""
        kind = INT if self.program.language == "c" else BOOL
        known = {"nonnegative": True, "small": True}
        nulls = [one for one in (left, right) if one.text == "None" or one.constant == 0]
        pointers = [
            one for one in (left, right) if one.type.is_pointer or one.type.kind == "opaque"
        ]
        if pointers and nulls and operator in ("==", "!="):
            other = right if nulls[0] is left else left
            negation = "not " if operator == "!=" else ""
            level = NOT if negation else ATOM
            return Value(f"{negation}is_null({other.text})", kind, level, **known)
        if "string" in (left.type.kind, right.type.kind):
            text = f"{self.as_string(left)} {operator} {self.as_string(right)}"
            return Value(text, kind, COMPARISON, **known)
        if len(pointers) == 2:
            return self._compared_pointers(operator, left, right, kind)
        if left.type.is_number and right.type.is_number:
            left, right = self._alike(left, right)
            text = f"{left.at(COMPARISON + 1)} {operator} {right.at(COMPARISON + 1)}"
            return Value(text, kind, COMPARISON, **known)
        raise self.fail(node, f"comparing {left.type} with {right.type}")

    def _compared_pointers(self, operator: str, left: Value, right: Value, kind: CType) -> Value:
        if operator in ("==", "!="):
            negation = "not " if operator == "!=" else ""
            level = NOT if negation else ATOM
            return Value(f"{negation}same({left.text}, {right.text})", kind, level)
        first, second = (right, left) if operator in (">", "<=") else (left, right)
        negation = "not " if operator in (">=", "<=") else ""
        text = f"{negation}precedes({first.text}, {second.text})"
        return Value(text, kind, NOT if negation else ATOM)

    def _alike(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Two numbers for a comparison: as C converts them, where Python would differ."""
        kind = common(left.type, right.type)
        if kind.kind == "float":
            return self._float_operand(left, kind), self._float_operand(right, kind)
        return self._integer_operand(left, kind), self._integer_operand(right, kind)

    def _float_operand(self, value: Value, kind: CType) -> Value:
        exact = value.constant is not None and abs(value.constant) < 1e30
        if kind.bits == 64 and value.type.kind == "float" and value.type.bits < 64:
            if value.constant is not None:
                return Value(repr(float(np.float32(value.constant))), DOUBLE)
            return Value(f"float({value.text})", DOUBLE)
        if kind.bits == 32 and value.type.bits == 16:
            return Value(f"float32({value.text})", FLOAT)
        if exact and kind.bits == 64 and value.type.kind == "float":
            return value
        return value

    def _integer_operand(self, value: Value, kind: CType) -> Value:
        if kind.signed or value.nonnegative or not value.type.signed:
            return value
        if value.constant is not None and value.constant >= 0:
            return value
        return Value(f"uint{kind.bits}({value.text})", kind, nonnegative=True)

    def computed(self, node: Any, operator: str, left: Value, right: Value) -> Value:
        """An arithmetic operator."""
        if operator == "+" and "string" in (left.type.kind, right.type.kind):
            text = f"{self.as_string(left)} + {self.as_string(right)}"
            return Value(text, STRING, ADDITIVE)
        if left.type.is_pointer or right.type.is_pointer:
            return self._pointer_arithmetic(node, operator, left, right)
        if not (left.type.is_number and right.type.is_number):
            raise self.fail(node, f"{operator} of {left.type} and {right.type}")
        if operator in ("<<", ">>"):
            return self._shifted(operator, left, right)
        kind = common(left.type, right.type)
        if kind.kind == "float":
            return self._computed_float(node, operator, left, right, kind)
        return self._computed_integer(node, operator, left, right, kind)

    def _pointer_arithmetic(self, node: Any, operator: str, left: Value, right: Value) -> Value:
        if operator == "-" and left.type.is_pointer and right.type.is_pointer:
            element = self.element(left.type.pointed)
            return Value(f"difference({left.text}, {right.text}, {element})", PRIMITIVES["long"])
        if operator == "+" and right.type.is_pointer:
            left, right = right, left
        if operator in "+-" and right.type.is_integer:
            if left.type.pointed.is_object and self.by_reference(pointer_to(left.type.pointed)):
                if left.type.kind == "array" and operator == "+":
                    return Value(f"{left.at(ATOM)}[{right.text}]", pointer_to(left.type.pointed))
                raise self.fail(node, f"moving {left.type}")
            return self.moved(left, right, operator)
        raise self.fail(node, f"{operator} of {left.type} and {right.type}")

    def _shifted(self, operator: str, left: Value, right: Value) -> Value:
        kind = promoted(left.type)
        if not (kind.is_integer and right.type.is_integer):
            raise self.fail_text("a shift of", str(left.type))
        text = f"{left.at(SHIFT)} {operator} {right.at(SHIFT + 1)}"
        value = Value(text, kind, SHIFT, nonnegative=left.nonnegative, small=left.small)
        constants = (left.constant, right.constant)
        if operator == ">>":
            return value
        if not kind.signed:
            return self.wrapped(value)
        if None not in constants:
            result = int(left.constant or 0) << int(right.constant or 0)
            if result < 1 << kind.bits - 1:
                return replace(value, constant=result)
        if left.constant == 1:
            return value
        return Value(f"int{kind.bits}({text})", kind)

    def _computed_float(
        self, node: Any, operator: str, left: Value, right: Value, kind: CType
    ) -> Value:
        if operator not in "+-*/":
            raise self.fail(node, f"{operator} of floating point numbers")
        left, right = self._float_operand(left, kind), self._float_operand(right, kind)
        if kind.bits == 32:
            strong = [one.type.kind == "float" and not one.weak for one in (left, right)]
            if not any(strong):
                left = Value(f"float32({left.text})", FLOAT)
        if kind.bits == 64 and operator == "/" and not right.constant:
            return Value(f"divide({left.text}, {right.text})", kind)
        level = _LEVELS[operator]
        return Value(f"{left.at(level)} {operator} {right.at(level + 1)}", kind, level)

    def _computed_integer(
        self, node: Any, operator: str, left: Value, right: Value, kind: CType
    ) -> Value:
        product = operator == "*" and any("sizeof(" in one.text for one in (left, right))
        if not kind.signed and not product:
            left, right = self._integer_operand(left, kind), self._integer_operand(right, kind)
        level = _LEVELS[operator]
        both = (left.nonnegative or not left.type.signed) and (
            right.nonnegative or not right.type.signed
        )
        constant = _constant(operator, left.constant, right.constant)
        if operator in "/%":
            if not both:
                name = "int_div" if operator == "/" else "int_mod"
                text = f"{name}({left.text}, {right.text})"
                return Value(text, kind, nonnegative=False, constant=constant)
            operator = "//" if operator == "/" else operator
        text = f"{left.at(level)} {operator} {right.at(level + 1)}"
        nonnegative = both and operator != "-"
        if operator == "&" and (left.nonnegative or right.nonnegative):
            nonnegative = True
        if constant is not None:
            nonnegative = constant >= 0
        small = (
            (left.small and right.small)
            if kind.signed
            else (operator in ("//", "%", "&", "|", "^") and left.small)
        )
        value = Value(text, kind, level, nonnegative, small, left.weak and right.weak, constant)
        if operator in ("+", "-", "*") and constant is None:
            return self._overflowing(operator, value, left, right)
        return value

    def _overflowing(self, operator: str, value: Value, left: Value, right: Value) -> Value:
        """Wrap what C would wrap; sizes in bytes do not come near the end of size_t."""
        kind = value.type
        if kind.signed:
            large = [one for one in (left, right) if abs(one.constant or 0) > 65535]
            if operator == "*" and large:
                return Value(f"int{kind.bits}({value.text})", kind)
            return value
        if kind == SIZE and operator in "+*":
            return replace(value, nonnegative=True)
        return self.wrapped(value)


def _constant(operator: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    try:
        if operator in "/%":
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if operator == "/" else left - right * quotient
        return {
            "+": left + right,
            "-": left - right,
            "*": left * right,
            "&": left & right,
            "|": left | right,
            "^": left ^ right,
        }[operator]
    except ZeroDivisionError:
        return None
