"""Operands of a graph on the host, to be sent to workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...device import DeviceBuffer, as_tensor
from ...raw.values import described
from ..run.tensor_memory import find_tensor, memory_bytes

if TYPE_CHECKING:
    from ..describe.tensor import Tensor

__all__ = ["host_operands"]


def host_operands(graph: Any, memory: Mapping[Any, Any]) -> dict[int, Any]:
    """Bytes of arrays, and numbers passed by value, by unique id.

    Parameters
    ----------
    graph : Graph
        Validated.
    memory : mapping
        As for ``Graph.execute``; arrays of NumPy too. Memory for outputs is left out.

    Raises
    ------
    TypeError
        For an address, of which it is not known how much memory is there.
    ValueError
        If an array has another size than its tensor.
    KeyError
        If a key is no operand of the graph.
    """
    outputs = {tensor.uid for tensor in graph.outputs}
    wanted = {tensor.uid: tensor for tensor in (*graph.inputs, *graph.outputs)}
    found: dict[int, Any] = {}
    for key, value in memory.items():
        tensor = find_tensor(key, wanted)
        if tensor.by_value:
            found[tensor.uid or 0] = value
        elif tensor.uid not in outputs:
            found[tensor.uid or 0] = _bytes(value, tensor)
    return found


def _bytes(value: Any, tensor: Tensor) -> NDArray[np.uint8]:
    if isinstance(value, np.ndarray):
        array: NDArray[Any] = value
    elif isinstance(value, DeviceBuffer):
        array = value.copy_to_host()
    elif isinstance(value, int):
        raise TypeError(
            f"memory: tensor {tensor.name!r}: workers need its contents: expected an array or a "
            f"tensor, got {described(value)}"
        )
    else:
        array = as_tensor(value).numpy()
    # Elements go in the order in which they lie in memory.
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    contents = np.ascontiguousarray(array.transpose(order)).reshape(-1).view(np.uint8)
    wanted = memory_bytes(tensor)
    if contents.nbytes != wanted:
        raise ValueError(
            f"memory: tensor {tensor.name!r} has {wanted} bytes, and the array {contents.nbytes}"
        )
    return contents
