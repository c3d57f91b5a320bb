"""Records of recurrent networks, of multi-head attention and of their sequences."""

from __future__ import annotations

import struct
from ctypes import byref, c_char, c_double, c_int, c_size_t
from dataclasses import dataclass
from typing import Any

from ..constants import (
    CUDNN_ATTN_ENABLE_PROJ_BIASES,
    CUDNN_ATTN_QUERYMAP_ONE_TO_ONE,
    CUDNN_RNN_PADDED_IO_ENABLED,
    CUDNN_SEQDATA_DIM_COUNT,
)
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
    cudnnSeqDataAxis_t,
)
from ..records import reader
from ..strides import packed
from ..types import (
    cudnnAttnDescriptor_t,
    cudnnDropoutDescriptor_t,
    cudnnRNNDataDescriptor_t,
    cudnnRNNDescriptor_t,
    cudnnSeqDataDescriptor_t,
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


@dataclass(frozen=True, slots=True)
class SequenceData:
    """A sequence data descriptor.

    - `shape`: (T, N, B, V).
    - `axes`: the order in memory, slowest axis first.
    - `lengths`: N * B lengths; the beams of the first batch entry come first.
    - `padding_fill`: the value for padding vectors, 0 if none was set; None for bfloat16, since
      cuDNN 9.28 refuses to return it.
    """

    shape: tuple[int, ...]
    data_type: cudnnDataType_t
    axes: tuple[cudnnSeqDataAxis_t, ...]
    lengths: tuple[int, ...]
    padding_fill: float | None

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements; the sequences are packed."""
        return packed(self.shape, self.axes)


@dataclass(frozen=True, slots=True)
class Attention:
    """An attention descriptor; a dropout is the address of its descriptor, None for NULL."""

    heads: int
    q_size: int
    k_size: int
    v_size: int
    q_projection: int
    k_projection: int
    v_projection: int
    o_projection: int
    qo_max_length: int
    kv_max_length: int
    max_batch: int
    max_beam: int
    scaler: float
    one_to_one: bool
    biases: bool
    data_type: cudnnDataType_t
    compute_data_type: cudnnDataType_t
    math_type: cudnnMathType_t
    attention_dropout: int | None
    output_dropout: int | None

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Lengths of the vectors of q, k and v."""
        return self.q_size, self.k_size, self.v_size

    @property
    def projections(self) -> tuple[int, int, int, int]:
        """Lengths to which q, k, v and out are projected; 0 for no projection."""
        return self.q_projection, self.k_projection, self.v_projection, self.o_projection

    @property
    def projected(self) -> tuple[int, int, int, int]:
        """Lengths of the vectors of q, k, v and out after their projections, if any."""
        v = self.v_projection or self.v_size
        return (
            self.q_projection or self.q_size,
            self.k_projection or self.k_size,
            v,
            self.o_projection or self.heads * v,
        )


@reader(cudnnSeqDataDescriptor_t)
def _sequence_data(descriptor: Any) -> SequenceData | None:
    data_type, ndim, count = c_int(), c_int(), c_size_t()
    shape, axes = ints(CUDNN_SEQDATA_DIM_COUNT), ints(CUDNN_SEQDATA_DIM_COUNT)

    def read(room: int, lengths: Any, fill: Any) -> int:
        about = (byref(data_type), byref(ndim), CUDNN_SEQDATA_DIM_COUNT, shape, axes, byref(count))
        return call("cudnnGetSeqDataDescriptor", descriptor, *about, c_size_t(room), lengths, fill)

    if read(0, None, None) or not count.value:
        return None
    kind, lengths = cudnnDataType_t(data_type.value), ints(count.value)
    fill = None if kind == CUDNN_DATA_BFLOAT16 else (c_char * 8)()
    if read(count.value, lengths, fill):
        return None
    return SequenceData(
        tuple(shape),
        kind,
        tuple(cudnnSeqDataAxis_t(axis) for axis in axes),
        tuple(lengths),
        None if fill is None else real_number(fill.raw, kind),
    )


@reader(cudnnAttnDescriptor_t)
def _attention(descriptor: Any) -> Attention | None:
    mode, heads, scaler = c_int(), c_int(), c_double()
    types, sizes = [c_int() for _ in range(3)], [c_int() for _ in range(11)]
    dropouts = cudnnDropoutDescriptor_t(), cudnnDropoutDescriptor_t()
    about = pointers(mode, heads, scaler, *types, *dropouts, *sizes)
    if call("cudnnGetAttnDescriptor", descriptor, *about) or not heads.value:
        return None
    data_type, compute_data_type, math_type = (number.value for number in types)
    q, k, v, q_to, k_to, v_to, o_to, queries, keys, batch, beam = (size.value for size in sizes)
    return Attention(
        heads.value,
        q,
        k,
        v,
        q_to,
        k_to,
        v_to,
        o_to,
        queries,
        keys,
        batch,
        beam,
        scaler=scaler.value,
        one_to_one=bool(mode.value & CUDNN_ATTN_QUERYMAP_ONE_TO_ONE),
        biases=bool(mode.value & CUDNN_ATTN_ENABLE_PROJ_BIASES),
        data_type=cudnnDataType_t(data_type),
        compute_data_type=cudnnDataType_t(compute_data_type),
        math_type=cudnnMathType_t(math_type),
        attention_dropout=dropouts[0].value,
        output_dropout=dropouts[1].value,
    )
