"""Expressions of C in Python: which rule translates which, and those that assign."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from .operators import Operators
from .program import children, text_of
from .types import (
    FLOAT,
    INT,
    common,
)
from .value import (
    ATOM,
    CONDITIONAL,
    OR,
    Place,
    Value,
)

__all__ = ["Expressions"]

# Functions that may be called once more without a difference.
_REPEATABLE = {"offset", "cast", "int_div", "int_mod", "sizeof", "data", "size", "Pointer", "value"}
_REPEATABLE |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


class Expressions(Operators):
    """All expressions but calls."""

    def expression(self, node: Any) -> Value:
        method = getattr(self, f"_{node.type}", None)
        if method is None or node.has_error:
            raise self.fail(node, f"no rule for {node.type.replace('_', ' ')}")
        value: Value = method(node)
        return value

    def _parenthesized_expression(self, node: Any) -> Value:
        return self.expression(children(node)[0])

    def _condition_clause(self, node: Any) -> Value:
        return self.expression(children(node)[-1])

    def _conditional_expression(self, node: Any) -> Value:
        self.conditional += 1
        condition = self.truth(node.child_by_field_name("condition"))
        first = self.expression(node.child_by_field_name("consequence"))
        second = self.expression(node.child_by_field_name("alternative"))
        self.conditional -= 1
        nonnegative = first.nonnegative and second.nonnegative
        if first.type.is_number and second.type.is_number and first.type != second.type:
            kind = common(first.type, second.type)
            first, second = self.convert(first, kind), self.convert(second, kind)
        elif first.text == "None":
            kind = second.type
        elif not (first.type.kind == second.type.kind or second.text == "None"):
            raise self.fail(node, f"a choice between {first.type} and {second.type}")
        else:
            kind = first.type
        text = f"{first.at(OR)} if {condition.at(OR)} else {second.at(CONDITIONAL)}"
        weak = first.weak or second.weak
        if weak and kind == FLOAT:
            return Value(f"float32({text})", FLOAT)
        return Value(text, kind, CONDITIONAL, nonnegative, first.small and second.small)

    def _comma_expression(self, node: Any) -> Value:
        self.conditional += 1
        left = self.expression(node.child_by_field_name("left"))
        right = self.expression(node.child_by_field_name("right"))
        self.conditional -= 1
        return replace(right, text=f"({left.text}, {right.text})[-1]", level=ATOM)

    def _assignment_expression(self, node: Any) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = text_of(node.child_by_field_name("operator"))[:-1]
        place = self.place(left)
        self.require_repeatable(node, place.target)
        value = self.assigned(node, place, operator, right)
        return self._stored(node, place, value)

    def assigned(self, node: Any, place: Place, operator: str, right: Any) -> Value:
        """What ``place operator= right`` stores."""
        if not operator:
            return self.converted(right, place.type)
        value = self.expression(right)
        return self.convert(self.computed(node, operator, place.read(), value), place.type)

    def _stored(self, node: Any, place: Place, value: Value) -> Value:
        self.note_write(place)
        if self.conditional and place.simple:
            return replace(value, text=f"({place.target} := {value.text})", level=ATOM, weak=False)
        if self.conditional:
            raise self.fail(node, "an assignment that only happens sometimes")
        self.before.append(f"{place.target} = {value.text}")
        return place.read()

    def note_write(self, place: Place) -> None:
        """Note that a function assigns to a global variable."""
        name = place.target
        is_global = any(one.name == name for one in self.scopes[0].values())
        if is_global and not place.simple and len(self.scopes) > 1:
            self.global_writes.add(name)

    def require_repeatable(self, node: Any, target: str) -> None:
        """Refuse a target that Python would compute twice where C does it once."""
        if set(re.findall(r"(\w+)\(", target)) - _REPEATABLE:
            raise self.fail(node, "a change of what a call chooses")

    def _update_expression(self, node: Any) -> Value:
        place = self.place(node.child_by_field_name("argument"))
        self.require_repeatable(node, place.target)
        operator = text_of(node.child_by_field_name("operator"))[0]
        one = Value("1", INT, nonnegative=True, constant=1, weak=True, small=True)
        changed = self.convert(self.computed(node, operator, place.read(), one), place.type)
        self.note_write(place)
        is_prefix = node.children[0].type in ("++", "--")
        old = place.read()
        if not self.conditional:
            (self.before if is_prefix else self.after).append(f"{place.target} = {changed.text}")
            return old
        if not place.simple:
            raise self.fail(node, "an assignment that only happens sometimes")
        if is_prefix:
            return replace(changed, text=f"({place.target} := {changed.text})", level=ATOM)
        text = f"({old.text}, {place.target} := {changed.text})[0]"
        return replace(old, text=text, level=ATOM)

    def _call_expression(self, node: Any) -> Value:
        return self.call(node)
