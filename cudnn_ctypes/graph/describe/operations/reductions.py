"""Matrix products, reductions and statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ....arguments import flag
from ....raw import cudnnGenStatsMode_t, cudnnReduceTensorOp_t
from ..node import Inner, Kind, Node, Result, named
from ..tensor import Tensor
from ..validation import check_number
from .base import axes_argument, operation


def _infer_matmul(node: Node) -> Mapping[str, Result]:
    a, b = node.inputs["A"], node.inputs["B"]
    a_dims, b_dims = node.dims("A"), node.dims("B")
    if len(a_dims) != len(b_dims) or len(a_dims) < 2 or a_dims[-1] != b_dims[-2]:
        node.refuse(
            f"A {a.name!r} {a_dims} and B {b.name!r} {b_dims} must be (…, m, k) and (…, k, n)"
        )
    batch = _batches(a_dims[:-2], b_dims[:-2])
    if batch is None:
        node.refuse(f"the batches of A {a.name!r} {a_dims} and B {b.name!r} {b_dims} do not fit")
    return {"C": Result((*batch, a_dims[-2], b_dims[-1]))}


def multiplications(node: Node) -> int:
    """Multiplications of a matrix product: one for each element of the result and of a row of A."""
    return math.prod(node.outputs["C"].dims or ()) * node.dims("A")[-1]


def _batches(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The dims to which both broadcast. Eight query heads may share two key heads, four each."""
    pairs = list(zip(a, b, strict=True))
    if any(max(pair) % min(pair) for pair in pairs):
        return None
    return tuple(map(max, pairs))


def _infer_reduction(node: Node) -> Mapping[str, Result]:
    x, y = node.inputs["input"], node.outputs["y"]

    def check(dims: tuple[int, ...]) -> None:
        if len(dims) != x.rank or any(old % new for new, old in zip(dims, x.dims, strict=True)):
            node.refuse(
                f"result {y.name!r} {dims} must have 1, or a divisor, where input {x.name!r} "
                f"{x.dims} is reduced, and its size elsewhere"
            )

    dims, axes = y.dims, node.axes(x)
    if axes is not None:
        dims = tuple(1 if axis in axes else size for axis, size in enumerate(x.dims))
    return {"y": Result(dims, x, check=check)}


def _infer_genstats(node: Node) -> Mapping[str, Result]:
    x = node.inputs["input"]
    if x.rank < 3:
        node.refuse(f"input {x.name!r} {x.dims} must be (n, c, *spatial)")
    result = Result((1, x.dims[1], *(1,) * (x.rank - 2)), x, "compute")
    return {"sum": result, "sq_sum": result}


MATMUL = Kind.of(
    "operation_matmul",
    "A=adesc B=bdesc m_override?=gemm_m_override_desc n_override?=gemm_n_override_desc "
    "k_override?=gemm_k_override_desc",
    "C=cdesc",
    _infer_matmul,
    inner=Inner("matmul", "desc", named("padding=padding_value"), "comp_type"),
)
REDUCTION = Kind.of(
    "operation_reduction",
    "input=xdesc group_offset?",
    "y=ydesc",
    _infer_reduction,
    inner=Inner(
        "reduction", "desc", named("mode=operator deterministic=is_deterministic"), "comp_type"
    ),
    own_options={"axes": tuple[int, ...]},
    required="mode",
)
GENSTATS = Kind.of(
    "operation_gen_stats",
    "input=xdesc",
    "sum=sumdesc sq_sum=sqsumdesc",
    _infer_genstats,
    options="mode",
    precision="math_prec",
    required="mode",
)


@operation(MATMUL)
def matmul(
    A: Tensor,
    B: Tensor,
    *,
    transpose_A: bool = False,
    transpose_B: bool = False,
    padding: float = 0.0,
    m_override: Tensor | None = None,
    n_override: Tensor | None = None,
    k_override: Tensor | None = None,
) -> Mapping[str, Any]:
    """The matrix product of the last two dimensions; those before are batches and broadcast.

    ``CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR``.

    Parameters
    ----------
    A, B : Tensor
        (…, m, k) and (…, k, n). The sizes of their batches are equal, or one divides the
        other. Outside of attention, engines know one dimension of batches: none, or several
        without gaps between, are described to cuDNN as one.
    transpose_A, transpose_B : bool
        Exchange the last two dimensions of an operand first.
    padding : float
        Stands for what lies beyond the overrides, where they count.
    m_override, n_override, k_override : Tensor, optional
        Sizes that count instead, int32, one per batch: (b, 1, 1). They spare work within
        attention; engines for a product alone pass over them.

    Returns
    -------
    Tensor
        (…, m, n), packed by rows.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> a, b = graph.tensor((4, 128, 64)), graph.tensor((1, 64, 32))
    >>> c = graph.matmul(a, b).set_output()
    >>> _ = graph.validate()
    >>> c.dims
    (4, 128, 32)
    """
    check_number("matmul: padding", padding)
    chosen = {
        "A": flag("matmul: transpose_A", transpose_A),
        "B": flag("matmul: transpose_B", transpose_B),
    }
    return {
        "padding": padding or None,
        "transposed": frozenset(port for port, yes in chosen.items() if yes),
    }


@operation(REDUCTION)
def reduction(
    input: Tensor,
    mode: cudnnReduceTensorOp_t | str,
    *,
    axes: Sequence[int] | int | None = None,
    deterministic: bool | None = None,
    group_offset: Tensor | None = None,
) -> Mapping[str, Any]:
    """One number for each line of `input` along `axes`: its sum, maximum, norm …

    ``CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR``.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    mode : cudnnReduceTensorOp_t or str
        "add", "min", "max", "amax"; no engine has "mul", and no graph of cuDNN takes "avg",
        "norm1", "norm2", "mul_no_zeros".
    axes : int or sequence of int, optional
        What is reduced. Without it the result needs dims, 1 where it is reduced. Without a
        product or convolution before it, engines take images stored channels last and
        reduce the channels, all other dimensions, or all; and the last of two dimensions.
        `Explanation.advice` says which such images have the same memory as other dims.
    deterministic : bool, optional
        The same bits each time; cuDNN 9.11.
    group_offset : Tensor, optional
        cuDNN's GROUP_OFFSET_DESC, for groups that are reduced one by one; cuDNN 9.24.

    Returns
    -------
    Tensor
        Of the rank of `input`, 1 where it is reduced. By itself a reduction gives float32.

    Raises
    ------
    ValueError
        From ``Graph.validate``, for axes that are not there or dims that do not fit.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 32))
    >>> y = graph.reduction(x, "add", axes=(1,)).set_output()
    >>> _ = graph.validate()
    >>> y.dims
    (8, 1, 32)
    """
    return {"axes": axes_argument("reduction", axes)}


@operation(GENSTATS, returns=("sum", "sq_sum"))
def genstats(input: Tensor) -> Mapping[str, Any]:
    """Sum and sum of squares of each channel; ``CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR``.

    Parameters
    ----------
    input : Tensor
        ``(n, c, *spatial)``.

    Returns
    -------
    sum, sq_sum : Tensor
        (1, c, 1, …), of the compute data type.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 28, 28), layout="nhwc")
    >>> for each in graph.genstats(x):
    ...     _ = each.set_output()
    >>> graph.validate()[0].outputs["sum"].dims
    (1, 64, 1, 1)
    """
    return {"mode": cudnnGenStatsMode_t.CUDNN_GENSTATS_SUM_SQSUM}
