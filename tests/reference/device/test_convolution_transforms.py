"""im2col, reordered filters and folded strides through raw calls on the reference device."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import BadParamError, DeviceBuffer, raw
from cudnn_ctypes.raw.descriptors import record
from cudnn_ctypes.reference import folded_backward_data, reorder_bias, reorder_filter

from ..naive import Config, forward, integers
from ..raw_program import FLOAT, Memory, Program

SUCCESS, BAD_PARAM = raw.CUDNN_STATUS_SUCCESS, raw.CUDNN_STATUS_BAD_PARAM
NOT_SUPPORTED = raw.CUDNN_STATUS_NOT_SUPPORTED
DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
DTYPES = {FLOAT: np.float32, DOUBLE: np.float64, HALF: np.float16, BFLOAT16: ml_dtypes.bfloat16}


# --- im2col -----------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", DTYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("mode", ["CROSS_CORRELATION", "CONVOLUTION"])
def test_the_columns_times_the_filter_are_the_convolution(program, data_type, layout, mode):
    config = Config((2, 3, 5, 6), (4, 3, 2, 3), (1, 2), (1, 2), (2, 1), 1)
    rng = np.random.default_rng(0)
    x, w = integers(rng, config.x_shape), integers(rng, config.w_shape)
    memory = Memory(config.x_shape, data_type, layout, x)
    positions = config.y_shape[0] * config.y_shape[2] * config.y_shape[3]
    with DeviceBuffer(3 * 2 * 3 * positions * np.dtype(DTYPES[data_type]).itemsize) as columns:
        columns.fill(0xFF)
        raw.cudnnIm2Col(
            program.handle,
            program.tensor(config.x_shape, data_type, layout),
            memory.address,
            program.filter(config.w_shape, data_type),
            program.convolution(
                config.padding,
                config.stride,
                config.dilation,
                mode=getattr(raw, f"CUDNN_{mode}"),
            ),
            columns,
        )
        matrix = columns.copy_to_host().view(DTYPES[data_type]).astype(np.float64)
    y = (w.reshape(4, -1) @ matrix.reshape(3 * 2 * 3, positions)).reshape(4, 2, 5, 4)
    expected = forward(x, w, config, mode.lower())
    np.testing.assert_array_equal(y.swapaxes(0, 1), expected)


@pytest.mark.parametrize(
    ("x", "w", "convolution", "expected"),
    [
        ({"shape": (2, 4, 6, 6)}, {"shape": (8, 2, 3, 3)}, {"groups": 2}, NOT_SUPPORTED),
        (
            {"shape": (2, 4, 6, 6, 6)},
            {"shape": (8, 4, 3, 3, 3)},
            {"padding": (1, 1, 1)},
            NOT_SUPPORTED,
        ),
        ({"shape": (2, 4, 6)}, {"shape": (8, 4, 3)}, {"padding": (1,)}, NOT_SUPPORTED),
        ({"data_type": raw.CUDNN_DATA_INT8}, {}, {}, NOT_SUPPORTED),
        # cuDNN 9.19 takes these, and cannot do anything sensible with them.
        ({"shape": (2, 5, 6, 6)}, {}, {}, BAD_PARAM),
        ({}, {"shape": (8, 4, 3, 3, 3)}, {}, BAD_PARAM),
        ({}, {}, {"padding": (1, 1, 1)}, BAD_PARAM),
        ({}, {}, {}, SUCCESS),
    ],
)
def test_what_im2col_takes(program: Program, x, w, convolution, expected):
    buffer = np.zeros(1 << 16, np.uint8)
    arguments: list[Any] = [
        program.handle,
        program.tensor(**{"shape": (2, 4, 6, 6), **x}),
        buffer.ctypes.data,
        program.filter(**{"shape": (8, 4, 3, 3), **w}),
        program.convolution(**{"padding": (1, 1), **convolution}),
        buffer.ctypes.data + (1 << 15),
    ]
    assert raw.cudnnIm2Col.unchecked(*arguments) == expected
    for position in range(1, 6):
        null = [*arguments]
        null[position] = None
        with pytest.raises(BadParamError):
            raw.cudnnIm2Col(*null)


# --- reordered filters ------------------------------------------------------------------------


@pytest.mark.parametrize("reorder_bias_too", [False, True])
def test_reorder(program: Program, reorder_bias_too: bool):
    rng = np.random.default_rng(0)
    shape = (64, 32, 3, 3)
    stored = rng.integers(-128, 128, (64, 1, 3, 3, 32)).astype(np.int8)
    bias = rng.standard_normal(64).astype(np.float32)
    target, biases = np.zeros_like(stored), np.full(64, np.nan, np.float32)
    raw.cudnnReorderFilterAndBias(
        program.handle,
        program.filter(shape, raw.CUDNN_DATA_INT8x32, "NCHW_VECT_C"),
        raw.CUDNN_DEFAULT_REORDER,
        stored.ctypes.data,
        target.ctypes.data,
        int(reorder_bias_too),
        bias.ctypes.data if reorder_bias_too else None,
        biases.ctypes.data if reorder_bias_too else None,
    )
    np.testing.assert_array_equal(target, reorder_filter(stored))
    if reorder_bias_too:
        np.testing.assert_array_equal(biases, reorder_bias(bias))
    else:
        assert np.isnan(biases).all()


def test_reorder_of_other_types_only_copies(program: Program):
    values = np.arange(32 * 32, dtype=np.float32)
    target = np.zeros_like(values)

    def call(reorder_type: int) -> raw.cudnnStatus_t:
        return raw.cudnnReorderFilterAndBias.unchecked(
            program.handle,
            program.filter((32, 32, 1, 1)),
            reorder_type,
            values.ctypes.data,
            target.ctypes.data,
            0,
            None,
            None,
        )

    assert call(raw.CUDNN_DEFAULT_REORDER) == NOT_SUPPORTED
    assert not target.any()
    assert call(raw.CUDNN_NO_REORDER) == SUCCESS
    np.testing.assert_array_equal(target, values)


def test_reorder_needs_the_memory_that_it_was_asked_to_fill(program: Program):
    filter_ = program.filter((32, 32, 1, 1), raw.CUDNN_DATA_INT8x32, "NCHW_VECT_C")
    memory = np.zeros(4096, np.uint8)
    here = memory.ctypes.data
    arguments = [program.handle, filter_, raw.CUDNN_DEFAULT_REORDER, here, here + 1024, 1]
    arguments += [here + 2048, here + 3072]
    for position in (1, 3, 4, 6, 7):
        null = [*arguments]
        null[position] = None
        with pytest.raises(BadParamError):
            raw.cudnnReorderFilterAndBias(*null)


# --- folding ----------------------------------------------------------------------------------

OUTPUTS = [
    raw.cudnnFilterDescriptor_t,
    raw.cudnnTensorDescriptor_t,
    raw.cudnnConvolutionDescriptor_t,
    raw.cudnnTensorDescriptor_t,
    *[raw.cudnnTensorTransformDescriptor_t] * 4,
]


def fold(
    program: Program,
    x: tuple[int, ...] = (2, 3, 8, 8),
    w: tuple[int, ...] = (4, 3, 3, 3),
    y: tuple[int, ...] = (2, 4, 4, 4),
    *,
    data_type: int = FLOAT,
    layout: str = "NCHW",
    target: int = raw.CUDNN_TENSOR_NCHW,
    null: int | None = None,
    padding: tuple[int, ...] = (1, 1),
    stride: tuple[int, ...] = (2, 2),
    **convolution: Any,
) -> tuple[raw.cudnnStatus_t, list[Any]]:
    made = [program.new(kind) for kind in OUTPUTS]
    arguments = [
        program.filter(w, data_type, layout),
        program.tensor(y, data_type, layout),
        program.convolution(padding, stride, **convolution),
        program.tensor(x, data_type, layout),
        target,
        *made,
    ]
    if null is not None:
        arguments[null] = None
    function = raw.cudnnGetFoldedConvBackwardDataDescriptors
    return function.unchecked(program.handle, *arguments), made


@pytest.mark.parametrize("target", ["NCHW", "NHWC"])
@pytest.mark.parametrize("data_type", [FLOAT, HALF], ids=lambda t: t.name)
def test_folded_descriptors(program: Program, target: str, data_type: int):
    code = getattr(raw, f"CUDNN_TENSOR_{target}")
    status, made = fold(program, data_type=data_type, target=code)
    assert status == SUCCESS
    folded = folded_backward_data((4, 3, 3, 3), (2, 3, 8, 8), padding=(1, 1), stride=(2, 2))
    w, dy, convolution, dx, *transforms = made
    filters = record(w)
    assert (filters.data_type, filters.format, filters.shape) == (data_type, code, folded.w_shape)
    layouts = [program.tensor(s, data_type, target) for s in (folded.dy_shape, folded.dx_shape)]
    assert [record(d) for d in (dy, dx)] == [record(d) for d in layouts]
    held = record(convolution)
    assert (held.padding, held.stride, held.dilation) == (folded.padding, (1, 1), (1, 1))
    assert (held.mode, held.compute_data_type) == (raw.CUDNN_CROSS_CORRELATION, FLOAT)
    expected = (folded.fold_w, folded.pad_dy, folded.fold_dx, folded.unfold_dx)
    for descriptor, transform in zip(transforms, expected, strict=True):
        found = record(descriptor)
        assert found.format == code
        assert found.pad_before[:4] == transform.pad_before
        assert found.pad_after[:4] == transform.pad_after
        assert found.fold[:2] == transform.fold
        folding = raw.CUDNN_TRANSFORM_FOLD
        assert (found.direction == folding) == (transform.direction == "fold")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {
                "x": (1, 2, 8, 8, 8),
                "w": (2, 2, 3, 3, 3),
                "y": (1, 2, 4, 4, 4),
                "padding": (1, 1, 1),
                "stride": (2, 2, 2),
            },
            BAD_PARAM,
        ),
        ({"target": raw.CUDNN_TENSOR_NCHW_VECT_C}, NOT_SUPPORTED),
        ({"y": (2, 4, 3, 4)}, BAD_PARAM),
        # cuDNN 9.19 gives descriptors for these too, which do not lead to dx.
        ({"mode": raw.CUDNN_CONVOLUTION}, NOT_SUPPORTED),
        ({"dilation": (2, 2), "padding": (2, 2)}, NOT_SUPPORTED),
        ({"groups": 3, "w": (6, 1, 3, 3), "y": (2, 6, 4, 4)}, NOT_SUPPORTED),
        *[({"null": position}, BAD_PARAM) for position in (0, 1, 2, 3, *range(5, 13))],
    ],
)
def test_what_cannot_be_folded(program: Program, change: dict[str, Any], expected: int):
    assert fold(program, **change)[0] == expected
