"""The places of a compiled program: source files and lines, by its debug information."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess

_MOST_FRAMES = 24
_NOT_THE_PROGRAM_S = ("/cuda_runtime.h", "/cudnn_ctypes_kernels.h")
_LARGEST = 64 << 20  # bytes of a file whose debug information is read


class _Symbol(ctypes.Structure):
    """C's Dl_info."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def call_place() -> tuple[str, int]:
    """The program's file and line that called a function of the library.

    It is the innermost line that debug information tells (``-g``); without any, the function and
    the offset in it, and 0.
    """
    addresses = (ctypes.c_void_p * _MOST_FRAMES)()
    count = ctypes.CDLL(None).cudnn_ctypes_callers(addresses, _MOST_FRAMES)
    found = [_place(address - 1) for address in addresses[:count] if address]
    return next((each for each in found if each[1]), found[0] if found else ("", 0))


@functools.lru_cache(maxsize=4096)
def _place(address: int) -> tuple[str, int]:
    """File and line of an instruction; the function and 0 if no line is known."""
    symbol = _Symbol()
    if not ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(symbol)):
        return hex(address), 0
    file = os.fsdecode(symbol.file or b"")
    file = file if os.path.exists(file) else "/proc/self/exe"
    header = ctypes.string_at(symbol.base, 18) if symbol.base else b""
    moved = header[16:18] != b"\x02\x00"  # ET_EXEC: at the addresses of the file
    offset = address - (symbol.base or 0) if moved else address
    file = os.path.realpath(file)
    if line := _line(file, offset):
        return line
    name = os.path.basename(file)
    if symbol.name:
        within = address - (symbol.address or 0)
        return f"{os.fsdecode(symbol.name)}+{within:#x} in {name}", 0
    return f"{name}+{offset:#x}", 0


def _line(file: str, offset: int) -> tuple[str, int] | None:
    tool = shutil.which("addr2line")
    if tool is None or os.path.getsize(file) > _LARGEST:
        return None
    environment = {name: text for name, text in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        [tool, "-i", "-e", file, hex(offset)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    lines = (line.partition(" (")[0].strip() for line in done.stdout.splitlines())
    for line in lines:
        name, _, number = line.rpartition(":")
        if number.isdecimal() and int(number) and not name.endswith(_NOT_THE_PROGRAM_S):
            return name, int(number)
    return None
