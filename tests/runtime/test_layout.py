"""device.layout: where elements lie, against index arithmetic written out."""

import numpy as np
import pytest

from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.raw.enums import cudnnTensorFormat_t
from cudnn_ctypes.raw.layouts import strides_for
from cudnn_ctypes.raw.strides import extent
from cudnn_ctypes.runtime.layout import (
    check_strides,
    data_type_in_layout,
    from_storage,
    to_storage,
)

FLOAT = as_data_type("float32")


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


def test_vectors_need_whole_groups_of_channels():
    with pytest.raises(ValueError, match="multiple of 4"):
        strides_for((1, 6, 2, 2), None, as_data_type("int8x4"))


def test_gaps_are_zero_or_kept():
    array = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    strides = (8, 2)
    assert extent(array.shape, strides) == 13
    expected = np.zeros(13, np.float32)
    expected[[0, 2, 4, 8, 10, 12]] = array.ravel()
    np.testing.assert_array_equal(to_storage(array, strides, FLOAT).view(np.float32), expected)
    old = np.full(13, 9, np.float32)
    new = to_storage(array, strides, FLOAT, into=old.view(np.uint8)).view(np.float32)
    expected[[1, 3, 5, 6, 7, 9, 11]] = 9
    np.testing.assert_array_equal(new, expected)


@pytest.mark.parametrize("count", [0, 1, 8, 11])
def test_booleans_are_packed_lowest_bit_first(count):
    array = np.random.default_rng(count).integers(0, 2, count).astype(bool)
    storage = to_storage(array, (1,), as_data_type("boolean"))
    expected = [
        sum(int(bit) << k for k, bit in enumerate(array[i : i + 8])) for i in range(0, count, 8)
    ]
    assert storage.tolist() == expected
    back = from_storage(storage, (count,), (1,), as_data_type("boolean"))
    np.testing.assert_array_equal(back, array)
    assert to_storage(array, (1,), as_data_type("bool")).tolist() == array.tolist()


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
