"""A C header with the names of cuDNN 2 to 8 that cuDNN 9 dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...raw.ctypes_support import CudnnEnum, OpaquePointer
from ...raw.gone import find
from ..compat import v7
from ..compat.v7 import declarations
from ..compat.v7.old_function import Form, functions
from .signatures import old_name

_NAME = re.compile(r"\bcud\w+|\bCUDNN_\w+")


def names_old(text: str) -> bool:
    """Whether source names something that cuDNN 9 dropped, or declares otherwise."""
    return any(name in functions or find(name) for name in set(_NAME.findall(text)))


def header() -> str:
    """The declarations of all old names, for C and C++."""
    lines = ["#pragma once", "#include <cudnn.h>", *_types(), *_macros()]
    plain, overloads = [], []
    for name in v7.__all__:
        if name not in functions:
            continue
        for number, form in enumerate(functions[name].declared):
            symbol = old_name(name, number)
            plain.append(f"{_prototype(form, symbol)};")
            if symbol != name:
                names = ", ".join(each.name for each in form.parameters)
                head = f"static inline {_prototype(form, name)}"
                overloads.append(f"{head} {{ return {symbol}({names}); }}")
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", *plain]
    lines += ["#ifdef __cplusplus", "}", *overloads, "#endif"]
    return "\n".join(lines) + "\n"


def _prototype(form: Form, name: str) -> str:
    return str(form.prototype).replace(f" {form.name}(", f" {name}(", 1)


def _types() -> Iterator[str]:
    for name, kind in vars(declarations).items():
        if not isinstance(kind, type) or getattr(kind, "__module__", "") != declarations.__name__:
            continue
        if issubclass(kind, CudnnEnum):
            members = ", ".join(f"{key} = {int(each)}" for key, each in kind.__members__.items())
            yield f"typedef enum {{ {members} }} {name};"
        elif issubclass(kind, OpaquePointer):
            yield f"typedef struct {kind._type_.__name__} *{name};"
    yield f"typedef unsigned {', '.join(_UNSIGNED)};"
    members = "".join(f"int {name}; " for name, _ in _algorithm()._fields_)
    yield f"typedef struct {{ union {{ {members}}} algo; }} cudnnAlgorithm_t;"


_UNSIGNED = ("cudnnRNNPaddingMode_t", "cudnnAttnQueryMap_t")


def _algorithm() -> Any:
    ((_, kind),) = declarations.cudnnAlgorithm_t._fields_
    return kind


def _macros() -> Iterator[str]:
    for name in v7.__all__:
        gone = find(name)
        if gone is not None and gone.kind == "macro":
            yield f"#define {name} {declarations.macro_value(gone)}"
