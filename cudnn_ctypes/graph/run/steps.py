"""Plans that are executed one after the other, in one workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ...handle import Handle
    from .bound_plan import BoundPlan
    from .plan import ExecutionPlan


class Step(NamedTuple):
    """A plan, and whose memory its operands are.

    - `uids`: the plan's unique ids to those of all steps.
    """

    plan: ExecutionPlan
    uids: Mapping[int, int]


class Steps:
    """Plans in the order in which they are executed.

    - `steps`: several may have the same plan.
    """

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self.all: tuple[Step, ...] = tuple(steps)
        self.workspace_size: int = max((each.plan.workspace_size for each in steps), default=0)

    def __bool__(self) -> bool:
        return bool(self.all)

    @property
    def plans(self) -> tuple[ExecutionPlan, ...]:
        """Each plan once."""
        return tuple({id(each.plan): each.plan for each in self.all}.values())

    def execute(self, handle: Handle, pointers: Mapping[int, Any], workspace: int) -> None:
        """Run them on the handle's stream.

        `pointers` are by the unique ids of all steps; `workspace` is an address, of at least
        `workspace_size` bytes.
        """
        for plan, uids in self.all:
            plan.execute(handle, *_operands(plan, uids, pointers, workspace))

    def bind(self, handle: Handle, pointers: Mapping[int, Any], workspace: int) -> list[BoundPlan]:
        """`execute` for memory that stays where it is."""
        return [
            plan.bind(handle, *_operands(plan, uids, pointers, workspace))
            for plan, uids in self.all
        ]

    def close(self) -> None:
        """Close the plans."""
        for plan in self.plans:
            plan.close()


def _operands(
    plan: ExecutionPlan, uids: Mapping[int, int], pointers: Mapping[int, Any], workspace: int
) -> tuple[dict[int, Any], int | None]:
    """The addresses that a plan needs, and its workspace."""
    needed = {uid: pointers[each] for uid, each in uids.items() if each in pointers}
    return needed, workspace if plan.workspace_size else None
