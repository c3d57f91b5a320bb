"""Runs that were made before, with tensors of PyTorch: what they allocate, and what C receives."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import BadParamError
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.run import execution, given_memory
from cudnn_ctypes.graph.run.tensor_memory import Outputs
from cudnn_ctypes.raw.function import watched
from cudnn_ctypes.runtime import pytorch

from .executions import BAD_PARAM, made_up_handle

torch: Any = pytest.importorskip("torch")

NOWHERE = -1  # what PyTorch calls the GPU of memory on the host


@pytest.fixture(autouse=True)
def handles(monkeypatch):
    """The default handles, one of which there is."""
    kept = [(made_up_handle(), 0)]
    monkeypatch.setattr(given_memory, "_free", {NOWHERE: kept})
    monkeypatch.setattr(pytorch, "current_stream", lambda ordinal: 0)
    yield kept
    for handle, _ in kept:
        handle.close()


def run_of(graph: Graph, inputs: list[Any], returned: Any, like: Any) -> Any:
    execution = graph._made_execution(graph.plan)
    graph._outputs = Outputs(graph.outputs, execution.operands)
    return graph._torch_run(inputs, returned, like)


@pytest.fixture
def run(product, stand_in):
    like = torch.empty(4, 64, 32, dtype=torch.float16)
    return run_of(product.graph, [product.a, product.b], product.c, like)


def operands() -> tuple[Any, Any]:
    return torch.empty(4, 64, 32, dtype=torch.float16), torch.empty(4, 32, 64, dtype=torch.float16)


def test_workspace_and_the_tensors_in_it(h200, stand_in):
    """The gradient of attention has both."""
    with Graph(io_data_type="float16") as graph:
        q, k, v, o, do = (graph.tensor((2, 2, 128, 32), name=name) for name in ("q", *"kvod"))
        stats = graph.tensor((2, 2, 128, 1), data_type="float32", name="stats")
        gradients = graph.sdpa_backward(q, k, v, o, do, stats)
        for each in gradients:
            each.set_output()
        plan = graph.build(h200)
        given = [torch.empty(2, 2, 128, 32, dtype=torch.float16) for _ in range(5)]
        given.append(torch.empty(2, 2, 128, 1))
        run = run_of(graph, [q, k, v, o, do, stats], gradients, given[0])
        results = run(*given)
        done = stand_in.executed[-1]
        space, data = done["workspace"], done["data"]
        for tensor, memory in zip(
            (q, k, v, o, do, stats, *gradients), (*given, *results), strict=True
        ):
            assert data[tensor.uid] == memory.data_ptr()
        own = plan._own_size
        scratch = plan.scratch.added_to({}, own, space)
        assert plan.scratch.size > 0
        assert graph.workspace_size == plan.workspace_size >= plan.scratch.size
        with pytest.raises(ValueError, match=f"this plan needs {plan.workspace_size} bytes"):
            plan.variant_pack({uid: data[uid] for uid in data.keys() - plan.scratch_offsets.keys()})
        for uid in plan.scratch_offsets:
            assert data[uid] == scratch[uid]
            assert space + own <= data[uid] < space + plan.workspace_size


def test_types_of_less_than_a_byte_are_bytes(h200, stand_in):
    with Graph(io_data_type="float16") as graph:
        x = graph.tensor((4, 64, 64), name="x")
        mask = graph.cmp_gt(x, 0.0).set_output(name="mask", data_type="boolean")
        product = graph.relu(x).set_output(name="y")
        graph.build(h200)
        memory = torch.empty(4, 64, 64, dtype=torch.float16)
        found, y = run_of(graph, [x], (mask, product), memory)(memory)
        assert (found.dtype, found.shape) == (torch.uint8, (4 * 64 * 64 // 8,))
        assert y.shape == memory.shape


def test_what_is_watched_or_closed_goes_the_long_way(product, stand_in, run):
    watched.add("a trace")
    assert run(*operands()) is None
    watched.clear()
    assert run(*operands()) is not None
    product.plan.close()
    assert run(*operands()) is None
    assert len(stand_in.executed) == 1


def test_an_error_of_cudnn_is_raised_and_the_handle_given_back(stand_in, run, handles):
    stand_in.status = BAD_PARAM
    with pytest.raises(BadParamError, match="cudnnBackendExecute"):
        run(*operands())
    stand_in.status = 0
    assert len(handles) == 1
    assert run(*operands()) is not None


def test_the_handle_goes_to_pytorch_s_stream(monkeypatch, product, stand_in):
    class Streamed:
        stream = 0
        _as_parameter_ = product.handle._as_parameter_

    handle = Streamed()
    free = {NOWHERE: [(handle, 0)]}
    monkeypatch.setattr(given_memory, "_free", free)
    monkeypatch.setattr(execution.pytorch, "current_stream", lambda ordinal: 7)
    like = torch.empty(4, 64, 32, dtype=torch.float16)
    run = run_of(product.graph, [product.a, product.b], product.c, like)
    for _ in range(2):
        run(*operands())
        assert handle.stream == 7
        assert free == {NOWHERE: [(handle, 7)]}


def test_not_all_operands_among_the_arguments(product, stand_in):
    like = torch.empty(4, 64, 32, dtype=torch.float16)
    assert run_of(product.graph, [product.a, None], product.c, like) is None
