"""One time step of the four cells of `cudnnRNNMode_t`, forward and backward.

A gate of a cell sees the input x_t and the state h_{t-1} through two affine maps,

    a = W x_t + b_W                r = R h_{t-1} + b_R

W and b_W are the "input" weights and bias, R and b_R the "recurrent" ones. Of the two biases an
RNN has both (mode DOUBLE_BIAS), one (SINGLE_INP_BIAS, SINGLE_REC_BIAS) or none (NO_BIAS).
The cells, in the order of cuDNN's documentation; * is the elementwise product, the gates are in
the order of cuDNN's linear layers:

====  =======================  ==================================================
cell  gates                    formulas
====  =======================  ==================================================
relu  hidden                   h = max(a + r, 0)
tanh  hidden                   h = tanh(a + r)
lstm  input, forget,           i = sigmoid(a_i + r_i)
      cell, output             f = sigmoid(a_f + r_f)
                               g = tanh(a_g + r_g)
                               o = sigmoid(a_o + r_o)
                               c = f * clip(c_before) + i * g
                               h = o * tanh(clip(c))
gru   reset, update, new       s = sigmoid(a_s + r_s)
                               u = sigmoid(a_u + r_u)
                               n = tanh(a_n + s * r_n)
                               h = (1 - u) * n + u * h_before
====  =======================  ==================================================

An LSTM's cell state is clipped when it is read, cx included, but stored unclipped: cy and the state
between steps may be outside of the limits (cuDNN 9.14 and 9.19 on an H200, but for a persistent
kernel of 9.14, which stores it clipped). Without limits clip(c)
is c.

The GRU's reset gate scales r_n with its bias b_R, so for the GRU alone the two single-bias modes
differ. These are also PyTorch's formulas and its order of gates.

Arrays: a and r are (batch, gates, hidden), everything else (batch, hidden).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from .activation import sigmoid
from .tiles import Array

Cell = Literal["relu", "tanh", "lstm", "gru"]

GATES: dict[str, tuple[str, ...]] = {
    "relu": ("hidden",),
    "tanh": ("hidden",),
    "lstm": ("input", "forget", "cell", "output"),
    "gru": ("reset", "update", "new"),
}
"""The gates of each cell, in the order of cuDNN's linear layers."""


class Clip(NamedTuple):
    """Limits of the LSTM's cell state where it is read: `cudnnRNNSetClip_v9`.

    A NaN stays NaN, or, when it is not to be propagated (`cudnnRNNSetClip_v8`), becomes `low`.
    """

    low: float
    high: float
    propagate_nan: bool = True


class Step(NamedTuple):
    """The results of one step, with the intermediate results that its backward step needs.

    gates : (batch, gates, hidden), after their activations.
    memory : the cell state c of an LSTM, unclipped, r_n of a GRU; empty for the plain cells.
    output : the new hidden state, before any projection.
    """

    gates: Array
    memory: Array
    output: Array


class StepGradient(NamedTuple):
    """Gradients of the loss by the inputs of one step.

    by_input, by_recurrent : by a and by r.
    by_hidden : by h_before, without the part that flows through r.
    by_memory : by c_before.
    """

    by_input: Array
    by_recurrent: Array
    by_hidden: Array | float
    by_memory: Array | float


def step(
    cell: Cell, a: Array, r: Array, h_before: Array, c_before: Array, clip: Clip | None = None
) -> Step:
    """One step forward. `h_before` is read by the GRU only, `c_before` and `clip` by the LSTM."""
    match cell:
        case "relu":
            total = a + r
            gates = np.where(total < 0, total.dtype.type(-0.0), total)
            return Step(gates, gates[:, 0, :0], gates[:, 0] + total.dtype.type(0))
        case "tanh":
            gates = np.tanh(a + r)
            return Step(gates, gates[:, 0, :0], gates[:, 0])
        case "lstm":
            gates = a + r
            for gate in (0, 1, 3):
                gates[:, gate] = sigmoid(gates[:, gate])
            gates[:, 2] = np.tanh(gates[:, 2])
            i, f, g, o = (gates[:, gate] for gate in range(4))
            c = f * _clipped(c_before, clip) + i * g
            return Step(gates, c, o * np.tanh(_clipped(c, clip)))
        case "gru":
            gates = np.empty_like(a)
            gates[:, :2] = sigmoid(a[:, :2] + r[:, :2])
            s, u = gates[:, 0], gates[:, 1]
            gates[:, 2] = np.tanh(a[:, 2] + s * r[:, 2])
            return Step(gates, r[:, 2], (1 - u) * gates[:, 2] + u * h_before)
        case _:
            raise ValueError(f"cell must be one of {', '.join(GATES)}, got {cell!r}")


def step_backward(
    cell: Cell,
    gates: Array,
    memory: Array,
    h_before: Array,
    c_before: Array,
    dh: Array,
    dc: Array,
    clip: Clip | None = None,
) -> StepGradient:
    """One step backward: from the gradients `dh` of the output and `dc` of the LSTM's c.

    The derivative of the clip is 1 between its limits, at them, and for NaN; 0 beyond them (cuDNN
    9.14 and 9.19).
    """
    match cell:
        case "relu":
            d = np.where((gates >= 0) & ~np.signbit(gates), dh[:, None], 0)  # also at 0 (9.19)
            return StepGradient(d, d, 0.0, 0.0)
        case "tanh":
            d = dh[:, None] * (1 - gates**2)
            return StepGradient(d, d, 0.0, 0.0)
        case "lstm":
            i, f, g, o = (gates[:, gate] for gate in range(4))
            tanh_c = np.tanh(_clipped(memory, clip))
            dc = dc + _slope(memory, clip) * dh * o * (1 - tanh_c**2)
            d = np.empty_like(gates)
            d[:, 0] = dc * g * i * (1 - i)
            d[:, 1] = dc * _clipped(c_before, clip) * f * (1 - f)
            d[:, 2] = dc * i * (1 - g**2)
            d[:, 3] = dh * tanh_c * o * (1 - o)
            return StepGradient(d, d, 0.0, _slope(c_before, clip) * dc * f)
        case "gru":
            s, u, n = (gates[:, gate] for gate in range(3))
            by_input = np.empty_like(gates)
            by_input[:, 2] = dh * (1 - u) * (1 - n**2)
            by_input[:, 0] = by_input[:, 2] * memory * s * (1 - s)
            by_input[:, 1] = dh * (h_before - n) * u * (1 - u)
            by_recurrent = by_input.copy()
            by_recurrent[:, 2] *= s
            return StepGradient(by_input, by_recurrent, dh * u, 0.0)
        case _:
            raise ValueError(f"cell must be one of {', '.join(GATES)}, got {cell!r}")


def _clipped(c: Array, clip: Clip | None) -> Array:
    if clip is None:
        return c
    low, high = c.dtype.type(clip.low), c.dtype.type(clip.high)
    result: Array
    if clip.propagate_nan:
        result = np.minimum(np.maximum(c, low), high)
    else:
        result = np.fmin(np.fmax(c, low), high)
    return result


def _slope(c: Array, clip: Clip | None) -> Array | float:
    """The clip's derivative: 0 beyond the limits, else 1, also at them and for NaN."""
    if clip is None:
        return 1.0
    return (~((c < clip.low) | (c > clip.high))).astype(c.dtype)
