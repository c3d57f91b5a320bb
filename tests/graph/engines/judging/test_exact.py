"""The reference of a judge: against another oracle, and rounding that it must call right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.graph.engines.judging.exact import Evaluation
from cudnn_ctypes.graph.engines.judging.judging import bounds
from cudnn_ctypes.graph.engines.judging.operands import KINDS, images, results
from cudnn_ctypes.graph.engines.judging.verdict import Verdict, compared
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.target import Target
from tools.fuzz.oracle import evaluate
from tools.fuzz.random_graphs import FAMILIES, describe, draw

from ...families import CASES, ONE_OF_EACH

H200 = Target(92800, 90)
WITHOUT_A_MEANING = {"products of experts"}


def _expanded(graph: Graph) -> Any:
    return graph._expanded(graph.validate(), H200)


def _judged(graph: Graph, kind: str, seed: int) -> list[Verdict]:
    """Verdicts on results that were rounded at random."""
    expansion = _expanded(graph)
    evaluation = Evaluation(expansion)
    operands = images(expansion, graph.validate(), kind, {})
    allowed = bounds(expansion, evaluation, operands)
    found = evaluation.rounded(operands, np.random.default_rng(seed))
    return [
        compared(Verdict(0), each.name, found[each.uid], allowed[each.uid], kind)
        for each in results(expansion)
    ]


@pytest.mark.thinned(8)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted({*ONE_OF_EACH, *list(CASES)[::5]} - WITHOUT_A_MEANING))
def test_rounding_alone_is_right(name: str, kind: str) -> None:
    with np.errstate(all="ignore"):
        found = _judged(CASES[name].graph(), kind, 99)
    assert {each.state for each in found} == {"right"}, [each.told for each in found]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", FAMILIES)
def test_another_oracle_says_the_same(family: str, seed: int) -> None:
    pytest.importorskip("torch")
    graph = describe(draw(family, seed))
    nodes = graph.validate()
    expansion = _expanded(graph)
    evaluation = Evaluation(expansion)
    operands = images(expansion, nodes, "ordinary", {})
    arrays = {each.name: evaluation.load(operands, each.uid) for each in graph.inputs}
    with np.errstate(all="ignore"):
        ours, theirs = evaluation.exact(operands), evaluate(nodes, arrays)
    for each in graph.outputs:
        one, other = (np.asarray(x, np.float64) for x in (ours[each.uid], theirs[each.name]))
        known = np.isfinite(one) & np.isfinite(other)
        assert known.mean() > 0.9
        scale = np.abs(other[known]).max()
        assert np.abs(one - other)[known].max() <= 1e-9 * scale, each.name
