"""Operations said in others, against what they compute in NumPy and PyTorch."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import Graph
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.partition.rewrites import rewritten
from cudnn_ctypes.raw import cudnnReduceTensorOp_t
from cudnn_ctypes.raw.strides import packed
from cudnn_ctypes.reference import graph as formulas

from ..cases import Case, check
from ..families import CASES

IMAGE, CHANNELS = (4, 3, 2, 6), (1, 3, 1, 1)
NHWC = packed(IMAGE, (0, 2, 3, 1))
WIDE = {"data_type": "float32"}
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def reduced(mode: str, axes: Any, compute: Any, dims: Any = IMAGE, **options: Any) -> Case:
    """`options` are of the operand, but `output` of the result and `offset` of the operation."""
    output, offset = options.pop("output", {}), options.pop("offset", False)
    io = options.pop("io", "float32")

    def describe(g: Graph) -> None:
        begins = g.tensor((2, 1, 1, 1), data_type="int32", name="offset") if offset else None
        x = g.tensor(dims, name="x", **options)
        g.reduction(x, mode, axes=axes, group_offset=begins).set_output(name="y", **output)

    return Case(describe, lambda a: {"y": compute(a["x"], axis=axes, keepdims=True)}, io, 1e-3)


def softmax(*outputs: str) -> Case:
    """With a sink."""

    def describe(g: Graph) -> None:
        x, sink = g.tensor(IMAGE, name="x"), g.tensor(CHANNELS, name="sink")
        for name, each in g.softmax(x, sink=sink, outputs=outputs).items():
            each.set_output(name=name)

    def compute(a: Any) -> Any:
        found = formulas.softmax(a["x"], a["sink"])
        return {name: getattr(found, "maximum" if name == "max" else name) for name in outputs}

    return Case(describe, compute, "float32", 1e-6)


def rope(
    dims: Any, angles: Any, size: int | None = None, backward: bool = False, io: str = "float32"
) -> Case:
    method, factor = "rope_backward" if backward else "rope", 0.5 if size else 1.0

    def describe(g: Graph) -> None:
        operands = g.tensor(dims, name="x"), g.tensor(angles, name="angles")
        getattr(g, method)(*operands, output_scale=factor, rope_dim=size).set_output(name="y")

    def compute(a: Any) -> Any:
        return {"y": getattr(formulas, method)(a["x"], a["angles"], rope_dim=size, scale=factor)}

    return Case(describe, compute, io, 1e-6 if io == "float32" else 1e-3)


def larger(mode: str, *stride: Fraction) -> Case:
    def describe(g: Graph) -> None:
        padding = [1 - each for each in stride]
        x = g.tensor(IMAGE, NHWC, name="x")
        y, _ = g.resample(x, mode, window=1, stride=stride, post_padding=padding)
        y.set_output(name="y")

    def compute(a: Any) -> Any:
        return {"y": a["x"].repeat(int(1 / stride[0]), 2).repeat(int(1 / stride[1]), 3)}

    return Case(describe, compute, "float16", 0)


def refused(describe: Any) -> Case:
    return Case(lambda g: describe(g, g.tensor(IMAGE, name="x")).set_output(), lambda a: {})


def running(g: Graph, x: Tensor) -> Tensor:
    scale, bias, means, variances = (g.tensor(CHANNELS) for _ in range(4))
    options = {"in_running_mean": means, "in_running_var": variances, "momentum": 0.5}
    found = g.norm_forward("batch", "training", x, scale, bias, 0.25, **options)
    for each in found.values():
        each.set_output()
    return found["y"]


NORMED, GRADIENT = "reduction, sub, mul, add, rsqrt", "mul, sub, reduction"
BARE, SQUARES = "sub, mul, reduction", "mul, reduction, add, rsqrt"
TURNED = "slice, add, cos, sin, mul, sub, concatenate"
POOLED = "transpose, reshape, resample"

# What is described, what it is said in, and how many operations that are.
SAID: list[tuple[str | Case, str, int]] = [
    ("layer norm of three dimensions, training, float32", NORMED, 10),
    ("ada_layer norm, training, float32", NORMED, 10),
    ("batch norm, packed as in C, training, float32", NORMED, 10),
    ("rms norm with bias, training, float32", SQUARES, 7),
    ("rms norm without scale, inference, float32", SQUARES, 5),
    ("layer norm of three dimensions, backward, float32", GRADIENT, 19),
    ("layer norm without scale, backward, float32", BARE, 11),
    ("instance norm, backward, float32", GRADIENT, 19),
    ("rms norm, backward, float32", "mul, reduction, sub", 12),
    (softmax("y", "stats", "max", "sum_exp"), "reduction, max, sub, exp, add, div, log", 13),
    (softmax("stats"), "reduction, max, sub, exp, add, log", 10),
    (rope((2, 6, 3, 16), (1, 6, 1, 20)), TURNED, 18),
    (rope((2, 3, 6, 16), (1, 1, 6, 16), 16, backward=True), TURNED, 19),
    (rope((1, 6, 3, 16), (1, 6, 1, 8), 8, io="float16"), TURNED, 21),
    (rope((2, 6, 3, 16), (2, 6, 1, 16), 10, backward=True), TURNED, 21),
    (reduced("avg", (3,), np.mean), "mul, reduction", 2),
    (reduced("avg", (0, 1), np.mean), "mul, reduction", 2),
    (reduced("avg", (0, 3), np.mean), "reduction, mul", 2),
    (reduced("avg", (1,), np.mean), "reduction, mul", 2),
    (reduced("norm1", (1,), lambda x, **k: np.abs(x).sum(**k)), "abs, reduction", 2),
    (reduced("norm2", (3,), lambda x, **k: (x * x).sum(**k) ** 0.5), "mul, reduction, sqrt", 3),
    (reduced("max", (0, 1, 3), np.max), "reduction", 2),
    (reduced("min", (2, 3), np.min), "reduction, identity", 2),
    (reduced("min", (1,), np.min), "neg, reduction", 3),
    (reduced("amax", (1,), lambda x, **k: abs(x).max(**k)), "abs, reduction", 2),
    (reduced("add", (1,), np.sum, strides=NHWC), "reduction, identity", 2),
    (reduced("max", (1, 2), np.max), POOLED, 8),
    (reduced("max", (2,), np.max, io="float16", strides=NHWC), POOLED, 8),
    (reduced("max", (1,), np.max, io="float16", output=WIDE), f"{POOLED}, identity", 9),
    (reduced("add", (1,), np.sum), f"{POOLED}, mul", 9),
    (reduced("add", (1, 2), np.sum, io="float16", output=WIDE), "transpose, reshape, matmul", 5),
    (larger("nearest", HALF, THIRD), "reshape, concatenate", 5),
    # What stays as it is.
    (reduced("mul", (1,), np.prod), "", 1),
    (reduced("add", (1,), np.sum, strides=(40, 12, 6, 1)), "", 1),
    (reduced("add", (2,), np.sum, (4, 3, 1, 6)), "", 1),
    (reduced("add", None, np.sum, output={"dims": (4, 1, 2, 2)}), "", 1),
    (reduced("add", (3,), np.sum, offset=True), "", 1),
    (larger("nearest", HALF, Fraction(2, 3)), "", 1),
    (larger("bilinear", HALF, THIRD), "", 1),
    (refused(running), "", 1),
    (refused(lambda g, x: g.norm_forward("layer", "inference", x, axes=(1, 2, 3))["y"]), "", 1),
    (refused(lambda g, x: g.norm_backward("batch", x, x, epsilon=0.25)["dx"]), "", 1),
]


@pytest.mark.parametrize(("case", "said", "count"), SAID)
def test_operations_are_said_in_others(case, said, count, handle):
    case = CASES[case] if isinstance(case, str) else case
    with case.graph() as graph:
        (node,) = graph.validate()
        before = graph.to_json()
        assert rewritten(graph, [node], {}) == ([f"{node} as {said}"] if said else [])
        assert len(graph.nodes) == count
        if not said:
            assert graph.to_json() == before
            return
        assert {str(each) for each in graph.nodes} == {str(node)}
        average = cudnnReduceTensorOp_t.CUDNN_REDUCE_TENSOR_AVG  # cuDNN describes none
        rewritten(graph, [each for each in graph.nodes if each.options.get("mode") is average], {})
        graph.build(handle, without_engine=True, program=False)
        check(case, graph, handle)
