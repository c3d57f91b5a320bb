"""The scores of attention: scaled, biased and masked, with their softmax and dropout.

cuDNN recognizes these operations as parts of attention, which it carries out as one kernel. Which
of them there may be, and in which order, is cuDNN's; all its versions take this order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....raw import cudnnDataType_t
from ...describe.node import Node
from ...describe.operations.attention_checks import Mask
from ...describe.tensor import Tensor
from .builder import Builder

__all__ = [
    "NEVER",
    "add_biases",
    "add_scores",
    "add_softmax",
    "alibi_slopes",
    "kept_by_dropout",
]

NEVER = -math.inf
_INT32 = cudnnDataType_t.CUDNN_DATA_INT32
_BOOLEAN = cudnnDataType_t.CUDNN_DATA_BOOLEAN
_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


def alibi_slopes(heads: int) -> list[float]:
    """The slope of each head: a geometric series from 2 ** (-8 / heads) on for a power of two.

    For other numbers of heads the series of the power of two below, then every second slope of that
    of the power of two above (Press, Smith, Lewis: Train short, test long; 2022).
    """
    below = 1 << (heads.bit_length() - 1)
    slopes = [2 ** (-8 * (head + 1) / below) for head in range(below)]
    slopes += [2 ** (-4 * (2 * head + 1) / below) for head in range(heads - below)]
    return slopes


def add_scores(
    g: Builder,
    node: Node,
    k: Tensor,
    mask: Mask,
    factors: Sequence[Tensor | float],
    dims: tuple[int, ...],
) -> Tensor:
    """q @ k^T, times all `factors`, modified, biased, masked; `dims` are those of the scores."""
    g.make_turned(k)
    scores = g.matmul(
        node.inputs["q"],
        k,
        transpose_B=True,
        m_override=mask.seq_len_q,
        n_override=mask.seq_len_kv,
        name=g.named("scores"),
    )
    for factor in factors:
        scores = g.mul(scores, factor, name=g.named("scaled"))
    scores = g.modified(scores, node.subgraphs.get("score_mod"))
    scores = add_biases(g, scores, mask, dims)
    if mask.seq_len_q is not None and mask.seq_len_kv is not None:
        inside = g.logical_and(
            _compared(g, "lt", _index(g, scores, 2), mask.seq_len_q),
            _compared(g, "lt", _index(g, scores, 3), mask.seq_len_kv),
            compute_data_type=_BOOLEAN,
        )
        scores = g.binary_select(scores, NEVER, inside, name=g.named("padded"))
    if mask.right is not None:
        row, column = _index(g, scores, 2), _index(g, scores, 3)
        row = _moved(g, row, mask.right, mask, dims, 1)
        allowed = _compared(g, "ge", row, column)
        scores = g.binary_select(scores, NEVER, allowed, name=g.named("right"))
    if mask.left is not None:
        row, column = _index(g, scores, 2), _index(g, scores, 3)
        column = _moved(g, column, mask.left, mask, dims, -1)
        allowed = _compared(g, "gt", column, row)
        scores = g.binary_select(scores, NEVER, allowed, name=g.named("left"))
    return scores


def add_biases(g: Builder, scores: Tensor, mask: Mask, dims: tuple[int, ...]) -> Tensor:
    """The scores and what a mask adds to them."""
    if mask.bias is not None:
        scores = g.add(scores, mask.bias, name=g.named("biased"))
    return _with_alibi(g, scores, dims) if mask.alibi else scores


def _moved(
    g: Builder, index: Tensor, bound: int, mask: Mask, dims: tuple[int, ...], sign: int
) -> Tensor:
    """`index` + `bound`; from the bottom right also + `sign` * (s_kv - s_q)."""

    def moved(by: int) -> Tensor:
        # A left bound without an addition, even of 0, cuDNN takes and computes something else.
        needed = by or sign < 0
        return _whole(g, "add", index, g.tensor_scalar(by, "int32")) if needed else index

    if not mask.bottom_right:
        return moved(bound)
    if mask.seq_len_q is None or mask.seq_len_kv is None:
        return moved(bound + sign * (dims[3] - dims[2]))
    # So it does in another order.
    if sign < 0:
        index = moved(bound)
    modes = ("add", "sub")[::sign]
    index = _whole(g, modes[0], index, mask.seq_len_kv)
    index = _whole(g, modes[1], index, mask.seq_len_q)
    return moved(bound) if sign > 0 else index


def _with_alibi(g: Builder, scores: Tensor, dims: tuple[int, ...]) -> Tensor:
    slopes = g.constant((1, dims[1], 1, 1), alibi_slopes(dims[1]), _FLOAT, g.named("slopes"))
    distance = _whole(g, "sub", _index(g, scores, 3), _index(g, scores, 2))
    return g.add(scores, g.mul(distance, slopes), name=g.named("alibi"))


def add_softmax(g: Builder, node: Node, scores: Tensor) -> Tensor:
    """Softmax of the last dimension; statistics go where the node's outputs say."""
    sink, outputs = node.inputs.get("sink_token"), node.outputs
    biggest = g.reduction(scores, "max", axes=(3,), name=g.named("max"))
    if sink is not None:
        biggest = g.max(biggest, sink, name=g.named("max_with_sink"))
    biggest = g.into(biggest, outputs.get("score_max"))
    powers = g.exp(g.sub(scores, biggest), name=g.named("exp"))
    total = g.reduction(powers, "add", axes=(3,), name=g.named("sum"))
    if sink is not None:
        total = g.add(total, g.exp(g.sub(sink, biggest)), name=g.named("sum_with_sink"))
    total = g.into(total, outputs.get("score_sum_exp"))
    if "score_max" not in outputs:
        stats = g.add(biggest, g.log(total), name=g.named("stats"))
        stats.data_type = _FLOAT
        # cuDNN recognizes the pattern by it, also where nobody reads it.
        g.nodes[-1].may_go_unused = True
        g.into(stats, outputs.get("stats"))
    return g.div(powers, total, name=g.named("softmax"))


def kept_by_dropout(g: Builder, node: Node, dims: tuple[int, ...]) -> tuple[Tensor, Tensor | float]:
    """The dropout mask, in which 1 keeps the element, and the scale of what is kept."""
    mask = node.inputs.get("dropout_mask")
    if mask is not None:
        return mask, node.inputs["dropout_scale"]
    probability = node.options["dropout_probability"]
    seed = node.inputs.get("dropout_seed")
    kept = g.rng(
        dims,
        "bernoulli",
        seed=node.options["dropout_seed"] if seed is None else seed,
        offset=node.inputs.get("dropout_offset"),
        probability=1 - probability,
        name=g.named("dropout"),
    )
    return g.into(kept, node.outputs.get("rng_dump")), 1 / (1 - probability)


def _index(g: Builder, scores: Tensor, axis: int) -> Tensor:
    return g.typed(g.gen_index(scores, axis, compute_data_type=_INT32), _INT32)


def _whole(g: Builder, mode: str, a: Tensor, b: Tensor) -> Tensor:
    return g.typed(g.pointwise(mode, a, b, compute_data_type=_INT32), _INT32)


def _compared(g: Builder, how: str, a: Tensor, b: Tensor) -> Tensor:
    return g.pointwise(f"cmp_{how}", a, b, compute_data_type=_BOOLEAN)
