"""A stand-in for the NVIDIA driver's library, with which cuDNN compiles graphs without a driver.

cuDNN's engine libraries are linked against ``libcuda.so.1`` and do not load without it. Then not
even a tensor descriptor can be finalized, and cuDNN does not try again in that process.
The stub lets them load. It knows no GPU, so nothing can be executed with it. It is written here,
byte by byte, and loaded from memory: it needs no compiler and no file. It is not created if the
real driver can be loaded.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .. import raw
from ..errors import NoDeviceError
from ..raw.library import elf, loaded
from ..raw.process import new_lock


class MachineCode(Protocol):
    """Code of C functions for one kind of machine, with the calling convention of Linux."""

    def constant(self, number: int) -> bytes:
        """``unsigned f(void) { return number; }``"""

    def store_pointer(self) -> bytes:
        """``int f(void **out) { *out = (void *)16; return 0; }``"""

    def store_number(self, number: int) -> bytes:
        """``int f(int *out) { *out = number; return 0; }``"""

    def store_address(self, distance: int) -> bytes:
        """``int f(int, const char **out) { *out = text; return 0; }``"""

    def look_up(self, distance: int) -> bytes:
        """``int f(const char *name, void **out, …)``: looks a function up by its name.

        At `distance` is a table of pairs of 32-bit numbers, ended by zeros: the offsets of a name
        and of its function from the table's start. For an unknown name it stores NULL and returns
        500, CUDA_ERROR_NOT_FOUND.
        """

    def look_up_with_status(self, distance: int) -> bytes:
        """`look_up` that first writes 0 through the fifth argument unless that is NULL."""


class _X86:
    def constant(self, number: int) -> bytes:
        return b"\xb8" + struct.pack("<I", number) + b"\xc3"  # mov eax, number; ret

    def store_pointer(self) -> bytes:
        # mov qword ptr [rdi], 16; xor eax, eax; ret
        return bytes.fromhex("48c70710000000 31c0 c3")

    def store_number(self, number: int) -> bytes:
        # mov dword ptr [rdi], number; xor eax, eax; ret
        return b"\xc7\x07" + struct.pack("<I", number) + bytes.fromhex("31c0 c3")

    def store_address(self, distance: int) -> bytes:
        # lea rax, [rip + distance]; mov [rsi], rax; xor eax, eax; ret
        return b"\x48\x8d\x05" + struct.pack("<i", distance - 7) + bytes.fromhex("488906 31c0 c3")

    def look_up(self, distance: int) -> bytes:
        return (
            b"\x4c\x8d\x0d"  # lea r9, [rip + distance]
            + struct.pack("<i", distance - 7)
            + bytes.fromhex(
                "4d89ca"  # mov r10, r9
                "496301"  # entry: movsxd rax, dword ptr [r9]
                "85c0"  # test eax, eax
                "742c"  # jz absent
                "4c01d0"  # add rax, r10
                "4989fb"  # mov r11, rdi
                "8a10"  # letter: mov dl, [rax]
                "413a13"  # cmp dl, [r11]
                "750c"  # jne next
                "84d2"  # test dl, dl
                "740e"  # jz present
                "48ffc0"  # inc rax
                "49ffc3"  # inc r11
                "ebed"  # jmp letter
                "4983c108"  # next: add r9, 8
                "ebda"  # jmp entry
                "49634104"  # present: movsxd rax, dword ptr [r9 + 4]
                "4c01d0"  # add rax, r10
                "488906"  # mov [rsi], rax
                "31c0"  # xor eax, eax
                "c3"  # ret
                "48c70600000000"  # absent: mov qword ptr [rsi], 0
                "b8f4010000"  # mov eax, 500
                "c3"  # ret
            )
        )

    def look_up_with_status(self, distance: int) -> bytes:
        # test r8, r8; jz after; mov dword ptr [r8], 0; after:
        head = bytes.fromhex("4d85c0 7407 41c70000000000")
        return head + self.look_up(distance - len(head))


class _Aarch64:
    _RETURN_0 = bytes.fromhex("00008052 c0035fd6")  # mov w0, #0; ret

    @staticmethod
    def _adr(register: int, distance: int) -> bytes:
        """adr x<register>, <distance>"""
        low, high = distance & 3, distance >> 2 & 0x7FFFF
        return struct.pack("<I", 0x10000000 | low << 29 | high << 5 | register)

    @staticmethod
    def _mov(register: int, number: int) -> bytes:
        """mov w<register>, #<number>; movk w<register>, #<its upper half>, lsl 16"""
        lower, upper = number & 0xFFFF, number >> 16
        words = [0x52800000 | lower << 5 | register]
        if upper:
            words.append(0x72A00000 | upper << 5 | register)
        return struct.pack(f"<{len(words)}I", *words)

    def constant(self, number: int) -> bytes:
        return self._mov(0, number) + bytes.fromhex("c0035fd6")  # ret

    def store_pointer(self) -> bytes:
        return self._mov(1, 16) + bytes.fromhex("010000f9") + self._RETURN_0  # str x1, [x0]

    def store_number(self, number: int) -> bytes:
        return self._mov(1, number) + bytes.fromhex("010000b9") + self._RETURN_0  # str w1, [x0]

    def store_address(self, distance: int) -> bytes:
        return self._adr(2, distance) + bytes.fromhex("220000f9") + self._RETURN_0  # str x2, [x1]

    def look_up(self, distance: int) -> bytes:
        return self._adr(9, distance) + bytes.fromhex(
            "ea0309aa"  # mov x10, x9
            "2b0180b9"  # entry: ldrsw x11, [x9]
            "eb010034"  # cbz w11, absent
            "6b010a8b"  # add x11, x11, x10
            "ec0300aa"  # mov x12, x0
            "6d154038"  # letter: ldrb w13, [x11], #1
            "8e154038"  # ldrb w14, [x12], #1
            "bf010e6b"  # cmp w13, w14
            "e1000054"  # b.ne next
            "8dffff35"  # cbnz w13, letter
            "2b0580b9"  # ldrsw x11, [x9, #4]
            "6b010a8b"  # add x11, x11, x10
            "2b0000f9"  # str x11, [x1]
            "00008052"  # mov w0, #0
            "c0035fd6"  # ret
            "29210091"  # next: add x9, x9, #8
            "f1ffff17"  # b entry
            "3f0000f9"  # absent: str xzr, [x1]
            "803e8052"  # mov w0, #500
            "c0035fd6"  # ret
        )

    def look_up_with_status(self, distance: int) -> bytes:
        head = bytes.fromhex("440000b4 9f0000b9")  # cbz x4, after; str wzr, [x4]; after:
        return head + self.look_up(distance - len(head))


MACHINE_CODE: dict[str, MachineCode] = {"x86-64": _X86(), "aarch64": _Aarch64()}
"""The code by the machine's name."""


SONAME = "libcuda.so.1"

# Symbols that cuDNN links against (`nm -D --undefined-only libcudnn_engines_runtime_compiled.so.9`)
# or looks up by name: it prints "Could not load symbol …" for each missing name.
_REFUSING = [
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxGetLimit",
    "cuCtxPopCurrent",
    "cuCtxPushCurrent",
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuInit",
    "cuKernelGetAttribute",
    "cuLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLibraryLoadFromFile",
    "cuLinkAddData",
    "cuLinkComplete",
    "cuLinkCreate",
    "cuLinkDestroy",
    "cuOccupancyMaxPotentialClusterSize",
    "cuStreamGetCtx",
    "cuTensorMapEncodeIm2col",
    "cuTensorMapEncodeTiled",
]

# cuDNN loads each compiled kernel before it finishes a plan.
_LOADING = [
    "cuKernelGetFunction",
    "cuLibraryGetKernel",
    "cuLibraryLoadData",
    "cuModuleGetFunction",
    "cuModuleLoadData",
]
_SILENT = ["cuKernelSetAttribute", "cuLibraryUnload", "cuModuleUnload"]
_NAMING = ["cuGetErrorName", "cuGetErrorString"]

_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
_TEXT = b"no NVIDIA driver\0"
_DRIVER_VERSIONS = {12: 12090, 13: 13000}  # by the CUDA major version of the cuDNN build


@dataclass(frozen=True)
class Driver:
    """The driver library of this process.

    - `is_stub`: True for the stand-in, with which nothing can be executed.
    """

    is_stub: bool


_lock = new_lock()
_driver: Driver | None = None


def ensure_driver() -> Driver:
    """The NVIDIA driver if it can be loaded, else the stub, created on first use.

    Returns the driver, or the stub.

    Raises NoDeviceError if there is no driver, and no stub for this machine.
    """
    global _driver
    if _driver is None:
        with _lock:
            if _driver is None:
                present = loaded.driver_present()
                _driver = Driver(False) if present else _load_stub(raw.load().cuda_major)
    return _driver


def use_stub(cuda_major: int) -> None:
    """Have the stub in this process, also where there is a driver, before libcudnn is loaded.

    Where the loader finds another cuDNN, all libraries of the chosen one are loaded at once, and
    with them the driver.

    - `cuda_major`: major version of CUDA for which cuDNN was built.

    Raises NoDeviceError if there is no stub for this machine. Raises RuntimeError if the driver is
    loaded already.
    """
    global _driver
    for file in loaded.cuda_library_files():
        if file.name.startswith("libcuda."):
            raise RuntimeError(f"{file} is loaded already: this process could use the GPU")
    _driver = _load_stub(cuda_major)


def _load_stub(cuda_major: int) -> Driver:
    content = stub(_DRIVER_VERSIONS.get(cuda_major, 13000))
    # cuDNN's dlopen("libcuda.so.1") finds it by its soname.
    elf.load_from_memory(content, SONAME, ctypes.RTLD_GLOBAL)
    return Driver(is_stub=True)


def stub(driver_version: int) -> bytes:
    """The bytes of the stub's file; `driver_version` is CUDA's number, 12090 for 12.9.

    Raises NoDeviceError if the machine is neither x86-64 nor aarch64.
    """
    machine = elf.MACHINES.get(elf.built_for(), "")
    code = MACHINE_CODE.get(machine)
    if code is None:
        raise NoDeviceError(
            f"{SONAME}, which comes with the NVIDIA driver, cannot be loaded, and to build graphs "
            f"without it cuDNN needs a small library in its place: there is one for "
            f"{' and '.join(MACHINE_CODE)}"
        )
    looking_up = ["cuGetProcAddress", "cuGetProcAddress_v2"]
    # Engines of norms ask for the number of GPUs before they load their kernel. They compile if the
    # answer is 0, but not if it is an error.
    numbers = ["cuDeviceGetCount", "cuDriverGetVersion"]
    names = [*_REFUSING, *_LOADING, *_SILENT, *_NAMING, *numbers, *looking_up]
    # First the data of the functions: a text, the names, and a table with the offsets of each name
    # and its function from the table's start.
    text = bytearray(_TEXT)
    name_at = {}
    for name in names:
        name_at[name] = len(text)
        text += name.encode() + b"\0"
    table_at = -(-len(text) // 16) * 16
    table_size = 8 * (len(names) + 1)  # closed by zeros
    text += bytes(table_at + table_size - len(text))
    begins: dict[str, int] = {}

    def add(name: str, body: Callable[[int], bytes]) -> None:
        text.extend(bytes(-len(text) % 16))
        begins[name] = len(text)
        text.extend(body(len(text)))

    for name in _REFUSING:
        add(name, lambda _: code.constant(_NO_DEVICE))
    for name in _LOADING:
        add(name, lambda _: code.store_pointer())
    for name in _SILENT:
        add(name, lambda _: code.constant(0))
    for name in _NAMING:
        add(name, lambda at: code.store_address(-at))
    add("cuDeviceGetCount", lambda _: code.store_number(0))
    add("cuDriverGetVersion", lambda _: code.store_number(driver_version))
    add(looking_up[0], lambda at: code.look_up(table_at - at))
    add(looking_up[1], lambda at: code.look_up_with_status(table_at - at))
    entries = ((name_at[name] - table_at, begins[name] - table_at) for name in names)
    struct.pack_into(f"<{2 * len(names)}i", text, table_at, *(n for pair in entries for n in pair))
    return elf.shared_object(SONAME, text=bytes(text), functions=begins)
