"""How the methods of a `pygraph` add operations: names, arrays as operands, and what is kept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .c_members import c_data_type
from .enums import data_type
from .errors import InvalidGraphError, cudnnGraphNotSupportedError, translated
from .front_graph import FrontGraph
from .tensors import node_of, tensor

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
        if isinstance(made, Mapping):
            made = made.values()
        outputs: list[Any] = [made] if isinstance(made, tensor) else list(made)
        names = results.split()
        outputs += [None] * (len(names) - len(outputs))
        ports = dict(zip(names, outputs, strict=True))
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
