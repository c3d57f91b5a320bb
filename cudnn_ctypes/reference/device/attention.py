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

The weight buffer holds the matrices of queries, keys, values and output, then their biases;
operands without a projection have none. This is cuDNN's own layout (read from cuDNN 9.28 with
`cudnnGetMultiHeadAttnWeights`):

- the input matrices of all heads are side by side, one column after the other: element (h, p, v) of
  (H, P, V) is at (v H + h) P + p;
- the output matrices follow each other, one column after the other: element (h, o, p) of (H, O, P)
  is at (h P + p) O + o;
- the biases are dense.

The reserve space's layout is this package's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.descriptors import Attention, SequenceData
from ..attention import (
    WEIGHT_NAMES,
    AttentionForwardResult,
    AttentionGradients,
    attention_backward_data,
    attention_backward_weights,
    attention_forward,
    visible_keys,
    weight_shapes,
)
from ..dropout import factor
from ..tiles import Array
from .call import Call
from .dropout import draw, held
from .memory import Use, at
from .registry import bad_param, implements


class Weight(NamedTuple):
    """A matrix or bias in the weight buffer; offset and strides in elements."""

    offset: int
    shape: tuple[int, int, int]
    strides: tuple[int, int, int]


def weight_layout(attn: Attention) -> dict[str, Weight]:
    """The weights and biases that there are, by the names of `attention.WEIGHT_NAMES`."""
    shapes = weight_shapes(attn.heads, attn.sizes, attn.projections, biases=attn.biases)
    layout, offset = {}, 0
    for name in WEIGHT_NAMES:
        if name in shapes:
            owners, rows, columns = shape = shapes[name]
            if name == "o_weights":
                strides = (rows * columns, 1, rows)
            elif name.endswith("_weights"):
                strides = (rows, 1, owners * rows)
            else:
                strides = (rows, 1, 1)
            layout[name] = Weight(offset, shape, strides)
            offset += owners * rows * columns
    return layout


def weight_bytes(attn: Attention) -> int:
    """Size of the weight buffer."""
    count = sum(int(np.prod(weight.shape)) for weight in weight_layout(attn).values())
    return count * numpy_dtype(attn.data_type).itemsize


def load_weights(
    attn: Attention, address: int | None, name: str, use: Use = "read"
) -> dict[str, Array]:
    """Views of the weights in the buffer at `address`; writing to them writes there."""
    itemsize = numpy_dtype(attn.data_type).itemsize
    return {
        kind: at(
            (address or 0) + weight.offset * itemsize,
            attn.data_type,
            weight.shape,
            weight.strides,
            name,
            use,
        )
        for kind, weight in weight_layout(attn).items()
    }


@dataclass(frozen=True)
class Sizes:
    """The sizes of one call, or the largest that an attention descriptor allows."""

    q_steps: int
    k_steps: int
    batch: int
    beam: int
    k_beam: int

    @classmethod
    def largest(cls, attn: Attention) -> Sizes:
        """The largest sizes, for which buffers are allocated."""
        k_beam = attn.max_beam if attn.one_to_one else 1
        return cls(attn.qo_max_length, attn.kv_max_length, attn.max_batch, attn.max_beam, k_beam)


class Space:
    """Arrays one after the other in a workspace or a reserve space, in the compute type."""

    def __init__(self, attn: Attention, sizes: Sizes, *, training: bool) -> None:
        self._data_type = (
            raw.CUDNN_DATA_DOUBLE
            if attn.compute_data_type == raw.CUDNN_DATA_DOUBLE
            else raw.CUDNN_DATA_FLOAT
        )
        heads, (q, k, v, _) = attn.heads, attn.projected
        queries = (heads, sizes.q_steps, sizes.batch, sizes.beam)
        keys = (heads, sizes.k_steps, sizes.batch, sizes.k_beam)
        attention = (heads, sizes.batch, sizes.beam, sizes.q_steps, sizes.k_steps)
        self.shapes: dict[str, tuple[int, ...]] = {
            "q": (*queries, q),
            "k": (*keys, k),
            "v": (*keys, v),
            "attention": attention,
            "heads": (*queries, v),
        }
        if training:
            self.shapes |= {f"d{name}_projected": self.shapes[name] for name in ("q", "k", "v")}
            if attn.attention_dropout:
                self.shapes["attention_dropout"] = attention
            if attn.output_dropout:
                self.shapes["output_dropout"] = (*queries[1:], attn.projected[3])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the computation: float64 for DOUBLE, float32 for FLOAT and HALF."""
        return numpy_dtype(self._data_type)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values()) * self.dtype.itemsize

    def views(self, address: int | None, name: str, use: Use) -> dict[str, Array]:
        """The arrays in the memory at `address`."""
        count = self.nbytes // self.dtype.itemsize
        buffer = at(address, self._data_type, (count,), (1,), name, use)
        result, start = {}, 0
        for key, shape in self.shapes.items():
            count = int(np.prod(shape))
            result[key] = buffer[start : start + count].reshape(shape)
            start += count
        return result


def store(space: Mapping[str, Array], **arrays: Array | None) -> None:
    """Write arrays where `Space.views` has them; None is left out."""
    for name, array in arrays.items():
        if array is not None:
            space[name][...] = array


class Problem:
    """One call: its descriptors, which fit each other, and views of its memory."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.attn: Attention = call.record("attnDesc", Attention)
        names = [call.named(f"{role}Desc", f"d{role}Desc") for role in "qkvo"]
        records = [call.record(name, SequenceData) for name in names]
        self.q: SequenceData
        self.k: SequenceData
        self.v: SequenceData
        self.o: SequenceData
        self.q, self.k, self.v, self.o = records
        call.check()
        steps, batch, beam, _ = self.q.shape
        self.sizes: Sizes = Sizes(steps, self.k.shape[0], batch, beam, self.k.shape[2])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the computation."""
        return Space(self.attn, self.sizes, training=False).dtype

    def load(self, described: SequenceData, name: str, use: Use = "read") -> Array:
        """Sequences (T, N, B, V), as a view of their memory."""
        shape, strides = described.shape, described.strides
        return at(self.call[name], described.data_type, shape, strides, name, use)

    def inputs(self) -> tuple[Array, Array, Array]:
        """Queries, keys and values."""
        q, k = self.load(self.q, "queries"), self.load(self.k, "keys")
        return q, k, self.load(self.v, "values")

    def lengths(self, described: SequenceData, name: str) -> Array:
        """The lengths of sequences as the GPU gets them, (N, B)."""
        return self.call.array(name, raw.CUDNN_DATA_INT32, *described.shape[1:3])

    def weights(self) -> dict[str, Array]:
        """The weights; refused if their buffer is too small."""
        address = self.call.buffer("weights", weight_bytes(self.attn))
        return load_weights(self.attn, address, "weights")

    def use_workspace(self) -> None:
        """Overwrite the workspace, as the GPU does."""
        self.call.use_workspace("workSpace", workspace_bytes(self.attn))

    def reserve(self, use: Use) -> dict[str, Array]:
        """Views of forward's intermediate results in the reserve space."""
        address = self.call.buffer("reserveSpace", reserve_space(self.attn).nbytes)
        self.call.require("reserveSpace")
        return Space(self.attn, self.sizes, training=True).views(address, "reserveSpace", use)

    def visible(self, current: int | None) -> NDArray[np.bool_]:
        """Which keys each query looks at; of one query if there is a current one."""
        self.call.require("loWinIdx", "hiWinIdx", "devSeqLengthsQO", "devSeqLengthsKV")
        steps = self.q.shape[0]
        windows = np.zeros((2, steps), np.int64)
        # With a current index cuDNN reads that entry only.
        indices = range(steps) if current is None else [current]
        for row, name in zip(windows, ("loWinIdx", "hiWinIdx"), strict=True):
            array = self.call[name]
            if getattr(array, "_length_", steps) <= max(indices):
                raise bad_param(
                    f"{name} has {array._length_} elements, {max(indices) + 1} are needed"
                )
            for t in indices:
                row[t] = array[t]
        of_queries = self.lengths(self.q, "devSeqLengthsQO")
        of_keys = self.lengths(self.k, "devSeqLengthsKV")
        visible = visible_keys(windows[0], windows[1], of_queries, of_keys, self.k.shape[0])
        return visible if current is None else visible[:, :, current : current + 1]


def workspace_bytes(attn: Attention) -> int:
    """Bytes of the workspace for inference, for the attention's largest sizes."""
    return Space(attn, Sizes.largest(attn), training=False).nbytes


def reserve_space(attn: Attention) -> Space:
    """The memory kept for the gradients, for the attention's largest sizes."""
    return Space(attn, Sizes.largest(attn), training=True)


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


def _draw_dropouts(attn: Attention, reserve: dict[str, Array] | None) -> dict[str, Array | None]:
    """The factors of both dropouts, drawn into the reserve space; none in inference."""
    factors: dict[str, Array | None] = {}
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


def _attended(out: Array, reserve: dict[str, Array]) -> AttentionForwardResult:
    """The intermediate results of forward; `out`, of the same shape, replaces its result."""
    names = ("q", "k", "v", "attention", "heads")
    return AttentionForwardResult(out, *(reserve[name] for name in names))
