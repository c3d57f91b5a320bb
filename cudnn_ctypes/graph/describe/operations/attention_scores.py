"""The scores of attention: scaled, biased and masked, with their softmax and dropout.

cuDNN recognizes these operations as parts of attention, which it carries out as one kernel. Which
of them there may be, and in which order, is cuDNN's; all its versions take this order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ....raw import cudnnDataType_t
from ....strides import packed
from ..tensor import Tensor
from .pointwise import PointwiseOperations
from .reductions import ReductionOperations
from .shapes import ShapeOperations

__all__ = ["Dropout", "Mask", "ScoreModifier", "ScoreOperations", "alibi_slopes"]

# Takes the graph and scores, adds operations, and returns their result.
ScoreModifier = Callable[[Any, Tensor], Tensor]
# (probability, seed, offset) or (mask, scale)
Dropout = tuple[Any, ...]

_NEVER = -math.inf
_INT32 = cudnnDataType_t.CUDNN_DATA_INT32
_BOOLEAN = cudnnDataType_t.CUDNN_DATA_BOOLEAN
_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


@dataclass(frozen=True)
class Mask:
    """Which keys a query may look at, and what is added to its scores.

    Query i may look at key j if i' - left < j <= i' + right, where i' = i; from the bottom right
    i' = i + s_kv - s_q.

    Attributes
    ----------
    left, right : int, optional
        The band around the diagonal; a causal mask has right = 0.
    bottom_right : bool
        Count from the last query and key, not from the first.
    bias : Tensor, optional
        (b or 1, h or 1, s_q or 1, s_kv), added to the scores.
    alibi : bool
        Add to each score the distance j - i times the slope of its head.
    seq_len_q, seq_len_kv : Tensor, optional
        (b, 1, 1, 1), int32 or int64: what lies beyond is padding.
    """

    left: int | None = None
    right: int | None = None
    bottom_right: bool = False
    bias: Tensor | None = None
    alibi: bool = False
    seq_len_q: Tensor | None = None
    seq_len_kv: Tensor | None = None


def alibi_slopes(heads: int) -> list[float]:
    """The slope of each head: a geometric series from 2 ** (-8 / heads) on for a power of two.

    For other numbers of heads the series of the power of two below, then every second slope of that
    of the power of two above (Press, Smith, Lewis: Train short, test long; 2022).
    """
    below = 1 << (heads.bit_length() - 1)
    slopes = [2 ** (-8 * (head + 1) / below) for head in range(below)]
    slopes += [2 ** (-4 * (2 * head + 1) / below) for head in range(heads - below)]
    return slopes


class ScoreOperations(PointwiseOperations, ReductionOperations, ShapeOperations):
    """The parts of attention between its matrix products."""

    io_data_type: cudnnDataType_t | None

    def _names(self, name: str) -> Callable[[str], str]:
        return lambda part: self._free_name(f"{name}.{part}")

    def _scores(
        self,
        q: Tensor,
        k: Tensor,
        mask: Mask,
        factors: Sequence[Tensor | float],
        dims: tuple[int, ...] | None,
        name: str,
        score_mod: ScoreModifier | None = None,
    ) -> Tensor:
        """q @ k^T, times all `factors`, modified, masked; `dims` are those of the scores."""
        named = self._names(name)
        self._make_turned(k)
        scores = self.matmul(
            q,
            k,
            transpose_B=True,
            m_override=mask.seq_len_q,
            n_override=mask.seq_len_kv,
            name=named("scores"),
        )
        for factor in factors:
            scores = self.mul(scores, factor, name=named("scaled"))
        scores = self._modified(scores, score_mod, "score_mod", name)
        if mask.bias is not None:
            scores = self.add(scores, mask.bias, name=named("biased"))
        if mask.alibi:
            scores = self._with_alibi(scores, dims, name)
        if mask.seq_len_q is not None and mask.seq_len_kv is not None:
            inside = self.logical_and(
                self._compared("lt", self._index(scores, 2), mask.seq_len_q),
                self._compared("lt", self._index(scores, 3), mask.seq_len_kv),
                compute_data_type=_BOOLEAN,
            )
            scores = self.binary_select(scores, _NEVER, inside, name=named("padded"))
        if mask.right is not None:
            row, column = self._index(scores, 2), self._index(scores, 3)
            row = self._moved(row, mask.right, mask, dims, 1)
            allowed = self._compared("ge", row, column)
            scores = self.binary_select(scores, _NEVER, allowed, name=named("right"))
        if mask.left is not None:
            row, column = self._index(scores, 2), self._index(scores, 3)
            column = self._moved(column, mask.left, mask, dims, -1)
            allowed = self._compared("gt", column, row)
            scores = self.binary_select(scores, _NEVER, allowed, name=named("left"))
        return scores

    def _modified(
        self, scores: Tensor, modify: ScoreModifier | None, option: str, name: str
    ) -> Tensor:
        """What the user's function makes of scores, or of their gradient."""
        if modify is None:
            return scores
        found = modify(self, scores)
        if not isinstance(found, Tensor):
            raise TypeError(f"{name!r}: {option} must return a tensor, got {found!r}")
        return found

    def _moved(
        self, index: Tensor, bound: int, mask: Mask, dims: tuple[int, ...] | None, sign: int
    ) -> Tensor:
        """`index` + `bound`; from the bottom right also + `sign` * (s_kv - s_q)."""

        def moved(by: int) -> Tensor:
            return self._whole("add", index, self.tensor_scalar(by, "int32")) if by else index

        if not mask.bottom_right:
            return moved(bound)
        if mask.seq_len_q is None or mask.seq_len_kv is None:
            assert dims is not None
            return moved(bound + sign * (dims[3] - dims[2]))
        # In another order cuDNN takes the graph and computes something else.
        if sign < 0:
            index = moved(bound)
        modes = ("add", "sub")[::sign]
        index = self._whole(modes[0], index, mask.seq_len_kv)
        index = self._whole(modes[1], index, mask.seq_len_q)
        return moved(bound) if sign > 0 else index

    def _with_alibi(self, scores: Tensor, dims: tuple[int, ...] | None, name: str) -> Tensor:
        assert dims is not None
        named = self._names(name)
        slopes = self._constant((1, dims[1], 1, 1), alibi_slopes(dims[1]), _FLOAT, named("slopes"))
        distance = self._whole("sub", self._index(scores, 3), self._index(scores, 2))
        return self.add(scores, self.mul(distance, slopes), name=named("alibi"))

    def _softmax(
        self,
        scores: Tensor,
        sink: Tensor | None,
        name: str,
        score_max: Tensor | None = None,
        score_sum_exp: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Softmax of the last dimension, and the logarithm of the sum of exponentials.

        `score_max` and `score_sum_exp` receive the two parts that the latter is made of.
        """
        named = self._names(name)
        biggest = self.reduction(scores, "max", axes=(3,), name=named("max"))
        if sink is not None:
            biggest = self.max(biggest, sink, name=named("max_with_sink"))
        biggest = self._into(biggest, score_max)
        powers = self.exp(self.sub(scores, biggest), name=named("exp"))
        total = self.reduction(powers, "add", axes=(3,), name=named("sum"))
        if sink is not None:
            total = self.add(total, self.exp(self.sub(sink, biggest)), name=named("sum_with_sink"))
        total = self._into(total, score_sum_exp)
        stats = None
        if score_max is None:
            stats = self.add(biggest, self.log(total), name=named("stats"))
            stats.data_type = _FLOAT
            # cuDNN recognizes the pattern by it, also where nobody reads it.
            self.nodes[-1].may_go_unused = True
        return self.div(powers, total, name=named("softmax")), stats

    def _kept(
        self, dropout: Dropout, dims: tuple[int, ...], rng_dump: Tensor | None, name: str
    ) -> tuple[Tensor, Tensor | float]:
        """What is 1 where nothing is dropped, and the scale of what is kept."""
        first = dropout[0]
        if isinstance(first, Tensor):
            for unused in dropout[2:]:
                self.tensors.remove(unused)
            return first, dropout[1]
        _, seed, offset = dropout
        kept = self.rng(
            dims,
            "bernoulli",
            seed=seed,
            offset=offset,
            probability=1 - first,
            name=self._free_name(f"{name}.dropout"),
        )
        return self._into(kept, rng_dump), 1 / (1 - first)

    # --- small things ----------------------------------------------------------------------------

    def _index(self, scores: Tensor, axis: int) -> Tensor:
        return self._typed(self.gen_index(scores, axis, compute_data_type=_INT32), _INT32)

    def _whole(self, mode: str, a: Tensor, b: Tensor) -> Tensor:
        return self._typed(self.pointwise(mode, a, b, compute_data_type=_INT32), _INT32)

    def _compared(self, how: str, a: Tensor, b: Tensor) -> Tensor:
        return self.pointwise(f"cmp_{how}", a, b, compute_data_type=_BOOLEAN)

    def _typed(self, tensor: Tensor, data_type: cudnnDataType_t | None) -> Tensor:
        tensor.data_type = data_type
        return tensor

    def _follow(self, tensor: Tensor, like: Tensor) -> Tensor:
        """The tensor cores take what has the operands' data type."""
        return self._typed(tensor, self._data_type(like))

    def _data_type(self, tensor: Tensor) -> cudnnDataType_t | None:
        return tensor.data_type or self.io_data_type

    def _turned(self, tensor: Tensor, name: str, *, back: bool = False) -> Tensor:
        """The last two dimensions exchanged, by strides; `back`: of one that already is."""
        turned = self.reshape(tensor, name=name)
        node = self.nodes[-1]
        node.options["exchange"] = True
        node.transposed = frozenset({"input"} if back else ())
        return turned

    def _make_turned(self, tensor: Tensor) -> None:
        """Where `tensor` is a result, have it written as it will be read: cuDNN looks at dims."""
        for node in self.nodes:
            ports = {port for port, each in node.outputs.items() if each is tensor}
            node.transposed |= ports

    def _constant(
        self,
        dims: tuple[int, ...],
        values: Sequence[float],
        data_type: cudnnDataType_t,
        name: str,
    ) -> Tensor:
        """A scratch tensor with fixed contents."""
        tensor = self.tensor(dims, data_type=data_type, name=name)
        tensor.scratch, tensor.value = True, tuple(values)
        return tensor

    def _as_scratch(self, tensor: Tensor, dims: tuple[int, ...]) -> Tensor:
        """A result that lies, packed and in float32, in the workspace."""
        tensor.set_output(dims=dims, strides=packed(dims), data_type=_FLOAT)
        tensor.scratch = True
        return tensor

    def _into(self, result: Tensor, target: Tensor | None) -> Tensor:
        """The tensor `target`, which the user made, in place of the last node's `result`."""
        if target is None:
            return result
        node = self.nodes[-1]
        self._operand(node.operation, node.name, "result", target)
        port = next(port for port, each in node.outputs.items() if each is result)
        node.outputs[port] = target
        self.tensors.remove(result)
        return target
