# ruff: noqa: F821, RUF022, SIM300, UP037
"""The functions of cuDNN 9.28.0.

One declaration per C function, with C's names, in the order of the headers. `vocabulary` explains
the annotations; `function` makes callables of the declarations.

Generated from the cuDNN headers by ``python -m tools.generate``; do not edit.
"""

from __future__ import annotations

from ctypes import c_char, c_char_p, c_double, c_float, c_int, c_int64, c_size_t, c_uint, c_void_p

from .enums import (
    CUDNN_STATUS_BAD_PARAM,
    CUDNN_STATUS_NOT_SUPPORTED,
    cudnnActivationMode_t,
    cudnnBackendAttributeName_t,
    cudnnBackendAttributeType_t,
    cudnnBackendDescriptorType_t,
    cudnnBatchNormMode_t,
    cudnnBatchNormOps_t,
    cudnnCausalConv1dActivation_t,
    cudnnConvolutionBwdDataAlgo_t,
    cudnnConvolutionBwdFilterAlgo_t,
    cudnnConvolutionFwdAlgo_t,
    cudnnConvolutionMode_t,
    cudnnCTCGradMode_t,
    cudnnCTCLossAlgo_t,
    cudnnDataType_t,
    cudnnDirectionMode_t,
    cudnnDivNormMode_t,
    cudnnErrQueryMode_t,
    cudnnFoldingDirection_t,
    cudnnForwardMode_t,
    cudnnFusedOps_t,
    cudnnFusedOpsConstParamLabel_t,
    cudnnFusedOpsVariantParamLabel_t,
    cudnnGnnAggOp_t,
    cudnnIndicesType_t,
    cudnnLossNormalizationMode_t,
    cudnnLRNMode_t,
    cudnnMathType_t,
    cudnnMultiHeadAttnWeightKind_t,
    cudnnNanPropagation_t,
    cudnnNormAlgo_t,
    cudnnNormMode_t,
    cudnnNormOps_t,
    cudnnOpTensorOp_t,
    cudnnPoolingMode_t,
    cudnnReduceTensorIndices_t,
    cudnnReduceTensorOp_t,
    cudnnReorderType_t,
    cudnnRNNAlgo_t,
    cudnnRNNBiasMode_t,
    cudnnRNNClipMode_t,
    cudnnRNNDataLayout_t,
    cudnnRNNInputMode_t,
    cudnnRNNMode_t,
    cudnnSamplerType_t,
    cudnnSeqDataAxis_t,
    cudnnSoftmaxAlgorithm_t,
    cudnnSoftmaxMode_t,
    cudnnStatus_t,
    cudnnTensorFormat_t,
    cudnnWgradMode_t,
)
from .function import function
from .types import (
    cudaGraph_t,
    cudaStream_t,
    cudnnActivationDescriptor_t,
    cudnnAttnDescriptor_t,
    cudnnBackendDescriptor_t,
    cudnnCallback_t,
    cudnnConvolutionBwdDataAlgoPerf_t,
    cudnnConvolutionBwdFilterAlgoPerf_t,
    cudnnConvolutionDescriptor_t,
    cudnnConvolutionFwdAlgoPerf_t,
    cudnnCTCLossDescriptor_t,
    cudnnDropoutDescriptor_t,
    cudnnFilterDescriptor_t,
    cudnnFusedOpsConstParamPack_t,
    cudnnFusedOpsPlan_t,
    cudnnFusedOpsVariantParamPack_t,
    cudnnGnnCscGraph_t,
    cudnnGnnMhaParams_t,
    cudnnHandle_t,
    cudnnLRNDescriptor_t,
    cudnnOpTensorDescriptor_t,
    cudnnPoolingDescriptor_t,
    cudnnReduceTensorDescriptor_t,
    cudnnRNNDataDescriptor_t,
    cudnnRNNDescriptor_t,
    cudnnRuntimeTag_t,
    cudnnSeqDataDescriptor_t,
    cudnnSpatialTransformerDescriptor_t,
    cudnnTensorDescriptor_t,
    cudnnTensorTransformDescriptor_t,
    libraryPropertyType,
)
from .vocabulary import (
    Array,
    Const,
    DeviceArray,
    DeviceMemory,
    Extent,
    Factor,
    HostMemory,
    HostScalar,
    InOut,
    Labelled,
    Lent,
    MayBeUnset,
    Mutable,
    NeededBy,
    NotNull,
    Nullable,
    Out,
    Padding,
    PerSample,
    Pointer,
    SumOf,
    ToldBy,
    c_int32,
    c_uint32,
    c_ulonglong,
)

# --- cudnn_graph.h ---


@function("cudnn_graph.h", since="9.0.0")
def cudnnGetVersion() -> c_size_t: ...


@function("cudnn_graph.h", since="9.0.0")
def cudnnGetMaxDeviceVersion() -> c_size_t: ...


@function("cudnn_graph.h", since="9.0.0")
def cudnnGetCudartVersion() -> c_size_t: ...


@function("cudnn_graph.h", since="9.0.0")
def cudnnGetErrorString(status: cudnnStatus_t) -> c_char_p: ...


@function("cudnn_graph.h", since="9.0.0")
def cudnnGetLastErrorString(
    message: NotNull[Out[Array[c_char, "max_size"]]],
    max_size: c_size_t,
) -> None: ...


@function(
    "cudnn_graph.h", since="9.0.0", replaced_by="cudnnGetLastErrorString", carried_out="handle"
)
def cudnnQueryRuntimeError(
    handle: cudnnHandle_t,
    rstatus: Out[Pointer[cudnnStatus_t]],
    mode: cudnnErrQueryMode_t,
    tag: Out[Pointer[cudnnRuntimeTag_t]],
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0")
def cudnnGetProperty(type: libraryPropertyType, value: Out[Pointer[c_int]]) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0")
def cudnnCreate(handle: Out[Pointer[cudnnHandle_t]]) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0", carried_out="handle")
def cudnnDestroy(handle: cudnnHandle_t) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0", carried_out="handle")
def cudnnSetStream(handle: cudnnHandle_t, streamId: cudaStream_t) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0", carried_out="handle")
def cudnnGetStream(
    handle: cudnnHandle_t,
    streamId: NotNull[Out[Pointer[cudaStream_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0")
def cudnnSetCallback(
    mask: c_uint,
    udata: Mutable[HostMemory],
    fptr: cudnnCallback_t,
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0")
def cudnnGetCallback(
    mask: Out[Pointer[c_uint]],
    udata: Out[Pointer[c_void_p]],
    fptr: Out[Pointer[cudnnCallback_t]],
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0")
def cudnnGraphVersionCheck() -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0", taken_over="backend")
def cudnnBackendCreateDescriptor(
    descriptorType: cudnnBackendDescriptorType_t,
    descriptor: NotNull[Out[Pointer[cudnnBackendDescriptor_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0", taken_over="backend")
def cudnnBackendDestroyDescriptor(
    descriptor: Nullable[cudnnBackendDescriptor_t],
) -> cudnnStatus_t: ...


@function(
    "cudnn_graph.h", since="9.0.0", replaced_by="cudnnBackendCreateDescriptor", taken_over="backend"
)
def cudnnBackendInitialize(descriptor: cudnnBackendDescriptor_t) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0", taken_over="backend")
def cudnnBackendFinalize(descriptor: cudnnBackendDescriptor_t) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0", taken_over="backend")
def cudnnBackendSetAttribute(
    descriptor: cudnnBackendDescriptor_t,
    attributeName: cudnnBackendAttributeName_t,
    attributeType: cudnnBackendAttributeType_t,
    elementCount: c_int64,
    arrayOfElements: HostMemory,
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0", taken_over="backend")
def cudnnBackendGetAttribute(
    descriptor: Const[cudnnBackendDescriptor_t],
    attributeName: cudnnBackendAttributeName_t,
    attributeType: cudnnBackendAttributeType_t,
    requestedElementCount: c_int64,
    elementCount: Out[Pointer[c_int64]],
    arrayOfElements: Out[HostMemory],
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.23.0", carried_out="backend")
def cudnnGetExecutionPlanWorkspaceSize(
    handle: cudnnHandle_t,
    executionPlan: Nullable[cudnnBackendDescriptor_t],
    variantPack: Nullable[cudnnBackendDescriptor_t],
    workspaceSizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.0.0", carried_out="backend")
def cudnnBackendExecute(
    handle: cudnnHandle_t,
    executionPlan: Nullable[cudnnBackendDescriptor_t],
    variantPack: Nullable[cudnnBackendDescriptor_t],
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.5.0", carried_out="backend")
def cudnnBackendPopulateCudaGraph(
    handle: cudnnHandle_t,
    executionPlan: Nullable[cudnnBackendDescriptor_t],
    variantPack: Nullable[cudnnBackendDescriptor_t],
    graph: InOut[cudaGraph_t],
) -> cudnnStatus_t: ...


@function("cudnn_graph.h", since="9.5.0", carried_out="backend")
def cudnnBackendUpdateCudaGraph(
    handle: cudnnHandle_t,
    executionPlan: Nullable[cudnnBackendDescriptor_t],
    variantPack: Nullable[cudnnBackendDescriptor_t],
    graph: InOut[cudaGraph_t],
) -> cudnnStatus_t: ...


# --- cudnn_ops.h ---


@function("cudnn_ops.h", since="9.0.0")
def cudnnCreateTensorDescriptor(
    tensorDesc: Out[Pointer[cudnnTensorDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnSetTensor4dDescriptor(
    tensorDesc: InOut[cudnnTensorDescriptor_t],
    format: cudnnTensorFormat_t,
    dataType: cudnnDataType_t,
    n: c_int,
    c: c_int,
    h: c_int,
    w: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnSetTensor4dDescriptorEx(
    tensorDesc: InOut[cudnnTensorDescriptor_t],
    dataType: cudnnDataType_t,
    n: c_int,
    c: c_int,
    h: c_int,
    w: c_int,
    nStride: c_int,
    cStride: c_int,
    hStride: c_int,
    wStride: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnGetTensor4dDescriptor(
    tensorDesc: MayBeUnset[Const[cudnnTensorDescriptor_t]],
    dataType: Out[Pointer[cudnnDataType_t]],
    n: Out[Pointer[c_int]],
    c: Out[Pointer[c_int]],
    h: Out[Pointer[c_int]],
    w: Out[Pointer[c_int]],
    nStride: Out[Pointer[c_int]],
    cStride: Out[Pointer[c_int]],
    hStride: Out[Pointer[c_int]],
    wStride: Out[Pointer[c_int]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnSetTensorNdDescriptor(
    tensorDesc: InOut[cudnnTensorDescriptor_t],
    dataType: cudnnDataType_t,
    nbDims: c_int,
    dimA: NotNull[Array[c_int, "nbDims"]],
    strideA: NotNull[Array[c_int, "nbDims"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnSetTensorNdDescriptorEx(
    tensorDesc: InOut[cudnnTensorDescriptor_t],
    format: cudnnTensorFormat_t,
    dataType: cudnnDataType_t,
    nbDims: c_int,
    dimA: NotNull[Array[c_int, "nbDims <= 8", CUDNN_STATUS_NOT_SUPPORTED]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnGetTensorNdDescriptor(
    tensorDesc: MayBeUnset[Const[cudnnTensorDescriptor_t]],
    nbDimsRequested: c_int,
    dataType: NotNull[Out[Pointer[cudnnDataType_t]]],
    nbDims: Out[Pointer[c_int]],
    dimA: NotNull[Lent[Out[Array[c_int, "nbDimsRequested"]], 2]],
    strideA: NotNull[Lent[Out[Array[c_int, "nbDimsRequested"]], 2]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnGetTensorSizeInBytes(
    tensorDesc: NotNull[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    size: NotNull[Out[Pointer[c_size_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnDestroyTensorDescriptor(
    tensorDesc: Nullable[MayBeUnset[cudnnTensorDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True, carried_out="transform")
def cudnnInitTransformDest(
    transformDesc: Const[cudnnTensorTransformDescriptor_t],
    srcDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    destDesc: InOut[cudnnTensorDescriptor_t],
    destSizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True, followed="transform")
def cudnnCreateTensorTransformDescriptor(
    transformDesc: Out[Pointer[cudnnTensorTransformDescriptor_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h", since="9.0.0", deprecated=True, carried_out="transform", noted="tensor_transform"
)
def cudnnSetTensorTransformDescriptor(
    transformDesc: InOut[cudnnTensorTransformDescriptor_t],
    nbDims: Const[c_uint32],
    destFormat: Const[cudnnTensorFormat_t],
    padBeforeA: Array[c_int32, "nbDims"],
    padAfterA: Array[c_int32, "nbDims"],
    foldA: Array[c_uint32, "nbDims - 2"],
    direction: Const[cudnnFoldingDirection_t],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True, carried_out="transform")
def cudnnGetTensorTransformDescriptor(
    transformDesc: MayBeUnset[cudnnTensorTransformDescriptor_t],
    nbDimsRequested: c_uint32,
    destFormat: Out[Pointer[cudnnTensorFormat_t]],
    padBeforeA: Out[Array[c_int32, "nbDimsRequested"]],
    padAfterA: Out[Array[c_int32, "nbDimsRequested"]],
    foldA: Out[Array[c_uint32, "nbDimsRequested - 2"]],
    direction: NotNull[Out[Pointer[cudnnFoldingDirection_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True, carried_out="transform")
def cudnnDestroyTensorTransformDescriptor(
    transformDesc: Nullable[MayBeUnset[cudnnTensorTransformDescriptor_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
    carried_out="tensor_operations",
)
def cudnnTransformTensor(
    handle: cudnnHandle_t,
    alpha: HostScalar["xDesc", "yDesc"],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    beta: HostScalar["xDesc", "yDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True, carried_out="transform")
def cudnnTransformTensorEx(
    handle: cudnnHandle_t,
    transDesc: Nullable[Const[cudnnTensorTransformDescriptor_t]],
    alpha: HostScalar["srcDesc", "destDesc"],
    srcDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    srcData: DeviceMemory["srcDesc"],
    beta: HostScalar["srcDesc", "destDesc"],
    destDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    destData: InOut[DeviceMemory["destDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
    carried_out="tensor_operations",
)
def cudnnAddTensor(
    handle: cudnnHandle_t,
    alpha: HostScalar["cDesc"],
    aDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    A: DeviceMemory["aDesc"],
    beta: HostScalar["cDesc"],
    cDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    C: InOut[DeviceMemory["cDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnCreateOpTensorDescriptor(
    opTensorDesc: Out[Pointer[cudnnOpTensorDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnSetOpTensorDescriptor(
    opTensorDesc: InOut[cudnnOpTensorDescriptor_t],
    opTensorOp: cudnnOpTensorOp_t,
    opTensorCompType: cudnnDataType_t,
    opTensorNanOpt: cudnnNanPropagation_t,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnGetOpTensorDescriptor(
    opTensorDesc: MayBeUnset[Const[cudnnOpTensorDescriptor_t]],
    opTensorOp: NotNull[Out[Pointer[cudnnOpTensorOp_t]]],
    opTensorCompType: NotNull[Out[Pointer[cudnnDataType_t]]],
    opTensorNanOpt: NotNull[Out[Pointer[cudnnNanPropagation_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnDestroyOpTensorDescriptor(
    opTensorDesc: Nullable[MayBeUnset[cudnnOpTensorDescriptor_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
    carried_out="tensor_operations",
)
def cudnnOpTensor(
    handle: cudnnHandle_t,
    opTensorDesc: NotNull[Const[cudnnOpTensorDescriptor_t]],
    alpha1: HostScalar["opTensorDesc"],
    aDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    A: DeviceMemory["aDesc"],
    alpha2: HostScalar["opTensorDesc"],
    bDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    B: DeviceMemory["bDesc"],
    beta: HostScalar["opTensorDesc"],
    cDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    C: InOut[DeviceMemory["cDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_REDUCTION_DESCRIPTOR")
def cudnnCreateReduceTensorDescriptor(
    reduceTensorDesc: Out[Pointer[cudnnReduceTensorDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_REDUCTION_DESCRIPTOR")
def cudnnSetReduceTensorDescriptor(
    reduceTensorDesc: InOut[cudnnReduceTensorDescriptor_t],
    reduceTensorOp: cudnnReduceTensorOp_t,
    reduceTensorCompType: cudnnDataType_t,
    reduceTensorNanOpt: cudnnNanPropagation_t,
    reduceTensorIndices: cudnnReduceTensorIndices_t,
    reduceTensorIndicesType: cudnnIndicesType_t,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_REDUCTION_DESCRIPTOR")
def cudnnGetReduceTensorDescriptor(
    reduceTensorDesc: MayBeUnset[Const[cudnnReduceTensorDescriptor_t]],
    reduceTensorOp: NotNull[Out[Pointer[cudnnReduceTensorOp_t]]],
    reduceTensorCompType: NotNull[Out[Pointer[cudnnDataType_t]]],
    reduceTensorNanOpt: NotNull[Out[Pointer[cudnnNanPropagation_t]]],
    reduceTensorIndices: NotNull[Out[Pointer[cudnnReduceTensorIndices_t]]],
    reduceTensorIndicesType: NotNull[Out[Pointer[cudnnIndicesType_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_REDUCTION_DESCRIPTOR")
def cudnnDestroyReduceTensorDescriptor(
    reduceTensorDesc: Nullable[MayBeUnset[cudnnReduceTensorDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True, carried_out="tensor_operations")
def cudnnGetReductionIndicesSize(
    handle: cudnnHandle_t,
    reduceTensorDesc: NotNull[Const[cudnnReduceTensorDescriptor_t]],
    aDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    cDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    sizeInBytes: NotNull[Out[Pointer[c_size_t]]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
    carried_out="tensor_operations",
)
def cudnnGetReductionWorkspaceSize(
    handle: cudnnHandle_t,
    reduceTensorDesc: NotNull[Const[cudnnReduceTensorDescriptor_t]],
    aDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    cDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    sizeInBytes: NotNull[Out[Pointer[c_size_t]]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR",
    carried_out="tensor_operations",
)
def cudnnReduceTensor(
    handle: cudnnHandle_t,
    reduceTensorDesc: NotNull[Const[cudnnReduceTensorDescriptor_t]],
    indices: NeededBy[Out[DeviceMemory["indicesSizeInBytes"]], "indicesSizeInBytes"],
    indicesSizeInBytes: ToldBy[c_size_t, "cudnnGetReductionIndicesSize"],
    workspace: NeededBy[InOut[DeviceMemory["workspaceSizeInBytes"]], "workspaceSizeInBytes"],
    workspaceSizeInBytes: ToldBy[c_size_t, "cudnnGetReductionWorkspaceSize"],
    alpha: HostScalar["cDesc"],
    aDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    A: DeviceMemory["aDesc"],
    beta: HostScalar["cDesc"],
    cDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    C: InOut[DeviceMemory["cDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="tensor_operations")
def cudnnSetTensor(
    handle: cudnnHandle_t,
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: Out[DeviceMemory["yDesc"]],
    valuePtr: HostScalar["yDesc"],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
    carried_out="tensor_operations",
)
def cudnnScaleTensor(
    handle: cudnnHandle_t,
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
    alpha: HostScalar["yDesc"],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnCreateFilterDescriptor(
    filterDesc: Out[Pointer[cudnnFilterDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnSetFilter4dDescriptor(
    filterDesc: InOut[cudnnFilterDescriptor_t],
    dataType: cudnnDataType_t,
    format: cudnnTensorFormat_t,
    k: Factor[c_int],
    c: Factor[c_int],
    h: Factor[c_int],
    w: Factor[c_int],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnGetFilter4dDescriptor(
    filterDesc: MayBeUnset[Const[cudnnFilterDescriptor_t]],
    dataType: NotNull[Out[Pointer[cudnnDataType_t]]],
    format: NotNull[Out[Pointer[cudnnTensorFormat_t]]],
    k: NotNull[Out[Pointer[c_int]]],
    c: NotNull[Out[Pointer[c_int]]],
    h: NotNull[Out[Pointer[c_int]]],
    w: NotNull[Out[Pointer[c_int]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnSetFilterNdDescriptor(
    filterDesc: InOut[cudnnFilterDescriptor_t],
    dataType: cudnnDataType_t,
    format: cudnnTensorFormat_t,
    nbDims: c_int,
    filterDimA: NotNull[Factor[Array[c_int, "nbDims"]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnGetFilterNdDescriptor(
    filterDesc: MayBeUnset[Const[cudnnFilterDescriptor_t]],
    nbDimsRequested: c_int,
    dataType: NotNull[Out[Pointer[cudnnDataType_t]]],
    format: NotNull[Out[Pointer[cudnnTensorFormat_t]]],
    nbDims: NotNull[Out[Pointer[c_int]]],
    filterDimA: NotNull[Out[Array[c_int, "nbDimsRequested"]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnGetFilterSizeInBytes(
    filterDesc: MayBeUnset[Const[cudnnFilterDescriptor_t]],
    size: NotNull[Out[Pointer[c_size_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True, carried_out="transform")
def cudnnTransformFilter(
    handle: cudnnHandle_t,
    transDesc: Nullable[Const[cudnnTensorTransformDescriptor_t]],
    alpha: HostScalar["srcDesc", "destDesc"],
    srcDesc: NotNull[Const[cudnnFilterDescriptor_t]],
    srcData: DeviceMemory["srcDesc"],
    beta: HostScalar["srcDesc", "destDesc"],
    destDesc: NotNull[Const[cudnnFilterDescriptor_t]],
    destData: InOut[DeviceMemory["destDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnDestroyFilterDescriptor(
    filterDesc: Nullable[MayBeUnset[cudnnFilterDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="softmax")
def cudnnSoftmaxForward(
    handle: cudnnHandle_t,
    algo: cudnnSoftmaxAlgorithm_t,
    mode: cudnnSoftmaxMode_t,
    alpha: HostScalar["yDesc"],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    beta: HostScalar["yDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnCreatePoolingDescriptor(
    poolingDesc: Out[Pointer[cudnnPoolingDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnSetPooling2dDescriptor(
    poolingDesc: InOut[cudnnPoolingDescriptor_t],
    mode: cudnnPoolingMode_t,
    maxpoolingNanOpt: cudnnNanPropagation_t,
    windowHeight: Extent[c_int],
    windowWidth: Extent[c_int],
    verticalPadding: Extent[c_int],
    horizontalPadding: Extent[c_int],
    verticalStride: c_int,
    horizontalStride: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnGetPooling2dDescriptor(
    poolingDesc: MayBeUnset[Const[cudnnPoolingDescriptor_t]],
    mode: NotNull[Out[Pointer[cudnnPoolingMode_t]]],
    maxpoolingNanOpt: NotNull[Out[Pointer[cudnnNanPropagation_t]]],
    windowHeight: NotNull[Out[Pointer[c_int]]],
    windowWidth: NotNull[Out[Pointer[c_int]]],
    verticalPadding: NotNull[Out[Pointer[c_int]]],
    horizontalPadding: NotNull[Out[Pointer[c_int]]],
    verticalStride: NotNull[Out[Pointer[c_int]]],
    horizontalStride: NotNull[Out[Pointer[c_int]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnSetPoolingNdDescriptor(
    poolingDesc: InOut[cudnnPoolingDescriptor_t],
    mode: Const[cudnnPoolingMode_t],
    maxpoolingNanOpt: Const[cudnnNanPropagation_t],
    nbDims: c_int,
    windowDimA: NotNull[Extent[Array[c_int, "nbDims"]]],
    paddingA: NotNull[Extent[Array[c_int, "nbDims"]]],
    strideA: NotNull[Array[c_int, "nbDims"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnGetPoolingNdDescriptor(
    poolingDesc: MayBeUnset[Const[cudnnPoolingDescriptor_t]],
    nbDimsRequested: c_int,
    mode: NotNull[Out[Pointer[cudnnPoolingMode_t]]],
    maxpoolingNanOpt: NotNull[Out[Pointer[cudnnNanPropagation_t]]],
    nbDims: NotNull[Out[Pointer[c_int]]],
    windowDimA: NotNull[Out[Array[c_int, "nbDimsRequested"]]],
    paddingA: NotNull[Out[Array[c_int, "nbDimsRequested"]]],
    strideA: NotNull[Out[Array[c_int, "nbDimsRequested"]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True)
def cudnnGetPoolingNdForwardOutputDim(
    poolingDesc: Const[cudnnPoolingDescriptor_t],
    inputTensorDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    nbDims: c_int,
    outputTensorDimA: NotNull[Out[Array[c_int, "nbDims"]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True)
def cudnnGetPooling2dForwardOutputDim(
    poolingDesc: Const[cudnnPoolingDescriptor_t],
    inputTensorDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    n: NotNull[Out[Pointer[c_int]]],
    c: NotNull[Out[Pointer[c_int]]],
    h: NotNull[Out[Pointer[c_int]]],
    w: NotNull[Out[Pointer[c_int]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR")
def cudnnDestroyPoolingDescriptor(
    poolingDesc: Nullable[MayBeUnset[cudnnPoolingDescriptor_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR",
    carried_out="pooling",
)
def cudnnPoolingForward(
    handle: cudnnHandle_t,
    poolingDesc: Nullable[Const[cudnnPoolingDescriptor_t]],
    alpha: HostScalar["yDesc"],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    beta: HostScalar["yDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnCreateActivationDescriptor(
    activationDesc: Out[Pointer[cudnnActivationDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnSetActivationDescriptor(
    activationDesc: InOut[cudnnActivationDescriptor_t],
    mode: cudnnActivationMode_t,
    reluNanOpt: cudnnNanPropagation_t,
    coef: c_double,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnGetActivationDescriptor(
    activationDesc: MayBeUnset[Const[cudnnActivationDescriptor_t]],
    mode: NotNull[Out[Pointer[cudnnActivationMode_t]]],
    reluNanOpt: NotNull[Out[Pointer[cudnnNanPropagation_t]]],
    coef: NotNull[Out[Pointer[c_double]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnSetActivationDescriptorSwishBeta(
    activationDesc: MayBeUnset[InOut[cudnnActivationDescriptor_t]],
    swish_beta: c_double,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnGetActivationDescriptorSwishBeta(
    activationDesc: MayBeUnset[cudnnActivationDescriptor_t],
    swish_beta: Out[Pointer[c_double]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR")
def cudnnDestroyActivationDescriptor(
    activationDesc: Nullable[MayBeUnset[cudnnActivationDescriptor_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
    carried_out="activation",
)
def cudnnActivationForward(
    handle: cudnnHandle_t,
    activationDesc: Nullable[cudnnActivationDescriptor_t],
    alpha: HostScalar["yDesc"],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    beta: HostScalar["yDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnCreateLRNDescriptor(
    normDesc: NotNull[Out[Pointer[cudnnLRNDescriptor_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnSetLRNDescriptor(
    normDesc: NotNull[InOut[cudnnLRNDescriptor_t]],
    lrnN: c_uint,
    lrnAlpha: c_double,
    lrnBeta: c_double,
    lrnK: c_double,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnGetLRNDescriptor(
    normDesc: NotNull[cudnnLRNDescriptor_t],
    lrnN: Out[Pointer[c_uint]],
    lrnAlpha: Out[Pointer[c_double]],
    lrnBeta: Out[Pointer[c_double]],
    lrnK: Out[Pointer[c_double]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnDestroyLRNDescriptor(lrnDesc: Nullable[cudnnLRNDescriptor_t]) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="lrn")
def cudnnLRNCrossChannelForward(
    handle: cudnnHandle_t,
    normDesc: NotNull[cudnnLRNDescriptor_t],
    lrnMode: cudnnLRNMode_t,
    alpha: NotNull[HostScalar["yDesc"]],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    beta: NotNull[HostScalar["yDesc"]],
    yDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="lrn")
def cudnnDivisiveNormalizationForward(
    handle: cudnnHandle_t,
    normDesc: NotNull[cudnnLRNDescriptor_t],
    mode: cudnnDivNormMode_t,
    alpha: HostScalar["yDesc"],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    means: DeviceMemory["xDesc"],
    temp: Out[DeviceMemory["xDesc"]],
    temp2: Out[DeviceMemory["xDesc"]],
    beta: HostScalar["yDesc"],
    yDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnDeriveBNTensorDescriptor(
    derivedBnDesc: InOut[cudnnTensorDescriptor_t],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    mode: cudnnBatchNormMode_t,
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
    carried_out="normalization",
)
def cudnnBatchNormalizationForwardInference(
    handle: cudnnHandle_t,
    mode: cudnnBatchNormMode_t,
    alpha: HostScalar["yDesc"],
    beta: HostScalar["yDesc"],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    yDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
    bnScaleBiasMeanVarDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    bnScale: DeviceMemory["bnScaleBiasMeanVarDesc"],
    bnBias: DeviceMemory["bnScaleBiasMeanVarDesc"],
    estimatedMean: DeviceMemory["bnScaleBiasMeanVarDesc"],
    estimatedVariance: DeviceMemory["bnScaleBiasMeanVarDesc"],
    epsilon: c_double,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnDeriveNormTensorDescriptor(
    derivedNormScaleBiasDesc: InOut[cudnnTensorDescriptor_t],
    derivedNormMeanVarDesc: InOut[cudnnTensorDescriptor_t],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    mode: cudnnNormMode_t,
    groupCnt: c_int,
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
    carried_out="normalization",
)
def cudnnNormalizationForwardInference(
    handle: cudnnHandle_t,
    mode: cudnnNormMode_t,
    normOps: cudnnNormOps_t,
    algo: cudnnNormAlgo_t,
    alpha: HostScalar["yDesc"],
    beta: HostScalar["yDesc"],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    normScaleBiasDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    normScale: DeviceMemory["normScaleBiasDesc"],
    normBias: DeviceMemory["normScaleBiasDesc"],
    normMeanVarDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    estimatedMean: DeviceMemory["normMeanVarDesc"],
    estimatedVariance: DeviceMemory["normMeanVarDesc"],
    zDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    z: DeviceMemory["zDesc"],
    activationDesc: Nullable[MayBeUnset[cudnnActivationDescriptor_t, "normOps"]],
    yDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
    epsilon: c_double,
    groupCnt: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnCreateSpatialTransformerDescriptor(
    stDesc: Out[Pointer[cudnnSpatialTransformerDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", noted="spatial_transformer")
def cudnnSetSpatialTransformerNdDescriptor(
    stDesc: InOut[cudnnSpatialTransformerDescriptor_t],
    samplerType: cudnnSamplerType_t,
    dataType: cudnnDataType_t,
    nbDims: Const[c_int],
    dimA: Factor[Array[c_int, "1 <= nbDims <= 8", CUDNN_STATUS_BAD_PARAM]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnDestroySpatialTransformerDescriptor(
    stDesc: Nullable[MayBeUnset[cudnnSpatialTransformerDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="spatial_transformer")
def cudnnSpatialTfGridGeneratorForward(
    handle: cudnnHandle_t,
    stDesc: NotNull[Const[cudnnSpatialTransformerDescriptor_t]],
    theta: DeviceMemory,
    grid: Out[DeviceMemory],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="spatial_transformer")
def cudnnSpatialTfSamplerForward(
    handle: cudnnHandle_t,
    stDesc: NotNull[cudnnSpatialTransformerDescriptor_t],
    alpha: NotNull[HostScalar["yDesc"]],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    grid: DeviceMemory,
    beta: NotNull[HostScalar["yDesc"]],
    yDesc: NotNull[cudnnTensorDescriptor_t],
    y: InOut[DeviceMemory["yDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", followed="dropout")
def cudnnCreateDropoutDescriptor(
    dropoutDesc: Out[Pointer[cudnnDropoutDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnDestroyDropoutDescriptor(
    dropoutDesc: Nullable[cudnnDropoutDescriptor_t],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="dropout")
def cudnnDropoutGetStatesSize(
    handle: cudnnHandle_t,
    sizeInBytes: NotNull[Out[Pointer[c_size_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnDropoutGetReserveSpaceSize(
    xdesc: MayBeUnset[cudnnTensorDescriptor_t],
    sizeInBytes: NotNull[Out[Pointer[c_size_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="dropout", noted="dropout")
def cudnnSetDropoutDescriptor(
    dropoutDesc: Nullable[InOut[cudnnDropoutDescriptor_t]],
    handle: cudnnHandle_t,
    dropout: c_float,
    states: InOut[DeviceMemory["stateSizeInBytes"]],
    stateSizeInBytes: ToldBy[c_size_t, "cudnnDropoutGetStatesSize"],
    seed: c_ulonglong,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="dropout", noted="dropout")
def cudnnRestoreDropoutDescriptor(
    dropoutDesc: Nullable[InOut[cudnnDropoutDescriptor_t]],
    handle: cudnnHandle_t,
    dropout: c_float,
    states: InOut[DeviceMemory["stateSizeInBytes"]],
    stateSizeInBytes: ToldBy[c_size_t, "cudnnDropoutGetStatesSize"],
    seed: c_ulonglong,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="dropout")
def cudnnGetDropoutDescriptor(
    dropoutDesc: Nullable[cudnnDropoutDescriptor_t],
    handle: cudnnHandle_t,
    dropout: Out[Pointer[c_float]],
    states: Out[Pointer[c_void_p]],
    seed: Out[Pointer[c_ulonglong]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="dropout")
def cudnnDropoutForward(
    handle: cudnnHandle_t,
    dropoutDesc: Nullable[Const[cudnnDropoutDescriptor_t]],
    xdesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xdesc"],
    ydesc: NotNull[Const[cudnnTensorDescriptor_t]],
    y: Out[DeviceMemory["ydesc"]],
    reserveSpace: Out[DeviceMemory["reserveSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[c_size_t, "cudnnDropoutGetReserveSpaceSize"],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0")
def cudnnOpsVersionCheck() -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="softmax")
def cudnnSoftmaxBackward(
    handle: cudnnHandle_t,
    algo: cudnnSoftmaxAlgorithm_t,
    mode: cudnnSoftmaxMode_t,
    alpha: HostScalar["dxDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: DeviceMemory["yDesc"],
    dyDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dy: DeviceMemory["dyDesc"],
    beta: HostScalar["dxDesc"],
    dxDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dx: InOut[DeviceMemory["dxDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR",
    carried_out="pooling",
)
def cudnnPoolingBackward(
    handle: cudnnHandle_t,
    poolingDesc: Nullable[Const[cudnnPoolingDescriptor_t]],
    alpha: HostScalar["dxDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: DeviceMemory["yDesc"],
    dyDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dy: DeviceMemory["dyDesc"],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    beta: HostScalar["dxDesc"],
    dxDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dx: InOut[DeviceMemory["dxDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR",
    carried_out="activation",
)
def cudnnActivationBackward(
    handle: cudnnHandle_t,
    activationDesc: Nullable[cudnnActivationDescriptor_t],
    alpha: HostScalar["dxDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: DeviceMemory["yDesc"],
    dyDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dy: DeviceMemory["dyDesc"],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    beta: HostScalar["dxDesc"],
    dxDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dx: InOut[DeviceMemory["dxDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="lrn")
def cudnnLRNCrossChannelBackward(
    handle: cudnnHandle_t,
    normDesc: NotNull[cudnnLRNDescriptor_t],
    lrnMode: cudnnLRNMode_t,
    alpha: NotNull[HostScalar["dxDesc"]],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: DeviceMemory["yDesc"],
    dyDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dy: DeviceMemory["dyDesc"],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    beta: NotNull[HostScalar["dxDesc"]],
    dxDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dx: InOut[DeviceMemory["dxDesc"]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="lrn")
def cudnnDivisiveNormalizationBackward(
    handle: cudnnHandle_t,
    normDesc: NotNull[cudnnLRNDescriptor_t],
    mode: cudnnDivNormMode_t,
    alpha: HostScalar["dXdMeansDesc"],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    means: DeviceMemory["xDesc"],
    dy: DeviceMemory["xDesc"],
    temp: Out[DeviceMemory["xDesc"]],
    temp2: Out[DeviceMemory["xDesc"]],
    beta: HostScalar["dXdMeansDesc"],
    dXdMeansDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dx: InOut[DeviceMemory["dXdMeansDesc"]],
    dMeans: InOut[DeviceMemory["dXdMeansDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
    carried_out="normalization",
)
def cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    handle: cudnnHandle_t,
    mode: cudnnBatchNormMode_t,
    bnOps: cudnnBatchNormOps_t,
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    zDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    bnScaleBiasMeanVarDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    activationDesc: Nullable[MayBeUnset[Const[cudnnActivationDescriptor_t], "bnOps"]],
    sizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
    carried_out="normalization",
)
def cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    handle: cudnnHandle_t,
    mode: cudnnBatchNormMode_t,
    bnOps: cudnnBatchNormOps_t,
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dyDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dzDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    dxDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dBnScaleBiasDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    activationDesc: Nullable[MayBeUnset[Const[cudnnActivationDescriptor_t], "bnOps"]],
    sizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True, carried_out="normalization")
def cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    handle: cudnnHandle_t,
    mode: cudnnBatchNormMode_t,
    bnOps: cudnnBatchNormOps_t,
    activationDesc: Nullable[MayBeUnset[Const[cudnnActivationDescriptor_t], "bnOps"]],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    sizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
    carried_out="normalization",
)
def cudnnBatchNormalizationForwardTraining(
    handle: cudnnHandle_t,
    mode: cudnnBatchNormMode_t,
    alpha: HostScalar["yDesc"],
    beta: HostScalar["yDesc"],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    y: InOut[DeviceMemory["yDesc"]],
    bnScaleBiasMeanVarDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    bnScale: DeviceMemory["bnScaleBiasMeanVarDesc"],
    bnBias: DeviceMemory["bnScaleBiasMeanVarDesc"],
    exponentialAverageFactor: c_double,
    resultRunningMean: InOut[DeviceMemory["bnScaleBiasMeanVarDesc"]],
    resultRunningVariance: InOut[DeviceMemory["bnScaleBiasMeanVarDesc"]],
    epsilon: c_double,
    resultSaveMean: Out[DeviceMemory["bnScaleBiasMeanVarDesc"]],
    resultSaveInvVariance: Out[DeviceMemory["bnScaleBiasMeanVarDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
    carried_out="normalization",
)
def cudnnBatchNormalizationForwardTrainingEx(
    handle: cudnnHandle_t,
    mode: cudnnBatchNormMode_t,
    bnOps: cudnnBatchNormOps_t,
    alpha: HostScalar["yDesc"],
    beta: HostScalar["yDesc"],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    xData: DeviceMemory["xDesc"],
    zDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    zData: DeviceMemory["zDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    yData: InOut[DeviceMemory["yDesc"]],
    bnScaleBiasMeanVarDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    bnScale: DeviceMemory["bnScaleBiasMeanVarDesc"],
    bnBias: DeviceMemory["bnScaleBiasMeanVarDesc"],
    exponentialAverageFactor: c_double,
    resultRunningMean: InOut[DeviceMemory["bnScaleBiasMeanVarDesc"]],
    resultRunningVariance: InOut[DeviceMemory["bnScaleBiasMeanVarDesc"]],
    epsilon: c_double,
    resultSaveMean: Out[DeviceMemory["bnScaleBiasMeanVarDesc"]],
    resultSaveInvVariance: Out[DeviceMemory["bnScaleBiasMeanVarDesc"]],
    activationDesc: Nullable[MayBeUnset[cudnnActivationDescriptor_t, "bnOps"]],
    workspace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[
        c_size_t, "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize"
    ],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[
        c_size_t, "cudnnGetBatchNormalizationTrainingExReserveSpaceSize"
    ],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR",
    carried_out="normalization",
)
def cudnnBatchNormalizationBackward(
    handle: cudnnHandle_t,
    mode: cudnnBatchNormMode_t,
    alphaDataDiff: HostScalar["dxDesc"],
    betaDataDiff: HostScalar["dxDesc"],
    alphaParamDiff: HostScalar["dxDesc"],
    betaParamDiff: HostScalar["dxDesc"],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    dyDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dy: DeviceMemory["dyDesc"],
    dxDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dx: InOut[DeviceMemory["dxDesc"]],
    dBnScaleBiasDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    bnScale: DeviceMemory["dBnScaleBiasDesc"],
    dBnScaleResult: InOut[DeviceMemory["dBnScaleBiasDesc"]],
    dBnBiasResult: InOut[DeviceMemory["dBnScaleBiasDesc"]],
    epsilon: c_double,
    savedMean: DeviceMemory["dBnScaleBiasDesc"],
    savedInvVariance: DeviceMemory["dBnScaleBiasDesc"],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR",
    carried_out="normalization",
)
def cudnnBatchNormalizationBackwardEx(
    handle: cudnnHandle_t,
    mode: cudnnBatchNormMode_t,
    bnOps: cudnnBatchNormOps_t,
    alphaDataDiff: HostScalar["dxDesc"],
    betaDataDiff: HostScalar["dxDesc"],
    alphaParamDiff: HostScalar["dxDesc"],
    betaParamDiff: HostScalar["dxDesc"],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    xData: DeviceMemory["xDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    yData: DeviceMemory["yDesc"],
    dyDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dyData: DeviceMemory["dyDesc"],
    dzDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    dzData: InOut[DeviceMemory["dzDesc"]],
    dxDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dxData: InOut[DeviceMemory["dxDesc"]],
    dBnScaleBiasDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    bnScaleData: DeviceMemory["dBnScaleBiasDesc"],
    bnBiasData: DeviceMemory["dBnScaleBiasDesc"],
    dBnScaleData: InOut[DeviceMemory["dBnScaleBiasDesc"]],
    dBnBiasData: InOut[DeviceMemory["dBnScaleBiasDesc"]],
    epsilon: c_double,
    savedMean: DeviceMemory["dBnScaleBiasDesc"],
    savedInvVariance: DeviceMemory["dBnScaleBiasDesc"],
    activationDesc: Nullable[MayBeUnset[cudnnActivationDescriptor_t, "bnOps"]],
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetBatchNormalizationBackwardExWorkspaceSize"],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[
        c_size_t, "cudnnGetBatchNormalizationTrainingExReserveSpaceSize"
    ],
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
    carried_out="normalization",
)
def cudnnGetNormalizationForwardTrainingWorkspaceSize(
    handle: cudnnHandle_t,
    mode: cudnnNormMode_t,
    normOps: cudnnNormOps_t,
    algo: cudnnNormAlgo_t,
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    zDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    normScaleBiasDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    activationDesc: Nullable[MayBeUnset[Const[cudnnActivationDescriptor_t], "normOps"]],
    normMeanVarDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    sizeInBytes: Out[Pointer[c_size_t]],
    groupCnt: c_int,
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
    carried_out="normalization",
)
def cudnnGetNormalizationBackwardWorkspaceSize(
    handle: cudnnHandle_t,
    mode: cudnnNormMode_t,
    normOps: cudnnNormOps_t,
    algo: cudnnNormAlgo_t,
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dyDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dzDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    dxDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    dNormScaleBiasDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    activationDesc: Nullable[MayBeUnset[Const[cudnnActivationDescriptor_t], "normOps"]],
    normMeanVarDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    sizeInBytes: Out[Pointer[c_size_t]],
    groupCnt: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", deprecated=True, carried_out="normalization")
def cudnnGetNormalizationTrainingReserveSpaceSize(
    handle: cudnnHandle_t,
    mode: cudnnNormMode_t,
    normOps: cudnnNormOps_t,
    algo: cudnnNormAlgo_t,
    activationDesc: Nullable[MayBeUnset[Const[cudnnActivationDescriptor_t], "normOps"]],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    sizeInBytes: Out[Pointer[c_size_t]],
    groupCnt: c_int,
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR",
    carried_out="normalization",
)
def cudnnNormalizationForwardTraining(
    handle: cudnnHandle_t,
    mode: cudnnNormMode_t,
    normOps: cudnnNormOps_t,
    algo: cudnnNormAlgo_t,
    alpha: HostScalar["yDesc"],
    beta: HostScalar["yDesc"],
    xDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    xData: DeviceMemory["xDesc"],
    normScaleBiasDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    normScale: DeviceMemory["normScaleBiasDesc"],
    normBias: DeviceMemory["normScaleBiasDesc"],
    exponentialAverageFactor: c_double,
    normMeanVarDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    resultRunningMean: InOut[DeviceMemory["normMeanVarDesc"]],
    resultRunningVariance: InOut[DeviceMemory["normMeanVarDesc"]],
    epsilon: c_double,
    resultSaveMean: Out[DeviceMemory["normMeanVarDesc"]],
    resultSaveInvVariance: Out[DeviceMemory["normMeanVarDesc"]],
    activationDesc: Nullable[MayBeUnset[cudnnActivationDescriptor_t, "normOps"]],
    zDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    zData: DeviceMemory["zDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    yData: InOut[DeviceMemory["yDesc"]],
    workspace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetNormalizationForwardTrainingWorkspaceSize"],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetNormalizationTrainingReserveSpaceSize"],
    groupCnt: c_int,
) -> cudnnStatus_t: ...


@function(
    "cudnn_ops.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR",
    carried_out="normalization",
)
def cudnnNormalizationBackward(
    handle: cudnnHandle_t,
    mode: cudnnNormMode_t,
    normOps: cudnnNormOps_t,
    algo: cudnnNormAlgo_t,
    alphaDataDiff: HostScalar["dxDesc"],
    betaDataDiff: HostScalar["dxDesc"],
    alphaParamDiff: HostScalar["dxDesc"],
    betaParamDiff: HostScalar["dxDesc"],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    xData: DeviceMemory["xDesc"],
    yDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    yData: DeviceMemory["yDesc"],
    dyDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dyData: DeviceMemory["dyDesc"],
    dzDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    dzData: InOut[DeviceMemory["dzDesc"]],
    dxDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dxData: InOut[DeviceMemory["dxDesc"]],
    dNormScaleBiasDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    normScaleData: DeviceMemory["dNormScaleBiasDesc"],
    normBiasData: NeededBy[DeviceMemory["dNormScaleBiasDesc"], "normOps"],
    dNormScaleData: InOut[DeviceMemory["dNormScaleBiasDesc"]],
    dNormBiasData: InOut[DeviceMemory["dNormScaleBiasDesc"]],
    epsilon: c_double,
    normMeanVarDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    savedMean: DeviceMemory["normMeanVarDesc"],
    savedInvVariance: DeviceMemory["normMeanVarDesc"],
    activationDesc: Nullable[MayBeUnset[cudnnActivationDescriptor_t, "normOps"]],
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetNormalizationBackwardWorkspaceSize"],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetNormalizationTrainingReserveSpaceSize"],
    groupCnt: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="spatial_transformer")
def cudnnSpatialTfGridGeneratorBackward(
    handle: cudnnHandle_t,
    stDesc: NotNull[Const[cudnnSpatialTransformerDescriptor_t]],
    dgrid: DeviceMemory,
    dtheta: Out[DeviceMemory],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="spatial_transformer")
def cudnnSpatialTfSamplerBackward(
    handle: cudnnHandle_t,
    stDesc: NotNull[cudnnSpatialTransformerDescriptor_t],
    alpha: HostScalar["dxDesc"],
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    beta: HostScalar["dxDesc"],
    dxDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dx: InOut[DeviceMemory["dxDesc"]],
    alphaDgrid: HostScalar["dxDesc"],
    dyDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dy: DeviceMemory["dyDesc"],
    grid: DeviceMemory,
    betaDgrid: HostScalar["dxDesc"],
    dgrid: InOut[DeviceMemory],
) -> cudnnStatus_t: ...


@function("cudnn_ops.h", since="9.0.0", carried_out="dropout")
def cudnnDropoutBackward(
    handle: cudnnHandle_t,
    dropoutDesc: Nullable[Const[cudnnDropoutDescriptor_t]],
    dydesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dy: DeviceMemory["dydesc"],
    dxdesc: NotNull[Const[cudnnTensorDescriptor_t]],
    dx: Out[DeviceMemory["dxdesc"]],
    reserveSpace: Mutable[DeviceMemory["reserveSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[c_size_t, "cudnnDropoutGetReserveSpaceSize"],
) -> cudnnStatus_t: ...


# --- cudnn_cnn.h ---


@function("cudnn_cnn.h", since="9.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnCreateConvolutionDescriptor(
    convDesc: Out[Pointer[cudnnConvolutionDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnDestroyConvolutionDescriptor(
    convDesc: Nullable[MayBeUnset[cudnnConvolutionDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True)
def cudnnSetConvolutionMathType(
    convDesc: MayBeUnset[InOut[cudnnConvolutionDescriptor_t]],
    mathType: cudnnMathType_t,
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True)
def cudnnGetConvolutionMathType(
    convDesc: MayBeUnset[cudnnConvolutionDescriptor_t],
    mathType: NotNull[Out[Pointer[cudnnMathType_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True)
def cudnnSetConvolutionGroupCount(
    convDesc: MayBeUnset[InOut[cudnnConvolutionDescriptor_t]],
    groupCount: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True)
def cudnnGetConvolutionGroupCount(
    convDesc: MayBeUnset[cudnnConvolutionDescriptor_t],
    groupCount: NotNull[Out[Pointer[c_int]]],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True)
def cudnnSetConvolutionReorderType(
    convDesc: MayBeUnset[InOut[cudnnConvolutionDescriptor_t]],
    reorderType: cudnnReorderType_t,
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True)
def cudnnGetConvolutionReorderType(
    convDesc: MayBeUnset[cudnnConvolutionDescriptor_t],
    reorderType: Out[Pointer[cudnnReorderType_t]],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnSetConvolution2dDescriptor(
    convDesc: InOut[cudnnConvolutionDescriptor_t],
    pad_h: Extent[c_int],
    pad_w: Extent[c_int],
    u: c_int,
    v: c_int,
    dilation_h: Extent[c_int],
    dilation_w: Extent[c_int],
    mode: cudnnConvolutionMode_t,
    computeType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnGetConvolution2dDescriptor(
    convDesc: MayBeUnset[Const[cudnnConvolutionDescriptor_t]],
    pad_h: NotNull[Out[Pointer[c_int]]],
    pad_w: NotNull[Out[Pointer[c_int]]],
    u: NotNull[Out[Pointer[c_int]]],
    v: NotNull[Out[Pointer[c_int]]],
    dilation_h: NotNull[Out[Pointer[c_int]]],
    dilation_w: NotNull[Out[Pointer[c_int]]],
    mode: NotNull[Out[Pointer[cudnnConvolutionMode_t]]],
    computeType: NotNull[Out[Pointer[cudnnDataType_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnSetConvolutionNdDescriptor(
    convDesc: InOut[cudnnConvolutionDescriptor_t],
    arrayLength: c_int,
    padA: NotNull[Extent[Array[c_int, "arrayLength"]]],
    filterStrideA: NotNull[Array[c_int, "arrayLength"]],
    dilationA: NotNull[Extent[Array[c_int, "arrayLength"]]],
    mode: cudnnConvolutionMode_t,
    computeType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR")
def cudnnGetConvolutionNdDescriptor(
    convDesc: MayBeUnset[Const[cudnnConvolutionDescriptor_t]],
    arrayLengthRequested: c_int,
    arrayLength: NotNull[Out[Pointer[c_int]]],
    padA: NotNull[Out[Array[c_int, "arrayLengthRequested"]]],
    strideA: NotNull[Out[Array[c_int, "arrayLengthRequested"]]],
    dilationA: NotNull[Out[Array[c_int, "arrayLengthRequested"]]],
    mode: NotNull[Out[Pointer[cudnnConvolutionMode_t]]],
    computeType: NotNull[Out[Pointer[cudnnDataType_t]]],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True)
def cudnnGetConvolution2dForwardOutputDim(
    convDesc: Const[cudnnConvolutionDescriptor_t],
    inputTensorDesc: Const[cudnnTensorDescriptor_t],
    filterDesc: Const[cudnnFilterDescriptor_t],
    n: NotNull[Out[Pointer[c_int]]],
    c: NotNull[Out[Pointer[c_int]]],
    h: NotNull[Out[Pointer[c_int]]],
    w: NotNull[Out[Pointer[c_int]]],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True)
def cudnnGetConvolutionNdForwardOutputDim(
    convDesc: Const[cudnnConvolutionDescriptor_t],
    inputTensorDesc: Const[cudnnTensorDescriptor_t],
    filterDesc: Const[cudnnFilterDescriptor_t],
    nbDims: c_int,
    tensorOuputDimA: Out[Array[c_int, "2 <= nbDims"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnGetConvolutionForwardAlgorithmMaxCount(
    handle: cudnnHandle_t,
    count: NotNull[Out[Pointer[c_int]]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnGetConvolutionForwardAlgorithm_v7(
    handle: cudnnHandle_t,
    srcDesc: Const[cudnnTensorDescriptor_t],
    filterDesc: Const[cudnnFilterDescriptor_t],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    destDesc: Const[cudnnTensorDescriptor_t],
    requestedAlgoCount: Const[c_int],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: NotNull[Out[Array[cudnnConvolutionFwdAlgoPerf_t, "requestedAlgoCount"]]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnFindConvolutionForwardAlgorithm(
    handle: cudnnHandle_t,
    xDesc: Const[cudnnTensorDescriptor_t],
    wDesc: Const[cudnnFilterDescriptor_t],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    yDesc: Const[cudnnTensorDescriptor_t],
    requestedAlgoCount: Const[c_int],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Out[Array[cudnnConvolutionFwdAlgoPerf_t, "requestedAlgoCount"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnFindConvolutionForwardAlgorithmEx(
    handle: cudnnHandle_t,
    xDesc: Const[cudnnTensorDescriptor_t],
    x: DeviceMemory["xDesc"],
    wDesc: Const[cudnnFilterDescriptor_t],
    w: DeviceMemory["wDesc"],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    yDesc: Const[cudnnTensorDescriptor_t],
    y: Out[DeviceMemory["yDesc"]],
    requestedAlgoCount: Const[c_int],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Out[Array[cudnnConvolutionFwdAlgoPerf_t, "requestedAlgoCount"]],
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: c_size_t,
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True, carried_out="convolution_transforms")
def cudnnIm2Col(
    handle: cudnnHandle_t,
    xDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    x: DeviceMemory["xDesc"],
    wDesc: NotNull[Const[cudnnFilterDescriptor_t]],
    convDesc: NotNull[Const[cudnnConvolutionDescriptor_t]],
    colBuffer: Out[DeviceMemory],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", deprecated=True, carried_out="convolution_transforms")
def cudnnReorderFilterAndBias(
    handle: cudnnHandle_t,
    filterDesc: Nullable[Const[cudnnFilterDescriptor_t]],
    reorderType: cudnnReorderType_t,
    filterData: DeviceMemory["filterDesc"],
    reorderedFilterData: Out[DeviceMemory["filterDesc"]],
    reorderBias: c_int,
    biasData: DeviceMemory,
    reorderedBiasData: Out[DeviceMemory],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
    carried_out="convolution_queries",
)
def cudnnGetConvolutionForwardWorkspaceSize(
    handle: cudnnHandle_t,
    xDesc: Const[cudnnTensorDescriptor_t],
    wDesc: Const[cudnnFilterDescriptor_t],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    yDesc: Const[cudnnTensorDescriptor_t],
    algo: cudnnConvolutionFwdAlgo_t,
    sizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR",
    carried_out="convolution",
)
def cudnnConvolutionForward(
    handle: cudnnHandle_t,
    alpha: HostScalar["yDesc"],
    xDesc: Const[cudnnTensorDescriptor_t],
    x: DeviceMemory["xDesc"],
    wDesc: Const[cudnnFilterDescriptor_t],
    w: DeviceMemory["wDesc"],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    algo: cudnnConvolutionFwdAlgo_t,
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetConvolutionForwardWorkspaceSize"],
    beta: HostScalar["yDesc"],
    yDesc: Const[cudnnTensorDescriptor_t],
    y: InOut[DeviceMemory["yDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR",
    carried_out="convolution",
)
def cudnnConvolutionBiasActivationForward(
    handle: cudnnHandle_t,
    alpha1: HostScalar["yDesc"],
    xDesc: Const[cudnnTensorDescriptor_t],
    x: DeviceMemory["xDesc"],
    wDesc: Const[cudnnFilterDescriptor_t],
    w: DeviceMemory["wDesc"],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    algo: cudnnConvolutionFwdAlgo_t,
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetConvolutionForwardWorkspaceSize"],
    alpha2: HostScalar["yDesc"],
    zDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    z: DeviceMemory["zDesc"],
    biasDesc: Const[cudnnTensorDescriptor_t],
    bias: DeviceMemory["biasDesc"],
    activationDesc: Const[cudnnActivationDescriptor_t],
    yDesc: Const[cudnnTensorDescriptor_t],
    y: InOut[DeviceMemory["yDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnGetConvolutionBackwardDataAlgorithmMaxCount(
    handle: cudnnHandle_t,
    count: NotNull[Out[Pointer[c_int]]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnFindConvolutionBackwardDataAlgorithm(
    handle: cudnnHandle_t,
    wDesc: Const[cudnnFilterDescriptor_t],
    dyDesc: Const[cudnnTensorDescriptor_t],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    dxDesc: Const[cudnnTensorDescriptor_t],
    requestedAlgoCount: Const[c_int],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Out[Array[cudnnConvolutionBwdDataAlgoPerf_t, "requestedAlgoCount"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnFindConvolutionBackwardDataAlgorithmEx(
    handle: cudnnHandle_t,
    wDesc: Const[cudnnFilterDescriptor_t],
    w: DeviceMemory["wDesc"],
    dyDesc: Const[cudnnTensorDescriptor_t],
    dy: DeviceMemory["dyDesc"],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    dxDesc: Const[cudnnTensorDescriptor_t],
    dx: Out[DeviceMemory["dxDesc"]],
    requestedAlgoCount: Const[c_int],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Out[Array[cudnnConvolutionBwdDataAlgoPerf_t, "requestedAlgoCount"]],
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: c_size_t,
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnGetConvolutionBackwardDataAlgorithm_v7(
    handle: cudnnHandle_t,
    filterDesc: Const[cudnnFilterDescriptor_t],
    diffDesc: Const[cudnnTensorDescriptor_t],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    gradDesc: Const[cudnnTensorDescriptor_t],
    requestedAlgoCount: Const[c_int],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: NotNull[Out[Array[cudnnConvolutionBwdDataAlgoPerf_t, "requestedAlgoCount"]]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
    carried_out="convolution_queries",
)
def cudnnGetConvolutionBackwardDataWorkspaceSize(
    handle: cudnnHandle_t,
    wDesc: Const[cudnnFilterDescriptor_t],
    dyDesc: Const[cudnnTensorDescriptor_t],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    dxDesc: Const[cudnnTensorDescriptor_t],
    algo: cudnnConvolutionBwdDataAlgo_t,
    sizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR",
    carried_out="convolution",
)
def cudnnConvolutionBackwardData(
    handle: cudnnHandle_t,
    alpha: HostScalar["dxDesc"],
    wDesc: Const[cudnnFilterDescriptor_t],
    w: DeviceMemory["wDesc"],
    dyDesc: Const[cudnnTensorDescriptor_t],
    dy: DeviceMemory["dyDesc"],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    algo: cudnnConvolutionBwdDataAlgo_t,
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetConvolutionBackwardDataWorkspaceSize"],
    beta: HostScalar["dxDesc"],
    dxDesc: Const[cudnnTensorDescriptor_t],
    dx: InOut[DeviceMemory["dxDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    deprecated=True,
    carried_out="convolution_transforms",
    noted="folding_transforms",
)
def cudnnGetFoldedConvBackwardDataDescriptors(
    handle: Const[cudnnHandle_t],
    filterDesc: Nullable[Const[cudnnFilterDescriptor_t]],
    diffDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    convDesc: Nullable[Const[cudnnConvolutionDescriptor_t]],
    gradDesc: Nullable[Const[cudnnTensorDescriptor_t]],
    transformFormat: Const[cudnnTensorFormat_t],
    foldedFilterDesc: Nullable[Out[cudnnFilterDescriptor_t]],
    paddedDiffDesc: Nullable[Out[cudnnTensorDescriptor_t]],
    foldedConvDesc: Nullable[Out[cudnnConvolutionDescriptor_t]],
    foldedGradDesc: Nullable[Out[cudnnTensorDescriptor_t]],
    filterFoldTransDesc: Nullable[Out[cudnnTensorTransformDescriptor_t]],
    diffPadTransDesc: Nullable[Out[cudnnTensorTransformDescriptor_t]],
    gradFoldTransDesc: Nullable[Out[cudnnTensorTransformDescriptor_t]],
    gradUnfoldTransDesc: Nullable[Out[cudnnTensorTransformDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0")
def cudnnCnnVersionCheck() -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(
    handle: cudnnHandle_t,
    count: NotNull[Out[Pointer[c_int]]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnFindConvolutionBackwardFilterAlgorithm(
    handle: cudnnHandle_t,
    xDesc: Const[cudnnTensorDescriptor_t],
    dyDesc: Const[cudnnTensorDescriptor_t],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    dwDesc: Const[cudnnFilterDescriptor_t],
    requestedAlgoCount: Const[c_int],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Out[Array[cudnnConvolutionBwdFilterAlgoPerf_t, "requestedAlgoCount"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnFindConvolutionBackwardFilterAlgorithmEx(
    handle: cudnnHandle_t,
    xDesc: Const[cudnnTensorDescriptor_t],
    x: DeviceMemory["xDesc"],
    dyDesc: Const[cudnnTensorDescriptor_t],
    y: DeviceMemory["dyDesc"],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    dwDesc: Const[cudnnFilterDescriptor_t],
    dw: Out[DeviceMemory["dwDesc"]],
    requestedAlgoCount: Const[c_int],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: Out[Array[cudnnConvolutionBwdFilterAlgoPerf_t, "requestedAlgoCount"]],
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: c_size_t,
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    carried_out="convolution_queries",
)
def cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    handle: cudnnHandle_t,
    srcDesc: Const[cudnnTensorDescriptor_t],
    diffDesc: Const[cudnnTensorDescriptor_t],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    gradDesc: Const[cudnnFilterDescriptor_t],
    requestedAlgoCount: Const[c_int],
    returnedAlgoCount: Out[Pointer[c_int]],
    perfResults: NotNull[Out[Array[cudnnConvolutionBwdFilterAlgoPerf_t, "requestedAlgoCount"]]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE",
    carried_out="convolution_queries",
)
def cudnnGetConvolutionBackwardFilterWorkspaceSize(
    handle: cudnnHandle_t,
    xDesc: Const[cudnnTensorDescriptor_t],
    dyDesc: Const[cudnnTensorDescriptor_t],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    gradDesc: Const[cudnnFilterDescriptor_t],
    algo: cudnnConvolutionBwdFilterAlgo_t,
    sizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR",
    carried_out="convolution",
)
def cudnnConvolutionBackwardFilter(
    handle: cudnnHandle_t,
    alpha: HostScalar["dwDesc"],
    xDesc: Const[cudnnTensorDescriptor_t],
    x: DeviceMemory["xDesc"],
    dyDesc: Const[cudnnTensorDescriptor_t],
    dy: DeviceMemory["dyDesc"],
    convDesc: Const[cudnnConvolutionDescriptor_t],
    algo: cudnnConvolutionBwdFilterAlgo_t,
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetConvolutionBackwardFilterWorkspaceSize"],
    beta: HostScalar["dwDesc"],
    dwDesc: Const[cudnnFilterDescriptor_t],
    dw: InOut[DeviceMemory["dwDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR",
    carried_out="convolution",
)
def cudnnConvolutionBackwardBias(
    handle: cudnnHandle_t,
    alpha: HostScalar["dbDesc"],
    dyDesc: Const[cudnnTensorDescriptor_t],
    dy: DeviceMemory["dyDesc"],
    beta: HostScalar["dbDesc"],
    dbDesc: Const[cudnnTensorDescriptor_t],
    db: InOut[DeviceMemory["dbDesc"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR",
    noted="fused_operation",
)
def cudnnCreateFusedOpsConstParamPack(
    constPack: Out[Pointer[cudnnFusedOpsConstParamPack_t]],
    ops: cudnnFusedOps_t,
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR",
    noted="fused_destroyed",
)
def cudnnDestroyFusedOpsConstParamPack(
    constPack: Nullable[cudnnFusedOpsConstParamPack_t],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", replaced_by="CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR")
def cudnnSetFusedOpsConstParamPackAttribute(
    constPack: InOut[cudnnFusedOpsConstParamPack_t],
    paramLabel: cudnnFusedOpsConstParamLabel_t,
    param: Labelled,
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", replaced_by="CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR")
def cudnnGetFusedOpsConstParamPackAttribute(
    constPack: Const[cudnnFusedOpsConstParamPack_t],
    paramLabel: cudnnFusedOpsConstParamLabel_t,
    param: Out[Labelled],
    isNULL: Out[Pointer[c_int]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR",
    noted="fused_operation",
)
def cudnnCreateFusedOpsVariantParamPack(
    varPack: Out[Pointer[cudnnFusedOpsVariantParamPack_t]],
    ops: cudnnFusedOps_t,
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR",
    noted="fused_destroyed",
)
def cudnnDestroyFusedOpsVariantParamPack(
    varPack: Nullable[cudnnFusedOpsVariantParamPack_t],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR",
    noted="fused_variant",
)
def cudnnSetFusedOpsVariantParamPackAttribute(
    varPack: InOut[cudnnFusedOpsVariantParamPack_t],
    paramLabel: cudnnFusedOpsVariantParamLabel_t,
    ptr: Mutable[Labelled],
) -> cudnnStatus_t: ...


@function("cudnn_cnn.h", since="9.0.0", replaced_by="CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR")
def cudnnGetFusedOpsVariantParamPackAttribute(
    varPack: Const[cudnnFusedOpsVariantParamPack_t],
    paramLabel: cudnnFusedOpsVariantParamLabel_t,
    ptr: Out[Labelled],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR",
    noted="fused_operation",
)
def cudnnCreateFusedOpsPlan(
    plan: Out[Pointer[cudnnFusedOpsPlan_t]],
    ops: cudnnFusedOps_t,
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR",
    noted="fused_destroyed",
)
def cudnnDestroyFusedOpsPlan(plan: Nullable[cudnnFusedOpsPlan_t]) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR",
    carried_out="fused_operations",
    noted="fused_plan",
)
def cudnnMakeFusedOpsPlan(
    handle: cudnnHandle_t,
    plan: Nullable[InOut[cudnnFusedOpsPlan_t]],
    constPack: Nullable[Const[cudnnFusedOpsConstParamPack_t]],
    workspaceSizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_cnn.h", since="9.0.0", replaced_by="cudnnBackendExecute", carried_out="fused_operations"
)
def cudnnFusedOpsExecute(
    handle: cudnnHandle_t,
    plan: NotNull[Const[cudnnFusedOpsPlan_t]],
    varPack: Nullable[cudnnFusedOpsVariantParamPack_t],
) -> cudnnStatus_t: ...


# --- cudnn_adv.h ---


@function("cudnn_adv.h", since="9.0.0", followed="rnn")
def cudnnCreateRNNDescriptor(rnnDesc: Out[Pointer[cudnnRNNDescriptor_t]]) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnDestroyRNNDescriptor(
    rnnDesc: Nullable[MayBeUnset[cudnnRNNDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", followed="rnn")
def cudnnSetRNNDescriptor_v8(
    rnnDesc: InOut[cudnnRNNDescriptor_t],
    algo: cudnnRNNAlgo_t,
    cellMode: cudnnRNNMode_t,
    biasMode: cudnnRNNBiasMode_t,
    dirMode: cudnnDirectionMode_t,
    inputMode: cudnnRNNInputMode_t,
    dataType: cudnnDataType_t,
    mathPrec: cudnnDataType_t,
    mathType: cudnnMathType_t,
    inputSize: Factor[c_int32],
    hiddenSize: Factor[c_int32],
    projSize: c_int32,
    numLayers: Factor[c_int32],
    dropoutDesc: Nullable[cudnnDropoutDescriptor_t],
    auxFlags: c_uint32,
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnGetRNNDescriptor_v8(
    rnnDesc: MayBeUnset[cudnnRNNDescriptor_t],
    algo: Out[Pointer[cudnnRNNAlgo_t]],
    cellMode: Out[Pointer[cudnnRNNMode_t]],
    biasMode: Out[Pointer[cudnnRNNBiasMode_t]],
    dirMode: Out[Pointer[cudnnDirectionMode_t]],
    inputMode: Out[Pointer[cudnnRNNInputMode_t]],
    dataType: Out[Pointer[cudnnDataType_t]],
    mathPrec: Out[Pointer[cudnnDataType_t]],
    mathType: Out[Pointer[cudnnMathType_t]],
    inputSize: Out[Pointer[c_int32]],
    hiddenSize: Out[Pointer[c_int32]],
    projSize: Out[Pointer[c_int32]],
    numLayers: Out[Pointer[c_int32]],
    dropoutDesc: Out[Pointer[cudnnDropoutDescriptor_t]],
    auxFlags: Out[Pointer[c_uint32]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="cudnnRNNSetClip_v9")
def cudnnRNNSetClip_v8(
    rnnDesc: MayBeUnset[InOut[cudnnRNNDescriptor_t]],
    clipMode: cudnnRNNClipMode_t,
    clipNanOpt: cudnnNanPropagation_t,
    lclip: c_double,
    rclip: c_double,
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnRNNSetClip_v9(
    rnnDesc: MayBeUnset[InOut[cudnnRNNDescriptor_t]],
    clipMode: cudnnRNNClipMode_t,
    lclip: c_double,
    rclip: c_double,
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="cudnnRNNGetClip_v9")
def cudnnRNNGetClip_v8(
    rnnDesc: MayBeUnset[cudnnRNNDescriptor_t],
    clipMode: Out[Pointer[cudnnRNNClipMode_t]],
    clipNanOpt: Out[Pointer[cudnnNanPropagation_t]],
    lclip: Out[Pointer[c_double]],
    rclip: Out[Pointer[c_double]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnRNNGetClip_v9(
    rnnDesc: MayBeUnset[cudnnRNNDescriptor_t],
    clipMode: Out[Pointer[cudnnRNNClipMode_t]],
    lclip: Out[Pointer[c_double]],
    rclip: Out[Pointer[c_double]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="rnn")
def cudnnBuildRNNDynamic(
    handle: cudnnHandle_t,
    rnnDesc: Nullable[cudnnRNNDescriptor_t],
    miniBatch: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="rnn")
def cudnnGetRNNTempSpaceSizes(
    handle: cudnnHandle_t,
    rnnDesc: Nullable[cudnnRNNDescriptor_t],
    fwdMode: cudnnForwardMode_t,
    xDesc: Nullable[cudnnRNNDataDescriptor_t],
    workSpaceSize: Out[Pointer[c_size_t]],
    reserveSpaceSize: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="rnn")
def cudnnGetRNNWeightSpaceSize(
    handle: cudnnHandle_t,
    rnnDesc: Nullable[cudnnRNNDescriptor_t],
    weightSpaceSize: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="rnn")
def cudnnGetRNNWeightParams(
    handle: cudnnHandle_t,
    rnnDesc: Nullable[cudnnRNNDescriptor_t],
    pseudoLayer: c_int32,
    weightSpaceSize: ToldBy[c_size_t, "cudnnGetRNNWeightSpaceSize"],
    weightSpace: DeviceMemory["weightSpaceSize"],
    linLayerID: c_int32,
    mDesc: Nullable[Out[cudnnTensorDescriptor_t]],
    mAddr: Out[Pointer[c_void_p]],
    bDesc: Nullable[Out[cudnnTensorDescriptor_t]],
    bAddr: Out[Pointer[c_void_p]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnCreateRNNDataDescriptor(
    rnnDataDesc: Out[Pointer[cudnnRNNDataDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnDestroyRNNDataDescriptor(
    rnnDataDesc: Nullable[MayBeUnset[cudnnRNNDataDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnSetRNNDataDescriptor(
    rnnDataDesc: InOut[cudnnRNNDataDescriptor_t],
    dataType: cudnnDataType_t,
    layout: cudnnRNNDataLayout_t,
    maxSeqLength: Factor[c_int],
    batchSize: Factor[c_int],
    vectorSize: Factor[c_int],
    seqLengthArray: NotNull[Array[c_int, "batchSize"]],
    paddingFill: Padding[Mutable[HostScalar["dataType"]]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnGetRNNDataDescriptor(
    rnnDataDesc: MayBeUnset[cudnnRNNDataDescriptor_t],
    dataType: Out[Pointer[cudnnDataType_t]],
    layout: Out[Pointer[cudnnRNNDataLayout_t]],
    maxSeqLength: Out[Pointer[c_int]],
    batchSize: Out[Pointer[c_int]],
    vectorSize: Out[Pointer[c_int]],
    arrayLengthRequested: c_int,
    seqLengthArray: Out[Array[c_int, "arrayLengthRequested"]],
    paddingFill: Padding[Out[HostScalar["rnnDataDesc"]]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="rnn")
def cudnnRNNForward(
    handle: cudnnHandle_t,
    rnnDesc: Nullable[cudnnRNNDescriptor_t],
    fwdMode: cudnnForwardMode_t,
    devSeqLengths: DeviceArray[c_int32],
    xDesc: Nullable[cudnnRNNDataDescriptor_t],
    x: DeviceMemory["xDesc"],
    yDesc: Nullable[cudnnRNNDataDescriptor_t],
    y: Out[DeviceMemory["yDesc"]],
    hDesc: Nullable[MayBeUnset[cudnnTensorDescriptor_t]],
    hx: DeviceMemory,
    hy: Out[DeviceMemory],
    cDesc: Nullable[MayBeUnset[cudnnTensorDescriptor_t]],
    cx: DeviceMemory,
    cy: Out[DeviceMemory],
    weightSpaceSize: ToldBy[c_size_t, "cudnnGetRNNWeightSpaceSize"],
    weightSpace: DeviceMemory["weightSpaceSize"],
    workSpaceSize: ToldBy[c_size_t, "cudnnGetRNNTempSpaceSizes"],
    workSpace: InOut[DeviceMemory["workSpaceSize"]],
    reserveSpaceSize: ToldBy[c_size_t, "cudnnGetRNNTempSpaceSizes"],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSize"]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnCreateSeqDataDescriptor(
    seqDataDesc: Out[Pointer[cudnnSeqDataDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnDestroySeqDataDescriptor(
    seqDataDesc: Nullable[MayBeUnset[cudnnSeqDataDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnSetSeqDataDescriptor(
    seqDataDesc: InOut[cudnnSeqDataDescriptor_t],
    dataType: cudnnDataType_t,
    nbDims: c_int,
    dimA: NotNull[Factor[Array[c_int, "nbDims"]]],
    axes: NotNull[Array[cudnnSeqDataAxis_t, "nbDims"]],
    seqLengthArraySize: c_size_t,
    seqLengthArray: NotNull[Array[c_int, "seqLengthArraySize"]],
    paddingFill: Padding[Mutable[HostScalar["dataType"]]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR")
def cudnnGetSeqDataDescriptor(
    seqDataDesc: MayBeUnset[Const[cudnnSeqDataDescriptor_t]],
    dataType: Out[Pointer[cudnnDataType_t]],
    nbDims: Out[Pointer[c_int]],
    nbDimsRequested: c_int,
    dimA: Out[Array[c_int, "nbDimsRequested"]],
    axes: Out[Array[cudnnSeqDataAxis_t, "nbDimsRequested"]],
    seqLengthArraySize: Out[Pointer[c_size_t]],
    seqLengthSizeRequested: c_size_t,
    seqLengthArray: Out[Array[c_int, "seqLengthSizeRequested"]],
    paddingFill: Padding[Out[HostScalar["seqDataDesc"]]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR")
def cudnnCreateAttnDescriptor(attnDesc: Out[Pointer[cudnnAttnDescriptor_t]]) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR")
def cudnnDestroyAttnDescriptor(
    attnDesc: Nullable[MayBeUnset[cudnnAttnDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR")
def cudnnSetAttnDescriptor(
    attnDesc: InOut[cudnnAttnDescriptor_t],
    attnMode: c_uint,
    nHeads: Factor[c_int],
    smScaler: c_double,
    dataType: cudnnDataType_t,
    computePrec: cudnnDataType_t,
    mathType: cudnnMathType_t,
    attnDropoutDesc: Nullable[cudnnDropoutDescriptor_t],
    postDropoutDesc: Nullable[cudnnDropoutDescriptor_t],
    qSize: c_int,
    kSize: c_int,
    vSize: c_int,
    qProjSize: c_int,
    kProjSize: c_int,
    vProjSize: c_int,
    oProjSize: c_int,
    qoMaxSeqLength: Factor[c_int],
    kvMaxSeqLength: Factor[c_int],
    maxBatchSize: Factor[c_int],
    maxBeamSize: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR")
def cudnnGetAttnDescriptor(
    attnDesc: MayBeUnset[cudnnAttnDescriptor_t],
    attnMode: Out[Pointer[c_uint]],
    nHeads: Out[Pointer[c_int]],
    smScaler: Out[Pointer[c_double]],
    dataType: Out[Pointer[cudnnDataType_t]],
    computePrec: Out[Pointer[cudnnDataType_t]],
    mathType: Out[Pointer[cudnnMathType_t]],
    attnDropoutDesc: Out[Pointer[cudnnDropoutDescriptor_t]],
    postDropoutDesc: Out[Pointer[cudnnDropoutDescriptor_t]],
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
    maxBeamSize: Out[Pointer[c_int]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", deprecated=True, carried_out="attention")
def cudnnGetMultiHeadAttnBuffers(
    handle: cudnnHandle_t,
    attnDesc: Nullable[Const[cudnnAttnDescriptor_t]],
    weightSizeInBytes: Out[Pointer[c_size_t]],
    workSpaceSizeInBytes: Out[Pointer[c_size_t]],
    reserveSpaceSizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", deprecated=True, carried_out="attention")
def cudnnGetMultiHeadAttnWeights(
    handle: cudnnHandle_t,
    attnDesc: Nullable[Const[cudnnAttnDescriptor_t]],
    wKind: cudnnMultiHeadAttnWeightKind_t,
    weightSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    weights: DeviceMemory["weightSizeInBytes"],
    wDesc: Nullable[Out[cudnnTensorDescriptor_t]],
    wAddr: Out[Pointer[c_void_p]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_adv.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR",
    carried_out="attention",
)
def cudnnMultiHeadAttnForward(
    handle: cudnnHandle_t,
    attnDesc: Nullable[Const[cudnnAttnDescriptor_t]],
    currIdx: c_int,
    loWinIdx: Array[c_int],
    hiWinIdx: Array[c_int],
    devSeqLengthsQO: DeviceArray[c_int],
    devSeqLengthsKV: DeviceArray[c_int],
    qDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    queries: DeviceMemory["qDesc"],
    residuals: DeviceMemory,
    kDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    keys: DeviceMemory["kDesc"],
    vDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    values: DeviceMemory["vDesc"],
    oDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    out: Out[DeviceMemory["oDesc"]],
    weightSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    weights: DeviceMemory["weightSizeInBytes"],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSizeInBytes"]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnAdvVersionCheck() -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="rnn")
def cudnnRNNBackwardData_v8(
    handle: cudnnHandle_t,
    rnnDesc: Nullable[cudnnRNNDescriptor_t],
    devSeqLengths: DeviceArray[c_int32],
    yDesc: Nullable[cudnnRNNDataDescriptor_t],
    y: DeviceMemory["yDesc"],
    dy: DeviceMemory["yDesc"],
    xDesc: Nullable[cudnnRNNDataDescriptor_t],
    dx: Out[DeviceMemory["xDesc"]],
    hDesc: Nullable[MayBeUnset[cudnnTensorDescriptor_t]],
    hx: DeviceMemory,
    dhy: DeviceMemory,
    dhx: Out[DeviceMemory],
    cDesc: Nullable[MayBeUnset[cudnnTensorDescriptor_t]],
    cx: DeviceMemory,
    dcy: DeviceMemory,
    dcx: Out[DeviceMemory],
    weightSpaceSize: ToldBy[c_size_t, "cudnnGetRNNWeightSpaceSize"],
    weightSpace: DeviceMemory["weightSpaceSize"],
    workSpaceSize: ToldBy[c_size_t, "cudnnGetRNNTempSpaceSizes"],
    workSpace: InOut[DeviceMemory["workSpaceSize"]],
    reserveSpaceSize: ToldBy[c_size_t, "cudnnGetRNNTempSpaceSizes"],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSize"]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="rnn")
def cudnnRNNBackwardWeights_v8(
    handle: cudnnHandle_t,
    rnnDesc: Nullable[cudnnRNNDescriptor_t],
    addGrad: cudnnWgradMode_t,
    devSeqLengths: DeviceArray[c_int32],
    xDesc: Nullable[cudnnRNNDataDescriptor_t],
    x: DeviceMemory["xDesc"],
    hDesc: Nullable[MayBeUnset[cudnnTensorDescriptor_t]],
    hx: DeviceMemory,
    yDesc: Nullable[cudnnRNNDataDescriptor_t],
    y: DeviceMemory["yDesc"],
    weightSpaceSize: ToldBy[c_size_t, "cudnnGetRNNWeightSpaceSize"],
    dweightSpace: InOut[DeviceMemory["weightSpaceSize"]],
    workSpaceSize: ToldBy[c_size_t, "cudnnGetRNNTempSpaceSizes"],
    workSpace: InOut[DeviceMemory["workSpaceSize"]],
    reserveSpaceSize: ToldBy[c_size_t, "cudnnGetRNNTempSpaceSizes"],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSize"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_adv.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR",
    carried_out="attention",
)
def cudnnMultiHeadAttnBackwardData(
    handle: cudnnHandle_t,
    attnDesc: Nullable[Const[cudnnAttnDescriptor_t]],
    loWinIdx: Array[c_int],
    hiWinIdx: Array[c_int],
    devSeqLengthsDQDO: DeviceArray[c_int],
    devSeqLengthsDKDV: DeviceArray[c_int],
    doDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    dout: DeviceMemory["doDesc"],
    dqDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    dqueries: Out[DeviceMemory["dqDesc"]],
    queries: DeviceMemory["dqDesc"],
    dkDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    dkeys: Out[DeviceMemory["dkDesc"]],
    keys: DeviceMemory["dkDesc"],
    dvDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    dvalues: Out[DeviceMemory["dvDesc"]],
    values: DeviceMemory["dvDesc"],
    weightSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    weights: DeviceMemory["weightSizeInBytes"],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSizeInBytes"]],
) -> cudnnStatus_t: ...


@function(
    "cudnn_adv.h",
    since="9.0.0",
    replaced_by="CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR",
    carried_out="attention",
)
def cudnnMultiHeadAttnBackwardWeights(
    handle: cudnnHandle_t,
    attnDesc: Nullable[Const[cudnnAttnDescriptor_t]],
    addGrad: cudnnWgradMode_t,
    qDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    queries: DeviceMemory["qDesc"],
    kDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    keys: DeviceMemory["kDesc"],
    vDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    values: DeviceMemory["vDesc"],
    doDesc: Nullable[Const[cudnnSeqDataDescriptor_t]],
    dout: DeviceMemory["doDesc"],
    weightSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    weights: DeviceMemory["weightSizeInBytes"],
    dweights: InOut[DeviceMemory["weightSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    workSpace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetMultiHeadAttnBuffers"],
    reserveSpace: InOut[DeviceMemory["reserveSpaceSizeInBytes"]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnCreateCTCLossDescriptor(
    ctcLossDesc: Out[Pointer[cudnnCTCLossDescriptor_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="cudnnSetCTCLossDescriptor_v9")
def cudnnSetCTCLossDescriptor(
    ctcLossDesc: InOut[cudnnCTCLossDescriptor_t],
    compType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="cudnnSetCTCLossDescriptor_v9")
def cudnnSetCTCLossDescriptorEx(
    ctcLossDesc: InOut[cudnnCTCLossDescriptor_t],
    compType: cudnnDataType_t,
    normMode: cudnnLossNormalizationMode_t,
    gradMode: cudnnNanPropagation_t,
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="cudnnSetCTCLossDescriptor_v9")
def cudnnSetCTCLossDescriptor_v8(
    ctcLossDesc: InOut[cudnnCTCLossDescriptor_t],
    compType: cudnnDataType_t,
    normMode: cudnnLossNormalizationMode_t,
    gradMode: cudnnNanPropagation_t,
    maxLabelLength: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnSetCTCLossDescriptor_v9(
    ctcLossDesc: InOut[cudnnCTCLossDescriptor_t],
    compType: cudnnDataType_t,
    normMode: cudnnLossNormalizationMode_t,
    ctcGradMode: cudnnCTCGradMode_t,
    maxLabelLength: c_int,
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="cudnnGetCTCLossDescriptor_v9")
def cudnnGetCTCLossDescriptor(
    ctcLossDesc: cudnnCTCLossDescriptor_t,
    compType: Out[Pointer[cudnnDataType_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="cudnnGetCTCLossDescriptor_v9")
def cudnnGetCTCLossDescriptorEx(
    ctcLossDesc: cudnnCTCLossDescriptor_t,
    compType: Out[Pointer[cudnnDataType_t]],
    normMode: Out[Pointer[cudnnLossNormalizationMode_t]],
    gradMode: Out[Pointer[cudnnNanPropagation_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", replaced_by="cudnnGetCTCLossDescriptor_v9")
def cudnnGetCTCLossDescriptor_v8(
    ctcLossDesc: cudnnCTCLossDescriptor_t,
    compType: Out[Pointer[cudnnDataType_t]],
    normMode: Out[Pointer[cudnnLossNormalizationMode_t]],
    gradMode: Out[Pointer[cudnnNanPropagation_t]],
    maxLabelLength: Out[Pointer[c_int]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnGetCTCLossDescriptor_v9(
    ctcLossDesc: cudnnCTCLossDescriptor_t,
    compType: Out[Pointer[cudnnDataType_t]],
    normMode: Out[Pointer[cudnnLossNormalizationMode_t]],
    ctcGradMode: Out[Pointer[cudnnCTCGradMode_t]],
    maxLabelLength: Out[Pointer[c_int]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0")
def cudnnDestroyCTCLossDescriptor(
    ctcLossDesc: Nullable[cudnnCTCLossDescriptor_t],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="ctc")
def cudnnCTCLoss(
    handle: cudnnHandle_t,
    probsDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    probs: NotNull[DeviceMemory["probsDesc"]],
    hostLabels: SumOf[Array[c_int], "hostLabelLengths"],
    hostLabelLengths: NotNull[PerSample[Array[c_int], "probsDesc"]],
    hostInputLengths: NotNull[PerSample[Array[c_int], "probsDesc"]],
    costs: Out[DeviceMemory],
    gradientsDesc: Nullable[MayBeUnset[NeededBy[Const[cudnnTensorDescriptor_t], "gradients"]]],
    gradients: Out[DeviceMemory["gradientsDesc"]],
    algo: cudnnCTCLossAlgo_t,
    ctcLossDesc: NotNull[cudnnCTCLossDescriptor_t],
    workspace: InOut[DeviceMemory["workSpaceSizeInBytes"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetCTCLossWorkspaceSize"],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="ctc")
def cudnnCTCLoss_v8(
    handle: cudnnHandle_t,
    algo: cudnnCTCLossAlgo_t,
    ctcLossDesc: NotNull[cudnnCTCLossDescriptor_t],
    probsDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    probs: DeviceMemory["probsDesc"],
    labels: NotNull[DeviceArray[c_int]],
    labelLengths: NotNull[DeviceArray[c_int]],
    inputLengths: NotNull[DeviceArray[c_int]],
    costs: NotNull[Out[DeviceMemory]],
    gradientsDesc: Nullable[MayBeUnset[NeededBy[Const[cudnnTensorDescriptor_t], "gradients"]]],
    gradients: Out[DeviceMemory["gradientsDesc"]],
    workSpaceSizeInBytes: ToldBy[c_size_t, "cudnnGetCTCLossWorkspaceSize_v8"],
    workspace: NeededBy[InOut[DeviceMemory["workSpaceSizeInBytes"]], "workSpaceSizeInBytes"],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="ctc")
def cudnnGetCTCLossWorkspaceSize(
    handle: cudnnHandle_t,
    probsDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    gradientsDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    labels: SumOf[Array[c_int], "labelLengths"],
    labelLengths: NotNull[PerSample[Array[c_int], "probsDesc"]],
    inputLengths: NotNull[PerSample[Array[c_int], "probsDesc"]],
    algo: cudnnCTCLossAlgo_t,
    ctcLossDesc: Nullable[cudnnCTCLossDescriptor_t],
    sizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function("cudnn_adv.h", since="9.0.0", carried_out="ctc")
def cudnnGetCTCLossWorkspaceSize_v8(
    handle: cudnnHandle_t,
    algo: cudnnCTCLossAlgo_t,
    ctcLossDesc: NotNull[cudnnCTCLossDescriptor_t],
    probsDesc: NotNull[Const[cudnnTensorDescriptor_t]],
    gradientsDesc: Nullable[MayBeUnset[Const[cudnnTensorDescriptor_t]]],
    sizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


# --- cudnn_subquadratic_ops.h ---


@function("cudnn_subquadratic_ops.h", since="9.22.0")
def cudnnSubquadraticOpsVersionCheck() -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.22.0", carried_out="causal_convolution")
def cudnnCausalConv1dForward(
    stream: cudaStream_t,
    x: DeviceMemory,
    weight: DeviceMemory,
    bias: DeviceMemory,
    y: Out[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSize: c_int,
    dataType: cudnnDataType_t,
    activation: cudnnCausalConv1dActivation_t,
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.22.0", carried_out="causal_convolution")
def cudnnCausalConv1dBackward(
    stream: cudaStream_t,
    x: DeviceMemory,
    weight: DeviceMemory,
    bias: DeviceMemory,
    dy: DeviceMemory,
    dx: Out[DeviceMemory],
    dweight: InOut[DeviceMemory],
    dbias: InOut[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSize: c_int,
    dataType: cudnnDataType_t,
    dwDataType: cudnnDataType_t,
    activation: cudnnCausalConv1dActivation_t,
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.24.0", carried_out="causal_convolution")
def cudnnCausalConv1dNwhForward(
    stream: cudaStream_t,
    x: DeviceMemory,
    weight: DeviceMemory,
    bias: DeviceMemory,
    y: Out[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSize: c_int,
    dataType: cudnnDataType_t,
    activation: cudnnCausalConv1dActivation_t,
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.24.0", carried_out="causal_convolution")
def cudnnCausalConv1dNwhBackward(
    stream: cudaStream_t,
    x: DeviceMemory,
    weight: DeviceMemory,
    bias: DeviceMemory,
    dy: DeviceMemory,
    dx: Out[DeviceMemory],
    dweight: InOut[DeviceMemory],
    dbias: InOut[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSize: c_int,
    dataType: cudnnDataType_t,
    dwDataType: cudnnDataType_t,
    activation: cudnnCausalConv1dActivation_t,
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.24.0", carried_out="causal_convolution")
def cudnnB2BCausalConv1dForward(
    stream: cudaStream_t,
    x: DeviceMemory,
    weightsProj: DeviceMemory,
    weightsMixer: DeviceMemory,
    skipBias: DeviceMemory,
    y: Out[DeviceMemory],
    yGated: Out[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSizeProj: c_int,
    kernelSizeMixer: c_int,
    dataType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.24.0", carried_out="causal_convolution")
def cudnnB2BCausalConv1dBackward(
    stream: cudaStream_t,
    x: DeviceMemory,
    weightsProj: DeviceMemory,
    weightsMixer: DeviceMemory,
    skipBias: DeviceMemory,
    y: DeviceMemory,
    dy: DeviceMemory,
    dx: Out[DeviceMemory],
    dweightsProj: InOut[DeviceMemory],
    dweightsMixer: InOut[DeviceMemory],
    dskipBias: InOut[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSizeProj: c_int,
    kernelSizeMixer: c_int,
    dataType: cudnnDataType_t,
    dwDataType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.26.0", carried_out="causal_convolution")
def cudnnFFTCausalConv1dForward(
    stream: cudaStream_t,
    x: DeviceMemory,
    weight: DeviceMemory,
    y: Out[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSize: c_int,
    dataType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.26.0", carried_out="causal_convolution")
def cudnnFFTCausalConv1dBackward(
    stream: cudaStream_t,
    x: DeviceMemory,
    weight: DeviceMemory,
    dy: DeviceMemory,
    dx: Out[DeviceMemory],
    dweight: Out[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSize: c_int,
    dataType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.26.0")
def cudnnLongFFTCausalConv1dGetBufferSizes(
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSize: c_int,
    dataType: cudnnDataType_t,
    workspaceSizeInBytes: Out[Pointer[c_size_t]],
    reserveSpaceSizeInBytes: Out[Pointer[c_size_t]],
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.26.0", carried_out="causal_convolution")
def cudnnLongFFTCausalConv1dForward(
    stream: cudaStream_t,
    x: DeviceMemory,
    weight: DeviceMemory,
    y: Out[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSize: c_int,
    dataType: cudnnDataType_t,
    workspace: InOut[DeviceMemory["workspaceSizeInBytes"]],
    workspaceSizeInBytes: ToldBy[c_size_t, "cudnnLongFFTCausalConv1dGetBufferSizes"],
    reserveSpace: Out[DeviceMemory["reserveSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[c_size_t, "cudnnLongFFTCausalConv1dGetBufferSizes"],
) -> cudnnStatus_t: ...


@function("cudnn_subquadratic_ops.h", since="9.26.0", carried_out="causal_convolution")
def cudnnLongFFTCausalConv1dBackward(
    stream: cudaStream_t,
    dy: DeviceMemory,
    dx: Out[DeviceMemory],
    dweight: Out[DeviceMemory],
    batch: c_int,
    dim: c_int,
    seqLen: c_int,
    kernelSize: c_int,
    dataType: cudnnDataType_t,
    workspace: InOut[DeviceMemory["workspaceSizeInBytes"]],
    workspaceSizeInBytes: ToldBy[c_size_t, "cudnnLongFFTCausalConv1dGetBufferSizes"],
    reserveSpace: Mutable[DeviceMemory["reserveSpaceSizeInBytes"]],
    reserveSpaceSizeInBytes: ToldBy[c_size_t, "cudnnLongFFTCausalConv1dGetBufferSizes"],
) -> cudnnStatus_t: ...


# --- cudnn_gnn_ops.h ---


@function("cudnn_gnn_ops.h", since="9.26.0", carried_out="gnn")
def cudnnGnnAggSimpleForward(
    stream: cudaStream_t,
    graph: Pointer[cudnnGnnCscGraph_t],
    nodeFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    concatFeatures: DeviceMemory,
    output: Out[DeviceMemory],
    outPositions: Out[DeviceMemory],
    nodeFeatDim: c_int,
    edgeFeatDim: c_int,
    concatFeatDim: c_int,
    dataType: cudnnDataType_t,
    aggOp: cudnnGnnAggOp_t,
) -> cudnnStatus_t: ...


@function("cudnn_gnn_ops.h", since="9.26.0", carried_out="gnn")
def cudnnGnnAggSimpleBackward(
    stream: cudaStream_t,
    graph: Pointer[cudnnGnnCscGraph_t],
    gradOutput: DeviceMemory,
    outPositions: DeviceMemory,
    gradNodeFeatures: InOut[DeviceMemory],
    gradEdgeFeatures: InOut[DeviceMemory],
    gradConcatFeatures: Out[DeviceMemory],
    nodeFeatDim: c_int,
    edgeFeatDim: c_int,
    concatFeatDim: c_int,
    dataType: cudnnDataType_t,
    aggOp: cudnnGnnAggOp_t,
) -> cudnnStatus_t: ...


@function("cudnn_gnn_ops.h", since="9.28.0", carried_out="gnn")
def cudnnGnnMhaGatForward(
    stream: cudaStream_t,
    graph: Pointer[cudnnGnnCscGraph_t],
    srcFeatures: DeviceMemory,
    dstFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    attnWeights: DeviceMemory,
    dropoutMask: DeviceArray[c_float],
    output: Out[DeviceMemory],
    smScores: Out[DeviceMemory],
    dimNode: c_int,
    dimEdge: c_int,
    params: Pointer[cudnnGnnMhaParams_t],
    dataType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_gnn_ops.h", since="9.28.0", carried_out="gnn")
def cudnnGnnMhaGatBackward(
    stream: cudaStream_t,
    graph: Pointer[cudnnGnnCscGraph_t],
    gradOut: DeviceMemory,
    srcFeatures: DeviceMemory,
    dstFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    attnWeights: DeviceMemory,
    smScores: DeviceMemory,
    dropoutMask: DeviceArray[c_float],
    gradAttention: DeviceArray[c_float],
    gradSrcFeatures: Out[DeviceMemory],
    gradDstFeatures: Out[DeviceMemory],
    gradEdgeFeatures: Out[DeviceMemory],
    gradWeights: Out[DeviceMemory],
    gradSmScores: Out[DeviceMemory],
    gradWspaceFeat: InOut[DeviceMemory],
    gradWspaceWeights: InOut[DeviceMemory],
    dimNode: c_int,
    dimEdge: c_int,
    params: Pointer[cudnnGnnMhaParams_t],
    dataType: cudnnDataType_t,
    gradDataType: cudnnDataType_t,
    gradWeightType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_gnn_ops.h", since="9.28.0", carried_out="gnn")
def cudnnGnnMhaGatV2Forward(
    stream: cudaStream_t,
    graph: Pointer[cudnnGnnCscGraph_t],
    srcFeatures: DeviceMemory,
    dstFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    attnWeights: DeviceMemory,
    dropoutMask: DeviceArray[c_float],
    output: Out[DeviceMemory],
    smScores: Out[DeviceMemory],
    actScores: Out[DeviceMemory],
    dimNode: c_int,
    params: Pointer[cudnnGnnMhaParams_t],
    dataType: cudnnDataType_t,
) -> cudnnStatus_t: ...


@function("cudnn_gnn_ops.h", since="9.28.0", carried_out="gnn")
def cudnnGnnMhaGatV2Backward(
    stream: cudaStream_t,
    graph: Pointer[cudnnGnnCscGraph_t],
    gradOut: DeviceMemory,
    srcFeatures: DeviceMemory,
    dstFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    attnWeights: DeviceMemory,
    smScores: DeviceMemory,
    actScores: DeviceMemory,
    dropoutMask: DeviceArray[c_float],
    gradAttention: DeviceArray[c_float],
    gradSrcFeatures: Out[DeviceMemory],
    gradDstFeatures: Out[DeviceMemory],
    gradEdgeFeatures: Out[DeviceMemory],
    gradWeights: Out[DeviceMemory],
    gradSmScores: Out[DeviceMemory],
    gradWspaceFeat: InOut[DeviceMemory],
    gradWspaceWeights: InOut[DeviceMemory],
    dimNode: c_int,
    params: Pointer[cudnnGnnMhaParams_t],
    dataType: cudnnDataType_t,
    gradType: cudnnDataType_t,
) -> cudnnStatus_t: ...


__all__ = [
    "cudnnGetVersion",
    "cudnnGetMaxDeviceVersion",
    "cudnnGetCudartVersion",
    "cudnnGetErrorString",
    "cudnnGetLastErrorString",
    "cudnnQueryRuntimeError",
    "cudnnGetProperty",
    "cudnnCreate",
    "cudnnDestroy",
    "cudnnSetStream",
    "cudnnGetStream",
    "cudnnSetCallback",
    "cudnnGetCallback",
    "cudnnGraphVersionCheck",
    "cudnnBackendCreateDescriptor",
    "cudnnBackendDestroyDescriptor",
    "cudnnBackendInitialize",
    "cudnnBackendFinalize",
    "cudnnBackendSetAttribute",
    "cudnnBackendGetAttribute",
    "cudnnGetExecutionPlanWorkspaceSize",
    "cudnnBackendExecute",
    "cudnnBackendPopulateCudaGraph",
    "cudnnBackendUpdateCudaGraph",
    "cudnnCreateTensorDescriptor",
    "cudnnSetTensor4dDescriptor",
    "cudnnSetTensor4dDescriptorEx",
    "cudnnGetTensor4dDescriptor",
    "cudnnSetTensorNdDescriptor",
    "cudnnSetTensorNdDescriptorEx",
    "cudnnGetTensorNdDescriptor",
    "cudnnGetTensorSizeInBytes",
    "cudnnDestroyTensorDescriptor",
    "cudnnInitTransformDest",
    "cudnnCreateTensorTransformDescriptor",
    "cudnnSetTensorTransformDescriptor",
    "cudnnGetTensorTransformDescriptor",
    "cudnnDestroyTensorTransformDescriptor",
    "cudnnTransformTensor",
    "cudnnTransformTensorEx",
    "cudnnAddTensor",
    "cudnnCreateOpTensorDescriptor",
    "cudnnSetOpTensorDescriptor",
    "cudnnGetOpTensorDescriptor",
    "cudnnDestroyOpTensorDescriptor",
    "cudnnOpTensor",
    "cudnnCreateReduceTensorDescriptor",
    "cudnnSetReduceTensorDescriptor",
    "cudnnGetReduceTensorDescriptor",
    "cudnnDestroyReduceTensorDescriptor",
    "cudnnGetReductionIndicesSize",
    "cudnnGetReductionWorkspaceSize",
    "cudnnReduceTensor",
    "cudnnSetTensor",
    "cudnnScaleTensor",
    "cudnnCreateFilterDescriptor",
    "cudnnSetFilter4dDescriptor",
    "cudnnGetFilter4dDescriptor",
    "cudnnSetFilterNdDescriptor",
    "cudnnGetFilterNdDescriptor",
    "cudnnGetFilterSizeInBytes",
    "cudnnTransformFilter",
    "cudnnDestroyFilterDescriptor",
    "cudnnSoftmaxForward",
    "cudnnCreatePoolingDescriptor",
    "cudnnSetPooling2dDescriptor",
    "cudnnGetPooling2dDescriptor",
    "cudnnSetPoolingNdDescriptor",
    "cudnnGetPoolingNdDescriptor",
    "cudnnGetPoolingNdForwardOutputDim",
    "cudnnGetPooling2dForwardOutputDim",
    "cudnnDestroyPoolingDescriptor",
    "cudnnPoolingForward",
    "cudnnCreateActivationDescriptor",
    "cudnnSetActivationDescriptor",
    "cudnnGetActivationDescriptor",
    "cudnnSetActivationDescriptorSwishBeta",
    "cudnnGetActivationDescriptorSwishBeta",
    "cudnnDestroyActivationDescriptor",
    "cudnnActivationForward",
    "cudnnCreateLRNDescriptor",
    "cudnnSetLRNDescriptor",
    "cudnnGetLRNDescriptor",
    "cudnnDestroyLRNDescriptor",
    "cudnnLRNCrossChannelForward",
    "cudnnDivisiveNormalizationForward",
    "cudnnDeriveBNTensorDescriptor",
    "cudnnBatchNormalizationForwardInference",
    "cudnnDeriveNormTensorDescriptor",
    "cudnnNormalizationForwardInference",
    "cudnnCreateSpatialTransformerDescriptor",
    "cudnnSetSpatialTransformerNdDescriptor",
    "cudnnDestroySpatialTransformerDescriptor",
    "cudnnSpatialTfGridGeneratorForward",
    "cudnnSpatialTfSamplerForward",
    "cudnnCreateDropoutDescriptor",
    "cudnnDestroyDropoutDescriptor",
    "cudnnDropoutGetStatesSize",
    "cudnnDropoutGetReserveSpaceSize",
    "cudnnSetDropoutDescriptor",
    "cudnnRestoreDropoutDescriptor",
    "cudnnGetDropoutDescriptor",
    "cudnnDropoutForward",
    "cudnnOpsVersionCheck",
    "cudnnSoftmaxBackward",
    "cudnnPoolingBackward",
    "cudnnActivationBackward",
    "cudnnLRNCrossChannelBackward",
    "cudnnDivisiveNormalizationBackward",
    "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize",
    "cudnnGetBatchNormalizationBackwardExWorkspaceSize",
    "cudnnGetBatchNormalizationTrainingExReserveSpaceSize",
    "cudnnBatchNormalizationForwardTraining",
    "cudnnBatchNormalizationForwardTrainingEx",
    "cudnnBatchNormalizationBackward",
    "cudnnBatchNormalizationBackwardEx",
    "cudnnGetNormalizationForwardTrainingWorkspaceSize",
    "cudnnGetNormalizationBackwardWorkspaceSize",
    "cudnnGetNormalizationTrainingReserveSpaceSize",
    "cudnnNormalizationForwardTraining",
    "cudnnNormalizationBackward",
    "cudnnSpatialTfGridGeneratorBackward",
    "cudnnSpatialTfSamplerBackward",
    "cudnnDropoutBackward",
    "cudnnCreateConvolutionDescriptor",
    "cudnnDestroyConvolutionDescriptor",
    "cudnnSetConvolutionMathType",
    "cudnnGetConvolutionMathType",
    "cudnnSetConvolutionGroupCount",
    "cudnnGetConvolutionGroupCount",
    "cudnnSetConvolutionReorderType",
    "cudnnGetConvolutionReorderType",
    "cudnnSetConvolution2dDescriptor",
    "cudnnGetConvolution2dDescriptor",
    "cudnnSetConvolutionNdDescriptor",
    "cudnnGetConvolutionNdDescriptor",
    "cudnnGetConvolution2dForwardOutputDim",
    "cudnnGetConvolutionNdForwardOutputDim",
    "cudnnGetConvolutionForwardAlgorithmMaxCount",
    "cudnnGetConvolutionForwardAlgorithm_v7",
    "cudnnFindConvolutionForwardAlgorithm",
    "cudnnFindConvolutionForwardAlgorithmEx",
    "cudnnIm2Col",
    "cudnnReorderFilterAndBias",
    "cudnnGetConvolutionForwardWorkspaceSize",
    "cudnnConvolutionForward",
    "cudnnConvolutionBiasActivationForward",
    "cudnnGetConvolutionBackwardDataAlgorithmMaxCount",
    "cudnnFindConvolutionBackwardDataAlgorithm",
    "cudnnFindConvolutionBackwardDataAlgorithmEx",
    "cudnnGetConvolutionBackwardDataAlgorithm_v7",
    "cudnnGetConvolutionBackwardDataWorkspaceSize",
    "cudnnConvolutionBackwardData",
    "cudnnGetFoldedConvBackwardDataDescriptors",
    "cudnnCnnVersionCheck",
    "cudnnGetConvolutionBackwardFilterAlgorithmMaxCount",
    "cudnnFindConvolutionBackwardFilterAlgorithm",
    "cudnnFindConvolutionBackwardFilterAlgorithmEx",
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7",
    "cudnnGetConvolutionBackwardFilterWorkspaceSize",
    "cudnnConvolutionBackwardFilter",
    "cudnnConvolutionBackwardBias",
    "cudnnCreateFusedOpsConstParamPack",
    "cudnnDestroyFusedOpsConstParamPack",
    "cudnnSetFusedOpsConstParamPackAttribute",
    "cudnnGetFusedOpsConstParamPackAttribute",
    "cudnnCreateFusedOpsVariantParamPack",
    "cudnnDestroyFusedOpsVariantParamPack",
    "cudnnSetFusedOpsVariantParamPackAttribute",
    "cudnnGetFusedOpsVariantParamPackAttribute",
    "cudnnCreateFusedOpsPlan",
    "cudnnDestroyFusedOpsPlan",
    "cudnnMakeFusedOpsPlan",
    "cudnnFusedOpsExecute",
    "cudnnCreateRNNDescriptor",
    "cudnnDestroyRNNDescriptor",
    "cudnnSetRNNDescriptor_v8",
    "cudnnGetRNNDescriptor_v8",
    "cudnnRNNSetClip_v8",
    "cudnnRNNSetClip_v9",
    "cudnnRNNGetClip_v8",
    "cudnnRNNGetClip_v9",
    "cudnnBuildRNNDynamic",
    "cudnnGetRNNTempSpaceSizes",
    "cudnnGetRNNWeightSpaceSize",
    "cudnnGetRNNWeightParams",
    "cudnnCreateRNNDataDescriptor",
    "cudnnDestroyRNNDataDescriptor",
    "cudnnSetRNNDataDescriptor",
    "cudnnGetRNNDataDescriptor",
    "cudnnRNNForward",
    "cudnnCreateSeqDataDescriptor",
    "cudnnDestroySeqDataDescriptor",
    "cudnnSetSeqDataDescriptor",
    "cudnnGetSeqDataDescriptor",
    "cudnnCreateAttnDescriptor",
    "cudnnDestroyAttnDescriptor",
    "cudnnSetAttnDescriptor",
    "cudnnGetAttnDescriptor",
    "cudnnGetMultiHeadAttnBuffers",
    "cudnnGetMultiHeadAttnWeights",
    "cudnnMultiHeadAttnForward",
    "cudnnAdvVersionCheck",
    "cudnnRNNBackwardData_v8",
    "cudnnRNNBackwardWeights_v8",
    "cudnnMultiHeadAttnBackwardData",
    "cudnnMultiHeadAttnBackwardWeights",
    "cudnnCreateCTCLossDescriptor",
    "cudnnSetCTCLossDescriptor",
    "cudnnSetCTCLossDescriptorEx",
    "cudnnSetCTCLossDescriptor_v8",
    "cudnnSetCTCLossDescriptor_v9",
    "cudnnGetCTCLossDescriptor",
    "cudnnGetCTCLossDescriptorEx",
    "cudnnGetCTCLossDescriptor_v8",
    "cudnnGetCTCLossDescriptor_v9",
    "cudnnDestroyCTCLossDescriptor",
    "cudnnCTCLoss",
    "cudnnCTCLoss_v8",
    "cudnnGetCTCLossWorkspaceSize",
    "cudnnGetCTCLossWorkspaceSize_v8",
    "cudnnSubquadraticOpsVersionCheck",
    "cudnnCausalConv1dForward",
    "cudnnCausalConv1dBackward",
    "cudnnCausalConv1dNwhForward",
    "cudnnCausalConv1dNwhBackward",
    "cudnnB2BCausalConv1dForward",
    "cudnnB2BCausalConv1dBackward",
    "cudnnFFTCausalConv1dForward",
    "cudnnFFTCausalConv1dBackward",
    "cudnnLongFFTCausalConv1dGetBufferSizes",
    "cudnnLongFFTCausalConv1dForward",
    "cudnnLongFFTCausalConv1dBackward",
    "cudnnGnnAggSimpleForward",
    "cudnnGnnAggSimpleBackward",
    "cudnnGnnMhaGatForward",
    "cudnnGnnMhaGatBackward",
    "cudnnGnnMhaGatV2Forward",
    "cudnnGnnMhaGatV2Backward",
]
