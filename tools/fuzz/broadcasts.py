"""Search graphs with operands smaller than the result for wrong numbers, engine by engine.

``python -m tools.fuzz broadcasts --cases 2000 --out FOLDER`` draws graphs of one main operation, or
of none, with element-wise operations before and after it whose operands are whole or 1 in each
dimension. Each engine that heuristics propose is executed on poisoned memory between guards and
compared with float64, also those that the table of faults passes over: what the table says of each
is written beside what was found. Without ``--prepared`` operands are described to cuDNN as they
are, or in other forms of the same memory. Cases run in children, since some end the CUDA context.

``FOLDER/NUMBER.jsonl`` has a line for each case: the case, what the table refuses, and of each
engine "right", "wrong: …", "writes beyond: …", "refused: …" or "lost". The table at the end counts
plans by main operation. The exit status is 1 if a plan that the table accepts was not right.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.errors import CudnnError
from cudnn_ctypes.graph import EngineConfig, ExecutionPlan, Graph, Tensor
from cudnn_ctypes.graph.backend.children import Spent, outcomes
from cudnn_ctypes.graph.describe.node import Node
from cudnn_ctypes.graph.engines.cache.cached_building import scratch_of
from cudnn_ctypes.graph.engines.heuristics import heuristics
from cudnn_ctypes.graph.engines.refusals import refusal
from cudnn_ctypes.graph.lower import lowering as lowering_module
from cudnn_ctypes.graph.lower.broadcasts import Side
from cudnn_ctypes.graph.lower.faults import Graph as Lowered
from cudnn_ctypes.graph.lower.faults import faults_of
from cudnn_ctypes.graph.lower.flattening import View, flattened
from cudnn_ctypes.graph.lower.lowering import lowered
from cudnn_ctypes.graph.lower.target import NO_GPU, Target
from cudnn_ctypes.raw.strides import packed

from .workers import add_arguments, in_processes, seeds_of

__all__ = ["ALLOWED", "MAINS", "Sketch", "compared", "draw", "main"]

Case = dict[str, Any]
MAINS = {
    "none": 8,
    "expand": 2,
    "conv_fprop": 6,
    "conv_dgrad": 2,
    "conv_wgrad": 2,
    "matmul": 5,
    "norm": 2,
    "resample": 2,
    "reduction": 1,
}
"""Main operations, with how often each is drawn."""
_UNARY: dict[str, Callable[[Any], Any]] = {
    "relu": lambda t: np.maximum(t, 0),
    "exp": np.exp,
    "tanh": np.tanh,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "rsqrt": lambda t: 1 / np.sqrt(t),
    "scale": lambda t: 0.5 * t,
    "sigmoid": lambda t: 1 / (1 + np.exp(-t)),
    "swish": lambda t: t / (1 + np.exp(-t)),
    "softplus": lambda t: np.log1p(np.exp(t)),
    "elu": lambda t: np.where(t > 0, t, np.expm1(t)),
    "gelu_approx_tanh": lambda t: t / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (t + 0.044715 * t**3))),
    "abs": np.abs,
    "log": np.log,
    "reciprocal": np.reciprocal,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "sub": np.subtract,
    "max": np.maximum,
}
ALLOWED = {"float32": 8e-3, "float16": 8e-3, "bfloat16": 4e-2}  # TF32 has the mantissa of float16
_GUARD = 512  # elements before and after a result
_CASES = 150  # of one child
_FORMS = ("virtual", "stretched", "stretched virtual", "rows", "rows virtual", "turned", "turned")
_SAMPLED = 0.25  # of the configs beyond the first of each engine


# --- drawing -------------------------------------------------------------------------------------


def draw(seed: int, mains: Mapping[str, int] = MAINS) -> Case:
    """The case of this seed."""
    rng = random.Random(f"broadcasts {seed}")
    kind = rng.choices(list(mains), list(mains.values()))[0]
    io = rng.choice(["float16", "float16", "bfloat16", "float32"])
    case: Case = {"seed": seed, "main": kind, "io": io}
    if kind == "none":
        rank = rng.choice([2, 3, 3, 4, 4, 5])
        full = [rng.choice([1, 2, 3, 7, 8, 16, 33, 64, 128]) for _ in range(rank)]
        if rank == 4 and rng.random() < 0.25:
            full[2] = full[3] = 1
        while math.prod(full) > 1 << 19:
            full[rng.randrange(rank)] = rng.choice([1, 2, 3])
        case |= {"full": full, "first": full, "last": rank >= 4 and rng.random() < 0.5}
    elif kind == "expand":
        rank = rng.choice([3, 3, 4])
        full = [rng.choice([1, 2, 3, 7, 8, 16, 33, 64]) for _ in range(rank)]
        first = [size if rng.random() < 0.5 else 1 for size in full]
        case |= {"full": full, "first": first, "last": rank == 4 and rng.random() < 0.7}
        case["function"] = rng.choice(["identity", *_UNARY])
    elif kind.startswith("conv"):
        rank = rng.choice([1, 2, 2, 2, 3])
        n, c, k = rng.choice([1, 2, 5, 8]), rng.choice([8, 16, 32]), rng.choice([8, 16, 64])
        image = [rng.choice([4, 5, 8, 9]) for _ in range(rank)]
        if rng.random() < 0.15:
            image = [1] * rank
        window = [rng.choice([1, 3]) for _ in range(rank)]
        x, w, y = [n, c, *image], [k, c, *window], [n, k, *image]
        first, full = {
            "conv_fprop": (x, y),
            "conv_dgrad": (y, x),
            "conv_wgrad": (x, w),
        }[kind]
        case |= {"full": full, "first": first, "x": x, "w": w, "y": y}
        case["last"] = rng.random() < 0.85
    elif kind == "matmul":
        b = [rng.choice([1, 2, 3]) for _ in range(rng.choice([1, 1, 2]))]
        m, k, n = (rng.choice([1, 8, 16, 40, 64, 100, 128]) for _ in range(3))
        case |= {"first": [*b, m, k], "second": [*b, k, n], "full": [*b, m, n], "last": False}
    elif kind == "norm":
        full = [rng.choice([1, 8, 64, 100]), rng.choice([64, 128, 256]), 1, 1]
        case |= {"full": full, "first": full, "last": True}
        case["mode"] = rng.choice(["layernorm", "rmsnorm"])
    elif kind == "resample":
        full = [rng.choice([1, 2, 5]), rng.choice([8, 16, 64]), *rng.choices([2, 4, 5], k=2)]
        first = [*full[:2], *(2 * size for size in full[2:])]
        case |= {"full": full, "first": first, "last": rng.random() < 0.9}
        case["mode"] = rng.choice(["maxpool", "avgpool"])
    else:
        rank = rng.choice([3, 4])
        first = [rng.choice([2, 3, 8, 16, 40]) for _ in range(rank)]
        axes = rng.choice([[1], [0, 2, 3], [rank - 1], [0], list(range(rank))])
        axes = [axis for axis in axes if axis < rank]
        full = [1 if axis in axes else size for axis, size in enumerate(first)]
        case |= {"first": first, "full": full, "last": rank == 4 and rng.random() < 0.5}
        case["mode"] = rng.choice(["add", "max"])
    often = {"none": 0.0, "expand": 0.0, "reduction": 1.0}.get(kind, 0.35)
    before = [_operand(rng, case["first"], io)] if rng.random() < often else []
    after = [_operand(rng, case["full"], io) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    if before and (kind == "reduction" or rng.random() < 0.5):
        after = after[:-1]
    if kind == "expand" and rng.random() < 0.7:
        after = []
    case |= {"before": before, "after": after}
    case["small_first"] = len(after) > 1 and rng.random() < 0.35
    case["tail"] = rng.choice([None, None, None, "relu", "tanh"])
    case["out"] = rng.choice([io, "float32"])
    case["flattened"] = rng.random() < 0.85
    case["form"] = rng.choice(_FORMS) if rng.random() < 0.4 else "as is"
    case["settled"] = rng.random() < 0.7
    return case


def _operand(rng: random.Random, full: Sequence[int], io: str) -> Case:
    whole = rng.choice([0.3, 0.5, 0.7])
    return {
        "dims": [size if rng.random() < whole else 1 for size in full],
        "function": rng.choice([None, None, *_UNARY]),
        "join": rng.choice(list(_BINARY)),
        "type": rng.choice([io, io, "float32"]),
        "swapped": rng.random() < 0.2,
        "packed": rng.random() < 0.1,  # though the result may be channels-last
        "order": rng.sample(range(len(full)), len(full)) if rng.random() < 0.15 else None,
    }


# --- describing, and the same in float64 ---------------------------------------------------------


def _strides(dims: Sequence[int], last: bool) -> tuple[int, ...]:
    return packed(dims, (0, *range(2, len(dims)), 1) if last else None)


class Sketch:
    """The graph of a case, with the values of its operands and its exact result."""

    def __init__(self, case: Case, graph: Any = None) -> None:
        self.case = case
        self.rng = np.random.default_rng(case["seed"])
        self.graph = Graph(io_data_type=case["io"]) if graph is None else graph
        self.values: dict[str, Any] = {}
        self.types: dict[str, str] = {}

    def tensor(
        self,
        name: str,
        dims: Sequence[int],
        kind: str,
        *,
        last: bool,
        low: float,
        scale: float = 1,
        order: Sequence[int] | None = None,
    ) -> tuple[Tensor, Any]:
        value = (self.rng.uniform(low, 1.5, dims) * scale).astype(numpy_dtype(kind))
        self.values[name], self.types[name] = value, kind
        strides = _strides(dims, last) if order is None else packed(dims, order)
        made = self.graph.tensor(dims, strides, data_type=kind, name=name)
        return made, value.astype(np.float64)

    def function(self, name: str, operand: tuple[Tensor, Any]) -> tuple[Tensor, Any]:
        tensor, value = operand
        if name == "scale":
            return self.graph.mul(tensor, 0.5), _UNARY[name](value)
        return getattr(self.graph, name)(tensor), _UNARY.get(name, np.positive)(value)

    def joined(
        self, first: tuple[Tensor, Any], second: tuple[Tensor, Any], each: Case
    ) -> tuple[Tensor, Any]:
        if each["swapped"]:
            first, second = second, first
        made = getattr(self.graph, each["join"])(first[0], second[0])
        return made, _BINARY[each["join"]](first[1], second[1])

    def operand(self, name: str, each: Case) -> tuple[Tensor, Any]:
        last = self.case["last"] and not each["packed"]
        order = None if self.case["main"].startswith("conv") else each.get("order")
        made = self.tensor(name, each["dims"], each["type"], last=last, low=0.5, order=order)
        return self.function(each["function"], made) if each["function"] else made

    def result(self) -> tuple[Tensor, Any]:
        case = self.case
        scale = 1.0
        if case["main"] == "matmul":
            scale = 2 / math.sqrt(case["first"][-1])
        elif case["main"].startswith("conv"):
            scale = 2 / math.sqrt(math.prod(case["w"][1:]))
        low = 0.5 if case["main"] == "expand" else -1.5
        made = self.tensor("x", case["first"], case["io"], last=case["last"], low=low)
        for number, each in enumerate(case["before"]):
            made = self.joined(made, self.operand(f"p{number}", each), each)
        if case["main"] == "expand":
            made = self.function(case["function"], made)
        else:
            made = self.main(made, scale)
        operands = [self.operand(f"t{n}", each) for n, each in enumerate(case["after"])]
        if case["small_first"]:
            small = operands[0]
            for each, other in zip(case["after"][1:], operands[1:], strict=True):
                small = self.joined(small, other, each)
            made = self.joined(made, small, case["after"][0])
        else:
            for each, other in zip(case["after"], operands, strict=True):
                made = self.joined(made, other, each)
        if case["tail"]:
            made = self.function(case["tail"], made)
        tensor, value = made
        strides = _strides(case["full"], case["last"])
        tensor.set_output(name="y", data_type=case["out"])
        if case["main"] != "expand":
            tensor.set_output(dims=case["full"], strides=strides)
        return tensor, np.broadcast_to(value, case["full"])

    def main(self, first: tuple[Tensor, Any], scale: float) -> tuple[Tensor, Any]:
        case, kind = self.case, self.case["main"]
        if kind == "none":
            return first
        if kind == "reduction":
            axes = [a for a, n in enumerate(case["full"]) if n != case["first"][a]]
            made = self.graph.reduction(first[0], case["mode"], axes=axes)
            fold = {"add": np.sum, "max": np.max}[case["mode"]]
            return made, fold(first[1], axis=tuple(axes), keepdims=True)
        if kind == "resample":
            made = self.graph.resample(first[0], case["mode"], window=2, stride=2)[0]
            n, c, h, w = case["full"]
            tiles = np.broadcast_to(first[1], case["first"]).reshape(n, c, h, 2, w, 2)
            fold = {"maxpool": np.max, "avgpool": np.mean}[case["mode"]]
            return made, fold(tiles, axis=(3, 5))
        io, last = case["io"], case["last"]
        if kind == "norm":
            few = (1, case["full"][1], 1, 1)
            scales = self.tensor("scale", few, io, last=True, low=0.5)
            bias = (
                self.tensor("bias", few, io, last=True, low=-1) if case["mode"][0] == "l" else None
            )
            return self._normalized(first, scales, bias)
        if kind == "matmul":
            b = self.tensor("b", case["second"], io, last=False, low=-1.5, scale=scale)
            return self.graph.matmul(first[0], b[0]), first[1] @ b[1]
        padding = [size // 2 for size in case["w"][2:]]
        name, dims = ("dy", case["y"]) if kind == "conv_wgrad" else ("w", case["w"])
        other = self.tensor(name, dims, io, last=last, low=-1.5, scale=scale)
        if kind == "conv_fprop":
            made = self.graph.conv_fprop(first[0], other[0], padding=padding)
        elif kind == "conv_dgrad":
            made = self.graph.conv_dgrad(first[0], other[0], padding=padding)
        else:
            made = self.graph.conv_wgrad(first[0], other[0], padding=padding)
        made.set_output(False, dims=case["full"])
        return made, _convolution(kind, np.broadcast_to(first[1], case["first"]), other[1], case)

    def _normalized(
        self, x: tuple[Tensor, Any], scale: tuple[Tensor, Any], bias: tuple[Tensor, Any] | None
    ) -> tuple[Tensor, Any]:
        """A layer or RMS norm over channels."""
        value = np.broadcast_to(x[1], self.case["first"])
        epsilon = 1e-3
        if bias is None:
            made = self.graph.rmsnorm("inference", x[0], scale[0], None, epsilon)[0]
            return made, value / np.sqrt((value**2).mean(1, keepdims=True) + epsilon) * scale[1]
        made = self.graph.layernorm("inference", x[0], scale[0], bias[0], epsilon)[0]
        value = value - value.mean(1, keepdims=True)
        value = value / np.sqrt((value**2).mean(1, keepdims=True) + epsilon)
        return made, value * scale[1] + bias[1]


def _convolution(kind: str, first: Any, other: Any, case: Case) -> Any:
    """Convolution with padding to the same size, and its gradients, tap by tap."""
    window, image = case["w"][2:], case["x"][2:]
    padding = [(size // 2, size // 2) for size in window]
    result = np.zeros(case["full"])
    if kind == "conv_dgrad":
        result = np.pad(result, [(0, 0), (0, 0), *padding])
    else:
        first = np.pad(first, [(0, 0), (0, 0), *padding])
    for tap in np.ndindex(*window):
        there = (..., *(slice(t, t + size) for t, size in zip(tap, image, strict=True)))
        here = (slice(None), slice(None), *tap)
        if kind == "conv_fprop":
            result += np.moveaxis(np.tensordot(first[there], other[here], (1, 1)), -1, 1)
        elif kind == "conv_dgrad":
            result[there] += np.moveaxis(np.tensordot(first, other[here], (1, 0)), -1, 1)
        else:
            axes = [0, *range(2, first.ndim)]
            result[here] = np.tensordot(other, first[there], (axes, axes))
    if kind == "conv_dgrad":
        inner = tuple(slice(low, low + n) for (low, _), n in zip(padding, image, strict=True))
        result = result[(..., *inner)]
    return result


# --- other descriptions of the same memory -------------------------------------------------------


def formed(case: Case, nodes: Sequence[Node], views: Mapping[int, View]) -> Mapping[int, View]:
    """Dims and strides by the ids of tensors, as the case wants them described to cuDNN."""
    made = dict(views)
    image = case["main"].startswith("conv") or (case["last"] and not views)

    def view(tensor: Tensor) -> View:
        return made.get(id(tensor), (tensor.dims or (), tensor.strides or ()))

    main = next((n for n in nodes if n.kind.descriptor != "operation_pointwise"), None)
    chain = Side("plain", list(nodes), ())
    before = [] if main is None else [n for t in main.operands for n in chain.behind(t)]
    for node in nodes:
        if node is main:
            continue
        if main is None:
            shapes = [view(t)[0] for n in nodes for t in (*n.operands, *n.outputs.values())]
            full = tuple(map(max, *shapes))
        elif node in before:
            full = next(view(t)[0] for t in main.inputs.values() if t.virtual)
        else:
            full = view(next(iter(main.outputs.values())))[0]
        for operand in node.operands:
            if not (operand.virtual or operand.by_value):
                made[id(operand)] = _stretched(view(operand), full, case["form"], image)
        whole = full
        if "virtual" not in case["form"]:
            whole = tuple(map(max, *(view(each)[0] for each in (*node.operands, *node.operands))))
        for result in node.outputs.values():
            if result.virtual:
                made[id(result)] = whole, _strides(whole, case["last"] and not views)
    if case["form"] == "turned" and main is None and views:
        every = {id(t): t for n in nodes for t in (*n.operands, *n.outputs.values())}
        for tensor in every.values():
            dims, strides = view(tensor)
            made[id(tensor)] = (*dims[:-2], *dims[:-3:-1]), (*strides[:-2], *strides[:-3:-1])
    if case["settled"] and image:
        for node in nodes:
            for tensor in (*node.operands, *node.outputs.values()):
                if not tensor.by_value:
                    made[id(tensor)] = _settled(view(tensor), case["last"])
    return made


def _stretched(view: View, full: Sequence[int], form: str, image: bool) -> View:
    """Dimensions along which an operand broadcasts, whole with a stride of 0."""
    dims, strides = view
    if "stretched" not in form and "rows" not in form:
        return view
    broadcasts = [a for a in range(len(dims)) if dims[a] == 1 != full[a]]
    inner = 1 if image else len(dims) - 1
    axes = [axis for axis in broadcasts if axis != inner]
    if "rows" in form:
        rows = [axis for axis in range(len(dims)) if axis != inner and full[axis] != 1]
        if image and len(axes) == len(rows):
            axes = []
        elif not image:
            axes = axes[:1] if len(broadcasts) == 2 else []
    return (
        tuple(full[a] if a in axes else dims[a] for a in range(len(dims))),
        tuple(0 if a in axes else strides[a] for a in range(len(dims))),
    )


def _settled(view: View, last: bool) -> View:
    """Strides of dimensions of one element as if the rest were packed inside them."""
    dims, strides = view
    order = (*((1,) if last else ()), *range(len(dims) - 1, 1, -1), *(() if last else (1,)), 0)
    reach, made = 1, list(strides)
    for axis in order:
        if dims[axis] == 1:
            made[axis] = reach
        reach = max(reach, dims[axis] * made[axis])
    return dims, tuple(made)


# --- running -------------------------------------------------------------------------------------


def compared(case: Case, handle: Handle, note: Callable[[str], None]) -> dict[str, Any]:
    """What the table of faults says of a case, and what became of its engines."""
    sketch = Sketch(case)
    try:
        made, exact = sketch.result()
        nodes, target = sketch.graph.validate(), Target.of(handle)
        expansion = sketch.graph._expanded(nodes, target, fixed=case["form"] == "prepared")
    except (ValueError, TypeError) as error:
        return {"engines": {}, "invalid": str(error)[:120]}
    if case["main"] == "expand":  # cuDNN takes a larger result than the operands give
        made.dims, made.strides = tuple(case["full"]), _strides(case["full"], case["last"])
    views = flattened(expansion.nodes) if case["flattened"] else {}
    if case["form"] != "prepared":
        views = formed(case, expansion.nodes, views)
    faults = faults_of(Lowered(expansion.nodes, views), target)
    found: dict[str, Any] = {
        "refused": [each.message for each in faults.found if each.refuses],
        "passed_over": sorted(faults.engines),
    }
    engines: dict[str, str] = {}
    found["engines"] = engines
    with ExitStack() as stack:
        memory: dict[int, Any] = {}
        for each in sketch.graph.inputs:
            if each.by_value:
                continue
            given = DeviceTensor.from_numpy(
                sketch.values[each.name], dtype=each.data_type, strides=each.strides
            )
            stack.callback(given.close)
            memory[each.uid or 0] = given
        try:
            scratch = stack.enter_context(closing(scratch_of(expansion, handle)))
            with mock.patch.object(lowering_module, "flattened", return_value=views):
                lowering = stack.enter_context(lowered(expansion, handle, NO_GPU))
        except CudnnError as error:
            return found | {"unsupported": str(refusal(error))[:120]}
        for config in _configs(lowering.graph, handle, case["seed"]):
            stack.callback(config.close)
            choice = str(config.choice)
            note(json.dumps(found | {"lost": choice}))
            try:
                with ExecutionPlan(config, device=handle) as plan:
                    plan.scratch = scratch.borrowed()
                    engines[choice] = _verdict(plan, made, exact, memory, handle)
            except CudnnError as error:
                if error.status.name in ("CUDNN_STATUS_EXECUTION_FAILED",):
                    engines[choice] = "lost"
                    raise Spent(json.dumps(found)) from error
                engines[choice] = f"refused: {str(refusal(error))[:100]}"
            except RuntimeError:  # of the driver: the context is lost
                engines[choice] = "lost"
                raise Spent(json.dumps(found)) from None
    return found


def _configs(graph: Any, handle: Handle, seed: int) -> Iterator[EngineConfig]:
    """The first config of each engine, and some of the others."""
    rng, engines, tried = random.Random(seed), set(), set()
    for mode in ("a", "fallback"):
        try:
            proposed = heuristics(graph, device=handle, mode=mode)
        except CudnnError:
            continue
        for config in proposed:
            choice = config.choice
            wanted = choice.engine not in engines or rng.random() < _SAMPLED / len(proposed)
            if choice in tried or not wanted:
                config.close()
                continue
            engines.add(choice.engine)
            tried.add(choice)
            yield config


def _verdict(
    plan: ExecutionPlan, made: Tensor, exact: Any, memory: Mapping[int, Any], handle: Handle
) -> str:
    kind = numpy_dtype(made.data_type)
    count = math.prod(made.dims or ())
    poison = np.full(count + 2 * _GUARD, np.nan, kind)
    with (
        closing(DeviceTensor.from_numpy(poison, dtype=made.data_type)) as around,
        DeviceBuffer(plan.workspace_size + 1024) as workspace,
    ):
        workspace.fill(255)
        operands = {**memory, made.uid or 0: around.ptr + _GUARD * kind.itemsize}
        plan.execute(handle, operands, workspace)
        handle.synchronize()
        whole = around.numpy()
    guards = np.concatenate([whole[:_GUARD], whole[-_GUARD:]]).astype(np.float32)
    if not np.isnan(guards).all():
        return "writes beyond: the result"
    flat = np.lib.stride_tricks.as_strided(
        whole[_GUARD:], made.dims, [step * kind.itemsize for step in made.strides or ()]
    ).astype(np.float64)
    scale = max(float(np.abs(exact).max()), 1e-30)
    error = float(np.abs(flat - exact).max()) / scale
    if error <= ALLOWED[str(kind)]:
        return "right"
    bad = ~(np.abs(flat - exact) <= ALLOWED[str(kind)] * scale)
    return f"wrong: {error:.1e} in {bad.mean():.0%}, NaN in {np.isnan(flat).mean():.0%}"


def _worker(options: argparse.Namespace, number: int) -> None:
    weights = {name: MAINS[name] for name in options.mains}
    deadline = time.monotonic() + options.seconds
    todo = [draw(seed, weights) for seed in seeds_of(options, number)]
    if options.prepared:
        todo = [case | {"form": "prepared", "flattened": True} for case in todo]

    def prepare(note: Callable[[str], None]) -> Callable[[Case], str]:
        handle, left = Handle(), iter(range(_CASES))

        def perform(case: Case) -> str:
            if time.monotonic() > deadline:
                return json.dumps({"late": True})
            result = json.dumps(compared(case, handle, note))
            if next(left, None) is None:
                raise Spent(result)
            return result

        return perform

    with open(options.out / f"{number}.jsonl", "w") as file:
        for each in outcomes(todo, prepare, seconds=120, megabytes=8192, maps_a_gpu=True):
            found = json.loads((each.note if each.died else each.result) or "{}")
            if each.died and each.result.startswith("exit"):
                found["error"] = each.printed  # of this tool
            elif each.died:
                found.setdefault("engines", {})[found.get("lost", "?")] = f"lost: {each.result}"
            if not found.get("late"):
                print(json.dumps({"case": each.case, **found}), file=file, flush=True)


def _table(folder: Path) -> bool:
    """Print counts of plans by main operation; whether all that the table accepts are right."""
    counts: dict[str, Counter[str]] = {}
    for path in folder.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            found = json.loads(line)
            count = counts.setdefault(found["case"]["main"], Counter())
            count["graphs"] += 1
            known = found.get("passed_over", ())
            for choice, verdict in found.get("engines", {}).items():
                kind = verdict.split(":")[0]
                if kind == "refused":
                    continue
                number = int("".join(filter(str.isdigit, choice.split()[1])) or -1)
                said = "refused" if found.get("refused") or number in known else "accepted"
                count[f"{said} {kind}"] += 1
            count["accepted by cuDNN"] += any(
                not each.startswith("refused") for each in found.get("engines", {}).values()
            )
    for name, count in sorted(counts.items()):
        print(f"{name}: {', '.join(f'{n} {kind}' for kind, n in sorted(count.items()))}")
    bad = ("accepted wrong", "accepted lost", "accepted writes beyond")
    return not any(count[kind] for count in counts.values() for kind in bad)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz broadcasts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--mains", nargs="+", choices=MAINS, default=list(MAINS))
    add_arguments(parser)
    parser.add_argument(
        "--prepared", action="store_true", help="describe operands to cuDNN as a build does"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    in_processes(options.processes, functools.partial(_worker, options), options.seconds)
    return int(not _table(options.out))
