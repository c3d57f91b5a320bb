"""The three directions of a convolution, and the algorithms that cuDNN has in each."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from ... import raw
from .call import Call
from .convolution_problem import Problem

__all__ = [
    "BACKWARD_DATA",
    "BACKWARD_FILTER",
    "DIRECTIONS",
    "FORWARD",
    "Direction",
    "Method",
    "direction_of",
]


class Method(enum.Enum):
    """How an algorithm works, whichever its direction."""

    IMPLICIT = "implicit matrix product"
    PRECOMPUTED = "implicit matrix product with precomputed offsets"
    ATOMIC = "implicit matrix product in parts that are added up in memory"
    ATOMIC_PRECOMPUTED = "the same with precomputed offsets"
    COLUMNS = "matrix product with the columns in memory"
    FFT = "Fourier transform"
    TILED_FFT = "Fourier transform of tiles"
    WINOGRAD = "Winograd's transform, not fused"
    NONE = "no kernel in any case"


@dataclass(frozen=True)
class Direction:
    """One of the three convolution operations.

    Attributes
    ----------
    name : str
        The direction in the names of cuDNN's functions.
    order : str
        The order of these functions' descriptors: x, w, the convolution (c) and y.
    methods : dict
        The algorithms, in the order in which ``_v7`` prefers them.
    nondeterministic : frozenset
        The algorithms whose order of summation changes from call to call.
    max_count : int
        The result of ``…AlgorithmMaxCount``: cuDNN counts some algorithms once per math type.
    """

    name: str
    order: str
    methods: dict[Any, Method]
    nondeterministic: frozenset[Any]
    max_count: int

    def problem(self, call: Call) -> Problem:
        """The problem that the descriptors of a call in this direction describe."""
        names = dict(zip(self.order, call.descriptors, strict=True))
        return Problem.read(call, *(names[role] for role in "xwcy"))


FORWARD = Direction(
    "Forward",
    "xwcy",
    {
        raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM: Method.PRECOMPUTED,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM: Method.IMPLICIT,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_GEMM: Method.COLUMNS,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_FFT: Method.FFT,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING: Method.TILED_FFT,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED: Method.WINOGRAD,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD: Method.NONE,
        raw.CUDNN_CONVOLUTION_FWD_ALGO_DIRECT: Method.NONE,
    },
    frozenset(),
    max_count=10,
)

BACKWARD_DATA = Direction(
    "BackwardData",
    "wycx",
    {
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_1: Method.PRECOMPUTED,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0: Method.ATOMIC,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING: Method.TILED_FFT,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT: Method.FFT,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED: Method.WINOGRAD,
        raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD: Method.NONE,
    },
    frozenset({raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0}),
    max_count=8,
)

BACKWARD_FILTER = Direction(
    "BackwardFilter",
    "xycw",
    {
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1: Method.PRECOMPUTED,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0: Method.ATOMIC,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3: Method.ATOMIC_PRECOMPUTED,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED: Method.WINOGRAD,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT: Method.FFT,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING: Method.NONE,
        raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD: Method.NONE,
    },
    frozenset({raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, raw.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3}),
    max_count=9,
)

DIRECTIONS = (FORWARD, BACKWARD_DATA, BACKWARD_FILTER)


def direction_of(call: Call) -> Direction:
    """The direction that the function's name says."""
    return next(direction for direction in DIRECTIONS if direction.name in call.name)
