"""The problems to measure: operations of given shapes, and stored graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from ...arguments import suggestion
from ...graph.graph import Graph
from ...raw.strides import packed
from ..options import read_graph
from .pytorch import TorchCall

__all__ = ["KINDS", "LegacyConvolution", "Options", "Problem", "problem_of"]

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Options:
    """The options of a problem besides its shapes."""

    data_type: str = "float16"
    layout: str = "NHWC"
    direction: str = "forward"
    padding: int = 0
    stride: int = 1
    dilation: int = 1
    causal: bool = False
    norm: str = "layer"


@dataclass(frozen=True)
class LegacyConvolution:
    """The shapes and options with which the legacy API describes a convolution."""

    shapes: dict[str, Shape]
    options: Options


@dataclass
class Problem:
    """A computation to measure, in up to three APIs.

    Attributes
    ----------
    name : str
        A description with all shapes and options; the key of stored results.
    graph : Graph
    legacy : LegacyConvolution, optional
        The problem for the legacy API, if that has algorithms for it.
    torch : TorchCall, optional
        The problem for PyTorch.
    """

    name: str
    graph: Graph
    legacy: LegacyConvolution | None = None
    torch: TorchCall | None = None


def problem_of(kind: str, shapes: Sequence[str], options: Options) -> Problem:
    """The problem of a kind, or the graph stored in a file.

    Raises
    ------
    ValueError
        If the number of shapes is wrong, or they do not fit together.
    CommandError
        If the file cannot be read.
    """
    path = Path(kind)
    if not kind or (kind not in KINDS and not path.suffix and not path.exists()):
        known = f"expected one of {', '.join(KINDS)}, or a file of a graph, got {kind!r}"
        raise ValueError(known + suggestion(kind, KINDS))
    describe, own_options = _PROBLEMS.get(kind, (None, ()))
    for field in fields(options):
        if getattr(options, field.name) != field.default and field.name not in own_options:
            raise ValueError(f"{kind} has no --{field.name.removeprefix('data_')}")
    if describe is not None:
        return describe([_shape(text) for text in shapes], options)
    if shapes:
        raise ValueError(f"{kind}: a stored graph has its shapes; leave out {' '.join(shapes)}")
    graph = read_graph(path)
    code = hashlib.sha256(graph.to_json(indent=None).encode()).hexdigest()[:8]
    return Problem(f"graph {graph.name!r} ({code})", graph)


def _shape(text: str) -> Shape:
    sizes = text.lower().split("x")
    if not all(size.isdecimal() and int(size) for size in sizes):
        raise ValueError(f"expected a shape such as 32x64x56x56, got {text!r}")
    return tuple(map(int, sizes))


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape))


def _convolution(shapes: Sequence[Shape], options: Options) -> Problem:
    if len(shapes) != 2 or {len(shape) for shape in shapes} not in ({4}, {5}):
        raise ValueError("convolution: expected an image NxCxHxW and filters KxCxRxS")
    x, w = shapes
    if len(x) == 5 and options.layout == "NHWC":
        raise ValueError("convolution: --layout NHWC is for two spatial dimensions; give NCHW")
    if x[1] % w[1] or w[0] % (x[1] // w[1]):
        raise ValueError(f"convolution: {x[1]} channels and filters of {w[1]} do not fit together")
    y = (x[0], w[0], *(_output_size(size, each, options) for size, each in zip(x[2:], w[2:])))  # noqa: B905
    if min(y) < 1:
        raise ValueError(f"convolution: the filters {_text(w)} are larger than the image")
    dims = {"x": x, "w": w, "y": y}
    result = {"forward": "y", "data": "x", "filter": "w"}[options.direction]
    order = (0, 2, 3, 1) if options.layout == "NHWC" else tuple(range(len(x)))
    graph = Graph(f"convolution {options.direction}", io_data_type=options.data_type)
    operands = [
        graph.tensor(dims[name], packed(dims[name], order), name=name)
        for name in "xwy"
        if name != result
    ]
    if options.direction == "data":
        operands.reverse()  # dy, then the filter
    methods = {"forward": graph.conv_fprop, "data": graph.conv_dgrad, "filter": graph.conv_wgrad}
    windows = {name: getattr(options, name) for name in ("padding", "stride", "dilation")}
    found = methods[options.direction](*operands, **windows)
    found.set_output(
        name=result,
        dims=dims[result],
        strides=packed(dims[result], order),
        data_type=options.data_type,
    )
    said = ", ".join(f"{name} {size}" for name, size in windows.items())
    name = (
        f"convolution {options.direction} of {_text(x)} with {_text(w)}, {said}, "
        f"{options.data_type} {options.layout}"
    )
    torch = TorchCall(f"convolution {options.direction}", dims, windows, options.data_type)
    torch.channels_last = options.layout == "NHWC"
    return Problem(name, graph, LegacyConvolution(dims, options), torch)


def _output_size(size: int, window: int, options: Options) -> int:
    covered = options.dilation * (window - 1) + 1
    return (size + 2 * options.padding - covered) // options.stride + 1


def _matmul(shapes: Sequence[Shape], options: Options) -> Problem:
    if len(shapes) != 2 or {len(shape) for shape in shapes} not in ({2}, {3}):
        raise ValueError("matmul: expected two matrices MxK and KxN, or BxMxK and BxKxN")
    a, b = ((1,) * (3 - len(shape)) + shape for shape in shapes)
    if a[2] != b[1] or a[0] != b[0]:
        raise ValueError(f"matmul: {_text(a)} and {_text(b)} do not fit together")
    graph = Graph("matmul", io_data_type=options.data_type)
    product = graph.matmul(graph.tensor(a, name="a"), graph.tensor(b, name="b"))
    product.set_output(name="y", data_type=options.data_type)
    name = f"matmul {_text(shapes[0])} by {_text(shapes[1])}, {options.data_type}"
    return Problem(name, graph, None, TorchCall("matmul", {"a": a, "b": b}, {}, options.data_type))


def _attention(shapes: Sequence[Shape], options: Options) -> Problem:
    if len(shapes) not in (1, 2) or any(len(shape) != 4 for shape in shapes):
        raise ValueError("attention: expected queries BxHxSxD, and keys and values if they differ")
    q, kv = shapes[0], shapes[-1]
    if q[0] != kv[0] or q[3] != kv[3] or q[1] % kv[1]:
        raise ValueError(f"attention: queries {_text(q)} and keys {_text(kv)} do not fit together")
    graph = Graph("attention", io_data_type=options.data_type)
    dims = {"q": q, "k": kv, "v": kv}
    operands = [graph.tensor(shape, name=name) for name, shape in dims.items()]
    output, _ = graph.sdpa(*operands, attn_scale=q[3] ** -0.5, use_causal_mask=options.causal)
    output.set_output(name="y", data_type=options.data_type)
    keys = "" if q == kv else f", keys {_text(kv)}"
    causal = ", causal" if options.causal else ""
    name = f"attention {_text(q)}{keys}{causal}, {options.data_type}"
    said = {"is_causal": options.causal}
    return Problem(name, graph, None, TorchCall("attention", dims, said, options.data_type))


def _norm(shapes: Sequence[Shape], options: Options) -> Problem:
    if len(shapes) != 1 or len(shapes[0]) != 2:
        raise ValueError("norm: expected one shape ROWSxCOLUMNS")
    rows, columns = shapes[0]
    graph = Graph(f"{options.norm} norm", io_data_type=options.data_type)
    x = graph.tensor((rows, columns, 1, 1), name="x")
    scale, bias = (graph.tensor((1, columns, 1, 1), name=name) for name in ("scale", "bias"))
    if options.norm == "rms":
        y = graph.rmsnorm("inference", x, scale, None, 1e-5)[0]
        del graph.tensors[graph.tensors.index(bias)]
    else:
        y = graph.layernorm("inference", x, scale, bias, 1e-5)[0]
    y.set_output(name="y", data_type=options.data_type)
    dims = {"x": (rows, columns), "scale": (columns,), "bias": (columns,)}
    name = f"{options.norm} norm of {_text(shapes[0])}, {options.data_type}"
    return Problem(
        name, graph, None, TorchCall(f"{options.norm} norm", dims, {}, options.data_type)
    )


_WINDOW = ("layout", "direction", "padding", "stride", "dilation")
_Describe = Callable[[Sequence[Shape], Options], Problem]

# The function that describes each kind, and the options that it reads.
_PROBLEMS: dict[str, tuple[_Describe, tuple[str, ...]]] = {
    "attention": (_attention, ("data_type", "causal")),
    "convolution": (_convolution, ("data_type", *_WINDOW)),
    "matmul": (_matmul, ("data_type",)),
    "norm": (_norm, ("data_type", "norm")),
}
KINDS = tuple(_PROBLEMS)
