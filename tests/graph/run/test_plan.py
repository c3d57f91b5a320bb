"""Plans: stored and read, damaged and foreign, and what an execution lacks."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.backend.engine import heuristics
from cudnn_ctypes.graph.lower.lowering import lowered
from cudnn_ctypes.graph.run.plan import ExecutionPlan
from cudnn_ctypes.graph.run.program import Part, Program
from cudnn_ctypes.graph.run.scratch import Step

from ..cases import ANY_ENGINE, Operands, built, workspace_of
from ..damage import DELETED, Damage, Way
from ..families import CASES
from ..matmul_cases import fused_product
from .conftest import needs_precompiled_engines


@pytest.fixture
def plan(made, h200):
    """A precompiled convolution: 2 kB."""
    configs = heuristics(made.convolution((8, 64, 56, 56), 64), device=h200)
    with ExecutionPlan(configs[0], device=h200) as built:
        yield built
    for each in configs:
        each.close()


def test_a_plan_is_stored_and_read(plan, h200):
    stored = plan.to_json()
    with ExecutionPlan.from_json(stored, device=h200) as again:
        assert again.to_json() == stored
        assert again.workspace_size == plan.workspace_size
        assert plan.config.knobs.items() <= again.config.knobs.items()
        assert again.uids == plan.uids == {1, 2, 3}


def _changed(way: Way, value: Any) -> Any:
    """Damage at one place of a plan without a checksum."""

    def damage(stored: str) -> str:
        content = json.loads(stored)
        content.pop("sha256", None)
        return json.dumps(Damage(way, value).done_to(content))

    return damage


TENSOR, NODE = ("operationGraph", "tensors", 0), ("operationGraph", "nodes", 0)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: text[:-40], "plan: the JSON is damaged"),
        (lambda text: "", "plan: the JSON is damaged"),
        (lambda text: b"\xff", "plan: the JSON is damaged"),
        (lambda text: "[]", r"plan: expected an object, got \[\]"),
        (lambda text: "{}", "is no execution plan: it has no 'cudnnVersion'"),
        (_changed(("cudnnVersion",), 90100), r"made by cuDNN 9\.1\.0, loaded is"),
        (_changed(("cudnnVersion",), "9"), r"made by cuDNN '9', loaded is"),
        (_changed(("cudnnVersion",), True), r"made by cuDNN True, loaded is"),
        (_changed(("GPUProfile", "deviceName"), "NVIDIA B200"), "deviceName 'NVIDIA B200'"),
        (_changed(("GPUProfile", "deviceVer"), 1000), "deviceVer 1000, and this one has 900"),
        (_changed(("GPUProfile", "multiProcessorCount"), 16), "multiProcessorCount 16"),
        (_changed(("GPUProfile",), []), r"plan\.GPUProfile: expected an object"),
        (_changed(("operationGraph",), 5), r"plan\.operationGraph: expected an object, got 5"),
        (_changed(("operationGraph", "tensors"), DELETED), "'tensors' is missing"),
        (_changed(("operationGraph", "nodes"), "x"), r"operationGraph\.nodes: expected a list"),
        (_changed((*TENSOR, "name"), "x"), r"tensors\[0\]\.name: expected a number of 64 bits"),
        (_changed((*TENSOR, "name"), "9" * 19), r"tensors\[0\]\.name: expected a number of 64"),
        (_changed((*TENSOR, "name"), "7"), r"nodes\[0\]\.X: there is no tensor '1'"),
        (_changed((*TENSOR, "dim", 1), 0), r"tensors\[0\]\.dim\[1\]: expected an integer from 1"),
        (_changed((*TENSOR, "stride"), [1]), r"tensors\[0\]\.stride: expected as many as dims"),
        (_changed((*NODE, "W"), "w"), r"nodes\[0\]\.W: there is no tensor 'w'"),
        (_changed(("engine",), DELETED), "cuDNN does not take this plan"),
        (_changed(("engine", "engineId"), "x"), "cuDNN does not take this plan"),
        (_changed((*NODE, "operation"), "CUDNN_X"), "cuDNN does not take this plan"),
    ],
)
@pytest.mark.filterwarnings("error::ResourceWarning")
def test_damaged_and_foreign_plans(damage, says, plan, h200):
    with pytest.raises(ValueError, match=says):
        ExecutionPlan.from_json(damage(plan.to_json()), device=h200)


@pytest.mark.parametrize("warden", [False, True])
def test_a_tensor_that_is_read_transposed_too_is_not_stored(warden, h200, tmp_path):
    graph = cudnn.Graph(io_data_type="float16")
    x = graph.tensor((1, 64, 64), name="x")
    graph.matmul(x, x, transpose_B=True).set_output()
    cache = cudnn.PlanCache(tmp_path)
    plan = graph.build(h200, cache=cache, warden=warden)
    assert not list(cache.entries())
    with pytest.raises(cudnn.NotSupportedError, match=r"'x' is read as it is and transposed"):
        plan.to_json()


def test_any_damage_is_seen_by_the_checksum(plan, h200):
    stored = plan.to_json()
    for damaged in (
        stored.replace('"ptrAlignment":16', '"ptrAlignment":64', 1),
        stored.replace("CUDNN_CROSS_CORRELATION", "CUDNN_CONVOLUTION"),
        json.dumps(json.loads(stored), indent=1),
    ):
        assert damaged != stored
        with pytest.raises(ValueError, match=r"damaged or changed .* sha256 does not fit"):
            ExecutionPlan.from_json(damaged, device=h200)
    ExecutionPlan.from_json(stored + "\n", device=h200).close()


def test_a_plan_from_a_program_in_c_has_no_checksum(plan, h200):
    text = plan.descriptor["json_representation"]
    assert plan.to_json().startswith(text[:-1])
    with ExecutionPlan.from_json(text, device=h200) as again:
        assert again.to_json() == plan.to_json()


def test_what_is_no_text_or_no_device(plan, h200):
    with pytest.raises(TypeError, match="plan: expected JSON text, got 5"):
        ExecutionPlan.from_json(5, device=h200)
    with pytest.raises(TypeError, match="device: expected a Handle, DeviceProperties, the name"):
        ExecutionPlan.from_json(plan.to_json(), device=0)


# --- what an execution lacks ----------------------------------------------------------------------


def test_missing_uids_are_named(plan):
    with pytest.raises(ValueError, match="no memory was given for uid 1, uid 3"):
        plan.variant_pack({2: 1 << 20}, 4 << 20)


def test_a_closed_plan_says_so(plan):
    assert plan.uids
    plan.close()
    assert repr(plan) == "ExecutionPlan(closed)"
    for use in (plan.to_json, lambda: plan.workspace_size, lambda: plan.config):
        with pytest.raises(cudnn.ClosedError):
            use()


def test_tensors_of_a_program_share_memory_if_they_are_needed_at_different_times():
    plan: Any = SimpleNamespace(workspace_size=100)
    used = (1, 10, 11), (11, 12, 2), (12, 13), (13, 20, 3)  # 20 is a part of 12, and 3 one of 1
    steps = [Step(plan, dict(enumerate(each))) for each in used]
    between = {10: 1000, 11: 700, 12: 1000, 13: 10}
    program = Program(steps, between, {20: Part(21, 64), 21: Part(12, 256), 3: Part(1, 32)})
    assert program.scratch_offsets == {10: 0, 12: 0, 11: 1024, 13: 1024}
    assert program.workspace_size == 1024 + 768 + 100
    assert program.uids == {1, 2}
    found, space = program._addresses(None, {1: 1 << 20, 2: 1 << 21}, 1 << 30, None)
    begin = (1 << 30, (1 << 30) + 1024, (1 << 30) + 320, (1 << 20) + 32)
    assert tuple(found[uid] for uid in (12, 11, 20, 3)) == begin
    assert space == (1 << 30) + 1024 + 768


@pytest.mark.soak
def test_a_plan_of_another_graph(h200):
    with fused_product(64).graph() as graph, fused_product(96).graph() as other:
        stored = graph.build(h200).to_json()
        with pytest.raises(ValueError, match=r"uid 1 is \(4, 64, 128\), this one has \(4, 96, 128"):
            other.load_plan(stored, h200)
        gate = CASES["sigmoid(a + b * c)"].graph()
        with pytest.raises(ValueError, match=r"of another graph: its operations are .*MATMUL"):
            gate.load_plan(stored, h200)
        with graph.build(h200) as first:
            second = graph.load_plan(stored, h200)
            assert first.descriptor.closed
            assert graph.plan is second
            assert second.to_json() == stored


# --- on a GPU -------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("with_properties", [False, True])
@pytest.mark.parametrize("name", ["convolution", "convolution + bias + relu"])
def test_the_first_configs_compute(name, with_properties, handle):
    """Without properties cuDNN learns of the GPU from the handle of the operation graph."""
    device = DeviceProperties.from_device(handle=handle) if with_properties else handle
    with (
        CASES[name].graph() as graph,
        lowered(graph.expansion(device), device) as lowering,
        Operands(CASES[name], graph) as operands,
    ):
        for config in heuristics(lowering.graph, device=device)[:3]:
            operands.poison()
            with ExecutionPlan(config, device=device) as plan:
                workspace = cudnn.DeviceBuffer(max(plan.workspace_size, 1))
                plan.execute(handle, operands.pointers, workspace)
                operands.check(handle, ANY_ENGINE)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["convolution", "matmul + bias + gelu", "attention"])
def test_a_plan_from_json_computes_the_same(name, handle):
    with built(CASES[name], handle) as (graph, operands, workspace):
        stored = graph.plan.to_json()
        graph.close()
        graph.load_plan(stored, handle)
        assert graph.plan.to_json() == stored
        graph.execute(operands.memory, workspace)
        operands.check(handle)
        operands.poison()
        with graph.bind(operands.memory, workspace) as bound:
            bound()
            operands.check(handle)


@pytest.mark.gpu
def test_plans_for_another_gpu_are_refused_by_handle(handle):
    with CASES["convolution"].graph() as graph:
        stored = graph.build(handle).to_json()
        for damage in (
            _changed(("GPUProfile", "deviceVer"), 1000),
            _changed(("GPUProfile", "deviceName"), "NVIDIA B200"),
            _changed(("GPUProfile", "multiProcessorCount"), 16),
        ):
            with pytest.raises(ValueError, match="made for a GPU with"):
                graph.load_plan(damage(stored), handle)
        assert not graph.plan.descriptor.closed


@pytest.mark.gpu
def test_threads_share_a_plan(handle):
    """Each with its own handle, stream and operands."""
    case = CASES["matmul + bias + gelu"]
    with built(case, handle) as (graph, _, _):
        device = handle.device
        sets = [Operands(case, graph, seed=seed) for seed in range(4)]
        pointers = [each.pointers for each in sets]
        handle.synchronize()

        def work(index):
            device.set_current()
            with (
                cudnn.Handle(stream=device.create_stream()) as own,
                workspace_of(graph) as workspace,
            ):
                for _ in range(50):
                    graph.plan.execute(own, pointers[index], workspace)
                own.synchronize()

        with ThreadPoolExecutor(len(sets)) as pool:
            list(pool.map(work, range(len(sets))))
        for each in sets:
            each.check(handle)
            each.close()


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["matmul + bias + gelu", "attention"])
def test_new_threads_execute(name, handle):
    """In which no GPU is current: cuDNN launches these kernels through the driver."""
    with built(CASES[name], handle) as (graph, operands, workspace):
        pointers, plan = operands.pointers, graph.plan
        with graph.bind(operands.memory, workspace) as bound:
            ways = {
                "raw": lambda: raw.cudnnBackendExecute(handle, plan.descriptor, pack),
                "plan": lambda: plan.execute(handle, pointers, workspace),
                "bound": bound,
                "first": lambda: graph.execute(operands.memory, workspace),
                "again": lambda: graph.execute(operands.memory, workspace),
            }
            with plan.variant_pack(pointers, workspace) as pack:
                for way in ways.values():
                    operands.poison()
                    handle.synchronize()
                    with ThreadPoolExecutor(1) as thread:
                        thread.submit(way).result()
                    operands.check(handle)


@pytest.mark.gpu
@needs_precompiled_engines
def test_a_number_of_multiprocessors_computes_the_same(handle):
    with built(CASES["convolution"], handle, sm_count=8) as (graph, operands, workspace):
        assert json.loads(graph.plan.to_json())["engine"]["targetSMcount"] == 8
        graph.execute(operands.memory, workspace)
        operands.check(handle)


@pytest.mark.soak
def test_a_bound_plan_tells_its_own_workspace():
    with cudnn.use_reference_device(), cudnn.Handle() as handle, fused_product(8).graph() as graph:
        plan = graph.build(handle)
        memory = {t: cudnn.DeviceTensor.full(t.dims, 1.0, "float16") for t in graph.inputs}
        memory |= {t: cudnn.DeviceTensor.full(t.dims, np.nan, "float16") for t in graph.outputs}
        workspace = cudnn.DeviceBuffer(max(plan.workspace_size, 1))
        with graph.bind(memory, workspace) as bound:
            assert bound.workspace_size == plan.workspace_size
