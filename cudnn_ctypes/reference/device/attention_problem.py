"""One call of multi-head attention: its descriptors checked, its memory found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw.descriptors import Attention, SequenceData
from ..attention import visible_keys
from .attention_memory import Sizes, Space, load_weights, weight_bytes
from .call import Call
from .memory import Use, at
from .registry import bad_param

__all__ = ["Problem", "reserve_space", "workspace_bytes"]


class Problem:
    """One call: its descriptors, which fit each other, and views of its memory."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.attn: Attention = call.record("attnDesc", Attention)
        names = [call.named(f"{role}Desc", f"d{role}Desc") for role in "qkvo"]
        records = [call.record(name, SequenceData) for name in names]
        self.q: SequenceData
        self.k: SequenceData
        self.v: SequenceData
        self.o: SequenceData
        self.q, self.k, self.v, self.o = records
        call.check()
        steps, batch, beam, _ = self.q.shape
        self.sizes: Sizes = Sizes(steps, self.k.shape[0], batch, beam, self.k.shape[2])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the computation."""
        return Space(self.attn, self.sizes, training=False).dtype

    def load(self, described: SequenceData, name: str, use: Use = "read") -> NDArray[Any]:
        """Sequences (T, N, B, V), as a view of their memory."""
        shape, strides = described.shape, described.strides
        return at(self.call[name], described.data_type, shape, strides, name, use)

    def inputs(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Queries, keys and values."""
        q, k = self.load(self.q, "queries"), self.load(self.k, "keys")
        return q, k, self.load(self.v, "values")

    def lengths(self, described: SequenceData, name: str) -> NDArray[Any]:
        """The lengths of sequences as the GPU gets them, (N, B)."""
        return self.call.array(name, raw.CUDNN_DATA_INT32, *described.shape[1:3])

    def weights(self) -> dict[str, NDArray[Any]]:
        """The weights; refused if their buffer is too small."""
        address = self.call.buffer("weights", weight_bytes(self.attn))
        return load_weights(self.attn, address, "weights")

    def use_workspace(self) -> None:
        """Overwrite the workspace, as the GPU does."""
        self.call.use_workspace("workSpace", workspace_bytes(self.attn))

    def reserve(self, use: Use) -> dict[str, NDArray[Any]]:
        """Views of forward's intermediate results in the reserve space."""
        address = self.call.buffer("reserveSpace", reserve_space(self.attn).nbytes)
        self.call.require("reserveSpace")
        return Space(self.attn, self.sizes, training=True).views(address, "reserveSpace", use)

    def visible(self, current: int | None) -> NDArray[np.bool_]:
        """Which keys each query looks at; of one query if there is a current one."""
        self.call.require("loWinIdx", "hiWinIdx", "devSeqLengthsQO", "devSeqLengthsKV")
        steps = self.q.shape[0]
        windows = np.zeros((2, steps), np.int64)
        # With a current index cuDNN reads that entry only.
        indices = range(steps) if current is None else [current]
        for row, name in zip(windows, ("loWinIdx", "hiWinIdx"), strict=True):
            array = self.call[name]
            if getattr(array, "_length_", steps) <= max(indices):
                raise bad_param(
                    f"{name} has {array._length_} elements, {max(indices) + 1} are needed"
                )
            for t in indices:
                row[t] = array[t]
        of_queries = self.lengths(self.q, "devSeqLengthsQO")
        of_keys = self.lengths(self.k, "devSeqLengthsKV")
        visible = visible_keys(windows[0], windows[1], of_queries, of_keys, self.k.shape[0])
        return visible if current is None else visible[:, :, current : current + 1]


def workspace_bytes(attn: Attention) -> int:
    """Bytes of the workspace for inference, for the attention's largest sizes."""
    return Space(attn, Sizes.largest(attn), training=False).nbytes


def reserve_space(attn: Attention) -> Space:
    """The memory kept for the gradients, for the attention's largest sizes."""
    return Space(attn, Sizes.largest(attn), training=True)
