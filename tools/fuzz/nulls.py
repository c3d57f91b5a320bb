"""Find the NULL arguments that crash libcudnn itself; ``overrides.NOT_NULL`` names them.

``python -m tools.fuzz nulls`` calls every function with one argument after the other NULL, with
all of them NULL and with none, the others being plausible: descriptors that were created, and once
more descriptors that were also set. It prints every call that ended the process, and compares with
the table. ``--guarded`` calls through the guards instead: then nothing must be printed.

Calls run in child processes. With a GPU the children use a real handle and
device memory, and reach more: run it on one for each new cuDNN version. Without one a handle is
NULL throughout.
"""

from __future__ import annotations

import argparse
import ctypes
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.graph.backend.children import Spent, outcomes
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, OpaquePointer, storage_type
from cudnn_ctypes.raw.function import binding
from cudnn_ctypes.raw.parameter import Parameter

ROOM = 64  # elements of each array, far more than any call of this tool asks for
SECONDS = 60  # after which a call counts as hanging
DEVICE_BYTES = 1 << 20
CALLBACK: type = raw.cudnnCallback_t.__mro__[1]  # the base of ctypes' function types

NOT_CALLED = {"cudnnCreate", "cudnnDestroy", "cudnnSetCallback"}

# Plausible values by parameter name, where the type alone does not give one.
VALUES: dict[str, Any] = {
    "nbDims": 4,
    "nbDimsRequested": 4,
    "axes": range(4),
    "seqLengthArraySize": 1,
    "seqLengthSizeRequested": 1,
    "padBeforeA": [0] * 4,
    "padAfterA": [0] * 4,
    "dropoutDesc": None,
    "attnDropoutDesc": None,
    "postDropoutDesc": None,
    "workSpaceSizeInBytes": DEVICE_BYTES,
    "reserveSpaceSizeInBytes": DEVICE_BYTES,
    "max_size": ROOM,
}

# What sets a descriptor of each kind, beyond creating it.
SETTINGS: dict[str, Callable[[Any], object]] = {
    "cudnnTensorDescriptor_t": lambda d: raw.cudnnSetTensor4dDescriptor(d, 0, 0, 2, 4, 5, 6),
    "cudnnFilterDescriptor_t": lambda d: raw.cudnnSetFilter4dDescriptor(d, 0, 0, 4, 4, 3, 3),
    "cudnnConvolutionDescriptor_t": lambda d: raw.cudnnSetConvolution2dDescriptor(
        d, 1, 1, 1, 1, 1, 1, 1, 0
    ),
    "cudnnPoolingDescriptor_t": lambda d: raw.cudnnSetPooling2dDescriptor(
        d, 0, 0, 2, 2, 0, 0, 2, 2
    ),
    "cudnnActivationDescriptor_t": lambda d: raw.cudnnSetActivationDescriptor(d, 1, 0, 1.0),
    "cudnnOpTensorDescriptor_t": lambda d: raw.cudnnSetOpTensorDescriptor(d, 0, 0, 0),
    "cudnnReduceTensorDescriptor_t": lambda d: raw.cudnnSetReduceTensorDescriptor(d, 0, 0, 0, 0, 0),
    "cudnnLRNDescriptor_t": lambda d: raw.cudnnSetLRNDescriptor(d, 5, 1e-4, 0.75, 2.0),
    "cudnnTensorTransformDescriptor_t": lambda d: raw.cudnnSetTensorTransformDescriptor.unchecked(
        d, 4, 0, [0] * 4, [0] * 4, (ctypes.c_uint * 2)(1, 1), 0
    ),
    "cudnnRNNDescriptor_t": lambda d: raw.cudnnSetRNNDescriptor_v8.unchecked(
        d, 0, 2, 3, 0, 0, 0, 0, 0, 8, 8, 8, 1, None, 0
    ),
}


class Operands:
    """Makes plausible arguments."""

    def __init__(self, *, is_set: bool) -> None:
        self.is_set = is_set
        self.handle = raw.cudnnHandle_t()
        self.memory: Any = ctypes.create_string_buffer(DEVICE_BYTES)
        self.address = ctypes.addressof(self.memory)
        if raw.cudnnCreate.unchecked(self.handle) == 0:
            from cudnn_ctypes import DeviceBuffer

            self.memory = DeviceBuffer(DEVICE_BYTES)
            self.address = self.memory.ptr

    def descriptor(self, kind: type[OpaquePointer]) -> Any:
        stem = kind.__name__.removesuffix("_t").removeprefix("cudnn")
        descriptor = kind()
        create = raw.FUNCTIONS.get(f"cudnnCreate{stem}")
        if kind is raw.cudnnHandle_t:
            return self.handle
        if kind is raw.cudnnBackendDescriptor_t:
            raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, descriptor)
        elif create is not None:
            create.unchecked(descriptor, *[0] * (len(create.parameters) - 1))
        if self.is_set and descriptor and kind.__name__ in SETTINGS:
            SETTINGS[kind.__name__](descriptor)
        return descriptor

    def plausible(self, parameter: Parameter) -> Any:
        base, kind = parameter.type.base, parameter.type.kind
        if parameter.name in VALUES and kind in ("value", "array"):
            value = VALUES[parameter.name]
            return value if kind == "value" else (storage_type(base) * ROOM)(*value)
        if kind == "device":
            return self.address
        if kind in ("host", "labelled", "scalar"):
            return ctypes.create_string_buffer(ROOM)
        if kind == "array":
            array = (storage_type(base) * ROOM)()
            if base in (ctypes.c_int, ctypes.c_uint, ctypes.c_int64):
                array[:] = [1] * ROOM
            return array
        if kind == "pointer":
            return storage_type(base)()
        if issubclass(base, CudnnEnum):
            return next(iter(base))
        if issubclass(base, OpaquePointer):
            return self.descriptor(base)
        return None if null(parameter) is None else base(1).value


def null(parameter: Parameter) -> Any:
    """C's NULL for a parameter; NotImplemented if it is no pointer."""
    base, kind = parameter.type.base, parameter.type.kind
    if kind != "value":
        return None
    is_pointer = issubclass(base, (OpaquePointer, ctypes.c_void_p, ctypes.c_char_p))
    return None if is_pointer or issubclass(base, CALLBACK) else NotImplemented


@dataclass(frozen=True)
class Call:
    """One call: which parameters are NULL, and whether descriptors are set."""

    function: str
    nulls: tuple[str, ...]
    is_set: bool

    def __str__(self) -> str:
        nulls = ", ".join(self.nulls) or "nothing"
        return f"{self.function}, {nulls} NULL, descriptors {'set' if self.is_set else 'new'}"


def calls() -> Iterator[Call]:
    for is_set in (False, True):
        for name, function in raw.FUNCTIONS.items():
            if name not in NOT_CALLED:
                pointers = [p.name for p in function.parameters if null(p) is None]
                for nulls in [(), *((pointer,) for pointer in pointers), tuple(pointers)]:
                    yield Call(name, nulls, is_set)


def perform(call: Call, operands: Operands, guarded: bool) -> None:
    function: Any = raw.FUNCTIONS[call.function]
    arguments = [
        None if p.name in call.nulls else operands.plausible(p) for p in function.parameters
    ]
    (function.unchecked if guarded else binding(call.function).native)(*arguments)


def _prepared(guarded: bool) -> Callable[[Call], str]:
    """What runs one call in a child."""
    operands = {is_set: Operands(is_set=is_set) for is_set in (False, True)}

    def run(call: Call) -> str:
        try:
            perform(call, operands[call.is_set], guarded)
            _synchronize(operands[call.is_set])
        except Spent:
            raise
        except Exception as error:  # the library lacks the function, or the guards refuse
            return type(error).__name__
        return ""

    return run


def _synchronize(operands: Operands) -> None:
    if operands.handle:
        from cudnn_ctypes import runtime

        try:
            runtime.synchronize()
        except Exception as error:  # a kernel went wrong: every later call would fail
            raise Spent("the CUDA context is lost") from error


def survey(*, guarded: bool) -> dict[Call, str]:
    """The calls that ended a process, with the signal."""
    raw.load()
    run = outcomes(list(calls()), lambda note: _prepared(guarded), seconds=SECONDS)
    return {outcome.case: outcome.result for outcome in run if outcome.died}


def unlisted(crashes: dict[Call, str]) -> Iterator[str]:
    """Parameters whose NULL crashes, yet that are not declared as ``NotNull``."""
    for call in crashes:
        if len(call.nulls) == 1 and Call(call.function, (), call.is_set) not in crashes:
            (parameter,) = call.nulls
            declared = next(p for p in binding(call.function).parameters if p.name == parameter)
            if declared.type.null is not False:
                yield f"{call.function}.{parameter}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz nulls", description=__doc__)
    parser.add_argument("--guarded", action="store_true", help="call through raw's guards")
    parser.add_argument("--json", action="store_true", help="print the calls as JSON")
    options = parser.parse_args(arguments)
    crashes = survey(guarded=options.guarded)
    if options.json:
        print(json.dumps([[c.function, c.nulls, c.is_set, s] for c, s in crashes.items()]))
    else:
        print(f"{sum(1 for _ in calls())} calls of cuDNN {raw.load().version_text}")
        for call, name in crashes.items():
            print(f"{name}: {call}")
        print("Not declared as NotNull:", *sorted(set(unlisted(crashes))))
    return 1 if options.guarded and crashes else 0
