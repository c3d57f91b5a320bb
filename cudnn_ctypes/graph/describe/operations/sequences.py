"""Operations around attention: softmax, rotary embedding, paged caches, masks and band matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....arguments import integers
from ....raw import cudnnPointwiseMode_t
from ..node import Kind, Node, Result
from ..tensor import Tensor
from .base import Operations, listed, operation


def _infer_rope(node: Node) -> Mapping[str, Result]:
    x, freqs, size = node.inputs["input"], node.inputs["freqs"], node.options.get("rope_dim")
    size = x.dims[-1] if size is None else size
    if not (0 < size <= x.dims[-1] and size % 2 == 0):
        node.refuse(f"rope_dim {size} must be even, and at most the head size {x.dims[-1]}")
    if freqs.dims[-1] < size:
        node.refuse(f"freqs {freqs.name!r} {freqs.dims} has less than {size} angles, the rope_dim")
    return {"y": Result(x.dims, x, x.data_type)}


def _infer_softmax(node: Node) -> Mapping[str, Result]:
    x = node.inputs["input"]
    row = Result((*x.dims[:-1], 1), None, "compute")
    return {port: Result(x.dims, x) if port == "y" else row for port in node.outputs}


def _infer_paged(node: Node) -> Mapping[str, Result]:
    container, table = node.inputs["container"], node.inputs["page_table"]
    if container.rank != 4 or table.rank != 4:
        node.refuse(
            f"container {container.name!r} {container.dims} must be (pages, h, page size, d), "
            f"page_table {table.name!r} {table.dims} (b, 1, pages of one sequence, 1)"
        )
    length = node.options["max_seq_len"]
    if length > table.dims[2] * container.dims[2]:
        node.refuse(
            f"max_seq_len {length} does not fit in {table.dims[2]} pages of {container.dims[2]}"
        )
    dims = (table.dims[0], container.dims[1], length, container.dims[3])
    return {"y": Result(dims, container, container.data_type)}


SOFTMAX = Kind.of(
    "operation_softmax", "input=xdesc sink?", "y=ydesc stats max sum_exp", _infer_softmax
)
ROPE = Kind.of(
    "operation_rope_fwd",
    "input=xdesc freqs=freqsdesc",
    "y=ydesc",
    _infer_rope,
    options="output_scale rope_dim",
)
ROPE_BACKWARD = Kind.of(
    "operation_rope_bwd",
    "input=dydesc freqs=freqsdesc",
    "y=dxdesc",
    _infer_rope,
    options="output_scale rope_dim",
)
PAGED_CACHE_LOAD = Kind.of(
    "operation_paged_cache_load",
    "container page_table seq_len=sequence_desc",
    "y=ydesc",
    _infer_paged,
    own_options={"max_seq_len": int},
    required="max_seq_len",
)


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


DIAGONAL_BAND_MASK = Kind.of(
    "operation_diagonal_band_mask",
    "input=xdesc fill=bdesc left_bound? right_shift?=shift_right_bound_desc "
    "seq_len_q?=seq_len_qdesc seq_len_kv?=seq_len_kvdesc cu_seq_len_q?=cu_seq_len_qdesc "
    "cu_seq_len_kv?=cu_seq_len_kvdesc",
    "y=ydesc",
    _infer_same,
    options="comparison=comparison_mode",
    required="comparison",
)
_BAND = "lower=lower_bandwidth upper=upper_bandwidth axis pad=pad_value"
_BAND_REQUIRED = "lower upper axis"
EXPAND_BAND_MATRIX = Kind.of(
    "operation_expand_band_matrix",
    "input=xdesc",
    "y=ydesc",
    _infer_band,
    options=_BAND,
    required=_BAND_REQUIRED,
)
CONTRACT_BAND_MATRIX = Kind.of(
    "operation_contract_band_matrix",
    "input=xdesc",
    "y=ydesc",
    _infer_band,
    options=f"{_BAND} max_token=max_token_value",
    required=_BAND_REQUIRED,
)


@operation(SOFTMAX, returns=None)
def softmax(
    input: Tensor, *, outputs: Sequence[str] = ("y",), sink: Tensor | None = None
) -> Mapping[str, Any]:
    """Softmax of the last dimension, as one operation within attention. cuDNN 9.20.

    ``CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR``.

    Parameters
    ----------
    outputs : sequence of str
        "y"; "stats", the logarithm of the sum of exponentials; "max" and "sum_exp".
    sink : Tensor, optional
        One more score of each head, (1, h, 1, 1), that takes part in the sum only.
    input : Tensor
        Scores, (b, h, s_q, s_kv).

    Returns
    -------
    dict of str to Tensor
        The `outputs`: y like `input`, the others with one number for each row.

    Notes
    -----
    On an H200 cuDNN has engines for it between the two products of attention only.
    """
    return {"outputs": listed("softmax: outputs", outputs)}


@operation(ROPE, computes=False)
def rope(
    input: Tensor, freqs: Tensor, *, output_scale: float = 1.0, rope_dim: int | None = None
) -> None:
    """Rotary position embedding (Su et al.: RoFormer; 2021). cuDNN 9.24.

    ``CUDNN_BACKEND_OPERATION_ROPE_FWD_DESCRIPTOR``.

    Parameters
    ----------
    input : Tensor
        The last dimension is the head size.
    freqs : Tensor
        The angles, which broadcast to the other dimensions; at least `rope_dim` in the last.
    output_scale : float
        What the result is multiplied with.
    rope_dim : int, optional
        How much of each head is rotated, an even number; all by default.

    Returns
    -------
    Tensor
        Like `input`.

    Notes
    -----
    cuDNN takes the operation, but up to 9.28 has no engine for it on an H200.
    """


@operation(ROPE_BACKWARD, computes=False)
def rope_backward(
    dY: Tensor, freqs: Tensor, *, output_scale: float = 1.0, rope_dim: int | None = None
) -> Mapping[str, Any]:
    """The gradient of `rope`, from that of its result. cuDNN 9.24; see there.

    ``CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR``.

    Parameters
    ----------
    dY : Tensor
        The gradient of the result of `rope`. The other parameters are those of `rope`.
    """
    return {"input": dY}


@operation(PAGED_CACHE_LOAD, computes=False)
def paged_cache_load(
    container: Tensor, page_table: Tensor, seq_len: Tensor, max_seq_len: int
) -> None:
    """The keys or values of each sequence, from pages of memory. cuDNN 9.4.

    ``CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR``.

    Parameters
    ----------
    container : Tensor
        (pages, h, page size, d).
    page_table : Tensor
        (b, 1, pages of one sequence, 1), int32.
    seq_len : Tensor
        (b, 1, 1, 1), int32.
    max_seq_len : int
        Tokens of the longest sequence.

    Returns
    -------
    Tensor
        (b, h, max_seq_len, d).

    Notes
    -----
    On an H200 cuDNN has engines for it within attention only; see `sdpa`.
    """


@operation(DIAGONAL_BAND_MASK, computes=False)
def diagonal_band_mask(
    graph: Operations,
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
) -> Mapping[str, Any]:
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
    bounds = {"left_bound": left_bound, "right_shift": right_shift}
    return {
        port: graph.tensor_scalar(value, "int32") if isinstance(value, int) else value
        for port, value in bounds.items()
    }


@operation(EXPAND_BAND_MATRIX, computes=False)
def expand_band_matrix(
    input: Tensor,
    dims: Sequence[int],
    *,
    lower_bandwidth: int,
    upper_bandwidth: int,
    axis: int,
    pad_value: float = 0.0,
) -> Mapping[str, Any]:
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
    return {
        "dims": integers("expand_band_matrix: dims", dims),
        "lower": lower_bandwidth,
        "upper": upper_bandwidth,
        "pad": pad_value,
    }


@operation(CONTRACT_BAND_MATRIX, computes=False)
def contract_band_matrix(
    input: Tensor,
    dims: Sequence[int],
    *,
    lower_bandwidth: int,
    upper_bandwidth: int,
    axis: int,
    pad_value: float = 0.0,
    max_token_value: int | None = None,
) -> Mapping[str, Any]:
    """The diagonals of a matrix: the way back of `expand_band_matrix`, see there. cuDNN 9.10.

    ``CUDNN_BACKEND_OPERATION_CONTRACT_BAND_MATRIX_DESCRIPTOR``.

    Parameters
    ----------
    dims : sequence of int
        As those of `input`, but lower_bandwidth + upper_bandwidth + 1 along `axis`.
    max_token_value : int, optional
        cuDNN's attribute of that name.
    """
    return {
        "dims": integers("contract_band_matrix: dims", dims),
        "lower": lower_bandwidth,
        "upper": upper_bandwidth,
        "pad": pad_value,
        "max_token": max_token_value,
    }
