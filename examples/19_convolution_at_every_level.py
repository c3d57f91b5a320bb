"""The convolution of examples 02 and 03 at every level, on the same handle and the same memory.

There are two C APIs, and each can be used in raw calls or by classes: the legacy API, with a
function for each operation, and the graph API, where descriptors say what is to be computed and an
engine that cuDNN proposes computes it. All of them mix freely.
"""

from collections.abc import Callable
from contextlib import ExitStack
from ctypes import byref, c_bool, c_float, c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from cudnn_ctypes import (
    BackendDescriptor,
    ConvolutionDescriptor,
    DeviceBuffer,
    DeviceTensor,
    ExecutionPlan,
    Graph,
    Handle,
    NotSupportedError,
    convolution_forward,
    heuristics,
    raw,
)

image = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
kernel = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
expected = [[111, 178, 217, 145], [231, 348, 393, 252], [363, 528, 573, 360], [197, 274, 295, 175]]

X, W, Y = 1, 2, 3  # names of the tensors in a graph: any numbers, no two of them equal


# -- the legacy API ----------------------------------------------------------------------------


def legacy_raw(handle: Handle, x: DeviceTensor, w: DeviceTensor, y: DeviceTensor) -> None:
    """Descriptors are made, set, used and destroyed; example 02 has every step of it."""
    x_desc, w_desc = raw.cudnnTensorDescriptor_t(), raw.cudnnFilterDescriptor_t()
    conv_desc = raw.cudnnConvolutionDescriptor_t()
    raw.cudnnCreateTensorDescriptor(x_desc)
    raw.cudnnCreateFilterDescriptor(w_desc)
    raw.cudnnCreateConvolutionDescriptor(conv_desc)
    nchw, float32 = raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT
    raw.cudnnSetTensor4dDescriptor(x_desc, nchw, float32, 1, 1, 4, 4)
    raw.cudnnSetFilter4dDescriptor(w_desc, float32, nchw, 1, 1, 3, 3)
    raw.cudnnSetConvolution2dDescriptor(
        conv_desc, 1, 1, 1, 1, 1, 1, raw.CUDNN_CROSS_CORRELATION, float32
    )
    alpha, beta = c_float(1), c_float(0)
    algorithm = raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM  # which needs no workspace
    raw.cudnnConvolutionForward(
        handle, alpha, x_desc, x, w_desc, w, conv_desc, algorithm, None, 0, beta, x_desc, y
    )
    raw.cudnnDestroyConvolutionDescriptor(conv_desc)
    raw.cudnnDestroyFilterDescriptor(w_desc)
    raw.cudnnDestroyTensorDescriptor(x_desc)


def legacy_classes(handle: Handle, x: DeviceTensor, w: DeviceTensor, y: DeviceTensor) -> None:
    """The tensors know their shapes, so one descriptor is left to be written."""
    with ConvolutionDescriptor(padding=1) as conv:
        convolution_forward(handle, x, w, conv, y)


# -- the graph API -----------------------------------------------------------------------------


def graph_raw(handle: Handle, x: DeviceTensor, w: DeviceTensor, y: DeviceTensor) -> None:
    """Everything is a backend descriptor: created, given attributes, finalized, used, destroyed."""
    made: list[Any] = []
    one = c_float(1)

    def descriptor(kind: Any) -> Any:
        new = raw.cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(kind, new)
        made.append(new)
        return new

    def put(target: Any, attribute: Any, kind: Any, *values: Any) -> None:
        ctype: Any = {
            raw.CUDNN_TYPE_INT64: c_int64,
            raw.CUDNN_TYPE_FLOAT: c_float,
            raw.CUDNN_TYPE_BOOLEAN: c_bool,
            raw.CUDNN_TYPE_VOID_PTR: c_void_p,
            raw.CUDNN_TYPE_BACKEND_DESCRIPTOR: c_void_p,
        }.get(kind, c_int)  # enumerators
        array = (ctype * len(values))(*(getattr(value, "value", value) for value in values))
        raw.cudnnBackendSetAttribute(target, attribute, kind, len(values), array)

    def tensor(uid: int, dims: tuple[int, ...]) -> Any:
        new = descriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR)
        put(new, raw.CUDNN_ATTR_TENSOR_UNIQUE_ID, raw.CUDNN_TYPE_INT64, uid)
        float32 = raw.CUDNN_DATA_FLOAT
        put(new, raw.CUDNN_ATTR_TENSOR_DATA_TYPE, raw.CUDNN_TYPE_DATA_TYPE, float32)
        put(new, raw.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, raw.CUDNN_TYPE_INT64, 16)
        strides = (dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1)
        put(new, raw.CUDNN_ATTR_TENSOR_DIMENSIONS, raw.CUDNN_TYPE_INT64, *dims)
        put(new, raw.CUDNN_ATTR_TENSOR_STRIDES, raw.CUDNN_TYPE_INT64, *strides)
        raw.cudnnBackendFinalize(new)
        return new

    int64, child = raw.CUDNN_TYPE_INT64, raw.CUDNN_TYPE_BACKEND_DESCRIPTOR
    conv = descriptor(raw.CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)
    put(conv, raw.CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64, 2)
    float32, mode = raw.CUDNN_DATA_FLOAT, raw.CUDNN_CROSS_CORRELATION
    put(conv, raw.CUDNN_ATTR_CONVOLUTION_COMP_TYPE, raw.CUDNN_TYPE_DATA_TYPE, float32)
    put(conv, raw.CUDNN_ATTR_CONVOLUTION_CONV_MODE, raw.CUDNN_TYPE_CONVOLUTION_MODE, mode)
    put(conv, raw.CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, int64, 1, 1)
    put(conv, raw.CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, int64, 1, 1)
    put(conv, raw.CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, int64, 1, 1)
    put(conv, raw.CUDNN_ATTR_CONVOLUTION_DILATIONS, int64, 1, 1)
    raw.cudnnBackendFinalize(conv)

    operation = descriptor(raw.CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
    of_x, of_w, of_y = tensor(X, x.shape), tensor(W, w.shape), tensor(Y, y.shape)
    put(operation, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, child, of_x)
    put(operation, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, child, of_w)
    put(operation, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, child, of_y)
    put(operation, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, child, conv)
    put(operation, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, raw.CUDNN_TYPE_FLOAT, one)
    put(operation, raw.CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, raw.CUDNN_TYPE_FLOAT, 0)
    raw.cudnnBackendFinalize(operation)

    graph = descriptor(raw.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
    whose = raw.CUDNN_TYPE_HANDLE
    raw.cudnnBackendSetAttribute(graph, raw.CUDNN_ATTR_OPERATIONGRAPH_HANDLE, whose, 1, handle)
    put(graph, raw.CUDNN_ATTR_OPERATIONGRAPH_OPS, child, operation)
    raw.cudnnBackendFinalize(graph)

    # Heuristics propose engine configs, the best first; the first that gives a plan is taken.
    query = descriptor(raw.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
    put(query, raw.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, child, graph)
    instant = raw.CUDNN_HEUR_MODE_INSTANT
    put(query, raw.CUDNN_ATTR_ENGINEHEUR_MODE, raw.CUDNN_TYPE_HEUR_MODE, instant)
    raw.cudnnBackendFinalize(query)
    configs = [descriptor(raw.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) for _ in range(8)]
    count, array = c_int64(), (c_void_p * 8)(*(config.value for config in configs))
    results = raw.CUDNN_ATTR_ENGINEHEUR_RESULTS
    raw.cudnnBackendGetAttribute(query, results, child, 8, byref(count), array)
    for config in configs[: count.value]:
        plan = descriptor(raw.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        raw.cudnnBackendSetAttribute(plan, raw.CUDNN_ATTR_EXECUTION_PLAN_HANDLE, whose, 1, handle)
        put(plan, raw.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, child, config)
        if raw.cudnnBackendFinalize.unchecked(plan) == raw.CUDNN_STATUS_SUCCESS:
            break
    else:
        raise RuntimeError("no engine computes this convolution")
    size = c_int64()
    needed = raw.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE
    raw.cudnnBackendGetAttribute(plan, needed, int64, 1, byref(count), byref(size))

    with DeviceBuffer(max(size.value, 1)) as workspace:
        pointer = raw.CUDNN_TYPE_VOID_PTR
        pack = descriptor(raw.CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
        put(pack, raw.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, int64, X, W, Y)
        put(pack, raw.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointer, x.ptr, w.ptr, y.ptr)
        put(pack, raw.CUDNN_ATTR_VARIANT_PACK_WORKSPACE, pointer, workspace.ptr)
        raw.cudnnBackendFinalize(pack)
        raw.cudnnBackendExecute(handle, plan, pack)
    while made:
        raw.cudnnBackendDestroyDescriptor(made.pop())


def graph_descriptors(handle: Handle, x: DeviceTensor, w: DeviceTensor, y: DeviceTensor) -> None:
    """The same descriptors by short names, their values checked, closed at the end."""
    with ExitStack() as stack:

        def descriptor(kind: str, **attributes: Any) -> BackendDescriptor:
            return stack.enter_context(BackendDescriptor(kind, **attributes).finalize())

        def tensor(uid: int, memory: DeviceTensor) -> BackendDescriptor:
            dims, strides = list(memory.shape), list(memory.strides)
            how = {"data_type": "float32", "byte_alignment": 16, "unique_id": uid}
            return descriptor("tensor", dimensions=dims, strides=strides, **how)

        ones = [1, 1]
        paddings = {"pre_paddings": ones, "post_paddings": ones}
        conv = descriptor(
            "convolution",
            spatial_dims=2,
            comp_type="float32",
            conv_mode="cross_correlation",
            filter_strides=ones,
            dilations=ones,
            **paddings,
        )
        operands = {"x": tensor(X, x), "w": tensor(W, w), "y": tensor(Y, y), "conv_desc": conv}
        operation = descriptor("operation_convolution_forward", **operands, alpha=1.0, beta=0.0)
        graph = descriptor("operationgraph", handle=handle, ops=[operation])
        configs = [stack.enter_context(each) for each in heuristics(graph, device=handle)]
        for config in configs:
            try:
                plan = stack.enter_context(ExecutionPlan(config, device=handle))
            except NotSupportedError:
                continue
            workspace = stack.enter_context(DeviceBuffer(max(plan.workspace_size, 1)))
            plan.execute(handle, {X: x, W: w, Y: y}, workspace)
            break


def graph_builder(handle: Handle, x: DeviceTensor, w: DeviceTensor, y: DeviceTensor) -> None:
    """What one wants to say: tensors and operations. Shapes are inferred, the rest is lowered."""
    with Graph("convolution", io_data_type="float32") as graph:
        image = graph.tensor(x.shape, x.strides, name="x")
        filters = graph.tensor(w.shape, w.strides, name="w")
        graph.conv_fprop(image, filters, padding=1).set_output(name="y")
        graph.build(handle)
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            graph.execute({"x": x, "w": w, "y": y}, workspace)


LEVELS: dict[str, Callable[..., None]] = {
    "legacy, raw calls": legacy_raw,
    "legacy, classes": legacy_classes,
    "graph, raw calls": graph_raw,
    "graph, descriptors": graph_descriptors,
    "graph, builder": graph_builder,
}

with (
    Handle() as handle,
    DeviceTensor.from_numpy(image) as x,
    DeviceTensor.from_numpy(kernel) as w,
    DeviceTensor.empty(image.shape, "float32") as y,
):
    print(handle)
    for level, convolve in LEVELS.items():
        y.copy_from(np.full(y.shape, np.nan, np.float32))
        convolve(handle, x, w, y)
        result = y.numpy()[0, 0]
        print(f"{level:20} third row {result[2].round().astype(int)}")
        assert np.abs(result - expected).max() < 1e-2 * 573  # TF32 rounds to 10 bits
