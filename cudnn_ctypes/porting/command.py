"""The command that tells what becomes of a C program in Python."""

from __future__ import annotations

import argparse
import json
import sys

from cudnn_ctypes.command_line import CommandError, Output, add_force, add_json, file_name
from cudnn_ctypes.command_progress import steps

from .report import Report, report_on
from .source import parse

__all__ = ["add_arguments", "main"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes port``."""
    parser.add_argument(
        "files", nargs="+", type=file_name, metavar="FILE", help="a C, C++ or CUDA file"
    )
    add_json(parser)
    parser.add_argument(
        "--translate",
        action="store_true",
        help="write a Python program instead; what is not translated raises when it is reached",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Output,
        metavar="OUT.py",
        help="where the Python program of --translate goes; by default it is printed",
    )
    add_force(parser)


def _translated(arguments: argparse.Namespace) -> int:
    from .translate_command import translate_file

    try:
        if len(arguments.files) > 1:
            raise CommandError("--translate: expected one file")
        (path,), output = arguments.files, arguments.output
        target = None if output is None else output.file(f"{path.stem}.py", ".py")
        return translate_file(path, target, force=arguments.force, as_json=arguments.json)
    except CommandError as error:
        print(f"port: {error}", file=sys.stderr)
        return 2


def main(arguments: argparse.Namespace) -> int:
    """Print a report on each file; 1 if something is gone or a fault, 2 if one cannot be read.

    With ``--translate``, print the Python program; 1 if a part of it is not translated.
    """
    if arguments.translate:
        return _translated(arguments)
    if arguments.output is not None:
        print("port: -o/--output goes with --translate", file=sys.stderr)
        return 2
    reports: list[Report] = []
    try:
        with steps("reading", len(arguments.files)) as progress:
            for path in arguments.files:
                progress.begin(path.name)
                reports.append(report_on(parse(path)))
                if not arguments.json:
                    reports[-1].print(progress.console)
                progress.advance()
    except CommandError as error:
        print(f"port: {error}", file=sys.stderr)
        return 2
    finally:  # after Ctrl-C too
        if arguments.json:
            print(json.dumps([report.as_dict() for report in reports], indent=2))
    return int(any(report.needs_work for report in reports))
