"""What an RNN descriptor holds, read back from cuDNN; and its clip, which can be set alone."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_double, c_int32, c_uint32
from typing import Any

from .. import raw
from ..errors import NotInitializedError
from .descriptor import Descriptor
from .dropout_descriptor import DropoutDescriptor
from .enumerators import enumerator
from .scalars import real

__all__ = ["RNN_GATES", "RNNSettings"]

RNN_GATES: dict[raw.cudnnRNNMode_t, tuple[str, ...]] = {
    raw.CUDNN_RNN_RELU: ("hidden",),
    raw.CUDNN_RNN_TANH: ("hidden",),
    raw.CUDNN_LSTM: ("input", "forget", "cell", "output"),
    raw.CUDNN_GRU: ("reset", "update", "new"),
}
"""The gates of each cell, in the order of cuDNN's linear layers."""


class RNNSettings(Descriptor[raw.cudnnRNNDescriptor_t]):
    """The part of `RNNDescriptor` that reads the library."""

    _dropout: DropoutDescriptor | None = None

    def _read(self) -> dict[str, Any]:
        enums: dict[str, Any] = {
            "algorithm": raw.cudnnRNNAlgo_t(),
            "cell": raw.cudnnRNNMode_t(),
            "bias": raw.cudnnRNNBiasMode_t(),
            "direction": raw.cudnnDirectionMode_t(),
            "input_mode": raw.cudnnRNNInputMode_t(),
            "data_type": raw.cudnnDataType_t(),
            "compute_type": raw.cudnnDataType_t(),
            "math_type": raw.cudnnMathType_t(),
        }
        sizes: dict[str, Any] = {
            "input_size": c_int32(),
            "hidden_size": c_int32(),
            "projection_size": c_int32(),
            "layers": c_int32(),
        }
        dropout, flags = raw.cudnnDropoutDescriptor_t(), c_uint32()
        filled: list[Any] = [*enums.values(), *sizes.values(), dropout, flags]
        raw.cudnnGetRNNDescriptor_v8(self, *filled)
        held = {name: variable.value for name, variable in {**enums, **sizes}.items()}
        held["bidirectional"] = held.pop("direction") == raw.CUDNN_BIDIRECTIONAL
        if held["projection_size"] == held["hidden_size"]:
            held["projection_size"] = None
        held["padded_io"] = bool(flags.value & raw.CUDNN_RNN_PADDED_IO_ENABLED)
        held["dropout"] = dropout.value
        return held

    @property
    def cell(self) -> raw.cudnnRNNMode_t:
        """Kind of the cells."""
        return raw.cudnnRNNMode_t(self._read()["cell"])

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates of the cell, in the order of cuDNN's linear layers."""
        return RNN_GATES[self.cell]

    @property
    def input_size(self) -> int:
        """Elements of the vectors that the first layer reads."""
        return int(self._read()["input_size"])

    @property
    def hidden_size(self) -> int:
        """Elements of the cells' states."""
        return int(self._read()["hidden_size"])

    @property
    def projection_size(self) -> int | None:
        """Elements to which an LSTM's output is projected; None if it is not."""
        size: int | None = self._read()["projection_size"]
        return size

    @property
    def layers(self) -> int:
        """Layers on top of each other."""
        return int(self._read()["layers"])

    @property
    def bidirectional(self) -> bool:
        """Whether every layer also runs backwards."""
        return bool(self._read()["bidirectional"])

    @property
    def pseudo_layers(self) -> int:
        """Layers times directions: layer 0 forwards, layer 0 backwards, layer 1 forwards, ..."""
        held = self._read()
        return int(held["layers"]) * (2 if held["bidirectional"] else 1)

    @property
    def state_size(self) -> int:
        """Elements of a hidden state: `projection_size`, or else `hidden_size`."""
        held = self._read()
        return int(held["projection_size"] or held["hidden_size"])

    @property
    def output_size(self) -> int:
        """Elements of an output vector: `state_size`, twice for two directions."""
        return self.state_size * (2 if self.bidirectional else 1)

    @property
    def bias(self) -> raw.cudnnRNNBiasMode_t:
        """Which biases the cells have."""
        return raw.cudnnRNNBiasMode_t(self._read()["bias"])

    @property
    def input_mode(self) -> raw.cudnnRNNInputMode_t:
        """Whether the first layer multiplies its input by matrices."""
        return raw.cudnnRNNInputMode_t(self._read()["input_mode"])

    @property
    def data_type(self) -> raw.cudnnDataType_t:
        """Type of weights, inputs and outputs."""
        return raw.cudnnDataType_t(self._read()["data_type"])

    @property
    def compute_type(self) -> raw.cudnnDataType_t:
        """What is computed in."""
        return raw.cudnnDataType_t(self._read()["compute_type"])

    @property
    def math_type(self) -> raw.cudnnMathType_t:
        """Whether tensor cores may be used."""
        return raw.cudnnMathType_t(self._read()["math_type"])

    @property
    def algorithm(self) -> raw.cudnnRNNAlgo_t:
        """How it is computed."""
        return raw.cudnnRNNAlgo_t(self._read()["algorithm"])

    @property
    def padded_io(self) -> bool:
        """Whether sequences may have padding, or lie batch by batch."""
        return bool(self._read()["padded_io"])

    @property
    def dropout(self) -> DropoutDescriptor | None:
        """The descriptor of the dropout between layers."""
        return self._dropout

    # -- clipping ------------------------------------------------------------------------------

    def _read_clip(self) -> tuple[raw.cudnnRNNClipMode_t, raw.cudnnNanPropagation_t, float, float]:
        mode, nan = raw.cudnnRNNClipMode_t(), raw.cudnnNanPropagation_t()
        low, high = c_double(), c_double()
        raw.cudnnRNNGetClip_v8(self, mode, nan, low, high)
        return mode.value, nan.value, low.value, high.value

    @property
    def clip(self) -> tuple[float, float] | None:
        """Limits of an LSTM's cell states where a step reads them; ``cudnnRNNSetClip_v9``.

        None for none. A NaN passes.
        """
        mode, low, high = raw.cudnnRNNClipMode_t(), c_double(), c_double()
        raw.cudnnRNNGetClip_v9(self, mode, low, high)
        return (low.value, high.value) if mode.value == raw.CUDNN_RNN_CLIP_MINMAX else None

    @clip.setter
    def clip(self, limits: tuple[float, float] | None) -> None:
        low, high = _limits(limits)
        mode = raw.CUDNN_RNN_CLIP_NONE if limits is None else raw.CUDNN_RNN_CLIP_MINMAX
        raw.cudnnRNNSetClip_v9(self, mode, low, high)

    @property
    def clip_nan_propagation(self) -> raw.cudnnNanPropagation_t:
        """What the clip makes of NaN: NaN, or the lower limit; `clip` sets "propagate_nan"."""
        return self._read_clip()[1]

    def set_clip_v8(self, limits: tuple[float, float] | None, nan_propagation: Any) -> None:
        """Set the clip and what it makes of NaN; follows ``cudnnRNNSetClip_v8``.

        Parameters
        ----------
        nan_propagation : cudnnNanPropagation_t or str
            "propagate_nan" or "not_propagate_nan".
        """
        nan = enumerator(raw.cudnnNanPropagation_t, nan_propagation, "nan_propagation")
        low, high = _limits(limits)
        mode = raw.CUDNN_RNN_CLIP_NONE if limits is None else raw.CUDNN_RNN_CLIP_MINMAX
        raw.cudnnRNNSetClip_v8(self, mode, nan, low, high)

    # -- printing and comparing ------------------------------------------------------------------

    def _held(self) -> dict[str, Any]:
        try:
            held = self._read()
        except NotInitializedError:
            return {}
        mode, nan, low, high = self._read_clip()
        held["clip"] = (nan, low, high) if mode == raw.CUDNN_RNN_CLIP_MINMAX else None
        return held

    def _arguments(self) -> dict[str, Any]:
        held = self._held()
        if not held:
            return {}
        order = ("cell", "input_size", "hidden_size", "projection_size", "layers", "bidirectional")
        arguments = {name: held.pop(name) for name in order}
        return {**arguments, **held, "dropout": self._dropout, "clip": self.clip}


def _limits(limits: tuple[float, float] | None) -> tuple[float, float]:
    if limits is None:
        return 0.0, 0.0
    if not isinstance(limits, Sequence) or len(limits) != 2:
        raise ValueError(f"clip: expected two limits or None, got {limits!r}")
    return real("clip", limits[0]), real("clip", limits[1])
