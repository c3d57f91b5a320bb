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
from ..node import Inner, Kind, Node, Result
from ..tensor import Tensor
from .base import Operations

__all__ = [
    "ELEMENT_WISE",
    "POINTWISE",
    "POINTWISE_BACKWARD",
    "PointwiseOperations",
    "is_logical",
]

_OPTIONS = {
    "mode": "mode",
    "lower_clip": "relu_lower_clip",
    "upper_clip": "relu_upper_clip",
    "negative_slope": "relu_lower_clip_slope",
    "elu_alpha": "elu_alpha",
    "softplus_beta": "softplus_beta",
    "swish_beta": "swish_beta",
    "axis": "axis",
}
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


POINTWISE = Kind(
    "operation_pointwise",
    {"x": "xdesc", "b": "bdesc", "t": "tdesc"},
    {"y": "ydesc"},
    _infer,
    optional=frozenset({"b", "t"}),
    inner=_INNER,
    required=frozenset({"mode"}),
)
POINTWISE_BACKWARD = Kind(
    "operation_pointwise",
    {"dy": "dydesc", "x": "xdesc"},
    {"dx": "dxdesc"},
    _infer,
    inner=_INNER,
    required=frozenset({"mode"}),
)


ELEMENT_WISE = POINTWISE, POINTWISE_BACKWARD


def is_logical(node: Node) -> bool:
    """True for the logical modes, which every engine computes in BOOLEAN only."""
    return node.kind is POINTWISE and node.options["mode"] in _LOGICAL


def _method(mode: str, operands: str, /, text: str, **options: Any) -> Callable[..., Tensor]:
    """The method for one mode.

    Parameters
    ----------
    mode : str
        Of ``cudnnPointwiseMode_t``.
    operands : str
        Their names; first "loss" for a derivative.
    text : str
        What it computes, for the docstring.
    **options
        The method's further arguments and their defaults.
    """
    code = cudnnPointwiseMode_t[f"CUDNN_POINTWISE_{mode}"]
    names = operands.split()
    kind, ports = POINTWISE, ("x", "b", "t")
    if names[0] == "loss":
        kind, ports = POINTWISE_BACKWARD, ("dy", "x", "")
    signature = _signature(names, options)

    def method(*args: Any, **kwargs: Any) -> Tensor:
        operation = method.__name__
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{operation}: {error}") from None
        bound.apply_defaults()
        arguments = bound.arguments
        graph: Operations = arguments["self"]
        results = graph._add(
            kind,
            operation,
            {port: arguments[name] for port, name in zip(ports, names, strict=False)},
            {"mode": code, **{option: arguments[option] for option in options}},
            name=arguments["name"],
            compute_data_type=arguments["compute_data_type"],
        )
        return next(iter(results.values()))

    method.__doc__ = _docstring(f"{text}; ``{code.name}``", names, options)
    vars(method)["__signature__"] = signature
    vars(method)["pointwise_mode"] = code
    return method


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
    parameters = [inspect.Parameter(name, positional) for name in ("self", *names)]
    parameters += [
        inspect.Parameter(
            name,
            positional if default is ... else keyword,
            default=inspect.Parameter.empty if default is ... else default,
        )
        for name, default in options.items()
    ]
    parameters += [
        inspect.Parameter("name", keyword, default=""),
        inspect.Parameter("compute_data_type", keyword, default=None),
    ]
    return inspect.Signature(parameters)


class PointwiseOperations(Operations):
    """The element-wise methods of a graph.

    Operands are tensors or numbers, of one rank, and broadcast. The result has the layout of the
    operand with its dims; that of a comparison is boolean, that of `gen_index` int32. Options that
    are None are cuDNN's: 1 for `elu_alpha`, `softplus_beta` and `swish_beta`; a lower clip and
    slope of 0, and no upper clip. What does not fit, ``Graph.validate`` refuses.
    """

    add = _method("ADD", "a b", "a + b")
    add_square = _method("ADD_SQUARE", "a b", "a + b * b")
    sub = _method("SUB", "a b", "a - b")
    mul = _method("MUL", "a b", "a * b")
    div = _method("DIV", "a b", "a / b")
    bias = _method("ADD", "input bias", "input + bias")
    scale = _method("MUL", "input scale", "input * scale")
    max = _method("MAX", "input0 input1", "The larger one")
    min = _method("MIN", "input0 input1", "The smaller one")
    mod = _method("MOD", "input0 input1", "The remainder, with the sign of input0")
    # No engine up to cuDNN 9.28.
    floor_mod = _method("FLOOR_MOD", "input0 input1", "The remainder, with the sign of input1")
    pow = _method("POW", "input0 input1", "input0 to the power of input1")
    atan2 = _method("ATAN2", "input0 input1", "The angle of the point (input1, input0)")
    abs = _method("ABS", "input", "The absolute value")
    ceil = _method("CEIL", "input", "Rounded up")
    floor = _method("FLOOR", "input", "Rounded down")
    cos = _method("COS", "input", "The cosine")
    sin = _method("SIN", "input", "The sine")
    tan = _method("TAN", "input", "The tangent")
    exp = _method("EXP", "input", "e to the power of input")
    log = _method("LOG", "input", "The natural logarithm")
    neg = _method("NEG", "input", "-input")
    sqrt = _method("SQRT", "input", "The square root")
    rsqrt = _method("RSQRT", "input", "1 / sqrt(input)")
    reciprocal = _method("RECIPROCAL", "input", "1 / input")
    erf = _method("ERF", "input", "The error function")
    identity = _method("IDENTITY", "input", "A copy, perhaps in another data type")

    relu = _method(
        "RELU_FWD",
        "input",
        "max(input, 0), or max(min(input, upper), lower + slope * (input - lower)) of its clips",
        negative_slope=None,
        lower_clip=None,
        upper_clip=None,
    )
    leaky_relu = _method(
        "RELU_FWD", "input", "input, times negative_slope where negative", negative_slope=...
    )
    tanh = _method("TANH_FWD", "input", "The hyperbolic tangent")
    sigmoid = _method("SIGMOID_FWD", "input", "1 / (1 + exp(-input))")
    elu = _method("ELU_FWD", "input", "input, or elu_alpha * (exp(input) - 1)", elu_alpha=None)
    gelu = _method("GELU_FWD", "input", "input * Phi(input), Phi the normal distribution")
    gelu_approx_tanh = _method("GELU_APPROX_TANH_FWD", "input", "gelu by its tanh formula")
    softplus = _method(
        "SOFTPLUS_FWD", "input", "log(1 + exp(beta * input)) / beta", softplus_beta=None
    )
    swish = _method("SWISH_FWD", "input", "input * sigmoid(swish_beta * input)", swish_beta=None)

    relu_backward = _method(
        "RELU_BWD",
        "loss input",
        "The gradient of relu",
        negative_slope=None,
        lower_clip=None,
        upper_clip=None,
    )
    leaky_relu_backward = _method(
        "RELU_BWD", "loss input", "The gradient of leaky_relu", negative_slope=...
    )
    # cuDNN wants the forward operation's input here, also for tanh and sigmoid.
    tanh_backward = _method("TANH_BWD", "loss input", "The gradient of tanh")
    sigmoid_backward = _method("SIGMOID_BWD", "loss input", "The gradient of sigmoid")
    elu_backward = _method("ELU_BWD", "loss input", "The gradient of elu", elu_alpha=None)
    gelu_backward = _method("GELU_BWD", "loss input", "The gradient of gelu")
    gelu_approx_tanh_backward = _method(
        "GELU_APPROX_TANH_BWD", "loss input", "The gradient of gelu_approx_tanh"
    )
    softplus_backward = _method(
        "SOFTPLUS_BWD", "loss input", "The gradient of softplus", softplus_beta=None
    )
    swish_backward = _method("SWISH_BWD", "loss input", "The gradient of swish", swish_beta=None)

    cmp_eq = _method("CMP_EQ", "input comparison", "input == comparison")
    cmp_neq = _method("CMP_NEQ", "input comparison", "input != comparison")
    cmp_gt = _method("CMP_GT", "input comparison", "input > comparison")
    cmp_ge = _method("CMP_GE", "input comparison", "input >= comparison")
    cmp_lt = _method("CMP_LT", "input comparison", "input < comparison")
    cmp_le = _method("CMP_LE", "input comparison", "input <= comparison")
    logical_and = _method("LOGICAL_AND", "a b", "a and b")
    logical_or = _method("LOGICAL_OR", "a b", "a or b")
    logical_not = _method("LOGICAL_NOT", "input", "not input")
    gen_index = _method("GEN_INDEX", "input", "The index along axis", axis=...)
    binary_select = _method("BINARY_SELECT", "input0 input1 mask", "input0 where mask, else input1")

    def pointwise(
        self,
        mode: cudnnPointwiseMode_t | str,
        *operands: Any,
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
        wanted = next(m for m in _METHODS.values() if vars(m)["pointwise_mode"] == code)
        return wanted(self, *operands, name=name, compute_data_type=compute_data_type, **options)


_METHODS: dict[str, Callable[..., Tensor]] = {}
for _name, _function in vars(PointwiseOperations).items():
    if hasattr(_function, "pointwise_mode"):
        _function.__name__ = _name
        _function.__qualname__ = f"PointwiseOperations.{_name}"
        _METHODS[_name] = _function
