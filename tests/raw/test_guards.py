"""NULL where cuDNN does not look: a status as from cuDNN's other functions, never a crash."""

from __future__ import annotations

from ctypes import POINTER, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import pytest
from programs import fuzz

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw.ctypes_support import OpaquePointer, storage_type
from cudnn_ctypes.raw.parameter import Parameter

GUARDED = [
    (function.__name__, p.name)
    for function in raw.FUNCTIONS.values()
    for p in function.parameters
    if p.type.null is False and p.type.base is not raw.cudnnHandle_t
]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs fork")
@pytest.mark.soak
def test_no_null_crashes_the_interpreter() -> None:
    lines = fuzz("nulls", "--guarded").splitlines()
    assert int(lines[0].split()[0]) > 3000
    assert lines[1:] == ["Not declared as NotNull:"]


@pytest.mark.gpu
def test_no_null_crashes_the_interpreter_with_a_handle() -> None:
    """The same command; with a GPU its calls get a real handle and device memory."""
    assert fuzz("nulls", "--guarded").splitlines()[1:] == ["Not declared as NotNull:"]


def stand_in(parameter: Parameter) -> Any:
    """An argument of the right type, NULL for handles."""
    base, kind = parameter.type.base, parameter.type.kind
    if kind in ("device", "host", "scalar"):
        return None
    if kind == "array":
        return (storage_type(base) * 8)()
    if kind == "pointer":
        return storage_type(base)()
    return base() if issubclass(base, OpaquePointer) else 0 if issubclass(base, int) else base(1)


def test_a_null_handle_is_refused_everywhere() -> None:
    for name, function in raw.FUNCTIONS.items():
        parameters = function.parameters
        if parameters and parameters[0].type.base is raw.cudnnHandle_t and "Destroy" not in name:
            arguments = [stand_in(p) for p in parameters]
            if name == "cudnnCreate" or raw.load().optional_symbol(name) is None:
                continue
            with pytest.raises(cudnn.BadParamError) as caught:
                function(*arguments)
            assert "handle is NULL" in caught.value.messages, name
            assert "handle" in caught.value.hint


POINTERS = [
    (function, p)
    for function, name in GUARDED
    for p in raw.FUNCTIONS[function].parameters
    if p.name == name and p.type.kind != "value" and function != "cudnnGetLastErrorString"
]


def test_a_null_of_a_pointer_type_is_null() -> None:
    for function, p in POINTERS:
        callee = raw.FUNCTIONS[function]
        arguments = {p.name: stand_in(p) for p in callee.parameters}
        base, parameter = p.type.base, p.name
        arguments[parameter] = POINTER(storage_type(base))() if base else c_void_p()
        with pytest.raises(cudnn.BadParamError) as caught:
            callee(**arguments)
        assert f"{parameter} is NULL" in caught.value.messages


@pytest.mark.parametrize("number", [1, 0xFFFF, True, raw.CUDNN_PTR_16B_ALIGNED, -1])
def test_small_numbers_are_no_addresses_of_host_memory(new: Any, number: int) -> None:
    pack = new(raw.cudnnFusedOpsConstParamPack_t, 0)
    label = raw.CUDNN_PARAM_XDATA_PLACEHOLDER
    with pytest.raises(TypeError, match="'param'"):
        raw.cudnnSetFusedOpsConstParamPackAttribute(pack, label, number)
    backend = raw.cudnnBackendDescriptor_t()
    raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, backend)
    attribute = raw.CUDNN_ATTR_TENSOR_UNIQUE_ID
    with pytest.raises(TypeError, match="'arrayOfElements'"):
        raw.cudnnBackendSetAttribute(backend, attribute, raw.CUDNN_TYPE_INT64, 1, number)
    raw.cudnnBackendDestroyDescriptor(backend)


class OfAGpu:
    """Memory that says it is a GPU's."""

    on_host = False
    nbytes = 64
    _as_parameter_ = c_void_p(1 << 40)


def test_memory_of_a_gpu_is_no_host_memory(new: Any) -> None:
    operation = raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS
    pack, variants = (
        new(kind, operation)
        for kind in (raw.cudnnFusedOpsConstParamPack_t, raw.cudnnFusedOpsVariantParamPack_t)
    )
    tensor = raw.cudnnBackendDescriptor_t()
    raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, tensor)
    name, type_ = raw.CUDNN_ATTR_TENSOR_UNIQUE_ID, raw.CUDNN_TYPE_INT64
    with pytest.raises(TypeError, match=r"'arrayOfElements'.*host memory"):
        raw.cudnnBackendSetAttribute(tensor, name, type_, 1, OfAGpu())
    for label in (raw.CUDNN_PARAM_BN_MODE, raw.CUDNN_PARAM_XDESC):
        with pytest.raises(TypeError, match=r"'param': .* takes host memory"):
            raw.cudnnSetFusedOpsConstParamPackAttribute(pack, label, OfAGpu())
    with (
        cudnn.use_reference_device(),
        cudnn.Handle() as handle,
        cudnn.TensorDescriptor((1, 2, 3, 4)) as desc,
        cudnn.DeviceTensor.zeros((1, 2, 3, 4), "float32") as y,
        pytest.raises(TypeError, match=r"'alpha'.*on the host"),
    ):
        raw.cudnnScaleTensor(handle, desc, y, OfAGpu())
    with pytest.raises(TypeError, match=r"'ptr': .* takes host memory"):
        raw.cudnnGetFusedOpsVariantParamPackAttribute(variants, raw.CUDNN_PTR_XDATA, OfAGpu())
    raw.cudnnBackendDestroyDescriptor(tensor)


@pytest.mark.parametrize(
    ("labels", "label_lengths", "input_lengths", "short"),
    [
        ([1, 2, 3], [1, 2], [5, 5], ""),
        ([1, 2], [1, 2], [5, 5], "'labels': 3 elements expected, the sum of labelLengths, got 2"),
        ([1, 2, 3], [1], [5, 5], "'labelLengths': 2 elements expected"),
        ([1, 2, 3], [1, 2], [5], "'inputLengths': 2 elements expected"),
    ],
)
def test_labels_of_a_ctc_loss_are_counted(labels, label_lengths, input_lengths, short):
    with (
        cudnn.use_reference_device(),
        cudnn.Handle() as handle,
        cudnn.TensorDescriptor((5, 2, 4), strides=(8, 4, 1)) as probs,
        cudnn.CTCLossDescriptor() as ctc,
    ):
        arguments = (handle, probs, probs, labels, label_lengths, input_lengths, 0, ctc, c_size_t())
        if short:
            with pytest.raises(ValueError, match=short):
                raw.cudnnGetCTCLossWorkspaceSize(*arguments)
        else:
            raw.cudnnGetCTCLossWorkspaceSize(*arguments)
