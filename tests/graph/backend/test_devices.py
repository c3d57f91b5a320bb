"""What is accepted where a GPU is wanted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from programs import run_program

import cudnn_ctypes as cudnn
from cudnn_ctypes import Handle, frontend, raw
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.absent_gpu.properties import presets
from cudnn_ctypes.errors import CudnnError, NoDeviceError
from cudnn_ctypes.graph.backend.device_properties import as_device, as_properties
from cudnn_ctypes.graph.lower.lowering import lowered
from cudnn_ctypes.graph.lower.target import Target


def _product() -> cudnn.Graph:
    graph = cudnn.Graph("product", io_data_type="float16")
    graph.matmul(graph.tensor((2, 64, 64)), graph.tensor((2, 64, 64))).set_output(name="y")
    return graph


ENTRIES: dict[str, Callable[[cudnn.Graph, Any], object]] = {
    "build": lambda g, device: g.build(device),
    "explain": lambda g, device: g.explain(device, "a"),
    "expansion": lambda g, device: g.expansion(device),
    "engine_count": lambda g, device: g.engine_count(device),
    "engine": lambda g, device: g.engine(device, 0),
    "load_plan": lambda g, device: g.load_plan("{}", device),
    "compile_graphs": lambda g, device: cudnn.compile_graphs([g], device),
    "stored plan": lambda g, device: cudnn.ExecutionPlan.from_json("{}", device=device),
    "Target": lambda g, device: Target.of(device),
    "heuristics": lambda g, device: _heuristics(g, device),
    "frontend": lambda g, device: frontend.pygraph(device_property=device),
}


def _heuristics(graph: cudnn.Graph, device: Any) -> None:
    with cudnn.DeviceProperties.preset("H200") as h200, lowered(graph.expansion(h200), h200) as low:
        cudnn.heuristics(low.graph, device=device)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_wrong_name_is_refused_with_those_that_are_like_it(entry):
    with (
        _product() as graph,
        pytest.raises(ValueError, match="no preset for 'H20'; did you mean 'h200'"),
    ):
        ENTRIES[entry](graph, "H20")


def test_here_is_the_gpu_of_this_machine():
    with cudnn.use_reference_device(device="B200"):
        here = as_properties("here")
        assert here is as_properties("b200")
        with Handle() as handle:
            assert as_device(handle) is handle


@pytest.mark.soak
def test_the_gpu_that_is_asked_about_first_decides_nothing_about_others():
    """A T4, which has no TF32, and then an H200 in one process."""
    program = """
        import sys
        from cudnn_ctypes import Graph
        for name in sys.argv[1:]:
            product = Graph(io_data_type="float16")
            a, b = product.tensor((1, 64, 64)), product.tensor((1, 64, 64))
            product.relu(product.matmul(a, b)).set_output()
            product.explain(name, "a")
        graph = Graph(io_data_type="float32")
        x = graph.tensor((4, 32, 14, 14), (6272, 1, 448, 32))
        w = graph.tensor((64, 32, 3, 3), (288, 1, 96, 32))
        graph.conv_fprop(x, w, padding=1).set_output()
        print([(row.engine, dict(row.knobs)) for row in graph.explain("H200", "a")])
    """
    alone, after = (run_program(program, *names).stdout for names in ((), ("T4",)))
    assert alone
    assert after == alone


# --- properties of GPUs that need not be there ----------------------------------------------------


NEEDS_BUS_WIDTH = raw.load().version >= 92700


@pytest.mark.thinned(12)
@pytest.mark.parametrize("name", presets())
def test_plans_are_compiled_for_each_preset(name):
    hopper_and_older = {"t4": 7, "h100": 9, "h200": 9}
    blackwell = {"b200": 10, "gb200": 10, "b300": 10, "thor": 11, "rtx5090": 12, "spark": 12}
    major = (hopper_and_older | blackwell).get(name, 8)
    with (
        cudnn.DeviceProperties.preset(name.upper()) as gpu,
        cudnn.Graph(io_data_type="float16") as graph,
    ):
        assert gpu.compute_capability[0] == major
        assert ("public data" in repr(gpu)) == (gpu.source == "public data") == (name != "h200")
        if name == "thor":
            return  # NVRTC of CUDA 12 does not compile for it
        product = graph.matmul(graph.tensor((2, 128, 64)), graph.tensor((2, 64, 128)))
        graph.relu(product).set_output()
        stored = json.loads(graph.build(gpu).descriptor["json_representation"])
        assert stored


def test_some_values_of_a_preset_can_be_replaced(h200):
    with h200.replace(multiProcessorCount=66) as half:
        assert (half["multiProcessorCount"], half["l2CacheSize"]) == (66, h200["l2CacheSize"])
        assert half.source == "given"
    with pytest.raises(ValueError, match="no property 'l2cache'; did you mean 'l2CacheSize'"):
        h200.replace(l2cache=1)
    with pytest.raises(ValueError, match="multiProcessorCount: expected a size or count from 0"):
        h200.replace(multiProcessorCount=-4)
    with pytest.raises(ValueError, match=r"maxGridSize: .* got \[1, -1, 1\]"):
        h200.replace(maxGridSize=[1, -1, 1])


@pytest.mark.skipif(not NEEDS_BUS_WIDTH, reason="this cuDNN wants no key that 9.19 did not write")
def test_what_an_older_file_lacks_is_filled_and_said(h200):
    assert h200.filled == {"memoryBusWidth": 6144}
    assert "filled in: memoryBusWidth=6144" in repr(h200)
    unknown = json.loads(h200.to_json()) | {"deviceName": "some GPU"}
    del unknown["memoryBusWidth"]
    with pytest.raises(ValueError, match="wants 'memoryBusWidth' of the GPU 'some GPU'"):
        cudnn.DeviceProperties(unknown)


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_json_and_back(h200, tmp_path):
    path = tmp_path / "gpu.json"
    text = h200.to_json(path)
    assert path.read_text() == f"{text}\n"
    with cudnn.DeviceProperties(text) as again:
        assert again == h200
        assert not again.filled


@pytest.mark.parametrize(
    ("properties", "error", "says"),
    [
        ({"memoryBusWidth": 1, "deviceName": "x"}, CudnnError, "maxGridSize"),
        (5, TypeError, "expected the name of a GPU, a file, JSON text or a mapping, got 5"),
        ({"deviceName": "x", "memoryBusWidth": {1}}, TypeError, "properties: .*set"),
        ({"deviceName": [1]}, (ValueError, CudnnError), "memoryBusWidth|deviceName|Size"),
        ("[" * 100_000, ValueError, "this is no JSON"),
    ],
)
@pytest.mark.filterwarnings("error::ResourceWarning")
def test_wrong_properties(properties, error, says):
    with pytest.raises(error, match=says):
        cudnn.DeviceProperties(properties)


@pytest.mark.skipif(not ensure_driver().is_stub, reason="there is an NVIDIA driver here")
@pytest.mark.filterwarnings("error::ResourceWarning")
def test_without_a_gpu_its_properties_cannot_be_read(gpu_device):
    with pytest.raises(
        NoDeviceError, match=r"no NVIDIA GPU here .* take a preset \(a100, .*h200, .*\)"
    ):
        cudnn.DeviceProperties.from_device()
    with pytest.raises(TypeError, match="give a device or a handle, not both"):
        cudnn.DeviceProperties.from_device(0, handle="a handle")


@pytest.mark.gpu
def test_properties_of_the_gpu_here():
    from cudnn_ctypes import Handle

    with cudnn.DeviceProperties.from_device() as here, Handle() as handle:
        with cudnn.DeviceProperties.from_device(handle=handle) as same:
            assert same == here
        with cudnn.DeviceProperties(here.to_json()) as again:
            assert again == here
            assert not again.filled
