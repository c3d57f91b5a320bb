"""im2col: as a matrix product, against PyTorch, and against what cuDNN wrote."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference import im2col, tiles
from cudnn_ctypes.reference.tiles import tiled


@pytest.mark.parametrize(
    ("mode", "start"),
    [
        ("cross_correlation", [0, 0, 0, 0, 6, 7, 8, 9, 0, 0, 0, 0, 66, 67, 68, 69, 0, 0, 0, 0, 7]),
        ("convolution", [7, 8, 9, 10, 17, 18, 19, 20, 67, 68, 69, 70, 77, 78, 79, 80, 6, 7, 8, 9]),
    ],
)
def test_im2col_as_measured(mode, start):
    # The first entries that cuDNN 9.19 wrote into colBuffer on an H200.
    x = np.arange(1.0, 121.0, dtype=np.float32).reshape(2, 3, 4, 5)
    columns = im2col(x, (2, 3, 3, 2), padding=(1, 0), stride=(2, 1), mode=mode)
    assert columns.dtype == np.float32
    assert columns.flags.c_contiguous
    assert columns.ravel()[: len(start)].tolist() == start


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "ELEMENTS", 64)


@pytest.mark.parametrize("axes", [None, (0, 1), (1,), (2, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_element_is_computed_once_from_its_place(axes, order: str) -> None:
    rng = np.random.default_rng(1)
    x = np.asarray(rng.standard_normal((3, 20, 5)), order=order)
    bias, none = rng.standard_normal((1, 20, 1)), None
    sizes = []

    def formula(x, bias, none):
        sizes.append(x.size)
        return x * 2 + bias, None, (x > 0)

    y, nothing, mask = tiled(formula, x, bias, none, axes=axes)
    np.testing.assert_array_equal(y, x * 2 + bias)
    np.testing.assert_array_equal(mask, x > 0)
    assert nothing is None
    assert sum(sizes) == x.size
    assert len(sizes) > 1


@pytest.mark.parametrize("size", [8, 40])  # of one tile, and of several
@pytest.mark.parametrize("shift", [None, 0, 1, 5])
def test_results_are_stored_in_memory_that_is_given(size: int, shift: int | None) -> None:
    """Also in an operand's own; memory that overlaps one in another way is left alone."""
    memory = np.random.default_rng(3).standard_normal((size + 5, 4))
    x = memory[:size]
    wanted, apart = 2 * x + x[:, :1], np.full_like(x, np.nan)
    out = apart if shift is None else memory[shift : shift + size]
    y = tiled(lambda x, first: 2 * x + first, x, x[:, :1].copy(), axes=(0,), out=out)
    np.testing.assert_array_equal(y, wanted)
    assert (y is out) == (not shift)
