"""Functions of C: formatted output, strings, mathematics, memory."""

from __future__ import annotations

from typing import Any

from ..runtime.arithmetic import MATH
from .expressions import Expressions
from .program import children, stripped, text_of
from .types import (
    CHAR,
    DOUBLE,
    FILE,
    FLOAT,
    INT,
    PRIMITIVES,
    SIZE,
    STRING,
    TEXT,
    VOID,
    VOID_POINTER,
    CType,
    common,
    pointer_to,
)
from .value import ATOM, MULTIPLICATIVE, Value

__all__ = ["CFunctions"]

_LONG = PRIMITIVES["long"]
# Functions of C that the run-time module has by name: the result, and the parameters' types where
# arguments must be converted (None: taken as they are).
_C_FUNCTIONS: dict[str, CType] = {
    **dict.fromkeys(("printf", "fprintf", "sprintf", "puts", "fputs", "sscanf", "fscanf"), INT),
    **dict.fromkeys(("strcmp", "strncmp", "memcmp", "atoi", "rand", "remove"), INT),
    **dict.fromkeys(("strcpy", "strncpy", "strcat", "strchr", "strstr"), TEXT),
    **dict.fromkeys(("strlen", "fread", "fwrite"), SIZE),
    **dict.fromkeys(("perror", "srand"), VOID),
    "memcpy": VOID_POINTER,
    "memset": VOID_POINTER,
    "atof": DOUBLE,
    "fgets": TEXT,
    "fopen": pointer_to(FILE),
}
_RENAMED = {
    "atol": "atoi",
    "atoll": "atoi",
    "memmove": "memcpy",
    "strtof": "atof",
    "strtod": "atof",
}
_FILE_METHODS = {
    "fclose": "close",
    "feof": "eof",
    "ftell": "tell",
    "fflush": "flush",
    "fgetc": "getc",
    "getc": "getc",
    "fseek": "seek",
}
_ALLOCATION = ("malloc", "calloc", "aligned_alloc")
_ALGORITHMS = ["fill", "iota", "accumulate", "max_element", "min_element", "sort"]


class CFunctions(Expressions):
    """Functions of C that the run-time module has."""

    def _c_call(self, node: Any, name: str, arguments: list[Any], is_std: bool) -> Value:
        name = _RENAMED.get(name, name)
        if name in MATH:
            return self._math_call(node, name, arguments, is_std)
        if name in ("fmax", "fmin", "max", "min", "abs", "labs", "llabs"):
            return self._extreme(node, name, arguments)
        if name == "fclose" or name in _FILE_METHODS:
            file, *others = [self.expression(one) for one in arguments]
            given = ", ".join(one.text for one in others)
            return Value(f"{file.at(ATOM)}.{_FILE_METHODS[name]}({given})", _result_of(name))
        if name == "snprintf" and len(arguments) > 2:
            target, size, *rest = [self._plain(one) for one in arguments]
            return Value(f"sprintf({', '.join([target, *rest])}, size={size})", INT)
        if name in _C_FUNCTIONS:
            texts = [self._plain(one) for one in arguments]
            nonnegative = name in ("rand", "strlen", "fread", "fwrite")
            return Value(f"{name}({', '.join(texts)})", _C_FUNCTIONS[name], nonnegative=nonnegative)
        is_std = is_std or self.program.using_std
        if is_std and name in _ALGORITHMS:
            return self._algorithm(node, name, arguments)
        if name in ("exit", "_Exit", "abort"):
            status = self.expression(arguments[0]).text if arguments else "134"
            return Value(f"c_exit({status})", VOID)
        if name in ("strtol", "strtoul", "strtoll") and text_of(arguments[1]) in (
            "NULL",
            "nullptr",
            "0",
        ):
            return Value(f"strtol({self._plain(arguments[0])}, {self._plain(arguments[2])})", _LONG)
        if name in ("setprecision", "setw", "setfill"):
            value = self.expression(arguments[0]) if arguments else None
            return Value(f"{name}({value.text if value else ''})", TEXT)
        if name == "to_string" and is_std:
            value = self.expression(arguments[0])
            layout = "%f" if value.type.kind == "float" else "%d"
            return Value(f'formatted("{layout}", {value.text})', STRING)
        if name in ("time", "clock"):
            return Value("clock()" if name == "clock" else "c_time()", _LONG, nonnegative=True)
        if name in ("__float2half", "__half2float"):
            wanted = PRIMITIVES["half"] if name == "__float2half" else FLOAT
            return self.convert(self.expression(arguments[0]), wanted)
        if name in _ALLOCATION:
            raise self.fail(node, "memory for what is not known")
        if name == "putchar":
            return Value(f'printf("%c", {self._plain(arguments[0])})', INT)
        raise self.fail(node, "a function that is not known")

    def _plain(self, node: Any) -> str:
        """An argument of a function of C that takes what it gets."""
        inner = stripped(node)
        if inner.type == "pointer_expression" and text_of(inner).startswith("&"):
            place_node = children(inner)[-1]
            if place_node.type in ("identifier", "field_expression"):
                place = self.place(place_node)
                return place.object or place.target
            return self.address(place_node).text
        value = self.expression(inner if inner.type == "call_expression" else node)
        return self.convert(value, INT).text if value.type.name == "truth" else value.text

    def _math_call(self, node: Any, name: str, arguments: list[Any], is_std: bool) -> Value:
        values = [self.expression(one) for one in arguments]
        single = name.endswith("f") and name not in ("erf",)
        if not single and self.program.language != "c" and f"{name}f" in MATH:
            overloaded = (
                is_std or self.program.language == "cuda" or "math.h" in self.program.changed
            )
            if overloaded and all(one.type == FLOAT for one in values):
                name, single = f"{name}f", True
        kind = FLOAT if single else DOUBLE
        texts = [self.convert(one, kind).text for one in values]
        if any(not one.type.is_number for one in values):
            raise self.fail(node, "a function of numbers")
        return Value(f"{name}({', '.join(texts)})", kind)

    def _extreme(self, node: Any, name: str, arguments: list[Any]) -> Value:
        values = [self.expression(one) for one in arguments]
        if not all(one.type.is_number for one in values):
            raise self.fail(node, "a function of numbers")
        if name in ("abs", "labs", "llabs"):
            if values[0].type.kind == "float" and self.program.language == "c":
                values = [self.convert(values[0], INT)]
            return Value(f"abs({values[0].text})", values[0].type, nonnegative=True)
        kind = common(values[0].type, values[1].type)
        texts = [self.convert(one, kind).text for one in values]
        nonnegative = all(one.nonnegative for one in values)
        return Value(f"{name}({', '.join(texts)})", kind, nonnegative=nonnegative)

    def _algorithm(self, node: Any, name: str, arguments: list[Any]) -> Value:
        values = [self.expression(one) for one in arguments]
        texts = [one.text for one in values]
        if name == "accumulate" and len(values) == 3:
            kind = values[2].type
            texts[2] = self.convert(values[2], kind).text
            if values[0].type.pointed != kind:
                raise self.fail(node, "a sum in another type")
            return Value(f"accumulate({', '.join(texts)})", kind)
        if len(values) != (3 if name in ("fill", "iota") else 2):
            raise self.fail(node, "this form of the algorithm")
        if name in ("fill", "iota"):
            texts[2] = self.convert(values[2], values[0].type.pointed).text
        return Value(f"{name}({', '.join(texts)})", values[0].type)

    def _allocation(self, name: str, call: Any, node: Any, wanted: CType) -> Value:
        arguments = children(call.child_by_field_name("arguments"))
        if node.type == "cast_expression":
            cast = self.type_of(node.child_by_field_name("type"))
            wanted = wanted if cast.pointed.kind == "void" else cast
        to = wanted.pointed if wanted.pointed.kind != "void" else CHAR
        if name == "calloc":
            count, size = arguments
            if text_of(size).startswith("sizeof"):
                return Value(f"allocate({self.element(to)}, {self.expression(count).text})", wanted)
            raise self.fail(call, "calloc of a size that is not sizeof")
        element = self.element(to)
        count = self._count(arguments[-1], to, element)
        if to.kind == "struct" and self.by_reference(wanted):
            if count != "1":
                raise self.fail(call, "several structs")
            return Value(f"{element}()", wanted)
        return Value(f"allocate({element}, {count})", wanted)

    def _count(self, node: Any, to: CType, element: str) -> str:
        """How many elements that many bytes are."""
        factors = list(_factors(node))
        for index, factor in enumerate(factors):
            if factor.type != "sizeof_expression":
                continue
            size = self.expression(factor).text
            if size == f"sizeof({element})" or (size == "8" and element == "object"):
                rest = [self.expression(one) for one in factors[:index] + factors[index + 1 :]]
                level = MULTIPLICATIVE + 1 if len(rest) > 1 else 0
                return " * ".join(one.at(level) for one in rest) or "1"
        total = self.expression(node)
        if element in ("c_byte", "c_ubyte"):
            return total.text
        if element in ("object", "float16") or to.kind == "struct":
            raise self.fail(node, f"how many {to} that is")
        return f"{total.at(MULTIPLICATIVE)} // sizeof({element})"

    def _new_expression(self, node: Any) -> Value:
        to = self.type_of(node.child_by_field_name("type"))
        declarator = node.child_by_field_name("declarator")
        if declarator is not None:
            length = children(declarator)[0]
            element = self.element(to)
            return Value(f"allocate({element}, {self.expression(length).text})", pointer_to(to))
        found = node.child_by_field_name("arguments")
        arguments = children(found) if found is not None else []
        if not to.is_object:
            raise self.fail(node, "a single number on the heap")
        made = self.constructed(node, to, arguments)
        shown = made.text if self.by_reference(pointer_to(to)) else f"Pointer([{made.text}])"
        return Value(shown, pointer_to(to))

    def _template_call(self, node: Any, function: Any, arguments: list[Any]) -> Value:
        name = text_of(function.child_by_field_name("name")).removeprefix("std::")
        kinds = children(function.child_by_field_name("arguments"))
        if name in ("static_cast", "reinterpret_cast", "const_cast") and len(arguments) == 1:
            return self.cast(node, arguments[0], self.type_of(kinds[0]))
        if name in ("max", "min") and len(arguments) == 2:
            wanted = self.type_of(kinds[0])
            texts = [self.converted(one, wanted).text for one in arguments]
            return Value(f"{name}({', '.join(texts)})", wanted)
        raise self.fail(node, "a template")


def _factors(node: Any) -> list[Any]:
    if node.type == "parenthesized_expression":
        return _factors(children(node)[0])
    if node.type == "cast_expression":
        return _factors(node.child_by_field_name("value"))
    if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) == "*":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return [*_factors(left), *_factors(right)]
    return [node]


def _result_of(name: str) -> CType:
    return _LONG if name == "ftell" else INT
