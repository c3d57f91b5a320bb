"""One convolution as its four descriptors state it, checked as cuDNN checks it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.descriptors import Convolution, Filter, Tensor
from ..geometry import Geometry, Mode
from .dispatch import Refused
from .held import read

__all__ = ["Problem", "fitting"]

_MODES: dict[raw.cudnnConvolutionMode_t, Mode] = {
    raw.CUDNN_CONVOLUTION: "convolution",
    raw.CUDNN_CROSS_CORRELATION: "cross-correlation",
}


@dataclass(frozen=True)
class Problem:
    """What the descriptors of x, w, the convolution and y hold, whichever of them is the output.

    `names` are the parameters' names in C, in the same order: for backward data dxDesc, wDesc,
    convDesc, dyDesc.
    """

    x: Tensor
    w: Filter
    convolution: Convolution
    y: Tensor
    names: tuple[str, ...]

    @classmethod
    def read(cls, **descriptors: Any) -> Problem:
        """The descriptors of x, w, the convolution and y in this order, under their names in C.

        Raises
        ------
        Refused
            BAD_PARAM if one is NULL or was never set.
        """
        x, w, convolution, y = descriptors.items()
        return cls(
            read(Tensor, x[1], x[0]),
            read(Filter, w[1], w[0]),
            read(Convolution, convolution[1], convolution[0]),
            read(Tensor, y[1], y[0]),
            tuple(descriptors),
        )

    @functools.cached_property
    def geometry(self) -> Geometry:
        """The shapes and options together.

        Raises
        ------
        Refused
            BAD_PARAM if they do not fit each other. cuDNN 9.19 accepts a group count that does not
            fit the channels, and goes by the channels; here it is refused.
        """
        geometry = fitting(self.x, self.w, self.convolution, self.names)
        if self.y.shape != geometry.y_shape:
            raise Refused(
                raw.CUDNN_STATUS_BAD_PARAM,
                f"{self.names[3]} has shape {self.y.shape}, but {', '.join(self.names[:3])} give "
                f"{geometry.y_shape}",
            )
        return geometry

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of the reference functions: padding, stride, dilation, groups, mode."""
        return _options(self.convolution)

    @property
    def compute_dtype(self) -> np.dtype[Any]:
        """In which products are summed; float32 also where cuDNN may sum in half precision."""
        if self.convolution.compute_type == raw.CUDNN_DATA_HALF:
            return np.dtype(np.float32)
        return numpy_dtype(self.convolution.compute_type)


def fitting(
    x: Tensor,
    w: Filter,
    convolution: Convolution,
    names: tuple[str, ...],
) -> Geometry:
    """x, w and a convolution together; BAD_PARAM, with `names`, if they do not fit each other."""
    try:
        return Geometry.of(x.shape, w.shape, **_options(convolution))
    except ValueError as error:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"{names[0]}, {names[1]} and {names[2]} do not fit each other: {error}",
        ) from None


def _options(convolution: Convolution) -> dict[str, Any]:
    return {
        "padding": convolution.padding,
        "stride": convolution.stride,
        "dilation": convolution.dilation,
        "groups": convolution.groups,
        "mode": _MODES[convolution.mode],
    }
