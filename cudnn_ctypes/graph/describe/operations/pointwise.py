"""Element-wise operations: every mode of ``cudnnPointwiseMode_t``.

The modes differ in their number of operands only, so their methods come from a table: see
`PointwiseOperations`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ....arguments import enumerator
from ....raw import cudnnDataType_t, cudnnPointwiseMode_t
from ....raw.strides import broadcast
from ..node import Inner, Kind, Node, Result, named
from ..tensor import Tensor
from .base import Operations, listed_operation, operation

# `nan_propagation` is an option of other programs' graphs.
_OPTIONS = named(
    "mode lower_clip=relu_lower_clip upper_clip=relu_upper_clip "
    "negative_slope=relu_lower_clip_slope elu_alpha softplus_beta swish_beta axis nan_propagation"
)
_LOGICAL = [mode for mode in cudnnPointwiseMode_t if "_LOGICAL_" in mode.name]
_INNER = Inner("pointwise", "pw_descriptor", _OPTIONS, "math_prec")


def _infer(node: Node) -> Mapping[str, Result]:
    mode = cudnnPointwiseMode_t(node.options["mode"])
    operands = list(node.operands)
    dims = broadcast(*(tensor.dims or () for tensor in operands))
    if dims is None:
        listed = ", ".join(f"{tensor.name!r} {tensor.dims}" for tensor in operands)
        node.refuse(f"the operands do not broadcast to one shape: {listed}")
    like = next((tensor for tensor in operands if tensor.dims == dims), operands[0])
    data_type = None
    if mode.name.startswith(("CUDNN_POINTWISE_CMP_", "CUDNN_POINTWISE_LOGICAL_")):
        data_type = cudnnDataType_t.CUDNN_DATA_BOOLEAN
    elif mode == cudnnPointwiseMode_t.CUDNN_POINTWISE_GEN_INDEX:
        data_type = cudnnDataType_t.CUDNN_DATA_INT32
        node.axis(len(dims), repr(operands[0].name))
    return dict.fromkeys(node.outputs, Result(dims, like, data_type))


POINTWISE = Kind.of(
    "operation_pointwise",
    "x=xdesc b?=bdesc t?=tdesc",
    "y=ydesc",
    _infer,
    inner=_INNER,
    required="mode",
)
POINTWISE_BACKWARD = Kind.of(
    "operation_pointwise", "dy=dydesc x=xdesc", "dx=dxdesc", _infer, inner=_INNER, required="mode"
)


ELEMENT_WISE = POINTWISE, POINTWISE_BACKWARD


def is_logical(node: Node) -> bool:
    """True for the logical modes, which every engine computes in BOOLEAN only."""
    return node.kind is POINTWISE and node.options["mode"] in _LOGICAL


POINTWISE_METHODS: dict[str, Callable[..., Any]] = {}
"""The methods with one mode each, by name."""


def _method(name: str, mode: str, operands: str, /, text: str, **options: Any) -> None:
    """Make the method for one mode.

    - `name`: of the method.
    - `mode`: of ``cudnnPointwiseMode_t``.
    - `operands`: their names; first "loss" for a derivative.
    - `text`: what it computes, for the docstring.
    - `options`: the method's further arguments and their defaults.
    """
    code = cudnnPointwiseMode_t[f"CUDNN_POINTWISE_{mode}"]
    names = operands.split()
    kind, ports = POINTWISE, ("x", "b", "t")
    if names[0] == "loss":
        kind, ports = POINTWISE_BACKWARD, ("dy", "x", "")

    def described(**arguments: Any) -> Mapping[str, Any]:
        operands = {port: arguments[each] for port, each in zip(ports, names, strict=False)}
        return {**operands, "mode": code}

    described.__name__ = name
    described.__doc__ = _docstring(f"{text}; ``{code.name}``", names, options)
    vars(described)["__signature__"] = _signature(names, options)
    method = operation(kind)(described)
    vars(method)["pointwise_mode"] = code
    POINTWISE_METHODS[name] = method


_TOLD = {
    "loss": "The gradient of the loss by the result.",
    "input": "What the forward operation had.",
    "negative_slope": "Factor of negative elements. Default: 0.",
    "lower_clip": "Smallest result. Default: 0.",
    "upper_clip": "Largest result. Default: none.",
    "elu_alpha": "Minus the limit for very negative elements. Default: 1.",
    "softplus_beta": "``beta`` of the formula. Default: 1.",
    "swish_beta": "Factor in the sigmoid. Default: 1.",
    "axis": "The dimension that is counted.",
}


def _docstring(text: str, names: list[str], options: Mapping[str, Any]) -> str:
    """The docstring of a pointwise method: formula, operands and options."""
    if names[0] == "loss":
        operands = [f"{name} : Tensor\n    {_TOLD[name]}" for name in names]
    else:
        operands = [f"{', '.join(names)} : Tensor or number\n    They broadcast to one shape."]
    for name, default in options.items():
        kind = "int" if name == "axis" else "float"
        optional = "" if default is ... else ", optional"
        operands.append(f"{name} : {kind}{optional}\n    {_TOLD[name]}")
    parameters = "\n".join(operands)
    return (
        f"{text}, element by element, with broadcasting.\n\n"
        f"Parameters\n----------\n{parameters}\n\n"
        "Returns\n-------\nTensor\n    Virtual, of the shape that all operands broadcast to."
    )


def _signature(names: list[str], options: Mapping[str, Any]) -> inspect.Signature:
    positional, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    kinds = {"axis": "int", "negative_slope": "float"}
    parameters = [
        inspect.Parameter(name, positional, annotation="Tensor | float") for name in names
    ]
    parameters += [
        inspect.Parameter(
            name,
            positional if default is ... else keyword,
            default=inspect.Parameter.empty if default is ... else default,
            annotation=kinds.get(name, "float") if default is ... else "float | None",
        )
        for name, default in options.items()
    ]
    return inspect.Signature(parameters)


# Operands are tensors or numbers, of one rank, and broadcast. The result has the layout of the
# operand with its dims; a comparison's is boolean, that of `gen_index` int32. Options that are None
# are cuDNN's: 1 for `elu_alpha`, `softplus_beta` and `swish_beta`; a lower clip and slope of 0, no
# upper clip. What does not fit, ``Graph.validate`` refuses.
_CLIPS = {"negative_slope": None, "lower_clip": None, "upper_clip": None}
_method("add", "ADD", "a b", "a + b")
_method("add_square", "ADD_SQUARE", "a b", "a + b * b")
_method("sub", "SUB", "a b", "a - b")
_method("mul", "MUL", "a b", "a * b")
_method("div", "DIV", "a b", "a / b")
_method("bias", "ADD", "input bias", "input + bias")
_method("scale", "MUL", "input scale", "input * scale")
_method("max", "MAX", "input0 input1", "The larger one")
_method("min", "MIN", "input0 input1", "The smaller one")
_method("mod", "MOD", "input0 input1", "The remainder, with the sign of input0")
# No engine up to cuDNN 9.28.
_method("floor_mod", "FLOOR_MOD", "input0 input1", "The remainder, with the sign of input1")
_method("pow", "POW", "input0 input1", "input0 to the power of input1")
_method("atan2", "ATAN2", "input0 input1", "The angle of the point (input1, input0)")
_method("abs", "ABS", "input", "The absolute value")
_method("ceil", "CEIL", "input", "Rounded up")
_method("floor", "FLOOR", "input", "Rounded down")
_method("cos", "COS", "input", "The cosine")
_method("sin", "SIN", "input", "The sine")
_method("tan", "TAN", "input", "The tangent")
_method("exp", "EXP", "input", "e to the power of input")
_method("log", "LOG", "input", "The natural logarithm")
_method("neg", "NEG", "input", "-input")
_method("sqrt", "SQRT", "input", "The square root")
_method("rsqrt", "RSQRT", "input", "1 / sqrt(input)")
_method("reciprocal", "RECIPROCAL", "input", "1 / input")
_method("erf", "ERF", "input", "The error function")
_method("identity", "IDENTITY", "input", "A copy, perhaps in another data type")
_method(
    "relu",
    "RELU_FWD",
    "input",
    "max(input, 0), or max(min(input, upper), lower + slope * (input - lower)) of its clips",
    **_CLIPS,
)
_method(
    "leaky_relu",
    "RELU_FWD",
    "input",
    "input, times negative_slope where negative",
    negative_slope=...,
)
_method("tanh", "TANH_FWD", "input", "The hyperbolic tangent")
_method("sigmoid", "SIGMOID_FWD", "input", "1 / (1 + exp(-input))")
_method("elu", "ELU_FWD", "input", "input, or elu_alpha * (exp(input) - 1)", elu_alpha=None)
_method("gelu", "GELU_FWD", "input", "input * Phi(input), Phi the normal distribution")
_method("gelu_approx_tanh", "GELU_APPROX_TANH_FWD", "input", "gelu by its tanh formula")
_method(
    "softplus", "SOFTPLUS_FWD", "input", "log(1 + exp(beta * input)) / beta", softplus_beta=None
)
_method("swish", "SWISH_FWD", "input", "input * sigmoid(swish_beta * input)", swish_beta=None)
_method("relu_backward", "RELU_BWD", "loss input", "The gradient of relu", **_CLIPS)
_method(
    "leaky_relu_backward",
    "RELU_BWD",
    "loss input",
    "The gradient of leaky_relu",
    negative_slope=...,
)
# cuDNN wants the forward operation's input here, also for tanh and sigmoid.
_method("tanh_backward", "TANH_BWD", "loss input", "The gradient of tanh")
_method("sigmoid_backward", "SIGMOID_BWD", "loss input", "The gradient of sigmoid")
_method("elu_backward", "ELU_BWD", "loss input", "The gradient of elu", elu_alpha=None)
_method("gelu_backward", "GELU_BWD", "loss input", "The gradient of gelu")
_method(
    "gelu_approx_tanh_backward",
    "GELU_APPROX_TANH_BWD",
    "loss input",
    "The gradient of gelu_approx_tanh",
)
_method(
    "softplus_backward",
    "SOFTPLUS_BWD",
    "loss input",
    "The gradient of softplus",
    softplus_beta=None,
)
_method("swish_backward", "SWISH_BWD", "loss input", "The gradient of swish", swish_beta=None)
_method("cmp_eq", "CMP_EQ", "input comparison", "input == comparison")
_method("cmp_neq", "CMP_NEQ", "input comparison", "input != comparison")
_method("cmp_gt", "CMP_GT", "input comparison", "input > comparison")
_method("cmp_ge", "CMP_GE", "input comparison", "input >= comparison")
_method("cmp_lt", "CMP_LT", "input comparison", "input < comparison")
_method("cmp_le", "CMP_LE", "input comparison", "input <= comparison")
_method("logical_and", "LOGICAL_AND", "a b", "a and b")
_method("logical_or", "LOGICAL_OR", "a b", "a or b")
_method("logical_not", "LOGICAL_NOT", "input", "not input")
_method("gen_index", "GEN_INDEX", "input", "The index along axis", axis=...)
_method("binary_select", "BINARY_SELECT", "input0 input1 mask", "input0 where mask, else input1")


@listed_operation
def pointwise(
    self: Operations,
    mode: cudnnPointwiseMode_t | str,
    *operands: Tensor | float,
    name: str = "",
    compute_data_type: Any = None,
    **options: Any,
) -> Tensor:
    """The operation of `mode`, for instance "add" or "relu_fwd", on one to three operands.

    ``CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR``.

    Parameters
    ----------
    mode : cudnnPointwiseMode_t or str
        Each has a method of its own too: "relu_fwd" is `relu`.
    operands : Tensor or number
        They broadcast. Engines for element-wise operations alone take channels-last images and
        three dimensions; other ranks and layouts are described to cuDNN as such where their
        dimensions can be merged.
    options
        Those of the mode's method: `negative_slope`, `elu_alpha`, `axis`, …

    Raises
    ------
    TypeError, ValueError
        For a mode, a number of operands or an option that cuDNN does not have.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x, b = graph.tensor((8, 64, 32)), graph.tensor((1, 64, 1))
    >>> y = graph.pointwise("relu_fwd", graph.pointwise("add", x, b)).set_output()
    >>> _ = graph.validate()
    >>> y.dims
    (8, 64, 32)
    """
    code = enumerator(cudnnPointwiseMode_t, mode, "pointwise: mode")
    wanted = next(m for m in POINTWISE_METHODS.values() if vars(m)["pointwise_mode"] == code)
    result: Tensor = wanted(
        self, *operands, name=name, compute_data_type=compute_data_type, **options
    )
    return result
