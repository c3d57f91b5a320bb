"""Layer 1: the C API of cuDNN 9, one to one.

Every function, enum, enumerator, struct, handle and numeric macro of the headers under its C name:

>>> from ctypes import byref, c_size_t
>>> from cudnn_ctypes import raw
>>> descriptor = raw.cudnnTensorDescriptor_t()
>>> raw.cudnnCreateTensorDescriptor(descriptor)
cudnnStatus_t.CUDNN_STATUS_SUCCESS

A call raises `cudnn_ctypes.CudnnError` on every status but success; ``raw.cudnnX.unchecked``
returns the status instead. libcudnn is loaded by the first call, not by the import.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from . import constants as _constants
from . import enums as _enums
from . import functions as _functions
from . import types as _types
from .constants import *
from .enums import *
from .function import Function as Function
from .functions import *
from .functions import FUNCTIONS as FUNCTIONS
from .library import Library as Library
from .library import load as load
from .library import loaded_library as loaded_library
from .parameter import Parameter as Parameter
from .types import *

if not TYPE_CHECKING:  # a type checker takes what is imported; it would believe in every name
    __all__ = [
        "FUNCTIONS",
        "Function",
        "Library",
        "Parameter",
        "load",
        "loaded_library",
        *_constants.__all__,
        *_enums.__all__,
        *_functions.__all__,
        *_types.__all__,
    ]

    def __getattr__(name):
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .gone import MissingNameError, importing_error

        # `from cudnn_ctypes.raw import name` calls this function and drops the text of an
        # AttributeError, so C names raise an ImportError. Submodules need the AttributeError.
        importing = sys._getframe(1).f_code.co_name == "_handle_fromlist"
        if importing and name.lower().startswith("cudnn"):
            raise importing_error(__name__, name)
        raise MissingNameError(name)
