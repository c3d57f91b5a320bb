"""Literals and named constants of C in Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..runtime.containers import MANIPULATORS
from .base import Base
from .libraries import foreign, foreign_type
from .preprocess import Macro
from .program import children, text_of
from .types import (
    BOOL,
    CHAR,
    DOUBLE,
    FILE,
    FLOAT,
    INT,
    PRIMITIVES,
    SIZE,
    TEXT,
    VOID_POINTER,
    CType,
    pointer_to,
)
from .value import (
    ATOM,
    UNARY,
    Value,
)

__all__ = ["Literals"]

# Numbers that headers of C define.
_C_CONSTANTS: dict[str, Value] = {
    "NULL": Value("None", VOID_POINTER, constant=0),
    "true": Value("True", BOOL, constant=1, nonnegative=True, small=True),
    "false": Value("False", BOOL, constant=0, nonnegative=True, small=True),
    "EOF": Value("-1", INT, UNARY, constant=-1),
    "EXIT_SUCCESS": Value("0", INT, constant=0, nonnegative=True),
    "EXIT_FAILURE": Value("1", INT, constant=1, nonnegative=True),
    "RAND_MAX": Value("2147483647", INT, constant=2147483647, nonnegative=True),
    "INT_MAX": Value("2147483647", INT, constant=2147483647, nonnegative=True),
    "INT_MIN": Value("-2147483648", INT, UNARY, constant=-2147483648),
    "UINT_MAX": Value("0xFFFFFFFF", PRIMITIVES["unsigned int"], nonnegative=True),
    "SIZE_MAX": Value("0xFFFFFFFFFFFFFFFF", SIZE, nonnegative=True),
    "FLT_MAX": Value("float32(3.4028234663852886e38)", FLOAT),
    "FLT_MIN": Value("float32(1.1754943508222875e-38)", FLOAT),
    "FLT_EPSILON": Value("float32(1.1920928955078125e-07)", FLOAT),
    "DBL_MAX": Value("1.7976931348623157e308", DOUBLE),
    "DBL_EPSILON": Value("2.220446049250313e-16", DOUBLE),
    "INFINITY": Value('float32("inf")', FLOAT),
    "HUGE_VALF": Value('float32("inf")', FLOAT),
    "HUGE_VAL": Value('float("inf")', DOUBLE),
    "NAN": Value('float32("nan")', FLOAT),
    "M_PI": Value("3.141592653589793", DOUBLE),
    "M_PI_2": Value("1.5707963267948966", DOUBLE),
    "M_E": Value("2.718281828459045", DOUBLE),
    "SEEK_SET": Value("0", INT, constant=0),
    "SEEK_CUR": Value("1", INT, constant=1),
    "SEEK_END": Value("2", INT, constant=2),
    "CLOCKS_PER_SEC": Value("1000000", PRIMITIVES["long"], constant=1000000),
    **{
        f"PRI{kind}{bits}": Value(f'"{"l" if bits == 64 else ""}{kind}"', TEXT)
        for kind in "dux"
        for bits in (32, 64)
    },
    "stdout": Value("stdout", pointer_to(FILE)),
    "stderr": Value("stderr", pointer_to(FILE)),
    "stdin": Value("stdin", pointer_to(FILE)),
}
_NULLS = ("NULL", "nullptr")


class Literals(Base):
    """Literals and names that stand for values."""

    def _number_literal(self, node: Any) -> Value:
        text = text_of(node).replace("'", "").replace(" ", "")
        if text[0] in "+-":
            return self._negative_literal(node, text)
        return self._unsigned_literal(node, text)

    def _negative_literal(self, node: Any, text: str) -> Value:
        value = self._unsigned_literal(node, text[1:])
        if text[0] == "+":
            return value
        constant = None if value.constant is None else -value.constant
        negative = replace(value, text=f"-{value.text}", level=UNARY, constant=constant)
        return self.wrapped(replace(negative, nonnegative=False))

    def _unsigned_literal(self, node: Any, text: str) -> Value:
        if re.search(r"[.]|[eE][-+]?\d|[pP]", text) and not text.lower().startswith("0x"):
            number = text.rstrip("fFlL")
            single = text[-1] in "fF"
            shown = repr(float(number)) if number[0] == "." or number[-1] == "." else number
            shown = re.sub(r"\.(?=[eE])", ".0", shown)
            return Value(shown, FLOAT if single else DOUBLE, weak=single, constant=float(number))
        match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)", text)
        if match is None:
            raise self.fail(node, "a number that is not known")
        digits, suffix = match[1], match[2].lower()
        if digits[0] == "0" and digits.isdigit() and len(digits) > 1:
            digits = "0o" + digits[1:]
        number_value = int(digits, 0)
        return Value(
            digits,
            _literal_type(number_value, suffix, decimal=digits.isdigit()),
            nonnegative=True,
            small=number_value < 1 << 31,
            weak=True,
            constant=number_value,
        )

    def _char_literal(self, node: Any) -> Value:
        text = _unescaped(text_of(node)[1:-1])
        kind = INT if self.program.language == "c" else CHAR
        if len(text) != 1:
            raise self.fail(node, "a character of several bytes")
        shown = str(ord(text)) if text == "\0" else f"ord({_quoted(text)})"
        return Value(shown, kind, nonnegative=True, small=True, constant=ord(text))

    def _string_literal(self, node: Any) -> Value:
        return Value(_quoted(_string(node)), TEXT)

    def _concatenated_string(self, node: Any) -> Value:
        text = "".join(_string_part(self.expression(part).text) for part in children(node))
        return Value(_quoted(text), TEXT)

    def _true(self, node: Any) -> Value:
        return _C_CONSTANTS[text_of(node)]

    _false = _true

    def _null(self, node: Any) -> Value:
        return _C_CONSTANTS["NULL"]

    _nullptr = _null

    def _this(self, node: Any) -> Value:
        if self.record is None:
            raise self.fail(node, "outside of a class")
        return Value("self", pointer_to(self.program.types[self.record.name]))

    def _qualified_identifier(self, node: Any) -> Value:
        name = text_of(node).split("::")[-1]
        if text_of(node).startswith("std::") and name == "endl":
            return Value('"\\n"', TEXT)
        if "numeric_limits" in text_of(node):
            raise self.fail(node, "the standard library")
        return self._named_constant(node, name)

    def _named_constant(self, node: Any, name: str) -> Value:
        if name in self.program.constants:
            return Value(self.program.constants[name], INT)
        if name in _C_CONSTANTS or name in _NULLS:
            return _C_CONSTANTS.get(name, _C_CONSTANTS["NULL"])
        found = foreign(name)
        if found:
            kind = foreign_type(type(found[1]).__name__) or INT
            known = isinstance(found[1], int)
            constant = int(found[1]) if known else None
            return Value(
                f"{found[0]}.{name}", kind, nonnegative=known, small=True, constant=constant
            )
        function = self.program.functions.get(name)
        if function:
            if function.problem:
                raise self.fail(node, function.problem)
            return Value(function.python, CType("function", name, to=function.result))
        if name in ("__func__", "__FUNCTION__"):
            return Value(_quoted(self.function.name if self.function else ""), TEXT)
        if name == "__LINE__":
            return Value(str(node.start_point[0] + 1), INT)
        if name == "__FILE__":
            return Value("__file__", TEXT)
        if name == "endl" or name in MANIPULATORS:
            return Value('"\\n"' if name == "endl" else name, TEXT)
        raise self.fail(node, "a name that is not known")

    def _macro_constant(self, macro: Macro) -> Value:
        value = self.expand(macro, [])
        if macro.name in self.scopes_of_macros:
            shown = self.safe(macro.name)
            strong = value.weak and value.type == FLOAT
            return replace(value, text=shown, level=ATOM, weak=value.weak and not strong)
        return value

    expand: Callable[[Macro, list[str]], Value]
    """The value of a macro's expression, with its arguments put in."""


def _literal_type(number: int, suffix: str, *, decimal: bool) -> CType:
    unsigned = "u" in suffix
    if "l" in suffix or "z" in suffix:
        return PRIMITIVES["unsigned long" if unsigned else "long"]
    if unsigned:
        return PRIMITIVES["unsigned int" if number < 1 << 32 else "unsigned long"]
    if number < 1 << 31:
        return INT
    if number < 1 << 32 and not decimal:
        return PRIMITIVES["unsigned int"]
    return PRIMITIVES["long" if number < 1 << 63 else "unsigned long"]


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    fixed = re.sub(r"\\([0-7]{1,3})", lambda match: f"\\x{int(match[1], 8):02x}", text)
    fixed = (
        fixed.replace('"', '\\"')
        .replace('\\\\"', '\\"')
        .replace("\\?", "?")
        .replace("\\e", "\\x1b")
    )
    return str(ast.literal_eval(f'"{fixed}"'))


def _string(node: Any) -> str:
    text = text_of(node)
    if text[0] != '"':
        raise ValueError(text)
    return _unescaped(text[1:-1].replace("\\\n", ""))


def _string_part(shown: str) -> str:
    return str(ast.literal_eval(shown))


def _quoted(text: str) -> str:
    """A Python literal with double quotes."""
    shown = repr(text + "'")[1:-1]
    return '"' + shown[:-1].replace('\\"', '"').replace('"', '\\"') + '"'
