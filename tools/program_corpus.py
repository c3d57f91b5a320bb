"""Run public programs that call cuDNN on the reference device, and print what becomes of each.

``python -m tools.program_corpus FOLDER [--json FILE]``: each folder in FOLDER is a repository. A
program is a file with ``main`` that uses cuDNN; the other sources of its folders are linked to it
if it needs them. Nothing of the programs comes into this repository.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from cudnn_ctypes.evidence.files import CommandError
from cudnn_ctypes.porting.run.building import SUFFIXES, build
from cudnn_ctypes.porting.run.launching import environment

_MAIN = re.compile(r"^\s*(?:int|void|auto)?\s*(?:CV_)?main\s*\(", re.MULTILINE)
_CUDNN = re.compile(r"#\s*include\s*[<\"]cudnn|\bcudnn[A-Z]\w+\s*\(")


@dataclass
class Result:
    """What became of a program: "built", "ended", or what stopped it."""

    program: str
    builds: bool
    ends: str
    told: int
    stopped_by: str


def main() -> int:
    """Print the table, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="programs whose path has this in it")
    parser.add_argument("--seconds", type=float, default=60, help="the longest run")
    parser.add_argument("--json", type=Path, help="write the results to a file too")
    arguments = parser.parse_args()
    results = []
    for repository, file in _programs(arguments.folder):
        name = str(file.relative_to(arguments.folder))
        if arguments.only in name:
            results.append(_tried(name, repository, file, arguments.seconds))
            one = results[-1]
            print(f"{'builds' if one.builds else '-':7} {one.ends:24} {one.told:3} {one.program}")
            print(f"{'':10}{one.stopped_by}" if one.stopped_by else "", end="\n", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(each) for each in results], indent=1))
    counts = Counter(each.ends.split()[0] for each in results)
    print(f"{len(results)} programs, {sum(each.builds for each in results)} build; {dict(counts)}")
    return 0


def _programs(folder: Path) -> Iterator[tuple[Path, Path]]:
    for repository in sorted(each for each in folder.iterdir() if each.is_dir()):
        for file in sorted(repository.rglob("*")):
            if file.suffix in SUFFIXES and _MAIN.search(_text(file)) and _uses(repository, file):
                yield repository, file


def _uses(repository: Path, file: Path) -> bool:
    """Whether a file, or a header of its repository that it includes, uses cuDNN."""
    waiting, known = [file], set()
    while waiting:
        text = _text(each := waiting.pop())
        known.add(each)
        if _CUDNN.search(text):
            return True
        names = {os.path.basename(name) for name in re.findall(r'#\s*include\s*["<](.+)[">]', text)}
        found = (one for name in names for one in repository.rglob(name.replace("[", "?")))
        waiting += [one for one in found if one not in known]
    return False


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _tried(name: str, repository: Path, file: Path, seconds: float) -> Result:
    with tempfile.TemporaryDirectory() as work:
        program = Path(work, "program")
        try:
            _build(repository, file, program)
        except CommandError as error:
            why = _reason(str(error))
            lacks = re.search(r"(\S+): No such file", why)
            return Result(name, False, f"needs {lacks[1]}" if lacks else "-", 0, why)
        variables = environment(program, device="reference")
        try:
            done = subprocess.run(
                [str(program)],
                cwd=file.parent,
                env={**variables, "PYTHONWARNINGS": "ignore"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return Result(name, True, "still runs", 0, "")
        text = done.stderr.decode(errors="replace")
        ends = "ended" if done.returncode == 0 else f"status {done.returncode}"
        told = len(re.findall(r"^\S+:\d+: ", text, re.MULTILINE))
        lines = [each for each in text.splitlines() if each.strip()]
        last = done.stdout.decode(errors="replace").strip().splitlines()[-1:]
        why = " | ".join([*lines[:2], *last]) if told or done.returncode else ""
        return Result(name, True, ends, told, why[:400])


def _build(repository: Path, file: Path, program: Path) -> None:
    """Build a file alone, with the other sources of its folder, or with those of the one above.

    C that is refused as C is tried as C++, which some programs take it for.
    """
    headers = [each for each in repository.rglob("*") if each.suffix in (".h", ".hpp", ".cuh")]
    folders = {each.parent for each in headers if not (each.parent / "cudnn.h").exists()}
    includes = [file.parent, *sorted(folders - {file.parent})]
    above = file.parent.parent if file.parent != repository else file.parent
    sources = [[file], [file, *_others(file, file.parent)], [file, *_others(file, above)]]
    languages = ["-xc", "-xc++"] if file.suffix == ".c" else [""]
    errors = []
    for language in languages:
        for files in sources:
            try:
                options = ["-lz", *([language] if language == "-xc++" else [])]
                build(files, program, includes=includes, options=options)
            except CommandError as error:
                errors.append(error)
                if not re.search("undefined reference|multiple definition", str(error)):
                    break
            else:
                return
    raise errors[0]


def _others(file: Path, folder: Path) -> list[Path]:
    """The sources in a folder that are no programs, and that the file does not include."""
    included = {os.path.basename(each) for each in re.findall(r'#include "(.+)"', _text(file))}
    return [
        each
        for each in sorted(folder.rglob("*"))
        if each.suffix in SUFFIXES and each.name not in included and not _MAIN.search(_text(each))
    ]


def _reason(text: str) -> str:
    lines = [each for each in text.splitlines() if "error:" in each or "undefined" in each]
    return (lines or text.splitlines() or [""])[0][:300]


if __name__ == "__main__":
    sys.exit(main())
