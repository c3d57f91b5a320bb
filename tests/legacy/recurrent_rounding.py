"""How far results of recurrent networks may be off: what rounding does, tried out.

Every number that goes in is moved by up to four roundoffs, and so is what every time step computes:
the gates' sums, the states that it stores, and the gradients on the way back; eight times. Four,
since the kernels round sums too, in their own order: of what single roundoffs change in a result,
up to 3.4 times as much was seen on an H200. The largest change is allowed, and 4 roundoffs of the
largest element besides. Where a ReLU may switch, gradients have a step, and either side is right;
twice the change is allowed there, as several may switch in a trial or on the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.reference import rnn
from cudnn_ctypes.reference.rnn_cells import Step, StepGradient

from .recurrent import Operands, Problem, expected

TRIALS, ROOM = 8, 4


def function_error(problem: Problem) -> float:
    """Of tanh, absolute, where it is larger than rounding; measured on an H200 with 9.14 and 9.19.

    The persistent kernels in float32 have a tanh that is off by up to 7e-6, and networks that
    compute in float16 one that is off by up to 1.4e-3; their sigmoid is better.
    """
    kind = problem.kind
    if problem.network.cell == "relu":
        return 0.0
    if kind.compute_data_type == "float16":
        return 1.5e-3
    return 2.0**-17 if kind.data_type == "float32" and problem.algorithm != "standard" else 0.0


def tolerances(problem: Problem, given: Operands, exact: dict[str, Any]) -> dict[str, float]:
    """For each result the largest error that is allowed."""
    rng = np.random.default_rng([problem.seed, 54321])
    roundoff = problem.kind.roundoff
    moved_by = ROOM * roundoff, ROOM * function_error(problem)
    changes = dict.fromkeys(exact, 0.0)
    for _ in range(TRIALS):
        with _rounded_steps(rng, *moved_by):
            moved = expected(problem, _moved_operands(given, rng, moved_by[0]))
        for name, array in moved.items():
            changes[name] = max(changes[name], float(np.abs(array - exact[name]).max()))
    smallest = float(ml_dtypes.finfo(problem.kind.dtype).smallest_subnormal)
    allowed = 2 if problem.network.cell == "relu" else 1
    return {
        name: allowed * changes[name] + 4 * roundoff * float(np.abs(array).max()) + smallest
        for name, array in exact.items()
    }


def _moved_operands(given: Operands, rng: np.random.Generator, roundoff: float) -> Operands:
    return Operands(
        **{
            name: None if array is None else _moved(array.astype(np.float64), rng, roundoff)
            for name, array in vars(given).items()
        }
    )


def _moved(array: Any, rng: np.random.Generator, relative: float, absolute: float = 0.0) -> Any:
    spread: NDArray[Any] = relative * np.abs(array) + absolute
    return array + spread * rng.uniform(-1, 1, np.shape(array))


@contextmanager
def _rounded_steps(rng: np.random.Generator, roundoff: float, error: float) -> Iterator[None]:
    """While it is entered, the reference's time steps round as a data type does."""
    step, step_backward = rnn.step, rnn.step_backward

    def rounded(cell: Any, a: Any, r: Any, *states: Any) -> Step:
        # Moving a sum by the error of tanh moves tanh by at most as much.
        made = step(cell, _moved(a, rng, roundoff, error), _moved(r, rng, roundoff), *states)
        return made._replace(
            memory=_moved(made.memory, rng, roundoff, error if cell == "lstm" else 0.0),
            output=_moved(made.output, rng, roundoff, error),
        )

    def rounded_backward(*arguments: Any) -> StepGradient:
        made = step_backward(*arguments)
        return StepGradient(*(_moved(gradient, rng, roundoff + error) for gradient in made))

    with (
        mock.patch.object(rnn, "step", rounded),
        mock.patch.object(rnn, "step_backward", rounded_backward),
    ):
        yield
