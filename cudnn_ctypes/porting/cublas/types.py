"""The types and constants of cuBLAS's functions."""

from __future__ import annotations

import ctypes

from ...raw.ctypes_support import CudnnEnum, OpaquePointer

__all__ = [
    "CUBLAS_COMPUTE_16F",
    "CUBLAS_COMPUTE_32F",
    "CUBLAS_COMPUTE_64F",
    "CUBLAS_DEFAULT_MATH",
    "CUBLAS_GEMM_DEFAULT",
    "CUBLAS_GEMM_DEFAULT_TENSOR_OP",
    "CUBLAS_OP_C",
    "CUBLAS_OP_N",
    "CUBLAS_OP_T",
    "CUBLAS_PEDANTIC_MATH",
    "CUBLAS_POINTER_MODE_DEVICE",
    "CUBLAS_POINTER_MODE_HOST",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUBLAS_STATUS_ARCH_MISMATCH",
    "CUBLAS_STATUS_EXECUTION_FAILED",
    "CUBLAS_STATUS_INTERNAL_ERROR",
    "CUBLAS_STATUS_INVALID_VALUE",
    "CUBLAS_STATUS_LICENSE_ERROR",
    "CUBLAS_STATUS_MAPPING_ERROR",
    "CUBLAS_STATUS_NOT_INITIALIZED",
    "CUBLAS_STATUS_NOT_SUPPORTED",
    "CUBLAS_STATUS_SUCCESS",
    "CUBLAS_TENSOR_OP_MATH",
    "CUBLAS_TF32_TENSOR_OP_MATH",
    "CUDA_R_16BF",
    "CUDA_R_16F",
    "CUDA_R_32F",
    "CUDA_R_64F",
    "cublasComputeType_t",
    "cublasGemmAlgo_t",
    "cublasHandle_t",
    "cublasMath_t",
    "cublasOperation_t",
    "cublasPointerMode_t",
    "cublasStatus_t",
    "cudaDataType_t",
]


class _cublasContext(ctypes.Structure):
    pass


class cublasHandle_t(OpaquePointer):
    """A handle of cuBLAS; ``cublasCreate`` fills it."""

    _type_ = _cublasContext


class cublasStatus_t(CudnnEnum):
    """The status of a function of cuBLAS; unknown codes keep their number."""

    CUBLAS_STATUS_SUCCESS = 0
    CUBLAS_STATUS_NOT_INITIALIZED = 1
    CUBLAS_STATUS_ALLOC_FAILED = 3
    CUBLAS_STATUS_INVALID_VALUE = 7
    CUBLAS_STATUS_ARCH_MISMATCH = 8
    CUBLAS_STATUS_MAPPING_ERROR = 11
    CUBLAS_STATUS_EXECUTION_FAILED = 13
    CUBLAS_STATUS_INTERNAL_ERROR = 14
    CUBLAS_STATUS_NOT_SUPPORTED = 15
    CUBLAS_STATUS_LICENSE_ERROR = 16


class cublasOperation_t(CudnnEnum):
    """The operation on a matrix before its use: none, transposition or its conjugate."""

    CUBLAS_OP_N = 0
    CUBLAS_OP_T = 1
    CUBLAS_OP_C = 2


class cublasPointerMode_t(CudnnEnum):
    """The memory of the scalars alpha, beta and result: the host's or the device's."""

    CUBLAS_POINTER_MODE_HOST = 0
    CUBLAS_POINTER_MODE_DEVICE = 1


class cublasMath_t(CudnnEnum):
    """The allowed arithmetic; the reference device always computes in the data type."""

    CUBLAS_DEFAULT_MATH = 0
    CUBLAS_TENSOR_OP_MATH = 1
    CUBLAS_PEDANTIC_MATH = 2
    CUBLAS_TF32_TENSOR_OP_MATH = 3


class cudaDataType_t(CudnnEnum):
    """The element types that ``cublasGemmEx`` accepts here."""

    CUDA_R_32F = 0
    CUDA_R_64F = 1
    CUDA_R_16F = 2
    CUDA_R_16BF = 14


class cublasComputeType_t(CudnnEnum):
    """The compute type of ``cublasGemmEx``, which is also the type of alpha and beta."""

    CUBLAS_COMPUTE_16F = 64
    CUBLAS_COMPUTE_32F = 68
    CUBLAS_COMPUTE_64F = 70


class cublasGemmAlgo_t(CudnnEnum):
    """The algorithm of ``cublasGemmEx``."""

    CUBLAS_GEMM_DEFAULT = -1
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99


CUBLAS_STATUS_SUCCESS = cublasStatus_t.CUBLAS_STATUS_SUCCESS
CUBLAS_STATUS_NOT_INITIALIZED = cublasStatus_t.CUBLAS_STATUS_NOT_INITIALIZED
CUBLAS_STATUS_ALLOC_FAILED = cublasStatus_t.CUBLAS_STATUS_ALLOC_FAILED
CUBLAS_STATUS_INVALID_VALUE = cublasStatus_t.CUBLAS_STATUS_INVALID_VALUE
CUBLAS_STATUS_ARCH_MISMATCH = cublasStatus_t.CUBLAS_STATUS_ARCH_MISMATCH
CUBLAS_STATUS_MAPPING_ERROR = cublasStatus_t.CUBLAS_STATUS_MAPPING_ERROR
CUBLAS_STATUS_EXECUTION_FAILED = cublasStatus_t.CUBLAS_STATUS_EXECUTION_FAILED
CUBLAS_STATUS_INTERNAL_ERROR = cublasStatus_t.CUBLAS_STATUS_INTERNAL_ERROR
CUBLAS_STATUS_NOT_SUPPORTED = cublasStatus_t.CUBLAS_STATUS_NOT_SUPPORTED
CUBLAS_STATUS_LICENSE_ERROR = cublasStatus_t.CUBLAS_STATUS_LICENSE_ERROR

CUBLAS_OP_N = cublasOperation_t.CUBLAS_OP_N
CUBLAS_OP_T = cublasOperation_t.CUBLAS_OP_T
CUBLAS_OP_C = cublasOperation_t.CUBLAS_OP_C

CUBLAS_POINTER_MODE_HOST = cublasPointerMode_t.CUBLAS_POINTER_MODE_HOST
CUBLAS_POINTER_MODE_DEVICE = cublasPointerMode_t.CUBLAS_POINTER_MODE_DEVICE

CUBLAS_DEFAULT_MATH = cublasMath_t.CUBLAS_DEFAULT_MATH
CUBLAS_TENSOR_OP_MATH = cublasMath_t.CUBLAS_TENSOR_OP_MATH
CUBLAS_PEDANTIC_MATH = cublasMath_t.CUBLAS_PEDANTIC_MATH
CUBLAS_TF32_TENSOR_OP_MATH = cublasMath_t.CUBLAS_TF32_TENSOR_OP_MATH

CUDA_R_32F = cudaDataType_t.CUDA_R_32F
CUDA_R_64F = cudaDataType_t.CUDA_R_64F
CUDA_R_16F = cudaDataType_t.CUDA_R_16F
CUDA_R_16BF = cudaDataType_t.CUDA_R_16BF

CUBLAS_COMPUTE_16F = cublasComputeType_t.CUBLAS_COMPUTE_16F
CUBLAS_COMPUTE_32F = cublasComputeType_t.CUBLAS_COMPUTE_32F
CUBLAS_COMPUTE_64F = cublasComputeType_t.CUBLAS_COMPUTE_64F

CUBLAS_GEMM_DEFAULT = cublasGemmAlgo_t.CUBLAS_GEMM_DEFAULT
CUBLAS_GEMM_DEFAULT_TENSOR_OP = cublasGemmAlgo_t.CUBLAS_GEMM_DEFAULT_TENSOR_OP
