"""Which sizes of a graph's tensors are one: channels, rows, the size of heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....raw import cudnnBackendNormMode_t, cudnnPointwiseMode_t
from ..node import Node
from ..operations.attention import SDPA, SDPA_BACKWARD
from ..operations.attention_fp8 import SDPA_FP8, SDPA_FP8_BACKWARD
from ..operations.attention_unified import SDPA_UNIFIED, SDPA_UNIFIED_BACKWARD
from ..operations.batch_normalization import BATCHNORM_INFERENCE, BN_BACKWARD_WEIGHTS, BN_FINALIZE
from ..operations.convolutions import CONV_DGRAD, CONV_FPROP, CONV_WGRAD
from ..operations.normalizations import NORM_BACKWARD, NORM_FORWARD
from ..operations.pointwise import ELEMENT_WISE
from ..operations.reductions import GENSTATS, MATMUL
from ..operations.resampling import RESAMPLE_BACKWARD, RESAMPLE_FORWARD
from ..tensor import Tensor
from .layouts import plain

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["Axis", "AxisLinks"]

_Mode = cudnnPointwiseMode_t
_UNBOUNDED = (
    _Mode.CUDNN_POINTWISE_DIV,
    _Mode.CUDNN_POINTWISE_LOG,
    _Mode.CUDNN_POINTWISE_RSQRT,
    _Mode.CUDNN_POINTWISE_RECIPROCAL,
    _Mode.CUDNN_POINTWISE_POW,
    _Mode.CUDNN_POINTWISE_MOD,
)
"""Operations that give infinity or NaN for zeros; times zero, that is not zero."""
_OF_CHANNELS = (cudnnBackendNormMode_t.CUDNN_BATCH_NORM, cudnnBackendNormMode_t.CUDNN_INSTANCE_NORM)
_BY_CHANNELS = (
    RESAMPLE_FORWARD,
    RESAMPLE_BACKWARD,
    GENSTATS,
    BN_FINALIZE,
    BN_BACKWARD_WEIGHTS,
    BATCHNORM_INFERENCE,
)
_BACKWARD = (SDPA_BACKWARD, SDPA_FP8_BACKWARD, SDPA_UNIFIED_BACKWARD)
_ATTENTION = (SDPA, SDPA_FP8, SDPA_UNIFIED, *_BACKWARD)

Axis = tuple[int, int]
"""A tensor's id, and one of its dimensions."""


class AxisLinks:
    """Which dimensions of which tensors are one size, as long as each operation is as it is."""

    def __init__(self, graph: Graph) -> None:
        self.tensors: dict[int, Tensor] = {id(each): each for each in graph.tensors}
        self._parents: dict[Axis, Axis] = {}
        self._sealed: set[Axis] = set()
        self._made_by = {id(each): node for node in graph.nodes for each in node.results}
        self._virtual = {id(each) for each in graph.tensors if each.virtual}
        for node in graph.nodes:
            self._of_node(node)
        for tensor in graph.tensors:
            if not tensor.virtual and not tensor.by_value and not plain(tensor):
                self._seal(tensor)

    def groups(self) -> list[list[Axis]]:
        """Axes that can grow together, in the order of the graph's tensors."""
        found: dict[Axis, list[Axis]] = {}
        for each, tensor in self.tensors.items():
            for axis in range(tensor.rank):
                if (each, axis) in self._parents:
                    found.setdefault(self._root((each, axis)), []).append((each, axis))
        closed = {self._root(each) for each in self._sealed}
        return [group for root, group in found.items() if root not in closed]

    def _root(self, each: Axis) -> Axis:
        while self._parents.setdefault(each, each) != each:
            each = self._parents[each]
        return each

    def _link(self, one: tuple[Tensor, int], *others: tuple[Tensor, int]) -> None:
        for other in others:
            a, b = ((id(tensor), axis % tensor.rank) for tensor, axis in (one, other))
            self._parents[self._root(b)] = self._root(a)

    def _seal(self, tensor: Tensor, *axes: int) -> None:
        for axis in axes or range(tensor.rank):
            self._root((id(tensor), axis % tensor.rank))
            self._sealed.add((id(tensor), axis % tensor.rank))

    def _of_node(self, node: Node) -> None:
        ports: dict[str, Any] = {**node.inputs, **{f"-> {k}": v for k, v in node.outputs.items()}}
        kind = node.kind
        if kind in _ATTENTION:
            self._attention(node)
        elif node.subgraphs or any(isinstance(each, (list, tuple)) for each in ports.values()):
            self._others(node)
        elif kind in (CONV_FPROP, CONV_DGRAD, CONV_WGRAD):
            self._convolution(node)
        elif kind is MATMUL and node.inputs.keys() == {"A", "B"}:
            self._product(node)
        elif kind in ELEMENT_WISE and node.options.get("axis") is None:
            self._pointwise(node)
        elif kind in _BY_CHANNELS or (
            kind in (NORM_FORWARD, NORM_BACKWARD) and node.options["mode"] in _OF_CHANNELS
        ):
            self._channels(node)
        else:
            self._others(node)

    def _others(self, node: Node) -> None:
        for tensor in (*node.operands, *node.results):
            self._seal(tensor)

    def _convolution(self, node: Node) -> None:
        ports = {**node.inputs, **node.outputs}
        x = ports["dx" if node.kind is CONV_DGRAD else "image"]
        w = next(ports[port] for port in ("weight", "filter", "dw") if port in ports)
        y = ports["y" if node.kind is CONV_FPROP else "loss"]
        for tensor in (x, w, y):
            self._seal(tensor, *range(2, tensor.rank))
        self._seal(x, 0)
        self._seal(y, 0)
        if x.dims[1] != w.dims[1]:  # groups
            self._seal(w, 0, 1)
            self._seal(x, 1)
            self._seal(y, 1)
            return
        self._link((x, 1), (w, 1))
        self._link((w, 0), (y, 1))
        if node.kind is CONV_FPROP:
            self._summed((x, 1), (w, 1))
        elif node.kind is CONV_DGRAD:
            self._summed((y, 1), (w, 0))

    def _product(self, node: Node) -> None:
        a, b, c = node.inputs["A"], node.inputs["B"], node.outputs["C"]

        def axis(port: str, number: int) -> int:
            return -1 - (number % 2) if port in node.transposed else number

        row, inner = axis("A", -2), axis("A", -1)
        other, column = axis("B", -2), axis("B", -1)
        if "C" in node.transposed:
            self._others(node)
            return
        for tensor in (a, b, c):
            if tensor.rank > 2:
                self._seal(tensor, *range(tensor.rank - 2))
        self._link((a, row), (c, -2))
        self._link((b, column), (c, -1))
        self._link((a, inner), (b, other))
        self._summed((a, inner), (b, other))

    def _summed(self, one: tuple[Tensor, int], other: tuple[Tensor, int]) -> None:
        """Link two axes that a sum runs over: zeros of one operand must meet finite numbers."""
        direct = [id(tensor) not in self._made_by for tensor, _ in (one, other)]
        bounded = all(self._bounded(tensor) for tensor, _ in (one, other))
        if not any(direct) or not bounded:
            self._seal(*one)
            self._seal(*other)

    def _bounded(self, tensor: Tensor) -> bool:
        waiting, seen = [tensor], {id(tensor)}
        while waiting:
            node = self._made_by.get(id(waiting.pop()))
            if node is None or node.kind not in ELEMENT_WISE:
                continue
            if node.options["mode"] in _UNBOUNDED:
                return False
            waiting += [each for each in node.operands if id(each) not in seen]
            seen |= {id(each) for each in node.operands}
        return True

    def _pointwise(self, node: Node) -> None:
        (y,) = node.outputs.values()
        for axis in range(y.rank):
            self._root((id(y), axis))
            for tensor in node.operands:
                if tensor.rank != y.rank:
                    self._seal(y, axis)
                elif _size(tensor, axis) == _size(y, axis) and not tensor.by_value:
                    self._link((y, axis), (tensor, axis))

    def _channels(self, node: Node) -> None:
        """Each channel for itself; all else as it is."""
        tensors = [each for each in (*node.operands, *node.results) if not each.by_value]
        wide = max(_size(each, 1) for each in tensors)
        first = next(each for each in tensors if _size(each, 1) == wide)
        for tensor in tensors:
            self._seal(tensor, 0, *range(2, tensor.rank))
            if _size(tensor, 1) == wide:
                self._link((first, 1), (tensor, 1))

    def _attention(self, node: Node) -> None:
        """The sizes of heads: those of q and k are summed over, those of v and o are apart."""
        every = {id(each): each for each in (*node.operands, *node.results) if not each.by_value}
        ports = {**node.inputs, **node.outputs}
        queries = [ports[port] for port in ("q", "k", "dq", "dk") if port in ports]
        values = [ports[port] for port in ("v", "o", "dO", "dv") if port in ports]
        paged = any(port.startswith("paged_") for port in ports)
        own = {id(each) for each in (*queries, *values)}
        for tensor in every.values():
            if paged or id(tensor) not in own:
                self._seal(tensor)
            else:
                self._seal(tensor, *range(tensor.rank - 1))
        for group in (queries, values):
            for tensor in group[1:]:
                self._link((group[0], -1), (tensor, -1))
        if node.kind in _BACKWARD:
            self._link((queries[0], -1), (values[0], -1))


def _by_channels(node: Node) -> bool:
    """True if the node treats each channel by itself, all in the same way."""
    normalizes = node.kind in (NORM_FORWARD, NORM_BACKWARD)
    return node.kind in _BY_CHANNELS or (normalizes and node.options["mode"] in _OF_CHANNELS)


def _size(tensor: Tensor, axis: int) -> int:
    return (tensor.dims or ())[axis]
