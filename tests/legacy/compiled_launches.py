"""Compiled launches on the reference device, where somebody else sees all calls otherwise."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cudnn_ctypes import Handle, raw, use_reference_device
from cudnn_ctypes.legacy import launch, launch_calls, launch_plan, stream_launcher
from cudnn_ctypes.raw.ctypes_support import OpaquePointer

__all__ = ["compiled_launches", "handle_each_way", "handle_of", "reference_handle_each_way"]

_PASSED = re.compile(r"<cparam '(.)' \((.*)\)>")


class _CarriedOut:
    """``bare.cudnnX`` as the reference device carries it out, with arguments for C itself."""

    def __getattr__(self, name: str) -> Callable[..., int]:
        function = raw.FUNCTIONS[name]

        def carried_out(*arguments: Any) -> int:
            given = zip(function.parameters, arguments, strict=True)
            return int(function.unchecked(*(_unpassed(p.type.base, each) for p, each in given)))

        return carried_out


def _unpassed(base: Any, argument: Any) -> Any:
    """An argument as a program gives it to layer 1."""
    if isinstance(argument, bytes):  # ints in a row
        return (ctypes.c_int * (len(argument) // 4)).from_buffer_copy(argument)
    if getattr(argument, "_obj", None) is not None:  # byref(...)
        return argument
    found = _PASSED.fullmatch(repr(argument))
    if found is None:
        return argument
    kind, text = found.groups()
    value = float(text) if kind == "d" else int(text, 0)
    if kind == "P" and isinstance(base, type) and issubclass(base, OpaquePointer):
        pointer = base()
        pointer.value = value
        return pointer
    return ctypes.c_void_p(value) if kind == "P" else value


@contextmanager
def compiled_launches() -> Iterator[None]:
    """Have launches compiled, as on a GPU, and their C functions carried out in NumPy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_calls, "bare", _CarriedOut())
        for module in (launch, launch_plan):
            patch.setattr(module, "watched", ())
        for table in ("_plans", "_launches"):
            patch.setattr(stream_launcher, table, {})
        yield


@contextmanager
def handle_of(device: str) -> Iterator[Handle]:
    """A handle of "reference", "reference, compiled" or "gpu"."""
    with use_reference_device(device != "gpu"), Handle() as made:
        if device != "reference, compiled":
            yield made
            return
        with compiled_launches():
            yield made


def _handle(request: pytest.FixtureRequest) -> Iterator[Handle]:
    """A handle on the reference device, with launches seen by it or compiled, and on the GPU."""
    with handle_of(request.param) as made:
        yield made


_ON_REFERENCE = "reference", "reference, compiled"
_GPU = pytest.param("gpu", marks=pytest.mark.gpu)

handle_each_way = pytest.fixture(params=[*_ON_REFERENCE, _GPU], name="handle")(_handle)
reference_handle_each_way = pytest.fixture(params=_ON_REFERENCE, name="reference_handle")(_handle)
