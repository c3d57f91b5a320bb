"""Declarations of variables in Python."""

from __future__ import annotations

from typing import Any

from .initial_values import InitialValues
from .program import Variable, children, descendants, text_of
from .type_names import _leading_words
from .types import UNKNOWN, CType
from .value import Untranslatable

__all__ = ["Declarations"]


class Declarations(InitialValues):
    """Variables."""

    def _do_declaration(self, node: Any) -> None:
        base = self.type_of(node)
        words = _leading_words(node)
        for declarator in node.children_by_field_name("declarator"):
            self._clear()
            value = None
            if declarator.type == "init_declarator":
                value = declarator.child_by_field_name("value")
                declarator = declarator.child_by_field_name("declarator")
            name, kind = self.declared(base, declarator)
            if kind.kind == "function":
                if len(self.scopes) > 1 and self._is_object(base, declarator):
                    self._made_by_parentheses(node, base, declarator)
                continue
            if "extern" in words and value is None:
                continue
            if "static" in words and self.function is not None:
                self._static(node, name, kind, value)
            else:
                self._variable(node, name, kind, value)

    def _is_object(self, base: CType, declarator: Any) -> bool:
        """Whether ``T name(a, b);`` makes an object, since a and b are no types."""
        listed = children(declarator.child_by_field_name("parameters"))
        named = any(self.named_type(text_of(one.child_by_field_name("type"))) for one in listed)
        return base.kind in ("struct", "vector") and bool(listed) and not named

    def _made_by_parentheses(self, node: Any, base: CType, declarator: Any) -> None:
        name = text_of(declarator.child_by_field_name("declarator"))
        root = self.fragment(f"f{text_of(declarator.child_by_field_name('parameters'))}")
        arguments = next(descendants(root, "argument_list"))
        text = self.constructed(node, base, children(arguments)).text
        self._emit_variable(self.declare(name, base), text, self.line(node))

    def _static(self, node: Any, name: str, kind: CType, value: Any) -> None:
        """A variable of a function that lives on: one of the module with the function's name."""
        if self.record or not (kind.is_number or kind.kind == "array"):
            raise self.fail(node, f"a static {kind}")
        assert self.function
        kept, scopes = self.out.lines, self.scopes
        self.out.lines, self.scopes = [], scopes[:1]
        long_name = f"{self.function.name}_{name}"
        addressed = {long_name} if name in self.addressed else set()
        self.addressed, kept_addressed = addressed, self.addressed
        try:
            self._variable(node, long_name, kind, value)
            if not self.out.lines:
                raise self.fail(node, "a static variable without a value")
            self.statics += [(text, line) for _, text, line in self.out.lines]
        finally:
            self.out.lines, self.scopes, self.addressed = kept, scopes, kept_addressed
        self.scopes[-1][name] = self.scopes[0][long_name]

    statics: list[tuple[str, int]]

    def _variable(self, node: Any, name: str, kind: CType, value: Any) -> None:
        line = self.line(node)
        if kind.reference:
            self._reference(node, name, kind, value)
            return
        if kind.kind == "unknown":
            if value is None:
                raise self.fail(node, "a type that is not known")
            found = self.expression(value)
            if found.type.kind in ("unknown", "void", "function"):
                raise self.fail(node, "a type that is not known")
            kind = found.type.plain()
        if kind.kind == "array":
            self._array_variable(node, name, kind, value)
            return
        filled = name in self.program.filled and kind.kind == "pointer"
        cell = name in self.addressed and (kind.is_number or kind.kind == "pointer") and not filled
        variable = self.declare(name, kind, cell=cell)
        variable.filled = filled
        text = self._initial_text(node, kind, value, cell)
        if kind.is_integer and "const" in _leading_words(node) and value is not None:
            self._note_constant(variable, value)
        if filled and text in ("", "None"):
            text = f"cudart.DevicePointer({self.device_element(kind.pointed)})"
        if text:
            self._emit_variable(variable, text, line)

    def _note_constant(self, variable: Variable, value: Any) -> None:
        variable.nonnegative = self.peek(value).nonnegative

    def _emit_variable(self, variable: Variable, text: str, line: int) -> None:
        if variable.cell and variable.type.kind == "enum" and variable.type.element:
            self.before.append(f"{variable.name} = {self.element(variable.type)}()")
            self.emit(f"{variable.name}.value = {text}" if text != "None" else "", line)
            return
        if variable.type.kind == "struct" and self.is_destroyed(variable.type):
            self._open_scope(line)
            text = f"{self._scope_name}({text})"
        self.emit(f"{variable.name} = {text}", line)

    _scope_name = "scope"

    def _open_scope(self, line: int) -> None:
        """Begin the block at whose end objects are destroyed, if this block has none yet."""
        if len(self.scopes) == 1:
            raise Untranslatable("a global object with a destructor")
        if "scope" in self.scopes[-1]:
            self._scope_name = self.scopes[-1]["scope"].name
            return
        variable = self.declare("scope", UNKNOWN)
        self._scope_name = variable.name
        for text in self.before:
            self.out.add(text, line)
        self.before = []
        self.out.add(f"with Scope() as {variable.name}:", line)
        self.out.depth += 1

    def _reference(self, node: Any, name: str, kind: CType, value: Any) -> None:
        if value is None:
            raise self.fail(node, "a reference to nothing")
        found = self.expression(value)
        kind = found.type.plain() if kind.kind == "unknown" else kind.plain()
        if not (found.type.is_object or "const" in _leading_words(node)):
            raise self.fail(node, "a reference to a number")
        if found.type.is_number:
            found = self.convert(found, kind)
        variable = self.declare(name, kind)
        self.emit(f"{variable.name} = {found.text}", self.line(node))
