"""``doctor``: what is installed, what works, and what to do about the rest."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ... import __version__
from ..options import Output, Steps, add_force, add_json, steps, write_text
from .probes import PROBES, PURPOSES, Finding, examine

if TYPE_CHECKING:
    from rich.text import Text


_STYLES = {"ok": "green", "missing": "yellow", "problem": "bold red"}
_NAME = 26  # columns of a finding's name; longer names are not cut
_STATE = max(map(len, _STYLES))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes doctor``."""
    add_json(parser)
    parser.add_argument(
        "--report",
        action="store_true",
        help="print all in one block, with the system and the variables that matter, to be pasted "
        "into a report of a bug",
    )
    parser.add_argument(
        "--coverage", action="store_true", help="which part of the package uses which C function"
    )
    parser.add_argument(
        "--faults",
        action="store_true",
        help="the known faults of the loaded cuDNN on this machine's GPU, and what is done about "
        "each; without a GPU on all, without cuDNN of all",
    )
    parser.add_argument(
        "--save-device",
        type=Output,
        metavar="FILE",
        help="write the properties of this machine's GPU to a .json file, to be given elsewhere "
        "wherever a GPU is wanted (build, explain, compile --device FILE)",
    )
    add_force(parser)


def main(arguments: argparse.Namespace) -> int:
    """Print the report; 0 unless the C API cannot be loaded, or a file cannot be written."""
    if arguments.save_device:
        return _save_device(arguments.save_device, force=arguments.force)
    if arguments.coverage:
        return _print_coverage(as_json=arguments.json)
    if arguments.faults:
        return _print_faults(as_json=arguments.json)
    shown = not (arguments.json or arguments.report)
    findings: list[Finding] = []
    try:
        with steps("examining", len(PROBES)) as progress:
            for finding in examine(progress):
                if shown:
                    _tell(progress, finding, findings)
                findings.append(finding)
    finally:  # after Ctrl-C too
        if arguments.json:
            print(json.dumps([finding.as_dict() for finding in findings], indent=2))
        elif arguments.report:
            print(report(findings))
    if shown:
        _advise(findings)
    return 0 if any(f.name == "libcudnn" and f.state == "ok" for f in findings) else 1


def _save_device(output: Output, *, force: bool) -> int:
    from ...graph.backend.device_properties import DeviceProperties

    path = output.file("gpu.json", ".json")  # the ending tells files from names of GPUs
    with DeviceProperties.from_device() as here:
        write_text(path, here.to_json() + "\n", force=force)
        print(f"{path}: {here!r}, {here.source}")
    return 0


def _print_coverage(*, as_json: bool) -> int:
    from rich.console import Console

    from .coverage import print_table, table

    rows = table()
    if as_json:
        print(json.dumps([row.as_dict() for row in rows], indent=2))
    else:
        print_table(rows, Console(highlight=False))
    return 0


def _print_faults(*, as_json: bool) -> int:
    from ...errors import LibraryNotFoundError
    from ...evidence.known_faults import known_faults
    from ...raw.library import load
    from ...runtime import cuda

    try:
        version = load().version
    except LibraryNotFoundError:
        version = None
    rows = known_faults(version, cuda.first_capability() or None)
    if as_json:
        print(json.dumps([{"name": row.name, **row.facts} for row in rows], indent=2))
    else:
        print("\n\n".join(f"{row.name}\n{row}" for row in rows))
    return 0


def _tell(progress: Steps, finding: Finding, before: Sequence[Finding]) -> None:
    """Print a finding as one unwrapped line, so paths stay whole."""
    from rich.text import Text

    if not before or before[-1].section != finding.section:
        progress.tell(Text(f"{'' if not before else chr(10)}{finding.section}", "bold"))
    progress.tell(_line(finding))


def _line(finding: Finding) -> Text:
    from rich.text import Text

    further = "\n" + " " * (_NAME + _STATE + 6)
    return Text.assemble(
        f"  {finding.name:{_NAME}}  ",
        (f"{_state(finding):{_STATE}}", _STYLES[finding.state]),
        f"  {finding.value.replace(chr(10), further)}",
    )


def _state(finding: Finding) -> str:
    """Yes or no of a purpose, else the state's own word."""
    if finding.section == PURPOSES:
        return "yes" if finding.state == "ok" else "no"
    return finding.state


def _advise(findings: Sequence[Finding]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print()
    advice = {f.advice: f for f in findings if f.advice and f.state != "ok"}
    for text, finding in advice.items():
        console.print(Text.assemble((finding.name, _STYLES[finding.state]), f": {text}"))
    works = [finding.name for finding in findings if _state(finding) == "yes"]
    if not any(finding.state == "problem" for finding in findings):
        console.print(Text(f"No problem found. You can {', '.join(works)}.", "green"))


_PREFIXES = ("CUDNN", "CUDA_", "NVIDIA_", "LD_", "PYTORCH_CUDA")


def report(findings: Sequence[Finding]) -> str:
    """A block of Markdown: the system, the environment, the findings by section, advice.

    Examples
    --------
    >>> from cudnn_ctypes.commands.doctor import examine, report
    >>> print(report(list(examine())))  # doctest: +SKIP
    """
    return "\n".join(["```text", *_lines(findings), "```"])


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    yield f"cudnn-ctypes {__version__}"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield f"{python}, {sys.executable}"
    yield f"{platform.platform()}, {platform.machine()}"
    variables = [name for name in sorted(os.environ) if name.startswith(_PREFIXES)]
    yield from (f"{name}={os.environ[name]}" for name in variables)
    for section in dict.fromkeys(finding.section for finding in findings):
        yield f"\n{section}"
        for finding in findings:
            if finding.section == section:
                value = finding.value.replace("\n", "\n      ")
                mark = "" if finding.state == "ok" else f"[{finding.state}] "
                yield f"  {finding.name}: {mark}{value}"
