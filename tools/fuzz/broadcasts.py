"""Search graphs with operands smaller than the result for wrong numbers, engine by engine.

``python -m tools.fuzz broadcasts --prepared --cases 2000 --out FOLDER`` draws graphs of one main
operation, or of none, with element-wise operations before and after it whose operands are whole or
1 in each dimension (`broadcast_graphs`). Each engine that heuristics propose is executed on
poisoned memory between guards and compared with `oracle`, also those that the table of faults
passes over: what the table says of each is written beside what was found. Without ``--prepared``
nothing is computed beforehand: operands are described to cuDNN as they are. ``--alone`` draws main
operations without others, and more configs of each engine. Cases run in children, since some end
the CUDA context. ``--build-only H200`` only compiles, without a GPU; ``--again
FOLDER`` takes the cases that were recorded there.

``FOLDER/NUMBER.jsonl`` has a line for each case: the case, what the table refuses, and of each
engine "right", "wrong: …", "undecided", "writes beyond: …", "refused: …", "built" or "lost".
`campaign` counts them at the end. The exit status is 1 if a plan that the table accepts was not
right.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.errors import CudnnError
from cudnn_ctypes.graph import DeviceProperties, EngineConfig, ExecutionPlan, Tensor
from cudnn_ctypes.graph.backend.children import Child, Spent, outcomes
from cudnn_ctypes.graph.backend.engine import heuristics
from cudnn_ctypes.graph.engines.cache.cached_building import scratch_of
from cudnn_ctypes.graph.engines.refusals import refusal
from cudnn_ctypes.graph.lower.lowering import graph_faults, lowered
from cudnn_ctypes.graph.lower.target import NO_GPU, Target

from . import campaign
from .broadcast_graphs import MAINS, Case, Sketch, described, draw, draw_alone
from .numbers import compared as differs
from .oracle import deviations
from .workers import add_arguments, in_processes, seeds_of

__all__ = ["compared", "main"]

_GUARD = 512  # elements before and after a result
_CASES = 150  # of one child
_RUNS = (4, 32)  # with rounding: few, and more before a result is called wrong
_SAMPLED = {False: 0.25, True: 2.0}  # configs beyond the first of each engine, by --alone

Exact = tuple[Mapping[str, Any], Mapping[str, Any]]


def exactly(case: Case, runs: int) -> Exact:
    """All results of a case by name, and by how much rounding changed them at most in `runs`."""
    sketch = Sketch(case)
    sketch.result()
    return deviations(sketch.graph.validate(), sketch.values(), case["seed"], runs=runs)


def compared(
    case: Case,
    device: Handle | DeviceProperties,
    note: Callable[[str], None],
    *,
    prepared: bool = True,
    exact: Callable[[Case, int], Exact] = exactly,
) -> dict[str, Any]:
    """What the table of faults says of a case, and what became of its engines."""
    begun, target = time.monotonic(), Target.of(device)
    try:
        sketch, expansion = described(case, target, prepared=prepared)
    except (ValueError, TypeError) as error:
        return {"engines": {}, "invalid": str(error)[:120]}
    graph, values = sketch.graph, sketch.values()
    faults = graph_faults(expansion, device)
    engines: dict[str, str] = {}
    found: dict[str, Any] = {
        "cudnn": target.version,
        "capability": target.capability,
        "small": target.small,
        "refused": [each.message for each in faults.found if each.refuses],
        "passed_over": sorted(faults.engines),
        "beforehand": len(expansion.preludes),
        "form": campaign.digest(expansion),
        "engines": engines,
    }

    expected = functools.cache(functools.partial(exact, case))
    with ExitStack() as stack:
        memory: dict[int, Any] = {}
        for each in graph.inputs if isinstance(device, Handle) else ():
            if not each.by_value:
                given = DeviceTensor.from_numpy(
                    values[each.name], dtype=each.data_type, strides=each.strides
                )
                stack.callback(given.close)
                memory[each.uid or 0] = given
        try:
            lowering = stack.enter_context(lowered(expansion, device, NO_GPU))
            sampled = _SAMPLED["dims" in case]
            configs = list(_configs(lowering.graph, device, case["seed"], sampled))
            for config in configs:
                stack.callback(config.close)
            if configs:  # what is computed beforehand takes long to compile
                scratch = stack.enter_context(closing(scratch_of(expansion, device)))
        except CudnnError as error:
            return found | {"unsupported": str(refusal(error))[:120]}
        configs.sort(key=lambda each: each.choice.engine in faults.engines)  # may lose the context
        for config in configs:
            choice = str(config.choice)
            note(json.dumps(found | {"lost": choice}))
            try:
                with ExecutionPlan(config, device=device) as plan:
                    plan.scratch = scratch.borrowed()
                    engines[choice] = "built"
                    if isinstance(device, Handle):
                        engines[choice] = _verdict(plan, graph.outputs, expected, memory, device)
            except CudnnError as error:
                if error.status.name.startswith("CUDNN_STATUS_EXECUTION_FAILED"):
                    engines[choice] = "lost"
                    raise Spent(json.dumps(found)) from error
                engines[choice] = f"refused: {str(refusal(error))[:100]}"
            except RuntimeError:  # of the driver: the context is lost
                engines[choice] = "lost"
                raise Spent(json.dumps(found)) from None
    found["seconds"] = round(time.monotonic() - begun, 2)
    return found


def _configs(
    graph: Any, device: Handle | DeviceProperties, seed: int, sampled: float
) -> Iterator[EngineConfig]:
    """The first config of each engine, and some of the others, about `sampled`."""
    rng, engines, tried = random.Random(seed), set(), set()
    for mode in ("a", "fallback"):
        try:
            proposed = heuristics(graph, device=device, mode=mode)
        except CudnnError:
            continue
        for config in proposed:
            choice = config.choice
            wanted = choice.engine not in engines or rng.random() < sampled / len(proposed)
            if choice in tried or not wanted:
                config.close()
                continue
            engines.add(choice.engine)
            tried.add(choice)
            yield config


def _verdict(
    plan: ExecutionPlan,
    outputs: Sequence[Tensor],
    expected: Callable[[int], Exact],
    memory: Mapping[int, Any],
    handle: Handle,
) -> str:
    with ExitStack() as stack:
        operands, around = dict(memory), {}
        for each in outputs:
            kind = numpy_dtype(each.data_type)
            poison = np.full(_reach(each) + 2 * _GUARD, np.nan, kind)
            around[each.name] = stack.enter_context(
                closing(DeviceTensor.from_numpy(poison, dtype=each.data_type))
            )
            operands[each.uid or 0] = around[each.name].ptr + _GUARD * kind.itemsize
        workspace = stack.enter_context(DeviceBuffer(plan.workspace_size + 1024))
        workspace.fill(255)
        plan.execute(handle, operands, workspace)
        handle.synchronize()
        results = {}
        for each in outputs:
            whole = around[each.name].numpy()
            guards = np.concatenate([whole[:_GUARD], whole[-_GUARD:]]).astype(np.float32)
            if not np.isnan(guards).all():
                return f"writes beyond: {each.name}"
            steps = [step * whole.itemsize for step in each.strides or ()]
            result = np.lib.stride_tricks.as_strided(whole[_GUARD:], each.dims, steps)
            results[each] = result.astype(np.float64)
    for runs in _RUNS:
        known = expected(runs)
        verdicts = [
            differs(each, result, *(np.broadcast_to(of[each.name], each.dims) for of in known))
            for each, result in results.items()
        ]
        wrong = [each for each in verdicts if each.startswith("wrong")]
        if not wrong:
            break
    return "; ".join(wrong) or next(filter(None, verdicts), "right")


def _reach(tensor: Tensor) -> int:
    steps = zip(tensor.dims or (), tensor.strides or (), strict=True)
    return 1 + sum((size - 1) * step for size, step in steps)


def _worker(options: argparse.Namespace, number: int) -> None:
    weights = {name: MAINS[name] or 1 for name in options.mains}
    drawn = draw_alone if options.alone else draw
    todo, case_of = seeds_of(options, number), functools.partial(drawn, mains=weights)
    if options.again:
        cases = [each["case"] for each in campaign.records(options.again)]
        todo, case_of = range(number, len(cases), options.processes), cases.__getitem__
    deadline = time.monotonic() + options.seconds

    def prepare(note: Callable[[str], None]) -> Callable[[int], str]:
        only = options.build_only
        # PyTorch brings a cuDNN of its own, which must not meet the one that is measured.
        other: Child[tuple[Case, int]] = Child(
            lambda note: lambda asked: exactly(*asked), maps_a_gpu=True, megabytes=8192
        )
        device = DeviceProperties.preset(only) if only else Handle()
        left = iter(range(_CASES))

        def perform(place: int) -> str:
            if time.monotonic() > deadline:
                return json.dumps({"late": True})
            found = compared(
                case_of(place),
                device,
                note,
                prepared=options.prepared,
                exact=lambda *asked: other.perform(asked, 100).result,
            )
            result = json.dumps(found)
            if next(left, None) is None:
                raise Spent(result)
            return result

        return perform

    gpu = not options.build_only
    with open(options.out / f"{number}.jsonl", "w") as file:
        for each in outcomes(todo, prepare, seconds=120, megabytes=8192, maps_a_gpu=gpu):
            found = json.loads((each.note if each.died else each.result) or "{}")
            if each.died and each.result.startswith("exit"):
                found["error"] = each.printed  # of this tool
            elif each.died:
                found.setdefault("engines", {})[found.get("lost", "?")] = f"lost: {each.result}"
            if not found.get("late"):
                line = {"case": case_of(each.case), **found}
                print(json.dumps(line), file=file, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz broadcasts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = [name for name, often in MAINS.items() if often]
    parser.add_argument("--mains", nargs="+", choices=MAINS, default=default)
    add_arguments(parser)
    parser.add_argument(
        "--prepared", action="store_true", help="describe operands to cuDNN as a build does"
    )
    parser.add_argument("--alone", action="store_true", help="draw main operations without others")
    parser.add_argument("--build-only", metavar="GPU", help="compile for a GPU that is not here")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--again", type=Path, nargs="+", help="folders with recorded cases")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    in_processes(options.processes, functools.partial(_worker, options), options.seconds)
    return campaign.main([str(options.out)])
