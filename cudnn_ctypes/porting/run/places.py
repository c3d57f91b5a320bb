"""The places of a compiled program: source files and lines, by its debug information."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess

__all__ = ["call_place"]

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


def call_place() -> str:
    """The program's line that called a function of the library: "conv.cpp:42".

    It is the innermost line that debug information tells (``-g``); without any, the function and
    the offset in it.
    """
    addresses = (ctypes.c_void_p * _MOST_FRAMES)()
    count = ctypes.CDLL(None).cudnn_ctypes_callers(addresses, _MOST_FRAMES)
    found = [_place(address - 1) for address in addresses[:count] if address]
    return next((text for text, has_line in found if has_line), found[0][0] if found else "exit")


@functools.lru_cache(maxsize=4096)
def _place(address: int) -> tuple[str, bool]:
    """The place of an instruction, and whether it is a line."""
    symbol = _Symbol()
    if not ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(symbol)):
        return hex(address), False
    file = os.fsdecode(symbol.file or b"")
    file = file if os.path.exists(file) else "/proc/self/exe"
    header = ctypes.string_at(symbol.base, 18) if symbol.base else b""
    moved = header[16:18] != b"\x02\x00"  # ET_EXEC: at the addresses of the file
    offset = address - (symbol.base or 0) if moved else address
    if line := _line(os.path.realpath(file), offset):
        return line, True
    name = os.path.basename(os.path.realpath(file))
    if symbol.name:
        within = address - (symbol.address or 0)
        return f"{os.fsdecode(symbol.name)}+{within:#x} in {name}", False
    return f"{name}+{offset:#x}", False


def _line(file: str, offset: int) -> str:
    tool = shutil.which("addr2line")
    if tool is None or os.path.getsize(file) > _LARGEST:
        return ""
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
            return line
    return ""
