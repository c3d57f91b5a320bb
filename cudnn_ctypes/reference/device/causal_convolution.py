"""Causal convolutions on the reference device; they take a stream and no handle.

The gradients of filters and biases, in/out parameters in C, are added to their memory.

The reserve space of the long form holds the spectra of x and of the filter, one after the other, in
complex numbers of FLOAT, or DOUBLE for DOUBLE; the size that cuDNN reports has room for them.

The refused sizes and types, and their statuses, were measured with cuDNN 9.28.
"""

from __future__ import annotations

from ctypes import byref, c_size_t
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.operand_rules.language import FLOATING
from ..arithmetic import round_to
from ..causal_convolution import (
    back_to_back_convolution_backward,
    back_to_back_convolution_forward,
    causal_convolution_backward,
    causal_convolution_forward,
    fft_causal_convolution_backward,
    fft_causal_convolution_forward,
    spectrum,
    spectrum_gradients,
    spectrum_product,
)
from ..tiles import Array
from .call import Call
from .memory import Use
from .registry import Refused, bad_param, implements, not_supported

_WIDEST, _WIDEST_CHANNELS_LAST, _WIDEST_PROJECTION = 256, 128, 32


def _check_sizes(call: Call, **widest: int) -> None:
    """Refuse sizes below 1, and filters shorter than 2 or longer than cuDNN has kernels for."""
    for name in ("batch", "dim", "seqLen"):
        if call[name] < 1:
            raise bad_param(f"{name} must be at least 1, got {call[name]}")
    for name, most in widest.items():
        if not 2 <= call[name] <= most:
            raise bad_param(f"{name} must be from 2 to {most}, got {call[name]}")


def _sums(call: Call) -> np.dtype[Any]:
    """The dtype of sums.

    All but FLOAT, DOUBLE, HALF and BFLOAT16 are refused, and gradients of filters that are not
    DOUBLE for DOUBLE and FLOAT for the others.
    """
    data_type = call["dataType"]
    if data_type not in FLOATING:
        raise not_supported(f"dataType {data_type.name}")
    double = data_type == raw.CUDNN_DATA_DOUBLE
    wanted = raw.CUDNN_DATA_DOUBLE if double else raw.CUDNN_DATA_FLOAT
    if "dwDataType" in call and call["dwDataType"] != wanted:
        raise not_supported(
            f"dwDataType must be {wanted.name} for dataType {data_type.name}, got "
            f"{call['dwDataType'].name}"
        )
    return numpy_dtype(wanted)


def _check_aligned(call: Call) -> None:
    """Refuse NULL, and memory not aligned to 16 bytes, which the FFT kernels require."""
    call.require_memory()
    for name, _, address in call.memory:
        if address and address % 16:
            raise bad_param(f"{name} must be aligned to 16 bytes, is {address:#x}")


def _direct(call: Call, names: str) -> tuple[dict[str, Any], list[Array]]:
    """The options of a direct convolution, and its memory in the logical shapes."""
    call.require_memory()
    channels_last = "Nwh" in call.name
    _check_sizes(call, kernelSize=_WIDEST_CHANNELS_LAST if channels_last else _WIDEST)
    activation = call.word("activation", "CUDNN_CAUSAL_CONV1D_ACTIVATION_")
    options = {"activation": activation, "compute_dtype": _sums(call)}
    views = map(call.dense, names.split())
    return options, [v.swapaxes(-1, -2) if channels_last and v.ndim > 1 else v for v in views]


@implements("cudnnCausalConv1dForward", "cudnnCausalConv1dNwhForward")
def forward(call: Call) -> None:
    options, (x, w, bias, y) = _direct(call, "x weight bias y")
    y[...] = causal_convolution_forward(x, w, bias, **options)


@implements("cudnnCausalConv1dBackward", "cudnnCausalConv1dNwhBackward")
def backward(call: Call) -> None:
    options, (x, w, bias, dy, dx, dw, db) = _direct(call, "x weight bias dy dx dweight dbias")
    dw_dtype = options["compute_dtype"]
    gradients = causal_convolution_backward(
        x=x, w=w, dy=dy, bias=bias, dw=dw, db=db, dw_dtype=dw_dtype, **options
    )
    dx[...], dw[...], db[...] = gradients


# -- back to back ----------------------------------------------------------------------------------

_PARAMETERS = {"w_proj": "weightsProj", "w_mixer": "weightsMixer", "skip_bias": "skipBias"}


def _back_to_back(call: Call) -> dict[str, Any]:
    """x and the parameters of two convolutions one after the other, and the dtype of sums."""
    call.require_memory()
    _check_sizes(call, kernelSizeProj=_WIDEST_PROJECTION, kernelSizeMixer=_WIDEST)
    compute_dtype = _sums(call)
    operands = {"x": "x", **_PARAMETERS}
    given = {name: call.dense(in_c) for name, in_c in operands.items()}
    return {**given, "compute_dtype": compute_dtype}


@implements("cudnnB2BCausalConv1dForward")
def back_to_back(call: Call) -> None:
    results = back_to_back_convolution_forward(**_back_to_back(call))
    call.dense("y")[...] = results.y
    call.dense("yGated")[...] = results.gated


@implements("cudnnB2BCausalConv1dBackward")
def back_to_back_gradients(call: Call) -> None:
    """The gradients of the filters are added, as in the other forms; the header does not say."""
    given = _back_to_back(call)
    gradients = {f"d{name}": call.dense(f"d{in_c}") for name, in_c in _PARAMETERS.items()}
    made = back_to_back_convolution_backward(
        **given,
        y=call.dense("y"),
        dgated=call.dense("dy"),
        **gradients,
        dw_dtype=given["compute_dtype"],
    )
    call.dense("dx")[...] = made.dx
    for name, view in gradients.items():
        view[...] = getattr(made, name)


_FFT_NARROWEST, _FFT_WIDEST, _FFT_WIDEST_DOUBLE = 128, 16384, 4096


@implements("cudnnFFTCausalConv1dForward")
def fft_forward(call: Call) -> None:
    _check_tiles(call)
    x, w = call.dense("x"), call.dense("weight")
    call.dense("y")[...] = fft_causal_convolution_forward(x, w)


@implements("cudnnFFTCausalConv1dBackward")
def fft_backward(call: Call) -> None:
    _check_tiles(call)
    gradients = fft_causal_convolution_backward(
        x=call.dense("x"), w=call.dense("weight"), dy=call.dense("dy")
    )
    call.dense("dx")[...] = gradients.dx
    call.dense("dweight")[...] = gradients.dw


@implements("cudnnLongFFTCausalConv1dForward")
def long_forward(call: Call) -> None:
    _use_buffers(call)
    time, dtype = call["seqLen"], numpy_dtype(call["dataType"])
    of_x, of_weight = _spectra(call, "write")
    of_x[...] = spectrum(call.dense("x"), time)
    of_weight[...] = spectrum(call.dense("weight"), time)
    call.dense("y")[...] = round_to(spectrum_product(of_x, of_weight, time), dtype)


@implements("cudnnLongFFTCausalConv1dBackward")
def long_backward(call: Call) -> None:
    _use_buffers(call)
    time, dtype = call["seqLen"], numpy_dtype(call["dataType"])
    of_dy = spectrum(call.dense("dy"), time)
    dx, dw = spectrum_gradients(*_spectra(call, "read"), of_dy, time, call["kernelSize"])
    call.dense("dx")[...] = round_to(dx, dtype)
    call.dense("dweight")[...] = round_to(dw, dtype)


def _check_tiles(call: Call) -> None:
    _check_aligned(call)
    _check_sizes(call)
    time, width = call["seqLen"], call["kernelSize"]
    if width < 1:
        raise bad_param(f"kernelSize must be at least 1, got {width}")
    widest = _FFT_WIDEST_DOUBLE if _sums(call) == np.float64 else _FFT_WIDEST
    power_of_two = width & (width - 1) == 0
    if not (power_of_two and _FFT_NARROWEST <= width <= widest) or time % width:
        raise not_supported(
            f"kernelSize must be a power of two from {_FFT_NARROWEST} to {widest} that divides "
            f"seqLen; got kernelSize {width} and seqLen {time}"
        )


def _use_buffers(call: Call) -> None:
    """Refuse sizes that cuDNN's own query refuses, and buffers smaller than its answers."""
    _check_aligned(call)
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


def _spectra(call: Call, use: Use) -> tuple[Array, Array]:
    """Views of the spectra in the reserve space: of x (batch, dim, time + 1) and of weight."""
    double = call["dataType"] == raw.CUDNN_DATA_DOUBLE
    kind = raw.CUDNN_DATA_COMPLEX_FP64 if double else raw.CUDNN_DATA_COMPLEX_FP32
    shape = (call["batch"] + 1, call["dim"], call["seqLen"] + 1)
    both = call.array("reserveSpace", kind, *shape, use=use)
    return both[:-1], both[-1]
