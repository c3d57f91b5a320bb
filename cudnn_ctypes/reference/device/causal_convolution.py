"""Causal convolutions on the reference device; they take a stream and no handle.

The gradients of filters and biases, in/out parameters in C, are added to their memory.

The reserve space of the long form holds the spectra of x and of the filter, one after the other, in
complex numbers of FLOAT, or DOUBLE for DOUBLE; the size that cuDNN reports has room for them.

The refused sizes and types, and their statuses, were measured with cuDNN 9.28.
"""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import byref, c_size_t
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.operand_rules.language import FLOATING
from ..arithmetic import round_to
from ..causal_convolution import (
    back_to_back_convolution_backward,
    back_to_back_convolution_forward,
    causal_convolution_backward,
    causal_convolution_forward,
)
from ..fft_causal_convolution import (
    fft_causal_convolution_backward,
    fft_causal_convolution_forward,
    spectrum,
    spectrum_gradients,
    spectrum_product,
)
from .call import Call
from .memory import Use
from .registry import Refused, bad_param, implements, not_supported

__all__ = ["check_activation", "check_aligned", "check_sizes", "check_width", "types"]

_ACTIVATIONS: Mapping[int, Any] = {
    raw.CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY: "identity",
    raw.CUDNN_CAUSAL_CONV1D_ACTIVATION_SILU: "silu",
}


def check_sizes(call: Call) -> tuple[int, int, int]:
    """batch, dim and seqLen; refused if one is not positive."""
    for name in ("batch", "dim", "seqLen"):
        if call[name] < 1:
            raise bad_param(f"{name} must be at least 1, got {call[name]}")
    return call["batch"], call["dim"], call["seqLen"]


def check_width(call: Call, name: str, largest: int) -> int:
    """The length of a filter; refused if shorter than 2 or longer than cuDNN has kernels for."""
    width: int = call[name]
    if not 2 <= width <= largest:
        raise bad_param(f"{name} must be from 2 to {largest}, got {width}")
    return width


def types(call: Call) -> tuple[raw.cudnnDataType_t, np.dtype[Any]]:
    """The data type, and the dtype of sums.

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
    return data_type, np.dtype(np.float64 if double else np.float32)


def check_activation(call: Call) -> Any:
    """The activation's name in the reference."""
    if call["activation"] not in _ACTIVATIONS:
        raise bad_param(f"activation {int(call['activation'])}")
    return _ACTIVATIONS[call["activation"]]


def check_aligned(call: Call) -> None:
    """Refuse NULL, and memory not aligned to 16 bytes, which the FFT kernels require."""
    call.require_memory()
    for name, _, address in call.memory:
        if address and address % 16:
            raise bad_param(f"{name} must be aligned to 16 bytes, is {address:#x}")


WIDEST, WIDEST_CHANNELS_LAST, WIDEST_PROJECTION = 256, 128, 32


class _Direct:
    """A call of a direct convolution, checked; views of its memory, in either layout."""

    def __init__(self, call: Call) -> None:
        call.require_memory()
        self.call, self.channels_last = call, "Nwh" in call.name
        self.sizes = check_sizes(call)
        widest = WIDEST_CHANNELS_LAST if self.channels_last else WIDEST
        self.width = check_width(call, "kernelSize", widest)
        self.activation = check_activation(call)
        self.data_type, self.compute_dtype = types(call)

    def sequence(self, name: str) -> NDArray[Any]:
        """(batch, dim, time)."""
        batch, dim, time = self.sizes
        if self.channels_last:
            return np.moveaxis(self.call.array(name, self.data_type, batch, time, dim), 2, 1)
        return self.call.array(name, self.data_type, batch, dim, time)

    def filter(self, name: str, data_type: raw.cudnnDataType_t) -> NDArray[Any]:
        """(dim, width)."""
        dim = self.sizes[1]
        if self.channels_last:
            return self.call.array(name, data_type, self.width, dim).T
        return self.call.array(name, data_type, dim, self.width)

    def bias(self, name: str, data_type: raw.cudnnDataType_t) -> NDArray[Any]:
        """(dim,)."""
        return self.call.array(name, data_type, self.sizes[1])


@implements("cudnnCausalConv1dForward", "cudnnCausalConv1dNwhForward")
def forward(call: Call) -> None:
    here = _Direct(call)
    here.sequence("y")[...] = causal_convolution_forward(
        here.sequence("x"),
        here.filter("weight", here.data_type),
        here.bias("bias", here.data_type),
        here.activation,
        compute_dtype=here.compute_dtype,
    )


@implements("cudnnCausalConv1dBackward", "cudnnCausalConv1dNwhBackward")
def backward(call: Call) -> None:
    here = _Direct(call)
    dw = here.filter("dweight", call["dwDataType"])
    db = here.bias("dbias", call["dwDataType"])
    gradients = causal_convolution_backward(
        x=here.sequence("x"),
        w=here.filter("weight", here.data_type),
        dy=here.sequence("dy"),
        bias=here.bias("bias", here.data_type),
        activation=here.activation,
        dw=dw,
        db=db,
        compute_dtype=here.compute_dtype,
        dw_dtype=here.compute_dtype,
    )
    here.sequence("dx")[...] = gradients.dx
    dw[...], db[...] = gradients.dw, gradients.db


# -- back to back ----------------------------------------------------------------------------------


class _BackToBack:
    """A call of two convolutions one after the other, checked; views of its memory."""

    def __init__(self, call: Call) -> None:
        call.require_memory()
        batch, dim, time = check_sizes(call)
        projection = check_width(call, "kernelSizeProj", WIDEST_PROJECTION)
        mixer = check_width(call, "kernelSizeMixer", WIDEST)
        self.call = call
        self.data_type, self.compute_dtype = types(call)
        self.shapes: dict[str, tuple[int, ...]] = {
            "x": (batch, dim, 3, time),
            "weightsProj": (dim, 3, projection),
            "weightsMixer": (dim, mixer),
            "skipBias": (dim,),
            "y": (batch, dim, time),
        }

    def given(self) -> dict[str, NDArray[Any]]:
        """x and the parameters."""
        names = {"x": "x", "w_proj": "weightsProj", "w_mixer": "weightsMixer"}
        names["skip_bias"] = "skipBias"
        return {name: self.array(c_name, c_name) for name, c_name in names.items()}

    def array(self, name: str, like: str) -> NDArray[Any]:
        """The memory `name`, of the shape of `like`."""
        return self.call.array(name, self.data_type, *self.shapes[like])

    def gradient(self, like: str) -> NDArray[Any]:
        """The gradient of a parameter, which is added to."""
        data_type, shape = self.call["dwDataType"], self.shapes[like]
        return self.call.array(f"d{like}", data_type, *shape, use="update")


@implements("cudnnB2BCausalConv1dForward")
def back_to_back(call: Call) -> None:
    here = _BackToBack(call)
    results = back_to_back_convolution_forward(**here.given(), compute_dtype=here.compute_dtype)
    here.array("y", "y")[...] = results.y
    here.array("yGated", "y")[...] = results.gated


@implements("cudnnB2BCausalConv1dBackward")
def back_to_back_gradients(call: Call) -> None:
    """The gradients of the filters are added, as in the other forms; the header does not say."""
    here = _BackToBack(call)
    gradients = {
        "dw_proj": here.gradient("weightsProj"),
        "dw_mixer": here.gradient("weightsMixer"),
        "dskip_bias": here.gradient("skipBias"),
    }
    made = back_to_back_convolution_backward(
        **here.given(),
        y=here.array("y", "y"),
        dgated=here.array("dy", "y"),
        **gradients,
        compute_dtype=here.compute_dtype,
        dw_dtype=here.compute_dtype,
    )
    here.array("dx", "x")[...] = made.dx
    for name, view in gradients.items():
        view[...] = getattr(made, name)


FFT_NARROWEST, FFT_WIDEST, FFT_WIDEST_DOUBLE = 128, 16384, 4096


def _sequence(call: Call, name: str) -> NDArray[Any]:
    return call.array(name, call["dataType"], call["batch"], call["dim"], call["seqLen"])


def _filter(call: Call, name: str) -> NDArray[Any]:
    return call.array(name, call["dataType"], call["dim"], call["kernelSize"])


@implements("cudnnFFTCausalConv1dForward")
def fft_forward(call: Call) -> None:
    _check_tiles(call)
    x, w = _sequence(call, "x"), _filter(call, "weight")
    _sequence(call, "y")[...] = fft_causal_convolution_forward(x, w)


@implements("cudnnFFTCausalConv1dBackward")
def fft_backward(call: Call) -> None:
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
    widest = FFT_WIDEST_DOUBLE if data_type == raw.CUDNN_DATA_DOUBLE else FFT_WIDEST
    power_of_two = width & (width - 1) == 0
    if not (power_of_two and FFT_NARROWEST <= width <= widest) or time % width:
        raise not_supported(
            f"kernelSize must be a power of two from {FFT_NARROWEST} to {widest} that divides "
            f"seqLen; got kernelSize {width} and seqLen {time}"
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
