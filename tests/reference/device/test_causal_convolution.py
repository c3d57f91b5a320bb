"""Which sizes and types the causal convolutions of the reference device take, in C's own calls."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_size_t
from typing import Any

import pytest

from cudnn_ctypes import (
    BadParamError,
    DeviceBuffer,
    DeviceTensor,
    ExecutionFailedError,
    NotSupportedError,
    SymbolNotFoundError,
    raw,
    use_reference_device,
)

FLOAT = raw.CUDNN_DATA_FLOAT
IDENTITY = raw.CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    with use_reference_device():
        yield


def buffers(*sizes: Any) -> tuple[int, int]:
    """Sizes that the library itself gives; the test is skipped if it is too old for them."""
    work, reserve = c_size_t(), c_size_t()
    try:
        raw.cudnnLongFFTCausalConv1dGetBufferSizes(*sizes, work, reserve)
    except SymbolNotFoundError as error:
        pytest.skip(str(error))
    return work.value, reserve.value


# The statuses are those that cuDNN 9.28 gives.


def direct(**changes: Any) -> None:
    x = DeviceTensor.zeros((1, 2, 16), "float32")
    weight, bias = DeviceTensor.zeros((2, 257), "float32"), DeviceTensor.zeros((2,), "float32")
    arguments = {
        "stream": None,
        "x": x,
        "weight": weight,
        "bias": bias,
        "y": x,
        "batch": 1,
        "dim": 2,
        "seqLen": 16,
        "kernelSize": 4,
        "dataType": FLOAT,
        "activation": IDENTITY,
    }
    raw.cudnnCausalConv1dForward(**{**arguments, **changes})


@pytest.mark.parametrize("name", ["x", "weight", "y"])
def test_memory_that_is_too_small(name: str) -> None:
    small = DeviceTensor.zeros((1, 2, 2), "float32")
    with pytest.raises(ValueError, match=rf"'{name}': 16 bytes, but CUDNN_DATA_FLOAT \(.*\) takes"):
        direct(**{name: small})
    with pytest.raises(ExecutionFailedError, match=f"{name} is too small"):
        direct(**{name: small.ptr})  # "I know", but the reference device sees it


def test_channels_last_has_a_limit_of_its_own() -> None:
    x = DeviceTensor.zeros((1, 16, 2), "float32")
    weight, bias = DeviceTensor.zeros((256, 2), "float32"), DeviceTensor.zeros((2,), "float32")
    with pytest.raises(BadParamError, match="from 2 to 128, got 129"):
        raw.cudnnCausalConv1dNwhForward(None, x, weight, bias, x, 1, 2, 16, 129, FLOAT, IDENTITY)


def test_fft_alignment() -> None:
    with DeviceBuffer(4096) as memory, pytest.raises(BadParamError, match="weight must be aligned"):
        raw.cudnnFFTCausalConv1dForward(None, memory, memory.view(4), memory, 1, 1, 128, 128, FLOAT)


def test_long_fft_buffers() -> None:
    sizes = (1, 1, 4096, 4096, FLOAT)
    work, reserve = buffers(*sizes)
    with DeviceBuffer(work) as memory:
        for given, message in (
            ((work - 1, reserve), f"workspaceSizeInBytes = {work - 1} is less than the {work}"),
            ((work, reserve - 1), f"reserveSpaceSizeInBytes = .* is less than the {reserve}"),
        ):
            with pytest.raises(BadParamError, match=message):
                raw.cudnnLongFFTCausalConv1dForward(
                    None, memory, memory, memory, *sizes, memory, given[0], memory, given[1]
                )
        with pytest.raises(NotSupportedError, match="no long form"):
            raw.cudnnLongFFTCausalConv1dBackward(
                None, memory, memory, memory, 1, 1, 2048, 2048, FLOAT, memory, 0, memory, 0
            )
