"""CUDA graphs of plans: captured and replayed, filled in and updated by cuDNN."""

from __future__ import annotations

import ctypes
import functools
import json
import threading
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.graph.engines.selection import Selection
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.graph.run import cuda_graph
from cudnn_ctypes.graph.run import plan as plan_module
from cudnn_ctypes.graph.run.cuda_graph import NativeGraph, capture
from cudnn_ctypes.graph.run.plan import ExecutionPlan
from cudnn_ctypes.graph.run.scratch import Scratch, Step, Steps
from cudnn_ctypes.graph.run.stored_plan import KernelCache
from cudnn_ctypes.raw.function import binding
from cudnn_ctypes.runtime import cuda
from cudnn_ctypes.runtime.launching import executions

from ..attention_problems import BOTH
from ..cases import Operands, built, check
from ..families import CASES, PLANS
from ..matmul_cases import fused_product
from .executions import made_up_handle

NOTE = "supports_cuda_graph_native_api"
gpu = pytest.mark.gpu


@gpu
@pytest.mark.parametrize("name", PLANS)
def test_a_captured_plan_is_replayed(name, handle):
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
        with pytest.raises(cudnn.ClosedError, match="this CapturedGraph is closed"):
            captured.replay()


@gpu
def test_two_plans_on_a_stream_of_ones_own(handle):
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
def test_an_error_while_capturing_leaves_the_handle_usable(handle):
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
def test_waiting_while_capturing_is_refused(handle):
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
def test_cudnn_fills_in_a_graph_and_exchanges_its_memory(name, handle):
    case = CASES[name]
    if raw.load().version < 90500:
        pytest.skip("cuDNN 9.5 and newer")
    with built(case, handle, selection=Selection(require=NOTE)) as (graph, first, workspace):
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
        update = functools.partial(native.update, first.pointers, workspace)
        for use in (native.replay, lambda: native.cuda_graph, update):
            with pytest.raises(cudnn.ClosedError):
                use()
        second.close()


@gpu
def test_a_filled_graph_as_a_child_of_a_larger_one(handle):
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


# --- without a GPU: what is called, in which order -----------------------------------------------


class Recorded:
    """Any object of CUDA's: notes its calls, and is what each of them returns."""

    def __init__(self, calls: list[str], fails: str = "") -> None:
        self._calls, self._fails = calls, fails

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*arguments: Any) -> Any:
            self._calls.append(name if not arguments else f"{name} {arguments[0]}")
            if name == self._fails:
                raise RuntimeError("a launch that waits")
            return self

        return call


def made_up(stream: Any, calls: list[str], fails: str = "") -> Any:
    """A handle that cuDNN never sees."""
    there = Recorded(calls, fails)
    return SimpleNamespace(_as_parameter_=raw.cudnnHandle_t(), stream=stream, device=there)


@pytest.mark.parametrize(
    ("stream", "begin"), [(0, ["create_stream"]), (1, ["create_stream"]), (64, [])]
)
def test_what_is_launched_is_captured_on_a_stream_that_can_be(stream, begin, monkeypatch):
    calls: list[str] = []
    streams: list[Any] = []
    handle = made_up(stream, calls)

    def as_core_stream(given: Any, device: Any) -> Any:
        assert device is handle.device
        streams.append(given)
        return handle.device

    monkeypatch.setattr(cuda_graph, "as_core_stream", as_core_stream)
    with capture(handle) as captured:
        assert handle.stream is handle.device
        with pytest.raises(ValueError, match="still being captured"):
            captured()
    assert handle.stream == stream
    built = ["create_graph_builder", "begin_building", "end_building", "complete", "close"]
    assert calls == [*begin, *built]
    captured.replay()
    captured.replay(7)
    assert streams == [*([] if begin else [64]), stream, 7]
    assert captured.graph is handle.device
    captured.close()
    captured.close()
    assert calls[-3:] == [f"launch {handle.device}"] * 2 + ["close"]
    with pytest.raises(cudnn.ClosedError, match="this CapturedGraph is closed"):
        captured.replay()


def test_what_cannot_be_captured_leaves_the_handle_as_it_was():
    calls: list[str] = []
    handle = made_up(0, calls, fails="complete")
    said = "cannot be captured as a CUDA graph: a launch that"
    with pytest.raises(RuntimeError, match=said), capture(handle):
        pass
    assert (handle.stream, calls[-1]) == (0, "close")
    with pytest.raises(KeyError), capture(handle):
        raise KeyError
    assert (handle.stream, calls[-1]) == (0, "close")


def test_what_cudnn_fills_in_is_instantiated_exchanged_and_destroyed_once(monkeypatch):
    calls: list[Any] = []
    results = {"cuGraphCreate": 4096, "cuGraphInstantiate": "executable"}
    monkeypatch.setattr(cuda, "call", lambda *made: [calls.append(made), results.get(made[0])][1])
    for name in ("Populate", "Update"):
        function = f"cudnnBackend{name}CudaGraph"
        fill = lambda *given, name=name: calls.append((name, *given[:3], given[3].cuda_graph))  # noqa: E731
        monkeypatch.setattr(raw, function, fill)
    packs: list[Any] = []

    def variant_pack(pointers: Any, workspace: Any) -> Any:
        name = f"pack of {pointers[1]} and {workspace}"
        packs.append(SimpleNamespace(name=name, close=lambda: calls.append(f"close {name}")))
        return packs[-1]

    handle = made_up(64, [])
    plan = SimpleNamespace(
        behavior_notes={NOTE}, is_one_call=True, descriptor="plan", variant_pack=variant_pack
    )
    with NativeGraph(handle, plan, {1: 16}, 32) as native:
        native.update({1: 48}, 64)
        native.replay()
        native(stream=7)
    assert [each.name for each in packs] == ["pack of 16 and 32", "pack of 48 and 64"]
    assert calls == [
        ("cuGraphCreate", 0),
        ("Populate", handle, "plan", packs[0], 4096),
        ("cuGraphInstantiate", 4096, 0),
        ("Update", handle, "plan", packs[1], 4096),
        "close pack of 16 and 32",
        ("cuGraphExecUpdate", "executable", 4096),
        ("cuGraphLaunch", "executable", 64),
        ("cuGraphLaunch", "executable", 7),
        ("cuGraphExecDestroy", "executable"),
        ("cuGraphDestroy", 4096),
        "close pack of 48 and 64",
    ]
    with pytest.raises(cudnn.ClosedError):
        native.replay()


@pytest.mark.parametrize(
    ("plan", "says"),
    [({"behavior_notes": ()}, "lacks the note"), ({"is_one_call": False}, "before each execution")],
)
def test_plans_that_cudnn_fills_no_graph_with(plan, says):
    plan = SimpleNamespace(**{"behavior_notes": {NOTE}, "is_one_call": True, **plan})
    with pytest.raises(cudnn.NotSupportedError, match=says):
        NativeGraph(made_up(0, []), plan, {})


def test_the_reference_device_has_no_cuda_graphs():
    with (
        cudnn.use_reference_device(),
        cudnn.Handle() as handle,
        pytest.raises(cudnn.NoDeviceError, match="reference device has no CUDA graphs"),
    ):
        capture(handle).__enter__()


def test_what_is_no_handle_is_refused():
    with pytest.raises(TypeError, match="handle: expected a Handle, got 3"):
        capture(3).__enter__()


# --- graphs with dynamic shapes share kernels ----------------------------------------------------


NUMBER_OF_ENTRIES = 92700  # since when cuDNN tells it
# Of one config: for few rows the heuristics of cuDNN 9.14 propose another one.
SIZES = (64, 96, 200)


def _kernel(plan: ExecutionPlan) -> str:
    """The machine code; NVRTC does not give the same bits twice, so equals are copies."""
    (kernel,) = json.loads(plan.to_json())["engine"]["payload"]["kernels"]
    return str(kernel["cubin"])


def _counts(cache: KernelCache) -> tuple[int, int]:
    """What grows when a kernel is compiled, where cuDNN tells it."""
    if raw.load().version < NUMBER_OF_ENTRIES:
        return 1, 1
    return cache.entry_count, cache.revision


@pytest.mark.soak
def test_only_the_first_shape_is_compiled(h200):
    kernels = set()
    with KernelCache() as cache:
        for m in SIZES:
            with fused_product(m).graph() as graph:
                plan = graph.build(h200, kernel_cache=cache)
                stored = json.loads(plan.to_json())
                assert stored["operationGraph"]["isDynamicShapeEnabled"] is True
                kernels.add(_kernel(plan))
                assert _counts(cache) == (1, 1)
        assert len(kernels) == 1
        text = cache.to_json()
    with KernelCache(text) as again, fused_product(40).graph() as graph:
        assert _kernel(graph.build(h200, kernel_cache=again)) in kernels


def test_without_a_cache_shapes_are_fixed(a100):
    with fused_product(64).graph() as graph:
        graph_content = json.loads(graph.build(a100).to_json())["operationGraph"]
        assert not graph_content.get("isDynamicShapeEnabled", False)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("{", ValueError, "cache: the JSON is damaged"),
        ("{}", ValueError, "this JSON is no kernel cache"),
        ('{"cudnnVersion": 90000, "operationGraph": {}}', ValueError, "made by cuDNN 9.0.0"),
        (7, TypeError, "cache: expected JSON text"),
    ],
)
def test_damaged_caches(text, error, says):
    with pytest.raises(error, match=says):
        KernelCache(text)


def test_a_cache_that_cudnn_does_not_take(a100):
    with KernelCache() as cache, fused_product(64).graph() as graph:
        assert repr(cache) == "KernelCache(empty)"
        with pytest.raises(ValueError, match="this kernel cache is empty"):
            cache.to_json()
        assert cache.entry_count == cache.revision == 0
        graph.build(a100, kernel_cache=cache)
        assert (repr(cache), *_counts(cache)) == ("KernelCache()", 1, 1)
        stored = json.loads(cache.to_json())
        del stored["sha256"]
    assert repr(cache) == "KernelCache(closed)"
    stored["operationGraph"]["nodes"][0]["operation"] = "CUDNN_X"
    with pytest.raises(ValueError, match="cuDNN does not take this kernel cache"):
        KernelCache(json.dumps(stored))
    stored["operationGraph"]["tensors"][0]["dim"][0] = 0
    with pytest.raises(ValueError, match=r"tensors\[0\]\.dim\[0\]: expected an integer from 1"):
        KernelCache(json.dumps(stored))


def test_other_shapes_are_refused_where_they_mean_nothing(a100):
    with fused_product(64).graph() as graph:
        graph.build(a100)
        memory = {"a": 1 << 20, "b": 2 << 20, "bias": 3 << 20, "c": 4 << 20}
        with pytest.raises(ValueError, match=r"a' .4, 64, 128.: expected as many dims, positive"):
            graph.bind(memory, dims={"a": (4, 32)}, handle=None)
        plan, uids = graph.plan, sorted(graph.plan.uids)
        with pytest.raises(ValueError, match="this plan was built for fixed shapes"):
            plan.variant_pack(dict.fromkeys(uids, 1 << 20), shapes={uids[0]: ((1, 8), (8, 1))})


@pytest.mark.needs("CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED")
def test_other_shapes_in_a_variant_pack(a100):
    with fused_product(64).graph() as graph:
        plan = graph.build(a100, override_shapes=True)
        pointers = dict.fromkeys(plan.uids, 1 << 20)
        shapes = {1: ((4, 32, 128), (4096, 128, 1)), 6: ((4, 32, 256), (8192, 256, 1))}
        with plan.variant_pack(pointers, shapes=shapes) as pack:
            assert pack.finalized
    for name, value, says in (
        ("override_shapes", 5, "override_shapes: expected a list of lists of int, got 5"),
        ("override_strides", [[1, "x"]], r"override_strides\[0\]\[1\]: .*'x'"),
    ):
        with BackendDescriptor("variant_pack") as pack, pytest.raises(TypeError, match=says):
            pack[name] = value


@pytest.mark.gpu
def test_one_kernel_computes_all_shapes(handle):
    with KernelCache() as cache:
        kernels = set()
        for m in SIZES:
            case = fused_product(m)
            with case.graph() as graph:
                kernels.add(_kernel(graph.build(handle, kernel_cache=cache)))
                check(case, graph, handle)
        assert len(kernels) == 1
        assert _counts(cache) == (1, 1)


@pytest.mark.gpu
@pytest.mark.needs("CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED")
def test_one_plan_computes_other_shapes(handle):
    with fused_product(64).graph() as graph:
        graph.build(handle, override_shapes=True)
        full = Operands(fused_product(64), graph)
        for m in (32, 8, 64):
            smaller = fused_product(m)
            with smaller.graph() as described:
                described.validate()
                operands = Operands(smaller, described)
            memory = {each.name: operands.memory[each] for each in operands.memory}
            dims = {"a": (4, m, 128), "c": (4, m, 256)}
            graph.execute(memory, dims=dims)
            operands.check(handle)
            operands.poison()
            with graph.bind(memory, dims=dims) as bound:
                bound()
                operands.check(handle)
            operands.close()
        graph.execute(full.memory)
        full.check(handle)
        full.close()


@pytest.mark.gpu
@pytest.mark.needs("cudnnGetExecutionPlanWorkspaceSize")
def test_a_workspace_for_other_shapes_suffices(handle):
    with fused_product(64).graph() as graph:
        plan = graph.build(handle, override_shapes=True)
        full = Operands(fused_product(64), graph)
        dims = {"a": (4, 32, 128), "c": (4, 32, 256)}
        uids = {each.name: each.uid for each in graph.tensors}
        shapes = {uids["a"]: (dims["a"], (4096, 128, 1)), uids["c"]: (dims["c"], (8192, 256, 1))}
        needed = plan.workspace_size_for(handle, shapes)
        assert 0 <= needed <= max(plan.workspace_size, 1 << 20)
        memory = {each.name: full.memory[each] for each in full.memory}
        with cudnn.DeviceBuffer(max(needed, plan.workspace_size, 1)) as workspace:
            graph.execute(memory, workspace, dims=dims, check=False)
        handle.synchronize()
        full.close()


# --- tensors that lie at the end of the workspace -------------------------------------------------


def test_where_they_lie_and_what_is_written_there():
    graph = Graph(io_data_type="float16")
    BOTH["alibi"].backward(graph)
    assert Scratch(graph._expanded(graph.validate(), Target(91900, 90)).tensors).must_write
    sizes = {7: (3, 5), 9: (3, 5), 8: (3,), 4: (1,), 1: (9,)}
    tensors: list[Any] = [
        Graph().tensor(dims, data_type="float32", uid=uid) for uid, dims in sizes.items()
    ]
    for tensor in tensors[:3]:
        tensor.scratch = True
    tensors[1].value, tensors[2].value = 2.5, np.arange(3)
    tensors[3].by_value, tensors[3].value = True, 0.5
    ran: list[Any] = []
    plan: Any = SimpleNamespace(workspace_size=300, execute=lambda *given: ran.append(given))
    scratch = Scratch([*tensors, tensors[0]], Steps([Step(plan, {0: 1, 1: 8})]), {8})
    assert scratch.offsets(10) == {7: 256, 9: 512, 8: 768}
    assert (scratch.size, scratch.total(10), Scratch().total(10)) == (1280, 1536, 10)
    with cudnn.use_reference_device(), cudnn.Handle() as handle, cudnn.DeviceBuffer(1536) as space:
        space.fill(0xA5)
        pointers = scratch.added_to({1: 5}, 10, space)
        at = {uid: space.ptr + offset for uid, offset in scratch.offsets(10).items()}
        assert {**pointers, 4: pointers[4].value} == {1: 5, 4: 0.5, **at}
        assert scratch.own(pointers).keys() == {1, 4, 7, 9}
        scratch.write(handle, 10, pointers, space)
        written = space.copy_to_host()
    assert ran == [(handle, {0: 5, 1: at[8]}, at[8] + 256)]
    assert written[512:572].view(np.float32).tolist() == [2.5] * 15
    assert written[768:780].view(np.float32).tolist() == [0, 1, 2]
    assert (np.delete(written, [*range(512, 572), *range(768, 780)]) == 0xA5).all()


# --- plans that are closed while another thread executes them -------------------------------------


class Calls:
    """Takes the place of the C functions of an execution; the last one waits."""

    def __init__(self, log: list[str]) -> None:
        self.running, self.may_return = threading.Event(), threading.Event()
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_void_p,) * 3)

        def execute(*_: int) -> int:
            self.running.set()
            self.may_return.wait(30)
            log.append("executed")
            return 0

        self.cudnnBackendExecute = prototype(execute)

    def cudnnBackendInitialize(self, *_: Any) -> int:
        return 0

    cudnnBackendSetAttribute = cudnnBackendFinalize = cudnnBackendInitialize


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("way", ["plan", "graph", "bound"])
def test_a_plan_is_destroyed_after_the_execution(way, owned, h200, monkeypatch):
    log = []
    calls = Calls(log)
    for module in (plan_module, executions):
        monkeypatch.setattr(module, "bare", calls)
    through_raw = binding("cudnnBackendExecute")
    monkeypatch.setitem(vars(through_raw), "native", calls.cudnnBackendExecute)
    through_raw.rebind()
    monkeypatch.setattr(plan_module, "watched", ())
    owner = made_up_handle()
    handle = owner if owned else owner._as_parameter_
    graph = CASES["convolution"].graph()
    plan = graph.build(h200)
    destroy = plan.descriptor._destroy
    monkeypatch.setattr(plan.descriptor, "_destroy", lambda: (log.append("destroyed"), destroy()))
    memory = {tensor.uid or 0: 1 << 20 for tensor in (*graph.inputs, *graph.outputs)}
    ways = {
        "plan": lambda: plan.execute(handle, memory, 1 << 30),
        "graph": lambda: graph.execute(memory, 1 << 30, handle=handle),
        "bound": plan.bind(handle, memory, 1 << 30),
    }
    thread = threading.Thread(target=ways[way])
    thread.start()
    assert calls.running.wait(30)
    (graph if way == "graph" else plan).close()
    with pytest.raises(cudnn.ClosedError):
        plan.execute(handle, memory, 1 << 30)
    log.append("closed")
    calls.may_return.set()
    thread.join(30)
    ways["bound"].close()
    graph.close()
    owner.close()
    monkeypatch.undo()
    through_raw.rebind()
    assert log == ["closed", "executed", "destroyed"]
