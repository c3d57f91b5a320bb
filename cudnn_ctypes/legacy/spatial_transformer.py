"""The spatial transformer: a grid of sampling points from affine maps, and sampling at them.

Maps and grids have no descriptor in C: they are dense tensors of the transformer's data type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import raw
from ..arguments import expect
from ..handle import Handle
from ..raw.descriptors import SpatialTransformer
from ..runtime.layout import to_shape
from .descriptor import Descriptor, read_back
from .documentation import launched
from .operands import Made, Operands, refuse_beta
from .tensor import TensorDescriptor


class SpatialTransformerDescriptor(Descriptor[raw.cudnnSpatialTransformerDescriptor_t]):
    """The output of a spatial transformer; follows ``cudnnSetSpatialTransformerNdDescriptor``.

    cuDNN offers no function that reads it back, so it shows what was set here.

    Parameters
    ----------
    shape : sequence of int
        (N, C, H, W) of the output, the only number of dimensions that the operations take.
    data_type : data type
        float32, float64 or float16.
    sampler : cudnnSamplerType_t or str
        There is only "bilinear".

    Raises
    ------
    BadParamError, NotSupportedError
        If cuDNN does not know the data type here.
    ValueError
        For no or more than 8 dimensions, which cuDNN would write past its end for, or a dimension
        below 1.

    Examples
    --------
    >>> SpatialTransformerDescriptor((2, 3, 8, 8), "float64").shape
    (2, 3, 8, 8)
    """

    def __init__(
        self, shape: Sequence[int], data_type: Any = "float32", *, sampler: Any = "bilinear"
    ) -> None:
        super().__init__(raw.cudnnSpatialTransformerDescriptor_t())
        with self._closed_on_error():
            self.set_nd(sampler, data_type, shape)

    def set_nd(self, sampler: Any, data_type: Any, shape: Sequence[int]) -> None:
        """Set all of it; follows ``cudnnSetSpatialTransformerNdDescriptor``."""
        shape = to_shape(shape)
        if not 1 <= len(shape) <= raw.CUDNN_DIM_MAX or min(shape) < 1:
            raise ValueError(
                f"shape: expected 1 to {raw.CUDNN_DIM_MAX} dimensions of at least 1, got {shape}"
            )
        self._set_by(raw.cudnnSetSpatialTransformerNdDescriptor, locals())

    shape: tuple[int, ...] = read_back(SpatialTransformer, "(N, C, H, W) of the output.")
    data_type: raw.cudnnDataType_t = read_back(SpatialTransformer, "Type of all tensors.")
    sampler: raw.cudnnSamplerType_t = read_back(SpatialTransformer, "How pixels are interpolated.")

    @property
    def theta_shape(self) -> tuple[int, ...]:
        """(N, 2, 3): a map for each image."""
        return (self.shape[0], 2, 3)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """(N, H, W, 2): the horizontal and the vertical coordinate of each sampling point."""
        return (self.shape[0], *self.shape[2:], 2)


class SpatialTfSamplerGradients(NamedTuple):
    """Gradients from `spatial_tf_sampler_backward`.

    Attributes
    ----------
    dx, dgrid : DeviceTensor, or as they were given
    """

    dx: Any
    dgrid: Any


@launched
def spatial_tf_grid_generator_forward(
    handle: Handle, theta: Any, transformer: SpatialTransformerDescriptor, grid: Made | None = None
) -> Made:
    """Sampling points from affine maps; follows ``cudnnSpatialTfGridGeneratorForward``.

    Output pixel (i, j) of image n is mapped to ``theta[n] @ (u, v, 1)``, where u and v, its
    position across and down, run from -1 to 1 between the centers of the outermost pixels.

    Parameters
    ----------
    theta : tensor
        (N, 2, 3).
    transformer : SpatialTransformerDescriptor
    grid : tensor, optional
        (N, H, W, 2). Default: allocated.

    Raises
    ------
    NotSupportedError
        If the transformer has other than 4 dimensions.

    Examples
    --------
    >>> theta = DeviceTensor.from_numpy(np.array([[[1, 0, 0], [0, 1, 0]]], "float32"))
    >>> with Handle() as handle, SpatialTransformerDescriptor((1, 1, 2, 2)) as transformer:
    ...     grid = spatial_tf_grid_generator_forward(handle, theta, transformer)
    >>> grid.numpy()[0, 0]
    array([[-1., -1.],
           [ 1., -1.]], dtype=float32)
    """
    with _Operands(handle, transformer) as operands:
        operands.add_dense("theta", theta, transformer.theta_shape)
        grid = operands.add_dense("grid", grid, transformer.grid_shape, makes=True)
        operands.launch(raw.cudnnSpatialTfGridGeneratorForward, stDesc=transformer)
    return grid


@launched
def spatial_tf_grid_generator_backward(
    handle: Handle,
    transformer: SpatialTransformerDescriptor,
    *,
    dgrid: Any,
    dtheta: Made | None = None,
) -> Made:
    """The gradient of the maps; follows ``cudnnSpatialTfGridGeneratorBackward``.

    Parameters
    ----------
    dgrid : tensor
        Gradient of the grid, (N, H, W, 2).
    dtheta : tensor, optional
        (N, 2, 3). Default: allocated.

    The errors are those of `spatial_tf_grid_generator_forward`.

    Examples
    --------
    >>> dgrid = DeviceTensor.full((1, 2, 2, 2), 1, "float32")
    >>> with Handle() as handle, SpatialTransformerDescriptor((1, 1, 2, 2)) as transformer:
    ...     dtheta = spatial_tf_grid_generator_backward(handle, transformer, dgrid=dgrid)
    >>> dtheta.numpy()[0]  # sums over the 4 points: x and y cancel, ones do not
    array([[0., 0., 4.],
           [0., 0., 4.]], dtype=float32)
    """
    with _Operands(handle, transformer) as operands:
        operands.add_dense("dgrid", dgrid, transformer.grid_shape)
        dtheta = operands.add_dense("dtheta", dtheta, transformer.theta_shape, makes=True)
        operands.launch(raw.cudnnSpatialTfGridGeneratorBackward, stDesc=transformer)
    return dtheta


@launched
def spatial_tf_sampler_forward(
    handle: Handle,
    x: Any,
    grid: Any,
    transformer: SpatialTransformerDescriptor,
    y: Made | None = None,
    *,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = alpha * (x at the grid's points) + beta * y; ``cudnnSpatialTfSamplerForward``.

    Parameters
    ----------
    x : tensor
        (N, C, height, width), of any height and width.
    grid : tensor
        (N, H, W, 2); points outside of -1 to 1 see zeros.
    y : tensor, optional
        (N, C, H, W). Default: allocated, in the layout of x.

    The errors are those of `spatial_tf_grid_generator_forward`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(4, dtype="float32").reshape(1, 1, 2, 2))
    >>> mirror = DeviceTensor.from_numpy(np.array([[[-1, 0, 0], [0, 1, 0]]], "float32"))
    >>> with Handle() as handle, SpatialTransformerDescriptor((1, 1, 2, 2)) as transformer:
    ...     grid = spatial_tf_grid_generator_forward(handle, mirror, transformer)
    ...     y = spatial_tf_sampler_forward(handle, x, grid, transformer)
    >>> y.numpy()[0, 0]
    array([[1., 0.],
           [3., 2.]], dtype=float32)
    """
    with _Operands(handle, transformer, x=(x, x_desc), y=(y, y_desc)) as operands:
        if y is None:
            refuse_beta("y", beta)
            y = operands.make("y", transformer.shape, transformer.data_type)
        operands.add_dense("grid", grid, transformer.grid_shape)
        operands.launch(
            raw.cudnnSpatialTfSamplerForward, stDesc=transformer, alpha=alpha, beta=beta
        )
    return y


@launched
def spatial_tf_sampler_backward(
    handle: Handle,
    transformer: SpatialTransformerDescriptor,
    *,
    x: Any,
    dy: Any,
    grid: Any,
    dx: Any = None,
    dgrid: Any = None,
    alpha: float = 1,
    beta: float = 0,
    alpha_dgrid: float = 1,
    beta_dgrid: float = 0,
    x_desc: TensorDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> SpatialTfSamplerGradients:
    """The gradients of x and of the grid; follows ``cudnnSpatialTfSamplerBackward``.

    dx = alpha * (gradient of x) + beta * dx, and dgrid likewise with factors of its own.

    Parameters
    ----------
    dy : tensor
        Gradient of y, (N, C, H, W).
    dx : tensor, optional
        Gradient of x, of its shape and type. Default: allocated, in the layout of x.
    dgrid : tensor, optional
        Gradient of the grid, (N, H, W, 2). Default: allocated.
    alpha_dgrid, beta_dgrid : float
        The factors of dgrid.

    The other parameters, and the errors, are those of `spatial_tf_sampler_forward`.

    Examples
    --------
    >>> x = DeviceTensor.zeros((1, 1, 2, 2), "float32")
    >>> dy = DeviceTensor.from_numpy(np.arange(4, dtype="float32").reshape(1, 1, 2, 2))
    >>> mirror = DeviceTensor.from_numpy(np.array([[[-1, 0, 0], [0, 1, 0]]], "float32"))
    >>> with Handle() as handle, SpatialTransformerDescriptor((1, 1, 2, 2)) as transformer:
    ...     grid = spatial_tf_grid_generator_forward(handle, mirror, transformer)
    ...     gradients = spatial_tf_sampler_backward(handle, transformer, x=x, dy=dy, grid=grid)
    >>> gradients.dx.numpy()[0, 0]
    array([[1., 0.],
           [3., 2.]], dtype=float32)
    """
    with _Operands(
        handle, transformer, x=(x, x_desc), dy=(dy, dy_desc), dx=(dx, dx_desc)
    ) as operands:
        if dx is None:
            dx = operands.make_like("dx", "x", beta=beta)
        if dgrid is None:
            refuse_beta("dgrid", beta_dgrid)
        operands.add_dense("grid", grid, transformer.grid_shape)
        dgrid = operands.add_dense("dgrid", dgrid, transformer.grid_shape, makes=True)
        operands.launch(
            raw.cudnnSpatialTfSamplerBackward,
            stDesc=transformer,
            alpha=alpha,
            beta=beta,
            alphaDgrid=alpha_dgrid,
            betaDgrid=beta_dgrid,
        )
    return SpatialTfSamplerGradients(dx, dgrid)


class _Operands(Operands):
    """The operands of one call, held against the transformer."""

    def __init__(
        self, handle: Handle, transformer: SpatialTransformerDescriptor, **operands: Any
    ) -> None:
        expect("handle", handle, Handle)
        self.transformer = expect("transformer", transformer, SpatialTransformerDescriptor)
        super().__init__(handle, **operands)

    def add_dense(
        self, name: str, value: Any, shape: tuple[int, ...], *, makes: bool = False
    ) -> Any:
        """Take maps or a grid, which have no descriptor in C; returns `value`, or what is made."""
        data_type = self.transformer.data_type
        if value is None and makes:
            value = self.new(shape, data_type)
        self.add(name, value, self.enter_context(TensorDescriptor(shape, data_type)))
        return value
