"""What one call through ``raw`` costs on the host, against the same call on plain ctypes.

``python -m tools.bench_call``. Both sides call the same function of the same library with the same
values. Plain ctypes stands for what a careful program writes by hand: ``argtypes`` and ``restype``
set, ``byref`` around what C fills, the status compared with 0. It is measured thrice: with
``c_void_p`` for every handle, with a pointer type of its own for each handle, and as lean as
ctypes allows (``c_void_p``, no ``byref`` where ctypes adds it). Measurements are interleaved,
so that a slow moment of the machine hits all sides; printed are medians, and the medians of the
ratios of neighbours.

``python -m tools.bench_call --imports`` measures ``import cudnn_ctypes`` in fresh interpreters
against ``import numpy``.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import subprocess
import sys
import time
import timeit
from ctypes import POINTER, byref, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.raw.ctypes_support import OpaquePointer

ROUNDS = 41
LOOPS = 4000


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
)


def operands() -> dict[str, Any]:
    """What the expressions of `CASES` name. None of the calls needs a GPU."""
    x = raw.cudnnTensorDescriptor_t()
    w = raw.cudnnFilterDescriptor_t()
    convolution = raw.cudnnConvolutionDescriptor_t()
    raw.cudnnCreateTensorDescriptor(x)
    raw.cudnnCreateFilterDescriptor(w)
    raw.cudnnCreateConvolutionDescriptor(convolution)
    raw.cudnnSetTensor4dDescriptor(x, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 2, 3, 8, 8)
    raw.cudnnSetFilter4dDescriptor(w, raw.CUDNN_DATA_FLOAT, raw.CUDNN_TENSOR_NCHW, 4, 3, 3, 3)
    raw.cudnnSetConvolution2dDescriptor(
        convolution, 1, 1, 1, 1, 1, 1, raw.CUDNN_CROSS_CORRELATION, raw.CUDNN_DATA_FLOAT
    )
    return {
        "x": x,
        "w": w,
        "convolution": convolution,
        "size": c_size_t(),
        "shape": (c_int * 4)(2, 3, 8, 8),
        "strides": (c_int * 4)(192, 64, 8, 1),
        **{name: c_int() for name in ("n", "c", "h", "width")},
        "NCHW": raw.CUDNN_TENSOR_NCHW,
        "FLOAT": raw.CUDNN_DATA_FLOAT,
        **backend_operands(),
        "c_int": c_int,
        "byref": byref,
    }


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
    return {
        "unset": unset,
        "tensor": tensor,
        "elements": (c_int64 * 4)(2, 3, 8, 8),
        "count": c_int64(),
        "DIMENSIONS": raw.CUDNN_ATTR_TENSOR_DIMENSIONS,
        "INT64": raw.CUDNN_TYPE_INT64,
    }


def plain_function(name: str, *, typed_handles: bool) -> Any:
    """The C function on plain ctypes."""
    function = ctypes.CDLL(str(raw.load().path))[name]
    function.argtypes = [
        POINTER(p.type.base)
        if p.type.kind in ("pointer", "array")
        else c_void_p
        if p.type.kind == "host"
        else c_int
        if issubclass(p.type.base, (int, c_int))
        else p.type.base
        if typed_handles or p.type.base is c_int64
        else c_void_p
        for p in raw.FUNCTIONS[name].parameters
    ]
    function.restype = c_int
    return function


def timers(case: Case) -> dict[str, timeit.Timer]:
    """One call through each side, the status checked by all."""
    ours = operands()
    typed = {name: int(v) if isinstance(v, int) else v for name, v in ours.items()}
    untyped = {
        name: c_void_p(v.value) if isinstance(v, OpaquePointer) else v for name, v in typed.items()
    }
    typed["f"] = plain_function(case.name, typed_handles=True)
    untyped["f"] = plain_function(case.name, typed_handles=False)
    plain = f"if f({case.plain or case.raw}): raise RuntimeError"
    return {
        "raw": timeit.Timer(f"f({case.raw})", globals={"f": raw.FUNCTIONS[case.name], **ours}),
        "c_void_p": timeit.Timer(plain, globals=untyped),
        "typed": timeit.Timer(plain, globals=typed),
        "lean": timeit.Timer(plain.replace("byref", ""), globals=untyped),
    }


def measure(case: Case, rounds: int = ROUNDS, loops: int = LOOPS) -> dict[str, list[float]]:
    """Seconds per call, one number per round, by side."""
    sides = timers(case)
    times: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side, timer in sides.items():
            times[side].append(timer.timeit(loops) / loops)
    return times


def ratio(times: dict[str, list[float]], side: str) -> float:
    """Median over the rounds of: one call through ``raw``, by one call of `side`."""
    return statistics.median(a / b for a, b in zip(times["raw"], times[side], strict=True))


def report_calls() -> None:
    print(f"cuDNN {raw.load().version_text}, Python {sys.version.split()[0]}; one call in ns")
    sides = ("c_void_p", "typed", "lean")
    print(f"{'':36}{'raw':>6}" + "".join(f"{side:>12}{'ratio':>7}" for side in sides))
    for case in CASES:
        times = measure(case)
        middle = {side: 1e9 * statistics.median(values) for side, values in times.items()}
        columns = (f"{middle[side]:12.0f}{ratio(times, side):7.2f}" for side in sides)
        print(f"{case.row:36}{middle['raw']:6.0f}" + "".join(columns))


def import_milliseconds(rounds: int = 15) -> dict[str, float]:
    """Milliseconds of fresh interpreters that import this or that, beyond an empty one; medians."""
    statements = {
        "empty": "pass",
        "numpy": "import numpy",
        "cudnn_ctypes": "import cudnn_ctypes",
        "cudnn_ctypes.raw": "import cudnn_ctypes.raw",
    }
    times: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(rounds):
        for name, statement in statements.items():
            command = [sys.executable, "-c", statement]
            start = time.perf_counter()
            subprocess.run(command, check=True)
            times[name].append(time.perf_counter() - start)
    empty = statistics.median(times.pop("empty"))
    return {name: 1e3 * (statistics.median(values) - empty) for name, values in times.items()}


def report_imports() -> None:
    print("import in a fresh interpreter, ms beyond an empty one")
    for name, milliseconds in import_milliseconds().items():
        print(f"{name:20}{milliseconds:8.1f}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_call", description=__doc__)
    parser.add_argument("--imports", action="store_true", help="measure imports instead of calls")
    if parser.parse_args(arguments).imports:
        report_imports()
    else:
        report_calls()


if __name__ == "__main__":
    main()
