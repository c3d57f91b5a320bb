"""``SeqDataDescriptor``: sequences of vectors, in a batch and a beam, for multi-head attention."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_int, c_size_t
from typing import Any

import numpy as np

from .. import raw
from ..device import DeviceTensor
from ..device.layout import Shape, to_shape
from ..dtypes import as_data_type, numpy_dtype
from .descriptor import Descriptor

__all__ = ["SeqDataDescriptor"]

_NDIM = raw.CUDNN_SEQDATA_DIM_COUNT

# The letter of each axis, in the order of cudnnSeqDataAxis_t, which is that of the shape.
_LETTERS = "TNBV"


class SeqDataDescriptor(Descriptor[raw.cudnnSeqDataDescriptor_t]):
    """Sequences of vectors, and how they lie in memory; follows ``cudnnSetSeqDataDescriptor``.

    The shape is (time, batch, beam, vector) whatever the order in memory, which `axes` gives.

    Parameters
    ----------
    shape : sequence of 4 int
        (T, N, B, V): most time steps of a sequence, batch, sequences in the beam of one batch
        entry, length of a vector.
    data_type : data type
        float32, float64, float16 or bfloat16.
    axes : str or sequence of cudnnSeqDataAxis_t
        The order in memory, slowest axis first, by the letters of the shape: "TNBV", "NTBV",
        "NBTV", ... cuDNN has V as the last one, and wants the same order for all descriptors of
        one call.
    lengths : sequence of N * B int, optional
        Time steps of each sequence, the beam of the first batch entry first, from 1 to T; what
        follows is padding. Left out: T.
    padding_fill : float, optional
        A value for padding vectors. cuDNN's documentation reserves it: attention ignores it.

    Raises
    ------
    BadParamError, NotSupportedError
        If cuDNN refuses: a zero dimension or length, a length above T.
    TypeError, ValueError
        If the arguments do not go together.

    Examples
    --------
    >>> x = SeqDataDescriptor((5, 2, 1, 8), lengths=(5, 3), axes="NTBV")
    >>> x.strides
    (8, 40, 8, 1)
    """

    def __init__(
        self,
        shape: Sequence[int],
        data_type: Any = "float32",
        *,
        axes: Any = _LETTERS,
        lengths: Sequence[int] | None = None,
        padding_fill: float | None = None,
    ) -> None:
        super().__init__(
            raw.cudnnSeqDataDescriptor_t(),
            raw.cudnnCreateSeqDataDescriptor,
            raw.cudnnDestroySeqDataDescriptor,
        )
        with self._closed_on_error():
            self.set(data_type, shape, axes, lengths, padding_fill)

    @classmethod
    def of(
        cls,
        tensor: DeviceTensor,
        *,
        lengths: Sequence[int] | None = None,
        axes: Any = None,
    ) -> SeqDataDescriptor:
        """The descriptor of a tensor (T, N, B, V), or (T, N, V) with one sequence per batch entry.

        Parameters
        ----------
        axes : str or sequence of cudnnSeqDataAxis_t, optional
            Which order in memory to take where the strides fit several (an axis of size 1).

        Raises
        ------
        ValueError
            If the tensor is not dense, or in an order that cuDNN does not have.
        """
        shape, strides = tensor.shape, tensor.strides
        if len(shape) == 3:
            shape, strides = (*shape[:2], 1, shape[2]), (*strides[:2], shape[2], strides[2])
        if len(shape) != _NDIM:
            raise ValueError(f"expected (time, batch, beam, vector) or without beam, got {shape}")
        fitting = fitting_axes(shape, strides)
        if not fitting:
            raise ValueError(
                f"cuDNN describes dense sequences only, with vectors as the last axis in memory: "
                f"not strides {strides} for (time, batch, beam, vector) = {shape}"
            )
        wanted = None if axes is None else as_axes(axes)
        order = wanted if wanted in fitting else fitting[0]
        return cls(shape, tensor.data_type, axes=order, lengths=lengths)

    def set(
        self,
        data_type: Any,
        shape: Sequence[int],
        axes: Any,
        lengths: Sequence[int] | None = None,
        padding_fill: float | None = None,
    ) -> None:
        """Set everything; follows ``cudnnSetSeqDataDescriptor``. Arguments as for the class."""
        data_type, sizes, order = as_data_type(data_type), to_shape(shape), as_axes(axes)
        if len(sizes) != _NDIM:
            raise ValueError(f"shape: expected (time, batch, beam, vector), got {sizes}")
        sequences = sizes[1] * sizes[2]
        array = (sizes[0],) * sequences if lengths is None else to_shape(lengths, "lengths")
        if len(array) != sequences:
            raise ValueError(
                f"lengths: expected {sequences} entries, one for each of {sizes[1]} x {sizes[2]} "
                f"sequences, got {len(array)}"
            )
        fill = None if padding_fill is None else np.full(1, padding_fill, numpy_dtype(data_type))
        raw.cudnnSetSeqDataDescriptor(self, data_type, _NDIM, sizes, order, len(array), array, fill)

    # -- reading back --------------------------------------------------------------------------

    def _read(self) -> dict[str, Any]:
        data_type, ndim, count = raw.cudnnDataType_t(), c_int(), c_size_t()
        shape, axes = (c_int * _NDIM)(), (raw.cudnnSeqDataAxis_t * _NDIM)()
        about = (self, data_type, ndim, _NDIM, shape, axes, count)
        raw.cudnnGetSeqDataDescriptor(*about, 0, None, None)
        lengths, fill = (c_int * count.value)(), None
        if data_type.value != raw.CUDNN_DATA_BFLOAT16:  # refused for it by cuDNN 9.28
            fill = np.zeros(1, numpy_dtype(data_type.value))
        raw.cudnnGetSeqDataDescriptor(*about, len(lengths), lengths, fill)
        return {
            "shape": tuple(shape),
            "data_type": data_type.value,
            "axes": tuple(axes),
            "lengths": tuple(lengths),
            "padding_fill": None if fill is None else float(fill[0]),
        }

    @property
    def shape(self) -> tuple[int, ...]:
        """(time, batch, beam, vector)."""
        shape: tuple[int, ...] = self._read()["shape"]
        return shape

    @property
    def data_type(self) -> raw.cudnnDataType_t:
        """Type of the elements."""
        return raw.cudnnDataType_t(self._read()["data_type"])

    @property
    def axes(self) -> tuple[raw.cudnnSeqDataAxis_t, ...]:
        """The order in memory, slowest axis first."""
        axes: tuple[raw.cudnnSeqDataAxis_t, ...] = self._read()["axes"]
        return axes

    @property
    def lengths(self) -> tuple[int, ...]:
        """Time steps of each sequence, the beam of the first batch entry first."""
        lengths: tuple[int, ...] = self._read()["lengths"]
        return lengths

    @property
    def padding_fill(self) -> float | None:
        """The value for padding vectors, 0 if none was set; None for bfloat16, not to be read."""
        fill: float | None = self._read()["padding_fill"]
        return fill

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps along (time, batch, beam, vector), in elements; sequences lie dense."""
        held = self._read()
        return dense_strides(held["shape"], held["axes"])

    @property
    def size_in_bytes(self) -> int:
        """Bytes that the sequences take, padding included."""
        held = self._read()
        return int(np.prod(held["shape"])) * numpy_dtype(held["data_type"]).itemsize

    def _held(self) -> dict[str, Any]:
        return self._read()

    def _arguments(self) -> dict[str, Any]:
        held = self._read()
        held["axes"] = "".join(_LETTERS[axis] for axis in held["axes"])
        return held


def as_axes(axes: Any) -> tuple[raw.cudnnSeqDataAxis_t, ...]:
    """The enumerators of an order in memory given by letters, "NTBV", or as enumerators.

    Raises
    ------
    ValueError
        If it is no order of the four axes.
    """
    letters = axes.upper() if isinstance(axes, str) else ""
    entries = [_LETTERS.find(letter) for letter in letters] or list(axes)
    if sorted(entries) != list(range(_NDIM)):
        raise ValueError(f"axes: expected the letters of {_LETTERS!r} in some order, got {axes!r}")
    return tuple(raw.cudnnSeqDataAxis_t(int(entry)) for entry in entries)


def dense_strides(shape: Shape, axes: Sequence[int]) -> Shape:
    """Steps along each axis of `shape`, in elements, if they follow each other as `axes` says."""
    strides, step = [0] * _NDIM, 1
    for axis in reversed(axes):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def fitting_axes(shape: Shape, strides: Shape) -> list[tuple[raw.cudnnSeqDataAxis_t, ...]]:
    """The orders in memory that these are the strides of; several if an axis has size 1."""
    return [
        order
        for order in map(as_axes, ("TNBV", "NTBV", "TBNV", "NBTV", "BTNV", "BNTV"))
        if all(
            a == b or n == 1
            for a, b, n in zip(dense_strides(shape, order), strides, shape, strict=True)
        )
    ]
