"""C's text and files: strings, formats and streams.

What only reads text, and files, are functions of this machine's C library; what they write to is
held against the memory's room first.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .arithmetic import int32
from .memory import Pointer, _room, _stored, address_of, bytes_at, chars, is_null

_c = ctypes.CDLL(None)

_CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d*))?(?:hh|h|ll|l|z|j|t|L)?([a-zA-Z%])")


def string(value: Any) -> str:
    """The Python string of C's ``char *``: up to the first 0."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if value is None or is_null(value):
        return "(null)"
    found = value if isinstance(value, Pointer) else Pointer(value)
    data = bytes(number & 255 for number in found.memory[found.index :])
    return data.split(b"\0")[0].decode(errors="replace")


def formatted(layout: Any, *arguments: Any) -> str:
    """The text that ``printf`` prints; C's library makes each conversion."""
    remaining = iter(arguments)

    def conversion(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        part = match[0].replace("L", "").encode()  # doubles stand for long doubles
        widths = [ctypes.c_int(int(next(remaining))) for _ in range(part.count(b"*"))]
        value = _passed(match[1], next(remaining))
        buffer = ctypes.create_string_buffer(_c.snprintf(None, 0, part, *widths, value) + 1)
        _c.snprintf(buffer, len(buffer), part, *widths, value)
        return buffer.raw[:-1].decode(errors="replace")

    return _CONVERSION.sub(conversion, string(layout))


def _passed(kind: str, value: Any) -> Any:
    """An argument of ``printf`` as C passes it."""
    if kind in "diuoxXc":
        return ctypes.c_longlong(ord(value) if isinstance(value, str) else int(value))
    if kind == "s":
        return string(value).encode()
    if kind == "p":
        number = value if isinstance(value, int) else getattr(value, "value", value)
        number = address_of(number) if not isinstance(number, (int, type(None))) else number
        return ctypes.c_void_p(number)
    if kind not in "aAeEfFgG":
        raise ValueError(f"printf: %{kind} is not known here")
    return ctypes.c_double(float(value))


def sprintf(target: Any, layout: Any, *arguments: Any, size: int | None = None) -> int:
    """C's ``sprintf`` and, with `size`, ``snprintf``."""
    text = formatted(layout, *arguments)
    kept = text.encode()
    if size is not None:
        kept = kept[: max(size - 1, 0)]
    if size != 0:
        _stored(target, kept + b"\0", "sprintf")
    return len(text.encode())


def strcpy(target: Any, source: Any) -> Any:
    """C's ``strcpy``."""
    return _stored(target, string(source).encode() + b"\0", "strcpy")


def strncpy(target: Any, source: Any, count: int) -> Any:
    """C's ``strncpy``."""
    return _stored(target, string(source).encode()[:count].ljust(count, b"\0"), "strncpy")


def strcat(target: Any, source: Any) -> Any:
    """C's ``strcat``."""
    return strcpy(target, string(target) + string(source))


def strchr(text: Any, character: int) -> Any:
    """C's ``strchr``."""
    return strstr(text, chr(character & 255))


def strstr(text: Any, part: Any) -> Any:
    """C's ``strstr``."""
    found = string(text).find(string(part))
    return None if found < 0 else Pointer(text, found)


def char_at(text: Any, index: int) -> int:
    """C's ``text[index]`` of a ``char *``."""
    if isinstance(text, str):
        return int(chars(text)[index])
    return int(text[index])


def strtol(text: Any, base: int = 10) -> int:
    """C's ``strtol`` and ``strtoul`` without an end pointer."""
    _c.strtol.restype = ctypes.c_long
    return int(_c.strtol(string(text).encode(), None, base))


def stoi(text: Any) -> int:
    """C++'s ``std::stoi``.

    Raises ValueError if the text begins with no number.
    """
    number = re.match(r"\s*[-+]?\d+", string(text))
    if number is None:
        raise ValueError("stoi")
    return int32(int(number[0]))


class CFile:
    """An open file, C's ``FILE *``."""

    def __init__(self, address: int | None) -> None:
        self.address: int | None = address

    def opened(self) -> Any:
        """The argument for C.

        Raises ValueError if the file is closed.
        """
        if not self.address:
            raise ValueError("expected an open file")
        return ctypes.c_void_p(self.address)


class _Printed(CFile):
    """Python's standard output or error, asked for anew each time, since it may be replaced."""

    def __init__(self, name: str) -> None:
        super().__init__(None)
        self.name: str = name

    def write(self, data: bytes) -> int:
        """Write bytes."""
        getattr(sys, self.name).write(data.decode(errors="replace"))
        return len(data)


stdout: _Printed = _Printed("stdout")
stderr: _Printed = _Printed("stderr")
stdin: CFile = CFile(ctypes.c_void_p.in_dll(_c, "stdin").value)


def _called(name: str, result: Any) -> Callable[..., Any]:
    """A function of C that changes no memory of the program."""
    function = _c[name]
    function.restype = result

    def call(*arguments: Any) -> Any:
        return function(*map(_argument, arguments))

    call.__name__, call.__doc__ = name, f"C's ``{name}``."
    return call


def _argument(value: Any) -> Any:
    if isinstance(value, (int, np.integer)):
        return ctypes.c_long(int(value))
    return value.opened() if isinstance(value, CFile) else string(value).encode()


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _called(name, result)
    for result, names in (
        (ctypes.c_int, "strcmp strncmp atoi remove feof fgetc getc fseek"),
        (ctypes.c_long, "atol atoll ftell"),
        (ctypes.c_size_t, "strlen strcspn"),
        (ctypes.c_double, "atof"),
    )
    for name in names.split()
}
"""Functions of text and files by C name."""


def fflush(file: CFile) -> int:
    """C's ``fflush``."""
    if isinstance(file, _Printed):
        getattr(sys, file.name).flush()
        return 0
    return int(_c.fflush(file.opened()))


def fclose(file: CFile) -> int:
    """C's ``fclose``."""
    result, file.address = _c.fclose(file.opened()), None
    return int(result)


_c.fopen.restype = ctypes.c_void_p


def fopen(name: Any, mode: Any) -> CFile | None:
    """C's ``fopen``: None if the file cannot be opened."""
    file = _c.fopen(string(name).encode(), string(mode).encode())
    return CFile(file) if file else None


def printf(layout: Any, *arguments: Any) -> int:
    """C's ``printf``."""
    return fprintf(stdout, layout, *arguments)


def puts(text: Any) -> int:
    """C's ``puts``."""
    return printf("%s\n", text)


def fprintf(file: CFile, layout: Any, *arguments: Any) -> int:
    """C's ``fprintf``."""
    return _written(file, formatted(layout, *arguments).encode())


def fputs(text: Any, file: CFile) -> int:
    """C's ``fputs``."""
    return fprintf(file, "%s", text)


def perror(text: Any) -> None:
    """C's ``perror``, without the reason."""
    fprintf(stderr, "%s: failed\n", text)


def _written(file: CFile, data: bytes) -> int:
    if isinstance(file, _Printed):
        return file.write(data)
    return int(_c.fwrite(data, 1, ctypes.c_size_t(len(data)), file.opened()))


def fwrite(source: Any, size: int, count: int, file: CFile) -> int:
    """C's ``fwrite``."""
    data = _room(chars(source) if isinstance(source, str) else source, size * count, "fwrite")
    return _written(file, bytes(data)) // size if size else 0


def fread(target: Any, size: int, count: int, file: CFile) -> int:
    """C's ``fread``: how many whole elements were read."""
    if not hasattr(target, "unpack_bytes"):
        _room(target, size * count, "fread")
    data = ctypes.create_string_buffer(max(size * count, 1))
    whole = int(_c.fread(data, ctypes.c_size_t(size), ctypes.c_size_t(count), file.opened()))
    _stored(target, data.raw[: whole * size], "fread")
    return whole


_c.fgets.restype = ctypes.c_void_p


def fgets(target: Any, size: int, file: CFile) -> Any:
    """C's ``fgets``: None at the end of the file."""
    line = ctypes.create_string_buffer(max(size, 1))
    found = _c.fgets(line, size, file.opened())
    return _stored(target, line.value + b"\0", "fgets") if found else None


def fscanf(file: CFile, layout: Any, *targets: Any) -> int:
    """C's ``fscanf``."""
    return int(_c.fscanf(file.opened(), *_scanning(layout, targets)))


def sscanf(text: Any, layout: Any, *targets: Any) -> int:
    """C's ``sscanf``."""
    return int(_c.sscanf(string(text).encode(), *_scanning(layout, targets)))


_SCAN = re.compile(r"%(\*?)(\d*)(hh|h|ll|l|z|j|t|L)?(.)")
_SIZES = {"hh": 1, "h": 2, None: 4}


def _scanning(layout: Any, targets: tuple[Any, ...]) -> list[Any]:
    """The layout, in which text has the room of its memory, and the addresses of `targets`."""
    addresses: list[Any] = []

    def limited(match: re.Match[str]) -> str:
        skip, width, length, kind = match.groups()
        if skip or kind == "%":
            return match[0]
        if len(addresses) == len(targets):
            raise TypeError(f"scanf: {match[0]}: expected memory for it")
        target = targets[len(addresses)]
        addresses.append(ctypes.c_void_p(address_of(target)))
        room = len(bytes_at(target))
        if kind in "s[":
            return f"%{min(int(width or room), room - 1)}{length or ''}{kind}"
        size = int(width or 1) if kind == "c" else _SIZES.get(length, 8)
        if size > room:
            raise IndexError(f"scanf: {match[0]}: {size} bytes into host memory of {room}")
        return match[0]

    return [_SCAN.sub(limited, string(layout)).encode(), *addresses]
