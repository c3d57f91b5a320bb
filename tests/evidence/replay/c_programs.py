"""Recording programs as C, compiling them, and running them with and without a GPU."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from programs import inherited_environment

from tools.generate.include import compiler, include_flags, wheel_include

STAND_IN = Path(__file__).with_name("reference_program.py")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror")


def run(*command: object, device: str = "reference", **options: Any) -> Any:
    return subprocess.run(
        [str(each) for each in command],
        env=inherited_environment(CUDNN_CTYPES_DEVICE=device, **options),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def recorded(
    program: Path, folder: Path, *flags: object, device: str = "reference"
) -> tuple[str, str]:
    """Record a program; the C text, and what the command says."""
    command = (sys.executable, "-m", "cudnn_ctypes", "trace", "--c", folder, *flags, program)
    done = run(*command, device=device)
    assert done.returncode == 0, done.stderr
    (text,) = folder.glob("*.c")
    return text.read_text(), done.stderr


def flags_of_headers() -> list[str]:
    """The compiler and what it needs; skips where there are none."""
    try:
        return [compiler(), *include_flags(wheel_include("nvidia.cudnn"))]
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


def on_the_reference_device(folder: Path, *trace_flags: object) -> Any:
    """Compile the program in a folder, and run it with Python in place of the libraries."""
    before = (sys.executable, "-W", "error")
    traced = ("-m", "cudnn_ctypes", "trace", *trace_flags) if trace_flags else ()
    return run(*before, *traced, STAND_IN, folder, *flags_of_headers(), *STRICT)


def compared(text: str) -> int:
    """How many outputs a program compares."""
    return len(re.findall(r"^    compare\(", text, re.M))


def check_equal(done: Any, text: str) -> None:
    """All outputs are equal, and what failed fails again."""
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    failures = re.findall(r"^line \d+, \w+: .*, as expected$", done.stdout, re.M)
    assert len(failures) == len(re.findall(r"^    EXPECT\(", text, re.M))
    assert len(re.findall(r"^\w+\+\d+: equal$", done.stdout, re.M)) == compared(text)
    assert len(done.stdout.splitlines()) == len(failures) + compared(text)


def make(folder: Path, *targets: str, device: str = "reference") -> Any:
    """Run make, with CUDA from its wheels where it is not installed."""
    if shutil.which("make") is None:
        pytest.skip("no make")
    flags = flags_of_headers()
    variables = []
    if not Path("/usr/local/cuda/include/cuda_runtime_api.h").is_file():
        cuda = wheel_include("nvidia.cuda_runtime")
        includes = " ".join(flags[1:]).removeprefix("-I")
        variables = [f"CUDA_LIB={cuda.parent / 'lib'}", f"CUDA_INCLUDE={includes}"]
    return run("make", "-C", folder, *targets, "CFLAGS=-Wall -Wextra -Werror", *variables)
