"""Building and executing: what is refused, and what is left behind."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.engines.refusals import ONLY_THERE
from cudnn_ctypes.raw import mode

from ..families import CASES


def _product() -> tuple[cudnn.Graph, Tensor, Tensor, Tensor]:
    graph = cudnn.Graph("product", io_data_type="float16")
    a, b = graph.tensor((4, 64, 128), name="a"), graph.tensor((4, 128, 256), name="b", uid=9)
    return graph, a, b, graph.mul(graph.matmul(a, b), 0.5).set_output(name="c")


def test_other_shapes_need_a_scale_that_says_what_is_normalized(h200):
    with cudnn.Graph(io_data_type="float16") as graph:
        x = graph.tensor((8, 16, 64))
        graph.rmsnorm("inference", x, None, None, 1e-5, axes=1)[0].set_output()
        with pytest.raises(ValueError, match="override_shapes: "):
            graph.build(h200, override_shapes=True)


def test_only_the_plan_is_left(a100):
    gc.collect()
    before = [each for each in gc.get_objects() if type(each) is BackendDescriptor]
    graph, *_ = _product()
    graph.build(a100)
    gc.collect()
    known = {id(each) for each in before}
    new = [
        each
        for each in gc.get_objects()
        if type(each) is BackendDescriptor and id(each) not in known and not each.closed
    ]
    assert [each.name for each in new] == ["execution_plan"]
    graph.close()
    assert new[0].closed
    with pytest.raises(ValueError, match="graph 'product' is not built"):
        _ = graph.plan


@pytest.mark.filterwarnings("ignore::cudnn_ctypes.errors.UnclosedWarning")
def test_a_forgotten_plan_without_an_engine_is_destroyed_once(reference_device, monkeypatch):
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    with cudnn.Handle() as handle:
        plan = _product()[0].build(handle, without_engine=True)
        address = plan.descriptor._as_parameter_.value
        assert address in mode.plans_without_engine
        plan.itself = plan
        del plan
        gc.collect()
    assert not told
    assert address not in mode.plans_without_engine


def test_what_cudnn_refuses_names_the_operation(a100):
    graph = cudnn.Graph(io_data_type="float16")
    x = graph.tensor((4, 64, 128))
    graph.transpose(x, (0, 2, 1), name="turned").set_output(data_type="float32")
    with pytest.raises((cudnn.CudnnError, cudnn.SymbolNotFoundError), match="turned"):
        graph.build(a100)


def test_an_older_cudnn_says_which_version_has_it(a100, monkeypatch):
    monkeypatch.setattr(raw.load(), "version", 92100)
    graph = cudnn.Graph(io_data_type="float16")
    graph.transpose(graph.tensor((4, 64, 128)), (0, 2, 1), name="turned").set_output()
    with pytest.raises(
        cudnn.SymbolNotFoundError, match=r"transpose 'turned': .* needs cuDNN 9\.22\.0"
    ):
        graph.build(a100)


# --- graphs that the reference device carries out without an engine ------------------------------


Array = Any


def _random(*shape: int) -> Array:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def _built(handle: cudnn.Handle, graph: cudnn.Graph) -> cudnn.Graph:
    try:
        graph.build(handle, without_engine=True)
    except cudnn.SymbolNotFoundError as error:
        pytest.skip(str(error))
    return graph


def _poisoned(*shape: int) -> cudnn.DeviceTensor:
    return cudnn.DeviceTensor.full(shape, np.nan, "float32")


SHAPE = (2, 3, 4, 6)

# Operations for which cuDNN has no engine by themselves on an H200.
UNTAKEN: dict[str, tuple[Callable[[cudnn.Graph, Any], Any], Callable[[Array], Array]]] = {
    "transpose": (lambda g, x: g.transpose(x, (0, 3, 1, -2)), lambda x: x.transpose(0, 3, 1, 2)),
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


@pytest.mark.parametrize("name", UNTAKEN)
def test_operations_that_no_engine_takes(name, handle):
    describe, exact = UNTAKEN[name]
    x = _random(*SHAPE)
    with cudnn.Graph(io_data_type="float32") as graph:
        describe(graph, graph.tensor(SHAPE, name="x")).set_output(name="y")
        _built(handle, graph)
        expected = exact(x)
        memory = {"x": cudnn.DeviceTensor.from_numpy(x), "y": _poisoned(*expected.shape)}
        graph.execute(memory)
        np.testing.assert_allclose(memory["y"].numpy(), expected, rtol=1e-6, atol=1e-6)


def _transposed() -> cudnn.Graph:
    graph = cudnn.Graph(io_data_type="float32")
    graph.reshape(graph.tensor((2, 3), name="x"), (3, 2)).set_output(name="y")
    return graph


def test_there_is_no_engine_to_ask(handle):
    with _built(handle, _transposed()) as graph:
        plan = graph.plan
        assert plan.numerical_notes == plan.behavior_notes == frozenset()
        with pytest.raises(ValueError, match="built without an engine, so it has no config"):
            _ = plan.config
        with pytest.raises(ValueError, match="built without an engine, so it has no JSON"):
            plan.to_json()
        assert repr(plan) == "ReferencePlan(without an engine)"
    assert repr(plan) == "ReferencePlan(closed)"
    with pytest.raises(cudnn.ClosedError):
        plan.execute(handle, dict.fromkeys(plan.uids, cudnn.DeviceTensor.from_numpy(_random(2, 3))))


def test_a_gpu_wants_an_engine():
    with (
        cudnn.DeviceProperties.preset("H200") as h200,
        pytest.raises(ValueError, match="only the reference device does that, got DevicePr"),
    ):
        _transposed().build(h200, without_engine=True)


def test_other_operation_graphs_are_no_plans(handle):
    """A raw program that gives the wrong descriptor is refused as before."""
    with _built(handle, _transposed()) as graph:
        descriptor = graph.plan.descriptor
        pack = graph.plan.variant_pack(
            dict.fromkeys(graph.plan.uids, cudnn.DeviceTensor.from_numpy(_random(2, 3)))
        )
        raw.cudnnBackendExecute(handle, descriptor, pack)
        address = descriptor._as_parameter_.value
        mode.plans_without_engine.discard(address)
        with pytest.raises(cudnn.CudnnError, match="is a operationgraph, no execution_plan"):
            raw.cudnnBackendExecute(handle, descriptor, pack)
        mode.plans_without_engine.add(address)
        pack.close()
    assert address not in mode.plans_without_engine


# --- engines that ask the GPU itself -------------------------------------------------------------


@pytest.mark.skipif(
    not ensure_driver().is_stub, reason="there is an NVIDIA driver here, which answers"
)
def test_engines_that_ask_the_gpu_are_neither_refused_nor_compiled(h200):
    with CASES["layer norm + z, relu, training, float16"].graph() as graph:
        told = graph.explain(h200)
    assert told.undecided
    for row in told.undecided:
        assert row.supported is None
        assert row.status.startswith("EXECUTION_FAILED")
        assert row not in told.usable
    engines = tuple(sorted({row.engine for row in told.undecided}))
    (reason,) = (why for why, which in told.reasons().items() if which == engines)
    assert reason.startswith(ONLY_THERE)
    assert f"{len(engines)} more perhaps where the GPU is" in str(told)
