"""One call of multi-head attention: its descriptors checked, its memory found."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw.descriptors import Attention, SequenceData
from ..attention import visible_keys
from .attention_memory import Sizes, Space
from .dispatch import Refused
from .held import read
from .memory import Use, at, require

__all__ = ["Problem", "lengths", "load", "refuse", "reserve_space"]


class Problem:
    """The descriptors of one call, checked against each other.

    The queries' and the output's sequences are alike, and so are the keys' and the values'; all
    are of the attention's data type, within its largest sizes, and in the same order in memory.
    """

    def __init__(self, attn_desc: Any, **descriptors: Any) -> None:
        self.attn = attn = read(Attention, attn_desc, "attnDesc")
        named = [(name, read(SequenceData, desc, name)) for name, desc in descriptors.items()]
        self.q, self.k, self.v, self.o = (described for _, described in named)
        vectors = (*attn.sizes, attn.projected[3])
        for (name, described), vector in zip(named, vectors, strict=True):
            if described.shape[3] != vector:
                refuse(f"{name} has vectors of {described.shape[3]}, attnDesc wants {vector}")
            if described.data_type != attn.data_type:
                refuse(f"{name} is {described.data_type.name}, attnDesc {attn.data_type.name}")
            if described.axes != self.q.axes:
                refuse(f"{name} has its axes in another order than {named[0][0]}")
        q_name, k_name, v_name, o_name = (name for name, _ in named)
        for (name, one), (other_name, other) in (
            ((o_name, self.o), (q_name, self.q)),
            ((v_name, self.v), (k_name, self.k)),
        ):
            if one.shape[:3] != other.shape[:3] or one.lengths != other.lengths:
                refuse(f"{name} has other sequences than {other_name}")
        steps, batch, beam, _ = self.q.shape
        k_beam = beam if attn.one_to_one else 1
        if self.k.shape[1:3] != (batch, k_beam):
            refuse(f"{k_name} has batch and beam {self.k.shape[1:3]}, not {(batch, k_beam)}")
        self.sizes = Sizes(steps, self.k.shape[0], batch, beam, k_beam)
        largest = Sizes.largest(attn)
        for field in ("q_steps", "k_steps", "batch", "beam"):
            if getattr(self.sizes, field) > getattr(largest, field):
                refuse(
                    f"{field} is {getattr(self.sizes, field)}, attnDesc allows "
                    f"{getattr(largest, field)}"
                )

    @property
    def dtype(self) -> np.dtype[Any]:
        """What is computed in."""
        return Space(self.attn, self.sizes, training=False).dtype

    def reserve(self, address: int | None, size: int, use: Use) -> dict[str, NDArray[Any]]:
        """What forward leaves for backward, in the reserve space."""
        needed = reserve_space(self.attn).nbytes
        if size < needed:
            refuse(f"reserveSpaceSizeInBytes = {size} is less than the {needed} bytes needed")
        require(reserveSpace=address)
        return Space(self.attn, self.sizes, training=True).views(address, "reserveSpace", use)

    def visible(
        self,
        low: Any,
        high: Any,
        q_lengths: int | None,
        k_lengths: int | None,
        current: int | None,
    ) -> NDArray[np.bool_]:
        """Which keys each query looks at; of one query if there is a current one."""
        require(loWinIdx=low, hiWinIdx=high, devSeqLengthsQO=q_lengths, devSeqLengthsKV=k_lengths)
        steps = self.q.shape[0]
        windows = np.zeros((2, steps), np.int64)
        # With a current index cuDNN reads that entry only.
        indices = range(steps) if current is None else [current]
        for row, name, array in zip(windows, ("loWinIdx", "hiWinIdx"), (low, high), strict=True):
            if getattr(array, "_length_", steps) <= max(indices):
                refuse(f"{name} has {array._length_} elements, {max(indices) + 1} are needed")
            for t in indices:
                row[t] = array[t]
        of_queries = lengths(self.q, q_lengths, "devSeqLengthsQO")
        of_keys = lengths(self.k, k_lengths, "devSeqLengthsKV")
        visible = visible_keys(windows[0], windows[1], of_queries, of_keys, self.k.shape[0])
        return visible if current is None else visible[:, :, current : current + 1]


def reserve_space(attn: Attention) -> Space:
    """What is kept for the gradients, in the largest size that the attention allows."""
    return Space(attn, Sizes.largest(attn), training=True)


def lengths(described: SequenceData, address: int | None, name: str) -> NDArray[Any]:
    """The lengths of sequences as the GPU gets them, (N, B)."""
    shape = described.shape[1:3]
    return at(address, raw.CUDNN_DATA_INT32, shape, (shape[1], 1), name)


def load(
    described: SequenceData, address: int | None, name: str, use: Use = "read"
) -> NDArray[Any]:
    """Sequences (T, N, B, V), as a view of their memory."""
    return at(address, described.data_type, described.shape, described.strides, name, use)


def refuse(reason: str) -> NoReturn:
    """Give BAD_PARAM."""
    raise Refused(raw.CUDNN_STATUS_BAD_PARAM, reason)
