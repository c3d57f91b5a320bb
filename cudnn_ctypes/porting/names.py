"""Names of cuDNN and CUDA in a program: those that are gone, their new calls, and kernels."""

from __future__ import annotations

import ast
import difflib
import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..lazy import listed
from ..raw import constants, enums, functions, types
from ..raw.ctypes_support import CudnnEnum, OpaquePointer
from ..raw.function import Function
from ..raw.gone import Gone, changed
from ..raw.gone import find as find_gone
from . import cublas
from .compat.v7.declarations import left_out
from .program import Declarations, Finding, primitive
from .source import Node, Source

__all__ = ["LIBRARIES", "RENAMED", "cuda_names", "cudnn_names", "kernels"]


def new_call(name: str) -> str:
    """A function's call with the names of its parameters."""
    function: Function = getattr(functions, name)
    return f"{name}({', '.join(p.name for p in function.parameters)})"


def with_the_program_s_names(
    lines: Sequence[str], arguments: Sequence[Node], known: Declarations
) -> tuple[str, ...]:
    """Lines of Python in which handles, descriptors and enumerators are those of an old call.

    They are taken in order by their types, so the second tensor descriptor of the old call is the
    second of the new one. What has another name in Python stays as the parameter is called.

    Parameters
    ----------
    lines : sequence of str
        Python, with calls whose arguments are called as the parameters.
    arguments : sequence of Node
        Of the old call.
    """
    names: dict[str, list[str]] = {}
    for argument in arguments:
        text, kind = in_python(argument), _type_of(argument, known)
        if text and kind:
            names.setdefault(kind, []).append(text)
    return tuple(ast.unparse(_Renamed(names).visit(ast.parse(line))) for line in lines)


def _type_of(argument: Node, known: Declarations) -> str:
    """The type of an enumerator, or of a variable that is no pointer; "" if it is not known."""
    enumerator = getattr(enums, argument.text, None)
    if isinstance(enumerator, CudnnEnum):
        return type(enumerator).__name__
    variable = known.find(argument)
    return "" if variable is None or variable.pointers else variable.type


def filled_in(
    name: str, arguments: Sequence[Node], missing: str, known: Declarations
) -> tuple[str, ...]:
    """The call with an old call's arguments and one more, the parameter called `missing`.

    Empty if the old call has not all the others.
    """
    names = [parameter.name for parameter in getattr(functions, name).parameters]
    if missing not in names or len(arguments) != len(names) - 1:
        return ()
    old = iter(arguments)
    texts = [each if each == missing else _text(next(old), each) for each in names]
    return (f"{name}({', '.join(texts)})",)


def _text(argument: Node, parameter: str) -> str:
    """An argument as Python writes it; the parameter's name for what needs more than a look."""
    if text := in_python(argument):
        return text
    is_count = argument.kind == "number_literal" and argument.text.isdecimal()
    return argument.text if is_count else parameter


def in_python(expression: Node) -> str:
    """A name, member or element as Python writes it; "" for what is more than that."""
    if expression.kind in ("identifier", "field_identifier"):
        return expression.text
    if expression.kind == "pointer_expression" and expression.operator == "&":
        return in_python(expression["argument"])
    if expression.kind == "this":
        return "self"
    text = expression.text.replace("->", ".").replace("this.", "self.")
    if expression.kind not in ("field_expression", "subscript_expression"):
        return ""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return ""
    return text


class _Renamed(ast.NodeTransformer):
    """Puts names in place of the parameters of calls of cuDNN, by their types."""

    def __init__(self, names: dict[str, list[str]]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        function = getattr(functions, getattr(node.func, "id", ""), None)
        if not isinstance(function, Function) or len(node.args) != len(function.parameters):
            return node
        left = {kind: list(texts) for kind, texts in self.names.items()}
        for index, parameter in enumerate(function.parameters):
            base = parameter.type.base
            known = isinstance(base, type) and issubclass(base, (OpaquePointer, CudnnEnum))
            by_value = parameter.type.kind == "value"
            waiting = left.get(base.__name__, []) if known and by_value else []
            if waiting and getattr(node.args[index], "id", "") == parameter.name:
                node.args[index] = ast.parse(waiting.pop(0), mode="eval").body
        return node


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

_CUDA_IDENTIFIERS = ("identifier", "type_identifier", "namespace_identifier")


def cuda_names(source: Source) -> Iterator[Finding]:
    """A finding for every place that names something of CUDA, and for every library."""
    own = set(source.macros) | _defined(source)
    old_cublas = any(include.name == "cublas.h" for include in source.includes)
    for node in source.root.find(*_CUDA_IDENTIFIERS):
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
            for node in source.root.find(*_CUDA_IDENTIFIERS)
            if re.fullmatch(library.names, node.text) and node.text not in own
        ]
        if places:
            line, column, _ = min(places)
            seen = f"{library.text} ({len(places)} places)" if len(places) > 1 else library.text
            code = (library.imports,) if library.imports else ()
            yield Finding("library", line, column, library.name, seen, code)


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
