"""Memory that calls use: the allocation that holds an address, and the numbers there."""

from __future__ import annotations

import importlib
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import numpy_dtype
from ..raw import backend, host_blocks, live, mode, records
from ..raw.attributes import kind_name
from ..raw.descriptors import Filter, Tensor
from ..raw.enums import cudnnDataType_t
from ..raw.function import Function
from ..raw.memory import memory_pointer
from ..raw.parameter import Parameter
from ..raw.strides import extent
from ..raw.typed_memory import is_torch
from ..runtime import DeviceTensor
from ..runtime.foreign import Borrowed
from .backend_calls import Execution
from .records import Argument, CallRecord

OWN, TORCH = "cudnn_ctypes", "PyTorch"


@dataclass(eq=False)
class Region:
    """One allocation.

    - `key`: unique among the allocations that exist.
    - `address`: address of the first byte.
    - `nbytes`: size in bytes; None if unknown.
    - `owner`: "cudnn_ctypes", "PyTorch" or, for other owners, "".
    - `name`: the session's name for the allocation.
    - `place`: file and line that allocated it, or freed it once it is freed; "" and 0 if unknown.
    - `is_gone`: returns whether it was freed, for allocations whose freeing is not reported.
    """

    key: Any
    address: int
    nbytes: int | None
    owner: str = ""
    name: str = ""
    place: tuple[str, int] = ("", 0)
    is_gone: Callable[[], bool] | None = None

    def contains(self, address: int) -> bool:
        """Whether the allocation contains an address."""
        return self.address <= address < self.address + (self.nbytes or 1)


def about_memory(what: str, region: Region) -> CallRecord:
    """The record of an allocation or its end, in the form of a call of a C function `what`."""
    place: dict[str, Any] = {"allocation": region.name, "offset": 0}
    if region.nbytes is not None:
        place["nbytes"] = region.nbytes
    arguments = [Argument("memory", place)]
    if region.owner:
        arguments.append(Argument("by", region.owner))
    file, line = region.place
    return CallRecord(0, what, tuple(arguments), "", file=file, line=line)


def find(address: int, memory: Any, known: Iterable[Region]) -> Region:
    """The allocation that contains an address, without a name.

    - `memory`: the program's argument; None if only the address is known.
    - `known`: existing allocations; one of them is returned if it contains the address.
    """
    if is_torch(type(memory)):
        return _storage(memory)
    for region in known:
        if region.owner == TORCH and region.contains(address):
            return region
    block = mode.runtime.block_at(address)
    if block is None:
        return Region((address, address), address, None)
    return _block_of_torch(address) or Region(*block)


def _storage(tensor: Any) -> Region:
    """The storage of a PyTorch tensor; PyTorch reuses its address for later storages."""
    storage = tensor.untyped_storage()
    base, nbytes = storage.data_ptr(), storage.nbytes()
    region = Region((TORCH, base, nbytes), base, nbytes, TORCH)
    with suppress(ImportError, AttributeError):  # a version without these functions
        reductions = importlib.import_module("torch.multiprocessing.reductions")
        reference = reductions.StorageWeakRef(storage)
        region.key = (TORCH, reference.cdata)  # unique while the reference lives
        region.is_gone = reference.expired
    return region


def _block_of_torch(address: int) -> Region | None:
    """The block in PyTorch's memory; the driver only knows PyTorch's large segments."""
    torch = sys.modules.get("torch")
    with suppress(Exception):  # a version without these functions
        if torch is None or not torch.cuda.is_initialized():
            return None
        for segment in torch.cuda.memory_snapshot():
            start = int(segment["address"])
            if not start <= address < start + int(segment["total_size"]):
                continue
            for block in segment["blocks"]:
                size = int(block["size"])
                if start <= address < start + size:
                    return Region((TORCH, start, size), start, size, TORCH)
                start += size
    return None


class Objects:
    """Handles and descriptors: "handle", "tensor1", "execution_plan2", by their addresses."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], str] = {}
        self._counts: dict[str, int] = {}

    def name(self, kind: type, address: int | None, *, new: bool = False) -> str | None:
        """The name of the object at an address; `new` for an object just created."""
        if not address:
            return None
        word = _word(kind, address)
        # A backend descriptor that C filled in an array keeps its first name.
        key = (kind.__name__, address)
        if new or key not in self._names:
            count = self._counts[word] = self._counts.get(word, 0) + 1
            self._names[key] = word if word == "handle" and count == 1 else f"{word}{count}"
        return self._names[key]

    def forget(self, kind: type, address: int | None) -> None:
        """Drop the name of a destroyed object: another may get its address."""
        self._names.pop((kind.__name__, address or 0), None)


def _word(kind: type, address: int) -> str:
    known = backend.known(address) if kind.__name__ == "cudnnBackendDescriptor_t" else None
    if known is not None and known.kind is not None:
        return kind_name(known.kind)
    word = kind.__name__.removeprefix("cudnn").removeprefix("cuda").removesuffix("_t")
    return word.removesuffix("Descriptor").lower() or "descriptor"


class Places:
    """Names for memory: the allocation that contains an address, and the offset in it.

    This package reports its allocations and frees (`watch`); PyTorch's allocator is asked.
    """

    def __init__(self) -> None:
        self._regions: dict[Any, Region] = {}
        self._counts: dict[str, int] = {}
        self._own: dict[int, tuple[int, tuple[str, int]]] = {}  # size and place by address
        self._events: deque[tuple[int, int | None, tuple[str, int]]] = deque()
        self._fresh: list[Region] = []

    def allocated(self, address: int, nbytes: int) -> None:
        """Note memory that this package allocated."""
        self._events.append((address, nbytes, host_blocks.place()))

    def freed(self, address: int) -> None:
        """Note memory that this package frees."""
        self._events.append((address, None, host_blocks.place()))

    def settle(self) -> list[Region]:
        """Process the allocations and frees since the last call; return the freed named ones."""
        gone: list[Region] = []
        while self._events:
            address, nbytes, place = self._events.popleft()
            if nbytes is not None:
                self._own[address] = nbytes, place
                continue
            self._own.pop(address, None)
            for region in [each for each in self._regions.values() if each.address == address]:
                region.place = place
                gone.append(self._regions.pop(region.key))
        for region in [*self._regions.values()]:
            if region.is_gone is not None and region.is_gone():
                region.place = ("", 0)
                gone.append(self._regions.pop(region.key))
        return gone

    def fresh(self) -> list[Region]:
        """The allocations that were named since the last call."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def place(self, address: int, memory: Any, name: str) -> tuple[str, int]:
        """The allocation's name and the offset in bytes; for the parameters see `region`."""
        region = self.region(address, memory, name)
        return region.name, address - region.address

    def region(self, address: int, memory: Any, name: str) -> Region:
        """The allocation that contains an address; a new one is named.

        - `memory`: the program's argument.
        - `name`: the parameter's name, which becomes a new allocation's name.
        """
        region = find(address, memory, self._regions.values())
        if region.key in self._regions:
            return self._regions[region.key]
        if region.address in self._own:
            region.nbytes, region.place = self._own[region.address]
            region.owner = OWN
        count = self._counts[name] = self._counts.get(name, 0) + 1
        region.name = name if count == 1 else f"{name}{count}"
        self._regions[region.key] = region
        self._fresh.append(region)
        return region


def not_finite(
    function: Function, arguments: Mapping[str, Any], execution: Execution | None, *, outputs: bool
) -> dict[str, str]:
    """The names of tensors with NaN or infinity, and the numbers of these elements as text.

    - `execution`: the operands of a call of ``cudnnBackendExecute``.
    - `outputs`: True to check the call's outputs, False for its inputs.
    """
    handle = arguments.get("handle")
    stream = records.record(handle) if live.address(handle) else None
    if handle is None or mode.runtime.is_capturing(stream or 0):
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
    memory = Borrowed(
        address,
        extent(shape, strides) * numpy_dtype(data_type).itemsize,
        device_id=mode.runtime.current_ordinal(),
        runtime=mode.runtime,
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
