"""The CUDA text of a program's kernels and of what they use, for NVRTC."""

from __future__ import annotations

import re
from typing import Any

from .collect import qualifiers
from .preprocess import Macro
from .program import children, descendants, text_of

__all__ = ["kernel_source"]

_DEVICE = re.compile(r"__(global|device|constant)__")
_HEADERS = {
    "cuda_fp16.h": re.compile(r"\b(__)?half2?\b"),
    "cuda_bf16.h": re.compile(r"\b__nv_bfloat16\b"),
}
"""Headers of types that CUDA C++ does not have by itself, by what names the types."""


def kernel_source(root: Any, macros: dict[str, Macro]) -> str:
    """The CUDA text of kernels and of what they use."""
    found = [one for one in _top_level(root) if _DEVICE.search(qualifiers_of(one))]
    words = set(re.findall(r"\w+", " ".join(text_of(one) for one in found)))
    for node in _top_level(root) if found else []:
        text = text_of(node)
        is_type = node.type in ("type_definition", "struct_specifier", "enum_specifier")
        is_constant = node.type == "declaration" and re.match(r"(static )?const(expr)? ", text)
        if (is_type or is_constant) and set(_defined(node)) & words:
            found.append(node)
    parts = [text_of(one) for one in sorted(found, key=lambda one: int(one.start_byte))]
    parts = [f"{one};" if one.startswith(("struct", "enum")) else one for one in parts]
    text = " ".join(parts)
    includes = [f"#include <{header}>" for header, names in _HEADERS.items() if names.search(text)]
    return "\n".join([*includes, *_defines(macros, text), *parts])


def _defines(macros: dict[str, Macro], text: str) -> list[str]:
    needed: dict[str, Macro] = {}
    pending = set(re.findall(r"\w+", text))
    while pending:
        found = {name: macros[name] for name in pending if name in macros}
        found = {name: macro for name, macro in found.items() if name not in needed}
        needed |= found
        pending = {word for one in found.values() for word in re.findall(r"\w+", one.body)}
    lines = []
    for macro in sorted(needed.values(), key=lambda one: one.line):
        parameters = "" if macro.parameters is None else f"({', '.join(macro.parameters)})"
        body = macro.body.replace("\n", "\\\n")
        lines.append(f"#define {macro.name}{parameters} {body}")
    return lines


def _top_level(root: Any) -> list[Any]:
    """What stands outside of functions, in namespaces and ``extern "C"`` too."""
    found = []
    for one in children(root):
        body = one.child_by_field_name("body")
        if one.type in ("linkage_specification", "namespace_definition") and body is not None:
            found += _top_level(body) if body.type.endswith("_list") else [body]
        else:
            found.append(one)
    return found


def qualifiers_of(node: Any) -> str:
    """The C text of a declaration before its body, through templates."""
    if node.type == "template_declaration":
        return qualifiers_of(children(node)[-1])
    return qualifiers(node)


def _defined(node: Any) -> list[str]:
    """Names that a declaration gives to something."""
    found = [text_of(one) for one in descendants(node, "type_identifier", "enumerator")]
    for one in node.children_by_field_name("declarator"):
        found += [text_of(name) for name in descendants(one, "identifier", "type_identifier")][:1]
    return [name.split("=")[0].strip() for name in found]
