"""The ready operators, forward and backward, against PyTorch's own functions in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from torch_operators import PLACES, attended, behind_each_other, check, convolved

torch: Any = pytest.importorskip("torch")
nn = torch.nn.functional

from cudnn_ctypes import torch_ops as ops  # noqa: E402
from cudnn_ctypes.torch_ops.graphs import OPERATORS  # noqa: E402

HALF, LAST = torch.float16, torch.channels_last
LENGTHS = torch.tensor([64, 40], dtype=torch.int32)


def with_sink(q: Any, k: Any, v: Any, sink: Any) -> Any:
    k, v = (each.repeat_interleave(2, 1) for each in (k, v))
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    column = sink.view(1, -1, 1, 1).expand(*scores.shape[:3], 1)
    return torch.cat([scores, column], -1).softmax(-1)[..., :-1] @ v


def with_lengths(q: Any, k: Any, v: Any) -> Any:
    beyond = torch.arange(64) >= LENGTHS[:, None]
    o = attended(q, k, v, hidden=beyond[:, None, None])
    return o.masked_fill(beyond[:, None, :, None].to(o.device), 0)


BEGINS = (0, 40, 56, 100)


def routed(x: Any, logits: Any, up: Any, down: Any) -> Any:
    shares, chosen = logits.softmax(-1).topk(2)
    shares = shares / shares.sum(-1, keepdim=True)
    every = [nn.silu(a[..., :48]) * a[..., 48:] for a in (x @ each.T for each in up)]
    every = torch.stack([y @ each.T for y, each in zip(every, down, strict=True)], 1)
    return (every[torch.arange(len(x))[:, None], chosen] * shares[..., None]).sum(1)


def rotated(x: Any, cos: Any, sin: Any, interleaved: bool = False) -> Any:
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1) if interleaved else x.chunk(2, -1)
    parts = (a * cos - b * sin, b * cos + a * sin)
    return torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)


def normal(*shape: int, scale: float = 1.0, dtype: Any = HALF, last: bool = False) -> Any:
    made = (torch.randn(shape) * scale).to(dtype)
    return made.contiguous(memory_format=LAST) if last else made


def heads() -> list[Any]:
    return [normal(2, 4, 64, 32), normal(2, 2, 64, 32), normal(2, 2, 64, 32)]


def images() -> list[Any]:
    return [normal(4, 32, 8, 8, last=True), normal(16, 32, 3, 3, scale=0.06, last=True)]


ROW, COLUMN = torch.arange(64)[:, None], torch.arange(64)[None]
ANGLES = ROW * torch.linspace(0.01, 1, 16)
STATISTICS = torch.linspace(-1, 1, 16), torch.linspace(0.5, 2, 16)
ACTIVATIONS = {
    "relu": nn.relu,
    "gelu": nn.gelu,
    "gelu_tanh": lambda x: nn.gelu(x, approximate="tanh"),
    "silu": nn.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def statistics(x: Any, double: bool = False) -> list[Any]:
    return [each.to(x.device, torch.float64 if double else None) for each in STATISTICS]


def folded(x: Any, w: Any, scale: Any, shift: Any, training: bool) -> Any:
    y = nn.conv2d(x, w, padding=1, stride=2)
    return nn.relu(nn.batch_norm(y, *statistics(x, True), scale, shift, training))


Case = tuple[Callable[..., Any], Callable[..., Any], Callable[[], list[Any]]]
CASES: dict[str, Case] = {
    "attention": (ops.attention, attended, heads),
    "attention, window": (
        lambda *qkv: ops.attention(*qkv, causal=True, window=(16, None)),
        lambda *qkv: attended(*qkv, hidden=(COLUMN > ROW) | (COLUMN <= ROW - 16)),
        heads,
    ),
    "attention, bias": (
        lambda q, k, v, bias: ops.attention(q, k, v, bias=bias),
        lambda q, k, v, bias: attended(q, k, v, bias=bias),
        lambda: [*heads(), normal(1, 4, 64, 64)],
    ),
    "attention, alibi": (
        lambda *qkv: ops.attention(*qkv, causal=True, alibi=True),
        lambda *qkv: attended(
            *qkv,
            bias=((COLUMN - ROW) * 2.0 ** -torch.tensor([2, 4, 6, 8]).view(4, 1, 1)).to(qkv[0]),
            hidden=COLUMN > ROW,
        ),
        heads,
    ),
    "attention, softcap": (
        lambda *qkv: ops.attention(*qkv, softcap=2.0),
        lambda *qkv: attended(*qkv, cap=2.0),
        heads,
    ),
    "attention, sink": (
        lambda q, k, v, sink: ops.attention(q, k, v, sink=sink),
        with_sink,
        lambda: [*heads(), normal(4, dtype=torch.float32)],
    ),
    "attention, lengths": (
        lambda *qkv: ops.attention(
            *qkv, **dict.fromkeys(("seq_len_q", "seq_len_kv"), LENGTHS.to(qkv[0].device))
        ),
        with_lengths,
        heads,
    ),
    **{
        f"attention, packed, {causal=}": (
            lambda *qkv, causal=causal: ops.attention_packed(
                *qkv,
                *[torch.tensor(BEGINS, dtype=torch.int32).to(qkv[0].device)] * 2,
                *(64, 64),
                causal=causal,
                softcap=2.0 * causal,
            ),
            lambda *qkv, causal=causal: behind_each_other(
                *qkv, BEGINS, causal=causal, cap=2.0 * causal
            ),
            lambda: [normal(100, 4, 32), normal(100, 2, 32), normal(100, 2, 32)],
        )
        for causal in (False, True)
    },
    "layer norm": (
        ops.layer_norm,
        lambda x, w, b: nn.layer_norm(x, (64,), w, b),
        lambda: [normal(6, 10, 64), normal(64, dtype=torch.float32), normal(64)],
    ),
    "layer norm of two dimensions, bare": (
        lambda x: ops.layer_norm(x.flatten(1)),
        lambda x: nn.layer_norm(x.flatten(1), (640,)),
        lambda: [normal(6, 10, 64)],
    ),
    "rms norm": (
        lambda x, w: ops.rms_norm(x, w, eps=1e-5),
        lambda x, w: nn.rms_norm(x, (64,), w, 1e-5),
        lambda: [normal(6, 10, 64), normal(64)],
    ),
    "rms norm, bare": (
        lambda x: ops.rms_norm(x, eps=1e-5),
        lambda x: nn.rms_norm(x, (64,), None, 1e-5),
        lambda: [normal(6, 10, 64)],
    ),
    "group norm": (
        lambda x, w, b: ops.group_norm(x, 4, w, b),
        lambda x, w, b: nn.group_norm(x, 4, w, b),
        lambda: [images()[0], normal(32), normal(32)],
    ),
    "batch norm and ReLU": (
        lambda x, w, b: ops.batch_norm(x, None, None, w, b, training=True, relu=True),
        lambda x, w, b: nn.batch_norm(x, None, None, w, b, True).relu(),
        lambda: [images()[0], normal(32, dtype=torch.float32), normal(32, dtype=torch.float32)],
    ),
    **{
        f"linear, {name}": (
            lambda x, w, b, name=name: ops.linear(x, w, b, name),
            lambda x, w, b, function=function: function(nn.linear(x, w, b)),
            lambda: [normal(6, 10, 64), normal(48, 64, scale=0.125), normal(48)],
        )
        for name, function in ACTIVATIONS.items()
    },
    "experts": (
        ops.mixture_of_experts,
        routed,
        lambda: [
            *(normal(40, 64), normal(40, 4, dtype=torch.float32)),
            *(normal(4, 96, 64, scale=0.125), normal(4, 64, 48, scale=0.125)),
        ],
    ),
    "swiglu": (
        lambda x: ops.swiglu(*x.chunk(2, -1)),
        lambda x: nn.silu(x[..., :32]) * x[..., 32:],
        lambda: [normal(6, 10, 64)],
    ),
    "convolution": (
        lambda x, w: ops.convolution(x, w, padding=1),
        lambda x, w: nn.conv2d(x, w, padding=1),
        images,
    ),
    "convolution, residual": (
        lambda x, w, b, z: ops.convolution(x, w, b, residual=z, padding=1, relu=True),
        lambda x, w, b, z: nn.relu(nn.conv2d(x, w, b, padding=1) + z),
        lambda: [*images(), normal(16), normal(4, 16, 8, 8, last=True)],
    ),
    **{
        f"convolution, batch norm, {training=}": (
            lambda x, w, s, b, training=training: ops.conv_batch_norm(
                x, w, s, b, *statistics(x), training=training, padding=1, stride=2
            ),
            lambda x, w, s, b, training=training: folded(x, w, s, b, training),
            lambda: [*images(), torch.rand(16) + 0.5, torch.randn(16)],
        )
        for training in (False, True)
    },
    **{
        f"rope, {interleaved=}": (
            lambda x, interleaved=interleaved: ops.rope(
                x, ANGLES.cos().to(x.device), ANGLES.sin().to(x.device), interleaved=interleaved
            ),
            lambda x, interleaved=interleaved: rotated(
                x, ANGLES.cos().to(x), ANGLES.sin().to(x), interleaved
            ),
            lambda: [normal(2, 4, 64, 32)],
        )
        for interleaved in (False, True)
    },
    "causal convolution": (
        lambda *operands: ops.causal_conv1d(*operands, "silu"),
        convolved,
        lambda: [normal(2, 16, 40), normal(16, 4), normal(16)],
    ),
    "batch norm of running statistics": (
        lambda x, w, b: ops.batch_norm(x, *statistics(x), w, b, relu=True),
        lambda x, w, b: nn.batch_norm(x, *statistics(x, True), w, b).relu(),
        lambda: [normal(4, 16, 8, 8), *(normal(16, dtype=torch.float32) for _ in range(2))],
    ),
    "convolution, batch norm, residual": (
        lambda x, w, s, b, z: ops.conv_batch_norm(
            x, w, s, b, *statistics(x), training=True, padding=1, stride=2, residual=z
        ),
        lambda x, w, s, b, z: nn.relu(
            nn.batch_norm(nn.conv2d(x, w, None, 2, 1), *statistics(x, True), s, b, True) + z
        ),
        lambda: [*images(), torch.rand(16) + 0.5, torch.randn(16), normal(4, 16, 4, 4, last=True)],
    ),
}


def newer(names: Iterable[str]) -> list[Any]:
    """The names, with a mark for what older versions of cuDNN lack."""
    new = {
        ("causal conv", "causal_conv"): pytest.mark.needs("cudnnCausalConv1dForward"),
        ("experts", "grouped"): pytest.mark.needs("cudnnMoeGroupedMatmulMode_t"),
    }
    marks = {n: [mark for begins, mark in new.items() if n.startswith(begins)] for n in names}
    return [pytest.param(name, marks=its) for name, its in marks.items()]


WITH_ENGINES = {f"{name}, engines": CASES[name] for name in list(CASES)[::3]}


@pytest.mark.thinned(99, always=CASES)
@pytest.mark.filterwarnings("ignore::cudnn_ctypes.FaultWarning")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", newer([*CASES, *WITH_ENGINES]))
def test_numbers_and_gradients_are_pytorch_s(
    name: str, place: str, request: pytest.FixtureRequest
) -> None:
    """On the reference device a third of them by engines, too, which take long to compile."""
    if name in CASES:
        request.getfixturevalue("without_engines")
    function, theirs, make = {**CASES, **WITH_ENGINES}[name]
    torch.manual_seed(0)
    check(function, theirs, make(), place, 4e-3)


CHECKED = {
    "attention": lambda: (*heads(), *[None] * 8, 0.2, None, 0, False, False, 0.0),
    "layer_norm": lambda: (normal(8, 64), normal(1, 64), normal(1, 64), 1e-5),
    "normalize": lambda: (normal(8, 64), 1e-5),
    "linear": lambda: (normal(1, 8, 64), normal(1, 48, 64), normal(1, 48, 1, 1), "gelu"),
    "convolution_relu": lambda: (*images(), None, None, None, [1] * 6),
    "grouped_linear": lambda: (
        *(normal(1, 40, 64), normal(4, 32, 64)),
        torch.tensor([0, 8, 8, 30], dtype=torch.int32).view(-1, 1, 1),
    ),
    "rotate": lambda: (*[normal(1, 2, 8, 16)] * 2, *[normal(1, 1, 8, 16)] * 2),
    "causal_conv1d": lambda: (normal(2, 16, 40), normal(16, 4), normal(16), "silu"),
}


@pytest.mark.soak
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", newer(list(CHECKED)[::2]))
@pytest.mark.usefixtures("without_engines")
def test_what_pytorch_checks_of_operators(name: str, place: str) -> None:
    operands = [each.to(place) if torch.is_tensor(each) else each for each in CHECKED[name]()]
    gradients = 2 if name == "rotate" else len(operands)
    for each in operands[:gradients]:
        if torch.is_tensor(each) and each.is_floating_point():
            each.requires_grad_()
    torch.library.opcheck(OPERATORS[name], tuple(operands))


@pytest.mark.usefixtures("without_engines")
@pytest.mark.parametrize("shape", [(6, 16), (4, 16, 5), (4, 16, 3, 3)])
def test_running_statistics_are_updated_in_place(shape: tuple[int, ...]) -> None:
    operands = normal(*shape, dtype=torch.float32), *(torch.randn(16) for _ in "wb")
    x, w, b = (each.double() for each in operands)
    own, right = ([each.to(kind, copy=True) for each in STATISTICS] for kind in (b.float(), b))
    options = {"training": True, "momentum": 0.3, "eps": 0.5}
    y = ops.batch_norm(operands[0], *own, *operands[1:], **options)
    expected = nn.batch_norm(x, *right, w, b, **options)
    for one, other in zip((y, *own), (expected, *right), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("without_engines")
def test_products_compute_in_the_type_of_autocast() -> None:
    x, w = normal(6, 64, dtype=torch.float32), normal(48, 64, dtype=torch.float32).requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        y = ops.linear(x, w, None, "gelu")
    assert y.dtype == torch.bfloat16
    y.sum().backward()
    assert w.grad.dtype == torch.float32


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.usefixtures("without_engines")
def test_an_exported_program_holds_the_operators(tmp_path: Path) -> None:
    class Block(torch.nn.Module):
        def forward(self, x: Any, w: Any) -> Any:
            return ops.layer_norm(ops.linear(x, w, None, "silu"))

    operands = normal(6, 64), normal(48, 64)
    program = torch.export.export(Block(), operands)
    targets = {str(node.target) for node in program.graph.nodes}
    assert {"cudnn_ctypes.linear.default", "cudnn_ctypes.normalize.default"} <= targets
    torch.export.save(program, tmp_path / "block.pt2")
    again = torch.export.load(tmp_path / "block.pt2").module()
    assert torch.equal(again(*operands), Block()(*operands))
    sizes = {"x": {0: torch.export.Dim("rows", min=2, max=4096)}, "w": None}
    program = torch.export.export(Block(), operands, dynamic_shapes=sizes)
    for rows in (6, 10):
        operands = normal(rows, 64), operands[1]
        assert torch.equal(program.module()(*operands), Block()(*operands))


@pytest.mark.soak
@pytest.mark.usefixtures("without_engines")
def test_sizes_that_change_are_symbols() -> None:
    """One compiled graph, and a plan for each size: rows, images, tokens."""
    made: list[Any] = []

    def counting(graph: Any, operands: Any) -> Any:
        made.append(graph)
        return torch._dynamo.lookup_backend("aot_eager")(graph, operands)

    def block(x: Any, w: Any, q: Any, image: Any, filters: Any) -> Any:
        y = ops.rms_norm(ops.linear(x, w, None, "silu"))
        o = ops.attention(q, q, q, causal=True)
        return y, o, ops.convolution(image, filters, padding=1)

    compiled = torch.compile(block, backend=counting, fullgraph=True)
    (_, filters), w = images(), normal(48, 64, scale=0.125)
    for n in (2, 3, 5):
        image = normal(n, 32, 8, 8, last=True).requires_grad_()
        given = (normal(4 * n, 64), w, normal(n, 4, 8 * n, 32), image, filters)
        for changing, dimension in ((0, 0), (2, 0), (2, 2), (3, 0)):
            torch._dynamo.mark_dynamic(given[changing], dimension)
        got, right = compiled(*given), block(*given)
        for one, other in zip(got, right, strict=True):
            assert one.stride() == other.stride()
            torch.testing.assert_close(one, other)
        got[2].sum().backward()
    assert len(made) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.linear(normal(2, 8), normal(8, 8), None, "relu6"), "activation: .*'relu6'"),
        (lambda: ops.layer_norm(normal(2, 8), normal(4)), r"weight \(4,\) is no end of x \(2, 8\)"),
        (lambda: ops.group_norm(normal(2, 8, 4), 3), "groups 3 does not divide the channels 8"),
        (lambda: ops.swiglu(normal(2, 8), normal(2, 4)), "differ"),
        (lambda: ops.rope(normal(2, 8), *[normal(2, 4)] * 2), "expected x"),
        (lambda: ops.attention(*heads(), seq_len_q=LENGTHS), "go together"),
        (
            lambda: ops.attention_packed(*[normal(9, 2, 32)] * 3, *[LENGTHS] * 2, 8, 8),
            "9 tokens, and 1 times 8 room",
        ),
        (lambda: ops.batch_norm(normal(2, 8), None, None, *[normal(8)] * 2), "running statistics"),
        (lambda: ops.batch_norm(normal(2, 8), normal(8), None, *[normal(8)] * 2), "running stati"),
        (lambda: ops.convolution(normal(2, 8, 4), normal(8, 8, 3)), "spatial"),
        (
            lambda: ops.mixture_of_experts(*[normal(2, 4)] * 2, *[normal(4, 4, 4)] * 2, top_k=5),
            "top_k 5 of 4 experts",
        ),
    ],
)
def test_what_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
