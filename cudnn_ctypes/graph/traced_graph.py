"""A graph that a Python function described, with what stands for its arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..raw.values import described
from .describe.tensor import Tensor
from .run.results import ResultMemory
from .traced_arguments import leaves, rebuilt

if TYPE_CHECKING:
    from ..handle import Handle
    from .graph import Graph
    from .run.torch_runs import TorchRun

__all__ = ["TracedGraph"]


class TracedGraph:
    """A graph that a function described, its inputs, and what the function returned."""

    def __init__(self, graph: Graph, inputs: list[Tensor], returned: Any) -> None:
        self.graph: Graph = graph
        self._inputs, self._returned = inputs, returned
        self._looked = False
        self._torch_run: TorchRun | None = None
        tensors = list(leaves(returned))
        if not tensors:
            raise TypeError(f"{graph.name} must return tensors, got {described(returned)}")
        for each in tensors:
            if not isinstance(each, Tensor) or not any(each is own for own in graph.tensors):
                raise TypeError(f"{graph.name} must return tensors of its graph, got {each!r}")
            if each in inputs:
                raise ValueError(
                    f"{graph.name} returns its argument {each.name!r} as it is; the graph's "
                    "identity copies it"
                )
            each.set_output()
        self._leave_out_unused()

    def _leave_out_unused(self) -> None:
        """Take arguments that the function only looked at out of the graph."""
        nodes = [each for node in self.graph.nodes for each in (node, *node.inner)]
        used = {id(tensor) for node in nodes for tensor in node.operands}
        self._used = [id(tensor) in used for tensor in self._inputs]
        for tensor, is_used in zip(self._inputs, self._used, strict=True):
            if not is_used:
                self.graph.tensors.remove(tensor)

    def named(self, memory: Sequence[Any]) -> dict[Any, Any]:
        """Memory by tensor, from memory in the order of the arguments."""
        every = zip(self._inputs, memory, self._used, strict=True)
        return {tensor: given for tensor, given, is_used in every if is_used}

    def empty_results(self, like: Any) -> Any:
        """The function's return value with new PyTorch memory in place of tensors."""
        self.graph.validate()
        results = {each.name: ResultMemory(each).in_torch(like) for each in self.graph.outputs}
        return rebuilt(self._returned, results)

    def run(self, memory: Sequence[Any], handle: Handle | None) -> Any:
        results = self.graph.run(self.named(memory), handle=handle)
        return rebuilt(self._returned, results)

    def torch_run(self, memory: Sequence[Any]) -> TorchRun | None:
        """A function of tensors of PyTorch like these for later runs, if there can be one."""
        if not self._looked:
            self._looked, self._torch_run = True, self._made_torch_run(memory)
        return self._torch_run

    def _made_torch_run(self, memory: Sequence[Any]) -> TorchRun | None:
        returned = self._returned
        is_plain = isinstance(returned, Tensor) or (
            type(returned) is tuple and all(isinstance(each, Tensor) for each in returned)
        )
        if not is_plain or not memory:
            return None
        inputs = [
            t if is_used else None for t, is_used in zip(self._inputs, self._used, strict=True)
        ]
        return self.graph._torch_run(inputs, returned, memory[0])
