"""Graphs with dynamic shapes share the kernels that were compiled for the first of them."""

from __future__ import annotations

import json

import pytest

from cudnn_ctypes import DeviceBuffer, Handle, SymbolNotFoundError, raw, use_reference_device
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.run.kernel_cache import KernelCache
from cudnn_ctypes.graph.run.plan import ExecutionPlan

from ..cases import Operands, check
from ..matmul_cases import fused_product

NUMBER_OF_ENTRIES = 92700  # since when cuDNN tells it
OVERRIDES = 92100
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
def test_only_the_first_shape_is_compiled(h200: DeviceProperties) -> None:
    cache = KernelCache()
    assert repr(cache) == "KernelCache(empty)"
    with pytest.raises(ValueError, match="this kernel cache is empty"):
        cache.to_json()
    assert cache.entry_count == cache.revision == 0
    kernels = set()
    with cache:
        for m in SIZES:
            with fused_product(m).graph() as graph:
                plan = graph.build(h200, kernel_cache=cache)
                stored = json.loads(plan.to_json())
                assert stored["operationGraph"]["isDynamicShapeEnabled"] is True
                kernels.add(_kernel(plan))
                assert _counts(cache) == (1, 1)
        assert len(kernels) == 1
        text = cache.to_json()
    assert repr(cache) == "KernelCache(closed)"
    with KernelCache(text) as again, fused_product(40).graph() as graph:
        assert _kernel(graph.build(h200, kernel_cache=again)) in kernels


def test_without_a_cache_shapes_are_fixed(a100: DeviceProperties) -> None:
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
def test_damaged_caches(text: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        KernelCache(text)


def test_a_cache_that_cudnn_does_not_take(a100: DeviceProperties) -> None:
    with KernelCache() as cache, fused_product(64).graph() as graph:
        graph.build(a100, kernel_cache=cache)
        stored = json.loads(cache.to_json())
        del stored["sha256"]
    stored["operationGraph"]["nodes"][0]["operation"] = "CUDNN_X"
    with pytest.raises(ValueError, match="cuDNN does not take this kernel cache"):
        KernelCache(json.dumps(stored))
    stored["operationGraph"]["tensors"][0]["dim"][0] = 0
    with pytest.raises(ValueError, match=r"tensors\[0\]\.dim\[0\]: expected an integer from 1"):
        KernelCache(json.dumps(stored))


@pytest.mark.soak
def test_shapes_that_change_at_execution_need_a_newer_cudnn(a100: DeviceProperties) -> None:
    with fused_product(64).graph() as graph:
        if raw.load().version < OVERRIDES:
            with pytest.raises(SymbolNotFoundError, match=r"override_shape.* needs cuDNN 9\.21"):
                graph.build(a100, override_shapes=True)
        else:
            stored = json.loads(graph.build(a100, override_shapes=True).to_json())
            assert stored["operationGraph"]["isOverrideShapeEnabled"] is True


def test_other_shapes_are_refused_where_they_mean_nothing(a100: DeviceProperties) -> None:
    with fused_product(64).graph() as graph:
        graph.build(a100)
        memory = {"a": 1 << 20, "b": 2 << 20, "bias": 3 << 20, "c": 4 << 20}
        with pytest.raises(ValueError, match=r"a' .4, 64, 128.: expected as many dims, positive"):
            graph.bind(memory, dims={"a": (4, 32)}, handle=None)
        plan, uids = graph.plan, sorted(graph.plan.uids)
        with pytest.raises(ValueError, match="this plan was built for fixed shapes"):
            plan.variant_pack(dict.fromkeys(uids, 1 << 20), shapes={uids[0]: ((1, 8), (8, 1))})


@pytest.mark.needs("CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED")
def test_other_shapes_in_a_variant_pack(a100: DeviceProperties) -> None:
    with fused_product(64).graph() as graph:
        plan = graph.build(a100, override_shapes=True)
        pointers = dict.fromkeys(plan.uids, 1 << 20)
        shapes = {1: ((4, 32, 128), (4096, 128, 1)), 6: ((4, 32, 256), (8192, 256, 1))}
        with plan.variant_pack(pointers, shapes=shapes) as pack:
            assert pack.finalized
    with (
        BackendDescriptor("variant_pack") as pack,
        pytest.raises(TypeError, match=r"override_shapes: expected a list of lists of int, got 5"),
    ):
        pack["override_shapes"] = 5
    with (
        BackendDescriptor("variant_pack") as pack,
        pytest.raises(TypeError, match=r"override_strides\[0\]\[1\]: .*'x'"),
    ):
        pack["override_strides"] = [[1, "x"]]


@pytest.mark.soak
@pytest.mark.needs("cudnnGetExecutionPlanWorkspaceSize")
def test_a_workspace_for_other_shapes_on_the_reference_device() -> None:
    with use_reference_device(), fused_product(64).graph() as graph, Handle() as handle:
        plan = graph.build(handle, override_shapes=True)
        shapes = {1: ((4, 32, 128), (4096, 128, 1)), 6: ((4, 32, 256), (8192, 256, 1))}
        assert plan.workspace_size_for(handle, shapes) == plan.workspace_size
        graph.build(handle)
        with pytest.raises(ValueError, match="this plan was built for fixed shapes"):
            graph.plan.workspace_size_for(handle, shapes)


@pytest.mark.gpu
def test_one_kernel_computes_all_shapes(handle: Handle) -> None:
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
def test_one_plan_computes_other_shapes(handle: Handle) -> None:
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
def test_a_workspace_for_other_shapes_suffices(handle: Handle) -> None:
    with fused_product(64).graph() as graph:
        plan = graph.build(handle, override_shapes=True)
        full = Operands(fused_product(64), graph)
        dims = {"a": (4, 32, 128), "c": (4, 32, 256)}
        uids = {each.name: each.uid for each in graph.tensors}
        shapes = {
            uids["a"]: (dims["a"], (4096, 128, 1)),
            uids["c"]: (dims["c"], (8192, 256, 1)),
        }
        needed = plan.workspace_size_for(handle, shapes)
        assert 0 <= needed <= max(plan.workspace_size, 1 << 20)
        memory = {each.name: full.memory[each] for each in full.memory}
        with DeviceBuffer(max(needed, plan.workspace_size, 1)) as workspace:
            graph.execute(memory, workspace, dims=dims)
        handle.synchronize()
        full.close()
