"""The spatial transformer: a grid of sampling points from affine maps, and sampling at them.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor. Maps and grids have no descriptor in C:
they are dense tensors of the transformer's data type.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_void_p
from typing import Any, NamedTuple

from .. import raw
from ..device import DeviceBuffer, DeviceTensor
from ..device.layout import to_shape
from ..dtypes import as_data_type, data_type_name, host_scalar
from ..handle import Handle
from ..raw.descriptors import SpatialTransformer
from .agreement import check_same
from .descriptor import Descriptor
from .enumerators import enumerator
from .launch import launch, launched
from .layouts import dense_layout
from .operands import Made, Operands, check_memory, expect, imported, refuse_beta
from .tensor import TensorDescriptor

__all__ = [
    "SpatialTfSamplerGradients",
    "SpatialTransformerDescriptor",
    "spatial_tf_grid_generator_backward",
    "spatial_tf_grid_generator_forward",
    "spatial_tf_sampler_backward",
    "spatial_tf_sampler_forward",
]


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
        super().__init__(
            raw.cudnnSpatialTransformerDescriptor_t(),
            raw.cudnnCreateSpatialTransformerDescriptor,
            raw.cudnnDestroySpatialTransformerDescriptor,
        )
        with self._closed_on_error():
            self.set_nd(sampler, data_type, shape)

    def set_nd(self, sampler: Any, data_type: Any, shape: Sequence[int]) -> None:
        """Set all of it; follows ``cudnnSetSpatialTransformerNdDescriptor``."""
        sampler = enumerator(raw.cudnnSamplerType_t, sampler, "sampler")
        data_type, shape = as_data_type(data_type), to_shape(shape)
        if not 1 <= len(shape) <= raw.CUDNN_DIM_MAX or min(shape) < 1:
            raise ValueError(
                f"shape: expected 1 to {raw.CUDNN_DIM_MAX} dimensions of at least 1, got {shape}"
            )
        raw.cudnnSetSpatialTransformerNdDescriptor(self, sampler, data_type, len(shape), shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, C, H, W) of the output."""
        return self._record(SpatialTransformer).shape

    @property
    def data_type(self) -> raw.cudnnDataType_t:
        """Type of all tensors."""
        return self._record(SpatialTransformer).data_type

    @property
    def sampler(self) -> raw.cudnnSamplerType_t:
        """How pixels are interpolated."""
        return self._record(SpatialTransformer).sampler

    @property
    def theta_shape(self) -> tuple[int, ...]:
        """(N, 2, 3): a map for each image."""
        return (self.shape[0], 2, 3)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """(N, H, W, 2): the horizontal and the vertical coordinate of each sampling point."""
        return (self.shape[0], *self.shape[2:], 2)


class SpatialTfSamplerGradients(NamedTuple):
    """What `spatial_tf_sampler_backward` returns.

    Attributes
    ----------
    dx, dgrid : DeviceTensor, or as they were given
    """

    dx: Any
    dgrid: Any


def spatial_tf_grid_generator_forward(
    handle: Handle,
    theta: Any,
    transformer: SpatialTransformerDescriptor,
    grid: Made | None = None,
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
        (N, H, W, 2). Left out: made.

    Returns
    -------
    DeviceTensor, or grid as it was given

    Raises
    ------
    TypeError
        If an operand is host memory.
    ValueError
        If shapes or types do not fit together; the message names the argument.
    NotSupportedError
        If the transformer has other than 4 dimensions.
    """
    _check(handle, transformer)
    theta = _dense("theta", theta, transformer.theta_shape, transformer, handle)
    grid = _new(transformer.grid_shape, transformer, handle) if grid is None else grid
    memory = _dense("grid", grid, transformer.grid_shape, transformer, handle, written=True)
    raw.cudnnSpatialTfGridGeneratorForward(handle, transformer, theta, memory)
    return grid


def spatial_tf_grid_generator_backward(
    handle: Handle,
    dgrid: Any,
    transformer: SpatialTransformerDescriptor,
    dtheta: Made | None = None,
) -> Made:
    """The gradient of the maps; follows ``cudnnSpatialTfGridGeneratorBackward``.

    Parameters
    ----------
    dgrid : tensor
        Gradient of the grid, (N, H, W, 2).
    dtheta : tensor, optional
        (N, 2, 3). Left out: made.

    Returns
    -------
    DeviceTensor, or dtheta as it was given

    The errors are those of `spatial_tf_grid_generator_forward`.
    """
    _check(handle, transformer)
    dgrid = _dense("dgrid", dgrid, transformer.grid_shape, transformer, handle)
    dtheta = _new(transformer.theta_shape, transformer, handle) if dtheta is None else dtheta
    memory = _dense("dtheta", dtheta, transformer.theta_shape, transformer, handle, written=True)
    raw.cudnnSpatialTfGridGeneratorBackward(handle, transformer, dgrid, memory)
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
        (N, C, H, W). Left out: made, in the layout of x.
    alpha, beta : float
        Factors; with beta = 0 what y held is not read.
    x_desc, y_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    DeviceTensor, or y as it was given

    The errors are those of `spatial_tf_grid_generator_forward`.
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        _check(handle, transformer)
        x_memory, x_desc = operands.tensor("x")
        _check_images(x_desc, transformer)
        if y is None:
            refuse_beta("y", beta)
            y = operands.make("y", transformer.shape, transformer.data_type)
        y_memory, y_desc = operands.tensor("y")
        _check_output("y", y_desc, transformer)
        launch(
            raw.cudnnSpatialTfSamplerForward,
            handle,
            transformer,
            host_scalar(alpha, transformer.data_type),
            x_desc,
            check_memory("x", x_memory, x_desc, handle),
            _dense("grid", grid, transformer.grid_shape, transformer, handle),
            host_scalar(beta, transformer.data_type),
            y_desc,
            check_memory("y", y_memory, y_desc, handle, written=True),
        )
    return y


@launched
def spatial_tf_sampler_backward(
    handle: Handle,
    x: Any,
    dy: Any,
    grid: Any,
    transformer: SpatialTransformerDescriptor,
    dx: Any = None,
    dgrid: Any = None,
    *,
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
        Gradient of x, of its shape and type. Left out: made, in the layout of x.
    dgrid : tensor, optional
        Gradient of the grid, (N, H, W, 2). Left out: made.

    Returns
    -------
    SpatialTfSamplerGradients

    The other parameters, and the errors, are those of `spatial_tf_sampler_forward`.
    """
    with Operands(handle, x=(x, x_desc), dy=(dy, dy_desc), dx=(dx, dx_desc)) as operands:
        _check(handle, transformer)
        data_type = transformer.data_type
        x_memory, x_desc = operands.tensor("x")
        _check_images(x_desc, transformer)
        dy_memory, dy_desc = operands.tensor("dy")
        _check_output("dy", dy_desc, transformer)
        if dx is None:
            dx = operands.make_like("dx", "x", beta=beta)
        dx_memory, dx_desc = operands.tensor("dx")
        check_same("x", x_desc, "dx", dx_desc)
        if dgrid is None:
            refuse_beta("dgrid", beta_dgrid)
            dgrid = operands.result_memory(_new(transformer.grid_shape, transformer, handle))
        launch(
            raw.cudnnSpatialTfSamplerBackward,
            handle,
            transformer,
            host_scalar(alpha, data_type),
            x_desc,
            check_memory("x", x_memory, x_desc, handle),
            host_scalar(beta, data_type),
            dx_desc,
            check_memory("dx", dx_memory, dx_desc, handle, written=True),
            host_scalar(alpha_dgrid, data_type),
            dy_desc,
            check_memory("dy", dy_memory, dy_desc, handle),
            _dense("grid", grid, transformer.grid_shape, transformer, handle),
            host_scalar(beta_dgrid, data_type),
            _dense("dgrid", dgrid, transformer.grid_shape, transformer, handle, written=True),
        )
    return SpatialTfSamplerGradients(dx, dgrid)


def _check(handle: Handle, transformer: Any) -> None:
    expect("handle", handle, Handle)
    expect("transformer", transformer, SpatialTransformerDescriptor)


def _check_images(x_desc: TensorDescriptor, transformer: SpatialTransformerDescriptor) -> None:
    shape, wanted = x_desc.shape, transformer.shape
    if len(shape) != 4 or shape[:2] != wanted[:2]:
        raise ValueError(
            f"x: expected shape (N, C, height, width) with (N, C) = {wanted[:2]}, as the "
            f"transformer has them, got {shape}"
        )
    _check_type("x", x_desc.data_type, transformer)


def _check_output(
    name: str, desc: TensorDescriptor, transformer: SpatialTransformerDescriptor
) -> None:
    if desc.shape != transformer.shape:
        raise ValueError(
            f"{name}: expected shape {transformer.shape}, that of the transformer, got {desc.shape}"
        )
    _check_type(name, desc.data_type, transformer)


def _check_type(name: str, data_type: Any, transformer: SpatialTransformerDescriptor) -> None:
    if data_type != transformer.data_type:
        raise ValueError(
            f"{name}: expected {data_type_name(transformer.data_type)}, the type of the "
            f"transformer, got {data_type_name(data_type)}"
        )


def _new(shape: tuple[int, ...], transformer: SpatialTransformerDescriptor, handle: Handle) -> Any:
    return DeviceTensor.empty(
        shape, transformer.data_type, device=handle.device, stream=handle.stream
    )


def _dense(
    name: str,
    value: Any,
    shape: tuple[int, ...],
    transformer: SpatialTransformerDescriptor,
    handle: Handle,
    *,
    written: bool = False,
) -> Any:
    """What C receives for maps or a grid, which have no descriptor: dense, of this shape."""
    data_type = transformer.data_type
    if not isinstance(value, (int, c_void_p, DeviceBuffer)) or isinstance(value, bool):
        value = imported(name, value, handle)
        _check_type(name, value.data_type, transformer)
        if value.shape != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {value.shape}")
        if dense_layout(shape, value.strides, data_type, "NCHW") != "NCHW":
            raise ValueError(f"{name}: must be dense in C order, got strides {value.strides}")
    with TensorDescriptor(shape, data_type) as desc:
        return check_memory(name, value, desc, handle, written=written)
