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
def cudnnGetErrorString(status: EnumValue[cudnnStatus_t]) -> str:
    """const char *cudnnGetErrorString(
        cudnnStatus_t status);  // in

    cudnn_graph.h, since 9.0.0
    used by error_string
    """

@declared
def cudnnGetLastErrorString(message: FilledArray[c_char], max_size: Int) -> None:
    """void cudnnGetLastErrorString(
        char message[],    // out, max_size of them, not NULL
        size_t max_size);  // in

    cudnn_graph.h, since 9.0.0
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
        cudnnHandle_t handle,      // in
        cudnnStatus_t *rstatus,    // out
        cudnnErrQueryMode_t mode,  // in
        cudnnRuntimeTag_t *tag);   // out

    cudnn_graph.h, since 9.0.0
    deprecated: use cudnnGetLastErrorString
    used by query_runtime_error
    """

@declared
def cudnnGetProperty(type: EnumValue[libraryPropertyType], value: Pointer[c_int]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetProperty(
        libraryPropertyType type,  // in
        int *value);               // out

    cudnn_graph.h, since 9.0.0
    used by library_versions
    """

@declared
def cudnnCreate(handle: NewHandle[cudnnHandle_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreate(
        cudnnHandle_t *handle);  // out

    cudnn_graph.h, since 9.0.0
    used by Handle
    example: examples/01_smallest_program.py
    """

@declared
def cudnnDestroy(handle: Handle[cudnnHandle_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroy(
        cudnnHandle_t handle);  // in

    cudnn_graph.h, since 9.0.0
    used by Handle
    example: examples/01_smallest_program.py
    """

@declared
def cudnnSetStream(handle: Handle[cudnnHandle_t], streamId: Stream) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetStream(
        cudnnHandle_t handle,    // in
        cudaStream_t streamId);  // in

    cudnn_graph.h, since 9.0.0
    used by Handle.stream
    example: examples/03_convolution.py
    """

@declared
def cudnnGetStream(
    handle: Handle[cudnnHandle_t],
    streamId: NewHandle[cudaStream_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetStream(
        cudnnHandle_t handle,     // in
        cudaStream_t *streamId);  // out, not NULL

    cudnn_graph.h, since 9.0.0
    used by Handle
    example: examples/03_convolution.py
    """

@declared
def cudnnSetCallback(mask: Int, udata: HostMemory, fptr: Callback) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetCallback(
        unsigned int mask,      // in
        void *udata,            // in, host memory
        cudnnCallback_t fptr);  // in

    cudnn_graph.h, since 9.0.0
    """

@declared
def cudnnGetCallback(
    mask: Pointer[c_uint],
    udata: Pointer[c_void_p],
    fptr: Pointer[_CFunctionType],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCallback(
        unsigned int *mask,      // out
        void **udata,            // out
        cudnnCallback_t *fptr);  // out

    cudnn_graph.h, since 9.0.0
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
        cudnnBackendDescriptorType_t descriptorType,  // in
        cudnnBackendDescriptor_t *descriptor);        // out, not NULL

    cudnn_graph.h, since 9.0.0
    used by BackendDescriptor
    example: examples/19_first_graph_raw.py
    """

@declared
def cudnnBackendDestroyDescriptor(
    descriptor: Descriptor[cudnnBackendDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendDestroyDescriptor(
        cudnnBackendDescriptor_t descriptor);  // in

    cudnn_graph.h, since 9.0.0
    used by BackendDescriptor
    example: examples/19_first_graph_raw.py
    """

@declared
def cudnnBackendInitialize(descriptor: Handle[cudnnBackendDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendInitialize(
        cudnnBackendDescriptor_t descriptor);  // in

    cudnn_graph.h, since 9.0.0
    deprecated: use cudnnBackendCreateDescriptor
    used by BackendDescriptor.reset
    """

@declared
def cudnnBackendFinalize(descriptor: Handle[cudnnBackendDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendFinalize(
        cudnnBackendDescriptor_t descriptor);  // in

    cudnn_graph.h, since 9.0.0
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
        cudnnBackendDescriptor_t descriptor,        // in
        cudnnBackendAttributeName_t attributeName,  // in
        cudnnBackendAttributeType_t attributeType,  // in
        int64_t elementCount,                       // in
        const void *arrayOfElements);               // in, host memory

    cudnn_graph.h, since 9.0.0
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
        const cudnnBackendDescriptor_t descriptor,  // in
        cudnnBackendAttributeName_t attributeName,  // in
        cudnnBackendAttributeType_t attributeType,  // in
        int64_t requestedElementCount,              // in
        int64_t *elementCount,                      // out
        void *arrayOfElements);                     // out, host memory

    cudnn_graph.h, since 9.0.0
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
        cudnnHandle_t handle,                    // in
        cudnnBackendDescriptor_t executionPlan,  // in
        cudnnBackendDescriptor_t variantPack,    // in
        size_t *workspaceSizeInBytes);           // out

    cudnn_graph.h, since 9.23.0
    used by BoundPlan.workspace_size, ExecutionPlan.workspace_size_for
    """

@declared
def cudnnBackendExecute(
    handle: Handle[cudnnHandle_t],
    executionPlan: Descriptor[cudnnBackendDescriptor_t],
    variantPack: Descriptor[cudnnBackendDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBackendExecute(
        cudnnHandle_t handle,                    // in
        cudnnBackendDescriptor_t executionPlan,  // in
        cudnnBackendDescriptor_t variantPack);   // in

    cudnn_graph.h, since 9.0.0
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
        cudnnHandle_t handle,                    // in
        cudnnBackendDescriptor_t executionPlan,  // in
        cudnnBackendDescriptor_t variantPack,    // in
        cudaGraph_t graph);                      // in/out

    cudnn_graph.h, since 9.5.0
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
        cudnnHandle_t handle,                    // in
        cudnnBackendDescriptor_t executionPlan,  // in
        cudnnBackendDescriptor_t variantPack,    // in
        cudaGraph_t graph);                      // in/out

    cudnn_graph.h, since 9.5.0
    used by NativeGraph.update
    """

@declared
def cudnnCreateTensorDescriptor(tensorDesc: NewHandle[cudnnTensorDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateTensorDescriptor(
        cudnnTensorDescriptor_t *tensorDesc);  // out

    cudnn_ops.h, since 9.0.0
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
        cudnnTensorDescriptor_t tensorDesc,  // in/out
        cudnnTensorFormat_t format,          // in
        cudnnDataType_t dataType,            // in
        int n,                               // in
        int c,                               // in
        int h,                               // in
        int w);                              // in

    cudnn_ops.h, since 9.0.0
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
        cudnnTensorDescriptor_t tensorDesc,  // in/out
        cudnnDataType_t dataType,            // in
        int n,                               // in
        int c,                               // in
        int h,                               // in
        int w,                               // in
        int nStride,                         // in
        int cStride,                         // in
        int hStride,                         // in
        int wStride);                        // in

    cudnn_ops.h, since 9.0.0
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
        const cudnnTensorDescriptor_t tensorDesc,  // in
        cudnnDataType_t *dataType,                 // out
        int *n,                                    // out
        int *c,                                    // out
        int *h,                                    // out
        int *w,                                    // out
        int *nStride,                              // out
        int *cStride,                              // out
        int *hStride,                              // out
        int *wStride);                             // out

    cudnn_ops.h, since 9.0.0
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
        cudnnTensorDescriptor_t tensorDesc,  // in/out
        cudnnDataType_t dataType,            // in
        int nbDims,                          // in
        const int dimA[],                    // in, nbDims of them, not NULL
        const int strideA[]);                // in, nbDims of them, not NULL

    cudnn_ops.h, since 9.0.0
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
        cudnnTensorDescriptor_t tensorDesc,  // in/out
        cudnnTensorFormat_t format,          // in
        cudnnDataType_t dataType,            // in
        int nbDims,                          // in
        const int dimA[]);                   // in, nbDims of them, not NULL

    cudnn_ops.h, since 9.0.0
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
        const cudnnTensorDescriptor_t tensorDesc,  // in
        int nbDimsRequested,                       // in
        cudnnDataType_t *dataType,                 // out, not NULL
        int *nbDims,                               // out
        int dimA[],                                // out, nbDimsRequested of them, not NULL
        int strideA[]);                            // out, nbDimsRequested of them, not NULL

    cudnn_ops.h, since 9.0.0
    used by TensorDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnGetTensorSizeInBytes(
    tensorDesc: Handle[cudnnTensorDescriptor_t],
    size: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetTensorSizeInBytes(
        const cudnnTensorDescriptor_t tensorDesc,  // in, not NULL
        size_t *size);                             // out, not NULL

    cudnn_ops.h, since 9.0.0
    used by TensorDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnDestroyTensorDescriptor(tensorDesc: Descriptor[cudnnTensorDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyTensorDescriptor(
        cudnnTensorDescriptor_t tensorDesc);  // in

    cudnn_ops.h, since 9.0.0
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
        const cudnnTensorTransformDescriptor_t transformDesc,  // in
        const cudnnTensorDescriptor_t srcDesc,                 // in, not NULL
        cudnnTensorDescriptor_t destDesc,                      // in/out
        size_t *destSizeInBytes);                              // out

    cudnn_ops.h, since 9.0.0, deprecated
    used by TensorTransformDescriptor.destination
    """

@declared
def cudnnCreateTensorTransformDescriptor(
    transformDesc: NewHandle[cudnnTensorTransformDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateTensorTransformDescriptor(
        cudnnTensorTransformDescriptor_t *transformDesc);  // out

    cudnn_ops.h, since 9.0.0, deprecated
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
        cudnnTensorTransformDescriptor_t transformDesc,  // in/out
        const uint32_t nbDims,                           // in
        const cudnnTensorFormat_t destFormat,            // in
        const int32_t padBeforeA[],                      // in, nbDims of them
        const int32_t padAfterA[],                       // in, nbDims of them
        const uint32_t foldA[],                          // in, nbDims - 2 of them
        const cudnnFoldingDirection_t direction);        // in

    cudnn_ops.h, since 9.0.0, deprecated
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
        cudnnTensorTransformDescriptor_t transformDesc,  // in
        uint32_t nbDimsRequested,                        // in
        cudnnTensorFormat_t *destFormat,                 // out
        int32_t padBeforeA[],                            // out, nbDimsRequested of them
        int32_t padAfterA[],                             // out, nbDimsRequested of them
        uint32_t foldA[],                                // out, nbDimsRequested - 2 of them
        cudnnFoldingDirection_t *direction);             // out, not NULL

    cudnn_ops.h, since 9.0.0, deprecated
    used by TensorTransformDescriptor
    """

@declared
def cudnnDestroyTensorTransformDescriptor(
    transformDesc: Descriptor[cudnnTensorTransformDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyTensorTransformDescriptor(
        cudnnTensorTransformDescriptor_t transformDesc);  // in

    cudnn_ops.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,                 // in
        const void *alpha,                    // in, one number on the host, as xDesc or yDesc says
        const cudnnTensorDescriptor_t xDesc,  // in
        const void *x,                        // in, device memory, as xDesc says
        const void *beta,                     // in, one number on the host, as xDesc or yDesc says
        const cudnnTensorDescriptor_t yDesc,  // in
        void *y);                             // in/out, device memory, as yDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR
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
        cudnnHandle_t handle,                              // in
        const cudnnTensorTransformDescriptor_t transDesc,  // in
        const void *alpha,                                 // in, one number on the host, as srcDesc or destDesc says
        const cudnnTensorDescriptor_t srcDesc,             // in
        const void *srcData,                               // in, device memory, as srcDesc says
        const void *beta,                                  // in, one number on the host, as srcDesc or destDesc says
        const cudnnTensorDescriptor_t destDesc,            // in
        void *destData);                                   // in/out, device memory, as destDesc says

    cudnn_ops.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,                 // in
        const void *alpha,                    // in, one number on the host, as cDesc says
        const cudnnTensorDescriptor_t aDesc,  // in
        const void *A,                        // in, device memory, as aDesc says
        const void *beta,                     // in, one number on the host, as cDesc says
        const cudnnTensorDescriptor_t cDesc,  // in
        void *C);                             // in/out, device memory, as cDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR
    used by add_tensor
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnCreateOpTensorDescriptor(
    opTensorDesc: NewHandle[cudnnOpTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateOpTensorDescriptor(
        cudnnOpTensorDescriptor_t *opTensorDesc);  // out

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
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
        cudnnOpTensorDescriptor_t opTensorDesc,  // in/out
        cudnnOpTensorOp_t opTensorOp,            // in
        cudnnDataType_t opTensorCompType,        // in
        cudnnNanPropagation_t opTensorNanOpt);   // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
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
        const cudnnOpTensorDescriptor_t opTensorDesc,  // in
        cudnnOpTensorOp_t *opTensorOp,                 // out, not NULL
        cudnnDataType_t *opTensorCompType,             // out, not NULL
        cudnnNanPropagation_t *opTensorNanOpt);        // out, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
    used by OpTensorDescriptor
    example: examples/12_lenet_digits.py
    """

@declared
def cudnnDestroyOpTensorDescriptor(
    opTensorDesc: Descriptor[cudnnOpTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyOpTensorDescriptor(
        cudnnOpTensorDescriptor_t opTensorDesc);  // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
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
        cudnnHandle_t handle,                          // in
        const cudnnOpTensorDescriptor_t opTensorDesc,  // in, not NULL
        const void *alpha1,                            // in, one number on the host, as opTensorDesc says
        const cudnnTensorDescriptor_t aDesc,           // in
        const void *A,                                 // in, device memory, as aDesc says
        const void *alpha2,                            // in, one number on the host, as opTensorDesc says
        const cudnnTensorDescriptor_t bDesc,           // in
        const void *B,                                 // in, device memory, as bDesc says
        const void *beta,                              // in, one number on the host, as opTensorDesc says
        const cudnnTensorDescriptor_t cDesc,           // in
        void *C);                                      // in/out, device memory, as cDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR
    used by op_tensor
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnCreateReduceTensorDescriptor(
    reduceTensorDesc: NewHandle[cudnnReduceTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateReduceTensorDescriptor(
        cudnnReduceTensorDescriptor_t *reduceTensorDesc);  // out

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_REDUCTION_DESCRIPTOR
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
        cudnnReduceTensorDescriptor_t reduceTensorDesc,  // in/out
        cudnnReduceTensorOp_t reduceTensorOp,            // in
        cudnnDataType_t reduceTensorCompType,            // in
        cudnnNanPropagation_t reduceTensorNanOpt,        // in
        cudnnReduceTensorIndices_t reduceTensorIndices,  // in
        cudnnIndicesType_t reduceTensorIndicesType);     // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_REDUCTION_DESCRIPTOR
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
        const cudnnReduceTensorDescriptor_t reduceTensorDesc,  // in
        cudnnReduceTensorOp_t *reduceTensorOp,                 // out, not NULL
        cudnnDataType_t *reduceTensorCompType,                 // out, not NULL
        cudnnNanPropagation_t *reduceTensorNanOpt,             // out, not NULL
        cudnnReduceTensorIndices_t *reduceTensorIndices,       // out, not NULL
        cudnnIndicesType_t *reduceTensorIndicesType);          // out, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_REDUCTION_DESCRIPTOR
    used by ReduceTensorDescriptor
    example: examples/12_lenet_digits.py
    """

@declared
def cudnnDestroyReduceTensorDescriptor(
    reduceTensorDesc: Descriptor[cudnnReduceTensorDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyReduceTensorDescriptor(
        cudnnReduceTensorDescriptor_t reduceTensorDesc);  // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_REDUCTION_DESCRIPTOR
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
        cudnnHandle_t handle,                                  // in
        const cudnnReduceTensorDescriptor_t reduceTensorDesc,  // in, not NULL
        const cudnnTensorDescriptor_t aDesc,                   // in
        const cudnnTensorDescriptor_t cDesc,                   // in, not NULL
        size_t *sizeInBytes);                                  // out, not NULL

    cudnn_ops.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,                                  // in
        const cudnnReduceTensorDescriptor_t reduceTensorDesc,  // in, not NULL
        const cudnnTensorDescriptor_t aDesc,                   // in, not NULL
        const cudnnTensorDescriptor_t cDesc,                   // in, not NULL
        size_t *sizeInBytes);                                  // out, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
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
        cudnnHandle_t handle,                                  // in
        const cudnnReduceTensorDescriptor_t reduceTensorDesc,  // in, not NULL
        void *indices,                                         // out, device memory, as indicesSizeInBytes says, NULL if no indicesSizeInBytes
        size_t indicesSizeInBytes,                             // in
        void *workspace,                                       // in/out, device memory, as workspaceSizeInBytes says, NULL if no workspaceSizeInBytes
        size_t workspaceSizeInBytes,                           // in
        const void *alpha,                                     // in, one number on the host, as cDesc says
        const cudnnTensorDescriptor_t aDesc,                   // in
        const void *A,                                         // in, device memory, as aDesc says
        const void *beta,                                      // in, one number on the host, as cDesc says
        const cudnnTensorDescriptor_t cDesc,                   // in
        void *C);                                              // in/out, device memory, as cDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR
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
        cudnnHandle_t handle,                 // in
        const cudnnTensorDescriptor_t yDesc,  // in
        void *y,                              // out, device memory, as yDesc says
        const void *valuePtr);                // in, one number on the host, as yDesc says

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                 // in
        const cudnnTensorDescriptor_t yDesc,  // in
        void *y,                              // in/out, device memory, as yDesc says
        const void *alpha);                   // in, one number on the host, as yDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR
    used by scale_tensor
    """

@declared
def cudnnCreateFilterDescriptor(filterDesc: NewHandle[cudnnFilterDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateFilterDescriptor(
        cudnnFilterDescriptor_t *filterDesc);  // out

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        cudnnFilterDescriptor_t filterDesc,  // in/out
        cudnnDataType_t dataType,            // in
        cudnnTensorFormat_t format,          // in
        int k,                               // in
        int c,                               // in
        int h,                               // in
        int w);                              // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        const cudnnFilterDescriptor_t filterDesc,  // in
        cudnnDataType_t *dataType,                 // out, not NULL
        cudnnTensorFormat_t *format,               // out, not NULL
        int *k,                                    // out, not NULL
        int *c,                                    // out, not NULL
        int *h,                                    // out, not NULL
        int *w);                                   // out, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        cudnnFilterDescriptor_t filterDesc,  // in/out
        cudnnDataType_t dataType,            // in
        cudnnTensorFormat_t format,          // in
        int nbDims,                          // in
        const int filterDimA[]);             // in, nbDims of them, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        const cudnnFilterDescriptor_t filterDesc,  // in
        int nbDimsRequested,                       // in
        cudnnDataType_t *dataType,                 // out, not NULL
        cudnnTensorFormat_t *format,               // out, not NULL
        int *nbDims,                               // out, not NULL
        int filterDimA[]);                         // out, nbDimsRequested of them, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
    used by FilterDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnGetFilterSizeInBytes(
    filterDesc: Handle[cudnnFilterDescriptor_t],
    size: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetFilterSizeInBytes(
        const cudnnFilterDescriptor_t filterDesc,  // in
        size_t *size);                             // out, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        cudnnHandle_t handle,                              // in
        const cudnnTensorTransformDescriptor_t transDesc,  // in
        const void *alpha,                                 // in, one number on the host, as srcDesc or destDesc says
        const cudnnFilterDescriptor_t srcDesc,             // in, not NULL
        const void *srcData,                               // in, device memory, as srcDesc says
        const void *beta,                                  // in, one number on the host, as srcDesc or destDesc says
        const cudnnFilterDescriptor_t destDesc,            // in, not NULL
        void *destData);                                   // in/out, device memory, as destDesc says

    cudnn_ops.h, since 9.0.0, deprecated
    used by transform_filter
    """

@declared
def cudnnDestroyFilterDescriptor(filterDesc: Descriptor[cudnnFilterDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyFilterDescriptor(
        cudnnFilterDescriptor_t filterDesc);  // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        cudnnHandle_t handle,                 // in
        cudnnSoftmaxAlgorithm_t algo,         // in
        cudnnSoftmaxMode_t mode,              // in
        const void *alpha,                    // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,  // in
        const void *x,                        // in, device memory, as xDesc says
        const void *beta,                     // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t yDesc,  // in
        void *y);                             // in/out, device memory, as yDesc says

    cudnn_ops.h, since 9.0.0
    used by softmax_forward
    example: examples/07_softmax.py
    """

@declared
def cudnnCreatePoolingDescriptor(poolingDesc: NewHandle[cudnnPoolingDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreatePoolingDescriptor(
        cudnnPoolingDescriptor_t *poolingDesc);  // out

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR
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
        cudnnPoolingDescriptor_t poolingDesc,    // in/out
        cudnnPoolingMode_t mode,                 // in
        cudnnNanPropagation_t maxpoolingNanOpt,  // in
        int windowHeight,                        // in
        int windowWidth,                         // in
        int verticalPadding,                     // in
        int horizontalPadding,                   // in
        int verticalStride,                      // in
        int horizontalStride);                   // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR
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
        const cudnnPoolingDescriptor_t poolingDesc,  // in
        cudnnPoolingMode_t *mode,                    // out, not NULL
        cudnnNanPropagation_t *maxpoolingNanOpt,     // out, not NULL
        int *windowHeight,                           // out, not NULL
        int *windowWidth,                            // out, not NULL
        int *verticalPadding,                        // out, not NULL
        int *horizontalPadding,                      // out, not NULL
        int *verticalStride,                         // out, not NULL
        int *horizontalStride);                      // out, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR
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
        cudnnPoolingDescriptor_t poolingDesc,          // in/out
        const cudnnPoolingMode_t mode,                 // in
        const cudnnNanPropagation_t maxpoolingNanOpt,  // in
        int nbDims,                                    // in
        const int windowDimA[],                        // in, nbDims of them, not NULL
        const int paddingA[],                          // in, nbDims of them, not NULL
        const int strideA[]);                          // in, nbDims of them, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR
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
        const cudnnPoolingDescriptor_t poolingDesc,  // in
        int nbDimsRequested,                         // in
        cudnnPoolingMode_t *mode,                    // out, not NULL
        cudnnNanPropagation_t *maxpoolingNanOpt,     // out, not NULL
        int *nbDims,                                 // out, not NULL
        int windowDimA[],                            // out, nbDimsRequested of them, not NULL
        int paddingA[],                              // out, nbDimsRequested of them, not NULL
        int strideA[]);                              // out, nbDimsRequested of them, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR
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
        const cudnnPoolingDescriptor_t poolingDesc,     // in
        const cudnnTensorDescriptor_t inputTensorDesc,  // in, not NULL
        int nbDims,                                     // in
        int outputTensorDimA[]);                        // out, nbDims of them, not NULL

    cudnn_ops.h, since 9.0.0, deprecated
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
        const cudnnPoolingDescriptor_t poolingDesc,     // in
        const cudnnTensorDescriptor_t inputTensorDesc,  // in, not NULL
        int *n,                                         // out, not NULL
        int *c,                                         // out, not NULL
        int *h,                                         // out, not NULL
        int *w);                                        // out, not NULL

    cudnn_ops.h, since 9.0.0, deprecated
    used by PoolingDescriptor.output_shape
    example: examples/06_pooling.py
    """

@declared
def cudnnDestroyPoolingDescriptor(
    poolingDesc: Descriptor[cudnnPoolingDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyPoolingDescriptor(
        cudnnPoolingDescriptor_t poolingDesc);  // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_RESAMPLE_DESCRIPTOR
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
        cudnnHandle_t handle,                        // in
        const cudnnPoolingDescriptor_t poolingDesc,  // in
        const void *alpha,                           // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,         // in
        const void *x,                               // in, device memory, as xDesc says
        const void *beta,                            // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t yDesc,         // in
        void *y);                                    // in/out, device memory, as yDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR
    used by pooling_forward
    example: examples/06_pooling.py
    """

@declared
def cudnnCreateActivationDescriptor(
    activationDesc: NewHandle[cudnnActivationDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateActivationDescriptor(
        cudnnActivationDescriptor_t *activationDesc);  // out

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
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
        cudnnActivationDescriptor_t activationDesc,  // in/out
        cudnnActivationMode_t mode,                  // in
        cudnnNanPropagation_t reluNanOpt,            // in
        double coef);                                // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
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
        const cudnnActivationDescriptor_t activationDesc,  // in
        cudnnActivationMode_t *mode,                       // out, not NULL
        cudnnNanPropagation_t *reluNanOpt,                 // out, not NULL
        double *coef);                                     // out, not NULL

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
    used by ActivationDescriptor
    example: examples/10_gradients.py
    """

@declared
def cudnnSetActivationDescriptorSwishBeta(
    activationDesc: Handle[cudnnActivationDescriptor_t],
    swish_beta: Real,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(
        cudnnActivationDescriptor_t activationDesc,  // in/out
        double swish_beta);                          // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
    used by ActivationDescriptor.swish_beta
    """

@declared
def cudnnGetActivationDescriptorSwishBeta(
    activationDesc: Handle[cudnnActivationDescriptor_t],
    swish_beta: Pointer[c_double],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetActivationDescriptorSwishBeta(
        cudnnActivationDescriptor_t activationDesc,  // in
        double *swish_beta);                         // out

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
    used by ActivationDescriptor
    example: examples/10_gradients.py
    """

@declared
def cudnnDestroyActivationDescriptor(
    activationDesc: Descriptor[cudnnActivationDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyActivationDescriptor(
        cudnnActivationDescriptor_t activationDesc);  // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_POINTWISE_DESCRIPTOR
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
        cudnnHandle_t handle,                        // in
        cudnnActivationDescriptor_t activationDesc,  // in
        const void *alpha,                           // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,         // in
        const void *x,                               // in, device memory, as xDesc says
        const void *beta,                            // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t yDesc,         // in
        void *y);                                    // in/out, device memory, as yDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR
    used by activation_forward
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnCreateLRNDescriptor(normDesc: NewHandle[cudnnLRNDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateLRNDescriptor(
        cudnnLRNDescriptor_t *normDesc);  // out, not NULL

    cudnn_ops.h, since 9.0.0
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
        cudnnLRNDescriptor_t normDesc,  // in/out, not NULL
        unsigned int lrnN,              // in
        double lrnAlpha,                // in
        double lrnBeta,                 // in
        double lrnK);                   // in

    cudnn_ops.h, since 9.0.0
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
        cudnnLRNDescriptor_t normDesc,  // in, not NULL
        unsigned int *lrnN,             // out
        double *lrnAlpha,               // out
        double *lrnBeta,                // out
        double *lrnK);                  // out

    cudnn_ops.h, since 9.0.0
    used by LRNDescriptor
    """

@declared
def cudnnDestroyLRNDescriptor(lrnDesc: Descriptor[cudnnLRNDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyLRNDescriptor(
        cudnnLRNDescriptor_t lrnDesc);  // in

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                 // in
        cudnnLRNDescriptor_t normDesc,        // in, not NULL
        cudnnLRNMode_t lrnMode,               // in
        const void *alpha,                    // in, one number on the host, as yDesc says, not NULL
        const cudnnTensorDescriptor_t xDesc,  // in, not NULL
        const void *x,                        // in, device memory, as xDesc says
        const void *beta,                     // in, one number on the host, as yDesc says, not NULL
        const cudnnTensorDescriptor_t yDesc,  // in, not NULL
        void *y);                             // in/out, device memory, as yDesc says

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                 // in
        cudnnLRNDescriptor_t normDesc,        // in, not NULL
        cudnnDivNormMode_t mode,              // in
        const void *alpha,                    // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,  // in, not NULL
        const void *x,                        // in, device memory, as xDesc says
        const void *means,                    // in, device memory, as xDesc says
        void *temp,                           // out, device memory, as xDesc says
        void *temp2,                          // out, device memory, as xDesc says
        const void *beta,                     // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t yDesc,  // in, not NULL
        void *y);                             // in/out, device memory, as yDesc says

    cudnn_ops.h, since 9.0.0
    used by divisive_normalization_forward
    """

@declared
def cudnnDeriveBNTensorDescriptor(
    derivedBnDesc: Handle[cudnnTensorDescriptor_t],
    xDesc: Handle[cudnnTensorDescriptor_t],
    mode: EnumValue[cudnnBatchNormMode_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDeriveBNTensorDescriptor(
        cudnnTensorDescriptor_t derivedBnDesc,  // in/out
        const cudnnTensorDescriptor_t xDesc,    // in, not NULL
        cudnnBatchNormMode_t mode);             // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        cudnnHandle_t handle,                                  // in
        cudnnBatchNormMode_t mode,                             // in
        const void *alpha,                                     // in, one number on the host, as yDesc says
        const void *beta,                                      // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,                   // in, not NULL
        const void *x,                                         // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t yDesc,                   // in, not NULL
        void *y,                                               // in/out, device memory, as yDesc says
        const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,  // in, not NULL
        const void *bnScale,                                   // in, device memory, as bnScaleBiasMeanVarDesc says
        const void *bnBias,                                    // in, device memory, as bnScaleBiasMeanVarDesc says
        const void *estimatedMean,                             // in, device memory, as bnScaleBiasMeanVarDesc says
        const void *estimatedVariance,                         // in, device memory, as bnScaleBiasMeanVarDesc says
        double epsilon);                                       // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR
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
        cudnnTensorDescriptor_t derivedNormScaleBiasDesc,  // in/out
        cudnnTensorDescriptor_t derivedNormMeanVarDesc,    // in/out
        const cudnnTensorDescriptor_t xDesc,               // in, not NULL
        cudnnNormMode_t mode,                              // in
        int groupCnt);                                     // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        cudnnHandle_t handle,                             // in
        cudnnNormMode_t mode,                             // in
        cudnnNormOps_t normOps,                           // in
        cudnnNormAlgo_t algo,                             // in
        const void *alpha,                                // in, one number on the host, as yDesc says
        const void *beta,                                 // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,              // in, not NULL
        const void *x,                                    // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t normScaleBiasDesc,  // in, not NULL
        const void *normScale,                            // in, device memory, as normScaleBiasDesc says
        const void *normBias,                             // in, device memory, as normScaleBiasDesc says
        const cudnnTensorDescriptor_t normMeanVarDesc,    // in, not NULL
        const void *estimatedMean,                        // in, device memory, as normMeanVarDesc says
        const void *estimatedVariance,                    // in, device memory, as normMeanVarDesc says
        const cudnnTensorDescriptor_t zDesc,              // in
        const void *z,                                    // in, device memory, as zDesc says
        cudnnActivationDescriptor_t activationDesc,       // in
        const cudnnTensorDescriptor_t yDesc,              // in, not NULL
        void *y,                                          // in/out, device memory, as yDesc says
        double epsilon,                                   // in
        int groupCnt);                                    // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR
    used by normalization_forward_inference
    """

@declared
def cudnnCreateSpatialTransformerDescriptor(
    stDesc: NewHandle[cudnnSpatialTransformerDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateSpatialTransformerDescriptor(
        cudnnSpatialTransformerDescriptor_t *stDesc);  // out

    cudnn_ops.h, since 9.0.0
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
        cudnnSpatialTransformerDescriptor_t stDesc,  // in/out
        cudnnSamplerType_t samplerType,              // in
        cudnnDataType_t dataType,                    // in
        const int nbDims,                            // in
        const int dimA[]);                           // in, nbDims of them

    cudnn_ops.h, since 9.0.0
    used by SpatialTransformerDescriptor.set_nd
    """

@declared
def cudnnDestroySpatialTransformerDescriptor(
    stDesc: Descriptor[cudnnSpatialTransformerDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroySpatialTransformerDescriptor(
        cudnnSpatialTransformerDescriptor_t stDesc);  // in

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                              // in
        const cudnnSpatialTransformerDescriptor_t stDesc,  // in, not NULL
        const void *theta,                                 // in, device memory
        void *grid);                                       // out, device memory

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                        // in
        cudnnSpatialTransformerDescriptor_t stDesc,  // in, not NULL
        const void *alpha,                           // in, one number on the host, as yDesc says, not NULL
        const cudnnTensorDescriptor_t xDesc,         // in, not NULL
        const void *x,                               // in, device memory, as xDesc says
        const void *grid,                            // in, device memory
        const void *beta,                            // in, one number on the host, as yDesc says, not NULL
        cudnnTensorDescriptor_t yDesc,               // in, not NULL
        void *y);                                    // in/out, device memory, as yDesc says

    cudnn_ops.h, since 9.0.0
    used by spatial_tf_sampler_forward
    """

@declared
def cudnnCreateDropoutDescriptor(dropoutDesc: NewHandle[cudnnDropoutDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateDropoutDescriptor(
        cudnnDropoutDescriptor_t *dropoutDesc);  // out

    cudnn_ops.h, since 9.0.0
    used by DropoutDescriptor
    example: examples/09_rnn.py
    """

@declared
def cudnnDestroyDropoutDescriptor(
    dropoutDesc: Descriptor[cudnnDropoutDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyDropoutDescriptor(
        cudnnDropoutDescriptor_t dropoutDesc);  // in

    cudnn_ops.h, since 9.0.0
    used by DropoutDescriptor
    example: examples/09_rnn.py
    """

@declared
def cudnnDropoutGetStatesSize(
    handle: Handle[cudnnHandle_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDropoutGetStatesSize(
        cudnnHandle_t handle,  // in
        size_t *sizeInBytes);  // out, not NULL

    cudnn_ops.h, since 9.0.0
    used by dropout_states_size
    """

@declared
def cudnnDropoutGetReserveSpaceSize(
    xdesc: Handle[cudnnTensorDescriptor_t],
    sizeInBytes: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDropoutGetReserveSpaceSize(
        cudnnTensorDescriptor_t xdesc,  // in
        size_t *sizeInBytes);           // out, not NULL

    cudnn_ops.h, since 9.0.0
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
        cudnnDropoutDescriptor_t dropoutDesc,  // in/out
        cudnnHandle_t handle,                  // in
        float dropout,                         // in
        void *states,                          // in/out, device memory, as stateSizeInBytes says
        size_t stateSizeInBytes,               // in
        unsigned long long seed);              // in

    cudnn_ops.h, since 9.0.0
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
        cudnnDropoutDescriptor_t dropoutDesc,  // in/out
        cudnnHandle_t handle,                  // in
        float dropout,                         // in
        void *states,                          // in/out, device memory, as stateSizeInBytes says
        size_t stateSizeInBytes,               // in
        unsigned long long seed);              // in

    cudnn_ops.h, since 9.0.0
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
        cudnnDropoutDescriptor_t dropoutDesc,  // in
        cudnnHandle_t handle,                  // in
        float *dropout,                        // out
        void **states,                         // out
        unsigned long long *seed);             // out

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                        // in
        const cudnnDropoutDescriptor_t dropoutDesc,  // in
        const cudnnTensorDescriptor_t xdesc,         // in, not NULL
        const void *x,                               // in, device memory, as xdesc says
        const cudnnTensorDescriptor_t ydesc,         // in, not NULL
        void *y,                                     // out, device memory, as ydesc says
        void *reserveSpace,                          // out, device memory, as reserveSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes);             // in

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                  // in
        cudnnSoftmaxAlgorithm_t algo,          // in
        cudnnSoftmaxMode_t mode,               // in
        const void *alpha,                     // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t yDesc,   // in
        const void *y,                         // in, device memory, as yDesc says
        const cudnnTensorDescriptor_t dyDesc,  // in
        const void *dy,                        // in, device memory, as dyDesc says
        const void *beta,                      // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t dxDesc,  // in
        void *dx);                             // in/out, device memory, as dxDesc says

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                        // in
        const cudnnPoolingDescriptor_t poolingDesc,  // in
        const void *alpha,                           // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t yDesc,         // in
        const void *y,                               // in, device memory, as yDesc says
        const cudnnTensorDescriptor_t dyDesc,        // in
        const void *dy,                              // in, device memory, as dyDesc says
        const cudnnTensorDescriptor_t xDesc,         // in
        const void *x,                               // in, device memory, as xDesc says
        const void *beta,                            // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t dxDesc,        // in
        void *dx);                                   // in/out, device memory, as dxDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR
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
        cudnnHandle_t handle,                        // in
        cudnnActivationDescriptor_t activationDesc,  // in
        const void *alpha,                           // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t yDesc,         // in
        const void *y,                               // in, device memory, as yDesc says
        const cudnnTensorDescriptor_t dyDesc,        // in
        const void *dy,                              // in, device memory, as dyDesc says
        const cudnnTensorDescriptor_t xDesc,         // in
        const void *x,                               // in, device memory, as xDesc says
        const void *beta,                            // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t dxDesc,        // in
        void *dx);                                   // in/out, device memory, as dxDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR
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
        cudnnHandle_t handle,                  // in
        cudnnLRNDescriptor_t normDesc,         // in, not NULL
        cudnnLRNMode_t lrnMode,                // in
        const void *alpha,                     // in, one number on the host, as dxDesc says, not NULL
        const cudnnTensorDescriptor_t yDesc,   // in
        const void *y,                         // in, device memory, as yDesc says
        const cudnnTensorDescriptor_t dyDesc,  // in, not NULL
        const void *dy,                        // in, device memory, as dyDesc says
        const cudnnTensorDescriptor_t xDesc,   // in, not NULL
        const void *x,                         // in, device memory, as xDesc says
        const void *beta,                      // in, one number on the host, as dxDesc says, not NULL
        const cudnnTensorDescriptor_t dxDesc,  // in, not NULL
        void *dx);                             // in/out, device memory, as dxDesc says

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                        // in
        cudnnLRNDescriptor_t normDesc,               // in, not NULL
        cudnnDivNormMode_t mode,                     // in
        const void *alpha,                           // in, one number on the host, as dXdMeansDesc says
        const cudnnTensorDescriptor_t xDesc,         // in, not NULL
        const void *x,                               // in, device memory, as xDesc says
        const void *means,                           // in, device memory, as xDesc says
        const void *dy,                              // in, device memory, as xDesc says
        void *temp,                                  // out, device memory, as xDesc says
        void *temp2,                                 // out, device memory, as xDesc says
        const void *beta,                            // in, one number on the host, as dXdMeansDesc says
        const cudnnTensorDescriptor_t dXdMeansDesc,  // in, not NULL
        void *dx,                                    // in/out, device memory, as dXdMeansDesc says
        void *dMeans);                               // in/out, device memory, as dXdMeansDesc says

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                                  // in
        cudnnBatchNormMode_t mode,                             // in
        cudnnBatchNormOps_t bnOps,                             // in
        const cudnnTensorDescriptor_t xDesc,                   // in
        const cudnnTensorDescriptor_t zDesc,                   // in
        const cudnnTensorDescriptor_t yDesc,                   // in
        const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,  // in
        const cudnnActivationDescriptor_t activationDesc,      // in
        size_t *sizeInBytes);                                  // out

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
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
        cudnnHandle_t handle,                              // in
        cudnnBatchNormMode_t mode,                         // in
        cudnnBatchNormOps_t bnOps,                         // in
        const cudnnTensorDescriptor_t xDesc,               // in
        const cudnnTensorDescriptor_t yDesc,               // in
        const cudnnTensorDescriptor_t dyDesc,              // in
        const cudnnTensorDescriptor_t dzDesc,              // in
        const cudnnTensorDescriptor_t dxDesc,              // in
        const cudnnTensorDescriptor_t dBnScaleBiasDesc,    // in
        const cudnnActivationDescriptor_t activationDesc,  // in
        size_t *sizeInBytes);                              // out

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
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
        cudnnHandle_t handle,                              // in
        cudnnBatchNormMode_t mode,                         // in
        cudnnBatchNormOps_t bnOps,                         // in
        const cudnnActivationDescriptor_t activationDesc,  // in
        const cudnnTensorDescriptor_t xDesc,               // in
        size_t *sizeInBytes);                              // out

    cudnn_ops.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,                                  // in
        cudnnBatchNormMode_t mode,                             // in
        const void *alpha,                                     // in, one number on the host, as yDesc says
        const void *beta,                                      // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,                   // in
        const void *x,                                         // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t yDesc,                   // in
        void *y,                                               // in/out, device memory, as yDesc says
        const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,  // in
        const void *bnScale,                                   // in, device memory, as bnScaleBiasMeanVarDesc says
        const void *bnBias,                                    // in, device memory, as bnScaleBiasMeanVarDesc says
        double exponentialAverageFactor,                       // in
        void *resultRunningMean,                               // in/out, device memory, as bnScaleBiasMeanVarDesc says
        void *resultRunningVariance,                           // in/out, device memory, as bnScaleBiasMeanVarDesc says
        double epsilon,                                        // in
        void *resultSaveMean,                                  // out, device memory, as bnScaleBiasMeanVarDesc says
        void *resultSaveInvVariance);                          // out, device memory, as bnScaleBiasMeanVarDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR
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
        cudnnHandle_t handle,                                  // in
        cudnnBatchNormMode_t mode,                             // in
        cudnnBatchNormOps_t bnOps,                             // in
        const void *alpha,                                     // in, one number on the host, as yDesc says
        const void *beta,                                      // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,                   // in
        const void *xData,                                     // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t zDesc,                   // in
        const void *zData,                                     // in, device memory, as zDesc says
        const cudnnTensorDescriptor_t yDesc,                   // in
        void *yData,                                           // in/out, device memory, as yDesc says
        const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,  // in
        const void *bnScale,                                   // in, device memory, as bnScaleBiasMeanVarDesc says
        const void *bnBias,                                    // in, device memory, as bnScaleBiasMeanVarDesc says
        double exponentialAverageFactor,                       // in
        void *resultRunningMean,                               // in/out, device memory, as bnScaleBiasMeanVarDesc says
        void *resultRunningVariance,                           // in/out, device memory, as bnScaleBiasMeanVarDesc says
        double epsilon,                                        // in
        void *resultSaveMean,                                  // out, device memory, as bnScaleBiasMeanVarDesc says
        void *resultSaveInvVariance,                           // out, device memory, as bnScaleBiasMeanVarDesc says
        cudnnActivationDescriptor_t activationDesc,            // in
        void *workspace,                                       // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes,                           // in
        void *reserveSpace,                                    // in/out, device memory, as reserveSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes);                       // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR
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
        cudnnHandle_t handle,                            // in
        cudnnBatchNormMode_t mode,                       // in
        const void *alphaDataDiff,                       // in, one number on the host, as dxDesc says
        const void *betaDataDiff,                        // in, one number on the host, as dxDesc says
        const void *alphaParamDiff,                      // in, one number on the host, as dxDesc says
        const void *betaParamDiff,                       // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t xDesc,             // in, not NULL
        const void *x,                                   // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t dyDesc,            // in, not NULL
        const void *dy,                                  // in, device memory, as dyDesc says
        const cudnnTensorDescriptor_t dxDesc,            // in, not NULL
        void *dx,                                        // in/out, device memory, as dxDesc says
        const cudnnTensorDescriptor_t dBnScaleBiasDesc,  // in, not NULL
        const void *bnScale,                             // in, device memory, as dBnScaleBiasDesc says
        void *dBnScaleResult,                            // in/out, device memory, as dBnScaleBiasDesc says
        void *dBnBiasResult,                             // in/out, device memory, as dBnScaleBiasDesc says
        double epsilon,                                  // in
        const void *savedMean,                           // in, device memory, as dBnScaleBiasDesc says
        const void *savedInvVariance);                   // in, device memory, as dBnScaleBiasDesc says

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR
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
        cudnnHandle_t handle,                            // in
        cudnnBatchNormMode_t mode,                       // in
        cudnnBatchNormOps_t bnOps,                       // in
        const void *alphaDataDiff,                       // in, one number on the host, as dxDesc says
        const void *betaDataDiff,                        // in, one number on the host, as dxDesc says
        const void *alphaParamDiff,                      // in, one number on the host, as dxDesc says
        const void *betaParamDiff,                       // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t xDesc,             // in, not NULL
        const void *xData,                               // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t yDesc,             // in
        const void *yData,                               // in, device memory, as yDesc says
        const cudnnTensorDescriptor_t dyDesc,            // in, not NULL
        const void *dyData,                              // in, device memory, as dyDesc says
        const cudnnTensorDescriptor_t dzDesc,            // in
        void *dzData,                                    // in/out, device memory, as dzDesc says
        const cudnnTensorDescriptor_t dxDesc,            // in, not NULL
        void *dxData,                                    // in/out, device memory, as dxDesc says
        const cudnnTensorDescriptor_t dBnScaleBiasDesc,  // in, not NULL
        const void *bnScaleData,                         // in, device memory, as dBnScaleBiasDesc says
        const void *bnBiasData,                          // in, device memory, as dBnScaleBiasDesc says
        void *dBnScaleData,                              // in/out, device memory, as dBnScaleBiasDesc says
        void *dBnBiasData,                               // in/out, device memory, as dBnScaleBiasDesc says
        double epsilon,                                  // in
        const void *savedMean,                           // in, device memory, as dBnScaleBiasDesc says
        const void *savedInvVariance,                    // in, device memory, as dBnScaleBiasDesc says
        cudnnActivationDescriptor_t activationDesc,      // in
        void *workSpace,                                 // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes,                     // in
        void *reserveSpace,                              // in/out, device memory, as reserveSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes);                 // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR
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
        cudnnHandle_t handle,                              // in
        cudnnNormMode_t mode,                              // in
        cudnnNormOps_t normOps,                            // in
        cudnnNormAlgo_t algo,                              // in
        const cudnnTensorDescriptor_t xDesc,               // in
        const cudnnTensorDescriptor_t zDesc,               // in
        const cudnnTensorDescriptor_t yDesc,               // in
        const cudnnTensorDescriptor_t normScaleBiasDesc,   // in
        const cudnnActivationDescriptor_t activationDesc,  // in
        const cudnnTensorDescriptor_t normMeanVarDesc,     // in
        size_t *sizeInBytes,                               // out
        int groupCnt);                                     // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
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
        cudnnHandle_t handle,                              // in
        cudnnNormMode_t mode,                              // in
        cudnnNormOps_t normOps,                            // in
        cudnnNormAlgo_t algo,                              // in
        const cudnnTensorDescriptor_t xDesc,               // in
        const cudnnTensorDescriptor_t yDesc,               // in
        const cudnnTensorDescriptor_t dyDesc,              // in
        const cudnnTensorDescriptor_t dzDesc,              // in
        const cudnnTensorDescriptor_t dxDesc,              // in
        const cudnnTensorDescriptor_t dNormScaleBiasDesc,  // in
        const cudnnActivationDescriptor_t activationDesc,  // in
        const cudnnTensorDescriptor_t normMeanVarDesc,     // in
        size_t *sizeInBytes,                               // out
        int groupCnt);                                     // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
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
        cudnnHandle_t handle,                              // in
        cudnnNormMode_t mode,                              // in
        cudnnNormOps_t normOps,                            // in
        cudnnNormAlgo_t algo,                              // in
        const cudnnActivationDescriptor_t activationDesc,  // in
        const cudnnTensorDescriptor_t xDesc,               // in
        size_t *sizeInBytes,                               // out
        int groupCnt);                                     // in

    cudnn_ops.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,                             // in
        cudnnNormMode_t mode,                             // in
        cudnnNormOps_t normOps,                           // in
        cudnnNormAlgo_t algo,                             // in
        const void *alpha,                                // in, one number on the host, as yDesc says
        const void *beta,                                 // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,              // in
        const void *xData,                                // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t normScaleBiasDesc,  // in
        const void *normScale,                            // in, device memory, as normScaleBiasDesc says
        const void *normBias,                             // in, device memory, as normScaleBiasDesc says
        double exponentialAverageFactor,                  // in
        const cudnnTensorDescriptor_t normMeanVarDesc,    // in
        void *resultRunningMean,                          // in/out, device memory, as normMeanVarDesc says
        void *resultRunningVariance,                      // in/out, device memory, as normMeanVarDesc says
        double epsilon,                                   // in
        void *resultSaveMean,                             // out, device memory, as normMeanVarDesc says
        void *resultSaveInvVariance,                      // out, device memory, as normMeanVarDesc says
        cudnnActivationDescriptor_t activationDesc,       // in
        const cudnnTensorDescriptor_t zDesc,              // in
        const void *zData,                                // in, device memory, as zDesc says
        const cudnnTensorDescriptor_t yDesc,              // in
        void *yData,                                      // in/out, device memory, as yDesc says
        void *workspace,                                  // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes,                      // in
        void *reserveSpace,                               // in/out, device memory, as reserveSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes,                   // in
        int groupCnt);                                    // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR
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
        cudnnHandle_t handle,                              // in
        cudnnNormMode_t mode,                              // in
        cudnnNormOps_t normOps,                            // in
        cudnnNormAlgo_t algo,                              // in
        const void *alphaDataDiff,                         // in, one number on the host, as dxDesc says
        const void *betaDataDiff,                          // in, one number on the host, as dxDesc says
        const void *alphaParamDiff,                        // in, one number on the host, as dxDesc says
        const void *betaParamDiff,                         // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t xDesc,               // in, not NULL
        const void *xData,                                 // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t yDesc,               // in
        const void *yData,                                 // in, device memory, as yDesc says
        const cudnnTensorDescriptor_t dyDesc,              // in, not NULL
        const void *dyData,                                // in, device memory, as dyDesc says
        const cudnnTensorDescriptor_t dzDesc,              // in
        void *dzData,                                      // in/out, device memory, as dzDesc says
        const cudnnTensorDescriptor_t dxDesc,              // in, not NULL
        void *dxData,                                      // in/out, device memory, as dxDesc says
        const cudnnTensorDescriptor_t dNormScaleBiasDesc,  // in, not NULL
        const void *normScaleData,                         // in, device memory, as dNormScaleBiasDesc says
        const void *normBiasData,                          // in, device memory, as dNormScaleBiasDesc says, NULL if no normOps
        void *dNormScaleData,                              // in/out, device memory, as dNormScaleBiasDesc says
        void *dNormBiasData,                               // in/out, device memory, as dNormScaleBiasDesc says
        double epsilon,                                    // in
        const cudnnTensorDescriptor_t normMeanVarDesc,     // in, not NULL
        const void *savedMean,                             // in, device memory, as normMeanVarDesc says
        const void *savedInvVariance,                      // in, device memory, as normMeanVarDesc says
        cudnnActivationDescriptor_t activationDesc,        // in
        void *workSpace,                                   // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes,                       // in
        void *reserveSpace,                                // in/out, device memory, as reserveSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes,                    // in
        int groupCnt);                                     // in

    cudnn_ops.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR
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
        cudnnHandle_t handle,                              // in
        const cudnnSpatialTransformerDescriptor_t stDesc,  // in, not NULL
        const void *dgrid,                                 // in, device memory
        void *dtheta);                                     // out, device memory

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                        // in
        cudnnSpatialTransformerDescriptor_t stDesc,  // in, not NULL
        const void *alpha,                           // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t xDesc,         // in, not NULL
        const void *x,                               // in, device memory, as xDesc says
        const void *beta,                            // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t dxDesc,        // in, not NULL
        void *dx,                                    // in/out, device memory, as dxDesc says
        const void *alphaDgrid,                      // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t dyDesc,        // in, not NULL
        const void *dy,                              // in, device memory, as dyDesc says
        const void *grid,                            // in, device memory
        const void *betaDgrid,                       // in, one number on the host, as dxDesc says
        void *dgrid);                                // in/out, device memory

    cudnn_ops.h, since 9.0.0
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
        cudnnHandle_t handle,                        // in
        const cudnnDropoutDescriptor_t dropoutDesc,  // in
        const cudnnTensorDescriptor_t dydesc,        // in, not NULL
        const void *dy,                              // in, device memory, as dydesc says
        const cudnnTensorDescriptor_t dxdesc,        // in, not NULL
        void *dx,                                    // out, device memory, as dxdesc says
        void *reserveSpace,                          // in, device memory, as reserveSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes);             // in

    cudnn_ops.h, since 9.0.0
    used by dropout_backward
    """

@declared
def cudnnCreateConvolutionDescriptor(
    convDesc: NewHandle[cudnnConvolutionDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateConvolutionDescriptor(
        cudnnConvolutionDescriptor_t *convDesc);  // out

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR
    used by ConvolutionDescriptor
    example: examples/01_smallest_program.py
    """

@declared
def cudnnDestroyConvolutionDescriptor(
    convDesc: Descriptor[cudnnConvolutionDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyConvolutionDescriptor(
        cudnnConvolutionDescriptor_t convDesc);  // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR
    used by ConvolutionDescriptor
    example: examples/01_smallest_program.py
    """

@declared
def cudnnSetConvolutionMathType(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    mathType: EnumValue[cudnnMathType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetConvolutionMathType(
        cudnnConvolutionDescriptor_t convDesc,  // in/out
        cudnnMathType_t mathType);              // in

    cudnn_cnn.h, since 9.0.0, deprecated
    used by ConvolutionDescriptor.math_type
    example: examples/05_algorithms.py
    """

@declared
def cudnnGetConvolutionMathType(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    mathType: EnumPointer[cudnnMathType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionMathType(
        cudnnConvolutionDescriptor_t convDesc,  // in
        cudnnMathType_t *mathType);             // out, not NULL

    cudnn_cnn.h, since 9.0.0, deprecated
    used by ConvolutionDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnSetConvolutionGroupCount(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    groupCount: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetConvolutionGroupCount(
        cudnnConvolutionDescriptor_t convDesc,  // in/out
        int groupCount);                        // in

    cudnn_cnn.h, since 9.0.0, deprecated
    used by ConvolutionDescriptor.groups
    """

@declared
def cudnnGetConvolutionGroupCount(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    groupCount: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionGroupCount(
        cudnnConvolutionDescriptor_t convDesc,  // in
        int *groupCount);                       // out, not NULL

    cudnn_cnn.h, since 9.0.0, deprecated
    used by ConvolutionDescriptor
    example: examples/03_convolution.py
    """

@declared
def cudnnSetConvolutionReorderType(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    reorderType: EnumValue[cudnnReorderType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetConvolutionReorderType(
        cudnnConvolutionDescriptor_t convDesc,  // in/out
        cudnnReorderType_t reorderType);        // in

    cudnn_cnn.h, since 9.0.0, deprecated
    used by ConvolutionDescriptor.reorder_type
    """

@declared
def cudnnGetConvolutionReorderType(
    convDesc: Handle[cudnnConvolutionDescriptor_t],
    reorderType: EnumPointer[cudnnReorderType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionReorderType(
        cudnnConvolutionDescriptor_t convDesc,  // in
        cudnnReorderType_t *reorderType);       // out

    cudnn_cnn.h, since 9.0.0, deprecated
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
        cudnnConvolutionDescriptor_t convDesc,  // in/out
        int pad_h,                              // in
        int pad_w,                              // in
        int u,                                  // in
        int v,                                  // in
        int dilation_h,                         // in
        int dilation_w,                         // in
        cudnnConvolutionMode_t mode,            // in
        cudnnDataType_t computeType);           // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR
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
        const cudnnConvolutionDescriptor_t convDesc,  // in
        int *pad_h,                                   // out, not NULL
        int *pad_w,                                   // out, not NULL
        int *u,                                       // out, not NULL
        int *v,                                       // out, not NULL
        int *dilation_h,                              // out, not NULL
        int *dilation_w,                              // out, not NULL
        cudnnConvolutionMode_t *mode,                 // out, not NULL
        cudnnDataType_t *computeType);                // out, not NULL

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR
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
        cudnnConvolutionDescriptor_t convDesc,  // in/out
        int arrayLength,                        // in
        const int padA[],                       // in, arrayLength of them, not NULL
        const int filterStrideA[],              // in, arrayLength of them, not NULL
        const int dilationA[],                  // in, arrayLength of them, not NULL
        cudnnConvolutionMode_t mode,            // in
        cudnnDataType_t computeType);           // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR
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
        const cudnnConvolutionDescriptor_t convDesc,  // in
        int arrayLengthRequested,                     // in
        int *arrayLength,                             // out, not NULL
        int padA[],                                   // out, arrayLengthRequested of them, not NULL
        int strideA[],                                // out, arrayLengthRequested of them, not NULL
        int dilationA[],                              // out, arrayLengthRequested of them, not NULL
        cudnnConvolutionMode_t *mode,                 // out, not NULL
        cudnnDataType_t *computeType);                // out, not NULL

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR
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
        const cudnnConvolutionDescriptor_t convDesc,    // in
        const cudnnTensorDescriptor_t inputTensorDesc,  // in
        const cudnnFilterDescriptor_t filterDesc,       // in
        int *n,                                         // out, not NULL
        int *c,                                         // out, not NULL
        int *h,                                         // out, not NULL
        int *w);                                        // out, not NULL

    cudnn_cnn.h, since 9.0.0, deprecated
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
        const cudnnConvolutionDescriptor_t convDesc,    // in
        const cudnnTensorDescriptor_t inputTensorDesc,  // in
        const cudnnFilterDescriptor_t filterDesc,       // in
        int nbDims,                                     // in
        int tensorOuputDimA[]);                         // out, nbDims of them

    cudnn_cnn.h, since 9.0.0, deprecated
    used by ConvolutionDescriptor.output_shape
    example: examples/03_convolution.py
    """

@declared
def cudnnGetConvolutionForwardAlgorithmMaxCount(
    handle: Handle[cudnnHandle_t],
    count: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(
        cudnnHandle_t handle,  // in
        int *count);           // out, not NULL

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                          // in
        const cudnnTensorDescriptor_t srcDesc,         // in
        const cudnnFilterDescriptor_t filterDesc,      // in
        const cudnnConvolutionDescriptor_t convDesc,   // in
        const cudnnTensorDescriptor_t destDesc,        // in
        const int requestedAlgoCount,                  // in
        int *returnedAlgoCount,                        // out
        cudnnConvolutionFwdAlgoPerf_t perfResults[]);  // out, requestedAlgoCount of them, not NULL

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                          // in
        const cudnnTensorDescriptor_t xDesc,           // in
        const cudnnFilterDescriptor_t wDesc,           // in
        const cudnnConvolutionDescriptor_t convDesc,   // in
        const cudnnTensorDescriptor_t yDesc,           // in
        const int requestedAlgoCount,                  // in
        int *returnedAlgoCount,                        // out
        cudnnConvolutionFwdAlgoPerf_t perfResults[]);  // out, requestedAlgoCount of them

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                         // in
        const cudnnTensorDescriptor_t xDesc,          // in
        const void *x,                                // in, device memory, as xDesc says
        const cudnnFilterDescriptor_t wDesc,          // in
        const void *w,                                // in, device memory, as wDesc says
        const cudnnConvolutionDescriptor_t convDesc,  // in
        const cudnnTensorDescriptor_t yDesc,          // in
        void *y,                                      // out, device memory, as yDesc says
        const int requestedAlgoCount,                 // in
        int *returnedAlgoCount,                       // out
        cudnnConvolutionFwdAlgoPerf_t perfResults[],  // out, requestedAlgoCount of them
        void *workSpace,                              // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes);                 // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                         // in
        const cudnnTensorDescriptor_t xDesc,          // in, not NULL
        const void *x,                                // in, device memory, as xDesc says
        const cudnnFilterDescriptor_t wDesc,          // in, not NULL
        const cudnnConvolutionDescriptor_t convDesc,  // in, not NULL
        void *colBuffer);                             // out, device memory

    cudnn_cnn.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,                      // in
        const cudnnFilterDescriptor_t filterDesc,  // in
        cudnnReorderType_t reorderType,            // in
        const void *filterData,                    // in, device memory, as filterDesc says
        void *reorderedFilterData,                 // out, device memory, as filterDesc says
        int reorderBias,                           // in
        const void *biasData,                      // in, device memory
        void *reorderedBiasData);                  // out, device memory

    cudnn_cnn.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,                         // in
        const cudnnTensorDescriptor_t xDesc,          // in
        const cudnnFilterDescriptor_t wDesc,          // in
        const cudnnConvolutionDescriptor_t convDesc,  // in
        const cudnnTensorDescriptor_t yDesc,          // in
        cudnnConvolutionFwdAlgo_t algo,               // in
        size_t *sizeInBytes);                         // out

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
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
        cudnnHandle_t handle,                         // in
        const void *alpha,                            // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,          // in
        const void *x,                                // in, device memory, as xDesc says
        const cudnnFilterDescriptor_t wDesc,          // in
        const void *w,                                // in, device memory, as wDesc says
        const cudnnConvolutionDescriptor_t convDesc,  // in
        cudnnConvolutionFwdAlgo_t algo,               // in
        void *workSpace,                              // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes,                  // in
        const void *beta,                             // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t yDesc,          // in
        void *y);                                     // in/out, device memory, as yDesc says

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR
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
        cudnnHandle_t handle,                              // in
        const void *alpha1,                                // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t xDesc,               // in
        const void *x,                                     // in, device memory, as xDesc says
        const cudnnFilterDescriptor_t wDesc,               // in
        const void *w,                                     // in, device memory, as wDesc says
        const cudnnConvolutionDescriptor_t convDesc,       // in
        cudnnConvolutionFwdAlgo_t algo,                    // in
        void *workSpace,                                   // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes,                       // in
        const void *alpha2,                                // in, one number on the host, as yDesc says
        const cudnnTensorDescriptor_t zDesc,               // in
        const void *z,                                     // in, device memory, as zDesc says
        const cudnnTensorDescriptor_t biasDesc,            // in
        const void *bias,                                  // in, device memory, as biasDesc says
        const cudnnActivationDescriptor_t activationDesc,  // in
        const cudnnTensorDescriptor_t yDesc,               // in
        void *y);                                          // in/out, device memory, as yDesc says

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR
    used by convolution_bias_activation_forward
    example: examples/21_legacy_and_graph.py
    """

@declared
def cudnnGetConvolutionBackwardDataAlgorithmMaxCount(
    handle: Handle[cudnnHandle_t],
    count: Pointer[c_int],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(
        cudnnHandle_t handle,  // in
        int *count);           // out, not NULL

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                              // in
        const cudnnFilterDescriptor_t wDesc,               // in
        const cudnnTensorDescriptor_t dyDesc,              // in
        const cudnnConvolutionDescriptor_t convDesc,       // in
        const cudnnTensorDescriptor_t dxDesc,              // in
        const int requestedAlgoCount,                      // in
        int *returnedAlgoCount,                            // out
        cudnnConvolutionBwdDataAlgoPerf_t perfResults[]);  // out, requestedAlgoCount of them

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                             // in
        const cudnnFilterDescriptor_t wDesc,              // in
        const void *w,                                    // in, device memory, as wDesc says
        const cudnnTensorDescriptor_t dyDesc,             // in
        const void *dy,                                   // in, device memory, as dyDesc says
        const cudnnConvolutionDescriptor_t convDesc,      // in
        const cudnnTensorDescriptor_t dxDesc,             // in
        void *dx,                                         // out, device memory, as dxDesc says
        const int requestedAlgoCount,                     // in
        int *returnedAlgoCount,                           // out
        cudnnConvolutionBwdDataAlgoPerf_t perfResults[],  // out, requestedAlgoCount of them
        void *workSpace,                                  // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes);                     // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                              // in
        const cudnnFilterDescriptor_t filterDesc,          // in
        const cudnnTensorDescriptor_t diffDesc,            // in
        const cudnnConvolutionDescriptor_t convDesc,       // in
        const cudnnTensorDescriptor_t gradDesc,            // in
        const int requestedAlgoCount,                      // in
        int *returnedAlgoCount,                            // out
        cudnnConvolutionBwdDataAlgoPerf_t perfResults[]);  // out, requestedAlgoCount of them, not NULL

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                         // in
        const cudnnFilterDescriptor_t wDesc,          // in
        const cudnnTensorDescriptor_t dyDesc,         // in
        const cudnnConvolutionDescriptor_t convDesc,  // in
        const cudnnTensorDescriptor_t dxDesc,         // in
        cudnnConvolutionBwdDataAlgo_t algo,           // in
        size_t *sizeInBytes);                         // out

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
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
        cudnnHandle_t handle,                         // in
        const void *alpha,                            // in, one number on the host, as dxDesc says
        const cudnnFilterDescriptor_t wDesc,          // in
        const void *w,                                // in, device memory, as wDesc says
        const cudnnTensorDescriptor_t dyDesc,         // in
        const void *dy,                               // in, device memory, as dyDesc says
        const cudnnConvolutionDescriptor_t convDesc,  // in
        cudnnConvolutionBwdDataAlgo_t algo,           // in
        void *workSpace,                              // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes,                  // in
        const void *beta,                             // in, one number on the host, as dxDesc says
        const cudnnTensorDescriptor_t dxDesc,         // in
        void *dx);                                    // in/out, device memory, as dxDesc says

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR
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
        const cudnnHandle_t handle,                             // in
        const cudnnFilterDescriptor_t filterDesc,               // in
        const cudnnTensorDescriptor_t diffDesc,                 // in
        const cudnnConvolutionDescriptor_t convDesc,            // in
        const cudnnTensorDescriptor_t gradDesc,                 // in
        const cudnnTensorFormat_t transformFormat,              // in
        cudnnFilterDescriptor_t foldedFilterDesc,               // out
        cudnnTensorDescriptor_t paddedDiffDesc,                 // out
        cudnnConvolutionDescriptor_t foldedConvDesc,            // out
        cudnnTensorDescriptor_t foldedGradDesc,                 // out
        cudnnTensorTransformDescriptor_t filterFoldTransDesc,   // out
        cudnnTensorTransformDescriptor_t diffPadTransDesc,      // out
        cudnnTensorTransformDescriptor_t gradFoldTransDesc,     // out
        cudnnTensorTransformDescriptor_t gradUnfoldTransDesc);  // out

    cudnn_cnn.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,  // in
        int *count);           // out, not NULL

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                                // in
        const cudnnTensorDescriptor_t xDesc,                 // in
        const cudnnTensorDescriptor_t dyDesc,                // in
        const cudnnConvolutionDescriptor_t convDesc,         // in
        const cudnnFilterDescriptor_t dwDesc,                // in
        const int requestedAlgoCount,                        // in
        int *returnedAlgoCount,                              // out
        cudnnConvolutionBwdFilterAlgoPerf_t perfResults[]);  // out, requestedAlgoCount of them

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                               // in
        const cudnnTensorDescriptor_t xDesc,                // in
        const void *x,                                      // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t dyDesc,               // in
        const void *y,                                      // in, device memory, as dyDesc says
        const cudnnConvolutionDescriptor_t convDesc,        // in
        const cudnnFilterDescriptor_t dwDesc,               // in
        void *dw,                                           // out, device memory, as dwDesc says
        const int requestedAlgoCount,                       // in
        int *returnedAlgoCount,                             // out
        cudnnConvolutionBwdFilterAlgoPerf_t perfResults[],  // out, requestedAlgoCount of them
        void *workSpace,                                    // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes);                       // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                                // in
        const cudnnTensorDescriptor_t srcDesc,               // in
        const cudnnTensorDescriptor_t diffDesc,              // in
        const cudnnConvolutionDescriptor_t convDesc,         // in
        const cudnnFilterDescriptor_t gradDesc,              // in
        const int requestedAlgoCount,                        // in
        int *returnedAlgoCount,                              // out
        cudnnConvolutionBwdFilterAlgoPerf_t perfResults[]);  // out, requestedAlgoCount of them, not NULL

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
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
        cudnnHandle_t handle,                         // in
        const cudnnTensorDescriptor_t xDesc,          // in
        const cudnnTensorDescriptor_t dyDesc,         // in
        const cudnnConvolutionDescriptor_t convDesc,  // in
        const cudnnFilterDescriptor_t gradDesc,       // in
        cudnnConvolutionBwdFilterAlgo_t algo,         // in
        size_t *sizeInBytes);                         // out

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
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
        cudnnHandle_t handle,                         // in
        const void *alpha,                            // in, one number on the host, as dwDesc says
        const cudnnTensorDescriptor_t xDesc,          // in
        const void *x,                                // in, device memory, as xDesc says
        const cudnnTensorDescriptor_t dyDesc,         // in
        const void *dy,                               // in, device memory, as dyDesc says
        const cudnnConvolutionDescriptor_t convDesc,  // in
        cudnnConvolutionBwdFilterAlgo_t algo,         // in
        void *workSpace,                              // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes,                  // in
        const void *beta,                             // in, one number on the host, as dwDesc says
        const cudnnFilterDescriptor_t dwDesc,         // in
        void *dw);                                    // in/out, device memory, as dwDesc says

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR
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
        cudnnHandle_t handle,                  // in
        const void *alpha,                     // in, one number on the host, as dbDesc says
        const cudnnTensorDescriptor_t dyDesc,  // in
        const void *dy,                        // in, device memory, as dyDesc says
        const void *beta,                      // in, one number on the host, as dbDesc says
        const cudnnTensorDescriptor_t dbDesc,  // in
        void *db);                             // in/out, device memory, as dbDesc says

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR
    used by convolution_backward_bias
    example: examples/11_train_on_digits.py
    """

@declared
def cudnnCreateFusedOpsConstParamPack(
    constPack: NewHandle[cudnnFusedOpsConstParamPack_t],
    ops: EnumValue[cudnnFusedOps_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateFusedOpsConstParamPack(
        cudnnFusedOpsConstParamPack_t *constPack,  // out
        cudnnFusedOps_t ops);                      // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR
    used by FusedOpsConstParamPack
    """

@declared
def cudnnDestroyFusedOpsConstParamPack(
    constPack: Descriptor[cudnnFusedOpsConstParamPack_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyFusedOpsConstParamPack(
        cudnnFusedOpsConstParamPack_t constPack);  // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR
    used by FusedOpsConstParamPack
    """

@declared
def cudnnSetFusedOpsConstParamPackAttribute(
    constPack: Handle[cudnnFusedOpsConstParamPack_t],
    paramLabel: EnumValue[cudnnFusedOpsConstParamLabel_t],
    param: Labelled,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetFusedOpsConstParamPackAttribute(
        cudnnFusedOpsConstParamPack_t constPack,    // in/out
        cudnnFusedOpsConstParamLabel_t paramLabel,  // in
        const void *param);                         // in, host or device memory, or a descriptor, as the label says

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR
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
        const cudnnFusedOpsConstParamPack_t constPack,  // in
        cudnnFusedOpsConstParamLabel_t paramLabel,      // in
        void *param,                                    // out, host or device memory, or a descriptor, as the label says
        int *isNULL);                                   // out

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR
    used by FusedOpsConstParamPack.get
    """

@declared
def cudnnCreateFusedOpsVariantParamPack(
    varPack: NewHandle[cudnnFusedOpsVariantParamPack_t],
    ops: EnumValue[cudnnFusedOps_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateFusedOpsVariantParamPack(
        cudnnFusedOpsVariantParamPack_t *varPack,  // out
        cudnnFusedOps_t ops);                      // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
    used by FusedOpsVariantParamPack
    """

@declared
def cudnnDestroyFusedOpsVariantParamPack(
    varPack: Descriptor[cudnnFusedOpsVariantParamPack_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyFusedOpsVariantParamPack(
        cudnnFusedOpsVariantParamPack_t varPack);  // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
    used by FusedOpsVariantParamPack
    """

@declared
def cudnnSetFusedOpsVariantParamPackAttribute(
    varPack: Handle[cudnnFusedOpsVariantParamPack_t],
    paramLabel: EnumValue[cudnnFusedOpsVariantParamLabel_t],
    ptr: Labelled,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetFusedOpsVariantParamPackAttribute(
        cudnnFusedOpsVariantParamPack_t varPack,      // in/out
        cudnnFusedOpsVariantParamLabel_t paramLabel,  // in
        void *ptr);                                   // in, host or device memory, or a descriptor, as the label says

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
    used by FusedOpsVariantParamPack.set
    """

@declared
def cudnnGetFusedOpsVariantParamPackAttribute(
    varPack: Handle[cudnnFusedOpsVariantParamPack_t],
    paramLabel: EnumValue[cudnnFusedOpsVariantParamLabel_t],
    ptr: Labelled,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetFusedOpsVariantParamPackAttribute(
        const cudnnFusedOpsVariantParamPack_t varPack,  // in
        cudnnFusedOpsVariantParamLabel_t paramLabel,    // in
        void *ptr);                                     // out, host or device memory, or a descriptor, as the label says

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
    used by FusedOpsVariantParamPack.get
    """

@declared
def cudnnCreateFusedOpsPlan(
    plan: NewHandle[cudnnFusedOpsPlan_t],
    ops: EnumValue[cudnnFusedOps_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateFusedOpsPlan(
        cudnnFusedOpsPlan_t *plan,  // out
        cudnnFusedOps_t ops);       // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
    used by FusedOpsPlan
    """

@declared
def cudnnDestroyFusedOpsPlan(plan: Descriptor[cudnnFusedOpsPlan_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyFusedOpsPlan(
        cudnnFusedOpsPlan_t plan);  // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
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
        cudnnHandle_t handle,                           // in
        cudnnFusedOpsPlan_t plan,                       // in/out
        const cudnnFusedOpsConstParamPack_t constPack,  // in
        size_t *workspaceSizeInBytes);                  // out

    cudnn_cnn.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
    used by FusedOpsPlan.make
    """

@declared
def cudnnFusedOpsExecute(
    handle: Handle[cudnnHandle_t],
    plan: Handle[cudnnFusedOpsPlan_t],
    varPack: Descriptor[cudnnFusedOpsVariantParamPack_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnFusedOpsExecute(
        cudnnHandle_t handle,                      // in
        const cudnnFusedOpsPlan_t plan,            // in, not NULL
        cudnnFusedOpsVariantParamPack_t varPack);  // in

    cudnn_cnn.h, since 9.0.0
    deprecated: use cudnnBackendExecute
    used by FusedOpsPlan.execute
    """

@declared
def cudnnCreateRNNDescriptor(rnnDesc: NewHandle[cudnnRNNDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateRNNDescriptor(
        cudnnRNNDescriptor_t *rnnDesc);  // out

    cudnn_adv.h, since 9.0.0
    used by RNNDescriptor
    example: examples/09_rnn.py
    """

@declared
def cudnnDestroyRNNDescriptor(rnnDesc: Descriptor[cudnnRNNDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyRNNDescriptor(
        cudnnRNNDescriptor_t rnnDesc);  // in

    cudnn_adv.h, since 9.0.0
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
        cudnnRNNDescriptor_t rnnDesc,          // in/out
        cudnnRNNAlgo_t algo,                   // in
        cudnnRNNMode_t cellMode,               // in
        cudnnRNNBiasMode_t biasMode,           // in
        cudnnDirectionMode_t dirMode,          // in
        cudnnRNNInputMode_t inputMode,         // in
        cudnnDataType_t dataType,              // in
        cudnnDataType_t mathPrec,              // in
        cudnnMathType_t mathType,              // in
        int32_t inputSize,                     // in
        int32_t hiddenSize,                    // in
        int32_t projSize,                      // in
        int32_t numLayers,                     // in
        cudnnDropoutDescriptor_t dropoutDesc,  // in
        uint32_t auxFlags);                    // in

    cudnn_adv.h, since 9.0.0
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
        cudnnRNNDescriptor_t rnnDesc,           // in
        cudnnRNNAlgo_t *algo,                   // out
        cudnnRNNMode_t *cellMode,               // out
        cudnnRNNBiasMode_t *biasMode,           // out
        cudnnDirectionMode_t *dirMode,          // out
        cudnnRNNInputMode_t *inputMode,         // out
        cudnnDataType_t *dataType,              // out
        cudnnDataType_t *mathPrec,              // out
        cudnnMathType_t *mathType,              // out
        int32_t *inputSize,                     // out
        int32_t *hiddenSize,                    // out
        int32_t *projSize,                      // out
        int32_t *numLayers,                     // out
        cudnnDropoutDescriptor_t *dropoutDesc,  // out
        uint32_t *auxFlags);                    // out

    cudnn_adv.h, since 9.0.0
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
        cudnnRNNDescriptor_t rnnDesc,      // in/out
        cudnnRNNClipMode_t clipMode,       // in
        cudnnNanPropagation_t clipNanOpt,  // in
        double lclip,                      // in
        double rclip);                     // in

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnRNNSetClip_v9
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
        cudnnRNNDescriptor_t rnnDesc,  // in/out
        cudnnRNNClipMode_t clipMode,   // in
        double lclip,                  // in
        double rclip);                 // in

    cudnn_adv.h, since 9.0.0
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
        cudnnRNNDescriptor_t rnnDesc,       // in
        cudnnRNNClipMode_t *clipMode,       // out
        cudnnNanPropagation_t *clipNanOpt,  // out
        double *lclip,                      // out
        double *rclip);                     // out

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnRNNGetClip_v9
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
        cudnnRNNDescriptor_t rnnDesc,  // in
        cudnnRNNClipMode_t *clipMode,  // out
        double *lclip,                 // out
        double *rclip);                // out

    cudnn_adv.h, since 9.0.0
    """

@declared
def cudnnBuildRNNDynamic(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
    miniBatch: Int,
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnBuildRNNDynamic(
        cudnnHandle_t handle,          // in
        cudnnRNNDescriptor_t rnnDesc,  // in
        int miniBatch);                // in

    cudnn_adv.h, since 9.0.0
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
        cudnnHandle_t handle,            // in
        cudnnRNNDescriptor_t rnnDesc,    // in
        cudnnForwardMode_t fwdMode,      // in
        cudnnRNNDataDescriptor_t xDesc,  // in
        size_t *workSpaceSize,           // out
        size_t *reserveSpaceSize);       // out

    cudnn_adv.h, since 9.0.0
    used by RNNDescriptor.temp_space_sizes
    """

@declared
def cudnnGetRNNWeightSpaceSize(
    handle: Handle[cudnnHandle_t],
    rnnDesc: Descriptor[cudnnRNNDescriptor_t],
    weightSpaceSize: Pointer[c_size_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetRNNWeightSpaceSize(
        cudnnHandle_t handle,          // in
        cudnnRNNDescriptor_t rnnDesc,  // in
        size_t *weightSpaceSize);      // out

    cudnn_adv.h, since 9.0.0
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
        cudnnHandle_t handle,           // in
        cudnnRNNDescriptor_t rnnDesc,   // in
        int32_t pseudoLayer,            // in
        size_t weightSpaceSize,         // in
        const void *weightSpace,        // in, device memory, as weightSpaceSize says
        int32_t linLayerID,             // in
        cudnnTensorDescriptor_t mDesc,  // out
        void **mAddr,                   // out
        cudnnTensorDescriptor_t bDesc,  // out
        void **bAddr);                  // out

    cudnn_adv.h, since 9.0.0
    used by rnn_weight_params
    example: examples/09_rnn.py
    """

@declared
def cudnnCreateRNNDataDescriptor(rnnDataDesc: NewHandle[cudnnRNNDataDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateRNNDataDescriptor(
        cudnnRNNDataDescriptor_t *rnnDataDesc);  // out

    cudnn_adv.h, since 9.0.0
    used by RNNDataDescriptor
    """

@declared
def cudnnDestroyRNNDataDescriptor(
    rnnDataDesc: Descriptor[cudnnRNNDataDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyRNNDataDescriptor(
        cudnnRNNDataDescriptor_t rnnDataDesc);  // in

    cudnn_adv.h, since 9.0.0
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
        cudnnRNNDataDescriptor_t rnnDataDesc,  // in/out
        cudnnDataType_t dataType,              // in
        cudnnRNNDataLayout_t layout,           // in
        int maxSeqLength,                      // in
        int batchSize,                         // in
        int vectorSize,                        // in
        const int seqLengthArray[],            // in, batchSize of them, not NULL
        void *paddingFill);                    // in, one number on the host, as dataType says

    cudnn_adv.h, since 9.0.0
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
        cudnnRNNDataDescriptor_t rnnDataDesc,  // in
        cudnnDataType_t *dataType,             // out
        cudnnRNNDataLayout_t *layout,          // out
        int *maxSeqLength,                     // out
        int *batchSize,                        // out
        int *vectorSize,                       // out
        int arrayLengthRequested,              // in
        int seqLengthArray[],                  // out, arrayLengthRequested of them
        void *paddingFill);                    // out, one number on the host, as rnnDataDesc says

    cudnn_adv.h, since 9.0.0
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
        cudnnHandle_t handle,            // in
        cudnnRNNDescriptor_t rnnDesc,    // in
        cudnnForwardMode_t fwdMode,      // in
        const int32_t devSeqLengths[],   // in, device memory, int32_t
        cudnnRNNDataDescriptor_t xDesc,  // in
        const void *x,                   // in, device memory, as xDesc says
        cudnnRNNDataDescriptor_t yDesc,  // in
        void *y,                         // out, device memory, as yDesc says
        cudnnTensorDescriptor_t hDesc,   // in
        const void *hx,                  // in, device memory
        void *hy,                        // out, device memory
        cudnnTensorDescriptor_t cDesc,   // in
        const void *cx,                  // in, device memory
        void *cy,                        // out, device memory
        size_t weightSpaceSize,          // in
        const void *weightSpace,         // in, device memory, as weightSpaceSize says
        size_t workSpaceSize,            // in
        void *workSpace,                 // in/out, device memory, as workSpaceSize says
        size_t reserveSpaceSize,         // in
        void *reserveSpace);             // in/out, device memory, as reserveSpaceSize says

    cudnn_adv.h, since 9.0.0
    used by RNN.forward
    example: examples/09_rnn.py
    """

@declared
def cudnnCreateSeqDataDescriptor(seqDataDesc: NewHandle[cudnnSeqDataDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateSeqDataDescriptor(
        cudnnSeqDataDescriptor_t *seqDataDesc);  // out

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
    used by SeqDataDescriptor
    """

@declared
def cudnnDestroySeqDataDescriptor(
    seqDataDesc: Descriptor[cudnnSeqDataDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroySeqDataDescriptor(
        cudnnSeqDataDescriptor_t seqDataDesc);  // in

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        cudnnSeqDataDescriptor_t seqDataDesc,  // in/out
        cudnnDataType_t dataType,              // in
        int nbDims,                            // in
        const int dimA[],                      // in, nbDims of them, not NULL
        const cudnnSeqDataAxis_t axes[],       // in, nbDims of them, not NULL
        size_t seqLengthArraySize,             // in
        const int seqLengthArray[],            // in, seqLengthArraySize of them, not NULL
        void *paddingFill);                    // in, one number on the host, as dataType says

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
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
        const cudnnSeqDataDescriptor_t seqDataDesc,  // in
        cudnnDataType_t *dataType,                   // out
        int *nbDims,                                 // out
        int nbDimsRequested,                         // in
        int dimA[],                                  // out, nbDimsRequested of them
        cudnnSeqDataAxis_t axes[],                   // out, nbDimsRequested of them
        size_t *seqLengthArraySize,                  // out
        size_t seqLengthSizeRequested,               // in
        int seqLengthArray[],                        // out, seqLengthSizeRequested of them
        void *paddingFill);                          // out, one number on the host, as seqDataDesc says

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_TENSOR_DESCRIPTOR
    used by SeqDataDescriptor
    """

@declared
def cudnnCreateAttnDescriptor(attnDesc: NewHandle[cudnnAttnDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateAttnDescriptor(
        cudnnAttnDescriptor_t *attnDesc);  // out

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR
    used by AttnDescriptor
    example: examples/16_attention_step_by_step.py
    """

@declared
def cudnnDestroyAttnDescriptor(attnDesc: Descriptor[cudnnAttnDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyAttnDescriptor(
        cudnnAttnDescriptor_t attnDesc);  // in

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR
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
        cudnnAttnDescriptor_t attnDesc,            // in/out
        unsigned int attnMode,                     // in
        int nHeads,                                // in
        double smScaler,                           // in
        cudnnDataType_t dataType,                  // in
        cudnnDataType_t computePrec,               // in
        cudnnMathType_t mathType,                  // in
        cudnnDropoutDescriptor_t attnDropoutDesc,  // in
        cudnnDropoutDescriptor_t postDropoutDesc,  // in
        int qSize,                                 // in
        int kSize,                                 // in
        int vSize,                                 // in
        int qProjSize,                             // in
        int kProjSize,                             // in
        int vProjSize,                             // in
        int oProjSize,                             // in
        int qoMaxSeqLength,                        // in
        int kvMaxSeqLength,                        // in
        int maxBatchSize,                          // in
        int maxBeamSize);                          // in

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR
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
        cudnnAttnDescriptor_t attnDesc,             // in
        unsigned int *attnMode,                     // out
        int *nHeads,                                // out
        double *smScaler,                           // out
        cudnnDataType_t *dataType,                  // out
        cudnnDataType_t *computePrec,               // out
        cudnnMathType_t *mathType,                  // out
        cudnnDropoutDescriptor_t *attnDropoutDesc,  // out
        cudnnDropoutDescriptor_t *postDropoutDesc,  // out
        int *qSize,                                 // out
        int *kSize,                                 // out
        int *vSize,                                 // out
        int *qProjSize,                             // out
        int *kProjSize,                             // out
        int *vProjSize,                             // out
        int *oProjSize,                             // out
        int *qoMaxSeqLength,                        // out
        int *kvMaxSeqLength,                        // out
        int *maxBatchSize,                          // out
        int *maxBeamSize);                          // out

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR
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
        cudnnHandle_t handle,                  // in
        const cudnnAttnDescriptor_t attnDesc,  // in
        size_t *weightSizeInBytes,             // out
        size_t *workSpaceSizeInBytes,          // out
        size_t *reserveSpaceSizeInBytes);      // out

    cudnn_adv.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,                  // in
        const cudnnAttnDescriptor_t attnDesc,  // in
        cudnnMultiHeadAttnWeightKind_t wKind,  // in
        size_t weightSizeInBytes,              // in
        const void *weights,                   // in, device memory, as weightSizeInBytes says
        cudnnTensorDescriptor_t wDesc,         // out
        void **wAddr);                         // out

    cudnn_adv.h, since 9.0.0, deprecated
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
        cudnnHandle_t handle,                  // in
        const cudnnAttnDescriptor_t attnDesc,  // in
        int currIdx,                           // in
        const int loWinIdx[],                  // in
        const int hiWinIdx[],                  // in
        const int devSeqLengthsQO[],           // in, device memory, int
        const int devSeqLengthsKV[],           // in, device memory, int
        const cudnnSeqDataDescriptor_t qDesc,  // in
        const void *queries,                   // in, device memory, as qDesc says
        const void *residuals,                 // in, device memory
        const cudnnSeqDataDescriptor_t kDesc,  // in
        const void *keys,                      // in, device memory, as kDesc says
        const cudnnSeqDataDescriptor_t vDesc,  // in
        const void *values,                    // in, device memory, as vDesc says
        const cudnnSeqDataDescriptor_t oDesc,  // in
        void *out,                             // out, device memory, as oDesc says
        size_t weightSizeInBytes,              // in
        const void *weights,                   // in, device memory, as weightSizeInBytes says
        size_t workSpaceSizeInBytes,           // in
        void *workSpace,                       // in/out, device memory, as workSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes,        // in
        void *reserveSpace);                   // in/out, device memory, as reserveSpaceSizeInBytes says

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR
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
        cudnnHandle_t handle,            // in
        cudnnRNNDescriptor_t rnnDesc,    // in
        const int32_t devSeqLengths[],   // in, device memory, int32_t
        cudnnRNNDataDescriptor_t yDesc,  // in
        const void *y,                   // in, device memory, as yDesc says
        const void *dy,                  // in, device memory, as yDesc says
        cudnnRNNDataDescriptor_t xDesc,  // in
        void *dx,                        // out, device memory, as xDesc says
        cudnnTensorDescriptor_t hDesc,   // in
        const void *hx,                  // in, device memory
        const void *dhy,                 // in, device memory
        void *dhx,                       // out, device memory
        cudnnTensorDescriptor_t cDesc,   // in
        const void *cx,                  // in, device memory
        const void *dcy,                 // in, device memory
        void *dcx,                       // out, device memory
        size_t weightSpaceSize,          // in
        const void *weightSpace,         // in, device memory, as weightSpaceSize says
        size_t workSpaceSize,            // in
        void *workSpace,                 // in/out, device memory, as workSpaceSize says
        size_t reserveSpaceSize,         // in
        void *reserveSpace);             // in/out, device memory, as reserveSpaceSize says

    cudnn_adv.h, since 9.0.0
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
        cudnnHandle_t handle,            // in
        cudnnRNNDescriptor_t rnnDesc,    // in
        cudnnWgradMode_t addGrad,        // in
        const int32_t devSeqLengths[],   // in, device memory, int32_t
        cudnnRNNDataDescriptor_t xDesc,  // in
        const void *x,                   // in, device memory, as xDesc says
        cudnnTensorDescriptor_t hDesc,   // in
        const void *hx,                  // in, device memory
        cudnnRNNDataDescriptor_t yDesc,  // in
        const void *y,                   // in, device memory, as yDesc says
        size_t weightSpaceSize,          // in
        void *dweightSpace,              // in/out, device memory, as weightSpaceSize says
        size_t workSpaceSize,            // in
        void *workSpace,                 // in/out, device memory, as workSpaceSize says
        size_t reserveSpaceSize,         // in
        void *reserveSpace);             // in/out, device memory, as reserveSpaceSize says

    cudnn_adv.h, since 9.0.0
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
        cudnnHandle_t handle,                   // in
        const cudnnAttnDescriptor_t attnDesc,   // in
        const int loWinIdx[],                   // in
        const int hiWinIdx[],                   // in
        const int devSeqLengthsDQDO[],          // in, device memory, int
        const int devSeqLengthsDKDV[],          // in, device memory, int
        const cudnnSeqDataDescriptor_t doDesc,  // in
        const void *dout,                       // in, device memory, as doDesc says
        const cudnnSeqDataDescriptor_t dqDesc,  // in
        void *dqueries,                         // out, device memory, as dqDesc says
        const void *queries,                    // in, device memory, as dqDesc says
        const cudnnSeqDataDescriptor_t dkDesc,  // in
        void *dkeys,                            // out, device memory, as dkDesc says
        const void *keys,                       // in, device memory, as dkDesc says
        const cudnnSeqDataDescriptor_t dvDesc,  // in
        void *dvalues,                          // out, device memory, as dvDesc says
        const void *values,                     // in, device memory, as dvDesc says
        size_t weightSizeInBytes,               // in
        const void *weights,                    // in, device memory, as weightSizeInBytes says
        size_t workSpaceSizeInBytes,            // in
        void *workSpace,                        // in/out, device memory, as workSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes,         // in
        void *reserveSpace);                    // in/out, device memory, as reserveSpaceSizeInBytes says

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR
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
        cudnnHandle_t handle,                   // in
        const cudnnAttnDescriptor_t attnDesc,   // in
        cudnnWgradMode_t addGrad,               // in
        const cudnnSeqDataDescriptor_t qDesc,   // in
        const void *queries,                    // in, device memory, as qDesc says
        const cudnnSeqDataDescriptor_t kDesc,   // in
        const void *keys,                       // in, device memory, as kDesc says
        const cudnnSeqDataDescriptor_t vDesc,   // in
        const void *values,                     // in, device memory, as vDesc says
        const cudnnSeqDataDescriptor_t doDesc,  // in
        const void *dout,                       // in, device memory, as doDesc says
        size_t weightSizeInBytes,               // in
        const void *weights,                    // in, device memory, as weightSizeInBytes says
        void *dweights,                         // in/out, device memory, as weightSizeInBytes says
        size_t workSpaceSizeInBytes,            // in
        void *workSpace,                        // in/out, device memory, as workSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes,         // in
        void *reserveSpace);                    // in/out, device memory, as reserveSpaceSizeInBytes says

    cudnn_adv.h, since 9.0.0
    deprecated: use CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR
    used by attention_backward_weights
    example: examples/16_attention_step_by_step.py
    """

@declared
def cudnnCreateCTCLossDescriptor(ctcLossDesc: NewHandle[cudnnCTCLossDescriptor_t]) -> cudnnStatus_t:
    """cudnnStatus_t cudnnCreateCTCLossDescriptor(
        cudnnCTCLossDescriptor_t *ctcLossDesc);  // out

    cudnn_adv.h, since 9.0.0
    used by CTCLossDescriptor
    example: examples/17_ctc.py
    """

@declared
def cudnnSetCTCLossDescriptor(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumValue[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnSetCTCLossDescriptor(
        cudnnCTCLossDescriptor_t ctcLossDesc,  // in/out
        cudnnDataType_t compType);             // in

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnSetCTCLossDescriptor_v9
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
        cudnnCTCLossDescriptor_t ctcLossDesc,   // in/out
        cudnnDataType_t compType,               // in
        cudnnLossNormalizationMode_t normMode,  // in
        cudnnNanPropagation_t gradMode);        // in

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnSetCTCLossDescriptor_v9
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
        cudnnCTCLossDescriptor_t ctcLossDesc,   // in/out
        cudnnDataType_t compType,               // in
        cudnnLossNormalizationMode_t normMode,  // in
        cudnnNanPropagation_t gradMode,         // in
        int maxLabelLength);                    // in

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnSetCTCLossDescriptor_v9
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
        cudnnCTCLossDescriptor_t ctcLossDesc,   // in/out
        cudnnDataType_t compType,               // in
        cudnnLossNormalizationMode_t normMode,  // in
        cudnnCTCGradMode_t ctcGradMode,         // in
        int maxLabelLength);                    // in

    cudnn_adv.h, since 9.0.0
    used by CTCLossDescriptor.set_v9
    """

@declared
def cudnnGetCTCLossDescriptor(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumPointer[cudnnDataType_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCTCLossDescriptor(
        cudnnCTCLossDescriptor_t ctcLossDesc,  // in
        cudnnDataType_t *compType);            // out

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnGetCTCLossDescriptor_v9
    """

@declared
def cudnnGetCTCLossDescriptorEx(
    ctcLossDesc: Handle[cudnnCTCLossDescriptor_t],
    compType: EnumPointer[cudnnDataType_t],
    normMode: EnumPointer[cudnnLossNormalizationMode_t],
    gradMode: EnumPointer[cudnnNanPropagation_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnGetCTCLossDescriptorEx(
        cudnnCTCLossDescriptor_t ctcLossDesc,    // in
        cudnnDataType_t *compType,               // out
        cudnnLossNormalizationMode_t *normMode,  // out
        cudnnNanPropagation_t *gradMode);        // out

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnGetCTCLossDescriptor_v9
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
        cudnnCTCLossDescriptor_t ctcLossDesc,    // in
        cudnnDataType_t *compType,               // out
        cudnnLossNormalizationMode_t *normMode,  // out
        cudnnNanPropagation_t *gradMode,         // out
        int *maxLabelLength);                    // out

    cudnn_adv.h, since 9.0.0
    deprecated: use cudnnGetCTCLossDescriptor_v9
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
        cudnnCTCLossDescriptor_t ctcLossDesc,    // in
        cudnnDataType_t *compType,               // out
        cudnnLossNormalizationMode_t *normMode,  // out
        cudnnCTCGradMode_t *ctcGradMode,         // out
        int *maxLabelLength);                    // out

    cudnn_adv.h, since 9.0.0
    used by CTCLossDescriptor
    example: examples/17_ctc.py
    """

@declared
def cudnnDestroyCTCLossDescriptor(
    ctcLossDesc: Descriptor[cudnnCTCLossDescriptor_t],
) -> cudnnStatus_t:
    """cudnnStatus_t cudnnDestroyCTCLossDescriptor(
        cudnnCTCLossDescriptor_t ctcLossDesc);  // in

    cudnn_adv.h, since 9.0.0
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
        cudnnHandle_t handle,                         // in
        const cudnnTensorDescriptor_t probsDesc,      // in, not NULL
        const void *probs,                            // in, device memory, as probsDesc says, not NULL
        const int hostLabels[],                       // in
        const int hostLabelLengths[],                 // in, not NULL
        const int hostInputLengths[],                 // in, not NULL
        void *costs,                                  // out, device memory
        const cudnnTensorDescriptor_t gradientsDesc,  // in, NULL if no gradients
        void *gradients,                              // out, device memory, as gradientsDesc says
        cudnnCTCLossAlgo_t algo,                      // in
        cudnnCTCLossDescriptor_t ctcLossDesc,         // in, not NULL
        void *workspace,                              // in/out, device memory, as workSpaceSizeInBytes says
        size_t workSpaceSizeInBytes);                 // in

    cudnn_adv.h, since 9.0.0
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
        cudnnHandle_t handle,                         // in
        cudnnCTCLossAlgo_t algo,                      // in
        cudnnCTCLossDescriptor_t ctcLossDesc,         // in, not NULL
        const cudnnTensorDescriptor_t probsDesc,      // in, not NULL
        const void *probs,                            // in, device memory, as probsDesc says
        const int labels[],                           // in, device memory, int, not NULL
        const int labelLengths[],                     // in, device memory, int, not NULL
        const int inputLengths[],                     // in, device memory, int, not NULL
        void *costs,                                  // out, device memory, not NULL
        const cudnnTensorDescriptor_t gradientsDesc,  // in, NULL if no gradients
        void *gradients,                              // out, device memory, as gradientsDesc says
        size_t workSpaceSizeInBytes,                  // in
        void *workspace);                             // in/out, device memory, as workSpaceSizeInBytes says, NULL if no workSpaceSizeInBytes

    cudnn_adv.h, since 9.0.0
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
        cudnnHandle_t handle,                         // in
        const cudnnTensorDescriptor_t probsDesc,      // in, not NULL
        const cudnnTensorDescriptor_t gradientsDesc,  // in
        const int labels[],                           // in
        const int labelLengths[],                     // in, not NULL
        const int inputLengths[],                     // in, not NULL
        cudnnCTCLossAlgo_t algo,                      // in
        cudnnCTCLossDescriptor_t ctcLossDesc,         // in
        size_t *sizeInBytes);                         // out

    cudnn_adv.h, since 9.0.0
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
        cudnnHandle_t handle,                         // in
        cudnnCTCLossAlgo_t algo,                      // in
        cudnnCTCLossDescriptor_t ctcLossDesc,         // in, not NULL
        const cudnnTensorDescriptor_t probsDesc,      // in, not NULL
        const cudnnTensorDescriptor_t gradientsDesc,  // in
        size_t *sizeInBytes);                         // out

    cudnn_adv.h, since 9.0.0
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
        cudaStream_t stream,                        // in
        const void *x,                              // in, device memory
        const void *weight,                         // in, device memory
        const void *bias,                           // in, device memory
        void *y,                                    // out, device memory
        int batch,                                  // in
        int dim,                                    // in
        int seqLen,                                 // in
        int kernelSize,                             // in
        cudnnDataType_t dataType,                   // in
        cudnnCausalConv1dActivation_t activation);  // in

    cudnn_subquadratic_ops.h, since 9.22.0
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
        cudaStream_t stream,                        // in
        const void *x,                              // in, device memory
        const void *weight,                         // in, device memory
        const void *bias,                           // in, device memory
        const void *dy,                             // in, device memory
        void *dx,                                   // out, device memory
        void *dweight,                              // in/out, device memory
        void *dbias,                                // in/out, device memory
        int batch,                                  // in
        int dim,                                    // in
        int seqLen,                                 // in
        int kernelSize,                             // in
        cudnnDataType_t dataType,                   // in
        cudnnDataType_t dwDataType,                 // in
        cudnnCausalConv1dActivation_t activation);  // in

    cudnn_subquadratic_ops.h, since 9.22.0
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
        cudaStream_t stream,                        // in
        const void *x,                              // in, device memory
        const void *weight,                         // in, device memory
        const void *bias,                           // in, device memory
        void *y,                                    // out, device memory
        int batch,                                  // in
        int dim,                                    // in
        int seqLen,                                 // in
        int kernelSize,                             // in
        cudnnDataType_t dataType,                   // in
        cudnnCausalConv1dActivation_t activation);  // in

    cudnn_subquadratic_ops.h, since 9.24.0
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
        cudaStream_t stream,                        // in
        const void *x,                              // in, device memory
        const void *weight,                         // in, device memory
        const void *bias,                           // in, device memory
        const void *dy,                             // in, device memory
        void *dx,                                   // out, device memory
        void *dweight,                              // in/out, device memory
        void *dbias,                                // in/out, device memory
        int batch,                                  // in
        int dim,                                    // in
        int seqLen,                                 // in
        int kernelSize,                             // in
        cudnnDataType_t dataType,                   // in
        cudnnDataType_t dwDataType,                 // in
        cudnnCausalConv1dActivation_t activation);  // in

    cudnn_subquadratic_ops.h, since 9.24.0
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
        cudaStream_t stream,        // in
        const void *x,              // in, device memory
        const void *weightsProj,    // in, device memory
        const void *weightsMixer,   // in, device memory
        const void *skipBias,       // in, device memory
        void *y,                    // out, device memory
        void *yGated,               // out, device memory
        int batch,                  // in
        int dim,                    // in
        int seqLen,                 // in
        int kernelSizeProj,         // in
        int kernelSizeMixer,        // in
        cudnnDataType_t dataType);  // in

    cudnn_subquadratic_ops.h, since 9.24.0
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
        cudaStream_t stream,          // in
        const void *x,                // in, device memory
        const void *weightsProj,      // in, device memory
        const void *weightsMixer,     // in, device memory
        const void *skipBias,         // in, device memory
        const void *y,                // in, device memory
        const void *dy,               // in, device memory
        void *dx,                     // out, device memory
        void *dweightsProj,           // in/out, device memory
        void *dweightsMixer,          // in/out, device memory
        void *dskipBias,              // in/out, device memory
        int batch,                    // in
        int dim,                      // in
        int seqLen,                   // in
        int kernelSizeProj,           // in
        int kernelSizeMixer,          // in
        cudnnDataType_t dataType,     // in
        cudnnDataType_t dwDataType);  // in

    cudnn_subquadratic_ops.h, since 9.24.0
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
        cudaStream_t stream,        // in
        const void *x,              // in, device memory
        const void *weight,         // in, device memory
        void *y,                    // out, device memory
        int batch,                  // in
        int dim,                    // in
        int seqLen,                 // in
        int kernelSize,             // in
        cudnnDataType_t dataType);  // in

    cudnn_subquadratic_ops.h, since 9.26.0
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
        cudaStream_t stream,        // in
        const void *x,              // in, device memory
        const void *weight,         // in, device memory
        const void *dy,             // in, device memory
        void *dx,                   // out, device memory
        void *dweight,              // out, device memory
        int batch,                  // in
        int dim,                    // in
        int seqLen,                 // in
        int kernelSize,             // in
        cudnnDataType_t dataType);  // in

    cudnn_subquadratic_ops.h, since 9.26.0
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
        int batch,                         // in
        int dim,                           // in
        int seqLen,                        // in
        int kernelSize,                    // in
        cudnnDataType_t dataType,          // in
        size_t *workspaceSizeInBytes,      // out
        size_t *reserveSpaceSizeInBytes);  // out

    cudnn_subquadratic_ops.h, since 9.26.0
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
        cudaStream_t stream,              // in
        const void *x,                    // in, device memory
        const void *weight,               // in, device memory
        void *y,                          // out, device memory
        int batch,                        // in
        int dim,                          // in
        int seqLen,                       // in
        int kernelSize,                   // in
        cudnnDataType_t dataType,         // in
        void *workspace,                  // in/out, device memory, as workspaceSizeInBytes says
        size_t workspaceSizeInBytes,      // in
        void *reserveSpace,               // out, device memory, as reserveSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes);  // in

    cudnn_subquadratic_ops.h, since 9.26.0
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
        cudaStream_t stream,              // in
        const void *dy,                   // in, device memory
        void *dx,                         // out, device memory
        void *dweight,                    // out, device memory
        int batch,                        // in
        int dim,                          // in
        int seqLen,                       // in
        int kernelSize,                   // in
        cudnnDataType_t dataType,         // in
        void *workspace,                  // in/out, device memory, as workspaceSizeInBytes says
        size_t workspaceSizeInBytes,      // in
        void *reserveSpace,               // in, device memory, as reserveSpaceSizeInBytes says
        size_t reserveSpaceSizeInBytes);  // in

    cudnn_subquadratic_ops.h, since 9.26.0
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
        cudaStream_t stream,              // in
        const cudnnGnnCscGraph_t *graph,  // in
        const void *nodeFeatures,         // in, device memory
        const void *edgeFeatures,         // in, device memory
        const void *concatFeatures,       // in, device memory
        void *output,                     // out, device memory
        void *outPositions,               // out, device memory
        int nodeFeatDim,                  // in
        int edgeFeatDim,                  // in
        int concatFeatDim,                // in
        cudnnDataType_t dataType,         // in
        cudnnGnnAggOp_t aggOp);           // in

    cudnn_gnn_ops.h, since 9.26.0
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
        cudaStream_t stream,              // in
        const cudnnGnnCscGraph_t *graph,  // in
        const void *gradOutput,           // in, device memory
        const void *outPositions,         // in, device memory
        void *gradNodeFeatures,           // in/out, device memory
        void *gradEdgeFeatures,           // in/out, device memory
        void *gradConcatFeatures,         // out, device memory
        int nodeFeatDim,                  // in
        int edgeFeatDim,                  // in
        int concatFeatDim,                // in
        cudnnDataType_t dataType,         // in
        cudnnGnnAggOp_t aggOp);           // in

    cudnn_gnn_ops.h, since 9.26.0
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
        cudaStream_t stream,                // in
        const cudnnGnnCscGraph_t *graph,    // in
        const void *srcFeatures,            // in, device memory
        const void *dstFeatures,            // in, device memory
        const void *edgeFeatures,           // in, device memory
        const void *attnWeights,            // in, device memory
        const float dropoutMask[],          // in, device memory, float
        void *output,                       // out, device memory
        void *smScores,                     // out, device memory
        int dimNode,                        // in
        int dimEdge,                        // in
        const cudnnGnnMhaParams_t *params,  // in
        cudnnDataType_t dataType);          // in

    cudnn_gnn_ops.h, since 9.28.0
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
        cudaStream_t stream,                // in
        const cudnnGnnCscGraph_t *graph,    // in
        const void *gradOut,                // in, device memory
        const void *srcFeatures,            // in, device memory
        const void *dstFeatures,            // in, device memory
        const void *edgeFeatures,           // in, device memory
        const void *attnWeights,            // in, device memory
        const void *smScores,               // in, device memory
        const float dropoutMask[],          // in, device memory, float
        const float gradAttention[],        // in, device memory, float
        void *gradSrcFeatures,              // out, device memory
        void *gradDstFeatures,              // out, device memory
        void *gradEdgeFeatures,             // out, device memory
        void *gradWeights,                  // out, device memory
        void *gradSmScores,                 // out, device memory
        void *gradWspaceFeat,               // in/out, device memory
        void *gradWspaceWeights,            // in/out, device memory
        int dimNode,                        // in
        int dimEdge,                        // in
        const cudnnGnnMhaParams_t *params,  // in
        cudnnDataType_t dataType,           // in
        cudnnDataType_t gradDataType,       // in
        cudnnDataType_t gradWeightType);    // in

    cudnn_gnn_ops.h, since 9.28.0
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
        cudaStream_t stream,                // in
        const cudnnGnnCscGraph_t *graph,    // in
        const void *srcFeatures,            // in, device memory
        const void *dstFeatures,            // in, device memory
        const void *edgeFeatures,           // in, device memory
        const void *attnWeights,            // in, device memory
        const float dropoutMask[],          // in, device memory, float
        void *output,                       // out, device memory
        void *smScores,                     // out, device memory
        void *actScores,                    // out, device memory
        int dimNode,                        // in
        const cudnnGnnMhaParams_t *params,  // in
        cudnnDataType_t dataType);          // in

    cudnn_gnn_ops.h, since 9.28.0
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
        cudaStream_t stream,                // in
        const cudnnGnnCscGraph_t *graph,    // in
        const void *gradOut,                // in, device memory
        const void *srcFeatures,            // in, device memory
        const void *dstFeatures,            // in, device memory
        const void *edgeFeatures,           // in, device memory
        const void *attnWeights,            // in, device memory
        const void *smScores,               // in, device memory
        const void *actScores,              // in, device memory
        const float dropoutMask[],          // in, device memory, float
        const float gradAttention[],        // in, device memory, float
        void *gradSrcFeatures,              // out, device memory
        void *gradDstFeatures,              // out, device memory
        void *gradEdgeFeatures,             // out, device memory
        void *gradWeights,                  // out, device memory
        void *gradSmScores,                 // out, device memory
        void *gradWspaceFeat,               // in/out, device memory
        void *gradWspaceWeights,            // in/out, device memory
        int dimNode,                        // in
        const cudnnGnnMhaParams_t *params,  // in
        cudnnDataType_t dataType,           // in
        cudnnDataType_t gradType);          // in

    cudnn_gnn_ops.h, since 9.28.0
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
