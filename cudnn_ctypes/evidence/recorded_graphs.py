"""Graphs from the records of their backend descriptors: the way back of lowering."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..graph.describe.node import Kind, Node, Subgraph, exchanged
from ..graph.describe.operations.pointwise import ELEMENT_WISE, POINTWISE_METHODS, is_logical
from ..graph.describe.operations.reductions import MATMUL
from ..graph.describe.serialization import kinds
from ..graph.describe.tensor import Tensor
from ..graph.describe.validation import takes_several
from ..graph.graph import Graph
from ..raw import cudnnBackendAttributeName_t as Name
from ..raw import cudnnBackendDescriptorType_t, cudnnBackendNormFwdPhase_t, cudnnDataType_t
from ..raw.attributes import ATTRIBUTES, KINDS, kind_name
from ..reference.device.backend_records import Record, TensorInfo, tensor_info


def graph_of(record: Record, name: str = "graph") -> Graph:
    """The graph that an OPERATIONGRAPH descriptor describes, one node for each operation.

    - `record`: the attributes that were set in the descriptor.
    - `name`: of the graph.

    It is validated. The numbers of tensors by value are unknown: execution wants them.

    Raises ValueError if an operation, or an attribute of it, has no counterpart in a graph.
    """
    return _Reader(name).read(record)


class _Reader:
    """The graph while its operations are read."""

    def __init__(self, name: str) -> None:
        self._graph = Graph(name)
        self._tensors: dict[int, Tensor] = {}
        self._names: Counter[str] = Counter()

    def read(self, record: Record) -> Graph:
        operations = record.all(Name.CUDNN_ATTR_OPERATIONGRAPH_OPS)
        if not operations:
            raise ValueError("its operations are unknown")
        self._graph.nodes.extend(self._node(each) for each in operations)
        precisions = [
            each.compute_data_type
            for each in self._graph.nodes
            if each.compute_data_type is not None and not is_logical(each)
        ]
        if precisions:
            self._graph.compute_data_type = Counter(precisions).most_common(1)[0][0]
        for node in self._graph.nodes:
            for each in (node, *node.inner):
                default = _BOOLEAN if is_logical(each) else self._graph.compute_data_type
                if each.compute_data_type == default:
                    each.compute_data_type = None
        used = {id(each) for node in self._graph.nodes for each in node.operands}
        for node in self._graph.nodes:
            node.may_go_unused = all(
                each.virtual and id(each) not in used for each in node.outputs.values()
            )
        self._graph.validate()
        return self._graph

    # --- operations ------------------------------------------------------------------------------

    def _node(self, record: Record | None) -> Node:
        if record is None or record.kind is None:
            raise ValueError("one of its operations was described where nothing was recorded")
        kind = _kind_of(record)
        values = _values(record)
        inner = {}
        if kind.inner is not None:
            (found,) = values.pop(kind.inner.attribute, (None,))
            if found is None:
                raise ValueError(f"{kind_name(record.kind)} has no {kind.inner.attribute}")
            inner = _values(found, KINDS[kind.inner.descriptor])
        precision = values.pop(kind.precision, None) if kind.precision else None
        if kind.inner is not None and kind.inner.precision:
            precision = inner.pop(kind.inner.precision, None)
        options = self._options(kind, kind.descriptor, kind.options, values)
        if kind.inner is not None:
            options |= self._options(kind, kind.inner.descriptor, kind.inner.options, inner)
        operation = _method_of(kind, options)
        node = Node(kind, operation, self._name(operation), {}, {}, options)
        if precision:
            node.compute_data_type = cudnnDataType_t(precision[0])
        for option, attribute in kind.held_graphs.items():
            if attribute in values:
                self._hold(node, option, attribute, values)
        for option, attribute in kind.held_operations.items():
            if attribute in values:
                held = self._node(values.pop(attribute)[0])
                node.subgraphs[option] = Subgraph(held.inputs["input"], held.outputs["y"], [held])
        self._ports(node, values)
        for option in sorted(kind.required - options.keys()):
            if option not in _DERIVED:
                raise ValueError(f"{operation} has no {option}")
            options[option] = _DERIVED[option](node)
        unsaid = {name for name, each in (values | inner).items() if each != _USUAL.get(name)}
        if unsaid:
            raise ValueError(f"{operation} has {', '.join(sorted(unsaid))}: a graph cannot say it")
        return node

    def _name(self, stem: str) -> str:
        self._names[stem] += 1
        return stem if self._names[stem] == 1 else f"{stem}_{self._names[stem]}"

    def _options(
        self, kind: Kind, descriptor: str, names: Mapping[str, str], values: dict[str, Any]
    ) -> dict[str, Any]:
        """The options among the attributes of a descriptor, which are taken out of `values`."""
        options = {}
        for option, attribute in names.items():
            found = values.get(attribute)
            if not found or isinstance(found[0], Record):
                continue
            del values[attribute]
            enum = kind.enums.get(option)
            plain = [_plain(each) if enum is None else enum(int(each)) for each in found]
            is_array = ATTRIBUTES[KINDS[descriptor]][attribute].is_array
            options[option] = tuple(plain) if is_array else plain[0]
        return options

    def _ports(self, node: Node, values: dict[str, Any]) -> None:
        """The operands and results among the attributes, which are taken out of `values`."""
        kind, infers = node.kind, node.options.get("phase") == _INFERENCE
        sides: tuple[tuple[Mapping[str, str], dict[str, Any]], ...]
        sides = (kind.outputs, node.outputs), (kind.inputs, node.inputs)
        for ports, tensors in sides:
            for port, attribute in ports.items():
                if attribute not in values or (
                    infers and port in kind.inputs and ports is kind.outputs
                ):
                    continue
                found = [self._tensor(node, port, each) for each in values.pop(attribute)]
                several = port in kind.inputs and takes_several(kind, port)
                tensors |= {port: found if several else found[0]}

    def _hold(self, node: Node, option: str, attribute: str, values: dict[str, Any]) -> None:
        graph = values.pop(attribute)[0]
        nodes = [self._node(each) for each in graph.all(Name.CUDNN_ATTR_OPERATIONGRAPH_OPS)]
        begin, end = (self._tensors[values.pop(f"{attribute}_{each}_uid")[0]] for each in _ENDS)
        node.subgraphs[option] = Subgraph(begin, end, nodes)

    # --- tensors ---------------------------------------------------------------------------------

    def _tensor(self, node: Node, port: str, record: Record | None) -> Tensor:
        if record is None:
            raise ValueError(f"{node}: {port} was described where nothing was recorded")
        info = tensor_info(record)
        tensor = self._tensors.get(info.uid)
        if tensor is None:
            if (
                node.kind is MATMUL
                and port in "AB"
                and info.strides[-2:-1] == (1,) != info.strides[-1:]
            ):
                node.transposed |= {port}  # described as it lies in memory
                info = replace(info, dims=exchanged(info.dims), strides=exchanged(info.strides))
            alignment = record.one(Name.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1)
            tensor = self._tensors[info.uid] = self._new(info, alignment)
        elif (tensor.dims, tensor.strides) != (info.dims, info.strides):
            turned = exchanged(info.dims), exchanged(info.strides)
            if (tensor.dims, tensor.strides) != turned:
                raise ValueError(
                    f"{node}: {port} is tensor {info.uid} as {info.dims} {info.strides}, which is "
                    f"{tensor.dims} {tensor.strides} elsewhere"
                )
            node.transposed |= {port}
        return tensor

    def _new(self, info: TensorInfo, alignment: int) -> Tensor:
        ragged = info.ragged
        offset = None if ragged is None else self._tensors.get(ragged.uid)
        if ragged is not None and offset is None:
            offset = self._tensors[ragged.uid] = self._new(ragged, alignment)
        tensor = Graph.tensor_class(
            name=f"tensor_{info.uid}",
            dims=info.dims,
            strides=info.strides,
            data_type=info.data_type,
            uid=info.uid,
            virtual=bool(info.virtual),
            by_value=bool(info.by_value),
            alignment=alignment,
            ragged_offset=offset,
            ragged_offset_multiplier=info.ragged_multiplier,
            vector_count=info.vector_count,
            vector_dimension=info.vector_dimension if info.vector_count != 1 else None,
            reordering=info.reordering,
        )
        return self._graph._own(tensor)


_BOOLEAN = cudnnDataType_t.CUDNN_DATA_BOOLEAN
_INFERENCE = cudnnBackendNormFwdPhase_t.CUDNN_NORM_FWD_INFERENCE
_ENDS = ("input", "output")


def _values(
    record: Record, kind: cudnnBackendDescriptorType_t | None = None
) -> dict[str, tuple[Any, ...]]:
    """The attributes of a descriptor by their short names; `kind` where its record has none."""
    kind = record.kind if record.kind is not None else kind
    assert kind is not None
    short = {each.name: name for name, each in ATTRIBUTES[kind].items()}
    return {short.get(name, name.name): values for name, (_, values) in record.values.items()}


def _plain(value: Any) -> Any:
    """A number; a fraction with the denominator 1 is an int."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


def _kind_of(record: Record) -> Kind:
    """The kind of operation of a descriptor, of several the one with all tensors that it has."""
    descriptor = kind_name(record.kind)
    has = {
        name
        for name, values in _values(record).items()
        if record.values and values and isinstance(values[0], Record)
    }
    for kind in kinds().values():
        held = {*kind.held_graphs.values(), *kind.held_operations.values()}
        known = {*kind.inputs.values(), *kind.outputs.values(), *held}
        known |= {kind.inner.attribute} if kind.inner is not None else set()
        if kind.descriptor == descriptor and has <= known:
            return kind
    raise ValueError(f"there is no operation for {descriptor} with {', '.join(sorted(has))}")


_METHODS = {
    "sdpa_operation": "sdpa_unified",
    "sdpa_operation_backward": "sdpa_unified_backward",
    "resample_forward": "resample",
    "moe_grouped_matmul_backward": "moe_grouped_matmul_bwd",
}
"""Methods that are called otherwise than their kind."""


def _method_of(kind: Kind, options: Mapping[str, Any]) -> str:
    """The name of the graph's method that describes an operation."""
    for name, method in POINTWISE_METHODS.items():
        if kind in ELEMENT_WISE and vars(method).get("pointwise_mode") == options.get("mode"):
            return name
    (name,) = (name for name, each in kinds().items() if each is kind)
    return _METHODS.get(name, name)


def _max_seq_len(node: Node) -> int:
    """The tokens of the longest sequence; keys may have their last two dimensions exchanged."""
    container, y = node.inputs["container"], node.outputs["y"]
    assert container.dims
    assert y.dims
    assert y.strides
    dims, strides, size = y.dims, y.strides, container.dims[3]
    if dims[3] == size and (dims[2] != size or strides[3] == 1):
        return dims[2]
    node.transposed |= {"y"}
    y.dims, y.strides = exchanged(dims), exchanged(strides)
    return y.dims[2]


def _quantized_axis(node: Node) -> int:
    """The dimension that blocks divide."""
    size, scales = node.options["block_size"], node.outputs["scale"].dims or ()
    dims = node.inputs["input"].dims or ()
    sizes = zip(dims, scales, strict=True)
    axes = [a for a, (n, scale) in enumerate(sizes) if not n % size and n // size <= scale < n]
    if not axes:
        raise ValueError(f"scales {scales} of blocks of {size} do not fit {dims}")
    return axes[-1]


_DERIVED: dict[str, Callable[[Node], Any]] = {
    "alpha": lambda node: 1.0,
    "beta": lambda node: 0.0,
    "slices": lambda node: tuple(
        map(slice, *(node.options[name] for name in ("start", "limit", "steps")))
    ),
    "dims": lambda node: node.outputs["y"].dims,
    "max_seq_len": _max_seq_len,
    "axis": _quantized_axis,
}
"""Options that descriptors do not have, or need not have."""

_USUAL: dict[str, Any] = {
    "alpha1": (1,),
    "alpha2": (1,),
    "alpha": (1,),
    "beta": (0,),
}
"""Attributes that graphs leave at these values."""
