"""Carrying out operations one after the other, each when its operands are known."""

from __future__ import annotations

from collections.abc import Container, Sequence

from ... import raw
from .backend_steps import Step
from .backend_tensors import rounded
from .registry import Refused

_READING_PARTS = ("paged_cache_load", "slice")
"""Operations that skip elements of their operands, which may be unwritten."""


def evaluate(steps: Sequence[Step], negated: frozenset[int] = frozenset()) -> list[int]:
    """Compute the results of `steps`, which are in order; returns the uids of those in memory.

    Unknown operands are loaded. Each result is rounded to its data type, also a virtual one;
    results with `negated` unique ids are negated before.
    """
    outputs: list[int] = []
    for step in steps:
        values = step.values
        load_operands(step)
        try:
            results = step.operation.compute(step)
        except (IndexError, ValueError) as error:  # an index beyond the end, sizes that do not fit
            raise Refused(raw.CUDNN_STATUS_EXECUTION_FAILED, f"{step.name}: {error}") from error
        found = [(info, results[port]) for port, info in step.writes]
        for info, array in (*found, *step.within):
            result = -array if info.uid in negated else array
            shape = info.shape if step.knows_shape(info) else None
            values[info.uid] = (info, rounded(result, info, shape))
            if not info.virtual:
                outputs.append(info.uid)
    return outputs


def load_operands(step: Step, results: Container[int] = ()) -> None:
    """Load the operands of a step that are not known, and are no results of others."""
    whole = step.name not in _READING_PARTS
    load = step.memory.load if whole else step.memory.load_partly_written
    for info in step.reads:
        if info.uid not in step.values and info.uid not in results:
            step.values[info.uid] = (info, load(info))


def in_order(steps: list[Step]) -> list[Step]:
    """The steps, each after the steps whose results it reads; programs list them in any order."""
    made_by = {info.uid: step for step in steps for _, info in step.writes}
    ordered: list[Step] = []

    def visit(step: Step, above: tuple[Step, ...]) -> None:
        if step in ordered:
            return
        if step in above:
            raise Refused(raw.CUDNN_STATUS_BAD_PARAM, "the operations of the graph go in a circle")
        for info in step.reads:
            maker = made_by.get(info.uid, step)
            if maker is not step:
                visit(maker, (*above, step))
        ordered.append(step)

    for step in steps:
        visit(step, ())
    return ordered
