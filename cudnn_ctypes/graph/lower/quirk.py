"""One fault of cuDNN's, and what it is looked for in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..describe.node import Node
from ..describe.tensor import Tensor
from .flattening import View
from .target import Target

__all__ = ["Graph", "Quirk"]


@dataclass(frozen=True)
class Graph:
    """The graph that a row's predicate looks at.

    Attributes
    ----------
    nodes : sequence of Node
        Validated, in an order in which they can be carried out.
    views : mapping
        Dims and strides by a tensor's id, where cuDNN gets others than the tensor has.
    """

    nodes: Sequence[Node]
    views: Mapping[int, View]

    def dims(self, tensor: Tensor) -> tuple[int, ...]:
        """The dims that cuDNN gets."""
        return self.views[id(tensor)][0] if id(tensor) in self.views else tensor.dims or ()

    def consists_of(self, kind: str) -> bool:
        """Whether all operations are of one kind of descriptor."""
        return all(node.kind.descriptor == f"operation_{kind}" for node in self.nodes)

    def of(self, *kinds: str) -> Iterator[Node]:
        """The operations of some kinds of descriptors."""
        wanted = {f"operation_{kind}" for kind in kinds}
        return (node for node in self.nodes if node.kind.descriptor in wanted)

    def as_written(self, *operations: str) -> Iterator[Node]:
        """The user's calls of these names that were expanded."""
        users = {id(each): each for node in self.nodes if (each := node.origin) is not None}
        return (each for each in users.values() if each.operation in operations)

    @property
    def single(self) -> Node | None:
        """The only operation; None if there are several."""
        return self.nodes[0] if len(self.nodes) == 1 else None


@dataclass(frozen=True)
class Quirk:
    """One fault of cuDNN's.

    Attributes
    ----------
    name : str
        For tests.
    fault : str
        What goes wrong: "it gives wrong numbers for bfloat16".
    where : callable
        From a graph to what of the user's has the fault, in words; "" if nothing has.
    evidence : str
        GPUs and versions, and what was seen.
    since : int
        The first version of cuDNN in which it was seen.
    capabilities : tuple of int
        Compute capabilities of the GPUs on which it was seen.
    repaired : int, optional
        The first version that is known to be without it.
    engines : tuple of int
        Those that have the fault. Without engines and modes the graph is refused, but `by_data`.
    modes : tuple of str
        Modes of heuristics that have it; the others are asked.
    beside_another : bool
        Whether it is only where the GPU is known by its properties, on a machine with another one.
    by_data : bool
        Whether it shows with some data only, which the graph does not say: its build warns.
    sometimes : bool
        Whether it shows in some processes only: on addresses, say.
    reported : bool
        Whether NVIDIA tells of it, and it was not measured.
    """

    name: str
    fault: str
    where: Callable[[Graph], str]
    evidence: str
    since: int
    capabilities: tuple[int, ...] = (90,)
    repaired: int | None = None
    engines: tuple[int, ...] = ()
    modes: tuple[str, ...] = ()
    beside_another: bool = False
    by_data: bool = False
    sometimes: bool = False
    reported: bool = False

    def applies(self, target: Target) -> bool:
        """Whether this cuDNN has the fault on this GPU, as far as is known."""
        present = self.since <= target.version and (
            self.repaired is None or target.version < self.repaired
        )
        here = bool(self.engines) or target.capability in self.capabilities
        return present and here and (not self.beside_another or target.beside_another)
