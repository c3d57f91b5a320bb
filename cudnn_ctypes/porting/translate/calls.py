"""Calls: which kind of function a name means, and functions of the program."""

from __future__ import annotations

import re
from typing import Any

from .c_functions import _ALLOCATION
from .checks import only_checks
from .libraries import is_library_call
from .library_calls import _RESULTS, LibraryCalls
from .program import Function, children, descendants, stripped, text_of
from .types import (
    CType,
)
from .value import ATOM, Value

__all__ = ["Calls"]


_NEWER = {"cudaThreadSynchronize": "cudaDeviceSynchronize", "cudaThreadExit": "cudaDeviceReset"}


class Calls(LibraryCalls):
    """All calls."""

    checked = False  # whether the call that is translated stands where a status is thrown away

    def call(self, node: Any) -> Value:
        function = node.child_by_field_name("function")
        arguments = children(node.child_by_field_name("arguments"))
        checked, self.checked = self.checked, False
        if any(one.type == "kernel_call_syntax" for one in node.children):
            return self._launch(node, function, arguments)
        if function.type == "field_expression" and self._is_function_pointer(function):
            return self._pointer_call(node, self.expression(function), arguments)
        if function.type == "field_expression":
            return self._method(node, function, arguments)
        if function.type == "template_function":
            return self._template_call(node, function, arguments)
        name = text_of(function)
        if name.startswith("std::"):
            name, is_std = name[5:], True
        else:
            is_std = False
        if function.type not in ("identifier", "qualified_identifier", "primitive_type"):
            raise self.fail(node, "a call of what is no name")
        return self._named_call(node, name, arguments, checked, is_std)

    def _named_call(
        self, node: Any, name: str, arguments: list[Any], checked: bool, is_std: bool
    ) -> Value:
        name = _NEWER.get(name, name)
        macro = self.program.macros.get(name)
        if macro and macro.parameters is None and macro.body.isidentifier():
            name, macro = macro.body, self.program.macros.get(macro.body)
        if macro and macro.parameters is not None:
            return self._macro_call(node, macro, arguments, checked)
        user = self.program.functions.get(name)
        variable = self.lookup(name)
        if variable is not None and variable.type.pointed.kind == "function":
            return self._pointer_call(node, self._variable_place(variable).read(), arguments)
        if self.record and name in self.record.methods:
            return self.user_call(node, self.record.methods[name], arguments, "self.")
        if user:
            if user.is_check and arguments and self._is_library(arguments[0]):
                return self._checked(arguments[0])
            return self.user_call(node, user, arguments)
        if is_library_call(name):
            return self._library_call(node, name, arguments, checked)
        as_type = self.named_type(name)
        if as_type is not None:
            return self._construction(node, as_type, arguments)
        return self._c_call(node, name, arguments, is_std)

    def _is_function_pointer(self, node: Any) -> bool:
        name = text_of(node.child_by_field_name("field"))
        fields = [one.fields[name] for one in self.program.records.values() if name in one.fields]
        return any(one.pointed.kind == "function" for one in fields)

    def _pointer_call(self, node: Any, function: Value, arguments: list[Any]) -> Value:
        """A call through a pointer to a function."""
        kind = function.type.pointed
        if len(kind.parameters) != len(arguments) or any(one.reference for one in kind.parameters):
            raise self.fail(node, "a call through this pointer")
        texts = [
            self.converted(argument, wanted).text
            for argument, wanted in zip(arguments, kind.parameters, strict=True)
        ]
        return Value(f"{function.at(ATOM)}({', '.join(texts)})", kind.pointed.plain())

    def _is_library(self, node: Any) -> bool:
        node = stripped(node)
        if node.type != "call_expression":
            return False
        name = text_of(node.child_by_field_name("function"))
        return is_library_call(name) and name not in _RESULTS

    def _checked(self, node: Any) -> Value:
        self.checked = True
        return self.call(stripped(node))

    def is_check_macro(self, macro: Any) -> bool:
        """Whether a macro does nothing where the status that it looks at is success."""
        root = self.fragment(re.sub(r"(?<!#)#\s*(\w+)", r'"\1"', macro.body))
        compound = next(descendants(root, "compound_statement"))
        return not root.has_error and only_checks(children(compound), self.program)

    def _macro_call(self, node: Any, macro: Any, arguments: list[Any], checked: bool) -> Value:
        if arguments and self._is_library(arguments[0]) and self.is_check_macro(macro):
            return self._checked(arguments[0])
        return self.expand(macro, [text_of(one) for one in arguments])

    def user_call(
        self, node: Any, function: Function, arguments: list[Any], owner: str = ""
    ) -> Value:
        if function.problem:
            raise self.fail(node, function.problem)
        if function.kind != "host":
            raise self.fail(node, "a function that runs on the GPU")
        if len(arguments) > len(function.parameters):
            raise self.fail(node, "more arguments than parameters")
        mark = len(self.after)
        texts = [
            self.argument(argument, parameter.type)
            for argument, parameter in zip(arguments, function.parameters, strict=False)
        ]
        shared = {one.name for one in self.scopes[0].values()}
        for change in self.after[mark:]:
            target = change.partition(" = ")[0]
            if target in shared or not target.isidentifier():
                raise self.fail(node, "an argument that changes what the function may see")
        result = function.result
        nonnegative = result.is_integer and not result.signed
        text = f"{owner}{function.python}({', '.join(texts)})"
        return Value(text, result.plain(), nonnegative=nonnegative)

    def argument(self, node: Any, wanted: CType) -> str:
        """An argument for a parameter of a function of the program."""
        if wanted.reference and not wanted.is_object and not wanted.const:
            inner = stripped(node)
            place = self.place(inner)
            if place.object:
                return place.object
            if inner.type == "subscript_expression":
                return self.address(inner).text
            raise self.fail(node, "a reference to this")
        return self.converted(node, wanted).text

    def converted(self, node: Any, wanted: CType) -> Value:
        inner = stripped(node)
        if wanted.kind == "pointer" and inner.type == "call_expression":
            name = text_of(inner.child_by_field_name("function")).removeprefix("std::")
            if name in _ALLOCATION:
                return self._allocation(name, inner, node, wanted)
        if inner.type == "initializer_list":
            return self.constructed(node, wanted, children(inner))
        return self.convert(self.expression(node), wanted)
