"""What a call finds by C's declaration: memory, records, scalars, buffers and results."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, TensorDescriptor, raw, use_reference_device
from cudnn_ctypes.raw.descriptors import Tensor
from cudnn_ctypes.reference.device.call import Call
from cudnn_ctypes.reference.device.registry import Refused

IMAGE = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    with use_reference_device():
        yield


def call(name: str, **arguments: Any) -> Call:
    """A call with these arguments, NULL and 0 for the others."""
    function = raw.FUNCTIONS[name]
    plain = {
        p.name: 0
        if p.type.kind == "value" and not issubclass(p.type.base, ctypes._Pointer)
        else None
        for p in function.parameters
    }
    return Call(function, tuple({**plain, **arguments}.values()))


def test_an_operand_is_memory_and_the_record_of_its_descriptor() -> None:
    x = DeviceTensor.from_numpy(IMAGE)
    with TensorDescriptor(IMAGE.shape) as desc:
        given = call("cudnnDropoutForward", xdesc=desc, x=x)  # C writes it so
        operand = given.operand("x")
        assert (operand.name, operand.address, operand.shape) == ("x", x.ptr, IMAGE.shape)
        np.testing.assert_array_equal(operand.load(), IMAGE)
        assert given.operand("xdesc").address is None
        assert given.record("xdesc", Tensor).strides == (24, 12, 4, 1)
        backward = call("cudnnDivisiveNormalizationBackward", xDesc=desc, dy=x)
        assert backward.operand("dy").shape == IMAGE.shape  # described by xDesc


@pytest.mark.parametrize(("data_type", "ctype"), [("float64", "c_double"), ("float16", "c_float")])
def test_factors_are_read_in_the_type_that_the_tensor_asks_for(data_type: str, ctype: str) -> None:
    with TensorDescriptor((1, 1, 1, 2), data_type) as desc:
        number = getattr(ctypes, ctype)
        given = call(
            "cudnnSoftmaxForward", yDesc=desc, alpha=number(0.1), beta=ctypes.byref(number(2.0))
        )
        assert given.factors() == {"alpha": number(0.1).value, "beta": 2.0}
        assert given.factors("beta") == {"beta": 2.0}


def test_null_and_descriptors_that_were_never_set_are_refused_by_name() -> None:
    desc = raw.cudnnTensorDescriptor_t()
    raw.cudnnCreateTensorDescriptor(desc)
    given = call("cudnnSoftmaxForward", xDesc=desc, x=DeviceTensor.from_numpy(IMAGE))
    for names, message in (
        (["x"], "xDesc was created, but never set"),
        (["x", "y"], "y is NULL"),
    ):
        with pytest.raises(Refused, match=message) as refused:
            given.operands(*names)
        assert refused.value.status == raw.CUDNN_STATUS_BAD_PARAM
    with pytest.raises(Refused, match="alpha is NULL"):
        given.factors("alpha")
    raw.cudnnDestroyTensorDescriptor(desc)


def test_a_buffer_is_as_large_as_its_size_says() -> None:
    with DeviceBuffer(64) as workspace:
        workspace.fill(0)
        given = call("cudnnConvolutionForward", workSpace=workspace, workSpaceSizeInBytes=32)
        given.use_workspace("workSpace", 32)
        contents = workspace.copy_to_host()
        assert contents[:32].all()
        assert not contents[32:].any()
        with pytest.raises(Refused, match=r"workSpaceSizeInBytes = 32 is less than the 33 bytes"):
            given.buffer("workSpace", 33)


def test_results_are_put_through_pointers() -> None:
    size = ctypes.c_size_t()
    given = call("cudnnGetRNNTempSpaceSizes", workSpaceSize=size)
    given.offer(workSpaceSize=7, reserveSpaceSize=8)  # which is NULL
    assert size.value == 7
    with pytest.raises(Refused, match="reserveSpaceSize is NULL"):
        given.put(workSpaceSize=9, reserveSpaceSize=9)
    assert size.value == 7


def test_functions_of_a_family_name_things_differently() -> None:
    assert call("cudnnBatchNormalizationBackward").named("x", "xData") == "x"
    assert call("cudnnNormalizationBackward").named("x", "xData") == "xData"
    with pytest.raises(ValueError, match="not enough values"):
        call("cudnnSoftmaxForward").named("z", "zData")
