"""Convolution: forward, and the gradients of its image and its filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....arguments import enumerator
from ....raw import cudnnConvolutionMode_t
from ..node import Kind
from ..tensor import Tensor
from .base import Operations
from .convolution_kinds import CONV_DGRAD, CONV_FPROP, CONV_WGRAD

__all__ = ["ConvolutionOperations"]

Sizes = int | Sequence[int]


class ConvolutionOperations(Operations):
    """The convolutions of a graph.

    `padding`, `stride` and `dilation` are one number, or one for each spatial dimension;
    `pre_padding` and `post_padding` take the place of `padding` where the sides differ.
    """

    def conv_fprop(
        self,
        image: Tensor,
        weight: Tensor,
        *,
        padding: Sizes | None = None,
        pre_padding: Sizes | None = None,
        post_padding: Sizes | None = None,
        stride: Sizes = 1,
        dilation: Sizes = 1,
        convolution_mode: cudnnConvolutionMode_t | str = "cross_correlation",
        name: str = "",
        compute_data_type: Any = None,
    ) -> Tensor:
        """y = image * weight; ``CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR``.

        Parameters
        ----------
        image : Tensor
            ``(n, c, *spatial)``.
        weight : Tensor
            ``(k, c / groups, *window)``; the number of groups follows from the channels.
        padding : int or sequence of int, optional
            Zeros before and after each spatial dimension; 0 by default.
        pre_padding, post_padding : int or sequence of int, optional
            In place of `padding`, where the sides differ.
        stride, dilation : int or sequence of int
            Steps of the window, and distances between its taps; one for each spatial dimension.
        convolution_mode : cudnnConvolutionMode_t or str
            "cross_correlation", or "convolution", which turns the window round.

        Returns
        -------
        Tensor
            ``(n, k, *spatial)``, in the layout of `image`.

        Raises
        ------
        TypeError
            For `padding` together with `pre_padding` or `post_padding`.
        ValueError
            From ``Graph.validate``, for shapes and sizes that do not fit.

        Examples
        --------
        >>> graph = Graph(io_data_type="float16")
        >>> x = graph.tensor((8, 64, 56, 56), layout="nhwc")
        >>> w = graph.tensor((32, 64, 3, 3), layout="krsc")
        >>> y = graph.conv_fprop(x, w, padding=1, stride=2).set_output()
        >>> _ = graph.validate()
        >>> y.dims
        (8, 32, 28, 28)
        """
        return self._convolution(
            CONV_FPROP,
            "conv_fprop",
            {"image": image, "weight": weight},
            (padding, pre_padding, post_padding),
            stride,
            dilation,
            convolution_mode,
            name,
            compute_data_type,
        )

    def conv_dgrad(
        self,
        loss: Tensor,
        filter: Tensor,
        *,
        padding: Sizes | None = None,
        pre_padding: Sizes | None = None,
        post_padding: Sizes | None = None,
        stride: Sizes = 1,
        dilation: Sizes = 1,
        convolution_mode: cudnnConvolutionMode_t | str = "cross_correlation",
        name: str = "",
        compute_data_type: Any = None,
    ) -> Tensor:
        """The gradient of `conv_fprop` with respect to its image.

        ``CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR``.

        Parameters
        ----------
        loss : Tensor
            The gradient with respect to y, ``(n, k, *spatial)``.
        filter : Tensor
            The weight, ``(k, c / groups, *window)``.
        padding, pre_padding, post_padding, stride, dilation, convolution_mode
            As `conv_fprop` had them.

        Returns
        -------
        Tensor
            ``(n, c, *spatial)``, in the layout of `loss`. With a stride other than 1, or groups, it
            needs dims: ``set_output(dims=…)``.

        Examples
        --------
        >>> graph = Graph(io_data_type="float16")
        >>> dy = graph.tensor((8, 32, 56, 56), layout="nhwc")
        >>> w = graph.tensor((32, 64, 3, 3), layout="krsc")
        >>> dx = graph.conv_dgrad(dy, w, padding=1).set_output(dims=(8, 64, 56, 56))
        >>> _ = graph.validate()
        >>> dx.dims, dx.strides
        ((8, 64, 56, 56), (200704, 1, 3584, 64))
        """
        return self._convolution(
            CONV_DGRAD,
            "conv_dgrad",
            {"loss": loss, "filter": filter},
            (padding, pre_padding, post_padding),
            stride,
            dilation,
            convolution_mode,
            name,
            compute_data_type,
        )

    def conv_wgrad(
        self,
        image: Tensor,
        loss: Tensor,
        *,
        padding: Sizes | None = None,
        pre_padding: Sizes | None = None,
        post_padding: Sizes | None = None,
        stride: Sizes = 1,
        dilation: Sizes = 1,
        convolution_mode: cudnnConvolutionMode_t | str = "cross_correlation",
        name: str = "",
        compute_data_type: Any = None,
    ) -> Tensor:
        """The gradient of `conv_fprop` with respect to its weight.

        ``CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR``.

        Parameters
        ----------
        image : Tensor
            ``(n, c, *spatial)``.
        loss : Tensor
            The gradient with respect to y, ``(n, k, *spatial)``.
        padding, pre_padding, post_padding, stride, dilation, convolution_mode
            As `conv_fprop` had them.

        Returns
        -------
        Tensor
            ``(k, c / groups, *window)``, in the layout of `image`. It needs dims, as several
            windows can give the same sizes: ``set_output(dims=…)``.

        Examples
        --------
        >>> graph = Graph(io_data_type="float16")
        >>> dy = graph.tensor((8, 32, 56, 56), layout="nhwc")
        >>> x = graph.tensor((8, 64, 56, 56), layout="nhwc")
        >>> dw = graph.conv_wgrad(x, dy, padding=1).set_output(dims=(32, 64, 3, 3))
        >>> _ = graph.validate()
        >>> dw.dims, dw.strides
        ((32, 64, 3, 3), (576, 1, 192, 64))
        """
        return self._convolution(
            CONV_WGRAD,
            "conv_wgrad",
            {"image": image, "loss": loss},
            (padding, pre_padding, post_padding),
            stride,
            dilation,
            convolution_mode,
            name,
            compute_data_type,
        )

    def _convolution(
        self,
        kind: Kind,
        operation: str,
        operands: Mapping[str, Tensor],
        paddings: tuple[Sizes | None, Sizes | None, Sizes | None],
        stride: Sizes,
        dilation: Sizes,
        mode: cudnnConvolutionMode_t | str,
        name: str,
        compute_data_type: Any,
    ) -> Tensor:
        both, before, after = paddings
        if both is not None and (before is not None or after is not None):
            raise TypeError(f"{operation}: either padding, or pre_padding and post_padding")
        options = {
            "pre_padding": both if before is None else before,
            "post_padding": both if after is None else after,
            "stride": stride,
            "dilation": dilation,
            "convolution_mode": enumerator(
                cudnnConvolutionMode_t, mode, f"{operation}: convolution_mode"
            ),
            "alpha": 1.0,
            "beta": 0.0,
        }
        results = self._add(
            kind, operation, operands, options, name=name, compute_data_type=compute_data_type
        )
        return next(iter(results.values()))
