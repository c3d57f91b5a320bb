"""Execution of one plan with whatever a program calls its operands."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..raw.bare import watched
from ..raw.memory import memory_pointer
from .launching import execute

if TYPE_CHECKING:
    from ..handle import Handle
    from .arguments import Shape
    from .operands import Operands
    from .plan import ExecutionPlan

__all__ = ["Execution"]


class Execution:
    """Carries out one plan with whatever a program calls its operands.

    Memory at the addresses of one of the latest executions is not measured again.

    Parameters
    ----------
    plan : ExecutionPlan
    operands : Operands
        Of the graph that the plan was built for.
    """

    def __init__(self, plan: ExecutionPlan, operands: Operands) -> None:
        self._plan = plan
        self.operands = operands
        self._workspace_size = plan.workspace_size
        self._packs = None if plan.scratch else plan.packs(operands.uids)

    def __call__(
        self,
        handle: Handle,
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
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

        Raises
        ------
        ValueError
            If an operand has no memory, or it or the workspace has too little.
        TypeError
            If a value is no memory, or host memory.
        """
        addresses, numbers = self.operands.addresses(memory)
        packs = self._packs
        if packs is None or shapes or watched:
            self.check(addresses, memory, workspace, shapes)
            by_uid = dict(zip(self.operands.uids, addresses, strict=True))
            self._plan.execute(handle, by_uid, workspace, shapes=shapes)
            return
        space = None
        if self._workspace_size:
            space = workspace if type(workspace) is int else memory_pointer(workspace, "workspace")
        try:
            key = packs.key(*addresses, space or 0)
        except struct.error:  # one is None, or no address
            self.check(addresses, memory, workspace)
            raise ValueError("an address is a positive number of 64 bits") from None
        pack = None if numbers else packs.take(key)
        if pack is None:
            self.check(addresses, memory, workspace)
            pack = packs.make(key)
        execute(handle, self._plan.descriptor, pack.descriptor)
        if numbers:  # they will lie elsewhere next time
            packs.release(pack)
        else:
            packs.keep(key, pack)

    def check(
        self,
        addresses: Sequence[Any],
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
    ) -> None:
        """Refuse what is missing or too small.

        Raises
        ------
        ValueError
        """
        self.operands.check(addresses, memory, shapes)
        if self._workspace_size:
            self._plan.check_workspace(workspace)
