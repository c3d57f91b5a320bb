"""One call of a C function on the reference device, decoded by layer 1's declaration.

The declaration has each parameter's type, the descriptor or size that describes memory, and the
descriptor whose data type makes a scalar a double or a float.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw import function as raw_function
from ...raw import operand_rules
from ...raw.ctypes_support import OpaquePointer, storage_type
from ...raw.descriptors import Filter, Tensor, record
from ...raw.function import Function
from ...raw.records import scalar_type
from ...raw.strides import packed
from ...raw.vocabulary import ParameterType
from ..tiles import Array
from . import lent
from .memory import Operand, Use, at, require, scalar, scribble
from .registry import Refused, bad_param

_Record = TypeVar("_Record")
_USES: dict[str, Use] = {"in": "read", "out": "write", "in/out": "update"}


class Call:
    """The arguments of one call, under their names in C.

    ``call["algo"]`` is an enum member, a number, a handle, a ctypes pointer or an address of memory
    (an int), None for NULL. ``"algo" in call`` says whether the function has such a parameter.

    - `name`: C's name of the function.
    """

    def __init__(self, function: Function, args: tuple[Any, ...]) -> None:
        self.name: str = function.__name__
        self._types = {p.name: p.type for p in function.parameters}
        argtypes = raw_function.binding(self.name).argtypes
        self._values = {
            name: _decoded(type_, argtype.from_param(value))
            for (name, type_), argtype, value in zip(
                self._types.items(), argtypes, args, strict=True
            )
        }
        self._args = args
        self._function = function

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __contains__(self, name: str) -> bool:
        return name in self._values

    @property
    def values(self) -> list[Any]:
        """The arguments in C's order."""
        return list(self._values.values())

    def named(self, *names: str) -> str:
        """The one of these names that is a parameter: functions of a family differ in names."""
        (name,) = (name for name in names if name in self._values)
        return name

    def native(self) -> int:
        """Call cuDNN's own function with these arguments; return its status."""
        return int(raw_function.binding(self.name).native(*self.values))

    @property
    def memory(self) -> lent.Arguments:
        """The arguments that are memory."""
        return [
            (name, arg, self._values[name])
            for (name, type_), arg in zip(self._types.items(), self._args, strict=True)
            if type_.kind in ("device", "labelled")
        ]

    @property
    def descriptors(self) -> list[str]:
        """The names of the descriptors, in C's order."""
        return [
            name
            for name, type_ in self._types.items()
            if type_.kind == "value" and name.lower().endswith("desc")
        ]

    def check(self) -> None:
        """Refuse operands that break a rule of the function."""
        if broken := operand_rules.broken(self._function, self._values):
            self.refuse([broken])

    def refuse(self, rules: Iterable[operand_rules.Broken]) -> None:
        """Refuse for the first of broken rules."""
        for broken in rules:
            assert broken.status is not None
            raise Refused(broken.status, str(broken))

    # -- inputs --------------------------------------------------------------------------------

    def require(self, *names: str) -> None:
        """Refuse NULL."""
        require(**{name: self[name] for name in names})

    def require_memory(self) -> None:
        """Refuse NULL for all memory arguments."""
        self.require(*(name for name, _, _ in self.memory))

    def require_known(self, *names: str) -> None:
        """Refuse codes that no enumerator has."""
        for name in names:
            if not self[name].known:
                raise bad_param(f"{name}: {type(self[name]).__name__} has no {int(self[name])}")

    def word(self, name: str, prefix: str) -> Any:
        """The enumerator `name` as `word` spells it; refused if no enumerator has the code."""
        self.require_known(name)
        return word(self[name], prefix)

    def record(
        self,
        name: str,
        kind: type[_Record] | tuple[type[_Record], ...],
        unset: raw.cudnnStatus_t = raw.CUDNN_STATUS_BAD_PARAM,
    ) -> _Record:
        """The record of the descriptor `name`, an instance of `kind`.

        Raises Refused BAD_PARAM if it is NULL; `unset` if it was created, but never set.
        """
        self.require(name)
        held = record(self[name])
        if held is None:
            raise Refused(unset, f"{name} was created, but never set")
        assert isinstance(held, kind)
        return held

    def operand(self, name: str, *, nullable: bool = False) -> Operand:
        """A tensor argument: its memory and its descriptor's record.

        The name of a descriptor gives an operand without memory, for size queries.
        """
        descriptor, address = name, None
        if self._types[name].kind == "device":
            (descriptor,), address = self._types[name].described_by, self[name]
            if not nullable:
                self.require(name)
        record: Any = self.record(descriptor, (Tensor, Filter))
        return Operand(name, record, address)

    def described(self, descriptor: str) -> Operand:
        """The tensor that the descriptor of this name describes."""
        (name,) = (
            name
            for name, type_ in self._types.items()
            if type_.kind == "device" and type_.described_by == (descriptor,)
        )
        return self.operand(name)

    def operands(self, *names: str) -> list[Operand]:
        """Several tensors."""
        self.require(*(name for name in names if self._types[name].kind == "device"))
        return [self.operand(name) for name in names]

    def array(
        self,
        name: str,
        data_type: raw.cudnnDataType_t,
        *shape: int,
        strides: tuple[int, ...] | None = None,
        use: Use | None = None,
        where: NDArray[np.bool_] | None = None,
    ) -> Array:
        """A view of memory without a descriptor, by default dense and used as C declares it."""
        strides = packed(shape) if strides is None else strides
        use = use or _USES[self._types[name].direction]
        return at(self[name], data_type, shape, strides, name, use, where=where)

    def dense(self, name: str, use: Use | None = None) -> Array:
        """A view of dense memory, of the shape and the type that its declaration states."""
        data_type, shape = self.layout(name)
        return self.array(name, data_type, *shape, use=use)

    def layout(self, name: str) -> tuple[raw.cudnnDataType_t, tuple[int, ...]]:
        """The data type and the shape of dense memory."""
        (parameter,) = (each for each in self._function.parameters if each.name == name)
        structs = {
            each: value.contents
            for each, value in self._values.items()
            if value and self._types[each].kind == "pointer"
        }
        return parameter.described(self._values | structs)

    def factors(self, *names: str) -> dict[str, Any]:
        """The numbers on the host that scale, alpha and beta; by default all of the call."""
        return {
            name: self._factor(name, type_.described_by)
            for name, type_ in self._types.items()
            if type_.kind == "scalar" and name in (names or self._types)
        }

    def _factor(self, name: str, described_by: tuple[str, ...]) -> float:
        """A double for tensors or computations in DOUBLE, else a float."""
        self.require(name)
        decides = scalar_type([self.record(by, object) for by in described_by])
        return scalar(self[name], decides, name)

    def compute(
        self,
        formula: Callable[..., Array],
        operands: str,
        result: str,
        options: Callable[[Call], Mapping[str, Any]] = lambda call: {},
        *,
        exact: bool = False,
    ) -> None:
        """Store what a formula makes of operands, a result's previous contents, and the factors.

        - `formula`: it calls operands as C does, in lower case.
        - `operands`, `result`: C's names; the operands satisfy the rules of the function.
        - `options`: what else the formula is given.
        - `exact`: whether it computes in float64, not in the first operand's `compute_dtype`.
        """
        *sources, target = self.operands(*operands.split(), result)
        self.check()
        given, factors = options(self), self.factors()
        prior = target.prior(factors.get("beta", 0.0))
        if {"out", "output"} & set(inspect.signature(formula).parameters):
            given = {**given, "out": prior}
        if not exact:
            given = {**given, "compute_dtype": sources[0].compute_dtype}
        values = {each.name.lower(): each.load() for each in sources}
        target.store(formula(**values, **{result.lower(): prior}, **given, **factors))

    # -- buffers and results -------------------------------------------------------------------

    def buffer(self, name: str, needed: int) -> Any:
        """The address of a buffer, refused if the parameter for its size says too little."""
        (size,) = self._types[name].described_by
        if self[size] < needed:
            raise bad_param(f"{size} = {self[size]} is less than the {needed} bytes needed")
        return self[name]

    def use_workspace(self, name: str, needed: int) -> None:
        """Overwrite the workspace, as the GPU does."""
        scribble(self.buffer(name, needed), needed, name)

    def put(self, **values: Any) -> None:
        """Write results on the host through their pointers, which must not be NULL."""
        self.require(*values)
        self.offer(**values)

    def offer(self, **values: Any) -> None:
        """Write results on the host, through pointers that are not NULL."""
        for name, value in values.items():
            if self[name]:
                self[name].contents.value = value


def word(member: Any, prefix: str) -> Any:
    """An enumerator as the reference functions spell it: lower case, without C's prefix."""
    return member.name.removeprefix(prefix).lower()


def _decoded(type_: ParameterType, value: Any) -> Any:
    """A converted argument as an implementation receives it."""
    match type_.kind:
        case "value" if isinstance(value, ctypes._SimpleCData):
            return value.value
        case "value" if value is None and issubclass(type_.base, OpaquePointer):
            return type_.base()
        case "device" | "host" | "labelled" | "scalar":
            return _address(value)
        case "pointer" | "array":
            target = getattr(value, "_obj", value)
            storage = storage_type(type_.base)
            if isinstance(target, bytes):  # a packed sequence
                return (storage * (len(target) // ctypes.sizeof(storage))).from_buffer_copy(target)
            if isinstance(target, storage):
                return ctypes.pointer(target)
            return target or None  # an array or a pointer, NULL as None
        case _:
            return value


def _address(value: Any) -> int | None:
    held = getattr(value, "_obj", None)
    if isinstance(held, bytes):  # which ctypes passes on as their address, but does not cast
        value = held
    return None if value is None else ctypes.cast(value, ctypes.c_void_p).value
