"""The int8x32 reordering, against what cuDNN 9.19 wrote on an H200."""

from __future__ import annotations

import numpy as np

from cudnn_ctypes.reference import reorder_bias, reorder_filter


def test_filter_as_measured():
    # Which source byte stands at the start of the reordered memory of a 32 x 32 x 1 x 1 filter.
    w = np.arange(1024).reshape(32, 1, 1, 1, 32)
    start = [
        *(0, 1, 2, 3, 64, 65, 66, 67, 128, 129, 130, 131, 192, 193, 194, 195),
        *(4, 5, 6, 7, 68, 69, 70, 71, 132, 133, 134, 135, 196, 197, 198, 199),
        *(8, 9, 10, 11, 72, 73, 74, 75, 136, 137, 138, 139, 200, 201, 202, 203),
    ]
    assert reorder_filter(w).ravel()[: len(start)].tolist() == start


def test_bias_as_measured():
    block = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
    block += [k + 4 for k in block]
    assert reorder_bias(np.arange(64)).tolist() == block + [k + 32 for k in block]
