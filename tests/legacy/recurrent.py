"""Random recurrent networks, what they should give, and how far off a result may be."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import RNN, DeviceTensor, DropoutDescriptor, Handle, RNNDescriptor, RNNWeights
from cudnn_ctypes.reference.rnn import rnn_backward_data, rnn_backward_weights, rnn_forward
from cudnn_ctypes.reference.rnn_network import (
    RecurrentNetwork,
    RecurrentWeights,
    weight_count,
    weights_in,
)

Array = NDArray[Any]
LAYOUTS = ("seq_major_unpacked", "batch_major_unpacked", "seq_major_packed")
BIASES = ("no_bias", "single_inp_bias", "single_rec_bias", "double_bias")


@dataclass(frozen=True)
class Kind:
    """A data type, what is computed in, and how."""

    data_type: str
    compute_data_type: str
    math_type: str = "default_math"

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(ml_dtypes.bfloat16 if self.data_type == "bfloat16" else self.data_type)

    @property
    def roundoff(self) -> float:
        """Of what products are made of and states are stored in.

        In default math, float32 factors may be rounded to TF32.
        """
        if self.data_type == "float32" and self.math_type == "default_math":
            return 2.0**-11
        return {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11}.get(
            self.data_type, 2.0**-8
        )

    def __str__(self) -> str:
        if self.data_type == "float32":
            return "float32" if self.math_type == "fma_math" else "float32 (TF32)"
        same = self.data_type == self.compute_data_type
        return f"{self.data_type} throughout" if same and "16" in self.data_type else self.data_type


KINDS = (
    Kind("float64", "float64"),
    Kind("float32", "float32", "fma_math"),
    Kind("float32", "float32"),
    Kind("float16", "float32"),
    Kind("float16", "float16"),
    Kind("bfloat16", "float32"),
)


@dataclass(frozen=True)
class Problem:
    """A network, its sequences, and which operands are given."""

    kind: Kind
    network: RecurrentNetwork
    lengths: tuple[int, ...]
    steps: int
    layout: str
    initial_states: bool
    final_gradients: bool
    dropout_of_zero: bool
    algorithm: str
    seed: int

    @property
    def valid(self) -> NDArray[np.bool_]:
        """(T, B): whether a sequence has a step."""
        return np.arange(self.steps)[:, None] < np.array(self.lengths)


def random_problem(kind: Kind, seed: int, algorithm: str = "standard") -> Problem:
    """The problem number `seed` of a kind, one that an algorithm may well be able to do.

    The persistent algorithms have double biases, no projections and equal lengths only.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    standard = algorithm == "standard"
    cell = str(rng.choice(["relu", "tanh", "lstm", "gru"]))
    hidden = int(rng.integers(2, 17)) if standard else int(rng.choice([16, 32, 64]))
    skip = bool(rng.random() < 0.2)
    projected = cell == "lstm" and standard and rng.random() < 0.4
    network = RecurrentNetwork(
        cell,  # type: ignore[arg-type]
        hidden if skip else int(rng.integers(1, 13)),
        hidden,
        layers=int(rng.integers(1, 4)),
        bidirectional=bool(rng.random() < 0.4),
        bias=str(rng.choice(BIASES)) if standard else "double_bias",  # type: ignore[arg-type]
        projection_size=int(rng.integers(1, hidden)) if projected else None,
        skip_input=skip,
    )
    steps, batch = int(rng.integers(1, 8)), int(rng.integers(1, 7))
    layout = str(rng.choice(LAYOUTS))
    lengths = [steps] * batch
    if standard and rng.random() < 0.6:
        lengths = rng.integers(1, steps + 1, batch).tolist()
    if layout == "seq_major_packed":
        lengths = sorted(lengths, reverse=True)
        steps = lengths[0]
    return Problem(
        kind=kind,
        network=network,
        lengths=tuple(lengths),
        steps=steps,
        layout=layout,
        initial_states=bool(rng.random() < 0.7),
        final_gradients=bool(rng.random() < 0.7),
        dropout_of_zero=bool(rng.random() < 0.5),
        algorithm=algorithm,
        seed=seed,
    )


@dataclass(frozen=True)
class Operands:
    """Host arrays as they are stored; None for states that are not given."""

    weights: Array
    x: Array
    dy: Array
    hx: Array | None
    cx: Array | None
    dhy: Array | None
    dcy: Array | None


def random_operands(problem: Problem) -> Operands:
    rng = np.random.default_rng([problem.seed, 12345])
    network, batch = problem.network, len(problem.lengths)

    def values(*shape: int) -> Array:
        return rng.standard_normal(shape).astype(problem.kind.dtype)

    def states(wanted: bool, size: int) -> Array | None:
        return values(network.pseudo_layers, batch, size) if wanted else None

    lstm = network.cell == "lstm"
    bound = 1 / np.sqrt(network.hidden_size)  # as PyTorch does; states do not grow
    weights = rng.uniform(-bound, bound, weight_count(network)).astype(problem.kind.dtype)
    if network.cell == "relu":
        # Far from where it switches, and rounding would decide about gradients.
        for own in weights_in(network, weights):
            for bias in (own.bw, own.br):
                if bias is not None:
                    bias += rng.choice([-3, 3], bias.shape).astype(bias.dtype)
                    break
    return Operands(
        weights=weights,
        x=values(problem.steps, batch, network.input_size),
        dy=values(problem.steps, batch, network.y_size),
        hx=states(problem.initial_states, network.output_size),
        cx=states(problem.initial_states and lstm, network.hidden_size),
        dhy=states(problem.final_gradients, network.output_size),
        dcy=states(problem.final_gradients and lstm, network.hidden_size),
    )


def expected(problem: Problem, given: Operands, masks: Sequence[Array] | None = None) -> dict:
    """All results in float64 by name; y and dx as (T, B, size), zero in the padding."""
    network, lengths = problem.network, problem.lengths
    wide = Operands(
        **{n: None if a is None else a.astype(np.float64) for n, a in vars(given).items()}
    )
    weights = weights_in(network, wide.weights)
    forward = rnn_forward(network, weights, wide.x, lengths, wide.hx, wide.cx, masks=masks)
    saved = {"tape": forward.tape, "lengths": lengths, "hx": wide.hx}
    given = {"dy": wide.dy, "dhy": wide.dhy, "dcy": wide.dcy, "cx": wide.cx}
    data = rnn_backward_data(network, weights=weights, **given, **saved)
    gradients = rnn_backward_weights(network, x=wide.x, **saved)
    flat = np.zeros_like(wide.weights)
    for into, gradient in zip(weights_in(network, flat), gradients, strict=True):
        for name in ("w", "r", "p", "bw", "br"):
            if getattr(into, name) is not None:
                getattr(into, name)[...] = getattr(gradient, name)
    results = {"y": forward.y, "hy": forward.hy, "cy": forward.cy}
    results |= {"dx": data.dx, "dhx": data.dhx, "dcx": data.dcx, "dweights": flat}
    return {name: array for name, array in results.items() if array is not None}


# -- from the flat weights of the reference to named ones, and back ------------------------------


def named(network: RecurrentNetwork, weights: Sequence[RecurrentWeights]) -> list[dict[str, Array]]:
    """The weights under the names of `RNNWeights`."""
    result = []
    for own in weights:
        layer: dict[str, Array] = {}
        for name in ("w", "r", "bw", "br"):
            array = getattr(own, name)
            if array is not None:
                layer |= {f"{name}_{g}": array[i] for i, g in enumerate(network.gates)}
        if own.p is not None:
            layer["projection"] = own.p
        result.append(layer)
    return result


def flat_from_named(network: RecurrentNetwork, layers: Sequence[dict[str, Array]]) -> Array:
    flat = np.full(weight_count(network), np.nan)
    for into, given in zip(named(network, weights_in(network, flat)), layers, strict=True):
        for name, array in into.items():
            array[...] = given[name].astype(np.float64)
    return flat


# -- through layer 2 -----------------------------------------------------------------------------


def rnn_descriptor(problem: Problem, dropout: DropoutDescriptor | None = None) -> RNNDescriptor:
    network, kind = problem.network, problem.kind
    return RNNDescriptor(
        network.cell,
        input_size=network.input_size,
        hidden_size=network.hidden_size,
        projection_size=network.projection_size,
        layers=network.layers,
        bidirectional=network.bidirectional,
        bias=network.bias,
        input_mode="skip_input" if network.skip_input else "linear_input",
        data_type=kind.data_type,
        compute_data_type=kind.compute_data_type,
        math_type=kind.math_type,
        algorithm=problem.algorithm,
        dropout=dropout,
        clip=None if network.clip is None else tuple(network.clip[:2]),
    )


class Run(ExitStack):
    """The operands of a problem on a device, through layer 2."""

    def __init__(
        self,
        handle: Handle,
        problem: Problem,
        given: Operands,
        *,
        dropout: DropoutDescriptor | None = None,
        padding_fill: float | None = None,
    ) -> None:
        super().__init__()
        self.handle, self.problem, self.given = handle, problem, given
        if dropout is None and problem.dropout_of_zero:
            dropout = self.enter_context(DropoutDescriptor(handle, 0.0))
        self.rnn = self.enter_context(rnn_descriptor(problem, dropout))
        if problem.algorithm == "persist_dynamic":
            self.rnn.build_dynamic(handle, len(problem.lengths))
        self.weights = self.enter_context(RNNWeights(handle, self.rnn))
        self.weights.copy_from(named(problem.network, weights_in(problem.network, given.weights)))
        self.x, self.dy = self.put(self.in_layout(given.x)), self.put(self.in_layout(given.dy))
        self.states = {
            name: None if array is None else self.put(array)
            for name, array in vars(given).items()
            if name in ("hx", "cx", "dhy", "dcy")
        }
        self.network = self.enter_context(
            RNN.of(
                self.rnn,
                self.x,
                lengths=problem.lengths,
                layout=problem.layout,
                padding_fill=padding_fill,
            )
        )

    def put(self, array: Array) -> DeviceTensor:
        return self.enter_context(DeviceTensor.from_numpy(array, stream=self.handle.stream))

    def poisoned(self, shape: tuple[int, ...]) -> DeviceTensor:
        return self.put(np.full(shape, np.nan).astype(self.problem.kind.dtype))

    def in_layout(self, values: Array) -> Array:
        """(T, B, size) as it lies in memory; NaN in the padding, which must not be read."""
        valid = self.problem.valid
        if self.problem.layout == "seq_major_packed":
            return values[valid]
        values = np.where(valid[..., None], values, np.array(np.nan, values.dtype))
        return values.swapaxes(0, 1).copy() if "batch" in self.problem.layout else values

    def from_layout(self, values: Array) -> Array:
        """What lies in memory as (T, B, size) in float64."""
        values = values.astype(np.float64)
        if self.problem.layout == "seq_major_packed":
            result = np.zeros((*self.problem.valid.shape, values.shape[-1]))
            result[self.problem.valid] = values
            return result
        return values.swapaxes(0, 1) if "batch" in self.problem.layout else values

    def host(self, tensor: DeviceTensor) -> Array:
        return tensor.numpy(stream=self.handle.stream).astype(np.float64)

    def training_step(self) -> dict[str, Array]:
        """All results by name, y and dx as (T, B, size) with whatever is in the padding."""
        handle, network, states = self.handle, self.network, self.states
        initial = {"hx": states["hx"], "cx": states["cx"]}
        h_shape, c_shape = network.h_desc.shape, network.c_desc.shape
        lstm = self.problem.network.cell == "lstm"
        results = {
            "y": self.poisoned(network.y_desc.shape),
            "hy": self.poisoned(h_shape),
            "cy": self.poisoned(c_shape) if lstm else None,
        }
        *_, reserve_space = network.forward(handle, self.x, self.weights, **initial, **results)
        y = results["y"]
        gradients = {
            "dx": self.poisoned(network.x_desc.shape),
            "dhx": self.poisoned(h_shape),
            "dcx": self.poisoned(c_shape) if lstm else None,
        }
        network.backward_data(
            handle,
            y=y,
            dy=self.dy,
            weights=self.weights,
            reserve_space=reserve_space,
            **initial,
            dhy=states["dhy"],
            dcy=states["dcy"],
            **gradients,
        )
        dweights = network.backward_weights(
            handle, x=self.x, y=y, reserve_space=reserve_space, hx=states["hx"]
        )
        with dweights:
            flat = flat_from_named(self.problem.network, dweights.numpy())
        got = {n: self.host(t) for n, t in (results | gradients).items() if t is not None}
        got |= {name: self.from_layout(got[name]) for name in ("y", "dx")}
        return {**got, "dweights": flat}


@functools.cache
def example(cell: str = "lstm", **options: Any) -> Problem:
    """A small problem with lengths that differ, in float64."""
    network = RecurrentNetwork(cell, 3, 4, **options)  # type: ignore[arg-type]
    problem = random_problem(KINDS[0], 0)
    return replace(
        problem,
        network=network,
        lengths=(5, 4, 4, 1),
        steps=5,
        layout="seq_major_unpacked",
        initial_states=True,
        final_gradients=True,
        dropout_of_zero=False,
    )
