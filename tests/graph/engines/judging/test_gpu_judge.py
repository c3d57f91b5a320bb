"""The judge on a GPU: right engines, engines that are known to be wrong, and probation."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cudnn_ctypes import NotSupportedError, Selection
from cudnn_ctypes.graph import EngineChoice
from cudnn_ctypes.graph.describe.form import small
from cudnn_ctypes.graph.engines.judging import probation
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower import lowering
from cudnn_ctypes.graph.lower.target import NO_GPU

from ...cases import channels_last, image

pytestmark = pytest.mark.gpu


def activated() -> Graph:
    graph = Graph("layer", io_data_type="float16")
    x, w = image(graph, "x", (4, 32, 16, 16)), image(graph, "w", (64, 32, 3, 3))
    graph.relu(graph.conv_fprop(x, w, padding=1)).set_output(name="y")
    return graph


def product() -> Graph:
    graph = Graph("product", io_data_type="bfloat16")
    a, b = graph.tensor((2, 64, 96), name="a"), graph.tensor((2, 96, 128), name="b")
    graph.relu(a @ b).set_output(name="y")
    return graph


def unevenly_padded() -> Graph:
    """Engines 1, 18 and 20 are known to be wrong."""
    graph = Graph("uneven", io_data_type="float16")
    x, dy = image(graph, "x", (2, 64, 41, 41)), image(graph, "dy", (2, 64, 42, 42))
    dw = graph.conv_wgrad(x, dy, pre_padding=1, post_padding=2)
    dims = (64, 64, 3, 3)
    dw.set_output(dims=dims, strides=channels_last(dims), name="dw")
    return graph


UNEVEN = {1, 18, 20}


def forget_known_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a GPU of which no fault is known."""
    monkeypatch.setattr(lowering, "Target", SimpleNamespace(of=lambda device: NO_GPU))


@pytest.mark.parametrize("make", [activated, product])
def test_the_engines_of_a_usual_graph_are_right(handle, make):
    judged = make().judge(handle, knobs=0)
    print(judged)
    assert judged.right
    assert not judged.wrong
    assert all(each.median is not None for each in judged.right)


def test_known_wrong_engines_are_found_and_passed_over(handle, monkeypatch):
    graph = unevenly_padded()
    judged = graph.judge(handle, knobs=0, data="ordinary")
    print(judged)
    wrong = {each.engine for each in judged.wrong}
    known = {each.engine for each in judged if each.known and each.state != "refused"}
    assert wrong
    assert wrong == known <= UNEVEN
    assert judged.right
    forget_known_faults(monkeypatch)
    for engine in wrong:
        with pytest.raises(NotSupportedError, match="it was judged on this machine"):
            graph.build(handle, "fallback", selection=Selection(engines=[engine]))
        graph.build(handle, config=EngineChoice(engine))


def gated() -> Graph:
    """A convolution, and a factor of one number for each image and channel."""
    graph = Graph("gated", io_data_type="float16")
    y = graph.conv_fprop(
        image(graph, "x", (8, 32, 9, 9)), image(graph, "w", (64, 32, 3, 3)), padding=1
    )
    graph.mul(y, image(graph, "gate", (8, 64, 1, 1))).set_output(name="y")
    return graph


def scaled_rows() -> Graph:
    graph = Graph("rows", io_data_type="float16")
    x, s = graph.tensor((1, 256, 256), name="x"), graph.tensor((1, 256, 1), name="s")
    graph.mul(x, graph.rsqrt(s)).set_output(name="y")
    return graph


@pytest.mark.parametrize(("make", "states"), [(gated, {"ended"}), (scaled_rows, {"wrong", "NaN"})])
def test_what_is_computed_beforehand_is_wrong_as_it_is_described(handle, make, states):
    judged = make().judge(handle, knobs=0, data="ordinary", despite_faults=True)
    print(judged)
    assert states & {each.state for each in judged.wrong}
    handle.synchronize()  # its context is whole
    found = make().judge(handle, knobs=0, data="ordinary")
    print(found)
    assert found.right
    assert not found.wrong


def test_probation_tries_a_small_graph(handle, monkeypatch):
    forget_known_faults(monkeypatch)
    graph = unevenly_padded()
    smaller = small(graph, 16)
    assert smaller is not None
    assert smaller.find_tensor("x").dims == (2, 16, 25, 25)
    usable = {row.engine for row in graph.explain(handle).usable}
    wrong, right = min(UNEVEN & usable), min(usable - UNEVEN)
    known = probation.checked(
        graph, graph.expansion(handle), handle, [EngineChoice(wrong), EngineChoice(right)]
    )
    assert set(known.engines) == {wrong}
    assert {engine for engine, _ in known.families} == {wrong, right}
    plan = graph.build(handle, check="first")
    assert plan.config.engine.index != wrong


def test_a_product_passes_its_probation(handle):
    plan = product().build(handle, check="first")
    assert plan.uids
    tuned = product().autotune(handle, runs=3, budget=10)
    assert tuned.best.state == "measured"
