"""Activations: the function's descriptor, and the operation forward and backward."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..handle import Handle
from ..raw.descriptors import Activation
from .descriptor import Descriptor, read_back
from .documentation import launched
from .operands import Made, Operands
from .tensor import TensorDescriptor

# What NVIDIA documents for cudnnConvolutionBiasActivationForward, and what the other kernels that
# fuse an activation were seen right with on an H200 (9.14, 9.19).
FUSED = {"nan_propagation": "not_propagate_nan"}


class ActivationDescriptor(Descriptor[raw.cudnnActivationDescriptor_t]):
    """An activation function; follows ``cudnnSetActivationDescriptor``.

    Parameters
    ----------
    mode : cudnnActivationMode_t or str
        "relu", "identity", "sigmoid", "tanh", "clipped_relu", "elu" or "swish".
    nan_propagation : cudnnNanPropagation_t or str
        "propagate_nan" or "not_propagate_nan": whether ReLU and clipped ReLU of NaN are NaN, or 0.
        The other functions propagate NaN always.
    coef : float
        The ceiling of clipped ReLU, the alpha of ELU; the other functions ignore it.
    swish_beta : float
        The beta of swish, x * sigmoid(beta * x).

    Examples
    --------
    >>> ActivationDescriptor("clipped_relu", coef=6.0).coef
    6.0
    """

    def __init__(
        self,
        mode: Any = "relu",
        *,
        nan_propagation: Any = "propagate_nan",
        coef: float = 0.0,
        swish_beta: float = 1.0,
    ) -> None:
        super().__init__(raw.cudnnActivationDescriptor_t())
        with self._closed_on_error():
            self.set(mode, nan_propagation, coef)
            self.swish_beta = swish_beta

    def set(self, mode: Any, nan_propagation: Any, coef: float) -> None:
        """Set all but beta; follows ``cudnnSetActivationDescriptor``."""
        self._set_by(raw.cudnnSetActivationDescriptor, locals())

    mode: raw.cudnnActivationMode_t = read_back(Activation, "Which function.")
    nan_propagation: raw.cudnnNanPropagation_t = read_back(Activation, "What ReLU does with NaN.")
    coef: float = read_back(Activation, "The ceiling of clipped ReLU, the alpha of ELU.")
    swish_beta: float = read_back(
        Activation,
        "The beta of swish; follows ``cudnnSetActivationDescriptorSwishBeta``.",
        raw.cudnnSetActivationDescriptorSwishBeta,
    )


@launched
def activation_forward(
    handle: Handle,
    x: Any,
    activation: ActivationDescriptor | str,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * activation(x) + beta * y; follows ``cudnnActivationForward``.

    Parameters
    ----------
    x : tensor
        float64, float32, float16 or bfloat16, of any shape of 2 dimensions or more.
    activation : ActivationDescriptor or str
        All but "identity".
    y : tensor, optional
        Like x; may be x. Default: allocated.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(-2, 2, dtype="float32").reshape(1, 1, 2, 2))
    >>> with Handle() as handle:
    ...     y = activation_forward(handle, x, "relu")
    >>> y.numpy().ravel()
    array([0., 0., 0., 1.], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        desc = operands.descriptor("activation", activation, ActivationDescriptor)
        if y is None:
            y = operands.make_like("y", "x", beta=beta)
        operands.launch(raw.cudnnActivationForward, activationDesc=desc, alpha=alpha, beta=beta)
    return y


@launched
def activation_backward(
    handle: Handle,
    activation: ActivationDescriptor | str,
    *,
    y: Any,
    dy: Any,
    x: Any,
    dx: Made | None = None,
    alpha: float = 1,
    beta: float = 0,
    y_desc: TensorDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    x_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> Made:
    """dx = alpha * (gradient of x) + beta * dx; follows ``cudnnActivationBackward``.

    Parameters
    ----------
    y, x : tensor
        As in `activation_forward`, with alpha = 1 and beta = 0 there.
    dy : tensor
        Gradient of y, with the strides of y.
    dx : tensor, optional
        Gradient of x, with the strides of x; may be dy. Default: allocated.

    The other parameters, and the errors, are those of `activation_forward`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(-2, 2, dtype="float32").reshape(1, 1, 2, 2))

    >>> dy = DeviceTensor.full(x.shape, 1, "float32")
    >>> with Handle() as handle:
    ...     y = activation_forward(handle, x, "relu")
    ...     dx = activation_backward(handle, "relu", y=y, dy=dy, x=x)
    >>> dx.numpy().ravel()
    array([0., 0., 0., 1.], dtype=float32)
    """
    with Operands(
        handle, x=(x, x_desc), y=(y, y_desc), dy=(dy, dy_desc), dx=(dx, dx_desc)
    ) as operands:
        desc = operands.descriptor("activation", activation, ActivationDescriptor)
        if dx is None:
            dx = operands.make_like("dx", "x", beta=beta)
        operands.launch(raw.cudnnActivationBackward, activationDesc=desc, alpha=alpha, beta=beta)
    return dx
