"""Which names ``libcudnn`` has, how it fails, and what it warns of."""

from __future__ import annotations

import ctypes
import warnings

import pytest

from cudnn_ctypes import BadParamError, raw
from cudnn_ctypes.porting.compat import OldNameWarning, libcudnn, v7
from cudnn_ctypes.raw.gone import find

quiet = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")

# What the wrapper has, from its source for cuDNN 2 and for cuDNN 4.
FUNCTIONS = """
    cudnnActivationBackward cudnnActivationForward cudnnAddTensor cudnnCheckStatus
    cudnnConvolutionBackwardBias cudnnConvolutionBackwardData cudnnConvolutionBackwardFilter
    cudnnConvolutionForward cudnnCreate cudnnCreateConvolutionDescriptor
    cudnnCreateFilterDescriptor cudnnCreatePoolingDescriptor cudnnCreateTensorDescriptor
    cudnnDestroy cudnnDestroyConvolutionDescriptor cudnnDestroyFilterDescriptor
    cudnnDestroyPoolingDescriptor cudnnDestroyTensorDescriptor
    cudnnFindConvolutionBackwardDataAlgorithm cudnnFindConvolutionBackwardFilterAlgorithm
    cudnnFindConvolutionForwardAlgorithm cudnnGetConvolution2dDescriptor
    cudnnGetConvolution2dForwardOutputDim cudnnGetConvolutionBackwardDataAlgorithm
    cudnnGetConvolutionBackwardDataWorkspaceSize cudnnGetConvolutionBackwardFilterAlgorithm
    cudnnGetConvolutionBackwardFilterWorkspaceSize cudnnGetConvolutionForwardAlgorithm
    cudnnGetConvolutionForwardWorkspaceSize cudnnGetFilter4dDescriptor
    cudnnGetPooling2dDescriptor cudnnGetStream cudnnGetTensor4dDescriptor cudnnGetVersion
    cudnnPoolingBackward cudnnPoolingForward cudnnScaleTensor
    cudnnSetConvolution2dDescriptor cudnnSetConvolutionNdDescriptor
    cudnnSetFilter4dDescriptor cudnnSetPooling2dDescriptor cudnnSetStream cudnnSetTensor
    cudnnSetTensor4dDescriptor cudnnSetTensor4dDescriptorEx cudnnSoftmaxBackward
    cudnnSoftmaxForward cudnnTransformTensor
"""
OTHERS = """
    cudnnActivationMode cudnnAddMode cudnnConvolutionBwdDataAlgo
    cudnnConvolutionBwdDataAlgoPerf cudnnConvolutionBwdDataPreference
    cudnnConvolutionBwdFilterAlgo cudnnConvolutionBwdFilterAlgoPerf
    cudnnConvolutionBwdFilterPreference cudnnConvolutionFwdAlgo cudnnConvolutionFwdAlgoPerf
    cudnnConvolutionFwdPreference cudnnConvolutionMode cudnnDataType cudnnError
    cudnnExceptions cudnnNanPropagation cudnnPoolingMode cudnnSoftmaxAlgorithm
    cudnnSoftmaxMode cudnnStatusAllocFailed cudnnStatusArchMismatch cudnnStatusBadParam
    cudnnStatusExecutionFailed cudnnStatusInternalError cudnnStatusInvalidValue
    cudnnStatusLicenseError cudnnStatusMappingError cudnnStatusNotInitialized
    cudnnStatusNotSupported cudnnTensorFormat
"""


@quiet
def test_every_name_of_the_wrapper_is_there_and_no_other() -> None:
    assert set(libcudnn.__all__) == {*FUNCTIONS.split(), *OTHERS.split()}
    for name in libcudnn.__all__:
        assert getattr(libcudnn, name) is not None


def test_each_function_takes_what_its_call_takes() -> None:
    for function in libcudnn.FUNCTIONS.values():
        for (signature, name, _), called in zip(function._ways, function.calls, strict=True):
            target = v7.functions[name].quiet if find(name) else raw.FUNCTIONS[called]
            wanted = [p for p in target.parameters if p.type.kind != "pointer"]
            missing = {"cudnnSetConvolutionNdDescriptor": 1}.get(called, 0)
            missing += called.startswith("cudnnFind")  # the array of results
            assert len(signature.parameters) == len(wanted) - missing, function


@quiet
def test_dictionaries_have_the_numbers_of_c() -> None:
    assert libcudnn.cudnnDataType["CUDNN_DATA_DOUBLE"] == 1
    assert libcudnn.cudnnAddMode == {
        "CUDNN_ADD_IMAGE": 0,
        "CUDNN_ADD_SAME_HW": 0,
        "CUDNN_ADD_FEATURE_MAP": 1,
        "CUDNN_ADD_SAME_CHW": 1,
        "CUDNN_ADD_SAME_C": 2,
        "CUDNN_ADD_FULL_TENSOR": 3,
    }
    assert libcudnn.cudnnConvolutionFwdPreference["CUDNN_CONVOLUTION_FWD_PREFER_FASTEST"] == 1
    assert all(type(number) is int for number in libcudnn.cudnnPoolingMode.values())


@quiet
def test_a_call_that_fails_raises_by_the_old_number() -> None:
    descriptor = libcudnn.cudnnCreateTensorDescriptor()
    with pytest.raises(libcudnn.cudnnStatusBadParam, match="CUDNN_STATUS_BAD_PARAM") as error:
        libcudnn.cudnnSetTensor4dDescriptor(descriptor, 0, 0, -1, 3, 4, 5)
    assert isinstance(error.value, libcudnn.cudnnError)
    assert error.value.status == 3
    assert isinstance(error.value.__cause__, BadParamError)
    libcudnn.cudnnDestroyTensorDescriptor(descriptor)


@quiet
def test_what_was_destroyed_is_refused() -> None:
    descriptor = libcudnn.cudnnCreateTensorDescriptor()
    libcudnn.cudnnDestroyTensorDescriptor(ctypes.c_void_p(descriptor))
    for use in (libcudnn.cudnnDestroyTensorDescriptor, libcudnn.cudnnGetTensor4dDescriptor):
        with pytest.raises(libcudnn.cudnnStatusBadParam, match="which is destroyed"):
            use(descriptor)


def test_statuses_by_number() -> None:
    assert libcudnn.cudnnCheckStatus(0) is None
    with pytest.raises(libcudnn.cudnnStatusNotSupported) as error:
        libcudnn.cudnnCheckStatus(9)
    assert "NOT_SUPPORTED" in str(error.value)
    assert libcudnn.cudnnExceptions[8] is libcudnn.cudnnStatusExecutionFailed


@quiet
def test_names_of_cudnn_1_say_what_became_of_them() -> None:
    with pytest.raises(AttributeError, match=r"cudnnSetFilterDescriptor is gone since cuDNN 2\.0"):
        libcudnn.cudnnSetFilterDescriptor  # noqa: B018
    with pytest.raises(TypeError, match=r"cudnnSetTensor4dDescriptor\(\) missing"):
        libcudnn.cudnnSetTensor4dDescriptor(1, 2)


def test_each_name_warns_once_with_its_modern_form(warnings_again: None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            w = libcudnn.cudnnCreateFilterDescriptor()
            libcudnn.cudnnSetFilter4dDescriptor(
                w, libcudnn.cudnnDataType["CUDNN_DATA_FLOAT"], 1, 1, 1, 1
            )
            libcudnn.cudnnDestroyFilterDescriptor(w)
    assert [each.category for each in caught] == [OldNameWarning] * 4
    assert {each.filename for each in caught} == {__file__}
    texts = " ".join(str(each.message) for each in caught)
    assert "cudnnCreateFilterDescriptor(filterDesc)" in texts
    assert "cudnnSetFilter4dDescriptor(filterDesc, dataType, format, k, c, h, w)" in texts
    assert "cudnn_ctypes.raw.cudnnDataType_t and its members" in texts
