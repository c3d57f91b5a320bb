"""The functions whose tensors are of one type and fit each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cudnn_ctypes import raw

from .status_bench import Bench, Family

UNARY = "alpha xDesc x beta yDesc y"
GRADIENT = "alpha yDesc y dyDesc dy xDesc x beta dxDesc dx"


def activation(mode: str) -> Any:
    code = getattr(raw, f"CUDNN_ACTIVATION_{mode}")
    return lambda bench, _: bench.made("Activation", "cudnnSetActivationDescriptor", code, 0, 1.0)


def pooled(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:2], *(n // 2 for n in shape[2:])) if "y" in name else shape


def pooling(bench: Bench, _: str) -> Any:
    pair = (2, 2)
    return bench.made("Pooling", "cudnnSetPoolingNdDescriptor", 0, 0, 2, pair, (0, 0), pair)


def lrn(bench: Bench, _: str) -> Any:
    return bench.made("LRN", "cudnnSetLRNDescriptor", 5, 1e-4, 0.75, 2.0)


def op_tensor(bench: Bench, operation: str, compute: str = "FLOAT") -> Any:
    code, kind = getattr(raw, f"CUDNN_OP_TENSOR_{operation}"), getattr(raw, f"CUDNN_DATA_{compute}")
    return bench.made("OpTensor", "cudnnSetOpTensorDescriptor", code, kind, 0)


def families() -> Iterator[Family]:
    for mode in ("RELU", "IDENTITY"):
        how = activation(mode)
        yield Family("cudnnActivationForward", "x y", f"how {UNARY}", how, variant=mode)
    for mode in ("RELU", "TANH", "IDENTITY"):
        how = activation(mode)
        yield Family("cudnnActivationBackward", "y dy x dx", f"how {GRADIENT}", how, variant=mode)
    yield Family("cudnnSoftmaxForward", "x y", f"1 1 {UNARY}")
    yield Family("cudnnSoftmaxBackward", "y dy dx", "1 1 alpha yDesc y dyDesc dy beta dxDesc dx")
    yield Family("cudnnPoolingForward", "x y", f"how {UNARY}", pooling, shapes=pooled)
    yield Family("cudnnPoolingBackward", "y dy x dx", f"how {GRADIENT}", pooling, shapes=pooled)
    yield Family("cudnnLRNCrossChannelForward", "x y", f"how 0 {UNARY}", lrn)
    yield Family("cudnnLRNCrossChannelBackward", "y dy x dx", f"how 0 {GRADIENT}", lrn)
    yield Family(
        "cudnnDivisiveNormalizationForward",
        "x y",
        "how 0 alpha xDesc x NULL temp temp2 beta yDesc y",
        lrn,
    )
    yield Family(
        "cudnnDivisiveNormalizationBackward",
        "x dx",
        "how 0 alpha xDesc x NULL dy temp temp2 beta dxDesc dx NULL",
        lrn,
    )
    yield Family("cudnnTransformTensor", "x y", UNARY)
    yield Family("cudnnAddTensor", "A C", "alpha ADesc A beta CDesc C")
    for operation in ("ADD", "SQRT"):
        yield Family(
            "cudnnOpTensor",
            "A B C",
            "how alpha ADesc A alpha BDesc B beta CDesc C",
            lambda bench, kind, operation=operation: op_tensor(
                bench, operation, "DOUBLE" if kind == "DOUBLE" else "FLOAT"
            ),
            variant=operation,
        )
    yield Family("cudnnSetTensor", "y", "yDesc y two")
    yield Family("cudnnScaleTensor", "y", "yDesc y two")
