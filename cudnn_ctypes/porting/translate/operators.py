"""Operators, and functions of C's and C++'s libraries."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace

from .. import program as c
from ..program import CType, common, pointer_to, promoted
from ..runtime.arithmetic import MATH
from ..source import CASTS, Node
from .base import Value, infix, integer, truth
from .expressions import CONDITION, Expressions, number
from .preprocess import brackets

# Functions that may be called once more without a difference.
_REPEATABLE = {"offset", "cast", "int_div", "int_mod", "sizeof", "data", "size", "Pointer", "value"}
_REPEATABLE |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_PLACES: tuple[str, ...] = (
    "identifier",
    "field_expression",
    "subscript_expression",
    "pointer_expression",
)
_PLACES += ("conditional_expression", "assignment_expression", "comma_expression")


class Operators(Expressions):
    """Operators, and functions of C, vectors, strings, streams."""

    def expression(self, node: Node) -> Value:
        self.spend(1)
        method = getattr(self, f"_{node.kind}", None)
        if method is None or node.tree.has_error:
            raise self.fail(node, f"no rule for {node.kind.replace('_', ' ')}")
        value: Value = method(node)
        return value

    def _parenthesized_expression(self, node: Node) -> Value:
        return self.expression(node.children[-1])

    _condition_clause = _parenthesized_expression

    def _conditional_expression(self, node: Node) -> Value:
        self.conditional += 1
        condition = self.truth(node["condition"])
        first = self.expression(node["consequence"])
        second = self.expression(node["alternative"])
        self.conditional -= 1
        kind = second.type if first.text == "None" else first.type
        if first.type.is_number and second.type.is_number:
            kind = common(first.type, second.type) if first.type != second.type else kind
            first, second = self.convert(first, kind), self.convert(second, kind)
        elif "None" not in (first.text, second.text) and first.type.kind != second.type.kind:
            raise self.fail(node, f"a choice between {first.type} and {second.type}")
        text = f"{first.after('if')} if {condition.after('if')} else {second.at('if')}"
        bounds = min(first.range[0], second.range[0]), max(first.range[1], second.range[1])
        return Value(text, kind, bounds if kind.is_integer else None)

    def _comma_expression(self, node: Node) -> Value:
        self.conditional += 1
        left, right = self.expression(node["left"]), self.expression(node["right"])
        self.conditional -= 1
        return replace(right.read(), text=f"({left.text}, {right.text})[-1]")

    def _unary_expression(self, node: Node) -> Value:
        operator = node.operator
        if operator == "!":
            value = self.truth(node["argument"])
            null = value.text.startswith("not is_null(")
            return truth(
                value.text[4:] if null else f"not {value.at('not')}", self.program.language
            )
        value = self.expression(node["argument"])
        kind = promoted(value.type)
        low, high = value.range
        if kind.is_number and operator == "-":
            return self.negative(value)
        if kind.is_integer and operator == "~":
            return integer(f"~{value.at('~')}", kind, ~high, ~low)
        if kind.is_number and operator == "+":
            return value.read().typed(kind)
        raise self.fail(node, f"{operator} of {value.type}")

    def truth(self, node: Node) -> Value:
        """A condition, for ``if``, ``while``, ``and``, ``or`` and ``not``."""
        value = self.expression(node)
        if value.type.is_pointer or value.type.kind == "opaque":
            return Value(f"not is_null({value.text})", c.BOOL)
        self.refuse(not value.type.is_number, node, f"the truth of {value.type}")
        return value

    def _binary_expression(self, node: Node) -> Value:
        if node.operator not in ("&&", "||"):
            left, right = self.expression(node["left"]), self.expression(node["right"])
            return self.computed(node, node.operator, left, right)
        self.conditional += 1
        left, right = self.truth(node["left"]), self.truth(node["right"])
        self.conditional -= 1
        value = truth(infix(left, "and" if node.operator == "&&" else "or", right))
        plain = left.is_condition and right.is_condition
        kind = c.INT if self.program.language == "c" else c.BOOL
        return value.typed(kind if plain else CONDITION)

    def computed(self, node: Node, operator: str, left: Value, right: Value) -> Value:
        """What an operator makes of two values."""
        kinds = (left.type.kind, right.type.kind)
        pointers = left.type.is_pointer or right.type.is_pointer or "opaque" in kinds
        if operator in ("==", "!=", "<", ">", "<=", ">="):
            return truth(self._compared(node, operator, left, right), self.program.language)
        if operator == "+" and "string" in kinds:
            return Value(f"{self.as_string(left)} + {self.as_string(right)}", c.STRING)
        if pointers:
            return self._pointer_arithmetic(node, operator, left, right)
        if not (left.type.is_number and right.type.is_number):
            raise self.fail(node, f"{operator} of {left.type} and {right.type}")
        is_shift = operator in ("<<", ">>")
        kind = promoted(left.type) if is_shift else common(left.type, right.type)
        if kind.is_integer:
            return self._computed_integer(operator, left, right, kind)
        if operator not in "+-*/" or is_shift:
            raise self.fail(node, f"{operator} of floating point numbers")
        left, right = self.operand(left, kind), self.operand(right, kind)
        strong = any(one.type.kind == "float" and not one.weak for one in (left, right))
        if kind == c.FLOAT and not strong:
            left = Value(f"float32({left.text})", c.FLOAT)
        if kind != c.FLOAT and operator == "/" and not right.constant:
            return Value(f"divide({left.text}, {right.text})", kind)
        return Value(infix(left, operator, right), kind)

    def _compared(self, node: Node, operator: str, left: Value, right: Value) -> str:
        pointers = [x for x in (left, right) if x.type.is_pointer or x.type.kind == "opaque"]
        negation = "not " if operator in ("!=", ">=", "<=") else ""
        if pointers and operator in ("==", "!=") and (left.is_zero or right.is_zero):
            return f"{negation}is_null({right.text if left.is_zero else left.text})"
        if "string" in (left.type.kind, right.type.kind):
            first, second = (Value(self.as_string(one), c.STRING) for one in (left, right))
            return infix(first, operator, second)
        if len(pointers) == 2 and operator in ("==", "!="):
            return f"{negation}same({left.text}, {right.text})"
        if len(pointers) == 2:
            first, second = (right, left) if operator in (">", "<=") else (left, right)
            return f"{negation}precedes({first.text}, {second.text})"
        if not (left.type.is_number and right.type.is_number):
            raise self.fail(node, f"comparing {left.type} with {right.type}")
        kind = common(left.type, right.type)
        return infix(self.operand(left, kind), operator, self.operand(right, kind))

    def _pointer_arithmetic(self, node: Node, operator: str, left: Value, right: Value) -> Value:
        if operator == "-" and left.type.is_pointer and right.type.is_pointer:
            element = self.element(left.type.pointed)
            return Value(f"difference({left.text}, {right.text}, {element})", c.LONG)
        if operator == "+" and right.type.is_pointer:
            left, right = right, left
        to = left.type.pointed
        if operator not in ("+", "-") or not right.type.is_integer:
            raise self.fail(node, f"{operator} of {left.type} and {right.type}")
        if not self.by_reference(to):
            return self.moved(left, right, operator)
        if left.type.kind == "array" and operator == "+":
            return Value(f"{left.at('.')}[{right.text}]", pointer_to(to))
        raise self.fail(node, f"moving {left.type}")

    def _computed_integer(self, operator: str, left: Value, right: Value, kind: CType) -> Value:
        is_product = operator == "*" and "sizeof(" in left.text + right.text
        if operator not in ("<<", ">>") and not is_product:
            left, right = self.operand(left, kind), self.operand(right, kind)
        low, high = _bounds(operator, left.range, right.range) or kind.range
        if operator in ("/", "%") and not (left.nonnegative and right.nonnegative):
            name = "int_div" if operator == "/" else "int_mod"
            return integer(f"{name}({left.text}, {right.text})", kind, low, high)
        text = infix(left, "//" if operator == "/" else operator, right)
        if kind == c.SIZE and operator in "+*":  # sizes in bytes do not come near its end
            return Value(text, kind, (max(low, 0), min(high, kind.range[1])))
        large = any(abs(one.constant or 0) > 65535 for one in (left, right))
        shifts = operator == "<<" and (left.constant != 1 or right.constant is not None)
        grows = shifts or (operator == "*" and large)
        if kind.signed and grows and not kind.range[0] <= low <= high <= kind.range[1]:
            return Value(f"int{kind.bits}({text})", kind)
        return integer(text, kind, low, high)

    # Assignments.

    def _assignment_expression(self, node: Node) -> Value:
        return self.change(node)

    _update_expression = _assignment_expression

    def change(self, node: Node, *, used: bool = True) -> Value:
        """An assignment, ``++`` or ``--``; Python does it before or after the line."""
        left, right = node["left"] or node["argument"], node["right"]
        place = self.place(left)
        kind, operator = place.type, node.operator[:-1]
        self.refuse(kind.kind in ("stream", "array"), node, f"assigning to {kind}")
        if operator:
            other = self.expression(right) if right else number(1)
            value = self.convert(self.computed(node, operator, place.read(), other), kind)
            text = value.text
        else:
            value = self.converted(right, kind)
            text = self.copied(value, right)
        if kind.is_object and text == "None":
            text = f"{self.element(kind)}()"
        if kind.kind == "integer" and kind.signed and right and _grows(place.target, text):
            text = f"int{kind.bits}({text})"
        line = _shortened(place.target, text, operator)
        repeated = used or (operator and line.startswith(f"{place.target} = "))
        if repeated and set(re.findall(r"(\w+)\(", place.target)) - _REPEATABLE:
            raise self.fail(node, "a change of what a call chooses")
        is_handle = left.kind == "pointer_expression" and place.text == place.target
        if kind.is_object and (is_handle or self._is_shared(left, kind)):
            line = f"assign({place.target}, {text})"
        self.note_write(place)
        is_late = not right and node.tree.children[0].type not in ("++", "--")
        if self.conditional:
            self.refuse(not place.simple, node, "an assignment that only happens sometimes")
            change = f"({place.target} := {text})"
            return Value(f"({place.text}, {change[1:-1]})[0]" if is_late else change, kind)
        (self.after if is_late else self.before).append(line)
        return place.read()

    def _is_shared(self, place: Node, kind: CType) -> bool:
        """Whether pointers or references to an object of the program may live."""
        variable = self.lookup(place.text) if place.kind == "identifier" else None
        hidden = variable and not (variable.refers or variable.is_global)
        is_own = kind.kind == "vector" or kind.name in self.program.records
        return is_own and not (hidden and place.text not in self.addressed)

    def note_write(self, place: Value) -> None:
        """Note that a function assigns to a global variable."""
        if len(self.scopes) > 1 and not place.simple:
            names = {one.name for one in self.scopes[0].values()}
            self.global_writes |= names & {place.target}

    def copied(self, value: Value, node: Node) -> str:
        """The text of a value that another variable takes."""
        is_value = value.type.kind in ("struct", "opaque", "vector") and value.text != "None"
        inner = node.stripped
        name = re.split(r"\W+", inner.called)[-1]
        function = self.program.functions.get(name)
        refers = name in ("front", "back") or (function and function.result.reference)
        is_place = inner.kind in _PLACES or refers
        return f"copied({value.text})" if is_value and is_place else value.text

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
        elif counts or element in ("object",) or to.kind == "struct":
            raise self.fail(call, f"how many {to} that is")
        else:
            bytes_ = self.expression(size)
            is_byte = element in ("c_byte", "c_ubyte")
            count = bytes_.text if is_byte else f"{bytes_.at('*')} // sizeof({element})"
        if to.kind != "struct" or not self.by_reference(to):
            return Value(f"allocate({element}, {count})", wanted)
        self.refuse(count != "1", call, "several structs")
        return Value(f"{element}()", wanted)

    def template_call(self, node: Node, arguments: list[Node]) -> Value:
        """``static_cast<T>(x)``, ``std::vector<T>(x)``."""
        function = next(node["function"].find("template_function"), Node(None))
        self.refuse(not function, node, "a template")
        if function["name"].text in CASTS:
            return self.cast(node, arguments[0], self.type_of(function.arguments[0]))
        return self.constructed(node, self.type_of(node["function"]), arguments)

    pointer_call: Callable[[Node, Value, list[Node]], Value]
    """A call through a pointer to a function."""

    def constructed(self, node: Node, wanted: CType, arguments: list[Node]) -> Value:
        """C++'s ``T(arguments)``."""
        if wanted.is_number or wanted.kind in ("void", "pointer"):
            zero = self.convert(number(0), c.INT if wanted.kind == "void" else wanted)
            return self.cast(node, arguments[0], wanted) if arguments else zero
        if wanted.kind == "string" and len(arguments) < 2:
            return self.converted(arguments[0], c.STRING) if arguments else Value('""', c.STRING)
        only = arguments[0] if len(arguments) == 1 else Node(None)
        is_value = only and only.kind != "initializer_list"
        if is_value and self.peek(only).type.plain == wanted.plain:
            return Value(self.copied(self.expression(only), only), wanted)
        if wanted.kind == "vector":
            return self._new_vector(node, wanted, arguments)
        if wanted.kind in ("opaque", "struct") and not arguments:
            return Value(f"{self.element(wanted)}()", wanted)
        raise self.fail(node, f"making a {wanted}")

    def _new_vector(self, node: Node, wanted: CType, arguments: list[Node]) -> Value:
        texts = [self.element(wanted.pointed)]
        if arguments:
            first = self.expression(arguments[0])
            if first.type.is_pointer and first.type.pointed.plain == wanted.pointed.plain:
                last = self.expression(arguments[1])
                return Value(f"Vector({texts[0]}, between({first.text}, {last.text}))", wanted)
            self.refuse(not first.type.is_integer, node, "a vector made so")
            texts.append(first.text)
            texts += [self.converted(one, wanted.pointed).text for one in arguments[1:]]
        return Value(f"Vector({', '.join(texts)})", wanted)

    def method(self, node: Node, arguments: list[Node]) -> Value:
        owner = self.pointee(self.expression(node["function"]["argument"]))
        name, kind, text = node["function"]["field"].text, owner.type, owner.at(".")
        small, to = (0, c.INT.range[1]), kind.pointed
        if kind.kind == "string" and name in _OF_STRINGS and not arguments:
            form, result = _OF_STRINGS[name]
            return Value(form.format(text), result, small if result == c.SIZE else None)
        if kind.kind == "exception" and name == "what":
            return Value(f"str({text})", c.TEXT)
        results = {"size": c.SIZE, "empty": c.BOOL, "front": to, "back": to}
        results |= dict.fromkeys(("data", "begin", "end"), pointer_to(to))
        results |= dict.fromkeys(("push_back", "pop_back", "clear", "resize", "reserve"), c.VOID)
        if kind.kind == "vector" and name in results:
            wanted = [c.SIZE if name in ("resize", "reserve") else to, to]
            texts = [self.converted(*one).text for one in zip(arguments, wanted, strict=False)]
            bounds = small if name == "size" else None
            return Value(f"{text}.{name}({', '.join(texts)})", results[name], bounds)
        record = self.program.records.get(kind.name)
        self.refuse(record is None or name not in record.fields, node, f"a method of {kind}")
        return self.pointer_call(node, self.expression(node["function"]), arguments)

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


def _bounds(operator: str, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int] | None:
    """Between which numbers a result lies, if that is known."""
    (a, b), (p, q) = left, right
    positive = a >= 0 and p >= 0
    corners = (a * p, a * q, b * p, b * q)
    most, shift = max(abs(a), abs(b)), max(0, min(q, 64))
    masks = [high for low, high in (left, right) if low >= 0]
    return {
        "+": (a + p, b + q),
        "-": (a - q, b - p),
        "*": (min(corners), max(corners)),
        "<<": (min(a, 0) << shift, max(b, 0) << shift),
        ">>": (min(a, 0), max(b, 0)),
        "/": (0 if positive else -most, most),
        "%": (min(a, 0), max(0, min(b, q - 1) if p > 0 else b)),
        "&": (0, min(masks)) if masks else None,
    }.get(operator, (0, (1 << max(b, q).bit_length()) - 1) if positive else None)


def _shortened(target: str, text: str, operator: str) -> str:
    """``a += b`` for ``a = a + b``."""
    for sign in {operator, "//" if operator == "/" else operator} if operator else ():
        if text.startswith(f"{target} {sign} "):
            rest = text[len(f"{target} {sign} ") :]
            bare = rest[0] == "(" and brackets(rest, 0)[0] == len(rest) - 1
            return f"{target} {sign}= {rest[1:-1] if bare else rest}"
    return f"{target} = {text}"


def _grows(target: str, text: str) -> bool:
    """Whether a number is multiplied by a constant and stored again, as a hash is."""
    name = re.escape(target)
    factor = rf"(?<![\w.]){name} \* \d|\d \* {name}(?![\w.])|int32\({name} <<"
    return bool(re.search(factor, text))


# Functions whose Python has the same name and arguments, by their result.
_SAME_NAMES: dict[CType, str] = {
    c.INT: "printf fprintf sprintf puts fputs sscanf fscanf strcmp strncmp memcmp atoi rand remove "
    "fclose feof fflush fgetc getc fseek",
    c.TEXT: "strcpy strncpy strcat strchr strstr fgets",
    c.SIZE: "strlen strcspn fread fwrite",
    c.VOID: "perror srand",
    pointer_to(c.VOID): "memcpy memset",
    c.DOUBLE: "atof ldexp",
    c.BOOL: "isnan isinf isfinite",
    c.LONG: "clock atol atoll ftell",
    pointer_to(c.FILE): "fopen",
}
_FUNCTIONS = {
    name: (f"{name}({{all}})", kind)
    for kind, names in _SAME_NAMES.items()
    for name in names.split()
} | {
    "memmove": ("memcpy({all})", pointer_to(c.VOID)),
    "snprintf": ("sprintf({0}, {rest}, size={1})", c.INT),
    "rewind": ("fseek({0}, 0, 0)", c.VOID),
    "putchar": ('printf("%c", {0})', c.INT),
    "strtod": ("atof({0})", c.DOUBLE),
    "strtof": ("atof({0})", c.DOUBLE),
    "stoi": ("stoi({0})", c.INT),
    "time": ("c_time()", c.LONG),
    "exit": ("c_exit({0})", c.VOID),
    "abort": ("c_exit(134)", c.VOID),
}
"""Functions by name: their Python, with all arguments, those from the third on (`rest`) or single
ones put in, and their result."""

_OF_STRINGS = {
    "c_str": ("{0}", c.TEXT),
    "size": ("strlen({0})", c.SIZE),
    "length": ("strlen({0})", c.SIZE),
    "empty": ("not {0}", c.BOOL),
}
"""Methods of ``std::string``: their Python and their result."""

_NONNEGATIVE = ("rand", "strlen", "fread", "fwrite", "time", "clock", "size")
ALLOCATION = ("malloc", "calloc")


def _factors(node: Node) -> list[Node]:
    """What a product multiplies."""
    node = node.stripped
    if node.kind == "binary_expression" and node.operator == "*":
        return [*_factors(node["left"]), *_factors(node["right"])]
    return [node]
