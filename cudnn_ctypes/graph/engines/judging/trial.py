"""A child's part of a judgement: engine configs are executed and compared, one after the other."""

from __future__ import annotations

import functools
import json
import os
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....dtypes import element_bits
from ....errors import CudnnError, SymbolNotFoundError
from ....handle import Handle
from ....raw.library import linux
from ....reference.device.dispatch import use_reference_device
from ....resource import Closing
from ....runtime import DeviceBuffer
from ...backend.children import Outcome, Spent, outcomes
from ...backend.engine import Engine, EngineChoice
from ...lower.lowering import lowered
from ...lower.target import NO_GPU, Target
from ...run.plan import ExecutionPlan
from ...run.tensor_memory import host_value
from ..cache.cached_building import scratch_of
from ..operands import Images, results, stored
from ..refusals import refusal
from ..tuning.timing import Timer
from .exact import Evaluation
from .verdict import Bound, Verdict, compared, worse

if TYPE_CHECKING:
    from ...backend.descriptor import BackendDescriptor
    from ...describe.tensor import Tensor
    from ...lower.expand.expansion import Expansion


_ZONE = 512  # bytes before and after the memory of a tensor
_WORKSPACE_ZONE = 4096


class Guarded(Closing):
    """Operands, results and workspace of a plan, each with a red zone on both sides.

    An address is a multiple of the tensor's alignment, and of no higher power of two. `written`
    are the unique ids of results.
    """

    def __init__(
        self, handle: Handle, tensors: list[Tensor], written: set[int], workspace_size: int
    ) -> None:
        self._handle = handle
        self._tensors = [each for each in tensors if not each.scratch]
        self._written = written
        self._buffers: dict[int, DeviceBuffer] = {}
        self._starts: dict[int, int] = {}
        self._contents: dict[int, NDArray[np.uint8]] = {}
        self._numbers: dict[int, Any] = {}
        self._size = workspace_size
        self._pattern = 0  # of the last `fill`
        self.workspace: DeviceBuffer = self._allocated(workspace_size + 2 * _WORKSPACE_ZONE)

    def _allocated(self, nbytes: int) -> DeviceBuffer:
        return DeviceBuffer(nbytes, device=self._handle.device, stream=self._handle.stream)

    def fill(self, images: Images, pattern: int, accumulating: bool) -> dict[int, Any]:
        """Write operands, and the byte `pattern` everywhere else; returns what an execution takes.

        Results that are `accumulating` begin with the numbers in their images.
        """
        stream = self._handle.stream
        self._pattern = pattern
        self.workspace.fill(pattern, stream=stream)
        pointers: dict[int, Any] = {}
        for tensor in self._tensors:
            uid = tensor.uid or 0
            image = images[uid]
            if tensor.by_value:
                ctype = type(host_value(0, tensor))
                self._numbers[uid] = pointers[uid] = ctype.from_buffer_copy(image.tobytes())
                continue
            if uid not in self._buffers:
                step = max(tensor.alignment, 1)
                self._buffers[uid] = buffer = self._allocated(image.nbytes + 2 * (_ZONE + step))
                start = -(-(buffer.ptr + _ZONE) // step) * step - buffer.ptr
                if not (buffer.ptr + start) // step % 2:
                    start += step
                self._starts[uid] = start
            start = self._starts[uid]
            whole = np.full(self._buffers[uid].nbytes, pattern, np.uint8)
            if uid not in self._written or accumulating:
                whole[start : start + image.nbytes] = image
            self._contents[uid] = whole
            self._buffers[uid].copy_from_host(whole, stream=stream)
            pointers[uid] = self._buffers[uid].ptr + start
        return pointers

    @property
    def usable_workspace(self) -> DeviceBuffer | None:
        """The workspace without its red zones."""
        return self.workspace.view(_WORKSPACE_ZONE, self._size) if self._size else None

    def read(self, images: Images) -> tuple[dict[int, NDArray[np.uint8]], str]:
        """The bytes of the results, and what was written that must not be; "" if nothing was."""
        found: dict[int, NDArray[np.uint8]] = {}
        beyond = ""
        for tensor in self._tensors:
            uid = tensor.uid or 0
            if tensor.by_value:
                continue
            whole = self._buffers[uid].copy_to_host(stream=self._handle.stream)
            start, nbytes = self._starts[uid], images[uid].nbytes
            changed = whole != self._contents[uid]
            inner = changed[start : start + nbytes]
            if uid in self._written:
                found[uid] = whole[start : start + nbytes].copy()
                inner[_occupied(tensor, nbytes)] = False
            beyond = beyond or _told(tensor, changed, start, nbytes, uid in self._written)
        zones = self.workspace.copy_to_host(stream=self._handle.stream)
        edges = (zones[:_WORKSPACE_ZONE], zones[_WORKSPACE_ZONE + self._size :])
        if not beyond and any((edge != self._pattern).any() for edge in edges):
            beyond = "beyond the workspace"
        return found, beyond

    def close(self) -> None:
        for each in (*self._buffers.values(), self.workspace):
            each.close()
        self._buffers.clear()


def _told(
    tensor: Tensor, changed: NDArray[np.bool_], start: int, nbytes: int, written: bool
) -> str:
    places = np.flatnonzero(changed)
    if not places.size:
        return ""
    first = int(places[0]) - start
    name = repr(tensor.name)
    if first < 0:
        return f"{len(places)} bytes, from {-first} before {name} on"
    if first >= nbytes:
        return f"{len(places)} bytes, from {first - nbytes} behind {name} on"
    if written:
        return f"{len(places)} bytes between elements of {name}, from byte {first} on"
    return f"{len(places)} bytes of the operand {name}, from byte {first} on"


def _occupied(tensor: Tensor, nbytes: int) -> NDArray[np.bool_]:
    """Which bytes of a tensor's memory belong to its elements; all where that is not simple."""
    bits = element_bits(tensor.data_type)
    if bits < 8 or tensor.reordering or tensor.ragged_offset is not None:
        return np.ones(nbytes, np.bool_)
    size = bits // 8 * tensor.vector_count
    occupied = np.zeros(nbytes, np.bool_)
    steps = [step * size for step in tensor.strides or ()]
    view = np.lib.stride_tricks.as_strided(
        occupied, (*(tensor.dims or ()), size), (*steps, 1), writeable=True
    )
    view[...] = True
    return occupied


_POISONS = (0xFF, 0xA5)
"""Bytes of unwritten memory: NaN in every floating type, and small numbers."""

_SECONDS = 180.0  # of one config: some engines compile for many seconds
_MEGABYTES = 1 << 16
_KEPT = 256 << 20  # bytes of the operands and results of one kind of numbers


def expanded(graph: Any, handle: Handle) -> Expansion:
    """The operations of a graph as they are described, none of them computed beforehand."""
    found: Expansion = graph._expanded(graph.validate(), Target.of(handle), fixed=False)
    return found


@dataclass(frozen=True)
class Task:
    """The common part of all configs of one judgement; it can be pickled.

    - `folder`: with the operands and exact results of each kind of numbers.
    - `runs`: timed executions; 0 on the reference device.
    - `library`: the file of cuDNN's library.
    - `device`: number of the GPU; on the reference device the properties that it stands for.
    - `described`: whether the graph is executed as it is described, with operands that engines
      misread.
    - `loose`: whether cuDNN may choose an engine's knobs where it does not take those of the
      config.
    """

    graph: Any
    folder: str
    kinds: tuple[str, ...]
    runs: int
    library: str
    device: int | Mapping[str, Any]
    described: bool = False
    loose: bool = False

    def expansion(self, handle: Handle) -> Expansion:
        """The graph as engines get it."""
        return expanded(self.graph, handle) if self.described else self.graph.expansion(handle)

    def begin(self) -> Handle:
        """Choose the library and the device of a child."""
        os.environ["CUDNN_CTYPES_LIBRARY"] = self.library
        if isinstance(self.device, int):
            use_reference_device(False)  # whatever the environment says
            return Handle(device=self.device)
        use_reference_device(device=dict(self.device))
        return Handle()

    def keep(self, kind: str, images: Images, bounds: dict[int, Bound]) -> None:
        """Write the operands and exact results of one kind of numbers."""
        arrays: dict[str, Any] = {f"image {uid}": each for uid, each in images.items()}
        for uid, bound in bounds.items():
            arrays |= {f"exact {uid}": bound.exact, f"allowed {uid}": bound.allowed}
            arrays[f"turning {uid}"] = np.int64(bound.turning)
        np.savez(Path(self.folder) / f"{kind}.npz", **arrays)

    def kept(self, kind: str) -> tuple[Images, dict[int, Bound]]:
        """The operands and exact results that `keep` wrote."""
        with np.load(Path(self.folder) / f"{kind}.npz") as file:
            arrays = {name: file[name] for name in file.files}
        parts = [(name.split()[0], int(name.split()[1]), name) for name in arrays]
        images = {uid: arrays[name] for part, uid, name in parts if part == "image"}
        bounds = {
            uid: Bound(arrays[name], arrays[f"allowed {uid}"], int(arrays[f"turning {uid}"]))
            for part, uid, name in parts
            if part == "exact"
        }
        return images, bounds


def trials(task: Task, verdicts: list[Verdict]) -> Iterator[Verdict]:
    """Each config's verdict, as soon as it is known; `verdicts` name them, and no more."""
    cases = [json.dumps(each.as_dict()) for each in verdicts]
    by_case = dict(zip(cases, verdicts, strict=True))
    for outcome in outcomes(
        cases,
        functools.partial(_prepared, task),
        seconds=_SECONDS,
        megabytes=_MEGABYTES,
        maps_a_gpu=True,
        # A fork of a process that uses CUDA cannot use it, and in any fork cuDNN lacks its threads.
        fresh=True,
    ):
        yield _verdict(outcome, by_case[outcome.case])


def _verdict(outcome: Outcome[str], named: Verdict) -> Verdict:
    if not outcome.died:
        return Verdict.from_dict(json.loads(outcome.result))
    if outcome.result.startswith("exit"):  # an exception that is no engine's fault
        lines = outcome.printed.strip().splitlines()
        raise RuntimeError(f"judge: {named.choice}: {lines[-1] if lines else outcome.result}")
    during = f" while {outcome.note}" if outcome.note else ""
    end = f"no end in {_SECONDS:g} s" if outcome.result == "hang" else outcome.result
    return replace(named, state="ended", reason=f"{end}{during}")


def _prepared(task: Task, note: Callable[[str], None]) -> Callable[[str], str]:
    return _Trial(task, task.begin(), note)


_REFUSALS = (CudnnError, SymbolNotFoundError, ValueError)


def _why(error: Exception) -> str:
    return str(refusal(error)) if isinstance(error, CudnnError) else str(error)


class _Trial:
    def __init__(self, task: Task, handle: Handle, note: Callable[[str], None]) -> None:
        self._task = task
        self._handle = handle
        self._note = note
        self._described = expanded(task.graph, handle)
        self._evaluation = Evaluation(self._described)
        self._tensors = stored(self._described)
        self._results = results(self._described)
        expansion = task.expansion(handle)
        self._scratch = scratch_of(expansion, handle)
        self._lowering = lowered(expansion, handle, NO_GPU)
        self._operation_graph: BackendDescriptor = self._lowering.__enter__().graph
        self._timer: Timer | None = None
        self._read: dict[str, tuple[Images, dict[int, Bound]]] = {}

    def __call__(self, case: str) -> str:
        verdict = self._judged(Verdict.from_dict(json.loads(case)))
        return json.dumps(verdict.as_dict())

    def _judged(self, named: Verdict) -> Verdict:
        self._note("building the plan")
        try:
            plan, notes = self._plan(named.choice)
        except _REFUSALS as error:
            return replace(named, state="refused", reason=_why(error))
        with plan:
            named = replace(named, workspace=plan.workspace_size, notes=notes)
            try:
                return self._executed(plan, named)
            except Exception as error:
                if self._context_is_lost():
                    reason = f"the CUDA context: {_why(error)}"
                    ended = replace(named, state="ended", reason=reason)
                    raise Spent(json.dumps(ended.as_dict())) from error
                if not isinstance(error, CudnnError):
                    raise
                return replace(named, state="refused", reason=f"when executed: {_why(error)}")

    def _plan(self, choice: EngineChoice) -> tuple[ExecutionPlan, tuple[str, ...]]:
        """A config's plan and numerical notes; its engine's own if other knobs will do as well."""
        try:
            return self._plan_of(choice)
        except _REFUSALS:
            if not self._task.loose or not choice.knobs:
                raise
            return self._plan_of(EngineChoice(choice.engine))

    def _plan_of(self, choice: EngineChoice) -> tuple[ExecutionPlan, tuple[str, ...]]:
        with (
            Engine(self._operation_graph, choice.engine, device=self._handle) as engine,
            engine.config(choice.knobs) as config,
        ):
            notes = tuple(sorted(engine.numerical_notes))
            plan = ExecutionPlan(config, device=self._handle)
        plan.scratch = self._scratch.borrowed()
        return plan, notes

    def _context_is_lost(self) -> bool:
        try:
            self._handle.synchronize()
        except Exception:  # of whatever layer
            return True
        return False

    def _executed(self, plan: ExecutionPlan, named: Verdict) -> Verdict:
        written = {each.uid or 0 for each in self._results}
        found: Verdict | None = None
        same = True
        with closing(Guarded(self._handle, self._tensors, written, plan.workspace_size)) as memory:
            for kind in self._task.kinds:
                images, bounds = self._kept(kind)
                kept = []
                for poison in _POISONS:
                    self._note(f"executing it with {kind} numbers")
                    bytes_, beyond = self._run(plan, memory, images, poison)
                    verdict = self._of_results(named, kind, images, bytes_, bounds)
                    if beyond:
                        verdict = replace(verdict, state="writes beyond", reason=beyond)
                    found = verdict if found is None else worse(found, verdict)
                    kept.append(bytes_)
                same = same and all(self._same(*kept, images=images, uid=uid) for uid in written)
            assert found is not None
            found = replace(found, same_bits=same)
            if self._task.runs and found.state not in ("ended", "writes beyond"):
                found = replace(found, median=self._time(plan, memory, images))
        return found

    def _kept(self, kind: str) -> tuple[Images, dict[int, Bound]]:
        """Operands and exact results, in memory for the next config unless they are large."""
        found = self._read.get(kind)
        if found is None:
            found = self._task.kept(kind)
            images, bounds = found
            nbytes = sum(each.nbytes for each in images.values())
            nbytes += sum(each.exact.nbytes + each.allowed.nbytes for each in bounds.values())
            if nbytes <= _KEPT:
                self._read[kind] = found
        return found

    def _run(
        self, plan: ExecutionPlan, memory: Guarded, images: Images, poison: int
    ) -> tuple[Images, str]:
        accumulating = any(node.options.get("beta") for node in self._described.nodes)
        pointers = memory.fill(images, poison, accumulating)
        plan.execute(self._handle, pointers, memory.usable_workspace)
        self._handle.synchronize()
        return memory.read(images)

    def _of_results(
        self, named: Verdict, kind: str, images: Images, bytes_: Images, bounds: dict[int, Bound]
    ) -> Verdict:
        found: Verdict | None = None
        for tensor in self._results:
            uid = tensor.uid or 0
            if uid not in bounds:
                continue
            result = self._evaluation.load({**images, uid: bytes_[uid]}, uid)
            verdict = compared(named, tensor.name, result, bounds[uid], kind)
            found = verdict if found is None else worse(found, verdict)
        return named if found is None else found

    def _same(self, one: Images, other: Images, *, images: Images, uid: int) -> bool:
        """Whether two executions gave the same bits, wherever there are elements."""
        first, second = (
            self._evaluation.load({**images, uid: each[uid]}, uid) for each in (one, other)
        )
        return np.ascontiguousarray(first).tobytes() == np.ascontiguousarray(second).tobytes()

    def _time(self, plan: ExecutionPlan, memory: Guarded, images: Images) -> float | None:
        with suppress(CudnnError, MemoryError):
            pointers = memory.fill(images, 0, False)
            with linux.locked(str(self._handle.device.uuid)):
                if self._timer is None:
                    self._timer = Timer(self._handle)
                    self._timer.warm_up()
                workspace = memory.usable_workspace
                with plan.bind(self._handle, pointers, workspace) as bound:
                    bound()
                    return statistics.median(self._timer(bound, self._task.runs))
        return None
