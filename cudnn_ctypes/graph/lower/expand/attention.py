"""Scaled dot-product attention as the pattern that cuDNN recognizes.

cuDNN finds the matrix products and the softmax of the flash attention papers in the graph and
carries them out as one kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ....raw import cudnnDataType_t
from ....raw.faults import Range
from ....raw.strides import packed
from ...describe.node import Node, Subgraph
from ...describe.operations.attention import SDPA_OPERATION, SDPA_OPERATION_BACKWARD
from ...describe.operations.attention_checks import Mask, mask_of, score_dims
from ...describe.tensor import Tensor
from .builder import Builder

# Forms of attention that cuDNN computes right, in place of those that it computes wrong.
#
# The table of faults has a row for each, which tells of it.

ONE_QUERY = Range(91400)
UNBOUNDED = Range(91400, repaired=92700)
UNEVEN = Range(91400)
TAKEN = True  # not where the faults are measured

_INT32 = cudnnDataType_t.CUDNN_DATA_INT32
_NEEDS_LENGTHS = 91500  # up to this version, gradients where s_kv is no multiple of 128
_LONG = 256  # keys


def form_of(g: Builder, node: Node, dims: tuple[int, ...]) -> Mask:
    """The mask of a node whose scores have `dims`, in the form that cuDNN computes right."""
    mask, version = mask_of(node), g.target.version
    old = version <= _NEEDS_LENGTHS and node.operation == "sdpa_backward" and dims[3] % 128
    needs_lengths = bool(old) and mask.seq_len_q is None
    if TAKEN and g.fixed and g.target.capability in ONE_QUERY.capabilities:
        if version in ONE_QUERY and one_query(node):
            return replace(mask, right=dims[3])
        needs_lengths |= version in UNBOUNDED and bool(unbounded(node))
        needs_lengths |= version in UNEVEN and bool(uneven_heads(node))
    if not needs_lengths:
        return mask
    lengths = [
        g.constant((dims[0], 1, 1, 1), [size] * dims[0], _INT32, g.named(name))
        for name, size in (("seq_len_q", dims[2]), ("seq_len_kv", dims[3]))
    ]
    return replace(mask, seq_len_q=lengths[0], seq_len_kv=lengths[1])


def scale_of(node: Node) -> float:
    """The factor of the scores if it is a number, else 1."""
    return float(node.options.get("attn_scale", 1.0))


def one_query(node: Node) -> str:
    """The option that a kernel for one query computes wrong, in words."""
    mask, dims = mask_of(node), score_dims(node)
    if node.operation != "sdpa" or dims is None or dims[2] != 1 or dims[3] <= _LONG:
        return ""
    if mask.left is not None or mask.right is not None:
        return ""
    found = "use_alibi_mask" if mask.alibi else ""
    found = found or ("rng_dump" if "rng_dump" in node.outputs else "")
    found = found or ("sink_token" if "sink_token" in node.inputs else "")
    return f" with {found}, one query and {dims[3]} keys" if found else ""


def uneven_heads(node: Node) -> str:
    """Deterministic gradients of large heads of two sizes, without lengths."""
    size, of_values = node.inputs["q"].dims[3], node.inputs["v"].dims[3]
    dims, mask = score_dims(node), mask_of(node)
    if size <= 128 or size == of_values or dims is None:
        return ""
    if not node.options.get("use_deterministic_algorithm") or mask.seq_len_kv is not None:
        return ""
    return f": heads of {size} and {of_values} elements, {dims[2]} queries and {dims[3]} keys"


def unbounded(node: Node) -> str:
    """Gradients without bounds and lengths, whose last tile holds more than there is."""
    mask, dims = mask_of(node), score_dims(node)
    if dims is None or (mask.left, mask.right, mask.seq_len_kv) != (None, None, None):
        return ""
    if node.operation == "sdpa_fp8_backward":
        return f" with {dims[3]} keys" if dims[3] % 128 else ""
    if node.operation != "sdpa_backward":
        return ""
    if scale_of(node) <= 0:
        return f" with attn_scale {scale_of(node)}"
    if mask.alibi:
        return " with use_alibi_mask"
    # A modifier makes a finite score of the -inf that stands behind the last key.
    if "score_mod" in node.subgraphs and "bias" in node.inputs and dims[3] % 128:
        return f" with score_mod, bias and {dims[3]} keys"
    return (
        f" with {dims[2]} queries and {dims[3]} keys" if dims[3] % 128 == 64 or dims[2] == 1 else ""
    )


# The scores of attention: scaled, biased and masked, with their softmax and dropout.
#
# cuDNN recognizes these operations as parts of attention, which it carries out as one kernel. Which
# of them there may be, and in which order, is cuDNN's; all its versions take this order.

NEVER = -math.inf
_BOOLEAN = cudnnDataType_t.CUDNN_DATA_BOOLEAN
_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


def alibi_slopes(heads: int) -> list[float]:
    """The slope of each head: a geometric series from 2 ** (-8 / heads) on for a power of two.

    For other numbers of heads the series of the power of two below, then every second slope of that
    of the power of two above (Press, Smith, Lewis: Train short, test long; 2022).
    """
    below = 1 << (heads.bit_length() - 1)
    slopes = [2 ** (-8 * (head + 1) / below) for head in range(below)]
    slopes += [2 ** (-4 * (2 * head + 1) / below) for head in range(heads - below)]
    return slopes


def add_scores(
    g: Builder,
    node: Node,
    k: Tensor,
    mask: Mask,
    factors: Sequence[Tensor | float],
    dims: tuple[int, ...],
) -> Tensor:
    """q @ k^T, times all `factors`, modified, biased, masked; `dims` are those of the scores."""
    g.make_turned(k)
    scores = g.matmul(
        node.inputs["q"],
        k,
        transpose_B=True,
        m_override=mask.seq_len_q,
        n_override=mask.seq_len_kv,
        name=g.named("scores"),
    )
    for factor in factors:
        scores = g.mul(scores, factor, name=g.named("scaled"))
    scores = g.modified(scores, node.subgraphs.get("score_mod"))
    scores = add_biases(g, scores, mask, dims)
    if mask.seq_len_q is not None and mask.seq_len_kv is not None:
        inside = g.logical_and(
            _compared(g, "lt", _index(g, scores, 2), mask.seq_len_q),
            _compared(g, "lt", _index(g, scores, 3), mask.seq_len_kv),
            compute_data_type=_BOOLEAN,
        )
        scores = g.binary_select(scores, NEVER, inside, name=g.named("padded"))
    if mask.right is not None:
        row, column = _index(g, scores, 2), _index(g, scores, 3)
        row = _moved(g, row, mask.right, mask, dims, 1)
        allowed = _compared(g, "ge", row, column)
        scores = g.binary_select(scores, NEVER, allowed, name=g.named("right"))
    if mask.left is not None:
        row, column = _index(g, scores, 2), _index(g, scores, 3)
        column = _moved(g, column, mask.left, mask, dims, -1)
        allowed = _compared(g, "gt", column, row)
        scores = g.binary_select(scores, NEVER, allowed, name=g.named("left"))
    return scores


def add_biases(g: Builder, scores: Tensor, mask: Mask, dims: tuple[int, ...]) -> Tensor:
    """The scores and what a mask adds to them."""
    if mask.bias is not None:
        scores = g.add(scores, mask.bias, name=g.named("biased"))
    return _with_alibi(g, scores, dims) if mask.alibi else scores


def _moved(
    g: Builder, index: Tensor, bound: int, mask: Mask, dims: tuple[int, ...], sign: int
) -> Tensor:
    """`index` + `bound`; from the bottom right also + `sign` * (s_kv - s_q)."""

    def moved(by: int) -> Tensor:
        # A left bound without an addition, even of 0, cuDNN takes and computes something else.
        needed = by or sign < 0
        return _whole(g, "add", index, g.tensor_scalar(by, "int32")) if needed else index

    if not mask.bottom_right:
        return moved(bound)
    if mask.seq_len_q is None or mask.seq_len_kv is None:
        return moved(bound + sign * (dims[3] - dims[2]))
    # So it does in another order.
    if sign < 0:
        index = moved(bound)
    modes = ("add", "sub")[::sign]
    index = _whole(g, modes[0], index, mask.seq_len_kv)
    index = _whole(g, modes[1], index, mask.seq_len_q)
    return moved(bound) if sign > 0 else index


def _with_alibi(g: Builder, scores: Tensor, dims: tuple[int, ...]) -> Tensor:
    slopes = g.constant((1, dims[1], 1, 1), alibi_slopes(dims[1]), _FLOAT, g.named("slopes"))
    distance = _whole(g, "sub", _index(g, scores, 3), _index(g, scores, 2))
    return g.add(scores, g.mul(distance, slopes), name=g.named("alibi"))


def add_softmax(g: Builder, node: Node, scores: Tensor) -> Tensor:
    """Softmax of the last dimension; statistics go where the node's outputs say."""
    sink, outputs = node.inputs.get("sink_token"), node.outputs
    biggest = g.reduction(scores, "max", axes=(3,), name=g.named("max"))
    if sink is not None:
        biggest = g.max(biggest, sink, name=g.named("max_with_sink"))
    biggest = g.into(biggest, outputs.get("score_max"))
    powers = g.exp(g.sub(scores, biggest), name=g.named("exp"))
    total = g.reduction(powers, "add", axes=(3,), name=g.named("sum"))
    if sink is not None:
        total = g.add(total, g.exp(g.sub(sink, biggest)), name=g.named("sum_with_sink"))
    total = g.into(total, outputs.get("score_sum_exp"))
    if "score_max" not in outputs:
        stats = g.add(biggest, g.log(total), name=g.named("stats"))
        stats.data_type = _FLOAT
        # cuDNN recognizes the pattern by it, also where nobody reads it.
        g.nodes[-1].may_go_unused = True
        g.into(stats, outputs.get("stats"))
    return g.div(powers, total, name=g.named("softmax"))


def kept_by_dropout(g: Builder, node: Node, dims: tuple[int, ...]) -> tuple[Tensor, Tensor | float]:
    """The dropout mask, in which 1 keeps the element, and the scale of what is kept."""
    mask = node.inputs.get("dropout_mask")
    if mask is not None:
        return mask, node.inputs["dropout_scale"]
    probability = node.options["dropout_probability"]
    seed = node.inputs.get("dropout_seed")
    kept = g.rng(
        dims,
        "bernoulli",
        seed=node.options["dropout_seed"] if seed is None else seed,
        offset=node.inputs.get("dropout_offset"),
        probability=1 - probability,
        name=g.named("dropout"),
    )
    return g.into(kept, node.outputs.get("rng_dump")), 1 / (1 - probability)


def _index(g: Builder, scores: Tensor, axis: int) -> Tensor:
    return g.typed(g.gen_index(scores, axis, compute_data_type=_INT32), _INT32)


def _whole(g: Builder, mode: str, a: Tensor, b: Tensor) -> Tensor:
    return g.typed(g.pointwise(mode, a, b, compute_data_type=_INT32), _INT32)


def _compared(g: Builder, how: str, a: Tensor, b: Tensor) -> Tensor:
    return g.pointwise(f"cmp_{how}", a, b, compute_data_type=_BOOLEAN)


def has_dropout(node: Node) -> bool:
    return "dropout_mask" in node.inputs or "dropout_probability" in node.options


def expand_sdpa(g: Builder, node: Node) -> None:
    """Two products with the softmax between."""
    dims = score_dims(node)
    assert dims is not None
    mask = form_of(g, node, dims)
    q, (k, v) = node.inputs["q"], (unpaged(g, node, port, dims) for port in "kv")
    p = add_softmax(g, node, add_scores(g, node, k, mask, [g.softmax_scale(node)], dims))
    if has_dropout(node):
        kept, scale = kept_by_dropout(g, node, dims)
        by_mask = "dropout_mask" in node.inputs
        for factor in (scale, kept) if by_mask else (kept, scale):
            p = g.mul(p, factor)
    g.follow(p, q)
    o = g.matmul(p, v, m_override=mask.seq_len_q, k_override=mask.seq_len_kv, name=g.named("o"))
    g.into(o, node.outputs["o"])


def unpaged(g: Builder, node: Node, port: str, dims: tuple[int, ...]) -> Tensor:
    """Keys or values of a node whose scores have `dims`, from their pages if they have some."""
    pages, table = node.inputs[port], node.inputs.get(f"paged_attention_{port}_table")
    if table is None:
        return pages  # type: ignore[no-any-return]
    return g.paged_cache_load(pages, table, node.inputs["seq_len_kv"], dims[3])


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
    dv = _of_keys(g, p_dropped, "p", dO, q, mask, g.named("dv"))
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
        g.into(g.reduction(ds, "add", axes=axes or None), d_bias)
    if modifier is not None:
        for inner in modifier.nodes:
            g.take(inner)
        ds = modifier.output
    ds = g.mul(ds, scale, name=g.named("ds_scaled"))
    dq = _of_queries(g, ds, k, mask, g.named("dq_sum"))
    if d_bias is None and "use_deterministic_algorithm" not in node.options:
        dq = g.identity(g.as_scratch(dq, q.dims), name=g.named("dq"))
    g.into(dq, node.outputs["dq"])
    dk = _of_keys(g, ds, "ds", q, q, mask, g.named("dk"))
    dk = _alone(g, dk, q, node.outputs["dk"])
    for gradient, port in ((dk, "dk"), (dv, "dv")):
        if gradient is not node.outputs[port]:
            total = g.reduction(gradient, "add", name=g.named(f"{port}_per_head"))
            g.into(total, node.outputs[port])


def _of_queries(g: Builder, ds: Tensor, k: Tensor, mask: Mask, name: str = "") -> Tensor:
    """The product with the keys that gives dq."""
    rows, columns = mask.seq_len_q, mask.seq_len_kv
    k = g.turned(k, g.named("k"), back=True)
    return g.matmul(ds, k, m_override=rows, k_override=columns, name=name)


def _of_keys(
    g: Builder, a: Tensor, part: str, b: Tensor, like: Tensor, mask: Mask, name: str = ""
) -> Tensor:
    """The product a^T @ b that gives dk or dv."""
    rows, columns = mask.seq_len_q, mask.seq_len_kv
    a = g.follow(g.turned(a, g.named(f"{part}_transposed")), like)
    return g.matmul(a, b, m_override=columns, k_override=rows, name=name)


def _alone(g: Builder, gradient: Tensor, q: Tensor, target: Tensor) -> Tensor:
    """The node's result if each head has keys of its own; else what is to be summed over heads."""
    if q.dims is None or target.dims is None or q.dims[1] == target.dims[1]:
        return g.into(gradient, target)
    return g.follow(gradient, q)


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
    result(_of_keys(g, s, "s", dO, q, mask), "descale_s", "descale_dO", "dV")
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
    result(_of_queries(g, ds, k, mask), "descale_dP", "descale_k", "dQ")
    result(_of_keys(g, ds, "ds", q, dO, mask), "descale_dP", "descale_q", "dK")


def _amax(g: Builder, tensor: Tensor, target: Tensor) -> None:
    g.into(g.reduction(tensor, "amax", axes=(0, 1, 2, 3)), target)


_NAMES = {"paged_attention_k_table": "page_table_k", "paged_attention_v_table": "page_table_v"}


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
    known = SDPA_OPERATION.all_options
    options = {name: value for name, value in node.options.items() if name in known}
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
        options: dict[str, Any] = {"comparison": "cmp_gt", "left_bound": mask.left - moved}
        options |= {**lengths, "name": g.named("left")}
        scores = g.diagonal_band_mask(scores, NEVER, **options)
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
