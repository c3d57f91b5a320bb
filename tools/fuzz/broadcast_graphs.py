"""Random graphs with operands smaller than the result, before and behind a main operation.

`draw` gives the case of a seed, plain data for JSON; `Sketch` describes its graph. The main
operation is one of `random_graphs`, attention, whose scores meet the operands, or none.
`draw_alone` gives one without others.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.graph import Graph, Tensor
from cudnn_ctypes.graph.lower.expand.expansion import Expansion
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.raw.strides import packed

from . import random_graphs
from .random_gradients import image

__all__ = ["MAINS", "Case", "Sketch", "described", "draw", "draw_alone"]

Case = dict[str, Any]
MAINS = {
    "none": 8,
    "expand": 2,
    "convolution": 10,
    "matmul": 5,
    "norm": 2,
    "resample": 2,
    "reduction": 2,
    "norm backward": 1,
    "resample backward": 1,
    "activation backward": 2,
    "attention": 2,
    "block scaled": 0,
}
"""Main operations, with how often each is drawn."""

FUNCTIONS = (
    *("relu", "exp", "tanh", "neg", "sqrt", "rsqrt", "scale", "sigmoid", "swish", "softplus"),
    *("elu", "gelu_approx_tanh", "abs", "log", "reciprocal", "index"),
)
JOINS = ("add", "mul", "sub", "max")
_OF_ANY = ("relu", "tanh", "sigmoid", "scale", "neg", "swish")  # also of negative numbers
_TYPES = ("float16", "float16", "bfloat16", "float32")


# --- main operations -----------------------------------------------------------------------------


def _draw_none(rng: random.Random) -> Case:
    rank = rng.choice([2, 3, 3, 4, 4, 5])
    full = [rng.choice([1, 2, 3, 7, 8, 16, 33, 64, 128]) for _ in range(rank)]
    if rank == 4 and rng.random() < 0.25:
        full[2] = full[3] = 1
    while math.prod(full) > 1 << 19:
        full[rng.randrange(rank)] = rng.choice([1, 2, 3])
    last, gap = rank >= 4 and rng.random() < 0.5, rng.choice(_GAPS)
    return {"io": rng.choice(_TYPES), "x": full, "last": last, "gap": gap}


def _none(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    x = image(graph, "x", case["x"], case["last"])
    x.strides = _spaced(case["x"], x.strides or (), case.get("gap"))
    return x


_GAPS = (*(None,) * 18, "line", "step")


def _spaced(dims: Sequence[int], strides: Sequence[int], gap: str | None) -> tuple[int, ...]:
    """Packed strides with room for 8 numbers behind each line, or for one behind each number."""
    if gap == "step":
        return tuple(2 * step for step in strides)
    line = max((d for d, step in zip(dims, strides, strict=True) if step == 1), default=1)
    wider = line + 8 if gap == "line" else line
    return tuple(step if step < line else step // line * wider for step in strides)


def _draw_expand(rng: random.Random) -> Case:
    """Small operands alone, which give a whole result together, or one that is copied to it."""
    rank = rng.choice([3, 3, 4])
    full = [rng.choice([1, 2, 3, 7, 8, 16, 33, 64]) for _ in range(rank)]
    return {
        "io": rng.choice(_TYPES),
        "full": full,
        "x": [size if rng.random() < 0.5 else 1 for size in full],
        "last": rank == 4 and rng.random() < 0.7,
        "function": rng.choice(["identity", *FUNCTIONS]),
    }


def _expand(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    return _function(graph, case["function"], image(graph, "x", case["x"], case["last"]))


def _draw_attention(rng: random.Random) -> Case:
    return {
        "io": rng.choice(["float16", "bfloat16"]),
        "scores": [
            *(rng.choice([1, 2, 3]), rng.choice([1, 2, 4])),
            *(rng.choice([1, 2, 63, 64, 100, 128, 130, 192]) for _ in range(2)),
        ],
        "size": rng.choice([32, 64, 64, 128]),
    }


def _attention(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    (b, h, queries, keys), size = case["scores"], case["size"]
    q, k, v = (
        image(graph, name, (b, h, length, size), False)
        for name, length in (("q", queries), ("k", keys), ("v", keys))
    )
    return graph.sdpa(q, k, v)[0]


def _draw_block_scaled(rng: random.Random) -> Case:
    sizes = [rng.choice([128, 256]) for _ in range(3)]
    return {
        "io": rng.choice(["float16", "bfloat16"]),
        "sizes": sizes,
        "block": rng.choice([16, 32]),
    }


def _block_scaled(graph: Graph, case: Mapping[str, Any]) -> Tensor:
    """A product of NVFP4 or MXFP8 numbers, for which Hopper has no engine."""
    (m, n, k), block = case["sizes"], case["block"]
    kind, scales = {16: ("fp4_e2m1", "fp8_e4m3"), 32: ("fp8_e4m3", "fp8_e8m0")}[block]
    operands = []
    for name, rows, sizes in (("a", m, (1, block)), ("b", n, (block, 1))):
        whole, few = (1, rows, k), (1, rows, k // block)
        strides = [packed(dims) for dims in (whole, few)]
        if name == "b":
            whole, few = (1, k, rows), (1, k // block, rows)
            strides = [(step[0], 1, step[1]) for step in strides]
        x = graph.tensor(whole, strides[0], kind, name=name)
        scale = graph.tensor(few, strides[1], scales, name=f"scale_{name}", reordering="f8_128x4")
        operands.append(graph.block_scale_dequantize(x, scale, sizes))
    return graph.matmul(*operands)


_FAMILIES: dict[str, tuple[Callable[[random.Random], Case], Callable[..., Tensor]]] = {
    **random_graphs.FAMILIES,
    "none": (_draw_none, _none),
    "expand": (_draw_expand, _expand),
    "attention": (_draw_attention, _attention),
    "block scaled": (_draw_block_scaled, _block_scaled),
}


# --- drawing -------------------------------------------------------------------------------------


def draw(seed: int, mains: Mapping[str, int] = MAINS) -> Case:
    """The case of this seed."""
    rng = random.Random(f"broadcasts {seed}")
    kind = rng.choices(list(mains), list(mains.values()))[0]
    parameters = _FAMILIES[kind][0](rng) | {"chain": []}
    if kind == "reduction":
        parameters["before"] = []
    again = random.Random(f"reads {seed}")  # apart, so that the others stay as they were
    reads = kind != "attention" and again.random() < 0.08
    if reads:
        _as_large(parameters, again)
    case: Case = {"seed": seed, "main": kind, "io": parameters["io"], "parameters": parameters}
    alone = Graph(io_data_type=case["io"])
    result = _FAMILIES[kind][1](alone, parameters)
    given = [each for each in alone.inputs if not each.by_value and each.name != "index"]
    if alone.nodes:
        result.set_output()
        alone.validate()
    full = parameters.get("full") or list(result.dims or ())

    often = {"reduction": 1.0} | dict.fromkeys(("none", "expand", "attention", "block scaled"), 0.0)
    before = rng.random() < often.get(kind, 0.35)
    place = given[0] if rng.random() < 0.75 else rng.choice(given)
    case["place"] = place.name
    longest = 3 if kind == "reduction" else 2
    case["before"] = [
        _operand(rng, place.dims or (), case["io"])
        for _ in range(rng.randint(1, longest) if before else 0)
    ]
    target = parameters.get("scores") or full
    if 1 in target and kind not in ("attention", "none") and rng.random() < 0.2:
        wider = parameters["x"] if kind == "reduction" else [rng.choice([1, 8, 33])] * len(target)
        pairs = zip(target, wider, strict=True)
        target = [more if size == 1 else size for size, more in pairs]  # broadcasts the result
    after = [_operand(rng, target, case["io"]) for _ in range(rng.choice([1, 1, 2, 2, 3, 5]))]
    if kind == "attention":
        for each in after:  # cuDNN takes operands of scores as they are only
            each["function"] = each["function"] if rng.random() < 0.1 else None
            each |= {"swapped": False, "again": False, "then": None, "kept": None}
    for each in after if kind == "matmul" else ():
        if rng.random() < 0.05:
            each |= {"product": True, "dims": full, "function": None}
    if before and (kind == "reduction" or rng.random() < 0.5):
        after = after[:-1]
    if kind == "expand" and rng.random() < 0.7:
        after = []
    case["small_first"] = len(after) > 1 and kind != "attention" and rng.random() < 0.35
    if case["small_first"]:
        after[0]["again"] = False
    case["after"] = after
    case["tail"] = rng.choice([None, None, None, "relu", "tanh"]) if kind != "attention" else None
    case["out"] = rng.choice([case["io"], "float32"]) if kind != "attention" else case["io"]
    case["gap"] = rng.choice(_GAPS) if kind == "none" else None
    if rng.random() < 0.8:
        _narrow(case)
    # Drawn apart, too.
    if alone.nodes and random.Random(f"alone {seed}").random() < 0.04:
        case |= {"before": [], "after": [], "small_first": False, "tail": None}
    known = {place.name: place.dims or (), "computed": place.dims or ()}
    for number, each in enumerate(case["after"] if reads else ()):
        fits = [name for name, dims in known.items() if _broadcasts(dims, full)]
        if fits and not (each["again"] or each.get("product")) and again.random() < 0.7:
            each |= {"reads": again.choice(fits), "function": again.choice([None, *_OF_ANY])}
        known[f"t{number}"] = each["dims"]
    beside = random.Random(f"beside {seed}")
    if kind != "attention" and beside.random() < 0.05:
        case["beside"] = {"reads": beside.choice([case["place"], "y", "u"]), "dims": full}
    turned = random.Random(f"turned {seed}")
    if kind not in ("attention", "none") and turned.random() < 0.05:
        case["turned"] = turned.sample(range(len(full)), len(full))
    return case


def _broadcasts(dims: Sequence[int], full: Sequence[int]) -> bool:
    return len(dims) == len(full) and all(d in (1, f) for d, f in zip(dims, full, strict=True))


def _as_large(parameters: Case, rng: random.Random) -> None:
    """Give a product or a convolution a result of its operand's size, which may be joined to it."""
    if "sizes" in parameters and len(parameters["sizes"]) == 3:
        parameters["sizes"][2] = parameters["sizes"][1]
    if parameters.get("kind") == "fprop" and parameters["groups"] == 1:
        window = rng.choice([1, 3, 3])
        rank = len(parameters["window"])
        parameters |= {"filters": parameters["x"][1], "window": [window] * rank}
        parameters |= {"stride": [1] * rank, "dilation": [1] * rank}
        parameters["padding"] = [window // 2] * rank


def draw_alone(seed: int, mains: Mapping[str, int] = MAINS) -> Case:
    """A main operation alone, whose tensors each have a type and an order of memory of their own.

    Convolutions have any number of channels, and half of them their channels first.
    """
    rng = random.Random(f"alone {seed}")
    often = {name: mains[name] for name in random_graphs.FAMILIES if name in mains}
    kind = rng.choices(list(often), list(often.values()))[0]
    parameters = _FAMILIES[kind][0](rng) | {"chain": []}
    if kind == "reduction":
        parameters["before"] = []
    if kind == "convolution":
        parameters["last"] = rng.random() < 0.5
        if rng.random() < 0.5:
            groups = parameters["groups"]
            parameters["x"][1], parameters["filters"] = (groups * rng.randint(1, 40) for _ in "xw")
    alone = Graph(io_data_type=parameters["io"])
    result = _FAMILIES[kind][1](alone, parameters).set_output()
    alone.validate()

    def differently(tensor: Tensor) -> Case:
        rank, drawn = tensor.rank, {}
        if rng.random() < 0.1:
            drawn["type"] = rng.choice(_TYPES)
        if rng.random() < 0.15:
            first, last = [*range(rank)], [0, *range(2, rank), 1]
            drawn["order"] = rng.choice([last, first, rng.sample(first, rank)])
        return drawn

    given = [each for each in alone.inputs if not each.by_value]
    case = {"seed": seed, "main": kind, "io": parameters["io"], "parameters": parameters}
    case |= {"place": "", "before": [], "after": [], "small_first": False, "tail": None}
    case |= {"out": parameters["io"], "gap": None, "dims": list(result.dims or ())}
    case["operands"] = {each.name: differently(each) for each in (*given, result)}
    case["operands"]["y"] = case["operands"].pop(result.name)
    return case


def _narrow(case: Case) -> None:
    """Leave out what cuDNN takes beside no reduction and no norm."""
    if case["main"] == "reduction":
        case |= {"after": [], "small_first": False, "tail": None, "out": "float32"}
    elif case["main"].startswith("norm"):
        after = [] if case["before"] else [{**case["after"][0], "function": None}]
        case |= {"after": after, "small_first": False, "out": case["io"]}


def _operand(rng: random.Random, full: Sequence[int], io: str) -> Case:
    whole = rng.choice([0.3, 0.5, 0.7])
    again = rng.random() < 0.1  # what it is joined with, in place of a tensor
    return {
        "dims": [size if rng.random() < whole else 1 for size in full],
        "function": rng.choice([None, None, *(_OF_ANY if again else FUNCTIONS)]),
        "join": rng.choice(JOINS),
        "type": rng.choice([io, io, "float32"]),
        "swapped": rng.random() < 0.2,
        "packed": rng.random() < 0.1,  # though the result may be channels-last
        "order": rng.sample(range(len(full)), len(full)) if rng.random() < 0.15 else None,
        "gap": rng.choice(_GAPS),
        "again": again,
        "then": rng.choice(_OF_ANY) if rng.random() < 0.15 else None,
        "kept": rng.choice(["function", "join"]) if rng.random() < 0.1 else None,  # as an output
    }


# --- describing ----------------------------------------------------------------------------------


class Sketch:
    """The graph of a case; what describes the main operation calls it as it would a graph.

    Parameters
    ----------
    case : dict
    graph : optional
        One with the methods of a `Graph`.
    """

    def __init__(self, case: Case, graph: Any = None) -> None:
        self.case = case
        self.graph = Graph(io_data_type=case["io"]) if graph is None else graph
        self._given: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.graph, name)

    def tensor(
        self,
        dims: Sequence[int],
        strides: Any = None,
        data_type: Any = None,
        *,
        name: str = "",
        **more: Any,
    ) -> Any:
        """An operand of the main operation, behind what comes before it."""
        other = self.case.get("operands", {}).get(name, {})
        data_type = other.get("type", data_type or self.case["io"])
        strides = packed(dims, other["order"]) if "order" in other else strides
        made = self.graph.tensor(dims, strides, data_type, name=name, **more)
        self._given[name] = made
        if name == self.case["place"]:
            steps = self.case["before"]
            operands = [self._operand(f"p{n}", each) for n, each in enumerate(steps)]
            made = self._given["computed"] = self._chain(made, steps, operands)
        return made

    def sdpa(self, q: Any, k: Any, v: Any) -> Any:
        """Attention whose scores meet the operands."""
        return self.graph.sdpa(q, k, v, score_mod=lambda _, scores: self._behind(scores))

    def result(self) -> Any:
        """The result of the whole graph, an output named y."""
        case, parameters = self.case, self.case["parameters"]
        made = _FAMILIES[case["main"]][1](self, parameters)
        if case["main"] != "attention":
            made = self._behind(made)
        if case["tail"]:
            made = getattr(self.graph, case["tail"])(made)
        other = case.get("operands", {}).get("y", {})
        made.set_output(name="y", data_type=other.get("type", case["out"]))
        if order := other.get("order", case.get("turned")):
            self.graph.validate()  # which finds the dims
            made.set_output(dims=made.dims, strides=packed(made.dims, order))
        if beside := case.get("beside"):  # another output, of an operand, the result or neither
            known, dims = {**self._given, "y": made}, beside["dims"]
            read = known.get(beside["reads"])
            if read is None:
                read = self.graph.tensor(dims, self.strides(dims), case["io"], name="u")
            self.graph.relu(read).set_output(name="z", data_type=case["out"])
        if case["main"] == "none":
            strides = _spaced(parameters["x"], self.strides(parameters["x"]), case.get("gap"))
            made.set_output(dims=parameters["x"], strides=strides)
        return made

    def strides(self, dims: Sequence[int]) -> tuple[int, ...]:
        """Packed, with the channels last where the main operation has them so."""
        parameters = self.case["parameters"]
        last = parameters.get("last", self.case["main"].startswith("norm"))
        last = last and len(dims) == len(parameters["x"])
        return packed(dims, (0, *range(2, len(dims)), 1) if last else None)

    def _behind(self, made: Any) -> Any:
        after = [*self.case["after"]]
        operands = [self._operand(f"t{n}", each) for n, each in enumerate(after)]
        if not self.case["small_first"]:
            return self._chain(made, after, operands)
        first, small = after.pop(0), operands.pop(0)
        return self._joined(made, self._chain(small, after, operands), first)

    def _chain(self, made: Any, steps: Sequence[Case], operands: Sequence[Any]) -> Any:
        for each, other in zip(steps, operands, strict=True):
            again = self._applied(made, each) if other is None else other
            made = self._joined(made, again, each)
        return made

    def _operand(self, name: str, each: Case) -> Any:
        """None for what it is joined with."""
        dims, order = each["dims"], each["order"]
        if order is None or self.case["main"] == "convolution":
            strides = packed(dims) if each["packed"] else self.strides(dims)
        else:
            strides = packed(dims, order)
        strides = _spaced(dims, strides, each.get("gap"))
        if each.get("again"):
            return None
        if not each.get("product"):
            made = self._given.get(each.get("reads"))
            if made is None:
                made = self._given[name] = self.graph.tensor(dims, strides, each["type"], name=name)
            return self._applied(made, each)
        (m, n), batch, k = dims[-2:], dims[:-2], self.case["parameters"]["sizes"][2]
        pair = ("x", [*batch, m, k]), ("b", [*batch, k, n])
        io = self.case["io"]
        return self.graph.matmul(
            *(self.graph.tensor(d, packed(d), io, name=p + name) for p, d in pair)
        )

    def _applied(self, made: Any, each: Case) -> Any:
        if not each["function"]:
            return made
        return self._kept(_function(self.graph, each["function"], made), each, "function")

    def _joined(self, first: Any, second: Any, each: Case) -> Any:
        if each["swapped"]:
            first, second = second, first
        made = getattr(self.graph, each["join"])(first, second)
        if each.get("then"):
            made = _function(self.graph, each["then"], made)
        return self._kept(made, each, "join")

    def _kept(self, made: Any, each: Case, step: str) -> Any:
        return made.set_output(data_type=self.case["out"]) if each.get("kept") == step else made

    def values(self) -> dict[str, Any]:
        """The numbers of all inputs by name: those of operands are positive, as roots want it."""
        rng = np.random.default_rng(self.case["seed"])
        found = {}
        for each in self.graph.inputs:
            if not each.by_value:
                dims = each.dims or ()
                positive = each.name[:1] in "pt" or self.case["main"] == "expand"
                value = rng.uniform(0.5 if positive else -1.5, 1.5, dims)
                terms = {"w": dims[1:], "b": dims[-2:-1]}.get(each.name)
                if terms is not None and len(dims) > 2:
                    value *= 2 / math.sqrt(math.prod(terms))
                found[each.name] = value.astype(numpy_dtype(each.data_type))
        parameters = {**self.case["parameters"], "family": self.case["main"]}
        random_graphs.prepare(parameters | {"seed": self.case["seed"]}, found)
        return found


def described(case: Case, target: Target, *, prepared: bool = True) -> tuple[Sketch, Expansion]:
    """The graph of a case, and what cuDNN gets of it, with operands `prepared` or as they are.

    Raises
    ------
    ValueError, TypeError
        If there is no such graph.
    """
    sketch = Sketch(case)
    result = sketch.result()
    expansion = sketch.graph._expanded(sketch.graph.validate(), target, fixed=prepared)
    parameters = case["parameters"]
    alone = not any(case.get(each) for each in ("after", "tail", "beside"))
    if case["main"] == "expand" and parameters["function"] == "identity" and alone:
        result.dims = tuple(parameters["full"])  # as what is computed beforehand copies
        result.strides = sketch.strides(result.dims)
    return sketch, expansion


def _function(graph: Any, name: str, operand: Any) -> Any:
    if name == "index":
        return graph.gen_index(operand, axis=max(range(operand.rank), key=operand.dims.__getitem__))
    return graph.mul(operand, 0.5) if name == "scale" else getattr(graph, name)(operand)
