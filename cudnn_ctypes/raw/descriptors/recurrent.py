"""Records of recurrent networks, of multi-head attention and of their sequences."""

from __future__ import annotations

import struct
from ctypes import c_char
from dataclasses import dataclass
from typing import Any

from .. import constants, enums, types
from ..records import reader
from ..strides import packed
from .reading import check_set, read


@dataclass(frozen=True, slots=True)
class RNN:
    """An RNN descriptor.

    - `projection_size`: None without a projection.
    - `padded_io`: True if sequences may be padded or BATCH_MAJOR.
    - `dropout`: address of the dropout descriptor.
    - `clip`: limits of an LSTM's cell states.
    - `clip_nan_propagation`: the clip's result for NaN: NaN, or the lower limit.
    """

    cell: enums.cudnnRNNMode_t
    input_size: int
    hidden_size: int
    projection_size: int | None
    layers: int
    bidirectional: bool
    bias: enums.cudnnRNNBiasMode_t
    input_mode: enums.cudnnRNNInputMode_t
    data_type: enums.cudnnDataType_t
    compute_data_type: enums.cudnnDataType_t
    math_type: enums.cudnnMathType_t
    algorithm: enums.cudnnRNNAlgo_t
    padded_io: bool
    dropout: int | None
    clip: tuple[float, float] | None
    clip_nan_propagation: enums.cudnnNanPropagation_t


@dataclass(frozen=True, slots=True)
class RNNData:
    """An RNN data descriptor: sequences of vectors.

    `max_length` is the longest possible length. `padding_fill` is the value stored behind shorter
    sequences; cuDNN reads 0 back if it was set to NULL.
    """

    lengths: tuple[int, ...]
    vector_size: int
    data_type: enums.cudnnDataType_t
    layout: enums.cudnnRNNDataLayout_t
    max_length: int
    padding_fill: float

    @property
    def memory_shape(self) -> tuple[int, ...]:
        """The shape of the memory: (T, B, size), (B, T, size) or (sum of lengths, size)."""
        if self.layout == enums.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
            return sum(self.lengths), self.vector_size
        if self.layout == enums.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
            return self.batch_size, self.max_length, self.vector_size
        return self.max_length, self.batch_size, self.vector_size

    @property
    def batch_size(self) -> int:
        """Number of sequences."""
        return len(self.lengths)


@reader(types.cudnnRNNDescriptor_t)
def _rnn(descriptor: Any) -> RNN:
    held = _named(
        "algorithm cell bias direction input_mode data_type compute_data_type math_type input_size "
        "hidden_size projection_size layers dropout flags",
        read["cudnnGetRNNDescriptor_v8"](descriptor),
    )
    clip_mode, nan, *clip = read["cudnnRNNGetClip_v8"](descriptor)
    if held["projection_size"] == held["hidden_size"]:
        held["projection_size"] = None
    return RNN(
        bidirectional=held.pop("direction") == enums.CUDNN_BIDIRECTIONAL,
        padded_io=bool(held.pop("flags") & constants.CUDNN_RNN_PADDED_IO_ENABLED),
        clip=tuple(clip) if clip_mode == enums.CUDNN_RNN_CLIP_MINMAX else None,
        clip_nan_propagation=nan,
        **held,
    )


@reader(types.cudnnRNNDataDescriptor_t)
def _rnn_data(descriptor: Any) -> RNNData:
    get, fill = "cudnnGetRNNDataDescriptor", (c_char * 8)()
    _, _, _, batch, *_ = read[get](descriptor, 0, fill)
    check_set(batch)
    data_type, layout, steps, _, size, lengths = read[get](descriptor, batch, fill)
    return RNNData(lengths, size, data_type, layout, steps, real_number(fill.raw, data_type))


def _named(names: str, values: Any) -> dict[str, Any]:
    return dict(zip(names.split(), values, strict=True))


def real_number(stored: bytes, data_type: enums.cudnnDataType_t) -> float:
    """The first bytes of `stored` as a number of a floating-point data type."""
    if data_type == enums.CUDNN_DATA_BFLOAT16:  # the upper half of a float
        stored, code = b"\0\0" + stored, "<f"
    else:
        code = {enums.CUDNN_DATA_DOUBLE: "<d", enums.CUDNN_DATA_HALF: "<e"}.get(data_type, "<f")
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
    data_type: enums.cudnnDataType_t
    axes: tuple[enums.cudnnSeqDataAxis_t, ...]
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
    data_type: enums.cudnnDataType_t
    compute_data_type: enums.cudnnDataType_t
    math_type: enums.cudnnMathType_t
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


@reader(types.cudnnSeqDataDescriptor_t)
def _sequence_data(descriptor: Any) -> SequenceData:
    get, count = "cudnnGetSeqDataDescriptor", constants.CUDNN_SEQDATA_DIM_COUNT
    data_type, *_, room, _ = read[get](descriptor, count, 0, None)
    check_set(room)
    fill = None if data_type == enums.CUDNN_DATA_BFLOAT16 else (c_char * 8)()
    _, _, shape, axes, _, lengths = read[get](descriptor, count, room, fill)
    padding_fill = None if fill is None else real_number(fill.raw, data_type)
    return SequenceData(shape, data_type, axes, lengths, padding_fill)


@reader(types.cudnnAttnDescriptor_t)
def _attention(descriptor: Any) -> Attention:
    held = _named(
        "mode heads scaler data_type compute_data_type math_type attention_dropout output_dropout "
        "q_size k_size v_size q_projection k_projection v_projection o_projection qo_max_length "
        "kv_max_length max_batch max_beam",
        read["cudnnGetAttnDescriptor"](descriptor),
    )
    check_set(held["heads"])
    mode = held.pop("mode")
    return Attention(
        one_to_one=bool(mode & constants.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE),
        biases=bool(mode & constants.CUDNN_ATTN_ENABLE_PROJ_BIASES),
        **held,
    )
