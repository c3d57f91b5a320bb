"""Memory that a graph's tensors need, new memory for its outputs, and numbers passed by value."""

from __future__ import annotations

import ctypes
import dataclasses
import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsFloat, cast

import numpy as np

from ...arguments import integers
from ...dtypes import data_type_name, element_bits, numpy_dtype, storage_bytes
from ...raw import cudnnDataType_t, strides
from ...raw.strides import packed_like
from ...raw.typed_memory import contradiction, typed
from ...raw.values import described
from ...runtime import DeviceTensor, pytorch

if TYPE_CHECKING:
    from ...runtime.allocation import Allocator
    from ..describe.tensor import Tensor
    from .execution import Operands


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

    `dims` are by tensor, unique id or name, and packed in the order of the tensor's own strides.
    """
    wanted = {t.uid or 0: t for t in tensors if not t.virtual and not t.scratch}
    found: dict[int, Shape] = {}
    if dims is not None and not isinstance(dims, Mapping):
        raise TypeError(f"dims: expected a mapping, got {described(dims)}")
    for key, sizes in (dims or {}).items():
        tensor = find_tensor(key, wanted)
        new = integers(f"dims: tensor {tensor.name!r}", sizes)
        assert tensor.dims is not None
        assert tensor.strides is not None
        if len(new) != len(tensor.dims) or min(new, default=0) < 1:
            raise ValueError(
                f"tensor {tensor.name!r} {tensor.dims}: expected as many dims, positive, got {new}"
            )
        found[tensor.uid or 0] = new, packed_like(new, tensor.dims, tensor.strides)
    return found


def find_tensor(key: Any, wanted: Mapping[int, Tensor]) -> Tensor:
    """The tensor, of those by unique id, that is `key` or is called so.

    Raises KeyError if it is none of them, or several have this name.
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


class Extent(NamedTuple):
    """Data type, shape and size of a tensor's memory, as `contradiction` compares them.

    No strides where only the data type and the size can be compared.
    """

    data_type: cudnnDataType_t
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    size_in_bytes: int


def extent(tensor: Tensor) -> Extent:
    """The extent that a tensor's memory must have; for a ragged one only the data type."""
    if tensor.dims is None or tensor.strides is None or tensor.data_type is None:
        raise ValueError(
            f"tensor {tensor.name!r} was changed after the graph was built: build it again"
        )
    (dims, strides), nbytes = _of_elements(tensor), memory_bytes(tensor)
    if tensor.ragged_offset is not None:
        nbytes, strides = 0, ()
    if tensor.reordering:
        strides = ()
    return Extent(tensor.data_type, dims, strides, nbytes)


def refusal(value: Any, wanted: Extent) -> str | None:
    """Why memory does not fit a tensor; None if it does, or only is an address."""
    says = typed(value)
    if says is None:
        return None
    name, bits = data_type_name(wanted.data_type), element_bits(wanted.data_type)
    short = f"needs {wanted.size_in_bytes} bytes, got {says.nbytes}"
    if not says.data_type:  # a DeviceTensor of a type that other libraries do not have
        if value.data_type != wanted.data_type:
            return f"is {name}, got {data_type_name(value.data_type)}"
        return short if says.nbytes < wanted.size_in_bytes else None
    if (bits < 8 and says.itemsize != 1) or (says.data_type.startswith("bool") and name != "bool"):
        several = f"is packed, {8 // bits} to a byte" if bits < 8 else "is wanted"
        return f"got {says}, and {name} {several}: give bytes (uint8)"
    if bits < 8:
        return short if says.nbytes < wanted.size_in_bytes else None
    told = contradiction(wanted, says)
    if told is None:
        return None
    if says.nbytes < wanted.size_in_bytes and says.data_type in (name, "bytes"):
        return short
    strides = f" with strides {wanted.strides}" if wanted.strides else ""
    return f"is {name}{strides}, got {says}"


def _of_elements(tensor: Tensor) -> Shape:
    """Dims and strides of single elements: vectors are a last dimension."""
    assert tensor.dims is not None
    assert tensor.strides is not None
    count = tensor.vector_count
    if count == 1:
        return tensor.dims, tensor.strides
    return (*tensor.dims, count), (*(step * count for step in tensor.strides), 1)


def memory_bytes(tensor: Tensor) -> int:
    """From the first element to the last."""
    assert tensor.dims is not None
    assert tensor.strides is not None
    elements = strides.extent(tensor.dims, tensor.strides) * tensor.vector_count
    return storage_bytes(tensor.data_type, elements)


def host_value(value: Any, tensor: Tensor) -> Any:
    """A number as the C variable, of the tensor's data type, that cuDNN reads.

    Raises TypeError if `value` is no number, or the data type has none.
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
        return _REAL[data_type](float(cast(SupportsFloat, value)))
    dtype = numpy_dtype(data_type)
    if dtype.itemsize not in _BY_SIZE:
        raise TypeError(f"tensor {tensor.name!r}: no {data_type_name(data_type)} number by value")
    ctype = _BY_SIZE[dtype.itemsize]
    return ctype.from_buffer_copy(np.asarray(value).astype(dtype).tobytes())


_MOST = 64  # sets of keys that are remembered


class ResultMemory:
    """The memory to allocate for an output of a validated graph."""

    def __init__(self, tensor: Tensor) -> None:
        assert tensor.data_type is not None
        self.tensor = tensor
        self.data_type: cudnnDataType_t = tensor.data_type
        self.shape, self.strides = _of_elements(tensor)
        self.nbytes: int = memory_bytes(tensor)
        self._packed = element_bits(tensor.data_type) < 8

    def in_torch(self, like: Any) -> Any:
        """A tensor of PyTorch on the device of `like`, which knows how PyTorch allocates."""
        shape, strides, dtype = self.torch_form()
        return like.new_empty_strided(shape, strides, dtype=dtype)

    def torch_form(self) -> pytorch.Form:
        """The shape, strides and type of that tensor."""
        if self._packed:  # PyTorch has only bytes for several elements in one
            return pytorch.bytes_form(self.nbytes)
        return self.shape, self.strides, pytorch.torch_dtype(self.data_type)

    def in_order_of(self, allocator: Allocator) -> DeviceTensor:
        """A DeviceTensor for work on the allocator's stream."""
        parts = allocator.runtime, self.shape, self.strides, self.data_type
        return DeviceTensor._in(allocator.allocate(self.nbytes), (*parts, 0, False, self.nbytes))


class Outputs:
    """The outputs of a built graph, which differ in their names, and those left to us."""

    def __init__(self, tensors: Sequence[Tensor], operands: Operands) -> None:
        names = [each.name for each in tensors]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"several outputs are called {', '.join(map(repr, sorted(twice)))}")
        self.memory: list[ResultMemory] = [ResultMemory(each) for each in tensors]
        self._operands = operands
        self._known: dict[Any, list[ResultMemory]] = {}

    def missing(self, memory: Mapping[Any, Any]) -> list[ResultMemory]:
        """The outputs that have none in `memory`.

        Raises KeyError if a key is of no operand.
        """
        keys = tuple(memory)
        known = self._known.get(keys)
        if known is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            place_of = self._operands.place_of
            places = {place_of(key) for key in keys}
            known = [each for each in self.memory if place_of(each.tensor) not in places]
            self._known[keys] = known
        return known

    def by_name(self, memory: Mapping[Any, Any], made: Mapping[Tensor, Any]) -> dict[str, Any]:
        """All outputs: those that were allocated, and those in `memory`."""
        if len(made) == len(self.memory):
            return {tensor.name: value for tensor, value in made.items()}
        place_of = self._operands.place_of
        known = {place_of(key): value for key, value in (*memory.items(), *made.items())}
        return {each.tensor.name: known[place_of(each.tensor)] for each in self.memory}
