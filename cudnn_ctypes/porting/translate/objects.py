"""Objects of C++ in Python: how they are made, their methods, what streams print."""

from __future__ import annotations

from collections.abc import Callable

from .c_functions import CFunctions
from .program import Function
from .syntax import Node
from .types import BOOL, DIM3, INT, PRIMITIVES, SIZE, STRING, TEXT, VOID, CType, pointer_to
from .value import Value

__all__ = ["Objects"]


class Objects(CFunctions):
    """Classes, vectors, strings, streams."""

    user_call: Callable[..., Value]
    """A call of a function of the program."""

    def construction(self, node: Node, wanted: CType, arguments: list[Node]) -> Value:
        """C++'s ``T(arguments)``."""
        simple = wanted.is_number or wanted.kind in ("void", "pointer")
        if simple and len(arguments) == 1:
            return self.cast(node, arguments[0], wanted)
        return self.constructed(node, wanted, arguments)

    def constructed(self, node: Node, wanted: CType, arguments: list[Node]) -> Value:
        """A new object of a class or container, made from arguments."""
        if wanted.kind == "string" and len(arguments) < 2:
            return self.converted(arguments[0], STRING) if arguments else Value('""', STRING)
        if wanted.kind == "vector":
            return self._new_vector(node, wanted, arguments)
        if wanted.plain == DIM3:
            texts = [self.converted(one, PRIMITIVES["unsigned int"]).text for one in arguments]
            return Value(f"dim3({', '.join(texts)})", wanted)
        record = self.program.records.get(wanted.name)
        if wanted.kind == "struct" and record:
            if record.problem:
                raise self.fail(node, record.problem)
            simple = Function("", [], VOID, record.node, wanted.element)
            constructor = record.methods.get("__init__", simple)
            return self.user_call(node, constructor, arguments).typed(wanted)
        if wanted.kind in ("opaque", "struct") and not arguments:
            return Value(f"{self.element(wanted)}()", wanted)
        raise self.fail(node, f"making a {wanted}")

    def _new_vector(self, node: Node, wanted: CType, arguments: list[Node]) -> Value:
        texts = [self.element(wanted.pointed)]
        if arguments:
            first = self.expression(arguments[0])
            if first.type.kind == "vector":
                return Value(f"copied({first.text})", wanted)
            if not first.type.is_integer:
                raise self.fail(node, "a vector made so")
            texts.append(first.text)
            texts += [self.converted(one, wanted.pointed).text for one in arguments[1:]]
        return Value(f"Vector({', '.join(texts)})", wanted)

    def method(self, node: Node, arguments: list[Node]) -> Value:
        """A call of a method."""
        owner = self.pointee(self.expression(node["function"]["argument"]))
        name, kind, text = node["function"]["field"].text, owner.type, owner.at(".")
        if kind.kind == "vector":
            return self._vector_method(node, f"{text}.{name}", kind.pointed, arguments)
        if kind.kind == "string" and name in ("size", "length"):
            return Value(f"strlen({text})", SIZE, (0, INT.range[1]))
        if kind.kind == "string" and name == "c_str":
            return Value(text, TEXT)
        if kind.kind == "string" and name == "empty":
            return Value(f"not {text}", BOOL)
        record = self.program.records.get(kind.name)
        if record is None or name not in record.methods:
            raise self.fail(node, f"a method of {kind}")
        return self.user_call(node, record.methods[name], arguments, f"{text}.")

    def _vector_method(self, node: Node, text: str, to: CType, arguments: list[Node]) -> Value:
        owner, _, name = text.rpartition(".")
        if name == "at":
            return Value(f"{owner}[{self.expression(arguments[0]).text}]", to)
        results = {"size": SIZE, "empty": BOOL, "front": to, "back": to}
        results |= dict.fromkeys(("data", "begin", "end"), pointer_to(to))
        if name in results:
            return Value(f"{text}()", results[name], (0, INT.range[1]) if name == "size" else None)
        counted = name in ("resize", "reserve", "assign")
        if not counted and name not in ("push_back", "emplace_back", "pop_back", "clear"):
            raise self.fail(node, "a method of std::vector")
        texts = [
            self.converted(one, SIZE if counted and not index else to).text
            for index, one in enumerate(arguments)
        ]
        return Value(f"{text}({', '.join(texts)})", VOID)

    # Streams.

    def printed(self, node: Node) -> str:
        """What ``std::cout << a << b`` is in Python; nothing if it is something else."""
        operands: list[Node] = []
        while node.kind == "binary_expression" and node.operator == "<<":
            operands.insert(0, node["right"])
            node = node["left"]
        stream = {"cout": "cout", "cerr": "cerr", "clog": "cerr"}.get(
            node.text.removeprefix("std::")
        )
        if not operands or stream is None:
            return ""
        return f"{stream}({', '.join(map(self._shown, operands))})"

    def _shown(self, node: Node) -> str:
        value = self.expression(node)
        kind = value.type
        if kind.name in ("char", "unsigned char", "signed char"):
            return f"chr({value.text})"
        if kind.is_text or kind.kind == "string":
            return value.text
        if not kind.is_number:
            raise self.fail(node, f"printing a {kind}")
        return self.convert(value, BOOL if kind.name == "condition" else kind).text
