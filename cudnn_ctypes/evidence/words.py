"""Conversion of C and Python objects to plain data for records: numbers, texts, lists, dicts."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

from ..arguments import short_name
from ..dtypes import data_type_name
from ..raw.ctypes_support import CudnnEnum
from ..raw.enums import cudnnDataType_t

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """A value as JSON data: data types and enumerators by their short names."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, cudnnDataType_t):
        return data_type_name(value) if value.known else value.name
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
