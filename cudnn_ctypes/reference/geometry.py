"""The shapes and options of one convolution, checked once and shared by all its directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..arguments import integer, integers

Mode = Literal["cross_correlation", "convolution"]


@dataclass(frozen=True)
class Geometry:
    """A convolution's options and its tensors' shapes, with the derived sizes.

    The letters are those of the cuDNN papers: N images, C input channels, K filters (output
    channels), and for every spatial dimension the image size, the filter size R and the output
    size Y. Build one with `Geometry.of`, which checks it.
    """

    x_shape: tuple[int, ...]
    w_shape: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    mode: Mode

    @classmethod
    def of(
        cls,
        x_shape: Sequence[int],
        w_shape: Sequence[int],
        *,
        padding: Sequence[int] | None = None,
        stride: Sequence[int] | None = None,
        dilation: Sequence[int] | None = None,
        groups: int = 1,
        mode: Mode = "cross_correlation",
    ) -> Geometry:
        """Check the arguments of a convolution; ValueError names the first one that is wrong."""
        x_shape = _positive("x_shape", x_shape)
        w_shape = _positive("w_shape", w_shape)
        if len(x_shape) < 3:
            raise ValueError(f"x_shape must be (N, C, spatial sizes...), got {x_shape}")
        if len(w_shape) != len(x_shape):
            raise ValueError(
                f"w_shape must have as many dimensions as x_shape {x_shape}, got {w_shape}"
            )
        if mode not in ("cross_correlation", "convolution"):
            raise ValueError(f"mode must be 'cross_correlation' or 'convolution', got {mode!r}")
        _check_channels(x_shape[1], w_shape, groups)
        spatial = len(x_shape) - 2
        geometry = cls(
            x_shape,
            w_shape,
            per_dimension("padding", padding, spatial, default=0, least=0),
            per_dimension("stride", stride, spatial, default=1, least=1),
            per_dimension("dilation", dilation, spatial, default=1, least=1),
            groups,
            mode,
        )
        if min(geometry.y_shape) < 1:
            raise ValueError(
                f"w_shape {w_shape} with dilation {geometry.dilation} is larger than x_shape "
                f"{x_shape} with padding {geometry.padding}: the output would be empty"
            )
        return geometry

    @property
    def spatial(self) -> int:
        """The number of spatial dimensions."""
        return len(self.padding)

    @property
    def window(self) -> tuple[int, ...]:
        """The filter's extent on the image once dilated: (R - 1) * dilation + 1."""
        return tuple((r - 1) * d + 1 for r, d in zip(self.w_shape[2:], self.dilation, strict=True))

    @property
    def padded(self) -> tuple[int, ...]:
        """The image's spatial sizes with the padding on both sides."""
        return tuple(x + 2 * p for x, p in zip(self.x_shape[2:], self.padding, strict=True))

    @property
    def inside(self) -> tuple[slice, ...]:
        """The index of the image (N, C, sizes...) in the padded one."""
        sizes = zip(self.padding, self.x_shape[2:], strict=True)
        return (slice(None), slice(None), *(slice(p, p + size) for p, size in sizes))

    @property
    def y_shape(self) -> tuple[int, ...]:
        """(N, K, Y...) with Y = floor((image + 2 padding - window) / stride) + 1."""
        sizes = zip(self.padded, self.window, self.stride, strict=True)
        return (
            self.x_shape[0],
            self.w_shape[0],
            *((padded - window) // s + 1 for padded, window, s in sizes),
        )


def output_shape(
    x_shape: Sequence[int],
    w_shape: Sequence[int],
    *,
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    groups: int = 1,
) -> tuple[int, ...]:
    """The shape (N, K, Y...) of y, as `cudnnGetConvolutionNdForwardOutputDim` computes it.

    Parameters
    ----------
    x_shape
        (N, C, spatial sizes...), any number of spatial dimensions.
    w_shape
        (K, C / groups, filter sizes...).
    padding, stride, dilation
        One int for each spatial dimension; default: 0, 1 and 1.
    groups
        Divides both C and K.

    Raises
    ------
    ValueError
        If an argument does not fit the others, or the filter does not fit the padded image.

    Examples
    --------
    >>> output_shape((1, 3, 224, 224), (64, 3, 7, 7), padding=(3, 3), stride=(2, 2))
    (1, 64, 112, 112)
    """
    return Geometry.of(
        x_shape, w_shape, padding=padding, stride=stride, dilation=dilation, groups=groups
    ).y_shape


def _positive(name: str, sizes: Sequence[int]) -> tuple[int, ...]:
    checked = integers(name, sizes)
    if any(size < 1 for size in checked):
        raise ValueError(f"{name} must hold sizes of at least 1, got {checked}")
    return checked


def per_dimension(
    name: str, values: Sequence[int] | None, spatial: int, *, default: int, least: int
) -> tuple[int, ...]:
    """One int of at least `least` for each spatial dimension; ValueError names the argument."""
    if values is None:
        return (default,) * spatial
    checked = integers(name, values)
    if len(checked) != spatial:
        raise ValueError(
            f"{name} must hold one int for each of the {spatial} spatial dimensions, got {checked}"
        )
    if any(value < least for value in checked):
        raise ValueError(f"{name} must hold ints of at least {least}, got {checked}")
    return checked


def _check_channels(channels: int, w_shape: tuple[int, ...], groups: int) -> None:
    integer("groups", groups, least=1)
    if channels % groups or w_shape[0] % groups:
        raise ValueError(
            f"groups must divide the {channels} input channels and the {w_shape[0]} filters, "
            f"got {groups}"
        )
    if w_shape[1] * groups != channels:
        raise ValueError(
            f"w_shape[1] must be {channels} input channels / {groups} groups = "
            f"{channels // groups}, got {w_shape[1]}"
        )
