"""The same random graphs through NVIDIA's Python front end and through this package's.

``python -m tools.fuzz front_ends --cases 500 --out FOLDER`` draws the graphs of ``tools.fuzz
broadcasts``, describes them by the names of `pygraph`, builds each as a user would, with the plan
that comes first, and compares the result with float64. Cases run in children, those of the two
front ends in different ones. The table at the end counts graphs by main operation; the exit status
is 1 if this package gave a wrong number or lost a context. It needs PyTorch and
nvidia-cudnn-frontend.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cudnn_ctypes.dtypes import data_type_name
from cudnn_ctypes.graph.backend.children import Spent, outcomes

from .broadcast_graphs import MAINS, Sketch, draw
from .numbers import compared
from .oracle import deviations
from .workers import add_arguments, in_processes, seeds_of

__all__ = ["main"]

_SIDES = {"theirs": "cudnn", "ours": "cudnn_ctypes.frontend"}
_DRAWN = {name: MAINS[name] for name in ("none", "convolution", "matmul")}
_TYPES = {"float16": "HALF", "bfloat16": "BFLOAT16", "float32": "FLOAT"}


class _Tensor:
    """A tensor of a `pygraph`, with what a sketch calls."""

    def __init__(self, described: Any, types: Any) -> None:
        self.described, self._types = described, types

    def set_output(
        self, is_output: bool = True, *, name: str = "", data_type: str = "",
        dims: Sequence[int] = (), strides: Sequence[int] = (),
    ) -> _Tensor:  # fmt: skip
        if is_output:
            self.described.set_output(True)
        if name:
            self.described.set_name(name)
        if data_type:
            self.described.set_data_type(getattr(self._types, _TYPES[data_type]))
        if dims:
            self.described.set_dim(list(dims))
        if strides:
            self.described.set_stride(list(strides))
        return self


class _Graph:
    """A `pygraph`, with the methods of a graph that a sketch calls."""

    def __init__(self, module: Any, io: str, handle: Any) -> None:
        types = module.data_type
        self.module, self.inputs = module, dict[str, Any]()
        self.graph = module.pygraph(
            io_data_type=getattr(types, _TYPES[io]),
            intermediate_data_type=types.FLOAT,
            compute_data_type=types.FLOAT,
            handle=handle,
        )

    def tensor(self, dims: Any, strides: Any, data_type: str, *, name: str) -> _Tensor:
        kind = getattr(self.module.data_type, _TYPES[data_type])
        made = self.graph.tensor(
            dim=list(dims), stride=list(strides), data_type=kind, name=name
        )  # fmt: skip
        self.inputs[name] = made
        return self._of(made)

    def _of(self, described: Any) -> _Tensor:
        return _Tensor(described, self.module.data_type)

    def matmul(self, a: _Tensor, b: _Tensor) -> _Tensor:
        return self._of(self.graph.matmul(a.described, b.described))

    def __getattr__(self, name: str) -> Callable[..., _Tensor]:
        method = getattr(self.graph, name)

        def call(*operands: _Tensor, **more: Sequence[int]) -> _Tensor:
            return self._of(method(*(each.described for each in operands), **more))

        return call


def _ran(case: Any, module: Any, handle: Any) -> str:
    """Whether a graph is computed right by the plan that comes first."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    graph, alone = _Graph(module, case["io"], handle), Sketch(case)
    y_of_ours = alone.result()
    nodes, values = alone.graph.validate(), alone.values()
    try:
        made = Sketch(case, graph).result()
        built = graph.graph
        built.validate()
        built.build_operation_graph()
        built.create_execution_plans([module.heur_mode.A, module.heur_mode.FALLBACK])
        built.check_support()
        built.build_plans()
        room = max(built.get_workspace_size(), 1)
    except Exception as error:  # of either front end, which have classes of their own
        return f"refused: {type(error).__name__}: {error}"[:200]
    y = torch.empty_strided(
        y_of_ours.dims, made.described.get_stride(), dtype=getattr(torch, case["out"]),
        device=device,
    ).fill_(torch.nan)  # fmt: skip
    pack = {made.described: y}
    for each in alone.graph.inputs:
        described = graph.inputs[each.name]
        laid_out = torch.empty_strided(
            described.get_dim(), described.get_stride(), device=device,
            dtype=getattr(torch, data_type_name(each.data_type)),
        )  # fmt: skip
        pack[described] = laid_out.copy_(torch.from_numpy(values[each.name].astype(np.float32)))
    workspace = torch.full((room,), 255, dtype=torch.uint8, device=device)
    _settle(torch)
    built.execute(pack, workspace, handle=handle)
    _settle(torch)
    exact, spread = deviations(nodes, values, case["seed"])
    return compared(y_of_ours, y.double().cpu().numpy(), exact["y"], spread["y"]) or "right"


def _settle(torch: Any) -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


_UNTRIED = ('"scale"', '"index"', '"kept": "')  # numbers by value, indices, several outputs


def _worker(options: argparse.Namespace, number: int) -> None:
    start = time.monotonic()
    drawn = [draw(seed, _DRAWN) for seed in seeds_of(options, number)]
    todo = [case for case in drawn if not any(each in json.dumps(case) for each in _UNTRIED)]

    def prepare(side: str, note: Callable[[str], None]) -> Callable[[Any], str]:
        deadline = start + options.seconds * (1 + list(_SIDES).index(side))
        module = importlib.import_module(_SIDES[side])
        handle = module.create_handle()

        def perform(case: Any) -> str:
            if time.monotonic() > deadline:
                return "late"
            try:
                return _ran(case, module, handle)
            except Exception as error:
                raise Spent(f"lost: {error}"[:200]) from None

        return perform

    with open(options.out / f"{number}.jsonl", "w") as file:
        for side in _SIDES:
            made = functools.partial(prepare, side)
            for each in outcomes(todo, made, seconds=60, megabytes=8192, maps_a_gpu=True):
                result = f"lost: {each.result}" if each.died else each.result
                if result != "late":
                    line = {"side": side, "case": each.case, "result": result}
                    print(json.dumps(line), file=file, flush=True)


def _table(folder: Path) -> bool:
    """Print counts of graphs by main operation; whether none of ours was wrong or lost."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for path in folder.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            found = json.loads(line)
            count = counts.setdefault((found["case"]["main"], found["side"]), Counter())
            count[found["result"].split(":")[0]] += 1
    for (name, side), count in sorted(counts.items()):
        told = ", ".join(f"{number} {kind}" for kind, number in sorted(count.items()))
        print(f"{name}, {side}: {told}")
    ours = [count for (_, side), count in counts.items() if side == "ours"]
    return not any(count[kind] for count in ours for kind in ("wrong", "lost"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz front_ends",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    in_processes(options.processes, functools.partial(_worker, options), 2 * options.seconds)
    return int(not _table(options.out))
