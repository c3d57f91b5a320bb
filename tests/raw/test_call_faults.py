"""Rows of known faults about C functions: which calls they concern, and their programs."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import (
    FilterDescriptor,
    Handle,
    LRNDescriptor,
    TensorDescriptor,
    TensorTransformDescriptor,
    raw,
    use_reference_device,
)
from cudnn_ctypes.raw.faults.calls import faults_of_call
from cudnn_ctypes.raw.records import Call
from tools.fault_programs import CALLS


def _found(function: str, **arguments: Any) -> set[str]:
    call = Call(function, arguments)
    return {each.fault.name for each in faults_of_call(call, 91900) if not each.fault.data}


@pytest.mark.parametrize("strides", [None, (24, 1, 8)])
def test_operands_that_cudnn_takes_for_packed(strides: Any) -> None:
    with TensorDescriptor((2, 8, 3), strides=strides) as x, LRNDescriptor() as lrn:
        losses = _found("cudnnCTCLoss", probsDesc=x, gradientsDesc=None)
        neighbours = _found("cudnnLRNCrossChannelForward", xDesc=x, yDesc=x, normDesc=lrn)
    assert bool(losses) == bool(neighbours) == (strides is not None)


@pytest.mark.parametrize(
    ("source", "target", "beta", "drops"),
    [
        (("float64", "NCHW"), ("float32", "NHWC"), 0.5, True),
        (("float64", "NCHW"), ("float32", "NHWC"), 0.0, False),
        (("float64", "NHWC"), ("float32", "NHWC"), 0.5, False),
        (("float64", "NHWC"), ("float64", "NCHW"), 0.5, False),
        (("float32", "NHWC"), ("float64", "NCHW"), 0.5, False),
    ],
)
def test_a_transform_of_five_dimensions_out_of_double(
    source: Any, target: Any, beta: float, drops: bool
) -> None:
    shape = (1, 2, 4, 5, 3)
    with (
        TensorDescriptor(shape, source[0], layout=source[1]) as x,
        TensorDescriptor(shape, target[0], layout=target[1]) as y,
    ):
        arguments = {"xDesc": x, "yDesc": y, "beta": beta}
        found = faults_of_call(Call("cudnnTransformTensor", arguments), 91900)
    assert ("transform out of double" in {each.fault.name for each in found}) == drops


@pytest.mark.parametrize("kind", ["int8", "float16", "int8x32", "int8x4", "float32"])
def test_a_bias_beside_filters_of_another_size(kind: str) -> None:
    with FilterDescriptor((32, 32, 1, 1), kind) as w:
        arguments = {"filterDesc": w, "reorderType": raw.CUDNN_NO_REORDER}
        found = faults_of_call(Call("cudnnReorderFilterAndBias", arguments), 91900)
    assert bool(found) == (kind not in ("int8x4", "float32"))


def test_padding_of_a_destination_with_gaps() -> None:
    with (
        use_reference_device(),
        TensorDescriptor((1, 1, 1, 2)) as x,
        TensorDescriptor((1, 1, 1, 3), strides=(6, 6, 6, 2)) as gaps,
        TensorDescriptor((1, 1, 1, 3)) as dense,
        TensorTransformDescriptor((0, 0, 0, 1)) as pads,
        TensorTransformDescriptor((0, 0, 0, 0)) as copies,
    ):
        name = "cudnnTransformTensorEx"
        assert _found(name, transDesc=pads, srcDesc=x, destDesc=gaps)
        assert not _found(name, transDesc=pads, srcDesc=x, destDesc=dense)
        assert not _found(name, transDesc=copies, srcDesc=x, destDesc=gaps)


def test_a_bias_with_gaps() -> None:
    with (
        TensorDescriptor((1, 4, 1, 1), strides=(8, 2, 1, 1)) as gaps,
        TensorDescriptor((1, 4, 1, 1)) as dense,
    ):
        name = "cudnnConvolutionBiasActivationForward"
        assert _found(name, biasDesc=gaps)
        assert not _found(name, biasDesc=dense)


@pytest.mark.parametrize(
    "name",
    sorted({*CALLS} - {"CTC loss without a longest label", "largest of infinities below zero"}),
)
def test_programs_are_right_on_the_reference_device(name: str) -> None:
    with use_reference_device(), Handle() as handle:
        assert CALLS[name](handle)


def test_an_unprojected_value_of_several_heads() -> None:
    descriptor = raw.cudnnAttnDescriptor_t()
    raw.cudnnCreateAttnDescriptor(descriptor)
    try:
        for heads, projection, found in ((2, 0, True), (1, 0, False), (2, 3, False)):
            raw.cudnnSetAttnDescriptor(
                descriptor, 0, heads, 1.0, raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_FLOAT,
                raw.CUDNN_DEFAULT_MATH, None, None, 4, 4, 4, 4, 4, projection, 4, 3, 3, 1, 1,
            )  # fmt: skip
            assert bool(_found("cudnnMultiHeadAttnForward", attnDesc=descriptor)) == found
    finally:
        raw.cudnnDestroyAttnDescriptor(descriptor)
