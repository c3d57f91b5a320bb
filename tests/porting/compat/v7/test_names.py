"""Which names `v7` has, and how each warns."""

from __future__ import annotations

import ctypes
import inspect
import os
import pickle
import re
from ctypes import byref, c_int, c_size_t
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import printed

from cudnn_ctypes import (
    BadParamError,
    ConvolutionDescriptor,
    DeviceTensor,
    FilterDescriptor,
    Handle,
    NotSupportedError,
    TensorDescriptor,
    raw,
)
from cudnn_ctypes.porting.compat import OldNameWarning, v7
from cudnn_ctypes.porting.compat import v7 as cudnn
from cudnn_ctypes.porting.compat.v7.declarations import parse
from cudnn_ctypes.raw.ctypes_support import CudnnEnum
from cudnn_ctypes.raw.descriptors import record
from cudnn_ctypes.raw.gone import OLD_STATUS_NUMBERS, changed, find, gone_names
from cudnn_ctypes.reference import convolution_forward

quiet = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")


@quiet
def test_every_gone_name_is_there_or_left_out_with_a_reason():
    for name in gone_names():
        if name in v7.left_out():
            assert v7.left_out()[name]
            with pytest.raises(AttributeError, match=re.escape(v7.left_out()[name])):
                getattr(v7, name)
            assert name not in v7.__all__
        else:
            assert getattr(v7, name) is not None
            assert name in v7.__all__


def test_only_what_cannot_be_is_left_out():
    """Besides the names of cuDNN 1."""
    others = {name for name in v7.left_out() if find(name).gone != "2.0"}
    passes = ("ForwardInference", "ForwardTraining", "BackwardData", "BackwardWeights")
    assert others == {
        *(f"cudnnFindRNN{each}AlgorithmEx" for each in passes),
        *(f"cudnnGetRNN{each}AlgorithmMaxCount" for each in passes),
        *(f"cudnn{each}AlgorithmPerformance" for each in ("Create", "Set", "Get", "Destroy")),
        "cudnnAlgorithmPerformance_t",
        *("cudnnSaveAlgorithm", "cudnnRestoreAlgorithm", "cudnnGetAlgorithmSpaceSize"),
        "CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_DENOM_FACTOR_MODE",
    }


def test_no_function_is_registered_that_is_not_old():
    for name in v7.functions:
        assert find(name) is not None or changed(name)
        assert name not in v7.left_out()


def test_what_is_not_gone_is_layer_1_s():
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
def test_numbers(name, number):
    assert getattr(v7, name) == number


@quiet
def test_types():
    assert issubclass(v7.cudnnAddMode_t, CudnnEnum)
    assert v7.cudnnRNNPaddingMode_t is ctypes.c_uint
    assert ctypes.sizeof(v7.cudnnAlgorithm_t) == ctypes.sizeof(ctypes.c_int)
    assert not v7.cudnnPersistentRNNPlan_t()


# -- warnings --------------------------------------------------------------------------------------


def test_a_constant_warns_once(warnings_again):
    vars(v7).pop("CUDNN_ADD_SAME_C", None)
    with pytest.warns(OldNameWarning, match="the shapes say what is added to what") as caught:
        assert v7.CUDNN_ADD_SAME_C == v7.CUDNN_ADD_SAME_C
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_program_sees_the_warning_as_it_is_run():
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


def test_importing_the_package_loads_neither_v7_nor_libcudnn():
    program = """
        import sys, cudnn_ctypes.compat
        print([name for name in sys.modules if name.startswith("cudnn_ctypes.porting.compat.v7")])
        from cudnn_ctypes.compat import v7
        print("libcudnn" in open("/proc/self/maps").read())
    """
    assert printed(program) == ["[]", "False"]


# -- what an old function tells ----------------------------------------------------------------


def test_an_old_function_tells_its_declaration():
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
def test_wrong_arguments_are_named():
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


def test_numbers_of_statuses_go_there_and_back():
    for number in (0, *OLD_STATUS_NUMBERS):
        status = v7.status_of_old_number(number)
        back = v7.old_status_number(status)
        assert v7.status_of_old_number(back) == status
        assert back == number or (back < number and status != raw.CUDNN_STATUS_SUCCESS)
    assert v7.old_status_number(raw.CUDNN_STATUS_ALLOC_FAILED) == 2
    assert v7.old_status_number(raw.CUDNN_STATUS_NOT_SUPPORTED) == 9


def test_statuses_that_only_cudnn_9_has_are_of_their_category():
    expected = {1: 1, 2: 3, 3: 9, 4: 4, 5: 8}
    old = {raw.cudnnStatus_t[name] for name in OLD_STATUS_NUMBERS.values()}
    new = set(raw.cudnnStatus_t) - old - {raw.CUDNN_STATUS_SUCCESS}
    assert len(new) > 20
    for status in new:
        assert v7.old_status_number(status) == expected[int(status) // 1000]


def test_a_number_that_no_status_had():
    with pytest.raises(ValueError, match="number: expected 0 to 14"):
        v7.status_of_old_number(2000)


# --- declarations of old functions, and cuDNN 8's headers ----------------------------------------


def test_a_declaration_is_read_as_c_means_it():
    prototype = parse(
        """
        cudnnOld(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xDesc[],
        const void *x, void *y, const int dims[], int *count, cudnnMathType_t *math, size_t bytes,
        void **address, const cudnnDataType_t type)
        """
    )
    kinds = [(p.name, p.type.kind, p.direction, p.type.base) for p in prototype.parameters]
    assert kinds == [
        ("handle", "value", "in", raw.cudnnHandle_t),
        ("alpha", "scalar", "in", None),
        ("xDesc", "array", "in", raw.cudnnTensorDescriptor_t),
        ("x", "device", "in", None),
        ("y", "device", "in/out", None),
        ("dims", "array", "in", ctypes.c_int),
        ("count", "pointer", "out", ctypes.c_int),
        ("math", "pointer", "out", raw.cudnnMathType_t),
        ("bytes", "value", "in", ctypes.c_size_t),
        ("address", "pointer", "out", ctypes.c_void_p),
        ("type", "value", "in", raw.cudnnDataType_t),
    ]
    assert str(prototype).startswith("cudnnStatus_t cudnnOld(cudnnHandle_t handle, const void *al")
    assert "const int dims[], int *count" in str(prototype)


def test_every_declaration_can_be_passed_to_c():
    """There is a converter for each parameter."""
    for function in v7.functions.values():
        for form in function._forms:
            assert len(form.argtypes) == len(form.parameters)


def declared(headers: Path) -> dict[str, list[tuple[str, bool, str]]]:
    """For each function of C headers: type, whether it is a pointer, and name of its parameters."""
    text = "".join(path.read_text() for path in sorted(headers.glob("cudnn*.h")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = {}
    for name, parameters in re.findall(r"\b(cudnn\w+)\(([^()]*)\);", text):
        words = [re.sub(r"\bconst\b|\s+", " ", each).split() for each in parameters.split(",")]
        found[name] = [
            (
                " ".join(each[:-1]).strip(" *"),
                "*" in "".join(each) or "[" in each[-1],
                each[-1].strip("*[]"),
            )
            for each in words
            if each
        ]
    return found


def base_type(declaration: str) -> str:
    """``size_t`` of ``const size_t *n``; C's unsigned is our unsigned int."""
    return declaration.removeprefix("const ").rpartition(" ")[0].replace("unsigned int", "unsigned")


def test_declarations_against_the_headers_of_cudnn_8():
    """Names, types and order of what 8 still had."""
    folder = os.environ.get("CUDNN_CTYPES_TEST_OLD_HEADERS")
    if not folder:
        pytest.skip("CUDNN_CTYPES_TEST_OLD_HEADERS names no folder with the headers of cuDNN 8")
    of_8 = declared(Path(folder))
    compared = 0
    for name, function in v7.functions.items():
        gone, parameters = find(name), function.parameters
        if gone is None or gone.gone != "9.0":
            continue
        ours = [(base_type(p.c_declaration), p.type.kind != "value", p.name) for p in parameters]
        theirs = [each for each in of_8[name] if each[2] != "void"]
        assert ours == theirs, name
        compared += 1
    assert compared > 40


# --- algorithms of convolutions by preference and limit of memory ---------------------------------


TYPES = {"float32": "CUDNN_DATA_FLOAT", "float64": "CUDNN_DATA_DOUBLE"}
DIRECTIONS = {
    "Forward": ("Fwd", "FWD"),
    "BackwardData": ("BwdData", "BWD_DATA"),
    "BackwardFilter": ("BwdFilter", "BWD_FILTER"),
}


class Convolution:
    """Descriptors of a convolution, in the order of each direction's functions."""

    def __init__(self, dtype: str = "float32") -> None:
        self.x = TensorDescriptor((2, 8, 14, 14), dtype)
        self.w = FilterDescriptor((16, 8, 3, 3), dtype)
        self.convolution = ConvolutionDescriptor(padding=1, compute_data_type=dtype)
        self.y = TensorDescriptor((2, 16, 14, 14), dtype)

    def operands(self, direction: str) -> tuple[Any, ...]:
        x, w, convolution, y = self.x, self.w, self.convolution, self.y
        return {
            "Forward": (x, w, convolution, y),
            "BackwardData": (w, y, convolution, x),
            "BackwardFilter": (x, y, convolution, w),
        }[direction]

    def choose(self, handle: Handle, direction: str, preference: str, limit: int = 0) -> Any:
        """The old call."""
        short, enumerators = DIRECTIONS[direction]
        algo = getattr(raw, f"cudnnConvolution{short}Algo_t")()
        chosen = getattr(cudnn, f"CUDNN_CONVOLUTION_{enumerators}_{preference}")
        get = getattr(cudnn, f"cudnnGetConvolution{direction}Algorithm")
        get(handle, *self.operands(direction), chosen, limit, byref(algo))
        return algo.value

    def sizes(self, handle: Handle, direction: str) -> list[tuple[Any, int]]:
        """Every algorithm that can be used, the one expected to be fastest first."""
        short, _ = DIRECTIONS[direction]
        perf = (getattr(raw, f"cudnnConvolution{short}AlgoPerf_t") * 16)()
        count, found = c_int(), []
        find = getattr(raw, f"cudnnGetConvolution{direction}Algorithm_v7")
        find(handle, *self.operands(direction), 16, count, perf)
        for each in perf[: count.value]:
            size = c_size_t()
            get = getattr(raw, f"cudnnGetConvolution{direction}WorkspaceSize")
            status = get.unchecked(handle, *self.operands(direction), each.algo, size)
            if not each.status and not status:
                found.append((each.algo, size.value))
        return found


@quiet
@pytest.mark.parametrize("dims", ["2d", "Nd"])
def test_a_program_that_gives_no_type_to_compute_in(handle, dims):
    """As for cuDNN 4: the tensors' type is it, also when the descriptor is used for another."""
    convolution = cudnn.cudnnConvolutionDescriptor_t()
    cudnn.cudnnCreateConvolutionDescriptor(convolution)
    mode = cudnn.CUDNN_CROSS_CORRELATION
    if dims == "2d":
        cudnn.cudnnSetConvolution2dDescriptor_v4(convolution, 1, 1, 1, 1, 1, 1, mode)
    else:
        cudnn.cudnnSetConvolutionNdDescriptor(convolution, 2, [1, 1], [1, 1], [1, 1], mode)
    for dtype, bound in (("float64", 1e-12), ("float32", 0.05), ("float64", 1e-12)):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((2, 3, 6, 7)).astype(dtype)
        w = rng.standard_normal((4, 3, 3, 3)).astype(dtype)
        expected = convolution_forward(x, w, padding=(1, 1))
        x_desc, y_desc = TensorDescriptor(x.shape, dtype), TensorDescriptor(expected.shape, dtype)
        w_desc, algo = FilterDescriptor(w.shape, dtype), raw.cudnnConvolutionFwdAlgo_t()
        descriptors = x_desc, w_desc, convolution, y_desc
        preference = cudnn.CUDNN_CONVOLUTION_FWD_NO_WORKSPACE
        cudnn.cudnnGetConvolutionForwardAlgorithm(handle, *descriptors, preference, 0, algo)
        assert record(convolution).compute_data_type.name == TYPES[dtype]
        y = DeviceTensor.full(expected.shape, float("nan"), dtype)
        operands = x_desc, DeviceTensor.from_numpy(x), w_desc, DeviceTensor.from_numpy(w)
        result = 0.0, y_desc, y
        status = cudnn.cudnnConvolutionForward.unchecked(
            handle, 1.0, *operands, convolution, algo.value, None, 0, *result
        )
        assert status == cudnn.CUDNN_STATUS_SUCCESS
        np.testing.assert_allclose(y.numpy(), expected, rtol=0, atol=bound)
    # What is set with a type keeps it.
    float32 = cudnn.CUDNN_DATA_FLOAT
    cudnn.cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1, mode, float32)
    size = c_size_t()
    ask = cudnn.cudnnGetConvolutionForwardWorkspaceSize.unchecked
    ask(handle, *descriptors, algo=algo.value, sizeInBytes=size)
    assert record(convolution).compute_data_type == float32
    cudnn.cudnnDestroyConvolutionDescriptor(convolution)


@quiet
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_preferences(handle, direction):
    convolution = Convolution()
    sizes = convolution.sizes(handle, direction)
    assert convolution.choose(handle, direction, "PREFER_FASTEST") == sizes[0][0]
    without = [algorithm for algorithm, size in sizes if size == 0]
    assert convolution.choose(handle, direction, "NO_WORKSPACE") == without[0]
    assert len({size for _, size in sizes}) > 1
    for limit in sorted({size for _, size in sizes}):
        for bytes_given in {limit, max(limit - 1, 0)}:
            within = [algorithm for algorithm, size in sizes if size <= bytes_given]
            got = convolution.choose(handle, direction, "SPECIFY_WORKSPACE_LIMIT", bytes_given)
            assert got == within[0]


@quiet
def test_no_algorithm(reference_handle):
    convolution = Convolution()
    convolution.y = TensorDescriptor((2, 16, 14, 14), "float64")
    with pytest.raises(NotSupportedError, match="no algorithm supports this convolution"):
        convolution.choose(reference_handle, "Forward", "PREFER_FASTEST")


@quiet
def test_null_and_status(reference_handle):
    operands = Convolution().operands("Forward")
    preference = cudnn.CUDNN_CONVOLUTION_FWD_PREFER_FASTEST
    choose = cudnn.cudnnGetConvolutionForwardAlgorithm
    with pytest.raises(BadParamError, match="algo is NULL"):
        choose(reference_handle, *operands, preference, 0, None)
    status = choose.unchecked(reference_handle, *operands, preference, 0, None)
    assert status == raw.CUDNN_STATUS_BAD_PARAM
    other = cudnn.CUDNN_CONVOLUTION_BWD_DATA_NO_WORKSPACE
    with pytest.raises(TypeError, match=r"'preference' .* a cudnnConvolutionFwdPreference_t"):
        choose(reference_handle, *operands, other, 0, raw.cudnnConvolutionFwdAlgo_t())
