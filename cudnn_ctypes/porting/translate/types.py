"""Types of C as the translator knows them, and expressions in Python with their types."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["PRIMITIVES", "REASONS", "CType", "Untranslatable", "Value", "array_of", "common"]
__all__ += ["duration", "infix", "integer", "pointer_to", "promoted", "told", "truth"]


@dataclass(frozen=True)
class CType:
    """A type of C.

    `kind` is "integer", "bool", "float", "void", "pointer", "array", "struct", "enum", "opaque",
    "vector", "string", "stream", "duration", "function" or "unknown"; `name` is C's, without
    qualifiers. `to` is what it points to, consists of or returns, `length` the Python text of an
    array's length or of how many ticks of a clock a second has, `element` the Python name of
    memory of this type: ``c_float``, ``raw.cudnnHandle_t``, a class.
    """

    kind: str
    name: str = ""
    bits: int = 0
    signed: bool = True
    to: CType | None = None
    length: str = ""
    element: str = ""
    reference: bool = False
    const: bool = False
    parameters: tuple[CType, ...] = ()

    @property
    def is_integer(self) -> bool:
        """Whether C's rules for integers hold."""
        return self.kind in ("integer", "bool", "enum")

    @property
    def is_number(self) -> bool:
        return self.is_integer or self.kind == "float"

    @property
    def is_pointer(self) -> bool:
        """Whether it is a pointer, or an array, which C makes one of."""
        return self.kind in ("pointer", "array")

    @property
    def is_text(self) -> bool:
        """Whether it is ``char *``."""
        return self.is_pointer and self.pointed.name == "char"

    @property
    def is_object(self) -> bool:
        """Whether a Python variable of it refers to one object, as a reference of C++ does."""
        return self.kind in ("struct", "opaque", "vector", "stream")

    @property
    def is_cell(self) -> bool:
        """Whether a reference to it is an object of ctypes or a `Cell`."""
        return self.reference and not self.is_object and not self.const

    @property
    def pointed(self) -> CType:
        """What it points to or consists of."""
        return self.to or UNKNOWN

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number that an integer can be."""
        if self.kind in ("bool", "enum"):
            return 0, 1 if self.kind == "bool" else (1 << 31) - 1
        half = 1 << self.bits - 1 if self.bits else 0
        return (-half, half - 1) if self.signed else (0, 2 * half - 1)

    @property
    def plain(self) -> CType:
        """Without being a reference."""
        return replace(self, reference=False, const=False)

    @property
    def dimensions(self) -> tuple[list[str], CType]:
        """The lengths of an array of arrays, and its elements."""
        lengths, kind = [], self
        while kind.kind == "array":
            lengths.append(kind.length)
            kind = kind.pointed
        return lengths, kind

    def __str__(self) -> str:
        if self.is_pointer:
            return f"{self.pointed} *"
        return f"std::vector<{self.to}>" if self.kind == "vector" else self.name or self.kind


def pointer_to(to: CType) -> CType:
    return CType("pointer", to=to)


def array_of(to: CType, *lengths: str) -> CType:
    """The type of an array whose lengths are Python expressions."""
    for length in reversed(lengths):
        to = CType("array", to=to, length=length)
    return to


VOID = CType("void", "void", element="None")
UNKNOWN = CType("unknown", "unknown")
BOOL = CType("bool", "bool", 8, False, element="c_bool")
CHAR = CType("integer", "char", 8, element="c_byte")
INT = CType("integer", "int", 32, element="c_int")
LONG = CType("integer", "long", 64, element="c_long")
SIZE = CType("integer", "size_t", 64, False, element="c_size_t")
FLOAT = CType("float", "float", 32, element="c_float")
DOUBLE = CType("float", "double", 64, element="c_double")
HALF = CType("float", "half", 16, element="float16")
STRING = CType("string", "std::string", element="str")
FILE = CType("stream", "FILE", element="object")
DIM3 = CType("struct", "dim3", element="dim3")
TEXT = pointer_to(CHAR)

_SYNONYMS = {"_Bool": "bool", "signed": "int", "unsigned": "unsigned int", "__half": "half"}
_SYNONYMS |= {f"u{name}": f"unsigned {name}" for name in ("char", "short", "int", "long")}
_SYNONYMS |= dict.fromkeys(("ssize_t", "ptrdiff_t", "time_t", "clock_t", "intptr_t"), "long")
_SYNONYMS |= {"uintptr_t": "unsigned long", "string": "std::string"}


def _primitives() -> dict[str, CType]:
    simple = (VOID, BOOL, CHAR, INT, LONG, SIZE, FLOAT, DOUBLE, HALF, STRING, FILE, DIM3)
    found = {one.name: one for one in simple}
    widths = {"char": 8, "short": 16, "int": 32, "long": 64, "long long": 64}
    for name, bits in widths.items():
        element = {"char": "byte", "long long": "longlong"}.get(name, name)
        found.setdefault(name, CType("integer", name, bits, element=f"c_{element}"))
        found[f"signed {name}"] = CType("integer", f"signed {name}", bits, element=f"c_{element}")
        unsigned = f"unsigned {name}"
        found[unsigned] = CType("integer", unsigned, bits, False, element=f"c_u{element}")
    for bits in (8, 16, 32, 64):
        for sign in ("", "u"):
            name = f"{sign}int{bits}"
            found[f"{name}_t"] = CType("integer", f"{name}_t", bits, not sign, element=f"c_{name}")
    return found | {name: found[meaning] for name, meaning in _SYNONYMS.items()}


PRIMITIVES = _primitives()
"""Types that need no declaration in the program."""


_CLOCK = re.compile(
    r"(?:chrono::)?(?:duration<(?P<real>float|(?:long)?double)(?:,(?:std::)?(milli|micro|nano))?>|"
    r"(milli|micro|nano|)seconds|\w+_clock::time_point|time_point<.*>)"
)
_TICKS = {"": "1", "milli": "1000", "micro": "1000000", "nano": "1000000000"}


def duration(name: str) -> CType | None:
    """The type of ``std::chrono`` with that name; in Python it is a number of seconds."""
    match = _CLOCK.fullmatch(name.replace(" ", ""))
    if not match:
        return None
    ticks = _TICKS["nano" if "time_point" in name else match[2] or match[3] or ""]
    bits = 64 if match["real"] else 0
    return CType("duration", "std::chrono", bits, length=ticks, element="c_double")


def promoted(one: CType) -> CType:
    """What C makes of a number before it computes."""
    return INT if one.kind == "enum" or (one.is_integer and one.bits < 32) else one.plain


def common(left: CType, right: CType) -> CType:
    """The type in which C computes with two numbers: the usual arithmetic conversions."""
    left, right = promoted(left), promoted(right)
    if "float" in (left.kind, right.kind):
        bits = max(one.bits for one in (left, right) if one.kind == "float")
        return DOUBLE if bits == 64 else FLOAT
    if left.bits == right.bits:
        return right if left.signed else left
    return max(left, right, key=lambda one: one.bits)


# Expressions.


class Untranslatable(Exception):
    """A construct that the translator does not know; the message says which."""


# Beside what the rules refuse, the shape of a tree may be one that they do not expect.
REASONS: tuple[type[Exception], ...] = (Untranslatable, AttributeError, IndexError, KeyError)
REASONS += (StopIteration, SyntaxError, TypeError, ValueError)


def told(reason: Exception) -> str:
    """The reason that users read."""
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
