"""What launching a convolution costs the host, from plain ctypes up to the classes.

``python -m tools.bench_gpu``, on a machine with a GPU. Every side launches the same small
convolution on the same handle, descriptors and memory, so the differences are what each layer
adds: plain ctypes with ``argtypes`` set and the status compared; ``raw`` with addresses; ``raw``
with objects (a `DeviceTensor` where memory is wanted, descriptors of layer 2); `ConvolutionForward`
run with a chosen algorithm and workspace; `convolution_forward`, which describes its operands anew.
Launches are queued and only waited for between measurements; the GPU must keep up, so the "GPU"
row gives its time per launch by CUDA events, which has to be smaller than the host's.

``--reference`` runs all but plain ctypes on the reference device, to see that the program is whole.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import statistics
import sys
import timeit
from collections.abc import Callable
from ctypes import byref, c_float, c_int, c_size_t, c_void_p
from typing import Any

import numpy as np

from cudnn_ctypes import (
    ConvolutionDescriptor,
    ConvolutionForward,
    DeviceBuffer,
    DeviceTensor,
    FilterDescriptor,
    Handle,
    TensorDescriptor,
    convolution_forward,
    raw,
    use_reference_device,
)
from cudnn_ctypes.device import Event, elapsed_ms
from cudnn_ctypes.raw.ctypes_support import OpaquePointer

X_SHAPE, W_SHAPE = (1, 64, 8, 8), (64, 64, 3, 3)
LAYOUT = "NHWC"
WORKSPACE_LIMIT = 64 << 20

PLAIN = "plain ctypes"


class Bench:
    """The operands, and one launch by each side."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        own = stack.enter_context
        rng = np.random.default_rng(0)
        x_values = rng.standard_normal(X_SHAPE).astype(np.float16)
        w_values = rng.standard_normal(W_SHAPE).astype(np.float16)
        self.handle = own(Handle())
        self.x = own(DeviceTensor.from_numpy(x_values, layout=LAYOUT))
        self.w = own(DeviceTensor.from_numpy(w_values, layout=LAYOUT))
        self.y = own(DeviceTensor.from_numpy(np.full(X_SHAPE, np.nan, np.float16), layout=LAYOUT))
        self.x_desc = own(TensorDescriptor(X_SHAPE, "float16", layout=LAYOUT))
        self.y_desc = own(TensorDescriptor(X_SHAPE, "float16", layout=LAYOUT))
        self.w_desc = own(FilterDescriptor(W_SHAPE, "float16", layout=LAYOUT))
        self.conv = own(ConvolutionDescriptor(padding=1, math_type="TENSOR_OP_MATH"))
        self.convolution = ConvolutionForward(self.x_desc, self.w_desc, self.conv, self.y_desc)
        table = self.convolution.algorithms(self.handle)
        self.row = table.choose(memory_limit=WORKSPACE_LIMIT)
        size = self.convolution.workspace_size(self.handle, self.row)
        self.workspace = own(DeviceBuffer(max(size, 16)))
        self.size = size
        self.one, self.zero = c_float(1), c_float(0)

    def sides(self, *, plain: bool) -> dict[str, Callable[[], Any]]:
        """A launch by each layer, lowest first."""
        h, x, w, y = self.handle, self.x, self.w, self.y
        algorithm, size, space = self.row.algorithm, self.size, self.workspace
        x_desc, w_desc, conv, y_desc = (
            d._as_parameter_ for d in (self.x_desc, self.w_desc, self.conv, self.y_desc)
        )
        launch = raw.cudnnConvolutionForward
        by_address = (
            *(h._as_parameter_, byref(self.one), x_desc, x.ptr, w_desc, w.ptr, conv, algorithm),
            *(space.ptr, size, byref(self.zero), y_desc, y.ptr),
        )
        by_object = (
            *(h, self.one, self.x_desc, x, self.w_desc, w, self.conv, algorithm),
            *(space, size, self.zero, self.y_desc, y),
        )

        def with_row() -> None:
            self.convolution.run(h, x, w, y, algorithm=self.row, workspace=space)

        def anew() -> None:
            convolution_forward(h, x, w, self.conv, y, algorithm=self.row, workspace=space)

        sides: dict[str, Callable[[], Any]] = {}
        if plain:
            sides[PLAIN] = plain_launch(by_address)
        return sides | {
            "raw, addresses": lambda: launch(*by_address),
            "raw, objects": lambda: launch(*by_object),
            "ConvolutionForward.run": with_row,
            "convolution_forward": anew,
        }


def plain_launch(arguments: tuple[Any, ...]) -> Callable[[], None]:
    """cudnnConvolutionForward as a careful program calls it through ctypes alone."""
    function = ctypes.CDLL(str(raw.load().path)).cudnnConvolutionForward
    function.restype = c_int
    argtypes: list[Any] = []
    values: list[Any] = []
    for parameter, value in zip(raw.cudnnConvolutionForward.parameters, arguments, strict=True):
        if isinstance(value, OpaquePointer):
            value = c_void_p(value.value)
        elif parameter.type.kind == "device":
            value = c_void_p(value)
        elif parameter.name == "algo":
            value = int(value)
        argtypes.append({"algo": c_int, "workSpaceSizeInBytes": c_size_t}.get(parameter.name))
        argtypes[-1] = argtypes[-1] or c_void_p
        values.append(value)
    function.argtypes = argtypes

    def launch() -> None:
        status = function(*values)
        if status:
            raise RuntimeError(status)

    return launch


def measure(
    sides: dict[str, Callable[[], Any]], wait: Callable[[], None], rounds: int, launches: int
) -> dict[str, list[float]]:
    """Microseconds of host time per launch, one number per round, the sides taking turns."""
    times: dict[str, list[float]] = {side: [] for side in sides}
    for launch in sides.values():  # loads kernels, binds symbols
        launch()
    for _ in range(rounds):
        for side, launch in sides.items():
            wait()
            times[side].append(1e6 * timeit.timeit(launch, number=launches) / launches)
    wait()
    return times


def gpu_microseconds(bench: Bench, launch: Callable[[], Any], launches: int) -> float:
    """Time per launch between two events: the host's, if that is the slower side."""
    with Event() as start, Event() as end:
        start.record(bench.handle.stream)
        for _ in range(launches):
            launch()
        end.record(bench.handle.stream)
        return 1e3 * float(elapsed_ms(start, end)) / launches


def report(times: dict[str, list[float]], base: str) -> None:
    print(f"{'':24}{'us':>8}{'least':>8}{'ratio':>8}")
    for side, values in times.items():
        ratio = statistics.median(a / b for a, b in zip(values, times[base], strict=True))
        print(f"{side:24}{statistics.median(values):8.2f}{min(values):8.2f}{ratio:8.2f}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_gpu", description=__doc__)
    parser.add_argument("--reference", action="store_true", help="on the reference device")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--launches", type=int, default=200)
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        stack.enter_context(use_reference_device(options.reference))
        bench = Bench(stack)
        sides = bench.sides(plain=not options.reference)
        print(f"{bench.handle!r}, {raw.load().path}, Python {sys.version.split()[0]}")
        print(f"x {X_SHAPE}, w {W_SHAPE}, float16 {LAYOUT}, {bench.row.algorithm}")
        times = measure(sides, bench.handle.synchronize, options.rounds, options.launches)
        report(times, next(iter(times)))
        if not options.reference:
            microseconds = gpu_microseconds(bench, sides[PLAIN], options.launches)
            print(f"{'between events':24}{microseconds:8.2f}")
        if not np.isfinite(bench.y.numpy()).all():
            print("y holds values that no launch wrote")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
