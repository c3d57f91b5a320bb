"""Ready operators, called as PyTorch's functions are; all are differentiable.

Under autocast, products, convolutions and attention compute in its type; norms in that of x.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from .graphs import ACTIVATIONS, OPERATORS


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    bias: Tensor | None = None,
    sink: Tensor | None = None,
    seq_len_q: Tensor | None = None,
    seq_len_kv: Tensor | None = None,
    window: tuple[int | None, int | None] = (None, None),
    bottom_right: bool = False,
    alibi: bool = False,
    softcap: float = 0.0,
) -> Tensor:
    """softmax(scale * q @ k^T + bias) @ v, by flash attention; see ``Graph.sdpa``.

    Parameters
    ----------
    q, k, v : torch.Tensor
        (b, h, s_q, d), (b, h_k, s_kv, d) and (b, h_k, s_kv, d_v), float16 or bfloat16, d a multiple
        of 8; h_k divides h.
    causal : bool
        No key after the query.
    scale : float, optional
        Default: 1 / sqrt(d).
    bias : torch.Tensor, optional
        (b or 1, h or 1, s_q or 1, s_kv), added to the scores.
    sink : torch.Tensor, optional
        (h,): one more score of each head, without a value.
    seq_len_q, seq_len_kv : torch.Tensor, optional
        (b,), int32: what lies beyond is padding.
    window : (int or None, int or None)
        How many keys before a query count, its own included, and how many after it.
    bottom_right : bool
        Count the mask and the window from the last query and key.
    alibi : bool
        Add the distance to the key times the slope of the head.
    softcap : float
        Scores s become softcap * tanh(s / softcap); 0 leaves them.

    Returns
    -------
    torch.Tensor
        (b, h, s_q, d_v), like q.

    Raises
    ------
    ValueError, TypeError
        If operands do not fit together.
    NotSupportedError
        If no engine computes it.
    """
    q, k, v, bias = _autocast(q, k, v, bias)
    if (seq_len_q is None) != (seq_len_kv is None):
        raise ValueError("attention: seq_len_q and seq_len_kv go together")
    left, right = window
    if causal:
        right = 0
    sink = None if sink is None else sink.float().reshape(1, -1, 1, 1)
    lengths = [None if n is None else n.reshape(-1, 1, 1, 1) for n in (seq_len_q, seq_len_kv)]
    mask = (left, right, bottom_right, alibi, softcap)
    return attended(q, k, v, bias, sink, lengths, [None] * 4, scale, mask)[0]


def attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    sink: Tensor | None,
    lengths: Sequence[Tensor | None],
    begins: Sequence[Tensor | None],
    scale: float | None,
    mask: tuple[Any, ...],
) -> tuple[Tensor, Tensor]:
    """Attention and its statistics, (b, h, s_q, 1), float32; operands are as the graph has them."""
    variant = "attention"
    for name, each in (("bias", bias), ("sink", sink)):
        if each is not None and each.requires_grad:
            variant += f"_{name}"
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    o, stats = OPERATORS[variant](q, k, v, bias, sink, *lengths, *begins, factor, *mask)
    return o, stats


def attention_packed(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    begins_q: Tensor,
    begins_kv: Tensor,
    longest_q: int,
    longest_kv: int,
    *,
    causal: bool = False,
    scale: float | None = None,
    window: tuple[int | None, int | None] = (None, None),
    bottom_right: bool = False,
    softcap: float = 0.0,
) -> Tensor:
    """Attention of sequences of different lengths whose tokens lie behind each other.

    There is a plan for each number of sequences and their longest, whatever the number of tokens.
    Memory is copied unless q, k and v have room for all sequences to be the longest.

    Parameters
    ----------
    q, k, v : torch.Tensor
        (tokens, h, d), (tokens, h_k, d) and (tokens, h_k, d_v).
    begins_q, begins_kv : torch.Tensor
        (sequences + 1,), int32: where each begins, and where the last ends.
    longest_q, longest_kv : int
        The most tokens that a sequence has.
    causal, scale, window, bottom_right, softcap
        As for `attention`.

    Returns
    -------
    torch.Tensor
        (tokens, h, d_v), like q.
    """
    left, right = window
    mask = (left, 0 if causal else right, bottom_right, False, softcap)
    q, k, v = _autocast(q, k, v)
    begins, sizes = (begins_q, begins_kv), (longest_q, longest_kv)
    return attended_packed(q, k, v, *begins, *sizes, None, scale, mask)[0]


def attended_packed(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    begins_q: Tensor,
    begins_kv: Tensor,
    longest_q: int,
    longest_kv: int,
    sink: Tensor | None,
    scale: float | None,
    mask: tuple[Any, ...],
) -> tuple[Tensor, Tensor]:
    """Attention of tokens behind each other, and statistics (sequences, h, longest_q, 1)."""
    count = len(begins_q) - 1
    rooms = [_with_room(each, count, longest_q if each is q else longest_kv) for each in (q, k, v)]
    lengths = [each.diff().view(-1, 1, 1, 1) for each in (begins_q, begins_kv)]
    sizes = [each.shape[1] * each.shape[2] for each in (q, k, v)]
    sizes.append(q.shape[1] * v.shape[2])
    begins = [
        (each * size).view(-1, 1, 1, 1)
        for each, size in zip((begins_q, begins_kv, begins_kv, begins_q), sizes, strict=True)
    ]
    wide_q, wide_k, wide_v = rooms
    o, stats = attended(wide_q, wide_k, wide_v, None, sink, lengths, begins, scale, mask)
    return o.transpose(1, 2).reshape(-1, q.shape[1], v.shape[2])[: q.shape[0]], stats


def _with_room(x: Tensor, count: int, longest: int) -> Tensor:
    """(tokens, h, d) as (sequences, h, longest, d), of which the first tokens are the given."""
    missing = count * longest - x.shape[0]
    if missing < 0:
        raise ValueError(f"attention_packed: {x.shape[0]} tokens, and {count} times {longest} room")
    rows = functional.pad(x, (0, 0, 0, 0, 0, missing)) if missing else x.contiguous()
    return rows.view(count, longest, *x.shape[1:]).transpose(1, 2)


def layer_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *, eps: float = 1e-5
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) * weight + bias, over the dimensions of `weight`.

    Parameters
    ----------
    x : torch.Tensor
        (…, d), or with the dimensions of `weight` last.
    weight, bias : torch.Tensor, optional
        Default: 1 and 0, and the last dimension is normalized. They are rounded to x's type, for
        which cuDNN has faster engines.
    eps : float
        Added to the variance.

    Returns
    -------
    torch.Tensor
        Like x.
    """
    return _norm("layer_norm", "normalize", x, weight, bias, eps)


def rms_norm(x: Tensor, weight: Tensor | None = None, *, eps: float | None = None) -> Tensor:
    """x / sqrt(mean(x**2) + eps) * weight, over the dimensions of `weight`.

    Parameters
    ----------
    x, weight : torch.Tensor
        As for `layer_norm`.
    eps : float, optional
        Default: the distance from 1 to the next number of x's type.

    Returns
    -------
    torch.Tensor
        Like x.
    """
    epsilon = torch.finfo(x.dtype).eps if eps is None else eps
    return _norm("rms_norm", "rms_normalize", x, weight, None, epsilon)


def _norm(
    name: str, bare: str, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    given = weight if weight is not None else bias
    shape = x.shape[-1:] if given is None else given.shape
    if x.shape[x.ndim - len(shape) :] != shape:
        raise ValueError(f"{name}: weight {tuple(shape)} is no end of x {tuple(x.shape)}")
    rows = x.reshape(-1, shape.numel())
    if given is None:
        y = OPERATORS[bare](rows, eps)[0]
        return y.view(x.shape)
    scale = torch.ones_like(given) if weight is None else weight
    parameters = [scale]
    if name == "layer_norm":
        parameters.append(torch.zeros_like(scale) if bias is None else bias)
    wide = [each.to(x.dtype).reshape(1, -1) for each in parameters]
    return OPERATORS[name](rows, *wide, eps)[0].view(x.shape)


def group_norm(
    x: Tensor,
    groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    eps: float = 1e-5,
) -> Tensor:
    """Layer normalization of each of `groups` groups of channels; weights are PyTorch's to apply.

    Parameters
    ----------
    x : torch.Tensor
        (n, c, *spatial), packed as in C or copied to be.
    groups : int
        A divisor of c.
    weight, bias : torch.Tensor, optional
        (c,).
    eps : float
        Added to the variance.

    Returns
    -------
    torch.Tensor
        Like x, packed as in C.
    """
    if groups < 1 or x.shape[1] % groups:
        raise ValueError(f"group_norm: groups {groups} does not divide the channels {x.shape[1]}")
    y = OPERATORS["normalize"](x.reshape(x.shape[0] * groups, -1), eps)[0].view(x.shape)
    channels = (1, -1, *(1,) * (x.ndim - 2))
    if weight is not None:
        y = y * weight.to(x.dtype).view(channels)
    return y if bias is None else y + bias.to(x.dtype).view(channels)


def batch_norm(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor,
    bias: Tensor,
    *,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    relu: bool = False,
) -> Tensor:
    """Normalization of each channel, by the batch in training, else by running statistics.

    Parameters
    ----------
    x : torch.Tensor
        (n, c), or (n, c, *spatial); channels last and 16-bit for cuDNN's engines in training.
    running_mean, running_var : torch.Tensor, optional
        (c,), float32; updated in place in training, and needed otherwise.
    weight, bias : torch.Tensor
        (c,).
    training : bool
        Whether the batch's own statistics are taken.
    momentum : float
        The share of the batch in the running statistics.
    eps : float
        Added to the variance.
    relu : bool
        Whether max(…, 0) follows, in the same graph in training.

    Returns
    -------
    torch.Tensor
        Like x.
    """
    if not training:
        if running_mean is None or running_var is None:
            raise ValueError("batch_norm: running statistics are needed where training=False")
        y = functional.batch_norm(x, running_mean, running_var, weight, bias, eps=eps)
        return y.relu() if relu else y
    images = x[..., None, None] if x.ndim == 2 else x[..., None] if x.ndim == 3 else x
    channels = (1, -1, *(1,) * (images.ndim - 2))
    given = (running_mean, running_var)
    known = [torch.zeros_like(bias) if each is None else each for each in given]
    numbers = [each.float().view(channels) for each in (weight, bias, *known)]
    name = "batch_norm" + "_relu" * relu
    y, _, _, *following = OPERATORS[name](images, *numbers, eps, momentum)
    with torch.no_grad():
        for old, new in zip(given, following, strict=True):
            if old is not None:
                old.copy_(new.view(-1))
    return y.view(x.shape)


def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "relu"
) -> Tensor:
    """activation(x @ weight^T + bias) in one kernel; the gradient computes the product again.

    Parameters
    ----------
    x : torch.Tensor
        (…, k).
    weight, bias : torch.Tensor
        (n, k) and (n,).
    activation : str
        "relu", "gelu", "gelu_tanh", "silu", "sigmoid" or "tanh".

    Returns
    -------
    torch.Tensor
        (…, n).
    """
    if activation not in ACTIVATIONS:
        known = ", ".join(map(repr, ACTIVATIONS))
        raise ValueError(f"linear: activation: expected one of {known}, got {activation!r}")
    x, weight, bias = _autocast(x, weight, bias)
    b = None if bias is None else bias.view(1, -1, 1, 1)
    y: Tensor = OPERATORS["linear"](x.reshape(1, -1, x.shape[-1]), weight[None], b, activation)
    return y.view(*x.shape[:-1], weight.shape[0])


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) * up, element by element.

    Parameters
    ----------
    gate, up : torch.Tensor
        Of one shape; halves of one product, say.

    Returns
    -------
    torch.Tensor
        Like `gate`.
    """
    if gate.shape != up.shape:
        raise ValueError(f"swiglu: gate {tuple(gate.shape)} and up {tuple(up.shape)} differ")
    rows = (each.reshape(1, -1, gate.shape[-1]) for each in (gate, up))
    return OPERATORS["swiglu"](*rows).view(gate.shape)


def mixture_of_experts(
    x: Tensor, logits: Tensor, gate_and_up: Tensor, down: Tensor, top_k: int = 2
) -> Tensor:
    """The sum of each token's `top_k` experts, down(silu(gate) * up), by their softmax. cuDNN 9.15.

    Gradients of weights read where experts begin on the host: they are for no CUDA graph.

    Parameters
    ----------
    x : torch.Tensor
        (tokens, d), float16 or bfloat16.
    logits : torch.Tensor
        (tokens, experts), of the router; the chosen experts' shares add up to 1.
    gate_and_up, down : torch.Tensor
        (experts, 2 * f, d) and (experts, d, f).
    top_k : int
        Experts of each token.

    Returns
    -------
    torch.Tensor
        Like x.
    """
    x, gate_and_up, down = _autocast(x, gate_and_up, down)
    experts = logits.shape[-1]
    if not 0 < top_k <= experts:
        raise ValueError(f"mixture_of_experts: top_k {top_k} of {experts} experts")
    shares, chosen = logits.float().softmax(-1).topk(top_k)
    shares = shares / shares.sum(-1, keepdim=True)
    order = chosen.flatten().argsort(stable=True)
    counts = (chosen.flatten()[:, None] == torch.arange(experts, device=x.device)).sum(0)
    begins = (counts.cumsum(0) - counts).int().view(-1, 1, 1)
    token = order // top_k
    z = OPERATORS["grouped_linear"](x[token][None], gate_and_up, begins)
    y = OPERATORS["grouped_linear"](swiglu(*z.chunk(2, -1)), down, begins)[0]
    return torch.zeros_like(x).index_add(0, token, (y * shares.flatten()[order, None]).to(x.dtype))


def convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    scale: Tensor | None = None,
    residual: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    relu: bool = False,
) -> Tensor:
    """relu(convolution * scale + bias + residual) in one kernel.

    Parameters
    ----------
    x : torch.Tensor
        (n, c, *spatial), two or three spatial dimensions; fastest with channels last.
    weight : torch.Tensor
        (k, c / groups, *window).
    bias, scale : torch.Tensor, optional
        (k,).
    residual : torch.Tensor, optional
        Like the result.
    stride, padding, dilation : int or sequence of int
        As for ``torch.nn.functional.conv2d``.
    relu : bool
        Whether max(…, 0) is taken at the end.

    Returns
    -------
    torch.Tensor
        (n, k, *spatial), in the layout of x.
    """
    x, weight, bias, scale, residual = _autocast(x, weight, bias, scale, residual)
    spatial = x.ndim - 2
    if spatial not in (2, 3):
        raise ValueError(f"convolution: x {tuple(x.shape)} has not two or three spatial dimensions")
    window: list[int] = []
    for each in (stride, padding, dilation):
        window += [each] * spatial if isinstance(each, int) else each
    channels = (1, -1, *(1,) * spatial)
    numbers = [None if each is None else each.view(channels) for each in (scale, bias)]
    name = "convolution" + "_scaled" * (scale is not None) + "_relu" * relu
    y: Tensor = OPERATORS[name](x, weight, *numbers, residual, window)
    return y


def conv_batch_norm(
    x: Tensor,
    weight: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    *,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    residual: Tensor | None = None,
    relu: bool = True,
    **window: Any,
) -> Tensor:
    """A convolution, batch normalization and ReLU: one kernel with fixed statistics, else two.

    Parameters
    ----------
    x, weight, bias : torch.Tensor
        As for `convolution`.
    norm_weight, norm_bias, running_mean, running_var, training, momentum, eps
        As for `batch_norm`.
    residual : torch.Tensor, optional
        Like the result; added before ReLU.
    relu : bool
        Whether max(…, 0) is taken at the end.
    **window
        Stride, padding and dilation, as for `convolution`.

    Returns
    -------
    torch.Tensor
        (n, k, *spatial).
    """
    if training:
        y = convolution(x, weight, bias, **window)
        following = (y, running_mean, running_var, norm_weight, norm_bias)
        options = {"training": True, "momentum": momentum, "eps": eps}
        if residual is None:
            return batch_norm(*following, relu=relu, **options)  # type: ignore[arg-type]
        y = batch_norm(*following, **options) + residual  # type: ignore[arg-type]
        return y.relu() if relu else y
    scale = norm_weight * torch.rsqrt(running_var + eps)
    before = running_mean if bias is None else running_mean - bias
    shift = norm_bias - before * scale
    parameters = [each.to(weight.dtype) for each in (shift, scale)]
    window |= {"scale": parameters[1], "residual": residual, "relu": relu}
    return convolution(x, weight, parameters[0], **window)


def rope(x: Tensor, cos: Tensor, sin: Tensor, *, interleaved: bool = False) -> Tensor:
    """Rotary position embedding: pairs of the last dimension, rotated by the angles of positions.

    Parameters
    ----------
    x : torch.Tensor
        (b, h, s, d).
    cos, sin : torch.Tensor
        (s, d / 2), or what broadcasts with (b, h, s, d / 2); no gradients.
    interleaved : bool
        Whether neighbours are pairs, and not the halves.

    Returns
    -------
    torch.Tensor
        Like x.
    """
    half = x.shape[-1] // 2
    if x.ndim != 4 or x.shape[-1] % 2:
        raise ValueError(f"rope: expected x (b, h, s, d) with d even, got {tuple(x.shape)}")
    angles = [each.to(x.dtype)[(None,) * (4 - each.ndim)] for each in (cos, sin)]
    if interleaved:
        parts = x.unflatten(-1, (half, 2)).unbind(-1)
        return torch.stack(OPERATORS["rotate"](*parts, *angles), -1).flatten(-2)
    return torch.cat(OPERATORS["rotate"](*x.split(half, -1), *angles), -1)


def causal_conv1d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str | None = None
) -> Tensor:
    """act(bias + sum over j of x[t - j] * weight[K - 1 - j]) of each channel. cuDNN 9.22.

    Parameters
    ----------
    x : torch.Tensor
        (batch, dim, time), with time or channels innermost.
    weight, bias : torch.Tensor
        (dim, K), in the layout of x, and (dim,).
    activation : "silu", optional

    Returns
    -------
    torch.Tensor
        Like x.
    """
    y: Tensor = OPERATORS["causal_conv1d"](x, weight, bias, activation or "identity")
    return y


def _autocast(*operands: Tensor | None) -> Any:
    """The operands in autocast's type where it is on."""
    first = operands[0]
    assert first is not None
    place = first.device.type
    if not torch.is_autocast_enabled(place):
        return operands
    wanted = torch.get_autocast_dtype(place)
    return [
        each.to(wanted) if each is not None and each.is_floating_point() else each
        for each in operands
    ]
