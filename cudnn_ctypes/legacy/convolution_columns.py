"""Image patches as the columns of a matrix."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import raw
from ..arguments import expect
from ..dtypes import storage_bytes
from ..handle import Handle
from .convolution import ConvolutionDescriptor
from .filter import FilterDescriptor
from .launch import launched
from .operands import Made, Operands
from .tensor import TensorDescriptor

__all__ = ["im2col"]


@launched
def im2col(
    handle: Handle,
    x: Any,
    w_desc: FilterDescriptor,
    conv: ConvolutionDescriptor,
    columns: Made | None = None,
    *,
    x_desc: TensorDescriptor | None = None,
) -> Made:
    """The patches of x under every position of the filter; follows ``cudnnIm2Col``.

    One row for every tap of the filter, one column for every output position: a convolution is the
    product of the filters as a matrix (K, C * R) with this one.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...).
    w_desc : FilterDescriptor
        The filters' shape; their number K does not matter.
    columns : DeviceTensor or DeviceBuffer, optional
        Memory for C * R * N * Y elements of the type of x. Default: allocated.
    x_desc : TensorDescriptor, optional
        How x is to be read; needed for addresses and buffers.

    Returns
    -------
    DeviceTensor of shape (C, filter sizes..., N, output sizes...), or columns as it was given

    Raises
    ------
    ValueError
        If shapes do not fit together, or `columns` is too small.
    NotSupportedError
        For groups, and for more than 2 spatial dimensions (cuDNN 9.19).

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(9, dtype="float32").reshape(1, 1, 3, 3))
    >>> with Handle() as handle, ConvolutionDescriptor() as conv:
    ...     columns = im2col(handle, x, FilterDescriptor((1, 1, 2, 2)), conv)
    >>> columns.numpy().reshape(4, 4)
    array([[0., 1., 3., 4.],
           [1., 2., 4., 5.],
           [3., 4., 6., 7.],
           [4., 5., 7., 8.]], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), columns=(None, None)) as operands:
        x_desc = operands.describe("x")
        expect("w_desc", w_desc, FilterDescriptor)
        expect("conv", conv, ConvolutionDescriptor)
        batch, _, *output_sizes = conv.output_shape(x_desc, w_desc)
        shape = (*w_desc.shape[1:], batch, *output_sizes)
        if columns is None:
            columns = operands.make("columns", shape, x_desc.data_type, layout="NCHW")
        memory, _ = operands.room("columns", columns, storage_bytes(x_desc.data_type, prod(shape)))
        operands.launch(raw.cudnnIm2Col, wDesc=w_desc, convDesc=conv, colBuffer=memory)
    return columns
