"""Functions of NVIDIA's Python front end 1.32 for PyTorch, with its names, arguments and defaults.

`cudnn_ctypes.frontend` has them where the front end does: ``sdpa_torch``, ``triangle_attention``,
``ops.causal_conv1d``, ``experimental.ops.rms_norm``. They are graphs that cuDNN has engines for,
also where the front end has kernels of its own, with gradients, also where it has none. On the
reference device they take tensors in host memory. `stream` is an address or a stream of PyTorch,
its current one by default; `out` receives the result.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from . import functions as ops
from .functions import attended, attended_packed
from .graphs import OPERATORS

__all__ = [
    "causal_conv1d",
    "causal_conv1d_nwh",
    "layer_norm",
    "mask_to_kv_lengths",
    "moe_grouped_matmul",
    "prefix_mask_to_kv_lengths",
    "rms_norm",
    "sdpa_torch",
    "swiglu_mlp",
    "triangle_attention",
    "triangle_multiplicative_update",
]

_HALVES = (torch.float16, torch.bfloat16)


def _expect(holds: bool, message: str, error: type[Exception] = ValueError) -> None:
    if not holds:
        raise error(message)


def _expect_shape(name: str, tensor: Tensor | None, *shape: int) -> None:
    if tensor is not None and tuple(tensor.shape) != shape:
        raise ValueError(f"{name}: expected {shape}, got {tuple(tensor.shape)}")


def _expect_types(types: tuple[Any, ...], **tensors: Tensor | None) -> None:
    """All tensors have the type of the first, one of `types` if there are any."""
    (like, first), *_ = tensors.items()
    wanted = first.dtype if first is not None else None
    if types and wanted not in types:
        known = " or ".join(str(each).removeprefix("torch.") for each in types)
        raise TypeError(f"{like}: expected {known}, got {wanted}")
    for name, each in tensors.items():
        if each is not None and each.dtype != wanted:
            raise TypeError(f"{name}: expected the type of {like}, {wanted}, got {each.dtype}")


def _on(stream: Any, tensor: Tensor) -> AbstractContextManager[Any]:
    """PyTorch's work in a stream: its address, or a stream of PyTorch; None is the current one."""
    if stream is None or not tensor.is_cuda:
        return nullcontext()
    known = isinstance(stream, torch.cuda.Stream)
    other = stream if known else torch.cuda.ExternalStream(int(stream), tensor.device)
    return torch.cuda.stream(other)  # type: ignore[no-any-return]


def _given(out: Tensor | None, result: Tensor) -> Tensor:
    """The result, in the caller's memory if there is some."""
    if out is None:
        return result
    if out.dtype != result.dtype or out.numel() != result.numel():
        form = f"{tuple(result.shape)} {result.dtype}"
        raise ValueError(f"out: expected {form}, got {tuple(out.shape)} {out.dtype}")
    return out.copy_(result.view(out.shape))


# --- attention -----------------------------------------------------------------------------------


def sdpa_torch(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    causal_bottom_right: bool = False,
    window_left: int = -1,
    window_right: int = -1,
    sinks: Tensor | None = None,
    seq_len_q: Tensor | None = None,
    seq_len_kv: Tensor | None = None,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_kv: Tensor | None = None,
    max_seqlen_q: int = 0,
    max_seqlen_kv: int = 0,
    return_lse: bool = False,
) -> Any:
    """Attention with sinks, bands, padding or sequences behind each other; see ``Graph.sdpa``.

    Parameters
    ----------
    query, key, value : torch.Tensor
        (b, h, s_q, d), (b, h_k, s_kv, d), (b, h_k, s_kv, d_v), or with `cu_seqlens_q` (tokens, h,
        d) and so on; float16 or bfloat16.
    window_left, window_right : int
        The band's bounds, as ``Graph.sdpa`` has them; -1 for none.
    sinks, seq_len_q, seq_len_kv : torch.Tensor, optional
        (h,), (b,) and (b,), as for `cudnn_ctypes.torch_ops.attention`.
    cu_seqlens_q, cu_seqlens_kv, max_seqlen_q, max_seqlen_kv : torch.Tensor and int, optional
        `begins_q` and so on of `cudnn_ctypes.torch_ops.attention_packed`.
    return_lse : bool
        Return the logarithms of the sums of exponentials, too; they have no gradient.

    Returns
    -------
    torch.Tensor or (torch.Tensor, torch.Tensor)
        Like `query`; (b, h, s_q, 1) or (tokens, h, 1), float32.
    """
    _expect_types(_HALVES, query=query, key=key, value=value)
    banded = is_causal or window_left >= 0 or window_right >= 0
    _expect(banded or not causal_bottom_right, "causal_bottom_right: there is no band to align")
    _expect(not is_causal or window_right <= 0, "window_right: is_causal masks what it admits")
    _expect((cu_seqlens_q is None) == (cu_seqlens_kv is None), "cu_seqlens_kv: give both or none")
    _expect((seq_len_q is None) == (seq_len_kv is None), "seq_len_kv: give both or none")
    rank = 4 if cu_seqlens_q is None else 3
    for name, each in (("query", query), ("key", key), ("value", value)):
        if each.ndim != rank:
            raise ValueError(f"{name}: expected {rank} dimensions, got {tuple(each.shape)}")
    right = window_right if window_right >= 0 else 0 if is_causal else None
    mask = (window_left if window_left >= 0 else None, right, causal_bottom_right, False, 0.0)
    sink = None if sinks is None else sinks.float().reshape(1, -1, 1, 1)
    if cu_seqlens_q is None or cu_seqlens_kv is None:
        given = (seq_len_q, seq_len_kv)
        lengths = [None if each is None else each.int().view(-1, 1, 1, 1) for each in given]
        both = attended(query, key, value, None, sink, lengths, [None] * 4, scale, mask)
        return both if return_lse else both[0]
    _expect(seq_len_q is None, "seq_len_q: lengths follow from cu_seqlens_q")
    for name, size in (("max_seqlen_q", max_seqlen_q), ("max_seqlen_kv", max_seqlen_kv)):
        _expect(size > 0, f"{name}: expected the most tokens of a sequence, got {size}")
    begins = (cu_seqlens_q, cu_seqlens_kv)
    operands = (query, key, value, *begins, max_seqlen_q, max_seqlen_kv)
    o, stats = attended_packed(*operands, sink, scale, mask)
    if not return_lse:
        return o
    tokens = torch.arange(len(query), device=query.device)
    sequence = torch.searchsorted(cu_seqlens_q[1:-1].contiguous(), tokens, right=True)
    return o, stats[sequence, :, tokens - cu_seqlens_q[sequence]]


def mask_to_kv_lengths(mask: Tensor) -> Tensor | None:
    """Lengths (b, n, 1, 1, 1) of a mask (b, n, 1, 1, s_kv) whose rows are True, then False.

    None for any other mask. It waits for the device.
    """
    lengths = prefix_mask_to_kv_lengths(mask)
    places = torch.arange(mask.shape[-1], device=mask.device)
    return lengths if bool(((places < lengths) == mask).all()) else None


def prefix_mask_to_kv_lengths(
    mask: Tensor,
    out: Tensor | None = None,
    *,
    workspace: Tensor | None = None,
    check: bool | None = None,
    stream: Any = None,
) -> Tensor:
    """`mask_to_kv_lengths` of a mask that is tested only where `check` says so; see there."""
    fits = mask.ndim == 5 and mask.shape[2:4] == (1, 1) and mask.dtype == torch.bool
    form = f"{tuple(mask.shape)} {mask.dtype}"
    _expect(fits, f"mask: expected (b, n, 1, 1, s_kv), bool, got {form}")
    with _on(stream, mask):
        wrong = check and mask_to_kv_lengths(mask) is None
        _expect(not wrong, "mask: a row is not True, then False")
        return _given(out, mask.sum(-1, keepdim=True, dtype=torch.int32))


def triangle_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    return_aux: bool = False,
    kv_lengths: Tensor | None = None,
    *,
    out: Tensor | None = None,
    stream: Any = None,
    mask_is_prefix: bool = False,
    check_prefix_mask: bool | None = None,
) -> Tensor:
    """Attention over one axis of pairs, with a bias of the pairs (Jumper et al., 2021).

    A graph runs for each of the b entries. A mask that is no prefix makes a bias of each row.

    Parameters
    ----------
    q, k, v : torch.Tensor
        (b, n, h, s, d), float16 or bfloat16; the heads of k and v may be fewer, a divisor of h.
    bias : torch.Tensor
        (b or 1, 1, h or 1, s_q, s_kv), added to the scores of all n rows; rounded to q's type.
    mask, kv_lengths : torch.Tensor, optional
        Which keys count: (b, n, 1, 1, s_kv), bool, or how many, (b, n, 1, 1, 1), int32.
    return_aux : bool
        Refused, as by NVIDIA's.
    mask_is_prefix, check_prefix_mask : bool
        The rows of `mask` are True, then False: lengths take its place; tested if asked for.

    Returns
    -------
    torch.Tensor
        Like q, or `out`; 0 where no key counts.
    """
    _expect(mask is None or kv_lengths is None, "kv_lengths: mask is given, too")
    _expect(mask is not None or not mask_is_prefix, "mask_is_prefix: no mask is given")
    _expect(not return_aux, "return_aux: there is no maximum of scores", NotImplementedError)
    for name, each in (("q", q), ("k", k), ("v", v), ("bias", bias)):
        _expect(each.ndim == 5, f"{name}: expected 5 dimensions, got {tuple(each.shape)}")
    _expect_types(_HALVES, q=q, k=k, v=v)
    (b, n, _, rows, _), columns = q.shape, k.shape[3]
    fits = len(bias) in (1, b) and bias.shape[1] == 1 and bias.shape[3:] == (rows, columns)
    _expect(fits, f"bias: expected ({b}, 1, h, {rows}, {columns}), got {tuple(bias.shape)}")
    _expect_shape("mask", mask, b, n, 1, 1, columns)
    _expect(mask is None or mask.dtype == torch.bool, "mask: expected bool")
    _expect_shape("kv_lengths", kv_lengths, b, n, 1, 1, 1)
    with _on(stream, q):
        if mask is not None and mask_is_prefix:
            kv_lengths, mask = prefix_mask_to_kv_lengths(mask, check=check_prefix_mask), None
        lengths: list[Tensor | None] = [None, None]
        empty, entries = None, []
        for i in range(b):
            added: Tensor = bias[i if len(bias) > 1 else 0].to(q.dtype)
            if kv_lengths is not None:  # rows without keys become 0 below
                empty = kv_lengths == 0
                length = kv_lengths[i].clamp(min=1).int().view(n, 1, 1, 1)
                lengths = [torch.full_like(length, rows), length]
            elif mask is not None:
                empty = ~mask.any(-1, keepdim=True)
                added = torch.where(mask[i], added, torch.finfo(q.dtype).min)
            operands = (q[i], k[i], v[i], added, None, lengths, [None] * 4, scale)
            entries.append(attended(*operands, (None, None, False, False, 0.0))[0])
        o = torch.stack(entries) if b > 1 else entries[0][None]
        return _given(out, o if empty is None else o.masked_fill(empty, 0))


# --- products ------------------------------------------------------------------------------------


def triangle_multiplicative_update(
    x: Tensor,
    direction: str = "outgoing",
    mask: Tensor | None = None,
    norm_in_weight: Tensor | None = None,
    norm_in_bias: Tensor | None = None,
    p_in_weight: Tensor | None = None,
    p_in_bias: Tensor | None = None,
    g_in_weight: Tensor | None = None,
    g_in_bias: Tensor | None = None,
    norm_out_weight: Tensor | None = None,
    norm_out_bias: Tensor | None = None,
    p_out_weight: Tensor | None = None,
    p_out_bias: Tensor | None = None,
    g_out_weight: Tensor | None = None,
    g_out_bias: Tensor | None = None,
    eps: float = 1e-5,
    precision: Any = None,
    *,
    out: Tensor | None = None,
    stream: Any = None,
) -> Tensor:
    """Pairs (i, j) by the sums over k of products of (i, k) and (j, k), or of (k, i) and (k, j).

    With z = norm(x), a and b = sigmoid(z @ g_in^T) * (z @ p_in^T) * mask, and u = norm of the
    sums, it is sigmoid(z @ g_out^T) * (u @ p_out^T) (Jumper et al., 2021). a and b come with the
    channels outermost, so that the sums are one batched product.

    Parameters
    ----------
    x : torch.Tensor
        (b, n, n, c_z) or (n, n, c_z).
    direction : "outgoing" or "incoming"
    mask : torch.Tensor, optional
        (b, n, n) or (n, n); no gradient.
    norm_in_weight, norm_in_bias, norm_out_weight, norm_out_bias : torch.Tensor
        (c_z,), (c_z,), (c,) and (c,).
    p_in_weight, g_in_weight, p_out_weight, g_out_weight : torch.Tensor
        (2 * c, c_z), of a, then of b, twice; (c_z, c) and (c_z, c_z).
    p_in_bias, g_in_bias, p_out_bias, g_out_bias : torch.Tensor, optional
        Of as many elements as the weights have rows.
    precision : "bfloat16", optional
        Round all operands to it. Default: x's type.

    Returns
    -------
    torch.Tensor
        Like x, or `out`.
    """
    known = ("outgoing", "incoming")
    _expect(direction in known, f"direction: expected one of {known}, got {direction!r}")
    rounded = str(precision).lower()
    supported = rounded in ("none", "default", "bfloat16")
    _expect(supported, f"precision: {precision!r} is not supported", NotImplementedError)
    square = x.ndim in (3, 4) and x.shape[-3] == x.shape[-2]
    _expect(square, f"x: expected (b, n, n, c_z) or (n, n, c_z), got {tuple(x.shape)}")
    n, c_z = x.shape[-2:]
    c = 0 if p_in_weight is None else len(p_in_weight) // 2
    parts: dict[str, tuple[Tensor | None, Tensor | None, tuple[int, ...]]] = {
        "norm_in": (norm_in_weight, norm_in_bias, (c_z,)),
        "p_in": (p_in_weight, p_in_bias, (2 * c, c_z)),
        "g_in": (g_in_weight, g_in_bias, (2 * c, c_z)),
        "norm_out": (norm_out_weight, norm_out_bias, (c,)),
        "p_out": (p_out_weight, p_out_bias, (c_z, c)),
        "g_out": (g_out_weight, g_out_bias, (c_z, c_z)),
    }
    dtype = torch.bfloat16 if rounded == "bfloat16" else x.dtype
    kept = None
    if mask is not None:
        _expect(mask.shape == x.shape[:-1], f"mask: expected {tuple(x.shape[:-1])}")
        kept = mask.to(dtype).reshape(1, 1, -1)
    with _on(stream, x):
        w: dict[str, Any] = {}
        for part, (weight, bias, shape) in parts.items():
            for kind, each, form in (("weight", weight, shape), ("bias", bias, shape[:1])):
                name = f"{part}_{kind}"
                needed = kind == "weight" or part.startswith("norm")
                _expect(each is not None or not needed, f"{name}: needed")
                _expect_shape(name, each, *form)
                w[name] = None if each is None else each.to(dtype)[None]
                if kind == "bias" and each is not None:  # along rows of planes, else of pairs
                    w[name] = w[name].view((1, -1, 1) if part.endswith("in") else (1, 1, -1))

        def norm(rows: Tensor, part: str) -> Tensor:
            parameters = (w[f"{part}_weight"].flatten(), w[f"{part}_bias"].flatten())
            return ops.layer_norm(rows, *parameters, eps=eps)[None]

        z = norm(x.reshape(-1, c_z).to(dtype), "norm_in")
        gate = OPERATORS["product"](w["g_in_weight"], z, w["g_in_bias"])
        values = (w["p_in_weight"], z, w["p_in_bias"], gate, kept, "sigmoid")
        a, b = OPERATORS["gated_product"](*values).view(2, -1, n, n)
        sums = OPERATORS["pairs"](a, b, direction == "incoming").view(c, -1)
        u = norm(sums.t().contiguous(), "norm_out")
        gate = OPERATORS["product"](z, w["g_out_weight"], w["g_out_bias"])
        values = (u, w["p_out_weight"], w["p_out_bias"], gate, None, "sigmoid")
        return _given(out, OPERATORS["gated_product"](*values).view(x.shape))


def swiglu_mlp(x: Tensor, Wg: Tensor, Wu: Tensor, Wd: Tensor) -> Tensor:
    """(silu(x @ Wg^T) * (x @ Wu^T)) @ Wd^T, the gate in the kernel of the second product.

    Parameters
    ----------
    x : torch.Tensor
        (…, k).
    Wg, Wu, Wd : torch.Tensor
        (i, k), (i, k) and (k, i), of the type of x.

    Returns
    -------
    torch.Tensor
        Like x.
    """
    _expect_types((), x=x, Wg=Wg, Wu=Wu, Wd=Wd)
    i, k = len(Wg), x.shape[-1]
    for name, each, shape in (("Wg", Wg, (i, k)), ("Wu", Wu, (i, k)), ("Wd", Wd, (k, i))):
        _expect_shape(name, each, *shape)
    rows = x.reshape(1, -1, k)
    gate = OPERATORS["product"](rows, Wg[None], None)
    h = OPERATORS["gated_product"](rows, Wu[None], None, gate, None, "silu")
    y: Tensor = OPERATORS["product"](h, Wd[None], None)
    return y.view(x.shape)


def moe_grouped_matmul(
    token: Tensor,
    weight: Tensor,
    first_token_offset: Tensor,
    token_index: Tensor | None = None,
    token_ks: Tensor | None = None,
    mode: str = "none",
    top_k: int = 1,
) -> Tensor:
    """Each group of tokens times the weight of its expert; modes that move rows are refused.

    Parameters
    ----------
    token, weight : torch.Tensor
        (1, rows, k) and (experts, k, n), float16 or bfloat16.
    first_token_offset : torch.Tensor
        (experts, 1, 1) or (experts + 1, 1, 1), int32: where each begins, and where the last ends.

    Returns
    -------
    torch.Tensor
        (1, rows, n).
    """
    _expect_types(_HALVES, token=token, weight=weight)
    _expect(mode == "none", f"mode: {mode!r} is a graph's to compute", NotImplementedError)
    experts, begins = len(weight), first_token_offset.view(-1, 1, 1)
    fits = len(begins) - experts in (0, 1)
    _expect(
        fits, f"first_token_offset: expected {experts} begins, perhaps an end, got {len(begins)}"
    )
    operands = (token, weight.transpose(1, 2).contiguous(), begins[:experts])
    return OPERATORS["grouped_linear"](*operands)


# --- norms ---------------------------------------------------------------------------------------


def rms_norm(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """input / sqrt(mean(input**2) + eps) * weight + bias of the last dimension, in one kernel."""
    _expect_types((), input=input, weight=weight, bias=bias)
    size = input.shape[-1]
    _expect_shape("weight", weight, size)
    _expect_shape("bias", bias, size)
    if bias is None:
        return ops.rms_norm(input, weight, eps=eps)
    operands = (input.reshape(-1, size), weight[None], bias[None], eps)
    return OPERATORS["rms_norm_bias"](*operands)[0].view(input.shape)


def layer_norm(
    input: Tensor,
    normalized_shape: tuple[int, ...],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(input - mean) / sqrt(variance + eps) * weight + bias, over the last dimensions."""
    shape = tuple(normalized_shape)
    same = shape == tuple(input.shape[max(input.ndim - len(shape), 0) :])
    _expect(same, f"normalized_shape: {shape} is no end of {tuple(input.shape)}")
    _expect_shape("weight", weight, *shape)
    _expect_shape("bias", bias, *shape)
    return ops.layer_norm(input, input.new_ones(shape) if weight is None else weight, bias, eps=eps)


# --- causal convolutions -------------------------------------------------------------------------


def causal_conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    activation: str | None = None,
    *,
    seq_idx: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    initial_states: Tensor | None = None,
    return_final_states: bool = False,
    final_states_out: Tensor | None = None,
) -> Any:
    """A causal convolution of each channel, also of sequences in pieces.

    Parameters
    ----------
    x, weight, bias : torch.Tensor
        (batch, dim, time), with time or channels innermost; (dim, K) and (dim,).
    activation : "identity", "silu" or "swish", optional
    seq_idx, cu_seqlens : None
        Refused: kernels of NVIDIA's front end.
    initial_states : torch.Tensor, optional
        (batch, dim, K - 1): the past of each sequence. Default: zeros.
    return_final_states : bool
        Return its last K - 1 steps, too.
    final_states_out : torch.Tensor, optional
        Receives them.

    Returns
    -------
    torch.Tensor or (torch.Tensor, torch.Tensor)
        Like x; (batch, dim, K - 1).
    """
    for name, each in (("seq_idx", seq_idx), ("cu_seqlens", cu_seqlens)):
        _expect(each is None, f"{name}: cuDNN has no kernel for it", NotImplementedError)
    _expect(final_states_out is None or return_final_states, "final_states_out: not asked for")
    known = {None: None, "identity": None, "silu": "silu", "swish": "silu"}
    _expect(activation in known, f"activation: expected one of {[*known]}, got {activation!r}")
    _expect(x.ndim == 3, f"x: expected (batch, dim, time), got {tuple(x.shape)}")
    (batch, channels, steps), past = x.shape, weight.shape[-1] - 1
    _expect_shape("weight", weight, channels, past + 1)
    _expect_shape("bias", bias, channels)
    _expect_shape("initial_states", initial_states, batch, channels, past)
    _expect_shape("final_states_out", final_states_out, batch, channels, past)
    whole = x
    if initial_states is not None or return_final_states:
        before = x.new_zeros(batch, channels, past) if initial_states is None else initial_states
        whole = torch.cat((before, x), 2).contiguous()
    by_channel = whole.stride(1) == 1 < whole.stride(2)  # weights lie as x does
    w = weight.t().contiguous().t() if by_channel else weight.contiguous()
    y = ops.causal_conv1d(whole, w, bias, known[activation])
    if whole is not x:
        y = torch.empty_like(x).copy_(y[..., past:])
    return (y, _given(final_states_out, whole[..., steps:].clone())) if return_final_states else y


def causal_conv1d_nwh(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "identity"
) -> Tensor:
    """`causal_conv1d` of x (batch, time, dim) and a weight (K, dim)."""
    y: Tensor = causal_conv1d(x.transpose(1, 2), weight.t(), bias, activation)
    return y.transpose(1, 2)
