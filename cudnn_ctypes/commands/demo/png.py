"""Writes pixels as a PNG file (ISO/IEC 15948), without an image library."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["png"]


def png(pixels: NDArray[Any]) -> bytes:
    """The bytes of a PNG file with 8 bits per colour.

    Parameters
    ----------
    pixels : array
        (height, width, 3), from 0 to 1; other values are clipped.
    """
    height, width, _ = pixels.shape
    values = (pixels.clip(0, 1) * 255).round().astype(np.uint8).reshape(height, 3 * width)
    rows = np.insert(values, 0, 0, axis=1)  # each row begins with its filter type: 0 for none
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
