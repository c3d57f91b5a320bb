"""The shape of a recurrent network, its weights, and the data kept for its backward passes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import DTypeLike

from .rnn_cells import GATES, Cell, Clip
from .tiles import Array

Bias = Literal["no_bias", "single_inp_bias", "single_rec_bias", "double_bias"]


@dataclass(frozen=True)
class RecurrentNetwork:
    """A stack of recurrent layers, with the values of an RNN descriptor.

    With two directions each layer consists of two pseudo-layers: one reads its input from the
    first time step to the last, the other from the last to the first, and their outputs are
    concatenated. Pseudo-layers are numbered 0, 1 (layer 0 forwards, backwards), 2, 3 (layer 1)...

    Parameters
    ----------
    cell
        "relu", "tanh", "lstm" or "gru".
    input_size, hidden_size
        Elements of x_t and of the cells' states.
    layers
        Number of layers. Layer 0 reads x, each other layer the output of the previous one.
    bidirectional
        Two directions.
    bias
        The biases of the cells; see `rnn_cells`.
    projection_size
        LSTM only: h_t = P (o * tanh(c)) with this many elements. None: no projection.
    skip_input
        The first layer adds x_t itself to every gate instead of W x_t; x_t then has `hidden_size`
        elements. Its bias stays.
    clip
        Limits of the LSTM's cell state where it is read; see `rnn_cells`.
    """

    cell: Cell
    input_size: int
    hidden_size: int
    layers: int = 1
    bidirectional: bool = False
    bias: Bias = "double_bias"
    projection_size: int | None = None
    skip_input: bool = False
    clip: Clip | None = None

    def __post_init__(self) -> None:
        if self.cell not in GATES:
            raise ValueError(f"cell must be one of {', '.join(GATES)}, got {self.cell!r}")
        if self.bias not in get_args(Bias):
            raise ValueError(f"bias must be one of {', '.join(get_args(Bias))}, got {self.bias!r}")
        if min(self.input_size, self.hidden_size, self.layers) < 1:
            raise ValueError("input_size, hidden_size and layers must be at least 1")
        if self.skip_input and self.input_size != self.hidden_size:
            raise ValueError(
                f"skip_input needs input_size == hidden_size, got {self.input_size} and "
                f"{self.hidden_size}"
            )
        if self.projection_size is not None and self.cell != "lstm":
            raise ValueError(f"projection_size is for lstm, not {self.cell}")

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates of the cell, in cuDNN's order."""
        return GATES[self.cell]

    @property
    def directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def pseudo_layers(self) -> int:
        return self.layers * self.directions

    @property
    def output_size(self) -> int:
        """Elements of h_t: the projection's size, or `hidden_size` without a projection."""
        return self.hidden_size if self.projection_size is None else self.projection_size

    @property
    def y_size(self) -> int:
        """Elements of y_t: the outputs of all directions."""
        return self.directions * self.output_size

    def input_size_of(self, pseudo_layer: int) -> int:
        """Elements that a pseudo-layer reads at a time step."""
        return self.input_size if pseudo_layer < self.directions else self.y_size

    def weight_shapes(self, pseudo_layer: int) -> dict[str, tuple[int, ...] | None]:
        """The shapes of a pseudo-layer's `RecurrentWeights`, None for absent weights."""
        gates, hidden = len(self.gates), self.hidden_size
        skipped = self.skip_input and pseudo_layer < self.directions
        return {
            "w": None if skipped else (gates, hidden, self.input_size_of(pseudo_layer)),
            "r": (gates, hidden, self.output_size),
            "p": None if self.projection_size is None else (self.projection_size, hidden),
            "bw": (gates, hidden) if self.bias in ("single_inp_bias", "double_bias") else None,
            "br": (gates, hidden) if self.bias in ("single_rec_bias", "double_bias") else None,
        }

    def check_weights(self, weights: list[RecurrentWeights]) -> None:
        """Raise ValueError, naming the array, if `weights` do not fit this network."""
        if len(weights) != self.pseudo_layers:
            raise ValueError(
                f"weights must be {self.pseudo_layers} (one for each pseudo-layer), "
                f"got {len(weights)}"
            )
        for number, own in enumerate(weights):
            for name, shape in self.weight_shapes(number).items():
                array = getattr(own, name)
                actual = None if array is None else array.shape
                if actual != shape:
                    raise ValueError(
                        f"weights[{number}].{name} must have shape {shape}, got {actual}"
                    )


@dataclass
class RecurrentWeights:
    """The weights of one pseudo-layer; None for absent weights.

    w : (gates, hidden, input) and r : (gates, hidden, output), the matrices W and R of each gate.
    p : (output, hidden), the projection.
    bw, br : (gates, hidden), the biases.
    """

    w: Array | None
    r: Array
    p: Array | None = None
    bw: Array | None = None
    br: Array | None = None

    def astype(self, dtype: DTypeLike) -> RecurrentWeights:
        """The same weights in another dtype; a copy only where that is needed."""
        arrays: dict[str, Any] = {}
        for name in ("w", "r", "p", "bw", "br"):
            array = getattr(self, name)
            arrays[name] = None if array is None else array.astype(dtype, copy=False)
        return RecurrentWeights(**arrays)


class WeightSlot(NamedTuple):
    """The place of one matrix or vector in the weight space of the reference device.

    `name` and `gate` identify a part of `RecurrentWeights`; `gate` is None for the projection.
    `offset` counts elements.
    """

    pseudo_layer: int
    name: str
    gate: int | None
    offset: int
    shape: tuple[int, ...]


def weight_slots(network: RecurrentNetwork) -> Iterator[WeightSlot]:
    """The layout of the weight space: all matrices, then all biases, without gaps.

    Pseudo-layer by pseudo-layer and within each in the order of cuDNN's linear layers: W of each
    gate, R of each gate, then the projection. Matrices are row-major, a row for each output. cuDNN
    keeps its own layout to itself: programs ask `cudnnGetRNNWeightParams`, here as there.
    """
    offset = 0
    for names in (("w", "r", "p"), ("bw", "br")):
        for pseudo_layer in range(network.pseudo_layers):
            shapes = network.weight_shapes(pseudo_layer)
            for name in names:
                shape = shapes[name]
                if shape is None:
                    continue
                gates = (None,) if name == "p" else range(shape[0])
                for gate in gates:
                    own = shape if gate is None else shape[1:]
                    yield WeightSlot(pseudo_layer, name, gate, offset, own)
                    offset += math.prod(own)


def weight_count(network: RecurrentNetwork) -> int:
    """Elements of the weight space."""
    return sum(math.prod(slot.shape) for slot in weight_slots(network))


def weights_in(network: RecurrentNetwork, space: Array) -> list[RecurrentWeights]:
    """Views of the weights in a flat weight space: writing to them writes to it."""
    starts: dict[tuple[int, str], int] = {}
    for slot in weight_slots(network):
        starts.setdefault((slot.pseudo_layer, slot.name), slot.offset)
    result = []
    for number in range(network.pseudo_layers):
        views: dict[str, Any] = {}
        for name, shape in network.weight_shapes(number).items():
            if shape is None:
                views[name] = None
            else:
                start = starts[number, name]
                views[name] = space[start : start + math.prod(shape)].reshape(shape)
        result.append(RecurrentWeights(**views))
    return result


@dataclass
class LayerTape:
    """The data kept for one pseudo-layer, with T time steps and B sequences.

    gates : (T, B, gates, hidden), after their activations.
    memory : (T, B, hidden), c_t of an LSTM, unclipped, r_n of a GRU; (T, B, 0) for the plain cells.
    unprojected : (T, B, hidden), o * tanh(c); (T, B, 0) without a projection.
    hidden : (T, B, output), h_t.
    by_input, by_recurrent : (T, B, gates, hidden), gradients by a and r; of backward data.
    by_hidden : (T, B, output), gradient by h_t; of backward data; (T, B, 0) without a projection.
    """

    gates: Array
    memory: Array
    unprojected: Array
    hidden: Array
    by_input: Array
    by_recurrent: Array
    by_hidden: Array


@dataclass
class Tape:
    """The data that a training step's forward pass and backward data keep for later passes.

    On the reference device it is in the reserve space.

    layers : one `LayerTape` for each pseudo-layer.
    inputs : (T, B, y_size) for each layer but the first: what it read, after dropout.
    masks : (T, B, y_size) for each layer but the first: 0 for a dropped element, else the factor.
    """

    layers: list[LayerTape] = field(default_factory=list)
    inputs: list[Array] = field(default_factory=list)
    masks: list[Array] = field(default_factory=list)

    @staticmethod
    def size(network: RecurrentNetwork, steps: int, batch: int) -> int:
        """Elements of a tape in one flat buffer."""
        shapes = _layer_tape_shapes(network)
        of_layer = sum(math.prod(shape) for shape in shapes.values())
        between = (network.layers - 1) * 2 * network.y_size
        return steps * batch * (network.pseudo_layers * of_layer + between)

    @classmethod
    def on(cls, network: RecurrentNetwork, steps: int, batch: int, buffer: Array) -> Tape:
        """A tape whose arrays are views of a flat buffer of at least `size` elements."""
        position = 0

        def take(shape: tuple[int, ...]) -> Array:
            nonlocal position
            whole = (steps, batch, *shape)
            start, position = position, position + math.prod(whole)
            return buffer[start:position].reshape(whole)

        tape = cls()
        for _ in range(network.pseudo_layers):
            shapes = _layer_tape_shapes(network)
            tape.layers.append(LayerTape(**{name: take(s) for name, s in shapes.items()}))
        for _ in range(network.layers - 1):
            tape.inputs.append(take((network.y_size,)))
            tape.masks.append(take((network.y_size,)))
        return tape

    @classmethod
    def empty(
        cls, network: RecurrentNetwork, steps: int, batch: int, dtype: DTypeLike = np.float64
    ) -> Tape:
        """A tape in memory of its own."""
        return cls.on(network, steps, batch, np.zeros(cls.size(network, steps, batch), dtype))


def _layer_tape_shapes(network: RecurrentNetwork) -> dict[str, tuple[int, ...]]:
    gates, hidden, output = len(network.gates), network.hidden_size, network.output_size
    projected = network.projection_size is not None
    return {
        "gates": (gates, hidden),
        "memory": (hidden if network.cell in ("lstm", "gru") else 0,),
        "unprojected": (hidden if projected else 0,),
        "hidden": (output,),
        "by_input": (gates, hidden),
        "by_recurrent": (gates, hidden),
        "by_hidden": (output if projected else 0,),
    }
