"""What C can assign to or take the address of, in Python."""

from __future__ import annotations

import ctypes
from dataclasses import replace

from .libraries import foreign, of_ctypes
from .literals import Literals
from .program import Variable
from .syntax import Node
from .types import DIM3, FLOAT, INT, PRIMITIVES, TEXT, CType, array_of, pointer_to
from .value import Untranslatable, Value

__all__ = ["Places"]


class Places(Literals):
    """Variables, elements, members, and what pointers point to."""

    def _identifier(self, node: Node) -> Value:
        variable = self.lookup(node.text)
        if variable is not None:
            return self.variable(variable)
        if self.record and node.text in self.record.fields:
            return self.field("self", node.text, self.record.fields[node.text])
        return self.named_constant(node, node.text)

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
        text = f"float32({target})" if kind.plain == FLOAT else target
        return Value(text, kind, bounds, target=target, object=name)

    def field(self, owner: str, name: str, kind: CType) -> Value:
        """A member of a struct of the program."""
        target = f"{owner}.{self.safe_field(name)}"
        by_value = kind.is_object or kind.kind == "array"
        if name in self.program.addressed_fields and not by_value:
            return self._held(target, kind)
        return Value(target, kind, target=target)

    def place(self, node: Node) -> Value:
        """What an expression names that C can assign to.

        Raises
        ------
        Untranslatable
            If it names nothing of that kind.
        """
        found = self.expression(node)
        if not found.target:
            raise self.fail(node, "not something that can be assigned to")
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
        if not value.type.is_integer:
            raise self.fail(node, "an index that is no integer")
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
        text, record = owner.at("."), self.program.records.get(owner.type.name)
        if owner.type.kind != "struct":
            raise self.fail(node, f"a member of {owner.type}")
        if record is not None and name in record.fields:
            return self.field(text, name, record.fields[name])
        target = f"{text}.{name}"
        if owner.type.plain == DIM3:
            return Value(target, PRIMITIVES["unsigned int"], target=target)
        module, kind = foreign(owner.type.name) or ("", None)
        fields = dict(getattr(kind, "_fields_", ())) if module else {}
        if kind and f"_{name}" in fields:  # an enum that the class reads as one
            return Value(target, of_ctypes(type(getattr(kind(), name))), target=target)
        if name not in fields:
            raise self.fail(node, f"{owner.type} has no such member")
        held = fields[name]
        if not issubclass(held, ctypes.Array):
            found = of_ctypes(held)
            text = f"float32({target})" if found == FLOAT else target
            return Value(text, found, target=target)
        is_text = held._type_ is ctypes.c_char
        kind = TEXT if is_text else array_of(of_ctypes(held._type_), str(held._length_))
        return Value(target, kind, target=target)

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
        if node.kind == "pointer_expression":
            return self.expression(node["argument"])
        raise self.fail(node, "the address of this variable")

    def moved(self, base: Value, count: Value, operator: str) -> Value:
        """C's ``base + count`` and ``base - count`` of a pointer."""
        to = base.type.pointed
        if to.kind in ("void", "unknown"):
            raise Untranslatable(f"moving a pointer to {to}")
        lengths, inner = to.dimensions
        if lengths:
            row = Value(" * ".join(lengths), INT)
            count = replace(count, text=f"{count.at('*')} * {row.text}")
        if count.is_zero and not lengths:
            return Value(base.text, pointer_to(to))
        by_name = to.is_object and to.kind != "opaque"
        element = "object" if by_name else self.element(inner)
        text = count.text if operator == "+" else f"-{count.at('~')}"
        return Value(f"offset({base.text}, {text}, {element})", pointer_to(to))
