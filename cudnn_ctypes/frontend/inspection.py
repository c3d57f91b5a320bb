"""Questions to a `pygraph`: its tensors, its operations, and its data types."""

from __future__ import annotations

from typing import Any

from .c_members import member_of
from .described import Described
from .enums import data_type
from .errors import InvalidGraphError
from .nodes import GraphContext, Node, node_of
from .tensors import tensor

__all__ = ["InspectionMethods"]


class InspectionMethods(Described):
    """Looking at a graph; nothing of it changes the graph."""

    @property
    def nodes(self) -> list[Node]:
        """The operations, each as it was described."""
        if self._graph.calls:
            return list(self._graph.calls)
        return [  # of a graph that was described elsewhere, and taken over by `deserialize`
            node_of(
                each.operation,
                each.name,
                {**each.inputs, **each.options},
                {_port(y): y for y in each.outputs.values() if isinstance(y, tensor)},
                member_of(each.compute_data_type) or data_type.NOT_SET,
            )
            for each in self._graph.nodes
        ]

    @property
    def tensors(self) -> dict[str, tensor]:
        """The tensors by name; without those whose name several have."""
        found: dict[str, list[tensor]] = {}
        for each in self._every_tensor():
            found.setdefault(each.name, []).append(each)
        return {name: those[0] for name, those in found.items() if len(those) == 1}

    @property
    def context(self) -> GraphContext:
        """The data types that the graph was made with."""
        graph = self._graph
        data_types = (graph.io_data_type, graph.intermediate_data_type, graph.compute_data_type)
        return GraphContext(
            *(data_type.NOT_SET if each is None else member_of(each) for each in data_types)
        )

    def find_tensor(self, name_or_uid: str | int) -> tensor | None:
        """The tensor with this name or unique id; None if there is none.

        Raises
        ------
        InvalidGraphError
            If several have that name.
        """
        if not isinstance(name_or_uid, (str, int)):
            raise TypeError(f"name_or_uid: expected a name or a uid, got {name_or_uid!r}")
        key = "name" if isinstance(name_or_uid, str) else "uid"
        found = [each for each in self._every_tensor() if getattr(each, key) == name_or_uid]
        if len(found) > 1:
            raise InvalidGraphError(f"several tensors are called {name_or_uid!r}: look for the uid")
        return found[0] if found else None

    def get_node(self, name: str) -> Node | None:
        """The first operation of this name; None if there is none."""
        return next((each for each in self.nodes if each.name == name), None)

    def get_inputs(self) -> list[tensor]:
        """The tensors that execution reads."""
        made = self._results()
        return [each for each in self._every_tensor() if not each.virtual and id(each) not in made]

    def get_outputs(self) -> list[tensor]:
        """The tensors that execution writes."""
        made = self._results()
        return [each for each in self._every_tensor() if not each.virtual and id(each) in made]

    def inspect(self) -> dict[str, Any]:
        """The graph as plain data.

        Returns
        -------
        dict
            "context": data types; "nodes": name, type, inputs and outputs by the names of tensors,
            params; "tensors": dim, stride, dtype, is_virtual and uid by name. Dims and strides that
            are not known yet are empty.
        """
        context = self.context
        return {
            "context": {
                "io_data_type": str(context.io_data_type),
                "compute_data_type": str(context.compute_data_type),
            },
            "nodes": [
                {
                    "name": node.name,
                    "type": node.node_type.name,
                    "inputs": {port: each.name for port, each in node.inputs.items()},
                    "outputs": {port: each.name for port, each in node.outputs.items()},
                    "params": dict(node.params),
                }
                for node in self.nodes
            ],
            "tensors": {
                name: {
                    "dim": each.get_dim(),
                    "stride": each.get_stride(),
                    "dtype": str(each.get_data_type()),
                    "is_virtual": each.virtual,
                    "uid": each.get_uid(),
                }
                for name, each in self.tensors.items()
            },
        }

    def _every_tensor(self) -> list[tensor]:
        return [each for each in self._graph.tensors if isinstance(each, tensor)]

    def _results(self) -> set[int]:
        return {id(each) for node in self._graph.nodes for each in node.results}


def _port(result: Any) -> str:
    """The name of a result, which is that of its tensor without the operation's."""
    return str(result.name).rpartition("::")[2]
