"""Calls that ask for a status: every function of a family over types, ranks, layouts and operands.

Each has a name, and is made on the GPU or on the reference device alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from .status_bench import PLAIN, TYPES, Bench, Call, Family
from .status_families import UNARY, families, op_tensor
from .status_reductions import reduce, reductions

__all__ = ["GROUPS", "Bench"]

FAMILIES = {family.name: family for family in families()}


def of_types(**types: str) -> dict[str, dict[str, Any]]:
    return {name: {"data_type": data_type} for name, data_type in types.items()}


def type_pairs(bench: Bench) -> Iterator[tuple[str, Call]]:
    """Functions whose tensors may differ in type."""
    for a, c in itertools.product(TYPES, TYPES):
        double = {"data_type": "DOUBLE" if "DOUBLE" in (a, c) else "FLOAT"}
        transform, add = FAMILIES["cudnnTransformTensor"], FAMILIES["cudnnAddTensor"]
        yield (
            f"cudnnTransformTensor: {a} to {c}",
            partial(transform.call, bench, **double, **of_types(x=a, y=c)),
        )
        given = {"A": {"shape": (1, 32, 1, 1), "data_type": a}, "C": {"data_type": c}}
        yield f"cudnnAddTensor: {a} to {c}", partial(add.call, bench, **double, **given)
    for compute, a, c in itertools.product(("FLOAT", "DOUBLE", "HALF"), PLAIN, PLAIN):
        for operation in ("ADD", "SQRT") if compute != "HALF" else ():
            op, types = FAMILIES[f"cudnnOpTensor {operation}"], of_types(A=a, B=a, C=c)
            yield (
                f"cudnnOpTensor {operation}: {a} to {c} in {compute}",
                partial(op.call, bench, data_type=compute, **types),
            )
        for operation in ("ADD", "MAX"):
            yield (
                f"cudnnReduceTensor {operation}: {a} to {c} in {compute}",
                partial(reduce, bench, operation, compute, a, c),
            )


def broadcasts(bench: Bench) -> Iterator[tuple[str, Call]]:
    """Shapes of A, or B, that differ from C's."""
    add = Family("cudnnAddTensor", "A C", "alpha ADesc A alpha CDesc C")
    op = FAMILIES["cudnnOpTensor ADD"]
    shapes = {
        "a bias": (1, 32, 1, 1),
        "a scalar": (1, 1, 1, 1),
        "an image": (1, 32, 4, 4),
        "rows": (2, 1, 4, 1),
        "too large": (2, 32, 4, 5),
        "too small": (2, 32, 4, 3),
        "of 3 dimensions": (2, 32, 16),
    }
    for about, shape in shapes.items():
        yield f"cudnnAddTensor: A {about}", partial(add.call, bench, A={"shape": shape})
        for name in "AB":
            changed: Any = {name: {"shape": shape}}
            yield f"cudnnOpTensor: {name} {about}", partial(op.call, bench, **changed)
    for operation in ("SQRT", "NOT", "ADD"):
        unary = Family(
            "cudnnOpTensor",
            "A C",
            "how alpha ADesc A alpha NULL NULL beta CDesc C",
            lambda bench, _, operation=operation: op_tensor(bench, operation),
        )
        yield f"cudnnOpTensor {operation}: B and its descriptor NULL", partial(unary.call, bench)


def transforms(bench: Bench) -> Iterator[tuple[str, Call]]:
    """`cudnnTransformTensorEx` and `cudnnTransformFilter`, by type, and with padding and beta."""
    shape, nothing = (2, 32, 4, 4), (0, 0, 0, 0)
    kinds: dict[str, tuple[Any, ...]] = {
        "nothing": (nothing, nothing, (1, 1), 0, shape),
        "a fold": (nothing, nothing, (2, 2), 0, (2, 128, 2, 2)),
        "an unfold": (nothing, nothing, (2, 2), 1, (2, 8, 8, 8)),
        "padding": (nothing, (0, 0, 1, 1), (1, 1), 0, (2, 32, 5, 5)),
        "a fold and padding": (nothing, (0, 0, 2, 2), (2, 2), 0, (2, 128, 3, 3)),
        "a fold up to blocks": (nothing, nothing, (3, 3), 0, (2, 288, 2, 2)),
        "an unfold and padding": (nothing, (0, 0, 1, 1), (2, 2), 1, (2, 8, 9, 9)),
        "an unfold of blocks": (nothing, nothing, (3, 3), 1, (2, 4, 12, 12)),
        "a crop": (nothing, (0, 0, -1, -1), (1, 1), 0, (2, 32, 3, 3)),
        "as much crop as padding": ((0, 0, 1, 0), (0, 0, -1, 0), (1, 1), 0, shape),
    }
    for name, (*settings, result) in kinds.items():

        def how(bench: Bench, _: str, settings: Any = settings) -> Any:
            return bench.made(
                "TensorTransform", "cudnnSetTensorTransformDescriptor", 4, 0, *settings
            )

        plain, added = (
            Family("cudnnTransformTensorEx", "x y", f"how {words}", how)
            for words in (UNARY, UNARY.replace("beta", "alpha"))
        )
        into = {"shape": result}
        for data_type in TYPES if result[1] % 32 == 0 else TYPES[:-1]:
            yield (
                f"cudnnTransformTensorEx of {name}: {data_type}",
                partial(plain.call, bench, data_type=data_type, y=into),
            )
        yield (
            f"cudnnTransformTensorEx of {name}: FLOAT to HALF",
            partial(plain.call, bench, y={**into, "data_type": "HALF"}),
        )
        yield f"cudnnTransformTensorEx of {name}: beta 1", partial(added.call, bench, y=into)


GROUPS: dict[str, Callable[[Bench], Iterator[tuple[str, Call]]]] = {
    **{name: family.calls for name, family in FAMILIES.items()},
    "pairs of types": type_pairs,
    "broadcasts": broadcasts,
    "transforms": transforms,
    "reductions": reductions,
}
