"""The names of ``cupy.cudnn`` (also ``cupyx.cudnn``) and of ``cupy_backends.cuda.libs.cudnn``.

CuPy 14 has dropped both. A program for them runs with the import line changed::

    from cudnn_ctypes.compat import cupy_cudnn as cudnn  # was: from cupy import cudnn
    from cudnn_ctypes.compat import cupy_cudnn as libcudnn  # was: from cupy.cuda import cudnn

    y = cudnn.activation_forward(x, libcudnn.CUDNN_ACTIVATION_RELU)

The arrays are CuPy's, and work goes to CuPy's current stream. On the reference device NumPy arrays
stand in for them, and `DeviceTensor`s on both; reserve spaces are then `DeviceTensor`s. NumPy
arrays are copied to the device for each call, so fused operations, which keep addresses, take
`DeviceTensor`s.

Two things differ: halves may use tensor cores on every GPU since Volta where CuPy asked for Volta
itself, and a failed call tells why.
"""

from __future__ import annotations

import importlib
from typing import Any

from .... import raw
from ....raw.ctypes_support import CudnnEnum
from ....raw.gone import find
from ..old_names import warn_once
from ..v7 import old_status_number
from ..v7.enums import __all__ as _OLD_ENUMS
from .low_level import FUNCTIONS
from .names import MODERN

_MODULES = (
    *("algorithms", "batch_normalization", "convolutions", "descriptors", "errors", "fused"),
    *("layers", "low_level", "rnn", "rnn_network"),
)

available = True
"""Always True, as in ``cupy.cuda.cudnn``; the library is loaded by the first call."""

__all__ = sorted({*MODERN, *FUNCTIONS, "available"})


def __getattr__(name: str) -> Any:
    if name in MODERN:
        value, modern = _high_level(name), f"with cudnn_ctypes: {MODERN[name]}"
    elif name in FUNCTIONS:
        value, modern = FUNCTIONS[name], f"now: {FUNCTIONS[name].modern}"
    elif name.startswith("CUDNN_"):
        value, modern = _constant(name), f"now: {find(name) or f'cudnn_ctypes.raw.{name}'}"
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_once(f"cupy_cudnn.{name}", f"cupy_cudnn.{name} is of CuPy before 14; {modern}")
    globals()[name] = value
    return value


def _high_level(name: str) -> Any:
    for each in _MODULES:
        module = importlib.import_module(f".{each}", __name__)
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(name)


def _constant(name: str) -> Any:
    """The number of an enumerator or macro in cuDNN 8."""
    if find(name):
        from ..v7 import enums

        members = (getattr(enums, each).__members__ for each in _OLD_ENUMS)
        found: Any = next((each[name] for each in members if name in each), None)
        if found is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {find(name)}")
    else:
        found = getattr(raw, name)
    if isinstance(found, raw.cudnnStatus_t):
        return old_status_number(found)
    return int(found) if isinstance(found, CudnnEnum) else found


def __dir__() -> list[str]:
    return __all__
