"""Expressions: conversions between C's types, and names."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import numpy as np

from .. import program as c
from ..program import CType, array_of, pointer_to, promoted
from ..source import Node, Untranslatable
from .base import (
    REASONS,
    Base,
    Parameter,
    Value,
    Variable,
    foreign,
    foreign_members,
    foreign_type,
    integer,
    truth,
)

_QUALIFIERS = re.compile(
    r"\b(const|static|volatile|inline|extern|struct|class|enum|typename|restrict|__restrict__|"
    r"constexpr|register|unsigned(?=\s+std::))\b"
)
_SPECIFIERS = ("struct_specifier", "class_specifier", "enum_specifier", "union_specifier")
_NAMES = ("identifier", "field_identifier", "type_identifier", "qualified_identifier")

# What Python's `and` and `or` give, which is C's result only as a condition.
CONDITION = CType("bool", "condition", 8, False)


class Expressions(Base):
    """Values as other types; literals, names, elements, members, and what pointers point to."""

    def named_type(self, name: str) -> CType | None:
        """The type of that name, or None."""
        name = " ".join(_QUALIFIERS.sub(" ", name).split()).removeprefix("std::")
        if name in self.program.types:
            return self.program.types[name]
        return c.primitive(name) or foreign_type(name)

    def type_of(self, node: Node) -> CType:
        """The type of a declaration, parameter or cast, without what declarators add."""
        declares = node.kind in ("type_descriptor", "function_definition", "type_definition")
        declares = declares or node.kind.endswith(("declaration", "_loop"))
        kind = self._base_type(node["type"] if declares else node)
        if node.words("type_qualifier") & {"const", "constexpr"}:
            kind = replace(kind, const=True)
        is_whole = node.kind == "type_descriptor" and node["declarator"]
        return self.declared(kind, node["declarator"])[1] if is_whole else kind

    def _base_type(self, node: Node) -> CType:
        if node.kind == "placeholder_type_specifier":
            return c.UNKNOWN
        template = node["name"] if node.kind == "qualified_identifier" else node
        if template["name"].text == "vector":
            to = self.type_of(template.arguments[0])
            return CType("vector", "vector", to=to, element="Vector")
        name = node.text
        if node.kind in _SPECIFIERS:
            unnamed = [one.name for one in self.program.records.values() if one.node == node]
            name = node["name"].text or "".join(unnamed)
        found = self.named_type(name) if name else None
        if found is None:
            is_template = template.kind == "template_type"
            raise self.fail(node, "a template" if is_template else "a type that is not known")
        return found

    def declared(self, kind: CType, node: Node) -> tuple[str, CType]:
        """The name and type that a declarator makes of a base type."""
        if node.kind in _NAMES:
            return node.text, kind
        inner = node["declarator"]
        if not inner and node.kind != "abstract_array_declarator":
            inner = next((x for x in node.children if x.kind != "type_qualifier"), inner)
        if node.kind.endswith("pointer_declarator"):
            kind = pointer_to(kind)
        elif node.kind.endswith("reference_declarator"):
            kind = replace(kind, reference=True)
        elif node.kind.endswith("array_declarator"):
            length = self.expression(node["size"]) if node["size"] else None
            self.refuse(length and not length.type.is_integer, node, "the length of an array")
            kind = array_of(kind, length.text if length else "")
        elif node.kind == "function_declarator":
            kind = CType("function", to=kind, parameters=self._parameter_types(node))
        elif node.kind != "parenthesized_declarator":
            raise self.fail(node, "a declarator")
        return self.declared(kind, inner) if inner else ("", kind)

    def _parameter_types(self, node: Node) -> tuple[CType, ...]:
        """The types in the parentheses of a function's type; none if some are not known."""
        try:
            return tuple(one.type for one in self.parameters(node))
        except REASONS:
            return ()

    def parameters(self, declarator: Node) -> list[Parameter]:
        """The parameters of a function; arrays are pointers."""
        found = []
        for one in declarator["parameters"].children:
            if one.text == "void":
                continue
            is_plain = one.kind == "parameter_declaration"
            self.refuse(not is_plain, one, "a parameter that is not known, or has a default")
            name, kind = "", self.type_of(one)
            if one["declarator"]:
                name, kind = self.declared(kind, one["declarator"])
            kind = pointer_to(kind.pointed) if kind.kind == "array" else kind
            found.append(Parameter(name, kind))
        return found

    def convert(self, value: Value, wanted: CType) -> Value:
        """A value as another type, as C's assignment converts it."""
        wanted, have = wanted.plain, value.type
        if have == CONDITION:
            value = Value(f"bool({value.text})", c.BOOL)
            value = value if wanted.kind == "bool" else truth(f"int({value.text})", "c")
            have = value.type
        if wanted.kind == "bool" and have.kind != "bool":
            null = f"not is_null({value.text})"
            return truth(null if have.is_pointer else f"bool({value.text})")
        if wanted.is_number and have.is_number:
            as_number = self._as_float if wanted.kind == "float" else self._as_integer
            return as_number(value, wanted)
        if (wanted.is_pointer or wanted.kind == "opaque") and value.is_zero:
            return Value("None", wanted)
        if wanted.kind == "string" and (have.is_text or have.kind == "string"):
            return Value(self.as_string(value), c.STRING)
        if wanted.kind == "unknown":
            return value
        pointers = have.is_pointer or have.kind in ("opaque", "function", "unknown")
        to_pointer = wanted.is_pointer or (wanted.kind == "opaque" and have.is_pointer)
        to_rows = wanted.pointed.kind == "array" and have.pointed.is_number
        if not to_rows and (wanted.kind == have.kind or (to_pointer and pointers)):
            return value.typed(wanted)
        raise Untranslatable(f"converting {have} to {wanted}")

    def _as_integer(self, value: Value, wanted: CType) -> Value:
        have = value.type
        if wanted.kind == "enum":
            same = not wanted.element or have.name == wanted.name
            text = value.text if same else f"{self.element(wanted)}({value.text})"
            return Value(text, wanted)
        if have.kind == "float":
            return Value(f"int({value.text})", wanted)
        low, high = value.range
        if wanted.range[0] <= low and high <= wanted.range[1]:
            return replace(value, type=wanted, bounds=(low, high))
        return Value(f"{'' if wanted.signed else 'u'}int{wanted.bits}({value.text})", wanted)

    def _as_float(self, value: Value, wanted: CType) -> Value:
        if value.type == wanted and not value.weak:
            return value
        if wanted.bits < 64:
            return Value(f"float{wanted.bits}({value.text})", wanted)
        if value.type.is_integer and value.text.lstrip("-").isdigit():
            return Value(f"{value.text}.0", wanted)
        if value.weak:
            return Value(repr(float(np.float32(value.constant or 0))), wanted)
        return Value(f"float({value.text})", wanted)

    def operand(self, value: Value, kind: CType) -> Value:
        """A number that is combined with others as `kind`, converted where Python would not."""
        if kind.kind == "float":
            narrower = value.type.kind == "float" and value.type.bits < kind.bits
            return self.convert(value, kind) if narrower else value
        wraps = not kind.signed and not value.nonnegative
        return Value(f"uint{kind.bits}({value.text})", kind) if wraps else value

    def _cast_expression(self, node: Node) -> Value:
        return self.cast(node, node["value"], self.type_of(node["type"]))

    def cast(self, node: Node, inner: Node, wanted: CType) -> Value:
        """C's ``(wanted) inner``."""
        value = self.expression(inner)
        if wanted.kind == "void":
            return value
        self.refuse(wanted.is_number and value.type.is_pointer, node, "a pointer as a number")
        if not (wanted.is_pointer and value.type.is_pointer):
            return self.convert(value, wanted).read()
        have, to = value.type.pointed, wanted.pointed
        same = to.kind in ("void", "unknown") or str(have) == str(to)
        if not same and to.is_number and (have.is_number or have.kind in ("void", "array")):
            return Value(f"cast({value.text}, {self.element(to)})", wanted)
        if value.is_zero or same or have.kind == "void":
            return value.typed(wanted)
        raise self.fail(node, f"casting {value.type} to {wanted}")

    def _sizeof_expression(self, node: Node) -> Value:
        named, argument = node["type"], node["value"].bare
        kind = self.type_of(named) if named else self.named_type(argument.text)
        if kind is None:
            value = self.peek(argument)
            kind = value.type
            if kind.kind == "array":
                return Value(f"sizeof({value.text})", c.SIZE, (0, c.INT.range[1]))
        if kind.is_pointer:
            return Value("8", c.SIZE, (8, 8))
        return Value(f"sizeof({self.element(kind)})", c.SIZE, (0, c.INT.range[1]))

    def as_string(self, value: Value) -> str:
        """A value as a Python string."""
        if value.type.kind == "string" or (value.type.is_text and value.text[0] == '"'):
            return value.after("==")
        if value.type.is_text:
            return f"string({value.text})"
        raise Untranslatable(f"a string of {value.type}")

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
            return Value(shown, c.FLOAT if single else c.DOUBLE, weak=single)
        match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)", text)
        if match is None:
            raise self.fail(node, "a number that is not known")
        digits = re.sub(r"^0(?=\d)", "0o", match[1])
        worth = int(digits, 0)
        kind = _literal_type(worth, match[2].lower(), decimal=digits.isdigit())
        return Value(digits, kind, (worth, worth))

    def _char_literal(self, node: Node) -> Value:
        text = _unescaped(node.text[1:-1])
        self.refuse(len(text) != 1, node, "a character of several bytes")
        shown = "0" if text == "\0" else f"ord({_quoted(text)})"
        kind = c.INT if self.program.language == "c" else c.CHAR
        return Value(shown, kind, (ord(text), ord(text)))

    def _string_literal(self, node: Node) -> Value:
        self.refuse(node.text[0] != '"', node, "text with a prefix")
        return Value(_quoted(_unescaped(node.text[1:-1].replace("\\\n", ""))), c.TEXT)

    def _concatenated_string(self, node: Node) -> Value:
        parts = [ast.literal_eval(self.expression(part).text) for part in node.children]
        return Value(_quoted("".join(parts)), c.TEXT)

    def _true(self, node: Node) -> Value:
        return self.named_constant(node, node.text)

    _false = _null = _nullptr = _true

    def named_constant(self, node: Node, name: str) -> Value:
        """What a name that is no variable stands for."""
        macro = self.program.macros.get(name)
        if macro and not macro.is_function:
            return self.constant(macro)
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        found = foreign(name)
        if found:
            kind = foreign_type(type(found[1]).__name__) or c.INT
            bounds = (int(found[1]), int(found[1])) if isinstance(found[1], int) else None
            return Value(f"{found[0]}.{name}", kind, bounds)
        function = self.program.functions.get(name)
        if function and function.problem:
            raise self.fail(node, function.problem)
        if function:
            return Value(function.python, CType("function", name, to=function.result))
        if name in ("__func__", "__FUNCTION__") and self.function:
            return Value(_quoted(self.function.name), c.TEXT)
        if name == "__LINE__":
            return number(node.line)
        raise self.fail(node, "a name that is not known")

    def _identifier(self, node: Node) -> Value:
        name = node.text.split("::")[-1]
        variable = self.lookup(name)
        if variable is not None:
            return self.variable(variable)
        return self.named_constant(node, name)

    _qualified_identifier = _identifier

    def variable(self, variable: Variable) -> Value:
        """What a variable holds."""
        name = variable.name
        if variable.cell:
            return self._held(name, variable.type, variable.bounds)
        held = name if variable.filled else ""
        simple = not variable.is_global and name.isidentifier() and not held
        return Value(name, variable.type, variable.bounds, False, name, held, simple)

    def _held(self, name: str, kind: CType, bounds: tuple[int, int] | None = None) -> Value:
        """What an object of ctypes holds."""
        target = f"{name}.value"
        text = f"float32({target})" if kind.plain == c.FLOAT else target
        return Value(text, kind, bounds, target=target, object=name)

    def field(self, owner: str, name: str, kind: CType) -> Value:
        target = f"{owner}.{self.safe_field(name)}"
        by_value = kind.is_object or kind.kind == "array"
        if name in self.program.addressed_fields and not by_value:
            return self._held(target, kind)
        return Value(target, kind, target=target)

    def place(self, node: Node) -> Value:
        """What an expression names that C can assign to."""
        found = self.expression(node)
        self.refuse(not found.target, node, "not something that can be assigned to")
        return found

    def _subscript_expression(self, node: Node) -> Value:
        base, index = self._indexed(node)
        handles = base.type.pointed.kind == "opaque"
        moves = base.type.kind == "pointer" and self.by_reference(base.type.pointed)
        if base.type.kind not in ("pointer", "array", "vector") or (moves and not handles):
            raise self.fail(node, f"indexing {base.type}")
        return self._element(base, index.text)

    def _element(self, base: Value, index: str) -> Value:
        target = f"{base.at('.')}[{index}]"
        if base.type.kind == "pointer" and base.type.is_text:
            return Value(f"char_at({base.text}, {index})", base.type.pointed, target=target)
        return Value(target, base.type.pointed, target=target)

    def _indexed(self, node: Node) -> tuple[Value, Value]:
        base, index = self.expression(node["argument"]), node["indices"] or node["index"]
        value = self.expression(index.children[0] if index.kind.endswith("list") else index)
        self.refuse(not value.type.is_integer, node, "an index that is no integer")
        return base, value

    def _pointer_expression(self, node: Node) -> Value:
        if node.operator == "&":
            return self.address(node["argument"].bare)
        base = self.expression(node["argument"])
        to = base.type.pointed
        if not base.type.is_pointer or to.kind in ("void", "unknown"):
            raise self.fail(node, f"what {base.type} points to")
        if base.type.kind == "pointer" and self.by_reference(to):
            return Value(base.text, to, target=base.text)
        return self._element(base, "0")

    def pointee(self, owner: Value) -> Value:
        """The object itself, of a pointer to it too."""
        if not owner.type.is_pointer:
            return owner
        to = owner.type.pointed
        return Value(owner.text if self.by_reference(to) else f"{owner.at('.')}[0]", to)

    def _field_expression(self, node: Node) -> Value:
        owner, name = self.pointee(self.expression(node["argument"])), node["field"].text
        record = self.program.records.get(owner.type.name)
        members = record.fields if record else foreign_members(owner.type.name)
        unknown = owner.type.kind != "struct" or name not in members
        self.refuse(unknown, node, f"a member of {owner.type}")
        if record:
            return self.field(owner.at("."), name, members[name])
        target = f"{owner.at('.')}.{name}"
        text = f"float32({target})" if members[name] == c.FLOAT else target
        return Value(text, members[name], target=target)

    def address(self, node: Node) -> Value:
        """C's ``&node``."""
        if node.kind == "subscript_expression":
            base, index = self._indexed(node)
            to = base.type.pointed
            if self.by_reference(to):
                return Value(f"{base.at('.')}[{index.text}]", pointer_to(to))
            if base.type.kind == "array" and node["argument"].kind == "subscript_expression":
                base = self.address(node["argument"]).typed(pointer_to(to))  # a row of an array
            elif base.type.kind == "vector":
                base = Value(f"{base.at('.')}.data()", pointer_to(to))
            return self.moved(base, index, "+")
        place = self.place(node)
        kind = place.type
        if kind.is_object:
            shown = place.target if self.by_reference(kind) else f"Pointer([{place.target}])"
            return Value(shown, pointer_to(kind))
        if kind.kind == "array":
            return Value(place.target, pointer_to(kind.pointed))
        if place.object:
            shown = place.object if kind.kind == "pointer" else f"Pointer({place.object})"
            return Value(shown, pointer_to(kind))
        raise self.fail(node, "the address of this variable")

    def moved(self, base: Value, count: Value, operator: str) -> Value:
        """C's ``base + count`` and ``base - count`` of a pointer."""
        to = base.type.pointed
        if to.kind in ("void", "unknown"):
            raise Untranslatable(f"moving a pointer to {to}")
        lengths, inner = to.dimensions
        if lengths:
            row = Value(" * ".join(lengths), c.INT)
            count = replace(count, text=f"{count.at('*')} * {row.text}")
        if count.is_zero and not lengths:
            return Value(base.text, pointer_to(to))
        by_name = to.is_object and to.kind != "opaque"
        element = "object" if by_name else self.element(inner)
        text = count.text if operator == "+" else f"-{count.at('~')}"
        return Value(f"offset({base.text}, {text}, {element})", pointer_to(inner))


def function_declarator(node: Node) -> Node:
    """The part of a declaration that says that it is one of a function, if it is."""
    node = node["declarator"]
    while node.kind in ("pointer_declarator", "reference_declarator"):
        node = node["declarator"] or node.children[-1]
    is_pointer = node["declarator"].kind == "parenthesized_declarator"
    return node if node.kind == "function_declarator" and not is_pointer else Node(None)


def number(value: int, kind: CType = c.INT) -> Value:
    """An integer that is known."""
    return Value(str(value), kind, (value, value))


_UNSIGNED = c.PRIMITIVES["unsigned int"]
_UNSIGNED_LONG = c.PRIMITIVES["unsigned long"]
# Names that headers of C define.
_NUMBERS = {"EOF": -1, "EXIT_SUCCESS": 0, "EXIT_FAILURE": 1, "RAND_MAX": 2**31 - 1}
_NUMBERS |= {"INT_MAX": 2**31 - 1, "INT_MIN": -(2**31), "SEEK_SET": 0, "SEEK_CUR": 1, "SEEK_END": 2}
_NUMBERS |= {f"INT{bits}_MAX": 2 ** (bits - 1) - 1 for bits in (8, 16, 32)}
_NUMBERS |= {f"INT{bits}_MIN": -(2 ** (bits - 1)) for bits in (8, 16, 32)}
_FLOATS = {"FLT_MAX": "3.4028234663852886e38", "FLT_MIN": "1.1754943508222875e-38"}
_FLOATS |= {"FLT_EPSILON": "1.1920928955078125e-07", "INFINITY": '"inf"', "HUGE_VALF": '"inf"'}
_REALS = {"DBL_MAX": "1.7976931348623157e308", "DBL_EPSILON": "2.220446049250313e-16"}
_REALS |= {"M_PI": "3.141592653589793", "M_PI_2": "1.5707963267948966", "M_E": "2.718281828459045"}
_TEXTS = {"endl": '"\\n"', "flush": '""'}
_TEXTS |= {f"PRI{x}{bits}": f'"{size}{x}"' for x in "dux" for bits, size in ((32, ""), (64, "l"))}
_CONSTANTS: dict[str, Value] = {
    **{name: number(value) for name, value in _NUMBERS.items()},
    **{name: Value(f"float32({text})", c.FLOAT) for name, text in _FLOATS.items()},
    **{name: Value(text, c.DOUBLE) for name, text in _REALS.items()},
    **{name: Value(text, c.TEXT) for name, text in _TEXTS.items()},
    **{name: Value(name, pointer_to(c.FILE)) for name in ("stdout", "stderr", "stdin")},
    **{name: Value("None", pointer_to(c.VOID)) for name in ("NULL", "nullptr")},
    "true": replace(truth("True"), bounds=(1, 1)),
    "false": replace(truth("False"), bounds=(0, 0)),
    "UINT_MAX": number(2**32 - 1, _UNSIGNED),
    "SIZE_MAX": number(2**64 - 1, c.SIZE),
    "CLOCKS_PER_SEC": number(1000000, c.LONG),
    "HUGE_VAL": Value('float("inf")', c.DOUBLE),
    "NAN": Value('float32("nan")', c.FLOAT),
    "__FILE__": Value("__file__", c.TEXT),
}


def _literal_type(worth: int, suffix: str, *, decimal: bool) -> CType:
    is_long = "l" in suffix or "z" in suffix
    if "u" in suffix:
        return _UNSIGNED_LONG if is_long or worth >> 32 else _UNSIGNED
    if worth < 1 << 31 and not is_long:
        return c.INT
    if worth < 1 << 32 and not decimal and not is_long:
        return _UNSIGNED
    return c.LONG if worth < 1 << 63 else _UNSIGNED_LONG


def _unescaped(text: str) -> str:
    """C's text, as the characters that it stands for."""
    text = re.sub(r"\\([0-7]{1,3})", lambda match: f"\\x{int(match[1], 8):02x}", text)
    text = text.replace('"', '\\"').replace('\\\\"', '\\"')
    return str(ast.literal_eval('"' + text.replace("\\?", "?").replace("\\e", "\\x1b") + '"'))


def _quoted(text: str) -> str:
    """A Python literal with double quotes."""
    quotes = {'"': '\\"', "'": "'"}
    return f'"{"".join(quotes.get(one) or repr(one)[1:-1] for one in text)}"'
