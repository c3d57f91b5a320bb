"""Element-wise operations: every mode that has an engine, by data type; see `cases`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .cases import TOLERANCES, _torch, case, gradients, image

TYPES = ("float16", "bfloat16", "float32")
# float32 functions come from the GPU's fast ones: 1.2e-5 was seen for the gradient of tanh.
ELEMENTWISE_TOLERANCES = {**TOLERANCES, "float32": 2e-5}

Function = Callable[..., Any]
Range = tuple[float, float]


def _cases(
    name: str,
    describe: Callable[[Graph], Tensor],
    compute: Function,
    operands: str,
    ranges: dict[str, Range],
    **options: Any,
) -> None:
    """The same in all floating types; `compute` takes the operands in order."""
    for io in TYPES:
        case(
            name if io == "float16" else f"{name}, {io}",
            lambda g: describe(g).set_output(name="y"),
            lambda a: {"y": np.asarray(compute(*(a[each] for each in operands)), np.float64)},
            io=io,
            ranges=ranges,
            tolerance=ELEMENTWISE_TOLERANCES[io],
            here=io == "float16",
            **options,
        )


def _operation(mode: str, operands: str, **options: Any) -> Callable[[Graph], Tensor]:
    return lambda g: getattr(g, mode)(*(image(g, each) for each in operands), **options)  # type: ignore[no-any-return]


def _of_torch(function: Function) -> Function:
    return lambda *arrays: function(*map(_torch().tensor, arrays)).numpy()


def _functional(name: str, **options: Any) -> Function:
    return lambda *x: getattr(_torch().nn.functional, name)(*x, **options)


# --- of one operand ------------------------------------------------------------------------------

UNARY: dict[str, tuple[Function, Range]] = {
    "abs": (np.abs, (-3, 3)),
    "ceil": (np.ceil, (-3, 3)),
    "floor": (np.floor, (-3, 3)),
    "neg": (np.negative, (-3, 3)),
    "identity": (np.array, (-3, 3)),
    "cos": (np.cos, (-3, 3)),
    "sin": (np.sin, (-3, 3)),
    "tan": (np.tan, (-1, 1)),
    "exp": (np.exp, (-3, 3)),
    "log": (np.log, (0.1, 5)),
    "sqrt": (np.sqrt, (0, 5)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (0.3, 5)),
    "reciprocal": (lambda x: 1 / x, (0.3, 5)),
    "erf": (scipy.special.erf, (-3, 3)),
}
for _mode, (_function, _range) in UNARY.items():
    _cases(_mode, _operation(_mode, "x"), _function, "x", {"x": _range})


# --- of two and three ----------------------------------------------------------------------------

BINARY: dict[str, tuple[Function, Range, Range]] = {
    "add": (np.add, (-3, 3), (-3, 3)),
    "add_square": (lambda a, b: a + b * b, (-3, 3), (-3, 3)),
    "sub": (np.subtract, (-3, 3), (-3, 3)),
    "mul": (np.multiply, (-3, 3), (-3, 3)),
    "div": (np.divide, (-3, 3), (0.5, 3)),
    "max": (np.maximum, (-3, 3), (-3, 3)),
    "min": (np.minimum, (-3, 3), (-3, 3)),
    "mod": (np.fmod, (-5, 5), (0.5, 3)),
    "pow": (np.power, (0.3, 3), (-2, 2)),
    "atan2": (np.arctan2, (-3, 3), (-3, 3)),
}


def _away_from_multiples(a: dict[str, NDArray[Any]]) -> None:
    """Where the quotient is near a whole number, rounding decides on the remainder."""
    a["b"] = np.ceil(a["b"] * 4) / 4
    a["a"] = np.floor(a["a"] * 16) / 16


for _mode, (_function, *_ranges) in BINARY.items():
    _cases(
        _mode,
        _operation(_mode, "ab"),
        _function,
        "ab",
        dict(zip("ab", _ranges, strict=True)),
        prepare=_away_from_multiples if _mode == "mod" else None,
    )
_cases(
    "add of a number for each channel",
    lambda g: g.add(image(g, "a"), image(g, "b", (1, 32, 1, 1))),
    np.add,
    "ab",
    {},
)
_cases("0.5 * x - 3", lambda g: g.sub(g.mul(image(g, "x"), 0.5), 3), lambda x: 0.5 * x - 3, "x", {})
_cases(
    "sigmoid(a + b * c)",
    lambda g: g.sigmoid(g.add(image(g, "a"), g.mul(image(g, "b"), image(g, "c")))),
    lambda a, b, c: scipy.special.expit(a + b * c),
    "abc",
    {},
    one_kernel=True,
)


# --- comparisons, logic, selection ---------------------------------------------------------------

COMPARISONS: dict[str, Function] = {
    "cmp_eq": np.equal,
    "cmp_neq": np.not_equal,
    "cmp_gt": np.greater,
    "cmp_ge": np.greater_equal,
    "cmp_lt": np.less,
    "cmp_le": np.less_equal,
}


def _whole(a: dict[str, NDArray[Any]]) -> None:
    """Whole numbers, so that many are equal."""
    for name in "cd":
        a[name] = np.round(a[name])


for _mode, _function in COMPARISONS.items():
    _cases(
        f"binary_select by {_mode}",
        lambda g, mode=_mode: g.binary_select(
            image(g, "a"), image(g, "b"), getattr(g, mode)(image(g, "c"), image(g, "d"))
        ),
        lambda a, b, c, d, function=_function: np.where(function(c, d), a, b),
        "abcd",
        {},
        prepare=_whole,
    )
    # A bit for each element.
    case(
        _mode,
        lambda g, mode=_mode: getattr(g, mode)(image(g, "c"), image(g, "d")).set_output(name="y"),
        lambda a, function=_function: {"y": function(a["c"], a["d"])},
        prepare=_whole,
        tolerance=0,
    )
for _mode, _function in (
    ("logical_and", np.logical_and),
    ("logical_or", np.logical_or),
    ("logical_not", np.logical_not),
):
    _names = "x" if _mode == "logical_not" else "ab"
    case(
        _mode,
        lambda g, mode=_mode, names=_names: _operation(mode, names)(g).set_output(name="y"),
        lambda a, function=_function: {"y": function(*a.values())},
        io="boolean",
        computation="boolean",
        tolerance=0,
    )


def _chosen(g: Graph) -> Tensor:
    a, b, c, d = (image(g, each) for each in "abcd")
    return g.binary_select(a, b, (c < d) & ~(a < b) | (d < b))


_cases(
    "binary_select by & | ~ of comparisons",
    _chosen,
    lambda a, b, c, d: np.where((c < d) & ~(a < b) | (d < b), a, b),
    "abcd",
    {},
    prepare=_whole,
)
for _axis in range(4):
    case(
        f"gen_index along {_axis}",
        lambda g, axis=_axis: g.gen_index(image(g, "x"), axis).set_output(name="y"),
        lambda a, axis=_axis: {"y": np.indices(a["x"].shape)[axis]},
        tolerance=0,
    )


# --- activations ----------------------------------------------------------------------------------


def _relu(x: Any, lower: float, upper: float, slope: float) -> Any:
    """Of PyTorch tensors: clipped above, and a line through (lower, lower) below.

    cuDNN gives the larger of both, so far above the line would win again; x stays below that.
    """
    torch = _torch()
    return torch.maximum(x.clamp(max=upper), lower + slope * (x - lower))


SLOPE, CLIPPED = {"negative_slope": 0.25}, {"lower_clip": 0.5, "upper_clip": 1.25}
# By name: the method, its options, and the function of PyTorch tensors.
ACTIVATIONS: dict[str, tuple[str, dict[str, Any], Function]] = {
    "relu": ("relu", {}, _functional("relu")),
    "relu with a slope": ("relu", SLOPE, _functional("leaky_relu", **SLOPE)),
    "relu clipped": ("relu", CLIPPED, lambda x: _relu(x, 0.5, 1.25, 0)),
    "relu clipped with a slope": (
        *("relu", {**CLIPPED, "negative_slope": 0.125}, lambda x: _relu(x, 0.5, 1.25, 0.125)),
    ),
    "leaky_relu": ("leaky_relu", SLOPE, _functional("leaky_relu", **SLOPE)),
    "tanh": ("tanh", {}, lambda x: x.tanh()),
    "sigmoid": ("sigmoid", {}, lambda x: x.sigmoid()),
    "elu": ("elu", {}, _functional("elu")),
    "elu of another alpha": ("elu", {"elu_alpha": 0.375}, _functional("elu", alpha=0.375)),
    "gelu": ("gelu", {}, _functional("gelu")),
    "gelu_approx_tanh": ("gelu_approx_tanh", {}, _functional("gelu", approximate="tanh")),
    "softplus": ("softplus", {}, _functional("softplus")),
    "softplus of another beta": (
        *("softplus", {"softplus_beta": 2.5}, _functional("softplus", beta=2.5)),
    ),
    "swish": ("swish", {}, _functional("silu")),
    "swish of another beta": ("swish", {"swish_beta": 1.75}, lambda x: x * (1.75 * x).sigmoid()),
}


def _gradient(function: Function) -> Function:
    return lambda dy, x: gradients(function, dy, x)[0]


def _not_at_the_corners(a: dict[str, NDArray[Any]]) -> None:
    """Multiples of 1/16 and a bit: none is where a line of relu ends."""
    for name in a.keys() & {"x"}:
        a[name] = np.round(a[name] * 16) / 16 + 1 / 32


def _backward(mode: str, options: dict[str, Any]) -> Callable[[Graph], Tensor]:
    return lambda g: getattr(g, f"{mode}_backward")(image(g, "d"), image(g, "x"), **options)  # type: ignore[no-any-return]


for _name, (_mode, _options, _function) in ACTIVATIONS.items():
    _cases(
        _name,
        _operation(_mode, "x", **_options),
        _of_torch(_function),
        "x",
        {"x": (-3, 3)},
        prepare=_not_at_the_corners,
    )
    _cases(
        f"{_name}, backward",
        _backward(_mode, _options),
        _gradient(_function),
        "dx",
        {"x": (-3, 3)},
        prepare=_not_at_the_corners,
    )


# --- whole numbers, and from one type to another --------------------------------------------------

# They are computed in float32, which is exact for numbers this small.
for _mode, _names, _function in (
    ("add", "ab", np.add),
    ("add_square", "ab", lambda a, b: a + b * b),
    ("sub", "ab", np.subtract),
    ("mul", "ab", np.multiply),
    ("max", "ab", np.maximum),
    ("min", "ab", np.minimum),
    ("abs", "x", np.abs),
    ("neg", "x", np.negative),
    ("relu", "x", lambda x: np.maximum(x, 0)),
    ("identity", "x", np.array),
):
    case(
        f"{_mode}, int32",
        lambda g, mode=_mode, names=_names: _operation(mode, names)(g).set_output(name="y"),
        lambda a, function=_function, names=_names: {"y": function(*(a[each] for each in names))},
        io="int32",
        tolerance=0,
        here=_mode == "add",
    )


def _cast(before: str, after: str, tolerance: float = 0) -> None:
    case(
        f"identity from {before} to {after}",
        lambda g: g.identity(image(g, "x", data_type=before)).set_output(name="y", data_type=after),
        lambda a: {"y": a["x"]},
        tolerance=tolerance,
        here=before == "int8",
    )


for _before in ("int8", "int32", "float16", "bfloat16", "fp8_e4m3", "fp8_e5m2"):
    _cast(_before, "float32")
_cast("int8", "float16")
_cast("float32", "float16", TOLERANCES["float16"])
_cast("float32", "bfloat16", TOLERANCES["bfloat16"])
# Half a unit in the last of 3 bits, and of 2.
_cast("float32", "fp8_e4m3", 2.0**-4)
_cast("float32", "fp8_e5m2", 2.0**-3)


# --- ranks and layouts for which cuDNN has no engine of its own -----------------------------------

PLANES = (3, 8, 5, 64)  # as in C, not channels-last
DEEP = (2, 3, 4, 5, 6)
# Operands of x + b, by what the engine would do with them as they are.
FLATTENED: dict[str, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "one dimension": [((1000,), (1000,)), ((7,), (1,))],
    "two dimensions": [((6, 64), each) for each in ((6, 64), (1, 64), (6, 1))],
    "rows of three": [((3, 8, 64), (1, 1, 64)), ((3, 8, 64), (3, 1, 1))],
    "images as in C": [
        (PLANES, each)
        for each in (
            PLANES,
            (1, 1, 1, 64),
            (3, 8, 1, 1),
            (1, 8, 5, 64),
            (3, 1, 5, 64),
            (3, 1, 1, 1),
        )
    ],
    "one channel": [((4, 1, 6, 8), (4, 1, 6, 8)), ((40, 1, 1, 1), (1, 1, 1, 1))],
    "five dimensions": [(DEEP, DEEP), (DEEP, (2, 3, 4, 1, 1)), (DEEP, (2, 1, 1, 5, 6))],
    "a million elements": [((1, 1, 1 << 20),) * 2, ((999_983,),) * 2, ((1 << 16, 2, 8),) * 2],
}


def _flattened(dims: tuple[int, ...], other: tuple[int, ...], io: str) -> None:
    case(
        f"{dims} + {other}, {io}",
        lambda g: g.relu(g.add(g.tensor(dims, name="x"), g.tensor(other, name="b"))).set_output(
            name="y"
        ),
        lambda a: {"y": np.maximum(a["x"] + a["b"], 0)},
        io=io,
        tolerance=ELEMENTWISE_TOLERANCES[io],
        here=io == "float16",
    )


for _pairs in FLATTENED.values():
    for _pair in _pairs:
        for _io in ("float16", "float32"):
            _flattened(*_pair, _io)


# --- reductions; see `cases` ----------------------------------------------------------------------


# cuDNN has engines for these operators, and only where all axes but the innermost in memory, or
# the innermost alone, or all are reduced.
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": np.sum,
    "min": np.min,
    "max": np.max,
    "amax": lambda x, axis, keepdims: np.abs(x).max(axis, keepdims=keepdims),
}
AXES = {"pixels": (0, 2, 3), "channels": (1,), "all": (0, 1, 2, 3)}

for _operator, _function in OPERATORS.items():
    for _what, _axes in AXES.items():
        for _io in ("float16", "bfloat16", "float32"):
            case(
                f"{_operator} of {_what}, {_io}",
                lambda g, operator=_operator, axes=_axes: g.reduction(
                    image(g, "x"), operator, axes=axes
                ).set_output(name="y", data_type="float32"),
                lambda a, function=_function, axes=_axes: {
                    "y": function(a["x"], axis=axes, keepdims=True)
                },
                io=_io,
                # Maxima are exact; sums in float32 of up to 25,000 numbers are not.
                tolerance=1e-5 if _operator == "add" else 0,
                here=_io == "float16",
            )
case(
    "sum of squares of relu(x)",
    lambda g: g.reduction(g.mul(y := g.relu(image(g, "x")), y), "add", axes=(0, 2, 3)).set_output(
        name="y", data_type="float32"
    ),
    lambda a: {"y": (np.maximum(a["x"], 0) ** 2).sum((0, 2, 3), keepdims=True)},
    tolerance=1e-5,
)
