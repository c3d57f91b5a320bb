"""Run public programs that call cuDNN, on the reference device or a GPU: what becomes of each.

``python -m tools.program_corpus FOLDER``: each folder in FOLDER is a repository, with its revision
in a file ``.revision``. A program is a file with ``main`` that uses cuDNN; the other sources of its
folders are linked to it if it needs them. `program_corpus.json` has the arguments of some, commands
that make their data, and what their output shows when their numbers are right. Nothing of the
programs comes into this repository.

``--port`` translates each program too, and compares what both print. ``--device gpu`` runs them on
the GPU, alone and under `run`. ``--against FILE`` compares with the ``--json`` of another run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cudnn_ctypes.evidence.files import CommandError
from cudnn_ctypes.porting.run.building import SUFFIXES, build
from cudnn_ctypes.porting.run.launching import environment
from cudnn_ctypes.porting.translate import translate

_MAIN = re.compile(r"^\s*(?:int|void|auto)?\s*(?:CV_)?main\s*\(", re.MULTILINE)
_CUDNN = re.compile(r"#\s*include\s*[<\"]cudnn|\bcudnn[A-Z]\w+\s*\(")
_KNOWN: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text())


@dataclass
class Result:
    """What became of a program.

    Attributes
    ----------
    ends : str
        "ended", "status 1", "still runs", "-" where it was not built, "needs FILE".
    told : int
        How many mistakes were told with the program's line.
    right : str
        Which check its output passed, or "wrong".
    port : str
        What became of its translation.
    """

    program: str
    builds: bool
    ends: str
    told: int = 0
    stopped_by: str = ""
    right: str = ""
    port: str = ""
    output: str = ""


def main() -> int:
    """Print the table, and the counts."""
    arguments = _arguments()
    arguments.folder = arguments.folder.resolve()
    if arguments.markdown:
        _print_markdown(arguments.folder, _results_of(arguments.markdown).values())
        return 0
    others = _results_of(arguments.against) if arguments.against else {}
    programs = [
        (repository, file)
        for repository, file in _programs(arguments.folder)
        if re.search(arguments.only, str(file.relative_to(arguments.folder)))
    ]
    results = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for one in pool.map(partial(_tried, arguments, others), programs):
            results.append(one)
            _print(one)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(each) for each in results], indent=1))
    counts = Counter(each.ends.split()[0] for each in results)
    print(f"{len(results)} programs, {sum(each.builds for each in results)} build; {dict(counts)}")
    print(f"numbers: {dict(Counter(each.right for each in results))}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="programs whose path this expression finds")
    parser.add_argument("--seconds", type=float, default=60, help="the longest run")
    parser.add_argument("--options", default="", help="further options of the compiler")
    parser.add_argument("--device", default="reference", help="reference or gpu")
    parser.add_argument("--jobs", type=int, default=1, help="how many programs at a time")
    parser.add_argument("--port", action="store_true", help="translate, too")
    parser.add_argument("--json", type=Path, help="write the results to a file too")
    parser.add_argument("--against", type=Path, help="results of another run")
    parser.add_argument("--markdown", type=Path, help="only print the table of these results")
    return parser.parse_args()


def _results_of(file: Path) -> dict[str, Result]:
    return {each["program"]: Result(**each) for each in json.loads(file.read_text())}


def _print(one: Result) -> None:
    row = f"{'builds' if one.builds else '-':7} {one.ends:20} {one.told:3} {one.program}"
    print(" | ".join(filter(None, [row, one.right, one.port])))
    if one.stopped_by:
        print(f"{'':10}{one.stopped_by}")
    sys.stdout.flush()


def _print_markdown(folder: Path, results: Any) -> None:
    print("| program | revision | builds | ends | numbers | port | stopped by |")
    print("|---|---|---|---|---|---|---|")
    for one in results:
        owner = one.program.partition("/")[0]
        revision = _text(folder / owner / ".revision").strip()[:10]
        name = one.program.replace("+", "/", 1)
        why = one.stopped_by.replace(str(folder), "").replace("|", "/")[:120]
        cells = [name, revision, "yes" if one.builds else "no", one.ends, one.right, one.port, why]
        print(f"| {' | '.join(cells)} |")


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


# --- one program ---------------------------------------------------------------------------------


def _tried(
    arguments: argparse.Namespace, others: Mapping[str, Result], pair: tuple[Path, Path]
) -> Result:
    repository, file = pair
    name = str(file.relative_to(arguments.folder))
    with tempfile.TemporaryDirectory() as work:
        program, copy = Path(work, "program"), Path(work, "repository")
        shutil.copytree(repository, copy, symlinks=True)
        folder = copy / file.parent.relative_to(repository)
        if "ubyte" in "".join(map(_text, file.parent.glob("*.c*"))):
            _make_digits(folder, folder / "data")
        on_gpu = arguments.device == "gpu"
        try:
            files = _build(repository, file, program, shlex.split(arguments.options), on_gpu)
        except CommandError as error:
            why = _reason(str(error))
            lacks = re.search(r"(\S+): No such file", why)
            return Result(name, False, f"needs {lacks[1]}" if lacks else "-", 0, why)
        known = _KNOWN.get(name, {})
        folder /= known.get("folder", "")
        folder.mkdir(exist_ok=True)
        _shell(known.get("before", ""), folder)
        words = [str(program), *map(str, known.get("arguments", ()))]
        variables = environment(program, device=arguments.device)
        result = _run(name, words, folder, variables, arguments.seconds)
        printed = result.output
        (folder / "printed.txt").write_text(printed)
        result.output += _shell(known.get("after", ""), folder)
        result.right = _checked(result, known, others.get(name))
        if on_gpu:
            folders = {"LD_LIBRARY_PATH": variables["LD_LIBRARY_PATH"]}
            alone = _run(name, words, folder, {**os.environ, **folders}, arguments.seconds)
            same = _same(printed, alone.output) and result.ends == alone.ends
            result.port = "as without us" if same else f"without us: {alone.ends}"
        if arguments.port:
            result.port = _ported(files, repository, folder, words[1:], result, arguments.seconds)
    return result


def _shell(command: str, folder: Path) -> str:
    """What a command prints; ``python`` is this one."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def _run(
    name: str, words: Sequence[str], folder: Path, variables: Mapping[str, str], seconds: float
) -> Result:
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env={**variables, "PYTHONWARNINGS": "ignore"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return Result(name, True, "still runs")
    text, output = (each.decode(errors="replace") for each in (done.stderr, done.stdout))
    ends = "ended" if done.returncode == 0 else f"status {done.returncode}"
    told = len(re.findall(r"^\S+:\d+: ", text, re.MULTILINE))
    lines = [each for each in text.splitlines() if each.strip()]
    last = output.strip().splitlines()[-1:]
    why = " / ".join([*lines[:2], *last]) if told or done.returncode else ""
    return Result(name, True, ends, told, why[:400], output=output[-2_000_000:])


def _checked(result: Result, known: Mapping[str, Any], other: Result | None) -> str:
    """Which check the output of a program passed, or that it passed none."""
    if not result.output:
        return ""
    passed = []
    if "check" in known:
        found = re.search(known["check"], result.output)
        passed.append(known.get("by", "own check") if found else "wrong")
    if other is not None and other.output and not known.get("varies"):
        same = _same(result.output, other.output)
        passed.append("as the other" if same else "unlike the other")
    return ", ".join(passed)


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
_TIME = re.compile(
    r"time|elapsed|laten|latan|throughput|\b[mun]?s\b|second|flops|fps|B/s|alloc|memory|0x|space",
    re.IGNORECASE,
)


def _same(one: str, other: str) -> bool:
    """Whether two outputs have the same numbers, but for times, sizes of memory and addresses."""
    left, right = ([x for x in each.splitlines() if not _TIME.search(x)] for each in (one, other))
    numbers = [np.array(_NUMBER.findall("\n".join(each)), float) for each in (left, right)]
    if numbers[0].shape != numbers[1].shape:
        return False
    scale = max(1e-30, np.abs(numbers[1]).max(initial=0))
    return bool(np.allclose(*numbers, rtol=2e-3, atol=1e-4 * min(1, scale), equal_nan=True))


def _make_digits(*folders: Path) -> None:
    """Files like those of MNIST: a digit is a bright square, at its place."""
    for name, count in (("train", 2000), ("t10k", 500)):
        labels = np.arange(count, dtype=np.uint8) % 10
        images = np.random.default_rng(count).integers(0, 40, (count, 28, 28), np.uint8)
        for image, label in zip(images, labels, strict=True):
            row, column = divmod(int(label), 4)
            image[2 + 8 * row : 10 + 8 * row, 1 + 7 * column : 7 + 7 * column] = 250
        for folder in folders:
            folder.mkdir(exist_ok=True)
            for joint in "-.":
                for kind, head, data in (
                    (f"images{joint}idx3", [2051, count, 28, 28], images),
                    (f"labels{joint}idx1", [2049, count], labels),
                ):
                    file = folder / f"{name}-{kind}-ubyte"
                    if not file.exists():
                        file.write_bytes(np.array(head, ">i4").tobytes() + data.tobytes())


def _ported(
    files: Sequence[Path],
    repository: Path,
    folder: Path,
    words: Sequence[str],
    compiled: Result,
    seconds: float,
) -> str:
    """What becomes of a program in Python."""
    try:
        translation = translate(*[*files[1:], files[0]], folders=_folders(repository, files[0]))
    except CommandError as error:
        return f"not read: {error}"
    left = len(translation.not_translated)
    if left:
        return f"{left} places not translated"
    (folder / "translated.py").write_text(translation.python)
    device = {"CUDNN_CTYPES_DEVICE": "reference", "PYTHONPATH": os.getcwd()}
    program = [sys.executable, "translated.py", *words]
    done = _run("", program, folder, {**os.environ, **device}, seconds)
    if done.ends != "ended":
        return f"whole; {done.ends}: {done.stopped_by.rpartition(' / ')[2][:80]}"
    return f"whole; {'same' if _same(done.output, compiled.output) else 'other'} numbers"


# --- building ------------------------------------------------------------------------------------


def _build(
    repository: Path, file: Path, program: Path, options: list[str], for_gpu: bool
) -> list[Path]:
    """Build a file alone, with the other sources of its folder, or with those of the one above.

    C that is refused as C is tried as C++, which some programs take it for.
    """
    above = file.parent.parent if file.parent != repository else file.parent
    sources = [[file], [file, *_others(file, file.parent)], [file, *_others(file, above)]]
    languages = ["", "-xc++"] if file.suffix == ".c" else [""]
    errors = {}
    for language in languages:
        for files in sources:
            try:
                more = ["-lz", *options, *([language] if language else [])]
                includes = _folders(repository, file)
                build(files, program, includes=includes, options=more, for_gpu=for_gpu)
            except CommandError as error:
                errors[language] = error
                if not re.search("undefined reference|multiple definition", str(error)):
                    break
            else:
                return files
    raise errors[languages[0]]


def _folders(repository: Path, file: Path) -> list[Path]:
    """The folders with headers of a repository, that of the file first."""
    headers = [each for each in repository.rglob("*") if each.suffix in (".h", ".hpp", ".cuh")]
    folders = {each.parent for each in headers if not (each.parent / "cudnn.h").exists()}
    return [file.parent, *sorted(folders - {file.parent})]


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
