"""Graphs of two and three operations end no process; without our refusals some do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from programs import ROOT, run_program

from cudnn_ctypes import raw
from tools.fuzz.graph_cases import FORMS, Case, cases, paths
from tools.fuzz.sketch import OPERATIONS, Unfit, operands

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


def searched(*flags: str) -> Any:
    program = f"import sys; from tools.fuzz import pairs; sys.exit(pairs.main({list(flags)!r}))"
    return run_program(program, folder=ROOT, check=False)


@pytest.mark.soak
def test_a_sample_of_all_forms_ends_no_process() -> None:
    done = searched("--forms", *FORMS, "--each", "1", "--sample", "250", "--seed", "7")
    assert done.returncode == 0, done.stdout + done.stderr
    *_, last = done.stdout.splitlines()
    assert last.startswith(f"250 cases of cuDNN {raw.load().version_text}: ")
    assert "0 ended the process" in last
    assert " 0 accepted" not in last


@pytest.mark.soak
def test_what_ends_a_process_is_found_and_can_be_replayed() -> None:
    path = ("conv_fprop", "y", "A", "matmul")
    flags = ("--modes", "a", "--gpus", "h200", "--shapes", "image", "--types", "float16")
    only = '"path": \\["conv_fprop", "y", "A", "matmul"\\]'
    done = searched(*flags, "--each", "1", "--unguarded", "--only", only)
    assert done.returncode == 1
    assert "died: SIGSEGV while asking heuristics, rows ['product of a conv" in done.stdout
    assert "0 of these in no row of faults" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("died"))
    case = Case.from_json(line[line.index("{") :])
    assert case.path == path
    refused = searched("--replay", str(case))
    assert "refused: NotSupportedError" in refused.stdout
    assert searched("--replay", str(case), "--unguarded").returncode < 0


def test_every_operation_is_in_chains_at_every_operand() -> None:
    chains = set(paths("chain"))
    assert {(name,) for name in OPERATIONS} <= chains
    for name in OPERATIONS:
        for operand in operands(name):
            assert ("relu", "y", operand, name) in chains


def test_cases_are_the_same_for_the_same_seed() -> None:
    some = list(cases("siblings", each=1))
    assert some == list(cases("siblings", each=1))
    assert Case.from_json(str(some[0])) == some[0]


def test_operations_that_do_not_fit_are_told_apart() -> None:
    with pytest.raises(Unfit, match="rank 3, not 4"):
        Case("chain", ("relu", "y", "q", "sdpa"), shape="matrix").graph()
