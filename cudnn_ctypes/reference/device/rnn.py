"""Recurrent networks on the reference device: sizes, weights, forward and backward.

Kernels' limits are not imitated: every algorithm computes every network, variable lengths included.
But CUDNN_RNN_ALGO_PERSIST_DYNAMIC asks for `cudnnBuildRNNDynamic` first, as on a GPU.

`rnn_network.weight_slots` defines the layout of the weight space. The reserve space holds the tape
of `rnn_network`, after a header with the network's signature and the stage of the work. Another
reserve space or the backward functions in the wrong order, which give wrong gradients on a GPU, are
refused here. The workspace has the size of the gates' input parts for one layer.

Sequences of vectors in memory, by `cudnnRNNDataLayout_t`, are (T, B, size) arrays:

=====================  ================================================================
layout                 element [t][b][k], step t of sequence b
=====================  ================================================================
SEQ_MAJOR_UNPACKED     (t * B + b) * size + k, for all lengths
BATCH_MAJOR_UNPACKED   (b * T + t) * size + k, for all lengths
SEQ_MAJOR_PACKED       all steps 0, then all steps 1...: step t only of the sequences
                       longer than t, which come first since lengths descend
=====================  ================================================================
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import element_bits, numpy_dtype
from ...raw import descriptors
from ...raw.descriptors import RNNData, Tensor
from ..arithmetic import round_to
from ..dropout import factor
from ..rnn import rnn_backward_data, rnn_backward_weights, rnn_forward
from ..rnn_cells import Cell, Clip
from ..rnn_network import (
    Bias,
    RecurrentNetwork,
    RecurrentWeights,
    Tape,
    weight_count,
    weight_slots,
    weights_in,
)
from ..tiles import Array
from . import lent
from .call import Call, word
from .dropout import draw, held
from .memory import Operand, Use, at, check_range
from .registry import bad_param, implements, not_supported


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

    Raises Refused BAD_PARAM for NULL and for a network that cannot be, NOT_INITIALIZED if it was
    never set.
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


def load_sequences(call: Call, data: RNNData, name: str) -> Array:
    """The sequences at `name` as a (T, B, size) array; of a packed layout a copy."""
    memory = _memory(call, data, name, "read")
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        result = np.zeros((data.max_length, data.batch_size, data.vector_size), memory.dtype)
        result[_valid(data)] = memory
        return result
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
        return memory.swapaxes(0, 1)
    return memory


def check_sequences(call: Call, data: RNNData, name: str) -> None:
    """Refuse memory that is not allocated: cuDNN reads it, the reference does not."""
    with lent.any_contents():
        _memory(call, data, name, "read")


def store_sequences(call: Call, data: RNNData, name: str, values: Array) -> None:
    """Write (T, B, size) `values`; the steps behind a sequence's end become the padding."""
    memory = _memory(call, data, name, "write")
    values = round_to(values, memory.dtype)
    valid = _valid(data)
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        memory[...] = values[valid]
        return
    filled = np.where(valid[..., None], values, np.asarray(data.padding_fill, values.dtype))
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
        filled = filled.swapaxes(0, 1)
    memory[...] = filled


def _memory(call: Call, data: RNNData, name: str, use: Use) -> Array:
    shape: tuple[int, ...] = (data.max_length, data.batch_size, data.vector_size)
    read = _valid(data)[..., None]
    if data.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        shape, read = (sum(data.lengths), data.vector_size), np.ones(1, np.bool_)
    elif data.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
        shape = (data.batch_size, data.max_length, data.vector_size)
        read = read.swapaxes(0, 1)
    where = read if use == "read" else None
    return call.array(name, data.data_type, *shape, use=use, where=where)


def _valid(data: RNNData) -> NDArray[np.bool_]:
    """(T, B): whether a sequence has a step."""
    return np.arange(data.max_length)[:, None] < np.array(data.lengths)


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

    def load(self) -> Array | None:
        """The state, None for NULL."""
        return None if self._operand is None else self._operand.load()

    def store(self, values: Array | None) -> None:
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
        # Unless they are read and written in their order, cuDNN copies them by their type.
        copied = self.x.layout == raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED or (
            self.x.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED
            and set(self.x.lengths) != {self.x.max_length}
        )
        if copied and numpy_dtype(described.data_type).kind in "iu":
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

    def _header(self) -> Array:
        return self.call.array("reserveSpace", raw.CUDNN_DATA_INT64, 2, use="write")

    def masks(self) -> list[Array] | None:
        """Dropout between the layers: new masks for each of them, None for no dropout."""
        dropout = held(self.described.held.dropout)
        if self.network.layers == 1 or dropout.rate == 0:
            return None
        shape = (self.x.max_length, self.x.batch_size, self.network.y_size)
        return [
            draw(dropout, math.prod(shape)).reshape(shape) * factor(dropout.rate)
            for _ in range(self.network.layers - 1)
        ]


# -- dynamic plans -----------------------------------------------------------------------------


@implements("cudnnCreateRNNDescriptor")
def created(call: Call) -> None:
    # An earlier descriptor may have had this address.
    plans.pop(call["rnnDesc"].contents.value, None)


@implements("cudnnSetRNNDescriptor_v8")
def configured(call: Call) -> None:
    plans.pop(call["rnnDesc"].value, None)


@implements("cudnnBuildRNNDynamic")
def build_dynamic(call: Call) -> None:
    if rnn(call).held.algorithm != raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC:
        return  # cuDNN succeeds, without a plan
    if call["miniBatch"] < 1:
        raise bad_param(f"miniBatch = {call['miniBatch']} is less than 1")
    plans[call["rnnDesc"].value] = call["miniBatch"]


# -- sizes and weights -------------------------------------------------------------------------


@implements("cudnnGetRNNWeightSpaceSize")
def get_weight_space_size(call: Call) -> None:
    call.require("weightSpaceSize")
    call.put(weightSpaceSize=weight_space_size(rnn(call)))


@implements("cudnnGetRNNTempSpaceSizes")
def get_temp_space_sizes(call: Call) -> None:
    described, x = rnn(call), call.record("xDesc", RNNData)
    call.check()
    training = call["fwdMode"] == raw.CUDNN_FWD_MODE_TRAINING
    call.offer(
        workSpaceSize=workspace_size(described, x),
        reserveSpaceSize=reserve_size(described, x) if training else 0,
    )


@implements("cudnnGetRNNWeightParams")
def get_weight_params(call: Call) -> None:
    described, layer, matrix = rnn(call), call["pseudoLayer"], call["linLayerID"]
    network = described.network
    call.require("mDesc", "mAddr", "bDesc", "bAddr")
    if not 0 <= layer < network.pseudo_layers:
        raise bad_param(f"pseudoLayer = {layer} is not from 0 to {network.pseudo_layers - 1}")
    gates = len(network.gates)
    count = 2 * gates + 1  # cuDNN lets any network ask for the projection of an LSTM
    if not 0 <= matrix < count:
        raise bad_param(f"linLayerID = {matrix} is not from 0 to {count - 1}")
    kind, gate = divmod(matrix, gates)
    names: tuple[str, str] = (("w", "bw"), ("r", "br"), ("p", ""))[kind]
    slots = {
        slot.name: slot
        for slot in weight_slots(network)
        if slot.pseudo_layer == layer and slot.gate in (gate, None)
    }
    itemsize = element_bits(described.data_type) // 8
    wanted = [slots[name] for name in names if name in slots]
    needed = max((slot.offset + math.prod(slot.shape) for slot in wanted), default=0)
    address = call.buffer("weightSpace", needed * itemsize) or 0
    for name, letter in zip(names, "mb", strict=True):
        slot = slots.get(name)
        if slot is None:  # cuDNN sets no dimensions; no function of its API lets us do so
            call.put(**{f"{letter}Addr": None})
            continue
        rows, columns = (*slot.shape, 1)[:2]
        shape, strides = (1, rows, columns), (rows * columns, columns, 1)
        raw.cudnnSetTensorNdDescriptor(
            call[f"{letter}Desc"], described.data_type, 3, shape, strides
        )
        call.put(**{f"{letter}Addr": address + slot.offset * itemsize})


# -- the three passes --------------------------------------------------------------------------


@implements("cudnnRNNForward")
def forward(call: Call) -> None:
    here = Pass(call)
    training = call["fwdMode"] == raw.CUDNN_FWD_MODE_TRAINING
    hx, hy = here.hidden("hx", "hy")
    cx, cy = here.cells("cx", "cy")
    weights = here.weights("weightSpace")
    here.use_workspace()
    tape = here.new_tape() if training else None
    result = rnn_forward(
        here.network,
        weights,
        load_sequences(call, here.x, "x"),
        here.x.lengths,
        hx.load(),
        cx.load(),
        masks=here.masks() if training else None,
        tape=tape,
        compute_dtype=here.dtype,
    )
    store_sequences(call, here.y, "y", result.y)
    hy.store(result.hy)
    cy.store(result.cy)
    if training:
        here.reach(FORWARD_DONE)


@implements("cudnnRNNBackwardData_v8")
def backward_data(call: Call) -> None:
    here = Pass(call)
    # cuDNN reads the hidden states of the last layer there, we in the reserve space.
    check_sequences(call, here.y, "y")
    hx, dhy, dhx = here.hidden("hx", "dhy", "dhx")
    cx, dcy, dcx = here.cells("cx", "dcy", "dcx")
    weights = here.weights("weightSpace")
    here.use_workspace()
    result = rnn_backward_data(
        here.network,
        weights=weights,
        tape=here.tape(FORWARD_DONE),
        dy=load_sequences(call, here.y, "dy"),
        lengths=here.x.lengths,
        dhy=dhy.load(),
        dcy=dcy.load(),
        hx=hx.load(),
        cx=cx.load(),
        compute_dtype=here.dtype,
    )
    store_sequences(call, here.x, "dx", result.dx)
    dhx.store(result.dhx)
    dcx.store(result.dcx)
    here.reach(DATA_DONE)


@implements("cudnnRNNBackwardWeights_v8")
def backward_weights(call: Call) -> None:
    call.require_known("addGrad")
    if call["addGrad"] != raw.CUDNN_WGRAD_MODE_ADD:
        raise not_supported(
            "addGrad: cuDNN supports CUDNN_WGRAD_MODE_ADD only; set dweightSpace to zero before"
        )
    here = Pass(call)
    check_sequences(call, here.y, "y")
    (hx,) = here.hidden("hx")
    call.buffer("dweightSpace", weight_space_size(here.described))
    here.use_workspace()
    gradients = rnn_backward_weights(
        here.network,
        tape=here.tape(DATA_DONE),
        x=load_sequences(call, here.x, "x"),
        lengths=here.x.lengths,
        hx=hx.load(),
        compute_dtype=here.dtype,
    )
    sums = here.weights("dweightSpace", "update")
    for before, gradient in zip(sums, gradients, strict=True):
        for name in ("w", "r", "p", "bw", "br"):
            total = getattr(before, name)
            if total is not None:
                total[...] = total.astype(here.dtype) + getattr(gradient, name)
