"""Translating C programs and running them, and the C programs themselves."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from unittest import mock

from cudnn_ctypes import use_reference_device
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
    """Run a translated program in an empty folder, as ``python`` would."""
    program, before = folder / "translated.py", os.getcwd()
    program.write_text(python)
    out, err, status = io.StringIO(), io.StringIO(), 0
    with (
        use_reference_device(device == "reference"),
        mock.patch.object(sys, "argv", [str(program), *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        os.chdir(folder)
        ctypes.CDLL(None).srand(1)  # as each process begins
        try:
            code = compile(python, program, "exec")
            exec(code, {"__name__": "__main__", "__file__": str(program)})
        except SystemExit as ended:
            status = int(ended.code or 0)
        except Exception:
            status = 1
            traceback.print_exc()
        finally:
            os.chdir(before)
    gc.collect()  # what the program left open, before another test looks at calls
    return subprocess.CompletedProcess(sys.argv, status, out.getvalue(), err.getvalue())


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
