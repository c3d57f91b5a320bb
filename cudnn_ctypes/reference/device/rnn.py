"""Recurrent networks on the reference device: sizes, weights, forward and backward.

Kernels' limits are not imitated: every algorithm computes every network, variable lengths included.
But CUDNN_RNN_ALGO_PERSIST_DYNAMIC asks for `cudnnBuildRNNDynamic` first, as on a GPU.
"""

from __future__ import annotations

import math

from ... import raw
from ...dtypes import element_bits
from ...raw.descriptors import RNNData
from ..rnn import rnn_backward_data, rnn_backward_weights, rnn_forward
from ..rnn_network import weight_slots
from . import rnn_sequences
from .call import Call
from .recurrent import rnn
from .registry import bad_param, follows, implements, not_supported
from .rnn_call import (
    DATA_DONE,
    FORWARD_DONE,
    Pass,
    plans,
    reserve_size,
    weight_space_size,
    workspace_size,
)

# -- dynamic plans -----------------------------------------------------------------------------


@follows("cudnnCreateRNNDescriptor")
def created(call: Call) -> None:
    # An earlier descriptor may have had this address.
    plans.pop(call["rnnDesc"].contents.value, None)


@follows("cudnnSetRNNDescriptor_v8")
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
        rnn_sequences.load(call, here.x, "x"),
        here.x.lengths,
        hx.load(),
        cx.load(),
        masks=here.masks() if training else None,
        tape=tape,
        compute_dtype=here.dtype,
    )
    rnn_sequences.store(call, here.y, "y", result.y)
    hy.store(result.hy)
    cy.store(result.cy)
    if training:
        here.reach(FORWARD_DONE)


@implements("cudnnRNNBackwardData_v8")
def backward_data(call: Call) -> None:
    here = Pass(call)
    # cuDNN reads the hidden states of the last layer there, we in the reserve space.
    rnn_sequences.check(call, here.y, "y")
    hx, dhy, dhx = here.hidden("hx", "dhy", "dhx")
    cx, dcy, dcx = here.cells("cx", "dcy", "dcx")
    weights = here.weights("weightSpace")
    here.use_workspace()
    result = rnn_backward_data(
        here.network,
        weights=weights,
        tape=here.tape(FORWARD_DONE),
        dy=rnn_sequences.load(call, here.y, "dy"),
        lengths=here.x.lengths,
        dhy=dhy.load(),
        dcy=dcy.load(),
        hx=hx.load(),
        cx=cx.load(),
        compute_dtype=here.dtype,
    )
    rnn_sequences.store(call, here.x, "dx", result.dx)
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
    packed = here.y.layout == raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED
    if call["y"] or here.x.max_length > 1 or not packed:  # of one packed step cuDNN reads no y
        rnn_sequences.check(call, here.y, "y")
    (hx,) = here.hidden("hx")
    call.buffer("dweightSpace", weight_space_size(here.described))
    here.use_workspace()
    gradients = rnn_backward_weights(
        here.network,
        tape=here.tape(DATA_DONE),
        x=rnn_sequences.load(call, here.x, "x"),
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
