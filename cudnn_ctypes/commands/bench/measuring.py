"""Measurements of a problem: algorithms, engines, and PyTorch."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from ... import raw
from ...arguments import suggestion
from ...errors import CudnnError
from ...graph.backend.device_properties import DeviceProperties, properties_text
from ...graph.engines.explaining.explanation import EngineRow
from ...graph.engines.judging.probation import checked_proposals
from ...graph.engines.operands import random_memory
from ...graph.engines.selection import Selection
from ...graph.engines.tuning.autotuning import bench, check_handle, tune_engines
from ...graph.engines.tuning.measurements import Measurement, Settings
from ...graph.engines.tuning.timing import Timer
from ...graph.graph import Graph
from ...handle import Handle
from ...legacy import (
    AlgorithmRow,
    ConvolutionBackwardData,
    ConvolutionBackwardFilter,
    ConvolutionDescriptor,
    ConvolutionForward,
    FilterDescriptor,
    TensorDescriptor,
)
from ...raw.ctypes_support import short_name
from ...raw.strides import packed
from ...runtime import DeviceBuffer, OutOfDeviceMemoryError
from ..options import read_graph
from .results import BenchRow

_DATA_TYPES = {"bfloat16", "float16", "float32", "float64"}


def torch_with_gpu() -> Any:
    """PyTorch; None if it is not installed or sees no GPU."""
    if importlib.util.find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")
    return torch if torch.cuda.is_available() else None


@dataclass
class TorchCall:
    """An operation of PyTorch on random operands.

    - `dims`: the operands' dims.
    - `options`: options by PyTorch's names.
    - `channels_last`: True for images with their channels last in memory.
    """

    operation: str
    dims: dict[str, tuple[int, ...]]
    options: dict[str, Any]
    data_type: str
    channels_last: bool = False

    def bound(self, torch: Any, device: str = "cuda") -> Callable[[], Any] | None:
        """A function that executes it on new operands; None if PyTorch lacks the data type."""
        if self.data_type not in _DATA_TYPES:
            return None
        dtype = getattr(torch, self.data_type)
        operands = {
            name: torch.randn(dims, device=device, dtype=dtype) for name, dims in self.dims.items()
        }
        if self.channels_last:
            form = torch.channels_last
            operands = {name: each.to(memory_format=form) for name, each in operands.items()}
        return _CALLS[self.operation](torch, operands, self.options)


def _forward(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    convolve = torch.nn.functional.conv2d if t["x"].dim() == 4 else torch.nn.functional.conv3d
    groups = t["x"].shape[1] // t["w"].shape[1]
    return lambda: convolve(t["x"], t["w"], groups=groups, **options)


def _backward(wanted: list[bool]) -> Callable[[Any, dict[str, Any], dict[str, Any]], Any]:
    def bound(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
        spatial = t["x"].dim() - 2
        windows = [[options[name]] * spatial for name in ("stride", "padding", "dilation")]
        groups = t["x"].shape[1] // t["w"].shape[1]
        backward = torch.ops.aten.convolution_backward
        end = (False, [0] * spatial, groups, wanted)
        return lambda: backward(t["y"], t["x"], t["w"], None, *windows, *end)

    return bound


def _torch_matmul(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    return lambda: torch.matmul(t["a"], t["b"])


def _torch_attention(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    attend = torch.nn.functional.scaled_dot_product_attention
    shared = {"enable_gqa": True} if t["q"].shape[1] != t["k"].shape[1] else {}
    return lambda: attend(t["q"], t["k"], t["v"], **options, **shared)


def _layer_norm(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    norm, columns = torch.nn.functional.layer_norm, t["scale"].shape
    return lambda: norm(t["x"], columns, t["scale"], t["bias"], 1e-5)


def _rms_norm(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    norm, columns = torch.nn.functional.rms_norm, t["scale"].shape
    return lambda: norm(t["x"], columns, t["scale"], 1e-5)


_CALLS: dict[str, Callable[[Any, dict[str, Any], dict[str, Any]], Callable[[], Any]]] = {
    "convolution forward": _forward,
    "convolution data": _backward([True, False, False]),
    "convolution filter": _backward([False, True, False]),
    "matmul": _torch_matmul,
    "attention": _torch_attention,
    "layer norm": _layer_norm,
    "rms norm": _rms_norm,
}


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

    - `name`: a description with all shapes and options; the key of stored results.
    - `legacy`: the problem for the legacy API, if that has algorithms for it.
    - `torch`: the problem for PyTorch.
    """

    name: str
    graph: Graph
    legacy: LegacyConvolution | None = None
    torch: TorchCall | None = None


def problem_of(kind: str, shapes: Sequence[str], options: Options) -> Problem:
    """The problem of a kind, or the graph stored in a file.

    Raises ValueError if the number of shapes is wrong, or they do not fit together. Raises
    CommandError if the file cannot be read.
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


Time = Callable[[Callable[[], object], int], Sequence[float]]
"""A function like `Timer`: the microseconds of a number of executions of a callable."""

Told = Callable[[BenchRow, int], object]
"""Called with each row and the expected number of rows."""

_WARM_UP = 2  # executions: the first loads the kernel
_TENSOR_OPS = (
    raw.CUDNN_TENSOR_OP_MATH,
    raw.CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION,
)


def engine_rows(problem: Problem, handle: Handle, settings: Settings, told: Told) -> None:
    """Measure every engine of the problem's graph; `told` gets each row.

    Raises NoDeviceError on the reference device, which measures no times. Raises ValueError if the
    graph is not valid, or has inputs whose values change the computation.
    """
    check_handle(handle)
    graph, modes = problem.graph, ["a", "b", "fallback"]
    expansion = graph.expansion(handle)
    with DeviceProperties(properties_text(handle)) as device:
        graph.explain(device, modes, compile=True, progress=False)  # what crashes is known then
    known = checked_proposals(graph, expansion, handle, modes, every_engine=True)
    wanted = Selection().passing_over(known)
    with bench(graph, expansion, handle, {}, settings, wanted) as tuner:
        try:
            tune_engines(
                tuner,
                expansion,
                handle,
                modes,
                every_engine=True,
                knobs=settings.knobs,
                noted=lambda each, total: told(measured_row(each), total),
            )
        finally:
            tuner.close()


def measured_row(each: Measurement) -> BenchRow:
    """The row of an engine's measurement."""
    known = each.state in ("measured", "dropped")
    low, high = each.quartiles
    note = f"after {each.runs} runs clearly slower" if each.state == "dropped" else ""
    if not known:
        reason = f"{each.status}: {each.reason}" if each.status else each.reason
        note = f"{each.state}: {reason}" if reason else each.state
    return BenchRow(
        str(each.choice),
        "graph",
        each.median if known else None,
        low if known else None,
        high if known else None,
        each.workspace,
        deterministic="nondeterministic" not in each.notes if known else None,
        tensor_cores="tensor_core" in each.notes if known else None,
        note=note,
    )


def timed(row: BenchRow, times: Sequence[float]) -> BenchRow:
    """The row with the median and the quartiles of its times."""
    several = times if len(times) > 1 else [*times, *times]
    low, median, high = statistics.quantiles(several, n=4, method="inclusive")
    return replace(row, median=median, low=low, high=high)


def algorithm_rows(problem: Problem, handle: Handle, time: Time, runs: int) -> Iterator[BenchRow]:
    """Time every algorithm of the legacy API; no rows if the problem has none."""
    if problem.legacy is None:
        return
    with ExitStack() as stack:
        operation = _operation(problem.legacy, stack)
        problem.graph.validate()
        tensors = problem.graph.inputs, problem.graph.outputs
        memory = random_memory(*tensors, handle, stack.enter_context)
        operands = {tensor.name: buffer for tensor, buffer in memory.items()}
        named = {name: operands[name.removeprefix("d")] for name in operation._names}
        for algorithm in operation.algorithms(handle):
            row = BenchRow(
                f"{short_name(algorithm.algorithm)} ({short_name(algorithm.math_type)})",
                "legacy",
                workspace=algorithm.memory if algorithm.usable else None,
                deterministic=algorithm.deterministic if algorithm.usable else None,
                tensor_cores=_tensor_cores(algorithm),
                note="" if algorithm.usable else short_name(algorithm.status),
            )
            if not algorithm.usable:
                yield row
                continue
            try:
                with DeviceBuffer(
                    algorithm.memory, device=handle.device, stream=handle.stream
                ) as workspace:

                    def execute(
                        algorithm: AlgorithmRow = algorithm, workspace: DeviceBuffer = workspace
                    ) -> None:
                        operation.run(handle, algorithm=algorithm, workspace=workspace, **named)

                    for _ in range(_WARM_UP):
                        execute()
                    yield timed(row, time(execute, runs))
            except (CudnnError, OutOfDeviceMemoryError) as error:
                note = f"failed: {str(error).splitlines()[0]}"
                yield BenchRow(row.what, "legacy", workspace=row.workspace, note=note)


def _operation(legacy: LegacyConvolution, stack: ExitStack) -> Any:
    options, shapes = legacy.options, legacy.shapes
    kind, layout = options.data_type, options.layout
    x, y = (
        stack.enter_context(TensorDescriptor(shapes[name], kind, layout=layout)) for name in "xy"
    )
    w = stack.enter_context(FilterDescriptor(shapes["w"], kind, layout=layout))
    spatial = len(shapes["x"]) - 2
    windows = {
        name: (getattr(options, name),) * spatial for name in ("padding", "stride", "dilation")
    }
    computed = "float64" if options.data_type == "float64" else "float32"
    conv = stack.enter_context(
        ConvolutionDescriptor(
            **windows,
            groups=shapes["x"][1] // shapes["w"][1],
            compute_data_type=computed,
        )
    )
    if options.direction == "data":
        return ConvolutionBackwardData(w, y, conv, x)
    if options.direction == "filter":
        return ConvolutionBackwardFilter(x, y, conv, w)
    return ConvolutionForward(x, w, conv, y)


def _tensor_cores(algorithm: AlgorithmRow) -> bool | None:
    """Whether an algorithm uses tensor cores; None if the default math type leaves it open."""
    if algorithm.math_type in _TENSOR_OPS:
        return True
    return False if algorithm.math_type == raw.CUDNN_FMA_MATH else None


def torch_row(problem: Problem, torch: Any, time: Time, runs: int) -> BenchRow | None:
    """PyTorch's time in benchmark mode; None if it has no such operation or data type."""
    call = None if problem.torch is None else problem.torch.bound(torch)
    if call is None:
        return None
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = True
    try:
        for _ in range(_WARM_UP + 1):  # PyTorch searches an algorithm in the first calls
            call()
        return timed(BenchRow(f"PyTorch {torch.__version__}", "PyTorch"), time(call, runs))
    finally:
        torch.backends.cudnn.benchmark = before


def engines_of(problem: Problem, device: DeviceProperties) -> list[BenchRow]:
    """Rows without times of the engines for a GPU: those that compile, and the refused ones."""
    told = problem.graph.explain(device, compile=True)
    rows = [_unmeasured(each) for each in told]
    return rows or [BenchRow("the graph", "graph", note=told.refusal)]


def _unmeasured(each: EngineRow) -> BenchRow:
    known = each.state != "refused" or bool(each.kind)
    notes = (*each.numerical_notes, *each.behavior_notes)
    note = each.kind if each.state == "works" else f"{each.state}: {each.reason or each.kind}"
    return BenchRow(
        str(each.choice),
        "graph",
        workspace=each.workspace,
        deterministic="nondeterministic" not in notes if known else None,
        tensor_cores="tensor_core" in notes if known else None,
        note=note,
    )


def open_timer(handle: Handle) -> Timer:
    """A timer for algorithms and PyTorch, with the GPU's clocks raised."""
    timer = Timer(handle)
    timer.warm_up()
    return timer
