"""The graph builder: operations on tensors, described first and built late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..dtypes import data_type_argument
from ..errors import BadParamError, NotSupportedError
from ..raw import cudnnDataType_t
from ..raw.values import described
from .backend.devices import as_device
from .describe.description import DescriptionMethods
from .describe.graph_methods import RewritingMethods
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
from .engines.building import as_choice, as_modes
from .engines.cache.cached_building import obtained_plan, scratch_of
from .engines.graph_methods import EngineMethods
from .engines.judging.probation import as_check, note_unchecked, passed
from .engines.selection import Selection
from .lower.expand.expansion import Expansion, expand
from .lower.preludes import prepared
from .lower.target import Target
from .run.graph_methods import RunMethods

if TYPE_CHECKING:
    from os import PathLike

    from ..handle import Handle
    from .backend.device_properties import DeviceProperties
    from .backend.devices import DeviceLike
    from .engines.cache.plan_cache import PlanCache
    from .run.kernel_cache import KernelCache
    from .run.plan import ExecutionPlan

__all__ = ["Graph"]


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
    DescriptionMethods,
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
        if not isinstance(name, str):
            raise TypeError(f"Graph: name: expected text, got {described(name)}")
        self.name = name
        self.io_data_type: cudnnDataType_t | None = None
        if io_data_type is not None:
            self.io_data_type = data_type_argument("Graph: io_data_type", io_data_type)
        self.intermediate_data_type: cudnnDataType_t = data_type_argument(
            "Graph: intermediate_data_type", intermediate_data_type
        )
        self.compute_data_type: cudnnDataType_t = data_type_argument(
            "Graph: compute_data_type", compute_data_type
        )

    def expansion(self, device: DeviceLike) -> Expansion:
        """The operations and tensors that the loaded cuDNN wants for this graph on a GPU.

        It is what `build` lowers, for those who want to see it; `nodes` and `tensors` stay as they
        are.

        Parameters
        ----------
        device : Handle, DeviceProperties or str
            The GPU, as `build` takes it.

        Raises
        ------
        ValueError, TypeError
            As in `validate`.
        """
        return self._expanded(self.validate(), Target.of(device))

    def _expanded(self, nodes: Sequence[Node], target: Target, *, fixed: bool = True) -> Expansion:
        """Expand `nodes`, which `validate` returned, for `target`, a cuDNN and a GPU.

        `fixed`: whether the shapes stay, so that operands may be prepared for them.
        """
        expansion = expand(nodes, self.tensors, self._data_types(), target, fixed=fixed)
        return prepared(expansion) if fixed else expansion

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
        check: str | None = None,
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
        check : {"first"}, optional
            Try an engine that is new on this machine for graphs of this form once, before it is
            taken: on a small graph, in a child process, against the reference. The verdict is
            kept, and a wrong engine passed over for the next. By default as the environment
            variable ``CUDNN_CTYPES_CHECK`` says. The reference device has nothing to try.

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
        tries = as_check(check, device)
        fixed = not without_engine and kernel_cache is None and not override_shapes
        expansion = self._expanded(self.validate(), Target.of(device), fixed=fixed)
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
        # An engine that was judged wrong can be chosen by name all the same.
        judged = device if choice is None else None
        wanted = self._wanted(expansion, selection, workspace_limit, judged)

        def built(wanted: Selection) -> ExecutionPlan:
            return obtained_plan(
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

        try:
            plan = built(wanted)
            if tries and choice is None:
                plan = passed(self, expansion, device, plan, wanted, built, sm_count=sm_count)
            else:
                note_unchecked(expansion, device, plan)
        except (NotSupportedError, BadParamError) as error:
            if choice is None and kernel_cache is None and not override_shapes:
                from .engines.explaining.build_advice import add_advice

                add_advice(error, self, device, modes, wanted, sm_count)
            raise
        self._keep(plan, device, expansion, cache=cache)
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
        self,
        plan: ExecutionPlan,
        device: Handle | DeviceProperties,
        expansion: Expansion,
        *,
        cache: Any = None,
    ) -> None:
        """Hold `plan` instead of the one before."""
        from .backend.device_properties import DeviceProperties

        scratch = scratch_of(expansion, device, cache=cache)
        self.close()
        plan.scratch = scratch
        self._plan, self._operands, self._node_count = plan, expansion.tensors, len(self.nodes)
        self._handle = None if isinstance(device, DeviceProperties) else device

    def _node_added(self) -> None:
        """Have the next execution find out that the plan lacks an operation."""
        self._execution = self._outputs = None
