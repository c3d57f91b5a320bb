"""Functions over whole tensors: transforming, adding, reducing, setting and scaling."""

from __future__ import annotations

import math
from typing import Any

from .draw import Draw
from .images import kind_of, nan_option, rounding, vector_channels
from .operands import ALL_TYPES, FLOATS, ROUNDOFF, enumerators, factor, image, tensor, values
from .program import Program

__all__ = ["FAMILIES"]

_ODDS = (8, 8, 6, 6, 3, 1, 1, 1, 1, 1, 1)  # of all types
_NUMBERS = ("FLOAT", "DOUBLE", "HALF", "BFLOAT16", "INT32", "INT8")


def _another(draw: Draw, name: str, kind: str, often: float = 0.3) -> str:
    """Another type, or the same."""
    return (
        str(draw.choice(name, ALL_TYPES, _ODDS)) if draw.chance(f"{name} differs", often) else kind
    )


def _set_rounding(program: Program, *kinds: str) -> None:
    rounding(program, "DOUBLE" if all(kind == "DOUBLE" for kind in kinds) else "FLOAT")


def transform(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    y_kind = _another(draw, "y.type", kind)
    dims = vector_channels(y_kind, vector_channels(kind, image(draw)))
    _set_rounding(program, kind, y_kind)
    program.alignment = 16 if "x" in kind + y_kind else 1
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    tensor(program, "xDesc", "x", kind, dims)
    tensor(program, "yDesc", "y", y_kind, dims, out=True, beta=beta)
    program.call(
        "cudnnTransformTensor", alpha=alpha, xDesc="xDesc", x="x", beta=beta, yDesc="yDesc", y="y"
    )
    return program.finish()


def _broadcast(draw: Draw, name: str, dims: tuple[int, ...]) -> tuple[int, ...]:
    how = draw.choice(f"{name}.broadcast", ("whole", "channel", "one", "image", "any"))
    if how == "channel":
        return (1, dims[1], *(1 for _ in dims[2:]))
    if how == "one":
        return (1,) * len(dims)
    if how == "image":
        return (1, *dims[1:])
    if how == "any":
        return tuple(
            1 if draw.choice(f"{name}.one{axis}", (False, True)) else size
            for axis, size in enumerate(dims)
        )
    return dims


def add(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    a_kind = _another(draw, "a.type", kind, 0.3)
    dims = vector_channels(a_kind, vector_channels(kind, image(draw)))
    _set_rounding(program, kind, a_kind)
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    a_dims = vector_channels(a_kind, _broadcast(draw, "a", dims))
    tensor(program, "aDesc", "A", a_kind, a_dims)
    tensor(program, "cDesc", "C", kind, dims, out=True, beta=beta)
    program.call(
        "cudnnAddTensor", alpha=alpha, aDesc="aDesc", A="A", beta=beta, cDesc="cDesc", C="C"
    )
    return program.finish()


def op(draw: Draw) -> Program:
    program = Program(draw)
    operation = draw.choice("op", enumerators("ADD MUL MIN MAX SQRT NOT", "OP_TENSOR_"))
    pairs = (("FLOAT", "FLOAT"), ("DOUBLE", "DOUBLE"), ("HALF", "HALF"), ("BFLOAT16", "BFLOAT16"))
    pairs += (("INT8", "INT8"), ("HALF", "FLOAT"), ("BFLOAT16", "FLOAT"), ("INT8", "FLOAT"))
    pairs += (("FLOAT", "HALF"), ("FLOAT", "BFLOAT16"), ("FLOAT", "INT8"), ("INT32", "INT32"))
    names = [f"{a} to {c}" for a, c in pairs]
    a_kind, c_kind = draw.choice("types", names).split(" to ")
    b_kind = _another(draw, "b.type", a_kind, 0.25)
    compute = draw.choice("compute", ("FLOAT", "DOUBLE", "HALF"), (90, 8, 2))
    if "DOUBLE" in (a_kind, c_kind) and draw.choice("double in double", (True, False), (4, 1)):
        compute = "DOUBLE"
    program.unit = ROUNDOFF[compute]
    dims = image(draw, least=4 if draw.choice("usual rank", (True, False), (7, 1)) else 3)
    program.descriptor(
        "opTensorDesc", "OpTensor", "cudnnSetOpTensorDescriptor", operation,
        f"CUDNN_DATA_{compute}", nan_option(draw),
    )  # fmt: skip
    factors = {"alpha1": factor(draw, "alpha1"), "alpha2": factor(draw, "alpha2")}
    beta = factor(draw, "beta")
    a_dims = _broadcast(draw, "a", dims) if draw.chance("a smaller", 0.06) else dims
    b_dims = vector_channels(b_kind, _broadcast(draw, "b", dims))
    content = ""
    if operation.endswith("SQRT"):
        content = draw.choice("root of", ("positive", "normal"), (3, 1))
    tensor(program, "aDesc", "A", a_kind, a_dims, content=content)
    tensor(program, "bDesc", "B", b_kind, b_dims)
    tensor(program, "cDesc", "C", c_kind, dims, out=True, beta=beta, like="aDesc")
    arguments = {"aDesc": "aDesc", "A": "A", "bDesc": "bDesc", "B": "B"}
    if a_dims == dims and a_kind == c_kind and draw.chance("in place", 0.1):
        a = program.operands.pop("A")
        program.operands["C"].content = a.content
        program.descriptors.pop("aDesc")
        arguments |= {"A": "C", "aDesc": "cDesc"}
    if operation.endswith(("SQRT", "NOT")) and draw.chance("without b", 0.08):
        arguments |= {"B": None, "bDesc": None}  # type: ignore[dict-item]
    program.call(
        "cudnnOpTensor", opTensorDesc="opTensorDesc", **factors, **arguments, beta=beta,
        cDesc="cDesc", C="C",
    )  # fmt: skip
    return program.finish()


def reduce(draw: Draw) -> Program:
    program = Program(draw)
    names = "ADD MUL MIN MAX AMAX AVG NORM1 NORM2 MUL_NO_ZEROS"
    operation = draw.choice("op", enumerators(names, "REDUCE_TENSOR_"))
    kind = draw.choice("type", _NUMBERS, (36, 18, 30, 6, 5, 5))
    c_kind = _another(draw, "c.type", kind, 0.25)
    usual = "DOUBLE" if "DOUBLE" in (kind, c_kind) else "FLOAT"
    compute = usual
    if draw.chance("odd compute", 0.1):
        compute = draw.choice("compute", ("FLOAT", "HALF", "DOUBLE", "INT32"))
    usual_rank = draw.choice("usual rank", (True, False), (7, 1))
    dims = image(draw, least=3 if usual_rank else 2, largest=4096)
    c_dims = tuple(
        1 if draw.choice(f"reduced{axis}", (True, False)) else size
        for axis, size in enumerate(dims)
    )
    indices = draw.choice("indices", ("NO_INDICES", "FLATTENED_INDICES"), (3, 1))
    size = draw.choice("index type", ("32BIT", "64BIT", "16BIT", "8BIT"), (85, 5, 5, 5))
    program.descriptor(
        "reduceTensorDesc", "ReduceTensor", "cudnnSetReduceTensorDescriptor", operation,
        f"CUDNN_DATA_{compute}", nan_option(draw), f"CUDNN_REDUCE_TENSOR_{indices}",
        f"CUDNN_{size}_INDICES",
    )  # fmt: skip
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    content = ""
    if "MUL" in operation:
        content = draw.choice("factors", ("uniform:0.8:1.25", "small", "specials"), (4, 1, 1))
    elif indices == "FLATTENED_INDICES":
        content = draw.choice("compared", ("distinct", "small", "specials"), (5, 1, 1))
    tensor(program, "aDesc", "A", kind, dims, content=content)
    tensor(program, "cDesc", "C", c_kind, vector_channels(c_kind, c_dims), out=True, beta=beta)
    program.unit = ROUNDOFF.get(compute, 2.0**-24)
    program.terms = math.prod(dims) // math.prod(c_dims)
    if operation.endswith("NO_ZEROS") and content != "uniform:0.8:1.25" and program.terms > 100:
        program.operands["C"].free = "partial products that underflow are left out like zeros"
    about = {"reduceTensorDesc": "reduceTensorDesc", "aDesc": "aDesc", "cDesc": "cDesc"}
    program.call("cudnnGetReductionWorkspaceSize", **about)
    program.space("workspace", "0.sizeInBytes")
    program.call("cudnnGetReductionIndicesSize", **about)
    wants = indices == "FLATTENED_INDICES"
    count = math.prod(c_dims)
    if wants:
        program.array("indices", "INT32", (count,), out=True, content="poison")
    program.call(
        "cudnnReduceTensor", **about, indices="indices" if wants else None,
        indicesSizeInBytes=4 * count if wants else 0, workspace="workspace",
        workspaceSizeInBytes="workspace", alpha=alpha, A="A", beta=beta, C="C",
    )  # fmt: skip
    program.exempt["0.sizeInBytes"] = "the size of a workspace is an implementation's"
    return program.finish()


def set_tensor(draw: Draw) -> Program:
    program, kind = Program(draw), str(draw.choice("type", ALL_TYPES, _ODDS))
    dims = vector_channels(kind, image(draw))
    rounding(program, kind)
    tensor(program, "yDesc", "y", kind, dims, out=True, beta=0)
    number = draw.choice("value", (1.0, 0.0, -2.0, 100.0))
    program.call("cudnnSetTensor", yDesc="yDesc", y="y", valuePtr=number)
    return program.finish()


def scale_tensor(draw: Draw) -> Program:
    program, kind = Program(draw), str(draw.choice("type", ALL_TYPES, _ODDS))
    dims = vector_channels(kind, image(draw))
    rounding(program, kind)
    alpha = factor(draw, "alpha")
    tensor(program, "yDesc", "y", kind, dims, out=True, content=values(draw, "y"))
    program.call("cudnnScaleTensor", yDesc="yDesc", y="y", alpha=alpha)
    return program.finish()


def _transformation(program: Program, dims: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    draw, rank = program.draw, len(dims)
    direction = draw.choice("direction", enumerators("FOLD UNFOLD", "TRANSFORM_"))
    fold = [draw.integer(f"fold{axis}", 1, 3) for axis in range(rank - 2)]
    if draw.choice("folded", (False, True)) is False:
        fold = [1] * (rank - 2)
    before, after = [0] * rank, [0] * rank
    if draw.chance("padded", 0.5):
        before = draw.integers("before", rank, 0, 2)
        after = draw.integers("after", rank, 0, 2)
        if draw.chance("cropped", 0.3):
            after[draw.integer("crop", 0, rank - 1)] = -1
    whole = [n + b + a for n, b, a in zip(dims, before, after, strict=True)]
    blocks = 1
    for n in fold:
        blocks *= n
    result = list(whole)
    if direction.endswith("UNFOLD"):
        result[1] = max(1, whole[1] // blocks)
        result[2:] = [n * f for n, f in zip(whole[2:], fold, strict=True)]
    else:
        result[1] = whole[1] * blocks
        result[2:] = [-(-n // f) for n, f in zip(whole[2:], fold, strict=True)]
    form = draw.choice("format", enumerators("NCHW NHWC", "TENSOR_"), (3, 1))
    name = program.descriptor(
        "transDesc", "TensorTransform", "cudnnSetTensorTransformDescriptor", rank, form, before,
        after, fold, direction,
    )  # fmt: skip
    return name, tuple(max(1, n) for n in result)


def transform_ex(draw: Draw) -> Program:
    program, kind = Program(draw), kind_of(draw)
    dims = vector_channels(kind, image(draw, largest=1024))
    rounding(program, kind)
    how, result = _transformation(program, dims)
    if kind != "DOUBLE" and "x" in kind:
        result = vector_channels(kind, result)
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    y_kind = _another(draw, "y.type", kind, 0.25)
    tensor(program, "srcDesc", "srcData", kind, dims)
    tensor(
        program,
        "destDesc",
        "destData",
        y_kind,
        vector_channels(y_kind, result),
        out=True,
        beta=beta,
    )
    program.alignment = 16 if "x" in kind + y_kind else 1  # "memory off its boundary"
    program.call(
        "cudnnTransformTensorEx", transDesc=how, alpha=alpha, srcDesc="srcDesc", srcData="srcData",
        beta=beta, destDesc="destDesc", destData="destData",
    )  # fmt: skip
    return program.finish()


def transform_filter(draw: Draw) -> Program:
    program, kind = Program(draw), str(draw.choice("type", FLOATS))
    dims = image(draw, least=4, largest=1024)
    rounding(program, kind)
    how, result = _transformation(program, dims)
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    layouts = ("NCHW", "NHWC")
    program.filter("srcDesc", kind, dims, draw.choice("src.format", layouts))
    program.filter("destDesc", kind, result, draw.choice("dest.format", layouts))
    program.operand("srcData", "srcDesc", content=values(draw, "srcData"))
    program.operand("destData", "destDesc", out=True, content="normal" if beta else "poison")
    program.call(
        "cudnnTransformFilter", transDesc=how, alpha=alpha, srcDesc="srcDesc", srcData="srcData",
        beta=beta, destDesc="destDesc", destData="destData",
    )  # fmt: skip
    return program.finish()


FAMILIES: dict[str, tuple[float, Any]] = {
    "transform": (3, transform),
    "add": (3, add),
    "op": (6, op),
    "reduce": (5, reduce),
    "set": (3, set_tensor),
    "scale": (3, scale_tensor),
    "transform ex": (4, transform_ex),
    "transform filter": (3, transform_filter),
}
