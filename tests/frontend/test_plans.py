"""Choosing plans, executing graphs in the ways of 1.32, and what leads to layer 3."""

from __future__ import annotations

from typing import Any

import pytest

import cudnn_ctypes
import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import NoDeviceError, raw, use_reference_device

from .conftest import Product, randn

torch = pytest.importorskip("torch")

HALF, FLOAT = cudnn.data_type.HALF, cudnn.data_type.FLOAT
A, FALLBACK = cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK


# --- executing -----------------------------------------------------------------------------------


def test_arrays_are_operands_and_the_graph_is_built_when_it_is_executed(device):
    problem = Product(device, arrays=True)
    graph = problem.graph
    assert graph.nodes[0].inputs.keys() == {"A", "B"}
    assert [each.name for each in graph.get_inputs()] == ["product::A", "product::B"]
    graph.execute({problem.out: problem.c}, problem.workspace)
    problem.check()
    # Other memory for such an operand, by its tensor, takes the place of the array.
    problem.b = randn(4, 32, 64, device=device, dtype=torch.float16, seed=6)
    operand = graph.find_tensor("product::B")
    graph.execute({3: problem.c, operand: problem.b}, problem.workspace)
    problem.check()


def test_memory_goes_with_a_list_of_unique_ids(device):
    problem = Product(device)
    graph = problem.graph
    memory = [problem.c, problem.a, problem.b]
    graph.execute(memory, problem.workspace, tensor_uids=(3, 1, 2))
    problem.check()
    index = graph._held.plans.candidate
    graph.execute_plan_at_index(memory, problem.workspace, index, tensor_uids=[3, 1, 2])
    problem.check()
    with pytest.raises(ValueError, match="tensor_uids: one is there twice"):
        graph.execute(memory, problem.workspace, tensor_uids=[1, 1, 2])
    with pytest.raises(ValueError, match="tensor_uids: expected one unique id for each"):
        graph.execute(memory, problem.workspace, tensor_uids=[1, 2])
    with pytest.raises(ValueError, match="tensor_uids: expected one unique id for each"):
        graph.execute({1: problem.a}, problem.workspace, tensor_uids=[1])


def test_a_workspace_for_other_dims(device):
    problem = Product(device, is_override_shape_enabled=True, is_dynamic_shape_enabled=True)
    graph = problem.graph
    try:
        graph.build()
    except cudnn.cudnnGraphNotSupportedError as error:
        pytest.skip(f"no engine of this cuDNN takes other dims: {error}"[:160])
    other = {
        "override_uids": [1, 2, 3],
        "override_shapes": [[2, 64, 32], [2, 32, 64], [2, 64, 64]],
        "override_strides": [[2048, 32, 1], [2048, 64, 1], [4096, 64, 1]],
    }
    size, index = graph.get_workspace_size(**other), graph._held.plans.candidate
    assert 0 <= size <= 16 << 20
    assert device == "cuda" or size == graph.get_workspace_size()
    assert graph.get_workspace_size_plan_at_index(index, None, **other) == size


@pytest.mark.usefixtures("reference_device")
def test_a_plan_for_fixed_shapes_has_no_workspace_for_others():
    graph = Product("cpu").graph
    graph.build()
    with pytest.raises(ValueError, match="built for fixed shapes"):
        graph.get_workspace_size(None, [1], [[2, 64, 32]], [[2048, 32, 1]])


# --- choosing ------------------------------------------------------------------------------------


def test_an_engine_with_its_knobs_is_built(device):
    graph = Product(device).graph
    graph.create_execution_plans([A])
    engine, knobs = graph.get_engine_and_knobs_at_index(0)
    ranges = {each.type: each for each in graph.get_knobs_for_engine(engine)}
    for kind, value in knobs.items():
        assert isinstance(kind, cudnn.knob_type)
        assert ranges[kind].min_value <= value <= ranges[kind].max_value
        assert ranges[kind].stride >= 1
    with pytest.raises(ValueError, match="has no knob"):
        graph.create_execution_plan(engine, {cudnn.knob_type.EDGE: 0})
    name = graph.get_plan_name_at_index(0)

    again = Product(device)
    other = again.graph.create_execution_plan(engine, knobs)
    assert other.get_execution_plan_count() == 1
    assert other.get_plan_name_at_index(0) == name
    assert other.get_engine_and_knobs_at_index(0) == (engine, knobs)
    other.build_plan_at_index(0)
    other.execute_plan_at_index(again.memory, again.workspace, 0)
    again.check()


def test_the_plans_of_a_graph_are_listed(device):
    graph = Product(device).graph
    assert graph.plans == graph.backend_plan_entries() == []
    graph.create_execution_plans([A])
    first = graph.get_execution_plan_count()
    graph.create_execution_plans([FALLBACK])
    rest = graph.get_execution_plan_count() - first
    assert [each.mode for each in graph.plans] == [A] * first + [FALLBACK] * rest
    assert min(first, rest) > 0
    for index, each in enumerate(graph.plans):
        assert each.cpp_index == index
        assert graph.get_engine_and_knobs_at_index(index) == (each.engine_id, each.knobs)
        numbers = {raw.cudnnBackendKnobType_t[f"CUDNN_KNOB_TYPE_{k.name}"]: k for k in each.knobs}
        knobs = [f"_k{int(number)}={each.knobs[kind]}" for number, kind in numbers.items()]
        assert graph.get_plan_name_at_index(index) == f"eng{each.engine_id}{''.join(knobs)}"
    assert graph.plans == graph.backend_plan_entries()
    assert graph.selected_engine is None


def test_a_plan_that_is_selected_is_built_or_none(device):
    problem = Product(device)
    graph = problem.graph
    graph.create_execution_plans([A, FALLBACK])
    last = graph.get_execution_plan_count() - 1
    for index in range(last, -1, -1):
        try:
            assert graph.select_plan(index) is graph
            graph.build_plans()
        except cudnn.cudnnGraphNotSupportedError:
            continue
        assert graph._held.plans.candidate == index
        break
    else:
        raise AssertionError("no plan can be built")
    graph.execute(problem.memory, problem.workspace)
    problem.check()
    graph.deselect_engines([graph.get_plan_name_at_index(index)]).select_plan(index)
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="deselected by its name"):
        graph.build_plans()
    with pytest.raises(RuntimeError, match=f"there is no plan {last + 1}"):
        graph.select_plan(last + 1)


# --- refusals ------------------------------------------------------------------------------------


def heads(graph: Any, count: int) -> list[Any]:
    return [graph.tensor([2, 4, 64, 64], [16384, 4096, 64, 1]) for _ in range(count)]


def moe_combine(graph: Any) -> None:
    token, weight = graph.tensor([1, 64, 32]), graph.tensor([4, 32, 16])
    mode = cudnn.moe_grouped_matmul_mode.COMBINE
    graph.moe_grouped_matmul(token, weight, graph.tensor([4, 1, 1]), mode=mode)


def moe_scores(graph: Any) -> None:
    token, weight = graph.tensor([1, 64, 32]), graph.tensor([4, 32, 16])
    scores = graph.tensor([1, 32, 2])
    graph.moe_grouped_matmul(token, weight, graph.tensor([4, 1, 1]), top_k_scores=scores)


def fp8(graph: Any, **options: Any) -> None:
    given = {name: value(graph) if callable(value) else value for name, value in options.items()}
    graph.sdpa_fp8(*heads(graph, 9), generate_stats=True, **given)


def sums(graph: Any) -> Any:
    return graph.tensor([3, 1, 1, 1], data_type=cudnn.data_type.INT32)


# By the names under which it is listed.
REFUSED = {
    "moe_grouped_matmul_mode.COMBINE": moe_combine,
    "pygraph.moe_grouped_matmul(top_k_scores)": moe_scores,
    "pygraph.sdpa_mxfp8": lambda g: g.sdpa_mxfp8(*heads(g, 6), generate_stats=False),
    "pygraph.sdpa_mxfp8_backward": lambda g: g.sdpa_mxfp8_backward(*heads(g, 17)),
    "pygraph.sdpa(stats_use_log2)": lambda g: g.sdpa(
        *heads(g, 3), generate_stats=True, stats_use_log2=True
    ),
    "pygraph.sdpa_fp8(stats_use_log2)": lambda g: fp8(g, stats_use_log2=True),
    "pygraph.sdpa_fp8(cu_seq_len_q)": lambda g: fp8(g, cu_seq_len_q=sums),
    "pygraph.sdpa_fp8(cu_seq_len_kv)": lambda g: fp8(g, cu_seq_len_kv=sums),
    "pygraph.sdpa_fp8(implementation)": lambda g: fp8(
        g, implementation=cudnn.attention_implementation.UNIFIED
    ),
}


def test_what_is_refused_is_listed_and_the_other_way_round():
    assert set(REFUSED) == set(cudnn.left_out.REFUSED)


@pytest.mark.usefixtures("reference_device")
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_carried_out_is_refused_by_validate(case):
    graph = cudnn.pygraph(io_data_type=HALF)
    REFUSED[case](graph)
    for step in (graph.validate, graph.build_operation_graph, graph.build):
        with pytest.raises(cudnn.cudnnGraphNotSupportedError) as refused:
            step()
        assert "cuDNN:" not in str(refused.value)
        assert "cudnn_ctypes:" in str(refused.value)


@pytest.mark.usefixtures("reference_device")
@pytest.mark.parametrize("backward", [False, True])
def test_an_operation_without_engine_is_refused_when_plans_are_asked_for(backward):
    graph = cudnn.pygraph(io_data_type=HALF, compute_data_type=FLOAT)
    x, freqs = graph.tensor([1, 2, 64, 64]), graph.tensor([1, 1, 64, 64], data_type=FLOAT)
    rotate = graph.rope_backward if backward else graph.rope
    rotate(x, freqs, rope_dim=32, output_scale=2.0).set_output(True).set_data_type(HALF)
    graph.validate()
    assert graph.nodes[0].params == {"output_scale": 2.0, "rope_dim": 32}
    assert cudnn.backend_version() < 92400 or graph.build_operation_graph() is None
    with pytest.raises(cudnn.cudnnGraphNotSupportedError):
        graph.create_execution_plans([A, FALLBACK])


# --- handles and GPUs ----------------------------------------------------------------------------


def test_a_handle_knows_its_gpu(device):
    handle = cudnn.create_handle()
    gpu = handle.device
    assert isinstance(gpu, cudnn.DeviceInfo)
    found = (gpu.device_name, gpu.compute_capability, gpu.sm_count)
    if device == "cuda":
        properties = torch.cuda.get_device_properties(gpu.ordinal)
        capability = (properties.major, properties.minor)
        assert found == (properties.name, capability, properties.multi_processor_count)
    else:
        assert found == ("NVIDIA A100-SXM4-80GB", (8, 0), 108)
        assert (gpu.sm_version, gpu.l2_cache_bytes) == (80, 40 << 20)
        assert gpu.shared_memory_per_block_optin == 163 << 10
        assert gpu.oversized_shared_memory_per_block == 0
    assert repr(gpu) == "DeviceInfo(cuda:0)"
    cudnn.destroy_handle(handle)
    assert repr(handle) == "cudnn.Handle(destroyed)"


@pytest.mark.usefixtures("reference_device")
def test_a_handle_goes_by_its_address_and_to_layer_1_too():
    handle = cudnn.create_handle()
    cudnn.set_stream(handle.backend_handle, 0)
    assert (handle.stream, cudnn.get_stream(handle)) == (0, 0)
    stream = cudnn_ctypes.raw.cudaStream_t()
    cudnn_ctypes.raw.cudnnGetStream(handle, stream)
    with pytest.raises(TypeError, match=r"owner: expected a .*Handle, got 4660"):
        cudnn.Handle(0x1234)
    cudnn.destroy_handle(handle.backend_handle)
    assert handle.backend_handle is None


# --- CUDA graphs ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("reference_device")
def test_how_cuda_graphs_keep_plans(monkeypatch):
    retention = cudnn.cuda_graph_retention
    monkeypatch.delenv("CUDNN_CUDA_GRAPH_RETENTION", raising=False)
    assert cudnn.pygraph().get_cuda_graph_retention() is retention.PER_GRAPH
    graph = Product("cpu", cuda_graph_retention=retention.NONE).graph
    assert graph.get_cuda_graph_retention() is retention.NONE
    graph.build()
    if cudnn.backend_version() >= 92800:
        kept = graph._plan(None).descriptor.get("cuda_graph_retention")
        assert kept == cudnn_ctypes.raw.CUDNN_CUDA_GRAPH_RETENTION_NONE
    monkeypatch.setenv("CUDNN_CUDA_GRAPH_RETENTION", "None")
    assert cudnn.pygraph().get_cuda_graph_retention() is retention.NONE
    given = cudnn.pygraph(cuda_graph_retention=retention.PER_GRAPH)
    assert given.get_cuda_graph_retention() is retention.PER_GRAPH
    monkeypatch.setenv("CUDNN_CUDA_GRAPH_RETENTION", "always")
    with pytest.raises(ValueError, match="'always': expected per_graph or none"):
        cudnn.pygraph()
    with pytest.raises(TypeError, match="cuda_graph_retention: expected a cuda_graph_retention"):
        cudnn.pygraph(cuda_graph_retention="none")


# --- layer 3 -------------------------------------------------------------------------------------


def test_explanations_are_those_of_layer_3(device):
    graph = Product(device).graph
    rows = graph.explain(heuristics="a")
    assert {row.state for row in rows} & {"works", "accepted"} or len(rows) > 0
    layer_3 = cudnn_ctypes.Graph.from_json(graph.to_json())
    with cudnn_ctypes.Handle() as handle:
        expected = layer_3.explain(handle, "a")
    assert [row.engine for row in rows] == [row.engine for row in expected]
    properties = cudnn_ctypes.DeviceProperties.preset("h200")
    assert "H200" in str(graph.explain(properties, heuristics="a"))


@pytest.mark.usefixtures("reference_device")
def test_nothing_is_measured_on_the_reference_device():
    with pytest.raises(NoDeviceError):
        Product("cpu").graph.autotune()


@pytest.mark.gpu
def test_the_fastest_plan_is_executed():
    with use_reference_device(False):
        problem = Product("cuda")
        graph = problem.graph
        measured = graph.autotune(problem.memory, runs=3, progress=False)
        best = graph.get_engine_and_knobs_at_index(graph._held.plans.candidate)
        assert best[0] == measured.best.engine
        problem.c.fill_(float("nan"))
        graph.execute(problem.memory, problem.workspace)
        problem.check()
