"""What becomes of cases in child processes, also of those that end their process."""

from __future__ import annotations

import mmap
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cudnn_ctypes.graph.backend.children import Outcome, Spent, outcomes

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


def prepared(note: Callable[[str], None]) -> Callable[[str], str]:
    kept = []

    def perform(case: str) -> str:
        note(f"before {case}")
        print("trying", case, flush=True)
        if case == "signal":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif case == "hang":
            time.sleep(60)
        elif case == "memory":
            # malloc may give memory that is there already
            pages = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            pages.write(b"x" * (64 << 20))
            kept.append(pages)
        elif case == "error":
            raise KeyError("no such thing")
        elif case == "spent":
            raise Spent("context lost")
        return f"pid {os.getpid()}"

    return perform


def run(*cases: str) -> list[Outcome[str]]:
    return list(outcomes(cases, prepared, seconds=1, megabytes=32))


@pytest.mark.parametrize(
    ("case", "result"),
    [("signal", "SIGSEGV"), ("hang", "hang"), ("memory", "memory"), ("error", "exit 97")],
)
@pytest.mark.thinned(4)
def test_the_next_child_goes_on_behind_the_case_that_ended_one(case, result):
    first, fatal, *others = run("fine", case, "fine", "fine")
    assert (fatal.case, fatal.result, fatal.died) == (case, result, True)
    assert fatal.note == f"before {case}"
    assert "trying" in fatal.printed
    assert not any(each.died for each in (first, *others))
    one, other = (each.result for each in others)
    assert one == other != first.result


def test_a_spent_child_is_replaced_and_its_case_counts():
    first, spent, last = run("fine", "spent", "fine")
    assert (spent.result, spent.died) == ("context lost", False)
    assert last.result != first.result


def test_children_that_cannot_begin_are_an_error():
    def broken(note):
        raise OSError("no library")

    with pytest.raises(RuntimeError, match=r"before its first case: exit 97[\s\S]*no library"):
        next(outcomes(["fine"], broken))


def test_no_child_is_left_when_the_caller_stops():
    running = outcomes(["fine"] * 3 + ["hang"], prepared, seconds=30)
    child = int(next(running).result.removeprefix("pid "))
    running.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
