"""Calls of cuDNN, the CUDA runtime and cuBLAS, and launches of kernels."""

from __future__ import annotations

import re
from typing import Any

from ...raw.gone import changed
from .libraries import ALLOCATORS, foreign, of_ctypes, raw_parameters
from .objects import Objects
from .syntax import Node
from .types import HALF, INT, PRIMITIVES, SIZE, TEXT, VOID, CType
from .value import Value

__all__ = ["RESULTS", "LibraryCalls"]

RESULTS = {
    **dict.fromkeys(("cudnnGetVersion", "cudnnGetCudartVersion", "cudnnGetMaxDeviceVersion"), SIZE),
    **dict.fromkeys(("cudnnGetErrorString", "cudaGetErrorString", "cudaGetErrorName"), TEXT),
    **dict.fromkeys(("cublasGetStatusString", "cublasGetStatusName"), TEXT),
}
"""Functions that return no status."""

_STATUSES = {"raw": "cudnnStatus_t", "v7": "cudnnStatus_t", "cudart": "cudaError_t"}


class LibraryCalls(Objects):
    """Functions of the libraries."""

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
            if parameters is not None:
                texts.append(self._raw_argument(argument, parameters[index]))
            elif name in ALLOCATORS and not index:
                texts.append(self._fresh_memory(argument, ALLOCATORS[name]))
            else:
                texts.append(self._runtime_argument(argument))
        returns_status = name not in RESULTS
        if returns_status and not checked and (function is None or hasattr(function, "unchecked")):
            name += ".unchecked"
        status = self.named_type(_STATUSES.get(module, "cublasStatus_t")) or INT
        return Value(f"{module}.{name}({', '.join(texts)})", RESULTS.get(name, status))

    def _fresh_memory(self, node: Node, kind: str) -> str:
        """The first argument of ``cudaMalloc``: a pointer that is made anew."""
        if node.address_of:
            place = self.place(node.address_of)
        else:
            pointer = self.expression(node.stripped)
            target = f"{pointer.at('.')}[0]"
            place = Value(target, pointer.type.pointed, target=target)
        self.note_write(place)
        made = self.device_pointer(kind, place.type.pointed)
        if self.conditional and place.simple:
            return f"byref({place.target} := {made})"
        if self.conditional:
            raise self.fail(node, "an allocation that only happens sometimes")
        self.before.append(f"{place.target} = {made}")
        return f"byref({place.target})"

    def _raw_argument(self, node: Node, parameter: Any) -> str:
        kind, base = parameter.type.kind, parameter.type.base
        if node.address_of:
            return self._raw_address(node.address_of, parameter)
        value = self.expression(node)
        if kind == "value" and base is not None and value.type.is_number:
            wanted = of_ctypes(base)
            return self.convert(value, wanted).text if wanted.is_number else value.text
        if value.is_zero and kind != "value":
            return "None"
        is_list = value.type.pointed.kind == "pointer" and kind in ("labelled", "host")
        return f"addresses({value.text})" if is_list else value.text

    def _raw_address(self, node: Node, parameter: Any) -> str:
        kind, place = parameter.type.kind, self.peek(node)
        is_name = node.kind in ("identifier", "field_expression")
        if parameter.direction == "in" and kind in ("scalar", "array", "host", "labelled"):
            if place.type.kind == "pointer" and kind in ("labelled", "host"):
                return f"addresses([{self.expression(node).text}])"
            if is_name and place.type.is_number and not place.object:
                is_enum = place.type.kind == "enum"
                memory = "c_int" if is_enum else self.element(place.type)
                typed = f"{memory}({place.text})"
                return {"scalar": place.text, "array": f"[{place.text}]"}.get(kind, typed)
        if is_name and place.object and not place.type.is_object:
            return place.object
        return self.address(node).text

    def _runtime_argument(self, node: Node) -> str:
        """An argument of a function of the CUDA runtime or cuBLAS."""
        taken = node.address_of
        if not taken:
            return self.expression(node).text
        if taken.kind in ("identifier", "field_expression"):
            place = self.place(taken)
            if place.object or place.type.kind == "opaque":
                return f"byref({place.object or place.target})"
            if place.type.is_object:
                return place.target
            if place.type.is_number:
                return f"byref({self.element(place.type)}({place.target}))"
        return self.address(taken).text

    def launch(self, node: Node, arguments: list[Node]) -> Value:
        """A launch of a kernel."""
        called = " ".join(node.called.split())
        name = re.sub(r"\s*([<>,])\s*", r"\1", called)
        kernel = self.program.functions.get(name.split("<")[0])
        if kernel is None or kernel.kind != "kernel":
            raise self.fail(node, "a launch of what is no kernel")
        syntax = next(one for one in node.named if one.kind == "kernel_call_syntax")
        settings = [self.expression(one).text for one in syntax.children]
        settings += ["0", "None"][len(settings) - 2 :]
        given = _template_arguments(kernel.node, called)
        texts = [
            self._kernel_argument(one, given.get(parameter.type.name, parameter.type))
            for one, parameter in zip(arguments, kernel.parameters, strict=True)
        ]
        if name not in self.kernel_names:
            self.kernel_names.append(name)
        shown = ", ".join([f'"{name}"', *settings[:4], *texts])
        return Value(f"kernels.launch({shown})", VOID)

    def _kernel_argument(self, node: Node, wanted: CType) -> str:
        value = self.expression(node)
        if wanted.is_number and value.type.is_number:
            text = self.convert(value, wanted).text
            return text if wanted.plain == HALF else f"{self.element(wanted)}({text})"
        if wanted.kind == "unknown" and value.type.is_number:
            raise self.fail(node, f"a number for a kernel's parameter of type {wanted.name}")
        if value.type.is_pointer or value.text == "None":
            return value.text
        raise self.fail(node, f"a {value.type} for a kernel")


def _template_arguments(kernel: Node, called: str) -> dict[str, CType]:
    """The types that ``name<float, int>`` gives to the parameters of a kernel's template."""
    names = re.findall(r"\b(?:typename|class)\s+(\w+)", kernel["parameters"].text)
    types = [one.strip() for one in called.partition("<")[2].rstrip("> ").split(",")]
    return {n: PRIMITIVES[t] for n, t in zip(names, types, strict=False) if t in PRIMITIVES}
