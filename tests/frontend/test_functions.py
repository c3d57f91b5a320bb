"""cuDNN's causal convolutions and functions on graphs, called as the front end's programs do.

The oracle is PyTorch on the host, in float64, with its gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from reference.gnn_graphs import attention_by_torch, random_graph

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import DeviceTensor, NotSupportedError, SymbolNotFoundError, use_reference_device

from .conftest import PLACES

torch = pytest.importorskip("torch")
functional = torch.nn.functional

FLOAT, INT32 = 0, 4  # C's numbers, which the front end takes
# Sums of up to 256 products of size 1 in float32, by Fourier transforms too.
TOLERANCE = 2e-4


@pytest.fixture(params=PLACES, autouse=True)
def device(request):
    with use_reference_device(request.param == "cpu"):
        yield


def normal(seed: int, *shape: int) -> Any:
    """A float64 tensor of numbers that float32 has."""
    numbers = np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)


class Memory:
    """Addresses of arrays on the device, which live as long as this."""

    def __init__(self) -> None:
        self.arrays: list[DeviceTensor] = []

    def __call__(self, array: Any, dtype: Any = np.float32) -> int:
        values = array.detach().numpy() if hasattr(array, "detach") else np.asarray(array)
        self.arrays.append(DeviceTensor.from_numpy(np.ascontiguousarray(values.astype(dtype))))
        return int(self.arrays[-1].ptr)

    def poisoned(self, like: Any, value: float = np.nan) -> int:
        return self(np.full(tuple(like.shape), value))

    def result(self, address: int) -> Any:
        return next(each for each in self.arrays if each.ptr == address).numpy()


def launched(function: Callable[..., None], *arguments: Any) -> None:
    try:
        function(*arguments)
    except (SymbolNotFoundError, NotSupportedError) as error:
        pytest.skip(f"not in this cuDNN, or not for this GPU: {error}")


def close(got: Any, expected: Any) -> None:
    wanted = expected.detach().numpy() if hasattr(expected, "detach") else expected
    np.testing.assert_allclose(got, wanted, rtol=TOLERANCE, atol=TOLERANCE)


def causal(x: Any, w: Any, bias: Any = None) -> Any:
    """Each channel's convolution with its own filter, without a look ahead."""
    padded = functional.pad(x, (w.shape[-1] - 1, 0))
    return functional.conv1d(padded, w[:, None], bias, groups=x.shape[1])


@pytest.mark.parametrize("silu", [0, 1])
@pytest.mark.parametrize("channels_last", [False, True])
def test_causal_conv1d(channels_last, silu):
    batch, dim, time, width = 2, 8, 16, 4
    x, w, bias = normal(1, batch, dim, time), normal(2, dim, width), normal(3, dim)
    dy = normal(4, batch, dim, time)
    y = causal(x, w, bias)
    y = functional.silu(y) if silu else y
    y.backward(dy)
    name = "causal_conv1d_nwh" if channels_last else "causal_conv1d"

    def laid(array):
        return array.detach().transpose(-2, -1) if channels_last else array

    at = Memory()
    given = at(laid(x)), at(laid(w)), at(bias)
    out, sizes = at.poisoned(laid(y)), (batch, dim, time, width)
    launched(getattr(cudnn, f"{name}_forward"), 0, *given, out, *sizes, FLOAT, silu)
    close(at.result(out), laid(y))
    # Gradients of parameters are added to what is there.
    dx, dw, db = at.poisoned(laid(x)), at.poisoned(laid(w), 1.0), at.poisoned(bias, 1.0)
    backward = getattr(cudnn, f"{name}_backward")
    backward(0, *given, at(laid(dy)), dx, dw, db, *sizes, FLOAT, cudnn.data_type.FLOAT, silu)
    close(at.result(dx), laid(x.grad))
    close(at.result(dw), laid(w.grad + 1))
    close(at.result(db), bias.grad + 1)


def test_long_fft_causal_conv1d():
    batch, dim, time = 1, 2, 4096
    x, dy = normal(1, batch, dim, time), normal(3, batch, dim, time)
    w = (normal(2, dim, time).detach() / 64).requires_grad_()
    y = causal(x, w.flip(-1))
    y.backward(dy / 64)
    sizes = (batch, dim, time, time)
    try:
        work, reserve = cudnn.long_fft_causal_conv1d_get_buffer_sizes(*sizes, FLOAT)
    except SymbolNotFoundError as error:
        pytest.skip(str(error))
    again = cudnn.long_fft_causal_conv1d_get_buffer_sizes(*sizes, cudnn.data_type.FLOAT)
    assert (work, reserve) == again
    at = Memory()
    out = at.poisoned(y)
    spaces = (at(np.zeros(work // 4 + 1)), work, at(np.zeros(reserve // 4 + 1)), reserve)
    launched(cudnn.long_fft_causal_conv1d_forward, 0, at(x), at(w), out, *sizes, FLOAT, *spaces)
    close(at.result(out), y)
    dx, dw = at.poisoned(x), at.poisoned(w)
    cudnn.long_fft_causal_conv1d_backward(0, at(dy / 64), dx, dw, *sizes, FLOAT, *spaces)
    close(at.result(dx), x.grad)
    close(at.result(dw), w.grad)


@dataclass
class Params:
    num_heads: int
    concat_heads: bool
    activation: str
    activation_alpha: float


class Edges:
    """A graph with its arrays on the device, as the first arguments of the functions."""

    def __init__(self, at: Memory) -> None:
        self.graph = random_graph(np.random.default_rng(1), empty=False)
        graph = self.graph
        arrays = (graph.offsets, graph.indices, graph.edge_rows)
        counts = (graph.source_count, graph.destination_count, graph.edge_count)
        self.arguments = (0, *(at(each, np.int32) for each in arrays), *counts, INT32)


@pytest.mark.parametrize("operation", ["SUM", "MEAN", "MAX", "MIN"])
def test_gnn_agg_simple(operation):
    at = Memory()
    edges = Edges(at)
    graph, op = edges.graph, cudnn.gnn_agg_op[operation]
    nodes, features = normal(1, 5, 3), normal(2, graph.edge_count, 2)
    passed, doutput = normal(3, 4, 2), normal(4, 4, 7)
    rows = []
    for v in range(graph.destination_count):
        part = slice(int(graph.offsets[v]), int(graph.offsets[v + 1]))
        sources, which = graph.indices[part].astype(int), graph.rows[part].astype(int)
        both = torch.cat([nodes[sources], features[which]], 1)
        how = {"SUM": both.sum, "MEAN": both.mean, "MAX": both.amax, "MIN": both.amin}[operation]
        rows.append(torch.cat([how(0), passed[v]]))
    output = torch.stack(rows)
    output.backward(doutput)
    given = at(nodes), at(features), at(passed)
    out, positions = at.poisoned(output), at(np.zeros((4, 5)), np.int32)
    positions = positions if operation in ("MAX", "MIN") else 0
    sizes = (3, 2, 2, FLOAT, op)
    launched(cudnn.gnn_agg_simple_forward, *edges.arguments, *given, out, positions, *sizes)
    close(at.result(out), output)
    results = at.poisoned(nodes, 0), at.poisoned(features, 0), at.poisoned(passed)
    cudnn.gnn_agg_simple_backward(
        *edges.arguments, at(doutput), positions, *results, 3, 2, 2, FLOAT, op.value
    )
    for address, each in zip(results, (nodes, features, passed), strict=True):
        close(at.result(address), each.grad)


@pytest.mark.parametrize("version", [1, 2])
def test_gnn_mha_gat(version):
    heads, size, at = 2, 6, Memory()
    edges = Edges(at)
    graph, params = edges.graph, Params(heads, True, "leaky_relu", 0.25)
    per_edge, count = (4, 2 * size + 4) if version == 1 else (size, size)
    source, destination = normal(1, 5, size), normal(2, 4, size)
    features, weights = normal(3, graph.edge_count, per_edge), normal(4, count)
    mask = np.random.default_rng(5).choice([0, 1.25], (heads, graph.edge_count))
    operands = (source, destination, features, weights)
    given = (*operands, params, torch.tensor(mask))
    output, _ = attention_by_torch(torch, graph, *given, version=version)
    doutput = normal(7, *output.shape)
    output.backward(doutput)
    given, dropped = [at(each) for each in operands], at(mask)
    scores = at(np.full((2, heads, graph.edge_count), np.nan))
    out, acts = at.poisoned(output), [at.poisoned(features)] if version == 2 else []
    dims = (size,) if version == 2 else (size, per_edge)
    leaky = cudnn.gnn_activation_op.LEAKY_RELU
    options = (*dims, leaky, 0.25, heads, True, FLOAT)
    name = "gnn_mha_gat" if version == 1 else "gnn_mha_gat_v2"
    forward, backward = getattr(cudnn, f"{name}_forward"), getattr(cudnn, f"{name}_backward")
    launched(forward, *edges.arguments, *given, dropped, out, scores, *acts, *options)
    close(at.result(out), output)
    results = [at.poisoned(each) for each in operands]
    dscores = at(np.full((2, heads, graph.edge_count), np.nan))
    saved = (scores, *acts, dropped)
    options = (*dims, leaky.value, 0.25, heads, True, cudnn.data_type.FLOAT)
    memory = (at(doutput), *given, *saved, 0, *results, dscores)
    backward(*edges.arguments, *memory, *options, 0, 0, 0, 0)
    for address, each in zip(results, operands, strict=True):
        close(at.result(address), each.grad)


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="missing a required argument"):
        cudnn.causal_conv1d_forward(0, 0)
    with pytest.raises(TypeError, match="too many positional"):
        cudnn.fft_causal_conv1d_forward(*range(12))
    with pytest.raises(TypeError, match="expected a data_type"):
        cudnn.long_fft_causal_conv1d_get_buffer_sizes(1, 1, 4096, 4096, cudnn.heur_mode.A)
