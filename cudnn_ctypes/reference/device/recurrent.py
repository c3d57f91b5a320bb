"""An RNN descriptor's record as the formulas take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import raw
from ...raw import descriptors
from ..rnn_cells import Cell, Clip
from ..rnn_network import Bias, RecurrentNetwork
from .agreement import word
from .call import Call
from .registry import bad_param

__all__ = ["RNN", "rnn"]


@dataclass(frozen=True, slots=True)
class RNN:
    """A recurrent network: its record, and all of it that the computation depends on."""

    held: descriptors.RNN
    network: RecurrentNetwork

    @property
    def data_type(self) -> raw.cudnnDataType_t:
        """The data type of weights, inputs and outputs."""
        return self.held.data_type

    @property
    def compute_dtype(self) -> np.dtype[Any]:
        """float64 for DOUBLE, float32 for every other type."""
        return np.dtype(np.float64 if self.data_type == raw.CUDNN_DATA_DOUBLE else np.float32)


def rnn(call: Call) -> RNN:
    """The network of a call.

    Raises
    ------
    Refused
        BAD_PARAM for NULL and for a network that cannot be, NOT_INITIALIZED if it was never set.
    """
    held = call.record("rnnDesc", descriptors.RNN, raw.CUDNN_STATUS_NOT_INITIALIZED)
    bias: Bias = word(held.bias, "CUDNN_RNN_")
    cell: Cell = word(held.cell, "CUDNN_").removeprefix("rnn_")
    try:
        network = RecurrentNetwork(
            cell=cell,
            input_size=held.input_size,
            hidden_size=held.hidden_size,
            layers=held.layers,
            bidirectional=held.bidirectional,
            bias=bias,
            projection_size=held.projection_size,
            skip_input=held.input_mode == raw.CUDNN_SKIP_INPUT,
            clip=_clip(held),
        )
    except ValueError as error:
        raise bad_param(f"rnnDesc: {error}") from None
    return RNN(held, network)


def _clip(held: descriptors.RNN) -> Clip | None:
    """Limits as the kernels have them: float32, in networks of DOUBLE too."""
    if held.clip is None:
        return None
    low, high = (float(np.float32(limit)) for limit in held.clip)
    return Clip(low, high, held.clip_nan_propagation == raw.CUDNN_PROPAGATE_NAN)
