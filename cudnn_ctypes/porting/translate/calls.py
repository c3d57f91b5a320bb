"""Calls: which kind of function a name means, functions of the program, macros."""

from __future__ import annotations

import re

from .c_functions import ALLOCATION
from .libraries import is_library_call
from .library_calls import RESULTS, LibraryCalls
from .preprocess import Macro
from .program import Function
from .syntax import Node
from .types import CType
from .usage import only_checks
from .value import Untranslatable, Value

__all__ = ["Calls"]

_NEWER = {"cudaThreadSynchronize": "cudaDeviceSynchronize", "cudaThreadExit": "cudaDeviceReset"}


class Calls(LibraryCalls):
    """All calls."""

    checked = False  # whether the call that is translated stands where a status is thrown away

    def _call_expression(self, node: Node) -> Value:
        function, arguments = node["function"], node.arguments
        checked, self.checked = self.checked, False
        name = _NEWER.get(function.text, function.text.removeprefix("std::"))
        if any(one.kind == "kernel_call_syntax" for one in node.named):
            return self.launch(node, arguments)
        if function.kind == "template_function":
            return self.template_call(node, arguments)
        if function.kind == "field_expression":
            if self._is_function_pointer(function["field"].text):
                return self._pointer_call(node, self.expression(function), arguments)
            return self.method(node, arguments)
        if function.kind not in ("identifier", "qualified_identifier", "primitive_type"):
            raise self.fail(node, "a call of what is no name")
        macro = self.program.macros.get(name)
        if macro and not macro.is_function and macro.body.isidentifier():
            name, macro = macro.body, self.program.macros.get(macro.body)
        if macro and macro.is_function:
            if self.is_check(macro, arguments):
                return self._checked(arguments[0])
            return self.expand(macro, [one.text for one in arguments], node)
        user, variable = self.program.functions.get(name), self.lookup(name)
        if variable is not None and variable.type.pointed.kind == "function":
            return self._pointer_call(node, self.variable(variable), arguments)
        if self.record and name in self.record.methods:
            return self.user_call(node, self.record.methods[name], arguments, "self.")
        if user and user.is_check and arguments and self._returns_status(arguments[0]):
            return self._checked(arguments[0])
        if user:
            return self.user_call(node, user, arguments)
        if is_library_call(name):
            return self.library_call(node, name, arguments, checked)
        as_type = self.named_type(name)
        if as_type is not None:
            return self.construction(node, as_type, arguments)
        return self.c_call(node, name, arguments)

    # Functions of the program.

    def _is_function_pointer(self, name: str) -> bool:
        fields = [one.fields.get(name) for one in self.program.records.values()]
        return any(one is not None and one.pointed.kind == "function" for one in fields)

    def _pointer_call(self, node: Node, function: Value, arguments: list[Node]) -> Value:
        """A call through a pointer to a function."""
        kind = function.type.pointed
        if len(kind.parameters) != len(arguments) or any(one.reference for one in kind.parameters):
            raise self.fail(node, "a call through this pointer")
        texts = [
            self.converted(*pair).text for pair in zip(arguments, kind.parameters, strict=True)
        ]
        return Value(f"{function.at('.')}({', '.join(texts)})", kind.pointed.plain)

    def user_call(
        self, node: Node, function: Function, arguments: list[Node], owner: str = ""
    ) -> Value:
        if function.problem or function.kind != "host":
            raise self.fail(node, function.problem or "a function that runs on the GPU")
        if len(arguments) > len(function.parameters):
            raise self.fail(node, "more arguments than parameters")
        mark = len(self.after)
        texts = [
            self._argument(argument, parameter.type)
            for argument, parameter in zip(arguments, function.parameters, strict=False)
        ]
        shared = {one.name for one in self.scopes[0].values()}
        targets = {re.split(r" \S*= ", one)[0] for one in self.after[mark:]}
        if any(one in shared or not one.isidentifier() for one in targets):
            raise self.fail(node, "an argument that changes what the function may see")
        return Value(f"{owner}{function.python}({', '.join(texts)})", function.result.plain)

    def _argument(self, node: Node, wanted: CType) -> str:
        """An argument for a parameter of a function of the program."""
        if not wanted.is_cell:
            return self.converted(node, wanted).text
        place = self.place(node.stripped)
        if not place.object and node.stripped.kind != "subscript_expression":
            raise self.fail(node, "a reference to this")
        return place.object or self.address(node.stripped).text

    def converted(self, node: Node, wanted: CType) -> Value:
        inner = node.stripped
        if wanted.kind == "pointer" and inner.called.removeprefix("std::") in ALLOCATION:
            return self.allocation(inner, node, wanted)
        if inner.kind == "initializer_list":
            return self.initialized(node, wanted, inner.children)
        return self.convert(self.expression(node), wanted)

    # Calls of the libraries raise by themselves, so what checks their statuses is left out.

    def _returns_status(self, node: Node) -> bool:
        name = node.stripped.called
        return is_library_call(name) and name not in RESULTS

    def _checked(self, node: Node) -> Value:
        self.checked = True
        return self.expression(node.stripped)

    def is_check(self, macro: Macro, arguments: list[Node]) -> bool:
        """Whether a macro does nothing but look at the status of a library's function."""
        if not arguments or not self._returns_status(arguments[0]):
            return False
        block = self.fragment(re.sub(r"(?<!#)#\s*(\w+)", r'"\1"', macro.body))
        return bool(block) and only_checks(block.children, self.program)

    # Macros.

    def is_statement(self, macro: Macro | None, arguments: list[Node]) -> bool:
        """Whether a macro stands for statements."""
        if macro is None or not macro.is_function or self.is_check(macro, arguments):
            return False
        words = r"(do|if|for|while|switch|return|goto)\b|\{"
        return bool(re.match(words, macro.body)) or ";" in macro.body

    def body_of(self, macro: Macro, arguments: list[str], node: Node, prefix: str = "") -> Node:
        """The block of what a macro stands for where `node` is.

        Raises
        ------
        Untranslatable
            If it cannot be read, uses itself or is defined twice.
        """
        if macro.name in self.program.redefined:
            raise Untranslatable(f"a macro that is defined twice: {macro.name}")
        body = prefix + macro.substituted(arguments, self.program.macros)
        block = self.fragment(body, node.line)
        if macro.name in self.expanding or not block:
            raise Untranslatable(f"the macro {macro.name}: {body}")
        return block

    def expand(self, macro: Macro, arguments: list[str], node: Node) -> Value:
        block = self.body_of(macro, arguments, node, "x = ")
        value = next(block.find("expression_statement")).children[0]["right"]
        if not value:
            raise Untranslatable(f"the macro {macro.name}: {macro.body}")
        self.expanding.append(macro.name)
        try:
            return self.expression(value)
        finally:
            self.expanding.pop()
