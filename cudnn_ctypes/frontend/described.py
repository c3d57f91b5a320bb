"""How the methods of a `pygraph` add operations: names, arrays as operands, and what is kept."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..dtypes import element_bits
from ..graph.describe.node import Node
from ..graph.describe.tensor import Tensor
from ..graph.describe.validation import DataTypes
from ..graph.graph import Graph
from ..graph.lower.expand.expansion import Expansion
from ..graph.lower.target import Target
from ..raw.dlpack import ON_HOST
from ..raw.strides import packed, same_steps
from .c_members import c_data_type
from .enums import data_type
from .errors import InvalidGraphError, cudnnGraphNotSupportedError, translated
from .tensors import Node as Call
from .tensors import node_of, tensor

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


# How names of tensors end where that is not the name of the result.
_SUFFIXES = {
    "inv_var": "INV_VARIANCE",
    "mean": "MEAN",
    "next_running_mean": "NEXT_RUNNING_MEAN",
    "next_running_var": "NEXT_RUNNING_VAR",
    "DScale": "DSCALE",
    "DBias": "DBIAS",
}
_SUFFIXES_OF = {"rmsnorm_backward": {"DScale": "Dscale", "DBias": "Dbias"}}


class Described:
    """Base of the families of operations of a `pygraph`."""

    _graph: FrontGraph
    _bound: dict[int, tuple[tensor, Any]]
    """Arrays passed as operands, with their tensors, by the id of the array."""

    def _described(
        self,
        operation: str,
        results: str,
        options: Mapping[str, Any],
        *,
        method: str,
        name: str,
        compute_data_type: Any,
        out_dims: Any,
    ) -> list[Any]:
        """Add an operation of layer 3; its results, named after the node.

        What layer 3 refuses is refused by ``validate``, as in the front end, where programs expect
        it. The message names the operation and its tensors.

        `operation` and `options` are a method of ``Graph`` and its arguments; `out_dims` are those
        of the first result, or of several by name; the others are as for `method`.
        """
        graph = self._graph
        stem = str(name) or graph.node_name(method)
        arguments = {
            key: self._as_operand(value, f"{stem}::{key}") for key, value in options.items()
        }
        precision = c_data_type(compute_data_type)
        own = {} if precision is None else {"compute_data_type": precision}
        before = len(graph.nodes)
        try:
            with translated(f"pygraph.{method}"):
                made = getattr(graph, operation)(**arguments, name=stem, **own)
        except (cudnnGraphNotSupportedError, InvalidGraphError) as error:
            return self._refused(error, stem, results)
        if len(graph.nodes) == before + 1:
            graph.own_nodes += graph.nodes[before:]
        outputs: list[Any] = [made] if isinstance(made, tensor) else list(made)
        ports = dict(zip(results.split(), outputs, strict=True))
        self._name_results(method, stem, ports, out_dims)
        graph.calls.append(node_of(method, stem, arguments, ports, compute_data_type))
        return outputs

    def _name_results(
        self, method: str, stem: str, ports: Mapping[str, tensor | None], out_dims: Any
    ) -> None:
        for port, result in ports.items():
            if result is not None:
                suffix = _SUFFIXES_OF.get(method, _SUFFIXES).get(port, port)
                result.name = f"{stem}::{suffix}"
        if out_dims is None:
            return
        given = out_dims if isinstance(out_dims, Mapping) else {next(iter(ports)): out_dims}
        for port, dims in given.items():
            result = ports.get(port)
            if result is None:
                known = ", ".join(key for key, each in ports.items() if each is not None)
                raise InvalidGraphError(
                    f"{method} {stem!r}: out_dims: no result {port!r}; there are {known}"
                )
            result.set_dim(dims)

    def _refused(self, error: Exception, stem: str, results: str) -> list[Any]:
        """Keep what ``validate`` is to raise; results that nothing computes."""
        graph = self._graph
        graph.refusal = graph.refusal or error
        return [
            graph._own(tensor(name=f"{stem}::{port}", virtual=True)) for port in results.split()
        ]

    def _as_operand(self, value: Any, name: str) -> Any:
        """`value`; a tensor like it where it is an array, whose memory `execute` will take.

        A tensor that another graph made is one of this graph's from now on, too, as in NVIDIA's
        front end, where tensors belong to no graph.
        """
        if isinstance(value, (list, tuple)):
            return type(value)(
                self._as_operand(each, f"{name}_{index}") for index, each in enumerate(value)
            )
        if isinstance(value, tensor):
            for each in (value, value.ragged_offset):
                if each is not None and not self._graph._owns(each):
                    self._graph.tensors.append(each)
            return value
        if not hasattr(value, "__dlpack__"):
            return value
        if id(value) not in self._bound:
            plain = value.detach() if getattr(value, "requires_grad", False) else value
            self._bound[id(value)] = (self._graph.tensor_like(plain, name=name), value)
        return self._bound[id(value)][0]


METHODS: dict[str, Callable[..., Any]] = {}
"""The table: the methods of a `pygraph` that describe an operation, by name."""

Prepare = Callable[[Described, str, Mapping[str, Any]], "Mapping[str, Any] | Exception"]


def method(
    results: str,
    *,
    has_dims: bool = True,
    prepare: Prepare | None = None,
    after: Callable[[Mapping[str, Any], Sequence[Any]], None] | None = None,
) -> Callable[[Callable[..., Mapping[str, Any] | Exception | None]], Callable[..., Any]]:
    """Make a method of a `pygraph` of a function that gives layer 3's arguments for its own.

    The method takes the function's arguments, and those of `compute_data_type`, `name` and
    `out_dims` that it has not. The function returns the arguments of layer 3's method of the same
    name, or of another one, "operation"; an exception that ``validate`` is to raise; or None if its
    arguments are those of layer 3. The method returns one result, or a list.

    - `results`: the front end's names of the results, separated by spaces.
    - `has_dims`: whether it takes `out_dims`.
    - `prepare`: called in place of the function, with the graph, its name and all arguments.
    - `after`: called with the arguments and the results.
    """

    def decorate(
        function: Callable[..., Mapping[str, Any] | Exception | None],
    ) -> Callable[..., Any]:
        own = dict(inspect.signature(function).parameters)
        place = inspect.Parameter.POSITIONAL_OR_KEYWORD
        positional = [each for each in own.values() if each.kind is place]
        added = [each for each in _LAST[: 2 + has_dims] if each.name not in own]
        named = [each for each in own.values() if each.kind is not place]
        if named and has_dims:  # out_dims is one of them
            named.append(added.pop().replace(kind=inspect.Parameter.KEYWORD_ONLY))
        one = " " not in results
        signature = inspect.Signature(
            [inspect.Parameter("self", place), *positional, *added, *named],
            return_annotation="tensor" if one else "list[Any]",
        )
        called = function.__name__.rstrip("_")

        def described(self: Described, *args: Any, **kwargs: Any) -> Any:
            if called in _BOTH_ORDERS:
                args, kwargs = in_classic_order(called, args, kwargs)
            try:
                bound = signature.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{called}() {error}") from None
            bound.apply_defaults()
            arguments = bound.arguments
            del arguments["self"]
            common = {
                "name": arguments["name"],
                "compute_data_type": arguments["compute_data_type"],
                "out_dims": arguments.get("out_dims"),
            }
            options: Any
            if prepare is not None:
                options = prepare(
                    self, called, {k: v for k, v in arguments.items() if k not in _NAMING}
                )
            else:
                options = function(**{key: arguments[key] for key in own})
            if isinstance(options, Exception):
                stem = str(common["name"]) or self._graph.node_name(called)
                outputs = self._refused(options, stem, results)
                return outputs[0] if one else outputs
            if options is None:
                options = {key: arguments[key] for key in own if key not in common}
            else:
                options = dict(options)
                common["compute_data_type"] = options.pop(
                    "compute_data_type", common["compute_data_type"]
                )
            operation = options.pop("operation", called)
            outputs = self._described(operation, results, options, method=called, **common)
            if after is not None:
                after(arguments, outputs)
            return outputs[0] if one else outputs

        described.__doc__, described.__module__ = function.__doc__, function.__module__
        described.__name__, described.__qualname__ = called, f"pygraph.{called}"
        vars(described)["__signature__"] = signature
        METHODS[called] = described
        return described

    return decorate


_NAMING = ("name", "out_dims")
_LAST = [
    inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=default,
        annotation="str" if name == "name" else "Any",
    )
    for name, default in (
        ("compute_data_type", data_type.NOT_SET),
        ("name", ""),
        ("out_dims", None),
    )
]
_BOTH_ORDERS = ("adalayernorm", "instancenorm", "layernorm", "rmsnorm")
_TENSORS_FIRST = inspect.Signature(
    [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)
        for name in ("input", "scale", "bias", "epsilon", "norm_forward_phase")
    ]
)


def in_classic_order(
    method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a method of `pygraph` as 1.23 has them: in 1.32 a norm's phase comes last.

    Raises TypeError if there are too many, or one is there twice.
    """
    tensor_first = bool(args) and (isinstance(args[0], tensor) or hasattr(args[0], "__dlpack__"))
    if method not in _BOTH_ORDERS or not tensor_first:
        return args, kwargs
    tensors = _TENSORS_FIRST.bind_partial(*args).arguments
    twice = tensors.keys() & kwargs.keys()
    if twice:
        raise TypeError(f"{method}() got multiple values for argument {min(twice)!r}")
    return (), {**tensors, **kwargs}
