"""Numbers on the host whose address C takes: alpha, beta, a tensor's value, a padding value.

C declares ``void *`` and reads the type that the call's data types imply. It would read a number of
another type as garbage. So a typed number must have the right type; plain Python numbers are
converted.
"""

from __future__ import annotations

import ctypes
import enum
import math
import numbers
import struct
from typing import Any

from .ctypes_support import room
from .memory import on_gpu
from .values import described

SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
"""Bytes of the types that a scalar may have."""

LARGEST_FLOAT = 3.4028234663852886e38
"""The largest finite float of 32 bits."""

_CTYPES: dict[Any, str] = {ctypes.c_float: "float32", ctypes.c_double: "float64"}
_BYTES = (ctypes.c_char, ctypes.c_byte, ctypes.c_ubyte)
_BITS = ("c_short", "c_ushort", "int16", "uint16")  # storage of 16-bit floats, which ctypes lacks
_ADDRESSES_FROM = 1 << 16


def as_host_scalar(value: Any, wanted: str | None, *, reason: str = "", out: bool = False) -> Any:
    """The object that C receives for a scalar: `value`, or its number in memory of the right type.

    - `value`: a Python number becomes the wanted type. A ctypes variable, array or pointer,
      ``byref(...)`` of one and NumPy objects must have it. Memory of bytes and ``c_void_p`` are
      taken as they are; None is NULL. An int of 65536 and more is refused: it may be meant as an
      address.
    - `wanted`: "float32" or "float64", and for padding "float16" or "bfloat16". None: not known.
    - `reason`: text on why this type is expected, for messages.
    - `out`: True if C writes the number, so it must be in memory.

    Raises TypeError if `value` has another type, or is no number. Raises ValueError if a finite
    `value` is too large for the type, or its memory too small.
    """
    if value is None:
        return None
    if on_gpu(value):
        raise TypeError(f"expected a number on the host{reason}, got {described(value)}")
    value = getattr(value, "_as_parameter_", value)
    kind = _type_of(value)
    expected = f"expected a {wanted}{reason}" if wanted else "expected a number"
    if kind == "number" and not out:
        return _stored(value, wanted or "float32")
    if kind in (None, "number"):
        raise TypeError(f"{expected}, got {described(value)}")
    if wanted is None or kind == "bytes":
        nbytes = room(value)
        if wanted is not None and nbytes is not None and nbytes < SIZES[wanted]:
            raise ValueError(f"{expected} of {SIZES[wanted]} bytes, got {nbytes} bytes")
        return value
    if kind != wanted and not (SIZES[wanted] == 2 and kind in _BITS):
        plain = "" if out else "; a plain Python number becomes it"
        raise TypeError(f"{expected}, got {described(value)}, a {kind}{plain}")
    if _is_numpy(value) and not hasattr(value, "ctypes"):  # a scalar: no memory to write to
        if out:
            raise TypeError(f"{expected} to write to, got {described(value)}")
        return ctypes.create_string_buffer(value.tobytes(), value.nbytes)
    return value


def _type_of(value: Any) -> str | None:
    """ "number", "bytes", or the type of a typed `value`; None if it contains no number."""
    value = getattr(value, "_obj", value)  # byref(...)
    if _is_numpy(value):
        return str(value.dtype.name) if value.size else None
    if isinstance(value, numbers.Real):
        return None if isinstance(value, (bool, enum.Enum)) else "number"
    if isinstance(value, (bytes, bytearray, ctypes.c_void_p)):
        return "bytes"
    cls = type(value)
    if isinstance(value, (ctypes.Array, ctypes._Pointer)):
        cls = value._type_
    if cls in _BYTES:
        return "bytes"
    return _CTYPES.get(cls, cls.__name__) if issubclass(cls, ctypes._SimpleCData) else None


def _is_numpy(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in ("numpy", "ml_dtypes") and hasattr(
        value, "dtype"
    )


def _stored(number: Any, wanted: str) -> Any:
    """A Python number, stored in new memory."""
    if isinstance(number, int) and number >= _ADDRESSES_FROM:
        raise TypeError(
            f"{number} may be meant as a number or as an address: give {float(number)!r} or "
            f"c_void_p({number:#x})"
        )
    real = float(number)
    if wanted == "float64":
        return ctypes.c_double(real)
    single = ctypes.c_float(real)
    stored = bytes(single)
    if wanted == "bfloat16":  # the upper half of a float, rounded to nearest even
        bits = int.from_bytes(stored, "little")
        if not math.isnan(real):
            bits += 0x7FFF + (bits >> 16 & 1)
        stored = (bits >> 16).to_bytes(2, "little")
        fits = (bits >> 16 & 0x7F80) != 0x7F80
    elif wanted == "float16":
        try:
            stored, fits = struct.pack("<e", real), True
        except OverflowError:
            fits = False
    else:
        fits = math.isfinite(single.value)
    if math.isfinite(real) and not fits:
        raise ValueError(f"{real} is too large for a {wanted}")
    return single if wanted == "float32" else ctypes.create_string_buffer(stored, len(stored))
