"""The cells that a window reads against the convolution that is computed."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from cudnn_ctypes.evidence.pictures.index_map import Window, window
from cudnn_ctypes.reference import convolution_forward


def drawn(svg: str, name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{{http://www.w3.org/2000/svg}}{name}"))


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
    return Window(**{**values, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize("flipped", [False, True])
def test_taps_compute_the_convolution(flipped: bool) -> None:
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


def test_every_cell_of_a_small_image_is_drawn() -> None:
    rectangles = drawn(window(case()), "rect")
    tips = [rect[0].text or "" for rect in rectangles if len(rect)]
    assert sum(tip.startswith("x[") for tip in tips) == 6 * 7
    assert sum(tip.startswith("padding") for tip in tips) == 8 * 11 - 6 * 7
    assert sum("under w[" in tip for tip in tips) == 6


def test_the_legend_says_what_is_seen() -> None:
    texts = [node.text for node in drawn(window(case()), "text")]
    assert "what y[0, 1] reads, 1 further on" in texts
    assert "padding, which counts as 0" in texts
    below = [node.text for node in drawn(window(case(output=(3, 1))), "text")]
    assert "what y[1, 0] reads, 2 further on" in below
    pooled = window(case(padding=(0, 0), dilation=(1, 1), output=(2, 6), filtered=False))
    assert not any("padding" in (node.text or "") for node in drawn(pooled, "text"))
    assert not any(node.text == "0,1" for node in drawn(pooled, "text"))


def test_large_images_stay_small_pictures() -> None:
    svg = window(case(image=(224, 224), output=(113, 226)))
    assert len(svg) < 120_000
    assert [node.text for node in drawn(svg, "text")].count("…") >= 2
