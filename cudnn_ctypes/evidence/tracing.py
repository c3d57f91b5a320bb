"""Traces: records of a program's C calls, printed while it runs and kept for later."""

from __future__ import annotations

import atexit
import dataclasses
import fnmatch
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..arguments import file_path, integer, items
from ..raw.values import described
from ..resource import Uncopied
from .log_files import LogLines, is_log, log_lines
from .logged_calls import logged_calls
from .memory import Region, about_memory
from .records import WIDTH, CallRecord, Sums, line
from .session import Moment, listen, stop

if TYPE_CHECKING:
    from .replay.programs import Programs


_FORMAT = 1


class Trace(Uncopied):
    """Record every C call in a ``with`` block: by any layer, in any thread, on any device.

    Each call is shown with its named arguments: a descriptor with its values, memory as its
    allocation and the offset in it. An allocation has the name of the parameter to which it was
    first passed. Calls by which the package itself reads descriptors are not shown.

    Parameters
    ----------
    only, skip : str or iterable of str
        Patterns of the C functions to record, and not to record: "cudnnConvolution*".
    nan : bool
        Whether to look for NaN and infinity in the outputs of calls. This takes time; on a GPU it
        waits for each call's work.
    file : file, optional
        A file to which each finished call is printed, ``sys.stdout`` for instance.
    json : file, optional
        A file to which each finished call is written, for `read_trace`. The calls are not kept
        then, so that memory does not grow with their number.
    width : int
        Columns of the text; 0 puts every call on one line.
    memory : bool
        Whether to also show the allocation and freeing of memory that calls use, if this package
        or PyTorch did it: "allocate" before the first call that uses the memory, "free" before the
        next call. `only` and `skip` apply to these names, too.
    first : int, optional
        The number of calls to record; default: all.
    py : path, optional
        The path of a Python program to write that makes the same raw calls; its data go beside it.
    c : path, optional
        The folder for a C program that makes the same calls, with its data, a Makefile and a
        README; it is created if missing. ``make run`` there compiles and runs the program, which
        compares the calls' outputs with the recorded ones.
    flush : bool
        Whether to write these programs before each call too. This takes time, but a call that ends
        the process is then the last call in them.
    program : str, optional
        The name of the recorded program in these programs; default: the running one.
    keep : bool, optional
        Whether to keep the calls; default: unless `json` takes them.

    Attributes
    ----------
    calls : list of CallRecord
        The finished calls, in the order in which they ended; ``str(...)`` gives their lines.

    Raises
    ------
    TypeError
        If `only` or `skip` is no pattern, or `first` is no int.
    ValueError
        If `first` is negative.

    Notes
    -----
    Traces may be nested, and end in any order. While no trace is open, calls go straight to C.

    The written programs contain all calls, regardless of `only` and `skip`. They create the handles
    and descriptors that existed before the trace. Plans and dropout descriptors from before the
    trace cannot be created, since cuDNN does not return their contents; calls that use them are
    left out, and so are calls that a CUDA graph captures. `left_out` and the program list them.
    The programs do work of several streams in the order of the calls, on one GPU.

    Examples
    --------
    >>> from cudnn_ctypes import TensorDescriptor
    >>> with trace(only="cudnnSet*") as t:
    ...     descriptor = TensorDescriptor((1, 64, 8, 8), "float16", layout="NHWC")
    >>> t.calls[0].function, t.calls[0].status
    ('cudnnSetTensor4dDescriptor', 'SUCCESS')
    >>> descriptor.close()
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
        memory: bool = False,
        first: int | None = None,
        py: str | os.PathLike[str] | None = None,
        c: str | os.PathLike[str] | None = None,
        flush: bool = False,
        program: str = "",
        keep: bool | None = None,
    ) -> None:
        self.looks_at_numbers = nan
        self.calls: list[CallRecord] = []
        self._choice = Choice(only, skip, first)
        self._file, self._json, self._width = file, json, width
        self._keep = json is None if keep is None else keep
        self._memory = memory
        self._programs: Programs | None = None
        if py is not None or c is not None:
            from .replay.programs import Programs

            self._programs = Programs(py, c, program, first, flush)
        self._count = 0
        self._first: CallRecord | None = None
        self._sums = Sums()
        for name, each in (("file", file), ("json", json)):
            if each is not None and (isinstance(each, type) or not hasattr(each, "write")):
                raise TypeError(f"{name}: expected a file open for writing, got {described(each)}")
        if json is not None:
            print(_header(), file=json, flush=True)

    # --- the calls -------------------------------------------------------------------------------

    def wants(self, function: str) -> bool:
        """Whether calls of a C function are recorded."""
        return self._choice.wants(function)

    def allocated(self, region: Region) -> None:
        """Record the allocation `region`, before the first call that uses it."""
        if self._memory and self.wants("allocate"):
            self.hear(about_memory("allocate", region))

    def freed(self, region: Region) -> None:
        """Record that the allocation `region`, which calls used, was freed."""
        if self._memory and self.wants("free"):
            self.hear(about_memory("free", region))

    def prepare(self, moment: Moment) -> None:
        """Do nothing: a trace does not need `moment`, a call about to be made."""

    def hear(self, call: CallRecord, moment: Moment | None = None) -> None:
        """Record and print a finished call; `moment` is not used."""
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
        except (OSError, ValueError):  # the reader has closed it
            self._file = self._json = None

    @property
    def first_not_finite(self) -> CallRecord | None:
        """The first call that wrote NaN or infinity; only known with ``nan=True``."""
        return self._first

    @property
    def left_out(self) -> list[str]:
        """Calls that are missing from the written programs, with reasons."""
        return [] if self._programs is None else self._programs.left_out

    def statistics(self) -> str:
        """A table by C function: calls, failures, total time and time per call."""
        return str(self._sums)

    def verdict(self) -> str:
        """A sentence on whether some call wrote NaN or infinity; only known with ``nan=True``."""
        if self._first is None:
            return f"no output that is not finite in {self._count} calls"
        return (
            f"call {self._first.number} is the first whose output is not finite:\n"
            f"{line(self._first, self._width)}"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the calls to a file for `read_trace` and ``trace --diff``: JSON, one call per line.

        Parameters
        ----------
        path : Path or str
            The file; an existing one is overwritten.

        Raises
        ------
        OSError
            If the file cannot be written.
        ValueError
            If the calls went to a file of their own (`json`) and were not kept.
        """
        if not self._keep:
            raise ValueError("the calls were not kept: they went to the trace's own file")
        lines = [_header(), *(json.dumps(call.as_dict()) for call in self.calls)]
        Path(path).write_text("\n".join(lines) + "\n")

    def __str__(self) -> str:
        return "\n".join(line(call, self._width) for call in self.calls)

    def __repr__(self) -> str:
        return f"<Trace of {self._count} calls>"

    # --- start and end ---------------------------------------------------------------------------

    def open(self) -> None:
        """Record calls from now on.

        Raises
        ------
        RuntimeError
            If the trace is open already.
        """
        if self._choice.first != 0:
            listen(self)
        if self._programs is not None:
            self._programs.start()

    def close(self) -> None:
        """Stop recording, and write the programs; the recorded calls stay.

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


trace = Trace


def read_trace(path: str | os.PathLike[str]) -> list[CallRecord]:
    """The calls of a file that `Trace.save` or ``trace --json`` wrote, or of cuDNN's log.

    Parameters
    ----------
    path : Path or str
        The file; a log is of level 3 (``CUDNN_LOGLEVEL_DBG=3``).

    Returns
    -------
    list of CallRecord
        In the order in which the calls ended.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is no trace.

    Examples
    --------
    >>> from cudnn_ctypes import LRNDescriptor
    >>> with trace(only="cudnnSetLRN*") as t, LRNDescriptor():
    ...     t.save("calls.json")
    >>> read_trace("calls.json") == t.calls
    True
    """
    return list(records(file_path("path", path)))


_LONGEST = 16 << 20  # characters of one call


def records(file: Path) -> Iterator[CallRecord]:
    """The calls of a file, one after the other; see `read_trace`."""
    if is_log(file):
        yield from logged_calls(LogLines().messages(log_lines(file)))
        return
    try:
        with file.open(encoding="utf-8") as stream:
            lines = iter(lambda: stream.readline(_LONGEST), "")
            header = json.loads(next(lines, "null"))
            if not isinstance(header, dict) or "cudnn_ctypes_trace" not in header:
                raise ValueError("its first line does not say cudnn_ctypes_trace")
            if header["cudnn_ctypes_trace"] != _FORMAT:
                raise ValueError(f"format {header['cudnn_ctypes_trace']}, expected {_FORMAT}")
            for text in lines:
                yield CallRecord.from_dict(json.loads(text))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{file}: this is no trace: {error}") from None


def _header() -> str:
    return json.dumps({"cudnn_ctypes_trace": _FORMAT})


_MEMORY = ("allocate", "free")


class Choice:
    """A selection of calls by function name and by number.

    - `only`, `skip`: patterns of C functions' names; "cudnn" may be omitted.
    - `first`: the number of calls; None for all.

    Raises TypeError or ValueError if an argument has another type or a wrong value.
    """

    def __init__(self, only: Any, skip: Any, first: Any) -> None:
        self._only, self._skip = _patterns("only", only), _patterns("skip", skip)
        self.first: int | None = None if first is None else integer("first", first, least=0)

    def wants(self, function: str) -> bool:
        """Whether calls of a C function are recorded."""
        chosen = not self._only or any(fnmatch.fnmatchcase(function, each) for each in self._only)
        return chosen and not any(fnmatch.fnmatchcase(function, each) for each in self._skip)


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    expected = "names of C functions"
    patterns = (value,) if isinstance(value, str) else items(name, value, expected)
    if not all(isinstance(each, str) for each in patterns):
        raise TypeError(f"{name}: expected {expected}, got {value!r}")
    # "Convolution*" means cudnnConvolution*.
    return tuple(
        each if each.startswith(("cudnn", "*", "?", "[")) or each in _MEMORY else f"cudnn{each}"
        for each in patterns
    )


ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_TRACE"

_SUMMARIES = ("stats", "nan")


def start(value: str) -> list[Trace]:
    """Trace this process to its end; the variable's value selects the outputs.

    - `value`: one or more of these, separated by commas. "1" prints each call on stderr, "stats"
      prints statistics at the end, "nan" names the first call whose output is not finite. A folder,
      with "/" at the end, gets a C program at the end. Other values are files: ".json" for records,
      ".py" for a Python program written at the end, other suffixes for lines of text. ``%p``
      becomes the process's number. Without ``%p`` child processes are not traced, since they would
      write to the same file.

    Raises OSError if the file cannot be written.
    """
    return [_start(each.strip()) for each in value.split(",") if each.strip()]


def _start(value: str) -> Trace:
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
    # The file is closed with the process: calls are made to its very end, and Python would warn.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    file: IO[str] = open(descriptor, "w", closefd=False)  # noqa: SIM115
    records = path.endswith(".json")
    return Trace(
        file=None if records else file, json=file if records else None, width=100, keep=False
    )


def _conclude(traced: Trace, summary: str) -> None:
    print(traced.statistics() if summary == "stats" else traced.verdict(), file=sys.stderr)
