"""Literals and named constants of C in Python."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from .libraries import foreign, foreign_type
from .syntax import Node
from .type_names import TypeNames
from .types import (
    CHAR,
    DOUBLE,
    FILE,
    FLOAT,
    INT,
    LONG,
    PRIMITIVES,
    SIZE,
    TEXT,
    VOID,
    CType,
    pointer_to,
    promoted,
)
from .value import Value, integer, truth

__all__ = ["Literals", "number"]


def number(value: int, kind: CType = INT) -> Value:
    """An integer that is known."""
    return Value(str(value), kind, (value, value))


_UNSIGNED = PRIMITIVES["unsigned int"]
_UNSIGNED_LONG = PRIMITIVES["unsigned long"]
# Names that headers of C define.
_CONSTANTS: dict[str, Value] = {
    **{name: Value("None", pointer_to(VOID)) for name in ("NULL", "nullptr")},
    "true": replace(truth("True"), bounds=(1, 1)),
    "false": replace(truth("False"), bounds=(0, 0)),
    "EOF": number(-1),
    "EXIT_SUCCESS": number(0),
    "EXIT_FAILURE": number(1),
    "RAND_MAX": number(2**31 - 1),
    "INT_MAX": number(2**31 - 1),
    "INT_MIN": number(-(2**31)),
    "UINT_MAX": number(2**32 - 1, _UNSIGNED),
    "SIZE_MAX": number(2**64 - 1, SIZE),
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
    "SEEK_SET": number(0),
    "SEEK_CUR": number(1),
    "SEEK_END": number(2),
    "CLOCKS_PER_SEC": number(1000000, LONG),
    **{f"PRI{one}32": Value(f'"{one}"', TEXT) for one in "dux"},
    **{f"PRI{one}64": Value(f'"l{one}"', TEXT) for one in "dux"},
    **{name: Value(name, pointer_to(FILE)) for name in ("stdout", "stderr", "stdin")},
    "endl": Value('"\\n"', TEXT),
    "flush": Value('""', TEXT),
    **{name: Value(name, TEXT) for name in ("fixed", "scientific")},
    "__FILE__": Value("__file__", TEXT),
}


class Literals(TypeNames):
    """Literals and names that stand for values."""

    def negative(self, value: Value) -> Value:
        """C's ``-value``."""
        kind, (low, high) = promoted(value.type), value.range
        text = f"-{value.at('~')}"
        is_float = kind.kind == "float"
        return Value(text, kind, weak=value.weak) if is_float else integer(text, kind, -high, -low)

    def _number_literal(self, node: Node) -> Value:
        text = node.text.replace("'", "")
        if text[0] == "-":
            return self.negative(self._literal(node, text[1:].strip()))
        return self._literal(node, text.lstrip("+"))

    def _literal(self, node: Node, text: str) -> Value:
        if re.search(r"[.]|[eEpP][-+]?\d", text) and not text.lower().startswith("0x"):
            digits = text.rstrip("fFlL")
            shown = repr(float(digits)) if digits[0] == "." or digits[-1] == "." else digits
            shown = re.sub(r"\.(?=[eE])", ".0", shown)
            single = text[-1] in "fF"
            return Value(shown, FLOAT if single else DOUBLE, weak=single)
        match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)", text)
        if match is None:
            raise self.fail(node, "a number that is not known")
        digits = re.sub(r"^0(?=\d)", "0o", match[1])
        worth = int(digits, 0)
        kind = _literal_type(worth, match[2].lower(), decimal=digits.isdigit())
        return Value(digits, kind, (worth, worth))

    def _char_literal(self, node: Node) -> Value:
        text = _unescaped(node.text[1:-1])
        if len(text) != 1:
            raise self.fail(node, "a character of several bytes")
        shown = "0" if text == "\0" else f"ord({_quoted(text)})"
        kind = INT if self.program.language == "c" else CHAR
        return Value(shown, kind, (ord(text), ord(text)))

    def _string_literal(self, node: Node) -> Value:
        if node.text[0] != '"':
            raise self.fail(node, "text with a prefix")
        return Value(_quoted(_unescaped(node.text[1:-1].replace("\\\n", ""))), TEXT)

    def _concatenated_string(self, node: Node) -> Value:
        parts = [ast.literal_eval(self.expression(part).text) for part in node.children]
        return Value(_quoted("".join(parts)), TEXT)

    def _true(self, node: Node) -> Value:
        return self.named_constant(node, node.text)

    _false = _null = _nullptr = _true

    def _this(self, node: Node) -> Value:
        if self.record is None:
            raise self.fail(node, "outside of a class")
        return Value("self", pointer_to(self.program.types[self.record.name]))

    def _qualified_identifier(self, node: Node) -> Value:
        return self.named_constant(node, node.text.split("::")[-1])

    def named_constant(self, node: Node, name: str) -> Value:
        """What a name that is no variable stands for."""
        macro = self.program.macros.get(name)
        if macro and not macro.is_function:
            return self.expand(macro, [], node)
        if name in self.program.constants:
            return Value(self.program.constants[name], INT)
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        found = foreign(name)
        if found:
            kind = foreign_type(type(found[1]).__name__) or INT
            bounds = (int(found[1]), int(found[1])) if isinstance(found[1], int) else None
            return Value(f"{found[0]}.{name}", kind, bounds)
        function = self.program.functions.get(name)
        if function and function.problem:
            raise self.fail(node, function.problem)
        if function:
            return Value(function.python, CType("function", name, to=function.result))
        if name in ("__func__", "__FUNCTION__"):
            return Value(_quoted(self.function.name if self.function else ""), TEXT)
        if name == "__LINE__":
            return number(node.line)
        raise self.fail(node, "a name that is not known")


def _literal_type(worth: int, suffix: str, *, decimal: bool) -> CType:
    is_long = "l" in suffix or "z" in suffix
    if "u" in suffix:
        return _UNSIGNED_LONG if is_long or worth >> 32 else _UNSIGNED
    if worth < 1 << 31 and not is_long:
        return INT
    if worth < 1 << 32 and not decimal and not is_long:
        return _UNSIGNED
    return LONG if worth < 1 << 63 else _UNSIGNED_LONG


def _unescaped(text: str) -> str:
    """C's text, as the characters that it stands for."""
    text = re.sub(r"\\([0-7]{1,3})", lambda match: f"\\x{int(match[1], 8):02x}", text)
    text = text.replace('"', '\\"').replace('\\\\"', '\\"')
    return str(ast.literal_eval('"' + text.replace("\\?", "?").replace("\\e", "\\x1b") + '"'))


def _quoted(text: str) -> str:
    """A Python literal with double quotes."""
    shown = repr(text + "'")[1:-1]
    return '"' + shown[:-1].replace('\\"', '"').replace('"', '\\"') + '"'
