"""Inside the process of a compiled program: its calls, carried out by Python's functions.

A call's C values become the objects that the function takes, by its declaration. A status goes back
to the program; the explanation goes to stderr, once for each line of the program.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ... import raw
from ...dtypes import host_scalar_type
from ...errors import CudnnError, SymbolNotFoundError
from ...evidence.tracing import ENVIRONMENT_VARIABLE as TRACE_VARIABLE
from ...raw import host_blocks, records
from ...raw.ctypes_support import CudnnEnum, OpaquePointer, storage_type
from ...raw.mode import ENVIRONMENT_VARIABLE as DEVICE_VARIABLE
from ...raw.parameter import Parameter
from ...runtime.cuda import CudaError
from ..compat import OldNameWarning, v7
from ..cudart import cudaDeviceProp, cudaGetDeviceProperties
from ..cudart.function import CheckedAddress, Kind
from .places import call_place
from .signatures import OLD_STATUS_VARIABLE, Signature, signatures

_Convert = Callable[[Any], Any]

_kept: list[Any] = []  # what C has the addresses of


def start(resolver: int, end: int, owns_interpreter: bool) -> None:
    """Give the library its functions.

    - `resolver`, `end`: addresses of the library's pointers to the function that finds an entry of
      its table, and to the one that it calls at the end of the process.
    - `owns_interpreter`: whether the process had no Python of its own.
    """
    host_blocks.outside = call_place
    warnings.simplefilter("ignore", OldNameWarning)
    names = list(signatures())
    resolve = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int)(lambda i: _address(names[i]))
    finish = ctypes.CFUNCTYPE(None)(_finish if owns_interpreter else lambda: None)
    for place, function in ((resolver, resolve), (end, finish)):
        _kept.append(function)
        ctypes.c_void_p.from_address(place).value = ctypes.cast(function, ctypes.c_void_p).value


def _finish() -> None:
    """Write what was recorded, and end as Python does: the program has ended."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()


@functools.cache
def _address(name: str) -> int | None:
    """The address of a C function that carries out `name` in Python."""
    try:
        signature = signatures()[name]
        function = ctypes.CFUNCTYPE(signature.result, *signature.types)(_call(signature))
    except Exception as error:  # nothing above this frame would hear of it
        print(f"cudnn-ctypes: {name}: {error!r}", file=sys.stderr)
        return None
    _kept.append(function)
    return ctypes.cast(function, ctypes.c_void_p).value


def _forwards() -> bool:
    """Whether the calls of functions that cuDNN 9 has go to the real library."""
    on_reference = os.environ.get(DEVICE_VARIABLE, "").startswith("reference")
    return not on_reference and os.environ.get(TRACE_VARIABLE, "0") in ("", "0")


_FILLING_PROPERTIES = ("cudaGetDeviceProperties", "cudaGetDeviceProperties_v2")


class _Depth(threading.local):
    """Whether the thread is in a call of the program: calls within it are the libraries' own."""

    inside = False
    within = 0  # calls of the libraries that are under way


_MOST_WITHIN = 16


_depth = _Depth()


def _call(signature: Signature) -> Callable[..., Any]:
    """The Python function behind a C function."""
    name, function = signature.name, signature.function
    function = _get_properties if name in _FILLING_PROPERTIES else function
    converters = [_converter(each) for each in signature.parameters]
    returns_status = signature.result is ctypes.c_int
    declared = name in raw.FUNCTIONS
    forwards = not declared and _forwards()
    of_program = _old_status if returns_status and name.startswith("cudnn") and _old() else int

    def call(*values: Any) -> Any:
        if _depth.inside:
            _depth.within += 1
            try:
                if _depth.within > _MOST_WITHIN:  # libcudnn looks for a part that is not there
                    return _part_is_missing(name)
                return _real(signature)(*values)
            finally:
                _depth.within -= 1
        _depth.inside = True
        if forwards:  # of the calls between nothing is known here, and an address may be another's
            records.cache.clear()
        try:
            arguments = [each(value) for each, value in zip(converters, values, strict=True)]
            if declared:
                _type_memory(signature.parameters, arguments)
            created = [each for each in arguments if each.__class__ is _Created]
            result = function(*(getattr(each, "variable", each) for each in arguments))
            for each in created:
                each.put()
            if _old():
                _make_old(signature.parameters, arguments)
            return of_program(result or 0) if returns_status else _returned(result)
        except (CudnnError, CudaError) as error:
            _tell(name, error)
            return of_program(getattr(error, "status", getattr(error, "code", 1)))
        except BaseException as error:
            _tell(name, error)
            return of_program(_failure(name, error)) if returns_status else 0
        finally:
            _depth.inside = False

    return call


@functools.cache
def _part_is_missing(name: str) -> int:
    """The status of a call for which libcudnn finds none of its libraries but this one."""
    folder = os.path.dirname(raw.load().path)
    print(f"cudnn-ctypes: {name}: a library of cuDNN is not in {folder}", file=sys.stderr)
    return int(raw.CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED)


def _real(signature: Signature) -> Any:
    """The library's own function, for a call that a library makes within a call."""
    find = _library().cudnn_ctypes_real
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    address = find(signature.name.encode())
    if not address:
        address = ctypes.cast(raw.load().cdll[signature.name], ctypes.c_void_p).value
    return ctypes.CFUNCTYPE(signature.result, *signature.types)(address)


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _failure(name: str, error: BaseException) -> int:
    """The status of a call that Python refuses, where C would have followed a wrong address."""
    if name.startswith("cudnn"):
        missing = isinstance(error, (SymbolNotFoundError, NotImplementedError))
        return int(raw.CUDNN_STATUS_NOT_SUPPORTED if missing else raw.CUDNN_STATUS_BAD_PARAM)
    of_others = {"cub": 7, "cur": 104}  # CUBLAS_STATUS_INVALID_VALUE, CURAND_STATUS_OUT_OF_RANGE
    return of_others.get(name[:3], 1)  # cudaErrorInvalidValue


_told: set[tuple[str, str, str]] = set()


def _tell(name: str, error: BaseException) -> None:
    """Print what is known about a failed call, once for each line of the program."""
    place = host_blocks.place_text()
    text = str(error) or repr(error)
    if not isinstance(error, (CudnnError, CudaError)) and not text.startswith(name):
        text = f"{name}: {text}"
    if (place, name, type(error).__name__) not in _told:
        _told.add((place, name, type(error).__name__))
        print(f"{place}: {text}", file=sys.stderr, flush=True)


# --- the statuses of cuDNN before 9 ---------------------------------------------------------------


@functools.cache
def _old() -> bool:
    """Whether the program was compiled for a cuDNN whose statuses had other numbers."""
    return bool(os.environ.get(OLD_STATUS_VARIABLE))


def _old_status(status: int) -> int:
    number: int = v7.old_status_number(raw.cudnnStatus_t(int(status)))
    return number


def _new_status(number: int) -> Any:
    known = number in range(15)
    return v7.status_of_old_number(number) if known else raw.cudnnStatus_t(number)


def _make_old(parameters: Sequence[Any], arguments: Sequence[Any]) -> None:
    """Give statuses that a call has written their old numbers."""
    for parameter, written in zip(parameters, arguments, strict=True):
        kind = getattr(parameter, "type", None)
        if not written or kind is None or kind.kind not in ("pointer", "array"):
            continue
        if kind.base is raw.cudnnStatus_t:
            written.value = _old_status(written.value)
        elif hasattr(kind.base, "_status"):
            given = {each.name: value for each, value in zip(parameters, arguments, strict=True)}
            for each in written[: given["returnedAlgoCount"].value]:
                each._status = _old_status(each._status)


# --- the properties of a device -----------------------------------------------------------------


class _Member(ctypes.Structure):
    """A member of C's cudaDeviceProp, as the library was compiled."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("offset", ctypes.c_size_t),
        ("size", ctypes.c_size_t),
    )


def _get_properties(target: Any, device: int) -> Any:
    """Fill C's struct with the members of Python's."""
    members = (_Member * 64).in_dll(_library(), "cudnn_ctypes_properties")
    filled = cudaDeviceProp()
    status = cudaGetDeviceProperties(ctypes.byref(filled), device)
    for member in members:
        if member.name is None:
            break
        value = getattr(cudaDeviceProp, member.name.decode())
        place = ctypes.addressof(filled) + value.offset
        ctypes.memmove(target.value + member.offset, place, min(member.size, value.size))
    return status


# --- values --------------------------------------------------------------------------------------


@functools.cache
def _text(text: str) -> Any:
    return ctypes.create_string_buffer(text.encode())


def _returned(result: Any) -> Any:
    """A number, or the address of a text that lives on."""
    return ctypes.addressof(_text(result)) if isinstance(result, str) else result


def _converter(parameter: Parameter | Kind) -> _Convert:
    """What makes the Python object of an argument of C."""
    if isinstance(parameter, Parameter):
        return _of_declaration(parameter)
    if parameter.handle:
        return functools.partial(_handle, parameter.handle)
    if parameter.ctype is not ctypes.c_void_p:
        return _unchanged
    return lambda address: None if address is None else CheckedAddress(address)


def _unchanged(value: Any) -> Any:
    return value


def _type_memory(parameters: Sequence[Any], arguments: list[Any]) -> None:
    """Make numbers of the addresses of alpha and beta, and arrays of those of arrays.

    Their types and lengths follow from other arguments; without them the address is left.
    """
    given = {each.name: value for each, value in zip(parameters, arguments, strict=True)}
    for at, parameter in enumerate(parameters):
        kind, value = parameter.type, arguments[at]
        if value and kind.kind == "scalar" and not kind.pads:
            data_type = records.scalar_type(
                [records.record(given[name]) for name in parameter.described_by]
            )
            if data_type is not None:
                arguments[at] = host_scalar_type(data_type).from_address(value.value)
        elif value and kind.kind == "array" and kind.length and not kind.lent:
            count = eval(kind.length, {}, given)
            if 0 < count <= _LONGEST_ARRAY:
                array = storage_type(kind.base) * count
                arguments[at] = array.from_address(ctypes.cast(value, ctypes.c_void_p).value)


_LONGEST_ARRAY = 1 << 20  # elements


def _of_declaration(parameter: Parameter) -> _Convert:
    kind, base = parameter.type.kind, parameter.type.base
    if kind in ("device", "host", "labelled", "scalar"):
        return lambda address: None if address is None else ctypes.c_void_p(address)
    if kind == "value":
        return _of_value(base)
    storage = storage_type(base)
    if kind == "pointer" and issubclass(base, OpaquePointer):
        return functools.partial(_Created, base)
    if kind == "pointer":
        return lambda address: None if address is None else storage.from_address(address)
    pointer = ctypes.POINTER(storage)
    return lambda address: None if address is None else ctypes.cast(address, pointer)


def _of_value(base: Any) -> _Convert:
    if base is raw.cudnnStatus_t and _old():
        return _new_status
    if issubclass(base, CudnnEnum):
        return lambda value: base(value)
    if issubclass(base, OpaquePointer):
        return functools.partial(_handle, base)
    if issubclass(base, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return lambda address: None if address is None else base(address)
    if issubclass(base, ctypes.Structure):  # an enumerator in a union, in the argument itself
        return lambda value: base.from_buffer_copy(int(value or 0).to_bytes(8, "little"))
    return _unchanged


_objects: dict[int, OpaquePointer] = {}
"""The variables of Python that hold the program's handles and descriptors, by address."""

_MOST_OBJECTS = 1 << 16


def _handle(kind: Any, address: int | None) -> Any:
    """The variable that holds a handle of the program, or a new one."""
    known = _objects.get(address or 0)
    if known is not None and type(known) is kind and known.value == address:
        return known
    handle = kind()
    ctypes.c_void_p.from_buffer(handle).value = address  # not `handle.value`: it is no new object
    return handle


class _Created:
    """An out parameter of a handle: a variable of Python, which lives as long as the handle."""

    def __init__(self, kind: Any, address: int | None) -> None:
        self.variable: Any = None if address is None else kind()
        self.address = address

    def put(self) -> None:
        """Give the program the handle."""
        handle = self.variable
        if handle is not None and handle.value is not None:
            ctypes.c_void_p.from_address(self.address or 0).value = handle.value
            if len(_objects) >= _MOST_OBJECTS:
                _objects.clear()
            _objects[handle.value] = handle
