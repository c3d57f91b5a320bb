"""Descriptions of recurrent networks: the descriptor's values, and the places of the weights."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from ...dtypes import element_bits
from ...raw.descriptors import RNN, RNNData
from ...reference.rnn_network import RecurrentNetwork, weight_slots
from ..pictures.html import Table
from ..pictures.weight_space import Part, weight_space
from .description import Description, Section
from .words import counted, name_of

__all__ = ["rnn_data_words", "rnn_words", "weights_words"]

_CELLS = {
    "rnn_relu": "h_t = relu(W x_t + R h_(t-1) + b)",
    "rnn_tanh": "h_t = tanh(W x_t + R h_(t-1) + b)",
    "lstm": "gates input, forget, cell and output; h_t and a cell state c_t",
    "gru": "gates reset, update and new",
}
_LAYOUTS = {
    "seq_major_unpacked": "(time, batch, vector), shorter sequences with padding",
    "seq_major_packed": "(sum of the lengths, vector), no padding",
    "batch_major_unpacked": "(batch, time, vector), shorter sequences with padding",
}


def rnn_words(name: str, rnn: RNN, weights: Any = None) -> Description:
    """The description of an RNN descriptor, with the weights' places from `weights` (RNNWeights).

    Without `weights` the places are the reference device's: cuDNN's need a handle.
    """
    lines = [
        f"cell {name_of(rnn.cell)}: {_CELLS.get(name_of(rnn.cell), 'not known')}",
        f"input size {rnn.input_size}, hidden size {rnn.hidden_size}: x_t and the cells' states "
        f"have so many elements",
        f"layers {rnn.layers}"
        + (
            ", each in two directions, so "
            f"{counted(2 * rnn.layers, 'pseudo-layer')}; their outputs are concatenated"
            if rnn.bidirectional
            else ""
        ),
        f"bias {name_of(rnn.bias)}, input mode {name_of(rnn.input_mode)}",
        f"data type {name_of(rnn.data_type)}, computed in {name_of(rnn.compute_data_type)}, "
        f"math type {name_of(rnn.math_type)}",
        f"algorithm {name_of(rnn.algorithm)}",
        "sequences may be padded" if rnn.padded_io else "sequences must be packed",
        "no dropout between layers" if rnn.dropout is None else "dropout between the layers",
    ]
    if rnn.projection_size is not None:
        lines.append(f"projection to {rnn.projection_size} elements of h_t")
    if rnn.clip is not None:
        lines.append(f"cell states are clipped to {rnn.clip[0]} to {rnn.clip[1]}")
    facts = Section(lines=tuple(lines))
    title = f"{name}: a recurrent network"
    if weights is not None:
        parts, total, whose = _parts_of(weights), int(weights.space.nbytes), "as cuDNN has it"
    else:
        parts, total = _reference_parts(rnn)
        whose = "as the reference device has it; with handle=, as cuDNN has it"
    return Description(title, (facts, _table(parts, total, whose)), _picture(name, parts, total))


def weights_words(weights: Any) -> Description:
    """The description of an ``RNNWeights``."""
    parts, total = _parts_of(weights), int(weights.space.nbytes)
    title = f"RNNWeights: the weights of {counted(len(weights), 'pseudo-layer')}"
    return Description(title, (_table(parts, total, ""),), _picture("RNNWeights", parts, total))


def rnn_data_words(name: str, data: RNNData) -> Description:
    """The description of an RNN data descriptor."""
    layout = name_of(data.layout)
    count = math.prod(data.memory_shape)
    nbytes = count * element_bits(data.data_type) // 8
    lines = (
        f"{counted(data.batch_size, 'sequence')} of lengths {data.lengths}, the longest may have "
        f"{data.max_length}",
        f"each step is a vector of {counted(data.vector_size, 'element')}, "
        f"{name_of(data.data_type)}",
        f"layout {layout}: {_LAYOUTS.get(layout, 'not known')}",
        f"memory {data.memory_shape}: {counted(nbytes, 'byte')}",
        f"padding is filled with {data.padding_fill:g}",
    )
    return Description(f"{name}: sequences of vectors", (Section(lines=lines),))


# --- places of the weights -----------------------------------------------------------------------


def _parts_of(weights: Any) -> list[Part]:
    directions = 2 if weights._directions == 2 else 1
    return [
        Part(
            _layer(number, directions),
            name,
            tuple(tensor.shape),
            tensor.ptr - weights.space.ptr,
            tensor.nbytes,
        )
        for number, layer in enumerate(weights)
        for name, tensor in layer.items()
    ]


def _reference_parts(rnn: RNN) -> tuple[list[Part], int]:
    network = RecurrentNetwork(
        cell=name_of(rnn.cell).removeprefix("rnn_"),  # type: ignore[arg-type]
        input_size=rnn.input_size,
        hidden_size=rnn.hidden_size,
        layers=rnn.layers,
        bidirectional=rnn.bidirectional,
        bias=rnn.bias.name.removeprefix("CUDNN_RNN_").lower(),  # type: ignore[arg-type]
        projection_size=rnn.projection_size,
        skip_input=name_of(rnn.input_mode).startswith("skip"),
    )
    each = element_bits(rnn.data_type) // 8
    parts = []
    for slot in weight_slots(network):
        gate = "" if slot.gate is None else f"_{network.gates[slot.gate]}"
        name = "projection" if slot.name == "p" else f"{slot.name}{gate}"
        layer = _layer(slot.pseudo_layer, network.directions)
        size = math.prod(slot.shape) * each
        parts.append(Part(layer, name, slot.shape, slot.offset * each, size))
    return parts, sum(part.nbytes for part in parts)


def _layer(number: int, directions: int) -> str:
    if directions == 1:
        return f"layer {number}"
    return f"layer {number // 2} {'backward' if number % 2 else 'forward'}"


def _table(parts: Iterable[Part], total: int, whose: str) -> Section:
    ordered = sorted(parts, key=lambda part: part.offset)
    rows = [
        (
            part.layer,
            part.name,
            " x ".join(map(str, part.shape)),
            f"{part.offset:,}",
            f"{part.nbytes:,}",
        )
        for part in ordered
    ]
    used = sum(part.nbytes for part in ordered)
    gaps = f", {counted(total - used, 'byte')} of them between the parts" if total > used else ""
    columns = ("layer", "weights", "shape", "offset", "bytes")
    return Section(
        f"Weight space{', ' + whose if whose else ''}",
        (
            f"{counted(total, 'byte')} in all{gaps}",
            "w: matrix of the input, r: of the state before, bw and br: their biases; offsets in "
            "bytes",
        ),
        Table(columns, rows, numbers=("offset", "bytes")),
    )


def _picture(name: str, parts: Sequence[Part], total: int) -> Any:
    return functools.partial(weight_space, f"{name}: the weight space", parts, total)
