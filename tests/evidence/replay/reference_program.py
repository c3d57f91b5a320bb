"""Runs a recorded C program with the reference device in the place of libcudnn and libcudart.

``python reference_program.py FOLDER FLAGS...``: the program and functions of the libraries' names,
which call Python, are compiled to one shared object with the compiler and the flags given; its main
is called, and its exit status is the result.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cudnn_ctypes import cudart, raw
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, OpaquePointer, storage_type
from cudnn_ctypes.raw.function import binding
from cudnn_ctypes.raw.parameter import Parameter

_CUDA = {
    "cudaMalloc": "void **devPtr, size_t size",
    "cudaFree": "void *devPtr",
    "cudaMemcpy": "void *dst, const void *src, size_t count, enum cudaMemcpyKind kind",
    "cudaMemset": "void *devPtr, int value, size_t count",
    "cudaStreamCreate": "cudaStream_t *pStream",
    "cudaStreamDestroy": "cudaStream_t stream",
    "cudaDeviceSynchronize": "void",
}
_TEXTS = {
    "cudaGetErrorString": "const char *cudaGetErrorString(cudaError_t error)",
    "cudnnGetErrorString": "const char *cudnnGetErrorString(cudnnStatus_t status)",
    "cudnnGetLastErrorString": "void cudnnGetLastErrorString(char *message, size_t max_size)",
}

_Hook = tuple[Any, Callable[..., int]]


def _stub(prototype: str, name: str) -> str:
    """A C function that calls what `to_...` points to."""
    result, parameters = re.fullmatch(rf"(.*?)\b{name}\((.*)\)", prototype).groups()  # type: ignore[union-attr]
    names = [re.sub(r"\[\]$", "", each).split()[-1].lstrip("*") for each in parameters.split(",")]
    arguments = "" if parameters == "void" else ", ".join(names)
    return (
        f"void *to_{name};\n{prototype} {{\n"
        f"    return (({result}(*)({parameters}))to_{name})({arguments});\n}}\n"
    )


def _text_stub(prototype: str) -> str:
    body = 'return "an error";' if prototype.startswith("const char *") else ""
    unused = {"status": "(void)status;", "error": "(void)error;", "max_size": "(void)max_size;"}
    words = " ".join(text for name, text in unused.items() if f" {name})" in prototype)
    message = "message[0] = 0; " if "*message" in prototype else ""
    return f"{prototype} {{ {message}{words} {body} }}\n"


def _argument(parameter: Parameter, value: Any, counts: dict[str, Any]) -> Any:
    """What layer 1 is given for what C passed."""
    kind, base = parameter.type.kind, parameter.type.base
    if kind == "value":
        is_handle = isinstance(base, type) and issubclass(base, OpaquePointer)
        return (ctypes.cast(value, base) if value else None) if is_handle else value
    if not value or kind == "device":
        return value
    if kind == "pointer":
        return storage_type(base).from_address(value)
    if kind == "array":
        if parameter.length is None:
            return ctypes.cast(value, ctypes.POINTER(storage_type(base)))
        length = eval(str(parameter.length), {}, counts)
        return (storage_type(base) * length).from_address(value)
    return ctypes.c_void_p(value)


def _cudnn_hook(name: str) -> _Hook:
    parameters = binding(name).parameters
    call = getattr(raw, name).unchecked

    def hook(*values: Any) -> int:
        counts = {p.name: value for p, value in zip(parameters, values, strict=True)}
        arguments = [_argument(p, counts[p.name], counts) for p in parameters]
        return int(call(*arguments) or 0)

    return [_passed(p.ctype) for p in parameters], hook


def _passed(ctype: Any) -> Any:
    """Pointers as numbers, enums as ints."""
    if issubclass(ctype, CudnnEnum):
        return ctypes.c_int
    return ctypes.c_void_p if issubclass(ctype, ctypes._Pointer) else ctype


def _cuda_hook(name: str) -> _Hook:
    call = getattr(cudart, name).unchecked
    kinds = [] if _CUDA[name] == "void" else _CUDA[name].split(",")
    types = [
        ctypes.c_void_p
        if "*" in kind or "Stream" in kind
        else ctypes.c_size_t
        if "size_t" in kind
        else ctypes.c_int
        for kind in kinds
    ]

    def hook(*values: Any) -> int:
        filled = name in ("cudaMalloc", "cudaStreamCreate")
        cls = ctypes.c_void_p if name == "cudaMalloc" else raw.cudaStream_t
        first = [ctypes.byref(cls.from_address(values[0]))] if filled else [*values[:1]]
        if name == "cudaMemcpy":
            first = [ctypes.c_void_p(values[0]), ctypes.c_void_p(values[1])]
            return int(call(*first, *values[2:]))
        return int(call(*first, *values[1:]))

    return types, hook


def _guarded(hook: Callable[..., int]) -> Callable[..., int]:
    def guarded(*values: Any) -> int:
        try:
            return hook(*values)
        except BaseException:
            traceback.print_exc()
            return 4000

    return guarded


def build(folder: Path, compiler: list[str]) -> Path:
    """The shared object of the program in a folder."""
    (program,) = folder.glob("*.c")
    text = program.read_text()
    used = {*re.findall(r"\b(cud(?:nn|a)[A-Z]\w*)\(", text)} - {"cudnnStatus_t"}
    prototypes = {
        name: f"cudaError_t {name}({_CUDA[name]})"
        if name in _CUDA
        else binding(name).prototype.replace("\n", " ")
        for name in sorted(used - _TEXTS.keys())
    }
    stubs = folder / "build" / "stubs.c"
    stubs.parent.mkdir(exist_ok=True)
    includes = re.findall(r"^#include <cud.*>$", text, re.M)
    stubs.write_text(
        "\n".join(["#include <stddef.h>", *includes, ""])
        + "".join(_stub(prototype, name) for name, prototype in prototypes.items())
        + "".join(map(_text_stub, _TEXTS.values()))
    )
    target = stubs.with_name("program.so")
    options = ["-Dmain=program_main", f'-DDATA="{folder / "data"}"', "-shared", "-fPIC"]
    command = [*compiler, *options, "-Wl,-Bsymbolic", str(program), str(stubs), "-o", str(target)]
    subprocess.run([*command, "-lm"], check=True)
    return target


def main(folder: Path, compiler: list[str]) -> int:
    library = ctypes.CDLL(str(build(folder, compiler)))
    hooks = []
    for line in (folder / "build" / "stubs.c").read_text().splitlines():
        if found := re.fullmatch(r"void \*to_(\w+);", line):
            name = found[1]
            types, hook = _cuda_hook(name) if name in _CUDA else _cudnn_hook(name)
            hooks.append(ctypes.CFUNCTYPE(ctypes.c_int, *types)(_guarded(hook)))
            pointer = ctypes.cast(hooks[-1], ctypes.c_void_p)
            ctypes.c_void_p.in_dll(library, f"to_{name}").value = pointer.value
    status = int(library.program_main())
    ctypes.CDLL(None).fflush(None)
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
