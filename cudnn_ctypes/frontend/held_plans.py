"""The plans that a `pygraph` has built, and their users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..graph.describe.node import Node
from ..graph.run.plan import ExecutionPlan
from ..handle import Handle
from .candidates import NoSuchPlanError
from .described import Described
from .enums import cuda_graph_retention
from .errors import not_supported
from .execution import FrontExecution
from .filters import Filters
from .handles import default_handle
from .plans import Plans

if TYPE_CHECKING:
    from ..graph.backend.device_properties import DeviceProperties
    from .properties import kernel_cache

from ..resource import Uncopied

__all__ = ["Held", "Holding"]


class Held(Uncopied):
    """A graph's plans, and what its executions look up, apart from the graph.

    So a finalizer can close the plans; and names are found faster than in the graph's class, which
    has a ``__getattr__``.
    """

    def __init__(self) -> None:
        self.plans: Plans | None = None
        self.restored: ExecutionPlan | None = None
        self.tensors: list[Any] = []  # as they were built, or stored
        self.executions: dict[int | None, FrontExecution] = {}  # by place of the config
        self.device: Handle | DeviceProperties | None = None  # for which plans were built
        self.handle: Handle | None = None  # the graph's own
        self.arrays: dict[int, tuple[Any, Any]] = {}  # that operations were described with

    def close(self) -> None:
        self.executions.clear()
        if self.plans is not None:
            self.plans.close()
        if self.restored is not None:
            self.restored.close()
        self.plans = self.restored = None
        self.tensors = []


class Holding(Described):
    """Base of all methods of a `pygraph` that need plans."""

    _held: Held
    _properties: DeviceProperties | None
    _sm_count: int | None
    _cache: kernel_cache | None
    _attributes: dict[str, bool]
    _retention: cuda_graph_retention
    _filters: Filters
    _nodes: list[Node] | None

    @property
    def _device(self) -> Handle | DeviceProperties:
        """For which plans are built."""
        return self._properties or self._held.handle or default_handle()

    def _default_handle(self) -> Handle:
        """On whose stream plans are executed if nothing is said."""
        if self._held.handle is not None:
            return self._held.handle
        # That of the GPU for which they were built, whichever is current now.
        built_on = self._held.device
        return built_on if isinstance(built_on, Handle) else default_handle()

    @property
    def _tensors(self) -> list[Any]:
        return self._held.tensors or self._graph.tensors

    @property
    def _plans(self) -> Plans:
        if self._held.plans is None:
            raise not_supported(
                "pygraph", "there is no operation graph: call build_operation_graph() first"
            )
        return self._held.plans

    def _plan(self, index: int | None) -> ExecutionPlan:
        if self._held.restored is not None:
            if index:
                raise NoSuchPlanError(f"there is no plan {index}: a deserialized graph has one")
            return self._held.restored
        if self._held.plans is None:
            raise NoSuchPlanError("no plan is built: call build()")
        return self._held.plans.plan(index)

    def _execution(self, index: int | None) -> FrontExecution:
        held, plans = self._held, self._held.plans
        place = plans.candidate if index is None and plans is not None else index
        found = held.executions.get(place)
        if found is None or type(index) is bool:
            found = FrontExecution(self._plan(index), self._tensors)
            held.executions[place] = found
        return found
