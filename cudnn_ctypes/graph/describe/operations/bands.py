"""Masks along diagonals, and matrices stored by their diagonals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....arguments import enumerator, integers
from ....raw import cudnnPointwiseMode_t
from ..node import Kind, Node, Result
from ..tensor import Tensor
from .base import Operations

__all__ = [
    "CONTRACT_BAND_MATRIX",
    "DIAGONAL_BAND_MASK",
    "EXPAND_BAND_MATRIX",
    "BandOperations",
]


def _infer_same(node: Node) -> Mapping[str, Result]:
    x = node.inputs["input"]
    return {"y": Result(x.dims, x)}


def _infer_band(node: Node) -> Mapping[str, Result]:
    x, y = node.inputs["input"], node.outputs["y"]
    axis = node.axis(x.rank, repr(x.name))
    if axis not in (x.rank - 2, x.rank - 1):
        node.refuse(f"axis {axis} is none of the last two dimensions of {x.name!r} {x.dims}")
    if y.rank != x.rank:
        node.refuse(f"its result {y.name!r} {y.dims} needs the rank of {x.name!r} {x.dims}")
    band: Any = x if node.kind is EXPAND_BAND_MATRIX else y
    width = node.options["lower"] + node.options["upper"] + 1
    if band.dims[axis] != width:
        node.refuse(
            f"{band.name!r} {band.dims} must have lower_bandwidth + upper_bandwidth + 1 = {width} "
            f"elements along axis {axis}"
        )
    return {"y": Result(y.dims, None, x.data_type)}


DIAGONAL_BAND_MASK = Kind(
    "operation_diagonal_band_mask",
    {
        "input": "xdesc",
        "fill": "bdesc",
        "left_bound": "left_bound_desc",
        "right_shift": "shift_right_bound_desc",
        "seq_len_q": "seq_len_qdesc",
        "seq_len_kv": "seq_len_kvdesc",
        "cu_seq_len_q": "cu_seq_len_qdesc",
        "cu_seq_len_kv": "cu_seq_len_kvdesc",
    },
    {"y": "ydesc"},
    _infer_same,
    optional=frozenset(
        {
            *("left_bound", "right_shift", "seq_len_q", "seq_len_kv"),
            *("cu_seq_len_q", "cu_seq_len_kv"),
        }
    ),
    options={"comparison": "comparison_mode"},
    required=frozenset({"comparison"}),
)
_BAND = {"lower": "lower_bandwidth", "upper": "upper_bandwidth", "axis": "axis", "pad": "pad_value"}
_BAND_REQUIRED = frozenset({"lower", "upper", "axis"})
EXPAND_BAND_MATRIX = Kind(
    "operation_expand_band_matrix",
    {"input": "xdesc"},
    {"y": "ydesc"},
    _infer_band,
    options=_BAND,
    required=_BAND_REQUIRED,
)
CONTRACT_BAND_MATRIX = Kind(
    "operation_contract_band_matrix",
    {"input": "xdesc"},
    {"y": "ydesc"},
    _infer_band,
    options={**_BAND, "max_token": "max_token_value"},
    required=_BAND_REQUIRED,
)


class BandOperations(Operations):
    """Masks along diagonals and band matrices, as operations of a graph."""

    def diagonal_band_mask(
        self,
        input: Tensor,
        fill: Tensor | float,
        *,
        comparison: cudnnPointwiseMode_t | str = "cmp_ge",
        left_bound: Tensor | int | None = None,
        right_shift: Tensor | int | None = None,
        seq_len_q: Tensor | None = None,
        seq_len_kv: Tensor | None = None,
        cu_seq_len_q: Tensor | None = None,
        cu_seq_len_kv: Tensor | None = None,
        name: str = "",
    ) -> Tensor:
        """`input` on one side of a diagonal, `fill` elsewhere, within attention. cuDNN 9.20.

        ``CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR``.

        Parameters
        ----------
        input : Tensor
            Scores, (b, h, s_q, s_kv).
        comparison : "cmp_ge" or "cmp_gt"
            With the first, `input` stays where row + right_shift >= column; with the second, where
            column + left_bound > row.
        left_bound, right_shift : Tensor or int, optional
            int32 numbers.
        seq_len_q, seq_len_kv : Tensor, optional
            (b, 1, 1, 1), int32: the diagonal then ends at the last query and key of each sequence.
        cu_seq_len_q, cu_seq_len_kv : Tensor, optional
            (b + 1, 1, 1, 1), int32: the same as sums of the lengths before each. cuDNN 9.24.
        fill : Tensor or float
            Scores of what is masked: -inf, as a rule.

        Notes
        -----
        On an H200 cuDNN has engines for it between the first product of attention and `softmax`
        only.
        """
        operands = {
            "input": input,
            "fill": fill,
            "left_bound": self._bound(left_bound),
            "right_shift": self._bound(right_shift),
            "seq_len_q": seq_len_q,
            "seq_len_kv": seq_len_kv,
            "cu_seq_len_q": cu_seq_len_q,
            "cu_seq_len_kv": cu_seq_len_kv,
        }
        options = {"comparison": enumerator(cudnnPointwiseMode_t, comparison, "comparison")}
        return self._add(DIAGONAL_BAND_MASK, "diagonal_band_mask", operands, options, name=name)[
            "y"
        ]

    def _bound(self, value: Tensor | int | None) -> Tensor | None:
        return self.tensor_scalar(value, "int32") if isinstance(value, int) else value

    def expand_band_matrix(
        self,
        input: Tensor,
        dims: Sequence[int],
        *,
        lower_bandwidth: int,
        upper_bandwidth: int,
        axis: int,
        pad_value: float = 0.0,
        name: str = "",
    ) -> Tensor:
        """A matrix of `dims` from its diagonals, `pad_value` elsewhere. cuDNN 9.10.

        ``CUDNN_BACKEND_OPERATION_EXPAND_BAND_MATRIX_DESCRIPTOR``.

        Parameters
        ----------
        input : Tensor
            As `dims`, but lower_bandwidth + upper_bandwidth + 1 along `axis`.
        axis : int
            One of the last two.
        dims : sequence of int
            Of the matrix.
        lower_bandwidth, upper_bandwidth : int
            Diagonals below and above the main one.
        pad_value : float
            What fills the matrix elsewhere.

        Notes
        -----
        cuDNN takes the operation, but up to 9.28 has no engine for it on an H200.
        """
        return self._band_matrix(
            EXPAND_BAND_MATRIX,
            "expand_band_matrix",
            input,
            dims,
            name,
            lower=lower_bandwidth,
            upper=upper_bandwidth,
            axis=axis,
            pad=pad_value,
        )

    def contract_band_matrix(
        self,
        input: Tensor,
        dims: Sequence[int],
        *,
        lower_bandwidth: int,
        upper_bandwidth: int,
        axis: int,
        pad_value: float = 0.0,
        max_token_value: int | None = None,
        name: str = "",
    ) -> Tensor:
        """The diagonals of a matrix: the way back of `expand_band_matrix`, see there. cuDNN 9.10.

        ``CUDNN_BACKEND_OPERATION_CONTRACT_BAND_MATRIX_DESCRIPTOR``.

        Parameters
        ----------
        dims : sequence of int
            As those of `input`, but lower_bandwidth + upper_bandwidth + 1 along `axis`.
        max_token_value : int, optional
            cuDNN's attribute of that name.
        """
        return self._band_matrix(
            CONTRACT_BAND_MATRIX,
            "contract_band_matrix",
            input,
            dims,
            name,
            lower=lower_bandwidth,
            upper=upper_bandwidth,
            axis=axis,
            pad=pad_value,
            max_token=max_token_value,
        )

    def _band_matrix(
        self,
        kind: Kind,
        operation: str,
        input: Tensor,
        dims: Sequence[int],
        name: str,
        **options: Any,
    ) -> Tensor:
        dims = integers(f"{operation}: dims", dims)
        y = self._add(kind, operation, {"input": input}, options, name=name)["y"]
        return y.set_output(False, dims=dims)
