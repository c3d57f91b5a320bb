"""All of cuDNN 9's C API from Python.

``cudnn_ctypes.raw`` is the C API one to one; the classes named here stand on it. Importing this
package loads neither libcudnn nor CUDA: each name is loaded on first use.
"""

from __future__ import annotations

import importlib
import os

from .lazy import attach, import_under_other_names

__version__ = "0.2.0.dev0"

__getattr__, __dir__, __all__ = attach(__name__)

import_under_other_names(
    {
        f"{__name__}.compat": f"{__name__}.porting.compat",
        f"{__name__}.cublas": f"{__name__}.porting.cublas",
        f"{__name__}.cudart": f"{__name__}.porting.cudart",
    }
)

if os.environ.get("CUDNN_CTYPES_DEVICE", "").strip().lower() not in ("", "cuda"):
    importlib.import_module(".reference.device.dispatch", __name__).use_requested_device()

if os.environ.get("CUDNN_CTYPES_TRACE", "").strip() not in ("", "0"):
    importlib.import_module(".evidence.tracing", __name__).start(
        os.environ["CUDNN_CTYPES_TRACE"].strip()
    )
