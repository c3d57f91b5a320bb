"""Calls that ask for a status: every function of a family over types, ranks, layouts and operands.

Each has a name, and is made on the GPU or on the reference device alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from cudnn_ctypes import raw

from .status_bench import PLAIN, TYPES, Bench, Call, factor
from .status_families import families, op_tensor
from .status_reductions import reduce, reductions

__all__ = ["GROUPS", "Bench"]


def type_pairs(bench: Bench) -> Iterator[tuple[str, Call]]:
    """Functions whose tensors may differ in type."""
    one, many = (1, 32, 1, 1), (2, 32, 4, 4)
    for a, c in itertools.product(TYPES, TYPES):
        double = "DOUBLE" if "DOUBLE" in (a, c) else "FLOAT"

        def transform(a: str = a, c: str = c, double: str = double) -> str:
            return bench.status(
                "cudnnTransformTensor", factor(1, double), bench.tensor(many, a),
                bench.operand("x"), factor(0, double), bench.tensor(many, c), bench.operand("y"),
            )  # fmt: skip

        yield f"cudnnTransformTensor: {a} to {c}", transform

        def add(a: str = a, c: str = c, double: str = double) -> str:
            return bench.status(
                "cudnnAddTensor", factor(1, double), bench.tensor(one, a), bench.operand("A"),
                factor(0, double), bench.tensor(many, c), bench.operand("C"),
            )  # fmt: skip

        yield f"cudnnAddTensor: {a} to {c}", add
    for compute, a, c in itertools.product(("FLOAT", "DOUBLE", "HALF"), PLAIN, PLAIN):
        for operation in ("ADD", "SQRT"):
            if compute == "HALF":
                continue

            def op(
                compute: str = compute, a: str = a, c: str = c, operation: str = operation
            ) -> str:
                return bench.status(
                    "cudnnOpTensor", op_tensor(bench, operation, compute), factor(1, compute),
                    bench.tensor(many, a), bench.operand("A"), factor(1, compute),
                    bench.tensor(many, a), bench.operand("B"), factor(0, compute),
                    bench.tensor(many, c), bench.operand("C"),
                )  # fmt: skip

            yield f"cudnnOpTensor {operation}: {a} to {c} in {compute}", op
        for operation in ("ADD", "MAX"):
            yield (
                f"cudnnReduceTensor {operation}: {a} to {c} in {compute}",
                lambda o=operation, k=compute, a=a, c=c: reduce(bench, o, k, a, c),
            )


def broadcasts(bench: Bench) -> Iterator[tuple[str, Call]]:
    """Shapes of A, or B, that differ from C's."""
    whole = (2, 32, 4, 4)
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
        yield (
            f"cudnnAddTensor: A {about}",
            lambda shape=shape: bench.status(
                "cudnnAddTensor", factor(1, "FLOAT"), bench.tensor(shape), bench.operand("A"),
                factor(1, "FLOAT"), bench.tensor(whole), bench.operand("C"),
            ),
        )  # fmt: skip
        for name in "AB":

            def op(name: str = name, shape: tuple[int, ...] = shape) -> str:
                return bench.status(
                    "cudnnOpTensor", op_tensor(bench, "ADD"), factor(1, "FLOAT"),
                    bench.tensor(shape if name == "A" else whole), bench.operand("A"),
                    factor(1, "FLOAT"), bench.tensor(shape if name == "B" else whole),
                    bench.operand("B"), factor(0, "FLOAT"), bench.tensor(whole),
                    bench.operand("C"),
                )  # fmt: skip

            yield f"cudnnOpTensor: {name} {about}", op
    for operation in ("SQRT", "NOT", "ADD"):

        def unary(operation: str = operation) -> str:
            return bench.status(
                "cudnnOpTensor", op_tensor(bench, operation), factor(1, "FLOAT"),
                bench.tensor(whole), bench.operand("A"), factor(1, "FLOAT"),
                raw.cudnnTensorDescriptor_t(), None, factor(0, "FLOAT"), bench.tensor(whole),
                bench.operand("C"),
            )  # fmt: skip

        yield f"cudnnOpTensor {operation}: B and its descriptor NULL", unary


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
    for name, (before, after, fold, direction, result) in kinds.items():

        def call(
            data_type: str,
            result_type: str,
            beta: float = 0,
            *,
            before: Any = before,
            after: Any = after,
            fold: Any = fold,
            direction: int = direction,
            result: tuple[int, ...] = result,
        ) -> str:
            described = bench.made(
                "TensorTransform", "cudnnSetTensorTransformDescriptor", 4, 0, before, after, fold,
                direction,
            )  # fmt: skip
            return bench.status(
                "cudnnTransformTensorEx", described, factor(1, data_type),
                bench.tensor(shape, data_type), bench.operand("x"), factor(beta, data_type),
                bench.tensor(result, result_type), bench.operand("y"),
            )  # fmt: skip

        for data_type in TYPES if result[1] % 32 == 0 else TYPES[:-1]:
            yield (
                f"cudnnTransformTensorEx of {name}: {data_type}",
                lambda call=call, data_type=data_type: call(data_type, data_type),
            )
        yield (
            f"cudnnTransformTensorEx of {name}: FLOAT to HALF",
            lambda call=call: call("FLOAT", "HALF"),
        )
        yield (
            f"cudnnTransformTensorEx of {name}: beta 1",
            lambda call=call: call("FLOAT", "FLOAT", 1),
        )


GROUPS: dict[str, Callable[[Bench], Iterator[tuple[str, Call]]]] = {
    **{family.name: family.calls for family in families()},
    "pairs of types": type_pairs,
    "broadcasts": broadcasts,
    "transforms": transforms,
    "reductions": reductions,
}
