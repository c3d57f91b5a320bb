"""The graph that a `pygraph` describes: layer 3's, with the front end's defaults."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..dtypes import element_bits
from ..graph.describe.inference import DataTypes
from ..graph.describe.node import Node
from ..graph.describe.tensor import Tensor
from ..graph.graph import Graph
from ..graph.lower.expand.expansion import Expansion
from ..graph.lower.target import Target
from ..raw.dlpack import ON_HOST
from ..raw.strides import packed, same_steps
from .c_members import c_data_type
from .tensors import Node as Call
from .tensors import tensor

# Results that lie with their channels together if nothing is said, whatever the operands' layout.
_CHANNELS_LAST = frozenset(
    {
        "conv_fprop",
        "conv_dgrad",
        "conv_wgrad",
        "reduction",
        "reshape",
        "genstats",
        "layernorm_backward",
        "rmsnorm_backward",
        "instancenorm_backward",
        "batchnorm_backward",
    }
)
# Results that lie exactly as the operand does whose dims they have.
_LIKE_OPERAND = frozenset({"operation_pointwise", "operation_norm_forward"})
_HAS_SLICE = 92200  # the first version with an operation for it
# Results that have no data type of their own here: comparisons, indices, statistics. Those of other
# norms stay float32: cuDNN has nothing else for batchnorm, and writes float32 for the rest.
_UNTYPED = ("cmp_", "logical_", "gen_index", "genstats", "instancenorm")


class FrontGraph(Graph):
    """A graph of `tensor`, in which results get strides and data types as in the front end."""

    tensor_class: type[tensor] = tensor

    def __init__(
        self,
        name: str,
        io_data_type: Any = None,
        intermediate_data_type: Any = None,
        compute_data_type: Any = None,
    ) -> None:
        super().__init__(
            name,
            io_data_type=c_data_type(io_data_type),
            intermediate_data_type=c_data_type(intermediate_data_type) or "float32",
            compute_data_type=c_data_type(compute_data_type) or "float32",
        )
        # Nodes that the program made by methods of a `pygraph`, and its calls of them.
        self.own_nodes: list[Node] = []
        self.calls: list[Call] = []
        # Why the graph cannot be carried out, known since it was described.
        self.refusal: Exception | None = None
        self._unnamed: Counter[str] = Counter()

    def validate(self) -> list[Node]:
        """Validate like layer 3's graph, and drop tensors that no operation uses."""
        if self.refusal is not None:
            raise self.refusal
        every = [each for node in self.nodes for each in (node, *node.inner)]
        used = {id(tensor) for node in every for tensor in (*node.operands, *node.results)}
        used |= {id(each.ragged_offset) for each in self.tensors if each.ragged_offset is not None}
        self.tensors: list[Tensor] = [each for each in self.tensors if id(each) in used]
        return super().validate()

    def node_name(self, method: str) -> str:
        """The name of an operation that was given none: "matmul.0", "matmul.1"."""
        number = self._unnamed[method]
        self._unnamed[method] += 1
        return f"{method}.{number}"

    def _free_name(self, stem: str) -> str:
        """The name of a tensor that was given none: "tensor_0", "scalar_1"."""
        if stem not in ("tensor", "scalar"):
            return super()._free_name(stem)
        taken, number = {each.name for each in self.tensors}, len(self.tensors)
        while f"{stem}_{number}" in taken:
            number += 1
        return f"{stem}_{number}"

    def tensor_like(self, array: Any, *, name: str = "") -> tensor:
        """A tensor like layer 3's, with the front end's data types; a host number goes by value."""
        made = super().tensor_like(array, name=name)
        assert isinstance(made, tensor)
        if isinstance(array, tensor):
            made.by_value = array.by_value
            return made
        made.set_data_type(getattr(array, "dtype", made.data_type))
        place = getattr(array, "__dlpack_device__", None)
        on_host = place is not None and place()[0] in ON_HOST
        made.by_value = on_host and math.prod(made.dims or ()) == 1
        return made

    def _expanded(self, nodes: Sequence[Node], target: Target, *, fixed: bool = True) -> Expansion:
        """Expand like layer 3's graph, but for slices if the loaded cuDNN has no such operation.

        The slice of an operand is then a view of the operand's memory, as in the front end.
        """
        expansion = super()._expanded(nodes, target, fixed=fixed)
        if target.version >= _HAS_SLICE:
            return expansion
        produced = {id(each) for node in expansion.nodes for each in node.outputs.values()}
        kept = []
        for node in expansion.nodes:
            x, y = node.inputs.get("input"), next(iter(node.outputs.values()))
            if node.operation != "slice" or id(x) in produced or not isinstance(y, tensor):
                kept.append(node)
            elif y.virtual or y.view_of is not None:
                _make_view(node, x, y)
            else:
                kept.append(node)
        return replace(expansion, nodes=kept)

    def _infer(self, node: Node, data_types: DataTypes) -> None:
        own = any(node is each for each in self.own_nodes)
        if own and node.operation == "genstats":
            # The front end computes in the data type of the operand, whatever the graph's is.
            node.compute_data_type = node.inputs["input"].data_type
        open_strides = {port for port, each in node.outputs.items() if each.strides is None}
        if own and node.operation.startswith(_UNTYPED):
            for result in node.outputs.values():
                if result.data_type is None and (result.virtual or data_types.io is not None):
                    result.data_type = data_types.of(result)
        super()._infer(node, data_types)
        if own:
            for port in open_strides:
                _lay_out(node, port)


def _lay_out(node: Node, port: str) -> None:
    """Give one result the strides that it has in the front end if the program says nothing."""
    result = node.outputs[port]
    dims = result.dims or ()
    if node.operation == "slice":
        strides, steps = node.inputs["input"].strides, node.options["steps"]
        result.strides = tuple(a * b for a, b in zip(strides, steps, strict=True))
    elif node.operation == "transpose":
        strides = node.inputs["input"].strides
        result.strides = tuple(strides[axis] for axis in node.options["permutation"])
    elif node.operation in _CHANNELS_LAST and len(dims) > 1:
        result.strides = packed(dims, (0, *range(2, len(dims)), 1))
        x = node.inputs.get("input")
        # cuDNN refuses a gradient that lies in another way than x, where the front end proposes it.
        if (
            port == "dx"
            and x is not None
            and x.strides
            and not same_steps(dims, result.strides, x.strides)
        ):
            result.strides = x.strides
    elif node.kind.descriptor in _LIKE_OPERAND and port == "y":
        same = [each for each in node.operands if each.dims == dims and each.strides]
        if same:
            result.strides = same[0].strides


def _make_view(node: Node, x: Any, y: tensor) -> None:
    if y.data_type != x.data_type:
        node.refuse(f"{y.name!r} needs the data type of {x.name!r}")
    first = sum(a * b for a, b in zip(node.options["start"], x.strides, strict=True))
    offset = first * element_bits(x.data_type) // 8
    y.view_of, y.virtual = (x.uid, offset), False
    y.alignment = math.gcd(x.alignment, offset) if offset else x.alignment
