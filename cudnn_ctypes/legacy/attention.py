"""Multi-head attention.

Queries, keys and values are tensors (T, N, B, V): time steps, batch, sequences in a beam, vector;
or (T, N, V) with one sequence for each batch entry. They are dense, and all in the same order in
memory, vectors last. Results, workspaces and reserve spaces are allocated where none are
given; all work goes to the handle's stream.

The window of query t is the keys with ``low[t] <= key < high[t]``, the same for all sequences of
the batch. A query with an empty window attends to nothing.

For training there is `attention_forward_training`, which fills a reserve space; the gradients are
in `attention_gradients`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import raw
from ..arguments import integer
from ..handle import Handle
from .attention_descriptor import AttnDescriptor
from .attention_operands import AttentionOperands
from .launch import launched
from .operands import Made
from .sequence_data import SeqDataDescriptor

__all__ = ["AttentionForwardResult", "attention_forward", "attention_forward_training"]


class AttentionForwardResult(NamedTuple):
    """Result of `attention_forward_training`.

    For an example see `attention_forward_training`.

    Attributes
    ----------
    y : DeviceTensor, or y as it was given
    reserve_space : DeviceTensor of bytes, or as it was given
        For the gradients.
    """

    y: Any
    reserve_space: Any


@launched
def attention_forward(
    handle: Handle,
    q: Any,
    k: Any,
    v: Any,
    attn: AttnDescriptor,
    weights: Any = None,
    y: Made | None = None,
    *,
    residuals: Any = None,
    current: int | None = None,
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
    y_desc: SeqDataDescriptor | None = None,
) -> Made:
    """Multi-head attention for inference; follows ``cudnnMultiHeadAttnForward``.

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
    y : tensor, optional
        (Tq, N, B, output size). Default: allocated, in the order in memory of q.
    residuals : tensor, optional
        Added to the output: like q, whose vectors are as long as the output's then. Often q itself.
    current : int, optional
        Process this time step of the queries only, and leave the rest of y alone.
    low, high : sequence of int, optional
        The window of each query, which may reach beyond the keys. Default: all of them.
    q_lengths, k_lengths : sequence of N * B int, optional
        Time steps of each sequence, the beam of the first batch entry first. Default: all.
    device_q_lengths, device_k_lengths : tensor, optional
        The same as int32 in device memory, from where the kernels read them; their values are not
        checked. Default: copied.
    workspace : DeviceBuffer or tensor, optional
        Default: allocated for the call.
    q_desc, k_desc, v_desc, y_desc : SeqDataDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    DeviceTensor, or y as it was given

    Raises
    ------
    TypeError
        If an operand is host memory, has no shape, or is of another type than `attn`.
    ValueError
        If shapes, lengths or windows do not fit, or memory is too small; the message names the
        argument.

    Examples
    --------
    >>> attn = AttnDescriptor(1, q_size=4, qo_max_length=3, kv_max_length=3)
    >>> q = DeviceTensor.full((3, 1, 1, 4), 1, "float32")
    >>> with Handle() as handle:
    ...     y = attention_forward(handle, q, q, q, attn)
    >>> y.shape
    (3, 1, 1, 4)
    """
    described = {"q": (q, q_desc), "k": (k, k_desc), "v": (v, v_desc), "y": (y, y_desc)}
    with AttentionOperands(handle, attn, training=False, **described) as operands:
        operands.describe_all(q_lengths, k_lengths)
        if current is not None:
            current, steps = integer("current", current), operands.describe("q").shape[0]
            if y is None:
                raise ValueError("y: needed with current, which writes one time step of it")
            if not 0 <= current < steps:
                raise ValueError(
                    f"current: expected a time step of q, which has {steps}, got {current}"
                )
        made: Any = operands.new_like("y", "q") if y is None else y
        _launch(
            operands,
            residuals,
            operands.windows(low, high, current),
            operands.device_lengths(device_q_lengths, device_k_lengths),
            (weights, workspace, None),
            current,
        )
    return made  # type: ignore[no-any-return]


@launched
def attention_forward_training(
    handle: Handle,
    q: Any,
    k: Any,
    v: Any,
    attn: AttnDescriptor,
    weights: Any = None,
    y: Any = None,
    reserve_space: Any = None,
    *,
    residuals: Any = None,
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
    y_desc: SeqDataDescriptor | None = None,
) -> AttentionForwardResult:
    """The same for training, with dropout; follows ``cudnnMultiHeadAttnForward``.

    Parameters
    ----------
    reserve_space : DeviceBuffer or tensor, optional
        Filled for the gradients. Default: allocated.

    The other parameters, and the errors, are those of `attention_forward`.

    Returns
    -------
    AttentionForwardResult

    Examples
    --------
    >>> attn = AttnDescriptor(1, q_size=1, qo_max_length=2, kv_max_length=2)
    >>> q = DeviceTensor.zeros((2, 1, 1, 1), "float32")  # equal scores: y is the mean of v
    >>> v = DeviceTensor.from_numpy(np.array([1, 3], "float32").reshape(2, 1, 1, 1))
    >>> dy = DeviceTensor.full((2, 1, 1, 1), 1, "float32")
    >>> with Handle() as handle:
    ...     y, reserve_space = attention_forward_training(handle, q, q, v, attn)
    ...     gradients = attention_backward_data(
    ...         handle, attn, q=q, k=q, v=v, dy=dy, reserve_space=reserve_space
    ...     )
    >>> y.numpy().ravel(), gradients.dv.numpy().ravel()
    (array([2., 2.], dtype=float32), array([1., 1.], dtype=float32))
    """
    described = {"q": (q, q_desc), "k": (k, k_desc), "v": (v, v_desc), "y": (y, y_desc)}
    with AttentionOperands(handle, attn, training=True, **described) as operands:
        operands.describe_all(q_lengths, k_lengths)
        y = operands.new_like("y", "q") if y is None else y
        needed = operands.sizes.reserve_space
        reserve_space = operands.reserve_space(reserve_space, needed)
        _launch(
            operands,
            residuals,
            operands.windows(low, high),
            operands.device_lengths(device_q_lengths, device_k_lengths),
            (weights, workspace, reserve_space),
        )
    return AttentionForwardResult(y, reserve_space)


def _launch(
    operands: AttentionOperands,
    residuals: Any,
    windows: dict[str, tuple[int, ...]],
    lengths: tuple[Any, Any],
    spaces: tuple[Any, Any, Any],
    current: int | None = None,
) -> None:
    q_desc, y_desc = operands.describe("q"), operands.describe("y")
    if residuals is not None and q_desc.shape != y_desc.shape:
        raise ValueError(
            f"residuals: are like q, {q_desc.shape}, and are added to y, {y_desc.shape}: their "
            f"vectors must be equally long"
        )
    operands.alike("residuals", residuals, q_desc)
    operands.launch_with(
        raw.cudnnMultiHeadAttnForward,
        *spaces,
        currIdx=-1 if current is None else current,
        **windows,
        devSeqLengthsQO=lengths[0],
        devSeqLengthsKV=lengths[1],
        oDesc="y",
        out="y",
    )
