"""The names of NVIDIA's Python front end, version 1.32, over `cudnn_ctypes.graph`.

A program written for it runs after changing its import line::

    import cudnn_ctypes.frontend as cudnn

Names, arguments, defaults and return values are those of that front end, and those of 1.23 where
they differ and both can be told apart; everything that is done, is done by this package. Beyond it,
variant packs take names too, graphs close and work with ``with``, ``pygraph.explain``, ``autotune``
and ``to_json`` lead to layer 3, and exceptions carry cuDNN's reasons. Its functions for PyTorch
that graphs can compute are here; they import PyTorch. Not here are the kernels that it brings
itself (CuTe kernels, engines in Python): ``left_out.LEFT_OUT`` has all names, with the reasons.
Each name is loaded on first use.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..lazy import attach

__version__ = "1.32.0"
"""The front end whose names these are."""

# Programs reach through its compiled part for what it does not export, as ``convolution_mode``.
_compiled_module = _pybind_module = sys.modules[__name__]

_attribute, __dir__, __all__ = attach(__name__)

# What imports PyTorch is, as in NVIDIA's, no part of ``__all__``.
_MODULES = ("experimental", "ops")
_FOR_TORCH = (
    "mask_to_kv_lengths",
    "prefix_mask_to_kv_lengths",
    "sdpa_torch",
    "triangle_attention",
    "triangle_multiplicative_update",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _FOR_TORCH:
        return getattr(importlib.import_module("..torch_ops.front_end", __name__), name)
    if name not in __all__:
        from .left_out import missing

        raise AttributeError(missing(f"module {__name__!r}", name))
    return _attribute(name)
