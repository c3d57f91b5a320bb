"""``port``: what becomes of a C, C++ or CUDA program, or of the calls in a log of cuDNN."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..evidence.files import CommandError
from ..evidence.tracing import trace
from ..handle import Handle
from ..porting.report import Report, as_it_is, report_on
from ..porting.run.building import SUFFIXES
from ..porting.source import parse
from ..porting.translate import Translation, translate
from ..reference.device.dispatch import use_reference_device
from .options import (
    EVIDENCE,
    Output,
    add_force,
    add_json,
    evidence_in,
    file_name,
    make_folder,
    refuse_overwriting,
    steps,
    write_text,
)

EPILOG = """\
examples:
  python -m cudnn_ctypes port train.cu
  python -m cudnn_ctypes port --translate train.cu -o train.py
  python -m cudnn_ctypes port cudnn.log -o calls.py && python calls.py
  python -m cudnn_ctypes port cudnn.log --c calls && make -C calls run

The program of a log carries out each graph and legacy call once, with random numbers, and compares
what it finds with what the reference device found.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes port``."""
    parser.add_argument(
        "files",
        nargs="+",
        type=file_name,
        metavar="FILE",
        help=f"a C, C++ or CUDA file; with -o or --c also {EVIDENCE}, or what trace --json wrote",
    )
    parser.add_argument(
        "-I",
        dest="folders",
        action="append",
        default=[],
        type=file_name,
        metavar="FOLDER",
        help="where headers are looked for, besides the folder of the file; may be repeated",
    )
    add_json(parser)
    parser.add_argument(
        "--translate",
        action="store_true",
        help="write one Python program of all files instead; what is not translated raises when "
        "it is reached",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Output,
        metavar="OUT.py",
        help="where the Python program of --translate goes, which is printed by default; of a log, "
        "the program that makes its calls",
    )
    parser.add_argument(
        "--c", type=file_name, metavar="FOLDER", help="of a log: write the program in C"
    )
    add_force(parser)


def main(arguments: argparse.Namespace) -> int:
    """Print a report on each file; 1 if something is gone or a fault, 2 if one cannot be read.

    With ``--translate``, print the Python program; 1 if a part of it is not translated. Of a log,
    write the program; 1 if it lacks a graph or a call.
    """
    writes = arguments.output is not None or arguments.c is not None
    if writes and not arguments.translate:
        return _replay(arguments)
    if arguments.c is not None:
        raise CommandError("--c writes the calls of a log, and --translate those of C")
    return _translate(arguments) if arguments.translate else _report(arguments)


def _replay(arguments: argparse.Namespace) -> int:
    """Write the program that carries out the graphs and calls of a log; 1 if it lacks some."""
    if len(arguments.files) > 1 or arguments.files[0].suffix.lower() in SUFFIXES:
        raise CommandError("-o/--output goes with --translate, or with one log of cuDNN")
    path = arguments.files[0]
    target = None if arguments.output is None else arguments.output.file("calls.py", ".py")
    refuse_overwriting([target, arguments.c], force=arguments.force)
    for each in (target, arguments.c):
        if each is not None:
            make_folder(each.parent)
    evidence = evidence_in(path)
    with (
        use_reference_device(device=evidence.preset),
        Handle() as handle,
        trace(py=target, c=arguments.c, only="-"),
    ):
        done = evidence.replay(handle)
    failed = [each for each in done if each.status != "SUCCESS"]
    if arguments.json:
        print(json.dumps([{**asdict(each), "outputs": [*each.outputs]} for each in done], indent=2))
    else:
        print(evidence.heading)
        written = ", ".join(str(each) for each in (target, arguments.c) if each is not None)
        print(f"{len(done) - len(failed)} of {len(done)} graphs and calls -> {written}")
        for each in failed:
            print(f"  {each}")
    return int(bool(failed or evidence.unread))


def _report(arguments: argparse.Namespace) -> int:
    """Print the reports; 1 if something is gone or a fault, else 0."""
    reports: list[Report] = []
    try:
        with steps("reading", len(arguments.files)) as progress:
            for path in arguments.files:
                progress.begin(path.name)
                reports.append(report_on(parse(path), arguments.folders))
                if not arguments.json:
                    reports[-1].print(progress.console)
                progress.advance()
    finally:  # after Ctrl-C too
        if arguments.json:
            print(json.dumps([report.as_dict() for report in reports], indent=2))
    return int(any(report.needs_work for report in reports))


def _translate(arguments: argparse.Namespace) -> int:
    """Translate the files and print the summary; 0 if everything was translated, else 1."""
    paths, output = arguments.files, arguments.output
    target = None if output is None else output.file(f"{paths[-1].stem}.py", ".py")
    refuse_overwriting([target], force=arguments.force)
    translation = translate(*paths, folders=arguments.folders)
    if target is not None:
        write_text(target, translation.python, force=arguments.force)
    if arguments.json:
        print(json.dumps(_as_dict(translation, paths, target), indent=2))
    else:
        sys.stdout.write("" if target else translation.python)
        summary = _summary(translation, paths, arguments.folders, target)
        print(summary, file=sys.stdout if target else sys.stderr)
    return int(bool(translation.not_translated))


def _summary(
    translation: Translation, paths: list[Path], folders: list[Path], output: Path | None
) -> str:
    """Summary of the translation, with what is left by line of C."""
    names = " ".join(map(str, paths))
    lines = [f"{names} -> {output or 'standard output'}: {translation.statements} statements"]
    if not translation.statements and not translation.not_translated:
        lines.append(
            "  nothing is left of it by its #if conditions: define what they ask for in it"
        )
        return "\n".join(lines)
    if not translation.not_translated:
        return "\n".join([*lines, "  everything was translated"])
    count = len(translation.not_translated)
    lines.append(f"  not translated: {count}; each raises NotTranslatedError when it is reached")
    lines += [f"  line {line}: {why}" for line, why in translation.not_translated]
    return "\n".join([*lines, f"  as it is, it runs with: {as_it_is(paths, folders)}"])


def _as_dict(translation: Translation, paths: list[Path], output: Path | None) -> dict[str, Any]:
    return {
        "files": list(map(str, paths)),
        "output": None if output is None else str(output),
        "python": translation.python if output is None else None,
        "statements": translation.statements,
        "not_translated": [
            {"line": line, "reason": why} for line, why in translation.not_translated
        ],
    }
