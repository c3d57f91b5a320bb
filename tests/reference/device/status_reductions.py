"""Reductions: their statuses and sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from ctypes import c_size_t
from typing import Any

from cudnn_ctypes import raw

from .status_bench import ROOM, SHAPE, Bench, Call, factor


def reduction(
    bench: Bench, operator: str, compute: str, indices: int = 0, index_type: int = 0
) -> Any:
    code = getattr(raw, f"CUDNN_REDUCE_TENSOR_{operator}")
    kind = getattr(raw, f"CUDNN_DATA_{compute}")
    return bench.made(
        "ReduceTensor", "cudnnSetReduceTensorDescriptor", code, kind, 0, indices, index_type
    )


def reduce(
    bench: Bench,
    operator: str = "ADD",
    compute: str = "FLOAT",
    a_type: str = "FLOAT",
    c_type: str = "FLOAT",
    *,
    a_shape: tuple[int, ...] = SHAPE,
    c_shape: tuple[int, ...] = (1, 32, 1, 1),
    layouts: tuple[str, str] = ("NCHW", "NCHW"),
    indices: int = 0,
    index_type: int = 0,
    sizes: tuple[int, int] = (ROOM, ROOM),
    null: str = "",
) -> str:
    made = reduction(bench, operator, compute, indices, index_type)
    return bench.status(
        "cudnnReduceTensor", made, bench.operand("indices"), sizes[0], bench.operand("workspace"),
        sizes[1], factor(1, c_type), bench.tensor(a_shape, a_type, layouts[0]),
        None if null == "A" else bench.operand("A"), factor(0, c_type),
        bench.tensor(c_shape, c_type, layouts[1]), None if null == "C" else bench.operand("C"),
    )  # fmt: skip


def reduction_sizes(
    bench: Bench, *, a_shape: tuple[int, ...], c_shape: tuple[int, ...], **how: Any
) -> str:
    """Bytes of the indices and of the workspace, or the status."""
    a_type, c_type = how.pop("a_type", "FLOAT"), how.pop("c_type", "FLOAT")
    made = reduction(bench, how.pop("operator", "MAX"), how.pop("compute", "FLOAT"), **how)
    answers = []
    for function in ("cudnnGetReductionIndicesSize", "cudnnGetReductionWorkspaceSize"):
        size = c_size_t()
        status = bench.status(
            function, made, bench.tensor(a_shape, a_type), bench.tensor(c_shape, c_type), size
        )
        answers.append(str(size.value) if status == "SUCCESS" else status)
    return " ".join(answers)


def reductions(bench: Bench) -> Iterator[tuple[str, Call]]:
    def named(about: str, **how: Any) -> tuple[str, Call]:
        return f"cudnnReduceTensor: {about}", lambda: reduce(bench, **how)

    for member in raw.cudnnReduceTensorOp_t:
        operator = member.name.removeprefix("CUDNN_REDUCE_TENSOR_")
        for indices in (0, 1):
            yield named(f"{operator} indices {indices}", operator=operator, indices=indices)
    for index_type in range(4):
        for indices in (0, 1):
            yield named(
                f"MAX indices {indices} of type {index_type}",
                operator="MAX", indices=indices, index_type=index_type,
            )  # fmt: skip
    for rank in range(2, 9):
        shape = (2, 3, *(2,) * (rank - 2))
        reduced = (1, 3, *(1,) * (rank - 2))
        yield named(f"{rank} dimensions", a_shape=shape, c_shape=reduced)
    for about, shape in {
        "nothing reduced": SHAPE,
        "another size": (1, 16, 1, 1),
        "larger": (4, 32, 1, 1),
        "all": (1, 1, 1, 1),
        "of 5 dimensions": (1, 32, 1, 1, 1),
    }.items():
        yield named(f"C {about}", c_shape=shape)
    for a, c in itertools.product(("NCHW", "NHWC", "gaps"), repeat=2):
        yield named(f"A {a}, C {c}", layouts=(a, c))
    needed = 4 * 32
    for about, sizes in {
        "no workspace": (ROOM, 0),
        "a workspace short by one": (ROOM, needed - 1),
        "no indices": (0, ROOM),
        "indices short by one": (needed - 1, ROOM),
    }.items():
        yield named(about, operator="MAX", indices=1, sizes=sizes)
    yield named("A NULL", null="A")
    yield named("C NULL", null="C")

    def sized(about: str, **how: Any) -> tuple[str, Call]:
        return f"sizes of a reduction: {about}", lambda: reduction_sizes(bench, **how)

    pairs = [
        ((1, 64, 1, 1), (1, 1, 1, 1)), ((2, 64, 1, 1), (1, 64, 1, 1)),
        ((100, 64, 1, 1), (1, 64, 1, 1)), ((1, 1, 1, 6), (1, 1, 1, 1)),
        ((100, 100, 1, 1), (1, 1, 1, 1)), ((3, 5, 7, 11), (1, 5, 1, 1)),
        ((3, 5, 7, 11), (3, 1, 7, 1)), ((3, 5, 7, 11), (3, 5, 7, 1)),
        ((3, 5, 7, 11), (1, 1, 1, 11)), ((3, 5, 7, 11), (3, 5, 7, 11)),
        ((64, 3, 128, 128), (1, 3, 1, 1)), ((64, 3, 128, 128), (1, 1, 1, 1)),
        ((2, 3, 4, 5, 6), (1, 3, 1, 1, 1)), ((2, 3, 4), (1, 3, 1)), ((2, 3), (1, 3)),
    ]  # fmt: skip
    for a_shape, c_shape in pairs:
        shapes = {"a_shape": a_shape, "c_shape": c_shape}
        for operator, indices in (("ADD", 0), ("MAX", 0), ("MAX", 1), ("ADD", 1)):
            about = f"{a_shape} to {c_shape} {operator} indices {indices}"
            yield sized(about, operator=operator, indices=indices, **shapes)
    for compute, a, c in (
        ("DOUBLE", "DOUBLE", "DOUBLE"), ("FLOAT", "HALF", "HALF"), ("FLOAT", "INT8", "INT8"),
        ("FLOAT", "HALF", "FLOAT"), ("FLOAT", "FLOAT", "HALF"), ("HALF", "HALF", "HALF"),
        ("FLOAT", "BFLOAT16", "BFLOAT16"), ("FLOAT", "INT32", "INT32"),
    ):  # fmt: skip
        for indices in (0, 1):
            yield sized(
                f"{a} to {c} in {compute} indices {indices}",
                a_shape=(3, 5, 7, 11), c_shape=(1, 5, 1, 1), compute=compute, a_type=a,
                c_type=c, indices=indices,
            )  # fmt: skip
    for index_type in (1, 2, 3):
        yield sized(
            f"indices of type {index_type}",
            a_shape=(3, 5, 7, 11), c_shape=(1, 5, 1, 1), indices=1, index_type=index_type,
        )  # fmt: skip
