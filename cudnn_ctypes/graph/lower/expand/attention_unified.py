"""Attention as cuDNN's own operation for it, which holds what modifies and masks its scores."""

from __future__ import annotations

from ....raw import cudnnDataType_t
from ...describe.node import Node, Subgraph
from ...describe.operations.attention_checks import Mask, mask_of, score_dims
from ...describe.operations.attention_unified import SDPA_OPERATION, SDPA_OPERATION_BACKWARD
from ...describe.tensor import Tensor
from .attention_scores import NEVER, add_biases
from .builder import Builder

__all__ = ["expand_sdpa_unified", "expand_sdpa_unified_backward"]

_NAMES = {"paged_attention_k_table": "page_table_k", "paged_attention_v_table": "page_table_v"}
_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


def expand_sdpa_unified(g: Builder, node: Node) -> None:
    """One operation, with a graph of what happens to its scores, and its softmax."""
    dims = score_dims(node)
    assert dims is not None
    outputs = dict(node.outputs)
    found = {"score_mod": _modified(g, node, dims), "softmax": _softmax(g, node, dims, outputs)}
    named = {_NAMES.get(port, port): tensor for port, tensor in node.inputs.items()}
    operands = {port: each for port, each in named.items() if port in SDPA_OPERATION.inputs}
    operands["scale"] = g.softmax_scale(node)
    seed = node.options.get("dropout_seed")
    if seed is not None:
        operands["dropout_seed"] = g.tensor_scalar(seed, "int64", name=g.named("seed"))
    options = {
        option: node.options[option]
        for option in SDPA_OPERATION.all_options
        if option in node.options
    }
    subgraphs = {name: each for name, each in found.items() if each is not None}
    g.append(SDPA_OPERATION, node.operation, operands, options, outputs, subgraphs)


def expand_sdpa_unified_backward(g: Builder, node: Node) -> None:
    """One operation, with the scale as an operand."""
    operands = {**node.inputs, "scale": g.softmax_scale(node)}
    operands.pop("attn_scale", None)
    options = {name: value for name, value in node.options.items() if name != "attn_scale"}
    g.append(SDPA_OPERATION_BACKWARD, node.operation, operands, options, node.outputs)


def _modified(g: Builder, node: Node, dims: tuple[int, ...]) -> Subgraph | None:
    """The subgraph between the scale of the scores and the softmax; None if there is none."""
    start, user, mask = len(g.nodes), node.subgraphs.get("score_mod"), mask_of(node)
    bounded = mask.left is not None or mask.right is not None
    if user is None and mask.bias is None and not mask.alibi and not bounded:
        return None
    if user is not None:
        first, scores = user.input, user.output
        for each in user.nodes:
            g.take(each)
    else:
        first = scores = _virtual(g, dims, "scores")
    scores = add_biases(g, scores, mask, dims)
    scores = _banded(g, node, scores, mask, dims)
    return g.held(start, first, scores)


def _banded(g: Builder, node: Node, scores: Tensor, mask: Mask, dims: tuple[int, ...]) -> Tensor:
    """Within the band around the diagonal; it counts from the end of each sequence if it must."""
    moved, lengths = 0, {}
    if mask.bottom_right:
        names = ("seq_len_q", "seq_len_kv", "cu_seq_len_q", "cu_seq_len_kv")
        lengths = {name: node.inputs[name] for name in names if name in node.inputs}
        moved = 0 if lengths else dims[3] - dims[2]
    if mask.right is not None:
        shift = mask.right + moved
        scores = g.diagonal_band_mask(
            scores, NEVER, right_shift=shift or None, **lengths, name=g.named("right")
        )
    if mask.left is not None:
        scores = g.diagonal_band_mask(
            scores,
            NEVER,
            comparison="cmp_gt",
            left_bound=mask.left - moved,
            **lengths,
            name=g.named("left"),
        )
    return scores


def _softmax(
    g: Builder, node: Node, dims: tuple[int, ...], outputs: dict[str, Tensor]
) -> Subgraph | None:
    """The softmax where it has a sink, or gives its parts; its results leave `outputs`."""
    sink = node.inputs.get("sink_token")
    if sink is None and "score_max" not in outputs:
        return None
    ports = {"stats": "stats", "max": "score_max", "sum_exp": "score_sum_exp"}
    targets = {port: outputs.pop(name) for port, name in ports.items() if name in outputs}
    start, scores = len(g.nodes), _virtual(g, dims, "unnormalized")
    results = g.softmax(scores, outputs=("y", *targets), sink=sink, name=g.named("softmax"))
    for port, target in targets.items():
        g.into(results[port], target)
    return g.held(start, scores, results["y"])


def _virtual(g: Builder, dims: tuple[int, ...], part: str) -> Tensor:
    return g.tensor(dims, data_type=_FLOAT, virtual=True, name=g.named(part))
