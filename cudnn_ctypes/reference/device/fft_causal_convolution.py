"""Causal convolutions by Fourier transforms on the reference device.

The reserve space of the long form holds the spectra of x and of the filter, one after the other, in
complex numbers of FLOAT, or DOUBLE for DOUBLE; the size that cuDNN reports has room for them.
"""

from __future__ import annotations

from ctypes import byref, c_size_t
from typing import Any

from numpy.typing import NDArray

from ... import raw
from ...dtypes import numpy_dtype
from ..arithmetic import round_to
from ..fft_causal_convolution import (
    fft_causal_convolution_backward,
    fft_causal_convolution_forward,
    spectrum,
    spectrum_gradients,
    spectrum_product,
)
from .call import Call
from .causal_call import check_aligned, check_sizes, types
from .memory import Use
from .registry import Refused, bad_param, implements, not_supported

NARROWEST, WIDEST, WIDEST_DOUBLE = 128, 16384, 4096


def _sequence(call: Call, name: str) -> NDArray[Any]:
    return call.array(name, call["dataType"], call["batch"], call["dim"], call["seqLen"])


def _filter(call: Call, name: str) -> NDArray[Any]:
    return call.array(name, call["dataType"], call["dim"], call["kernelSize"])


@implements("cudnnFFTCausalConv1dForward")
def forward(call: Call) -> None:
    _check_tiles(call)
    x, w = _sequence(call, "x"), _filter(call, "weight")
    _sequence(call, "y")[...] = fft_causal_convolution_forward(x, w)


@implements("cudnnFFTCausalConv1dBackward")
def backward(call: Call) -> None:
    _check_tiles(call)
    gradients = fft_causal_convolution_backward(
        x=_sequence(call, "x"), w=_filter(call, "weight"), dy=_sequence(call, "dy")
    )
    _sequence(call, "dx")[...] = gradients.dx
    _filter(call, "dweight")[...] = gradients.dw


@implements("cudnnLongFFTCausalConv1dForward")
def long_forward(call: Call) -> None:
    _use_buffers(call)
    time, dtype = call["seqLen"], numpy_dtype(call["dataType"])
    of_x, of_weight = _spectra(call, "write")
    of_x[...] = spectrum(_sequence(call, "x"), time)
    of_weight[...] = spectrum(_filter(call, "weight"), time)
    _sequence(call, "y")[...] = round_to(spectrum_product(of_x, of_weight, time), dtype)


@implements("cudnnLongFFTCausalConv1dBackward")
def long_backward(call: Call) -> None:
    _use_buffers(call)
    time, dtype = call["seqLen"], numpy_dtype(call["dataType"])
    of_dy = spectrum(_sequence(call, "dy"), time)
    dx, dw = spectrum_gradients(*_spectra(call, "read"), of_dy, time, call["kernelSize"])
    _sequence(call, "dx")[...] = round_to(dx, dtype)
    _filter(call, "dweight")[...] = round_to(dw, dtype)


def _check_tiles(call: Call) -> None:
    check_aligned(call)
    time, width = check_sizes(call)[2], call["kernelSize"]
    if width < 1:
        raise bad_param(f"kernelSize must be at least 1, got {width}")
    data_type, _ = types(call)
    widest = WIDEST_DOUBLE if data_type == raw.CUDNN_DATA_DOUBLE else WIDEST
    power_of_two = width & (width - 1) == 0
    if not (power_of_two and NARROWEST <= width <= widest) or time % width:
        raise not_supported(
            f"kernelSize must be a power of two from {NARROWEST} to {widest} that divides seqLen; "
            f"got kernelSize {width} and seqLen {time}"
        )


def _use_buffers(call: Call) -> None:
    """Refuse sizes that cuDNN's own query refuses, and buffers smaller than its answers."""
    check_aligned(call)
    sizes = (call["batch"], call["dim"], call["seqLen"], call["kernelSize"])
    needed, kept = c_size_t(), c_size_t()
    query = raw.cudnnLongFFTCausalConv1dGetBufferSizes
    status = query.unchecked(*sizes, call["dataType"], byref(needed), byref(kept))
    if status != raw.CUDNN_STATUS_SUCCESS:
        raise Refused(
            status,
            f"no long form for batch, dim, seqLen, kernelSize {sizes} in {call['dataType'].name}",
        )
    call.buffer("reserveSpace", kept.value)
    call.use_workspace("workspace", needed.value)


def _spectra(call: Call, use: Use) -> tuple[NDArray[Any], NDArray[Any]]:
    """Views of the spectra in the reserve space: of x (batch, dim, time + 1) and of weight."""
    double = call["dataType"] == raw.CUDNN_DATA_DOUBLE
    kind = raw.CUDNN_DATA_COMPLEX_FP64 if double else raw.CUDNN_DATA_COMPLEX_FP32
    shape = (call["batch"] + 1, call["dim"], call["seqLen"] + 1)
    both = call.array("reserveSpace", kind, *shape, use=use)
    return both[:-1], both[-1]
