"""What the calls of the recurrent networks share: sizes of buffers, and arguments checked together.

The weight space is laid out as `rnn_network.weight_slots` says. The reserve space holds the tape of
`rnn_network`, behind a header that says which network it belongs to and how far the work has come:
what would give wrong gradients on a GPU, another reserve space or the backward functions in the
wrong order, is refused here. The workspace has the size of the gates' input parts for one layer.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import element_bits
from ...raw.descriptors import RNNData, Tensor
from ..dropout import factor
from ..rnn_network import RecurrentWeights, Tape, weight_count, weights_in
from .dispatch import Refused
from .dropout import draw, held
from .held import read
from .memory import Operand, Use, at, check_range, require, scribble
from .recurrent import RNN, rnn

__all__ = [
    "DATA_DONE",
    "FORWARD_DONE",
    "Call",
    "bad",
    "check_data",
    "check_weight_space",
    "plans",
    "reserve_size",
    "weight_space_size",
    "workspace_size",
]

_HEADER = 16  # bytes at the beginning of the reserve space: two 64-bit words
FORWARD_DONE, DATA_DONE = 1, 2
"""How far the work has come."""

plans: dict[int, int] = {}
"""Of dynamic plans: the address of an RNN descriptor, and the batch that its plan is for."""


def bad(reason: str) -> Refused:
    """BAD_PARAM, and why."""
    return Refused(raw.CUDNN_STATUS_BAD_PARAM, reason)


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


def check_data(described: RNN, data: RNNData, size: int, name: str) -> None:
    """Refuse sequences of another type, or of vectors that have not `size` elements."""
    if data.data_type != described.data_type:
        raise bad(f"{name} is {data.data_type.name}, rnnDesc {described.data_type.name}")
    if data.vector_size != size:
        raise bad(f"{name}: vectors must have {size} elements, got {data.vector_size}")


def check_weight_space(described: RNN, size: int) -> None:
    """Refuse a weight space that is too small."""
    needed = weight_space_size(described)
    if size < needed:
        raise bad(f"weightSpaceSize = {size} is less than {needed}")


class Call:
    """The arguments that all three passes share, checked against each other."""

    def __init__(self, rnnDesc: Any, xDesc: Any, yDesc: Any, devSeqLengths: int | None) -> None:
        self.described = rnn(rnnDesc, "rnnDesc")
        self.network = self.described.network
        self.dtype = self.described.compute_dtype
        self.x, self.y = read(RNNData, xDesc, "xDesc"), read(RNNData, yDesc, "yDesc")
        check_data(self.described, self.x, self.network.input_size, "xDesc")
        check_data(self.described, self.y, self.network.y_size, "yDesc")
        for name in ("layout", "max_length", "batch_size", "lengths"):
            of_x, of_y = getattr(self.x, name), getattr(self.y, name)
            if of_x != of_y:
                raise bad(f"xDesc and yDesc differ: {name} is {of_x} and {of_y}")
        self._check_padding()
        if devSeqLengths is not None:
            given = at(
                devSeqLengths, raw.CUDNN_DATA_INT32, (self.x.batch_size,), (1,), "devSeqLengths"
            )
            if tuple(given) != self.x.lengths:
                raise bad(f"devSeqLengths is {given}, xDesc has {self.x.lengths}")
        _check_plan(rnnDesc, self.described, self.x.batch_size)
        words = repr((self.network, self.x.max_length, self.x.lengths, self.dtype.str)).encode()
        self.signature = zlib.crc32(words) | 0x524E4E << 32

    def _check_padding(self) -> None:
        batch_major = self.x.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
        padded = (  # the packed layout has no padding
            self.x.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED
            and min(self.x.lengths) < self.x.max_length
        )
        if (batch_major or padded) and not self.described.held.padded_io:
            raise bad("xDesc: this layout or padding needs CUDNN_RNN_PADDED_IO_ENABLED in rnnDesc")

    def states(
        self, descriptor: Any, kind: str, size: int, **addresses: int | None
    ) -> dict[str, Operand | None]:
        """The states by name, None for NULL; where all are, the descriptor may be NULL too."""
        if not any(addresses.values()):
            return dict.fromkeys(addresses)
        name = f"{kind}Desc"
        described = read(Tensor, descriptor, name)
        shape = (self.network.pseudo_layers, self.x.batch_size, size)
        strides = (shape[1] * shape[2], shape[2], 1)
        if described.shape != shape or described.strides != strides:
            raise bad(
                f"{name} must have shape {shape}, fully packed, got {described.shape} with strides "
                f"{described.strides}"
            )
        # cuDNN ignores the descriptor's type: states are of the network's.
        described = replace(described, data_type=self.described.data_type)
        return {
            name: Operand(name, described, address) if address else None
            for name, address in addresses.items()
        }

    def cell_states(self, descriptor: Any, **addresses: int | None) -> dict[str, Operand | None]:
        """The states of an LSTM; other cells ignore what they are given."""
        if self.network.cell != "lstm":
            return dict.fromkeys(addresses)
        return self.states(descriptor, "c", self.network.hidden_size, **addresses)

    def weights(
        self, size: int, address: int | None, name: str, use: Use = "read"
    ) -> list[RecurrentWeights]:
        """Views of the weights, or of their gradients."""
        check_weight_space(self.described, size)
        count = weight_count(self.network)
        space = at(address, self.described.data_type, (count,), (1,), name, use)
        return weights_in(self.network, space)

    def use_workspace(self, size: int, address: int | None) -> None:
        """Overwrite the workspace, as the GPU does."""
        needed = workspace_size(self.described, self.x)
        if size < needed:
            raise bad(f"workSpaceSize = {size} is less than {needed}")
        scribble(address, needed, "workSpace")

    def new_tape(self, size: int, address: int | None, use: Use = "write") -> Tape:
        """A tape in the reserve space, with whatever is there."""
        needed = reserve_size(self.described, self.x)
        if size < needed:
            raise bad(f"reserveSpaceSize = {size} is less than {needed}")
        require(reserveSpace=address)
        assert address is not None
        check_range(address, needed, "reserveSpace", use)
        data_type = raw.CUDNN_DATA_DOUBLE if self.dtype == np.float64 else raw.CUDNN_DATA_FLOAT
        count = Tape.size(self.network, self.x.max_length, self.x.batch_size)
        buffer = at(address + _HEADER, data_type, (count,), (1,), "reserveSpace", use)
        return Tape.on(self.network, self.x.max_length, self.x.batch_size, buffer)

    def tape(self, size: int, address: int | None, stage: int) -> Tape:
        """What an earlier pass left in the reserve space; refused if it has not."""
        self.new_tape(size, address)
        signature, reached = (int(word) for word in self.header(address))
        if signature != self.signature:
            raise bad(
                "reserveSpace is not what cudnnRNNForward left for this network and these "
                "sequences in CUDNN_FWD_MODE_TRAINING"
            )
        if reached < stage:
            raise bad("reserveSpace: cudnnRNNBackwardData_v8 comes before the weights")
        return self.new_tape(size, address, "update")

    def header(self, address: int | None) -> NDArray[Any]:
        """The signature in the reserve space, and how far the work has come."""
        return at(address, raw.CUDNN_DATA_INT64, (2,), (1,), "reserveSpace", "write")

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


def _check_plan(rnnDesc: Any, held_by: RNN, batch: int) -> None:
    if held_by.held.algorithm != raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC:
        return
    planned = plans.get(rnnDesc.value)
    if planned != batch:
        raise bad(
            f"rnnDesc: cudnnBuildRNNDynamic was "
            f"{'not called' if planned is None else f'called for a batch of {planned}'}, and the "
            f"batch is {batch}"
        )
