"""Programs for NVIDIA's front end that modify the scores of attention, or ask for their parts.

They run on a GPU, and on the reference device with PyTorch's CPU tensors.
"""

from __future__ import annotations

from typing import Any

import pytest

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import use_reference_device

from .conftest import PLACES, close, execute, randn

torch = pytest.importorskip("torch")

HALF, FLOAT = cudnn.data_type.HALF, cudnn.data_type.FLOAT
QUERIES, KEYS, CAP, SCALE = (2, 4, 64, 64), (2, 4, 96, 64), 1.5, 0.125
# The softmax and the results are rounded to float16, of which half a unit in the last place is
# 2 ** -12 to 2 ** -11 of a number; as much again for sums.
FLOAT16 = 4e-3


@pytest.fixture(params=PLACES)
def device(request):
    with use_reference_device(request.param == "cpu"):
        yield request.param


class Program:
    """Memory for attention, and its operands in a graph."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.graph = cudnn.pygraph(
            io_data_type=HALF,
            intermediate_data_type=FLOAT,
            compute_data_type=FLOAT,
        )
        self.memory: dict[Any, Any] = {}
        self.outputs: list[Any] = []
        self.q = self.read(randn(*QUERIES, device=device, dtype=torch.float16))
        self.k = self.read(randn(*KEYS, device=device, dtype=torch.float16, seed=1))
        self.v = self.read(randn(*KEYS, device=device, dtype=torch.float16, seed=2))

    def read(self, array: Any) -> Any:
        tensor = self.graph.tensor_like(array)
        self.memory[tensor] = array
        return tensor

    def exact(self, tensor: Any) -> Any:
        return self.memory[tensor].cpu().double()

    def scores(self) -> Any:
        return SCALE * self.exact(self.q) @ self.exact(self.k).transpose(2, 3)

    def write(self, tensor: Any, data_type: Any) -> None:
        tensor.set_output(True).set_data_type(data_type)
        self.outputs.append(tensor)

    def run(self) -> None:
        self.graph.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        for tensor in self.outputs:
            dtype = torch.float32 if tensor.get_data_type() == FLOAT else torch.float16
            nothing = torch.full(tensor.get_dim(), float("nan"), dtype=dtype)
            self.memory[tensor] = nothing.to(self.device)
        execute(self.graph, self.memory, self.device)

    def check(self, tensor: Any, expected: Any, tolerance: float) -> None:
        close(self.exact(tensor), expected, tolerance)


@pytest.fixture
def program(device):
    return Program(device)


def test_capped_scores(program):
    graph = program.graph
    cap = graph.tensor(
        name="cap", dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=FLOAT, is_pass_by_value=True
    )
    program.memory[cap] = torch.full((1, 1, 1, 1), CAP)
    called = []

    def capped(sdpa_graph, scores):
        called.append(sdpa_graph)
        return sdpa_graph.mul(a=sdpa_graph.tanh(input=sdpa_graph.div(a=scores, b=cap)), b=cap)

    o, stats = graph.sdpa(
        name="sdpa",
        q=program.q,
        k=program.k,
        v=program.v,
        generate_stats=True,
        attn_scale=SCALE,
        score_mod=capped,
    )
    program.write(o, HALF)
    program.write(stats, FLOAT)
    program.run()
    assert called == [graph]
    scores = CAP * (program.scores() / CAP).tanh()
    program.check(o, scores.softmax(3) @ program.exact(program.v), FLOAT16)
    program.check(stats, scores.logsumexp(3, keepdim=True), 1e-5)


def test_a_mask_by_a_function(program):
    graph = program.graph
    never = graph.tensor(
        name="never", dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=FLOAT, is_pass_by_value=True
    )
    program.memory[never] = torch.full((1, 1, 1, 1), float("-inf"))

    def causal(sdpa_graph, scores):
        row = sdpa_graph.gen_index(input=scores, axis=2)
        row.set_data_type(cudnn.data_type.INT32)
        column = sdpa_graph.gen_index(input=scores, axis=3)
        column.set_data_type(cudnn.data_type.INT32)
        mask = sdpa_graph.cmp_ge(input=row, comparison=column)
        mask.set_data_type(cudnn.data_type.BOOLEAN)
        return sdpa_graph.binary_select(input0=scores, input1=never, mask=mask)

    o, _ = graph.sdpa(
        program.q, program.k, program.v, is_inference=True, attn_scale=SCALE, score_mod=causal
    )
    program.write(o, HALF)
    program.run()
    scores = program.scores()
    later = torch.ones(scores.shape[2:], dtype=torch.bool).triu(1)
    scores = scores.masked_fill(later, float("-inf"))
    program.check(o, scores.softmax(3) @ program.exact(program.v), FLOAT16)


def test_largest_scores_and_sums(program):
    graph, device = program.graph, program.device
    parts = []
    for _ in range(2):
        nothing = torch.full((*QUERIES[:3], 1), float("nan"), device=device)
        parts.append(program.read(nothing).set_output(True))
    o, stats = graph.sdpa(
        program.q,
        program.k,
        program.v,
        generate_stats=False,
        attn_scale=SCALE,
        score_max=parts[0],
        score_sum_exp=parts[1],
    )
    assert stats is None
    program.write(o, HALF)
    program.run()
    scores = program.scores()
    largest = scores.max(3, keepdim=True).values
    program.check(parts[0], largest, 1e-5)
    program.check(parts[1], (scores - largest).exp().sum(3, keepdim=True), 1e-5)
    program.check(o, scores.softmax(3) @ program.exact(program.v), FLOAT16)


def test_gradients_of_capped_scores(program):
    graph = program.graph
    q, k, v = program.q, program.k, program.v
    operands = [program.exact(each).requires_grad_() for each in (q, k, v)]
    scores = CAP * (SCALE / CAP * operands[0] @ operands[1].transpose(2, 3)).tanh()
    exact = scores.softmax(3) @ operands[2]
    d_o = randn(*QUERIES, device=program.device, dtype=torch.float16, seed=3)
    exact.backward(d_o.cpu().double())
    o = program.read(exact.detach().to(program.device, torch.float16))
    sums = scores.logsumexp(3, keepdim=True).detach()
    stats = program.read(sums.to(program.device, torch.float32))

    class Capped:
        def forward(self, sdpa_graph, scores):
            self.small = sdpa_graph.mul(scores, 1 / CAP)
            return sdpa_graph.mul(sdpa_graph.tanh(self.small), CAP)

        def backward(self, sdpa_graph, gradient):
            return sdpa_graph.tanh_backward(gradient, self.small)

    capped = Capped()
    found = graph.sdpa_backward(
        *(q, k, v, o, program.read(d_o), stats),
        attn_scale=SCALE,
        score_mod=capped.forward,
        score_mod_bprop=capped.backward,
    )
    for gradient in found:
        program.write(gradient, HALF)
    program.run()
    for gradient, operand in zip(found, operands, strict=True):
        program.check(gradient, operand.grad, 2 * FLOAT16)
