"""Queries for convolution algorithms on the reference device: counts, tables, workspace sizes.

`convolution_algorithms` has the conditions for kernels. As in cuDNN 9.19,

- ``_v7`` does not time (its ``time`` is -1). It lists the preferred algorithm first, and algorithms
  without a kernel last, with their status;
- ``Find…`` gives times in milliseconds. For descriptors that do not fit together it succeeds, with
  rows of BAD_PARAM. ``Find…`` allocates its own memory; ``Find…Ex`` overwrites the caller's output,
  and gives algorithms that need a larger workspace the status INTERNAL_ERROR_UNEXPECTED_VALUE.

NumPy computes all algorithms in the same way. So one run is timed, all algorithms get this time,
and their order is cuDNN's order of preference: no algorithm looks faster by chance. Each is listed
once, with the descriptor's math type; cuDNN lists some twice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from ... import raw
from . import lent
from .call import Call
from .convolution import Operands, run
from .convolution_problem import (
    DIRECTIONS,
    Direction,
    Problem,
    direction_of,
    why_not,
    workspace_bytes,
)
from .memory import Operand, scribble, zeros
from .registry import Refused, bad_param, implements, not_supported

_SUCCESS = raw.CUDNN_STATUS_SUCCESS
_NO_SPACE = raw.CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE


def _named(pattern: str) -> list[str]:
    """C's names of a function in all three directions."""
    return [pattern.format(direction.name) for direction in DIRECTIONS]


@implements(*_named("cudnnGetConvolution{}AlgorithmMaxCount"))
def max_count(call: Call) -> None:
    call.put(count=direction_of(call).max_count)


@implements(*_named("cudnnGetConvolution{}WorkspaceSize"))
def workspace_size(call: Call) -> None:
    direction, algo = direction_of(call), call["algo"]
    problem = direction.problem(call)
    call.require("sizeInBytes")
    reason = why_not(direction, algo, problem)
    if reason:
        raise not_supported(reason)
    call.put(sizeInBytes=workspace_bytes(direction, algo, problem))


@implements(*_named("cudnnGetConvolution{}Algorithm_v7"))
def offer(call: Call) -> None:
    direction = direction_of(call)
    problem = direction.problem(call)
    if call["requestedAlgoCount"] < 0 or not call["perfResults"]:
        raise bad_param("requestedAlgoCount is negative, or perfResults is NULL")
    _fill(call, problem, [_row(direction, algo, problem) for algo in direction.methods])


@implements(
    *_named("cudnnFindConvolution{}Algorithm"), *_named("cudnnFindConvolution{}AlgorithmEx")
)
def find(call: Call) -> None:
    direction = direction_of(call)
    problem = direction.problem(call)
    operands = Operands.of(call, problem) if "workSpace" in call else None
    if call["requestedAlgoCount"] < 1:
        raise bad_param("requestedAlgoCount is less than 1")
    call.require("returnedAlgoCount", "perfResults")
    if 0 in (*problem.x.strides, *problem.y.strides):
        raise not_supported("cuDNN times no convolution of tensors with a stride of 0")
    try:
        rows = [_row(direction, algo, problem) for algo in direction.methods]
    except Refused as refused:  # the descriptors do not fit each other
        rows = [_Row(algo, refused.status) for algo in direction.methods]
    if operands:
        limit = call["workSpaceSizeInBytes"] if call["workSpace"] else 0
        for row in rows:
            if row.status == _SUCCESS and row.memory > limit:
                row.status = _NO_SPACE
    usable = [row for row in rows if row.status == _SUCCESS]
    if usable:
        if operands:
            scribble(call["workSpace"], max(row.memory for row in usable), "workSpace")
        milliseconds = _timed(direction, problem, operands)
        for row in usable:
            row.milliseconds = milliseconds
    _fill(call, problem, rows)


@dataclass
class _Row:
    """One entry of a table of algorithms; `milliseconds` is -1 if not timed."""

    algorithm: Any
    status: raw.cudnnStatus_t
    memory: int = 0
    milliseconds: float = -1.0


def _row(direction: Direction, algorithm: Any, problem: Problem) -> _Row:
    if why_not(direction, algorithm, problem):
        return _Row(algorithm, raw.CUDNN_STATUS_NOT_SUPPORTED)
    return _Row(algorithm, _SUCCESS, workspace_bytes(direction, algorithm, problem))


def _timed(direction: Direction, problem: Problem, operands: Operands | None) -> float:
    """Milliseconds of the convolution in NumPy; without operands, in memory of its own."""
    owners = []
    if operands is None:
        described: tuple[Any, ...] = (problem.x, problem.w, problem.y)
        owners = [zeros(each) for each in described]
        operands = Operands(
            *(
                Operand(name, each, address)
                for name, each, (_, address) in zip("xwy", described, owners, strict=True)
            )
        )
    start = time.perf_counter()
    with lent.any_contents():  # the results are not used
        run(direction, problem, operands)
    milliseconds = 1e3 * (time.perf_counter() - start)
    del owners  # until here
    return milliseconds


def _fill(call: Call, problem: Problem, rows: list[_Row]) -> None:
    """Fill the table of a call: usable rows first, in cuDNN's order of preference."""
    direction = direction_of(call)
    rows = sorted(rows, key=lambda row: row.status != _SUCCESS)[: call["requestedAlgoCount"]]
    for position, row in enumerate(rows):
        entry = call["perfResults"][position]
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
    call.offer(returnedAlgoCount=len(rows))
