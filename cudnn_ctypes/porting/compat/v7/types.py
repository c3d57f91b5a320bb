"""The handles, structs and other types that cuDNN 9 dropped."""

from __future__ import annotations

from ctypes import Structure, Union, c_int, c_uint

from ....raw.ctypes_support import OpaquePointer
from .enums import (
    cudnnAddMode_t,
    cudnnConvolutionBwdDataPreference_t,
    cudnnConvolutionBwdFilterPreference_t,
    cudnnConvolutionFwdPreference_t,
)

__all__ = [
    "cudnnAddMode_t",
    "cudnnAlgorithmDescriptor_t",
    "cudnnAlgorithmPerformance_t",
    "cudnnAlgorithm_t",
    "cudnnAttnQueryMap_t",
    "cudnnConvolutionBwdDataPreference_t",
    "cudnnConvolutionBwdFilterPreference_t",
    "cudnnConvolutionFwdPreference_t",
    "cudnnPersistentRNNPlan_t",
    "cudnnRNNPaddingMode_t",
]

cudnnRNNPaddingMode_t = c_uint
cudnnAttnQueryMap_t = c_uint


class cudnnPersistentRNNPlan(Structure): ...


class cudnnPersistentRNNPlan_t(OpaquePointer):
    """A plan that `cudnnCreatePersistentRNNPlan` made."""

    _type_ = cudnnPersistentRNNPlan


class cudnnAlgorithmStruct(Structure): ...


class cudnnAlgorithmDescriptor_t(OpaquePointer):
    """A descriptor that holds one `cudnnAlgorithm_t`."""

    _type_ = cudnnAlgorithmStruct


class cudnnAlgorithmPerformanceStruct(Structure): ...


class cudnnAlgorithmPerformance_t(OpaquePointer):
    """An algorithm with its results in a search: status, time, memory."""

    _type_ = cudnnAlgorithmPerformanceStruct


class _Algorithm(Union):
    _fields_ = (
        ("convFwdAlgo", c_int),
        ("convBwdFilterAlgo", c_int),
        ("convBwdDataAlgo", c_int),
        ("RNNAlgo", c_int),
        ("CTCLossAlgo", c_int),
    )


class cudnnAlgorithm_t(Structure):
    """An enumerator of one of five enums: ``algorithm.algo.RNNAlgo``."""

    _fields_ = (("algo", _Algorithm),)
