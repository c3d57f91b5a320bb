"""An operation with its operands, and how they are made."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle
from cudnn_ctypes.runtime import copy

__all__ = ["Case", "Operands", "tensors_of"]

C = TypeVar("C")


@dataclass
class Case:
    """An operation with operands.

    Attributes
    ----------
    operation
        A function or a bound method; it is called as ``operation(*args, **kwargs)``.
    """

    operation: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __call__(self) -> Any:
        return self.operation(*self.args, **self.kwargs)

    def bind(self) -> Any:
        return cudnn.bind(self.operation, *self.args, **self.kwargs)

    @property
    def function(self) -> Any:
        """The operation; of a bound method its function."""
        return getattr(self.operation, "__func__", self.operation)

    @property
    def arguments(self) -> dict[str, Any]:
        """All arguments of the function, by name."""
        owner = (self.operation.__self__,) if self.function is not self.operation else ()
        signature = inspect.signature(self.function)
        return dict(signature.bind(*owner, *self.args, **self.kwargs).arguments)

    @property
    def parameters(self) -> set[str]:
        """The names of all that the function can be given."""
        return set(inspect.signature(self.function).parameters)

    @property
    def launcher(self) -> Any:
        """What finds the operation's launches by their keys; None if nothing does."""
        return getattr(self.function, "_operation", None)

    @property
    def operands(self) -> list[DeviceTensor | DeviceBuffer]:
        """All memory that the call is given."""
        return list(_memory_in((*self.args, *self.kwargs.values())))

    def contents(self) -> list[NDArray[np.uint8]]:
        """The bytes of the operands."""
        return [copy.read(memory, 0, memory.nbytes) for memory in self.operands]

    def restore(self, contents: list[NDArray[np.uint8]]) -> None:
        for memory, data in zip(self.operands, contents, strict=True):
            copy.write(memory, 0, data)

    def permuted(self, seed: int) -> list[NDArray[np.uint8]]:
        """Other contents: the elements of floating-point operands in another order."""
        rng, result = np.random.default_rng(seed), self.contents()
        for i, memory in enumerate(self.operands):
            if isinstance(memory, DeviceTensor) and memory.dtype.kind not in "iub":
                elements = result[i].view(f"V{memory.dtype.itemsize}")
                result[i] = rng.permutation(elements).view(np.uint8)
        return result


def _memory_in(value: Any) -> Iterator[DeviceTensor | DeviceBuffer]:
    if isinstance(value, (DeviceTensor, DeviceBuffer)):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _memory_in(each)
    elif isinstance(value, cudnn.FusedOpsVariantParamPack):
        for _, memory in value._kept.values():
            yield from _memory_in(memory)
    else:  # weights; a dropout descriptor's states
        for name in ("space", "states"):
            memory = None if isinstance(value, type) else getattr(value, name, None)
            if isinstance(memory, (DeviceTensor, DeviceBuffer)):
                yield memory


def tensors_of(result: Any) -> list[DeviceTensor]:
    """The tensors that an operation returns, without reserve spaces."""
    parts = result if isinstance(result, tuple) else (result,)
    return [
        part for part in parts if isinstance(part, DeviceTensor) and part.dtype != np.dtype("uint8")
    ]


class Operands(ExitStack):
    """Makes operands for a handle, and closes what owns."""

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self.handle = handle
        self._seed = 0

    def normal(self, *shape: int, dtype: Any = "float32", **options: Any) -> DeviceTensor:
        self._seed += 1
        values = np.random.default_rng(self._seed).standard_normal(shape)
        return DeviceTensor.from_numpy(values.astype(np.dtype(dtype)), **options)

    def half(self, *shape: int) -> DeviceTensor:
        return self.normal(*shape, dtype="float16", layout="NHWC")

    def full(self, value: float, *shape: int) -> DeviceTensor:
        return DeviceTensor.full(shape, value, "float32")

    def own(self, made: AbstractContextManager[C]) -> C:
        return self.enter_context(made)

    def case(self, operation: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Case:
        """An operation that takes the handle."""
        return Case(operation, (self.handle, *args), kwargs)

    def on_stream(self, operation: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Case:
        """An operation that takes a stream: the handle's."""
        return Case(operation, args, {**kwargs, "stream": self.handle.stream})
