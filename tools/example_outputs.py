"""Run the examples and keep what they print: ``python -m tools.example_outputs [NAME]``.

The site shows these outputs below the programs, and a test compares them with what is printed now.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

__all__ = ["differences", "main", "run", "stored"]

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"

VARIES = {
    "": r"cuDNN \d|engine|config|NOT_SUPPORTED|knob|difference|differ|error|\boff\b| ms$",
    # Training adds up rounding, which differs between machines.
    "11_train_on_digits": r"loss",
    "12_lenet_digits": r"loss| s$",
    "15_character_lstm": r"^(?!856)",
    # Engines by number, and how many there are.
    "10_gradients": r"e-\d\d",
    "23_engines": r"\d \+ \d|deviceVer",
    "26_compiled_elsewhere": r"kB",
}
"""Lines that another cuDNN, NumPy or machine changes: in all outputs, and in one example's."""

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")


def run(example: Path, device: str, folder: Path) -> str:
    """What an example prints when it is run in a folder.

    Raises
    ------
    subprocess.CalledProcessError
        If it fails.
    """
    environment = {
        **os.environ,
        "CUDNN_CTYPES_DEVICE": device,
        "OPENBLAS_NUM_THREADS": "1",  # the arrays are small
        "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
    }
    return subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", str(example)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
        timeout=300,
        check=True,
    ).stdout


def stored(example: Path) -> Path:
    """Where the output of an example is kept."""
    return EXAMPLES / "outputs" / f"{example.stem}.txt"


def differences(name: str, before: str, now: str) -> list[str]:
    """Lines that differ by more than spaces and rounding, those that vary left out."""
    varies = re.compile("|".join({VARIES[""], VARIES.get(name, VARIES[""])}))

    def compared(text: str) -> list[str]:
        lines = (" ".join(line.split()) for line in text.splitlines())
        return [line for line in lines if line and not varies.search(line)]

    old, new = compared(before), compared(now)
    if len(old) != len(new):
        return [f"{len(old)} lines before, {len(new)} now"]
    return [f"{a!r} -> {b!r}" for a, b in zip(old, new, strict=True) if not _same(a, b)]


def _same(before: str, now: str) -> bool:
    def words(text: str) -> str:
        return re.sub(r"\s", "", _NUMBER.sub("#", text))

    numbers = zip(_NUMBER.findall(before), _NUMBER.findall(now), strict=False)
    return words(before) == words(now) and all(
        math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-3) for a, b in numbers
    )


def main() -> None:
    """Run those whose names contain one of the arguments; all without arguments."""
    import tempfile

    words = sys.argv[1:] or [""]
    for example in sorted(EXAMPLES.glob("[0-9]*.py")):
        if any(word in example.stem for word in words):
            with tempfile.TemporaryDirectory() as folder:
                output = run(example, "reference", Path(folder))
            stored(example).write_text(output, encoding="utf-8")
            print(f"{example.stem}: {len(output.splitlines())} lines")


if __name__ == "__main__":
    main()
