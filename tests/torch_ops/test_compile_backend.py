"""torch.compile with ready operators in place of PyTorch's functions."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from programs import ROOT
from torch_operators import PLACES

torch: Any = pytest.importorskip("torch")
nn = torch.nn

from cudnn_ctypes import torch_ops, use_reference_device  # noqa: E402
from cudnn_ctypes.torch_ops import backend  # noqa: E402

pytestmark = pytest.mark.usefixtures("without_engines")

LAST = torch.channels_last


class Model(nn.Module):  # type: ignore[misc]
    """Two convolutions, and a layer of a transformer on their pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            *(nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU()),
            *(nn.Conv2d(32, 32, 1), nn.ReLU()),
        )
        self.norm, self.qkv = nn.LayerNorm(32), nn.Linear(32, 96)
        self.feed_forward = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))

    def forward(self, x: Any) -> Any:
        x = self.convolutions(x).flatten(2).transpose(1, 2)
        heads = (each.unflatten(-1, (4, 8)).transpose(1, 2) for each in self.qkv(x).chunk(3, -1))
        o = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = self.norm(x + o.transpose(1, 2).flatten(2))
        return x + self.feed_forward(x)


def model(place: str, *, training: bool) -> tuple[Any, Any]:
    torch.manual_seed(0)
    made = Model().to(place, torch.float16).to(memory_format=LAST).train(training)
    return made, torch.randn(2, 16, 8, 8).to(place, torch.float16).contiguous(memory_format=LAST)


@pytest.mark.soak
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("training", [False, True])
def test_a_compiled_model_has_the_numbers_of_the_model(place: str, training: bool) -> None:
    own, x = model(place, training=training)
    theirs, _ = model(place, training=training)
    theirs = theirs.double()
    told: list[Any] = []
    y = torch.compile(own, backend=backend.cudnn_ctypes, options={"report": told.append})(x)
    if place == "cpu" and not training:
        check_regions(*told)
    right = theirs(x.double())
    torch.testing.assert_close(y.double(), right, rtol=0, atol=1e-2)
    dy = torch.randn_like(y)
    y.backward(dy)
    right.backward(dy.double())
    for one, other in zip(own.parameters(), theirs.parameters(), strict=True):
        # One element on the other side of ReLU's step makes an error of 2 %.
        assert (one.grad.double() - other.grad).norm() <= 6e-2 * other.grad.norm()
    for one, other in zip(own.buffers(), theirs.buffers(), strict=True):
        torch.testing.assert_close(one.double(), other.double(), rtol=0, atol=2e-3)


def check_regions(regions: torch_ops.Regions) -> None:
    """Each replaced region is listed."""
    assert [each.operator for each in regions.taken] == [
        *("conv_batch_norm", "convolution", "attention", "linear")
    ]
    assert regions.taken[0].result == "(2, 32, 8, 8) float16"
    assert [(each.operator, each.reason) for each in regions.left] == [
        ("", "not among those that are taken")
    ]


@pytest.mark.soak
def test_what_does_not_run_is_left_to_pytorch() -> None:
    own, x = model("cpu", training=True)
    with use_reference_device(False):
        regions = torch_ops.explain(own, x)
    assert not regions.taken
    reasons = {each.reason.partition(":")[2][:13] for each in regions.left}
    assert " host memory " in reasons


@pytest.mark.soak
def test_measuring_attention_leaves_pytorch_s_graphs_of_it_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PyTorch finds cuDNN's graph of attention's gradient by q, k and v alone."""
    layouts: dict[Any, set[Any]] = {}
    gradient = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default

    class Watched(torch.fx.Interpreter):  # type: ignore[misc]
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            if target is gradient:
                do, *heads = (each.stride() for each in args[:4])
                layouts.setdefault(tuple(heads), set()).add(do)
            return super().call_function(target, args, kwargs)

    def compiled(module: Any, operands: Any) -> Any:
        return torch._dynamo.backends.common.aot_autograd(fw_compiler=watched)(module, operands)

    def watched(module: Any, operands: Any) -> Any:
        return torch._functorch.aot_autograd.make_boxed_func(Watched(module).run)

    def compared(sides: Any, operands: Any, *, kernels: bool) -> Any:
        for each in sides:
            backend._run(each, operands)
        return 150, 100

    monkeypatch.setattr(backend, "_on_gpu", lambda operands: True)
    monkeypatch.setattr(backend, "_compared", compared)
    monkeypatch.setattr(backend, "_measured", {})
    own, x = model("cpu", training=False)
    options = {"inner": compiled, "take": ("attention",)}
    config = pytest.importorskip("torch._functorch.config")
    with config.patch(guess_tangent_strides_as_outputs=False):  # as in PyTorch 2.11
        torch.compile(own, backend=backend.cudnn_ctypes, options=options)(x).sum().backward()
    assert [len(each) for each in layouts.values()] == [1, 1]


@pytest.mark.soak
def test_modes_are_inductor_s() -> None:
    inner = backend._inner("inductor", "reduce-overhead")
    assert inner.keywords == {"config_patches": {"triton.cudagraphs": True}}  # type: ignore[attr-defined]
    assert backend._inner("aot_eager", "reduce-overhead") is torch._dynamo.lookup_backend(
        "aot_eager"
    )


class Shapes(torch.fx.Interpreter):  # type: ignore[misc]
    """Notes what each operation gives, as TorchDynamo does."""

    def run_node(self, node: Any) -> Any:
        node.meta["example_value"] = value = super().run_node(node)
        return value


def traced(program: Any, *operands: Any) -> Any:
    module = torch.fx.GraphModule(nn.Module(), torch.fx.Tracer().trace(program))
    Shapes(module).run(*operands)
    return module


def block(x: Any, w: Any, shift: Any, scale: Any) -> Any:
    functional = nn.functional
    first, second = (functional.conv2d(x, w, each, padding=1) for each in (shift, None))
    normal = functional.batch_norm(first, shift, scale, scale, shift)
    return functional.relu(x + normal) + second


def block_operands() -> list[Any]:
    torch.manual_seed(0)
    x = torch.randn(2, 16, 8, 8).half().contiguous(memory_format=LAST)
    w = (torch.randn(16, 16, 3, 3) / 12).half().contiguous(memory_format=LAST)
    return [x, w, *(torch.rand(2, 16) + 0.5).half()]


def test_a_convolution_with_norm_and_sum_is_one_place() -> None:
    operands = block_operands()
    module = traced(block, *operands)
    regions = backend.replace(module)
    assert str(regions).splitlines() == [
        "conv2d + batch_norm + add + relu (2, 16, 8, 8) float16 "
        "by cudnn_ctypes.torch_ops.conv_batch_norm",
        "conv2d_1 + add_1 (2, 16, 8, 8) float16 by cudnn_ctypes.torch_ops.convolution",
        "other operations by PyTorch: 0",
    ]
    right = block(*(each.double() for each in operands))
    torch.testing.assert_close(module(*operands).double(), right, rtol=5e-3, atol=2e-2)


TIMES = "94 us, PyTorch 100 us"


@pytest.mark.parametrize(
    ("mode", "alone", "whole", "factor", "taken", "reason"),
    [
        (None, 94, 97, 1.02, True, TIMES),
        ("reduce-overhead", 94, 97, 1, True, TIMES),
        (None, 94, 98, 1, False, f"the whole takes 98 us, PyTorch's 100 us; alone {TIMES}"),
        (
            "max-autotune",
            94,
            98,
            1,
            False,
            f"the whole takes 98 us, PyTorch's 100 us; alone {TIMES}",
        ),
        (None, 95, 97, 1, False, "not faster: 95 us, PyTorch 100 us"),
        (None, 94, 97, 1.2, False, "not PyTorch's numbers"),
    ],
)
def test_places_and_the_whole_are_measured(mode, alone, whole, factor, taken, reason, monkeypatch):
    """Two places, then the whole: of modes with CUDA graphs, kernels alone count there, too."""
    asked: list[bool] = []

    def compared(sides: Any, operands: Any, *, kernels: bool) -> Any:
        for each in sides:
            backend._run(each, operands)
        asked.append(kernels)
        return (whole if len(asked) > 2 else alone), 100

    pytest.importorskip("torch._functorch.config")  # which TorchDynamo loads
    right = backend.functions.convolution  # of which both are made

    @functools.wraps(right)
    def scaled(*args: Any, **options: Any) -> Any:
        return factor * right(*args, **options)

    monkeypatch.setattr(backend.functions, "convolution", scaled)
    monkeypatch.setattr(backend, "_on_gpu", lambda operands: True)
    monkeypatch.setattr(backend, "_compared", compared)
    monkeypatch.setattr(backend, "_measured", {})
    told: list[Any] = []
    options = {"inner": lambda module, operands: module, "report": told.append}
    x, w, *numbers = block_operands()
    operands = [x.requires_grad_(), w.requires_grad_(), *numbers]
    compiled = backend.cudnn_ctypes(traced(block, *operands), operands, options=options, mode=mode)
    assert asked[2:] == [mode is not None] * (alone < 95 and factor < 1.2)
    assert [len(each) for each in (told[0].taken, told[0].left)] == ([2, 0] if taken else [0, 2])
    assert {each.reason for each in told[0].taken + told[0].left} == {reason}
    assert ("conv_batch_norm" in compiled.code) == taken


def test_other_types_masks_dropout_and_convolutions_are_left() -> None:
    def program(q: Any, mask: Any, x: Any, w: Any, numbers: Any) -> Any:
        attend, convolve = nn.functional.scaled_dot_product_attention, nn.functional.conv2d
        wide = q.float()
        joined = convolve(x, w, groups=2), convolve(x, w.repeat(1, 2, 1, 1), padding="same")
        added = torch.relu(convolve(x, w, groups=2) + numbers)
        attended = attend(wide, wide, wide), attend(q, q, q, mask), attend(q, q, q, dropout_p=0.5)
        odd = attend(*[q[..., :7]] * 3), convolve(x, w.repeat(1, 2, 1, 1))
        return attended, odd, *map(torch.relu, joined), added

    q, mask = torch.randn(1, 2, 16, 8).half(), torch.ones(16, 16, dtype=torch.bool)
    x, w = torch.randn(1, 8, 8, 8).half(), torch.randn(8, 4, 3, 3).half()
    regions = backend.replace(traced(program, q, mask, x, w, torch.ones(1, 8, 1, 1).half()))
    assert not regions.taken
    assert sorted(each.reason for each in regions.left) == [
        "PyTorch calls cuDNN for it",
        "a mask of booleans",
        "dropout",
        "float32: cuDNN's engines are for 16 bits",
        *["groups, or padding by its name"] * 3,
        "needs (b, h, s, d), and d a multiple of 8",
    ]


def test_all_that_can_be_taken() -> None:
    def program(x: Any, w: Any) -> Any:
        normal, functional = nn.functional.layer_norm(x, (32,), w), nn.functional
        gated = functional.silu(normal) * functional.rms_norm(x, (32,), w, 1e-5)
        group = functional.group_norm(gated, 2, eps=0.5)
        return functional.gelu(functional.linear(group, w[None]), approximate="tanh"), group * 2

    x, w = torch.randn(2, 8, 32).half(), torch.randn(32).half()
    module = traced(program, x, w)
    assert not backend.replace(module, ()).taken
    regions = backend.replace(module, tuple(backend._RULES))
    assert "gelu_tanh" in module.code
    taken = ["layer_norm", "rms_norm", "swiglu", "group_norm", "linear"]
    assert [each.operator for each in regions.taken] == taken
    for got, right in zip(module(x, w), program(x.double(), w.double()), strict=True):
        torch.testing.assert_close(got.double(), right, rtol=2e-2, atol=2e-2)


def test_unknown_names_and_options_are_refused() -> None:
    module = torch.fx.symbolic_trace(nn.ReLU())
    with pytest.raises(ValueError, match="take: softmax; there are attention, "):
        backend.replace(module, ("softmax",))
    with pytest.raises(
        ValueError, match="options: expected take, measure, inner and report, got taken"
    ):
        backend.cudnn_ctypes(module, [], options={"taken": ()})


def test_the_back_end_is_found_by_its_name() -> None:
    tomllib = pytest.importorskip("tomllib")  # of Python 3.11
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (entry,) = project["entry-points"]["torch_dynamo_backends"].values()
    module, _, name = entry.partition(":")
    assert (module, name) == (backend.__name__, backend.cudnn_ctypes.__name__)


@pytest.mark.soak
def test_autocast_and_sizes_that_change() -> None:
    layers = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))

    def program(x: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return layers(x)

    assert [each.operator for each in torch_ops.explain(program, torch.randn(8, 64)).taken] == [
        "linear"
    ]
    compiled = torch.compile(program, backend=backend.cudnn_ctypes, dynamic=True)
    for rows in (8, 12, 16):
        x = torch.randn(rows, 64)
        y = compiled(x)
        torch.testing.assert_close(y, program(x), rtol=2e-2, atol=2e-2)
    y.float().sum().backward()
    assert layers[0].weight.grad.dtype == torch.float32
