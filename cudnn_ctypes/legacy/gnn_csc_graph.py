"""``GnnCscGraph``: the directed graph of a GNN in device memory, as cuDNN takes it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import raw
from ..arguments import integer
from ..dtypes import as_data_type, data_type_name, numpy_dtype
from ..errors import ClosedError
from ..runtime import DeviceTensor
from ..runtime.launching.likeness import Look, look
from .dense_operands import DenseOperands

_INDEX_TYPES = (raw.CUDNN_DATA_INT32, raw.CUDNN_DATA_INT64)


class GnnCscGraph:
    """A graph from sources to destinations, held by its destinations; ``cudnnGnnCscGraph_t``.

    At destination v the edges ``offsets[v]`` to ``offsets[v + 1] - 1`` arrive; edge i comes from
    source ``indices[i]``, and its features stand in row ``edge_rows[i]`` of the table of edge
    features. What the arrays hold is in device memory and is not checked. An object of this class
    can be passed to the functions of ``raw``.

    Parameters
    ----------
    offsets : tensor
        (destinations + 1,), int32 or int64.
    indices : tensor
        (edges,), of the same type.
    source_count : int
    edge_rows : tensor, optional
        (edges,). Left out: edge features stand in the edges' own order.
    reversed_offsets, reversed_rows : tensor, optional
        (sources + 1,) and (edges,): the same graph held by its sources, for backward passes that
        repeat bit by bit. ``reversed_rows`` holds rows of edge features, too.
    stream : stream, optional
        What the arrays come from has work under way on it.

    Attributes
    ----------
    source_count, destination_count, edge_count : int
    index_type : cudnnDataType_t

    Examples
    --------
    >>> graph = GnnCscGraph.from_edges([0, 1, 1], [0, 0, 2])
    """

    def __init__(
        self,
        offsets: Any,
        indices: Any,
        source_count: int,
        *,
        edge_rows: Any = None,
        reversed_offsets: Any = None,
        reversed_rows: Any = None,
        stream: Any = None,
    ) -> None:
        operands = DenseOperands(stream)
        first = operands.imported("offsets", offsets)
        if first.data_type not in _INDEX_TYPES:
            raise TypeError(f"offsets: expected int32 or int64, got {first.dtype}")
        if first.ndim != 1 or not first.size:
            raise ValueError(f"offsets: expected (destinations + 1,), got {first.shape}")
        self.index_type: raw.cudnnDataType_t = first.data_type
        self.source_count: int = integer("source_count", source_count, least=0)
        self.destination_count: int = first.size - 1
        self.edge_count: int = operands.imported("indices", indices).size
        if (reversed_offsets is None) != (reversed_rows is None):
            raise ValueError("reversed_offsets and reversed_rows: give both or none")
        edges = (self.edge_count,)
        self.offsets: DeviceTensor = operands.tensor("offsets", first, first.shape, self.index_type)
        self.indices: DeviceTensor = operands.tensor("indices", indices, edges, self.index_type)
        self.edge_rows: DeviceTensor | None = operands.optional(
            "edge_rows", edge_rows, edges, self.index_type
        )
        self.reversed_rows: DeviceTensor | None = operands.optional(
            "reversed_rows", reversed_rows, edges, self.index_type
        )
        self.reversed_offsets: DeviceTensor | None = operands.optional(
            "reversed_offsets", reversed_offsets, (self.source_count + 1,), self.index_type
        )
        self._arrays = (self.indices, self.edge_rows, self.reversed_rows, self.reversed_offsets)
        # What a launch's key says of it, besides the offsets; and what C is given.
        self._part = (self.source_count, self.edge_count, *(a is None for a in self._arrays))
        self._struct = self._described()

    @classmethod
    def from_edges(
        cls,
        sources: Sequence[int] | NDArray[Any],
        destinations: Sequence[int] | NDArray[Any],
        source_count: int | None = None,
        destination_count: int | None = None,
        *,
        dtype: Any = np.int32,
        device: Any = None,
        stream: Any = None,
    ) -> GnnCscGraph:
        """A graph from its edges on the host, in any order; with its reverse.

        Parameters
        ----------
        sources, destinations : sequence of int
            (edges,). Edge features stand in this order.
        source_count, destination_count : int, optional
            Left out: one more than the largest number that occurs.
        dtype : data type
            int32 or int64.
        device, stream : optional
            The GPU that gets the graph, and the stream of the copies, as for `DeviceTensor`.

        Raises
        ------
        ValueError
            If a number is negative or too large.
        """
        starts, ends = _numbers("sources", sources), _numbers("destinations", destinations)
        if starts.ndim != 1 or starts.shape != ends.shape:
            raise ValueError(
                f"sources and destinations: expected as many of each, got {starts.shape} and "
                f"{ends.shape}"
            )
        index_type = as_data_type(dtype)
        if index_type not in _INDEX_TYPES:
            raise TypeError(f"dtype: expected int32 or int64, got {data_type_name(index_type)}")
        most = np.iinfo(numpy_dtype(index_type)).max
        source_count = _count("source", starts, source_count, most)
        destination_count = _count("destination", ends, destination_count, most)
        rows = np.argsort(ends, kind="stable")

        def upload(array: NDArray[Any]) -> DeviceTensor:
            return DeviceTensor.from_numpy(
                array.astype(numpy_dtype(index_type)), device=device, stream=stream
            )

        return cls(
            upload(_offsets(ends, destination_count)),
            upload(starts[rows]),
            source_count,
            edge_rows=upload(rows),
            reversed_offsets=upload(_offsets(starts, source_count)),
            reversed_rows=upload(np.argsort(starts, kind="stable")),
            stream=stream,
        )

    @property
    def arrays(self) -> dict[str, DeviceTensor]:
        """The arrays that it holds, by name."""
        names = ("offsets", "indices", "edge_rows", "reversed_offsets", "reversed_rows")
        return {name: array for name in names if (array := getattr(self, name)) is not None}

    @property
    def reversible(self) -> bool:
        """True if the graph holds its reverse."""
        return self.reversed_offsets is not None

    def _look(self, launcher: Any = None) -> Look:
        """Its part of the key of a launch, and the struct that C takes."""
        part, _ = look(self.offsets)  # which checks that its memory can be reached
        for array in self._arrays:
            if array is not None and array.closed:
                raise ClosedError(f"an array of {self!r} is closed")
        return (part, *self._part), self._struct

    def _described(self) -> Any:
        """A pointer to the struct."""
        indices, *maps, reversed_offsets = (
            None if array is None else array.ptr or None for array in self._arrays
        )
        struct = raw.cudnnGnnCscGraph_t(
            self.offsets.ptr,
            indices,
            *maps,
            self.source_count,
            self.destination_count,
            self.edge_count,
            self.index_type,
            reversed_offsets,
        )
        return ctypes.pointer(struct)

    @property
    def _as_parameter_(self) -> Any:
        return self._look()[1]

    def __repr__(self) -> str:
        return (
            f"<GnnCscGraph, {self.edge_count} edges from {self.source_count} sources to "
            f"{self.destination_count} destinations>"
        )


def _numbers(name: str, values: Any) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except Exception:  # tensors of other libraries raise errors of any class
        raise TypeError(f"{name}: expected ints on the host, got {values!r}") from None
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name}: expected ints, got {values!r}")
    return array.astype(np.int64)


def _count(name: str, numbers: NDArray[Any], count: int | None, most: int) -> int:
    largest = int(numbers.max(initial=-1))
    count = largest + 1 if count is None else integer(f"{name}_count", count, least=0)
    if count > most:
        raise ValueError(f"{name}_count: expected at most {most}, got {count}")
    if numbers.min(initial=0) < 0 or largest >= count:
        raise ValueError(f"{name}s: expected numbers from 0 to {count - 1}")
    return count


def _offsets(numbers: NDArray[Any], count: int) -> NDArray[Any]:
    return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))])
