"""How the methods of a `pygraph` add operations: names, arrays as operands, and what is kept."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ..graph.graph import Graph
from .c_members import c_data_type
from .enums import data_type
from .errors import InvalidGraphError, cudnnGraphNotSupportedError, translated
from .front_graph import FrontGraph
from .nodes import node_of
from .tensors import tensor

__all__ = ["Described"]

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
        *operands: Any,
        name: str = "",
        compute_data_type: Any = data_type.NOT_SET,
        out_dims: Any = None,
        method: str = "",
        unsaid: str = "",
        **options: Any,
    ) -> list[Any]:
        """Add an operation of layer 3; its results, named after the node.

        What layer 3 refuses is refused by ``validate``, as in the front end, where programs expect
        it. The message names the operation and its tensors.

        Parameters
        ----------
        operation : str
            The method of ``Graph``.
        results : str
            The front end's names of the results, separated by spaces.
        out_dims : sequence of int, or mapping by the names of results, optional
            Dims of the first result, or of several.
        method : str
            That of `pygraph`, if it has another name.
        unsaid : str
            An argument of layer 3 that `pygraph` has none of.
        """
        graph, method = self._graph, method or operation
        stem = str(name) or graph.node_name(method)
        arguments = {
            key: self._as_operand(value, f"{stem}::{key}")
            for key, value in (
                dict(zip(_names(operation), operands, strict=False)) | options
            ).items()
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
        outputs = list(made) if not isinstance(made, tensor) else [made]
        ports = dict(zip(results.split(), outputs, strict=False))
        self._name_results(method, stem, ports, out_dims)
        arguments.pop(unsaid, None)
        graph.calls.append(node_of(method, stem, arguments, ports, compute_data_type))
        return outputs

    def _one(self, *arguments: Any, **options: Any) -> Any:
        return self._described(*arguments, **options)[0]

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


@functools.cache
def _names(operation: str) -> Sequence[str]:
    """The parameters of a method of ``Graph``."""
    return tuple(inspect.signature(getattr(Graph, operation)).parameters)[1:]
