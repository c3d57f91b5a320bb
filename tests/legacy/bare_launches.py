"""Launches by C's own functions on the reference device, which sees the calls of ``raw`` alone."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cudnn_ctypes import Handle, raw, use_reference_device
from cudnn_ctypes.raw.ctypes_support import OpaquePointer
from cudnn_ctypes.runtime.launching import plan
from cudnn_ctypes.runtime.launching.likeness import Plans

__all__ = ["bare_launches", "handle_each_way", "handle_of", "reference_handle_each_way"]

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
def bare_launches() -> Iterator[None]:
    """Have launches call C itself, as on a GPU, and its functions carried out in NumPy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "bare", _CarriedOut())
        patch.setattr(plan, "watched", ())
        patch.setattr(plan, "_plans", Plans())
        yield


@contextmanager
def handle_of(device: str) -> Iterator[Handle]:
    """A handle of "reference", "reference, bare" or "gpu"."""
    with use_reference_device(device != "gpu"), Handle() as made:
        if device != "reference, bare":
            yield made
            return
        with bare_launches():
            yield made


def _handle(request: pytest.FixtureRequest) -> Iterator[Handle]:
    """A handle on the reference device, called through ``raw`` or as C is, and on the GPU."""
    with handle_of(request.param) as made:
        yield made


_ON_REFERENCE = "reference", "reference, bare"
_GPU = pytest.param("gpu", marks=pytest.mark.gpu)

handle_each_way = pytest.fixture(params=[*_ON_REFERENCE, _GPU], name="handle")(_handle)
reference_handle_each_way = pytest.fixture(params=_ON_REFERENCE, name="reference_handle")(_handle)
