"""Plans with their operands: executing one is a single C call."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import raw
from ...resource import Closing, Uncopied
from ...runtime.launching.sequence import FixedLaunch
from ..backend.execution import Execution

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...handle import Handle
    from ..backend.descriptor import BackendDescriptor
    from .plan import ExecutionPlan
    from .scratch import Writing

    class _Partial:
        """``functools.partial`` as far as it is used here."""

        def __new__(cls, function: Callable[..., Any]) -> Self: ...
        def __call__(self) -> None: ...

else:
    _Partial = functools.partial

__all__ = ["BoundPlan"]


class BoundPlan(Uncopied, _Partial, Closing):
    """A plan with its operands and workspace, which it keeps alive; call it to execute.

    ``ExecutionPlan.bind`` makes it.

    Attributes
    ----------
    handle : Handle
    plan : ExecutionPlan
    variant_pack : BackendDescriptor
        The addresses.
    operands
        What the addresses belong to.

    Examples
    --------
    >>> graph = Graph(io_data_type="float32")
    >>> x = graph.tensor((1, 2, 2), name="x")
    >>> y = graph.relu(x).set_output(name="y")
    >>> memory = DeviceTensor.full((1, 2, 2), -1, "float32")
    >>> with Handle() as handle:
    ...     bound = graph.build(handle).bind(handle, {x.uid: memory, y.uid: memory})
    ...     bound()
    >>> memory.numpy().ravel()
    array([0., 0., 0., 0.], dtype=float32)
    """

    # A partial without arguments, whose function a call reaches without a method in between.

    handle: Handle
    plan: ExecutionPlan
    variant_pack: BackendDescriptor
    operands: Any
    _prepare: Writing | None
    _fixed: FixedLaunch | None

    def __new__(
        cls,
        handle: Handle,
        plan: ExecutionPlan,
        variant_pack: BackendDescriptor,
        prepare: Writing | None = None,
    ) -> Self:
        """`prepare` is called before each execution."""
        execution = Execution(handle, plan.descriptor, variant_pack)
        call = execution.call
        self = super().__new__(cls, call if prepare is None else _in_order(prepare, call))
        self._fixed = execution.fixed if prepare is None else None
        self.handle = handle
        self.plan = plan
        self.variant_pack = variant_pack
        self.operands = None
        self._prepare = prepare
        return self

    @property
    def fixed(self) -> FixedLaunch | None:
        """For machine code; None where there can be none."""
        return self._fixed

    def execute(self) -> None:
        """Run the plan, as calling this does."""
        self()

    @property
    def workspace_size(self) -> int:
        """Bytes of workspace that these operands need; at most those of the plan for fixed shapes.

        Follows ``cudnnGetExecutionPlanWorkspaceSize``, which cuDNN has since 9.23; raises
        `SymbolNotFoundError` for an older one.
        """
        size = ctypes.c_size_t()
        raw.cudnnGetExecutionPlanWorkspaceSize(
            self.handle, self.plan.descriptor, self.variant_pack, size
        )
        return self.plan.scratch.total(size.value)

    def close(self) -> None:
        """Let the operands go. The plan stays."""
        self.variant_pack.close()
        if self._prepare is not None:
            self._prepare.close()
        self.operands = None

    def __repr__(self) -> str:
        return f"BoundPlan({self.plan!r}{', closed' if self.variant_pack.closed else ''})"


def _in_order(first: Callable[[], None], then: Callable[[], None]) -> Callable[[], None]:
    def call() -> None:
        first()
        then()

    return call
