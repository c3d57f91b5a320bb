"""Functions of C and the few of C++'s library that the run-time module has; objects of C++."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from .. import c_types as c
from ..c_types import CType, common, pointer_to
from ..runtime.arithmetic import MATH
from ..syntax import CASTS, Node
from .base import Function
from .names import number
from .operators import Operators
from .values import Value

__all__ = ["ALLOCATION", "Functions"]

# Functions whose Python has the same name and arguments, by their result.
_SAME_NAMES: dict[CType, str] = {
    c.INT: "printf fprintf sprintf puts fputs sscanf fscanf strcmp strncmp memcmp atoi rand remove",
    c.TEXT: "strcpy strncpy strcat strchr strstr fgets setprecision",
    c.SIZE: "strlen fread fwrite",
    c.VOID: "perror srand",
    pointer_to(c.VOID): "memcpy memset",
    c.DOUBLE: "atof",
    c.BOOL: "isnan isinf isfinite",
    c.LONG: "clock",
    pointer_to(c.FILE): "fopen",
}
_FUNCTIONS = {
    name: (f"{name}({{all}})", kind)
    for kind, names in _SAME_NAMES.items()
    for name in names.split()
} | {
    "memmove": ("memcpy({all})", pointer_to(c.VOID)),
    "snprintf": ("sprintf({0}, {rest}, size={1})", c.INT),
    "putchar": ('printf("%c", {0})', c.INT),
    "atol": ("atoi({0})", c.LONG),
    "atoll": ("atoi({0})", c.LONG),
    "strtod": ("atof({0})", c.DOUBLE),
    "strtof": ("atof({0})", c.DOUBLE),
    "fclose": ("{0}.close()", c.INT),
    "feof": ("{0}.eof()", c.INT),
    "fflush": ("{0}.flush()", c.INT),
    "fgetc": ("{0}.getc()", c.INT),
    "getc": ("{0}.getc()", c.INT),
    "fseek": ("{0}.seek({1}, {2})", c.INT),
    "ftell": ("{0}.tell()", c.LONG),
    "time": ("c_time()", c.LONG),
    "exit": ("c_exit({0})", c.VOID),
    "abort": ("c_exit(134)", c.VOID),
}
"""Functions by name: their Python, with all arguments, those from the third on (`rest`) or single
ones put in, and their result."""

_NONNEGATIVE = ("rand", "strlen", "fread", "fwrite", "time", "clock", "size")
ALLOCATION = ("malloc", "calloc")


class Functions(Operators):
    """Functions of C, classes, vectors, strings, streams."""

    def c_call(self, node: Node, name: str, arguments: list[Node]) -> Value:
        is_std = node.called.startswith("std::") or self.program.using_std
        if name in (*MATH, "max", "min", "abs", "labs", "llabs"):
            return self._number_call(node, name, arguments, is_std)
        if name in ("strtol", "strtoul", "strtoll") and self.peek(arguments[1]).is_zero:
            texts = [self._plain(one) for one in arguments]
            return Value(f"strtol({texts[0]}, {texts[2]})", c.LONG)
        if name in _FUNCTIONS:
            form, kind = _FUNCTIONS[name]
            texts = [self._plain(one) for one in arguments]
            text = form.format(*texts, all=", ".join(texts), rest=", ".join(texts[2:]))
            return Value(text, kind, (0, kind.range[1]) if name in _NONNEGATIVE else None)
        values = [self.expression(one) for one in arguments]
        texts, kind = [one.text for one in values], values[0].type if values else c.VOID
        if name in ("max_element", "min_element") and is_std and len(values) == 2:
            return Value(f"{name}({', '.join(texts)})", kind)
        if name == "accumulate" and is_std and kind.pointed == values[-1].type and values[2:]:
            texts[2] = self.convert(values[2], kind.pointed).text
            return Value(f"accumulate({', '.join(texts)})", kind.pointed)
        if name in ("__float2half", "__half2float"):
            return self.convert(values[0], c.HALF if name == "__float2half" else c.FLOAT)
        if name.endswith("_clock::now"):
            return Value("c_seconds()", c.duration("steady_clock::time_point") or c.UNKNOWN)
        raise self.fail(node, "a function that is not known, or not in this form")

    def _plain(self, node: Node) -> str:
        """An argument of a function of C that takes what it gets."""
        taken = node.address_of
        if taken.kind in ("identifier", "field_expression"):
            place = self.place(taken)
            return place.object or place.target
        value = self.expression(node.stripped if node.stripped.kind == "call_expression" else node)
        return self.convert(value, c.INT).text if value.type.name == "condition" else value.text

    def _number_call(self, node: Node, name: str, arguments: list[Node], is_std: bool) -> Value:
        values = [self.expression(one) for one in arguments]
        kind = functools.reduce(common, [one.type for one in values])
        self.refuse(not kind.is_number, node, "a function of numbers")
        bounds = (min(one.range[0] for one in values), max(one.range[1] for one in values))
        if name in MATH:
            overloaded = is_std or self.program.overloads_math
            single = overloaded and f"{name}f" in MATH and all(x.type == c.FLOAT for x in values)
            name = f"{name}f" if single else name
            kind = c.FLOAT if name.endswith("f") and name != "erf" else c.DOUBLE
        elif name.endswith("abs"):
            kind = c.INT if kind.kind == "float" and self.program.language == "c" else kind
            name, bounds = "abs", (0, kind.range[1])
        texts = [self.convert(one, kind).text for one in values]
        return Value(f"{name}({', '.join(texts)})", kind, bounds if kind.is_integer else None)

    # Memory.

    def allocation(self, call: Node, node: Node, wanted: CType) -> Value:
        """``malloc`` and ``calloc``, for a pointer of type `wanted`."""
        if node.kind == "cast_expression":
            cast = self.type_of(node["type"])
            wanted = wanted if cast.pointed.kind == "void" else cast
        to = c.CHAR if wanted.pointed.kind == "void" else wanted.pointed
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
        self.refuse(count != "1", call, "several structs")
        return Value(f"{element}()", wanted)

    def _new_expression(self, node: Node) -> Value:
        to = self.type_of(node["type"])
        self.refuse(not node["declarator"], node, "a single object on the heap")
        self.refuse(self.is_destroyed(to), node, "objects with a destructor on the heap")
        count = self.expression(node["declarator"].children[0]).text
        return Value(f"allocate({self.element(to)}, {count})", pointer_to(to))

    def template_call(self, node: Node, arguments: list[Node]) -> Value:
        """``static_cast<T>(x)``, ``duration<double>(x)``."""
        function = next(node["function"].find("template_function"))
        if function["name"].text in (*CASTS, "duration_cast"):
            return self.cast(node, arguments[0], self.type_of(function.arguments[0]))
        return self.constructed(node, self.type_of(node["function"]), arguments)

    pointer_call: Callable[[Node, Value, list[Node]], Value]
    user_call: Callable[..., Value]
    """A call of a function of the program."""

    def constructed(self, node: Node, wanted: CType, arguments: list[Node]) -> Value:
        """C++'s ``T(arguments)``."""
        if wanted.is_number or wanted.kind in ("void", "pointer"):
            zero = self.convert(number(0), c.INT if wanted.kind == "void" else wanted)
            return self.cast(node, arguments[0], wanted) if arguments else zero
        if wanted.kind == "duration" and arguments:
            return self.converted(arguments[0], wanted)
        if wanted.kind == "string" and len(arguments) < 2:
            return self.converted(arguments[0], c.STRING) if arguments else Value('""', c.STRING)
        only = arguments[0] if len(arguments) == 1 else Node(None)
        is_value = only and only.kind != "initializer_list"
        if is_value and self.peek(only).type.plain == wanted.plain:
            return Value(self.copied(self.expression(only), only), wanted)
        if wanted.kind == "vector":
            return self._new_vector(node, wanted, arguments)
        if wanted.plain == c.DIM3:
            texts = [self.converted(one, c.PRIMITIVES["unsigned int"]).text for one in arguments]
            return Value(f"dim3({', '.join(texts)})", wanted)
        record = self.program.records.get(wanted.name)
        if wanted.kind == "struct" and record:
            if record.problem:
                raise self.fail(node, record.problem)
            simple = Function("", [], c.VOID, record.node, wanted.element)
            constructor = record.methods.get("__init__", simple)
            return self.user_call(node, constructor, arguments).typed(wanted)
        if wanted.kind in ("opaque", "struct") and not arguments:
            return Value(f"{self.element(wanted)}()", wanted)
        raise self.fail(node, f"making a {wanted}")

    def _new_vector(self, node: Node, wanted: CType, arguments: list[Node]) -> Value:
        texts = [self.element(wanted.pointed)]
        if arguments:
            first = self.expression(arguments[0])
            self.refuse(not first.type.is_integer, node, "a vector made so")
            texts.append(first.text)
            texts += [self.converted(one, wanted.pointed).text for one in arguments[1:]]
        return Value(f"Vector({', '.join(texts)})", wanted)

    def method(self, node: Node, arguments: list[Node]) -> Value:
        owner = self.pointee(self.expression(node["function"]["argument"]))
        name, kind, text = node["function"]["field"].text, owner.type, owner.at(".")
        small, to = (0, c.INT.range[1]), kind.pointed
        if kind.kind == "string" and name == "c_str":
            return Value(text, c.TEXT)
        if kind.kind == "duration" and name == "count":
            ticks = f"{owner.at('*')} * {kind.length}"
            return Value(ticks, c.DOUBLE) if kind.bits else Value(f"int({ticks})", c.LONG)
        results = {"size": c.SIZE, "empty": c.BOOL, "front": to, "back": to}
        results |= dict.fromkeys(("data", "begin", "end"), pointer_to(to))
        results |= dict.fromkeys(("push_back", "emplace_back", "pop_back", "clear"), c.VOID)
        results |= dict.fromkeys(("resize", "reserve", "assign"), c.VOID)
        if kind.kind == "vector" and name in results:
            wanted = [c.SIZE if name in ("resize", "reserve", "assign") else to, to]
            texts = [self.converted(*one).text for one in zip(arguments, wanted, strict=False)]
            bounds = small if name == "size" else None
            return Value(f"{text}.{name}({', '.join(texts)})", results[name], bounds)
        record = self.program.records.get(kind.name)
        if record and name in record.fields:
            return self.pointer_call(node, self.expression(node["function"]), arguments)
        if record is None or name not in record.methods:
            raise self.fail(node, f"a method of {kind}")
        return self.user_call(node, record.methods[name], arguments, f"{text}.")

    # Streams.

    def printed(self, node: Node) -> str:
        """What ``std::cout << a << b`` is in Python; nothing if it is something else."""
        operands: list[Node] = []
        whole = node
        while node.kind == "binary_expression" and node.operator == "<<":
            operands.insert(0, node["right"])
            node = node["left"]
        stream = {"cout": "cout", "cerr": "cerr", "clog": "cerr"}.get(
            node.text.removeprefix("std::")
        )
        if not operands or stream is None:
            return ""
        texts = [self._shown(one) for one in operands]
        for change in [*self.before, *self.after]:  # C++ makes it between two operands
            target = re.compile(rf"\b{change.split()[0]}(?!\w)")
            if sum(bool(target.search(one)) for one in texts) > 1:
                raise self.fail(whole, "a line that prints what it changes")
        return f"{stream}({', '.join(texts)})"

    def _shown(self, node: Node) -> str:
        value = self.expression(node)
        kind = value.type
        if kind.name in ("char", "unsigned char", "signed char"):
            return f"chr({value.text})"
        if kind.is_text or kind.kind == "string":
            return value.text
        self.refuse(not kind.is_number, node, f"printing a {kind}")
        return self.convert(value, c.BOOL if kind.name == "condition" else kind).text


def _factors(node: Node) -> list[Node]:
    """What a product multiplies."""
    node = node.stripped
    if node.kind == "binary_expression" and node.operator == "*":
        return [*_factors(node["left"]), *_factors(node["right"])]
    return [node]
