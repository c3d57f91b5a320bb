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

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_MACHINE_CODE"
_READABLE_EXECUTABLE = 5  # PROT_READ | PROT_EXEC


class FixedCall(NamedTuple):
    """A C function and its arguments, as they lie in registers and on the stack.

    - `address`: of the function, which returns 0 for success.
    - `integers`, `doubles`, `stack`: words of 64 bits.
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


class _Writer:
    """Code with jumps to labels; a subclass writes the instructions of one kind of machine.

    Registers are numbers: of arguments, the result, and three that functions leave alone, for the
    state of the thread, a status, and which call it is of. `begin` and `end` save and restore them.
    """

    def __init__(self) -> None:
        self.code: bytearray = bytearray()
        self.labels: dict[str, int] = {}
        self.jumps: list[tuple[int, str]] = []

    def put(self, code: str | bytes) -> None:
        self.code += bytes.fromhex(code) if isinstance(code, str) else code

    def label(self, name: str) -> None:
        self.labels[name] = len(self.code)


class X86(_Writer):
    """x86-64, System V calling convention. rax and r11 are for whatever is needed."""

    arguments = (7, 6, 2, 1, 8, 9)  # rdi, rsi, rdx, rcx, r8, r9
    result = 0  # rax
    state, status, which = 3, 5, 12  # rbx, rbp, r12
    begin = "53 55 4154"  # push rbx; push rbp; push r12
    end = "415c 5d 5b c3"  # pop r12; pop rbp; pop rbx; ret

    def note_arguments(self, buffer: int, stack: int) -> None:
        """A C function that stores what it is given in memory, and returns 0.

        Its integer registers, then eight of doubles, then `stack` words of the stack.
        """
        self.set(self.result, buffer)
        # mov [rax + 8 i], rdi, rsi, rdx, rcx, r8, r9
        self.put("488938 48897008 48895010 48894818 4c894020 4c894828")
        for i in range(8):  # movq [rax + 48 + 8 i], xmm<i>
            self.put(bytes((0x66, 0x0F, 0xD6, 0x40 | i << 3, 48 + 8 * i)))
        for i in range(stack):  # mov rcx, [rsp + 8 + 8 i]; mov [rax + 112 + 8 i], rcx
            self.put(bytes.fromhex("488b8c24") + struct.pack("<i", 8 + 8 * i))
            self.put(bytes.fromhex("488988") + struct.pack("<i", 112 + 8 * i))
        self.put("31c0 c3")

    def set(self, register: int, word: int) -> None:
        self.put(bytes((0x48 | register >> 3, 0xB8 | register & 7)) + struct.pack("<Q", word))

    def set_double(self, register: int, word: int) -> None:
        self.set(self.result, word)
        self.put(bytes((0x66, 0x48, 0x0F, 0x6E, 0xC0 | register << 3)))  # movq xmm<i>, rax

    def set_on_stack(self, index: int, word: int) -> None:
        self.set(self.result, word)
        self.put(bytes.fromhex("48898424") + struct.pack("<i", 8 * index))  # mov [rsp + 8 i], rax

    def set_told(self) -> None:
        """Set the first argument to ``which << 32 | status``."""
        # mov rdi, r12; shl rdi, 32; mov eax, ebp; or rdi, rax
        self.put("4c89e7 48c1e720 89e8 4809c7")

    def move(self, target: int, source: int) -> None:
        extended = 0x48 | source >> 3 << 2 | target >> 3
        self.put(bytes((extended, 0x89, 0xC0 | (source & 7) << 3 | target & 7)))

    def move_stack(self, distance: int) -> None:  # add rsp, distance
        self.put(bytes.fromhex("4881c4") + struct.pack("<i", distance))

    def call(self, address: int) -> None:
        self.set(11, address)
        self.put("31c0 41ffd3")  # xor eax, eax: nothing in vector registers, if it asks; call r11

    def fail(self, index: int) -> None:
        """Jump to "failed" for a result other than 0, with the call's index."""
        # test eax, eax; jz on; mov r12d, index; jmp failed; on:
        self.put(bytes.fromhex("85c0 740b 41bc") + struct.pack("<I", index))
        self.jump("failed")

    def jump(self, label: str, opcode: str = "e9") -> None:
        self.put(opcode)
        self.jumps.append((len(self.code), label))
        self.put(b"\0\0\0\0")

    def set_distance(self, at: int, distance: int) -> None:
        struct.pack_into("<i", self.code, at, distance - 4)

    def look(self, addresses: Sequence[int], label: str, *, for_zero: bool = False) -> None:
        """Jump if a word is not 0, or `for_zero` if it is."""
        for address in addresses:
            self.set(self.result, address)
            self.put("48833800")  # cmp qword ptr [rax], 0
            self.jump(label, "0f84" if for_zero else "0f85")

    def count(self, addresses: Sequence[int], step: int) -> None:
        """Add 1 or -1 to words."""
        for address in addresses:
            self.set(self.result, address)
            self.put("48ff00" if step > 0 else "48ff08")  # inc, dec qword ptr [rax]


class Arm64(_Writer):
    """aarch64. x9, x10 and x16 are for whatever is needed."""

    arguments = range(8)
    result = 0
    state, which, status = 19, 20, 21
    # stp x29, x30, [sp, -48]!; stp x19, x20, [sp, 16]; str x21, [sp, 32]
    begin = "fd7bbda9 f35301a9 f51300f9"
    # ldr x21, [sp, 32]; ldp x19, x20, [sp, 16]; ldp x29, x30, [sp], 48; ret
    end = "f51340f9 f35341a9 fd7bc3a8 c0035fd6"

    def _words(self, *words: int) -> None:
        self.put(struct.pack(f"<{len(words)}I", *words))

    def note_arguments(self, buffer: int, stack: int) -> None:
        self.set(9, buffer)
        for i in range(8):  # str x<i>, [x9, 8 i]; str d<i>, [x9, 64 + 8 i]
            self._words(0xF9000000 | i << 10 | 9 << 5 | i, 0xFD000000 | 8 + i << 10 | 9 << 5 | i)
        for i in range(stack):  # ldr x10, [sp, 8 i]; str x10, [x9, 128 + 8 i]
            self._words(0xF94003EA | i << 10, 0xF900012A | 16 + i << 10)
        self._words(0x52800000, 0xD65F03C0)  # mov w0, 0; ret

    def set(self, register: int, word: int) -> None:
        """movz, and movk for each further part of 16 bits that is not 0"""
        self._words(0xD2800000 | (word & 0xFFFF) << 5 | register)
        for i in (1, 2, 3):
            if part := word >> 16 * i & 0xFFFF:
                self._words(0xF2800000 | i << 21 | part << 5 | register)

    def set_double(self, register: int, word: int) -> None:
        self.set(9, word)
        self._words(0x9E670120 | register)  # fmov d<i>, x9

    def set_on_stack(self, index: int, word: int) -> None:
        self.set(9, word)
        self._words(0xF90003E9 | index << 10)  # str x9, [sp, 8 i]

    def set_told(self) -> None:
        self._words(0x2A1503E0, 0xAA148000)  # mov w0, w21; orr x0, x0, x20, lsl 32

    def move(self, target: int, source: int) -> None:
        if target != source:
            self._words(0xAA0003E0 | source << 16 | target)

    def move_stack(self, distance: int) -> None:  # sub or add sp, sp, distance
        self._words((0xD10003FF if distance < 0 else 0x910003FF) | abs(distance) << 10)

    def call(self, address: int) -> None:
        self.set(16, address)
        self._words(0xD63F0200)  # blr x16

    def fail(self, index: int) -> None:
        self.set(self.which, index)
        self._words(0x34000040)  # cbz w0, on
        self.jump("failed")  # on:

    def jump(self, label: str, word: int = 0x14000000) -> None:  # b
        self.jumps.append((len(self.code), label))
        self._words(word)

    def set_distance(self, at: int, distance: int) -> None:
        (word,) = struct.unpack_from("<I", self.code, at)
        is_far = word >> 26 == 0b000101  # b: 26 bits; cbnz: 19 bits, above the register
        field = distance >> 2 & 0x3FFFFFF if is_far else (distance >> 2 & 0x7FFFF) << 5
        struct.pack_into("<I", self.code, at, word | field)

    def look(self, addresses: Sequence[int], label: str, *, for_zero: bool = False) -> None:
        for address in addresses:
            self.set(9, address)
            self._words(0xF9400129)  # ldr x9, [x9]
            self.jump(label, 0xB4000009 if for_zero else 0xB5000009)  # cbz, cbnz x9, label

    def count(self, addresses: Sequence[int], step: int) -> None:
        add = 0x9100054A if step > 0 else 0xD100054A  # add, sub x10, x10, 1
        for address in addresses:
            self.set(9, address)
            self._words(0xF940012A, add, 0xF900012A)  # ldr x10, [x9]; …; str x10, [x9]


def _write_launch(
    writer: X86 | Arm64, calls: Sequence[FixedCall], words: Words, to: Addresses
) -> None:
    """Write the function that `function_of_calls` makes."""
    first, second, third, *_ = writer.arguments
    writer.put(writer.begin)
    writer.look((*words.zeros, *words.closed), "slow")
    writer.look(words.pointers, "slow", for_zero=True)
    writer.count(words.busy, 1)
    writer.call(to.save_thread)
    writer.move(writer.state, writer.result)
    for i, call in enumerate(calls):
        _write_call(writer, i, call)
    writer.move(first, writer.state)
    writer.call(to.restore_thread)
    writer.count(words.busy, -1)
    writer.look(words.closed, "late")
    writer.label("done")
    writer.set(first, to.result)
    writer.call(to.incref)
    writer.set(writer.result, to.result)
    writer.put(writer.end)
    writer.label("late")
    writer.set(first, to.late)
    writer.call(to.call_no_args)
    writer.move(first, writer.result)
    writer.call(to.decref)
    writer.jump("done")
    writer.label("failed")
    writer.move(writer.status, writer.result)
    writer.move(first, writer.state)
    writer.call(to.restore_thread)
    writer.count(words.busy, -1)
    writer.set_told()
    writer.call(to.from_long)
    writer.move(writer.status, writer.result)  # an int of Python from here on
    writer.move(second, writer.result)
    writer.set(first, to.failed)
    writer.set(third, 0)  # no more arguments
    writer.call(to.call_with)
    writer.move(writer.which, writer.result)
    writer.move(first, writer.status)
    writer.call(to.decref)
    writer.move(writer.result, writer.which)
    writer.put(writer.end)
    writer.label("slow")
    writer.set(first, to.slow)
    writer.call(to.call_no_args)
    writer.put(writer.end)


def _write_call(writer: X86 | Arm64, index: int, call: FixedCall) -> None:
    room = (8 * len(call.stack) + 15) // 16 * 16
    if room:
        writer.move_stack(-room)
    for i, word in enumerate(call.stack):
        writer.set_on_stack(i, word)
    for i, word in enumerate(call.doubles):
        writer.set_double(i, word)
    for register, word in zip(writer.arguments, call.integers, strict=False):
        writer.set(register, word)
    writer.call(call.address)
    if room:
        writer.move_stack(room)
    writer.fail(index)


def _finished(writer: X86 | Arm64) -> bytes:
    """The code, with the distances of its jumps."""
    for at, name in writer.jumps:
        writer.set_distance(at, writer.labels[name] - at)
    return bytes(writer.code)


_WRITERS: dict[str, type[X86] | type[Arm64]] = {"x86_64": X86, "aarch64": Arm64}


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
    memory = _Memory(_finished(writer))
    function: Any = ctypes.PyDLL(None)._FuncPtr(memory.address)  # which keeps the GIL
    function.memory = memory
    return function


def fixed_call(symbol: Any, arguments: Sequence[Any], doubles: int = 0) -> FixedCall | None:
    """A C call with arguments as ctypes passes them, without its types; the caller keeps them.

    - `symbol`: None is returned for anything else.
    - `doubles`: how many arguments are floating-point numbers by value.
    """
    if not isinstance(symbol, _C_FUNCTION) or len(arguments) > _MOST_ARGUMENTS:
        return None
    registers = len(_WRITERS[platform.machine()].arguments)
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
    writer = _WRITERS[platform.machine()]()
    _write_launch(writer, calls, words, _addresses(slow, failed, late, result))
    memory = _Memory(_finished(writer))
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
