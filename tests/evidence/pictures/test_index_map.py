"""The places of elements against memory that was written, and what the pictures show."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.evidence.pictures.index_map import IndexMap, index_map
from cudnn_ctypes.runtime.layout import strides_for, to_storage

NCHW = tuple("nchw")


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]


def mapped(shape: tuple[int, ...], strides: tuple[int, ...], vector: int = 1) -> IndexMap:
    return IndexMap("a tensor", shape, strides, NCHW, vector)


CASES = [
    ((2, 3, 4, 5), "NCHW", raw.CUDNN_DATA_FLOAT, 1),
    ((2, 3, 4, 5), "NHWC", raw.CUDNN_DATA_FLOAT, 1),
    ((1, 8, 3, 4), "NCHW_VECT_C4", raw.CUDNN_DATA_INT8x4, 4),
    ((1, 64, 1, 2), "NCHW_VECT_C32", raw.CUDNN_DATA_INT8x32, 32),
]


@pytest.mark.parametrize(("shape", "layout", "data_type", "vector"), CASES)
def test_places_are_where_memory_has_the_elements(
    shape: tuple[int, ...], layout: str, data_type: Any, vector: int
) -> None:
    strides = strides_for(shape, layout, data_type)
    dtype = np.float32 if vector == 1 else np.int8
    numbers = (np.arange(math.prod(shape)) % 127).astype(dtype).reshape(shape)
    memory = to_storage(numbers, strides, data_type).view(dtype)
    tensor = mapped(shape, strides, vector)
    for index in np.ndindex(*shape):
        assert memory[tensor.place(index)] == numbers[index]
    for place, index in tensor.elements_before(len(memory)).items():
        assert tensor.place(index) == place
    assert len(tensor.elements_before(len(memory))) == math.prod(shape)
    variables = {"n": 0, "c": shape[1] - 1, "h": 0, "w": shape[3] - 1}
    index = tuple(variables.values())
    assert eval(tensor.formula, variables) == tensor.place(index)


def test_the_layouts_are_told_apart_in_memory() -> None:
    first = {}
    for shape, layout, data_type, vector in CASES[:3]:
        tensor = mapped(shape, strides_for(shape, layout, data_type), vector)
        shown = texts(index_map(tensor))
        first[layout] = [text for text in shown if text[0] == "c" and text[1:].isdigit()][:6]
    assert first["NCHW"] == ["c0"] * 6
    assert first["NHWC"] == ["c0", "c1", "c2"] * 2
    assert first["NCHW_VECT_C4"] == ["c0", "c1", "c2", "c3", "c0", "c1"]


def test_gaps_are_shown() -> None:
    shown = texts(index_map(IndexMap("rows apart", (3, 4), (6, 1), ("i", "j"))))
    assert shown.count("gap") == 4
    assert "place(i, j) = 6 * i + j, in elements" in shown


def test_large_tensors_stay_small_pictures() -> None:
    shape = (256, 512, 224, 224)
    svg = index_map(mapped(shape, strides_for(shape, "NHWC", raw.CUDNN_DATA_FLOAT)))
    assert len(svg) < 60_000
    width = float(ElementTree.fromstring(svg).get("width") or 0)
    assert width < 1100
    assert any(text.startswith("shown in part: 256 n, 512 c") for text in texts(svg))


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (2, 3, 4, 5, 6), (1, 1, 1, 1)])
def test_every_rank_has_a_picture(shape: tuple[int, ...]) -> None:
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    axes = tuple("abcdefgh"[: len(shape)])
    svg = index_map(IndexMap("a tensor", shape, strides, axes), standalone=False)
    assert "0" in texts(svg)
    assert 'fill="#fff"' not in svg


def test_repeated_and_reversed_elements() -> None:
    repeated = IndexMap("repeated", (3, 4), (1, 0), ("i", "j"))
    assert repeated.elements_before(9) == {0: (0, 0), 1: (1, 0), 2: (2, 0)}
    assert "gap" not in texts(index_map(repeated))
    reversed_ = IndexMap("reversed", (4,), (-1,), ("i",))
    assert "-3" in texts(index_map(reversed_))
