"""Pictures of where elements lie: against memory that was written, and what they show."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.evidence.pictures.html import Slider
from cudnn_ctypes.evidence.pictures.index_map import (
    IndexMap,
    Window,
    index_map,
    moving_index_map,
    moving_window,
    window,
)
from cudnn_ctypes.raw.layouts import strides_for
from cudnn_ctypes.reference import convolution_forward

NCHW = tuple("nchw")
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [node.text or "" for node in root.iter(f"{SVG}text")]


def mapped(shape: tuple[int, ...], strides: tuple[int, ...], vector: int = 1) -> IndexMap:
    return IndexMap("a tensor", shape, strides, NCHW, vector)


CASES = [
    ((2, 3, 4, 5), "NCHW", raw.CUDNN_DATA_FLOAT, 1),
    ((2, 3, 4, 5), "NHWC", raw.CUDNN_DATA_FLOAT, 1),
    ((1, 8, 3, 4), "NCHW_VECT_C4", raw.CUDNN_DATA_INT8x4, 4),
    ((1, 64, 1, 2), "NCHW_VECT_C32", raw.CUDNN_DATA_INT8x32, 32),
]


def test_the_layouts_are_told_apart_in_memory():
    first = {}
    for shape, layout, data_type, vector in CASES[:3]:
        tensor = mapped(shape, strides_for(shape, layout, data_type), vector)
        shown = texts(index_map(tensor))
        first[layout] = [text for text in shown if text[0] == "c" and text[1:].isdigit()][:6]
    assert first["NCHW"] == ["c0"] * 6
    assert first["NHWC"] == ["c0", "c1", "c2"] * 2
    assert first["NCHW_VECT_C4"] == ["c0", "c1", "c2", "c3", "c0", "c1"]


def test_gaps_are_shown():
    shown = texts(index_map(IndexMap("rows apart", (3, 4), (6, 1), ("i", "j"))))
    assert shown.count("gap") == 4
    assert "place(i, j) = 6 * i + j, in elements" in shown


def test_large_tensors_stay_small_pictures():
    shape = (256, 512, 224, 224)
    svg = index_map(mapped(shape, strides_for(shape, "NHWC", raw.CUDNN_DATA_FLOAT)))
    assert len(svg) < 60_000
    width = float(ElementTree.fromstring(svg).get("width") or 0)
    assert width < 1100
    assert any(text.startswith("shown in part: 256 n, 512 c") for text in texts(svg))


def test_repeated_and_reversed_elements():
    repeated = IndexMap("repeated", (3, 4), (1, 0), ("i", "j"))
    assert repeated.elements_before(9) == {0: (0, 0), 1: (1, 0), 2: (2, 0)}
    assert "gap" not in texts(index_map(repeated))
    reversed_ = IndexMap("reversed", (4,), (-1,), ("i",))
    assert "-3" in texts(index_map(reversed_))


def drawn(svg: str, name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{SVG}{name}"))


def case(**changed: object) -> Window:
    values: dict[str, object] = {
        "title": "a window",
        "notes": (),
        "image": (6, 7),
        "size": (3, 2),
        "padding": (1, 2),
        "stride": (2, 1),
        "dilation": (1, 2),
        "output": (3, 9),
    }
    return Window(**{**values, **changed})


@pytest.mark.parametrize("flipped", [False, True])
def test_taps_compute_the_convolution(flipped):
    random = np.random.default_rng(3)
    x = random.standard_normal((1, 1, 6, 7))
    w = random.standard_normal((1, 1, 3, 2))
    y = convolution_forward(
        x,
        w,
        padding=(1, 2),
        stride=(2, 1),
        dilation=(1, 2),
        mode="convolution" if flipped else "cross_correlation",
    )
    assert y.shape[2:] == (3, 9)
    padded = np.pad(x[0, 0], ((1, 1), (2, 2)))
    described = case(flipped=flipped)
    assert described.padded == padded.shape
    for at in np.ndindex(3, 9):
        total = sum(padded[cell] * w[0, 0][tap] for cell, tap in described.taps(at).items())
        np.testing.assert_allclose(total, y[0, 0][at], rtol=1e-12)


def steps(slider: Slider) -> list[list[str]]:
    """The texts of each step; the first alone is shown."""
    page = slider._repr_html_()
    assert f'type="range" min="0" max="{slider.steps - 1}"' in page
    groups = [each for each in drawn(slider.picture, "g") if each.get("data-step")]
    assert [each.get("style") for each in groups] == [None, *["display:none"] * (len(groups) - 1)]
    return [[text.text or "" for text in group.iter(f"{SVG}text")] for group in groups]


def corners(path: ElementTree.Element) -> int:
    return (path.get("d") or "").count("M")


def test_a_window_moves_over_all_of_its_places():
    moving = moving_window(case(size=(3, 3), dilation=(1, 1), stride=(2, 3), output=(3, 3)))
    told = steps(moving)
    assert len(told) == moving.steps == 9
    assert told[4][0] == "y[1, 1]: the window begins at x[1, 1]"
    inside, padding = (path for path in drawn(moving.picture, "path")[1:3])
    zeros = np.pad(np.zeros((6, 7)), ((1, 1), (2, 2)), constant_values=1)
    windows = np.lib.stride_tricks.sliding_window_view(zeros, (3, 3))[::2, ::3]
    assert (corners(inside), corners(padding)) == ((windows == 0).sum(), windows.sum())


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_one_memory_is_read_in_two_layouts(layout):
    shape = (1, 4, 2, 3)
    moving = moving_index_map(mapped(shape, strides_for(shape, layout, raw.CUDNN_DATA_FLOAT)))
    told = steps(moving)
    assert len(told) == 24
    n, c, h, w = np.unravel_index(9, shape)
    assert f"as NCHW, number 9 is n={n}, c={c}, h={h}, w={w}" in told[9]
    n, h, w, c = np.unravel_index(9, (1, 2, 3, 4))
    assert f"as NHWC, number 9 is n={n}, c={c}, h={h}, w={w}" in told[9]
    assert told[9][0].startswith(f"as {layout}")


def test_large_images_stay_small_pictures():
    svg = window(case(image=(224, 224), output=(113, 226)))
    assert len(svg) < 120_000
    assert [node.text for node in drawn(svg, "text")].count("…") >= 2
