"""Normalization by neighbours: local response normalization across channels, and divisive.

Divisive normalization is the second half of local contrast normalization.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator, expect, flag
from ..handle import Handle
from ..raw.descriptors import LRN
from ..runtime.launching.plan import Memory
from .descriptor import Descriptor, read_back
from .documentation import launched
from .operands import Made, Operands, real, refuse_beta
from .tensor import TensorDescriptor


class LRNDescriptor(Descriptor[raw.cudnnLRNDescriptor_t]):
    """A window and the numbers of the formula; follows ``cudnnSetLRNDescriptor``.

    y = x * (k + alpha / n * (sum of x^2 over the window))^-beta, where the window has n channels:
    (n - 1) // 2 before the element's own and the rest after it. Divisive normalization takes the
    same descriptor, with a window of n elements along every spatial dimension.

    Parameters
    ----------
    n : int
        From 1 to 16.
    alpha : float
        Divided by the number of elements in the window.
    beta : float
        At least 0.01.
    k : float
        At least 1e-5.

    Raises
    ------
    BadParamError
        If a number is out of range.

    Examples
    --------
    >>> LRNDescriptor(3, k=1.0)
    LRNDescriptor(n=3, alpha=0.0001, beta=0.75, k=1.0)
    """

    def __init__(
        self, n: int = 5, *, alpha: float = 1e-4, beta: float = 0.75, k: float = 2.0
    ) -> None:
        super().__init__(raw.cudnnLRNDescriptor_t())
        with self._closed_on_error():
            self.set(n, alpha, beta, k)

    def set(self, n: int, alpha: float, beta: float, k: float) -> None:
        """Set all of it; follows ``cudnnSetLRNDescriptor``."""
        raw.cudnnSetLRNDescriptor(self, n, alpha, beta, k)

    n: int = read_back(LRN, "Width of the window.")
    alpha: float = read_back(LRN, "Factor of the mean of squares.")
    beta: float = read_back(LRN, "The exponent.")
    k: float = read_back(LRN, "What is added to the mean of squares.")


@launched
def lrn_cross_channel_forward(
    handle: Handle,
    x: Any,
    lrn: LRNDescriptor,
    y: Made | None = None,
    *,
    mode: Any = "cross_channel_dim1",
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * lrn(x) + beta * y; follows ``cudnnLRNCrossChannelForward``.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...), with 1 to 3 spatial dimensions.
    y : tensor, optional
        Of x's shape and type; may be x. Default: allocated, in the layout of x.
    mode : cudnnLRNMode_t or str
        There is only one.
    alpha, beta : float
        Factors of the result and of what y held; not those of `lrn`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(-2, 2, dtype="float32").reshape(1, 1, 2, 2))

    >>> with Handle() as handle, LRNDescriptor(n=1, alpha=1, beta=1, k=1) as lrn:
    ...     y = lrn_cross_channel_forward(handle, x, lrn)
    >>> y.numpy().ravel()  # x / (1 + x * x)
    array([-0.4, -0.5,  0. ,  0.5], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        expect("lrn", lrn, LRNDescriptor)
        mode = enumerator(raw.cudnnLRNMode_t, mode, "mode")
        if y is None:
            y = operands.make_like("y", "x", beta=beta)
        operands.launch(
            raw.cudnnLRNCrossChannelForward, normDesc=lrn, lrnMode=mode, alpha=alpha, beta=beta
        )
    return y


@launched
def lrn_cross_channel_backward(
    handle: Handle,
    lrn: LRNDescriptor,
    *,
    x: Any,
    y: Any,
    dy: Any,
    dx: Made | None = None,
    mode: Any = "cross_channel_dim1",
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> Made:
    """dx = alpha * (gradient of x) + beta * dx; follows ``cudnnLRNCrossChannelBackward``.

    Parameters
    ----------
    x, y : tensor
        What went into and came out of the forward pass. cuDNN 9.14 and 9.19 want a y, and do not
        read it: they compute it again from x.
    dy : tensor
        Gradient of y.
    dx : tensor, optional
        Gradient of x, of its shape and type. Default: allocated, in the layout of x.

    The other parameters, and the errors, are those of `lrn_cross_channel_forward`.

    Examples
    --------
    >>> x = DeviceTensor.zeros((1, 1, 2, 2), "float32")
    >>> dy = DeviceTensor.full(x.shape, 1, "float32")
    >>> with Handle() as handle, LRNDescriptor(1, alpha=1, beta=1, k=1) as lrn:
    ...     y = lrn_cross_channel_forward(handle, x, lrn)
    ...     dx = lrn_cross_channel_backward(handle, lrn, x=x, y=y, dy=dy)
    >>> dx.numpy().ravel()
    array([1., 1., 1., 1.], dtype=float32)
    """
    with Operands(
        handle, x=(x, x_desc), y=(y, y_desc), dy=(dy, dy_desc), dx=(dx, dx_desc)
    ) as operands:
        expect("lrn", lrn, LRNDescriptor)
        mode = enumerator(raw.cudnnLRNMode_t, mode, "mode")
        if dx is None:
            dx = operands.make_like("dx", "x", beta=beta)
        operands.launch(
            raw.cudnnLRNCrossChannelBackward, normDesc=lrn, lrnMode=mode, alpha=alpha, beta=beta
        )
    return dx


class DivisiveNormalizationGradients(NamedTuple):
    """Gradients from `divisive_normalization_backward`.

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
        Of x's shape, type and strides. Default: allocated.
    means : tensor, optional
        Like x: a mean for every element, or any other number. Default: zeros.
    mode : cudnnDivNormMode_t or str
        There is only one.
    temp, temp2 : tensor or DeviceBuffer, optional
        Scratch memory, each like x. Default: allocated for the call.
    alpha, beta : float
        Factors of the result and of what y held; not those of `lrn`. beta must not be below 0:
        cuDNN (9.14 and 9.19) then takes it for 0.
    x_desc, y_desc : TensorDescriptor, optional
        How the memory is to be read, that of the means and temporaries as well; needed for
        addresses and buffers.

    Raises
    ------
    ValueError
        If shapes do not fit together, memory is too small, or beta is below 0; the message names
        the argument.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([-2, 0, 2], "float32").reshape(1, 1, 1, 3))
    >>> with Handle() as handle, LRNDescriptor(1, alpha=1, beta=1, k=1) as lrn:
    ...     y = divisive_normalization_forward(handle, x, lrn)
    >>> y.numpy().ravel()  # x / (1 + x * x)
    array([-0.4,  0. ,  0.4], dtype=float32)
    """
    if real("beta", beta) < 0:
        raise ValueError(f"beta: cuDNN takes a factor below 0 for 0 here, got {beta}")
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        expect("lrn", lrn, LRNDescriptor)
        mode = enumerator(raw.cudnnDivNormMode_t, mode, "mode")
        if y is None:
            y = operands.make_like("y", "x", beta=beta)
        operands.launch(
            raw.cudnnDivisiveNormalizationForward,
            normDesc=lrn,
            mode=mode,
            alpha=alpha,
            beta=beta,
            **_like_x(operands, means, temp, temp2),
        )
    return y


@launched
def divisive_normalization_backward(
    handle: Handle,
    lrn: LRNDescriptor,
    *,
    x: Any,
    dy: Any,
    dx: Any = None,
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
        Gradients of x and of the means, with the shape, type and strides of x. Default: allocated.
    with_dmeans : bool
        False: the gradient of the means is not computed.
    x_desc, dx_desc : TensorDescriptor, optional
        How x, means and dy, and how dx and dmeans are to be read; needed for addresses and buffers.

    The other parameters, and the errors, are those of `divisive_normalization_forward`.

    Examples
    --------
    >>> x = DeviceTensor.zeros((1, 1, 1, 3), "float32")
    >>> dy = DeviceTensor.full(x.shape, 1, "float32")
    >>> with Handle() as handle, LRNDescriptor(1, alpha=1, beta=1, k=1) as lrn:
    ...     gradients = divisive_normalization_backward(handle, lrn, x=x, dy=dy)
    >>> gradients.dx.numpy().ravel()  # y = x / (1 + x * x)
    array([1., 1., 1.], dtype=float32)
    """
    with_dmeans = flag("with_dmeans", with_dmeans) or dmeans is not None
    with Operands(handle, x=(x, x_desc), dx=(dx, dx_desc)) as operands:
        expect("lrn", lrn, LRNDescriptor)
        mode = enumerator(raw.cudnnDivNormMode_t, mode, "mode")
        if dx is None:
            dx = operands.make_like("dx", "x", beta=beta)
        operands.add("dy", dy, operands.describe("x"))
        if with_dmeans and dmeans is None:
            refuse_beta("dmeans", beta)
            dmeans = operands.make_like("dmeans", "dx")
        if with_dmeans:
            operands.add("dmeans", dmeans, operands.describe("dx"))
        operands.launch(
            raw.cudnnDivisiveNormalizationBackward,
            normDesc=lrn,
            mode=mode,
            dXdMeansDesc="dx",
            dMeans="dmeans" if with_dmeans else None,
            alpha=alpha,
            beta=beta,
            **_like_x(operands, means, temp, temp2),
        )
    return DivisiveNormalizationGradients(dx, dmeans)


def _like_x(operands: Operands, means: Any, temp: Any, temp2: Any) -> dict[str, Any]:
    """The means and the temporaries, which C reads and writes with the descriptor of x."""
    desc = operands.describe("x")
    arguments: dict[str, Any] = {"means": None}
    for name, value in (("means", means), ("temp", temp), ("temp2", temp2)):
        if value is not None:
            operands.add(name, value, desc)
            arguments[name] = name
        elif name != "means":
            scratch = operands.scratch(desc.size_in_bytes)
            arguments[name] = Memory(name, scratch, written=True)
    return arguments
