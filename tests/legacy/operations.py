"""Random problems for activation, softmax, pooling, reductions and tensor operations, by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .draws import FLOATING, Case, Draw
from .layer_problems import (
    activation_backward,
    activation_forward,
    pooling_backward,
    pooling_forward,
    softmax_backward,
    softmax_forward,
)
from .tensor_problems import (
    addition,
    elementwise,
    folding,
    reduction,
    reduction_indices,
    scaling,
    setting,
    transformation,
)

ACTIVATIONS = ("sigmoid", "relu", "tanh", "clipped_relu", "elu", "swish")
SOFTMAXES = ("fast", "accurate", "log")
AVERAGES = ("average_count_include_padding", "average_count_exclude_padding")
POOLINGS = ("max", "max_deterministic", *AVERAGES)
REDUCTIONS = ("add", "mul", "min", "max", "amax", "avg", "norm1", "norm2", "mul_no_zeros")
OPERATIONS = ("add", "mul", "min", "max", "sqrt", "not")
# Types of A and B, and of C, that cuDNN's documentation lists for cudnnOpTensor.
SMALL = ("float16", "bfloat16", "int8")
OP_TYPES = [(each, each) for each in (*FLOATING, "int8")]
OP_TYPES += [*((each, "float32") for each in SMALL), *(("float32", each) for each in SMALL)]


def families() -> Iterator[tuple[str, str, Callable[[Draw], Case]]]:
    """The operation, the data types, and how to make its problems."""
    modes: dict[str, tuple[tuple[str, ...], Any]] = {
        "activation forward": (ACTIVATIONS, activation_forward),
        "activation backward": (ACTIVATIONS, activation_backward),
        "softmax forward": (SOFTMAXES, softmax_forward),
        "softmax backward": (SOFTMAXES, softmax_backward),
        "pooling forward": (POOLINGS, pooling_forward),
        "pooling backward": (POOLINGS, pooling_backward),
        "reduce": (REDUCTIONS, reduction),
        "reduce indices": (("min", "max", "amax"), reduction_indices),
        "transform ex": (("fold", "unfold"), folding),
    }
    for operation, (options, make) in modes.items():
        for data_type in FLOATING:
            yield operation, data_type, _one_of(make, options)
    for data_type in FLOATING:
        yield "add", data_type, addition
    yield "pooling forward", "int8", _one_of(pooling_forward, POOLINGS)
    yield "transform ex", "int8", _one_of(folding, ("fold", "unfold"))
    for data_type in (*FLOATING, "int8"):
        yield "transform", data_type, transformation
        yield "scale", data_type, scaling
        yield "set", data_type, setting
    for given, result in OP_TYPES:
        name = given if given == result else f"{given} to {result}"
        yield "op", name, _one_of(elementwise, OPERATIONS, result)


def _one_of(make: Any, options: tuple[str, ...], *more: Any) -> Callable[[Draw], Case]:
    """Problems with each of the options in turn."""

    def made(draw: Draw) -> Case:
        return make(draw, options[draw.seed[0] % len(options)], *more)

    return made
