"""Functions of C, and the few of C++'s library, that the run-time module has."""

from __future__ import annotations

from typing import Any

from ..runtime.arithmetic import MATH
from .operators import Operators
from .syntax import CASTS, Node
from .types import (
    CHAR,
    DOUBLE,
    FILE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SIZE,
    STRING,
    TEXT,
    VOID,
    CType,
    common,
    pointer_to,
)
from .value import Value

__all__ = ["ALLOCATION", "CFunctions"]

_SAME_NAMES: dict[CType, str] = {
    INT: "printf fprintf sprintf puts fputs sscanf fscanf strcmp strncmp memcmp atoi rand remove",
    TEXT: "strcpy strncpy strcat strchr strstr fgets",
    SIZE: "strlen fread fwrite",
    VOID: "perror srand",
    pointer_to(VOID): "memcpy memset",
    DOUBLE: "atof",
    LONG: "clock",
    pointer_to(FILE): "fopen",
}
_FUNCTIONS: dict[str, tuple[str, CType]] = {
    **{
        one: (f"{one}({{all}})", kind)
        for kind, names in _SAME_NAMES.items()
        for one in names.split()
    },
    "atol": ("atoi({0})", LONG),
    "atoll": ("atoi({0})", LONG),
    "strtod": ("atof({0})", DOUBLE),
    "strtof": ("atof({0})", DOUBLE),
    "memmove": ("memcpy({all})", pointer_to(VOID)),
    "putchar": ('printf("%c", {0})', INT),
    "fclose": ("{0}.close()", INT),
    "feof": ("{0}.eof()", INT),
    "fflush": ("{0}.flush()", INT),
    "fgetc": ("{0}.getc()", INT),
    "getc": ("{0}.getc()", INT),
    "fseek": ("{0}.seek({1}, {2})", INT),
    "ftell": ("{0}.tell()", LONG),
    "snprintf": ("sprintf({0}, {rest}, size={1})", INT),
    "exit": ("c_exit({0})", VOID),
    "_Exit": ("c_exit({0})", VOID),
    "abort": ("c_exit(134)", VOID),
    "time": ("c_time()", LONG),
    "setprecision": ("setprecision({0})", TEXT),
    "setw": ("setw({0})", TEXT),
}
"""Functions by name: their Python, with the arguments put in, and their result."""

_NONNEGATIVE = ("rand", "strlen", "fread", "fwrite", "time", "clock")
_ALGORITHMS = ("max_element", "min_element", "accumulate")
ALLOCATION = ("malloc", "calloc")


class CFunctions(Operators):
    """Functions of C that the run-time module has."""

    def c_call(self, node: Node, name: str, arguments: list[Node]) -> Value:
        """A call of a function of C."""
        is_std = node.called.startswith("std::") or self.program.using_std
        if name in MATH:
            return self._math_call(node, name, arguments, is_std)
        if name in ("fmax", "fmin", "max", "min", "abs", "labs", "llabs"):
            return self._extreme(node, name, arguments)
        if name in ("strtol", "strtoul", "strtoll") and self.peek(arguments[1]).is_zero:
            base = self._plain(arguments[2])
            return Value(f"strtol({self._plain(arguments[0])}, {base})", LONG)
        if name in _FUNCTIONS:
            form, kind = _FUNCTIONS[name]
            texts = [self._plain(one) for one in arguments]
            text = form.format(*texts, all=", ".join(texts), rest=", ".join(texts[2:]))
            return Value(text, kind, (0, kind.range[1]) if name in _NONNEGATIVE else None)
        if name in _ALGORITHMS and is_std:
            return self._algorithm(node, name, arguments)
        if name == "to_string" and is_std:
            value = self.expression(arguments[0])
            layout = "%f" if value.type.kind == "float" else "%d"
            return Value(f'formatted("{layout}", {value.text})', STRING)
        if name in ("__float2half", "__half2float"):
            wanted = HALF if name == "__float2half" else FLOAT
            return self.convert(self.expression(arguments[0]), wanted)
        if name in ALLOCATION:
            raise self.fail(node, "memory for what is not known")
        raise self.fail(node, "a function that is not known")

    def _plain(self, node: Node) -> str:
        """An argument of a function of C that takes what it gets."""
        taken = node.address_of
        if taken.kind in ("identifier", "field_expression"):
            place = self.place(taken)
            return place.object or place.target
        value = self.expression(node.stripped if node.stripped.kind == "call_expression" else node)
        return self.convert(value, INT).text if value.type.name == "condition" else value.text

    def _math_call(self, node: Node, name: str, arguments: list[Node], is_std: bool) -> Value:
        values = [self.expression(one) for one in arguments]
        overloaded = is_std or self.program.overloads_math
        if overloaded and f"{name}f" in MATH and all(one.type == FLOAT for one in values):
            name = f"{name}f"
        kind = FLOAT if name.endswith("f") and name != "erf" else DOUBLE
        if any(not one.type.is_number for one in values):
            raise self.fail(node, "a function of numbers")
        return Value(f"{name}({', '.join(self.convert(one, kind).text for one in values)})", kind)

    def _extreme(self, node: Node, name: str, arguments: list[Node]) -> Value:
        values = [self.expression(one) for one in arguments]
        if not all(one.type.is_number for one in values):
            raise self.fail(node, "a function of numbers")
        kind = values[0].type
        if name.endswith("abs"):
            kind = INT if kind.kind == "float" and self.program.language == "c" else kind
            bounds = (0, kind.range[1])
        else:
            kind = common(kind, values[1].type)
            bounds = (min(one.range[0] for one in values), max(one.range[1] for one in values))
        texts = [self.convert(one, kind).text for one in values]
        name = "abs" if name.endswith("abs") else name
        return Value(f"{name}({', '.join(texts)})", kind, bounds if kind.is_integer else None)

    def _algorithm(self, node: Node, name: str, arguments: list[Node]) -> Value:
        values = [self.expression(one) for one in arguments]
        texts, kind = [one.text for one in values], values[0].type
        if name == "accumulate" and len(values) == 3 and kind.pointed == values[2].type:
            kind, texts[2] = kind.pointed, self.convert(values[2], kind.pointed).text
        elif name == "accumulate" or len(values) != 2:
            raise self.fail(node, "this form of the algorithm")
        return Value(f"{name}({', '.join(texts)})", kind)

    # Memory.

    def allocation(self, call: Node, node: Node, wanted: CType) -> Value:
        """``malloc`` and ``calloc``, for a pointer of type `wanted`."""
        if node.kind == "cast_expression":
            cast = self.type_of(node["type"])
            wanted = wanted if cast.pointed.kind == "void" else cast
        to = CHAR if wanted.pointed.kind == "void" else wanted.pointed
        element = self.element(to)
        *counts, size = call.arguments
        factors = [self.expression(one) for one in [*counts, *_factors(size)]]
        sizes = [f"sizeof({element})", *(["8"] if element == "object" else [])]
        whole = next((one for one in factors if one.text in sizes), None)
        if whole is not None:
            factors.remove(whole)
            count = " * ".join(x.after("*") if factors[1:] else x.text for x in factors) or "1"
        elif counts or element in ("object", "float16") or to.kind == "struct":
            raise self.fail(call, f"how many {to} that is")
        else:
            bytes_ = self.expression(size)
            is_byte = element in ("c_byte", "c_ubyte")
            count = bytes_.text if is_byte else f"{bytes_.at('*')} // sizeof({element})"
        if to.kind != "struct" or not self.by_reference(to):
            return Value(f"allocate({element}, {count})", wanted)
        if count != "1":
            raise self.fail(call, "several structs")
        return Value(f"{element}()", wanted)

    def _new_expression(self, node: Node) -> Value:
        to = self.type_of(node["type"])
        if node["declarator"]:
            count = self.expression(node["declarator"].children[0]).text
            return Value(f"allocate({self.element(to)}, {count})", pointer_to(to))
        if not to.is_object:
            raise self.fail(node, "a single number on the heap")
        made = self.constructed(node, to, node.arguments).text
        return Value(made if self.by_reference(to) else f"Pointer([{made}])", pointer_to(to))

    constructed: Any

    def template_call(self, node: Node, arguments: list[Node]) -> Value:
        """``static_cast<T>(x)`` and ``std::max<T>(x, y)``."""
        name = node["function"]["name"].text.removeprefix("std::")
        if name in CASTS or name in ("max", "min"):
            wanted = self.type_of(node["function"].arguments[0])
            if name in CASTS:
                return self.cast(node, arguments[0], wanted)
            texts = [self.converted(one, wanted).text for one in arguments]
            return Value(f"{name}({', '.join(texts)})", wanted)
        raise self.fail(node, "a template")


def _factors(node: Node) -> list[Node]:
    """What a product multiplies."""
    node = node.stripped
    if node.kind == "binary_expression" and node.operator == "*":
        return [*_factors(node["left"]), *_factors(node["right"])]
    return [node]
