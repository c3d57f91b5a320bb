"""Initial values of variables: lists in braces, arrays, structs."""

from __future__ import annotations

import re
from typing import Any

from .program import children, stripped, text_of
from .type_names import TypeNames
from .types import CType, array_of
from .value import Untranslatable, Value

__all__ = ["InitialValues"]


class InitialValues(TypeNames):
    """What variables begin with."""

    def _array_variable(self, node: Any, name: str, kind: CType, value: Any) -> None:
        lengths, element = _dimensions(kind)
        listed = None
        if value is not None and value.type == "initializer_list":
            listed = self._values(element, value, len(lengths))
            if not lengths[0]:
                lengths[0] = str(len(children(value)))
        elif value is not None and element.name == "char":
            listed = self.expression(value).text
            if not lengths[0]:
                lengths[0] = f"strlen({listed}) + 1"
        elif value is not None:
            raise self.fail(node, "an array made so")
        if not all(lengths):
            raise self.fail(node, "an array without a length")
        kind = _with_lengths(element, lengths)
        text = self._array_text(element, lengths, listed)
        variable = self.declare(name, kind)
        self.emit(f"{variable.name} = {text}", self.line(node))

    def _array_text(self, element: CType, lengths: list[str], listed: str | None) -> str:
        name = self.element(element)
        if len(lengths) == 1 and element.kind in ("integer", "opaque", "enum", "bool"):
            if listed is None or listed == "[]":
                return f"({name} * {_factor(lengths[0])})()"
            if listed[0] == "[":
                return f"({name} * {_factor(lengths[0])})({listed[1:-1]})"
        values = f", values={listed}" if listed not in (None, "[]") else ""
        return f"array({', '.join([name, *lengths])}{values})"

    def _values(self, element: CType, node: Any, depth: int) -> str:
        texts = []
        for one in children(node):
            if one.type == "initializer_pair":
                raise self.fail(node, "an array whose elements are named")
            if one.type == "initializer_list" and depth > 1:
                texts.append(self._values(element, one, depth - 1))
            elif one.type == "initializer_list":
                texts.append(self._from_list(element, children(one)))
            elif depth > 1:
                raise self.fail(node, "an array of arrays without inner braces")
            else:
                value = self.converted(one, element)
                plain = element.kind == "float" and value.constant is not None
                texts.append(_number(value) if plain else value.text)
        if texts and all(text in ("0", "0.0") for text in texts) and depth == 1:
            return "[]"
        return f"[{', '.join(texts)}]"

    def _from_list(self, kind: CType, listed: list[Any]) -> str:
        """A struct, vector or number from ``{...}``."""
        if kind.kind == "vector":
            texts = [self.converted(one, kind.pointed).text for one in listed]
            return f"Vector({self.element(kind.pointed)}, [{', '.join(texts)}])"
        if kind.kind == "struct" and kind.name in self.program.records:
            return self._struct_from_list(kind, listed)
        if kind.kind in ("struct", "opaque") and all(text_of(one) == "0" for one in listed):
            return f"{self.element(kind)}()"
        if kind.name == "dim3":
            return f"dim3({', '.join(self.expression(one).text for one in listed)})"
        if len(listed) == 1:
            return self.converted(listed[0], kind).text
        raise Untranslatable(f"a {kind} from a list")

    def _struct_from_list(self, kind: CType, listed: list[Any]) -> str:
        record = self.program.records[kind.name]
        if record.constructors:
            return self.constructed(listed[0] if listed else record.node, kind, listed).text
        if len(listed) == 1 and text_of(listed[0]) in ("0", "NULL"):
            return f"{kind.element}()"
        texts = []
        for one, (name, field) in zip(listed, list(record.fields.items()), strict=False):
            prefix = ""
            if one.type == "initializer_pair":
                name = text_of(one.child_by_field_name("designator")).lstrip(".")
                field, prefix = record.fields[name], f"{self.safe_field(name)}="
                one = one.child_by_field_name("value")
            if field.kind == "array" and one.type == "initializer_list":
                lengths, element = _dimensions(field)
                texts.append(prefix + self._values(element, one, len(lengths)))
            elif one.type == "initializer_list":
                texts.append(prefix + self._from_list(field, children(one)))
            else:
                texts.append(prefix + self.converted(one, field).text)
        return f"{kind.element}({', '.join(texts)})"

    def constructed(self, node: Any, wanted: CType, arguments: list[Any]) -> Value:
        listed = node.type == "initializer_list" or stripped(node).type == "initializer_list"
        if listed and wanted.kind in ("vector", "struct"):
            return Value(self._from_list(wanted, arguments), wanted)
        return super().constructed(node, wanted, arguments)

    def field_kind(self, kind: CType, name: str) -> str:
        """What `Struct.fields` says of a field."""
        if kind.kind == "array":
            lengths, element = _dimensions(kind)
            return (
                f"({', '.join([self.element(element), *lengths])},)"
                if not lengths
                else (f"({', '.join([self.element(element), *lengths])})")
            )
        record = self.program.records.get(kind.name) if kind.kind == "struct" else None
        if record and any(
            one.default is None for made in record.constructors for one in made.parameters
        ):
            return "lambda: None"  # the constructor makes it
        text = self.element(kind)
        celled = name in self.program.addressed_fields and not kind.is_object
        return f"cell({text})" if celled and kind.kind != "string" else text

    def _object_text(self, node: Any, kind: CType, value: Any) -> str:
        if value is None:
            record = self.program.records.get(kind.name)
            if record and record.constructors:
                return self.constructed(node, kind, []).text
            if kind.kind == "opaque":
                return f"{self.element(kind)}()"
            return self.constructed(node, kind, []).text
        found = self.converted(value, kind)
        if found.text == "None" and kind.kind == "opaque":
            return f"{self.element(kind)}()"
        return self.copied(found, value)

    def _celled(self, kind: CType, text: str) -> str:
        if kind.kind == "pointer":
            return f"Cell({text})"
        if kind.kind == "enum" and kind.element:
            return text or "None"
        plain = re.fullmatch(r"float32\((-?[\w.+-]+)\)", text)
        return f"{self.element(kind)}({plain[1] if plain else text})"

    def _needed(self, kind: CType) -> str:
        """A global variable exists from the beginning."""
        if len(self.scopes) > 1:
            return ""
        if kind.kind == "pointer":
            return "None"
        return {"float": "float32(0)"}.get(kind.name, "0.0" if kind.kind == "float" else "0")

    def constructed_or_converted(self, node: Any, kind: CType, arguments: list[Any]) -> str:
        """The text of ``T name(arguments)``."""
        if (kind.is_number or kind.kind == "pointer") and len(arguments) == 1:
            return self.converted(arguments[0], kind).text
        return self.constructed(node, kind, arguments).text

    def _initial_text(self, node: Any, kind: CType, value: Any, cell: bool) -> str:
        """What a variable is when it is declared; nothing if it need not exist yet."""
        if value is not None and value.type == "argument_list":
            return self.constructed_or_converted(node, kind, children(value))
        if value is not None and value.type == "initializer_list":
            listed = children(value)
            if kind.is_number or kind.kind == "pointer":
                text = self.converted(listed[0], kind).text if listed else "0"
                return self._celled(kind, text) if cell else text
            return self._from_list(kind, listed)
        if kind.kind in ("vector", "stream", "string", "struct", "opaque"):
            return self._object_text(node, kind, value)
        if value is None:
            return self._celled(kind, "") if cell else self._needed(kind)
        text = self.converted(value, kind).text
        return self._celled(kind, text) if cell else text


def _dimensions(kind: CType) -> tuple[list[str], CType]:
    lengths = []
    while kind.kind == "array":
        lengths.append(kind.length)
        kind = kind.pointed
    return lengths, kind


def _with_lengths(element: CType, lengths: list[str]) -> CType:
    for length in reversed(lengths):
        element = array_of(element, length)
    return element


def _factor(length: str) -> str:
    return length if re.fullmatch(r"[\w.]+", length) else f"({length})"


def _number(value: Value) -> str:
    match = re.fullmatch(r"float32\((.*)\)|float\((.*)\)", value.text)
    return (match[1] or match[2]) if match else value.text
