"""Functions of cuDNN 9 under their old names and with their old parameters."""

from __future__ import annotations

import re
from ctypes import c_void_p
from typing import Any

from .... import raw
from ....raw.ctypes_support import storage_type
from .algorithms import choose, note_untyped
from .declarations import parse
from .old_function import Arguments, Implementation, add, implements

__all__: list[str] = []

_ROWS = """
cudnnSetConvolution2dDescriptor{,_v4}(cudnnConvolutionDescriptor_t convDesc, int pad_h, int pad_w,
    int u, int v, int upscalex, int upscaley, cudnnConvolutionMode_t mode)
  = cudnnSetConvolution2dDescriptor(convDesc, pad_h, pad_w, u, v, upscalex, upscaley, mode,
    CUDNN_DATA_FLOAT)

cudnnGetConvolution2dDescriptor{,_v4}(const cudnnConvolutionDescriptor_t convDesc, int *pad_h,
    int *pad_w, int *u, int *v, int *upscalex, int *upscaley, cudnnConvolutionMode_t *mode)
  = cudnnGetConvolution2dDescriptor(convDesc, pad_h, pad_w, u, v, upscalex, upscaley, mode, _)

cudnnSetConvolution2dDescriptor_v5(cudnnConvolutionDescriptor_t convDesc, int pad_h, int pad_w,
    int u, int v, int upscalex, int upscaley, cudnnConvolutionMode_t mode,
    cudnnDataType_t dataType)
  = cudnnSetConvolution2dDescriptor(convDesc, pad_h, pad_w, u, v, upscalex, upscaley, mode,
    dataType)

cudnnGetConvolution2dDescriptor_v5(const cudnnConvolutionDescriptor_t convDesc, int *pad_h,
    int *pad_w, int *u, int *v, int *upscalex, int *upscaley, cudnnConvolutionMode_t *mode,
    cudnnDataType_t *dataType)
  = cudnnGetConvolution2dDescriptor(convDesc, pad_h, pad_w, u, v, upscalex, upscaley, mode,
    dataType)

cudnnSetConvolutionNdDescriptor{,_v2}(cudnnConvolutionDescriptor_t convDesc, int arrayLength,
    const int padA[], const int filterStrideA[], const int upscaleA[], cudnnConvolutionMode_t mode)
  = cudnnSetConvolutionNdDescriptor(convDesc, arrayLength, padA, filterStrideA, upscaleA, mode,
    CUDNN_DATA_FLOAT)

cudnnGetConvolutionNdDescriptor{,_v2}(const cudnnConvolutionDescriptor_t convDesc,
    int arrayLengthRequested, int *arrayLength, int padA[], int strideA[], int upscaleA[],
    cudnnConvolutionMode_t *mode)
  = cudnnGetConvolutionNdDescriptor(convDesc, arrayLengthRequested, arrayLength, padA, strideA,
    upscaleA, mode, _)

cudnnSetConvolutionNdDescriptor_v3(cudnnConvolutionDescriptor_t convDesc, int arrayLength,
    const int padA[], const int filterStrideA[], const int upscaleA[], cudnnConvolutionMode_t mode,
    cudnnDataType_t dataType)
  = cudnnSetConvolutionNdDescriptor(convDesc, arrayLength, padA, filterStrideA, upscaleA, mode,
    dataType)

cudnnGetConvolutionNdDescriptor_v3(const cudnnConvolutionDescriptor_t convDesc,
    int arrayLengthRequested, int *arrayLength, int padA[], int strideA[], int upscaleA[],
    cudnnConvolutionMode_t *mode, cudnnDataType_t *dataType)
  = cudnnGetConvolutionNdDescriptor(convDesc, arrayLengthRequested, arrayLength, padA, strideA,
    upscaleA, mode, dataType)

cudnnSetFilter4dDescriptor{,_v3}(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType,
    int k, int c, int h, int w)
  = cudnnSetFilter4dDescriptor(filterDesc, dataType, CUDNN_TENSOR_NCHW, k, c, h, w)

cudnnSetFilter4dDescriptor_v4(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType,
    cudnnTensorFormat_t format, int k, int c, int h, int w)
  = cudnnSetFilter4dDescriptor(filterDesc, dataType, format, k, c, h, w)

cudnnGetFilter4dDescriptor{,_v3}(const cudnnFilterDescriptor_t filterDesc,
    cudnnDataType_t *dataType, int *k, int *c, int *h, int *w)
  = cudnnGetFilter4dDescriptor(filterDesc, dataType, _, k, c, h, w)

cudnnGetFilter4dDescriptor_v4(const cudnnFilterDescriptor_t filterDesc,
    cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *k, int *c, int *h, int *w)
  = cudnnGetFilter4dDescriptor(filterDesc, dataType, format, k, c, h, w)

cudnnSetFilterNdDescriptor{,_v3}(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType,
    int nbDims, const int filterDimA[])
  = cudnnSetFilterNdDescriptor(filterDesc, dataType, CUDNN_TENSOR_NCHW, nbDims, filterDimA)

cudnnSetFilterNdDescriptor_v4(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType,
    cudnnTensorFormat_t format, int nbDims, const int filterDimA[])
  = cudnnSetFilterNdDescriptor(filterDesc, dataType, format, nbDims, filterDimA)

cudnnGetFilterNdDescriptor{,_v3}(const cudnnFilterDescriptor_t filterDesc, int nbDimsRequested,
    cudnnDataType_t *dataType, int *nbDims, int filterDimA[])
  = cudnnGetFilterNdDescriptor(filterDesc, nbDimsRequested, dataType, _, nbDims, filterDimA)

cudnnGetFilterNdDescriptor_v4(const cudnnFilterDescriptor_t filterDesc, int nbDimsRequested,
    cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *nbDims, int filterDimA[])
  = cudnnGetFilterNdDescriptor(filterDesc, nbDimsRequested, dataType, format, nbDims, filterDimA)

cudnnSetPooling2dDescriptor{,_v3}(cudnnPoolingDescriptor_t poolingDesc, cudnnPoolingMode_t mode,
    int windowHeight, int windowWidth, int verticalPadding, int horizontalPadding,
    int verticalStride, int horizontalStride)
  = cudnnSetPooling2dDescriptor(poolingDesc, mode, CUDNN_NOT_PROPAGATE_NAN, windowHeight,
    windowWidth, verticalPadding, horizontalPadding, verticalStride, horizontalStride)

cudnnSetPooling2dDescriptor_v4(cudnnPoolingDescriptor_t poolingDesc, cudnnPoolingMode_t mode,
    cudnnNanPropagation_t maxpoolingNanOpt, int windowHeight, int windowWidth,
    int verticalPadding, int horizontalPadding, int verticalStride, int horizontalStride)
  = cudnnSetPooling2dDescriptor(poolingDesc, mode, maxpoolingNanOpt, windowHeight, windowWidth,
    verticalPadding, horizontalPadding, verticalStride, horizontalStride)

cudnnGetPooling2dDescriptor{,_v3}(const cudnnPoolingDescriptor_t poolingDesc,
    cudnnPoolingMode_t *mode, int *windowHeight, int *windowWidth, int *verticalPadding,
    int *horizontalPadding, int *verticalStride, int *horizontalStride)
  = cudnnGetPooling2dDescriptor(poolingDesc, mode, _, windowHeight, windowWidth, verticalPadding,
    horizontalPadding, verticalStride, horizontalStride)

cudnnGetPooling2dDescriptor_v4(const cudnnPoolingDescriptor_t poolingDesc,
    cudnnPoolingMode_t *mode, cudnnNanPropagation_t *maxpoolingNanOpt, int *windowHeight,
    int *windowWidth, int *verticalPadding, int *horizontalPadding, int *verticalStride,
    int *horizontalStride)
  = cudnnGetPooling2dDescriptor(poolingDesc, mode, maxpoolingNanOpt, windowHeight, windowWidth,
    verticalPadding, horizontalPadding, verticalStride, horizontalStride)

cudnnSetPoolingNdDescriptor{,_v3}(cudnnPoolingDescriptor_t poolingDesc,
    const cudnnPoolingMode_t mode, int nbDims, const int windowDimA[], const int paddingA[],
    const int strideA[])
  = cudnnSetPoolingNdDescriptor(poolingDesc, mode, CUDNN_NOT_PROPAGATE_NAN, nbDims, windowDimA,
    paddingA, strideA)

cudnnSetPoolingNdDescriptor_v4(cudnnPoolingDescriptor_t poolingDesc,
    const cudnnPoolingMode_t mode, const cudnnNanPropagation_t maxpoolingNanOpt, int nbDims,
    const int windowDimA[], const int paddingA[], const int strideA[])
  = cudnnSetPoolingNdDescriptor(poolingDesc, mode, maxpoolingNanOpt, nbDims, windowDimA, paddingA,
    strideA)

cudnnGetPoolingNdDescriptor{,_v3}(const cudnnPoolingDescriptor_t poolingDesc,
    int nbDimsRequested, cudnnPoolingMode_t *mode, int *nbDims, int windowDimA[], int paddingA[],
    int strideA[])
  = cudnnGetPoolingNdDescriptor(poolingDesc, nbDimsRequested, mode, _, nbDims, windowDimA, paddingA,
    strideA)

cudnnGetPoolingNdDescriptor_v4(const cudnnPoolingDescriptor_t poolingDesc,
    int nbDimsRequested, cudnnPoolingMode_t *mode, cudnnNanPropagation_t *maxpoolingNanOpt,
    int *nbDims, int windowDimA[], int paddingA[], int strideA[])
  = cudnnGetPoolingNdDescriptor(poolingDesc, nbDimsRequested, mode, maxpoolingNanOpt, nbDims,
    windowDimA, paddingA, strideA)

cudnnActivationForward_v4(cudnnHandle_t handle, cudnnActivationDescriptor_t activationDesc,
    const void *alpha, const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y)
  = cudnnActivationForward(handle, activationDesc, alpha, xDesc, x, beta, yDesc, y)

cudnnActivationBackward_v4(cudnnHandle_t handle, cudnnActivationDescriptor_t activationDesc,
    const void *alpha, const cudnnTensorDescriptor_t yDesc, const void *y,
    const cudnnTensorDescriptor_t dyDesc, const void *dy, const cudnnTensorDescriptor_t xDesc,
    const void *x, const void *beta, const cudnnTensorDescriptor_t dxDesc, void *dx)
  = cudnnActivationBackward(handle, activationDesc, alpha, yDesc, y, dyDesc, dy, xDesc, x, beta,
    dxDesc, dx)

cudnnAddTensor{,_v2}(cudnnHandle_t handle, cudnnAddMode_t mode, const void *alpha,
    const cudnnTensorDescriptor_t biasDesc, const void *biasData, const void *beta,
    cudnnTensorDescriptor_t srcDestDesc, void *srcDestData)
  = cudnnAddTensor(handle, alpha, biasDesc, biasData, beta, srcDestDesc, srcDestData)

cudnnAddTensor_v3(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t bDesc,
    const void *b, const void *beta, cudnnTensorDescriptor_t yDesc, void *y)
  = cudnnAddTensor(handle, alpha, bDesc, b, beta, yDesc, y)

cudnnConvolutionBackwardFilter_v3(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes,
    const void *beta, const cudnnFilterDescriptor_t dwDesc, void *dw)
  = cudnnConvolutionBackwardFilter(handle, alpha, xDesc, x, dyDesc, dy, convDesc, algo, workSpace,
    workSpaceSizeInBytes, beta, dwDesc, dw)

cudnnConvolutionBackwardData_v3(cudnnHandle_t handle, const void *alpha,
    const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdDataAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes,
    const void *beta, const cudnnTensorDescriptor_t dxDesc, void *dx)
  = cudnnConvolutionBackwardData(handle, alpha, wDesc, w, dyDesc, dy, convDesc, algo, workSpace,
    workSpaceSizeInBytes, beta, dxDesc, dx)

cudnnOpsInferVersionCheck() = cudnnOpsVersionCheck()
cudnnOpsTrainVersionCheck() = cudnnOpsVersionCheck()
cudnnCnnInferVersionCheck() = cudnnCnnVersionCheck()
cudnnCnnTrainVersionCheck() = cudnnCnnVersionCheck()
cudnnAdvInferVersionCheck() = cudnnAdvVersionCheck()
cudnnAdvTrainVersionCheck() = cudnnAdvVersionCheck()
"""

_ROW = re.compile(r"(cudnn\w+)(\{,\w+\})?(\([^()]*\))\s*=\s*(cudnn\w+)\(([^()]*)\)")


def _implementation(name: str, arguments: str) -> Implementation:
    """A function that makes the call `name` with these arguments."""
    words = arguments.split(", ") if arguments else []
    untyped = name.startswith("cudnnSetConvolution") and words[-1] == "CUDNN_DATA_FLOAT"

    def call(a: Arguments) -> None:
        function = raw.FUNCTIONS[name]
        function(*[_value(a, *each) for each in zip(words, function.parameters, strict=True)])
        if untyped:
            note_untyped(a.convDesc)

    return call


def _value(a: Arguments, word: str, parameter: raw.Parameter) -> Any:
    if word == "_":
        return storage_type(parameter.type.base)()
    if word == "NULL":
        return None
    return getattr(raw, word) if word.startswith("CUDNN_") else getattr(a, word)


for _name, _suffix, _parameters, _new, _arguments in _ROW.findall(_ROWS):
    for _each in ("", _suffix.strip("{,}")) if _suffix else ("",):
        _prototype = parse(f"{_name}{_each}{_parameters}")
        add(_prototype, _implementation(_new, " ".join(_arguments.split())))


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
