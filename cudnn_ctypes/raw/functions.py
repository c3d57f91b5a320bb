# ruff: noqa: I001
# mypy: disable-error-code="empty-body"
# fmt: off
"""The functions of cuDNN 9.28.0.

One declaration per C function, with C's names, in the order of the headers. Type checkers read the
annotations as `argument_types` declares their words, and calls as `vocabulary` explains them.

Generated from the cuDNN headers by ``python -m tools.generate``; do not edit.
"""

from __future__ import annotations

from ctypes import (
    c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint, c_uint32,
    c_ulonglong, c_void_p,
)
from typing import TYPE_CHECKING, Annotated

from .argument_types import (
    Callback, CallbackPointer, Const, CudaGraph, DeviceMemory, EnumArrayOf, EnumPointer, EnumValue,
    Extent, Factor, FilledArray, FilledEnumArray, FilledIntArray, Handle, HostMemory, HostScalar,
    InOut, Int, IntArray, Labelled, MayBeUnset, Mutable, NewHandle, NotNull, Nullable, Out, Padding,
    Pointer, Real, Stream, StructPointer,
)
from .enums import (
    CUDNN_STATUS_BAD_PARAM, CUDNN_STATUS_NOT_SUPPORTED, cudnnActivationMode_t,
    cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, cudnnBackendDescriptorType_t,
    cudnnBatchNormMode_t, cudnnBatchNormOps_t, cudnnCausalConv1dActivation_t,
    cudnnConvolutionBwdDataAlgo_t, cudnnConvolutionBwdFilterAlgo_t, cudnnConvolutionFwdAlgo_t,
    cudnnConvolutionMode_t, cudnnCTCGradMode_t, cudnnCTCLossAlgo_t, cudnnDataType_t,
    cudnnDirectionMode_t, cudnnDivNormMode_t, cudnnErrQueryMode_t, cudnnFoldingDirection_t,
    cudnnForwardMode_t, cudnnFusedOps_t, cudnnFusedOpsConstParamLabel_t,
    cudnnFusedOpsVariantParamLabel_t, cudnnGnnAggOp_t, cudnnIndicesType_t,
    cudnnLossNormalizationMode_t, cudnnLRNMode_t, cudnnMathType_t, cudnnMultiHeadAttnWeightKind_t,
    cudnnNanPropagation_t, cudnnNormAlgo_t, cudnnNormMode_t, cudnnNormOps_t, cudnnOpTensorOp_t,
    cudnnPoolingMode_t, cudnnReduceTensorIndices_t, cudnnReduceTensorOp_t, cudnnReorderType_t,
    cudnnRNNAlgo_t, cudnnRNNBiasMode_t, cudnnRNNClipMode_t, cudnnRNNDataLayout_t,
    cudnnRNNInputMode_t, cudnnRNNMode_t, cudnnSamplerType_t, cudnnSeqDataAxis_t,
    cudnnSoftmaxAlgorithm_t, cudnnSoftmaxMode_t, cudnnStatus_t, cudnnTensorFormat_t,
    cudnnWgradMode_t,
)
from .function import Function, function
from .types import (
    cudaStream_t, cudnnActivationDescriptor_t, cudnnAttnDescriptor_t, cudnnBackendDescriptor_t,
    cudnnConvolutionBwdDataAlgoPerf_t, cudnnConvolutionBwdFilterAlgoPerf_t,
    cudnnConvolutionDescriptor_t, cudnnConvolutionFwdAlgoPerf_t, cudnnCTCLossDescriptor_t,
    cudnnDropoutDescriptor_t, cudnnFilterDescriptor_t, cudnnFusedOpsConstParamPack_t,
    cudnnFusedOpsPlan_t, cudnnFusedOpsVariantParamPack_t, cudnnGnnCscGraph_t, cudnnGnnMhaParams_t,
    cudnnHandle_t, cudnnLRNDescriptor_t, cudnnOpTensorDescriptor_t, cudnnPoolingDescriptor_t,
    cudnnReduceTensorDescriptor_t, cudnnRNNDataDescriptor_t, cudnnRNNDescriptor_t,
    cudnnRuntimeTag_t, cudnnSeqDataDescriptor_t, cudnnSpatialTransformerDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorTransformDescriptor_t, libraryPropertyType,
)
from .vocabulary import (
    dense, elements, lent, needed_by, per_sample, sum_of, told_by, unset_without,
)

# --- cudnn_graph.h ---

@function("cudnn_graph.h", since="2.0.0")
def cudnnGetVersion() -> Annotated[int, c_size_t]: ...

@function("cudnn_graph.h", since="8.6.0")
def cudnnGetMaxDeviceVersion() -> Annotated[int, c_size_t]: ...

@function("cudnn_graph.h", since="6.0.0")
def cudnnGetCudartVersion() -> Annotated[int, c_size_t]: ...

@function("cudnn_graph.h", since="2.0.0")
def cudnnGetErrorString(status: EnumValue[cudnnStatus_t]) -> Annotated[str, c_char_p]: ...

@function("cudnn_graph.h", since="9.0.0")
def cudnnGetLastErrorString(
    message: Annotated[NotNull[Out[FilledArray[c_char]]], "max_size"],
    max_size: Int[c_size_t]) -> None: ...

@function("cudnn_graph.h", since="7.0.5", replaced_by="cudnnGetLastErrorString",
          carried_out="handle")
def cudnnQueryRuntimeError(
    handle: Handle[cudnnHandle_t],
    rstatus: Out[EnumPointer[cudnnStatus_t]],
    mode: EnumValue[cudnnErrQueryMode_t],
    tag: Out[Pointer[cudnnRuntimeTag_t]]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="6.0.0")
def cudnnGetProperty(
    type: EnumValue[libraryPropertyType],
    value: Out[Pointer[c_int]]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="1.0.0", carried_out="handle")
def cudnnCreate(handle: Out[NewHandle[cudnnHandle_t]]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="1.0.0", carried_out="handle")
def cudnnDestroy(handle: Handle[cudnnHandle_t]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="1.0.0", carried_out="handle")
def cudnnSetStream(handle: Handle[cudnnHandle_t], streamId: Stream) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="1.0.0", carried_out="handle")
def cudnnGetStream(
    handle: Handle[cudnnHandle_t],
    streamId: NotNull[Out[NewHandle[cudaStream_t]]]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="7.1.3")
def cudnnSetCallback(
    mask: Int[c_uint],
    udata: Mutable[HostMemory],
    fptr: Callback) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="7.1.3")
def cudnnGetCallback(
    mask: Out[Pointer[c_uint]],
    udata: Out[Pointer[c_void_p]],
    fptr: Out[CallbackPointer]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="9.0.0")
def cudnnGraphVersionCheck() -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="8.0.1", taken_over="backend")
def cudnnBackendCreateDescriptor(
    descriptorType: EnumValue[cudnnBackendDescriptorType_t],
    descriptor: NotNull[Out[NewHandle[cudnnBackendDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="8.0.1", taken_over="backend")
def cudnnBackendDestroyDescriptor(
    descriptor: Nullable[Handle[cudnnBackendDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="8.0.1", replaced_by="cudnnBackendCreateDescriptor",
          taken_over="backend")
def cudnnBackendInitialize(descriptor: Handle[cudnnBackendDescriptor_t]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="8.0.1", taken_over="backend")
def cudnnBackendFinalize(descriptor: Handle[cudnnBackendDescriptor_t]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="8.0.1", taken_over="backend")
def cudnnBackendSetAttribute(
    descriptor: Handle[cudnnBackendDescriptor_t],
    attributeName: EnumValue[cudnnBackendAttributeName_t],
    attributeType: EnumValue[cudnnBackendAttributeType_t],
    elementCount: Int[c_int64],
    arrayOfElements: HostMemory) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="8.0.1", taken_over="backend")
def cudnnBackendGetAttribute(
    descriptor: Const[Handle[cudnnBackendDescriptor_t]],
    attributeName: EnumValue[cudnnBackendAttributeName_t],
    attributeType: EnumValue[cudnnBackendAttributeType_t],
    requestedElementCount: Int[c_int64],
    elementCount: Out[Pointer[c_int64]],
    arrayOfElements: Out[HostMemory]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="9.23.0", carried_out="backend")
def cudnnGetExecutionPlanWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    executionPlan: Nullable[Handle[cudnnBackendDescriptor_t]],
    variantPack: Nullable[Handle[cudnnBackendDescriptor_t]],
    workspaceSizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="8.0.1", carried_out="backend")
def cudnnBackendExecute(
    handle: Handle[cudnnHandle_t],
    executionPlan: Nullable[Handle[cudnnBackendDescriptor_t]],
    variantPack: Nullable[Handle[cudnnBackendDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="9.5.0", carried_out="backend")
def cudnnBackendPopulateCudaGraph(
    handle: Handle[cudnnHandle_t],
    executionPlan: Nullable[Handle[cudnnBackendDescriptor_t]],
    variantPack: Nullable[Handle[cudnnBackendDescriptor_t]],
    graph: InOut[CudaGraph]) -> cudnnStatus_t: ...

@function("cudnn_graph.h", since="9.5.0", carried_out="backend")
def cudnnBackendUpdateCudaGraph(
    handle: Handle[cudnnHandle_t],
    executionPlan: Nullable[Handle[cudnnBackendDescriptor_t]],
    variantPack: Nullable[Handle[cudnnBackendDescriptor_t]],
    graph: InOut[CudaGraph]) -> cudnnStatus_t: ...

# --- cudnn_ops.h ---

@function("cudnn_ops.h", since="2.0.0")
def cudnnCreateTensorDescriptor(
    tensorDesc: Out[NewHandle[cudnnTensorDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0")
def cudnnSetTensor4dDescriptor(
    tensorDesc: InOut[Handle[cudnnTensorDescriptor_t]],
    format: EnumValue[cudnnTensorFormat_t],
    dataType: EnumValue[cudnnDataType_t],
    n: Int[c_int],
    c: Int[c_int],
    h: Int[c_int],
    w: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0")
def cudnnSetTensor4dDescriptorEx(
    tensorDesc: InOut[Handle[cudnnTensorDescriptor_t]],
    dataType: EnumValue[cudnnDataType_t],
    n: Int[c_int],
    c: Int[c_int],
    h: Int[c_int],
    w: Int[c_int],
    nStride: Int[c_int],
    cStride: Int[c_int],
    hStride: Int[c_int],
    wStride: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0")
def cudnnGetTensor4dDescriptor(
    tensorDesc: MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]],
    dataType: Out[EnumPointer[cudnnDataType_t]],
    n: Out[Pointer[c_int]],
    c: Out[Pointer[c_int]],
    h: Out[Pointer[c_int]],
    w: Out[Pointer[c_int]],
    nStride: Out[Pointer[c_int]],
    cStride: Out[Pointer[c_int]],
    hStride: Out[Pointer[c_int]],
    wStride: Out[Pointer[c_int]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0")
def cudnnSetTensorNdDescriptor(
    tensorDesc: InOut[Handle[cudnnTensorDescriptor_t]],
    dataType: EnumValue[cudnnDataType_t],
    nbDims: Int[c_int],
    dimA: Annotated[NotNull[IntArray[c_int]], "nbDims"],
    strideA: Annotated[NotNull[IntArray[c_int]], "nbDims"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="6.0.0")
def cudnnSetTensorNdDescriptorEx(
    tensorDesc: InOut[Handle[cudnnTensorDescriptor_t]],
    format: EnumValue[cudnnTensorFormat_t],
    dataType: EnumValue[cudnnDataType_t],
    nbDims: Int[c_int],
    dimA: Annotated[NotNull[IntArray[c_int]], "nbDims <= 8", CUDNN_STATUS_NOT_SUPPORTED],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0")
def cudnnGetTensorNdDescriptor(
    tensorDesc: MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]],
    nbDimsRequested: Int[c_int],
    dataType: NotNull[Out[EnumPointer[cudnnDataType_t]]],
    nbDims: Out[Pointer[c_int]],
    dimA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "nbDimsRequested", lent(2)],
    strideA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "nbDimsRequested", lent(2)],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="6.0.0")
def cudnnGetTensorSizeInBytes(
    tensorDesc: NotNull[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    size: NotNull[Out[Pointer[c_size_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0")
def cudnnDestroyTensorDescriptor(
    tensorDesc: Nullable[MayBeUnset[Handle[cudnnTensorDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.5.0", deprecated=True, carried_out="transform")
def cudnnInitTransformDest(
    transformDesc: Const[Handle[cudnnTensorTransformDescriptor_t]],
    srcDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    destDesc: InOut[Handle[cudnnTensorDescriptor_t]],
    destSizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.5.0", deprecated=True, followed="transform")
def cudnnCreateTensorTransformDescriptor(
    transformDesc: Out[NewHandle[cudnnTensorTransformDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.5.0", deprecated=True, carried_out="transform",
          noted="tensor_transform")
def cudnnSetTensorTransformDescriptor(
    transformDesc: InOut[Handle[cudnnTensorTransformDescriptor_t]],
    nbDims: Const[Int[c_uint32]],
    destFormat: Const[EnumValue[cudnnTensorFormat_t]],
    padBeforeA: Annotated[IntArray[c_int32], "nbDims"],
    padAfterA: Annotated[IntArray[c_int32], "nbDims"],
    foldA: Annotated[IntArray[c_uint32], "nbDims - 2"],
    direction: Const[EnumValue[cudnnFoldingDirection_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.5.0", deprecated=True, carried_out="transform")
def cudnnGetTensorTransformDescriptor(
    transformDesc: MayBeUnset[Handle[cudnnTensorTransformDescriptor_t]],
    nbDimsRequested: Int[c_uint32],
    destFormat: Out[EnumPointer[cudnnTensorFormat_t]],
    padBeforeA: Annotated[Out[FilledIntArray[c_int32]], "nbDimsRequested"],
    padAfterA: Annotated[Out[FilledIntArray[c_int32]], "nbDimsRequested"],
    foldA: Annotated[Out[FilledIntArray[c_uint32]], "nbDimsRequested - 2"],
    direction: NotNull[Out[EnumPointer[cudnnFoldingDirection_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.5.0", deprecated=True, carried_out="transform")
def cudnnDestroyTensorTransformDescriptor(
    transformDesc: Nullable[MayBeUnset[Handle[cudnnTensorTransformDescriptor_t]]],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
          carried_out="tensor_operations")
def cudnnTransformTensor(
    handle: Handle[cudnnHandle_t],
    alpha: Annotated[HostScalar, "xDesc", "yDesc"],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    beta: Annotated[HostScalar, "xDesc", "yDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.5.0", deprecated=True, carried_out="transform")
def cudnnTransformTensorEx(
    handle: Handle[cudnnHandle_t],
    transDesc: Nullable[Const[Handle[cudnnTensorTransformDescriptor_t]]],
    alpha: Annotated[HostScalar, "srcDesc", "destDesc"],
    srcDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    srcData: Annotated[DeviceMemory, "srcDesc"],
    beta: Annotated[HostScalar, "srcDesc", "destDesc"],
    destDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    destData: Annotated[InOut[DeviceMemory], "destDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
          carried_out="tensor_operations")
def cudnnAddTensor(
    handle: Handle[cudnnHandle_t],
    alpha: Annotated[HostScalar, "cDesc"],
    aDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    A: Annotated[DeviceMemory, "aDesc"],
    beta: Annotated[HostScalar, "cDesc"],
    cDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    C: Annotated[InOut[DeviceMemory], "cDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnCreateOpTensorDescriptor(
    opTensorDesc: Out[NewHandle[cudnnOpTensorDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnSetOpTensorDescriptor(
    opTensorDesc: InOut[Handle[cudnnOpTensorDescriptor_t]],
    opTensorOp: EnumValue[cudnnOpTensorOp_t],
    opTensorCompType: EnumValue[cudnnDataType_t],
    opTensorNanOpt: EnumValue[cudnnNanPropagation_t]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnGetOpTensorDescriptor(
    opTensorDesc: MayBeUnset[Const[Handle[cudnnOpTensorDescriptor_t]]],
    opTensorOp: NotNull[Out[EnumPointer[cudnnOpTensorOp_t]]],
    opTensorCompType: NotNull[Out[EnumPointer[cudnnDataType_t]]],
    opTensorNanOpt: NotNull[Out[EnumPointer[cudnnNanPropagation_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnDestroyOpTensorDescriptor(
    opTensorDesc: Nullable[MayBeUnset[Handle[cudnnOpTensorDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
          carried_out="tensor_operations")
def cudnnOpTensor(
    handle: Handle[cudnnHandle_t],
    opTensorDesc: NotNull[Const[Handle[cudnnOpTensorDescriptor_t]]],
    alpha1: Annotated[HostScalar, "opTensorDesc"],
    aDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    A: Annotated[DeviceMemory, "aDesc"],
    alpha2: Annotated[HostScalar, "opTensorDesc"],
    bDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    B: Annotated[DeviceMemory, "bDesc"],
    beta: Annotated[HostScalar, "opTensorDesc"],
    cDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    C: Annotated[InOut[DeviceMemory], "cDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="6.0.0", replaced_by="CUDNN_BACKEND_REDUCTION_DESCRIPTOR")
def cudnnCreateReduceTensorDescriptor(
    reduceTensorDesc: Out[NewHandle[cudnnReduceTensorDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="6.0.0", replaced_by="CUDNN_BACKEND_REDUCTION_DESCRIPTOR")
def cudnnSetReduceTensorDescriptor(
    reduceTensorDesc: InOut[Handle[cudnnReduceTensorDescriptor_t]],
    reduceTensorOp: EnumValue[cudnnReduceTensorOp_t],
    reduceTensorCompType: EnumValue[cudnnDataType_t],
    reduceTensorNanOpt: EnumValue[cudnnNanPropagation_t],
    reduceTensorIndices: EnumValue[cudnnReduceTensorIndices_t],
    reduceTensorIndicesType: EnumValue[cudnnIndicesType_t]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="6.0.0", replaced_by="CUDNN_BACKEND_REDUCTION_DESCRIPTOR")
def cudnnGetReduceTensorDescriptor(
    reduceTensorDesc: MayBeUnset[Const[Handle[cudnnReduceTensorDescriptor_t]]],
    reduceTensorOp: NotNull[Out[EnumPointer[cudnnReduceTensorOp_t]]],
    reduceTensorCompType: NotNull[Out[EnumPointer[cudnnDataType_t]]],
    reduceTensorNanOpt: NotNull[Out[EnumPointer[cudnnNanPropagation_t]]],
    reduceTensorIndices: NotNull[Out[EnumPointer[cudnnReduceTensorIndices_t]]],
    reduceTensorIndicesType: NotNull[Out[EnumPointer[cudnnIndicesType_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="6.0.0", replaced_by="CUDNN_BACKEND_REDUCTION_DESCRIPTOR")
def cudnnDestroyReduceTensorDescriptor(
    reduceTensorDesc: Nullable[MayBeUnset[Handle[cudnnReduceTensorDescriptor_t]]],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="6.0.0", deprecated=True, carried_out="tensor_operations")
def cudnnGetReductionIndicesSize(
    handle: Handle[cudnnHandle_t],
    reduceTensorDesc: NotNull[Const[Handle[cudnnReduceTensorDescriptor_t]]],
    aDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    cDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    sizeInBytes: NotNull[Out[Pointer[c_size_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="6.0.0", replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
          carried_out="tensor_operations")
def cudnnGetReductionWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    reduceTensorDesc: NotNull[Const[Handle[cudnnReduceTensorDescriptor_t]]],
    aDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    cDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    sizeInBytes: NotNull[Out[Pointer[c_size_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="6.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR",
          carried_out="tensor_operations")
def cudnnReduceTensor(
    handle: Handle[cudnnHandle_t],
    reduceTensorDesc: NotNull[Const[Handle[cudnnReduceTensorDescriptor_t]]],
    indices: Annotated[Out[DeviceMemory], "indicesSizeInBytes", needed_by("indicesSizeInBytes")],
    indicesSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetReductionIndicesSize")],
    workspace: Annotated[InOut[DeviceMemory], "workspaceSizeInBytes",
        needed_by("workspaceSizeInBytes")],
    workspaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetReductionWorkspaceSize")],
    alpha: Annotated[HostScalar, "cDesc"],
    aDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    A: Annotated[DeviceMemory, "aDesc"],
    beta: Annotated[HostScalar, "cDesc"],
    cDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    C: Annotated[InOut[DeviceMemory], "cDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", carried_out="tensor_operations")
def cudnnSetTensor(
    handle: Handle[cudnnHandle_t],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[Out[DeviceMemory], "yDesc"],
    valuePtr: Annotated[HostScalar, "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
          carried_out="tensor_operations")
def cudnnScaleTensor(
    handle: Handle[cudnnHandle_t],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"],
    alpha: Annotated[HostScalar, "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnCreateFilterDescriptor(
    filterDesc: Out[NewHandle[cudnnFilterDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnSetFilter4dDescriptor(
    filterDesc: InOut[Handle[cudnnFilterDescriptor_t]],
    dataType: EnumValue[cudnnDataType_t],
    format: EnumValue[cudnnTensorFormat_t],
    k: Factor[Int[c_int]],
    c: Factor[Int[c_int]],
    h: Factor[Int[c_int]],
    w: Factor[Int[c_int]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnGetFilter4dDescriptor(
    filterDesc: MayBeUnset[Const[Handle[cudnnFilterDescriptor_t]]],
    dataType: NotNull[Out[EnumPointer[cudnnDataType_t]]],
    format: NotNull[Out[EnumPointer[cudnnTensorFormat_t]]],
    k: NotNull[Out[Pointer[c_int]]],
    c: NotNull[Out[Pointer[c_int]]],
    h: NotNull[Out[Pointer[c_int]]],
    w: NotNull[Out[Pointer[c_int]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnSetFilterNdDescriptor(
    filterDesc: InOut[Handle[cudnnFilterDescriptor_t]],
    dataType: EnumValue[cudnnDataType_t],
    format: EnumValue[cudnnTensorFormat_t],
    nbDims: Int[c_int],
    filterDimA: Annotated[NotNull[Factor[IntArray[c_int]]], "nbDims"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnGetFilterNdDescriptor(
    filterDesc: MayBeUnset[Const[Handle[cudnnFilterDescriptor_t]]],
    nbDimsRequested: Int[c_int],
    dataType: NotNull[Out[EnumPointer[cudnnDataType_t]]],
    format: NotNull[Out[EnumPointer[cudnnTensorFormat_t]]],
    nbDims: NotNull[Out[Pointer[c_int]]],
    filterDimA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "nbDimsRequested"],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.6.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnGetFilterSizeInBytes(
    filterDesc: MayBeUnset[Const[Handle[cudnnFilterDescriptor_t]]],
    size: NotNull[Out[Pointer[c_size_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.6.0", deprecated=True, carried_out="transform")
def cudnnTransformFilter(
    handle: Handle[cudnnHandle_t],
    transDesc: Nullable[Const[Handle[cudnnTensorTransformDescriptor_t]]],
    alpha: Annotated[HostScalar, "srcDesc", "destDesc"],
    srcDesc: NotNull[Const[Handle[cudnnFilterDescriptor_t]]],
    srcData: Annotated[DeviceMemory, "srcDesc"],
    beta: Annotated[HostScalar, "srcDesc", "destDesc"],
    destDesc: NotNull[Const[Handle[cudnnFilterDescriptor_t]]],
    destData: Annotated[InOut[DeviceMemory], "destDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnDestroyFilterDescriptor(
    filterDesc: Nullable[MayBeUnset[Handle[cudnnFilterDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0", carried_out="images")
def cudnnSoftmaxForward(
    handle: Handle[cudnnHandle_t],
    algo: EnumValue[cudnnSoftmaxAlgorithm_t],
    mode: EnumValue[cudnnSoftmaxMode_t],
    alpha: Annotated[HostScalar, "yDesc"],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    beta: Annotated[HostScalar, "yDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnCreatePoolingDescriptor(
    poolingDesc: Out[NewHandle[cudnnPoolingDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnSetPooling2dDescriptor(
    poolingDesc: InOut[Handle[cudnnPoolingDescriptor_t]],
    mode: EnumValue[cudnnPoolingMode_t],
    maxpoolingNanOpt: EnumValue[cudnnNanPropagation_t],
    windowHeight: Extent[Int[c_int]],
    windowWidth: Extent[Int[c_int]],
    verticalPadding: Extent[Int[c_int]],
    horizontalPadding: Extent[Int[c_int]],
    verticalStride: Int[c_int],
    horizontalStride: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnGetPooling2dDescriptor(
    poolingDesc: MayBeUnset[Const[Handle[cudnnPoolingDescriptor_t]]],
    mode: NotNull[Out[EnumPointer[cudnnPoolingMode_t]]],
    maxpoolingNanOpt: NotNull[Out[EnumPointer[cudnnNanPropagation_t]]],
    windowHeight: NotNull[Out[Pointer[c_int]]],
    windowWidth: NotNull[Out[Pointer[c_int]]],
    verticalPadding: NotNull[Out[Pointer[c_int]]],
    horizontalPadding: NotNull[Out[Pointer[c_int]]],
    verticalStride: NotNull[Out[Pointer[c_int]]],
    horizontalStride: NotNull[Out[Pointer[c_int]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnSetPoolingNdDescriptor(
    poolingDesc: InOut[Handle[cudnnPoolingDescriptor_t]],
    mode: Const[EnumValue[cudnnPoolingMode_t]],
    maxpoolingNanOpt: Const[EnumValue[cudnnNanPropagation_t]],
    nbDims: Int[c_int],
    windowDimA: Annotated[NotNull[Extent[IntArray[c_int]]], "nbDims"],
    paddingA: Annotated[NotNull[Extent[IntArray[c_int]]], "nbDims"],
    strideA: Annotated[NotNull[IntArray[c_int]], "nbDims"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnGetPoolingNdDescriptor(
    poolingDesc: MayBeUnset[Const[Handle[cudnnPoolingDescriptor_t]]],
    nbDimsRequested: Int[c_int],
    mode: NotNull[Out[EnumPointer[cudnnPoolingMode_t]]],
    maxpoolingNanOpt: NotNull[Out[EnumPointer[cudnnNanPropagation_t]]],
    nbDims: NotNull[Out[Pointer[c_int]]],
    windowDimA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "nbDimsRequested"],
    paddingA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "nbDimsRequested"],
    strideA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "nbDimsRequested"],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", deprecated=True)
def cudnnGetPoolingNdForwardOutputDim(
    poolingDesc: Const[Handle[cudnnPoolingDescriptor_t]],
    inputTensorDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    nbDims: Int[c_int],
    outputTensorDimA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "nbDims"],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="2.0.0", deprecated=True)
def cudnnGetPooling2dForwardOutputDim(
    poolingDesc: Const[Handle[cudnnPoolingDescriptor_t]],
    inputTensorDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    n: NotNull[Out[Pointer[c_int]]],
    c: NotNull[Out[Pointer[c_int]]],
    h: NotNull[Out[Pointer[c_int]]],
    w: NotNull[Out[Pointer[c_int]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnDestroyPoolingDescriptor(
    poolingDesc: Nullable[MayBeUnset[Handle[cudnnPoolingDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR", carried_out="images")
def cudnnPoolingForward(
    handle: Handle[cudnnHandle_t],
    poolingDesc: Nullable[Const[Handle[cudnnPoolingDescriptor_t]]],
    alpha: Annotated[HostScalar, "yDesc"],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    beta: Annotated[HostScalar, "yDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="4.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnCreateActivationDescriptor(
    activationDesc: Out[NewHandle[cudnnActivationDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="4.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnSetActivationDescriptor(
    activationDesc: InOut[Handle[cudnnActivationDescriptor_t]],
    mode: EnumValue[cudnnActivationMode_t],
    reluNanOpt: EnumValue[cudnnNanPropagation_t],
    coef: Real[c_double]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="4.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnGetActivationDescriptor(
    activationDesc: MayBeUnset[Const[Handle[cudnnActivationDescriptor_t]]],
    mode: NotNull[Out[EnumPointer[cudnnActivationMode_t]]],
    reluNanOpt: NotNull[Out[EnumPointer[cudnnNanPropagation_t]]],
    coef: NotNull[Out[Pointer[c_double]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="8.2.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnSetActivationDescriptorSwishBeta(
    activationDesc: MayBeUnset[InOut[Handle[cudnnActivationDescriptor_t]]],
    swish_beta: Real[c_double]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="8.2.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnGetActivationDescriptorSwishBeta(
    activationDesc: MayBeUnset[Handle[cudnnActivationDescriptor_t]],
    swish_beta: Out[Pointer[c_double]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="4.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnDestroyActivationDescriptor(
    activationDesc: Nullable[MayBeUnset[Handle[cudnnActivationDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR", carried_out="images")
def cudnnActivationForward(
    handle: Handle[cudnnHandle_t],
    activationDesc: Nullable[Handle[cudnnActivationDescriptor_t]],
    alpha: Annotated[HostScalar, "yDesc"],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    beta: Annotated[HostScalar, "yDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="3.0.0")
def cudnnCreateLRNDescriptor(
    normDesc: NotNull[Out[NewHandle[cudnnLRNDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="3.0.0")
def cudnnSetLRNDescriptor(
    normDesc: NotNull[InOut[Handle[cudnnLRNDescriptor_t]]],
    lrnN: Int[c_uint],
    lrnAlpha: Real[c_double],
    lrnBeta: Real[c_double],
    lrnK: Real[c_double]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="3.0.0")
def cudnnGetLRNDescriptor(
    normDesc: NotNull[Handle[cudnnLRNDescriptor_t]],
    lrnN: Out[Pointer[c_uint]],
    lrnAlpha: Out[Pointer[c_double]],
    lrnBeta: Out[Pointer[c_double]],
    lrnK: Out[Pointer[c_double]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="3.0.0")
def cudnnDestroyLRNDescriptor(lrnDesc: Nullable[Handle[cudnnLRNDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="3.0.0", carried_out="images")
def cudnnLRNCrossChannelForward(
    handle: Handle[cudnnHandle_t],
    normDesc: NotNull[Handle[cudnnLRNDescriptor_t]],
    lrnMode: EnumValue[cudnnLRNMode_t],
    alpha: Annotated[NotNull[HostScalar], "yDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    beta: Annotated[NotNull[HostScalar], "yDesc"],
    yDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="3.0.0", carried_out="images")
def cudnnDivisiveNormalizationForward(
    handle: Handle[cudnnHandle_t],
    normDesc: NotNull[Handle[cudnnLRNDescriptor_t]],
    mode: EnumValue[cudnnDivNormMode_t],
    alpha: Annotated[HostScalar, "yDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    means: Annotated[DeviceMemory, "xDesc"],
    temp: Annotated[Out[DeviceMemory], "xDesc"],
    temp2: Annotated[Out[DeviceMemory], "xDesc"],
    beta: Annotated[HostScalar, "yDesc"],
    yDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="4.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnDeriveBNTensorDescriptor(
    derivedBnDesc: InOut[Handle[cudnnTensorDescriptor_t]],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    mode: EnumValue[cudnnBatchNormMode_t]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="4.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
          carried_out="normalization")
def cudnnBatchNormalizationForwardInference(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    alpha: Annotated[HostScalar, "yDesc"],
    beta: Annotated[HostScalar, "yDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    yDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"],
    bnScaleBiasMeanVarDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    bnScale: Annotated[DeviceMemory, "bnScaleBiasMeanVarDesc"],
    bnBias: Annotated[DeviceMemory, "bnScaleBiasMeanVarDesc"],
    estimatedMean: Annotated[DeviceMemory, "bnScaleBiasMeanVarDesc"],
    estimatedVariance: Annotated[DeviceMemory, "bnScaleBiasMeanVarDesc"],
    epsilon: Real[c_double]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="8.0.1", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnDeriveNormTensorDescriptor(
    derivedNormScaleBiasDesc: InOut[Handle[cudnnTensorDescriptor_t]],
    derivedNormMeanVarDesc: InOut[Handle[cudnnTensorDescriptor_t]],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    mode: EnumValue[cudnnNormMode_t],
    groupCnt: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="8.0.1",
          replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
          carried_out="normalization")
def cudnnNormalizationForwardInference(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    alpha: Annotated[HostScalar, "yDesc"],
    beta: Annotated[HostScalar, "yDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    normScaleBiasDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    normScale: Annotated[DeviceMemory, "normScaleBiasDesc"],
    normBias: Annotated[DeviceMemory, "normScaleBiasDesc"],
    normMeanVarDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    estimatedMean: Annotated[DeviceMemory, "normMeanVarDesc"],
    estimatedVariance: Annotated[DeviceMemory, "normMeanVarDesc"],
    zDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    z: Annotated[DeviceMemory, "zDesc"],
    activationDesc: Annotated[Nullable[Handle[cudnnActivationDescriptor_t]],
        unset_without("normOps")],
    yDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"],
    epsilon: Real[c_double],
    groupCnt: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0")
def cudnnCreateSpatialTransformerDescriptor(
    stDesc: Out[NewHandle[cudnnSpatialTransformerDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", noted="spatial_transformer")
def cudnnSetSpatialTransformerNdDescriptor(
    stDesc: InOut[Handle[cudnnSpatialTransformerDescriptor_t]],
    samplerType: EnumValue[cudnnSamplerType_t],
    dataType: EnumValue[cudnnDataType_t],
    nbDims: Const[Int[c_int]],
    dimA: Annotated[Factor[IntArray[c_int]], "1 <= nbDims <= 8", CUDNN_STATUS_BAD_PARAM],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0")
def cudnnDestroySpatialTransformerDescriptor(
    stDesc: Nullable[MayBeUnset[Handle[cudnnSpatialTransformerDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", carried_out="images")
def cudnnSpatialTfGridGeneratorForward(
    handle: Handle[cudnnHandle_t],
    stDesc: NotNull[Const[Handle[cudnnSpatialTransformerDescriptor_t]]],
    theta: DeviceMemory,
    grid: Out[DeviceMemory]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", carried_out="images")
def cudnnSpatialTfSamplerForward(
    handle: Handle[cudnnHandle_t],
    stDesc: NotNull[Handle[cudnnSpatialTransformerDescriptor_t]],
    alpha: Annotated[NotNull[HostScalar], "yDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    grid: DeviceMemory,
    beta: Annotated[NotNull[HostScalar], "yDesc"],
    yDesc: NotNull[Handle[cudnnTensorDescriptor_t]],
    y: Annotated[InOut[DeviceMemory], "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", followed="dropout")
def cudnnCreateDropoutDescriptor(
    dropoutDesc: Out[NewHandle[cudnnDropoutDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0")
def cudnnDestroyDropoutDescriptor(
    dropoutDesc: Nullable[Handle[cudnnDropoutDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", carried_out="dropout")
def cudnnDropoutGetStatesSize(
    handle: Handle[cudnnHandle_t],
    sizeInBytes: NotNull[Out[Pointer[c_size_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0")
def cudnnDropoutGetReserveSpaceSize(
    xdesc: MayBeUnset[Handle[cudnnTensorDescriptor_t]],
    sizeInBytes: NotNull[Out[Pointer[c_size_t]]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", carried_out="dropout", noted="dropout")
def cudnnSetDropoutDescriptor(
    dropoutDesc: Nullable[InOut[Handle[cudnnDropoutDescriptor_t]]],
    handle: Handle[cudnnHandle_t],
    dropout: Real[c_float],
    states: Annotated[InOut[DeviceMemory], "stateSizeInBytes"],
    stateSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnDropoutGetStatesSize")],
    seed: Int[c_ulonglong]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.0.5", carried_out="dropout", noted="dropout")
def cudnnRestoreDropoutDescriptor(
    dropoutDesc: Nullable[InOut[Handle[cudnnDropoutDescriptor_t]]],
    handle: Handle[cudnnHandle_t],
    dropout: Real[c_float],
    states: Annotated[InOut[DeviceMemory], "stateSizeInBytes"],
    stateSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnDropoutGetStatesSize")],
    seed: Int[c_ulonglong]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.0.5", carried_out="dropout")
def cudnnGetDropoutDescriptor(
    dropoutDesc: Nullable[Handle[cudnnDropoutDescriptor_t]],
    handle: Handle[cudnnHandle_t],
    dropout: Out[Pointer[c_float]],
    states: Out[Pointer[c_void_p]],
    seed: Out[Pointer[c_ulonglong]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", carried_out="dropout")
def cudnnDropoutForward(
    handle: Handle[cudnnHandle_t],
    dropoutDesc: Nullable[Const[Handle[cudnnDropoutDescriptor_t]]],
    xdesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xdesc"],
    ydesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[Out[DeviceMemory], "ydesc"],
    reserveSpace: Annotated[Out[DeviceMemory], "reserveSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnDropoutGetReserveSpaceSize")],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="9.0.0")
def cudnnOpsVersionCheck() -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0", carried_out="images")
def cudnnSoftmaxBackward(
    handle: Handle[cudnnHandle_t],
    algo: EnumValue[cudnnSoftmaxAlgorithm_t],
    mode: EnumValue[cudnnSoftmaxMode_t],
    alpha: Annotated[HostScalar, "dxDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[DeviceMemory, "yDesc"],
    dyDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    beta: Annotated[HostScalar, "dxDesc"],
    dxDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dx: Annotated[InOut[DeviceMemory], "dxDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR", carried_out="images")
def cudnnPoolingBackward(
    handle: Handle[cudnnHandle_t],
    poolingDesc: Nullable[Const[Handle[cudnnPoolingDescriptor_t]]],
    alpha: Annotated[HostScalar, "dxDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[DeviceMemory, "yDesc"],
    dyDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    beta: Annotated[HostScalar, "dxDesc"],
    dxDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dx: Annotated[InOut[DeviceMemory], "dxDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="1.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR", carried_out="images")
def cudnnActivationBackward(
    handle: Handle[cudnnHandle_t],
    activationDesc: Nullable[Handle[cudnnActivationDescriptor_t]],
    alpha: Annotated[HostScalar, "dxDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[DeviceMemory, "yDesc"],
    dyDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    beta: Annotated[HostScalar, "dxDesc"],
    dxDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dx: Annotated[InOut[DeviceMemory], "dxDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="3.0.0", carried_out="images")
def cudnnLRNCrossChannelBackward(
    handle: Handle[cudnnHandle_t],
    normDesc: NotNull[Handle[cudnnLRNDescriptor_t]],
    lrnMode: EnumValue[cudnnLRNMode_t],
    alpha: Annotated[NotNull[HostScalar], "dxDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[DeviceMemory, "yDesc"],
    dyDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    beta: Annotated[NotNull[HostScalar], "dxDesc"],
    dxDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dx: Annotated[InOut[DeviceMemory], "dxDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="3.0.0", carried_out="images")
def cudnnDivisiveNormalizationBackward(
    handle: Handle[cudnnHandle_t],
    normDesc: NotNull[Handle[cudnnLRNDescriptor_t]],
    mode: EnumValue[cudnnDivNormMode_t],
    alpha: Annotated[HostScalar, "dXdMeansDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    means: Annotated[DeviceMemory, "xDesc"],
    dy: Annotated[DeviceMemory, "xDesc"],
    temp: Annotated[Out[DeviceMemory], "xDesc"],
    temp2: Annotated[Out[DeviceMemory], "xDesc"],
    beta: Annotated[HostScalar, "dXdMeansDesc"],
    dXdMeansDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dx: Annotated[InOut[DeviceMemory], "dXdMeansDesc"],
    dMeans: Annotated[InOut[DeviceMemory], "dXdMeansDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.4.1", replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
          carried_out="normalization")
def cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    zDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    bnScaleBiasMeanVarDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    activationDesc: Annotated[Nullable[Const[Handle[cudnnActivationDescriptor_t]]],
        unset_without("bnOps")],
    sizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.4.1", replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
          carried_out="normalization")
def cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dyDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dzDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    dxDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dBnScaleBiasDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    activationDesc: Annotated[Nullable[Const[Handle[cudnnActivationDescriptor_t]]],
        unset_without("bnOps")],
    sizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.4.1", deprecated=True, carried_out="normalization")
def cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    activationDesc: Annotated[Nullable[Const[Handle[cudnnActivationDescriptor_t]]],
        unset_without("bnOps")],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    sizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="4.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
          carried_out="normalization")
def cudnnBatchNormalizationForwardTraining(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    alpha: Annotated[HostScalar, "yDesc"],
    beta: Annotated[HostScalar, "yDesc"],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    y: Annotated[InOut[DeviceMemory], "yDesc"],
    bnScaleBiasMeanVarDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    bnScale: Annotated[DeviceMemory, "bnScaleBiasMeanVarDesc"],
    bnBias: Annotated[DeviceMemory, "bnScaleBiasMeanVarDesc"],
    exponentialAverageFactor: Real[c_double],
    resultRunningMean: Annotated[InOut[DeviceMemory], "bnScaleBiasMeanVarDesc"],
    resultRunningVariance: Annotated[InOut[DeviceMemory], "bnScaleBiasMeanVarDesc"],
    epsilon: Real[c_double],
    resultSaveMean: Annotated[Out[DeviceMemory], "bnScaleBiasMeanVarDesc"],
    resultSaveInvVariance: Annotated[Out[DeviceMemory], "bnScaleBiasMeanVarDesc"],
) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.4.1",
          replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
          carried_out="normalization")
def cudnnBatchNormalizationForwardTrainingEx(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    alpha: Annotated[HostScalar, "yDesc"],
    beta: Annotated[HostScalar, "yDesc"],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    xData: Annotated[DeviceMemory, "xDesc"],
    zDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    zData: Annotated[DeviceMemory, "zDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    yData: Annotated[InOut[DeviceMemory], "yDesc"],
    bnScaleBiasMeanVarDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    bnScale: Annotated[DeviceMemory, "bnScaleBiasMeanVarDesc"],
    bnBias: Annotated[DeviceMemory, "bnScaleBiasMeanVarDesc"],
    exponentialAverageFactor: Real[c_double],
    resultRunningMean: Annotated[InOut[DeviceMemory], "bnScaleBiasMeanVarDesc"],
    resultRunningVariance: Annotated[InOut[DeviceMemory], "bnScaleBiasMeanVarDesc"],
    epsilon: Real[c_double],
    resultSaveMean: Annotated[Out[DeviceMemory], "bnScaleBiasMeanVarDesc"],
    resultSaveInvVariance: Annotated[Out[DeviceMemory], "bnScaleBiasMeanVarDesc"],
    activationDesc: Annotated[Nullable[Handle[cudnnActivationDescriptor_t]],
        unset_without("bnOps")],
    workspace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetBatchNormalizationTrainingExReserveSpaceSize")]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="4.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR",
          carried_out="normalization")
def cudnnBatchNormalizationBackward(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    alphaDataDiff: Annotated[HostScalar, "dxDesc"],
    betaDataDiff: Annotated[HostScalar, "dxDesc"],
    alphaParamDiff: Annotated[HostScalar, "dxDesc"],
    betaParamDiff: Annotated[HostScalar, "dxDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    dyDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    dxDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dx: Annotated[InOut[DeviceMemory], "dxDesc"],
    dBnScaleBiasDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    bnScale: Annotated[DeviceMemory, "dBnScaleBiasDesc"],
    dBnScaleResult: Annotated[InOut[DeviceMemory], "dBnScaleBiasDesc"],
    dBnBiasResult: Annotated[InOut[DeviceMemory], "dBnScaleBiasDesc"],
    epsilon: Real[c_double],
    savedMean: Annotated[DeviceMemory, "dBnScaleBiasDesc"],
    savedInvVariance: Annotated[DeviceMemory, "dBnScaleBiasDesc"]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="7.4.1",
          replaced_by="CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR",
          carried_out="normalization")
def cudnnBatchNormalizationBackwardEx(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    alphaDataDiff: Annotated[HostScalar, "dxDesc"],
    betaDataDiff: Annotated[HostScalar, "dxDesc"],
    alphaParamDiff: Annotated[HostScalar, "dxDesc"],
    betaParamDiff: Annotated[HostScalar, "dxDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    xData: Annotated[DeviceMemory, "xDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    yData: Annotated[DeviceMemory, "yDesc"],
    dyDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dyData: Annotated[DeviceMemory, "dyDesc"],
    dzDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    dzData: Annotated[InOut[DeviceMemory], "dzDesc"],
    dxDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dxData: Annotated[InOut[DeviceMemory], "dxDesc"],
    dBnScaleBiasDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    bnScaleData: Annotated[DeviceMemory, "dBnScaleBiasDesc"],
    bnBiasData: Annotated[DeviceMemory, "dBnScaleBiasDesc", needed_by("bnOps")],
    dBnScaleData: Annotated[InOut[DeviceMemory], "dBnScaleBiasDesc"],
    dBnBiasData: Annotated[InOut[DeviceMemory], "dBnScaleBiasDesc"],
    epsilon: Real[c_double],
    savedMean: Annotated[DeviceMemory, "dBnScaleBiasDesc"],
    savedInvVariance: Annotated[DeviceMemory, "dBnScaleBiasDesc"],
    activationDesc: Annotated[Nullable[Handle[cudnnActivationDescriptor_t]],
        unset_without("bnOps")],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetBatchNormalizationBackwardExWorkspaceSize")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetBatchNormalizationTrainingExReserveSpaceSize")]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="8.0.1", replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
          carried_out="normalization")
def cudnnGetNormalizationForwardTrainingWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    zDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    normScaleBiasDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    activationDesc: Annotated[Nullable[Const[Handle[cudnnActivationDescriptor_t]]],
        unset_without("normOps")],
    normMeanVarDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    sizeInBytes: Out[Pointer[c_size_t]],
    groupCnt: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="8.0.1", replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
          carried_out="normalization")
def cudnnGetNormalizationBackwardWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dyDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dzDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    dxDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    dNormScaleBiasDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    activationDesc: Annotated[Nullable[Const[Handle[cudnnActivationDescriptor_t]]],
        unset_without("normOps")],
    normMeanVarDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    sizeInBytes: Out[Pointer[c_size_t]],
    groupCnt: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="8.0.1", deprecated=True, carried_out="normalization")
def cudnnGetNormalizationTrainingReserveSpaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    activationDesc: Annotated[Nullable[Const[Handle[cudnnActivationDescriptor_t]]],
        unset_without("normOps")],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    sizeInBytes: Out[Pointer[c_size_t]],
    groupCnt: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="8.0.1",
          replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
          carried_out="normalization")
def cudnnNormalizationForwardTraining(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    alpha: Annotated[HostScalar, "yDesc"],
    beta: Annotated[HostScalar, "yDesc"],
    xDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    xData: Annotated[DeviceMemory, "xDesc"],
    normScaleBiasDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    normScale: Annotated[DeviceMemory, "normScaleBiasDesc"],
    normBias: Annotated[DeviceMemory, "normScaleBiasDesc"],
    exponentialAverageFactor: Real[c_double],
    normMeanVarDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    resultRunningMean: Annotated[InOut[DeviceMemory], "normMeanVarDesc"],
    resultRunningVariance: Annotated[InOut[DeviceMemory], "normMeanVarDesc"],
    epsilon: Real[c_double],
    resultSaveMean: Annotated[Out[DeviceMemory], "normMeanVarDesc"],
    resultSaveInvVariance: Annotated[Out[DeviceMemory], "normMeanVarDesc"],
    activationDesc: Annotated[Nullable[Handle[cudnnActivationDescriptor_t]],
        unset_without("normOps")],
    zDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    zData: Annotated[DeviceMemory, "zDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    yData: Annotated[InOut[DeviceMemory], "yDesc"],
    workspace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetNormalizationForwardTrainingWorkspaceSize")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetNormalizationTrainingReserveSpaceSize")],
    groupCnt: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="8.0.1",
          replaced_by="CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR",
          carried_out="normalization")
def cudnnNormalizationBackward(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    alphaDataDiff: Annotated[HostScalar, "dxDesc"],
    betaDataDiff: Annotated[HostScalar, "dxDesc"],
    alphaParamDiff: Annotated[HostScalar, "dxDesc"],
    betaParamDiff: Annotated[HostScalar, "dxDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    xData: Annotated[DeviceMemory, "xDesc"],
    yDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    yData: Annotated[DeviceMemory, "yDesc"],
    dyDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dyData: Annotated[DeviceMemory, "dyDesc"],
    dzDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    dzData: Annotated[InOut[DeviceMemory], "dzDesc"],
    dxDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dxData: Annotated[InOut[DeviceMemory], "dxDesc"],
    dNormScaleBiasDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    normScaleData: Annotated[DeviceMemory, "dNormScaleBiasDesc"],
    normBiasData: Annotated[DeviceMemory, "dNormScaleBiasDesc", needed_by("normOps")],
    dNormScaleData: Annotated[InOut[DeviceMemory], "dNormScaleBiasDesc"],
    dNormBiasData: Annotated[InOut[DeviceMemory], "dNormScaleBiasDesc"],
    epsilon: Real[c_double],
    normMeanVarDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    savedMean: Annotated[DeviceMemory, "normMeanVarDesc"],
    savedInvVariance: Annotated[DeviceMemory, "normMeanVarDesc"],
    activationDesc: Annotated[Nullable[Handle[cudnnActivationDescriptor_t]],
        unset_without("normOps")],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetNormalizationBackwardWorkspaceSize")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetNormalizationTrainingReserveSpaceSize")],
    groupCnt: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", carried_out="images")
def cudnnSpatialTfGridGeneratorBackward(
    handle: Handle[cudnnHandle_t],
    stDesc: NotNull[Const[Handle[cudnnSpatialTransformerDescriptor_t]]],
    dgrid: DeviceMemory,
    dtheta: Out[DeviceMemory]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", carried_out="images")
def cudnnSpatialTfSamplerBackward(
    handle: Handle[cudnnHandle_t],
    stDesc: NotNull[Handle[cudnnSpatialTransformerDescriptor_t]],
    alpha: Annotated[HostScalar, "dxDesc"],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    beta: Annotated[HostScalar, "dxDesc"],
    dxDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dx: Annotated[InOut[DeviceMemory], "dxDesc"],
    alphaDgrid: Annotated[HostScalar, "dxDesc"],
    dyDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    grid: DeviceMemory,
    betaDgrid: Annotated[HostScalar, "dxDesc"],
    dgrid: InOut[DeviceMemory]) -> cudnnStatus_t: ...

@function("cudnn_ops.h", since="5.0.0", carried_out="dropout")
def cudnnDropoutBackward(
    handle: Handle[cudnnHandle_t],
    dropoutDesc: Nullable[Const[Handle[cudnnDropoutDescriptor_t]]],
    dydesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dy: Annotated[DeviceMemory, "dydesc"],
    dxdesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    dx: Annotated[Out[DeviceMemory], "dxdesc"],
    reserveSpace: Annotated[Mutable[DeviceMemory], "reserveSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnDropoutGetReserveSpaceSize")],
) -> cudnnStatus_t: ...

# --- cudnn_cnn.h ---

@function("cudnn_cnn.h", since="1.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnCreateConvolutionDescriptor(
    convDesc: Out[NewHandle[cudnnConvolutionDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="1.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnDestroyConvolutionDescriptor(
    convDesc: Nullable[MayBeUnset[Handle[cudnnConvolutionDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", deprecated=True)
def cudnnSetConvolutionMathType(
    convDesc: MayBeUnset[InOut[Handle[cudnnConvolutionDescriptor_t]]],
    mathType: EnumValue[cudnnMathType_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", deprecated=True)
def cudnnGetConvolutionMathType(
    convDesc: MayBeUnset[Handle[cudnnConvolutionDescriptor_t]],
    mathType: NotNull[Out[EnumPointer[cudnnMathType_t]]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", deprecated=True)
def cudnnSetConvolutionGroupCount(
    convDesc: MayBeUnset[InOut[Handle[cudnnConvolutionDescriptor_t]]],
    groupCount: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", deprecated=True)
def cudnnGetConvolutionGroupCount(
    convDesc: MayBeUnset[Handle[cudnnConvolutionDescriptor_t]],
    groupCount: NotNull[Out[Pointer[c_int]]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", deprecated=True)
def cudnnSetConvolutionReorderType(
    convDesc: MayBeUnset[InOut[Handle[cudnnConvolutionDescriptor_t]]],
    reorderType: EnumValue[cudnnReorderType_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", deprecated=True)
def cudnnGetConvolutionReorderType(
    convDesc: MayBeUnset[Handle[cudnnConvolutionDescriptor_t]],
    reorderType: Out[EnumPointer[cudnnReorderType_t]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="2.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnSetConvolution2dDescriptor(
    convDesc: InOut[Handle[cudnnConvolutionDescriptor_t]],
    pad_h: Extent[Int[c_int]],
    pad_w: Extent[Int[c_int]],
    u: Int[c_int],
    v: Int[c_int],
    dilation_h: Extent[Int[c_int]],
    dilation_w: Extent[Int[c_int]],
    mode: EnumValue[cudnnConvolutionMode_t],
    computeType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="2.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnGetConvolution2dDescriptor(
    convDesc: MayBeUnset[Const[Handle[cudnnConvolutionDescriptor_t]]],
    pad_h: NotNull[Out[Pointer[c_int]]],
    pad_w: NotNull[Out[Pointer[c_int]]],
    u: NotNull[Out[Pointer[c_int]]],
    v: NotNull[Out[Pointer[c_int]]],
    dilation_h: NotNull[Out[Pointer[c_int]]],
    dilation_w: NotNull[Out[Pointer[c_int]]],
    mode: NotNull[Out[EnumPointer[cudnnConvolutionMode_t]]],
    computeType: NotNull[Out[EnumPointer[cudnnDataType_t]]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="2.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnSetConvolutionNdDescriptor(
    convDesc: InOut[Handle[cudnnConvolutionDescriptor_t]],
    arrayLength: Int[c_int],
    padA: Annotated[NotNull[Extent[IntArray[c_int]]], "arrayLength"],
    filterStrideA: Annotated[NotNull[IntArray[c_int]], "arrayLength"],
    dilationA: Annotated[NotNull[Extent[IntArray[c_int]]], "arrayLength"],
    mode: EnumValue[cudnnConvolutionMode_t],
    computeType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="2.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnGetConvolutionNdDescriptor(
    convDesc: MayBeUnset[Const[Handle[cudnnConvolutionDescriptor_t]]],
    arrayLengthRequested: Int[c_int],
    arrayLength: NotNull[Out[Pointer[c_int]]],
    padA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "arrayLengthRequested"],
    strideA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "arrayLengthRequested"],
    dilationA: Annotated[NotNull[Out[FilledIntArray[c_int]]], "arrayLengthRequested"],
    mode: NotNull[Out[EnumPointer[cudnnConvolutionMode_t]]],
    computeType: NotNull[Out[EnumPointer[cudnnDataType_t]]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="2.0.0", deprecated=True)
def cudnnGetConvolution2dForwardOutputDim(
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    inputTensorDesc: Const[Handle[cudnnTensorDescriptor_t]],
    filterDesc: Const[Handle[cudnnFilterDescriptor_t]],
    n: NotNull[Out[Pointer[c_int]]],
    c: NotNull[Out[Pointer[c_int]]],
    h: NotNull[Out[Pointer[c_int]]],
    w: NotNull[Out[Pointer[c_int]]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="2.0.0", deprecated=True)
def cudnnGetConvolutionNdForwardOutputDim(
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    inputTensorDesc: Const[Handle[cudnnTensorDescriptor_t]],
    filterDesc: Const[Handle[cudnnFilterDescriptor_t]],
    nbDims: Int[c_int],
    tensorOuputDimA: Annotated[Out[FilledIntArray[c_int]], "2 <= nbDims"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnGetConvolutionForwardAlgorithmMaxCount(
    handle: Handle[cudnnHandle_t],
    count: NotNull[Out[Pointer[c_int]]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnGetConvolutionForwardAlgorithm_v7(
    handle: Handle[cudnnHandle_t],
    srcDesc: Const[Handle[cudnnTensorDescriptor_t]],
    filterDesc: Const[Handle[cudnnFilterDescriptor_t]],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    destDesc: Const[Handle[cudnnTensorDescriptor_t]],
    requestedAlgoCount: Const[Int[c_int]],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Annotated[NotNull[Out[FilledArray[cudnnConvolutionFwdAlgoPerf_t]]],
        "requestedAlgoCount"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="3.0.0", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnFindConvolutionForwardAlgorithm(
    handle: Handle[cudnnHandle_t],
    xDesc: Const[Handle[cudnnTensorDescriptor_t]],
    wDesc: Const[Handle[cudnnFilterDescriptor_t]],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    yDesc: Const[Handle[cudnnTensorDescriptor_t]],
    requestedAlgoCount: Const[Int[c_int]],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Annotated[Out[FilledArray[cudnnConvolutionFwdAlgoPerf_t]], "requestedAlgoCount"],
) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="5.0.0", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnFindConvolutionForwardAlgorithmEx(
    handle: Handle[cudnnHandle_t],
    xDesc: Const[Handle[cudnnTensorDescriptor_t]],
    x: Annotated[DeviceMemory, "xDesc"],
    wDesc: Const[Handle[cudnnFilterDescriptor_t]],
    w: Annotated[DeviceMemory, "wDesc"],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    yDesc: Const[Handle[cudnnTensorDescriptor_t]],
    y: Annotated[Out[DeviceMemory], "yDesc"],
    requestedAlgoCount: Const[Int[c_int]],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Annotated[Out[FilledArray[cudnnConvolutionFwdAlgoPerf_t]], "requestedAlgoCount"],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Int[c_size_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="2.0.0", deprecated=True, carried_out="convolution")
def cudnnIm2Col(
    handle: Handle[cudnnHandle_t],
    xDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    x: Annotated[DeviceMemory, "xDesc"],
    wDesc: NotNull[Const[Handle[cudnnFilterDescriptor_t]]],
    convDesc: NotNull[Const[Handle[cudnnConvolutionDescriptor_t]]],
    colBuffer: Out[DeviceMemory]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", deprecated=True, carried_out="convolution")
def cudnnReorderFilterAndBias(
    handle: Handle[cudnnHandle_t],
    filterDesc: Nullable[Const[Handle[cudnnFilterDescriptor_t]]],
    reorderType: EnumValue[cudnnReorderType_t],
    filterData: Annotated[DeviceMemory, "filterDesc"],
    reorderedFilterData: Annotated[Out[DeviceMemory], "filterDesc"],
    reorderBias: Int[c_int],
    biasData: DeviceMemory,
    reorderedBiasData: Out[DeviceMemory]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="2.0.0", replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
          carried_out="convolution")
def cudnnGetConvolutionForwardWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    xDesc: Const[Handle[cudnnTensorDescriptor_t]],
    wDesc: Const[Handle[cudnnFilterDescriptor_t]],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    yDesc: Const[Handle[cudnnTensorDescriptor_t]],
    algo: EnumValue[cudnnConvolutionFwdAlgo_t],
    sizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="1.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR",
          carried_out="convolution")
def cudnnConvolutionForward(
    handle: Handle[cudnnHandle_t],
    alpha: Annotated[HostScalar, "yDesc"],
    xDesc: Const[Handle[cudnnTensorDescriptor_t]],
    x: Annotated[DeviceMemory, "xDesc"],
    wDesc: Const[Handle[cudnnFilterDescriptor_t]],
    w: Annotated[DeviceMemory, "wDesc"],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    algo: EnumValue[cudnnConvolutionFwdAlgo_t],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetConvolutionForwardWorkspaceSize")],
    beta: Annotated[HostScalar, "yDesc"],
    yDesc: Const[Handle[cudnnTensorDescriptor_t]],
    y: Annotated[InOut[DeviceMemory], "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="6.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR",
          carried_out="convolution")
def cudnnConvolutionBiasActivationForward(
    handle: Handle[cudnnHandle_t],
    alpha1: Annotated[HostScalar, "yDesc"],
    xDesc: Const[Handle[cudnnTensorDescriptor_t]],
    x: Annotated[DeviceMemory, "xDesc"],
    wDesc: Const[Handle[cudnnFilterDescriptor_t]],
    w: Annotated[DeviceMemory, "wDesc"],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    algo: EnumValue[cudnnConvolutionFwdAlgo_t],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetConvolutionForwardWorkspaceSize")],
    alpha2: Annotated[HostScalar, "yDesc"],
    zDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    z: Annotated[DeviceMemory, "zDesc"],
    biasDesc: Const[Handle[cudnnTensorDescriptor_t]],
    bias: Annotated[DeviceMemory, "biasDesc"],
    activationDesc: Const[Handle[cudnnActivationDescriptor_t]],
    yDesc: Const[Handle[cudnnTensorDescriptor_t]],
    y: Annotated[InOut[DeviceMemory], "yDesc"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnGetConvolutionBackwardDataAlgorithmMaxCount(
    handle: Handle[cudnnHandle_t],
    count: NotNull[Out[Pointer[c_int]]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="3.0.0", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnFindConvolutionBackwardDataAlgorithm(
    handle: Handle[cudnnHandle_t],
    wDesc: Const[Handle[cudnnFilterDescriptor_t]],
    dyDesc: Const[Handle[cudnnTensorDescriptor_t]],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    dxDesc: Const[Handle[cudnnTensorDescriptor_t]],
    requestedAlgoCount: Const[Int[c_int]],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Annotated[Out[FilledArray[cudnnConvolutionBwdDataAlgoPerf_t]],
        "requestedAlgoCount"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="5.0.0", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnFindConvolutionBackwardDataAlgorithmEx(
    handle: Handle[cudnnHandle_t],
    wDesc: Const[Handle[cudnnFilterDescriptor_t]],
    w: Annotated[DeviceMemory, "wDesc"],
    dyDesc: Const[Handle[cudnnTensorDescriptor_t]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    dxDesc: Const[Handle[cudnnTensorDescriptor_t]],
    dx: Annotated[Out[DeviceMemory], "dxDesc"],
    requestedAlgoCount: Const[Int[c_int]],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Annotated[Out[FilledArray[cudnnConvolutionBwdDataAlgoPerf_t]],
        "requestedAlgoCount"],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Int[c_size_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnGetConvolutionBackwardDataAlgorithm_v7(
    handle: Handle[cudnnHandle_t],
    filterDesc: Const[Handle[cudnnFilterDescriptor_t]],
    diffDesc: Const[Handle[cudnnTensorDescriptor_t]],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    gradDesc: Const[Handle[cudnnTensorDescriptor_t]],
    requestedAlgoCount: Const[Int[c_int]],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Annotated[NotNull[Out[FilledArray[cudnnConvolutionBwdDataAlgoPerf_t]]],
        "requestedAlgoCount"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="3.0.0", replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
          carried_out="convolution")
def cudnnGetConvolutionBackwardDataWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    wDesc: Const[Handle[cudnnFilterDescriptor_t]],
    dyDesc: Const[Handle[cudnnTensorDescriptor_t]],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    dxDesc: Const[Handle[cudnnTensorDescriptor_t]],
    algo: EnumValue[cudnnConvolutionBwdDataAlgo_t],
    sizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="1.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR",
          carried_out="convolution")
def cudnnConvolutionBackwardData(
    handle: Handle[cudnnHandle_t],
    alpha: Annotated[HostScalar, "dxDesc"],
    wDesc: Const[Handle[cudnnFilterDescriptor_t]],
    w: Annotated[DeviceMemory, "wDesc"],
    dyDesc: Const[Handle[cudnnTensorDescriptor_t]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    algo: EnumValue[cudnnConvolutionBwdDataAlgo_t],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetConvolutionBackwardDataWorkspaceSize")],
    beta: Annotated[HostScalar, "dxDesc"],
    dxDesc: Const[Handle[cudnnTensorDescriptor_t]],
    dx: Annotated[InOut[DeviceMemory], "dxDesc"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", deprecated=True, carried_out="convolution",
          noted="folding_transforms")
def cudnnGetFoldedConvBackwardDataDescriptors(
    handle: Const[Handle[cudnnHandle_t]],
    filterDesc: Nullable[Const[Handle[cudnnFilterDescriptor_t]]],
    diffDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    convDesc: Nullable[Const[Handle[cudnnConvolutionDescriptor_t]]],
    gradDesc: Nullable[Const[Handle[cudnnTensorDescriptor_t]]],
    transformFormat: Const[EnumValue[cudnnTensorFormat_t]],
    foldedFilterDesc: Nullable[Out[Handle[cudnnFilterDescriptor_t]]],
    paddedDiffDesc: Nullable[Out[Handle[cudnnTensorDescriptor_t]]],
    foldedConvDesc: Nullable[Out[Handle[cudnnConvolutionDescriptor_t]]],
    foldedGradDesc: Nullable[Out[Handle[cudnnTensorDescriptor_t]]],
    filterFoldTransDesc: Nullable[Out[Handle[cudnnTensorTransformDescriptor_t]]],
    diffPadTransDesc: Nullable[Out[Handle[cudnnTensorTransformDescriptor_t]]],
    gradFoldTransDesc: Nullable[Out[Handle[cudnnTensorTransformDescriptor_t]]],
    gradUnfoldTransDesc: Nullable[Out[Handle[cudnnTensorTransformDescriptor_t]]],
) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="9.0.0")
def cudnnCnnVersionCheck() -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(
    handle: Handle[cudnnHandle_t],
    count: NotNull[Out[Pointer[c_int]]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="3.0.0", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnFindConvolutionBackwardFilterAlgorithm(
    handle: Handle[cudnnHandle_t],
    xDesc: Const[Handle[cudnnTensorDescriptor_t]],
    dyDesc: Const[Handle[cudnnTensorDescriptor_t]],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    dwDesc: Const[Handle[cudnnFilterDescriptor_t]],
    requestedAlgoCount: Const[Int[c_int]],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Annotated[Out[FilledArray[cudnnConvolutionBwdFilterAlgoPerf_t]],
        "requestedAlgoCount"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="5.0.0", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnFindConvolutionBackwardFilterAlgorithmEx(
    handle: Handle[cudnnHandle_t],
    xDesc: Const[Handle[cudnnTensorDescriptor_t]],
    x: Annotated[DeviceMemory, "xDesc"],
    dyDesc: Const[Handle[cudnnTensorDescriptor_t]],
    y: Annotated[DeviceMemory, "dyDesc"],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    dwDesc: Const[Handle[cudnnFilterDescriptor_t]],
    dw: Annotated[Out[DeviceMemory], "dwDesc"],
    requestedAlgoCount: Const[Int[c_int]],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Annotated[Out[FilledArray[cudnnConvolutionBwdFilterAlgoPerf_t]],
        "requestedAlgoCount"],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Int[c_size_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.0.5", replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
          carried_out="convolution")
def cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    handle: Handle[cudnnHandle_t],
    srcDesc: Const[Handle[cudnnTensorDescriptor_t]],
    diffDesc: Const[Handle[cudnnTensorDescriptor_t]],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    gradDesc: Const[Handle[cudnnFilterDescriptor_t]],
    requestedAlgoCount: Const[Int[c_int]],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Annotated[NotNull[Out[FilledArray[cudnnConvolutionBwdFilterAlgoPerf_t]]],
        "requestedAlgoCount"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="3.0.0", replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
          carried_out="convolution")
def cudnnGetConvolutionBackwardFilterWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    xDesc: Const[Handle[cudnnTensorDescriptor_t]],
    dyDesc: Const[Handle[cudnnTensorDescriptor_t]],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    gradDesc: Const[Handle[cudnnFilterDescriptor_t]],
    algo: EnumValue[cudnnConvolutionBwdFilterAlgo_t],
    sizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="1.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR",
          carried_out="convolution")
def cudnnConvolutionBackwardFilter(
    handle: Handle[cudnnHandle_t],
    alpha: Annotated[HostScalar, "dwDesc"],
    xDesc: Const[Handle[cudnnTensorDescriptor_t]],
    x: Annotated[DeviceMemory, "xDesc"],
    dyDesc: Const[Handle[cudnnTensorDescriptor_t]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    convDesc: Const[Handle[cudnnConvolutionDescriptor_t]],
    algo: EnumValue[cudnnConvolutionBwdFilterAlgo_t],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnGetConvolutionBackwardFilterWorkspaceSize")],
    beta: Annotated[HostScalar, "dwDesc"],
    dwDesc: Const[Handle[cudnnFilterDescriptor_t]],
    dw: Annotated[InOut[DeviceMemory], "dwDesc"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="1.0.0",
          replaced_by="CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR", carried_out="convolution")
def cudnnConvolutionBackwardBias(
    handle: Handle[cudnnHandle_t],
    alpha: Annotated[HostScalar, "dbDesc"],
    dyDesc: Const[Handle[cudnnTensorDescriptor_t]],
    dy: Annotated[DeviceMemory, "dyDesc"],
    beta: Annotated[HostScalar, "dbDesc"],
    dbDesc: Const[Handle[cudnnTensorDescriptor_t]],
    db: Annotated[InOut[DeviceMemory], "dbDesc"]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR",
          noted="fused_operation")
def cudnnCreateFusedOpsConstParamPack(
    constPack: Out[NewHandle[cudnnFusedOpsConstParamPack_t]],
    ops: EnumValue[cudnnFusedOps_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR",
          noted="fused_destroyed")
def cudnnDestroyFusedOpsConstParamPack(
    constPack: Nullable[Handle[cudnnFusedOpsConstParamPack_t]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR")
def cudnnSetFusedOpsConstParamPackAttribute(
    constPack: InOut[Handle[cudnnFusedOpsConstParamPack_t]],
    paramLabel: EnumValue[cudnnFusedOpsConstParamLabel_t],
    param: Labelled) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR")
def cudnnGetFusedOpsConstParamPackAttribute(
    constPack: Const[Handle[cudnnFusedOpsConstParamPack_t]],
    paramLabel: EnumValue[cudnnFusedOpsConstParamLabel_t],
    param: Out[Labelled],
    isNULL: Out[Pointer[c_int]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR",
          noted="fused_operation")
def cudnnCreateFusedOpsVariantParamPack(
    varPack: Out[NewHandle[cudnnFusedOpsVariantParamPack_t]],
    ops: EnumValue[cudnnFusedOps_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR",
          noted="fused_destroyed")
def cudnnDestroyFusedOpsVariantParamPack(
    varPack: Nullable[Handle[cudnnFusedOpsVariantParamPack_t]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR",
          noted="fused_variant")
def cudnnSetFusedOpsVariantParamPackAttribute(
    varPack: InOut[Handle[cudnnFusedOpsVariantParamPack_t]],
    paramLabel: EnumValue[cudnnFusedOpsVariantParamLabel_t],
    ptr: Mutable[Labelled]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR")
def cudnnGetFusedOpsVariantParamPackAttribute(
    varPack: Const[Handle[cudnnFusedOpsVariantParamPack_t]],
    paramLabel: EnumValue[cudnnFusedOpsVariantParamLabel_t],
    ptr: Out[Labelled]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR",
          noted="fused_operation")
def cudnnCreateFusedOpsPlan(
    plan: Out[NewHandle[cudnnFusedOpsPlan_t]],
    ops: EnumValue[cudnnFusedOps_t]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR",
          noted="fused_destroyed")
def cudnnDestroyFusedOpsPlan(plan: Nullable[Handle[cudnnFusedOpsPlan_t]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR",
          carried_out="fused_operations", noted="fused_plan")
def cudnnMakeFusedOpsPlan(
    handle: Handle[cudnnHandle_t],
    plan: Nullable[InOut[Handle[cudnnFusedOpsPlan_t]]],
    constPack: Nullable[Const[Handle[cudnnFusedOpsConstParamPack_t]]],
    workspaceSizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_cnn.h", since="7.6.0", replaced_by="cudnnBackendExecute",
          carried_out="fused_operations")
def cudnnFusedOpsExecute(
    handle: Handle[cudnnHandle_t],
    plan: NotNull[Const[Handle[cudnnFusedOpsPlan_t]]],
    varPack: Nullable[Handle[cudnnFusedOpsVariantParamPack_t]]) -> cudnnStatus_t: ...

# --- cudnn_adv.h ---

@function("cudnn_adv.h", since="5.0.0", followed="rnn")
def cudnnCreateRNNDescriptor(rnnDesc: Out[NewHandle[cudnnRNNDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="5.0.0")
def cudnnDestroyRNNDescriptor(
    rnnDesc: Nullable[MayBeUnset[Handle[cudnnRNNDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", followed="rnn")
def cudnnSetRNNDescriptor_v8(
    rnnDesc: InOut[Handle[cudnnRNNDescriptor_t]],
    algo: EnumValue[cudnnRNNAlgo_t],
    cellMode: EnumValue[cudnnRNNMode_t],
    biasMode: EnumValue[cudnnRNNBiasMode_t],
    dirMode: EnumValue[cudnnDirectionMode_t],
    inputMode: EnumValue[cudnnRNNInputMode_t],
    dataType: EnumValue[cudnnDataType_t],
    mathPrec: EnumValue[cudnnDataType_t],
    mathType: EnumValue[cudnnMathType_t],
    inputSize: Factor[Int[c_int32]],
    hiddenSize: Factor[Int[c_int32]],
    projSize: Int[c_int32],
    numLayers: Factor[Int[c_int32]],
    dropoutDesc: Nullable[Handle[cudnnDropoutDescriptor_t]],
    auxFlags: Int[c_uint32]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1")
def cudnnGetRNNDescriptor_v8(
    rnnDesc: MayBeUnset[Handle[cudnnRNNDescriptor_t]],
    algo: Out[EnumPointer[cudnnRNNAlgo_t]],
    cellMode: Out[EnumPointer[cudnnRNNMode_t]],
    biasMode: Out[EnumPointer[cudnnRNNBiasMode_t]],
    dirMode: Out[EnumPointer[cudnnDirectionMode_t]],
    inputMode: Out[EnumPointer[cudnnRNNInputMode_t]],
    dataType: Out[EnumPointer[cudnnDataType_t]],
    mathPrec: Out[EnumPointer[cudnnDataType_t]],
    mathType: Out[EnumPointer[cudnnMathType_t]],
    inputSize: Out[Pointer[c_int32]],
    hiddenSize: Out[Pointer[c_int32]],
    projSize: Out[Pointer[c_int32]],
    numLayers: Out[Pointer[c_int32]],
    dropoutDesc: Out[NewHandle[cudnnDropoutDescriptor_t]],
    auxFlags: Out[Pointer[c_uint32]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", replaced_by="cudnnRNNSetClip_v9")
def cudnnRNNSetClip_v8(
    rnnDesc: MayBeUnset[InOut[Handle[cudnnRNNDescriptor_t]]],
    clipMode: EnumValue[cudnnRNNClipMode_t],
    clipNanOpt: EnumValue[cudnnNanPropagation_t],
    lclip: Real[c_double],
    rclip: Real[c_double]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="9.0.0")
def cudnnRNNSetClip_v9(
    rnnDesc: MayBeUnset[InOut[Handle[cudnnRNNDescriptor_t]]],
    clipMode: EnumValue[cudnnRNNClipMode_t],
    lclip: Real[c_double],
    rclip: Real[c_double]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", replaced_by="cudnnRNNGetClip_v9")
def cudnnRNNGetClip_v8(
    rnnDesc: MayBeUnset[Handle[cudnnRNNDescriptor_t]],
    clipMode: Out[EnumPointer[cudnnRNNClipMode_t]],
    clipNanOpt: Out[EnumPointer[cudnnNanPropagation_t]],
    lclip: Out[Pointer[c_double]],
    rclip: Out[Pointer[c_double]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="9.0.0")
def cudnnRNNGetClip_v9(
    rnnDesc: MayBeUnset[Handle[cudnnRNNDescriptor_t]],
    clipMode: Out[EnumPointer[cudnnRNNClipMode_t]],
    lclip: Out[Pointer[c_double]],
    rclip: Out[Pointer[c_double]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", carried_out="rnn")
def cudnnBuildRNNDynamic(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Nullable[Handle[cudnnRNNDescriptor_t]],
    miniBatch: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", carried_out="rnn")
def cudnnGetRNNTempSpaceSizes(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Nullable[Handle[cudnnRNNDescriptor_t]],
    fwdMode: EnumValue[cudnnForwardMode_t],
    xDesc: Nullable[Handle[cudnnRNNDataDescriptor_t]],
    workSpaceSize: Out[Pointer[c_size_t]],
    reserveSpaceSize: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", carried_out="rnn")
def cudnnGetRNNWeightSpaceSize(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Nullable[Handle[cudnnRNNDescriptor_t]],
    weightSpaceSize: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", carried_out="rnn")
def cudnnGetRNNWeightParams(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Nullable[Handle[cudnnRNNDescriptor_t]],
    pseudoLayer: Int[c_int32],
    weightSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNWeightSpaceSize")],
    weightSpace: Annotated[DeviceMemory, "weightSpaceSize"],
    linLayerID: Int[c_int32],
    mDesc: Nullable[Out[Handle[cudnnTensorDescriptor_t]]],
    mAddr: Out[Pointer[c_void_p]],
    bDesc: Nullable[Out[Handle[cudnnTensorDescriptor_t]]],
    bAddr: Out[Pointer[c_void_p]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.2.1")
def cudnnCreateRNNDataDescriptor(
    rnnDataDesc: Out[NewHandle[cudnnRNNDataDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.2.1")
def cudnnDestroyRNNDataDescriptor(
    rnnDataDesc: Nullable[MayBeUnset[Handle[cudnnRNNDataDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.2.1")
def cudnnSetRNNDataDescriptor(
    rnnDataDesc: InOut[Handle[cudnnRNNDataDescriptor_t]],
    dataType: EnumValue[cudnnDataType_t],
    layout: EnumValue[cudnnRNNDataLayout_t],
    maxSeqLength: Factor[Int[c_int]],
    batchSize: Factor[Int[c_int]],
    vectorSize: Factor[Int[c_int]],
    seqLengthArray: Annotated[NotNull[IntArray[c_int]], "batchSize"],
    paddingFill: Annotated[Padding[Mutable[HostScalar]], "dataType"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.2.1")
def cudnnGetRNNDataDescriptor(
    rnnDataDesc: MayBeUnset[Handle[cudnnRNNDataDescriptor_t]],
    dataType: Out[EnumPointer[cudnnDataType_t]],
    layout: Out[EnumPointer[cudnnRNNDataLayout_t]],
    maxSeqLength: Out[Pointer[c_int]],
    batchSize: Out[Pointer[c_int]],
    vectorSize: Out[Pointer[c_int]],
    arrayLengthRequested: Int[c_int],
    seqLengthArray: Annotated[Out[FilledIntArray[c_int]], "arrayLengthRequested"],
    paddingFill: Annotated[Padding[Out[HostScalar]], "rnnDataDesc"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", carried_out="rnn")
def cudnnRNNForward(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Nullable[Handle[cudnnRNNDescriptor_t]],
    fwdMode: EnumValue[cudnnForwardMode_t],
    devSeqLengths: Annotated[DeviceMemory, elements(c_int32)],
    xDesc: Nullable[Handle[cudnnRNNDataDescriptor_t]],
    x: Annotated[NotNull[DeviceMemory], "xDesc"],
    yDesc: Nullable[Handle[cudnnRNNDataDescriptor_t]],
    y: Annotated[NotNull[Out[DeviceMemory]], "yDesc"],
    hDesc: Nullable[MayBeUnset[Handle[cudnnTensorDescriptor_t]]],
    hx: DeviceMemory,
    hy: Out[DeviceMemory],
    cDesc: Nullable[MayBeUnset[Handle[cudnnTensorDescriptor_t]]],
    cx: DeviceMemory,
    cy: Out[DeviceMemory],
    weightSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNWeightSpaceSize")],
    weightSpace: Annotated[DeviceMemory, "weightSpaceSize"],
    workSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNTempSpaceSizes")],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSize"],
    reserveSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNTempSpaceSizes")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSize"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnCreateSeqDataDescriptor(
    seqDataDesc: Out[NewHandle[cudnnSeqDataDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnDestroySeqDataDescriptor(
    seqDataDesc: Nullable[MayBeUnset[Handle[cudnnSeqDataDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnSetSeqDataDescriptor(
    seqDataDesc: InOut[Handle[cudnnSeqDataDescriptor_t]],
    dataType: EnumValue[cudnnDataType_t],
    nbDims: Int[c_int],
    dimA: Annotated[NotNull[Factor[IntArray[c_int]]], "nbDims"],
    axes: Annotated[NotNull[EnumArrayOf[cudnnSeqDataAxis_t]], "nbDims"],
    seqLengthArraySize: Int[c_size_t],
    seqLengthArray: Annotated[NotNull[IntArray[c_int]], "seqLengthArraySize"],
    paddingFill: Annotated[Padding[Mutable[HostScalar]], "dataType"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnGetSeqDataDescriptor(
    seqDataDesc: MayBeUnset[Const[Handle[cudnnSeqDataDescriptor_t]]],
    dataType: Out[EnumPointer[cudnnDataType_t]],
    nbDims: Out[Pointer[c_int]],
    nbDimsRequested: Int[c_int],
    dimA: Annotated[Out[FilledIntArray[c_int]], "nbDimsRequested"],
    axes: Annotated[Out[FilledEnumArray[cudnnSeqDataAxis_t]], "nbDimsRequested"],
    seqLengthArraySize: Out[Pointer[c_size_t]],
    seqLengthSizeRequested: Int[c_size_t],
    seqLengthArray: Annotated[Out[FilledIntArray[c_int]], "seqLengthSizeRequested"],
    paddingFill: Annotated[Padding[Out[HostScalar]], "seqDataDesc"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR")
def cudnnCreateAttnDescriptor(attnDesc: Out[NewHandle[cudnnAttnDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR")
def cudnnDestroyAttnDescriptor(
    attnDesc: Nullable[MayBeUnset[Handle[cudnnAttnDescriptor_t]]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR")
def cudnnSetAttnDescriptor(
    attnDesc: InOut[Handle[cudnnAttnDescriptor_t]],
    attnMode: Int[c_uint],
    nHeads: Factor[Int[c_int]],
    smScaler: Real[c_double],
    dataType: EnumValue[cudnnDataType_t],
    computePrec: EnumValue[cudnnDataType_t],
    mathType: EnumValue[cudnnMathType_t],
    attnDropoutDesc: Nullable[Handle[cudnnDropoutDescriptor_t]],
    postDropoutDesc: Nullable[Handle[cudnnDropoutDescriptor_t]],
    qSize: Int[c_int],
    kSize: Int[c_int],
    vSize: Int[c_int],
    qProjSize: Int[c_int],
    kProjSize: Int[c_int],
    vProjSize: Int[c_int],
    oProjSize: Int[c_int],
    qoMaxSeqLength: Factor[Int[c_int]],
    kvMaxSeqLength: Factor[Int[c_int]],
    maxBatchSize: Factor[Int[c_int]],
    maxBeamSize: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR")
def cudnnGetAttnDescriptor(
    attnDesc: MayBeUnset[Handle[cudnnAttnDescriptor_t]],
    attnMode: Out[Pointer[c_uint]],
    nHeads: Out[Pointer[c_int]],
    smScaler: Out[Pointer[c_double]],
    dataType: Out[EnumPointer[cudnnDataType_t]],
    computePrec: Out[EnumPointer[cudnnDataType_t]],
    mathType: Out[EnumPointer[cudnnMathType_t]],
    attnDropoutDesc: Out[NewHandle[cudnnDropoutDescriptor_t]],
    postDropoutDesc: Out[NewHandle[cudnnDropoutDescriptor_t]],
    qSize: Out[Pointer[c_int]],
    kSize: Out[Pointer[c_int]],
    vSize: Out[Pointer[c_int]],
    qProjSize: Out[Pointer[c_int]],
    kProjSize: Out[Pointer[c_int]],
    vProjSize: Out[Pointer[c_int]],
    oProjSize: Out[Pointer[c_int]],
    qoMaxSeqLength: Out[Pointer[c_int]],
    kvMaxSeqLength: Out[Pointer[c_int]],
    maxBatchSize: Out[Pointer[c_int]],
    maxBeamSize: Out[Pointer[c_int]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", deprecated=True, carried_out="attention")
def cudnnGetMultiHeadAttnBuffers(
    handle: Handle[cudnnHandle_t],
    attnDesc: Nullable[Const[Handle[cudnnAttnDescriptor_t]]],
    weightSizeInBytes: Out[Pointer[c_size_t]],
    workSpaceSizeInBytes: Out[Pointer[c_size_t]],
    reserveSpaceSizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", deprecated=True, carried_out="attention")
def cudnnGetMultiHeadAttnWeights(
    handle: Handle[cudnnHandle_t],
    attnDesc: Nullable[Const[Handle[cudnnAttnDescriptor_t]]],
    wKind: EnumValue[cudnnMultiHeadAttnWeightKind_t],
    weightSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    weights: Annotated[DeviceMemory, "weightSizeInBytes"],
    wDesc: Nullable[Out[Handle[cudnnTensorDescriptor_t]]],
    wAddr: Out[Pointer[c_void_p]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR",
          carried_out="attention")
def cudnnMultiHeadAttnForward(
    handle: Handle[cudnnHandle_t],
    attnDesc: Nullable[Const[Handle[cudnnAttnDescriptor_t]]],
    currIdx: Int[c_int],
    loWinIdx: IntArray[c_int],
    hiWinIdx: IntArray[c_int],
    devSeqLengthsQO: Annotated[DeviceMemory, elements(c_int)],
    devSeqLengthsKV: Annotated[DeviceMemory, elements(c_int)],
    qDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    queries: Annotated[DeviceMemory, "qDesc"],
    residuals: DeviceMemory,
    kDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    keys: Annotated[DeviceMemory, "kDesc"],
    vDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    values: Annotated[DeviceMemory, "vDesc"],
    oDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    out: Annotated[Out[DeviceMemory], "oDesc"],
    weightSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    weights: Annotated[DeviceMemory, "weightSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSizeInBytes"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="9.0.0")
def cudnnAdvVersionCheck() -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.2", carried_out="rnn")
def cudnnRNNBackwardData_v8(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Nullable[Handle[cudnnRNNDescriptor_t]],
    devSeqLengths: Annotated[DeviceMemory, elements(c_int32)],
    yDesc: Nullable[Handle[cudnnRNNDataDescriptor_t]],
    y: Annotated[DeviceMemory, "yDesc"],
    dy: Annotated[DeviceMemory, "yDesc"],
    xDesc: Nullable[Handle[cudnnRNNDataDescriptor_t]],
    dx: Annotated[Out[DeviceMemory], "xDesc"],
    hDesc: Nullable[MayBeUnset[Handle[cudnnTensorDescriptor_t]]],
    hx: DeviceMemory,
    dhy: DeviceMemory,
    dhx: Out[DeviceMemory],
    cDesc: Nullable[MayBeUnset[Handle[cudnnTensorDescriptor_t]]],
    cx: DeviceMemory,
    dcy: DeviceMemory,
    dcx: Out[DeviceMemory],
    weightSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNWeightSpaceSize")],
    weightSpace: Annotated[DeviceMemory, "weightSpaceSize"],
    workSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNTempSpaceSizes")],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSize"],
    reserveSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNTempSpaceSizes")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSize"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.2", carried_out="rnn")
def cudnnRNNBackwardWeights_v8(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Nullable[Handle[cudnnRNNDescriptor_t]],
    addGrad: EnumValue[cudnnWgradMode_t],
    devSeqLengths: Annotated[DeviceMemory, elements(c_int32)],
    xDesc: Nullable[Handle[cudnnRNNDataDescriptor_t]],
    x: Annotated[NotNull[DeviceMemory], "xDesc"],
    hDesc: Nullable[MayBeUnset[Handle[cudnnTensorDescriptor_t]]],
    hx: DeviceMemory,
    yDesc: Nullable[Handle[cudnnRNNDataDescriptor_t]],
    y: Annotated[NotNull[DeviceMemory], "yDesc"],
    weightSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNWeightSpaceSize")],
    dweightSpace: Annotated[InOut[DeviceMemory], "weightSpaceSize"],
    workSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNTempSpaceSizes")],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSize"],
    reserveSpaceSize: Annotated[Int[c_size_t], told_by("cudnnGetRNNTempSpaceSizes")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSize"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR",
          carried_out="attention")
def cudnnMultiHeadAttnBackwardData(
    handle: Handle[cudnnHandle_t],
    attnDesc: Nullable[Const[Handle[cudnnAttnDescriptor_t]]],
    loWinIdx: IntArray[c_int],
    hiWinIdx: IntArray[c_int],
    devSeqLengthsDQDO: Annotated[DeviceMemory, elements(c_int)],
    devSeqLengthsDKDV: Annotated[DeviceMemory, elements(c_int)],
    doDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    dout: Annotated[DeviceMemory, "doDesc"],
    dqDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    dqueries: Annotated[Out[DeviceMemory], "dqDesc"],
    queries: Annotated[DeviceMemory, "dqDesc"],
    dkDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    dkeys: Annotated[Out[DeviceMemory], "dkDesc"],
    keys: Annotated[DeviceMemory, "dkDesc"],
    dvDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    dvalues: Annotated[Out[DeviceMemory], "dvDesc"],
    values: Annotated[DeviceMemory, "dvDesc"],
    weightSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    weights: Annotated[DeviceMemory, "weightSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSizeInBytes"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR",
          carried_out="attention")
def cudnnMultiHeadAttnBackwardWeights(
    handle: Handle[cudnnHandle_t],
    attnDesc: Nullable[Const[Handle[cudnnAttnDescriptor_t]]],
    addGrad: EnumValue[cudnnWgradMode_t],
    qDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    queries: Annotated[DeviceMemory, "qDesc"],
    kDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    keys: Annotated[DeviceMemory, "kDesc"],
    vDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    values: Annotated[DeviceMemory, "vDesc"],
    doDesc: Nullable[Const[Handle[cudnnSeqDataDescriptor_t]]],
    dout: Annotated[DeviceMemory, "doDesc"],
    weightSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    weights: Annotated[DeviceMemory, "weightSizeInBytes"],
    dweights: Annotated[InOut[DeviceMemory], "weightSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    workSpace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetMultiHeadAttnBuffers")],
    reserveSpace: Annotated[InOut[DeviceMemory], "reserveSpaceSizeInBytes"]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.0.5")
def cudnnCreateCTCLossDescriptor(
    ctcLossDesc: Out[NewHandle[cudnnCTCLossDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.0.5", replaced_by="cudnnSetCTCLossDescriptor_v9")
def cudnnSetCTCLossDescriptor(
    ctcLossDesc: InOut[Handle[cudnnCTCLossDescriptor_t]],
    compType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.6.0", replaced_by="cudnnSetCTCLossDescriptor_v9")
def cudnnSetCTCLossDescriptorEx(
    ctcLossDesc: InOut[Handle[cudnnCTCLossDescriptor_t]],
    compType: EnumValue[cudnnDataType_t],
    normMode: EnumValue[cudnnLossNormalizationMode_t],
    gradMode: EnumValue[cudnnNanPropagation_t]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", replaced_by="cudnnSetCTCLossDescriptor_v9")
def cudnnSetCTCLossDescriptor_v8(
    ctcLossDesc: InOut[Handle[cudnnCTCLossDescriptor_t]],
    compType: EnumValue[cudnnDataType_t],
    normMode: EnumValue[cudnnLossNormalizationMode_t],
    gradMode: EnumValue[cudnnNanPropagation_t],
    maxLabelLength: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="9.0.0")
def cudnnSetCTCLossDescriptor_v9(
    ctcLossDesc: InOut[Handle[cudnnCTCLossDescriptor_t]],
    compType: EnumValue[cudnnDataType_t],
    normMode: EnumValue[cudnnLossNormalizationMode_t],
    ctcGradMode: EnumValue[cudnnCTCGradMode_t],
    maxLabelLength: Int[c_int]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.0.5", replaced_by="cudnnGetCTCLossDescriptor_v9")
def cudnnGetCTCLossDescriptor(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: Out[EnumPointer[cudnnDataType_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.5.0", replaced_by="cudnnGetCTCLossDescriptor_v9")
def cudnnGetCTCLossDescriptorEx(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: Out[EnumPointer[cudnnDataType_t]],
    normMode: Out[EnumPointer[cudnnLossNormalizationMode_t]],
    gradMode: Out[EnumPointer[cudnnNanPropagation_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", replaced_by="cudnnGetCTCLossDescriptor_v9")
def cudnnGetCTCLossDescriptor_v8(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: Out[EnumPointer[cudnnDataType_t]],
    normMode: Out[EnumPointer[cudnnLossNormalizationMode_t]],
    gradMode: Out[EnumPointer[cudnnNanPropagation_t]],
    maxLabelLength: Out[Pointer[c_int]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="9.0.0")
def cudnnGetCTCLossDescriptor_v9(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: Out[EnumPointer[cudnnDataType_t]],
    normMode: Out[EnumPointer[cudnnLossNormalizationMode_t]],
    ctcGradMode: Out[EnumPointer[cudnnCTCGradMode_t]],
    maxLabelLength: Out[Pointer[c_int]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.0.5")
def cudnnDestroyCTCLossDescriptor(
    ctcLossDesc: Nullable[Handle[cudnnCTCLossDescriptor_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.0.5", carried_out="ctc")
def cudnnCTCLoss(
    handle: Handle[cudnnHandle_t],
    probsDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    probs: Annotated[NotNull[DeviceMemory], "probsDesc"],
    hostLabels: Annotated[IntArray[c_int], sum_of("hostLabelLengths")],
    hostLabelLengths: Annotated[NotNull[IntArray[c_int]], per_sample("probsDesc")],
    hostInputLengths: Annotated[NotNull[IntArray[c_int]], per_sample("probsDesc")],
    costs: NotNull[Out[DeviceMemory]],
    gradientsDesc: Annotated[Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
        needed_by("gradients")],
    gradients: Annotated[Out[DeviceMemory], "gradientsDesc"],
    algo: EnumValue[cudnnCTCLossAlgo_t],
    ctcLossDesc: NotNull[Handle[cudnnCTCLossDescriptor_t]],
    workspace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetCTCLossWorkspaceSize")],
) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", carried_out="ctc")
def cudnnCTCLoss_v8(
    handle: Handle[cudnnHandle_t],
    algo: EnumValue[cudnnCTCLossAlgo_t],
    ctcLossDesc: NotNull[Handle[cudnnCTCLossDescriptor_t]],
    probsDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    probs: Annotated[NotNull[DeviceMemory], "probsDesc"],
    labels: Annotated[NotNull[DeviceMemory], elements(c_int)],
    labelLengths: Annotated[NotNull[DeviceMemory], elements(c_int)],
    inputLengths: Annotated[NotNull[DeviceMemory], elements(c_int)],
    costs: NotNull[Out[DeviceMemory]],
    gradientsDesc: Annotated[Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
        needed_by("gradients")],
    gradients: Annotated[Out[DeviceMemory], "gradientsDesc"],
    workSpaceSizeInBytes: Annotated[Int[c_size_t], told_by("cudnnGetCTCLossWorkspaceSize_v8")],
    workspace: Annotated[InOut[DeviceMemory], "workSpaceSizeInBytes",
        needed_by("workSpaceSizeInBytes")]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="7.0.5", carried_out="ctc")
def cudnnGetCTCLossWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    probsDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    gradientsDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    labels: Annotated[IntArray[c_int], sum_of("labelLengths")],
    labelLengths: Annotated[NotNull[IntArray[c_int]], per_sample("probsDesc")],
    inputLengths: Annotated[NotNull[IntArray[c_int]], per_sample("probsDesc")],
    algo: EnumValue[cudnnCTCLossAlgo_t],
    ctcLossDesc: Nullable[Handle[cudnnCTCLossDescriptor_t]],
    sizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_adv.h", since="8.0.1", carried_out="ctc")
def cudnnGetCTCLossWorkspaceSize_v8(
    handle: Handle[cudnnHandle_t],
    algo: EnumValue[cudnnCTCLossAlgo_t],
    ctcLossDesc: NotNull[Handle[cudnnCTCLossDescriptor_t]],
    probsDesc: NotNull[Const[Handle[cudnnTensorDescriptor_t]]],
    gradientsDesc: Nullable[MayBeUnset[Const[Handle[cudnnTensorDescriptor_t]]]],
    sizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

# --- cudnn_subquadratic_ops.h ---

@function("cudnn_subquadratic_ops.h", since="9.22.0")
def cudnnSubquadraticOpsVersionCheck() -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.22.0", carried_out="causal_convolution")
def cudnnCausalConv1dForward(
    stream: Stream,
    x: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    weight: Annotated[DeviceMemory, dense("dim, kernelSize")],
    bias: Annotated[DeviceMemory, dense("dim")],
    y: Annotated[Out[DeviceMemory], dense("batch, dim, seqLen")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSize: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    activation: EnumValue[cudnnCausalConv1dActivation_t]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.22.0", carried_out="causal_convolution")
def cudnnCausalConv1dBackward(
    stream: Stream,
    x: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    weight: Annotated[DeviceMemory, dense("dim, kernelSize")],
    bias: Annotated[DeviceMemory, dense("dim")],
    dy: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    dx: Annotated[Out[DeviceMemory], dense("batch, dim, seqLen")],
    dweight: Annotated[InOut[DeviceMemory], dense("dim, kernelSize", "dwDataType")],
    dbias: Annotated[InOut[DeviceMemory], dense("dim", "dwDataType")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSize: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    dwDataType: EnumValue[cudnnDataType_t],
    activation: EnumValue[cudnnCausalConv1dActivation_t]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.24.0", carried_out="causal_convolution")
def cudnnCausalConv1dNwhForward(
    stream: Stream,
    x: Annotated[DeviceMemory, dense("batch, seqLen, dim")],
    weight: Annotated[DeviceMemory, dense("kernelSize, dim")],
    bias: Annotated[DeviceMemory, dense("dim")],
    y: Annotated[Out[DeviceMemory], dense("batch, seqLen, dim")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSize: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    activation: EnumValue[cudnnCausalConv1dActivation_t]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.24.0", carried_out="causal_convolution")
def cudnnCausalConv1dNwhBackward(
    stream: Stream,
    x: Annotated[DeviceMemory, dense("batch, seqLen, dim")],
    weight: Annotated[DeviceMemory, dense("kernelSize, dim")],
    bias: Annotated[DeviceMemory, dense("dim")],
    dy: Annotated[DeviceMemory, dense("batch, seqLen, dim")],
    dx: Annotated[Out[DeviceMemory], dense("batch, seqLen, dim")],
    dweight: Annotated[InOut[DeviceMemory], dense("kernelSize, dim", "dwDataType")],
    dbias: Annotated[InOut[DeviceMemory], dense("dim", "dwDataType")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSize: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    dwDataType: EnumValue[cudnnDataType_t],
    activation: EnumValue[cudnnCausalConv1dActivation_t]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.24.0", carried_out="causal_convolution")
def cudnnB2BCausalConv1dForward(
    stream: Stream,
    x: Annotated[DeviceMemory, dense("batch, dim, 3, seqLen")],
    weightsProj: Annotated[DeviceMemory, dense("dim, 3, kernelSizeProj")],
    weightsMixer: Annotated[DeviceMemory, dense("dim, kernelSizeMixer")],
    skipBias: Annotated[DeviceMemory, dense("dim")],
    y: Annotated[Out[DeviceMemory], dense("batch, dim, seqLen")],
    yGated: Annotated[Out[DeviceMemory], dense("batch, dim, seqLen")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSizeProj: Int[c_int],
    kernelSizeMixer: Int[c_int],
    dataType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.24.0", carried_out="causal_convolution")
def cudnnB2BCausalConv1dBackward(
    stream: Stream,
    x: Annotated[DeviceMemory, dense("batch, dim, 3, seqLen")],
    weightsProj: Annotated[DeviceMemory, dense("dim, 3, kernelSizeProj")],
    weightsMixer: Annotated[DeviceMemory, dense("dim, kernelSizeMixer")],
    skipBias: Annotated[DeviceMemory, dense("dim")],
    y: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    dy: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    dx: Annotated[Out[DeviceMemory], dense("batch, dim, 3, seqLen")],
    dweightsProj: Annotated[InOut[DeviceMemory], dense("dim, 3, kernelSizeProj", "dwDataType")],
    dweightsMixer: Annotated[InOut[DeviceMemory], dense("dim, kernelSizeMixer", "dwDataType")],
    dskipBias: Annotated[InOut[DeviceMemory], dense("dim", "dwDataType")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSizeProj: Int[c_int],
    kernelSizeMixer: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    dwDataType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.26.0", carried_out="causal_convolution")
def cudnnFFTCausalConv1dForward(
    stream: Stream,
    x: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    weight: Annotated[DeviceMemory, dense("dim, kernelSize")],
    y: Annotated[Out[DeviceMemory], dense("batch, dim, seqLen")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSize: Int[c_int],
    dataType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.26.0", carried_out="causal_convolution")
def cudnnFFTCausalConv1dBackward(
    stream: Stream,
    x: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    weight: Annotated[DeviceMemory, dense("dim, kernelSize")],
    dy: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    dx: Annotated[Out[DeviceMemory], dense("batch, dim, seqLen")],
    dweight: Annotated[Out[DeviceMemory], dense("dim, kernelSize")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSize: Int[c_int],
    dataType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.26.0")
def cudnnLongFFTCausalConv1dGetBufferSizes(
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSize: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    workspaceSizeInBytes: Out[Pointer[c_size_t]],
    reserveSpaceSizeInBytes: Out[Pointer[c_size_t]]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.26.0", carried_out="causal_convolution")
def cudnnLongFFTCausalConv1dForward(
    stream: Stream,
    x: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    weight: Annotated[DeviceMemory, dense("dim, kernelSize")],
    y: Annotated[Out[DeviceMemory], dense("batch, dim, seqLen")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSize: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    workspace: Annotated[InOut[DeviceMemory], "workspaceSizeInBytes"],
    workspaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnLongFFTCausalConv1dGetBufferSizes")],
    reserveSpace: Annotated[Out[DeviceMemory], "reserveSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnLongFFTCausalConv1dGetBufferSizes")]) -> cudnnStatus_t: ...

@function("cudnn_subquadratic_ops.h", since="9.26.0", carried_out="causal_convolution")
def cudnnLongFFTCausalConv1dBackward(
    stream: Stream,
    dy: Annotated[DeviceMemory, dense("batch, dim, seqLen")],
    dx: Annotated[Out[DeviceMemory], dense("batch, dim, seqLen")],
    dweight: Annotated[Out[DeviceMemory], dense("dim, kernelSize")],
    batch: Int[c_int],
    dim: Int[c_int],
    seqLen: Int[c_int],
    kernelSize: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    workspace: Annotated[InOut[DeviceMemory], "workspaceSizeInBytes"],
    workspaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnLongFFTCausalConv1dGetBufferSizes")],
    reserveSpace: Annotated[Mutable[DeviceMemory], "reserveSpaceSizeInBytes"],
    reserveSpaceSizeInBytes: Annotated[Int[c_size_t],
        told_by("cudnnLongFFTCausalConv1dGetBufferSizes")]) -> cudnnStatus_t: ...

# --- cudnn_gnn_ops.h ---

@function("cudnn_gnn_ops.h", since="9.26.0", carried_out="gnn")
def cudnnGnnAggSimpleForward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    nodeFeatures: Annotated[DeviceMemory, dense("graph.nSrcNodes, nodeFeatDim")],
    edgeFeatures: Annotated[DeviceMemory, dense("graph.nIndices, edgeFeatDim")],
    concatFeatures: Annotated[DeviceMemory, dense("graph.nDstNodes, concatFeatDim")],
    output: Annotated[Out[DeviceMemory],
        dense("graph.nDstNodes, nodeFeatDim + edgeFeatDim + concatFeatDim")],
    outPositions: Annotated[Out[DeviceMemory],
        dense("graph.nDstNodes, nodeFeatDim + edgeFeatDim", "graph.idxType")],
    nodeFeatDim: Int[c_int],
    edgeFeatDim: Int[c_int],
    concatFeatDim: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    aggOp: EnumValue[cudnnGnnAggOp_t]) -> cudnnStatus_t: ...

@function("cudnn_gnn_ops.h", since="9.26.0", carried_out="gnn")
def cudnnGnnAggSimpleBackward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    gradOutput: Annotated[DeviceMemory,
        dense("graph.nDstNodes, nodeFeatDim + edgeFeatDim + concatFeatDim")],
    outPositions: Annotated[DeviceMemory,
        dense("graph.nDstNodes, nodeFeatDim + edgeFeatDim", "graph.idxType")],
    gradNodeFeatures: Annotated[InOut[DeviceMemory], dense("graph.nSrcNodes, nodeFeatDim")],
    gradEdgeFeatures: Annotated[InOut[DeviceMemory], dense("graph.nIndices, edgeFeatDim")],
    gradConcatFeatures: Annotated[Out[DeviceMemory], dense("graph.nDstNodes, concatFeatDim")],
    nodeFeatDim: Int[c_int],
    edgeFeatDim: Int[c_int],
    concatFeatDim: Int[c_int],
    dataType: EnumValue[cudnnDataType_t],
    aggOp: EnumValue[cudnnGnnAggOp_t]) -> cudnnStatus_t: ...

@function("cudnn_gnn_ops.h", since="9.28.0", carried_out="gnn")
def cudnnGnnMhaGatForward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    srcFeatures: Annotated[DeviceMemory, dense("graph.nSrcNodes, dimNode")],
    dstFeatures: Annotated[DeviceMemory, dense("graph.nDstNodes, dimNode")],
    edgeFeatures: Annotated[DeviceMemory, dense("graph.nIndices, dimEdge")],
    attnWeights: Annotated[DeviceMemory, dense("2 * dimNode + dimEdge")],
    dropoutMask: Annotated[DeviceMemory, elements(c_float),
        dense("params.numHeads, graph.nIndices", "FLOAT")],
    output: Annotated[Out[DeviceMemory],
        dense("graph.nDstNodes, dimNode // params.numHeads ** (not params.concatHeads)")],
    smScores: Annotated[Out[DeviceMemory], dense("2, params.numHeads, graph.nIndices", "FLOAT")],
    dimNode: Int[c_int],
    dimEdge: Int[c_int],
    params: StructPointer[cudnnGnnMhaParams_t],
    dataType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_gnn_ops.h", since="9.28.0", carried_out="gnn")
def cudnnGnnMhaGatBackward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    gradOut: Annotated[DeviceMemory,
        dense("graph.nDstNodes, dimNode // params.numHeads ** (not params.concatHeads)")],
    srcFeatures: Annotated[DeviceMemory, dense("graph.nSrcNodes, dimNode")],
    dstFeatures: Annotated[DeviceMemory, dense("graph.nDstNodes, dimNode")],
    edgeFeatures: Annotated[DeviceMemory, dense("graph.nIndices, dimEdge")],
    attnWeights: Annotated[DeviceMemory, dense("2 * dimNode + dimEdge")],
    smScores: Annotated[DeviceMemory, dense("2, params.numHeads, graph.nIndices", "FLOAT")],
    dropoutMask: Annotated[DeviceMemory, elements(c_float),
        dense("params.numHeads, graph.nIndices", "FLOAT")],
    gradAttention: Annotated[DeviceMemory, elements(c_float),
        dense("params.numHeads, graph.nIndices", "FLOAT")],
    gradSrcFeatures: Annotated[Out[DeviceMemory],
        dense("graph.nSrcNodes, dimNode", "gradDataType")],
    gradDstFeatures: Annotated[Out[DeviceMemory],
        dense("graph.nDstNodes, dimNode", "gradDataType")],
    gradEdgeFeatures: Annotated[Out[DeviceMemory],
        dense("graph.nIndices, dimEdge", "gradDataType")],
    gradWeights: Annotated[Out[DeviceMemory], dense("2 * dimNode + dimEdge", "gradWeightType")],
    gradSmScores: Annotated[Out[DeviceMemory],
        dense("2, params.numHeads, graph.nIndices", "FLOAT")],
    gradWspaceFeat: Annotated[InOut[DeviceMemory],
        dense("graph.nIndices, dimNode", "gradDataType")],
    gradWspaceWeights: Annotated[InOut[DeviceMemory],
        dense("graph.nDstNodes, 2 * dimNode + dimEdge", "gradWeightType")],
    dimNode: Int[c_int],
    dimEdge: Int[c_int],
    params: StructPointer[cudnnGnnMhaParams_t],
    dataType: EnumValue[cudnnDataType_t],
    gradDataType: EnumValue[cudnnDataType_t],
    gradWeightType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_gnn_ops.h", since="9.28.0", carried_out="gnn")
def cudnnGnnMhaGatV2Forward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    srcFeatures: Annotated[DeviceMemory, dense("graph.nSrcNodes, dimNode")],
    dstFeatures: Annotated[DeviceMemory, dense("graph.nDstNodes, dimNode")],
    edgeFeatures: Annotated[DeviceMemory, dense("graph.nIndices, dimNode")],
    attnWeights: Annotated[DeviceMemory, dense("dimNode")],
    dropoutMask: Annotated[DeviceMemory, elements(c_float),
        dense("params.numHeads, graph.nIndices", "FLOAT")],
    output: Annotated[Out[DeviceMemory],
        dense("graph.nDstNodes, dimNode // params.numHeads ** (not params.concatHeads)")],
    smScores: Annotated[Out[DeviceMemory], dense("2, params.numHeads, graph.nIndices", "FLOAT")],
    actScores: Annotated[Out[DeviceMemory], dense("graph.nIndices, dimNode")],
    dimNode: Int[c_int],
    params: StructPointer[cudnnGnnMhaParams_t],
    dataType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

@function("cudnn_gnn_ops.h", since="9.28.0", carried_out="gnn")
def cudnnGnnMhaGatV2Backward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    gradOut: Annotated[DeviceMemory,
        dense("graph.nDstNodes, dimNode // params.numHeads ** (not params.concatHeads)")],
    srcFeatures: Annotated[DeviceMemory, dense("graph.nSrcNodes, dimNode")],
    dstFeatures: Annotated[DeviceMemory, dense("graph.nDstNodes, dimNode")],
    edgeFeatures: Annotated[DeviceMemory, dense("graph.nIndices, dimNode")],
    attnWeights: Annotated[DeviceMemory, dense("dimNode")],
    smScores: Annotated[DeviceMemory, dense("2, params.numHeads, graph.nIndices", "FLOAT")],
    actScores: Annotated[DeviceMemory, dense("graph.nIndices, dimNode")],
    dropoutMask: Annotated[DeviceMemory, elements(c_float),
        dense("params.numHeads, graph.nIndices", "FLOAT")],
    gradAttention: Annotated[DeviceMemory, elements(c_float),
        dense("params.numHeads, graph.nIndices", "FLOAT")],
    gradSrcFeatures: Annotated[Out[DeviceMemory], dense("graph.nSrcNodes, dimNode", "gradType")],
    gradDstFeatures: Annotated[Out[DeviceMemory], dense("graph.nDstNodes, dimNode", "gradType")],
    gradEdgeFeatures: Annotated[Out[DeviceMemory], dense("graph.nIndices, dimNode", "gradType")],
    gradWeights: Annotated[Out[DeviceMemory], dense("dimNode", "gradType")],
    gradSmScores: Annotated[Out[DeviceMemory],
        dense("2, params.numHeads, graph.nIndices", "FLOAT")],
    gradWspaceFeat: Annotated[InOut[DeviceMemory], dense("graph.nIndices, dimNode", "gradType")],
    gradWspaceWeights: Annotated[InOut[DeviceMemory],
        dense("graph.nDstNodes, dimNode", "gradType")],
    dimNode: Int[c_int],
    params: StructPointer[cudnnGnnMhaParams_t],
    dataType: EnumValue[cudnnDataType_t],
    gradType: EnumValue[cudnnDataType_t]) -> cudnnStatus_t: ...

FUNCTIONS: dict[str, Function] = {
    name: each for name, each in globals().items() if isinstance(each, Function)
}
"""All functions by C name."""

if not TYPE_CHECKING:  # type checkers take all names that are defined here
    __all__ = [*FUNCTIONS]
