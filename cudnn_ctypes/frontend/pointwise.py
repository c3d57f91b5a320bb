"""The element-wise methods of a `pygraph`, made from a table of their operands and options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..graph.operations.pointwise import PointwiseOperations
from .describing import Described
from .enums import data_type

__all__ = ["PointwiseMethods"]

_REQUIRED = inspect.Parameter.empty


def _method(name: str, operands: str, **options: Any) -> Callable[..., Any]:
    """The method that adds layer 3's operation of the same name.

    Parameters
    ----------
    operands : str
        Names of its tensors.
    **options
        Further arguments and their defaults, in their order; `compute_data_type` and `name` follow,
        unless the former is among them.
    """
    names = operands.split()
    rest = {"compute_data_type": data_type.NOT_SET, "name": ""}
    defaults = {**dict.fromkeys(names, _REQUIRED), **options, **rest}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [
            inspect.Parameter("self", kind),
            *(inspect.Parameter(key, kind, default=value) for key, value in defaults.items()),
        ]
    )

    def method(*args: Any, **kwargs: Any) -> Any:
        given = dict(signature.bind(*args, **kwargs).arguments)
        graph: Described = given.pop("self")
        tensors = [given.pop(each) for each in names]
        return graph._one(name, "OUT_0", *tensors, **{"name": "", **given})

    method.__name__ = name
    method.__qualname__ = f"pygraph.{name}"
    method.__doc__ = getattr(PointwiseOperations, name).__doc__
    vars(method)["__signature__"] = signature
    return method


_CLIPS = {"negative_slope": None, "lower_clip": None, "upper_clip": None}
_SWISH = {"compute_data_type": data_type.NOT_SET, "swish_beta": None}


class PointwiseMethods(Described):
    """Element-wise operations; each returns a tensor."""


_ONE = ["abs", "ceil", "cos", "elu", "erf", "exp", "floor", "gelu", "gelu_approx_tanh", "identity"]
_ONE += ["log", "logical_not", "neg", "reciprocal", "rsqrt", "sigmoid", "sin", "softplus", "sqrt"]
_ONE += ["tan", "tanh"]
_SLOPES = ["elu", "gelu", "gelu_approx_tanh", "sigmoid", "softplus", "tanh"]
_SUMS = ["add", "add_square", "div", "logical_and", "logical_or", "mul", "sub"]
_TABLE: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: ("input", {}) for name in _ONE},
    **{f"{name}_backward": ("loss input", {}) for name in _SLOPES},
    **{name: ("a b", {}) for name in _SUMS},
    **{name: ("input0 input1", {}) for name in ["max", "min", "mod", "pow"]},
    **{f"cmp_{name}": ("input comparison", {}) for name in ["eq", "ge", "gt", "le", "lt", "neq"]},
    "bias": ("input bias", {}),
    "scale": ("input scale", {}),
    "binary_select": ("input0 input1 mask", {}),
    "gen_index": ("input", {"axis": _REQUIRED}),
    "relu": ("input", _CLIPS),
    "relu_backward": ("loss input", _CLIPS),
    "leaky_relu": ("input", {"negative_slope": _REQUIRED}),
    "leaky_relu_backward": ("loss input", {"negative_slope": _REQUIRED}),
    "swish": ("input", {"swish_beta": None}),
    "swish_backward": ("loss input", _SWISH),
}
for _name, (_operands, _options) in _TABLE.items():
    setattr(PointwiseMethods, _name, _method(_name, _operands, **_options))
