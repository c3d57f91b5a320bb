"""Shared objects of 64-bit ELF: a check of a file's headers, and small libraries made in memory.

The dynamic loader trusts its file: a truncated file ends the process with SIGBUS. So `defect`
reads the headers first.
"""

from __future__ import annotations

import ctypes
import functools
import os
import stat
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .linux import PROC

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_DYNAMIC = struct.Struct("<qQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_IDENTITY = b"\x7fELF\2\1\1".ljust(16, b"\0")  # 64 bits, little endian, version 1

_SHARED = 3  # ET_DYN
_LOAD, _DYNAMIC_SEGMENT, _STACK = 1, 2, 0x6474E551  # types of segments
_EXECUTE, _WRITE, _READ = 1, 2, 4
_NEEDED, _HASH, _STRTAB, _SYMTAB, _STRSZ, _SYMENT, _SONAME = 1, 4, 5, 6, 10, 11, 14
_PAGE = 0x10000  # the largest page size of the machines that cuDNN supports
_FUNCTION = 0x12  # a global symbol of a function

MACHINES = {62: "x86-64", 183: "aarch64"}
"""Names of the machines that cuDNN supports, by ELF's number."""


class _Header(NamedTuple):
    identity: bytes
    type: int
    machine: int
    version: int
    entry: int
    segments_at: int
    sections_at: int
    flags: int
    size: int
    segment_size: int
    segments: int
    section_size: int
    sections: int
    names: int


@functools.cache
def built_for() -> int:
    """ELF's number of this interpreter's machine."""
    try:
        with (PROC / "exe").open("rb") as file:
            return _Header(*_HEADER.unpack(file.read(_HEADER.size))).machine
    except OSError:  # no /proc: the machine that runs it
        numbers = {name.replace("-", "_"): number for number, name in MACHINES.items()}
        return numbers.get(os.uname().machine, 0)


def defect(path: Path) -> str:
    """Why the file cannot be loaded into this process, "" if its headers are in order."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return f"this is {'a directory' if stat.S_ISDIR(status.st_mode) else 'no file'}"
        with path.open("rb") as file:
            return _content_defect(file, status.st_size)
    except FileNotFoundError as error:
        if path.is_symlink():
            return f"a link to {os.readlink(path)}, which does not exist"
        return str(error.strerror)
    except OSError as error:
        return error.strerror or str(error)


def _content_defect(file: BinaryIO, size: int) -> str:
    start = file.read(_HEADER.size)
    if not start:
        return "the file is empty"
    if start[:4] != _IDENTITY[:4]:
        return "invalid ELF header: this is no shared library"
    if len(start) < _HEADER.size:
        return f"the file is cut off: it ends after {size} bytes"
    if start[4:6] != _IDENTITY[4:6]:
        return "built for another machine: this one takes 64-bit little-endian libraries"
    header = _Header(*_HEADER.unpack(start))
    if header.machine != built_for():
        names = [MACHINES.get(m, f"machine {m}") for m in (header.machine, built_for())]
        return f"built for {names[0]}, and this Python for {names[1]}"
    if header.type != _SHARED or header.segment_size != _SEGMENT.size:
        return "this is no shared library"
    table_end = header.segments_at + header.segments * _SEGMENT.size
    end = max(table_end, header.sections_at + header.sections * header.section_size)
    segments: list[tuple[int, ...]] = []
    if table_end <= size:
        file.seek(header.segments_at)
        segments = list(_SEGMENT.iter_unpack(file.read(header.segments * _SEGMENT.size)))
    parts = [(s[0], s[2], s[5]) for s in segments if s[0] in (_LOAD, _DYNAMIC_SEGMENT)]
    end = max(end, *(offset + length for _, offset, length in parts), 0)
    if end > size:
        return f"the file is cut off: it holds {size} of {end} bytes"
    tags: set[int] = set()
    for kind, offset, length in parts:
        if kind == _DYNAMIC_SEGMENT:
            file.seek(offset)
            entries = file.read(length // _DYNAMIC.size * _DYNAMIC.size)
            tags |= {tag for tag, _ in _DYNAMIC.iter_unpack(entries)}
    if not tags:
        return "this is no shared library"
    if not {_STRTAB, _SYMTAB} <= tags:
        return "the file is damaged: parts of it are blank"
    return ""


def shared_object(
    soname: str,
    *,
    needed: Sequence[str] = (),
    text: bytes = b"",
    functions: Mapping[str, int] | None = None,
) -> bytes:
    """A shared library for this machine, as the bytes of its file.

    - `soname`: the name by which the loader knows the library: opening this name later returns it.
    - `needed`: libraries to load with it; symbols are looked up in them too.
    - `text`: machine code and its constants, independent of the position.
    - `functions`: offsets in `text` of the exported functions, by name.
    """
    functions = functions or {}
    strings = bytearray(b"\0")

    def string(value: str) -> int:
        strings.extend(value.encode() + b"\0")
        return len(strings) - len(value) - 1

    dynamic = [(_SONAME, string(soname)), *((_NEEDED, string(name)) for name in needed)]
    names = [string(name) for name in functions]
    count = len(names) + 1  # with the empty symbol that begins every table
    symbols_at = _HEADER.size + 4 * _SEGMENT.size
    hash_at = symbols_at + count * _SYMBOL.size
    # One bucket chains all symbols, the last one first.
    hash_table = struct.pack(f"<{3 + count}I", 1, count, count - 1, 0, *range(count - 1))
    strings_at = hash_at + len(hash_table)
    text_at = -(-(strings_at + len(strings)) // 16) * 16
    dynamic_at = -(-(text_at + len(text)) // 16) * 16
    dynamic += [
        (_HASH, hash_at),
        (_STRTAB, strings_at),
        (_SYMTAB, symbols_at),
        (_STRSZ, len(strings)),
        (_SYMENT, _SYMBOL.size),
        (0, 0),
    ]
    dynamic_size = len(dynamic) * _DYNAMIC.size
    # The loader writes into the dynamic section, so it lies in a page of its own.
    writable = (dynamic_at, _PAGE + dynamic_at, _PAGE + dynamic_at, dynamic_size, dynamic_size)
    symbols = bytes(_SYMBOL.size) + b"".join(
        _SYMBOL.pack(name, _FUNCTION, 0, 1, text_at + offset, 0)
        for name, offset in zip(names, functions.values(), strict=True)
    )
    segments = (
        (_LOAD, _READ | _EXECUTE, 0, 0, 0, dynamic_at, dynamic_at, _PAGE),
        (_LOAD, _READ | _WRITE, *writable, _PAGE),
        (_DYNAMIC_SEGMENT, _READ | _WRITE, *writable, 8),
        (_STACK, _READ | _WRITE, 0, 0, 0, 0, 0, 16),  # without this the stack becomes executable
    )
    header = _HEADER.pack(
        *(_IDENTITY, _SHARED, built_for(), 1, 0, _HEADER.size, 0, 0, _HEADER.size),
        *(_SEGMENT.size, len(segments), 0, 0, 0),
    )
    content = header + b"".join(_SEGMENT.pack(*segment) for segment in segments)
    content += symbols + hash_table + bytes(strings)
    content = content.ljust(text_at, b"\0") + text
    return content.ljust(dynamic_at, b"\0") + b"".join(_DYNAMIC.pack(*entry) for entry in dynamic)


def load_from_memory(content: bytes, soname: str, mode: int = ctypes.DEFAULT_MODE) -> ctypes.CDLL:
    """Load a shared library from its bytes; no file stays on disk."""
    try:
        # The descriptor stays open: the loader knows the library by this path, and another library
        # must not get the same path.
        descriptor = os.memfd_create(soname)
        os.write(descriptor, content)
        return ctypes.CDLL(f"{PROC}/fd/{descriptor}", mode)
    except OSError:  # files in memory can be forbidden, and /proc absent
        import tempfile

        with tempfile.TemporaryDirectory(prefix="cudnn_ctypes-") as folder:
            path = Path(folder, soname)
            path.write_bytes(content)
            return ctypes.CDLL(str(path), mode)
