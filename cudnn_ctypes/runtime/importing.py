"""Tensors of other libraries as ``DeviceTensor``s."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dlpack, pytorch
from .cuda_array_interface import from_cuda_array_interface
from .tensor import DeviceTensor

__all__ = ["as_tensor"]


def as_tensor(obj: Any, *, stream: Any = None) -> DeviceTensor:
    """`obj` as a ``DeviceTensor`` without copying, for use on `stream`.

    Parameters
    ----------
    obj : DeviceTensor, or any object with ``__dlpack__`` or ``__cuda_array_interface__``
        A ``DeviceTensor`` is returned as it is. Tensors of PyTorch, CuPy, JAX or Numba must be in
        CUDA memory, or in host memory while the reference device is active.
    stream : stream, optional
        It is made to wait for what the other library has under way.

    Raises
    ------
    TypeError
        If it is host memory (copy it with ``DeviceTensor.from_numpy``), no tensor at all, or of a
        type that cuDNN has not.

    Examples
    --------
    >>> x = DeviceTensor.full((2, 3), 1, "float32")
    >>> as_tensor(x) is x
    True
    """
    if pytorch.is_torch(type(obj)):
        borrowed = pytorch.from_torch(obj, stream=stream)
        if borrowed is not None:
            return DeviceTensor._in(*borrowed)
        imported = dlpack.from_dlpack(obj, stream=stream)
        pytorch.learn(obj, imported)
        return DeviceTensor._imported(imported)
    if isinstance(obj, DeviceTensor):
        return obj
    if isinstance(obj, (np.ndarray, np.generic)):
        raise TypeError(
            "host memory (numpy.ndarray) where device memory is wanted; copy it with "
            "DeviceTensor.from_numpy"
        )
    if hasattr(obj, "__dlpack__"):
        return DeviceTensor.from_dlpack(obj, stream=stream)
    if hasattr(obj, "__cuda_array_interface__"):
        return DeviceTensor._imported(from_cuda_array_interface(obj, stream=stream))
    raise TypeError(
        f"expected a tensor with __dlpack__ or __cuda_array_interface__, got a {type(obj).__name__}"
    )
