"""``trace``: run a program and show its C calls; sum them up, look for NaN, compare two runs."""

from __future__ import annotations

import argparse
import runpy
import shutil
import sys
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from ..evidence.records import WIDTH, CallRecord, compare, line
from ..evidence.tracing import Trace, read_trace, records
from .options import Output, add_force, file_name, make_folder, refuse_overwriting

EPILOG = """\
examples:
  python -m cudnn_ctypes trace program.py --epochs 1
  python -m cudnn_ctypes trace --only 'Convolution*' -o calls.txt program.py
  python -m cudnn_ctypes trace --nan program.py
  python -m cudnn_ctypes trace --json before.json program.py
  python -m cudnn_ctypes trace --diff before.json after.json
  python -m cudnn_ctypes trace --c out program.py && make -C out run

Options stand before the program; what follows it are its own arguments. CUDNN_CTYPES_TRACE=1 shows
the calls of any program that uses cudnn_ctypes; a file's name there has them written to that file,
as records if it ends in .json and as a Python program if it ends in .py, and a folder's name that
ends in / as a C program.

A program that --c or --py writes needs nothing of what the traced one is made of: what that one, or
kernels of others, had put on the device is in its data, and work on several streams is done in the
order of the calls. --c is also the way to report a bug of cuDNN. Trace the smallest program that
shows it, for the data hold all memory that its calls read; and with --flush if cuDNN ends the
process.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes trace``."""
    parser.add_argument(
        "-m", dest="module", action="store_true", help="the program is the name of a module"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="C functions to show: 'Convolution*', cudnnBackendExecute; may be repeated",
    )
    parser.add_argument(
        "--skip", action="append", default=[], metavar="PATTERN", help="C functions not to show"
    )
    parser.add_argument("--stats", action="store_true", help="sum up by C function instead")
    parser.add_argument(
        "--nan", action="store_true", help="name the first call whose output is not finite instead"
    )
    parser.add_argument(
        "--json", type=Output, metavar="FILE", help="write records to a file instead"
    )
    parser.add_argument(
        "--py",
        type=Output,
        metavar="FILE",
        help="write a Python program that makes the same raw calls, and its data beside it",
    )
    parser.add_argument(
        "--c",
        type=file_name,
        metavar="FOLDER",
        help="write a C program that makes the same calls and stands alone, with its data, a "
        "Makefile and a README; 'make run' there compares what the calls write with what they "
        "wrote here",
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="show also where memory that calls use is allocated and freed",
    )
    parser.add_argument(
        "--first", type=int, metavar="N", help="see the first N calls only, of a long program say"
    )
    parser.add_argument(
        "--flush",
        action="store_true",
        help="write the programs of --py and --c before each call too: for a call that ends the "
        "process, which is then their last",
    )
    parser.add_argument("--lines", action="store_true", help="with these: show the calls too")
    parser.add_argument(
        "-o", "--output", type=Output, metavar="FILE", help="where to print (default: stderr)"
    )
    add_force(parser)
    parser.add_argument(
        "--width", type=int, help="columns; 0 puts each call on one line (default: the terminal's)"
    )
    parser.add_argument(
        "--read", type=file_name, metavar="FILE", help="show what --json wrote, or a log of cuDNN"
    )
    parser.add_argument(
        "--diff",
        nargs=2,
        type=file_name,
        metavar=("A", "B"),
        help="compare two runs that --json wrote; the exit status is 1 if they differ",
    )
    parser.add_argument("program", nargs="?", help="a Python program")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="the program's own arguments"
    )


def main(arguments: argparse.Namespace) -> int:
    """Run the program and return its exit status, or compare two traces; 2 on wrong arguments."""
    if arguments.diff:
        _refuse(arguments, "--diff", ("stats", "nan", "lines", *_OF_A_RUN))
        return _diff(arguments)
    if arguments.read:
        _refuse(arguments, "--read", _OF_A_RUN)
        return _read(arguments)
    if not arguments.program:
        raise ValueError("expected a program, --read FILE or --diff A B")
    return _run(arguments)


_OF_A_RUN = ("program", "json", "py", "c", "memory", "first", "flush", "output")


def _refuse(arguments: argparse.Namespace, option: str, others: Sequence[str]) -> None:
    """Refuse arguments that mean nothing beside an option that runs no program."""
    for name in others:
        if value := getattr(arguments, name):
            shown = repr(value) if name == "program" else f"--{name}"
            raise ValueError(f"{option} shows what was recorded, and {shown} is for a run")


def _width(arguments: argparse.Namespace, file: IO[str]) -> int:
    if arguments.width is not None:
        return max(int(arguments.width), 0)
    return shutil.get_terminal_size().columns if file.isatty() else WIDTH


def _diff(arguments: argparse.Namespace) -> int:
    one, other = map(read_trace, arguments.diff)
    chosen = Trace(only=arguments.only, skip=arguments.skip)
    found = compare(_chosen(one, chosen), _chosen(other, chosen))
    print(found.text(_width(arguments, sys.stdout)))
    return 1 if found.pairs else 0


def _chosen(calls: Sequence[CallRecord], by: Trace) -> list[CallRecord]:
    return [call for call in calls if by.wants(call.function)]


def _read(arguments: argparse.Namespace) -> int:
    width = _width(arguments, sys.stdout)
    replayed = Trace(only=arguments.only, skip=arguments.skip, width=width, keep=False)
    shows = arguments.lines or not (arguments.stats or arguments.nan)
    for call in records(arguments.read):
        if replayed.wants(call.function):
            replayed.hear(call)
            if shows:
                print(line(call, width))
    _conclude(replayed, arguments, sys.stdout)
    return 0


def _run(arguments: argparse.Namespace) -> int:
    program = arguments.program
    output, json, py = _files(arguments)
    if not arguments.module and not Path(program).is_file():
        kind = "this is a folder" if Path(program).is_dir() else "there is no such file"
        raise ValueError(f"{program}: {kind}; expected a Python program")
    with ExitStack() as stack:
        out: IO[str] = sys.stderr
        if output is not None:
            out = stack.enter_context(output.open("w"))
        records = None
        if json is not None:
            records = stack.enter_context(json.open("w"))
        instead = (arguments.stats, arguments.nan, records, arguments.py, arguments.c)
        shows = arguments.lines or not any(instead)
        traced = Trace(
            only=arguments.only,
            skip=arguments.skip,
            nan=arguments.nan,
            file=out if shows else None,
            json=records,
            width=_width(arguments, out),
            keep=False,
            py=py,
            c=arguments.c,
            program=program,
            memory=arguments.memory,
            first=arguments.first,
            flush=arguments.flush,
        )
        try:
            with traced:
                return _status_of(program, arguments.arguments, as_module=arguments.module)
        finally:
            _conclude(traced, arguments, out)
            for reason in traced.left_out:
                print(f"left out: {reason}", file=out)


def _files(arguments: argparse.Namespace) -> list[Path | None]:
    """The files named by --output, --json and --py; a folder gets default names."""
    forms = (("calls.txt",), ("calls.json",), ("replay.py", ".py"))
    chosen = (arguments.output, arguments.json, arguments.py)
    files = [
        None if each is None else each.file(*form) for form, each in zip(forms, chosen, strict=True)
    ]
    refuse_overwriting([*files, arguments.c], force=arguments.force)
    for file in files:
        if file is not None:
            make_folder(file.parent)
    if arguments.c is not None:
        make_folder(arguments.c)
    return files


def _conclude(traced: Trace, arguments: argparse.Namespace, out: IO[str]) -> None:
    if arguments.stats:
        print(traced.statistics(), file=out)
    if arguments.nan:
        print(traced.verdict(), file=out)


def _status_of(program: str, arguments: list[str], *, as_module: bool) -> int:
    """Run a program like Python itself; return its exit status."""
    before = sys.argv[:], sys.path[:]
    sys.argv = [program, *arguments]
    try:
        if as_module:
            sys.path.insert(0, "")
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(program).resolve().parent))
            runpy.run_path(program, run_name="__main__")
    except SystemExit as exit_:
        if exit_.code is None or isinstance(exit_.code, int):
            return exit_.code or 0
        print(exit_.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # the calls recorded so far are kept
        return 130
    except BaseException as error:
        _print_traceback(error)
        return 1
    finally:
        sys.argv, sys.path[:] = before
    return 0


def _print_traceback(error: BaseException) -> None:
    """Print the traceback without the frames of this module and of runpy.

    Nothing but the error is left if the program cannot be read: a missing module, a binary file.
    """
    entry = error.__traceback__
    while entry is not None and (
        entry.tb_frame.f_code.co_filename == __file__
        or entry.tb_frame.f_globals.get("__name__") == "runpy"
    ):
        entry = entry.tb_next
    traceback.print_exception(type(error), error, entry)
