"""``compare``: ask several versions of cuDNN the same, or find where the answer changed."""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..evidence.files import CommandError
from ..evidence.records import config_text
from ..graph.engines.cache.entry_folder import user_folder
from ..raw.describe import aligned
from ..raw.library import ENVIRONMENT_VARIABLE, load
from .options import (
    EVIDENCE,
    Names,
    add_device,
    add_json,
    child_variables,
    file_name,
    read_graphs,
    steps,
)

EPILOG = """\
examples:
  python -m cudnn_ctypes compare graph.json 9.14 9.19 9.27 --device b200
  python -m cudnn_ctypes compare graph.json loaded /usr/lib/libcudnn.so.9 --device h200
  python -m cudnn_ctypes compare graph.json 9.14 9.27 --bisect --device b200
  python -m cudnn_ctypes compare graph.json 9.19 9.27 --judge

A version is a number, of which pip installs the small wheel nvidia-cudnn-jit-cu12 (or -cu13) among
this user's caches, once, without what it depends on; the file or folder of a library; or "loaded".
The small wheels have the engines that compile at run time, and no precompiled ones: a convolution
alone has engines in the large wheels that are not seen here. Each version is asked in a process of
its own; one that ends is an answer.
"""
_SECONDS = 600.0


@dataclass(frozen=True)
class Answer:
    """The answer of one version to one graph.

    - `version`: as the library says it, or as it was asked for if the process ended.
    - `answer`: "works", "refused: NOT_SUPPORTED", the signal that ended the process; of a judgement
      the states of engines, "3 right, 1 wrong".
    - `engines`: those that work, or that are right.
    - `first`: the first config.
    - `seconds`: of the process, with the start of Python.
    - `reason`: of a refusal, the first.
    """

    version: str
    graph: str
    answer: str
    engines: tuple[int, ...] = ()
    first: str = ""
    seconds: float = 0.0
    reason: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes compare``."""
    parser.add_argument("graph", type=file_name, help=EVIDENCE)
    parser.add_argument(
        "versions", nargs="+", type=Names("loaded"), metavar="VERSION", help="9.19, a file, loaded"
    )
    add_device(parser, required=False)
    parser.add_argument(
        "--bisect",
        action="store_true",
        help="of two versions: find the first whose answer is another than the lower one's",
    )
    parser.add_argument(
        "--judge",
        action="store_true",
        help="execute every engine on this machine's device and compare the numbers",
    )
    add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    """Print the answers; 0 if all say the same, 1 if they differ, 2 on an error."""
    if arguments.judge == bool(arguments.device):
        raise CommandError("expected --device, or --judge for this machine's device")
    read_graphs(arguments.graph)  # a damaged file is no answer of a version
    ask = functools.partial(_asked, arguments.graph, arguments.device)
    with steps("asking") as progress:
        if arguments.bisect:
            answers = _bisected(arguments.versions, ask, progress.begin)
        else:
            answers = []
            for version in arguments.versions:
                progress.begin(version)
                answers += ask(version)
    if arguments.json:
        print(json.dumps([asdict(each) for each in answers], indent=2))
    else:
        _print(answers)
    by_graph: dict[str, set[str]] = {}
    for each in answers:
        by_graph.setdefault(each.graph, set()).add(each.answer)
    return int(any(len(each) > 1 for each in by_graph.values()))


def _print(answers: Sequence[Answer]) -> None:
    rows = [("cuDNN", "answer", "engines", "first", "s", "graph", "reason")]
    rows += [
        (
            each.version,
            each.answer,
            " ".join(map(str, each.engines)) or "-",
            each.first or "-",
            f"{each.seconds:.1f}",
            each.graph,
            each.reason[:100],
        )
        for each in answers
    ]
    print("\n".join(line.rstrip() for line in aligned(rows, ("s",)).splitlines()))


def _bisected(versions: Sequence[str], ask: Any, begin: Any) -> list[Answer]:
    """The answers of the last version like the lower one and of the first other one.

    Raises CommandError if both ends say the same, or there are not two.
    """
    if len(versions) != 2:
        raise CommandError("--bisect takes two versions, the lower one first")

    def asked(version: str) -> list[Answer]:
        begin(version)
        found: list[Answer] = ask(version)
        return found

    low, high = map(asked, versions)
    if _said(low) == _said(high):
        raise CommandError(f"{versions[0]} and {versions[1]} say the same: {low[0].answer}")
    between = [each for each in available() if _key(versions[0]) < _key(each) < _key(versions[1])]
    while between:
        middle = len(between) // 2
        found = asked(between[middle])
        if _said(found) == _said(low):
            low, between = found, between[middle + 1 :]
        else:
            high, between = found, between[:middle]
    return [*low, *high]


def _said(answers: Sequence[Answer]) -> list[str]:
    return [each.answer for each in answers]


def _key(version: str) -> list[int]:
    """A version's numbers; of a release without its build, behind all builds."""
    numbers = [int(each) for each in re.findall(r"\d+", version)]
    return numbers + [sys.maxsize] * (len(numbers) < 4)


# --- versions ------------------------------------------------------------------------------------


def _wheel() -> str:
    return f"nvidia-cudnn-jit-cu{load().cuda_major}"


def _pip(*arguments: str) -> str:
    """Run pip; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line]
        raise CommandError(f"pip {arguments[0]}: {lines[-1] if lines else done.stderr[-300:]}")
    return done.stdout


def available() -> list[str]:
    """The versions of the small wheel that pip finds, the lowest first."""
    text = _pip("index", "versions", _wheel())
    found = re.search(r"Available versions: (.*)", text)
    return sorted(found[1].split(", "), key=_key) if found else []


def _library(version: str) -> str:
    """The library of a version, which is installed if it is not there yet."""
    if version == "loaded":
        return str(load().path)
    if os.sep in version or os.path.exists(version):
        return os.path.abspath(version)
    if not re.fullmatch(r"9(\.\d+){1,3}", version):
        raise CommandError(f"{version}: expected a version such as 9.19, a file, or loaded")
    try:
        folder = user_folder() / "libraries" / f"{_wheel()}-{version}"
    except RuntimeError:
        raise CommandError("this user has no home: set XDG_CACHE_HOME to a folder") from None
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        exact = version if version.count(".") == 3 else f"{version}.*"
        with tempfile.TemporaryDirectory(dir=folder.parent) as part:
            _pip("install", "-q", "--no-deps", "--target", part, f"{_wheel()}=={exact}")
            Path(part, "nvidia").replace(folder)
    found = next(folder.glob("*/lib/libcudnn.so.9"), None)
    if found is None:
        raise CommandError(f"{folder}: it has no libcudnn.so.9; remove the folder")
    return str(found)


# --- asking --------------------------------------------------------------------------------------


def _asked(graph: Path, device: str | None, version: str) -> list[Answer]:
    """The answers of a version, from a process of its own."""
    variables = {
        **child_variables(),
        ENVIRONMENT_VARIABLE: _library(version),
        "CUDNN_CTYPES_WARDEN": "0",  # a death is to be seen
    }
    command = [sys.executable, "-m", "cudnn_ctypes"]
    command += ["judge", "--no-keep"] if device is None else ["explain", "--device", device]
    command += ["--json", str(graph)] + (["--compile"] if device is not None else [])
    begun = time.monotonic()
    try:
        done = subprocess.run(
            command, env=variables, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        return [Answer(version, graph.name, "hang", seconds=_SECONDS)]
    seconds = time.monotonic() - begun
    if done.returncode < 0:
        return [Answer(version, graph.name, signal.Signals(-done.returncode).name, seconds=seconds)]
    if done.returncode == 2 or not done.stdout.strip():
        lines = done.stderr.strip().splitlines() or [""]
        return [Answer(version, graph.name, "error", seconds=seconds, reason=lines[-1])]
    told = json.loads(done.stdout)
    return [*_answers(told if isinstance(told, list) else [told], seconds)]


def _answers(told: Sequence[dict[str, Any]], seconds: float) -> Iterator[Answer]:
    for each in told:
        rows = each.get("rows")
        if rows is None:
            yield _judged(each, seconds)
            continue
        good = [row for row in rows if row["state"] == "works"]
        bad: dict[str, Any] = next((row for row in rows if row["reason"]), {})
        reason = each["refusal"] or bad.get("reason", "")
        status = f": {bad['status']}" if bad.get("status") and not each["refusal"] else ""
        yield Answer(
            each["cudnn"],
            each["operations"],
            "works" if good else f"refused{status}",
            tuple(dict.fromkeys(row["engine"] for row in good)),
            _config(good[0]) if good else "",
            seconds,
            "" if good else reason,
        )


def _judged(told: dict[str, Any], seconds: float) -> Answer:
    states = Counter(each["state"] for each in told["verdicts"] if each["state"] != "refused")
    right = [each for each in told["verdicts"] if each["state"] == "right"]
    timed = [each for each in right if each.get("median") is not None]
    first = min(timed, key=lambda each: float(each["median"]), default=None)
    return Answer(
        told["cudnn"],
        told["operations"],
        ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "refused",
        tuple(sorted({each["engine"] for each in right})),
        f"{_config(first)}: {first['median']:.1f} us" if first else "",
        seconds,
        next((each["reason"] for each in told["verdicts"] if each["state"] == "wrong"), ""),
    )


def _config(row: dict[str, Any]) -> str:
    return config_text(row["engine"], row["knobs"])
