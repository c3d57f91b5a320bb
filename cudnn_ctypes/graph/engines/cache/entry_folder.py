"""A folder of small files that processes share: whole or not there, bounded, closed to others."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....raw.values import described

_SUFFIX = ".json"
_UNFINISHED = ".part"
_LARGEST = 64 << 20  # bytes of one file
_ABANDONED = 3600.0  # seconds after which an unfinished file is of a writer that has died
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class File:
    """One file of the folder: its bytes, and when it was used last, in seconds since 1970."""

    name: str
    size: int
    used: float


class EntryFolder:
    """Files by name, in a folder that only its owner can write.

    A file is written under another name and then renamed: a reader finds the old content or the
    new, never a part, and of two writers the last one stays. All goes by a descriptor of the
    folder that was looked at, so another folder in its place is of no use to anybody.

    - `path`: made for the user alone when the first file is written.
    - `limit`: bytes of all files at most; the files not used for the longest time go first. While
      the folder is far from it, a writer does not look at all files each time.
    - `prefixes`: how the files' names begin; others in the folder are not ours, and stay.
    """

    def __init__(self, path: Path, limit: int, prefixes: tuple[str, ...] = ("",)) -> None:
        self.path = path
        self.prefixes = prefixes
        self.limit = limit
        self._room = 0  # bytes to write before the folder is looked at again

    def read(self, name: str, *, use: bool = True) -> str | None:
        """The content of a file; None if there is none that is ours, "" if it is damaged.

        With `use` it is marked as used now. A folder of another user, or to which others can
        write, is refused.
        """
        with self._opened() as folder:
            return None if folder is None else _read(folder, name, use)

    def write(self, name: str, content: str) -> None:
        """Put a file in the place of that of this name, and remove what is too much."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._opened() as folder:
            if folder is None:
                raise FileNotFoundError(f"{self.path} was removed meanwhile")
            self._room -= _write(folder, name, content)
            if self._room <= 0:
                self._trim(folder)

    def files(self) -> list[File]:
        """All files, the one used last first."""
        with self._opened() as folder:
            return [] if folder is None else _files(_listed(folder), self.prefixes)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with self._opened() as folder:
            if folder is not None:
                _remove(folder, name)

    def clear(self) -> int:
        """Remove all files, also unfinished ones; how many they were."""
        with self._opened() as folder:
            if folder is None:
                return 0
            every = _listed(folder)
            found = [*_files(every, self.prefixes), *_unfinished(every, 0.0)]
            for file in found:
                _remove(folder, file.name)
            return len(found)

    def _trim(self, folder: int) -> None:
        every = _listed(folder)
        for file in _unfinished(every, _ABANDONED):
            _remove(folder, file.name)
        size = 0
        for file in _files(every, self.prefixes):
            size += file.size
            if size > self.limit:
                _remove(folder, file.name)
        self._room = (self.limit - size) // 8  # others write, too

    @contextmanager
    def _opened(self) -> Iterator[int | None]:
        """A descriptor of the folder; None if there is no folder."""
        try:
            folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            yield None
            return
        try:
            self._check(os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def _check(self, status: os.stat_result) -> None:
        """Refuse a folder to which others can write: entries hold machine code."""
        if status.st_uid not in (os.geteuid(), 0):
            raise ValueError(
                f"cache: the folder {str(self.path)!r} belongs to user {status.st_uid}, and plans "
                f"hold machine code: take one that belongs to you (user {os.geteuid()})"
            )
        if status.st_mode & _OTHERS_WRITE:
            raise ValueError(
                f"cache: others can write to the folder {str(self.path)!r}, and plans hold machine "
                f"code: chmod go-w {self.path}"
            )


def _read(folder: int, name: str, use: bool) -> str | None:
    # A pipe in place of a file would have the opening wait.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(name, flags, dir_fd=folder)
    except OSError:
        return None
    try:
        status = os.fstat(file)
        ours = status.st_uid in (os.geteuid(), 0) and not status.st_mode & _OTHERS_WRITE
        if not ours or not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > _LARGEST:
            return ""  # damaged
        if use:
            with contextlib.suppress(OSError):  # of a folder that can only be read
                os.utime(file)
        with open(file, "rb", closefd=False) as opened:
            return opened.read(_LARGEST).decode()
    except UnicodeDecodeError:
        return ""  # damaged
    finally:
        os.close(file)


def _write(folder: int, name: str, content: str) -> int:
    """Write a file; how many bytes it has."""
    part = f"{name}.{secrets.token_hex(8)}{_UNFINISHED}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    file = os.open(part, flags, 0o600, dir_fd=folder)
    try:
        with open(file, "wb") as opened:
            size = opened.write(content.encode())
        os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        return size
    except BaseException:
        _remove(folder, part)
        raise


def _files(every: list[File], prefixes: tuple[str, ...]) -> list[File]:
    found = [f for f in every if f.name.startswith(prefixes) and f.name.endswith(_SUFFIX)]
    return sorted(found, key=lambda file: (-file.used, file.name))


def _unfinished(every: list[File], age: float) -> list[File]:
    before = time.time() - age
    return [file for file in every if file.name.endswith(_UNFINISHED) and file.used <= before]


def _listed(folder: int) -> list[File]:
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):  # another process removes too
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    found.append(File(entry.name, status.st_size, status.st_mtime))
    return found


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_CACHE"


def as_folder(folder: Any) -> Path:
    """The folder that an argument `cache` names.

    Raises TypeError or ValueError if it names none.
    """
    if not isinstance(folder, (str, os.PathLike)):
        raise TypeError(
            f"cache: expected True, False, a folder or a PlanCache, got {described(folder)}"
        )
    path = os.fspath(folder)
    if not isinstance(path, str) or not path or "\0" in path:
        raise ValueError(f"cache: expected the name of a folder, got {path!r}")
    return Path(path).expanduser().absolute()


def standard_folder() -> Path:
    """The folder of the environment variable, else that among the user's caches.

    Raises ValueError if the environment variable has a value that is not known; if the user has no
    home.
    """
    named = by_environment()
    if isinstance(named, Path):
        return named
    try:
        folder = user_folder()
    except RuntimeError:
        raise ValueError(
            f"cache: this user has no home: give a folder, or set {ENVIRONMENT_VARIABLE} to one"
        ) from None
    return folder / "plans"


def user_folder() -> Path:
    """The folder of this package among the user's caches.

    Raises RuntimeError if the user has no home.
    """
    # As the XDG base directory specification says; packages for it take 10 ms to load.
    caches = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(caches) if os.path.isabs(caches) else Path.home() / ".cache"
    return folder / "cudnn_ctypes"


def by_environment() -> bool | Path | None:
    """The environment variable's choice: whether there is a cache, or its folder; None if unset."""
    value = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not value:
        return None
    if value in ("0", "1"):
        return value == "1"
    folder = Path(value).expanduser()
    if not folder.is_absolute():
        raise ValueError(
            f"{ENVIRONMENT_VARIABLE}={value!r}: expected 1 (a cache in the user's folder for "
            "caches), 0 (none) or the absolute path of a folder"
        )
    return folder
