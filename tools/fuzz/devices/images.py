"""Activation, softmax, pooling, and the two normalizations over neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from .draw import Draw
from .operands import ROUNDOFF, enumerators, factor, image, overlaps, tensor
from .program import Program, packed

__all__ = ["FAMILIES"]

_ACTIVATIONS = enumerators("RELU SIGMOID TANH CLIPPED_RELU ELU IDENTITY SWISH", "ACTIVATION_")
_POOLINGS = enumerators(
    "MAX AVERAGE_COUNT_INCLUDE_PADDING AVERAGE_COUNT_EXCLUDE_PADDING MAX_DETERMINISTIC", "POOLING_"
)
_TYPES = ("FLOAT", "HALF", "DOUBLE", "BFLOAT16", "INT8", "INT32", "INT8x4", "UINT8", "INT8x32")
_IN_PLACE = "blocks of threads read what others have written"
_TYPE_ODDS = (38, 26, 14, 14, 3, 1, 1, 1, 1)


def kind_of(draw: Draw, name: str = "type") -> str:
    """A data type, mostly a floating one."""
    return str(draw.choice(name, _TYPES, _TYPE_ODDS))


def rounding(program: Program, kind: str, terms: int = 16) -> None:
    """What is computed in: double for double, float for all else."""
    program.unit = ROUNDOFF["DOUBLE" if kind == "DOUBLE" else "FLOAT"]
    program.terms = terms


def nan_option(draw: Draw) -> str:
    options = ("CUDNN_NOT_PROPAGATE_NAN", "CUDNN_PROPAGATE_NAN")
    return str(draw.choice("nan", options))


def vector_channels(kind: str, dims: tuple[int, ...]) -> tuple[int, ...]:
    """Channels in whole vectors."""
    length = int(kind.split("x")[1]) if "x" in kind else 1
    if length == 1:
        return dims
    return (dims[0], -(-dims[1] // length) * length, *dims[2:4], *([2] * (4 - len(dims))))[:4]


def activation(program: Program, prefix: str = "") -> str:
    """An activation descriptor; `prefix` of the names of its choices, beside others."""
    draw = program.draw
    mode = draw.choice(f"{prefix}mode", _ACTIVATIONS, (5, 4, 4, 4, 4, 1, 4))
    coefficient = float(draw.choice("coef", (1.0, 0.0, 0.5, 6.0)))
    name = program.descriptor(
        "activationDesc", "Activation", "cudnnSetActivationDescriptor", mode, nan_option(draw),
        coefficient,
    )  # fmt: skip
    if mode.endswith("ELU") and not mode.endswith("RELU"):
        program.magnitude = coefficient  # of exp(x) - 1
    if mode.endswith("SWISH") and draw.chance("swish beta", 0.5):
        program.descriptor(name, "Activation", "cudnnSetActivationDescriptorSwishBeta", 0.5)
    return name


def forward(
    program: Program,
    function: str,
    dims: Any,
    y_dims: Any,
    kind: str,
    *,
    in_place: float = 0.12,
    **more: Any,
) -> None:
    """alpha xDesc x beta yDesc y."""
    draw = program.draw
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    y_kind = kind_of(draw, "y.type") if draw.chance("types differ", 0.05) else kind
    tensor(program, "xDesc", "x", kind, dims)
    tensor(program, "yDesc", "y", y_kind, y_dims, out=True, beta=beta, like="xDesc")
    arguments: dict[str, Any] = {"xDesc": "xDesc", "x": "x", "yDesc": "yDesc", "y": "y"}
    if dims == y_dims and kind == y_kind and draw.chance("in place", in_place):
        x = program.operands.pop("x")
        program.operands["y"].content = x.content
        program.descriptors["xDesc"] = program.descriptors["yDesc"]
        arguments |= {"x": "y", "xDesc": "yDesc"}
        del program.descriptors["xDesc"]
    program.call(function, alpha=alpha, beta=beta, **arguments, **more)


def backward(
    program: Program,
    function: str,
    dims: Any,
    y_dims: Any,
    kind: str,
    *,
    x: bool = True,
    distinct: str = "",
    in_place: float = 0.08,
    **more: Any,
) -> None:
    """alpha yDesc y dyDesc dy xDesc x beta dxDesc dx; `distinct` is what x holds."""
    draw = program.draw
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    operands = [("yDesc", "y", y_dims), ("dyDesc", "dy", y_dims)]
    if x:
        operands.append(("xDesc", "x", dims))
    arguments: dict[str, Any] = {}
    for descriptor, memory, shape in operands:
        like = "" if memory == "y" else "yDesc"
        content = distinct if memory == "x" else ""
        tensor(program, descriptor, memory, kind, shape, like=like, alike=8, content=content)
        arguments |= {descriptor: descriptor, memory: memory}
    tensor(
        program, "dxDesc", "dx", kind, dims, out=True, beta=beta, like="xDesc" if x else "dyDesc"
    )
    arguments |= {"dxDesc": "dxDesc", "dx": "dx"}
    if dims == y_dims and draw.chance("in place", in_place):
        dy = program.operands.pop("dy")
        program.operands["dx"].content = dy.content
        program.descriptors.pop("dyDesc")
        arguments |= {"dy": "dx", "dyDesc": "dxDesc"}
    program.call(function, alpha=alpha, beta=beta, **arguments, **more)


def activation_forward(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw))
    rounding(program, kind)
    how = activation(program)
    forward(program, "cudnnActivationForward", dims, dims, kind, activationDesc=how)
    return program.finish()


def activation_backward(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw))
    rounding(program, kind)
    how = activation(program)
    backward(program, "cudnnActivationBackward", dims, dims, kind, activationDesc=how)
    return program.finish()


def _softmax(draw: Draw, program: Program) -> dict[str, str]:
    algorithms = enumerators("ACCURATE FAST LOG", "SOFTMAX_")
    modes = enumerators("CHANNEL INSTANCE", "SOFTMAX_MODE_")
    return {"algo": draw.choice("algo", algorithms), "mode": draw.choice("mode", modes)}


def softmax_forward(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw))
    rounding(program, kind)
    forward(program, "cudnnSoftmaxForward", dims, dims, kind, **_softmax(draw, program))
    return program.finish()


def softmax_backward(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw))
    rounding(program, kind)
    options = _softmax(draw, program)
    backward(program, "cudnnSoftmaxBackward", dims, dims, kind, x=False, **options)
    dy = program.operands.get("dy", program.operands["dx"])
    program.magnitude = 300.0 if dy.content == "large" else 4.0  # of dy, less a sum of it
    return program.finish()


def _pooling(program: Program, dims: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    draw, sizes, result = program.draw, dims[2:], []
    windows, paddings, steps = [], [], []
    for axis, size in enumerate(sizes):
        window = draw.integer(f"window{axis}", 1, min(4, size + 2))
        padding = draw.integer(f"padding{axis}", 0, window - 1)
        step = draw.integer(f"stride{axis}", 1, 3)
        if draw.chance(f"wide padding{axis}", 0.03):
            padding += 1
        windows.append(window)
        paddings.append(padding)
        steps.append(step)
        result.append(max(1, 1 + (size + 2 * padding - window) // step))
    mode, nan = draw.choice("mode", _POOLINGS), nan_option(draw)
    name = program.descriptor(
        "poolingDesc", "Pooling", "cudnnSetPoolingNdDescriptor", mode, nan, len(sizes), windows,
        paddings, steps,
    )  # fmt: skip
    program.terms = 64
    return name, (*dims[:2], *result)


def pooling_forward(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw, least=4))
    rounding(program, kind)
    how, y_dims = _pooling(program, dims)
    forward(program, "cudnnPoolingForward", dims, y_dims, kind, poolingDesc=how, in_place=0.5)
    windows = [option.value for name, option in draw.options.items() if name.startswith("window")]
    if program.steps[-1][1]["x"] == "y" and max(windows) > 1:
        program.operands["y"].free = _IN_PLACE
    return program.finish()


def pooling_backward(draw: Draw) -> Program:
    """The y that pooling gave, in steps: forward, then backward."""
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw, least=4))
    rounding(program, kind)
    how, y_dims = _pooling(program, dims)
    # Of a maximum cuDNN finds the place by y, so y is what pooling gave.
    averages = "AVERAGE" in draw.options["mode"].value
    given = ("from forward", "random") if averages else ("from forward",)
    computed = draw.choice("y", given, (3, 1)[: len(given)]) == "from forward"
    if draw.options["mode"].value.endswith("MAX"):
        program.unit = max(program.unit, ROUNDOFF.get(kind, 0))  # adds in the type of dx
    distinct = draw.choice("x.content", ("distinct", "normal", "small"), (4, 1, 1))
    backward(
        program, "cudnnPoolingBackward", dims, y_dims, kind, poolingDesc=how, in_place=0.5,
        distinct=distinct if computed else "",
    )  # fmt: skip
    function, arguments = program.steps.pop()
    if arguments["dy"] == "dx":
        program.operands["dx"].free = _IN_PLACE
    if computed:
        program.operands["y"].out, program.operands["y"].content = True, "poison"
        program.descriptors["yDesc"].strides = _without_overlap(program, "yDesc")
        program.call(
            "cudnnPoolingForward", poolingDesc=how, alpha=1.0, beta=0.0, xDesc="xDesc", x="x",
            yDesc="yDesc", y="y",
        )  # fmt: skip
    program.call(function, **arguments)
    return program.finish()


def _without_overlap(program: Program, name: str) -> tuple[int, ...]:
    described = program.descriptors[name]
    dims, steps = described.dims, described.strides
    return packed(dims) if steps and overlaps(dims, steps) else steps


def _lrn(program: Program) -> str:
    draw = program.draw
    n = draw.choice("lrn.n", (5, 1, 2, 3, 4, 7, 16, 0, 17), (30, 10, 10, 15, 10, 10, 5, 1, 1))
    alpha, beta = (
        draw.choice("lrn.alpha", (1e-4, 1.0, 0.5)),
        draw.choice("lrn.beta", (0.75, 0.5, 1.0)),
    )
    k = draw.choice("lrn.k", (2.0, 1.0, 0.1))
    return program.descriptor("normDesc", "LRN", "cudnnSetLRNDescriptor", n, alpha, beta, k)


def _slide(program: Program) -> None:
    """Sums of squares over neighbours slide, so that large ones leave their roundoff behind."""
    contents = {operand.content for operand in program.operands.values()}
    n, alpha, _, k = program.descriptors["normDesc"].setters[0][1]
    if "large" in contents and n:
        program.terms += int(alpha / n * 300**2 / k)


def lrn_forward(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw))
    rounding(program, kind)
    forward(
        program, "cudnnLRNCrossChannelForward", dims, dims, kind, normDesc=_lrn(program),
        lrnMode="CUDNN_LRN_CROSS_CHANNEL_DIM1",
    )  # fmt: skip
    _slide(program)
    return program.finish()


def lrn_backward(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw))
    rounding(program, kind)
    backward(
        program, "cudnnLRNCrossChannelBackward", dims, dims, kind, normDesc=_lrn(program),
        lrnMode="CUDNN_LRN_CROSS_CHANNEL_DIM1",
    )  # fmt: skip
    _slide(program)
    return program.finish()


def _squarable(program: Program) -> None:
    """Known fault "divisive normalization of large halves"."""
    for name, operand in program.operands.items():
        if operand.content == "large" and program.elements(name)[0] == np.float16:
            operand.content = "normal"


def _temporaries(program: Program, of: str) -> dict[str, str]:
    for name in ("temp", "temp2"):
        program.operand(name, of, out=True, content="poison", free="scratch memory")
    return {"temp": "temp", "temp2": "temp2"}


def divisive_forward(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw, least=4))
    rounding(program, kind, 4096)
    program.unit = ROUNDOFF.get(kind, program.unit)  # halves are off by several roundings
    how = _lrn(program)
    forward(
        program, "cudnnDivisiveNormalizationForward", dims, dims, kind, normDesc=how,
        mode="CUDNN_DIVNORM_PRECOMPUTED_MEANS", **_means(program),
    )  # fmt: skip
    _, arguments = program.steps[-1]
    arguments |= _temporaries(program, arguments["xDesc"])
    if arguments["means"]:
        program.operand("means", arguments["xDesc"])
    _squarable(program)
    _slide(program)
    return program.finish()


def _means(program: Program) -> dict[str, Any]:
    return {"means": "means" if program.draw.choice("means", (True, False)) else None}


def divisive_backward(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw, least=4))
    rounding(program, kind, 4096)
    program.unit = ROUNDOFF.get(kind, program.unit)
    how, alpha, beta = _lrn(program), factor(draw, "alpha"), factor(draw, "beta")
    tensor(program, "xDesc", "x", kind, dims)
    program.operand("dy", "xDesc")
    tensor(program, "dXdMeansDesc", "dx", kind, dims, out=True, beta=beta, like="xDesc")
    means = _means(program)
    with_gradient = draw.choice("dMeans", (False, True))
    if means["means"]:
        program.operand("means", "xDesc")
    if with_gradient:
        content = program.operands["dx"].content
        program.operand("dMeans", "dXdMeansDesc", out=True, content=content)
    program.call(
        "cudnnDivisiveNormalizationBackward", normDesc=how, mode="CUDNN_DIVNORM_PRECOMPUTED_MEANS",
        alpha=alpha, xDesc="xDesc", x="x", **means, dy="dy", **_temporaries(program, "xDesc"),
        beta=beta, dXdMeansDesc="dXdMeansDesc", dx="dx",
        dMeans="dMeans" if with_gradient else None,
    )  # fmt: skip
    _squarable(program)
    _slide(program)
    return program.finish()


FAMILIES: dict[str, tuple[float, Any]] = {
    "activation forward": (3, activation_forward),
    "activation backward": (3, activation_backward),
    "softmax forward": (3, softmax_forward),
    "softmax backward": (3, softmax_backward),
    "pooling forward": (4, pooling_forward),
    "pooling backward": (4, pooling_backward),
    "lrn forward": (3, lrn_forward),
    "lrn backward": (3, lrn_backward),
    "divisive forward": (3, divisive_forward),
    "divisive backward": (3, divisive_backward),
}
