"""Causal convolutions: results and buffers that are given, and wrong input."""

from __future__ import annotations

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceBuffer, DeviceTensor, SymbolNotFoundError

from .causal_problems import Problem, upload


@pytest.fixture
def long_form() -> None:
    """Skip where the loaded cuDNN has no long form: its buffer sizes are the library's own."""
    try:
        cudnn.long_fft_causal_convolution_buffer_sizes(1, 1, 4096)
    except SymbolNotFoundError as error:
        pytest.skip(str(error))


# --- results that are given ---------------------------------------------------------------------


def test_buffers_may_be_given(on_reference: None, long_form: None) -> None:
    sums = Problem("float32", 2, 4)
    x, weight = upload(sums.normal(1, 1, 4096)), upload(sums.normal(1, 4096))
    sizes = cudnn.long_fft_causal_convolution_buffer_sizes(1, 1, 4096)
    with DeviceBuffer(sizes.workspace) as workspace, DeviceBuffer(sizes.reserve_space) as reserve:
        made = cudnn.long_fft_causal_convolution_forward(
            x, weight, workspace=workspace, reserve_space=reserve
        )
        assert made.reserve_space is reserve
        cudnn.long_fft_causal_convolution_backward(dy=x, reserve_space=reserve, workspace=workspace)
        with (
            DeviceBuffer(8) as small,
            pytest.raises(ValueError, match=f"workspace: 8 bytes .* {sizes.workspace} are needed"),
        ):
            cudnn.long_fft_causal_convolution_forward(x, weight, workspace=small)
    with pytest.raises(TypeError, match="reserve_space: the size behind an address"):
        cudnn.long_fft_causal_convolution_backward(dy=x, reserve_space=4096)


# --- wrong input --------------------------------------------------------------------------------


def zeros(*shape: int, dtype: str = "float32") -> DeviceTensor:
    return DeviceTensor.zeros(shape, dtype)


def test_layouts_that_differ(on_reference: None) -> None:
    last = upload(np.zeros((2, 3, 8), np.float32), channels_last=True)
    with pytest.raises(ValueError, match="x and w: both must be dense"):
        cudnn.causal_convolution_forward(last, zeros(3, 4))
    filters = upload(np.zeros((3, 4), np.float32), channels_last=True)
    with pytest.raises(ValueError, match=r"dy: expected strides \(24, 1, 3\)"):
        cudnn.causal_convolution_backward(x=last, w=filters, dy=zeros(2, 3, 8))
