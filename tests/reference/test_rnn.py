"""Recurrent networks against PyTorch and, with clips and dropout, finite differences."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.reference.rnn import rnn_forward
from cudnn_ctypes.reference.rnn_cells import Clip
from cudnn_ctypes.reference.rnn_network import (
    RecurrentNetwork,
    RecurrentWeights,
    weight_count,
    weight_slots,
    weights_in,
)
from tests.legacy.recurrent import Operands, Problem, example, expected, random_operands

CELLS = ("relu", "tanh", "lstm", "gru")


def problem_of(network: RecurrentNetwork, seed: int, lengths: Any = (3, 0, 5, 2)) -> Any:
    """The operands of sequences whose lengths differ: one has none, and one is the longest."""
    problem = replace(example(), network=network, lengths=lengths, seed=seed)
    return problem, random_operands(problem)


def loss(problem: Problem, given: Operands, masks=None) -> float:
    """A scalar whose gradients by y, hy and cy are dy (outside the padding), dhy and dcy."""
    network = problem.network
    operands = given.x, problem.lengths, given.hx, given.cx
    forward = rnn_forward(network, weights_in(network, given.weights), *operands, masks=masks)
    total = np.sum(forward.y * given.dy) + np.sum(forward.hy * given.dhy)
    if forward.cy is not None:
        total += np.sum(forward.cy * given.dcy)
    return float(total)


# -- PyTorch -----------------------------------------------------------------------------------


def torch_module(torch, network: RecurrentNetwork, weights: list[RecurrentWeights]):
    """The module with our weights: it has both biases or none, gates in the same order."""
    options = {
        "input_size": network.input_size,
        "hidden_size": network.hidden_size,
        "num_layers": network.layers,
        "bidirectional": network.bidirectional,
        "bias": network.bias != "no_bias",
        "dtype": torch.float64,
    }
    if network.cell == "lstm":
        module = torch.nn.LSTM(proj_size=network.projection_size or 0, **options)
    elif network.cell == "gru":
        module = torch.nn.GRU(**options)
    else:
        module = torch.nn.RNN(nonlinearity=network.cell, **options)
    for number, own in enumerate(weights):
        for name, array in torch_arrays(network, number, own).items():
            getattr(module, name).data = torch.tensor(array)
    return module


def torch_arrays(
    network: RecurrentNetwork, number: int, own: RecurrentWeights
) -> dict[str, np.ndarray]:
    """Our arrays under PyTorch's names; a bias that the network lacks is zero."""
    layer, direction = divmod(number, network.directions)
    suffix = f"l{layer}" + "_reverse" * direction
    gates, hidden = len(network.gates), network.hidden_size
    arrays = {
        f"weight_ih_{suffix}": own.w.reshape(gates * hidden, -1),
        f"weight_hh_{suffix}": own.r.reshape(gates * hidden, -1),
    }
    if own.p is not None:
        arrays[f"weight_hr_{suffix}"] = own.p
    if network.bias != "no_bias":
        zero = np.zeros((gates, hidden))
        arrays[f"bias_ih_{suffix}"] = (zero if own.bw is None else own.bw).reshape(-1)
        arrays[f"bias_hh_{suffix}"] = (zero if own.br is None else own.br).reshape(-1)
    return arrays


def torch_networks() -> list[RecurrentNetwork]:
    """All combinations that PyTorch has too."""
    result = []
    for cell, bias, bidirectional, layers in itertools.product(
        CELLS,
        ("no_bias", "double_bias", "single_inp_bias", "single_rec_bias"),
        (False, True),
        (1, 3),
    ):
        network = RecurrentNetwork(cell, 3, 4, layers, bidirectional, bias)
        result.append(network)
        if cell == "lstm":
            result.append(replace(network, projection_size=2))
    return result


@pytest.mark.thinned(4)
@pytest.mark.parametrize("network", torch_networks(), ids=str)
def test_against_pytorch(torch, network: RecurrentNetwork):
    # Packed sequences are not empty there.
    problem, given = problem_of(network, 1, lengths=(3, 1, 5, 2))
    found = expected(problem, given)
    module = torch_module(torch, network, weights_in(network, given.weights))
    states = ("hx", "cx") if network.cell == "lstm" else ("hx",)
    tensors = {n: torch.tensor(getattr(given, n), requires_grad=True) for n in ("x", *states)}
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        tensors["x"], torch.tensor(problem.lengths), enforce_sorted=False
    )
    initial = (tensors["hx"], tensors["cx"]) if network.cell == "lstm" else tensors["hx"]
    output, final = module(packed, initial)
    ty, _ = torch.nn.utils.rnn.pad_packed_sequence(output, total_length=problem.steps)
    finals = final if network.cell == "lstm" else (final,)
    seeds = [torch.tensor(each) for each in (given.dy, given.dhy, given.dcy) if each is not None]
    torch.autograd.backward([ty, *finals], seeds)

    close = {"rtol": 1e-10, "atol": 1e-12}  # float64 on both sides
    for name, result in zip(("y", "hy", "cy"), (ty, *finals), strict=False):
        np.testing.assert_allclose(found[name], result.detach().numpy(), **close)
    for name, tensor in tensors.items():
        np.testing.assert_allclose(found[f"d{name}"], tensor.grad.numpy(), **close)
    for number, own in enumerate(weights_in(network, found["dweights"])):
        for name, array in torch_arrays(network, number, own).items():
            if name.startswith("bias_ih") and own.bw is None:
                continue
            if name.startswith("bias_hh") and own.br is None:
                continue
            np.testing.assert_allclose(array, getattr(module, name).grad.numpy(), **close)


# -- finite differences ------------------------------------------------------------------------


def networks_for_differences() -> list[RecurrentNetwork]:
    rest = [
        RecurrentNetwork("lstm", 3, 4, 2, True, clip=Clip(-0.4, 0.3)),
        RecurrentNetwork("lstm", 3, 4, 2, projection_size=3, clip=Clip(-0.5, 0.5)),
        RecurrentNetwork(
            "lstm", 4, 4, 2, True, "single_inp_bias", projection_size=2, skip_input=True
        ),
    ]
    for cell in CELLS:
        rest.append(RecurrentNetwork(cell, 4, 4, 2, True, "double_bias", skip_input=True))
        rest.append(RecurrentNetwork(cell, 4, 4, 1, False, "no_bias", skip_input=True))
        rest.append(RecurrentNetwork(cell, 2, 3, 2, False, "single_rec_bias"))
    return rest


@pytest.mark.thinned(10)
@pytest.mark.parametrize("network", networks_for_differences(), ids=str)
@pytest.mark.parametrize("dropout", [False, True])
def test_gradients_against_finite_differences(network: RecurrentNetwork, dropout: bool):
    problem, given = problem_of(network, 2)
    rng = np.random.default_rng(3)
    masks = None
    if dropout:
        shape = (network.layers - 1, *given.dy.shape)
        masks = list(2.0 * (rng.random(shape) < 0.5))
    found = expected(problem, given, masks)
    pairs = [(getattr(given, n), found[f"d{n}"]) for n in ("x", "hx", "cx") if f"d{n}" in found]
    of_weights = (weights_in(network, flat) for flat in (given.weights, found["dweights"]))
    for own, gradient in zip(*of_weights, strict=True):
        for name in ("w", "r", "p", "bw", "br"):
            if getattr(own, name) is not None:
                pairs.append((getattr(own, name), getattr(gradient, name)))
    for operand, gradient in pairs:
        assert gradient.shape == operand.shape
        for _ in range(6):
            place = tuple(int(rng.integers(n)) for n in operand.shape)
            kept, h = operand[place], 1e-6
            operand[place] = kept + h
            above = loss(problem, given, masks)
            operand[place] = kept - h
            below = loss(problem, given, masks)
            operand[place] = kept
            # Rounding error of the difference: 1e-16 * loss / 1e-6; truncation: 1e-12.
            np.testing.assert_allclose((above - below) / (2 * h), gradient[place], atol=3e-8)


# -- meaning -----------------------------------------------------------------------------------


def test_padding_is_not_read_and_not_written_to_gradients():
    for cell in CELLS:
        problem, given = problem_of(RecurrentNetwork(cell, 3, 4, 2, True), 5)
        wanted = expected(problem, given)
        given.x[~problem.valid] = np.nan
        given.dy[~problem.valid] = np.nan
        found = expected(problem, given)
        for name in ("y", "dx"):
            assert not found[name][~problem.valid].any()
        for name in ("y", "dx", "dweights"):
            np.testing.assert_array_equal(found[name], wanted[name])


def test_cell_states_are_clipped_where_they_are_read():
    clipped = RecurrentNetwork("lstm", 3, 4, clip=Clip(-0.05, 0.02))
    plain = replace(clipped, clip=None)
    _, given = problem_of(clipped, 8)
    weights, hx, cx = weights_in(clipped, given.weights), given.hx, 10 * given.cx
    for t in range(len(given.x)):  # step by step, the limits put in by hand
        x = given.x[t : t + 1]
        step = rnn_forward(clipped, weights, x, hx=hx, cx=cx)
        expected = rnn_forward(plain, weights, x, hx=hx, cx=np.clip(cx, -0.05, 0.02))
        np.testing.assert_array_equal(step.cy, expected.cy)
        assert np.abs(step.cy).max() > 0.05, "what is handed on is not clipped"
        output_gate = expected.tape.layers[0].gates[0, :, 3]
        np.testing.assert_allclose(
            step.y[0], output_gate * np.tanh(np.clip(expected.cy[0], -0.05, 0.02)), rtol=1e-14
        )
        hx, cx = step.hy, step.cy


# -- the weight space and the tape ---------------------------------------------------------------


def test_slots_cover_the_weight_space_without_gaps_in_the_order_of_the_linear_layers():
    network = RecurrentNetwork("lstm", 3, 4, 2, True, projection_size=2)
    slots = list(weight_slots(network))
    position = 0
    for slot in slots:
        assert slot.offset == position
        position += int(np.prod(slot.shape))
    assert position == weight_count(network)
    first = [(slot.name, slot.gate) for slot in slots if slot.pseudo_layer == 0]
    assert first == [
        *(("w", gate) for gate in range(4)),
        *(("r", gate) for gate in range(4)),
        ("p", None),
        *(("bw", gate) for gate in range(4)),
        *(("br", gate) for gate in range(4)),
    ]
