"""C's text and files: strings, formats, scanning and streams."""

from __future__ import annotations

import io
import os
import re
import sys
from typing import Any

from .arithmetic import int32, int64
from .memory import Pointer, address_of, bytes_at, chars, is_null

__all__ = [
    "CFile",
    "atof",
    "atoi",
    "char_at",
    "fgets",
    "fopen",
    "formatted",
    "fprintf",
    "fputs",
    "fread",
    "fscanf",
    "fwrite",
    "perror",
    "printf",
    "puts",
    "remove",
    "scan",
    "sprintf",
    "sscanf",
    "stderr",
    "stdin",
    "stdout",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "string",
    "strlen",
    "strncmp",
    "strncpy",
    "strstr",
    "strtol",
]


_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"(?P<length>hh|h|ll|l|z|j|t|L)?(?P<kind>[diuoxXcsfFeEgGpn%])"
)


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
    """The text that ``printf`` prints."""
    remaining = iter(arguments)

    def conversion(match: re.Match[str]) -> str:
        kind = match["kind"]
        if kind == "%":
            return "%"
        width = next(remaining) if match["width"] == "*" else match["width"] or ""
        precision = match["precision"]
        precision = str(next(remaining)) if precision == "*" else precision
        flags = match["flags"] + str(width)
        if precision is not None:
            flags += "." + (precision or "0")
        return _converted(flags, match["length"] or "", kind, next(remaining))

    return _CONVERSION.sub(conversion, string(layout))


def _converted(flags: str, length: str, kind: str, value: Any) -> str:
    if kind in "di":
        number = int64(value) if length in ("l", "ll", "z", "j", "t") else int32(value)
        return f"%{flags}d" % number
    if kind in "uoxX":
        bits = 64 if length in ("l", "ll", "z", "j", "t") else 32
        return f"%{flags}{'d' if kind == 'u' else kind}" % (int(value) & (1 << bits) - 1)
    if kind == "c":
        return f"%{flags}s" % (value if isinstance(value, str) else chr(int(value) & 255))
    if kind == "s":
        return f"%{flags}s" % string(value)
    if kind == "p":
        number = value if isinstance(value, int) else getattr(value, "value", value)
        number = address_of(number) if not isinstance(number, (int, type(None))) else number
        return f"%{flags}s" % (hex(number) if number else "(nil)")
    return f"%{flags}{kind}" % float(value)


def sprintf(target: Any, layout: Any, *arguments: Any, size: int | None = None) -> int:
    """C's ``sprintf`` and, with `size`, ``snprintf``."""
    text = formatted(layout, *arguments)
    kept = text.encode()
    if size is not None:
        kept = kept[: max(size - 1, 0)]
    if size != 0:
        _store(target, kept)
    return len(text.encode())


def _store(target: Any, data: bytes) -> Any:
    pointer = Pointer(target)
    for index, byte in enumerate(data + b"\0"):
        pointer[index] = byte
    return target


def strlen(text: Any) -> int:
    """C's ``strlen``."""
    return len(string(text).encode())


def strcmp(left: Any, right: Any) -> int:
    """C's ``strcmp``: negative, zero or positive."""
    first, second = string(left).encode(), string(right).encode()
    return (first > second) - (first < second)


def strncmp(left: Any, right: Any, count: int) -> int:
    """C's ``strncmp``."""
    return strcmp(string(left)[:count], string(right)[:count])


def strcpy(target: Any, source: Any) -> Any:
    """C's ``strcpy``."""
    return _store(target, string(source).encode())


def strncpy(target: Any, source: Any, count: int) -> Any:
    """C's ``strncpy``."""
    data, pointer = string(source).encode()[:count], Pointer(target)
    for index in range(count):
        pointer[index] = data[index] if index < len(data) else 0
    return target


def strcat(target: Any, source: Any) -> Any:
    """C's ``strcat``."""
    _store(Pointer(target, strlen(target)), string(source).encode())
    return target


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


def _number(pattern: str, text: Any) -> str:
    match = re.match(pattern, string(text))
    return match[0] if match else "0"


def atoi(text: Any) -> int:
    """C's ``atoi`` and ``atol``."""
    return int(_number(r"\s*[-+]?\d+", text))


def atof(text: Any) -> float:
    """C's ``atof``."""
    return float(_number(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text))


def strtol(text: Any, base: int = 10) -> int:
    """C's ``strtol`` and ``strtoul`` without an end pointer."""
    if base == 16 or (base == 0 and string(text).strip().lower().startswith("0x")):
        return int(_number(r"\s*[-+]?(0[xX])?[0-9a-fA-F]+", text), 16)
    return atoi(text)


_SCAN = re.compile(r"%(\*)?(\d+)?(hh|h|ll|l|z)?([diufeEgsxc])|\s+|.", re.DOTALL)
_FORMS = {
    "d": r"[-+]?\d+",
    "i": r"[-+]?\d+",
    "u": r"[-+]?\d+",
    "x": r"[-+]?(?:0[xX])?[0-9a-fA-F]+",
    "s": r"\S+",
    "f": r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:inf|nan)",
}


def scan(text: str, layout: Any, targets: tuple[Any, ...]) -> tuple[int, int]:
    """Read `text` as ``scanf`` does: how many were stored (-1: no input), and characters read."""
    position, stored, remaining = 0, 0, iter(targets)
    for part in _SCAN.finditer(string(layout)):
        skip, width, _, kind = part.groups()
        if kind is None:
            if part[0].isspace():
                position += len(text) - position - len(text[position:].lstrip())
                continue
            if text[position : position + 1] != part[0]:
                break
            position += 1
            continue
        form = "." * int(width or 1) if kind == "c" else _FORMS.get(kind, _FORMS["f"])
        if kind != "c":
            position += len(text) - position - len(text[position:].lstrip())
        limit = len(text) if width is None else position + int(width)
        match = re.compile(form, re.DOTALL).match(text, position, limit)
        if match is None:
            if position >= len(text) and not stored:
                stored = -1
            break
        position = match.end()
        if not skip:
            _scanned(next(remaining), kind, match[0])
            stored += 1
    return stored, position


def _scanned(target: Any, kind: str, text: str) -> None:
    if kind == "s":
        strcpy(target, text)
        return
    if kind == "c":
        value: Any = ord(text)
    elif kind in "diux":
        value = int(text, 16 if kind == "x" else 10)
    else:
        value = float(text)
    if isinstance(target, Pointer):
        target[0] = value
    elif hasattr(target, "value"):
        target.value = value
    else:
        target[0] = value


def sscanf(text: Any, layout: Any, *targets: Any) -> int:
    """C's ``sscanf``."""
    return scan(string(text), layout, targets)[0]


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
