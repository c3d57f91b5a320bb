"""What commands share: the files that they read and write, the GPU, what users can put right."""

from __future__ import annotations

import argparse
import json
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
    "add_device",
    "chosen_device",
    "read_graph",
    "read_text",
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


def write_text(path: Path, text: str) -> None:
    """Write a file, and the folders above it if there are none.

    Raises
    ------
    CommandError
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        raise CommandError(f"{path}: it cannot be written: {error.strerror}") from None


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


def add_device(parser: argparse.ArgumentParser) -> None:
    """The option that `chosen_device` understands."""
    parser.add_argument(
        "--device",
        required=True,
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
