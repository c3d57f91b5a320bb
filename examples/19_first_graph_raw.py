"""The graph of example 18 in raw calls, as a C program makes them; c/19_first_graph_raw.c is that.

Everything is a descriptor: created, given attributes, finalized, used, destroyed. An attribute is
set by its name, the type of its values, how many there are, and an array of them.
"""

from ctypes import Array, byref, c_float, c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from cudnn_ctypes import DeviceBuffer, DeviceTensor, raw

INT64, CHILD, POINTER = (
    raw.CUDNN_TYPE_INT64,
    raw.CUDNN_TYPE_BACKEND_DESCRIPTOR,
    raw.CUDNN_TYPE_VOID_PTR,
)
X, W, Y = range(3)  # names of the tensors: any numbers, no two of them equal
made: list[raw.cudnnBackendDescriptor_t] = []


def create(kind: raw.cudnnBackendDescriptorType_t) -> raw.cudnnBackendDescriptor_t:
    descriptor = raw.cudnnBackendDescriptor_t()
    raw.cudnnBackendCreateDescriptor(kind, descriptor)
    made.append(descriptor)
    return descriptor


def put(descriptor: Any, name: str, kind: Any, ctype: Any, *values: Any) -> None:
    array: Array[Any] = (ctype * len(values))(*(getattr(v, "value", v) for v in values))
    attribute = raw.cudnnBackendAttributeName_t[f"CUDNN_ATTR_{name}"]
    raw.cudnnBackendSetAttribute(descriptor, attribute, kind, len(values), array)


def tensor(uid: int, memory: DeviceTensor) -> raw.cudnnBackendDescriptor_t:
    new = create(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR)
    put(new, "TENSOR_UNIQUE_ID", INT64, c_int64, uid)
    put(new, "TENSOR_DATA_TYPE", raw.CUDNN_TYPE_DATA_TYPE, c_int, raw.CUDNN_DATA_FLOAT)
    put(new, "TENSOR_BYTE_ALIGNMENT", INT64, c_int64, 16)
    put(new, "TENSOR_DIMENSIONS", INT64, c_int64, *memory.shape)
    put(new, "TENSOR_STRIDES", INT64, c_int64, *memory.strides)
    raw.cudnnBackendFinalize(new)
    return new


image = np.arange(1, 17, dtype="f4").reshape(1, 1, 4, 4)
x, y = DeviceTensor.from_numpy(image), DeviceTensor.full(image.shape, np.nan, "float32")
w = DeviceTensor.from_numpy(np.arange(1, 10, dtype="f4").reshape(1, 1, 3, 3))
handle = raw.cudnnHandle_t()
raw.cudnnCreate(handle)

conv = create(raw.CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)
put(conv, "CONVOLUTION_SPATIAL_DIMS", INT64, c_int64, 2)
put(conv, "CONVOLUTION_COMP_TYPE", raw.CUDNN_TYPE_DATA_TYPE, c_int, raw.CUDNN_DATA_FLOAT)
mode = raw.CUDNN_CROSS_CORRELATION
put(conv, "CONVOLUTION_CONV_MODE", raw.CUDNN_TYPE_CONVOLUTION_MODE, c_int, mode)
for pair in ("PRE_PADDINGS", "POST_PADDINGS", "FILTER_STRIDES", "DILATIONS"):
    put(conv, f"CONVOLUTION_{pair}", INT64, c_int64, 1, 1)
raw.cudnnBackendFinalize(conv)

operation = create(raw.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
for role, operand in {"X": tensor(X, x), "W": tensor(W, w), "Y": tensor(Y, y)}.items():
    put(operation, f"OPERATION_CONVOLUTION_FORWARD_{role}", CHILD, c_void_p, operand)
put(operation, "OPERATION_CONVOLUTION_FORWARD_CONV_DESC", CHILD, c_void_p, conv)
for factor, value in (("ALPHA", 1), ("BETA", 0)):
    name = f"OPERATION_CONVOLUTION_FORWARD_{factor}"
    put(operation, name, raw.CUDNN_TYPE_FLOAT, c_float, value)
raw.cudnnBackendFinalize(operation)

graph = create(raw.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
put(graph, "OPERATIONGRAPH_HANDLE", raw.CUDNN_TYPE_HANDLE, c_void_p, handle)
put(graph, "OPERATIONGRAPH_OPS", CHILD, c_void_p, operation)
raw.cudnnBackendFinalize(graph)

# Heuristics propose engine configs, the best first; the first that gives a plan is taken.
heuristics = create(raw.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
put(heuristics, "ENGINEHEUR_OPERATION_GRAPH", CHILD, c_void_p, graph)
instant = raw.CUDNN_HEUR_MODE_INSTANT
put(heuristics, "ENGINEHEUR_MODE", raw.CUDNN_TYPE_HEUR_MODE, c_int, instant)
raw.cudnnBackendFinalize(heuristics)
configs = [create(raw.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) for _ in range(8)]
count, array = c_int64(), (c_void_p * 8)(*(config.value for config in configs))
results = raw.CUDNN_ATTR_ENGINEHEUR_RESULTS
raw.cudnnBackendGetAttribute(heuristics, results, CHILD, 8, byref(count), array)
print(f"{count.value} engine configs proposed")
for config in configs[: count.value]:
    plan = create(raw.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
    put(plan, "EXECUTION_PLAN_HANDLE", raw.CUDNN_TYPE_HANDLE, c_void_p, handle)
    put(plan, "EXECUTION_PLAN_ENGINE_CONFIG", CHILD, c_void_p, config)
    if raw.cudnnBackendFinalize.unchecked(plan) == raw.CUDNN_STATUS_SUCCESS:
        break
else:
    raise RuntimeError("no engine computes this convolution")
size, needed = c_int64(), raw.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
raw.cudnnBackendGetAttribute(plan, needed, INT64, 1, byref(count), byref(size))

with DeviceBuffer(max(size.value, 1)) as workspace:
    pack = create(raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    put(pack, "VARIANT_PACK_UNIQUE_IDS", INT64, c_int64, X, W, Y)
    put(pack, "VARIANT_PACK_DATA_POINTERS", POINTER, c_void_p, x.ptr, w.ptr, y.ptr)
    put(pack, "VARIANT_PACK_WORKSPACE", POINTER, c_void_p, workspace.ptr)
    raw.cudnnBackendFinalize(pack)
    raw.cudnnBackendExecute(handle, plan, pack)
    result = y.numpy()[0, 0].round().astype(int)
for row in result.tolist():
    print(*row)
assert abs(result[2, 2] - 573) < 6  # TF32 rounds to 10 bits

while made:
    raw.cudnnBackendDestroyDescriptor(made.pop())
raw.cudnnDestroy(handle)
