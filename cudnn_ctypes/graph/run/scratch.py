"""A plan's own operands, besides the user's: memory at the workspace's end, fixed numbers.

cuDNN asks for it in the form of ordinary tensors. The user never sees them: they count in the
plan's workspace size, and their addresses are added to those of the operands. What they hold is
written before each execution: numbers, or the results of other plans.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...dtypes import element_bits, numpy_dtype
from ...raw.memory import memory_pointer
from ...runtime.stream import as_stream_pointer
from .tensor_memory import host_value

if TYPE_CHECKING:
    from ...handle import Handle
    from ..describe.tensor import Tensor
    from .plan import BoundPlan, ExecutionPlan


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


_ALIGNMENT = 256  # as cudaMalloc aligns


class Scratch:
    """Where the scratch tensors of one graph lie in its workspace, behind the plan's own part.

    It has the numbers too that are fixed in the graph, which nobody needs to pass.

    - `tensors`: of a validated graph; those that are no scratch are left out.
    - `steps`: plans that run before the graph's own; closed with this object.
    - `theirs`: the unique ids of tensors that only these plans take, or none: cuDNN refuses what a
      plan does not know.
    """

    def __init__(
        self,
        tensors: Iterable[Tensor] = (),
        steps: Steps | None = None,
        theirs: Collection[int] = (),
    ) -> None:
        self.size: int = 0
        self._steps = steps or Steps()
        self._theirs = frozenset(theirs)
        self._owns = True
        self._offsets: dict[int, int] = {}
        self._contents: list[tuple[int, Any]] = []
        self._fills: list[tuple[int, Any, int]] = []  # of one number
        tensors = list(tensors)
        self._numbers = {
            each.uid or 0: host_value(each.value, each)
            for each in tensors
            if each.by_value and each.value is not None
        }
        for tensor in {id(each): each for each in tensors if each.scratch}.values():
            assert tensor.dims is not None
            assert tensor.uid is not None
            self._offsets[tensor.uid] = self.size
            if isinstance(tensor.value, float):
                number = np.asarray(tensor.value).astype(numpy_dtype(tensor.data_type))
                self._fills.append((self.size, number, math.prod(tensor.dims)))
            elif tensor.value is not None:
                contents = np.asarray(tensor.value).astype(numpy_dtype(tensor.data_type))
                self._contents.append((self.size, contents))
            nbytes = math.prod(tensor.dims) * element_bits(tensor.data_type) // 8
            self.size += rounded(nbytes)
        self._space = self.size
        self.size += rounded(self._steps.workspace_size)

    def __bool__(self) -> bool:
        return self.size > 0

    @property
    def must_write(self) -> bool:
        """Whether something is to be written there before each execution."""
        return bool(self._contents or self._fills or self._steps)

    def total(self, own: int) -> int:
        """Bytes of the whole workspace, of which a plan needs `own` itself."""
        return rounded(own) + self.size if self else own

    def offsets(self, own: int) -> dict[int, int]:
        """Where each scratch tensor begins, by unique id, in bytes from the workspace's start."""
        return {uid: rounded(own) + offset for uid, offset in self._offsets.items()}

    def added_to(self, pointers: Mapping[int, Any], own: int, workspace: Any) -> Mapping[int, Any]:
        """`pointers`, the addresses of the scratch tensors and the fixed numbers, by unique id."""
        if not self._numbers.keys() <= pointers.keys():
            pointers = {**self._numbers, **pointers}
        if not self:
            return pointers
        start = memory_pointer(workspace, "workspace") or 0
        return {**pointers, **{uid: start + offset for uid, offset in self.offsets(own).items()}}

    def own(self, pointers: Mapping[int, Any]) -> Mapping[int, Any]:
        """`pointers` without those that only plans before the graph's own take."""
        if not self._theirs:
            return pointers
        return {uid: each for uid, each in pointers.items() if uid not in self._theirs}

    def write(self, handle: Handle, own: int, pointers: Mapping[int, Any], workspace: Any) -> None:
        """Write what is to be there, in the order of the handle's stream.

        `pointers` are those that `added_to` returned.
        """
        self._write_contents(handle, own, workspace)
        self._steps.execute(handle, pointers, self._behind(own, workspace))

    def writing(
        self, handle: Handle, own: int, pointers: Mapping[int, Any], workspace: Any
    ) -> Writing:
        """`write` for memory that stays where it is."""
        contents = functools.partial(self._write_contents, handle, own, workspace)
        return Writing(contents, self._steps.bind(handle, pointers, self._behind(own, workspace)))

    def _behind(self, own: int, workspace: Any) -> int:
        """The address of the workspace of the plans before the graph's own."""
        return (memory_pointer(workspace, "workspace") or 0) + rounded(own) + self._space

    def borrowed(self) -> Scratch:
        """The same for another plan, which does not close the plans of this one."""
        twin = copy.copy(self)
        twin._owns = False
        return twin

    def close(self) -> None:
        """Close the plans."""
        if self._owns:
            self._steps.close()

    def _write_contents(self, handle: Handle, own: int, workspace: Any) -> None:
        if not (self._contents or self._fills):
            return
        start = (memory_pointer(workspace, "workspace") or 0) + rounded(own)
        stream, ordinal = as_stream_pointer(handle.stream), handle.device.device_id
        for offset, contents in self._contents:
            # Few bytes: the driver takes its copy of them before it returns.
            source, nbytes = contents.ctypes.data, contents.nbytes
            handle.runtime.write(ordinal, start + offset, source, nbytes, stream, wait=False)
        for offset, number, count in self._fills:
            nbytes = count * number.itemsize
            handle.runtime.fill(ordinal, start + offset, number.tobytes(), nbytes, stream)


class Writing:
    """The writes before each execution of a bound plan; call it to write."""

    def __init__(self, contents: Callable[[], None], bound: Sequence[BoundPlan]) -> None:
        self._contents = contents
        self._bound = bound

    def __call__(self) -> None:
        self._contents()
        for each in self._bound:
            each()

    def close(self) -> None:
        """Let the operands of the plans go."""
        for each in self._bound:
            each.close()


def rounded(nbytes: int) -> int:
    """At least so many bytes, up to where memory may begin."""
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT
