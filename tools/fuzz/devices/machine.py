"""One device that programs run on: a handle, a pool for operands, and scratch for the rest."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import DeviceBuffer, Handle, raw
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.errors import SymbolNotFoundError
from cudnn_ctypes.raw import library
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, OpaquePointer, storage_type
from cudnn_ctypes.raw.faults.calls import faults_of_call
from cudnn_ctypes.raw.records import Call
from cudnn_ctypes.runtime import copy

from .program import Program, data_type, numbers_of, spread_of

__all__ = ["TOO_LARGE", "Machine", "Result"]

TOO_LARGE = "more scratch memory than a case may have"
# By arguments that the guards do not see.
_DECIDED = ("bias that is not reordered", "transform out of double")
_POOL, _SCRATCH = 48 << 20, 64 << 20
_LARGEST = 1 << 30  # bytes of scratch that one case may ask for
_GUARD, _ALIGNED = 256, 256


@dataclass
class Result:
    """What a program did on one device.

    Attributes
    ----------
    statuses : list
        Of each step that ran: its function, and "BAD_PARAM" for CUDNN_STATUS_BAD_PARAM.
    values : dict
        What calls returned through pointers, by step and parameter.
    outputs : dict
        The numbers of each operand that may be written.
    trespass : list of str
        Where else bytes have changed.
    unsteady : list of str
        Outputs that were different when the program ran again.
    faults : list of str
        Known faults of cuDNN that the descriptors of the calls have.
    refused : bool
        Whether layer 1 refuses a call for one of them.
    limits : dict
        How far an output may be off, by name, where its problem says it.
    """

    statuses: list[tuple[str, str]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, NDArray[Any]] = field(default_factory=dict)
    trespass: list[str] = field(default_factory=list)
    unsteady: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    refused: bool = False
    limits: dict[str, Any] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether the last step did."""
        return bool(self.statuses) and self.statuses[-1][1] == "SUCCESS"


class Machine:
    """Runs programs on the device that is active when it is made."""

    def __init__(self) -> None:
        self.owner = Handle()
        self.pool, self.scratch = DeviceBuffer(_POOL), DeviceBuffer(_SCRATCH)
        self.scratch.fill(255)

    def run(self, program: Program, *, twice: bool = False, wobble: int = 0) -> Result:
        """Run a program; `twice` to compare the bits of two runs."""
        running = _Run(self, program, wobble)
        result = running.result()
        if twice:
            again = _Run(self, program, wobble).result()
            if again.statuses != result.statuses:
                result.unsteady.append("status")
            result.unsteady += [
                name
                for name, array in result.outputs.items()
                if array.tobytes() != again.outputs[name].tobytes()
            ]
        return result

    def synchronize(self) -> None:
        """Wait, so that a failed kernel tells."""
        copy.read(self.pool, 0, 1)


class _Run:
    def __init__(self, machine: Machine, program: Program, wobble: int) -> None:
        self.machine, self.program = machine, program
        self.places: dict[str, int] = {}  # of operands and spaces
        self.used = 0  # of the scratch
        self.guards: list[tuple[str, int]] = []
        self.own: list[DeviceBuffer] = []
        self.descriptors: dict[str, Any] = {}
        self.found = Result()
        self._lay_out(wobble)

    # --- memory ---

    def _lay_out(self, wobble: int) -> None:
        program, position = self.program, 0
        spans = {}
        for name, operand in program.operands.items():
            dtype, dims, strides = program.elements(name)
            steps = sum((n - 1) * s for n, s in zip(dims, strides, strict=True))
            position += _GUARD
            start = position + -(-operand.shift * dtype.itemsize // program.alignment) * (
                program.alignment
            )
            spans[name] = start
            position = -(-(start + (steps + 1) * dtype.itemsize) // _ALIGNED) * _ALIGNED
        total = position + _GUARD
        if total > _POOL:
            raise ValueError(f"operands of {total} bytes")
        self.image = np.full(total, 255, np.uint8)
        self.writable = np.zeros(total, bool)
        for name, operand in program.operands.items():
            dtype, dims, strides = program.elements(name)
            start = spans[name]
            self.places[name] = self.machine.pool.ptr + start
            with np.errstate(all="ignore"):
                numbers = numbers_of(
                    operand, (dtype, dims, strides), program.draw.seed, wobble, program.unit
                )
            if numbers is not None:
                spread_of(dtype, strides, self.image[start:], dims)[...] = numbers
            if operand.out:
                width = np.dtype(f"V{dtype.itemsize}")
                marks = np.zeros(total - start, np.uint8)
                size = dtype.itemsize
                ones = np.frombuffer(b"\1" * size, width)[0]
                spread_of(width, strides, marks[: marks.size // size * size], dims)[...] = ones
                self.writable[start:] |= marks.astype(bool)
        self.starts = spans
        self.total = total
        copy.write(self.machine.pool, 0, self.image)

    def _space(self, name: str) -> int | None:
        if name not in self.places:
            size = self.program.spaces[name]
            if isinstance(size, str):
                size = int(self.found.values[size])
            if size == 0:
                return None
            if size > _LARGEST:
                raise _TooLarge
            room = -(-size // _ALIGNED) * _ALIGNED + 2 * _GUARD
            if self.used + room > _SCRATCH:
                buffer = DeviceBuffer(room)
                buffer.fill(255)
                self.own.append(buffer)
                self.places[name] = buffer.ptr + _GUARD
            else:
                self.machine.scratch.view(self.used, room).fill(255)
                self.places[name] = self.machine.scratch.ptr + self.used + _GUARD
                self.guards.append((name, self.used + _GUARD + size))
                self.used += room
        return self.places[name]

    # --- calls ---

    def result(self) -> Result:
        try:
            if self._described():
                for number, (function, arguments) in enumerate(self.program.steps):
                    if not self._step(number, function, arguments):
                        break
        finally:
            for name, described in self.program.descriptors.items():
                if name in self.descriptors:
                    destroy = _descriptor_function("Destroy", described.kind)
                    destroy.unchecked(self.descriptors[name])
        self._read_back()
        for buffer in self.own:
            buffer.close()
        return self.found

    def _described(self) -> bool:
        for name, described in self.program.descriptors.items():
            descriptor = _descriptor_class(described.kind)()
            _descriptor_function("Create", described.kind).unchecked(
                descriptor, *(getattr(raw, name) for name in described.created_with)
            )
            self.descriptors[name] = descriptor
            for function, arguments in described.calls():
                if not self._step("set", function, [descriptor, *arguments]):
                    return False
        return True

    def _step(self, number: Any, function: str, arguments: Any) -> bool:
        declared = raw.FUNCTIONS[function]
        outs: dict[str, Any] = {}
        values = []
        try:
            for position, p in enumerate(declared.parameters):
                if isinstance(arguments, list):
                    value = arguments[position]
                    if not isinstance(value, OpaquePointer):
                        value = self._value(p, value)
                else:
                    value = self._argument(p, arguments, outs)
                values.append(value)
            self._note_faults(function, values)
            status = declared.unchecked(*values)
            text = status.name.removeprefix("CUDNN_STATUS_")
        except _TooLarge:
            text = TOO_LARGE
        except (TypeError, ValueError, SymbolNotFoundError, NotImplementedError) as error:
            text = f"{type(error).__name__}: {error}"
        if number == "set":
            if text != "SUCCESS":
                self.found.statuses.append((function, text))
            return text == "SUCCESS"
        self.found.statuses.append((function, text))
        if text == "SUCCESS":
            for name, out in outs.items():
                value = _plain(out)
                if isinstance(out, ctypes.c_void_p):
                    value = self._place(value)
                self.found.values[f"{number}.{name}"] = value
        return text == "SUCCESS"

    def _note_faults(self, function: str, values: list[Any]) -> None:
        names = (p.name for p in raw.FUNCTIONS[function].parameters)
        call = Call(function, dict(zip(names, values, strict=True)))
        for finding in faults_of_call(call, library.load().version):
            fault, refuses = finding.fault, finding.fault.effect == "refuses what is right"
            if not fault.only_told or refuses or fault.name in _DECIDED:
                self.found.faults.append(fault.name)
                self.found.refused |= fault.refused or refuses

    def _argument(self, p: Any, arguments: dict[str, Any], outs: dict[str, Any]) -> Any:
        kind, base = p.type.kind, p.type.base
        if p.name not in arguments:
            if base is raw.cudnnHandle_t:
                return self.machine.owner
            if base is raw.cudaStream_t:
                return raw.cudaStream_t()
            if kind == "pointer":
                outs[p.name] = storage_type(base)()
                return outs[p.name]
            raise KeyError(f"no argument {p.name}")
        value = arguments[p.name]
        if kind == "array" and p.direction == "out":
            outs[p.name] = (storage_type(base) * value)()
            return outs[p.name]
        return self._value(p, value)

    def _value(self, p: Any, value: Any) -> Any:
        kind, base = p.type.kind, p.type.base
        if value is None:
            return base() if kind == "value" and issubclass(base, OpaquePointer) else None
        if kind == "labelled":
            return self._labelled(value)
        if kind == "device":
            if isinstance(value, (list, tuple)):
                return self._memory(value[0]) + value[1]
            return self._memory(value)
        if kind == "scalar" and isinstance(value, tuple):
            return np.array(value[1], numpy_dtype(data_type(value[0])))
        if kind == "array" and issubclass(base, CudnnEnum):
            return [base(each) for each in value]
        if kind == "value":
            if issubclass(base, OpaquePointer):
                return self.descriptors[value]
            if issubclass(base, CudnnEnum):
                return getattr(raw, value) if isinstance(value, str) else base(value)
            if isinstance(value, str):  # a size
                if value in self.program.spaces:
                    size = self.program.spaces[value]
                    return self.found.values[size] if isinstance(size, str) else size
                return self.found.values[value]
        return value

    def _labelled(self, value: Any) -> Any:
        """A descriptor, an address, or a number in host memory."""
        if isinstance(value, str):
            if value in self.program.descriptors:
                return self.descriptors[value]
            return self._memory(value)
        kind, number = value
        if kind == "space":
            size = self.program.spaces[number]
            number = self.found.values[size] if isinstance(size, str) else size
        elif isinstance(number, str):
            number = int(getattr(raw, number))
        return _HOST[kind](number)

    def _memory(self, name: str) -> Any:
        return self._space(name) if name in self.program.spaces else self.places[name]

    def _place(self, address: int | None) -> Any:
        """An address as an operand and the bytes from there, the same on all devices."""
        before = {name: at for name, at in self.places.items() if address and at <= address}
        if not before:
            return address
        name = max(before, key=lambda each: before[each])
        return f"{name} + {address - before[name]}"  # type: ignore[operator]

    # --- results ---

    def _read_back(self) -> None:
        program = self.program
        after = copy.read(self.machine.pool, 0, self.total)
        changed = after != self.image
        strange = np.flatnonzero(changed & ~self.writable)
        if strange.size:
            before = [name for name, start in self.starts.items() if start <= strange[0]]
            name = before[-1] if before else "the first operand"
            role = "gaps of, or behind," if before and program.operands[name].out else "the input"
            offset = int(strange[0]) - self.starts.get(name, 0)
            self.found.trespass.append(f"{role} {name}: {strange.size} bytes, first at {offset}")
        if not self.found.succeeded and len(self.found.statuses) == 1 and changed.any():
            self.found.trespass.append("written though refused")
        for name, operand in program.operands.items():
            if operand.out:
                dtype, dims, strides = program.elements(name)
                view = spread_of(dtype, strides, after[self.starts[name] :], dims)
                self.found.outputs[name] = np.array(view)
        for name, end in self.guards:
            guard = copy.read(self.machine.scratch, end, _GUARD)
            if (guard != 255).any():
                self.found.trespass.append(f"behind {name}")


_HOST: dict[str, Any] = {
    "int": ctypes.c_int, "int64": ctypes.c_int64, "double": ctypes.c_double,
    "space": ctypes.c_size_t,
}  # fmt: skip


class _TooLarge(Exception):
    pass


def _plain(out: Any) -> Any:
    if isinstance(out, ctypes.Array):
        return [_plain(each) for each in out]
    if isinstance(out, ctypes.Structure):
        return {name: _plain(getattr(out, name)) for name, *_ in out._fields_}
    value = getattr(out, "value", out)
    return int(value) if isinstance(value, CudnnEnum) else value


@functools.cache
def _descriptor_class(kind: str) -> Any:
    return getattr(raw, f"cudnn{kind}_t" if "FusedOps" in kind else f"cudnn{kind}Descriptor_t")


@functools.cache
def _descriptor_function(verb: str, kind: str) -> Any:
    return getattr(raw, f"cudnn{verb}{kind}" + ("" if "FusedOps" in kind else "Descriptor"))
