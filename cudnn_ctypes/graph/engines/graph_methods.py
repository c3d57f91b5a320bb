"""The methods of `Graph` by which a user sees and chooses among cuDNN's engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ...arguments import flag, integer
from ...raw.values import described
from ..backend.devices import as_device
from ..run.scratch import Scratch
from .selection import Selection

if TYPE_CHECKING:
    from os import PathLike

    from ...handle import Handle
    from ...introspect.pictures.diagram import Region
    from ..backend.device_properties import DeviceProperties
    from ..backend.devices import DeviceLike
    from ..backend.engine import Engine
    from ..graph import Graph
    from ..lower.expand.expansion import Expansion
    from ..run.plan import ExecutionPlan
    from .cache.plan_cache import PlanCache
    from .explaining.explanation import Explanation
    from .judging.judgement import Judgement
    from .tuning.executors import Executor
    from .tuning.measurements import Autotuning

__all__ = ["EngineMethods"]


class EngineMethods:
    """Methods of `Graph` that ask for engines."""

    name: str

    if TYPE_CHECKING:
        _plan: ExecutionPlan | None

        def expansion(self, device: DeviceLike) -> Expansion: ...

        def _keep(
            self, plan: ExecutionPlan, device: Handle | DeviceProperties, expansion: Expansion
        ) -> None: ...

    def _wanted(
        self,
        expansion: Expansion,
        selection: Selection | None,
        workspace_limit: int | None = None,
        device: Handle | DeviceProperties | None = None,
    ) -> Selection:
        """The conditions on a plan itself: what the graph keeps in the workspace is taken off.

        For a `device` what a judge has found wrong there is passed over.
        """
        if selection is not None and not isinstance(selection, Selection):
            raise TypeError(f"selection: expected a Selection, got {described(selection)}")
        wanted = (selection or Selection()).within(workspace_limit)
        if device is not None:
            from .judging.kept import kept_verdicts

            wanted = wanted.passing_over(kept_verdicts(expansion, device))
        kept = Scratch(expansion.tensors)
        if not kept or wanted.workspace_limit is None:
            return wanted
        if kept.size > wanted.workspace_limit:
            raise ValueError(
                f"workspace_limit: {wanted.workspace_limit} bytes are too few; the operations keep "
                f"{kept.size} bytes between their kernels"
            )
        return wanted.within(wanted.workspace_limit - kept.size)

    def engine(self, device: DeviceLike, index: int, *, sm_count: int | None = None) -> Engine:
        """One of cuDNN's engines for this graph, to look at its knobs and notes; to be closed.

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
        from .building import lowered_engine

        device = as_device(device)
        return lowered_engine(self.expansion(device), device, index, sm_count=sm_count)

    def engine_count(self, device: DeviceLike) -> int:
        """How many engines cuDNN has for graphs of this pattern, usable or not."""
        from ..backend.engine import engine_count
        from ..lower.lowering import lowered

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
        sm_count: int | None = None,
        progress: bool | None = None,
    ) -> Explanation:
        """Every engine config for this graph: what it is and needs, whether and why not it works.

        These are the configs that heuristics propose, and every engine that they do not propose,
        its knobs left to cuDNN. The graph's plan stays as it is.

        Parameters
        ----------
        device : Handle, DeviceProperties, str or os.PathLike
            The GPU; by its properties, their file or the name of a preset ("B200"), one that need
            not be there.
        heuristics : str or sequence of str
            Modes to ask.
        selection : Selection, optional
            What it does not want is marked so.
        compile : bool
            Whether to compile engines of runtime fusion too, which takes up to a second for each
            config. Otherwise theirs are "accepted": cuDNN checked all but the compilation.
            Plans of precompiled engines are always made, which takes a tenth of a millisecond.
        sm_count : int, optional
            How many multiprocessors to use.
        progress : bool, optional
            Whether to draw a progress bar; by default on a terminal, when engines are compiled.

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
        from .building import as_modes
        from .explaining.advising import advise
        from .explaining.examination import explain
        from .explaining.probing import Conditions
        from .tuning.progress import progress_bar

        device = as_device(device)
        modes, expansion = as_modes(heuristics), self.expansion(device)
        wanted = self._wanted(expansion, selection, device=device)
        compile = flag("compile", compile)
        with progress_bar("explaining", progress if compile else bool(progress)) as noted:
            told = explain(
                expansion,
                device,
                modes,
                name=self.name,
                selection=wanted,
                compile=compile,
                sm_count=sm_count,
                noted=noted,
            )
        asked = Conditions(device, tuple(modes), wanted, compile, sm_count)
        return replace(told, adviser=partial(advise, cast("Graph", self).replaced(), asked))

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
        sm_count: int | None = None,
        progress: bool | None = None,
        cache: bool | str | PathLike[str] | PlanCache | None = None,
        executor: Executor | None = None,
        devices: Sequence[int] = (),
    ) -> Autotuning:
        """Measure the plans that there are on a GPU, and keep the fastest as the graph's plan.

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
        heuristics : str or sequence of str
            Modes whose proposals are measured.
        selection : Selection, optional
            Measure only what meets these conditions.
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
        sm_count : int, optional
            How many multiprocessors to use.
        progress : bool, optional
            Whether to draw a progress bar; by default on a terminal.
        cache : bool, str, os.PathLike or PlanCache, optional
            The plan cache that keeps the result, as for `build`. From then on `build` with this
            cache takes the fastest plan instead of asking heuristics, in every process, for the
            same graph, GPU, versions, `selection` and `sm_count`. Results without a selection serve
            builds with one, too: then the fastest that meets it. A second autotuning measures anew
            and takes the place of the first.
        executor : concurrent.futures.Executor, optional
            Whose workers measure: a ``ProcessPoolExecutor`` that spawns, a ``ThreadPoolExecutor``,
            the ``get_executor()`` of a Dask client. Each uses the GPU that is current for it, which
            must be of the same kind as the handle's, with the same cuDNN. Workers that share a GPU
            compile at the same time and measure in turn. What the workers get of `memory` are
            copies, so it may be NumPy arrays. A config whose worker dies is noted as failed; the
            others are measured all the same.
        devices : sequence of int, optional
            Numbers of the GPUs that the workers use instead, each by one worker at a time.

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

        Examples
        --------
        >>> spawning = multiprocessing.get_context("spawn")  # doctest: +SKIP
        >>> with ProcessPoolExecutor(2, spawning) as executor:  # doctest: +SKIP
        ...     tuned = graph.autotune(handle, executor=executor, devices=[0, 1])
        """
        from .building import as_modes
        from .cache.cached_building import keep_tuning
        from .cache.plan_cache import as_cache
        from .judging.probation import checked, checked_proposals
        from .tuning.autotuning import autotune, check_handle
        from .tuning.measurement import Settings
        from .tuning.spread import checked_executor, spread_autotune

        numbers = checked_executor(executor, devices)
        modes, expansion, plans = as_modes(heuristics), self.expansion(handle), as_cache(cache)
        wanted = self._wanted(expansion, selection)
        settings = Settings(runs, warm_up, budget, knobs, cold_cache)
        check_handle(handle)
        known = checked_proposals(
            self, expansion, handle, modes, every_engine=every_engine, sm_count=sm_count
        )
        wanted = wanted.passing_over(known)
        options: dict[str, Any] = {
            "selection": wanted,
            "every_engine": every_engine,
            "sm_count": sm_count,
            "progress": progress,
        }
        tune: Any = autotune
        if executor is not None:
            tune, options = spread_autotune, {**options, "executor": executor, "devices": numbers}
        result: Autotuning
        while True:
            result, plan = tune(self, expansion, handle, memory or {}, modes, settings, **options)
            best = [result.best.choice]
            known = checked(self, expansion, handle, best, sm_count=sm_count)
            if not known.fault(result.best.choice):
                break
            plan.close()
            options["selection"] = wanted.passing_over(known)
        if plans is not None:
            keep_tuning(plans, expansion, handle, result, plan, selection=wanted, sm_count=sm_count)
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
        sm_count: int | None = None,
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
        heuristics : str or sequence of str
            Modes that are asked for configs. Engines that they do not propose are judged too.
        selection : Selection, optional
            Judge only what meets these conditions.
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
        sm_count : int, optional
            How many multiprocessors to use.
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
        from .building import as_modes
        from .judging.judging import checked_kinds, judge
        from .judging.kept import keep_verdicts
        from .judging.trial import expanded
        from .tuning.autotuning import check_gpu
        from .tuning.progress import progress_bar

        check_gpu(handle, "judged")
        modes, kinds = as_modes(heuristics), checked_kinds(data)
        described = flag("despite_faults", despite_faults)
        expansion = expanded(self, handle) if described else self.expansion(handle)
        wanted = self._wanted(expansion, selection)
        with progress_bar("judging", progress) as advance:
            judged = judge(
                self,
                expansion,
                handle,
                memory or {},
                modes,
                selection=wanted,
                knobs=integer("knobs", knobs, least=0),
                kinds=kinds,
                runs=integer("runs", runs, least=1),
                despite_faults=described,
                sm_count=sm_count,
                noted=lambda verdict, total: advance(str(verdict.choice), total),
            )
        if flag("keep", keep):
            keep_verdicts(expansion, handle, judged.verdicts)
        return judged

    def _region(self) -> Region | None:
        """The engine of the graph's plan, for pictures; None if it is not built."""
        plan = self._plan
        if plan is None or plan.descriptor.closed:
            return None
        from .explaining.plan_region import plan_region

        return plan_region(plan)
