"""Cases of which some run always and the rest in the soak tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

__all__ = ["thinned"]


def thinned(cases: Iterable[Any], every: int, always: Sequence[Any] = ()) -> list[Any]:
    """Parameters of a test: each `every`-th case and those of `always`; the others with ``soak``.

    It suits a test with many cases that take long and go the same way through the code.
    """
    return [
        case
        if number % every == 0 or case in always
        else pytest.param(case, marks=pytest.mark.soak)
        for number, case in enumerate(cases)
    ]
