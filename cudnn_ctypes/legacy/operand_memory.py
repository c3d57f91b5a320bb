"""An operand's memory, checked, in the form in which C receives it; and numbers that users pass."""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any

from ..dtypes import data_type_name, numpy_dtype
from ..handle import Handle
from ..raw import CUDNN_DATA_DOUBLE, CUDNN_DATA_FLOAT, cudnnDataType_t
from ..runtime import DeviceBuffer, DeviceTensor, as_tensor
from ..runtime.launching.plan import Memory
from .tensor import FilterDescriptor, TensorDescriptor


def accumulator(data_type: cudnnDataType_t) -> cudnnDataType_t:
    """The data type in which cuDNN computes: float64 for float64, else float32."""
    return CUDNN_DATA_DOUBLE if data_type == CUDNN_DATA_DOUBLE else CUDNN_DATA_FLOAT


def real(name: str, value: Any) -> float:
    """`value`, the argument called `name`, as a float.

    Raises TypeError if it is no number.
    """
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except Exception:  # numbers of other libraries raise errors of any class
        raise TypeError(f"{name}: expected a number, got {value!r}") from None


def refuse_beta(name: str, beta: float) -> None:
    """Refuse a beta other than 0 for a result that is still to be made."""
    if real("beta", beta) != 0:
        raise ValueError(f"{name}: needed with beta={beta}, which adds to what {name} holds")


def shaped(name: str, value: Any, on: Any, instead: str) -> DeviceTensor:
    """`value` as `imported`, which is no address or buffer: the error says what to pass instead."""
    if isinstance(value, (int, c_void_p, DeviceBuffer)) and not isinstance(value, bool):
        raise TypeError(f"{name}: an address or a DeviceBuffer has no shape: pass {instead}")
    return imported(name, value, on)


def imported(name: str, value: Any, on: Any) -> DeviceTensor:
    """`value` as a ``DeviceTensor`` for work on the stream of a handle or of operands."""
    if isinstance(value, DeviceTensor):
        return value
    try:
        return as_tensor(value, stream=on.stream)
    except (TypeError, BufferError) as error:
        raise type(error)(f"{name}: {error}") from None


def fitting(name: str, value: Any, desc: Any, handle: Handle) -> Any:
    """`value`, imported; a tensor must have the type, shape and strides of the descriptor.

    Dimensions of size 1 count for nothing.
    """
    if is_address(name, value) or isinstance(value, DeviceBuffer):
        return value
    tensor = imported(name, value, handle)
    if tensor.data_type != desc.data_type:
        raise TypeError(
            f"{name}: expected {data_type_name(desc.data_type)}, got "
            f"{data_type_name(tensor.data_type)}"
        )
    given, wanted = (
        [pair for pair in zip(each.shape, each.strides, strict=True) if pair[0] != 1]
        for each in (tensor, desc)
    )
    if [size for size, _ in given] != [size for size, _ in wanted]:
        raise ValueError(f"{name}: expected shape {desc.shape}, got {tensor.shape}")
    if given != wanted:
        raise ValueError(
            f"{name}: expected the strides {desc.strides} of shape {desc.shape}, got "
            f"{tensor.strides}"
        )
    return tensor


def is_address(name: str, value: Any) -> bool:
    """Whether the operand `name` is given by its address, which must not be NULL.

    Raises ValueError for NULL: some of cuDNN's kernels would write there, and end the CUDA context.
    """
    if isinstance(value, bool) or not isinstance(value, (int, c_void_p)):
        return False
    if not (value.value if isinstance(value, c_void_p) else value):
        raise ValueError(f"{name}: expected device memory, got NULL")
    return True


def check_memory(
    name: str,
    value: Any,
    desc: TensorDescriptor | FilterDescriptor,
    handle: Handle,
    *,
    written: bool = False,
) -> Memory:
    """The memory of the operand `name`, which must be large enough for `desc`.

    - `value`: the size behind an address cannot be checked.

    Raises TypeError if it is no device memory, or a tensor of another data type. Raises ValueError
    if it is NULL, too small, or read-only where it is written; the message gives both sizes.
    """
    if is_address(name, value):
        return Memory(name, value, written=written)
    memory = value if isinstance(value, DeviceBuffer) else imported(name, value, handle)
    if isinstance(memory, DeviceTensor):
        if memory.dtype != numpy_dtype(desc.data_type):
            raise TypeError(
                f"{name}: a tensor of {data_type_name(memory.data_type)}, but {name}_desc says "
                f"{data_type_name(desc.data_type)}"
            )
        if written and memory.readonly:
            raise ValueError(f"{name}: the library that this tensor comes from made it read-only")
    _ = memory._as_parameter_  # ClosedError, or another device's memory
    if memory.nbytes < desc.size_in_bytes:
        raise ValueError(
            f"{name}: {memory.nbytes} bytes are too small for {desc!r}, which takes "
            f"{desc.size_in_bytes} bytes"
        )
    return Memory(name, memory, written=written)


def room(name: str, value: Any, needed: int, on: Any) -> tuple[Memory | None, int]:
    """Memory without a shape, and its size in bytes; `on` as for `imported`.

    Raises TypeError if it is an address, whose size nobody knows, or no device memory. Raises
    ValueError if it has fewer bytes than `needed`.
    """
    if value is None and needed:
        raise TypeError(f"{name}: {needed} bytes of device memory are needed, got None")
    if value is None:
        return None, 0
    if is_address(name, value):
        raise TypeError(
            f"{name}: the size behind an address is not known: pass a DeviceBuffer or a tensor"
        )
    memory = value if isinstance(value, DeviceBuffer) else imported(name, value, on)
    if memory.nbytes < needed:
        raise ValueError(f"{name}: {memory.nbytes} bytes are too small, {needed} are needed")
    return (Memory(name, memory, written=True) if memory.nbytes else None), memory.nbytes
