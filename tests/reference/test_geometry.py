"""Wrong shapes and options of convolutions."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import reference as ref

WRONG = [
    pytest.param({"x_shape": (1, 4)}, "x_shape must be", id="no spatial dimension"),
    pytest.param({"x_shape": (1, 4, 0, 5)}, "x_shape must hold sizes", id="zero size"),
    pytest.param({"w_shape": (4, 4, 3)}, "w_shape must have as many", id="filter rank"),
    pytest.param({"w_shape": (4, 0, 3, 3)}, "w_shape must hold sizes", id="zero filter channels"),
    pytest.param({"w_shape": (4, 3, 3, 3)}, r"w_shape\[1\] must be 4", id="filter channels"),
    pytest.param({"w_shape": (4, 4, 7, 3)}, "w_shape .* is larger", id="filter too large"),
    pytest.param({"dilation": (3, 1)}, r"w_shape .* dilation \(3, 1\)", id="dilated too large"),
    pytest.param({"groups": 3}, "groups must divide", id="groups and channels"),
    pytest.param({"w_shape": (3, 2, 3, 3), "groups": 2}, "groups must divide", id="and filters"),
    pytest.param({"groups": 0}, "groups: expected an int, at least 1", id="zero groups"),
    pytest.param({"padding": (1,)}, "padding must hold one int", id="padding length"),
    pytest.param({"stride": (1, 1, 1)}, "stride must hold one int", id="stride length"),
    pytest.param({"dilation": ()}, "dilation must hold one int", id="dilation length"),
    pytest.param({"padding": (0, -1)}, "padding must hold ints of at least 0", id="padding < 0"),
    pytest.param({"stride": (0, 1)}, "stride must hold ints of at least 1", id="zero stride"),
    pytest.param({"dilation": (1, 0)}, "dilation must hold ints of at least 1", id="zero dilation"),
    pytest.param({"dilation": (-1, 1)}, "dilation must hold ints of at least 1", id="dilation < 0"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_wrong_geometry(change, message):
    options = {"x_shape": (1, 4, 5, 5), "w_shape": (4, 4, 3, 3), **change}
    x_shape, w_shape = options.pop("x_shape"), options.pop("w_shape")
    x, w, dy = np.zeros(x_shape), np.zeros(w_shape), np.zeros((1, 4, 3, 3))
    with pytest.raises(ValueError, match=message):
        ref.output_shape(x_shape, w_shape, **options)
    with pytest.raises(ValueError, match=message):
        ref.convolution_forward(x, w, **options)
    with pytest.raises(ValueError, match=message):
        ref.convolution_backward_data(w=w, dy=dy, dx_shape=x_shape, **options)
    with pytest.raises(ValueError, match=message):
        ref.convolution_backward_filter(x=x, dy=dy, dw_shape=w_shape, **options)
