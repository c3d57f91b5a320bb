"""Why cuDNN refuses an engine or a config: the one telling line among all that it logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...absent_gpu.driver_stub import ensure_driver
from ...errors import CudnnError, NotSupportedError, OwnReason, SymbolNotFoundError
from ...raw import cudnnStatus_t
from ..backend.engine import Engine, EngineChoice, default_configs, engine_count
from ..run.plan import ExecutionPlan
from .selection import Selection

if TYPE_CHECKING:
    from ...handle import Handle
    from ..backend.descriptor import BackendDescriptor
    from ..backend.device_properties import DeviceProperties
    from ..lower.expand.expansion import Expansion

ONLY_THERE = "perhaps where the GPU is: cuDNN asks the GPU itself, and there is none here"
"""The state of an engine that can be neither compiled nor ruled out for an absent GPU."""

# Compiled when first used: a build that is not refused needs none.
_STATED = r"(?s)^CUDNN_STATUS_(\w+); Reason: (.*)$"
_CALL = r"^[\w.:>-]+\("
_BARE = r"^(status|treePair\.first)$|^\(CUDNN_STATUS_\w+ == status\)"
_COMPILING = r"\brtk\([^)]*\)\s*->\s*compile|COMPILATION_FAILED|cannot load libnvrtc"
_ADDRESS = r"0x[0-9a-f]{6,}"


@dataclass(frozen=True)
class Refusal:
    """cuDNN's reasons for a refusal: all logged messages, the innermost first.

    `status` is the most exact one in them, such as "NOT_SUPPORTED_SHAPE"; `reason` the innermost
    message that states a condition, without addresses.
    """

    status: str
    reason: str
    messages: tuple[str, ...] = ()

    @property
    def hopeless(self) -> bool:
        """True if no other shape, layout or data type would help, or cuDNN does not name one."""
        return self.status.endswith("ARCH_MISMATCH") or any(
            part in self.reason for part in ("gives no reason", "is not enabled")
        )

    @property
    def needs_gpu(self) -> bool:
        """Whether cuDNN asked the GPU itself, which is not here: there it may accept."""
        asked = self.status.startswith("EXECUTION_FAILED") or any(map(_asks_cublas, self.messages))
        return asked and ensure_driver().is_stub

    def without_index(self, engine: int) -> str:
        """Status and reason, the same for all engines that have the same."""
        reason = re.sub(rf"^[Ee]ngine {engine}\b", "this engine", self.reason)
        told = f"{self.status}: {reason}" if self.status else reason
        return f"{ONLY_THERE} ({told})" if self.needs_gpu else told

    def __str__(self) -> str:
        told = f"{self.status}: {self.reason}"
        return f"{ONLY_THERE} ({told})" if self.needs_gpu else told


def refusal(error: CudnnError) -> Refusal:
    """The refusal that an error stands for."""
    messages = error.messages or ((error.detail,) if error.detail else ())
    stated = [found for m in messages if (found := re.match(_STATED, m))]
    status = stated[0][1] if stated else str(error.status).removeprefix("CUDNN_STATUS_")
    # Lines without a status may belong to a check that had alternatives.
    candidates = [found[2] for found in stated] + [m for m in messages if not re.match(_STATED, m)]
    reason = next((text for text in candidates if _tells(text)), "")
    if not reason:
        reason = "cuDNN gives no reason" + (f" ({candidates[0]})" if candidates else "")
    reason = " ".join(re.sub(_ADDRESS, "0x…", reason).split()).removesuffix(" at: true")
    return Refusal(status, reason, tuple(messages))


def failed_to_compile(messages: Iterable[str]) -> bool:
    """Whether cuDNN accepted an engine and could not compile its kernel."""
    return any(re.search(_COMPILING, each) for each in messages)


def _asks_cublas(message: str) -> bool:
    """Whether this is the call by which engines of cuBLASLt find the GPU."""
    return "create_cublas_handle" in message


def _tells(message: str) -> bool:
    """True if the message says more than which of cuDNN's internal functions failed."""
    if re.match(_BARE, message):
        return False
    call = re.match(_CALL, message)
    if call is None:
        return True
    depth = 1
    for position in range(call.end(), len(message)):
        depth += (message[position] == "(") - (message[position] == ")")
        if depth == 0:
            return position + 1 < len(message.rstrip())
    return False


_REASONS = 8  # that the message of a failed build has

_OTHERS = (
    "Graph.explain(device) shows every engine and why it refuses; its advice() says what to change"
)


_WITHOUT_ENGINE = (
    ". The reference device stands for an {gpu}; build(handle, without_engine=True) has it carry "
    "out the graph all the same"
)


class BuildFailure:
    """Collects why the configs that heuristics propose were not taken."""

    def __init__(self) -> None:
        self._reasons: list[str] = []
        self._left_out: Counter[str] = Counter()
        self._proposed = 0

    def mode(self, mode: str, error: NotSupportedError) -> None:
        """Heuristics of this mode proposed none."""
        self._reasons.append(OwnReason.of(error, f"heuristics {mode}: {refusal(error)}"))

    def refused(self, choice: EngineChoice, reason: object) -> None:
        """cuDNN does not make a plan of this one, or makes a wrong one."""
        self._proposed += 1
        text = f"{choice}: {reason}"
        self._reasons.append(text if isinstance(reason, Refusal) else OwnReason(text))

    def unwanted(self, condition: str) -> None:
        """The selection does not want one."""
        self._proposed += 1
        self._left_out[condition] += 1

    def error(
        self,
        expansion: Expansion,
        modes: Sequence[str],
        selection: Selection,
        graph: BackendDescriptor,
        device: Handle | DeviceProperties,
    ) -> NotSupportedError:
        """The exception: heuristics proposed no config, or none of theirs could be built."""
        messages = _shortened(self._reasons)
        if not messages and not self._left_out:
            messages = engine_refusals(graph, device)
        hint = self._hint(selection, graph, device)
        if not any(ONLY_THERE in each for each in messages):
            hint = _where_the_gpu_is(graph, device) + hint
        return NotSupportedError(
            "Graph.build",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={
                "graph": expansion.operations,
                "heuristics": ", ".join(modes),
                **({} if selection == Selection() else {"selection": repr(selection)}),
            },
            messages=messages,
            hint=hint,
        )

    def _hint(self, selection: Selection, graph: BackendDescriptor, device: Any) -> str:
        if self._left_out:
            return self._selected(selection, engine_count(graph))
        stands_for = getattr(getattr(device, "device", None), "stands_for", None)
        return _OTHERS + _WITHOUT_ENGINE.format(gpu=stands_for) if stands_for else _OTHERS

    def _selected(self, selection: Selection, count: int) -> str:
        """How many configs each condition of the selection left out."""
        parts = [f"{number} ({condition})" for condition, number in self._left_out.most_common()]
        text = (
            f"the selection left out {self._left_out.total()} of the {self._proposed} configs that "
            f"heuristics propose: {', '.join(parts)}"
        )
        if selection.engines is not None:
            text += (
                f". This graph has engines 0 to {count - 1}; those that heuristics do not propose "
                "are built by config=EngineChoice(engine)"
            )
        return text + ". Graph.explain(device, selection=…) shows each"


def _refused_engines(
    graph: BackendDescriptor, device: Handle | DeviceProperties, *, compile: bool
) -> Iterator[tuple[int, Refusal]]:
    """Engines with why they refuse the graph; with `compile`, also when a plan is made."""
    for index in range(engine_count(graph)):
        try:
            with Engine(graph, index, device=device) as engine, ExitStack() as stack:
                configs = [stack.enter_context(each) for each in default_configs(engine)]
                if compile:
                    ExecutionPlan(configs[0], device=device).close()
        except CudnnError as error:
            yield index, refusal(error)
        except SymbolNotFoundError as error:
            yield index, Refusal("", str(error))


def _where_the_gpu_is(graph: BackendDescriptor, device: Handle | DeviceProperties) -> str:
    """Which engines may do it there, although they cannot be compiled here; perhaps none."""
    refused = _refused_engines(graph, device, compile=False) if ensure_driver().is_stub else ()
    found = [str(index) for index, why in refused if why.needs_gpu]
    several = "engines" if len(found) > 1 else "engine"
    return f"{several} {', '.join(found)}: {ONLY_THERE}; build it there. " if found else ""


def engine_refusals(graph: BackendDescriptor, device: Handle | DeviceProperties) -> tuple[str, ...]:
    """Why the engines refuse the graph, once each reason; what could be changed comes first."""
    engines: dict[str, list[str]] = {}
    hopeless: set[str] = set()
    for index, why in _refused_engines(graph, device, compile=True):
        reason = why.without_index(index)
        engines.setdefault(reason, []).append(str(index))
        if why.hopeless:
            hopeless.add(reason)
    told = sorted(engines.items(), key=lambda item: item[0] in hopeless)
    return _shortened([f"engine {', '.join(which)}: {why}" for why, which in told])


def _shortened(reasons: Sequence[str]) -> tuple[str, ...]:
    once = list(dict.fromkeys(reasons))
    more = len(once) - _REASONS
    left_out = [OwnReason(f"and {more} more reasons")] if more > 0 else []
    return (*once[:_REASONS], *left_out)
