"""Old functions that correspond to several calls of cuDNN 9."""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any

from .... import raw
from .algorithm_choice import choose
from .old_function import Arguments, implements

__all__: list[str] = []

_FORWARD = """(cudnnHandle_t handle, cudnnActivationMode_t mode, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y)"""
_BACKWARD = """(cudnnHandle_t handle, cudnnActivationMode_t mode, const void *alpha,
    const cudnnTensorDescriptor_t yDesc, const void *y, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx)"""


@implements(f"cudnnActivationForward{_FORWARD}", f"cudnnActivationForward_v3{_FORWARD}")
def activation_forward(a: Arguments) -> None:
    operands = a.alpha, a.xDesc, a.x, a.beta, a.yDesc, a.y
    _activation(a, raw.cudnnActivationForward, *operands)


@implements(f"cudnnActivationBackward{_BACKWARD}", f"cudnnActivationBackward_v3{_BACKWARD}")
def activation_backward(a: Arguments) -> None:
    operands = a.alpha, a.yDesc, a.y, a.dyDesc, a.dy, a.xDesc, a.x, a.beta, a.dxDesc, a.dx
    _activation(a, raw.cudnnActivationBackward, *operands)


def _activation(a: Arguments, function: Any, *operands: Any) -> None:
    """Call a function with a temporary descriptor of the mode."""
    descriptor = raw.cudnnActivationDescriptor_t()
    raw.cudnnCreateActivationDescriptor(descriptor)
    try:
        nan = raw.CUDNN_NOT_PROPAGATE_NAN
        raw.cudnnSetActivationDescriptor(descriptor, a.mode, nan, 0.0)
        function(a.handle, descriptor, *operands)
    finally:
        raw.cudnnDestroyActivationDescriptor(descriptor)


_FILTER = """(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xDesc,
    const void *x, const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnConvolutionDescriptor_t convDesc, const void *beta,
    const cudnnFilterDescriptor_t dwDesc, void *dw)"""
_DATA = """(cudnnHandle_t handle, const void *alpha, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnConvolutionDescriptor_t convDesc, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx)"""


@implements(
    f"cudnnConvolutionBackwardFilter{_FILTER}", f"cudnnConvolutionBackwardFilter_v2{_FILTER}"
)
def backward_filter(a: Arguments) -> None:
    algorithm = choose("BackwardFilter", 0, a.handle, a.xDesc, a.dyDesc, a.convDesc, a.dwDesc)
    raw.cudnnConvolutionBackwardFilter(
        a.handle,
        a.alpha,
        a.xDesc,
        a.x,
        a.dyDesc,
        a.dy,
        a.convDesc,
        algorithm,
        c_void_p(),
        0,
        a.beta,
        a.dwDesc,
        a.dw,
    )


@implements(f"cudnnConvolutionBackwardData{_DATA}", f"cudnnConvolutionBackwardData_v2{_DATA}")
def backward_data(a: Arguments) -> None:
    algorithm = choose("BackwardData", 0, a.handle, a.wDesc, a.dyDesc, a.convDesc, a.dxDesc)
    raw.cudnnConvolutionBackwardData(
        a.handle,
        a.alpha,
        a.wDesc,
        a.w,
        a.dyDesc,
        a.dy,
        a.convDesc,
        algorithm,
        c_void_p(),
        0,
        a.beta,
        a.dxDesc,
        a.dx,
    )
