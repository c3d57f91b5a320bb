"""Reductions; see `cases`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .cases import case, image

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
