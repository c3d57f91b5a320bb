"""Records of multi-head attention and its sequences."""

from __future__ import annotations

from ctypes import byref, c_char, c_double, c_int, c_size_t
from dataclasses import dataclass
from typing import Any

from ..constants import (
    CUDNN_ATTN_ENABLE_PROJ_BIASES,
    CUDNN_ATTN_QUERYMAP_ONE_TO_ONE,
    CUDNN_SEQDATA_DIM_COUNT,
)
from ..enums import CUDNN_DATA_BFLOAT16, cudnnDataType_t, cudnnMathType_t, cudnnSeqDataAxis_t
from ..records import reader
from ..strides import packed
from ..types import cudnnAttnDescriptor_t, cudnnDropoutDescriptor_t, cudnnSeqDataDescriptor_t
from .reading import call, ints, pointers
from .recurrent import real_number


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
