"""Expressions in Python, with what C and the translator know of them."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass, replace
from typing import Any

from ..c_types import BOOL, INT, CType

__all__ = ["REASONS", "Untranslatable", "Value", "infix", "integer", "told", "truth"]


class Untranslatable(Exception):
    """A construct that the translator does not know; the message says which."""


# Beside what the rules refuse, the shape of a tree may be one that they do not expect.
REASONS: tuple[type[Exception], ...] = (Untranslatable, AttributeError, IndexError, KeyError)
REASONS += (RecursionError, StopIteration, SyntaxError, TypeError, ValueError)


def told(reason: Exception) -> str:
    """The reason that users read."""
    if isinstance(reason, RecursionError):
        return "a form that is nested too deeply"
    known = isinstance(reason, Untranslatable)
    return str(reason) if known else f"a form that is not known ({type(reason).__name__}: {reason})"


# How tightly Python's operators bind: by sign, and by what ``ast`` calls them.
_LEVELS = {":=": 0, "if": 1, "or": 2, "and": 3, "not": 4, "|": 6, "^": 7, "&": 8, "~": 12, ".": 14}
_LEVELS |= dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), 5)
_LEVELS |= {"<<": 9, ">>": 9, "+": 10, "-": 10, "*": 11, "/": 11, "//": 11, "%": 11}
_SIGNS = {"NamedExpr": ":=", "IfExp": "if", "Or": "or", "And": "and", "Not": "not", "Compare": "=="}
_SIGNS |= {"BitOr": "|", "BitXor": "^", "BitAnd": "&", "LShift": "<<", "RShift": ">>", "Add": "+"}
_SIGNS |= {"Sub": "-", "Mult": "*", "Div": "*", "Mod": "*", "FloorDiv": "*"}
_SIGNS |= {"USub": "~", "UAdd": "~", "Invert": "~"}


@functools.lru_cache(maxsize=4096)
def _level(text: str) -> int:
    """How tightly the outermost operator of a Python expression binds."""
    node: Any = ast.parse(text, mode="eval").body
    sign = type(getattr(node, "op", node)).__name__
    return _LEVELS[_SIGNS.get(sign, ".") if not node.col_offset else "."]


@dataclass(frozen=True)
class Value:
    """An expression in Python, with what C and the translator know of it.

    `bounds` are the numbers between which an integer lies (None: those of its type). A C float is
    `weak` while it is a plain number, which in Python takes the type of what it is combined with.
    `target` is what Python can assign to, if C can; `simple` says that this is a local name;
    `object` is the ctypes object that holds the variable, if there is one.
    """

    text: str
    type: CType
    bounds: tuple[int, int] | None = None
    weak: bool = False
    target: str = ""
    object: str = ""
    simple: bool = False

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number that it can be."""
        return self.bounds or self.type.range

    @property
    def nonnegative(self) -> bool:
        return self.type.is_integer and self.range[0] >= 0

    @property
    def constant(self) -> int | float | None:
        """Its value where the translator knows it."""
        if self.type.kind == "float":
            return float(self.text) if re.fullmatch(r"-?\d[\d.]*(e[-+]?\d+)?", self.text) else None
        low, high = self.range
        return low if low == high and self.type.is_integer else None

    @property
    def is_zero(self) -> bool:
        """Whether C takes it for a null pointer."""
        return self.text == "None" or self.constant == 0

    @property
    def is_condition(self) -> bool:
        """Whether it is True or False in Python."""
        return self.type.kind == "bool" or _level(self.text) in (_LEVELS["not"], _LEVELS["=="])

    def at(self, operator: str) -> str:
        """Its text where an operator (".": a call, index or member) surrounds it."""
        return self.text if _level(self.text) >= _LEVELS[operator] else f"({self.text})"

    def after(self, operator: str) -> str:
        """Its text as the right operand of an operator."""
        return self.text if _level(self.text) > _LEVELS[operator] else f"({self.text})"

    def typed(self, new: CType) -> Value:
        return replace(self, type=new)

    def read(self) -> Value:
        """What it is worth, without being a place."""
        return replace(self, target="", object="", simple=False)


def infix(left: Value, operator: str, right: Value) -> str:
    """The text of two values with an operator between them."""
    first = left.after(operator) if _LEVELS[operator] == _LEVELS["=="] else left.at(operator)
    return f"{first} {operator} {right.after(operator)}"


def truth(text: str, language: str = "") -> Value:
    """A comparison or condition: an int in C, a bool in C++."""
    return Value(text, INT if language == "c" else BOOL, (0, 1))


def integer(text: str, kind: CType, low: int, high: int) -> Value:
    """An integer result between two numbers: modulo its width, if it is unsigned and too large."""
    least, most = kind.range
    if not kind.signed and (low < least or high > most):
        return Value(f"uint{kind.bits}({text})", kind)
    return Value(text, kind, (max(low, least), min(high, most)))
