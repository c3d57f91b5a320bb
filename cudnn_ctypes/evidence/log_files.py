"""cuDNN's log as text: ``CUDNN_LOGLEVEL_DBG`` and ``CUDNN_LOGDEST_DBG`` of any program."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from .messages import Message

_SEVERITIES = {"F": 0, "E": 1, "W": 2, "I": 3}  # cudnnSeverity_t
_LINE = re.compile(r"(?:^|.*?[\s\]:>|])([FEWIfewi])! ?(.*)", re.DOTALL)
_HEAD = re.compile(r"CuDNN \(v\d+")
_BEGIN = re.compile(r"[FEWI]! CuDNN \(v\d+")
_LOOKED_AT = 1 << 20  # characters at the beginning of a file, which tell a log
_LONGEST = 64 << 20  # characters of one line


def is_log(path: Path) -> bool:
    """Whether a file begins like a log, perhaps with other lines of the program before.

    A pipe is none: what is read of it here would be gone.
    """
    if path.exists() and not path.is_file():
        return False
    seen = 0
    for line in log_lines(path):
        seen += len(line)
        if "! CuDNN (v" in line or seen > _LOOKED_AT:
            return _BEGIN.search(line) is not None
    return False


def log_lines(path: Path) -> Iterator[str]:
    """The lines of a log, which may be compressed by gzip; cut off where that is damaged."""
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    opener = gzip.open if compressed else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as stream:
        try:
            yield from iter(lambda: stream.readline(_LONGEST), "")
        except (EOFError, OSError, zlib.error):  # the end is missing, or damaged
            return


class LogLines:
    """The messages in the lines of a log.

    - `count`: messages so far.
    - `cut`: messages whose end is missing, so far: another process wrote into them, or the file
      ends.
    """

    def __init__(self) -> None:
        self.count = self.cut = 0
        self._severity, self._text, self._inside = 0, list[str](), False

    def messages(self, lines: Iterable[str]) -> Iterator[Message]:
        """The messages, one after the other; lines of the program itself are passed over."""
        yield from filter(None, map(self.message, lines))
        self.end()

    def message(self, line: str) -> Message | None:
        """The message that a further line ends; None if it ends none."""
        if line[1:3] == "! ":
            letter, rest = line[0], line[3:].rstrip("\n")
        elif "! " in line and (match := _LINE.match(line)):
            letter, rest = match[1], match[2].rstrip("\n")
        else:
            if self._inside and line.strip():
                self._text.append(line.rstrip("\n"))
            return None
        if letter in _SEVERITIES and _HEAD.match(rest):
            self.end()
            self._severity, self._text, self._inside = _SEVERITIES[letter], [rest], True
        elif self._inside:
            self._text.append(rest)
            if rest.startswith((" Process=", "Process=")):
                self._inside = False
                self.count += 1
                return Message.of(self._severity, "\n".join(self._text))
        return None

    def end(self) -> None:
        """Count the message that is being read as cut off."""
        self.cut += self._inside
        self._inside = False
