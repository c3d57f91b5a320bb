"""The gradients of multi-head attention.

After `attention_forward_training`, `attention_backward_data`, which writes to the reserve space,
then `attention_backward_weights`; with the same operands, weights, windows and lengths each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from .. import raw
from ..handle import Handle
from .attention_descriptor import AttnDescriptor
from .attention_operands import AttentionOperands
from .attention_weights import AttentionWeights
from .enumerators import enumerator
from .launch import launched
from .sequence_data import SeqDataDescriptor

__all__ = ["AttentionGradients", "attention_backward_data", "attention_backward_weights"]


class AttentionGradients(NamedTuple):
    """Gradients with respect to queries, keys and values, from `attention_backward_data`.

    For an example see `attention_forward_training`.
    """

    dq: Any
    dk: Any
    dv: Any


@launched
def attention_backward_data(
    handle: Handle,
    attn: AttnDescriptor,
    *,
    q: Any,
    k: Any,
    v: Any,
    dy: Any,
    weights: Any = None,
    reserve_space: Any,
    dq: Any = None,
    dk: Any = None,
    dv: Any = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    device_q_lengths: Any = None,
    device_k_lengths: Any = None,
    workspace: Any = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
    dy_desc: SeqDataDescriptor | None = None,
) -> AttentionGradients:
    """Gradients by queries, keys and values; follows ``cudnnMultiHeadAttnBackwardData``.

    The gradient by residuals is dy itself, and not in the results: where residuals are the
    queries, add it to dq.

    For an example see `attention_forward_training`.

    Parameters
    ----------
    dy : tensor
        Gradient of the output y, like that.
    weights : AttentionWeights, DeviceBuffer or tensor, optional
        Needed if there are projections.
    reserve_space : DeviceBuffer or tensor
        What `attention_forward_training` filled; written for `attention_backward_weights`.
    dq, dk, dv : tensor, optional
        Results, like q, k and v; zero in the padding. Default: allocated. Without a projection of
        the queries, cuDNN 9.14 and 9.19 leave a given dq alone at the time steps past the longest
        sequence of queries.

    The other parameters, and the errors, are those of `attention_forward`.
    """
    described = {"q": (q, q_desc), "k": (k, k_desc), "v": (v, v_desc), "dy": (dy, dy_desc)}
    with AttentionOperands(handle, attn, training=True, **described) as operands:
        operands.describe_all(q_lengths, k_lengths)
        results = []
        for source, result in (("q", dq), ("k", dk), ("v", dv)):
            if result is None:
                result = operands.new_like(f"d{source}", source, zeros=source == "q")
            operands.alike(f"d{source}", result, operands.describe(source))
            results.append(result)
        lengths = operands.device_lengths(device_q_lengths, device_k_lengths)
        operands.launch_with(
            raw.cudnnMultiHeadAttnBackwardData,
            weights,
            workspace,
            reserve_space,
            **operands.windows(low, high),
            devSeqLengthsDQDO=lengths[0],
            devSeqLengthsDKDV=lengths[1],
            doDesc="dy",
            dout="dy",
            dqueries="dq",
            dkeys="dk",
            dvalues="dv",
        )
    return AttentionGradients(*results)


@launched
def attention_backward_weights(
    handle: Handle,
    attn: AttnDescriptor,
    *,
    q: Any,
    k: Any,
    v: Any,
    dy: Any,
    weights: Any,
    reserve_space: Any,
    dweights: Any = None,
    mode: Any = "set",
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    workspace: Any = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
    dy_desc: SeqDataDescriptor | None = None,
) -> Any:
    """Gradients by weights and biases; follows ``cudnnMultiHeadAttnBackwardWeights``.

    Parameters
    ----------
    reserve_space : DeviceBuffer or tensor
        What `attention_backward_data` wrote to.
    dweights : AttentionWeights, DeviceBuffer or tensor, optional
        Result, like weights. Default: allocated.
    mode : cudnnWgradMode_t or str
        "set", or "add": the gradients are added to what `dweights` holds.

    Returns
    -------
    AttentionWeights, or dweights as it was given

    The other parameters, and the errors, are those of `attention_backward_data`.

    Examples
    --------
    >>> attn = AttnDescriptor(q_size=1, v_projection=1, qo_max_length=1, kv_max_length=1)
    >>> v = DeviceTensor.full((1, 1, 1, 1), 3, "float32")
    >>> with Handle() as handle, AttentionWeights(handle, attn) as weights:
    ...     operands = {"q": v, "k": v, "v": v, "weights": weights}
    ...     y, reserve_space = attention_forward_training(handle, attn=attn, **operands)
    ...     operands |= {"dy": v, "reserve_space": reserve_space}
    ...     gradients = attention_backward_data(handle, attn, **operands)
    ...     dweights = attention_backward_weights(handle, attn, **operands)
    >>> dweights.numpy()
    {'v_weights': array([[[9.]]], dtype=float32)}
    """
    mode = enumerator(raw.cudnnWgradMode_t, mode, "mode")
    if mode == raw.CUDNN_WGRAD_MODE_ADD and dweights is None:
        raise ValueError('dweights: needed with mode="add", which adds to what it holds')
    described = {"q": (q, q_desc), "k": (k, k_desc), "v": (v, v_desc), "dy": (dy, dy_desc)}
    with (
        ExitStack() as on_error,
        AttentionOperands(handle, attn, training=True, **described) as operands,
    ):
        operands.describe_all(q_lengths, k_lengths)
        if dweights is None:
            dweights = on_error.enter_context(AttentionWeights(handle, attn))
        operands.launch_with(
            raw.cudnnMultiHeadAttnBackwardWeights,
            weights,
            workspace,
            reserve_space,
            addGrad=mode,
            doDesc="dy",
            dout="dy",
            dweights=operands.room("dweights", dweights, operands.sizes.weights)[0],
        )
        on_error.pop_all()
    return dweights
