"""The command that tells what becomes of a C program in Python."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from cudnn_ctypes.command_line import CommandError

from .report import report_on
from .source import parse

__all__ = ["add_arguments", "main"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes port``."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a C, C++ or CUDA file")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument(
        "--translate",
        action="store_true",
        help="write a Python program instead; what is not translated raises when it is reached",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT.py",
        help="where the Python program goes; by default it is printed",
    )


def _translated(arguments: argparse.Namespace) -> int:
    from .translate_command import translate_file

    try:
        if len(arguments.files) > 1:
            raise CommandError("--translate: expected one file")
        return translate_file(arguments.files[0], arguments.output)
    except CommandError as error:
        print(f"port: {error}", file=sys.stderr)
        return 2


def main(arguments: argparse.Namespace) -> int:
    """Print a report on each file; 1 if something is gone or a fault, 2 if one cannot be read.

    With ``--translate``, print the Python program; 1 if a part of it is not translated.
    """
    if arguments.translate:
        return _translated(arguments)
    try:
        reports = [report_on(parse(path)) for path in arguments.files]
    except CommandError as error:
        print(f"port: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps([report.as_dict() for report in reports], indent=2))
    else:
        from rich.console import Console

        console = Console(highlight=False)
        for report in reports:
            report.print(console)
    return int(any(report.needs_work for report in reports))
