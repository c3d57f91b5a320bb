"""CUDA's own names in a program: the runtime, the driver, cuBLAS, other libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..lazy import listed
from . import cublas
from .finding import Finding
from .source import Source

__all__ = ["LIBRARIES", "RENAMED", "Library", "cuda_names"]

RENAMED = {
    "cudaThreadSynchronize": "cudaDeviceSynchronize()",
    "cudaThreadExit": "cudaDeviceReset()",
    "cudaMemcpyToSymbol": "cudaMemcpy(address, src, count, cudaMemcpyHostToDevice)",
    "cudaMemcpyFromSymbol": "cudaMemcpy(dst, address, count, cudaMemcpyDeviceToHost)",
    "cudaLaunchKernel": "launch(stream, LaunchConfig(grid=grid, block=block), kernel, *arguments)",
    "cudaStreamBeginCapture": "with capture(stream) as graph: pass",
    "cudaGraphLaunch": "graph.launch()",
}
"""Functions of the runtime that are written otherwise, and how."""


class Library(NamedTuple):
    """A library that programs around cuDNN use, and what stands for it in Python."""

    name: str
    includes: str  # patterns of a header's name, and of its names in a program
    names: str
    text: str
    imports: str = ""


LIBRARIES = (
    Library(
        "cuDNN's front end",
        r"cudnn_frontend.*",
        r"cudnn_frontend",
        "cudnn_ctypes.frontend has the names of NVIDIA's Python front end, which are C++'s too",
        "from cudnn_ctypes import frontend as cudnn",
    ),
    Library(
        "NCCL",
        r"nccl\.h",
        r"nccl[A-Z]\w+",
        "nccl4py (nccl.core), NVIDIA's binding; or torch.distributed",
    ),
    Library("MPI", r"mpi\.h", r"MPI_\w+", "mpi4py", "from mpi4py import MPI"),
    Library(
        "Thrust, CUB, libcu++",
        r"(?:thrust|cub|cuda/std)/.*",
        r"thrust|cub",
        "cuda-cccl (cuda.compute) has the algorithms on a GPU; NumPy on the host",
        "import cuda.compute",
    ),
    Library(
        "OpenCV",
        r"opencv.*",
        r"cv",
        "opencv-python; images are NumPy arrays in H, W, C order with blue first",
        "import cv2",
    ),
    Library(
        "cuRAND",
        r"curand(?:_kernel)?\.h",
        r"curand\w+",
        "numpy.random, copied to the device; or cupy.random. The numbers differ from cuRAND's",
        "rng = numpy.random.default_rng(seed)",
    ),
    Library("cuFFT", r"cufft\w*\.h", r"cufft[A-Z]\w+", "nvmath.fft (nvmath-python); numpy.fft"),
    Library(
        "cuSPARSE, cuSOLVER",
        r"cu(?:sparse|solver)\w*\.h",
        r"cu(?:sparse|solver)[A-Z]\w+",
        "nvmath.bindings (nvmath-python); scipy.sparse and scipy.linalg on the host",
    ),
    Library("NVTX", r"(?:nvtx3/)?nvToolsExt\.h", r"nvtx[A-Z]\w+", "nvtx", "import nvtx"),
    Library(
        "helpers of NVIDIA's samples",
        r"(?:helper_\w+|cutil\w*|exception)\.h",
        r"checkCudaErrors|getLastCudaError|findCudaDevice|sdk\w+",
        "nothing: each function of raw, cudart and cublas checks its own status",
    ),
    Library(
        "half-precision types",
        r"cuda_(?:fp16|bf16|fp8)\.h(?:pp)?|half\.hpp",
        r"__half2?|__float2half\w*|__half2float|__nv_bfloat16",
        "numpy.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn",
        "x = x.astype(numpy.float16)",
    ),
    Library("HDF5", r"hdf5\.h|H5Cpp\.h", r"H5[A-Z]\w+", "h5py", "import h5py"),
    Library(
        "gflags, glog",
        r"g(?:flags|log)/.*",
        r"DEFINE_(?:int32|string|bool|double)|google",
        "argparse and logging",
        "import argparse, logging",
    ),
    Library("Boost", r"boost/.*", r"boost", "Python's own library"),
    Library("protobuf", r"google/protobuf/.*|.*\.pb\.h", r"protobuf", "protobuf"),
    Library("Eigen", r"Eigen/.*", r"Eigen", "NumPy", "import numpy as np"),
)
"""Advice on libraries, by the headers that programs include and the names that they use."""

_IDENTIFIERS = ("identifier", "type_identifier", "namespace_identifier")


def cuda_names(source: Source) -> Iterator[Finding]:
    """A finding for every place that names something of CUDA, and for every library."""
    own = set(source.macros) | _defined(source)
    old_cublas = any(include.name == "cublas.h" for include in source.includes)
    for node in source.root.find(*_IDENTIFIERS):
        name = node.text
        if name in own:
            continue
        place = node.place
        if re.fullmatch(r"cuda[A-Z]\w+", name):
            yield _runtime(name, *place)
        elif re.fullmatch(r"(?:cublas|CUBLAS_|CUDA_[RC]_)\w+", name):
            if name not in cublas.__all__ and not name.startswith("cublas"):
                continue  # said of the function that takes it
            yield _cublas(name, *place, old=old_cublas)
        elif re.fullmatch(r"cu[A-Z][a-z]+\w*", name) and node.parent.kind == "call_expression":
            yield Finding("cuda", *place, name, f"cuda.bindings.driver.{name} of CUDA Python")
    yield from _libraries(source, own)


def _defined(source: Source) -> set[str]:
    """The functions and types that the program itself has."""
    names = set()
    for node in source.root.find("function_declarator", "struct_specifier", "class_specifier"):
        inner = node["declarator"] or node["name"]
        names.add(inner.text)
    return names


def _runtime(name: str, line: int, column: int) -> Finding:
    if name in listed("cudnn_ctypes.porting.cudart"):
        return Finding("kept", line, column, name, f"cudnn_ctypes.cudart.{name}")
    if name in RENAMED:
        return Finding("cuda", line, column, name, "written otherwise", (RENAMED[name],))
    text = f"no stand-in here; cuda.bindings.runtime.{name} of CUDA Python, on a GPU"
    return Finding("cuda", line, column, name, text)


def _cublas(name: str, line: int, column: int, *, old: bool) -> Finding:
    plain = name.removesuffix("_v2")
    if plain in listed("cudnn_ctypes.porting.cublas"):
        if old and hasattr(getattr(cublas, plain), "unchecked"):
            text = "cublas.h is the old API without handles: now a handle comes first"
            return Finding("cuda", line, column, name, text, (_cublas_call(plain),))
        return Finding("kept", line, column, name, f"cudnn_ctypes.cublas.{plain}")
    if old and name in ("cublasInit", "cublasShutdown"):
        now = "cublasCreate(byref(handle))" if name == "cublasInit" else "cublasDestroy(handle)"
        return Finding("cuda", line, column, name, "the old API without handles", (now,))
    text = "no stand-in here; nvmath.bindings.cublas (nvmath-python), or libcublas by ctypes"
    return Finding("cuda", line, column, name, text)


def _cublas_call(name: str) -> str:
    import inspect

    return f"{name}({', '.join(inspect.signature(getattr(cublas, name)).parameters)})"


def _libraries(source: Source, own: set[str]) -> Iterator[Finding]:
    """One finding for each library, where it is first seen."""
    for library in LIBRARIES:
        places = [
            (include.line, 1, include.name)
            for include in source.includes
            if re.fullmatch(library.includes, include.name)
        ]
        places += [
            (*node.place, node.text)
            for node in source.root.find(*_IDENTIFIERS)
            if re.fullmatch(library.names, node.text) and node.text not in own
        ]
        if places:
            line, column, _ = min(places)
            seen = f"{library.text} ({len(places)} places)" if len(places) > 1 else library.text
            code = (library.imports,) if library.imports else ()
            yield Finding("library", line, column, library.name, seen, code)
