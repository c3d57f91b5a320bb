"""The backend API on the reference device: real descriptors, made-up handles, plans in NumPy.

Descriptors are cuDNN's own: it checks them, runs its heuristics and compiles its engines, for the
properties of the GPU that the reference device stands for. Where a program sets a made-up handle,
cuDNN gets these properties instead. The attributes that were set are noted, and
`backend_execution` executes the graph.
"""

from __future__ import annotations

import ctypes
import functools
import json
from collections.abc import Mapping
from typing import Any

from ... import raw
from ...absent_gpu.driver_stub import ensure_driver
from ...absent_gpu.properties import complete, reference_gpu
from ...errors import SymbolNotFoundError
from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw import mode
from ...raw.attributes import code_of
from . import backend_execution
from . import backend_records as records
from .call import Call
from .dispatch import is_active, native, reconsider
from .made_up_handles import gpu_of, made_up
from .registry import Refused, bad_param, implements, not_supported

_DEVICE_ID = Name.CUDNN_ATTR_DEVICEPROP_DEVICE_ID
_TAKING_A_HANDLE = (
    Name.CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
    Name.CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
    Name.CUDNN_ATTR_DEVICEPROP_HANDLE,
)
# Descriptors that get the GPU from their operation graph's handle, with the attribute for the
# properties.
_ASKING_THE_GRAPH = {
    Name.CUDNN_ATTR_ENGINE_OPERATION_GRAPH: Name.CUDNN_ATTR_ENGINE_DEVICEPROP,
    Name.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH: Name.CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
}


# --- descriptors ---------------------------------------------------------------------------------


@implements("cudnnBackendCreateDescriptor")
def create(call: Call) -> int:
    ensure_driver()  # cuDNN tries only once per process to load libraries that need a driver
    status = call.native()
    if status == 0:
        records.renew(call["descriptor"].contents, call["descriptorType"])
    return status


@implements("cudnnBackendInitialize")
def initialize(call: Call) -> int:
    status, descriptor = call.native(), call["descriptor"]
    if status == 0:
        records.renew(descriptor, records.record(descriptor).kind)
    return status


@implements("cudnnBackendDestroyDescriptor")
def destroy(call: Call) -> int:
    address = call["descriptor"].value
    status = call.native()
    if status == 0:
        records.forget(address)
        reconsider()
    return status


@implements("cudnnBackendFinalize")
def finalize(call: Call) -> int:
    descriptor = call["descriptor"]
    own = records.record(descriptor)
    for asked, told in _ASKING_THE_GRAPH.items():
        graph = own.one(asked)
        if graph is not None and graph.handle is not None and told not in own.values:
            _give_properties(descriptor, told, graph.handle)
    status = call.native()
    own.finalized = own.finalized or status == 0
    return status


@implements("cudnnBackendSetAttribute")
def set_attribute(call: Call) -> int | raw.cudnnStatus_t:
    descriptor, attributeName, attributeType, elementCount, arrayOfElements = call.values
    handle = _handle_in(attributeName, attributeType, elementCount, arrayOfElements)
    if handle is not None:
        return _set_handle(descriptor, attributeName, attributeType, elementCount, handle)
    if attributeName == _DEVICE_ID and is_active():
        return _set_device(descriptor, attributeType, elementCount, arrayOfElements)
    status = call.native()
    if status == 0:
        records.note(descriptor, attributeName, attributeType, elementCount, arrayOfElements)
    return status


@implements("cudnnBackendGetAttribute")
def get_attribute(call: Call) -> int | raw.cudnnStatus_t:
    (
        descriptor,
        attributeName,
        attributeType,
        requestedElementCount,
        elementCount,
        arrayOfElements,
    ) = call.values
    own = records.record(descriptor)
    if attributeName in _TAKING_A_HANDLE and own.handle is not None:
        return _get_handle(own, attributeType, requestedElementCount, elementCount, arrayOfElements)
    status = call.native()
    if status != 0 or not arrayOfElements:
        return status
    filled = requestedElementCount
    if elementCount is not None:
        filled = min(filled, elementCount.contents.value)
    if attributeType == Type.CUDNN_TYPE_BACKEND_DESCRIPTOR:
        records.note_filled(descriptor, attributeName, filled, arrayOfElements)
    elif attributeName == Name.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
        records.note_json(descriptor, ctypes.string_at(arrayOfElements, filled))
    return status


# --- made-up handles -----------------------------------------------------------------------------


def _handle_in(name: Any, type_: Any, count: int, address: int | None) -> int | None:
    """The made-up handle among the elements of an attribute."""
    holds_one = type_ == Type.CUDNN_TYPE_HANDLE or name in _TAKING_A_HANDLE
    if not holds_one or not address or count < 1:
        return None
    given = (ctypes.c_void_p * (count if type_ == Type.CUDNN_TYPE_HANDLE else 1)).from_address(
        address
    )
    return next((each for each in given if made_up(ctypes.c_void_p(each))), None)


def _set_handle(
    descriptor: Any, name: Any, type_: Any, count: int, handle: int
) -> int | raw.cudnnStatus_t:
    """Set a GPU's properties in place of a made-up handle; return the status."""
    if name not in _TAKING_A_HANDLE or type_ != Type.CUDNN_TYPE_HANDLE or count != 1:
        elements = f"{count} elements of {type_.name} that hold a handle"
        raise bad_param(f"{name.name} does not take {elements}")
    own = records.record(descriptor)
    status = 0
    if name == Name.CUDNN_ATTR_EXECUTION_PLAN_HANDLE:
        status = _give_properties(descriptor, Name.CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, handle)
    elif name == Name.CUDNN_ATTR_DEVICEPROP_HANDLE:
        status = _give_json(descriptor, _json(gpu_of(handle)))
    elif own.finalized:  # cuDNN itself needs no properties
        raise bad_param("the operation graph is finalized already")
    if status == 0:
        own.handle = handle
    return status


def _get_handle(
    own: records.Record, type_: Any, asked: int, count: Any, address: int | None
) -> int:
    if type_ != Type.CUDNN_TYPE_HANDLE:
        raise bad_param(f"this is a handle, not a {type_.name}")
    if count is not None:
        count.contents.value = 1
    if asked > 0 and address:
        ctypes.c_void_p.from_address(address).value = own.handle
    return 0


def _set_device(descriptor: Any, type_: Any, count: int, address: int | None) -> int:
    """Set the GPU's properties by its number, which must be 0; return the status."""
    if records.elements(type_, count, address) != (0,) or type_ != Type.CUDNN_TYPE_INT32:
        raise bad_param("the reference device has one GPU, number 0")
    return _give_json(descriptor, _json(reference_gpu()))


# --- properties ----------------------------------------------------------------------------------


def _json(gpu: Mapping[str, Any]) -> bytes:
    """The properties of a GPU as the loaded cuDNN wants them."""
    values = dict(gpu)
    complete(values)
    return json.dumps(values, separators=(",", ":")).encode()


def _give_json(descriptor: Any, properties: bytes) -> int:
    text = ctypes.create_string_buffer(properties)
    return native("cudnnBackendSetAttribute")(
        descriptor,
        Name.CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
        Type.CUDNN_TYPE_CHAR,
        len(text),
        text,
    )


def _give_properties(descriptor: Any, name: Name, handle: int) -> int:
    properties = (ctypes.c_void_p * 1)(_properties(_json(gpu_of(handle))).value)
    return native("cudnnBackendSetAttribute")(
        descriptor, name, Type.CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, properties
    )


@functools.cache
def _properties(gpu: bytes) -> raw.cudnnBackendDescriptor_t:
    """A finalized DEVICEPROP descriptor, which lives as long as the process."""
    version = raw.load().version
    if version < 90800:
        raise SymbolNotFoundError(
            "graphs on the reference device need device properties, which came with cuDNN 9.8.0; "
            f"loaded is {raw.load().version_text}"
        )
    descriptor = raw.cudnnBackendDescriptor_t()
    raw.cudnnBackendCreateDescriptor(code_of(raw.CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR), descriptor)
    status = _give_json(descriptor, gpu) or native("cudnnBackendFinalize")(descriptor)
    if status != 0:
        name = json.loads(gpu)["deviceName"]
        raise Refused(raw.cudnnStatus_t(status), f"cuDNN refused the properties of {name}")
    records.forget(descriptor.value)  # its record is not needed
    return descriptor


# --- plans ---------------------------------------------------------------------------------------


@implements("cudnnBackendExecute")
def execute(call: Call) -> None:
    executionPlan, variantPack = call["executionPlan"], call["variantPack"]
    if not executionPlan or not variantPack:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "an argument is NULL")
    workspace_size = _workspace_size(executionPlan)
    pack = records.record(variantPack)
    if not pack.finalized:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "variantPack is not finalized")
    backend_execution.execute(records.record(executionPlan), pack, workspace_size)


@implements("cudnnGetExecutionPlanWorkspaceSize")
def get_execution_plan_workspace_size(call: Call) -> None:
    if not call["executionPlan"] or not call["workspaceSizeInBytes"]:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "an argument is NULL")
    call.put(workspaceSizeInBytes=_workspace_size(call["executionPlan"]))


@implements("cudnnBackendPopulateCudaGraph", "cudnnBackendUpdateCudaGraph")
def cuda_graph(call: Call) -> None:
    raise not_supported(
        "there are no CUDA graphs on the reference device; cudnnBackendExecute runs it"
    )


def _workspace_size(plan: Any) -> int:
    if plan.value in mode.plans_without_engine:
        return 0
    size, count = ctypes.c_int64(), ctypes.c_int64()
    status = native("cudnnBackendGetAttribute")(
        plan,
        Name.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
        Type.CUDNN_TYPE_INT64,
        1,
        count,
        ctypes.byref(size),
    )
    if status != 0:
        raise Refused(raw.cudnnStatus_t(status), "this is no finalized execution plan")
    return size.value
