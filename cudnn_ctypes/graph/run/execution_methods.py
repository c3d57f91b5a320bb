"""The methods of `Graph` that execute its plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...resource import Closing
from .execution import Execution
from .operands import Operands
from .tensor_memory import new_shapes

if TYPE_CHECKING:
    from ...handle import Handle
    from ..describe.node import Node
    from ..describe.tensor import Tensor
    from .bound_plan import BoundPlan
    from .plan import ExecutionPlan
    from .results import Outputs

    # A mapping of one kind of key is none of several kinds, to a type checker.
    MemoryMap = (
        Mapping[Tensor, Any]
        | Mapping[int, Any]
        | Mapping[str, Any]
        | Mapping[Tensor | int | str, Any]
    )
    """Memory by tensor, unique id or name."""
    DimsMap = (
        Mapping[Tensor, Sequence[int]]
        | Mapping[int, Sequence[int]]
        | Mapping[str, Sequence[int]]
        | Mapping[Tensor | int | str, Sequence[int]]
    )

__all__ = ["ExecutionMethods"]


class ExecutionMethods(Closing):
    """Methods of `Graph` that use its plan."""

    name: str
    nodes: list[Node]

    def __init__(self) -> None:
        super().__init__()
        # Without defaults in the class, beside which Python 3.11 finds them less fast.
        self._plan: ExecutionPlan | None = None
        self._execution: Execution | None = None
        self._handle: Handle | None = None
        self._outputs: Outputs | None = None
        self._node_count = 0  # when the plan was built
        self._operands: list[Tensor] = []
        """The tensors of the plan, once there is one."""

    @property
    def plan(self) -> ExecutionPlan:
        """The plan that `build` made."""
        if self._plan is None:
            raise ValueError(f"graph {self.name!r} is not built; call its build()")
        return self._plan

    @property
    def workspace_size(self) -> int:
        """Bytes of device memory that `execute` needs beside the tensors."""
        return self.plan.workspace_size

    def execute(
        self,
        memory: MemoryMap,
        workspace: Any = None,
        *,
        dims: DimsMap | None = None,
        handle: Handle | None = None,
        check: bool = True,
    ) -> None:
        """Run it on the handle's stream; follows ``cudnnBackendExecute``.

        Parameters
        ----------
        memory : mapping
            By tensor, uid or name: device memory for `inputs` and `outputs`, numbers for those
            passed by value.
        workspace : device memory, optional
            At least `workspace_size` bytes.
        dims : mapping, optional
            By tensor, uid or name: those of all tensors with memory that have others this time,
            packed, if it was built with ``override_shapes``.
        handle : Handle, optional
            By default that of `build`.
        check : bool
            Whether memory that says its data type, dims and strides is held against its tensor.
            It may tell the same memory in other words: without dims of one element, with
            neighbouring dims joined, or as bytes.

        Raises
        ------
        ValueError
            If a tensor has no memory, or memory that contradicts it; if there is no handle.
        KeyError
            If a key is no tensor with memory of this graph.
        """
        execution = self._execution or self._made_execution(self.plan)
        chosen = self._handle if handle is None else handle
        if chosen is None:
            chosen = self._chosen(None)
        if type(memory) is dict and check and not dims:
            execution.launches.last(execution, chosen, memory, workspace)
            return
        new = new_shapes(self._operands, dims) if dims else None
        execution(chosen, memory, workspace, new, check=check)

    def bind(
        self,
        memory: MemoryMap,
        workspace: Any = None,
        *,
        dims: DimsMap | None = None,
        handle: Handle | None = None,
        check: bool = True,
    ) -> BoundPlan:
        """`execute` for memory that stays where it is: each call of the result is one C call."""
        plan = self.plan
        new = new_shapes(self._operands, dims) if dims else None
        execution = self._execution or self._made_execution(plan)
        return execution.bind(self._chosen(handle), memory, workspace, new, check=check)

    def _made_execution(self, plan: ExecutionPlan) -> Execution:
        if self._has_grown():
            raise ValueError(
                f"graph {self.name!r}: operations were added after it was built: build it again"
            )
        execution = self._execution = Execution(plan, Operands(self._operands))
        return execution  # another thread may close the graph

    def _has_grown(self) -> bool:
        """Whether operations were added after the build."""
        return len(self.nodes) != self._node_count

    def _chosen(self, handle: Handle | None) -> Handle:
        chosen = self._handle if handle is None else handle
        if chosen is None:
            raise ValueError(f"graph {self.name!r} was built without a handle: pass one")
        return chosen

    def close(self) -> None:
        """Destroy the plan. The graph can be built again."""
        if self._plan is not None:
            self._plan.close()
            self._plan = self._execution = self._outputs = None
