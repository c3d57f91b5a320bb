"""The names of cuDNN in a program: alive, gone, or called with parameters of an old release."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator

from ..raw import constants, enums, functions, types
from ..raw.function import Function
from ..raw.gone import Gone, changed
from ..raw.gone import find as find_gone
from .compat.v7.left_out import left_out
from .declarations import Declarations
from .finding import Finding
from .new_calls import filled_in, new_call, with_the_program_s_names
from .source import Source
from .syntax import Node

__all__ = ["cudnn_names"]

_NAME = re.compile(r"\b(?:cudnn[A-Z]\w*|CUDNN_[A-Z]\w*)\b")
_IDENTIFIERS = ("identifier", "type_identifier", "field_identifier")


@functools.cache
def _living() -> frozenset[str]:
    names = {name for module in (functions, enums, constants) for name in module.__all__}
    return frozenset(names | {name for name in dir(types) if _NAME.fullmatch(name)})


def cudnn_names(source: Source, known: Declarations) -> Iterator[Finding]:
    """A finding for every place that names something of cuDNN, those in macros included."""
    own = known.names.union(
        _own_names(source), *(_own_names(header.source) for header in known.headers)
    )
    for node in source.root.find(*_IDENTIFIERS):
        name = node.text
        if _NAME.fullmatch(name) and name not in own:
            yield _finding(name, *node.place, node, known)
    for macro in source.macros.values():
        for name in dict.fromkeys(_NAME.findall(macro.body)):
            if name not in own:
                yield _finding(name, macro.line, 1, Node(None), known)


def _own_names(source: Source) -> set[str]:
    """The program's own definitions with names like cuDNN's."""
    own = set(source.macros)
    for node in source.root.find("function_definition", "struct_specifier", "class_specifier"):
        inner = node["declarator"] or node["name"]
        if node["body"]:
            own |= set(_NAME.findall(inner.text.partition("(")[0]))
    return own


def _finding(name: str, line: int, column: int, node: Node, known: Declarations) -> Finding:
    call = _call_of(node)
    arguments = call.arguments
    if gone := find_gone(name):
        if not call and node.parent.kind == "argument_list":
            with_it = find_gone(node.parent.parent.called)
            if with_it is not None and with_it.why == gone.why:
                text = f"gone since cuDNN {gone.gone}, with {with_it.name}"
                return Finding("gone", line, column, name, text)
        code = with_the_program_s_names(gone.now, arguments, known)
        return Finding("gone", line, column, name, _why(gone), code)
    if name not in _living():
        return _unknown(name, line, column, node)
    function = getattr(functions, name, None)
    if not isinstance(function, Function):
        return Finding("kept", line, column, name)
    if call and len(arguments) != len(function.parameters):
        text = f"{len(arguments)} arguments; it takes {len(function.parameters)}"
        note = changed(name)
        text += f" ({note}; cudnn_ctypes.compat.v7 takes either)" if note else ""
        missing = note.rpartition("without ")[2]
        code = filled_in(name, arguments, missing, known)
        code = code or with_the_program_s_names([new_call(name)], arguments, known)
        return Finding("gone", line, column, name, text, code)
    if function.deprecated and function.replaced_by in functions.__all__:
        code = with_the_program_s_names([new_call(function.replaced_by)], arguments, known)
        text = f"deprecated, and still there; {function.replaced_by} replaces it"
        return Finding("note", line, column, name, text, code)
    return Finding("kept", line, column, name)


def _unknown(name: str, line: int, column: int, node: Node) -> Finding:
    arguments = _call_of(node).arguments
    if len(arguments) == 1 and arguments[0].called in functions.__all__:
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
