"""Types of C as the translator knows them, and the Python that stands for each."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = [
    "BOOL",
    "CHAR",
    "DOUBLE",
    "FILE",
    "FLOAT",
    "INT",
    "PRIMITIVES",
    "SIZE",
    "STRING",
    "TEXT",
    "UNKNOWN",
    "VOID",
    "VOID_POINTER",
    "CType",
    "array_of",
    "common",
    "pointer_to",
    "promoted",
]


@dataclass(frozen=True)
class CType:
    """A type of C.

    Parameters
    ----------
    kind : str
        "integer", "bool", "float", "void", "pointer", "array", "struct", "enum", "opaque",
        "vector", "string", "stream", "function" or "unknown".
    name : str
        Its name in C, without qualifiers.
    bits : int
        Of a number.
    signed : bool
        Whether an integer is.
    to : CType or None
        What a pointer points to; the element of an array or vector; what a function returns.
    length : str
        Python text of an array's length.
    element : str
        The Python name of memory of this type: ``c_float``, ``raw.cudnnHandle_t``, a class.
    reference : bool
        Whether it is a reference of C++ that may be written to.
    parameters : tuple of CType
        Of a function that is called through a pointer.
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
        """Whether it is an integer or a floating point type."""
        return self.is_integer or self.kind == "float"

    @property
    def is_pointer(self) -> bool:
        """Whether it is a pointer, or an array, which C makes one of."""
        return self.kind in ("pointer", "array")

    @property
    def is_text(self) -> bool:
        """Whether it is ``char *``."""
        return self.is_pointer and self.pointed.name in ("char", "const char")

    @property
    def is_object(self) -> bool:
        """Whether a Python variable of it refers to one object, as a reference of C++ does."""
        return self.kind in ("struct", "opaque", "vector", "stream")

    @property
    def pointed(self) -> CType:
        """What it points to or consists of."""
        return self.to or UNKNOWN

    def plain(self) -> CType:
        """Without being a reference."""
        return replace(self, reference=False, const=False)

    def __str__(self) -> str:
        if self.kind in ("pointer", "array") and self.to:
            return f"{self.to} *"
        return f"std::vector<{self.to}>" if self.kind == "vector" else self.name or self.kind


def _integer(name: str, bits: int, signed: bool, element: str) -> CType:
    return CType("integer", name, bits, signed, element=element)


VOID = CType("void", "void", element="None")
UNKNOWN = CType("unknown", "unknown")
BOOL = CType("bool", "bool", 8, False, element="c_bool")
CHAR = _integer("char", 8, True, "c_byte")
INT = _integer("int", 32, True, "c_int")
SIZE = _integer("size_t", 64, False, "c_size_t")
FLOAT = CType("float", "float", 32, element="c_float")
DOUBLE = CType("float", "double", 64, element="c_double")
HALF = CType("float", "half", 16, element="float16")
STRING = CType("string", "std::string", element="str")
FILE = CType("stream", "FILE", element="object")

_WIDTHS = {"char": 8, "short": 16, "int": 32, "long": 64, "long long": 64}
_ELEMENTS = {"char": "byte", "long long": "longlong"}


def _primitives() -> dict[str, CType]:
    found = {"void": VOID, "bool": BOOL, "_Bool": BOOL, "float": FLOAT, "double": DOUBLE}
    for name, bits in _WIDTHS.items():
        for sign in ("", "signed ", "unsigned "):
            prefix = "u" if sign == "unsigned " else ""
            element = f"c_{prefix}{_ELEMENTS.get(name, name)}"
            spelled = f"{sign}{name}" if prefix or name == "char" else name
            found[f"{sign}{name}"] = _integer(spelled, bits, not prefix, element)
    for bits in (8, 16, 32, 64):
        for sign in ("", "u"):
            name = f"{sign}int{bits}_t"
            found[name] = _integer(name, bits, not sign, f"c_{sign}int{bits}")
    found |= {name: found[f"unsigned {name[1:]}"] for name in ("uint", "ushort", "uchar", "ulong")}
    found["unsigned"], found["signed"] = found["unsigned int"], INT
    found["size_t"] = SIZE
    found["ssize_t"] = found["ptrdiff_t"] = found["time_t"] = found["clock_t"] = found["long"]
    found["uintptr_t"] = found["uint64_t"]
    found["intptr_t"] = found["int64_t"]
    found["half"] = found["__half"] = HALF
    found["string"] = found["std::string"] = STRING
    found["FILE"] = FILE
    for name in ("ifstream", "ofstream", "stringstream", "ostringstream", "istringstream"):
        found[name] = CType("stream", name, element=name)
    found["dim3"] = CType("struct", "dim3", element="dim3")
    return found


PRIMITIVES = _primitives()
"""Types that need no declaration in the program."""


def pointer_to(to: CType) -> CType:
    """The type of a pointer."""
    return CType("pointer", to=to)


def array_of(to: CType, length: str) -> CType:
    """The type of an array whose length is a Python expression."""
    return CType("array", to=to, length=length)


TEXT = pointer_to(CHAR)
VOID_POINTER = pointer_to(VOID)


def promoted(one: CType) -> CType:
    """What C makes of a number before it computes."""
    if one.is_integer and one.bits < 32:
        return INT
    return INT if one.kind == "enum" else one.plain()


def common(left: CType, right: CType) -> CType:
    """The type in which C computes with two numbers: the usual arithmetic conversions."""
    left, right = promoted(left), promoted(right)
    if "float" in (left.kind, right.kind):
        floats = [one for one in (left, right) if one.kind == "float"]
        widest = max(floats, key=lambda one: one.bits)
        return FLOAT if widest.bits == 16 else widest
    if left.bits == right.bits:
        return right if left.signed else left
    return max(left, right, key=lambda one: one.bits)
