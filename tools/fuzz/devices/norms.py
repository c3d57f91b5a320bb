"""Batch normalization and its successor, forward, backward, fused, and what they ask for."""

from __future__ import annotations

import math
from typing import Any

from .draw import Draw
from .images import activation
from .operands import ROUNDOFF, enumerators, factor, image, tensor
from .program import Program, packed

__all__ = ["FAMILIES"]

_KINDS = ("FLOAT", "HALF", "DOUBLE", "BFLOAT16", "INT8")
_EPSILONS = (1e-3, 1e-5, 0.1, 0.0)


class _Problem:
    """x, the parameters of the normalization, and what their functions share."""

    def __init__(self, draw: Draw, *, norm: bool, fused: str) -> None:
        self.draw, self.norm = draw, norm
        self.program = program = Program(draw)
        self.kind = draw.choice("type", _KINDS, (35, 30, 12, 12, 1))
        dims = image(draw, least=4)
        if norm:
            modes = enumerators("PER_CHANNEL PER_ACTIVATION", "NORM_")
            names = "NORM NORM_ACTIVATION NORM_ADD_ACTIVATION"
            operations = enumerators(names, "NORM_OPS_")
        else:
            modes = enumerators("SPATIAL PER_ACTIVATION SPATIAL_PERSISTENT", "BATCHNORM_")
            operations = enumerators("BN BN_ACTIVATION BN_ADD_ACTIVATION", "BATCHNORM_OPS_")
        self.mode = draw.choice("mode", modes)
        odds = (2, 1, 1) if fused == "often" else (8, 1, 1)
        self.operations = draw.choice("ops", operations, odds) if fused else operations[0]
        standard, persistent = enumerators("STANDARD PERSIST", "NORM_ALGO_")
        self.algorithm = draw.choice("algo", (standard, persistent))
        self.fuses = not self.operations.endswith(("_BN", "OPS_NORM"))
        self.last = False
        if self.fuses and draw.choice("usual", (True, False), (6, 1)):
            dims = (dims[0], 4 * draw.integer("c4", 1, 8), *dims[2:4], *([1] * (4 - len(dims))))
            self.mode, self.algorithm, self.last = modes[0 if norm else 2], persistent, True
            if self.kind not in ("FLOAT", "HALF", "BFLOAT16"):
                self.kind = "HALF"
        per_activation = "ACTIVATION" in self.mode
        shape = dims[1:] if per_activation else (dims[1], *(1 for _ in dims[2:]))
        self.few = (1, *shape)
        if math.prod(dims) <= 2 * math.prod(shape):  # gradients would be nothing but roundoff
            dims = (3, *dims[1:])
        self.dims = dims
        program.terms = 2 * math.prod(dims) // math.prod(self.few) + 32
        program.unit = ROUNDOFF["DOUBLE" if self.kind == "DOUBLE" else "FLOAT"]
        program.alignment = 16  # known fault "memory off its boundary"
        self.parameters = "DOUBLE" if self.kind == "DOUBLE" else "FLOAT"
        if draw.chance("odd parameters", 0.03):
            self.parameters = draw.choice("parameters.type", ("HALF", "DOUBLE", "FLOAT"))
        self.epsilon = draw.choice("epsilon", _EPSILONS, (4, 3, 2, 1))
        self.factors: dict[str, Any] = {}

    def image(self, descriptor: str, name: str, **about: Any) -> None:
        """A tensor of x's shape."""
        if self.last:
            out, beta = about.get("out", False), about.get("beta", 1.0)
            rank = len(self.dims)
            order = [0, *range(2, rank), 1]
            self.program.tensor(descriptor, self.kind, self.dims, packed(self.dims, order))
            content = "poison" if out and not beta else "normal"
            self.program.operand(name, descriptor, out=out, content=content)
            return
        if name != "x" and "content" not in about and not about.get("out"):
            about["content"] = self.draw.choice(f"{name}.values", ("normal", "small"))
        tensor(
            self.program,
            descriptor,
            name,
            self.kind,
            self.dims,
            like="" if name == "x" else "xDesc",
            **about,
        )

    def parameter(self, name: str, of: str, content: str = "normal", *, out: bool = False) -> str:
        """An operand with one number for each mean."""
        return self.program.operand(name, of, content=content, out=out)

    def parameters_of(self, *descriptors: str) -> None:
        for name in descriptors:
            self.program.tensor(name, self.parameters, self.few)

    @property
    def how(self) -> dict[str, Any]:
        """Arguments that say what is computed."""
        if self.norm:
            return {"mode": self.mode, "normOps": self.operations, "algo": self.algorithm}
        return {"mode": self.mode}

    def close(self) -> Program:
        if self.norm:
            group = self.draw.choice("groups", (1, 2), (20, 1))
            for _, arguments in self.program.steps:
                arguments["groupCnt"] = group
        for operand in self.program.operands.values():
            if operand.content == "constant":  # a variance of 0 is nothing but roundoff
                operand.content = "normal"
        return self.program.finish()


def _inference(draw: Draw, norm: bool) -> Program:
    problem = _Problem(draw, norm=norm, fused="rarely" if norm else "")
    program = problem.program
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    problem.image("xDesc", "x")
    problem.image("yDesc", "y", out=True, beta=beta)
    arguments: dict[str, Any] = {"xDesc": "xDesc", "x": "x", "yDesc": "yDesc", "y": "y"}
    if not norm:
        problem.parameters_of("bnScaleBiasMeanVarDesc")
        scale = mean = "bnScaleBiasMeanVarDesc"
        arguments |= {
            scale: scale, "bnScale": problem.parameter("bnScale", scale),
            "bnBias": problem.parameter("bnBias", scale),
        }  # fmt: skip
    else:
        scale, mean = "normScaleBiasDesc", "normMeanVarDesc"
        problem.parameters_of(scale, mean)
        arguments |= {
            scale: scale, mean: mean, "normScale": problem.parameter("normScale", scale),
            "normBias": problem.parameter("normBias", scale),
        }  # fmt: skip
        arguments |= _fused(problem)
    arguments["estimatedMean"] = problem.parameter("estimatedMean", mean)
    arguments["estimatedVariance"] = problem.parameter("estimatedVariance", mean, "positive")
    name = "Normalization" if norm else "BatchNormalization"
    program.call(
        f"cudnn{name}ForwardInference", alpha=alpha, beta=beta, epsilon=problem.epsilon,
        **problem.how, **arguments,
    )  # fmt: skip
    return problem.close()


def _fused(problem: _Problem, suffix: str = "") -> dict[str, Any]:
    """z and the activation, where the operation has them."""
    program, draw = problem.program, problem.draw
    result: dict[str, Any] = {"zDesc": None, f"z{suffix}": None, "activationDesc": None}
    if problem.fuses:
        how = activation(program, "activation ")
        if draw.choice("usual activation", (True, False), (12, 1)):
            program.descriptors[how].setters[:] = [
                (
                    "cudnnSetActivationDescriptor",
                    ["CUDNN_ACTIVATION_RELU", "CUDNN_NOT_PROPAGATE_NAN", 0.0],
                )
            ]
        result["activationDesc"] = how
    if "ADD" in problem.operations:
        problem.image("zDesc", f"z{suffix}")
        result |= {"zDesc": "zDesc", f"z{suffix}": f"z{suffix}"}
    return result


def _training(draw: Draw, norm: bool, fused: bool, backward: bool) -> Program:
    """Forward in training; with `backward` its results go into the gradients."""
    problem = _Problem(draw, norm=norm, fused="often" if fused else "")
    program = problem.program
    alpha, beta = factor(draw, "alpha"), factor(draw, "beta")
    if fused and draw.choice("usual factors", (True, False), (5, 1)):
        alpha, beta = 1.0, 0.0
    data = "Data" if fused or norm else ""
    problem.image("xDesc", "x")
    problem.image("yDesc", "y", out=True, beta=beta)
    x = {"xDesc": "xDesc", f"x{data}": "x", "yDesc": "yDesc", f"y{data}": "y"}
    if norm:
        scale, mean = "normScaleBiasDesc", "normMeanVarDesc"
        problem.parameters_of(scale, mean)
        parameters: dict[str, Any] = {
            scale: scale,
            mean: mean,
            "normScale": "scale",
            "normBias": "bias",
        }
    else:
        scale = mean = "bnScaleBiasMeanVarDesc"
        problem.parameters_of(scale)
        parameters = {scale: scale, "bnScale": "scale", "bnBias": "bias"}
    problem.parameter("scale", scale)
    problem.parameter("bias", scale)
    running = draw.choice("running", (True, False), (3, 1))
    saved = draw.choice("saved", (True, False), (5, 1))
    problem.parameter("runningMean", mean, out=True)
    problem.parameter("runningVariance", mean, "positive", out=True)
    problem.parameter("savedMean", mean, "poison", out=True)
    problem.parameter("savedInvVariance", mean, "poison", out=True)
    average = draw.choice("average", (0.1, 1.0, 0.0, 0.5), (3, 2, 1, 1))
    results = {
        "resultRunningMean": "runningMean" if running else None,
        "resultRunningVariance": "runningVariance" if running else None,
        "resultSaveMean": "savedMean" if saved else None,
        "resultSaveInvVariance": "savedInvVariance" if saved else None,
        "exponentialAverageFactor": average, "epsilon": problem.epsilon,
    }  # fmt: skip
    how = problem.how
    spaces: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    if fused or norm:
        extra = _fused(problem, "Data")
        if norm:
            step = program.call(
                "cudnnGetNormalizationForwardTrainingWorkspaceSize", **how, xDesc="xDesc",
                zDesc=extra["zDesc"], yDesc="yDesc", normScaleBiasDesc=scale,
                activationDesc=extra["activationDesc"], normMeanVarDesc=mean,
            )  # fmt: skip
            reserve = program.call(
                "cudnnGetNormalizationTrainingReserveSpaceSize", **how,
                activationDesc=extra["activationDesc"], xDesc="xDesc",
            )  # fmt: skip
        else:
            how = {**how, "bnOps": problem.operations}
            step = program.call(
                "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize", **how, xDesc="xDesc",
                zDesc=extra["zDesc"], yDesc="yDesc", bnScaleBiasMeanVarDesc=scale,
                activationDesc=extra["activationDesc"],
            )  # fmt: skip
            reserve = program.call(
                "cudnnGetBatchNormalizationTrainingExReserveSpaceSize", **how,
                activationDesc=extra["activationDesc"], xDesc="xDesc",
            )  # fmt: skip
        program.space("workspace", f"{step}.sizeInBytes")
        program.space("reserve", f"{reserve}.sizeInBytes")
        spaces = {
            "workspace": "workspace", "workSpaceSizeInBytes": "workspace",
            "reserveSpace": "reserve", "reserveSpaceSizeInBytes": "reserve",
        }  # fmt: skip
    name = "NormalizationForwardTraining" if norm else "BatchNormalizationForwardTraining"
    program.call(
        f"cudnn{name}{'Ex' if fused and not norm else ''}", alpha=alpha, beta=beta, **how, **x,
        **parameters, **results, **extra, **spaces,
    )  # fmt: skip
    if backward:
        _gradients(problem, norm, fused, mean, extra, spaces, "savedMean" if saved else None)
    return problem.close()


def _gradients(
    problem: _Problem, norm: bool, fused: bool, mean: str, extra: Any, spaces: Any, saved: Any
) -> None:
    program, draw = problem.program, problem.draw
    data = "Data" if fused or norm else ""
    factors = {
        "alphaDataDiff": draw.choice("alphaDataDiff", (1.0, 0.5), (4, 1)),
        "betaDataDiff": draw.choice("betaDataDiff", (0.0, 1.0), (4, 1)),
        "alphaParamDiff": draw.choice("alphaParamDiff", (1.0, 0.5), (4, 1)),
        "betaParamDiff": draw.choice("betaParamDiff", (0.0, 1.0, 0.5), (4, 1, 1)),
    }
    problem.image("dyDesc", "dy", content="normal")
    problem.image("dxDesc", "dx", out=True, beta=factors["betaDataDiff"])
    x = {"xDesc": "xDesc", f"x{data}": "x", "dyDesc": "dyDesc", f"dy{data}": "dy"}
    x |= {"dxDesc": "dxDesc", f"dx{data}": "dx"}
    described = "dNormScaleBiasDesc" if norm else "dBnScaleBiasDesc"
    problem.parameters_of(described)
    prior = "normal" if factors["betaParamDiff"] else "poison"
    for name in ("dScale", "dBias"):
        problem.parameter(name, described, prior, out=True)
        program.operands[name].magnitude = 1.0  # of normalized numbers and gradients
    short = "Norm" if norm else "Bn"
    low = short.lower()
    arguments: dict[str, Any] = {
        described: described, "epsilon": problem.epsilon, "savedMean": saved,
        "savedInvVariance": saved and "savedInvVariance",
    }  # fmt: skip
    how = problem.how
    if fused or norm:
        how = how if norm else {**how, "bnOps": problem.operations}
        arguments |= {
            f"{low}ScaleData": "scale", f"{low}BiasData": "bias",
            f"d{short}ScaleData": "dScale", f"d{short}BiasData": "dBias",
            "yDesc": "yDesc", "yData": "y", "activationDesc": extra["activationDesc"],
            "dzDesc": None, "dzData": None,
        }  # fmt: skip
        if extra["zDesc"]:
            problem.image("dzDesc", "dz", out=True, beta=0)
            arguments |= {"dzDesc": "dzDesc", "dzData": "dz"}
        about = {
            "xDesc": "xDesc", "yDesc": "yDesc", "dyDesc": "dyDesc", "dzDesc": arguments["dzDesc"],
            "dxDesc": "dxDesc", described: described, "activationDesc": extra["activationDesc"],
        }  # fmt: skip
        if norm:
            arguments[mean] = about[mean] = mean
            step = program.call("cudnnGetNormalizationBackwardWorkspaceSize", **how, **about)
        else:
            step = program.call("cudnnGetBatchNormalizationBackwardExWorkspaceSize", **how, **about)
        program.space("workSpace", f"{step}.sizeInBytes")
        arguments |= {
            "workSpace": "workSpace", "workSpaceSizeInBytes": "workSpace",
            "reserveSpace": "reserve", "reserveSpaceSizeInBytes": "reserve",
        }  # fmt: skip
    else:
        arguments |= {"bnScale": "scale", "dBnScaleResult": "dScale", "dBnBiasResult": "dBias"}
    name = "NormalizationBackward" if norm else "BatchNormalizationBackward"
    program.call(
        f"cudnn{name}{'Ex' if fused and not norm else ''}", **how, **factors, **x, **arguments
    )


FAMILIES: dict[str, tuple[float, Any]] = {
    "batchnorm inference": (3, lambda draw: _inference(draw, False)),
    "norm inference": (3, lambda draw: _inference(draw, True)),
    "batchnorm training": (3, lambda draw: _training(draw, False, False, False)),
    "batchnorm backward": (3, lambda draw: _training(draw, False, False, True)),
    "batchnorm ex training": (3, lambda draw: _training(draw, False, True, False)),
    "batchnorm ex backward": (3, lambda draw: _training(draw, False, True, True)),
    "norm training": (3, lambda draw: _training(draw, True, True, False)),
    "norm backward": (3, lambda draw: _training(draw, True, True, True)),
}
