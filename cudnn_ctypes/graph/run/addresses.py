"""Device memory and numbers for a graph's tensors, by unique id."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dtypes import data_type_name, element_bits, numpy_dtype
from ...raw import cudnnDataType_t
from ...strides import packed_like

if TYPE_CHECKING:
    from ..describe.tensor import Tensor

__all__ = [
    "Shape",
    "check_elements",
    "check_size",
    "find_tensor",
    "host_value",
    "memory_bytes",
    "new_shapes",
    "pointers",
    "with_shape",
]

_BY_SIZE = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_int32, 8: ctypes.c_int64}
_REAL = {
    cudnnDataType_t.CUDNN_DATA_FLOAT: ctypes.c_float,
    cudnnDataType_t.CUDNN_DATA_DOUBLE: ctypes.c_double,
}


Shape = tuple[tuple[int, ...], tuple[int, ...]]
"""Dims and strides."""


def new_shapes(
    tensors: Sequence[Tensor], dims: Mapping[Any, Sequence[int]] | None
) -> dict[int, Shape]:
    """Dims and strides, by unique id, of tensors that have others at one execution.

    Parameters
    ----------
    tensors : sequence of Tensor
        Of a validated graph.
    dims : mapping, optional
        By tensor, unique id or name. They are packed, in the order of the tensor's own strides.

    Raises
    ------
    ValueError
        If they are not as many as the tensor has, or not positive.
    KeyError
        If a key is no tensor of the graph, or a virtual one.
    """
    wanted = {t.uid or 0: t for t in tensors if not t.virtual and not t.scratch}
    found: dict[int, Shape] = {}
    for key, given in (dims or {}).items():
        tensor = find_tensor(key, wanted)
        new = tuple(int(size) for size in given)
        assert tensor.dims is not None
        assert tensor.strides is not None
        if len(new) != len(tensor.dims) or min(new) < 1:
            raise ValueError(
                f"tensor {tensor.name!r} {tensor.dims}: expected as many dims, positive, got {new}"
            )
        found[tensor.uid or 0] = new, packed_like(new, tensor.dims, tensor.strides)
    return found


def pointers(
    tensors: Sequence[Tensor],
    memory: Mapping[Any, Any],
    shapes: Mapping[int, Shape] | None = None,
) -> dict[int, Any]:
    """Device memory, or a C scalar, for each tensor that a plan reads or writes.

    Parameters
    ----------
    tensors : sequence of Tensor
        Of a validated graph.
    memory : mapping
        By tensor, unique id or name: device memory; for by-value tensors a number.
    shapes : mapping of int to (dims, strides), optional
        Of tensors that have others this time.

    Raises
    ------
    ValueError
        If a tensor has no memory, or its memory is too small.
    KeyError
        If a key is no tensor of the graph, or a virtual one.
    """
    wanted = {t.uid or 0: t for t in tensors if not t.virtual and not t.scratch}
    found: dict[int, Any] = {}
    for key, value in memory.items():
        tensor = find_tensor(key, wanted)
        uid = tensor.uid or 0
        if uid in found:
            raise ValueError(f"tensor {tensor.name!r} (uid {uid}) is given twice")
        if tensor.by_value:
            found[uid] = host_value(value, tensor)
            continue
        check_elements(value, tensor)
        check_size(value, with_shape(tensor, shapes))
        found[uid] = value
    for uid, tensor in wanted.items():
        if uid not in found and tensor.value is not None:
            found[uid] = host_value(tensor.value, tensor)
    missing = [f"{t.name!r} (uid {uid})" for uid, t in wanted.items() if uid not in found]
    if missing:
        raise ValueError(f"no memory was given for {', '.join(missing)}")
    return found


def find_tensor(key: Any, wanted: Mapping[int, Tensor]) -> Tensor:
    """The tensor, of those by unique id, that is `key` or is called so.

    Raises
    ------
    KeyError
        If it is none of them, or several have this name.
    """
    matching = [t for uid, t in wanted.items() if t is key or key in (uid, t.name)]
    if len(matching) != 1:
        names = ", ".join(f"{tensor.name!r} (uid {uid})" for uid, tensor in wanted.items())
        problem = "several tensors are" if matching else "no tensor with memory is"
        raise KeyError(f"{problem} called {key!r}; there are {names}")
    return matching[0]


def with_shape(tensor: Tensor, shapes: Mapping[int, Shape] | None) -> Tensor:
    """The tensor with the dims and strides that `shapes` has for its unique id, if any."""
    if not shapes or tensor.uid is None or tensor.uid not in shapes:
        return tensor
    dims, strides = shapes[tensor.uid]
    return dataclasses.replace(tensor, dims=tuple(dims), strides=tuple(strides))


def check_size(value: Any, tensor: Tensor) -> None:
    """Refuse memory that is too small for a tensor, where the memory tells its size.

    Raises
    ------
    ValueError
    """
    given = getattr(value, "nbytes", None)
    if isinstance(given, int) and tensor.ragged_offset is None:
        needed = memory_bytes(tensor)
        if hasattr(value, "shape"):  # an array counts its elements, not the gaps between them
            bits = math.prod(tensor.dims or ()) * element_bits(tensor.data_type)
            needed = min(needed, bits * tensor.vector_count // 8)
        if given < needed:
            raise ValueError(
                f"tensor {tensor.name!r} {tensor.dims} needs {needed} bytes, got {given}"
            )


def check_elements(value: Any, tensor: Tensor) -> None:
    """Refuse memory whose elements have another size than the tensor's; bytes may hold any.

    Raises
    ------
    TypeError
    """
    dtype = getattr(value, "dtype", None)
    size, bits = getattr(dtype, "itemsize", 1), element_bits(tensor.data_type)
    if size != 1 and bits >= 8 and tensor.vector_count == 1 and 8 * size != bits:
        raise TypeError(
            f"tensor {tensor.name!r} is {data_type_name(tensor.data_type)}, got memory of {dtype}"
        )


def memory_bytes(tensor: Tensor) -> int:
    """From the first element to the last."""
    assert tensor.dims is not None
    assert tensor.strides is not None
    span = zip(tensor.dims, tensor.strides, strict=True)
    last = sum((size - 1) * stride for size, stride in span)
    return (last + 1) * tensor.vector_count * element_bits(tensor.data_type) // 8


def host_value(value: Any, tensor: Tensor) -> Any:
    """A number as the C variable, of the tensor's data type, that cuDNN reads.

    Raises
    ------
    TypeError
        If `value` is no number, or the data type has none.
    """
    if isinstance(value, ctypes._SimpleCData):
        return value
    data_type = tensor.data_type
    if not isinstance(value, (numbers.Real, np.generic)):
        raise TypeError(
            f"tensor {tensor.name!r} is passed by value: expected a number, "
            f"got {value!r} ({type(value).__name__})"
        )
    if data_type in _REAL:
        return _REAL[data_type](float(value))
    dtype = numpy_dtype(data_type)
    if dtype.itemsize not in _BY_SIZE:
        raise TypeError(f"tensor {tensor.name!r}: no {data_type_name(data_type)} number by value")
    ctype = _BY_SIZE[dtype.itemsize]
    return ctype.from_buffer_copy(np.asarray(value).astype(dtype).tobytes())
