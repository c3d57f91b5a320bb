"""Write the shapes of the atlas: graphs with names of plain words, "fused product, relu float16".

``python -m tools.atlas_shapes`` writes them to ``cudnn_ctypes/evidence/atlas/shapes.jsonl``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cudnn_ctypes import Graph
from cudnn_ctypes.evidence.atlas import measuring
from cudnn_ctypes.graph.describe.tensor import Tensor

Describe = Callable[[Graph], None]

_TYPES = ("float16", "bfloat16", "float32")
_ONE = (1, 1, 1, 1)


def text() -> str:
    """All shapes, a line of JSON for each."""
    lines = []
    for family in (_attention, _convolution, _norm, _product, _fused, _resample):
        for name, data_type, describe in family():
            graph = Graph(name, io_data_type=data_type)
            describe(graph)
            lines.append(graph.to_json(indent=None))
    return "\n".join(lines) + "\n"


_Shapes = Iterator[tuple[str, str, Describe]]


def _outputs(tensors: Mapping[str, Tensor | None]) -> None:
    for name, tensor in tensors.items():
        if tensor is not None:
            tensor.set_output(name=name)


# --- attention: 2 batches, 8 heads, 512 queries and keys ------------------------------------------

_MASKS: dict[str, Callable[[Graph], dict[str, Any]]] = {
    "no mask": lambda graph: {},
    "causal": lambda graph: {"use_causal_mask": True},
    "window": lambda graph: {"use_causal_mask": True, "sliding_window_length": 128},
    "lengths": lambda graph: {
        name: graph.tensor((2, 1, 1, 1), data_type="int32", name=name)
        for name in ("seq_len_q", "seq_len_kv")
    },
    "bias": lambda graph: {"bias": graph.tensor((1, 8, 512, 512), name="bias")},
    "alibi": lambda graph: {"use_causal_mask": True, "use_alibi_mask": True},
}
_FORWARD_SCALES = ("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o")
_BACKWARD_SCALES = (
    *("descale_q", "descale_k", "descale_v", "descale_o", "descale_dO", "descale_s", "descale_dP"),
    *("scale_s", "scale_dQ", "scale_dK", "scale_dV", "scale_dP"),
)


def _attention() -> _Shapes:
    heads = ((32, 32), (64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256))
    for size, values in heads:
        for mask in _MASKS:
            common = size in (64, 128, 256) and size == values
            if common or mask in ("no mask", "causal"):
                yield _one_attention(True, "float16", size, values, mask)
            if (common and mask != "alibi") or mask == "causal":
                yield _one_attention(False, "float16", size, values, mask)
    for size in (64, 128, 256):
        for forward in (True, False):
            for data_type in ("bfloat16", "fp8_e4m3"):
                yield _one_attention(forward, data_type, size, size, "causal")
    yield _one_attention(True, "float32", 64, 64, "causal")
    yield _one_attention(True, "fp8_e4m3", 192, 128, "causal")
    yield _one_attention(False, "fp8_e4m3", 192, 128, "causal")
    for size in (64, 128):
        yield _one_attention(True, "float16", size, size, "no mask", queries=1, key_heads=2)
        yield _one_attention(True, "float16", size, size, "causal", key_heads=2)
        yield _one_attention(False, "float16", size, size, "causal", key_heads=2)


def _one_attention(
    forward: bool,
    data_type: str,
    size: int,
    value_size: int,
    mask: str,
    *,
    queries: int = 512,
    key_heads: int = 8,
) -> tuple[str, str, Describe]:
    def describe(graph: Graph) -> None:
        dims = {
            "q": (2, 8, queries, size),
            "k": (2, key_heads, 512, size),
            "v": (2, key_heads, 512, value_size),
            "o": (2, 8, queries, value_size),
            "dO": (2, 8, queries, value_size),
        }
        names = "qkv" if forward else ("q", "k", "v", "o", "dO")
        operands = [graph.tensor(dims[name], name=name) for name in names]
        if not forward:
            stats = graph.tensor((2, 8, queries, 1), data_type="float32", name="stats")
            operands.append(stats)
        options: dict[str, Any] = {"attn_scale": size**-0.5, **_MASKS[mask](graph)}
        if data_type.startswith("fp8"):
            scales = _FORWARD_SCALES if forward else _BACKWARD_SCALES
            operands += [graph.tensor(_ONE, data_type="float32", name=name) for name in scales]
            kind: Any = graph.sdpa_fp8 if forward else graph.sdpa_fp8_backward
        else:
            kind = graph.sdpa if forward else graph.sdpa_backward
        results = kind(*operands, **options)
        _outputs({f"result {i}": each for i, each in enumerate(results)})

    head = f"head {size}" if size == value_size else f"head {size} value {value_size}"
    parts = ["attention", "forward" if forward else "backward", data_type, head, mask]
    parts += ["one query"] * (queries == 1) + ["grouped heads"] * (key_heads != 8)
    return " ".join(parts), data_type, describe


# --- convolutions: 3 x 3 over 16 images of 28 x 28 with 64 channels -------------------------------


def _convolution() -> _Shapes:
    for direction in ("forward", "data gradient", "filter gradient"):
        for data_type in _TYPES:
            for layout in ("nhwc", "nchw"):
                for groups in (1, 4, 64):
                    yield _one_convolution(direction, data_type, layout, groups)
        yield _one_convolution(direction, "fp8_e4m3", "nhwc", 1)
        yield _one_convolution(direction, "float16", "nhwc", 1, channels=3)
        yield _one_convolution(direction, "float16", "ndhwc", 1)
        yield _one_convolution(direction, "float16", "nhwc", 1, stride=2)
    yield _one_convolution("forward", "int8", "nhwc", 1)


def _one_convolution(
    direction: str,
    data_type: str,
    layout: str,
    groups: int,
    *,
    channels: int = 64,
    stride: int = 1,
) -> tuple[str, str, Describe]:
    volume = layout == "ndhwc"
    image, window = ((8, 28, 28), (3, 3, 3)) if volume else ((28, 28), (3, 3))
    result = tuple(size // stride for size in image)

    def describe(graph: Graph) -> None:
        dims = {
            "x": (16, channels, *image),
            "w": (64, channels // groups, *window),
            "y": (16, 64, *result),
        }
        memory = "ndhwc" if volume else layout
        wanted, operands, kind = {
            "forward": ("y", "xw", graph.conv_fprop),
            "data gradient": ("x", "yw", graph.conv_dgrad),
            "filter gradient": ("w", "xy", graph.conv_wgrad),
        }[direction]
        given = [graph.tensor(dims[name], layout=memory, name=name) for name in operands]
        options: dict[str, Any] = {"compute_data_type": "int32"} if data_type == "int8" else {}
        output = kind(*given, padding=1, stride=stride, **options)
        small = {"int8": "int32", "fp8_e4m3": "float16"}.get(data_type)
        output.set_output(name=wanted, dims=dims[wanted], data_type=small or data_type)

    parts = ["convolution", direction, data_type, layout]
    parts.append("depthwise" if groups == 64 else f"groups {groups}")
    parts += ["3 channels"] * (channels == 3) + ["stride 2"] * (stride == 2)
    return " ".join(parts), data_type, describe


# --- norms ----------------------------------------------------------------------------------------

_NORMS: dict[str, tuple[tuple[int, ...], tuple[int, ...], str]] = {  # dims, parameters, layout
    "layer": ((4096, 1024, 1, 1), (1, 1024, 1, 1), "nhwc"),
    "rms": ((4096, 1024, 1, 1), (1, 1024, 1, 1), "nhwc"),
    "ada_layer": ((4, 1024, 1024), (4, 1, 1024), ""),
    "instance": ((16, 64, 28, 28), (1, 64, 1, 1), "nhwc"),
    "batch": ((16, 64, 28, 28), (1, 64, 1, 1), "nhwc"),
}


def _norm() -> _Shapes:
    for mode in _NORMS:
        for step in ("inference", "training", "backward"):
            if (mode, step) == ("batch", "inference"):  # element-wise
                continue
            for data_type in _TYPES:
                yield _one_norm(mode, step, data_type, "float32")
            if mode in ("layer", "rms"):
                yield _one_norm(mode, step, "float16", "float16")


def _one_norm(mode: str, step: str, data_type: str, scales: str) -> tuple[str, str, Describe]:
    dims, parameters, layout = _NORMS[mode]
    strides: Any = {"layout": layout} if layout else {}

    def describe(graph: Graph) -> None:
        x = graph.tensor(dims, name="x", **strides)
        scale = graph.tensor(parameters, data_type=scales, name="scale", **strides)
        if step != "backward":
            bias = None
            if mode != "rms":
                bias = graph.tensor(parameters, data_type=scales, name="bias", **strides)
            _outputs(graph.norm_forward(mode, step, x, scale, bias, 1e-5))
            return
        kept = {
            "instance": (*dims[:2], 1, 1),
            "batch": parameters,
            "ada_layer": (*dims[:2], 1),
        }.get(mode, (dims[0], 1, 1, 1))
        names = ("inv_variance",) if mode == "rms" else ("mean", "inv_variance")
        saved: dict[str, Any] = {
            name: graph.tensor(kept, data_type="float32", name=name) for name in names
        }
        dy = graph.tensor(dims, name="dy", **strides)
        found = graph.norm_backward(mode, dy, x, scale, **saved, has_dbias=mode != "rms")
        for output, each in found.items():
            each.set_output(name=output, data_type=None if output == "dx" else scales)

    name = f"norm {mode} {step} {data_type} scales {scales}"
    return name, data_type, describe


# --- products: 8 of 512 x 1024 by 1024 x 512 ------------------------------------------------------


def _matrices(graph: Graph, data_type: str = "", small: str = "") -> tuple[Tensor, Tensor]:
    """The operands of a product; types of 8 bits have the right one by columns."""
    strides = (1024 * 512, 1, 1024) if small else None
    a = graph.tensor((8, 512, 1024), data_type=small or data_type or None, name="a")
    return a, graph.tensor((8, 1024, 512), strides, data_type or small or None, name="b")


def _product() -> _Shapes:
    for data_type in _TYPES:
        yield f"product {data_type}", data_type, lambda g: _result(g.matmul(*_matrices(g)))
    for small in ("fp8_e4m3", "fp8_e5m2", "int8"):

        def describe(graph: Graph, small: str = small) -> None:
            output = "int32" if small == "int8" else "float16"
            compute = {"compute_data_type": "int32"} if small == "int8" else {}
            product: Any = graph.matmul
            _result(product(*_matrices(graph, small=small), **compute), output)

        yield f"product {small}", small, describe
    for narrow in ("int8", "fp8_e4m3"):

        def widened(graph: Graph, narrow: str = narrow) -> None:
            a, b = _matrices(graph, "float16", narrow)
            wide = graph.identity(a).set_output(False, data_type="float16")
            _result(graph.matmul(wide, b))

        yield f"product {narrow} by float16", "float16", widened
    for name, kind, scale, block in (
        ("nvfp4", "fp4_e2m1", "fp8_e4m3", 16),
        ("mxfp8", "fp8_e4m3", "fp8_e8m0", 32),
    ):
        yield f"product {name}", kind, functools.partial(_scaled, scale=scale, block=block)


def _result(tensor: Tensor, data_type: str | None = None) -> None:
    tensor.set_output(name="y", data_type=data_type)


def _scaled(graph: Graph, *, scale: str, block: int) -> None:
    """A product of matrices with a scale for each few elements along their common side."""
    scales: dict[str, Any] = {"data_type": scale, "reordering": "f8_128x4"}
    count = 512 // block
    a = graph.tensor((1, 512, 512), name="a")
    b = graph.tensor((1, 512, 512), (512 * 512, 1, 512), name="b")
    of_a = graph.tensor((1, 512, count), name="descale_a", **scales)
    of_b = graph.tensor((1, count, 512), (512 * count, 1, count), name="descale_b", **scales)
    left = graph.block_scale_dequantize(a, of_a, (1, block))
    right = graph.block_scale_dequantize(b, of_b, (block, 1))
    _result(graph.matmul(left, right), "float16")


# --- fused chains: words are steps ----------------------------------------------------------------

_CHAINS = (
    *("convolution, relu", "convolution, bias, relu", "convolution, scale, bias, add, relu"),
    *("convolution, swish", "relu, convolution", "scale, bias, relu, convolution, statistics"),
    *("data gradient, relu backward", "product, relu", "product, bias, gelu"),
    *("product, bias, add", "product, largest of rows", "two products, gate", "rms norm, relu"),
    *("rms norm, quantize", "add, mul, sigmoid", "sum of channels"),
)
_Operand = Callable[[str, bool], Tensor]
"""Describes an operand by its name: one as large as the result, or one number for each channel."""


def _image(graph: Graph, name: str, whole: bool) -> Tensor:
    dims = (16, 64, 28, 28) if whole else (1, 64, 1, 1)
    return graph.tensor(dims, layout="nhwc", name=name)


def _matrix(graph: Graph, name: str, whole: bool) -> Tensor:
    return graph.tensor((8, 512, 512) if whole else (1, 1, 512), name=name)


def _gated(graph: Graph) -> Tensor:
    a, b = _matrices(graph)
    gate = graph.matmul(a, graph.tensor((8, 1024, 512), name="gate"))
    return graph.mul(graph.swish(gate), graph.matmul(a, b))


def _normalized(graph: Graph) -> Tensor:
    dims, parameters, layout = _NORMS["rms"]
    x = graph.tensor(dims, layout=layout, name="x")
    scale = graph.tensor(parameters, layout=layout, data_type="float32", name="scale")
    return graph.norm_forward("rms", "inference", x, scale, None, 1e-5)["y"]


def _convolved(graph: Graph, x: Tensor, direction: str = "fprop") -> Tensor:
    if x.virtual:  # tensor cores take no float32
        x.set_output(False, data_type=graph.io_data_type)
    w = graph.tensor((64, 64, 3, 3), layout="nhwc", name="w")
    y: Tensor = getattr(graph, f"conv_{direction}")(x, w, padding=1)
    return y.set_output(False, dims=(16, 64, 28, 28))


def _with_statistics(graph: Graph, x: Tensor) -> Tensor:
    for name, each in zip(("sum", "sq_sum"), graph.genstats(x), strict=True):
        each.set_output(name=name, data_type="float32")
    return x


def _reduced(graph: Graph, x: Tensor, mode: str, *axes: int) -> Tensor:
    return graph.reduction(x, mode, axes=axes).set_output(data_type="float32")


def _quantized(graph: Graph, x: Tensor) -> Tensor:
    factor = graph.tensor(_ONE, data_type="float32", name="factor")
    return graph.mul(x, factor).set_output(data_type="fp8_e4m3")


_STARTS: dict[str, Callable[[Graph], Tensor]] = {
    "product": lambda g: g.matmul(*_matrices(g)),
    "two products": _gated,
    "rms norm": _normalized,
}
_STEPS: dict[str, Callable[[Graph, Tensor, _Operand], Tensor]] = {
    "convolution": lambda g, x, of: _convolved(g, x),
    "data gradient": lambda g, x, of: _convolved(g, x, "dgrad"),
    "relu": lambda g, x, of: g.relu(x),
    "gelu": lambda g, x, of: g.gelu(x),
    "swish": lambda g, x, of: g.swish(x),
    "sigmoid": lambda g, x, of: g.sigmoid(x),
    "relu backward": lambda g, x, of: g.relu_backward(x, of("input", True)),
    "scale": lambda g, x, of: g.mul(x, of("scale", False)),
    "mul": lambda g, x, of: g.mul(x, of("factor", False)),
    "bias": lambda g, x, of: g.bias(x, of("bias", False)),
    "add": lambda g, x, of: g.add(x, of("z", True)),
    "gate": lambda g, x, of: x,
    "statistics": lambda g, x, of: _with_statistics(g, x),
    "quantize": lambda g, x, of: _quantized(g, x),
    "largest of rows": lambda g, x, of: _reduced(g, x, "max", 2),
    "sum of channels": lambda g, x, of: _reduced(g, x, "add", 0, 2, 3),
}


def _chained(graph: Graph, words: list[str]) -> None:
    operand = functools.partial(_matrix if "product" in words[0] else _image, graph)
    start = _STARTS.get(words[0])
    last = operand("x", True) if start is None else start(graph)
    for word in words[start is not None :]:
        last = _STEPS[word](graph, last, operand)
    _result(last)


def _fused() -> _Shapes:
    for chain in _CHAINS:
        for data_type in _TYPES[: 1 if "norm" in chain else 3]:
            describe = functools.partial(_chained, words=chain.split(", "))
            yield f"fused {chain} {data_type}", data_type, describe


# --- pooling --------------------------------------------------------------------------------------


def _resample() -> _Shapes:
    for mode in ("maxpool", "avgpool_exclude_padding"):
        for data_type in ("float16", "float32"):
            for layout in ("nhwc", "nchw"):

                def describe(graph: Graph, mode: str = mode, layout: str = layout) -> None:
                    x = graph.tensor((16, 64, 28, 28), layout=layout, name="x")
                    y, _ = graph.resample(x, mode, window=3, stride=2, padding=1)
                    _result(y)

                kind = "max" if mode == "maxpool" else "average"
                yield f"pooling {kind} {data_type} {layout}", data_type, describe


if __name__ == "__main__":
    measuring.SHAPES.write_text(text(), encoding="utf-8")
