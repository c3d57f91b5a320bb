"""Calls: which kind of function a name means, and how the libraries' take their arguments."""

from __future__ import annotations

import re
from typing import Any

from ...raw.gone import changed
from .. import c_types as c
from ..c_types import CType
from ..syntax import Node
from .base import Function
from .functions import ALLOCATION, Functions
from .libraries import ALLOCATORS, foreign, is_library_call, of_ctypes, raw_parameters
from .preprocess import Macro
from .usage import only_checks
from .values import Untranslatable, Value

__all__ = ["Calls"]

# Functions that return no status.
_RESULTS = dict.fromkeys(
    ("cudnnGetErrorString", "cudaGetErrorString", "cudaGetErrorName", "cublasGetStatusString"),
    c.TEXT,
) | dict.fromkeys(("cudnnGetVersion", "cudnnGetCudartVersion", "cudnnGetMaxDeviceVersion"), c.SIZE)
_STATUSES = {"raw": "cudnnStatus_t", "v7": "cudnnStatus_t", "cudart": "cudaError_t"}

_NEWER = {"cudaThreadSynchronize": "cudaDeviceSynchronize", "cudaThreadExit": "cudaDeviceReset"}


class Calls(Functions):
    """All calls."""

    def library_call(self, node: Node, name: str, arguments: list[Node], checked: bool) -> Value:
        """A call of a function; one whose status is thrown away is a checked one."""
        module, function = foreign(name) or ("", None)
        parameters = raw_parameters(name) if module in ("raw", "v7") else None
        if parameters is not None and len(parameters) != len(arguments):
            if module != "raw" or not changed(name):
                raise self.fail(node, f"{name} takes {len(parameters)} arguments")
            module, function, parameters = "v7", None, None  # takes those that it had once, too
        texts = []
        for index, argument in enumerate(arguments):
            if name in ALLOCATORS and not index:
                texts.append(self._fresh_memory(argument, ALLOCATORS[name]))
            else:
                texts.append(self._argument_of(argument, parameters and parameters[index]))
        returns_status = name not in _RESULTS
        if returns_status and not checked and (function is None or hasattr(function, "unchecked")):
            name += ".unchecked"
        status = self.named_type(_STATUSES.get(module, "cublasStatus_t")) or c.INT
        return Value(f"{module}.{name}({', '.join(texts)})", _RESULTS.get(name, status))

    def _fresh_memory(self, node: Node, kind: str) -> str:
        """The first argument of ``cudaMalloc``: a pointer that is made anew."""
        if node.address_of:
            place = self.place(node.address_of)
        else:
            pointer = self.expression(node.stripped)
            target = f"{pointer.at('.')}[0]"
            place = Value(target, pointer.type.pointed, target=target)
        self.note_write(place)
        allocated = self.device_pointer(kind, place.type.pointed)
        if self.conditional and place.simple:
            return f"byref({place.target} := {allocated})"
        self.refuse(self.conditional, node, "an allocation that only happens sometimes")
        self.before.append(f"{place.target} = {allocated}")
        return f"byref({place.target})"

    def _argument_of(self, node: Node, parameter: Any) -> str:
        """An argument; `parameter` is what cuDNN declares, None for other libraries."""
        kind = parameter.type.kind if parameter else ""
        taken, is_memory = node.address_of, kind in ("labelled", "host")
        if taken:
            return self._address_of(taken, kind, not parameter or parameter.direction == "in")
        value = self.expression(node)
        if kind == "value" and parameter.type.base is not None and value.type.is_number:
            wanted = of_ctypes(parameter.type.base)
            return self.convert(value, wanted).text if wanted.is_number else value.text
        if value.is_zero and kind not in ("", "value"):
            return "None"
        is_list = value.type.pointed.kind == "pointer" and is_memory
        return f"addresses({value.text})" if is_list else value.text

    def _address_of(self, node: Node, kind: str, reads: bool) -> str:
        """An argument ``&node``, for a parameter of a kind (none: one of another library)."""
        place = self.peek(node)
        is_name = node.kind in ("identifier", "field_expression")
        if reads and place.type.kind == "pointer" and kind in ("labelled", "host"):
            return f"addresses([{self.expression(node).text}])"
        if is_name and reads and place.type.is_number and not place.object:
            memory = "c_int" if place.type.kind == "enum" else self.element(place.type)
            forms = {"scalar": "{1}", "array": "[{1}]", "": "byref({0}({1}))"}
            return forms.get(kind, "{0}({1})").format(memory, place.text)
        if is_name and not kind and place.type.is_object:
            return f"byref({place.target})" if place.type.kind == "opaque" else place.target
        if is_name and place.object and not place.type.is_object:
            return place.object if kind else f"byref({place.object})"
        return self.address(node).text

    def launch(self, node: Node, arguments: list[Node]) -> Value:
        called = " ".join(node.called.split())
        name = re.sub(r"\s*([<>,])\s*", r"\1", called)
        kernel = self.program.functions.get(name.split("<")[0])
        if kernel is None or kernel.kind != "kernel":
            raise self.fail(node, "a launch of what is no kernel")
        syntax = next(one for one in node.named if one.kind == "kernel_call_syntax")
        settings = [self.expression(one).text for one in syntax.children]
        settings += ["0", "None"][len(settings) - 2 :]
        types = _template_arguments(kernel.node, called)
        texts = [
            self._kernel_argument(one, types.get(parameter.type.name, parameter.type))
            for one, parameter in zip(arguments, kernel.parameters, strict=True)
        ]
        if name not in self.kernel_names:
            self.kernel_names.append(name)
        shown = ", ".join([f'"{name}"', *settings[:4], *texts])
        return Value(f"kernels.launch({shown})", c.VOID)

    def _kernel_argument(self, node: Node, wanted: CType) -> str:
        value = self.expression(node)
        if wanted.is_number and value.type.is_number:
            text = self.convert(value, wanted).text
            return text if wanted.plain == c.HALF else f"{self.element(wanted)}({text})"
        if wanted.kind == "unknown" and value.type.is_number:
            raise self.fail(node, f"a number for a kernel's parameter of type {wanted.name}")
        if value.type.is_pointer or value.text == "None":
            return value.text
        raise self.fail(node, f"a {value.type} for a kernel")

    checked: bool = (
        False  # whether the call that is translated stands where a status is thrown away
    )

    def _call_expression(self, node: Node) -> Value:
        function, arguments = node["function"], node.arguments
        checked, self.checked = self.checked, False
        name = _NEWER.get(function.text, function.text.removeprefix("std::"))
        if any(one.kind == "kernel_call_syntax" for one in node.named):
            return self.launch(node, arguments)
        if function.text.endswith(">"):
            return self.template_call(node, arguments)
        if function.kind == "field_expression":
            return self.method(node, arguments)
        if function.kind == "parenthesized_expression" and self.named_type(function.bare.text):
            return self.cast(node, arguments[0], self.named_type(function.bare.text) or c.UNKNOWN)
        if function.kind not in ("identifier", "qualified_identifier", "primitive_type"):
            value = self.expression(function)
            self.refuse(value.type.pointed.kind != "function", node, "a call of what is no name")
            return self.pointer_call(node, value, arguments)
        macro = self.program.macros.get(name)
        if macro and not macro.is_function and macro.body.isidentifier():
            name, macro = macro.body, self.program.macros.get(macro.body)
        if macro and macro.is_function:
            if self.is_check(macro, arguments):
                return self._checked(arguments[0])
            return self.expand(macro, [one.text for one in arguments], node)
        user, variable = self.program.functions.get(name), self.lookup(name)
        if variable is not None and variable.type.pointed.kind == "function":
            return self.pointer_call(node, self.variable(variable), arguments)
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
            self.refuse(self.is_destroyed(as_type), node, "a temporary object with a destructor")
            return self.constructed(node, as_type, arguments)
        return self.c_call(node, name, arguments)

    # Functions of the program.

    def pointer_call(self, node: Node, function: Value, arguments: list[Node]) -> Value:
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
        if not function.has_body or len(arguments) > len(function.parameters):
            raise self.fail(node, "a function without a body, or more arguments than parameters")
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
            self.refuse(self.is_destroyed(wanted), node, "a temporary object with a destructor")
            return self.initialized(node, wanted, inner.children)
        return self.convert(self.expression(node), wanted)

    # Calls of the libraries raise by themselves, so what checks their statuses is left out.

    def _returns_status(self, node: Node) -> bool:
        name = node.stripped.called
        return is_library_call(name) and name not in _RESULTS

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
        if macro is None or not macro.is_function or self.is_check(macro, arguments):
            return False
        words = r"(do|if|for|while|switch|return|goto)\b|\{"
        return bool(re.match(words, macro.body)) or ";" in macro.body

    def body_of(self, macro: Macro, arguments: list[str], node: Node, prefix: str = "") -> Node:
        """The block of what a macro stands for where `node` is."""
        if macro.name in self.program.refused:
            raise Untranslatable(self.program.refused[macro.name])
        body = prefix + macro.substituted(arguments, self.program.macros)
        if macro.name in self.expanding:
            raise Untranslatable(f"the macro {macro.name}: {body[:200]}")
        self.spend(len(body) + 100)
        block = self.fragment(body, node.line)
        if not block:
            raise Untranslatable(f"the macro {macro.name}: {body[:200]}")
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


def _template_arguments(kernel: Node, called: str) -> dict[str, CType]:
    """The types that ``name<float, int>`` gives to the parameters of a kernel's template."""
    names = re.findall(r"\b(?:typename|class)\s+(\w+)", kernel["parameters"].text)
    types = [one.strip() for one in called.partition("<")[2].rstrip("> ").split(",")]
    return {n: c.PRIMITIVES[t] for n, t in zip(names, types, strict=False) if t in c.PRIMITIVES}
