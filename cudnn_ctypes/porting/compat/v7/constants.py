"""The macros that cuDNN 9 dropped: versions of libraries, and compute capabilities."""

from __future__ import annotations

from .... import raw
from ....raw.gone import Gone

__all__ = ["value"]

_ENDS = {"CUDNN_SM_9X_END": 999, "CUDNN_MIN_DEVICE_VERSION": 500}


def value(macro: Gone) -> int:
    """The value of a macro; a version is cuDNN 9's, whose macro replaces it."""
    if macro.now:
        number: int = getattr(raw, macro.now[0])
        return number
    if macro.name in _ENDS:
        return _ENDS[macro.name]
    return 10 * int(macro.name.removeprefix("CUDNN_SM_"))
