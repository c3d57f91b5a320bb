"""Build wheel and sdist, and check them: ``python -m tools.package_check [--publish] [FOLDER]``.

`twine check`, `check-wheel-contents` and `pyroma` must find nothing, and no example may be a
module of the package. The files stay in FOLDER, `dist` by default. With ``--publish``, placeholders
of authors and addresses are an error too: run it so before an upload.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
from pathlib import Path

__all__ = ["build", "faults", "main", "placeholders"]

ROOT = Path(__file__).parent.parent
_PLACEHOLDER = re.compile(r"[\w.@:/-]*\bexample\.invalid\b[\w./-]*|Private :: Do Not Upload")


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of this checkout, built into a folder.

    Raises
    ------
    RuntimeError
        If they cannot be built, or if the folder has others.
    """
    failed = _said("hatchling", "build", "-d", str(folder))
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if failed or not len(wheels) == len(sdists) == 1:
        raise RuntimeError(failed or f"{folder} has files of another version")
    return wheels[0], sdists[0]


def faults(wheel: Path, sdist: Path) -> dict[str, str]:
    """By tool, what it says where it finds something."""
    commands = {
        "twine": ("check", "--strict", str(wheel), str(sdist)),
        "check_wheel_contents": ("--no-config", str(wheel)),
        "pyroma": ("--min", "10", "--file", str(sdist)),
    }
    return {tool: said for tool, options in commands.items() if (said := _said(tool, *options))}


def placeholders(sdist: Path) -> list[str]:
    """Placeholders in the metadata and the texts of a source distribution, with their files."""
    found = []
    with tarfile.open(sdist) as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            if name == "PKG-INFO" or name.endswith(".md"):
                file = archive.extractfile(member)
                text = file.read().decode() if file else ""
                found += [f"{name}: {each}" for each in sorted({*_PLACEHOLDER.findall(text)})]
    return found


def _said(module: str, *arguments: str) -> str:
    """The output of a Python program that fails; "" of one that succeeds."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return (done.stdout + done.stderr).strip() or "failed" if done.returncode else ""


def main(arguments: list[str] | None = None) -> int:
    """0 if nothing is found."""
    parser = argparse.ArgumentParser(prog="python -m tools.package_check", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--publish", action="store_true", help="refuse placeholders")
    options = parser.parse_args(arguments)
    wheel, sdist = build(options.folder)
    found = faults(wheel, sdist)
    left = placeholders(sdist)
    if left and options.publish:
        found["placeholders"] = "\n".join(left)
    for tool, said in found.items():
        print(f"{tool}:\n{said}", file=sys.stderr)
    if not found:
        print(f"nothing found in {wheel} and {sdist}; {len(left)} placeholders")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
