"""C's files: ``fopen`` and what reads and writes them; standard output and error."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from .bytewise import bytes_at
from .memory import Pointer
from .text import formatted, scan, string

__all__ = [
    "CFile",
    "fgets",
    "fopen",
    "fprintf",
    "fputs",
    "fread",
    "fscanf",
    "fwrite",
    "perror",
    "printf",
    "puts",
    "remove",
    "stderr",
    "stdin",
    "stdout",
]


class CFile:
    """An open file, C's ``FILE *``; the methods are C's functions without their ``f``."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._ended = False

    def read(self, count: int) -> bytes:
        """Up to `count` bytes."""
        data: bytes = self._file.read(count)
        self._ended = self._ended or len(data) < count
        return data

    def write(self, data: bytes) -> None:
        """Write bytes."""
        if isinstance(self._file, io.TextIOBase) or not hasattr(self._file, "mode"):
            self._file.write(data.decode(errors="replace"))
        else:
            self._file.write(data)

    def getc(self) -> int:
        """The next byte, or -1."""
        data = self.read(1)
        return data[0] if data else -1

    def line(self) -> bytes:
        """The next line with its end."""
        data: bytes = self._file.readline()
        self._ended = self._ended or not data.endswith(b"\n")
        return data

    def rest(self) -> tuple[int, bytes]:
        """The position, and everything from there on."""
        return self._file.tell(), self._file.read()

    def seek(self, offset: int, origin: int = 0) -> int:
        """C's ``fseek``."""
        self._ended = False
        self._file.seek(offset, origin)
        return 0

    def tell(self) -> int:
        """C's ``ftell``."""
        return int(self._file.tell())

    def eof(self) -> int:
        """C's ``feof``: whether a read has met the end."""
        return int(self._ended)

    def end(self) -> None:
        """Note that a read has met the end."""
        self._ended = True

    def flush(self) -> int:
        """C's ``fflush``."""
        self._file.flush()
        return 0

    def close(self) -> int:
        """C's ``fclose``."""
        self._file.close()
        return 0


class _Standard(CFile):
    """A standard stream of Python, asked for anew each time, since it may be replaced."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._ended = False

    @property
    def _file(self) -> Any:
        found = getattr(sys, self._name)
        return found.buffer if self._name == "stdin" else found

    @_file.setter
    def _file(self, value: Any) -> None:
        pass

    def write(self, data: bytes) -> None:
        self._file.write(data.decode(errors="replace"))


stdout: _Standard = _Standard("stdout")
stderr: _Standard = _Standard("stderr")
stdin: _Standard = _Standard("stdin")


def fopen(name: Any, mode: Any) -> CFile | None:
    """C's ``fopen``: None if the file cannot be opened."""
    kind = string(mode).replace("b", "").replace("t", "")
    try:
        return CFile(open(string(name), kind.replace("+", "") + "b" + "+" * ("+" in kind)))
    except OSError:
        return None


def printf(layout: Any, *arguments: Any) -> int:
    """C's ``printf``."""
    text = formatted(layout, *arguments)
    sys.stdout.write(text)
    return len(text)


def puts(text: Any) -> int:
    """C's ``puts``."""
    return printf("%s\n", text)


def fprintf(file: CFile, layout: Any, *arguments: Any) -> int:
    """C's ``fprintf``."""
    text = formatted(layout, *arguments).encode()
    file.write(text)
    return len(text)


def fputs(text: Any, file: CFile) -> int:
    """C's ``fputs``."""
    return fprintf(file, "%s", text)


def remove(name: Any) -> int:
    """C's ``remove``: -1 if there is no such file."""
    try:
        os.remove(string(name))
    except OSError:
        return -1
    return 0


def perror(text: Any) -> None:
    """C's ``perror``, without the reason."""
    fprintf(stderr, "%s: failed\n", text)


def fread(target: Any, size: int, count: int, file: CFile) -> int:
    """C's ``fread``: how many whole elements were read."""
    if isinstance(target, Pointer) or not hasattr(target, "unpack_bytes"):
        view = bytes_at(target)
        if size * count > len(view):
            raise IndexError(f"fread: {size * count} bytes into host memory of {len(view)}")
        data = file.read(size * count)
        view[: len(data)] = data
    else:
        data = file.read(size * count)
        target.unpack_bytes(data)
    return len(data) // size if size else 0


def fwrite(source: Any, size: int, count: int, file: CFile) -> int:
    """C's ``fwrite``."""
    data = string(source).encode() + b"\0" if isinstance(source, str) else bytes_at(source)
    if size * count > len(data):
        raise IndexError(f"fwrite: {size * count} bytes of host memory with {len(data)}")
    file.write(bytes(data[: size * count]))
    return count


def fgets(target: Any, size: int, file: CFile) -> Any:
    """C's ``fgets``: None at the end of the file."""
    position = file.tell()
    line = file.line()
    if not line:
        file.end()
        return None
    if len(line) > size - 1:
        line = line[: size - 1]
        file.seek(position + len(line))
    pointer = Pointer(target)
    for index, byte in enumerate(line + b"\0"):
        pointer[index] = byte
    return target


def fscanf(file: CFile, layout: Any, *targets: Any) -> int:
    """C's ``fscanf``."""
    position, data = file.rest()
    stored, used = scan(data.decode("latin-1"), layout, targets)
    file.seek(position + used)
    if used >= len(data):
        file.end()
    return stored
