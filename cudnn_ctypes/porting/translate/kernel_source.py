"""The CUDA text of a program's kernels and of what they use, for NVRTC."""

from __future__ import annotations

import re

from .definitions import top_level
from .preprocess import Macro
from .syntax import Node

__all__ = ["kernel_source"]

_HEADERS = {
    "cuda_fp16.h": re.compile(r"\b(__)?half2?\b"),
    "cuda_bf16.h": re.compile(r"\b__nv_bfloat16\b"),
}
"""Headers of types that CUDA C++ does not have by itself, by what names the types."""

_TYPES = ("type_definition", "struct_specifier", "enum_specifier")


def kernel_source(root: Node, macros: dict[str, Macro]) -> str:
    """The CUDA text of kernels and of what they use."""
    nodes = [one for one in top_level(root) if one.kind != "comment"]
    found = [one for one in nodes if re.search(r"__(global|device|constant)__", _head(one))]
    words = set(re.findall(r"\w+", " ".join(one.text for one in found)))
    parts = []
    for node in nodes if found else []:
        text = node.text
        is_constant = node.kind == "declaration" and re.match(r"(static )?const(expr)? ", text)
        if node in found or ((node.kind in _TYPES or is_constant) and _defined(node) & words):
            parts.append(f"{text};" if text.startswith(("struct", "enum")) else text)
    text = " ".join(parts)
    includes = [f"#include <{header}>" for header, names in _HEADERS.items() if names.search(text)]
    return "\n".join([*includes, *_defines(macros, text), *parts])


def _defines(macros: dict[str, Macro], text: str) -> list[str]:
    needed: set[str] = set()
    pending = set(re.findall(r"\w+", text)) & set(macros)
    while pending:
        needed |= pending
        words = {word for one in pending for word in re.findall(r"\w+", macros[one].body)}
        pending = (words & set(macros)) - needed
    lines = []
    for macro in sorted((macros[one] for one in needed), key=lambda one: one.line):
        parameters = "" if macro.parameters is None else f"({', '.join(macro.parameters)})"
        body = macro.body.replace("\n", "\\\n")
        lines.append(f"#define {macro.name}{parameters} {body}")
    return lines


def _head(node: Node) -> str:
    """The C text of a declaration before its body, through templates."""
    return _head(node.children[-1]) if node.kind == "template_declaration" else node.head


def _defined(node: Node) -> set[str]:
    """Names that a declaration gives to something."""
    found = [one.text for one in node.find("type_identifier", "enumerator")]
    for one in node.each("declarator"):
        found += [name.text for name in one.find("identifier", "type_identifier")][:1]
    return {name.split("=")[0].strip() for name in found}
