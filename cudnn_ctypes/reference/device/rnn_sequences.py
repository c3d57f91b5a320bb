"""Sequences of vectors in memory: the layouts of `cudnnRNNDataLayout_t` as (T, B, size) arrays.

=====================  ================================================================
layout                 element [t][b][k], step t of sequence b
=====================  ================================================================
SEQ_MAJOR_UNPACKED     (t * B + b) * size + k, for all lengths
BATCH_MAJOR_UNPACKED   (b * T + t) * size + k, for all lengths
SEQ_MAJOR_PACKED       all steps 0, then all steps 1...: step t only of the sequences
                       longer than t, which come first since lengths descend
=====================  ================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw.descriptors import RNNData
from ..arithmetic import round_to
from . import lent
from .call import Call
from .memory import Use

__all__ = ["check", "load", "store"]


def load(call: Call, data: RNNData, name: str) -> NDArray[Any]:
    """The sequences at `name` as a (T, B, size) array; of a packed layout a copy."""
    memory = _memory(call, data, name, "read")
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        result = np.zeros((data.max_length, data.batch_size, data.vector_size), memory.dtype)
        result[_valid(data)] = memory
        return result
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
        return memory.swapaxes(0, 1)
    return memory


def check(call: Call, data: RNNData, name: str) -> None:
    """Refuse memory that is not allocated: cuDNN reads it, the reference does not."""
    with lent.any_contents():
        _memory(call, data, name, "read")


def store(call: Call, data: RNNData, name: str, values: NDArray[Any]) -> None:
    """Write (T, B, size) `values`; the steps behind a sequence's end become the padding."""
    memory = _memory(call, data, name, "write")
    values = round_to(values, memory.dtype)
    valid = _valid(data)
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        memory[...] = values[valid]
        return
    filled = np.where(valid[..., None], values, np.asarray(data.padding_fill, values.dtype))
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
        filled = filled.swapaxes(0, 1)
    memory[...] = filled


def _memory(call: Call, data: RNNData, name: str, use: Use) -> NDArray[Any]:
    shape: tuple[int, ...] = (data.max_length, data.batch_size, data.vector_size)
    read = _valid(data)[..., None]
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        shape, read = (sum(data.lengths), data.vector_size), np.ones(1, np.bool_)
    elif data.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
        shape = (data.batch_size, data.max_length, data.vector_size)
        read = read.swapaxes(0, 1)
    where = read if use == "read" else None
    return call.array(name, data.data_type, *shape, use=use, where=where)


def _valid(data: RNNData) -> NDArray[np.bool_]:
    """(T, B): whether a sequence has a step."""
    return np.arange(data.max_length)[:, None] < np.array(data.lengths)
