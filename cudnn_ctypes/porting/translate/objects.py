"""Objects of C++ in Python: how they are made, and their methods."""

from __future__ import annotations

from typing import Any

from .c_functions import CFunctions
from .program import text_of
from .types import (
    BOOL,
    PRIMITIVES,
    SIZE,
    STRING,
    TEXT,
    VOID,
    CType,
    pointer_to,
)
from .value import ATOM, Value

__all__ = ["Objects"]

_VECTOR_RESULTS = {"size": SIZE, "empty": BOOL}
_VECTOR_METHODS = ["resize", "reserve", "push_back", "emplace_back", "pop_back", "clear", "assign"]


class Objects(CFunctions):
    """Classes, vectors, strings, streams."""

    def _construction(self, node: Any, wanted: CType, arguments: list[Any]) -> Value:
        if (wanted.is_number or wanted.kind == "void") and len(arguments) == 1:
            return self.cast(node, arguments[0], wanted)
        return self.constructed(node, wanted, arguments)

    def constructed(self, node: Any, wanted: CType, arguments: list[Any]) -> Value:
        """A new object of a class or container, made from arguments."""
        if wanted.kind == "vector":
            return self._new_vector(node, wanted, arguments)
        if wanted.kind == "string":
            if not arguments:
                return Value('""', STRING)
            if len(arguments) == 1:
                return self.converted(arguments[0], STRING)
            raise self.fail(node, "a string made so")
        if wanted.kind == "stream":
            return self._new_stream(node, wanted, arguments)
        if wanted.name == "dim3":
            texts = [self.converted(one, PRIMITIVES["unsigned int"]).text for one in arguments]
            return Value(f"dim3({', '.join(texts)})", wanted)
        record = self.program.records.get(wanted.name)
        if wanted.kind == "struct" and record:
            return self._new_record(node, wanted, arguments)
        if wanted.kind in ("opaque", "struct") and not arguments:
            return Value(f"{self.element(wanted)}()", wanted)
        raise self.fail(node, f"making a {wanted}")

    def _new_record(self, node: Any, wanted: CType, arguments: list[Any]) -> Value:
        record = self.program.records[wanted.name]
        if record.problem:
            raise self.fail(node, record.problem)
        usable = [one for one in record.constructors if len(one.parameters) >= len(arguments)]
        if record.constructors and len(record.constructors) == 1 and usable:
            made = self.user_call(node, usable[0], arguments)
            return made.typed(wanted)
        if record.constructors:
            raise self.fail(node, "a choice between constructors")
        texts = [
            self.converted(one, kind).text
            for one, kind in zip(arguments, record.fields.values(), strict=False)
        ]
        return Value(f"{wanted.element}({', '.join(texts)})", wanted)

    def _new_vector(self, node: Any, wanted: CType, arguments: list[Any]) -> Value:
        element = self.element(wanted.pointed)
        if not arguments:
            return Value(f"Vector({element})", wanted)
        first = self.expression(arguments[0])
        if first.type.kind == "vector":
            return Value(f"copied({first.text})", wanted)
        if not first.type.is_integer:
            raise self.fail(node, "a vector made so")
        texts = [element, first.text]
        if len(arguments) > 1:
            texts.append(self.converted(arguments[1], wanted.pointed).text)
        return Value(f"Vector({', '.join(texts)})", wanted)

    def _new_stream(self, node: Any, wanted: CType, arguments: list[Any]) -> Value:
        if wanted.name == "ifstream" and arguments:
            return Value(f"Input.from_file({self.expression(arguments[0]).text})", wanted)
        if wanted.name == "ofstream" and len(arguments) == 1:
            return Value(f"Output.to_file({self.expression(arguments[0]).text})", wanted)
        if wanted.name in ("ostringstream", "stringstream") and not arguments:
            return Value("Output.to_text()", wanted)
        raise self.fail(node, f"a {wanted.name}")

    def _method(self, node: Any, function: Any, arguments: list[Any]) -> Value:
        owner = self.expression(function.child_by_field_name("argument"))
        name = text_of(function.child_by_field_name("field"))
        ctype = owner.type
        text = owner.at(ATOM)
        if ctype.kind == "pointer":
            text += "" if self.by_reference(ctype) else "[0]"
            ctype = ctype.pointed
        if ctype.kind == "vector":
            return self._vector_method(node, text, ctype, name, arguments)
        if ctype.kind == "string":
            return self._string_method(node, text, name, arguments)
        if ctype.kind == "stream":
            return self._stream_method(node, text, ctype, name, arguments)
        record = self.program.records.get(ctype.name)
        if record is None or name not in record.methods:
            raise self.fail(node, f"a method of {ctype}")
        return self.user_call(node, record.methods[name], arguments, f"{text}.")

    def _vector_method(
        self, node: Any, text: str, ctype: CType, name: str, arguments: list[Any]
    ) -> Value:
        to = ctype.pointed
        if name in _VECTOR_RESULTS:
            small = name == "size"
            kind = _VECTOR_RESULTS[name]
            return Value(f"{text}.{name}()", kind, nonnegative=True, small=small)
        if name in ("data", "begin", "end"):
            return Value(f"{text}.{name}()", pointer_to(to))
        if name in ("front", "back"):
            return Value(f"{text}.{name}()", to)
        if name == "at" and len(arguments) == 1:
            return Value(f"{text}[{self.expression(arguments[0]).text}]", to)
        if name in _VECTOR_METHODS:
            counted = name in ("resize", "reserve", "assign")
            texts = []
            for index, one in enumerate(arguments):
                wanted = SIZE if counted and not index else to
                texts.append(self.converted(one, wanted).text)
            return Value(f"{text}.{name}({', '.join(texts)})", VOID)
        raise self.fail(node, "a method of std::vector")

    def _string_method(self, node: Any, text: str, name: str, arguments: list[Any]) -> Value:
        if name in ("size", "length"):
            return Value(f"strlen({text})", SIZE, nonnegative=True, small=True)
        if name == "c_str":
            return Value(text, TEXT)
        if name == "empty":
            return Value(f"not {text}", BOOL, 4)
        raise self.fail(node, "a method of std::string")

    def _stream_method(
        self, node: Any, text: str, ctype: CType, name: str, arguments: list[Any]
    ) -> Value:
        if name in ("is_open", "good", "eof", "fail"):
            return Value(f"{text}.{name}()", BOOL)
        if name == "close":
            return Value(f"{text}.close()", VOID)
        if name == "str" and not arguments:
            return Value(f"{text}.text()", STRING)
        if name == "read" and len(arguments) == 2:
            texts = [self.expression(one).text for one in arguments]
            return Value(f"{text}.read({', '.join(texts)})", ctype)
        raise self.fail(node, f"a method of {ctype}")
