"""The integers that conditions of ``#if`` are made of, computed on the parse tree as C does."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from ..source import parse_text
from ..syntax import Node
from .values import Untranslatable

__all__ = ["holds"]

_NUMBER = re.compile(r"(-?)(0[xX][\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)([uU]?)[lL]*([uU]?)")
_SAME = {"and": "&&", "or": "||", "not": "!", "compl": "~", "bitand": "&", "bitor": "|"}
_SAME |= {"xor": "^", "not_eq": "!="}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_RESULTS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_SIGNS: dict[str, Callable[[int], int]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
}


def holds(text: str) -> bool:
    """Whether a condition is met, in which macros are written out.

    Raises
    ------
    Untranslatable
        If it is no expression of integers.
    """
    root = parse_text(f"int condition = ({text}\n);", language="cpp").root
    value = next(root.find("init_declarator"), Node(None))["value"]
    if root.errors or len(root.children) != 1 or not value:
        raise Untranslatable(f"a condition that is not known: {text[:60]}")
    try:
        return _value(value)[0] != 0
    except RecursionError:
        raise Untranslatable("a condition that is nested too deeply") from None


def _value(node: Node) -> tuple[int, bool]:
    """The value of an expression, and whether it is unsigned."""
    sign = _SAME.get(node.operator, node.operator)
    if node.kind == "parenthesized_expression" and len(node.children) == 1:
        return _value(node.children[0])
    if node.kind == "number_literal" and (match := _NUMBER.fullmatch(node.text.replace("'", ""))):
        digits = match[2]
        number = int(digits, 8 if re.match("0[0-7]", digits) else 0)
        return _wrapped(-number if match[1] else number, bool(match[3] or match[4] or number >> 63))
    if node.kind == "char_literal" and re.fullmatch(r"'[^\\]'", node.text):
        return ord(node.text[1]), False
    if node.kind in ("true", "false"):
        return int(node.kind == "true"), False
    if node.kind == "conditional_expression":
        chosen = "consequence" if _value(node["condition"])[0] else "alternative"
        return _value(node[chosen])
    if node.kind == "unary_expression":
        value, unsigned = _value(node["argument"])
        return (int(not value), False) if sign == "!" else _wrapped(_SIGNS[sign](value), unsigned)
    if node.kind == "binary_expression":
        return _combined(node, sign)
    raise Untranslatable(f"a condition that is not known: {node.text[:60]}")


def _combined(node: Node, sign: str) -> tuple[int, bool]:
    left, unsigned = _value(node["left"])
    if sign in ("&&", "||") and bool(left) == (sign == "||"):
        return int(bool(left)), False
    right, other = _value(node["right"])
    if sign in ("&&", "||"):
        return int(bool(right)), False
    if sign in ("<<", ">>") and 0 <= right < 64:
        return _wrapped(left << right if sign == "<<" else left >> right, unsigned)
    (left, _), (right, _) = (_wrapped(one, unsigned or other) for one in (left, right))
    if sign in _COMPARISONS:
        return int(_COMPARISONS[sign](left, right)), False
    if sign in ("/", "%") and right:
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return _wrapped(quotient if sign == "/" else left - right * quotient, unsigned or other)
    if sign not in _RESULTS:
        raise Untranslatable(f"a condition that is not known: {node.text[:60]}")
    return _wrapped(_RESULTS[sign](left, right), unsigned or other)


def _wrapped(value: int, unsigned: bool) -> tuple[int, bool]:
    """An integer of 64 bits."""
    value &= (1 << 64) - 1
    return (value if unsigned or value < 1 << 63 else value - (1 << 64)), unsigned
