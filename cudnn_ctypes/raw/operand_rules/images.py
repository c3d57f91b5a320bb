"""Operands of functions of images: activation, softmax, pooling, normalization, dropout, sampling.

What the kernels take, and the statuses, are cuDNN 9.14's and 9.19's, which agree in all of these
(measured on an H200), but for the spatial transformer's, which its documentation states.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from .. import enums
from ..descriptors import Activation, Pooling, SpatialTransformer
from ..strides import is_packed, overlapping, steps
from .language import (
    BAD_PARAM,
    FLOATING,
    NOT_SUPPORTED,
    Broken,
    Operand,
    Rules,
    apart,
    cudnn_only,
    equal,
    in_place,
    no_kernel,
    pointwise,
    ranked,
    rules,
    same,
    shaped,
    typed,
    unchecked,
    with_status,
)

_WITH_INT8 = (*FLOATING, enums.CUDNN_DATA_INT8)
_WITHOUT_BFLOAT16 = (enums.CUDNN_DATA_FLOAT, enums.CUDNN_DATA_DOUBLE, enums.CUDNN_DATA_HALF)

# -- activation and softmax --------------------------------------------------------------------

OF_X = (
    enums.CUDNN_ACTIVATION_RELU,
    enums.CUDNN_ACTIVATION_CLIPPED_RELU,
    enums.CUDNN_ACTIVATION_SWISH,
)
"""Activations whose gradient reads x; those of the others read y."""


@rules("cudnnActivationForward")
def activation(activationDesc: Activation, x: Operand, y: Operand) -> Rules:
    yield from _has_kernel(activationDesc)
    yield from same(x, y)
    yield from in_place(x, y)
    yield from _strided("an activation", x, y)
    yield from pointwise("an activation", x, y)
    yield from typed("activation", x, _WITH_INT8)


@rules("cudnnActivationBackward")
def activation_gradient(
    activationDesc: Activation, x: Operand | None, y: Operand | None, dy: Operand, dx: Operand
) -> Rules:
    """The gradient reads x or y; the other one may be NULL, and of 4 dimensions anything."""
    yield from _has_kernel(activationDesc)
    source, other = (x, y) if activationDesc.mode in OF_X else (y, x)
    yield from unchecked(same(source, other))
    assert source is not None
    yield from _strided("the gradient of an activation", source, dy, dx)
    for each in (dy, dx):
        if len(each.shape) != len(source.shape):
            yield from equal("shape", source, each)
    yield from in_place(dy, dx)
    yield from with_status(NOT_SUPPORTED, same(source, dy, dx))
    yield from cudnn_only(equal("strides", source, dy, dx), NOT_SUPPORTED)
    yield from pointwise("the gradient of an activation", source)
    if len(source.shape) == 3:
        yield from cudnn_only(equal("shape strides", source, other), NOT_SUPPORTED)
    yield from typed("activation gradient", source)


def _has_kernel(activation: Activation) -> Iterator[Broken]:
    if activation.mode == enums.CUDNN_ACTIVATION_IDENTITY:
        yield Broken(
            "activationDesc",
            "CUDNN_ACTIVATION_IDENTITY is for cudnnConvolutionBiasActivationForward only",
            by_meaning=False,
        )


def _strided(function: str, first: Operand, *others: Operand) -> Iterator[Broken]:
    """3 dimensions or more, and no stride of 0."""
    yield from cudnn_only(ranked(function, first, 3))
    for each in (first, *others):
        if 0 in each.strides:
            yield no_kernel(each, f"{function} takes no stride of 0, got {each.strides}")


@rules("cudnnSoftmaxForward")
def softmax(x: Operand, y: Operand) -> Rules:
    yield from _strided("a softmax", x, y)
    yield from same(x, y)
    yield from pointwise("a softmax", x, y)
    yield from typed("softmax", x, _WITH_INT8)


@rules("cudnnSoftmaxBackward")
def softmax_gradient(y: Operand, dy: Operand, dx: Operand) -> Rules:
    yield from _strided("the gradient of a softmax", y, dy, dx)
    yield from same(y, dy, dx)
    yield from cudnn_only(equal("strides", y, dy))
    yield from pointwise("the gradient of a softmax", y, dx)
    yield from in_place(dy, dx)
    yield from typed("softmax gradient", y)


# -- pooling -----------------------------------------------------------------------------------


@rules("cudnnPoolingForward")
def pooling(poolingDesc: Pooling, x: Operand, y: Operand) -> Rules:
    for each in (x, y):
        types = (*_WITH_INT8, enums.CUDNN_DATA_INT8x4, enums.CUDNN_DATA_INT8x32)
        yield from typed("pooling", each, types)
    yield from _pooled(poolingDesc, x, y)


@rules("cudnnPoolingBackward")
def pooling_gradient(
    poolingDesc: Pooling, x: Operand | None, y: Operand | None, dy: Operand, dx: Operand
) -> Rules:
    """Averages need nothing of x and y, whose descriptors may say anything."""
    maxima = poolingDesc.mode in (enums.CUDNN_POOLING_MAX, enums.CUDNN_POOLING_MAX_DETERMINISTIC)
    if not maxima:
        yield from typed("pooling gradient", dx)
        yield from typed("pooling gradient", dy)
        yield from unchecked(same(y, dy))
        yield from unchecked(same(x, dx))
        y, x = dy, dx
    assert x is not None
    yield from same(y, dy)
    yield from cudnn_only(equal("strides", y, dy))
    yield from same(x, dx)
    yield from cudnn_only(equal("strides", x, dx))
    yield from _pooled(poolingDesc, x, dy)
    yield from typed("pooling gradient", x)


@rules("cudnnGetPooling2dForwardOutputDim", "cudnnGetPoolingNdForwardOutputDim")
def pooled_sizes(poolingDesc: Pooling, inputTensorDesc: Operand) -> Rules:
    yield from _of_its_rank(poolingDesc, inputTensorDesc)
    for axis, (window, padding) in enumerate(
        zip(poolingDesc.window, poolingDesc.padding, strict=True)
    ):
        padded = inputTensorDesc.shape[axis + 2] + 2 * padding
        if window > padded:
            yield Broken(
                inputTensorDesc.name,
                f"the window reaches over {window} elements along spatial dimension {axis}, and "
                f"{padded} are there, padding included: (N, C, sizes) is {inputTensorDesc.shape}",
            )


def _pooled(pooling: Pooling, x: Operand, y: Operand) -> Iterator[Broken]:
    """The sizes of y are free."""
    yield from equal("data_type", x, y)
    yield from _of_its_rank(pooling, x)
    yield from ranked("pooling", x, 4, 5)
    if len(y.shape) != len(x.shape) or y.shape[:2] != x.shape[:2]:
        yield Broken(
            y.name,
            f"expected (N, C) of {x.name}, {x.shape[:2]}, and {len(pooling.window)} output sizes, "
            f"got shape {y.shape}",
        )


def _of_its_rank(pooling: Pooling, x: Operand) -> Iterator[Broken]:
    ndim = len(pooling.window)
    if len(x.shape) != ndim + 2:
        yield Broken(
            x.name,
            f"a pooling over {ndim} spatial dimensions needs {ndim + 2} dimensions, got shape "
            f"{x.shape}",
        )


# -- local response and divisive normalization -------------------------------------------------


@rules("cudnnLRNCrossChannelForward")
def lrn(x: Operand, y: Operand) -> Rules:
    """BFLOAT16 is documented, and refused."""
    yield from _across_channels(x, y)
    yield from typed("LRN", x, (*_WITHOUT_BFLOAT16, enums.CUDNN_DATA_INT8))


@rules("cudnnLRNCrossChannelBackward")
def lrn_gradient(x: Operand, y: Operand | None, dy: Operand, dx: Operand) -> Rules:
    """cuDNN does not look at the descriptor of y."""
    yield from unchecked(same(x, y))
    status = NOT_SUPPORTED if len(x.shape) > 2 else BAD_PARAM
    for each in _across_channels(x, dy, dx):
        yield each._replace(status=status)
    yield from typed("LRN", x, _WITHOUT_BFLOAT16)


def _across_channels(x: Operand, *others: Operand) -> Iterator[Broken]:
    yield from cudnn_only(ranked("LRN", x, 3))
    for each in (x, *others):  # before shapes and layouts are looked at, integers after
        if each.data_type == enums.CUDNN_DATA_BFLOAT16:
            yield from typed("LRN", each, ())
    yield from same(x, *others)
    for each in (x, *others):
        if len(each.shape) >= 5 and not _has_planes(each):
            yield Broken(
                each.name,
                f"LRN of {len(each.shape)} dimensions is for packed channels of images one after "
                f"the other, got strides {each.strides}",
                by_meaning=False,
            )


def _has_planes(tensor: Operand) -> bool:
    """Whether channels are packed, and lie behind each other within images, with gaps perhaps."""
    long = steps(tensor.shape, tensor.strides)
    ordered = long == sorted(long, reverse=True) and not overlapping(tensor.shape, tensor.strides)
    return ordered and is_packed(tensor, start=2)


@rules("cudnnDivisiveNormalizationForward", other="y")
@rules("cudnnDivisiveNormalizationBackward", other="dXdMeansDesc")
def divisive_normalization(x: Operand, other: Operand) -> Rules:
    yield from cudnn_only(ranked("divisive normalization", x, 4, 5))
    yield from same(x, other)
    yield from cudnn_only(equal("strides", x, other), NOT_SUPPORTED)
    yield from typed("divisive normalization", x, _WITHOUT_BFLOAT16)


# -- dropout -----------------------------------------------------------------------------------


@rules("cudnnDropoutForward", source="x", result="y")
@rules("cudnnDropoutBackward", source="dy", result="dx")
def dropout(source: Operand, result: Operand) -> Rules:
    """cuDNN compares the numbers of elements only."""
    yield from apart(source)
    for each in (source, result):
        if 0 in each.strides:
            yield Broken(each.name, "dropout takes no stride of 0", by_meaning=False)
    yield from equal("data_type", source, result)
    yield from typed("dropout", source, _WITHOUT_BFLOAT16)
    sizes = [[size for size in each.shape if size != 1] for each in (source, result)]
    if sizes[0] != sizes[1]:  # dimensions of size 1 do not count
        counts = (math.prod(source.shape), math.prod(result.shape))
        shapes = equal("shape", source, result)
        yield from shapes if counts[0] != counts[1] else unchecked(shapes)
    yield from in_place(source, result)


# -- spatial transformer -----------------------------------------------------------------------


@rules("cudnnSpatialTfSamplerForward", y="y")
@rules("cudnnSpatialTfSamplerBackward", y="dy")
def sampler(stDesc: SpatialTransformer, x: Operand, y: Operand) -> Rules:
    """Height and width of x are free."""
    for each in (x, y):
        yield from typed("sampler", each)
    yield from ranked("a sampler", x, 4, 4)
    wanted = stDesc.shape[:2]
    if len(x.shape) != 4 or x.shape[:2] != wanted:
        yield Broken(
            x.name, f"expected shape (N, C, height, width) with (N, C) = {wanted}, got {x.shape}"
        )
    yield from shaped(y, stDesc.shape, "that of the transformer")
    for each in (x, y):
        if each.data_type != stDesc.data_type:
            yield Broken(
                each.name,
                f"expected {stDesc.data_type.name}, the type of the transformer, got "
                f"{each.data_type.name}",
            )


@rules("cudnnSpatialTfSamplerBackward")
def sampler_gradient(x: Operand, dx: Operand) -> Rules:
    return same(x, dx)
