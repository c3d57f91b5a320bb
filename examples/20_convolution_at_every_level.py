"""The same convolution at every level, on the same handle and the same memory.

There are two C APIs, and each can be used in raw calls or by classes: the legacy API, with a
function for each operation, and the graph API, where descriptors say what is to be computed and an
engine that cuDNN proposes computes it. All of them mix freely. The raw calls of the graph API fill
example 19.
"""

from collections.abc import Callable
from contextlib import ExitStack
from ctypes import c_float
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


def graph_descriptors(handle: Handle, x: DeviceTensor, w: DeviceTensor, y: DeviceTensor) -> None:
    """The descriptors of example 19 by short names, values checked, closed at the end."""
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
