"""What a C program has before it calls cuDNN: a handle, descriptors, memory. For the tests."""

from __future__ import annotations

from ctypes import byref, c_double, c_float
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from cudnn_ctypes import raw
from cudnn_ctypes.dtypes import numpy_dtype, vector_length
from cudnn_ctypes.raw.strides import layout_order
from cudnn_ctypes.raw.strides import packed as strides_of

FLOAT = raw.CUDNN_DATA_FLOAT


def _of_kind(verb: str, kind: type) -> raw.Function:
    """The function that creates, or destroys, a kind of descriptors."""
    return raw.FUNCTIONS[kind.__name__.replace("cudnn", f"cudnn{verb}", 1).removesuffix("_t")]


class Descriptors:
    """Descriptors of C, which are destroyed together."""

    def __init__(self) -> None:
        self._made: list[Any] = []

    def close(self) -> None:
        while self._made:
            descriptor = self._made.pop()
            if descriptor:
                _of_kind("Destroy", type(descriptor))(descriptor)

    def new(self, kind: type, *arguments: Any) -> Any:
        """A descriptor, or a pack, that was created and not set."""
        descriptor = kind()
        _of_kind("Create", kind)(descriptor, *arguments)
        self._made.append(descriptor)
        return descriptor

    def tensor(
        self, shape: tuple[int, ...], data_type: int = FLOAT, layout: Any = "NCHW"
    ) -> raw.cudnnTensorDescriptor_t:
        """`layout` is NCHW, NHWC, NCHW_VECT_C, or the strides."""
        descriptor = self.new(raw.cudnnTensorDescriptor_t)
        if layout == "NCHW_VECT_C":
            raw.cudnnSetTensorNdDescriptorEx(
                descriptor, raw.CUDNN_TENSOR_NCHW_VECT_C, data_type, len(shape), shape
            )
        else:
            strides = (
                strides_of(shape, layout_order(layout, len(shape)))
                if isinstance(layout, str)
                else layout
            )
            raw.cudnnSetTensorNdDescriptor(descriptor, data_type, len(shape), shape, strides)
        return descriptor

    def filter(
        self, shape: tuple[int, ...], data_type: int = FLOAT, layout: str = "NCHW"
    ) -> raw.cudnnFilterDescriptor_t:
        descriptor = self.new(raw.cudnnFilterDescriptor_t)
        layout_code = getattr(raw, f"CUDNN_TENSOR_{layout}")
        raw.cudnnSetFilterNdDescriptor(descriptor, data_type, layout_code, len(shape), shape)
        return descriptor

    def convolution(
        self,
        padding: tuple[int, ...],
        stride: tuple[int, ...] | None = None,
        dilation: tuple[int, ...] | None = None,
        *,
        groups: int = 1,
        mode: int = raw.CUDNN_CROSS_CORRELATION,
        compute_data_type: int = FLOAT,
        reorder_type: int = raw.CUDNN_DEFAULT_REORDER,
    ) -> raw.cudnnConvolutionDescriptor_t:
        descriptor = self.new(raw.cudnnConvolutionDescriptor_t)
        count, ones = len(padding), (1,) * len(padding)
        sizes = padding, stride or ones, dilation or ones
        raw.cudnnSetConvolutionNdDescriptor(descriptor, count, *sizes, mode, compute_data_type)
        raw.cudnnSetConvolutionGroupCount(descriptor, groups)
        raw.cudnnSetConvolutionReorderType(descriptor, reorder_type)
        return descriptor

    def activation(self, mode: int, coefficient: float = 0.0) -> raw.cudnnActivationDescriptor_t:
        descriptor = self.new(raw.cudnnActivationDescriptor_t)
        raw.cudnnSetActivationDescriptor(
            descriptor, mode, raw.CUDNN_PROPAGATE_NAN, c_double(coefficient)
        )
        return descriptor


class Program(Descriptors):
    """A handle, and descriptors that are destroyed with it."""

    def __init__(self) -> None:
        super().__init__()
        self.handle = raw.cudnnHandle_t()
        raw.cudnnCreate(self.handle)

    def close(self) -> None:
        super().close()
        raw.cudnnDestroy(self.handle)


class Memory:
    """A tensor in host memory, with poison between its elements and, without values, in them.

    Attributes
    ----------
    address : int
        What the program passes to C.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        data_type: int = FLOAT,
        layout: Any = "NCHW",
        values: np.ndarray | None = None,
    ) -> None:
        self.shape, self.layout = shape, layout
        self.vector = vector_length(data_type)
        dtype = numpy_dtype(data_type)
        poison = 77 if dtype.kind in "iu" else np.nan
        strides = (
            strides_of(shape, layout_order(layout, len(shape)))
            if isinstance(layout, str) and (layout != "NCHW_VECT_C")
            else layout
        )
        if layout == "NCHW_VECT_C":
            self.buffer = np.full(int(np.prod(shape)), poison, dtype)
        else:
            span = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
            self.buffer = np.full(span, poison, dtype)
            self._view = as_strided(self.buffer, shape, [s * dtype.itemsize for s in strides])
        if values is not None:
            self.set(values)
        self.address = self.buffer.ctypes.data

    def set(self, values: np.ndarray) -> None:
        if self.layout == "NCHW_VECT_C":
            vectors = values.reshape(len(values), -1, self.vector, *self.shape[2:])
            self.buffer[:] = np.moveaxis(vectors, 2, -1).ravel()
        else:
            self._view[...] = values

    def get(self) -> np.ndarray:
        """The tensor in its logical shape, a copy."""
        if self.layout == "NCHW_VECT_C":
            stored = self.buffer.reshape(self.shape[0], -1, *self.shape[2:], self.vector)
            return np.moveaxis(stored, -1, 2).reshape(self.shape)
        return self._view.copy()

    def gaps_are_poisoned(self) -> bool:
        """Whether what lies between the elements is as it was."""
        poison = np.full_like(self.buffer, 77 if self.buffer.dtype.kind in "iu" else np.nan)
        saved = self.get()
        self._view[...] = poison.flat[0]
        same = self.buffer.tobytes() == poison.tobytes()
        self._view[...] = saved
        return same


def scalar(value: float, data_type: int = FLOAT) -> Any:
    """The address of alpha or beta, as C's ``&alpha``."""
    return byref((c_double if data_type == raw.CUDNN_DATA_DOUBLE else c_float)(value))
