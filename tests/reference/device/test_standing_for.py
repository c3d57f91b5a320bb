"""The reference device in the place of GPUs other than its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle
from cudnn_ctypes.evidence.atlas.measuring import shapes
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.raw import mode
from cudnn_ctypes.reference.device.made_up_handles import gpu_of


def _nvfp4() -> cudnn.Graph:
    return shapes()["product nvfp4"]()


def _product() -> cudnn.Graph:
    graph = cudnn.Graph("product", io_data_type="float16")
    a, b = graph.tensor((1, 64, 64), name="a"), graph.tensor((1, 64, 64), name="b")
    graph.matmul(a, b).set_output(name="y")
    return graph


def test_engines_are_those_of_the_gpu_named() -> None:
    with cudnn.use_reference_device(device="B200"), Handle() as handle, _nvfp4() as graph:
        assert graph.build(handle).config.choice.engine >= 0
        assert graph.explain(handle).usable
    with (
        cudnn.use_reference_device(device="h200"),
        Handle() as handle,
        _nvfp4() as graph,
        pytest.raises(cudnn.NotSupportedError),
    ):
        graph.build(handle)


def test_handles_keep_their_gpu() -> None:
    with (
        cudnn.use_reference_device(device="B200"),
        Handle() as blackwell,
        cudnn.use_reference_device(device="t4"),
        Handle() as turing,
    ):
        assert Target.of(turing).capability == 75
        assert Target.of(blackwell).capability == 100
        with cudnn.DeviceProperties.from_device(handle=blackwell) as properties:
            assert properties.name == "NVIDIA B200"
        with _nvfp4() as graph:
            graph.build(blackwell)
            with pytest.raises(cudnn.NotSupportedError):
                graph.build(turing)


@pytest.mark.soak
def test_numbers_are_the_same_whatever_it_stands_for(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((1, 64, 64)).astype(np.float16) for _ in range(2))
    path = tmp_path / "gpu.json"
    with cudnn.DeviceProperties.preset("rtx 5090") as rtx:
        rtx.to_json(path)
        for device in ("b200", "T4", path, rtx):
            with cudnn.use_reference_device(device=device), Handle() as handle, _product() as graph:
                graph.build(handle)
                y = DeviceTensor.full((1, 64, 64), np.nan, "float16")
                memory = {"a": DeviceTensor.from_numpy(a), "b": DeviceTensor.from_numpy(b), "y": y}
                with cudnn.DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
                    graph.execute(memory, workspace)
                exact = a.astype(np.float64) @ b.astype(np.float64)
                np.testing.assert_allclose(y.numpy(), exact, rtol=1e-3, atol=2e-2)


@pytest.mark.parametrize(
    ("device", "error", "says"),
    [
        ("B20", ValueError, "no preset for 'B20'; did you mean 'b200'"),
        ("no.json", ValueError, "no.json: it cannot be read"),
        (0, TypeError, "expected the name of a GPU, a file, JSON text or a mapping, got 0"),
        ({"name": "x"}, ValueError, "these are no device properties"),
    ],
)
def test_wrong_devices(device: object, error: type[Exception], says: str) -> None:
    before = mode.runtime.on_host, mode.reference_gpu
    with pytest.raises(error, match=says):
        cudnn.use_reference_device(device=device)
    assert (mode.runtime.on_host, mode.reference_gpu) == before


def test_a_handle_that_is_gone_stands_for_nothing() -> None:
    with cudnn.use_reference_device():
        handle = Handle()
        address = handle._as_parameter_.value
        assert address is not None
        assert gpu_of(address)["deviceName"] == "NVIDIA H200"
        handle.close()
        with pytest.raises(cudnn.ClosedError, match="was destroyed"):
            gpu_of(address)
