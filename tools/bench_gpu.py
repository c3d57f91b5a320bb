"""What launching costs the host, from a loop in C up to the functions of the legacy API.

``python -m tools.bench_gpu``, on a machine with a GPU. Every side of the first table launches the
same small convolution on the same handle, so the differences are what each layer adds: a loop over
cudnnConvolutionForward in C, compiled here; plain ctypes with ``argtypes`` set and the status
compared; ``raw`` with addresses and with objects; `ConvolutionForward.run` and
`convolution_forward`, with DeviceTensors and, where PyTorch is installed, with its tensors; the
operation bound to its operands; and PyTorch's own convolution. The second table has every operation
of layer 2: host time of the second call and of the bound form, and how many functions of Python and
builtin ones a call goes through.
Launches are queued and only waited for between measurements; the GPU must keep up, so the last row
gives its time per launch by CUDA events, which has to be smaller than the host's.

``--reference`` runs all but plain ctypes on the reference device, to see that the program is whole;
in the second table an empty C function then stands in for cuDNN's.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import statistics
import sys
import timeit
from collections.abc import Callable
from ctypes import byref, c_float
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
    as_tensor,
    bind,
    convolution_forward,
    raw,
    use_reference_device,
)
from cudnn_ctypes.runtime import Event, elapsed_ms

from .launch_costs import costs
from .launch_costs import report as report_costs
from .plain_calls import ConvolutionLoop, plain_launch

X_SHAPE, W_SHAPE = (1, 64, 8, 8), (64, 64, 3, 3)
LAYOUT = "NHWC"
WORKSPACE_LIMIT = 64 << 20

C_LOOP, PLAIN = "a loop in C", "plain ctypes"


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

        sides: dict[str, Callable[[], Any]] = {}
        if plain:
            sides[C_LOOP] = ConvolutionLoop(by_address)
            sides[PLAIN] = plain_launch(by_address)
        sides |= {
            "raw, addresses": lambda: launch(*by_address),
            "raw, objects": lambda: launch(*by_object),
        } | self.classes(x, w, y, "")
        tensors = torch_tensors(x, w, y) if plain else None
        if tensors is not None:
            tx, tw, ty = tensors
            in_torch = (
                *(h, self.one, self.x_desc, tx, self.w_desc, tw, self.conv, algorithm),
                *(space, size, self.zero, self.y_desc, ty),
            )
            sides["raw, PyTorch"] = lambda: launch(*in_torch)
            sides |= self.classes(tx, tw, ty, ", PyTorch")
            conv2d = sys.modules["torch"].nn.functional.conv2d
            sides["torch conv2d"] = lambda: conv2d(tx, tw, padding=1)
        return sides

    def classes(self, x: Any, w: Any, y: Any, what: str) -> dict[str, Callable[[], Any]]:
        """A launch by the classes, with these tensors."""
        h, conv, row, space = self.handle, self.conv, self.row, self.workspace
        run = self.convolution.run
        return {
            f"bound{what}": bind(run, h, x=x, w=w, y=y, algorithm=row, workspace=space),
            f"ConvolutionForward.run{what}": (
                lambda: run(h, x=x, w=w, y=y, algorithm=row, workspace=space)
            ),
            f"convolution_forward, y{what}": lambda: convolution_forward(h, x, w, conv, y),
            f"convolution_forward{what}": lambda: convolution_forward(h, x, w, conv),
        }

    def small(self) -> dict[str, Callable[[], Any]]:
        """What calls are made of."""

        def in_c() -> None:
            descriptor = raw.cudnnTensorDescriptor_t()
            raw.cudnnCreateTensorDescriptor(descriptor)
            raw.cudnnSetTensor4dDescriptor(
                descriptor, raw.CUDNN_TENSOR_NHWC, raw.CUDNN_DATA_HALF, *X_SHAPE
            )
            raw.cudnnDestroyTensorDescriptor(descriptor)

        def as_class() -> None:
            TensorDescriptor(X_SHAPE, "float16", layout=LAYOUT).close()

        parts = {"a descriptor by three raw calls": in_c, "TensorDescriptor, closed": as_class}
        tensors = torch_tensors(self.x, self.w, self.y)
        if tensors is not None:
            parts["as_tensor, PyTorch"] = lambda: as_tensor(tensors[0])
        return parts


def torch_tensors(*tensors: DeviceTensor) -> list[Any] | None:
    """The same memory as tensors of PyTorch, if that is installed."""
    try:
        import torch
    except ImportError:
        return None
    return [torch.from_dlpack(tensor) for tensor in tensors]


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
            seconds = getattr(launch, "seconds", None) or functools.partial(timeit.timeit, launch)
            times[side].append(1e6 * seconds(number=launches) / launches)
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
    print(f"{'':34}{'us':>8}{'least':>8}{'ratio':>8}")
    for side, values in times.items():
        ratio = statistics.median(a / b for a, b in zip(values, times[base], strict=True))
        print(f"{side:34}{statistics.median(values):8.2f}{min(values):8.2f}{ratio:8.2f}")


def report_operations(bench: Bench, rounds: int, launches: int) -> None:
    """The cost of the second call of every operation, and of what calls are made of."""
    convert = (lambda tensor: tensor) if torch_tensors(bench.x) is None else _in_torch
    if bench.handle.on_reference_device:
        print("an empty C function in place of cuDNN's where a launch is found by its key")
    report_costs(costs(bench.handle, convert, rounds=rounds, launches=launches))
    times = measure(bench.small(), bench.handle.synchronize, rounds, launches)
    for side, values in times.items():
        print(f"{side:42}{statistics.median(values):8.2f}")


def _in_torch(tensor: DeviceTensor) -> Any:
    """The same memory as a tensor of PyTorch, if that has its type."""
    try:
        return sys.modules["torch"].from_dlpack(tensor)
    except (RuntimeError, BufferError, TypeError):
        return tensor


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
            print(f"{'between events':34}{microseconds:8.2f}")
        report_operations(bench, max(options.rounds // 4, 1), options.launches)
        if not np.isfinite(bench.y.numpy()).all():
            print("y holds values that no launch wrote")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
