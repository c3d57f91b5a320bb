"""Which branches of a program the preprocessor leaves out with cuDNN 9."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..raw import constants
from .source import Source

__all__ = ["holds", "left_out"]

_KNOWN = {
    "CUDNN_MAJOR": constants.CUDNN_MAJOR,
    "CUDNN_MINOR": constants.CUDNN_MINOR,
    "CUDNN_PATCHLEVEL": constants.CUDNN_PATCHLEVEL,
    "CUDNN_VERSION": constants.CUDNN_VERSION,
}


def left_out(source: Source) -> Iterator[tuple[int, int]]:
    """First and last line of each branch that only other releases of cuDNN compile."""
    for node in source.root.find("preproc_if", "preproc_elif"):
        value, other = holds(node["condition"].text), node["alternative"]
        if value is False:  # up to the line before the next branch begins
            yield node.line + 1, other.line - 1 if other else node.last_line
        elif value is True and other:
            yield other.line, other.last_line


def holds(condition: str) -> bool | None:
    """Whether a condition on the version of cuDNN holds; None if it asks for something else.

    Examples
    --------
    >>> holds("CUDNN_MAJOR >= 8"), holds("CUDNN_VERSION < 7000"), holds("USE_DOUBLE")
    (True, False, None)
    """
    text = re.sub(r"\bdefined\s*\(?\s*(CUDNN_(?:MAJOR|VERSION))\s*\)?", "1", condition)
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    try:
        return bool(_value(ast.parse(" ".join(text.split()), mode="eval").body))
    except (SyntaxError, LookupError, ZeroDivisionError):
        return None


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _value(node: ast.AST) -> Any:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name) if name in _KNOWN:
            return _KNOWN[name]
        case ast.BoolOp(op=op, values=values):
            return _all_or_any(isinstance(op, ast.And), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left), _value(right))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id="CUDNN_VERSION_MIN"), args=[major, minor, patch]):
            # A macro that frameworks define; releases before 9 counted in thousands.
            wanted = _value(major), _value(minor), _value(patch)
            return tuple(_KNOWN.values())[:3] >= wanted
    raise LookupError("not about the version of cuDNN")


def _all_or_any(every: bool, values: list[ast.expr]) -> bool:
    """``&&`` or ``||`` as in C: an unknown value does not matter if the others decide."""
    unknown = False
    for each in values:
        try:
            value = bool(_value(each))
        except LookupError:
            unknown = True
            continue
        if value != every:
            return value
    if unknown:
        raise LookupError("not about the version of cuDNN alone")
    return every
