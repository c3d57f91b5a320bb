"""Traces of whole programs, by the environment variable ``CUDNN_CTYPES_TRACE``."""

from __future__ import annotations

import atexit
import os
import sys
from typing import IO

from .tracing import Trace

__all__ = ["ENVIRONMENT_VARIABLE", "start"]

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_TRACE"

_SUMMARIES = ("stats", "nan")


def start(value: str) -> Trace:
    """Trace this process to its end; the variable's value selects the output.

    Parameters
    ----------
    value : str
        "1" prints each call on stderr, "stats" prints statistics at the end, "nan" names the first
        call whose output is not finite. A folder, with "/" at the end, gets a C program at the end.
        Other values are files: ".json" for records, ".py" for a Python program written at the end,
        other suffixes for lines of text. ``%p`` becomes the process's number. Without ``%p`` child
        processes are not traced, since they would write to the same file.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    if value in _SUMMARIES:
        traced = Trace(nan=value == "nan", keep=False)
        atexit.register(_conclude, traced, value)
    elif value == "1":
        traced = Trace(file=sys.stderr, keep=False)
    else:
        if "%p" not in value:
            os.environ[ENVIRONMENT_VARIABLE] = "0"
        traced = _into(value.replace("%p", str(os.getpid())))
    traced.open()
    return traced


def _into(path: str) -> Trace:
    """Start a trace that writes to a file or folder."""
    if path.endswith(("/", ".py")):
        is_c = path.endswith("/")
        traced = Trace(keep=False, c=path if is_c else None, py=None if is_c else path)
        atexit.register(traced.close)
        return traced
    # The file is closed with the process: calls are made to its very end.
    file: IO[str] = open(path, "w")  # noqa: SIM115
    records = path.endswith(".json")
    return Trace(
        file=None if records else file, json=file if records else None, width=100, keep=False
    )


def _conclude(traced: Trace, summary: str) -> None:
    print(traced.statistics() if summary == "stats" else traced.verdict(), file=sys.stderr)
