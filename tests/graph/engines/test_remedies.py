"""What can be said differently in a graph, and what must not be."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cudnn_ctypes import Selection, raw
from cudnn_ctypes.errors import BadParamError, CudnnError, NotSupportedError, OwnReason
from cudnn_ctypes.graph.describe.remedies import remedies
from cudnn_ctypes.graph.describe.rewriting import Variant, varied
from cudnn_ctypes.graph.engines.explaining.examination import Conditions, Outcome
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.partition import advising
from cudnn_ctypes.graph.partition.advising import BuildAdvice, Search, advise
from cudnn_ctypes.raw import cudnnDataType_t, cudnnStatus_t
from cudnn_ctypes.raw.library import nvrtc
from cudnn_ctypes.raw.strides import packed

from ..advice_cases import ADVISED
from ..families import CASES, DISTINCT

Type = cudnnDataType_t


def _variants(graph: Graph, topic: str) -> list[Variant]:
    made = [varied(graph, [each]) for each in remedies(graph) if each.topic == topic]
    return [each for each in made if each is not None]


def _sizes(graph: Graph) -> set[tuple[str, tuple[int, ...]]]:
    """Tensors with memory and their dims, in all variants of their widths."""
    return {
        (each.name, each.dims or ())
        for variant in _variants(graph, "width")
        for each in variant.graphs[0].tensors
        if not each.virtual and each.dims != graph.find_tensor(each.name).dims
    }


def _image(graph: Graph, name: str, dims: tuple[int, ...], *, last: bool = False) -> Any:
    order = (0, *range(2, len(dims)), 1)
    return graph.tensor(dims, packed(dims, order if last else None), name=name)


def _convolution(channels: int, filters: int, groups: int = 1, *, last: bool = False) -> Graph:
    graph = Graph(io_data_type="float16")
    x = _image(graph, "x", (2, channels, 8, 8), last=last)
    w = _image(graph, "w", (filters, channels // groups, 3, 3), last=last)
    y = graph.bias(graph.conv_fprop(x, w, name="conv"), _image(graph, "b", (1, filters, 1, 1)))
    y.set_output(name="y")
    return graph


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", [name for name in DISTINCT if CASES[name].here])
def test_remedies_leave_the_graph_as_it_is_and_give_valid_ones(name):
    with CASES[name].graph() as graph:
        graph.validate()
        before = graph.to_json()
        for remedy in remedies(graph):
            variant = varied(graph, [remedy])
            if variant is None:  # the change contradicts an operation
                continue
            assert variant.changes
            assert variant.steps[0].words.count("{") == 0
            assert variant.graphs[0].to_json() != before
            uids = {each.uid for each in variant.graphs[0].tensors}
            assert uids <= {each.uid for each in graph.tensors}
        assert graph.to_json() == before


def _product(
    a: tuple[int, ...] = (1, 32, 5),
    b: tuple[int, ...] = (1, 5, 16),
    data_type: str = "float16",
    *,
    strides: tuple[int, ...] | None = None,
    before: str = "",
    both: bool = False,
    after: Any = lambda g, c: c,
    **options: Any,
) -> Graph:
    """A product of matrices: `before` is a function of a, or of both, `after` takes the result."""
    graph = Graph(io_data_type=data_type)
    left, right = graph.tensor(a, strides, name="a"), graph.tensor(b, name="b")
    if before:
        left = getattr(graph, before)(left)
        right = getattr(graph, before)(right) if both else right
    after(graph, graph.matmul(left, right, **options)).set_output(name="y")
    return graph


def _normalized(graph: Graph, c: Any) -> Any:
    return graph.rmsnorm("inference", c, graph.tensor((1, 1, 21), name="s"), None, 1e-5)[0]


TURNED = {"transpose_A": True, "transpose_B": True}
WIDE = {"a": (1, 30, 16), "b": (1, 16, 21)}


@pytest.mark.parametrize(
    ("graph", "sizes"),
    [
        (
            _convolution(15, 21),
            {
                ("x", (2, 16, 8, 8)),
                ("w", (21, 16, 3, 3)),
                ("w", (24, 15, 3, 3)),
                ("b", (1, 24, 1, 1)),
                ("y", (2, 24, 6, 6)),
            },
        ),
        (_convolution(16, 24), set()),
        (_convolution(15, 21, groups=3), set()),
        # To 16 bytes.
        (_product((2, 32, 5), (2, 5, 16), "int8"), {("a", (2, 32, 16)), ("b", (2, 16, 16))}),
        (_product((2, 32, 5), (2, 5, 16), "float32"), {("a", (2, 32, 8)), ("b", (2, 8, 16))}),
        (_product((2, 32, 5), (2, 5, 16), "float64"), {("a", (2, 32, 6)), ("b", (2, 6, 16))}),
        (_product((2, 5, 32), (2, 16, 5), **TURNED), {("a", (2, 8, 32)), ("b", (2, 16, 8))}),
        # What is normalized or reduced.
        (_product(**WIDE, after=_normalized), set()),
        (_product(**WIDE, after=lambda g, c: g.reduction(c, "max", axes=(2,))), set()),
        # Zeros of b meet sigmoid(0) in the sum, but log(0) is infinite, and times zero it is NaN;
        # both factors are one half where nothing was.
        (_product(before="sigmoid"), {("a", (1, 32, 8)), ("b", (1, 8, 16))}),
        (_product(before="log"), set()),
        (_product(before="sigmoid", both=True), set()),
        (_product(strides=(320, 10, 1)), set()),  # memory with gaps
    ],
)
def test_sizes_that_grow(graph, sizes):
    assert _sizes(graph) == sizes


def _of(graph: Graph, results: Any) -> Graph:
    for each in results:
        if each is not None:
            each.set_output()
    return graph


def _normed(mode: str, dims: Any, kinds: Any = (), *, used: bool = False, io: str) -> Graph:
    """A norm of x named "n"; `kinds` are of its scale and bias, and of its statistics."""
    graph = Graph(io_data_type=io)
    x, few = graph.tensor(dims, name="x"), (1, *dims[1:2], *(1,) * (len(dims) - 2))
    scales = [
        graph.tensor(few, data_type=each, name=n) for n, each in zip("sb", kinds, strict=False)
    ]
    options = {} if scales else {"axes": 1}
    scale, bias = scales or (None, None)
    found = graph.norm_forward(mode, "training", x, scale, bias, 1e-5, name="n", **options)
    for each, kind in zip([*found.values()][1:], kinds[2:], strict=False):
        each.set_output(data_type=kind)
    return _of(graph, [*found.values(), *([found["mean"] * 2.0] if used else [])])


def _total() -> Any:
    graph = Graph(io_data_type="float16", intermediate_data_type="float16")
    x = graph.relu(graph.tensor((2, 16, 8, 8), layout="nhwc", name="x", alignment=8), name="relu")
    return _of(graph, [graph.reduction(x, "add", axes=1, name="sum")])


def _attended(**options: Any) -> Any:
    graph = Graph(io_data_type="float16")
    sizes = {"q": 20, "k": 20, "v": 16}
    operands = [graph.tensor((2, 2, 64, n), name=name) for name, n in sizes.items()]
    return _of(graph, graph.sdpa(*operands, name="sdpa", **options))


def _masked() -> Any:
    graph = Graph(io_data_type="float64", compute_data_type="float64")
    a, b = (graph.tensor((2, 8, 8), name=name) for name in "ab")
    mask = graph.logical_not(a, compute_data_type="float32")
    return _of(graph, [graph.binary_select(a, b, mask)])


NORM, BOTH = "of norm_forward 'n'", "mean 'n.mean' and inv_variance 'n.inv_variance'"
HALF_OF_ALL, IMAGES = ("float16",) * 4, (2, 16, 8, 8)
STATISTICS = f"results: leave out {BOTH} {NORM}, which only training needs"
STATISTICS += " phase 'training' -> 'inference'"
HEADS = "q 'q' and k 'k' of sdpa 'sdpa' from 20 to 24 in dimension 3"
LAST = f"layout: store input 'x' and y 'n.y' {NORM} channels last (NHWC) images stored as in C"
ZEROS = "(fill what is added of 'q', 'k' with zeros)"


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (_normed("layer", (8, 32), io="float32"), [STATISTICS]),
        (_normed("layer", (8, 32), used=True, io="float32"), []),
        (
            _normed("layer", (8, 32, 1), ("float32", "bfloat16"), io="bfloat16"),
            [f"scale type: give scale 's' {NORM} the data type of the input (their numbers are "
             "rounded to it) float32 scale of a norm of rows", STATISTICS],
        ),
        (
            _normed("instance", IMAGES, HALF_OF_ALL, io="float16"),
            [LAST, f"scale type: give scale 's' and bias 'b' {NORM} the data type float32",
             f"statistics type: give {BOTH} {NORM} the data type float32", STATISTICS],
        ),
        (_normed("batch", IMAGES, ("float32",) * 4, io="float16"), [LAST]),
        (
            _total(),
            [
                "layout: store x 'x' of relu 'relu' as in C, the last dimension innermost",
                "alignment: let the addresses of x 'x' of relu 'relu' be multiples of 16",
                "intermediate type: let virtual tensors be float32 (intermediate_data_type)",
                "result type: give y 'sum' of reduction 'sum' the data type float32",
            ],
        ),
        (_attended(), [f"width: widen {HEADS} {ZEROS} attn_scale None -> {20**-0.5}"]),
        (_attended(attn_scale=0.5), [f"width: widen {HEADS} {ZEROS}"]),
        (_masked(), ["compute type: compute logical operations in boolean (compute_data_type) "
                     "compute_data_type 'float32' -> 'boolean'"]),
    ],
)  # fmt: skip
def test_what_is_proposed_beside_other_types_of_operands(graph, said):
    found = []
    for remedy in remedies(graph):
        variant = varied(graph, [remedy])
        if variant is not None and remedy.topic != "input type":
            (step,) = variant.steps
            options = [
                str(each).partition(": ")[2] for each in variant.changes if not each.argument
            ]
            caveat = f"({step.caveat})" if step.caveat else ""
            told = f"{step.topic}: {step.words}", caveat, step.known, *options
            found.append(" ".join(filter(None, told)))
    assert found == said


@pytest.mark.parametrize(
    ("data_type", "given", "expected"),
    [
        ("int8", "float32", Type.CUDNN_DATA_INT32),
        ("float64", "float32", Type.CUDNN_DATA_DOUBLE),
        ("float16", "float16", Type.CUDNN_DATA_FLOAT),
        ("fp8_e4m3", "fast_float_for_fp8", Type.CUDNN_DATA_FLOAT),
    ],
)
def test_sums_are_computed_in_the_type_of_the_operands(data_type, given, expected):
    graph = Graph(io_data_type=data_type, compute_data_type=given)
    a, b = graph.tensor((1, 32, 16), name="a"), graph.tensor((1, 16, 16), name="b")
    graph.matmul(a, b, name="matmul").set_output(name="c")
    (variant,) = _variants(graph, "compute type")
    (made,) = variant.graphs
    assert (made.nodes[0].compute_data_type or made.compute_data_type) == expected
    assert _variants(made, "compute type") == []
    graph.nodes[0].compute_data_type = graph.compute_data_type
    if expected != Type.CUDNN_DATA_INT32:  # of the operation itself too
        assert _variants(graph, "compute type")[0].graphs[0].nodes[0].compute_data_type == expected


# --- which changes are tried, and in which order; cuDNN is not asked -----------------------------


def _graph() -> Graph:
    """Fit for a layout, a width and an alignment."""
    graph = Graph("image", io_data_type="float16")
    x = graph.tensor((2, 15, 8, 8), name="x", alignment=2)
    w = graph.tensor((16, 15, 3, 3), name="w")
    y = graph.conv_fprop(x, w, padding=1, name="conv")
    graph.relu(y, name="relu").set_output(name="y")
    return graph


def _last(graph: Graph) -> bool:
    return graph.find_tensor("x").strides[1] == 1


def _wide(graph: Graph) -> bool:
    return graph.find_tensor("x").dims[1] == 16


def _aligned(graph: Graph) -> bool:
    return graph.find_tensor("x").alignment == 16


def _found(*wanted: Callable[[Graph], bool]) -> list[tuple[str, ...]]:
    def asked(graph: Graph) -> Outcome | None:
        return Outcome((7,)) if all(each(graph) for each in wanted) else None

    cures = Search(_graph(), asked, tries=99, seconds=99.0).cures(first_only=True)
    return [tuple(step.topic for step in each.variant.steps) for each in cures]


def test_the_fewest_changes_together():
    assert _found(_last, _wide) == [("layout", "width")]
    assert _found(_aligned, _wide) == [("alignment", "width")]
    assert _found(_last, _aligned, _wide) == [("layout", "alignment", "width")]


# --- advice in the messages of failed builds -----------------------------------------------------


NEWEST = 92800  # for which the cases were chosen
build_advice_only = pytest.mark.skipif(
    raw.load().version < NEWEST, reason="other graphs are refused by this version of cuDNN"
)


def _failure(graph: Graph, device: Any, **options: Any) -> CudnnError:
    with pytest.raises((NotSupportedError, BadParamError)) as caught, graph:
        graph.build(device, program=False, **options)
    return caught.value


def _as_in_c() -> Graph:
    return ADVISED["convolution with ReLU as in C, 15 channels"].graph()


@pytest.fixture
def asked(monkeypatch):
    """Every search that was begun."""
    found = []
    search = BuildAdvice.__call__

    def noted(self):
        found.append(self)
        return search(self)

    monkeypatch.setattr(BuildAdvice, "__call__", noted)
    return found


@build_advice_only
def test_nothing_is_tried_before_the_message_is_read(h200, asked):
    error = _failure(_as_in_c(), h200)
    _ = error.messages, error.hint, error.status, repr(error)
    assert asked == []
    first = str(error)
    assert "advice: store" in first
    assert str(error) == first
    assert len(asked) == 1


@build_advice_only
def test_advice_travels_with_the_error(h200, asked):
    error = _failure(_as_in_c(), h200)
    for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(copied) is NotSupportedError
        assert copied.advice == error.advice
        assert str(copied) == str(error)
    assert len(asked) == 1
    assert error.advice


@build_advice_only
@pytest.mark.soak
def test_the_search_is_bounded(h200, monkeypatch):
    error = _failure(ADVISED["attention with heads of 20"].graph(), h200)
    monkeypatch.setattr(advising, "_BUILD_TRIES", 2)
    assert error.advice == ()
    error = _failure(ADVISED["attention with heads of 20"].graph(), h200)
    monkeypatch.setattr(advising, "_SECONDS", 0.0)
    assert error.advice == ()
    assert 0 < advising._LINES <= 3


@build_advice_only
def test_a_fork_does_not_ask_cudnn(h200, monkeypatch):
    search = BuildAdvice(_as_in_c(), Conditions(h200))
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    assert search() == ()
    monkeypatch.undo()
    assert search() != ()


@build_advice_only
def test_whose_reason_it_is_stands_before_each():
    messages = ["no engine", OwnReason("and 3 more reasons")]
    error = NotSupportedError(
        "Graph.build", cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED, messages=messages
    )
    wanted = ["  cuDNN: no engine", "  cudnn_ctypes: and 3 more reasons"]
    assert str(error).splitlines()[1:] == wanted
    assert str(pickle.loads(pickle.dumps(error))).splitlines()[1:] == wanted
    own = NotSupportedError("f", 3000, source="cudnn_ctypes")
    assert str(OwnReason.of(own, "text")) == "text"
    assert type(OwnReason.of(error, "text")) is str


_CANNOT_COMPILE = (
    "engine 1: kernel_cfg=6: NOT_SUPPORTED: rtk(kernelNumRunning)->compile(compilerFlags, true )",
    "engine 7: NOT_SUPPORTED: rtk()->compile(compilerFlags, useNvrtcSassPath, true )",
    "engine 1: NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING: cannot load libnvrtc",
)


@pytest.mark.thinned(3)
@build_advice_only
@pytest.mark.parametrize("reason", _CANNOT_COMPILE)
def test_a_broken_compiler_is_the_only_advice(reason, h200, monkeypatch):
    """No other data type is compiled by it either."""
    graph, conditions = _as_in_c(), Conditions(h200, ("a",), Selection())
    told = BuildAdvice(graph, conditions, (reason,))
    assert "channels last" in told()[0]  # NVRTC works: it was this graph
    monkeypatch.setattr(nvrtc, "defect", lambda: "libnvrtc.so.12 is not found")
    assert told() == ("libnvrtc.so.12 is not found",)
    assert "channels last" in BuildAdvice(graph, conditions, ("engine 1: !is_NHWC",))()[0]
    explanation = graph.explain(h200)
    rows = tuple(replace(row, state="refused", reason=reason) for row in explanation.rows)
    advice = advise(graph, conditions, replace(explanation, rows=rows))
    assert (advice.broken, advice.suggestions, advice.tried) == (told()[0], (), 0)
    assert str(advice).endswith("no engine; libnvrtc.so.12 is not found")


@build_advice_only
@pytest.mark.soak
def test_advice_after_a_failed_compilation_compiles(h200):
    """The engine that cuDNN accepted for this graph, it accepts for changed ones too."""
    for data_type, advised in (("int64", ()), ("float64", ("float32",))):
        graph = Graph(io_data_type=data_type)
        graph.relu(graph.tensor((2, 3, 4))).set_output()
        error = _failure(graph, h200)
        assert "COMPILATION_FAILED" in str(error)
        assert [word for line in error.advice for word in advised if word in line] == [*advised]
        assert len(error.advice) == len(advised)
