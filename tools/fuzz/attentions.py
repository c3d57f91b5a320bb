"""Search attention with every option for wrong numbers, against float64 by PyTorch.

``python -m tools.fuzz attentions --cases 2000 --out FOLDER`` draws graphs of `sdpa`, its gradient,
unified attention and attention on 8-bit numbers, with all their options together, and operands
whose scores are low, high, 0 or not a number. Each is built as a user would, executed on poisoned
memory between guards, and compared element by element with what rounding may change. A wrong one
is computed again by each other engine, and by other graphs that must give the same. Cases run in
children, since some end the CUDA context.

``FOLDER/NUMBER.jsonl`` has a line for each case: the case, and "right", "wrong: …", "warned of: …",
"writes beyond: …", "refused: …" (by cuDNN), "ruled out: …" (by the table of faults), "invalid: …"
or "lost". The table at the end counts them by option. ``--reference`` takes the reference device,
``--build-only H200`` only compiles, without a GPU; ``--replay CASE`` runs one case, given as JSON.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from cudnn_ctypes import DeviceBuffer, Handle, use_reference_device
from cudnn_ctypes.errors import CudnnError, FaultWarning, OwnReason, SymbolNotFoundError
from cudnn_ctypes.graph import EngineChoice, Graph, Tensor
from cudnn_ctypes.graph.backend.children import Spent, outcomes
from cudnn_ctypes.graph.engines.refusals import refusal
from cudnn_ctypes.graph.run.cuda_graph import capture
from cudnn_ctypes.raw.strides import packed
from tests.graph.attentions import MODIFIERS

from .attention_cases import OPERATIONS, SHOWN, draw, facets, variants
from .attention_oracle import SCALES, TYPES, Numbers, compared
from .workers import add_arguments, in_processes, seeds_of
from .wrong_rows import without_rules

__all__ = ["main", "run"]

Case = dict[str, Any]
_ONE = (1, 1, 1, 1)
_GUARD = 1024  # bytes before and after each tensor
_CASES = 300  # of one child
_EXAMINED = 12  # wrong ones of one child that other engines and graphs compute, too
_ENGINES = 14
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_ORDERS = {"bshd": (0, 2, 1, 3), "sbhd": (2, 0, 1, 3), "bhsd": None}
_PADDED = 64  # elements between tokens of a layout with gaps


# --- graphs --------------------------------------------------------------------------------------


class Description:
    """The graph of a case, with its tensors by name."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.narrow = "fp8" in case["operation"]
        self.backward = case["operation"].endswith("backward")
        self.graph = Graph(**({} if self.narrow else {"io_data_type": case["io"]}))
        self.scores = tuple(case[each] for each in ("batch", "heads", "queries", "keys"))
        (self._backward if self.backward else self._forward)()

    def strides(self, name: str, dims: Sequence[int]) -> tuple[int, ...]:
        """Of q, k, v, o and their gradients."""
        case = self.case
        layout = case.get("dO", case["layout"]) if name == "dO" else case["layout"]
        _, h, s, d = dims
        token = h * d
        if layout == "packed" and name not in ("o", "dO"):
            token = (case["heads"] + 2 * case["key_heads"]) * d
        elif layout == "gaps":
            token += _PADDED
        if layout in ("packed", "gaps"):
            return (s * token, d, token, 1)
        return packed(tuple(dims), _ORDERS[layout])

    def heads(self, name: str, kind: Any = None) -> Tensor:
        """One of q, k, v, o and dO."""
        case, graph = self.case, self.graph
        keys = name in "kv"
        heads = case["key_heads"] if keys else case["heads"]
        length = case["keys"] if keys else case["queries"]
        size = case["size"] if name in "qk" else case["value_size"]
        if keys and case.get("page"):
            pages = 2 * case["batch"] * case["keys"] // case["page"]
            return graph.tensor((pages, heads, case["page"], size), data_type=kind, name=name)
        dims = (case["batch"], heads, length, size)
        tensor = graph.tensor(dims, self.strides(name, dims), kind, name=name)
        return tensor if name == "dO" else self.ragged(tensor, name)

    def ragged(self, tensor: Tensor, name: str) -> Tensor:
        if self.case.get("ragged"):
            dims = (self.case["batch"] + 1, 1, 1, 1)
            tensor.ragged_offset = self.graph.tensor(dims, data_type="int32", name=f"{name}_offset")
        return tensor

    def output(self, tensor: Tensor | None, name: str, like: str = "") -> None:
        if tensor is None:
            return
        tensor.set_output(name=name)
        if name == "o":
            dims = (*self.scores[:3], self.case["value_size"])
            tensor.set_output(strides=self.strides("o", dims))
            self.ragged(tensor, "o")
        elif like:
            (source,) = (each for each in self.graph.tensors if each.name == like)
            tensor.ragged_offset = source.ragged_offset

    def statistics(self, name: str, tensor: Tensor | None = None) -> Tensor:
        dims = (*self.scores[:3], 1)
        order = (0, 2, 1, 3) if self.case.get("ragged") else None
        if tensor is None:
            tensor = self.graph.tensor(dims, packed(dims, order), "float32", name=name)
        elif self.case.get("ragged"):
            tensor.dims, tensor.strides = dims, packed(dims, order)
        return self.ragged(tensor, name)

    def options(self) -> dict[str, Any]:
        """Options that forward and backward have."""
        case, graph = self.case, self.graph
        more: dict[str, Any] = {}
        for side in ("left", "right"):
            if case.get(side) is not None:
                more[f"diagonal_band_{side}_bound"] = case[side]
        if case.get("bottom_right"):
            more["diagonal_alignment"] = "bottom_right"
        if case.get("scale") == "tensor":
            more["attn_scale"] = graph.tensor(_ONE, data_type="float32", name="scale")
        elif case.get("scale") is not None:
            more["attn_scale"] = case["scale"]
        if case.get("lengths"):
            sums = bool(case.get("cumulative"))
            for name in ("seq_len_q", "seq_len_kv"):
                name = f"cu_{name}" if sums else name
                dims = (case["batch"] + sums, 1, 1, 1)
                more[name] = graph.tensor(dims, data_type="int32", name=name)
        if self.narrow:
            return more
        if case.get("alibi"):
            more["use_alibi_mask"] = True
        if "bias" in case:
            kind = case["bias"].get("type")
            more["bias"] = graph.tensor(case["bias"]["dims"], data_type=kind, name="bias")
        if case.get("dropout") == "mask":
            scale = graph.tensor(_ONE, data_type="float32", name="drop_scale")
            more["dropout"] = (graph.tensor(self.scores, name="kept"), scale)
        elif case.get("dropout"):
            ends = [graph.tensor(_ONE, data_type="int64", name=each) for each in ("seed", "offset")]
            more["dropout"] = (0.25, *ends)
        if case.get("sink"):
            dims = (1, case["heads"], 1, 1)
            more["sink_token"] = graph.tensor(dims, data_type="float32", name="sink")
        if case.get("modifier"):
            modify = MODIFIERS[case["modifier"]](self.scores)
            more["score_mod"] = modify
            if self.backward and modify.backward is not None:
                more["score_mod_bprop"] = modify.backward
        return more

    def _scales(self, names: Sequence[str]) -> list[Tensor]:
        return [self.graph.tensor(_ONE, data_type="float32", name=name) for name in names]

    def _forward(self) -> None:
        case, graph = self.case, self.graph
        kind = case["io"] if self.narrow else None
        q, k, v = (self.heads(name, kind) for name in "qkv")
        more = self.options()
        if case.get("page"):
            dims = (case["batch"], 1, case["keys"] // case["page"], 1)
            for each in "kv":
                table = graph.tensor(dims, data_type="int32", name=f"{each}_table")
                more[f"paged_attention_{each}_table"] = table
        wanted = case["outputs"]
        if self.narrow:
            names = ("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o")
            scales = self._scales(names)
            o, stats, amax_s, amax_o = graph.sdpa_fp8(
                q, k, v, *scales, generate_stats=wanted == "stats", **more
            )
            self.output(amax_s, "amax_s")
            self.output(amax_o, "amax_o")
        else:
            row = (*self.scores[:3], 1)
            if case.get("dropout") == "seed":
                more["rng_dump"] = graph.tensor(self.scores, data_type="float32", name="dump")
            if wanted == "parts":
                for name in ("score_max", "score_sum_exp"):
                    more[name] = self.statistics(name)
                    assert more[name].dims == row
            operation = graph.sdpa_unified if "unified" in case["operation"] else graph.sdpa
            o, stats = operation(q, k, v, generate_stats=wanted == "stats", **more)
        self.output(o, "o")
        self.output(stats, "stats")
        if stats is not None:
            self.statistics("stats", stats)

    def _backward(self) -> None:
        case, graph = self.case, self.graph
        kind = case["io"] if self.narrow else None
        q, k, v, o = (self.heads(name, kind) for name in ("q", "k", "v", "o"))
        d_o = self.heads("dO", case.get("gradient", kind))
        d_o.ragged_offset = o.ragged_offset
        stats = self.statistics("stats")
        more = self.options()
        if self.narrow:
            names = [f"descale_{each}" for each in ("q", "k", "v", "o", "dO", "s", "dP")]
            names += [f"scale_{each}" for each in ("s", "dQ", "dK", "dV", "dP")]
            scales = self._scales(names)
            results = graph.sdpa_fp8_backward(q, k, v, o, d_o, stats, *scales, **more)
            for tensor, name in zip(results[3:], ("dQ", "dK", "dV", "dP"), strict=True):
                self.output(tensor, f"amax_{name}")
        else:
            if case.get("deterministic"):
                more["use_deterministic_algorithm"] = True
            if case.get("bias", {}).get("gradient"):
                kind = case["bias"].get("type")
                more["dBias"] = graph.tensor(case["bias"]["dims"], data_type=kind, name="dbias")
            if case.get("sink"):
                dims = (1, case["heads"], 1, 1)
                more["dSink_token"] = graph.tensor(dims, data_type="float32", name="dsink")
            results = graph.sdpa_backward(q, k, v, o, d_o, stats, **more)
        for tensor, name in zip(results[:3], "qkv", strict=True):
            self.output(tensor, f"d{name}", like=name)


# --- memory --------------------------------------------------------------------------------------


class Memory:
    """The tensors of a graph, each between guards of bytes that are not a number."""

    def __init__(self, handle: Handle, device: str) -> None:
        self.handle, self.device = handle, device
        self.places: dict[str, tuple[Tensor, Any, Any, int, Any]] = {}
        self.operands: dict[int, Any] = {}
        self._buffers: list[DeviceBuffer] = []

    def put(self, tensor: Tensor, index: Any, count: int, values: Any = None) -> None:
        """Place a tensor of `count` elements; `values` belong at the places `index`."""
        kind = TYPES.get(_named(tensor)) or getattr(torch, _named(tensor))
        size = torch.empty((), dtype=kind).element_size()
        guard = _GUARD // size
        storage = torch.full(((count + 2 * guard) * size,), 255, dtype=torch.uint8)
        storage = storage.to(self.device)
        if values is not None:  # as integers: not all PyTorchs index 8-bit numbers
            bits = values.to(kind).contiguous().view(_BITS[size]).flatten()
            storage.view(_BITS[size])[index.flatten() + guard] = bits
        if self.handle.on_reference_device:
            buffer = DeviceBuffer(storage.numel())
            buffer.copy_from_host(storage.numpy())
            self._buffers.append(buffer)
            place: Any = buffer
            address = buffer.ptr
        else:
            place, address = storage, storage.data_ptr()
        self.places[tensor.name] = (tensor, place, index, guard, kind)
        self.operands[tensor.uid or 0] = address + _GUARD

    def _bytes(self, name: str) -> Any:
        place = self.places[name][1]
        return torch.from_numpy(place.copy_to_host()) if isinstance(place, DeviceBuffer) else place

    def read(self, name: str) -> Any:
        """A result in float64."""
        _, _, index, guard, kind = self.places[name]
        bits = _BITS[torch.empty((), dtype=kind).element_size()]
        return self._bytes(name).view(bits)[index + guard].view(kind).double()

    def damage(self, name: str) -> str:
        """Whether anything was written outside of a result, in words."""
        tensor, _, index, guard, kind = self.places[name]
        raw = self._bytes(name)
        size = torch.empty((), dtype=kind).element_size()
        changed = (raw.view(-1, size) != 255).any(1)
        if tensor.ragged_offset is None:
            changed[index.flatten() + guard] = False
        else:  # also between sequences
            changed[guard : len(changed) - guard] = False
        if not bool(changed.any()):
            return ""
        where = int(changed.nonzero()[0]) - guard
        return f"{name}: {int(changed.sum())} elements, the first at {where}"

    def close(self) -> None:
        for buffer in self._buffers:
            buffer.close()


def _named(tensor: Tensor) -> str:
    from cudnn_ctypes.dtypes import data_type_name

    return data_type_name(tensor.data_type)


def _index(dims: Sequence[int], strides: Sequence[int], device: str) -> Any:
    index = torch.zeros((1,) * len(dims), dtype=torch.int64, device=device)
    for axis, (n, step) in enumerate(zip(dims, strides, strict=True)):
        shape = [1] * len(dims)
        shape[axis] = n
        index = index + (torch.arange(n, device=device) * step).view(shape)
    return index


class Operands:
    """Puts the numbers of a case into memory."""

    def __init__(self, described: Description, numbers: Numbers, memory: Memory) -> None:
        self.case, self.numbers, self.memory = described.case, numbers, memory
        self.device = memory.device
        self.generator = torch.Generator().manual_seed(described.case["seed"] + 1)
        graph = described.graph
        self.owners = {
            id(each.ragged_offset): each for each in graph.tensors if each.ragged_offset is not None
        }
        for tensor in graph.inputs:
            if not tensor.by_value:
                self.place(tensor, self.values(tensor))
        for tensor in graph.outputs:
            self.place(tensor)

    def place(self, tensor: Tensor, values: Any = None) -> None:
        dims, strides = tensor.dims or (), tensor.strides or ()
        if tensor.ragged_offset is None:
            count = 1 + sum((n - 1) * step for n, step in zip(dims, strides, strict=True))
            self.memory.put(tensor, _index(dims, strides, self.device), count, values)
            return
        starts = self.starts(tensor)
        index = _index(dims, (0, dims[3], dims[1] * dims[3], 1), self.device)
        index = index + starts[:-1].view(-1, 1, 1, 1) * (dims[1] * dims[3])
        valid = self.numbers.valid(tensor.name).expand(dims)
        count = int(starts[-1]) * dims[1] * dims[3]
        # Padding has no place; the first element of the guard behind stands for it when reading.
        inside = index[valid]
        held = None if values is None else values.expand(dims)[valid]
        self.memory.put(tensor, inside, max(count, 1), held)

    def starts(self, tensor: Tensor) -> Any:
        """Tokens before each sequence, gaps included, and all."""
        keys = tensor.name in ("k", "v", "dk", "dv")
        lengths = self.numbers.lengths["k" if keys else "q"].flatten() + self.case.get("gap", 0)
        return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])

    def values(self, tensor: Tensor) -> Any:
        case, name, numbers = self.case, tensor.name, self.numbers
        if id(tensor) in self.owners:
            owner = self.owners[id(tensor)]
            assert owner.dims is not None
            return (self.starts(owner) * owner.dims[1] * owner.dims[3]).view(-1, 1, 1, 1)
        if name in ("k_table", "v_table"):
            return self.table().view(tensor.dims)
        if name in ("k", "v") and case.get("page"):
            return self.pages(name, tensor)
        if name in ("seq_len_q", "seq_len_kv"):
            return numbers.lengths["q" if name.endswith("q") else "k"]
        if name.startswith("cu_"):
            lengths = numbers.lengths["q" if name.endswith("q") else "k"].flatten()
            return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]).view(-1, 1, 1, 1)
        known = {"scale": numbers.factor, "drop_scale": 1 / 0.75, "seed": 1234, "offset": 56}
        if name in known:
            return torch.full(_ONE, known[name], device=self.device, dtype=torch.float64)
        if name.startswith(("scale_", "descale_")):
            scale = SCALES[name.split("_")[1]]
            value = scale if name.startswith("scale") else 1 / scale
            return torch.full(_ONE, value, device=self.device)
        if name == "kept" or name not in ("q", "k", "v", "o", "dO", "stats"):
            return numbers.stored[name]
        return self.padded(name)

    def padded(self, name: str) -> Any:
        """A tensor with something else where padding is."""
        stored = self.numbers.stored[name]
        valid = self.numbers.valid(name)
        garbage = 0.0 if name == "stats" else stored.nan_to_num(0.0).clamp(-4, 4) * 8
        return torch.where(valid, stored, garbage)

    def table(self) -> Any:
        """Where the pages of each sequence are: anywhere among twice as many."""
        case = self.case
        count = case["batch"] * case["keys"] // case["page"]
        generator = torch.Generator().manual_seed(case["seed"])
        order = torch.randperm(2 * count, generator=generator)[:count]
        return order.to(self.device)

    def pages(self, name: str, tensor: Tensor) -> Any:
        case = self.case
        held = self.padded(name)
        b, h, s, d = held.shape
        page = case["page"]
        split = held.view(b, h, s // page, page, d).transpose(1, 2).reshape(-1, h, page, d)
        found = torch.full(tensor.dims or (), math.nan, device=self.device, dtype=torch.float64)
        found[self.table()] = split
        return found


# --- running -------------------------------------------------------------------------------------


def _executed(described: Description, numbers: Numbers, handle: Handle, device: str) -> Memory:
    graph = described.graph
    memory = Memory(handle, device)
    Operands(described, numbers, memory)
    size = graph.workspace_size
    if handle.on_reference_device:
        with DeviceBuffer(max(size, 1)) as workspace:
            workspace.fill(255)
            graph.execute(memory.operands, workspace)
            handle.synchronize()
    else:
        scratch = torch.full((size + 2 * _GUARD,), 255, dtype=torch.uint8, device=device)
        torch.cuda.synchronize()
        workspace = scratch[_GUARD : _GUARD + max(size, 1)]
        graph.execute(memory.operands, workspace)
        handle.synchronize()
        if described.case.get("captured"):
            with capture(handle) as captured:
                graph.execute(memory.operands, workspace)
            captured.replay()
            torch.cuda.synchronize()
        for part, name in ((scratch[:_GUARD], "before"), (scratch[_GUARD + size :], "behind")):
            if bool((part != 255).any()):
                raise _WritesBeyondError(f"{name} the workspace of {size} bytes")
    return memory


class _WritesBeyondError(Exception):
    pass


def _verdict(described: Description, numbers: Numbers, handle: Handle, device: str) -> str:
    """Whether a built graph gives what it must."""
    with ExitStack() as stack:
        try:
            memory = _executed(described, numbers, handle, device)
        except _WritesBeyondError as error:
            return f"writes beyond: {error}"
        stack.callback(memory.close)
        names = [each.name for each in described.graph.outputs]
        if "dump" in names:
            numbers.exact["kept"] = memory.read("dump")
        found = {}
        for name in names:
            tensor = memory.places[name][0]
            read = memory.read(name)
            if tensor.ragged_offset is not None:
                whole = torch.zeros(tensor.dims or (), dtype=torch.float64, device=device)
                whole[numbers.valid(name).expand(whole.shape)] = read
                read = whole
            if described.narrow and (name == "o" or name in ("dq", "dk", "dv")):
                scaled = name if name == "o" else f"d{name[1].upper()}"
                read = read / SCALES[scaled]
            found[name] = read
        damaged = [text for name in names if (text := memory.damage(name))]
        results, bounds = numbers.results()
        wrong, worst = compared(numbers, found, results, bounds)
    if damaged:
        return f"writes beyond: {'; '.join(damaged)}"
    if wrong:
        return "wrong: " + "; ".join(f"{name} {text}" for name, text in sorted(wrong.items()))
    return f"right: {worst:.2f} bounds"


def _dropped(case: Case, handle: Handle, device: str) -> Any:
    """The mask of a dropout by a seed, which a forward pass tells."""
    forward = {**case, "operation": "sdpa", "outputs": "none"}
    described = Description(forward)
    with described.graph as graph:
        graph.build(handle, without_engine=handle.on_reference_device)
        memory = _executed(described, Numbers(forward, device), handle, device)
        kept = memory.read("dump")
        memory.close()
        return kept


def run(
    case: Case, handle: Handle, note: Callable[[str], None], *, further: Callable[[], bool]
) -> Case:
    """What became of one case, by name.

    Where it is wrong and `further` says so, other engines and graphs are tried.
    """
    device = "cpu" if handle.on_reference_device else "cuda"
    found: Case = {}
    started = time.monotonic()
    try:
        described = Description(case)
    except (ValueError, TypeError) as error:
        return {"result": f"invalid: {str(error)[:160]}"}
    with described.graph:
        result = _built(described, handle, found)
        found["built"] = round(time.monotonic() - started, 2)
        if result:
            return {"result": result, **found}
        note(json.dumps(found))
        numbers = Numbers(case, device)
        if case.get("dropout") == "seed" and described.backward:
            try:
                numbers.exact["kept"] = _dropped(case, handle, device)
            except CudnnError as error:
                return {"result": f"refused: {str(refusal(error))[:120]}", **found}
        if described.backward:
            numbers.results()
        found["result"] = _verdict(described, numbers, handle, device)
    if found["result"].startswith("right"):
        found["worst"] = float(found["result"].split()[1])
        found["result"] = "right"
    elif not handle.on_reference_device and further():
        engine = re.search(r"engine (\d+)", found["plan"])
        for name, other in _others(case, int(engine[1]) if engine else -1):
            note(json.dumps({**found, "during": name}))
            found.setdefault("others", {})[name] = _other(other, numbers, handle, device)
    return _foreseen(found, case)


def _foreseen(found: Case, case: Case) -> Case:
    """What is wrong or lost where numbers are such as the build warned of, in other words."""
    named = re.findall("known fault '(.*?)'", found.pop("warned", ""))
    kind, told, text = found["result"].partition(":")
    if kind in ("wrong", "lost") and any(SHOWN[each](case) for each in named):
        found["result"] = f"warned of{told}{text}"
    return found


def _built(described: Description, handle: Any, found: Case, **options: Any) -> str:
    """Why a graph was not built; empty if it was."""
    try:
        with warnings.catch_warnings(record=True) as given, ExitStack() as stack:
            warnings.simplefilter("always", FaultWarning)
            if described.case.get("unruled"):
                stack.enter_context(without_rules())
            plain = isinstance(handle, Handle) and handle.on_reference_device
            plan = described.graph.build(handle, without_engine=plain, **options)
    except CudnnError as error:
        if error.source == OwnReason.source:
            return f"ruled out: {str(refusal(error))[:160]}"
        return f"refused: {str(refusal(error))[:160]}"
    except (ValueError, TypeError, SymbolNotFoundError) as error:
        return f"invalid: {str(error)[:160]}"
    told = [str(each.message) for each in given if issubclass(each.category, FaultWarning)]
    if told:
        found["warned"] = "; ".join(told)
    found["plan"] = str(plan)[:120]
    return ""


def _others(case: Case, engine: int) -> Iterator[tuple[str, tuple[Case, Any]]]:
    """Other engines, and other graphs that must give the same."""
    for index in range(_ENGINES):
        if index != engine:
            yield f"engine {index}", (case, EngineChoice(index, {}))
    for name, other in variants(case):
        yield name, (other, None)


def _other(other: tuple[Case, Any], numbers: Numbers, handle: Handle, device: str) -> str:
    case, choice = other
    found: Case = {}
    try:
        described = Description(case)
    except (ValueError, TypeError) as error:
        return f"invalid: {str(error)[:80]}"
    with described.graph:
        result = _built(described, handle, found, config=choice)
        if result:
            return result[:80]
        if case.get("bias", {}).get("kind") == "alibi":
            numbers.stored["bias"] = numbers.alibi()
        return _verdict(described, numbers, handle, device)[:200]


# --- the campaign --------------------------------------------------------------------------------


def _worker(options: argparse.Namespace, number: int) -> None:
    torch.set_num_threads(1)
    deadline = time.monotonic() + options.seconds
    weights = {name: OPERATIONS[name] for name in options.operations}
    extra = {"unruled": True} if options.unruled else {}
    todo = [{**draw(seed, weights), **extra} for seed in seeds_of(options, number)]

    def prepare(note: Callable[[str], None]) -> Callable[[Case], str]:
        if options.build_only:
            return lambda case: json.dumps(_only_built(case, options.build_only))
        if options.reference:
            use_reference_device()
        handle, left, examined = Handle(), iter(range(_CASES)), iter(range(_EXAMINED))

        def perform(case: Case) -> str:
            if time.monotonic() > deadline:
                return json.dumps({"result": "late"})
            try:
                found = run(case, handle, note, further=lambda: next(examined, None) is not None)
                handle.synchronize()
            except Exception as error:
                text = f"{type(error).__name__}: {str(error)[:300]}"
                lost = isinstance(error, (CudnnError, RuntimeError)) and not options.reference
                result = {"result": f"{'lost' if lost else 'error'}: {text}"}
                raise Spent(json.dumps(result)) from error
            if next(left, None) is None:
                raise Spent(json.dumps(found))
            return json.dumps(found)

        return perform

    gpu = not (options.reference or options.build_only)
    with open(options.out / f"{number}.jsonl", "w") as file:
        for each in outcomes(todo, prepare, seconds=120, megabytes=8192, maps_a_gpu=gpu):
            if each.died:
                found = json.loads(each.note or "{}")
                found["result"] = f"lost: {each.result} {each.printed[-300:]}"
                found = _foreseen(found, each.case)
            else:
                found = json.loads(each.result)
            if found["result"] != "late":
                print(json.dumps({"case": each.case, **found}), file=file, flush=True)


def _only_built(case: Case, device: str) -> Case:
    found: Case = {}
    started = time.monotonic()
    try:
        described = Description(case)
    except (ValueError, TypeError) as error:
        return {"result": f"invalid: {str(error)[:160]}"}
    with described.graph:
        result = _built(described, device, found)
    return {"result": result or "right", **found, "built": round(time.monotonic() - started, 2)}


_KINDS = ("right", "wrong", "NaN", "beyond", "lost", "warned of", "ruled out", "refused", "invalid")


def _kind(result: str) -> str:
    name = result.split(":")[0]
    if name == "wrong" and "NaN in 0.0%" not in result:
        return "NaN"
    return {"writes beyond": "beyond", "error": "lost"}.get(name, name)


def _table(folder: Path, *, shown: int) -> bool:
    """Print counts by option, and the wrong cases; whether there are none."""
    counts: dict[str, Counter[str]] = {}
    bad, seconds = [], 0.0
    reasons: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            found = json.loads(line)
            kind = _kind(found["result"])
            seconds += found.get("built", 0.0)
            case = found["case"]
            for name in (f"  {case['operation']}", *facets(case)):
                counts.setdefault(name, Counter())[kind] += 1
            if kind in ("wrong", "NaN", "beyond", "lost"):
                bad.append(found)
            elif kind in ("ruled out", "refused", "invalid"):
                reasons[found["result"][:110]] += 1
    print(f"{'option':40} " + " ".join(f"{kind:>9}" for kind in _KINDS))
    for name, count in sorted(counts.items()):
        print(f"{name:40} " + " ".join(f"{count[kind] or '':>9}" for kind in _KINDS))
    for reason, number in reasons.most_common(25):
        print(f"{number:6} {reason}")
    for found in bad[:shown]:
        print(f"{found['result'][:240]}\n    {found.get('plan', '')} {_summary(found)}")
        print(f"    {json.dumps(found['case'])}")
    print(f"{len(bad)} bad; {seconds:.0f} s of building")
    return not bad


def _summary(found: Mapping[str, Any]) -> str:
    right = [name for name, text in found.get("others", {}).items() if text.startswith("right")]
    wrong = [
        name
        for name, text in found.get("others", {}).items()
        if text.startswith(("wrong", "writes"))
    ]
    return f"also wrong: {', '.join(wrong)}; right: {', '.join(right)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz attentions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--operations", nargs="+", choices=OPERATIONS, default=list(OPERATIONS))
    add_arguments(parser)
    parser.add_argument("--out", type=Path, help="folder of the results")
    parser.add_argument("--reference", action="store_true", help="on the reference device")
    parser.add_argument("--build-only", metavar="GPU", help="compile for a GPU that is not here")
    parser.add_argument("--shown", type=int, default=20, help="bad cases that are printed")
    parser.add_argument("--replay", help="run one case, given as JSON, in this process")
    parser.add_argument("--unruled", action="store_true", help="also what the table rules out")
    parser.add_argument("--table", action="store_true", help="only count what --out has")
    options = parser.parse_args(arguments)
    if options.replay:
        if options.reference:
            use_reference_device()
        with Handle() as handle:
            found = run(json.loads(options.replay), handle, lambda _: None, further=lambda: True)
            print(json.dumps(found, indent=1))
        return 0
    if options.out is None:
        parser.error("--out is needed")
    if not options.table:
        options.out.mkdir(parents=True, exist_ok=True)
        in_processes(options.processes, functools.partial(_worker, options), options.seconds)
    return int(not _table(options.out, shown=options.shown))
