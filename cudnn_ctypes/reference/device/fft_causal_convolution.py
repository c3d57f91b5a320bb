"""The causal convolutions by Fourier transforms on the reference device.

The reserve space of the long form holds the spectra of x and of the filter, one after the other,
in complex numbers of FLOAT, or DOUBLE for DOUBLE; what cuDNN asks for has room for them.
"""

from __future__ import annotations

from ctypes import byref, c_size_t
from typing import Any

import numpy as np
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
from .causal_call import check_aligned, check_sizes, check_types, dense
from .dispatch import Refused, implements
from .memory import Use, scribble

NARROWEST, WIDEST, WIDEST_DOUBLE = 128, 16384, 4096


@implements("cudnnFFTCausalConv1dForward")
def forward(
    stream: Any,
    x: int | None,
    weight: int | None,
    y: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSize: int,
    dataType: raw.cudnnDataType_t,
) -> None:
    check_aligned(x=x, weight=weight, y=y)
    _check_tiles(batch, dim, seqLen, kernelSize, dataType)
    dense("y", y, dataType, batch, dim, seqLen, use="write")[...] = fft_causal_convolution_forward(
        dense("x", x, dataType, batch, dim, seqLen),
        dense("weight", weight, dataType, dim, kernelSize),
    )


@implements("cudnnFFTCausalConv1dBackward")
def backward(
    stream: Any,
    x: int | None,
    weight: int | None,
    dy: int | None,
    dx: int | None,
    dweight: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSize: int,
    dataType: raw.cudnnDataType_t,
) -> None:
    check_aligned(x=x, weight=weight, dy=dy, dx=dx, dweight=dweight)
    _check_tiles(batch, dim, seqLen, kernelSize, dataType)
    made = fft_causal_convolution_backward(
        dense("x", x, dataType, batch, dim, seqLen),
        dense("weight", weight, dataType, dim, kernelSize),
        dense("dy", dy, dataType, batch, dim, seqLen),
    )
    dense("dx", dx, dataType, batch, dim, seqLen, use="write")[...] = made.dx
    dense("dweight", dweight, dataType, dim, kernelSize, use="write")[...] = made.dweight


@implements("cudnnLongFFTCausalConv1dForward")
def long_forward(
    stream: Any,
    x: int | None,
    weight: int | None,
    y: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSize: int,
    dataType: raw.cudnnDataType_t,
    workspace: int | None,
    workspaceSizeInBytes: int,
    reserveSpace: int | None,
    reserveSpaceSizeInBytes: int,
) -> None:
    check_aligned(x=x, weight=weight, y=y, workspace=workspace, reserveSpace=reserveSpace)
    sizes = (batch, dim, seqLen, kernelSize)
    _use_buffers(sizes, dataType, workspace, workspaceSizeInBytes, reserveSpaceSizeInBytes)
    of_x, of_weight = _spectra(reserveSpace, batch, dim, seqLen, dataType, "write")
    of_x[...] = spectrum(dense("x", x, dataType, batch, dim, seqLen), seqLen)
    of_weight[...] = spectrum(dense("weight", weight, dataType, dim, kernelSize), seqLen)
    result = spectrum_product(of_x, of_weight, seqLen)
    dense("y", y, dataType, batch, dim, seqLen, use="write")[...] = round_to(
        result, numpy_dtype(dataType)
    )


@implements("cudnnLongFFTCausalConv1dBackward")
def long_backward(
    stream: Any,
    dy: int | None,
    dx: int | None,
    dweight: int | None,
    batch: int,
    dim: int,
    seqLen: int,
    kernelSize: int,
    dataType: raw.cudnnDataType_t,
    workspace: int | None,
    workspaceSizeInBytes: int,
    reserveSpace: int | None,
    reserveSpaceSizeInBytes: int,
) -> None:
    check_aligned(dy=dy, dx=dx, dweight=dweight, workspace=workspace, reserveSpace=reserveSpace)
    sizes = (batch, dim, seqLen, kernelSize)
    _use_buffers(sizes, dataType, workspace, workspaceSizeInBytes, reserveSpaceSizeInBytes)
    of_x, of_weight = _spectra(reserveSpace, batch, dim, seqLen, dataType, "read")
    of_dy = spectrum(dense("dy", dy, dataType, batch, dim, seqLen), seqLen)
    results = spectrum_gradients(of_x, of_weight, of_dy, seqLen, kernelSize)
    dtype = numpy_dtype(dataType)
    dense("dx", dx, dataType, batch, dim, seqLen, use="write")[...] = round_to(results[0], dtype)
    dense("dweight", dweight, dataType, dim, kernelSize, use="write")[...] = round_to(
        results[1], dtype
    )


def _check_tiles(
    batch: int, dim: int, seqLen: int, kernelSize: int, dataType: raw.cudnnDataType_t
) -> None:
    check_sizes(batch=batch, dim=dim, seqLen=seqLen, kernelSize=kernelSize)
    check_types(dataType)
    widest = WIDEST_DOUBLE if dataType == raw.CUDNN_DATA_DOUBLE else WIDEST
    power_of_two = kernelSize & (kernelSize - 1) == 0
    if not (power_of_two and NARROWEST <= kernelSize <= widest) or seqLen % kernelSize:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"kernelSize must be a power of two from {NARROWEST} to {widest} that divides seqLen; "
            f"got kernelSize {kernelSize} and seqLen {seqLen}",
        )


def _use_buffers(
    sizes: tuple[int, int, int, int],
    dataType: raw.cudnnDataType_t,
    workspace: int | None,
    workspace_size: int,
    reserve_size: int,
) -> None:
    """Refuse what cuDNN's own query refuses, and buffers smaller than it asks for."""
    needed, kept = c_size_t(), c_size_t()
    query = raw.cudnnLongFFTCausalConv1dGetBufferSizes
    status = query.unchecked(*sizes, dataType, byref(needed), byref(kept))
    if status != raw.CUDNN_STATUS_SUCCESS:
        raise Refused(
            status, f"no long form for batch, dim, seqLen, kernelSize {sizes} in {dataType.name}"
        )
    for name, given, wanted in (
        ("workspaceSizeInBytes", workspace_size, needed.value),
        ("reserveSpaceSizeInBytes", reserve_size, kept.value),
    ):
        if given < wanted:
            raise Refused(
                raw.CUDNN_STATUS_BAD_PARAM, f"{name} must be at least {wanted}, got {given}"
            )
    scribble(workspace, needed.value, "workspace")


def _spectra(
    reserve: int | None, batch: int, dim: int, time: int, dataType: raw.cudnnDataType_t, use: Use
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Views of the spectra in the reserve space: of x (batch, dim, time + 1) and of weight."""
    kind = (
        raw.CUDNN_DATA_COMPLEX_FP64
        if dataType == raw.CUDNN_DATA_DOUBLE
        else raw.CUDNN_DATA_COMPLEX_FP32
    )
    both: NDArray[np.complexfloating[Any]] = dense(
        "reserveSpace", reserve, kind, batch + 1, dim, time + 1, use=use
    )
    return both[:batch], both[batch]
