"""Arguments of random calls as objects, and what became of the descriptors among them."""

from __future__ import annotations

import copy
import ctypes
import random
from typing import Any

import numpy as np

from cudnn_ctypes import DeviceBuffer, raw
from cudnn_ctypes.errors import ClosedError, CudnnError, SymbolNotFoundError
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, storage_type
from cudnn_ctypes.raw.parameter import Parameter

from .canaries import Canaries
from .sequences import BLOCK, SLOTS, Call, kinds

__all__ = ["Program"]

_REFUSALS = (TypeError, ValueError, ClosedError, SymbolNotFoundError, NotImplementedError)


class Program:
    """The variables of a running sequence of calls.

    Parameters
    ----------
    canaries : Canaries
    memory : bool
        Whether there is device memory: a GPU, or the reference device.
    """

    def __init__(self, canaries: Canaries, *, memory: bool) -> None:
        self._canaries = canaries
        self._slots = {kind.__name__: [kind() for _ in range(SLOTS)] for kind in kinds()}
        self._states: dict[int, str] = {}  # of descriptors by address
        self._blocks: list[Any] = [None] * 6
        if memory:
            self._blocks = [DeviceBuffer(BLOCK) for _ in range(4)]
            for i, block in enumerate(self._blocks):
                block.copy_from_host(np.resize(np.float32([0.5, 1.0, 2.0, -1.0]), BLOCK // 4) * i)
            self._blocks += [DeviceBuffer(16), DeviceBuffer(256)]
            self._blocks[5].close()
        self._things: dict[str, Any] = {
            "text": "text",
            "object": object(),
            "list": [1, 2],
            "c_char": (ctypes.c_char * 8)(),
            "enum": raw.CUDNN_ERRQUERY_BLOCKING,
            "array": np.ones(16, np.float32),
        }

    def perform(self, call: Call) -> tuple[list[str], str]:
        """Carry out one call: the classes of its odd arguments, and the outcome."""
        if call.function in ("alias", "copy", "forget"):
            return [call.function], self._assign(call)
        function = raw.FUNCTIONS[call.function]
        labels: set[str] = set()
        arguments = []
        for p, argument in zip(function.parameters, call.arguments, strict=True):
            label, value = self._made(p, *argument)
            labels.add(label)
            arguments.append(value)
        labels.discard("right")
        addresses = {_address(a) for a in arguments}
        outcome = self._called(function if call.checked else function.unchecked, arguments)
        self._note(call, function, arguments, addresses, outcome)
        overruns = self._canaries.overruns()
        if overruns:
            outcome = f"overrun: {', '.join(overruns)}"
        return sorted(labels) or ["right"], outcome

    @staticmethod
    def _called(function: Any, arguments: list[Any]) -> str:
        try:
            status = function(*arguments)
        except CudnnError:
            return "status"
        except _REFUSALS as error:
            return type(error).__name__
        except Exception as error:
            return f"error: {type(error).__name__}: {error}"
        return "status" if isinstance(status, raw.cudnnStatus_t) and status else "success"

    def _assign(self, call: Call) -> str:
        kind, source, target = call.arguments[0][2]
        variables = self._slots[kind]
        if call.function == "forget":
            variables[target] = getattr(raw, kind)()
            return "success"
        try:
            if call.function == "copy":
                variables[target] = copy.copy(variables[source])
            else:
                alias = getattr(raw, kind)()
                alias.value = variables[source].value
                variables[target] = alias
        except (TypeError, ValueError) as error:
            return type(error).__name__
        return "success"

    def _note(
        self, call: Call, function: Any, arguments: list[Any], before: set[Any], outcome: str
    ) -> None:
        """Keep in mind what the descriptors are after the call."""
        if not function.parameters:
            return
        first, argument = function.parameters[0], arguments[0]
        if "Create" in call.function:
            for argument in arguments:
                if outcome == "success" and (address := _address(argument)):
                    self._states[address] = "unset"
        elif "Destroy" in call.function:
            if outcome == "success":
                for address in before - {None}:
                    self._states[address] = "closed"
        elif first.type.kind == "value" and first.direction != "in" and _address(argument):
            address = _address(argument)
            if outcome == "success":
                self._states[address] = "set"
            elif self._states.get(address) == "unset":
                self._states[address] = "half set"

    def _label(self, variable: Any) -> str:
        address = _address(variable)
        if address is None:
            return "closed" if "_destroyed" in vars(variable) else "never created"
        state = self._states.get(address, "set")
        return "right" if state == "set" else state

    # --- objects ---------------------------------------------------------------------------------

    def _made(self, p: Parameter, label: str, form: str, data: Any) -> tuple[str, Any]:
        base = storage_type(p.type.base) if isinstance(p.type.base, type) else None
        match form:
            case "slot":
                variable = self._slots[data[0]][data[1]]
                if label == "right" and p.type.kind == "value":
                    label = self._label(variable)
                elif data[0] == p.type.base.__name__:
                    label = "right"
                return label, variable
            case "enum":
                return label, getattr(raw, data[0])(data[1])
            case "value":
                return label, data
            case "boxed":  # another type of integer
                return label, base(data) if data % 2 else np.int64(data)
            case "null":
                return label, ctypes.POINTER(base)() if base else ctypes.c_void_p()
            case "thing":
                return label, self._things[data]
            case "device":
                block = self._blocks[data[0]]
                whole = block is None or not data[1]
                return label, block if whole else block.ptr + data[1]
            case "scalar":
                scalar = self._canaries.place(getattr(ctypes, data[0]))
                scalar.value = data[1]
                return label, scalar
            case "out":
                return label, self._out(p, base, *data)
            case "list":
                return label, data
            case "numpy":
                return label, np.asarray(data).astype(np.int32, casting="unsafe")
            case "ctypes":
                return label, self._array(base, data)
            case "struct":
                return label, self._struct(base, random.Random(data))
            case "host":
                return label, self._host(*data)
        raise ValueError(form)

    def _out(self, p: Parameter, base: Any, used: int, room: int) -> Any:
        if base is None:  # a scalar of a type that the descriptor says
            return self._canaries.place(ctypes.c_double)
        size = ctypes.sizeof(base)
        if p.type.kind == "pointer":
            return self._canaries.place(base)
        return self._canaries.place(base * room, used * size)

    def _array(self, base: Any, data: list[int]) -> Any:
        array = self._canaries.place(base * len(data))
        for i, number in enumerate(data):
            array[i] = base(number)
        return array

    def _host(self, base: str, data: list[Any]) -> Any:
        if base == "slots":
            array = self._canaries.place(ctypes.c_void_p * len(data))
            for i, (kind, slot) in enumerate(data):
                array[i] = self._slots[kind][slot].value
            return array
        return self._array(getattr(ctypes, base), data)

    def _struct(self, base: Any, rng: random.Random) -> Any:
        struct = self._canaries.place(base)
        ctypes.memset(ctypes.byref(struct), 0, ctypes.sizeof(struct))
        for name, ctype in base._cfields_:
            if ctype is ctypes.c_void_p:
                block = rng.choice(self._blocks[:4])
                value: Any = None if block is None or rng.random() < 0.2 else block.ptr
            elif issubclass(ctype, CudnnEnum):
                value = rng.choice(list(ctype))
            elif ctype is ctypes.c_float:
                value = rng.choice([0.0, 1.0, float("nan")])
            else:
                value = rng.choice([1, 2, 2, 4, 4, 0, -1, (1 << 31) - 1])
            setattr(struct, name, value)
        return struct


def _address(variable: Any) -> int | None:
    address = getattr(variable, "value", None) if hasattr(variable, "_type_") else None
    return address if isinstance(address, int) else None
