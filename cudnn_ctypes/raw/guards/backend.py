"""Backend descriptors: which live, which may be finalized, and what can be executed.

Without cuBLASLt, which cuDNN's packages require, a question about engines may end the process:
cuDNN aborts when an engine, or the model that chooses kernels, opens a library that is not there.
So nothing is asked then. Reduced builds do without it.

Of attributes, calls that would crash cuDNN are refused, others reach it. Most calls set or read
numbers of an attribute's own type. One lookup in the table of the descriptor's kind shows that they
are harmless, and ctypes' own converters take their arguments. A Python function examines all other
calls and converts their arguments like any C function's.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import re
from typing import TYPE_CHECKING, Any

from .. import backend, library, live, mode
from ..attributes import Attribute, element_type, kind_name
from ..constants import CUDNN_VERSION
from ..ctypes_support import room
from ..enums import cudnnBackendAttributeName_t as Name
from ..enums import cudnnBackendAttributeType_t as Type
from ..enums import cudnnBackendDescriptorType_t as Kind
from ..enums import cudnnDataType_t
from ..origins import SINCE
from ..process import Bounded
from ..types import cudnnFraction_t
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding
if TYPE_CHECKING:
    from ..function import Binding


# cudnnStatus_t
_NOT_INITIALIZED, _BAD_PARAM, _NULL_POINTER, _NOT_FINALIZED = 1001, 2000, 2002, 2004
_DESCRIPTOR_TYPE, _NOT_SUPPORTED, _PREREQUISITE_MISSING = 2012, 3000, 3008
_LONGEST = 1 << 30  # bytes of a stored plan
_LEFT_OPEN = re.compile(rb'"CUDNN_KNOB_TYPE_KERNEL_CFG"\s*:\s*-1\b')

_EXECUTED = {
    "executionPlan": Kind.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
    "variantPack": Kind.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
}


def executable(binding: Binding) -> Fragment | None:
    names = [p.name for p in binding.parameters]
    if names[1:3] == list(_EXECUTED):
        return Fragment(
            before=[
                "if _of_executionPlan.__class__ is not _kind_executionPlan or "
                "_of_variantPack.__class__ is not _kind_variantPack or "
                "_of_variantPack._executable is not _of_executionPlan._executable or "
                "not _of_variantPack._executable[0]:",
                "    _reason = _not_executable(executionPlan, variantPack)",
                f"    if _reason: return _refused({_DESCRIPTOR_TYPE}, {{args}}, _reason)",
            ],
            scope={"_not_executable": _not_executable},
        )
    return _FRAGMENTS.get(binding.name)


def _no_heuristics(kind: Any) -> str:
    """Why the heuristics' descriptor must not be created; "" if it may be."""
    if kind != Kind.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
        return ""
    library.load().load_cuda_libraries()  # which finalizing does too, but that comes later
    return library.load().lacks_cublas


def _no_engine(descriptor: Any) -> str:
    """Why an engine must not be finalized; "" if it may be, and for others."""
    found = backend.known(live.address(descriptor))
    is_engine = found is not None and found.kind == Kind.CUDNN_BACKEND_ENGINE_DESCRIPTOR
    return library.load().lacks_cublas if is_engine else ""


def refused_plan(address: int, length: int) -> tuple[int, str] | None:
    """The refusal (status and reason) of a stored plan whose kernel cuDNN would choose anew."""
    reason = library.load().lacks_cublas
    if not reason or not 0 < length < _LONGEST:
        return None
    text = ctypes.string_at(address, length)
    return (_PREREQUISITE_MISSING, reason) if _LEFT_OPEN.search(text) else None


def _refusing(code: int, reason: str) -> list[str]:
    return [f"_reason = {reason}", f"if _reason: return _refused({code}, {{args}}, _reason)"]


def gone(descriptor: Any, name: str = "descriptor") -> str:
    """Why a descriptor does not live; "" if it does, is NULL, or nobody knows."""
    if live.is_destroyed(descriptor):
        return f"{name} was destroyed"
    return f"{name} was never created" if backend.made_up(live.address(descriptor)) else ""


def _not_executable(*descriptors: Any) -> str:
    for (name, wanted), descriptor in zip(_EXECUTED.items(), descriptors, strict=True):
        address = live.address(descriptor)
        if address in mode.plans_without_engine:  # a graph that NumPy executes without a plan
            continue
        if reason := gone(descriptor, name):
            return reason
        found = backend.known(address)
        if found is not None and found.kind not in (wanted, None):
            return f"{name} is a {kind_name(found.kind)}, no {kind_name(wanted)}"
    plan, pack = (getattr(each, "_as_parameter_", each) for each in descriptors)
    addresses = live.address(plan), live.address(pack)
    are_pointers = hasattr(plan, "_executable") and hasattr(pack, "_executable")
    if all(addresses) and are_pointers and mode.plans_without_engine.isdisjoint(addresses):
        if not plan._executable[0]:
            if len(_executable) >= _MOST:
                _forget_executable()
            plan._executable = [True]
            _executable.append(plan._executable)
        pack._executable = plan._executable
    return ""


_MOST = 1024
_executable: list[list[bool]] = []
"""For each plan that was seen executable a list that it shares with the variant packs that it was
executed with. True is in it until a backend descriptor is created or destroyed."""


def _forget_executable() -> None:
    while _executable:
        _executable.pop()[0] = False


def _created(*arguments: Any) -> None:
    _forget_executable()
    backend.created(*arguments)


def _destroyed(address: int | None) -> None:
    _forget_executable()
    backend.destroyed(address)


def _not_to_finalize(descriptor: Any) -> str:
    if reason := gone(descriptor):
        return reason
    found = backend.known(live.address(descriptor))
    return "" if found is None else found.missing()


def _emptied(descriptor: Any) -> None:
    found = backend.known(live.address(descriptor))
    if found is not None:
        found.values.clear()


_IF_GONE = _refusing(_BAD_PARAM, "_gone(descriptor)")
_FRAGMENTS = {
    "cudnnBackendCreateDescriptor": Fragment(
        before=_refusing(_PREREQUISITE_MISSING, "_no_heuristics(descriptorType)"),
        success=["_note_backend(descriptorType, descriptor)"],
        scope={"_note_backend": _created, "_no_heuristics": _no_heuristics},
    ),
    "cudnnBackendDestroyDescriptor": Fragment(
        before=_IF_GONE,
        success=["_forget_backend(_address_before)"],
        scope={"_forget_backend": _destroyed, "_gone": gone},
    ),
    "cudnnBackendInitialize": Fragment(
        before=_IF_GONE,
        success=["_emptied(descriptor)"],
        scope={"_emptied": _emptied, "_gone": gone},
    ),
    "cudnnBackendFinalize": Fragment(
        before=[
            *_refusing(_BAD_PARAM, "_not_to_finalize(descriptor)"),
            *_refusing(_PREREQUISITE_MISSING, "_no_engine(descriptor)"),
        ],
        scope={"_not_to_finalize": _not_to_finalize, "_no_engine": _no_engine},
    ),
}


_DESCRIPTOR = Type.CUDNN_TYPE_BACKEND_DESCRIPTOR
_OBJECTS = (_DESCRIPTOR, Type.CUDNN_TYPE_HANDLE)
_ADDRESSES = 1 << 47  # bytes that a program can address
_SIZES = {each: ctypes.sizeof(element_type(each)) for each in Type}
_LOOKED_AT = 1 << 16  # entries examined in an array of unknown length

# Types of one number that a caller may pass in place of an array.
_SCALARS = frozenset(
    {
        *(ctypes.c_bool, ctypes.c_int, ctypes.c_int32, ctypes.c_int64),
        *(ctypes.c_float, ctypes.c_double),
    }
)

# By attribute to set: the attribute of its value, a descriptor, that is read to see whether the
# value is finalized.
_NEED_FINALIZED = {
    Name.CUDNN_ATTR_ENGINECFG_ENGINE: Name.CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
    Name.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG: Name.CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE,
}
# When these are read, cuDNN 9.28 writes C++ objects over the array, or beyond it.
_UNREADABLE = (
    Name.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC,
    Name.CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS,
)
# When these are read, cuDNN 9.28 follows an array that is NULL.
_NEED_ARRAY = (
    Name.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
    Name.CUDNN_ATTR_OPERATIONGRAPH_IS_SAME_TOPOLOGY,
)
# When these are read, cuDNN 9.28 follows entries that are NULL.
_NEED_ENTRIES = (
    Name.CUDNN_ATTR_ENGINE_KNOB_INFO,
    Name.CUDNN_ATTR_ENGINE_LAYOUT_INFO,
    Name.CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO,
)


# A call found harmless once is harmless for every descriptor, since cuDNN refuses attributes of
# other kinds. Harmless calls are keyed by attribute, type, count and the class of the array. An
# enumerator of another enum may be equal to one of these, but is another object.
_HARMLESS = """\
try:
    _name, _type, _scalar = _harmless[
        attributeName, attributeType, {count}, arrayOfElements.__class__
    ]
    _is_harmless = (
        _name is attributeName
        and _type is attributeType
        and {count}.__class__ is int{more}
        and descriptor._is_backend
    )
except (AttributeError, KeyError, TypeError):
    _is_harmless = False
if _is_harmless:
    if _scalar: arrayOfElements = _byref(arrayOfElements)
else:
    _refusal, *_changed = _examined({{args}})
    if _refusal: return _refused(_refusal[0], {{args}}, _refusal[1])
    {changed} = _changed"""


def attributes(binding: Binding) -> Fragment | None:
    if binding.name == "cudnnBackendSetAttribute":
        count, more, behind = "elementCount", "", ["arrayOfElements"]
        note: Any = _note_set
        noted = "descriptor, attributeName, attributeType, elementCount, arrayOfElements"
        examiner: _Examiner = _Setting(binding)
        types: list[Any] = []
    elif binding.name == "cudnnBackendGetAttribute":
        count, more = "requestedElementCount", " and elementCount.__class__ is _Int64"
        behind = ["elementCount", "arrayOfElements"]
        note = _note_filled
        noted = "attributeType, requestedElementCount, elementCount, arrayOfElements"
        examiner = _Reading(binding)
        types = [ctypes.POINTER(ctypes.c_int64)]
    else:
        return None
    argtypes = [
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int64,
        *types,
        ctypes.c_void_p,
    ]
    changed = ", ".join([count, *behind])
    return Fragment(
        before=_HARMLESS.format(count=count, more=more, changed=changed).splitlines(),
        success=[f"if not _is_harmless: _note({noted})"],
        arguments=_arguments(binding, count),
        argtypes=argtypes,
        scope={
            **{
                f"_from_{p.name}": each.from_param
                for p, each in zip(binding.parameters, argtypes, strict=True)
            },
            "_counts": Bounded(ctypes.c_int64, most=256),
            "_harmless": examiner.harmless,
            "_examined": examiner,
            "_Int64": ctypes.c_int64,
            "_byref": ctypes.byref,
            "_note": note,
        },
    )


def _arguments(binding: Binding, count: str) -> dict[str, str]:
    """The expressions that C receives; a harmless call passes most arguments unconverted."""
    harmless = {p.name: p.name for p in binding.parameters}
    harmless[count] = f"_counts[{count}]"
    if count != "elementCount":
        harmless["elementCount"] = "_byref(elementCount)"
    return {
        p.name: f"{harmless[p.name]} if _is_harmless else _from_{p.name}({p.name})"
        for p in binding.parameters
    }


class _Examiner:
    """Examines the arguments of a call that the table does not show to be harmless."""

    memory: tuple[type, ...]
    """Classes of arrays in harmless calls, besides single numbers."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.harmless: Bounded[tuple[Any, ...], tuple[Any, Any, bool]] = Bounded(most=4096)

    def __call__(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """A refusal (status and reason) or None, and the converted arguments or None.

        Raises TypeError or ValueError if an argument does not convert; the message names it.
        """
        descriptor, name, type_, count, *_, array = arguments
        given = room(array)
        if (
            name.__class__ is not Name
            or type_.__class__ is not Type
            or count.__class__ is not int
            or not hasattr(descriptor, "_is_backend")
            or not (array is None or isinstance(array, ctypes.Array))
        ):
            *_, converted = self._converted(arguments)
            name, type_ = Name(_number(name)), Type(_number(type_))
            count = operator.index(_number(count))
            if not isinstance(array, bytes):  # ctypes accepts converted bytes only once
                array = converted
            if reason := gone(descriptor):
                return (_BAD_PARAM, reason), None
        bytes_ = count * _SIZES.get(type_, 4)
        if given is not None and bytes_ > given:
            raise ValueError(
                f"{self.binding.name}() argument 'arrayOfElements': {count} elements of {type_} "
                f"are {bytes_} bytes, got {given}"
            )
        refusal = self.refusal(name, type_, count, array, given)
        if not 0 <= bytes_ < _ADDRESSES:
            refusal = _BAD_PARAM, f"{count} elements of {type_} do not exist"
        if not refusal:
            self._note_harmless(arguments[1], arguments[2], count, arguments[-1])
        return refusal, count, *self.others(name, count, arguments[4:-1], array)

    def _note_harmless(self, name: Any, type_: Any, count: int, array: Any) -> None:
        facts = backend.attribute(name) if name.__class__ is Name else None
        if (
            facts is not None
            and type_.__class__ is Type
            and type_ in facts.types
            and type_ not in (*_OBJECTS, Type.CUDNN_TYPE_FRACTION)
            and name not in backend.NOTED
            and name != Name.CUDNN_ATTR_TENSOR_DATA_TYPE
            and (count > 0 or array is None)
            and (isinstance(array, self.memory) or array.__class__ in _SCALARS)
        ):
            found = name, type_, array.__class__ in _SCALARS
            self.harmless.keep((name, type_, count, array.__class__), found)

    def _converted(self, arguments: tuple[Any, ...]) -> list[Any]:
        try:
            return [
                argtype.from_param(value)
                for argtype, value in zip(self.binding.argtypes, arguments, strict=True)
            ]
        except (TypeError, ValueError) as error:
            self.binding.explain(ctypes.ArgumentError(str(error)), arguments)
            raise

    def refusal(
        self, name: Name, type_: Type, count: int, array: Any, given: int | None
    ) -> tuple[int, str] | None:
        raise NotImplementedError

    def others(
        self, name: Name, count: int, between: tuple[Any, ...], array: Any
    ) -> tuple[Any, ...]:
        """The arguments after the count."""
        raise NotImplementedError


class _Setting(_Examiner):
    memory = (ctypes.Array,)

    def refusal(
        self, name: Name, type_: Type, count: int, array: Any, given: int | None
    ) -> tuple[int, str] | None:
        if type_ in _OBJECTS:
            entries = _entries(array, count, given)
            refused = _refused_entries(name, type_, entries)
            # cuDNN refuses handles where it wants descriptors; nothing is known of their addresses.
            if refused is None and type_ == _DESCRIPTOR:
                refused = _refused_open_entries(name, entries)
            return refused
        if name == Name.CUDNN_ATTR_TENSOR_DATA_TYPE and type_ == Type.CUDNN_TYPE_DATA_TYPE:
            return _refused_data_type(array) if count == 1 and array is not None else None
        is_block = name == Name.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE
        if is_block and count == 1 and array is not None and not _number_at(array):
            return _BAD_PARAM, f"{name} is 0, by which cuDNN divides"
        if type_ == Type.CUDNN_TYPE_FRACTION and count > 0 and array is not None:
            return _refused_fractions(array, count, given)
        if name == Name.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION and array is not None:
            return refused_plan(_address(array) or 0, count)
        return None

    def others(
        self, name: Name, count: int, between: tuple[Any, ...], array: Any
    ) -> tuple[Any, ...]:
        return (array,)


class _Reading(_Examiner):
    memory = (ctypes.Array, type(None))

    def refusal(
        self, name: Name, type_: Type, count: int, array: Any, given: int | None
    ) -> tuple[int, str] | None:
        if type_ != _DESCRIPTOR:
            return None
        if array is None:
            if name in _NEED_ARRAY:
                return _NULL_POINTER, f"arrayOfElements is NULL, and cuDNN reads {name} into it"
            return None
        if name in _UNREADABLE and count > 0:
            return _NOT_SUPPORTED, f"cuDNN writes {name} as C++ objects over arrayOfElements"
        entries = _entries(array, count, given)
        if name in _NEED_ENTRIES and None in entries:
            return _NULL_POINTER, f"arrayOfElements[{entries.index(None)}] is NULL; create it first"
        return _refused_entries(name, type_, entries)

    def others(
        self, name: Name, count: int, between: tuple[Any, ...], array: Any
    ) -> tuple[Any, ...]:
        (written,) = between
        # cuDNN 9.28 follows a NULL elementCount for a few attributes; none needs it to be NULL.
        # Asked for 0 of these descriptors, it fills the array's entries all the same.
        return (
            ctypes.c_int64() if written is None else written,
            None if name in _NEED_ENTRIES and count == 0 else array,
        )


# --- refusals ------------------------------------------------------------------------------------


def _refused_entries(name: Name, type_: Type, entries: list[int | None]) -> tuple[int, str] | None:
    facts: Attribute | None = backend.attribute(name)
    for position, address in enumerate(entries):
        place = f"arrayOfElements[{position}]"
        if address is not None and live.is_gone(address):
            return _BAD_PARAM, f"{place} was destroyed"
        if type_ == _DESCRIPTOR and backend.made_up(address):
            return _BAD_PARAM, f"{place} was never created"
        found = backend.known(address)
        wants = facts.wants if facts else ()
        if not wants or found is None or found.kind is None or found.kind in wants:
            continue
        wanted = "an operation" if len(wants) > 3 else " or ".join(map(kind_name, wants))
        return _DESCRIPTOR_TYPE, f"{place} is a {kind_name(found.kind)}; {name} takes {wanted}"
    return None


def _refused_open_entries(name: Name, entries: list[int | None]) -> tuple[int, str] | None:
    """The refusal of a descriptor that is not finalized, whose missing parts cuDNN 9.28 follows."""
    attribute = _NEED_FINALIZED.get(name)
    if attribute is None:
        return None
    from ..function import binding

    read, count = binding("cudnnBackendGetAttribute").native, ctypes.c_int64()
    for position, address in enumerate(entries):
        status = read(address, attribute, Type.CUDNN_TYPE_INT64, 0, count, None)
        if address is not None and status == _NOT_INITIALIZED:
            return _NOT_FINALIZED, f"arrayOfElements[{position}] is not finalized"
    return None


def _refused_fractions(array: Any, count: int, given: int | None) -> tuple[int, str] | None:
    """The refusal of a denominator of 0: cuDNN takes it, and it is no number."""
    address, least = _address(array), count if given is None else given // 16
    for position in range(min(count, least, _LOOKED_AT)):
        if not cudnnFraction_t.from_address((address or 0) + 16 * position).denominator:
            return _BAD_PARAM, f"arrayOfElements[{position}] has the denominator 0"
    return None


def _refused_data_type(array: Any) -> tuple[int, str] | None:
    """The refusal of an unknown data type: cuDNN would end the process while finalizing."""
    code = _number_at(array)
    return None if _is_data_type(code) else (_BAD_PARAM, f"cuDNN has no data type {code}")


@functools.cache
def _is_data_type(code: int) -> bool:
    from .. import library

    loaded = library.load()
    # A release newer than the headers may have it; patch releases bring no enumerators.
    if code > max(cudnnDataType_t) and loaded.version // 100 > CUDNN_VERSION // 100:
        return True
    data_type = cudnnDataType_t(code)
    return data_type.known and not loaded.outdated("", SINCE[data_type.name])


# --- contents of arrays --------------------------------------------------------------------------


def _number(value: Any) -> Any:
    """The number in a ctypes object, or the number itself."""
    return getattr(value, "value", value) if isinstance(value, ctypes._SimpleCData) else value


def _address(array: Any) -> int | None:
    """The address of an array, before or after its conversion."""
    if isinstance(array, ctypes.Array):
        return ctypes.addressof(array)
    return ctypes.cast(array, ctypes.c_void_p).value if array is not None else None


def _number_at(array: Any) -> int:
    return ctypes.c_int.from_address(_address(array) or 0).value


def _entries(array: Any, count: int, given: int | None) -> list[int | None]:
    """The addresses in an array of descriptors."""
    address = _address(array)
    if address is None or count <= 0:
        return []
    count = min(count, _LOOKED_AT if given is None else given // 8)
    return list((ctypes.c_void_p * count).from_address(address))


# --- notes ---------------------------------------------------------------------------------------


def _note_set(descriptor: Any, name: Any, type_: Any, count: int, array: Any) -> None:
    if name in backend.NOTED:
        found = backend.known(live.address(descriptor))
        if found is not None and count > 0 and array is not None:
            given: tuple[int | backend.Descriptor | None, ...] = (None,)
            if type_ == _DESCRIPTOR:
                entries = _entries(array, count, None)
                given = tuple(backend.known(each) for each in entries if each)
            elif type_ != Type.CUDNN_TYPE_CHAR:
                given = (_number_at(array),)
            if given:
                found.values[Name(name)] = given


def _note_filled(type_: Any, asked: int, count: Any, array: Any) -> None:
    """Mark the descriptors that cuDNN filled: they are finalized."""
    if type_ == _DESCRIPTOR and array is not None:
        written = live.out_variable(count)
        written = written.contents if isinstance(written, ctypes._Pointer) else written
        for address in _entries(array, min(asked, _number(written)), None):
            found = backend.known(address)
            if found is not None:
                found.filled = True
