"""All of cuDNN 9's C API from Python.

``cudnn_ctypes.raw`` is the C API one to one; the classes named here stand on it. Importing this
package loads neither libcudnn nor CUDA: each name is loaded on first use.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import raw, reference
    from .device import DeviceBuffer, DeviceTensor, as_tensor
    from .dtypes import as_data_type
    from .errors import (
        BadParamError,
        ClosedError,
        CudnnError,
        ExecutionFailedError,
        InternalError,
        LibraryNotFoundError,
        NoDeviceError,
        NotInitializedError,
        NotSupportedError,
        SymbolNotFoundError,
    )
    from .handle import Handle
    from .legacy import (
        ActivationDescriptor,
        ConvolutionDescriptor,
        FilterDescriptor,
        TensorDescriptor,
    )
    from .reference.dispatch import use_reference_device

__version__ = "0.1.0"

_HOMES = {
    "raw": "raw",
    "reference": "reference",
    "DeviceBuffer": "device",
    "DeviceTensor": "device",
    "as_tensor": "device",
    "as_data_type": "dtypes",
    "BadParamError": "errors",
    "ClosedError": "errors",
    "CudnnError": "errors",
    "ExecutionFailedError": "errors",
    "InternalError": "errors",
    "LibraryNotFoundError": "errors",
    "NoDeviceError": "errors",
    "NotInitializedError": "errors",
    "NotSupportedError": "errors",
    "SymbolNotFoundError": "errors",
    "Handle": "handle",
    "ActivationDescriptor": "legacy",
    "ConvolutionDescriptor": "legacy",
    "FilterDescriptor": "legacy",
    "TensorDescriptor": "legacy",
    "use_reference_device": "reference.dispatch",
}

__all__ = [
    "ActivationDescriptor",
    "BadParamError",
    "ClosedError",
    "ConvolutionDescriptor",
    "CudnnError",
    "DeviceBuffer",
    "DeviceTensor",
    "ExecutionFailedError",
    "FilterDescriptor",
    "Handle",
    "InternalError",
    "LibraryNotFoundError",
    "NoDeviceError",
    "NotInitializedError",
    "NotSupportedError",
    "SymbolNotFoundError",
    "TensorDescriptor",
    "as_data_type",
    "as_tensor",
    "raw",
    "reference",
    "use_reference_device",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{home}", __name__)
    value = module if home == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if os.environ.get("CUDNN_CTYPES_DEVICE", "").strip().lower() not in ("", "cuda"):
    __getattr__("use_reference_device")()
