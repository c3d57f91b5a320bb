"""A check of a call's outputs for NaN and infinity; they are copied to the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import numpy_dtype
from ..raw import live, mode, records
from ..raw.descriptors import Filter, Tensor
from ..raw.enums import cudnnDataType_t
from ..raw.function import Function, Parameter
from ..raw.memory import memory_pointer
from ..runtime import DeviceTensor, cuda
from ..runtime.borrowed import Borrowed
from .backend_calls import Execution

__all__ = ["Described", "not_finite", "tensors"]


def not_finite(
    function: Function, arguments: Mapping[str, Any], execution: Execution | None, *, outputs: bool
) -> dict[str, str]:
    """The names of tensors with NaN or infinity, and the numbers of these elements as text.

    Parameters
    ----------
    execution : Execution, optional
        The operands of a call of ``cudnnBackendExecute``.
    outputs : bool
        True to check the call's outputs, False for its inputs.
    """
    handle = arguments.get("handle")
    stream = records.record(handle) if live.address(handle) else None
    if handle is None or (not mode.reference_device_active and cuda.is_capturing(stream or 0)):
        return {}
    found: dict[str, str] = {}
    for name, address, described in tensors(function, arguments, execution, outputs=outputs):
        if not _is_float(described[2]):
            continue
        text = _counts(_values(address, described, stream))
        if text:
            found[name] = text
    return found


Described = tuple[tuple[int, ...], tuple[int, ...], cudnnDataType_t]
"""Shape, strides and data type."""


def tensors(
    function: Function, arguments: Mapping[str, Any], execution: Execution | None, *, outputs: bool
) -> Iterator[tuple[str, int, Described]]:
    """The tensors that a call writes or reads: name, address, and shape, strides and data type."""
    if execution is not None:
        for info, address in execution.tensors:
            is_plain = info.ragged is None and info.vector_count == 1
            if is_plain and (info.uid in execution.outputs) == outputs:
                yield info.name, address, (info.dims, info.strides, info.data_type)
        return
    for parameter in function.parameters:
        if parameter.type.kind != "device" or (parameter.direction != "in") != outputs:
            continue
        described = _described(parameter, arguments)
        address = memory_pointer(arguments.get(parameter.name), parameter.name)
        if described is not None and address:
            yield parameter.name, address, described


def _described(parameter: Parameter, arguments: Mapping[str, Any]) -> Described | None:
    """Shape, strides and data type from the descriptor or else the memory; None if unknown."""
    for name in parameter.described_by:
        by = arguments.get(name)
        values = records.record(by) if live.address(by) else None
        if isinstance(values, (Tensor, Filter)):
            return values.shape, values.strides, values.data_type
        if not isinstance(by, int) and values is not None:
            return None  # sequences: the memory behind a short one may be unwritten
    memory = arguments.get(parameter.name)
    if isinstance(memory, DeviceTensor) and not parameter.described_by:
        return memory.shape, memory.strides, memory.data_type
    return None


def _is_float(data_type: cudnnDataType_t) -> bool:
    try:
        dtype = numpy_dtype(data_type)
    except TypeError:
        return False
    return dtype.kind == "f" or (dtype.kind == "V" and dtype.name.startswith(("bfloat", "float")))


def _values(address: int, described: Described, stream: int | None) -> NDArray[Any]:
    shape, strides, data_type = described
    reach = sum((size - 1) * abs(step) for size, step in zip(shape, strides, strict=True)) + 1
    on_host = mode.reference_device_active
    memory = Borrowed(
        address,
        reach * numpy_dtype(data_type).itemsize,
        device_id=0 if on_host else cuda.current_ordinal(),
        on_host=on_host,
        stream=stream,
        keeper=None,
    )
    tensor = object.__new__(DeviceTensor)
    tensor._set(memory, shape, strides, data_type, readonly=True)
    return tensor.numpy(stream=stream)


def _counts(values: NDArray[Any]) -> str:
    finite = np.isfinite(values)
    if finite.all():
        return ""
    nans = int(np.isnan(values).sum())
    infinite = int((~finite).sum()) - nans
    said = [f"{count} {what}" for count, what in ((nans, "NaN"), (infinite, "infinite")) if count]
    return f"{' and '.join(said)} of {values.size}"
