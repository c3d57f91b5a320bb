"""What RNN descriptors and RNN data descriptors hold, read back from cuDNN; see `readback`."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int, c_int32, c_uint32
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype
from ..rnn_cells import Cell, Clip
from ..rnn_network import Bias, RecurrentNetwork
from .dispatch import Refused

__all__ = ["RNN", "RNNData", "rnn", "rnn_data"]

_CELLS: dict[Any, Cell] = {
    raw.CUDNN_RNN_RELU: "relu",
    raw.CUDNN_RNN_TANH: "tanh",
    raw.CUDNN_LSTM: "lstm",
    raw.CUDNN_GRU: "gru",
}
_BIASES: dict[Any, Bias] = {
    raw.CUDNN_RNN_NO_BIAS: "none",
    raw.CUDNN_RNN_SINGLE_INP_BIAS: "input",
    raw.CUDNN_RNN_DOUBLE_BIAS: "double",
    raw.CUDNN_RNN_SINGLE_REC_BIAS: "recurrent",
}


@dataclass(frozen=True, slots=True)
class RNN:
    """An RNN descriptor.

    Attributes
    ----------
    network : RecurrentNetwork
        Everything that the computation depends on.
    data_type : cudnnDataType_t
        Of weights, inputs and outputs.
    padded_io : bool
        Whether sequences may have padding, or be BATCH_MAJOR.
    dropout : int or None
        Address of the dropout descriptor.
    """

    network: RecurrentNetwork
    algo: raw.cudnnRNNAlgo_t
    data_type: raw.cudnnDataType_t
    padded_io: bool
    dropout: int | None

    @property
    def compute_dtype(self) -> np.dtype[Any]:
        """float64 for DOUBLE, float32 for every other type."""
        return np.dtype(np.float64 if self.data_type == raw.CUDNN_DATA_DOUBLE else np.float32)


@dataclass(frozen=True, slots=True)
class RNNData:
    """An RNN data descriptor: sequences of vectors.

    `steps` is the longest length that fits, `padding_fill` what is stored behind shorter sequences;
    cuDNN reads back 0 where it was set to NULL.
    """

    data_type: raw.cudnnDataType_t
    layout: raw.cudnnRNNDataLayout_t
    steps: int
    batch: int
    size: int
    lengths: tuple[int, ...]
    padding_fill: float


def rnn(descriptor: Any, name: str) -> RNN:
    """What an RNN descriptor holds (``cudnnGetRNNDescriptor_v8``, ``cudnnRNNGetClip_v8``)."""
    algo, cell = raw.cudnnRNNAlgo_t(), raw.cudnnRNNMode_t()
    bias, direction = raw.cudnnRNNBiasMode_t(), raw.cudnnDirectionMode_t()
    input_mode, data_type = raw.cudnnRNNInputMode_t(), raw.cudnnDataType_t()
    math_prec, math_type = raw.cudnnDataType_t(), raw.cudnnMathType_t()
    input_size, hidden_size, projection_size = c_int32(), c_int32(), c_int32()
    layers, dropout, flags = c_int32(), raw.cudnnDropoutDescriptor_t(), c_uint32()
    clip_mode, nan = raw.cudnnRNNClipMode_t(), raw.cudnnNanPropagation_t()
    low, high = c_double(), c_double()
    _get(
        raw.cudnnGetRNNDescriptor_v8,
        name,
        descriptor,
        algo,
        cell,
        bias,
        direction,
        input_mode,
        data_type,
        math_prec,
        math_type,
        input_size,
        hidden_size,
        projection_size,
        layers,
        dropout,
        flags,
    )
    _get(raw.cudnnRNNGetClip_v8, name, descriptor, clip_mode, nan, low, high)
    clips = clip_mode.value == raw.CUDNN_RNN_CLIP_MINMAX
    projected = projection_size.value != hidden_size.value
    try:
        network = RecurrentNetwork(
            cell=_CELLS[cell.value],
            input_size=input_size.value,
            hidden_size=hidden_size.value,
            layers=layers.value,
            bidirectional=direction.value == raw.CUDNN_BIDIRECTIONAL,
            bias=_BIASES[bias.value],
            projection_size=projection_size.value if projected else None,
            skip_input=input_mode.value == raw.CUDNN_SKIP_INPUT,
            clip=_clip(low.value, high.value, nan.value) if clips else None,
        )
    except ValueError as error:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name}: {error}") from None
    padded_io = bool(flags.value & raw.CUDNN_RNN_PADDED_IO_ENABLED)
    return RNN(network, algo.value, data_type.value, padded_io, dropout.value)


def _clip(low: float, high: float, nan: raw.cudnnNanPropagation_t) -> Clip:
    """Limits as the kernels have them: float32, in networks of DOUBLE too."""
    return Clip(float(np.float32(low)), float(np.float32(high)), nan == raw.CUDNN_PROPAGATE_NAN)


def rnn_data(descriptor: Any, name: str) -> RNNData:
    """What an RNN data descriptor holds (``cudnnGetRNNDataDescriptor``)."""
    data_type, layout = raw.cudnnDataType_t(), raw.cudnnRNNDataLayout_t()
    steps, batch, size = c_int(), c_int(), c_int()
    fill = (ctypes.c_char * 8)()

    def read(count: int) -> Any:
        lengths = (c_int * max(count, 1))()
        function = raw.cudnnGetRNNDataDescriptor
        arguments = (data_type, layout, steps, batch, size, count, lengths, fill)
        _get(function, name, descriptor, *arguments)
        return lengths

    read(0)
    if batch.value == 0:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} was created, but never set")
    lengths = read(batch.value)
    padding_fill = float(np.frombuffer(fill.raw, numpy_dtype(data_type.value))[0])
    return RNNData(
        data_type.value,
        layout.value,
        steps.value,
        batch.value,
        size.value,
        tuple(lengths[: batch.value]),
        padding_fill,
    )


def _get(function: raw.Function, name: str, descriptor: Any, *rest: Any) -> None:
    if not descriptor:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL")
    status = function.unchecked(descriptor, *rest)
    if status == raw.CUDNN_STATUS_NOT_INITIALIZED:
        raise Refused(status, f"{name} was created, but never set")
    if status != raw.CUDNN_STATUS_SUCCESS:
        raise Refused(status, f"{name} cannot be read: {function.__name__} gave {status}")
