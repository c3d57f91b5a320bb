"""Attention on 8-bit floating-point numbers as the patterns that cuDNN recognizes."""

from __future__ import annotations

from ....raw import cudnnDataType_t
from ....raw.strides import packed
from ...describe.node import Node
from ...describe.operations.attention_checks import mask_of, score_dims
from ...describe.tensor import Tensor
from .attention import unpaged
from .attention_backward import one_scale
from .attention_forms import form_of
from .attention_scores import add_scores, add_softmax
from .builder import Builder

__all__ = ["expand_sdpa_fp8", "expand_sdpa_fp8_backward"]

_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


def expand_sdpa_fp8(g: Builder, node: Node) -> None:
    """Expand like `sdpa`, with scales after each product."""
    inputs, outputs, mask = node.inputs, node.outputs, mask_of(node)
    dims = score_dims(node)
    assert dims is not None
    q, (k, v) = inputs["q"], (unpaged(g, node, port, dims) for port in "kv")
    factors = [g.softmax_scale(node), inputs["descale_q"], inputs["descale_k"]]
    p = add_softmax(g, node, add_scores(g, node, k, mask, factors, dims))
    _amax(g, p, outputs["amax_s"])
    s = g.follow(g.mul(p, inputs["scale_s"], name=g.named("s")), q)
    o = g.matmul(
        s, v, m_override=mask.seq_len_q, k_override=mask.seq_len_kv, name=g.named("o_by_scale")
    )
    o = g.mul(g.mul(o, inputs["descale_s"]), inputs["descale_v"], name=g.named("o_exact"))
    _amax(g, o, outputs["amax_o"])
    g.into(g.mul(o, inputs["scale_o"]), outputs["o"])


def expand_sdpa_fp8_backward(g: Builder, node: Node) -> None:
    """Expand like `sdpa_backward`, with scales after each product."""
    inputs, outputs, dims, scale = node.inputs, node.outputs, score_dims(node), one_scale(g, node)
    q, k, v, o, dO = (inputs[port] for port in ("q", "k", "v", "o", "dO"))
    assert dims is not None
    mask = form_of(g, node, dims)

    def result(product: Tensor, first: str, second: str, part: str) -> None:
        exact = g.mul(g.mul(product, inputs[first]), inputs[second], name=g.named(f"{part}_exact"))
        _amax(g, exact, outputs[f"amax_{part}"])
        g.into(g.mul(exact, inputs[f"scale_{part}"]), outputs[part.lower()])

    row = g.reduction(g.mul(dO, o), "add", axes=(3,), name=g.named("row"))
    # cuDNN takes these strides for those of its own memory, which is packed.
    for factor in ("descale_dO", "descale_o"):
        row.strides = packed((*dims[:3], 1))
        row = g.mul(row, inputs[factor])
    row.strides = packed((*dims[:3], 1))
    factors = [scale, inputs["descale_q"], inputs["descale_k"]]
    scores = add_scores(g, node, k, mask, factors, dims)
    p = g.exp(g.sub(scores, inputs["stats"]), name=g.named("p"))
    s = g.follow(g.mul(p, inputs["scale_s"], name=g.named("s")), q)
    dv = g.matmul(
        g.follow(g.turned(s, g.named("s_transposed")), q),
        dO,
        m_override=mask.seq_len_kv,
        k_override=mask.seq_len_q,
    )
    result(dv, "descale_s", "descale_dO", "dV")
    dp = g.matmul(
        dO,
        v,
        transpose_B=True,
        m_override=mask.seq_len_q,
        n_override=mask.seq_len_kv,
        name=g.named("dp"),
    )
    dp = g.mul(g.mul(dp, inputs["descale_dO"]), inputs["descale_v"])
    ds = g.mul(g.mul(g.sub(dp, row), p), scale, name=g.named("ds"))
    _amax(g, ds, outputs["amax_dP"])
    ds = g.follow(g.mul(ds, inputs["scale_dP"], name=g.named("ds_scaled")), dO)
    dq = g.matmul(
        ds,
        g.turned(k, g.named("k"), back=True),
        m_override=mask.seq_len_q,
        k_override=mask.seq_len_kv,
    )
    result(dq, "descale_dP", "descale_k", "dQ")
    dk = g.matmul(
        g.follow(g.turned(ds, g.named("ds_transposed")), dO),
        q,
        m_override=mask.seq_len_kv,
        k_override=mask.seq_len_q,
    )
    result(dk, "descale_dP", "descale_q", "dK")


def _amax(g: Builder, tensor: Tensor, target: Tensor) -> None:
    g.into(g.reduction(tensor, "amax", axes=(0, 1, 2, 3)), target)
