# ruff: noqa: I001, RUF022
# fmt: off
"""The handles, structs and other types of cuDNN 9.28.0.

Each handle points to a C struct of its own that only the library knows, so one kind of handle is
no other.

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
from .origins import declare

# --- CUDA ---

class libraryPropertyType(CudnnEnum):
    MAJOR_VERSION = 0
    MINOR_VERSION = 1
    PATCH_LEVEL = 2

MAJOR_VERSION = libraryPropertyType.MAJOR_VERSION
MINOR_VERSION = libraryPropertyType.MINOR_VERSION
PATCH_LEVEL = libraryPropertyType.PATCH_LEVEL

class cudaStream_t(OpaquePointer, struct="CUstream_st"): ...

class cudaGraph_t(OpaquePointer, struct="CUgraph_st"): ...

# --- handles ---

class cudnnHandle_t(
    OpaquePointer, struct="cudnnContext", header="cudnn_graph.h", since="1.0.0",
): ...

class cudnnBackendDescriptor_t(OpaquePointer, header="cudnn_graph.h", since="8.0.1"):
    _type_ = c_byte  # void * in C

class cudnnTensorDescriptor_t(
    OpaquePointer, struct="cudnnTensorStruct", header="cudnn_ops.h", since="2.0.0",
    must_be_set=True, may_be_half_set=True,
): ...

class cudnnPoolingDescriptor_t(
    OpaquePointer, struct="cudnnPoolingStruct", header="cudnn_ops.h", since="1.0.0",
    replaced_by="CUDNN_BACKEND_RESAMPLE_DESCRIPTOR", must_be_set=True, may_be_half_set=True,
): ...

class cudnnFilterDescriptor_t(
    OpaquePointer, struct="cudnnFilterStruct", header="cudnn_ops.h", since="1.0.0",
    replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR", must_be_set=True, may_be_half_set=True,
): ...

class cudnnLRNDescriptor_t(
    OpaquePointer, struct="cudnnLRNStruct", header="cudnn_ops.h", since="3.0.0",
): ...

class cudnnActivationDescriptor_t(
    OpaquePointer, struct="cudnnActivationStruct", header="cudnn_ops.h", since="4.0.0",
    replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR", must_be_set=True,
): ...

class cudnnSpatialTransformerDescriptor_t(
    OpaquePointer, struct="cudnnSpatialTransformerStruct", header="cudnn_ops.h", since="5.0.0",
    must_be_set=True, may_be_half_set=True,
): ...

class cudnnOpTensorDescriptor_t(
    OpaquePointer, struct="cudnnOpTensorStruct", header="cudnn_ops.h", since="5.0.0",
    replaced_by="CUDNN_BACKEND_POINTWISE_DESCRIPTOR", must_be_set=True,
): ...

class cudnnReduceTensorDescriptor_t(
    OpaquePointer, struct="cudnnReduceTensorStruct", header="cudnn_ops.h", since="6.0.0",
    replaced_by="CUDNN_BACKEND_REDUCTION_DESCRIPTOR", must_be_set=True,
): ...

class cudnnCTCLossDescriptor_t(
    OpaquePointer, struct="cudnnCTCLossStruct", header="cudnn_ops.h", since="7.0.5",
): ...

class cudnnTensorTransformDescriptor_t(
    OpaquePointer, struct="cudnnTensorTransformStruct", header="cudnn_ops.h", since="7.5.0",
    replaced_by="", must_be_set=True,
): ...

class cudnnDropoutDescriptor_t(
    OpaquePointer, struct="cudnnDropoutStruct", header="cudnn_ops.h", since="5.0.0",
): ...

class cudnnConvolutionDescriptor_t(
    OpaquePointer, struct="cudnnConvolutionStruct", header="cudnn_cnn.h", since="1.0.0",
    replaced_by="CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR", must_be_set=True, may_be_half_set=True,
): ...

class cudnnFusedOpsConstParamPack_t(
    OpaquePointer, struct="cudnnFusedOpsConstParamStruct", header="cudnn_cnn.h", since="7.6.0",
    replaced_by="CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR",
): ...

class cudnnFusedOpsVariantParamPack_t(
    OpaquePointer, struct="cudnnFusedOpsVariantParamStruct", header="cudnn_cnn.h", since="7.6.0",
    replaced_by="CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR",
): ...

class cudnnFusedOpsPlan_t(
    OpaquePointer, struct="cudnnFusedOpsPlanStruct", header="cudnn_cnn.h", since="7.6.0",
    replaced_by="CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR",
): ...

class cudnnRNNDescriptor_t(
    OpaquePointer, struct="cudnnRNNStruct", header="cudnn_adv.h", since="5.0.0", must_be_set=True,
): ...

class cudnnRNNDataDescriptor_t(
    OpaquePointer, struct="cudnnRNNDataStruct", header="cudnn_adv.h", since="7.2.1",
    must_be_set=True,
): ...

class cudnnSeqDataDescriptor_t(
    OpaquePointer, struct="cudnnSeqDataStruct", header="cudnn_adv.h", since="7.5.0",
    replaced_by="CUDNN_BACKEND_TENSOR_DESCRIPTOR", must_be_set=True,
): ...

class cudnnAttnDescriptor_t(
    OpaquePointer, struct="cudnnAttnStruct", header="cudnn_adv.h", since="7.5.0",
    replaced_by="CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR", must_be_set=True,
): ...

# --- structs ---

class cudnnRuntimeTag_t(Structure): ...

declare("cudnnRuntimeTag_t", header="cudnn_graph.h", since="7.0.5", replaced_by="")

class cudnnDebug_t(CudnnStructure, header="cudnn_graph.h", since="7.1.3"):
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

class cudnnFraction_t(CudnnStructure, header="cudnn_graph.h", since="8.5.0"):
    numerator: int = field(c_int64)
    denominator: int = field(c_int64)

class cudnnConvolutionFwdAlgoPerf_t(
    CudnnStructure, header="cudnn_cnn.h", since="3.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
):
    algo: cudnnConvolutionFwdAlgo_t = field(cudnnConvolutionFwdAlgo_t)
    status: cudnnStatus_t = field(cudnnStatus_t)
    time: float = field(c_float)
    memory: int = field(c_size_t)
    determinism: cudnnDeterminism_t = field(cudnnDeterminism_t)
    mathType: cudnnMathType_t = field(cudnnMathType_t)
    reserved: Array[c_int] = field(c_int * 3)

class cudnnConvolutionBwdDataAlgoPerf_t(
    CudnnStructure, header="cudnn_cnn.h", since="3.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
):
    algo: cudnnConvolutionBwdDataAlgo_t = field(cudnnConvolutionBwdDataAlgo_t)
    status: cudnnStatus_t = field(cudnnStatus_t)
    time: float = field(c_float)
    memory: int = field(c_size_t)
    determinism: cudnnDeterminism_t = field(cudnnDeterminism_t)
    mathType: cudnnMathType_t = field(cudnnMathType_t)
    reserved: Array[c_int] = field(c_int * 3)

class cudnnConvolutionBwdFilterAlgoPerf_t(
    CudnnStructure, header="cudnn_cnn.h", since="3.0.0",
    replaced_by="CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
):
    algo: cudnnConvolutionBwdFilterAlgo_t = field(cudnnConvolutionBwdFilterAlgo_t)
    status: cudnnStatus_t = field(cudnnStatus_t)
    time: float = field(c_float)
    memory: int = field(c_size_t)
    determinism: cudnnDeterminism_t = field(cudnnDeterminism_t)
    mathType: cudnnMathType_t = field(cudnnMathType_t)
    reserved: Array[c_int] = field(c_int * 3)

class cudnnGnnCscGraph_t(CudnnStructure, header="cudnn_gnn_ops.h", since="9.26.0"):
    cscOffsets: int | None = field(c_void_p)
    cscIndices: int | None = field(c_void_p)
    mapCscToCoo: int | None = field(c_void_p)
    mapRevToCoo: int | None = field(c_void_p)
    nSrcNodes: int = field(c_int64)
    nDstNodes: int = field(c_int64)
    nIndices: int = field(c_int64)
    idxType: cudnnDataType_t = field(cudnnDataType_t)
    cscRevOffsets: int | None = field(c_void_p)

class cudnnGnnMhaParams_t(CudnnStructure, header="cudnn_gnn_ops.h", since="9.28.0"):
    activation: cudnnGnnActivationOp_t = field(cudnnGnnActivationOp_t)
    activationAlpha: float = field(c_float)
    numHeads: int = field(c_int)
    concatHeads: int = field(c_int)

# --- callbacks ---

# void (*)(cudnnSeverity_t sev, void *udata, const cudnnDebug_t *dbg, const char *msg)
cudnnCallback_t = CFUNCTYPE(None, c_int, c_void_p, POINTER(cudnnDebug_t), c_char_p)
cudnnCallback_t.__name__ = "cudnnCallback_t"
declare("cudnnCallback_t", header="cudnn_graph.h", since="7.1.3")

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
