"""Sizes of an RNN's buffers, places of its weights, and plans of its persistent kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_size_t, c_void_p
from typing import Any

from .... import raw
from ....raw.descriptors import Filter, Tensor, record
from . import made_objects
from .old_function import Arguments, Refused, implements
from .rnn_settings import described, settle

__all__ = ["sequences", "tensor", "weight_bytes"]

# -- sequences ---------------------------------------------------------------------------------


def tensor(descriptor: Any, name: str) -> Tensor:
    """The record of a tensor descriptor; refused if it is not (batch, size, 1)."""
    held = record(descriptor)
    if held is None or len(held.shape) < 2:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} must be (batch, size, 1), got {held!r}")
    assert isinstance(held, Tensor)
    return held


@contextmanager
def sequences(descriptors: list[Any] | None, steps: int, name: str) -> Iterator[Any]:
    """A descriptor of sequences, created from one tensor descriptor per time step.

    The batch of a step may be smaller than the previous step's, never larger: shorter sequences
    come last. The steps follow each other in memory, as in the packed layout.
    """
    if descriptors is None or steps < 1 or len(descriptors) < steps:
        count = 0 if descriptors is None else len(descriptors)
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"{name}: {count} descriptors for {steps} time steps"
        )
    tensors = [tensor(each, f"{name}[{step}]") for step, each in enumerate(descriptors[:steps])]
    batches = [each.shape[0] for each in tensors]
    if batches != sorted(batches, reverse=True):
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"{name}: the batch must never grow, got {batches}"
        )
    if len({(each.shape[1], each.data_type) for each in tensors}) > 1:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name}: time steps differ in size or data type")
    lengths = [sum(batch > index for batch in batches) for index in range(batches[0])]
    data = raw.cudnnRNNDataDescriptor_t()
    raw.cudnnCreateRNNDataDescriptor(data)
    try:
        raw.cudnnSetRNNDataDescriptor(
            data,
            tensors[0].data_type,
            raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
            steps,
            batches[0],
            tensors[0].shape[1],
            lengths,
            None,
        )
        yield data
    finally:
        raw.cudnnDestroyRNNDataDescriptor(data)


# -- sizes -------------------------------------------------------------------------------------

_TEMPORARY = """(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int seqLength,
    const cudnnTensorDescriptor_t xDesc[], size_t *sizeInBytes)"""


def _temporary_sizes(a: Arguments) -> tuple[int, int, int]:
    """Bytes of the workspaces for inference and for training, and of the reserve space."""
    a.require("sizeInBytes")
    sizes: list[int] = []
    with sequences(a.xDesc, a.seqLength, "xDesc") as data:
        first = tensor(a.xDesc[0], "xDesc[0]")
        settle(a.handle, a.rnnDesc, first.data_type, first.shape[1], first.shape[0])
        for mode in (raw.CUDNN_FWD_MODE_INFERENCE, raw.CUDNN_FWD_MODE_TRAINING):
            work, reserve = c_size_t(), c_size_t()
            raw.cudnnGetRNNTempSpaceSizes(a.handle, a.rnnDesc, mode, data, work, reserve)
            sizes += [work.value, reserve.value]
    return sizes[0], sizes[2], sizes[3]


@implements(f"cudnnGetRNNWorkspaceSize{_TEMPORARY}")
def workspace_size(a: Arguments) -> None:
    inference, training, _ = _temporary_sizes(a)
    a.put(sizeInBytes=max(inference, training))  # one workspace was for both


@implements(f"cudnnGetRNNTrainingReserveSize{_TEMPORARY}")
def reserve_size(a: Arguments) -> None:
    a.put(sizeInBytes=_temporary_sizes(a)[2])


@implements(
    """
    cudnnGetRNNParamsSize(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const cudnnTensorDescriptor_t xDesc, size_t *sizeInBytes, cudnnDataType_t dataType)
    """
)
def parameters_size(a: Arguments) -> None:
    a.require("sizeInBytes")
    settle(a.handle, a.rnnDesc, a.dataType, tensor(a.xDesc, "xDesc").shape[1])
    size = c_size_t()
    raw.cudnnGetRNNWeightSpaceSize(a.handle, a.rnnDesc, size)
    a.put(sizeInBytes=size.value)


# -- places of weights -------------------------------------------------------------------------

_WHERE = """(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int pseudoLayer,
    const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc, const void *w,
    const int linLayerID, cudnnFilterDescriptor_t {0}Desc, void **{0})"""


def weight_bytes(descriptor: Any, name: str) -> int:
    """Bytes of the weights that a filter descriptor describes."""
    filters = record(descriptor)
    if filters is None:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL, or was created but never set")
    assert isinstance(filters, Filter)
    from ....dtypes import element_bits

    count = 1
    for size in filters.shape:
        count *= size
    return count * element_bits(filters.data_type) // 8


@implements(f"cudnnGetRNNLinLayerMatrixParams{_WHERE.format('linLayerMat')}")
def matrix_parameters(a: Arguments) -> None:
    _where(a, a.linLayerMatDesc, "linLayerMat", "matrix")


@implements(f"cudnnGetRNNLinLayerBiasParams{_WHERE.format('linLayerBias')}")
def bias_parameters(a: Arguments) -> None:
    _where(a, a.linLayerBiasDesc, "linLayerBias", "bias")


def _where(a: Arguments, descriptor: Any, name: str, kind: str) -> None:
    """Write a weight's shape (1, rows, columns) and address; NULL for an absent weight."""
    a.require(name)
    x = tensor(a.xDesc, "xDesc")
    settle(a.handle, a.rnnDesc, x.data_type, x.shape[1])
    found = {"matrix": raw.cudnnTensorDescriptor_t(), "bias": raw.cudnnTensorDescriptor_t()}
    address = {"matrix": c_void_p(), "bias": c_void_p()}
    for each in found.values():
        raw.cudnnCreateTensorDescriptor(each)
    try:
        raw.cudnnGetRNNWeightParams(
            a.handle,
            a.rnnDesc,
            a.pseudoLayer,
            weight_bytes(a.wDesc, "wDesc"),
            a.w,
            a.linLayerID,
            found["matrix"],
            address["matrix"],
            found["bias"],
            address["bias"],
        )
        if address[kind].value:
            shape = tensor(found[kind], kind).shape
            nchw = raw.CUDNN_TENSOR_NCHW
            raw.cudnnSetFilterNdDescriptor(descriptor, x.data_type, nchw, len(shape), shape)
        a.put(**{name: address[kind].value})
    finally:
        for each in found.values():
            raw.cudnnDestroyTensorDescriptor(each)


# -- plans -------------------------------------------------------------------------------------


@implements(
    """
    cudnnCreatePersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc, const int minibatch,
    const cudnnDataType_t dataType, cudnnPersistentRNNPlan_t *plan)
    """
)
def create_plan(a: Arguments) -> None:
    """Create a plan; the first call that knows the sizes compiles the kernels for its batch."""
    a.require("plan")
    if described(a.rnnDesc).algorithm != raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC:
        reason = "rnnDesc: a plan is for CUDNN_RNN_ALGO_PERSIST_DYNAMIC"
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, reason)
    if a.minibatch < 1:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"minibatch = {a.minibatch} is less than 1")
    made_objects.create(a.plan, (a.minibatch, a.dataType))


@implements(
    "cudnnSetPersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc, cudnnPersistentRNNPlan_t plan)"
)
def set_plan(a: Arguments) -> None:
    described(a.rnnDesc)
    made_objects.held(a.plan, "plan")


@implements("cudnnDestroyPersistentRNNPlan(cudnnPersistentRNNPlan_t plan)")
def destroy_plan(a: Arguments) -> None:
    made_objects.destroy(a.plan, "plan")
