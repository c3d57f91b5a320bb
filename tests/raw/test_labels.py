"""What the labels of fused operations take, at the level of the C calls."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from cudnn_ctypes import TensorDescriptor, raw

OPERATION = raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS


@pytest.fixture
def constants(new: Any) -> Any:
    return new(raw.cudnnFusedOpsConstParamPack_t, OPERATION)


@pytest.fixture
def variants(new: Any) -> Any:
    return new(raw.cudnnFusedOpsVariantParamPack_t, OPERATION)


def test_a_descriptor_is_copied_in_and_out(constants: Any) -> None:
    """Many times: a descriptor passed by its address instead would corrupt the heap."""
    get, put = (getattr(raw, f"cudnn{do}FusedOpsConstParamPackAttribute") for do in ("Get", "Set"))
    label, is_null = raw.CUDNN_PARAM_XDESC, ctypes.c_int(-1)
    for _ in range(100):
        with TensorDescriptor((2, 8, 4, 4), "float16", layout="NHWC") as x, TensorDescriptor() as y:
            get(constants, label, y, is_null)
            put(constants, label, x)
            get(constants, label, y, is_null)
            assert is_null.value == 0
            assert y == x
            put(constants, label, None)
            get(constants, label, y, is_null)
            assert is_null.value == 1


def test_descriptors_of_another_kind_are_refused(constants: Any) -> None:
    filters = raw.cudnnFilterDescriptor_t()
    for function, rest in (
        (raw.cudnnSetFusedOpsConstParamPackAttribute, ()),
        (raw.cudnnGetFusedOpsConstParamPackAttribute, (ctypes.c_int(),)),
    ):
        with pytest.raises(TypeError, match="CUDNN_PARAM_XDESC takes a cudnnTensorDescriptor_t"):
            function(constants, raw.CUDNN_PARAM_XDESC, filters, *rest)
        with pytest.raises(TypeError, match="CUDNN_PARAM_WDESC takes a cudnnFilterDescriptor_t"):
            function(constants, int(raw.CUDNN_PARAM_WDESC), raw.cudnnTensorDescriptor_t(), *rest)


def test_variables_that_are_too_small_are_refused(constants: Any, variants: Any) -> None:
    label = raw.CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES
    with pytest.raises(ValueError, match="WORKSPACE_SIZE_IN_BYTES takes 8 bytes, got 4"):
        raw.cudnnSetFusedOpsVariantParamPackAttribute(variants, label, ctypes.c_int())
    with pytest.raises(ValueError, match="CUDNN_PTR_XDATA takes 8 bytes, got 4"):
        raw.cudnnGetFusedOpsVariantParamPackAttribute(variants, raw.CUDNN_PTR_XDATA, ctypes.c_int())
    with pytest.raises(ValueError, match="BN_MODE takes 4 bytes, got 1"):
        raw.cudnnSetFusedOpsConstParamPackAttribute(
            constants, raw.CUDNN_PARAM_BN_MODE, ctypes.c_char()
        )
