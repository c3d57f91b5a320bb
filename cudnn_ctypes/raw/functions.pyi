# ruff: noqa: E501, RUF022
"""The functions of cuDNN 9.28.0.

The same declarations as in ``functions.py`` for type checkers and editors: the types are those of
``argument_types``.

Generated from the cuDNN headers by ``python -m tools.generate``; do not edit.
"""

from __future__ import annotations

from ctypes import (
    _CFunctionType,
    c_char,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_uint32,
    c_ulonglong,
    c_void_p,
)

from .argument_types import (
    Callback,
    CudaGraph,
    Descriptor,
    DeviceMemory,
    EnumArrayOf,
    EnumPointer,
    EnumValue,
    FilledArray,
    FilledIntArray,
    Handle,
    HostMemory,
    HostScalar,
    Int,
    IntArray,
    Labelled,
    NewHandle,
    Pointer,
    Real,
    Stream,
    StructPointer,
)
from .enums import (
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
from .function import declared
from .types import (
    cudaStream_t,
    cudnnActivationDescriptor_t,
    cudnnAttnDescriptor_t,
    cudnnBackendDescriptor_t,
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

@declared
def cudnnGetVersion() -> int:
    """size_t cudnnGetVersion(void);

    cudnn_graph.h, since 9.0.0

    used by Handle.version, library_versions
    example: examples/26_compiled_elsewhere.py
    """

@declared
def cudnnGetMaxDeviceVersion() -> int:
    """size_t cudnnGetMaxDeviceVersion(void);

    cudnn_graph.h, since 9.0.0

    used by DeviceProperties.is_native, library_versions
    """

@declared
def cudnnGetCudartVersion() -> int:
    """size_t cudnnGetCudartVersion(void);

    cudnn_graph.h, since 9.0.0

    used by library_versions
    """

@declared
def cudnnGetErrorString(
    status: EnumValue[cudnnStatus_t],
) -> str:
    """const char *cudnnGetErrorString(cudnnStatus_t status);

    cudnn_graph.h, since 9.0.0

    in  status  cudnnStatus_t

    used by error_string
    """

@declared
def cudnnGetLastErrorString(
    message: FilledArray[c_char],
    max_size: Int,
) -> None:
    """void cudnnGetLastErrorString(char message[], size_t max_size);

    cudnn_graph.h, since 9.0.0

    out  message   array of max_size char, not NULL
    in   max_size  size_t

    used by last_error_string
    """

@declared
def cudnnQueryRuntimeError(
    handle: Handle[cudnnHandle_t],
    rstatus: EnumPointer[cudnnStatus_t],
    mode: EnumValue[cudnnErrQueryMode_t],
    tag: Pointer[cudnnRuntimeTag_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnQueryRuntimeError(
        cudnnHandle_t handle,
        cudnnStatus_t *rstatus,
        cudnnErrQueryMode_t mode,
        cudnnRuntimeTag_t *tag);

    cudnn_graph.h, since 9.0.0
    deprecated: use cudnnGetLastErrorString

    in   handle   cudnnHandle_t
    out  rstatus  pointer to cudnnStatus_t
    in   mode     cudnnErrQueryMode_t
    out  tag      pointer to cudnnRuntimeTag_t

    used by query_runtime_error
    """

@declared
def cudnnGetProperty(
    type: EnumValue[libraryPropertyType],
    value: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int *value);

    cudnn_graph.h, since 9.0.0

    in   type   libraryPropertyType
    out  value  pointer to int

    used by library_versions
    """

@declared
def cudnnCreate(
    handle: NewHandle[cudnnHandle_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreate(cudnnHandle_t *handle);

    cudnn_graph.h, since 9.0.0

    out  handle  pointer to cudnnHandle_t

    used by Handle
    example: examples/01_smallest_program.py
    """

@declared
def cudnnDestroy(
    handle: Handle[cudnnHandle_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);

    cudnn_graph.h, since 9.0.0

    in  handle  cudnnHandle_t

    used by Handle
    example: examples/01_smallest_program.py
    """

@declared
def cudnnSetStream(
    handle: Handle[cudnnHandle_t],
    streamId: Stream,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetStream(
        cudnnHandle_t handle,
        cudaStream_t streamId);

    cudnn_graph.h, since 9.0.0

    in  handle    cudnnHandle_t
    in  streamId  cudaStream_t

    used by Handle.stream
    example: examples/03_convolution.py
    """

@declared
def cudnnGetStream(
    handle: Handle[cudnnHandle_t],
    streamId: NewHandle[cudaStream_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetStream(
        cudnnHandle_t handle,
        cudaStream_t *streamId);

    cudnn_graph.h, since 9.0.0

    in   handle    cudnnHandle_t
    out  streamId  pointer to cudaStream_t, not NULL

    used by Handle
    example: examples/03_convolution.py
    """

@declared
def cudnnSetCallback(
    mask: Int,
    udata: HostMemory,
    fptr: Callback,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetCallback(
        unsigned int mask,
        void *udata,
        cudnnCallback_t fptr);

    cudnn_graph.h, since 9.0.0

    in  mask   unsigned int
    in  udata  host memory
    in  fptr   cudnnCallback_t
    """

@declared
def cudnnGetCallback(
    mask: Pointer[c_uint],
    udata: Pointer[c_void_p],
    fptr: Pointer[_CFunctionType],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCallback(
        unsigned int *mask,
        void **udata,
        cudnnCallback_t *fptr);

    cudnn_graph.h, since 9.0.0

    out  mask   pointer to unsigned int
    out  udata  pointer to void *
    out  fptr   pointer to cudnnCallback_t
    """

@declared
def cudnnGraphVersionCheck() -> cudnnStatus_t:
    """cudnnStatus_t cudnnGraphVersionCheck(void);

    cudnn_graph.h, since 9.0.0

    used by check_sublibraries
    """

@declared
def cudnnBackendCreateDescriptor(
    descriptorType: EnumValue[cudnnBackendDescriptorType_t],
    descriptor: NewHandle[cudnnBackendDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendCreateDescriptor(
        cudnnBackendDescriptorType_t descriptorType,
        cudnnBackendDescriptor_t *descriptor);

    cudnn_graph.h, since 9.0.0

    in   descriptorType  cudnnBackendDescriptorType_t
    out  descriptor      pointer to cudnnBackendDescriptor_t, not NULL

    used by BackendDescriptor
    example: examples/19_first_graph_raw.py
    """

@declared
def cudnnBackendDestroyDescriptor(
    descriptor: Descriptor[cudnnBackendDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendDestroyDescriptor(
        cudnnBackendDescriptor_t descriptor);

    cudnn_graph.h, since 9.0.0

    in  descriptor  cudnnBackendDescriptor_t

    used by BackendDescriptor
    example: examples/19_first_graph_raw.py
    """

@declared
def cudnnBackendInitialize(
    descriptor: Handle[cudnnBackendDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendInitialize(
        cudnnBackendDescriptor_t descriptor);

    cudnn_graph.h, since 9.0.0
    deprecated: use cudnnBackendCreateDescriptor

    in  descriptor  cudnnBackendDescriptor_t

    used by BackendDescriptor.reset
    """

@declared
def cudnnBackendFinalize(
    descriptor: Handle[cudnnBackendDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor);

    cudnn_graph.h, since 9.0.0

    in  descriptor  cudnnBackendDescriptor_t

    used by BackendDescriptor.finalize
    example: examples/19_first_graph_raw.py
    """

@declared
def cudnnBackendSetAttribute(
    descriptor: Handle[cudnnBackendDescriptor_t],
    attributeName: EnumValue[cudnnBackendAttributeName_t],
    attributeType: EnumValue[cudnnBackendAttributeType_t],
    elementCount: Int,
    arrayOfElements: HostMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendSetAttribute(
        cudnnBackendDescriptor_t descriptor,
        cudnnBackendAttributeName_t attributeName,
        cudnnBackendAttributeType_t attributeType,
        int64_t elementCount,
        const void *arrayOfElements);

    cudnn_graph.h, since 9.0.0

    in  descriptor       cudnnBackendDescriptor_t
    in  attributeName    cudnnBackendAttributeName_t
    in  attributeType    cudnnBackendAttributeType_t
    in  elementCount     int64_t
    in  arrayOfElements  host memory

    used by BackendDescriptor.set
    example: examples/19_first_graph_raw.py
    """

@declared
def cudnnBackendGetAttribute(
    descriptor: Handle[cudnnBackendDescriptor_t],
    attributeName: EnumValue[cudnnBackendAttributeName_t],
    attributeType: EnumValue[cudnnBackendAttributeType_t],
    requestedElementCount: Int,
    elementCount: Pointer[c_int64],
    arrayOfElements: HostMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendGetAttribute(
        const cudnnBackendDescriptor_t descriptor,
        cudnnBackendAttributeName_t attributeName,
        cudnnBackendAttributeType_t attributeType,
        int64_t requestedElementCount,
        int64_t *elementCount,
        void *arrayOfElements);

    cudnn_graph.h, since 9.0.0

    in   descriptor             cudnnBackendDescriptor_t
    in   attributeName          cudnnBackendAttributeName_t
    in   attributeType          cudnnBackendAttributeType_t
    in   requestedElementCount  int64_t
    out  elementCount           pointer to int64_t
    out  arrayOfElements        host memory

    used by BackendDescriptor
    example: examples/19_first_graph_raw.py
    """

@declared
def cudnnGetExecutionPlanWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    executionPlan: Descriptor[cudnnBackendDescriptor_t],
    variantPack: Descriptor[cudnnBackendDescriptor_t],
    workspaceSizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetExecutionPlanWorkspaceSize(
        cudnnHandle_t handle,
        cudnnBackendDescriptor_t executionPlan,
        cudnnBackendDescriptor_t variantPack,
        size_t *workspaceSizeInBytes);

    cudnn_graph.h, since 9.23.0

    in   handle                cudnnHandle_t
    in   executionPlan         cudnnBackendDescriptor_t
    in   variantPack           cudnnBackendDescriptor_t
    out  workspaceSizeInBytes  pointer to size_t

    used by BoundPlan.workspace_size, ExecutionPlan.workspace_size_for
    """

@declared
def cudnnBackendExecute(
    handle: Handle[cudnnHandle_t],
    executionPlan: Descriptor[cudnnBackendDescriptor_t],
    variantPack: Descriptor[cudnnBackendDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendExecute(
        cudnnHandle_t handle,
        cudnnBackendDescriptor_t executionPlan,
        cudnnBackendDescriptor_t variantPack);

    cudnn_graph.h, since 9.0.0

    in  handle         cudnnHandle_t
    in  executionPlan  cudnnBackendDescriptor_t
    in  variantPack    cudnnBackendDescriptor_t

    used by BackendDescriptor
    example: examples/19_first_graph_raw.py
    """

@declared
def cudnnBackendPopulateCudaGraph(
    handle: Handle[cudnnHandle_t],
    executionPlan: Descriptor[cudnnBackendDescriptor_t],
    variantPack: Descriptor[cudnnBackendDescriptor_t],
    graph: CudaGraph,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendPopulateCudaGraph(
        cudnnHandle_t handle,
        cudnnBackendDescriptor_t executionPlan,
        cudnnBackendDescriptor_t variantPack,
        cudaGraph_t graph);

    cudnn_graph.h, since 9.5.0

    in      handle         cudnnHandle_t
    in      executionPlan  cudnnBackendDescriptor_t
    in      variantPack    cudnnBackendDescriptor_t
    in/out  graph          cudaGraph_t

    used by NativeGraph
    """

@declared
def cudnnBackendUpdateCudaGraph(
    handle: Handle[cudnnHandle_t],
    executionPlan: Descriptor[cudnnBackendDescriptor_t],
    variantPack: Descriptor[cudnnBackendDescriptor_t],
    graph: CudaGraph,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendUpdateCudaGraph(
        cudnnHandle_t handle,
        cudnnBackendDescriptor_t executionPlan,
        cudnnBackendDescriptor_t variantPack,
        cudaGraph_t graph);

    cudnn_graph.h, since 9.5.0

    in      handle         cudnnHandle_t
    in      executionPlan  cudnnBackendDescriptor_t
    in      variantPack    cudnnBackendDescriptor_t
    in/out  graph          cudaGraph_t

    used by NativeGraph.update
    """

@declared
def cudnnCreateTensorDescriptor(
    tensorDesc: NewHandle[cudnnTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateTensorDescriptor(
        cudnnTensorDescriptor_t *tensorDesc);

    cudnn_ops.h, since 9.0.0

    out  tensorDesc  pointer to cudnnTensorDescriptor_t

    used by TensorDescriptor
    example: examples/01_smallest_program.py
    """

@declared
def cudnnSetTensor4dDescriptor(
    tensorDesc: Handle[cudnnTensorDescriptor_t],
    format: EnumValue[cudnnTensorFormat_t],
    dataType: EnumValue[cudnnDataType_t],
    n: Int,
    c: Int,
    h: Int,
    w: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetTensor4dDescriptor(
        cudnnTensorDescriptor_t tensorDesc,
        cudnnTensorFormat_t format,
        cudnnDataType_t dataType,
        int n,
        int c,
        int h,
        int w);

    cudnn_ops.h, since 9.0.0

    in/out  tensorDesc  cudnnTensorDescriptor_t
    in      format      cudnnTensorFormat_t
    in      dataType    cudnnDataType_t
    in      n           int
    in      c           int
    in      h           int
    in      w           int

    used by TensorDescriptor.set_4d
    example: examples/01_smallest_program.py
    """

@declared
def cudnnSetTensor4dDescriptorEx(
    tensorDesc: Handle[cudnnTensorDescriptor_t],
    dataType: EnumValue[cudnnDataType_t],
    n: Int,
    c: Int,
    h: Int,
    w: Int,
    nStride: Int,
    cStride: Int,
    hStride: Int,
    wStride: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetTensor4dDescriptorEx(
        cudnnTensorDescriptor_t tensorDesc,
        cudnnDataType_t dataType,
        int n,
        int c,
        int h,
        int w,
        int nStride,
        int cStride,
        int hStride,
        int wStride);

    cudnn_ops.h, since 9.0.0

    in/out  tensorDesc  cudnnTensorDescriptor_t
    in      dataType    cudnnDataType_t
    in      n           int
    in      c           int
    in      h           int
    in      w           int
    in      nStride     int
    in      cStride     int
    in      hStride     int
    in      wStride     int

    used by TensorDescriptor.set_4d_ex
    """

@declared
def cudnnGetTensor4dDescriptor(
    tensorDesc: Handle[cudnnTensorDescriptor_t],
    dataType: EnumPointer[cudnnDataType_t],
    n: Pointer[c_int],
    c: Pointer[c_int],
    h: Pointer[c_int],
    w: Pointer[c_int],
    nStride: Pointer[c_int],
    cStride: Pointer[c_int],
    hStride: Pointer[c_int],
    wStride: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetTensor4dDescriptor(
        const cudnnTensorDescriptor_t tensorDesc,
        cudnnDataType_t *dataType,
        int *n,
        int *c,
        int *h,
        int *w,
        int *nStride,
        int *cStride,
        int *hStride,
        int *wStride);

    cudnn_ops.h, since 9.0.0

    in   tensorDesc  cudnnTensorDescriptor_t
    out  dataType    pointer to cudnnDataType_t
    out  n           pointer to int
    out  c           pointer to int
    out  h           pointer to int
    out  w           pointer to int
    out  nStride     pointer to int
    out  cStride     pointer to int
    out  hStride     pointer to int
    out  wStride     pointer to int

    used by TensorDescriptor.get_4d
    """

@declared
def cudnnSetTensorNdDescriptor(
    tensorDesc: Handle[cudnnTensorDescriptor_t],
    dataType: EnumValue[cudnnDataType_t],
    nbDims: Int,
    dimA: IntArray[c_int],
    strideA: IntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetTensorNdDescriptor(
        cudnnTensorDescriptor_t tensorDesc,
        cudnnDataType_t dataType,
        int nbDims,
        const int dimA[],
        const int strideA[]);

    cudnn_ops.h, since 9.0.0

    in/out  tensorDesc  cudnnTensorDescriptor_t
    in      dataType    cudnnDataType_t
    in      nbDims      int
    in      dimA        array of nbDims int, not NULL
    in      strideA     array of nbDims int, not NULL

    used by TensorDescriptor.set_nd
    """

@declared
def cudnnSetTensorNdDescriptorEx(
    tensorDesc: Handle[cudnnTensorDescriptor_t],
    format: EnumValue[cudnnTensorFormat_t],
    dataType: EnumValue[cudnnDataType_t],
    nbDims: Int,
    dimA: IntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetTensorNdDescriptorEx(
        cudnnTensorDescriptor_t tensorDesc,
        cudnnTensorFormat_t format,
        cudnnDataType_t dataType,
        int nbDims,
        const int dimA[]);

    cudnn_ops.h, since 9.0.0

    in/out  tensorDesc  cudnnTensorDescriptor_t
    in      format      cudnnTensorFormat_t
    in      dataType    cudnnDataType_t
    in      nbDims      int
    in      dimA        array of nbDims int, not NULL

    used by TensorDescriptor.set_nd_ex
    """

@declared
def cudnnGetTensorNdDescriptor(
    tensorDesc: Handle[cudnnTensorDescriptor_t],
    nbDimsRequested: Int,
    dataType: EnumPointer[cudnnDataType_t],
    nbDims: Pointer[c_int],
    dimA: FilledIntArray[c_int],
    strideA: FilledIntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetTensorNdDescriptor(
        const cudnnTensorDescriptor_t tensorDesc,
        int nbDimsRequested,
        cudnnDataType_t *dataType,
        int *nbDims,
        int dimA[],
        int strideA[]);

    cudnn_ops.h, since 9.0.0

    in   tensorDesc       cudnnTensorDescriptor_t
    in   nbDimsRequested  int
    out  dataType         pointer to cudnnDataType_t, not NULL
    out  nbDims           pointer to int
    out  dimA             array of nbDimsRequested int, not NULL
    out  strideA          array of nbDimsRequested int, not NULL

    used by TensorDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnGetTensorSizeInBytes(
    tensorDesc: Handle[cudnnTensorDescriptor_t],
    size: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetTensorSizeInBytes(
        const cudnnTensorDescriptor_t tensorDesc,
        size_t *size);

    cudnn_ops.h, since 9.0.0

    in   tensorDesc  cudnnTensorDescriptor_t, not NULL
    out  size        pointer to size_t, not NULL

    used by TensorDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnDestroyTensorDescriptor(
    tensorDesc: Descriptor[cudnnTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyTensorDescriptor(
        cudnnTensorDescriptor_t tensorDesc);

    cudnn_ops.h, since 9.0.0

    in  tensorDesc  cudnnTensorDescriptor_t

    used by TensorDescriptor
    example: examples/01_smallest_program.py
    """

@declared
def cudnnInitTransformDest(
    transformDesc: Handle[cudnnTensorTransformDescriptor_t],
    srcDesc: Handle[cudnnTensorDescriptor_t],
    destDesc: Handle[cudnnTensorDescriptor_t],
    destSizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnInitTransformDest(
        const cudnnTensorTransformDescriptor_t transformDesc,
        const cudnnTensorDescriptor_t srcDesc,
        cudnnTensorDescriptor_t destDesc,
        size_t *destSizeInBytes);

    cudnn_ops.h, since 9.0.0, deprecated

    in      transformDesc    cudnnTensorTransformDescriptor_t
    in      srcDesc          cudnnTensorDescriptor_t, not NULL
    in/out  destDesc         cudnnTensorDescriptor_t
    out     destSizeInBytes  pointer to size_t

    used by TensorTransformDescriptor.destination
    """

@declared
def cudnnCreateTensorTransformDescriptor(
    transformDesc: NewHandle[cudnnTensorTransformDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateTensorTransformDescriptor(
        cudnnTensorTransformDescriptor_t *transformDesc);

    cudnn_ops.h, since 9.0.0, deprecated

    out  transformDesc  pointer to cudnnTensorTransformDescriptor_t

    used by TensorTransformDescriptor
    """

@declared
def cudnnSetTensorTransformDescriptor(
    transformDesc: Handle[cudnnTensorTransformDescriptor_t],
    nbDims: Int,
    destFormat: EnumValue[cudnnTensorFormat_t],
    padBeforeA: IntArray[c_int32],
    padAfterA: IntArray[c_int32],
    foldA: IntArray[c_uint32],
    direction: EnumValue[cudnnFoldingDirection_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetTensorTransformDescriptor(
        cudnnTensorTransformDescriptor_t transformDesc,
        const uint32_t nbDims,
        const cudnnTensorFormat_t destFormat,
        const int32_t padBeforeA[],
        const int32_t padAfterA[],
        const uint32_t foldA[],
        const cudnnFoldingDirection_t direction);

    cudnn_ops.h, since 9.0.0, deprecated

    in/out  transformDesc  cudnnTensorTransformDescriptor_t
    in      nbDims         uint32_t
    in      destFormat     cudnnTensorFormat_t
    in      padBeforeA     array of nbDims int32_t
    in      padAfterA      array of nbDims int32_t
    in      foldA          array of nbDims - 2 uint32_t
    in      direction      cudnnFoldingDirection_t

    used by TensorTransformDescriptor.set
    """

@declared
def cudnnGetTensorTransformDescriptor(
    transformDesc: Handle[cudnnTensorTransformDescriptor_t],
    nbDimsRequested: Int,
    destFormat: EnumPointer[cudnnTensorFormat_t],
    padBeforeA: FilledIntArray[c_int32],
    padAfterA: FilledIntArray[c_int32],
    foldA: FilledIntArray[c_uint32],
    direction: EnumPointer[cudnnFoldingDirection_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetTensorTransformDescriptor(
        cudnnTensorTransformDescriptor_t transformDesc,
        uint32_t nbDimsRequested,
        cudnnTensorFormat_t *destFormat,
        int32_t padBeforeA[],
        int32_t padAfterA[],
        uint32_t foldA[],
        cudnnFoldingDirection_t *direction);

    cudnn_ops.h, since 9.0.0, deprecated

    in   transformDesc    cudnnTensorTransformDescriptor_t
    in   nbDimsRequested  uint32_t
    out  destFormat       pointer to cudnnTensorFormat_t
    out  padBeforeA       array of nbDimsRequested int32_t
    out  padAfterA        array of nbDimsRequested int32_t
    out  foldA            array of nbDimsRequested - 2 uint32_t
    out  direction        pointer to cudnnFoldingDirection_t, not NULL

    used by TensorTransformDescriptor
    """

@declared
def cudnnDestroyTensorTransformDescriptor(
    transformDesc: Descriptor[cudnnTensorTransformDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyTensorTransformDescriptor(
        cudnnTensorTransformDescriptor_t transformDesc);

    cudnn_ops.h, since 9.0.0, deprecated

    in  transformDesc  cudnnTensorTransformDescriptor_t

    used by TensorTransformDescriptor
    """

@declared
def cudnnTransformTensor(
    handle: Handle[cudnnHandle_t],
    alpha: HostScalar,
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    beta: HostScalar,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnTransformTensor(
        cudnnHandle_t handle,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *beta,
        const cudnnTensorDescriptor_t yDesc,
        void *y);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR

    in      handle  cudnnHandle_t
    in      alpha   one number on the host, as xDesc or yDesc says
    in      xDesc   cudnnTensorDescriptor_t
    in      x       device memory, as xDesc says
    in      beta    one number on the host, as xDesc or yDesc says
    in      yDesc   cudnnTensorDescriptor_t
    in/out  y       device memory, as yDesc says

    used by transform_tensor
    """

@declared
def cudnnTransformTensorEx(
    handle: Handle[cudnnHandle_t],
    transDesc: Descriptor[cudnnTensorTransformDescriptor_t],
    alpha: HostScalar,
    srcDesc: Descriptor[cudnnTensorDescriptor_t],
    srcData: DeviceMemory,
    beta: HostScalar,
    destDesc: Descriptor[cudnnTensorDescriptor_t],
    destData: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnTransformTensorEx(
        cudnnHandle_t handle,
        const cudnnTensorTransformDescriptor_t transDesc,
        const void *alpha,
        const cudnnTensorDescriptor_t srcDesc,
        const void *srcData,
        const void *beta,
        const cudnnTensorDescriptor_t destDesc,
        void *destData);

    cudnn_ops.h, since 9.0.0, deprecated

    in      handle     cudnnHandle_t
    in      transDesc  cudnnTensorTransformDescriptor_t
    in      alpha      one number on the host, as srcDesc or destDesc says
    in      srcDesc    cudnnTensorDescriptor_t
    in      srcData    device memory, as srcDesc says
    in      beta       one number on the host, as srcDesc or destDesc says
    in      destDesc   cudnnTensorDescriptor_t
    in/out  destData   device memory, as destDesc says

    used by transform_tensor_ex
    """

@declared
def cudnnAddTensor(
    handle: Handle[cudnnHandle_t],
    alpha: HostScalar,
    aDesc: Descriptor[cudnnTensorDescriptor_t],
    A: DeviceMemory,
    beta: HostScalar,
    cDesc: Descriptor[cudnnTensorDescriptor_t],
    C: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnAddTensor(
        cudnnHandle_t handle,
        const void *alpha,
        const cudnnTensorDescriptor_t aDesc,
        const void *A,
        const void *beta,
        const cudnnTensorDescriptor_t cDesc,
        void *C);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR

    in      handle  cudnnHandle_t
    in      alpha   one number on the host, as cDesc says
    in      aDesc   cudnnTensorDescriptor_t
    in      A       device memory, as aDesc says
    in      beta    one number on the host, as cDesc says
    in      cDesc   cudnnTensorDescriptor_t
    in/out  C       device memory, as cDesc says

    used by add_tensor
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnCreateOpTensorDescriptor(
    opTensorDesc: NewHandle[cudnnOpTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateOpTensorDescriptor(
        cudnnOpTensorDescriptor_t *opTensorDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    out  opTensorDesc  pointer to cudnnOpTensorDescriptor_t

    used by OpTensorDescriptor
    example: examples/12_lenet_digits.py
    """

@declared
def cudnnSetOpTensorDescriptor(
    opTensorDesc: Handle[cudnnOpTensorDescriptor_t],
    opTensorOp: EnumValue[cudnnOpTensorOp_t],
    opTensorCompType: EnumValue[cudnnDataType_t],
    opTensorNanOpt: EnumValue[cudnnNanPropagation_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetOpTensorDescriptor(
        cudnnOpTensorDescriptor_t opTensorDesc,
        cudnnOpTensorOp_t opTensorOp,
        cudnnDataType_t opTensorCompType,
        cudnnNanPropagation_t opTensorNanOpt);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    in/out  opTensorDesc      cudnnOpTensorDescriptor_t
    in      opTensorOp        cudnnOpTensorOp_t
    in      opTensorCompType  cudnnDataType_t
    in      opTensorNanOpt    cudnnNanPropagation_t

    used by OpTensorDescriptor.set
    """

@declared
def cudnnGetOpTensorDescriptor(
    opTensorDesc: Handle[cudnnOpTensorDescriptor_t],
    opTensorOp: EnumPointer[cudnnOpTensorOp_t],
    opTensorCompType: EnumPointer[cudnnDataType_t],
    opTensorNanOpt: EnumPointer[cudnnNanPropagation_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetOpTensorDescriptor(
        const cudnnOpTensorDescriptor_t opTensorDesc,
        cudnnOpTensorOp_t *opTensorOp,
        cudnnDataType_t *opTensorCompType,
        cudnnNanPropagation_t *opTensorNanOpt);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    in   opTensorDesc      cudnnOpTensorDescriptor_t
    out  opTensorOp        pointer to cudnnOpTensorOp_t, not NULL
    out  opTensorCompType  pointer to cudnnDataType_t, not NULL
    out  opTensorNanOpt    pointer to cudnnNanPropagation_t, not NULL

    used by OpTensorDescriptor
    example: examples/12_lenet_digits.py
    """

@declared
def cudnnDestroyOpTensorDescriptor(
    opTensorDesc: Descriptor[cudnnOpTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyOpTensorDescriptor(
        cudnnOpTensorDescriptor_t opTensorDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    in  opTensorDesc  cudnnOpTensorDescriptor_t

    used by OpTensorDescriptor
    example: examples/12_lenet_digits.py
    """

@declared
def cudnnOpTensor(
    handle: Handle[cudnnHandle_t],
    opTensorDesc: Handle[cudnnOpTensorDescriptor_t],
    alpha1: HostScalar,
    aDesc: Descriptor[cudnnTensorDescriptor_t],
    A: DeviceMemory,
    alpha2: HostScalar,
    bDesc: Descriptor[cudnnTensorDescriptor_t],
    B: DeviceMemory,
    beta: HostScalar,
    cDesc: Descriptor[cudnnTensorDescriptor_t],
    C: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnOpTensor(
        cudnnHandle_t handle,
        const cudnnOpTensorDescriptor_t opTensorDesc,
        const void *alpha1,
        const cudnnTensorDescriptor_t aDesc,
        const void *A,
        const void *alpha2,
        const cudnnTensorDescriptor_t bDesc,
        const void *B,
        const void *beta,
        const cudnnTensorDescriptor_t cDesc,
        void *C);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR

    in      handle        cudnnHandle_t
    in      opTensorDesc  cudnnOpTensorDescriptor_t, not NULL
    in      alpha1        one number on the host, as opTensorDesc says
    in      aDesc         cudnnTensorDescriptor_t
    in      A             device memory, as aDesc says
    in      alpha2        one number on the host, as opTensorDesc says
    in      bDesc         cudnnTensorDescriptor_t
    in      B             device memory, as bDesc says
    in      beta          one number on the host, as opTensorDesc says
    in      cDesc         cudnnTensorDescriptor_t
    in/out  C             device memory, as cDesc says

    used by op_tensor
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnCreateReduceTensorDescriptor(
    reduceTensorDesc: NewHandle[cudnnReduceTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateReduceTensorDescriptor(
        cudnnReduceTensorDescriptor_t *reduceTensorDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_REDUCTION_DESCRIPTOR

    out  reduceTensorDesc  pointer to cudnnReduceTensorDescriptor_t

    used by ReduceTensorDescriptor
    example: examples/12_lenet_digits.py
    """

@declared
def cudnnSetReduceTensorDescriptor(
    reduceTensorDesc: Handle[cudnnReduceTensorDescriptor_t],
    reduceTensorOp: EnumValue[cudnnReduceTensorOp_t],
    reduceTensorCompType: EnumValue[cudnnDataType_t],
    reduceTensorNanOpt: EnumValue[cudnnNanPropagation_t],
    reduceTensorIndices: EnumValue[cudnnReduceTensorIndices_t],
    reduceTensorIndicesType: EnumValue[cudnnIndicesType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetReduceTensorDescriptor(
        cudnnReduceTensorDescriptor_t reduceTensorDesc,
        cudnnReduceTensorOp_t reduceTensorOp,
        cudnnDataType_t reduceTensorCompType,
        cudnnNanPropagation_t reduceTensorNanOpt,
        cudnnReduceTensorIndices_t reduceTensorIndices,
        cudnnIndicesType_t reduceTensorIndicesType);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_REDUCTION_DESCRIPTOR

    in/out  reduceTensorDesc         cudnnReduceTensorDescriptor_t
    in      reduceTensorOp           cudnnReduceTensorOp_t
    in      reduceTensorCompType     cudnnDataType_t
    in      reduceTensorNanOpt       cudnnNanPropagation_t
    in      reduceTensorIndices      cudnnReduceTensorIndices_t
    in      reduceTensorIndicesType  cudnnIndicesType_t

    used by ReduceTensorDescriptor.set
    """

@declared
def cudnnGetReduceTensorDescriptor(
    reduceTensorDesc: Handle[cudnnReduceTensorDescriptor_t],
    reduceTensorOp: EnumPointer[cudnnReduceTensorOp_t],
    reduceTensorCompType: EnumPointer[cudnnDataType_t],
    reduceTensorNanOpt: EnumPointer[cudnnNanPropagation_t],
    reduceTensorIndices: EnumPointer[cudnnReduceTensorIndices_t],
    reduceTensorIndicesType: EnumPointer[cudnnIndicesType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetReduceTensorDescriptor(
        const cudnnReduceTensorDescriptor_t reduceTensorDesc,
        cudnnReduceTensorOp_t *reduceTensorOp,
        cudnnDataType_t *reduceTensorCompType,
        cudnnNanPropagation_t *reduceTensorNanOpt,
        cudnnReduceTensorIndices_t *reduceTensorIndices,
        cudnnIndicesType_t *reduceTensorIndicesType);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_REDUCTION_DESCRIPTOR

    in   reduceTensorDesc         cudnnReduceTensorDescriptor_t
    out  reduceTensorOp           pointer to cudnnReduceTensorOp_t, not NULL
    out  reduceTensorCompType     pointer to cudnnDataType_t, not NULL
    out  reduceTensorNanOpt       pointer to cudnnNanPropagation_t, not NULL
    out  reduceTensorIndices      pointer to cudnnReduceTensorIndices_t, not NULL
    out  reduceTensorIndicesType  pointer to cudnnIndicesType_t, not NULL

    used by ReduceTensorDescriptor
    example: examples/12_lenet_digits.py
    """

@declared
def cudnnDestroyReduceTensorDescriptor(
    reduceTensorDesc: Descriptor[cudnnReduceTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyReduceTensorDescriptor(
        cudnnReduceTensorDescriptor_t reduceTensorDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_REDUCTION_DESCRIPTOR

    in  reduceTensorDesc  cudnnReduceTensorDescriptor_t

    used by ReduceTensorDescriptor
    example: examples/12_lenet_digits.py
    """

@declared
def cudnnGetReductionIndicesSize(
    handle: Handle[cudnnHandle_t],
    reduceTensorDesc: Handle[cudnnReduceTensorDescriptor_t],
    aDesc: Descriptor[cudnnTensorDescriptor_t],
    cDesc: Handle[cudnnTensorDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetReductionIndicesSize(
        cudnnHandle_t handle,
        const cudnnReduceTensorDescriptor_t reduceTensorDesc,
        const cudnnTensorDescriptor_t aDesc,
        const cudnnTensorDescriptor_t cDesc,
        size_t *sizeInBytes);

    cudnn_ops.h, since 9.0.0, deprecated

    in   handle            cudnnHandle_t
    in   reduceTensorDesc  cudnnReduceTensorDescriptor_t, not NULL
    in   aDesc             cudnnTensorDescriptor_t
    in   cDesc             cudnnTensorDescriptor_t, not NULL
    out  sizeInBytes       pointer to size_t, not NULL

    used by ReduceTensorDescriptor.indices_size
    """

@declared
def cudnnGetReductionWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    reduceTensorDesc: Handle[cudnnReduceTensorDescriptor_t],
    aDesc: Handle[cudnnTensorDescriptor_t],
    cDesc: Handle[cudnnTensorDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetReductionWorkspaceSize(
        cudnnHandle_t handle,
        const cudnnReduceTensorDescriptor_t reduceTensorDesc,
        const cudnnTensorDescriptor_t aDesc,
        const cudnnTensorDescriptor_t cDesc,
        size_t *sizeInBytes);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE

    in   handle            cudnnHandle_t
    in   reduceTensorDesc  cudnnReduceTensorDescriptor_t, not NULL
    in   aDesc             cudnnTensorDescriptor_t, not NULL
    in   cDesc             cudnnTensorDescriptor_t, not NULL
    out  sizeInBytes       pointer to size_t, not NULL

    used by ReduceTensorDescriptor.workspace_size
    """

@declared
def cudnnReduceTensor(
    handle: Handle[cudnnHandle_t],
    reduceTensorDesc: Handle[cudnnReduceTensorDescriptor_t],
    indices: DeviceMemory,
    indicesSizeInBytes: Int,
    workspace: DeviceMemory,
    workspaceSizeInBytes: Int,
    alpha: HostScalar,
    aDesc: Descriptor[cudnnTensorDescriptor_t],
    A: DeviceMemory,
    beta: HostScalar,
    cDesc: Descriptor[cudnnTensorDescriptor_t],
    C: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnReduceTensor(
        cudnnHandle_t handle,
        const cudnnReduceTensorDescriptor_t reduceTensorDesc,
        void *indices,
        size_t indicesSizeInBytes,
        void *workspace,
        size_t workspaceSizeInBytes,
        const void *alpha,
        const cudnnTensorDescriptor_t aDesc,
        const void *A,
        const void *beta,
        const cudnnTensorDescriptor_t cDesc,
        void *C);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR

    in      handle                cudnnHandle_t
    in      reduceTensorDesc      cudnnReduceTensorDescriptor_t, not NULL
    out     indices               device memory, as indicesSizeInBytes says, NULL if no indicesSizeInBytes
    in      indicesSizeInBytes    size_t
    in/out  workspace             device memory, as workspaceSizeInBytes says, NULL if no workspaceSizeInBytes
    in      workspaceSizeInBytes  size_t
    in      alpha                 one number on the host, as cDesc says
    in      aDesc                 cudnnTensorDescriptor_t
    in      A                     device memory, as aDesc says
    in      beta                  one number on the host, as cDesc says
    in      cDesc                 cudnnTensorDescriptor_t
    in/out  C                     device memory, as cDesc says

    used by reduce_tensor
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnSetTensor(
    handle: Handle[cudnnHandle_t],
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    valuePtr: HostScalar,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetTensor(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t yDesc,
        void *y,
        const void *valuePtr);

    cudnn_ops.h, since 9.0.0

    in   handle    cudnnHandle_t
    in   yDesc     cudnnTensorDescriptor_t
    out  y         device memory, as yDesc says
    in   valuePtr  one number on the host, as yDesc says

    used by set_tensor
    """

@declared
def cudnnScaleTensor(
    handle: Handle[cudnnHandle_t],
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    alpha: HostScalar,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnScaleTensor(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t yDesc,
        void *y,
        const void *alpha);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR

    in      handle  cudnnHandle_t
    in      yDesc   cudnnTensorDescriptor_t
    in/out  y       device memory, as yDesc says
    in      alpha   one number on the host, as yDesc says

    used by scale_tensor
    """

@declared
def cudnnCreateFilterDescriptor(
    filterDesc: NewHandle[cudnnFilterDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateFilterDescriptor(
        cudnnFilterDescriptor_t *filterDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    out  filterDesc  pointer to cudnnFilterDescriptor_t

    used by FilterDescriptor
    example: examples/01_smallest_program.py
    """

@declared
def cudnnSetFilter4dDescriptor(
    filterDesc: Handle[cudnnFilterDescriptor_t],
    dataType: EnumValue[cudnnDataType_t],
    format: EnumValue[cudnnTensorFormat_t],
    k: Int,
    c: Int,
    h: Int,
    w: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetFilter4dDescriptor(
        cudnnFilterDescriptor_t filterDesc,
        cudnnDataType_t dataType,
        cudnnTensorFormat_t format,
        int k,
        int c,
        int h,
        int w);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in/out  filterDesc  cudnnFilterDescriptor_t
    in      dataType    cudnnDataType_t
    in      format      cudnnTensorFormat_t
    in      k           int
    in      c           int
    in      h           int
    in      w           int

    used by FilterDescriptor.set_4d
    example: examples/01_smallest_program.py
    """

@declared
def cudnnGetFilter4dDescriptor(
    filterDesc: Handle[cudnnFilterDescriptor_t],
    dataType: EnumPointer[cudnnDataType_t],
    format: EnumPointer[cudnnTensorFormat_t],
    k: Pointer[c_int],
    c: Pointer[c_int],
    h: Pointer[c_int],
    w: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetFilter4dDescriptor(
        const cudnnFilterDescriptor_t filterDesc,
        cudnnDataType_t *dataType,
        cudnnTensorFormat_t *format,
        int *k,
        int *c,
        int *h,
        int *w);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in   filterDesc  cudnnFilterDescriptor_t
    out  dataType    pointer to cudnnDataType_t, not NULL
    out  format      pointer to cudnnTensorFormat_t, not NULL
    out  k           pointer to int, not NULL
    out  c           pointer to int, not NULL
    out  h           pointer to int, not NULL
    out  w           pointer to int, not NULL

    used by FilterDescriptor.get_4d
    """

@declared
def cudnnSetFilterNdDescriptor(
    filterDesc: Handle[cudnnFilterDescriptor_t],
    dataType: EnumValue[cudnnDataType_t],
    format: EnumValue[cudnnTensorFormat_t],
    nbDims: Int,
    filterDimA: IntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetFilterNdDescriptor(
        cudnnFilterDescriptor_t filterDesc,
        cudnnDataType_t dataType,
        cudnnTensorFormat_t format,
        int nbDims,
        const int filterDimA[]);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in/out  filterDesc  cudnnFilterDescriptor_t
    in      dataType    cudnnDataType_t
    in      format      cudnnTensorFormat_t
    in      nbDims      int
    in      filterDimA  array of nbDims int, not NULL

    used by FilterDescriptor.set_nd
    """

@declared
def cudnnGetFilterNdDescriptor(
    filterDesc: Handle[cudnnFilterDescriptor_t],
    nbDimsRequested: Int,
    dataType: EnumPointer[cudnnDataType_t],
    format: EnumPointer[cudnnTensorFormat_t],
    nbDims: Pointer[c_int],
    filterDimA: FilledIntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetFilterNdDescriptor(
        const cudnnFilterDescriptor_t filterDesc,
        int nbDimsRequested,
        cudnnDataType_t *dataType,
        cudnnTensorFormat_t *format,
        int *nbDims,
        int filterDimA[]);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in   filterDesc       cudnnFilterDescriptor_t
    in   nbDimsRequested  int
    out  dataType         pointer to cudnnDataType_t, not NULL
    out  format           pointer to cudnnTensorFormat_t, not NULL
    out  nbDims           pointer to int, not NULL
    out  filterDimA       array of nbDimsRequested int, not NULL

    used by FilterDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnGetFilterSizeInBytes(
    filterDesc: Handle[cudnnFilterDescriptor_t],
    size: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetFilterSizeInBytes(
        const cudnnFilterDescriptor_t filterDesc,
        size_t *size);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in   filterDesc  cudnnFilterDescriptor_t
    out  size        pointer to size_t, not NULL

    used by FilterDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnTransformFilter(
    handle: Handle[cudnnHandle_t],
    transDesc: Descriptor[cudnnTensorTransformDescriptor_t],
    alpha: HostScalar,
    srcDesc: Handle[cudnnFilterDescriptor_t],
    srcData: DeviceMemory,
    beta: HostScalar,
    destDesc: Handle[cudnnFilterDescriptor_t],
    destData: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnTransformFilter(
        cudnnHandle_t handle,
        const cudnnTensorTransformDescriptor_t transDesc,
        const void *alpha,
        const cudnnFilterDescriptor_t srcDesc,
        const void *srcData,
        const void *beta,
        const cudnnFilterDescriptor_t destDesc,
        void *destData);

    cudnn_ops.h, since 9.0.0, deprecated

    in      handle     cudnnHandle_t
    in      transDesc  cudnnTensorTransformDescriptor_t
    in      alpha      one number on the host, as srcDesc or destDesc says
    in      srcDesc    cudnnFilterDescriptor_t, not NULL
    in      srcData    device memory, as srcDesc says
    in      beta       one number on the host, as srcDesc or destDesc says
    in      destDesc   cudnnFilterDescriptor_t, not NULL
    in/out  destData   device memory, as destDesc says

    used by transform_filter
    """

@declared
def cudnnDestroyFilterDescriptor(
    filterDesc: Descriptor[cudnnFilterDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyFilterDescriptor(
        cudnnFilterDescriptor_t filterDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in  filterDesc  cudnnFilterDescriptor_t

    used by FilterDescriptor
    example: examples/01_smallest_program.py
    """

@declared
def cudnnSoftmaxForward(
    handle: Handle[cudnnHandle_t],
    algo: EnumValue[cudnnSoftmaxAlgorithm_t],
    mode: EnumValue[cudnnSoftmaxMode_t],
    alpha: HostScalar,
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    beta: HostScalar,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSoftmaxForward(
        cudnnHandle_t handle,
        cudnnSoftmaxAlgorithm_t algo,
        cudnnSoftmaxMode_t mode,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *beta,
        const cudnnTensorDescriptor_t yDesc,
        void *y);

    cudnn_ops.h, since 9.0.0

    in      handle  cudnnHandle_t
    in      algo    cudnnSoftmaxAlgorithm_t
    in      mode    cudnnSoftmaxMode_t
    in      alpha   one number on the host, as yDesc says
    in      xDesc   cudnnTensorDescriptor_t
    in      x       device memory, as xDesc says
    in      beta    one number on the host, as yDesc says
    in      yDesc   cudnnTensorDescriptor_t
    in/out  y       device memory, as yDesc says

    used by softmax_forward
    example: examples/07_softmax.py
    """

@declared
def cudnnCreatePoolingDescriptor(
    poolingDesc: NewHandle[cudnnPoolingDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreatePoolingDescriptor(
        cudnnPoolingDescriptor_t *poolingDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR

    out  poolingDesc  pointer to cudnnPoolingDescriptor_t

    used by PoolingDescriptor
    example: examples/06_pooling.py
    """

@declared
def cudnnSetPooling2dDescriptor(
    poolingDesc: Handle[cudnnPoolingDescriptor_t],
    mode: EnumValue[cudnnPoolingMode_t],
    maxpoolingNanOpt: EnumValue[cudnnNanPropagation_t],
    windowHeight: Int,
    windowWidth: Int,
    verticalPadding: Int,
    horizontalPadding: Int,
    verticalStride: Int,
    horizontalStride: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetPooling2dDescriptor(
        cudnnPoolingDescriptor_t poolingDesc,
        cudnnPoolingMode_t mode,
        cudnnNanPropagation_t maxpoolingNanOpt,
        int windowHeight,
        int windowWidth,
        int verticalPadding,
        int horizontalPadding,
        int verticalStride,
        int horizontalStride);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR

    in/out  poolingDesc        cudnnPoolingDescriptor_t
    in      mode               cudnnPoolingMode_t
    in      maxpoolingNanOpt   cudnnNanPropagation_t
    in      windowHeight       int
    in      windowWidth        int
    in      verticalPadding    int
    in      horizontalPadding  int
    in      verticalStride     int
    in      horizontalStride   int

    used by PoolingDescriptor.set_2d
    example: examples/06_pooling.py
    """

@declared
def cudnnGetPooling2dDescriptor(
    poolingDesc: Handle[cudnnPoolingDescriptor_t],
    mode: EnumPointer[cudnnPoolingMode_t],
    maxpoolingNanOpt: EnumPointer[cudnnNanPropagation_t],
    windowHeight: Pointer[c_int],
    windowWidth: Pointer[c_int],
    verticalPadding: Pointer[c_int],
    horizontalPadding: Pointer[c_int],
    verticalStride: Pointer[c_int],
    horizontalStride: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetPooling2dDescriptor(
        const cudnnPoolingDescriptor_t poolingDesc,
        cudnnPoolingMode_t *mode,
        cudnnNanPropagation_t *maxpoolingNanOpt,
        int *windowHeight,
        int *windowWidth,
        int *verticalPadding,
        int *horizontalPadding,
        int *verticalStride,
        int *horizontalStride);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR

    in   poolingDesc        cudnnPoolingDescriptor_t
    out  mode               pointer to cudnnPoolingMode_t, not NULL
    out  maxpoolingNanOpt   pointer to cudnnNanPropagation_t, not NULL
    out  windowHeight       pointer to int, not NULL
    out  windowWidth        pointer to int, not NULL
    out  verticalPadding    pointer to int, not NULL
    out  horizontalPadding  pointer to int, not NULL
    out  verticalStride     pointer to int, not NULL
    out  horizontalStride   pointer to int, not NULL

    used by PoolingDescriptor.get_2d
    """

@declared
def cudnnSetPoolingNdDescriptor(
    poolingDesc: Handle[cudnnPoolingDescriptor_t],
    mode: EnumValue[cudnnPoolingMode_t],
    maxpoolingNanOpt: EnumValue[cudnnNanPropagation_t],
    nbDims: Int,
    windowDimA: IntArray[c_int],
    paddingA: IntArray[c_int],
    strideA: IntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetPoolingNdDescriptor(
        cudnnPoolingDescriptor_t poolingDesc,
        const cudnnPoolingMode_t mode,
        const cudnnNanPropagation_t maxpoolingNanOpt,
        int nbDims,
        const int windowDimA[],
        const int paddingA[],
        const int strideA[]);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR

    in/out  poolingDesc       cudnnPoolingDescriptor_t
    in      mode              cudnnPoolingMode_t
    in      maxpoolingNanOpt  cudnnNanPropagation_t
    in      nbDims            int
    in      windowDimA        array of nbDims int, not NULL
    in      paddingA          array of nbDims int, not NULL
    in      strideA           array of nbDims int, not NULL

    used by PoolingDescriptor.set_nd
    """

@declared
def cudnnGetPoolingNdDescriptor(
    poolingDesc: Handle[cudnnPoolingDescriptor_t],
    nbDimsRequested: Int,
    mode: EnumPointer[cudnnPoolingMode_t],
    maxpoolingNanOpt: EnumPointer[cudnnNanPropagation_t],
    nbDims: Pointer[c_int],
    windowDimA: FilledIntArray[c_int],
    paddingA: FilledIntArray[c_int],
    strideA: FilledIntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetPoolingNdDescriptor(
        const cudnnPoolingDescriptor_t poolingDesc,
        int nbDimsRequested,
        cudnnPoolingMode_t *mode,
        cudnnNanPropagation_t *maxpoolingNanOpt,
        int *nbDims,
        int windowDimA[],
        int paddingA[],
        int strideA[]);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR

    in   poolingDesc       cudnnPoolingDescriptor_t
    in   nbDimsRequested   int
    out  mode              pointer to cudnnPoolingMode_t, not NULL
    out  maxpoolingNanOpt  pointer to cudnnNanPropagation_t, not NULL
    out  nbDims            pointer to int, not NULL
    out  windowDimA        array of nbDimsRequested int, not NULL
    out  paddingA          array of nbDimsRequested int, not NULL
    out  strideA           array of nbDimsRequested int, not NULL

    used by PoolingDescriptor
    example: examples/06_pooling.py
    """

@declared
def cudnnGetPoolingNdForwardOutputDim(
    poolingDesc: Handle[cudnnPoolingDescriptor_t],
    inputTensorDesc: Handle[cudnnTensorDescriptor_t],
    nbDims: Int,
    outputTensorDimA: FilledIntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(
        const cudnnPoolingDescriptor_t poolingDesc,
        const cudnnTensorDescriptor_t inputTensorDesc,
        int nbDims,
        int outputTensorDimA[]);

    cudnn_ops.h, since 9.0.0, deprecated

    in   poolingDesc       cudnnPoolingDescriptor_t
    in   inputTensorDesc   cudnnTensorDescriptor_t, not NULL
    in   nbDims            int
    out  outputTensorDimA  array of nbDims int, not NULL

    used by PoolingDescriptor.output_shape
    """

@declared
def cudnnGetPooling2dForwardOutputDim(
    poolingDesc: Handle[cudnnPoolingDescriptor_t],
    inputTensorDesc: Handle[cudnnTensorDescriptor_t],
    n: Pointer[c_int],
    c: Pointer[c_int],
    h: Pointer[c_int],
    w: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetPooling2dForwardOutputDim(
        const cudnnPoolingDescriptor_t poolingDesc,
        const cudnnTensorDescriptor_t inputTensorDesc,
        int *n,
        int *c,
        int *h,
        int *w);

    cudnn_ops.h, since 9.0.0, deprecated

    in   poolingDesc      cudnnPoolingDescriptor_t
    in   inputTensorDesc  cudnnTensorDescriptor_t, not NULL
    out  n                pointer to int, not NULL
    out  c                pointer to int, not NULL
    out  h                pointer to int, not NULL
    out  w                pointer to int, not NULL

    used by PoolingDescriptor.output_shape
    example: examples/06_pooling.py
    """

@declared
def cudnnDestroyPoolingDescriptor(
    poolingDesc: Descriptor[cudnnPoolingDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyPoolingDescriptor(
        cudnnPoolingDescriptor_t poolingDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR

    in  poolingDesc  cudnnPoolingDescriptor_t

    used by PoolingDescriptor
    example: examples/06_pooling.py
    """

@declared
def cudnnPoolingForward(
    handle: Handle[cudnnHandle_t],
    poolingDesc: Descriptor[cudnnPoolingDescriptor_t],
    alpha: HostScalar,
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    beta: HostScalar,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnPoolingForward(
        cudnnHandle_t handle,
        const cudnnPoolingDescriptor_t poolingDesc,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *beta,
        const cudnnTensorDescriptor_t yDesc,
        void *y);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR

    in      handle       cudnnHandle_t
    in      poolingDesc  cudnnPoolingDescriptor_t
    in      alpha        one number on the host, as yDesc says
    in      xDesc        cudnnTensorDescriptor_t
    in      x            device memory, as xDesc says
    in      beta         one number on the host, as yDesc says
    in      yDesc        cudnnTensorDescriptor_t
    in/out  y            device memory, as yDesc says

    used by pooling_forward
    example: examples/06_pooling.py
    """

@declared
def cudnnCreateActivationDescriptor(
    activationDesc: NewHandle[cudnnActivationDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateActivationDescriptor(
        cudnnActivationDescriptor_t *activationDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    out  activationDesc  pointer to cudnnActivationDescriptor_t

    used by ActivationDescriptor
    example: examples/10_gradients.py
    """

@declared
def cudnnSetActivationDescriptor(
    activationDesc: Handle[cudnnActivationDescriptor_t],
    mode: EnumValue[cudnnActivationMode_t],
    reluNanOpt: EnumValue[cudnnNanPropagation_t],
    coef: Real,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetActivationDescriptor(
        cudnnActivationDescriptor_t activationDesc,
        cudnnActivationMode_t mode,
        cudnnNanPropagation_t reluNanOpt,
        double coef);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    in/out  activationDesc  cudnnActivationDescriptor_t
    in      mode            cudnnActivationMode_t
    in      reluNanOpt      cudnnNanPropagation_t
    in      coef            double

    used by ActivationDescriptor.set
    """

@declared
def cudnnGetActivationDescriptor(
    activationDesc: Handle[cudnnActivationDescriptor_t],
    mode: EnumPointer[cudnnActivationMode_t],
    reluNanOpt: EnumPointer[cudnnNanPropagation_t],
    coef: Pointer[c_double],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetActivationDescriptor(
        const cudnnActivationDescriptor_t activationDesc,
        cudnnActivationMode_t *mode,
        cudnnNanPropagation_t *reluNanOpt,
        double *coef);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    in   activationDesc  cudnnActivationDescriptor_t
    out  mode            pointer to cudnnActivationMode_t, not NULL
    out  reluNanOpt      pointer to cudnnNanPropagation_t, not NULL
    out  coef            pointer to double, not NULL

    used by ActivationDescriptor
    example: examples/10_gradients.py
    """

@declared
def cudnnSetActivationDescriptorSwishBeta(
    activationDesc: Handle[cudnnActivationDescriptor_t],
    swish_beta: Real,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(
        cudnnActivationDescriptor_t activationDesc,
        double swish_beta);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    in/out  activationDesc  cudnnActivationDescriptor_t
    in      swish_beta      double

    used by ActivationDescriptor.swish_beta
    """

@declared
def cudnnGetActivationDescriptorSwishBeta(
    activationDesc: Handle[cudnnActivationDescriptor_t],
    swish_beta: Pointer[c_double],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetActivationDescriptorSwishBeta(
        cudnnActivationDescriptor_t activationDesc,
        double *swish_beta);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    in   activationDesc  cudnnActivationDescriptor_t
    out  swish_beta      pointer to double

    used by ActivationDescriptor
    example: examples/10_gradients.py
    """

@declared
def cudnnDestroyActivationDescriptor(
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyActivationDescriptor(
        cudnnActivationDescriptor_t activationDesc);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR

    in  activationDesc  cudnnActivationDescriptor_t

    used by ActivationDescriptor
    example: examples/10_gradients.py
    """

@declared
def cudnnActivationForward(
    handle: Handle[cudnnHandle_t],
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    alpha: HostScalar,
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    beta: HostScalar,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnActivationForward(
        cudnnHandle_t handle,
        cudnnActivationDescriptor_t activationDesc,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *beta,
        const cudnnTensorDescriptor_t yDesc,
        void *y);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR

    in      handle          cudnnHandle_t
    in      activationDesc  cudnnActivationDescriptor_t
    in      alpha           one number on the host, as yDesc says
    in      xDesc           cudnnTensorDescriptor_t
    in      x               device memory, as xDesc says
    in      beta            one number on the host, as yDesc says
    in      yDesc           cudnnTensorDescriptor_t
    in/out  y               device memory, as yDesc says

    used by activation_forward
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnCreateLRNDescriptor(
    normDesc: NewHandle[cudnnLRNDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t *normDesc);

    cudnn_ops.h, since 9.0.0

    out  normDesc  pointer to cudnnLRNDescriptor_t, not NULL

    used by LRNDescriptor
    """

@declared
def cudnnSetLRNDescriptor(
    normDesc: Handle[cudnnLRNDescriptor_t],
    lrnN: Int,
    lrnAlpha: Real,
    lrnBeta: Real,
    lrnK: Real,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetLRNDescriptor(
        cudnnLRNDescriptor_t normDesc,
        unsigned int lrnN,
        double lrnAlpha,
        double lrnBeta,
        double lrnK);

    cudnn_ops.h, since 9.0.0

    in/out  normDesc  cudnnLRNDescriptor_t, not NULL
    in      lrnN      unsigned int
    in      lrnAlpha  double
    in      lrnBeta   double
    in      lrnK      double

    used by LRNDescriptor.set
    """

@declared
def cudnnGetLRNDescriptor(
    normDesc: Handle[cudnnLRNDescriptor_t],
    lrnN: Pointer[c_uint],
    lrnAlpha: Pointer[c_double],
    lrnBeta: Pointer[c_double],
    lrnK: Pointer[c_double],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetLRNDescriptor(
        cudnnLRNDescriptor_t normDesc,
        unsigned int *lrnN,
        double *lrnAlpha,
        double *lrnBeta,
        double *lrnK);

    cudnn_ops.h, since 9.0.0

    in   normDesc  cudnnLRNDescriptor_t, not NULL
    out  lrnN      pointer to unsigned int
    out  lrnAlpha  pointer to double
    out  lrnBeta   pointer to double
    out  lrnK      pointer to double

    used by LRNDescriptor
    """

@declared
def cudnnDestroyLRNDescriptor(
    lrnDesc: Descriptor[cudnnLRNDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t lrnDesc);

    cudnn_ops.h, since 9.0.0

    in  lrnDesc  cudnnLRNDescriptor_t

    used by LRNDescriptor
    """

@declared
def cudnnLRNCrossChannelForward(
    handle: Handle[cudnnHandle_t],
    normDesc: Handle[cudnnLRNDescriptor_t],
    lrnMode: EnumValue[cudnnLRNMode_t],
    alpha: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    beta: HostScalar,
    yDesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnLRNCrossChannelForward(
        cudnnHandle_t handle,
        cudnnLRNDescriptor_t normDesc,
        cudnnLRNMode_t lrnMode,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *beta,
        const cudnnTensorDescriptor_t yDesc,
        void *y);

    cudnn_ops.h, since 9.0.0

    in      handle    cudnnHandle_t
    in      normDesc  cudnnLRNDescriptor_t, not NULL
    in      lrnMode   cudnnLRNMode_t
    in      alpha     one number on the host, as yDesc says, not NULL
    in      xDesc     cudnnTensorDescriptor_t, not NULL
    in      x         device memory, as xDesc says
    in      beta      one number on the host, as yDesc says, not NULL
    in      yDesc     cudnnTensorDescriptor_t, not NULL
    in/out  y         device memory, as yDesc says

    used by lrn_cross_channel_forward
    """

@declared
def cudnnDivisiveNormalizationForward(
    handle: Handle[cudnnHandle_t],
    normDesc: Handle[cudnnLRNDescriptor_t],
    mode: EnumValue[cudnnDivNormMode_t],
    alpha: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    means: DeviceMemory,
    temp: DeviceMemory,
    temp2: DeviceMemory,
    beta: HostScalar,
    yDesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDivisiveNormalizationForward(
        cudnnHandle_t handle,
        cudnnLRNDescriptor_t normDesc,
        cudnnDivNormMode_t mode,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *means,
        void *temp,
        void *temp2,
        const void *beta,
        const cudnnTensorDescriptor_t yDesc,
        void *y);

    cudnn_ops.h, since 9.0.0

    in      handle    cudnnHandle_t
    in      normDesc  cudnnLRNDescriptor_t, not NULL
    in      mode      cudnnDivNormMode_t
    in      alpha     one number on the host, as yDesc says
    in      xDesc     cudnnTensorDescriptor_t, not NULL
    in      x         device memory, as xDesc says
    in      means     device memory, as xDesc says
    out     temp      device memory, as xDesc says
    out     temp2     device memory, as xDesc says
    in      beta      one number on the host, as yDesc says
    in      yDesc     cudnnTensorDescriptor_t, not NULL
    in/out  y         device memory, as yDesc says

    used by divisive_normalization_forward
    """

@declared
def cudnnDeriveBNTensorDescriptor(
    derivedBnDesc: Handle[cudnnTensorDescriptor_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    mode: EnumValue[cudnnBatchNormMode_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDeriveBNTensorDescriptor(
        cudnnTensorDescriptor_t derivedBnDesc,
        const cudnnTensorDescriptor_t xDesc,
        cudnnBatchNormMode_t mode);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in/out  derivedBnDesc  cudnnTensorDescriptor_t
    in      xDesc          cudnnTensorDescriptor_t, not NULL
    in      mode           cudnnBatchNormMode_t

    used by derive_bn_tensor_descriptor
    example: examples/08_batch_norm.py
    """

@declared
def cudnnBatchNormalizationForwardInference(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    alpha: HostScalar,
    beta: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    yDesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    bnScaleBiasMeanVarDesc: Handle[cudnnTensorDescriptor_t],
    bnScale: DeviceMemory,
    bnBias: DeviceMemory,
    estimatedMean: DeviceMemory,
    estimatedVariance: DeviceMemory,
    epsilon: Real,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBatchNormalizationForwardInference(
        cudnnHandle_t handle,
        cudnnBatchNormMode_t mode,
        const void *alpha,
        const void *beta,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnTensorDescriptor_t yDesc,
        void *y,
        const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
        const void *bnScale,
        const void *bnBias,
        const void *estimatedMean,
        const void *estimatedVariance,
        double epsilon);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR

    in      handle                  cudnnHandle_t
    in      mode                    cudnnBatchNormMode_t
    in      alpha                   one number on the host, as yDesc says
    in      beta                    one number on the host, as yDesc says
    in      xDesc                   cudnnTensorDescriptor_t, not NULL
    in      x                       device memory, as xDesc says
    in      yDesc                   cudnnTensorDescriptor_t, not NULL
    in/out  y                       device memory, as yDesc says
    in      bnScaleBiasMeanVarDesc  cudnnTensorDescriptor_t, not NULL
    in      bnScale                 device memory, as bnScaleBiasMeanVarDesc says
    in      bnBias                  device memory, as bnScaleBiasMeanVarDesc says
    in      estimatedMean           device memory, as bnScaleBiasMeanVarDesc says
    in      estimatedVariance       device memory, as bnScaleBiasMeanVarDesc says
    in      epsilon                 double

    used by batch_normalization_forward_inference
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnDeriveNormTensorDescriptor(
    derivedNormScaleBiasDesc: Handle[cudnnTensorDescriptor_t],
    derivedNormMeanVarDesc: Handle[cudnnTensorDescriptor_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    mode: EnumValue[cudnnNormMode_t],
    groupCnt: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDeriveNormTensorDescriptor(
        cudnnTensorDescriptor_t derivedNormScaleBiasDesc,
        cudnnTensorDescriptor_t derivedNormMeanVarDesc,
        const cudnnTensorDescriptor_t xDesc,
        cudnnNormMode_t mode,
        int groupCnt);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in/out  derivedNormScaleBiasDesc  cudnnTensorDescriptor_t
    in/out  derivedNormMeanVarDesc    cudnnTensorDescriptor_t
    in      xDesc                     cudnnTensorDescriptor_t, not NULL
    in      mode                      cudnnNormMode_t
    in      groupCnt                  int

    used by derive_norm_tensor_descriptor
    """

@declared
def cudnnNormalizationForwardInference(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    alpha: HostScalar,
    beta: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    normScaleBiasDesc: Handle[cudnnTensorDescriptor_t],
    normScale: DeviceMemory,
    normBias: DeviceMemory,
    normMeanVarDesc: Handle[cudnnTensorDescriptor_t],
    estimatedMean: DeviceMemory,
    estimatedVariance: DeviceMemory,
    zDesc: Descriptor[cudnnTensorDescriptor_t],
    z: DeviceMemory,
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    yDesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    epsilon: Real,
    groupCnt: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnNormalizationForwardInference(
        cudnnHandle_t handle,
        cudnnNormMode_t mode,
        cudnnNormOps_t normOps,
        cudnnNormAlgo_t algo,
        const void *alpha,
        const void *beta,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnTensorDescriptor_t normScaleBiasDesc,
        const void *normScale,
        const void *normBias,
        const cudnnTensorDescriptor_t normMeanVarDesc,
        const void *estimatedMean,
        const void *estimatedVariance,
        const cudnnTensorDescriptor_t zDesc,
        const void *z,
        cudnnActivationDescriptor_t activationDesc,
        const cudnnTensorDescriptor_t yDesc,
        void *y,
        double epsilon,
        int groupCnt);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR

    in      handle             cudnnHandle_t
    in      mode               cudnnNormMode_t
    in      normOps            cudnnNormOps_t
    in      algo               cudnnNormAlgo_t
    in      alpha              one number on the host, as yDesc says
    in      beta               one number on the host, as yDesc says
    in      xDesc              cudnnTensorDescriptor_t, not NULL
    in      x                  device memory, as xDesc says
    in      normScaleBiasDesc  cudnnTensorDescriptor_t, not NULL
    in      normScale          device memory, as normScaleBiasDesc says
    in      normBias           device memory, as normScaleBiasDesc says
    in      normMeanVarDesc    cudnnTensorDescriptor_t, not NULL
    in      estimatedMean      device memory, as normMeanVarDesc says
    in      estimatedVariance  device memory, as normMeanVarDesc says
    in      zDesc              cudnnTensorDescriptor_t
    in      z                  device memory, as zDesc says
    in      activationDesc     cudnnActivationDescriptor_t
    in      yDesc              cudnnTensorDescriptor_t, not NULL
    in/out  y                  device memory, as yDesc says
    in      epsilon            double
    in      groupCnt           int

    used by normalization_forward_inference
    """

@declared
def cudnnCreateSpatialTransformerDescriptor(
    stDesc: NewHandle[cudnnSpatialTransformerDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateSpatialTransformerDescriptor(
        cudnnSpatialTransformerDescriptor_t *stDesc);

    cudnn_ops.h, since 9.0.0

    out  stDesc  pointer to cudnnSpatialTransformerDescriptor_t

    used by SpatialTransformerDescriptor
    """

@declared
def cudnnSetSpatialTransformerNdDescriptor(
    stDesc: Handle[cudnnSpatialTransformerDescriptor_t],
    samplerType: EnumValue[cudnnSamplerType_t],
    dataType: EnumValue[cudnnDataType_t],
    nbDims: Int,
    dimA: IntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetSpatialTransformerNdDescriptor(
        cudnnSpatialTransformerDescriptor_t stDesc,
        cudnnSamplerType_t samplerType,
        cudnnDataType_t dataType,
        const int nbDims,
        const int dimA[]);

    cudnn_ops.h, since 9.0.0

    in/out  stDesc       cudnnSpatialTransformerDescriptor_t
    in      samplerType  cudnnSamplerType_t
    in      dataType     cudnnDataType_t
    in      nbDims       int
    in      dimA         array of nbDims int

    used by SpatialTransformerDescriptor.set_nd
    """

@declared
def cudnnDestroySpatialTransformerDescriptor(
    stDesc: Descriptor[cudnnSpatialTransformerDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroySpatialTransformerDescriptor(
        cudnnSpatialTransformerDescriptor_t stDesc);

    cudnn_ops.h, since 9.0.0

    in  stDesc  cudnnSpatialTransformerDescriptor_t

    used by SpatialTransformerDescriptor
    """

@declared
def cudnnSpatialTfGridGeneratorForward(
    handle: Handle[cudnnHandle_t],
    stDesc: Handle[cudnnSpatialTransformerDescriptor_t],
    theta: DeviceMemory,
    grid: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSpatialTfGridGeneratorForward(
        cudnnHandle_t handle,
        const cudnnSpatialTransformerDescriptor_t stDesc,
        const void *theta,
        void *grid);

    cudnn_ops.h, since 9.0.0

    in   handle  cudnnHandle_t
    in   stDesc  cudnnSpatialTransformerDescriptor_t, not NULL
    in   theta   device memory
    out  grid    device memory

    used by spatial_tf_grid_generator_forward
    """

@declared
def cudnnSpatialTfSamplerForward(
    handle: Handle[cudnnHandle_t],
    stDesc: Handle[cudnnSpatialTransformerDescriptor_t],
    alpha: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    grid: DeviceMemory,
    beta: HostScalar,
    yDesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSpatialTfSamplerForward(
        cudnnHandle_t handle,
        cudnnSpatialTransformerDescriptor_t stDesc,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *grid,
        const void *beta,
        cudnnTensorDescriptor_t yDesc,
        void *y);

    cudnn_ops.h, since 9.0.0

    in      handle  cudnnHandle_t
    in      stDesc  cudnnSpatialTransformerDescriptor_t, not NULL
    in      alpha   one number on the host, as yDesc says, not NULL
    in      xDesc   cudnnTensorDescriptor_t, not NULL
    in      x       device memory, as xDesc says
    in      grid    device memory
    in      beta    one number on the host, as yDesc says, not NULL
    in      yDesc   cudnnTensorDescriptor_t, not NULL
    in/out  y       device memory, as yDesc says

    used by spatial_tf_sampler_forward
    """

@declared
def cudnnCreateDropoutDescriptor(
    dropoutDesc: NewHandle[cudnnDropoutDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateDropoutDescriptor(
        cudnnDropoutDescriptor_t *dropoutDesc);

    cudnn_ops.h, since 9.0.0

    out  dropoutDesc  pointer to cudnnDropoutDescriptor_t

    used by DropoutDescriptor
    example: examples/09_rnn.py
    """

@declared
def cudnnDestroyDropoutDescriptor(
    dropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyDropoutDescriptor(
        cudnnDropoutDescriptor_t dropoutDesc);

    cudnn_ops.h, since 9.0.0

    in  dropoutDesc  cudnnDropoutDescriptor_t

    used by DropoutDescriptor
    example: examples/09_rnn.py
    """

@declared
def cudnnDropoutGetStatesSize(
    handle: Handle[cudnnHandle_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDropoutGetStatesSize(
        cudnnHandle_t handle,
        size_t *sizeInBytes);

    cudnn_ops.h, since 9.0.0

    in   handle       cudnnHandle_t
    out  sizeInBytes  pointer to size_t, not NULL

    used by dropout_states_size
    """

@declared
def cudnnDropoutGetReserveSpaceSize(
    xdesc: Handle[cudnnTensorDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDropoutGetReserveSpaceSize(
        cudnnTensorDescriptor_t xdesc,
        size_t *sizeInBytes);

    cudnn_ops.h, since 9.0.0

    in   xdesc        cudnnTensorDescriptor_t
    out  sizeInBytes  pointer to size_t, not NULL

    used by dropout_reserve_size
    """

@declared
def cudnnSetDropoutDescriptor(
    dropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
    handle: Handle[cudnnHandle_t],
    dropout: Real,
    states: DeviceMemory,
    stateSizeInBytes: Int,
    seed: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetDropoutDescriptor(
        cudnnDropoutDescriptor_t dropoutDesc,
        cudnnHandle_t handle,
        float dropout,
        void *states,
        size_t stateSizeInBytes,
        unsigned long long seed);

    cudnn_ops.h, since 9.0.0

    in/out  dropoutDesc       cudnnDropoutDescriptor_t
    in      handle            cudnnHandle_t
    in      dropout           float
    in/out  states            device memory, as stateSizeInBytes says
    in      stateSizeInBytes  size_t
    in      seed              unsigned long long

    used by DropoutDescriptor.rate, DropoutDescriptor.set
    example: examples/09_rnn.py
    """

@declared
def cudnnRestoreDropoutDescriptor(
    dropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
    handle: Handle[cudnnHandle_t],
    dropout: Real,
    states: DeviceMemory,
    stateSizeInBytes: Int,
    seed: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnRestoreDropoutDescriptor(
        cudnnDropoutDescriptor_t dropoutDesc,
        cudnnHandle_t handle,
        float dropout,
        void *states,
        size_t stateSizeInBytes,
        unsigned long long seed);

    cudnn_ops.h, since 9.0.0

    in/out  dropoutDesc       cudnnDropoutDescriptor_t
    in      handle            cudnnHandle_t
    in      dropout           float
    in/out  states            device memory, as stateSizeInBytes says
    in      stateSizeInBytes  size_t
    in      seed              unsigned long long

    used by DropoutDescriptor.restore
    """

@declared
def cudnnGetDropoutDescriptor(
    dropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
    handle: Handle[cudnnHandle_t],
    dropout: Pointer[c_float],
    states: Pointer[c_void_p],
    seed: Pointer[c_ulonglong],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetDropoutDescriptor(
        cudnnDropoutDescriptor_t dropoutDesc,
        cudnnHandle_t handle,
        float *dropout,
        void **states,
        unsigned long long *seed);

    cudnn_ops.h, since 9.0.0

    in   dropoutDesc  cudnnDropoutDescriptor_t
    in   handle       cudnnHandle_t
    out  dropout      pointer to float
    out  states       pointer to void *
    out  seed         pointer to unsigned long long

    used by DropoutDescriptor
    """

@declared
def cudnnDropoutForward(
    handle: Handle[cudnnHandle_t],
    dropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
    xdesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    ydesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    reserveSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDropoutForward(
        cudnnHandle_t handle,
        const cudnnDropoutDescriptor_t dropoutDesc,
        const cudnnTensorDescriptor_t xdesc,
        const void *x,
        const cudnnTensorDescriptor_t ydesc,
        void *y,
        void *reserveSpace,
        size_t reserveSpaceSizeInBytes);

    cudnn_ops.h, since 9.0.0

    in   handle                   cudnnHandle_t
    in   dropoutDesc              cudnnDropoutDescriptor_t
    in   xdesc                    cudnnTensorDescriptor_t, not NULL
    in   x                        device memory, as xdesc says
    in   ydesc                    cudnnTensorDescriptor_t, not NULL
    out  y                        device memory, as ydesc says
    out  reserveSpace             device memory, as reserveSpaceSizeInBytes says
    in   reserveSpaceSizeInBytes  size_t

    used by dropout_forward
    """

@declared
def cudnnOpsVersionCheck() -> cudnnStatus_t:
    """cudnnStatus_t cudnnOpsVersionCheck(void);

    cudnn_ops.h, since 9.0.0

    used by check_sublibraries
    """

@declared
def cudnnSoftmaxBackward(
    handle: Handle[cudnnHandle_t],
    algo: EnumValue[cudnnSoftmaxAlgorithm_t],
    mode: EnumValue[cudnnSoftmaxMode_t],
    alpha: HostScalar,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    dyDesc: Descriptor[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    beta: HostScalar,
    dxDesc: Descriptor[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSoftmaxBackward(
        cudnnHandle_t handle,
        cudnnSoftmaxAlgorithm_t algo,
        cudnnSoftmaxMode_t mode,
        const void *alpha,
        const cudnnTensorDescriptor_t yDesc,
        const void *y,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const void *beta,
        const cudnnTensorDescriptor_t dxDesc,
        void *dx);

    cudnn_ops.h, since 9.0.0

    in      handle  cudnnHandle_t
    in      algo    cudnnSoftmaxAlgorithm_t
    in      mode    cudnnSoftmaxMode_t
    in      alpha   one number on the host, as dxDesc says
    in      yDesc   cudnnTensorDescriptor_t
    in      y       device memory, as yDesc says
    in      dyDesc  cudnnTensorDescriptor_t
    in      dy      device memory, as dyDesc says
    in      beta    one number on the host, as dxDesc says
    in      dxDesc  cudnnTensorDescriptor_t
    in/out  dx      device memory, as dxDesc says

    used by softmax_backward
    example: examples/07_softmax.py
    """

@declared
def cudnnPoolingBackward(
    handle: Handle[cudnnHandle_t],
    poolingDesc: Descriptor[cudnnPoolingDescriptor_t],
    alpha: HostScalar,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    dyDesc: Descriptor[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    beta: HostScalar,
    dxDesc: Descriptor[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnPoolingBackward(
        cudnnHandle_t handle,
        const cudnnPoolingDescriptor_t poolingDesc,
        const void *alpha,
        const cudnnTensorDescriptor_t yDesc,
        const void *y,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *beta,
        const cudnnTensorDescriptor_t dxDesc,
        void *dx);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR

    in      handle       cudnnHandle_t
    in      poolingDesc  cudnnPoolingDescriptor_t
    in      alpha        one number on the host, as dxDesc says
    in      yDesc        cudnnTensorDescriptor_t
    in      y            device memory, as yDesc says
    in      dyDesc       cudnnTensorDescriptor_t
    in      dy           device memory, as dyDesc says
    in      xDesc        cudnnTensorDescriptor_t
    in      x            device memory, as xDesc says
    in      beta         one number on the host, as dxDesc says
    in      dxDesc       cudnnTensorDescriptor_t
    in/out  dx           device memory, as dxDesc says

    used by pooling_backward
    example: examples/06_pooling.py
    """

@declared
def cudnnActivationBackward(
    handle: Handle[cudnnHandle_t],
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    alpha: HostScalar,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    dyDesc: Descriptor[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    beta: HostScalar,
    dxDesc: Descriptor[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnActivationBackward(
        cudnnHandle_t handle,
        cudnnActivationDescriptor_t activationDesc,
        const void *alpha,
        const cudnnTensorDescriptor_t yDesc,
        const void *y,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *beta,
        const cudnnTensorDescriptor_t dxDesc,
        void *dx);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR

    in      handle          cudnnHandle_t
    in      activationDesc  cudnnActivationDescriptor_t
    in      alpha           one number on the host, as dxDesc says
    in      yDesc           cudnnTensorDescriptor_t
    in      y               device memory, as yDesc says
    in      dyDesc          cudnnTensorDescriptor_t
    in      dy              device memory, as dyDesc says
    in      xDesc           cudnnTensorDescriptor_t
    in      x               device memory, as xDesc says
    in      beta            one number on the host, as dxDesc says
    in      dxDesc          cudnnTensorDescriptor_t
    in/out  dx              device memory, as dxDesc says

    used by activation_backward
    example: examples/10_gradients.py
    """

@declared
def cudnnLRNCrossChannelBackward(
    handle: Handle[cudnnHandle_t],
    normDesc: Handle[cudnnLRNDescriptor_t],
    lrnMode: EnumValue[cudnnLRNMode_t],
    alpha: HostScalar,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    beta: HostScalar,
    dxDesc: Handle[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnLRNCrossChannelBackward(
        cudnnHandle_t handle,
        cudnnLRNDescriptor_t normDesc,
        cudnnLRNMode_t lrnMode,
        const void *alpha,
        const cudnnTensorDescriptor_t yDesc,
        const void *y,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *beta,
        const cudnnTensorDescriptor_t dxDesc,
        void *dx);

    cudnn_ops.h, since 9.0.0

    in      handle    cudnnHandle_t
    in      normDesc  cudnnLRNDescriptor_t, not NULL
    in      lrnMode   cudnnLRNMode_t
    in      alpha     one number on the host, as dxDesc says, not NULL
    in      yDesc     cudnnTensorDescriptor_t
    in      y         device memory, as yDesc says
    in      dyDesc    cudnnTensorDescriptor_t, not NULL
    in      dy        device memory, as dyDesc says
    in      xDesc     cudnnTensorDescriptor_t, not NULL
    in      x         device memory, as xDesc says
    in      beta      one number on the host, as dxDesc says, not NULL
    in      dxDesc    cudnnTensorDescriptor_t, not NULL
    in/out  dx        device memory, as dxDesc says

    used by lrn_cross_channel_backward
    """

@declared
def cudnnDivisiveNormalizationBackward(
    handle: Handle[cudnnHandle_t],
    normDesc: Handle[cudnnLRNDescriptor_t],
    mode: EnumValue[cudnnDivNormMode_t],
    alpha: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    means: DeviceMemory,
    dy: DeviceMemory,
    temp: DeviceMemory,
    temp2: DeviceMemory,
    beta: HostScalar,
    dXdMeansDesc: Handle[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
    dMeans: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDivisiveNormalizationBackward(
        cudnnHandle_t handle,
        cudnnLRNDescriptor_t normDesc,
        cudnnDivNormMode_t mode,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *means,
        const void *dy,
        void *temp,
        void *temp2,
        const void *beta,
        const cudnnTensorDescriptor_t dXdMeansDesc,
        void *dx,
        void *dMeans);

    cudnn_ops.h, since 9.0.0

    in      handle        cudnnHandle_t
    in      normDesc      cudnnLRNDescriptor_t, not NULL
    in      mode          cudnnDivNormMode_t
    in      alpha         one number on the host, as dXdMeansDesc says
    in      xDesc         cudnnTensorDescriptor_t, not NULL
    in      x             device memory, as xDesc says
    in      means         device memory, as xDesc says
    in      dy            device memory, as xDesc says
    out     temp          device memory, as xDesc says
    out     temp2         device memory, as xDesc says
    in      beta          one number on the host, as dXdMeansDesc says
    in      dXdMeansDesc  cudnnTensorDescriptor_t, not NULL
    in/out  dx            device memory, as dXdMeansDesc says
    in/out  dMeans        device memory, as dXdMeansDesc says

    used by divisive_normalization_backward
    """

@declared
def cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    zDesc: Descriptor[cudnnTensorDescriptor_t],
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    bnScaleBiasMeanVarDesc: Descriptor[cudnnTensorDescriptor_t],
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
        cudnnHandle_t handle,
        cudnnBatchNormMode_t mode,
        cudnnBatchNormOps_t bnOps,
        const cudnnTensorDescriptor_t xDesc,
        const cudnnTensorDescriptor_t zDesc,
        const cudnnTensorDescriptor_t yDesc,
        const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
        const cudnnActivationDescriptor_t activationDesc,
        size_t *sizeInBytes);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE

    in   handle                  cudnnHandle_t
    in   mode                    cudnnBatchNormMode_t
    in   bnOps                   cudnnBatchNormOps_t
    in   xDesc                   cudnnTensorDescriptor_t
    in   zDesc                   cudnnTensorDescriptor_t
    in   yDesc                   cudnnTensorDescriptor_t
    in   bnScaleBiasMeanVarDesc  cudnnTensorDescriptor_t
    in   activationDesc          cudnnActivationDescriptor_t
    out  sizeInBytes             pointer to size_t

    used by batch_normalization_backward_ex, batch_normalization_ex_sizes
    example: examples/14_fused_residual_block.py
    """

@declared
def cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    dyDesc: Descriptor[cudnnTensorDescriptor_t],
    dzDesc: Descriptor[cudnnTensorDescriptor_t],
    dxDesc: Descriptor[cudnnTensorDescriptor_t],
    dBnScaleBiasDesc: Descriptor[cudnnTensorDescriptor_t],
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
        cudnnHandle_t handle,
        cudnnBatchNormMode_t mode,
        cudnnBatchNormOps_t bnOps,
        const cudnnTensorDescriptor_t xDesc,
        const cudnnTensorDescriptor_t yDesc,
        const cudnnTensorDescriptor_t dyDesc,
        const cudnnTensorDescriptor_t dzDesc,
        const cudnnTensorDescriptor_t dxDesc,
        const cudnnTensorDescriptor_t dBnScaleBiasDesc,
        const cudnnActivationDescriptor_t activationDesc,
        size_t *sizeInBytes);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE

    in   handle            cudnnHandle_t
    in   mode              cudnnBatchNormMode_t
    in   bnOps             cudnnBatchNormOps_t
    in   xDesc             cudnnTensorDescriptor_t
    in   yDesc             cudnnTensorDescriptor_t
    in   dyDesc            cudnnTensorDescriptor_t
    in   dzDesc            cudnnTensorDescriptor_t
    in   dxDesc            cudnnTensorDescriptor_t
    in   dBnScaleBiasDesc  cudnnTensorDescriptor_t
    in   activationDesc    cudnnActivationDescriptor_t
    out  sizeInBytes       pointer to size_t

    used by batch_normalization_backward_ex, batch_normalization_ex_sizes
    example: examples/14_fused_residual_block.py
    """

@declared
def cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
        cudnnHandle_t handle,
        cudnnBatchNormMode_t mode,
        cudnnBatchNormOps_t bnOps,
        const cudnnActivationDescriptor_t activationDesc,
        const cudnnTensorDescriptor_t xDesc,
        size_t *sizeInBytes);

    cudnn_ops.h, since 9.0.0, deprecated

    in   handle          cudnnHandle_t
    in   mode            cudnnBatchNormMode_t
    in   bnOps           cudnnBatchNormOps_t
    in   activationDesc  cudnnActivationDescriptor_t
    in   xDesc           cudnnTensorDescriptor_t
    out  sizeInBytes     pointer to size_t

    used by batch_normalization_backward_ex, batch_normalization_ex_sizes
    example: examples/14_fused_residual_block.py
    """

@declared
def cudnnBatchNormalizationForwardTraining(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    alpha: HostScalar,
    beta: HostScalar,
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    bnScaleBiasMeanVarDesc: Descriptor[cudnnTensorDescriptor_t],
    bnScale: DeviceMemory,
    bnBias: DeviceMemory,
    exponentialAverageFactor: Real,
    resultRunningMean: DeviceMemory,
    resultRunningVariance: DeviceMemory,
    epsilon: Real,
    resultSaveMean: DeviceMemory,
    resultSaveInvVariance: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBatchNormalizationForwardTraining(
        cudnnHandle_t handle,
        cudnnBatchNormMode_t mode,
        const void *alpha,
        const void *beta,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnTensorDescriptor_t yDesc,
        void *y,
        const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
        const void *bnScale,
        const void *bnBias,
        double exponentialAverageFactor,
        void *resultRunningMean,
        void *resultRunningVariance,
        double epsilon,
        void *resultSaveMean,
        void *resultSaveInvVariance);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR

    in      handle                    cudnnHandle_t
    in      mode                      cudnnBatchNormMode_t
    in      alpha                     one number on the host, as yDesc says
    in      beta                      one number on the host, as yDesc says
    in      xDesc                     cudnnTensorDescriptor_t
    in      x                         device memory, as xDesc says
    in      yDesc                     cudnnTensorDescriptor_t
    in/out  y                         device memory, as yDesc says
    in      bnScaleBiasMeanVarDesc    cudnnTensorDescriptor_t
    in      bnScale                   device memory, as bnScaleBiasMeanVarDesc says
    in      bnBias                    device memory, as bnScaleBiasMeanVarDesc says
    in      exponentialAverageFactor  double
    in/out  resultRunningMean         device memory, as bnScaleBiasMeanVarDesc says
    in/out  resultRunningVariance     device memory, as bnScaleBiasMeanVarDesc says
    in      epsilon                   double
    out     resultSaveMean            device memory, as bnScaleBiasMeanVarDesc says
    out     resultSaveInvVariance     device memory, as bnScaleBiasMeanVarDesc says

    used by batch_normalization_forward_training
    example: examples/08_batch_norm.py
    """

@declared
def cudnnBatchNormalizationForwardTrainingEx(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    alpha: HostScalar,
    beta: HostScalar,
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    xData: DeviceMemory,
    zDesc: Descriptor[cudnnTensorDescriptor_t],
    zData: DeviceMemory,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    yData: DeviceMemory,
    bnScaleBiasMeanVarDesc: Descriptor[cudnnTensorDescriptor_t],
    bnScale: DeviceMemory,
    bnBias: DeviceMemory,
    exponentialAverageFactor: Real,
    resultRunningMean: DeviceMemory,
    resultRunningVariance: DeviceMemory,
    epsilon: Real,
    resultSaveMean: DeviceMemory,
    resultSaveInvVariance: DeviceMemory,
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    workspace: DeviceMemory,
    workSpaceSizeInBytes: Int,
    reserveSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
        cudnnHandle_t handle,
        cudnnBatchNormMode_t mode,
        cudnnBatchNormOps_t bnOps,
        const void *alpha,
        const void *beta,
        const cudnnTensorDescriptor_t xDesc,
        const void *xData,
        const cudnnTensorDescriptor_t zDesc,
        const void *zData,
        const cudnnTensorDescriptor_t yDesc,
        void *yData,
        const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
        const void *bnScale,
        const void *bnBias,
        double exponentialAverageFactor,
        void *resultRunningMean,
        void *resultRunningVariance,
        double epsilon,
        void *resultSaveMean,
        void *resultSaveInvVariance,
        cudnnActivationDescriptor_t activationDesc,
        void *workspace,
        size_t workSpaceSizeInBytes,
        void *reserveSpace,
        size_t reserveSpaceSizeInBytes);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR

    in      handle                    cudnnHandle_t
    in      mode                      cudnnBatchNormMode_t
    in      bnOps                     cudnnBatchNormOps_t
    in      alpha                     one number on the host, as yDesc says
    in      beta                      one number on the host, as yDesc says
    in      xDesc                     cudnnTensorDescriptor_t
    in      xData                     device memory, as xDesc says
    in      zDesc                     cudnnTensorDescriptor_t
    in      zData                     device memory, as zDesc says
    in      yDesc                     cudnnTensorDescriptor_t
    in/out  yData                     device memory, as yDesc says
    in      bnScaleBiasMeanVarDesc    cudnnTensorDescriptor_t
    in      bnScale                   device memory, as bnScaleBiasMeanVarDesc says
    in      bnBias                    device memory, as bnScaleBiasMeanVarDesc says
    in      exponentialAverageFactor  double
    in/out  resultRunningMean         device memory, as bnScaleBiasMeanVarDesc says
    in/out  resultRunningVariance     device memory, as bnScaleBiasMeanVarDesc says
    in      epsilon                   double
    out     resultSaveMean            device memory, as bnScaleBiasMeanVarDesc says
    out     resultSaveInvVariance     device memory, as bnScaleBiasMeanVarDesc says
    in      activationDesc            cudnnActivationDescriptor_t
    in/out  workspace                 device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes      size_t
    in/out  reserveSpace              device memory, as reserveSpaceSizeInBytes says
    in      reserveSpaceSizeInBytes   size_t

    used by batch_normalization_forward_training_ex
    example: examples/14_fused_residual_block.py
    """

@declared
def cudnnBatchNormalizationBackward(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    alphaDataDiff: HostScalar,
    betaDataDiff: HostScalar,
    alphaParamDiff: HostScalar,
    betaParamDiff: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    dxDesc: Handle[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
    dBnScaleBiasDesc: Handle[cudnnTensorDescriptor_t],
    bnScale: DeviceMemory,
    dBnScaleResult: DeviceMemory,
    dBnBiasResult: DeviceMemory,
    epsilon: Real,
    savedMean: DeviceMemory,
    savedInvVariance: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBatchNormalizationBackward(
        cudnnHandle_t handle,
        cudnnBatchNormMode_t mode,
        const void *alphaDataDiff,
        const void *betaDataDiff,
        const void *alphaParamDiff,
        const void *betaParamDiff,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const cudnnTensorDescriptor_t dxDesc,
        void *dx,
        const cudnnTensorDescriptor_t dBnScaleBiasDesc,
        const void *bnScale,
        void *dBnScaleResult,
        void *dBnBiasResult,
        double epsilon,
        const void *savedMean,
        const void *savedInvVariance);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR

    in      handle            cudnnHandle_t
    in      mode              cudnnBatchNormMode_t
    in      alphaDataDiff     one number on the host, as dxDesc says
    in      betaDataDiff      one number on the host, as dxDesc says
    in      alphaParamDiff    one number on the host, as dxDesc says
    in      betaParamDiff     one number on the host, as dxDesc says
    in      xDesc             cudnnTensorDescriptor_t, not NULL
    in      x                 device memory, as xDesc says
    in      dyDesc            cudnnTensorDescriptor_t, not NULL
    in      dy                device memory, as dyDesc says
    in      dxDesc            cudnnTensorDescriptor_t, not NULL
    in/out  dx                device memory, as dxDesc says
    in      dBnScaleBiasDesc  cudnnTensorDescriptor_t, not NULL
    in      bnScale           device memory, as dBnScaleBiasDesc says
    in/out  dBnScaleResult    device memory, as dBnScaleBiasDesc says
    in/out  dBnBiasResult     device memory, as dBnScaleBiasDesc says
    in      epsilon           double
    in      savedMean         device memory, as dBnScaleBiasDesc says
    in      savedInvVariance  device memory, as dBnScaleBiasDesc says

    used by batch_normalization_backward
    example: examples/08_batch_norm.py
    """

@declared
def cudnnBatchNormalizationBackwardEx(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnBatchNormMode_t],
    bnOps: EnumValue[cudnnBatchNormOps_t],
    alphaDataDiff: HostScalar,
    betaDataDiff: HostScalar,
    alphaParamDiff: HostScalar,
    betaParamDiff: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    xData: DeviceMemory,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    yData: DeviceMemory,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    dyData: DeviceMemory,
    dzDesc: Descriptor[cudnnTensorDescriptor_t],
    dzData: DeviceMemory,
    dxDesc: Handle[cudnnTensorDescriptor_t],
    dxData: DeviceMemory,
    dBnScaleBiasDesc: Handle[cudnnTensorDescriptor_t],
    bnScaleData: DeviceMemory,
    bnBiasData: DeviceMemory,
    dBnScaleData: DeviceMemory,
    dBnBiasData: DeviceMemory,
    epsilon: Real,
    savedMean: DeviceMemory,
    savedInvVariance: DeviceMemory,
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    workSpace: DeviceMemory,
    workSpaceSizeInBytes: Int,
    reserveSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBatchNormalizationBackwardEx(
        cudnnHandle_t handle,
        cudnnBatchNormMode_t mode,
        cudnnBatchNormOps_t bnOps,
        const void *alphaDataDiff,
        const void *betaDataDiff,
        const void *alphaParamDiff,
        const void *betaParamDiff,
        const cudnnTensorDescriptor_t xDesc,
        const void *xData,
        const cudnnTensorDescriptor_t yDesc,
        const void *yData,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dyData,
        const cudnnTensorDescriptor_t dzDesc,
        void *dzData,
        const cudnnTensorDescriptor_t dxDesc,
        void *dxData,
        const cudnnTensorDescriptor_t dBnScaleBiasDesc,
        const void *bnScaleData,
        const void *bnBiasData,
        void *dBnScaleData,
        void *dBnBiasData,
        double epsilon,
        const void *savedMean,
        const void *savedInvVariance,
        cudnnActivationDescriptor_t activationDesc,
        void *workSpace,
        size_t workSpaceSizeInBytes,
        void *reserveSpace,
        size_t reserveSpaceSizeInBytes);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR

    in      handle                   cudnnHandle_t
    in      mode                     cudnnBatchNormMode_t
    in      bnOps                    cudnnBatchNormOps_t
    in      alphaDataDiff            one number on the host, as dxDesc says
    in      betaDataDiff             one number on the host, as dxDesc says
    in      alphaParamDiff           one number on the host, as dxDesc says
    in      betaParamDiff            one number on the host, as dxDesc says
    in      xDesc                    cudnnTensorDescriptor_t, not NULL
    in      xData                    device memory, as xDesc says
    in      yDesc                    cudnnTensorDescriptor_t
    in      yData                    device memory, as yDesc says
    in      dyDesc                   cudnnTensorDescriptor_t, not NULL
    in      dyData                   device memory, as dyDesc says
    in      dzDesc                   cudnnTensorDescriptor_t
    in/out  dzData                   device memory, as dzDesc says
    in      dxDesc                   cudnnTensorDescriptor_t, not NULL
    in/out  dxData                   device memory, as dxDesc says
    in      dBnScaleBiasDesc         cudnnTensorDescriptor_t, not NULL
    in      bnScaleData              device memory, as dBnScaleBiasDesc says
    in      bnBiasData               device memory, as dBnScaleBiasDesc says
    in/out  dBnScaleData             device memory, as dBnScaleBiasDesc says
    in/out  dBnBiasData              device memory, as dBnScaleBiasDesc says
    in      epsilon                  double
    in      savedMean                device memory, as dBnScaleBiasDesc says
    in      savedInvVariance         device memory, as dBnScaleBiasDesc says
    in      activationDesc           cudnnActivationDescriptor_t
    in/out  workSpace                device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes     size_t
    in/out  reserveSpace             device memory, as reserveSpaceSizeInBytes says
    in      reserveSpaceSizeInBytes  size_t

    used by batch_normalization_backward_ex
    example: examples/14_fused_residual_block.py
    """

@declared
def cudnnGetNormalizationForwardTrainingWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    zDesc: Descriptor[cudnnTensorDescriptor_t],
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    normScaleBiasDesc: Descriptor[cudnnTensorDescriptor_t],
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    normMeanVarDesc: Descriptor[cudnnTensorDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
    groupCnt: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetNormalizationForwardTrainingWorkspaceSize(
        cudnnHandle_t handle,
        cudnnNormMode_t mode,
        cudnnNormOps_t normOps,
        cudnnNormAlgo_t algo,
        const cudnnTensorDescriptor_t xDesc,
        const cudnnTensorDescriptor_t zDesc,
        const cudnnTensorDescriptor_t yDesc,
        const cudnnTensorDescriptor_t normScaleBiasDesc,
        const cudnnActivationDescriptor_t activationDesc,
        const cudnnTensorDescriptor_t normMeanVarDesc,
        size_t *sizeInBytes,
        int groupCnt);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE

    in   handle             cudnnHandle_t
    in   mode               cudnnNormMode_t
    in   normOps            cudnnNormOps_t
    in   algo               cudnnNormAlgo_t
    in   xDesc              cudnnTensorDescriptor_t
    in   zDesc              cudnnTensorDescriptor_t
    in   yDesc              cudnnTensorDescriptor_t
    in   normScaleBiasDesc  cudnnTensorDescriptor_t
    in   activationDesc     cudnnActivationDescriptor_t
    in   normMeanVarDesc    cudnnTensorDescriptor_t
    out  sizeInBytes        pointer to size_t
    in   groupCnt           int

    used by normalization_backward, normalization_forward_inference
    """

@declared
def cudnnGetNormalizationBackwardWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    dyDesc: Descriptor[cudnnTensorDescriptor_t],
    dzDesc: Descriptor[cudnnTensorDescriptor_t],
    dxDesc: Descriptor[cudnnTensorDescriptor_t],
    dNormScaleBiasDesc: Descriptor[cudnnTensorDescriptor_t],
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    normMeanVarDesc: Descriptor[cudnnTensorDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
    groupCnt: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetNormalizationBackwardWorkspaceSize(
        cudnnHandle_t handle,
        cudnnNormMode_t mode,
        cudnnNormOps_t normOps,
        cudnnNormAlgo_t algo,
        const cudnnTensorDescriptor_t xDesc,
        const cudnnTensorDescriptor_t yDesc,
        const cudnnTensorDescriptor_t dyDesc,
        const cudnnTensorDescriptor_t dzDesc,
        const cudnnTensorDescriptor_t dxDesc,
        const cudnnTensorDescriptor_t dNormScaleBiasDesc,
        const cudnnActivationDescriptor_t activationDesc,
        const cudnnTensorDescriptor_t normMeanVarDesc,
        size_t *sizeInBytes,
        int groupCnt);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE

    in   handle              cudnnHandle_t
    in   mode                cudnnNormMode_t
    in   normOps             cudnnNormOps_t
    in   algo                cudnnNormAlgo_t
    in   xDesc               cudnnTensorDescriptor_t
    in   yDesc               cudnnTensorDescriptor_t
    in   dyDesc              cudnnTensorDescriptor_t
    in   dzDesc              cudnnTensorDescriptor_t
    in   dxDesc              cudnnTensorDescriptor_t
    in   dNormScaleBiasDesc  cudnnTensorDescriptor_t
    in   activationDesc      cudnnActivationDescriptor_t
    in   normMeanVarDesc     cudnnTensorDescriptor_t
    out  sizeInBytes         pointer to size_t
    in   groupCnt            int

    used by normalization_backward, normalization_forward_inference
    """

@declared
def cudnnGetNormalizationTrainingReserveSpaceSize(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
    groupCnt: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetNormalizationTrainingReserveSpaceSize(
        cudnnHandle_t handle,
        cudnnNormMode_t mode,
        cudnnNormOps_t normOps,
        cudnnNormAlgo_t algo,
        const cudnnActivationDescriptor_t activationDesc,
        const cudnnTensorDescriptor_t xDesc,
        size_t *sizeInBytes,
        int groupCnt);

    cudnn_ops.h, since 9.0.0, deprecated

    in   handle          cudnnHandle_t
    in   mode            cudnnNormMode_t
    in   normOps         cudnnNormOps_t
    in   algo            cudnnNormAlgo_t
    in   activationDesc  cudnnActivationDescriptor_t
    in   xDesc           cudnnTensorDescriptor_t
    out  sizeInBytes     pointer to size_t
    in   groupCnt        int

    used by normalization_backward, normalization_forward_inference
    """

@declared
def cudnnNormalizationForwardTraining(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    alpha: HostScalar,
    beta: HostScalar,
    xDesc: Descriptor[cudnnTensorDescriptor_t],
    xData: DeviceMemory,
    normScaleBiasDesc: Descriptor[cudnnTensorDescriptor_t],
    normScale: DeviceMemory,
    normBias: DeviceMemory,
    exponentialAverageFactor: Real,
    normMeanVarDesc: Descriptor[cudnnTensorDescriptor_t],
    resultRunningMean: DeviceMemory,
    resultRunningVariance: DeviceMemory,
    epsilon: Real,
    resultSaveMean: DeviceMemory,
    resultSaveInvVariance: DeviceMemory,
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    zDesc: Descriptor[cudnnTensorDescriptor_t],
    zData: DeviceMemory,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    yData: DeviceMemory,
    workspace: DeviceMemory,
    workSpaceSizeInBytes: Int,
    reserveSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
    groupCnt: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnNormalizationForwardTraining(
        cudnnHandle_t handle,
        cudnnNormMode_t mode,
        cudnnNormOps_t normOps,
        cudnnNormAlgo_t algo,
        const void *alpha,
        const void *beta,
        const cudnnTensorDescriptor_t xDesc,
        const void *xData,
        const cudnnTensorDescriptor_t normScaleBiasDesc,
        const void *normScale,
        const void *normBias,
        double exponentialAverageFactor,
        const cudnnTensorDescriptor_t normMeanVarDesc,
        void *resultRunningMean,
        void *resultRunningVariance,
        double epsilon,
        void *resultSaveMean,
        void *resultSaveInvVariance,
        cudnnActivationDescriptor_t activationDesc,
        const cudnnTensorDescriptor_t zDesc,
        const void *zData,
        const cudnnTensorDescriptor_t yDesc,
        void *yData,
        void *workspace,
        size_t workSpaceSizeInBytes,
        void *reserveSpace,
        size_t reserveSpaceSizeInBytes,
        int groupCnt);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR

    in      handle                    cudnnHandle_t
    in      mode                      cudnnNormMode_t
    in      normOps                   cudnnNormOps_t
    in      algo                      cudnnNormAlgo_t
    in      alpha                     one number on the host, as yDesc says
    in      beta                      one number on the host, as yDesc says
    in      xDesc                     cudnnTensorDescriptor_t
    in      xData                     device memory, as xDesc says
    in      normScaleBiasDesc         cudnnTensorDescriptor_t
    in      normScale                 device memory, as normScaleBiasDesc says
    in      normBias                  device memory, as normScaleBiasDesc says
    in      exponentialAverageFactor  double
    in      normMeanVarDesc           cudnnTensorDescriptor_t
    in/out  resultRunningMean         device memory, as normMeanVarDesc says
    in/out  resultRunningVariance     device memory, as normMeanVarDesc says
    in      epsilon                   double
    out     resultSaveMean            device memory, as normMeanVarDesc says
    out     resultSaveInvVariance     device memory, as normMeanVarDesc says
    in      activationDesc            cudnnActivationDescriptor_t
    in      zDesc                     cudnnTensorDescriptor_t
    in      zData                     device memory, as zDesc says
    in      yDesc                     cudnnTensorDescriptor_t
    in/out  yData                     device memory, as yDesc says
    in/out  workspace                 device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes      size_t
    in/out  reserveSpace              device memory, as reserveSpaceSizeInBytes says
    in      reserveSpaceSizeInBytes   size_t
    in      groupCnt                  int

    used by normalization_forward_training
    """

@declared
def cudnnNormalizationBackward(
    handle: Handle[cudnnHandle_t],
    mode: EnumValue[cudnnNormMode_t],
    normOps: EnumValue[cudnnNormOps_t],
    algo: EnumValue[cudnnNormAlgo_t],
    alphaDataDiff: HostScalar,
    betaDataDiff: HostScalar,
    alphaParamDiff: HostScalar,
    betaParamDiff: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    xData: DeviceMemory,
    yDesc: Descriptor[cudnnTensorDescriptor_t],
    yData: DeviceMemory,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    dyData: DeviceMemory,
    dzDesc: Descriptor[cudnnTensorDescriptor_t],
    dzData: DeviceMemory,
    dxDesc: Handle[cudnnTensorDescriptor_t],
    dxData: DeviceMemory,
    dNormScaleBiasDesc: Handle[cudnnTensorDescriptor_t],
    normScaleData: DeviceMemory,
    normBiasData: DeviceMemory,
    dNormScaleData: DeviceMemory,
    dNormBiasData: DeviceMemory,
    epsilon: Real,
    normMeanVarDesc: Handle[cudnnTensorDescriptor_t],
    savedMean: DeviceMemory,
    savedInvVariance: DeviceMemory,
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
    workSpace: DeviceMemory,
    workSpaceSizeInBytes: Int,
    reserveSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
    groupCnt: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnNormalizationBackward(
        cudnnHandle_t handle,
        cudnnNormMode_t mode,
        cudnnNormOps_t normOps,
        cudnnNormAlgo_t algo,
        const void *alphaDataDiff,
        const void *betaDataDiff,
        const void *alphaParamDiff,
        const void *betaParamDiff,
        const cudnnTensorDescriptor_t xDesc,
        const void *xData,
        const cudnnTensorDescriptor_t yDesc,
        const void *yData,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dyData,
        const cudnnTensorDescriptor_t dzDesc,
        void *dzData,
        const cudnnTensorDescriptor_t dxDesc,
        void *dxData,
        const cudnnTensorDescriptor_t dNormScaleBiasDesc,
        const void *normScaleData,
        const void *normBiasData,
        void *dNormScaleData,
        void *dNormBiasData,
        double epsilon,
        const cudnnTensorDescriptor_t normMeanVarDesc,
        const void *savedMean,
        const void *savedInvVariance,
        cudnnActivationDescriptor_t activationDesc,
        void *workSpace,
        size_t workSpaceSizeInBytes,
        void *reserveSpace,
        size_t reserveSpaceSizeInBytes,
        int groupCnt);

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR

    in      handle                   cudnnHandle_t
    in      mode                     cudnnNormMode_t
    in      normOps                  cudnnNormOps_t
    in      algo                     cudnnNormAlgo_t
    in      alphaDataDiff            one number on the host, as dxDesc says
    in      betaDataDiff             one number on the host, as dxDesc says
    in      alphaParamDiff           one number on the host, as dxDesc says
    in      betaParamDiff            one number on the host, as dxDesc says
    in      xDesc                    cudnnTensorDescriptor_t, not NULL
    in      xData                    device memory, as xDesc says
    in      yDesc                    cudnnTensorDescriptor_t
    in      yData                    device memory, as yDesc says
    in      dyDesc                   cudnnTensorDescriptor_t, not NULL
    in      dyData                   device memory, as dyDesc says
    in      dzDesc                   cudnnTensorDescriptor_t
    in/out  dzData                   device memory, as dzDesc says
    in      dxDesc                   cudnnTensorDescriptor_t, not NULL
    in/out  dxData                   device memory, as dxDesc says
    in      dNormScaleBiasDesc       cudnnTensorDescriptor_t, not NULL
    in      normScaleData            device memory, as dNormScaleBiasDesc says
    in      normBiasData             device memory, as dNormScaleBiasDesc says, NULL if no normOps
    in/out  dNormScaleData           device memory, as dNormScaleBiasDesc says
    in/out  dNormBiasData            device memory, as dNormScaleBiasDesc says
    in      epsilon                  double
    in      normMeanVarDesc          cudnnTensorDescriptor_t, not NULL
    in      savedMean                device memory, as normMeanVarDesc says
    in      savedInvVariance         device memory, as normMeanVarDesc says
    in      activationDesc           cudnnActivationDescriptor_t
    in/out  workSpace                device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes     size_t
    in/out  reserveSpace             device memory, as reserveSpaceSizeInBytes says
    in      reserveSpaceSizeInBytes  size_t
    in      groupCnt                 int

    used by normalization_backward
    """

@declared
def cudnnSpatialTfGridGeneratorBackward(
    handle: Handle[cudnnHandle_t],
    stDesc: Handle[cudnnSpatialTransformerDescriptor_t],
    dgrid: DeviceMemory,
    dtheta: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSpatialTfGridGeneratorBackward(
        cudnnHandle_t handle,
        const cudnnSpatialTransformerDescriptor_t stDesc,
        const void *dgrid,
        void *dtheta);

    cudnn_ops.h, since 9.0.0

    in   handle  cudnnHandle_t
    in   stDesc  cudnnSpatialTransformerDescriptor_t, not NULL
    in   dgrid   device memory
    out  dtheta  device memory

    used by spatial_tf_grid_generator_backward
    """

@declared
def cudnnSpatialTfSamplerBackward(
    handle: Handle[cudnnHandle_t],
    stDesc: Handle[cudnnSpatialTransformerDescriptor_t],
    alpha: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    beta: HostScalar,
    dxDesc: Handle[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
    alphaDgrid: HostScalar,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    grid: DeviceMemory,
    betaDgrid: HostScalar,
    dgrid: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSpatialTfSamplerBackward(
        cudnnHandle_t handle,
        cudnnSpatialTransformerDescriptor_t stDesc,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const void *beta,
        const cudnnTensorDescriptor_t dxDesc,
        void *dx,
        const void *alphaDgrid,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const void *grid,
        const void *betaDgrid,
        void *dgrid);

    cudnn_ops.h, since 9.0.0

    in      handle      cudnnHandle_t
    in      stDesc      cudnnSpatialTransformerDescriptor_t, not NULL
    in      alpha       one number on the host, as dxDesc says
    in      xDesc       cudnnTensorDescriptor_t, not NULL
    in      x           device memory, as xDesc says
    in      beta        one number on the host, as dxDesc says
    in      dxDesc      cudnnTensorDescriptor_t, not NULL
    in/out  dx          device memory, as dxDesc says
    in      alphaDgrid  one number on the host, as dxDesc says
    in      dyDesc      cudnnTensorDescriptor_t, not NULL
    in      dy          device memory, as dyDesc says
    in      grid        device memory
    in      betaDgrid   one number on the host, as dxDesc says
    in/out  dgrid       device memory

    used by spatial_tf_sampler_backward
    """

@declared
def cudnnDropoutBackward(
    handle: Handle[cudnnHandle_t],
    dropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
    dydesc: Handle[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    dxdesc: Handle[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
    reserveSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDropoutBackward(
        cudnnHandle_t handle,
        const cudnnDropoutDescriptor_t dropoutDesc,
        const cudnnTensorDescriptor_t dydesc,
        const void *dy,
        const cudnnTensorDescriptor_t dxdesc,
        void *dx,
        void *reserveSpace,
        size_t reserveSpaceSizeInBytes);

    cudnn_ops.h, since 9.0.0

    in   handle                   cudnnHandle_t
    in   dropoutDesc              cudnnDropoutDescriptor_t
    in   dydesc                   cudnnTensorDescriptor_t, not NULL
    in   dy                       device memory, as dydesc says
    in   dxdesc                   cudnnTensorDescriptor_t, not NULL
    out  dx                       device memory, as dxdesc says
    in   reserveSpace             device memory, as reserveSpaceSizeInBytes says
    in   reserveSpaceSizeInBytes  size_t

    used by dropout_backward
    """

@declared
def cudnnCreateConvolutionDescriptor(
    convDesc: NewHandle[cudnnConvolutionDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateConvolutionDescriptor(
        cudnnConvolutionDescriptor_t *convDesc);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR

    out  convDesc  pointer to cudnnConvolutionDescriptor_t

    used by ConvolutionDescriptor
    example: examples/01_smallest_program.py
    """

@declared
def cudnnDestroyConvolutionDescriptor(
    convDesc: Descriptor[cudnnConvolutionDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyConvolutionDescriptor(
        cudnnConvolutionDescriptor_t convDesc);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR

    in  convDesc  cudnnConvolutionDescriptor_t

    used by ConvolutionDescriptor
    example: examples/01_smallest_program.py
    """

@declared
def cudnnSetConvolutionMathType(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    mathType: EnumValue[cudnnMathType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetConvolutionMathType(
        cudnnConvolutionDescriptor_t convDesc,
        cudnnMathType_t mathType);

    cudnn_cnn.h, since 9.0.0, deprecated

    in/out  convDesc  cudnnConvolutionDescriptor_t
    in      mathType  cudnnMathType_t

    used by ConvolutionDescriptor.math_type
    example: examples/05_algorithms.py
    """

@declared
def cudnnGetConvolutionMathType(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    mathType: EnumPointer[cudnnMathType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionMathType(
        cudnnConvolutionDescriptor_t convDesc,
        cudnnMathType_t *mathType);

    cudnn_cnn.h, since 9.0.0, deprecated

    in   convDesc  cudnnConvolutionDescriptor_t
    out  mathType  pointer to cudnnMathType_t, not NULL

    used by ConvolutionDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnSetConvolutionGroupCount(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    groupCount: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetConvolutionGroupCount(
        cudnnConvolutionDescriptor_t convDesc,
        int groupCount);

    cudnn_cnn.h, since 9.0.0, deprecated

    in/out  convDesc    cudnnConvolutionDescriptor_t
    in      groupCount  int

    used by ConvolutionDescriptor.groups
    """

@declared
def cudnnGetConvolutionGroupCount(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    groupCount: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionGroupCount(
        cudnnConvolutionDescriptor_t convDesc,
        int *groupCount);

    cudnn_cnn.h, since 9.0.0, deprecated

    in   convDesc    cudnnConvolutionDescriptor_t
    out  groupCount  pointer to int, not NULL

    used by ConvolutionDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnSetConvolutionReorderType(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    reorderType: EnumValue[cudnnReorderType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetConvolutionReorderType(
        cudnnConvolutionDescriptor_t convDesc,
        cudnnReorderType_t reorderType);

    cudnn_cnn.h, since 9.0.0, deprecated

    in/out  convDesc     cudnnConvolutionDescriptor_t
    in      reorderType  cudnnReorderType_t

    used by ConvolutionDescriptor.reorder_type
    """

@declared
def cudnnGetConvolutionReorderType(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    reorderType: EnumPointer[cudnnReorderType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionReorderType(
        cudnnConvolutionDescriptor_t convDesc,
        cudnnReorderType_t *reorderType);

    cudnn_cnn.h, since 9.0.0, deprecated

    in   convDesc     cudnnConvolutionDescriptor_t
    out  reorderType  pointer to cudnnReorderType_t

    used by ConvolutionDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnSetConvolution2dDescriptor(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    pad_h: Int,
    pad_w: Int,
    u: Int,
    v: Int,
    dilation_h: Int,
    dilation_w: Int,
    mode: EnumValue[cudnnConvolutionMode_t],
    computeType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetConvolution2dDescriptor(
        cudnnConvolutionDescriptor_t convDesc,
        int pad_h,
        int pad_w,
        int u,
        int v,
        int dilation_h,
        int dilation_w,
        cudnnConvolutionMode_t mode,
        cudnnDataType_t computeType);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR

    in/out  convDesc     cudnnConvolutionDescriptor_t
    in      pad_h        int
    in      pad_w        int
    in      u            int
    in      v            int
    in      dilation_h   int
    in      dilation_w   int
    in      mode         cudnnConvolutionMode_t
    in      computeType  cudnnDataType_t

    used by ConvolutionDescriptor.set_2d
    example: examples/01_smallest_program.py
    """

@declared
def cudnnGetConvolution2dDescriptor(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    pad_h: Pointer[c_int],
    pad_w: Pointer[c_int],
    u: Pointer[c_int],
    v: Pointer[c_int],
    dilation_h: Pointer[c_int],
    dilation_w: Pointer[c_int],
    mode: EnumPointer[cudnnConvolutionMode_t],
    computeType: EnumPointer[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolution2dDescriptor(
        const cudnnConvolutionDescriptor_t convDesc,
        int *pad_h,
        int *pad_w,
        int *u,
        int *v,
        int *dilation_h,
        int *dilation_w,
        cudnnConvolutionMode_t *mode,
        cudnnDataType_t *computeType);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR

    in   convDesc     cudnnConvolutionDescriptor_t
    out  pad_h        pointer to int, not NULL
    out  pad_w        pointer to int, not NULL
    out  u            pointer to int, not NULL
    out  v            pointer to int, not NULL
    out  dilation_h   pointer to int, not NULL
    out  dilation_w   pointer to int, not NULL
    out  mode         pointer to cudnnConvolutionMode_t, not NULL
    out  computeType  pointer to cudnnDataType_t, not NULL

    used by ConvolutionDescriptor.get_2d
    """

@declared
def cudnnSetConvolutionNdDescriptor(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    arrayLength: Int,
    padA: IntArray[c_int],
    filterStrideA: IntArray[c_int],
    dilationA: IntArray[c_int],
    mode: EnumValue[cudnnConvolutionMode_t],
    computeType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetConvolutionNdDescriptor(
        cudnnConvolutionDescriptor_t convDesc,
        int arrayLength,
        const int padA[],
        const int filterStrideA[],
        const int dilationA[],
        cudnnConvolutionMode_t mode,
        cudnnDataType_t computeType);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR

    in/out  convDesc       cudnnConvolutionDescriptor_t
    in      arrayLength    int
    in      padA           array of arrayLength int, not NULL
    in      filterStrideA  array of arrayLength int, not NULL
    in      dilationA      array of arrayLength int, not NULL
    in      mode           cudnnConvolutionMode_t
    in      computeType    cudnnDataType_t

    used by ConvolutionDescriptor.set_nd
    """

@declared
def cudnnGetConvolutionNdDescriptor(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    arrayLengthRequested: Int,
    arrayLength: Pointer[c_int],
    padA: FilledIntArray[c_int],
    strideA: FilledIntArray[c_int],
    dilationA: FilledIntArray[c_int],
    mode: EnumPointer[cudnnConvolutionMode_t],
    computeType: EnumPointer[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionNdDescriptor(
        const cudnnConvolutionDescriptor_t convDesc,
        int arrayLengthRequested,
        int *arrayLength,
        int padA[],
        int strideA[],
        int dilationA[],
        cudnnConvolutionMode_t *mode,
        cudnnDataType_t *computeType);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR

    in   convDesc              cudnnConvolutionDescriptor_t
    in   arrayLengthRequested  int
    out  arrayLength           pointer to int, not NULL
    out  padA                  array of arrayLengthRequested int, not NULL
    out  strideA               array of arrayLengthRequested int, not NULL
    out  dilationA             array of arrayLengthRequested int, not NULL
    out  mode                  pointer to cudnnConvolutionMode_t, not NULL
    out  computeType           pointer to cudnnDataType_t, not NULL

    used by ConvolutionDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnGetConvolution2dForwardOutputDim(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    inputTensorDesc: Handle[cudnnTensorDescriptor_t],
    filterDesc: Handle[cudnnFilterDescriptor_t],
    n: Pointer[c_int],
    c: Pointer[c_int],
    h: Pointer[c_int],
    w: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t inputTensorDesc,
        const cudnnFilterDescriptor_t filterDesc,
        int *n,
        int *c,
        int *h,
        int *w);

    cudnn_cnn.h, since 9.0.0, deprecated

    in   convDesc         cudnnConvolutionDescriptor_t
    in   inputTensorDesc  cudnnTensorDescriptor_t
    in   filterDesc       cudnnFilterDescriptor_t
    out  n                pointer to int, not NULL
    out  c                pointer to int, not NULL
    out  h                pointer to int, not NULL
    out  w                pointer to int, not NULL

    used by ConvolutionDescriptor.output_shape
    example: examples/01_smallest_program.py
    """

@declared
def cudnnGetConvolutionNdForwardOutputDim(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    inputTensorDesc: Handle[cudnnTensorDescriptor_t],
    filterDesc: Handle[cudnnFilterDescriptor_t],
    nbDims: Int,
    tensorOuputDimA: FilledIntArray[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t inputTensorDesc,
        const cudnnFilterDescriptor_t filterDesc,
        int nbDims,
        int tensorOuputDimA[]);

    cudnn_cnn.h, since 9.0.0, deprecated

    in   convDesc         cudnnConvolutionDescriptor_t
    in   inputTensorDesc  cudnnTensorDescriptor_t
    in   filterDesc       cudnnFilterDescriptor_t
    in   nbDims           int
    out  tensorOuputDimA  array of nbDims int

    used by ConvolutionDescriptor.output_shape
    example: examples/03_convolution.py
    """

@declared
def cudnnGetConvolutionForwardAlgorithmMaxCount(
    handle: Handle[cudnnHandle_t],
    count: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(
        cudnnHandle_t handle,
        int *count);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in   handle  cudnnHandle_t
    out  count   pointer to int, not NULL

    used by ConvolutionForward
    example: examples/03_convolution.py
    """

@declared
def cudnnGetConvolutionForwardAlgorithm_v7(
    handle: Handle[cudnnHandle_t],
    srcDesc: Handle[cudnnTensorDescriptor_t],
    filterDesc: Handle[cudnnFilterDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    destDesc: Handle[cudnnTensorDescriptor_t],
    requestedAlgoCount: Int,
    returnedAlgoCount: Pointer[c_int],
    perfResults: FilledArray[cudnnConvolutionFwdAlgoPerf_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t srcDesc,
        const cudnnFilterDescriptor_t filterDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t destDesc,
        const int requestedAlgoCount,
        int *returnedAlgoCount,
        cudnnConvolutionFwdAlgoPerf_t perfResults[]);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in   handle              cudnnHandle_t
    in   srcDesc             cudnnTensorDescriptor_t
    in   filterDesc          cudnnFilterDescriptor_t
    in   convDesc            cudnnConvolutionDescriptor_t
    in   destDesc            cudnnTensorDescriptor_t
    in   requestedAlgoCount  int
    out  returnedAlgoCount   pointer to int
    out  perfResults         array of requestedAlgoCount cudnnConvolutionFwdAlgoPerf_t, not NULL

    used by ConvolutionForward
    example: examples/01_smallest_program.py
    """

@declared
def cudnnFindConvolutionForwardAlgorithm(
    handle: Handle[cudnnHandle_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    wDesc: Handle[cudnnFilterDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    yDesc: Handle[cudnnTensorDescriptor_t],
    requestedAlgoCount: Int,
    returnedAlgoCount: Pointer[c_int],
    perfResults: FilledArray[cudnnConvolutionFwdAlgoPerf_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFindConvolutionForwardAlgorithm(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t xDesc,
        const cudnnFilterDescriptor_t wDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t yDesc,
        const int requestedAlgoCount,
        int *returnedAlgoCount,
        cudnnConvolutionFwdAlgoPerf_t perfResults[]);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in   handle              cudnnHandle_t
    in   xDesc               cudnnTensorDescriptor_t
    in   wDesc               cudnnFilterDescriptor_t
    in   convDesc            cudnnConvolutionDescriptor_t
    in   yDesc               cudnnTensorDescriptor_t
    in   requestedAlgoCount  int
    out  returnedAlgoCount   pointer to int
    out  perfResults         array of requestedAlgoCount cudnnConvolutionFwdAlgoPerf_t

    used by ConvolutionForward
    example: examples/03_convolution.py
    """

@declared
def cudnnFindConvolutionForwardAlgorithmEx(
    handle: Handle[cudnnHandle_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    wDesc: Handle[cudnnFilterDescriptor_t],
    w: DeviceMemory,
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    yDesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    requestedAlgoCount: Int,
    returnedAlgoCount: Pointer[c_int],
    perfResults: FilledArray[cudnnConvolutionFwdAlgoPerf_t],
    workSpace: DeviceMemory,
    workSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnFilterDescriptor_t wDesc,
        const void *w,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t yDesc,
        void *y,
        const int requestedAlgoCount,
        int *returnedAlgoCount,
        cudnnConvolutionFwdAlgoPerf_t perfResults[],
        void *workSpace,
        size_t workSpaceSizeInBytes);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in      handle                cudnnHandle_t
    in      xDesc                 cudnnTensorDescriptor_t
    in      x                     device memory, as xDesc says
    in      wDesc                 cudnnFilterDescriptor_t
    in      w                     device memory, as wDesc says
    in      convDesc              cudnnConvolutionDescriptor_t
    in      yDesc                 cudnnTensorDescriptor_t
    out     y                     device memory, as yDesc says
    in      requestedAlgoCount    int
    out     returnedAlgoCount     pointer to int
    out     perfResults           array of requestedAlgoCount cudnnConvolutionFwdAlgoPerf_t
    in/out  workSpace             device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes  size_t

    used by ConvolutionForward
    example: examples/03_convolution.py
    """

@declared
def cudnnIm2Col(
    handle: Handle[cudnnHandle_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    wDesc: Handle[cudnnFilterDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    colBuffer: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnIm2Col(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnFilterDescriptor_t wDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        void *colBuffer);

    cudnn_cnn.h, since 9.0.0, deprecated

    in   handle     cudnnHandle_t
    in   xDesc      cudnnTensorDescriptor_t, not NULL
    in   x          device memory, as xDesc says
    in   wDesc      cudnnFilterDescriptor_t, not NULL
    in   convDesc   cudnnConvolutionDescriptor_t, not NULL
    out  colBuffer  device memory

    used by im2col
    """

@declared
def cudnnReorderFilterAndBias(
    handle: Handle[cudnnHandle_t],
    filterDesc: Descriptor[cudnnFilterDescriptor_t],
    reorderType: EnumValue[cudnnReorderType_t],
    filterData: DeviceMemory,
    reorderedFilterData: DeviceMemory,
    reorderBias: Int,
    biasData: DeviceMemory,
    reorderedBiasData: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnReorderFilterAndBias(
        cudnnHandle_t handle,
        const cudnnFilterDescriptor_t filterDesc,
        cudnnReorderType_t reorderType,
        const void *filterData,
        void *reorderedFilterData,
        int reorderBias,
        const void *biasData,
        void *reorderedBiasData);

    cudnn_cnn.h, since 9.0.0, deprecated

    in   handle               cudnnHandle_t
    in   filterDesc           cudnnFilterDescriptor_t
    in   reorderType          cudnnReorderType_t
    in   filterData           device memory, as filterDesc says
    out  reorderedFilterData  device memory, as filterDesc says
    in   reorderBias          int
    in   biasData             device memory
    out  reorderedBiasData    device memory

    used by reorder_filter_and_bias
    """

@declared
def cudnnGetConvolutionForwardWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    wDesc: Handle[cudnnFilterDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    yDesc: Handle[cudnnTensorDescriptor_t],
    algo: EnumValue[cudnnConvolutionFwdAlgo_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t xDesc,
        const cudnnFilterDescriptor_t wDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t yDesc,
        cudnnConvolutionFwdAlgo_t algo,
        size_t *sizeInBytes);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE

    in   handle       cudnnHandle_t
    in   xDesc        cudnnTensorDescriptor_t
    in   wDesc        cudnnFilterDescriptor_t
    in   convDesc     cudnnConvolutionDescriptor_t
    in   yDesc        cudnnTensorDescriptor_t
    in   algo         cudnnConvolutionFwdAlgo_t
    out  sizeInBytes  pointer to size_t

    used by ConvolutionForward
    example: examples/02_convolution_raw.py
    """

@declared
def cudnnConvolutionForward(
    handle: Handle[cudnnHandle_t],
    alpha: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    wDesc: Handle[cudnnFilterDescriptor_t],
    w: DeviceMemory,
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    algo: EnumValue[cudnnConvolutionFwdAlgo_t],
    workSpace: DeviceMemory,
    workSpaceSizeInBytes: Int,
    beta: HostScalar,
    yDesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnConvolutionForward(
        cudnnHandle_t handle,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnFilterDescriptor_t wDesc,
        const void *w,
        const cudnnConvolutionDescriptor_t convDesc,
        cudnnConvolutionFwdAlgo_t algo,
        void *workSpace,
        size_t workSpaceSizeInBytes,
        const void *beta,
        const cudnnTensorDescriptor_t yDesc,
        void *y);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR

    in      handle                cudnnHandle_t
    in      alpha                 one number on the host, as yDesc says
    in      xDesc                 cudnnTensorDescriptor_t
    in      x                     device memory, as xDesc says
    in      wDesc                 cudnnFilterDescriptor_t
    in      w                     device memory, as wDesc says
    in      convDesc              cudnnConvolutionDescriptor_t
    in      algo                  cudnnConvolutionFwdAlgo_t
    in/out  workSpace             device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes  size_t
    in      beta                  one number on the host, as yDesc says
    in      yDesc                 cudnnTensorDescriptor_t
    in/out  y                     device memory, as yDesc says

    used by ConvolutionForward
    example: examples/02_convolution_raw.py
    """

@declared
def cudnnConvolutionBiasActivationForward(
    handle: Handle[cudnnHandle_t],
    alpha1: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    wDesc: Handle[cudnnFilterDescriptor_t],
    w: DeviceMemory,
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    algo: EnumValue[cudnnConvolutionFwdAlgo_t],
    workSpace: DeviceMemory,
    workSpaceSizeInBytes: Int,
    alpha2: HostScalar,
    zDesc: Descriptor[cudnnTensorDescriptor_t],
    z: DeviceMemory,
    biasDesc: Handle[cudnnTensorDescriptor_t],
    bias: DeviceMemory,
    activationDesc: Handle[cudnnActivationDescriptor_t],
    yDesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnConvolutionBiasActivationForward(
        cudnnHandle_t handle,
        const void *alpha1,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnFilterDescriptor_t wDesc,
        const void *w,
        const cudnnConvolutionDescriptor_t convDesc,
        cudnnConvolutionFwdAlgo_t algo,
        void *workSpace,
        size_t workSpaceSizeInBytes,
        const void *alpha2,
        const cudnnTensorDescriptor_t zDesc,
        const void *z,
        const cudnnTensorDescriptor_t biasDesc,
        const void *bias,
        const cudnnActivationDescriptor_t activationDesc,
        const cudnnTensorDescriptor_t yDesc,
        void *y);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR

    in      handle                cudnnHandle_t
    in      alpha1                one number on the host, as yDesc says
    in      xDesc                 cudnnTensorDescriptor_t
    in      x                     device memory, as xDesc says
    in      wDesc                 cudnnFilterDescriptor_t
    in      w                     device memory, as wDesc says
    in      convDesc              cudnnConvolutionDescriptor_t
    in      algo                  cudnnConvolutionFwdAlgo_t
    in/out  workSpace             device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes  size_t
    in      alpha2                one number on the host, as yDesc says
    in      zDesc                 cudnnTensorDescriptor_t
    in      z                     device memory, as zDesc says
    in      biasDesc              cudnnTensorDescriptor_t
    in      bias                  device memory, as biasDesc says
    in      activationDesc        cudnnActivationDescriptor_t
    in      yDesc                 cudnnTensorDescriptor_t
    in/out  y                     device memory, as yDesc says

    used by convolution_bias_activation_forward
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnGetConvolutionBackwardDataAlgorithmMaxCount(
    handle: Handle[cudnnHandle_t],
    count: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(
        cudnnHandle_t handle,
        int *count);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in   handle  cudnnHandle_t
    out  count   pointer to int, not NULL

    used by ConvolutionBackwardData
    """

@declared
def cudnnFindConvolutionBackwardDataAlgorithm(
    handle: Handle[cudnnHandle_t],
    wDesc: Handle[cudnnFilterDescriptor_t],
    dyDesc: Handle[cudnnTensorDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    dxDesc: Handle[cudnnTensorDescriptor_t],
    requestedAlgoCount: Int,
    returnedAlgoCount: Pointer[c_int],
    perfResults: FilledArray[cudnnConvolutionBwdDataAlgoPerf_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithm(
        cudnnHandle_t handle,
        const cudnnFilterDescriptor_t wDesc,
        const cudnnTensorDescriptor_t dyDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t dxDesc,
        const int requestedAlgoCount,
        int *returnedAlgoCount,
        cudnnConvolutionBwdDataAlgoPerf_t perfResults[]);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in   handle              cudnnHandle_t
    in   wDesc               cudnnFilterDescriptor_t
    in   dyDesc              cudnnTensorDescriptor_t
    in   convDesc            cudnnConvolutionDescriptor_t
    in   dxDesc              cudnnTensorDescriptor_t
    in   requestedAlgoCount  int
    out  returnedAlgoCount   pointer to int
    out  perfResults         array of requestedAlgoCount cudnnConvolutionBwdDataAlgoPerf_t

    used by ConvolutionBackwardData
    """

@declared
def cudnnFindConvolutionBackwardDataAlgorithmEx(
    handle: Handle[cudnnHandle_t],
    wDesc: Handle[cudnnFilterDescriptor_t],
    w: DeviceMemory,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    dxDesc: Handle[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
    requestedAlgoCount: Int,
    returnedAlgoCount: Pointer[c_int],
    perfResults: FilledArray[cudnnConvolutionBwdDataAlgoPerf_t],
    workSpace: DeviceMemory,
    workSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
        cudnnHandle_t handle,
        const cudnnFilterDescriptor_t wDesc,
        const void *w,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t dxDesc,
        void *dx,
        const int requestedAlgoCount,
        int *returnedAlgoCount,
        cudnnConvolutionBwdDataAlgoPerf_t perfResults[],
        void *workSpace,
        size_t workSpaceSizeInBytes);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in      handle                cudnnHandle_t
    in      wDesc                 cudnnFilterDescriptor_t
    in      w                     device memory, as wDesc says
    in      dyDesc                cudnnTensorDescriptor_t
    in      dy                    device memory, as dyDesc says
    in      convDesc              cudnnConvolutionDescriptor_t
    in      dxDesc                cudnnTensorDescriptor_t
    out     dx                    device memory, as dxDesc says
    in      requestedAlgoCount    int
    out     returnedAlgoCount     pointer to int
    out     perfResults           array of requestedAlgoCount cudnnConvolutionBwdDataAlgoPerf_t
    in/out  workSpace             device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes  size_t

    used by ConvolutionBackwardData
    """

@declared
def cudnnGetConvolutionBackwardDataAlgorithm_v7(
    handle: Handle[cudnnHandle_t],
    filterDesc: Handle[cudnnFilterDescriptor_t],
    diffDesc: Handle[cudnnTensorDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    gradDesc: Handle[cudnnTensorDescriptor_t],
    requestedAlgoCount: Int,
    returnedAlgoCount: Pointer[c_int],
    perfResults: FilledArray[cudnnConvolutionBwdDataAlgoPerf_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
        cudnnHandle_t handle,
        const cudnnFilterDescriptor_t filterDesc,
        const cudnnTensorDescriptor_t diffDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t gradDesc,
        const int requestedAlgoCount,
        int *returnedAlgoCount,
        cudnnConvolutionBwdDataAlgoPerf_t perfResults[]);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in   handle              cudnnHandle_t
    in   filterDesc          cudnnFilterDescriptor_t
    in   diffDesc            cudnnTensorDescriptor_t
    in   convDesc            cudnnConvolutionDescriptor_t
    in   gradDesc            cudnnTensorDescriptor_t
    in   requestedAlgoCount  int
    out  returnedAlgoCount   pointer to int
    out  perfResults         array of requestedAlgoCount cudnnConvolutionBwdDataAlgoPerf_t, not NULL

    used by ConvolutionBackwardData
    """

@declared
def cudnnGetConvolutionBackwardDataWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    wDesc: Handle[cudnnFilterDescriptor_t],
    dyDesc: Handle[cudnnTensorDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    dxDesc: Handle[cudnnTensorDescriptor_t],
    algo: EnumValue[cudnnConvolutionBwdDataAlgo_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
        cudnnHandle_t handle,
        const cudnnFilterDescriptor_t wDesc,
        const cudnnTensorDescriptor_t dyDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t dxDesc,
        cudnnConvolutionBwdDataAlgo_t algo,
        size_t *sizeInBytes);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE

    in   handle       cudnnHandle_t
    in   wDesc        cudnnFilterDescriptor_t
    in   dyDesc       cudnnTensorDescriptor_t
    in   convDesc     cudnnConvolutionDescriptor_t
    in   dxDesc       cudnnTensorDescriptor_t
    in   algo         cudnnConvolutionBwdDataAlgo_t
    out  sizeInBytes  pointer to size_t

    used by ConvolutionBackwardData
    """

@declared
def cudnnConvolutionBackwardData(
    handle: Handle[cudnnHandle_t],
    alpha: HostScalar,
    wDesc: Handle[cudnnFilterDescriptor_t],
    w: DeviceMemory,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    algo: EnumValue[cudnnConvolutionBwdDataAlgo_t],
    workSpace: DeviceMemory,
    workSpaceSizeInBytes: Int,
    beta: HostScalar,
    dxDesc: Handle[cudnnTensorDescriptor_t],
    dx: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnConvolutionBackwardData(
        cudnnHandle_t handle,
        const void *alpha,
        const cudnnFilterDescriptor_t wDesc,
        const void *w,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const cudnnConvolutionDescriptor_t convDesc,
        cudnnConvolutionBwdDataAlgo_t algo,
        void *workSpace,
        size_t workSpaceSizeInBytes,
        const void *beta,
        const cudnnTensorDescriptor_t dxDesc,
        void *dx);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR

    in      handle                cudnnHandle_t
    in      alpha                 one number on the host, as dxDesc says
    in      wDesc                 cudnnFilterDescriptor_t
    in      w                     device memory, as wDesc says
    in      dyDesc                cudnnTensorDescriptor_t
    in      dy                    device memory, as dyDesc says
    in      convDesc              cudnnConvolutionDescriptor_t
    in      algo                  cudnnConvolutionBwdDataAlgo_t
    in/out  workSpace             device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes  size_t
    in      beta                  one number on the host, as dxDesc says
    in      dxDesc                cudnnTensorDescriptor_t
    in/out  dx                    device memory, as dxDesc says

    used by ConvolutionBackwardData
    """

@declared
def cudnnGetFoldedConvBackwardDataDescriptors(
    handle: Handle[cudnnHandle_t],
    filterDesc: Descriptor[cudnnFilterDescriptor_t],
    diffDesc: Descriptor[cudnnTensorDescriptor_t],
    convDesc: Descriptor[cudnnConvolutionDescriptor_t],
    gradDesc: Descriptor[cudnnTensorDescriptor_t],
    transformFormat: EnumValue[cudnnTensorFormat_t],
    foldedFilterDesc: Descriptor[cudnnFilterDescriptor_t],
    paddedDiffDesc: Descriptor[cudnnTensorDescriptor_t],
    foldedConvDesc: Descriptor[cudnnConvolutionDescriptor_t],
    foldedGradDesc: Descriptor[cudnnTensorDescriptor_t],
    filterFoldTransDesc: Descriptor[cudnnTensorTransformDescriptor_t],
    diffPadTransDesc: Descriptor[cudnnTensorTransformDescriptor_t],
    gradFoldTransDesc: Descriptor[cudnnTensorTransformDescriptor_t],
    gradUnfoldTransDesc: Descriptor[cudnnTensorTransformDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetFoldedConvBackwardDataDescriptors(
        const cudnnHandle_t handle,
        const cudnnFilterDescriptor_t filterDesc,
        const cudnnTensorDescriptor_t diffDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnTensorDescriptor_t gradDesc,
        const cudnnTensorFormat_t transformFormat,
        cudnnFilterDescriptor_t foldedFilterDesc,
        cudnnTensorDescriptor_t paddedDiffDesc,
        cudnnConvolutionDescriptor_t foldedConvDesc,
        cudnnTensorDescriptor_t foldedGradDesc,
        cudnnTensorTransformDescriptor_t filterFoldTransDesc,
        cudnnTensorTransformDescriptor_t diffPadTransDesc,
        cudnnTensorTransformDescriptor_t gradFoldTransDesc,
        cudnnTensorTransformDescriptor_t gradUnfoldTransDesc);

    cudnn_cnn.h, since 9.0.0, deprecated

    in   handle               cudnnHandle_t
    in   filterDesc           cudnnFilterDescriptor_t
    in   diffDesc             cudnnTensorDescriptor_t
    in   convDesc             cudnnConvolutionDescriptor_t
    in   gradDesc             cudnnTensorDescriptor_t
    in   transformFormat      cudnnTensorFormat_t
    out  foldedFilterDesc     cudnnFilterDescriptor_t
    out  paddedDiffDesc       cudnnTensorDescriptor_t
    out  foldedConvDesc       cudnnConvolutionDescriptor_t
    out  foldedGradDesc       cudnnTensorDescriptor_t
    out  filterFoldTransDesc  cudnnTensorTransformDescriptor_t
    out  diffPadTransDesc     cudnnTensorTransformDescriptor_t
    out  gradFoldTransDesc    cudnnTensorTransformDescriptor_t
    out  gradUnfoldTransDesc  cudnnTensorTransformDescriptor_t

    used by folded_backward_data
    """

@declared
def cudnnCnnVersionCheck() -> cudnnStatus_t:
    """cudnnStatus_t cudnnCnnVersionCheck(void);

    cudnn_cnn.h, since 9.0.0

    used by check_sublibraries
    """

@declared
def cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(
    handle: Handle[cudnnHandle_t],
    count: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(
        cudnnHandle_t handle,
        int *count);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in   handle  cudnnHandle_t
    out  count   pointer to int, not NULL

    used by ConvolutionBackwardFilter
    """

@declared
def cudnnFindConvolutionBackwardFilterAlgorithm(
    handle: Handle[cudnnHandle_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    dyDesc: Handle[cudnnTensorDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    dwDesc: Handle[cudnnFilterDescriptor_t],
    requestedAlgoCount: Int,
    returnedAlgoCount: Pointer[c_int],
    perfResults: FilledArray[cudnnConvolutionBwdFilterAlgoPerf_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithm(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t xDesc,
        const cudnnTensorDescriptor_t dyDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnFilterDescriptor_t dwDesc,
        const int requestedAlgoCount,
        int *returnedAlgoCount,
        cudnnConvolutionBwdFilterAlgoPerf_t perfResults[]);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in   handle              cudnnHandle_t
    in   xDesc               cudnnTensorDescriptor_t
    in   dyDesc              cudnnTensorDescriptor_t
    in   convDesc            cudnnConvolutionDescriptor_t
    in   dwDesc              cudnnFilterDescriptor_t
    in   requestedAlgoCount  int
    out  returnedAlgoCount   pointer to int
    out  perfResults         array of requestedAlgoCount cudnnConvolutionBwdFilterAlgoPerf_t

    used by ConvolutionBackwardFilter
    """

@declared
def cudnnFindConvolutionBackwardFilterAlgorithmEx(
    handle: Handle[cudnnHandle_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    y: DeviceMemory,
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    dwDesc: Handle[cudnnFilterDescriptor_t],
    dw: DeviceMemory,
    requestedAlgoCount: Int,
    returnedAlgoCount: Pointer[c_int],
    perfResults: FilledArray[cudnnConvolutionBwdFilterAlgoPerf_t],
    workSpace: DeviceMemory,
    workSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnTensorDescriptor_t dyDesc,
        const void *y,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnFilterDescriptor_t dwDesc,
        void *dw,
        const int requestedAlgoCount,
        int *returnedAlgoCount,
        cudnnConvolutionBwdFilterAlgoPerf_t perfResults[],
        void *workSpace,
        size_t workSpaceSizeInBytes);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in      handle                cudnnHandle_t
    in      xDesc                 cudnnTensorDescriptor_t
    in      x                     device memory, as xDesc says
    in      dyDesc                cudnnTensorDescriptor_t
    in      y                     device memory, as dyDesc says
    in      convDesc              cudnnConvolutionDescriptor_t
    in      dwDesc                cudnnFilterDescriptor_t
    out     dw                    device memory, as dwDesc says
    in      requestedAlgoCount    int
    out     returnedAlgoCount     pointer to int
    out     perfResults           array of requestedAlgoCount cudnnConvolutionBwdFilterAlgoPerf_t
    in/out  workSpace             device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes  size_t

    used by ConvolutionBackwardFilter
    """

@declared
def cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    handle: Handle[cudnnHandle_t],
    srcDesc: Handle[cudnnTensorDescriptor_t],
    diffDesc: Handle[cudnnTensorDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    gradDesc: Handle[cudnnFilterDescriptor_t],
    requestedAlgoCount: Int,
    returnedAlgoCount: Pointer[c_int],
    perfResults: FilledArray[cudnnConvolutionBwdFilterAlgoPerf_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t srcDesc,
        const cudnnTensorDescriptor_t diffDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnFilterDescriptor_t gradDesc,
        const int requestedAlgoCount,
        int *returnedAlgoCount,
        cudnnConvolutionBwdFilterAlgoPerf_t perfResults[]);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR

    in   handle              cudnnHandle_t
    in   srcDesc             cudnnTensorDescriptor_t
    in   diffDesc            cudnnTensorDescriptor_t
    in   convDesc            cudnnConvolutionDescriptor_t
    in   gradDesc            cudnnFilterDescriptor_t
    in   requestedAlgoCount  int
    out  returnedAlgoCount   pointer to int
    out  perfResults         array of requestedAlgoCount cudnnConvolutionBwdFilterAlgoPerf_t, not NULL

    used by ConvolutionBackwardFilter
    """

@declared
def cudnnGetConvolutionBackwardFilterWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    dyDesc: Handle[cudnnTensorDescriptor_t],
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    gradDesc: Handle[cudnnFilterDescriptor_t],
    algo: EnumValue[cudnnConvolutionBwdFilterAlgo_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t xDesc,
        const cudnnTensorDescriptor_t dyDesc,
        const cudnnConvolutionDescriptor_t convDesc,
        const cudnnFilterDescriptor_t gradDesc,
        cudnnConvolutionBwdFilterAlgo_t algo,
        size_t *sizeInBytes);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE

    in   handle       cudnnHandle_t
    in   xDesc        cudnnTensorDescriptor_t
    in   dyDesc       cudnnTensorDescriptor_t
    in   convDesc     cudnnConvolutionDescriptor_t
    in   gradDesc     cudnnFilterDescriptor_t
    in   algo         cudnnConvolutionBwdFilterAlgo_t
    out  sizeInBytes  pointer to size_t

    used by ConvolutionBackwardFilter
    """

@declared
def cudnnConvolutionBackwardFilter(
    handle: Handle[cudnnHandle_t],
    alpha: HostScalar,
    xDesc: Handle[cudnnTensorDescriptor_t],
    x: DeviceMemory,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    algo: EnumValue[cudnnConvolutionBwdFilterAlgo_t],
    workSpace: DeviceMemory,
    workSpaceSizeInBytes: Int,
    beta: HostScalar,
    dwDesc: Handle[cudnnFilterDescriptor_t],
    dw: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnConvolutionBackwardFilter(
        cudnnHandle_t handle,
        const void *alpha,
        const cudnnTensorDescriptor_t xDesc,
        const void *x,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const cudnnConvolutionDescriptor_t convDesc,
        cudnnConvolutionBwdFilterAlgo_t algo,
        void *workSpace,
        size_t workSpaceSizeInBytes,
        const void *beta,
        const cudnnFilterDescriptor_t dwDesc,
        void *dw);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR

    in      handle                cudnnHandle_t
    in      alpha                 one number on the host, as dwDesc says
    in      xDesc                 cudnnTensorDescriptor_t
    in      x                     device memory, as xDesc says
    in      dyDesc                cudnnTensorDescriptor_t
    in      dy                    device memory, as dyDesc says
    in      convDesc              cudnnConvolutionDescriptor_t
    in      algo                  cudnnConvolutionBwdFilterAlgo_t
    in/out  workSpace             device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes  size_t
    in      beta                  one number on the host, as dwDesc says
    in      dwDesc                cudnnFilterDescriptor_t
    in/out  dw                    device memory, as dwDesc says

    used by ConvolutionBackwardFilter
    """

@declared
def cudnnConvolutionBackwardBias(
    handle: Handle[cudnnHandle_t],
    alpha: HostScalar,
    dyDesc: Handle[cudnnTensorDescriptor_t],
    dy: DeviceMemory,
    beta: HostScalar,
    dbDesc: Handle[cudnnTensorDescriptor_t],
    db: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnConvolutionBackwardBias(
        cudnnHandle_t handle,
        const void *alpha,
        const cudnnTensorDescriptor_t dyDesc,
        const void *dy,
        const void *beta,
        const cudnnTensorDescriptor_t dbDesc,
        void *db);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR

    in      handle  cudnnHandle_t
    in      alpha   one number on the host, as dbDesc says
    in      dyDesc  cudnnTensorDescriptor_t
    in      dy      device memory, as dyDesc says
    in      beta    one number on the host, as dbDesc says
    in      dbDesc  cudnnTensorDescriptor_t
    in/out  db      device memory, as dbDesc says

    used by convolution_backward_bias
    example: examples/11_train_on_digits.py
    """

@declared
def cudnnCreateFusedOpsConstParamPack(
    constPack: NewHandle[cudnnFusedOpsConstParamPack_t],
    ops: EnumValue[cudnnFusedOps_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateFusedOpsConstParamPack(
        cudnnFusedOpsConstParamPack_t *constPack,
        cudnnFusedOps_t ops);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR

    out  constPack  pointer to cudnnFusedOpsConstParamPack_t
    in   ops        cudnnFusedOps_t

    used by FusedOpsConstParamPack
    """

@declared
def cudnnDestroyFusedOpsConstParamPack(
    constPack: Descriptor[cudnnFusedOpsConstParamPack_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyFusedOpsConstParamPack(
        cudnnFusedOpsConstParamPack_t constPack);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR

    in  constPack  cudnnFusedOpsConstParamPack_t

    used by FusedOpsConstParamPack
    """

@declared
def cudnnSetFusedOpsConstParamPackAttribute(
    constPack: Handle[cudnnFusedOpsConstParamPack_t],
    paramLabel: EnumValue[cudnnFusedOpsConstParamLabel_t],
    param: Labelled,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetFusedOpsConstParamPackAttribute(
        cudnnFusedOpsConstParamPack_t constPack,
        cudnnFusedOpsConstParamLabel_t paramLabel,
        const void *param);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR

    in/out  constPack   cudnnFusedOpsConstParamPack_t
    in      paramLabel  cudnnFusedOpsConstParamLabel_t
    in      param       host or device memory, or a descriptor, as the label says

    used by FusedOpsConstParamPack.set
    """

@declared
def cudnnGetFusedOpsConstParamPackAttribute(
    constPack: Handle[cudnnFusedOpsConstParamPack_t],
    paramLabel: EnumValue[cudnnFusedOpsConstParamLabel_t],
    param: Labelled,
    isNULL: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetFusedOpsConstParamPackAttribute(
        const cudnnFusedOpsConstParamPack_t constPack,
        cudnnFusedOpsConstParamLabel_t paramLabel,
        void *param,
        int *isNULL);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR

    in   constPack   cudnnFusedOpsConstParamPack_t
    in   paramLabel  cudnnFusedOpsConstParamLabel_t
    out  param       host or device memory, or a descriptor, as the label says
    out  isNULL      pointer to int

    used by FusedOpsConstParamPack.get
    """

@declared
def cudnnCreateFusedOpsVariantParamPack(
    varPack: NewHandle[cudnnFusedOpsVariantParamPack_t],
    ops: EnumValue[cudnnFusedOps_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateFusedOpsVariantParamPack(
        cudnnFusedOpsVariantParamPack_t *varPack,
        cudnnFusedOps_t ops);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR

    out  varPack  pointer to cudnnFusedOpsVariantParamPack_t
    in   ops      cudnnFusedOps_t

    used by FusedOpsVariantParamPack
    """

@declared
def cudnnDestroyFusedOpsVariantParamPack(
    varPack: Descriptor[cudnnFusedOpsVariantParamPack_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyFusedOpsVariantParamPack(
        cudnnFusedOpsVariantParamPack_t varPack);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR

    in  varPack  cudnnFusedOpsVariantParamPack_t

    used by FusedOpsVariantParamPack
    """

@declared
def cudnnSetFusedOpsVariantParamPackAttribute(
    varPack: Handle[cudnnFusedOpsVariantParamPack_t],
    paramLabel: EnumValue[cudnnFusedOpsVariantParamLabel_t],
    ptr: Labelled,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetFusedOpsVariantParamPackAttribute(
        cudnnFusedOpsVariantParamPack_t varPack,
        cudnnFusedOpsVariantParamLabel_t paramLabel,
        void *ptr);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR

    in/out  varPack     cudnnFusedOpsVariantParamPack_t
    in      paramLabel  cudnnFusedOpsVariantParamLabel_t
    in      ptr         host or device memory, or a descriptor, as the label says

    used by FusedOpsVariantParamPack.set
    """

@declared
def cudnnGetFusedOpsVariantParamPackAttribute(
    varPack: Handle[cudnnFusedOpsVariantParamPack_t],
    paramLabel: EnumValue[cudnnFusedOpsVariantParamLabel_t],
    ptr: Labelled,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetFusedOpsVariantParamPackAttribute(
        const cudnnFusedOpsVariantParamPack_t varPack,
        cudnnFusedOpsVariantParamLabel_t paramLabel,
        void *ptr);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR

    in   varPack     cudnnFusedOpsVariantParamPack_t
    in   paramLabel  cudnnFusedOpsVariantParamLabel_t
    out  ptr         host or device memory, or a descriptor, as the label says

    used by FusedOpsVariantParamPack.get
    """

@declared
def cudnnCreateFusedOpsPlan(
    plan: NewHandle[cudnnFusedOpsPlan_t],
    ops: EnumValue[cudnnFusedOps_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateFusedOpsPlan(
        cudnnFusedOpsPlan_t *plan,
        cudnnFusedOps_t ops);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR

    out  plan  pointer to cudnnFusedOpsPlan_t
    in   ops   cudnnFusedOps_t

    used by FusedOpsPlan
    """

@declared
def cudnnDestroyFusedOpsPlan(
    plan: Descriptor[cudnnFusedOpsPlan_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyFusedOpsPlan(cudnnFusedOpsPlan_t plan);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR

    in  plan  cudnnFusedOpsPlan_t

    used by FusedOpsPlan
    """

@declared
def cudnnMakeFusedOpsPlan(
    handle: Handle[cudnnHandle_t],
    plan: Descriptor[cudnnFusedOpsPlan_t],
    constPack: Descriptor[cudnnFusedOpsConstParamPack_t],
    workspaceSizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnMakeFusedOpsPlan(
        cudnnHandle_t handle,
        cudnnFusedOpsPlan_t plan,
        const cudnnFusedOpsConstParamPack_t constPack,
        size_t *workspaceSizeInBytes);

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR

    in      handle                cudnnHandle_t
    in/out  plan                  cudnnFusedOpsPlan_t
    in      constPack             cudnnFusedOpsConstParamPack_t
    out     workspaceSizeInBytes  pointer to size_t

    used by FusedOpsPlan.make
    """

@declared
def cudnnFusedOpsExecute(
    handle: Handle[cudnnHandle_t],
    plan: Handle[cudnnFusedOpsPlan_t],
    varPack: Descriptor[cudnnFusedOpsVariantParamPack_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFusedOpsExecute(
        cudnnHandle_t handle,
        const cudnnFusedOpsPlan_t plan,
        cudnnFusedOpsVariantParamPack_t varPack);

    cudnn_cnn.h, since 9.0.0
    deprecated: use cudnnBackendExecute

    in  handle   cudnnHandle_t
    in  plan     cudnnFusedOpsPlan_t, not NULL
    in  varPack  cudnnFusedOpsVariantParamPack_t

    used by FusedOpsPlan.execute
    """

@declared
def cudnnCreateRNNDescriptor(
    rnnDesc: NewHandle[cudnnRNNDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t *rnnDesc);

    cudnn_adv.h, since 9.0.0

    out  rnnDesc  pointer to cudnnRNNDescriptor_t

    used by RNNDescriptor
    example: examples/09_rnn.py
    """

@declared
def cudnnDestroyRNNDescriptor(
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnnDesc);

    cudnn_adv.h, since 9.0.0

    in  rnnDesc  cudnnRNNDescriptor_t

    used by RNNDescriptor
    example: examples/09_rnn.py
    """

@declared
def cudnnSetRNNDescriptor_v8(
    rnnDesc: Handle[cudnnRNNDescriptor_t],
    algo: EnumValue[cudnnRNNAlgo_t],
    cellMode: EnumValue[cudnnRNNMode_t],
    biasMode: EnumValue[cudnnRNNBiasMode_t],
    dirMode: EnumValue[cudnnDirectionMode_t],
    inputMode: EnumValue[cudnnRNNInputMode_t],
    dataType: EnumValue[cudnnDataType_t],
    mathPrec: EnumValue[cudnnDataType_t],
    mathType: EnumValue[cudnnMathType_t],
    inputSize: Int,
    hiddenSize: Int,
    projSize: Int,
    numLayers: Int,
    dropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
    auxFlags: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetRNNDescriptor_v8(
        cudnnRNNDescriptor_t rnnDesc,
        cudnnRNNAlgo_t algo,
        cudnnRNNMode_t cellMode,
        cudnnRNNBiasMode_t biasMode,
        cudnnDirectionMode_t dirMode,
        cudnnRNNInputMode_t inputMode,
        cudnnDataType_t dataType,
        cudnnDataType_t mathPrec,
        cudnnMathType_t mathType,
        int32_t inputSize,
        int32_t hiddenSize,
        int32_t projSize,
        int32_t numLayers,
        cudnnDropoutDescriptor_t dropoutDesc,
        uint32_t auxFlags);

    cudnn_adv.h, since 9.0.0

    in/out  rnnDesc      cudnnRNNDescriptor_t
    in      algo         cudnnRNNAlgo_t
    in      cellMode     cudnnRNNMode_t
    in      biasMode     cudnnRNNBiasMode_t
    in      dirMode      cudnnDirectionMode_t
    in      inputMode    cudnnRNNInputMode_t
    in      dataType     cudnnDataType_t
    in      mathPrec     cudnnDataType_t
    in      mathType     cudnnMathType_t
    in      inputSize    int32_t
    in      hiddenSize   int32_t
    in      projSize     int32_t
    in      numLayers    int32_t
    in      dropoutDesc  cudnnDropoutDescriptor_t
    in      auxFlags     uint32_t

    used by RNNDescriptor.set
    example: examples/09_rnn.py
    """

@declared
def cudnnGetRNNDescriptor_v8(
    rnnDesc: Handle[cudnnRNNDescriptor_t],
    algo: EnumPointer[cudnnRNNAlgo_t],
    cellMode: EnumPointer[cudnnRNNMode_t],
    biasMode: EnumPointer[cudnnRNNBiasMode_t],
    dirMode: EnumPointer[cudnnDirectionMode_t],
    inputMode: EnumPointer[cudnnRNNInputMode_t],
    dataType: EnumPointer[cudnnDataType_t],
    mathPrec: EnumPointer[cudnnDataType_t],
    mathType: EnumPointer[cudnnMathType_t],
    inputSize: Pointer[c_int32],
    hiddenSize: Pointer[c_int32],
    projSize: Pointer[c_int32],
    numLayers: Pointer[c_int32],
    dropoutDesc: NewHandle[cudnnDropoutDescriptor_t],
    auxFlags: Pointer[c_uint32],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetRNNDescriptor_v8(
        cudnnRNNDescriptor_t rnnDesc,
        cudnnRNNAlgo_t *algo,
        cudnnRNNMode_t *cellMode,
        cudnnRNNBiasMode_t *biasMode,
        cudnnDirectionMode_t *dirMode,
        cudnnRNNInputMode_t *inputMode,
        cudnnDataType_t *dataType,
        cudnnDataType_t *mathPrec,
        cudnnMathType_t *mathType,
        int32_t *inputSize,
        int32_t *hiddenSize,
        int32_t *projSize,
        int32_t *numLayers,
        cudnnDropoutDescriptor_t *dropoutDesc,
        uint32_t *auxFlags);

    cudnn_adv.h, since 9.0.0

    in   rnnDesc      cudnnRNNDescriptor_t
    out  algo         pointer to cudnnRNNAlgo_t
    out  cellMode     pointer to cudnnRNNMode_t
    out  biasMode     pointer to cudnnRNNBiasMode_t
    out  dirMode      pointer to cudnnDirectionMode_t
    out  inputMode    pointer to cudnnRNNInputMode_t
    out  dataType     pointer to cudnnDataType_t
    out  mathPrec     pointer to cudnnDataType_t
    out  mathType     pointer to cudnnMathType_t
    out  inputSize    pointer to int32_t
    out  hiddenSize   pointer to int32_t
    out  projSize     pointer to int32_t
    out  numLayers    pointer to int32_t
    out  dropoutDesc  pointer to cudnnDropoutDescriptor_t
    out  auxFlags     pointer to uint32_t

    used by RNNDescriptor
    example: examples/09_rnn.py
    """

@declared
def cudnnRNNSetClip_v8(
    rnnDesc: Handle[cudnnRNNDescriptor_t],
    clipMode: EnumValue[cudnnRNNClipMode_t],
    clipNanOpt: EnumValue[cudnnNanPropagation_t],
    lclip: Real,
    rclip: Real,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnRNNSetClip_v8(
        cudnnRNNDescriptor_t rnnDesc,
        cudnnRNNClipMode_t clipMode,
        cudnnNanPropagation_t clipNanOpt,
        double lclip,
        double rclip);

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnRNNSetClip_v9

    in/out  rnnDesc     cudnnRNNDescriptor_t
    in      clipMode    cudnnRNNClipMode_t
    in      clipNanOpt  cudnnNanPropagation_t
    in      lclip       double
    in      rclip       double

    used by RNNDescriptor.set_clip_v8
    """

@declared
def cudnnRNNSetClip_v9(
    rnnDesc: Handle[cudnnRNNDescriptor_t],
    clipMode: EnumValue[cudnnRNNClipMode_t],
    lclip: Real,
    rclip: Real,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnRNNSetClip_v9(
        cudnnRNNDescriptor_t rnnDesc,
        cudnnRNNClipMode_t clipMode,
        double lclip,
        double rclip);

    cudnn_adv.h, since 9.0.0

    in/out  rnnDesc   cudnnRNNDescriptor_t
    in      clipMode  cudnnRNNClipMode_t
    in      lclip     double
    in      rclip     double

    used by RNNDescriptor.clip
    """

@declared
def cudnnRNNGetClip_v8(
    rnnDesc: Handle[cudnnRNNDescriptor_t],
    clipMode: EnumPointer[cudnnRNNClipMode_t],
    clipNanOpt: EnumPointer[cudnnNanPropagation_t],
    lclip: Pointer[c_double],
    rclip: Pointer[c_double],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnRNNGetClip_v8(
        cudnnRNNDescriptor_t rnnDesc,
        cudnnRNNClipMode_t *clipMode,
        cudnnNanPropagation_t *clipNanOpt,
        double *lclip,
        double *rclip);

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnRNNGetClip_v9

    in   rnnDesc     cudnnRNNDescriptor_t
    out  clipMode    pointer to cudnnRNNClipMode_t
    out  clipNanOpt  pointer to cudnnNanPropagation_t
    out  lclip       pointer to double
    out  rclip       pointer to double

    used by RNNDescriptor
    example: examples/09_rnn.py
    """

@declared
def cudnnRNNGetClip_v9(
    rnnDesc: Handle[cudnnRNNDescriptor_t],
    clipMode: EnumPointer[cudnnRNNClipMode_t],
    lclip: Pointer[c_double],
    rclip: Pointer[c_double],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnRNNGetClip_v9(
        cudnnRNNDescriptor_t rnnDesc,
        cudnnRNNClipMode_t *clipMode,
        double *lclip,
        double *rclip);

    cudnn_adv.h, since 9.0.0

    in   rnnDesc   cudnnRNNDescriptor_t
    out  clipMode  pointer to cudnnRNNClipMode_t
    out  lclip     pointer to double
    out  rclip     pointer to double
    """

@declared
def cudnnBuildRNNDynamic(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
    miniBatch: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBuildRNNDynamic(
        cudnnHandle_t handle,
        cudnnRNNDescriptor_t rnnDesc,
        int miniBatch);

    cudnn_adv.h, since 9.0.0

    in  handle     cudnnHandle_t
    in  rnnDesc    cudnnRNNDescriptor_t
    in  miniBatch  int

    used by RNNDescriptor.build_dynamic
    """

@declared
def cudnnGetRNNTempSpaceSizes(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
    fwdMode: EnumValue[cudnnForwardMode_t],
    xDesc: Descriptor[cudnnRNNDataDescriptor_t],
    workSpaceSize: Pointer[c_size_t],
    reserveSpaceSize: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetRNNTempSpaceSizes(
        cudnnHandle_t handle,
        cudnnRNNDescriptor_t rnnDesc,
        cudnnForwardMode_t fwdMode,
        cudnnRNNDataDescriptor_t xDesc,
        size_t *workSpaceSize,
        size_t *reserveSpaceSize);

    cudnn_adv.h, since 9.0.0

    in   handle            cudnnHandle_t
    in   rnnDesc           cudnnRNNDescriptor_t
    in   fwdMode           cudnnForwardMode_t
    in   xDesc             cudnnRNNDataDescriptor_t
    out  workSpaceSize     pointer to size_t
    out  reserveSpaceSize  pointer to size_t

    used by RNNDescriptor.temp_space_sizes
    """

@declared
def cudnnGetRNNWeightSpaceSize(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
    weightSpaceSize: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetRNNWeightSpaceSize(
        cudnnHandle_t handle,
        cudnnRNNDescriptor_t rnnDesc,
        size_t *weightSpaceSize);

    cudnn_adv.h, since 9.0.0

    in   handle           cudnnHandle_t
    in   rnnDesc          cudnnRNNDescriptor_t
    out  weightSpaceSize  pointer to size_t

    used by RNNDescriptor.weight_space_size
    example: examples/09_rnn.py
    """

@declared
def cudnnGetRNNWeightParams(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
    pseudoLayer: Int,
    weightSpaceSize: Int,
    weightSpace: DeviceMemory,
    linLayerID: Int,
    mDesc: Descriptor[cudnnTensorDescriptor_t],
    mAddr: Pointer[c_void_p],
    bDesc: Descriptor[cudnnTensorDescriptor_t],
    bAddr: Pointer[c_void_p],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetRNNWeightParams(
        cudnnHandle_t handle,
        cudnnRNNDescriptor_t rnnDesc,
        int32_t pseudoLayer,
        size_t weightSpaceSize,
        const void *weightSpace,
        int32_t linLayerID,
        cudnnTensorDescriptor_t mDesc,
        void **mAddr,
        cudnnTensorDescriptor_t bDesc,
        void **bAddr);

    cudnn_adv.h, since 9.0.0

    in   handle           cudnnHandle_t
    in   rnnDesc          cudnnRNNDescriptor_t
    in   pseudoLayer      int32_t
    in   weightSpaceSize  size_t
    in   weightSpace      device memory, as weightSpaceSize says
    in   linLayerID       int32_t
    out  mDesc            cudnnTensorDescriptor_t
    out  mAddr            pointer to void *
    out  bDesc            cudnnTensorDescriptor_t
    out  bAddr            pointer to void *

    used by rnn_weight_params
    example: examples/09_rnn.py
    """

@declared
def cudnnCreateRNNDataDescriptor(
    rnnDataDesc: NewHandle[cudnnRNNDataDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateRNNDataDescriptor(
        cudnnRNNDataDescriptor_t *rnnDataDesc);

    cudnn_adv.h, since 9.0.0

    out  rnnDataDesc  pointer to cudnnRNNDataDescriptor_t

    used by RNNDataDescriptor
    """

@declared
def cudnnDestroyRNNDataDescriptor(
    rnnDataDesc: Descriptor[cudnnRNNDataDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyRNNDataDescriptor(
        cudnnRNNDataDescriptor_t rnnDataDesc);

    cudnn_adv.h, since 9.0.0

    in  rnnDataDesc  cudnnRNNDataDescriptor_t

    used by RNNDataDescriptor
    """

@declared
def cudnnSetRNNDataDescriptor(
    rnnDataDesc: Handle[cudnnRNNDataDescriptor_t],
    dataType: EnumValue[cudnnDataType_t],
    layout: EnumValue[cudnnRNNDataLayout_t],
    maxSeqLength: Int,
    batchSize: Int,
    vectorSize: Int,
    seqLengthArray: IntArray[c_int],
    paddingFill: HostScalar,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetRNNDataDescriptor(
        cudnnRNNDataDescriptor_t rnnDataDesc,
        cudnnDataType_t dataType,
        cudnnRNNDataLayout_t layout,
        int maxSeqLength,
        int batchSize,
        int vectorSize,
        const int seqLengthArray[],
        void *paddingFill);

    cudnn_adv.h, since 9.0.0

    in/out  rnnDataDesc     cudnnRNNDataDescriptor_t
    in      dataType        cudnnDataType_t
    in      layout          cudnnRNNDataLayout_t
    in      maxSeqLength    int
    in      batchSize       int
    in      vectorSize      int
    in      seqLengthArray  array of batchSize int, not NULL
    in      paddingFill     one number on the host, as dataType says

    used by RNNDataDescriptor.set
    """

@declared
def cudnnGetRNNDataDescriptor(
    rnnDataDesc: Handle[cudnnRNNDataDescriptor_t],
    dataType: EnumPointer[cudnnDataType_t],
    layout: EnumPointer[cudnnRNNDataLayout_t],
    maxSeqLength: Pointer[c_int],
    batchSize: Pointer[c_int],
    vectorSize: Pointer[c_int],
    arrayLengthRequested: Int,
    seqLengthArray: FilledIntArray[c_int],
    paddingFill: HostScalar,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetRNNDataDescriptor(
        cudnnRNNDataDescriptor_t rnnDataDesc,
        cudnnDataType_t *dataType,
        cudnnRNNDataLayout_t *layout,
        int *maxSeqLength,
        int *batchSize,
        int *vectorSize,
        int arrayLengthRequested,
        int seqLengthArray[],
        void *paddingFill);

    cudnn_adv.h, since 9.0.0

    in   rnnDataDesc           cudnnRNNDataDescriptor_t
    out  dataType              pointer to cudnnDataType_t
    out  layout                pointer to cudnnRNNDataLayout_t
    out  maxSeqLength          pointer to int
    out  batchSize             pointer to int
    out  vectorSize            pointer to int
    in   arrayLengthRequested  int
    out  seqLengthArray        array of arrayLengthRequested int
    out  paddingFill           one number on the host, as rnnDataDesc says

    used by RNNDataDescriptor
    """

@declared
def cudnnRNNForward(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
    fwdMode: EnumValue[cudnnForwardMode_t],
    devSeqLengths: DeviceMemory,
    xDesc: Descriptor[cudnnRNNDataDescriptor_t],
    x: DeviceMemory,
    yDesc: Descriptor[cudnnRNNDataDescriptor_t],
    y: DeviceMemory,
    hDesc: Descriptor[cudnnTensorDescriptor_t],
    hx: DeviceMemory,
    hy: DeviceMemory,
    cDesc: Descriptor[cudnnTensorDescriptor_t],
    cx: DeviceMemory,
    cy: DeviceMemory,
    weightSpaceSize: Int,
    weightSpace: DeviceMemory,
    workSpaceSize: Int,
    workSpace: DeviceMemory,
    reserveSpaceSize: Int,
    reserveSpace: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnRNNForward(
        cudnnHandle_t handle,
        cudnnRNNDescriptor_t rnnDesc,
        cudnnForwardMode_t fwdMode,
        const int32_t devSeqLengths[],
        cudnnRNNDataDescriptor_t xDesc,
        const void *x,
        cudnnRNNDataDescriptor_t yDesc,
        void *y,
        cudnnTensorDescriptor_t hDesc,
        const void *hx,
        void *hy,
        cudnnTensorDescriptor_t cDesc,
        const void *cx,
        void *cy,
        size_t weightSpaceSize,
        const void *weightSpace,
        size_t workSpaceSize,
        void *workSpace,
        size_t reserveSpaceSize,
        void *reserveSpace);

    cudnn_adv.h, since 9.0.0

    in      handle            cudnnHandle_t
    in      rnnDesc           cudnnRNNDescriptor_t
    in      fwdMode           cudnnForwardMode_t
    in      devSeqLengths     device memory, int32_t
    in      xDesc             cudnnRNNDataDescriptor_t
    in      x                 device memory, as xDesc says
    in      yDesc             cudnnRNNDataDescriptor_t
    out     y                 device memory, as yDesc says
    in      hDesc             cudnnTensorDescriptor_t
    in      hx                device memory
    out     hy                device memory
    in      cDesc             cudnnTensorDescriptor_t
    in      cx                device memory
    out     cy                device memory
    in      weightSpaceSize   size_t
    in      weightSpace       device memory, as weightSpaceSize says
    in      workSpaceSize     size_t
    in/out  workSpace         device memory, as workSpaceSize says
    in      reserveSpaceSize  size_t
    in/out  reserveSpace      device memory, as reserveSpaceSize says

    used by RNN.forward
    example: examples/09_rnn.py
    """

@declared
def cudnnCreateSeqDataDescriptor(
    seqDataDesc: NewHandle[cudnnSeqDataDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateSeqDataDescriptor(
        cudnnSeqDataDescriptor_t *seqDataDesc);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    out  seqDataDesc  pointer to cudnnSeqDataDescriptor_t

    used by SeqDataDescriptor
    """

@declared
def cudnnDestroySeqDataDescriptor(
    seqDataDesc: Descriptor[cudnnSeqDataDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroySeqDataDescriptor(
        cudnnSeqDataDescriptor_t seqDataDesc);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in  seqDataDesc  cudnnSeqDataDescriptor_t

    used by SeqDataDescriptor
    """

@declared
def cudnnSetSeqDataDescriptor(
    seqDataDesc: Handle[cudnnSeqDataDescriptor_t],
    dataType: EnumValue[cudnnDataType_t],
    nbDims: Int,
    dimA: IntArray[c_int],
    axes: EnumArrayOf[cudnnSeqDataAxis_t],
    seqLengthArraySize: Int,
    seqLengthArray: IntArray[c_int],
    paddingFill: HostScalar,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetSeqDataDescriptor(
        cudnnSeqDataDescriptor_t seqDataDesc,
        cudnnDataType_t dataType,
        int nbDims,
        const int dimA[],
        const cudnnSeqDataAxis_t axes[],
        size_t seqLengthArraySize,
        const int seqLengthArray[],
        void *paddingFill);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in/out  seqDataDesc         cudnnSeqDataDescriptor_t
    in      dataType            cudnnDataType_t
    in      nbDims              int
    in      dimA                array of nbDims int, not NULL
    in      axes                array of nbDims cudnnSeqDataAxis_t, not NULL
    in      seqLengthArraySize  size_t
    in      seqLengthArray      array of seqLengthArraySize int, not NULL
    in      paddingFill         one number on the host, as dataType says

    used by SeqDataDescriptor.set
    """

@declared
def cudnnGetSeqDataDescriptor(
    seqDataDesc: Handle[cudnnSeqDataDescriptor_t],
    dataType: EnumPointer[cudnnDataType_t],
    nbDims: Pointer[c_int],
    nbDimsRequested: Int,
    dimA: FilledIntArray[c_int],
    axes: EnumPointer[cudnnSeqDataAxis_t],
    seqLengthArraySize: Pointer[c_size_t],
    seqLengthSizeRequested: Int,
    seqLengthArray: FilledIntArray[c_int],
    paddingFill: HostScalar,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetSeqDataDescriptor(
        const cudnnSeqDataDescriptor_t seqDataDesc,
        cudnnDataType_t *dataType,
        int *nbDims,
        int nbDimsRequested,
        int dimA[],
        cudnnSeqDataAxis_t axes[],
        size_t *seqLengthArraySize,
        size_t seqLengthSizeRequested,
        int seqLengthArray[],
        void *paddingFill);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR

    in   seqDataDesc             cudnnSeqDataDescriptor_t
    out  dataType                pointer to cudnnDataType_t
    out  nbDims                  pointer to int
    in   nbDimsRequested         int
    out  dimA                    array of nbDimsRequested int
    out  axes                    array of nbDimsRequested cudnnSeqDataAxis_t
    out  seqLengthArraySize      pointer to size_t
    in   seqLengthSizeRequested  size_t
    out  seqLengthArray          array of seqLengthSizeRequested int
    out  paddingFill             one number on the host, as seqDataDesc says

    used by SeqDataDescriptor
    """

@declared
def cudnnCreateAttnDescriptor(
    attnDesc: NewHandle[cudnnAttnDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateAttnDescriptor(cudnnAttnDescriptor_t *attnDesc);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR

    out  attnDesc  pointer to cudnnAttnDescriptor_t

    used by AttnDescriptor
    example: examples/16_attention_step_by_step.py
    """

@declared
def cudnnDestroyAttnDescriptor(
    attnDesc: Descriptor[cudnnAttnDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyAttnDescriptor(cudnnAttnDescriptor_t attnDesc);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR

    in  attnDesc  cudnnAttnDescriptor_t

    used by AttnDescriptor
    example: examples/16_attention_step_by_step.py
    """

@declared
def cudnnSetAttnDescriptor(
    attnDesc: Handle[cudnnAttnDescriptor_t],
    attnMode: Int,
    nHeads: Int,
    smScaler: Real,
    dataType: EnumValue[cudnnDataType_t],
    computePrec: EnumValue[cudnnDataType_t],
    mathType: EnumValue[cudnnMathType_t],
    attnDropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
    postDropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
    qSize: Int,
    kSize: Int,
    vSize: Int,
    qProjSize: Int,
    kProjSize: Int,
    vProjSize: Int,
    oProjSize: Int,
    qoMaxSeqLength: Int,
    kvMaxSeqLength: Int,
    maxBatchSize: Int,
    maxBeamSize: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetAttnDescriptor(
        cudnnAttnDescriptor_t attnDesc,
        unsigned int attnMode,
        int nHeads,
        double smScaler,
        cudnnDataType_t dataType,
        cudnnDataType_t computePrec,
        cudnnMathType_t mathType,
        cudnnDropoutDescriptor_t attnDropoutDesc,
        cudnnDropoutDescriptor_t postDropoutDesc,
        int qSize,
        int kSize,
        int vSize,
        int qProjSize,
        int kProjSize,
        int vProjSize,
        int oProjSize,
        int qoMaxSeqLength,
        int kvMaxSeqLength,
        int maxBatchSize,
        int maxBeamSize);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR

    in/out  attnDesc         cudnnAttnDescriptor_t
    in      attnMode         unsigned int
    in      nHeads           int
    in      smScaler         double
    in      dataType         cudnnDataType_t
    in      computePrec      cudnnDataType_t
    in      mathType         cudnnMathType_t
    in      attnDropoutDesc  cudnnDropoutDescriptor_t
    in      postDropoutDesc  cudnnDropoutDescriptor_t
    in      qSize            int
    in      kSize            int
    in      vSize            int
    in      qProjSize        int
    in      kProjSize        int
    in      vProjSize        int
    in      oProjSize        int
    in      qoMaxSeqLength   int
    in      kvMaxSeqLength   int
    in      maxBatchSize     int
    in      maxBeamSize      int

    used by AttnDescriptor.set
    """

@declared
def cudnnGetAttnDescriptor(
    attnDesc: Handle[cudnnAttnDescriptor_t],
    attnMode: Pointer[c_uint],
    nHeads: Pointer[c_int],
    smScaler: Pointer[c_double],
    dataType: EnumPointer[cudnnDataType_t],
    computePrec: EnumPointer[cudnnDataType_t],
    mathType: EnumPointer[cudnnMathType_t],
    attnDropoutDesc: NewHandle[cudnnDropoutDescriptor_t],
    postDropoutDesc: NewHandle[cudnnDropoutDescriptor_t],
    qSize: Pointer[c_int],
    kSize: Pointer[c_int],
    vSize: Pointer[c_int],
    qProjSize: Pointer[c_int],
    kProjSize: Pointer[c_int],
    vProjSize: Pointer[c_int],
    oProjSize: Pointer[c_int],
    qoMaxSeqLength: Pointer[c_int],
    kvMaxSeqLength: Pointer[c_int],
    maxBatchSize: Pointer[c_int],
    maxBeamSize: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetAttnDescriptor(
        cudnnAttnDescriptor_t attnDesc,
        unsigned int *attnMode,
        int *nHeads,
        double *smScaler,
        cudnnDataType_t *dataType,
        cudnnDataType_t *computePrec,
        cudnnMathType_t *mathType,
        cudnnDropoutDescriptor_t *attnDropoutDesc,
        cudnnDropoutDescriptor_t *postDropoutDesc,
        int *qSize,
        int *kSize,
        int *vSize,
        int *qProjSize,
        int *kProjSize,
        int *vProjSize,
        int *oProjSize,
        int *qoMaxSeqLength,
        int *kvMaxSeqLength,
        int *maxBatchSize,
        int *maxBeamSize);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR

    in   attnDesc         cudnnAttnDescriptor_t
    out  attnMode         pointer to unsigned int
    out  nHeads           pointer to int
    out  smScaler         pointer to double
    out  dataType         pointer to cudnnDataType_t
    out  computePrec      pointer to cudnnDataType_t
    out  mathType         pointer to cudnnMathType_t
    out  attnDropoutDesc  pointer to cudnnDropoutDescriptor_t
    out  postDropoutDesc  pointer to cudnnDropoutDescriptor_t
    out  qSize            pointer to int
    out  kSize            pointer to int
    out  vSize            pointer to int
    out  qProjSize        pointer to int
    out  kProjSize        pointer to int
    out  vProjSize        pointer to int
    out  oProjSize        pointer to int
    out  qoMaxSeqLength   pointer to int
    out  kvMaxSeqLength   pointer to int
    out  maxBatchSize     pointer to int
    out  maxBeamSize      pointer to int

    used by AttnDescriptor
    example: examples/16_attention_step_by_step.py
    """

@declared
def cudnnGetMultiHeadAttnBuffers(
    handle: Handle[cudnnHandle_t],
    attnDesc: Descriptor[cudnnAttnDescriptor_t],
    weightSizeInBytes: Pointer[c_size_t],
    workSpaceSizeInBytes: Pointer[c_size_t],
    reserveSpaceSizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetMultiHeadAttnBuffers(
        cudnnHandle_t handle,
        const cudnnAttnDescriptor_t attnDesc,
        size_t *weightSizeInBytes,
        size_t *workSpaceSizeInBytes,
        size_t *reserveSpaceSizeInBytes);

    cudnn_adv.h, since 9.0.0, deprecated

    in   handle                   cudnnHandle_t
    in   attnDesc                 cudnnAttnDescriptor_t
    out  weightSizeInBytes        pointer to size_t
    out  workSpaceSizeInBytes     pointer to size_t
    out  reserveSpaceSizeInBytes  pointer to size_t

    used by attention_buffer_sizes
    """

@declared
def cudnnGetMultiHeadAttnWeights(
    handle: Handle[cudnnHandle_t],
    attnDesc: Descriptor[cudnnAttnDescriptor_t],
    wKind: EnumValue[cudnnMultiHeadAttnWeightKind_t],
    weightSizeInBytes: Int,
    weights: DeviceMemory,
    wDesc: Descriptor[cudnnTensorDescriptor_t],
    wAddr: Pointer[c_void_p],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetMultiHeadAttnWeights(
        cudnnHandle_t handle,
        const cudnnAttnDescriptor_t attnDesc,
        cudnnMultiHeadAttnWeightKind_t wKind,
        size_t weightSizeInBytes,
        const void *weights,
        cudnnTensorDescriptor_t wDesc,
        void **wAddr);

    cudnn_adv.h, since 9.0.0, deprecated

    in   handle             cudnnHandle_t
    in   attnDesc           cudnnAttnDescriptor_t
    in   wKind              cudnnMultiHeadAttnWeightKind_t
    in   weightSizeInBytes  size_t
    in   weights            device memory, as weightSizeInBytes says
    out  wDesc              cudnnTensorDescriptor_t
    out  wAddr              pointer to void *

    used by AttentionWeights
    example: examples/16_attention_step_by_step.py
    """

@declared
def cudnnMultiHeadAttnForward(
    handle: Handle[cudnnHandle_t],
    attnDesc: Descriptor[cudnnAttnDescriptor_t],
    currIdx: Int,
    loWinIdx: IntArray[c_int],
    hiWinIdx: IntArray[c_int],
    devSeqLengthsQO: DeviceMemory,
    devSeqLengthsKV: DeviceMemory,
    qDesc: Descriptor[cudnnSeqDataDescriptor_t],
    queries: DeviceMemory,
    residuals: DeviceMemory,
    kDesc: Descriptor[cudnnSeqDataDescriptor_t],
    keys: DeviceMemory,
    vDesc: Descriptor[cudnnSeqDataDescriptor_t],
    values: DeviceMemory,
    oDesc: Descriptor[cudnnSeqDataDescriptor_t],
    out: DeviceMemory,
    weightSizeInBytes: Int,
    weights: DeviceMemory,
    workSpaceSizeInBytes: Int,
    workSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
    reserveSpace: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnMultiHeadAttnForward(
        cudnnHandle_t handle,
        const cudnnAttnDescriptor_t attnDesc,
        int currIdx,
        const int loWinIdx[],
        const int hiWinIdx[],
        const int devSeqLengthsQO[],
        const int devSeqLengthsKV[],
        const cudnnSeqDataDescriptor_t qDesc,
        const void *queries,
        const void *residuals,
        const cudnnSeqDataDescriptor_t kDesc,
        const void *keys,
        const cudnnSeqDataDescriptor_t vDesc,
        const void *values,
        const cudnnSeqDataDescriptor_t oDesc,
        void *out,
        size_t weightSizeInBytes,
        const void *weights,
        size_t workSpaceSizeInBytes,
        void *workSpace,
        size_t reserveSpaceSizeInBytes,
        void *reserveSpace);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR

    in      handle                   cudnnHandle_t
    in      attnDesc                 cudnnAttnDescriptor_t
    in      currIdx                  int
    in      loWinIdx                 array of int
    in      hiWinIdx                 array of int
    in      devSeqLengthsQO          device memory, int
    in      devSeqLengthsKV          device memory, int
    in      qDesc                    cudnnSeqDataDescriptor_t
    in      queries                  device memory, as qDesc says
    in      residuals                device memory
    in      kDesc                    cudnnSeqDataDescriptor_t
    in      keys                     device memory, as kDesc says
    in      vDesc                    cudnnSeqDataDescriptor_t
    in      values                   device memory, as vDesc says
    in      oDesc                    cudnnSeqDataDescriptor_t
    out     out                      device memory, as oDesc says
    in      weightSizeInBytes        size_t
    in      weights                  device memory, as weightSizeInBytes says
    in      workSpaceSizeInBytes     size_t
    in/out  workSpace                device memory, as workSpaceSizeInBytes says
    in      reserveSpaceSizeInBytes  size_t
    in/out  reserveSpace             device memory, as reserveSpaceSizeInBytes says

    used by attention_forward, attention_forward_training
    example: examples/16_attention_step_by_step.py
    """

@declared
def cudnnAdvVersionCheck() -> cudnnStatus_t:
    """cudnnStatus_t cudnnAdvVersionCheck(void);

    cudnn_adv.h, since 9.0.0

    used by check_sublibraries
    """

@declared
def cudnnRNNBackwardData_v8(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
    devSeqLengths: DeviceMemory,
    yDesc: Descriptor[cudnnRNNDataDescriptor_t],
    y: DeviceMemory,
    dy: DeviceMemory,
    xDesc: Descriptor[cudnnRNNDataDescriptor_t],
    dx: DeviceMemory,
    hDesc: Descriptor[cudnnTensorDescriptor_t],
    hx: DeviceMemory,
    dhy: DeviceMemory,
    dhx: DeviceMemory,
    cDesc: Descriptor[cudnnTensorDescriptor_t],
    cx: DeviceMemory,
    dcy: DeviceMemory,
    dcx: DeviceMemory,
    weightSpaceSize: Int,
    weightSpace: DeviceMemory,
    workSpaceSize: Int,
    workSpace: DeviceMemory,
    reserveSpaceSize: Int,
    reserveSpace: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnRNNBackwardData_v8(
        cudnnHandle_t handle,
        cudnnRNNDescriptor_t rnnDesc,
        const int32_t devSeqLengths[],
        cudnnRNNDataDescriptor_t yDesc,
        const void *y,
        const void *dy,
        cudnnRNNDataDescriptor_t xDesc,
        void *dx,
        cudnnTensorDescriptor_t hDesc,
        const void *hx,
        const void *dhy,
        void *dhx,
        cudnnTensorDescriptor_t cDesc,
        const void *cx,
        const void *dcy,
        void *dcx,
        size_t weightSpaceSize,
        const void *weightSpace,
        size_t workSpaceSize,
        void *workSpace,
        size_t reserveSpaceSize,
        void *reserveSpace);

    cudnn_adv.h, since 9.0.0

    in      handle            cudnnHandle_t
    in      rnnDesc           cudnnRNNDescriptor_t
    in      devSeqLengths     device memory, int32_t
    in      yDesc             cudnnRNNDataDescriptor_t
    in      y                 device memory, as yDesc says
    in      dy                device memory, as yDesc says
    in      xDesc             cudnnRNNDataDescriptor_t
    out     dx                device memory, as xDesc says
    in      hDesc             cudnnTensorDescriptor_t
    in      hx                device memory
    in      dhy               device memory
    out     dhx               device memory
    in      cDesc             cudnnTensorDescriptor_t
    in      cx                device memory
    in      dcy               device memory
    out     dcx               device memory
    in      weightSpaceSize   size_t
    in      weightSpace       device memory, as weightSpaceSize says
    in      workSpaceSize     size_t
    in/out  workSpace         device memory, as workSpaceSize says
    in      reserveSpaceSize  size_t
    in/out  reserveSpace      device memory, as reserveSpaceSize says

    used by RNN.backward_data
    example: examples/15_character_lstm.py
    """

@declared
def cudnnRNNBackwardWeights_v8(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
    addGrad: EnumValue[cudnnWgradMode_t],
    devSeqLengths: DeviceMemory,
    xDesc: Descriptor[cudnnRNNDataDescriptor_t],
    x: DeviceMemory,
    hDesc: Descriptor[cudnnTensorDescriptor_t],
    hx: DeviceMemory,
    yDesc: Descriptor[cudnnRNNDataDescriptor_t],
    y: DeviceMemory,
    weightSpaceSize: Int,
    dweightSpace: DeviceMemory,
    workSpaceSize: Int,
    workSpace: DeviceMemory,
    reserveSpaceSize: Int,
    reserveSpace: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnRNNBackwardWeights_v8(
        cudnnHandle_t handle,
        cudnnRNNDescriptor_t rnnDesc,
        cudnnWgradMode_t addGrad,
        const int32_t devSeqLengths[],
        cudnnRNNDataDescriptor_t xDesc,
        const void *x,
        cudnnTensorDescriptor_t hDesc,
        const void *hx,
        cudnnRNNDataDescriptor_t yDesc,
        const void *y,
        size_t weightSpaceSize,
        void *dweightSpace,
        size_t workSpaceSize,
        void *workSpace,
        size_t reserveSpaceSize,
        void *reserveSpace);

    cudnn_adv.h, since 9.0.0

    in      handle            cudnnHandle_t
    in      rnnDesc           cudnnRNNDescriptor_t
    in      addGrad           cudnnWgradMode_t
    in      devSeqLengths     device memory, int32_t
    in      xDesc             cudnnRNNDataDescriptor_t
    in      x                 device memory, as xDesc says
    in      hDesc             cudnnTensorDescriptor_t
    in      hx                device memory
    in      yDesc             cudnnRNNDataDescriptor_t
    in      y                 device memory, as yDesc says
    in      weightSpaceSize   size_t
    in/out  dweightSpace      device memory, as weightSpaceSize says
    in      workSpaceSize     size_t
    in/out  workSpace         device memory, as workSpaceSize says
    in      reserveSpaceSize  size_t
    in/out  reserveSpace      device memory, as reserveSpaceSize says

    used by RNN.backward_weights
    example: examples/15_character_lstm.py
    """

@declared
def cudnnMultiHeadAttnBackwardData(
    handle: Handle[cudnnHandle_t],
    attnDesc: Descriptor[cudnnAttnDescriptor_t],
    loWinIdx: IntArray[c_int],
    hiWinIdx: IntArray[c_int],
    devSeqLengthsDQDO: DeviceMemory,
    devSeqLengthsDKDV: DeviceMemory,
    doDesc: Descriptor[cudnnSeqDataDescriptor_t],
    dout: DeviceMemory,
    dqDesc: Descriptor[cudnnSeqDataDescriptor_t],
    dqueries: DeviceMemory,
    queries: DeviceMemory,
    dkDesc: Descriptor[cudnnSeqDataDescriptor_t],
    dkeys: DeviceMemory,
    keys: DeviceMemory,
    dvDesc: Descriptor[cudnnSeqDataDescriptor_t],
    dvalues: DeviceMemory,
    values: DeviceMemory,
    weightSizeInBytes: Int,
    weights: DeviceMemory,
    workSpaceSizeInBytes: Int,
    workSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
    reserveSpace: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnMultiHeadAttnBackwardData(
        cudnnHandle_t handle,
        const cudnnAttnDescriptor_t attnDesc,
        const int loWinIdx[],
        const int hiWinIdx[],
        const int devSeqLengthsDQDO[],
        const int devSeqLengthsDKDV[],
        const cudnnSeqDataDescriptor_t doDesc,
        const void *dout,
        const cudnnSeqDataDescriptor_t dqDesc,
        void *dqueries,
        const void *queries,
        const cudnnSeqDataDescriptor_t dkDesc,
        void *dkeys,
        const void *keys,
        const cudnnSeqDataDescriptor_t dvDesc,
        void *dvalues,
        const void *values,
        size_t weightSizeInBytes,
        const void *weights,
        size_t workSpaceSizeInBytes,
        void *workSpace,
        size_t reserveSpaceSizeInBytes,
        void *reserveSpace);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR

    in      handle                   cudnnHandle_t
    in      attnDesc                 cudnnAttnDescriptor_t
    in      loWinIdx                 array of int
    in      hiWinIdx                 array of int
    in      devSeqLengthsDQDO        device memory, int
    in      devSeqLengthsDKDV        device memory, int
    in      doDesc                   cudnnSeqDataDescriptor_t
    in      dout                     device memory, as doDesc says
    in      dqDesc                   cudnnSeqDataDescriptor_t
    out     dqueries                 device memory, as dqDesc says
    in      queries                  device memory, as dqDesc says
    in      dkDesc                   cudnnSeqDataDescriptor_t
    out     dkeys                    device memory, as dkDesc says
    in      keys                     device memory, as dkDesc says
    in      dvDesc                   cudnnSeqDataDescriptor_t
    out     dvalues                  device memory, as dvDesc says
    in      values                   device memory, as dvDesc says
    in      weightSizeInBytes        size_t
    in      weights                  device memory, as weightSizeInBytes says
    in      workSpaceSizeInBytes     size_t
    in/out  workSpace                device memory, as workSpaceSizeInBytes says
    in      reserveSpaceSizeInBytes  size_t
    in/out  reserveSpace             device memory, as reserveSpaceSizeInBytes says

    used by attention_backward_data
    example: examples/16_attention_step_by_step.py
    """

@declared
def cudnnMultiHeadAttnBackwardWeights(
    handle: Handle[cudnnHandle_t],
    attnDesc: Descriptor[cudnnAttnDescriptor_t],
    addGrad: EnumValue[cudnnWgradMode_t],
    qDesc: Descriptor[cudnnSeqDataDescriptor_t],
    queries: DeviceMemory,
    kDesc: Descriptor[cudnnSeqDataDescriptor_t],
    keys: DeviceMemory,
    vDesc: Descriptor[cudnnSeqDataDescriptor_t],
    values: DeviceMemory,
    doDesc: Descriptor[cudnnSeqDataDescriptor_t],
    dout: DeviceMemory,
    weightSizeInBytes: Int,
    weights: DeviceMemory,
    dweights: DeviceMemory,
    workSpaceSizeInBytes: Int,
    workSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
    reserveSpace: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnMultiHeadAttnBackwardWeights(
        cudnnHandle_t handle,
        const cudnnAttnDescriptor_t attnDesc,
        cudnnWgradMode_t addGrad,
        const cudnnSeqDataDescriptor_t qDesc,
        const void *queries,
        const cudnnSeqDataDescriptor_t kDesc,
        const void *keys,
        const cudnnSeqDataDescriptor_t vDesc,
        const void *values,
        const cudnnSeqDataDescriptor_t doDesc,
        const void *dout,
        size_t weightSizeInBytes,
        const void *weights,
        void *dweights,
        size_t workSpaceSizeInBytes,
        void *workSpace,
        size_t reserveSpaceSizeInBytes,
        void *reserveSpace);

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR

    in      handle                   cudnnHandle_t
    in      attnDesc                 cudnnAttnDescriptor_t
    in      addGrad                  cudnnWgradMode_t
    in      qDesc                    cudnnSeqDataDescriptor_t
    in      queries                  device memory, as qDesc says
    in      kDesc                    cudnnSeqDataDescriptor_t
    in      keys                     device memory, as kDesc says
    in      vDesc                    cudnnSeqDataDescriptor_t
    in      values                   device memory, as vDesc says
    in      doDesc                   cudnnSeqDataDescriptor_t
    in      dout                     device memory, as doDesc says
    in      weightSizeInBytes        size_t
    in      weights                  device memory, as weightSizeInBytes says
    in/out  dweights                 device memory, as weightSizeInBytes says
    in      workSpaceSizeInBytes     size_t
    in/out  workSpace                device memory, as workSpaceSizeInBytes says
    in      reserveSpaceSizeInBytes  size_t
    in/out  reserveSpace             device memory, as reserveSpaceSizeInBytes says

    used by attention_backward_weights
    example: examples/16_attention_step_by_step.py
    """

@declared
def cudnnCreateCTCLossDescriptor(
    ctcLossDesc: NewHandle[cudnnCTCLossDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateCTCLossDescriptor(
        cudnnCTCLossDescriptor_t *ctcLossDesc);

    cudnn_adv.h, since 9.0.0

    out  ctcLossDesc  pointer to cudnnCTCLossDescriptor_t

    used by CTCLossDescriptor
    example: examples/17_ctc.py
    """

@declared
def cudnnSetCTCLossDescriptor(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetCTCLossDescriptor(
        cudnnCTCLossDescriptor_t ctcLossDesc,
        cudnnDataType_t compType);

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnSetCTCLossDescriptor_v9

    in/out  ctcLossDesc  cudnnCTCLossDescriptor_t
    in      compType     cudnnDataType_t

    used by CTCLossDescriptor.set
    """

@declared
def cudnnSetCTCLossDescriptorEx(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumValue[cudnnDataType_t],
    normMode: EnumValue[cudnnLossNormalizationMode_t],
    gradMode: EnumValue[cudnnNanPropagation_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetCTCLossDescriptorEx(
        cudnnCTCLossDescriptor_t ctcLossDesc,
        cudnnDataType_t compType,
        cudnnLossNormalizationMode_t normMode,
        cudnnNanPropagation_t gradMode);

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnSetCTCLossDescriptor_v9

    in/out  ctcLossDesc  cudnnCTCLossDescriptor_t
    in      compType     cudnnDataType_t
    in      normMode     cudnnLossNormalizationMode_t
    in      gradMode     cudnnNanPropagation_t

    used by CTCLossDescriptor.set_ex
    """

@declared
def cudnnSetCTCLossDescriptor_v8(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumValue[cudnnDataType_t],
    normMode: EnumValue[cudnnLossNormalizationMode_t],
    gradMode: EnumValue[cudnnNanPropagation_t],
    maxLabelLength: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetCTCLossDescriptor_v8(
        cudnnCTCLossDescriptor_t ctcLossDesc,
        cudnnDataType_t compType,
        cudnnLossNormalizationMode_t normMode,
        cudnnNanPropagation_t gradMode,
        int maxLabelLength);

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnSetCTCLossDescriptor_v9

    in/out  ctcLossDesc     cudnnCTCLossDescriptor_t
    in      compType        cudnnDataType_t
    in      normMode        cudnnLossNormalizationMode_t
    in      gradMode        cudnnNanPropagation_t
    in      maxLabelLength  int

    used by CTCLossDescriptor.set_v8
    """

@declared
def cudnnSetCTCLossDescriptor_v9(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumValue[cudnnDataType_t],
    normMode: EnumValue[cudnnLossNormalizationMode_t],
    ctcGradMode: EnumValue[cudnnCTCGradMode_t],
    maxLabelLength: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetCTCLossDescriptor_v9(
        cudnnCTCLossDescriptor_t ctcLossDesc,
        cudnnDataType_t compType,
        cudnnLossNormalizationMode_t normMode,
        cudnnCTCGradMode_t ctcGradMode,
        int maxLabelLength);

    cudnn_adv.h, since 9.0.0

    in/out  ctcLossDesc     cudnnCTCLossDescriptor_t
    in      compType        cudnnDataType_t
    in      normMode        cudnnLossNormalizationMode_t
    in      ctcGradMode     cudnnCTCGradMode_t
    in      maxLabelLength  int

    used by CTCLossDescriptor.set_v9
    """

@declared
def cudnnGetCTCLossDescriptor(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumPointer[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCTCLossDescriptor(
        cudnnCTCLossDescriptor_t ctcLossDesc,
        cudnnDataType_t *compType);

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnGetCTCLossDescriptor_v9

    in   ctcLossDesc  cudnnCTCLossDescriptor_t
    out  compType     pointer to cudnnDataType_t
    """

@declared
def cudnnGetCTCLossDescriptorEx(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumPointer[cudnnDataType_t],
    normMode: EnumPointer[cudnnLossNormalizationMode_t],
    gradMode: EnumPointer[cudnnNanPropagation_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCTCLossDescriptorEx(
        cudnnCTCLossDescriptor_t ctcLossDesc,
        cudnnDataType_t *compType,
        cudnnLossNormalizationMode_t *normMode,
        cudnnNanPropagation_t *gradMode);

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnGetCTCLossDescriptor_v9

    in   ctcLossDesc  cudnnCTCLossDescriptor_t
    out  compType     pointer to cudnnDataType_t
    out  normMode     pointer to cudnnLossNormalizationMode_t
    out  gradMode     pointer to cudnnNanPropagation_t
    """

@declared
def cudnnGetCTCLossDescriptor_v8(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumPointer[cudnnDataType_t],
    normMode: EnumPointer[cudnnLossNormalizationMode_t],
    gradMode: EnumPointer[cudnnNanPropagation_t],
    maxLabelLength: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCTCLossDescriptor_v8(
        cudnnCTCLossDescriptor_t ctcLossDesc,
        cudnnDataType_t *compType,
        cudnnLossNormalizationMode_t *normMode,
        cudnnNanPropagation_t *gradMode,
        int *maxLabelLength);

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnGetCTCLossDescriptor_v9

    in   ctcLossDesc     cudnnCTCLossDescriptor_t
    out  compType        pointer to cudnnDataType_t
    out  normMode        pointer to cudnnLossNormalizationMode_t
    out  gradMode        pointer to cudnnNanPropagation_t
    out  maxLabelLength  pointer to int
    """

@declared
def cudnnGetCTCLossDescriptor_v9(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumPointer[cudnnDataType_t],
    normMode: EnumPointer[cudnnLossNormalizationMode_t],
    ctcGradMode: EnumPointer[cudnnCTCGradMode_t],
    maxLabelLength: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCTCLossDescriptor_v9(
        cudnnCTCLossDescriptor_t ctcLossDesc,
        cudnnDataType_t *compType,
        cudnnLossNormalizationMode_t *normMode,
        cudnnCTCGradMode_t *ctcGradMode,
        int *maxLabelLength);

    cudnn_adv.h, since 9.0.0

    in   ctcLossDesc     cudnnCTCLossDescriptor_t
    out  compType        pointer to cudnnDataType_t
    out  normMode        pointer to cudnnLossNormalizationMode_t
    out  ctcGradMode     pointer to cudnnCTCGradMode_t
    out  maxLabelLength  pointer to int

    used by CTCLossDescriptor
    example: examples/17_ctc.py
    """

@declared
def cudnnDestroyCTCLossDescriptor(
    ctcLossDesc: Descriptor[cudnnCTCLossDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyCTCLossDescriptor(
        cudnnCTCLossDescriptor_t ctcLossDesc);

    cudnn_adv.h, since 9.0.0

    in  ctcLossDesc  cudnnCTCLossDescriptor_t

    used by CTCLossDescriptor
    example: examples/17_ctc.py
    """

@declared
def cudnnCTCLoss(
    handle: Handle[cudnnHandle_t],
    probsDesc: Handle[cudnnTensorDescriptor_t],
    probs: DeviceMemory,
    hostLabels: IntArray[c_int],
    hostLabelLengths: IntArray[c_int],
    hostInputLengths: IntArray[c_int],
    costs: DeviceMemory,
    gradientsDesc: Descriptor[cudnnTensorDescriptor_t],
    gradients: DeviceMemory,
    algo: EnumValue[cudnnCTCLossAlgo_t],
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    workspace: DeviceMemory,
    workSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCTCLoss(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t probsDesc,
        const void *probs,
        const int hostLabels[],
        const int hostLabelLengths[],
        const int hostInputLengths[],
        void *costs,
        const cudnnTensorDescriptor_t gradientsDesc,
        void *gradients,
        cudnnCTCLossAlgo_t algo,
        cudnnCTCLossDescriptor_t ctcLossDesc,
        void *workspace,
        size_t workSpaceSizeInBytes);

    cudnn_adv.h, since 9.0.0

    in      handle                cudnnHandle_t
    in      probsDesc             cudnnTensorDescriptor_t, not NULL
    in      probs                 device memory, as probsDesc says, not NULL
    in      hostLabels            array of int
    in      hostLabelLengths      array of int, not NULL
    in      hostInputLengths      array of int, not NULL
    out     costs                 device memory
    in      gradientsDesc         cudnnTensorDescriptor_t, NULL if no gradients
    out     gradients             device memory, as gradientsDesc says
    in      algo                  cudnnCTCLossAlgo_t
    in      ctcLossDesc           cudnnCTCLossDescriptor_t, not NULL
    in/out  workspace             device memory, as workSpaceSizeInBytes says
    in      workSpaceSizeInBytes  size_t

    used by ctc_loss
    example: examples/17_ctc.py
    """

@declared
def cudnnCTCLoss_v8(
    handle: Handle[cudnnHandle_t],
    algo: EnumValue[cudnnCTCLossAlgo_t],
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    probsDesc: Handle[cudnnTensorDescriptor_t],
    probs: DeviceMemory,
    labels: DeviceMemory,
    labelLengths: DeviceMemory,
    inputLengths: DeviceMemory,
    costs: DeviceMemory,
    gradientsDesc: Descriptor[cudnnTensorDescriptor_t],
    gradients: DeviceMemory,
    workSpaceSizeInBytes: Int,
    workspace: DeviceMemory,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCTCLoss_v8(
        cudnnHandle_t handle,
        cudnnCTCLossAlgo_t algo,
        cudnnCTCLossDescriptor_t ctcLossDesc,
        const cudnnTensorDescriptor_t probsDesc,
        const void *probs,
        const int labels[],
        const int labelLengths[],
        const int inputLengths[],
        void *costs,
        const cudnnTensorDescriptor_t gradientsDesc,
        void *gradients,
        size_t workSpaceSizeInBytes,
        void *workspace);

    cudnn_adv.h, since 9.0.0

    in      handle                cudnnHandle_t
    in      algo                  cudnnCTCLossAlgo_t
    in      ctcLossDesc           cudnnCTCLossDescriptor_t, not NULL
    in      probsDesc             cudnnTensorDescriptor_t, not NULL
    in      probs                 device memory, as probsDesc says
    in      labels                device memory, int, not NULL
    in      labelLengths          device memory, int, not NULL
    in      inputLengths          device memory, int, not NULL
    out     costs                 device memory, not NULL
    in      gradientsDesc         cudnnTensorDescriptor_t, NULL if no gradients
    out     gradients             device memory, as gradientsDesc says
    in      workSpaceSizeInBytes  size_t
    in/out  workspace             device memory, as workSpaceSizeInBytes says, NULL if no workSpaceSizeInBytes

    used by ctc_loss_v8
    """

@declared
def cudnnGetCTCLossWorkspaceSize(
    handle: Handle[cudnnHandle_t],
    probsDesc: Handle[cudnnTensorDescriptor_t],
    gradientsDesc: Descriptor[cudnnTensorDescriptor_t],
    labels: IntArray[c_int],
    labelLengths: IntArray[c_int],
    inputLengths: IntArray[c_int],
    algo: EnumValue[cudnnCTCLossAlgo_t],
    ctcLossDesc: Descriptor[cudnnCTCLossDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCTCLossWorkspaceSize(
        cudnnHandle_t handle,
        const cudnnTensorDescriptor_t probsDesc,
        const cudnnTensorDescriptor_t gradientsDesc,
        const int labels[],
        const int labelLengths[],
        const int inputLengths[],
        cudnnCTCLossAlgo_t algo,
        cudnnCTCLossDescriptor_t ctcLossDesc,
        size_t *sizeInBytes);

    cudnn_adv.h, since 9.0.0

    in   handle         cudnnHandle_t
    in   probsDesc      cudnnTensorDescriptor_t, not NULL
    in   gradientsDesc  cudnnTensorDescriptor_t
    in   labels         array of int
    in   labelLengths   array of int, not NULL
    in   inputLengths   array of int, not NULL
    in   algo           cudnnCTCLossAlgo_t
    in   ctcLossDesc    cudnnCTCLossDescriptor_t
    out  sizeInBytes    pointer to size_t

    used by ctc_loss_workspace_size
    """

@declared
def cudnnGetCTCLossWorkspaceSize_v8(
    handle: Handle[cudnnHandle_t],
    algo: EnumValue[cudnnCTCLossAlgo_t],
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    probsDesc: Handle[cudnnTensorDescriptor_t],
    gradientsDesc: Descriptor[cudnnTensorDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(
        cudnnHandle_t handle,
        cudnnCTCLossAlgo_t algo,
        cudnnCTCLossDescriptor_t ctcLossDesc,
        const cudnnTensorDescriptor_t probsDesc,
        const cudnnTensorDescriptor_t gradientsDesc,
        size_t *sizeInBytes);

    cudnn_adv.h, since 9.0.0

    in   handle         cudnnHandle_t
    in   algo           cudnnCTCLossAlgo_t
    in   ctcLossDesc    cudnnCTCLossDescriptor_t, not NULL
    in   probsDesc      cudnnTensorDescriptor_t, not NULL
    in   gradientsDesc  cudnnTensorDescriptor_t
    out  sizeInBytes    pointer to size_t

    used by ctc_loss_v8_workspace_size
    """

@declared
def cudnnSubquadraticOpsVersionCheck() -> cudnnStatus_t:
    """cudnnStatus_t cudnnSubquadraticOpsVersionCheck(void);

    cudnn_subquadratic_ops.h, since 9.22.0

    used by check_sublibraries
    """

@declared
def cudnnCausalConv1dForward(
    stream: Stream,
    x: DeviceMemory,
    weight: DeviceMemory,
    bias: DeviceMemory,
    y: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSize: Int,
    dataType: EnumValue[cudnnDataType_t],
    activation: EnumValue[cudnnCausalConv1dActivation_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCausalConv1dForward(
        cudaStream_t stream,
        const void *x,
        const void *weight,
        const void *bias,
        void *y,
        int batch,
        int dim,
        int seqLen,
        int kernelSize,
        cudnnDataType_t dataType,
        cudnnCausalConv1dActivation_t activation);

    cudnn_subquadratic_ops.h, since 9.22.0

    in   stream      cudaStream_t
    in   x           device memory
    in   weight      device memory
    in   bias        device memory
    out  y           device memory
    in   batch       int
    in   dim         int
    in   seqLen      int
    in   kernelSize  int
    in   dataType    cudnnDataType_t
    in   activation  cudnnCausalConv1dActivation_t

    used by causal_convolution_forward
    """

@declared
def cudnnCausalConv1dBackward(
    stream: Stream,
    x: DeviceMemory,
    weight: DeviceMemory,
    bias: DeviceMemory,
    dy: DeviceMemory,
    dx: DeviceMemory,
    dweight: DeviceMemory,
    dbias: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSize: Int,
    dataType: EnumValue[cudnnDataType_t],
    dwDataType: EnumValue[cudnnDataType_t],
    activation: EnumValue[cudnnCausalConv1dActivation_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCausalConv1dBackward(
        cudaStream_t stream,
        const void *x,
        const void *weight,
        const void *bias,
        const void *dy,
        void *dx,
        void *dweight,
        void *dbias,
        int batch,
        int dim,
        int seqLen,
        int kernelSize,
        cudnnDataType_t dataType,
        cudnnDataType_t dwDataType,
        cudnnCausalConv1dActivation_t activation);

    cudnn_subquadratic_ops.h, since 9.22.0

    in      stream      cudaStream_t
    in      x           device memory
    in      weight      device memory
    in      bias        device memory
    in      dy          device memory
    out     dx          device memory
    in/out  dweight     device memory
    in/out  dbias       device memory
    in      batch       int
    in      dim         int
    in      seqLen      int
    in      kernelSize  int
    in      dataType    cudnnDataType_t
    in      dwDataType  cudnnDataType_t
    in      activation  cudnnCausalConv1dActivation_t

    used by causal_convolution_backward
    """

@declared
def cudnnCausalConv1dNwhForward(
    stream: Stream,
    x: DeviceMemory,
    weight: DeviceMemory,
    bias: DeviceMemory,
    y: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSize: Int,
    dataType: EnumValue[cudnnDataType_t],
    activation: EnumValue[cudnnCausalConv1dActivation_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCausalConv1dNwhForward(
        cudaStream_t stream,
        const void *x,
        const void *weight,
        const void *bias,
        void *y,
        int batch,
        int dim,
        int seqLen,
        int kernelSize,
        cudnnDataType_t dataType,
        cudnnCausalConv1dActivation_t activation);

    cudnn_subquadratic_ops.h, since 9.24.0

    in   stream      cudaStream_t
    in   x           device memory
    in   weight      device memory
    in   bias        device memory
    out  y           device memory
    in   batch       int
    in   dim         int
    in   seqLen      int
    in   kernelSize  int
    in   dataType    cudnnDataType_t
    in   activation  cudnnCausalConv1dActivation_t

    used by causal_convolution_forward
    """

@declared
def cudnnCausalConv1dNwhBackward(
    stream: Stream,
    x: DeviceMemory,
    weight: DeviceMemory,
    bias: DeviceMemory,
    dy: DeviceMemory,
    dx: DeviceMemory,
    dweight: DeviceMemory,
    dbias: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSize: Int,
    dataType: EnumValue[cudnnDataType_t],
    dwDataType: EnumValue[cudnnDataType_t],
    activation: EnumValue[cudnnCausalConv1dActivation_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCausalConv1dNwhBackward(
        cudaStream_t stream,
        const void *x,
        const void *weight,
        const void *bias,
        const void *dy,
        void *dx,
        void *dweight,
        void *dbias,
        int batch,
        int dim,
        int seqLen,
        int kernelSize,
        cudnnDataType_t dataType,
        cudnnDataType_t dwDataType,
        cudnnCausalConv1dActivation_t activation);

    cudnn_subquadratic_ops.h, since 9.24.0

    in      stream      cudaStream_t
    in      x           device memory
    in      weight      device memory
    in      bias        device memory
    in      dy          device memory
    out     dx          device memory
    in/out  dweight     device memory
    in/out  dbias       device memory
    in      batch       int
    in      dim         int
    in      seqLen      int
    in      kernelSize  int
    in      dataType    cudnnDataType_t
    in      dwDataType  cudnnDataType_t
    in      activation  cudnnCausalConv1dActivation_t

    used by causal_convolution_backward
    """

@declared
def cudnnB2BCausalConv1dForward(
    stream: Stream,
    x: DeviceMemory,
    weightsProj: DeviceMemory,
    weightsMixer: DeviceMemory,
    skipBias: DeviceMemory,
    y: DeviceMemory,
    yGated: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSizeProj: Int,
    kernelSizeMixer: Int,
    dataType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnB2BCausalConv1dForward(
        cudaStream_t stream,
        const void *x,
        const void *weightsProj,
        const void *weightsMixer,
        const void *skipBias,
        void *y,
        void *yGated,
        int batch,
        int dim,
        int seqLen,
        int kernelSizeProj,
        int kernelSizeMixer,
        cudnnDataType_t dataType);

    cudnn_subquadratic_ops.h, since 9.24.0

    in   stream           cudaStream_t
    in   x                device memory
    in   weightsProj      device memory
    in   weightsMixer     device memory
    in   skipBias         device memory
    out  y                device memory
    out  yGated           device memory
    in   batch            int
    in   dim              int
    in   seqLen           int
    in   kernelSizeProj   int
    in   kernelSizeMixer  int
    in   dataType         cudnnDataType_t

    used by back_to_back_convolution_forward
    """

@declared
def cudnnB2BCausalConv1dBackward(
    stream: Stream,
    x: DeviceMemory,
    weightsProj: DeviceMemory,
    weightsMixer: DeviceMemory,
    skipBias: DeviceMemory,
    y: DeviceMemory,
    dy: DeviceMemory,
    dx: DeviceMemory,
    dweightsProj: DeviceMemory,
    dweightsMixer: DeviceMemory,
    dskipBias: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSizeProj: Int,
    kernelSizeMixer: Int,
    dataType: EnumValue[cudnnDataType_t],
    dwDataType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnB2BCausalConv1dBackward(
        cudaStream_t stream,
        const void *x,
        const void *weightsProj,
        const void *weightsMixer,
        const void *skipBias,
        const void *y,
        const void *dy,
        void *dx,
        void *dweightsProj,
        void *dweightsMixer,
        void *dskipBias,
        int batch,
        int dim,
        int seqLen,
        int kernelSizeProj,
        int kernelSizeMixer,
        cudnnDataType_t dataType,
        cudnnDataType_t dwDataType);

    cudnn_subquadratic_ops.h, since 9.24.0

    in      stream           cudaStream_t
    in      x                device memory
    in      weightsProj      device memory
    in      weightsMixer     device memory
    in      skipBias         device memory
    in      y                device memory
    in      dy               device memory
    out     dx               device memory
    in/out  dweightsProj     device memory
    in/out  dweightsMixer    device memory
    in/out  dskipBias        device memory
    in      batch            int
    in      dim              int
    in      seqLen           int
    in      kernelSizeProj   int
    in      kernelSizeMixer  int
    in      dataType         cudnnDataType_t
    in      dwDataType       cudnnDataType_t

    used by back_to_back_convolution_backward
    """

@declared
def cudnnFFTCausalConv1dForward(
    stream: Stream,
    x: DeviceMemory,
    weight: DeviceMemory,
    y: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSize: Int,
    dataType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFFTCausalConv1dForward(
        cudaStream_t stream,
        const void *x,
        const void *weight,
        void *y,
        int batch,
        int dim,
        int seqLen,
        int kernelSize,
        cudnnDataType_t dataType);

    cudnn_subquadratic_ops.h, since 9.26.0

    in   stream      cudaStream_t
    in   x           device memory
    in   weight      device memory
    out  y           device memory
    in   batch       int
    in   dim         int
    in   seqLen      int
    in   kernelSize  int
    in   dataType    cudnnDataType_t

    used by fft_causal_convolution_forward
    """

@declared
def cudnnFFTCausalConv1dBackward(
    stream: Stream,
    x: DeviceMemory,
    weight: DeviceMemory,
    dy: DeviceMemory,
    dx: DeviceMemory,
    dweight: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSize: Int,
    dataType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFFTCausalConv1dBackward(
        cudaStream_t stream,
        const void *x,
        const void *weight,
        const void *dy,
        void *dx,
        void *dweight,
        int batch,
        int dim,
        int seqLen,
        int kernelSize,
        cudnnDataType_t dataType);

    cudnn_subquadratic_ops.h, since 9.26.0

    in   stream      cudaStream_t
    in   x           device memory
    in   weight      device memory
    in   dy          device memory
    out  dx          device memory
    out  dweight     device memory
    in   batch       int
    in   dim         int
    in   seqLen      int
    in   kernelSize  int
    in   dataType    cudnnDataType_t

    used by fft_causal_convolution_backward
    """

@declared
def cudnnLongFFTCausalConv1dGetBufferSizes(
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSize: Int,
    dataType: EnumValue[cudnnDataType_t],
    workspaceSizeInBytes: Pointer[c_size_t],
    reserveSpaceSizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnLongFFTCausalConv1dGetBufferSizes(
        int batch,
        int dim,
        int seqLen,
        int kernelSize,
        cudnnDataType_t dataType,
        size_t *workspaceSizeInBytes,
        size_t *reserveSpaceSizeInBytes);

    cudnn_subquadratic_ops.h, since 9.26.0

    in   batch                    int
    in   dim                      int
    in   seqLen                   int
    in   kernelSize               int
    in   dataType                 cudnnDataType_t
    out  workspaceSizeInBytes     pointer to size_t
    out  reserveSpaceSizeInBytes  pointer to size_t

    used by long_fft_causal_convolution_buffer_sizes
    """

@declared
def cudnnLongFFTCausalConv1dForward(
    stream: Stream,
    x: DeviceMemory,
    weight: DeviceMemory,
    y: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSize: Int,
    dataType: EnumValue[cudnnDataType_t],
    workspace: DeviceMemory,
    workspaceSizeInBytes: Int,
    reserveSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnLongFFTCausalConv1dForward(
        cudaStream_t stream,
        const void *x,
        const void *weight,
        void *y,
        int batch,
        int dim,
        int seqLen,
        int kernelSize,
        cudnnDataType_t dataType,
        void *workspace,
        size_t workspaceSizeInBytes,
        void *reserveSpace,
        size_t reserveSpaceSizeInBytes);

    cudnn_subquadratic_ops.h, since 9.26.0

    in      stream                   cudaStream_t
    in      x                        device memory
    in      weight                   device memory
    out     y                        device memory
    in      batch                    int
    in      dim                      int
    in      seqLen                   int
    in      kernelSize               int
    in      dataType                 cudnnDataType_t
    in/out  workspace                device memory, as workspaceSizeInBytes says
    in      workspaceSizeInBytes     size_t
    out     reserveSpace             device memory, as reserveSpaceSizeInBytes says
    in      reserveSpaceSizeInBytes  size_t

    used by long_fft_causal_convolution_forward
    """

@declared
def cudnnLongFFTCausalConv1dBackward(
    stream: Stream,
    dy: DeviceMemory,
    dx: DeviceMemory,
    dweight: DeviceMemory,
    batch: Int,
    dim: Int,
    seqLen: Int,
    kernelSize: Int,
    dataType: EnumValue[cudnnDataType_t],
    workspace: DeviceMemory,
    workspaceSizeInBytes: Int,
    reserveSpace: DeviceMemory,
    reserveSpaceSizeInBytes: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnLongFFTCausalConv1dBackward(
        cudaStream_t stream,
        const void *dy,
        void *dx,
        void *dweight,
        int batch,
        int dim,
        int seqLen,
        int kernelSize,
        cudnnDataType_t dataType,
        void *workspace,
        size_t workspaceSizeInBytes,
        void *reserveSpace,
        size_t reserveSpaceSizeInBytes);

    cudnn_subquadratic_ops.h, since 9.26.0

    in      stream                   cudaStream_t
    in      dy                       device memory
    out     dx                       device memory
    out     dweight                  device memory
    in      batch                    int
    in      dim                      int
    in      seqLen                   int
    in      kernelSize               int
    in      dataType                 cudnnDataType_t
    in/out  workspace                device memory, as workspaceSizeInBytes says
    in      workspaceSizeInBytes     size_t
    in      reserveSpace             device memory, as reserveSpaceSizeInBytes says
    in      reserveSpaceSizeInBytes  size_t

    used by long_fft_causal_convolution_backward
    """

@declared
def cudnnGnnAggSimpleForward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    nodeFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    concatFeatures: DeviceMemory,
    output: DeviceMemory,
    outPositions: DeviceMemory,
    nodeFeatDim: Int,
    edgeFeatDim: Int,
    concatFeatDim: Int,
    dataType: EnumValue[cudnnDataType_t],
    aggOp: EnumValue[cudnnGnnAggOp_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGnnAggSimpleForward(
        cudaStream_t stream,
        const cudnnGnnCscGraph_t *graph,
        const void *nodeFeatures,
        const void *edgeFeatures,
        const void *concatFeatures,
        void *output,
        void *outPositions,
        int nodeFeatDim,
        int edgeFeatDim,
        int concatFeatDim,
        cudnnDataType_t dataType,
        cudnnGnnAggOp_t aggOp);

    cudnn_gnn_ops.h, since 9.26.0

    in   stream          cudaStream_t
    in   graph           pointer to cudnnGnnCscGraph_t
    in   nodeFeatures    device memory
    in   edgeFeatures    device memory
    in   concatFeatures  device memory
    out  output          device memory
    out  outPositions    device memory
    in   nodeFeatDim     int
    in   edgeFeatDim     int
    in   concatFeatDim   int
    in   dataType        cudnnDataType_t
    in   aggOp           cudnnGnnAggOp_t

    used by gnn_agg_simple_forward
    """

@declared
def cudnnGnnAggSimpleBackward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    gradOutput: DeviceMemory,
    outPositions: DeviceMemory,
    gradNodeFeatures: DeviceMemory,
    gradEdgeFeatures: DeviceMemory,
    gradConcatFeatures: DeviceMemory,
    nodeFeatDim: Int,
    edgeFeatDim: Int,
    concatFeatDim: Int,
    dataType: EnumValue[cudnnDataType_t],
    aggOp: EnumValue[cudnnGnnAggOp_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGnnAggSimpleBackward(
        cudaStream_t stream,
        const cudnnGnnCscGraph_t *graph,
        const void *gradOutput,
        const void *outPositions,
        void *gradNodeFeatures,
        void *gradEdgeFeatures,
        void *gradConcatFeatures,
        int nodeFeatDim,
        int edgeFeatDim,
        int concatFeatDim,
        cudnnDataType_t dataType,
        cudnnGnnAggOp_t aggOp);

    cudnn_gnn_ops.h, since 9.26.0

    in      stream              cudaStream_t
    in      graph               pointer to cudnnGnnCscGraph_t
    in      gradOutput          device memory
    in      outPositions        device memory
    in/out  gradNodeFeatures    device memory
    in/out  gradEdgeFeatures    device memory
    out     gradConcatFeatures  device memory
    in      nodeFeatDim         int
    in      edgeFeatDim         int
    in      concatFeatDim       int
    in      dataType            cudnnDataType_t
    in      aggOp               cudnnGnnAggOp_t

    used by gnn_agg_simple_backward
    """

@declared
def cudnnGnnMhaGatForward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    srcFeatures: DeviceMemory,
    dstFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    attnWeights: DeviceMemory,
    dropoutMask: DeviceMemory,
    output: DeviceMemory,
    smScores: DeviceMemory,
    dimNode: Int,
    dimEdge: Int,
    params: StructPointer[cudnnGnnMhaParams_t],
    dataType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGnnMhaGatForward(
        cudaStream_t stream,
        const cudnnGnnCscGraph_t *graph,
        const void *srcFeatures,
        const void *dstFeatures,
        const void *edgeFeatures,
        const void *attnWeights,
        const float dropoutMask[],
        void *output,
        void *smScores,
        int dimNode,
        int dimEdge,
        const cudnnGnnMhaParams_t *params,
        cudnnDataType_t dataType);

    cudnn_gnn_ops.h, since 9.28.0

    in   stream        cudaStream_t
    in   graph         pointer to cudnnGnnCscGraph_t
    in   srcFeatures   device memory
    in   dstFeatures   device memory
    in   edgeFeatures  device memory
    in   attnWeights   device memory
    in   dropoutMask   device memory, float
    out  output        device memory
    out  smScores      device memory
    in   dimNode       int
    in   dimEdge       int
    in   params        pointer to cudnnGnnMhaParams_t
    in   dataType      cudnnDataType_t

    used by gnn_mha_gat_forward
    """

@declared
def cudnnGnnMhaGatBackward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    gradOut: DeviceMemory,
    srcFeatures: DeviceMemory,
    dstFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    attnWeights: DeviceMemory,
    smScores: DeviceMemory,
    dropoutMask: DeviceMemory,
    gradAttention: DeviceMemory,
    gradSrcFeatures: DeviceMemory,
    gradDstFeatures: DeviceMemory,
    gradEdgeFeatures: DeviceMemory,
    gradWeights: DeviceMemory,
    gradSmScores: DeviceMemory,
    gradWspaceFeat: DeviceMemory,
    gradWspaceWeights: DeviceMemory,
    dimNode: Int,
    dimEdge: Int,
    params: StructPointer[cudnnGnnMhaParams_t],
    dataType: EnumValue[cudnnDataType_t],
    gradDataType: EnumValue[cudnnDataType_t],
    gradWeightType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGnnMhaGatBackward(
        cudaStream_t stream,
        const cudnnGnnCscGraph_t *graph,
        const void *gradOut,
        const void *srcFeatures,
        const void *dstFeatures,
        const void *edgeFeatures,
        const void *attnWeights,
        const void *smScores,
        const float dropoutMask[],
        const float gradAttention[],
        void *gradSrcFeatures,
        void *gradDstFeatures,
        void *gradEdgeFeatures,
        void *gradWeights,
        void *gradSmScores,
        void *gradWspaceFeat,
        void *gradWspaceWeights,
        int dimNode,
        int dimEdge,
        const cudnnGnnMhaParams_t *params,
        cudnnDataType_t dataType,
        cudnnDataType_t gradDataType,
        cudnnDataType_t gradWeightType);

    cudnn_gnn_ops.h, since 9.28.0

    in      stream             cudaStream_t
    in      graph              pointer to cudnnGnnCscGraph_t
    in      gradOut            device memory
    in      srcFeatures        device memory
    in      dstFeatures        device memory
    in      edgeFeatures       device memory
    in      attnWeights        device memory
    in      smScores           device memory
    in      dropoutMask        device memory, float
    in      gradAttention      device memory, float
    out     gradSrcFeatures    device memory
    out     gradDstFeatures    device memory
    out     gradEdgeFeatures   device memory
    out     gradWeights        device memory
    out     gradSmScores       device memory
    in/out  gradWspaceFeat     device memory
    in/out  gradWspaceWeights  device memory
    in      dimNode            int
    in      dimEdge            int
    in      params             pointer to cudnnGnnMhaParams_t
    in      dataType           cudnnDataType_t
    in      gradDataType       cudnnDataType_t
    in      gradWeightType     cudnnDataType_t

    used by gnn_mha_gat_backward
    """

@declared
def cudnnGnnMhaGatV2Forward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    srcFeatures: DeviceMemory,
    dstFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    attnWeights: DeviceMemory,
    dropoutMask: DeviceMemory,
    output: DeviceMemory,
    smScores: DeviceMemory,
    actScores: DeviceMemory,
    dimNode: Int,
    params: StructPointer[cudnnGnnMhaParams_t],
    dataType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGnnMhaGatV2Forward(
        cudaStream_t stream,
        const cudnnGnnCscGraph_t *graph,
        const void *srcFeatures,
        const void *dstFeatures,
        const void *edgeFeatures,
        const void *attnWeights,
        const float dropoutMask[],
        void *output,
        void *smScores,
        void *actScores,
        int dimNode,
        const cudnnGnnMhaParams_t *params,
        cudnnDataType_t dataType);

    cudnn_gnn_ops.h, since 9.28.0

    in   stream        cudaStream_t
    in   graph         pointer to cudnnGnnCscGraph_t
    in   srcFeatures   device memory
    in   dstFeatures   device memory
    in   edgeFeatures  device memory
    in   attnWeights   device memory
    in   dropoutMask   device memory, float
    out  output        device memory
    out  smScores      device memory
    out  actScores     device memory
    in   dimNode       int
    in   params        pointer to cudnnGnnMhaParams_t
    in   dataType      cudnnDataType_t

    used by gnn_mha_gat_v2_forward
    """

@declared
def cudnnGnnMhaGatV2Backward(
    stream: Stream,
    graph: StructPointer[cudnnGnnCscGraph_t],
    gradOut: DeviceMemory,
    srcFeatures: DeviceMemory,
    dstFeatures: DeviceMemory,
    edgeFeatures: DeviceMemory,
    attnWeights: DeviceMemory,
    smScores: DeviceMemory,
    actScores: DeviceMemory,
    dropoutMask: DeviceMemory,
    gradAttention: DeviceMemory,
    gradSrcFeatures: DeviceMemory,
    gradDstFeatures: DeviceMemory,
    gradEdgeFeatures: DeviceMemory,
    gradWeights: DeviceMemory,
    gradSmScores: DeviceMemory,
    gradWspaceFeat: DeviceMemory,
    gradWspaceWeights: DeviceMemory,
    dimNode: Int,
    params: StructPointer[cudnnGnnMhaParams_t],
    dataType: EnumValue[cudnnDataType_t],
    gradType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGnnMhaGatV2Backward(
        cudaStream_t stream,
        const cudnnGnnCscGraph_t *graph,
        const void *gradOut,
        const void *srcFeatures,
        const void *dstFeatures,
        const void *edgeFeatures,
        const void *attnWeights,
        const void *smScores,
        const void *actScores,
        const float dropoutMask[],
        const float gradAttention[],
        void *gradSrcFeatures,
        void *gradDstFeatures,
        void *gradEdgeFeatures,
        void *gradWeights,
        void *gradSmScores,
        void *gradWspaceFeat,
        void *gradWspaceWeights,
        int dimNode,
        const cudnnGnnMhaParams_t *params,
        cudnnDataType_t dataType,
        cudnnDataType_t gradType);

    cudnn_gnn_ops.h, since 9.28.0

    in      stream             cudaStream_t
    in      graph              pointer to cudnnGnnCscGraph_t
    in      gradOut            device memory
    in      srcFeatures        device memory
    in      dstFeatures        device memory
    in      edgeFeatures       device memory
    in      attnWeights        device memory
    in      smScores           device memory
    in      actScores          device memory
    in      dropoutMask        device memory, float
    in      gradAttention      device memory, float
    out     gradSrcFeatures    device memory
    out     gradDstFeatures    device memory
    out     gradEdgeFeatures   device memory
    out     gradWeights        device memory
    out     gradSmScores       device memory
    in/out  gradWspaceFeat     device memory
    in/out  gradWspaceWeights  device memory
    in      dimNode            int
    in      params             pointer to cudnnGnnMhaParams_t
    in      dataType           cudnnDataType_t
    in      gradType           cudnnDataType_t

    used by gnn_mha_gat_v2_backward
    """

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
