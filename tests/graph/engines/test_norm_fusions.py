"""Norms with element-wise operations after them: compiled without a driver, run in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceBuffer,
    DeviceProperties,
    DeviceTensor,
    Graph,
    Handle,
    use_reference_device,
)
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.errors import NotSupportedError
from cudnn_ctypes.graph.engines.refusals import ONLY_THERE

from ..cases import problem, stored
from ..families import CASES

FUSED = [
    name
    for name, case in CASES.items()
    if case.here and name.startswith(("layer norm + z", "rms norm *", "batch norm +"))
]

without_driver = pytest.mark.skipif(
    not ensure_driver().is_stub, reason="there is an NVIDIA driver here, which answers"
)


@pytest.fixture
def handle() -> Iterator[Handle]:
    with use_reference_device(), Handle() as made:
        yield made


def test_the_cases_are_there() -> None:
    assert len(FUSED) >= 7


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", FUSED)
def test_plans_of_fused_norms_run_on_the_reference_device(name: str, handle: Handle) -> None:
    case = CASES[name]
    with case.graph() as graph:
        graph.build(handle)
        inputs, expected = problem(case, graph)
        memory: dict[Any, Any] = {}
        for tensor in (*graph.inputs, *graph.outputs):
            values = inputs.get(tensor.name)
            array = stored(np.full(tensor.dims, 77.0), tensor) if values is None else values
            memory[tensor] = DeviceTensor.from_numpy(
                array, dtype=tensor.data_type, strides=tensor.strides
            )
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            graph.execute(memory, workspace)
        for tensor in graph.outputs:
            exact = expected[tensor.name]
            error = np.abs(memory[tensor].numpy().astype(np.float64) - exact).max()
            assert error <= case.tolerance * np.abs(exact).max(), tensor.name


def test_a_fused_norm_has_its_kernel_in_the_plan(h200: DeviceProperties) -> None:
    with CASES["layer norm + z, relu, training, float16"].graph() as graph:
        plan = graph.build(h200)
        assert "runtime_compilation" in plan.behavior_notes
        text = plan.to_json()
        assert len(text) > 20_000  # of which all but 2,000 are machine code
        graph.load_plan(text, h200)


# --- engines that ask the GPU itself -------------------------------------------------------------


@without_driver
def test_engines_that_ask_the_gpu_are_neither_refused_nor_compiled(h200: DeviceProperties) -> None:
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


@without_driver
def test_a_failed_build_names_engines_that_may_do_it_where_the_gpu_is() -> None:
    """A T4 has no engine for bfloat16 that can be compiled here; two ask the GPU."""
    with DeviceProperties.preset("T4") as t4, Graph(io_data_type="bfloat16") as graph:
        x, scale = graph.tensor((64, 512, 1, 1)), graph.tensor((1, 512, 1, 1))
        y, _ = graph.rmsnorm("inference", x, scale, None, 1e-5)
        graph.mul(y, graph.tensor((1, 1, 1, 1), data_type="float32")).set_output(
            data_type="fp8_e4m3"
        )
        with pytest.raises(NotSupportedError, match=f"engine 2, 3: {ONLY_THERE}"):
            graph.build(t4)


@without_driver
def test_an_engine_of_cublas_asks_the_gpu_too(h200: DeviceProperties) -> None:
    with CASES["matmul"].graph() as graph:
        told = graph.explain(h200)
    reasons = [reason for reason in told.reasons() if "cublas" in reason.lower()]
    asking = [row for row in told.undecided if "create_cublas_handle" in " ".join(row.messages)]
    assert asking
    assert reasons
    for reason in reasons:
        assert reason.startswith(ONLY_THERE)
