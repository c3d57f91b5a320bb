"""``SpatialTransformerDescriptor``: the output of a spatial transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import raw
from ..dtypes import as_data_type
from ..raw.descriptors import SpatialTransformer
from ..runtime.layout import to_shape
from .descriptor import Descriptor, read_back
from .enumerators import enumerator

__all__ = ["SpatialTransformerDescriptor"]


class SpatialTransformerDescriptor(Descriptor[raw.cudnnSpatialTransformerDescriptor_t]):
    """The output of a spatial transformer; follows ``cudnnSetSpatialTransformerNdDescriptor``.

    cuDNN offers no function that reads it back, so it shows what was set here.

    Parameters
    ----------
    shape : sequence of int
        (N, C, H, W) of the output, the only number of dimensions that the operations take.
    data_type : data type
        float32, float64 or float16.
    sampler : cudnnSamplerType_t or str
        There is only "bilinear".

    Raises
    ------
    BadParamError, NotSupportedError
        If cuDNN does not know the data type here.
    ValueError
        For no or more than 8 dimensions, which cuDNN would write past its end for, or a dimension
        below 1.

    Examples
    --------
    >>> SpatialTransformerDescriptor((2, 3, 8, 8), "float64").shape
    (2, 3, 8, 8)
    """

    def __init__(
        self, shape: Sequence[int], data_type: Any = "float32", *, sampler: Any = "bilinear"
    ) -> None:
        super().__init__(raw.cudnnSpatialTransformerDescriptor_t())
        with self._closed_on_error():
            self.set_nd(sampler, data_type, shape)

    def set_nd(self, sampler: Any, data_type: Any, shape: Sequence[int]) -> None:
        """Set all of it; follows ``cudnnSetSpatialTransformerNdDescriptor``."""
        sampler = enumerator(raw.cudnnSamplerType_t, sampler, "sampler")
        data_type, shape = as_data_type(data_type), to_shape(shape)
        if not 1 <= len(shape) <= raw.CUDNN_DIM_MAX or min(shape) < 1:
            raise ValueError(
                f"shape: expected 1 to {raw.CUDNN_DIM_MAX} dimensions of at least 1, got {shape}"
            )
        raw.cudnnSetSpatialTransformerNdDescriptor(self, sampler, data_type, len(shape), shape)

    shape: tuple[int, ...] = read_back(SpatialTransformer, "(N, C, H, W) of the output.")
    data_type: raw.cudnnDataType_t = read_back(SpatialTransformer, "Type of all tensors.")
    sampler: raw.cudnnSamplerType_t = read_back(SpatialTransformer, "How pixels are interpolated.")

    @property
    def theta_shape(self) -> tuple[int, ...]:
        """(N, 2, 3): a map for each image."""
        return (self.shape[0], 2, 3)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """(N, H, W, 2): the horizontal and the vertical coordinate of each sampling point."""
        return (self.shape[0], *self.shape[2:], 2)
