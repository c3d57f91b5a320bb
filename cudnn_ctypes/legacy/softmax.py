"""Softmax, forward and backward.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

from typing import Any

from .. import raw
from ..handle import Handle
from .enumerators import enumerator
from .launch import launched
from .operands import Made, Operands
from .tensor import TensorDescriptor

__all__ = ["softmax_backward", "softmax_forward"]


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
    alpha, beta : float
        Factors; with beta = 0 what y held is not read.
    x_desc, y_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    DeviceTensor, or y as it was given

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes or types differ, or memory is too small; the message names the argument. Also
        where cuDNN 9.14 and 9.19 compute garbage: packed images with gaps between them in mode
        "instance", and 5-dimensional float64 tensors in NHWC in mode "channel".
    NotSupportedError
        If cuDNN has no kernel for the combination.

    Examples
    --------
    >>> scores = DeviceTensor.from_numpy(np.array([0, 1], "float32").reshape(1, 2, 1, 1))
    >>> with Handle() as handle:
    ...     probabilities = softmax_forward(handle, scores)
    >>> probabilities.numpy().ravel().round(3)
    array([0.269, 0.731], dtype=float32)
    """
    algorithm = enumerator(raw.cudnnSoftmaxAlgorithm_t, algorithm, "algorithm")
    mode = enumerator(raw.cudnnSoftmaxMode_t, mode, "mode")
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        if y is None:
            y = operands.make_like("y", "x", beta=beta)
        operands.check_same("x", "y")
        _refuse_garbage(mode, x=operands.describe("x"), y=operands.describe("y"))
        operands.launch(raw.cudnnSoftmaxForward, algo=algorithm, mode=mode, alpha=alpha, beta=beta)
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
        Gradient of y, with the strides of y.
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
    algorithm = enumerator(raw.cudnnSoftmaxAlgorithm_t, algorithm, "algorithm")
    mode = enumerator(raw.cudnnSoftmaxMode_t, mode, "mode")
    with Operands(handle, y=(y, y_desc), dy=(dy, dy_desc), dx=(dx, dx_desc)) as operands:
        if dx is None:
            dx = operands.make_like("dx", "y", beta=beta)
        operands.check_same("y", "dy", "dx")
        _refuse_garbage(mode, **{name: operands.describe(name) for name in ("y", "dy", "dx")})
        operands.launch(raw.cudnnSoftmaxBackward, algo=algorithm, mode=mode, alpha=alpha, beta=beta)
    return dx


def _refuse_garbage(mode: raw.cudnnSoftmaxMode_t, **described: TensorDescriptor) -> None:
    """Layouts with which cuDNN 9.14 and 9.19 succeed, but compute something else."""
    for name, desc in described.items():
        shape, strides = desc.shape, desc.strides
        if mode == raw.CUDNN_SOFTMAX_MODE_INSTANCE:
            # It takes packed images to follow each other without gaps.
            size, packed = 1, True
            for n, step in list(zip(shape, strides, strict=True))[:0:-1]:
                packed &= n == 1 or step == size
                size *= n
            if packed and shape[0] > 1 and strides[0] != size:
                raise ValueError(
                    f"{name}: cuDNN's softmax over images reads packed images without gaps between "
                    f"them, got a stride of {strides[0]} for images of {size} elements"
                )
        elif (
            desc.data_type == raw.CUDNN_DATA_DOUBLE
            and len(shape) == 5
            and shape[1] > 1
            and shape[4] > 1
            and strides[1] < strides[4]
        ):
            raise ValueError(
                f"{name}: cuDNN's softmax over the channels of 5-dimensional float64 tensors needs "
                f"NCHW, got the strides {strides}"
            )
