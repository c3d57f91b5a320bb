"""Sequences of vectors in memory: the layouts of `cudnnRNNDataLayout_t` as (T, B, size) arrays.

=====================  ================================================================
layout                 element [t][b][k], step t of sequence b
=====================  ================================================================
SEQ_MAJOR_UNPACKED     (t * B + b) * size + k, whatever the lengths
BATCH_MAJOR_UNPACKED   (b * T + t) * size + k, whatever the lengths
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
from .memory import Use, at

__all__ = ["check", "load", "store"]


def load(data: RNNData, address: int | None, name: str) -> NDArray[Any]:
    """The sequences at `address` as a (T, B, size) array; of a packed layout a copy."""
    memory = _memory(data, address, name, "read")
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        result = np.zeros((data.max_length, data.batch_size, data.vector_size), memory.dtype)
        result[_valid(data)] = memory
        return result
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
        return memory.swapaxes(0, 1)
    return memory


def check(data: RNNData, address: int | None, name: str) -> None:
    """Refuse memory that is not there: for what cuDNN reads, and the reference does not."""
    with lent.any_contents():
        _memory(data, address, name, "read")


def store(
    data: RNNData, address: int | None, values: NDArray[Any], name: str, *, padding: float
) -> None:
    """Write (T, B, size) `values`; the steps behind a sequence's end become `padding`."""
    memory = _memory(data, address, name, "write")
    values = round_to(values, memory.dtype)
    valid = _valid(data)
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        memory[...] = values[valid]
        return
    filled = np.where(valid[..., None], values, np.asarray(padding, values.dtype))
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
        filled = filled.swapaxes(0, 1)
    memory[...] = filled


def _memory(data: RNNData, address: int | None, name: str, use: Use) -> NDArray[Any]:
    shape: tuple[int, ...] = (data.max_length, data.batch_size, data.vector_size)
    read = _valid(data)[..., None]
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        shape, read = (sum(data.lengths), data.vector_size), np.ones(1, np.bool_)
    elif data.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
        shape = (data.batch_size, data.max_length, data.vector_size)
        read = read.swapaxes(0, 1)
    strides = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
    where = read if use == "read" else None
    return at(address, data.data_type, shape, strides, name, use, where=where)


def _valid(data: RNNData) -> NDArray[np.bool_]:
    """(T, B): whether a sequence has a step."""
    return np.arange(data.max_length)[:, None] < np.array(data.lengths)
