"""The graph of NVIDIA's Python front end."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import raw
from ..graph.node import Node
from ..graph.plan import ExecutionPlan
from ..raw import cudnnDataType_t
from .attention import AttentionMethods
from .describing import FrontGraph
from .enums import (
    behavior_note,
    build_plan_policy,
    c_data_type,
    c_member,
    data_type,
    heur_mode,
    named,
    note_of,
    numerical_note,
    scalar_type,
    tensor_reordering,
)
from .errors import InvalidGraphError, not_supported, translated
from .execution import Execution
from .handles import as_handle, default_handle
from .knobs import knob, knobs_of
from .norms import NormMethods
from .planning import NoSuchPlanError, Plans
from .pointwise import PointwiseMethods
from .properties import device_properties, kernel_cache
from .storing import restored, stored
from .structured import StructuredMethods
from .tensors import integers, tensor

if TYPE_CHECKING:
    from ..graph.device_properties import DeviceProperties
    from ..handle import Handle

__all__ = ["pygraph"]

_tensor = tensor  # within the class these are methods and arguments
_scalar_type = scalar_type
_NOT_SET = data_type.NOT_SET
_DEFAULT_MODES = (heur_mode.A, heur_mode.FALLBACK)


class pygraph(PointwiseMethods, StructuredMethods, NormMethods, AttentionMethods):
    """Operations that cuDNN carries out together.

    The steps are `validate`, `build_operation_graph`, `create_execution_plans`, `check_support` and
    `build_plans`; `build` takes them all. Then `execute`, with a workspace of `get_workspace_size`
    bytes.

    Parameters
    ----------
    name : str
    io_data_type, intermediate_data_type, compute_data_type : data type
        Of tensors with memory, of the others, and of the computation; the last two are FLOAT if
        they are not set. A ``data_type``, a ``torch.dtype``, or what ``as_data_type`` takes.
    handle : int or Handle, optional
        By default one of the current device that such graphs share.
    sm_count : int, optional
        How many multiprocessors to use.
    sm_version : int, optional
        Must be that of `device_property`, if both are given.
    kernel_cache : kernel_cache, optional
    device_property : device_properties or DeviceProperties, optional
        Build for this GPU, which need not be there.
    is_dynamic_shape_enabled, is_override_shape_enabled : bool
        Of cuDNN 9.4 and 9.21.
    """

    def __init__(
        self,
        name: str = "test_graph",
        io_data_type: Any = _NOT_SET,
        intermediate_data_type: Any = _NOT_SET,
        compute_data_type: Any = _NOT_SET,
        handle: int | Handle | None = None,
        sm_count: int | None = None,
        sm_version: int | None = None,
        kernel_cache: kernel_cache | None = None,
        device_property: device_properties | DeviceProperties | None = None,
        is_dynamic_shape_enabled: bool = False,
        is_override_shape_enabled: bool = False,
    ) -> None:
        self._graph = FrontGraph(name, io_data_type, intermediate_data_type, compute_data_type)
        self._handle = None if handle is None else as_handle(handle)
        self._sm_count = sm_count
        self._properties = device_property
        self._cache = kernel_cache
        self._attributes = {
            name: True
            for name, wanted in (
                ("is_dynamic_shape_enabled", is_dynamic_shape_enabled),
                ("is_override_shape_enabled", is_override_shape_enabled),
            )
            if wanted
        }
        self._nodes: list[Node] | None = None
        self._held = _Held()
        # Programs for the front end close nothing. At exit each descriptor goes by itself.
        weakref.finalize(self, self._held.close).atexit = False
        _check_sm_version(sm_version, device_property)

    # --- tensors ---------------------------------------------------------------------------------

    def tensor(
        self,
        dim: Sequence[int],
        stride: Sequence[int],
        data_type: Any = _NOT_SET,
        is_virtual: bool = False,
        is_pass_by_value: bool = False,
        ragged_offset: _tensor | None = None,
        reordering_type: tensor_reordering = tensor_reordering.NONE,
        name: str = "",
        uid: int = -1,
    ) -> _tensor:
        """A tensor that the graph reads.

        Parameters
        ----------
        dim, stride : sequence of int
            Strides in elements.
        uid : int
            One is chosen if it is -1.
        """
        made = self._graph.tensor(
            integers("dim", dim),
            integers("stride", stride),
            c_data_type(data_type),
            name=str(name),
            uid=None if uid == -1 else uid.__index__(),
            virtual=bool(is_virtual),
            by_value=bool(is_pass_by_value),
            ragged_offset=ragged_offset,
            reordering=c_member(named(tensor_reordering, reordering_type, "reordering_type")),
        )
        assert isinstance(made, _tensor)
        return made

    def tensor_like(self, input: Any, name: str = "") -> _tensor:
        """A tensor with the shape, strides and data type of `input`: a tensor or an array.

        Arrays are PyTorch tensors, or anything with ``__dlpack__``; their memory is not looked at.
        One element on the host is passed by value.
        """
        made = self._graph.tensor_like(input, name=str(name))
        assert isinstance(made, _tensor)
        if not isinstance(input, _tensor):
            made.set_data_type(getattr(input, "dtype", made.data_type))
        return made

    def tensor_scalar(self, value: float | int, scalar_type: scalar_type) -> _tensor:
        """A number that is fixed in the graph: FLOAT for a float, INT32 for an int."""
        kind = named(_scalar_type, scalar_type, "scalar_type")
        made = self._graph.tensor_scalar(
            value,
            cudnnDataType_t.CUDNN_DATA_INT32
            if isinstance(value, int)
            else cudnnDataType_t.CUDNN_DATA_FLOAT,
        )
        assert isinstance(made, _tensor)
        made.compile_time_constant = kind is _scalar_type.COMPILE_TIME_CONST
        return made

    def query_tensor_attributes_of_uid(self, uid: int) -> _tensor:
        """The tensor with this unique id."""
        for each in self._tensors:
            if each.uid == uid:
                assert isinstance(each, _tensor)
                return each
        raise InvalidGraphError(f"no tensor has uid {uid}")

    @property
    def _tensors(self) -> list[Any]:
        return self._held.tensors or self._graph.tensors

    # --- building --------------------------------------------------------------------------------

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
            device = self._properties or self._handle or default_handle()
            self._held.close()
            self._held.plans = Plans(
                self._nodes,
                self._graph.tensors,
                self._graph.compute_data_type,
                device,
                sm_count=self._sm_count,
                cache=self._cache,
                **self._attributes,
            )

    def create_execution_plans(self, modes: Sequence[heur_mode]) -> None:
        """Ask heuristics, in this order, for engine configs.

        Raises
        ------
        cudnnGraphNotSupportedError
            If they propose none.
        """
        with translated("pygraph.create_execution_plans"):
            self._plans.query([named(heur_mode, mode, "modes") for mode in modes])

    def create_execution_plan(self, engine_id: int, knobs: Mapping[Any, int]) -> None:
        """Append one engine, its knobs by ``knob_type``, to the engine configs."""
        with translated("pygraph.create_execution_plan"):
            self._plans.append(engine_id, knobs)

    def check_support(self) -> None:
        """
        Raises
        ------
        cudnnGraphNotSupportedError
            If no engine config may be taken; the message has the reasons.
        """
        with translated("pygraph.check_support"):
            self._plans.check_support()

    def build_plans(self, policy: build_plan_policy = build_plan_policy.HEURISTICS_CHOICE) -> None:
        """Compile the first engine config that works, or all of them."""
        with translated("pygraph.build_plans"):
            self._plans.build(named(build_plan_policy, policy, "policy"))

    def build_plan_at_index(self, index: int) -> None:
        """Compile one engine config; `execute` takes it from now on."""
        with translated("pygraph.build_plan_at_index"):
            self._plans.build_at(index)

    def build(self, modes: Sequence[heur_mode] = _DEFAULT_MODES) -> None:
        """All steps from `validate` to `build_plans`."""
        self.validate()
        self.build_operation_graph()
        self.create_execution_plans(modes)
        self.check_support()
        self.build_plans()

    @property
    def _plans(self) -> Plans:
        if self._held.plans is None:
            raise not_supported(
                "pygraph", "there is no operation graph: call build_operation_graph() first"
            )
        return self._held.plans

    # --- filters ---------------------------------------------------------------------------------

    def select_numeric_notes(self, notes: Sequence[numerical_note]) -> None:
        """Take only engine configs that have one of these notes."""
        self._plans.bar(_short(numerical_note, notes), having=False)

    def deselect_numeric_notes(self, notes: Sequence[numerical_note]) -> None:
        """Take no engine config that has one of these notes."""
        self._plans.bar(_short(numerical_note, notes), having=True)

    def select_behavior_notes(self, notes: Sequence[behavior_note]) -> None:
        """Take only engine configs that have one of these notes."""
        self._plans.bar(_short(behavior_note, notes), having=False)

    def deselect_behavior_notes(self, notes: Sequence[behavior_note]) -> None:
        """Take no engine config that has one of these notes."""
        self._plans.bar(_short(behavior_note, notes), having=True)

    def deselect_engines(self, names: Sequence[str]) -> None:
        """Take no engine config whose name (`get_plan_name_at_index`) has one of these in it."""
        self._plans.bar_engines(map(str, names))

    def deselect_workspace_greater_than(self, limit: int) -> None:
        """Take no engine config that needs more than so many bytes of workspace."""
        self._plans.bar_workspace(limit.__index__())

    # --- asking ----------------------------------------------------------------------------------

    def get_execution_plan_count(self) -> int:
        """How many engine configs there are, barred ones too."""
        if self._held.restored is not None:
            return 1
        return 0 if self._held.plans is None else len(self._held.plans.configs)

    def get_engine_count(self) -> int:
        """How many engines there are for graphs of this pattern, usable or not."""
        return self._plans.engine_count

    def get_knobs_for_engine(self, engine_id: int) -> list[knob]:
        """What an engine can be told."""
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

    def get_workspace_size(self) -> int:
        """Bytes of device memory that `execute` needs beside the operands."""
        return self._plan(None).workspace_size

    def get_workspace_size_plan_at_index(self, index: int) -> int:
        return self._plan(index).workspace_size

    def key(self) -> int:
        """A number for what the graph describes; equal for equal graphs. 64 bits."""
        with translated("pygraph.key"):
            text = self._graph.to_json()
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")

    # --- executing -------------------------------------------------------------------------------

    def execute(
        self,
        tensor_to_device_buffer: Mapping[Any, Any],
        workspace: Any,
        handle: int | Handle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Run the plan on the handle's stream.

        Parameters
        ----------
        tensor_to_device_buffer : mapping
            By tensor, unique id or name: PyTorch tensors, anything with ``__dlpack__`` or
            ``__cuda_array_interface__``, or addresses. For operands by value a number, an array of
            one element on the host, or its address.
        workspace : device memory or None
            At least `get_workspace_size` bytes.
        handle : int or Handle, optional
            By default the graph's.
        override_uids, override_shapes, override_strides
            Refused: cuDNN wants them as C++ vectors.
        """
        self._execute(
            None,
            tensor_to_device_buffer,
            workspace,
            handle,
            (override_uids, override_shapes, override_strides),
        )

    def execute_plan_at_index(
        self,
        tensor_to_device_buffer: Mapping[Any, Any],
        workspace: Any,
        index: int,
        handle: int | Handle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Run the plan of one engine config; otherwise as `execute`."""
        self._execute(
            index,
            tensor_to_device_buffer,
            workspace,
            handle,
            (override_uids, override_shapes, override_strides),
        )

    def _execute(
        self,
        index: int | None,
        memory: Mapping[Any, Any],
        workspace: Any,
        handle: int | Handle | None,
        overrides: tuple[Any, ...],
    ) -> None:
        if any(overrides):
            raise not_supported(
                "pygraph.execute",
                "cuDNN takes overriding shapes as C++ vectors, which cannot be given from here; "
                "build a graph for each shape, with a kernel_cache",
            )
        chosen = self._chosen(handle)
        self._execution(index)(chosen, memory, workspace)

    def populate_cuda_graph(
        self, handle: int | Handle, memory: Mapping[Any, Any], workspace: Any, cuda_graph: Any
    ) -> None:
        """Add the plan to a CUDA graph; follows ``cudnnBackendPopulateCudaGraph``."""
        with self._execution(None).pack(memory, workspace) as pack:
            raw.cudnnBackendPopulateCudaGraph(
                as_handle(handle), self._plan(None).descriptor, pack, cuda_graph
            )

    def update_cuda_graph(
        self, handle: int | Handle, memory: Mapping[Any, Any], workspace: Any, cuda_graph: Any
    ) -> None:
        """Give a CUDA graph of `populate_cuda_graph` other addresses."""
        with self._execution(None).pack(memory, workspace) as pack:
            raw.cudnnBackendUpdateCudaGraph(
                as_handle(handle), self._plan(None).descriptor, pack, cuda_graph
            )

    def _chosen(self, handle: int | Handle | None) -> Handle:
        if handle is not None:
            return as_handle(handle)
        return self._handle or default_handle()

    def _plan(self, index: int | None) -> ExecutionPlan:
        if self._held.restored is not None:
            if index:
                raise NoSuchPlanError(f"there is no plan {index}: a deserialized graph has one")
            return self._held.restored
        if self._held.plans is None:
            raise NoSuchPlanError("no plan is built: call build()")
        return self._held.plans.plan(index)

    def _execution(self, index: int | None) -> Execution:
        plan = self._plan(index)
        found = self._held.executions.get(id(plan))
        if found is None:
            found = self._held.executions[id(plan)] = Execution(plan, self._tensors)
        return found

    # --- storing ---------------------------------------------------------------------------------

    def serialize(self) -> list[int]:
        """The built plan with its operands, as byte values; for the same cuDNN and GPU."""
        return list(stored(self._plan(None), self._tensors))

    def deserialize(self, *arguments: Any, **named: Any) -> None:
        """Take over what `serialize` gave: ``deserialize(data)``, ``deserialize(handle, data)``.

        `execute` then takes operands by unique id or name.

        Raises
        ------
        ValueError
            If the data are damaged, or for another cuDNN version or GPU.
        """
        handle, data = _handle_and_data(*arguments, **named)
        if handle is not None:
            self._handle = as_handle(handle)
        plan, tensors = restored(data, self._properties or self._handle or default_handle())
        self._held.close()
        self._held.restored, self._held.tensors = plan, tensors

    # --- the end ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Destroy plans and descriptors. Without it they go with the graph."""
        self._held.close()

    def __enter__(self) -> pygraph:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"py{self._graph!r}"


class _Held:
    """What a graph has built, apart from it, so that a finalizer can close it."""

    def __init__(self) -> None:
        self.plans: Plans | None = None
        self.restored: ExecutionPlan | None = None
        self.tensors: list[tensor] = []
        self.executions: dict[int, Execution] = {}

    def close(self) -> None:
        for execution in self.executions.values():
            execution.close()
        self.executions.clear()
        if self.plans is not None:
            self.plans.close()
        if self.restored is not None:
            self.restored.close()
        self.plans = self.restored = None
        self.tensors = []


def _short(cls: Any, notes: Sequence[Any]) -> set[str]:
    """Layer 3's names of notes."""
    return {named(cls, note, "notes").name.lower() for note in notes}


def _behavior(engine: Any) -> list[Any]:
    notes = engine.descriptor.get("behavior_note") or ()
    return [note_of(behavior_note, note) for note in notes]


def _handle_and_data(*arguments: Any, **named: Any) -> tuple[Any, Any]:
    given = dict(zip(("handle_", "pyobj")[2 - len(arguments) :], arguments, strict=False)) | named
    unknown = given.keys() - {"handle_", "pyobj"}
    if len(arguments) > 2 or unknown or "pyobj" not in given:
        raise TypeError("deserialize: expected (data) or (handle, data)")
    return given.get("handle_"), given["pyobj"]


def _check_sm_version(sm_version: int | None, properties: DeviceProperties | None) -> None:
    if sm_version is None or properties is None:
        return
    major, minor = properties.compute_capability
    if sm_version != 10 * major + minor:
        raise ValueError(
            f"sm_version: {sm_version}, but {properties.name} has {10 * major + minor}"
        )
