"""Search random graphs for silent wrong numbers, against a float64 oracle.

``python -m tools.fuzz numbers --cases 1000`` draws so many graphs of each family from a seed,
builds each for the GPU, executes it on poisoned memory and compares with `oracle`. ``--reference``
takes the reference device, which carries out what no engine takes, too, and so checks this tool.
Attention has a search of its own, `attentions`.

A result is right if no element is further from the exact one than eight times what rounding in
the graph's data types does to the whole tensor at most, which `oracle.deviations` measures for
this very graph and these numbers. Elements on which rounding decides, at a jump of a comparison
say, are left out. Each wrong case is printed as JSON; ``--replay`` runs it again.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import ml_dtypes
import numpy as np

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, use_reference_device
from cudnn_ctypes.dtypes import data_type_name, numpy_dtype
from cudnn_ctypes.errors import CudnnError, SymbolNotFoundError
from cudnn_ctypes.graph import Graph
from cudnn_ctypes.graph.backend.children import Spent, outcomes
from cudnn_ctypes.graph.engines.refusals import refusal

from .oracle import UNITS, deviations
from .random_graphs import FAMILIES, describe, draw, prepare

__all__ = ["NAMES", "compared", "executed", "main", "run", "survey"]

NAMES = tuple(FAMILIES)
_FACTOR = 8  # times what rounding does
_JUMP = 2.0**-4  # of the largest element: rounding decides there
_CASES = 200  # of one child


def run(case: dict[str, Any], handle: Handle) -> str:
    """What became of one case: "right", "refused: …", "wrong: …", "warned of: …" or "undecided"."""
    with describe(case) as graph:
        try:
            nodes = graph.validate()
            graph.build(handle, without_engine=handle.on_reference_device)
        except CudnnError as error:
            return f"refused: {str(refusal(error))[:100]}"
        except (ValueError, SymbolNotFoundError) as error:
            return f"refused by cudnn_ctypes: {str(error)[:100]}"
        rng = np.random.default_rng(case["seed"])
        arrays = {
            each.name: rng.uniform(-2, 2, each.dims).astype(numpy_dtype(each.data_type))
            for each in graph.inputs
        }
        prepare(case, arrays)
        exact, spread = deviations(nodes, arrays, case["seed"])
        found = executed(graph, arrays, handle)
        problems = [
            problem
            for each in graph.outputs
            if (problem := compared(each, found[each.name], exact[each.name], spread[each.name]))
        ]
    return "; ".join(problems) or "right"


def executed(graph: Graph, arrays: dict[str, Any], handle: Handle) -> dict[str, Any]:
    """The outputs of a built graph for these inputs, as float64, from poisoned memory."""
    with ExitStack() as stack:
        memory: dict[Any, Any] = {}
        for tensor in (*graph.inputs, *graph.outputs):
            array = arrays.get(tensor.name)
            if array is None:
                array = np.full(tensor.dims, 77.0).astype(numpy_dtype(tensor.data_type))
            memory[tensor] = DeviceTensor.from_numpy(
                array, dtype=tensor.data_type, strides=tensor.strides
            )
            stack.callback(memory[tensor].close)
        workspace = stack.enter_context(DeviceBuffer(max(graph.workspace_size, 1)))
        workspace.fill(255)  # not a number
        graph.execute(memory, workspace)
        handle.synchronize()
        return {each.name: memory[each].numpy().astype(np.float64) for each in graph.outputs}


def compared(tensor: Any, result: Any, exact: Any, spread: Any) -> str:
    """Why a result is wrong, "undecided" where rounding decides too much of it, or "".

    What its data type cannot hold may be infinite or the largest number.
    """
    if data_type_name(tensor.data_type) in UNITS:
        largest = float(ml_dtypes.finfo(numpy_dtype(tensor.data_type)).max)
        exact, result = (np.clip(each, -largest, largest) for each in (exact, result))
    scale = max(float(np.abs(exact).max()), 1e-30)
    decided = spread <= _JUMP * scale
    if decided.mean() < 0.9:
        return "undecided"
    unit = UNITS.get(data_type_name(tensor.data_type), 0.0)
    allowed = _FACTOR * max(float(spread[decided].max(initial=0)), unit * scale)
    error = np.where(decided, np.abs(result - exact), 0)
    if not np.isfinite(result[decided]).all() or error.max() > allowed:
        return f"wrong: {tensor.name} by {error.max() / scale:.1e}, allowed {allowed / scale:.1e}"
    return ""


def survey(
    todo: Sequence[dict[str, Any]], *, reference: bool
) -> Sequence[tuple[dict[str, Any], str]]:
    """Cases with their results; each child has a handle of its own."""

    def prepare(note: Callable[[str], None]) -> Callable[[dict[str, Any]], str]:
        if reference:
            use_reference_device()
        handle, left = Handle(), iter(range(_CASES))

        def perform(case: dict[str, Any]) -> str:
            try:
                result = run(case, handle)
                handle.synchronize()
            except Exception as error:
                raise Spent(f"error: {type(error).__name__}: {error}") from error
            if next(left, None) is None:
                raise Spent(result)
            return result

        return perform

    return [
        (each.case, f"died: {each.result}" if each.died else each.result)
        for each in outcomes(todo, prepare, seconds=180, megabytes=8192, maps_a_gpu=not reference)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz numbers", description=__doc__)
    parser.add_argument("--families", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--cases", type=int, default=100, help="of each family")
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--reference", action="store_true", help="on the reference device")
    parser.add_argument("--replay", help="run one case, given as JSON, in this process")
    options = parser.parse_args(arguments)
    if options.replay:
        if options.reference:
            use_reference_device()
        with Handle() as handle:
            print(run(json.loads(options.replay), handle))
        return 0
    bad = 0
    for family in options.families:
        todo = [draw(family, options.seed + number) for number in range(options.cases)]
        counts: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        for case, result in survey(todo, reference=options.reference):
            kind = result.split(":")[0]
            counts[kind] += 1
            if kind.startswith("refused"):
                reasons[result] += 1
            elif kind not in ("right", "undecided", "warned of"):
                bad += 1
                print(f"{result}\n    {json.dumps(case)}", flush=True)
        print(f"{family}: {', '.join(f'{n} {kind}' for kind, n in counts.most_common())}")
        for reason, count in reasons.most_common(8):
            print(f"    {count:5} {reason}")
    return int(bad > 0)
