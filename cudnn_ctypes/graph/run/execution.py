"""Execution of one plan with whatever a program calls its operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...raw import gpus
from ...raw.function import watched

if TYPE_CHECKING:
    from ...handle import Handle
    from ...runtime.launching.executions import Executions
    from ..describe.tensor import Tensor
    from .bound_plan import BoundPlan
    from .operands import Operands
    from .plan import ExecutionPlan
    from .results import ResultMemory
    from .tensor_memory import Shape
    from .torch_runs import TorchRun


class Execution:
    """Carries out one plan with whatever a program calls its operands.

    - `known`: for memory in a ``dict`` that is checked, without `shapes`: try ``known.execute``
      first.
    """

    def __init__(self, plan: ExecutionPlan, operands: Operands) -> None:
        self._plan = plan
        self.operands = operands
        self.workspace_size: int = plan.workspace_size
        self.known: Executions = plan.executions()
        operands.renamed = self.known.clear

    def __call__(
        self,
        handle: Handle,
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
        *,
        check: bool = True,
    ) -> None:
        """Run the plan on the handle's stream; parameters and errors as for ``Graph.execute``.

        `shapes` are the dims and strides, by unique id, of operands that have others this time.
        """
        learns = type(memory) is dict and check and not shapes
        if learns and self.known.tried(handle, memory, workspace):  # type: ignore[arg-type]
            return
        if gpus.ordinals:
            gpus.check_memory(handle, [*memory.items(), ("workspace", workspace)])
        addresses, numbers = self.operands.addresses(memory, shapes, check=check)
        plan, uids = self._plan, self.operands.uids
        space = self.check_workspace(workspace)
        if plan.scratch or not plan.is_one_call or shapes or watched:
            by_uid = dict(zip(uids, addresses, strict=True))
            plan.execute(handle, by_uid, workspace, shapes=shapes)
            return
        packs = plan.packs(uids)
        packs.execute(handle, plan.descriptor, (*addresses, space), numbers)
        operands = self.operands.launched(memory) if learns and not numbers else None
        if operands is not None:
            self.known.learn(memory, workspace if space else None, packs, *operands)

    def bind(
        self,
        handle: Handle,
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
        *,
        check: bool = True,
    ) -> BoundPlan:
        """The plan with these operands, which it keeps alive; parameters as for a call."""
        if gpus.ordinals:
            gpus.check_memory(handle, [*memory.items(), ("workspace", workspace)])
        by_uid = self.operands.by_uid(memory, shapes, check=check)
        bound = self._plan.bind(handle, by_uid, workspace, shapes=shapes)
        bound.operands = tuple(memory.values())
        return bound

    def torch_run(
        self,
        inputs: Sequence[Tensor | None],
        results: Sequence[ResultMemory],
        returned: Tensor | tuple[Tensor, ...],
        like: Any,
    ) -> TorchRun | None:
        """A function of tensors of PyTorch; None if a run needs more than their memory."""
        from .torch_runs import torch_run

        return torch_run(self._plan, self.operands, inputs, results, returned, like)

    def check_workspace(self, workspace: Any) -> int:
        """The address of a workspace, which must be large enough; 0 if none is needed."""
        return self._plan.check_workspace(workspace)
