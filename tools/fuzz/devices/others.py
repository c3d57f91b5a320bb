"""Spatial transformers, dropout, and causal convolutions."""

from __future__ import annotations

from typing import Any

from .draw import Draw
from .operands import FLOATS, ROUNDOFF, enumerators, factor, image, tensor
from .program import Program

__all__ = ["FAMILIES"]


def _transformer(program: Program, kind: str, dims: Any) -> str:
    sampler = "CUDNN_SAMPLER_BILINEAR"
    return program.descriptor(
        "stDesc", "SpatialTransformer", "cudnnSetSpatialTransformerNdDescriptor", sampler,
        f"CUDNN_DATA_{kind}", len(dims), list(dims),
    )  # fmt: skip


def _start(draw: Draw) -> tuple[Program, str, tuple[int, ...]]:
    program = Program(draw)
    kind = draw.choice("type", FLOATS, (6, 4, 4, 1))
    dims = image(draw, least=4, most=4 if draw.choice("rank 4", (True, False), (4, 1)) else 5)
    program.unit, program.terms = ROUNDOFF["DOUBLE" if kind == "DOUBLE" else "FLOAT"], 64
    if kind in ("HALF", "BFLOAT16"):
        program.unit = ROUNDOFF[kind]
    return program, kind, dims


def _array(program: Program, name: str, kind: str, dims: Any, **about: Any) -> None:
    program.array(name, kind, dims, **about)


def grid_forward(draw: Draw) -> Program:
    program, kind, dims = _start(draw)
    _transformer(program, kind, dims)
    spatial = len(dims) - 2
    _array(program, "theta", kind, (dims[0], spatial, spatial + 1))
    _array(program, "grid", kind, (dims[0], *dims[2:], spatial), out=True, content="poison")
    program.call("cudnnSpatialTfGridGeneratorForward", stDesc="stDesc", theta="theta", grid="grid")
    return program.finish(0.06)


def grid_backward(draw: Draw) -> Program:
    program, kind, dims = _start(draw)
    _transformer(program, kind, dims)
    spatial = len(dims) - 2
    _array(program, "dgrid", kind, (dims[0], *dims[2:], spatial))
    _array(program, "dtheta", kind, (dims[0], spatial, spatial + 1), out=True, content="poison")
    program.call(
        "cudnnSpatialTfGridGeneratorBackward", stDesc="stDesc", dgrid="dgrid", dtheta="dtheta"
    )
    return program.finish(0.06)


def _sampled(draw: Draw) -> tuple[Program, str, Any, Any]:
    program, kind, dims = _start(draw)
    result = (*dims[:2], *(draw.integer(f"out{i}", 1, 8) for i in range(len(dims) - 2)))
    _transformer(program, kind, result)
    grid = (dims[0], *result[2:], len(dims) - 2)
    content = draw.choice("grid.values", ("uniform:-1:1", "uniform:-1.5:1.5", "normal", "small"))
    _array(program, "grid", kind, grid, content=content)
    return program, kind, dims, result


def sampler_forward(draw: Draw) -> Program:
    program, kind, dims, result = _sampled(draw)
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    tensor(program, "xDesc", "x", kind, dims)
    tensor(program, "yDesc", "y", kind, result, out=True, beta=beta)
    program.call(
        "cudnnSpatialTfSamplerForward", stDesc="stDesc", alpha=alpha, xDesc="xDesc", x="x",
        grid="grid", beta=beta, yDesc="yDesc", y="y",
    )  # fmt: skip
    return program.finish()


def sampler_backward(draw: Draw) -> Program:
    program, kind, dims, result = _sampled(draw)
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    alpha_grid, beta_grid = factor(draw, "alphaDgrid"), factor(draw, "betaDgrid")
    tensor(program, "xDesc", "x", kind, dims)
    tensor(program, "dxDesc", "dx", kind, dims, out=True, beta=beta)
    tensor(program, "dyDesc", "dy", kind, result)
    content = "normal" if beta_grid else "poison"
    _array(program, "dgrid", kind, program.operands["grid"].elements[1], out=True, content=content)
    program.call(
        "cudnnSpatialTfSamplerBackward", stDesc="stDesc", alpha=alpha, xDesc="xDesc", x="x",
        beta=beta, dxDesc="dxDesc", dx="dx", alphaDgrid=alpha_grid, dyDesc="dyDesc", dy="dy",
        grid="grid", betaDgrid=beta_grid, dgrid="dgrid",
    )  # fmt: skip
    return program.finish()


def dropout(draw: Draw) -> Program:
    """States, forward and backward. With a rate of 0 or 1 the numbers are known."""
    program = Program(draw)
    kind = draw.choice("type", (*FLOATS, "INT8", "INT32"), (6, 4, 3, 3, 1, 1))
    dims = image(draw, least=3)
    rate = draw.choice("rate", (0.0, 0.5, 0.1, 1.0), (5, 3, 2, 1))
    program.descriptor("dropoutDesc", "Dropout")
    tensor(program, "xDesc", "x", kind, dims)
    tensor(program, "yDesc", "y", kind, dims, out=True, beta=0, like="xDesc")
    size = program.call("cudnnDropoutGetStatesSize")
    program.space("states", f"{size}.sizeInBytes")
    setters = ("cudnnSetDropoutDescriptor", "cudnnRestoreDropoutDescriptor")
    restored = draw.choice("restored", (False, True), (4, 1))
    seed = draw.choice("seed", (1, 0, 1 << 40))
    for setter in setters[: 2 if restored else 1]:
        program.call(
            setter, dropoutDesc="dropoutDesc", dropout=rate, states="states",
            stateSizeInBytes="states", seed=seed,
        )  # fmt: skip
    if draw.chance("read back", 0.2):
        program.call("cudnnGetDropoutDescriptor", dropoutDesc="dropoutDesc")
    reserve = program.call("cudnnDropoutGetReserveSpaceSize", xdesc="xDesc")
    program.space("reserve", f"{reserve}.sizeInBytes")
    spaces = {"reserveSpace": "reserve", "reserveSpaceSizeInBytes": "reserve"}
    program.call(
        "cudnnDropoutForward", dropoutDesc="dropoutDesc", xdesc="xDesc", x="x", ydesc="yDesc",
        y="y", **spaces,
    )  # fmt: skip
    random = 0 < rate < 1
    program.operands["y"].free = "which elements are dropped" if random else ""
    if draw.choice("backward", (True, False), (2, 1)):
        tensor(program, "dyDesc", "dy", kind, dims, like="xDesc")
        tensor(program, "dxDesc", "dx", kind, dims, out=True, beta=0, like="yDesc")
        program.operands["dx"].free = "which elements are dropped" if random else ""
        program.call(
            "cudnnDropoutBackward", dropoutDesc="dropoutDesc", dydesc="dyDesc", dy="dy",
            dxdesc="dxDesc", dx="dx", **spaces,
        )  # fmt: skip
    return program.finish(0.06)


def causal(draw: Draw) -> Program:
    """Direct causal convolutions, either way, forward or backward."""
    program = Program(draw)
    last = draw.choice("order", ("", "Nwh"))
    kind = draw.choice("type", FLOATS)
    program.unit, program.terms = ROUNDOFF["DOUBLE" if kind == "DOUBLE" else "FLOAT"], 64
    batch, dim = draw.integer("batch", 1, 3), draw.integer("dim", 1, 9)
    time, width = draw.integer("time", 1, 24), draw.integer("width", 1, 6)
    shape = (batch, dim, time) if not last else (batch, time, dim)
    activation = draw.choice(
        "activation", enumerators("IDENTITY SILU", "CAUSAL_CONV1D_ACTIVATION_")
    )
    common = {
        "batch": batch, "dim": dim, "seqLen": time, "kernelSize": width,
        "dataType": f"CUDNN_DATA_{kind}", "activation": activation, "x": "x", "weight": "weight",
        "bias": "bias" if draw.choice("bias", (True, False), (4, 1)) else None,
    }  # fmt: skip
    program.array("x", kind, shape)
    program.array("weight", kind, (dim, width))
    program.array("bias", kind, (dim,))
    if draw.choice("direction", ("forward", "backward")) == "forward":
        program.array("y", kind, shape, out=True, content="poison")
        program.call(f"cudnnCausalConv1d{last}Forward", **common, y="y")
        return program.finish(0.06)
    dw_kind = draw.choice("dw.type", ("FLOAT", "DOUBLE", "HALF"), (6, 1, 1))
    if kind == "DOUBLE":
        dw_kind = "DOUBLE"
    program.array("dy", kind, shape)
    program.array("dx", kind, shape, out=True, content="poison")
    program.array("dweight", dw_kind, (dim, width), out=True)
    program.array("dbias", dw_kind, (dim,), out=True)
    program.call(
        f"cudnnCausalConv1d{last}Backward", **common, dy="dy", dx="dx", dweight="dweight",
        dbias="dbias" if common["bias"] else None, dwDataType=f"CUDNN_DATA_{dw_kind}",
    )  # fmt: skip
    return program.finish(0.06)


FAMILIES: dict[str, tuple[float, Any]] = {
    "grid forward": (3, grid_forward),
    "grid backward": (3, grid_backward),
    "sampler forward": (3, sampler_forward),
    "sampler backward": (3, sampler_backward),
    "dropout": (3, dropout),
    "causal": (3, causal),
}
