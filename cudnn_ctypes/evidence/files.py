"""Reading the files that users name, with errors of one line."""

from __future__ import annotations

import json
from pathlib import Path


class CommandError(Exception):
    """A file that cannot be read, written or understood; the message names it."""


_LARGEST = 64 << 20  # bytes of a file that is read; no more of an endless one


def read_bytes(path: Path) -> bytes:
    """The content of a file, of at most 64 MiB.

    Raises CommandError.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise CommandError(f"{path}: it cannot be read: {error.strerror}") from None
    if len(data) > _LARGEST:
        raise CommandError(f"{path}: it has more than {_LARGEST >> 20} MiB")
    return data


def read_text(path: Path) -> str:
    """The text of a file, of at most 64 MiB.

    Raises CommandError.
    """
    data = read_bytes(path)
    try:
        text = data.decode(json.detect_encoding(data))
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise CommandError(f"{path}: this is no text")
    return text
