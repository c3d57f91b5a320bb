# ruff: noqa: I001, RUF022
# fmt: off
"""The handles, structs and other types of cuDNN 9.28.0.

Each handle points to a C struct of its own that only the library knows, so one kind of handle is
no other. `TYPE_SINCE` and `TYPE_DEPRECATED` tell versions and deprecation by C name.

Generated from the cuDNN headers by ``python -m tools.generate``; do not edit.
"""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE, POINTER, Array, Structure, c_byte, c_char_p, c_float, c_int, c_int64, c_size_t,
    c_uint, c_ulonglong, c_void_p,
)

from .ctypes_support import CudnnEnum, CudnnStructure, OpaquePointer, field
from .enums import (
    cudnnConvolutionBwdDataAlgo_t, cudnnConvolutionBwdFilterAlgo_t, cudnnConvolutionFwdAlgo_t,
    cudnnDataType_t, cudnnDeterminism_t, cudnnGnnActivationOp_t, cudnnMathType_t, cudnnStatus_t,
)

# --- CUDA ---

class libraryPropertyType(CudnnEnum):
    MAJOR_VERSION = 0
    MINOR_VERSION = 1
    PATCH_LEVEL = 2

MAJOR_VERSION = libraryPropertyType.MAJOR_VERSION
MINOR_VERSION = libraryPropertyType.MINOR_VERSION
PATCH_LEVEL = libraryPropertyType.PATCH_LEVEL

class CUstream_st(Structure): ...

class cudaStream_t(OpaquePointer):
    _type_ = CUstream_st

class CUgraph_st(Structure): ...

class cudaGraph_t(OpaquePointer):
    _type_ = CUgraph_st

# --- handles ---

class cudnnContext(Structure): ...

class cudnnHandle_t(OpaquePointer):
    _type_ = cudnnContext

class cudnnBackendDescriptor_t(OpaquePointer):
    _type_ = c_byte  # void * in C

class cudnnTensorStruct(Structure): ...

class cudnnTensorDescriptor_t(OpaquePointer):
    _type_ = cudnnTensorStruct
    _must_be_set = True
    _may_be_half_set = True

class cudnnPoolingStruct(Structure): ...

class cudnnPoolingDescriptor_t(OpaquePointer):
    _type_ = cudnnPoolingStruct
    _must_be_set = True
    _may_be_half_set = True

class cudnnFilterStruct(Structure): ...

class cudnnFilterDescriptor_t(OpaquePointer):
    _type_ = cudnnFilterStruct
    _must_be_set = True
    _may_be_half_set = True

class cudnnLRNStruct(Structure): ...

class cudnnLRNDescriptor_t(OpaquePointer):
    _type_ = cudnnLRNStruct

class cudnnActivationStruct(Structure): ...

class cudnnActivationDescriptor_t(OpaquePointer):
    _type_ = cudnnActivationStruct
    _must_be_set = True

class cudnnSpatialTransformerStruct(Structure): ...

class cudnnSpatialTransformerDescriptor_t(OpaquePointer):
    _type_ = cudnnSpatialTransformerStruct
    _must_be_set = True
    _may_be_half_set = True

class cudnnOpTensorStruct(Structure): ...

class cudnnOpTensorDescriptor_t(OpaquePointer):
    _type_ = cudnnOpTensorStruct
    _must_be_set = True

class cudnnReduceTensorStruct(Structure): ...

class cudnnReduceTensorDescriptor_t(OpaquePointer):
    _type_ = cudnnReduceTensorStruct
    _must_be_set = True

class cudnnCTCLossStruct(Structure): ...

class cudnnCTCLossDescriptor_t(OpaquePointer):
    _type_ = cudnnCTCLossStruct

class cudnnTensorTransformStruct(Structure): ...

class cudnnTensorTransformDescriptor_t(OpaquePointer):
    _type_ = cudnnTensorTransformStruct
    _must_be_set = True

class cudnnDropoutStruct(Structure): ...

class cudnnDropoutDescriptor_t(OpaquePointer):
    _type_ = cudnnDropoutStruct

class cudnnConvolutionStruct(Structure): ...

class cudnnConvolutionDescriptor_t(OpaquePointer):
    _type_ = cudnnConvolutionStruct
    _must_be_set = True
    _may_be_half_set = True

class cudnnFusedOpsConstParamStruct(Structure): ...

class cudnnFusedOpsConstParamPack_t(OpaquePointer):
    _type_ = cudnnFusedOpsConstParamStruct

class cudnnFusedOpsVariantParamStruct(Structure): ...

class cudnnFusedOpsVariantParamPack_t(OpaquePointer):
    _type_ = cudnnFusedOpsVariantParamStruct

class cudnnFusedOpsPlanStruct(Structure): ...

class cudnnFusedOpsPlan_t(OpaquePointer):
    _type_ = cudnnFusedOpsPlanStruct

class cudnnRNNStruct(Structure): ...

class cudnnRNNDescriptor_t(OpaquePointer):
    _type_ = cudnnRNNStruct
    _must_be_set = True

class cudnnRNNDataStruct(Structure): ...

class cudnnRNNDataDescriptor_t(OpaquePointer):
    _type_ = cudnnRNNDataStruct
    _must_be_set = True

class cudnnSeqDataStruct(Structure): ...

class cudnnSeqDataDescriptor_t(OpaquePointer):
    _type_ = cudnnSeqDataStruct
    _must_be_set = True

class cudnnAttnStruct(Structure): ...

class cudnnAttnDescriptor_t(OpaquePointer):
    _type_ = cudnnAttnStruct
    _must_be_set = True

# --- structs ---

class cudnnRuntimeTag_t(Structure): ...

class cudnnDebug_t(CudnnStructure):
    cudnn_version: int = field(c_uint)
    cudnnStatus: cudnnStatus_t = field(cudnnStatus_t)
    time_sec: int = field(c_uint)
    time_usec: int = field(c_uint)
    time_delta: int = field(c_uint)
    handle: cudnnHandle_t = field(cudnnHandle_t)
    stream: cudaStream_t = field(cudaStream_t)
    pid: int = field(c_ulonglong)
    tid: int = field(c_ulonglong)
    cudaDeviceId: int = field(c_int)
    reserved: Array[c_int] = field(c_int * 15)

class cudnnFraction_t(CudnnStructure):
    numerator: int = field(c_int64)
    denominator: int = field(c_int64)

class cudnnConvolutionFwdAlgoPerf_t(CudnnStructure):
    algo: cudnnConvolutionFwdAlgo_t = field(cudnnConvolutionFwdAlgo_t)
    status: cudnnStatus_t = field(cudnnStatus_t)
    time: float = field(c_float)
    memory: int = field(c_size_t)
    determinism: cudnnDeterminism_t = field(cudnnDeterminism_t)
    mathType: cudnnMathType_t = field(cudnnMathType_t)
    reserved: Array[c_int] = field(c_int * 3)

class cudnnConvolutionBwdDataAlgoPerf_t(CudnnStructure):
    algo: cudnnConvolutionBwdDataAlgo_t = field(cudnnConvolutionBwdDataAlgo_t)
    status: cudnnStatus_t = field(cudnnStatus_t)
    time: float = field(c_float)
    memory: int = field(c_size_t)
    determinism: cudnnDeterminism_t = field(cudnnDeterminism_t)
    mathType: cudnnMathType_t = field(cudnnMathType_t)
    reserved: Array[c_int] = field(c_int * 3)

class cudnnConvolutionBwdFilterAlgoPerf_t(CudnnStructure):
    algo: cudnnConvolutionBwdFilterAlgo_t = field(cudnnConvolutionBwdFilterAlgo_t)
    status: cudnnStatus_t = field(cudnnStatus_t)
    time: float = field(c_float)
    memory: int = field(c_size_t)
    determinism: cudnnDeterminism_t = field(cudnnDeterminism_t)
    mathType: cudnnMathType_t = field(cudnnMathType_t)
    reserved: Array[c_int] = field(c_int * 3)

class cudnnGnnCscGraph_t(CudnnStructure):
    cscOffsets: int | None = field(c_void_p)
    cscIndices: int | None = field(c_void_p)
    mapCscToCoo: int | None = field(c_void_p)
    mapRevToCoo: int | None = field(c_void_p)
    nSrcNodes: int = field(c_int64)
    nDstNodes: int = field(c_int64)
    nIndices: int = field(c_int64)
    idxType: cudnnDataType_t = field(cudnnDataType_t)
    cscRevOffsets: int | None = field(c_void_p)

class cudnnGnnMhaParams_t(CudnnStructure):
    activation: cudnnGnnActivationOp_t = field(cudnnGnnActivationOp_t)
    activationAlpha: float = field(c_float)
    numHeads: int = field(c_int)
    concatHeads: int = field(c_int)

# --- callbacks ---

# void (*)(cudnnSeverity_t sev, void *udata, const cudnnDebug_t *dbg, const char *msg)
cudnnCallback_t = CFUNCTYPE(None, c_int, c_void_p, POINTER(cudnnDebug_t), c_char_p)
cudnnCallback_t.__name__ = "cudnnCallback_t"

# The first version that has it.
TYPE_SINCE: dict[str, str] = {
    "cudnnHandle_t": "1.0.0",
    "cudnnBackendDescriptor_t": "8.0.1",
    "cudnnTensorDescriptor_t": "2.0.0",
    "cudnnPoolingDescriptor_t": "1.0.0",
    "cudnnFilterDescriptor_t": "1.0.0",
    "cudnnLRNDescriptor_t": "3.0.0",
    "cudnnActivationDescriptor_t": "4.0.0",
    "cudnnSpatialTransformerDescriptor_t": "5.0.0",
    "cudnnOpTensorDescriptor_t": "5.0.0",
    "cudnnReduceTensorDescriptor_t": "6.0.0",
    "cudnnCTCLossDescriptor_t": "7.0.5",
    "cudnnTensorTransformDescriptor_t": "7.5.0",
    "cudnnDropoutDescriptor_t": "5.0.0",
    "cudnnConvolutionDescriptor_t": "1.0.0",
    "cudnnFusedOpsConstParamPack_t": "7.6.0",
    "cudnnFusedOpsVariantParamPack_t": "7.6.0",
    "cudnnFusedOpsPlan_t": "7.6.0",
    "cudnnRNNDescriptor_t": "5.0.0",
    "cudnnRNNDataDescriptor_t": "7.2.1",
    "cudnnSeqDataDescriptor_t": "7.5.0",
    "cudnnAttnDescriptor_t": "7.5.0",
    "cudnnRuntimeTag_t": "7.0.5",
    "cudnnDebug_t": "7.1.3",
    "cudnnFraction_t": "8.5.0",
    "cudnnConvolutionFwdAlgoPerf_t": "3.0.0",
    "cudnnConvolutionBwdDataAlgoPerf_t": "3.0.0",
    "cudnnConvolutionBwdFilterAlgoPerf_t": "3.0.0",
    "cudnnGnnCscGraph_t": "9.26.0",
    "cudnnGnnMhaParams_t": "9.28.0",
    "cudnnCallback_t": "7.1.3",
}

# Each with what replaces it, if anything does.
TYPE_DEPRECATED: dict[str, str] = {
    "cudnnPoolingDescriptor_t": "CUDNN_BACKEND_RESAMPLE_DESCRIPTOR",
    "cudnnFilterDescriptor_t": "CUDNN_BACKEND_TENSOR_DESCRIPTOR",
    "cudnnActivationDescriptor_t": "CUDNN_BACKEND_POINTWISE_DESCRIPTOR",
    "cudnnOpTensorDescriptor_t": "CUDNN_BACKEND_POINTWISE_DESCRIPTOR",
    "cudnnReduceTensorDescriptor_t": "CUDNN_BACKEND_REDUCTION_DESCRIPTOR",
    "cudnnTensorTransformDescriptor_t": "",
    "cudnnConvolutionDescriptor_t": "CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR",
    "cudnnFusedOpsConstParamPack_t": "CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR",
    "cudnnFusedOpsVariantParamPack_t": "CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR",
    "cudnnFusedOpsPlan_t": "CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR",
    "cudnnSeqDataDescriptor_t": "CUDNN_BACKEND_TENSOR_DESCRIPTOR",
    "cudnnAttnDescriptor_t": "CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR",
    "cudnnRuntimeTag_t": "",
    "cudnnConvolutionFwdAlgoPerf_t": "CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    "cudnnConvolutionBwdDataAlgoPerf_t": "CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    "cudnnConvolutionBwdFilterAlgoPerf_t": "CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
}

_DECLARED: dict[str, tuple[str, ...]] = {
    "cudnn_graph.h": (
        "cudnnHandle_t", "cudnnBackendDescriptor_t", "cudnnRuntimeTag_t", "cudnnDebug_t",
        "cudnnFraction_t", "cudnnCallback_t",
    ),
    "cudnn_ops.h": (
        "cudnnTensorDescriptor_t", "cudnnPoolingDescriptor_t", "cudnnFilterDescriptor_t",
        "cudnnLRNDescriptor_t", "cudnnActivationDescriptor_t",
        "cudnnSpatialTransformerDescriptor_t", "cudnnOpTensorDescriptor_t",
        "cudnnReduceTensorDescriptor_t", "cudnnCTCLossDescriptor_t",
        "cudnnTensorTransformDescriptor_t", "cudnnDropoutDescriptor_t",
    ),
    "cudnn_cnn.h": (
        "cudnnConvolutionDescriptor_t", "cudnnFusedOpsConstParamPack_t",
        "cudnnFusedOpsVariantParamPack_t", "cudnnFusedOpsPlan_t", "cudnnConvolutionFwdAlgoPerf_t",
        "cudnnConvolutionBwdDataAlgoPerf_t", "cudnnConvolutionBwdFilterAlgoPerf_t",
    ),
    "cudnn_adv.h": (
        "cudnnRNNDescriptor_t", "cudnnRNNDataDescriptor_t", "cudnnSeqDataDescriptor_t",
        "cudnnAttnDescriptor_t",
    ),
    "cudnn_gnn_ops.h": (
        "cudnnGnnCscGraph_t", "cudnnGnnMhaParams_t",
    ),
}
TYPE_HEADERS: dict[str, str] = {
    name: header for header, names in _DECLARED.items() for name in names
}

__all__ = [
    "libraryPropertyType", "MAJOR_VERSION", "MINOR_VERSION", "PATCH_LEVEL", "cudaStream_t",
    "cudaGraph_t", "cudnnHandle_t", "cudnnBackendDescriptor_t", "cudnnTensorDescriptor_t",
    "cudnnPoolingDescriptor_t", "cudnnFilterDescriptor_t", "cudnnLRNDescriptor_t",
    "cudnnActivationDescriptor_t", "cudnnSpatialTransformerDescriptor_t",
    "cudnnOpTensorDescriptor_t", "cudnnReduceTensorDescriptor_t", "cudnnCTCLossDescriptor_t",
    "cudnnTensorTransformDescriptor_t", "cudnnDropoutDescriptor_t", "cudnnConvolutionDescriptor_t",
    "cudnnFusedOpsConstParamPack_t", "cudnnFusedOpsVariantParamPack_t", "cudnnFusedOpsPlan_t",
    "cudnnRNNDescriptor_t", "cudnnRNNDataDescriptor_t", "cudnnSeqDataDescriptor_t",
    "cudnnAttnDescriptor_t", "cudnnRuntimeTag_t", "cudnnDebug_t", "cudnnFraction_t",
    "cudnnConvolutionFwdAlgoPerf_t", "cudnnConvolutionBwdDataAlgoPerf_t",
    "cudnnConvolutionBwdFilterAlgoPerf_t", "cudnnGnnCscGraph_t", "cudnnGnnMhaParams_t",
    "cudnnCallback_t",
]
