"""Calls of the backend API: the values of attributes, and the operands of an execution."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from ..raw import cudnnBackendAttributeName_t as Name
from ..raw import cudnnBackendAttributeType_t as Type
from ..raw import cudnnBackendDescriptor_t, cudnnHandle_t, live
from ..raw.argument_text import plain
from ..raw.attributes import ENUMS, owner_and_short_name
from ..raw.ctypes_support import room
from ..reference.device import backend_execution, backend_records
from ..reference.device.backend_records import Notes, Record, TensorInfo, elements, tensor_info
from ..reference.device.backend_steps import Step
from ..reference.device.registry import Refused

_SHOWN = 16
BACKWARD_PRODUCTS = 5
"""Matrix products of attention's backward pass, at least."""
_TEXT = 60  # characters


def address_on_host(value: Any) -> int | None:
    """The address of an argument on the host."""
    if value is None:
        return None
    value = getattr(value, "ctypes", value)
    value = getattr(value, "_as_parameter_", value)
    value = getattr(value, "_obj", value)
    if isinstance(value, int):
        return value
    if isinstance(value, bytes):
        return ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value
    if isinstance(value, (ctypes._Pointer, ctypes.c_void_p)) and live.address(value) is None:
        return ctypes.cast(value, ctypes.c_void_p).value
    return ctypes.addressof(value)


def _number(value: Any) -> int:
    return int(getattr(getattr(value, "_obj", value), "value", getattr(value, "_obj", value)))


def element_count(arguments: Mapping[str, Any]) -> int:
    """Number of elements that were set or read."""
    count = _number(arguments["elementCount"]) if arguments["elementCount"] is not None else 1
    asked = arguments.get("requestedElementCount")
    return count if asked is None else min(count, _number(asked))


def elements_of(arguments: Mapping[str, Any], array: Any, names: Any) -> Any:
    """The elements that an attribute call set or read; None if they cannot be read."""
    type_, count = Type(_number(arguments["attributeType"])), element_count(arguments)
    address = address_on_host(array)
    if not address or not type_.known:
        return None
    size = room(array)
    shown = min(count, _SHOWN)
    if type_ == Type.CUDNN_TYPE_CHAR:
        text = ctypes.string_at(address, min(count, _TEXT, size or count))
        return text.rstrip(b"\0").decode("utf-8", "replace") + ("…" if count > _TEXT else "")
    word = memory_word(arguments)
    found = [_element(type_, each, names, word) for each in elements(type_, shown, address)]
    return found + ([f"… {count} in all"] if count > shown else [])


def memory_word(arguments: Mapping[str, Any]) -> str:
    """The name for memory in an attribute."""
    is_workspace = _number(arguments["attributeName"]) == Name.CUDNN_ATTR_VARIANT_PACK_WORKSPACE
    return "workspace" if is_workspace else "memory"


def _element(type_: Type, value: Any, names: Any, word: str) -> Any:
    if type_ in ENUMS:
        return ENUMS[type_](value).name
    if value is None:
        return None
    if type_ == Type.CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return {"object": names.objects.name(cudnnBackendDescriptor_t, value)}
    if type_ == Type.CUDNN_TYPE_HANDLE:
        return {"object": names.objects.name(cudnnHandle_t, value)}
    if type_ == Type.CUDNN_TYPE_VOID_PTR:
        name, offset = names.places.place(value, None, word)
        return {"allocation": name, "offset": offset}
    return str(value) if not isinstance(value, (int, float)) else plain(value)


class Execution:
    """The operations and operands of one execution of a plan.

    - `operations`: the kinds of the operations.
    - `tensors`: the graph's tensors in memory, each with its address.
    - `values`: the graph's single numbers on the host, each with its address.
    - `outputs`: unique ids of the tensors that are written.
    - `roles`: an operation's name for each tensor, "x", "w" or "y", by unique id.
    """

    def __init__(self, plan: Record, pack: Record) -> None:
        graph = backend_execution.operation_graph_of(plan)
        overrides = backend_execution.overrides_of(graph, pack)
        uids = pack.all(Name.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)
        addresses = pack.all(Name.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
        memory = dict(zip(uids, addresses, strict=False))
        infos: dict[int, TensorInfo] = {}
        self.operations: list[str] = []
        self.outputs: set[int] = set()
        read: set[int] = set()
        self.roles: dict[int, str] = {}
        for record in graph.all(Name.CUDNN_ATTR_OPERATIONGRAPH_OPS):
            if record is None:
                continue
            try:
                step = Step(record, None, {}, overrides)  # type: ignore[arg-type]
                self.operations.append(step.name)
                self.outputs |= {info.uid for _, info in step.writes}
                read |= {info.uid for info in step.reads}
            except Refused:  # the tensors that it writes are unknown
                self.operations.append("operation")
            for name, (type_, values) in record.values.items():
                if type_ == Type.CUDNN_TYPE_BACKEND_DESCRIPTOR:
                    found = [each for each in values if each is not None and _is_tensor(each)]
                    infos |= {info.uid: info for info in map(tensor_info, found)}
                    for info in map(tensor_info, found):
                        self.roles.setdefault(info.uid, role(name))
        if self.operations.count("matmul") >= BACKWARD_PRODUCTS:
            self.outputs -= read  # sums of dq, which engines leave in an order of their own
        placed = [(info, memory[uid]) for uid, info in infos.items() if memory.get(uid)]
        self.values: list[tuple[TensorInfo, Any]] = [each for each in placed if each[0].by_value]
        self.tensors: list[tuple[TensorInfo, Any]] = [
            each for each in placed if not (each[0].virtual or each[0].by_value)
        ]


def role(name: Name) -> str:
    """The name of a tensor in an operation's attribute: "x" for ``..._POINTWISE_XDESC``."""
    return owner_and_short_name(name)[1].removesuffix("desc").strip("_") or "tensor"


def _is_tensor(record: Record) -> bool:
    return Name.CUDNN_ATTR_TENSOR_DIMENSIONS in record.values


class Graphs:
    """The values set in a session's backend descriptors, which describe its executions."""

    def __init__(self) -> None:
        self._notes = Notes()

    def follow(self, function: str, arguments: Mapping[str, Any]) -> None:
        """Note the values of a successful call."""
        descriptor = arguments.get("descriptor")
        if function == "cudnnBackendCreateDescriptor":
            self._notes.renew(_Address(live.address(live.out_variable(descriptor))), None)
        elif function == "cudnnBackendInitialize":
            self._notes.renew(_Address(live.address(descriptor)), None)
        elif function in ("cudnnBackendSetAttribute", "cudnnBackendGetAttribute"):
            self._attribute(function, arguments)

    def _attribute(self, function: str, arguments: Mapping[str, Any]) -> None:
        descriptor = _Address(live.address(arguments["descriptor"]))
        name, type_ = (
            Name(_number(arguments["attributeName"])),
            Type(_number(arguments["attributeType"])),
        )
        array = arguments["arrayOfElements"]
        address = address_on_host(array)
        if not address or descriptor.value is None:
            return
        if function == "cudnnBackendSetAttribute":
            self._notes.note(descriptor, name, type_, element_count(arguments), address)
        elif type_ == Type.CUDNN_TYPE_BACKEND_DESCRIPTOR:
            self._notes.note_filled(descriptor, name, element_count(arguments), address)
        elif name == Name.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
            self._notes.note_json(descriptor, ctypes.string_at(address, element_count(arguments)))

    def forget(self, address: int | None) -> None:
        """Drop the notes about a destroyed descriptor."""
        self._notes.forget(address)

    def execution(self, arguments: Mapping[str, Any]) -> Execution | None:
        """The operands of a call of ``cudnnBackendExecute``; None if its plan is unknown."""
        try:
            return Execution(
                self._record(arguments["executionPlan"]), self._record(arguments["variantPack"])
            )
        except (Refused, ValueError, KeyError):
            return None

    def addresses(self, pack: Any) -> tuple[int, ...]:
        """The addresses of memory in a variant pack."""
        values = self._record(pack)
        pointers = values.all(Name.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
        workspace = values.all(Name.CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
        return tuple(each for each in (*pointers, *workspace) if each)

    def _record(self, descriptor: Any) -> Record:
        address = _Address(live.address(descriptor))
        if self._notes.is_known(address):
            return self._notes.record(address)
        # The reference device knows descriptors that are older than the trace.
        return backend_records.record(address) if backend_records.is_known(address) else Record()


class _Address:
    """An address in the form of a descriptor, for `Notes`."""

    def __init__(self, value: int | None) -> None:
        self.value = value
