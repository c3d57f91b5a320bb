"""cudnnConvolutionForward and cudnnBackendExecute from a loop in C, and through ctypes alone."""

from __future__ import annotations

import ctypes
import functools
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from ctypes import c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.raw.ctypes_support import OpaquePointer

__all__ = [
    "ConvolutionLoop",
    "ExecutionLoop",
    "compiled",
    "native",
    "plain_execution",
    "plain_launch",
    "plain_refill",
]

_C_SOURCE = """
#include <stddef.h>
#include <time.h>
typedef int (*launch_t)(void *, void *, void *, void *, void *, void *, void *, int, void *, size_t,
                        void *, void *, void *);
typedef int (*execute_t)(void *, void *, void *);
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
double convolve(int n, launch_t f, void **a, int algorithm, size_t size) {
    double start = now();
    for (int i = 0; i < n; i++)
        if (f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], algorithm, a[7], size, a[8], a[9], a[10]))
            return -1;
    return now() - start;
}
/* What stands in for cuDNN's functions. */
int empty(void) {
    return 0;
}
double execute(int n, execute_t f, void *handle, void *plan, void *pack) {
    double start = now();
    for (int i = 0; i < n; i++)
        if (f(handle, plan, pack))
            return -1;
    return now() - start;
}
"""


@functools.cache
def compiled() -> ctypes.CDLL:
    """The loops in C, and a function `empty`."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "loop.c"), Path(folder, "loop.so")
        source.write_text(_C_SOURCE)
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))


def native(name: str) -> Any:
    """A function of cuDNN as ctypes has it, without argtypes."""
    return ctypes.CDLL(str(raw.load().path))[name]


class _Loop:
    """A C function with fixed arguments in a loop in C."""

    def __init__(self, loop: str, name: str, function: Any, *arguments: Any) -> None:
        self._loop = compiled()[loop]
        self._loop.restype = ctypes.c_double
        self._name, self._arguments, self._function = name, arguments, function

    def seconds(self, number: int) -> float:
        """Of so many calls."""
        seconds = float(self._loop(number, self._function, *self._arguments))
        if seconds < 0:
            raise RuntimeError(f"{self._name} failed")
        return seconds

    def __call__(self) -> None:
        self.seconds(1)


class ConvolutionLoop(_Loop):
    """cudnnConvolutionForward in a loop in C."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self._held = arguments  # what byref points to must live
        pointers = [ctypes.cast(a, c_void_p) for i, a in enumerate(arguments) if i not in (7, 9)]
        self._pointers = (c_void_p * len(pointers))(*pointers)
        numbers = int(arguments[7]), c_size_t(arguments[9])
        name = "cudnnConvolutionForward"
        super().__init__("convolve", name, native(name), self._pointers, *numbers)


class ExecutionLoop(_Loop):
    """cudnnBackendExecute, or another function, in a loop in C, with what a `BoundPlan` has."""

    def __init__(self, bound: Any, function: Any = None) -> None:
        self._held = bound
        name = "cudnnBackendExecute"
        super().__init__("execute", name, function or native(name), *_pointers(bound))


def _pointers(bound: Any) -> list[c_void_p]:
    owners = bound.handle, bound.plan.descriptor, bound.variant_pack
    return [c_void_p(each._as_parameter_.value) for each in owners]


def plain_execution(bound: Any, function: Any = None) -> Callable[[], int]:
    """cudnnBackendExecute by the least that ctypes can do, below which no bound plan can be.

    The arguments are converted beforehand, and nobody looks at the status.
    """
    function = function or native("cudnnBackendExecute")
    return _working(functools.partial(function, *(_converted(p) for p in _pointers(bound))))


def plain_refill(
    bound: Any,
    addresses: Mapping[int, int],
    workspace: int,
    new: Iterator[int],
    functions: Callable[[str], Any] = native,
) -> Callable[[], int]:
    """The same, with a variant pack that is filled again for another address of one operand.

    Parameters
    ----------
    addresses : mapping of int to int
        By unique id.
    workspace : int
        Its address; 0 if the plan needs none.
    new : iterator of int
        Addresses of the last operand.
    functions : callable
        Gives a C function by its name.
    """
    initialize, finalize = functions("cudnnBackendInitialize"), functions("cudnnBackendFinalize")
    set_attribute, execute = (functions(f"cudnnBackend{e}") for e in ("SetAttribute", "Execute"))
    pack = raw.cudnnBackendDescriptor_t()
    raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, pack)
    last = len(addresses) - 1
    uids, values = (c_int64 * (last + 1))(*addresses), (c_uint64 * (last + 1))(*addresses.values())
    alone = (c_void_p.from_param(pack.value),)

    def arguments(name: int, kind: int, array: Any) -> tuple[Any, ...]:
        count = c_int64.from_param(len(array))
        return (*alone, int(name), int(kind), count, ctypes.byref(array))

    with_uids = arguments(raw.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, raw.CUDNN_TYPE_INT64, uids)
    pointers, space = raw.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, (c_uint64 * 1)(workspace)
    with_values = arguments(pointers, raw.CUDNN_TYPE_VOID_PTR, values)
    with_space = arguments(raw.CUDNN_ATTR_VARIANT_PACK_WORKSPACE, raw.CUDNN_TYPE_VOID_PTR, space)
    to_execute = (*(_converted(p) for p in _pointers(bound)[:2]), *alone)

    def launch() -> int:
        values[last] = next(new)
        initialize(*alone)
        set_attribute(*with_uids)
        set_attribute(*with_values)
        if workspace:
            set_attribute(*with_space)
        finalize(*alone)
        return execute(*to_execute)  # type: ignore[no-any-return]

    return _working(launch)


def _converted(pointer: c_void_p) -> Any:
    return c_void_p.from_param(pointer.value)


def _working(call: Callable[[], int]) -> Callable[[], int]:
    if status := call():
        raise RuntimeError(f"cudnnBackendExecute returned {status}")
    return call


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
