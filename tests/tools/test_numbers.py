"""Random graphs of a fixed seed are right; wrong numbers are seen and replayed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import ROOT, run_program

from tools.fuzz.numbers import NAMES
from tools.fuzz.oracle import deviations
from tools.fuzz.random_graphs import FAMILIES, describe, draw

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")

REPORT = """
    import sys
    from tools.fuzz import numbers
    sys.exit(numbers.main(sys.argv[1:]))
"""
# The oracle adds 1 % too much.
FALSE = """
    import sys
    from tools.fuzz import numbers, oracle
    oracle._OPERATIONS["operation_matmul"] = lambda node, operand: {
        "C": 1.01 * (operand("A") @ operand("B"))
    }
    sys.exit(numbers.main(sys.argv[1:]))
"""


def searched(*flags: str, program: str = REPORT) -> Any:
    return run_program(program, *flags, folder=ROOT, check=False)


@pytest.mark.soak
def test_random_graphs_are_right_on_the_reference_device() -> None:
    pytest.importorskip("torch")
    done = searched("--reference", "--cases", "2", "--seed", "30")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = dict(line.split(": ", 1) for line in done.stdout.splitlines() if line[0] != " ")
    assert set(NAMES) == set(rows)
    assert "right" in rows["convolution"]


@pytest.mark.gpu
def test_random_graphs_are_right_on_a_gpu() -> None:
    pytest.importorskip("torch")
    done = searched("--cases", "6", "--seed", "100")
    assert done.returncode == 0, done.stdout + done.stderr


def test_wrong_numbers_are_found_and_replayed() -> None:
    pytest.importorskip("torch")
    flags = ("--reference", "--families", "matmul", "--cases", "3", "--seed", "2")
    done = searched(*flags, program=FALSE)
    assert done.returncode == 1
    result, case, *_ = done.stdout.splitlines()
    assert result.startswith("wrong: y by")
    replay = searched("--reference", "--replay", case.strip(), program=FALSE)
    assert replay.stdout.strip() == result
    assert searched("--reference", "--replay", case.strip()).stdout.strip() == "right"


@pytest.mark.parametrize("family", list(FAMILIES))
def test_cases_are_json_and_the_same_for_the_same_seed(family: str) -> None:
    case = draw(family, 5)
    assert json.loads(json.dumps(case)) == case == draw(family, 5)
    assert case != draw(family, 6)
    describe(case).validate()


def test_deviations_are_as_large_as_the_data_type_is_coarse() -> None:
    pytest.importorskip("torch")
    case = {**draw("matmul", 1), "chain": [], "result": None}
    largest = {}
    for io in ("float16", "bfloat16"):
        graph = describe({**case, "io": io})
        nodes = graph.validate()
        rng = np.random.default_rng(1)
        arrays = {each.name: rng.uniform(-1, 1, each.dims) for each in graph.inputs}
        exact, spread = deviations(nodes, arrays, 0)
        largest[io] = spread["y"].max() / np.abs(exact["y"]).max()
    assert 1e-4 < largest["float16"] < 1e-3
    assert largest["bfloat16"] == pytest.approx(8 * largest["float16"], rel=0.1)
