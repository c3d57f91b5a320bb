"""``python -m cudnn_ctypes doctor``: what is here, what works, and what to do about the rest."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .findings import Finding
from .probes import examine

__all__ = ["Finding", "add_arguments", "examine", "main"]

_STYLES = {"ok": "green", "missing": "yellow", "problem": "bold red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes doctor``."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--coverage", action="store_true", help="which part of the package uses which C function"
    )
    parser.add_argument(
        "--save-device",
        type=Path,
        metavar="FILE",
        help="write the properties of this machine's GPU to a .json file, to be given elsewhere "
        "wherever a GPU is wanted (build, explain, compile --device FILE)",
    )


def main(arguments: argparse.Namespace) -> int:
    """Print the report; 0 unless the C API itself cannot be loaded, or a file not be written."""
    if arguments.save_device:
        return _save_device(arguments.save_device)
    if arguments.coverage:
        return _print_coverage(as_json=arguments.json)
    findings = list(examine())
    loads = any(f.name == "C API" and f.state == "ok" for f in findings)
    if arguments.json:
        print(json.dumps([finding.as_dict() for finding in findings], indent=2))
    else:
        _print(findings)
    return 0 if loads else 1


def _save_device(path: Path) -> int:
    from ..command_line import USER_ERRORS, CommandError, write_text
    from ..graph.backend.device_properties import DeviceProperties

    try:
        if path.suffix != ".json":  # by which such files are told from names of GPUs
            raise CommandError(f"--save-device {path}: expected a name that ends in .json")
        with DeviceProperties.from_device() as here:
            write_text(path, here.to_json() + "\n")
            print(f"{path}: {here!r}, {here.source}")
    except USER_ERRORS as error:
        print(f"doctor: {error}", file=sys.stderr)
        return 2
    return 0


def _print_coverage(*, as_json: bool) -> int:
    from ..coverage import print_table, table

    if as_json:
        print(json.dumps([row.as_dict() for row in table()], indent=2))
    else:
        print_table(table(), Console(highlight=False))
    return 0


def _print(findings: Sequence[Finding]) -> None:
    console = Console(highlight=False)
    for section in dict.fromkeys(finding.section for finding in findings):
        table = Table(title=section, title_justify="left", show_header=False)
        for finding in findings:
            if finding.section == section:
                table.add_row(
                    finding.name,
                    f"[{_STYLES[finding.state]}]{finding.state}[/]",
                    escape(finding.value),
                )
        console.print(table)
    advice = {f.advice: f for f in findings if f.advice and f.state != "ok"}
    for text, finding in advice.items():
        console.print(f"[{_STYLES[finding.state]}]{finding.name}[/]: {escape(text)}")
    if not any(finding.state == "problem" for finding in findings):
        console.print("[green]No problems found.[/]")
