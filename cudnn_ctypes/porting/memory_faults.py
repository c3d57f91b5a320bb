"""Host memory where device memory is wanted, and copies in the wrong direction."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .c_types import primitive
from .calls import Program
from .finding import Finding
from .syntax import Node

__all__ = ["memory_faults"]

# The sides of a copy that are device memory, by the direction.
_DEVICE_SIDES = {
    "cudaMemcpyHostToHost": (),
    "cudaMemcpyHostToDevice": (0,),
    "cudaMemcpyDeviceToHost": (1,),
    "cudaMemcpyDeviceToDevice": (0, 1),
}
_COPIES = {"cudaMemcpy", "cudaMemcpyAsync"}
_ON_DEVICE = {"cudaFree", "cudaMemset", "cudaMemsetAsync"}  # of their first argument

_ALLOCATES = re.compile(r"\b(?:malloc|calloc|aligned_alloc)\s*\(|\bnew\b")


def memory_faults(program: Program) -> Iterator[Finding]:
    """Likely faults in the memory that is passed to cuDNN and to the CUDA runtime."""
    places = _Places(program)
    for call in program.calls:
        for parameter in call.function.parameters:
            argument = call.arguments.get(parameter.name)
            if argument is None or parameter.type.kind != "device":
                continue
            if why := places.on_host(argument):
                text = f"{parameter.name} is device memory, and {argument.text} is {why}"
                yield program.at(argument, "fault", call.name, text)
    for node in program.source.root.find("call_expression"):
        yield from _runtime(program, places, node)


def _runtime(program: Program, places: _Places, node: Node) -> Iterator[Finding]:
    name, arguments = node.called, node.arguments
    texts = [each.text for each in arguments]
    if name in _COPIES and len(arguments) >= 4 and texts[3] in _DEVICE_SIDES:
        for side in (0, 1):
            on_device = side in _DEVICE_SIDES[texts[3]]
            why = places.on_host(arguments[side]) if on_device else places.on_gpu(arguments[side])
            if why:
                side_name = ("dst", "src")[side]
                text = f"{side_name} of {texts[3]}, and {texts[side]} is {why}"
                yield program.at(arguments[side], "fault", name, text)
    elif name in _ON_DEVICE and arguments:
        if why := places.on_host(arguments[0]):
            text = f"it wants device memory, and {texts[0]} is {why}"
            yield program.at(arguments[0], "fault", name, text)
        if name != "cudaFree" and len(texts) > 1 and _is_no_byte(texts[1]):
            text = f"it sets bytes, not elements: {texts[1]} fills each byte"
            yield program.at(arguments[1], "fault", name, text)


def _is_no_byte(value: str) -> bool:
    """A number that is meant for elements: all but 0, and those written as bytes."""
    return bool(re.fullmatch(r"\d*\.\d*f?|[1-9]\d*", value)) and float(value.rstrip("f")) != 0


class _Places:
    """Where the memory of a program's pointers was allocated, by function and name."""

    def __init__(self, program: Program) -> None:
        self.known = program.known
        self._found: dict[tuple[int, str], set[str]] = {}
        root = program.source.root
        for node in root.find("init_declarator", "assignment_expression"):
            value = node["value"] or node["right"]
            target = node["declarator"] or node["left"]
            if target and _ALLOCATES.search(value.text):
                self._note(target, "host")
        for node in root.find("call_expression"):
            if node.called in ("cudaMalloc", "cudaMallocPitch"):
                for argument in node.arguments[:1]:
                    self._note(argument, "device")

    def _note(self, node: Node, place: str) -> None:
        name = re.sub(r"\(\s*void\s*\*\s*\*\s*\)", "", node.text).lstrip("&*( ").rstrip(") ")
        self._found.setdefault((node.home.id, name), set()).add(place)

    def _allocated(self, node: Node) -> set[str]:
        return self._found.get((node.home.id, node.text), set())

    def on_gpu(self, argument: Node) -> str:
        """Why an argument is device memory; "" if it is not known to be."""
        return "allocated by cudaMalloc" if self._allocated(argument) == {"device"} else ""

    def on_host(self, argument: Node) -> str:
        """Why an argument is host memory; "" if it is not known to be."""
        text, variable = argument.text, self.known.find(argument)
        if text.endswith((".data()", ".begin()")):
            variable = self.known.find(argument["function"]["argument"])
            is_vector = variable is not None and re.match(r"(?:std::)?vector\s*<", variable.type)
            return "a std::vector" if is_vector else ""
        if self._allocated(argument) == {"host"}:
            return "allocated on the host"
        kind = None if variable is None else primitive(variable.type)
        if variable is None or kind is None or not kind.is_number:
            return ""
        if text.startswith("&") and variable.is_plain:
            return f"a {variable.type} of the host"
        is_own = variable.is_array and not variable.pointers and argument.kind == "identifier"
        return "an array of the host" if is_own else ""
