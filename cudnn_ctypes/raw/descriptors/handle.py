"""The reader of a cuDNN handle's stream."""

from __future__ import annotations

from typing import Any

from ..records import reader
from ..types import cudaStream_t, cudnnHandle_t
from .reading import ask, pointers


@reader(cudnnHandle_t)
def _stream(handle: Any) -> int | None:
    """Address of the stream, 0 for the legacy default stream."""
    stream = cudaStream_t()
    if ask("cudnnGetStream", handle, *pointers(stream)):
        return None
    return stream.value or 0
