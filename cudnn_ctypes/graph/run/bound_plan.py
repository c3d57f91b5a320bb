"""Plans with their operands: executing one is a single C call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import raw
from ..backend.execution import execute

if TYPE_CHECKING:
    from ...handle import Handle
    from ..backend.descriptor import BackendDescriptor
    from .plan import ExecutionPlan

from ...resource import Uncopied

__all__ = ["BoundPlan"]


class BoundPlan(Uncopied):
    """A plan with its operands and workspace, which it keeps alive; call it to execute.

    ``ExecutionPlan.bind`` makes it.
    """

    def __init__(
        self, handle: Handle, plan: ExecutionPlan, variant_pack: BackendDescriptor
    ) -> None:
        self.handle = handle
        self.plan = plan
        self.variant_pack = variant_pack
        self.operands: Any = None  # what the addresses of the pack belong to
        self.prepare: Callable[[], None] | None = None  # what goes before each execution
        self._arguments = (handle, plan.descriptor, variant_pack)

    def __call__(self) -> None:
        if self.prepare is not None:
            self.prepare()
        execute(*self._arguments)

    execute = __call__

    @property
    def workspace_size(self) -> int:
        """Bytes of workspace that these operands need; at most those of the plan for fixed shapes.

        Follows ``cudnnGetExecutionPlanWorkspaceSize``, which cuDNN has since 9.23; raises
        `SymbolNotFoundError` for an older one.
        """
        size = ctypes.c_size_t()
        raw.cudnnGetExecutionPlanWorkspaceSize(*self._arguments, size)
        return self.plan.scratch.total(size.value)

    def close(self) -> None:
        """Let the operands go. The plan stays."""
        self.variant_pack.close()
        self.operands = None

    def __enter__(self) -> BoundPlan:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"BoundPlan({self.plan!r}{', closed' if self.variant_pack.closed else ''})"
