"""Translating C programs and running them, and the C programs themselves."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import run_command

from cudnn_ctypes.porting.translate import Translation, translate

HERE = Path(__file__).parent


def of(text: str, name: str = "program.cpp") -> Translation:
    """The translation of a text, as a file of that name would hold it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text)
        return translate(path)


def run_python(
    python: str, folder: Path, *arguments: str, device: str = "reference"
) -> subprocess.CompletedProcess[str]:
    """Run a translated program in a fresh interpreter and in an empty folder."""
    program = folder / "translated.py"
    program.write_text(python)
    command = (sys.executable, program, *arguments)
    return run_command(*command, folder=folder, CUDNN_CTYPES_DEVICE=device)


def differences(printed: str, expected: list[str], tolerance: float = 0.0) -> list[str]:
    """Lines that differ in a word, or in a number by more than one of its last digit.

    `tolerance` is a relative error that numbers may have besides.
    """
    lines = printed.splitlines()
    found = [f"{len(lines)} lines, not {len(expected)}"] if len(lines) != len(expected) else []
    for line, wanted in zip(lines, expected, strict=False):
        pieces, others = _NUMBER.split(line), _NUMBER.split(wanted)
        numbers = list(zip(_NUMBER.findall(line), _NUMBER.findall(wanted), strict=False))
        same = [piece.split() for piece in pieces] == [piece.split() for piece in others]
        if not same or not all(_close(*pair, tolerance) for pair in numbers):
            found.append(f"{line!r}, not {wanted!r}")
    return found


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")


def _close(number: str, wanted: str, tolerance: float) -> bool:
    digits = len(wanted.partition(".")[2]) if "e" not in wanted else 30
    room = 1.01 * 10.0**-digits if digits else 0.0
    return abs(float(number) - float(wanted)) <= room + tolerance * abs(float(wanted))
