"""What the descriptors of multi-head attention hold, read back from cuDNN into plain data."""

from __future__ import annotations

from ctypes import c_double, c_int, c_size_t, c_uint
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from .dispatch import Refused

__all__ = ["Attention", "Sequences", "attention", "sequences"]

_NDIM = raw.CUDNN_SEQDATA_DIM_COUNT


@dataclass(frozen=True, slots=True)
class Sequences:
    """A sequence data descriptor.

    Attributes
    ----------
    shape : tuple of int
        (T, N, B, V).
    axes : tuple of int
        The order in memory, slowest axis first.
    lengths : tuple of int
        N * B of them, the beam of the first batch entry first.
    """

    data_type: raw.cudnnDataType_t
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    lengths: tuple[int, ...]

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements; sequences lie dense."""
        strides, step = [0] * _NDIM, 1
        for axis in reversed(self.axes):
            strides[axis] = step
            step *= self.shape[axis]
        return tuple(strides)

    def by_sequence(self, lengths: NDArray[Any]) -> NDArray[Any]:
        """A flat array of one number for each sequence, as (N, B)."""
        return lengths.reshape(self.shape[1], self.shape[2])


@dataclass(frozen=True, slots=True)
class Attention:
    """An attention descriptor. Dropouts are addresses of their descriptors, None for NULL."""

    one_to_one: bool
    biases: bool
    heads: int
    scaler: float
    data_type: raw.cudnnDataType_t
    compute_type: raw.cudnnDataType_t
    math_type: raw.cudnnMathType_t
    attention_dropout: int | None
    output_dropout: int | None
    sizes: tuple[int, ...]
    projections: tuple[int, ...]
    qo_max_length: int
    kv_max_length: int
    max_batch: int
    max_beam: int

    @property
    def projected(self) -> tuple[int, int, int, int]:
        """Lengths of the vectors of q, k, v and out after their projections, if there are any."""
        q, k, v, o = self.projections
        q, k, v = (p or size for p, size in zip((q, k, v), self.sizes, strict=True))
        return q, k, v, o or self.heads * v


def attention(descriptor: Any, name: str) -> Attention:
    """What an attention descriptor holds (``cudnnGetAttnDescriptor``)."""
    if not descriptor:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")
    mode, heads, scaler = c_uint(), c_int(), c_double()
    data_type, compute_type = raw.cudnnDataType_t(), raw.cudnnDataType_t()
    math_type = raw.cudnnMathType_t()
    dropouts = raw.cudnnDropoutDescriptor_t(), raw.cudnnDropoutDescriptor_t()
    sizes = [c_int() for _ in range(11)]
    raw.cudnnGetAttnDescriptor(
        descriptor, mode, heads, scaler, data_type, compute_type, math_type, *dropouts, *sizes
    )
    if not heads.value:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} was created, but never set")
    numbers = [size.value for size in sizes]
    return Attention(
        bool(mode.value & raw.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE),
        bool(mode.value & raw.CUDNN_ATTN_ENABLE_PROJ_BIASES),
        heads.value,
        scaler.value,
        data_type.value,
        compute_type.value,
        math_type.value,
        dropouts[0].value,
        dropouts[1].value,
        tuple(numbers[:3]),
        tuple(numbers[3:7]),
        *numbers[7:],
    )


def sequences(descriptor: Any, name: str) -> Sequences:
    """What a sequence data descriptor holds (``cudnnGetSeqDataDescriptor``)."""
    if not descriptor:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")
    data_type, ndim, count = raw.cudnnDataType_t(), c_int(), c_size_t()
    shape, axes = (c_int * _NDIM)(), (c_int * _NDIM)()
    about = (descriptor, data_type, ndim, _NDIM, shape, axes, count)
    raw.cudnnGetSeqDataDescriptor(*about, 0, None, None)
    if not count.value:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} was created, but never set")
    lengths = (c_int * count.value)()
    raw.cudnnGetSeqDataDescriptor(*about, count.value, lengths, None)
    return Sequences(data_type.value, tuple(shape), tuple(axes), tuple(lengths))


def same_lengths(one: Sequences, other: Sequences) -> bool:
    """Whether two descriptors have equally long sequences in the same order."""
    return np.array_equal(one.lengths, other.lengths)
