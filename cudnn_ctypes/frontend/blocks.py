"""The methods of a `pygraph` for blocks with scales, experts and rotary embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..raw.strides import axis_order, packed
from .c_members import c_member
from .described import Described
from .enums import data_type, moe_grouped_matmul_mode, named
from .errors import not_supported
from .tensors import tensor

__all__ = ["BlockMethods"]

Sizes = Sequence[int]
_NOT_SET = data_type.NOT_SET


class BlockMethods(Described):
    """Blocks with scales, products of experts, rotary embeddings; for `out_dims` see there."""

    def block_scale_quantize(
        self,
        input: tensor,
        block_size: int,
        axis: int | None = None,
        transpose: bool = False,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
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
            out_dims=out_dims,
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
        out_dims: Any = None,
    ) -> tensor:
        """`input` times the scale of its block."""
        result: tensor = self._one(
            "block_scale_dequantize",
            "OUT_0",
            input,
            descale,
            block_size,
            is_negative_scale=is_negative_scale,
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )
        return result

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
        top_k_scores: tensor | None = None,
        out_dims: Any = None,
    ) -> tensor:
        """Each group of tokens times the weight of its expert.

        `top_k_scores` goes with the mode COMBINE; ``validate`` refuses both, since cuDNN has no
        such mode: NVIDIA's front end brings a kernel of its own for it.
        """
        combined = named(moe_grouped_matmul_mode, mode, "mode") is moe_grouped_matmul_mode.COMBINE
        if combined or top_k_scores is not None:
            reason = "no engine of cuDNN's adds weighted experts (mode COMBINE, top_k_scores)"
            error = not_supported("pygraph.moe_grouped_matmul", reason)
            stem = str(name) or self._graph.node_name("moe_grouped_matmul")
            refused: tensor = self._refused(error, stem, "OUT_0")[0]
            return refused
        result: tensor = self._one(
            "moe_grouped_matmul",
            "OUT_0",
            token,
            weight,
            first_token_offset,
            token_index=token_index,
            token_ks=token_ks,
            mode=c_member(mode),
            top_k=top_k or None,
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )
        return result

    def moe_grouped_matmul_bwd(
        self,
        doutput: tensor,
        token: tensor,
        first_token_offset: tensor,
        compute_data_type: Any = data_type.FLOAT,
        name: str = "",
        out_dims: Any = None,
    ) -> tensor:
        """The gradient of `moe_grouped_matmul` with respect to weight."""
        result: tensor = self._one(
            "moe_grouped_matmul_bwd",
            "dweight",
            doutput,
            token,
            first_token_offset,
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )
        return result

    def rope(
        self,
        input: tensor,
        freqs: tensor,
        output_scale: float = 1.0,
        rope_dim: int = 0,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> tensor:
        """Rotary position embedding of the last dimension, by the angles `freqs`. cuDNN 9.24.

        `rope_dim` is how much of the last dimension is rotated; 0 is all. cuDNN has no compute data
        type for it: `compute_data_type` changes nothing.
        """
        return self._rotated("rope", input, freqs, output_scale, rope_dim, name, out_dims)

    def rope_backward(
        self,
        dY: tensor,
        freqs: tensor,
        output_scale: float = 1.0,
        rope_dim: int = 0,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> tensor:
        """The gradient of `rope`, from that of its result."""
        return self._rotated("rope_backward", dY, freqs, output_scale, rope_dim, name, out_dims)

    def _rotated(
        self,
        operation: str,
        x: tensor,
        freqs: tensor,
        output_scale: float,
        rope_dim: int,
        name: str,
        out_dims: Any,
    ) -> tensor:
        result: tensor = self._one(
            operation,
            "OUT_0",
            x,
            freqs,
            output_scale=output_scale,
            rope_dim=rope_dim or None,
            name=name,
            out_dims=out_dims,
        )
        return result


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
