"""CUDA graphs of plans: captured and replayed, filled in and updated by cuDNN."""

from __future__ import annotations

from contextlib import suppress

import pytest

from cudnn_ctypes import (
    ClosedError,
    Handle,
    NoDeviceError,
    NotSupportedError,
    raw,
    use_reference_device,
)
from cudnn_ctypes.graph.engines.selection import Selection
from cudnn_ctypes.graph.run.cuda_graph import NativeGraph, capture
from cudnn_ctypes.runtime import cuda

from ..cases import Operands, built
from ..families import CASES, PLANS
from .conftest import needs_precompiled_engines

NOTE = "supports_cuda_graph_native_api"
gpu = pytest.mark.gpu


@gpu
@pytest.mark.parametrize("name", PLANS)
def test_a_captured_plan_is_replayed(name: str, handle: Handle) -> None:
    with built(CASES[name], handle) as (graph, operands, workspace):
        before = handle.stream
        with capture(handle) as captured:
            assert handle.stream is not before
            graph.execute(operands.memory, workspace)
            with pytest.raises(ValueError, match="still being captured"):
                captured.replay()
        assert handle.stream == before
        assert operands.is_poisoned(handle)  # captured, not carried out
        for _ in range(2):
            captured.replay()
            operands.check(handle)
            operands.poison()
        captured.close()
        with pytest.raises(ClosedError, match="this CapturedGraph is closed"):
            captured.replay()


@gpu
def test_two_plans_on_a_stream_of_ones_own(handle: Handle) -> None:
    handle.stream = handle.device.create_stream()
    first, second = CASES["matmul + bias + gelu"], CASES["convolution"]
    with built(first, handle) as (graph, a, space), built(second, handle) as (other, b, more):
        handle.synchronize()
        with capture(handle) as captured, graph.bind(a.memory, space) as bound:
            bound()
            other.execute(b.memory, more)
        with captured:
            captured()
            a.check(handle)
            b.check(handle)


@gpu
def test_an_error_while_capturing_leaves_the_handle_usable(handle: Handle) -> None:
    with built(CASES["convolution"], handle) as (graph, operands, workspace):
        with pytest.raises(ZeroDivisionError), capture(handle) as captured:  # noqa: PT012
            graph.execute(operands.memory, workspace)
            1 / 0  # noqa: B018
        with pytest.raises(ValueError, match="still being captured"):
            captured.replay()
        assert operands.is_poisoned(handle)
        graph.execute(operands.memory, workspace)
        operands.check(handle)


@gpu
def test_waiting_while_capturing_is_refused(handle: Handle) -> None:
    stream = handle.device.create_stream()
    handle.stream = stream
    with built(CASES["convolution"], handle) as (graph, operands, workspace):
        handle.synchronize()
        with pytest.raises(RuntimeError, match="cannot be captured"), capture(handle):  # noqa: PT012
            graph.execute(operands.memory, workspace)
            with suppress(Exception):
                handle.synchronize()
        assert handle.stream is stream
        assert operands.is_poisoned(handle)
        graph.execute(operands.memory, workspace)
        operands.check(handle)


@gpu
@pytest.mark.parametrize("name", [name for name in PLANS if name != "convolution"])
def test_cudnn_fills_in_a_graph_and_exchanges_its_memory(name: str, handle: Handle) -> None:
    case = CASES[name]
    if raw.load().version < 90500:
        pytest.skip("cuDNN 9.5 and newer")
    with built(case, handle, selection=Selection(require=NOTE)) as (
        graph,
        first,
        workspace,
    ):
        second = Operands(case, graph, seed=8)
        native = NativeGraph(handle, graph.plan, first.pointers, workspace)
        assert first.is_poisoned(handle)
        native.replay()
        first.check(handle)
        first.poison()
        native.update(second.pointers, workspace)
        native.replay()
        second.check(handle)
        assert first.is_poisoned(handle)
        second.poison()
        native.update(first.pointers, workspace)
        native(handle.device.create_stream())
        first.check(handle)
        assert second.is_poisoned(handle)
        native.close()
        for use in (
            native.replay,
            lambda: native.cuda_graph,
            lambda: native.update(first.pointers, workspace),
        ):
            with pytest.raises(ClosedError):
                use()
        second.close()


@gpu
def test_a_filled_graph_as_a_child_of_a_larger_one(handle: Handle) -> None:
    case = CASES["matmul + bias + gelu"]
    with (
        built(case, handle, selection=Selection(require=NOTE)) as (graph, operands, workspace),
        NativeGraph(handle, graph.plan, operands.pointers, workspace) as native,
    ):
        parent = cuda.call("cuGraphCreate", 0)
        cuda.call("cuGraphAddChildGraphNode", parent, None, 0, native.cuda_graph)
        executable = cuda.call("cuGraphInstantiate", parent, 0)
        cuda.call("cuGraphLaunch", executable, 0)
        operands.check(handle)
        cuda.call("cuGraphExecDestroy", executable)
        cuda.call("cuGraphDestroy", parent)


@gpu
@needs_precompiled_engines
def test_an_engine_without_the_note_is_refused(handle: Handle) -> None:
    case = CASES["convolution"]
    with (
        built(case, handle, selection=Selection(forbid=NOTE)) as (graph, operands, workspace),
        pytest.raises(NotSupportedError, match="lacks the note 'supports_cuda_graph_native_api'"),
    ):
        NativeGraph(handle, graph.plan, operands.pointers, workspace)


def test_the_reference_device_has_no_cuda_graphs() -> None:
    with (
        use_reference_device(),
        Handle() as handle,
        pytest.raises(NoDeviceError, match="reference device has no CUDA graphs"),
    ):
        capture(handle).__enter__()


def test_what_is_no_handle_is_refused() -> None:
    with pytest.raises(TypeError, match="handle: expected a Handle, got 3"):
        capture(3).__enter__()  # type: ignore[arg-type]
