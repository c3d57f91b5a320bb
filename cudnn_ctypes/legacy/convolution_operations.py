"""Convolution and its gradients.

Operands are ``DeviceTensor``s, tensors of other libraries (PyTorch, CuPy, JAX, ...), or a
``DeviceBuffer`` or an address together with its descriptor (``x_desc=...``), which then says how
the memory is read. Results and workspaces are made where none are given; all work goes to the
handle's stream. Tensors (N, C, W) are taken as (N, C, 1, W), with a convolution descriptor over 1
or 2 spatial dimensions.

To ask for the algorithms of a convolution, and what they need, make a `ConvolutionForward`,
`ConvolutionBackwardData` or `ConvolutionBackwardFilter`.
"""

from __future__ import annotations

from typing import Any

from .. import raw
from ..arguments import expect
from ..handle import Handle
from ..raw.faults.calls import splits_vectors
from ..raw.records import record
from ..runtime.layout import to_shape
from .activation import FUSED, ActivationDescriptor
from .convolution import ConvolutionDescriptor
from .convolution_directions import (
    ConvolutionBackwardData,
    ConvolutionBackwardFilter,
    ConvolutionForward,
    is_find,
)
from .documentation import launched
from .operands import Made, Operands, real, refuse_beta
from .tensor import FilterDescriptor, TensorDescriptor


@launched
def convolution_forward(
    handle: Handle,
    x: Any,
    w: Any,
    conv: ConvolutionDescriptor,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    algorithm: Any = None,
    workspace: Any = None,
    data_type: Any = None,
    x_desc: TensorDescriptor | None = None,
    w_desc: FilterDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * conv(x, w) + beta * y; follows ``cudnnConvolutionForward``.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...).
    w : tensor
        (K, C / groups, filter sizes...), dense, in the layout of x.
    y : tensor, optional
        (N, K, output sizes...). Default: allocated, in the layout of x.
    algorithm : AlgorithmRow, cudnnConvolutionFwdAlgo_t or str, optional
        Default: the best one by cuDNN's heuristic. "find": the fastest one, measured with these
        operands by ``cudnnFindConvolutionForwardAlgorithmEx`` in the first call, or `bind`, with
        these descriptors on this handle, and remembered; not while a CUDA graph is captured. Both
        choose what fits into `workspace`, if that is given. The reference device, which computes
        all algorithms in one way, takes the first one.
    data_type : data type, optional
        Of y, if y is not given; default: that of x.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 2, 4, 4), 1, "float32")
    >>> w = DeviceTensor.full((3, 2, 3, 3), 1, "float32")
    >>> with Handle() as handle, ConvolutionDescriptor(padding=1) as conv:
    ...     y = convolution_forward(handle, x, w, conv)
    >>> y.numpy()[0, 0, 0]
    array([ 8., 12., 12.,  8.], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), w=(w, w_desc), y=(y, y_desc)) as operands:
        x_desc, w_desc = operands.describe("x"), operands.describe_filter("w")
        expect("conv", conv, ConvolutionDescriptor)
        if y is None:
            refuse_beta("y", beta)
            shape = operands.shape_like("x", conv.output_shape(x_desc, w_desc))
            y = operands.make("y", shape, data_type, default=x_desc.data_type)
        y_desc = operands.describe("y")
        direction = ConvolutionForward(x_desc, w_desc, conv, y_desc)
        direction._launch(handle, operands, algorithm, workspace, alpha=alpha, beta=beta)
    return y


@launched
def convolution_backward_data(
    handle: Handle,
    conv: ConvolutionDescriptor,
    *,
    w: Any,
    dy: Any,
    dx: Made | None = None,
    dx_shape: tuple[int, ...] | None = None,
    alpha: float = 1,
    beta: float = 0,
    algorithm: Any = None,
    workspace: Any = None,
    data_type: Any = None,
    w_desc: FilterDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> Made:
    """dx = alpha * (gradient of x) + beta * dx; follows ``cudnnConvolutionBackwardData``.

    Parameters
    ----------
    dy : tensor
        Gradient of y, (N, K, output sizes...).
    dx : tensor, optional
        Gradient of x, (N, C, spatial sizes...). Default: allocated, in the layout of dy.
    dx_shape : tuple of int, optional
        Shape of x, needed if dx is not given: with a stride, images of several sizes give the same
        output size.

    The other parameters, and the errors, are those of `convolution_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 2, 4, 4), 1, "float32")
    >>> w = DeviceTensor.full((3, 2, 3, 3), 1, "float32")
    >>> with Handle() as handle, ConvolutionDescriptor(padding=1) as conv:
    ...     y = convolution_forward(handle, x, w, conv)
    ...     dx = convolution_backward_data(handle, conv, w=w, dy=y, dx_shape=x.shape)
    >>> dx.shape
    (1, 2, 4, 4)
    """
    with Operands(handle, dy=(dy, dy_desc), w=(w, w_desc), dx=(dx, dx_desc)) as operands:
        w_desc, dy_desc = operands.describe_filter("w"), operands.describe("dy")
        if dx is None:
            refuse_beta("dx", beta)
            shape = _shape_for("dx", dx_shape, dx_desc)
            dx = operands.make("dx", shape, data_type, default=dy_desc.data_type)
        dx_desc = operands.describe("dx")
        direction = ConvolutionBackwardData(w_desc, dy_desc, conv, dx_desc)
        direction._launch(handle, operands, algorithm, workspace, alpha=alpha, beta=beta)
    return dx


@launched
def convolution_backward_filter(
    handle: Handle,
    conv: ConvolutionDescriptor,
    *,
    x: Any,
    dy: Any,
    dw: Made | None = None,
    dw_shape: tuple[int, ...] | None = None,
    alpha: float = 1,
    beta: float = 0,
    algorithm: Any = None,
    workspace: Any = None,
    data_type: Any = None,
    x_desc: TensorDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    dw_desc: FilterDescriptor | None = None,
) -> Made:
    """dw = alpha * (gradient of w) + beta * dw; follows ``cudnnConvolutionBackwardFilter``.

    Parameters
    ----------
    dy : tensor
        Gradient of y, (N, K, output sizes...).
    dw : tensor, optional
        Gradient of w, (K, C / groups, filter sizes...). Default: allocated, in the layout of x.
    dw_shape : tuple of int, optional
        Shape of w, needed if dw is not given.

    The other parameters, and the errors, are those of `convolution_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 2, 4, 4), 1, "float32")
    >>> w = DeviceTensor.full((3, 2, 3, 3), 1, "float32")
    >>> with Handle() as handle, ConvolutionDescriptor(padding=1) as conv:
    ...     y = convolution_forward(handle, x, w, conv)
    ...     dw = convolution_backward_filter(handle, conv, x=x, dy=y, dw_shape=w.shape)
    >>> dw.shape
    (3, 2, 3, 3)
    """
    with Operands(handle, x=(x, x_desc), dy=(dy, dy_desc), dw=(dw, dw_desc)) as operands:
        x_desc, dy_desc = operands.describe("x"), operands.describe("dy")
        if dw is None:
            refuse_beta("dw", beta)
            shape = _shape_for("dw", dw_shape, dw_desc)
            dw = operands.make("dw", shape, data_type, default=x_desc.data_type)
        dw_desc = operands.describe_filter("dw")
        direction = ConvolutionBackwardFilter(x_desc, dy_desc, conv, dw_desc)
        direction._launch(handle, operands, algorithm, workspace, alpha=alpha, beta=beta)
    return dw


@launched
def convolution_backward_bias(
    handle: Handle,
    *,
    dy: Any,
    db: Made | None = None,
    alpha: float = 1,
    beta: float = 0,
    dy_desc: TensorDescriptor | None = None,
    db_desc: TensorDescriptor | None = None,
) -> Made:
    """db = alpha * (dy summed over all but the channels) + beta * db.

    Follows ``cudnnConvolutionBackwardBias``.

    Parameters
    ----------
    dy : tensor
        Gradient of y, (N, K, output sizes...).
    db : tensor, optional
        Gradient of the bias, (K,) or (1, K, 1...). Default: allocated, (K,), of the type of dy.

    The other parameters, and the errors, are those of `convolution_forward`.

    Examples
    --------
    >>> dy = DeviceTensor.full((2, 3, 4, 4), 1, "float32")
    >>> with Handle() as handle:
    ...     db = convolution_backward_bias(handle, dy=dy)
    >>> db.numpy().ravel()
    array([32., 32., 32.], dtype=float32)
    """
    with Operands(handle, dy=(dy, dy_desc), db=(db, db_desc)) as operands:
        dy_desc = operands.describe("dy")
        if db is None:
            refuse_beta("db", beta)
            db = operands.make("db", dy_desc.shape[1:2], dy_desc.data_type)
        operands.describe_channels("db", dy_desc.shape)
        source = "dy"
        if splits_vectors(record(dy_desc)):
            operands.check(raw.cudnnConvolutionBackwardBias)
            source = operands.packed("dy")
        given = {"dyDesc": source, "dy": source}
        operands.launch(raw.cudnnConvolutionBackwardBias, alpha=alpha, beta=beta, **given)
    return db


def _shape_for(
    name: str, shape: tuple[int, ...] | None, desc: TensorDescriptor | FilterDescriptor | None
) -> tuple[int, ...]:
    if shape is not None:
        return to_shape(shape, f"{name}_shape")
    if desc is not None:
        return desc.shape
    raise ValueError(
        f"{name}: pass {name}_shape or {name} itself: its shape does not follow from the others"
    )


@launched
def convolution_bias_activation_forward(
    handle: Handle,
    x: Any,
    w: Any,
    conv: ConvolutionDescriptor,
    bias: Any,
    activation: ActivationDescriptor | str,
    y: Made | None = None,
    *,
    z: Any = None,
    alpha1: float = 1,
    alpha2: float | None = None,
    algorithm: Any = None,
    workspace: Any = None,
    data_type: Any = None,
    x_desc: TensorDescriptor | None = None,
    w_desc: FilterDescriptor | None = None,
    z_desc: TensorDescriptor | None = None,
    bias_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = activation(alpha1 * conv(x, w) + alpha2 * z + bias), in one kernel.

    Follows ``cudnnConvolutionBiasActivationForward``, which knows "relu" and "identity" only.
    NVIDIA documents "identity" for the algorithm "implicit_precomp_gemm": that is its default here.

    Parameters
    ----------
    bias : tensor
        (K,) or (1, K, 1...); float32 for int8 convolutions.
    activation : ActivationDescriptor or str
        A name stands for one that does not propagate NaN, as NVIDIA documents for this function.
    z : tensor, optional
        A tensor like y, that is added; it may be y itself. Default: nothing.
    alpha1, alpha2 : float
        Factors; alpha2 is 1 by default if z is given.

    The other parameters, and the errors, are those of `convolution_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 2, 4, 4), 1, "float32")
    >>> w = DeviceTensor.full((3, 2, 1, 1), 1, "float32")
    >>> bias = DeviceTensor.from_numpy(np.array([1, -1, -3], "float32").reshape(1, 3, 1, 1))
    >>> with Handle() as handle, ConvolutionDescriptor() as conv:
    ...     y = convolution_bias_activation_forward(handle, x, w, conv, bias, "relu")
    >>> y.numpy()[0, :, 0, 0]
    array([3., 1., 0.], dtype=float32)
    """
    with Operands(
        handle, x=(x, x_desc), w=(w, w_desc), y=(y, y_desc), z=(z, z_desc), bias=(bias, bias_desc)
    ) as operands:
        x_desc, w_desc = operands.describe("x"), operands.describe_filter("w")
        expect("conv", conv, ConvolutionDescriptor)
        if y is None:
            shape = operands.shape_like("x", conv.output_shape(x_desc, w_desc))
            y = operands.make("y", shape, data_type, default=x_desc.data_type)
        y_desc = operands.describe("y")
        operands.describe_channels("bias", y_desc.shape)
        if z is None and alpha2 is not None and real("alpha2", alpha2) != 0:
            raise ValueError(f"z: needed with alpha2={alpha2}")
        if alpha2 is None:
            alpha2 = 0 if z is None else 1
        activation = operands.descriptor("activation", activation, ActivationDescriptor, **FUSED)
        free = algorithm is None or is_find(algorithm)
        if free and activation.mode == raw.CUDNN_ACTIVATION_IDENTITY:
            algorithm = raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
        # C wants an address also where z is not read.
        added = "y" if z is None else "z"
        ConvolutionForward(x_desc, w_desc, conv, y_desc)._launch(
            handle,
            operands,
            algorithm,
            workspace,
            function=raw.cudnnConvolutionBiasActivationForward,
            alpha1=alpha1,
            alpha2=alpha2,
            z=added,
            zDesc=added,
            activationDesc=activation,
        )
    return y
