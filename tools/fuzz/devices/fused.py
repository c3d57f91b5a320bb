"""Fused operations: packs are filled, a plan is made, and executed."""

from __future__ import annotations

from typing import Any

from .draw import Draw
from .operands import enumerators
from .program import Described, Program, packed

__all__ = ["FAMILIES"]

_ALIGNED = ("PTR_16B_ALIGNED", "PTR_ELEM_ALIGNED")
_HALF, _TF32 = 2.0**-11, 2.0**-11


class _Fused:
    """A program around one operation."""

    def __init__(self, draw: Draw, operation: str) -> None:
        self.draw, self.program = draw, Program(draw)
        self.variants: list[tuple[str, Any]] = []
        self.program.terms, self.program.unit = 64, 2.0**-20
        for name, kind in (
            ("plan", "FusedOpsPlan"), ("constPack", "FusedOpsConstParamPack"),
            ("varPack", "FusedOpsVariantParamPack"),
        ):  # fmt: skip
            self.program.descriptors[name] = Described(kind, created_with=[f"CUDNN_{operation}"])

    def constant(self, label: str, value: Any) -> None:
        self.program.call(
            "cudnnSetFusedOpsConstParamPackAttribute", constPack="constPack",
            paramLabel=f"CUDNN_PARAM_{label}", param=value,
        )  # fmt: skip

    def memory(self, label: str, operand: str) -> None:
        """A placeholder, and later the pointer."""
        how = self.draw.choice(f"{label} placeholder", _ALIGNED, (20, 6))
        self.constant(f"{label}_PLACEHOLDER", ("int", f"CUDNN_{how}"))
        self.variants.append((f"CUDNN_PTR_{label}", operand))

    def number(self, label: str, kind: str, value: Any) -> None:
        self.variants.append((f"CUDNN_SCALAR_{label}", (kind, value)))

    def finish(self) -> Program:
        program, draw = self.program, self.draw
        if draw.chance("constant forgotten", 0.04):
            del program.steps[draw.integer("which constant", 0, len(program.steps) - 1)]
        made = program.call("cudnnMakeFusedOpsPlan", plan="plan", constPack="constPack")
        program.space("workspace", f"{made}.workspaceSizeInBytes")
        for label, value in self.variants:
            program.call(
                "cudnnSetFusedOpsVariantParamPackAttribute", varPack="varPack", paramLabel=label,
                ptr=value,
            )  # fmt: skip
        program.call(
            "cudnnSetFusedOpsVariantParamPackAttribute", varPack="varPack",
            paramLabel="CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES",
            ptr=("space", "workspace"),
        )  # fmt: skip
        program.call(
            "cudnnSetFusedOpsVariantParamPackAttribute", varPack="varPack",
            paramLabel="CUDNN_PTR_WORKSPACE", ptr="workspace",
        )  # fmt: skip
        program.call("cudnnFusedOpsExecute", plan="plan", varPack="varPack")
        return program


def _finalize(draw: Draw, training: bool) -> Program:
    how = "TRAINING" if training else "INFERENCE"
    fused = _Fused(draw, f"FUSED_BN_FINALIZE_STATISTICS_{how}")
    program = fused.program
    channels = 8 * draw.integer("channels", 1, 6) + draw.choice("odd channels", (0, 3), (9, 1))
    few = (1, channels, 1, 1)
    program.tensor("single", "FLOAT", few)
    program.tensor(
        "affine", draw.choice("affine.type", ("HALF", "FLOAT", "DOUBLE"), (6, 1, 1)), few
    )
    modes = enumerators("SPATIAL SPATIAL_PERSISTENT PER_ACTIVATION", "BATCHNORM_")
    fused.constant("BN_MODE", ("int", draw.choice("mode", modes, (6, 2, 1))))
    fused.constant("BN_SCALEBIAS_MEANVAR_DESC", "single")
    fused.constant("BN_EQSCALEBIAS_DESC", "affine")
    if training:
        fused.constant("YSTATS_DESC", "single")
        count = draw.choice("count", (100, 30, 7))
        program.operand("ysum", "single", content="normal")
        program.operand("ysqsum", "single", content="uniform:200:300")
        fused.memory("YSUM", "ysum")
        fused.memory("YSQSUM", "ysqsum")
        fused.number("INT64_T_BN_ACCUMULATION_COUNT", "int64", count)
        fused.number("DOUBLE_BN_EXP_AVG_FACTOR", "double", draw.choice("average", (0.25, 1.0, 0.0)))
        for name in ("SAVED_MEAN", "SAVED_INVSTD"):
            program.operand(name.lower(), "single", content="poison", out=True)
            fused.memory(f"BN_{name}", name.lower())
    averaged = not training or draw.choice("running", (True, False))
    if averaged:
        program.operand("running_mean", "single", out=training)
        program.operand("running_var", "single", content="positive", out=training)
        fused.memory("BN_RUNNING_MEAN", "running_mean")
        fused.memory("BN_RUNNING_VAR", "running_var")
    for name in ("SCALE", "BIAS"):
        program.operand(name.lower(), "single")
        fused.memory(f"BN_{name}", name.lower())
        program.operand(f"eq{name.lower()}", "affine", content="poison", out=True)
        fused.memory(f"BN_EQ{name}", f"eq{name.lower()}")
    fused.number("DOUBLE_BN_EPSILON", "double", draw.choice("epsilon", (1e-3, 1e-5, 0.1)))
    return fused.finish()


def _convolution(draw: Draw, gradient: bool) -> Program:
    name = "WGRAD" if gradient else "CONV_BNSTATS"
    fused = _Fused(draw, f"FUSED_SCALE_BIAS_ACTIVATION_{name}")
    program = fused.program
    kind = draw.choice("type", ("HALF", "FLOAT"), (12, 3 if gradient else 1))
    program.unit, program.terms = _HALF, 512
    batch, channels = draw.integer("batch", 1, 4), 8 * draw.integer("channels", 1, 8)
    filters, window = 32 * draw.integer("filters", 1, 2), draw.choice("window", (3, 1))
    size = draw.integer("size", window, 10)
    padding, stride = draw.choice("padding", (window // 2, 0)), draw.choice("stride", (1, 2))
    out = (size + 2 * padding - window) // stride + 1
    x, w, y = (
        (batch, channels, size, size),
        (filters, channels, window, window),
        (batch, filters, out, out),
    )

    def last(dims: Any) -> Any:
        order = [0, 2, 3, 1] if draw.options["layout"].value == "NHWC" else None
        return packed(dims, order)

    layout = draw.choice("layout", ("NHWC", "NCHW"), (15, 1))
    program.tensor("xdesc", kind, x, last(x))
    program.tensor("ydesc", kind, y, last(y))
    program.filter("wdesc", kind, w, layout)
    program.tensor("few", kind, (1, channels, 1, 1), last((1, channels, 1, 1)))
    program.tensor("stats", "FLOAT", (1, filters, 1, 1), last((1, filters, 1, 1)))
    program.descriptor(
        "convDesc", "Convolution", "cudnnSetConvolutionNdDescriptor", 2, [padding] * 2,
        [stride] * 2, [1, 1], "CUDNN_CROSS_CORRELATION", "CUDNN_DATA_FLOAT",
    )  # fmt: skip
    program.descriptor(
        "convDesc", "Convolution", "cudnnSetConvolutionMathType", "CUDNN_TENSOR_OP_MATH"
    )
    fused.constant("XDESC", "xdesc")
    fused.constant("CONV_DESC", "convDesc")
    fused.constant("BN_MODE", ("int", "CUDNN_BATCHNORM_SPATIAL"))
    program.operand("x", "xdesc")
    fused.memory("XDATA", "x")
    affine = draw.choice("affine", (True, False), (3, 1))
    if affine:
        fused.constant("BN_EQSCALEBIAS_DESC", "few")
        for each in ("SCALE", "BIAS"):
            program.operand(each.lower(), "few")
            fused.memory(f"BN_EQ{each}", each.lower())
    if affine and draw.choice("activation", (True, False), (3, 1)):
        program.descriptor(
            "activationDesc", "Activation", "cudnnSetActivationDescriptor",
            draw.choice("mode", enumerators("RELU IDENTITY TANH", "ACTIVATION_"), (9, 2, 1)),
            "CUDNN_NOT_PROPAGATE_NAN", 0.0,
        )  # fmt: skip
        fused.constant("ACTIVATION_DESC", "activationDesc")
    if gradient:
        fused.constant("DWDESC", "wdesc")
        fused.constant("DYDESC", "ydesc")
        program.operand("dy", "ydesc")
        program.operand("dw", "wdesc", content="poison", out=True)
        fused.memory("DYDATA", "dy")
        fused.memory("DWDATA", "dw")
        return fused.finish()
    fused.constant("WDESC", "wdesc")
    fused.constant("YDESC", "ydesc")
    program.operand("w", "wdesc")
    program.operand("y", "ydesc", content="poison", out=True)
    fused.memory("WDATA", "w")
    fused.memory("YDATA", "y")
    if draw.choice("statistics", (True, False), (4, 1)):
        fused.constant("YSTATS_DESC", "stats")
        for each in ("YSUM", "YSQSUM"):
            program.operand(each.lower(), "stats", content="poison", out=True)
            fused.memory(each, each.lower())
    return fused.finish()


FAMILIES: dict[str, tuple[float, Any]] = {
    "finalize training": (3, lambda draw: _finalize(draw, True)),
    "finalize inference": (3, lambda draw: _finalize(draw, False)),
    "fused convolution": (3, lambda draw: _convolution(draw, False)),
    "fused gradient": (3, lambda draw: _convolution(draw, True)),
}
