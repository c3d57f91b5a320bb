"""Names of cuDNN, the CUDA runtime and cuBLAS: which module of this package has them."""

from __future__ import annotations

import contextlib
import ctypes
import enum
import importlib
import warnings
from functools import lru_cache
from typing import Any

from ...raw import FUNCTIONS
from ...raw.ctypes_support import OpaquePointer
from ...raw.values import INTEGER_RANGES
from ..c_types import PRIMITIVES, TEXT, VOID, CType, array_of, pointer_to

__all__ = ["ALLOCATORS", "MODULES", "foreign", "foreign_members", "foreign_type"]
__all__ += ["is_library_call", "of_ctypes", "raw_parameters"]

MODULES = {
    "raw": "from cudnn_ctypes import raw",
    "cudart": "from cudnn_ctypes import cudart",
    "cublas": "from cudnn_ctypes import cublas",
    "v7": "from cudnn_ctypes.compat import v7",
}
"""Modules that programs import, with the statement, in the order in which names are looked up."""

_PREFIXES = {
    "raw": ("cudnn", "CUDNN", "cudaStream_t", "libraryPropertyType"),
    "cudart": ("cuda",),
    "cublas": ("cublas", "CUBLAS"),
    "v7": ("cudnn", "CUDNN"),
}
ALLOCATORS = {
    "cudaMalloc": "cudart.DevicePointer",
    "cudaMallocAsync": "cudart.DevicePointer",
    "cudaMallocManaged": "SharedPointer",
    "cudaMallocHost": "SharedPointer",
    "cudaHostAlloc": "SharedPointer",
}
"""Functions that make a pointer, and its class: device memory, or memory that the host may use."""

_BY_CTYPES = {
    PRIMITIVES[name].element: PRIMITIVES[name]
    for name in ("int", "unsigned int", "float", "double", "size_t", "int64_t", "uint8_t")
}


@lru_cache(maxsize=4096)
def foreign(name: str) -> tuple[str, Any] | None:
    """The module (``raw``, ``cudart``, ``cublas``, ``v7``) that has a C name, and what it is."""
    for module, prefixes in _PREFIXES.items():
        if name.startswith(prefixes):
            with warnings.catch_warnings(), contextlib.suppress(AttributeError, ImportError):
                warnings.simplefilter("ignore")  # old names warn where they are used
                package = MODULES[module].split()[1]
                return module, getattr(importlib.import_module(f"{package}.{module}"), name)
    return None


def is_library_call(name: str) -> bool:
    """Whether a C name is that of a function of these libraries, which return statuses."""
    found = foreign(name)
    return bool(found and callable(found[1]) and not isinstance(found[1], type))


def raw_parameters(name: str) -> Any:
    """The declared parameters of a function of cuDNN, or None."""
    function: Any = FUNCTIONS.get(name) or (foreign(name) or ("", None))[1]
    return getattr(function, "parameters", None)


def foreign_type(name: str) -> CType | None:
    """The type that a name of the libraries stands for."""
    module, kind = foreign(name) or ("", None)
    if not isinstance(kind, type):
        return None
    element = f"{module}.{name}"
    if issubclass(kind, enum.Enum):
        return CType("enum", name, 32, element=element)
    if issubclass(kind, ctypes.Structure):
        return CType("struct", name, element=element)
    if issubclass(kind, (OpaquePointer, ctypes._Pointer, ctypes.c_void_p)) or module != "raw":
        return CType("opaque", name, element=element)
    return of_ctypes(kind)


def foreign_members(name: str) -> dict[str, CType]:
    if name == "dim3":
        return dict.fromkeys("xyz", PRIMITIVES["unsigned int"])
    kind: Any = (foreign(name) or ("", None))[1]
    found = {}
    for member, memory in getattr(kind, "_fields_", ()):
        if member[0] == "_":  # an enum that the class reads as one
            memory = type(getattr(kind(), member[1:]))
        found[member.removeprefix("_")] = of_ctypes(memory)
    return found


def of_ctypes(kind: Any) -> CType:
    """The C type of a type of ctypes."""
    name = getattr(kind, "__name__", "")
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return foreign_type(name) or CType("enum", name, 32)
    if isinstance(kind, type) and issubclass(kind, ctypes.Array):
        element: Any = kind._type_
        is_text = element is ctypes.c_char
        return TEXT if is_text else array_of(of_ctypes(element), str(kind._length_))
    if name in _BY_CTYPES:
        return _BY_CTYPES[name]
    if kind in INTEGER_RANGES:
        low, high = INTEGER_RANGES[kind]
        return CType("integer", name, (high - low).bit_length(), low < 0, element=name)
    return TEXT if kind is ctypes.c_char_p else pointer_to(VOID)
