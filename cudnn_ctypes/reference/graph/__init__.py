"""The graph API's operations in plain NumPy.

Functions take float64 arrays in the tensors' logical shapes and return new, unrounded float64
arrays. The tensors' data types and layouts in memory are handled elsewhere.
"""

from .attention import (
    AttentionMask,
    Softmax,
    contract_band_matrix,
    diagonal_band_mask,
    expand_band_matrix,
    load_pages,
    rope,
    rope_backward,
    sdpa,
    sdpa_backward,
    softmax,
    unpacked_blocks,
)
from .blocks import block_axis, dequantize, interleaved_scales, quantize
from .convolution import Convolution
from .matmul import grouped_matmul, grouped_matmul_backward, matmul
from .normalization import (
    BackwardWeights,
    Finalized,
    Gradients,
    Statistics,
    axes_of,
    backward_weights,
    finalize,
    normalize,
    normalize_backward,
    running,
    statistics,
)
from .pointwise import Parameters, keeps_float32, pointwise, pointwise_backward
from .random import bernoulli, normal, uniform
from .reduction import channel_statistics, reduce
from .resampling import Resampling
from .shapes import offsets, reshape, slices

__all__ = [
    "AttentionMask",
    "BackwardWeights",
    "Convolution",
    "Finalized",
    "Gradients",
    "Parameters",
    "Resampling",
    "Softmax",
    "Statistics",
    "axes_of",
    "backward_weights",
    "bernoulli",
    "block_axis",
    "channel_statistics",
    "contract_band_matrix",
    "dequantize",
    "diagonal_band_mask",
    "expand_band_matrix",
    "finalize",
    "grouped_matmul",
    "grouped_matmul_backward",
    "interleaved_scales",
    "keeps_float32",
    "load_pages",
    "matmul",
    "normal",
    "normalize",
    "normalize_backward",
    "offsets",
    "pointwise",
    "pointwise_backward",
    "quantize",
    "reduce",
    "reshape",
    "rope",
    "rope_backward",
    "running",
    "sdpa",
    "sdpa_backward",
    "slices",
    "softmax",
    "statistics",
    "uniform",
    "unpacked_blocks",
]
