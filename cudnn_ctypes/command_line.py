"""What commands share: the files that they read and write, the GPU, what users can put right."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import (
    CudnnError,
    LibraryNotFoundError,
    NoDeviceError,
    SymbolNotFoundError,
)
from .graph.backend.device_properties import DeviceProperties, presets
from .graph.backend.devices import as_properties
from .graph.graph import Graph

__all__ = [
    "USER_ERRORS",
    "CommandError",
    "Output",
    "add_device",
    "add_force",
    "add_json",
    "chosen_device",
    "positive",
    "read_graph",
    "read_text",
    "refuse_overwriting",
    "worker_pool",
    "write_bytes",
    "write_text",
]


class CommandError(Exception):
    """A file that cannot be read, written or understood; the message names it."""


USER_ERRORS = (
    CommandError,
    ValueError,
    NoDeviceError,
    LibraryNotFoundError,
    CudnnError,
    SymbolNotFoundError,
)
"""What a command tells in a line rather than with a traceback. Others are mistakes of ours."""


@dataclass(frozen=True)
class Output:
    """Where a command writes: a file, or a folder if the name ends in "/" or is that of one.

    Attributes
    ----------
    text : str
        As it was given; a Path would lose the "/" at the end.
    """

    text: str

    @property
    def path(self) -> Path:
        return Path(self.text)

    @property
    def is_folder(self) -> bool:
        return self.text.endswith(os.sep) or self.path.is_dir()

    def file(self, name: str) -> Path:
        """The file to write, which in a folder is called `name`."""
        return self.path / name if self.is_folder else self.path

    def __str__(self) -> str:
        return self.text


def read_text(path: Path) -> str:
    """The text of a file.

    Raises
    ------
    CommandError
    """
    try:
        data = path.read_bytes()
        return data.decode(json.detect_encoding(data))
    except OSError as error:
        raise CommandError(f"{path}: it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path}: this is no text") from None


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write a file, and the folders above it if there are none.

    Raises
    ------
    CommandError
        Also if the file is there already, unless `force` is true.
    """
    write_bytes(path, text.encode(), force=force)


def write_bytes(path: Path, data: bytes, *, force: bool = False) -> None:
    """As `write_text`, for a file that is no text."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb" if force or _is_no_file(path) else "xb") as file:
            file.write(data)
    except OSError as error:
        if isinstance(error, FileExistsError) and path.exists():
            raise _there_already(path) from None
        raise CommandError(f"{path}: it cannot be written: {error.strerror}") from None


def refuse_overwriting(paths: Iterable[Path | None], *, force: bool) -> None:
    """Refuse files that are there already, before the work for them begins.

    A folder counts if there is something in it; None stands for no file.

    Raises
    ------
    CommandError
        Unless `force` is true.
    """
    for path in paths:
        if path is None or force or not path.exists() or _is_no_file(path):
            continue
        if not path.is_dir() or any(path.iterdir()):
            raise _there_already(path)


def _is_no_file(path: Path) -> bool:
    """A terminal, a pipe: nothing in it is lost."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _there_already(path: Path) -> CommandError:
    return CommandError(f"{path}: it is there already; --force writes over it")


def read_graph(path: Path) -> Graph:
    """The graph of a file.

    Raises
    ------
    CommandError
    """
    text = read_text(path)
    try:
        return Graph.from_json(text)
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def add_device(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """The option that `chosen_device` understands."""
    parser.add_argument(
        "--device",
        required=required,
        help="the GPU: the name of a preset, a .json file that `doctor --save-device` or "
        f"DeviceProperties.to_json wrote, or 'here' (presets: {', '.join(presets())})",
    )


def chosen_device(name: str) -> DeviceProperties:
    """The properties of the GPU that ``--device`` names; they are not to be closed.

    Raises
    ------
    ValueError, NoDeviceError, CudnnError
    """
    return as_properties(name)


def add_force(parser: argparse.ArgumentParser) -> None:
    """The option without which no file is overwritten."""
    parser.add_argument(
        "--force", action="store_true", help="write over files that are there already"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option to print data instead of text."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def positive(text: str) -> int:
    """An argument that is a number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text!r}")
    return int(text)


@contextmanager
def worker_pool(jobs: int) -> Iterator[ProcessPoolExecutor | None]:
    """So many processes that compile; None for one, which is this process.

    They leave Ctrl-C to this process: what they have begun is ended, what waits is dropped.
    """
    if jobs < 2:
        yield None
        return
    # Processes that begin anew: a fork of one that uses CUDA cannot use it.
    fresh = multiprocessing.get_context("spawn")
    ignored = (signal.SIGINT, signal.SIG_IGN)
    executor = ProcessPoolExecutor(jobs, fresh, initializer=signal.signal, initargs=ignored)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)
