"""What a problem computes and moves, and what a GPU can do at most."""

import numpy as np
import pytest

from cudnn_ctypes import DeviceProperties, Graph
from cudnn_ctypes.commands.bench.measuring import Options, problem_of
from cudnn_ctypes.commands.bench.results import limits_of, visible_pairs, work_of
from cudnn_ctypes.dtypes import as_data_type

# Dense TFLOP/s with float32 sums, from NVIDIA's data sheets. H100 and B200 are given there at
# lower clocks than the highest, which the properties have.
PUBLISHED = {
    ("a100", "float16"): 312,
    ("a100", "float32"): 156,  # TF32
    ("a100", "float64"): 19.5,
    ("a100", "int8"): 624,
    ("h100", "float16"): 989,
    ("h100", "float32"): 495,  # TF32
    ("h100", "float64"): 67,
    ("h100", "fp8_e4m3"): 1979,
    ("h100", "int8"): 1979,
    ("b200", "bfloat16"): 2250,
    ("b200", "float32"): 1100,  # TF32
    ("b200", "fp8_e4m3"): 4500,
    ("b200", "fp4_e2m1"): 9000,
    ("b200", "int8"): 4500,
    ("l4", "float16"): 121,
    ("l40s", "float16"): 362,
    ("l40s", "float32"): 183,  # TF32
    ("l40s", "fp8_e5m2"): 733,
    ("l40s", "int8"): 733,
    ("rtx4090", "float16"): 165.2,
    ("rtx4090", "float32"): 82.6,  # TF32
    ("rtx4090", "fp8_e4m3"): 330.3,
    ("rtx4090", "int8"): 660.6,
    ("rtx5090", "float16"): 209.5,
    ("rtx5090", "float32"): 104.8,  # TF32
    ("rtx5090", "fp8_e4m3"): 838,  # with block scales, as with float16 sums
    ("rtx5090", "int8"): 838,
    ("rtx5090", "fp4_e2m1"): 1676,
    ("t4", "float16"): 65,
    ("t4", "float32"): 8.1,
    ("t4", "int8"): 130,
}


@pytest.mark.parametrize(("device", "data_type"), PUBLISHED)
def test_peaks_are_those_of_the_data_sheets(device, data_type):
    with DeviceProperties.preset(device) as properties:
        limits = limits_of(properties, as_data_type(data_type))
    assert limits.flops == pytest.approx(1e12 * PUBLISHED[device, data_type], rel=0.09)
    assert limits.source.endswith(f"of {properties.name} by public data")
    name = "TF32" if data_type == "float32" and device != "t4" else data_type.partition("_")[0]
    assert f" {name} operations a clock (public data) x multiprocessors x clock, " in limits.source


def test_cards_without_tensor_cores():
    with (
        DeviceProperties.preset("t4") as t4,
        t4.replace(deviceName="NVIDIA GeForce GTX 1660") as card,
    ):
        assert limits_of(card, as_data_type("float16")).flops is None
        single = limits_of(card, as_data_type("float32"))
        assert single.flops == limits_of(t4, as_data_type("float32")).flops


class OlderProperties(dict[str, int]):
    """As cuDNN before 9.27 tells them."""

    name = "a GPU"
    source = "measured"
    compute_capability = (8, 0)


def test_the_bus_is_from_the_driver_where_cudnn_does_not_tell_it():
    older = OlderProperties(memClockRateKHz=1000, multiProcessorCount=1, smClockRateKHz=1)
    half = as_data_type("float16")
    assert limits_of(older, half, bus_width=64).bandwidth == 2 * 1e6 * 8
    unknown = limits_of(older, half)
    assert unknown.bandwidth is None
    assert unknown.microseconds(1, 1) is None
    older.name = "NVIDIA H200"
    assert limits_of(older, half).bandwidth == 2 * 1e6 * 6144 / 8


def test_the_limit_is_the_larger_of_computing_and_moving():
    with DeviceProperties.preset("a100") as properties:
        limits = limits_of(properties, as_data_type("float16"))
        unknown = limits_of(properties, as_data_type("fp4_e2m1"))
    assert limits.flops is not None
    assert limits.bandwidth is not None
    assert unknown.bandwidth is not None
    assert limits.microseconds(int(limits.flops), 0) == pytest.approx(1e6)
    assert limits.microseconds(1, int(limits.bandwidth)) == pytest.approx(1e6, rel=1e-6)
    assert unknown.microseconds(1, 1) is None
    assert unknown.microseconds(0, int(unknown.bandwidth)) == pytest.approx(1e6, rel=1e-6)


@pytest.mark.parametrize("direction", ["forward", "data", "filter"])
def test_convolutions_are_counted_product_by_product(direction):
    options = Options(padding=2, stride=2, dilation=2, direction=direction)
    work = work_of(problem_of("convolution", ["2x8x9x7", "4x2x3x2"], options).graph)
    # y: (9 + 4 - 5) // 2 + 1 = 5 by (7 + 4 - 3) // 2 + 1 = 5; each sums 2 * 3 * 2 products.
    assert work.flops == 2 * (2 * 4 * 5 * 5) * (2 * 3 * 2)
    assert work.nbytes == 2 * (2 * 8 * 9 * 7 + 4 * 2 * 3 * 2 + 2 * 4 * 5 * 5)
    assert work.data_type == as_data_type("float16")


def test_products_attention_and_norms():
    work = work_of(problem_of("matmul", ["3x5x7", "3x7x11"], Options(data_type="float32")).graph)
    assert (work.flops, work.nbytes) == (2 * 3 * 5 * 7 * 11, 4 * 3 * (35 + 77 + 55))
    problem = problem_of("attention", ["2x4x16x8", "2x2x16x8"], Options(causal=True))
    work = work_of(problem.graph)
    assert work.flops == 2 * 2 * 4 * (16 * 17 // 2) * (8 + 8)
    graph = Graph(io_data_type="float16")
    q, k, v, o, do = (graph.tensor((2, 4, 16, size)) for size in (8, 8, 24, 24, 24))
    stats = graph.tensor((2, 4, 16, 1), data_type="float32")
    for gradient in graph.sdpa_backward(q, k, v, o, do, stats):
        gradient.set_output()
    assert work_of(graph).flops == 2 * 2 * 4 * 16 * 16 * (3 * 8 + 2 * 24)
    work = work_of(problem_of("norm", ["16x64"], Options()).graph)
    assert (work.flops, work.nbytes) == (0, 2 * (2 * 16 * 64 + 2 * 64))
    assert work.data_type is None


@pytest.mark.parametrize("bottom_right", [False, True])
@pytest.mark.parametrize(("left", "right"), [(None, None), (2, 0), (None, 1), (3, None), (1, 9)])
def test_pairs_that_masks_leave(left, right, bottom_right):
    query, key = np.indices((5, 7))
    ahead = key - query - (2 if bottom_right else 0)
    seen = (ahead > -(99 if left is None else left)) & (ahead <= (99 if right is None else right))
    assert visible_pairs(5, 7, left, right, bottom_right=bottom_right) == seen.sum()


@pytest.mark.parametrize(
    ("kind", "shapes", "says"),
    [
        ("convolution", ["1x2x3x4"], "expected an image"),
        ("convolution", ["1x3x8x8", "4x2x3x3"], "do not fit together"),
        ("convolution", ["1x2x2x2", "4x2x3x3"], "larger than the image"),
        ("convolution", ["1x2x3xq", "4x2x3x3"], "expected a shape such as"),
        ("matmul", ["2x3", "2x3"], "do not fit together"),
        ("attention", ["2x3x4"], "expected queries"),
        ("attention", ["1x4x8x8", "1x3x8x8"], "do not fit together"),
        ("norm", ["4"], "expected one shape"),
        ("pooling", ["4x4"], "expected one of attention, convolution"),
    ],
)
def test_shapes_that_mean_nothing(kind, shapes, says):
    with pytest.raises(ValueError, match=says):
        problem_of(kind, shapes, Options())
