"""Data types of PyTorch in terms of the front end, and back.

Programs import these from the front end's module of this name, underscores and all.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from ..dtypes import data_type_name
from .c_members import c_data_type, note_of
from .enums import data_type

# Where PyTorch's name of a data type is not ours.
_TORCH_NAMES = {
    "boolean": "bool",
    "fp8_e4m3": "float8_e4m3fn",
    "fp8_e5m2": "float8_e5m2",
    "fp8_e8m0": "float8_e8m0fnu",
    "fp4_e2m1": "float4_e2m1fn_x2",
}


def is_torch_available() -> bool:
    """Whether PyTorch is installed; it is not imported for that."""
    return "torch" in sys.modules or importlib.util.find_spec("torch") is not None


def _is_torch_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _torch_to_cudnn_data_type(dtype: Any) -> Any:
    """The ``data_type`` of a ``torch.dtype``; None of anything else."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(dtype, torch.dtype):
        return None
    try:
        found = c_data_type(dtype)
    except TypeError:
        return None
    return None if found is None else note_of(data_type, found)


def _cudnn_to_torch_data_type(kind: Any) -> Any:
    """The ``torch.dtype`` of a ``data_type``; None where PyTorch has none."""
    found = c_data_type(kind)
    if found is None or not is_torch_available():
        return None
    torch = importlib.import_module("torch")
    name = data_type_name(found)
    return getattr(torch, _TORCH_NAMES.get(name, name), None)


def _library_type(kind: Any) -> Any:
    """`kind` as a ``data_type``, from one or from a ``torch.dtype``.

    Raises TypeError if it is neither.
    """
    if isinstance(kind, data_type):
        return kind
    found = _torch_to_cudnn_data_type(kind)
    if found is None:
        raise TypeError(f"expected a data_type or a torch.dtype, got {kind!r}")
    return found
