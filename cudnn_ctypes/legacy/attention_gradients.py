"""The gradients of multi-head attention.

After `attention_forward_training`, `attention_backward_data`, which writes to the reserve space,
then `attention_backward_weights`; with the same operands, weights, windows and lengths each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import raw
from ..handle import Handle
from .attention_call import AttentionCall, both_lengths
from .attention_descriptor import AttnDescriptor
from .attention_weights import AttentionWeights
from .sequence_data import SeqDataDescriptor

__all__ = ["AttentionGradients", "attention_backward_data", "attention_backward_weights"]


class AttentionGradients(NamedTuple):
    """What `attention_backward_data` returns: gradients by queries, keys and values."""

    dq: Any
    dk: Any
    dv: Any


def attention_backward_data(
    handle: Handle,
    dout: Any,
    q: Any,
    k: Any,
    v: Any,
    attn: AttnDescriptor,
    weights: Any,
    reserve_space: Any,
    *,
    dq: Any = None,
    dk: Any = None,
    dv: Any = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    device_lengths: tuple[Any, Any] | None = None,
    workspace: Any = None,
    dout_desc: SeqDataDescriptor | None = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
) -> AttentionGradients:
    """Gradients by queries, keys and values; follows ``cudnnMultiHeadAttnBackwardData``.

    The gradient by residuals is `dout` itself, and not in the results: where residuals are the
    queries, add it to dq.

    Parameters
    ----------
    dout : tensor
        Gradient of the output, like that.
    weights : AttentionWeights, DeviceBuffer or tensor
        None if there are no projections.
    reserve_space : DeviceBuffer or tensor
        What `attention_forward_training` filled; written for `attention_backward_weights`.
    dq, dk, dv : tensor, optional
        Results, like q, k and v; zero in the padding. Left out: made. Without a projection of the
        queries, cuDNN 9.14 and 9.19 leave a given dq alone at the time steps past the longest
        sequence of queries.

    The other parameters, and the errors, are those of `attention_forward`.
    """
    operands = {
        "q": ("q", q, q_desc),
        "k": ("k", k, k_desc),
        "v": ("v", v, v_desc),
        "out": ("dout", _needed("dout", dout), dout_desc),
    }
    with AttentionCall(handle, attn, operands, both_lengths(q_lengths, k_lengths)) as call:
        call.training = True
        results = [
            call.like(role, operand, zero=role == "q") if result is None else result
            for role, operand, result in (("q", q, dq), ("k", k, dk), ("v", v, dv))
        ]
        written = [
            call.alike(f"d{role}", result, role, written=True)
            for role, result in zip(("q", "k", "v"), results, strict=True)
        ]
        weight_memory, weight_size = call.weights("weights", weights)
        space, space_size = call.workspace(workspace)
        reserve, reserve_size = call.reserve_space(_needed("reserve_space", reserve_space))
        raw.cudnnMultiHeadAttnBackwardData(
            handle,
            attn,
            *call.windows(low, high, None),
            *call.lengths(device_lengths),
            call.desc["out"],
            call.memory["out"],
            call.desc["q"],
            written[0],
            call.memory["q"],
            call.desc["k"],
            written[1],
            call.memory["k"],
            call.desc["v"],
            written[2],
            call.memory["v"],
            weight_size,
            weight_memory,
            space_size,
            space,
            reserve_size,
            reserve,
        )
    return AttentionGradients(*results)


def attention_backward_weights(
    handle: Handle,
    dout: Any,
    q: Any,
    k: Any,
    v: Any,
    attn: AttnDescriptor,
    weights: Any,
    reserve_space: Any,
    dweights: Any = None,
    *,
    add: bool = False,
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    workspace: Any = None,
    dout_desc: SeqDataDescriptor | None = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
) -> Any:
    """Gradients by weights and biases; follows ``cudnnMultiHeadAttnBackwardWeights``.

    Parameters
    ----------
    reserve_space : DeviceBuffer or tensor
        What `attention_backward_data` wrote to.
    dweights : AttentionWeights, DeviceBuffer or tensor, optional
        Result, like weights. Left out: made.
    add : bool
        Add the gradients to what `dweights` holds, rather than to overwrite it.

    Returns
    -------
    AttentionWeights, or dweights as it was given

    The other parameters, and the errors, are those of `attention_backward_data`.
    """
    if add and dweights is None:
        raise ValueError("dweights: needed with add=True, which adds to what it holds")
    operands = {
        "q": ("q", q, q_desc),
        "k": ("k", k, k_desc),
        "v": ("v", v, v_desc),
        "out": ("dout", _needed("dout", dout), dout_desc),
    }
    with AttentionCall(handle, attn, operands, both_lengths(q_lengths, k_lengths)) as call:
        call.training = True
        weight_memory, weight_size = call.weights("weights", weights)
        space, space_size = call.workspace(workspace)
        reserve, reserve_size = call.reserve_space(_needed("reserve_space", reserve_space))
        made = AttentionWeights(handle, attn) if dweights is None else None
        result = dweights if made is None else made
        try:
            result_memory, _ = call.weights("dweights", result)
            raw.cudnnMultiHeadAttnBackwardWeights(
                handle,
                attn,
                raw.CUDNN_WGRAD_MODE_ADD if add else raw.CUDNN_WGRAD_MODE_SET,
                call.desc["q"],
                call.memory["q"],
                call.desc["k"],
                call.memory["k"],
                call.desc["v"],
                call.memory["v"],
                call.desc["out"],
                call.memory["out"],
                weight_size,
                weight_memory,
                result_memory,
                space_size,
                space,
                reserve_size,
                reserve,
            )
        except BaseException:
            if made is not None:
                made.close()
            raise
    return result


def _needed(name: str, value: Any) -> Any:
    if value is None:
        raise ValueError(f"{name}: needed")
    return value
