"""The memory that a call reads and writes, and the part of it that has results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dtypes import data_type_name, numpy_dtype
from ...raw import live, records
from ...raw.enums import cudnnDataType_t
from ...raw.function import Parameter
from ...raw.memory import memory_pointer
from ...raw.typed_memory import typed
from ..moment import Moment
from ..numbers import Described, tensors

__all__ = ["REALS", "outputs", "used"]

REALS = ("float16", "bfloat16", "float32", "float64")
"""Data types whose elements are compared as numbers; other types are compared byte by byte."""


def used(moment: Moment) -> Iterator[tuple[int, Any, str, int]]:
    """The memory of a call: address, argument, parameter's name, and size in bytes if known.

    Workspaces are left out: they keep no data between calls.
    """
    if moment.execution is not None:
        for info, address in moment.execution.tensors:
            reach = _reach((info.dims, info.strides, info.data_type))
            yield address, None, moment.execution.roles.get(info.uid, "memory"), reach
        return
    if moment.function.__name__ == "cudnnBackendExecute":
        for address in moment.graphs.addresses(moment.arguments["variantPack"]):
            yield address, None, "memory", 0
        return
    for parameter in moment.function.parameters:
        value = moment.arguments.get(parameter.name)
        if parameter.type.kind == "device" and not _is_workspace(parameter):
            address = memory_pointer(value, parameter.name)
            if address:
                yield address, value, parameter.name, _nbytes(moment, parameter, value)


def outputs(moment: Moment) -> Iterator[tuple[int, Any, str, int | None, str]]:
    """The results of a call: the four values of `used`, and a data type's name or "bytes".

    The size is None for a result that may reach to the end of its allocation.
    """
    found: set[str] = set()
    for name, address, described in tensors(
        moment.function, moment.arguments, moment.execution, outputs=True
    ):
        found.add(name)
        memory = moment.arguments.get(name)
        label = name if memory is not None else "memory"
        yield address, memory, label, _reach(described), _dtype(described[2])
    if moment.execution is not None:
        return
    for parameter in moment.function.parameters:
        is_result = parameter.type.kind == "device" and parameter.direction != "in"
        hidden = _is_workspace(parameter) or "reserve" in parameter.name.lower()
        if is_result and not hidden and parameter.name not in found:
            value = moment.arguments.get(parameter.name)
            place = memory_pointer(value, parameter.name)
            if place:
                size = _nbytes(moment, parameter, value)
                yield place, value, parameter.name, size or None, _dtype(_any_type(moment))


def _is_workspace(parameter: Parameter) -> bool:
    return "workspace" in parameter.name.lower()


def _nbytes(moment: Moment, parameter: Parameter, value: Any) -> int:
    """Size in bytes from the descriptor or size parameter, or the memory; 0 if unknown."""
    for name in parameter.described_by:
        by = moment.arguments.get(name)
        record: Any = records.record(by) if live.address(by) else None
        if getattr(record, "size_in_bytes", 0):
            return int(record.size_in_bytes)
        number = getattr(by, "value", by)
        if isinstance(number, int) and not live.address(by):
            return number
    says = typed(value)
    return 0 if says is None else says.nbytes


def _any_type(moment: Moment) -> cudnnDataType_t | None:
    """The data type of one of the call's descriptors; None without one."""
    for value in moment.arguments.values():
        values = records.record(value) if live.address(value) else None
        data_type = getattr(values, "data_type", None)
        if data_type is not None:
            return cudnnDataType_t(data_type)
    return None


def _reach(described: Described) -> int:
    """Bytes from the first element to the last."""
    dims, strides, data_type = described
    count = sum((n - 1) * abs(step) for n, step in zip(dims, strides, strict=True)) + 1
    try:
        return count * numpy_dtype(data_type).itemsize
    except TypeError:
        return count


def _dtype(data_type: cudnnDataType_t | None) -> str:
    """The data type's name for real numbers, which are compared with a tolerance; else "bytes"."""
    name = data_type_name(data_type) if data_type is not None and data_type.known else "bytes"
    return name if name in REALS else "bytes"
