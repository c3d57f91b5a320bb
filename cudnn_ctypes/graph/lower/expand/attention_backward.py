"""The gradients of scaled dot-product attention as the pattern that cuDNN recognizes."""

from __future__ import annotations

from ...describe.node import Node
from ...describe.operations.attention_checks import score_dims
from ...describe.tensor import Tensor
from .attention import has_dropout
from .attention_forms import form_of
from .attention_scores import add_scores, kept_by_dropout
from .builder import Builder

__all__ = ["expand_sdpa_backward", "one_scale"]


def one_scale(g: Builder, node: Node) -> Tensor:
    """The scale of the scores as one tensor for all its uses."""
    scale = g.softmax_scale(node)
    return scale if isinstance(scale, Tensor) else g.tensor_scalar(scale, name=g.named("scale"))


def expand_sdpa_backward(g: Builder, node: Node) -> None:
    """Five products, of which the first computes the scores again."""
    q, k, v, o, dO, stats = (node.inputs[port] for port in ("q", "k", "v", "o", "dO", "stats"))
    dims = score_dims(node)
    assert dims is not None
    mask = form_of(g, node, dims)
    rows, columns = mask.seq_len_q, mask.seq_len_kv
    kept: Tensor | None = None
    drop_scale: Tensor | float = 1.0
    keep, by_mask = 1.0, "dropout_mask" in node.inputs
    if has_dropout(node):
        kept, drop_scale = kept_by_dropout(g, node, dims)
        # By a seed, cuDNN wants the sums of dO * o and then ds scaled. By a mask its kernels
        # forget the first; to scale dp is the same.
        keep = 1.0 if by_mask else 1 - node.options["dropout_probability"]

    row = g.reduction(g.mul(dO, o), "add", axes=(3,), name=g.named("row"))
    sink = node.inputs.get("sink_token")
    if sink is not None:
        # cuDNN's kernel negates the sum itself.
        share = g.mul(g.exp(g.sub(sink, stats)), row)
        g.into(g.reduction(share, "add", axes=(0, 2)), node.outputs["dSink_token"])
    # cuDNN wants this product even with 1.
    row = g.as_scratch(g.mul(row, keep, name=g.named("rows")), (*dims[:3], 1))
    scale = one_scale(g, node)
    scores = add_scores(g, node, k, mask, [scale], dims)
    p = g.exp(g.sub(scores, stats), name=g.named("p"))
    p_dropped = p
    if kept is not None:
        p_dropped = g.mul(g.mul(p, kept), drop_scale, name=g.named("p_dropped"))
    dv = g.matmul(
        g.follow(g.turned(p_dropped, g.named("p_transposed")), q),
        dO,
        m_override=columns,
        k_override=rows,
        name=g.named("dv"),
    )
    dv = _alone(g, dv, q, node.outputs["dv"])
    dp = g.matmul(dO, v, transpose_B=True, m_override=rows, n_override=columns, name=g.named("dp"))
    if kept is not None:
        dp = g.mul(dp, kept, name=g.named("dp_dropped"))
    if kept is not None and by_mask:
        dp = g.mul(dp, drop_scale)
    ds = g.mul(g.sub(dp, row), p, name=g.named("ds"))
    if kept is not None and not by_mask:
        ds = g.mul(ds, drop_scale, name=g.named("ds_dropped"))
    modifier = node.subgraphs.get("score_mod_bprop")
    if modifier is not None:
        g.into(ds, modifier.input)
        ds = modifier.input
    d_bias = node.outputs.get("dBias")
    if d_bias is not None:
        shape = d_bias.dims or dims
        axes = tuple(i for i, size in enumerate(shape) if size == 1 and dims[i] != 1)
        g.into(g.reduction(ds, "add", axes=axes), d_bias)
    if modifier is not None:
        for inner in modifier.nodes:
            g.take(inner)
        ds = modifier.output
    ds = g.mul(ds, scale, name=g.named("ds_scaled"))
    dq = g.matmul(
        ds,
        g.turned(k, g.named("k"), back=True),
        m_override=rows,
        k_override=columns,
        name=g.named("dq_sum"),
    )
    if d_bias is None and "use_deterministic_algorithm" not in node.options:
        dq = g.identity(g.as_scratch(dq, q.dims), name=g.named("dq"))
    g.into(dq, node.outputs["dq"])
    dk = g.matmul(
        g.follow(g.turned(ds, g.named("ds_transposed")), q),
        q,
        m_override=columns,
        k_override=rows,
        name=g.named("dk"),
    )
    dk = _alone(g, dk, q, node.outputs["dk"])
    for gradient, port in ((dk, "dk"), (dv, "dv")):
        if gradient is not node.outputs[port]:
            total = g.reduction(gradient, "add", name=g.named(f"{port}_per_head"))
            g.into(total, node.outputs[port])


def _alone(g: Builder, gradient: Tensor, q: Tensor, target: Tensor) -> Tensor:
    """The node's result if each head has keys of its own; else what is to be summed over heads."""
    if q.dims is None or target.dims is None or q.dims[1] == target.dims[1]:
        return g.into(gradient, target)
    return g.follow(gradient, q)
