"""Attention with every option on the reference device, against PyTorch."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import Handle, raw
from cudnn_ctypes.errors import BadParamError, NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed
from cudnn_ctypes.reference.device import backend_layers
from cudnn_ctypes.reference.device.backend_records import record
from cudnn_ctypes.reference.device.backend_stored import operation_graph
from cudnn_ctypes.reference.device.registry import Refused
from tests.graph import test_attention_fp8 as fp8
from tests.graph import test_attention_unified as unified
from tests.graph.attention_problems import BACKWARD, BOTH, FORWARD, MODIFIED, MODIFIED_FORWARD
from tests.graph.attentions import Attention, errors, execute
from tests.graph.fp8_attentions import FP8_BACKWARD, FP8_FORWARD

from .evaluation import Unplanned, run

pytest.importorskip("torch")

# As on a GPU: the softmax, the gradients of scores and the results are rounded to 11 bits.
TOLERANCE, OF_STATS = 3 * 2.0**-11, 1e-6


def check(attention: Attention, found: dict[str, Any], exact: dict[str, Any], a: Any) -> None:
    compared = errors(attention, found, exact, a)
    assert compared
    for name, error in compared.items():
        assert error <= (OF_STATS if name == "stats" else TOLERANCE), name


def described(describe: Any) -> Unplanned:
    graph = Unplanned(io_data_type="float16")
    describe(graph)
    graph.validate()
    return graph


def forward(attention: Attention, a: dict[str, Any], handle: Handle) -> dict[str, Any]:
    return execute(attention, described(attention.forward), a, handle)


FORWARDS = {**BOTH, **FORWARD, **MODIFIED, **MODIFIED_FORWARD}
BACKWARDS = {**BOTH, **BACKWARD, **MODIFIED}


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", list(FORWARDS)[::2])
def test_forward(name: str, handle: Handle) -> None:
    attention = FORWARDS[name]
    a = attention.values("float16")
    found = forward(attention, a, handle)
    if attention.dropout == "seed":
        a["kept"] = found["kept"]
        assert abs(a["kept"].mean() - 0.75) < 5 * (0.75 * 0.25 / a["kept"].size) ** 0.5
    check(attention, found, attention.compute(a), a)


@pytest.mark.thinned(8, always=("sink",))
@pytest.mark.parametrize("name", list(BACKWARDS)[::2])
def test_backward(name: str, handle: Handle) -> None:
    attention = BACKWARDS[name]
    a = attention.values("float16")
    if attention.dropout == "seed":  # what the forward pass dropped, the backward pass must drop
        a["kept"] = forward(attention, a, handle)["kept"]
    exact = attention.compute(a)
    a |= {"o": attention.rounded(exact["o"], "float16"), "stats": exact["stats"]}
    found = execute(attention, described(attention.backward), a, handle)
    check(attention, found, exact, a)


def test_queries_without_keys_get_and_give_nothing(handle: Handle) -> None:
    attention = Attention(queries=144, keys=48, left=20, right=0)
    a = attention.values("float16")
    exact = attention.compute(a)
    found = forward(attention, a, handle)
    assert np.all(found["o"][:, :, 48 + 20 :] == 0)
    check(attention, found, exact, a)
    a |= {"o": attention.rounded(exact["o"], "float16"), "stats": exact["stats"]}
    found = execute(attention, described(attention.backward), a, handle)
    assert np.all(found["dq"][:, :, 48 + 20 :] == 0)
    check(attention, found, exact, a)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["alibi", "bias", "one head of keys for two"])
def test_blocks_change_no_bit(name: str, handle: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    attention = BOTH[name]
    a = attention.values("float16")
    a |= {"o": a["dO"], "stats": np.zeros((*attention.scores[:3], 1))}
    found = {}
    for growth in (0, 50):  # one block, and many
        monkeypatch.setattr(backend_layers, "_GROWTH", growth or 1e-6)
        found[growth] = [
            execute(attention, described(describe), a, handle)
            for describe in (attention.forward, attention.backward)
        ]
    for whole, blocks in zip(*found.values(), strict=True):
        for operand, values in whole.items():
            np.testing.assert_array_equal(values, blocks[operand], operand)


@pytest.mark.soak
def test_memory_of_gradients_grows_with_the_rows(handle: Handle) -> None:
    peaks = []
    for rows in (512, 1024):  # whole scores would take four times as much
        attention = Attention(batch=1, queries=rows, keys=rows, right=0)
        a = attention.values("float16")
        a |= {"o": a["dO"], "stats": np.zeros((*attention.scores[:3], 1))}
        tracemalloc.start()
        execute(attention, described(attention.backward), a, handle)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.5 * peaks[0]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("length", [-1, 33])
@pytest.mark.parametrize("side", ["q", "kv"])
@pytest.mark.parametrize("operation", ["sdpa", "sdpa_unified", "sdpa_backward", "pages", "sums"])
def test_lengths_beyond_the_tokens_fail(operation, side, length, handle):
    """No check stands before a GPU, where the lengths are in device memory."""
    options: dict[str, Any] = {"page": 16} if operation == "pages" else {}
    lengths = ((32, 17), (32, 8))
    attention = Attention(queries=32, keys=32, lengths=lengths, inference=True, **options)
    if operation == "sums":
        attention = replace(attention, cumulative=True)
    a = attention.values("float16")
    name = f"seq_len_{side}"
    a[name][1] = length
    a[f"cu_{name}"][2] = a[f"cu_{name}"][1] + length
    if operation == "sdpa_backward":
        graph = described(replace(attention, inference=False).backward)
        a |= {"o": a["dO"], "stats": np.zeros((*attention.scores[:3], 1))}
    else:
        one = operation in ("sdpa_unified", "sums")
        graph = described(lambda graph: attention.forward(graph, unified=one))
    (uid,) = {t.uid for t in graph.tensors if t.name.endswith(name)}
    told = rf"tensor {uid} gives the lengths \[32, {length}\]; expected 0 to 32"
    with pytest.raises(Refused, match=told):
        execute(attention, graph, a, handle)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["alibi", "causal", "ragged"])
def test_plans(name: str, handle: Handle) -> None:
    """Alibi's slopes are written to the workspace before each execution. The same from JSON."""
    attention = BOTH[name]
    a = attention.values("float16")
    with Graph(io_data_type="float16") as graph:
        attention.forward(graph)
        try:
            graph.build(handle)
        except (SymbolNotFoundError, NotSupportedError) as error:
            pytest.skip(str(error))
        exact = attention.compute(a)
        check(attention, execute(attention, graph, a, handle), exact, a)
        again = described(attention.forward)
        again.operations = operation_graph(graph.plan.to_json())
        check(attention, execute(attention, again, a, handle), exact, a)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", FP8_FORWARD)
def test_fp8(name: str, handle: Handle) -> None:
    check_fp8(FP8_FORWARD[name], FP8_FORWARD[name].forward, FP8_FORWARD[name].data_type, handle)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", FP8_BACKWARD)
def test_fp8_backward(name: str, handle: Handle) -> None:
    problem = FP8_BACKWARD[name]
    check_fp8(problem, problem.backward, problem.gradient_type, handle)


def check_fp8(problem: Any, describe: Any, data_type: str, handle: Handle) -> None:
    operands, exact = problem.operands()
    graph = Unplanned()
    describe(graph)
    graph.validate()
    found = execute(problem.attention, graph, operands, handle)
    for name, error in problem.errors(found, exact).items():
        allowed = fp8.OF_MAXIMA[data_type] if name.startswith("amax") else fp8.OF_RESULTS[data_type]
        assert error <= (fp8.OF_STATS if name == "stats" else allowed), name


@pytest.mark.thinned(6, always=["window from the bottom right", "dropout by a seed"])
@pytest.mark.parametrize("name", unified.FORWARDS)
def test_one_operation(name: str, handle: Handle) -> None:
    attention = unified.FORWARDS[name]
    a = attention.values("float16")
    graph = described(lambda graph: attention.forward(graph, unified=True))
    found = execute(attention, graph, a, handle)
    if attention.dropout:
        a["kept"] = found["kept"]
        assert 0.7 < a["kept"].mean() < 0.8
    check(attention, found, attention.compute(a), a)


@pytest.mark.needs("CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_QDESC")
def test_factors_of_one_operation_are_not_ignored(handle: Handle) -> None:
    factors = "descale_q descale_k descale_v descale_s scale_s scale_o amax_s amax_o"
    tensors = {}
    for uid, name in enumerate(f"q k v o {factors}".split()):
        shape, data_type = ([1, 2, 64, 64], "fp8_e4m3") if uid < 4 else ([1] * 4, "float32")
        known = {"dimensions": shape, "strides": packed(shape), "byte_alignment": 16}
        known |= {"unique_id": uid, "data_type": data_type}
        tensors[f"{name}desc"] = BackendDescriptor("tensor", **known).finalize()
    one = BackendDescriptor("operation_sdpa_fwd", **tensors).finalize()
    graph = BackendDescriptor("operationgraph", ops=[one]).finalize()
    memory = np.zeros((len(tensors), 8192), np.uint8)
    addresses = {uid: row.ctypes.data for uid, row in enumerate(memory)}
    with pytest.raises(Refused, match="not carried out"):
        run(Graph(), addresses, record(graph._as_parameter_))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", unified.BACKWARDS)
def test_one_operation_backward(name: str, handle: Handle) -> None:
    attention = unified.BACKWARDS[name]
    a = attention.values("float16")
    exact = attention.compute(a)
    a |= {"o": attention.rounded(exact["o"], "float16"), "stats": exact["stats"]}
    graph = described(lambda graph: unified._backward(attention, graph))
    try:
        found = execute(attention, graph, a, handle)
    except BadParamError as error:  # cuDNN 9.19 calls the graph malformed
        if raw.load().version >= unified.NEWEST:
            raise
        pytest.skip(str(error))
    check(attention, found, exact, a)
