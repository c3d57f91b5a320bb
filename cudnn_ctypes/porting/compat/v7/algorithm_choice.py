"""The choice of a convolution's algorithm by a preference and a limit of memory.

``_v7`` returns every algorithm with its status and memory, the one expected to be fastest first.
The old functions returned one: the first usable algorithm whose workspace is within the limit.
"""

from __future__ import annotations

from ctypes import c_int, c_size_t
from typing import Any

from .... import raw
from .compute_type import settle_untyped
from .old_function import Arguments, Refused, implements

__all__ = ["choose"]

_MOST = 16  # more than any direction has algorithms, counting math types
_PERF_TYPES: dict[str, Any] = {
    "Forward": raw.cudnnConvolutionFwdAlgoPerf_t,
    "BackwardData": raw.cudnnConvolutionBwdDataAlgoPerf_t,
    "BackwardFilter": raw.cudnnConvolutionBwdFilterAlgoPerf_t,
}


@implements(
    """
    cudnnGetConvolutionForwardAlgorithm(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
    const cudnnFilterDescriptor_t wDesc, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t yDesc, cudnnConvolutionFwdPreference_t preference,
    size_t memoryLimitInBytes, cudnnConvolutionFwdAlgo_t *algo)
    """
)
def forward(a: Arguments) -> None:
    _preferred(a, "Forward", a.xDesc, a.wDesc, a.convDesc, a.yDesc)


@implements(
    """
    cudnnGetConvolutionBackwardDataAlgorithm(cudnnHandle_t handle,
    const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
    cudnnConvolutionBwdDataPreference_t preference, size_t memoryLimitInBytes,
    cudnnConvolutionBwdDataAlgo_t *algo)
    """
)
def backward_data(a: Arguments) -> None:
    _preferred(a, "BackwardData", a.wDesc, a.dyDesc, a.convDesc, a.dxDesc)


@implements(
    """
    cudnnGetConvolutionBackwardFilterAlgorithm(cudnnHandle_t handle,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
    cudnnConvolutionBwdFilterPreference_t preference, size_t memoryLimitInBytes,
    cudnnConvolutionBwdFilterAlgo_t *algo)
    """
)
def backward_filter(a: Arguments) -> None:
    _preferred(a, "BackwardFilter", a.xDesc, a.dyDesc, a.convDesc, a.dwDesc)


def _preferred(a: Arguments, call: str, *operands: Any) -> None:
    a.require("algo")
    a.put(algo=choose(call, _limit(a), a.handle, *operands))


def choose(call: str, limit: int | None, handle: Any, *operands: Any) -> Any:
    """The first usable algorithm whose workspace is within the limit.

    Parameters
    ----------
    call : str
        "Forward", "BackwardData" or "BackwardFilter".
    limit : int or None
        Bytes; None for any number.
    *operands
        The descriptors, in C's order.

    Raises
    ------
    Refused
        NOT_SUPPORTED if there is none.
    """
    settle_untyped(operands[2], operands[1] if call == "BackwardData" else operands[0])
    workspace_size = getattr(raw, f"cudnnGetConvolution{call}WorkspaceSize")
    results, count = (_PERF_TYPES[call] * _MOST)(), c_int()
    find = getattr(raw, f"cudnnGetConvolution{call}Algorithm_v7")
    find(handle, *operands, _MOST, count, results)
    usable = [each.algo for each in results[: count.value] if not each.status]
    for algorithm in usable:
        # The program's workspace will be for the convolution's own math type, not the result's.
        size = c_size_t()
        known = not workspace_size.unchecked(handle, *operands, algorithm, size)
        if known and (limit is None or size.value <= limit):
            return algorithm
    raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, _why_none(usable, limit))


def _limit(a: Arguments) -> int | None:
    """The largest size of the workspace in bytes; None for no limit."""
    preference = a.preference.name
    if preference.endswith("_NO_WORKSPACE"):
        return 0
    if preference.endswith("_SPECIFY_WORKSPACE_LIMIT"):
        return int(a.memoryLimitInBytes)
    return None


def _why_none(usable: list[Any], limit: int | None) -> str:
    if not usable:
        return "no algorithm supports this convolution"
    return f"none of {len(usable)} algorithms does with a workspace of {limit} bytes"
