"""A check that the tensors, the filter and the convolution of a call fit together."""

from __future__ import annotations

from collections.abc import Sequence

from .images import Convolution

__all__ = ["convolution_misfit", "convolution_output"]

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


def convolution_misfit(
    x_shape: Ints,
    w_shape: Ints,
    convolution: Convolution,
    y_shape: Ints | None = None,
    *,
    names: Sequence[str] = ("x", "w", "y"),
) -> str:
    """A sentence with the shapes and numbers that do not fit together; "" if all fit.

    Parameters
    ----------
    x_shape, w_shape, y_shape : tuple of int
        (N, C, sizes...), (K, C / groups, sizes...) and (N, K, sizes...).
    convolution : Convolution
    names : sequence of str
        The names of x, w and y in the sentence.
    """
    x, w, y = names
    ndim, groups = len(convolution.padding), convolution.groups
    if not len(x_shape) == len(w_shape) == ndim + 2:
        return (
            f"a convolution over {ndim} spatial dimensions needs {x} and {w} of {ndim + 2} "
            f"dimensions, got {x} {x_shape} and {w} {w_shape}"
        )
    if x_shape[1] != w_shape[1] * groups:
        return (
            f"{x} has {x_shape[1]} channels, but filters {w} {w_shape} over {w_shape[1]} channels "
            f"in {groups} group{'s' if groups > 1 else ''} need {w_shape[1] * groups}"
        )
    if w_shape[0] % groups:  # cuDNN 9.28 computes an output shape here
        return f"{w} has {w_shape[0]} filters, which {groups} groups do not divide"
    for axis in range(ndim):
        padded = x_shape[axis + 2] + 2 * convolution.padding[axis]
        window = (w_shape[axis + 2] - 1) * convolution.dilation[axis] + 1
        if window > padded:
            return (
                f"the filter reaches over {window} elements along spatial dimension {axis} "
                f"(dilation included), the padded {x} has {padded}: {w} {w_shape}, {x} {x_shape}"
            )
    wanted = convolution_output(x_shape, w_shape, convolution)
    if y_shape is not None and y_shape != wanted:
        return (
            f"{y} has shape {y_shape}, but {x} {x_shape} and {w} {w_shape} with padding "
            f"{convolution.padding}, stride {convolution.stride} and dilation "
            f"{convolution.dilation} give {wanted}"
        )
    return ""
