"""Checks of attention's operands and options, and which keys a query may look at."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ....arguments import flag, integer
from ....dtypes import data_type_name
from ....raw import cudnnDataType_t
from ....raw.strides import broadcast
from ....raw.values import described
from ..node import Node
from ..tensor import Tensor

_LENGTH_TYPES = (None, cudnnDataType_t.CUDNN_DATA_INT32, cudnnDataType_t.CUDNN_DATA_INT64)

_LARGEST = (1 << 31) - 1  # of 2**31 heads cuDNN 9.28 makes 0 and divides by it


@dataclass(frozen=True)
class Mask:
    """Which keys a query may look at, and what is added to its scores.

    Query i may look at key j if i' - left < j <= i' + right, where i' = i; from the bottom right
    i' = i + s_kv - s_q.

    - `left`, `right`: the band around the diagonal; a causal mask has right = 0.
    - `bottom_right`: count from the last query and key, not from the first.
    - `bias`: (b or 1, h or 1, s_q or 1, s_kv), added to the scores.
    - `alibi`: add to each score the distance j - i times the slope of its head.
    - `seq_len_q`, `seq_len_kv`: (b, 1, 1, 1), int32 or int64: what lies beyond is padding.
    """

    left: int | None = None
    right: int | None = None
    bottom_right: bool = False
    bias: Tensor | None = None
    alibi: bool = False
    seq_len_q: Tensor | None = None
    seq_len_kv: Tensor | None = None


def mask_of(node: Node) -> Mask:
    """The mask that the options and operands of a node of attention say."""
    options = node.options
    left, right = (options.get(f"diagonal_band_{side}_bound") for side in ("left", "right"))
    last = bool(options.get("use_causal_mask_bottom_right"))
    return Mask(
        options.get("sliding_window_length") if left is None else left,
        0 if last or options.get("use_causal_mask") else right,
        last or options.get("diagonal_alignment") == "bottom_right",
        node.inputs.get("bias"),
        bool(options.get("use_alibi_mask")),
        node.inputs.get("seq_len_q"),
        node.inputs.get("seq_len_kv"),
    )


def is_paged(node: Node) -> bool:
    """Whether keys or values of a node of attention lie in pages."""
    return any(f"paged_attention_{port}_table" in node.inputs for port in "kv")


def score_dims(node: Node) -> tuple[int, ...] | None:
    """(b, h, s_q, s_kv) of a node of attention; None if the dims of its operands do not say."""
    q = node.inputs["q"]
    for port in "kv":
        tensor, table = node.inputs[port], node.inputs.get(f"paged_attention_{port}_table")
        length = None if tensor.dims is None else tensor.dims[2]
        if table is not None:
            longest = node.options.get("paged_attention_max_seq_len_kv")
            pages = None if length is None or table.dims is None else length * table.dims[2]
            length = pages if longest is None else longest
        if q.dims is not None and length is not None:
            return (*q.dims[:3], length)
    return None


class AttentionCheck:
    """The checks of one operation; each raises with a message that names it and the tensor.

    - `operation`: "sdpa 'name'".
    """

    def __init__(self, operation: str) -> None:
        self.operation = operation

    def refuse(self, reason: str) -> NoReturn:
        raise ValueError(f"{self.operation}: {reason}")

    def tensor(self, port: str, value: Any) -> None:
        """Refuse what is no tensor."""
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{self.operation}: {port}: expected a Tensor of this graph, got {described(value)}"
            )

    def flags(self, **given: Any) -> None:
        """Refuse what is neither true nor false, nor 0 or 1."""
        for name, value in given.items():
            if not (isinstance(value, numbers.Integral) and value in (0, 1)):
                flag(f"{self.operation}: {name}", value)

    def forward(self, node: Node) -> None:
        """The operands of a forward pass; what pages hold is as long as the lengths say."""
        paged = is_paged(node)
        self.operands(node, paged=paged)
        if paged and not any(f"{each}seq_len_kv" in node.inputs for each in ("", "cu_")):
            raise TypeError(f"{self.operation}: with pages seq_len_q and seq_len_kv are needed")

    def operands(self, node: Node, *, paged: bool = False) -> None:
        """q (b, h, s_q, d), k (b, h_k, s_kv, d), v (b, h_v, s_kv, d_v), or pages of k and v."""
        q, k, v = (node.inputs[port] for port in "qkv")
        for port, tensor in (("q", q), ("k", k), ("v", v)):
            self.four_dimensions(port, tensor)
        if q.dims is None:
            return
        for port, tensor in (("k", k), ("v", v)):
            if tensor.dims is None:
                continue
            if not paged and tensor.dims[0] != q.dims[0]:
                self.refuse(f"{port} {_told(tensor)} has another batch size than q {_told(q)}")
            if q.dims[1] % tensor.dims[1]:
                self.refuse(
                    f"the {tensor.dims[1]} heads of {port} {_told(tensor)} do not divide the "
                    f"{q.dims[1]} of q {_told(q)}"
                )
        if k.dims is not None and k.dims[3] != q.dims[3]:
            self.refuse(f"heads of k {_told(k)} and q {_told(q)} differ in their size")
        if k.dims is not None and v.dims is not None and not paged and k.dims[2] != v.dims[2]:
            self.refuse(f"k {_told(k)} and v {_told(v)} differ in their number of tokens")

    def gradients(self, node: Node) -> None:
        """The operands of a backward pass."""
        self.operands(node)
        q, v = node.inputs["q"], node.inputs["v"]
        for port in ("o", "dO"):
            self.four_dimensions(port, node.inputs[port])
            if q.dims is not None and v.dims is not None:
                self.same_dims(port, node.inputs[port], (*q.dims[:3], v.dims[3]))
        if q.dims is not None:
            self.same_dims("stats", node.inputs["stats"], (*q.dims[:3], 1))

    def same_heads(self, node: Node) -> None:
        q = node.inputs["q"]
        for port in "kv":
            tensor = node.inputs[port]
            if q.dims is not None and tensor.dims is not None and q.dims[1] != tensor.dims[1]:
                self.refuse(f"{port} {_told(tensor)} must have as many heads as q {_told(q)}")

    def four_dimensions(self, port: str, tensor: Tensor) -> None:
        self.tensor(port, tensor)
        if tensor.dims is None:
            return
        if len(tensor.dims) != 4:
            self.refuse(f"{port} {_told(tensor)} must be (batch, heads, tokens, head size)")

    def same_dims(self, port: str, tensor: Tensor, dims: tuple[int, ...]) -> None:
        self.tensor(port, tensor)
        if tensor.dims is not None and tensor.dims != dims:
            self.refuse(f"{port} {_told(tensor)} must be {dims}")

    def bias(self, bias: Tensor, scores: tuple[int, ...]) -> None:
        self.tensor("bias", bias)
        if bias.dims is not None and broadcast(bias.dims, scores) != scores:
            self.refuse(f"bias {_told(bias)} does not broadcast to the scores {scores}")

    def lengths(self, node: Node, batch: int | None) -> None:
        """Both or none, int32 or int64, one per sequence, or the sums of those before each."""
        names = ("seq_len_q", "seq_len_kv")
        found = [[each for each in (name, f"cu_{name}") if each in node.inputs] for name in names]
        for several in found:
            if len(several) > 1:
                self.refuse(f"{' and '.join(several)} say the same: give one of them")
        if bool(found[0]) != bool(found[1]):
            raise TypeError(f"{self.operation}: {' and '.join(names)} go together")
        for (name,) in found if found[0] else ():
            tensor, extra = node.inputs[name], int(name.startswith("cu_"))
            if batch is not None and tensor.dims != (batch + extra, 1, 1, 1):
                self.refuse(f"{name} {_told(tensor)} must be {(batch + extra, 1, 1, 1)}")
            if tensor.data_type not in _LENGTH_TYPES:
                self.refuse(f"{name} {tensor.name!r} must be int32 or int64")

    def bounds(self, left: Any, right: Any) -> None:
        for name, value, least in (("left", left, 1), ("right", right, 0)):
            argument = f"{self.operation}: the {name} bound"
            if value is not None and integer(argument, value) < least:
                self.refuse(f"the {name} bound must be at least {least}, got {value}")

    def small_operands(self, node: Node, dims: tuple[int, ...] | None) -> None:
        """Sinks, scales and tables of pages, by what they broadcast to or index."""
        for port, tensor in node.inputs.items():
            if tensor.dims is None or dims is None:
                continue
            if port == "sink_token" and broadcast(tensor.dims, (*dims[:3], 1)) != (*dims[:3], 1):
                self.refuse(f"sink_token {_told(tensor)} must be {(1, dims[1], 1, 1)}")
            if "scale" in port and math.prod(tensor.dims) != 1:
                self.refuse(f"{port} {_told(tensor)} must be one number, (1, 1, 1, 1)")
            if port.startswith("paged_attention_"):
                pages = node.inputs[port.removeprefix("paged_attention_")[0]]
                if len(tensor.dims) != 4 or tensor.dims[0] != dims[0]:
                    self.refuse(f"{port} {_told(tensor)} must be ({dims[0]}, 1, pages, 1)")
                if pages.dims is not None and dims[3] > tensor.dims[2] * pages.dims[2]:
                    self.refuse(
                        f"paged_attention_max_seq_len_kv {dims[3]} does not fit in "
                        f"{tensor.dims[2]} pages of {pages.dims[2]}"
                    )

    def dropout(self, node: Node, dims: tuple[int, ...] | None) -> None:
        """A mask like the scores, or a probability."""
        mask = node.inputs.get("dropout_mask")
        if mask is not None and dims is not None:
            self.same_dims("the dropout mask", mask, dims)
        probability = node.options.get("dropout_probability")
        if probability is not None and not 0 <= float(probability) < 1:
            self.refuse(f"a dropout probability is from 0 to below 1, got {probability!r}")
        if "rng_dump" in node.outputs and probability is None:
            if mask is None:
                raise TypeError(f"{self.operation}: rng_dump without dropout")
            self.refuse("rng_dump: there is no random mask where dropout is by a mask")

    def softmax_parts(self, node: Node, *, alone: bool) -> None:
        """Both or none, float32, one number per query; if `alone`, not with stats or a sink."""
        present = {
            name: node.outputs[name]
            for name in ("score_max", "score_sum_exp")
            if name in node.outputs
        }
        if not present:
            return
        if len(present) == 1:
            raise TypeError(f"{self.operation}: score_max and score_sum_exp go together")
        if alone and "stats" in node.outputs:
            self.refuse("score_max and score_sum_exp take the place of generate_stats")
        if alone and "sink_token" in node.inputs:
            self.refuse("score_max and score_sum_exp go without sink_token: cuDNN has no engine")
        dims = score_dims(node)
        for name, tensor in present.items():
            if dims is not None:
                self.same_dims(name, tensor, (*dims[:3], 1))
            if tensor.data_type not in (None, cudnnDataType_t.CUDNN_DATA_FLOAT):
                self.refuse(f"{name} {tensor.name!r} must be float32")

    def fp8(self, tensors: Mapping[str, Tensor], default: cudnnDataType_t | None = None) -> None:
        """All are of one of the two 8-bit types that the tensor cores take."""
        wanted = (cudnnDataType_t.CUDNN_DATA_FP8_E4M3, cudnnDataType_t.CUDNN_DATA_FP8_E5M2)
        for port, tensor in tensors.items():
            self.tensor(port, tensor)
            data_type = default if tensor.data_type is None else tensor.data_type
            if data_type is not None and data_type not in wanted:
                self.refuse(
                    f"{port} {tensor.name!r} must be fp8_e4m3 or fp8_e5m2, not "
                    f"{data_type_name(data_type)}"
                )


def check_mask(node: Node, check: AttentionCheck) -> Mask:
    """The mask of a node of attention, if its options and operands go together."""
    options, dims = node.options, score_dims(node)
    alignment = options.get("diagonal_alignment", "top_left")
    if alignment not in ("top_left", "bottom_right"):
        check.refuse(
            f'diagonal_alignment: expected "top_left" or "bottom_right", got {alignment!r}'
        )
    left, right = (options.get(f"diagonal_band_{side}_bound") for side in ("left", "right"))
    if left is not None and options.get("sliding_window_length") is not None:
        check.refuse("sliding_window_length and diagonal_band_left_bound are the same")
    mask = mask_of(node)
    check.bounds(mask.left, right)
    causal = options.get("use_causal_mask") or options.get("use_causal_mask_bottom_right")
    if causal and right not in (None, 0):
        check.refuse(f"a causal mask has no diagonal_band_right_bound, got {right}")
    if options.get("use_causal_mask") and mask.bottom_right:
        check.refuse(
            "use_causal_mask begins at the top left: for the bottom right give "
            "use_causal_mask_bottom_right alone"
        )
    check.lengths(node, dims[0] if dims else None)
    if mask.bias is not None and dims is not None:
        check.bias(mask.bias, dims)
    check.dropout(node, dims)
    check.small_operands(node, dims)
    return mask


def _told(tensor: Tensor) -> str:
    return f"{tensor.name!r} {tensor.dims}"


def settle_dropout(check: AttentionCheck, arguments: dict[str, Any]) -> None:
    """Put a dropout among the arguments as what the node has of it."""
    dropout = arguments.pop("dropout", None)
    if dropout is None:
        return
    if not isinstance(dropout, (tuple, list)) or not dropout:
        raise TypeError(
            f"{check.operation}: dropout: expected (probability, seed, offset) or "
            f"(mask, scale), got {described(dropout)}"
        )
    first, *rest = dropout
    if isinstance(first, Tensor):
        if len(rest) not in (1, 2):
            check.refuse("a dropout by a mask is (mask, scale)")
        arguments |= {"dropout_mask": first, "dropout_scale": rest[0]}
        arguments["unused"] = [each for each in rest[1:] if isinstance(each, Tensor)]
        return
    if len(rest) != 2:
        check.refuse("a dropout by a probability is (probability, seed, offset)")
    if isinstance(first, bool) or not isinstance(first, numbers.Real):
        raise TypeError(
            f"{check.operation}: dropout: expected a probability or a mask first, got "
            f"{described(first)}"
        )
    arguments["dropout_probability"] = float(first)
    arguments["dropout_seed"], arguments["dropout_offset"] = rest


def check_sizes(node: Node) -> None:
    """Refuse sizes that attention as one operation divides by as 0."""
    for port in "qkv":
        tensor = node.inputs[port]
        if max(tensor.dims) > _LARGEST:
            node.refuse(f"{port} {tensor.name!r} {tensor.dims}: a size must fit in 32 bits")
