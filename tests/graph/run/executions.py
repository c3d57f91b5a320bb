"""Executions without a GPU: what stands in for cuDNN, a handle, memory and a graph.

cuDNN does not give back a variant pack's pointers. So functions of C stand in for cuDNN's here,
called through ctypes as those are: they note what they receive.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.resource import Resource

POINTER, INT, INT64 = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
BAD_PARAM = int(raw.CUDNN_STATUS_BAD_PARAM)

TAKES_PACK = ctypes.CFUNCTYPE(INT, POINTER)
SETS = ctypes.CFUNCTYPE(INT, POINTER, INT, INT, INT64, POINTER)
EXECUTES = ctypes.CFUNCTYPE(INT, POINTER, POINTER, POINTER)


def without_argtypes(function: Any) -> Any:
    """A C function that takes what it is given, as the bare ones of cuDNN do."""
    return ctypes.CFUNCTYPE(INT)(ctypes.cast(function, POINTER).value or 0)


class StandIn:
    """cuDNN's functions for variant packs: descriptors as dicts, executions in a list."""

    def __init__(self) -> None:
        self.packs: dict[int, dict[str, Any]] = {}
        self.executed: list[dict[str, Any]] = []
        self.status = 0
        self.seconds = 0.0  # which an execution takes
        self.number: int | None = None  # unique id of a float32 on the host
        callbacks: dict[str, Any] = {
            "cudnnBackendInitialize": TAKES_PACK(self._initialize),
            "cudnnBackendSetAttribute": SETS(self._set),
            "cudnnBackendFinalize": TAKES_PACK(self._finalize),
            "cudnnBackendExecute": EXECUTES(self._execute),
        }
        self._callbacks = callbacks  # which C calls for as long as they live
        self.functions: dict[str, Any] = {
            name: without_argtypes(each) for name, each in callbacks.items()
        }

    def _initialize(self, pack: int) -> int:
        self.packs[pack] = {"finalized": False, "workspace": None}
        return 0

    def _set(self, pack: int, name: int, type_: int, count: int, elements: int) -> int:
        attributes = {
            raw.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS: ("uids", raw.CUDNN_TYPE_INT64, INT64),
            raw.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS: ("data", raw.CUDNN_TYPE_VOID_PTR, POINTER),
            raw.CUDNN_ATTR_VARIANT_PACK_WORKSPACE: ("workspace", raw.CUDNN_TYPE_VOID_PTR, POINTER),
        }
        short, wanted, ctype = attributes[raw.cudnnBackendAttributeName_t(name)]
        if type_ != wanted or self.packs[pack]["finalized"]:
            return BAD_PARAM
        self.packs[pack][short] = tuple((ctype * count).from_address(elements))
        return 0

    def _finalize(self, pack: int) -> int:
        self.packs[pack]["finalized"] = True
        return 0

    def _execute(self, handle: int, plan: int, pack: int) -> int:
        if not handle or not plan or not pack:
            return BAD_PARAM  # as cuDNN 9.14 to 9.28 do
        if pack not in self.packs:  # of a bound plan, which raw has made
            return self.status
        before = self.packs[pack].copy()
        time.sleep(self.seconds)
        after = self.packs[pack]
        if before != after or not after["finalized"]:
            return BAD_PARAM
        held = dict(zip(after["uids"], after["data"], strict=True))
        space = after["workspace"]
        noted = {"handle": handle, "plan": plan, "workspace": space and space[0], "data": held}
        if self.number is not None:
            noted["number"] = ctypes.c_float.from_address(held[self.number]).value
        self.executed.append(noted)
        return self.status


def made_up_handle(address: int = 1 << 40) -> Any:
    pointer = raw.cudnnHandle_t()
    pointer.value = address
    return Resource(pointer, lambda _: None)


class Product:
    """relu(a @ b) * scale, built for an H200 that is not there; compiled once."""

    _stored = ""

    def __init__(self, h200: DeviceProperties) -> None:
        self.graph = Graph(io_data_type="float16")
        self.a = self.graph.tensor((4, 64, 32), name="a")
        self.b = self.graph.tensor((4, 32, 64), name="b")
        product = self.graph.mul(self.graph.matmul(self.a, self.b), 0.5)
        self.c = self.graph.relu(product).set_output(name="c")
        self.scale = next(each for each in self.graph.tensors if each.by_value)
        self.scale.name = "scale"
        if not Product._stored:
            with self.graph.build(h200) as plan:
                Product._stored = plan.to_json()
        self.plan = self.graph.load_plan(Product._stored, h200)
        self.handle = made_up_handle()

    def uids(self, *tensors: Any) -> list[int]:
        return [each.uid or 0 for each in tensors]


class Array:
    """Device memory that tells what it holds."""

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...] = (4, 64, 64),
        typestr: str = "<f2",
        strides: tuple[int, ...] | None = None,
    ) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "typestr": typestr,
            "strides": strides,
            "version": 3,
        }


class Memory:
    """Device memory that tells its size."""

    def __init__(self, address: int, nbytes: int = 4 * 64 * 64 * 2) -> None:
        self._as_parameter_ = address
        self.nbytes = nbytes
