"""One convolution as its four descriptors state it, checked as cuDNN checks it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.descriptors import Convolution, Filter, Tensor
from ...raw.operand_rules import Operand, convolutions
from ..geometry import Geometry, Mode
from .call import Call
from .registry import bad_param

__all__ = ["Problem", "fitting"]

_MODES: dict[raw.cudnnConvolutionMode_t, Mode] = {
    raw.CUDNN_CONVOLUTION: "convolution",
    raw.CUDNN_CROSS_CORRELATION: "cross_correlation",
}


@dataclass(frozen=True)
class Problem:
    """The records of the descriptors of x, w, the convolution and y, in any direction.

    `names` are the parameters' names in C, in the same order: for backward data dxDesc, wDesc,
    convDesc, dyDesc.
    """

    x: Tensor
    w: Filter
    convolution: Convolution
    y: Tensor
    names: tuple[str, ...]

    @classmethod
    def read(cls, call: Call, *names: str) -> Problem:
        """Read the descriptors of x, w, the convolution and y, given by their C names."""
        x, w, convolution, y = names
        return cls(
            call.record(x, Tensor),
            call.record(w, Filter),
            call.record(convolution, Convolution),
            call.record(y, Tensor),
            names,
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
        return fitting(self.x, self.w, self.convolution, self.names, self.y)

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of the reference functions: padding, stride, dilation, groups, mode."""
        return _options(self.convolution)

    @property
    def compute_dtype(self) -> np.dtype[Any]:
        """In which products are summed; float32 also where cuDNN may sum in half precision."""
        if self.convolution.compute_data_type == raw.CUDNN_DATA_HALF:
            return np.dtype(np.float32)
        return numpy_dtype(self.convolution.compute_data_type)


def fitting(
    x: Tensor,
    w: Filter,
    convolution: Convolution,
    names: tuple[str, ...],
    y: Tensor | None = None,
) -> Geometry:
    """x, w, a convolution, and y together; BAD_PARAM, with `names`, if they do not fit."""
    result = None if y is None else Operand(names[-1], y)
    operands = Operand(names[0], x), Operand(names[1], w)
    for broken in convolutions.fitting(*operands, convDesc=convolution, y=result):
        raise bad_param(str(broken))
    try:
        return Geometry.of(x.shape, w.shape, **_options(convolution))
    except ValueError as error:
        raise bad_param(
            f"{names[0]}, {names[1]} and {names[2]} do not fit each other: {error}"
        ) from None


def _options(convolution: Convolution) -> dict[str, Any]:
    return {
        "padding": convolution.padding,
        "stride": convolution.stride,
        "dilation": convolution.dilation,
        "groups": convolution.groups,
        "mode": _MODES[convolution.mode],
    }
