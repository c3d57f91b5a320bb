"""What one call through ``raw`` costs on the host, against the same call on plain ctypes.

``python -m tools.bench_call``. Both sides call the same function of the same library with the same
values. Plain ctypes stands for what a careful program writes by hand: ``argtypes`` and ``restype``
set, ``byref`` around what C fills, the status compared with 0. It is measured thrice: with
``c_void_p`` for every handle, with a pointer type of its own for each handle, and as lean as
ctypes allows (``c_void_p``, no ``byref`` where ctypes adds it). Measurements are interleaved,
so that a slow moment of the machine hits all sides; printed are the least times, and their ratios.

A launch needs a GPU; to measure what the host does for one without, an empty C function stands in
the place of cuDNN's, for all sides. Against a true launch the ratios are smaller: 7 us of C, on an
H200, belong to both sides. Tensors of PyTorch lie on the host there and pass as on the reference
device, which looks at the same of them as a GPU's launch does.

``python -m tools.bench_call --starts`` measures fresh processes against ``import numpy``: imports,
a first convolution, a plan from the cache, ``doctor``.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import importlib.util
import resource
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Iterable, Iterator
from ctypes import POINTER, byref, c_float, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cudnn_ctypes import Graph, raw
from cudnn_ctypes.absent_gpu.driver_stub import MACHINE_CODE, ensure_driver
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.ctypes_support import OpaquePointer
from cudnn_ctypes.raw.function import binding
from cudnn_ctypes.raw.library import elf
from cudnn_ctypes.reference.device.host import HOST

ROUNDS = 61
LOOPS = 2000


@dataclass(frozen=True)
class Case:
    """One function, and its arguments as one writes them for ``raw`` and for plain ctypes.

    The arguments are expressions, evaluated at each call: an array that has to be made for the
    call is part of its cost.
    """

    name: str
    raw: str
    plain: str = ""
    title: str = ""
    empty: bool = False
    """Whether an empty C function stands in the place of cuDNN's."""

    @property
    def row(self) -> str:
        return self.title or self.name.removeprefix("cudnn")


CASES = (
    Case("cudnnGetTensorSizeInBytes", "x, size", "x, byref(size)"),
    Case("cudnnSetTensor4dDescriptor", "x, NCHW, FLOAT, 2, 3, 8, 8"),
    Case("cudnnSetTensorNdDescriptor", "x, FLOAT, 4, shape, strides"),
    Case(
        "cudnnSetTensorNdDescriptor",
        "x, FLOAT, 4, [2, 3, 8, 8], [192, 64, 8, 1]",
        "x, FLOAT, 4, (c_int * 4)(2, 3, 8, 8), (c_int * 4)(192, 64, 8, 1)",
        "SetTensorNdDescriptor, lists",
    ),
    Case(
        "cudnnGetConvolution2dForwardOutputDim",
        "convolution, x, w, n, c, h, width",
        "convolution, x, w, byref(n), byref(c), byref(h), byref(width)",
    ),
    Case("cudnnBackendSetAttribute", "unset, DIMENSIONS, INT64, 4, elements"),
    Case(
        "cudnnBackendGetAttribute",
        "tensor, DIMENSIONS, INT64, 4, count, elements",
        "tensor, DIMENSIONS, INT64, 4, byref(count), elements",
    ),
    Case(
        "cudnnConvolutionForward",
        "handle, one, x, 4096, w, 8192, convolution, IMPLICIT, 12288, 256, zero, y, 16384",
        "handle, ONE, x, 4096, w, 8192, convolution, IMPLICIT, 12288, 256, ZERO, y, 16384",
        "ConvolutionForward, addresses",
        empty=True,
    ),
    Case("cudnnBackendExecute", "handle, plan, pack", empty=True),
)
if importlib.util.find_spec("torch"):
    CASES += (
        Case(
            "cudnnConvolutionForward",
            "handle, one, x, tx, w, tw, convolution, IMPLICIT, space, 256, zero, y, ty",
            "handle, ONE, x, tx.data_ptr(), w, tw.data_ptr(), convolution, IMPLICIT, "
            "space.data_ptr(), 256, ZERO, y, ty.data_ptr()",
            "ConvolutionForward, PyTorch",
            empty=True,
        ),
    )


def operands() -> dict[str, Any]:
    """What the expressions of `CASES` name. None of the calls needs a GPU."""
    x = raw.cudnnTensorDescriptor_t()
    y = raw.cudnnTensorDescriptor_t()
    handle = raw.cudnnHandle_t()
    handle.value = 4096  # only empty functions receive it
    w = raw.cudnnFilterDescriptor_t()
    convolution = raw.cudnnConvolutionDescriptor_t()
    raw.cudnnCreateTensorDescriptor(x)
    raw.cudnnCreateTensorDescriptor(y)
    raw.cudnnCreateFilterDescriptor(w)
    raw.cudnnCreateConvolutionDescriptor(convolution)
    raw.cudnnSetTensor4dDescriptor(x, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 2, 3, 8, 8)
    raw.cudnnSetTensor4dDescriptor(y, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 2, 4, 8, 8)
    raw.cudnnSetFilter4dDescriptor(w, raw.CUDNN_DATA_FLOAT, raw.CUDNN_TENSOR_NCHW, 4, 3, 3, 3)
    raw.cudnnSetConvolution2dDescriptor(
        convolution, 1, 1, 1, 1, 1, 1, raw.CUDNN_CROSS_CORRELATION, raw.CUDNN_DATA_FLOAT
    )
    return {
        "handle": handle,
        "x": x,
        "y": y,
        "w": w,
        "convolution": convolution,
        "size": c_size_t(),
        "shape": (c_int * 4)(2, 3, 8, 8),
        "strides": (c_int * 4)(192, 64, 8, 1),
        **{name: c_int() for name in ("n", "c", "h", "width")},
        "NCHW": raw.CUDNN_TENSOR_NCHW,
        "FLOAT": raw.CUDNN_DATA_FLOAT,
        "IMPLICIT": raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
        "one": (one := c_float(1)),
        "zero": (zero := c_float(0)),
        "ONE": byref(one),
        "ZERO": byref(zero),
        **torch_operands(),
        **backend_operands(),
        "c_int": c_int,
        "byref": byref,
    }


def torch_operands() -> dict[str, Any]:
    """The memory of a convolution, as tensors of PyTorch on the host."""
    if not importlib.util.find_spec("torch"):
        return {}
    import torch

    shapes = {"tx": (2, 3, 8, 8), "tw": (4, 3, 3, 3), "ty": (2, 4, 8, 8)}
    space = torch.empty(256, dtype=torch.uint8)
    return {"space": space, **{name: torch.empty(shape) for name, shape in shapes.items()}}


@contextlib.contextmanager
def empty_function(name: str) -> Iterator[Path]:
    """A library in which the C function returns success; ``raw`` calls it, as on the host."""
    code = MACHINE_CODE[elf.MACHINES[elf.built_for()]].constant(0)
    bound, before = binding(name), mode.runtime
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "libempty.so")
        file.write_bytes(elf.shared_object(file.name, text=code, functions={name: 0}))
        symbol = ctypes.CDLL(str(file))[name]
        symbol.argtypes, symbol.restype = bound.argtypes, c_int
        vars(bound)["native"] = symbol
        bound.rebind()
        mode.use(HOST)
        try:
            yield file
        finally:
            mode.use(before)
            del bound.native
            bound.rebind()


def backend_operands() -> dict[str, Any]:
    """A tensor of the backend API that is not finalized, and one that is."""
    ensure_driver()
    settings: list[tuple[Any, Any, Any]] = [
        (raw.CUDNN_ATTR_TENSOR_UNIQUE_ID, raw.CUDNN_TYPE_INT64, (c_int64 * 1)(1)),
        (raw.CUDNN_ATTR_TENSOR_DATA_TYPE, raw.CUDNN_TYPE_DATA_TYPE, (c_int * 1)()),
        (raw.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, raw.CUDNN_TYPE_INT64, (c_int64 * 1)(16)),
        (raw.CUDNN_ATTR_TENSOR_DIMENSIONS, raw.CUDNN_TYPE_INT64, (c_int64 * 4)(2, 3, 8, 8)),
        (raw.CUDNN_ATTR_TENSOR_STRIDES, raw.CUDNN_TYPE_INT64, (c_int64 * 4)(192, 64, 8, 1)),
    ]
    unset, tensor = raw.cudnnBackendDescriptor_t(), raw.cudnnBackendDescriptor_t()
    for descriptor in (unset, tensor):
        raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, descriptor)
        for name, type_, array in settings:
            raw.cudnnBackendSetAttribute(descriptor, name, type_, len(array), array)
    raw.cudnnBackendFinalize(tensor)
    graph = Graph(io_data_type="float16")
    x = graph.tensor((8, 64, 32))
    y = graph.relu(x).set_output()
    plan = graph.build("H200")
    pack = plan.variant_pack({x.uid: 4096, y.uid: 4096}, 4096)  # type: ignore[dict-item]
    return {
        "owners": (graph, pack),
        "plan": plan.descriptor._as_parameter_,
        "pack": pack._as_parameter_,
        "unset": unset,
        "tensor": tensor,
        "elements": (c_int64 * 4)(2, 3, 8, 8),
        "count": c_int64(),
        "DIMENSIONS": raw.CUDNN_ATTR_TENSOR_DIMENSIONS,
        "INT64": raw.CUDNN_TYPE_INT64,
    }


def plain_function(name: str, library: Path, *, typed_handles: bool) -> Any:
    """The C function on plain ctypes."""
    function = ctypes.CDLL(str(library))[name]
    function.argtypes = [
        POINTER(p.type.base)
        if p.type.kind in ("pointer", "array")
        else c_void_p
        if p.type.kind in ("host", "device", "scalar")
        else c_int
        if issubclass(p.type.base, (int, c_int))
        else p.type.base
        if typed_handles or p.type.base in (c_int64, c_size_t)
        else c_void_p
        for p in raw.FUNCTIONS[name].parameters
    ]
    function.restype = c_int
    return function


def timers(case: Case, library: Path) -> dict[str, timeit.Timer]:
    """One call through each side, the status checked by all."""
    ours = operands()
    typed = {name: int(v) if isinstance(v, int) else v for name, v in ours.items()}
    untyped = {
        name: c_void_p(v.value) if isinstance(v, OpaquePointer) else v for name, v in typed.items()
    }
    typed["f"] = plain_function(case.name, library, typed_handles=True)
    untyped["f"] = plain_function(case.name, library, typed_handles=False)
    plain = f"if f({case.plain or case.raw}): raise RuntimeError"
    return {
        "raw": timeit.Timer(f"f({case.raw})", globals={"f": raw.FUNCTIONS[case.name], **ours}),
        "c_void_p": timeit.Timer(plain, globals=untyped),
        "typed": timeit.Timer(plain, globals=typed),
        "lean": timeit.Timer(plain.replace("byref", ""), globals=untyped),
    }


def measure(case: Case, rounds: int = ROUNDS, loops: int = LOOPS) -> dict[str, list[float]]:
    """Seconds per call, one number per round, by side."""
    real = contextlib.nullcontext(Path(raw.load().path))
    with empty_function(case.name) if case.empty else real as library:
        sides = timers(case, library)
        times: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side, timer in sides.items():
                times[side].append(timer.timeit(loops) / loops)
    return times


def report_calls() -> None:
    print(f"cuDNN {raw.load().version_text}, Python {sys.version.split()[0]}; one call in ns")
    sides = ("c_void_p", "typed", "lean")
    print(f"{'':36}{'raw':>6}" + "".join(f"{side:>12}{'ratio':>7}" for side in sides))
    for case in CASES:
        times = measure(case)
        least = {side: 1e9 * min(values) for side, values in times.items()}
        columns = (f"{least[side]:12.0f}{least['raw'] / least[side]:7.2f}" for side in sides)
        print(f"{case.row:36}{least['raw']:6.0f}" + "".join(columns))


_CONVOLUTION = """
import numpy as np
from cudnn_ctypes import ConvolutionDescriptor, DeviceTensor, Handle, convolution_forward
from cudnn_ctypes import use_reference_device
use_reference_device()
x = DeviceTensor.from_numpy(np.ones((1, 8, 9, 9), "f4"))
w = DeviceTensor.from_numpy(np.ones((8, 8, 3, 3), "f4"))
with Handle() as handle, ConvolutionDescriptor(padding=1) as conv:
    convolution_forward(handle, x, w, conv)
"""
_PLAN = """
import sys
from cudnn_ctypes import Graph
graph = Graph(io_data_type="float16")
a, b = graph.tensor((4, 64, 128), name="a"), graph.tensor((4, 128, 256), name="b")
graph.relu(graph.matmul(a, b)).set_output(name="c")
graph.build("H200", cache=sys.argv[1]).close()
"""
_STARTS = {
    "import numpy": "import numpy",
    "import cudnn_ctypes.raw": "import cudnn_ctypes.raw",
    "from cudnn_ctypes import Graph": "from cudnn_ctypes import Graph",
    "import convolution_forward": "from cudnn_ctypes import Handle, convolution_forward",
    "first convolution on the reference device": _CONVOLUTION,
    "a plan from the cache": _PLAN,
    "doctor": "from cudnn_ctypes.__main__ import main; main(['doctor'])",
}


def start_seconds(programs: Iterable[str] = tuple(_STARTS), rounds: int = 9) -> dict[str, float]:
    """CPU seconds of fresh processes, Python's own start among them; the least of some rounds."""
    least = dict.fromkeys(programs, float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):  # what the first round compiles and keeps is no start
            for name in least:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                command = [sys.executable, "-c", _STARTS[name], folder]
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
                least[name] = min(least[name], took)
    return least


def report_starts() -> None:
    seconds = start_seconds()
    print("CPU time of a fresh process, ms, and its ratio to import numpy")
    for name, value in seconds.items():
        print(f"{name:44}{1e3 * value:8.1f}{value / seconds['import numpy']:7.2f}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_call", description=__doc__)
    parser.add_argument(
        "--starts", action="store_true", help="measure fresh processes instead of calls"
    )
    if parser.parse_args(arguments).starts:
        report_starts()
    else:
        report_calls()


if __name__ == "__main__":
    main()
