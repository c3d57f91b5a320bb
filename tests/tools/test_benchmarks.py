"""The benchmarks run; what they measure is no test."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace

import pytest
from programs import fake_library, printed

from cudnn_ctypes import DeviceProperties, raw
from tools import bench_call, bench_gpu, bench_tuning


@pytest.mark.parametrize("case", bench_call.CASES, ids=lambda case: case.row)
def test_calls_run_on_every_side(case: bench_call.Case) -> None:
    times = bench_call.measure(case, rounds=1, loops=2)
    assert times.keys() == {"raw", "c_void_p", "typed", "lean"}
    assert all(seconds > 0 for side in times.values() for seconds in side)


@pytest.mark.soak
def test_launches_on_the_reference_device() -> None:
    program = """
        from tools import bench_gpu
        print(bench_gpu.main(["--reference", "--rounds", "1", "--launches", "1"]))
    """
    lines = printed(program)
    assert lines[0].startswith("Handle(reference device")
    assert lines[-1] == "0"
    costs = {line.split()[0]: line.split()[1:] for line in lines if line[:1].isalpha()}
    assert costs["softmax_forward"][-1] == costs["gnn_mha_gat_forward"][-1] == "1"  # call of cuDNN
    assert 0 < int(costs["ConvolutionForward.run"][2]) < int(costs["RNN.forward"][2]) < 40


def test_plain_ctypes_passes_what_raw_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, x, w, conv = (
        raw.cudnnHandle_t(),
        raw.cudnnTensorDescriptor_t(),
        raw.cudnnFilterDescriptor_t(),
        raw.cudnnConvolutionDescriptor_t(),
    )
    one = ctypes.byref(ctypes.c_float(1))
    algorithm = raw.CUDNN_CONVOLUTION_FWD_ALGO_GEMM
    arguments = (handle, one, x, 256, w, 512, conv, algorithm, 1024, 16, one, x, 2048)
    for status in (0, 2000):
        file = fake_library(tmp_path, f"lib{status}.so", cudnnConvolutionForward=status)
        monkeypatch.setattr(raw, "load", lambda file=file: SimpleNamespace(path=file))
        launch = bench_gpu.plain_launch(arguments)
        if status == 0:
            launch()
        else:
            with pytest.raises(RuntimeError, match="2000"):
                launch()


@pytest.mark.soak
def test_executions_of_graphs_without_a_gpu() -> None:
    pytest.importorskip("torch")
    program = """
        from tools.bench_graph import main
        main(["--empty", "--rounds", "1", "--launches", "2"])
    """
    lines = printed(program)
    assert len(lines) == 1 + 2 * 12
    for problem in (lines[1:13], lines[13:]):
        least = {line[:54].strip(): float(line[54:].split()[1]) for line in problem[2:]}
        assert 0 < least["plain ctypes"] < least["Graph.execute, tensors, y elsewhere each time"]


@pytest.mark.soak
def test_the_reference_device_beside_pytorch() -> None:
    pytest.importorskip("torch")
    program = """
        from tools.bench_reference.__main__ import main
        main(["relu", "--families", "layers", "--rounds", "1", "--least", "0"])
    """
    title, heads, *rows = printed(program)
    assert title.startswith("PyTorch")
    assert heads.split() == ["ms", "PyTorch", "ratio", "MB"]
    assert [row.rsplit(maxsplit=4)[0].strip() for row in rows] == [
        "relu forward, cifar",
        "relu backward, cifar",
    ]


def test_the_layers_of_resnet_50_build_in_each_direction() -> None:
    layers = bench_tuning.LAYERS
    times = [1, *(1, 3, 4, 2), *(1, 1, 4, 1, 3, 3), *(1, 1, 6, 1, 5, 5), *(1, 1, 3, 1, 2, 2)]
    multiplications = [
        number * each.filters * each.channels * (each.window * each.size // each.stride) ** 2
        for number, each in zip(times, layers, strict=True)
    ]
    assert sum(times) == 53
    assert sum(multiplications) == 4_087_136_256  # as published, without the last layer
    with DeviceProperties.preset("h200") as h200:
        for direction in bench_tuning.DIRECTIONS:
            with bench_tuning.described(layers[1], 2, direction) as graph:
                assert graph.build(h200).workspace_size >= 0
                assert {each.name for each in (*graph.inputs, *graph.outputs)} == set("xwy")


@pytest.mark.soak
def test_blocks_of_operators_run_on_the_reference_device() -> None:
    pytest.importorskip("torch")
    program = """
        from tools.bench_torch_ops import main
        main(["--reference"])
    """
    title, *rows = printed(program)
    assert title.startswith("PyTorch")
    assert len(rows) == 16  # two blocks, eager and compiled, by either side, two passes
    assert sum("operator, compiled" in row for row in rows) == 4
