"""C calls with fixed arguments as a Python function that is machine code.

ctypes converts arguments at each call, which takes longer than everything else that a bound launch
does. The code here has them as numbers in a table: it looks at a few words of memory, releases the
GIL, makes the calls, and takes the GIL again. Memory is written first and made executable then,
never both at once; where the system refuses, or with ``CUDNN_CTYPES_MACHINE_CODE=0``, there is no
such code.
"""

from __future__ import annotations

import ctypes
import functools
import json
import mmap
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cudnn_ctypes.resource import Pointers

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_MACHINE_CODE"
_READABLE_EXECUTABLE = 5  # PROT_READ | PROT_EXEC

_REGISTERS = {"x86_64": 6, "aarch64": 8}
"""How many integers C functions take in registers. There are eight for floating-point numbers."""


def code(machine: str) -> bytes:
    """A C function ``PyObject *launch(PyObject *table, PyObject *)``; the table is a bytes object.

    ``python -m tools.machine_code`` writes it, assembled from the files beside that.
    """
    file = Path(__file__).with_name("machine_code.json")
    return bytes.fromhex("".join(json.loads(file.read_text("utf-8"))[machine]))


class FixedCall(NamedTuple):
    """A C function and its arguments, as they lie in registers and on the stack.

    - `address`: of the function, which returns 0 for success.
    - `integers`, `reals`, `stack`: words of 64 bits.
    """

    address: int
    integers: list[int]
    reals: list[int]
    stack: list[int]


def _executable(code: bytes) -> tuple[mmap.mmap, int]:
    """Memory of its own with code in it, which is freed with that, and its address."""
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    mapped = mmap.mmap(-1, len(code), flags=private, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    mapped.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if protect(address, len(code), _READABLE_EXECUTABLE):
        raise OSError(ctypes.get_errno(), "mprotect refused to make memory executable")
    return mapped, address


@functools.cache
def is_available() -> bool:
    """Whether there can be machine code here."""
    if os.environ.get(ENVIRONMENT_VARIABLE, "").strip() == "0" or sys.platform != "linux":
        return False
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    if platform.machine() not in _REGISTERS or struct.calcsize("P") != 8:
        return False
    try:
        _definition()
        as_known = bytes.__basicsize__ == 33 and _count_in({1: 1, 2: 2}) == _count_in({1, 2}) == 2
        return as_known and _words([7], {}) == [(False, 7)]
    except (OSError, MemoryError):
        return False


def _count_in(container: dict[Any, Any] | set[Any]) -> int:
    return ctypes.c_ssize_t.from_address(count_address(container)).value


def count_address(container: dict[Any, Any] | set[Any]) -> int:
    """Where CPython keeps the number of elements of a dict or set."""
    return id(container) + object.__basicsize__ + 8 * isinstance(container, set)


_C_FUNCTION: Any = ctypes.CFUNCTYPE(None).__base__


def _words(arguments: Sequence[Any], reals: Mapping[int, Any]) -> list[tuple[bool, int]]:
    """Each argument as ctypes passes it: whether a floating-point number, and its word."""
    types = [reals.get(place, ctypes.c_uint64) for place in range(len(arguments))]
    noted: list[Any] = []
    callback = ctypes.PYFUNCTYPE(None, *types)(lambda *each: noted.extend(each))
    function: Any = ctypes.PyDLL(None)._FuncPtr(ctypes.cast(callback, ctypes.c_void_p).value or 0)
    function(*arguments)  # without types of its own
    data = (bytes(kind(value)).ljust(8, b"\0") for kind, value in zip(types, noted, strict=True))
    return [(place in reals, int.from_bytes(each, "little")) for place, each in enumerate(data)]


def fixed_call(
    symbol: Any, arguments: Sequence[Any], reals: Mapping[int, Any] | None = None
) -> FixedCall | None:
    """A C call with arguments as ctypes passes them, without its types; the caller keeps them.

    - `symbol`: None is returned for anything else.
    - `reals`: the ctypes types of floating-point numbers by value, by their places.
    """
    if not isinstance(symbol, _C_FUNCTION):
        return None
    registers: tuple[list[int], list[int]] = ([], [])
    stack: list[int] = []
    for is_real, word in _words(arguments, reals or {}):
        room = 8 if is_real else _REGISTERS[platform.machine()]
        full = len(registers[is_real]) == room
        (stack if full else registers[is_real]).append(word)
    return FixedCall(ctypes.cast(symbol, ctypes.c_void_p).value or 0, *registers, stack)


_FUNCTIONS = (
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyLong_FromLongLong",
    "PyObject_CallNoArgs",
    "PyObject_CallFunctionObjArgs",  # Python 3.10 has no symbol for one argument
    "Py_IncRef",
    "Py_DecRef",
)


def _table(
    calls: Sequence[FixedCall],
    objects: Sequence[Any],
    empty: Sequence[dict[Any, Any] | set[Any]],
    pointers: Sequence[Pointers],
) -> bytes:
    """The table that the code reads: functions, objects, lists of addresses, and the calls.

    The addresses are those of words of 64 bits: what must be 0, what must not, what is counted up
    during the calls, and what must be 0 after them.
    """
    closed = [ctypes.addressof(each.closed) for each in pointers]
    open_ = [ctypes.addressof(one) for each in pointers for one in each.arguments]
    busy = [ctypes.addressof(each.busy) for each in pointers]
    head = [ctypes.cast(ctypes.pythonapi[n], ctypes.c_void_p).value or 0 for n in _FUNCTIONS]
    head += map(id, objects)
    lists: list[int] = []
    for each in ([*map(count_address, empty), *closed], open_, busy, closed):
        lists += [len(each), *each]
    head += [len(calls), 8 * (len(head) + 2 + len(lists))]
    table, room = [*head, *lists], _REGISTERS[platform.machine()]
    for call in calls:
        stack = [*call.stack, *[0] * (len(call.stack) % 2)]  # aligned to 16 bytes
        table += [call.address, len(stack), *stack]
        table += [*call.integers, *[0] * (room - len(call.integers))]
        table += [*call.reals, *[0] * (8 - len(call.reals))]
    return struct.pack(f"<{len(table)}Q", *table)


def function_of_calls(
    calls: Sequence[FixedCall],
    *,
    slow: Callable[[], Any],
    failed: Callable[[int], Any],
    empty: Sequence[dict[Any, Any] | set[Any]] = (),
    pointers: Sequence[Pointers] = (),
    result: Any = None,
    kept: Any = None,
) -> Callable[[], Any] | None:
    """A Python function of no arguments that makes the calls with the GIL released.

    - `calls`: at least one.
    - `slow`: called instead where one of `empty` is not, or one of `pointers` is closed or NULL.
    - `failed`: called for a status other than 0, with ``index of the call << 32 | status``; no call
      follows that one. Its result is returned.
    - `pointers`: of what the calls use; what another thread closes meanwhile lives until then.
    - `result`: what the function returns otherwise.
    - `kept`: what lives as long as the function.

    Returns None where there can be no machine code.
    """
    if not is_available():
        return None

    def let_go(*told: int) -> Any:
        for each in pointers:
            each.let_go()
        return failed(*told) if told else None

    objects = slow, let_go, let_go, result
    table = _table(calls, objects, empty, pointers)
    # CPython keeps two objects for a builtin function: what its C function is given, and a module.
    function: Callable[[], Any] = _new_function()(
        ctypes.byref(_definition()), table, (objects, empty, kept)
    )
    return function


_NO_ARGUMENTS = 4  # METH_NOARGS


class _Definition(ctypes.Structure):
    """``PyMethodDef``"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


@functools.cache
def _definition() -> _Definition:
    memory, address = _executable(code(platform.machine()))
    definition = _Definition(b"launch", address, _NO_ARGUMENTS, None)
    vars(definition)["memory"] = memory
    return definition


@functools.cache
def _new_function() -> Any:
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.POINTER(_Definition), ctypes.py_object, ctypes.py_object
    )
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))
