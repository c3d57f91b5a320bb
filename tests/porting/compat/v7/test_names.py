"""Which names `v7` has, and how each warns."""

from __future__ import annotations

import ctypes
import inspect
import pickle
import re
import warnings

import pytest
from programs import printed

from cudnn_ctypes import raw
from cudnn_ctypes.porting.compat import OldNameWarning, v7
from cudnn_ctypes.raw.ctypes_support import CudnnEnum
from cudnn_ctypes.raw.functions import __all__ as FUNCTIONS
from cudnn_ctypes.raw.gone import changed, find, gone_names
from cudnn_ctypes.raw.gone_table import OLD_STATUS_NUMBERS

quiet = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")


@quiet
def test_every_gone_name_is_there_or_left_out_with_a_reason() -> None:
    for name in gone_names():
        if name in v7.left_out():
            assert v7.left_out()[name]
            with pytest.raises(AttributeError, match=re.escape(v7.left_out()[name])):
                getattr(v7, name)
            assert name not in v7.__all__
        else:
            assert getattr(v7, name) is not None
            assert name in v7.__all__


def test_only_what_cannot_be_is_left_out() -> None:
    """Besides the names of cuDNN 1."""
    others = {name for name in v7.left_out() if find(name).gone != "2.0"}
    passes = ("ForwardInference", "ForwardTraining", "BackwardData", "BackwardWeights")
    assert others == {
        *(f"cudnnFindRNN{each}AlgorithmEx" for each in passes),
        *(f"cudnnGetRNN{each}AlgorithmMaxCount" for each in passes),
        *("cudnnSaveAlgorithm", "cudnnRestoreAlgorithm", "cudnnGetAlgorithmSpaceSize"),
        "CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_DENOM_FACTOR_MODE",
    }


def test_no_function_is_registered_that_is_not_old() -> None:
    for name in v7.functions:
        assert find(name) is not None or changed(name)
        assert name not in v7.left_out()


def test_functions_that_had_other_parameters_take_both() -> None:
    for name in FUNCTIONS:
        if changed(name):
            old = getattr(v7, name)
            assert len(old.forms) == 1
            same_count = "Activation" in name  # with a mode in place of the descriptor
            assert (len(old.parameters) == len(getattr(raw, name).parameters)) == same_count


def test_what_is_not_gone_is_layer_1_s() -> None:
    assert v7.cudnnCreate is raw.cudnnCreate
    assert v7.cudnnConvolutionForward.parameters == raw.cudnnConvolutionForward.parameters
    assert v7.cudnnConvolutionForward is v7.cudnnConvolutionForward
    assert v7.CUDNN_STATUS_BAD_PARAM is raw.CUDNN_STATUS_BAD_PARAM
    assert {name for name in raw.__all__ if name.startswith("cudnn")} <= set(v7.__all__)
    with pytest.raises(AttributeError, match="did you mean cudnnCreateTensorDescriptor"):
        v7.cudnnCreateTensorDescriptr  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'constant'"):
        v7.constant  # noqa: B018


@quiet
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("CUDNN_CONVOLUTION_FWD_NO_WORKSPACE", 0),
        ("CUDNN_CONVOLUTION_BWD_DATA_PREFER_FASTEST", 1),
        ("CUDNN_CONVOLUTION_BWD_FILTER_SPECIFY_WORKSPACE_LIMIT", 2),
        ("CUDNN_ADD_IMAGE", 0),
        ("CUDNN_ADD_SAME_HW", 0),
        ("CUDNN_ADD_FEATURE_MAP", 1),
        ("CUDNN_ADD_SAME_CHW", 1),
        ("CUDNN_ADD_SAME_C", 2),
        ("CUDNN_ADD_FULL_TENSOR", 3),
        ("CUDNN_SM_50", 500),
        ("CUDNN_SM_90", 900),
        ("CUDNN_SM_9X_END", 999),
        ("CUDNN_MIN_DEVICE_VERSION", 500),
        ("CUDNN_OPS_INFER_MAJOR", raw.CUDNN_MAJOR),
        ("CUDNN_ADV_TRAIN_PATCH", raw.CUDNN_PATCHLEVEL),
    ],
)
def test_numbers(name: str, number: int) -> None:
    assert getattr(v7, name) == number


@quiet
def test_types() -> None:
    assert issubclass(v7.cudnnAddMode_t, CudnnEnum)
    assert v7.cudnnRNNPaddingMode_t is ctypes.c_uint
    assert ctypes.sizeof(v7.cudnnAlgorithm_t) == ctypes.sizeof(ctypes.c_int)
    assert not v7.cudnnPersistentRNNPlan_t()


# -- warnings --------------------------------------------------------------------------------------


def test_a_function_warns_once_with_the_new_call(warnings_again: None) -> None:
    algo = raw.cudnnMathType_t()
    descriptor = raw.cudnnRNNDescriptor_t()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            v7.cudnnGetRNNMatrixMathType.unchecked(descriptor, algo)
    assert [each.category for each in caught] == [OldNameWarning]
    assert "cudnnGetRNNMatrixMathType is gone since cuDNN 9.0" in str(caught[0].message)
    assert "cudnnGetRNNDescriptor_v8(rnnDesc, algo, cellMode" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_a_constant_warns_once(warnings_again: None) -> None:
    vars(v7).pop("CUDNN_ADD_SAME_C", None)
    with pytest.warns(OldNameWarning, match="the shapes say what is added to what") as caught:
        assert v7.CUDNN_ADD_SAME_C == v7.CUDNN_ADD_SAME_C
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_function_that_is_still_there_warns_of_its_old_parameters_only(
    warnings_again: None,
) -> None:
    w = raw.cudnnFilterDescriptor_t()
    raw.cudnnCreateFilterDescriptor(w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v7.cudnnSetFilter4dDescriptor(w, raw.CUDNN_DATA_FLOAT, raw.CUDNN_TENSOR_NHWC, 1, 2, 3, 4)
    with pytest.warns(OldNameWarning, match="has other parameters in cuDNN 9: before 5.0 without"):
        v7.cudnnSetFilter4dDescriptor(w, raw.CUDNN_DATA_FLOAT, 1, 2, 3, 4)
    raw.cudnnDestroyFilterDescriptor(w)


def test_a_program_sees_the_warning_as_it_is_run() -> None:
    """Python shows deprecation warnings of the main program only; the place must be the caller."""
    program = """
        import warnings
        shown = []
        warnings.showwarning = lambda message, category, file, line, *_: shown.append((file, line))
        from cudnn_ctypes.compat import v7 as cudnn
        cudnn.cudnnAddMode_t
        print(shown)
    """
    assert re.fullmatch(r"\[\('<string>', \d+\)\]", printed(program)[0])


def test_importing_the_package_loads_neither_v7_nor_libcudnn() -> None:
    program = """
        import sys, cudnn_ctypes.compat
        print([name for name in sys.modules if name.startswith("cudnn_ctypes.porting.compat.v7")])
        from cudnn_ctypes.compat import v7
        print("libcudnn" in open("/proc/self/maps").read())
    """
    assert printed(program) == ["[]", "False"]


# -- what an old function tells ----------------------------------------------------------------


def test_an_old_function_tells_its_declaration() -> None:
    size = v7.cudnnGetRNNParamsSize
    assert size.prototype == (
        "cudnnStatus_t cudnnGetRNNParamsSize(cudnnHandle_t handle, const cudnnRNNDescriptor_t "
        "rnnDesc, const cudnnTensorDescriptor_t xDesc, size_t *sizeInBytes, cudnnDataType_t "
        "dataType)"
    )
    assert list(inspect.signature(size).parameters)[2:4] == ["xDesc", "sizeInBytes"]
    assert "cudnnGetRNNWeightSpaceSize(handle, rnnDesc, weightSpaceSize)" in size.__doc__
    assert pickle.loads(pickle.dumps(size)) is size
    assert len(v7.cudnnSetRNNDescriptor.forms) == 2


@quiet
def test_wrong_arguments_are_named() -> None:
    rnn, size = raw.cudnnRNNDescriptor_t(), ctypes.c_size_t()
    with pytest.raises(TypeError, match=r"cudnnGetRNNParamsSize\(\) missing a required"):
        v7.cudnnGetRNNParamsSize(None, rnn)
    with pytest.raises(TypeError, match=r"argument 'rnnDesc' .* expected a cudnnRNNDescriptor_t"):
        v7.cudnnGetRNNParamsSize(None, size, None, size, raw.CUDNN_DATA_FLOAT)
    with pytest.raises(TypeError, match=r"argument 'dataType' .* expected a cudnnDataType_t"):
        v7.cudnnGetRNNParamsSize(None, rnn, None, size, raw.CUDNN_TENSOR_NHWC)
    with pytest.raises(TypeError, match=r"argument 'sizeInBytes' .* a pointer to size_t"):
        v7.cudnnGetRNNParamsSize(None, rnn, None, 8, raw.CUDNN_DATA_FLOAT)


# -- numbers of statuses -------------------------------------------------------------------------


def test_numbers_of_statuses_go_there_and_back() -> None:
    for number in (0, *OLD_STATUS_NUMBERS):
        status = v7.status_of_old_number(number)
        back = v7.old_status_number(status)
        assert v7.status_of_old_number(back) == status
        assert back == number or (back < number and status != raw.CUDNN_STATUS_SUCCESS)
    assert v7.old_status_number(raw.CUDNN_STATUS_ALLOC_FAILED) == 2
    assert v7.old_status_number(raw.CUDNN_STATUS_NOT_SUPPORTED) == 9


def test_statuses_that_only_cudnn_9_has_are_of_their_category() -> None:
    expected = {1: 1, 2: 3, 3: 9, 4: 4, 5: 8}
    old = {raw.cudnnStatus_t[name] for name in OLD_STATUS_NUMBERS.values()}
    new = set(raw.cudnnStatus_t) - old - {raw.CUDNN_STATUS_SUCCESS}
    assert len(new) > 20
    for status in new:
        assert v7.old_status_number(status) == expected[int(status) // 1000]


def test_a_number_that_no_status_had() -> None:
    with pytest.raises(ValueError, match="number: expected 0 to 14"):
        v7.status_of_old_number(2000)
