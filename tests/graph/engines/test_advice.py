"""What is advised for graphs that are refused or slow, and that following it works."""

from __future__ import annotations

import copy
import dataclasses
import functools
import io
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from cudnn_ctypes import Handle, raw, use_reference_device
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.describe import remedies
from cudnn_ctypes.graph.engines.explaining.explanation import Advice, Suggestion
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.faults import FAULTS

from ..advice_cases import ADVISED, Advised
from ..cases import device_memory, workspace_of

NEWEST = 92800  # for which the cases were chosen
Array = NDArray[Any]
Arrays = dict[str, Array]

pytestmark = pytest.mark.skipif(
    raw.load().version < NEWEST, reason="other graphs are refused by this version of cuDNN"
)


@functools.cache
def _advice(name: str) -> Advice:
    case = ADVISED[name]
    with DeviceProperties.preset(case.device) as device:
        return case.graph().explain(device).advice()


def _executed(graph: Graph, handle: Handle, inputs: Arrays) -> Arrays:
    memory = device_memory(graph, inputs)
    with workspace_of(graph) as workspace:
        graph.execute(memory, workspace, handle=handle)
        handle.synchronize()
    results = {each.name: memory[each].numpy() for each in graph.outputs}
    for each in memory.values():
        each.close()
    return results


def _part(array: Array, shape: tuple[int, ...]) -> Array:
    """What a graph as it was has of an array: a corner, or all of it in other dimensions."""
    if array.ndim != len(shape):
        return array.reshape(shape)
    return array[tuple(map(slice, shape))]


def _check_engines(graph: Graph, suggestion: Suggestion) -> None:
    for choice, engines in zip(graph.plan.choices, suggestion.engines_after, strict=True):
        assert choice.engine in engines, suggestion


def _followed(suggestion: Suggestion, handle: Handle, inputs: Arrays) -> Arrays:
    """Do what a user would: types and sizes as told, what is added is zero, graphs in order."""
    known = dict(inputs)
    for graph in suggestion.build(handle):
        with graph:
            _check_engines(graph, suggestion)
            adapted = {}
            for tensor in graph.inputs:
                array = np.zeros(tensor.dims, numpy_dtype(tensor.data_type))
                part = _part(array, known[tensor.name].shape)
                part[...] = known[tensor.name]
                adapted[tensor.name] = array
            known |= _executed(graph, handle, adapted)
    return known


# The reference device is an H200. The others have tests of their own.
COMPUTED = [
    name
    for name, case in ADVISED.items()
    if case.device == "h200" and not name.startswith(("attention", "norm of channels"))
]
QUICK = ("convolution with statistics as in C", "norm with float32 scale")
TOLERANCE = 2e-2  # 11 bits, and float16 between the plans of programs


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.soak) for n in ADVISED]
)
def test_the_first_suggestion_is_in_the_user_s_words_and_can_be_followed(name, handle):
    """All are executed where the reference device is that GPU; else the first is compiled."""
    case = ADVISED[name]
    if name in COMPUTED:
        advice = case.graph().explain(handle).advice()
        _check_the_words(case, advice)
        _check_results(advice, handle, *_inputs_and_results(case.graph(), handle))
        return
    advice = _advice(name)
    _check_the_words(case, advice)
    with DeviceProperties.preset(case.device) as elsewhere:
        for graph in advice[0].build(elsewhere):
            with graph:
                _check_engines(graph, advice[0])


def _check_the_words(case: Advised, advice: Advice) -> None:
    first = advice[0]
    assert first.words == case.words
    assert tuple(step.topic for step in first.steps) == case.topics
    assert case.caveat in first.caveat
    assert bool(case.caveat) == bool(first.caveat)
    assert advice.supported == case.supported == bool(first.engines_before)
    assert ("makes the graph supported" in first.effect) == (not case.supported)
    assert advice.complete
    assert all(engines for each in advice for engines in each.engines_after)
    # Only what was measured is called faster.
    assert ("times" in first.effect) == (case is ADVISED["norm with float32 scale"])
    if "times" in first.effect:
        assert first.fact is not None
        assert first.fact.evidence[0].brief == "measured: H200, cuDNN 9.19"
        assert "2 to 4.5 times faster" in first.fact.evidence[0].seen


def _inputs_and_results(graph: Graph, reference: Handle) -> tuple[Arrays, Arrays]:
    """The graph as it is, by NumPy without any engine, is the oracle."""
    rng = np.random.default_rng(3)
    with graph:
        graph.build(reference, without_engine=True)
        inputs = {
            each.name: rng.integers(-2, 3, each.dims or ()).astype(numpy_dtype(each.data_type))
            for each in graph.inputs
        }
        return inputs, _executed(graph, reference, inputs)


def _check_results(advice: Advice, handle: Handle, inputs: Arrays, expected: Arrays) -> None:
    for suggestion in advice:
        results = _followed(suggestion, handle, inputs)
        for output, array in expected.items():
            if output not in results:
                assert any(step.topic == "results" for step in suggestion.steps)
                continue
            found = _part(results[output], array.shape).astype(np.float64)
            size = np.abs(array.astype(np.float64)).max()
            assert size > 0
            np.testing.assert_allclose(
                found / size, array.astype(np.float64) / size, rtol=0, atol=TOLERANCE
            )


def test_each_slow_case_is_one_that_is_described():
    cases = {remedies.SLOW_SCALES, remedies.IMAGES_AS_IN_C}
    assert {row.name for row in FAULTS if row.effect == "slow"} <= cases


@pytest.mark.soak
def test_the_reason_is_cudnn_s_own(h200):
    first = _advice("attention with heads of 20")[0]
    assert "not a multiple of 8" in first.reason  # rather than another engine's kernel
    first = _advice("product of operands at odd addresses")[0]
    assert "bits_per_access (16) must be a multiple of 128" in first.reason
    assert first.reason.startswith(f"engine {first.gained[0].engine}: NOT_SUPPORTED_SHAPE")
    refused = _advice("product of a convolution")[0]
    assert "cuDNN ends the process on such a graph" in refused.reason


def test_graphs_refused_before_any_engine_have_advice_too(h200):
    told = ADVISED["norm of channels as in C"].graph().explain(h200)
    assert told.rows == ()
    assert told.engine_count == 0
    assert "Unable to deduce the row and column dimensions" in told.refusal
    assert "refused before any engine is asked" in str(told)


@pytest.mark.soak
@pytest.mark.parametrize("proposed", [False, True])
def test_an_engine_of_a_mode_that_build_does_not_ask_is_advised(proposed, h200):
    """By its config if no mode proposes it, else by that mode."""
    graph = Graph(io_data_type="float16")
    x, w = graph.tensor((2, 64, 128), name="x"), graph.tensor((2, 128, 64), name="w")
    graph.matmul(x, w).set_output(name="y")
    told = graph.explain(h200, "b")
    rows = tuple(row for row in told.usable if row.proposed_by or not proposed)
    if not proposed:
        rows = tuple(dataclasses.replace(row, proposed_by=()) for row in rows)
    first = dataclasses.replace(told, rows=rows).advice()[0]
    (option,) = first.options
    if proposed:
        assert {place.split()[0] for row in rows for place in row.proposed_by} == {"b"}
        assert (option, first.words) == ({"heuristics": "b"}, "build with heuristics='b'")
    else:
        assert option["config"].engine == rows[0].engine
        assert first.words == f"build with config={option['config']!r}"
    assert first.steps == ()
    (built,) = first.build(h200)
    with built:
        assert built.plan.config.choice.engine == rows[0].engine


@pytest.mark.soak
def test_what_no_compiler_takes_is_not_advised(h200):
    """Two products in float32: cuDNN accepts them, and then cannot compile their kernel."""
    graph = Graph(io_data_type="float16")
    a, b, c = (graph.tensor((1, 64, 64), name=name) for name in "abc")
    graph.matmul(graph.relu(graph.matmul(a, b)), c).set_output(name="y")
    advice = graph.explain(h200).advice()
    assert advice[0].steps[0].topic == "program"
    for suggestion in advice:
        for built in suggestion.build(h200):
            built.close()


def test_limits(h200):
    told = ADVISED["convolution after convolution"].graph().explain(h200)
    advice = told.advice(limit=0.0)
    assert (advice.tried, advice.complete, advice.suggestions) == (0, False, ())
    assert "not all that could be" in str(advice)


def test_copies_of_an_explanation_have_no_graph(h200):
    told = ADVISED["norm with float32 scale"].graph().explain(h200)
    for copied in (pickle.loads(pickle.dumps(told)), copy.deepcopy(told)):
        assert copied == told
        with pytest.raises(ValueError, match=r"Graph\.explain gives one"):
            copied.advice()
    assert "adviser" not in told.as_dict()
    assert "adviser" not in repr(told)


def test_text_and_tables():
    advice = _advice("norm with float32 scale")
    text = str(advice)
    assert text.splitlines()[0].startswith("'rows' (layernorm 'norm') on NVIDIA H200")
    assert f"\n\n1. {advice[0].words}\n   {advice[0].effect}\n   mind: {advice[0].caveat}\n" in text
    assert "gains engines 4, 5 (runtime fusion), engine 6 (not proposed by heuristics)\n" in text
    assert [row.engine for row in advice[0].gained] == [4, 5, 6]
    plain = io.StringIO()
    advice.show(plain)
    assert plain.getvalue() == f"{text}\n"
    for width in (80, 140):
        out = io.StringIO()
        Console(file=out, width=width, force_terminal=True, color_system=None).print(advice)
        lines = out.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        assert any("change" in line and "effect" in line and "mind" in line for line in lines)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in COMPUTED if "fp8" not in name])
def test_following_a_suggestion_computes_the_same_on_a_gpu(name):
    with use_reference_device(), Handle() as reference:
        known = _inputs_and_results(ADVISED[name].graph(), reference)
    with Handle() as handle:
        _check_results(ADVISED[name].graph().explain(handle).advice(), handle, *known)
