"""Arguments as text: descriptors by what they hold, memory by its type and shape."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Mapping
from typing import Any

from . import live, records
from .ctypes_support import CudnnEnum, short_name
from .enums import cudnnDataType_t
from .layouts import DATA_TYPE_NAMES, layout_name
from .strides import packed


def plain(value: Any) -> Any:
    """A value as JSON data: data types and enumerators by their short names."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, cudnnDataType_t):
        return DATA_TYPE_NAMES.get(value, value.name)
    if isinstance(value, CudnnEnum):
        return short_name(value)
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if hasattr(value, "item") and getattr(value, "size", 0) == 1:
        return plain(value.item())
    return f"<{type(value).__name__}>"


def descriptor_text(descriptor: Any) -> str:
    """The contents of a living descriptor; "" if that is not known or cannot be read.

    An address that somebody made up is not followed.
    """
    pointer = getattr(descriptor, "_as_parameter_", descriptor)
    known: Any = live.kind(live.address(pointer))
    if known is None or type(pointer) is not known:
        return ""
    try:
        held = records.record(pointer)
    except Exception:  # a library that lacks the function; a dropout descriptor without its handle
        return ""
    if held is None:
        return "not set" if known._must_be_set else ""
    values = record_values(held)
    return held_text(values) if values else ""


def record_values(record: Any) -> dict[str, Any] | None:
    """The values of a descriptor's record by name, as `plain` data; None for no record."""
    if not dataclasses.is_dataclass(record):
        return None
    names = [each.name for each in dataclasses.fields(record)]
    # A filter computes its strides from its format.
    names += ["strides"] if hasattr(record, "strides") and "strides" not in names else []
    return {name: plain(getattr(record, name)) for name in names}


def value_text(value: Any) -> str:
    """Plain data as text: NULL for None, a struct in braces."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    if not isinstance(value, dict):
        return str(value)
    return "{" + ", ".join(f"{name}={value_text(each)}" for name, each in value.items()) + "}"


_USUAL: dict[str, Any] = {
    "groups": 1,
    "math_type": "default_math",
    "reorder_type": "default_reorder",
    "nan_propagation": "not_propagate_nan",
    "clip_nan_propagation": "not_propagate_nan",
}
"""Values of descriptors that are usual and not shown; NULL and False are never shown."""

_HIDDEN = ("size_in_bytes", "strides")


def held_text(holds: dict[str, Any]) -> str:
    """The values of a descriptor as text: ``(1, 3, 4, 4) float16 NHWC`` for a tensor."""
    if {"shape", "strides", "data_type"} <= holds.keys() and "axes" not in holds:
        return tensor_text(holds)
    if "operations" in holds:
        return f"<{', '.join(holds['operations'])}>"
    shown = [
        f"{name}={_short(each)}"
        for name, each in holds.items()
        if each is not None and each is not False and each != _USUAL.get(name)
        if name not in _HIDDEN
    ]
    return "{" + ", ".join(shown) + "}"


def _short(value: Any) -> str:
    """A value as text; equal numbers (padding, strides) once: ``1`` for ``(1, 1)``."""
    if isinstance(value, list):
        return (
            value_text(value[0]) if value and value.count(value[0]) == len(value) else _tuple(value)
        )
    return value_text(value)


def _tuple(values: list[Any]) -> str:
    inside = ", ".join(map(value_text, values))
    return f"({inside},)" if len(values) == 1 else f"({inside})"


def tensor_text(said: dict[str, Any]) -> str:
    """Shape, data type and layout: ``(1, 3, 4, 4) float16 NHWC``."""
    shape, strides = said["shape"], said["strides"]
    text = f"{_tuple(shape)} {said['data_type']}"
    layout = _layout(tuple(shape), tuple(strides), said["data_type"])
    return f"{text} {layout}" if layout else text


@functools.lru_cache(maxsize=256)
def _layout(shape: tuple[int, ...], strides: tuple[int, ...], data_type: str) -> str:
    """The name of a tensor's layout if it has one, else the strides."""
    if len(shape) >= 4:
        known = (each for each, name in DATA_TYPE_NAMES.items() if name == data_type)
        for each in known:
            if (name := layout_name(shape, strides, each)) is not None:
                return name
    return "" if packed(shape) == strides else f"strides {strides}"
