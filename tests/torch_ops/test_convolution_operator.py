"""A convolution with bias, residual and ReLU as an operator of PyTorch, against PyTorch's own."""

from __future__ import annotations

import gc
import os
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import ROOT, run_program
from torch_operators import BACKENDS, GPU, PLACES, conv_bias_relu, expected_convolution, sdpa

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.graph.tracing import TracedGraph

torch: Any = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

pytestmark = pytest.mark.usefixtures("without_engines")


def images(place: str, *, batch: int = 2, seed: int = 0, dtype: Any = None) -> list[Any]:
    """x, w, b and a residual, channels last; in float16 on a GPU, where float32 would be TF32."""
    torch.manual_seed(seed)
    dtype = dtype or (torch.float16 if place == "cuda" else torch.float32)
    shapes = [(batch, 16, 6, 5), (16, 16, 3, 3), (1, 16, 1, 1), (batch, 16, 6, 5)]
    made = [torch.randn(shape, device=place, dtype=dtype) for shape in shapes]
    made[1] /= 12
    last = [each.contiguous(memory_format=torch.channels_last) for each in made]
    return [each.requires_grad_() for each in last]


def close(got: Any, expected: Any) -> None:
    """Sums of up to 288 products in float32, rounded at the end; dz is, between two graphs."""
    tolerance = {torch.bfloat16: 4e-2, torch.float16: 5e-3, torch.float32: 1e-4}[got.dtype]
    torch.testing.assert_close(got.double(), expected.double(), rtol=tolerance, atol=tolerance)


def compare(function: Callable[..., Any], place: str, operands: list[Any]) -> None:
    """Numbers and gradients of the operator, within `function`, against those in float64."""
    exact = [each.detach().double().requires_grad_() for each in operands]
    expected = expected_convolution(*exact)
    result = function(*operands)
    close(result, expected)
    torch.manual_seed(9)
    dy = torch.randn(result.shape, device=place).to(result.dtype)
    gradients = torch.autograd.grad(result, operands, dy)
    for each, wanted in zip(
        gradients, torch.autograd.grad(expected, exact, dy.double()), strict=True
    ):
        assert each.dtype == result.dtype
        close(each, wanted)


def of_operator(*operands: Any) -> Any:
    return conv_bias_relu()(*operands)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("dtype", [None, torch.float16, torch.bfloat16], ids=str)
def test_numbers_and_gradients_are_pytorch_s(place: str, residual: bool, dtype: Any) -> None:
    operands = images(place, dtype=dtype)[: 4 if residual else 3]
    compare(of_operator, place, operands)


@pytest.mark.soak
@pytest.mark.parametrize("place", PLACES)
def test_compiled_numbers_and_gradients_are_pytorch_s(place: str) -> None:
    operator = conv_bias_relu()

    def block(x: Any, w: Any, b: Any, residual: Any) -> Any:
        return operator(x * 1.0, w, b, residual) + 0.0

    compiled = torch.compile(block, fullgraph=True, backend=BACKENDS[place])
    compare(compiled, place, images(place))


@pytest.mark.soak
@pytest.mark.parametrize("place", PLACES)
def test_compiled_for_many_batch_sizes(place: str) -> None:
    """Where PyTorch makes sizes symbols, they become numbers again."""
    operator = conv_bias_relu()
    compiled = torch.compile(
        lambda *operands: operator(*operands), fullgraph=True, backend=BACKENDS[place]
    )
    for batch in (1, 2, 3, 4):
        compare(compiled, place, images(place, batch=batch))


class Recorded(TorchDispatchMode):
    """The names of the operators that run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func).removesuffix(".default"))
        return func(*args, **(kwargs or {}))

    @property
    def own(self) -> list[str]:
        home = "cudnn_ctypes_tests."
        return [name.removeprefix(home) for name in self.names if name.startswith(home)]


def test_only_the_graphs_that_are_needed_run() -> None:
    x, w, b, residual = images("cpu")
    for needed, graphs in (
        ([x], ["dz", "dx"]),
        ([w], ["dz", "dw"]),
        ([x, residual], ["dz", "dx"]),
        ([x, w, b, residual], ["dz", "dx", "dw", "db"]),
    ):
        ids = set(map(id, needed))
        given = [each if id(each) in ids else each.detach() for each in (x, w, b, residual)]
        y = conv_bias_relu()(*given)
        with Recorded() as recorded:
            y.backward(torch.ones_like(y))
        assert recorded.own == [f"conv_bias_relu_{each}" for each in graphs]


def test_tensors_that_were_expanded_are_copied() -> None:
    """The gradient of a sum is one number, expanded; so may be an argument."""
    operands = images("cpu")
    exact = [each.detach().double().requires_grad_() for each in operands]
    conv_bias_relu()(*operands).sum().backward()
    expected_convolution(*exact).sum().backward()
    for each, wanted in zip(operands, exact, strict=True):
        close(each.grad, wanted.grad)
    x, w, _, residual = operands
    b = torch.full((1, 1, 1, 1), 0.5).expand(1, 16, 1, 1)
    close(conv_bias_relu()(x, w, b, residual), expected_convolution(x, w, b, residual))
    meta = [each.detach().to("meta") for each in (x, w, b, residual)]
    assert conv_bias_relu()(*meta).stride() == conv_bias_relu()(x, w, b, residual).stride()


def test_results_without_memory_are_those_with_memory() -> None:
    """Shapes, strides and types on "meta", where nothing is built."""
    for layout in (torch.channels_last, torch.contiguous_format):
        x, w, b, _ = (each.detach().contiguous(memory_format=layout) for each in images("cpu"))
        y = conv_bias_relu()(x.to("meta"), w.to("meta"), b.to("meta"), padding=0)
        assert (y.device.type, y.dtype, y.shape) == ("meta", x.dtype, (2, 16, 4, 3))
        assert y.is_contiguous(memory_format=layout)
    q = torch.empty(1, 2, 64, 32, dtype=torch.bfloat16, device="meta")
    o, stats = sdpa(q, q, q, causal=True)
    assert (o.dtype, o.shape) == (torch.bfloat16, q.shape)
    assert (stats.dtype, stats.shape) == (torch.float32, (1, 2, 64, 1))


# --- streams and memory, on a GPU ----------------------------------------------------------------


@GPU
@pytest.mark.usefixtures("gpu_device")
def test_forward_and_backward_in_a_stream_of_their_own() -> None:
    """The operands come late; autograd computes gradients in the stream of the forward pass."""
    operands = images("cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        late = [torch.zeros_like(each).copy_(each.detach()).requires_grad_() for each in operands]
        compare(of_operator, "cuda", late)
    stream.synchronize()


# No GPU is current yet in the thread that computes gradients.
FIRST_GRADIENT = """
    import torch
    from test_convolution_operator import close, expected_convolution, images, of_operator

    operands = images("cuda")
    dy = torch.ones(2, 16, 6, 5, device="cuda", dtype=torch.float16)
    dy = dy.contiguous(memory_format=torch.channels_last)
    gradients = torch.autograd.grad(of_operator(*operands), operands, dy)
    exact = [each.detach().double().requires_grad_() for each in operands]
    expected = torch.autograd.grad(expected_convolution(*exact), exact, dy.double())
    for each, wanted in zip(gradients, expected, strict=True):
        close(each, wanted)
"""


@GPU
def test_a_gradient_is_the_first_work_of_its_thread() -> None:
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (here, here.parent, ROOT)))
    run_program(FIRST_GRADIENT, environment={"PYTHONPATH": path})


@GPU
@pytest.mark.usefixtures("gpu_device")
def test_compiled_with_cuda_graphs() -> None:
    operator = conv_bias_relu()
    compiled = torch.compile(
        lambda *operands: operator(*operands), fullgraph=True, mode="reduce-overhead"
    )
    for seed in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        compare(compiled, "cuda", images("cuda", seed=seed))


@GPU
@pytest.mark.usefixtures("gpu_device")
def test_later_calls_look_up_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward and backward, also of attention, whose gradient has tensors in its workspace."""
    compare(of_operator, "cuda", images("cuda"))
    heads = [torch.randn(2, 4, 128, 32, device="cuda").half().requires_grad_() for _ in range(3)]
    o, _ = sdpa(*heads)
    dy = torch.randn_like(o)
    first = (o, *torch.autograd.grad(o, heads, dy))
    monkeypatch.setattr(TracedGraph, "run", None)  # the long way
    for seed in (1, 2):
        compare(of_operator, "cuda", images("cuda", seed=seed))
        o, _ = sdpa(*heads)
        for again, before in zip((o, *torch.autograd.grad(o, heads, dy)), first, strict=True):
            torch.testing.assert_close(again, before, rtol=2e-3, atol=2e-3)


@GPU
@pytest.mark.usefixtures("gpu_device")
def test_no_memory_is_kept_between_calls() -> None:
    """Workspaces and results come from PyTorch's allocator, and go back to it."""
    operands = images("cuda")
    for _ in range(2):
        torch.autograd.grad(conv_bias_relu()(*operands).sum(), operands)
    gc.collect()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        torch.autograd.grad(conv_bias_relu()(*operands).sum(), operands)
    torch.cuda.synchronize()
    until = time.monotonic() + 5  # PyTorch's thread of gradients drops its references when it may
    while torch.cuda.memory_allocated() != before and time.monotonic() < until:
        time.sleep(0.01)
    assert torch.cuda.memory_allocated() == before


@GPU
@pytest.mark.usefixtures("gpu_device")
def test_on_the_second_of_two_gpus() -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    with torch.cuda.device(0):
        operands = [each.detach().to("cuda:1").requires_grad_() for each in images("cuda")]
        y = conv_bias_relu()(*operands)
        assert y.device.index == 1
        y.sum().backward()
        assert torch.cuda.current_device() == 0
    exact = [each.detach().double().requires_grad_() for each in operands]
    expected_convolution(*exact).sum().backward()
    for each, wanted in zip(operands, exact, strict=True):
        close(each.grad, wanted.grad)


def test_what_the_gradient_does_not_read_is_not_kept() -> None:
    x, w, b, residual = images("cpu")
    plain = residual.detach() * 1
    y = conv_bias_relu()(x, w, b, plain)
    kept = weakref.ref(plain)
    del plain
    gc.collect()
    assert kept() is None
    del y


def test_host_memory_is_refused_on_a_gpu() -> None:
    with use_reference_device(active=False), pytest.raises((TypeError, RuntimeError)):
        conv_bias_relu()(*images("cpu"))
