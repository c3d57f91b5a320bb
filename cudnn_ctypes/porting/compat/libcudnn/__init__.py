"""The names of ``libcudnn``, a ctypes wrapper of cuDNN 2 to 4 that nobody maintains.

A program for it runs with the import line changed::

    from cudnn_ctypes.compat import libcudnn  # was: import libcudnn

    context = libcudnn.cudnnCreate()
    x_desc = libcudnn.cudnnCreateTensorDescriptor()
    nchw = libcudnn.cudnnTensorFormat["CUDNN_TENSOR_NCHW"]
    float32 = libcudnn.cudnnDataType["CUDNN_DATA_FLOAT"]
    libcudnn.cudnnSetTensor4dDescriptor(x_desc, nchw, float32, 64, 3, 32, 32)

Handles, descriptors and memory are addresses, as ints or ``c_void_p``; other objects of device
memory are accepted too. alpha and beta are numbers. Values that C writes are returned. A failed
call raises the wrapper's exceptions, whose `status` is the number of cuDNN 2 to 8.

Convolutions compute in double where their tensors are doubles, in float elsewhere. The names that
the wrapper had for cuDNN 1 alone (``cudnnSetFilterDescriptor``, for example) are not there.
"""

from __future__ import annotations

from typing import Any

from .... import raw
from ....raw.gone import find
from ..old_names import warn_once
from .constants import DICTIONARIES
from .errors import cudnnCheckStatus as cudnnCheckStatus
from .errors import cudnnError as cudnnError
from .errors import cudnnExceptions as cudnnExceptions
from .functions import FUNCTIONS

_EXCEPTIONS = {each.__name__: each for each in cudnnExceptions.values()}
_STRUCTS = {
    f"cudnnConvolution{each}AlgoPerf": getattr(raw, f"cudnnConvolution{each}AlgoPerf_t")
    for each in ("Fwd", "BwdData", "BwdFilter")
}

__all__ = sorted(
    {*FUNCTIONS, *DICTIONARIES, *_STRUCTS, *_EXCEPTIONS}
    | {"cudnnCheckStatus", "cudnnError", "cudnnExceptions"}
)


def __getattr__(name: str) -> Any:
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if name in _EXCEPTIONS:
        return _EXCEPTIONS[name]
    if name in DICTIONARIES:
        modern = find(f"{name}_t") or f"cudnn_ctypes.raw.{name}_t and its members"
        warn_once(f"libcudnn.{name}", f"libcudnn.{name} is of an old wrapper: {modern}")
        return DICTIONARIES[name]
    if name in _STRUCTS:
        warn_once(f"libcudnn.{name}", f"libcudnn.{name} is now cudnn_ctypes.raw.{name}_t")
        return _STRUCTS[name]
    gone = find(name)
    reason = f": {gone}" if gone is not None else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{reason}")


def __dir__() -> list[str]:
    return __all__
