"""Calls that ask for a status: every function of a family over types, ranks, layouts and operands.

`calls` names each and makes it, on the GPU or on the reference device alike. Operands lie in
buffers that are large enough for every descriptor.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ctypes import byref, c_double, c_float, c_size_t
from typing import Any

from cudnn_ctypes import DeviceBuffer, Handle, raw

TYPES = ("FLOAT", "DOUBLE", "HALF", "BFLOAT16", "INT8", "INT32", "UINT8", "INT8x4", "INT8x32")
PLAIN = TYPES[:7]
SHAPE = (2, 32, 4, 4)
ROOM = 1 << 20  # bytes behind every operand

Call = Callable[[], str]


def packed(shape: tuple[int, ...], gap: int = 0) -> list[int]:
    """Strides of NCHW, with `gap` unused elements after each row."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size + gap)
    return strides


class Bench(ExitStack):
    """Descriptors and operands for the calls of one handle."""

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self.handle = handle
        self.descriptors: dict[tuple[Any, ...], Any] = {}
        self.buffers: dict[str, DeviceBuffer] = {}

    def operand(self, name: str) -> DeviceBuffer:
        if name not in self.buffers:
            buffer = self.enter_context(DeviceBuffer(ROOM))
            buffer.fill(0)
            self.buffers[name] = buffer
        return self.buffers[name]

    def made(self, kind: str, setter: str, *values: Any) -> Any:
        """A descriptor, set once for the same values."""
        key = (kind, setter, *map(str, values))
        if key not in self.descriptors:
            descriptor = getattr(raw, f"cudnn{kind}Descriptor_t")()
            getattr(raw, f"cudnnCreate{kind}Descriptor")(descriptor)
            self.callback(getattr(raw, f"cudnnDestroy{kind}Descriptor"), descriptor)
            getattr(raw, setter)(descriptor, *values)
            self.descriptors[key] = descriptor
        return self.descriptors[key]

    def tensor(
        self, shape: tuple[int, ...] = SHAPE, data_type: str = "FLOAT", layout: str = "NCHW"
    ) -> Any:
        kind = getattr(raw, f"CUDNN_DATA_{data_type}")
        if data_type.startswith("INT8x"):
            layout = "NCHW_VECT_C"
        if layout in ("NHWC", "NCHW_VECT_C"):
            tensor_format = getattr(raw, f"CUDNN_TENSOR_{layout}")
            return self.made(
                "Tensor", "cudnnSetTensorNdDescriptorEx", tensor_format, kind, len(shape), shape
            )
        strides = packed(shape, 1 if layout == "gaps" else 0)
        if layout == "channels last":
            spatial = [step * shape[1] for step in packed(shape[2:])] if len(shape) > 2 else []
            strides = [strides[0], 1, *spatial]
        return self.made("Tensor", "cudnnSetTensorNdDescriptor", kind, len(shape), shape, strides)

    def status(self, function: str, *arguments: Any) -> str:
        status = getattr(raw, function).unchecked(self.handle, *arguments)
        self.handle.synchronize()
        return str(status.name).removeprefix("CUDNN_STATUS_")


def factor(value: float, data_type: str) -> Any:
    return byref((c_double if data_type == "DOUBLE" else c_float)(value))


class Family:
    """A function whose tensors all look alike; `tensors` are their names in C's order."""

    def __init__(
        self,
        function: str,
        tensors: tuple[str, ...],
        arguments: Callable[[Bench, dict[str, Any], str], list[Any]],
        *,
        variant: str = "",
        shapes: Callable[[str, tuple[int, ...]], tuple[int, ...]] = lambda _, shape: shape,
    ) -> None:
        self.function = function
        self.tensors = tensors
        self.arguments = arguments
        self.name = f"{function} {variant}".strip()
        self.shapes = shapes

    def call(
        self,
        bench: Bench,
        *,
        shape: tuple[int, ...] = SHAPE,
        data_type: str = "FLOAT",
        layout: str = "NCHW",
        null: str = "",
        shared: str = "",
        **changed: dict[str, Any],
    ) -> str:
        """`changed` holds the shape, data type or layout of single tensors."""
        given: dict[str, Any] = {}
        for name in self.tensors:
            how = {"shape": self.shapes(name, shape), "data_type": data_type, "layout": layout}
            given[f"{name}Desc"] = bench.tensor(**{**how, **changed.get(name, {})})
            given[name] = None if name == null else bench.operand(name)
        if shared:
            given[self.tensors[-1]] = given[shared]
        return bench.status(self.function, *self.arguments(bench, given, data_type))

    def calls(self, bench: Bench) -> Iterator[tuple[str, Call]]:
        def named(about: str, **how: Any) -> tuple[str, Call]:
            return f"{self.name}: {about}", lambda: self.call(bench, **how)

        for data_type in TYPES:
            yield named(data_type, data_type=data_type)
            if data_type in PLAIN:
                yield named(f"{data_type} NHWC", data_type=data_type, layout="NHWC")
        for rank in range(2, 9):
            shape = (2, 3, *(4 - rank // 4,) * (rank - 2))
            yield named(f"{rank} dimensions", shape=shape)
            yield named(f"{rank} dimensions with gaps", shape=shape, layout="gaps")
            if not (rank == 3 and "LRN" in self.name):  # a kernel fails
                yield named(
                    f"{rank} dimensions, channels last", shape=shape, layout="channels last"
                )
        for layout in ("NHWC", "gaps"):
            yield named(f"all {layout}", layout=layout)
            for name in self.tensors if len(self.tensors) > 1 else ():
                yield named(f"{name} {layout}", **{name: {"layout": layout}})
        for name in self.tensors[1:]:
            other = self.shapes(name, SHAPE)
            for axis in range(4):
                less = tuple(n - (i == axis) for i, n in enumerate(other))
                yield named(f"{name} smaller in {axis}", **{name: {"shape": less}})
            yield named(f"{name} HALF", **{name: {"data_type": "HALF"}})
            yield named(f"{name} of 5 dimensions", **{name: {"shape": (*other, 1)}})
        for name in self.tensors[:-1]:
            yield named(f"in place of {name}", shared=name)
            yield named(f"in place of {name}, NHWC", shared=name, **{name: {"layout": "NHWC"}})
        for name in self.tensors:
            yield named(f"{name} NULL", null=name)


# -- the functions -----------------------------------------------------------------------------


def operands(names: str) -> Callable[[dict[str, Any]], list[Any]]:
    """The arguments of those names, in this order."""
    return lambda given: [given[name] for name in names.split()]


def activation(bench: Bench, mode: str) -> Any:
    code = getattr(raw, f"CUDNN_ACTIVATION_{mode}")
    return bench.made("Activation", "cudnnSetActivationDescriptor", code, 0, 1.0)


def pooled(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:2], *(n // 2 for n in shape[2:])) if "y" in name else shape


def pooling(bench: Bench) -> Any:
    pair = (2, 2)
    return bench.made("Pooling", "cudnnSetPoolingNdDescriptor", 0, 0, 2, pair, (0, 0), pair)


def lrn(bench: Bench) -> Any:
    return bench.made("LRN", "cudnnSetLRNDescriptor", 5, 1e-4, 0.75, 2.0)


def op_tensor(bench: Bench, operation: str, compute: str = "FLOAT") -> Any:
    code, kind = getattr(raw, f"CUDNN_OP_TENSOR_{operation}"), getattr(raw, f"CUDNN_DATA_{compute}")
    return bench.made("OpTensor", "cudnnSetOpTensorDescriptor", code, kind, 0)


def families() -> Iterator[Family]:
    """Every function whose tensors are of one type and fit each other."""

    def one(value: float, kind: str) -> Any:
        return factor(value, kind)

    for mode in ("RELU", "IDENTITY"):
        yield Family(
            "cudnnActivationForward",
            ("x", "y"),
            lambda b, g, t, m=mode: [
                activation(b, m), one(1, t), g["xDesc"], g["x"], one(0, t), g["yDesc"], g["y"],
            ],
            variant=mode,
        )  # fmt: skip
    for mode in ("RELU", "TANH", "IDENTITY"):
        yield Family(
            "cudnnActivationBackward",
            ("y", "dy", "x", "dx"),
            lambda b, g, t, m=mode: [
                activation(b, m), one(1, t), g["yDesc"], g["y"], g["dyDesc"], g["dy"],
                g["xDesc"], g["x"], one(0, t), g["dxDesc"], g["dx"],
            ],
            variant=mode,
        )  # fmt: skip
    yield Family(
        "cudnnSoftmaxForward",
        ("x", "y"),
        lambda b, g, t: [1, 1, one(1, t), g["xDesc"], g["x"], one(0, t), g["yDesc"], g["y"]],
    )
    yield Family(
        "cudnnSoftmaxBackward",
        ("y", "dy", "dx"),
        lambda b, g, t: [
            1, 1, one(1, t), g["yDesc"], g["y"], g["dyDesc"], g["dy"], one(0, t), g["dxDesc"],
            g["dx"],
        ],
    )  # fmt: skip
    yield Family(
        "cudnnPoolingForward",
        ("x", "y"),
        lambda b, g, t: [
            pooling(b), one(1, t), g["xDesc"], g["x"], one(0, t), g["yDesc"], g["y"],
        ],
        shapes=pooled,
    )  # fmt: skip
    yield Family(
        "cudnnPoolingBackward",
        ("y", "dy", "x", "dx"),
        lambda b, g, t: [
            pooling(b), one(1, t), g["yDesc"], g["y"], g["dyDesc"], g["dy"], g["xDesc"], g["x"],
            one(0, t), g["dxDesc"], g["dx"],
        ],
        shapes=pooled,
    )  # fmt: skip
    yield Family(
        "cudnnLRNCrossChannelForward",
        ("x", "y"),
        lambda b, g, t: [
            lrn(b), 0, one(1, t), g["xDesc"], g["x"], one(0, t), g["yDesc"], g["y"],
        ],
    )  # fmt: skip
    yield Family(
        "cudnnLRNCrossChannelBackward",
        ("y", "dy", "x", "dx"),
        lambda b, g, t: [
            lrn(b), 0, one(1, t), g["yDesc"], g["y"], g["dyDesc"], g["dy"], g["xDesc"], g["x"],
            one(0, t), g["dxDesc"], g["dx"],
        ],
    )  # fmt: skip
    yield Family(
        "cudnnDivisiveNormalizationForward",
        ("x", "y"),
        lambda b, g, t: [
            lrn(b), 0, one(1, t), g["xDesc"], g["x"], None, b.operand("t1"), b.operand("t2"),
            one(0, t), g["yDesc"], g["y"],
        ],
    )  # fmt: skip
    yield Family(
        "cudnnDivisiveNormalizationBackward",
        ("x", "dx"),
        lambda b, g, t: [
            lrn(b), 0, one(1, t), g["xDesc"], g["x"], None, b.operand("dy"), b.operand("t1"),
            b.operand("t2"), one(0, t), g["dxDesc"], g["dx"], None,
        ],
    )  # fmt: skip
    yield Family(
        "cudnnTransformTensor",
        ("x", "y"),
        lambda b, g, t: [one(1, t), g["xDesc"], g["x"], one(0, t), g["yDesc"], g["y"]],
    )
    yield Family(
        "cudnnAddTensor",
        ("A", "C"),
        lambda b, g, t: [one(1, t), g["ADesc"], g["A"], one(0, t), g["CDesc"], g["C"]],
    )
    for operation in ("ADD", "SQRT"):
        yield Family(
            "cudnnOpTensor",
            ("A", "B", "C"),
            lambda b, g, t, o=operation: [
                op_tensor(b, o, "DOUBLE" if t == "DOUBLE" else "FLOAT"), one(1, t), g["ADesc"],
                g["A"], one(1, t), g["BDesc"], g["B"], one(0, t), g["CDesc"], g["C"],
            ],
            variant=operation,
        )  # fmt: skip
    yield Family("cudnnSetTensor", ("y",), lambda b, g, t: [g["yDesc"], g["y"], one(2, t)])
    yield Family("cudnnScaleTensor", ("y",), lambda b, g, t: [g["yDesc"], g["y"], one(2, t)])


# -- pairs of types ----------------------------------------------------------------------------


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


# -- reductions --------------------------------------------------------------------------------


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


GROUPS: dict[str, Callable[[Bench], Iterator[tuple[str, Call]]]] = {
    **{family.name: family.calls for family in families()},
    "pairs of types": type_pairs,
    "broadcasts": broadcasts,
    "transforms": transforms,
    "reductions": reductions,
}
