"""Device memory for the tensors of a graph that the user gives none for, to time it with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ....dtypes import data_type_name, element_bits, numpy_dtype
from ....raw import cudnnDataType_t as Type
from ....raw.values import described
from ....runtime import DeviceBuffer, as_tensor
from ...run.tensor_memory import find_tensor, memory_bytes

if TYPE_CHECKING:
    from ....handle import Handle
    from ...describe.tensor import Tensor

_BLOCK = 1 << 20  # random elements; longer tensors repeat them
# Lengths, offsets, page tables, seeds: a random one would be read as an address.
MEANING = (Type.CUDNN_DATA_INT32, Type.CUDNN_DATA_INT64)


def random_memory(
    inputs: Collection[Tensor],
    outputs: Collection[Tensor],
    handle: Handle,
    own: Callable[[DeviceBuffer], DeviceBuffer],
) -> dict[Tensor, DeviceBuffer]:
    """Random numbers for inputs, memory as it comes for outputs.

    `own` is called with each buffer as soon as there is one, to close it at the end.

    Raises ValueError for inputs whose values decide what is computed: integers and numbers passed
    by value.
    """
    for tensor in inputs:
        if tensor.by_value:
            raise ValueError(f"tensor {tensor.name!r} is passed by value: give a number for it")
        if tensor.data_type in MEANING:
            raise ValueError(
                f"tensor {tensor.name!r}: random {data_type_name(tensor.data_type)} numbers would "
                "have no meaning; give memory for it"
            )
    found: dict[Tensor, DeviceBuffer] = {}
    rng = np.random.default_rng(0)
    for tensor in (*inputs, *outputs):
        nbytes = memory_bytes(tensor)
        buffer = own(DeviceBuffer(nbytes, device=handle.device, stream=handle.stream))
        if tensor in inputs:
            assert tensor.data_type is not None
            contents = random_bytes(rng, tensor.data_type, nbytes)
            buffer.copy_from_host(contents, stream=handle.stream)
        found[tensor] = buffer
    return found


def random_bytes(rng: np.random.Generator, data_type: Any, nbytes: int) -> NDArray[np.uint8]:
    """Numbers of a data type, none of them infinite or NaN.

    Normally distributed where the type is signed and floating, small where it is an integer, and
    powers of two up to one for scales of blocks.
    """
    bits = element_bits(data_type)
    count = min(-(-nbytes * 8 // bits), _BLOCK)
    if bits < 8:  # several in a byte; all patterns are finite numbers
        block = rng.integers(0, 256, -(-count * bits // 8), dtype=np.uint8)
    else:
        dtype = numpy_dtype(data_type)
        if dtype.kind in "iub":
            low = 0 if dtype.kind != "i" else -4
            values: NDArray[Any] = rng.integers(low, 2 if dtype.kind == "b" else 5, count)
        elif data_type == Type.CUDNN_DATA_FP8_E8M0:
            values = 2.0 ** rng.integers(-3, 1, count)
        else:
            values = rng.standard_normal(count)
        block = values.astype(dtype).view(np.uint8).ravel()
    return np.resize(block, nbytes)


def host_operands(graph: Any, memory: Mapping[Any, Any]) -> dict[int, Any]:
    """Bytes of arrays, and numbers passed by value, by unique id, for a validated graph.

    `memory` is as for ``Graph.execute``; arrays of NumPy too, of the tensor's dims and data type,
    or of the bytes of its memory. Memory for outputs is left out; addresses are refused.
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
    return _laid_out(array, tensor) if array.shape == tensor.dims else _as_it_is(array, tensor)


def _laid_out(array: NDArray[Any], tensor: Tensor) -> NDArray[np.uint8]:
    """The memory of a tensor with these elements."""
    assert tensor.data_type is not None
    assert tensor.strides is not None
    size = array.dtype.itemsize
    if 8 * size != element_bits(tensor.data_type) or tensor.vector_count != 1:
        return _as_it_is(array, tensor)
    if array.dtype != numpy_dtype(tensor.data_type):
        raise ValueError(
            f"memory: tensor {tensor.name!r} is of {data_type_name(tensor.data_type)}, and the "
            f"array of {array.dtype}"
        )
    contents = np.zeros(memory_bytes(tensor), np.uint8)
    strides = [stride * size for stride in tensor.strides]
    as_strided(contents.view(array.dtype), array.shape, strides)[...] = array
    return contents


def _as_it_is(array: NDArray[Any], tensor: Tensor) -> NDArray[np.uint8]:
    """The bytes of an array that stands for the memory itself, in whatever shape."""
    contents = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    wanted = memory_bytes(tensor)
    if contents.nbytes != wanted:
        raise ValueError(
            f"memory: tensor {tensor.name!r} has {wanted} bytes, and the array {contents.nbytes}"
        )
    return contents
