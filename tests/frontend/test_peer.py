"""The same programs with NVIDIA's front end and with ours, in one process: the same numbers.

Its wheel, nvidia-cudnn-frontend, is no dependency: without it these tests are skipped.
"""

from __future__ import annotations

import warnings
import zlib
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes.frontend as ours
from cudnn_ctypes.errors import FaultWarning

from .peer_graphs import PEER_GRAPHS, PeerGraph

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu_device")]

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def peer():
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no GPU")
    torch.nn.functional.conv2d(*(torch.zeros(1, 1, 3, 3, device="cuda") for _ in range(2)))
    module = pytest.importorskip("cudnn", reason="nvidia-cudnn-frontend is not installed")
    if not hasattr(module, "pygraph"):
        pytest.skip("the module cudnn is not NVIDIA's front end")
    if module.backend_version() != ours.backend_version():
        pytest.skip(f"it uses cuDNN {module.backend_version()}, we {ours.backend_version()}")
    return module


class Inputs:
    """Random memory by name, the same for both runs of a program."""

    def __init__(self, io: str) -> None:
        self.io = io
        self.memory: dict[str, Any] = {}

    def __call__(self, name: str, dims: tuple[int, ...], **options: Any) -> Any:
        if name not in self.memory:
            self.memory[name] = self._new(name, dims, **options)
        return self.memory[name]

    def _new(
        self,
        name: str,
        dims: tuple[int, ...],
        *,
        channels_last: bool = False,
        tokens_first: bool = False,
        data_type: str | None = None,
        low: float | None = None,
        high: float | None = None,
        value: float | None = None,
        not_finite: bool = False,
    ) -> Any:
        dtype = getattr(torch, data_type or self.io)
        if value is not None:
            return torch.full(dims, value, dtype=dtype)
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        if low is None:
            values = rng.standard_normal(dims)
        else:
            values = rng.uniform(low, high, dims)
        if not_finite:
            values.flat[:4] = (np.nan, -np.nan, np.inf, -np.inf)
        order = [0, *range(2, len(dims)), 1] if channels_last else list(range(len(dims)))
        order = [0, 2, 1, 3] if tokens_first else order
        back = np.argsort(order).tolist()
        memory = torch.tensor(np.ascontiguousarray(values.transpose(order)))
        return memory.to("cuda", dtype).permute(back)


class Run:
    """One program built and executed with one module."""

    def __init__(self, module: Any, case: PeerGraph, inputs: Inputs, handle: Any) -> None:
        kind = module.data_type
        own = getattr(torch, case.io)
        io = next(getattr(kind, name) for name, dtype in DTYPES.items() if dtype is own)
        self.graph = module.pygraph(
            io_data_type=io,
            intermediate_data_type=kind.FLOAT,
            compute_data_type=kind.FLOAT,
            handle=handle,
        )
        memory: dict[Any, Any] = {}

        def new(name: str, dims: tuple[int, ...], **options: Any) -> Any:
            given = inputs(name, dims, **options)
            tensor = self.graph.tensor(
                name=name,
                dim=list(dims),
                stride=list(given.stride()),
                data_type=given.dtype,
                is_pass_by_value="value" in options,
            )
            memory[tensor] = given
            return tensor

        outputs = case.describe(module, self.graph, new)
        for each in outputs.values():
            each.set_output(True)
        self.graph.validate()
        self.graph.build_operation_graph()
        self.graph.create_execution_plans([module.heur_mode.A, module.heur_mode.FALLBACK])
        self.graph.check_support()
        self.graph.build_plans()
        self.plan = self.graph.get_plan_name_at_index(0)
        self.layouts = {
            name: (each.get_dim(), _strides(each), each.get_data_type().name)
            for name, each in outputs.items()
        }
        self.memory = memory
        self.outputs = outputs

    def execute(self) -> dict[str, Any]:
        results = {}
        for name, each in self.outputs.items():
            dtype = DTYPES[each.get_data_type().name]
            poisoned = torch.empty_strided(each.get_dim(), each.get_stride(), dtype=dtype)
            results[name] = poisoned.to("cuda").fill_(float("nan"))
        size = max(self.graph.get_workspace_size(), 1)
        workspace = torch.empty(size, dtype=torch.uint8, device="cuda")
        memory = {**self.memory, **{self.outputs[name]: each for name, each in results.items()}}
        self.graph.execute(memory, workspace)
        torch.cuda.synchronize()
        return {name: each.double().cpu().numpy() for name, each in results.items()}


def _strides(tensor: Any) -> list[int | None]:
    """Those that lead to another element."""
    along = zip(tensor.get_dim(), tensor.get_stride(), strict=True)
    return [stride if dim > 1 else None for dim, stride in along]


DTYPES = {
    "HALF": torch.float16,
    "BFLOAT16": torch.bfloat16,
    "FLOAT": torch.float32,
    "FP8_E4M3": torch.float8_e4m3fn,
}


@pytest.mark.parametrize("name", PEER_GRAPHS)
def test_the_same_numbers(name, peer, record_property):
    case = PEER_GRAPHS[name]
    inputs = Inputs(case.io)
    handles = {module: module.create_handle() for module in (peer, ours)}
    try:
        try:
            theirs = Run(peer, case, inputs, handles[peer])
        except peer.cudnnGraphNotSupportedError as error:
            pytest.skip(f"NVIDIA's front end cannot build it with this cuDNN: {error}"[:160])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", FaultWarning)
                mine = Run(ours, case, inputs, handles[ours])
        except FaultWarning as warning:
            pytest.skip(str(warning)[:160])
        except ours.cudnnGraphNotSupportedError as error:
            if "known fault" not in str(error):
                raise
            pytest.skip(f"cuDNN computes it wrong: {error}"[:160])
        assert mine.layouts == theirs.layouts
        expected, got = theirs.execute(), mine.execute()
        chosen = mine.graph._held.plans
        notes = chosen.config(chosen.candidate).numerical_notes
    finally:
        for module, handle in handles.items():
            module.destroy_handle(handle)
    same_bits = all(np.array_equal(got[key], expected[key], equal_nan=True) for key in got)
    record_property("same plan", mine.plan == theirs.plan)
    record_property("same bits", same_bits)
    for key in got:
        finite = np.isfinite(expected[key])
        np.testing.assert_array_equal(np.isfinite(got[key]), finite)
        numbers = expected[key][finite]
        error = np.abs(got[key][finite] - numbers).max()
        assert error <= case.tolerance * np.abs(numbers).max(), key
    if mine.plan == theirs.plan and not case.in_any_order and "nondeterministic" not in notes:
        assert same_bits, "the same engine, and other bits"
