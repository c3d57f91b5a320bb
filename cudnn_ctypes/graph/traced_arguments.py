"""Arguments and results of traced functions: keys, tensors of the graph, and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..raw.memory import memory_pointer
from ..runtime import DeviceTensor
from .describe.tensor import Tensor
from .run.given_memory import imported, kind_of

if TYPE_CHECKING:
    from ..handle import Handle
    from .graph import Graph

__all__ = ["as_input", "leaves", "look", "quick_key", "rebuilt"]

_ALIGNMENT = 16  # bytes; more is of no use to cuDNN


def _is_tensor(value: Any) -> bool:
    """Whether an argument stands for a tensor of the graph."""
    return isinstance(value, Tensor) or (
        hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, np.generic)
    )


def look(name: str, value: Any, memory: list[Any], handle: Handle | None) -> Any:
    """The part of the key that an argument is; its memory is added to `memory`."""
    kind = kind_of(value.__class__)
    if kind == "torch":
        memory.append(value)
        address = value.data_ptr()
        return value.dtype, value.shape, value.stride(), value.device, _alignment(address)
    if kind == "foreign":
        value = imported(name, value, handle)
    if isinstance(value, DeviceTensor):
        memory.append(value)
        aligned = _alignment(value.ptr)
        return value.data_type, value.shape, value.strides, value.device_id, aligned
    if isinstance(value, (tuple, list)):
        return type(value), *[look(name, each, memory, handle) for each in value]
    if isinstance(value, dict):
        return dict, *[(key, look(name, each, memory, handle)) for key, each in value.items()]
    if isinstance(value, Tensor):
        return Tensor, value
    if _is_tensor(value):
        memory_pointer(value, name)  # says what is wrong with host memory
    return type(value), value.hex() if isinstance(value, float) else value


def quick_key(args: tuple[Any, ...], kwargs: dict[str, Any], memory: list[Any]) -> Any:
    """The key of PyTorch tensors and plain values; finer than the key that `look` gives.

    Raises
    ------
    KeyError
        For an argument of another class.
    """
    key = [_quick[each.__class__](each, memory) for each in args]
    for name, each in kwargs.items():
        key += name, _quick[each.__class__](each, memory)
    return tuple(key)


def _quick_torch(value: Any, memory: list[Any]) -> Any:
    memory.append(value)
    part = value.dtype, value.shape, value.stride(), value.device
    return part, value.data_ptr() & (_ALIGNMENT - 1)


def _quick_value(value: Any, memory: list[Any]) -> Any:
    return value.__class__, value


def _quick_float(value: float, memory: list[Any]) -> Any:
    return float, value.hex()  # 0.0 equals -0.0, and NaN does not equal itself


class _Quick(dict[type, Callable[[Any, list[Any]], Any]]):
    """By class the functions for `quick_key`; PyTorch's when the first tensor comes."""

    def __missing__(self, kind: type) -> Callable[[Any, list[Any]], Any]:
        if kind_of(kind) != "torch":
            raise KeyError(kind)
        self[kind] = _quick_torch
        return _quick_torch


_quick = _Quick({**dict.fromkeys((int, bool, str, type(None)), _quick_value), float: _quick_float})


def _alignment(address: int) -> int:
    """The largest power of two up to 16 that divides an address."""
    return min(address & -address, _ALIGNMENT) or _ALIGNMENT


def as_input(graph: Graph, name: str, value: Any, inputs: list[Tensor]) -> Any:
    """An argument with tensors of the graph in place of memory; these are added to `inputs`."""
    if isinstance(value, (tuple, list)):
        entries = [as_input(graph, f"{name}_{i}", each, inputs) for i, each in enumerate(value)]
        return entries if isinstance(value, list) else tuple(entries)
    if isinstance(value, dict):
        return {key: as_input(graph, f"{name}_{key}", v, inputs) for key, v in value.items()}
    if not _is_tensor(value):
        return value
    tensor = graph.tensor_like(value, name=name)
    address = _address(value)
    tensor.alignment = _alignment(address) if address else _ALIGNMENT
    inputs.append(tensor)
    return tensor


def _address(value: Any) -> int:
    """The address of device memory; 0 for a description."""
    if isinstance(value, DeviceTensor):
        return value.ptr
    is_torch = kind_of(value.__class__) == "torch"
    return int(value.data_ptr()) if is_torch and value.device.type != "meta" else 0


def leaves(returned: Any) -> Iterator[Any]:
    """The members of tuples, lists and dicts, at any depth."""
    if isinstance(returned, (tuple, list)):
        for each in returned:
            yield from leaves(each)
    elif isinstance(returned, dict):
        yield from leaves(list(returned.values()))
    else:
        yield returned


def rebuilt(returned: Any, results: Mapping[str, Any]) -> Any:
    """The function's return value with memory, found by name, in place of each tensor."""
    if isinstance(returned, dict):
        return {key: rebuilt(each, results) for key, each in returned.items()}
    if isinstance(returned, (tuple, list)):
        parts = [rebuilt(each, results) for each in returned]
        put: Callable[[list[Any]], Any] = getattr(type(returned), "_make", type(returned))
        return put(parts)
    return results[returned.name]
