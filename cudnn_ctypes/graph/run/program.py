"""Programs: several plans that together carry out one graph, run as one object."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ...raw import gpus
from ...raw.memory import memory_pointer
from ...runtime.launching.bound import sequence
from ...runtime.launching.executions import Executions
from .plan import BoundPlan, ExecutionPlan
from .scratch import Step, Steps, rounded
from .stored_plan import sealed

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...handle import Handle
    from ..backend.descriptor import BackendDescriptor
    from ..backend.engine import EngineChoice, EngineConfig
    from .tensor_memory import Shape

FORMAT = "cudnn_ctypes program"
_GRAPHS_BY_CUDNN = "supports_cuda_graph_native_api"  # a note of engines


class Part(NamedTuple):
    """Memory of a tensor that is a part of another tensor's.

    - `base`: the other tensor's unique id.
    - `offset`: in bytes.
    """

    base: int
    offset: int


class Program(ExecutionPlan):
    """Plans that are executed one after the other where no engine takes a graph whole.

    ``Graph.build`` makes it, and ``Graph.partition`` shows it before. It is executed, bound,
    captured and stored as a plan is. Tensors between the plans lie in the workspace, where those
    share memory that are not needed at the same time.

    Parameters
    ----------
    steps : sequence of Step
        The program closes their plans.
    between : mapping of int to int
        Bytes of the tensors between the plans, by unique id.
    parts : mapping of int to Part
        Tensors that lie in others' memory.
    stored : mapping
        What `to_json` writes beside the plans.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((4, 8, 128), name="x")
    >>> y = graph.softmax(x)["y"].set_output(name="y")
    >>> program = graph.build("H200")
    >>> len(program.steps)
    3
    """

    def __init__(
        self,
        steps: Sequence[Step],
        between: Mapping[int, int],
        parts: Mapping[int, Part],
        stored: Mapping[str, Any] | None = None,
    ) -> None:
        self._steps = Steps(steps)
        self._parts = dict(parts)
        self._stored_parts = dict(stored or {})
        self._closed = False
        self._config = None
        self.takes_shapes = False
        self._offsets, self._between = _layout(steps, between, self._parts)
        used = {uid for each in steps for uid in each.uids.values()}
        given = {self._base(uid).base for uid in used} - between.keys()
        self.uids = frozenset(given)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The plans in the order of execution, and whose memory their operands are."""
        return self._steps.all

    @property
    def cuts(self) -> tuple[tuple[str, str], ...]:
        """The operations of each step, and why the next is another graph; "" for the last."""
        return tuple((operations, why) for operations, why in self._stored_parts.get("cuts", ()))

    @property
    def plans(self) -> tuple[ExecutionPlan, ...]:
        """Each plan once; several steps that do the same share one."""
        return self._steps.plans

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def is_one_call(self) -> bool:
        """False: it is one call for each step, and operands between them."""
        return False

    def executions(self) -> Executions:
        return Executions(None)

    @property
    def descriptor(self) -> BackendDescriptor:  # type: ignore[override]
        self._refuse("descriptor")

    @property
    def config(self) -> EngineConfig:
        self._refuse("config")

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"a program has a {what} for each of its plans, see its `plans`")

    @property
    def choices(self) -> tuple[EngineChoice, ...]:
        return tuple(choice for each in self.steps for choice in each.plan.choices)

    @property
    def numerical_notes(self) -> frozenset[str]:
        return frozenset[str]().union(*(each.numerical_notes for each in self.plans))

    @property
    def behavior_notes(self) -> frozenset[str]:
        notes = frozenset[str]().union(*(each.behavior_notes for each in self.plans))
        return notes - {_GRAPHS_BY_CUDNN}

    @property
    def workspace_size(self) -> int:
        """Bytes of device memory for the tensors between the plans, and the plans' own."""
        return self._between + self._steps.workspace_size

    @property
    def scratch_offsets(self) -> dict[int, int]:
        """Where the tensors between the plans are in the workspace, in bytes, by unique id."""
        return dict(self._offsets)

    def variant_pack(
        self,
        pointers: Mapping[int, Any],
        workspace: Any = None,
        *,
        shapes: Mapping[int, Shape] | None = None,
    ) -> BackendDescriptor:
        self._refuse("variant pack")

    def execute(
        self,
        handle: Handle,
        pointers: Mapping[int, Any],
        workspace: Any = None,
        *,
        shapes: Mapping[int, Shape] | None = None,
    ) -> None:
        complete, start = self._addresses(handle, pointers, workspace, shapes)
        self._steps.execute(handle, complete, start)

    def bind(
        self,
        handle: Handle,
        pointers: Mapping[int, Any],
        workspace: Any = None,
        *,
        shapes: Mapping[int, Shape] | None = None,
    ) -> BoundProgram:
        """This program for fixed addresses: executing it is one sequence of C calls.

        Parameters
        ----------
        pointers : mapping of int to device memory
            By unique id.
        shapes : mapping, optional
            A program is for fixed shapes, and takes none.
        """
        complete, start = self._addresses(handle, pointers, workspace, shapes)
        return BoundProgram(handle, self, self._steps.bind(handle, complete, start))

    def _addresses(
        self,
        handle: Handle,
        pointers: Mapping[int, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None,
    ) -> tuple[dict[int, Any], int]:
        """The memory of all tensors, and the workspace of the plans."""
        self._check_open()
        if shapes:
            raise ValueError("a program was built for fixed shapes: build it again for others")
        if gpus.ordinals:
            gpus.check_memory(handle, [*pointers.items(), ("workspace", workspace)])
        self._check_uids(pointers)
        start = self.check_workspace(workspace)
        found = {**pointers, **{uid: start + at for uid, at in self._offsets.items()}}
        for uid in self._parts:
            base, offset = self._base(uid)
            address = memory_pointer(found[base], f"pointers[{base}]") or 0
            found[uid] = address + offset
        return found, start + self._between

    def _base(self, uid: int) -> Part:
        offset = 0
        while uid in self._parts:
            uid, more = self._parts[uid]
            offset += more
        return Part(uid, offset)

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("this program is closed")

    def to_json(self) -> str:
        """The program with the plans and their compiled kernels as text, with a checksum.

        ``Graph.load_plan`` takes it, for the same cuDNN version and GPU.
        """
        self._check_open()
        plans = [each.to_json() for each in self.plans]
        return sealed(json.dumps({"format": FORMAT, **self._stored_parts, "plans": plans}))

    def close(self) -> None:
        """Close the plans. A second call does nothing."""
        self._closed = True
        self._steps.close()

    def __repr__(self) -> str:
        if self._closed:
            return "Program(closed)"
        engines = ", ".join(map(str, self.choices)) or "without engines"
        return f"Program({engines}; workspace of {self.workspace_size} bytes)"


def _layout(
    steps: Sequence[Step], between: Mapping[int, int], parts: Mapping[int, Part]
) -> tuple[dict[int, int], int]:
    """Where tensors lie that are needed at different times, and the bytes that they take.

    The largest is placed first, each as low as those allow that live at the same time.
    """
    lives: dict[int, list[int]] = {}
    for time, step in enumerate(steps):
        for uid in step.uids.values():
            while uid in parts:
                uid = parts[uid].base
            if uid in between:
                lives.setdefault(uid, []).append(time)
    placed: list[tuple[int, int, int, int]] = []  # begin, end, first and last step
    offsets: dict[int, int] = {}
    for uid in sorted(lives, key=lambda each: -between[each]):
        first, last, size = min(lives[uid]), max(lives[uid]), rounded(between[uid])
        at = 0
        for begin, end, since, until in sorted(placed):
            if since <= last and first <= until and begin < at + size and at < end:
                at = end
        placed.append((at, at + size, first, last))
        offsets[uid] = at
    return offsets, max((end for _, end, _, _ in placed), default=0)


class BoundProgram(BoundPlan):
    """A program with its operands and workspace, which it keeps alive; call it to execute.

    ``Program.bind`` makes it.
    """

    steps: tuple[BoundPlan, ...]

    def __new__(cls, handle: Handle, program: Program, steps: Sequence[BoundPlan]) -> Self:
        self = super(BoundPlan, cls).__new__(cls, sequence(*steps))
        self.handle, self.plan, self.steps = handle, program, tuple(steps)
        self.operands = self._prepare = self._fixed = None
        return self

    @property
    def workspace_size(self) -> int:
        """Bytes of workspace that it needs."""
        return self.plan.workspace_size

    def close(self) -> None:
        """Let the operands go. The program stays."""
        for each in self.steps:
            each.close()
        self.operands = None

    def __repr__(self) -> str:
        return f"BoundProgram({self.plan!r})"
