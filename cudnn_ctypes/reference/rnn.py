"""Recurrent networks in plain NumPy: the forward and the two backward passes.

Sequences are (T, B, size): time step, sequence of the batch, element. Sequence b has `lengths[b]`
steps; the steps after them are padding, which does not affect any result. A forward pseudo-layer
starts from its hx at step 0 and ends with hy at step lengths[b] - 1; a backward pseudo-layer starts
at step lengths[b] - 1 and ends at step 0. A sequence of length 0 has hy = hx.

The states hx, hy (and cx, cy of an LSTM) are (pseudo-layers, B, size). Training applies dropout
between layers only: each element of a layer's input is multiplied by 0 or by 1 / (1 - rate).

With the affine maps of `rnn_cells`, backward data goes through time in the opposite order and
gathers the gradients by a and r of every gate and step, from which

    dx_t = sum over gates of W^T da_t            dh_{t-1} += sum over gates of R^T dr_t

and backward weights sums up

    dW = sum over t of da_t x_t^T       db_W = sum over t of da_t
    dR = sum over t of dr_t h_{t-1}^T   db_R = sum over t of dr_t
    dP = sum over t of dh_t (o * tanh(c))_t^T

cuDNN splits the work in the same way: `cudnnRNNBackwardWeights_v8` reads the results of
`cudnnRNNBackwardData_v8` from the reserve space.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .blas import product
from .rnn_cells import step, step_backward
from .rnn_network import LayerTape, RecurrentNetwork, RecurrentWeights, Tape
from .tiles import Array


def affine(x: Array, matrices: Array, bias: Array | None) -> Array:
    """(..., gates, hidden): every gate's matrix times x, plus its bias."""
    gates, hidden, size = matrices.shape
    rows = product(x.reshape(-1, size), matrices.reshape(gates * hidden, size).T)
    result: Array = rows.reshape(*x.shape[:-1], gates, hidden)
    return result if bias is None else result + bias


def affine_input(x: Array, weights: RecurrentWeights, gates: int) -> Array:
    """a of all gates: W x + b_W, or x itself for each of them if the input is skipped."""
    if weights.w is not None:
        return affine(x, weights.w, weights.bw)
    skipped = np.repeat(x[..., None, :], gates, axis=-2)
    return skipped if weights.bw is None else skipped + weights.bw


def through_input(by_input: Array, matrices: Array | None) -> Array:
    """(T, B, size), the gradient by x: the sum over the gates of W^T da, or of da itself."""
    if matrices is None:
        skipped: Array = by_input.sum(axis=2)
        return skipped
    flat = matrices.reshape(-1, matrices.shape[-1])
    return product(by_input.reshape(-1, len(flat)), flat).reshape(*by_input.shape[:2], -1)


def outer_sum(gradients: Array, read: Array) -> Array:
    """The sum over all steps and sequences of gradient * read^T; (..., rows, size)."""
    rows = gradients.shape[2:]
    flat = gradients.reshape(-1, int(np.prod(rows)))
    return product(flat.T, read.reshape(len(flat), -1)).reshape(*rows, read.shape[-1])


class RNNForwardResult(NamedTuple):
    """y : (T, B, y_size), zero in the padding. hy, cy : final states; cy is None but for LSTM."""

    y: Array
    hy: Array
    cy: Array | None
    tape: Tape


class RNNGradients(NamedTuple):
    """Gradients: dx, zero in the padding, dhx and, for an LSTM, dcx."""

    dx: Array
    dhx: Array
    dcx: Array | None


def rnn_forward(
    network: RecurrentNetwork,
    weights: Sequence[RecurrentWeights],
    x: Array,
    lengths: ArrayLike | None = None,
    hx: Array | None = None,
    cx: Array | None = None,
    *,
    masks: Sequence[Array] | None = None,
    tape: Tape | None = None,
    compute_dtype: DTypeLike = np.float64,
) -> RNNForwardResult:
    """y, hy and cy: `cudnnRNNForward`.

    Parameters
    ----------
    network
        The cell, its layers and sizes.
    weights
        The weights of each pseudo-layer.
    x
        (T, B, input_size).
    lengths
        (B,), each 0 to T; default: all T.
    hx, cx
        (pseudo-layers, B, output_size) and (pseudo-layers, B, hidden_size); default: zero.
    masks
        Dropout of a training step: (T, B, y_size) for each layer but the first. Left out: none.
    tape
        Memory for the data that the backward passes need; default: new memory.
    compute_dtype
        float32 or float64, also of the results.

    Raises
    ------
    ValueError
        If shapes and options do not fit together; the message names the argument.
    """
    dtype = np.dtype(compute_dtype)
    lengths = _checked_lengths(lengths, x, network.input_size, "x")
    network.check_weights(list(weights))
    weights = [own.astype(dtype) for own in weights]
    steps, batch = x.shape[:2]
    hx, cx = _states(network, batch, dtype, hx=hx, cx=cx)
    hy, cy = hx.copy(), cx.copy()
    tape = Tape.empty(network, steps, batch, dtype) if tape is None else tape
    signal = _without_padding(x.astype(dtype), lengths)
    for layer in range(network.layers):
        if layer:
            kept, mask = tape.inputs[layer - 1], tape.masks[layer - 1]
            mask[...] = 1 if masks is None else masks[layer - 1]
            kept[...] = signal * mask
            signal = kept
        outputs = []
        for direction in range(network.directions):
            number = layer * network.directions + direction
            own = tape.layers[number]
            _run(network, weights[number], signal, lengths, hy[number], cy[number], direction, own)
            outputs.append(own.hidden)
        signal = np.concatenate(outputs, axis=2)
    return RNNForwardResult(signal, hy, cy if network.cell == "lstm" else None, tape)


def rnn_backward_data(
    network: RecurrentNetwork,
    *,
    weights: Sequence[RecurrentWeights],
    tape: Tape,
    dy: Array,
    lengths: ArrayLike | None = None,
    dhy: Array | None = None,
    dcy: Array | None = None,
    hx: Array | None = None,
    cx: Array | None = None,
    compute_dtype: DTypeLike = np.float64,
) -> RNNGradients:
    """dx, dhx and dcx: `cudnnRNNBackwardData_v8`.

    Parameters
    ----------
    tape
        The tape of `rnn_forward` with the same weights, lengths, hx and cx; data for
        `rnn_backward_weights` is added to it.
    dy
        (T, B, y_size): the gradient of the loss by y.
    dhy, dcy
        The gradients by hy and cy; default: zero.

    The other parameters and the errors are those of `rnn_forward`.
    """
    dtype = np.dtype(compute_dtype)
    lengths = _checked_lengths(lengths, dy, network.y_size, "dy")
    network.check_weights(list(weights))
    weights = [own.astype(dtype) for own in weights]
    batch = dy.shape[1]
    hx, cx = _states(network, batch, dtype, hx=hx, cx=cx)
    dhx, dcx = (
        states.copy() for states in _states(network, batch, dtype, "dhy", "dcy", hx=dhy, cx=dcy)
    )
    signal = _without_padding(dy.astype(dtype), lengths)
    for layer in reversed(range(network.layers)):
        by_direction = np.split(signal, network.directions, axis=2)
        signal = np.zeros((*dy.shape[:2], network.input_size_of(layer * network.directions)), dtype)
        for direction in range(network.directions):
            number = layer * network.directions + direction
            own = tape.layers[number]
            before = _before(own, hx[number], cx[number], lengths, direction)
            gradient, states = by_direction[direction], (dhx[number], dcx[number])
            _run_back(network, weights[number], gradient, lengths, before, states, direction, own)
            signal += through_input(own.by_input, weights[number].w)
        if layer:
            signal *= tape.masks[layer - 1]
    return RNNGradients(signal, dhx, dcx if network.cell == "lstm" else None)


def rnn_backward_weights(
    network: RecurrentNetwork,
    *,
    tape: Tape,
    x: Array,
    lengths: ArrayLike | None = None,
    hx: Array | None = None,
    compute_dtype: DTypeLike = np.float64,
) -> list[RecurrentWeights]:
    """The gradients by all weights: `cudnnRNNBackwardWeights_v8`.

    Parameters
    ----------
    tape
        The tape of `rnn_forward`, after `rnn_backward_data`.

    The other parameters and the errors are those of `rnn_forward`.
    """
    dtype = np.dtype(compute_dtype)
    lengths = _checked_lengths(lengths, x, network.input_size, "x")
    hx, cx = _states(network, x.shape[1], dtype, hx=hx)
    x = _without_padding(x.astype(dtype), lengths)
    result = []
    for number, own in enumerate(tape.layers):
        layer, direction = divmod(number, network.directions)
        read = tape.inputs[layer - 1] if layer else x
        before = _before(own, hx[number], cx[number], lengths, direction).hidden
        shapes = network.weight_shapes(number)
        dr = outer_sum(own.by_recurrent, before)
        result.append(
            RecurrentWeights(
                w=None if shapes["w"] is None else outer_sum(own.by_input, read),
                r=dr,
                p=None if shapes["p"] is None else outer_sum(own.by_hidden, own.unprojected),
                bw=None if shapes["bw"] is None else own.by_input.sum(axis=(0, 1)),
                br=None if shapes["br"] is None else own.by_recurrent.sum(axis=(0, 1)),
            )
        )
    return result


# -- one pseudo-layer --------------------------------------------------------------------------


def _run(
    network: RecurrentNetwork,
    weights: RecurrentWeights,
    x: Array,
    lengths: Array,
    h: Array,
    c: Array,
    direction: int,
    tape: LayerTape,
) -> None:
    """Through time; `h` and `c` are the initial states, and the final ones afterwards."""
    for kept in (tape.gates, tape.memory, tape.unprojected, tape.hidden):
        kept[...] = 0
    a = affine_input(x, weights, len(network.gates))
    for t, rows in _time_steps(lengths, len(x), direction):
        r = affine(h[rows], weights.r, weights.br)
        now = step(network.cell, a[t, rows], r, h[rows], c[rows], network.clip)
        tape.gates[t, rows] = now.gates
        tape.memory[t, rows] = now.memory
        if network.cell == "lstm":
            c[rows] = now.memory
        if weights.p is None:
            h[rows] = now.output
        else:
            tape.unprojected[t, rows] = now.output
            h[rows] = product(now.output, weights.p.T)
        tape.hidden[t, rows] = h[rows]


class _Before(NamedTuple):
    """The states before every step: (T, B, size)."""

    hidden: Array
    memory: Array


def _run_back(
    network: RecurrentNetwork,
    weights: RecurrentWeights,
    dy: Array,
    lengths: Array,
    before: _Before,
    gradients: tuple[Array, Array],
    direction: int,
    tape: LayerTape,
) -> None:
    """Back through time; `gradients` are dhy and dcy, and dhx and dcx afterwards."""
    dh, dc = gradients
    r = weights.r.reshape(-1, weights.r.shape[-1])  # (gates * hidden, output)
    for kept in (tape.by_input, tape.by_recurrent, tape.by_hidden):
        kept[...] = 0
    for t, rows in reversed(list(_time_steps(lengths, len(dy), direction))):
        by_hidden = dh[rows] + dy[t, rows]
        if weights.p is not None:
            tape.by_hidden[t, rows] = by_hidden
            by_hidden = product(by_hidden, weights.p)
        gradient = step_backward(
            network.cell,
            tape.gates[t, rows],
            tape.memory[t, rows],
            before.hidden[t, rows],
            before.memory[t, rows],
            by_hidden,
            dc[rows],
            network.clip,
        )
        tape.by_input[t, rows] = gradient.by_input
        tape.by_recurrent[t, rows] = gradient.by_recurrent
        flat = gradient.by_recurrent.reshape(len(by_hidden), -1)
        dh[rows] = product(flat, r) + gradient.by_hidden
        dc[rows] = gradient.by_memory


def _time_steps(lengths: Array, steps: int, direction: int) -> Iterable[tuple[int, slice | Array]]:
    """The time steps in the order of a direction, each with the sequences that have it."""
    order = range(steps) if direction == 0 else reversed(range(steps))
    for t in order:
        rows = np.flatnonzero(lengths > t)
        if len(rows):
            yield t, slice(None) if len(rows) == len(lengths) else rows


def _before(tape: LayerTape, hx: Array, cx: Array, lengths: Array, direction: int) -> _Before:
    """The states before every step. Without an LSTM cx is empty and `memory` no state."""

    def shifted(states: Array, initial: Array) -> Array:
        if direction == 0:
            return np.concatenate([initial[None], states[:-1]])
        result: Array = np.concatenate([states[1:], initial[None]])
        rows = np.flatnonzero(lengths)
        result[lengths[rows] - 1, rows] = initial[rows]
        return result

    memory = shifted(tape.memory, cx) if cx.shape[-1] else tape.memory
    return _Before(shifted(tape.hidden, hx), memory)


# -- arguments ---------------------------------------------------------------------------------


def _checked_lengths(lengths: ArrayLike | None, data: Array, size: int, name: str) -> Array:
    if data.ndim != 3 or data.shape[2] != size:
        raise ValueError(f"{name} must have shape (T, B, {size}), got {data.shape}")
    steps, batch = data.shape[:2]
    if lengths is None:
        return np.full(batch, steps)
    array = np.asarray(lengths)
    if array.shape != (batch,) or array.min() < 0 or array.max() > steps:
        raise ValueError(f"lengths must be {batch} ints from 0 to {steps}, got {lengths!r}")
    return array


def _without_padding(data: Array, lengths: Array) -> Array:
    """`data` with zeros in the padding."""
    valid = np.arange(len(data))[:, None] < lengths
    return np.where(valid[..., None], data, 0)


def _states(
    network: RecurrentNetwork,
    batch: int,
    dtype: np.dtype[Any],
    h_name: str = "hx",
    c_name: str = "cx",
    *,
    hx: Array | None = None,
    cx: Array | None = None,
) -> tuple[Array, Array]:
    """The states of all pseudo-layers; zero where None. Only an LSTM has the second."""
    sizes = (network.output_size, network.hidden_size if network.cell == "lstm" else 0)
    result = []
    for name, given, size in ((h_name, hx, sizes[0]), (c_name, cx, sizes[1])):
        shape = (network.pseudo_layers, batch, size)
        if given is not None and given.shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {given.shape}")
        result.append(np.zeros(shape, dtype) if given is None else given.astype(dtype))
    return result[0], result[1]
