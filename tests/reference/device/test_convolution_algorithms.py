"""Which algorithms have a kernel when, against what cuDNN 9.19 answered on an H200.

Each line of the file is a convolution, and for each direction the algorithms for which
``cudnnGetConvolution…WorkspaceSize`` succeeded; the calls themselves then succeeded too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.raw.descriptors import Convolution, Filter, Tensor
from cudnn_ctypes.reference.device.convolution_problem import (
    BACKWARD_DATA,
    BACKWARD_FILTER,
    FORWARD,
    Direction,
    Problem,
    why_not,
    workspace_bytes,
)
from cudnn_ctypes.reference.device.registry import Refused

MEASURED = json.loads(Path(__file__).with_name("algorithms_cudnn_9_19_h200.json").read_text())
DIRECTIONS = [FORWARD, BACKWARD_DATA, BACKWARD_FILTER]

# Left out on purpose: algorithms for one-dimensional filters, and dilated filters of 1x1.
EXCEPTIONS = {
    ("BackwardFilter", (1, 3), raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING),
    ("BackwardFilter", (3, 1), raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING),
    ("BackwardData", (1, 1), raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT),
}


def problem(row: dict[str, Any]) -> Problem:
    x_type, w_type, y_type, compute_data_type = (
        getattr(raw, f"CUDNN_DATA_{name}") for name in row["types"]
    )
    return Problem(
        Tensor(x_type, tuple(row["x"]), tuple(row["x_strides"])),
        Filter(w_type, getattr(raw, f"CUDNN_TENSOR_{row['w_format']}"), tuple(row["w"])),
        Convolution(
            tuple(row["padding"]),
            tuple(row["stride"]),
            tuple(row["dilation"]),
            row["groups"],
            getattr(raw, f"CUDNN_{row['mode']}"),
            compute_data_type,
            raw.CUDNN_DEFAULT_MATH,
            raw.CUDNN_DEFAULT_REORDER,
        ),
        Tensor(y_type, tuple(row["y"]), tuple(row["y_strides"])),
        ("xDesc", "wDesc", "convDesc", "yDesc"),
    )


@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_as_measured(direction: Direction):
    assert len(MEASURED) > 150
    exceptions = 0
    for row in MEASURED:
        p = problem(row)
        offered = {
            algorithm for algorithm in direction.methods if not why_not(direction, algorithm, p)
        }
        measured = set(row[direction.name])
        different = offered ^ measured
        expected = {
            algorithm
            for name, filter_size, algorithm in EXCEPTIONS
            if name == direction.name and filter_size == tuple(row["w"][2:])
        }
        exceptions += len(different)
        assert different <= expected, (row, sorted(offered), sorted(measured))
    assert exceptions <= 2


@pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name)
def test_every_algorithm_of_the_header_is_known(direction: Direction):
    kind = type(next(iter(direction.methods)))
    assert set(direction.methods) == {
        member for member in kind if not member.name.endswith("COUNT")
    }
    assert direction.nondeterministic <= set(direction.methods)


def test_the_reason_names_what_is_wrong():
    row = next(row for row in MEASURED if row["stride"] == [2, 2] and len(row["x"]) == 4)
    fft = raw.CUDNN_CONVOLUTION_FWD_ALGO_FFT
    assert "stride and dilation 1" in why_not(FORWARD, fft, problem(row))
    mixed = {**row, "types": ["FLOAT", "FLOAT", "HALF", "FLOAT"]}
    assert "yDesc CUDNN_DATA_HALF" in why_not(FORWARD, fft, problem(mixed))
    assert "has no kernel for 99" in why_not(FORWARD, 99, problem(row))
    with pytest.raises(Refused, match="yDesc: expected shape"):
        why_not(FORWARD, fft, problem({**row, "y": [1, 1, 1, 1]}))


def test_workspaces_by_the_textbook():
    row = MEASURED[0]
    assert (row["x"], row["w"]) == ([2, 32, 12, 12], [32, 32, 3, 3])
    sizes = {
        algorithm.name.removeprefix("CUDNN_CONVOLUTION_FWD_ALGO_"): workspace_bytes(
            FORWARD, algorithm, problem(row)
        )
        for algorithm in FORWARD.methods
    }
    assert sizes == {
        "IMPLICIT_GEMM": 0,
        "IMPLICIT_PRECOMP_GEMM": 4 * 32 * 9,
        "GEMM": 4 * (32 * 9) * (12 * 12),
        "FFT": 8 * (2 * 64 + 32 * 32) * 14 * 8,
        "FFT_TILING": 8 * (2 * 64 + 32 * 32) * 32 * 17,  # as cuDNN 9.19: 5013504
        "WINOGRAD_NONFUSED": 4 * 36 * (2 * 64 * 9 + 32 * 32),
        "WINOGRAD": 0,
        "DIRECT": 0,
    }
