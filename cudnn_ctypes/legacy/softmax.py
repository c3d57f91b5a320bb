"""Softmax, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import raw
from ..arguments import enumerator
from ..handle import Handle
from ..raw.faults.softmax import wrong_softmax
from ..raw.strides import same_layout
from .documentation import launched
from .operands import Made, Operands
from .tensor import TensorDescriptor


@launched
def softmax_forward(
    handle: Handle,
    x: Any,
    y: Made | None = None,
    *,
    algorithm: Any = "accurate",
    mode: Any = "channel",
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * softmax(x) + beta * y; follows ``cudnnSoftmaxForward``.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...) or (N, C).
    y : tensor, optional
        Like x; may be x. Default: allocated.
    algorithm : cudnnSoftmaxAlgorithm_t or str
        "accurate" subtracts the maximum first; "fast" may overflow; "log" is the logarithm.
    mode : cudnnSoftmaxMode_t or str
        "channel": over the channels of each pixel. "instance": over channels and pixels of each
        image.

    Notes
    -----
    cuDNN 9.14 and 9.19 compute wrong numbers, also between the elements of y, where x and y have
    different strides, unless mode "channel" has x in NCHW and y in NCHW or NHWC; for images with
    gaps between them in mode "instance"; and for some 5-dimensional tensors in NHWC in mode
    "channel". There ``cudnnTransformTensor`` brings the operands to the layout of y, or to NCHW, in
    workspaces of the handle, each as large as an operand.

    Examples
    --------
    >>> scores = DeviceTensor.from_numpy(np.array([0, 1], "float32").reshape(1, 2, 1, 1))
    >>> with Handle() as handle:
    ...     probabilities = softmax_forward(handle, scores)
    >>> probabilities.numpy().ravel().round(3)
    array([0.269, 0.731], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        if y is None:
            y = operands.make_like("y", "x", beta=beta)
        _launch(raw.cudnnSoftmaxForward, operands, "x", "y", algorithm, mode, alpha, beta)
    return y


@launched
def softmax_backward(
    handle: Handle,
    *,
    y: Any,
    dy: Any,
    dx: Made | None = None,
    algorithm: Any = "accurate",
    mode: Any = "channel",
    alpha: float = 1,
    beta: float = 0,
    y_desc: TensorDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> Made:
    """dx = alpha * (gradient of x) + beta * dx; follows ``cudnnSoftmaxBackward``.

    Parameters
    ----------
    y : tensor
        What `softmax_forward` gave with the same algorithm and mode, alpha = 1 and beta = 0.
    dy : tensor
        Gradient of y.
    dx : tensor, optional
        Gradient of x; may be dy. Default: allocated.

    The other parameters, and the errors, are those of `softmax_forward`.

    Examples
    --------
    >>> x = DeviceTensor.zeros((1, 2, 1, 1), "float32")
    >>> dy = DeviceTensor.from_numpy(np.array([1, 0], "float32").reshape(1, 2, 1, 1))
    >>> with Handle() as handle:
    ...     y = softmax_forward(handle, x)
    ...     dx = softmax_backward(handle, y=y, dy=dy)
    >>> y.numpy().ravel(), dx.numpy().ravel()
    (array([0.5, 0.5], dtype=float32), array([ 0.25, -0.25], dtype=float32))
    """
    with Operands(handle, y=(y, y_desc), dy=(dy, dy_desc), dx=(dx, dx_desc)) as operands:
        if dx is None:
            dx = operands.make_like("dx", "y", beta=beta)
        _launch(raw.cudnnSoftmaxBackward, operands, "y dy", "dx", algorithm, mode, alpha, beta)
    return dx


def _launch(
    function: Callable[..., Any],
    operands: Operands,
    sources: str,
    result: str,
    algorithm: Any,
    mode: Any,
    alpha: float,
    beta: float,
) -> None:
    """Launch a softmax, between transforms where cuDNN computes the layouts wrong."""
    algorithm = enumerator(raw.cudnnSoftmaxAlgorithm_t, algorithm, "algorithm")
    mode = enumerator(raw.cudnnSoftmaxMode_t, mode, "mode")
    first, *_ = names = [*sources.split(), result]
    operands.check(function)
    descs = {name: operands.describe(name) for name in names}
    common, wrong = descs[result], wrong_softmax(algorithm, mode, *descs.values())
    if wrong and wrong_softmax(algorithm, mode, common, common):
        common = operands.enter_context(TensorDescriptor(common.shape, common.data_type))
    given: dict[str, Any] = {}
    for name, desc in descs.items():
        memory = name
        # C also compares the strides of dimensions of size 1.
        desc = next(each for each in (common, descs[first], desc) if same_layout(desc, each))
        if wrong and desc is not common:
            memory = operands.copied_as(name, common, reads=name != result or beta != 0)
            desc = common
        given |= {name: memory, f"{name}Desc": desc}
    operands.launch(function, algo=algorithm, mode=mode, alpha=alpha, beta=beta, **given)
    if given[result] != result:
        operands.transform(given[result], result)
