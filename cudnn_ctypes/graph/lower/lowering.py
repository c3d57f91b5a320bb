"""From nodes to cuDNN's backend descriptors."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import CudnnError, SymbolNotFoundError
from ...raw import cudnnDataType_t
from ...raw.faults import heed
from ..backend.descriptor import BackendDescriptor
from ..backend.device_properties import DeviceProperties, device_attribute
from ..describe.node import Node, Subgraph, exchanged
from ..describe.operations.pointwise import is_logical
from ..describe.tensor import Tensor
from .expand.expansion import Expansion
from .faults import Faults, Graph, faults_of
from .flattening import View, flattened
from .target import Target

if TYPE_CHECKING:
    from ...handle import Handle

_BOOLEAN = cudnnDataType_t.CUDNN_DATA_BOOLEAN
_DYNAMIC = ("is_dynamic_shape_enabled", "is_override_shape_enabled")


class Lowering:
    """The descriptors of one graph while it is built; ``close`` destroys them.

    - `compute_data_type`: for nodes that have none of their own.
    - `target`: the cuDNN and the GPU whose faults are heeded.

    - `graph`: what `operation_graph` made.
    - `faults`: what the graph must not be built with.
    """

    graph: BackendDescriptor

    def __init__(self, compute_data_type: cudnnDataType_t, target: Target) -> None:
        self._compute_data_type = compute_data_type
        self._target = target
        self.faults: Faults = Faults()
        self._made: list[BackendDescriptor] = []
        self._tensors: dict[tuple[int, bool], BackendDescriptor] = {}
        self._stretched: frozenset[int] = frozenset()
        self._views: Mapping[int, View] = {}

    def operation_graph(
        self, nodes: Iterable[Node], *, faults: Faults | None = None, **attributes: Any
    ) -> BackendDescriptor:
        """The OPERATIONGRAPH descriptor of `nodes`, in this order.

        `faults` are what `graph_faults` found, if they were heeded before.

        Raises NotSupportedError if cuDNN refuses them, or is known to compute them wrong.
        """
        nodes = list(nodes)
        # Other shapes may come to graphs of dynamic shapes; these stay as they are described.
        fixed = not any(attributes.get(name) for name in _DYNAMIC)
        self._views = flattened(nodes) if fixed else {}
        if faults is None:
            faults = faults_of(Graph(nodes, self._views), self._target)
            heed("Graph.build", faults.found)
        self.faults = faults
        self._stretched = _stretched(nodes)
        self.graph = self._make(
            "operationgraph", "the graph", ops=[self._operation(n) for n in nodes], **attributes
        )
        return self.graph

    def close(self) -> None:
        """Destroy what was made, the newest first."""
        while self._made:
            self._made.pop().close()

    def _make(self, kind: str, what: str, **attributes: Any) -> BackendDescriptor:
        try:
            descriptor = BackendDescriptor(kind, **attributes).finalize()
        except CudnnError as error:
            raise _naming(error, what) from None
        except SymbolNotFoundError as error:
            raise SymbolNotFoundError(f"{what}: {error}") from None
        self._made.append(descriptor)
        return descriptor

    def _tensor(
        self, tensor: Tensor, transposed: bool = False, what: str = ""
    ) -> BackendDescriptor:
        found = self._tensors.get((id(tensor), transposed))
        if found is not None:
            return found
        dims, strides = self._views.get(id(tensor), (tensor.dims or (), tensor.strides or ()))
        if id(tensor) in self._stretched:
            strides = (*(0,) * (len(dims) - 2), *strides[-2:])
        attributes: dict[str, Any] = {
            "unique_id": tensor.uid,
            "data_type": tensor.data_type,
            "dimensions": dims,
            "strides": strides,
            "byte_alignment": tensor.alignment,
            "is_virtual": tensor.virtual,
            "is_by_value": tensor.by_value,
        }
        if transposed:
            for name in ("dimensions", "strides"):
                attributes[name] = exchanged(attributes[name])
        if tensor.vector_count != 1:
            attributes["vector_count"] = tensor.vector_count
            attributes["vectorized_dimension"] = tensor.vector_dimension
        if tensor.reordering:
            attributes["reordering_mode"] = tensor.reordering
        if tensor.ragged_offset is not None:
            attributes["ragged_offset_desc"] = self._tensor(tensor.ragged_offset)
            if tensor.ragged_offset_multiplier != 1:
                attributes["ragged_offset_multiplier"] = tensor.ragged_offset_multiplier
        self._tensors[id(tensor), transposed] = descriptor = self._make(
            "tensor", what or f"tensor {tensor.name!r}", **attributes
        )
        return descriptor

    def _operation(self, node: Node) -> BackendDescriptor:
        kind, what = node.kind, str(node)
        precision = node.compute_data_type
        if precision is None:  # not `or`: float32 is 0
            precision = _BOOLEAN if is_logical(node) else self._compute_data_type
        attributes: dict[str, Any] = {}
        for ports, tensors in ((kind.inputs, node.inputs), (kind.outputs, node.outputs)):
            for port, name in ports.items():
                value = tensors.get(port)
                if isinstance(value, list):
                    attributes[name] = [self._tensor(each) for each in value]
                elif value is not None:
                    label = _label(node, value)
                    attributes[name] = self._tensor(value, port in node.transposed, label)
        attributes |= _options(kind.options, node)
        for port, name in kind.held_graphs.items() if node.subgraphs else ():
            if port in node.subgraphs:
                attributes |= self._held_graph(name, node.subgraphs[port], what)
        for port, name in kind.held_operations.items() if node.subgraphs else ():
            if port in node.subgraphs:
                (operation,) = node.subgraphs[port].nodes
                attributes[name] = self._operation(operation)
        if kind.precision:
            attributes[kind.precision] = precision
        inner = kind.inner
        if inner is not None:
            if inner.descriptor == "convolution":
                scalar = _scaling_type(node, precision)
                attributes |= {name: scalar(attributes[name]) for name in ("alpha", "beta")}
            parameters = _options(inner.options, node)
            if inner.precision:
                parameters[inner.precision] = precision
            attributes[inner.attribute] = self._make(inner.descriptor, what, **parameters)
        return self._make(kind.descriptor, what, **attributes)

    def _held_graph(self, name: str, subgraph: Subgraph, what: str) -> dict[str, Any]:
        """The attributes of an operation that holds other ones."""
        operations = [self._operation(node) for node in subgraph.nodes]
        return {
            name: self._make("operationgraph", what, ops=operations),
            f"{name}_input_uid": subgraph.input.uid,
            f"{name}_output_uid": subgraph.output.uid,
        }


def graph_faults(
    expansion: Expansion, device: Handle | DeviceProperties, *, dynamic: bool = False
) -> Faults:
    """The known faults that concern a graph; `dynamic` says that shapes may change."""
    views = {} if dynamic else flattened(expansion.nodes)
    return faults_of(Graph(expansion.nodes, views), Target.of(device))


def _label(node: Node, tensor: Tensor) -> str:
    """How messages call a tensor: its own name is unknown to the user where expansion made it."""
    user = node.origin
    known = user is None or any(tensor is each for each in (*user.operands, *user.results))
    return f"tensor {tensor.name!r}" if known else str(node)


def _scaling_type(node: Node, precision: cudnnDataType_t) -> Callable[[float], Any]:
    """The C type for a convolution's alpha or beta.

    Engines read them in the type of the computation: as DOUBLE they would be zero in float32, and
    as FLOAT they give garbage in an int32 result.
    """
    types = cudnnDataType_t
    if precision == types.CUDNN_DATA_DOUBLE:
        return ctypes.c_double
    (result,) = node.outputs.values()
    if precision == result.data_type == types.CUDNN_DATA_INT32 and not result.virtual:
        return lambda value: ctypes.c_int32(_whole(node, value))
    return ctypes.c_float


def _whole(node: Node, value: float) -> int:
    if value != value // 1 or abs(value) >= 1 << 31:  # NaN too
        node.refuse(f"it is scaled by {value}, which is no int32")
    return int(value)


def _stretched(nodes: Iterable[Node]) -> frozenset[int]:
    """Matrices of a single batch that a product uses for several: their ids.

    Engine 0 of cuDNN 9.14 goes by their strides all the same, and reads beyond their memory.
    """
    return frozenset(
        id(node.inputs[port])
        for node in nodes
        if node.kind.descriptor == "operation_matmul"
        for port in "AB"
        if not node.inputs[port].virtual
        and _batches(node.inputs[port]) == 1 < _batches(node.outputs["C"])
    )


def _batches(tensor: Tensor) -> int:
    return math.prod((tensor.dims or ())[:-2])


def _options(names: Any, node: Node) -> dict[str, Any]:
    return {
        name: node.options[option]
        for option, name in names.items()
        if node.options.get(option) is not None
    }


def _naming(error: CudnnError, what: str) -> CudnnError:
    """The same error with the operation or tensor among its arguments."""
    return type(error)(
        error.function,
        error.status,
        arguments={"for": what, **error.arguments},
        detail=error.detail,
        messages=error.messages,
        source=error.source,
        hint=error.hint,
    )


def operation_graph_attributes(device: Handle | DeviceProperties) -> dict[str, Any]:
    """The attributes that tell an OPERATIONGRAPH descriptor its GPU."""
    found = device_attribute(device)
    return found if "handle" in found else {}


@contextmanager
def lowered(
    expansion: Expansion,
    device: Handle | DeviceProperties,
    target: Target | None = None,
    *,
    faults: Faults | None = None,
    **attributes: Any,
) -> Iterator[Lowering]:
    """The OPERATIONGRAPH descriptor of a graph, destroyed at the end with its parts.

    `target` is the loaded cuDNN and the device's GPU if left out, `faults` what is known of it.
    """
    attributes |= operation_graph_attributes(device)
    with closing(Lowering(expansion.compute_data_type, target or Target.of(device))) as lowering:
        lowering.operation_graph(expansion.nodes, faults=faults, **attributes)
        yield lowering
