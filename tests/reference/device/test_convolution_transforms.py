"""im2col, reordered filters and folded strides through raw calls on the reference device."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import raw

from ..raw_program import FLOAT, Program

SUCCESS, BAD_PARAM = raw.CUDNN_STATUS_SUCCESS, raw.CUDNN_STATUS_BAD_PARAM
NOT_SUPPORTED = raw.CUDNN_STATUS_NOT_SUPPORTED
DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
# --- im2col -----------------------------------------------------------------------------------


# --- reordered filters ------------------------------------------------------------------------


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
