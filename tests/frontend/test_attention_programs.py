"""A program for NVIDIA's front end that modifies the scores of attention.

It runs on a GPU, and on the reference device with PyTorch's CPU tensors.
"""

from __future__ import annotations

from typing import Any

import pytest

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import use_reference_device

from .conftest import PLACES, close, execute, nothing, randn

torch = pytest.importorskip("torch")

HALF, FLOAT = cudnn.data_type.HALF, cudnn.data_type.FLOAT
QUERIES, KEYS, CAP, SCALE = (2, 4, 64, 64), (2, 4, 96, 64), 1.5, 0.125
# The softmax, the gradient of the scores and the results are rounded to float16, of which half a
# unit in the last place is 2 ** -12 to 2 ** -11 of a number; as much again for sums.
TOLERANCE = 8e-3


@pytest.fixture(params=PLACES)
def device(request):
    """As in conftest.py, but for an H200: an A100 has no engine for modified gradients."""
    with use_reference_device(request.param == "cpu"):
        yield request.param


class Capped:
    def forward(self, graph: Any, scores: Any) -> Any:
        self.small = graph.mul(scores, 1 / CAP)
        return graph.mul(graph.tanh(self.small), CAP)

    def backward(self, graph: Any, gradient: Any) -> Any:
        return graph.tanh_backward(gradient, self.small)


def test_gradients_of_capped_scores(device):
    shapes = QUERIES, KEYS, KEYS, QUERIES
    q, k, v, d_o = (
        randn(*shape, device=device, dtype=torch.float16, seed=seed)
        for seed, shape in enumerate(shapes)
    )
    wide = [each.cpu().double().requires_grad_() for each in (q, k, v)]
    scores = CAP * (SCALE / CAP * wide[0] @ wide[1].transpose(2, 3)).tanh()
    exact = scores.softmax(3) @ wide[2]
    exact.backward(d_o.cpu().double())
    o = exact.detach().to(device, torch.float16)
    stats = scores.logsumexp(3, keepdim=True).detach().to(device, torch.float32)

    graph, capped = (
        cudnn.pygraph(io_data_type=HALF, intermediate_data_type=FLOAT, compute_data_type=FLOAT),
        Capped(),
    )
    memory = {graph.tensor_like(each): each for each in (q, k, v, o, d_o, stats)}
    found = graph.sdpa_backward(
        *memory, attn_scale=SCALE, score_mod=capped.forward, score_mod_bprop=capped.backward
    )
    for gradient, operand in zip(found, (q, k, v), strict=True):
        gradient.set_output(True).set_data_type(HALF)
        memory[gradient] = nothing(operand)
    graph.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    execute(graph, memory, device)
    for gradient, operand in zip(found, wide, strict=True):
        close(memory[gradient], operand.grad, TOLERANCE)
