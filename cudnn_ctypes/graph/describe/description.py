"""The methods of `Graph` that say what it describes, and check and complete that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .inference import DataTypes, complete_offset, infer_node, number_tensors
from .node import Node
from .tensor import Tensor
from .validation import (
    check_fields,
    check_results,
    check_subgraphs,
    check_tensors,
    in_order,
)

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DescriptionMethods"]


class DescriptionMethods:
    """Methods of `Graph` for its tensors and nodes; none of them asks cuDNN."""

    name: str
    io_data_type: Any
    intermediate_data_type: Any
    compute_data_type: Any
    tensors: list[Tensor]
    nodes: list[Node]

    def validate(self) -> list[Node]:
        """Fill in what is missing in all tensors, and check the graph.

        Returns
        -------
        list of Node
            The operations in an order in which they can be carried out.

        Raises
        ------
        ValueError, TypeError
            The message names the operation and the tensor.
        """
        check_fields(self.tensors, self.nodes)
        nodes = in_order(self.nodes)
        check_tensors(self.tensors, nodes)
        number_tensors(self.tensors)
        data_types = self._data_types()
        for tensor in self.tensors:
            if tensor.ragged_offset is not None:
                complete_offset(tensor.ragged_offset)
        for node in nodes:
            self._infer(node, data_types)
            for inner in node.inner:
                self._infer(inner, data_types)
            check_subgraphs(node)
        check_results(self.tensors, nodes)
        return nodes

    def _data_types(self) -> DataTypes:
        return DataTypes(self.io_data_type, self.intermediate_data_type, self.compute_data_type)

    def _infer(self, node: Node, data_types: DataTypes) -> None:
        infer_node(node, data_types)

    def __copy__(self) -> Self:
        """A graph with the same description, not built."""
        return self.from_json(self.to_json())

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return type(self).from_json, (self.to_json(),)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The tensors and nodes as JSON text, without a plan; None for `indent` is one line.

        What `validate` has filled in is part of it.
        """
        from .serialization import to_json

        return to_json(self, indent=indent)  # type: ignore[arg-type]  # a Graph

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The graph that `to_json` wrote.

        Raises
        ------
        ValueError
            If the text is damaged or has content that is not known; the message names the place.
        """
        from .deserialization import from_json

        return from_json(cls, text)  # type: ignore[type-var]  # a Graph

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors that execution reads: device memory, or numbers not fixed in the graph."""
        results = {id(tensor) for node in self.nodes for tensor in node.results}
        return [
            tensor
            for tensor in self.tensors
            if id(tensor) not in results and tensor.value is None and not tensor.scratch
        ]

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that execution writes."""
        results = [tensor for node in self.nodes for tensor in node.results]
        return [tensor for tensor in results if not tensor.virtual and not tensor.scratch]

    def __repr__(self) -> str:
        operations = ", ".join(str(node) for node in self.nodes)
        return f"Graph({self.name!r}: {operations or 'empty'})"
