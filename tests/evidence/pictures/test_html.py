"""Explanations and autotuning results as they show in a notebook, and as plots."""

from __future__ import annotations

import builtins
import dataclasses
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from cudnn_ctypes.evidence.pictures.html import Table, page
from cudnn_ctypes.evidence.pictures.plots import Bar, bars
from cudnn_ctypes.evidence.pictures.svg import text_width
from cudnn_ctypes.graph.engines.tuning.measurements import (
    Autotuning,
    Measurement,
    Settings,
)

from .graphs import HOSTILE, fused, hostile

SVG = "{http://www.w3.org/2000/svg}"


def _parsed(text: str) -> ElementTree.Element:
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


def test_an_explanation_has_the_tables_of_its_text() -> None:
    told = fused().explain("H200", "a")
    root = _parsed(told._repr_html_())
    engines, configs, refusals = root.iter("table")
    assert len(_rows(engines)) == 1 + len({row.engine for row in told.usable})
    assert len(_rows(configs)) == 1 + len(told.usable)
    assert len(_rows(refusals)) == 1 + len(told.reasons())
    text = "".join(root.itertext())
    assert str(told).splitlines()[0] in text
    for reason in told.reasons():
        assert " ".join(reason.split()) in text
    first = told.usable[0]
    cells = _rows(configs)[1]
    assert cells[0] == str(first.engine)
    assert cells[4] == f"{first.workspace:,}"


def test_without_an_engine_only_the_reasons_are_there() -> None:
    told = dataclasses.replace(fused().explain("H200", "a"), graph=HOSTILE)
    refused = dataclasses.replace(
        told, rows=tuple(row for row in told.rows if row.state == "refused"), proposed={}
    )
    (table,) = _parsed(refused._repr_html_()).iter("table")
    assert _rows(table)[0] == ["engines", "do not do it because"]
    assert "<script" not in refused._repr_html_()


def test_advice_is_a_table() -> None:
    advice = fused().explain("H200", "a").advice(limit=0.5)
    found = _rows(_parsed(advice._repr_html_()))
    assert [row[0] for row in found[1:]] == [" ".join(each.words.split()) for each in advice]


def test_an_autotuning_has_bars_and_a_table() -> None:
    tuned = _tuned()
    root = _parsed(tuned._repr_html_())
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


def test_many_bars_are_cut_and_none_is_nothing() -> None:
    many = [Bar(f"engine {i}", 1.0 + i, 1.5 + i, 2.0 + i) for i in range(100)]
    root = _parsed(bars(many, "us"))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts[-1] == "and 76 more"
    height = float(root.get("height", "0"))
    assert max(float(each.get("y", "0")) for each in root.iter(f"{SVG}text")) < height
    assert bars([], "us") == ""


def test_bars_and_their_texts_stay_within_the_picture() -> None:
    root = _parsed(bars([Bar("m" * 200, 1.0, 5.0, 50.0), Bar("i", 0.0, 0.0, 0.0)], "us"))
    width = float(root.get("width", "0"))
    for text in root.iter(f"{SVG}text"):
        x, length = float(text.get("x", "0")), text_width(text.text or "")
        left = x - length if text.get("text-anchor") == "end" else x
        assert left >= 0
        assert left + length <= width


def test_a_plot_has_the_medians() -> None:
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


def test_without_matplotlib_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError("no matplotlib")
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        _tuned().plot()


def test_cells_are_only_text() -> None:
    table = Table(("a", HOSTILE), [[HOSTILE, "1"]], [HOSTILE], ["#123456"], HOSTILE)
    root = _parsed(page(f"{HOSTILE}\n{HOSTILE}", [table.html()]))
    tags = {each.tag for each in root.iter()}
    assert tags == {"div", "b", "br", "table", "thead", "tbody", "tr", "th", "td"}


def test_a_long_table_scrolls() -> None:
    short, long = (Table(("n",), [[str(i)] for i in range(n)]).html() for n in (5, 500))
    assert "overflow" not in short
    assert "overflow:auto" in long


def test_drawing_changes_no_graph() -> None:
    graph = hostile()
    before = graph.to_json()
    graph.to_svg()
    graph._repr_html_()
    assert graph.to_json() == before
