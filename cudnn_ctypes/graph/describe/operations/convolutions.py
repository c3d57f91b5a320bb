"""Convolution: forward, and the gradients of its image and its filter.

`padding`, `stride` and `dilation` are one number, or one for each spatial dimension; `pre_padding`
and `post_padding` take the place of `padding` where the sides differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....raw import cudnnConvolutionMode_t
from ..node import Inner, Kind, Node, Result, named
from ..tensor import Tensor
from .base import operation

Sizes = int | Sequence[int]

_INNER = Inner(
    "convolution",
    "conv_desc",
    named(
        "spatial_dims convolution_mode=conv_mode pre_padding=pre_paddings "
        "post_padding=post_paddings stride=filter_strides dilation=dilations"
    ),
    "comp_type",
)
_SCALING = "alpha beta"
_REQUIRED = f"convolution_mode {_SCALING}"


def _settle(node: Node, rank: int) -> None:
    """Give every option one number per spatial dimension: the least where none is given."""
    node.options["spatial_dims"] = rank
    for option, least in (("pre_padding", 0), ("post_padding", 0), ("stride", 1), ("dilation", 1)):
        node.options[option] = node.spatial(option, rank, least)
        if min(node.options[option]) < least:
            node.refuse(f"{option} {node.options[option]} must be at least {least}")


def _result_dims(node: Node, x: Tensor, w: Tensor) -> tuple[int, ...]:
    """The dims of y; refuses x and w that do not fit."""
    x_dims, w_dims = x.dims or (), w.dims or ()
    if len(x_dims) < 3 or len(w_dims) != len(x_dims):
        node.refuse(
            f"image {x.name!r} {x_dims} and weight {w.name!r} {w_dims} need the same number of "
            "dimensions, at least three"
        )
    _settle(node, len(x_dims) - 2)
    if x_dims[1] % w_dims[1]:
        node.refuse(
            f"image {x.name!r} has {x_dims[1]} channels, which weight {w.name!r} {w_dims} does not "
            f"divide into groups of {w_dims[1]}"
        )
    if w_dims[0] % (x_dims[1] // w_dims[1]):
        node.refuse(
            f"the {w_dims[0]} filters of {w.name!r} cannot be shared among "
            f"{x_dims[1] // w_dims[1]} groups"
        )
    spatial = []
    for axis, (size, window) in enumerate(zip(x_dims[2:], w_dims[2:], strict=True)):
        reach = node.options["dilation"][axis] * (window - 1) + 1
        padded = size + node.options["pre_padding"][axis] + node.options["post_padding"][axis]
        if padded < reach:
            node.refuse(
                f"weight {w.name!r} reaches over {reach} in dimension {axis + 2}, but image "
                f"{x.name!r} with its padding has {padded}"
            )
        spatial.append((padded - reach) // node.options["stride"][axis] + 1)
    return (x_dims[0], w_dims[0], *spatial)


def _infer_forward(node: Node) -> Mapping[str, Result]:
    image, weight = node.inputs["image"], node.inputs["weight"]
    return {"y": Result(_result_dims(node, image, weight), image)}


def _check_gradient(node: Node, x: Tensor, w: Tensor) -> None:
    of = f"{x.name!r} {x.dims} and {w.name!r} {w.dims} give"
    node.want_dims("loss", _result_dims(node, x, w), of)


def _infer_data(node: Node) -> Mapping[str, Result]:
    loss, weight, dx = node.inputs["loss"], node.inputs["filter"], node.outputs["dx"]
    rank = loss.rank - 2
    if rank < 1 or weight.rank != loss.rank or loss.dims[1] != weight.dims[0]:
        node.refuse(
            f"loss {loss.name!r} {loss.dims} does not fit filter {weight.name!r} {weight.dims}: "
            "its channels are the filters"
        )
    _settle(node, rank)
    dims = dx.dims
    if dims is None and all(step == 1 for step in node.options["stride"]):
        # With a stride, several sizes of the image give the same loss. One group is assumed.
        dims = (
            loss.dims[0],
            weight.dims[1],
            *(
                size + step * (window - 1) - before - after
                for size, window, step, before, after in zip(
                    loss.dims[2:],
                    weight.dims[2:],
                    node.options["dilation"],
                    node.options["pre_padding"],
                    node.options["post_padding"],
                    strict=True,
                )
            ),
        )
    return {
        "dx": Result(
            dims, loss, check=lambda dims: _check_gradient(node, Tensor(dx.name, dims), weight)
        )
    }


def _infer_filter(node: Node) -> Mapping[str, Result]:
    image, loss, dw = node.inputs["image"], node.inputs["loss"], node.outputs["dw"]
    if image.rank < 3 or image.rank != loss.rank or image.dims[0] != loss.dims[0]:
        node.refuse(
            f"image {image.name!r} {image.dims} and loss {loss.name!r} {loss.dims} need the same "
            "batch size and number of dimensions"
        )
    _settle(node, image.rank - 2)
    return {
        "dw": Result(
            dw.dims, image, check=lambda dims: _check_gradient(node, image, Tensor(dw.name, dims))
        )
    }


CONV_FPROP = Kind.of(
    "operation_convolution_forward",
    "image=x weight=w",
    "y=y",
    _infer_forward,
    options=_SCALING,
    inner=_INNER,
    required=_REQUIRED,
)
CONV_DGRAD = Kind.of(
    "operation_convolution_backward_data",
    "loss=dy filter=w",
    "dx=dx",
    _infer_data,
    options=_SCALING,
    inner=_INNER,
    required=_REQUIRED,
)
CONV_WGRAD = Kind.of(
    "operation_convolution_backward_filter",
    "image=x loss=dy",
    "dw=dw",
    _infer_filter,
    options=_SCALING,
    inner=_INNER,
    required=_REQUIRED,
)


def _options(
    operation: str, padding: Sizes | None, before: Sizes | None, after: Sizes | None
) -> dict[str, Any]:
    if padding is not None and (before is not None or after is not None):
        raise TypeError(f"{operation}: either padding, or pre_padding and post_padding")
    return {
        "pre_padding": padding if before is None else before,
        "post_padding": padding if after is None else after,
        "alpha": 1.0,
        "beta": 0.0,
    }


@operation(CONV_FPROP)
def conv_fprop(
    image: Tensor,
    weight: Tensor,
    *,
    padding: Sizes | None = None,
    pre_padding: Sizes | None = None,
    post_padding: Sizes | None = None,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    convolution_mode: cudnnConvolutionMode_t | str = "cross_correlation",
) -> Mapping[str, Any]:
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
    return _options("conv_fprop", padding, pre_padding, post_padding)


@operation(CONV_DGRAD)
def conv_dgrad(
    loss: Tensor,
    filter: Tensor,
    *,
    padding: Sizes | None = None,
    pre_padding: Sizes | None = None,
    post_padding: Sizes | None = None,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    convolution_mode: cudnnConvolutionMode_t | str = "cross_correlation",
) -> Mapping[str, Any]:
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
    return _options("conv_dgrad", padding, pre_padding, post_padding)


@operation(CONV_WGRAD)
def conv_wgrad(
    image: Tensor,
    loss: Tensor,
    *,
    padding: Sizes | None = None,
    pre_padding: Sizes | None = None,
    post_padding: Sizes | None = None,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    convolution_mode: cudnnConvolutionMode_t | str = "cross_correlation",
) -> Mapping[str, Any]:
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
    return _options("conv_wgrad", padding, pre_padding, post_padding)
