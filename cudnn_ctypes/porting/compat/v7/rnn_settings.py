"""The settings of RNN descriptors, which the old functions set one by one.

The descriptor itself holds all of them, set by `cudnnSetRNNDescriptor_v8`. Two of its parameters
are known only from the tensors of later calls: the input's size and the data type. Until then the
descriptor holds the hidden size and the compute type; `settle` sets the right values.
"""

from __future__ import annotations

from typing import Any

from .... import raw
from ....raw.descriptors import RNN, record
from ....raw.records import place
from .old_function import Arguments, Refused, implements

__all__ = ["change", "described", "settle"]

_PADDED = raw.CUDNN_RNN_PADDED_IO_ENABLED


def described(descriptor: Any) -> RNN:
    """The record of an RNN descriptor; refused if it was never set."""
    rnn = record(descriptor)
    if rnn is None:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, "rnnDesc is NULL, or was created but never set")
    assert isinstance(rnn, RNN)
    return rnn


def change(descriptor: Any, **changes: Any) -> None:
    """Set some values of a descriptor, by `cudnnSetRNNDescriptor_v8`'s parameter names."""
    rnn = described(descriptor)
    fields: dict[str, Any] = {
        "algo": rnn.algorithm,
        "cellMode": rnn.cell,
        "biasMode": rnn.bias,
        "dirMode": raw.CUDNN_BIDIRECTIONAL if rnn.bidirectional else raw.CUDNN_UNIDIRECTIONAL,
        "inputMode": rnn.input_mode,
        "dataType": rnn.data_type,
        "mathPrec": rnn.compute_data_type,
        "mathType": rnn.math_type,
        "inputSize": rnn.input_size,
        "hiddenSize": rnn.hidden_size,
        "projSize": rnn.projection_size or rnn.hidden_size,
        "numLayers": rnn.layers,
        "dropoutDesc": dropout_of(rnn),
        "auxFlags": _PADDED if rnn.padded_io else 0,
    }
    raw.cudnnSetRNNDescriptor_v8(descriptor, **{**fields, **changes})
    if rnn.clip is not None:  # setting a descriptor removes the clip
        clip = raw.CUDNN_RNN_CLIP_MINMAX, rnn.clip_nan_propagation, *rnn.clip
        raw.cudnnRNNSetClip_v8(descriptor, *clip)


def dropout_of(rnn: RNN) -> Any:
    """The dropout descriptor of a network, as a handle."""
    dropout = raw.cudnnDropoutDescriptor_t()
    dropout.value = rnn.dropout
    return dropout


def settle(handle: Any, descriptor: Any, data_type: Any, input_size: int, batch: int = 0) -> None:
    """Set the now known values of a descriptor; compile the kernels of the dynamic algorithm.

    Parameters
    ----------
    batch : int
        Number of sequences; 0 if the call needs no kernels.
    """
    rnn = described(descriptor)
    if (rnn.data_type, rnn.input_size) != (data_type, input_size):
        change(descriptor, dataType=data_type, inputSize=input_size)
    if batch and rnn.algorithm == raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC:
        _compile(handle, descriptor, batch)


_compiled: dict[int, tuple[Any, int]] = {}  # by address: the record's place then, and the batch


def _compile(handle: Any, descriptor: Any, batch: int) -> None:
    """Call `cudnnBuildRNNDynamic`, once after the descriptor was set, and for each new batch."""
    address = getattr(descriptor, "_as_parameter_", descriptor).value
    if _compiled.get(address) != (place(descriptor), batch):
        raw.cudnnBuildRNNDynamic(handle, descriptor, batch)
        _compiled[address] = place(descriptor), batch


# -- setting it all ----------------------------------------------------------------------------


def _set(a: Arguments, *, cell: Any, algorithm: Any, math_precision: Any) -> None:
    raw.cudnnSetRNNDescriptor_v8(
        a.rnnDesc,
        algo=algorithm,
        cellMode=cell,
        biasMode=raw.CUDNN_RNN_DOUBLE_BIAS,
        dirMode=a.direction,
        inputMode=a.inputMode,
        dataType=math_precision,
        mathPrec=math_precision,
        mathType=raw.CUDNN_DEFAULT_MATH,
        inputSize=a.hiddenSize,
        hiddenSize=a.hiddenSize,
        projSize=a.hiddenSize,
        numLayers=a.numLayers,
        dropoutDesc=a.dropoutDesc,
        auxFlags=raw.CUDNN_RNN_PADDED_IO_DISABLED,
    )


_V5 = """(cudnnRNNDescriptor_t rnnDesc, int hiddenSize, int numLayers,
    cudnnDropoutDescriptor_t dropoutDesc, cudnnRNNInputMode_t inputMode,
    cudnnDirectionMode_t direction, cudnnRNNMode_t mode, cudnnDataType_t mathPrec)"""
_V6 = """(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, const int hiddenSize,
    const int numLayers, cudnnDropoutDescriptor_t dropoutDesc, cudnnRNNInputMode_t inputMode,
    cudnnDirectionMode_t direction, cudnnRNNMode_t cellMode, cudnnRNNAlgo_t algo,
    cudnnDataType_t mathPrec)"""


@implements(f"cudnnSetRNNDescriptor{_V5}", f"cudnnSetRNNDescriptor_v5{_V5}")
def set_v5(a: Arguments) -> None:
    standard = raw.CUDNN_RNN_ALGO_STANDARD
    _set(a, cell=a.mode, algorithm=standard, math_precision=a.mathPrec)


@implements(f"cudnnSetRNNDescriptor{_V6}", f"cudnnSetRNNDescriptor_v6{_V6}")
def set_v6(a: Arguments) -> None:
    _set(a, cell=a.cellMode, algorithm=a.algo, math_precision=a.mathPrec)


_GET = """(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, int *hiddenSize,
    int *numLayers, cudnnDropoutDescriptor_t *dropoutDesc, cudnnRNNInputMode_t *inputMode,
    cudnnDirectionMode_t *direction, cudnnRNNMode_t *cellMode, cudnnRNNAlgo_t *algo,
    cudnnDataType_t *mathPrec)"""


@implements(f"cudnnGetRNNDescriptor{_GET}", f"cudnnGetRNNDescriptor_v6{_GET}")
def get_v6(a: Arguments) -> None:
    rnn = described(a.rnnDesc)
    a.put(
        hiddenSize=rnn.hidden_size,
        numLayers=rnn.layers,
        dropoutDesc=rnn.dropout,
        inputMode=rnn.input_mode,
        direction=raw.CUDNN_BIDIRECTIONAL if rnn.bidirectional else raw.CUDNN_UNIDIRECTIONAL,
        cellMode=rnn.cell,
        algo=rnn.algorithm,
        mathPrec=rnn.compute_data_type,
    )


# -- one setting each --------------------------------------------------------------------------


@implements("cudnnSetRNNMatrixMathType(cudnnRNNDescriptor_t rnnDesc, cudnnMathType_t mType)")
def set_math_type(a: Arguments) -> None:
    change(a.rnnDesc, mathType=a.mType)


@implements("cudnnGetRNNMatrixMathType(const cudnnRNNDescriptor_t rnnDesc, cudnnMathType_t *mType)")
def get_math_type(a: Arguments) -> None:
    a.put(mType=described(a.rnnDesc).math_type)


@implements("cudnnSetRNNBiasMode(cudnnRNNDescriptor_t rnnDesc, cudnnRNNBiasMode_t biasMode)")
def set_bias_mode(a: Arguments) -> None:
    change(a.rnnDesc, biasMode=a.biasMode)


@implements("cudnnGetRNNBiasMode(const cudnnRNNDescriptor_t rnnDesc, cudnnRNNBiasMode_t *biasMode)")
def get_bias_mode(a: Arguments) -> None:
    a.put(biasMode=described(a.rnnDesc).bias)


@implements("cudnnSetRNNPaddingMode(cudnnRNNDescriptor_t rnnDesc, unsigned paddingMode)")
def set_padding_mode(a: Arguments) -> None:
    change(a.rnnDesc, auxFlags=a.paddingMode)


@implements("cudnnGetRNNPaddingMode(const cudnnRNNDescriptor_t rnnDesc, unsigned *paddingMode)")
def get_padding_mode(a: Arguments) -> None:
    a.put(paddingMode=_PADDED if described(a.rnnDesc).padded_io else 0)


@implements(
    """
    cudnnSetRNNProjectionLayers(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    const int recProjSize, const int outProjSize)
    """
)
def set_projection(a: Arguments) -> None:
    if a.outProjSize:
        raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, "outProjSize: cuDNN never supported it")
    change(a.rnnDesc, projSize=a.recProjSize or described(a.rnnDesc).hidden_size)


@implements(
    """
    cudnnGetRNNProjectionLayers(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    int *recProjSize, int *outProjSize)
    """
)
def get_projection(a: Arguments) -> None:
    rnn = described(a.rnnDesc)
    a.put(recProjSize=rnn.projection_size or rnn.hidden_size, outProjSize=0)


@implements(
    """
    cudnnRNNSetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t clipMode,
    cudnnNanPropagation_t clipNanOpt, double lclip, double rclip)
    """
)
def set_clip(a: Arguments) -> None:
    raw.cudnnRNNSetClip_v8(a.rnnDesc, a.clipMode, a.clipNanOpt, a.lclip, a.rclip)


@implements(
    """
    cudnnRNNGetClip(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    cudnnRNNClipMode_t *clipMode, cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip)
    """
)
def get_clip(a: Arguments) -> None:
    raw.cudnnRNNGetClip_v8(a.rnnDesc, a.clipMode, a.clipNanOpt, a.lclip, a.rclip)


@implements(
    """
    cudnnSetRNNAlgorithmDescriptor(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnAlgorithmDescriptor_t algoDesc)
    """
)
def set_algorithm(a: Arguments) -> None:
    from .made_objects import held

    number = held(a.algoDesc, "algoDesc").algo.RNNAlgo
    change(a.rnnDesc, algo=raw.cudnnRNNAlgo_t(number))
