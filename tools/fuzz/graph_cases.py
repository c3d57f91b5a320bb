"""Graphs of one, two and three operations, as plain data."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cudnn_ctypes.errors import SymbolNotFoundError
from cudnn_ctypes.graph import Graph, Tensor

from . import attention_operations, image_operations, matrix_operations, norm_operations
from .sketch import OPERATIONS, SHAPES, Sketch, Unfit, operands

__all__ = ["FAMILIES", "FORMS", "GPUS", "MODES", "REFUSED", "Case", "cases", "paths"]

FAMILIES = (attention_operations, image_operations, matrix_operations, norm_operations)
"""The modules that fill `OPERATIONS`."""

FORMS = {
    "chain": "a result of one operation is an operand of the other; also operations alone",
    "triple": "so with an operation of `BETWEEN` between",
    "joined": "the results of two operations are added",
    "siblings": "two operations have one operand in common",
    "apart": "two operations have nothing in common",
    "partial": "one operation lacks some of its optional operands",
}
GPUS = ("h200", "a100", "b200", "rtx4090", "rtx5090")
MODES = ("a", "b", "fallback")
BETWEEN = ("relu", "bias", "cmp_gt", "reshape")

REFUSED = (ValueError, TypeError, SymbolNotFoundError, NotImplementedError)
"""How layer 3 refuses a graph before cuDNN is asked."""


@dataclass(frozen=True)
class Case:
    """One graph, and what cuDNN is asked about it.

    Attributes
    ----------
    form : str
        Of `FORMS`.
    path : tuple of str
        Operations, between them the result of the first and the operand of the second:
        ("conv_fprop", "y", "A", "matmul"). For "joined" both are results, for "siblings" operands,
        for "apart" there is nothing between; for "partial" what is missing follows.
    shape : str
        Key of ``sketch.SHAPES``.
    io, intermediate : str
        Data types of tensors with memory, and of virtual ones.
    channels_last : bool
    kept : bool
        Whether the tensors between the operations are outputs too.
    gpu : str
        A preset of DeviceProperties.
    mode : str
        Of the heuristics; "build" builds a plan.
    """

    form: str
    path: tuple[str, ...]
    shape: str = "image"
    io: str = "float16"
    intermediate: str = "float32"
    channels_last: bool = True
    kept: bool = False
    gpu: str = "h200"
    mode: str = "a"

    def __str__(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Case:
        values = json.loads(text)
        return cls(**{**values, "path": tuple(values["path"])})

    def graph(self) -> Graph:
        """The graph; results that no operation uses are outputs.

        Raises
        ------
        Unfit
            If the operations do not fit together in this shape.
        """
        sketch = Sketch(self.shape, self.io, self.intermediate, channels_last=self.channels_last)
        graph, path = sketch.graph, self.path
        if self.form in ("chain", "triple"):
            results = dict(OPERATIONS[path[0]](sketch))
            for i in range(1, len(path), 3):
                result, operand, name = path[i : i + 3]
                given = {operand: _complete(graph, results[result])}
                results = dict(OPERATIONS[name](sketch, **given))
        elif self.form == "joined":
            results_a = OPERATIONS[path[0]](sketch)
            results_b = OPERATIONS[path[3]](sketch)
            a, b = (_complete(graph, each) for each in (results_a[path[1]], results_b[path[2]]))
            if a.dims != b.dims:
                raise Unfit(f"{a.dims} and {b.dims}")
            graph.add(a, b)
        elif self.form == "siblings":
            x = sketch.first()
            OPERATIONS[path[0]](sketch, **{path[1]: x})
            OPERATIONS[path[3]](sketch, **{path[2]: x})
        elif self.form == "apart":
            for name in path:
                OPERATIONS[name](sketch)
        else:
            OPERATIONS[path[0]](sketch)
            _drop(graph, path[1:])
        used = {id(each) for node in graph.nodes for each in node.operands}
        for node in graph.nodes:
            for tensor in node.outputs.values():
                if self.kept or id(tensor) not in used:
                    tensor.set_output()
        return graph


def _complete(graph: Graph, tensor: Tensor) -> Tensor:
    """The tensor with its dims, which validating the graph so far gives."""
    results = [each for node in graph.nodes for each in node.outputs.values()]
    before = [(each, each.virtual, each.data_type) for each in results]
    for each in results:
        each.set_output()
    graph.validate()
    for each, virtual, data_type in before:
        each.virtual, each.data_type = virtual, data_type
    return tensor


def _drop(graph: Graph, ports: Sequence[str]) -> None:
    """Take operands away from the only node."""
    if len(graph.nodes) != 1 or not set(ports) <= graph.nodes[0].inputs.keys():
        raise Unfit("not one operation with these operands")
    (node,) = graph.nodes
    for port in ports:
        del node.inputs[port]
    used = {id(each) for each in (*node.operands, *node.outputs.values())}
    graph.tensors[:] = [each for each in graph.tensors if id(each) in used]


# --- every case ----------------------------------------------------------------------------------


def paths(form: str) -> Iterator[tuple[str, ...]]:
    """Every combination of operations of one form."""
    alone = {name: _alone(name) for name in OPERATIONS}
    starts = [(name, result) for name, (_, results) in alone.items() for result in results]
    ends = [(operand, name) for name in OPERATIONS for operand in operands(name)]
    if form == "chain":
        yield from ((name,) for name in OPERATIONS)
        yield from ((*start, *end) for start, end in itertools.product(starts, ends))
    elif form == "triple":
        for start, middle, end in itertools.product(starts, BETWEEN, ends):
            yield *start, operands(middle)[0], middle, "y", *end
    elif form == "joined":
        for (first, a), (second, b) in itertools.combinations_with_replacement(starts, 2):
            yield first, a, b, second
    elif form == "siblings":
        for (a, first), (b, second) in itertools.combinations_with_replacement(ends, 2):
            yield first, a, b, second
    elif form == "apart":
        yield from itertools.combinations_with_replacement(OPERATIONS, 2)
    else:
        for name, (graph, _) in alone.items():
            if len(graph.nodes) == 1:
                (node,) = graph.nodes
                optional = [port for port in node.inputs if port in node.kind.optional]
                for count in range(1, len(optional) + 1):
                    for ports in itertools.combinations(optional, count):
                        yield name, *ports


def _alone(name: str) -> tuple[Graph, tuple[str, ...]]:
    """An operation in the first shape that it takes, and the names of its results."""
    for shape in SHAPES:
        sketch = Sketch(shape, "float16")
        try:
            return sketch.graph, tuple(OPERATIONS[name](sketch))
        except (Unfit, *REFUSED):
            continue
    raise ValueError(f"{name} takes no shape of {', '.join(SHAPES)}")


def cases(
    form: str,
    *,
    each: int = 0,
    rng: random.Random | None = None,
    shapes: Sequence[str] = tuple(SHAPES),
    types: Sequence[str] = ("float16", "float32"),
    gpus: Sequence[str] = GPUS,
    modes: Sequence[str] = MODES,
) -> Iterator[Case]:
    """The cases of one form, those of one path together.

    Parameters
    ----------
    each : int
        How many of each path, at random; 0 is all.
    rng : random.Random, optional
        Chooses them.
    """
    rng = rng or random.Random(0)
    axes: list[Sequence[Any]] = [
        [(shape, last) for shape in shapes for last in (True, False)[: 1 + _has_layouts(shape)]],
        types,
        (False, True),
        gpus,
        modes,
    ]
    every = list(itertools.product(*axes))
    for path in paths(form):
        for (shape, last), io, kept, gpu, mode in rng.sample(every, each) if each else every:
            yield Case(form, path, shape, io, "float32", last, kept, gpu, mode)


def _has_layouts(shape: str) -> bool:
    return len(SHAPES[shape]) > 3
