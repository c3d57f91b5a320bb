"""Attention with every option, forward and backward: built for an H200, and executed on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from error_report import Report

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, raw
from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .attention_problems import (
    BACKWARD,
    BACKWARD_COMBINED,
    BOTH,
    COMBINED,
    FORWARD,
    MODIFIED,
    MODIFIED_FORWARD,
)
from .attentions import Array, Attention, errors, execute

NEWEST = 92800
TYPES = ("float16", "bfloat16")
# The softmax, the gradient of the scores, and the results are rounded to the 16-bit type, each to
# half a unit in the last place; errors add up at random in the sums between. Statistics are
# float32.
TOLERANCES = {"float16": 3 * 2.0**-11, "bfloat16": 3 * 2.0**-8}
OF_STATS = 1e-6
OF_TANH = 4e-6  # of statistics whose scores go through cuDNN's tanh, which is right to 1e-5

FORWARDS = {**BOTH, **FORWARD, **MODIFIED, **MODIFIED_FORWARD}
BACKWARDS = {**BOTH, **BACKWARD, **MODIFIED}


def build(graph: Graph, device: Handle | DeviceProperties) -> None:
    """Older versions may lack an operation or an engine, and say which."""
    try:
        graph.build(device)
    except (SymbolNotFoundError, NotSupportedError) as error:
        if raw.load().version >= NEWEST:
            raise
        pytest.skip(str(error))


def check(
    attention: Attention,
    data_type: str,
    found: dict[str, Array],
    exact: dict[str, Array],
    a: dict[str, Array],
    report: Report,
    operation: str,
) -> None:
    for name, error in errors(attention, found, exact, a).items():
        allowed = TOLERANCES[data_type]
        if name == "stats":
            allowed = OF_TANH if attention.modifier == "cap" else OF_STATS
        report.ran(("gpu", data_type, f"{operation}: {name}"), error, error / allowed)
        assert error <= allowed, name


@pytest.mark.thinned(8)
@pytest.mark.parametrize(
    ("name", "way"),
    [(name, "forward") for name in list(FORWARDS)[::8]]
    + [(name, "backward") for name in list(BACKWARDS)[::8]],
)
def test_attention_builds_for_an_h200(name, way, h200):
    with Graph(io_data_type="float16") as graph:
        getattr({**FORWARDS, **BACKWARDS}[name], way)(graph)
        build(graph, h200)
        gradients = {"dq", "dk", "dv", "dbias", "dsink"}
        found = {tensor.name for tensor in graph.outputs}
        assert found <= (gradients if way == "backward" else {"o", "stats", "kept"})


@pytest.mark.thinned(12)
@pytest.mark.gpu
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("name", [*FORWARDS, *COMBINED])
def test_forward(name, data_type, report):
    pytest.importorskip("torch")
    attention = {**FORWARDS, **COMBINED}[name]
    a = attention.values(data_type)
    with Handle() as handle, Graph(io_data_type=data_type) as graph:
        attention.forward(graph)
        build(graph, handle)
        found = execute(attention, graph, a, handle)
    if attention.dropout == "seed":
        # Where no score is allowed, cuDNN need not write.
        kept = found["kept"][np.broadcast_to(attention.allowed(a), found["kept"].shape)]
        assert set(np.unique(kept)) == {0.0, 1.0}
        deviation = (0.75 * 0.25 / kept.size) ** 0.5
        assert abs(kept.mean() - 0.75) < 5 * deviation
        a["kept"] = np.where(found["kept"] == 1, 1.0, 0.0)
    check(attention, data_type, found, attention.compute(a), a, report, "sdpa")


@pytest.mark.thinned(12)
@pytest.mark.gpu
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("name", [*BACKWARDS, *COMBINED, *BACKWARD_COMBINED])
def test_backward(name, data_type, report):
    pytest.importorskip("torch")
    attention = {**BACKWARDS, **COMBINED, **BACKWARD_COMBINED}[name]
    a = attention.values(data_type)
    with Handle() as handle:
        if attention.dropout == "seed":
            # What the forward pass dropped, the backward pass must drop.
            with Graph(io_data_type=data_type) as graph:
                attention.forward(graph)
                build(graph, handle)
                a["kept"] = execute(attention, graph, a, handle)["kept"]
        exact = attention.compute(a)
        a |= {"o": attention.rounded(exact["o"], data_type), "stats": exact["stats"]}
        with Graph(io_data_type=data_type) as graph:
            attention.backward(graph)
            build(graph, handle)
            found = execute(attention, graph, a, handle)
            again = execute(attention, graph, a, handle)
    check(attention, data_type, found, exact, a, report, "sdpa_backward")
    if attention.deterministic:
        assert all(np.array_equal(found[each], again[each]) for each in found)


@pytest.mark.gpu
def test_padding_gives_nothing():
    """Tokens beyond the lengths become zeros, their statistics -inf."""
    pytest.importorskip("torch")
    attention, data_type = BOTH["padding"], "float16"
    a = attention.values(data_type)
    exact = attention.compute(a)
    a |= {"o": attention.rounded(exact["o"], data_type), "stats": exact["stats"]}
    with Handle() as handle:
        for describe in (attention.forward, attention.backward):
            with Graph(io_data_type=data_type) as graph:
                describe(graph)
                build(graph, handle)
                found = execute(attention, graph, a, handle)
            for name, array in found.items():
                beyond = np.broadcast_to(~attention.valid(name, a), array.shape)
                assert set(array[beyond]) == {-np.inf if name == "stats" else 0.0}


@pytest.mark.gpu
def test_bound_plans_write_the_slopes_of_alibi_each_time():
    """They lie in the workspace, which others use between."""
    attention, data_type = BOTH["alibi"], "float16"
    a = attention.values(data_type)
    with Handle() as handle, Graph(io_data_type=data_type) as graph:
        attention.forward(graph)
        build(graph, handle)
        exact = execute(attention, graph, a, handle)["o"]
        memory = {
            each: DeviceTensor.from_numpy(
                np.asarray(a.get(each.name, np.zeros(each.dims or ()))).astype(
                    np.float32 if each.name == "stats" else np.float16
                ),
                strides=each.strides,
            )
            for each in (*graph.inputs, *graph.outputs)
        }
        o = graph.find_tensor("o")
        nothing = np.full(o.dims or (), np.nan, np.float16)
        with DeviceBuffer(graph.workspace_size) as workspace, graph.bind(memory, workspace) as plan:
            for _ in range(2):
                workspace.fill(255)
                memory[o].copy_from(nothing)
                plan()
                handle.synchronize()
                assert np.array_equal(memory[o].numpy().astype(np.float64), exact)
        for each in memory.values():
            each.close()


# --- operations around attention, which its engines take, too ------------------------------------


PLAIN = Attention(scale=0.125)
NEVER = float("-inf")


def _between(
    graph: Graph,
    attention: Attention,
    *,
    mask: Callable[[Graph, Tensor, Mapping[str, Tensor]], Tensor] | None = None,
    outputs: tuple[str, ...] = ("y", "stats"),
) -> None:
    """Attention by the softmax operation, perhaps with a mask before it."""
    q, k, v = attention.operands(graph)
    given = {
        name: graph.tensor((attention.batch, 1, 1, 1), data_type="int32", name=name)
        for name in ("seq_len_q", "seq_len_kv")
        if attention.lengths is not None
    }
    sink = None
    if attention.sink:
        sink = graph.tensor((1, attention.heads, 1, 1), data_type="float32", name="sink")
    scores = graph.mul(graph.matmul(q, k, transpose_B=True), attention.factor)
    if mask is not None:
        scores = mask(graph, scores, given)
    results = graph.softmax(scores, outputs=outputs, sink=sink)
    for name in outputs[1:]:
        results[name].set_output(name=name)
    results["y"].data_type = graph.io_data_type
    graph.matmul(results["y"], v).set_output(name="o", strides=q.strides)


def _right(shift: int | None = None) -> Any:
    return lambda g, scores, _: g.diagonal_band_mask(scores, NEVER, right_shift=shift)


def _left(bound: int) -> Any:
    return lambda g, scores, _: g.diagonal_band_mask(
        scores, NEVER, comparison="cmp_gt", left_bound=bound
    )


WITHIN: dict[str, tuple[Attention, dict[str, Any]]] = {
    "softmax": (PLAIN, {}),
    "softmax with maximum and sum": (PLAIN, {"outputs": ("y", "max", "sum_exp")}),
    "softmax with a sink": (Attention(scale=0.125, sink=True), {}),
    "diagonal mask": (Attention(scale=0.125, right=0), {"mask": _right()}),
    "diagonal mask, shifted": (Attention(scale=0.125, right=5), {"mask": _right(5)}),
    "diagonal mask to the left": (Attention(scale=0.125, left=32), {"mask": _left(32)}),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", list(WITHIN))
def test_within_attention_builds_for_an_h200(name, h200):
    attention, options = WITHIN[name]
    with Graph(io_data_type="float16") as graph:
        _between(graph, attention, **options)
        build(graph, h200)


@pytest.mark.gpu
@pytest.mark.parametrize("data_type", list(TOLERANCES))
@pytest.mark.parametrize("name", list(WITHIN))
def test_within_attention(name, data_type, report):
    pytest.importorskip("torch")
    attention, options = WITHIN[name]
    a = attention.values(data_type)
    with Handle() as handle, Graph(io_data_type=data_type) as graph:
        _between(graph, attention, **options)
        build(graph, handle)
        found = execute(attention, graph, a, handle)
    if "max" in found:
        found["stats"] = found.pop("max") + np.log(found.pop("sum_exp"))
    check(attention, data_type, found, attention.compute(a), a, report, name)
