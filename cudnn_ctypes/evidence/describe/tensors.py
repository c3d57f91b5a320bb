"""Descriptions of tensors, of the memory that holds them, and of filters and sequences."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ...dtypes import as_data_type, element_bits, storage_bytes, vector_length
from ...raw.descriptors import Filter, SequenceData, Tensor
from ...raw.layouts import layout_name
from ...raw.strides import axis_order, extent, overlapping, packed
from ...raw.typed_memory import Typed, typed
from ...runtime import DeviceBuffer, DeviceTensor
from ..pictures.index_map import IndexMap, index_map, moving_index_map
from .description import (
    FILTER_AXES,
    IMAGE_AXES,
    Description,
    Section,
    axes_of,
    counted,
    listed,
    type_name,
)

Ints = tuple[int, ...]

_LAYOUTS = {
    "NCHW": "each channel of an image is a plane of its own, row after row",
    "NHWC": "the channels of a pixel lie together",
    "NCHW_VECT_C4": "4 channels of a pixel lie together, as one vector; then as NCHW",
    "NCHW_VECT_C32": "32 channels of a pixel lie together, as one vector; then as NCHW",
}
_FILTER_LAYOUTS = {
    "NCHW": "each channel of a filter is a plane of its own, row after row (KCRS)",
    "NHWC": "the channels of a tap lie together (KRSC)",
    "NCHW_VECT_C4": _LAYOUTS["NCHW_VECT_C4"],
    "NCHW_VECT_C32": _LAYOUTS["NCHW_VECT_C32"],
}
_NAMED = {tuple(letters) for letters in (*IMAGE_AXES.values(), *FILTER_AXES.values())}
"""Axes whose order in memory has a name."""


def tensor_words(name: str, desc: Tensor) -> Description:
    """The description of a tensor descriptor."""
    axes = axes_of(len(desc.shape), IMAGE_AXES)
    return tensor(name, desc.shape, desc.strides, desc.data_type, axes)


def filter_words(name: str, desc: Filter) -> Description:
    """The description of a filter descriptor."""
    axes = axes_of(len(desc.shape), FILTER_AXES)
    filters, channels = desc.shape[:2]
    meaning = f"{counted(filters, 'filter')} over {counted(channels, 'channel')} in each group"
    return tensor(
        name,
        desc.shape,
        desc.strides,
        desc.data_type,
        axes,
        noun="a filter",
        meanings=_FILTER_LAYOUTS,
        more=(meaning,),
    )


def sequence_words(name: str, desc: SequenceData) -> Description:
    """The description of a sequence data descriptor."""
    lines = (
        "t: time steps, n: batch, b: beam, v: elements of a vector",
        f"lengths of the sequences, those of a batch entry's beam together: {desc.lengths}",
        f"padding is filled with {desc.padding_fill}"
        if desc.padding_fill is not None
        else "cuDNN does not tell what padding is filled with",
    )
    return tensor(
        name,
        desc.shape,
        desc.strides,
        desc.data_type,
        ("t", "n", "b", "v"),
        noun="sequences",
        more=lines,
    )


def tensor(
    name: str,
    shape: Ints,
    strides: Ints,
    data_type: Any,
    axes: Sequence[str],
    *,
    noun: str = "a tensor",
    meanings: dict[str, str] | None = None,
    more: Sequence[str] = (),
    vector: int | None = None,
) -> Description:
    """The words and the index map of a tensor.

    - `shape`, `strides`: in cuDNN's units: strides count vectors for vectorised types.
    - `axes`: a letter for each axis.
    - `meanings`: explanations of the layouts' names; default: for images.
    - `more`: further facts.
    - `vector`: elements of a vector along axis 1; default: from the data type.
    """
    vector = vector_length(data_type) if vector is None else vector
    of_images = tuple(axes) in _NAMED
    layout = _layout(shape, strides, data_type, vector) if of_images else None
    if layout is None and shape and 0 not in shape and strides == packed(shape):
        layout = "packed in C order"
    about = IndexMap(
        f"{name}: {shape} {type_name(data_type)}{f', {layout}' if layout else ''}",
        shape,
        strides,
        tuple(axes),
        vector,
    )
    lines = [*_facts(about, data_type, layout, meanings or _LAYOUTS), *more]
    picture = functools.partial(index_map, about) if 0 not in shape and shape else None
    dims = counted(len(shape), "dimension")
    images = of_images and len(shape) == 4 and vector == 1 and 0 not in shape
    moving = functools.partial(moving_index_map, about) if images else None
    section = Section(lines=tuple(lines))
    return Description(f"{name}: {noun} of {dims}", (section,), picture, moving)


def _facts(
    about: IndexMap, data_type: Any, layout: str | None, meanings: dict[str, str]
) -> Iterator[str]:
    shape, strides, axes = about.shape, about.strides, about.axes
    count, bits = math.prod(shape), element_bits(data_type)
    named = f"({', '.join(axes)}) = " if axes else ""
    yield f"dims {named}{shape}: {counted(count, 'element')}"
    size = counted(bits // 8, "byte") if bits >= 8 else counted(bits, "bit")
    yield f"data type {type_name(data_type)}: {size} an element"
    if not shape or not count:
        return
    yield _strides(about)
    if about.vector > 1:
        yield f"{about.vector} channels are one vector: strides count vectors, dims count channels"
    if layout:
        yield f"layout {layout}: {meanings.get(layout, 'without gaps')}"
    else:
        order = (axes[axis] for axis in axis_order(shape, strides))
        yield f"layout without a name; from the outermost axis to the innermost: {listed(order)}"
    if min(strides) >= 0 and count:
        yield _bytes(about, data_type)
    index = ", ".join(axes)
    if bits >= 8:
        yield f"element [{index}] is at byte {_scaled(bits // 8, about.formula)}"
    else:
        yield f"element [{index}] is at place {about.formula}; {8 // bits} places make a byte"


def _scaled(nbytes: int, formula: str) -> str:
    if nbytes == 1:
        return formula
    return f"{nbytes} * ({formula})" if " " in formula else f"{nbytes} * {formula}"


def _strides(about: IndexMap) -> str:
    noun = "vector" if about.vector > 1 else "element"
    steps = [
        f"{counted(stride, noun) if i == 0 else stride} along {axis}"
        for i, (stride, axis) in enumerate(zip(about.strides, about.axes, strict=True))
    ]
    text = f"strides {about.strides}: one step moves on by {', '.join(steps)}"
    zero = [
        axis
        for axis, stride, size in zip(about.axes, about.strides, about.shape, strict=True)
        if stride == 0 and size > 1
    ]
    return f"{text}; all elements along {listed(zero)} are the same in memory" if zero else text


def _bytes(about: IndexMap, data_type: Any) -> str:
    if about.vector == 1:
        shape, strides = about.shape, about.strides
    else:
        shape = (about.shape[0], about.shape[1] // about.vector, *about.shape[2:], about.vector)
        strides = (*(about.vector * stride for stride in about.strides), 1)
    places, count = extent(shape, strides), math.prod(shape)
    single = 1 if element_bits(data_type) < 8 else 0
    each = element_bits(data_type) // 8
    nbytes = storage_bytes(data_type, places) if single else places * each
    text = f"{counted(nbytes, 'byte')} from the first element to the last"
    if overlapping(shape, strides):
        return f"{text}; elements share memory"
    if places == count:
        return f"{text}, without gaps"
    return f"{text}, {counted(places - count, 'place')} of them in gaps"


def _layout(shape: Ints, strides: Ints, data_type: Any, vector: int) -> str | None:
    if len(shape) < 3 or vector != vector_length(data_type):
        return None
    return layout_name(shape, strides, data_type)


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
