"""Descriptions of memory: tensors of this package and of others, buffers, host arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dtypes import as_data_type
from ...raw.typed_memory import Typed, typed
from ...runtime import DeviceBuffer, DeviceTensor
from .description import Description, Section
from .tensors import tensor
from .words import IMAGE_AXES, axes_of, counted

__all__ = ["memory_words"]


def memory_words(item: Any) -> Description | None:
    """The description of memory, with an index map; None for other objects."""
    if isinstance(item, DeviceTensor):
        return _own(item)
    if isinstance(item, DeviceBuffer):
        lines = (f"{counted(item.nbytes, 'byte')} without a type", *_place(item))
        return Description("DeviceBuffer: device memory", (Section(lines=lines),))
    if type(item).__module__.partition(".")[0] in ("numpy", "ml_dtypes"):
        return _numpy(item) if hasattr(item, "strides") else None
    says = typed(item)
    return None if says is None else _typed(item, says)


def _own(item: DeviceTensor) -> Description:
    axes = axes_of(item.ndim, {rank: IMAGE_AXES[rank] for rank in (3, 4, 5)})
    return tensor(
        "DeviceTensor", item.shape, item.strides, item.data_type, axes, more=tuple(_place(item))
    )


def _place(item: DeviceTensor | DeviceBuffer) -> Iterator[str]:
    address = item.ptr
    aligned = min(address & -address, 256) if address else 256
    where = "host memory, for the reference device" if item.on_host else f"GPU {item.device_id}"
    yield f"at {address:#x}, {where}; the address is a multiple of {aligned}"
    if getattr(item, "readonly", False):
        yield "it may only be read"


def _numpy(item: Any) -> Description:
    steps = item.strides
    itemsize = item.dtype.itemsize
    name = f"{type(item).__module__.partition('.')[0]}.{type(item).__name__}"
    where = "host memory: cuDNN takes device memory; DeviceTensor.from_numpy(x) makes some of it"
    whole = all(step % itemsize == 0 for step in steps)
    strides = tuple(step // itemsize for step in steps) if whole else ()
    says = Typed(str(item.dtype.name), itemsize, tuple(item.shape), strides, int(item.nbytes))
    return _described(name, says, where)


def _typed(item: Any, says: Typed) -> Description:
    module = type(item).__module__.partition(".")[0]
    device = str(getattr(item, "device", "the GPU"))
    where = f"memory of {module} on {device}"
    return _described(f"{module}.{type(item).__name__}", says, where)


def _described(name: str, says: Typed, where: str) -> Description:
    try:
        data_type = as_data_type(says.data_type)
    except (TypeError, ValueError):
        data_type = None
    if data_type is None or len(says.strides) != len(says.dims):
        lines = [f"shape {says.dims}, {says.data_type}: cuDNN has no such data type", where]
        if data_type is not None:
            lines[0] = f"shape {says.dims}, {says.data_type}: strides are no whole elements"
        return Description(f"{name}: an array", (Section(lines=tuple(lines)),))
    axes = axes_of(len(says.dims), {rank: IMAGE_AXES[rank] for rank in (4, 5)})
    return tensor(name, says.dims, says.strides, data_type, axes, more=(where,))
