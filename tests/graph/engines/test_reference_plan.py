"""Graphs that the reference device carries out without an engine, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    ClosedError,
    CudnnError,
    DeviceBuffer,
    DeviceProperties,
    DeviceTensor,
    Handle,
    NotSupportedError,
    Selection,
    SymbolNotFoundError,
    raw,
    use_reference_device,
)
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw import mode

Array = Any


@pytest.fixture
def handle() -> Iterator[Handle]:
    with use_reference_device(), Handle() as made:
        yield made


def _random(*shape: int) -> Array:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def _built(handle: Handle, graph: Graph) -> Graph:
    try:
        graph.build(handle, without_engine=True)
    except SymbolNotFoundError as error:
        pytest.skip(str(error))
    return graph


def _poisoned(*shape: int) -> DeviceTensor:
    return DeviceTensor.full(shape, np.nan, "float32")


SHAPE = (2, 3, 4, 6)

# Operations for which cuDNN has no engine by themselves on an H200.
CASES: dict[str, tuple[Callable[[Graph, Any], Any], Callable[[Array], Array]]] = {
    "transpose": (
        lambda g, x: g.transpose(x, (0, 3, 1, -2)),
        lambda x: x.transpose(0, 3, 1, 2),
    ),
    "slice": (
        lambda g, x: g.slice(x, [slice(1, 2), slice(None), slice(None, None, 2), slice(2, 5)]),
        lambda x: x[1:2, :, ::2, 2:5],
    ),
    "concatenate": (
        lambda g, x: g.concatenate([x, g.relu(x)], 1),
        lambda x: np.concatenate([x, np.maximum(x, 0)], 1),
    ),
    "softmax": (
        lambda g, x: g.softmax(x)["y"],
        lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    ),
    "a number that is fixed": (
        lambda g, x: g.transpose(g.mul(x, 2.5), (0, 1, 3, 2)),
        lambda x: 2.5 * x.swapaxes(2, 3),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_operations_that_no_engine_takes(name: str, handle: Handle) -> None:
    describe, exact = CASES[name]
    x = _random(*SHAPE)
    with Graph(io_data_type="float32") as graph:
        describe(graph, graph.tensor(SHAPE, name="x")).set_output(name="y")
        _built(handle, graph)
        expected = exact(x)
        memory = {"x": DeviceTensor.from_numpy(x), "y": _poisoned(*expected.shape)}
        graph.execute(memory)
        np.testing.assert_allclose(memory["y"].numpy(), expected, rtol=1e-6, atol=1e-6)


def test_bound_memory_and_numbers_of_each_execution(handle: Handle) -> None:
    x, scale = _random(4, 5), np.float32(3)
    with Graph(io_data_type="float32") as graph:
        factor = graph.tensor((1, 1), by_value=True, name="factor")
        graph.mul(graph.tensor(x.shape, name="x"), factor).set_output(name="y")
        _built(handle, graph)
        memory = {"x": DeviceTensor.from_numpy(x), "y": _poisoned(4, 5)}
        with graph.bind({**memory, "factor": scale}) as bound:
            assert np.isnan(memory["y"].numpy()).all()
            bound()
        np.testing.assert_allclose(memory["y"].numpy(), 3 * x)
        with pytest.raises(ValueError, match="no memory was given for 'factor'"):
            graph.execute(memory)


def test_what_operations_keep_between_kernels_is_there(handle: Handle) -> None:
    """The backward pass of attention wants scratch memory, with an engine or without."""
    shape = (1, 2, 16, 8)
    q, k, v, grad = (_random(*shape) * factor for factor in (1, 0.5, 2, -1))
    graph = Graph(io_data_type="float32")
    ports = [graph.tensor(shape, name=name) for name in ("q", "k", "v")]
    o, stats = graph.sdpa(*ports, generate_stats=True)
    assert stats is not None
    for tensor, name in ((o, "o"), (stats, "stats")):
        tensor.set_output(name=name)
    back = Graph(io_data_type="float32")
    given = [back.tensor(shape, name=name) for name in ("q", "k", "v", "o", "dO")]
    found = back.sdpa_backward(*given, back.tensor((1, 2, 16, 1), name="stats"))
    for tensor, name in zip(found, ("dq", "dk", "dv"), strict=True):
        tensor.set_output(name=name)
    memory = {
        **{
            n: DeviceTensor.from_numpy(a)
            for n, a in zip(("q", "k", "v", "dO"), (q, k, v, grad), strict=True)
        },
        **{name: _poisoned(*shape) for name in ("o", "dq", "dk", "dv")},
        "stats": _poisoned(1, 2, 16, 1),
    }
    with _built(handle, graph), _built(handle, back):
        assert back.workspace_size > 0
        graph.execute({name: memory[name] for name in ("q", "k", "v", "o", "stats")})
        with DeviceBuffer(back.workspace_size) as workspace:
            back.execute(memory, workspace)
    torch = pytest.importorskip("torch")
    exact = [torch.tensor(each, requires_grad=True) for each in (q, k, v)]
    result = torch.nn.functional.scaled_dot_product_attention(*exact)
    result.backward(torch.tensor(grad))
    np.testing.assert_allclose(memory["o"].numpy(), result.detach().numpy(), atol=1e-5)
    for name, tensor in zip(("dq", "dk", "dv"), exact, strict=True):
        np.testing.assert_allclose(memory[name].numpy(), tensor.grad.numpy(), atol=1e-5)


def _transposed() -> Graph:
    graph = Graph(io_data_type="float32")
    graph.reshape(graph.tensor((2, 3), name="x"), (3, 2)).set_output(name="y")
    return graph


def test_a_failed_build_says_how(handle: Handle) -> None:
    with pytest.raises(NotSupportedError, match=r"hint: .*build\(handle, without_engine=True\)"):
        _transposed().build(handle)
    with DeviceProperties.preset("H200") as h200, pytest.raises(NotSupportedError) as caught:
        _transposed().build(h200)
    assert "without_engine" not in str(caught.value)


def test_there_is_no_engine_to_ask(handle: Handle) -> None:
    with _built(handle, _transposed()) as graph:
        plan = graph.plan
        assert plan.numerical_notes == plan.behavior_notes == frozenset()
        with pytest.raises(ValueError, match="built without an engine, so it has no config"):
            _ = plan.config
        with pytest.raises(ValueError, match="built without an engine, so it has no JSON"):
            plan.to_json()
        assert repr(plan) == "ReferencePlan(without an engine)"
    assert repr(plan) == "ReferencePlan(closed)"
    with pytest.raises(ClosedError):
        plan.execute(handle, dict.fromkeys(plan.uids, DeviceTensor.from_numpy(_random(2, 3))))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"selection": Selection()}, "without_engine: selection would choose or keep an engine"),
        ({"sm_count": 4, "workspace_limit": 0}, "workspace_limit, sm_count would choose"),
    ],
)
def test_nothing_can_be_chosen(options: dict[str, Any], says: str, handle: Handle) -> None:
    with pytest.raises(ValueError, match=says):
        _transposed().build(handle, without_engine=True, **options)


def test_a_gpu_wants_an_engine() -> None:
    with (
        DeviceProperties.preset("H200") as h200,
        pytest.raises(ValueError, match="only the reference device does that, got DevicePr"),
    ):
        _transposed().build(h200, without_engine=True)


def test_other_operation_graphs_are_no_plans(handle: Handle) -> None:
    """A raw program that gives the wrong descriptor is refused as before."""
    with _built(handle, _transposed()) as graph:
        descriptor = graph.plan.descriptor
        pack = graph.plan.variant_pack(
            dict.fromkeys(graph.plan.uids, DeviceTensor.from_numpy(_random(2, 3)))
        )
        raw.cudnnBackendExecute(handle, descriptor, pack)
        address = descriptor._as_parameter_.value
        mode.plans_without_engine.discard(address)
        with pytest.raises(CudnnError, match="is a operationgraph, no execution_plan"):
            raw.cudnnBackendExecute(handle, descriptor, pack)
        mode.plans_without_engine.add(address)
        pack.close()
    assert address not in mode.plans_without_engine
