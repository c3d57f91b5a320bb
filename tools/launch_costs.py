"""What a launch costs besides C: host time and Python calls of every operation's second call.

The operations are those of ``tests/legacy/operation_table``. On the reference device an empty C
function stands in for cuDNN's, so that what is measured is this package alone; and memory of
results that are gone is kept for others, as it is on a GPU.

``python -m tools.launch_costs`` prints the table on the reference device; `bench_gpu` has it for a
GPU, with tensors of PyTorch too. ``--shapes 10000`` tells what a launch costs with many shapes by
turns, in time of the CPU; with ``--gpu`` as much with cuDNN's own work, on a GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.util
import sys
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from cudnn_ctypes import (
    CudnnError,
    DeviceTensor,
    Handle,
    SymbolNotFoundError,
    activation_forward,
    use_reference_device,
)
from cudnn_ctypes.raw.function import watched
from cudnn_ctypes.runtime.launching import plan as plan_module
from cudnn_ctypes.runtime.launching.plan import Plan
from tests.legacy.operation_table import FAMILIES, Case, rows

__all__ = ["Cost", "costs", "report"]


@dataclass(frozen=True)
class Cost:
    """Of the second and later calls of an operation.

    Attributes
    ----------
    microseconds, bound_microseconds : float or None
        Host time of a call, and of its bound form; None if it has none.
    python_calls, builtin_calls, cudnn_calls : int
        Functions of Python, and builtin ones, that a call goes through; calls of cuDNN.
    """

    name: str
    microseconds: float
    bound_microseconds: float | None
    python_calls: int
    builtin_calls: int
    cudnn_calls: int


def costs(
    handle: Handle,
    convert: Callable[[Any], Any] = lambda operand: operand,
    *,
    rounds: int,
    launches: int,
) -> Iterator[Cost]:
    """The cost of each operation that the loaded cuDNN and this GPU have.

    Parameters
    ----------
    convert
        Makes another library's tensor of a ``DeviceTensor``.
    rounds, launches : int
        The least time of so many rounds of so many launches.
    """
    for family in FAMILIES:
        with suppress(SymbolNotFoundError, CudnnError), rows(family, handle) as made:
            for name, case in made.items():
                with suppress(CudnnError):
                    yield _cost(handle, name, _converted(case, convert), rounds, launches)


def _converted(case: Case, convert: Callable[[Any], Any]) -> Case:
    def made(value: Any) -> Any:
        return convert(value) if isinstance(value, DeviceTensor) else value

    kwargs = {name: made(value) for name, value in case.kwargs.items()}
    return Case(case.operation, tuple(map(made, case.args)), kwargs)


def _cost(handle: Handle, name: str, case: Case, rounds: int, launches: int) -> Cost:
    handle._plans.clear()
    plan_module._plans.clear()
    case()
    plans = [found[0] for each in (handle, plan_module) for found in each._plans.values()]
    bound = None
    with suppress(TypeError):
        bound = case.bind()
    with _without_cudnn(handle, plans):
        for _ in range(3):
            case()  # it is compiled, and there is kept memory from now on
        python_calls, builtin_calls, in_layer_1 = _profile(case)

        def microseconds(call: Callable[[], Any]) -> float:
            times: list[float] = []
            for _ in range(rounds):
                handle.synchronize()
                times.append(1e6 * timeit.timeit(call, number=launches) / launches)
            return min(times)

        return Cost(
            name,
            microseconds(case),
            None if bound is None else microseconds(bound),
            python_calls,
            builtin_calls,
            in_layer_1 + sum(len(plan.calls) for plan in plans),
        )


@contextmanager
def _without_cudnn(handle: Handle, plans: list[Plan]) -> Iterator[None]:
    """On the reference device, have plans call an empty C function in place of cuDNN's."""
    if not handle.on_reference_device or not plans:
        yield
        return
    empty = ctypes.PyDLL(None).PyErr_CheckSignals  # takes nothing, gives 0
    for table in (handle._plans, plan_module._plans):
        for key, found in table.items():
            symbols = {id(call.symbol) for call in found[0].calls}
            table[key] = tuple([empty if id(each) in symbols else each for each in found])
    for plan in plans:
        plan.calls = [call._replace(symbol=empty) for call in plan.calls]
    before = set(watched)
    watched.clear()
    allocators = handle.allocator, plan_module.StreamLauncher(None).allocator
    for allocator in allocators:
        allocator.keeps = True
    try:
        yield
    finally:
        for allocator in allocators:
            allocator.close()
        watched.update(before)


def _profile(call: Callable[[], Any]) -> tuple[int, int, int]:
    """Python functions, builtin functions and functions of layer 1 that a call goes through."""
    counts = {"call": 0, "c_call": 0, "layer 1": 0}

    def note(frame: Any, event: str, argument: Any) -> None:
        if event in counts:
            counts[event] += 1
        if event == "call" and frame.f_code.co_filename.startswith("<cudnn"):
            counts["layer 1"] += 1

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    counts["call"] -= 1  # of `call` itself
    counts["c_call"] -= 1  # sys.setprofile
    return counts["call"], counts["c_call"], counts["layer 1"]


def report(found: Iterator[Cost]) -> None:
    """Print a table."""
    print(f"{'second call':42}{'us':>8}{'bound':>8}{'Python':>8}{'builtin':>8}{'cuDNN':>7}")
    for cost in found:
        bound = "-" if cost.bound_microseconds is None else f"{cost.bound_microseconds:.2f}"
        print(
            f"{cost.name:42}{cost.microseconds:8.2f}{bound:>8}{cost.python_calls:8}"
            f"{cost.builtin_calls:8}{cost.cudnn_calls:7}"
        )


def shapes(handle: Handle, make: Callable[[tuple[int, ...]], Any], count: int) -> list[float]:
    """Microseconds of a launch: the same tensors each time, others of one shape, other shapes.

    `make` makes a tensor; there are `count` of each.
    """
    sizes = [(1 + i % 10, 1 + i // 10 % 10, 1 + i // 100 % 10, 1 + i // 1000) for i in range(count)]
    one = make((2, 3, 4, 5)), make((2, 3, 4, 5))
    sides = [
        [one] * count,
        [(make((2, 3, 4, 5)), make((2, 3, 4, 5))) for _ in sizes],
        [(make(size), make(size)) for size in sizes],
    ]
    for x, y in (one, *sides[2]):
        activation_forward(handle, x, "relu", y)
    plans = [found[0] for found in handle._plans.values()]
    least = [float("inf")] * len(sides)
    with _without_cudnn(handle, plans):
        for _ in range(10):
            for i, side in enumerate(sides):
                handle.synchronize()
                start = time.thread_time()
                for x, y in side:
                    activation_forward(handle, x, "relu", y)
                least[i] = min(least[i], 1e6 * (time.thread_time() - start) / count)
    handle._plans.clear()
    return least


def _own(size: tuple[int, ...]) -> DeviceTensor:
    tensor = DeviceTensor.zeros(size, "float32")
    tensor.keyed()  # what it remembers of itself, which else lies among what its plan is made of
    return tensor


def main(arguments: list[str] | None = None) -> None:
    """Measure on the reference device."""
    parser = argparse.ArgumentParser(prog="python -m tools.launch_costs", description=__doc__)
    parser.add_argument(
        "--shapes", type=int, help="launch an activation with so many shapes by turns"
    )
    parser.add_argument("--gpu", action="store_true", help="on a GPU, with its cuDNN")
    options = parser.parse_args(arguments)
    count = options.shapes
    with use_reference_device(not options.gpu), Handle() as handle:
        if count is None:
            report(costs(handle, rounds=5, launches=200))
            return
        makers: dict[str, Callable[[tuple[int, ...]], Any]] = {"DeviceTensor": _own}
        if importlib.util.find_spec("torch"):
            zeros = importlib.import_module("torch").zeros
            device = "cuda" if options.gpu else "cpu"
            makers["PyTorch"] = lambda size: zeros(size, device=device)
        for name, make in makers.items():
            same, others, every = shapes(handle, make, count)
            print(
                f"{name:14}{same:6.2f} us for the same tensors, {others:6.2f} for others of "
                f"one shape, {every:6.2f} for {count} shapes: {every / others:.2f} times one shape"
            )


if __name__ == "__main__":
    main()
