"""Multi-head attention on the reference device, at the level of the C calls.

The kernels take the sequences' lengths from the arrays in device memory, as on a GPU, where nobody
compares them with those in the descriptors. Padding queries get what an empty window gives: biases
and residuals. Gradients at padding are 0; so they are in cuDNN 9.14 and 9.19, which leave dq alone
past the longest sequence if queries are not projected. Dropout is active in training only.

- BAD_PARAM: NULL; descriptors that do not fit the attention's or each other (`Problem`); a current
  index past the last query, or one in training; residuals where out and queries differ in length;
  buffers that are too small.
- EXECUTION_FAILED: memory that is not there, or too small.

In the weight queries, cuDNN empties the tensor descriptor of a weight that does not exist. Here
the descriptor stays as it is: no public function empties one.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.descriptors import Attention
from ..attention import WEIGHT_NAMES, Attended, attention_forward
from ..attention_backward import (
    DataGradients,
    attention_backward_data,
    attention_backward_weights,
)
from ..dropout import factor
from .attention_memory import Sizes, Space, load_weights, store, weight_bytes, weight_layout
from .attention_problem import Problem, lengths, load, refuse, reserve_space
from .dispatch import Refused, implements
from .dropout import draw, held
from .held import read
from .memory import require, scribble

# --- buffers and weights ------------------------------------------------------------------------


@implements("cudnnGetMultiHeadAttnBuffers")
def get_buffers(
    handle: Any,
    attnDesc: Any,
    weightSizeInBytes: Any,
    workSpaceSizeInBytes: Any,
    reserveSpaceSizeInBytes: Any,
) -> None:
    """Without `reserveSpaceSizeInBytes` the buffers are for inference."""
    require(weightSizeInBytes=weightSizeInBytes, workSpaceSizeInBytes=workSpaceSizeInBytes)
    attn = read(Attention, attnDesc, "attnDesc")
    weightSizeInBytes.contents.value = weight_bytes(attn)
    workSpaceSizeInBytes.contents.value = _workspace_bytes(attn)
    if reserveSpaceSizeInBytes:
        reserveSpaceSizeInBytes.contents.value = reserve_space(attn).nbytes


def _workspace_bytes(attn: Attention) -> int:
    return Space(attn, Sizes.largest(attn), training=False).nbytes


@implements("cudnnGetMultiHeadAttnWeights")
def get_weights(
    handle: Any,
    attnDesc: Any,
    wKind: Any,
    weightSizeInBytes: int,
    weights: int | None,
    wDesc: Any,
    wAddr: Any,
) -> None:
    require(wDesc=wDesc, wAddr=wAddr)
    attn = read(Attention, attnDesc, "attnDesc")
    if not wKind.known:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"wKind is {int(wKind)}")
    _check_weights(attn, weights, weightSizeInBytes)
    weight = weight_layout(attn).get(WEIGHT_NAMES[wKind])
    if weight is None:
        wAddr.contents.value = None
        return
    itemsize = numpy_dtype(attn.data_type).itemsize
    raw.cudnnSetTensorNdDescriptor(wDesc, attn.data_type, 3, weight.shape, weight.strides)
    wAddr.contents.value = (weights or 0) + weight.offset * itemsize


def _check_weights(attn: Attention, weights: int | None, size: int) -> None:
    needed = weight_bytes(attn)
    if size < needed:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"weightSizeInBytes = {size} is less than the {needed} bytes that "
            f"cudnnGetMultiHeadAttnBuffers gives",
        )
    if needed:
        require(weights=weights)


# --- the operation ------------------------------------------------------------------------------


@implements("cudnnMultiHeadAttnForward")
def forward(
    handle: Any,
    attnDesc: Any,
    currIdx: int,
    loWinIdx: Any,
    hiWinIdx: Any,
    devSeqLengthsQO: int | None,
    devSeqLengthsKV: int | None,
    qDesc: Any,
    queries: int | None,
    residuals: int | None,
    kDesc: Any,
    keys: int | None,
    vDesc: Any,
    values: int | None,
    oDesc: Any,
    out: int | None,
    weightSizeInBytes: int,
    weights: int | None,
    workSpaceSizeInBytes: int,
    workSpace: int | None,
    reserveSpaceSizeInBytes: int,
    reserveSpace: int | None,
) -> None:
    call = Problem(attnDesc, qDesc=qDesc, kDesc=kDesc, vDesc=vDesc, oDesc=oDesc)
    attn, training = call.attn, bool(reserveSpace or reserveSpaceSizeInBytes)
    require(queries=queries, keys=keys, values=values, out=out)
    _check_weights(attn, weights, weightSizeInBytes)
    _use_workspace(attn, workSpace, workSpaceSizeInBytes)
    current = _current(call, currIdx, training)
    if residuals and call.q.shape != call.o.shape:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"residuals have vectors as queries do, of {call.q.shape[3]}; out has "
            f"{call.o.shape[3]}",
        )
    now = slice(None) if current is None else slice(current, current + 1)
    visible = call.visible(loWinIdx, hiWinIdx, devSeqLengthsQO, devSeqLengthsKV, current)
    reserve = None
    if training:
        reserve = call.reserve(reserveSpace, reserveSpaceSizeInBytes, "write")
    dropouts = _draw_dropouts(attn, reserve)
    attended = attention_forward(
        load(call.q, queries, "queries")[now],
        load(call.k, keys, "keys"),
        load(call.v, values, "values"),
        load_weights(attn, weights, "weights"),
        heads=attn.heads,
        scaler=attn.scaler,
        visible=visible,
        residuals=load(call.q, residuals, "residuals")[now] if residuals else None,
        compute_dtype=call.dtype,
        **dropouts,
    )
    load(call.o, out, "out", "write")[now] = attended.out
    if reserve is not None:
        store(
            reserve,
            q=attended.q,
            k=attended.k,
            v=attended.v,
            attention=attended.attention,
            heads=attended.heads,
        )


@implements("cudnnMultiHeadAttnBackwardData")
def backward_data(
    handle: Any,
    attnDesc: Any,
    loWinIdx: Any,
    hiWinIdx: Any,
    devSeqLengthsDQDO: int | None,
    devSeqLengthsDKDV: int | None,
    doDesc: Any,
    dout: int | None,
    dqDesc: Any,
    dqueries: int | None,
    queries: int | None,
    dkDesc: Any,
    dkeys: int | None,
    keys: int | None,
    dvDesc: Any,
    dvalues: int | None,
    values: int | None,
    weightSizeInBytes: int,
    weights: int | None,
    workSpaceSizeInBytes: int,
    workSpace: int | None,
    reserveSpaceSizeInBytes: int,
    reserveSpace: int | None,
) -> None:
    """The windows and lengths are in the reserve space: in the attention that forward left."""
    call = Problem(attnDesc, dqDesc=dqDesc, dkDesc=dkDesc, dvDesc=dvDesc, doDesc=doDesc)
    attn = call.attn
    require(
        dout=dout,
        dqueries=dqueries,
        queries=queries,
        dkeys=dkeys,
        keys=keys,
        dvalues=dvalues,
        values=values,
        loWinIdx=loWinIdx,
        hiWinIdx=hiWinIdx,
    )
    lengths(call.q, devSeqLengthsDQDO, "devSeqLengthsDQDO")
    lengths(call.k, devSeqLengthsDKDV, "devSeqLengthsDKDV")
    _check_weights(attn, weights, weightSizeInBytes)
    _use_workspace(attn, workSpace, workSpaceSizeInBytes)
    reserve = call.reserve(reserveSpace, reserveSpaceSizeInBytes, "update")
    do = load(call.o, dout, "dout")
    gradients = attention_backward_data(
        do,
        load(call.q, queries, "queries"),
        load(call.k, keys, "keys"),
        load(call.v, values, "values"),
        _attended(do, reserve),
        load_weights(attn, weights, "weights"),
        scaler=attn.scaler,
        attention_dropout=reserve.get("attention_dropout"),
        output_dropout=reserve.get("output_dropout"),
    )
    load(call.q, dqueries, "dqueries", "write")[...] = gradients.dq
    load(call.k, dkeys, "dkeys", "write")[...] = gradients.dk
    load(call.v, dvalues, "dvalues", "write")[...] = gradients.dv
    store(
        reserve,
        dq_projected=gradients.dq_projected,
        dk_projected=gradients.dk_projected,
        dv_projected=gradients.dv_projected,
    )


@implements("cudnnMultiHeadAttnBackwardWeights")
def backward_weights(
    handle: Any,
    attnDesc: Any,
    addGrad: Any,
    qDesc: Any,
    queries: int | None,
    kDesc: Any,
    keys: int | None,
    vDesc: Any,
    values: int | None,
    doDesc: Any,
    dout: int | None,
    weightSizeInBytes: int,
    weights: int | None,
    dweights: int | None,
    workSpaceSizeInBytes: int,
    workSpace: int | None,
    reserveSpaceSizeInBytes: int,
    reserveSpace: int | None,
) -> None:
    call = Problem(attnDesc, qDesc=qDesc, kDesc=kDesc, vDesc=vDesc, doDesc=doDesc)
    attn = call.attn
    require(queries=queries, keys=keys, values=values, dout=dout)
    _check_weights(attn, weights, weightSizeInBytes)
    if not addGrad.known:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"addGrad is {int(addGrad)}")
    if weight_layout(attn):
        require(dweights=dweights)
    _use_workspace(attn, workSpace, workSpaceSizeInBytes)
    reserve = call.reserve(reserveSpace, reserveSpaceSizeInBytes, "update")
    do = load(call.o, dout, "dout")
    q, k, v = (
        load(sequence, address, name)
        for sequence, address, name in (
            (call.q, queries, "queries"),
            (call.k, keys, "keys"),
            (call.v, values, "values"),
        )
    )
    saved = (reserve[f"d{name}_projected"] for name in ("q", "k", "v"))
    gradients = attention_backward_weights(
        do,
        q,
        k,
        v,
        _attended(do, reserve),
        DataGradients(q, k, v, *saved),
        load_weights(attn, weights, "weights"),
        output_dropout=reserve.get("output_dropout"),
    )
    adds = addGrad == raw.CUDNN_WGRAD_MODE_ADD
    sums = load_weights(attn, dweights, "dweights", "update" if adds else "write")
    for name, memory in sums.items():
        memory[...] = memory + gradients[name] if adds else gradients[name]


def _current(call: Problem, index: int, training: bool) -> int | None:
    """The query to process, None for all."""
    if index < 0:
        return None
    if index >= call.q.shape[0]:
        refuse(f"currIdx is {index}, queries have {call.q.shape[0]} time steps")
    if training:
        refuse(f"currIdx is {index}: one time step at a time is for inference only")
    return index


def _draw_dropouts(
    attn: Attention, reserve: dict[str, NDArray[Any]] | None
) -> dict[str, NDArray[Any] | None]:
    """The factors of both dropouts, drawn into the reserve space; none in inference."""
    factors: dict[str, NDArray[Any] | None] = {}
    for name, descriptor in (
        ("attention_dropout", attn.attention_dropout),
        ("output_dropout", attn.output_dropout),
    ):
        if descriptor and reserve is not None:
            dropout, memory = held(descriptor), reserve[name]
            memory[...] = factor(dropout.rate)
            if dropout.rate:
                memory[~draw(dropout, memory.size).reshape(memory.shape)] = 0
            factors[name] = memory
    return factors


def _attended(out: NDArray[Any], reserve: dict[str, NDArray[Any]]) -> Attended:
    """What forward left; `out` stands for its result, whose shape it has."""
    names = ("q", "k", "v", "attention", "heads")
    return Attended(out, *(reserve[name] for name in names))


def _use_workspace(attn: Attention, address: int | None, size: int) -> None:
    needed = _workspace_bytes(attn)
    if size < needed:
        refuse(f"workSpaceSizeInBytes = {size} is less than the {needed} bytes needed")
    scribble(address, needed, "workSpace")
