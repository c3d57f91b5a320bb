"""Descriptions of operations: what their descriptors say, windows, and recurrent networks."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ...dtypes import element_bits
from ...graph.engines.explaining.report import Table
from ...raw.descriptors import (
    LRN,
    RNN,
    Activation,
    Attention,
    ConstantPack,
    Convolution,
    CTCLoss,
    Dropout,
    FusedPlan,
    OpTensor,
    Pooling,
    ReduceTensor,
    RNNData,
    SpatialTransformer,
    Tensor,
    TensorTransform,
    VariantPack,
    record,
)
from ...raw.enums import CUDNN_DATA_FLOAT, cudnnFusedOpsPointerPlaceHolder_t
from ...raw.operand_rules import Operand
from ...raw.operand_rules.convolutions import convolution_output, fitting
from ...reference.rnn_network import RecurrentNetwork, weight_slots
from ..pictures.index_map import Part, Window, moving_window, weight_space, window
from .description import Description, Section, counted, name_of

KINDS = (
    *(Activation, OpTensor, ReduceTensor, LRN, CTCLoss, TensorTransform, SpatialTransformer),
    Attention,
)
"""Classes of descriptors' records whose fields `fields_words` explains."""


@functools.cache
def meanings() -> dict[str, Any]:
    """Meanings of records, of their fields, and of the modes of operations."""
    return dict(json.loads(Path(__file__).with_name("meanings.json").read_text("utf-8")))


def _said(kind: str, value: str) -> str:
    """Return the meaning of a value of a kind, such as "math type"."""
    return str(meanings()[kind].get(value, "not known"))


def fields_words(name: str, fields: Any) -> Description:
    """The description of a descriptor whose record is in `KINDS`."""
    known = meanings()[type(fields).__name__]
    lines = []
    for field in dataclasses.fields(fields):
        value, said = getattr(fields, field.name), known["fields"][field.name]
        if isinstance(said, dict):  # what each value means
            said = said.get(name_of(value), "not known")
        lines.append(f"{field.name.replace('_', ' ')} {name_of(value)}: {said}")
    return Description(f"{name}: {known['is']}", (Section(lines=tuple(lines)),))


def dropout_words(name: str, dropout: Dropout, states_size: int | None = None) -> Description:
    """The description of a dropout descriptor and its generator's states."""
    kept = 1 - dropout.rate
    scale = f"those that stay are multiplied by 1 / (1 - rate) = {1 / kept:g}" if kept else ""
    lines = [
        f"rate {dropout.rate:g}: each element is dropped with this probability",
        scale or "every element is dropped",
        f"seed {dropout.seed}: from which the generator started",
    ]
    if dropout.states is None:
        lines.append("states NULL: there is no generator, so nothing can be dropped")
    else:
        size = "" if states_size is None else f", {counted(states_size, 'byte')}"
        lines.append(
            f"states at {dropout.states:#x}{size}: device memory of the generator; every mask that "
            f"is drawn advances them, so they must live as long as the descriptor"
        )
    lines.append("the mask is kept in the reserve space, for the backward pass")
    return Description(f"{name}: dropout, and its random generator", (Section(lines=tuple(lines)),))


def fused_words(name: str, pack: ConstantPack | VariantPack | FusedPlan) -> Description:
    """The description of a pack or a plan of a fused operation."""
    lines = [f"operation {name_of(pack.operation)}"]
    if isinstance(pack, FusedPlan):
        constants = pack.constants
        if constants is None:
            lines.append("not made yet: cudnnMakeFusedOpsPlan makes it of a constant pack")
            return Description(
                f"{name}: a plan of a fused operation", (Section(lines=tuple(lines)),)
            )
        what, shown = "a plan of a fused operation, made of", constants.held
    elif isinstance(pack, ConstantPack):
        what, shown = "what does not change between executions", pack.held
    else:
        what, shown = "the memory and numbers of one execution", pack.held
    for label, value in shown.items():
        if label.endswith("PLACEHOLDER"):
            value = cudnnFusedOpsPointerPlaceHolder_t(value)
        lines.append(f"{label}: {_held(value)}")
    if not shown:
        lines.append("nothing is set yet")
    return Description(f"{name}: {what}", (Section(lines=tuple(lines)),))


def _held(value: Any) -> str:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = [field.name for field in dataclasses.fields(value) if field.repr]
        return ", ".join(f"{each} {name_of(getattr(value, each))}" for each in shown)
    if value is None:
        return "NULL"
    return f"{value:#x}" if isinstance(value, int) and value > 1 << 16 else name_of(value)


Ints = tuple[int, ...]

_NAMES = {1: ("width",), 2: ("height", "width"), 3: ("depth", "height", "width")}


def _names(ndim: int) -> Sequence[str]:
    return _NAMES.get(ndim, [f"spatial dimension {axis}" for axis in range(ndim)])


def shape_of(operand: Any) -> Ints | None:
    """The shape of a tensor, a descriptor, or of ints; None for None."""
    if operand is None:
        return None
    shape = getattr(operand, "shape", None)
    if shape is None and hasattr(operand, "_type_"):
        shape = getattr(record(operand), "shape", None)
    shape = operand if shape is None else shape
    try:
        return tuple(int(size) for size in shape)
    except TypeError as error:
        raise TypeError(f"expected a tensor, a descriptor or a shape, got {operand!r}") from error


# --- convolutions --------------------------------------------------------------------------------


def convolution_words(name: str, conv: Convolution, x: Any = None, w: Any = None) -> Description:
    """The description of a convolution; default: an example's `x` and `w`."""
    x_shape, w_shape = shape_of(x), shape_of(w)
    example = x_shape is None or w_shape is None
    ndim = len(conv.padding)
    if w_shape is None:
        channels = conv.groups if x_shape is None else x_shape[1]
        w_shape = (conv.groups, max(channels // conv.groups, 1), *(3,) * ndim)
    if x_shape is None:
        reach = [(s - 1) * d + 1 for s, d in zip(w_shape[2:], conv.dilation, strict=False)]
        sizes = [max(r - 2 * p, 1) + 5 for r, p in zip(reach, conv.padding, strict=False)]
        x_shape = (1, w_shape[1] * conv.groups, *sizes)
    image, filters = (
        Operand(name, Tensor(CUDNN_DATA_FLOAT, shape, ()))
        for name, shape in (("x", x_shape), ("w", w_shape))
    )
    misfit = next(map(str, fitting(image, filters, conv)), "")
    sections = [Section(lines=tuple(_convolution_lines(conv)))]
    if misfit:
        lines = (*_formula(), misfit)
        return Description(_title(name, conv), (*sections, Section("Size of the output", lines)))
    y_shape = convolution_output(x_shape, w_shape, conv)
    sections.append(Section(*_output_size(conv, x_shape, w_shape, y_shape, example)))
    flipped = name_of(conv.mode) == "convolution"
    notes = f"padding {conv.padding}, stride {conv.stride}, dilation {conv.dilation}"
    drawn = _moving(
        name,
        "filter",
        [notes + (", filter flipped" if flipped else "")],
        (x_shape[2:], w_shape[2:], y_shape[2:]),
        (conv.padding, conv.stride, conv.dilation),
        flipped=flipped,
    )
    return Description(_title(name, conv), tuple(sections), **drawn)


def _title(name: str, conv: Convolution) -> str:
    dims = counted(len(conv.padding), "spatial dimension")
    return f"{name}: how filters move over an image of {dims}"


def _convolution_lines(conv: Convolution) -> list[str]:
    mode, math = name_of(conv.mode), name_of(conv.math_type)
    lines = [
        f"padding {conv.padding}: so many zeros are added on each side along "
        f"{', '.join(_names(len(conv.padding)))}",
        f"stride {conv.stride}: the filter moves on by so many elements from one output to the "
        f"next",
        f"dilation {conv.dilation}: taps of the filter that are neighbours lie so far apart on the "
        f"image",
        f"groups {conv.groups}: "
        + (
            "every filter sees all channels"
            if conv.groups == 1
            else f"channels and filters are split into {conv.groups}, and each group of filters "
            f"sees its own channels"
        ),
        f"mode {mode}: {_said('convolution mode', mode)}",
        f"compute data type {name_of(conv.compute_data_type)}: products are summed in it",
        f"math type {math}: {_said('math type', math)}",
    ]
    if name_of(conv.reorder_type) != "default_reorder":
        lines.append(f"reorder type {name_of(conv.reorder_type)}: filters are in order already")
    return lines


def _formula() -> tuple[str, ...]:
    return (
        "reach = (w - 1) * dilation + 1",
        "y = floor((x + 2 * padding - reach) / stride) + 1",
    )


def _output_size(
    conv: Convolution, x_shape: Ints, w_shape: Ints, y_shape: Ints, example: bool
) -> tuple[str, tuple[str, ...]]:
    lines = [*_formula()]
    for axis, name in enumerate(_names(len(conv.padding))):
        x, w, y = x_shape[axis + 2], w_shape[axis + 2], y_shape[axis + 2]
        pad, stride, step = (
            conv.padding[axis],
            conv.stride[axis],
            conv.dilation[axis],
        )
        reach = (w - 1) * step + 1
        lines.append(
            f"{name}: reach = ({w} - 1) * {step} + 1 = {reach}, y = floor(({x} + 2 * {pad} - "
            f"{reach}) / {stride}) + 1 = floor({x + 2 * pad - reach} / {stride}) + 1 = {y}"
        )
    lines.append(f"x {x_shape} and w {w_shape} give y {y_shape}")
    products = w_shape[1]
    for size in (*y_shape, *w_shape[2:]):
        products *= size
    lines.append(f"computed directly, that is {counted(products, 'multiplication')}")
    title = "Size of the output, for example" if example else "Size of the output"
    return title, tuple(lines)


def _moving(
    name: str,
    what: str,
    notes: Sequence[str],
    sizes: tuple[Ints, Ints, Ints],
    steps: tuple[Ints, Ints, Ints],
    **options: Any,
) -> dict[str, Callable[..., Any]]:
    """The picture of a window that moves over images, and the one with steps.

    - `sizes`: of image, window and output along the spatial dimensions.
    - `steps`: padding, stride and dilation.
    """
    image, window_, output = sizes
    if len(image) > 3:
        return {}
    title = f"{name}: a {' x '.join(map(str, window_))} {what} over {' x '.join(map(str, image))}"
    if len(image) == 3:
        notes = [*notes, "of the 3 spatial dimensions, the last two are drawn"]
    names = ("image", "size", "padding", "stride", "dilation", "output")
    for key, values in zip(names, (image, window_, *steps, output), strict=True):
        options[key] = _pair(values, 0 if key == "padding" else 1)
    drawn = Window(title, tuple(notes), **options)
    return {
        "picture": functools.partial(window, drawn),
        "moving": functools.partial(moving_window, drawn),
    }


def _pair(values: Sequence[int], default: int) -> tuple[int, int]:
    """The last two entries, or the default and the only entry."""
    first, last = (default, *values)[-2:]
    return first, last


# --- poolings ------------------------------------------------------------------------------------


def pooling_words(name: str, pooling: Pooling, x: Any = None) -> Description:
    """The description of a pooling; default: an example's `x`."""
    ndim = len(pooling.window)
    shape = shape_of(x)
    example = shape is None
    if shape is None:
        sizes = [
            max(w - 2 * p, 1) + 2 * s
            for w, p, s in zip(pooling.window, pooling.padding, pooling.stride, strict=True)
        ]
        shape = (1, 1, *sizes)
    mode, nan = name_of(pooling.mode), name_of(pooling.nan_propagation)
    facts = Section(
        lines=(
            f"window {pooling.window}: so many elements count for each output",
            f"padding {pooling.padding} on each side, stride {pooling.stride}",
            f"mode {mode}: {_said('pooling mode', mode)}",
            f"NaN: {nan}",
        )
    )
    title = f"{name}: a window that moves over {counted(ndim, 'spatial dimension')}"
    if len(shape) != ndim + 2:
        problem = f"x {shape} has not {ndim + 2} dimensions"
        return Description(title, (facts, Section("Size of the output", (problem,))))
    sizes = [
        (x + 2 * p - w) // s + 1
        for x, w, p, s in zip(
            shape[2:], pooling.window, pooling.padding, pooling.stride, strict=True
        )
    ]
    lines = ["y = floor((x + 2 * padding - window) / stride) + 1"]
    for axis, label in enumerate(_names(ndim)):
        lines.append(
            f"{label}: floor(({shape[axis + 2]} + 2 * {pooling.padding[axis]} - "
            f"{pooling.window[axis]}) / {pooling.stride[axis]}) + 1 = {sizes[axis]}"
        )
    if min(sizes) < 1:
        lines.append("the window is larger than the padded image: there is no output")
    else:
        lines.append(f"x {shape} gives y {(*shape[:2], *sizes)}")
    heading = f"Size of the output{', for example' if example else ''}"
    drawn: dict[str, Callable[..., Any]] = {}
    if min(sizes) > 0 and min(pooling.padding) >= 0:
        ignored = mode.startswith("max") or "exclude" in mode
        drawn = _moving(
            name,
            "window",
            [f"{mode}, padding {pooling.padding}, stride {pooling.stride}"],
            (shape[2:], pooling.window, tuple(sizes)),
            (pooling.padding, pooling.stride, (1,) * ndim),
            fill="-" if ignored else "0",
            filtered=False,
        )
    return Description(title, (facts, Section(heading, tuple(lines))), **drawn)


def rnn_words(name: str, rnn: RNN, weights: Any = None) -> Description:
    """The description of an RNN descriptor, with the weights' places from `weights` (RNNWeights).

    Without `weights` the places are the reference device's: cuDNN's need a handle.
    """
    lines = [
        f"cell {name_of(rnn.cell)}: {_said('cell', name_of(rnn.cell))}",
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
        f"layout {layout}: {_said('layout', layout)}",
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
