"""The backend API as C programs use it: raw calls, arrays of elements, handles by address."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import byref, c_bool, c_float, c_int64, c_void_p
from typing import Any

from cudnn_ctypes import raw

FLOAT = raw.CUDNN_DATA_FLOAT
INT64, DESCRIPTOR = raw.CUDNN_TYPE_INT64, raw.CUDNN_TYPE_BACKEND_DESCRIPTOR

Descriptor = raw.cudnnBackendDescriptor_t


class BackendProgram:
    """A handle, and backend descriptors that are destroyed with it."""

    def __init__(self) -> None:
        self.handle = raw.cudnnHandle_t()
        raw.cudnnCreate(byref(self.handle))
        self.made: list[Descriptor] = []

    def close(self) -> None:
        while self.made:
            raw.cudnnBackendDestroyDescriptor(self.made.pop())
        raw.cudnnDestroy(self.handle)

    # --- descriptors -----------------------------------------------------------------------------

    def new(self, kind: Any) -> Descriptor:
        descriptor = Descriptor()
        raw.cudnnBackendCreateDescriptor(kind, byref(descriptor))
        self.made.append(descriptor)
        return descriptor

    def integers(self, descriptor: Descriptor, name: Any, values: Sequence[int]) -> None:
        array = (c_int64 * len(values))(*values)
        raw.cudnnBackendSetAttribute(descriptor, name, INT64, len(values), array)

    def enum(self, descriptor: Descriptor, name: Any, type_: Any, value: Any) -> None:
        raw.cudnnBackendSetAttribute(descriptor, name, type_, 1, byref(ctypes.c_int(value)))

    def children(self, descriptor: Descriptor, name: Any, *children: Descriptor) -> None:
        array = (c_void_p * len(children))(*(child.value for child in children))
        raw.cudnnBackendSetAttribute(descriptor, name, DESCRIPTOR, len(children), array)

    def tensor(
        self,
        uid: int,
        dims: Sequence[int],
        strides: Sequence[int],
        *,
        virtual: bool = False,
        by_value: bool = False,
        data_type: Any = FLOAT,
        **more: Sequence[int],
    ) -> Descriptor:
        """`more` are attributes that hold integers, without their prefix and in lower case."""
        made = self.new(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR)
        self.enum(made, raw.CUDNN_ATTR_TENSOR_DATA_TYPE, raw.CUDNN_TYPE_DATA_TYPE, data_type)
        self.integers(made, raw.CUDNN_ATTR_TENSOR_UNIQUE_ID, [uid])
        self.integers(made, raw.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, [16])
        self.integers(made, raw.CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
        self.integers(made, raw.CUDNN_ATTR_TENSOR_STRIDES, strides)
        for name, flag in (("VIRTUAL", virtual), ("BY_VALUE", by_value)):
            attribute = raw.cudnnBackendAttributeName_t[f"CUDNN_ATTR_TENSOR_IS_{name}"]
            if flag:
                raw.cudnnBackendSetAttribute(
                    made, attribute, raw.CUDNN_TYPE_BOOLEAN, 1, byref(c_bool(True))
                )
        for name, values in more.items():
            attribute = raw.cudnnBackendAttributeName_t[f"CUDNN_ATTR_TENSOR_{name.upper()}"]
            self.integers(made, attribute, values)
        return self.finalized(made)

    def finalized(self, descriptor: Descriptor) -> Descriptor:
        raw.cudnnBackendFinalize(descriptor)
        return descriptor

    def convolution(
        self, x: Descriptor, w: Descriptor, y: Descriptor, *, alpha: float = 1, beta: float = 0
    ) -> Descriptor:
        """With a padding of 1 in two dimensions."""
        how = self.new(raw.CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)
        self.enum(how, raw.CUDNN_ATTR_CONVOLUTION_COMP_TYPE, raw.CUDNN_TYPE_DATA_TYPE, FLOAT)
        mode = raw.CUDNN_CROSS_CORRELATION
        self.enum(how, raw.CUDNN_ATTR_CONVOLUTION_CONV_MODE, raw.CUDNN_TYPE_CONVOLUTION_MODE, mode)
        self.integers(how, raw.CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, [2])
        for name in ("PRE_PADDINGS", "POST_PADDINGS", "DILATIONS", "FILTER_STRIDES"):
            attribute = raw.cudnnBackendAttributeName_t[f"CUDNN_ATTR_CONVOLUTION_{name}"]
            self.integers(how, attribute, [1, 1])
        self.finalized(how)
        made = self.new(raw.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
        self.children(made, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x)
        self.children(made, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w)
        self.children(made, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y)
        self.children(made, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how)
        for name, value in (("ALPHA", alpha), ("BETA", beta)):
            attribute = raw.cudnnBackendAttributeName_t[
                f"CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_{name}"
            ]
            raw.cudnnBackendSetAttribute(
                made, attribute, raw.CUDNN_TYPE_FLOAT, 1, byref(c_float(value))
            )
        return self.finalized(made)

    def pointwise(self, mode: Any, **tensors: Descriptor) -> Descriptor:
        """`tensors` by port: x, b, y."""
        how = self.new(raw.CUDNN_BACKEND_POINTWISE_DESCRIPTOR)
        self.enum(how, raw.CUDNN_ATTR_POINTWISE_MODE, raw.CUDNN_TYPE_POINTWISE_MODE, mode)
        self.enum(how, raw.CUDNN_ATTR_POINTWISE_MATH_PREC, raw.CUDNN_TYPE_DATA_TYPE, FLOAT)
        self.finalized(how)
        made = self.new(raw.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
        self.children(made, raw.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
        for port, tensor in tensors.items():
            name = f"CUDNN_ATTR_OPERATION_POINTWISE_{port.upper()}DESC"
            self.children(made, raw.cudnnBackendAttributeName_t[name], tensor)
        return self.finalized(made)

    def graph(self, *operations: Descriptor) -> Descriptor:
        made = self.new(raw.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
        self.children(made, raw.CUDNN_ATTR_OPERATIONGRAPH_OPS, *operations)
        raw.cudnnBackendSetAttribute(
            made, raw.CUDNN_ATTR_OPERATIONGRAPH_HANDLE, raw.CUDNN_TYPE_HANDLE, 1, byref(self.handle)
        )
        return self.finalized(made)

    # --- plans -----------------------------------------------------------------------------------

    def configs(self, graph: Descriptor) -> list[Descriptor]:
        """The first engine configs that heuristics propose."""
        query = self.new(raw.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
        self.children(query, raw.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        instant = raw.CUDNN_HEUR_MODE_INSTANT
        self.enum(query, raw.CUDNN_ATTR_ENGINEHEUR_MODE, raw.CUDNN_TYPE_HEUR_MODE, instant)
        self.finalized(query)
        configs = [self.new(raw.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) for _ in range(4)]
        array = (c_void_p * 4)(*(config.value for config in configs))
        count = c_int64()
        raw.cudnnBackendGetAttribute(
            query, raw.CUDNN_ATTR_ENGINEHEUR_RESULTS, DESCRIPTOR, 4, byref(count), array
        )
        return configs[: count.value]

    def unfinished_plan(self, config: Descriptor) -> Descriptor:
        """With the handle in an array."""
        plan = self.new(raw.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        handles = (c_void_p * 1)(self.handle.value)
        raw.cudnnBackendSetAttribute(
            plan, raw.CUDNN_ATTR_EXECUTION_PLAN_HANDLE, raw.CUDNN_TYPE_HANDLE, 1, handles
        )
        self.children(plan, raw.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config)
        return plan

    def plan(self, graph: Descriptor) -> Descriptor:
        """Of the first config that cuDNN takes."""
        for config in self.configs(graph):
            plan = self.unfinished_plan(config)
            if raw.cudnnBackendFinalize.unchecked(plan) == raw.CUDNN_STATUS_SUCCESS:
                return plan
        raise AssertionError("no config gave a plan")

    def workspace_size(self, plan: Descriptor) -> int:
        size, name = c_int64(), raw.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
        raw.cudnnBackendGetAttribute(plan, name, INT64, 1, byref(c_int64()), byref(size))
        return size.value

    def variant_pack(
        self, pointers: Mapping[int, int | None], workspace: int | None = None
    ) -> Descriptor:
        pack = self.new(raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
        count, kind = len(pointers), raw.CUDNN_TYPE_VOID_PTR
        addresses = (c_void_p * count)(*pointers.values())
        for attribute, n, array in (
            (raw.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, count, addresses),
            (raw.CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 1, byref(c_void_p(workspace))),
        ):
            raw.cudnnBackendSetAttribute(pack, attribute, kind, n, array)
        self.integers(pack, raw.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, list(pointers))
        return self.finalized(pack)

    def execute(
        self, plan: Descriptor, pointers: Mapping[int, int | None], workspace: int | None = None
    ) -> None:
        raw.cudnnBackendExecute(self.handle, plan, self.variant_pack(pointers, workspace))
