"""Multi-head attention.

Queries, keys and values are tensors (T, N, B, V): time steps, batch, sequences in a beam, vector;
or (T, N, V) with one sequence for each batch entry. They are dense, and all in the same order in
memory, vectors last. Results, workspaces and reserve spaces are made where none are given; all
work goes to the handle's stream.

The window of query t is the keys with ``low[t] <= key < high[t]``, the same for all sequences of
the batch. A query with an empty window attends to nothing.

For training there is `attention_forward_training`, which fills a reserve space; the gradients are
in `attention_gradients`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import raw
from ..handle import Handle
from .attention_call import AttentionCall, both_lengths
from .attention_descriptor import AttnDescriptor
from .operands import Made
from .scalars import integer
from .sequence_data import SeqDataDescriptor

__all__ = ["AttentionForward", "attention_forward", "attention_forward_training"]


class AttentionForward(NamedTuple):
    """What `attention_forward_training` returns.

    Attributes
    ----------
    out : DeviceTensor, or out as it was given
    reserve_space : DeviceTensor of bytes, or as it was given
        For the gradients.
    """

    out: Any
    reserve_space: Any


def attention_forward(
    handle: Handle,
    q: Any,
    k: Any,
    v: Any,
    attn: AttnDescriptor,
    weights: Any = None,
    out: Made | None = None,
    *,
    residuals: Any = None,
    current: int | None = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    device_lengths: tuple[Any, Any] | None = None,
    workspace: Any = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
    out_desc: SeqDataDescriptor | None = None,
) -> Made:
    """What queries make of keys and values, for inference; follows ``cudnnMultiHeadAttnForward``.

    Parameters
    ----------
    q : tensor
        Queries, (Tq, N, B, q_size).
    k, v : tensor
        Keys and values, (Tk, N, B, k_size) and (Tk, N, B, v_size), with B = 1 for the query map
        "all_to_one".
    attn : AttnDescriptor
    weights : AttentionWeights, DeviceBuffer or tensor, optional
        Needed if there are projections.
    out : tensor, optional
        (Tq, N, B, output size). Left out: made, in the order in memory of q.
    residuals : tensor, optional
        Added to the output: like q, whose vectors are as long as the output's then. Often q itself.
    current : int, optional
        Process this time step of the queries only, and leave the rest of `out` alone.
    low, high : sequence of int, optional
        The window of each query, which may reach beyond the keys. Left out: all of them.
    q_lengths, k_lengths : sequence of N * B int, optional
        Time steps of each sequence, the beam of the first batch entry first. Left out: all.
    device_lengths : pair of tensors, optional
        The same as int32 in device memory, from where the kernels read them; their values are not
        checked. Left out: copied.
    workspace : DeviceBuffer or tensor, optional
        Left out: allocated for the call.
    q_desc, k_desc, v_desc, out_desc : SeqDataDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    DeviceTensor, or out as it was given

    Raises
    ------
    TypeError
        If an operand is host memory, has no shape, or is of another type than `attn`.
    ValueError
        If shapes, lengths or windows do not fit, or memory is too small; the message names the
        argument.
    """
    operands = {
        "q": ("q", q, q_desc),
        "k": ("k", k, k_desc),
        "v": ("v", v, v_desc),
        "out": ("out", out, out_desc),
    }
    with AttentionCall(handle, attn, operands, both_lengths(q_lengths, k_lengths)) as call:
        if current is not None and out is None:
            raise ValueError("out: needed with current, which writes one time step of it")
        current = None if current is None else integer("current", current)
        if current is not None and not 0 <= current < call.desc["q"].shape[0]:
            raise ValueError(
                f"current: expected a time step of q, which has {call.desc['q'].shape[0]}, "
                f"got {current}"
            )
        _forward(call, weights, residuals, current, low, high, device_lengths, workspace, None)
        result: Made = call.out
    return result


def attention_forward_training(
    handle: Handle,
    q: Any,
    k: Any,
    v: Any,
    attn: AttnDescriptor,
    weights: Any = None,
    out: Any = None,
    reserve_space: Any = None,
    *,
    residuals: Any = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    device_lengths: tuple[Any, Any] | None = None,
    workspace: Any = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
    out_desc: SeqDataDescriptor | None = None,
) -> AttentionForward:
    """The same for training, with dropout; follows ``cudnnMultiHeadAttnForward``.

    Parameters
    ----------
    reserve_space : DeviceBuffer or tensor, optional
        Filled for the gradients. Left out: made.

    The other parameters, and the errors, are those of `attention_forward`.

    Returns
    -------
    AttentionForward
    """
    operands = {
        "q": ("q", q, q_desc),
        "k": ("k", k, k_desc),
        "v": ("v", v, v_desc),
        "out": ("out", out, out_desc),
    }
    with AttentionCall(handle, attn, operands, both_lengths(q_lengths, k_lengths)) as call:
        call.training = True
        if reserve_space is None:
            reserve_space = call.new_reserve_space()
        _forward(
            call, weights, residuals, None, low, high, device_lengths, workspace, reserve_space
        )
        return AttentionForward(call.out, reserve_space)


def _forward(
    call: AttentionCall,
    weights: Any,
    residuals: Any,
    current: int | None,
    low: Any,
    high: Any,
    device_lengths: Any,
    workspace: Any,
    reserve_space: Any,
) -> None:
    if residuals is not None:
        if call.desc["q"].shape != call.desc["out"].shape:
            raise ValueError(
                f"residuals: are like q, {call.desc['q'].shape}, and are added to out, "
                f"{call.desc['out'].shape}: their vectors must be equally long"
            )
        residuals = call.alike("residuals", residuals, "q")
    weight_memory, weight_size = call.weights("weights", weights)
    space, space_size = call.workspace(workspace)
    reserve, reserve_size = (
        (None, 0) if reserve_space is None else call.reserve_space(reserve_space)
    )
    raw.cudnnMultiHeadAttnForward(
        call.handle,
        call.attn,
        -1 if current is None else current,
        *call.windows(low, high, current),
        *call.lengths(device_lengths),
        call.desc["q"],
        call.memory["q"],
        residuals,
        call.desc["k"],
        call.memory["k"],
        call.desc["v"],
        call.memory["v"],
        call.desc["out"],
        call.memory["out"],
        weight_size,
        weight_memory,
        space_size,
        space,
        reserve_size,
        reserve,
    )
