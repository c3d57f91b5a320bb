"""C calls with fixed arguments as a Python function that is machine code.

ctypes converts arguments at each call, which takes longer than everything else that a bound launch
does. The code here has them as numbers: it looks at a few words of memory, releases the GIL, makes
the calls, and takes the GIL again. Memory is written first and made executable then, never both at
once; where the system refuses, or with ``CUDNN_CTYPES_MACHINE_CODE=0``, there is no such code.
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
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["X86", "Arm64", "FixedCall", "Writer", "fixed_call", "function_of_calls", "is_available"]

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_MACHINE_CODE"
_READABLE_EXECUTABLE = 5  # PROT_READ | PROT_EXEC


class FixedCall(NamedTuple):
    """A C function and its arguments, as they lie in registers and on the stack.

    Attributes
    ----------
    address : int
        Of the function, which returns 0 for success.
    integers, doubles, stack : tuple of int
        Words of 64 bits.
    """

    address: int
    integers: tuple[int, ...]
    doubles: tuple[int, ...]
    stack: tuple[int, ...]


class Addresses(NamedTuple):
    """Functions of Python and objects that the code refers to."""

    save_thread: int
    restore_thread: int
    from_long: int
    call_no_args: int
    call_with: int
    incref: int
    decref: int
    slow: int
    failed: int
    late: int
    result: int


class Words(NamedTuple):
    """Addresses of words of 64 bits.

    Attributes
    ----------
    zeros : sequence of int
        If one of these is not 0, the slow way is taken.
    closed : sequence of int
        The same; they are looked at after the calls, too, when another thread may have closed what
        the calls use.
    pointers : sequence of int
        If one of these is 0 the slow way is taken, too. They are looked at after the others.
    busy : sequence of int
        They are counted up while C may use what belongs to them.
    """

    zeros: Sequence[int] = ()
    closed: Sequence[int] = ()
    pointers: Sequence[int] = ()
    busy: Sequence[int] = ()


class Writer:
    """Code with jumps to labels; a subclass writes the instructions of one kind of machine."""

    integer_registers: int
    machine: str

    def __init__(self) -> None:
        self.code: bytearray = bytearray()
        self.labels: dict[str, int] = {}
        self.jumps: list[tuple[int, str]] = []

    def put(self, code: str | bytes) -> None:
        self.code += bytes.fromhex(code) if isinstance(code, str) else code

    def label(self, name: str) -> None:
        self.labels[name] = len(self.code)

    def finished(self) -> bytes:
        """The code, with the distances of its jumps."""
        for at, name in self.jumps:
            self.set_distance(at, self.labels[name] - at)
        return bytes(self.code)

    def set_distance(self, at: int, distance: int) -> None:
        raise NotImplementedError

    def note_arguments(self, buffer: int, stack: int) -> None:
        """A C function that stores what it is given in memory, and returns 0.

        Its integer registers, then eight of doubles, then `stack` words of the stack.
        """
        raise NotImplementedError

    def launch(self, calls: Sequence[FixedCall], words: Words, to: Addresses) -> None:
        """The whole function: see `function_of_calls`."""
        raise NotImplementedError


class X86(Writer):
    """x86-64, System V calling convention. rbx: thread state; ebp: status; r12: which call."""

    machine = "x86_64"
    integer_registers = 6
    _MOV = ("48bf", "48be", "48ba", "48b9", "49b8", "49b9")  # rdi, rsi, rdx, rcx, r8, r9
    _RAX, _RDI = "48b8", "48bf"
    _RETURN = "415c 5d 5b c3"  # pop r12; pop rbp; pop rbx; ret

    def set_distance(self, at: int, distance: int) -> None:
        struct.pack_into("<i", self.code, at, distance - 4)

    def _set(self, mov: str, word: int) -> None:
        self.put(bytes.fromhex(mov) + struct.pack("<Q", word))

    def _call(self, address: int) -> None:
        self._set("49bb", address)  # mov r11, address
        self.put("31c0 41ffd3")  # xor eax, eax: nothing in vector registers, if it asks; call r11

    def _jump(self, opcode: str, label: str) -> None:
        self.put(opcode)
        self.jumps.append((len(self.code), label))
        self.put(b"\0\0\0\0")

    def _each(self, addresses: Sequence[int], instruction: str) -> None:
        for address in addresses:
            self._set(self._RAX, address)
            self.put(instruction)

    def _unless_zero(self, addresses: Sequence[int], label: str) -> None:
        for address in addresses:
            self._each((address,), "48833800")  # cmp qword ptr [rax], 0
            self._jump("0f85", label)

    def note_arguments(self, buffer: int, stack: int) -> None:
        self._set(self._RAX, buffer)
        # mov [rax + 8 i], rdi, rsi, rdx, rcx, r8, r9
        self.put("488938 48897008 48895010 48894818 4c894020 4c894828")
        for i in range(8):  # movq [rax + 48 + 8 i], xmm<i>
            self.put(bytes((0x66, 0x0F, 0xD6, 0x40 | i << 3, 48 + 8 * i)))
        for i in range(stack):  # mov rcx, [rsp + 8 + 8 i]; mov [rax + 112 + 8 i], rcx
            self.put(bytes.fromhex("488b8c24") + struct.pack("<i", 8 + 8 * i))
            self.put(bytes.fromhex("488988") + struct.pack("<i", 112 + 8 * i))
        self.put("31c0 c3")

    def launch(self, calls: Sequence[FixedCall], words: Words, to: Addresses) -> None:
        self.put("53 55 4154")  # push rbx; push rbp; push r12
        self._unless_zero((*words.zeros, *words.closed), "slow")
        for address in words.pointers:
            self._each((address,), "48833800")  # cmp qword ptr [rax], 0
            self._jump("0f84", "slow")
        self._each(words.busy, "48ff00")  # inc qword ptr [rax]
        self._call(to.save_thread)
        self.put("4889c3")  # mov rbx, rax
        for i, call in enumerate(calls):
            self._fixed(i, call)
        self.put("4889df")  # mov rdi, rbx
        self._call(to.restore_thread)
        self._each(words.busy, "48ff08")  # dec qword ptr [rax]
        self._unless_zero(words.closed, "late")
        self.label("done")
        self._set(self._RDI, to.result)
        self._call(to.incref)
        self._set(self._RAX, to.result)
        self.put(self._RETURN)
        self.label("late")
        self._set(self._RDI, to.late)
        self._call(to.call_no_args)
        self.put("4889c7")  # mov rdi, rax
        self._call(to.decref)
        self._jump("e9", "done")
        self.label("failed")
        self.put("89c5 4889df")  # mov ebp, eax; mov rdi, rbx
        self._call(to.restore_thread)
        self._each(words.busy, "48ff08")
        # mov rdi, r12; shl rdi, 32; mov eax, ebp; or rdi, rax
        self.put("4c89e7 48c1e720 89e8 4809c7")
        self._call(to.from_long)
        self.put("4889c5 4889c6")  # mov rbp, rax; mov rsi, rax
        self._set(self._RDI, to.failed)
        self.put("31d2")  # xor edx, edx: no more arguments
        self._call(to.call_with)
        self.put("4989c4 4889ef")  # mov r12, rax; mov rdi, rbp
        self._call(to.decref)
        self.put("4c89e0" + self._RETURN)  # mov rax, r12
        self.label("slow")
        self._set(self._RDI, to.slow)
        self._call(to.call_no_args)
        self.put(self._RETURN)

    def _fixed(self, index: int, call: FixedCall) -> None:
        room = (8 * len(call.stack) + 15) // 16 * 16
        if room:
            self.put(bytes.fromhex("4881ec") + struct.pack("<i", room))  # sub rsp, room
        for i, word in enumerate(call.stack):  # mov [rsp + 8 i], rax
            self._set(self._RAX, word)
            self.put(bytes.fromhex("48898424") + struct.pack("<i", 8 * i))
        for i, word in enumerate(call.doubles):  # movq xmm<i>, rax
            self._set(self._RAX, word)
            self.put(bytes((0x66, 0x48, 0x0F, 0x6E, 0xC0 | i << 3)))
        for mov, word in zip(self._MOV, call.integers, strict=False):
            self._set(mov, word)
        self._call(call.address)
        if room:
            self.put(bytes.fromhex("4881c4") + struct.pack("<i", room))  # add rsp, room
        self.put(bytes.fromhex("85c0 740b 41bc") + struct.pack("<I", index))
        self._jump("e9", "failed")  # test eax, eax; jz on; mov r12d, index; jmp failed; on:


class Arm64(Writer):
    """aarch64. x19: thread state; x20: which call; w21: status; x9, x16: whatever is needed."""

    machine = "aarch64"
    integer_registers = 8
    _LEAVE = 0xF94013F5, 0xA94153F3, 0xA8C37BFD  # ldr x21; ldp x19, x20; ldp x29, x30
    _RET = 0xD65F03C0

    def set_distance(self, at: int, distance: int) -> None:
        (word,) = struct.unpack_from("<I", self.code, at)
        is_far = word >> 26 == 0b000101  # b: 26 bits; cbnz: 19 bits, above the register
        field = distance >> 2 & 0x3FFFFFF if is_far else (distance >> 2 & 0x7FFFF) << 5
        struct.pack_into("<I", self.code, at, word | field)

    def _words(self, *words: int) -> None:
        self.put(struct.pack(f"<{len(words)}I", *words))

    def _set(self, register: int, word: int) -> None:
        """movz, and movk for each further part of 16 bits that is not 0"""
        self._words(0xD2800000 | (word & 0xFFFF) << 5 | register)
        for i in (1, 2, 3):
            if part := word >> 16 * i & 0xFFFF:
                self._words(0xF2800000 | i << 21 | part << 5 | register)

    def _call(self, address: int) -> None:
        self._set(16, address)
        self._words(0xD63F0200)  # blr x16

    def _jump(self, word: int, label: str) -> None:
        self.jumps.append((len(self.code), label))
        self._words(word)

    def _count(self, addresses: Sequence[int], instruction: int) -> None:
        for address in addresses:
            self._set(9, address)
            self._words(0xF940012A, instruction, 0xF900012A)  # ldr x10, [x9]; …; str x10, [x9]

    def _unless_zero(self, addresses: Sequence[int], label: str) -> None:
        for address in addresses:
            self._set(9, address)
            self._words(0xF9400129)  # ldr x9, [x9]
            self._jump(0xB5000009, label)  # cbnz x9, label

    def note_arguments(self, buffer: int, stack: int) -> None:
        self._set(9, buffer)
        for i in range(8):  # str x<i>, [x9, 8 i]; str d<i>, [x9, 64 + 8 i]
            self._words(0xF9000000 | i << 10 | 9 << 5 | i, 0xFD000000 | 8 + i << 10 | 9 << 5 | i)
        for i in range(stack):  # ldr x10, [sp, 8 i]; str x10, [x9, 128 + 8 i]
            self._words(0xF94003EA | i << 10, 0xF900012A | 16 + i << 10)
        self._words(0x52800000, self._RET)  # mov w0, 0

    def launch(self, calls: Sequence[FixedCall], words: Words, to: Addresses) -> None:
        # stp x29, x30, [sp, -48]!; stp x19, x20, [sp, 16]; str x21, [sp, 32]
        self._words(0xA9BD7BFD, 0xA90153F3, 0xF90013F5)
        self._unless_zero((*words.zeros, *words.closed), "slow")
        for address in words.pointers:
            self._set(9, address)
            self._words(0xF9400129)  # ldr x9, [x9]
            self._jump(0xB4000009, "slow")  # cbz x9, slow
        self._count(words.busy, 0x9100054A)  # add x10, x10, 1
        self._call(to.save_thread)
        self._words(0xAA0003F3)  # mov x19, x0
        for i, call in enumerate(calls):
            self._fixed(i, call)
        self._words(0xAA1303E0)  # mov x0, x19
        self._call(to.restore_thread)
        self._count(words.busy, 0xD100054A)  # sub x10, x10, 1
        self._unless_zero(words.closed, "late")
        self.label("done")
        self._set(0, to.result)
        self._call(to.incref)
        self._set(0, to.result)
        self._words(*self._LEAVE, self._RET)
        self.label("late")
        self._set(0, to.late)
        self._call(to.call_no_args)
        self._call(to.decref)
        self._jump(0x14000000, "done")  # b done
        self.label("failed")
        self._words(0x2A0003F5, 0xAA1303E0)  # mov w21, w0; mov x0, x19
        self._call(to.restore_thread)
        self._count(words.busy, 0xD100054A)
        self._words(0x2A1503E0, 0xAA148000)  # mov w0, w21; orr x0, x0, x20, lsl 32
        self._call(to.from_long)
        self._words(0xAA0003F4, 0xAA0003E1)  # mov x20, x0; mov x1, x0
        self._set(0, to.failed)
        self._words(0xAA1F03E2)  # mov x2, xzr: no more arguments
        self._call(to.call_with)
        self._words(0xAA0003F5, 0xAA1403E0)  # mov x21, x0; mov x0, x20
        self._call(to.decref)
        self._words(0xAA1503E0, *self._LEAVE, self._RET)  # mov x0, x21
        self.label("slow")
        self._set(0, to.slow)
        self._call(to.call_no_args)
        self._words(*self._LEAVE, self._RET)

    def _fixed(self, index: int, call: FixedCall) -> None:
        room = (8 * len(call.stack) + 15) // 16 * 16
        if room:
            self._words(0xD10003FF | room << 10)  # sub sp, sp, room
        for i, word in enumerate(call.stack):
            self._set(9, word)
            self._words(0xF90003E9 | i << 10)  # str x9, [sp, 8 i]
        for i, word in enumerate(call.doubles):
            self._set(9, word)
            self._words(0x9E670120 | i)  # fmov d<i>, x9
        for i, word in enumerate(call.integers):
            self._set(i, word)
        self._call(call.address)
        if room:
            self._words(0x910003FF | room << 10)  # add sp, sp, room
        self._set(20, index)
        self._words(0x34000040)  # cbz w0, on
        self._jump(0x14000000, "failed")  # b failed; on:


_WRITERS: dict[str, type[Writer]] = {each.machine: each for each in (X86, Arm64)}


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
    try:
        return _count_in({1: 1, 2: 2}) == _count_in({1, 2}) == 2 and _noted() is not None
    except (OSError, ValueError):
        return False


def _count_in(container: dict[Any, Any] | set[Any]) -> int:
    return ctypes.c_ssize_t.from_address(count_address(container)).value


def count_address(container: dict[Any, Any] | set[Any]) -> int:
    """Where CPython keeps the number of elements of a dict or set."""
    return id(container) + object.__basicsize__ + 8 * isinstance(container, set)


_C_FUNCTION: Any = ctypes.CFUNCTYPE(None).__base__
_MOST_ARGUMENTS = 48
_noted_words = (ctypes.c_uint64 * (16 + _MOST_ARGUMENTS))()


@functools.cache
def _noted() -> Any:
    """The function of `note_arguments`, for ctypes; None for another kind of machine."""
    kind = _WRITERS.get(platform.machine())
    if kind is None or struct.calcsize("P") != 8:
        return None
    writer = kind()
    writer.note_arguments(ctypes.addressof(_noted_words), _MOST_ARGUMENTS)
    memory = _Memory(writer.finished())
    function: Any = ctypes.PyDLL(None)._FuncPtr(memory.address)  # which keeps the GIL
    function.memory = memory
    return function


def fixed_call(symbol: Any, arguments: Sequence[Any], doubles: int = 0) -> FixedCall | None:
    """A C call with arguments as ctypes passes them, without its types; the caller keeps them.

    Parameters
    ----------
    symbol : ctypes function
        None is returned for anything else.
    doubles : int
        How many arguments are floating-point numbers by value.
    """
    if not isinstance(symbol, _C_FUNCTION) or len(arguments) > _MOST_ARGUMENTS:
        return None
    registers = _WRITERS[platform.machine()].integer_registers
    _noted()(*arguments)  # held by the GIL, as is the memory that it writes
    words = tuple(_noted_words)
    address = ctypes.cast(symbol, ctypes.c_void_p).value or 0
    after = registers + 8
    count = max(0, len(arguments) - registers)
    return FixedCall(
        address,
        words[: min(registers, len(arguments))],
        words[registers:after][:doubles],
        words[after : after + count],
    )


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

    Parameters
    ----------
    words : Words
        Whose addresses `kept` keeps.
    slow : callable
        Called instead where `words` say it.
    failed : callable
        Called for a status other than 0, with ``index of the call << 32 | status``; no call follows
        that one. Its result is returned.
    late : callable
        Called after the calls if `words` say that what they use was closed meanwhile.
    result
        What the function returns otherwise.
    kept
        What lives as long as the function.

    Returns
    -------
    callable or None
        None where there can be no machine code.
    """
    if not is_available():
        return None
    writer = _WRITERS[platform.machine()]()
    writer.launch(calls, words, _addresses(slow, failed, late, result))
    memory = _Memory(writer.finished())
    definition = _Definition(b"launch", memory.address, _NO_ARGUMENTS, None)
    owner = memory, definition, slow, failed, late, result, kept
    return _new_function()(ctypes.byref(definition), owner, None)  # type: ignore[no-any-return]


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
def _new_function() -> Any:
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.POINTER(_Definition), ctypes.py_object, ctypes.c_void_p
    )
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))


def _addresses(*objects: Any) -> Addresses:
    names = (
        "PyEval_SaveThread",
        "PyEval_RestoreThread",
        "PyLong_FromLongLong",
        "PyObject_CallNoArgs",
        "PyObject_CallFunctionObjArgs",  # Python 3.10 has no symbol for one argument
        "Py_IncRef",
        "Py_DecRef",
    )
    found = [ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p).value or 0 for name in names]
    return Addresses(*found, *map(id, objects))
