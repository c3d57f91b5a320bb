"""Execution of one plan with whatever a program calls its operands."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...raw import gpus
from ...raw.bare import watched
from ...raw.memory import memory_pointer

if TYPE_CHECKING:
    from ...handle import Handle
    from .bound_plan import BoundPlan
    from .operands import Operands
    from .plan import ExecutionPlan
    from .tensor_memory import Shape

__all__ = ["Execution"]


class Execution:
    """Carries out one plan with whatever a program calls its operands.

    Parameters
    ----------
    plan : ExecutionPlan
    operands : Operands
        Of the graph that the plan was built for.

    Attributes
    ----------
    operands : Operands
    workspace_size : int
        Bytes of workspace that the plan needs.
    """

    def __init__(self, plan: ExecutionPlan, operands: Operands) -> None:
        self._plan = plan
        self.operands = operands
        self.workspace_size = plan.workspace_size
        self._checked_space: int | None = -1
        self._packs = None if plan.scratch else plan.packs(operands.uids)

    def __call__(
        self,
        handle: Handle,
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
        *,
        check: bool = True,
    ) -> None:
        """Run the plan on the handle's stream; follows ``cudnnBackendExecute``.

        Parameters
        ----------
        memory : mapping
            By tensor, unique id or name: device memory; numbers for operands by value.
        workspace : device memory or None
            At least the plan's ``workspace_size`` bytes.
        shapes : mapping of int to (dims, strides), optional
            Of operands, by unique id, that have others this time.
        check : bool
            Whether memory that says its data type, dims and strides is held against its tensor.

        Raises
        ------
        ValueError
            If an operand has no memory, its memory contradicts it, or the workspace is too small.
        TypeError
            If a value is no memory, or host memory.
        KeyError
            If a key is of no operand.
        """
        if gpus.ordinals:
            gpus.check_memory(handle, [*memory.items(), ("workspace", workspace)])
        addresses, numbers = self.operands.addresses(memory, shapes, check=check)
        packs = self._packs
        if packs is None or shapes or watched:
            self.check_workspace(workspace)
            by_uid = dict(zip(self.operands.uids, addresses, strict=True))
            self._plan.execute(handle, by_uid, workspace, shapes=shapes)
            return
        space = None
        if self.workspace_size:
            space = workspace if type(workspace) is int else memory_pointer(workspace, "workspace")
            if space != self._checked_space:
                self.check_workspace(workspace)
                self._checked_space = space
        try:
            key = packs.key(*addresses, space or 0)
        except struct.error:
            raise ValueError(f"expected addresses of 64 bits, got {addresses}") from None
        packs.execute(handle, self._plan.descriptor, key, space, numbers)

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

    def check_workspace(self, workspace: Any) -> None:
        """Refuse a workspace that is none or too small.

        Raises
        ------
        ValueError
        """
        self._plan.check_workspace(workspace)
