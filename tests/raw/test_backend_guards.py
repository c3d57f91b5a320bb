"""Backend calls that end the process in cuDNN 9.28 are refused with the reason."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_bool, c_int, c_int32, c_int64, c_void_p
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from programs import fuzz

from cudnn_ctypes import BadParamError, ClosedError, CudnnError, NotSupportedError, raw
from cudnn_ctypes.raw import library, live
from cudnn_ctypes.raw.guards import backend
from tools.fuzz.descriptors import Workshop

TENSOR, INT64 = raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, raw.CUDNN_TYPE_INT64
DESCRIPTOR = raw.CUDNN_TYPE_BACKEND_DESCRIPTOR


@pytest.fixture(scope="module")
def shop() -> Workshop:
    return Workshop()


def created(kind: Any = TENSOR) -> Any:
    descriptor = raw.cudnnBackendDescriptor_t()
    raw.cudnnBackendCreateDescriptor(kind, descriptor)
    return descriptor


@pytest.fixture
def tensor() -> Iterator[Any]:
    descriptor = created()
    yield descriptor
    raw.cudnnBackendDestroyDescriptor(descriptor)


def entries(*descriptors: Any) -> Any:
    values = [getattr(each, "_as_parameter_", each) for each in descriptors]
    return (c_void_p * len(values))(*(value.value if value else None for value in values))


def handle(descriptor: Any) -> Any:
    return descriptor._as_parameter_


@pytest.mark.parametrize("count", [-1, -(2**63)])
def test_negative_counts(tensor: Any, count: int) -> None:
    name, memory = raw.CUDNN_ATTR_TENSOR_DIMENSIONS, (c_int64 * 4)()
    with pytest.raises(BadParamError, match=f"cudnn_ctypes: {count} elements of .* do not exist"):
        raw.cudnnBackendSetAttribute(tensor, name, INT64, count, memory)


def test_counts_that_no_memory_holds(tensor: Any) -> None:
    name = raw.CUDNN_ATTR_TENSOR_DIMENSIONS
    memory = (c_int64 * 4)()
    with pytest.raises(ValueError, match="'arrayOfElements': 2147483648 elements"):
        raw.cudnnBackendSetAttribute(tensor, name, INT64, 2**31, memory)
    with pytest.raises(BadParamError, match="4611686018427387904 elements of"):
        raw.cudnnBackendSetAttribute(tensor, name, INT64, 2**62, c_void_p(ctypes.addressof(memory)))


@pytest.mark.parametrize("state", ["new", "final"])
@pytest.mark.parametrize(
    ("parent", "attribute", "child", "says"),
    [
        ("operation_reshape", "OPERATION_RESHAPE_XDESC", "rng", "is a rng; .* takes tensor"),
        ("engineheur", "ENGINEHEUR_OPERATION_GRAPH", "tensor", "takes operationgraph"),
        ("operationgraph", "OPERATIONGRAPH_OPS", "tensor", "is a tensor; .* takes an operation"),
        ("execution_plan", "EXECUTION_PLAN_ENGINE_CONFIG", "engine", "takes enginecfg"),
    ],
)
def test_values_of_a_wrong_kind(shop, parent, attribute, child, state, says):
    descriptor, wrong = shop.make(parent, "new"), shop.make(child, state)
    name = raw.cudnnBackendAttributeName_t[f"CUDNN_ATTR_{attribute}"]
    with pytest.raises(BadParamError, match=says) as caught:
        raw.cudnnBackendSetAttribute(handle(descriptor), name, DESCRIPTOR, 1, entries(wrong))
    assert caught.value.status is raw.CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE
    code = raw.cudnnBackendSetAttribute.unchecked(descriptor, name, DESCRIPTOR, 1, entries(wrong))
    assert code is raw.CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE


def test_values_that_were_destroyed(shop: Workshop) -> None:
    reshape, child = shop.make("operation_reshape", "new"), created()
    array = entries(child)
    raw.cudnnBackendDestroyDescriptor(child)
    with pytest.raises(BadParamError, match=r"arrayOfElements\[0\] was destroyed"):
        raw.cudnnBackendSetAttribute(
            reshape, raw.CUDNN_ATTR_OPERATION_RESHAPE_XDESC, DESCRIPTOR, 1, array
        )


@pytest.mark.parametrize(
    ("parent", "attribute", "child"),
    [
        ("enginecfg", raw.CUDNN_ATTR_ENGINECFG_ENGINE, "engine"),
        ("execution_plan", raw.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, "enginecfg"),
    ],
)
def test_values_that_must_be_finalized(shop, parent, attribute, child):
    descriptor = shop.make(parent, "complete")
    for state, passes in (("new", False), ("complete", False), ("final", True)):
        made = shop.make(child, state)
        array = entries(made)
        if passes:
            raw.cudnnBackendSetAttribute(descriptor, attribute, DESCRIPTOR, 1, array)
        else:
            with pytest.raises(BadParamError, match=r"Elements\[0\] is not finalized") as caught:
                raw.cudnnBackendSetAttribute(descriptor, attribute, DESCRIPTOR, 1, array)
            assert caught.value.status is raw.CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED
    raw.cudnnBackendFinalize(descriptor)


@pytest.mark.parametrize(("version", "passes"), [(92801, False), (92900, True)])
def test_a_newer_minor_release_may_have_more_data_types(monkeypatch, version, passes):
    loaded = SimpleNamespace(version=version, outdated=lambda *_: False)
    monkeypatch.setattr(library, "load", lambda: loaded)
    assert backend._is_data_type.__wrapped__(99) is passes


@pytest.mark.parametrize(
    ("kind", "name", "type_", "number", "says"),
    [
        (
            "operation_block_scale_quantize",
            raw.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE,
            raw.CUDNN_TYPE_INT32,
            0,
            "is 0, by which cuDNN divides",
        ),
        ("tensor", raw.CUDNN_ATTR_TENSOR_DATA_TYPE, raw.CUDNN_TYPE_DATA_TYPE, 99, "data type 99"),
    ],
)
def test_numbers_that_end_the_process(shop: Workshop, kind, name, type_, number, says):
    descriptor = shop.make(kind, "complete")
    with pytest.raises(BadParamError, match=says):
        raw.cudnnBackendSetAttribute(descriptor, name, type_, 1, c_int32(number))
    raw.cudnnBackendFinalize(descriptor)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("enginecfg", "CUDNN_ATTR_ENGINECFG_ENGINE is not set"),
        ("execution_plan", "ENGINE_CONFIG or .*JSON_REPRESENTATION is not set"),
        ("operation_block_scale_quantize", "BLOCK_SIZE is not set"),
    ],
)
def test_incomplete_descriptors_are_not_finalized(shop: Workshop, kind: str, says: str) -> None:
    new, complete = shop.make(kind, "new"), shop.make(kind, "complete")
    with pytest.raises(BadParamError, match=says):
        raw.cudnnBackendFinalize(handle(new))
    raw.cudnnBackendInitialize(handle(complete))
    with pytest.raises(BadParamError, match=says):
        raw.cudnnBackendFinalize(handle(complete))
    other = shop.make(kind, "complete")
    raw.cudnnBackendFinalize(handle(other))


@pytest.mark.parametrize(
    ("mode", "operation"),
    [
        (raw.CUDNN_OPERATIONGRAPH_MODE_CONV_FORWARD, "operation_convolution_forward"),
        (raw.CUDNN_OPERATIONGRAPH_MODE_CONV_BWD_DATA, "operation_convolution_backward_data"),
        (raw.CUDNN_OPERATIONGRAPH_MODE_CONV_BWD_FILTER, "operation_convolution_backward_filter"),
        (raw.CUDNN_OPERATIONGRAPH_MODE_NORM_BWD, "operation_norm_backward"),
    ],
)
@pytest.mark.needs("CUDNN_ATTR_OPERATIONGRAPH_MODE")
def test_graphs_of_a_mode_hold_its_operation(shop: Workshop, mode: Any, operation: str) -> None:
    name, type_ = raw.CUDNN_ATTR_OPERATIONGRAPH_MODE, raw.CUDNN_TYPE_OPERATIONGRAPH_MODE
    ops = raw.CUDNN_ATTR_OPERATIONGRAPH_OPS
    for operations, refused in (([], True), (["operation_reshape"], True), ([operation], False)):
        graph = created(raw.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
        raw.cudnnBackendSetAttribute(graph, name, type_, 1, c_int(mode))
        for each in operations:
            raw.cudnnBackendSetAttribute(graph, ops, DESCRIPTOR, 1, entries(shop.final(each)))
        if refused:
            with pytest.raises(BadParamError, match=f"a graph of {mode} without an {operation}"):
                raw.cudnnBackendFinalize(graph)
        else:
            raw.cudnnBackendFinalize.unchecked(graph)
        raw.cudnnBackendDestroyDescriptor(graph)


@pytest.mark.parametrize(
    ("kind", "attribute"),
    [
        ("tensor", raw.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC),
        ("operation_concat", raw.CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS),
    ],
)
def test_what_cudnn_writes_as_objects_is_not_read(shop, kind, attribute, tensor):
    with pytest.raises(NotSupportedError, match="objects over arrayOfElements"):
        raw.cudnnBackendGetAttribute(
            shop.final(kind), attribute, DESCRIPTOR, 1, c_int64(), entries(tensor)
        )


@pytest.mark.parametrize(
    ("kind", "attribute"),
    [
        ("engineheur", raw.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH),
        ("operationgraph", raw.CUDNN_ATTR_OPERATIONGRAPH_IS_SAME_TOPOLOGY),
    ],
)
def test_arrays_that_must_be_there(shop: Workshop, kind: str, attribute: Any) -> None:
    with pytest.raises(BadParamError, match="arrayOfElements is NULL") as caught:
        raw.cudnnBackendGetAttribute(shop.final(kind), attribute, DESCRIPTOR, 1, c_int64(), None)
    assert caught.value.status is raw.CUDNN_STATUS_BAD_PARAM_NULL_POINTER


def test_knobs_are_read_into_descriptors(shop: Workshop) -> None:
    engine, name, count = shop.final("engine"), raw.CUDNN_ATTR_ENGINE_KNOB_INFO, c_int64()
    raw.cudnnBackendGetAttribute(engine, name, DESCRIPTOR, 0, count, None)
    assert count.value > 0
    knob = shop.make("knob_info", "new")
    with pytest.raises(BadParamError, match=r"arrayOfElements\[1\] is NULL"):
        raw.cudnnBackendGetAttribute(engine, name, DESCRIPTOR, 2, count, entries(knob, None))
    count.value = 0
    raw.cudnnBackendGetAttribute(engine, name, DESCRIPTOR, 0, count, entries(None))
    assert count.value > 0


def test_destroyed_descriptors_are_refused_by_every_name(shop: Workshop) -> None:
    handles = (raw.cudnnBackendDescriptor_t * 1)(created())
    raw.cudnnBackendDestroyDescriptor(raw.cudnnBackendDescriptor_t.from_buffer_copy(handles[0]))
    dims, count = (c_int64 * 4)(), c_int64()
    name = raw.CUDNN_ATTR_TENSOR_DIMENSIONS
    for call in (
        lambda: raw.cudnnBackendSetAttribute(handles[0], name, INT64, 4, dims),
        lambda: raw.cudnnBackendGetAttribute(handles[0], name, INT64, 4, count, dims),
        lambda: raw.cudnnBackendInitialize(handles[0]),
        lambda: raw.cudnnBackendFinalize(handles[0]),
        lambda: raw.cudnnBackendDestroyDescriptor(handles[0]),
    ):
        with pytest.raises(BadParamError, match="was destroyed"):
            call()


def test_what_is_no_plan_is_not_executed(shop: Workshop) -> None:
    plan, pack = handle(shop.final("execution_plan")), handle(shop.final("variant_pack"))
    assert backend._not_executable(plan, pack) == ""
    assert "executionPlan is a variant_pack" in backend._not_executable(pack, pack)
    assert "variantPack is a execution_plan" in backend._not_executable(plan, plan)
    assert backend._not_executable(None, None) == ""


def test_a_call_known_to_be_harmless_still_looks_at_types(tensor: Any) -> None:
    name, dims = raw.CUDNN_ATTR_TENSOR_DIMENSIONS, (c_int64 * 4)(1, 2, 3, 4)
    for _ in range(3):
        raw.cudnnBackendSetAttribute(tensor, name, INT64, 4, dims)
        raw.cudnnBackendSetAttribute(tensor, name, INT64, np.int64(4), dims)
        raw.cudnnBackendSetAttribute(tensor, int(name), int(INT64), 4, dims)
    wrong = next(each for each in raw.cudnnDataType_t if each == INT64)
    for arguments, said in (
        ((tensor, name, wrong, 4, dims), "'attributeType'"),
        ((tensor, name, INT64, 4.0, dims), "'elementCount'"),
        ((raw.cudnnTensorDescriptor_t(), name, INT64, 4, dims), "'descriptor'"),
        ((tensor, name, INT64, 4, [1, 2, 3, 4]), "'arrayOfElements'"),
    ):
        with pytest.raises(TypeError, match=said):
            raw.cudnnBackendSetAttribute(*arguments)


def test_one_number_may_be_given_as_itself(tensor: Any) -> None:
    name, type_ = raw.CUDNN_ATTR_TENSOR_IS_VIRTUAL, raw.CUDNN_TYPE_BOOLEAN
    for memory in (c_bool(True), byref(c_bool(True)), (c_bool * 1)(True), b"\1"):
        for _ in range(2):
            raw.cudnnBackendSetAttribute(tensor, name, type_, 1, memory)


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
@pytest.mark.parametrize("surface", [[], ["--objects"]])
def test_no_systematic_case_ends_the_process(surface: list[str]) -> None:
    assert "400 cases" in fuzz("attributes", "--sample", "400", *surface)


@pytest.mark.gpu
def test_no_call_with_a_handle_ends_the_process() -> None:
    printed = fuzz("attributes", "--only", "cudnnBackendExecute", "--sample", "200")
    assert "cudnnBackendExecute" in printed


def test_a_destroyed_handle_is_no_value(shop: Workshop) -> None:
    gone, graph = raw.cudnnHandle_t(), created(raw.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
    memory = ctypes.create_string_buffer(64)
    gone.value = ctypes.addressof(memory)
    array = (c_void_p * 1)(gone.value)
    live.destroyed(gone, gone.value)  # as cudnnDestroy notes it; without a GPU there is no handle
    with pytest.raises(BadParamError, match=r"arrayOfElements\[0\] was destroyed"):
        raw.cudnnBackendSetAttribute(
            graph, raw.CUDNN_ATTR_OPERATIONGRAPH_HANDLE, raw.CUDNN_TYPE_HANDLE, 1, array
        )
    raw.cudnnBackendDestroyDescriptor(graph)


def test_a_closed_object_is_refused_where_its_handle_would_be_taken(shop: Workshop) -> None:
    closed = shop.make("tensor", "new")
    dims, name = (c_int64 * 4)(1, 2, 3, 4), raw.CUDNN_ATTR_TENSOR_DIMENSIONS
    for _ in range(2):  # known to be harmless the second time
        raw.cudnnBackendSetAttribute(closed, name, INT64, 4, dims)
    closed.close()
    with pytest.raises(ClosedError):
        raw.cudnnBackendSetAttribute(closed, name, INT64, 4, dims)


def test_of_what_was_asked_for_only_the_filled_is_known_to_be_finalized(shop: Workshop) -> None:
    results, written = raw.CUDNN_ATTR_ENGINEHEUR_RESULTS, c_int64()
    made = [created(raw.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) for _ in range(256)]
    raw.cudnnBackendGetAttribute(
        shop.final("engineheur"), results, DESCRIPTOR, len(made), written, entries(*made)
    )
    assert 0 < written.value < len(made)
    with pytest.raises(BadParamError, match="cuDNN:"):  # it is finalized
        raw.cudnnBackendFinalize(made[0])
    with pytest.raises(BadParamError, match="CUDNN_ATTR_ENGINECFG_ENGINE is not set"):
        raw.cudnnBackendFinalize(made[-1])
    for each in made:
        raw.cudnnBackendDestroyDescriptor(each)


def test_an_address_that_is_said_to_be_a_handle_is_not_followed_as_a_descriptor() -> None:
    descriptor = created(raw.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
    made_up = (ctypes.c_void_p * 1)(2**64 - 1)
    status = raw.cudnnBackendSetAttribute.unchecked(
        descriptor, raw.CUDNN_ATTR_ENGINECFG_ENGINE, raw.CUDNN_TYPE_HANDLE, 1, made_up
    )
    assert status == raw.CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE
    raw.cudnnBackendDestroyDescriptor(descriptor)


def test_a_denominator_of_0_is_refused() -> None:
    descriptor = created(raw.CUDNN_BACKEND_RESAMPLE_DESCRIPTOR)
    for denominator, status in ((2, 0), (0, raw.CUDNN_STATUS_BAD_PARAM), (1, 0)):
        strides = (raw.cudnnFraction_t * 2)((1, 1), (1, denominator))
        arguments = (raw.CUDNN_ATTR_RESAMPLE_STRIDES, raw.CUDNN_TYPE_FRACTION, 2, strides)
        assert raw.cudnnBackendSetAttribute.unchecked(descriptor, *arguments) == status
    raw.cudnnBackendDestroyDescriptor(descriptor)


def test_the_owner_of_an_owner_is_refused_as_guards_do_not_see_its_descriptor(tensor: Any) -> None:
    owner = SimpleNamespace(_as_parameter_=tensor)
    with pytest.raises(TypeError, match=r"'descriptor': expected .* owner, and this owner has an"):
        raw.cudnnBackendFinalize(SimpleNamespace(_as_parameter_=owner))
    with pytest.raises(BadParamError):
        raw.cudnnBackendFinalize(owner)


@pytest.mark.usefixtures("reference_device")
def test_the_reference_device_knows_made_up_descriptors(tensor: Any) -> None:
    made_up = raw.cudnnBackendDescriptor_t()
    made_up.value = 0x12345678
    operation = created(raw.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
    name = raw.CUDNN_ATTR_OPERATION_MATMUL_ADESC
    with pytest.raises(BadParamError, match=r"arrayOfElements\[0\] was never created"):
        raw.cudnnBackendSetAttribute(operation, name, DESCRIPTOR, 1, entries(made_up))
    raw.cudnnBackendSetAttribute(operation, name, DESCRIPTOR, 1, entries(tensor))
    for call in (
        lambda: raw.cudnnBackendSetAttribute(made_up, name, DESCRIPTOR, 1, entries(tensor)),
        lambda: raw.cudnnBackendFinalize(made_up),
        lambda: raw.cudnnBackendInitialize(made_up),
        lambda: raw.cudnnBackendDestroyDescriptor(made_up),
    ):
        with pytest.raises(BadParamError, match="descriptor was never created"):
            call()
    raw.cudnnBackendDestroyDescriptor(operation)


def test_a_pair_seen_executable_is_looked_at_again_after_one_was_destroyed() -> None:
    """C gives addresses again, to descriptors of other kinds."""
    kinds = raw.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
    plan, pack, handle = created(kinds[0]), created(kinds[1]), raw.cudnnHandle_t()
    for _ in range(2):  # not finalized, and no handle: C refuses that
        with pytest.raises(CudnnError):
            raw.cudnnBackendExecute(handle, plan, pack)
    other = raw.cudnnBackendDescriptor_t()
    other.value = pack.value
    raw.cudnnBackendDestroyDescriptor(pack)
    with pytest.raises(CudnnError, match=r"variantPack was destroyed|NULL"):
        raw.cudnnBackendExecute(handle, plan, other)
    raw.cudnnBackendDestroyDescriptor(plan)
