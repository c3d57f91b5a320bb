"""The methods of `Graph` that give other graphs, described about as it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .changes import differences
from .operations.base import as_type
from .rewriting import edit_of, edited, halves
from .small import small
from .tensor import Tensor
from .variants.catalogue import remedies
from .variants.remedy import Remedy, Variant
from .variants.splits import splits

if TYPE_CHECKING:
    from ..graph import Graph

__all__ = ["RewritingMethods"]

G = TypeVar("G", bound="Graph")


class RewritingMethods:
    """Methods of `Graph` that change or compare descriptions; none of them asks cuDNN."""

    def replaced(  # type: ignore[misc]
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
        changes = {
            "io_data_type": io_data_type,
            "intermediate_data_type": intermediate_data_type,
            "compute_data_type": compute_data_type,
        }
        data_types = {name: value for name, value in changes.items() if value is not None}
        return edited(self, edit_of(self, tensors, operations, without, data_types))

    def split(  # type: ignore[misc]
        self: G,
        at: Tensor | str | int,
        *,
        data_type: Any = None,
    ) -> tuple[G, G]:
        """Two graphs that together compute the same; this one stays as it is.

        The first has the operations that a tensor is computed by, the second the others. What the
        second needs of the first is an output there and an input here, by the same name and uid.

        Parameters
        ----------
        at : Tensor, str or int
            A result of an operation, its name or uid.
        data_type : data type, optional
            Of virtual tensors that get memory; by default they keep their own.

        Returns
        -------
        first, second : Graph
            Not built.

        Raises
        ------
        ValueError
            If the graph cannot be validated, `at` is no result, or all operations are needed for
            it.
        KeyError
            If there is no tensor of this name, or several.
        """
        self.validate()
        tensor = at if isinstance(at, Tensor) else self.find_tensor(at)
        return halves(self, tensor, as_type("split: data_type", data_type))

    def _remedies(self: Graph) -> tuple[Remedy, ...]:  # type: ignore[misc]
        """Changes that often win further engines, for `_variant`.

        Raises
        ------
        ValueError, TypeError
            As in `validate`.
        """
        self.validate()
        return tuple(remedies(self))

    def _variant(self: Graph, remedies: Sequence[Remedy]) -> Variant | None:  # type: ignore[misc]
        """This graph after some of its `_remedies`, one after the other.

        Returns
        -------
        Variant or None
            None if one of them changes nothing any more, or the graph would not be valid.

        Raises
        ------
        ValueError, TypeError
            As in `validate`.
        """
        self.validate()
        graph, steps = self, []
        for remedy in remedies:
            edit = remedy.edit(graph)
            if not edit:
                return None
            changed = edited(graph, edit)
            try:
                changed.validate()
            except (ValueError, TypeError):
                return None
            steps.append(remedy.step(differences(graph, changed), edit.caveat))
            graph = changed
        return Variant(tuple(steps), differences(self, graph), (graph,))

    def _small(self: G, period: int) -> G | None:  # type: ignore[misc]
        """A graph of the same form with small sizes, equal to its own modulo `period`.

        None if there is none, or this one is small.

        Raises
        ------
        ValueError, TypeError
            As in `validate`.
        """
        self.validate()
        return small(self, period)

    def _splits(self: Graph) -> Iterator[Variant]:  # type: ignore[misc]
        """This graph in two, after each of its virtual results."""
        self.validate()
        return splits(self)
