"""Graphs that the reference device carries out as they are described, without any engine."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NoReturn

from ...raw import mode
from ...raw.values import described
from ..backend.descriptor import BackendDescriptor
from ..run.plan import ExecutionPlan

if TYPE_CHECKING:
    from ...handle import Handle
    from ..backend.device_properties import DeviceProperties
    from ..backend.engine import EngineChoice, EngineConfig
    from ..lower.expand.expansion import Expansion


class ReferencePlan(ExecutionPlan):
    """An OPERATIONGRAPH in place of a plan, which only the reference device can execute.

    ``Graph.build(handle, without_engine=True)`` makes it. It has no engine, so no config, no notes
    and nothing to store.
    """

    def __init__(
        self,
        operation_graph: BackendDescriptor,
        uids: Collection[int],
        owned: ExitStack,
        *,
        takes_shapes: bool = False,
    ) -> None:
        self.descriptor = operation_graph
        self.uids = frozenset(uids)
        self.takes_shapes = takes_shapes
        self._own_size = 0
        self._config = None
        address = operation_graph._as_parameter_.value or 0
        mode.plans_without_engine.add(address)
        owned.callback(mode.plans_without_engine.discard, address)
        self._owned = owned

    @property
    def config(self) -> EngineConfig:
        self._refuse("config")

    @property
    def choices(self) -> tuple[EngineChoice, ...]:
        return ()

    @property
    def numerical_notes(self) -> frozenset[str]:
        return frozenset()

    @property
    def behavior_notes(self) -> frozenset[str]:
        return frozenset()

    def to_json(self) -> str:
        self._refuse("JSON")

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"this graph was built without an engine, so it has no {what}")

    def close(self) -> None:
        super().close()
        self._owned.close()

    def __repr__(self) -> str:
        return f"ReferencePlan({'closed' if self.descriptor.closed else 'without an engine'})"


def reference_plan(
    expansion: Expansion,
    device: Handle | DeviceProperties,
    *,
    override_shapes: bool = False,
    **chosen: Any,
) -> ReferencePlan:
    """A graph to be carried out as it is; cuDNN checks the descriptors.

    Raises ValueError if `device` is no handle of the reference device, or something is `chosen`
    about engines.
    """
    from ..lower.lowering import lowered
    from ..lower.target import NO_GPU

    if not getattr(device, "on_reference_device", False):
        raise ValueError(
            f"without_engine: only the reference device does that, got {described(device)}"
        )
    options = [name for name, value in chosen.items() if value is not None]
    if options:
        raise ValueError(f"without_engine: {', '.join(options)} would choose or keep an engine")
    kept = [
        t
        for node in expansion.nodes
        for t in (*node.operands, *node.outputs.values())
        if not t.virtual
    ]
    # The numbers that are fixed in a graph are part of its descriptors or scratch memory.
    uids = {t.uid for t in kept if t.uid is not None and not t.by_value}
    with ExitStack() as stack:
        attributes: dict[str, Any] = {"is_override_shape_enabled": override_shapes or None}
        lowering = stack.enter_context(lowered(expansion, device, NO_GPU, **attributes))
        return ReferencePlan(lowering.graph, uids, stack.pop_all(), takes_shapes=override_shapes)
