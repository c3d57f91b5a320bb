"""All names of cuDNN 9's C API, and the names of cuDNN 2 to 8 that cuDNN 9 dropped.

A program for cuDNN 7 or 8 in Python's spelling of C runs with this module in place of
``cudnn_ctypes.raw``:

>>> from cudnn_ctypes.compat import v7 as cudnn
>>> cudnn.cudnnGetConvolutionForwardAlgorithm.parameters[5].c_declaration
'cudnnConvolutionFwdPreference_t preference'

A dropped function has its old meaning and parameters and is implemented with functions of cuDNN 9;
it warns once with the new call. A function whose parameters changed accepts old and new ones. A
name without an implementation raises an AttributeError with the reason (`left_out`).
`cudnnGetRNNLinLayerMatrixParams` tells the places of an RNN's weights. Statuses are cuDNN 9's;
`old_status_number` returns their old numbers.

A convolution descriptor set without computeType, as before cuDNN 6, computes in double with tensors
of doubles, in float with others.
"""

from __future__ import annotations

import importlib
from typing import Any

from .... import raw
from ....raw.gone import Gone, changed, find, gone_names
from .. import warn_once
from . import declarations
from .algorithms import SETTLING, settled
from .declarations import left_out
from .declarations import old_status_number as old_status_number
from .declarations import status_of_old_number as status_of_old_number
from .old_function import functions

for _module in ("algorithms", "renamed", "rnn"):
    importlib.import_module(f".{_module}", __name__)  # registers functions

__all__ = sorted(
    {
        *(name for name in vars(raw)["__all__"] if name.lower().startswith("cud")),
        *(name for name in gone_names() if name not in left_out()),
        "left_out",
        "old_status_number",
        "status_of_old_number",
    }
)


def __getattr__(name: str) -> Any:
    if not name.lower().startswith("cud"):  # no name of C, such as a module's
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    gone = find(name)
    if gone is None and changed(name):
        return functions[name]
    if gone is None:
        return settled(name) if name in SETTLING else getattr(raw, name)
    if name in left_out():
        raise AttributeError(f"{__name__} has no {name}: {left_out()[name]}")
    if gone.kind == "function":
        return functions[name]
    value = _value(gone)
    warn_once(f"v7.{name}", str(gone))
    globals()[name] = value
    return value


def _value(gone: Gone) -> Any:
    """A type, an enumerator or the number of a macro."""
    if gone.kind == "macro":
        return declarations.macro_value(gone)
    if gone.kind != "enumerator":
        return getattr(declarations, gone.name)
    return declarations.old_enumerator(gone.name)


def __dir__() -> list[str]:
    return __all__
