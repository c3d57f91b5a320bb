"""Short names of enumerators."""

from __future__ import annotations

from cudnn_ctypes import raw
from cudnn_ctypes.arguments import enumerator
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, short_name

ENUMS = [
    value
    for value in vars(raw).values()
    if isinstance(value, type) and issubclass(value, CudnnEnum)
]


def test_short_names_are_identifiers_and_lead_back() -> None:
    for cls in ENUMS:
        for member in cls:
            short = short_name(member)
            assert short.isidentifier()
            assert enumerator(cls, short, "argument") is member
            assert enumerator(cls, member.name, "argument") is member


def test_examples() -> None:
    assert short_name(raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM) == "implicit_gemm"
    assert short_name(raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0) == "algo_0"
    assert short_name(raw.CUDNN_CROSS_CORRELATION) == "cross_correlation"
    assert short_name(raw.CUDNN_LRN_CROSS_CHANNEL_DIM1) == "cross_channel_dim1"
    assert enumerator(raw.cudnnNormMode_t, "per-channel", "mode") == raw.CUDNN_NORM_PER_CHANNEL
    assert short_name(raw.cudnnMathType_t(77)) == "<unknown cudnnMathType_t 77>"
