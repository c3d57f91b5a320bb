"""The methods of `Graph` that check and complete a description, compare it and change it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from ...arguments import file_path
from ...dtypes import data_type_argument
from ...raw import cudnnDataType_t
from ...raw.values import described
from . import validation
from .node import Node
from .operations.table import GraphOperations
from .tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...evidence.pictures.diagram import Diagram, Region
    from .rewriting import Remedy, Variant


class PictureMethods:
    """Pictures of operations and tensors; a notebook shows one by itself.

    Boxes are operations and tensors with memory; an operation's last line is the tensor that only
    exists between operations. What was built has the engine that carries out all operations
    together, and its knobs.
    """

    def _region(self) -> Region | None:
        """The plan that carries out all operations together, once there is one."""
        return None

    def _diagram(self) -> Diagram:
        from ...evidence.pictures.diagram import diagram

        nodes: Sequence[Node] = self.nodes  # type: ignore[attr-defined]
        return diagram(getattr(self, "name", "operations"), nodes, self._region())

    def to_svg(self, path: str | PathLike[str] | None = None) -> str:
        """The picture as SVG, laid out here; written to a file too, if one is given.

        Returns
        -------
        str
            The ``<svg>`` element, with dark text on a white background.

        Examples
        --------
        >>> graph.to_svg("graph.svg")  # doctest: +SKIP
        """
        from ...evidence.pictures.svg import svg

        text = svg(self._diagram())
        if path is not None:
            file_path("path", path).write_text(text, encoding="utf-8")
        return text

    def _repr_html_(self) -> str:
        from ...evidence.pictures.html import wide
        from ...evidence.pictures.svg import svg

        return wide(svg(self._diagram(), standalone=False))


G = TypeVar("G", bound="Description")


class Description(GraphOperations, PictureMethods):
    """Operations on tensors as plain data: a `Graph` without what asks cuDNN.

    Parameters
    ----------
    name : str
    io_data_type, intermediate_data_type, compute_data_type : data type
        As for `Graph`.
    """

    def __init__(
        self,
        name: str = "graph",
        *,
        io_data_type: Any = None,
        intermediate_data_type: Any = "float32",
        compute_data_type: Any = "float32",
    ) -> None:
        super().__init__()
        if not isinstance(name, str):
            raise TypeError(f"Graph: name: expected text, got {described(name)}")
        self.name = name
        self.io_data_type: cudnnDataType_t | None = None
        if io_data_type is not None:
            self.io_data_type = data_type_argument("Graph: io_data_type", io_data_type)
        self.intermediate_data_type: cudnnDataType_t = data_type_argument(
            "Graph: intermediate_data_type", intermediate_data_type
        )
        self.compute_data_type: cudnnDataType_t = data_type_argument(
            "Graph: compute_data_type", compute_data_type
        )

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
        validation.check_fields(self.tensors, self.nodes)
        nodes = validation.in_order(self.nodes)
        validation.check_tensors(self.tensors, nodes)
        validation.number_tensors(self.tensors)
        data_types = self._data_types()
        for tensor in self.tensors:
            if tensor.ragged_offset is not None:
                validation.complete_offset(tensor.ragged_offset)
        for node in nodes:
            self._infer(node, data_types)
            for inner in node.inner:
                self._infer(inner, data_types)
            validation.check_subgraphs(node)
        validation.check_results(self.tensors, nodes)
        return nodes

    def _data_types(self) -> validation.DataTypes:
        return validation.DataTypes(
            self.io_data_type, self.intermediate_data_type, self.compute_data_type
        )

    def _infer(self, node: Node, data_types: validation.DataTypes) -> None:
        validation.infer_node(node, data_types)

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

        return to_json(self, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The graph that `to_json` wrote.

        Raises
        ------
        ValueError
            If the text is damaged or has content that is not known; the message names the place.
        """
        from .serialization import from_json

        return from_json(cls, text)

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

    def replaced(
        self: G,
        tensors: Mapping[Any, Mapping[str, Any]] | None = None,
        operations: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        without: Collection[Tensor | str | int] = (),
        io_data_type: Any = None,
        intermediate_data_type: Any = None,
        compute_data_type: Any = None,
    ) -> G:
        """Another graph, described as this one but for some things; this one stays as it is.

        Parameters
        ----------
        tensors : mapping, optional
            By tensor, name or uid: new fields of it, as `Tensor` has them. What ``validate`` has
            filled in before stays unless it is given here; None has it filled in anew.
        operations : mapping, optional
            By name: new options as the graph's `nodes` have them, and "compute_data_type".
        without : collection of Tensor, str or int
            Results that are not computed; nothing may use them.
        io_data_type, intermediate_data_type, compute_data_type : data type, optional
            The graph's own; tensors that have the one before get the new one.

        Returns
        -------
        Graph
            Not built. Its tensors have the same names and uids.

        Raises
        ------
        KeyError
            If there is no tensor or operation of this name, or several.
        ValueError, TypeError
            If there is no such field, option or data type, or a result cannot be left out.

        Examples
        --------
        >>> from cudnn_ctypes import Graph
        >>> graph = Graph(io_data_type="float16")
        >>> x = graph.tensor((8, 64, 16, 16), name="x")
        >>> y = graph.relu(x).set_output(name="y")
        >>> graph.replaced({"y": {"data_type": "float32"}}).find_tensor("y").data_type
        cudnnDataType_t.CUDNN_DATA_FLOAT
        """
        from .rewriting import edit_of, edited

        changes = {
            "io_data_type": io_data_type,
            "intermediate_data_type": intermediate_data_type,
            "compute_data_type": compute_data_type,
        }
        data_types = {name: value for name, value in changes.items() if value is not None}
        return edited(self, edit_of(self, tensors, operations, without, data_types))

    # --- for rooms that do not import this one ---------------------------------------------------

    def _remedies(self) -> list[Remedy]:
        """Changes that often win further engines, for `_varied`."""
        from .remedies import remedies

        return list(remedies(self))

    def _varied(self, remedies: Sequence[Remedy]) -> Variant | None:
        from .rewriting import varied

        return varied(self, remedies)

    def _small(self: G, period: int) -> G | None:
        from .form import small

        return small(self, period)

    def __repr__(self) -> str:
        operations = ", ".join(str(node) for node in self.nodes)
        return f"Graph({self.name!r}: {operations or 'empty'})"
