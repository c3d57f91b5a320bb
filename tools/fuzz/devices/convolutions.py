"""Convolution in all directions, fused, as columns, and what is asked about it."""

from __future__ import annotations

import math
from typing import Any

from .draw import Draw
from .images import activation
from .operands import ROUNDOFF, enumerators, factor, image, tensor, values
from .program import Program, packed

__all__ = ["FAMILIES"]

_KINDS = (
    *("FLOAT FLOAT FLOAT", "HALF HALF FLOAT", "DOUBLE DOUBLE DOUBLE", "BFLOAT16 BFLOAT16 FLOAT"),
    *("HALF HALF HALF", "INT8 INT8 INT32", "INT8 FLOAT INT32", "INT8x4 INT8x4 INT32"),
    *("INT8x4 FLOAT INT32", "INT8x32 INT8x32 INT32", "FLOAT HALF FLOAT", "HALF FLOAT FLOAT"),
)
_KIND_ODDS = (34, 24, 8, 10, 3, 4, 3, 4, 2, 3, 1, 1)
_MATHS = enumerators("DEFAULT_MATH TENSOR_OP_MATH TENSOR_OP_MATH_ALLOW_CONVERSION FMA_MATH", "")
_ALGORITHMS = {
    "FWD": "IMPLICIT_GEMM IMPLICIT_PRECOMP_GEMM GEMM DIRECT FFT FFT_TILING WINOGRAD "
    "WINOGRAD_NONFUSED",
    "BWD_DATA": "0 1 FFT FFT_TILING WINOGRAD WINOGRAD_NONFUSED",
    "BWD_FILTER": "0 1 FFT 3 WINOGRAD_NONFUSED FFT_TILING",
}


class _Problem:
    """Shapes, types and the descriptor of a convolution."""

    def __init__(self, draw: Draw, *, plain: bool = False) -> None:
        self.program, self.draw = Program(draw), draw
        plain = plain and draw.choice("plain", (True, False), (3, 2))
        kinds = _KINDS[:4] if plain else _KINDS
        odds = _KIND_ODDS[: len(kinds)]
        self.x_kind, self.y_kind, self.compute = draw.choice("types", kinds, odds).split()
        vector = int(self.x_kind.split("x")[1]) if "x" in self.x_kind else 1
        integer = self.x_kind.startswith("INT8")
        dims = image(draw, least=4, most=4 if plain else 5, largest=1536)
        rank = len(dims) - 2
        self.groups = 1 if integer or plain else draw.choice("groups", (1, 2, 3), (8, 1, 1))
        unit = vector if vector > 1 else draw.choice("channel unit", (1, 4, 8), (4, 1, 2))
        if integer and vector == 1:
            unit = 4
        few = dims[1] if unit < 8 else max(1, dims[1] // 4)
        self.channels = min(few, 64 // unit or 1) * unit * self.groups
        self.filters = draw.integer("filters", 1, 6 if unit < 8 else 3) * unit * self.groups
        self.window = draw.integers("window", rank, 1, 4 if rank < 3 else 3)
        self.padding = [draw.integer(f"padding{i}", 0, n - 1) for i, n in enumerate(self.window)]
        self.stride = [draw.choice(f"stride{i}", (1, 2, 3), (6, 3, 1)) for i in range(rank)]
        rare = 0 if plain else 1
        self.dilation = [draw.choice(f"dilation{i}", (1, 2), (8, rare)) for i in range(rank)]
        reach = [(n - 1) * d + 1 for n, d in zip(self.window, self.dilation, strict=True)]
        sizes = [max(n, r - 2 * p) for n, r, p in zip(dims[2:], reach, self.padding, strict=True)]
        self.x = (dims[0], self.channels, *sizes)
        self.w = (self.filters, self.channels // self.groups, *self.window)
        self.y = (
            dims[0],
            self.filters,
            *(
                (n + 2 * p - r) // s + 1
                for n, p, r, s in zip(sizes, self.padding, reach, self.stride, strict=True)
            ),
        )
        self.math = draw.choice("math", _MATHS)
        if self.compute == "INT32" and draw.choice("integer math", (True, False), (3, 1)):
            self.math = _MATHS[0]
        compute = self.compute
        if draw.chance("odd compute", 0.04):
            compute = draw.choice("compute", ("FLOAT", "DOUBLE", "HALF", "INT32", "BFLOAT16"))
        self.program.descriptor(
            "convDesc", "Convolution", "cudnnSetConvolutionNdDescriptor", rank, self.padding,
            self.stride, self.dilation,
            draw.choice(
                "convolution", enumerators("CROSS_CORRELATION CONVOLUTION", ""), (2, rare)
            ),
            f"CUDNN_DATA_{compute}",
        )  # fmt: skip
        if self.groups != 1 or draw.chance("wrong groups", 0.01):
            groups = self.groups + draw.choice("groups off", (0, 1), (8, 1))
            # cuDNN goes by the channels, the reference device refuses other groups.
            self.program.statuses_compared = groups == self.groups
            self.program.descriptor(
                "convDesc", "Convolution", "cudnnSetConvolutionGroupCount", groups
            )
        self.program.descriptor("convDesc", "Convolution", "cudnnSetConvolutionMathType", self.math)
        self.last = integer and vector == 1
        layout = draw.choice("layout", ("NCHW", "NHWC", "each its own"), (4, 4, 2))
        self.layout = "NHWC" if self.last else layout
        rounding = ROUNDOFF["DOUBLE" if self.compute == "DOUBLE" else "FLOAT"]
        if self.x_kind in ("HALF", "BFLOAT16") and compute == "HALF":
            rounding = ROUNDOFF["HALF"]
        if self.x_kind == "FLOAT" and not self.math.endswith("FMA_MATH"):
            rounding = ROUNDOFF["HALF"]  # TF32
        if self.math.endswith("ALLOW_CONVERSION"):
            rounding = max(rounding, ROUNDOFF["BFLOAT16" if self.x_kind == "BFLOAT16" else "HALF"])
        self.program.unit, self.program.alignment = rounding, 16

    def rounded_by(self, algorithm: str) -> None:
        """Transforms lose precision, and so do halves to which parts of a sum are added."""
        least = 0.0
        if "WINOGRAD" in algorithm or "FFT" in algorithm:
            least = {"DOUBLE": 0.0, "FLOAT": 2.0**-19}.get(self.x_kind, ROUNDOFF["HALF"])
            least = ROUNDOFF["BFLOAT16"] if self.x_kind == "BFLOAT16" else least
        elif algorithm.endswith(("ALGO_0", "ALGO_3")):
            least = ROUNDOFF[self.x_kind] if self.x_kind in ("HALF", "BFLOAT16") else 0.0
        self.program.unit = max(self.program.unit, least)

    def _kind(self, name: str) -> str:
        if name in ("x", "dx", "w", "dw"):
            return self.x_kind
        return self.y_kind

    def tensor(self, descriptor: str, name: str, dims: Any, **about: Any) -> None:
        """x, y, or a gradient."""
        kind, draw, program = self._kind(name), self.draw, self.program
        if "x" in kind:
            tensor(program, descriptor, name, kind, dims, **about)
            return
        if self.layout == "each its own":
            tensor(program, descriptor, name, kind, dims, **about)
            return
        out, beta = about.get("out", False), about.get("beta", 1.0)
        rank = len(dims)
        order = [0, *range(2, rank), 1] if self.layout == "NHWC" else None
        program.tensor(descriptor, kind, dims, packed(dims, order))
        content = "poison" if out and not beta else "normal" if out else values(draw, name)
        program.operand(
            name, descriptor, out=out, content=content,
            shift=draw.choice(f"{name}.shift", (0, 1, 4, 3), (90, 4, 4, 2)),
        )  # fmt: skip

    def filter(self, descriptor: str, name: str, *, out: bool = False, beta: float = 1.0) -> None:
        """w or dw."""
        draw, layout = self.draw, self.layout
        if layout == "each its own":
            layout = draw.choice("w.format", ("NCHW", "NHWC"))
        if "x" in self.x_kind:
            layout = "NCHW_VECT_C"
        self.program.filter(descriptor, self.x_kind, self.w, layout)
        content = "poison" if out and not beta else "normal" if out else values(draw, name)
        self.program.operand(name, descriptor, out=out, content=content)

    def algorithm(self, direction: str) -> str:
        names = enumerators(_ALGORITHMS[direction], f"CONVOLUTION_{direction}_ALGO_")
        first = [names[1], *(name for name in names if name != names[1])]
        algorithm = str(self.draw.choice("algo", first, (14, *([2] * (len(names) - 1)))))
        self.rounded_by(algorithm)
        return algorithm


_SPACES = {"as asked": -1, "large": 1 << 23, "none": 0}
_OUTPUT = {"FWD": "y", "BWD_DATA": "dx", "BWD_FILTER": "dw"}
_C_NAMES = {"FWD": "Forward", "BWD_DATA": "BackwardData", "BWD_FILTER": "BackwardFilter"}


def _descriptors(problem: _Problem, direction: str, beta: float) -> dict[str, str]:
    """Descriptors and operands of a direction, by C's names."""
    if direction == "FWD":
        problem.tensor("xDesc", "x", problem.x)
        problem.filter("wDesc", "w")
        problem.tensor("yDesc", "y", problem.y, out=True, beta=beta)
        names = ("xDesc", "wDesc", "convDesc", "yDesc")
    elif direction == "BWD_DATA":
        problem.filter("wDesc", "w")
        problem.tensor("dyDesc", "dy", problem.y)
        problem.tensor("dxDesc", "dx", problem.x, out=True, beta=beta)
        names = ("wDesc", "dyDesc", "convDesc", "dxDesc")
    else:
        problem.tensor("xDesc", "x", problem.x)
        problem.tensor("dyDesc", "dy", problem.y)
        problem.filter("dwDesc", "dw", out=True, beta=beta)
        names = ("xDesc", "dyDesc", "convDesc", "dwDesc")
    return {name: name for name in names}


def _terms(problem: _Problem, direction: str) -> int:
    w, y = math.prod(problem.w), math.prod(problem.y)
    if direction == "FWD":
        return w // problem.w[0]
    if direction == "BWD_DATA":
        return w // problem.w[1]
    return y // problem.y[1]


def _memory(names: dict[str, str]) -> dict[str, str]:
    """The operands that descriptors describe."""
    short = (name.removesuffix("Desc") for name in names if name != "convDesc")
    return {name: name for name in short}


def _workspace(problem: _Problem, direction: str, names: dict[str, str], algorithm: str) -> None:
    """Scratch memory as cuDNN asks for it, or as much as a program without the question has."""
    program, how = problem.program, problem.draw.choice("workspace", tuple(_SPACES), (8, 3, 1))
    if how == "as asked":
        asked = {("gradDesc" if key == "dwDesc" else key): each for key, each in names.items()}
        step = program.call(
            f"cudnnGetConvolution{_C_NAMES[direction]}WorkspaceSize", **asked, algo=algorithm
        )
        program.space("workSpace", f"{step}.sizeInBytes")
    else:
        program.space("workSpace", _SPACES[how])
    # How much is needed is an implementation's, and transforms may need more than there is.
    if how == "none" or (how == "large" and "FFT" in algorithm):
        program.statuses_compared = False


def _direction(draw: Draw, direction: str) -> Program:
    problem = _Problem(draw)
    program = problem.program
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    names = _descriptors(problem, direction, beta)
    algorithm = problem.algorithm(direction)
    program.terms = _terms(problem, direction)
    _workspace(problem, direction, names, algorithm)
    memory = _memory(names)
    program.call(
        f"cudnnConvolution{_C_NAMES[direction]}", alpha=alpha, **names, **memory, algo=algorithm,
        workSpace="workSpace", workSpaceSizeInBytes="workSpace", beta=beta,
    )  # fmt: skip
    return program.finish()


def forward(draw: Draw) -> Program:
    return _direction(draw, "FWD")


def backward_data(draw: Draw) -> Program:
    return _direction(draw, "BWD_DATA")


def backward_filter(draw: Draw) -> Program:
    return _direction(draw, "BWD_FILTER")


def backward_bias(draw: Draw) -> Program:
    program = Program(draw)
    kind = draw.choice("type", ("FLOAT", "HALF", "DOUBLE", "BFLOAT16", "INT8"), (8, 5, 4, 3, 1))
    dims = image(draw, largest=4096)
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    program.unit = ROUNDOFF["DOUBLE" if kind == "DOUBLE" else "FLOAT"]
    program.terms, program.alignment = math.prod(dims) // dims[1], 16
    tensor(program, "dyDesc", "dy", kind, dims)
    tensor(program, "dbDesc", "db", kind, (1, dims[1], *(1 for _ in dims[2:])), out=True, beta=beta)
    program.call(
        "cudnnConvolutionBackwardBias", alpha=alpha, dyDesc="dyDesc", dy="dy", beta=beta,
        dbDesc="dbDesc", db="db",
    )  # fmt: skip
    return program.finish()


def bias_activation(draw: Draw) -> Program:
    problem = _Problem(draw)
    program = problem.program
    alpha1, alpha2 = factor(draw, "alpha1"), draw.choice("alpha2", (0.0, 1.0, 0.5), (2, 2, 1))
    names = _descriptors(problem, "FWD", 0)
    algorithm = problem.algorithm("FWD")
    program.terms = _terms(problem, "FWD")
    how = activation(program, "activation ")
    if draw.choice("usual activation", (True, False), (3, 1)):
        mode = draw.choice("fused mode", enumerators("RELU IDENTITY", "ACTIVATION_"))
        program.descriptors[how].setters[0][1][0] = mode
    z = draw.choice("z", ("own", "y", "none"), (4, 2, 1))
    if z == "own":
        described = program.descriptors["yDesc"]
        program.descriptors["zDesc"] = described
        program.operand("z", "zDesc", content=values(draw, "z"))
    elif z == "y":
        program.operands["y"].content = "normal"
    bias_kind = "FLOAT" if problem.compute == "INT32" else problem.y_kind
    rank = len(problem.y)
    tensor(
        program, "biasDesc", "bias", bias_kind, (1, problem.filters, *(1 for _ in range(rank - 2)))
    )
    _workspace(problem, "FWD", names, algorithm)
    program.call(
        "cudnnConvolutionBiasActivationForward", alpha1=alpha1, **names, x="x", w="w",
        algo=algorithm, workSpace="workSpace", workSpaceSizeInBytes="workSpace", alpha2=alpha2,
        zDesc={"own": "zDesc", "y": "yDesc", "none": "yDesc"}[z],
        z={"own": "z", "y": "y", "none": None}[z], biasDesc="biasDesc", bias="bias",
        activationDesc=how, y="y",
    )  # fmt: skip
    return program.finish()


_RENAMED = {
    "FWD": {"xDesc": "srcDesc", "wDesc": "filterDesc", "convDesc": "convDesc", "yDesc": "destDesc"},
    "BWD_DATA": {
        "wDesc": "filterDesc", "dyDesc": "diffDesc", "convDesc": "convDesc", "dxDesc": "gradDesc",
    },
    "BWD_FILTER": {
        "xDesc": "srcDesc", "dyDesc": "diffDesc", "convDesc": "convDesc", "dwDesc": "gradDesc",
    },
}  # fmt: skip


def queries(draw: Draw) -> Program:
    """What the algorithms are; finding them runs them, and writes the output."""
    problem = _Problem(draw)
    program = problem.program
    direction = draw.choice("direction", tuple(_ALGORITHMS))
    names = _descriptors(problem, direction, 0)
    name = _C_NAMES[direction]
    program.terms = _terms(problem, direction)
    what = draw.choice("query", ("get", "count", "find", "find ex"), (20, 2, 1, 1))
    count = draw.choice("requested", (8, 1, 3, 0), (6, 2, 1, 1))
    if what == "count":
        program.call(f"cudnnGetConvolution{name}AlgorithmMaxCount")
    elif what == "get":
        renamed = {_RENAMED[direction][k]: v for k, v in names.items()}
        program.call(
            f"cudnnGetConvolution{name}Algorithm_v7", **renamed, requestedAlgoCount=count,
            perfResults=max(count, 1),
        )  # fmt: skip
    elif what == "find":
        program.call(
            f"cudnnFindConvolution{name}Algorithm", **names, requestedAlgoCount=count,
            perfResults=max(count, 1),
        )  # fmt: skip
    else:
        out = _OUTPUT[direction]
        program.operands[out].free = "which algorithm wrote it last is open"
        memory = _memory(names)
        if direction == "BWD_FILTER":
            memory["y"] = memory.pop("dy")
        program.space("workSpace", draw.choice("workspace", (1 << 24, 0, 1 << 12)))
        program.call(
            f"cudnnFindConvolution{name}AlgorithmEx", **names, **memory, requestedAlgoCount=count,
            perfResults=max(count, 1), workSpace="workSpace", workSpaceSizeInBytes="workSpace",
        )  # fmt: skip
    return program.finish()


def im2col(draw: Draw) -> Program:
    problem = _Problem(draw, plain=True)
    program = problem.program
    problem.tensor("xDesc", "x", problem.x)
    problem.filter("wDesc", "w")
    program.operands.pop("w")
    columns = math.prod(problem.w[1:]) * problem.x[0] * math.prod(problem.y[2:]) * problem.groups
    program.array("colBuffer", problem.x_kind, (columns,), out=True, content="poison")
    program.call(
        "cudnnIm2Col", xDesc="xDesc", x="x", wDesc="wDesc", convDesc="convDesc",
        colBuffer="colBuffer",
    )  # fmt: skip
    return program.finish()


def reorder(draw: Draw) -> Program:
    program = Program(draw)
    kind = draw.choice("type", ("INT8x32", "INT8x4", "INT8", "FLOAT"), (12, 1, 1, 1))
    filters = draw.choice("filter unit", (32, 8, 1), (8, 1, 1)) * draw.integer("filters", 1, 3)
    channels = draw.choice("channel unit", (32, 4), (8, 1)) * draw.integer("channels", 1, 2)
    dims = (filters, channels, *draw.integers("window", 2, 1, 3))
    program.filter("filterDesc", kind, dims, "NCHW_VECT_C" if "x" in kind else "NCHW")
    program.operand("filterData", "filterDesc")
    program.operand("reorderedFilterData", "filterDesc", out=True, content="poison")
    bias = draw.choice("bias", (1, 0))
    program.array("biasData", "FLOAT", (filters,))
    program.array("reorderedBiasData", "FLOAT", (filters,), out=True, content="poison")
    program.call(
        "cudnnReorderFilterAndBias", filterDesc="filterDesc",
        reorderType=draw.choice("reorder", enumerators("DEFAULT_REORDER NO_REORDER", "")),
        filterData="filterData", reorderedFilterData="reorderedFilterData", reorderBias=bias,
        biasData="biasData" if bias else None,
        reorderedBiasData="reorderedBiasData" if bias else None,
    )  # fmt: skip
    return program.finish()


def folded(draw: Draw) -> Program:
    """Descriptors of a folded gradient: they are what the call gives."""
    problem = _Problem(draw, plain=True)
    program = problem.program
    _descriptors(problem, "BWD_DATA", 0)
    made = {
        "foldedFilterDesc": "Filter", "paddedDiffDesc": "Tensor", "foldedConvDesc": "Convolution",
        "foldedGradDesc": "Tensor", "filterFoldTransDesc": "TensorTransform",
        "diffPadTransDesc": "TensorTransform", "gradFoldTransDesc": "TensorTransform",
        "gradUnfoldTransDesc": "TensorTransform",
    }  # fmt: skip
    for name, kind in made.items():
        program.descriptor(name, kind)
    program.call(
        "cudnnGetFoldedConvBackwardDataDescriptors", filterDesc="wDesc", diffDesc="dyDesc",
        convDesc="convDesc", gradDesc="dxDesc",
        transformFormat=draw.choice("format", enumerators("NCHW NHWC", "TENSOR_")),
        **{name: name for name in made},
    )  # fmt: skip
    return program.finish()


FAMILIES: dict[str, tuple[float, Any]] = {
    "convolution forward": (6, forward),
    "convolution backward data": (5, backward_data),
    "convolution backward filter": (5, backward_filter),
    "convolution backward bias": (3, backward_bias),
    "convolution bias activation": (5, bias_activation),
    "convolution queries": (6, queries),
    "im2col": (4, im2col),
    "reorder": (3, reorder),
    "folded": (4, folded),
}
