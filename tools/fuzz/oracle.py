"""What a graph computes, in float64 by PyTorch on the CPU, and how much rounding can change it.

It reads the nodes of a graph and nothing else of this package. Rounding is imitated: a second
evaluation changes every operand and every result at random by what its data type can hold, so
that the difference of both says how exact a computation in these types can be.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.dtypes import data_type_name

__all__ = ["deviations", "evaluate"]

Array = NDArray[Any]

# Half a unit in the last place. Products of float32 are of TF32.
UNITS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-21, "float64": 2.0**-53}
_TF32 = 2.0**-11
_SUM = 2.0**-16  # of products, which tensor cores add up with fewer bits than float32 has
_PARTIAL = 2.0**-23  # of the largest sum: others are rounded as they are added up, too
_APPROXIMATED = 2.0**-18  # cuDNN 9.19 on an H200 is right to 1e-5 in float32
_LOGARITHM = 2.0**-22  # absolute
_DEVIATION = 2.0**-17  # its inverse, of which cuDNN 9.28 gives 2e-5 too much
_FUNCTIONS = ("TANH", "EXP", "LOG", "SQRT", "RECIPROCAL")
_CONVOLUTION = "operation_convolution_"


def evaluate(
    nodes: Sequence[Any], arrays: Mapping[str, Array], rng: np.random.Generator | None = None
) -> dict[str, Array]:
    """All results by name.

    Parameters
    ----------
    nodes : sequence of Node
        Validated, in an order in which they can be carried out.
    arrays : mapping
        The inputs by name.
    rng : numpy.random.Generator, optional
        Changes operands and results as rounding would.
    """
    held: dict[int, Array] = {}
    found: dict[str, Array] = {}

    def rounded(array: Array, unit: float) -> Array:
        if rng is None or not unit:
            return array
        numbers, of = np.unique(array, return_inverse=True)  # equal ones are rounded alike
        return array * (1 + unit * rng.uniform(-1, 1, numbers.size)[of].reshape(array.shape))

    def operand(node: Any, port: str) -> Any:
        if port in node.subgraphs:
            return functools.partial(modified, node.subgraphs[port])
        tensor = node.inputs.get(port)
        if tensor is None:
            return None
        if id(tensor) in held:
            array = held[id(tensor)]
        elif tensor.value is not None:
            array = np.full(tensor.dims, tensor.value, np.float64)
        else:
            array = np.asarray(arrays[tensor.name], np.float64)
        if _multiplies(node) and data_type_name(tensor.data_type) == "float32":
            types = (data_type_name(each.data_type) for each in node.operands)
            array = rounded(array, max(_TF32, *(UNITS.get(each, 0.0) for each in types)))
        return array.swapaxes(-1, -2) if port in node.transposed else array

    def modified(subgraph: Any, scores: Array) -> Array:
        held[id(subgraph.input)] = scores
        carry_out(subgraph.nodes)
        return held[id(subgraph.output)]

    def carry_out(nodes: Sequence[Any]) -> None:
        for node in nodes:
            compute = _OPERATIONS[node.kind.descriptor or node.operation]
            results = compute(node, lambda port, node=node: operand(node, port))
            for port, array in results.items():
                if port not in node.outputs:
                    continue
                tensor = node.outputs[port]
                unit = UNITS.get(data_type_name(tensor.data_type), 0.0)
                kind = node.kind.descriptor
                if kind == "operation_reduction" and rng is not None:  # sums may cancel
                    sizes = compute(node, lambda port, node=node: np.abs(operand(node, port)))
                    array = array + _PARTIAL * sizes[port] * rng.uniform(-1, 1, array.shape)
                if port == "mean" and rng is not None and "input" in node.inputs:
                    largest = np.abs(operand(node, "input")).max()  # added, and much larger
                    array = array + unit * largest * rng.uniform(-1, 1, array.shape)
                mode = str(getattr(node.options.get("mode"), "name", ""))
                if any(each in mode for each in _FUNCTIONS):
                    unit = max(unit, _APPROXIMATED)
                if port == "inv_variance":
                    unit = max(unit, _DEVIATION)
                if mode.endswith("_LOG") and rng is not None:  # near 1 it is near 0
                    array = array + _LOGARITHM * rng.uniform(-1, 1, array.shape)
                elif _multiplies(node):
                    unit = max(unit, _SUM)
                    if rng is not None:
                        step = _PARTIAL * np.abs(array).max()
                        array = array + step * rng.uniform(-1, 1, array.shape)
                held[id(tensor)] = found[tensor.name] = rounded(np.asarray(array, np.float64), unit)

    carry_out(nodes)
    return found


def _multiplies(node: Any) -> bool:
    kind = node.kind.descriptor
    return kind == "operation_matmul" or kind.startswith(_CONVOLUTION)


def deviations(
    nodes: Sequence[Any], arrays: Mapping[str, Array], seed: int, *, runs: int = 4
) -> tuple[dict[str, Array], dict[str, Array]]:
    """All results, and by how much `runs` evaluations with rounding differ from them at most."""
    exact = evaluate(nodes, arrays)
    rng = np.random.default_rng(seed)
    spread = {name: np.zeros(array.shape) for name, array in exact.items()}
    for _ in range(runs):
        for name, array in evaluate(nodes, arrays, rng).items():
            spread[name] = np.maximum(spread[name], np.abs(array - exact[name]))
    return exact, spread


# --- operations ----------------------------------------------------------------------------------

Operand = Callable[[str], Any]


@functools.cache
def _torch() -> Any:
    import torch

    torch.set_num_threads(1)  # many processes do the same
    return torch


def _convolve(node: Any, x: Any, w: Any) -> Any:
    torch = _torch()
    options, rank = node.options, x.ndim - 2
    sides: list[int] = []
    for axis in reversed(range(rank)):
        sides += [options["pre_padding"][axis], options["post_padding"][axis]]
    if "CROSS" not in options["convolution_mode"].name:
        w = w.flip(*range(2, w.ndim))
    return getattr(torch.nn.functional, f"conv{rank}d")(
        torch.nn.functional.pad(x, sides),
        w,
        stride=options["stride"],
        dilation=options["dilation"],
        groups=x.shape[1] // w.shape[1],
    )


def _fprop(node: Any, operand: Operand) -> dict[str, Any]:
    x, w = (_torch().tensor(operand(port)) for port in ("image", "weight"))
    return {"y": _convolve(node, x, w).numpy()}


def _gradient(port: str) -> Callable[[Any, Operand], dict[str, Any]]:
    def compute(node: Any, operand: Operand) -> dict[str, Any]:
        zeros = _torch().zeros(node.outputs[port].dims, dtype=_torch().float64, requires_grad=True)
        if port == "dx":
            y = _convolve(node, zeros, _torch().tensor(operand("filter")))
        else:
            y = _convolve(node, _torch().tensor(operand("image")), zeros)
        y.backward(_torch().tensor(operand("loss")))
        return {port: zeros.grad.numpy()}

    return compute


def _matmul(node: Any, operand: Operand) -> dict[str, Any]:
    a, b = operand("A"), operand("B")
    for axis in range(a.ndim - 2):  # a batch of one may serve several
        a = np.repeat(a, max(b.shape[axis] // a.shape[axis], 1), axis)
        b = np.repeat(b, max(a.shape[axis] // b.shape[axis], 1), axis)
    return {"C": a @ b}


_UNARY: dict[str, Callable[[Any], Any]] = {
    "RELU_FWD": lambda x: x.relu(),  # the gradient of clamp is 1 at 0
    "TANH_FWD": lambda x: x.tanh(),
    "SIGMOID_FWD": lambda x: x.sigmoid(),
    "ELU_FWD": lambda x: _torch().nn.functional.elu(x),
    "GELU_FWD": lambda x: _torch().nn.functional.gelu(x),
    "GELU_APPROX_TANH_FWD": lambda x: _torch().nn.functional.gelu(x, approximate="tanh"),
    "SOFTPLUS_FWD": lambda x: (1 + x.exp()).log(),
    "SWISH_FWD": lambda x: x * x.sigmoid(),
    "EXP": lambda x: x.exp(),
    "LOG": lambda x: x.log(),
    "SQRT": lambda x: x.sqrt(),
    "RSQRT": lambda x: x.rsqrt(),
    "RECIPROCAL": lambda x: x.reciprocal(),
    "ABS": lambda x: x.abs(),
    "NEG": lambda x: -x,
    "SIN": lambda x: x.sin(),
    "COS": lambda x: x.cos(),
    "ERF": lambda x: _torch().erf(x),
    "IDENTITY": lambda x: x,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "MAX": np.maximum,
    "MIN": np.minimum,
    "ADD_SQUARE": lambda a, b: a + b * b,
    "CMP_GT": np.greater,
    "CMP_LE": np.less_equal,
}


def _pointwise(node: Any, operand: Operand) -> dict[str, Any]:
    mode = node.options["mode"].name.removeprefix("CUDNN_POINTWISE_")
    if mode == "BINARY_SELECT":
        return {"y": np.where(operand("t") != 0, operand("x"), operand("b"))}
    if mode == "GEN_INDEX":
        return {"y": np.indices(operand("x").shape)[node.options["axis"]]}
    if mode in _BINARY:
        return {"y": _BINARY[mode](operand("x"), operand("b"))}
    if mode.endswith("_BWD"):
        x = _torch().tensor(operand("x"), requires_grad=True)
        _UNARY[mode.replace("BWD", "FWD")](x).backward(_torch().tensor(operand("dy")))
        return {"dx": x.grad.numpy()}
    return {"y": _UNARY[mode](_torch().tensor(operand("x"))).numpy()}


def _reduction(node: Any, operand: Operand) -> dict[str, Any]:
    x, dims = operand("input"), node.outputs["y"].dims
    axes = tuple(i for i, size in enumerate(dims) if size < x.shape[i])
    mode = node.options["mode"].name.rsplit("_", 1)[1]
    function = {"ADD": np.sum, "MAX": np.max, "MIN": np.min, "AMAX": np.max}[mode]
    return {"y": function(np.abs(x) if mode == "AMAX" else x, axis=axes, keepdims=True)}


def _norm(node: Any, operand: Operand) -> dict[str, Any]:
    x, scale, bias = (operand(port) for port in ("input", "scale", "bias"))
    mode = node.options["mode"].name.removeprefix("CUDNN_").removesuffix("_NORM")
    few = scale.shape if scale is not None else (1, *x.shape[1:])
    axes = {"BATCH": (0, *range(2, x.ndim)), "INSTANCE": tuple(range(2, x.ndim))}.get(
        mode, tuple(i for i in range(1, x.ndim) if few[i] > 1)
    )
    mean = 0.0 * x if mode == "RMS" else x.mean(axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axes, keepdims=True)
    inv = 1 / np.sqrt(variance + operand("epsilon").ravel()[0])
    y = (x - mean) * inv * (1 if scale is None else scale) + (0 if bias is None else bias)
    return {"y": y, "mean": mean, "inv_variance": inv}


def _attention(node: Any, operand: Operand) -> dict[str, Any]:
    """Without masks and scale of its own, but with what a function does to the scores."""
    q, k, v = (_torch().tensor(operand(port)) for port in "qkv")
    scores = (q @ k.transpose(-1, -2)).numpy() / np.sqrt(q.shape[-1])
    modify = operand("score_mod") if "score_mod" in node.subgraphs else np.positive
    shares = _torch().tensor(modify(scores)).softmax(-1)
    return {"o": (shares @ v).numpy()}


def _resample(node: Any, operand: Operand) -> dict[str, Any]:
    options, functional = node.options, _torch().nn.functional
    x = _torch().tensor(operand("input"))
    sizes = {
        "kernel_size": [int(each) for each in options["window"]],
        "stride": [int(each) for each in options["stride"]],
        "padding": [int(each) for each in options["pre_padding"]],
    }
    if "MAXPOOL" in options["mode"].name:
        return {"y": functional.max_pool2d(x, **sizes).numpy()}
    counted = "EXCLUDE" not in options["mode"].name
    return {"y": functional.avg_pool2d(x, **sizes, count_include_pad=counted).numpy()}


def _norm_backward(node: Any, operand: Operand) -> dict[str, Any]:
    dy, x, scale, mean, inv = (
        operand(port) for port in ("grad", "input", "scale", "mean", "inv_variance")
    )
    centered = mean is not None
    axes = tuple(i for i, size in enumerate(inv.shape) if size == 1)
    few = tuple(i for i, size in enumerate(scale.shape) if size == 1)
    normal = (x - mean if centered else x) * inv
    g = dy * scale
    inner = g - normal * (g * normal).mean(axes, keepdims=True)
    if centered:
        inner = inner - g.mean(axes, keepdims=True)
    return {
        "dx": inner * inv,
        "dscale": (dy * normal).sum(few, keepdims=True),
        "dbias": dy.sum(few, keepdims=True),
    }


def _resample_backward(node: Any, operand: Operand) -> dict[str, Any]:
    options, dy = node.options, operand("loss")
    dims = node.outputs["dx"].dims
    window, stride, padding = (
        [int(each) for each in options[name]] for name in ("window", "stride", "pre_padding")
    )
    if "MAXPOOL" in options["mode"].name:
        dx, index = np.zeros(dims), operand("index").astype(int)
        for place in np.ndindex(*dy.shape):
            row, column = divmod(int(index[place]), window[1])
            n, c, i, j = place
            dx[n, c, i * stride[0] + row, j * stride[1] + column] += dy[place]
        return {"dx": dx}
    x = _torch().zeros(dims, dtype=_torch().float64, requires_grad=True)
    counted = "EXCLUDE" not in options["mode"].name
    y = _torch().nn.functional.avg_pool2d(x, window, stride, padding, count_include_pad=counted)
    y.backward(_torch().tensor(dy))
    return {"dx": x.grad.numpy()}


_OPERATIONS: dict[str, Callable[[Any, Operand], dict[str, Any]]] = {
    f"{_CONVOLUTION}forward": _fprop,
    f"{_CONVOLUTION}backward_data": _gradient("dx"),
    f"{_CONVOLUTION}backward_filter": _gradient("dw"),
    "operation_matmul": _matmul,
    "operation_pointwise": _pointwise,
    "operation_reduction": _reduction,
    "operation_norm_forward": _norm,
    "operation_norm_backward": _norm_backward,
    "operation_resample_fwd": _resample,
    "sdpa": _attention,
    "operation_resample_bwd": _resample_backward,
}
