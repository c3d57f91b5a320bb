"""An RNN descriptor's record as the formulas take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import raw
from ...raw import descriptors
from ..rnn_cells import Cell, Clip
from ..rnn_network import Bias, RecurrentNetwork
from .call import Call, word
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
    rnn = call.record("rnnDesc", descriptors.RNN, raw.CUDNN_STATUS_NOT_INITIALIZED)
    bias: Bias = word(rnn.bias, "CUDNN_RNN_")
    cell: Cell = word(rnn.cell, "CUDNN_").removeprefix("rnn_")
    try:
        network = RecurrentNetwork(
            cell=cell,
            input_size=rnn.input_size,
            hidden_size=rnn.hidden_size,
            layers=rnn.layers,
            bidirectional=rnn.bidirectional,
            bias=bias,
            projection_size=rnn.projection_size,
            skip_input=rnn.input_mode == raw.CUDNN_SKIP_INPUT,
            clip=_clip(rnn),
        )
    except ValueError as error:
        raise bad_param(f"rnnDesc: {error}") from None
    return RNN(rnn, network)


def _clip(rnn: descriptors.RNN) -> Clip | None:
    """Limits as the kernels have them: float32, in networks of DOUBLE too."""
    if rnn.clip is None:
        return None
    low, high = (float(np.float32(limit)) for limit in rnn.clip)
    return Clip(low, high, rnn.clip_nan_propagation == raw.CUDNN_PROPAGATE_NAN)
