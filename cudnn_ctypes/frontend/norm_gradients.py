"""The gradients of the normalizations of a `pygraph`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from .described import Described
from .enums import data_type
from .tensors import tensor

__all__ = ["NormGradientMethods", "given"]

T = TypeVar("T")
_NOT_SET = data_type.NOT_SET
_MODES = {
    "layernorm": "layer",
    "adalayernorm": "ada_layer",
    "instancenorm": "instance",
    "batchnorm": "batch",
    "rmsnorm": "rms",
}


def given(value: T | None, what: str) -> T:
    """`value`, which may not be left out though it comes after an argument that may be.

    Raises
    ------
    TypeError
        If it is None.
    """
    if value is None:
        raise TypeError(f"{what} is missing")
    return value


class NormGradientMethods(Described):
    """Each gives [DX, DSCALE, DBIAS]."""

    def layernorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor | None = None,
        mean: tensor | None = None,
        inv_variance: tensor | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `layernorm`."""
        given(mean, "layernorm_backward: mean")
        given(inv_variance, "layernorm_backward: inv_variance")
        operands = (grad, input, scale, mean, inv_variance)
        return self._gradients("layernorm", operands, compute_data_type, name, out_dims)

    def adalayernorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor,
        mean: tensor,
        inv_variance: tensor,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `adalayernorm`."""
        operands = (grad, input, scale, mean, inv_variance)
        return self._gradients("adalayernorm", operands, compute_data_type, name, out_dims)

    def instancenorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor,
        mean: tensor | None = None,
        inv_variance: tensor | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `instancenorm`."""
        operands = (grad, input, scale, mean, inv_variance)
        return self._gradients("instancenorm", operands, compute_data_type, name, out_dims)

    def batchnorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor,
        mean: tensor,
        inv_variance: tensor,
        peer_stats: Sequence[tensor] = (),
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `batchnorm`, or of `batchnorm_inference`."""
        operands = (grad, input, scale, mean, inv_variance)
        return self._gradients(
            "batchnorm", operands, compute_data_type, name, out_dims, peer_stats=peer_stats
        )

    def rmsnorm_backward(
        self,
        grad: tensor,
        input: tensor,
        scale: tensor | None = None,
        inv_variance: tensor | None = None,
        has_dbias: bool | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        out_dims: Any = None,
    ) -> list[Any]:
        """[DX, DSCALE, DBIAS] of `rmsnorm`; DBIAS is None without `has_dbias`."""
        given(has_dbias, "rmsnorm_backward: has_dbias")
        given(inv_variance, "rmsnorm_backward: inv_variance")
        operands = (grad, input, scale, None, inv_variance)
        results = self._gradients(
            "rmsnorm", operands, compute_data_type, name, out_dims, has_dbias=bool(has_dbias)
        )
        return [*results, None][:3]

    def _gradients(
        self,
        norm: str,
        operands: tuple[Any, ...],
        compute_data_type: Any,
        name: str,
        out_dims: Any,
        **options: Any,
    ) -> list[Any]:
        return self._described(
            "norm_backward",
            "DX DScale DBias",
            _MODES[norm],
            *operands,
            method=f"{norm}_backward",
            unsaid="mode",
            compute_data_type=compute_data_type,
            name=name,
            out_dims=out_dims,
            **options,
        )
