"""The kernels of a program, and how Python compiles and launches them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .c_types import primitive
from .finding import Finding
from .new_calls import in_python
from .source import Source
from .syntax import Node

__all__ = ["kernels"]


def kernels(source: Source) -> Iterator[Finding]:
    """A finding for every kernel that is defined, and for every launch."""
    parameters: dict[str, list[Node]] = {}
    for node in source.root.find("function_definition", "declaration"):
        text = node.text.partition("{")[0]
        declarator = next(node.find("function_declarator"), Node(None))
        if "__global__" not in text or not declarator:
            continue
        name = declarator["declarator"].text
        parameters[name] = declarator["parameters"].children
        if node.kind == "function_definition":
            yield _definition(node, name)
    for node in source.root.find("call_expression"):
        syntax = next((one for one in node.named if one.kind == "kernel_call_syntax"), None)
        if syntax is not None:
            yield _launch(node, syntax, parameters)


def _definition(node: Node, name: str) -> Finding:
    """Code that compiles a kernel; in it ``code`` is the kernels' text, without host includes."""
    of_template = node.parent.kind == "template_declaration"
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
    return Finding("kernel", *node.place, name, text, code)


def _launch(call: Node, syntax: Node, parameters: dict[str, list[Node]]) -> Finding:
    name = call.called.partition("<")[0]
    chosen = [_dimensions(each) for each in syntax.named]
    options = dict(zip(("grid", "block", "shmem_size", "stream"), chosen, strict=False))
    stream = _stream(options.pop("stream", "0") or "stream")
    config = ", ".join(f"{key}={value or key}" for key, value in options.items())
    declared = parameters.get(name, [])
    values = [
        _argument(each, declared[index] if index < len(declared) else Node(None), index)
        for index, each in enumerate(call.arguments)
    ]
    line = f"launch({', '.join((stream, f'LaunchConfig({config})', name, *values))})"
    return Finding("kernel", *call.place, name, "a launch", (line,))


def _stream(text: str) -> str:
    """A stream of the program's as one of cuda.core's."""
    if text in ("0", "NULL", "nullptr"):
        return "Device().default_stream"
    return f"Stream.from_handle({text}.value or 0)"


def _dimensions(node: Node) -> str:
    """A size or stream as Python writes it; "" for what is more than a name or a number."""
    text = node.text
    if node.called == "dim3":
        text = f"({', '.join(each.text for each in node.arguments)},)"
    text = text.replace("->", ".").replace("/", "//")
    return text if _is_python(text) else ""


def _argument(node: Node, parameter: Node, index: int) -> str:
    """An argument with the type that the kernel wants; without its declaration as it is."""
    text, declared = in_python(node) or node.text.rstrip("fF"), parameter.text
    if not _is_python(text):
        name = declared.rpartition(" ")[2].lstrip("*&") if declared else ""
        text = name if name.isidentifier() else f"argument_{index}"
    if "*" in declared:
        return f"int({text})"
    kind = " ".join(parameter["type"].text.split())
    ctype = primitive(kind.removeprefix("const ").strip())
    return f"{ctype.element}({text})" if ctype and ctype.element.startswith("c_") else text


def _is_python(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
