"""What usually causes an error: short advice for statuses and reasons that we know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import process

__all__ = ["hint"]


@dataclass(frozen=True, slots=True)
class _Rule:
    """Advice for calls whose function, status and reasons match the patterns."""

    advice: str
    function: str = ""
    status: str = ""
    reason: str = ""

    def applies(self, function: str, status: str, reasons: str) -> bool:
        return all(
            re.search(pattern, text)
            for pattern, text in (
                (self.function, function),
                (self.status, status),
                (self.reason, reasons),
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
        "every dimension must be at least 1",
        function="^cudnnSet(Tensor|Filter)",
        reason=r"<= 0|dimA?\[|nbDims",
    ),
    _Rule(
        "strides, dilations and group counts must be at least 1, padding at least 0",
        function="^cudnnSetConvolution",
        status="BAD_PARAM|INVALID_VALUE",
    ),
    _Rule(
        "the workspace is smaller than the algorithm needs: ask "
        "cudnnGetConvolution…WorkspaceSize for the same descriptors and algorithm",
        function="^cudnnConvolution",
        reason="(?i)work_?space",
    ),
    _Rule(
        "the descriptors do not fit each other: y must have the shape that "
        "cudnnGetConvolutionNdForwardOutputDim gives, and w as many input channels as x has per "
        "group",
        function="^cudnn(Get)?Convolution",
        status="BAD_PARAM",
    ),
    _Rule(
        "this algorithm has no kernel for these data types, layouts and sizes: take one from "
        "cudnnGetConvolution…Algorithm_v7 or cudnnFindConvolution…Algorithm whose status is "
        "CUDNN_STATUS_SUCCESS",
        function="^cudnnConvolution|^cudnnGetConvolution.*WorkspaceSize",
        status="NOT_SUPPORTED",
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


def hint(function: str, status: str, messages: Sequence[str], nulls: Sequence[str] = ()) -> str:
    """Advice for a failed call, "" if we have none."""
    if "SUBLIBRARY_LOADING" in status and not process.driver_present():
        return _NO_DRIVER
    if "SUBLIBRARY_UNAVAILABLE" in status:
        return _REDUCED_BUILD
    if "SUBLIBRARY" in status:
        return process.mixed_install_advice()
    reasons = "\n".join(messages)
    if "was destroyed" in reasons:
        return ""
    if nulls and "BAD_PARAM" in status:
        return f"NULL was given for {' and '.join(nulls)}: never created, or already destroyed?"
    for rule in _RULES:
        if rule.applies(function, status, reasons):
            return rule.advice
    return ""
