"""cuDNN's own operations of attention, which `sdpa_unified` and its gradients become."""

from __future__ import annotations

from collections.abc import Mapping

from ..node import Kind, Node, Result

__all__ = ["SDPA_OPERATION", "SDPA_OPERATION_BACKWARD"]


def _infer_forward(node: Node) -> Mapping[str, Result]:
    q, v = node.inputs["q"], node.inputs["v"]
    return {
        "o": Result((*q.dims[:3], v.dims[3]), q, q.data_type),
        "stats": Result((*q.dims[:3], 1), None, "compute"),
    }


def _infer_backward(node: Node) -> Mapping[str, Result]:
    gradients = {name: node.inputs[name] for name in ("q", "k", "v")}
    return {f"d{name}": Result(like.dims, like, like.data_type) for name, like in gradients.items()}


_LENGTHS = {
    "seq_len_q": "seq_len_qdesc",
    "seq_len_kv": "seq_len_kvdesc",
    "cu_seq_len_q": "cu_seq_len_qdesc",
    "cu_seq_len_kv": "cu_seq_len_kvdesc",
}
_FORWARD_OPTIONAL = {
    "scale": "scaledesc",
    "block_mask": "block_mask_desc",
    "page_table_k": "page_table_kdesc",
    "page_table_v": "page_table_vdesc",
    "dropout_seed": "dropout_seed_desc",
    "dropout_offset": "dropout_offset_desc",
    **_LENGTHS,
}
_BACKWARD_OPTIONAL = {"scale": "scaledesc", **_LENGTHS}

SDPA_OPERATION = Kind(
    "operation_sdpa_fwd",
    {"q": "qdesc", "k": "kdesc", "v": "vdesc", **_FORWARD_OPTIONAL},
    {"o": "odesc", "stats": "statsdesc", "rng_dump": "dropout_rng_dump_desc"},
    _infer_forward,
    optional=frozenset(_FORWARD_OPTIONAL),
    options={"unfuse_fma": "unfuse_fma", "dropout_probability": "dropout_probability"},
    subgraphs=frozenset({"score_mod", "softmax"}),
    held_graphs={"score_mod": "subgraph"},
    held_operations={"softmax": "softmax_desc"},
)
SDPA_OPERATION_BACKWARD = Kind(
    "operation_sdpa_bwd",
    {
        "q": "qdesc",
        "k": "kdesc",
        "v": "vdesc",
        "o": "odesc",
        "dO": "doddesc",
        "stats": "statsdesc",
        **_BACKWARD_OPTIONAL,
    },
    {"dq": "dqdesc", "dk": "dkdesc", "dv": "dvdesc"},
    _infer_backward,
    optional=frozenset(_BACKWARD_OPTIONAL),
    options={
        "max_total_seq_len_q": "max_total_seq_len_q",
        "max_total_seq_len_kv": "max_total_seq_len_kv",
    },
)
