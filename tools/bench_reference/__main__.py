"""What operations cost on the reference device, against PyTorch on the CPU with as many threads.

``python -m tools.bench_reference [words in the names of cases]``. Both sides run in one process on
operands of the same values, taking turns; printed is the least of several measurements of each in
milliseconds, and their ratio. With one thread the processor's time counts, which other programs
change less than the clock's. Memory is what the reference device allocates on the way at most.
Results are compared first, so that both sides compute the same thing. The reference device is
called through the package's classes, its overhead included. Cases beside which PyTorch has no
function of its own take the shortest program of PyTorch's functions: the gradient of a maximum is
given no indices by cuDNN's function, so PyTorch's side finds them too.

``--first-use`` measures the reference device's first use in fresh interpreters instead.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from .layers import Layers
from .operands import Case
from .sequences import Sequences

FAMILIES = [
    "convolutions",
    "poolings",
    "normalizations",
    "layers",
    "recurrent",
    "attention",
    "graphs",
]


class Cases(Layers, Sequences):
    """The cases of all families."""

    def of(self, families: list[str]) -> Iterator[Case]:
        for family in families:
            yield from getattr(self, family)()


def measure(
    case: Case, clock: Callable[[], float], rounds: int, least: float
) -> tuple[float, float, float]:
    """The least milliseconds of ours and of theirs, and their ratio."""
    sides = (case.ours, case.theirs)
    loops = []
    for side in sides:
        side()
        start = clock()
        side()
        loops.append(max(1, round(least / (clock() - start))))
    times: list[list[float]] = [[], []]
    for _ in range(rounds):
        for side, count, kept in zip(sides, loops, times, strict=True):
            start = clock()
            for _ in range(count):
                side()
            kept.append(1e3 * (clock() - start) / count)
    ours, theirs = map(min, times)
    return ours, theirs, ours / theirs


def report(families: list[str], words: list[str], threads: int, rounds: int, least: float) -> None:
    bench = Cases(threads)
    clock = time.thread_time if threads == 1 else time.perf_counter
    print(f"PyTorch {bench.torch.__version__}, NumPy {bench.np.__version__}, {threads} thread(s)")
    print(f"{'':44}{'ms':>9}{'PyTorch':>9}{'ratio':>7}{'MB':>7}")
    for case in bench.of(families):
        if all(word in case.name for word in words):
            try:
                bench.compare(case)
            except Exception as error:
                print(f"{case.name:44} fails: {type(error).__name__}: {error}")
                continue
            ours, theirs, ratio = measure(case, clock, rounds, least)
            memory = bench.peak_megabytes(case)
            print(f"{case.name:44}{ours:9.3f}{theirs:9.3f}{ratio:7.1f}{memory:7.1f}", flush=True)


def report_first_use(rounds: int) -> None:
    """Fresh interpreters: milliseconds of each statement, medians."""
    statements = (
        "import numpy",
        "import cudnn_ctypes",
        "from cudnn_ctypes import DeviceTensor, Handle, softmax_forward",
        "cudnn_ctypes.use_reference_device()",
        "handle = Handle()",
        "x = DeviceTensor.from_numpy(numpy.ones((2, 3, 1, 1), 'float32'))",
        "softmax_forward(handle, x)",
        "softmax_forward(handle, x)",
    )
    program = "import time\ntimes = [time.perf_counter()]\n"
    program += "".join(f"{each}\ntimes.append(time.perf_counter())\n" for each in statements)
    program += "print(*(b - a for a, b in zip(times, times[1:])))"
    runs = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        runs.append([1e3 * float(each) for each in done.stdout.split()])
    for statement, column in zip(statements, zip(*runs, strict=True), strict=True):
        print(f"{statement:66}{statistics.median(column):8.1f} ms")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_reference", description=__doc__)
    parser.add_argument("words", nargs="*", help="measure the cases whose names have all of these")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--threads", type=int, default=1, help="of NumPy's BLAS and of PyTorch")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--least", type=float, default=0.02, help="seconds of one measurement")
    parser.add_argument("--first-use", action="store_true", help="measure the first use instead")
    options = parser.parse_args(arguments)
    if options.first_use:
        report_first_use(options.rounds)
    else:
        report(options.families, options.words, options.threads, options.rounds, options.least)


if __name__ == "__main__":
    main()
