"""Plans of the backend layer execute, and give what the reference gives."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import ClosedError, DeviceBuffer, DeviceTensor, Handle, raw
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.engines.heuristics import heuristics
from cudnn_ctypes.graph.run.plan import ExecutionPlan
from cudnn_ctypes.reference.convolution import convolution_forward

from ..graphs import W, X, Y

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu_device")]

N, C, H, K = 4, 32, 14, 64


@pytest.fixture
def handle():
    with Handle() as made:
        yield made


class Problem:
    """Operands of one convolution on the device, and what y must become."""

    def __init__(self, *, relu: bool = False) -> None:
        rng = np.random.default_rng(11)
        x = rng.standard_normal((N, C, H, H)).astype(np.float16)
        w = (rng.standard_normal((K, C, 3, 3)) / 17).astype(np.float16)
        y = convolution_forward(x.astype(np.float64), w.astype(np.float64), padding=[1, 1])
        self.expected = np.maximum(y, 0) if relu else y
        self.x = DeviceTensor.from_numpy(x, layout="NHWC")
        self.w = DeviceTensor.from_numpy(w, layout="NHWC")
        self.renew()

    def renew(self) -> None:
        """A new y, full of NaN."""
        self.y = DeviceTensor.full((N, K, H, H), np.nan, "float16", layout="NHWC")

    @property
    def pointers(self) -> dict[int, DeviceTensor]:
        return {X: self.x, W: self.w, Y: self.y}

    def check(self, handle: Handle) -> None:
        handle.synchronize()
        got = self.y.numpy().astype(np.float64)
        # Products of fp16 are exact in fp32; one rounding to fp16 at the end, or a few in sums.
        np.testing.assert_allclose(got, self.expected, rtol=4e-3, atol=4e-3)


def workspace_for(plan: ExecutionPlan) -> DeviceBuffer | None:
    return DeviceBuffer(plan.workspace_size) if plan.workspace_size else None


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("with_properties", [False, True])
def test_the_first_configs_give_what_the_reference_gives(relu, with_properties, made, handle):
    # Without properties cuDNN learns of the GPU from the handle of the operation graph.
    known = None if with_properties else handle
    graph = made.convolution((N, C, H, H), K, relu=relu, handle=known)
    device = DeviceProperties.from_device(handle=handle) if with_properties else handle
    problem = Problem(relu=relu)
    for config in heuristics(graph, device=device)[:3]:
        problem.renew()
        with ExecutionPlan(config, device=device) as plan:
            plan.execute(handle, problem.pointers, workspace_for(plan))
            problem.check(handle)


def test_a_bound_plan_executes_again_and_again(made, handle):
    properties = DeviceProperties.from_device(handle=handle)
    graph = made.convolution((N, C, H, H), K)
    problem = Problem()
    with (
        ExecutionPlan(heuristics(graph, device=properties)[0], device=properties) as plan,
        plan.bind(handle, problem.pointers, workspace_for(plan)) as bound,
    ):
        bound()
        problem.check(handle)
        if raw.load().version >= 92300:
            assert bound.workspace_size <= plan.workspace_size
        problem.x = problem.w = None
        bound.execute()
        problem.check(handle)
    with pytest.raises(ClosedError):
        bound()


def test_a_fused_plan_from_json_executes(made, handle):
    properties = DeviceProperties.from_device(handle=handle)
    graph = made.convolution((N, C, H, H), K, relu=True)
    problem = Problem(relu=True)
    with ExecutionPlan(heuristics(graph, device=properties)[0], device=properties) as plan:
        stored = plan.to_json()
    with ExecutionPlan.from_json(stored, device=handle) as plan:
        plan.execute(handle, problem.pointers, workspace_for(plan))
        problem.check(handle)


def test_a_missing_operand_is_refused(made, handle):
    properties = DeviceProperties.from_device(handle=handle)
    graph = made.convolution((N, C, H, H), K)
    problem = Problem()
    with ExecutionPlan(heuristics(graph, device=properties)[0], device=properties) as plan:
        some = {X: problem.x, Y: problem.y}
        with pytest.raises(ValueError, match=f"for the tensors with uid {W}"):
            plan.execute(handle, some, workspace_for(plan))


def test_only_plans_are_executed(made, handle):
    graph = made.convolution((N, C, H, H), K)
    with pytest.raises(TypeError, match="only an execution_plan can be executed"):
        graph.execute(handle, graph)
    with (
        BackendDescriptor("execution_plan") as plan,
        pytest.raises(TypeError, match="variant_pack: expected a variant_pack"),
    ):
        plan.execute(handle, graph)
