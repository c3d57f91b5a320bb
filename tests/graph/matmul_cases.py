"""Matrix products, alone and with element-wise operations around them; see `cases`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .cases import CASES, TOLERANCES, Case, _torch, case

A, B = (4, 64, 128), (4, 128, 256)
BY_COLUMNS_A, BY_COLUMNS_B = (64 * 128, 1, 64), (128 * 256, 1, 128)

# float32 is rounded to TF32, with 10 bits of mantissa, before it is multiplied.
MATMUL_TOLERANCES = {**TOLERANCES, "float32": 1e-3}


def gelu(x: NDArray[Any]) -> NDArray[Any]:
    torch = _torch()
    return torch.nn.functional.gelu(torch.tensor(x)).numpy()  # type: ignore[no-any-return]


def product(
    graph: Graph,
    a: Sequence[int] = A,
    b: Sequence[int] = B,
    *,
    a_strides: Sequence[int] | None = None,
    b_strides: Sequence[int] | None = None,
    **options: Any,
) -> Tensor:
    return graph.matmul(
        graph.tensor(a, a_strides, name="a"), graph.tensor(b, b_strides, name="b"), **options
    )


def _case(name: str, io: str = "float16", dims: Any = (), **options: Any) -> None:
    """A product alone; options of the tensors, the operation and the result."""
    described = {
        key: options.pop(key)
        for key in ("a_strides", "b_strides", "transpose_A", "transpose_B")
        if key in options
    }
    result = {key: options.pop(key) for key in ("strides", "data_type") if key in options}
    turn = {key: described.get(f"transpose_{key}") for key in "AB"}

    def oriented(matrix: NDArray[Any], key: str) -> NDArray[Any]:
        return matrix.swapaxes(-1, -2) if turn[key] else matrix

    options.setdefault("tolerance", MATMUL_TOLERANCES.get(io))
    options.setdefault("here", io not in ("bfloat16", "float32"))
    case(
        f"matmul{name}",
        lambda g: product(g, *dims, **described).set_output(name="c", **result),
        lambda a: {"c": oriented(a["a"], "A") @ oriented(a["b"], "B")},
        io=io,
        **options,
    )


for _io in ("float16", "bfloat16", "float32"):
    _suffix = "" if _io == "float16" else f", {_io}"
    _case(_suffix, _io)
    _case(f", a by columns{_suffix}", _io, a_strides=BY_COLUMNS_A)
    _case(f", b by columns{_suffix}", _io, b_strides=BY_COLUMNS_B)
    _case(f", both by columns{_suffix}", _io, a_strides=BY_COLUMNS_A, b_strides=BY_COLUMNS_B)
    _case(f", batches of one a for all{_suffix}", _io, ((1, 64, 128), B))
    _case(f", batches of one broadcast{_suffix}", _io, (A, (1, 128, 256)))
_case(", c by columns", strides=(64 * 256, 1, 64))
_case(", a transposed", dims=((4, 128, 64), B), transpose_A=True)
_case(", b transposed", dims=(A, (4, 256, 128)), transpose_B=True)

_case(", two dimensions", dims=((64, 128), (128, 256)))
_case(", two dimensions, b transposed", dims=((64, 128), (256, 128)), transpose_B=True)
_case(", two batch dimensions", dims=((2, 3, 64, 128), (2, 3, 128, 64)))
_case(", two batch dimensions, one b for all", dims=((2, 3, 64, 128), (1, 1, 128, 64)))
_case(", odd sizes", dims=((3, 37, 56), (3, 56, 40)))
_case(", float32 result", data_type="float32", tolerance=1e-5)
# Without a GPU cuDNN cannot ask cuBLAS whether it has this.
_case(", float64", "float64", computation="float64", here=False)
_case(", int8", "int8", data_type="int32", computation="int32", tolerance=0)
_case(", int8 to float32", "int8", data_type="float32", computation="int32", tolerance=0)
# The tensor cores add products of fp8 with 14 bits of mantissa or so.
for _io in ("fp8_e4m3", "fp8_e5m2"):
    _case(f", {_io}", _io, b_strides=BY_COLUMNS_B, data_type="float16", tolerance=4e-3)
    _case(f", {_io}, b by rows", _io, data_type="float32", tolerance=4e-3)


# --- operands of different types -----------------------------------------------------------------


def _mixed(small: str, io: str, port: str) -> None:
    """The operand of the small type is widened before it is multiplied."""

    def describe(graph: Graph) -> None:
        operands = {
            name: graph.tensor(dims, data_type=small if name == port else io, name=name)
            for name, dims in (("a", A), ("b", B))
        }
        operands[port] = graph.identity(operands[port]).set_output(False, data_type=io)
        graph.matmul(operands["a"], operands["b"]).set_output(name="c")

    case(
        f"matmul, {small} as {port} among {io}",
        describe,
        lambda a: {"c": a["a"] @ a["b"]},
        io=io,
        tolerance=MATMUL_TOLERANCES[io],
    )


for _small, _io in (
    ("int8", "bfloat16"),
    ("int8", "float16"),
    ("fp8_e4m3", "float16"),
    ("float16", "bfloat16"),
):
    for _port in "ab":
        _mixed(_small, _io, _port)


# --- overrides ------------------------------------------------------------------------------------


def _overrides(which: str) -> None:
    """The sizes are those of the matrices: engines for a product alone pass over others."""

    def describe(graph: Graph) -> None:
        given = {
            f"{size}_override": graph.tensor((4, 1, 1), data_type="int32", name=size)
            for size in which
        }
        product(graph, **given).set_output(name="c")

    def prepare(a: dict[str, NDArray[Any]]) -> None:
        for size in which:
            a[size] = np.full((4, 1, 1), {"m": 64, "n": 256, "k": 128}[size])

    case(
        f"matmul with its {', '.join(which)} of each batch",
        describe,
        lambda a: {"c": a["a"] @ a["b"]},
        prepare=prepare,
        tolerance=TOLERANCES["float16"],
    )


for _which in ("m", "n", "k", "mn", "mnk"):
    _overrides(_which)


case(
    "matmul of a slice",
    lambda g: g.matmul(
        g.slice(g.tensor((4, 64, 256), name="a"), [slice(None), slice(None), slice(0, 128)]),
        g.tensor((4, 128, 64), name="b"),
    ).set_output(name="c"),
    lambda a: {"c": a["a"][:, :, :128] @ a["b"]},
    tolerance=TOLERANCES["float16"],
)


# --- fused ----------------------------------------------------------------------------------------


def fused_product(m: int = 64, **options: Any) -> Case:
    """matmul + bias + gelu of m rows."""

    def describe(graph: Graph) -> None:
        sums = graph.bias(product(graph, (4, m, 128)), graph.tensor((1, 1, 256), name="bias"))
        graph.gelu(sums).set_output(name="c")

    options.setdefault("tolerance", MATMUL_TOLERANCES["float16"])
    return Case(describe, lambda a: {"c": gelu(a["a"] @ a["b"] + a["bias"])}, **options)


for _io in ("float16", "bfloat16", "float32"):
    _suffix = "" if _io == "float16" else f", {_io}"
    _options: dict[str, Any] = {
        "io": _io,
        "tolerance": MATMUL_TOLERANCES[_io],
        "here": _io == "float16",
        "one_kernel": True,
    }
    CASES[f"matmul + bias + gelu{_suffix}"] = fused_product(**_options)
    case(
        f"matmul + bias of rows{_suffix}",
        lambda g: g.bias(product(g), g.tensor((4, 64, 1), name="bias")).set_output(name="c"),
        lambda a: {"c": a["a"] @ a["b"] + a["bias"]},
        **_options,
    )
    case(
        f"relu(matmul * scale + z){_suffix}",
        lambda g: g.relu(
            g.add(g.mul(product(g), 0.125), g.tensor((4, 64, 256), name="z"))
        ).set_output(name="c"),
        lambda a: {"c": np.maximum(a["a"] @ a["b"] / 8 + a["z"], 0)},
        **_options,
    )
case(
    "matmul of relu(a + bias)",
    lambda g: g.matmul(
        g.relu(g.bias(g.tensor(A, name="a"), g.tensor((1, 1, 128), name="bias"))),
        g.tensor(B, name="b"),
    ).set_output(name="c"),
    lambda a: {"c": np.maximum(a["a"] + a["bias"], 0) @ a["b"]},
    intermediate="float16",
    one_kernel=True,
)
for _operator, _function in (
    ("add", np.sum),
    ("max", np.max),
    ("min", np.min),
    ("amax", lambda c, axis, keepdims: np.abs(c).max(axis, keepdims=keepdims)),
):
    for _axes, _name in (((2,), "rows"), ((1,), "columns"), ((0, 1, 2), "all")):
        case(
            f"matmul, {_operator} of {_name}",
            lambda g, operator=_operator, axes=_axes: g.reduction(
                product(g), operator, axes=axes
            ).set_output(name="c", data_type="float32"),
            lambda a, function=_function, axes=_axes: {
                "c": function(a["a"] @ a["b"], axis=axes, keepdims=True)
            },
            # Sums in float32, in any order; those of columns lose digits to each other.
            tolerance=1e-4,
        )
