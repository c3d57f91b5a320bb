"""What a call finds by C's declaration: memory, records, scalars, buffers and results."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from cudnn_ctypes import DeviceBuffer, raw, use_reference_device
from cudnn_ctypes.reference.device.call import Call
from cudnn_ctypes.reference.device.registry import Refused


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
