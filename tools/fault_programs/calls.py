"""The smallest programs for faults of C functions: each makes the call, on the GPU."""

from __future__ import annotations

import ctypes
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from cudnn_ctypes import (
    ActivationDescriptor,
    ConvolutionDescriptor,
    CTCLossDescriptor,
    DeviceBuffer,
    DeviceTensor,
    FilterDescriptor,
    GnnCscGraph,
    Handle,
    LRNDescriptor,
    PoolingDescriptor,
    TensorDescriptor,
    TensorTransformDescriptor,
    gnn_agg_simple_backward,
    pooling_forward,
    raw,
    reference,
)
from cudnn_ctypes.errors import FaultWarning

__all__ = ["CALLS"]


def softmax_between_layouts(handle: Handle) -> bool:
    shape = (2, 6, 3, 4)
    scores = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    with (
        DeviceTensor.from_numpy(scores) as x,
        DeviceTensor.from_numpy(np.zeros_like(scores), layout="NHWC") as y,
        TensorDescriptor(shape) as x_desc,
        TensorDescriptor(shape, layout="NHWC") as y_desc,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", FaultWarning)
        options = (raw.CUDNN_SOFTMAX_ACCURATE, raw.CUDNN_SOFTMAX_MODE_INSTANCE)
        raw.cudnnSoftmaxForward(handle, *options, 1.0, x_desc, x, 0.0, y_desc, y)
        handle.synchronize()
        wanted = reference.softmax_forward(scores, mode="instance")
        return bool(np.allclose(y.numpy(), wanted, rtol=1e-4, atol=1e-6))


def largest_of_infinities(handle: Handle) -> bool:
    x = DeviceTensor.from_numpy(np.full((1, 1, 2, 2), -np.inf, np.float32))
    with x, PoolingDescriptor(2) as pooling, pooling_forward(handle, x, pooling) as y:
        return bool(y.numpy()[0, 0, 0, 0] == -np.inf)


def loss_of_strides(handle: Handle) -> bool:
    scores = np.random.default_rng(0).standard_normal((4, 2, 3)).astype(np.float32)
    laid_out = np.ascontiguousarray(scores.transpose(0, 2, 1))  # letter by letter
    labels, lengths, inputs = [1, 2], [1, 1], [4, 4]
    with (
        DeviceTensor.from_numpy(laid_out) as probs,
        DeviceTensor.zeros((2,), "float32") as costs,
        TensorDescriptor((4, 2, 3), strides=(6, 1, 2)) as described,
        CTCLossDescriptor(normalization="softmax") as loss,
        _quiet(),
    ):
        arguments = (labels, lengths, inputs, raw.CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, loss)
        size = ctypes.c_size_t()
        raw.cudnnGetCTCLossWorkspaceSize(handle, described, None, *arguments, size)
        with DeviceBuffer(size.value) as workspace:
            raw.cudnnCTCLoss(
                handle, described, probs.ptr, *arguments[:3], costs, None, None, *arguments[3:],
                workspace, size.value,
            )  # fmt: skip
            handle.synchronize()
            wanted = reference.ctc_loss(scores, [[1], [2]]).costs
            return bool(np.allclose(costs.numpy(), wanted, rtol=1e-4))


def loss_without_longest_label(handle: Handle) -> bool:
    scores = np.zeros((4, 1, 3), np.float32)
    with (
        DeviceTensor.from_numpy(scores) as probs,
        DeviceTensor.zeros((1,), "float32") as costs,
        DeviceTensor.from_numpy(np.array([1, 2, 4], np.int32)) as counts,
        TensorDescriptor((4, 1, 3)) as described,
        CTCLossDescriptor() as loss,
        _quiet(),
    ):
        raw.cudnnSetCTCLossDescriptor(loss, raw.CUDNN_DATA_FLOAT)
        size = ctypes.c_size_t()
        algorithm = raw.CUDNN_CTC_LOSS_ALGO_DETERMINISTIC
        raw.cudnnGetCTCLossWorkspaceSize_v8(handle, algorithm, loss, described, None, size)
        with DeviceBuffer(max(size.value, 1)) as workspace:
            one, lengths = counts.ptr, counts.ptr + 8
            raw.cudnnCTCLoss_v8(
                handle, algorithm, loss, described, probs, one, one, lengths, costs, None, None,
                size.value, workspace,
            )  # fmt: skip
            handle.synchronize()
    return True


def bias_with_gaps(handle: Handle) -> bool:
    with (
        DeviceTensor.from_numpy(np.zeros((1, 2, 2, 2), np.float32)) as x,
        DeviceTensor.from_numpy(np.zeros((2, 2, 1, 1), np.float32)) as w,
        DeviceTensor.from_numpy(np.arange(1, 5, dtype=np.float32)) as bias,
        DeviceTensor.zeros((1, 2, 2, 2), "float32") as y,
        TensorDescriptor((1, 2, 2, 2)) as image,
        FilterDescriptor((2, 2, 1, 1)) as filters,
        TensorDescriptor((1, 2, 1, 1), strides=(4, 2, 1, 1)) as gaps,
        ConvolutionDescriptor() as convolution,
        ActivationDescriptor("identity") as activation,
        _quiet(),
    ):
        algorithm = raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
        size = ctypes.c_size_t()
        raw.cudnnGetConvolutionForwardWorkspaceSize(
            handle, image, filters, convolution, image, algorithm, size
        )
        with DeviceBuffer(max(size.value, 1)) as workspace:
            raw.cudnnConvolutionBiasActivationForward(
                handle, 1.0, image, x, filters, w, convolution, algorithm, workspace, size.value,
                0.0, image, y, gaps, bias.ptr, activation, image, y,
            )  # fmt: skip
            handle.synchronize()
            return bool((y.numpy()[0, :, 0, 0] == [1, 3]).all())


def double_into_single(handle: Handle) -> bool:
    return _transforms(handle, np.float64, "NCHW", np.float32, "NHWC")


def single_into_double(handle: Handle) -> bool:
    return _transforms(handle, np.float32, "NHWC", np.float64, "NCHW", (1, 1, 4, 2, 4), 0.5, 0)


def _transforms(
    handle: Handle,
    source: Any,
    layout: Any,
    target: Any,
    other: Any,
    shape: tuple[int, ...] = (1, 2, 2, 2, 2),
    alpha: float = 1,
    beta: float = 0.5,
) -> bool:
    numbers = np.arange(1, 1 + math.prod(shape)).reshape(shape)
    with (
        DeviceTensor.from_numpy(numbers.astype(source), layout=layout) as x,
        DeviceTensor.from_numpy(numbers.astype(target), layout=other) as y,
        TensorDescriptor(numbers.shape, np.dtype(source).name, layout=layout) as x_desc,
        TensorDescriptor(numbers.shape, np.dtype(target).name, layout=other) as y_desc,
        _quiet(),
    ):
        raw.cudnnTransformTensor(handle, alpha, x_desc, x, beta, y_desc, y)
        handle.synchronize()
        return bool((y.numpy() == (alpha + beta) * numbers).all())


def lrn_of_three_dimensions(handle: Handle) -> bool:
    numbers = np.random.default_rng(0).standard_normal((1, 5, 2)).astype(np.float32)
    laid_out = np.ascontiguousarray(numbers.transpose(0, 2, 1))
    with (
        DeviceTensor.from_numpy(laid_out) as x,
        DeviceTensor.zeros((1, 2, 5), "float32") as y,
        TensorDescriptor((1, 5, 2), strides=(10, 1, 5)) as described,
        LRNDescriptor(3, alpha=1.0) as lrn,  # windows of 5 fail
        _quiet(),
    ):
        mode = raw.CUDNN_LRN_CROSS_CHANNEL_DIM1
        raw.cudnnLRNCrossChannelForward(handle, lrn, mode, 1.0, described, x, 0.0, described, y)
        handle.synchronize()
        wanted = reference.lrn_cross_channel_forward(numbers, n=3, lrn_alpha=1.0)
        return bool(np.allclose(y.numpy().transpose(0, 2, 1), wanted, rtol=1e-4))


def _changed(handle: Handle, transform: Any, shapes: Any, strides: Any) -> tuple[Any, Any]:
    """The memory of a transform's source, and of its destination, where -1 was before."""
    (source, target), steps = shapes, strides
    numbers = np.arange(1, 1 + np.prod(source), dtype=np.float32).reshape(source)
    memory = np.full(1 + sum((n - 1) * s for n, s in zip(target, steps, strict=True)), -1.0)
    with (
        DeviceTensor.from_numpy(numbers) as x,
        DeviceTensor.from_numpy(memory.astype(np.float32)) as y,
        TensorDescriptor(source) as x_desc,
        TensorDescriptor(target, strides=steps) as y_desc,
        transform as described,
        _quiet(),
    ):
        raw.cudnnTransformTensorEx(handle, described, 1.0, x_desc, x, 0.0, y_desc, y.ptr)
        handle.synchronize()
        return numbers, y.numpy()


def padding_into_gaps(handle: Handle) -> bool:
    transform = TensorTransformDescriptor((0, 0, 0, 1))
    _, found = _changed(handle, transform, ((1, 1, 1, 2), (1, 1, 1, 3)), (6, 6, 6, 2))
    return bool((found == [0, -1, 1, -1, 2]).all())


def unfolding_into_columns(handle: Handle) -> bool:
    transform = TensorTransformDescriptor((0,) * 4, fold=(2, 2), direction="unfold")
    shapes = (2, 4, 2, 3), (2, 1, 4, 6)
    numbers, found = _changed(handle, transform, shapes, (24, 24, 1, 4))
    wanted = reference.transform_tensor(
        numbers, reference.TensorTransform((0,) * 4, (0,) * 4, (2, 2), "unfold")
    )
    return bool((found.reshape(2, 6, 4).transpose(0, 2, 1) == wanted[:, 0]).all())


def bias_beside_a_filter(handle: Handle) -> bool:
    with (
        DeviceTensor.zeros((32, 32, 1, 1), "int8") as w,
        DeviceTensor.zeros((32, 32, 1, 1), "int8") as reordered,
        DeviceTensor.from_numpy(np.arange(32, dtype=np.float32)) as bias,
        DeviceTensor.zeros((32,), "float32") as kept,
        FilterDescriptor((32, 32, 1, 1), "int8") as filters,
        _quiet(),
    ):
        raw.cudnnReorderFilterAndBias(
            handle, filters, raw.CUDNN_NO_REORDER, w, reordered, 1, bias, kept
        )
        handle.synchronize()
        return bool((kept.numpy() == bias.numpy()).all())


def samples_between_vectors(handle: Handle) -> bool:
    numbers = np.random.default_rng(0).standard_normal((2, 110)).astype(np.float32)
    with (
        DeviceTensor.from_numpy(numbers) as dy,
        DeviceTensor.zeros((1, 3, 1, 1), "float32") as db,
        TensorDescriptor((2, 3, 4, 9), strides=(110, 36, 9, 1)) as dy_desc,
        TensorDescriptor((1, 3, 1, 1)) as db_desc,
    ):
        raw.cudnnConvolutionBackwardBias(handle, 1.0, dy_desc, dy.ptr, 0.0, db_desc, db)
        handle.synchronize()
        wanted = numbers[:, :108].reshape(2, 3, 36).sum((0, 2))
        return bool(np.allclose(db.numpy().ravel(), wanted, rtol=1e-4, atol=1e-5))


def unfolding_partial_blocks(handle: Handle) -> bool:
    numbers = np.arange(1, 121, dtype=np.float32).reshape(2, 3, 4, 5)
    how = reference.TensorTransform((0,) * 4, (0,) * 4, (1, 2), "unfold")
    wanted = reference.transform_tensor(numbers, how)
    with (
        DeviceTensor.from_numpy(numbers, layout="NHWC") as x,
        DeviceTensor.zeros(wanted.shape, "float32") as y,
        TensorDescriptor(numbers.shape, layout="NHWC") as x_desc,
        TensorDescriptor(wanted.shape) as y_desc,
        TensorTransformDescriptor((0,) * 4, fold=(1, 2), direction="unfold") as described,
        _quiet(),
    ):
        raw.cudnnTransformTensorEx(handle, described, 1.0, x_desc, x, 0.0, y_desc, y)
        handle.synchronize()
        return bool((y.numpy() == wanted).all())


def gradient_into_no_numbers(handle: Handle) -> bool:
    doutput = np.random.default_rng(8).standard_normal((2, 5)).astype("float32")
    graph = GnnCscGraph.from_edges([3, 0, 2, 1, 2], [1, 0, 1, 1, 0])
    with (
        DeviceTensor.from_numpy(doutput) as given,
        DeviceTensor.from_numpy(np.full((2, 1), np.nan, "float32")) as written,
        _quiet(),
    ):
        gnn_agg_simple_backward(
            graph,
            doutput=given,
            dconcat_features=written,
            node_feat_dim=4,
            stream=handle.stream,
        )
        handle.synchronize()
        return bool((written.numpy() == doutput[:, 4:]).all())


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaultWarning)
        yield


CALLS: Mapping[str, Callable[[Handle], bool] | None] = {
    "CTC loss of tensors that are not packed": loss_of_strides,
    "CTC loss without a longest label": loss_without_longest_label,
    "LRN of three dimensions that are not packed": lrn_of_three_dimensions,
    "CTC gradients of another type": None,
    "activation gradient of three dimensions without a tensor": None,
    "attention gradient of single keys": None,
    "attention of unprojected values": None,
    "bias that is not reordered": bias_beside_a_filter,
    "call without what it needs": None,
    "convolution with a bias that has gaps": bias_with_gaps,
    "divisive normalization of large halves": None,
    "folding of other layouts": unfolding_into_columns,
    "fused convolution of few channels a group": None,
    "gradient of a bias between vectors": samples_between_vectors,
    "gradient of concatenated features": gradient_into_no_numbers,
    "largest of infinities below zero": largest_of_infinities,
    "memory off its boundary": None,
    "operation of integers into double": None,
    "padding of a destination with gaps": padding_into_gaps,
    "pooling gradient of another type": None,
    "recurrent states of another type": None,
    "sampling of another type": None,
    "sampling of more channels than y has": None,
    "scale and bias without a descriptor": None,
    "softmax between layouts": softmax_between_layouts,
    "strided and dilated gradient of images": None,
    "transform into fewer samples": None,
    "transform into double": single_into_double,
    "transform out of double": double_into_single,
    "unfolding of channels that fill no block": unfolding_partial_blocks,
}
"""By the name of the row; a program returns whether the numbers are right.

None: no result shows it, or only some memory."""
