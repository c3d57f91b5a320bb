"""The choice of algorithms of convolutions, and their compute types, as in cuDNN 7 and before."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from ctypes import c_int, c_size_t
from typing import Any

from .... import raw
from ....raw.descriptors import Convolution, Tensor, record
from ....raw.function import Function
from ....raw.records import place
from .declarations import cudnnAlgorithm_t, parameters_of
from .old_function import Arguments, Refused, create_object, destroy_object, held_object, implements


@implements("cudnnCreateAlgorithmDescriptor(cudnnAlgorithmDescriptor_t *algoDesc)")
def create(a: Arguments) -> None:
    a.require("algoDesc")
    create_object(a.algoDesc, cudnnAlgorithm_t())


@implements(
    "cudnnSetAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc, cudnnAlgorithm_t algorithm)"
)
def set_(a: Arguments) -> None:
    _assign(held_object(a.algoDesc, "algoDesc"), a.algorithm)


@implements(
    """
    cudnnGetAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t algoDesc,
    cudnnAlgorithm_t *algorithm)
    """
)
def get(a: Arguments) -> None:
    a.require("algorithm")
    _assign(a.algorithm, held_object(a.algoDesc, "algoDesc"))


@implements(
    """
    cudnnCopyAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t src,
    cudnnAlgorithmDescriptor_t dest)
    """
)
def copy(a: Arguments) -> None:
    _assign(held_object(a.dest, "dest"), held_object(a.src, "src"))


@implements("cudnnDestroyAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc)")
def destroy(a: Arguments) -> None:
    destroy_object(a.algoDesc, "algoDesc")


def _assign(target: Any, source: Any) -> None:
    ctypes.memmove(ctypes.byref(target), ctypes.byref(source), ctypes.sizeof(cudnnAlgorithm_t))


_MOST = 16  # more than any direction has algorithms, counting math types
_SHORT = {"Forward": "Fwd", "BackwardData": "BwdData", "BackwardFilter": "BwdFilter"}


def _preferred(call: str, a: Arguments) -> None:
    a.require("algo")
    descriptors = [value for name, value in a.items() if name.endswith("Desc")]
    a.put(algo=choose(call, _limit(a), a.handle, *descriptors))


for _call, _short in _SHORT.items():
    _parameters = parameters_of(
        f"cudnnGetConvolution{_call}Algorithm_v7",
        requestedAlgoCount=f"cudnnConvolution{_short}Preference_t preference",
        returnedAlgoCount="size_t memoryLimitInBytes",
        perfResults=f"cudnnConvolution{_short}Algo_t *algo",
    )
    _preferred_by = functools.partial(_preferred, _call)
    implements(f"cudnnGetConvolution{_call}Algorithm({_parameters})")(_preferred_by)


def choose(call: str, limit: int | None, handle: Any, *operands: Any) -> Any:
    """The first usable algorithm whose workspace is within the limit.

    - `call`: "Forward", "BackwardData" or "BackwardFilter".
    - `limit`: bytes; None for any number.
    - `*operands`: the descriptors, in C's order.

    Raises Refused NOT_SUPPORTED if there is none.
    """
    settle_untyped(operands[2], operands[1] if call == "BackwardData" else operands[0])
    workspace_size = getattr(raw, f"cudnnGetConvolution{call}WorkspaceSize")
    results, count = (getattr(raw, f"cudnnConvolution{_SHORT[call]}AlgoPerf_t") * _MOST)(), c_int()
    find = getattr(raw, f"cudnnGetConvolution{call}Algorithm_v7")
    find(handle, *operands, _MOST, count, results)
    usable = [each.algo for each in results[: count.value] if not each.status]
    for algorithm in usable:
        # The program's workspace will be for the convolution's own math type, not the result's.
        size = c_size_t()
        known = not workspace_size.unchecked(handle, *operands, algorithm, size)
        if known and (limit is None or size.value <= limit):
            return algorithm
    raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, _why_none(usable, limit))


def _limit(a: Arguments) -> int | None:
    """The largest size of the workspace in bytes; None for no limit."""
    preference = a.preference.name
    if preference.endswith("_NO_WORKSPACE"):
        return 0
    if preference.endswith("_SPECIFY_WORKSPACE_LIMIT"):
        return int(a.memoryLimitInBytes)
    return None


def _why_none(usable: list[Any], limit: int | None) -> str:
    if not usable:
        return "no algorithm supports this convolution"
    return f"none of {len(usable)} algorithms does with a workspace of {limit} bytes"


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
