"""The methods of a `pygraph` for convolutions and matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arguments import integers
from .c_members import c_member
from .described import Described
from .enums import convolution_mode, data_type, named
from .tensors import tensor

__all__ = ["ConvolutionMethods"]

Sizes = Sequence[int]
_NOT_SET = data_type.NOT_SET
_CROSS_CORRELATION = convolution_mode.CROSS_CORRELATION
_STEPS = ("stride", "dilation")


class ConvolutionMethods(Described):
    """Convolutions, their gradients, and matrix products.

    `out_dims` are the dims of the result, as ``set_dim`` takes them.
    """

    def conv_fprop(
        self,
        image: tensor,
        weight: tensor,
        padding: Sizes = (),
        stride: Sizes = (),
        dilation: Sizes = (),
        convolution_mode: convolution_mode = _CROSS_CORRELATION,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        *,
        pre_padding: Sizes | None = None,
        post_padding: Sizes | None = None,
        out_dims: Any = None,
    ) -> tensor:
        """image * weight. `pre_padding` and `post_padding` go together, in place of `padding`.

        Parameters
        ----------
        image, weight : tensor
            (n, c, *spatial) and (k, c / groups, *window).
        padding, stride, dilation : sequence of int
            One for each spatial dimension; by default 0, 1, 1.
        """
        sizes = _sizes(padding, pre_padding, post_padding, stride, dilation)
        common = (compute_data_type, name, out_dims)
        return self._convolution("conv_fprop Y", (image, weight), sizes, convolution_mode, common)

    def conv_dgrad(
        self,
        loss: tensor,
        filter: tensor,
        padding: Sizes = (),
        stride: Sizes = (),
        dilation: Sizes = (),
        convolution_mode: convolution_mode = _CROSS_CORRELATION,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        *,
        pre_padding: Sizes | None = None,
        post_padding: Sizes | None = None,
        out_dims: Any = None,
    ) -> tensor:
        """The gradient of `conv_fprop` with respect to its image; give it `out_dims`."""
        sizes = _sizes(padding, pre_padding, post_padding, stride, dilation)
        common = (compute_data_type, name, out_dims)
        return self._convolution("conv_dgrad DX", (loss, filter), sizes, convolution_mode, common)

    def conv_wgrad(
        self,
        image: tensor,
        loss: tensor,
        padding: Sizes = (),
        stride: Sizes = (),
        dilation: Sizes = (),
        convolution_mode: convolution_mode = _CROSS_CORRELATION,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        *,
        pre_padding: Sizes | None = None,
        post_padding: Sizes | None = None,
        out_dims: Any = None,
    ) -> tensor:
        """The gradient of `conv_fprop` with respect to its weight; give it `out_dims`."""
        sizes = _sizes(padding, pre_padding, post_padding, stride, dilation)
        common = (compute_data_type, name, out_dims)
        return self._convolution("conv_wgrad DW", (image, loss), sizes, convolution_mode, common)

    def _convolution(
        self,
        what: str,
        operands: tuple[tensor, tensor],
        sizes: dict[str, Any],
        mode: Any,
        common: tuple[Any, str, Any],
    ) -> tensor:
        operation, port = what.split()
        compute_data_type, name, out_dims = common
        if not isinstance(mode, convolution_mode) and isinstance(mode, (list, tuple)):
            # Four lists by their place: those for the two sides come first.
            before, after, stride = (sizes.get(each, ()) for each in ("padding", *_STEPS))
            sizes, mode = _sizes((), before, after, stride, mode), _CROSS_CORRELATION
        result: tensor = self._one(
            operation,
            port,
            *operands,
            convolution_mode=c_member(named(convolution_mode, mode, "convolution_mode")),
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
            **sizes,
        )
        return result

    def matmul(
        self,
        A: tensor,
        B: tensor,
        compute_data_type: Any = _NOT_SET,
        padding: float = 0.0,
        name: str = "",
    ) -> tensor:
        """The matrix product of the last two dimensions; those before are batches and broadcast."""
        result: tensor = self._one(
            "matmul", "C", A, B, compute_data_type=compute_data_type, padding=padding, name=name
        )
        return result


def _sizes(
    padding: Sizes, before: Sizes | None, after: Sizes | None, stride: Sizes, dilation: Sizes
) -> dict[str, Any]:
    """Options of layer 3's convolutions; an empty sequence means the default."""
    if before is None and after is None:
        sizes = {"padding": padding}
    elif padding:
        raise TypeError("padding: either padding, or pre_padding and post_padding")
    else:
        none: Sizes = ()
        sizes = {
            "pre_padding": none if before is None else before,
            "post_padding": none if after is None else after,
        }
    sizes |= {"stride": stride, "dilation": dilation}
    chosen = {name: integers(name, value) for name, value in sizes.items()}
    return {name: list(value) for name, value in chosen.items() if value}
