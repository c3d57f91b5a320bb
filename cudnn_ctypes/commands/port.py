"""``port``: what becomes of a C, C++ or CUDA program: names that are gone, faults, kernels."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..porting.report import Report, report_on
from ..porting.source import parse
from ..porting.translate import Translation, translate
from .options import (
    CommandError,
    Output,
    add_force,
    add_json,
    file_name,
    read_text,
    refuse_overwriting,
    steps,
    write_text,
)

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
    try:
        if len(arguments.files) > 1:
            raise CommandError("--translate: expected one file")
        (path,), output = arguments.files, arguments.output
        target = None if output is None else output.file(f"{path.stem}.py", ".py")
        return _translate_file(path, target, force=arguments.force, as_json=arguments.json)
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


def _translate_file(
    path: Path, output: Path | None, *, force: bool = False, as_json: bool = False
) -> int:
    """Translate a file and print the summary; 0 if everything was translated, else 1.

    Parameters
    ----------
    path : Path
        C, C++ or CUDA source.
    output : Path or None
        Where the Python program goes; None prints it, and the summary to standard error.
    force : bool
        Whether to write over a file that is there.
    as_json : bool
        Whether to print the summary as JSON, which has the program if it goes to no file.

    Raises
    ------
    CommandError
        If a file cannot be read or written, or tree-sitter is not installed.
    """
    refuse_overwriting([output], force=force)
    translation = translate(read_text(path), path.name, path.parent)
    if as_json:
        if output is not None:
            write_text(output, translation.python, force=force)
        print(json.dumps(_as_dict(translation, path, output), indent=2))
        return 1 if translation.not_translated else 0
    if output is None:
        sys.stdout.write(translation.python)
    else:
        write_text(output, translation.python, force=force)
    print(_summary(translation, path, output), file=sys.stdout if output else sys.stderr)
    return 1 if translation.not_translated else 0


def _summary(translation: Translation, path: Path, output: Path | None) -> str:
    """Summary of the translation, with what is left by line of C."""
    lines = [f"{path} -> {output or 'standard output'}: {translation.statements} statements"]
    if not translation.statements and not translation.not_translated:
        lines.append(
            "  nothing is left of it by its #if conditions: define what they ask for in it"
        )
        return "\n".join(lines)
    if translation.kernels:
        names = ", ".join(translation.kernels)
        lines.append(
            f"  needs an NVIDIA GPU: NVRTC compiles the kernels when they are launched: {names}"
        )
    if not translation.not_translated:
        return "\n".join([*lines, "  everything was translated"])
    count = len(translation.not_translated)
    lines.append(f"  not translated: {count}; each raises NotTranslatedError when it is reached")
    return "\n".join(
        [*lines, *(f"  line {line}: {why}" for line, why in translation.not_translated)]
    )


def _as_dict(translation: Translation, path: Path, output: Path | None) -> dict[str, Any]:
    return {
        "file": str(path),
        "output": None if output is None else str(output),
        "python": translation.python if output is None else None,
        "statements": translation.statements,
        "kernels": list(translation.kernels),
        "not_translated": [
            {"line": line, "reason": why} for line, why in translation.not_translated
        ],
    }
