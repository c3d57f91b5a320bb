"""Watching what a program does with cuDNN: by the log callback in this process, or by log files."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..raw import CUDNN_SEV_ERROR, CUDNN_SEV_INFO
from ..raw.process import new_lock
from .found import LOG, Evidence
from .log_files import LogLines
from .messages import Message, hearing
from .reading import Reader

_AT_ONCE = 1 << 15  # lines of a log


@contextmanager
def watch() -> Iterator[Evidence]:
    """Watch what this process does with cuDNN in a ``with`` block: PyTorch's calls, say, too.

    Each call takes longer for it, as cuDNN prints all arguments and they are read: 0.05 ms to 0.5.
    Nothing but new graphs and calls is kept, so that memory does not grow with their number.

    Yields
    ------
    Evidence
        Graphs and calls of the legacy API so far, with the engines that were executed and the time
        in which their plans were built. The reference device logs no executions.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> y = graph.relu(graph.tensor((8, 64, 16, 16), layout="nhwc")).set_output()
    >>> with watch() as seen:
    ...     graph.build("H200").close()
    >>> [(each.text, each.times, each.plans) for each in seen.graphs]
    [('relu: 8x64x16x16, 8x64x16x16', 1, 1)]
    """
    seen, lock = Evidence("this process", LOG), new_lock()
    reader = Reader(seen)

    def hear(message: Message) -> None:
        with lock:
            reader.hear(message)

    with hearing({CUDNN_SEV_INFO, CUDNN_SEV_ERROR}, hear):
        yield seen
    reader.finish()


class LogFolder:
    """The logs that a program's processes write to a folder, read while they grow.

    - `source`: what the evidence calls them.
    """

    def __init__(self, folder: Path, source: str) -> None:
        self._folder = folder
        self.evidence = Evidence(source, LOG)
        self._reader = Reader(self.evidence)
        self._logs: dict[str, _Log] = {}

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables with which a program logs there."""
        return {
            "CUDNN_LOGLEVEL_DBG": "3",
            "CUDNN_LOGDEST_DBG": str(self._folder / "%i.log"),
        }

    def read(self) -> bool:
        """Take in some of what is new; whether there was anything."""
        found = False
        for name in sorted(os.listdir(self._folder)):
            log = self._logs.setdefault(name, _Log(self._folder / name))
            for line in log.new_lines():
                found = True
                if (message := log.lines.message(line)) is not None:
                    self._reader.hear(message)
        return found

    def finish(self) -> Evidence:
        """Take in the rest, once the program has ended."""
        while self.read():
            pass
        for log in self._logs.values():
            log.lines.end()
            self.evidence.cut += log.lines.cut
            log.file.close()
        return self._reader.finish()

    def save(self, path: Path) -> None:
        """Write the logs, one after the other, to a file; packed if its name ends in .gz."""
        with (gzip.open if path.suffix == ".gz" else open)(path, "wb") as target:
            for name in sorted(os.listdir(self._folder)):
                with open(self._folder / name, "rb") as source:
                    shutil.copyfileobj(source, target)


class _Log:
    """A log that grows."""

    def __init__(self, path: Path) -> None:
        self.file: IO[str] = path.open(encoding="utf-8", errors="replace", newline="\n")
        self.lines: LogLines = LogLines()
        self._begun = ""  # a line without its end

    def new_lines(self) -> Iterator[str]:
        """The next lines, at most `_AT_ONCE`."""
        for _ in range(_AT_ONCE):
            line = self.file.readline()
            if not line.endswith("\n"):
                self._begun += line
                return
            yield self._begun + line
            self._begun = ""
