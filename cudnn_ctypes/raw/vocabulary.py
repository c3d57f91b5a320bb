"""The meaning of the annotations in ``functions.py``.

Type checkers read the same words as `argument_types` declares them.

=============================  ========================  =========================================
annotation                     C parameter               what Python passes
=============================  ========================  =========================================
``Int[c_int]``, ``Real[T]``    ``T name``                a number
``EnumValue[T]``               ``T name``                an enum member
``Handle[T]``                  ``T name``                a handle or descriptor
``Pointer[T]``                 ``const T *name``         ``byref(t)`` or a ctypes ``t`` itself;
                                                         ``StructPointer``, ``EnumPointer`` and
                                                         ``NewHandle`` tell what `t` is
``Out[Pointer[T]]``            ``T *name``               the same; written by the call
``IntArray[T]``                ``const T name[]``        any sequence; ``EnumArrayOf`` of enums
``Out[FilledArray[T]]``        ``T name[]``              a ctypes or NumPy array;
                                                         ``FilledIntArray``, ``FilledEnumArray``
``DeviceMemory``               ``const void *name``      device memory: an address, a tensor
``HostMemory``                 ``const void *name``      host memory: a ctypes or NumPy object
``Labelled``                   ``const void *name``      depends on a label: a descriptor, device
                                                         memory or host memory
``HostScalar``                 ``const void *name``      one number: ``1.0``, ``c_float(1)``
=============================  ========================  =========================================

``Out`` and ``InOut`` give the direction; other parameters are inputs. An input pointer points to
const, other pointers do not; ``Mutable[...]`` and ``Const[...]`` mark the exceptions. ``Const`` of
a value is C's ``const T name``: a descriptor that the call does not change. Further words add facts
that the C type does not say:

=================  =================================================================================
annotation         fact
=================  =================================================================================
``NotNull``        calls refuse NULL, which cuDNN would follow; every cudnnHandle_t
``Nullable``       the descriptor may be NULL, as far as is known
``MayBeUnset``     the descriptor may be unset, and the call leaves it so
``Factor``         the product of all of the function is a number of elements
``Extent``         it is added to a tensor's size
``Padding``        the scalar has the type of the memory that it fills
=================  =================================================================================

Facts that name something stand in ``Annotated[type, ...]``:

============================  ======================================================================
in ``Annotated``              fact
============================  ======================================================================
``"xDesc"``                   of memory or a scalar: the parameters that describe it, descriptors or
                              a size in bytes; of an array: its length, an expression of parameters
``"1 <= n <= 8", S``          1 element is read or written at least; the status S refuses 9
``elements(T)``               the device memory holds elements T, as an array
``lent(2)``                   2 elements change, even if fewer are asked for
``needed_by("ops")``          calls refuse NULL unless ``ops`` is 0 or NULL
``unset_without("ops")``      the descriptor may be unset if ``ops`` is 0
``per_sample("xDesc")``       an element for each sample in the batch of ``xDesc``
``sum_of("lengths")``         as many elements as ``lengths`` adds up to
``told_by("f")``              the number of bytes that the C function ``f`` tells
``dense("n, k", "type")``     dense memory of shape (n, k); ``type`` has its data type, by default
                              ``dataType``, or is one
============================  ======================================================================
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from .ctypes_support import OpaquePointer
from .types import cudaGraph_t, cudaStream_t, cudnnCallback_t

Kind = Literal["value", "pointer", "array", "device", "host", "labelled", "scalar"]
Direction = Literal["in", "out", "in/out"]

_HANDLE = "cudnnHandle_t"


@dataclass(frozen=True, slots=True)
class Spelled:
    """A ctypes type with its C name, for C types that ctypes aliases to another type."""

    ctype: Any
    name: str


@dataclass(frozen=True, slots=True)
class ParameterType:
    """A parameter's type. `base` is None for ``void``; `spelling` is the type's name in C.

    `null` and `unset` say whether NULL and an unset descriptor may be passed; `unset` may name a
    parameter that is 0 then. An array has at least `least` elements, and at most `most`, or the
    status `too_long` refuses it. `dense` has the shape of dense memory, and its data type.
    """

    kind: Kind
    base: Any = None
    length: str | None = None
    direction: Direction = "in"
    const: bool | None = None
    spelling: str | None = None
    described_by: tuple[str, ...] = ()
    null: bool | None = None
    unset: bool | str = False
    size: Literal["factor", "extent"] | None = None
    least: int = 0
    most: int | None = None
    too_long: int | None = None
    told_by: str = ""
    per_sample: str = ""
    sum_of: str = ""
    lent: int = 0
    needed_by: str = ""
    pads: bool = False
    dense: tuple[str, str] = ("", "")

    @property
    def is_const(self) -> bool:
        """Whether C declares the value, or the memory behind a pointer, const."""
        if self.const is not None:
            return self.const
        return self.kind != "value" and self.direction == "in"

    @property
    def changes_descriptor(self) -> bool:
        """Whether the call may set or destroy the descriptor: C takes those without const."""
        is_descriptor = self.kind == "value" and self.base.__name__.startswith("cudnn")
        is_descriptor = is_descriptor and issubclass(self.base, OpaquePointer)
        return is_descriptor and not self.is_const and self.base.__name__ != _HANDLE


# --- facts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fact:
    """The facts in an entry of ``Annotated``: values of `ParameterType` by name."""

    changes: Mapping[str, Any]


def dense(shape: str, data_type: str = "dataType") -> Fact:
    return Fact({"dense": (shape, data_type)})


def elements(base: Any) -> Fact:
    if isinstance(base, Spelled):
        return Fact({"base": base.ctype, "spelling": base.name})
    return Fact({"base": base})


def lent(number: int) -> Fact:
    return Fact({"lent": number})


def needed_by(parameter: str) -> Fact:
    return Fact({"needed_by": parameter})


def unset_without(parameter: str) -> Fact:
    return Fact({"unset": parameter})


def per_sample(descriptor: str) -> Fact:
    return Fact({"per_sample": descriptor})


def sum_of(array: str) -> Fact:
    return Fact({"sum_of": array})


def told_by(function: str) -> Fact:
    return Fact({"told_by": function})


_LENGTH = re.compile(r"(?:(\d+) <= )?(.+?)(?: <= (\d+))?")


def _with(type_: ParameterType, fact: Any) -> ParameterType:
    if isinstance(fact, Fact):
        return replace(type_, **fact.changes)
    if not isinstance(fact, str):
        return replace(type_, too_long=fact)
    if type_.kind != "array":
        return replace(type_, described_by=(*type_.described_by, fact))
    match = _LENGTH.fullmatch(fact)
    assert match is not None
    least, length, most = match.groups()
    most = int(most) if most else None
    return replace(type_, length=length, least=int(least or 0), most=most)


# --- words ---------------------------------------------------------------------------------------


class _Annotated:
    """``Annotated[T, facts]``; of a result it is the type in C."""

    def __getitem__(self, item: tuple[Any, ...]) -> Any:
        annotation, *facts = item
        if isinstance(annotation, type):
            return facts[0]
        for fact in facts:
            annotation = _with(annotation, fact)
        return annotation


class _Of:
    """``Int[T]``, ``Pointer[T]``, ``IntArray[T]``."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def __getitem__(self, base: Any) -> ParameterType:
        if isinstance(base, Spelled):
            return ParameterType(self.kind, base.ctype, spelling=base.name)
        return ParameterType(self.kind, base)


class _Handle(_Of):
    def __getitem__(self, base: Any) -> ParameterType:
        return replace(super().__getitem__(base), null=False if base.__name__ == _HANDLE else None)


class _With:
    """``Out[...]``, ``Const[...]``, ``NotNull[...]`` and others that change one fact."""

    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def __getitem__(self, type_: ParameterType) -> ParameterType:
        return replace(type_, **self.changes)


_VALUE, _POINTER, _ARRAY = _Of("value"), _Of("pointer"), _Of("array")

WORDS: Mapping[str, Any] = {
    "Annotated": _Annotated(),
    "Int": _VALUE,
    "Real": _VALUE,
    "EnumValue": _VALUE,
    "Handle": _Handle("value"),
    "Stream": ParameterType("value", cudaStream_t),
    "CudaGraph": ParameterType("value", cudaGraph_t),
    "Callback": ParameterType("value", cudnnCallback_t),
    "Pointer": _POINTER,
    "StructPointer": _POINTER,
    "EnumPointer": _POINTER,
    "NewHandle": _POINTER,
    "CallbackPointer": ParameterType("pointer", cudnnCallback_t),
    "IntArray": _ARRAY,
    "EnumArrayOf": _ARRAY,
    "FilledArray": _ARRAY,
    "FilledIntArray": _ARRAY,
    "FilledEnumArray": _ARRAY,
    "DeviceMemory": ParameterType("device"),
    "HostMemory": ParameterType("host"),
    "HostScalar": ParameterType("scalar"),
    "Labelled": ParameterType("labelled"),
    "Out": _With(direction="out"),
    "InOut": _With(direction="in/out"),
    "Mutable": _With(const=False),
    "Const": _With(const=True),
    "NotNull": _With(null=False),
    "Nullable": _With(null=True),
    "MayBeUnset": _With(unset=True),
    "Factor": _With(size="factor"),
    "Extent": _With(size="extent"),
    "Padding": _With(pads=True),
    # ctypes makes these aliases of c_int, c_uint and c_ulong where they have the same size.
    "c_int32": Spelled(ctypes.c_int32, "int32_t"),
    "c_uint32": Spelled(ctypes.c_uint32, "uint32_t"),
    "c_ulonglong": Spelled(ctypes.c_ulonglong, "unsigned long long"),
}
"""The words as they are read at run time, by name."""
