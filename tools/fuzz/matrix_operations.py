"""Products, element-wise operations, reductions and what moves elements; see `sketch`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cudnn_ctypes.graph import Tensor

from .sketch import OPERATIONS, Given, Results, Sketch, Unfit, named, operation

# --- products -------------------------------------------------------------------------------------


@operation("matmul")
def _matmul(s: Sketch, A: Given = None, B: Given = None) -> Results:
    if B is not None:
        dims = s.of(B)
        if len(dims) < 2:
            raise Unfit("rank 1")
        return named(s.graph.matmul(s.new((*dims[:-2], 32, dims[-2])), B))
    A = s.first(A)
    dims = s.of(A)
    if len(dims) < 2:
        raise Unfit("rank 1")
    return named(s.graph.matmul(A, s.new((*dims[:-2], dims[-1], 32))))


@operation("matmul transposed")
def _matmul_transposed(s: Sketch, A: Given = None, B: Given = None) -> Results:
    if B is not None:
        dims = s.of(B)
        if len(dims) < 2:
            raise Unfit("rank 1")
        A = s.new((*dims[:-2], 32, dims[-1]))
        return named(s.graph.matmul(A, B, transpose_B=True))
    A = s.first(A)
    dims = s.of(A)
    if len(dims) < 2:
        raise Unfit("rank 1")
    B = s.new((*dims[:-2], dims[-2], 32))
    return named(s.graph.matmul(A, B, transpose_A=True))


def _experts(s: Sketch, batches: int = 1) -> Tensor:
    return s.new((4 * batches, 1, 1), "int32")


@operation("moe_grouped_matmul")
def _moe(s: Sketch, token: Given = None, weight: Given = None) -> Results:
    if weight is not None:
        experts, k, _ = s.of(weight, 3)
        offsets = s.new((experts, 1, 1), "int32")
        return named(s.graph.moe_grouped_matmul(s.new((1, 256, k)), weight, offsets))
    token = s.first(token)
    one, _, k = s.of(token, 3)
    if one != 1:
        raise Unfit("several batches")
    return named(s.graph.moe_grouped_matmul(token, s.new((4, k, 64)), _experts(s)))


@operation("moe_grouped_matmul_bwd")
def _moe_backward(s: Sketch, doutput: Given = None, token: Given = None) -> Results:
    given = s.first(doutput, token)
    one, rows, _ = s.of(given, 3)
    if one != 1:
        raise Unfit("several batches")
    other = s.new((1, rows, 64))
    grad, x = (other, given) if token is not None else (given, other)
    return named(s.graph.moe_grouped_matmul_bwd(grad, x, _experts(s)))


# --- element by element --------------------------------------------------------------------------


def _pointwise(name: str, count: int, **options: Any) -> None:
    def unary(s: Sketch, a: Given = None) -> Results:
        return named(getattr(s.graph, name)(s.first(a), **options))

    def binary(s: Sketch, a: Given = None, b: Given = None) -> Results:
        given = s.first(b, a)
        other = s.like(given)
        both = (other, given) if b is not None else (given, other)
        return named(getattr(s.graph, name)(*both, **options))

    OPERATIONS[name] = unary if count == 1 else binary


for _name in ("relu", "exp", "gelu", "identity", "erf", "reciprocal"):
    _pointwise(_name, 1)
for _name in ("add", "mul", "max", "pow", "add_square", "cmp_gt", "relu_backward", "gelu_backward"):
    _pointwise(_name, 2)
_pointwise("gen_index", 1, axis=1)


@operation("bias")
def _bias(s: Sketch, input: Given = None, bias: Given = None) -> Results:
    if bias is not None:
        return named(s.graph.bias(s.new((4, *s.of(bias)[1:])), bias))
    input = s.first(input)
    return named(s.graph.bias(input, s.new(s.channels(input))))


@operation("scale by a number")
def _scale(s: Sketch, input: Given = None) -> Results:
    return named(s.graph.scale(s.first(input), 0.5))


def _flags(s: Sketch, given: Given) -> Tensor:
    """A boolean operand: the given tensor, compared with 0 where it is none."""
    if given is None:
        return s.new(s.dims, "boolean")
    return given


@operation("logical_not")
def _logical_not(s: Sketch, a: Given = None) -> Results:
    return named(s.graph.logical_not(_flags(s, a)))


@operation("logical_and")
def _logical_and(s: Sketch, a: Given = None) -> Results:
    a = _flags(s, a)
    return named(s.graph.logical_and(a, s.like(a, "boolean")))


@operation("binary_select")
def _binary_select(s: Sketch, input0: Given = None, mask: Given = None) -> Results:
    if mask is not None:
        return named(s.graph.binary_select(s.like(mask), s.like(mask), mask))
    x = s.first(input0)
    return named(s.graph.binary_select(x, s.like(x), s.like(x, "boolean")))


# --- reductions -------------------------------------------------------------------------


def _reduction(name: str, mode: str, axes: Callable[[int], Sequence[int]]) -> None:
    def reduce(s: Sketch, input: Given = None) -> Results:
        input = s.first(input)
        rank = len(s.of(input))
        if rank < 2:
            raise Unfit("rank 1")
        return named(s.graph.reduction(input, mode, axes=axes(rank)))

    OPERATIONS[name] = reduce


_reduction("reduction of rows", "add", lambda rank: [rank - 1])
_reduction("reduction to channels", "add", lambda rank: [0, *range(2, rank)])
_reduction("reduction of channels", "max", lambda rank: [1])
_reduction("reduction of all", "amax", lambda rank: range(rank))


# --- places --------------------------------------------------------------------------------------


@operation("reshape")
def _reshape(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    dims = s.of(input)
    if len(dims) < 2:
        raise Unfit("rank 1")
    merged = (*dims[:-2], dims[-2] * dims[-1]) if len(dims) > 3 else (*dims, 1)
    return named(s.graph.reshape(input, merged))


@operation("transpose")
def _transpose(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    rank = len(s.of(input))
    order = [*range(rank - 2), rank - 1, rank - 2] if rank > 1 else [0]
    return named(s.graph.transpose(input, order))


@operation("slice")
def _slice(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    *rest, size = s.of(input)
    part = slice(0, max(size // 2, 1))
    return named(s.graph.slice(input, [*(slice(0, each) for each in rest), part]))


@operation("concatenate")
def _concatenate(s: Sketch, input: Given = None) -> Results:
    input = s.first(input)
    other = s.like(input, s.intermediate if input.virtual else None)
    return named(s.graph.concatenate([input, other], -1))


@operation("rng")
def _rng(s: Sketch) -> Results:
    return named(s.graph.rng(s.dims, "bernoulli", seed=1234, probability=0.5))
