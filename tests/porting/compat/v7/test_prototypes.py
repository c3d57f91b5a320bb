"""Declarations of old functions: how they are read, and against the headers of cuDNN 8."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.porting.compat import v7
from cudnn_ctypes.porting.compat.v7.declarations import parse
from cudnn_ctypes.raw.gone import find


def test_a_declaration_is_read_as_c_means_it() -> None:
    prototype = parse(
        """
        cudnnOld(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xDesc[],
        const void *x, void *y, const int dims[], int *count, cudnnMathType_t *math, size_t bytes,
        void **address, const cudnnDataType_t type)
        """
    )
    kinds = [(p.name, p.type.kind, p.direction, p.type.base) for p in prototype.parameters]
    assert kinds == [
        ("handle", "value", "in", raw.cudnnHandle_t),
        ("alpha", "scalar", "in", None),
        ("xDesc", "array", "in", raw.cudnnTensorDescriptor_t),
        ("x", "device", "in", None),
        ("y", "device", "in/out", None),
        ("dims", "array", "in", ctypes.c_int),
        ("count", "pointer", "out", ctypes.c_int),
        ("math", "pointer", "out", raw.cudnnMathType_t),
        ("bytes", "value", "in", ctypes.c_size_t),
        ("address", "pointer", "out", ctypes.c_void_p),
        ("type", "value", "in", raw.cudnnDataType_t),
    ]
    assert str(prototype).startswith("cudnnStatus_t cudnnOld(cudnnHandle_t handle, const void *al")
    assert "const int dims[], int *count" in str(prototype)


def test_every_declaration_can_be_passed_to_c() -> None:
    """There is a converter for each parameter."""
    for function in v7.functions.values():
        for form in function._forms:
            assert len(form.argtypes) == len(form.parameters)


def declared(headers: Path) -> dict[str, list[tuple[str, bool, str]]]:
    """For each function of C headers: type, whether it is a pointer, and name of its parameters."""
    text = "".join(path.read_text() for path in sorted(headers.glob("cudnn*.h")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = {}
    for name, parameters in re.findall(r"\b(cudnn\w+)\(([^()]*)\);", text):
        words = [re.sub(r"\bconst\b|\s+", " ", each).split() for each in parameters.split(",")]
        found[name] = [
            (
                " ".join(each[:-1]).strip(" *"),
                "*" in "".join(each) or "[" in each[-1],
                each[-1].strip("*[]"),
            )
            for each in words
            if each
        ]
    return found


def base_type(declaration: str) -> str:
    """``size_t`` of ``const size_t *n``; C's unsigned is our unsigned int."""
    return declaration.removeprefix("const ").rpartition(" ")[0].replace("unsigned int", "unsigned")


def test_declarations_against_the_headers_of_cudnn_8() -> None:
    """Names, types and order of what 8 still had."""
    folder = os.environ.get("CUDNN_CTYPES_TEST_OLD_HEADERS")
    if not folder:
        pytest.skip("CUDNN_CTYPES_TEST_OLD_HEADERS names no folder with the headers of cuDNN 8")
    of_8 = declared(Path(folder))
    compared = 0
    for name, function in v7.functions.items():
        gone, parameters = find(name), function.parameters
        if gone is None or gone.gone != "9.0":
            continue
        ours = [(base_type(p.c_declaration), p.type.kind != "value", p.name) for p in parameters]
        theirs = [each for each in of_8[name] if each[2] != "void"]
        assert ours == theirs, name
        compared += 1
    assert compared > 40
