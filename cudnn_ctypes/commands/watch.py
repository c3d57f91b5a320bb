"""``watch``: run any program and show what it does with cuDNN: graphs, engines, calls, times."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

from rich.console import Console

from ..evidence.cases import timed
from ..evidence.files import CommandError
from ..evidence.found import Evidence
from ..evidence.watching import LogFolder
from .options import (
    Output,
    add_force,
    add_json,
    needs_gpu,
    positive,
    refuse_overwriting,
    steps,
    write_text,
)

EPILOG = """\
examples:
  python -m cudnn_ctypes watch train.py --epochs 1
  python -m cudnn_ctypes watch --save cudnn.log.gz --html seen.html train.py
  python -m cudnn_ctypes watch ./sample
  python -m cudnn_ctypes watch -- python -m my.training

Options stand before the program; what follows it are its own arguments. The program is not changed:
cuDNN writes its log of level 3 to a temporary folder, which is read while the program runs. Each of
its calls takes some tens of microseconds longer. What was seen goes to stderr; --save keeps the
log, which lookup, explain, judge, compile, bench, trace --read, port and case take.
"""

_SHOWN = 15  # graphs while the program runs
_PICTURES = 50  # of graphs on a page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes watch``."""
    parser.add_argument(
        "--save", type=Output, metavar="FILE", help="keep the log; packed if it ends in .gz"
    )
    parser.add_argument(
        "--bench",
        type=positive,
        metavar="N",
        help="time the engines of the N graphs that were executed most, once the program has ended",
    )
    parser.add_argument("--html", type=Output, metavar="FILE", help="write a page")
    add_force(parser)
    add_json(parser)
    parser.add_argument("program", help="a program, or a Python program that ends in .py")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="the program's own arguments"
    )


def main(arguments: argparse.Namespace) -> int:
    """Run the program, whose exit status this is, and show what was seen; 2 if it cannot start."""
    save = None if arguments.save is None else arguments.save.file("cudnn.log.gz")
    page = None if arguments.html is None else arguments.html.file("watch.html", ".html")
    refuse_overwriting([save, page], force=arguments.force)
    command = _command(arguments.program, arguments.arguments)
    if arguments.bench:
        needs_gpu("--bench")
    with tempfile.TemporaryDirectory(prefix="cudnn_ctypes-watch-") as folder:
        logs = LogFolder(Path(folder), " ".join([arguments.program, *arguments.arguments]))
        status = _run(command, logs, to_stderr=arguments.json)
        evidence = logs.finish()
        if save is not None:
            save.parent.mkdir(parents=True, exist_ok=True)
            logs.save(save)
    if arguments.bench:
        with steps("timing engines"):
            timed(sorted(evidence.graphs, key=lambda each: -each.executions)[: arguments.bench])
    if page is not None:
        write_text(page, _page(evidence), force=arguments.force)
    if arguments.json:
        print(json.dumps(evidence.as_dict(), indent=2))
    else:
        evidence.show(sys.stderr)
    if not evidence.calls:
        print("watch: the program called nothing of cuDNN", file=sys.stderr)
    return status


def _command(program: str, arguments: list[str]) -> list[str]:
    """The command line of a program.

    Raises CommandError if there is no such program.
    """
    if program.endswith(".py"):
        if not os.path.isfile(program):
            raise CommandError(f"{program}: there is no such file; expected a program")
        return [sys.executable, program, *arguments]
    found = shutil.which(program)
    if found is None:
        raise CommandError(f"{program}: there is no such program")
    return [found, *arguments]


def _run(command: list[str], logs: LogFolder, *, to_stderr: bool) -> int:
    """Run a program with its output above a table of what it does; its exit status."""
    console = Console(stderr=True, highlight=False)
    shows = console.is_terminal
    out: Any = subprocess.PIPE if shows else sys.stderr if to_stderr else None
    variables = {**os.environ, **logs.variables, "PYTHONUNBUFFERED": "1"}
    try:
        process = subprocess.Popen(
            command, env=variables, stdout=out, stderr=subprocess.STDOUT if shows else None
        )
    except OSError as error:
        raise CommandError(f"{command[0]}: {error.strerror}") from None
    try:
        if shows:
            _show(process, logs, console)
        else:
            _follow(process, logs)
    except KeyboardInterrupt:  # the program has had it too; what was seen is kept
        process.wait()
        return 130
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def _follow(process: subprocess.Popen[bytes], logs: LogFolder) -> None:
    while process.poll() is None:
        if not logs.read():
            time.sleep(0.05)


def _show(process: subprocess.Popen[bytes], logs: LogFolder, console: Console) -> None:
    from rich.live import Live

    with Live(console=console, refresh_per_second=4, transient=True) as live:
        assert process.stdout is not None
        printer = threading.Thread(target=_print, args=(process.stdout, console), daemon=True)
        printer.start()
        while process.poll() is None:
            if logs.read():
                live.update(_Seen(logs.evidence))
            else:
                time.sleep(0.05)
        printer.join(1.0)


def _print(stream: IO[bytes], console: Console) -> None:
    """Print what a program prints, above the table."""
    for line in stream:
        console.print(line.decode("utf-8", "replace").rstrip("\n"), markup=False, soft_wrap=True)


class _Seen:
    """The graphs that were executed most so far."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    def __rich__(self) -> Any:
        from ..graph.engines.explaining.report import rich_table

        seen = self._evidence
        table = rich_table(("executed", "engine", "graph"), ("executed",))
        table.title = f"{seen.calls.total():,} messages, {len(seen.graphs)} graphs, " + (
            f"{len(seen.launches)} legacy calls"
        )
        for each in sorted(seen.graphs, key=lambda graph: -graph.executions)[:_SHOWN]:
            table.add_row(str(each.executions), each.engine, f"{each.text} {each.types}")
        for call in sorted(seen.launches, key=lambda call: -call.times)[:_SHOWN]:
            table.add_row(str(call.times), "legacy", call.text)
        return table


def _page(evidence: Evidence) -> str:
    """A page with all of it, and a picture of each graph."""
    from ..evidence.pictures.html import whole_page

    pictures = [each.graph._repr_html_() for each in evidence.graphs[:_PICTURES]]
    parts = "".join(
        f"<details><summary>#{i}</summary>{each}</details>" for i, each in enumerate(pictures, 1)
    )
    return whole_page(evidence.source, evidence._repr_html_() + parts) + "\n"
