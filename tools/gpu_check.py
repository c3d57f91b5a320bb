"""Run what needs a GPU, within a time limit: tests, benchmarks and the memory checker.

``python -m tools.gpu_check FOLDER [--only PART ...] [--seconds N] [--library FILE]``:
what the parts print goes to ``FOLDER/log.txt``, each failure of a test to ``FOLDER/failures.txt``
at once. A part that fails or runs too long does not end the others; tests for which no time is left
are skipped. `--library` names another cuDNN; tests then do without PyTorch, which loads the one
that it was made for. The exit status is 1 if a part failed, 2 without a GPU.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pytest

from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.library import ENVIRONMENT_VARIABLE

# For the processes of pytest, which load this file as a plugin.
_FAILURES, _END = "CUDNN_CTYPES_GPU_FAILURES", "CUDNN_CTYPES_GPU_END"
_WITHOUT_TORCH = "CUDNN_CTYPES_GPU_WITHOUT_TORCH"


@dataclass(frozen=True)
class Part:
    """One command: its limit in seconds, and its words after ``python -m``."""

    seconds: int
    command: str
    tests: str = ""  # of pytest: files and folders
    under: str = ""  # a program that runs it, one for some files of the tests each


# The timeout tells where a test hangs.
_OF_TESTS = "-q --tb=no -rfE --durations 12 -o faulthandler_timeout=150"
_LAUNCHES = (
    "tests/raw/test_torch_forms.py tests/legacy/test_launch.py "
    "tests/legacy/test_operation_table.py tests/graph/run"
)
_LEAKS = " ".join(f"tests/legacy/test_{name}leaks.py" for name in ("", "layer_", "gnn_"))
# What the driver refuses is told by tests: cuda.core asks it for a context where there is none.
_MEMCHECK = (
    "compute-sanitizer --tool memcheck --target-processes application-only --port {port} "
    "--launch-timeout 60 --report-api-errors no --error-exitcode 9 --print-limit 20"
)
# Examples of cuDNN's faults read beyond their operands. The checker keeps memory that was freed and
# slows down thousands of steps and what tunes. PyTorch's own check of its CUDA graphs fails under
# it, without this package too.
_LEFT_OUT = "still_there lifetime no_memory compiled_with_cuda_graphs spread"
_CLEAN = f"not ({' or '.join(_LEFT_OUT.split())})"
PARTS = {
    "doctor": Part(40, "cudnn_ctypes doctor"),
    "launches": Part(110, "pytest -m gpu", _LAUNCHES),
    "tests": Part(260, "pytest -m 'gpu and not soak'", "tests"),
    "bench_gpu": Part(60, "tools.bench_gpu"),
    "bench_graph": Part(60, "tools.bench_graph --rounds 61"),
    "bench_empty": Part(40, "tools.bench_graph --rounds 61 --empty"),
    "bench_cache": Part(70, "tools.bench_cache --execute --rounds 3"),
    "bench_torch_ops": Part(110, "tools.bench_torch_ops gpt2 gpt2_token dit"),
    "leaks": Part(150, "pytest -m 'gpu and soak'", _LEAKS),
    "memcheck": Part(560, f"pytest -m 'gpu and not soak' -k '{_CLEAN}'", "tests", _MEMCHECK),
    "soak": Part(330, "pytest -m 'gpu and soak'", "tests"),
}
"""In the order in which they run."""


def _words(command: str) -> list[str]:
    return [sys.executable, "-m", *shlex.split(command)]


def _run(part: Part, log: TextIO, environment: dict[str, str], left: float, workers: int) -> int:
    """The exit status of a part; 124 if it ran too long."""
    limit = min(part.seconds, left)
    environment = {**environment, _END: str(time.time() + limit - 25)}
    words, end = _words(part.command), time.monotonic() + limit
    if not part.tests:
        return _run_words(words, log, environment, end)
    words += ["-p", __spec__.name, *_OF_TESTS.split()]
    if not part.under:
        words += ["-n", str(workers), "--dist", "worksteal", *part.tests.split()]
        return _run_words(words, log, environment, end)
    with ThreadPoolExecutor(workers) as pool:
        # Checkers that wait for their program at the same ports, of which each takes ten, hang.
        batches = [
            [*shlex.split(part.under.format(port=50000 + 10 * number)), *words, "-n", "0", *files]
            for number, files in enumerate(_batches(part, 3 * workers))
        ]
        statuses = pool.map(lambda batch: _run_files(batch, log, environment, end), batches)
        return max(statuses, default=pytest.ExitCode.NO_TESTS_COLLECTED)


def _run_files(words: list[str], log: TextIO, environment: dict[str, str], end: float) -> int:
    """The exit status of a few files of tests, in a log of their own until they have ended."""
    with tempfile.TemporaryFile("w+", errors="replace") as own:
        status = _run_words(words, own, environment, end)
        if status < 0:  # the memory checker itself ends by a signal once in some runs
            print(f"##### {' '.join(words)}: status {status}, once more", file=own, flush=True)
            status = _run_words(words, own, environment, end)
        own.seek(0)
        log.write(own.read())
        log.flush()
    return abs(status)


def _run_words(words: list[str], log: TextIO, environment: dict[str, str], end: float) -> int:
    process = subprocess.Popen(
        words,
        stdout=log,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        return process.wait(max(end - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 124


def _batches(part: Part, count: int) -> list[list[str]]:
    """The files with tests of a part, in batches of about as many tests."""
    words = [*_words(part.command), *part.tests.split(), "--collect-only", "-qq"]
    told = subprocess.run([*words, "-n", "0"], stdout=subprocess.PIPE, text=True).stdout
    found = [line.rpartition(": ") for line in told.splitlines() if ".py: " in line]
    files = [file for file, _, _ in sorted(found, key=lambda one: -int(one[2]))]
    return [files[first::count] for first in range(min(count, len(files)))]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tools.gpu_check", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--seconds", type=float, default=1800, help="for all parts together")
    parser.add_argument("--library", help="another cuDNN: a file or directory")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    if missing := mode.why_no_gpu():  # all tests would be skipped, which is no failure
        parser.error(missing)
    options.folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, _FAILURES: str(options.folder / "failures.txt")}
    if options.library:
        environment |= {ENVIRONMENT_VARIABLE: options.library, _WITHOUT_TORCH: "1"}
    end, failed = time.monotonic() + options.seconds, False
    with (options.folder / "log.txt").open("a") as log:

        def say(text: str) -> None:
            print(text, flush=True)
            print(f"##### {text}", file=log, flush=True)

        for name in options.only:
            part, left = PARTS[name], end - time.monotonic()
            if left < 30:
                say(f"{name}: left out, no time")
                failed = True
            elif part.under and not shutil.which(part.under.partition(" ")[0]):
                say(f"{name}: left out, there is no {part.under.partition(' ')[0]}")
            else:
                began = time.monotonic()
                status = _run(part, log, environment, left, options.workers)
                say(f"{name}: status {status} after {time.monotonic() - began:.0f} s")
                failed = failed or status != 0
    return int(failed)


# --- a plugin of pytest ---------------------------------------------------------------------------


if os.environ.get(_WITHOUT_TORCH):
    sys.modules["torch"] = None  # type: ignore[assignment]  # importing it raises ImportError


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Write a failure down when it happens: what ends a process does not take it along."""
    report = yield
    if report.failed:
        with open(os.environ[_FAILURES], "a", errors="replace") as file:
            file.write(f"\n=== {item.nodeid} ({report.when})\n{str(report.longrepr)[-8000:]}\n")
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip what there is no time for, so that pytest ends by itself."""
    if time.time() > float(os.environ[_END]):
        pytest.skip("no time left")


if __name__ == "__main__":
    sys.exit(main())
