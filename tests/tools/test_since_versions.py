"""What the comparison with older headers finds, on made-up releases."""

from __future__ import annotations

import pytest

pytest.importorskip("clang.cindex", reason="needs libclang, which reads the headers")

from tools.since_versions import Release, gone, numbers, renumbered, wrong_versions

HISTORY = [
    Release((9, 0, 0), {"f": None, "A": 1, "OLD": 7}),
    Release((9, 3, 0), {"f": None, "A": 2, "g": None}),
    Release((9, 5, 0), {"f": None, "A": 2, "g": None, "h": None}),
]


def test_numbers():
    assert numbers("9.10.2.21") == (9, 10, 2)
    assert numbers("9.10.0") < numbers("9.10.2") < numbers("9.11.0")


@pytest.mark.parametrize(
    ("since", "found"),
    [
        ("9.1.0", []),  # a release between the two that are compared
        ("9.3.0", []),
        ("9.5.0", ["g: stated 9.5.0, but 9.3.0 has it"]),
        ("9.0.0", ["g: stated 9.0.0, but 9.0.0 lacks it"]),
    ],
)
def test_wrong_versions(since, found):
    assert list(wrong_versions({"g": numbers(since)}, HISTORY)) == found


def test_the_first_release_proves_no_name_older():
    assert list(wrong_versions({"f": (9, 0, 0)}, HISTORY)) == []


def test_renumbered():
    assert list(renumbered(HISTORY)) == ["A: 1 in 9.0.0"]


def test_gone():
    assert list(gone(HISTORY)) == ["OLD: last in 9.0.0"]
