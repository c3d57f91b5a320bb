"""The description of a ``DeviceTensor``: all but its memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.raw.enums import cudnnDataType_t

from . import layout as layouts
from .layout import Shape

__all__ = ["Described", "TensorForm"]

TensorForm = tuple[bool, Shape, Shape, cudnnDataType_t, int, bool, int]
"""A tensor's description: on the host or not, shape, strides, data type, offset in bytes, read-only
or not, size in bytes."""


class Described:
    """Shape, strides, data type and size of a tensor; they never change."""

    _on_host: bool
    _shape: Shape
    _strides: Shape
    _data_type: cudnnDataType_t
    _offset: int
    _readonly: bool
    _nbytes: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Logical shape, (N, C, spatial...)."""
        return self._shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps in memory along each dimension, in elements; in vectors for vectorised types."""
        return self._strides

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy or ml_dtypes type of an element."""
        return numpy_dtype(self._data_type)

    @property
    def data_type(self) -> cudnnDataType_t:
        """cuDNN's name for the type."""
        return self._data_type

    @property
    def layout(self) -> str | None:
        """Name of the layout that the strides follow, None if they follow none."""
        return layouts.layout_name(self._shape, self._strides, self._data_type)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        """Bytes from the first to the last element, gaps included."""
        return self._nbytes

    @property
    def readonly(self) -> bool:
        """Whether the library that it comes from forbids writing."""
        return self._readonly

    def _form(self) -> TensorForm:
        parts = self._on_host, self._shape, self._strides, self._data_type
        return *parts, self._offset, self._readonly, self._nbytes

    def form(self, device_id: int) -> tuple[Any, ...]:
        """The tensor's part of a launch's key: all but its address."""
        where = -1 if self._on_host else device_id
        return self._data_type._value_, self._shape, self._strides, where, self._readonly
