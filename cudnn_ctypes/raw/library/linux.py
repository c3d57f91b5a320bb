"""Seven questions that this package asks Linux of its process.

A missing /proc is no error: what it alone knows is then empty, 0 or None, and nothing is refused
for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PROC = Path("/proc/self")
"""Where Linux tells of this process."""

# The first that can be read says which driver the kernel has.
_DRIVER_FILES = (Path("/sys/module/nvidia/version"), Path("/proc/driver/nvidia/version"))


class Mapping(NamedTuple):
    """A range of addresses, such as "r-xp" for code, and the file that lies there, "" for none."""

    start: int
    end: int
    permissions: str
    file: str


class Symbol(NamedTuple):
    """A file, the address at which it begins, and the last exported symbol before an address."""

    file: str
    base: int
    name: str
    address: int


class _DlInfo(ctypes.Structure):
    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _read(file: str) -> bytes:
    with contextlib.suppress(OSError):
        return (PROC / file).read_bytes()
    return b""


def mappings() -> Iterator[Mapping]:
    """The mappings of this process's memory, in the order of addresses."""
    for line in os.fsdecode(_read("maps")).splitlines():
        limits, permissions, _, _, _, *file = line.split(maxsplit=5)
        start, end = (int(limit, 16) for limit in limits.split("-"))
        yield Mapping(start, end, permissions, file[0].removesuffix(" (deleted)") if file else "")


class _LoadedObject(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("name", ctypes.c_char_p))


_Visitor = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(_LoadedObject), ctypes.c_size_t, ctypes.c_void_p
)


def shared_objects() -> list[str]:
    """The files of libraries in this process; without /proc, by the names that were opened."""
    files = [each.file for each in mappings() if ".so" in each.file]
    if not files:

        def visit(found: Any, size: int, data: Any) -> int:
            files.append(os.fsdecode(found[0].name))
            return 0

        ctypes.PyDLL(None).dl_iterate_phdr(_Visitor(visit), None)
    return files


def symbol_at(address: int) -> Symbol | None:
    """Which file and symbol an address belongs to; None if to no file."""
    found = _DlInfo()
    if not ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(found)):
        return None
    file = os.fsdecode(found.file or b"")
    if not os.path.exists(file):
        file = str(PROC / "exe")  # the program itself, by the name that it was called with
    name = os.fsdecode(found.name or b"")
    return Symbol(os.path.realpath(file), found.base or 0, name, found.address or 0)


def environment() -> dict[str, str]:
    """The variables with which this process began, whatever it has set since."""
    if not (content := _read("environ")):
        return dict(os.environ)
    pairs = (os.fsdecode(each).partition("=") for each in content.split(b"\0"))
    return {name: value for name, _, value in pairs}


def memory() -> tuple[int, int] | None:
    """Bytes of addresses that this process takes, and of those that belong to no file.

    The second counts also what was swapped out. None without /proc.
    """
    lines = (line.split() for line in _read("status").splitlines())
    sizes = {line[0]: 1024 * int(line[1]) for line in lines if line and line[-1] == b"kB"}
    if b"VmSize:" not in sizes:
        return None
    return sizes[b"VmSize:"], sizes.get(b"RssAnon:", 0) + sizes.get(b"VmSwap:", 0)


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Wait until no other thread or process of the user holds the lock `name`, then hold it.

    The lock goes with a process that dies. Without a folder for temporary files there is none.
    """
    import fcntl

    path = Path(tempfile.gettempdir(), f"cudnn_ctypes-{os.geteuid()}-{name}.lock")
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def driver() -> str:
    """The version of the kernel's NVIDIA driver, such as "580.95.05"; "" if unknown."""
    for path in _DRIVER_FILES:
        with contextlib.suppress(OSError):
            return path.read_text(errors="replace").strip()
    return ""
