"""Advice for known functions, statuses and reasons, found by patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .. import loaded_libraries
from .failure import Failure

__all__ = ["hint", "of_sublibraries"]


@dataclass(frozen=True, slots=True)
class _Rule:
    """Advice for calls whose function, status and reasons match the patterns.

    A rule without a pattern for reasons is a guess; it applies only if cuDNN returned the status.
    """

    advice: str
    function: str = ""
    status: str = ""
    reason: str = ""

    def applies(self, failure: Failure) -> bool:
        if not self.reason and not failure.is_cudnn_s:
            return False
        return all(
            re.search(pattern, text)
            for pattern, text in (
                (self.function, failure.function),
                (self.status, failure.status),
                (self.reason, failure.text),
            )
        )


_NO_GPU = (
    "cuDNN found no usable NVIDIA GPU or driver. To run without a GPU, call "
    "cudnn_ctypes.use_reference_device() first, or set CUDNN_CTYPES_DEVICE=reference; "
    "`python -m cudnn_ctypes doctor` says what is missing"
)

_NO_DRIVER = (
    "libcuda.so.1, which comes with the NVIDIA driver, cannot be loaded, and a library of cuDNN "
    "that this call uses needs it. To run without a GPU, call cudnn_ctypes.use_reference_device() "
    "first, or set CUDNN_CTYPES_DEVICE=reference"
)

_REDUCED_BUILD = (
    "this build of cuDNN lacks the sublibrary that the function is in: the nvidia-cudnn-jit wheels "
    "hold the graph API only; install the full nvidia-cudnn wheel"
)

_RULES = (
    _Rule(_NO_GPU, function="^cudnnCreate$", reason="cudaGetDeviceCount|cudaGetDevice|cuInit"),
    _Rule(
        "cudnnCreate also returns this when the GPU has no memory left",
        function="^cudnnCreate$",
        status="NOT_INITIALIZED|INTERNAL_ERROR|ALLOC",
    ),
    _Rule(
        "a descriptor means nothing before one of its cudnnSet functions has succeeded",
        reason="(?m)but never set$|may be half set",
    ),
    _Rule(
        "give a tensor of fewer dimensions ones for those that it lacks: (1, n) for n numbers",
        function="^cudnnSet(Tensor|Filter)",
        reason=r"nbDims < \w",
    ),
    _Rule(
        "the number of channels must be a multiple of the channels in a vector, 4 or 32",
        function="^cudnnSet(Tensor|Filter)",
        reason=r"% (4|32)\b",
    ),
    _Rule(
        "the descriptors of the legacy API take float, double, half, bfloat16 and the types of 8 "
        "and 32 bits that are integers; other types are for the graph API",
        function="^cudnnSet(Tensor|Filter)",
        reason="is_tensor_supported_datatype",
    ),
    _Rule(
        "strides, dilations and group counts must be at least 1, padding at least 0",
        function="^cudnnSetConvolution",
        reason=r"(?i)(stride|dilation|pad\w*)A?\s?\[|group_?\s?count",
    ),
    _Rule(
        "take an algorithm from cudnnGetConvolution…Algorithm_v7 or "
        "cudnnFindConvolution…Algorithm whose status is CUDNN_STATUS_SUCCESS",
        function="^cudnnConvolution|^cudnnGetConvolution.*WorkspaceSize",
        status="NOT_SUPPORTED",
        reason="_ALGO_|Algo_t|this algorithm",
    ),
    _Rule(
        "this algorithm may have no kernel for these data types, layouts and sizes: take one from "
        "cudnnGetConvolution…Algorithm_v7 or cudnnFindConvolution…Algorithm whose status is "
        "CUDNN_STATUS_SUCCESS",
        function="^cudnnConvolution(Forward|Bias|Backward(Data|Filter))|WorkspaceSize$",
        status="NOT_SUPPORTED",
    ),
    _Rule(
        "set CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16 for instance: to a multiple of an element's size "
        "that all addresses of this tensor will be multiples of",
        function="^cudnnBackendFinalize$",
        reason="pointer alignment|_ptrAlignment",
    ),
    _Rule(
        "a descriptor that this one needs is not set, or was not finalized before it was set",
        function="^cudnnBackendFinalize$",
        reason=r"![\w.]+isFinalized\(\)",
    ),
    _Rule(
        "cuDNN knows this type by its name only; up to 9.28 it creates no "
        "CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR",
        function="^cudnnBackendCreateDescriptor$",
        reason="getSizeOfDescriptor",
    ),
    _Rule(
        "a kernel failed on the GPU: an address that is not device memory, memory that is too "
        "small, or an earlier asynchronous error; compute-sanitizer shows which",
        status="EXECUTION_FAILED",
    ),
)


def of_sublibraries(failure: Failure) -> str:
    """Advice about a part of cuDNN that cannot be loaded."""
    if "SUBLIBRARY_LOADING" in failure.status and not loaded_libraries.driver_present():
        return _NO_DRIVER
    if "SUBLIBRARY_UNAVAILABLE" in failure.status:
        return _REDUCED_BUILD
    return loaded_libraries.mixed_install_advice() if "SUBLIBRARY" in failure.status else ""


def hint(failure: Failure) -> str:
    """The advice of the first rule that applies."""
    if "was destroyed" in failure.text:
        return ""
    return next((rule.advice for rule in _RULES if rule.applies(failure)), "")
