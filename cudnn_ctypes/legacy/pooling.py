"""Pooling: its descriptor, forward and backward.

Tensors (N, C, W) are taken as (N, C, 1, W), with a pooling descriptor over 1 or 2 spatial
dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import raw
from ..arguments import expect
from ..handle import Handle
from ..raw import operand_rules
from ..raw.descriptors import Pooling
from .descriptor import Descriptor, answer, read_back
from .documentation import launched
from .layouts import spatial_entries
from .operands import Made, Operands, refuse_beta
from .tensor import TensorDescriptor


class PoolingDescriptor(Descriptor[raw.cudnnPoolingDescriptor_t]):
    """How a window moves over images; follows ``cudnnSetPoolingNdDescriptor``.

    Parameters
    ----------
    window, padding, stride : int or sequence of int
        One entry for each spatial dimension; an int stands for all of them. The stride is the
        window by default: the windows touch each other. The number of spatial dimensions is that of
        the sequences, or 2. cuDNN pools in 2 or 3: 1 is made 2 with a height of 1, and so do the
        operations with tensors (N, C, W).
    mode : cudnnPoolingMode_t or str
        "max"; "max_deterministic", whose gradient is the same in every run;
        "average_count_include_padding" or "average_count_exclude_padding", which count the places
        of the window outside the image, or do not.
    nan_propagation : cudnnNanPropagation_t or str
        "propagate_nan" or "not_propagate_nan": whether a maximum over a window with NaN is NaN.

    Raises
    ------
    BadParamError
        If cuDNN refuses: a zero window or stride.
    ValueError
        If the numbers of spatial dimensions differ, or padding is negative.

    Examples
    --------
    >>> pooling = PoolingDescriptor(3, padding=1, stride=2)
    >>> pooling.output_shape(TensorDescriptor((1, 64, 112, 112)))
    (1, 64, 56, 56)
    """

    def __init__(
        self,
        window: int | Sequence[int],
        padding: int | Sequence[int] = 0,
        stride: int | Sequence[int] | None = None,
        *,
        mode: Any = "max",
        nan_propagation: Any = "propagate_nan",
    ) -> None:
        super().__init__(raw.cudnnPoolingDescriptor_t())
        with self._closed_on_error():
            stride = window if stride is None else stride
            window, padding, stride = spatial_entries(
                {"window": window, "padding": padding, "stride": stride},
                {"window": 1, "padding": 0, "stride": 1},
            )
            if min(padding) < 0:
                raise ValueError(f"padding: expected no negative number, got {padding}")
            self.set_nd(mode, nan_propagation, window, padding, stride)

    # -- setting, as C does --------------------------------------------------------------------

    def set_2d(
        self,
        mode: Any,
        nan_propagation: Any,
        window_height: int,
        window_width: int,
        vertical_padding: int,
        horizontal_padding: int,
        vertical_stride: int,
        horizontal_stride: int,
    ) -> None:
        """Set 2 spatial dimensions; follows ``cudnnSetPooling2dDescriptor``.

        Parameters
        ----------
        window_height, window_width : int
            Size of the window, in pixels.
        vertical_padding, horizontal_padding : int
            Places outside the image above and below, left and right.
        vertical_stride, horizontal_stride : int
            Step of the window.
        """
        self._set_by(raw.cudnnSetPooling2dDescriptor, locals())

    def set_nd(
        self,
        mode: Any,
        nan_propagation: Any,
        window: Sequence[int],
        padding: Sequence[int],
        stride: Sequence[int],
    ) -> None:
        """Set any number of spatial dimensions; follows ``cudnnSetPoolingNdDescriptor``.

        Negative padding, which cuDNN 9.28 takes, crops the image.
        """
        self._set_by(raw.cudnnSetPoolingNdDescriptor, locals())

    # -- reading back --------------------------------------------------------------------------

    def get_2d(self) -> dict[str, Any]:
        """The arguments of `set_2d`, by name; follows ``cudnnGetPooling2dDescriptor``."""
        return self._arguments_of(self.set_2d, raw.cudnnGetPooling2dDescriptor)

    window: tuple[int, ...] = read_back(Pooling, "Size of the window along each spatial dimension.")
    padding: tuple[int, ...] = read_back(
        Pooling, "Places outside the image on both sides of each spatial dimension."
    )
    stride: tuple[int, ...] = read_back(Pooling, "Step of the window along each spatial dimension.")
    mode: raw.cudnnPoolingMode_t = read_back(Pooling, "Maximum or average.")
    nan_propagation: raw.cudnnNanPropagation_t = read_back(
        Pooling, "Whether a maximum over NaN is NaN."
    )

    # -- what it makes -------------------------------------------------------------------------

    def output_shape(self, x_desc: TensorDescriptor) -> tuple[int, ...]:
        """The shape of y, (N, C, output sizes...), that all windows within the padded image give.

        Follows ``cudnnGetPoolingNdForwardOutputDim``, and ``cudnnGetPooling2dForwardOutputDim``
        for 2 spatial dimensions.

        Raises
        ------
        ValueError
            If x and this pooling do not fit together; the message says in what.
        """
        shape = x_desc.shape
        operand_rules.check(
            raw.cudnnGetPoolingNdForwardOutputDim,
            {"poolingDesc": self, "inputTensorDesc": x_desc},
            {"inputTensorDesc": "x"},
        )
        if len(shape) == 4:
            return tuple(answer(raw.cudnnGetPooling2dForwardOutputDim, self, x_desc))
        return tuple(answer(raw.cudnnGetPoolingNdForwardOutputDim, self, x_desc, len(shape)))


@launched
def pooling_forward(
    handle: Handle,
    x: Any,
    pooling: PoolingDescriptor,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * pool(x) + beta * y; follows ``cudnnPoolingForward``.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...), with 1 to 3 spatial dimensions.
    y : tensor, optional
        (N, C, output sizes...), of the type of x; the sizes may differ from
        `PoolingDescriptor.output_shape`. Default: allocated, in the layout of x.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(16, dtype="float32").reshape(1, 1, 4, 4))
    >>> with Handle() as handle, PoolingDescriptor(2) as pooling:
    ...     y = pooling_forward(handle, x, pooling)
    >>> y.numpy()[0, 0]
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        x_desc = operands.describe("x")
        expect("pooling", pooling, PoolingDescriptor)
        if y is None:
            refuse_beta("y", beta)
            shape = operands.shape_like("x", pooling.output_shape(x_desc))
            y = operands.make("y", shape, x_desc.data_type)
        operands.launch(raw.cudnnPoolingForward, poolingDesc=pooling, alpha=alpha, beta=beta)
    return y


@launched
def pooling_backward(
    handle: Handle,
    pooling: PoolingDescriptor,
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
    """dx = alpha * (gradient of x) + beta * dx; follows ``cudnnPoolingBackward``.

    Parameters
    ----------
    y, x : tensor
        As in `pooling_forward`, with alpha = 1 and beta = 0 there.
    dy : tensor
        Gradient of y, with the strides of y.
    dx : tensor, optional
        Gradient of x, with the strides of x. Default: allocated.

    The other parameters, and the errors, are those of `pooling_forward`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(16, dtype="float32").reshape(1, 1, 4, 4))

    >>> with Handle() as handle, PoolingDescriptor(2) as pooling:
    ...     y = pooling_forward(handle, x, pooling)
    ...     dy = DeviceTensor.full(y.shape, 1, "float32")
    ...     dx = pooling_backward(handle, pooling, y=y, dy=dy, x=x)
    >>> dx.numpy()[0, 0]
    array([[0., 0., 0., 0.],
           [0., 1., 0., 1.],
           [0., 0., 0., 0.],
           [0., 1., 0., 1.]], dtype=float32)
    """
    with Operands(
        handle, x=(x, x_desc), y=(y, y_desc), dy=(dy, dy_desc), dx=(dx, dx_desc)
    ) as operands:
        expect("pooling", pooling, PoolingDescriptor)
        if dx is None:
            dx = operands.make_like("dx", "x", beta=beta)
        operands.launch(raw.cudnnPoolingBackward, poolingDesc=pooling, alpha=alpha, beta=beta)
    return dx
