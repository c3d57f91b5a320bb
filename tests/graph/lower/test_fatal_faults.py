"""Graphs on which cuDNN ends the process: still so without our refusal, a clear error with it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from programs import run_program

from cudnn_ctypes import DeviceProperties, NotSupportedError, raw
from cudnn_ctypes.graph import Graph
from cudnn_ctypes.graph.lower.faults import FAULTS, Fault, faults_of
from cudnn_ctypes.graph.lower.faults import Graph as Lowered
from cudnn_ctypes.graph.lower.flattening import flattened
from cudnn_ctypes.graph.lower.target import Target
from tools.fault_programs import described
from tools.fault_programs import fatal as fatal_programs
from tools.fault_programs.fatal import FATAL as PROGRAMS
from tools.fuzz.rows import GPUS, Question, answers

linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")

RANDOM = "random numbers of a fixed seed beside attention"
FATAL = {row.name: row for row in FAULTS if row.effect == "ends the process"}


def _capabilities(row: Fault) -> list[int]:
    """The GPUs that have the fault with the loaded cuDNN; skips if none has."""
    version = raw.load().version
    found = {gpu for each in row.ranges if version in each for gpu in each.capabilities}
    if not found or row.beside_another:
        pytest.skip("not known of this cuDNN")
    return sorted(found)


def test_each_row_has_programs():
    assert sorted(FATAL) == sorted(PROGRAMS)


@pytest.mark.thinned(12)
@linux
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_cudnn_still_ends_the_process(name):
    """Where this fails, the row wants its `repaired`.

    Where the addresses of descriptors decide, not every process ends: one that does is enough.
    """
    row = FATAL[name]
    first, *_, last = 2 * _capabilities(row)
    sometimes = any(each.sometimes for each in row.ranges)
    todo = [
        Question(program.__name__, GPUS[capability], "a")
        for program in PROGRAMS[name]
        for capability in sorted({first, last})
    ]
    results = set()
    for _ in range(3 if sometimes else 10):
        for _, result, died in answers(todo):
            if died and result.startswith("SIG"):
                return
            results.add(result)
    if sometimes:  # one process in fifty, say
        pytest.xfail(f"no process ended this time: {results}")
    pytest.fail(f"nothing ended the process: {results}")


@pytest.mark.thinned(9)
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_the_refusal_names_the_operations(name):
    gpu, *_ = _capabilities(FATAL[name])
    ranges = FATAL[name].ranges_at(Target(raw.load().version, gpu))
    modes = ranges[0].modes
    with DeviceProperties.preset(GPUS[gpu]) as device:
        for program in PROGRAMS[name]:
            with described(program) as graph:
                with pytest.raises(NotSupportedError, match="ends the process") as error:
                    graph.build(device, modes or ("a", "fallback"), program=False)
                message = " ".join(error.value.messages)
                told = [
                    line for line in str(error.value).splitlines() if "ends the process" in line
                ]
                assert all(line.startswith("  cudnn_ctypes: ") for line in told)
                assert (
                    sum(str(node) in message for node in graph.nodes) >= min(2, len(graph.nodes))
                    or "in attention" in message
                )
                if modes:
                    explained = graph.explain(device, modes)
                    assert set(explained.refused_modes) == set(modes)
                    assert all("ends the process" in m for m in explained.refused_modes.values())
                else:
                    explained = graph.explain(device)
                    assert "ends the process" in explained.refusal
                    assert explained.rows == ()


BESIDE = """
import sys
sys.path[:0] = sys.argv[1:3]
from cudnn_ctypes import NotSupportedError
from cudnn_ctypes.graph.lower import faults
from tools.fault_programs import described
from tools.fault_programs.fatal import convolution
if sys.argv[3] == "without":
    faults.FAULTS = ()
with described(convolution) as graph:
    try:
        graph.build("B200")
    except NotSupportedError as error:
        print(error)
"""


@pytest.mark.gpu
def test_a_convolution_for_a_gpu_that_is_not_there():
    """Where the first half fails, the row wants its `repaired`."""
    row = FATAL["convolution for a Blackwell GPU beside another"]
    if not row.ranges_at(Target(raw.load().version, 100, True)):
        pytest.skip("not known of this cuDNN and GPU")
    root = Path(__file__).parents[3]
    ended = run_program(BESIDE, str(root), str(root / "tests"), "without", check=False)
    assert ended.returncode == -signal.SIGSEGV, ended.stdout + ended.stderr
    refused = run_program(BESIDE, str(root), str(root / "tests"), "with")
    assert "CUDA_VISIBLE_DEVICES=" in refused.stdout


@pytest.mark.parametrize("both", [True, False])
def test_filter_gradients_that_only_look_like_it_are_not_refused(both):
    """Each operand prepared by itself, or mul, add and relu together: cuDNN says no by itself."""
    graph = Graph(io_data_type="float16")
    x, dy, b = (fatal_programs.last(graph) for _ in range(3))
    x = graph.add(x, b) if both else graph.relu(graph.add(graph.mul(x, b), b))
    dy = graph.relu(dy) if both else dy
    graph.conv_wgrad(x, dy, padding=1).set_output(dims=fatal_programs.FILTER)
    with DeviceProperties.preset("b200") as device:
        explained = graph.explain(device)
    assert explained.refusal == ""
    assert explained.engine_count > 0


def _rows_of(graph: Graph, version: int, gpu: str) -> list[str]:
    with DeviceProperties.preset(gpu) as device:
        nodes = graph.expansion(device).nodes
        capability = Target.of(device).capability
    found = faults_of(Lowered(nodes, flattened(nodes)), Target(version, capability)).found
    return [each.fault.name for each in found if each.fault.name in FATAL]


@pytest.mark.parametrize(("data_type", "refused"), [("float16", False), ("float32", True)])
def test_filter_gradients_from_16_bits_are_not_refused(data_type, refused):
    """Float32 within the graph does no harm where the gradient of the result has 16 bits."""
    graph = Graph(io_data_type=data_type, intermediate_data_type="float32")
    gradient = graph.conv_wgrad(fatal_programs.last(graph), fatal_programs.last(graph), padding=1)
    gradient.dims = fatal_programs.FILTER
    graph.relu(gradient).set_output()
    rows = ["fused gradient of a filter in float32"] * refused
    assert _rows_of(graph, 91400, "rtx5090") == rows


@pytest.mark.parametrize("fixed", [True, False])
def test_dropouts_of_a_tensor_s_seed_are_not_refused(fixed):
    graph = Graph(io_data_type="float16")
    one, scores = (1, 1, 1, 1), (*fatal_programs.HEADS[:3], fatal_programs.HEADS[2])
    seed = 7 if fixed else graph.tensor(one, data_type="int64")
    offset = None if fixed else graph.tensor(one, data_type="int64")
    kept = graph.rng(scores, "bernoulli", probability=0.5, seed=seed, offset=offset)
    q, k, v = (graph.tensor(fatal_programs.HEADS) for _ in range(3))
    graph.sdpa(q, k, v, score_mod=lambda graph, x: graph.mul(x, kept))[0].set_output()
    rows = [RANDOM] * fixed
    assert _rows_of(graph, 91900, "b200") == rows


@pytest.mark.parametrize("query", [True, False])
def test_gradients_as_queries_are_not_refused(query):
    graph = Graph(io_data_type="float16")
    *operands, k, v = (graph.tensor(fatal_programs.HEADS) for _ in range(7))
    stats = graph.tensor((*fatal_programs.HEADS[:3], 1), data_type="float32")
    dq, dk, dv = graph.sdpa_unified_backward(*operands, stats)
    o, _ = graph.sdpa(dq, graph.relu(k), v) if query else graph.sdpa(k, v, dq)
    for each in (dk, dv, o):
        each.set_output()
    rows = [] if query else ["gradient of attention before attention"]
    assert _rows_of(graph, 91900, "h200") == rows
