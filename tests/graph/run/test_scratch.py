"""Tensors that lie at the end of the workspace."""

from __future__ import annotations

import pytest

from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.graph.run.scratch import Scratch

from ..attention_problems import BOTH
from ..attentions import Attention

PLAIN = Attention(keys=256)


def _graph(attention: Attention) -> Graph:
    graph = Graph(io_data_type="float16")
    attention.backward(graph)
    return graph


def _tensors(attention: Attention) -> list[Tensor]:
    graph = _graph(attention)
    return graph._expanded(graph.validate(), Target(91900, 90)).tensors


def test_lies_behind_what_the_plan_needs() -> None:
    tensors = _tensors(PLAIN)
    scratch = Scratch(tensors)
    uids = [each.uid for each in tensors if each.scratch]
    rows, dq = 2 * 4 * 128 * 4, 2 * 4 * 128 * 64 * 4
    assert scratch.size == rows + dq
    assert scratch.total(0) == rows + dq
    assert scratch.total(1) == 256 + rows + dq
    found = scratch.added_to({-1: 5}, 300, 4096)
    numbers = {each.uid: each.value for each in tensors if each.by_value}
    assert {uid: getattr(value, "value", value) for uid, value in found.items()} == {
        -1: 5,
        uids[0]: 4096 + 512,
        uids[1]: 4096 + 512 + rows,
        **numbers,
    }
    assert not scratch.must_write


def test_what_has_contents_is_written() -> None:
    assert Scratch(_tensors(BOTH["alibi"])).must_write


def test_nothing_changes_nothing() -> None:
    scratch, pointers = Scratch(), {1: 2}
    assert not scratch
    assert scratch.total(77) == 77
    assert scratch.added_to(pointers, 77, None) is pointers


def test_plans_count_it(h200: DeviceProperties) -> None:
    with _graph(PLAIN) as graph:
        plan = graph.build(h200)
        assert plan.scratch.size > 0
        assert graph.workspace_size == plan.workspace_size >= plan.scratch.size
        given = {each.uid: 4096 for each in (*graph.inputs, *graph.outputs)}
        missing = f"this plan needs {plan.workspace_size} bytes"
        with pytest.raises(ValueError, match=missing):
            plan.variant_pack({uid or 0: address for uid, address in given.items()})
