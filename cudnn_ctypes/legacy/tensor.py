"""``TensorDescriptor`` and ``FilterDescriptor``: shape, layout and data type of operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import raw
from ..arguments import integers
from ..dtypes import storage_bytes, vector_length
from ..raw.descriptors import Filter, Tensor
from ..raw.layouts import layout_name, strides_for
from ..runtime import DeviceTensor
from ..runtime.layout import Shape, to_shape
from .descriptor import Descriptor, read_back
from .layouts import as_format, as_type, format_and_type, with_unit_dimensions


class TensorDescriptor(Descriptor[raw.cudnnTensorDescriptor_t]):
    """The shape of a tensor, and how it lies in memory; follows ``cudnnSetTensorNdDescriptor``.

    Parameters
    ----------
    shape : sequence of int, optional
        (N, C, spatial sizes...) whatever the layout; 2 to 8 dimensions. Left out: not set yet.
    data_type : data type
        As for `as_data_type`. cuDNN 9.28 takes float32, float64, float16, bfloat16, int8, uint8,
        int32, int8x4, uint8x4 and int8x32 here, and leaves the others to the graph API.
    layout : {"NCHW", "NHWC", "NCHW_VECT_C4", "NCHW_VECT_C32"} or cudnnTensorFormat_t, optional
        Default: NCHW; vectorised types (int8x4, int8x32) lie in their vectors.
    strides : sequence of int, optional
        In elements, instead of a layout.

    Raises
    ------
    BadParamError, NotSupportedError
        If cuDNN refuses: a zero dimension, for example.
    TypeError, ValueError
        If the arguments do not go together.

    Examples
    --------
    >>> TensorDescriptor((1, 3, 4, 5), "float16", layout="NHWC").strides
    (60, 1, 15, 3)
    """

    _unset = Tensor(raw.CUDNN_DATA_FLOAT, (), (), 0)

    def __init__(
        self,
        shape: Sequence[int] | None = None,
        data_type: Any = "float32",
        *,
        layout: Any = None,
        strides: Sequence[int] | None = None,
    ) -> None:
        super().__init__(raw.cudnnTensorDescriptor_t())
        with self._closed_on_error():
            if shape is not None:
                self._set(to_shape(shape), data_type, layout, strides)
            elif layout is not None or strides is not None:
                raise ValueError("shape: needed with layout or strides")

    def _set(
        self, shape: Shape, data_type: Any, layout: Any, strides: Sequence[int] | None
    ) -> None:
        if strides is not None:
            if layout is not None:
                raise ValueError("give either layout or strides, not both")
            strides = integers("strides", strides)
            if len(strides) != len(shape):
                raise ValueError(f"strides: expected {len(shape)} entries, got {tuple(strides)}")
            self.set_nd(data_type, shape, strides)
            return
        tensor_format, data_type = format_and_type(layout, data_type)
        if len(shape) == 4:
            self.set_4d(tensor_format, data_type, *shape)
        elif len(shape) == 2 and vector_length(data_type) == 1:
            # cuDNN 9.28 computes no strides for NHWC in 2 dimensions.
            self.set_nd(data_type, shape, strides_for(shape, None, data_type))
        else:
            self.set_nd_ex(tensor_format, data_type, shape)

    @classmethod
    def of(
        cls, tensor: DeviceTensor, *, layout: str | None = None, min_dims: int = 2
    ) -> TensorDescriptor:
        """The descriptor of a tensor in memory.

        Parameters
        ----------
        tensor : DeviceTensor
            Its shape, strides and data type are read, its memory is not.
        layout : {"NCHW", "NHWC"}, optional
            Which one to take where the strides fit both (one channel, or one pixel); by default
            the one that also the strides of dimensions of size 1 agree with.
        min_dims : int
            With fewer dimensions, ones are inserted after (N, C): (N, C, W) is described as
            (N, C, 1, W) for ``min_dims=4``, which most of cuDNN's functions ask for.
        """
        shape, strides = with_unit_dimensions(tensor, min_dims)
        data_type = tensor.data_type
        name = layout_name(shape, strides, data_type, layout)
        if name is not None:
            return cls(shape, data_type, layout=name)
        if vector_length(data_type) > 1:
            raise ValueError(
                f"cuDNN describes vectors of channels only where they are dense, not with strides "
                f"{strides} for shape {shape}"
            )
        return cls(shape, data_type, strides=strides)

    # -- setting, as C does --------------------------------------------------------------------

    def set_4d(self, layout: Any, data_type: Any, n: int, c: int, h: int, w: int) -> None:
        """Set a dense tensor of 4 dimensions; follows ``cudnnSetTensor4dDescriptor``.

        Parameters
        ----------
        n, c, h, w : int
            Images, channels, height and width.
        """
        tensor_format, data_type = as_format(layout), as_type(data_type)
        raw.cudnnSetTensor4dDescriptor(self, tensor_format, data_type, n, c, h, w)

    def set_4d_ex(
        self,
        data_type: Any,
        n: int,
        c: int,
        h: int,
        w: int,
        n_stride: int,
        c_stride: int,
        h_stride: int,
        w_stride: int,
    ) -> None:
        """Set 4 dimensions with strides; follows ``cudnnSetTensor4dDescriptorEx``.

        Parameters
        ----------
        n, c, h, w : int
            Images, channels, height and width.
        n_stride, c_stride, h_stride, w_stride : int
            Distances in memory from one to the next, in elements.
        """
        self._set_by(raw.cudnnSetTensor4dDescriptorEx, locals())

    def set_nd(self, data_type: Any, shape: Sequence[int], strides: Sequence[int]) -> None:
        """Set any number of dimensions with strides; follows ``cudnnSetTensorNdDescriptor``."""
        raw.cudnnSetTensorNdDescriptor(self, as_type(data_type), len(shape), shape, strides)

    def set_nd_ex(self, layout: Any, data_type: Any, shape: Sequence[int]) -> None:
        """Set a dense tensor; follows ``cudnnSetTensorNdDescriptorEx``."""
        tensor_format, data_type = as_format(layout), as_type(data_type)
        raw.cudnnSetTensorNdDescriptorEx(self, tensor_format, data_type, len(shape), shape)

    # -- reading back --------------------------------------------------------------------------

    def get_4d(self) -> dict[str, Any]:
        """The arguments of `set_4d_ex`, by name; follows ``cudnnGetTensor4dDescriptor``."""
        return self._arguments_of(self.set_4d_ex, raw.cudnnGetTensor4dDescriptor)

    shape: tuple[int, ...] = read_back(Tensor, "(N, C, spatial sizes...); empty before it is set.")
    strides: tuple[int, ...] = read_back(
        Tensor, "Steps along each dimension, in elements; in vectors for vectorised types."
    )
    data_type: raw.cudnnDataType_t = read_back(Tensor, "Type of the elements.")
    size_in_bytes: int = read_back(
        Tensor, "Bytes from the first element to the last; follows ``cudnnGetTensorSizeInBytes``."
    )

    @property
    def layout(self) -> str | None:
        """The layout that the strides follow, None if none; where several fit, the first."""
        values = self._record(Tensor)
        data_type, shape, strides = values.data_type, values.shape, values.strides
        # What lies in vectors looks the same as what has these strides, except for its size.
        if vector_length(data_type) > 1 and self.size_in_bytes != _dense_size(data_type, shape):
            return None
        return layout_name(shape, strides, data_type) if shape else None

    def _arguments(self) -> dict[str, Any]:
        record, layout = self._record(Tensor), self.layout
        if not record.shape:
            return {}
        where = {"strides": record.strides} if layout is None else {"layout": layout}
        return {"shape": record.shape, "data_type": record.data_type, **where}


def _dense_size(data_type: raw.cudnnDataType_t, shape: Shape) -> int:
    count = 1
    for size in shape:
        count *= size
    return storage_bytes(data_type, count)


class FilterDescriptor(Descriptor[raw.cudnnFilterDescriptor_t]):
    """The shape of a bank of filters; follows ``cudnnSetFilterNdDescriptor``.

    Parameters
    ----------
    shape : sequence of int, optional
        (K, C / groups, filter sizes...) whatever the layout: K filters, which are the output
        channels, over C input channels; 3 to 8 dimensions. Default: not set yet.
    data_type : data type
        As for `as_data_type`. cuDNN 9.28 takes the types of `TensorDescriptor` but int32.
    layout : {"NCHW", "NHWC", "NCHW_VECT_C4", "NCHW_VECT_C32"} or cudnnTensorFormat_t, optional
        N stands for K here. Default: NCHW; vectorised types lie in their vectors. Filters have no
        strides: they are dense.

    Raises
    ------
    BadParamError, NotSupportedError
        If cuDNN refuses: a zero dimension, for example.
    TypeError, ValueError
        If the arguments do not go together.

    Examples
    --------
    >>> FilterDescriptor((64, 3, 7, 7), "float16", layout="NHWC").size_in_bytes
    18816
    """

    _unset = Filter(raw.CUDNN_DATA_FLOAT, raw.CUDNN_TENSOR_NCHW, (), 0)

    def __init__(
        self, shape: Sequence[int] | None = None, data_type: Any = "float32", *, layout: Any = None
    ) -> None:
        super().__init__(raw.cudnnFilterDescriptor_t())
        with self._closed_on_error():
            if shape is not None:
                shape = to_shape(shape)
                tensor_format, data_type = format_and_type(layout, data_type)
                if len(shape) == 4:
                    self.set_4d(data_type, tensor_format, *shape)
                else:
                    self.set_nd(data_type, tensor_format, shape)
            elif layout is not None:
                raise ValueError("shape: needed with layout")

    @classmethod
    def of(
        cls, tensor: DeviceTensor, *, layout: str | None = None, min_dims: int = 3
    ) -> FilterDescriptor:
        """The descriptor of filters in memory; parameters as for `TensorDescriptor.of`.

        Raises
        ------
        ValueError
            If the tensor is not dense in one of the layouts.
        """
        shape, strides = with_unit_dimensions(tensor, min_dims)
        name = layout_name(shape, strides, tensor.data_type, layout)
        if name is None:
            raise ValueError(
                f"cuDNN's filters are dense in NCHW or NHWC, these of shape {shape} have strides "
                f"{strides}"
            )
        return cls(shape, tensor.data_type, layout=name)

    # -- setting, as C does --------------------------------------------------------------------

    def set_4d(self, data_type: Any, layout: Any, k: int, c: int, h: int, w: int) -> None:
        """Set filters of 2 spatial dimensions; follows ``cudnnSetFilter4dDescriptor``.

        Data type and layout are in C's order, which is not that of `TensorDescriptor.set_4d`.

        Parameters
        ----------
        k, c, h, w : int
            Filters, channels that each sees, height and width.
        """
        data_type, tensor_format = as_type(data_type), as_format(layout)
        raw.cudnnSetFilter4dDescriptor(self, data_type, tensor_format, k, c, h, w)

    def set_nd(self, data_type: Any, layout: Any, shape: Sequence[int]) -> None:
        """Set filters of any number of dimensions; follows ``cudnnSetFilterNdDescriptor``."""
        data_type, tensor_format = as_type(data_type), as_format(layout)
        raw.cudnnSetFilterNdDescriptor(self, data_type, tensor_format, len(shape), shape)

    # -- reading back --------------------------------------------------------------------------

    def get_4d(self) -> dict[str, Any]:
        """The arguments of `set_4d`, by name; follows ``cudnnGetFilter4dDescriptor``."""
        return self._arguments_of(self.set_4d, raw.cudnnGetFilter4dDescriptor)

    shape: tuple[int, ...] = read_back(
        Filter, "(K, C / groups, filter sizes...); empty before it is set."
    )
    data_type: raw.cudnnDataType_t = read_back(Filter, "Type of the elements.")
    format: raw.cudnnTensorFormat_t = read_back(Filter, "The layout as cuDNN names it.")
    size_in_bytes: int = read_back(
        Filter, "Bytes that the filters take; follows ``cudnnGetFilterSizeInBytes``."
    )

    @property
    def layout(self) -> str:
        """The layout by name, with the length of its vectors."""
        values = self._record(Filter)
        name = values.format.name.removeprefix("CUDNN_TENSOR_")
        return f"{name}{vector_length(values.data_type)}" if name == "NCHW_VECT_C" else name

    def _arguments(self) -> dict[str, Any]:
        values = self._record(Filter)
        arguments = {"shape": values.shape, "data_type": values.data_type, "layout": self.layout}
        return arguments if values.shape else {}
