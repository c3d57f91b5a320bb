"""Wrong addresses in every argument of every family: errors that name the argument, no crash.

Programs of layer 2 make the right calls. Before each new function's call goes on, it is made again
and again with one address exchanged for a wrong one.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from cudnn_ctypes import (
    DeviceBuffer,
    DeviceMemoryWarning,
    Handle,
    SymbolNotFoundError,
)
from cudnn_ctypes.raw import host_blocks, log, mode
from cudnn_ctypes.raw.function import Parameter
from cudnn_ctypes.reference.device import dispatch
from cudnn_ctypes.reference.device.call import Call

from . import operation_table, test_leaks
from .operation_table import Family, rows

Step = Callable[[], Any]


def of_table(family: Family) -> Callable[[Handle], AbstractContextManager[Step]]:
    """All operations of a family of the table as one step."""

    @contextlib.contextmanager
    def made(handle: Handle) -> Iterator[Step]:
        with rows(family, handle) as cases:
            yield lambda: [case() for case in cases.values()]

    made.__name__ = family.__name__
    return made


# Recurrent networks with all optional operands, too.
FAMILIES = (*map(of_table, operation_table.FAMILIES), test_leaks.recurrent)

# Arguments that a call neither reads nor writes, although it is given them.
UNUSED = {
    "cudnnActivationBackward: y",  # for functions whose gradient needs x only
    "cudnnNormalizationBackward: yData",  # where an activation follows
    "cudnnNormalizationBackward: normBiasData",
    "cudnnBatchNormalizationBackwardEx: yData",
    "cudnnBatchNormalizationBackwardEx: bnBiasData",
    "cudnnGetRNNWeightParams: weightSpace",  # these two compute addresses
    "cudnnGetMultiHeadAttnWeights: weights",
}
# Arguments that cuDNN may read, and the reference device does not.
UNREAD = {
    "cudnnPoolingBackward: y",
    "cudnnLRNCrossChannelBackward: y",
    "cudnnRNNBackwardData_v8: y",
    "cudnnRNNBackwardWeights_v8: y",
}


def block(address: int) -> host_blocks.Block:
    found = host_blocks.find(address)
    assert found is not None
    return found


def run(handle: Handle, family: Any, monkeypatch: Any, check: Callable[..., None]) -> set[str]:
    """One step, with `check(call, position, address)` before each function's first call."""
    carry_out, seen = dispatch._carry_out, set()

    def watched(implementation: Any, function: Any, args: tuple[Any, ...]) -> int:
        if function.__name__ not in seen:
            seen.add(function.__name__)
            for position, parameter in enumerate(function.parameters):
                use = f"{function.__name__}: {parameter.name}"
                if parameter.type.kind not in ("device", "labelled") or use in UNUSED:
                    continue
                address = Call(function, args)[parameter.name]
                if not address:
                    continue

                def call(changed: Any, position: int = position) -> int:
                    given = (*args[:position], changed, *args[position + 1 :])
                    return carry_out(implementation, function, given)

                check(call, function, parameter, address)
        return carry_out(implementation, function, args)

    monkeypatch.setattr(dispatch, "_carry_out", watched)
    try:
        with family(handle) as step:
            step()
    except SymbolNotFoundError as error:
        pytest.skip(str(error))
    return seen


@contextlib.contextmanager
def read_only_memory() -> Iterator[int]:
    memory = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    protect(ctypes.c_void_p(address), ctypes.c_size_t(1 << 20), mmap.PROT_READ)
    yield address
    protect(ctypes.c_void_p(address), ctypes.c_size_t(1 << 20), mmap.PROT_READ | mmap.PROT_WRITE)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_wrong_addresses(reference_handle: Handle, family: Any, monkeypatch: Any) -> None:
    with DeviceBuffer(1 << 20) as closed:
        freed = closed.ptr
    wrong: list[str] = []
    with read_only_memory() as read_only, DeviceBuffer(2) as small:
        small.fill(0)
        faults: dict[str, tuple[str, Callable[[host_blocks.Block], int]]] = {
            "past the end": ("begins 0 bytes beyond the end", lambda b: b.address + b.nbytes),
            "before the start": ("begins 16 bytes before the start", lambda b: b.address - 16),
            "freed": (r"was freed: bytes 0 to \d+", lambda _: freed),
            "too small": (r"is too small: \d+ bytes are missing", lambda _: small.ptr),
            "read-only": ("is written, but .* are read-only memory", lambda _: read_only),
            "unmapped": ("not memory of this process", lambda _: 1 << 46),
        }

        def check(call: Any, function: Any, parameter: Parameter, address: int) -> None:
            for fault, (message, changed) in faults.items():
                if fault == "read-only" and parameter.direction == "in":
                    continue
                log.forget()
                status, said = call(changed(block(address))), " ".join(log.take()[0])
                if status == 0 or not re.search(f"{parameter.name}.*{message}", said):
                    wrong.append(f"{function.__name__}: {parameter.name} {fault}: {said}")

        run(reference_handle, family, monkeypatch, check)
    assert not wrong, "\n".join(wrong)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_memory_that_was_never_written(
    reference_handle: Handle, family: Any, monkeypatch: Any
) -> None:
    wrong: list[str] = []

    def check(call: Any, function: Any, parameter: Parameter, address: int) -> None:
        if parameter.direction != "in" or f"{function.__name__}: {parameter.name}" in UNREAD:
            return
        with DeviceBuffer(1 << 20) as empty:
            log.forget()
            monkeypatch.setattr(mode, "strict", True)
            status, said = call(empty.ptr), " ".join(log.take()[0])
            monkeypatch.setattr(mode, "strict", False)
            if status == 0 or not re.search(f"{parameter.name}: .* were never written", said):
                wrong.append(f"{function.__name__}: {parameter.name} strict: {said}")
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call(empty.ptr)
            texts = [str(w.message) for w in caught if w.category is DeviceMemoryWarning]
            if not any(text.startswith(f"{parameter.name}: ") for text in texts):
                wrong.append(f"{function.__name__}: {parameter.name} by default: {texts}")

    run(reference_handle, family, monkeypatch, check)
    assert not wrong, "\n".join(wrong)
