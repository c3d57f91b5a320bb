"""Names of cuDNN and CUDA in a program: those that are gone, their new calls, and kernels."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator

from ..lazy import listed
from ..raw import constants, enums, functions, types
from ..raw.function import Function
from ..raw.gone import Gone, changed
from ..raw.gone import find as find_gone
from .compat.v7.declarations import left_out
from .program import Declarations, Finding
from .source import Node, Source


def new_call(name: str) -> str:
    """A function's call with the names of its parameters."""
    function: Function = getattr(functions, name)
    return f"{name}({', '.join(p.name for p in function.parameters)})"


_NAME = re.compile(r"\b(?:cudnn[A-Z]\w*|CUDNN_[A-Z]\w*)\b")
_IDENTIFIERS = ("identifier", "type_identifier", "field_identifier")


@functools.cache
def _living() -> frozenset[str]:
    names = {name for module in (functions, enums, constants) for name in module.__all__}
    declared = [getattr(types, name) for name in types.__all__]
    pointees = {each._type_.__name__ for each in declared if hasattr(each, "_type_")}
    return frozenset(names | {name for name in (*dir(types), *pointees) if _NAME.fullmatch(name)})


def cudnn_names(source: Source, known: Declarations) -> Iterator[Finding]:
    """A finding for every place that names something of cuDNN, those in macros included."""
    own = known.names.union(
        _own_names(source), *(_own_names(header.source) for header in known.headers)
    )
    for node in source.root.find(*_IDENTIFIERS):
        name = node.text
        if _NAME.fullmatch(name) and name not in own:
            yield _finding(name, *node.place, node)
    for macro in source.macros.values():
        for name in dict.fromkeys(_NAME.findall(macro.body)):
            if name not in own:
                yield _finding(name, macro.line, 1, Node(None))


def _own_names(source: Source) -> set[str]:
    """The program's own definitions with names like cuDNN's."""
    own = set(source.macros)
    for node in source.root.find("function_definition", "struct_specifier", "class_specifier"):
        inner = node["declarator"] or node["name"]
        if node["body"]:
            own |= set(_NAME.findall(inner.text.partition("(")[0]))
    return own


def _finding(name: str, line: int, column: int, node: Node) -> Finding:
    call = _call_of(node)
    arguments = call.arguments
    if gone := find_gone(name):
        if not call and node.parent.kind == "argument_list":
            with_it = find_gone(node.parent.parent.called)
            if with_it is not None and with_it.why == gone.why:
                text = f"gone since cuDNN {gone.gone}, with {with_it.name}"
                return Finding("gone", line, column, name, text)
        return Finding("gone", line, column, name, _why(gone), gone.now)
    if name not in _living():
        return _unknown(name, line, column, node)
    function = getattr(functions, name, None)
    if not isinstance(function, Function):
        return Finding("kept", line, column, name)
    if call and len(arguments) != len(function.parameters):
        text = f"{len(arguments)} arguments; it takes {len(function.parameters)}"
        note = changed(name)
        text += f" ({note}; cudnn_ctypes.compat.v7 takes either)" if note else ""
        return Finding("gone", line, column, name, text, (new_call(name),))
    if function.deprecated and function.replaced_by in functions.FUNCTIONS:
        text = f"deprecated, and still there; {function.replaced_by} replaces it"
        return Finding("note", line, column, name, text, (new_call(function.replaced_by),))
    return Finding("kept", line, column, name)


def _unknown(name: str, line: int, column: int, node: Node) -> Finding:
    arguments = _call_of(node).arguments
    if len(arguments) == 1 and arguments[0].called in functions.FUNCTIONS:
        text = f"it looks at a status, which Python's functions do: {name}(f(x)) is f(x)"
        return Finding("note", line, column, name, text)
    if like := _misspelt(name):
        text = f"no release of cuDNN is known to have it; did you mean {like}?"
        return Finding("unknown", line, column, name, text)
    return Finding("own", line, column, name, "no name of cuDNN, but the program's or a library's")


@functools.cache
def _misspelt(name: str) -> str:
    """The name of cuDNN that is so much like `name` that it must be meant; "" if none is."""
    return next(iter(difflib.get_close_matches(name, _living(), n=1, cutoff=0.9)), "")


def _why(gone: Gone) -> str:
    text = f"gone since cuDNN {gone.gone}: {gone.why}"
    if reason := left_out().get(gone.name):
        return f"{text} (cudnn_ctypes.compat.v7 has it not: {reason})"
    return f"{text} (cudnn_ctypes.compat.v7 has it as it was)"


def _call_of(node: Node) -> Node:
    """The call whose function a name is."""
    return node.parent if node and node.parent["function"] == node else Node(None)


RENAMED = {"cudaThreadSynchronize": "cudaDeviceSynchronize", "cudaThreadExit": "cudaDeviceReset"}
"""Functions of the CUDA runtime that have another name today."""

_CUDA_IDENTIFIERS = ("identifier", "type_identifier", "namespace_identifier")


def cuda_names(source: Source) -> Iterator[Finding]:
    """A finding for every place that names something of CUDA or cuBLAS."""
    own = set(source.macros) | _defined(source)
    for node in source.root.find(*_CUDA_IDENTIFIERS):
        name = node.text
        if name in own:
            continue
        if re.fullmatch(r"cuda[A-Z]\w+", name):
            yield _of_library(name, node, "cudart", "cuda.bindings.runtime")
        elif re.fullmatch(r"cublas\w+", name):
            yield _of_library(name.removesuffix("_v2"), node, "cublas", "nvmath.bindings.cublas")
        elif re.fullmatch(r"cu[A-Z][a-z]+\w*", name) and node.parent.kind == "call_expression":
            text = f"cuda.bindings.driver.{name} of CUDA Python"
            yield Finding("cuda", *node.place, name, text)


def _defined(source: Source) -> set[str]:
    """The functions and types that the program itself has."""
    names = set()
    for node in source.root.find("function_declarator", "struct_specifier", "class_specifier"):
        inner = node["declarator"] or node["name"]
        names.add(inner.text)
    return names


def _of_library(name: str, node: Node, module: str, other: str) -> Finding:
    if name in listed(f"cudnn_ctypes.porting.{module}"):
        return Finding("kept", *node.place, name, f"cudnn_ctypes.{module}.{name}")
    if name in RENAMED:
        return Finding("cuda", *node.place, name, f"cudart.{RENAMED[name]} today")
    text = f"no stand-in here; {other}.{name}, on a GPU"
    return Finding("cuda", *node.place, name, text)


def kernels(source: Source) -> Iterator[Finding]:
    """A finding for every kernel that is defined."""
    for node in source.root.find("function_definition"):
        declarator = next(node.find("function_declarator"), Node(None))
        if "__global__" in node.head and declarator:
            text = "`python -m cudnn_ctypes run` runs it on the host"
            yield Finding("kernel", *node.place, declarator["declarator"].text, text)
