"""The graph builder: operations on tensors, described first and built late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..arguments import flag, integer
from ..errors import (
    BadParamError,
    CrashError,
    CudnnError,
    NotSupportedError,
    SymbolNotFoundError,
)
from .describe.description import Description
from .describe.node import Node
from .run.execution_methods import ExecutionMethods

if TYPE_CHECKING:
    from os import PathLike

    from ..evidence.pictures.diagram import Region
    from ..handle import Handle
    from .backend.device_properties import DeviceLike, DeviceProperties
    from .backend.engine import Engine
    from .engines.cache.plan_cache import PlanCache
    from .engines.explaining.explanation import Explanation
    from .engines.judging.judging import Judgement
    from .engines.selection import Selection
    from .engines.tuning.measurements import Autotuning
    from .lower.expand.expansion import Expansion
    from .lower.target import Target
    from .partition.partition import Partition
    from .run.plan import ExecutionPlan
    from .run.program import Program
    from .run.stored_plan import KernelCache


_ASKED = f"{__package__}.engines.building"  # has what the warden is asked to do
_MANY = 16  # operations: cuDNN takes seconds to refuse more, in the square of their number


class Graph(Description, ExecutionMethods):
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
        from .lower.target import Target

        return self._expanded(self.validate(), Target.of(device))

    def _expanded(self, nodes: Sequence[Node], target: Target, *, fixed: bool = True) -> Expansion:
        """Expand `nodes`, which `validate` returned, for `target`, a cuDNN and a GPU.

        `fixed`: whether the shapes stay, so that operands may be prepared for them.
        """
        from .lower.expand.expansion import expand
        from .lower.preludes import prepared

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
        warden: bool | None = None,
        program: bool = True,
    ) -> ExecutionPlan:
        """Validate, ask cuDNN's heuristics, and compile the first engine config that works.

        Where no engine takes the graph whole, it is cut into graphs that have engines (`partition`)
        and the plan is a `Program` of several.

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
        warden : bool, optional
            Whether to ask cuDNN, and compile, in a helper process: a graph that ends it, or hangs,
            is a `CrashError` here. By default as `use_warden` and ``CUDNN_CTYPES_WARDEN`` say.
        program : bool
            Whether a program will do where no engine takes the graph whole. There is none for a
            `config`, a `kernel_cache`, `override_shapes` or an `sm_count`.

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
            If no engine can do it, nor several; the message begins with changes that would help
            (``advice``) and has cuDNN's reasons, `explain` has all of them.
        CrashError
            If cuDNN ended the warden, now or when it was asked about such a graph before.
        """
        from .backend.warden import asking, begin

        begin(warden, _ASKED)
        from .backend.device_properties import as_device
        from .engines.building import as_choice, as_modes, reference_plan
        from .engines.cache.cached_building import obtained_plan, wanted_of
        from .engines.cache.plan_cache import Request
        from .engines.judging.probation import as_check, note_unchecked, passed
        from .engines.selection import Selection
        from .lower.expand.builder import without_scale
        from .lower.target import Target

        device = as_device(device)
        modes, choice = as_modes(heuristics), as_choice(config)
        tries, program = as_check(check, device), flag("program", program)
        fixed = not without_engine and kernel_cache is None and not override_shapes
        nodes = self.validate()
        if override_shapes and (bare := next(filter(without_scale, nodes), None)):
            bare.refuse("override_shapes: without a scale its axes cannot follow the shapes")
        expansion = self._expanded(nodes, Target.of(device), fixed=fixed)

        def in_pieces(wanted: Selection, **options: Any) -> Program | None:
            from .partition.partition import program_for

            return program_for(self, device, modes, wanted, **options)

        if without_engine:
            cut = partial(in_pieces, Selection(), without_engine=True)
            plan = reference_plan(
                self.nodes,
                expansion,
                device,
                cut=cut if program else None,
                override_shapes=override_shapes,
                selection=selection,
                workspace_limit=workspace_limit,
                config=choice,
                sm_count=sm_count,
                kernel_cache=kernel_cache,
                cache=cache or None,
            )
            if plan is not self._plan:
                self._keep(plan, device, expansion)
            return plan
        with asking(warden):
            # An engine that was judged wrong can be chosen by name all the same.
            by_name = choice is not None
            wanted = wanted_of(expansion, selection, workspace_limit, device, by_name=by_name)

            def built(wanted: Selection) -> ExecutionPlan:
                request = Request(wanted, modes, choice, sm_count, override_shapes)
                options: dict[str, Any] = {"cache": cache, "kernel_cache": kernel_cache}
                return obtained_plan(expansion, device, request, name=self.name, **options)

            may_cut = program and fixed and choice is None and sm_count is None
            limited = (selection or Selection()).within(workspace_limit)
            cut = partial(in_pieces, limited, check=check, cache=cache, warden=warden)
            if may_cut and len(nodes) > _MANY and (found := cut(beyond_engines=True)):
                return found
            try:
                plan = built(wanted)
                if tries and choice is None:
                    plan = passed(self, expansion, device, plan, wanted, built)
                else:
                    note_unchecked(expansion, device, plan)
            except CrashError as error:
                error.graph = self.to_json(indent=None)
                raise
            except (NotSupportedError, BadParamError, SymbolNotFoundError) as error:
                if may_cut and (found := cut()):
                    return found
                if fixed and choice is None and isinstance(error, CudnnError):
                    from .partition.advising import add_advice

                    add_advice(error, self, device, modes, wanted)
                raise
            self._keep(plan, device, expansion, cache=cache)
        return plan

    def partition(
        self,
        device: DeviceLike,
        heuristics: str | Sequence[str] = ("a", "fallback"),
        *,
        selection: Selection | None = None,
        warden: bool | None = None,
    ) -> Partition:
        """The graphs with engines that this one is cut into, whether or not one engine takes it.

        Of all ways to cut it the one is taken that is the fastest by its launches and by the bytes
        that it moves, at the bandwidth of the GPU's memory. Operations that cuDNN has no engine for
        are said in others: softmax, RoPE, norms, sums of other axes, upsampling. Transposes,
        reshapes, slices and concatenations between pieces are no launches but names for the same
        memory. Nothing is compiled; `build` does that.

        Parameters
        ----------
        device, heuristics, selection, warden
            As `build` takes them.

        Returns
        -------
        Partition
            The pieces with their engines, and why each cut is there; ``print`` gives a table.

        Raises
        ------
        ValueError, TypeError
            As in `validate`.

        Examples
        --------
        >>> graph = Graph(io_data_type="float16")
        >>> y = graph.softmax(graph.tensor((4, 8, 128), name="x"))["y"].set_output(name="y")
        >>> [piece.launches for piece in graph.partition("H200")]
        [1, 1, 1]
        """
        from .backend.device_properties import as_device
        from .backend.warden import asking, begin
        from .engines.building import as_modes
        from .engines.explaining.examination import Conditions
        from .engines.selection import Selection
        from .partition.partition import partition

        begin(warden, _ASKED, default=True)
        here, modes = as_device(device), tuple(as_modes(heuristics))
        with asking(warden, default=True) as warded:
            return partition(self, Conditions(here, modes, selection or Selection(), warden=warded))

    def load_plan(self, text: str | bytes, device: DeviceLike) -> ExecutionPlan:
        """Take a plan of this graph that was built elsewhere, instead of building one.

        Parameters
        ----------
        text : str or bytes
            From ``to_json`` of a plan or program, or ``python -m cudnn_ctypes compile``. It holds
            machine code: take it only from where you would take a program.
        device : Handle, DeviceProperties, str or os.PathLike
            The GPU.

        Raises
        ------
        ValueError
            If the text is damaged, or the plan belongs to another graph, cuDNN version or GPU.
        """
        from .backend.device_properties import as_device
        from .lower.flattening import flattened
        from .partition.partition import is_program, loaded
        from .run.plan import ExecutionPlan
        from .run.stored_plan import StoredPlan

        device = as_device(device)
        if is_program(text):
            program = loaded(self, text, device)
            self._hold(program, device, self.tensors)
            return program
        expansion = self.expansion(device)
        stored = StoredPlan(text)
        views = {} if stored.takes_shapes else flattened(expansion.nodes)
        dims = {t.uid: views[id(t)][0] if id(t) in views else t.dims for t in expansion.tensors}
        stored.check_graph(expansion.nodes, dims)
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
        from .engines.cache.cached_building import scratch_of

        plan.scratch = scratch_of(expansion, device, cache=cache)
        self._hold(plan, device, expansion.tensors)

    def _node_added(self) -> None:
        """Have the next execution find out that the plan lacks an operation."""
        self._execution = self._outputs = None

    def engine(self, device: DeviceLike, index: int) -> Engine:
        """One of cuDNN's engines for this graph, to look at its knobs and notes; to be closed.

        Parameters
        ----------
        device : Handle, DeviceProperties, str or os.PathLike
            The GPU, as `build` takes it.
        index : int
            Less than `engine_count`.

        Raises
        ------
        ValueError
            As in `validate`; if there is no such engine.
        NotSupportedError
            If this engine cannot carry out this graph; the message has cuDNN's reason.

        Examples
        --------
        >>> with graph.engine(device, 22) as engine:  # doctest: +SKIP
        ...     print(engine.knobs["tile_size"].values)
        range(0, 24)
        >>> graph.build(device, config=EngineChoice(22, {"tile_size": 8}))  # doctest: +SKIP
        """
        from .backend.device_properties import as_device
        from .engines.building import lowered_engine

        device = as_device(device)
        return lowered_engine(self.expansion(device), device, index)

    def engine_count(self, device: DeviceLike) -> int:
        """How many engines cuDNN has for graphs of this pattern, usable or not.

        Parameters
        ----------
        device : Handle, DeviceProperties, str or os.PathLike
            The GPU, as `build` takes it.
        """
        from .backend.device_properties import as_device
        from .backend.engine import engine_count
        from .lower.lowering import lowered

        device = as_device(device)
        with lowered(self.expansion(device), device) as lowering:
            return engine_count(lowering.graph)

    def explain(
        self,
        device: DeviceLike,
        heuristics: str | Sequence[str] = ("a", "b", "fallback"),
        *,
        selection: Selection | None = None,
        compile: bool = False,
        progress: bool | None = None,
        warden: bool | None = None,
    ) -> Explanation:
        """Every engine config for this graph: what it is and needs, whether and why not it works.

        These are the configs that heuristics propose, and every engine that they do not propose,
        its knobs left to cuDNN. The graph's plan stays as it is.

        Parameters
        ----------
        device, heuristics
            As `build` takes them.
        selection : Selection, optional
            What it does not want is marked so.
        compile : bool
            Whether to compile engines of runtime fusion too, which takes up to a second for each
            config. Otherwise theirs are "accepted": cuDNN checked all but the compilation.
            Plans of precompiled engines are always made, which takes a tenth of a millisecond.
        progress : bool, optional
            Whether to draw a progress bar; by default on a terminal, when engines are compiled.
        warden : bool, optional
            Whether to ask cuDNN in a helper process, which it may end (`use_warden`): by default
            yes, unless that, or ``CUDNN_CTYPES_WARDEN``, says no.

        Returns
        -------
        Explanation
            Rows as data; ``print`` gives a table, its ``show()`` one in colours on a terminal. Its
            ``advice()`` says what to change for a graph that is refused, or could be faster. It has
            no rows, and a `refusal`, if cuDNN refuses the graph before it comes to engines.

        Raises
        ------
        ValueError, SymbolNotFoundError
            As in `build`.
        """
        from .backend.warden import asking, begin

        begin(warden, _ASKED, default=True)
        from .backend.device_properties import as_device
        from .engines.building import as_modes
        from .engines.cache.cached_building import wanted_of
        from .engines.explaining.examination import Conditions, explain
        from .engines.tuning.timing import progress_bar
        from .partition.advising import advise
        from .partition.partition import partition

        device, compile = as_device(device), flag("compile", compile)
        modes, expansion = as_modes(heuristics), self.expansion(device)
        with (
            asking(warden, default=True) as warded,
            progress_bar("explaining", progress if compile else bool(progress)) as noted,
        ):
            wanted = wanted_of(expansion, selection, device=device)
            options: dict[str, Any] = {"selection": wanted, "compile": compile, "noted": noted}
            told = explain(expansion, device, modes, name=self.name, **options)
        asked = Conditions(device, tuple(modes), wanted, compile, warded)
        if not (told.usable or told.undecided):
            with asking(warden, default=True):
                pieces = partition(self, replace(asked, compile=False))
            told = replace(told, program=tuple(pieces.lines()))
        return replace(told, adviser=partial(advise, self.replaced(), asked))

    def autotune(
        self,
        handle: Handle,
        memory: Mapping[Any, Any] | None = None,
        heuristics: str | Sequence[str] = ("a", "b", "fallback"),
        *,
        selection: Selection | None = None,
        every_engine: bool = False,
        knobs: int = 0,
        runs: int = 20,
        warm_up: int = 1,
        budget: float | None = 60.0,
        cold_cache: bool = True,
        progress: bool | None = None,
        cache: bool | str | PathLike[str] | PlanCache | None = None,
        program: bool = True,
    ) -> Autotuning:
        """Measure the plans that there are on a GPU, and keep the fastest as the graph's plan.

        Programs of several plans are measured too: of graphs that no engine takes whole, and of
        norms, said in sums and element-wise operations.

        An engine that is new on this machine for graphs of this form is tried first, as by
        ``build(check="first")``; those that are wrong are left out.

        Each plan is executed `runs` times with CUDA events around each execution; the smallest
        median wins. A plan of which the fastest of three runs takes 1.3 times the best median is
        dropped. A plan that fails is noted with its reason, and the others are measured. Before
        each run the level-two cache is emptied, which also gives the host time to queue the run:
        the times are those of the kernels, not of their launch.

        Parameters
        ----------
        handle : Handle
            Of a GPU. All runs on its stream.
        memory : mapping, optional
            As for `execute`; outputs are overwritten. Tensors that are not in it get memory of
            their own with random numbers.
        heuristics, selection
            As `build` takes them: whose proposals are measured, if they meet the conditions.
        every_engine : bool
            Whether to measure the engines too that heuristics do not propose.
        knobs : int
            How many more settings of knobs to measure, from the fastest config on.
        runs, warm_up : int
            Timed and untimed executions of each plan.
        budget : float, optional
            Seconds after which no other plan is begun. None is no limit.
        cold_cache : bool
            Otherwise an execution goes before each run, whose operands may stay in the cache.
        progress : bool, optional
            Whether to draw a progress bar; by default on a terminal.
        cache : bool, str, os.PathLike or PlanCache, optional
            The plan cache that keeps the result, as for `build`. From then on `build` with this
            cache takes the fastest plan instead of asking heuristics, in every process, for the
            same graph, GPU, versions and `selection`. Results without a selection serve
            builds with one, too: then the fastest that meets it. A second autotuning measures anew
            and takes the place of the first. Of a program, which ``Program.to_json`` stores,
            nothing is kept but what engines take.
        program : bool
            Whether to measure programs of several plans, too.

        Returns
        -------
        Autotuning
            All measurements as data; ``print`` gives a table.

        Raises
        ------
        ValueError
            As in `validate`; for inputs without memory whose values decide what is computed:
            32-bit and 64-bit integers, and numbers passed by value.
        NotSupportedError
            If no plan could be measured; the message has the reasons.
        NoDeviceError
            On the reference device.
        """
        from .engines.building import as_modes
        from .engines.explaining.examination import Conditions
        from .engines.selection import Selection
        from .engines.tuning.autotuning import autotune
        from .engines.tuning.measurements import Settings
        from .partition.partition import programs_of

        modes, expansion = as_modes(heuristics), self.expansion(handle)
        given = selection or Selection()
        asked = Conditions(handle, tuple(modes), given)
        others = partial(programs_of, self, asked, selection=given, heuristics=modes)
        result, plan = autotune(
            self,
            expansion,
            handle,
            memory or {},
            modes,
            Settings(runs, warm_up, budget, knobs, cold_cache),
            selection=selection,
            every_engine=every_engine,
            progress=progress,
            cache=cache,
            programs=others if flag("program", program) else None,
        )
        if result.best.pieces:
            self._hold(plan, handle, self.tensors)
        else:
            self._keep(plan, handle, expansion)
        return result

    def judge(
        self,
        handle: Handle,
        memory: Mapping[Any, Any] | None = None,
        heuristics: str | Sequence[str] = ("a", "b", "fallback"),
        *,
        selection: Selection | None = None,
        knobs: int = 2,
        data: str | Sequence[str] | None = None,
        runs: int = 5,
        despite_faults: bool = False,
        progress: bool | None = None,
        keep: bool = True,
    ) -> Judgement:
        """Execute every engine on the GPU and compare it with the reference in float64.

        Each config is executed in a child process, twice with each kind of numbers: between red
        zones, with garbage in results and workspace, at addresses that are no more aligned than
        the tensors say. A result is right if no element is further from the exact one than eight
        times what rounding in the graph's own data types does; that is measured for this graph
        and these numbers. The graph's plan stays as it is.

        Parameters
        ----------
        handle : Handle
            Of a GPU. On the reference device NumPy carries out all engines.
        memory : mapping, optional
            As for `autotune`: inputs whose values decide what is computed.
        heuristics, selection
            As `build` takes them. Engines that heuristics do not propose are judged too.
        knobs : int
            How many other settings of its knobs to judge of each engine.
        data : str or sequence of str, optional
            Kinds of numbers: "ordinary", "tails" (some are very large), "rows" (some rows are very
            large, all zero or constant), "offset" (far from zero), "tiny" (next to the smallest);
            by default all.
        runs : int
            Timed executions of each config.
        despite_faults : bool
            Whether to judge the graph as it is described, which builds refuse for a known fault, or
            of which they compute operands beforehand that engines misread.
        progress : bool, optional
            Whether to draw a progress bar; by default on a terminal.
        keep : bool
            Whether to keep the verdicts in the user's folder for caches: builds of graphs of the
            same form pass over engines that were wrong, from then on.

        Returns
        -------
        Judgement
            Verdicts as data; ``print`` gives a table.

        Raises
        ------
        ValueError
            As in `validate`; for inputs of integers without memory; for a graph that makes random
            numbers; if there is no such kind of numbers.
        NotSupportedError
            If the graph is refused for a known fault.

        Examples
        --------
        >>> graph.judge(handle).wrong  # doctest: +SKIP
        ()
        """
        from .engines.judging.judging import judge

        return judge(
            self,
            handle,
            memory or {},
            heuristics,
            selection=selection,
            knobs=integer("knobs", knobs, least=0),
            data=data,
            runs=integer("runs", runs, least=1),
            despite_faults=flag("despite_faults", despite_faults),
            progress=progress,
            keep=flag("keep", keep),
        )

    def _region(self) -> Region | None:
        """The engine of the graph's plan, for pictures; None if it is not built."""
        from .engines.explaining.examination import plan_region

        return None if self._plan is None or self._plan.closed else plan_region(self._plan)
