"""Divisive normalization, the second half of local contrast normalization, forward and backward.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..dtypes import host_scalar
from ..handle import Handle
from .agreement import check_same
from .enumerators import enumerator
from .launch import Memory, launch, launched
from .lrn import LRNDescriptor
from .operands import Made, Operands, check_memory, expect, refuse_beta
from .tensor import TensorDescriptor

__all__ = [
    "DivisiveNormalizationGradients",
    "divisive_normalization_backward",
    "divisive_normalization_forward",
]


class DivisiveNormalizationGradients(NamedTuple):
    """What `divisive_normalization_backward` returns.

    Attributes
    ----------
    dx, dmeans : DeviceTensor, or as they were given
        dmeans is None without ``with_dmeans``.
    """

    dx: Any
    dmeans: Any


@launched
def divisive_normalization_forward(
    handle: Handle,
    x: Any,
    lrn: LRNDescriptor,
    y: Made | None = None,
    *,
    means: Any = None,
    mode: Any = "precomputed_means",
    temp: Any = None,
    temp2: Any = None,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * x / (variation around x)^beta + beta * y; ``cudnnDivisiveNormalizationForward``.

    The variation of an element is ``k + alpha / n^d * (sum of (x - its mean)^2)`` over the spatial
    window of n elements in each of d dimensions around it, with `lrn`'s alpha, beta and k.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...), with 1 to 3 spatial dimensions. (N, C, W) is (N, C, 1, W) to
        cuDNN, of 2 dimensions: alpha is divided by n^2.
    y : tensor, optional
        Of x's shape, type and strides. Left out: made.
    means : tensor, optional
        Like x: a mean for every element, or any other number. Left out: zeros.
    mode : cudnnDivNormMode_t or str
        There is only one.
    temp, temp2 : tensor or DeviceBuffer, optional
        Scratch memory, each like x. Left out: allocated for the call.
    alpha, beta : float
        Factors of the result and of what y held; not those of `lrn`. beta must not be below 0:
        cuDNN (9.14 and 9.19) then takes it for 0.
    x_desc, y_desc : TensorDescriptor, optional
        How the memory is to be read, that of the means and temporaries as well; needed for
        addresses and buffers.

    Returns
    -------
    DeviceTensor, or y as it was given

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes do not fit together, memory is too small, or beta is below 0; the message names
        the argument.
    """
    if beta < 0:
        raise ValueError(f"beta: cuDNN takes a factor below 0 for 0 here, got {beta}")
    with Operands(handle, x=(x, x_desc), means=(means, x_desc), y=(y, y_desc)) as operands:
        expect("lrn", lrn, LRNDescriptor)
        mode = enumerator(raw.cudnnDivNormMode_t, mode, "mode")
        if y is None:
            y = operands.make_like("y", "x", beta=beta)
        x_memory, x_desc = operands.tensor("x")
        y_memory, y_desc = operands.tensor("y")
        check_same("x", x_desc, "y", y_desc)
        if means is not None:
            means = _like_x(operands, "means", x_desc)
        launch(
            raw.cudnnDivisiveNormalizationForward,
            handle,
            lrn,
            mode,
            host_scalar(alpha, y_desc.data_type),
            x_desc,
            check_memory("x", x_memory, x_desc, handle),
            None if means is None else check_memory("means", means, x_desc, handle),
            _temporary(operands, handle, "temp", temp, x_desc),
            _temporary(operands, handle, "temp2", temp2, x_desc),
            host_scalar(beta, y_desc.data_type),
            y_desc,
            check_memory("y", y_memory, y_desc, handle, written=True),
        )
    return y


@launched
def divisive_normalization_backward(
    handle: Handle,
    x: Any,
    dy: Any,
    lrn: LRNDescriptor,
    dx: Any = None,
    *,
    means: Any = None,
    dmeans: Any = None,
    with_dmeans: bool = True,
    mode: Any = "precomputed_means",
    temp: Any = None,
    temp2: Any = None,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> DivisiveNormalizationGradients:
    """alpha * (gradients of x and of the means) + beta * (dx and dmeans).

    Follows ``cudnnDivisiveNormalizationBackward``. The means count as independent of x. Where the
    window's n is even, dx is not the gradient: cuDNN (9.14 and 9.19) sums over the windows of the
    forward pass, which reach further ahead than back, and not over their mirror images.
    float16 gives few digits: sums, powers and products in the temporaries are float16 as well.
    beta may be below 0.

    Parameters
    ----------
    dy : tensor
        Gradient of y, with the strides of x.
    dx, dmeans : tensor, optional
        Gradients of x and of the means, with the shape, type and strides of x. Left out: made.
    with_dmeans : bool
        False: the gradient of the means is not computed.
    x_desc, dx_desc : TensorDescriptor, optional
        How x, means and dy, and how dx and dmeans are to be read; needed for addresses and buffers.

    Returns
    -------
    DivisiveNormalizationGradients

    The other parameters, and the errors, are those of `divisive_normalization_forward`.
    """
    with_dmeans = with_dmeans or dmeans is not None
    with Operands(
        handle,
        x=(x, x_desc),
        dy=(dy, x_desc),
        means=(means, x_desc),
        dx=(dx, dx_desc),
        dmeans=(dmeans, dx_desc),
    ) as operands:
        expect("lrn", lrn, LRNDescriptor)
        mode = enumerator(raw.cudnnDivNormMode_t, mode, "mode")
        if dx is None:
            dx = operands.make_like("dx", "x", beta=beta)
        if with_dmeans and dmeans is None:
            refuse_beta("dmeans", beta)
            dmeans = operands.make_like("dmeans", "dx")
        x_memory, x_desc = operands.tensor("x")
        dx_memory, dx_desc = operands.tensor("dx")
        check_same("x", x_desc, "dx", dx_desc)
        dy = _like_x(operands, "dy", x_desc)
        if means is not None:
            means = _like_x(operands, "means", x_desc)
        by_means = None
        if with_dmeans:
            by_means = _like_x(operands, "dmeans", dx_desc, "dx")
            by_means = check_memory("dmeans", by_means, dx_desc, handle, written=True)
        launch(
            raw.cudnnDivisiveNormalizationBackward,
            handle,
            lrn,
            mode,
            host_scalar(alpha, dx_desc.data_type),
            x_desc,
            check_memory("x", x_memory, x_desc, handle),
            None if means is None else check_memory("means", means, x_desc, handle),
            check_memory("dy", dy, x_desc, handle),
            _temporary(operands, handle, "temp", temp, x_desc),
            _temporary(operands, handle, "temp2", temp2, x_desc),
            host_scalar(beta, dx_desc.data_type),
            dx_desc,
            check_memory("dx", dx_memory, dx_desc, handle, written=True),
            by_means,
        )
    return DivisiveNormalizationGradients(dx, dmeans)


def _like_x(operands: Operands, name: str, desc: TensorDescriptor, like: str = "x") -> Any:
    """An operand without a descriptor of its own in C: it must lie in memory as `like` does."""
    memory, own = operands.tensor(name)
    check_same(like, desc, name, own)
    if own.strides != desc.strides:
        raise ValueError(
            f"{name}: expected the strides of {like}, {desc.strides}, got {own.strides}: cuDNN "
            f"reads both with one descriptor"
        )
    return memory


def _temporary(
    operands: Operands, handle: Handle, name: str, given: Any, desc: TensorDescriptor
) -> Any:
    if given is None:
        return Memory(name, operands.scratch(desc.size_in_bytes), written=True)
    return check_memory(name, given, desc, handle, written=True)
