"""New memory for the outputs of a graph, of the kind that its inputs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...dtypes import element_bits
from ...raw import cudnnDataType_t
from ...runtime import DeviceTensor, pytorch
from .tensor_memory import memory_bytes

if TYPE_CHECKING:
    from ...runtime.allocation import Allocator
    from ..describe.tensor import Tensor
    from .operands import Operands

_MOST = 64  # sets of keys that are remembered


class ResultMemory:
    """The memory to allocate for an output of a validated graph."""

    def __init__(self, tensor: Tensor) -> None:
        assert tensor.dims is not None
        assert tensor.strides is not None
        assert tensor.data_type is not None
        self.tensor = tensor
        self.data_type: cudnnDataType_t = tensor.data_type
        self.shape: tuple[int, ...] = tensor.dims
        self.strides: tuple[int, ...] = tensor.strides
        if tensor.vector_count != 1:
            self.shape = (*self.shape, tensor.vector_count)
            self.strides = (*(step * tensor.vector_count for step in self.strides), 1)
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
