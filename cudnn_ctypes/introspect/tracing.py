"""Traces: what a program calls, told while it runs and kept for later."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..resource import Uncopied
from .call_records import CallRecord
from .call_text import WIDTH, line
from .choice import Choice
from .moment import Moment
from .regions import Region, about_memory
from .session import listen, stop
from .statistics import Sums

if TYPE_CHECKING:
    from .replay.programs import Programs

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
        py: str | os.PathLike[str] | None = None,
        c: str | os.PathLike[str] | None = None,
        program: str = "",
        memory: bool = False,
        first: int | None = None,
        flush: bool = False,
    ) -> None:
        self.looks_at_numbers = nan
        self.calls: list[CallRecord] = []
        self._choice = Choice(only, skip, first)
        self._file, self._json, self._width, self._keep = file, json, width, keep
        self._memory = memory
        self._programs: Programs | None = None
        if py is not None or c is not None:
            from .replay.programs import Programs

            self._programs = Programs(py, c, program, first, flush)
        self._count = 0
        self._first: CallRecord | None = None
        self._sums = Sums()
        if json is not None:
            print(_header(), file=json, flush=True)

    # --- the calls -------------------------------------------------------------------------------

    def wants(self, function: str) -> bool:
        """Whether calls of a C function are told."""
        return self._choice.wants(function)

    def allocated(self, region: Region) -> None:
        """The next call is the first to use an allocation, `region`."""
        if self._memory and self.wants("allocate"):
            self.hear(about_memory("allocate", region))

    def freed(self, region: Region) -> None:
        """An allocation that calls used, `region`, was freed."""
        if self._memory and self.wants("free"):
            self.hear(about_memory("free", region))

    def prepare(self, moment: Moment) -> None:
        """A call is about to be made; `moment` is its call and thread."""

    def hear(self, call: CallRecord, moment: Moment | None = None) -> None:
        """A call is over; `moment` is what `prepare` heard."""
        self._count += 1
        if self._count == self._choice.first:
            stop(self)
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

    @property
    def left_out(self) -> list[str]:
        """Calls that the programs which it writes lack, and why."""
        return [] if self._programs is None else self._programs.left_out

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

        Parameters
        ----------
        path : Path or str
            Where to; what is there is written over.

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

    def open(self) -> None:
        """See calls from now on.

        Raises
        ------
        RuntimeError
            If it sees them already.
        """
        if self._choice.first != 0:
            listen(self)
        if self._programs is not None:
            self._programs.start()

    def close(self) -> None:
        """See no more calls, and write what is to be written; those that were seen stay.

        Raises
        ------
        OSError
            If a program cannot be written.
        """
        stop(self)
        if self._programs is not None:
            self._programs.finish()

    def __enter__(self) -> Trace:
        self.open()
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
    memory: bool = False,
    first: int | None = None,
    py: str | os.PathLike[str] | None = None,
    c: str | os.PathLike[str] | None = None,
    flush: bool = False,
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
    memory : bool
        Whether to show also where memory that calls use was allocated and freed, as far as this
        package or PyTorch did it: "allocate" before the first call that uses it, "free" before the
        next call. `only` and `skip` hold for these names, too.
    first : int, optional
        How many calls to see, of a long program say; default: all.
    py : path, optional
        Where a Python program goes that makes the same raw calls; its data are put beside it.
    c : path, optional
        The folder of a C program that makes the same calls, with its data, a Makefile and a README;
        it is made if there is none. ``make run`` there compiles and runs the program, which
        compares what the calls write with what they wrote here.
    flush : bool
        Whether to write these programs before each call too, which takes time: a call that ends the
        process is then their last.

    Returns
    -------
    Trace
        `calls` has the records, ``str(...)`` the lines.

    Raises
    ------
    TypeError
        If `only` or `skip` are no patterns, or `first` is no int.
    ValueError
        If `first` is negative.

    Notes
    -----
    Traces may be nested, and end in any order. While none is open, nothing stands before C.

    Programs have all calls, whatever `only` and `skip` say. Handles and descriptors that were there
    before are made in them. Calls on what cannot be made, for cuDNN does not tell what it holds
    (plans, dropout), are left out, as `left_out` and the program say; so is what a CUDA graph
    captures. Work on several streams is done in the order of the calls, on one GPU.

    Examples
    --------
    >>> from cudnn_ctypes import TensorDescriptor
    >>> with trace(only="cudnnSet*") as t:
    ...     descriptor = TensorDescriptor((1, 64, 8, 8), "float16", layout="NHWC")
    >>> t.calls[0].function, t.calls[0].status
    ('cudnnSetTensor4dDescriptor', 'SUCCESS')
    >>> descriptor.close()
    """
    return Trace(
        only=only,
        skip=skip,
        nan=nan,
        file=file,
        width=width,
        memory=memory,
        first=first,
        py=py,
        c=c,
        flush=flush,
    )


def read_trace(path: str | os.PathLike[str]) -> list[CallRecord]:
    """The calls of a file that `Trace.save` or ``trace --json`` wrote.

    Parameters
    ----------
    path : Path or str
        The file.

    Returns
    -------
    list of CallRecord
        In the order in which the calls ended.

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
