"""Parts shared by the calls of recurrent networks: sizes of buffers, and checks of arguments.

`rnn_network.weight_slots` defines the layout of the weight space. The reserve space holds the tape
of `rnn_network`, after a header with the network's signature and the stage of the work. Another
reserve space or the backward functions in the wrong order, which give wrong gradients on a GPU, are
refused here. The workspace has the size of the gates' input parts for one layer.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import element_bits, numpy_dtype
from ...raw.descriptors import RNNData, Tensor
from ..arithmetic import round_to
from ..dropout import factor
from ..rnn_network import RecurrentNetwork, RecurrentWeights, Tape, weight_count, weights_in
from .call import Call
from .dropout import draw, held
from .memory import Operand, Use, at, check_range
from .recurrent import RNN, rnn
from .registry import bad_param

__all__ = [
    "DATA_DONE",
    "FORWARD_DONE",
    "Pass",
    "State",
    "plans",
    "reserve_size",
    "weight_space_size",
    "workspace_size",
]

_HEADER = 16  # bytes at the beginning of the reserve space: two 64-bit words
FORWARD_DONE, DATA_DONE = 1, 2
"""How far the work has come."""

plans: dict[int, int] = {}
"""The batch size of each dynamic plan, by the address of its RNN descriptor."""


def weight_space_size(described: RNN) -> int:
    """Bytes of all weights."""
    return weight_count(described.network) * element_bits(described.data_type) // 8


def workspace_size(described: RNN, x: RNNData) -> int:
    """Bytes of a workspace for sequences like x."""
    network = described.network
    elements = x.max_length * x.batch_size * len(network.gates) * network.hidden_size
    return elements * described.compute_dtype.itemsize


def reserve_size(described: RNN, x: RNNData) -> int:
    """Bytes of a reserve space for sequences like x."""
    elements = Tape.size(described.network, x.max_length, x.batch_size)
    return _HEADER + elements * described.compute_dtype.itemsize


class State:
    """The memory of a hidden or cell state, which need not be there."""

    def __init__(self, operand: Operand | None) -> None:
        self._operand = operand

    def load(self) -> NDArray[Any] | None:
        """The state, None for NULL."""
        return None if self._operand is None else self._operand.load()

    def store(self, values: NDArray[Any] | None) -> None:
        """Write the state, unless it is NULL or `values` is None."""
        if self._operand is not None and values is not None:
            self._operand.store(round_to(values, self._operand.dtype))


class Pass:
    """A call of one of the three passes: their common arguments, checked against each other."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.described: RNN = rnn(call)
        self.network: RecurrentNetwork = self.described.network
        self.dtype: np.dtype[Any] = self.described.compute_dtype
        self.x: RNNData = call.record("xDesc", RNNData)
        self.y: RNNData = call.record("yDesc", RNNData)
        self._check_plan()
        call.check()
        if call["devSeqLengths"] is not None:
            lengths = call.array("devSeqLengths", raw.CUDNN_DATA_INT32, self.x.batch_size)
            if tuple(lengths) != self.x.lengths:
                raise bad_param(f"devSeqLengths is {lengths}, xDesc has {self.x.lengths}")
        words = repr((self.network, self.x.max_length, self.x.lengths, self.dtype.str)).encode()
        self.signature: int = zlib.crc32(words) | 0x524E4E << 32

    def _check_plan(self) -> None:
        if self.described.held.algorithm != raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC:
            return
        planned, batch = plans.get(self.call["rnnDesc"].value), self.x.batch_size
        if planned != batch:
            raise bad_param(
                f"rnnDesc: cudnnBuildRNNDynamic was "
                f"{'not called' if planned is None else f'called for a batch of {planned}'}, and "
                f"the batch is {batch}"
            )

    def hidden(self, *names: str) -> list[State]:
        """Hidden states."""
        return self._states("hDesc", self.network.output_size, names)

    def cells(self, *names: str) -> list[State]:
        """The cell states of an LSTM; other cells ignore these arguments."""
        if self.network.cell != "lstm":
            return [State(None) for _ in names]
        return self._states("cDesc", self.network.hidden_size, names)

    def _states(self, descriptor: str, size: int, names: tuple[str, ...]) -> list[State]:
        """The states with these names; if all are NULL, the descriptor may be NULL too."""
        if not any(self.call[name] for name in names):
            return [State(None) for _ in names]
        described = self.call.record(descriptor, Tensor)
        shape = (self.network.pseudo_layers, self.x.batch_size, size)
        strides = (shape[1] * shape[2], shape[2], 1)
        # cuDNN ignores dimensions of size 1 that follow.
        fits = described.shape == shape + (1,) * (len(described.shape) - 3)
        if not fits or described.strides[:3] != strides:
            raise bad_param(
                f"{descriptor} must have shape {shape}, fully packed, got {described.shape} with "
                f"strides {described.strides}"
            )
        batch_major = self.x.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
        if batch_major and numpy_dtype(described.data_type).kind in "iu":
            raise bad_param(f"{descriptor} is {described.data_type.name}")
        # cuDNN ignores other types of the descriptor: states have the network's type.
        described = Tensor(self.described.data_type, shape, strides)
        return [
            State(Operand(name, described, self.call[name]) if self.call[name] else None)
            for name in names
        ]

    def weights(self, name: str, use: Use = "read") -> list[RecurrentWeights]:
        """Views of the weights, or of their gradients."""
        self.call.buffer(name, weight_space_size(self.described))
        count = weight_count(self.network)
        space = self.call.array(name, self.described.data_type, count, use=use)
        return weights_in(self.network, space)

    def use_workspace(self) -> None:
        """Overwrite the workspace, as the GPU does."""
        self.call.use_workspace("workSpace", workspace_size(self.described, self.x))

    def new_tape(self, use: Use = "write") -> Tape:
        """A tape in the reserve space, with its present contents."""
        needed = reserve_size(self.described, self.x)
        address = self.call.buffer("reserveSpace", needed)
        self.call.require("reserveSpace")
        check_range(address, needed, "reserveSpace", use)
        data_type = raw.CUDNN_DATA_DOUBLE if self.dtype == np.float64 else raw.CUDNN_DATA_FLOAT
        count = Tape.size(self.network, self.x.max_length, self.x.batch_size)
        buffer = at(address + _HEADER, data_type, (count,), (1,), "reserveSpace", use)
        return Tape.on(self.network, self.x.max_length, self.x.batch_size, buffer)

    def tape(self, stage: int) -> Tape:
        """The tape of an earlier pass in the reserve space; refused if there is none."""
        self.new_tape()
        signature, reached = (int(word) for word in self._header())
        if signature != self.signature:
            raise bad_param(
                "reserveSpace is not what cudnnRNNForward left for this network and these "
                "sequences in CUDNN_FWD_MODE_TRAINING"
            )
        if reached < stage:
            raise bad_param("reserveSpace: cudnnRNNBackwardData_v8 comes before the weights")
        return self.new_tape("update")

    def reach(self, stage: int) -> None:
        """Note in the reserve space for which network it is, and how far the work has come."""
        self._header()[:] = self.signature, stage

    def _header(self) -> NDArray[Any]:
        return self.call.array("reserveSpace", raw.CUDNN_DATA_INT64, 2, use="write")

    def masks(self) -> list[NDArray[Any]] | None:
        """Dropout between the layers: new masks for each of them, None for no dropout."""
        dropout = held(self.described.held.dropout)
        if self.network.layers == 1 or dropout.rate == 0:
            return None
        shape = (self.x.max_length, self.x.batch_size, self.network.y_size)
        return [
            draw(dropout, math.prod(shape)).reshape(shape) * factor(dropout.rate)
            for _ in range(self.network.layers - 1)
        ]
