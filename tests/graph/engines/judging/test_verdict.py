"""How results are compared with the exact ones, and which of two verdicts is the worse."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cudnn_ctypes.graph.engines.judging.verdict import Bound, Verdict, compared, worse

EXACT = np.linspace(-4, 4, 60).reshape(3, 4, 5)
BOUND = Bound(EXACT, np.full_like(EXACT, 0.01))


def _compared(change: float, data: str = "ordinary", notes: tuple[str, ...] = ()) -> Verdict:
    result = EXACT.copy()
    result[1, 2, 3] += change
    return compared(Verdict(7, notes=notes), "y", result, BOUND, data)


def test_the_worst_element_is_told() -> None:
    found = _compared(0.5)
    assert (found.state, found.tensor, found.index) == ("wrong", "y", (1, 2, 3))
    assert found.error == pytest.approx(0.5 / 4)
    assert found.allowed == pytest.approx(0.01 / 4)
    assert found.told == "y[1, 2, 3] is 0.9746 instead of 0.4746, with ordinary numbers"


def test_what_is_within_the_bound_is_right() -> None:
    assert _compared(0.009).state == "right"
    assert _compared(0.009).told == ""


@pytest.mark.parametrize(
    ("change", "data", "notes", "state"),
    [
        (0.1, "ordinary", (), "wrong"),
        (0.1, "offset", (), "inexact"),
        (2.0, "offset", (), "wrong"),
        (np.nan, "ordinary", (), "NaN"),
        (np.nan, "rows", (), "NaN"),
        (np.inf, "tiny", (), "inexact"),
        (0.1, "ordinary", ("tensor_core", "winograd_tile_4x4"), "inexact"),
        (2.0, "ordinary", ("reduced_precision_reduction",), "wrong"),
        (np.nan, "ordinary", ("winograd",), "NaN"),
    ],
)
def test_what_may_be_inexact(change: float, data: str, notes: tuple[str, ...], state: str) -> None:
    assert _compared(change, data, notes).state == state


def test_nothing_is_said_of_elements_that_are_not_known() -> None:
    allowed = np.full_like(EXACT, 0.01)
    allowed[1, 2, 3] = np.inf
    result = EXACT.copy()
    result[1, 2, 3] = np.nan
    found = compared(Verdict(7), "y", result, Bound(EXACT, allowed), "ordinary")
    assert (found.state, found.nan) == ("right", 0)


def test_where_numbers_are_compared_single_elements_may_turn() -> None:
    exact = (np.arange(10_000) % 2).astype(float)
    result = exact.copy()
    result[5] = 0
    for turning, state in ((1, "right"), (0, "wrong")):
        bound = Bound(exact, np.full_like(exact, 1e-3), turning)
        assert compared(Verdict(7), "y", result, bound, "ordinary").state == state


def test_the_worse_of_two() -> None:
    right, off, nan = _compared(0.001), _compared(0.5), _compared(np.nan)
    assert worse(right, off) is off
    assert worse(nan, off) is nan
    assert worse(right, _compared(0.002)).error > right.error


def test_a_verdict_goes_to_json_and_back() -> None:
    found = _compared(0.5, notes=("winograd",))
    assert Verdict.from_dict(json.loads(json.dumps(found.as_dict()))) == found
