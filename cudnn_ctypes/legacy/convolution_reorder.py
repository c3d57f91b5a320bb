"""int8 filters in the order that the kernels for vectors of 32 channels read them in."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..handle import Handle
from .enumerators import enumerator
from .filter import FilterDescriptor
from .launch import launched
from .operand_memory import check_memory
from .operands import Operands
from .tensor import TensorDescriptor

__all__ = ["ReorderResult", "reorder_filter_and_bias"]


class ReorderResult(NamedTuple):
    """Filters and bias in the kernels' own order; the bias is None if none was given.

    For an example see `reorder_filter_and_bias`.
    """

    w: Any
    bias: Any


@launched
def reorder_filter_and_bias(
    handle: Handle,
    w: Any,
    bias: Any = None,
    *,
    reordered_w: Any = None,
    reordered_bias: Any = None,
    reorder_type: Any = "default_reorder",
    w_desc: FilterDescriptor | None = None,
    bias_desc: TensorDescriptor | None = None,
) -> ReorderResult:
    """Filters and bias in the kernels' own order; follows ``cudnnReorderFilterAndBias``.

    A convolution reorders its filters anew in every call, unless they were reordered here and its
    descriptor has ``reorder_type="no_reorder"``.

    Parameters
    ----------
    w : tensor
        int8x32 filters, layout NCHW_VECT_C32, (K, C, R, S) with K a multiple of 32.
    bias : tensor, optional
        (K,) or (1, K, 1, 1), float32.
    reordered_w, reordered_bias : tensor, optional
        Where the results go, like w and bias. Default: allocated.
    reorder_type : cudnnReorderType_t or str
        "no_reorder" copies.
    w_desc, bias_desc : optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    ReorderResult
        Shapes and types are those of w and bias, but no longer say what lies where.

    Raises
    ------
    NotSupportedError
        If w is not int8x32 (except for "no_reorder").

    Examples
    --------
    >>> w = DeviceTensor.zeros((32, 32, 1, 1), "int8x32")
    >>> with Handle() as handle:
    ...     result = reorder_filter_and_bias(handle, w)
    >>> result.w.shape, result.bias
    ((32, 32, 1, 1), None)
    """
    reorder_type = enumerator(raw.cudnnReorderType_t, reorder_type, "reorder_type")
    with Operands(
        handle,
        w=(w, w_desc),
        bias=(bias, bias_desc),
        reordered_w=(reordered_w, w_desc),
        reordered_bias=(reordered_bias, bias_desc),
    ) as operands:
        w_desc = operands.describe_filter("w")
        if reordered_w is None:
            reordered_w = operands.make("reordered_w", w_desc.shape, w_desc.data_type)
        biases: dict[str, Any] = {"biasData": None, "reorderedBiasData": None}
        if bias is not None:
            bias_desc = operands.describe_channels("bias", (1, *w_desc.shape))
            if reordered_bias is None:
                shape = w_desc.shape[:1] if getattr(bias, "ndim", 1) == 1 else bias_desc.shape
                reordered_bias = operands.make("reordered_bias", shape, bias_desc.data_type)
            memory = check_memory("reordered_bias", reordered_bias, bias_desc, handle, written=True)
            biases = {"biasData": "bias", "reorderedBiasData": memory}
        operands.launch(
            raw.cudnnReorderFilterAndBias,
            filterDesc="w",
            reorderType=reorder_type,
            filterData="w",
            reorderedFilterData=check_memory(
                "reordered_w", reordered_w, w_desc, handle, written=True
            ),
            reorderBias=int(bias is not None),
            **biases,
        )
    return ReorderResult(reordered_w, reordered_bias)
