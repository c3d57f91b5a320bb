"""The annotations with which ``functions.py`` declares C parameters.

============================  ==========================  =======================================
annotation                    C parameter                 what Python passes
============================  ==========================  =======================================
``T``                         ``T name``                  a value, enum member or handle
``Pointer[T]``                ``const T *name``           ``byref(t)`` or a ctypes ``t`` itself
``Out[Pointer[T]]``           ``T *name``                 the same; written by the call
``Array[T, "n"]``             ``const T name[]``          any sequence of n values
``Out[Array[T, "n"]]``        ``T name[]``                a ctypes or NumPy array of n elements
``DeviceMemory``              ``const void *name``        device memory: an address, a tensor
``DeviceArray[T]``            ``const T name[]``          device memory that holds elements T
``HostMemory``                ``const void *name``        host memory: a ctypes or NumPy object
``Labelled``                  ``const void *name``        depends on a label: a descriptor, device
                                                          memory or host memory
``HostScalar``                ``const void *name``        one number: ``1.0``, ``c_float(1)``
============================  ==========================  =======================================

``DeviceMemory["xDesc"]`` names the parameter that describes the memory: a descriptor, or its size
in bytes; ``HostScalar["yDesc"]`` names the parameters that make the scalar a double or a float.

Further words add facts that the C type does not say:

================================  ==================================================================
annotation                        fact
================================  ==================================================================
``NotNull[...]``                  calls refuse NULL, which cuDNN would follow; every cudnnHandle_t
``NeededBy[..., "ops"]``          calls refuse NULL unless ``ops`` is 0 or NULL
``Nullable[...]``                 the descriptor may be NULL, as far as is known
``MayBeUnset[...]``               the descriptor may be unset, and the call leaves it so
``MayBeUnset[..., "ops"]``        it may be unset if ``ops`` is 0
``Array[T, "1 <= n <= 8", S]``    1 element is read or written at least; the status S refuses 9
``Lent[..., 2]``                  2 elements change, even if fewer are asked for
``PerSample[..., "xDesc"]``       an element for each sample in the batch of ``xDesc``
``SumOf[..., "lengths"]``         as many elements as ``lengths`` adds up to
``Factor[...]``                   the product of all of the function is a number of elements
``Extent[...]``                   it is added to a tensor's size
``ToldBy[c_size_t, "f"]``         the number of bytes that the C function ``f`` tells
``Padding[...]``                  the scalar has the type of the memory that it fills
================================  ==================================================================

``Out`` and ``InOut`` give the direction; other parameters are inputs. An input pointer points to
const, other pointers do not; ``Mutable[...]`` and ``Const[...]`` mark the exceptions. ``Const[T]``
is C's ``const T name``: a descriptor that the call does not change.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from .ctypes_support import OpaquePointer

__all__ = [
    "Array",
    "Const",
    "DeviceArray",
    "DeviceMemory",
    "Extent",
    "Factor",
    "HostMemory",
    "HostScalar",
    "InOut",
    "Labelled",
    "Lent",
    "MayBeUnset",
    "Mutable",
    "NeededBy",
    "NotNull",
    "Nullable",
    "Out",
    "Padding",
    "ParameterType",
    "PerSample",
    "Pointer",
    "Spelled",
    "SumOf",
    "ToldBy",
    "as_parameter_type",
    "c_int32",
    "c_uint32",
    "c_ulonglong",
]

Kind = Literal["value", "pointer", "array", "device", "host", "labelled", "scalar"]
Direction = Literal["in", "out", "in/out"]

_HANDLE = "cudnnHandle_t"


@dataclass(frozen=True, slots=True)
class Spelled:
    """A ctypes type with its C name, for C types that ctypes aliases to another type."""

    ctype: Any
    name: str


# ctypes makes these aliases of c_int, c_uint and c_ulong where they have the same size.
c_int32: Spelled = Spelled(ctypes.c_int32, "int32_t")
c_uint32: Spelled = Spelled(ctypes.c_uint32, "uint32_t")
c_ulonglong: Spelled = Spelled(ctypes.c_ulonglong, "unsigned long long")


@dataclass(frozen=True, slots=True)
class ParameterType:
    """A parameter's type. `base` is None for ``void``; `spelling` is the type's name in C.

    `null` and `unset` say whether NULL and an unset descriptor may be passed; `unset` may name a
    parameter that is 0 then. An array has at least `least` elements, and at most `most`, or the
    status `too_long` refuses it.
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

    def __getitem__(self, names: str | tuple[str, ...]) -> ParameterType:
        return replace(self, described_by=(names,) if isinstance(names, str) else names)

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


def as_parameter_type(annotation: Any) -> ParameterType:
    """An annotation as a `ParameterType`: a bare C type is passed by value."""
    if isinstance(annotation, ParameterType):
        return annotation
    is_handle = getattr(annotation, "__name__", "") == _HANDLE
    return replace(_of("value", annotation), null=False if is_handle else None)


def _of(kind: Kind, base: Any) -> ParameterType:
    if isinstance(base, Spelled):
        return ParameterType(kind, base.ctype, spelling=base.name)
    return ParameterType(kind, base)


_LENGTH = re.compile(r"(?:(\d+) <= )?(.+?)(?: <= (\d+))?")


class _Of:
    """``Pointer[T]``, ``Array[T, length]``, ``DeviceArray[T]``."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def __getitem__(self, item: Any) -> ParameterType:
        if not isinstance(item, tuple):
            return _of(self.kind, item)
        base, length, *too_long = item
        match = _LENGTH.fullmatch(length)
        assert match is not None
        least, length, most = match.groups()
        return replace(
            _of(self.kind, base),
            length=length,
            least=int(least or 0),
            most=int(most) if most else None,
            too_long=too_long[0] if too_long else None,
        )


class _With:
    """``Out[...]``, ``Const[...]``, ``NotNull[...]`` and others that change one fact."""

    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def __getitem__(self, item: Any) -> ParameterType:
        return replace(as_parameter_type(item), **self.changes)


Pointer: _Of = _Of("pointer")
Array: _Of = _Of("array")
DeviceArray: _Of = _Of("device")
DeviceMemory: ParameterType = ParameterType("device")
HostMemory: ParameterType = ParameterType("host")
Labelled: ParameterType = ParameterType("labelled")
HostScalar: ParameterType = ParameterType("scalar")
Out: _With = _With(direction="out")
InOut: _With = _With(direction="in/out")
Mutable: _With = _With(const=False)
Const: _With = _With(const=True)
NotNull: _With = _With(null=False)
Nullable: _With = _With(null=True)
Factor: _With = _With(size="factor")
Extent: _With = _With(size="extent")


class _Naming:
    """``ToldBy[T, "name"]``, ``MayBeUnset[...]``, which may name nothing."""

    def __init__(self, fact: str) -> None:
        self.fact = fact

    def __getitem__(self, item: Any) -> ParameterType:
        item, named = item if isinstance(item, tuple) else (item, True)
        return replace(as_parameter_type(item), **{self.fact: named})


MayBeUnset: _Naming = _Naming("unset")
ToldBy: _Naming = _Naming("told_by")
PerSample: _Naming = _Naming("per_sample")
SumOf: _Naming = _Naming("sum_of")
Lent: _Naming = _Naming("lent")
NeededBy: _Naming = _Naming("needed_by")
Padding: _With = _With(pads=True)
