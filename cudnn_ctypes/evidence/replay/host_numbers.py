"""Conversion of the bytes of host numbers, which executions read, to Python's and C's types."""

from __future__ import annotations

import struct

__all__ = ["c_host_type", "host_number"]

_FORMATS = {
    "float64": ("d", "double"),
    "float32": ("f", "float"),
    "float16": ("e", "uint16_t"),
    "bfloat16": ("", "uint16_t"),
    "int64": ("q", "int64_t"),
    "int32": ("i", "int32_t"),
    "int8": ("b", "int8_t"),
    "uint8": ("B", "uint8_t"),
    "bool": ("?", "bool"),
}


def host_number(value: bytes, data_type: str) -> float | int | None:
    """The number in the bytes; None for a data type that Python lacks."""
    if data_type == "bfloat16":  # the upper half of a float
        return float(struct.unpack("<f", bytes(2) + value)[0])
    letter, _ = _FORMATS.get(data_type, ("", ""))
    if not letter:
        return None
    number: float | int = struct.unpack(f"<{letter}", value)[0]
    return number


def c_host_type(data_type: str, nbytes: int) -> str:
    """The C type of a data type; an unsigned integer of its size if C has none."""
    return _FORMATS[data_type][1] if data_type in _FORMATS else f"uint{8 * nbytes}_t"
