"""Calls of cuDNN, the CUDA runtime and cuBLAS, and launches of kernels."""

from __future__ import annotations

import re
from typing import Any

from ...raw.gone import changed
from .libraries import foreign, raw_parameters
from .objects import Objects
from .program import children, stripped, text_of
from .types import (
    INT,
    PRIMITIVES,
    SIZE,
    TEXT,
    VOID,
    CType,
)
from .value import ATOM, Value

__all__ = ["LibraryCalls"]

_RESULTS = {
    "cudnnGetVersion": SIZE,
    "cudnnGetCudartVersion": SIZE,
    "cudnnGetMaxDeviceVersion": SIZE,
    "cudnnGetErrorString": TEXT,
    "cudaGetErrorString": TEXT,
    "cudaGetErrorName": TEXT,
    "cublasGetStatusString": TEXT,
    "cublasGetStatusName": TEXT,
}
_STATUSES = {"raw": "cudnnStatus_t", "v7": "cudnnStatus_t", "cudart": "cudaError_t"}
ALLOCATORS = (
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocManaged",
    "cudaMallocHost",
    "cudaHostAlloc",
)
_FOR_HOST = ("cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc")


class LibraryCalls(Objects):
    """Functions of the libraries."""

    def _library_call(self, node: Any, name: str, arguments: list[Any], checked: bool) -> Value:
        found = foreign(name)
        assert found
        module, function = found
        known = raw_parameters(name)
        if module == "raw" and known is not None and len(known) != len(arguments):
            module, function = self._with_old_parameters(node, name)
        result = _RESULTS.get(name)
        first = self._fresh_memory(node, name, arguments) if name in ALLOCATORS else ""
        parameters = raw_parameters(name) if module == "raw" else None
        texts = []
        if parameters is None and module == "v7" and function is not None:
            parameters = getattr(function, "parameters", None)
            if parameters is not None and len(parameters) != len(arguments):
                raise self.fail(node, f"{name} takes {len(parameters)} arguments")
        for index, argument in enumerate(arguments):
            if parameters is not None:
                texts.append(self._raw_argument(argument, parameters[index]))
            elif first and not index:
                texts.append(first)
            else:
                texts.append(self._runtime_argument(argument))
        if result is None and not checked and (function is None or hasattr(function, "unchecked")):
            name += ".unchecked"
        kind = result or self.named_type(_STATUSES.get(module, "cublasStatus_t")) or INT
        return Value(f"{module}.{name}({', '.join(texts)})", kind)

    def _with_old_parameters(self, node: Any, name: str) -> tuple[str, Any]:
        """A function that had other parameters once takes either in ``compat.v7``."""
        if not changed(name):
            raise self.fail(node, f"{name} takes {len(raw_parameters(name))} arguments")
        return "v7", None

    def _fresh_memory(self, node: Any, name: str, arguments: list[Any]) -> str:
        """The first argument of ``cudaMalloc``: a pointer that is made anew."""
        place = self._pointed_by(stripped(arguments[0]))
        self.note_write(place)
        to = place.type.pointed
        element = self.device_element(to)
        kind = "cudart.DevicePointer"
        if name in _FOR_HOST:
            kind = "SharedPointer"
        if self.conditional and place.simple:
            return f"byref({place.target} := {kind}({element}))"
        if self.conditional:
            raise self.fail(node, "an allocation that only happens sometimes")
        self.before.append(f"{place.target} = {kind}({element})")
        return f"byref({place.target})"

    def _pointed_by(self, node: Any) -> Any:
        if node.type == "pointer_expression" and text_of(node).startswith("&"):
            return self.place(children(node)[-1])
        from .value import Place

        value = self.expression(node)
        return Place(f"{value.at(ATOM)}[0]", value.type.pointed)

    def _raw_argument(self, node: Any, parameter: Any) -> str:
        kind, base = parameter.type.kind, parameter.type.base
        inner = stripped(node)
        if inner.type == "pointer_expression" and text_of(inner).startswith("&"):
            return self._raw_address(children(inner)[-1], parameter)
        value = self.expression(node)
        if kind == "value" and base is not None:
            from .libraries import of_ctypes

            wanted = of_ctypes(base)
            if wanted.is_number and value.type.is_number:
                return self.convert(value, wanted).text
        if value.constant == 0 and value.type.is_integer and kind != "value":
            return "None"
        if value.type.pointed.kind == "pointer" and kind in ("labelled", "host"):
            return f"addresses({value.text})"
        return value.text

    def _raw_address(self, node: Any, parameter: Any) -> str:
        kind = parameter.type.kind
        if parameter.direction == "in" and kind in ("scalar", "array", "host", "labelled"):
            value = self.peek(node)
            if value.type.kind == "pointer" and kind in ("labelled", "host"):
                return f"addresses([{self.expression(node).text}])"
            if node.type in ("identifier", "field_expression") and value.type.is_number:
                place = self.place(node)
                if place.object:
                    return place.object
                if kind == "scalar":
                    return value.text
                if kind == "array":
                    return f"[{value.text}]"
                return f"{self._typed_name(value.type)}({value.text})"
        place_type = self.type_only(node)
        if node.type in ("identifier", "field_expression") and not place_type.is_object:
            place = self.place(node)
            if place.object:
                return place.object
        return self.address(node).text

    def _typed_name(self, kind: CType) -> str:
        return "c_int" if kind.kind == "enum" else self.element(kind)

    def _runtime_argument(self, node: Any) -> str:
        """An argument of a function of the CUDA runtime or cuBLAS."""
        inner = stripped(node)
        if inner.type == "pointer_expression" and text_of(inner).startswith("&"):
            target = children(inner)[-1]
            kind = self.type_only(target)
            if target.type in ("identifier", "field_expression"):
                place = self.place(target)
                if place.object:
                    return f"byref({place.object})"
                if kind.is_object:
                    return f"byref({place.target})" if kind.kind == "opaque" else place.target
                if kind.is_number:
                    return f"byref({self.element(kind)}({place.target}))"
            return self.address(target).text
        value = self.expression(node)
        if value.type.kind == "string":
            return value.text
        return value.text

    def _launch(self, node: Any, function: Any, arguments: list[Any]) -> Value:
        name = re.sub(r"\s*([<>,])\s*", r"\1", " ".join(text_of(function).split()))
        kernel = self.program.functions.get(name.split("<")[0])
        if kernel is None or kernel.kind != "kernel":
            raise self.fail(node, "a launch of what is no kernel")
        syntax = next(one for one in node.children if one.type == "kernel_call_syntax")
        settings = [self.expression(one).text for one in children(syntax)]
        settings += ["0", "None"][len(settings) - 2 :]
        given = _template_arguments(kernel.node, text_of(function))
        texts = [
            self._kernel_argument(one, given.get(parameter.type.name, parameter.type))
            for one, parameter in zip(arguments, kernel.parameters, strict=True)
        ]
        if name not in self.kernel_names:
            self.kernel_names.append(name)
        shown = ", ".join([f'"{name}"', *settings[:4], *texts])
        return Value(f"kernels.launch({shown})", VOID)

    def _kernel_argument(self, node: Any, wanted: CType) -> str:
        value = self.expression(node)
        if wanted.is_number and value.type.is_number:
            value = self.convert(value, wanted)
            if wanted.name in ("half", "__half"):
                return value.text
            return f"{self.element(wanted)}({value.text})"
        if wanted.kind == "unknown" and value.type.is_number:
            raise self.fail(node, f"a number for a kernel's parameter of type {wanted.name}")
        if value.type.is_pointer or value.text == "None":
            return value.text
        raise self.fail(node, f"a {value.type} for a kernel")


def _template_arguments(kernel: Any, called: str) -> dict[str, CType]:
    """The types that ``name<float, int>`` gives to the parameters of a kernel's template."""
    if kernel.type != "template_declaration":
        return {}
    parameters = text_of(kernel.child_by_field_name("parameters"))
    names = re.findall(r"\b(?:typename|class)\s+(\w+)", parameters)
    types = [" ".join(one.split()) for one in called.partition("<")[2].rstrip("> ").split(",")]
    return {n: PRIMITIVES[t] for n, t in zip(names, types, strict=False) if t in PRIMITIVES}
