"""The reader of a cuDNN handle's stream."""

from __future__ import annotations

from typing import Any

from ..records import reader
from ..types import cudnnHandle_t
from .reading import read


@reader(cudnnHandle_t)
def _stream(handle: Any) -> int:
    """Address of the stream, 0 for the legacy default stream."""
    (stream,) = read["cudnnGetStream"](handle)
    return stream or 0
