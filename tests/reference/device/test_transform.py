"""Transform descriptors, padding and folding through raw calls on the reference device."""

from __future__ import annotations

from ctypes import c_int32, c_size_t, c_uint32
from typing import Any

import numpy as np

from cudnn_ctypes import raw
from cudnn_ctypes.raw.descriptors import record

from ..raw_program import FLOAT, Memory, Program, scalar

HALF, INT8, INT8x4 = raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_INT8, raw.CUDNN_DATA_INT8x4
BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED
SUCCESS = raw.CUDNN_STATUS_SUCCESS
FOLD, UNFOLD = raw.CUDNN_TRANSFORM_FOLD, raw.CUDNN_TRANSFORM_UNFOLD
NCHW, NHWC = raw.CUDNN_TENSOR_NCHW, raw.CUDNN_TENSOR_NHWC
ZEROS = (0, 0, 0, 0)


def transform(
    program: Program,
    before: Any = ZEROS,
    after: Any = ZEROS,
    fold: Any = (1, 1),
    direction: Any = FOLD,
    layout: Any = NCHW,
) -> Any:
    descriptor = program.new(raw.cudnnTensorTransformDescriptor_t)
    raw.cudnnSetTensorTransformDescriptor(
        descriptor, len(before), layout, before, after, fold, direction
    )
    return descriptor


def test_refused_settings(program: Program):
    descriptor = program.new(raw.cudnnTensorTransformDescriptor_t)

    def call(ndim: int, layout: Any = NCHW) -> Any:
        return raw.cudnnSetTensorTransformDescriptor.unchecked(
            descriptor, ndim, layout, None, None, None, FOLD
        )

    assert [call(ndim) for ndim in (1, 2, 8, 9)] == [BAD_PARAM, SUCCESS, SUCCESS, NOT_SUPPORTED]
    assert call(4, 3) == NOT_SUPPORTED
    get = raw.cudnnGetTensorTransformDescriptor.unchecked
    layout, direction = raw.cudnnTensorFormat_t(), raw.cudnnFoldingDirection_t()
    arrays = (c_int32 * 9)(), (c_int32 * 9)(), (c_uint32 * 9)()
    for ndim in (2, 9):
        assert get(descriptor, ndim, layout, *arrays, direction) == BAD_PARAM


def destination(program: Program, descriptor: Any, source: Any) -> tuple[Any, int]:
    made, nbytes = program.new(raw.cudnnTensorDescriptor_t), c_size_t()
    raw.cudnnInitTransformDest(descriptor, source, made, nbytes)
    return record(made), nbytes.value


def test_destinations_as_measured(program: Program):
    # Read off cuDNN 9.28.
    half = program.tensor((2, 8, 4, 6), HALF, "NHWC")
    made, nbytes = destination(program, transform(program, fold=(2, 2), layout=NHWC), half)
    assert (made.data_type, made.shape, made.strides) == (HALF, (2, 32, 2, 3), (192, 1, 96, 32))
    assert nbytes == 768
    strided = program.tensor((2, 8, 4, 6), HALF, (1000, 100, 10, 1))
    same, _ = destination(program, transform(program, fold=(2, 2), layout=NHWC), strided)
    assert same == made
    vectors = program.tensor((2, 8, 4, 4), INT8x4, "NCHW_VECT_C")
    made, nbytes = destination(program, transform(program, fold=(2, 2)), vectors)
    assert (made.data_type, made.shape, made.strides) == (INT8x4, (2, 32, 2, 2), (32, 4, 2, 1))
    assert nbytes == 256


def test_refused_destinations(program: Program):
    source, made = program.tensor((2, 8, 4, 4)), program.new(raw.cudnnTensorDescriptor_t)

    def call(descriptor: Any, source: Any = source, made: Any = made) -> Any:
        return raw.cudnnInitTransformDest.unchecked(descriptor, source, made, c_size_t())

    vectors = transform(program, layout=raw.CUDNN_TENSOR_NCHW_VECT_C)
    assert call(vectors) == NOT_SUPPORTED
    assert call(transform(program, before=(0, 0, -4, 0))) == BAD_PARAM
    assert call(transform(program), made=raw.cudnnTensorDescriptor_t()) == BAD_PARAM
    six = program.tensor((1, 1, 1, 1, 1, 1))
    assert call(transform(program, (0,) * 6, (0,) * 6, (1,) * 4), six) == NOT_SUPPORTED


def run(
    program: Program, descriptor: Any, x: Memory, y: Memory, factors: Any = (1, 0), t: Any = FLOAT
) -> Any:
    source, target = ((program.tensor(m.shape, t, m.layout), m.address) for m in (x, y))
    alpha, beta = map(scalar, factors)
    return raw.cudnnTransformTensorEx.unchecked(
        program.handle, descriptor, alpha, *source, beta, *target
    )


def test_refused_transforms(program: Program):
    x, y = Memory((1, 3, 4, 4), values=np.ones((1, 3, 4, 4))), Memory((1, 12, 2, 2))
    fold = transform(program, fold=(2, 2))
    assert run(program, fold, x, y) == SUCCESS
    assert run(program, raw.cudnnTensorTransformDescriptor_t(), x, y) == BAD_PARAM
    assert run(program, fold, x, Memory((1, 12, 4, 4))) == BAD_PARAM
    assert run(program, transform(program, (0, 0, -4, 0)), x, y) == BAD_PARAM
    padded = transform(program, (0, 0, 1, 0))
    larger = Memory((1, 3, 5, 4), values=np.ones((1, 3, 5, 4)))
    assert run(program, padded, x, larger) == SUCCESS
    assert run(program, padded, x, larger, (1, 1)) == NOT_SUPPORTED
