"""The numeric macros of cuDNN 9.28.0.

The macros, with the expressions that C has for them, by header.

Generated from the cuDNN headers by ``python -m tools.generate``; do not edit.
"""

from __future__ import annotations

from .enums import CUDNN_SEV_ERROR, CUDNN_SEV_INFO, CUDNN_SEV_WARNING, cudnnStatus_t

# --- cudnn_version.h ---

CUDNN_MAJOR = 9
CUDNN_MINOR = 28
CUDNN_PATCHLEVEL = 0
CUDNN_VERSION = CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL
CUDNN_MAX_SM_MAJOR_NUMBER = 12
CUDNN_MAX_SM_MINOR_NUMBER = 1
CUDNN_MAX_DEVICE_VERSION = CUDNN_MAX_SM_MAJOR_NUMBER * 100 + CUDNN_MAX_SM_MINOR_NUMBER * 10

# --- cudnn_graph.h ---

CUDNN_GRAPH_MAJOR = 9
CUDNN_GRAPH_MINOR = 28
CUDNN_GRAPH_PATCH = 0


def CUDNN_STATUS_FULL_ERROR_CODE(category: int, specific_err: int) -> cudnnStatus_t:
    return cudnnStatus_t(0 + category + specific_err)


def CUDNN_STATUS_CATEGORY(full_error_code: int) -> int:
    return full_error_code // 1000 * 1000


def CUDNN_STATUS_SPECIFIC_ERROR(full_error_code: int) -> int:
    return full_error_code % 1000


CUDNN_SEV_ERROR_EN = 1 << CUDNN_SEV_ERROR
CUDNN_SEV_WARNING_EN = 1 << CUDNN_SEV_WARNING
CUDNN_SEV_INFO_EN = 1 << CUDNN_SEV_INFO
CUDNN_DIM_MAX = 8

# --- cudnn_ops.h ---

CUDNN_OPS_MAJOR = 9
CUDNN_OPS_MINOR = 28
CUDNN_OPS_PATCH = 0
CUDNN_LRN_MIN_N = 1
CUDNN_LRN_MAX_N = 16
CUDNN_LRN_MIN_K = 1e-05
CUDNN_LRN_MIN_BETA = 0.01
CUDNN_BN_MIN_EPSILON = 0.0

# --- cudnn_cnn.h ---

CUDNN_CNN_MAJOR = 9
CUDNN_CNN_MINOR = 28
CUDNN_CNN_PATCH = 0

# --- cudnn_adv.h ---

CUDNN_ADV_MAJOR = 9
CUDNN_ADV_MINOR = 28
CUDNN_ADV_PATCH = 0
CUDNN_RNN_PADDED_IO_DISABLED = 0
CUDNN_RNN_PADDED_IO_ENABLED = 1 << 0
CUDNN_SEQDATA_DIM_COUNT = 4
CUDNN_ATTN_QUERYMAP_ALL_TO_ONE = 0
CUDNN_ATTN_QUERYMAP_ONE_TO_ONE = 1 << 0
CUDNN_ATTN_DISABLE_PROJ_BIASES = 0
CUDNN_ATTN_ENABLE_PROJ_BIASES = 1 << 1
CUDNN_ATTN_WKIND_COUNT = 8
