"""The convolution family through raw calls on the reference device, as a C program would call it.

Operands are small whole numbers, so sums are exact in every order and type: results are compared
with PyTorch's in float64, rounded once, for equality. Every output starts out poisoned.
"""

from __future__ import annotations

from ctypes import byref, c_int
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, raw

from ..naive import Config, random_config
from ..raw_program import FLOAT, Memory, Program, scalar

DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
INT8, INT8x4, INT8x32 = raw.CUDNN_DATA_INT8, raw.CUDNN_DATA_INT8x4, raw.CUDNN_DATA_INT8x32
INT32 = raw.CUDNN_DATA_INT32
CORRELATION, CONVOLUTION = raw.CUDNN_CROSS_CORRELATION, raw.CUDNN_CONVOLUTION
PRECOMPUTED = raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
IMPLICIT = raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM
NOT_SUPPORTED = raw.CUDNN_STATUS_NOT_SUPPORTED
ROUND = {FLOAT: np.float32, DOUBLE: np.float64, HALF: np.float16, BFLOAT16: ml_dtypes.bfloat16}


def gaps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides with room between elements, rows and images."""
    strides = [2]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size + 3)
    return tuple(strides)


@dataclass
class Gradients:
    """What PyTorch computes in float64."""

    y: np.ndarray
    dx: np.ndarray
    dw: np.ndarray
    db: np.ndarray


def by_torch(torch: Any, config: Config, mode: int, x: Any, w: Any, dy: Any) -> Gradients:
    tx, tw = (torch.tensor(a.astype(np.float64), requires_grad=True) for a in (x, w))
    function = getattr(torch.nn.functional, f"conv{len(config.padding)}d")
    axes = tuple(range(2, tw.ndim))
    options = {**config.options}
    flipped = tw.flip(axes) if mode == CONVOLUTION else tw
    ty = function(tx, flipped, **options)
    ty.backward(torch.tensor(dy.astype(np.float64)))
    db = dy.astype(np.float64).sum(axis=(0, *axes), keepdims=True)
    return Gradients(ty.detach().numpy(), tx.grad.numpy(), tw.grad.numpy(), db)


# --- against known numbers and PyTorch --------------------------------------------------------


@pytest.mark.parametrize("mode", [CORRELATION, CONVOLUTION])
def test_the_classic_image(program: Program, mode: int):
    kernel = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
    if mode == CONVOLUTION:
        kernel = kernel[:, :, ::-1, ::-1]
    x = Memory((1, 1, 4, 4), values=np.arange(1, 17).reshape(1, 1, 4, 4))
    w, y = Memory((1, 1, 3, 3), values=kernel), Memory((1, 1, 4, 4))
    descriptor = program.tensor((1, 1, 4, 4))
    status = raw.cudnnConvolutionForward(
        program.handle,
        scalar(1),
        descriptor,
        x.address,
        program.filter((1, 1, 3, 3)),
        w.address,
        program.convolution((1, 1), mode=mode),
        IMPLICIT,
        None,
        0,
        scalar(0),
        descriptor,
        y.address,
    )
    assert status == raw.CUDNN_STATUS_SUCCESS
    assert y.get()[0, 0].tolist() == [
        [111, 178, 217, 145],
        [231, 348, 393, 252],
        [363, 528, 573, 360],
        [197, 274, 295, 175],
    ]


LAYOUTS = {
    "NCHW": ("NCHW", "NCHW", "NCHW"),
    "NHWC": ("NHWC", "NHWC", "NHWC"),
    "gaps in x": (gaps, "NCHW", "NCHW"),
    "gaps in y": ("NCHW", "NCHW", gaps),
    "x NHWC": ("NHWC", "NCHW", "NCHW"),
    "y NHWC": ("NCHW", "NCHW", "NHWC"),
}
QUERIES = {
    "Forward": (
        raw.cudnnConvolutionFwdAlgoPerf_t,
        raw.cudnnGetConvolutionForwardAlgorithm_v7,
        raw.cudnnConvolutionForward,
    ),
    "BackwardData": (
        raw.cudnnConvolutionBwdDataAlgoPerf_t,
        raw.cudnnGetConvolutionBackwardDataAlgorithm_v7,
        raw.cudnnConvolutionBackwardData,
    ),
    "BackwardFilter": (
        raw.cudnnConvolutionBwdFilterAlgoPerf_t,
        raw.cudnnGetConvolutionBackwardFilterAlgorithm_v7,
        raw.cudnnConvolutionBackwardFilter,
    ),
}


def run(
    program: Program, direction: str, descriptors: list[Any], operands: list[int], **scalars: Any
) -> bool:
    """Ask for algorithms, and run the first one that has a kernel. False if there is none.

    `descriptors` and `operands` are in the order of the C call: input, input, convolution, output.
    """
    table_type, ask, call = QUERIES[direction]
    first, second, convolution, output = descriptors
    table, count = (table_type * 8)(), c_int()
    ask(program.handle, first, second, convolution, output, 8, byref(count), table)
    found = [row for row in table[: count.value] if row.status == raw.CUDNN_STATUS_SUCCESS]
    row = found[0] if found else table[0]
    with DeviceBuffer(row.memory) as workspace:
        status = call.unchecked(
            program.handle,
            scalars["alpha"],
            first,
            operands[0],
            second,
            operands[1],
            convolution,
            row.algo,
            workspace,
            row.memory,
            scalars["beta"],
            output,
            operands[2],
        )
    assert status == (raw.CUDNN_STATUS_SUCCESS if found else NOT_SUPPORTED)
    return bool(found)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("data_type", [FLOAT, DOUBLE, HALF, BFLOAT16], ids=lambda t: t.name)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("spatial", [2, 3])
def test_against_torch(program: Program, torch, spatial: int, layout: str, data_type: int):
    rng = np.random.default_rng([spatial, int(data_type), *layout.encode()])
    carried_out = dict.fromkeys(QUERIES, 0)
    for _ in range(4):
        config = random_config(rng, spatial)
        mode = int(rng.integers(0, 2))
        alpha, beta = float(rng.choice([1, 0.5, 2])), float(rng.choice([0, 0, 1, -0.5]))
        shapes = config.x_shape, config.w_shape, config.y_shape
        values = [rng.integers(-4, 5, shape) for shape in shapes]
        expected = by_torch(torch, config, mode, *values)
        layouts = [f(s) if callable(f) else f for f, s in zip(LAYOUTS[layout], shapes, strict=True)]
        x_desc, y_desc = (program.tensor(shapes[i], data_type, layouts[i]) for i in (0, 2))
        w_desc = program.filter(shapes[1], data_type, layouts[1])
        convolution = program.convolution(
            config.padding,
            config.stride,
            config.dilation,
            groups=config.groups,
            mode=mode,
            compute_data_type=DOUBLE if data_type == DOUBLE else FLOAT,
        )
        given = [
            Memory(s, data_type, where, v)
            for s, where, v in zip(shapes, layouts, values, strict=True)
        ]
        x, w, dy = (memory.address for memory in given)
        for direction, output, result, descriptors, operands in (
            ("Forward", 2, expected.y, [x_desc, w_desc, convolution, y_desc], [x, w]),
            ("BackwardData", 0, expected.dx, [w_desc, y_desc, convolution, x_desc], [w, dy]),
            ("BackwardFilter", 1, expected.dw, [x_desc, y_desc, convolution, w_desc], [x, dy]),
        ):
            prior = rng.integers(-4, 5, shapes[output]) if beta else None
            memory = Memory(shapes[output], data_type, layouts[output], prior)
            scalars = {"alpha": scalar(alpha, data_type), "beta": scalar(beta, data_type)}
            if run(program, direction, descriptors, [*operands, memory.address], **scalars):
                carried_out[direction] += 1
                wanted = alpha * result + (beta * prior if beta else 0)
                np.testing.assert_array_equal(
                    memory.get(), wanted.astype(ROUND[data_type]), err_msg=f"{direction} {config}"
                )
            elif prior is None:
                assert np.isnan(memory.get().astype(np.float32)).all()
            assert memory.gaps_are_poisoned()
    assert carried_out["Forward"] or (layout == "NHWC" and data_type == DOUBLE and spatial == 3)
    if layout == "NCHW":
        assert min(carried_out.values()) == 4


def test_one_dimension_is_two_with_a_height_of_one(program: Program, torch):
    rng = np.random.default_rng(1)
    config = Config((2, 4, 1, 9), (6, 2, 1, 3), (0, 2), (1, 2), (1, 2), 2)
    values = [rng.integers(-4, 5, s) for s in (config.x_shape, config.w_shape, config.y_shape)]
    x, w = Memory(config.x_shape, values=values[0]), Memory(config.w_shape, values=values[1])
    y = Memory(config.y_shape)
    convolution = program.convolution((0, 2), (1, 2), (1, 2), groups=2)
    descriptors = [
        program.tensor(config.x_shape),
        program.filter(config.w_shape),
        convolution,
        program.tensor(config.y_shape),
    ]
    scalars = {"alpha": scalar(1), "beta": scalar(0)}
    assert run(program, "Forward", descriptors, [x.address, w.address, y.address], **scalars)
    np.testing.assert_array_equal(y.get(), by_torch(torch, config, CORRELATION, *values).y)
    # cuDNN has no kernel for tensors of 3 dimensions.
    flat = [
        program.tensor((2, 4, 9)),
        program.filter((6, 2, 3)),
        program.convolution((2,), (2,), (2,), groups=2),
        program.tensor((2, 6, 5)),
    ]
    assert not run(program, "Forward", flat, [x.address, w.address, y.address], **scalars)


@pytest.mark.parametrize("data_type", [FLOAT, DOUBLE, HALF], ids=lambda t: t.name)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "gaps"])
def test_bias_gradient(program: Program, data_type: int, layout: str):
    rng = np.random.default_rng(5)
    for shape in ((2, 3, 4, 5), (3, 2, 2, 3, 4)):
        where = gaps(shape) if layout == "gaps" else layout
        values = rng.integers(-4, 5, shape)
        dy = Memory(shape, data_type, where, values)
        bias_shape = (1, shape[1], *(1,) * (len(shape) - 2))
        for alpha, beta in ((1.0, 0.0), (0.5, 2.0)):
            prior = rng.integers(-4, 5, bias_shape) if beta else None
            db = Memory(bias_shape, data_type, values=prior)
            raw.cudnnConvolutionBackwardBias(
                program.handle,
                scalar(alpha, data_type),
                program.tensor(shape, data_type, where),
                dy.address,
                scalar(beta, data_type),
                program.tensor(bias_shape, data_type),
                db.address,
            )
            axes = (0, *range(2, len(shape)))
            wanted = alpha * values.sum(axis=axes, keepdims=True) + (beta * prior if beta else 0)
            np.testing.assert_array_equal(db.get(), wanted)


# --- integers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data_type", "result_type", "layout", "result_layout", "channels"),
    [
        (INT8, INT8, "NHWC", "NHWC", 4),
        (INT8, FLOAT, "NHWC", "NHWC", 8),
        (INT8, INT32, "NHWC", "NHWC", 8),
        (INT8x4, INT8x4, "NCHW_VECT_C", "NCHW_VECT_C", 8),
        (INT8x4, FLOAT, "NCHW_VECT_C", "NCHW", 8),
        (INT8x32, INT8x32, "NCHW_VECT_C", "NCHW_VECT_C", 64),
    ],
)
def test_integers_round_and_saturate(
    program: Program, torch, data_type, result_type, layout, result_layout, channels
):
    rng = np.random.default_rng(2)
    config = Config((2, channels, 5, 4), (channels, channels, 3, 3), (1, 1), (1, 1), (1, 1), 1)
    values = [rng.integers(-30, 31, s) for s in (config.x_shape, config.w_shape, config.y_shape)]
    x = Memory(config.x_shape, data_type, layout, values[0])
    w = Memory(config.w_shape, data_type, layout, values[1])
    y = Memory(config.y_shape, result_type, result_layout)
    descriptors = [
        program.tensor(config.x_shape, data_type, layout),
        program.filter(config.w_shape, data_type, layout),
        program.convolution((1, 1), compute_data_type=INT32),
        program.tensor(config.y_shape, result_type, result_layout),
    ]
    scalars = {"alpha": scalar(0.25), "beta": scalar(0)}
    assert run(program, "Forward", descriptors, [x.address, w.address, y.address], **scalars)
    exact = 0.25 * by_torch(torch, config, CORRELATION, *values).y
    whole = exact if result_type == FLOAT else np.rint(exact)
    if result_type not in (FLOAT, INT32):
        assert np.abs(whole).max() > 128
        whole = np.clip(whole, -128, 127)
    np.testing.assert_array_equal(y.get(), whole)


@pytest.mark.parametrize("fused", [False, True])
def test_a_filter_that_the_program_has_reordered(program: Program, fused: bool):
    rng = np.random.default_rng(3)
    x_shape, w_shape = (1, 64, 4, 4), (64, 64, 3, 3)
    x = Memory(x_shape, INT8x32, "NCHW_VECT_C", rng.integers(-2, 3, x_shape))
    w = Memory(w_shape, INT8x32, "NCHW_VECT_C", rng.integers(-1, 2, w_shape))
    bias = Memory((1, 64, 1, 1), values=rng.integers(-9, 10, (1, 64, 1, 1)))
    reordered, reordered_bias = Memory(w_shape, INT8x32, "NCHW_VECT_C"), Memory((1, 64, 1, 1))
    tensor = program.tensor(x_shape, INT8x32, "NCHW_VECT_C")
    filter_ = program.filter(w_shape, INT8x32, "NCHW_VECT_C")
    raw.cudnnReorderFilterAndBias(
        program.handle,
        filter_,
        raw.CUDNN_DEFAULT_REORDER,
        w.address,
        reordered.address,
        1,
        bias.address,
        reordered_bias.address,
    )
    assert not np.array_equal(reordered.get(), w.get())
    results = []
    for reorder_type, weights, biases in (
        (raw.CUDNN_DEFAULT_REORDER, w, bias),
        (raw.CUDNN_NO_REORDER, reordered, reordered_bias),
        (raw.CUDNN_NO_REORDER, w, bias),
    ):
        y = Memory(x_shape, INT8x32, "NCHW_VECT_C")
        convolution = program.convolution(
            (1, 1), compute_data_type=INT32, reorder_type=reorder_type
        )
        common = [tensor, x.address, filter_, weights.address, convolution, IMPLICIT, None, 0]
        if fused:
            raw.cudnnConvolutionBiasActivationForward(
                program.handle,
                scalar(1),
                *common,
                scalar(0),
                tensor,
                x.address,
                program.tensor((1, 64, 1, 1)),
                biases.address,
                program.activation(raw.CUDNN_ACTIVATION_IDENTITY),
                tensor,
                y.address,
            )
        else:
            raw.cudnnConvolutionForward(
                program.handle, scalar(1), *common, scalar(0), tensor, y.address
            )
        results.append(y.get())
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


# --- bias and activation ----------------------------------------------------------------------


@pytest.mark.parametrize("data_type", [FLOAT, DOUBLE, HALF, BFLOAT16], ids=lambda t: t.name)
@pytest.mark.parametrize("mode", ["RELU", "IDENTITY"])
@pytest.mark.parametrize("alpha2", [0.0, 0.5])
def test_bias_and_activation(program: Program, torch, data_type: int, mode: str, alpha2: float):
    rng = np.random.default_rng(4)
    config = Config((2, 4, 5, 6), (6, 2, 3, 3), (1, 0), (1, 2), (1, 1), 2)
    values = [rng.integers(-3, 4, s) for s in (config.x_shape, config.w_shape, config.y_shape)]
    bias_values = rng.integers(-9, 10, (1, 6, 1, 1))
    x, w = (Memory(v.shape, data_type, values=v) for v in values[:2])
    # With alpha2 = 0, z is not read: it may hold anything.
    z = Memory(config.y_shape, data_type, values=values[2] if alpha2 else None)
    bias = Memory((1, 6, 1, 1), data_type, values=bias_values)
    y = Memory(config.y_shape, data_type)
    y_desc = program.tensor(config.y_shape, data_type)

    def call(result: Memory) -> None:
        raw.cudnnConvolutionBiasActivationForward(
            program.handle,
            scalar(2, data_type),
            program.tensor(config.x_shape, data_type),
            x.address,
            program.filter(config.w_shape, data_type),
            w.address,
            program.convolution(
                (1, 0), (1, 2), groups=2, compute_data_type=DOUBLE if data_type == DOUBLE else FLOAT
            ),
            IMPLICIT,
            None,
            0,
            scalar(alpha2, data_type),
            y_desc,
            z.address,
            program.tensor((1, 6, 1, 1), data_type),
            bias.address,
            program.activation(getattr(raw, f"CUDNN_ACTIVATION_{mode}")),
            y_desc,
            result.address,
        )

    call(y)
    total = 2 * by_torch(torch, config, CORRELATION, *values).y + alpha2 * values[2] + bias_values
    wanted = np.maximum(total, 0) if mode == "RELU" else total
    np.testing.assert_array_equal(y.get(), wanted.astype(ROUND[data_type]))
    if alpha2:
        call(z)  # z may be y
        np.testing.assert_array_equal(z.get(), wanted.astype(ROUND[data_type]))
