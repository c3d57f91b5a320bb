"""Bars of a weight space: every part is drawn, in the order of memory."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from cudnn_ctypes.evidence.pictures.index_map import Part, weight_space

PARTS = [
    Part("layer 0", "bw_hidden", (8,), 640, 32),
    Part("layer 0", "w_hidden", (8, 12), 0, 384),
    Part("layer 1", "w_hidden", (8, 8), 384, 256),
]


def test_parts_are_drawn_where_they_lie() -> None:
    root = ElementTree.fromstring(weight_space("weights", PARTS, 672))
    rectangles = [each for each in root.iter("{http://www.w3.org/2000/svg}rect") if len(each)]
    tips = [rect[0].text for rect in rectangles]
    assert tips == [
        "w_hidden 8 x 12, bytes 0 to 384",
        "w_hidden 8 x 8, bytes 384 to 640",
        "bw_hidden 8, bytes 640 to 672",
    ]
    first, second, third = (float(rect.get("width") or 0) for rect in rectangles)
    assert abs(first / second - 384 / 256) < 0.02
    assert abs(first / third - 384 / 32) < 0.2
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {
        "layer 0",
        "layer 1",
        "layer 0, biases",
        "672 bytes in all; the words are the cells' gates",
    } <= {*texts}


def test_an_empty_space_is_no_error() -> None:
    assert "0 bytes in all" in weight_space("weights", [], 0)
