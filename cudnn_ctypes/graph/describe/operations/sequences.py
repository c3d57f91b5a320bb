"""Operations around attention: softmax, rotary embedding, paged caches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..node import Kind, Node, Result
from ..tensor import Tensor
from .base import Operations, listed

__all__ = [
    "PAGED_CACHE_LOAD",
    "ROPE",
    "ROPE_BACKWARD",
    "SOFTMAX",
    "SequenceOperations",
]


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


SOFTMAX = Kind(
    "operation_softmax",
    {"input": "xdesc", "sink": "sink_desc"},
    {"y": "ydesc", "stats": "stats_desc", "max": "max_desc", "sum_exp": "sum_exp_desc"},
    _infer_softmax,
    optional=frozenset({"sink"}),
)
ROPE = Kind(
    "operation_rope_fwd",
    {"input": "xdesc", "freqs": "freqsdesc"},
    {"y": "ydesc"},
    _infer_rope,
    options={"output_scale": "output_scale", "rope_dim": "rope_dim"},
)
ROPE_BACKWARD = Kind(
    "operation_rope_bwd",
    {"input": "dydesc", "freqs": "freqsdesc"},
    {"y": "dxdesc"},
    _infer_rope,
    options={"output_scale": "output_scale", "rope_dim": "rope_dim"},
)
PAGED_CACHE_LOAD = Kind(
    "operation_paged_cache_load",
    {
        "container": "container_desc",
        "page_table": "page_table_desc",
        "seq_len": "sequence_desc",
    },
    {"y": "ydesc"},
    _infer_paged,
    own_options={"max_seq_len": int},
    required=frozenset({"max_seq_len"}),
)


class SequenceOperations(Operations):
    """Operations around attention."""

    def softmax(
        self,
        input: Tensor,
        *,
        outputs: Sequence[str] = ("y",),
        sink: Tensor | None = None,
        name: str = "",
        compute_data_type: Any = None,
    ) -> dict[str, Tensor]:
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
        wanted = listed("softmax: outputs", outputs)
        return self._add(
            SOFTMAX,
            "softmax",
            {"input": input, "sink": sink},
            outputs=wanted,
            name=name,
            compute_data_type=compute_data_type,
        )

    def rope(
        self,
        input: Tensor,
        freqs: Tensor,
        *,
        output_scale: float = 1.0,
        rope_dim: int | None = None,
        name: str = "",
    ) -> Tensor:
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
        options = {"output_scale": output_scale, "rope_dim": rope_dim}
        return self._add(ROPE, "rope", {"input": input, "freqs": freqs}, options, name=name)["y"]

    def rope_backward(
        self,
        dY: Tensor,
        freqs: Tensor,
        *,
        output_scale: float = 1.0,
        rope_dim: int | None = None,
        name: str = "",
    ) -> Tensor:
        """The gradient of `rope`, from that of its result. cuDNN 9.24; see there.

        ``CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR``.

        Parameters
        ----------
        dY : Tensor
            The gradient of the result of `rope`. The other parameters are those of `rope`.
        """
        options = {"output_scale": output_scale, "rope_dim": rope_dim}
        operands = {"input": dY, "freqs": freqs}
        return self._add(ROPE_BACKWARD, "rope_backward", operands, options, name=name)["y"]

    def paged_cache_load(
        self,
        container: Tensor,
        page_table: Tensor,
        seq_len: Tensor,
        max_seq_len: int,
        *,
        name: str = "",
    ) -> Tensor:
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
        return self._add(
            PAGED_CACHE_LOAD,
            "paged_cache_load",
            {"container": container, "page_table": page_table, "seq_len": seq_len},
            {"max_seq_len": max_seq_len},
            name=name,
        )["y"]
