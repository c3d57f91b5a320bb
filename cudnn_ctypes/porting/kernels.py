"""The kernels of a program, and how Python compiles and launches them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .declarations import Declarations
from .finding import Finding
from .new_calls import in_python
from .source import Source

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["kernels"]

_CTYPES = {
    "bool": "c_bool",
    "char": "c_char",
    "double": "c_double",
    "float": "c_float",
    "int": "c_int",
    "long": "c_long",
    "size_t": "c_size_t",
    "unsigned": "c_uint",
    "unsigned int": "c_uint",
    "int64_t": "c_int64",
    "int32_t": "c_int32",
}


def kernels(source: Source, known: Declarations) -> Iterator[Finding]:
    """A finding for every kernel that is defined, and for every launch."""
    parameters: dict[str, list[Node]] = {}
    for node in source.of_type("function_definition", "declaration"):
        text = source.text(node).partition("{")[0]
        declarator = next(source.of_type("function_declarator", within=node), None)
        if "__global__" not in text or declarator is None:
            continue
        name = source.field(declarator, "declarator")
        listed = declarator.child_by_field_name("parameters")
        parameters[name] = [] if listed is None else list(listed.named_children)
        if node.type == "function_definition":
            yield _definition(source, node, name)
    for node in source.of_type("call_expression"):
        syntax = next((n for n in node.children if n.type == "kernel_call_syntax"), None)
        if syntax is not None:
            yield _launch(source, known, node, syntax, parameters)


def _definition(source: Source, node: Node, name: str) -> Finding:
    """Code that compiles a kernel; in it ``code`` is the kernels' text, without host includes."""
    of_template = node.parent is not None and node.parent.type == "template_declaration"
    expression = f"{name}<float>" if of_template else name
    code = (
        "from cuda.core import Device, LaunchConfig, Program, ProgramOptions, Stream, launch",
        'program = Program(code, "c++", ProgramOptions(arch=f"sm_{Device().arch}"))',
        f'binary = program.compile("cubin", name_expressions=("{expression}",))',
        f'{name} = binary.get_kernel("{expression}")',
    )
    text = (
        "cuda.core compiles it from its text, without the host's #includes, and needs a GPU to "
        "run it; on the reference device it is to be written in NumPy"
    )
    return Finding("kernel", source.line(node), source.column(node), name, text, code)


def _launch(
    source: Source, known: Declarations, call: Node, syntax: Node, parameters: dict[str, list[Node]]
) -> Finding:
    function = source.field(call, "function")
    name = function.partition("<")[0]
    chosen = [_dimensions(source, each, name) for each in syntax.named_children]
    options = dict(zip(("grid", "block", "shmem_size", "stream"), chosen, strict=False))
    stream = _stream(options.pop("stream", "0") or "stream")
    config = ", ".join(f"{key}={value or key}" for key, value in options.items())
    declared = parameters.get(name, [])
    values = [
        _argument(source, known, each, declared[index] if index < len(declared) else None, index)
        for index, each in enumerate(source.arguments(call))
    ]
    line = f"launch({', '.join((stream, f'LaunchConfig({config})', name, *values))})"
    return Finding("kernel", source.line(call), source.column(call), name, "a launch", (line,))


def _stream(text: str) -> str:
    """A stream of the program's as one of cuda.core's."""
    if text in ("0", "NULL", "nullptr"):
        return "Device().default_stream"
    return f"Stream.from_handle({text}.value or 0)"


def _dimensions(source: Source, node: Node, name: str) -> str:
    """A size or stream as Python writes it; "" for what is more than a name or a number."""
    text = source.text(node)
    if node.type == "call_expression" and source.field(node, "function") == "dim3":
        text = f"({', '.join(source.text(each) for each in source.arguments(node))},)"
    text = text.replace("->", ".").replace("/", "//")
    return text if _is_python(text) else ""


def _argument(
    source: Source, known: Declarations, node: Node, parameter: Node | None, index: int
) -> str:
    """An argument with the type that the kernel wants; without its declaration as it is."""
    text = in_python(source, node) or source.text(node).rstrip("fF")
    declared = "" if parameter is None else source.text(parameter)
    if not _is_python(text):
        name = declared.rpartition(" ")[2].lstrip("*&") if declared else ""
        text = name if name.isidentifier() else f"argument_{index}"
    if "*" in declared:
        return f"int({text})"
    kind = "" if parameter is None else " ".join(source.field(parameter, "type").split())
    ctype = _CTYPES.get(kind.removeprefix("const ").strip())
    return f"{ctype}({text})" if ctype else text


def _is_python(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
