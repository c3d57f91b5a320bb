"""The methods of a `pygraph` that need plans: building, choosing, running, storing them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import raw
from ..arguments import integer, items
from ..errors import FaultWarning
from ..graph.describe.serialization import FORMAT
from ..graph.describe.tensor import Tensor
from ..graph.lower.target import Target
from ..graph.run.plan import ExecutionPlan
from ..handle import Handle
from ..raw.host_blocks import warn
from .c_members import note_of
from .described import Described, FrontGraph
from .enums import (
    behavior_note,
    build_plan_policy,
    cuda_graph_retention,
    heur_mode,
    knob_type,
    named,
    numerical_note,
)
from .errors import not_supported, translated
from .handles import AnyHandle, as_handle, default_handle
from .plans import (
    Filters,
    FrontExecution,
    Held,
    NoSuchPlanError,
    PlanConfig,
    Plans,
    knob,
    knobs_of,
    overriding,
)
from .tensors import tensor

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..graph.backend.device_properties import DeviceProperties
    from ..graph.describe.node import Node
    from .handles import kernel_cache

_DEFAULT_MODES = (heur_mode.A, heur_mode.FALLBACK)


class PlanMethods(Described):
    """From a description to compiled plans, their choice, their execution, and plans as bytes."""

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

    # --- building ---------------------------------------------------------------------------------

    def validate(self) -> None:
        """Fill in what is missing in all tensors, and check the graph.

        Raises
        ------
        InvalidGraphError
            A ValueError and a RuntimeError; it names the operation and the tensor.
        """
        with translated("pygraph.validate"):
            self._nodes = self._graph.validate()

    def build_operation_graph(self) -> None:
        """Make cuDNN's descriptors of the graph."""
        if self._nodes is None:
            self.validate()
        assert self._nodes is not None
        with translated("pygraph.build_operation_graph"):
            device = self._device
            self._held.close()
            fixed = self._cache is None and not any(self._attributes.values())
            expansion = self._graph._expanded(self._nodes, Target.of(device), fixed=fixed)
            for prelude in expansion.preludes:
                warn(f"NVIDIA's front end would give wrong numbers here: {prelude}", FaultWarning)
            self._held.tensors = list(expansion.tensors)
            self._held.plans = Plans(
                expansion,
                device,
                sm_count=self._sm_count,
                cache=self._cache,
                retention=self._retention,
                filters=self._filters,
                **self._attributes,
            )
            self._held.device = device

    def create_execution_plans(self, heuristics: Sequence[heur_mode] | None = None) -> None:
        """Ask heuristics, in this order, for engine configs; by default A and FALLBACK.

        Raises
        ------
        cudnnGraphNotSupportedError
            If they propose none.
        """
        modes = _DEFAULT_MODES if heuristics is None else items("heuristics", heuristics, "modes")
        if self._held.plans is None:
            self.build_operation_graph()
        with translated("pygraph.create_execution_plans"):
            self._plans.query([named(heur_mode, mode, "heuristics") for mode in modes])

    def create_execution_plan(self, engine_id: int, knobs: Mapping[Any, int] | None = None) -> Self:
        """Append one engine, its knobs by ``knob_type``, to the engine configs."""
        if self._held.plans is None:
            self.build_operation_graph()
        with translated("pygraph.create_execution_plan"):
            self._plans.append(engine_id, {} if knobs is None else knobs)
        return self

    def check_support(self) -> None:
        """See that the filters leave an engine config.

        Raises
        ------
        cudnnGraphNotSupportedError
            If they leave none; the message has the reasons.
        """
        if self._held.plans is None or not self._plans.configs:
            self.create_execution_plans()
        with translated("pygraph.check_support"):
            self._plans.check_support()

    def build_plans(
        self, policy: build_plan_policy = build_plan_policy.HEURISTICS_CHOICE, *, ctx: Any = None
    ) -> None:
        """Compile the first engine config that works, or all of them.

        `ctx` is for NVIDIA's own kernels, and changes nothing.
        """
        if self._held.plans is None or not self._plans.configs:
            self.create_execution_plans()
        with translated("pygraph.build_plans"):
            self._plans.build(named(build_plan_policy, policy, "policy"))

    def build_plan_at_index(self, index: int) -> Self:
        """Compile one engine config; `execute` takes it from now on."""
        with translated("pygraph.build_plan_at_index"):
            self._plans.build_at(index)
        return self

    def build(self, heuristics: Sequence[heur_mode] | None = None, ctx: Any = None) -> None:
        """All steps from `validate` to `build_plans`. `ctx` is for NVIDIA's own kernels."""
        self.validate()
        self.build_operation_graph()
        self.create_execution_plans(heuristics)
        self.check_support()
        self.build_plans()

    def _build_rest(self) -> None:
        """The steps of `build` that were not taken yet, as `execute` needs them."""
        self.check_support()
        self.build_plans()

    # --- choosing: filters, counts, names, notes, knobs, workspaces -------------------------------

    def select_numeric_notes(self, notes: Sequence[numerical_note]) -> Self:
        """Take only engine configs that have all of these notes."""
        return self._filter("require", numerical_note, notes)

    def deselect_numeric_notes(self, notes: Sequence[numerical_note]) -> Self:
        """Take no engine config that has one of these notes."""
        return self._filter("forbid", numerical_note, notes)

    def select_behavior_notes(self, notes: Sequence[behavior_note]) -> Self:
        """Take only engine configs that have all of these notes."""
        return self._filter("require", behavior_note, notes)

    def deselect_behavior_notes(self, notes: Sequence[behavior_note]) -> Self:
        """Take no engine config that has one of these notes."""
        return self._filter("forbid", behavior_note, notes)

    def _filter(self, condition: str, cls: Any, notes: Sequence[Any]) -> Self:
        given = {named(cls, note, "notes").name for note in items("notes", notes, "notes")}
        before = self._filters.selection
        wanted: Any = {condition: {*getattr(before, condition), *map(str.lower, given)}}
        self._filters.selection = replace(before, **wanted)
        return self

    def deselect_engines(self, engine_names: Sequence[str]) -> Self:
        """Take no engine config whose name (`get_plan_name_at_index`) has one of these in it."""
        self._filters.names += tuple(map(str, items("engine_names", engine_names, "names")))
        return self

    def deselect_workspace_greater_than(self, workspace_limit: int) -> Self:
        """Take no engine config that needs more than so many bytes of workspace."""
        limit = integer("workspace_limit", workspace_limit)
        self._filters.selection = replace(self._filters.selection, workspace_limit=limit)
        return self

    def get_execution_plan_count(self) -> int:
        """How many engine configs there are, barred ones too."""
        if self._held.restored is not None:
            return 1
        return 0 if self._held.plans is None else len(self._held.plans.configs)

    def get_engine_count(self) -> int:
        """How many engines there are for graphs of this pattern, usable or not."""
        return self._plans.engine_count

    def get_knobs_for_engine(self, engine_id: int) -> list[knob]:
        """An engine's knobs."""
        with translated("pygraph.get_knobs_for_engine"), self._plans.engine(engine_id) as engine:
            return knobs_of(engine)

    def get_plan_name_at_index(self, index: int) -> str:
        """The engine and knobs of one engine config: "eng11_k2=18"."""
        return self._plans.name(index)

    def get_behavior_notes(self) -> list[Any]:
        """The ``behavior_note`` of the plan that `execute` takes."""
        return _behavior(self._plan(None).config.engine)

    def get_behavior_notes_for_plan_at_index(self, index: int) -> list[Any]:
        return _behavior(self._plans.config(index).engine)

    def select_plan(self, index: int) -> Self:
        """Have `build_plans` take this engine config, and none if it does not work."""
        self._plans.pin(index)
        return self

    @property
    def plans(self) -> list[PlanConfig]:
        """The engine configs in their order, barred ones too."""
        plans = self._held.plans
        return [] if plans is None else [plans.entry(i) for i in range(len(plans.configs))]

    def backend_plan_entries(self) -> list[PlanConfig]:
        """The same as `plans`: all engines are cuDNN's."""
        return self.plans

    @property
    def selected_engine(self) -> None:
        """None: the engine is one of cuDNN's, and no kernel that a front end brings itself."""
        return None

    def get_engine_and_knobs_at_index(self, index: int) -> tuple[int, dict[knob_type, int]]:
        """One engine config, as `create_execution_plan` takes it."""
        entry = self._plans.entry(index)
        return entry.engine_id, dict(entry.knobs)

    def get_cuda_graph_retention(self) -> cuda_graph_retention:
        """How CUDA graphs keep alive what they need of this graph's plans."""
        return self._retention

    def get_workspace_size(
        self,
        handle: AnyHandle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
    ) -> int:
        """Bytes of device memory that `execute` needs beside the operands.

        The overrides are those of `execute`; cuDNN 9.23.
        """
        overrides = overriding(override_uids, override_shapes, override_strides)
        return self._workspace_size(None, handle, overrides)

    def get_workspace_size_plan_at_index(
        self,
        index: int,
        handle: AnyHandle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
    ) -> int:
        """`get_workspace_size` of the plan of one engine config."""
        overrides = overriding(override_uids, override_shapes, override_strides)
        return self._workspace_size(index, handle, overrides)

    def _workspace_size(self, index: int | None, handle: AnyHandle | None, overrides: Any) -> int:
        plan = self._plan(index)
        if overrides is None:
            return plan.workspace_size
        chosen = self._default_handle() if handle is None else as_handle(handle)
        with translated("pygraph.get_workspace_size"):
            return plan.workspace_size_for(chosen, overrides)

    def key(self) -> int:
        """A number for what the graph describes; equal for equal graphs. 64 bits."""
        with translated("pygraph.key"):
            text = self._graph.to_json()
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")

    # --- running ----------------------------------------------------------------------------------

    def execute(
        self,
        tensor_dict: Mapping[Any, Any] | Sequence[Any],
        workspace: Any = None,
        handle: AnyHandle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
        tensor_uids: Sequence[int] | None = None,
    ) -> None:
        """Run the plan on the handle's stream. A graph that is not built yet is built first.

        Parameters
        ----------
        tensor_dict : mapping, or sequence
            By tensor, unique id or name: PyTorch tensors, anything with ``__dlpack__`` or
            ``__cuda_array_interface__``, or addresses. For operands by value a number, an array of
            one element on the host, or its address. Arrays that the operations were described with
            need not be named again. With `tensor_uids` the memory alone.
        workspace : device memory or None
            At least `get_workspace_size` bytes.
        handle : Handle or int, optional
            By default the graph's.
        override_uids, override_shapes, override_strides : sequence, optional
            Operands, by unique id, that have other dims and strides this time; for graphs with
            `is_override_shape_enabled`. cuDNN 9.21.
        tensor_uids : sequence of int, optional
            The unique ids of what is in `tensor_dict`, in its order.
        """
        held, shapes = self._held, None
        memory: Any = tensor_dict
        if not (override_uids is None and override_shapes is None and override_strides is None):
            shapes = overriding(override_uids, override_shapes, override_strides)
        chosen = held.handle if handle is None else as_handle(handle)
        plans = held.plans
        run = held.executions.get(None if plans is None else plans.candidate)
        if run is None:
            if held.restored is None and (plans is None or plans.candidate is None):
                self._build_rest()
            run = self._execution(None)
        if tensor_uids is not None or held.arrays:
            memory = self._memory(tensor_dict, tensor_uids)
        to = chosen or self._default_handle()
        is_plain = type(memory) is dict and shapes is None
        if not (is_plain and run.known.execute(to, memory, workspace)):
            run(to, memory, workspace, shapes)

    def execute_plan_at_index(
        self,
        tensor_dict: Mapping[Any, Any] | Sequence[Any],
        workspace: Any = None,
        index: int = 0,
        handle: AnyHandle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
        *,
        tensor_uids: Sequence[int] | None = None,
    ) -> None:
        """Run the plan of one engine config; otherwise as `execute`."""
        chosen = None if handle is None else as_handle(handle)
        shapes = overriding(override_uids, override_shapes, override_strides)
        run = self._execution(index)
        memory = self._memory(tensor_dict, tensor_uids)
        run(chosen or self._default_handle(), memory, workspace, shapes)

    def _memory(self, given: Any, uids: Sequence[int] | None) -> Mapping[Any, Any]:
        """Memory by tensor or uid, with the arrays that operations were described with."""
        if uids is not None:
            if isinstance(given, Mapping) or len(given) != len(uids):
                raise ValueError("tensor_uids: expected one unique id for each of the buffers")
            if len(set(uids)) < len(uids):
                raise ValueError(f"tensor_uids: one is there twice: {list(uids)}")
            given = dict(zip(uids, given, strict=True))
        if not self._held.arrays:
            memory: Mapping[Any, Any] = given
            return memory
        return {**{each.uid: array for each, array in self._held.arrays.values()}, **_by_uid(given)}

    def populate_cuda_graph(
        self, handle: AnyHandle, variant_pack: Mapping[Any, Any], workspace: Any, cuda_graph: Any
    ) -> None:
        """Add the plan to a CUDA graph; follows ``cudnnBackendPopulateCudaGraph``."""
        with self._execution(None).pack(self._memory(variant_pack, None), workspace) as pack:
            raw.cudnnBackendPopulateCudaGraph(
                as_handle(handle), self._plan(None).descriptor, pack, cuda_graph
            )

    def update_cuda_graph(
        self, handle: AnyHandle, variant_pack: Mapping[Any, Any], workspace: Any, cuda_graph: Any
    ) -> None:
        """Give a CUDA graph of `populate_cuda_graph` other addresses."""
        with self._execution(None).pack(self._memory(variant_pack, None), workspace) as pack:
            raw.cudnnBackendUpdateCudaGraph(
                as_handle(handle), self._plan(None).descriptor, pack, cuda_graph
            )

    def serialize(self, *, as_bytes: bool = False, include_kernels: bool = True) -> Any:
        """The built plan with its operands; for the same cuDNN and GPU.

        Parameters
        ----------
        as_bytes : bool
            Whether as ``bytes``, rather than as a list of byte values.
        include_kernels : bool
            Changes nothing: a plan of cuDNN's holds its kernels.
        """
        data = _stored(self._plan(None), self._tensors)
        return data if as_bytes else list(data)

    def deserialize(self, *arguments: Any, **named: Any) -> None:
        """Take over what `serialize` gave: ``deserialize(data)``, ``deserialize(handle, data)``.

        `enforce_precompiled`, by name or last, changes nothing: plans hold their kernels.

        `execute` then takes operands by unique id, by name, or by the tensors of the graph that was
        serialized. The text of a printed graph gives its description, which is to be built.

        Raises
        ------
        ValueError
            If the data are damaged, of NVIDIA's front end, or for another cuDNN version or GPU.
        """
        handle, data = _handle_and_data(*arguments, **named)
        if handle is not None:
            self._held.handle = as_handle(handle)
        if _describes_graph(data):
            self._graph, self._nodes = FrontGraph.from_json(data), None
            self._held.close()
            return
        device = self._device
        plan, tensors = _restored(data, device)
        self._held.close()
        self._held.restored, self._held.tensors = plan, tensors
        self._held.device = device


def _behavior(engine: Any) -> list[Any]:
    notes = engine.descriptor.get("behavior_note") or ()
    return [note_of(behavior_note, note) for note in notes]


def _by_uid(given: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key.uid if isinstance(key, tensor) else key: each for key, each in given.items()}


def _handle_and_data(*arguments: Any, **named: Any) -> tuple[Any, Any]:
    named.pop("enforce_precompiled", None)
    if len(arguments) > 1 and isinstance(arguments[-1], bool):
        arguments = arguments[:-1]
    given = dict(zip(("handle_", "pyobj")[2 - len(arguments) :], arguments, strict=False)) | named
    unknown = given.keys() - {"handle_", "pyobj"}
    if len(arguments) > 2 or unknown or "pyobj" not in given:
        raise TypeError("deserialize: expected (data) or (handle, data)")
    return given.get("handle_"), given["pyobj"]


_FORMAT = "cudnn_ctypes frontend plan"
_VERSION = 2
_PYTHON_PLAN = b"CUDNN_FE_PYPLAN\0"  # how NVIDIA's plans of Python engines begin


def _describes_graph(data: Any) -> bool:
    """Whether `data` is the text of a graph, and not of a plan."""
    try:
        document = json.loads(data) if isinstance(data, (str, bytes)) else None
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def _stored(plan: ExecutionPlan, tensors: Iterable[Tensor]) -> bytes:
    """A plan with the operands that its execution needs, as UTF-8 JSON."""
    operands = FrontGraph("operands")
    operands.tensors = [each for each in tensors if not each.virtual]
    for each in operands.tensors:
        if each.scratch:
            raise ValueError(
                f"{each!r} is memory that lies in the workspace: such a graph cannot be "
                "serialized; build it again"
            )
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "operands": operands.to_json(indent=None),
        "views": [getattr(each, "view_of", None) for each in operands.tensors],
        "plan": plan.to_json(),
    }
    return json.dumps(document).encode()


def _restored(data: Any, device: Any) -> tuple[ExecutionPlan, list[Tensor]]:
    """The plan and the operands that `_stored` wrote.

    Raises ValueError if the data are damaged, or the plan is for another cuDNN version or GPU.
    """
    document = _document(data)
    try:
        tensors = FrontGraph.from_json(document["operands"]).tensors
        for each, view in zip(tensors, document["views"], strict=True):
            assert isinstance(each, tensor)
            if None in (each.uid, each.dims, each.strides, each.data_type):
                raise ValueError(f"{each!r} is not complete")
            each.view_of = None if view is None else (int(view[0]), int(view[1]))
        text = document["plan"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this serialized graph is damaged: {error!r}") from None
    return ExecutionPlan.from_json(text, device=device), tensors


def _nvidias(data: str | bytes) -> str:
    """The kind of data of NVIDIA's front end, told by the first bytes; "" for other data."""
    start = data[:16] if isinstance(data, bytes) else data[:16].encode("utf-8", "replace")
    if start == _PYTHON_PLAN:
        return "a plan of one of its own kernels"
    # UBJSON: a letter for the type of a key's length follows. In JSON only '"', "}" or a space can.
    if start[:1] == b"{" and start[1:2] in b"iUIlL" and len(start) > 1:
        return "a serialized graph (UBJSON with a plan of cuDNN's in it)"
    return ""


def _document(data: Any) -> dict[str, Any]:
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        try:
            data = bytes(data)
        except (TypeError, ValueError):
            raise TypeError("expected what serialize() gave: a sequence of byte values") from None
    if not isinstance(data, (str, bytes)):
        raise TypeError(f"expected what serialize() gave, got a {type(data).__name__}")
    theirs = _nvidias(data)
    if theirs:
        raise ValueError(
            f"this is {theirs}, which NVIDIA's front end wrote and this one does not read: "
            "describe the graph with this one, and serialize it anew"
        )
    try:
        document = json.loads(data)
    except ValueError as error:
        raise ValueError(f"this serialized graph is damaged: {error}") from None
    if isinstance(document, dict) and "cudnn_frontend_version" in document:
        raise ValueError(
            "this is the text of a graph of NVIDIA's front end, which this one does not read: "
            "describe the graph with this one"
        )
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ValueError("this is no graph that cudnn_ctypes.frontend serialized")
    if document.get("version") != _VERSION:
        raise ValueError(f"serialized by another release (version {document.get('version')!r})")
    return document
