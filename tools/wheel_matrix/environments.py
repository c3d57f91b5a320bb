"""Environments made by uv, each for one row, and what the check finds in them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.version_matrix import compare

from .rows import Row

__all__ = ["Result", "build_wheel", "try_row"]

ROOT = Path(__file__).parents[2]
CHECK = Path(__file__).with_name("check.py")


@dataclass(frozen=True)
class Result:
    """What the check found in a row's environment, or why there is no environment."""

    row: Row
    failure: str = ""
    cudnn: int = 0
    exports: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    steps: dict[str, str] = field(default_factory=dict)

    @property
    def contradictions(self) -> list[str]:
        """Functions that the library has too early or lacks, as layer 1 states versions."""
        return compare("", self.cudnn, self.exports).wrong if self.cudnn else []


def build_wheel(folder: Path) -> Path:
    """The wheel of this checkout."""
    _uv("build", "--wheel", "--out-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


def try_row(row: Row, wheel: Path, folder: Path) -> Result:
    """Install the wheel for `row` in a new environment below `folder`, and run the check there."""
    environment, home = folder / "environment", folder / "home"
    try:
        _install(row, wheel, environment, folder)
    except RuntimeError as error:
        return Result(row, failure=str(error))
    home.mkdir()
    home.chmod(stat.S_IRUSR | stat.S_IXUSR)
    done = subprocess.run(
        [str(environment / "bin" / "python"), "-I", str(CHECK)],
        env={"HOME": str(home), "PATH": str(folder / "nothing")},
        cwd="/",
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return Result(row, failure=_last_line(done.stderr) or f"exit status {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    found.pop("path")
    return Result(row, **found)


def _install(row: Row, wheel: Path, environment: Path, folder: Path) -> None:
    """The bounds are those of pyproject.toml: in the wheel they are one step away, thus newest."""
    constraints = folder / "constraints.txt"
    extra = ["--extra", row.extra] if row.extra else []
    pins = folder / "cudnn.txt"
    pins.write_text(row.requirement)
    _uv(
        *("pip", "compile", "--python-version", row.python, "--resolution", row.resolution),
        *(*extra, "--constraint", str(pins)),
        *("--output-file", str(constraints), str(ROOT / "pyproject.toml")),
    )
    _uv("venv", "--python", row.python, str(environment))
    what = f"{wheel}[{row.extra}]" if row.extra else str(wheel)
    python = str(environment / "bin" / "python")
    _uv("pip", "install", "--python", python, "--constraint", str(constraints), what)


def _uv(*arguments: str) -> None:
    command = [sys.executable, "-m", "uv", "--quiet", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ})
    if done.returncode:
        raise RuntimeError(f"uv {arguments[0]}: {_last_line(done.stderr)}")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1].strip()
