"""The enums that cuDNN 9 dropped, with their numbers."""

from __future__ import annotations

from ....raw.ctypes_support import CudnnEnum

__all__ = [
    "cudnnAddMode_t",
    "cudnnConvolutionBwdDataPreference_t",
    "cudnnConvolutionBwdFilterPreference_t",
    "cudnnConvolutionFwdPreference_t",
]


class cudnnConvolutionFwdPreference_t(CudnnEnum):
    CUDNN_CONVOLUTION_FWD_NO_WORKSPACE = 0
    CUDNN_CONVOLUTION_FWD_PREFER_FASTEST = 1
    CUDNN_CONVOLUTION_FWD_SPECIFY_WORKSPACE_LIMIT = 2


class cudnnConvolutionBwdFilterPreference_t(CudnnEnum):
    CUDNN_CONVOLUTION_BWD_FILTER_NO_WORKSPACE = 0
    CUDNN_CONVOLUTION_BWD_FILTER_PREFER_FASTEST = 1
    CUDNN_CONVOLUTION_BWD_FILTER_SPECIFY_WORKSPACE_LIMIT = 2


class cudnnConvolutionBwdDataPreference_t(CudnnEnum):
    CUDNN_CONVOLUTION_BWD_DATA_NO_WORKSPACE = 0
    CUDNN_CONVOLUTION_BWD_DATA_PREFER_FASTEST = 1
    CUDNN_CONVOLUTION_BWD_DATA_SPECIFY_WORKSPACE_LIMIT = 2


class cudnnAddMode_t(CudnnEnum):
    CUDNN_ADD_IMAGE = 0
    CUDNN_ADD_SAME_HW = 0
    CUDNN_ADD_FEATURE_MAP = 1
    CUDNN_ADD_SAME_CHW = 1
    CUDNN_ADD_SAME_C = 2
    CUDNN_ADD_FULL_TENSOR = 3
