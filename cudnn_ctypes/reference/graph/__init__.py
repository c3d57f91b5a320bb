"""The graph API's operations in plain NumPy.

Functions take float64 arrays in the tensors' logical shapes and return new, unrounded float64
arrays. The tensors' data types and layouts in memory are handled elsewhere.
"""

from .attention import AttentionMask as AttentionMask
from .attention import Softmax as Softmax
from .attention import contract_band_matrix as contract_band_matrix
from .attention import diagonal_band_mask as diagonal_band_mask
from .attention import expand_band_matrix as expand_band_matrix
from .attention import load_pages as load_pages
from .attention import rope as rope
from .attention import rope_backward as rope_backward
from .attention import sdpa as sdpa
from .attention import sdpa_backward as sdpa_backward
from .attention import softmax as softmax
from .attention import unpacked_blocks as unpacked_blocks
from .blocks import block_axis as block_axis
from .blocks import dequantize as dequantize
from .blocks import interleaved_scales as interleaved_scales
from .blocks import quantize as quantize
from .convolution import Convolution as Convolution
from .matmul import grouped_matmul as grouped_matmul
from .matmul import grouped_matmul_backward as grouped_matmul_backward
from .matmul import matmul as matmul
from .normalization import BackwardWeights as BackwardWeights
from .normalization import Finalized as Finalized
from .normalization import Gradients as Gradients
from .normalization import Statistics as Statistics
from .normalization import axes_of as axes_of
from .normalization import backward_weights as backward_weights
from .normalization import finalize as finalize
from .normalization import normalize as normalize
from .normalization import normalize_backward as normalize_backward
from .normalization import running as running
from .normalization import statistics as statistics
from .pointwise import Parameters as Parameters
from .pointwise import keeps_float32 as keeps_float32
from .pointwise import pointwise as pointwise
from .pointwise import pointwise_backward as pointwise_backward
from .random import bernoulli as bernoulli
from .random import normal as normal
from .random import uniform as uniform
from .reduction import channel_statistics as channel_statistics
from .reduction import reduce as reduce
from .resampling import Resampling as Resampling
from .shapes import offsets as offsets
from .shapes import reshape as reshape
from .shapes import slices as slices
