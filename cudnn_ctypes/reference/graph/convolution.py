"""Convolutions of the graph API: padding may differ between the sides of a dimension.

``cudnn_ctypes.reference.convolution`` computes them; here the image is padded first.
Groups follow from the channels of image and filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...raw.enums import cudnnConvolutionMode_t
from ..convolution import (
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
)
from ..tiles import Array


class Convolution:
    """A convolution and its gradients.

    Parameters
    ----------
    pre_paddings, post_paddings, strides, dilations : sequence of int
        One for each spatial dimension.
    mode : cudnnConvolutionMode_t
        By default the filter is not flipped.
    """

    def __init__(
        self,
        pre_paddings: Sequence[int],
        post_paddings: Sequence[int],
        strides: Sequence[int],
        dilations: Sequence[int],
        mode: cudnnConvolutionMode_t = cudnnConvolutionMode_t.CUDNN_CROSS_CORRELATION,
    ) -> None:
        self._before, self._after = tuple(pre_paddings), tuple(post_paddings)
        flips = mode == cudnnConvolutionMode_t.CUDNN_CONVOLUTION
        self._options: dict[str, Any] = {
            "stride": tuple(strides),
            "dilation": tuple(dilations),
            "mode": "convolution" if flips else "cross_correlation",
            "compute_dtype": np.float64,
            "out_dtype": np.float64,
        }

    def forward(self, x: Array, w: Array) -> Array:
        """y (n, k, *output) from x (n, c, *spatial) and w (k, c / groups, *window)."""
        groups = x.shape[1] // w.shape[1]
        return convolution_forward(self._padded(x), w, groups=groups, **self._options)

    def backward_data(self, dy: Array, w: Array, x_shape: Sequence[int]) -> Array:
        """dx, of `x_shape`, from the gradient of y and w."""
        sizes = zip(x_shape[2:], self._before, self._after, strict=True)
        padded = (*x_shape[:2], *(size + before + after for size, before, after in sizes))
        groups = x_shape[1] // w.shape[1]
        dx = convolution_backward_data(w=w, dy=dy, dx_shape=padded, groups=groups, **self._options)
        begins = (0, 0, *self._before)
        inside = (slice(b, b + size) for b, size in zip(begins, x_shape, strict=True))
        return dx[tuple(inside)]

    def backward_filter(self, x: Array, dy: Array, w_shape: Sequence[int]) -> Array:
        """dw, of `w_shape`, from x and the gradient of y."""
        groups = x.shape[1] // w_shape[1]
        return convolution_backward_filter(
            x=self._padded(x), dy=dy, dw_shape=tuple(w_shape), groups=groups, **self._options
        )

    def _padded(self, x: Array) -> Array:
        return np.pad(x, [(0, 0), (0, 0), *zip(self._before, self._after, strict=True)])
