"""The graph of NVIDIA's Python front end."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..arguments import integers
from ..graph.backend.device_properties import as_properties
from ..graph.describe.description import PictureMethods
from ..raw import cudnnDataType_t, log
from ..resource import Closing
from .c_members import c_data_type, c_member, member_of
from .described import FrontGraph
from .enums import cuda_graph_retention, data_type, named, scalar_type, tensor_reordering
from .errors import InvalidGraphError, translated
from .handles import AnyHandle, Handle, as_handle, kernel_cache
from .methods import OperationMethods
from .plan_methods import PlanMethods
from .plans import Filters, Held, NoSuchPlanError, chosen_retention
from .tensors import GraphContext, Node, node_of, tensor

if TYPE_CHECKING:
    from ..evidence.pictures.diagram import Diagram, Region
    from ..graph.backend.device_properties import DeviceProperties
    from ..graph.describe.node import Node as GraphNode
    from ..graph.engines.explaining.explanation import Explanation
    from ..graph.engines.tuning.measurements import Autotuning

_tensor = tensor  # within the class these are methods and arguments
_scalar_type = scalar_type
_NOT_SET = data_type.NOT_SET


class pygraph(OperationMethods, PlanMethods, PictureMethods, Closing):
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
    handle : Handle or int, optional
        By default one of the current device that such graphs share.
    sm_count : int, optional
        How many multiprocessors to use.
    sm_version : int, optional
        Must be that of `device_property`, if both are given.
    kernel_cache : kernel_cache, optional
    device_property : device_properties, DeviceProperties, str or os.PathLike, optional
        Build for this GPU, which need not be there; also by the name of a preset, or a file.
    is_dynamic_shape_enabled, is_override_shape_enabled : bool
        Of cuDNN 9.4 and 9.21.
    cuda_graph_retention : cuda_graph_retention, optional
        Whether CUDA graphs keep alive what they need of this graph's plans; by default what the
        variable CUDNN_CUDA_GRAPH_RETENTION says, else PER_GRAPH. NONE is of cuDNN 9.28.
    is_cuda_graph_replay_expected : bool
        A hint to kernels of NVIDIA's own; cuDNN has no use for it.
    """

    def __init__(
        self,
        name: str = "test_graph",
        io_data_type: Any = _NOT_SET,
        intermediate_data_type: Any = _NOT_SET,
        compute_data_type: Any = _NOT_SET,
        handle: AnyHandle | None = None,
        sm_count: int | None = None,
        sm_version: int | None = None,
        kernel_cache: kernel_cache | None = None,
        device_property: DeviceProperties | str | PathLike[str] | None = None,
        is_dynamic_shape_enabled: bool = False,
        is_override_shape_enabled: bool = False,
        cuda_graph_retention: cuda_graph_retention | None = None,
        *,
        is_cuda_graph_replay_expected: bool = False,
    ) -> None:
        self._graph = FrontGraph(name, io_data_type, intermediate_data_type, compute_data_type)
        self._held = Held()
        self._held.handle = None if handle is None else as_handle(handle)
        self._sm_count = sm_count
        self._properties = None if device_property is None else as_properties(device_property)
        self._cache = kernel_cache
        self._attributes = {
            name: True
            for name, wanted in (
                ("is_dynamic_shape_enabled", is_dynamic_shape_enabled),
                ("is_override_shape_enabled", is_override_shape_enabled),
            )
            if wanted
        }
        self._retention = chosen_retention(cuda_graph_retention)
        self.is_cuda_graph_replay_expected: bool = bool(is_cuda_graph_replay_expected)
        self._filters = Filters()
        self._bound: dict[int, tuple[tensor, Any]] = self._held.arrays
        self._nodes: list[GraphNode] | None = None
        # Programs for the front end close nothing. At exit each descriptor goes by itself.
        weakref.finalize(self, log.set_aside()(self._held.close)).atexit = False
        _check_sm_version(sm_version, self._properties)

    def close(self) -> None:
        """Destroy plans and descriptors. Without it they go with the graph."""
        self._held.close()

    # --- tensors ----------------------------------------------------------------------------------

    def tensor(
        self,
        dim: Sequence[int],
        stride: Sequence[int] | None = None,
        data_type: Any = _NOT_SET,
        is_virtual: bool = False,
        is_pass_by_value: bool = False,
        ragged_offset: _tensor | None = None,
        reordering_type: tensor_reordering = tensor_reordering.NONE,
        name: str = "",
        uid: int | None = -1,
        ragged_offset_multiplier: int = 1,
        alignment_value: int = 1,
    ) -> _tensor:
        """A tensor that the graph reads.

        Parameters
        ----------
        dim, stride : sequence of int
            Strides in elements; by default packed as in C.
        uid : int
            One is chosen if it is -1.
        ragged_offset_multiplier : int
            In which units of elements `ragged_offset` counts.
        alignment_value : int
            A number that divides every element; nothing here needs to know it.
        """
        described = self._graph.tensor(
            integers("dim", dim),
            None if stride is None else integers("stride", stride),
            c_data_type(data_type),
            name=str(name),
            uid=None if uid is None or uid == -1 else uid.__index__(),
            virtual=bool(is_virtual),
            by_value=bool(is_pass_by_value),
            ragged_offset=ragged_offset,
            ragged_offset_multiplier=ragged_offset_multiplier.__index__(),
            reordering=c_member(named(tensor_reordering, reordering_type, "reordering_type")),
        )
        assert isinstance(described, _tensor)
        return described.set_alignment_value(alignment_value)

    def tensor_like(self, template: Any, name: str = "", is_virtual: bool = False) -> _tensor:
        """A tensor with the shape, strides and data type of `template`: a tensor or an array.

        Arrays are PyTorch tensors, or anything with ``__dlpack__``; their memory is not looked at.
        One element on the host is to be passed by value.
        """
        result = self._graph.tensor_like(template, name=str(name))
        result.virtual = bool(is_virtual)
        return result

    def tensor_scalar(
        self, value: float | int, scalar_type: scalar_type, name: str = ""
    ) -> _tensor:
        """A number that is fixed in the graph: FLOAT for a float, INT32 for an int."""
        kind = named(_scalar_type, scalar_type, "scalar_type")
        result = self._graph.tensor_scalar(
            value,
            cudnnDataType_t.CUDNN_DATA_INT32
            if isinstance(value, int)
            else cudnnDataType_t.CUDNN_DATA_FLOAT,
            name=str(name),
        )
        assert isinstance(result, _tensor)
        result.compile_time_constant = kind is _scalar_type.COMPILE_TIME_CONST
        return result

    def query_tensor_attributes_of_uid(self, uid: int) -> _tensor:
        """The tensor with this unique id."""
        for each in self._tensors:
            if each.uid == uid:
                assert isinstance(each, _tensor)
                return each
        raise InvalidGraphError(f"no tensor has uid {uid}")

    # --- layer 3: explanations, measurements, pictures, text --------------------------------------

    def explain(self, device: Any = None, **options: Any) -> Explanation:
        """Every engine config: what it is and needs, whether it works and, if not, why.

        Parameters
        ----------
        device : Handle, DeviceProperties, str or os.PathLike, optional
            By default that for which this graph is built; also by the name of a preset, or a file.
        **options
            Those of ``cudnn_ctypes.Graph.explain``.

        Returns
        -------
        Explanation
            Rows as data; ``print`` gives a table.

        Raises
        ------
        InvalidGraphError
            As in `validate`.

        Examples
        --------
        >>> print(graph.explain())  # doctest: +SKIP
        """
        with translated("pygraph.explain"):
            return self._graph.explain(self._chosen(device), **options)

    def autotune(
        self,
        memory: Mapping[Any, Any] | None = None,
        handle: AnyHandle | None = None,
        **options: Any,
    ) -> Autotuning:
        """Measure the plans that there are on a GPU; `execute` takes the fastest from then on.

        Parameters
        ----------
        memory : mapping, optional
            As for `execute`; outputs are overwritten. Tensors that are not in it get memory of
            their own with random numbers.
        handle : Handle, optional
            By default the graph's.
        **options
            Those of ``cudnn_ctypes.Graph.autotune``, but for `program`: one plan is kept.

        Returns
        -------
        Autotuning
            All measurements as data; ``print`` gives a table.

        Raises
        ------
        NoDeviceError
            On the reference device.
        """
        chosen = self._default_handle() if handle is None else as_handle(handle)
        with translated("pygraph.autotune"):
            measured = self._graph.autotune(chosen, memory, program=False, **options)
        self._graph.close()
        self.build_operation_graph()
        with translated("pygraph.autotune"):
            self._plans.take(measured.best.engine, measured.best.knobs)
        return measured

    def to_json(self, *, indent: int | None = 2) -> str:
        """The description as JSON text, without a plan; ``cudnn_ctypes.Graph.from_json`` takes it.

        So does `deserialize`. What `validate` has filled in is part of it.
        """
        return self._graph.to_json(indent=indent)

    def _diagram(self) -> Diagram:
        from ..evidence.pictures.diagram import diagram

        return diagram(self._graph.name, self._graph.nodes, self._region())

    def _region(self) -> Region | None:
        from ..graph.engines.explaining.examination import plan_region

        try:
            return plan_region(self._plan(None))
        except NoSuchPlanError:
            return None

    def _chosen(self, device: Any) -> Any:
        if device is None:
            return self._device
        return as_handle(device) if isinstance(device, (Handle, int)) else device

    # --- looking at the graph ---------------------------------------------------------------------

    @property
    def nodes(self) -> list[Node]:
        """The operations, each as it was described."""
        if self._graph.calls:
            return list(self._graph.calls)
        return [  # of a graph that was described elsewhere, and taken over by `deserialize`
            node_of(
                each.operation,
                each.name,
                {**each.inputs, **each.options},
                {  # their names without the operation's
                    str(y.name).rpartition("::")[2]: y
                    for y in each.outputs.values()
                    if isinstance(y, tensor)
                },
                member_of(each.compute_data_type) or data_type.NOT_SET,
            )
            for each in self._graph.nodes
        ]

    @property
    def tensors(self) -> dict[str, _tensor]:
        """The tensors by name; without those whose name several have."""
        found: dict[str, list[_tensor]] = {}
        for each in self._every_tensor():
            found.setdefault(each.name, []).append(each)
        return {name: those[0] for name, those in found.items() if len(those) == 1}

    @property
    def context(self) -> GraphContext:
        """The data types that the graph was made with."""
        graph = self._graph
        data_types = (graph.io_data_type, graph.intermediate_data_type, graph.compute_data_type)
        return GraphContext(
            *(data_type.NOT_SET if each is None else member_of(each) for each in data_types)
        )

    def find_tensor(self, name_or_uid: str | int) -> _tensor | None:
        """The tensor with this name or unique id; None if there is none.

        Raises
        ------
        InvalidGraphError
            If several have that name.
        """
        if not isinstance(name_or_uid, (str, int)):
            raise TypeError(f"name_or_uid: expected a name or a uid, got {name_or_uid!r}")
        key = "name" if isinstance(name_or_uid, str) else "uid"
        found = [each for each in self._every_tensor() if getattr(each, key) == name_or_uid]
        if len(found) > 1:
            raise InvalidGraphError(f"several tensors are called {name_or_uid!r}: look for the uid")
        return found[0] if found else None

    def get_node(self, name: str) -> Node | None:
        """The first operation of this name; None if there is none."""
        return next((each for each in self.nodes if each.name == name), None)

    def get_inputs(self) -> list[_tensor]:
        """The tensors that execution reads."""
        made = self._results()
        return [each for each in self._every_tensor() if not each.virtual and id(each) not in made]

    def get_outputs(self) -> list[_tensor]:
        """The tensors that execution writes."""
        made = self._results()
        return [each for each in self._every_tensor() if not each.virtual and id(each) in made]

    def inspect(self) -> dict[str, Any]:
        """The graph as plain data.

        Returns
        -------
        dict
            "context": data types; "nodes": name, type, inputs and outputs by the names of tensors,
            params; "tensors": dim, stride, dtype, is_virtual and uid by name. Dims and strides that
            are not known yet are empty.
        """
        context = self.context
        return {
            "context": {
                "io_data_type": str(context.io_data_type),
                "compute_data_type": str(context.compute_data_type),
            },
            "nodes": [
                {
                    "name": node.name,
                    "type": node.node_type.name,
                    "inputs": {port: each.name for port, each in node.inputs.items()},
                    "outputs": {port: each.name for port, each in node.outputs.items()},
                    "params": dict(node.params),
                }
                for node in self.nodes
            ],
            "tensors": {
                name: {
                    "dim": each.get_dim(),
                    "stride": each.get_stride(),
                    "dtype": str(each.get_data_type()),
                    "is_virtual": each.virtual,
                    "uid": each.get_uid(),
                }
                for name, each in self.tensors.items()
            },
        }

    def _every_tensor(self) -> list[_tensor]:
        return [each for each in self._graph.tensors if isinstance(each, tensor)]

    def _results(self) -> set[int]:
        return {id(each) for node in self._graph.nodes for each in node.results}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from .left_out import missing

            raise AttributeError(missing("pygraph", name))

    def __repr__(self) -> str:
        return f"py{self._graph!r}".replace("pyGraph", "pygraph", 1)

    def __str__(self) -> str:
        """The description as JSON text, which `deserialize` takes; after `validate` it is whole."""
        return self._graph.to_json()


def _check_sm_version(sm_version: int | None, properties: DeviceProperties | None) -> None:
    if sm_version is None or properties is None:
        return
    major, minor = properties.compute_capability
    if sm_version != 10 * major + minor:
        raise ValueError(
            f"sm_version: {sm_version}, but {properties.name} has {10 * major + minor}"
        )
