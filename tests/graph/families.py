"""All cases: importing this fills `CASES`."""

from __future__ import annotations

from . import (
    attention_cases,
    attention_score_cases,
    batch_norm_cases,
    convolution_cases,
    fusion_cases,
    matmul_cases,
    norm_cases,
    norm_fusion_cases,
    pointwise_cases,
    reduction_cases,
    resample_cases,
    shape_cases,
)
from .cases import CASES, Case

__all__ = ["CASES", "FAMILIES", "Case"]

FAMILIES = (
    attention_cases,
    attention_score_cases,
    batch_norm_cases,
    convolution_cases,
    fusion_cases,
    matmul_cases,
    norm_cases,
    norm_fusion_cases,
    pointwise_cases,
    reduction_cases,
    resample_cases,
    shape_cases,
)
