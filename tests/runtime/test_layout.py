"""device.layout: where elements lie, against index arithmetic written out."""

import pytest

from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.raw.enums import cudnnTensorFormat_t
from cudnn_ctypes.runtime.layout import check_strides, data_type_in_layout


@pytest.mark.parametrize(
    ("data_type", "layout", "error"),
    [
        ("float32", "NCHW_VECT_C4", TypeError),
        ("uint8", "NCHW_VECT_C32", TypeError),
        ("int8x4", "NHWC", ValueError),
        ("int8x4", "NCHW_VECT_C32", ValueError),
        ("int8", "NWHC", ValueError),
        ("int8", 1, ValueError),
        ("int8", cudnnTensorFormat_t.CUDNN_TENSOR_NCHW_VECT_C, ValueError),
    ],
)
def test_layouts_that_do_not_go_with_the_type(data_type, layout, error):
    with pytest.raises(error):
        data_type_in_layout(as_data_type(data_type), layout)


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((2, 3), (2, 1)),
        ((2, 3), (0, 1)),
        ((2, 3), (3, 0)),
        ((4, 4), (1, 1)),
        ((2, 2, 2), (4, 1, 1)),
    ],
)
def test_overlapping_strides_are_refused(shape, strides):
    with pytest.raises(ValueError, match="overlap"):
        check_strides(shape, strides)


def test_strides_that_do_not_overlap():
    check_strides((2, 3), (1, 2))
    check_strides((1, 3), (0, 1))
    check_strides((2, 3, 4), (100, 30, 7))
    check_strides((), ())
    with pytest.raises(ValueError, match="differ in length"):
        check_strides((2, 3), (1,))
