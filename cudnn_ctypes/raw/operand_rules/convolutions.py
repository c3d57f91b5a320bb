"""Operands of convolutions: x, w, the convolution and y, under the names that functions give them.

Statuses are cuDNN 9.19's on an H200. Of descriptors that do not fit each other it gives BAD_PARAM,
but that it accepts a group count which does not fit the channels, and goes by the channels.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..descriptors import Convolution
from ..enums import CUDNN_DATA_DOUBLE, CUDNN_DATA_FLOAT, CUDNN_DATA_HALF
from ..layouts import vector_length
from .language import FLOATING, Broken, Operand, Rules, apart, equal, no_kernel, rules, shaped

Ints = tuple[int, ...]


def convolution_output(x_shape: Ints, w_shape: Ints, convolution: Convolution) -> Ints:
    """The shape of y, (N, K, output sizes...), for an x and a w that fit together."""
    axes = zip(
        x_shape[2:],
        w_shape[2:],
        convolution.padding,
        convolution.stride,
        convolution.dilation,
        strict=True,
    )
    sizes = [(x + 2 * pad - ((w - 1) * step + 1)) // stride + 1 for x, w, pad, stride, step in axes]
    return (x_shape[0], w_shape[0], *sizes)


def fitting(
    x: Operand, w: Operand, convDesc: Convolution, y: Operand | None = None
) -> Iterator[Broken]:
    """x (N, C, sizes...), w (K, C / groups, sizes...), and y, whose shape follows."""
    ndim, groups = len(convDesc.padding), convDesc.groups
    for each in (x, w):
        if len(each.shape) != ndim + 2:
            yield Broken(
                each.name,
                f"a convolution over {ndim} spatial dimensions needs {ndim + 2} dimensions, got "
                f"shape {each.shape}",
            )
            return
    if x.shape[1] != w.shape[1] * groups:
        # Fewer channels than a vector has are none to C.
        wanted, rest = divmod(x.shape[1], w.shape[1]) if w.shape[1] else (0, 0)
        fits = wanted > 1 and not rest and not w.shape[0] % wanted
        yield Broken(
            x.name,
            f"it has {x.shape[1]} channels, but filters {w.name} {w.shape} over {w.shape[1]} "
            f"channels in {groups} group{'s' if groups > 1 else ''} need {w.shape[1] * groups}"
            f"{f'; {wanted} groups would fit' if fits else ''}",
        )
    if w.shape[0] % groups:  # cuDNN 9.28 computes an output shape here
        yield Broken(w.name, f"it has {w.shape[0]} filters, which {groups} groups do not divide")
    for axis in range(ndim):
        padded = x.shape[axis + 2] + 2 * convDesc.padding[axis]
        window = (w.shape[axis + 2] - 1) * convDesc.dilation[axis] + 1
        if window > padded:
            swapped = "; are they swapped?" if w.shape[axis + 2] > 7 else ""  # large for a filter
            yield Broken(
                w.name,
                f"the filter reaches over {window} elements along spatial dimension {axis} "
                f"(dilation included), the padded {x.name} has {padded}: {w.name} {w.shape}, "
                f"{x.name} {x.shape}{swapped}",
            )
    if y is not None:
        yield from apart(*(each for each in (x, y) if vector_length(each.data_type) == 1))
        whose = (
            f"that of {x.name} {x.shape} and {w.name} {w.shape} with padding {convDesc.padding}, "
            f"stride {convDesc.stride} and dilation {convDesc.dilation}"
        )
        yield from shaped(y, convolution_output(x.shape, w.shape, convDesc), whose)


def alike(x: Operand, w: Operand) -> Rules:
    for each in equal("data_type", x, w):
        yield no_kernel(w, each.sentence)


@rules("cudnnIm2Col")
def im2col(x: Operand, convDesc: Convolution) -> Rules:
    if len(x.shape) != 4 or x.data_type not in FLOATING or convDesc.groups != 1:
        yield no_kernel(
            x,
            f"cuDNN has no im2col for {len(x.shape)} dimensions of {x.data_type.name} in "
            f"{convDesc.groups} groups, only for 4 of a floating type in one",
        )


_QUERIES = ("cudnn{}", "cudnnGet{}WorkspaceSize", "cudnnFind{}Algorithm", "cudnnFind{}AlgorithmEx")

_ROLES: dict[str, str] = {
    "Im2Col": "xDesc wDesc none",
    "ConvolutionForward ConvolutionBiasActivationForward": "xDesc wDesc yDesc",
    "ConvolutionBackwardData": "dxDesc wDesc dyDesc",
    "ConvolutionBackwardFilter": "xDesc dwDesc dyDesc",
    "GetConvolutionForwardAlgorithm_v7": "srcDesc filterDesc destDesc",
    "GetConvolutionBackwardDataAlgorithm_v7": "gradDesc filterDesc diffDesc",
    "GetConvolutionBackwardFilterAlgorithm_v7": "srcDesc gradDesc diffDesc",
    "GetConvolution2dForwardOutputDim": "inputTensorDesc filterDesc none",
    "GetConvolutionNdForwardOutputDim": "inputTensorDesc filterDesc none",
    "GetFoldedConvBackwardDataDescriptors": "gradDesc filterDesc diffDesc",
}
"""Descriptors of x, w and y, by functions without "cudnn"."""


def _register() -> None:
    for functions, roles in _ROLES.items():
        names = [query.format(function) for function in functions.split() for query in _QUERIES]
        parameters = dict(zip("xwy", roles.split(), strict=True))
        rules(*names, **parameters)(fitting)
        if parameters["y"] != "none":
            rules(*names, **parameters)(alike)


_register()


@rules("cudnnConvolutionBackwardBias")
def bias_gradient(dy: Operand, db: Operand) -> Rules:
    """db is (1, C, 1...)."""
    ndim = len(dy.shape)
    plain = (CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF)
    if ndim == 3 or (ndim > 3 and dy.data_type not in plain):
        yield no_kernel(dy, f"cuDNN has no gradient of a bias of {dy.data_type.name} {dy.shape}")
    if 0 in dy.strides:
        yield no_kernel(dy, f"the gradient of a bias takes no stride of 0, got {dy.strides}")
    if ndim < 3:
        yield Broken(dy.name, f"it has {ndim} dimensions, 4 are needed", by_meaning=False)
    whose = f"one value for each channel of {dy.name}"
    yield from shaped(db, (1, *dy.shape[1:2], *(1,) * (ndim - 2)), whose)
    yield from equal("data_type", dy, db)
