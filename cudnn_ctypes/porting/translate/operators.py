"""Operators of C in Python: arithmetic, comparisons, conditions, assignments."""

from __future__ import annotations

import re
from dataclasses import replace

from .. import c_types as c
from ..c_types import CType, common, pointer_to, promoted
from ..syntax import Node
from .conversions import CONDITION
from .names import Names, number
from .preprocess import brackets
from .values import Value, infix, integer, truth

__all__ = ["Operators"]

# Functions that may be called once more without a difference.
_REPEATABLE = {"offset", "cast", "int_div", "int_mod", "sizeof", "data", "size", "Pointer", "value"}
_REPEATABLE |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_PLACES: tuple[str, ...] = (
    "identifier",
    "field_expression",
    "subscript_expression",
    "pointer_expression",
)
_PLACES += ("conditional_expression", "assignment_expression", "comma_expression")


class Operators(Names):
    """Operators and what surrounds them."""

    def expression(self, node: Node) -> Value:
        self.spend(1)
        method = getattr(self, f"_{node.kind}", None)
        if method is None or node.tree.has_error:
            raise self.fail(node, f"no rule for {node.kind.replace('_', ' ')}")
        value: Value = method(node)
        return value

    def _parenthesized_expression(self, node: Node) -> Value:
        return self.expression(node.children[-1])

    _condition_clause = _parenthesized_expression

    def _conditional_expression(self, node: Node) -> Value:
        self.conditional += 1
        condition = self.truth(node["condition"])
        first = self.expression(node["consequence"])
        second = self.expression(node["alternative"])
        self.conditional -= 1
        kind = second.type if first.text == "None" else first.type
        if first.type.is_number and second.type.is_number:
            kind = common(first.type, second.type) if first.type != second.type else kind
            first, second = self.convert(first, kind), self.convert(second, kind)
        elif "None" not in (first.text, second.text) and first.type.kind != second.type.kind:
            raise self.fail(node, f"a choice between {first.type} and {second.type}")
        text = f"{first.after('if')} if {condition.after('if')} else {second.at('if')}"
        bounds = min(first.range[0], second.range[0]), max(first.range[1], second.range[1])
        return Value(text, kind, bounds if kind.is_integer else None)

    def _comma_expression(self, node: Node) -> Value:
        self.conditional += 1
        left, right = self.expression(node["left"]), self.expression(node["right"])
        self.conditional -= 1
        return replace(right.read(), text=f"({left.text}, {right.text})[-1]")

    def _unary_expression(self, node: Node) -> Value:
        operator = node.operator
        if operator == "!":
            value = self.truth(node["argument"])
            null = value.text.startswith("not is_null(")
            return truth(
                value.text[4:] if null else f"not {value.at('not')}", self.program.language
            )
        value = self.expression(node["argument"])
        kind = promoted(value.type)
        low, high = value.range
        if kind.is_number and operator == "-":
            return self.negative(value)
        if kind.is_integer and operator == "~":
            return integer(f"~{value.at('~')}", kind, ~high, ~low)
        if kind.is_number and operator == "+":
            return value.read().typed(kind)
        raise self.fail(node, f"{operator} of {value.type}")

    def truth(self, node: Node) -> Value:
        """A condition, for ``if``, ``while``, ``and``, ``or`` and ``not``."""
        value = self.expression(node)
        if value.type.is_pointer or value.type.kind == "opaque":
            return Value(f"not is_null({value.text})", c.BOOL)
        self.refuse(not value.type.is_number, node, f"the truth of {value.type}")
        return value

    def _binary_expression(self, node: Node) -> Value:
        if node.operator not in ("&&", "||"):
            left, right = self.expression(node["left"]), self.expression(node["right"])
            return self.computed(node, node.operator, left, right)
        self.conditional += 1
        left, right = self.truth(node["left"]), self.truth(node["right"])
        self.conditional -= 1
        value = truth(infix(left, "and" if node.operator == "&&" else "or", right))
        plain = left.is_condition and right.is_condition
        kind = c.INT if self.program.language == "c" else c.BOOL
        return value.typed(kind if plain else CONDITION)

    def computed(self, node: Node, operator: str, left: Value, right: Value) -> Value:
        """What an operator makes of two values."""
        kinds = (left.type.kind, right.type.kind)
        pointers = left.type.is_pointer or right.type.is_pointer or "opaque" in kinds
        if operator in ("==", "!=", "<", ">", "<=", ">="):
            return truth(self._compared(node, operator, left, right), self.program.language)
        if operator == "+" and "string" in kinds:
            return Value(f"{self.as_string(left)} + {self.as_string(right)}", c.STRING)
        if kinds == ("duration", "duration") and operator in "+-" and left.type == right.type:
            return Value(infix(left, operator, right), left.type)
        if pointers:
            return self._pointer_arithmetic(node, operator, left, right)
        if not (left.type.is_number and right.type.is_number):
            raise self.fail(node, f"{operator} of {left.type} and {right.type}")
        is_shift = operator in ("<<", ">>")
        kind = promoted(left.type) if is_shift else common(left.type, right.type)
        if kind.is_integer:
            return self._computed_integer(operator, left, right, kind)
        if operator not in "+-*/" or is_shift:
            raise self.fail(node, f"{operator} of floating point numbers")
        left, right = self.operand(left, kind), self.operand(right, kind)
        strong = any(one.type.kind == "float" and not one.weak for one in (left, right))
        if kind == c.FLOAT and not strong:
            left = Value(f"float32({left.text})", c.FLOAT)
        if kind != c.FLOAT and operator == "/" and not right.constant:
            return Value(f"divide({left.text}, {right.text})", kind)
        return Value(infix(left, operator, right), kind)

    def _compared(self, node: Node, operator: str, left: Value, right: Value) -> str:
        pointers = [x for x in (left, right) if x.type.is_pointer or x.type.kind == "opaque"]
        negation = "not " if operator in ("!=", ">=", "<=") else ""
        if pointers and operator in ("==", "!=") and (left.is_zero or right.is_zero):
            return f"{negation}is_null({right.text if left.is_zero else left.text})"
        if len(pointers) == 2 and operator in ("==", "!="):
            return f"{negation}same({left.text}, {right.text})"
        if len(pointers) == 2:
            first, second = (right, left) if operator in (">", "<=") else (left, right)
            return f"{negation}precedes({first.text}, {second.text})"
        if not (left.type.is_number and right.type.is_number):
            raise self.fail(node, f"comparing {left.type} with {right.type}")
        kind = common(left.type, right.type)
        return infix(self.operand(left, kind), operator, self.operand(right, kind))

    def _pointer_arithmetic(self, node: Node, operator: str, left: Value, right: Value) -> Value:
        if operator == "-" and left.type.is_pointer and right.type.is_pointer:
            element = self.element(left.type.pointed)
            return Value(f"difference({left.text}, {right.text}, {element})", c.LONG)
        if operator == "+" and right.type.is_pointer:
            left, right = right, left
        to = left.type.pointed
        if operator not in ("+", "-") or not right.type.is_integer:
            raise self.fail(node, f"{operator} of {left.type} and {right.type}")
        if not self.by_reference(to):
            return self.moved(left, right, operator)
        if left.type.kind == "array" and operator == "+":
            return Value(f"{left.at('.')}[{right.text}]", pointer_to(to))
        raise self.fail(node, f"moving {left.type}")

    def _computed_integer(self, operator: str, left: Value, right: Value, kind: CType) -> Value:
        is_product = operator == "*" and "sizeof(" in left.text + right.text
        if operator not in ("<<", ">>") and not is_product:
            left, right = self.operand(left, kind), self.operand(right, kind)
        low, high = _bounds(operator, left.range, right.range) or kind.range
        if operator in ("/", "%") and not (left.nonnegative and right.nonnegative):
            name = "int_div" if operator == "/" else "int_mod"
            return integer(f"{name}({left.text}, {right.text})", kind, low, high)
        text = infix(left, "//" if operator == "/" else operator, right)
        if kind == c.SIZE and operator in "+*":  # sizes in bytes do not come near its end
            return Value(text, kind, (max(low, 0), min(high, kind.range[1])))
        large = any(abs(one.constant or 0) > 65535 for one in (left, right))
        shifts = operator == "<<" and (left.constant != 1 or right.constant is not None)
        grows = shifts or (operator == "*" and large)
        if kind.signed and grows and not kind.range[0] <= low <= high <= kind.range[1]:
            return Value(f"int{kind.bits}({text})", kind)
        return integer(text, kind, low, high)

    # Assignments.

    def _assignment_expression(self, node: Node) -> Value:
        return self.change(node)

    _update_expression = _assignment_expression

    def change(self, node: Node, *, used: bool = True) -> Value:
        """An assignment, ``++`` or ``--``; Python does it before or after the line."""
        left, right = node["left"] or node["argument"], node["right"]
        place = self.place(left)
        kind, operator = place.type, node.operator[:-1]
        self.refuse(kind.kind in ("stream", "array"), node, f"assigning to {kind}")
        if operator:
            other = self.expression(right) if right else number(1)
            value = self.convert(self.computed(node, operator, place.read(), other), kind)
            text = value.text
        else:
            value = self.converted(right, kind)
            text = self.copied(value, right)
        if kind.is_object and text == "None":
            text = f"{self.element(kind)}()"
        if kind.kind == "integer" and kind.signed and right and _grows(place.target, text):
            text = f"int{kind.bits}({text})"
        line = _shortened(place.target, text, operator)
        repeated = used or (operator and line.startswith(f"{place.target} = "))
        if repeated and set(re.findall(r"(\w+)\(", place.target)) - _REPEATABLE:
            raise self.fail(node, "a change of what a call chooses")
        is_handle = left.kind == "pointer_expression" and place.text == place.target
        if kind.is_object and (is_handle or self._is_shared(left, kind)):
            line = f"assign({place.target}, {text})"
        self.note_write(place)
        is_late = not right and node.tree.children[0].type not in ("++", "--")
        if self.conditional:
            self.refuse(not place.simple, node, "an assignment that only happens sometimes")
            change = f"({place.target} := {text})"
            return Value(f"({place.text}, {change[1:-1]})[0]" if is_late else change, kind)
        (self.after if is_late else self.before).append(line)
        return place.read()

    def _is_shared(self, place: Node, kind: CType) -> bool:
        """Whether pointers or references to an object of the program may live."""
        variable = self.lookup(place.text) if place.kind == "identifier" else None
        maker = self.record and self.function and self.function.name == self.record.name
        if maker and variable is None:  # the members of an object that is made
            return False
        hidden = variable and not (variable.refers or variable.is_global)
        is_own = kind.kind == "vector" or kind.name in self.program.records
        return is_own and not (hidden and place.text not in self.addressed)

    def note_write(self, place: Value) -> None:
        """Note that a function assigns to a global variable."""
        if len(self.scopes) > 1 and not place.simple:
            names = {one.name for one in self.scopes[0].values()}
            self.global_writes |= names & {place.target}

    def copied(self, value: Value, node: Node) -> str:
        """The text of a value that another variable takes."""
        is_value = value.type.kind in ("struct", "opaque", "vector") and value.text != "None"
        inner = node.stripped
        name = re.split(r"\W+", inner.called)[-1]
        refers = any(one.result.reference for one in self.program.named(name))
        refers = refers or name in ("front", "back")
        is_place = inner.kind in _PLACES or refers
        return f"copied({value.text})" if is_value and is_place else value.text


def _bounds(operator: str, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int] | None:
    """Between which numbers a result lies, if that is known."""
    (a, b), (p, q) = left, right
    positive = a >= 0 and p >= 0
    corners = (a * p, a * q, b * p, b * q)
    most, shift = max(abs(a), abs(b)), max(0, min(q, 64))
    masks = [high for low, high in (left, right) if low >= 0]
    return {
        "+": (a + p, b + q),
        "-": (a - q, b - p),
        "*": (min(corners), max(corners)),
        "<<": (min(a, 0) << shift, max(b, 0) << shift),
        ">>": (min(a, 0), max(b, 0)),
        "/": (0 if positive else -most, most),
        "%": (min(a, 0), max(0, min(b, q - 1) if p > 0 else b)),
        "&": (0, min(masks)) if masks else None,
    }.get(operator, (0, (1 << max(b, q).bit_length()) - 1) if positive else None)


def _shortened(target: str, text: str, operator: str) -> str:
    """``a += b`` for ``a = a + b``."""
    for sign in {operator, "//" if operator == "/" else operator} if operator else ():
        if text.startswith(f"{target} {sign} "):
            rest = text[len(f"{target} {sign} ") :]
            bare = rest[0] == "(" and brackets(rest, 0)[0] == len(rest) - 1
            return f"{target} {sign}= {rest[1:-1] if bare else rest}"
    return f"{target} = {text}"


def _grows(target: str, text: str) -> bool:
    """Whether a number is multiplied by a constant and stored again, as a hash is."""
    name = re.escape(target)
    factor = rf"(?<![\w.]){name} \* \d|\d \* {name}(?![\w.])|int32\({name} <<"
    return bool(re.search(factor, text))
