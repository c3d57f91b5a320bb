"""Graphs to be drawn."""

from __future__ import annotations

import builtins
import itertools
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from cudnn_ctypes.evidence.pictures.diagram import Diagram, Layout, Place, diagram, layout
from cudnn_ctypes.evidence.pictures.plots import Bar, bars
from cudnn_ctypes.evidence.pictures.svg import text_width
from cudnn_ctypes.graph.engines.explaining.report import Table
from cudnn_ctypes.graph.engines.tuning.measurements import Autotuning, Measurement, Settings
from cudnn_ctypes.graph.graph import Graph

IMAGE = (32, 64, 28, 28)
STRIDES = (64 * 784, 1, 64 * 28, 64)
CHANNELS = ((1, 64, 1, 1), (64, 1, 64, 64))
FILTER = ((64, 64, 3, 3), (576, 1, 192, 64))


def fused() -> Graph:
    """Convolution, bias, relu."""
    graph = Graph("conv + bias + relu", io_data_type="float16")
    x, w = graph.tensor(IMAGE, STRIDES, name="x"), graph.tensor(*FILTER, name="w")
    y = graph.bias(graph.conv_fprop(x, w, padding=1), graph.tensor(*CHANNELS, name="b"))
    graph.relu(y).set_output(name="y")
    return graph


def residual() -> Graph:
    """Two convolutions, and the input added to what they give."""
    graph = Graph("residual block", io_data_type="float16", intermediate_data_type="float16")
    x = result = graph.tensor(IMAGE, STRIDES, name="x")
    for i in (1, 2):
        w = graph.tensor(*FILTER, name=f"w{i}")
        result = graph.conv_fprop(result, w, padding=1, name=f"conv{i}")
        result = graph.scale(result, graph.tensor(*CHANNELS, name=f"scale{i}"))
        result = graph.bias(result, graph.tensor(*CHANNELS, name=f"bias{i}"))
        if i == 1:
            result = graph.relu(result)
    graph.relu(graph.add(result, x)).set_output(name="y")
    return graph


def attention(**options: Any) -> Graph:
    graph = Graph("attention", io_data_type="float16")
    q, k, v = (graph.tensor((2, 8, 512, 64), name=name) for name in "qkv")
    o, stats = graph.sdpa(
        q, k, v, attn_scale=0.125, use_causal_mask=True, generate_stats=True, **options
    )
    o.set_output(name="o")
    stats.set_output(name="stats", data_type="float32")
    return graph


def norm() -> Graph:
    """Many operands and many results of one operation."""
    graph = Graph("batch norm", io_data_type="float16")
    parameters = [
        graph.tensor(CHANNELS[0], data_type="float32", name=name)
        for name in ("scale", "bias", "running_mean", "running_var")
    ]
    y, *others = graph.batchnorm(graph.tensor(IMAGE, STRIDES, name="x"), *parameters, 1e-5, 0.1)
    for i, other in enumerate(others):
        other.set_output(name=f"result{i}", data_type="float32")
    graph.relu(y).set_output(name="y")
    return graph


def branches() -> Graph:
    """Two chains of different lengths that meet, and results in the middle."""
    graph = Graph("branches", io_data_type="float16")
    a, b = graph.tensor((4, 8, 16), name="a"), graph.tensor((4, 8, 16), name="b")
    left = graph.exp(graph.relu(graph.tanh(a))).set_output(name="left")
    right = graph.sigmoid(b).set_output(name="right")
    total = graph.mul(graph.add(left, right), 0.5)
    graph.sub(total, a).set_output(name="y")
    return graph


HOSTILE = (
    '<script>alert("1")</script>&amp;\\" ]; end\n} subgraph x --> '
    "`$\\{a}$ %%{init}%% \x00\x1b\ud800"
)
"""A name that is markup in every format, and has characters that none of them takes."""


def hostile() -> Graph:
    graph = Graph(HOSTILE, io_data_type="float16")
    x = graph.tensor((4, 8, 16), name=HOSTILE)
    graph.relu(graph.exp(x, name=HOSTILE)).set_output(name=HOSTILE + "y")
    return graph


GRAPHS = {each.__name__: each for each in (fused, residual, attention, norm, branches, hostile)}


# --- SVG: well formed, text within its boxes, names that are only text ----------------------------


SVG = "{http://www.w3.org/2000/svg}"


def _parsed(text: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    return root


def _texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("name", GRAPHS)
def test_every_graph_is_well_formed_before_and_after_it_is_validated(name):
    graph = GRAPHS[name]()
    for _ in range(2):
        root = _parsed(graph.to_svg())
        found = _texts(root)
        for node in graph.nodes:
            assert node.operation in found
            assert node.name in found or name == "hostile"
        arrows = [each for each in root.iter(f"{SVG}path") if each.get("fill") == "none"]
        reads = sum(len(list(node.operands)) for node in graph.nodes)
        assert len(arrows) >= reads
        graph.validate()


def test_boxes_have_room_for_their_text():
    """By the widths of letters in DejaVu Sans, which is wider than most."""
    font_manager = pytest.importorskip("matplotlib.font_manager")
    path = font_manager.findfont("DejaVu Sans", fallback_to_default=True)
    font = pytest.importorskip("matplotlib.ft2font").FT2Font(path)
    font.set_size(12, 72)

    def measured(text):
        font.set_text(text)
        width = font.get_width_height()[0]
        return width / 64

    words = ["conv_fprop", "32x64x28x28 float16", "sdpa.softmax", "MMWW@@", "illicit fjord", "-inf"]
    for word in words:
        assert measured(word) <= text_width(word) + 2, word
        assert text_width(word) <= 1.6 * measured(word) + 4, word


def test_what_is_built_has_its_engine_around_the_operations():
    with fused() as graph:
        assert "engine" not in " ".join(_texts(_parsed(graph.to_svg())))
        plan = graph.build("H200")
        found = " ".join(_texts(_parsed(graph.to_svg())))
        assert f"engine {plan.config.choice.engine} (" in found
        for knob, value in plan.config.knobs.items():
            assert f"{knob}={value}" in found
        assert f"workspace {plan.workspace_size:,} bytes, NVIDIA H200, cuDNN" in found
        dashed = [
            e for e in _parsed(graph.to_svg()).iter(f"{SVG}rect") if e.get("stroke-dasharray")
        ]
        assert len(dashed) == 1
    assert "engine" not in " ".join(_texts(_parsed(graph.to_svg())))  # closed


def test_an_expansion_says_whose_parts_they_are():
    expansion = attention().expansion("H200")
    root = _parsed(expansion.to_svg())
    assert "parts of sdpa" in _texts(root)
    stripes = [each for each in root.iter(f"{SVG}rect") if each.get("width") == "5.0"]
    assert len(stripes) == len(expansion.nodes)


def test_functions_within_an_operation_are_told():
    graph = attention(score_mod=lambda g, score: g.mul(score, 2.0))
    assert any(text.startswith("score_mod: mul") for text in _texts(_parsed(graph.to_svg())))


def test_names_are_only_text():
    text = hostile().to_svg()
    root = _parsed(text)
    tags = {each.tag.removeprefix(SVG) for each in root.iter()}
    assert tags <= {"svg", "g", "title", "rect", "path", "text"}
    assert "<script" not in text
    assert not re.search(r"[\x00-\x08\x1b\ud800]", text)
    assert any("<script>" in each for each in _texts(root))
    page = hostile()._repr_html_()
    assert "<script" not in page
    assert [each.tag for each in ElementTree.fromstring(page)] == [f"{SVG}svg"]


def test_a_file_is_written(tmp_path):
    path = tmp_path / "graph.svg"
    text = hostile().to_svg(path)
    assert path.read_text(encoding="utf-8") == text


def test_hostile_is_hostile():
    for part in ("<script>", "&amp;", '\\"', "\x00", "\ud800", "-->", "end\n"):
        assert part in HOSTILE


# --- explanations and autotuning results as they show in a notebook, and as plots -----------------


def _page(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def _rows(root: ElementTree.Element) -> list[list[str]]:
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def _tuned() -> Autotuning:
    fast = Measurement(7, {"stages": 2}, "b 2", "measured", (10.0, 12.0, 11.0), 1024)
    slow = Measurement(3, {}, "a 1", "measured", (22.0, 20.0, 22.0), 0)
    others = (
        Measurement(4, {}, "a 2", "dropped", (40.0,), None),
        Measurement(5, {}, "a 3", "failed", status="NOT_SUPPORTED", reason=HOSTILE),
    )
    return Autotuning(HOSTILE, "H200", "9.19.0", (slow, fast, *others), fast, Settings(runs=3))


def test_advice_is_a_table():
    advice = fused().explain("H200", "a").advice(limit=0.5)
    found = _rows(_page(advice._repr_html_()))
    assert [row[0] for row in found[1:]] == [" ".join(each.words.split()) for each in advice]


def test_an_autotuning_has_bars_and_a_table():
    tuned = _tuned()
    root = _page(tuned._repr_html_())
    boxes = list(root.iter(f"{SVG}rect"))
    widths = [float(box.get("width", "0")) for box in boxes]
    medians = [each.median for each in tuned.ranking]
    assert medians == [11.0, 22.0, 40.0]
    for width, median in zip(widths, medians, strict=True):
        assert width / widths[0] == pytest.approx(median / medians[0], rel=1e-2)
    assert [box.get("fill") for box in boxes] == ["#3fa66a", "#4a90d9", "#8a8f98"]
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts[:2] == ["engine 7: stages=2", "11.0 us"]
    table, others = root.iter("table")
    assert [row[0] for row in _rows(table)[1:]] == ["11.0", "22.0", "40.0"]
    assert len(_rows(others)) == 2
    assert "<script" not in tuned._repr_html_()


def test_many_bars_are_cut_and_none_is_nothing():
    many = [Bar(f"engine {i}", 1.0 + i, 1.5 + i, 2.0 + i) for i in range(100)]
    root = _page(bars(many, "us"))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts[-1] == "and 76 more"
    height = float(root.get("height", "0"))
    assert max(float(each.get("y", "0")) for each in root.iter(f"{SVG}text")) < height
    assert bars([], "us") == ""


def test_a_plot_has_the_medians():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    tuned = _tuned()
    figure, mine = pyplot.subplots()
    assert tuned.plot(mine) is mine
    assert [bar.get_width() for bar in mine.patches] == [11.0, 22.0, 40.0]
    assert mine.get_yticklabels()[0].get_text() == "engine 7: stages=2"
    figure.canvas.draw()  # a "$" in the name is no mathematics
    own = tuned.plot()
    own.figure.canvas.draw()
    pyplot.close("all")


def test_without_matplotlib_the_message_says_what_to_do(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments):
        if name.startswith("matplotlib"):
            raise ImportError("no matplotlib")
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        _tuned().plot()


def test_a_long_table_scrolls():
    short, long = (Table(("n",), [[str(i)] for i in range(n)]).html() for n in (5, 500))
    assert "overflow" not in short
    assert "overflow:auto" in long


# --- places of boxes and arrows: nothing lies on anything, and arrows lead down -------------------


def _sizes(drawn: Diagram) -> list[tuple[float, float]]:
    return [(60.0 + 7 * max(map(len, box.lines)), 16.0 * len(box.lines)) for box in drawn.boxes]


def _sides(place: Place) -> tuple[float, float, float, float]:
    half, tall = place.width / 2, place.height / 2
    return place.x - half, place.y - tall, place.x + half, place.y + tall


def _overlap(one: Place, other: Place) -> bool:
    left, top, right, bottom = _sides(one)
    left_, top_, right_, bottom_ = _sides(other)
    return left < right_ and left_ < right and top < bottom_ and top_ < bottom


# Crossings of arrows, and how far they lead aside in all: less would be better.
MOST = {
    "conv + bias + relu": (0, 433),
    "residual block": (0, 1478),
    "attention": (0, 627),
    "batch norm": (0, 4489),
    "branches": (3, 1433),
}


def _check(drawn: Diagram, found: Layout) -> None:
    bends = [place for path in found.paths for place in path[1:-1]]
    everything = [*found.places, *bends]
    for one, other in itertools.combinations(everything, 2):
        assert not _overlap(one, other)
    arrows = [pair for path in found.paths for pair in itertools.pairwise(path)]
    assert all(lower.row == upper.row + 1 for upper, lower in arrows)
    crossed = sum(
        one.row == other.row and (one.x - other.x) * (to.x - into.x) < 0
        for (one, to), (other, into) in itertools.combinations(arrows, 2)
    )
    aside = sum(abs(one.x - to.x) for one, to in arrows)
    most_crossed, most_aside = MOST.get(drawn.name, (0, 0))
    assert crossed <= most_crossed
    assert aside <= most_aside
    last = max(place.row for place in everything)
    rows = [sorted((p for p in everything if p.row == n), key=_sides) for n in range(last + 1)]
    for upper, lower in itertools.pairwise(rows):
        space = min(_sides(each)[1] for each in lower) - max(_sides(each)[3] for each in upper)
        assert space == pytest.approx(40)
    for row in rows:
        for one, other in itertools.pairwise(row):
            gap = 24 * (not one.bend and not other.bend)
            assert _sides(other)[0] - _sides(one)[2] > gap - 1e-6
    for place in everything:
        left, top, right, bottom = _sides(place)
        assert left >= -1e-6
        assert top >= -1e-6
        assert right <= found.width + 1e-6
        assert bottom <= found.height + 1e-6
    assert found.region is not None
    left, top, right, bottom = found.region
    for box, place in zip(drawn.boxes, found.places, strict=True):
        x, y, x_, y_ = _sides(place)
        inside = left < x and x_ < right and top < y and y_ < bottom
        outside = x_ <= left or right <= x or y_ <= top or bottom <= y
        assert inside if box.role == "operation" else outside


def test_rows_follow_the_arrows():
    """Operands stand above their first operation, and a branch begins near its end."""
    graph = branches()
    graph.validate()
    drawn = diagram(graph.name, graph.nodes)
    places = layout(drawn, _sizes(drawn)).places
    rows = {box.lines[0]: each.row for box, each in zip(drawn.boxes, places, strict=True)}
    above = {"a": 0, "tanh": 1, "relu": 2, "b": 2, "exp": 3, "sigmoid": 3}
    assert rows == above | {"left": 4, "right": 4, "mul.b": 4, "add": 4, "mul": 5, "sub": 6, "y": 7}


@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_lies_on_anything(name):
    graph = GRAPHS[name]()
    graph.validate()
    drawn = diagram(graph.name, graph.nodes)
    _check(drawn, layout(drawn, _sizes(drawn)))
