"""Recurrent networks on the reference device: sizes, weights, forward and backward.

Kernels' limits are not imitated: every algorithm computes every network, variable lengths included.
But CUDNN_RNN_ALGO_PERSIST_DYNAMIC asks for `cudnnBuildRNNDynamic` first, as on a GPU.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from ... import raw
from ...dtypes import element_bits
from ...raw.descriptors import RNNData
from ..arithmetic import round_to
from ..rnn import rnn_backward_data, rnn_backward_weights, rnn_forward
from ..rnn_network import weight_slots
from . import rnn_sequences
from .dispatch import Refused, follows, implements
from .held import read
from .memory import Operand, require
from .recurrent import rnn
from .rnn_call import (
    DATA_DONE,
    FORWARD_DONE,
    Call,
    bad,
    check_data,
    check_weight_space,
    plans,
    reserve_size,
    weight_space_size,
    workspace_size,
)

# -- dynamic plans -----------------------------------------------------------------------------


@follows("cudnnCreateRNNDescriptor")
def created(rnnDesc: Any) -> None:
    # An earlier descriptor may have had this address.
    plans.pop(getattr(rnnDesc, "value", None) or rnnDesc.contents.value, None)


@follows("cudnnSetRNNDescriptor_v8")
def configured(rnnDesc: Any, *_: Any) -> None:
    plans.pop(getattr(rnnDesc, "_as_parameter_", rnnDesc).value, None)


@implements("cudnnBuildRNNDynamic")
def build_dynamic(handle: Any, rnnDesc: Any, miniBatch: int) -> None:
    if rnn(rnnDesc, "rnnDesc").held.algorithm != raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC:
        return  # cuDNN succeeds, without a plan
    if miniBatch < 1:
        raise bad(f"miniBatch = {miniBatch} is less than 1")
    plans[rnnDesc.value] = miniBatch


# -- sizes and weights -------------------------------------------------------------------------


@implements("cudnnGetRNNWeightSpaceSize")
def get_weight_space_size(handle: Any, rnnDesc: Any, weightSpaceSize: Any) -> None:
    require(weightSpaceSize=weightSpaceSize)
    weightSpaceSize.contents.value = weight_space_size(rnn(rnnDesc, "rnnDesc"))


@implements("cudnnGetRNNTempSpaceSizes")
def get_temp_space_sizes(
    handle: Any,
    rnnDesc: Any,
    fwdMode: raw.cudnnForwardMode_t,
    xDesc: Any,
    workSpaceSize: Any,
    reserveSpaceSize: Any,
) -> None:
    described, x = rnn(rnnDesc, "rnnDesc"), read(RNNData, xDesc, "xDesc")
    check_data(described, x, described.network.input_size, "xDesc")
    if workSpaceSize:
        workSpaceSize.contents.value = workspace_size(described, x)
    if reserveSpaceSize:
        training = fwdMode == raw.CUDNN_FWD_MODE_TRAINING
        reserveSpaceSize.contents.value = reserve_size(described, x) if training else 0


@implements("cudnnGetRNNWeightParams")
def get_weight_params(
    handle: Any,
    rnnDesc: Any,
    pseudoLayer: int,
    weightSpaceSize: int,
    weightSpace: int | None,
    linLayerID: int,
    mDesc: Any,
    mAddr: Any,
    bDesc: Any,
    bAddr: Any,
) -> None:
    described = rnn(rnnDesc, "rnnDesc")
    network = described.network
    require(mDesc=mDesc, mAddr=mAddr, bDesc=bDesc, bAddr=bAddr)
    if not 0 <= pseudoLayer < network.pseudo_layers:
        raise bad(f"pseudoLayer = {pseudoLayer} is not from 0 to {network.pseudo_layers - 1}")
    gates = len(network.gates)
    count = 2 * gates + (network.cell == "lstm")
    if not 0 <= linLayerID < count:
        raise bad(f"linLayerID = {linLayerID} is not from 0 to {count - 1}")
    kind, gate = divmod(linLayerID, gates)
    names: tuple[str, str] = (("w", "bw"), ("r", "br"), ("p", ""))[kind]
    slots = {
        slot.name: slot
        for slot in weight_slots(network)
        if slot.pseudo_layer == pseudoLayer and slot.gate in (gate, None)
    }
    itemsize = element_bits(described.data_type) // 8
    wanted = [slots[name] for name in names if name in slots]
    needed = max((slot.offset + math.prod(slot.shape) for slot in wanted), default=0)
    if weightSpaceSize < needed * itemsize:
        raise bad(f"weightSpaceSize = {weightSpaceSize} ends before linLayerID = {linLayerID}")
    for name, descriptor, pointer in zip(names, (mDesc, bDesc), (mAddr, bAddr), strict=True):
        slot = slots.get(name)
        if slot is None:  # cuDNN sets no dimensions; no function of its API lets us do so
            pointer.contents.value = None
            continue
        rows, columns = (*slot.shape, 1)[:2]
        raw.cudnnSetTensorNdDescriptor(
            descriptor, described.data_type, 3, (1, rows, columns), (rows * columns, columns, 1)
        )
        pointer.contents.value = (weightSpace or 0) + slot.offset * itemsize


# -- the three passes --------------------------------------------------------------------------


@implements("cudnnRNNForward")
def forward(
    handle: Any,
    rnnDesc: Any,
    fwdMode: raw.cudnnForwardMode_t,
    devSeqLengths: int | None,
    xDesc: Any,
    x: int | None,
    yDesc: Any,
    y: int | None,
    hDesc: Any,
    hx: int | None,
    hy: int | None,
    cDesc: Any,
    cx: int | None,
    cy: int | None,
    weightSpaceSize: int,
    weightSpace: int | None,
    workSpaceSize: int,
    workSpace: int | None,
    reserveSpaceSize: int,
    reserveSpace: int | None,
) -> None:
    call = Call(rnnDesc, xDesc, yDesc, devSeqLengths)
    training = fwdMode == raw.CUDNN_FWD_MODE_TRAINING
    hidden = call.states(hDesc, "h", call.network.output_size, hx=hx, hy=hy)
    cells = call.cell_states(cDesc, cx=cx, cy=cy)
    weights = call.weights(weightSpaceSize, weightSpace, "weightSpace")
    call.use_workspace(workSpaceSize, workSpace)
    tape = call.new_tape(reserveSpaceSize, reserveSpace) if training else None
    result = rnn_forward(
        call.network,
        weights,
        rnn_sequences.load(call.x, x, "x"),
        call.x.lengths,
        _loaded(hidden["hx"]),
        _loaded(cells["cx"]),
        masks=call.masks() if training else None,
        tape=tape,
        compute_dtype=call.dtype,
    )
    rnn_sequences.store(call.y, y, result.y, "y", padding=call.y.padding_fill)
    _store(hidden["hy"], result.hy)
    _store(cells["cy"], result.cy)
    if training:
        call.header(reserveSpace)[:] = call.signature, FORWARD_DONE


@implements("cudnnRNNBackwardData_v8")
def backward_data(
    handle: Any,
    rnnDesc: Any,
    devSeqLengths: int | None,
    yDesc: Any,
    y: int | None,
    dy: int | None,
    xDesc: Any,
    dx: int | None,
    hDesc: Any,
    hx: int | None,
    dhy: int | None,
    dhx: int | None,
    cDesc: Any,
    cx: int | None,
    dcy: int | None,
    dcx: int | None,
    weightSpaceSize: int,
    weightSpace: int | None,
    workSpaceSize: int,
    workSpace: int | None,
    reserveSpaceSize: int,
    reserveSpace: int | None,
) -> None:
    call = Call(rnnDesc, xDesc, yDesc, devSeqLengths)
    # cuDNN reads the hidden states of the last layer there, we in the reserve space.
    rnn_sequences.check(call.y, y, "y")
    hidden = call.states(hDesc, "h", call.network.output_size, hx=hx, dhy=dhy, dhx=dhx)
    cells = call.cell_states(cDesc, cx=cx, dcy=dcy, dcx=dcx)
    weights = call.weights(weightSpaceSize, weightSpace, "weightSpace")
    call.use_workspace(workSpaceSize, workSpace)
    tape = call.tape(reserveSpaceSize, reserveSpace, FORWARD_DONE)
    result = rnn_backward_data(
        call.network,
        weights,
        tape,
        rnn_sequences.load(call.y, dy, "dy"),
        call.x.lengths,
        _loaded(hidden["dhy"]),
        _loaded(cells["dcy"]),
        _loaded(hidden["hx"]),
        _loaded(cells["cx"]),
        compute_dtype=call.dtype,
    )
    rnn_sequences.store(call.x, dx, result.dx, "dx", padding=call.x.padding_fill)
    _store(hidden["dhx"], result.dhx)
    _store(cells["dcx"], result.dcx)
    call.header(reserveSpace)[1] = DATA_DONE


@implements("cudnnRNNBackwardWeights_v8")
def backward_weights(
    handle: Any,
    rnnDesc: Any,
    addGrad: raw.cudnnWgradMode_t,
    devSeqLengths: int | None,
    xDesc: Any,
    x: int | None,
    hDesc: Any,
    hx: int | None,
    yDesc: Any,
    y: int | None,
    weightSpaceSize: int,
    dweightSpace: int | None,
    workSpaceSize: int,
    workSpace: int | None,
    reserveSpaceSize: int,
    reserveSpace: int | None,
) -> None:
    if addGrad != raw.CUDNN_WGRAD_MODE_ADD:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            "addGrad: cuDNN supports CUDNN_WGRAD_MODE_ADD only; set dweightSpace to zero before",
        )
    call = Call(rnnDesc, xDesc, yDesc, devSeqLengths)
    rnn_sequences.check(call.y, y, "y")
    hidden = call.states(hDesc, "h", call.network.output_size, hx=hx)
    check_weight_space(call.described, weightSpaceSize)
    call.use_workspace(workSpaceSize, workSpace)
    gradients = rnn_backward_weights(
        call.network,
        call.tape(reserveSpaceSize, reserveSpace, DATA_DONE),
        rnn_sequences.load(call.x, x, "x"),
        call.x.lengths,
        _loaded(hidden["hx"]),
        compute_dtype=call.dtype,
    )
    sums = call.weights(weightSpaceSize, dweightSpace, "dweightSpace", "update")
    for before, gradient in zip(sums, gradients, strict=True):
        for name in ("w", "r", "p", "bw", "br"):
            total = getattr(before, name)
            if total is not None:
                total[...] = total.astype(call.dtype) + getattr(gradient, name)


def _loaded(operand: Operand | None) -> NDArray[Any] | None:
    return None if operand is None else operand.load()


def _store(operand: Operand | None, values: NDArray[Any] | None) -> None:
    if operand is not None and values is not None:
        operand.store(round_to(values, operand.dtype))
