"""Traces: what a program calls, told while it runs and kept for later."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from ..resource import Uncopied
from .call_records import CallRecord
from .call_text import WIDTH, line
from .moment import Moment
from .regions import Region
from .session import listen, stop
from .statistics import Sums

__all__ = ["Trace", "read_trace", "trace"]

_FORMAT = 1


class Trace(Uncopied):
    """The C calls of a program while it is open; `trace` makes one.

    Attributes
    ----------
    calls : list of CallRecord
        Those that are over, in the order in which they ended.
    """

    _instead = "its calls can be, and save() keeps them in a file"

    def __init__(
        self,
        *,
        only: str | Iterable[str] = (),
        skip: str | Iterable[str] = (),
        nan: bool = False,
        file: IO[str] | None = None,
        json: IO[str] | None = None,
        width: int = WIDTH,
        keep: bool = True,
    ) -> None:
        self.looks_at_numbers = nan
        self.calls: list[CallRecord] = []
        self._only, self._skip = _patterns("only", only), _patterns("skip", skip)
        self._file, self._json, self._width, self._keep = file, json, width, keep
        self._count = 0
        self._first: CallRecord | None = None
        self._sums = Sums()
        if json is not None:
            print(_header(), file=json, flush=True)

    # --- the calls -------------------------------------------------------------------------------

    def wants(self, function: str) -> bool:
        """Whether calls of a C function are told."""
        chosen = not self._only or any(fnmatch.fnmatchcase(function, each) for each in self._only)
        return chosen and not any(fnmatch.fnmatchcase(function, each) for each in self._skip)

    def allocated(self, region: Region) -> None:
        """The next call is the first to use an allocation."""

    def freed(self, region: Region) -> None:
        """An allocation that calls used was freed."""

    def prepare(self, moment: Moment) -> None:
        """A call is about to be made."""

    def hear(self, call: CallRecord, moment: Moment | None = None) -> None:
        """A call is over."""
        self._count += 1
        call = dataclasses.replace(call, number=self._count)
        self._sums.add(call)
        if self._keep:
            self.calls.append(call)
        if call.not_finite and self._first is None:
            self._first = call
        try:
            if self._file is not None:
                print(line(call, self._width), file=self._file, flush=True)
            if self._json is not None:
                print(json.dumps(call.as_dict()), file=self._json, flush=True)
        except (OSError, ValueError):  # nobody reads it any more
            self._file = self._json = None

    @property
    def first_not_finite(self) -> CallRecord | None:
        """The first call that wrote NaN or infinity; only known with ``nan=True``."""
        return self._first

    def statistics(self) -> str:
        """By C function: calls, failures, time in all and for each; a table."""
        return str(self._sums)

    def verdict(self) -> str:
        """In words, whether some call wrote NaN or infinity; only known with ``nan=True``."""
        if self._first is None:
            return f"no output that is not finite in {self._count} calls"
        return (
            f"call {self._first.number} is the first whose output is not finite:\n"
            f"{line(self._first, self._width)}"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the calls to a file, for `read_trace` and ``trace --diff``: JSON, one call a line.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        lines = [_header(), *(json.dumps(call.as_dict()) for call in self.calls)]
        Path(path).write_text("\n".join(lines) + "\n")

    def __str__(self) -> str:
        return "\n".join(line(call, self._width) for call in self.calls)

    def __repr__(self) -> str:
        return f"<Trace of {self._count} calls>"

    # --- from when to when -----------------------------------------------------------------------

    def close(self) -> None:
        """See no more calls; those that were seen stay."""
        stop(self)

    def __enter__(self) -> Trace:
        listen(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def trace(
    *,
    only: str | Iterable[str] = (),
    skip: str | Iterable[str] = (),
    nan: bool = False,
    file: IO[str] | None = None,
    width: int = WIDTH,
) -> Trace:
    """See every C call that is made in ``with``: by any layer, in any thread, on any device.

    Each is shown with its arguments by name: descriptors by what they hold, memory by the
    allocation that it lies in, called after the parameter that it was first passed for, and the
    offset there. What the package reads of descriptors for itself is not shown.

    Parameters
    ----------
    only, skip : str or iterable of str
        C functions to see, and not to see: patterns such as "cudnnConvolution*".
    nan : bool
        Whether to look for NaN and infinity in what calls write, which takes time; on a GPU it
        waits for each call's work.
    file : file, optional
        Where each call is printed when it is over, ``sys.stdout`` for instance.
    width : int
        Columns of the text; 0 puts every call on one line.

    Returns
    -------
    Trace
        `calls` has the records, ``str(...)`` the lines.

    Raises
    ------
    TypeError
        If `only` or `skip` are no patterns.

    Notes
    -----
    Traces may be nested, and end in any order. While none is open, nothing stands before C.

    Examples
    --------
    >>> from cudnn_ctypes import TensorDescriptor
    >>> with trace(only="cudnnSet*") as t:
    ...     descriptor = TensorDescriptor((1, 64, 8, 8), "float16", layout="NHWC")
    >>> t.calls[0].function, t.calls[0].status
    ('cudnnSetTensor4dDescriptor', 'SUCCESS')
    >>> descriptor.close()
    """
    return Trace(only=only, skip=skip, nan=nan, file=file, width=width)


def read_trace(path: str | os.PathLike[str]) -> list[CallRecord]:
    """The calls of a file that `Trace.save` or ``trace --json`` wrote.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is no trace.
    """
    lines = Path(path).read_text().splitlines()
    try:
        header, *calls = map(json.loads, lines)
        if header["cudnn_ctypes_trace"] != _FORMAT:
            raise ValueError(f"format {header['cudnn_ctypes_trace']}, expected {_FORMAT}")
        return [CallRecord.from_dict(each) for each in calls]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{os.fspath(path)}: this is no trace: {error}") from None


def _header() -> str:
    return json.dumps({"cudnn_ctypes_trace": _FORMAT})


def _patterns(name: str, given: Any) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(each, str) for each in patterns):
        raise TypeError(f"{name}: expected names of C functions, got {given!r}")
    # "Convolution*" means cudnnConvolution*.
    return tuple(
        each if each.startswith(("cudnn", "*", "?", "[")) else f"cudnn{each}" for each in patterns
    )
