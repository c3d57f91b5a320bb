"""SVG: well formed, text within its boxes, names that are only text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from cudnn_ctypes.evidence.pictures.svg import text_width

from .graphs import GRAPHS, HOSTILE, attention, fused, hostile

SVG = "{http://www.w3.org/2000/svg}"


def _parsed(text: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    return root


def _texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("name", GRAPHS)
def test_every_graph_is_well_formed_before_and_after_it_is_validated(name: str) -> None:
    graph = GRAPHS[name]()
    for _ in range(2):
        root = _parsed(graph.to_svg())
        found = _texts(root)
        for node in graph.nodes:
            assert node.operation in found
        arrows = [each for each in root.iter(f"{SVG}path") if each.get("fill") == "none"]
        reads = sum(len(list(node.operands)) for node in graph.nodes)
        assert len(arrows) >= reads
        graph.validate()


def test_boxes_have_room_for_their_text() -> None:
    """By the widths of letters in DejaVu Sans, which is wider than most."""
    font_manager = pytest.importorskip("matplotlib.font_manager")
    path = font_manager.findfont("DejaVu Sans", fallback_to_default=True)
    font = pytest.importorskip("matplotlib.ft2font").FT2Font(path)
    font.set_size(12, 72)

    def measured(text: str) -> float:
        font.set_text(text)
        width: int = font.get_width_height()[0]
        return width / 64

    words = ["conv_fprop", "32x64x28x28 float16", "sdpa.softmax", "MMWW@@", "illicit fjord", "-inf"]
    for word in words:
        assert measured(word) <= text_width(word) + 2, word
        assert text_width(word) <= 1.6 * measured(word) + 4, word


def test_the_text_says_what_is_there() -> None:
    graph = fused()
    graph.validate()
    found = _texts(_parsed(graph.to_svg()))
    assert found[0] == "conv + bias + relu"
    assert found.count("32x64x28x28 float16") == 2  # x and y
    assert found.count("32x64x28x28 float32") == 2  # between the operations
    assert "64x64x3x3 float16" in found


def test_what_is_built_has_its_engine_around_the_operations() -> None:
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


def test_compiled_kernels_are_named() -> None:
    with attention() as graph:
        graph.build("H200")
        lines = _texts(_parsed(graph.to_svg()))
        assert "runtime fusion" in "".join(lines)
        (first,) = (i for i, line in enumerate(lines) if line.startswith("kernel cudnn_generated"))
        last = next(i for i in range(first, len(lines)) if not lines[i].endswith("_"))
        assert last > first  # the name is too long for one line
        assert lines[last + 1].startswith("workspace")


def test_an_expansion_says_whose_parts_they_are() -> None:
    expansion = attention().expansion("H200")
    root = _parsed(expansion.to_svg())
    assert "parts of sdpa" in _texts(root)
    stripes = [each for each in root.iter(f"{SVG}rect") if each.get("width") == "5"]
    assert len(stripes) == len(expansion.nodes)


def test_functions_within_an_operation_are_told() -> None:
    graph = attention(score_mod=lambda g, score: g.mul(score, 2.0))
    assert any(text.startswith("score_mod: mul") for text in _texts(_parsed(graph.to_svg())))


def test_names_are_only_text() -> None:
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


def test_long_names_are_cut_and_whole_in_the_tooltip() -> None:
    graph = fused()
    graph.nodes[0].name = "n" * 300
    root = _parsed(graph.to_svg())
    assert max(map(len, _texts(root))) < 80
    assert any("n" * 300 in (each.text or "") for each in root.iter(f"{SVG}title"))


def test_within_a_page_it_takes_the_page_s_colours() -> None:
    page, file = fused()._repr_html_(), fused().to_svg()
    assert "#1f2328" in file
    assert 'fill="#fff"' in file
    assert "#1f2328" not in page
    assert 'fill="#fff"' not in page
    assert 'fill="currentColor"' in page
    assert "<style" not in page + file  # which would be that of the whole page
    assert " id=" not in page + file  # which would clash with another picture's


def test_a_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "graph.svg"
    text = hostile().to_svg(path)
    assert path.read_text(encoding="utf-8") == text


def test_hostile_is_hostile() -> None:
    for part in ("<script>", "&amp;", '\\"', "\x00", "\ud800", "-->", "end\n"):
        assert part in HOSTILE
