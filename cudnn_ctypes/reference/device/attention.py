"""Multi-head attention on the reference device, at the level of the C calls.

The sequences' lengths come from the arrays in device memory, as on a GPU; they are not compared
with the lengths in the descriptors. Padding queries have the output of an empty window: biases and
residuals; a current index past all lengths leaves the output as it is (9.19). Gradients at padding
are 0, as in cuDNN 9.14 and 9.19, which however do not write dq past the longest sequence if queries
are not projected. Dropout is active in training only.

- BAD_PARAM: NULL; descriptors that do not fit the attention's or each other (`Problem`); a current
  index past the last query, or one in training; residuals where out and queries differ in length;
  buffers that are too small.
- EXECUTION_FAILED: memory that is not allocated, or too small.

In the weight queries, cuDNN empties the tensor descriptor of a weight that does not exist. Here the
descriptor stays unchanged: no public function empties a descriptor.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.descriptors import Attention
from ..attention import WEIGHT_NAMES, AttentionForwardResult, attention_forward
from ..attention_backward import (
    AttentionGradients,
    attention_backward_data,
    attention_backward_weights,
)
from ..dropout import factor
from .attention_memory import load_weights, store, weight_bytes, weight_layout
from .attention_problem import Problem, reserve_space, workspace_bytes
from .call import Call
from .dropout import draw, held
from .registry import bad_param, implements

# --- buffers and weights ------------------------------------------------------------------------


@implements("cudnnGetMultiHeadAttnBuffers")
def get_buffers(call: Call) -> None:
    """Write the sizes of the buffers; without `reserveSpaceSizeInBytes` they are for inference."""
    call.require("weightSizeInBytes", "workSpaceSizeInBytes")
    attn = call.record("attnDesc", Attention)
    call.offer(
        weightSizeInBytes=weight_bytes(attn),
        workSpaceSizeInBytes=workspace_bytes(attn),
        reserveSpaceSizeInBytes=reserve_space(attn).nbytes,
    )


@implements("cudnnGetMultiHeadAttnWeights")
def get_weights(call: Call) -> None:
    call.require("wDesc", "wAddr")
    attn, kind = call.record("attnDesc", Attention), call["wKind"]
    call.require_known("wKind")
    needed = weight_bytes(attn)
    address = call.buffer("weights", needed)
    if needed:
        call.require("weights")
    weight = weight_layout(attn).get(WEIGHT_NAMES[kind])
    if weight is None:
        call.put(wAddr=None)
        return
    itemsize = numpy_dtype(attn.data_type).itemsize
    raw.cudnnSetTensorNdDescriptor(call["wDesc"], attn.data_type, 3, weight.shape, weight.strides)
    call.put(wAddr=(address or 0) + weight.offset * itemsize)


# --- the operation ------------------------------------------------------------------------------


@implements("cudnnMultiHeadAttnForward")
def forward(call: Call) -> None:
    here = Problem(call)
    attn = here.attn
    training = bool(call["reserveSpace"] or call["reserveSpaceSizeInBytes"])
    call.require("queries", "keys", "values", "out")
    weights = here.weights()
    here.use_workspace()
    current = _current(here, training)
    if call["residuals"] and here.q.shape != here.o.shape:
        raise bad_param(
            f"residuals have vectors as queries do, of {here.q.shape[3]}; out has {here.o.shape[3]}"
        )
    now = slice(None) if current is None else slice(current, current + 1)
    visible = here.visible(current)
    reserve = here.reserve("write") if training else None
    dropouts = _draw_dropouts(attn, reserve)
    q, k, v = here.inputs()
    attended = attention_forward(
        q[now],
        k,
        v,
        weights,
        heads=attn.heads,
        scaler=attn.scaler,
        visible=visible,
        residuals=here.load(here.q, "residuals")[now] if call["residuals"] else None,
        compute_dtype=here.dtype,
        **dropouts,
    )
    if current is None or current < here.lengths(here.q, "devSeqLengthsQO").max():
        here.load(here.o, "out", "write")[now] = attended.y
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
def backward_data(call: Call) -> None:
    """The windows and lengths are in the reserve space: in the attention that forward left."""
    here = Problem(call)
    call.require("dout", "dqueries", "queries", "dkeys", "keys", "dvalues", "values")
    call.require("loWinIdx", "hiWinIdx")
    here.lengths(here.q, "devSeqLengthsDQDO")
    here.lengths(here.k, "devSeqLengthsDKDV")
    weights = here.weights()
    here.use_workspace()
    reserve = here.reserve("update")
    dout = here.load(here.o, "dout")
    gradients = attention_backward_data(
        **dict(zip("qkv", here.inputs(), strict=True)),
        dy=dout,
        attended=_attended(dout, reserve),
        weights=weights,
        scaler=here.attn.scaler,
        attention_dropout=reserve.get("attention_dropout"),
        output_dropout=reserve.get("output_dropout"),
    )
    here.load(here.q, "dqueries", "write")[...] = gradients.dq
    here.load(here.k, "dkeys", "write")[...] = gradients.dk
    here.load(here.v, "dvalues", "write")[...] = gradients.dv
    store(
        reserve,
        dq_projected=gradients.dq_projected,
        dk_projected=gradients.dk_projected,
        dv_projected=gradients.dv_projected,
    )


@implements("cudnnMultiHeadAttnBackwardWeights")
def backward_weights(call: Call) -> None:
    here = Problem(call)
    attn = here.attn
    call.require("queries", "keys", "values", "dout")
    weights = here.weights()
    call.require_known("addGrad")
    if weight_layout(attn):
        call.require("dweights")
    here.use_workspace()
    reserve = here.reserve("update")
    dout = here.load(here.o, "dout")
    inputs = here.inputs()
    saved = (reserve[f"d{name}_projected"] for name in ("q", "k", "v"))
    gradients = attention_backward_weights(
        **dict(zip("qkv", inputs, strict=True)),
        dy=dout,
        attended=_attended(dout, reserve),
        gradients=AttentionGradients(*inputs, *saved),
        weights=weights,
        output_dropout=reserve.get("output_dropout"),
    )
    adds = call["addGrad"] == raw.CUDNN_WGRAD_MODE_ADD
    sums = load_weights(attn, call["dweights"], "dweights", "update" if adds else "write")
    for name, memory in sums.items():
        memory[...] = memory + gradients[name] if adds else gradients[name]


def _current(here: Problem, training: bool) -> int | None:
    """The query to process, None for all."""
    index: int = here.call["currIdx"]
    if index < 0:
        return None
    if index >= here.q.shape[0]:
        raise bad_param(f"currIdx is {index}, queries have {here.q.shape[0]} time steps")
    if training:
        raise bad_param(f"currIdx is {index}: one time step at a time is for inference only")
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


def _attended(out: NDArray[Any], reserve: dict[str, NDArray[Any]]) -> AttentionForwardResult:
    """The intermediate results of forward; `out`, of the same shape, replaces its result."""
    names = ("q", "k", "v", "attention", "heads")
    return AttentionForwardResult(out, *(reserve[name] for name in names))
