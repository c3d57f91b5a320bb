"""The memory layouts of multi-head attention: its weight buffer and its reserve space.

The weight buffer holds the matrices of queries, keys, values and output, then their biases;
operands without a projection have none. This is cuDNN's own layout (read from cuDNN 9.28 with
`cudnnGetMultiHeadAttnWeights`):

- the input matrices of all heads are side by side, one column after the other: element (h, p, v) of
  (H, P, V) is at (v H + h) P + p;
- the output matrices follow each other, one column after the other: element (h, o, p) of (H, O, P)
  is at (h P + p) O + o;
- the biases are dense.

The reserve space's layout is this package's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.descriptors import Attention
from ..attention import WEIGHT_NAMES, weight_shapes
from .memory import Use, at

__all__ = ["Sizes", "Space", "Weight", "load_weights", "weight_bytes", "weight_layout"]


class Weight(NamedTuple):
    """A matrix or bias in the weight buffer; offset and strides in elements."""

    offset: int
    shape: tuple[int, int, int]
    strides: tuple[int, int, int]


def weight_layout(attn: Attention) -> dict[str, Weight]:
    """The weights and biases that there are, by the names of `attention.WEIGHT_NAMES`."""
    shapes = weight_shapes(attn.heads, attn.sizes, attn.projections, biases=attn.biases)
    layout, offset = {}, 0
    for name in WEIGHT_NAMES:
        if name in shapes:
            owners, rows, columns = shape = shapes[name]
            if name == "o_weights":
                strides = (rows * columns, 1, rows)
            elif name.endswith("_weights"):
                strides = (rows, 1, owners * rows)
            else:
                strides = (rows, 1, 1)
            layout[name] = Weight(offset, shape, strides)
            offset += owners * rows * columns
    return layout


def weight_bytes(attn: Attention) -> int:
    """Size of the weight buffer."""
    count = sum(int(np.prod(weight.shape)) for weight in weight_layout(attn).values())
    return count * numpy_dtype(attn.data_type).itemsize


def load_weights(
    attn: Attention, address: int | None, name: str, use: Use = "read"
) -> dict[str, NDArray[Any]]:
    """Views of the weights in the buffer at `address`; writing to them writes there."""
    itemsize = numpy_dtype(attn.data_type).itemsize
    return {
        kind: at(
            (address or 0) + weight.offset * itemsize,
            attn.data_type,
            weight.shape,
            weight.strides,
            name,
            use,
        )
        for kind, weight in weight_layout(attn).items()
    }


@dataclass(frozen=True)
class Sizes:
    """The sizes of one call, or the largest that an attention descriptor allows."""

    q_steps: int
    k_steps: int
    batch: int
    beam: int
    k_beam: int

    @classmethod
    def largest(cls, attn: Attention) -> Sizes:
        """The largest sizes, for which buffers are allocated."""
        k_beam = attn.max_beam if attn.one_to_one else 1
        return cls(attn.qo_max_length, attn.kv_max_length, attn.max_batch, attn.max_beam, k_beam)


class Space:
    """Arrays one after the other in a workspace or a reserve space, in the compute type."""

    def __init__(self, attn: Attention, sizes: Sizes, *, training: bool) -> None:
        self._data_type = (
            raw.CUDNN_DATA_DOUBLE
            if attn.compute_data_type == raw.CUDNN_DATA_DOUBLE
            else raw.CUDNN_DATA_FLOAT
        )
        heads, (q, k, v, _) = attn.heads, attn.projected
        queries = (heads, sizes.q_steps, sizes.batch, sizes.beam)
        keys = (heads, sizes.k_steps, sizes.batch, sizes.k_beam)
        attention = (heads, sizes.batch, sizes.beam, sizes.q_steps, sizes.k_steps)
        self.shapes: dict[str, tuple[int, ...]] = {
            "q": (*queries, q),
            "k": (*keys, k),
            "v": (*keys, v),
            "attention": attention,
            "heads": (*queries, v),
        }
        if training:
            self.shapes |= {f"d{name}_projected": self.shapes[name] for name in ("q", "k", "v")}
            if attn.attention_dropout:
                self.shapes["attention_dropout"] = attention
            if attn.output_dropout:
                self.shapes["output_dropout"] = (*queries[1:], attn.projected[3])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the computation: float64 for DOUBLE, float32 for FLOAT and HALF."""
        return numpy_dtype(self._data_type)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values()) * self.dtype.itemsize

    def views(self, address: int | None, name: str, use: Use) -> dict[str, NDArray[Any]]:
        """The arrays in the memory at `address`."""
        count = self.nbytes // self.dtype.itemsize
        buffer = at(address, self._data_type, (count,), (1,), name, use)
        result, start = {}, 0
        for key, shape in self.shapes.items():
            count = int(np.prod(shape))
            result[key] = buffer[start : start + count].reshape(shape)
            start += count
        return result


def store(space: Mapping[str, NDArray[Any]], **arrays: NDArray[Any] | None) -> None:
    """Write arrays where `Space.views` has them; None is left out."""
    for name, array in arrays.items():
        if array is not None:
            space[name][...] = array
