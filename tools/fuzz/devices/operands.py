"""How the operands of a case are drawn, each for itself: layout, values, place and factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .draw import Draw
from .program import Program, packed

__all__ = [
    "ALL_TYPES",
    "FLOATS",
    "ROUNDOFF",
    "enumerators",
    "factor",
    "image",
    "overlaps",
    "strides",
    "tensor",
    "values",
]

Ints = tuple[int, ...]
FLOATS = ("FLOAT", "HALF", "DOUBLE", "BFLOAT16")
ALL_TYPES = (*FLOATS, "INT8", "INT32", "UINT8", "INT8x4", "INT8x32", "UINT8x4", "INT64")
ROUNDOFF = {"DOUBLE": 2.0**-53, "FLOAT": 2.0**-24, "HALF": 2.0**-11, "BFLOAT16": 2.0**-8}
_ALPHAS, _BETAS = (1.0, 0.5, -1.25, 0.0, 2.0), (0.0, 1.0, 0.5, -1.5)
_LAYOUTS = ("packed", "last", "gaps", "permuted", "wide", "rows")
_VALUES = ("normal", "small", "large", "tiny", "zeros", "constant", "specials")


def enumerators(names: str, prefix: str) -> list[str]:
    """Enumerators by the end of their names."""
    return [f"CUDNN_{prefix}{name}" for name in names.split()]


def factor(draw: Draw, name: str) -> float:
    """A number that scales: mostly 1 for alpha, mostly 0 for beta."""
    if name.startswith("alpha"):
        return float(draw.choice(name, _ALPHAS, (60, 15, 10, 5, 10)))
    return float(draw.choice(name, _BETAS, (60, 20, 15, 5)))


def image(
    draw: Draw, name: str = "x", *, least: int = 3, most: int = 5, largest: int = 2048
) -> Ints:
    """(N, C, sizes...) of `least` to `most` dimensions, with at most `largest` elements."""
    ranks = sorted(range(least, most + 1), key=lambda n: abs(n - 4))
    rank = draw.choice(f"{name}.rank", ranks, [{4: 60, 5: 25, 3: 12}.get(n, 3) for n in ranks])
    longest = {3: 24, 4: 9, 5: 5}.get(rank, 4)
    dims = [
        draw.integer(f"{name}.n", 1, 4),
        draw.integer(f"{name}.c", 1, draw.choice(f"{name}.channels", (8, 3, 33, 1), (6, 2, 1, 1))),
        *draw.integers(f"{name}.size", rank - 2, 1, longest),
    ]
    while _count(dims) > largest:
        dims[dims.index(max(dims))] = max(1, max(dims) // 2)
    return tuple(dims)


def strides(draw: Draw, name: str, dims: Sequence[int], *, overlap: float = 0) -> Ints:
    """How a tensor lies in memory."""
    kinds = (*_LAYOUTS, "overlap")
    layout = draw.choice(f"{name}.layout", kinds, (45, 22, 12, 8, 4, 4, 5 * overlap))
    rank = len(dims)
    if layout == "last":
        return packed(dims, [0, *range(2, rank), 1])
    if layout == "gaps":
        result, step = [], 1
        for axis in reversed(range(rank)):
            result.insert(0, step)
            step = step * dims[axis] + draw.integer(f"{name}.gap{axis}", 0, 2)
        return tuple(result)
    if layout == "permuted":
        order, axes = [], list(range(rank))
        for i in range(rank):
            order.append(axes.pop(draw.integer(f"{name}.order{i}", 0, len(axes) - 1)))
        return packed(dims, order)
    if layout == "wide":
        return tuple(2 * step for step in packed(dims))
    if layout == "rows":  # channels last with room between pixels
        inner = packed([*dims[:1], *dims[2:], dims[1] + 3])
        return (inner[0], 1, *inner[1:-1])
    if layout == "overlap":
        axis = draw.integer(f"{name}.overlapping", 0, rank - 1)
        step = draw.choice(f"{name}.overlapping step", (1, 2, 0), (5, 5, 1))
        return tuple(step if i == axis else each for i, each in enumerate(packed(dims)))
    return packed(dims)


def overlaps(dims: Sequence[int], steps: Sequence[int]) -> bool:
    """Whether elements may share addresses: results would depend on which is written last."""
    end = 0
    for step, size in sorted(zip(steps, dims, strict=True)):
        if size > 1 and step <= end:
            return True
        end += (size - 1) * step
    return False


def values(draw: Draw, name: str) -> str:
    """What numbers an operand holds."""
    return str(draw.choice(f"{name}.values", _VALUES, (60, 14, 6, 5, 4, 5, 6)))


def tensor(
    program: Program,
    descriptor: str,
    memory: str,
    kind: str,
    dims: Sequence[int],
    *,
    out: bool = False,
    beta: float = 1.0,
    content: str = "",
    like: str = "",
    alike: float = 2,
    **about: Any,
) -> tuple[str, str]:
    """A tensor with layout and values of its own.

    Its layout follows that of the descriptor `like`, `alike` times as often as it does not.
    """
    draw = program.draw
    steps: Any = None
    if "x" not in kind:
        same = like and draw.choice(f"{memory}.as {like}", (True, False), (alike, 1))
        if same and tuple(dims) == program.descriptors[like].dims:
            steps = program.descriptors[like].strides or packed(dims)
            if out and overlaps(dims, steps):
                steps = packed(dims)
        else:
            steps = strides(draw, memory, dims, overlap=0 if out else 0.5)
    program.tensor(descriptor, kind, dims, steps)
    if not content:
        content = "poison" if out and not beta else "normal" if out else values(draw, memory)
    shift = draw.choice(f"{memory}.shift", (0, 1, 4, 3), (85, 6, 6, 3))
    program.operand(memory, descriptor, out=out, content=content, shift=shift, **about)
    return descriptor, memory


def _count(dims: Sequence[int]) -> int:
    count = 1
    for size in dims:
        count *= size
    return count
