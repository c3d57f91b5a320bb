"""Tables of convolution algorithms, offered or timed, and how cuDNN fills them.

Which algorithm has a kernel is stated in `convolution_algorithms`. As in cuDNN 9.19,

- ``_v7`` does not time (its ``time`` is -1) and puts the preferred algorithm first, the ones
  without a kernel last, with their status;
- ``Find…`` times every algorithm once, in milliseconds, and sorts by time. For descriptors that do
  not fit each other it succeeds, with rows of BAD_PARAM. ``Find…`` takes memory of its own;
  ``Find…Ex`` overwrites the output that it is given, and gives algorithms that want more than its
  workspace the status INTERNAL_ERROR_UNEXPECTED_VALUE.

Each algorithm is listed once, with the descriptor's math type; cuDNN lists some twice. The times
are those of NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ... import raw
from . import lent
from .convolution_algorithms import Direction, why_not, workspace_bytes
from .convolution_problem import Problem
from .dispatch import Refused
from .memory import scribble, zeros

__all__ = ["fill_max_count", "fill_workspace_size", "find", "find_in_own_memory", "offer"]

_SUCCESS = raw.CUDNN_STATUS_SUCCESS
_NO_SPACE = raw.CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE

Run = Callable[[Problem, int, int, int], None]
"""Runs a problem on the addresses of x, w and y."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One entry of a table of algorithms; `milliseconds` is -1 where nothing was timed."""

    algorithm: Any
    status: raw.cudnnStatus_t
    milliseconds: float
    memory: int


def fill_max_count(direction: Direction, count: Any) -> None:
    """What ``…AlgorithmMaxCount`` does; `count` is a pointer."""
    if not count:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, "count is NULL")
    count.contents.value = direction.max_count


def fill_workspace_size(direction: Direction, problem: Problem, algo: Any, size: Any) -> None:
    """What ``…WorkspaceSize`` does; `size` is a pointer."""
    if not size:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, "sizeInBytes is NULL")
    reason = why_not(direction, algo, problem)
    if reason:
        raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, reason)
    size.contents.value = workspace_bytes(direction, algo, problem)


def offer(
    direction: Direction, problem: Problem, requested: int, returned: Any, table: Any
) -> None:
    """What ``…Algorithm_v7`` does; `returned` and `table` are pointers."""
    if requested < 0 or not table:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, "requestedAlgoCount is negative, or perfResults is NULL"
        )
    rows = [_row(direction, algorithm, problem) for algorithm in direction.methods]
    rows.sort(key=lambda row: row.status != _SUCCESS)
    _fill(direction, problem, rows[:requested], returned, table)


def find(
    direction: Direction,
    problem: Problem,
    requested: int,
    returned: Any,
    table: Any,
    run: Callable[[], None],
    workspace: int | None = None,
    limit: int | None = None,
) -> None:
    """What ``Find…AlgorithmEx`` does: time `run` for each algorithm.

    Without a `limit` there is as much workspace as wanted, and `workspace` is not touched.
    """
    if requested < 1 or not returned or not table:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            "requestedAlgoCount is less than 1, or returnedAlgoCount or perfResults is NULL",
        )
    rows = []
    for algorithm in direction.methods:
        try:
            row = _row(direction, algorithm, problem)
        except Refused as refused:  # the descriptors do not fit each other
            row = _Row(algorithm, refused.status, -1.0, 0)
        if row.status == _SUCCESS and limit is not None and row.memory > limit:
            row = _Row(algorithm, _NO_SPACE, -1.0, row.memory)
        elif row.status == _SUCCESS:
            if limit is not None:
                scribble(workspace, row.memory, "workSpace")
            start = time.perf_counter()
            with lent.any_contents():  # nobody looks at the results
                run()
            milliseconds = 1e3 * (time.perf_counter() - start)
            row = _Row(algorithm, _SUCCESS, milliseconds, row.memory)
        rows.append(row)
    rows.sort(
        key=lambda row: (row.status != _SUCCESS, max(row.milliseconds, 0.0), int(row.algorithm))
    )
    _fill(direction, problem, rows[:requested], returned, table)


def find_in_own_memory(
    direction: Direction, problem: Problem, requested: int, returned: Any, table: Any, run: Run
) -> None:
    """What ``Find…Algorithm`` does."""
    owners, addresses = zip(*(zeros(d) for d in (problem.x, problem.w, problem.y)), strict=True)
    find(direction, problem, requested, returned, table, lambda: run(problem, *addresses))
    del owners  # until here


def _row(direction: Direction, algorithm: Any, problem: Problem) -> _Row:
    if why_not(direction, algorithm, problem):
        return _Row(algorithm, raw.CUDNN_STATUS_NOT_SUPPORTED, -1.0, 0)
    return _Row(algorithm, _SUCCESS, -1.0, workspace_bytes(direction, algorithm, problem))


def _fill(
    direction: Direction, problem: Problem, rows: list[_Row], returned: Any, table: Any
) -> None:
    for position, row in enumerate(rows):
        entry = table[position]
        entry.algo = row.algorithm
        entry.status = row.status
        entry.time = row.milliseconds
        entry.memory = row.memory
        entry.determinism = (
            raw.CUDNN_NON_DETERMINISTIC
            if row.algorithm in direction.nondeterministic
            else raw.CUDNN_DETERMINISTIC
        )
        entry.mathType = problem.convolution.math_type
    if returned:
        returned.contents.value = len(rows)
