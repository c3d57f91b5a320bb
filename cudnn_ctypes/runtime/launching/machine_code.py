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
import mmap
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_MACHINE_CODE"
_READABLE_EXECUTABLE = 5  # PROT_READ | PROT_EXEC

_REGISTERS = {"x86_64": 6, "aarch64": 8}
"""How many integers C functions take in registers. There are eight for floating-point numbers."""

_CODE = {
    "x86_64": (
        "535541544155415641574883ec08488d5f20488d7368488b0e4883c60848ffc9780f488b06488338000f8500"
        "010000ebe8488b0e4883c60848ffc9780f488b06488338000f84e5000000ebe84989f5488b0e4883c60848ff"
        "c97808488b0648ff00ebefff134889c54531e44989de4c037360498b4e08498d7610488d04cd000000004829"
        "c44889e7f348a54c8d7e70f30f7e4630f30f7e4e38f30f7e5640f30f7e5e48f30f7e6650f30f7e6e58f30f7e"
        "7660f30f7e7e684889f0488b38488b7008488b5010488b48184c8b40204c8b482831c041ff16498b4e08488d"
        "24cc4d89fe85c0755349ffc44c3b63587284e877000000488b0e4883c60848ffc97816488b064883380074ee"
        "488b7b48ff53184889c7ff5330488b7b50ff5328488b43504883c408415f415e415d415c5d5bc3488b7b38ff"
        "5318ebe84189c6e82a00000049c1e4204b8d3c34ff53104989c6488b7b404889c631d231c0ff53204989c44c"
        "89f7ff53304c89e0ebb64883ec084889efff53084c89ee488b0e4883c60848ffc97808488b0648ff08ebef48"
        "83c408c3"
    ),
    "aarch64": (
        "fd7bbca9f35301a9f55b02a9f76303a9fd0300911380009161a20191228440f8420400f1a4000054238440f8"
        "630040f9030900b5fbffff17228440f8420400f1a4000054238440f8630040f9230800b4fbffff17f60301aa"
        "228440f8420400f1c4000054238440f8640040f984040091640000f9faffff17680240f900013fd6f40300aa"
        "150080d2773240f97702178be90640f9ea420091ff6f29cbeb030091290500f1840000544c8540f86c8500f8"
        "fcffff1758010291400540a9420d41a9441542a9461d43a94005446d420d456d4415466d461d476de80240f9"
        "00013fd6bf030091f70318aac0030035b5060091692e40f9bf0209ebc3fcff542a000094228440f8420400f1"
        "24010054238440f8630040f983ffffb4602640f9680e40f900013fd6681a40f900013fd6602a40f9681640f9"
        "00013fd6602a40f9f76343a9f55b42a9f35341a9fd7bc4a8c0035fd6601e40f9680e40f900013fd6f8ffff17"
        "f703002a10000094e08215aa680a40f900013fd6f70300aae10300aa602240f9020080d2681240f900013fd6"
        "f50300aae00317aa681a40f900013fd6e00315aae7ffff17fe0f1ff8e00314aa680640f900013fd6e10316aa"
        "228440f8420400f1c4000054238440f8640040f9840400d1640000f9faffff17fe0741f8c0035fd6"
    ),
}
"""A C function ``PyObject *launch(PyObject *table, PyObject *)``, as ``python -m
tools.machine_code`` prints it: assembled from tools/machine_code. The table is a bytes object."""


class FixedCall(NamedTuple):
    """A C function and its arguments, as they lie in registers and on the stack.

    - `address`: of the function, which returns 0 for success.
    - `integers`, `reals`, `stack`: words of 64 bits.
    """

    address: int
    integers: list[int]
    reals: list[int]
    stack: list[int]


class Words(NamedTuple):
    """Addresses of words of 64 bits.

    - `zeros`: if one of these is not 0, the slow way is taken.
    - `closed`: the same; they are looked at after the calls, too, when another thread may have
      closed what the calls use.
    - `pointers`: if one of these is 0 the slow way is taken, too. They are looked at after the
      others.
    - `busy`: they are counted up while C may use what belongs to them.
    """

    zeros: Sequence[int] = ()
    closed: Sequence[int] = ()
    pointers: Sequence[int] = ()
    busy: Sequence[int] = ()


class _Memory:
    """Code in memory of its own, which is freed with it."""

    def __init__(self, code: bytes) -> None:
        self._mapped = mmap.mmap(
            -1,
            len(code),
            flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
            prot=mmap.PROT_READ | mmap.PROT_WRITE,
        )
        self._mapped.write(code)
        self.address: int = ctypes.addressof(ctypes.c_char.from_buffer(self._mapped))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        if protect(self.address, len(code), _READABLE_EXECUTABLE):
            raise OSError(ctypes.get_errno(), "mprotect refused to make memory executable")


@functools.cache
def is_available() -> bool:
    """Whether there can be machine code here."""
    if os.environ.get(ENVIRONMENT_VARIABLE, "").strip() == "0" or sys.platform != "linux":
        return False
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    if platform.machine() not in _CODE or struct.calcsize("P") != 8 or bytes.__basicsize__ != 33:
        return False
    try:
        _definition()
        return _count_in({1: 1, 2: 2}) == _count_in({1, 2}) == 2 and _words([7], {}) == [(0, 7)]
    except (OSError, MemoryError):
        return False


def _count_in(container: dict[Any, Any] | set[Any]) -> int:
    return ctypes.c_ssize_t.from_address(count_address(container)).value


def count_address(container: dict[Any, Any] | set[Any]) -> int:
    """Where CPython keeps the number of elements of a dict or set."""
    return id(container) + object.__basicsize__ + 8 * isinstance(container, set)


_C_FUNCTION: Any = ctypes.CFUNCTYPE(None).__base__


@functools.lru_cache(maxsize=256)
def _noting(types: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """A C function of these types for ctypes, and where it notes what it is given last."""
    noted: list[Any] = []

    def note(*arguments: Any) -> int:
        noted[:] = arguments
        return 0

    callback = ctypes.PYFUNCTYPE(ctypes.c_int, *types)(note)
    address = ctypes.cast(callback, ctypes.c_void_p).value or 0
    function: Any = ctypes.PyDLL(None)._FuncPtr(address)  # which keeps the GIL
    function.callback = callback
    return function, noted


def _words(arguments: Sequence[Any], reals: Mapping[int, Any]) -> list[tuple[int, int]]:
    """Each argument as ctypes passes it: whether a floating-point number, and its word."""
    types = [reals.get(place, ctypes.c_uint64) for place in range(len(arguments))]
    function, noted = _noting(tuple(types))
    function(*arguments)  # held by the GIL, as is what it notes
    words = []
    for place, value in enumerate(noted):
        data = bytes(types[place](value)).ljust(8, b"\0")
        words.append((int(place in reals), int.from_bytes(data, "little")))
    return words


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


def _table(calls: Sequence[FixedCall], words: Words, objects: Sequence[Any]) -> bytes:
    """The table that the code reads: functions, objects, lists of words, and the calls."""
    head = [ctypes.cast(ctypes.pythonapi[n], ctypes.c_void_p).value or 0 for n in _FUNCTIONS]
    head += map(id, objects)
    lists: list[int] = []
    for each in ((*words.zeros, *words.closed), words.pointers, words.busy, words.closed):
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
    words: Words,
    slow: Callable[[], Any],
    failed: Callable[[int], Any],
    late: Callable[[], Any] = tuple,
    result: Any = None,
    kept: Any = None,
) -> Callable[[], Any] | None:
    """A Python function of no arguments that makes the calls with the GIL released.

    - `calls`: at least one.
    - `words`: whose addresses `kept` keeps.
    - `slow`: called instead where `words` say it.
    - `failed`: called for a status other than 0, with ``index of the call << 32 | status``; no call
      follows that one. Its result is returned.
    - `late`: called after the calls if `words` say that what they use was closed meanwhile.
    - `result`: what the function returns otherwise.
    - `kept`: what lives as long as the function.

    Returns None where there can be no machine code.
    """
    if not is_available():
        return None
    objects = slow, failed, late, result
    table = _table(calls, words, objects)
    # CPython keeps two objects for a builtin function: what its C function is given, and a module.
    function: Callable[[], Any] = _new_function()(
        ctypes.byref(_definition()), table, (objects, kept)
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
    memory = _Memory(bytes.fromhex(_CODE[platform.machine()]))
    definition = _Definition(b"launch", memory.address, _NO_ARGUMENTS, None)
    vars(definition)["memory"] = memory
    return definition


@functools.cache
def _new_function() -> Any:
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.POINTER(_Definition), ctypes.py_object, ctypes.py_object
    )
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))
