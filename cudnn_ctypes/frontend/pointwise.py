"""The element-wise methods of a `pygraph`, made of their operands and options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

from ..graph.describe.operations.pointwise import POINTWISE_METHODS
from .described import Described
from .enums import data_type
from .tensors import tensor

__all__ = ["PointwiseMethods"]

_REQUIRED = inspect.Parameter.empty


def _method(operands: str, **options: Any) -> Callable[..., tensor]:
    """A method that adds layer 3's operation of the name to which it is assigned in a class.

    Parameters
    ----------
    operands : str
        Names of its tensors.
    **options
        Further arguments and their defaults, in their order; `compute_data_type` and `name` follow,
        unless the former is among them.
    """
    return cast("Callable[..., tensor]", _Named(operands, options))


class _Named:
    """Becomes a method when the class gives it a name."""

    def __init__(self, operands: str, options: dict[str, Any]) -> None:
        self.operands, self.options = operands, options

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, name, _named(name, self.operands.split(), self.options))


def _named(name: str, names: list[str], options: dict[str, Any]) -> Callable[..., tensor]:
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
        arguments = dict(signature.bind(*args, **kwargs).arguments)
        graph: Described = arguments.pop("self")
        tensors = [arguments.pop(each) for each in names]
        return graph._one(name, "OUT_0", *tensors, **{"name": "", **arguments})

    method.__name__ = name
    method.__qualname__ = f"pygraph.{name}"
    method.__doc__ = POINTWISE_METHODS[name].__doc__
    vars(method)["__signature__"] = signature
    return method


_CLIPS = {"negative_slope": None, "lower_clip": None, "upper_clip": None}
_SWISH = {"compute_data_type": data_type.NOT_SET, "swish_beta": None}


class PointwiseMethods(Described):
    """Element-wise operations; each returns a tensor."""

    abs = _method("input")
    ceil = _method("input")
    cos = _method("input")
    elu = _method("input")
    erf = _method("input")
    exp = _method("input")
    floor = _method("input")
    gelu = _method("input")
    gelu_approx_tanh = _method("input")
    identity = _method("input")
    log = _method("input")
    logical_not = _method("input")
    neg = _method("input")
    reciprocal = _method("input")
    rsqrt = _method("input")
    sigmoid = _method("input")
    sin = _method("input")
    softplus = _method("input")
    sqrt = _method("input")
    tan = _method("input")
    tanh = _method("input")
    elu_backward = _method("loss input")
    gelu_backward = _method("loss input")
    gelu_approx_tanh_backward = _method("loss input")
    sigmoid_backward = _method("loss input")
    softplus_backward = _method("loss input")
    tanh_backward = _method("loss input")
    add = _method("a b")
    add_square = _method("a b")
    div = _method("a b")
    logical_and = _method("a b")
    logical_or = _method("a b")
    mul = _method("a b")
    sub = _method("a b")
    max = _method("input0 input1")
    min = _method("input0 input1")
    mod = _method("input0 input1")
    pow = _method("input0 input1")
    cmp_eq = _method("input comparison")
    cmp_ge = _method("input comparison")
    cmp_gt = _method("input comparison")
    cmp_le = _method("input comparison")
    cmp_lt = _method("input comparison")
    cmp_neq = _method("input comparison")
    bias = _method("input bias")
    scale = _method("input scale")
    binary_select = _method("input0 input1 mask")
    gen_index = _method("input", axis=_REQUIRED)
    relu = _method("input", **_CLIPS)
    relu_backward = _method("loss input", **_CLIPS)
    leaky_relu = _method("input", negative_slope=_REQUIRED)
    leaky_relu_backward = _method("loss input", negative_slope=_REQUIRED)
    swish = _method("input", swish_beta=None)
    swish_backward = _method("loss input", **_SWISH)
