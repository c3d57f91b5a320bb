"""``FilterDescriptor``: shape, layout and data type of a convolution's filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import raw
from ..dtypes import vector_length
from ..raw.descriptors import Filter
from ..raw.layouts import layout_name
from ..runtime import DeviceTensor
from ..runtime.layout import to_shape
from .descriptor import Descriptor, read_back
from .layouts import as_format, as_type, format_and_type, with_unit_dimensions


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
        self,
        shape: Sequence[int] | None = None,
        data_type: Any = "float32",
        *,
        layout: Any = None,
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
