"""The methods of a `pygraph` for convolutions, matrix products, reductions, shapes and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..strides import axis_order, packed
from .enums import (
    c_member,
    convolution_mode,
    data_type,
    moe_grouped_matmul_mode,
    named,
    reduction_mode,
    reshape_mode,
)
from .front_graph import Described
from .tensors import tensor

__all__ = ["StructuredMethods"]

Sizes = Sequence[int]
_NOT_SET = data_type.NOT_SET
_CROSS_CORRELATION = convolution_mode.CROSS_CORRELATION
_STEPS = ("stride", "dilation")


class StructuredMethods(Described):
    """Operations that are not element by element, but for normalization and attention."""

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
        return self._convolution(
            "conv_fprop Y", image, weight, sizes, convolution_mode, compute_data_type, name
        )

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
    ) -> tensor:
        """The gradient of `conv_fprop` with respect to its image; give it dims by ``set_dim``."""
        sizes = _sizes(padding, pre_padding, post_padding, stride, dilation)
        return self._convolution(
            "conv_dgrad DX", loss, filter, sizes, convolution_mode, compute_data_type, name
        )

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
    ) -> tensor:
        """The gradient of `conv_fprop` with respect to its weight; give it dims by ``set_dim``."""
        sizes = _sizes(padding, pre_padding, post_padding, stride, dilation)
        return self._convolution(
            "conv_wgrad DW", image, loss, sizes, convolution_mode, compute_data_type, name
        )

    def _convolution(
        self,
        what: str,
        first: tensor,
        second: tensor,
        sizes: dict[str, Any],
        mode: Any,
        compute_data_type: Any,
        name: str,
    ) -> tensor:
        operation, port = what.split()
        if not isinstance(mode, convolution_mode) and isinstance(mode, (list, tuple)):
            # Four lists by their place: those for the two sides come first.
            before, after, stride = (sizes.get(each, ()) for each in ("padding", *_STEPS))
            sizes, mode = _sizes((), before, after, stride, mode), _CROSS_CORRELATION
        made: tensor = self._one(
            operation,
            port,
            first,
            second,
            convolution_mode=c_member(named(convolution_mode, mode, "convolution_mode")),
            compute_data_type=compute_data_type,
            name=name,
            **sizes,
        )
        return made

    def matmul(
        self,
        A: tensor,
        B: tensor,
        compute_data_type: Any = _NOT_SET,
        padding: float = 0.0,
        name: str = "",
    ) -> tensor:
        """The matrix product of the last two dimensions; those before are batches and broadcast."""
        made: tensor = self._one(
            "matmul", "C", A, B, compute_data_type=compute_data_type, padding=padding, name=name
        )
        return made

    def reduction(
        self,
        input: tensor,
        mode: reduction_mode,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> tensor:
        """Sums, maxima, norms …; give the result dims, 1 where it is reduced."""
        made: tensor = self._one(
            "reduction",
            "Y",
            input,
            c_member(named(reduction_mode, mode, "mode")),
            compute_data_type=compute_data_type,
            name=name,
        )
        return made

    def genstats(
        self, input: tensor, compute_data_type: Any = _NOT_SET, name: str = ""
    ) -> list[tensor]:
        """Sum and sum of squares of each channel, (1, c, 1, …)."""
        return self._described(
            "genstats",
            "_sum_output _sq_sum_output",
            input,
            compute_data_type=compute_data_type,
            name=name,
        )

    def reshape(
        self, input: tensor, name: str = "", reshape_mode: reshape_mode = reshape_mode.VIEW_ONLY
    ) -> tensor:
        """The same elements with other dims: set them, and the strides, on the result."""
        mode = named(_reshape_mode, reshape_mode, "reshape_mode")
        # Older versions have no mode, and do what VIEW_ONLY does.
        chosen = None if mode is _reshape_mode.VIEW_ONLY else c_member(mode)
        made: tensor = self._one("reshape", "Y", input, reshape_mode=chosen, name=name)
        return made

    def transpose(
        self,
        input: tensor,
        permutation: Sizes,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> tensor:
        """Dimension i of the result is dimension permutation[i] of `input`."""
        made: tensor = self._one(
            "transpose", "Y", input, permutation, compute_data_type=compute_data_type, name=name
        )
        return made

    def slice(
        self,
        input: tensor,
        slices: Sequence[Any] = (),
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> tensor:
        """Part of `input`: one Python slice per dimension, with positive steps."""
        made: tensor = self._one(
            "slice", "Y", input, slices, compute_data_type=compute_data_type, name=name
        )
        return made

    def concatenate(
        self,
        inputs: Sequence[tensor],
        axis: int,
        in_place_index: int | None = None,
        name: str = "",
    ) -> tensor:
        """`inputs` one after the other along `axis`."""
        made: tensor = self._one(
            "concatenate", "Y", inputs, axis, in_place_index=in_place_index, name=name
        )
        return made

    def block_scale_quantize(
        self,
        input: tensor,
        block_size: int,
        axis: int | None = None,
        transpose: bool = False,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> list[tensor]:
        """Blocks of `input` in a small data type, and the scale of each."""
        results = self._described(
            "block_scale_quantize",
            "Y scale",
            input,
            block_size,
            axis=-1 if axis is None else axis,
            compute_data_type=compute_data_type,
            name=name,
        )
        if transpose:
            _pack_along(input, -1 if axis is None else axis, block_size, results)
        return results

    def block_scale_dequantize(
        self,
        input: tensor,
        descale: tensor,
        block_size: Sizes,
        is_negative_scale: bool = False,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
    ) -> tensor:
        """`input` times the scale of its block."""
        made: tensor = self._one(
            "block_scale_dequantize",
            "Y",
            input,
            descale,
            block_size,
            is_negative_scale=is_negative_scale,
            compute_data_type=compute_data_type,
            name=name,
        )
        return made

    def moe_grouped_matmul(
        self,
        token: tensor,
        weight: tensor,
        first_token_offset: tensor,
        token_index: tensor | None = None,
        token_ks: tensor | None = None,
        mode: moe_grouped_matmul_mode = moe_grouped_matmul_mode.NONE,
        compute_data_type: Any = data_type.FLOAT,
        top_k: int = 0,
        name: str = "",
    ) -> tensor:
        """Each group of tokens times the weight of its expert."""
        made: tensor = self._one(
            "moe_grouped_matmul",
            "Output",
            token,
            weight,
            first_token_offset,
            token_index=token_index,
            token_ks=token_ks,
            mode=c_member(named(moe_grouped_matmul_mode, mode, "mode")),
            top_k=top_k or None,
            compute_data_type=compute_data_type,
            name=name,
        )
        return made

    def moe_grouped_matmul_bwd(
        self,
        doutput: tensor,
        token: tensor,
        first_token_offset: tensor,
        compute_data_type: Any = data_type.FLOAT,
        name: str = "",
    ) -> tensor:
        """The gradient of `moe_grouped_matmul` with respect to weight."""
        made: tensor = self._one(
            "moe_grouped_matmul_bwd",
            "DWeight",
            doutput,
            token,
            first_token_offset,
            compute_data_type=compute_data_type,
            name=name,
        )
        return made


_reshape_mode = reshape_mode


def _sizes(
    padding: Sizes, before: Sizes | None, after: Sizes | None, stride: Sizes, dilation: Sizes
) -> dict[str, Any]:
    """Options of layer 3's convolutions; an empty sequence means the default."""
    if before is None and after is None:
        sizes = {"padding": padding}
    elif padding:
        raise TypeError("padding: either padding, or pre_padding and post_padding")
    else:
        sizes = {"pre_padding": before or (), "post_padding": after or ()}
    sizes |= {"stride": stride, "dilation": dilation}
    return {name: list(value) for name, value in sizes.items() if len(value)}


def _pack_along(x: tensor, axis: int, size: int, results: Sequence[tensor]) -> None:
    """Lay blocks and scales out with `axis` innermost; this needs the operand's dims."""
    if x.dims is None or x.strides is None:
        raise ValueError("block_scale_quantize: transpose needs an input with dims and strides")
    last = axis % len(x.dims)
    order = axis_order(x.dims, x.strides)
    # The order goes round until the axis is the last one.
    place = order.index(last) + 1
    order = order[place:] + order[:place]
    scales = list(x.dims)
    scales[last] //= size
    for result, dims in zip(results, (x.dims, scales), strict=True):
        result.strides = packed(dims, order)
