"""Functions of NVIDIA's front end for PyTorch, forward and backward, against PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from torch_operators import PLACES, attended, behind_each_other, check, convolved

torch: Any = pytest.importorskip("torch")
nn = torch.nn.functional

import cudnn_ctypes.frontend as cudnn  # noqa: E402

HALF, FLOAT = torch.bfloat16, torch.float32
LATER = torch.ones(16, 16).triu(1).bool()
LIVE = torch.rand(2, 3, 1, 1, 16, generator=torch.Generator().manual_seed(1)) > 0.3
LIVE[0, 1] = False
LENGTHS = torch.tensor([[5, 0, 16], [1, 3, 9]], dtype=torch.int32).view(2, 3, 1, 1, 1)
PREFIX = torch.arange(16) < LENGTHS
BEGINS = torch.tensor([0, 5, 7, 16], dtype=torch.int32)
PAIRS = {
    f"{part}_{kind}": shape if kind == "weight" else shape[:1]
    for part, shape in {
        "norm_in": (32,),
        "p_in": (48, 32),
        "g_in": (48, 32),
        "norm_out": (24,),
        "p_out": (32, 24),
        "g_out": (32, 32),
    }.items()
    for kind in ("weight", "bias")
}
KEPT = torch.rand(2, 16, 16, generator=torch.Generator().manual_seed(2)) > 0.3


def normal(*shapes: tuple[int, ...]) -> list[Any]:
    """Numbers; matrices keep the size of what they are multiplied with."""
    return [torch.randn(n) / (n[-1] ** 0.5 if len(n) == 2 else 1) for n in shapes]


def updated(x: Any, *weights: Any, sums: str, mask: Any = None) -> Any:
    w = dict(zip(PAIRS, weights, strict=True))

    def of(part: str, rows: Any) -> Any:
        return nn.linear(rows, w[f"{part}_weight"], w[f"{part}_bias"])

    z = nn.layer_norm(x, (32,), w["norm_in_weight"], w["norm_in_bias"])
    planes = torch.sigmoid(of("g_in", z)) * of("p_in", z)
    a, b = (planes if mask is None else planes * mask.to(x.device)[..., None]).chunk(2, -1)
    u = nn.layer_norm(torch.einsum(sums, a, b), (24,), w["norm_out_weight"], w["norm_out_bias"])
    return torch.sigmoid(of("g_out", z)) * of("p_out", u)


def on(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The function with tensors among its options, where its operands are."""

    def call(*operands: Any) -> Any:
        place = operands[0].device
        moved = {k: v.to(place) if torch.is_tensor(v) else v for k, v in options.items()}
        return function(*operands, **moved)

    return call


def update(direction: str, mask: Any) -> Callable[..., Any]:
    def call(x: Any, *weights: Any) -> Any:
        options = dict(zip(PAIRS, weights, strict=True))
        kept = None if mask is None else mask.to(x.device)
        return cudnn.triangle_multiplicative_update(x, direction, kept, **options)

    return call


HEADS = (2, 4, 16, 32), (2, 2, 16, 32), (2, 2, 16, 32)
ROWS = (2, 3, 4, 16, 32), (2, 3, 2, 16, 32), (2, 3, 2, 16, 32)
TOKENS = (16, 4, 32), (16, 2, 32), (16, 2, 32)
STEPS = (2, 6, 20), (6, 4), (6,)
ops, experimental = cudnn.ops, cudnn.experimental.ops
Case = tuple[Callable[..., Any], Callable[..., Any], tuple[tuple[int, ...], ...]]
CASES: dict[str, Case] = {
    "sdpa": (on(cudnn.sdpa_torch, is_causal=True), on(attended, hidden=LATER), HEADS),
    "sdpa, packed": (
        on(
            cudnn.sdpa_torch,
            is_causal=True,
            **dict.fromkeys(("cu_seqlens_q", "cu_seqlens_kv"), BEGINS),
            **dict.fromkeys(("max_seqlen_q", "max_seqlen_kv"), 9),
        ),
        on(behind_each_other, begins=BEGINS.tolist()),
        TOKENS,
    ),
    "attention of pairs, mask": (
        on(cudnn.triangle_attention, mask=LIVE),
        lambda q, k, v, bias: attended(q, k, v, bias=bias, hidden=~LIVE),
        (*ROWS, (2, 1, 4, 16, 16)),
    ),
    "attention of pairs, lengths": (
        on(cudnn.triangle_attention, kv_lengths=LENGTHS),
        lambda q, k, v, bias: attended(q, k, v, bias=bias, hidden=~PREFIX),
        (*ROWS, (1, 1, 1, 16, 16)),
    ),
    "triangles, outgoing": (
        update("outgoing", KEPT),
        on(updated, sums="bikc,bjkc->bijc", mask=KEPT),
        ((2, 16, 16, 32), *PAIRS.values()),
    ),
    "triangles, incoming": (
        update("incoming", None),
        on(updated, sums="bkic,bkjc->bijc"),
        ((2, 16, 16, 32), *PAIRS.values()),
    ),
    "perceptron": (
        experimental.swiglu_mlp,
        lambda x, g, u, d: nn.linear(nn.silu(nn.linear(x, g)) * nn.linear(x, u), d),
        ((2, 5, 32), (48, 32), (48, 32), (32, 48)),
    ),
    "experts": (
        on(
            experimental.moe_grouped_matmul,
            first_token_offset=torch.tensor([0, 5, 5, 12], dtype=torch.int32).view(-1, 1, 1),
        ),
        lambda x, w: torch.cat((x[:, :5] @ w[0], x[:, 5:] @ w[2]), 1),
        ((1, 12, 32), (3, 32, 16)),
    ),
    "rms norm": (
        experimental.rms_norm,
        lambda x, w, b: nn.rms_norm(x, (32,), w, 1e-5) + b,
        ((2, 5, 32), (32,), (32,)),
    ),
    "layer norm": (
        lambda x, w, b: experimental.layer_norm(x, (32,), w, b),
        lambda x, w, b: nn.layer_norm(x, (32,), w, b),
        ((2, 5, 32), (32,), (32,)),
    ),
    "convolution": (on(ops.causal_conv1d, activation="swish"), convolved, STEPS),
    "convolution of a piece": (
        lambda x, w, b, past: ops.causal_conv1d(x, w, b, "silu", initial_states=past),
        convolved,
        (*STEPS, (2, 6, 3)),
    ),
    "convolution, channels last": (
        on(ops.causal_conv1d_nwh, activation="silu"),
        lambda x, w, b: convolved(x.mT, w.t(), b).mT,
        ((2, 20, 6), (4, 6), (6,)),
    ),
}
IN_16_BITS = ("sdpa", "attention", "experts")
PARAMETERS = [
    pytest.param(
        name,
        dtype,
        marks=[pytest.mark.needs("cudnnCausalConv1dNwhForward")] * ("conv" in name)
        + [pytest.mark.needs("cudnnMoeGroupedMatmulMode_t")] * (name == "experts"),
    )
    for name in CASES
    for dtype in (HALF, FLOAT)[: 2 - name.startswith(IN_16_BITS)]
]


@pytest.mark.filterwarnings("ignore::cudnn_ctypes.FaultWarning")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "dtype"), PARAMETERS)
@pytest.mark.usefixtures("without_engines")
def test_numbers_and_gradients_are_pytorch_s(name: str, dtype: Any, place: str) -> None:
    function, theirs, shapes = CASES[name]
    torch.manual_seed(0)
    near = 2e-2 if dtype is HALF else 2e-3 if place == "cuda" else 2e-6
    check(function, theirs, [each.to(dtype) for each in normal(*shapes)], place, near)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["sdpa", "triangles, outgoing", "perceptron", "convolution"])
@pytest.mark.usefixtures("without_engines")
def test_compiled_they_are_one_graph(name: str) -> None:
    function, _, shapes = CASES[name]
    operands = [each.to(HALF) for each in normal(*shapes)]
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(*operands), function(*operands))


@pytest.mark.filterwarnings("ignore::cudnn_ctypes.FaultWarning")
@pytest.mark.usefixtures("without_engines")
def test_statistics_of_sequences_behind_each_other() -> None:
    q, k, v = (each.to(HALF) for each in normal(*TOKENS))
    limits = {"cu_seqlens_q": BEGINS, "cu_seqlens_kv": BEGINS}
    limits |= {"max_seqlen_q": 9, "max_seqlen_kv": 9}
    _, lse = cudnn.sdpa_torch(q, k, v, **limits, return_lse=True)
    parts = []
    for begin, end in pairwise(BEGINS.tolist()):
        a, b = (each[begin:end].transpose(0, 1).double() for each in (q, k))
        scores = a @ b.repeat_interleave(2, 0).mT * 32**-0.5
        parts.append(scores.logsumexp(-1).t())
    torch.testing.assert_close(lse[..., 0].double(), torch.cat(parts), rtol=0, atol=1e-5)


def test_masks_that_are_prefixes_have_lengths() -> None:
    assert torch.equal(cudnn.mask_to_kv_lengths(PREFIX), LENGTHS)
    assert cudnn.mask_to_kv_lengths(LIVE) is None
    with pytest.raises(ValueError, match="mask: a row is not True, then False"):
        cudnn.prefix_mask_to_kv_lengths(LIVE, check=True)


@pytest.mark.needs("cudnnCausalConv1dForward")
def test_a_sequence_in_pieces_is_the_whole() -> None:
    x, w, b = normal(*STEPS)
    first, past = ops.causal_conv1d(x[..., :8], w, b, return_final_states=True)
    last, end = ops.causal_conv1d(
        x[..., 8:], w, b, initial_states=past, return_final_states=True, final_states_out=past
    )
    torch.testing.assert_close(torch.cat((first, last), -1), ops.causal_conv1d(x, w, b))
    assert torch.equal(end, x[..., -3:])
    assert end is past


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q, k, v: cudnn.sdpa_torch(q.float(), k, v), "query: expected float16 or bfloat16"),
        (lambda q, k, v: cudnn.sdpa_torch(q, k.half(), v), "key: expected the type of query"),
        (lambda q, k, v: cudnn.sdpa_torch(q, k, v, seq_len_q=BEGINS), "seq_len_kv: give both"),
        (lambda q, k, v: cudnn.sdpa_torch(q, k, v, cu_seqlens_q=BEGINS), "cu_seqlens_kv: give"),
        (lambda q, k, v: cudnn.triangle_attention(q, k, v, q), "q: expected 5 dimensions"),
        (lambda q, k, v: cudnn.triangle_multiplicative_update(q, "in"), "direction: .*'in'"),
        (lambda q, k, v: cudnn.triangle_multiplicative_update(q[..., :16, :]), "norm_in_weight: n"),
        (lambda q, k, v: experimental.rms_norm(q, k[0, 0, 0, :8]), r"weight: expected \(32,\)"),
        (lambda q, k, v: experimental.layer_norm(q, (8,)), "normalized_shape"),
        (lambda q, k, v: experimental.swiglu_mlp(q, q, q, q), "Wg: expected"),
        (lambda q, k, v: experimental.moe_grouped_matmul(q, k, v, mode="x"), "mode: 'x'"),
        (lambda q, k, v: ops.causal_conv1d(q[0], q[0, 0, :3]), r"weight: expected \(16, 32\)"),
        (lambda q, k, v: ops.causal_conv1d(q[0], q, cu_seqlens=k), "cu_seqlens: cuDNN has no"),
    ],
)
def test_wrong_arguments_are_named(call: Callable[..., Any], message: str) -> None:
    heads = [each.to(HALF) for each in normal((2, 16, 16, 32), (2, 16, 16, 32), (2, 16, 16, 32))]
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=message):
        call(*heads)
