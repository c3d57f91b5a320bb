"""The methods of a `pygraph` for reductions, statistics and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .c_members import c_member
from .described import Described
from .enums import data_type, named, reduction_mode, reshape_mode
from .tensors import tensor

__all__ = ["StructuredMethods"]

Sizes = Sequence[int]
_NOT_SET = data_type.NOT_SET


class StructuredMethods(Described):
    """Reductions, statistics, and the same elements with other dims.

    `out_dims` are the dims of the result, as ``set_dim`` takes them; a mapping by the names of
    results where there are several.
    """

    def reduction(
        self,
        input: tensor,
        mode: reduction_mode,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        group_offset: tensor | None = None,
        out_dims: Any = None,
    ) -> tensor:
        """Sums, maxima, norms …; give it `out_dims`, 1 where it is reduced.

        `group_offset` says where groups of rows begin, each of which is reduced; cuDNN 9.24.
        """
        result: tensor = self._one(
            "reduction",
            "OUT_0",
            input,
            c_member(named(reduction_mode, mode, "mode")),
            group_offset=group_offset,
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )
        return result

    def genstats(
        self,
        input: tensor,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[tensor]:
        """Sum and sum of squares of each channel, (1, c, 1, …)."""
        return self._described(
            "genstats",
            "SUM SQ_SUM",
            input,
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )

    def reshape(
        self,
        input: tensor,
        name: str = "",
        reshape_mode: reshape_mode = reshape_mode.VIEW_ONLY,
        out_dims: Any = None,
    ) -> tensor:
        """The same elements with other dims: `out_dims`, or what is set on the result."""
        mode = named(_reshape_mode, reshape_mode, "reshape_mode")
        # Older versions have no mode, and do what VIEW_ONLY does.
        chosen = None if mode is _reshape_mode.VIEW_ONLY else c_member(mode)
        result: tensor = self._one("reshape", "OUT_0", input, reshape_mode=chosen, name=name)
        return result

    def transpose(
        self,
        input: tensor,
        permutation: Sizes,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> tensor:
        """Dimension i of the result is dimension permutation[i] of `input`."""
        result: tensor = self._one(
            "transpose",
            "OUT_0",
            input,
            list(permutation),
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )
        return result

    def slice(
        self,
        input: tensor,
        slices: Sequence[Any] = (),
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> tensor:
        """Part of `input`: one Python slice per dimension, with positive steps."""
        result: tensor = self._one(
            "slice",
            "OUT_0",
            input,
            slices,
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
        )
        return result

    def concatenate(
        self,
        inputs: Sequence[tensor],
        axis: int,
        in_place_index: int | None = None,
        name: str = "",
        out_dims: Any = None,
    ) -> tensor:
        """`inputs` one after the other along `axis`."""
        result: tensor = self._one(
            "concatenate",
            "OUT_0",
            inputs,
            axis,
            in_place_index=in_place_index,
            name=name,
            out_dims=out_dims,
        )
        return result


_reshape_mode = reshape_mode
