"""The graph builder: operations on tensors, described first and built late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..dtypes import as_data_type
from ..errors import BadParamError, NotSupportedError
from .backend.devices import as_device
from .describe.graph_methods import RewritingMethods
from .describe.inference import DataTypes, complete_offset, infer_node, number_tensors
from .describe.node import Node
from .describe.operations.attention_fp8 import Fp8AttentionOperations
from .describe.operations.attention_unified import UnifiedAttentionOperations
from .describe.operations.bands import BandOperations
from .describe.operations.batch_normalization import BatchNormalizationOperations
from .describe.operations.blocks import BlockOperations
from .describe.operations.convolutions import ConvolutionOperations
from .describe.operations.experts import ExpertOperations
from .describe.operations.normalizations import NormalizationOperations
from .describe.operations.pointwise import PointwiseOperations
from .describe.operations.reductions import ReductionOperations
from .describe.operations.resampling import ResampleOperations
from .describe.operations.sequences import SequenceOperations
from .describe.operations.shapes import ShapeOperations
from .describe.pictures import PictureMethods
from .describe.tensor import Tensor
from .describe.validation import (
    check_fields,
    check_results,
    check_subgraphs,
    check_tensors,
    in_order,
)
from .engines.building import as_choice, as_modes
from .engines.cached_building import obtained_plan
from .engines.graph_methods import EngineMethods
from .engines.selection import Selection
from .lower.expand.expansion import Expansion, expand
from .lower.target import Target
from .run.execution import Execution
from .run.graph_methods import RunMethods
from .run.operands import Operands
from .run.scratch import Scratch
from .run.tensor_memory import new_shapes

if TYPE_CHECKING:
    from os import PathLike

    from typing_extensions import Self

    from ..handle import Handle
    from .backend.device_properties import DeviceProperties
    from .backend.devices import DeviceLike
    from .engines.cache import PlanCache
    from .run.bound_plan import BoundPlan
    from .run.kernel_cache import KernelCache
    from .run.plan import ExecutionPlan

__all__ = ["Graph"]


# A mapping of one kind of key is none of several kinds, to a type checker.
MemoryMap = (
    Mapping[Tensor, Any] | Mapping[int, Any] | Mapping[str, Any] | Mapping[Tensor | int | str, Any]
)
"""Memory by tensor, unique id or name."""
DimsMap = (
    Mapping[Tensor, Sequence[int]]
    | Mapping[int, Sequence[int]]
    | Mapping[str, Sequence[int]]
    | Mapping[Tensor | int | str, Sequence[int]]
)


class Graph(
    ConvolutionOperations,
    Fp8AttentionOperations,
    UnifiedAttentionOperations,
    NormalizationOperations,
    ResampleOperations,
    BatchNormalizationOperations,
    SequenceOperations,
    BandOperations,
    BlockOperations,
    ExpertOperations,
    PointwiseOperations,
    ReductionOperations,
    ShapeOperations,
    RewritingMethods,
    EngineMethods,
    RunMethods,
    PictureMethods,
):
    """Operations on tensors that cuDNN carries out together.

    Operations add to it and return their results, which are virtual until ``set_output``. Nothing
    reaches cuDNN before `build`. `tensors` and `nodes` hold what was described, as plain data.

    Parameters
    ----------
    name : str
    io_data_type : data type, optional
        Of tensors with memory that have none of their own.
    intermediate_data_type : data type
        Of virtual tensors.
    compute_data_type : data type
        In which operations compute.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 128), name="x")
    >>> w = graph.tensor((1, 128, 32), name="w")
    >>> y = graph.relu(graph.matmul(x, w)).set_output(name="y")
    >>> graph.build(handle)  # doctest: +SKIP
    >>> graph.execute({x: x_memory, w: w_memory, y: y_memory}, workspace)  # doctest: +SKIP
    """

    def __init__(
        self,
        name: str = "graph",
        *,
        io_data_type: Any = None,
        intermediate_data_type: Any = "float32",
        compute_data_type: Any = "float32",
    ) -> None:
        super().__init__()
        self.name = name
        self.io_data_type = None if io_data_type is None else as_data_type(io_data_type)
        self.intermediate_data_type = as_data_type(intermediate_data_type)
        self.compute_data_type = as_data_type(compute_data_type)
        self._plan: ExecutionPlan | None = None
        self._execution: Execution | None = None
        self._operands: list[Tensor] = []  # those of the plan, once there is one
        self._handle: Handle | None = None

    def validate(self) -> list[Node]:
        """Fill in what is missing in all tensors, and check the graph.

        Returns
        -------
        list of Node
            The operations in an order in which they can be carried out.

        Raises
        ------
        ValueError, TypeError
            The message names the operation and the tensor.
        """
        check_fields(self.tensors, self.nodes)
        nodes = in_order(self.nodes)
        check_tensors(self.tensors, nodes)
        number_tensors(self.tensors)
        data_types = self._data_types()
        for tensor in self.tensors:
            if tensor.ragged_offset is not None:
                complete_offset(tensor.ragged_offset)
        for node in nodes:
            self._infer(node, data_types)
            for inner in node.inner:
                self._infer(inner, data_types)
            check_subgraphs(node)
        check_results(self.tensors, nodes)
        return nodes

    def _data_types(self) -> DataTypes:
        return DataTypes(self.io_data_type, self.intermediate_data_type, self.compute_data_type)

    def expansion(self, device: DeviceLike) -> Expansion:
        """The operations and tensors that the loaded cuDNN wants for this graph on a GPU.

        It is what `build` lowers, for those who want to see it; `nodes` and `tensors` stay as they
        are.

        Raises
        ------
        ValueError, TypeError
            As in `validate`.
        """
        return self.expanded(self.validate(), Target.of(device))

    def expanded(self, nodes: Sequence[Node], target: Target) -> Expansion:
        """What `nodes`, which `validate` returned, become for a version of cuDNN and a GPU."""
        return expand(nodes, self.tensors, self._data_types(), target)

    def _infer(self, node: Node, data_types: DataTypes) -> None:
        infer_node(node, data_types)

    def build(
        self,
        device: DeviceLike,
        heuristics: str | Sequence[str] = ("a", "fallback"),
        *,
        selection: Selection | None = None,
        workspace_limit: int | None = None,
        config: Any = None,
        sm_count: int | None = None,
        kernel_cache: KernelCache | None = None,
        override_shapes: bool = False,
        without_engine: bool = False,
        cache: bool | str | PathLike[str] | PlanCache | None = None,
    ) -> ExecutionPlan:
        """Validate, ask cuDNN's heuristics, and compile the first engine config that works.

        Parameters
        ----------
        device : Handle, DeviceProperties, str or os.PathLike
            The GPU; by its properties, their file or the name of a preset ("B200"), one that need
            not be there.
        heuristics : str or sequence of str
            Modes to ask, in this order: "a", "b", "fallback".
        selection : Selection, optional
            Conditions on notes, determinism, memory and engines.
        workspace_limit : int, optional
            Bytes of workspace that the plan may need at most; also part of `selection`.
        config : EngineChoice or EngineConfig, optional
            Take this engine with these knobs rather than ask heuristics. A row of `explain` or
            `autotune` will do.
        sm_count : int, optional
            How many multiprocessors to use, to leave others to other work. Many engines cannot be
            told so, and are not proposed.
        kernel_cache : KernelCache, optional
            Have dynamic shapes: share compiled kernels with graphs that differ in dims only.
        override_shapes : bool
            Have a plan that takes other dims at each execution; cuDNN 9.21.
        without_engine : bool
            On the reference device: have NumPy carry out the operations as they are described, also
            those that no engine takes. cuDNN checks their descriptors all the same.
        cache : bool, str, os.PathLike or PlanCache, optional
            Where plans stay for the next process: True for the user's folder for caches, else a
            folder. By default as the environment variable ``CUDNN_CTYPES_CACHE`` says: 1, a folder,
            or 0 for none. What `autotune` found there to be the fastest comes before `heuristics`.

        Returns
        -------
        ExecutionPlan
            The graph holds it too, until it is built again or closed.

        Raises
        ------
        ValueError
            As in `validate`; if the engine of `config` has no such knob or value.
        SymbolNotFoundError
            If the loaded cuDNN is too old for an operation; the message says which has it.
        NotSupportedError
            If no engine can do it; the message begins with changes that would help (``advice``) and
            has cuDNN's reasons, `explain` has all of them.
        """
        device = as_device(device)
        modes, choice = as_modes(heuristics), as_choice(config)
        expansion = self.expansion(device)
        if without_engine:
            from .engines.reference_plan import reference_plan

            plan: ExecutionPlan = reference_plan(
                expansion,
                device,
                override_shapes=override_shapes,
                selection=selection,
                workspace_limit=workspace_limit,
                config=choice,
                sm_count=sm_count,
                kernel_cache=kernel_cache,
                cache=cache or None,
            )
            self._keep(plan, device, expansion)
            return plan
        wanted = self._wanted(expansion, selection, workspace_limit)
        try:
            plan = obtained_plan(
                expansion,
                device,
                modes,
                name=self.name,
                cache=cache,
                selection=wanted,
                config=choice,
                sm_count=sm_count,
                kernel_cache=kernel_cache,
                override_shapes=override_shapes,
            )
        except (NotSupportedError, BadParamError) as error:
            if choice is None and kernel_cache is None and not override_shapes:
                from .engines.build_advice import add_advice

                add_advice(error, self, device, modes, wanted, sm_count)
            raise
        self._keep(plan, device, expansion)
        return plan

    def load_plan(self, text: str | bytes, device: DeviceLike) -> ExecutionPlan:
        """Take a plan of this graph that was built elsewhere, instead of building one.

        Parameters
        ----------
        text : str or bytes
            From ``ExecutionPlan.to_json`` or ``python -m cudnn_ctypes compile``. It holds machine
            code: take it only from where you would take a program.
        device : Handle, DeviceProperties, str or os.PathLike
            The GPU.

        Raises
        ------
        ValueError
            If the text is damaged, or the plan belongs to another graph, cuDNN version or GPU.
        """
        from .run.plan import ExecutionPlan
        from .run.stored_plan import StoredPlan

        device = as_device(device)
        expansion = self.expansion(device)
        StoredPlan(text).check_graph(expansion.nodes, expansion.tensors)
        plan = ExecutionPlan.from_json(text, device=device)
        self._keep(plan, device, expansion)
        return plan

    def _keep(
        self, plan: ExecutionPlan, device: Handle | DeviceProperties, expansion: Expansion
    ) -> None:
        """Hold `plan` instead of the one before."""
        from .backend.device_properties import DeviceProperties

        self.close()
        plan.scratch = Scratch(expansion.tensors)
        self._plan, self._operands = plan, expansion.tensors
        self._handle = None if isinstance(device, DeviceProperties) else device

    @property
    def plan(self) -> ExecutionPlan:
        """What `build` made."""
        if self._plan is None:
            raise ValueError(f"graph {self.name!r} is not built; call its build()")
        return self._plan

    @property
    def workspace_size(self) -> int:
        """Bytes of device memory that `execute` needs beside the tensors."""
        return self.plan.workspace_size

    def execute(
        self,
        memory: MemoryMap,
        workspace: Any = None,
        *,
        dims: DimsMap | None = None,
        handle: Handle | None = None,
        check: bool = True,
    ) -> None:
        """Run it on the handle's stream; follows ``cudnnBackendExecute``.

        Parameters
        ----------
        memory : mapping
            By tensor, uid or name: device memory for `inputs` and `outputs`, numbers for those
            passed by value.
        workspace : device memory, optional
            At least `workspace_size` bytes.
        dims : mapping, optional
            By tensor, uid or name: those of all tensors with memory that have others this time,
            packed, if it was built with ``override_shapes``.
        handle : Handle, optional
            By default that of `build`.
        check : bool
            Whether memory that says its data type, dims and strides is held against its tensor,
            whenever its address is not that of the last time. It may tell the same memory in other
            words: without dims of one element, with neighbouring dims joined, or as bytes.

        Raises
        ------
        ValueError
            If a tensor has no memory, or memory that contradicts it; if there is no handle.
        KeyError
            If a key is no tensor with memory of this graph.
        """
        execution = self._execution or self._made_execution(self.plan)
        chosen = handle or self._handle or self._chosen(None)
        if type(memory) is dict and check and not dims:
            execution.launches.last(execution, chosen, memory, workspace)
            return
        new = new_shapes(self._operands, dims) if dims else None
        execution(chosen, memory, workspace, new, check=check)

    def bind(
        self,
        memory: MemoryMap,
        workspace: Any = None,
        *,
        dims: DimsMap | None = None,
        handle: Handle | None = None,
        check: bool = True,
    ) -> BoundPlan:
        """`execute` for memory that stays where it is: each call of the result is one C call."""
        plan = self.plan
        new = new_shapes(self._operands, dims) if dims else None
        execution = self._execution or self._made_execution(plan)
        return execution.bind(self._chosen(handle), memory, workspace, new, check=check)

    def _made_execution(self, plan: ExecutionPlan) -> Execution:
        self._execution = Execution(plan, Operands(self._operands))
        return self._execution

    def _chosen(self, handle: Handle | None) -> Handle:
        chosen = handle or self._handle
        if chosen is None:
            raise ValueError(f"graph {self.name!r} was built without a handle: pass one")
        return chosen

    def close(self) -> None:
        """Destroy the plan. The graph can be built again."""
        if self._plan is not None:
            self._plan.close()
            self._plan = self._execution = self._outputs = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __copy__(self) -> Self:
        """What it describes, not built."""
        return self.from_json(self.to_json())

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return type(self).from_json, (self.to_json(),)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The tensors and nodes as JSON text, without a plan; None for `indent` is one line.

        What `validate` has filled in is part of it.
        """
        from .describe.serialization import to_json

        return to_json(self, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The graph that `to_json` wrote.

        Raises
        ------
        ValueError
            If the text is damaged or has content that is not known; the message names the place.
        """
        from .describe.deserialization import from_json

        return from_json(cls, text)

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors that execution reads: device memory, or numbers not fixed in the graph."""
        made = {id(tensor) for node in self.nodes for tensor in node.results}
        return [
            tensor
            for tensor in self.tensors
            if id(tensor) not in made and tensor.value is None and not tensor.scratch
        ]

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that execution writes."""
        made = [tensor for node in self.nodes for tensor in node.results]
        return [tensor for tensor in made if not tensor.virtual and not tensor.scratch]

    def __repr__(self) -> str:
        operations = ", ".join(str(node) for node in self.nodes)
        return f"Graph({self.name!r}: {operations or 'empty'})"
