"""Two runs side by side."""

from __future__ import annotations

from typing import Any

from cudnn_ctypes.evidence.records import Argument, CallRecord, compare


def run(*calls: tuple[str, Any], **said: Any) -> list[CallRecord]:
    return [
        CallRecord(number, f"cudnn{name}", (Argument("n", value),), "SUCCESS", **said)
        for number, (name, value) in enumerate(calls, 1)
    ]


def test_equal_runs_whatever_their_times_and_places() -> None:
    one = run(("A", 1), ("B", 2), seconds=1.0, file="a.py", line=3)
    found = compare(one, run(("A", 1), ("B", 2), seconds=2.0, file="b.py", line=4, thread="t"))
    assert (found.pairs, found.equal) == ([], 2)
    assert found.text(100) == "2 calls equal, 0 different"


def test_another_argument() -> None:
    one, other = run(("A", 1), ("B", 2), ("C", 3)), run(("A", 1), ("B", 5), ("C", 3))
    found = compare(one, other)
    assert found.equal == 2
    assert found.pairs == [(one[1], other[1])]
    assert "~ cudnnB  call 2 and 2" in found.text(100)
    assert "    - n=2\n    + n=5" in found.text(100)


def test_calls_that_one_run_lacks() -> None:
    one, other = run(("A", 1), ("B", 2), ("C", 3)), run(("A", 1), ("C", 3), ("D", 4))
    found = compare(one, other)
    assert found.pairs == [(one[1], None), (None, other[2])]
    rows = found.text(100).splitlines()
    assert rows[0].startswith("- cudnnB(n=2)")
    assert rows[1].startswith("+ cudnnD(n=4)")
    assert rows[2] == "2 calls equal, 2 different"


def test_another_status_and_other_numbers() -> None:
    (one,) = run(("A", 1))
    failed = CallRecord(1, "cudnnA", one.arguments, "BAD_PARAM", True, "too many")
    text = compare([one], [failed]).text(100)
    assert "- SUCCESS" in text
    assert "+ BAD_PARAM: too many" in text
    bad = CallRecord(1, "cudnnA", one.arguments, "SUCCESS", not_finite={"y": "1 NaN of 2"})
    text = compare([one], [bad]).text(100)
    assert "- finite" in text
    assert "+ y: 1 NaN of 2" in text


def test_a_call_before_all_others_shifts_nothing() -> None:
    calls = [("A", i) for i in range(50)]
    found = compare(run(*calls), run(("New", 0), *calls))
    assert found.equal == 50
    assert len(found.pairs) == 1
