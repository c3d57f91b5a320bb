"""The graphs of the ready operators, forward and backward, and the table that registers them.

Each row of `OPERATORS` is a custom operator ``cudnn_ctypes::name``. `functions` has what programs
call, which brings operands into the shapes that the rows take.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch

from ..graph import Tensor
from ..legacy import causal_convolution_backward, causal_convolution_forward
from ..raw.strides import packed
from .gradients import custom_op
from .operators import direct

OPERATORS: dict[str, Any] = {}
"""Operators by name."""

ACTIVATIONS = {
    "relu": ("relu", "relu_backward"),
    "gelu": ("gelu", "gelu_backward"),
    "gelu_tanh": ("gelu_approx_tanh", "gelu_approx_tanh_backward"),
    "silu": ("swish", "swish_backward"),
    "sigmoid": ("sigmoid", "sigmoid_backward"),
    "tanh": ("tanh", "tanh_backward"),
}
"""Methods of a graph by activation, and those of its gradient."""


def _register(
    name: str,
    forward: Callable[..., Any],
    backward: Mapping[Any, Any],
    outputs: Sequence[str] = ("y",),
) -> None:
    OPERATORS[name] = custom_op(
        f"cudnn_ctypes::{name}", forward, backward=backward, outputs=outputs
    )


# --- attention -----------------------------------------------------------------------------------


def _capped(softcap: float) -> dict[str, Any]:
    """softcap * tanh(scores / softcap) and its derivative, as `sdpa_backward` takes them."""
    divided: list[Any] = []

    def cap(graph: Any, scores: Any) -> Any:
        divided.append(graph.mul(scores, 1 / softcap))
        return graph.mul(graph.tanh(divided[-1]), softcap)

    def gradient(graph: Any, dscores: Any) -> Any:
        return graph.tanh_backward(dscores, divided[-1])

    return {"score_mod": cap, "score_mod_bprop": gradient}


def _attention(
    graph: Any,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    sink: Tensor | None,
    seq_len_q: Tensor | None,
    seq_len_kv: Tensor | None,
    begin_q: Tensor | None,
    begin_k: Tensor | None,
    begin_v: Tensor | None,
    begin_o: Tensor | None,
    scale: float,
    left: int | None,
    right: int | None,
    bottom_right: bool,
    alibi: bool,
    softcap: float,
) -> Any:
    """`begin_q` and others: where sequences that lie behind each other begin, in elements."""
    _set_begins((q, k, v), (begin_q, begin_k, begin_v))
    options = _options(bias, sink, seq_len_q, seq_len_kv, scale, left, right, bottom_right, alibi)
    if softcap:
        options["score_mod"] = _capped(softcap)["score_mod"]
    o, stats = graph.sdpa(q, k, v, generate_stats=True, **options)
    if begin_o is not None:
        batch, heads, rows, _ = q.dims or ()
        size = (v.dims or ())[-1]
        o.set_output(strides=packed((batch, heads, rows, size), (0, 2, 1, 3)))
        o.ragged_offset = begin_o
    return o, stats.set_output(data_type="float32")


def _set_begins(tensors: Sequence[Tensor], begins: Sequence[Tensor | None]) -> None:
    for tensor, begin in zip(tensors, begins, strict=True):
        tensor.ragged_offset = begin


def _options(
    bias: Any, sink: Any, seq_len_q: Any, seq_len_kv: Any, scale: float, *mask: Any
) -> dict[str, Any]:
    """The arguments of `sdpa` and its gradient that say which keys count, and how much."""
    left, right, bottom_right, alibi = mask
    return {
        "attn_scale": scale,
        "use_alibi_mask": alibi,
        "diagonal_alignment": "bottom_right" if bottom_right else "top_left",
        "diagonal_band_left_bound": left,
        "diagonal_band_right_bound": right,
        "bias": bias,
        "sink_token": sink,
        "seq_len_q": seq_len_q,
        "seq_len_kv": seq_len_kv,
    }


def _attention_gradients(*more: str) -> Callable[..., Any]:
    """The graph of dq, dk and dv, and of `more`: "dbias", "dsink"."""

    def gradients(graph: Any, o: Tensor, do: Tensor, stats: Tensor, *forward: Any) -> Any:
        q, k, v, bias, sink, len_q, len_kv, begin_q, begin_k, begin_v, begin_o, *numbers = forward
        _set_begins((q, k, v, o, do), (begin_q, begin_k, begin_v, begin_o, begin_o))
        *mask, softcap = numbers
        options = _options(bias, sink, len_q, len_kv, *mask)
        options |= _capped(softcap) if softcap else {}
        made = {}
        if "dbias" in more:
            made["dbias"] = options["dBias"] = graph.tensor_like(bias, name="dbias")
        if "dsink" in more:
            made["dsink"] = options["dSink_token"] = graph.tensor_like(sink, name="dsink")
        found = graph.sdpa_backward(q, k, v, o, do, stats, **options)
        if begin_o is not None:
            for each, like in zip(found, (q, k, v), strict=True):
                each.set_output(strides=like.strides)
                each.ragged_offset = like.ragged_offset
        return *found, *made.values()

    return _with_arguments_of(_attention, gradients)


def _with_arguments_of(
    forward: Callable[..., Any], gradients: Callable[..., Any]
) -> Callable[..., Any]:
    """A function of a graph, tensors and the arguments of its forward function, by their names."""
    *own, _ = inspect.signature(gradients).parameters.values()
    _, *others = inspect.signature(forward).parameters.values()
    vars(gradients)["__signature__"] = inspect.Signature([*own, *others])
    gradients.__annotations__ |= forward.__annotations__
    return gradients


for _more in ((), ("bias",), ("sink",), ("bias", "sink")):
    _results = tuple(f"d{each}" for each in _more)
    _register(
        "_".join(("attention", *_more)),
        _attention,
        {("dq", "dk", "dv", *_results): _attention_gradients(*_results)},
        ("o", "stats"),
    )


# --- norms, of rows (m, d) with weights (1, d), and of channels ----------------------------------


def _layer_norm(graph: Any, x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Any:
    return graph.layernorm("training", x, weight, bias, eps)


def _layer_norm_gradients(
    graph: Any, dy: Tensor, x: Tensor, weight: Tensor, mean: Tensor, inv_variance: Tensor
) -> Any:
    return _typed(graph.layernorm_backward(dy, x, weight, mean, inv_variance), weight)


def _rms_norm(graph: Any, x: Tensor, weight: Tensor, eps: float) -> Any:
    return graph.rmsnorm("training", x, weight, None, eps)


def _rms_norm_bias(graph: Any, x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Any:
    return graph.rmsnorm("training", x, weight, bias, eps)


def _rms_norm_gradients(has_dbias: bool) -> Callable[..., Any]:
    def gradients(graph: Any, dy: Tensor, x: Tensor, weight: Tensor, inv_variance: Tensor) -> Any:
        found = graph.rmsnorm_backward(dy, x, weight, inv_variance, has_dbias)
        return _typed(found[: 2 + has_dbias], weight)

    return gradients


def _typed(gradients: Sequence[Any], weight: Tensor) -> Sequence[Any]:
    """Gradients of weights have the weights' type: engines know no other."""
    for each in gradients[1:]:
        each.set_output(data_type=weight.data_type)
    return gradients


def _normalize(graph: Any, x: Tensor, eps: float) -> Any:
    return graph.layernorm("training", x, None, None, eps)


def _rms_normalize(graph: Any, x: Tensor, eps: float) -> Any:
    return graph.rmsnorm("training", x, None, None, eps)


def _batch_norm(relu: bool) -> Callable[..., Any]:
    def batch_norm(
        graph: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor,
        running_mean: Tensor,
        running_var: Tensor,
        eps: float,
        momentum: float,
    ) -> Any:
        running = running_mean, running_var
        y, *statistics = graph.batchnorm(x, weight, bias, *running, eps, momentum)
        return graph.relu(y) if relu else y, *statistics

    return batch_norm


def _batch_norm_gradients(
    graph: Any, dz: Tensor, x: Tensor, weight: Tensor, mean: Tensor, inv_variance: Tensor
) -> Any:
    return graph.batchnorm_backward(dz, x, weight, mean, inv_variance)


def _relu_gradient(relu: bool) -> Any:
    """The gradient before ReLU, or before nothing."""
    return (lambda graph, dy, y: graph.relu_backward(dy, y)) if relu else "dy"


_STATISTICS = ("y", "mean", "inv_variance")
_GRADIENTS = ("dx", "dweight", "dbias")
_register("layer_norm", _layer_norm, {_GRADIENTS: _layer_norm_gradients}, _STATISTICS)
for _name, _function, _count in (("rms_norm", _rms_norm, 2), ("rms_norm_bias", _rms_norm_bias, 3)):
    _register(
        _name,
        _function,
        {_GRADIENTS[:_count]: _rms_norm_gradients(_count == 3)},
        ("y", "inv_variance"),
    )
_register(
    "normalize",
    _normalize,
    {
        "dx": lambda graph, dy, x, mean, inv_variance: graph.layernorm_backward(
            dy, x, None, mean, inv_variance
        )[0]
    },
    _STATISTICS,
)
_register(
    "rms_normalize",
    _rms_normalize,
    {"dx": lambda graph, dy, x, inv_variance: graph.rmsnorm_backward(dy, x, None, inv_variance)[0]},
    ("y", "inv_variance"),
)
for _relu in (False, True):
    _register(
        "batch_norm" + "_relu" * _relu,
        _batch_norm(_relu),
        {"dz": _relu_gradient(_relu), _GRADIENTS: _batch_norm_gradients},
        (*_STATISTICS, "next_mean", "next_var"),
    )


# --- products and convolutions with what follows them --------------------------------------------


def _linear(graph: Any, x: Tensor, w: Tensor, b: Tensor | None, activation: str) -> Any:
    """x (1, m, k), w (1, n, k), b (1, n, 1, 1)."""
    return getattr(graph, ACTIVATIONS[activation][0])(_product(graph, x, w, b))


def _product(graph: Any, x: Tensor, w: Tensor, b: Any) -> Any:
    return _affine(graph, x, w, None if b is None else _seen_as(b, (1, 1, b.dims[1])))


def _affine(graph: Any, x: Tensor, w: Tensor, b: Tensor | None) -> Any:
    """x (1, m, k), w (1, n, k), b (1, 1, n) or (1, m, 1)."""
    z = graph.matmul(x, w, transpose_B=True)
    return z if b is None else z + b


def _seen_as(tensor: Tensor, dims: tuple[int, ...], order: Sequence[int] | None = None) -> Tensor:
    """An operand with other dims of the same memory, of which the first in `order` is outermost."""
    tensor.dims, tensor.strides = dims, packed(dims, order)
    return tensor


def _linear_db(graph: Any, dz: Tensor) -> Any:
    """The sums of columns, as those of an image's channels: engines know no others."""
    _, m, n = dz.dims or ()
    images = _seen_as(dz, (1, n, m, 1), (0, 2, 3, 1))
    return graph.reduction(images, "add", axes=(0, 2, 3)).set_output(data_type="float32")


def _linear_dz(
    graph: Any, dy: Tensor, y: Tensor, x: Tensor, w: Tensor, b: Tensor | None, activation: str
) -> Any:
    """The gradient before the activation; but for ReLU the product is computed again."""
    z = y if activation == "relu" else _product(graph, x, w, b)
    return getattr(graph, ACTIVATIONS[activation][1])(dy, z)


_FACTORS = {
    "dx": lambda graph, dz, w: graph.matmul(dz, w),
    "dw": lambda graph, dz, x: graph.matmul(dz, x, transpose_A=True),
}
_register("linear", _linear, {"dz": _linear_dz, **_FACTORS, "db": _linear_db})


@direct(lambda dz, b: torch.empty_like(b))
def _db(stream: Any, db: Any, dz: Any, b: Any) -> None:
    """By PyTorch: b is added to rows or to columns."""
    db.copy_(dz.sum_to_size(b.shape))


def _gated_affine(
    graph: Any,
    x: Tensor,
    w: Tensor,
    b: Tensor | None,
    gate: Tensor,
    mask: Tensor | None,
    activation: str,
) -> Any:
    """The product times the activation of `gate`, and of what is not masked: (1, 1, n)."""
    return _masked(_affine(graph, x, w, b) * getattr(graph, ACTIVATIONS[activation][0])(gate), mask)


def _masked(y: Any, mask: Any) -> Any:
    return y if mask is None else y * mask


def _dgate(
    graph: Any,
    dy: Tensor,
    x: Tensor,
    w: Tensor,
    b: Tensor | None,
    gate: Tensor,
    mask: Tensor | None,
    activation: str,
) -> Any:
    """The product is computed again."""
    dactivation = _masked(_affine(graph, x, w, b) * dy, mask)
    return getattr(graph, ACTIVATIONS[activation][1])(dactivation, gate)


_register("product", _affine, {"dz": "dy", **_FACTORS, "db": _db})
_register(
    "gated_product",
    _gated_affine,
    {
        "dz": lambda graph, dy, gate, mask, activation: _masked(
            graph.mul(dy, getattr(graph, ACTIVATIONS[activation][0])(gate)), mask
        ),
        **_FACTORS,
        "db": _db,
        "dgate": _dgate,
    },
)


def _pairs(graph: Any, a: Tensor, b: Tensor, incoming: bool) -> Any:
    """a @ b^T, or a^T @ b, of each matrix of a batch."""
    return graph.matmul(a, b, transpose_A=incoming, transpose_B=not incoming)


_register(
    "pairs",
    _pairs,
    {
        "da": lambda graph, dy, b, incoming: (
            graph.matmul(b, dy, transpose_B=True) if incoming else graph.matmul(dy, b)
        ),
        "db": lambda graph, dy, a, incoming: graph.matmul(
            a if incoming else dy, dy if incoming else a, transpose_A=not incoming
        ),
    },
)


def _grouped_linear(graph: Any, x: Tensor, w: Tensor, begins: Tensor) -> Any:
    """x (1, rows, k), w (experts, n, k), and where each expert's rows begin, (experts, 1, 1)."""
    experts, n, k = w.dims or ()
    w.dims, w.strides = (experts, k, n), (n * k, 1, k)
    return graph.moe_grouped_matmul(x, w, begins)


def _empty_weights(dy: Any, x: Any, w: Any, begins: Any) -> Any:
    return torch.empty_like(w)


@direct(_empty_weights)
def _grouped_dw(stream: Any, dw: Any, dy: Any, x: Any, w: Any, begins: Any) -> None:
    """By PyTorch's products: cuDNN's engine needs CUDA 13.1."""
    ends = [*begins.flatten().tolist(), x.shape[1]]
    for i, (begin, end) in enumerate(pairwise(ends)):
        torch.mm(dy[0, begin:end].T, x[0, begin:end], out=dw[i])


def _turned_like(w: Any) -> Any:
    experts, n, k = w.shape
    return w.new_empty(experts, k, n)


@direct(_turned_like)
def _turned(stream: Any, turned: Any, w: Any) -> None:
    """Each expert's weight transposed: Hopper's engine takes no other order of memory."""
    turned.copy_(w.transpose(1, 2))


_register(
    "grouped_linear",
    _grouped_linear,
    {
        "turned": _turned,
        "dx": lambda graph, dy, turned, begins: _grouped_linear(graph, dy, turned, begins),
        "dw": _grouped_dw,
    },
)


def _window(window: list[int]) -> dict[str, Sequence[int]]:
    """Stride, padding and dilation, which operators take in one list: it costs less time."""
    size = len(window) // 3
    parts = (window[i : i + size] for i in range(0, len(window), size))
    return dict(zip(("stride", "padding", "dilation"), parts, strict=True))


def _convolution(relu: bool) -> Callable[..., Any]:
    def convolution(
        graph: Any,
        x: Tensor,
        w: Tensor,
        scale: Tensor | None,
        b: Tensor | None,
        residual: Tensor | None,
        window: list[int],
    ) -> Any:
        y = graph.conv_fprop(x, w, **_window(window))
        for operation, operand in (("mul", scale), ("add", b), ("add", residual)):
            y = y if operand is None else getattr(graph, operation)(y, operand)
        return graph.relu(y) if relu else y

    return convolution


def _dconvolution(graph: Any, dz: Tensor, scale: Tensor | None) -> Any:
    return graph.mul(dz, 1.0 if scale is None else scale)


def _dscale(graph: Any, dz: Any, x: Tensor, w: Tensor, scale: Any, window: list[int]) -> Any:
    """The sums of dz * convolution, which is computed again."""
    total = graph.reduction(dz * graph.conv_fprop(x, w, **_window(window)), "add")
    return total.set_output(dims=scale.dims, data_type="float32")


def _dx(graph: Any, dc: Tensor, w: Tensor, x: Tensor, window: list[int]) -> Any:
    dx = graph.conv_dgrad(dc, w, **_window(window))
    return dx.set_output(dims=x.dims, strides=x.strides)


def _dw(graph: Any, dc: Tensor, x: Tensor, w: Tensor, window: list[int]) -> Any:
    dw = graph.conv_wgrad(x, dc, **_window(window))
    return dw.set_output(dims=w.dims, strides=w.strides)


for _relu in (False, True):
    for _scaled in (False, True):
        _register(
            "convolution" + "_scaled" * _scaled + "_relu" * _relu,
            _convolution(_relu),
            {
                "dz": _relu_gradient(_relu),
                "dresidual": "dz",
                **({"dscale": _dscale} if _scaled else {}),
                "dc": _dconvolution if _scaled else "dz",
                "dx": _dx,
                "dw": _dw,
                "db": lambda graph, dz, b: graph.reduction(dz, "add").set_output(
                    dims=b.dims, data_type="float32"
                ),
            },
        )


# --- element-wise --------------------------------------------------------------------------------


def _swiglu_gradients(graph: Any, dy: Tensor, gate: Tensor, up: Tensor) -> Any:
    return graph.swish_backward(graph.mul(dy, up), gate), graph.mul(dy, graph.swish(gate))


_register(
    "swiglu",
    lambda graph, gate, up: graph.mul(graph.swish(gate), up),
    {("dgate", "dup"): _swiglu_gradients},
)
_register(
    "rotate",
    lambda graph, a, b, cos, sin: (a * cos - b * sin, b * cos + a * sin),
    {("da", "db"): lambda graph, du, dv, cos, sin: (du * cos + dv * sin, dv * cos - du * sin)},
    ("u", "v"),
)


# --- a function of layer 2 -----------------------------------------------------------------------


def _empty_result(x: Any, *_: Any) -> Any:
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device)


@direct(_empty_result)
def _causal_conv1d(
    stream: Any, y: Any, x: Tensor, w: Tensor, b: Tensor | None, activation: str
) -> None:
    causal_convolution_forward(x, w, b, y, activation=activation, stream=stream)


def _empty_gradients(dy: Any, x: Any, w: Any, *_: Any) -> Any:
    sums = torch.float64 if x.dtype == torch.float64 else torch.float32
    dw = torch.zeros_like(w, dtype=sums)  # cuDNN adds to them
    return _empty_result(x), dw, dw.new_zeros(w.shape[:1])


@direct(_empty_gradients)
def _causal_conv1d_gradients(
    stream: Any, results: Any, dy: Tensor, x: Tensor, w: Tensor, b: Tensor | None, activation: str
) -> None:
    dx, dw, db = results
    causal_convolution_backward(
        x=x, w=w, dy=dy, bias=b, dx=dx, dw=dw, db=db, activation=activation, stream=stream
    )


_register("causal_conv1d", _causal_conv1d, {("dx", "dw", "db"): _causal_conv1d_gradients})
