"""Descriptions of single operations' descriptors, and of packs and plans of fused operations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ...raw.descriptors import (
    LRN,
    Activation,
    Attention,
    ConstantPack,
    CTCLoss,
    Dropout,
    FusedPlan,
    OpTensor,
    ReduceTensor,
    SpatialTransformer,
    TensorTransform,
    VariantPack,
)
from ...raw.enums import cudnnFusedOpsPointerPlaceHolder_t
from .description import Description, Section
from .words import counted, name_of

__all__ = ["KINDS", "dropout_words", "fields_words", "fused_words"]

_NAN = "what becomes of NaN"
_SUMS = "what it computes in"

_FUNCTIONS = {
    "sigmoid": "1 / (1 + exp(-x))",
    "relu": "max(x, 0)",
    "tanh": "tanh(x)",
    "clipped_relu": "min(max(x, 0), coef)",
    "elu": "x for x >= 0, else coef * (exp(x) - 1)",
    "identity": "x",
    "swish": "x / (1 + exp(-swish_beta * x))",
}
_OPERATIONS = {
    "add": "C = alpha1 * A + alpha2 * B + beta * C",
    "mul": "C = (alpha1 * A) * (alpha2 * B) + beta * C",
    "min": "C = min(alpha1 * A, alpha2 * B) + beta * C",
    "max": "C = max(alpha1 * A, alpha2 * B) + beta * C",
    "sqrt": "C = sqrt(alpha1 * A) + beta * C",
    "not": "C = 1 - alpha1 * A + beta * C",
}


def _looked_up(meanings: Mapping[str, str]) -> Callable[[Any], str]:
    return lambda value: meanings.get(name_of(value), "not known")


Meaning = str | Callable[[Any], str]

KINDS: dict[type, tuple[str, dict[str, Meaning]]] = {
    Activation: (
        "an activation function",
        {
            "mode": _looked_up(_FUNCTIONS),
            "nan_propagation": _NAN,
            "coef": "the ceiling of clipped_relu, the alpha of elu",
            "swish_beta": "of swish alone",
        },
    ),
    OpTensor: (
        "an element-wise operation on two tensors",
        {
            "op": _looked_up(_OPERATIONS),
            "compute_data_type": _SUMS,
            "nan_propagation": _NAN,
        },
    ),
    ReduceTensor: (
        "a reduction over the dimensions that are 1 in C",
        {
            "op": "how elements become one",
            "compute_data_type": _SUMS,
            "nan_propagation": _NAN,
            "indices": "whether it also tells where the elements came from",
            "indices_type": "the type of these indices",
        },
    ),
    LRN: (
        "a local response normalization, x / (k + alpha / n * sum of x^2) ^ beta",
        {
            "n": "channels in the sum, or the width of the window",
            "alpha": "the weight of the sum",
            "beta": "the exponent",
            "k": "what keeps the divisor from 0",
        },
    ),
    CTCLoss: (
        "a connectionist temporal classification loss",
        {
            "compute_data_type": _SUMS,
            "normalization": "whether a softmax is applied to the inputs first",
            "gradient_mode": "what gradients of sequences are that cannot give their labels",
            "max_label_length": "the longest labels, for the _v8 functions",
        },
    ),
    TensorTransform: (
        "a copy of a tensor into another layout, padded or folded",
        {
            "pad_before": "zeros before each dimension",
            "pad_after": "zeros behind it",
            "fold": "by how much each spatial dimension is folded into the channels",
            "direction": "fold or unfold",
            "format": "the layout of the result",
        },
    ),
    SpatialTransformer: (
        "a spatial transformer",
        {
            "shape": "(n, c, h, w) of the output",
            "data_type": "of the grid and the images",
            "sampler": "how pixels between pixels are computed",
        },
    ),
    Attention: (
        "a multi-head attention",
        {
            "heads": "how many",
            "q_size": "elements of each q vector",
            "k_size": "of each k vector",
            "v_size": "of each v vector",
            "q_projection": "to which each head projects q; 0: not at all",
            "k_projection": "the same for k",
            "v_projection": "the same for v",
            "o_projection": "the same for the output",
            "qo_max_length": "the longest sequences of queries and outputs",
            "kv_max_length": "the longest sequences of keys and values",
            "max_batch": "the largest batch",
            "max_beam": "the largest beam",
            "scaler": "what scores are multiplied by before their softmax",
            "one_to_one": "whether each query of a beam has its own keys",
            "biases": "whether projections have biases",
            "data_type": "of the operands",
            "compute_data_type": _SUMS,
            "math_type": "whether tensor cores may be used",
            "attention_dropout": "address of the dropout of the weights, None for none",
            "output_dropout": "address of the dropout of the output, None for none",
        },
    ),
}
"""By class of a descriptor's record: a noun, and each field's meaning."""


def fields_words(name: str, fields: Any) -> Description:
    """The description of a descriptor whose record is in `KINDS`."""
    what, meanings = KINDS[type(fields)]
    lines = []
    for field in dataclasses.fields(fields):
        value, meaning = getattr(fields, field.name), meanings[field.name]
        said = meaning if isinstance(meaning, str) else meaning(value)
        lines.append(f"{field.name.replace('_', ' ')} {name_of(value)}: {said}")
    return Description(f"{name}: {what}", (Section(lines=tuple(lines)),))


def dropout_words(name: str, dropout: Dropout, states_size: int | None = None) -> Description:
    """The description of a dropout descriptor and its generator's states."""
    kept = 1 - dropout.rate
    scale = f"those that stay are multiplied by 1 / (1 - rate) = {1 / kept:g}" if kept else ""
    lines = [
        f"rate {dropout.rate:g}: each element is dropped with this probability",
        scale or "every element is dropped",
        f"seed {dropout.seed}: from which the generator started",
    ]
    if dropout.states is None:
        lines.append("states NULL: there is no generator, so nothing can be dropped")
    else:
        size = "" if states_size is None else f", {counted(states_size, 'byte')}"
        lines.append(
            f"states at {dropout.states:#x}{size}: device memory of the generator; every mask that "
            f"is drawn advances them, so they must live as long as the descriptor"
        )
    lines.append("the mask is kept in the reserve space, for the backward pass")
    return Description(f"{name}: dropout, and its random generator", (Section(lines=tuple(lines)),))


def fused_words(name: str, pack: ConstantPack | VariantPack | FusedPlan) -> Description:
    """The description of a pack or a plan of a fused operation."""
    lines = [f"operation {name_of(pack.operation)}"]
    if isinstance(pack, FusedPlan):
        constants = pack.constants
        if constants is None:
            lines.append("not made yet: cudnnMakeFusedOpsPlan makes it of a constant pack")
            return Description(
                f"{name}: a plan of a fused operation", (Section(lines=tuple(lines)),)
            )
        what, shown = "a plan of a fused operation, made of", constants.held
    elif isinstance(pack, ConstantPack):
        what, shown = "what does not change between executions", pack.held
    else:
        what, shown = "the memory and numbers of one execution", pack.held
    for label, value in shown.items():
        if label.endswith("PLACEHOLDER"):
            value = cudnnFusedOpsPointerPlaceHolder_t(value)
        lines.append(f"{label}: {_held(value)}")
    if not shown:
        lines.append("nothing is set yet")
    return Description(f"{name}: {what}", (Section(lines=tuple(lines)),))


def _held(value: Any) -> str:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = [field.name for field in dataclasses.fields(value) if field.repr]
        return ", ".join(f"{each} {name_of(getattr(value, each))}" for each in shown)
    if value is None:
        return "NULL"
    return f"{value:#x}" if isinstance(value, int) and value > 1 << 16 else name_of(value)
