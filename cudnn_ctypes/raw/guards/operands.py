"""Scalars and memory that contradict the descriptors beside them, which C cannot see.

Each declaration names the descriptor that describes a parameter's memory or decides its scalar
type. A launch looks up the descriptors' records by address, and looks up a tensor among the
descriptions that fitted before, by one function per class that does the least work that Python
allows; only new descriptions are compared.
"""

from __future__ import annotations

import collections
import ctypes
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ClosedError
from .. import mode, records
from ..ctypes_support import CudnnEnum
from ..memory import memory_pointer
from ..process import Bounded
from ..records import Fitting
from ..torch_forms import alike, unreadable
from ..typed_memory import by_class, is_own, is_torch
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding
    from ..parameter import Parameter


_pointer = ctypes.c_void_p.from_param


def _torch_fitting(tensor: Any, fitting: Fitting) -> Any:
    if not mode.runtime.has(tensor) or unreadable(tensor):
        return None
    key = tensor.dtype, tensor.shape, tensor.stride()
    if key not in fitting:
        return None
    if fitting.last_key != key:  # else a flag that does not matter differs
        fitting.kind = None  # for other threads
        fitting.alike, fitting.runtime = alike([tensor]), mode.runtime
        fitting.last_key, fitting.kind = key, tensor.__class__
    return _pointer(tensor.data_ptr())


def _own_fitting(memory: Any, fitting: Fitting) -> Any:
    keyed = memory._keyed or _keyed(memory)
    if keyed[0] in fitting and memory._runtime is mode.runtime:
        return keyed[1]
    return None


def _keyed(memory: Any) -> Any:
    """The key and address of this package's memory; a key that never fits if it is closed."""
    try:
        return memory.keyed()
    except (ClosedError, ValueError):  # the converter raises a clear error
        return _UNREACHABLE


_UNREACHABLE = (0, None)


def _any_fitting(memory: Any, fitting: Fitting) -> Any:
    try:
        if by_class.of(memory).identity(memory) in fitting:
            return _pointer(memory_pointer(memory) or 0)
    except (TypeError, ValueError):  # the converter raises a clear error
        pass
    return None


def _torch_with_room(tensor: Any, size: Any) -> Any:
    # How the elements are to be read does not matter here.
    try:
        if size.__class__ is int and mode.runtime.has(tensor) and tensor.nbytes >= size:
            address = tensor.data_ptr()
            return _pointer(address) if address else None
    except RuntimeError:  # sparse, say: the converter raises a clear error
        pass
    return None


def _own_with_room(memory: Any, size: Any) -> Any:
    if size.__class__ is int and memory._nbytes >= size and memory._runtime is mode.runtime:
        return (memory._keyed or _keyed(memory))[1]
    return None


def _nothing(memory: Any, size: Any) -> None:
    return None


_Function = Callable[[Any, Any], Any]


def _by_class(torch: _Function, own: _Function, other: _Function) -> Bounded[type, _Function]:
    def chosen(cls: type) -> _Function:
        is_ours = is_own(cls) and hasattr(cls, "keyed")
        return torch if is_torch(cls) else own if is_ours else other

    return Bounded(chosen)


fitting_pointer: Bounded[type, _Function] = _by_class(_torch_fitting, _own_fitting, _any_fitting)
"""By class: a function of memory and the keys fitting a descriptor; its result: address or None."""

pointer_with_room: Bounded[type, _Function] = _by_class(_torch_with_room, _own_with_room, _nothing)
"""By class: a function of memory and a size in bytes; its result: address or None."""


_MOST = 64  # fitting descriptions remembered per record


_ROOM = """\
if {0} is None or {0}.__class__ is _int and not {0} >> 64: _to_{0} = _pointer({0})
else: _to_{0} = _passing_{0}[{0}.__class__]({0}, {2}) or _check_{0}({1}, {0})
"""
_MEMORY = """\
if {0} is None or {0}.__class__ is _int and not {0} >> 64: _to_{0} = _pointer({0})
else:
    _fitting = {2}
    if {0}.__class__ is _fitting.kind and _mode.runtime is _fitting.runtime \
            and not {0}.is_nested and _fitting.alike({0}): _to_{0} = _pointer({0}.data_ptr())
    else: _to_{0} = _passing_{0}[{0}.__class__]({0}, _fitting) or _check_{0}({1}, {0})
"""


def fragment(binding: Binding) -> Fragment | None:
    by_name = {p.name: p for p in binding.parameters}
    looked_at = _looked_at(binding, by_name)
    before: list[str] = []
    arguments: dict[str, str] = {}
    scope: dict[str, Any] = {
        "_int": int,
        "_place": records.place,
        "_places": records.cache,
        "_bytes_of": bytes,
        "_pointer": ctypes.c_void_p.from_param,
        "_mode": mode,
    }
    for parameter in binding.parameters:
        name = parameter.name
        match parameter.type.kind:
            case "device" if parameter.type.base is not None:
                before.append(
                    f"if {name} is not None and {name}.__class__ is not _int: _check_{name}({name})"
                )
                scope[f"_check_{name}"] = _elements_check(binding, parameter)
            case "device" if parameter.described_by:
                (by,) = parameter.described_by
                template = _MEMORY
                if by_name[by].type.base is ctypes.c_size_t:
                    passing, against, template = pointer_with_room, by, _ROOM
                    scope[f"_check_{name}"] = _room_check(binding, parameter, by)
                else:
                    at = f"_at_{by}" if by in looked_at else f"({_place(by)})"
                    passing, against = fitting_pointer, f"{at}.fitting"
                    scope[f"_check_{name}"] = _memory_check(binding, parameter, by)
                scope[f"_passing_{name}"] = passing
                before += template.format(name, by, against).splitlines()
                arguments[name] = f"_to_{name} or _convert_{name}({name})"
            case "device" if parameter.type.dense[0]:
                given = f"{name} is not None and {name}.__class__ is not _int"
                before.append(f"if {given}: _check_{name}({name}, {{args}})")
                scope[f"_check_{name}"] = _dense_check(binding, parameter)
            case "scalar":
                one = _one_descriptor(parameter, by_name)
                before.append(_scalar_line(parameter, one))
                scope[f"_as_{name}"] = _scalar_check(binding, parameter)
    if not before:
        return None
    first = [f"_at_{name} = {_place(name)}" for name in looked_at]
    return Fragment([*first, *before], scope=scope, arguments=arguments)


def _looked_at(binding: Binding, by_name: dict[str, Parameter]) -> list[str]:
    """The descriptors whose records the guard reads more than once, or for all kinds of memory."""
    wanted: list[str] = []
    for p in binding.parameters:
        if p.type.kind == "scalar" and (one := _one_descriptor(p, by_name)) is not None:
            wanted += [one, one]
        elif p.type.kind == "device":
            wanted += [by for by in p.described_by if by_name[by].type.base is not ctypes.c_size_t]
    return [name for name, count in collections.Counter(wanted).items() if count > 1]


def _place(name: str) -> str:
    """An expression for `records.place`, without a Python call for the usual descriptor."""
    known = f"_of_{name}.__class__ is _kind_{name} and _places.get(_bytes_of(_of_{name}))"
    return f"{known} or _place({name})"


# --- scalars -------------------------------------------------------------------------------------


def _one_descriptor(parameter: Parameter, by_name: dict[str, Parameter]) -> str | None:
    """The descriptor that alone decides the type of a scaling factor; None if there is none."""
    if len(parameter.described_by) != 1 or parameter.type.pads:
        return None
    (name,) = parameter.described_by
    return name if issubclass(by_name[name].type.base, ctypes._Pointer) else None


def _scalar_line(parameter: Parameter, one: str | None) -> str:
    name = parameter.name
    convert = f"{name} = _as_{name}({', '.join((name, *parameter.described_by))})"
    if one is None:
        return convert
    wanted = f"_at_{one}.scalar"
    refers = f"{name}.__class__ is _Reference and {name}._obj.__class__ is {wanted}"
    return f"if {name}.__class__ is not {wanted} and not ({refers}): {convert}"


def _scalar_check(binding: Binding, parameter: Parameter) -> Callable[..., Any]:
    from ..enums import cudnnDataType_t
    from ..layouts import DATA_TYPE_NAMES
    from ..scalars import LARGEST_FLOAT, SIZES, as_host_scalar

    names, pads, out = " or ".join(parameter.described_by), parameter.type.pads, parameter.direction
    place, single, double = records.place, ctypes.c_float, ctypes.c_double

    def describer(described_by: Any) -> Any:
        if isinstance(described_by, (CudnnEnum, int)):
            return cudnnDataType_t(described_by)
        return place(described_by).record

    def wanted(decides: Any) -> tuple[str | None, str]:
        """The scalar's type, and the reason for the message."""
        if decides is None:
            return None, ""
        name = DATA_TYPE_NAMES.get(decides)
        if not pads:
            name = "float64" if name == "float64" else "float32"
        return name if name in SIZES else None, f", since {names} is {decides.name}"

    def convert(value: Any, *described_by: Any) -> Any:
        if value.__class__ is float and len(described_by) == 1 and not pads:
            ctype = place(described_by[0]).scalar
            if ctype is double or (ctype is single and -LARGEST_FLOAT <= value <= LARGEST_FLOAT):
                return ctype(value)
        variable = getattr(value, "_obj", None)  # byref(...), as C programs write it
        if (
            variable is not None
            and len(described_by) == 1
            and not pads
            and variable.__class__ is place(described_by[0]).scalar
        ):
            return value
        name, reason = wanted(records.scalar_type([*map(describer, described_by)]))
        try:
            return as_host_scalar(value, name, reason=reason, out=out == "out")
        except (TypeError, ValueError) as error:
            raise type(error)(_about(binding, parameter, str(error))) from None

    return convert


# --- memory --------------------------------------------------------------------------------------


def _memory_check(binding: Binding, parameter: Parameter, by: str) -> Callable[[Any, Any], None]:
    from ..typed_memory import by_class, contradiction, too_small

    (kind,) = (p.type.base for p in binding.parameters if p.name == by)

    def check(descriptor: Any, memory: Any) -> None:
        if not isinstance(getattr(descriptor, "_as_parameter_", descriptor), kind):
            return  # ctypes refuses it by name
        describers, place = by_class.of(memory), records.place(descriptor)
        says = None if place.record is None else describers.typed(memory)
        if says is None:
            return
        contradicts = contradiction(place.record, says)
        if contradicts is not None:
            text = f"{says.summary} contradicts {by}, which says {contradicts}"
            if not too_small(place.record, says):
                text += f"; pass its address to have the memory read as {by} says"
            raise ValueError(_about(binding, parameter, text))
        if len(place.fitting) >= _MOST:
            place.fitting.clear()
        place.fitting.update((None, describers.identity(memory)))

    return check


def _room_check(binding: Binding, parameter: Parameter, by: str) -> Callable[[Any, Any], None]:
    from ..typed_memory import by_class

    def check(size: Any, memory: Any) -> None:
        given, wanted = by_class.of(memory).nbytes(memory), getattr(size, "value", size)
        if given is not None and isinstance(wanted, int) and given < wanted:
            raise ValueError(_about(binding, parameter, f"{given} bytes, but {by} says {wanted}"))

    return check


def _dense_check(binding: Binding, parameter: Parameter) -> Callable[[Any, Any], None]:
    from ..enums import cudnnDataType_t
    from ..typed_memory import by_class, itemsize

    described_by = [(at, p.name) for at, p in enumerate(binding.parameters) if not p.type.dense[0]]

    def check(memory: Any, arguments: Sequence[Any]) -> None:
        given = by_class.of(memory).nbytes(memory)
        if given is None:
            return
        try:
            values = {name: _as_c_reads(arguments[at]) for at, name in described_by}
            code, shape = parameter.described(values)
            data_type = cudnnDataType_t(code)
            needed = math.prod(shape) * itemsize(data_type)
        except Exception:  # sizes that C or another converter refuses
            return
        if given < needed:
            text = f"{given} bytes, but {data_type.name} {shape} takes {needed}"
            raise ValueError(_about(binding, parameter, text))

    return check


def _as_c_reads(argument: Any) -> Any:
    """A number, enumerator or struct that an argument is, refers to or points to."""
    argument = getattr(argument, "_as_parameter_", argument)
    argument = getattr(argument, "_obj", argument)  # byref(...)
    if isinstance(argument, ctypes._Pointer):
        return argument.contents if argument else None
    return argument.value if isinstance(argument, ctypes._SimpleCData) else argument


def _elements_check(binding: Binding, parameter: Parameter) -> Callable[[Any], None]:
    from ..typed_memory import typed

    real = parameter.type.base is ctypes.c_float
    wanted = "float32" if real else f"int{8 * ctypes.sizeof(parameter.type.base)}"
    fits = (wanted, "bytes", "int8", "uint8")

    def check(memory: Any) -> None:
        says = typed(memory)
        if says is not None and says.data_type not in fits:
            raise ValueError(_about(binding, parameter, f"expected {wanted} memory, got {says}"))

    return check


def _about(binding: Binding, parameter: Parameter, text: str) -> str:
    return f"{binding.name}() argument {parameter.name!r}: {text}"
