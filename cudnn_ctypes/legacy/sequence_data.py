"""``SeqDataDescriptor``: sequences of vectors, in a batch and a beam, for multi-head attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import raw
from ..arguments import integers
from ..dtypes import as_data_type, numpy_dtype
from ..raw.descriptors import SequenceData
from ..raw.strides import packed
from ..runtime import DeviceTensor
from ..runtime.elements import element
from ..runtime.layout import Shape, to_shape
from .descriptor import Descriptor, read_back
from .layouts import check_tensor

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
        follows is padding. Default: T.
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
        super().__init__(raw.cudnnSeqDataDescriptor_t())
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
        tensor : DeviceTensor
            Its shape, strides and data type are read.
        lengths : sequence of int, optional
            As for the class. Default: all T.
        axes : str or sequence of cudnnSeqDataAxis_t, optional
            Which order in memory to take where the strides fit several (an axis of size 1).

        Raises
        ------
        ValueError
            If the tensor is not dense, or in an order that cuDNN does not have.
        """
        shape, strides = four_dimensions("tensor", tensor)
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
        fill = None
        if padding_fill is not None:
            fill = element(padding_fill, data_type, "padding_fill").reshape(1)
        raw.cudnnSetSeqDataDescriptor(self, data_type, _NDIM, sizes, order, len(array), array, fill)

    # -- reading back --------------------------------------------------------------------------

    shape: tuple[int, ...] = read_back(SequenceData, "(time, batch, beam, vector).")
    data_type: raw.cudnnDataType_t = read_back(SequenceData, "Type of the elements.")
    axes: tuple[raw.cudnnSeqDataAxis_t, ...] = read_back(
        SequenceData, "The order in memory, slowest axis first."
    )
    lengths: tuple[int, ...] = read_back(
        SequenceData, "Time steps of each sequence, the beam of the first batch entry first."
    )
    padding_fill: float | None = read_back(
        SequenceData,
        "The value for padding vectors, 0 if none was set; None for bfloat16, not to be read.",
    )
    strides: tuple[int, ...] = read_back(
        SequenceData, "Steps along (time, batch, beam, vector), in elements; sequences lie dense."
    )

    @property
    def size_in_bytes(self) -> int:
        """Bytes that the sequences take, padding included."""
        return math.prod(self.shape) * numpy_dtype(self.data_type).itemsize

    def _arguments(self) -> dict[str, Any]:
        arguments = self._held()
        return {**arguments, "axes": axis_letters(arguments["axes"])} if arguments else {}


def axis_letters(axes: Sequence[int]) -> str:
    """An order in memory by the letters of its axes: "NTBV"."""
    return "".join(_LETTERS[axis] for axis in axes)


def four_dimensions(name: str, tensor: DeviceTensor) -> tuple[Shape, Shape]:
    """Shape and strides (T, N, B, V) of a tensor, which may be without a beam."""
    check_tensor(name, tensor, "strides", "data_type")
    shape, strides = tensor.shape, tensor.strides
    if len(shape) == 3:
        return (*shape[:2], 1, shape[2]), (*strides[:2], shape[2], strides[2])
    if len(shape) != _NDIM:
        raise ValueError(
            f"{name}: expected (time, batch, beam, vector) or without beam, got {shape}"
        )
    return shape, strides


def as_axes(axes: Any) -> tuple[raw.cudnnSeqDataAxis_t, ...]:
    """The enumerators of an order in memory given by letters, "NTBV", or as enumerators.

    Raises
    ------
    ValueError
        If it is no order of the four axes.
    """
    letters = axes.upper() if isinstance(axes, str) else ""
    if isinstance(axes, (list, tuple)):
        axes = [axis.value if isinstance(axis, raw.cudnnSeqDataAxis_t) else axis for axis in axes]
    entries = [_LETTERS.find(letter) for letter in letters] or integers("axes", axes)
    if sorted(entries) != list(range(_NDIM)):
        raise ValueError(f"axes: expected the letters of {_LETTERS!r} in some order, got {axes!r}")
    return tuple(raw.cudnnSeqDataAxis_t(int(entry)) for entry in entries)


def fitting_axes(shape: Shape, strides: Shape) -> list[tuple[raw.cudnnSeqDataAxis_t, ...]]:
    """The orders in memory that these are the strides of; several if an axis has size 1."""
    return [
        order
        for order in map(as_axes, ("TNBV", "NTBV", "TBNV", "NBTV", "BTNV", "BNTV"))
        if all(
            a == b or n == 1 for a, b, n in zip(packed(shape, order), strides, shape, strict=True)
        )
    ]
