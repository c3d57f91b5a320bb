"""cudnnConvolutionForward and cudnnBackendExecute from a loop in C, and through ctypes alone."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from ctypes import c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.raw.ctypes_support import OpaquePointer

__all__ = ["ConvolutionLoop", "ExecutionLoop", "plain_launch"]

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
double execute(int n, execute_t f, void *handle, void *plan, void *pack) {
    double start = now();
    for (int i = 0; i < n; i++)
        if (f(handle, plan, pack))
            return -1;
    return now() - start;
}
"""


class _Loop:
    """A C function with fixed arguments in a loop in C."""

    def __init__(self, name: str, loop: str, *arguments: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "loop.c"), Path(folder, "loop.so")
            source.write_text(_C_SOURCE)
            command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]
            subprocess.run(command, check=True)
            self._loop = getattr(ctypes.CDLL(str(library)), loop)
        self._loop.restype = ctypes.c_double
        self._name, self._arguments = name, arguments
        self._function = getattr(ctypes.CDLL(str(raw.load().path)), name)

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
        super().__init__("cudnnConvolutionForward", "convolve", self._pointers, *numbers)


class ExecutionLoop(_Loop):
    """cudnnBackendExecute in a loop in C, of a `BoundPlan`."""

    def __init__(self, bound: Any) -> None:
        self._held = bound
        pointers = [
            c_void_p(each._as_parameter_.value)
            for each in (bound.handle, bound.plan.descriptor, bound.variant_pack)
        ]
        super().__init__("cudnnBackendExecute", "execute", *pointers)


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
