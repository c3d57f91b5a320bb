"""Records of recurrent networks and their sequences."""

from __future__ import annotations

import struct
from ctypes import c_char, c_double, c_int
from dataclasses import dataclass
from typing import Any

from ..constants import CUDNN_RNN_PADDED_IO_ENABLED
from ..enums import (
    CUDNN_BIDIRECTIONAL,
    CUDNN_DATA_BFLOAT16,
    CUDNN_DATA_DOUBLE,
    CUDNN_DATA_HALF,
    CUDNN_RNN_CLIP_MINMAX,
    CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED,
    CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
    cudnnDataType_t,
    cudnnMathType_t,
    cudnnNanPropagation_t,
    cudnnRNNAlgo_t,
    cudnnRNNBiasMode_t,
    cudnnRNNDataLayout_t,
    cudnnRNNInputMode_t,
    cudnnRNNMode_t,
)
from ..records import reader
from ..types import (
    cudnnDropoutDescriptor_t,
    cudnnRNNDataDescriptor_t,
    cudnnRNNDescriptor_t,
)
from .reading import call, ints, pointers


@dataclass(frozen=True, slots=True)
class RNN:
    """An RNN descriptor.

    - `projection_size`: None without a projection.
    - `padded_io`: True if sequences may be padded or BATCH_MAJOR.
    - `dropout`: address of the dropout descriptor.
    - `clip`: limits of an LSTM's cell states.
    - `clip_nan_propagation`: the clip's result for NaN: NaN, or the lower limit.
    """

    cell: cudnnRNNMode_t
    input_size: int
    hidden_size: int
    projection_size: int | None
    layers: int
    bidirectional: bool
    bias: cudnnRNNBiasMode_t
    input_mode: cudnnRNNInputMode_t
    data_type: cudnnDataType_t
    compute_data_type: cudnnDataType_t
    math_type: cudnnMathType_t
    algorithm: cudnnRNNAlgo_t
    padded_io: bool
    dropout: int | None
    clip: tuple[float, float] | None
    clip_nan_propagation: cudnnNanPropagation_t


@dataclass(frozen=True, slots=True)
class RNNData:
    """An RNN data descriptor: sequences of vectors.

    `max_length` is the longest possible length. `padding_fill` is the value stored behind shorter
    sequences; cuDNN reads 0 back if it was set to NULL.
    """

    lengths: tuple[int, ...]
    vector_size: int
    data_type: cudnnDataType_t
    layout: cudnnRNNDataLayout_t
    max_length: int
    padding_fill: float

    @property
    def memory_shape(self) -> tuple[int, ...]:
        """The shape of the memory: (T, B, size), (B, T, size) or (sum of lengths, size)."""
        if self.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
            return sum(self.lengths), self.vector_size
        if self.layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
            return self.batch_size, self.max_length, self.vector_size
        return self.max_length, self.batch_size, self.vector_size

    @property
    def batch_size(self) -> int:
        """Number of sequences."""
        return len(self.lengths)


@reader(cudnnRNNDescriptor_t)
def _rnn(descriptor: Any) -> RNN | None:
    dropout, numbers = cudnnDropoutDescriptor_t(), [c_int() for _ in range(12)]
    flags, clip_mode, nan, low, high = c_int(), c_int(), c_int(), c_double(), c_double()
    about = pointers(*numbers, dropout, flags)
    if call("cudnnGetRNNDescriptor_v8", descriptor, *about) or call(
        "cudnnRNNGetClip_v8", descriptor, *pointers(clip_mode, nan, low, high)
    ):
        return None
    algorithm, cell, bias, direction, input_mode, data_type, compute_data_type, math_type = (
        number.value for number in numbers[:8]
    )
    input_size, hidden_size, projection_size, layers = (number.value for number in numbers[8:])
    clips = clip_mode.value == CUDNN_RNN_CLIP_MINMAX
    return RNN(
        cudnnRNNMode_t(cell),
        input_size,
        hidden_size,
        None if projection_size == hidden_size else projection_size,
        layers,
        direction == CUDNN_BIDIRECTIONAL,
        cudnnRNNBiasMode_t(bias),
        cudnnRNNInputMode_t(input_mode),
        cudnnDataType_t(data_type),
        cudnnDataType_t(compute_data_type),
        cudnnMathType_t(math_type),
        cudnnRNNAlgo_t(algorithm),
        bool(flags.value & CUDNN_RNN_PADDED_IO_ENABLED),
        dropout.value,
        (low.value, high.value) if clips else None,
        cudnnNanPropagation_t(nan.value),
    )


@reader(cudnnRNNDataDescriptor_t)
def _rnn_data(descriptor: Any) -> RNNData | None:
    data_type, layout, steps, batch, size = (c_int() for _ in range(5))
    fill = (c_char * 8)()

    def read(count: int) -> Any:
        lengths = ints(max(count, 1))
        about = pointers(data_type, layout, steps, batch, size)
        code = call("cudnnGetRNNDataDescriptor", descriptor, *about, count, lengths, fill)
        return None if code else lengths[:count]

    lengths = None if read(0) is None or not batch.value else read(batch.value)
    if lengths is None:
        return None
    kind = cudnnDataType_t(data_type.value)
    return RNNData(
        tuple(lengths),
        size.value,
        kind,
        cudnnRNNDataLayout_t(layout.value),
        steps.value,
        real_number(fill.raw, kind),
    )


def real_number(stored: bytes, data_type: cudnnDataType_t) -> float:
    """The first bytes of `stored` as a number of a floating-point data type."""
    if data_type == CUDNN_DATA_BFLOAT16:  # the upper half of a float
        stored, code = b"\0\0" + stored, "<f"
    else:
        code = {CUDNN_DATA_DOUBLE: "<d", CUDNN_DATA_HALF: "<e"}.get(data_type, "<f")
    number: float = struct.unpack_from(code, stored)[0]
    return number
