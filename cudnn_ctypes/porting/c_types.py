"""Types of C: what has which size, and which type of ctypes holds it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

__all__ = ["PRIMITIVES", "CType", "array_of", "common", "duration", "pointer_to", "primitive"]
__all__ += ["promoted"]


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


def primitive(name: str) -> CType | None:
    """The type that needs no declaration, its words in any order: ``long unsigned int``."""
    words = sorted(name.split(), key=lambda word: (word != "unsigned", word == "int"))
    ordered = " ".join(words)
    spellings = (name, ordered, ordered.removesuffix(" int"))
    return next((PRIMITIVES[one] for one in spellings if one in PRIMITIVES), None)


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
