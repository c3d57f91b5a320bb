"""Operations that no engine has by themselves, said in element-wise ones, sums and products.

Each rule adds operations to a graph and returns what stands for the results of the node. Formulas
are those of `reference`, which is what tests hold the results against.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...raw import (
    cudnnBackendNormMode_t,
    cudnnDataType_t,
    cudnnReduceTensorOp_t,
    cudnnResampleMode_t,
)
from ...raw.strides import axis_order, packed
from ..describe.description import Description
from ..describe.node import Kind, Node
from ..describe.operations.normalizations import NORM_BACKWARD, NORM_FORWARD
from ..describe.operations.reductions import REDUCTION
from ..describe.operations.resampling import RESAMPLE_FORWARD
from ..describe.operations.sequences import ROPE, ROPE_BACKWARD, SOFTMAX
from ..describe.tensor import Tensor

Results = Mapping[str, Tensor]
Strides = Mapping[int, tuple[int, ...]]
Rule = Callable[[Description, Node, Strides], Results | None]
"""From a graph, one of its nodes, and how tensors lie in memory, by unique id, to tensors by port.

None where it does not fit.
"""

SIXTEEN = (cudnnDataType_t.CUDNN_DATA_HALF, cudnnDataType_t.CUDNN_DATA_BFLOAT16)
_Norm = cudnnBackendNormMode_t
_Reduce = cudnnReduceTensorOp_t


def _softmax(g: Description, node: Node, strides: Strides) -> Results:
    """exp(x - max) / sum; the exponentials are computed twice rather than stored."""
    x, sink = node.inputs["input"], node.inputs.get("sink")
    row = (x.rank - 1,)
    highest = g.reduction(x, "max", axes=row)
    if sink is not None:
        highest = g.max(highest, sink)
    total = g.reduction(g.exp(x - highest), "add", axes=row)
    if sink is not None:
        total = total + g.exp(sink - highest)
    found = {"max": highest, "sum_exp": total}
    if "y" in node.outputs:
        found["y"] = g.exp(x - highest) / total
    if "stats" in node.outputs:
        found["stats"] = g.log(total) + highest
    return found


def _rope(g: Description, node: Node, strides: Strides) -> Results:
    """The two halves of each head turned into each other, each in its part of the result."""
    x, angles = node.inputs["input"], node.inputs["freqs"]
    size = node.options.get("rope_dim") or x.dims[-1]
    factor, half = node.options.get("output_scale"), size // 2

    def scaled(of: Tensor) -> Tensor:
        return of if factor in (None, 1.0) else of * factor

    first, second = x[..., :half], x[..., half:size]
    cos_a, sin_a, cos_b, sin_b = _turns(g, x, angles, half)
    if node.kind is ROPE:
        turned = first * cos_a - second * sin_a, second * cos_b + first * sin_b
    else:
        turned = first * cos_a + second * sin_b, second * cos_b - first * sin_a
    rest = [x[..., size:]] if size < x.dims[-1] else []
    parts = [scaled(each) for each in (*turned, *rest)]
    for each in parts:
        each.data_type = x.data_type
    return {"y": g.concatenate(parts, axis=-1)}


def _turns(g: Description, x: Tensor, angles: Tensor, half: int) -> list[Tensor]:
    """Cosines and sines of both halves of the angles; once for tensors that turn by the same.

    They are packed, and whole along all dimensions but neighbouring ones, as engines want of what
    broadcasts: of (batch, rows, 1, size) for heads that lie between rows and their elements.
    """
    outer, given = (x.dims or ())[:-1], angles.dims or ()
    wide = [axis for axis, size in enumerate(outer) if size != 1]
    few = [axis for axis in wide if given[axis] == 1]
    while few and [axis for axis in wide if few[0] <= axis <= few[-1]] != few:
        few = few[1:]
    dims = [1 if axis in few else size for axis, size in enumerate(outer)]
    names = [f"{angles.name}.{half}.{each}.{dims}" for each in ("cos", "sin", "cos2", "sin2")]
    known = {each.name: each for each in g.tensors}
    if names[0] in known:
        return [known[name] for name in names]
    if given[:-1] != (*dims,):
        angles = angles + _nothing(g, (*dims, given[-1]), angles)
    nothing = _nothing(g, (*dims, half), angles)
    found = []
    for part in (angles[..., :half], angles[..., half : 2 * half]):
        packed_part = part + nothing
        found += [g.cos(packed_part), g.sin(packed_part)]
    for each, name in zip(found, names, strict=True):
        each.name = name
    return found


def _nothing(g: Description, dims: Sequence[int], like: Tensor) -> Tensor:
    """Negative zeros: what is added to them stays as it is, even its signs."""
    made = g.tensor(dims, data_type=like.data_type, name=f"{like.name}.zeros")
    made.scratch, made.value = True, -0.0
    return made


def _norm(g: Description, node: Node, strides: Strides) -> Results | None:
    """Sums for the statistics, then one element-wise operation after the other."""
    x, mode = node.inputs["input"], node.options["mode"]
    if node.inputs.keys() & {"in_running_mean", "peer_stats"}:
        return None
    if "epsilon" not in node.inputs and "inv_variance" not in node.inputs:
        return None
    mean, inverse = node.inputs.get("mean"), node.inputs.get("inv_variance")
    found: dict[str, Tensor] = {}
    if inverse is None:
        axes = _normalized(node)
        if mode != _Norm.CUDNN_RMS_NORM:
            mean = found["mean"] = g.reduction(x, "avg", axes=axes)
        centered = x if mean is None else x - mean
        squares = g.reduction(centered * centered, "avg", axes=axes)
        inverse = g.rsqrt(squares + node.inputs["epsilon"])
        found["inv_variance"] = inverse
    y = (x if mean is None else x - mean) * inverse
    for port, operation in (("scale", g.mul), ("bias", g.add)):
        if port in node.inputs:
            y = operation(y, node.inputs[port])
    return {**found, "y": y}


def _normalized(node: Node) -> tuple[int, ...]:
    """The axes that a norm takes its means along."""
    x = node.inputs["input"]
    found = node.kind.infer(replace(node, outputs={"inv_variance": x, "mean": x}))
    rows = found["mean"].dims or ()
    axes = tuple(i for i, (a, b) in enumerate(zip(x.dims, rows, strict=True)) if b == 1 and a > 1)
    return axes or (x.rank - 1,)


def _norm_backward(g: Description, node: Node, strides: Strides) -> Results | None:
    """dx = inv_variance * (g - mean(g) - n * mean(g * n)), g = dy * scale, n the normalized x."""
    dy: Tensor = node.inputs["grad"]
    x, mode = node.inputs["input"], node.options["mode"]
    inverse, mean = node.inputs.get("inv_variance"), node.inputs.get("mean")
    if inverse is None or "peer_stats" in node.inputs:
        return None
    forward = replace(node, kind=NORM_FORWARD)
    axes = _normalized(forward)
    scale = node.inputs.get("scale")

    def normalized() -> Tensor:
        return g.mul(x if mean is None else x - mean, inverse)

    def gradient() -> Tensor:
        return dy if scale is None else dy * scale

    along = g.reduction(gradient() * normalized(), "avg", axes=axes)
    dx = gradient() - normalized() * along
    if mode != _Norm.CUDNN_RMS_NORM:
        dx = dx - g.reduction(gradient(), "avg", axes=axes)
    found = {"dx": dx * inverse}
    if scale is not None:
        others = tuple(i for i, n in enumerate(scale.dims) if n == 1 and x.dims[i] > 1)
        if "dscale" in node.outputs:
            found["dscale"] = g.reduction(dy * normalized(), "add", axes=others)
        if "dbias" in node.outputs:
            found["dbias"] = g.reduction(dy, "add", axes=others)
    return found


_BY_SUM: Mapping[int, Callable[[Description, Tensor], Tensor]] = {
    _Reduce.CUDNN_REDUCE_TENSOR_NORM1: lambda g, x: g.abs(x),
    _Reduce.CUDNN_REDUCE_TENSOR_NORM2: lambda g, x: x * x,
}


def _reduction(g: Description, node: Node, strides: Strides) -> Results | None:
    """Other modes by sums; other axes by one block of memory after the other."""
    x, mode = node.inputs["input"], node.options["mode"]
    y = node.outputs["y"]
    left = y.dims or ()
    axes = [i for i, (a, b) in enumerate(zip(x.dims, left, strict=True)) if a != b]
    if "group_offset" in node.inputs or any(left[axis] != 1 for axis in axes) or not axes:
        return None
    lie = strides.get(x.uid or 0, x.strides or ())
    runs = _runs(x, lie, axes)
    order = [a for a in axis_order(x.dims or (), lie) if (x.dims or ())[a] > 1]
    at_one_end = len(runs) == 1 and (runs[0][0] == order[0] or runs[0][-1] == order[-1])
    if mode == _Reduce.CUDNN_REDUCE_TENSOR_AVG:
        share = 1 / math.prod(x.dims[axis] for axis in axes)
        if at_one_end:  # before the sum, where one engine does both
            return {"y": g.reduction(x * share, "add", axes=axes)}
        return {"y": g.reduction(x, "add", axes=axes) * share}
    if mode in _BY_SUM:
        total = g.reduction(_BY_SUM[mode](g, x), "add", axes=axes)
        return {"y": g.sqrt(total) if mode == _Reduce.CUDNN_REDUCE_TENSOR_NORM2 else total}
    if len(runs) > 1:
        first = g.reduction(x, mode, axes=runs[-1])
        return {"y": g.reduction(first, mode, axes=[a for run in runs[:-1] for a in run])}
    if at_one_end:  # engines give such sums in float32
        return {"y": g.identity(g.reduction(x, mode, axes=axes))}
    if mode == _Reduce.CUDNN_REDUCE_TENSOR_MIN:
        return {"y": g.neg(g.reduction(g.neg(x), "max", axes=axes))}
    if mode == _Reduce.CUDNN_REDUCE_TENSOR_AMAX:
        return {"y": g.reduction(g.abs(x), "max", axes=axes)}
    return _middle(g, x, lie, mode, runs[0], y)


def _runs(x: Tensor, strides: Sequence[int], axes: Sequence[int]) -> list[list[int]]:
    """Axes in groups that are neighbours in memory, the innermost last."""
    order = [a for a in axis_order(x.dims or (), strides) if (x.dims or ())[a] > 1]
    runs: list[list[int]] = []
    for place, axis in enumerate(order):
        if axis in axes:
            if place == 0 or order[place - 1] not in axes:
                runs.append([])
            runs[-1].append(axis)
    return runs


def _middle(
    g: Description,
    x: Tensor,
    strides: Sequence[int],
    mode: Any,
    axes: Sequence[int],
    y: Tensor,
) -> Results | None:
    """A sum between outer and inner dimensions as a product with ones; a maximum as pooling.

    Tensor cores round the operands of a product to the 11 bits of float16; a sum in a graph that
    has float32 alone is pooling, too.
    """
    dims = x.dims or ()
    order = [axis for axis in axis_order(dims, strides) if dims[axis] > 1]
    if [strides[axis] for axis in order] != list(packed([dims[axis] for axis in order])):
        return None
    first, last = order.index(axes[0]), order.index(axes[-1])
    outer, middle, inner = (
        math.prod(dims[axis] for axis in some) for some in (order[:first], axes, order[last + 1 :])
    )
    turned = [*[axis for axis in range(x.rank) if axis not in order], *order]
    rows = g.reshape(g.transpose(x, turned), (outer, middle, inner))
    is_sum = mode == _Reduce.CUDNN_REDUCE_TENSOR_ADD
    given = {t.data_type for t in g.tensors if not (t.virtual or t.by_value or t.scratch)}
    if is_sum and given & set(SIXTEEN):
        ones = g.tensor((1, 1, middle), data_type=x.data_type, name=f"{x.name}.ones")
        ones.scratch, ones.value = True, 1.0
        found = g.matmul(ones, rows)
    elif is_sum or mode == _Reduce.CUDNN_REDUCE_TENSOR_MAX:
        images = g.transpose(g.reshape(rows, (outer, middle, 1, inner)), (0, 3, 1, 2))
        pooling = "avgpool" if is_sum else "maxpool"
        found, _ = g.resample(images, pooling, window=(middle, 1), stride=(middle, 1))
        found.data_type, found.dims = x.data_type, (outer, inner, 1, 1)
        found.strides = packed(found.dims, (0, 2, 3, 1))
        if is_sum:
            found = found * float(middle)
        elif y.data_type != x.data_type:  # pooling gives the type that it takes
            found = g.identity(found)
        found = g.transpose(found, (0, 2, 3, 1))
    else:
        return None
    kept = [(y.dims or ())[axis] for axis in turned]
    back = sorted(range(x.rank), key=lambda axis: turned[axis])
    return {"y": g.transpose(g.reshape(found, kept), back)}


def _upsampling(g: Description, node: Node, strides: Strides) -> Results | None:
    """Each pixel several times: one strided copy for each place within a new pixel."""
    x, y, options = node.inputs["input"], node.outputs["y"], node.options
    if options["mode"] != cudnnResampleMode_t.CUDNN_RESAMPLE_NEAREST:
        return None
    sizes = list(zip(x.dims[2:], (y.dims or ())[2:], strict=True))
    if any(new % old for old, new in sizes):
        return None
    times = [new // old for old, new in sizes]
    apart = (*x.dims[:2], *(n for size, _ in sizes for n in (size, 1)))
    column = g.reshape(x, apart, reshape_mode="logical")

    def repeated(axis: int) -> Tensor:
        if axis == len(times):
            return column
        some = [repeated(axis + 1) for _ in range(times[axis])]
        return g.concatenate(some, axis=3 + 2 * axis)

    return {"y": g.reshape(repeated(0), y.dims, reshape_mode="logical")}


NORMS = (NORM_FORWARD, NORM_BACKWARD)
_RULES: tuple[tuple[Kind, Rule], ...] = (
    (SOFTMAX, _softmax),
    (ROPE, _rope),
    (ROPE_BACKWARD, _rope),
    (NORM_FORWARD, _norm),
    (NORM_BACKWARD, _norm_backward),
    (REDUCTION, _reduction),
    (RESAMPLE_FORWARD, _upsampling),
)


def rewritten(graph: Description, nodes: Sequence[Node], strides: Strides) -> list[str]:
    """Replace nodes of a graph by operations that engines have, where a rule does.

    `strides` say how tensors lie in memory, by unique id.

    Returns the replaced operations, in words.
    """
    told = []
    for each in graph.tensors:
        each._graph = weakref.ref(graph)
    for node in nodes:
        rule = next((rule for kind, rule in _RULES if kind is node.kind), None)
        before, tensors = len(graph.nodes), len(graph.tensors)
        found = rule(graph, node, strides) if rule is not None else None
        if found is None or not node.outputs.keys() <= found.keys():
            del graph.nodes[before:], graph.tensors[tensors:]
            continue
        added = graph.nodes[before:]
        del graph.nodes[before:]
        for part in added:
            part.origin = node.origin or node
            part.compute_data_type = node.compute_data_type
        for port, target in node.outputs.items():
            _into(graph, added, found[port], target)
        place = next(i for i, each in enumerate(graph.nodes) if each is node)
        graph.nodes[place : place + 1] = added
        parts = ", ".join(dict.fromkeys(each.operation for each in added))
        told.append(f"{node} as {parts}")
    if told:
        graph.validate()
    return told


def _into(graph: Description, nodes: Sequence[Node], result: Tensor, target: Tensor) -> None:
    """Have operations write `target` where they wrote `result`."""
    for node in nodes:
        for port, each in node.outputs.items():
            if each is result:
                node.outputs[port] = target
        for port, value in node.inputs.items():
            if value is result:
                node.inputs[port] = target
    graph.tensors[:] = [each for each in graph.tensors if each is not result]
