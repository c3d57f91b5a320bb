"""The places of a compiled program: source files and lines, by its debug information."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess

from ...raw.library import linux

_MOST_FRAMES = 24
_NOT_THE_PROGRAM_S = ("/cuda_runtime.h", "/cudnn_ctypes_kernels.h")
_LARGEST = 64 << 20  # bytes of a file whose debug information is read


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
    if (symbol := linux.symbol_at(address)) is None:
        return hex(address), 0
    header = ctypes.string_at(symbol.base, 18) if symbol.base else b""
    moved = header[16:18] != b"\x02\x00"  # ET_EXEC: at the addresses of the file
    offset = address - symbol.base if moved else address
    if line := _line(symbol.file, offset):
        return line
    name = os.path.basename(symbol.file)
    if symbol.name:
        return f"{symbol.name}+{address - symbol.address:#x} in {name}", 0
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
