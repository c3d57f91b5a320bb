"""``RNNDataDescriptor``: sequences of vectors, and how they lie in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import raw
from ..arguments import integers
from ..dtypes import as_data_type, element_bits
from ..raw.descriptors import RNNData
from ..runtime.elements import element
from .descriptor import Descriptor, read_back
from .enumerators import enumerator
from .layouts import check_tensor

__all__ = ["RNNDataDescriptor"]

_PACKED = raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED
_BATCH_MAJOR = raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED


class RNNDataDescriptor(Descriptor[raw.cudnnRNNDataDescriptor_t]):
    """A batch of sequences of vectors; follows ``cudnnSetRNNDataDescriptor``.

    Parameters
    ----------
    lengths : sequence of int, optional
        Vectors in each sequence. Default: not set yet. Sequences of length 0 are allowed here, but
        cuDNN fails on them (EXECUTION_FAILED).
    vector_size : int
        Elements of a vector.
    data_type : data type
        "float32", "float64", "float16" or "bfloat16".
    layout : cudnnRNNDataLayout_t or str
        ======================  ==============================================================
        "seq_major_unpacked"    (T, B, size): T is `max_length`; vectors behind a sequence's end
                                are padding
        "batch_major_unpacked"  (B, T, size), padded likewise
        "seq_major_packed"      (sum of lengths, size): the first vectors of all sequences, then
                                their second vectors..., without padding; lengths must descend
        ======================  ==============================================================
    max_length : int, optional
        T; default: the longest length.
    padding_fill : float, optional
        What outputs, gradients included, hold in the padding: 0 for None, as cuDNN reads it back.

    Raises
    ------
    BadParamError
        If cuDNN refuses: an empty batch, for example.
    ValueError
        If a length is not from 0 to `max_length`, or lengths do not descend where they must.

    Examples
    --------
    >>> RNNDataDescriptor([3, 2], 8, layout="seq_major_packed").shape
    (5, 8)
    """

    def __init__(
        self,
        lengths: Sequence[int] | None = None,
        vector_size: int = 0,
        data_type: Any = "float32",
        *,
        layout: Any = "seq_major_unpacked",
        max_length: int | None = None,
        padding_fill: float | None = None,
    ) -> None:
        super().__init__(raw.cudnnRNNDataDescriptor_t())
        with self._closed_on_error():
            if lengths is not None:
                lengths = integers("lengths", lengths)
                longest = max(lengths, default=0) if max_length is None else max_length
                self.set(data_type, layout, longest, vector_size, lengths, padding_fill)

    @classmethod
    def of(
        cls,
        tensor: Any,
        *,
        lengths: Sequence[int] | None = None,
        layout: Any = "seq_major_unpacked",
        padding_fill: float | None = None,
        name: str = "tensor",
    ) -> RNNDataDescriptor:
        """The descriptor of sequences in memory.

        Parameters
        ----------
        tensor : DeviceTensor, or any object with its shape and dtype
            (T, B, size), (B, T, size) or (sum of lengths, size), as `layout` says.
        lengths : sequence of int, optional
            Default: all T. Needed for the packed layout.
        layout, padding_fill : optional
            As for the class.
        name : str
            What errors call the tensor.
        """
        layout = enumerator(raw.cudnnRNNDataLayout_t, layout, "layout")
        check_tensor(name, tensor, "dtype")
        shape, steps = tuple(tensor.shape), None
        lengths = None if lengths is None else integers("lengths", lengths)
        ndim = 2 if layout == _PACKED else 3
        if len(shape) != ndim:
            raise ValueError(
                f"{name}: expected {ndim} dimensions in this layout, got shape {shape}"
            )
        if layout != _PACKED:
            batch, steps = shape[:2] if layout == _BATCH_MAJOR else shape[1::-1]
            lengths = [steps] * batch if lengths is None else lengths
            if len(lengths) != batch:
                raise ValueError(f"lengths: expected {batch} in shape {shape}, got {len(lengths)}")
        elif lengths is None:
            raise ValueError("lengths: needed for the packed layout")
        elif sum(lengths) != shape[0]:
            raise ValueError(f"lengths: must add up to {shape[0]}, got {sum(lengths)}")
        return cls(
            lengths,
            shape[-1],
            tensor.dtype,
            layout=layout,
            max_length=steps,
            padding_fill=padding_fill,
        )

    def set(
        self,
        data_type: Any,
        layout: Any,
        max_length: int,
        vector_size: int,
        lengths: Sequence[int],
        padding_fill: float | None = None,
    ) -> None:
        """Set everything, in C's order; follows ``cudnnSetRNNDataDescriptor``."""
        data_type = as_data_type(data_type)
        layout = enumerator(raw.cudnnRNNDataLayout_t, layout, "layout")
        lengths = integers("lengths", lengths)
        if not all(0 <= length <= max_length for length in lengths):
            raise ValueError(f"lengths: expected ints from 0 to {max_length}, got {lengths}")
        packed = layout == _PACKED
        if packed and (list(lengths) != sorted(lengths, reverse=True) or 0 in lengths):
            raise ValueError(
                f"lengths: must descend, and be 1 at least, in the packed layout, got {lengths}"
            )
        fill = None
        if padding_fill is not None:
            fill = element(padding_fill, data_type, "padding_fill")
        raw.cudnnSetRNNDataDescriptor(
            self, data_type, layout, max_length, len(lengths), vector_size, lengths, fill
        )

    # -- reading back --------------------------------------------------------------------------

    batch_size: int = read_back(RNNData, "B, the number of sequences.")
    lengths: tuple[int, ...] = read_back(RNNData, "Vectors in each sequence.")
    max_length: int = read_back(RNNData, "T, the most vectors that a sequence can have.")
    vector_size: int = read_back(RNNData, "Elements of a vector.")
    data_type: raw.cudnnDataType_t = read_back(RNNData, "Type of the elements.")
    layout: raw.cudnnRNNDataLayout_t = read_back(RNNData, "How the vectors lie in memory.")
    padding_fill: float = read_back(
        RNNData, "What outputs hold in the padding; 0 if it was not set."
    )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the memory: (T, B, size), (B, T, size) or (sum of lengths, size)."""
        return self._record(RNNData).memory_shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps along each dimension of the memory, in elements: it is dense, in C order."""
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    @property
    def size_in_bytes(self) -> int:
        """Bytes that the sequences take, padding included."""
        return math.prod(self.shape) * element_bits(self.data_type) // 8

    def like(self, vector_size: int) -> RNNDataDescriptor:
        """The same sequences of vectors of another size: those of y for x."""
        return RNNDataDescriptor(**{**self._held(), "vector_size": vector_size})
