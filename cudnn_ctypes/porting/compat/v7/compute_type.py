"""The compute type of a convolution for programs that do not set it.

cuDNN 2 to 5 took it from the tensors; a descriptor of cuDNN 9 always has one. So a descriptor set
without it gets float, and is set to double before it is used with tensors of doubles.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .... import raw
from ....raw.descriptors import Convolution, Tensor, record
from ....raw.function import Function
from ....raw.records import place

__all__ = ["SETTLING", "note_untyped", "settle", "settle_untyped", "settled"]

_untyped: dict[int, Any] = {}  # by address: the record's place when it was set without a type


def _address(descriptor: Any) -> Any:
    return getattr(getattr(descriptor, "_as_parameter_", descriptor), "value", None)


def note_untyped(convolution: Any) -> None:
    """Note that a convolution descriptor was set without a compute type."""
    _untyped[_address(convolution)] = place(convolution)


def settle_untyped(convolution: Any, tensor: Any) -> None:
    """`settle`, if the descriptor was set without a type, and not set again since."""
    address = _address(convolution)
    if address in _untyped and _untyped[address] is place(convolution):
        settle(convolution, tensor)
        note_untyped(convolution)


def settle(convolution: Any, tensor: Any) -> None:
    """Set a convolution's compute type: double for a tensor of doubles, else float.

    A descriptor with compute type half is not changed.
    """
    held, of_tensor = record(convolution), record(tensor)
    if not isinstance(held, Convolution) or not isinstance(of_tensor, Tensor):
        return  # the call that follows refuses it
    double = of_tensor.data_type == raw.CUDNN_DATA_DOUBLE
    if (held.compute_data_type == raw.CUDNN_DATA_DOUBLE) == double:
        return
    raw.cudnnSetConvolutionNdDescriptor(
        convolution,
        len(held.padding),
        held.padding,
        held.stride,
        held.dilation,
        held.mode,
        raw.CUDNN_DATA_DOUBLE if double else raw.CUDNN_DATA_FLOAT,
    )


_KINDS = raw.cudnnConvolutionDescriptor_t, raw.cudnnTensorDescriptor_t


def _positions(function: Function) -> tuple[int, int] | None:
    """The positions of a function's convolution and first tensor; None if it lacks one."""
    bases = [each.type.base for each in function.parameters]
    if not all(kind in bases for kind in _KINDS):
        return None
    convolution, tensor = (bases.index(kind) for kind in _KINDS)
    return convolution, tensor


SETTLING = frozenset(name for name, each in raw.FUNCTIONS.items() if _positions(each))
"""The functions of cuDNN 9 that take a convolution and tensors."""


class _Settled:
    """A function of layer 1 that first sets the convolution's compute type."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self.unchecked = self._settling(function.unchecked)
        self._checked = self._settling(function)

    def _settling(self, function: Callable[..., Any]) -> Callable[..., Any]:
        positions = _positions(self._function)
        names = [each.name for each in self._function.parameters]

        def call(*args: Any, **kwargs: Any) -> Any:
            if _untyped and positions is not None:
                arguments = {**dict(zip(names, args, strict=False)), **kwargs}
                settle_untyped(*(arguments.get(names[index]) for index in positions))
            return function(*args, **kwargs)

        return call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._checked(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __repr__(self) -> str:
        return repr(self._function)


@functools.cache
def settled(name: str) -> Any:
    """The function of this name, wrapped to set the convolution's compute type first."""
    return _Settled(raw.FUNCTIONS[name])
