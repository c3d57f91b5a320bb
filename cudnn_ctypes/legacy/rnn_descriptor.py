"""The descriptors of recurrent networks: of the network, and of batches of sequences."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator, expect, flag, integers
from ..dtypes import as_data_type, element_bits
from ..handle import Handle
from ..raw.descriptors import RNN, RNNData
from ..runtime.elements import element
from .descriptor import Descriptor, answer, number, read_back
from .dropout import DropoutDescriptor, UsesDropout
from .layouts import check_tensor
from .operands import accumulator, real

_PACKED = raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED
_BATCH_MAJOR = raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED


class RNNDataDescriptor(Descriptor[raw.cudnnRNNDataDescriptor_t]):
    """A batch of sequences of vectors; follows ``cudnnSetRNNDataDescriptor``.

    Parameters
    ----------
    lengths : sequence of int, optional
        Vectors in each sequence. Default: not set yet. Sequences of length 0 are allowed here, but
        cuDNN fails on them (EXECUTION_FAILED).
    vector_size : int
        Elements of a vector.
    data_type : data type
        "float32", "float64", "float16" or "bfloat16".
    layout : cudnnRNNDataLayout_t or str
        ======================  ==============================================================
        "seq_major_unpacked"    (T, B, size): T is `max_length`; vectors behind a sequence's end
                                are padding
        "batch_major_unpacked"  (B, T, size), padded likewise
        "seq_major_packed"      (sum of lengths, size): the first vectors of all sequences, then
                                their second vectors..., without padding; lengths must descend
        ======================  ==============================================================
    max_length : int, optional
        T; default: the longest length.
    padding_fill : float, optional
        What outputs, gradients included, hold in the padding: 0 for None, as cuDNN reads it back.

    Raises
    ------
    BadParamError
        If cuDNN refuses: an empty batch, for example.
    ValueError
        If a length is not from 0 to `max_length`, or lengths do not descend where they must.

    Examples
    --------
    >>> RNNDataDescriptor([3, 2], 8, layout="seq_major_packed").shape
    (5, 8)
    """

    def __init__(
        self,
        lengths: Sequence[int] | None = None,
        vector_size: int = 0,
        data_type: Any = "float32",
        *,
        layout: Any = "seq_major_unpacked",
        max_length: int | None = None,
        padding_fill: float | None = None,
    ) -> None:
        super().__init__(raw.cudnnRNNDataDescriptor_t())
        with self._closed_on_error():
            if lengths is not None:
                lengths = integers("lengths", lengths)
                longest = max(lengths, default=0) if max_length is None else max_length
                self.set(data_type, layout, longest, vector_size, lengths, padding_fill)

    @classmethod
    def of(
        cls,
        tensor: Any,
        *,
        lengths: Sequence[int] | None = None,
        layout: Any = "seq_major_unpacked",
        padding_fill: float | None = None,
        name: str = "tensor",
    ) -> RNNDataDescriptor:
        """The descriptor of sequences in memory.

        Parameters
        ----------
        tensor : DeviceTensor, or any object with its shape and dtype
            (T, B, size), (B, T, size) or (sum of lengths, size), as `layout` says.
        lengths : sequence of int, optional
            Default: all T. Needed for the packed layout.
        layout, padding_fill : optional
            As for the class.
        name : str
            What errors call the tensor.
        """
        layout = enumerator(raw.cudnnRNNDataLayout_t, layout, "layout")
        check_tensor(name, tensor, "dtype")
        shape, steps = tuple(tensor.shape), None
        lengths = None if lengths is None else integers("lengths", lengths)
        ndim = 2 if layout == _PACKED else 3
        if len(shape) != ndim:
            raise ValueError(
                f"{name}: expected {ndim} dimensions in this layout, got shape {shape}"
            )
        if layout != _PACKED:
            batch, steps = shape[:2] if layout == _BATCH_MAJOR else shape[1::-1]
            lengths = [steps] * batch if lengths is None else lengths
            if len(lengths) != batch:
                raise ValueError(f"lengths: expected {batch} in shape {shape}, got {len(lengths)}")
        elif lengths is None:
            raise ValueError("lengths: needed for the packed layout")
        elif sum(lengths) != shape[0]:
            raise ValueError(f"lengths: must add up to {shape[0]}, got {sum(lengths)}")
        return cls(
            lengths,
            shape[-1],
            tensor.dtype,
            layout=layout,
            max_length=steps,
            padding_fill=padding_fill,
        )

    def set(
        self,
        data_type: Any,
        layout: Any,
        max_length: int,
        vector_size: int,
        lengths: Sequence[int],
        padding_fill: float | None = None,
    ) -> None:
        """Set everything, in C's order; follows ``cudnnSetRNNDataDescriptor``."""
        data_type = as_data_type(data_type)
        layout = enumerator(raw.cudnnRNNDataLayout_t, layout, "layout")
        lengths = integers("lengths", lengths)
        if not all(0 <= length <= max_length for length in lengths):
            raise ValueError(f"lengths: expected ints from 0 to {max_length}, got {lengths}")
        packed = layout == _PACKED
        if packed and (list(lengths) != sorted(lengths, reverse=True) or 0 in lengths):
            raise ValueError(
                f"lengths: must descend, and be 1 at least, in the packed layout, got {lengths}"
            )
        fill = None
        if padding_fill is not None:
            fill = element(padding_fill, data_type, "padding_fill")
        raw.cudnnSetRNNDataDescriptor(
            self, data_type, layout, max_length, len(lengths), vector_size, lengths, fill
        )

    # -- reading back --------------------------------------------------------------------------

    batch_size: int = read_back(RNNData, "B, the number of sequences.")
    lengths: tuple[int, ...] = read_back(RNNData, "Vectors in each sequence.")
    max_length: int = read_back(RNNData, "T, the most vectors that a sequence can have.")
    vector_size: int = read_back(RNNData, "Elements of a vector.")
    data_type: raw.cudnnDataType_t = read_back(RNNData, "Type of the elements.")
    layout: raw.cudnnRNNDataLayout_t = read_back(RNNData, "How the vectors lie in memory.")
    padding_fill: float = read_back(
        RNNData, "What outputs hold in the padding; 0 if it was not set."
    )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the memory: (T, B, size), (B, T, size) or (sum of lengths, size)."""
        return self._record(RNNData).memory_shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps along each dimension of the memory, in elements: it is dense, in C order."""
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    @property
    def size_in_bytes(self) -> int:
        """Bytes that the sequences take, padding included."""
        return math.prod(self.shape) * element_bits(self.data_type) // 8

    def like(self, vector_size: int) -> RNNDataDescriptor:
        """The same sequences of vectors of another size: those of y for x."""
        return RNNDataDescriptor(**{**self._held(), "vector_size": vector_size})


_GATES: dict[raw.cudnnRNNMode_t, tuple[str, ...]] = {
    raw.CUDNN_RNN_RELU: ("hidden",),
    raw.CUDNN_RNN_TANH: ("hidden",),
    raw.CUDNN_LSTM: ("input", "forget", "cell", "output"),
    raw.CUDNN_GRU: ("reset", "update", "new"),
}
"""The gates of each cell, in the order of cuDNN's linear layers."""


class RNNTempSpaceSizes(NamedTuple):
    """Bytes of scratch memory for each call, and of what a training step keeps; 0 for inference.

    Examples
    --------
    >>> rnn = RNNDescriptor("lstm", input_size=8, hidden_size=16)
    >>> with Handle() as handle:
    ...     sizes = rnn.temp_space_sizes(handle, RNNDataDescriptor([3, 3], 8), training=False)
    >>> sizes.reserve_space  # nothing is kept for inference
    0
    """

    workspace: int
    reserve_space: int


class RNNDescriptor(UsesDropout[raw.cudnnRNNDescriptor_t]):
    """A stack of recurrent layers; follows ``cudnnSetRNNDescriptor_v8``.

    Parameters
    ----------
    cell : cudnnRNNMode_t or str
        "lstm", "gru", "tanh" or "relu". Default: not set yet.
    input_size : int
        Elements of the vectors that the first layer reads.
    hidden_size : int
        Elements of the cells' states.
    projection_size : int, optional
        LSTM only: elements to which a layer's output is projected, less than `hidden_size`.
        Default: not projected.
    layers : int
        Layers on top of each other.
    bidirectional : bool
        Every layer also runs backwards, and passes on both outputs, concatenated.
    bias : cudnnRNNBiasMode_t or str
        "double_bias" (one for the input, one for the recurrent matrices, as PyTorch has),
        "single_inp_bias", "single_rec_bias" or "no_bias".
    input_mode : cudnnRNNInputMode_t or str
        "linear_input"; or "skip_input": the first layer adds its input to every gate without
        multiplying it by a matrix, and `input_size` must be `hidden_size`.
    data_type : data type
        Of weights, inputs and outputs: "float32", "float64", "float16", or (not in cuDNN 9.0)
        "bfloat16".
    compute_data_type : data type, optional
        float32, or float16 for float16 data; default float32, float64 for float64 data.
    math_type : cudnnMathType_t or str
        As for `ConvolutionDescriptor`; "default_math" includes TF32 for float32.
    algorithm : cudnnRNNAlgo_t or str
        "standard"; or "persist_static", "persist_static_small_h" and "persist_dynamic", which keep
        weights on the GPU's multiprocessors and are limited in what they can do: double biases, no
        projection, not computed in float16, the static ones not in float64. The last one needs
        `build_dynamic`.
    dropout : DropoutDescriptor, optional
        Dropout between the layers, in training only; kept. Default: none.
    padded_io : bool
        Whether sequences may have padding, or be in the layout "batch_major_unpacked".
    clip : (float, float), optional
        Limits of an LSTM's cell states where a step reads them, rounded to float32; what it hands
        on, cy too, is not clipped. NaN passes.

    Raises
    ------
    BadParamError, NotSupportedError
        If cuDNN refuses: a size of zero, types that do not go together.
    ValueError
        If input_size is not hidden_size with "skip_input".

    Examples
    --------
    >>> rnn = RNNDescriptor("lstm", input_size=8, hidden_size=16, layers=2, bidirectional=True)
    >>> rnn.output_size, rnn.pseudo_layers
    (32, 4)
    """

    def __init__(
        self,
        cell: Any = None,
        *,
        input_size: int = 0,
        hidden_size: int = 0,
        projection_size: int | None = None,
        layers: int = 1,
        bidirectional: bool = False,
        bias: Any = "double_bias",
        input_mode: Any = "linear_input",
        data_type: Any = "float32",
        compute_data_type: Any = None,
        math_type: Any = "default_math",
        algorithm: Any = "standard",
        dropout: DropoutDescriptor | None = None,
        padded_io: bool = True,
        clip: tuple[float, float] | None = None,
    ) -> None:
        options = {name: value for name, value in locals().items() if name in _OPTIONS}
        super().__init__(raw.cudnnRNNDescriptor_t())
        with self._closed_on_error():
            if cell is not None:
                self.set(**options)
            if cell is not None and clip is not None:
                self.clip = clip

    def set(
        self,
        cell: Any,
        *,
        input_size: int,
        hidden_size: int,
        projection_size: int | None = None,
        layers: int = 1,
        bidirectional: bool = False,
        bias: Any = "double_bias",
        input_mode: Any = "linear_input",
        data_type: Any = "float32",
        compute_data_type: Any = None,
        math_type: Any = "default_math",
        algorithm: Any = "standard",
        dropout: DropoutDescriptor | None = None,
        padded_io: bool = True,
    ) -> None:
        """Set everything but the clip, which is switched off; arguments as for the class."""
        data_type = as_data_type(data_type)
        compute = accumulator(data_type) if compute_data_type is None else compute_data_type
        mode = enumerator(raw.cudnnRNNInputMode_t, input_mode, "input_mode")
        if mode == raw.CUDNN_SKIP_INPUT and input_size != hidden_size:
            raise ValueError(
                f"input_size: must be hidden_size ({hidden_size}) with skip_input, got {input_size}"
            )
        if dropout is not None and not isinstance(dropout, DropoutDescriptor):
            raise TypeError(f"dropout: expected a DropoutDescriptor, got {dropout!r}")
        raw.cudnnSetRNNDescriptor_v8(
            self,
            algo=enumerator(raw.cudnnRNNAlgo_t, algorithm, "algorithm"),
            cellMode=enumerator(raw.cudnnRNNMode_t, cell, "cell"),
            biasMode=enumerator(raw.cudnnRNNBiasMode_t, bias, "bias"),
            dirMode=(
                raw.CUDNN_BIDIRECTIONAL
                if flag("bidirectional", bidirectional)
                else raw.CUDNN_UNIDIRECTIONAL
            ),
            inputMode=mode,
            dataType=data_type,
            mathPrec=as_data_type(compute),
            mathType=enumerator(raw.cudnnMathType_t, math_type, "math_type"),
            inputSize=input_size,
            hiddenSize=hidden_size,
            projSize=hidden_size if projection_size is None else projection_size,
            numLayers=layers,
            dropoutDesc=raw.cudnnDropoutDescriptor_t() if dropout is None else dropout,
            auxFlags=raw.CUDNN_RNN_PADDED_IO_ENABLED if flag("padded_io", padded_io) else 0,
        )
        self._keep(dropout)

    @property
    def clip(self) -> tuple[float, float] | None:
        """Limits of an LSTM's cell states where a step reads them; ``cudnnRNNSetClip_v9``.

        None for none. A NaN passes.
        """
        return self._record(RNN).clip

    @clip.setter
    def clip(self, limits: tuple[float, float] | None) -> None:
        raw.cudnnRNNSetClip_v9(self, *_clip(limits))

    clip_nan_propagation: raw.cudnnNanPropagation_t = read_back(
        RNN, "What the clip makes of NaN: NaN, or the lower limit; `clip` lets NaN pass."
    )

    def set_clip_v8(self, limits: tuple[float, float] | None, nan_propagation: Any) -> None:
        """Set the clip and what it makes of NaN; follows ``cudnnRNNSetClip_v8``.

        Parameters
        ----------
        limits : (float, float) or None
            As `clip` of the class.
        nan_propagation : cudnnNanPropagation_t or str
            "propagate_nan" or "not_propagate_nan".
        """
        mode, low, high = _clip(limits)
        nan = enumerator(raw.cudnnNanPropagation_t, nan_propagation, "nan_propagation")
        raw.cudnnRNNSetClip_v8(self, mode, nan, low, high)

    def weight_space_size(self, handle: Handle) -> int:
        """Bytes of all weights and biases; follows ``cudnnGetRNNWeightSpaceSize``."""
        return number(raw.cudnnGetRNNWeightSpaceSize, handle, self)

    def temp_space_sizes(
        self, handle: Handle, x_desc: RNNDataDescriptor, *, training: bool = True
    ) -> RNNTempSpaceSizes:
        """Bytes of workspace and reserve space; follows ``cudnnGetRNNTempSpaceSizes``.

        Parameters
        ----------
        x_desc : RNNDataDescriptor
            Of the input: the longest sequence and the number of sequences count.
        training : bool
            Whether a reserve space for the backward pass is wanted.
        """
        expect("handle", handle, Handle)
        self._check_dropouts()
        mode = raw.CUDNN_FWD_MODE_INFERENCE
        if flag("training", training):
            mode = raw.CUDNN_FWD_MODE_TRAINING
        return RNNTempSpaceSizes(*answer(raw.cudnnGetRNNTempSpaceSizes, handle, self, mode, x_desc))

    def build_dynamic(self, handle: Handle, batch: int) -> None:
        """Compile the kernels of "persist_dynamic" for a batch; ``cudnnBuildRNNDynamic``."""
        raw.cudnnBuildRNNDynamic(handle, self, batch)

    # -- reading back --------------------------------------------------------------------------

    cell: raw.cudnnRNNMode_t = read_back(RNN, "Kind of the cells.")
    input_size: int = read_back(RNN, "Elements of the vectors that the first layer reads.")
    hidden_size: int = read_back(RNN, "Elements of the cells' states.")
    projection_size: int | None = read_back(RNN, "Elements of an LSTM's projected output, or None.")
    layers: int = read_back(RNN, "Layers on top of each other.")
    bidirectional: bool = read_back(RNN, "Whether every layer also runs backwards.")
    bias: raw.cudnnRNNBiasMode_t = read_back(RNN, "Which biases the cells have.")
    input_mode: raw.cudnnRNNInputMode_t = read_back(
        RNN, "Whether the first layer has input matrices."
    )
    data_type: raw.cudnnDataType_t = read_back(RNN, "Type of weights, inputs and outputs.")
    compute_data_type: raw.cudnnDataType_t = read_back(RNN, "What is computed in.")
    math_type: raw.cudnnMathType_t = read_back(RNN, "Whether tensor cores may be used.")
    algorithm: raw.cudnnRNNAlgo_t = read_back(RNN, "How it is computed.")
    padded_io: bool = read_back(RNN, "Whether sequences may have padding, or lie batch by batch.")

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates of the cell, in the order of cuDNN's linear layers."""
        return _GATES[self.cell]

    @property
    def pseudo_layers(self) -> int:
        """Layers times directions: layer 0 forwards, layer 0 backwards, layer 1 forwards, ..."""
        return self.layers * (2 if self.bidirectional else 1)

    @property
    def state_size(self) -> int:
        """Elements of a hidden state: `projection_size`, or else `hidden_size`."""
        return self.projection_size or self.hidden_size

    @property
    def output_size(self) -> int:
        """Elements of an output vector: `state_size`, twice for two directions."""
        return self.state_size * (2 if self.bidirectional else 1)

    @property
    def dropout(self) -> Any:
        """The descriptor of the dropout between layers, or None."""
        return self._dropout_at(self._record(RNN).dropout)

    def _held(self) -> dict[str, Any]:
        values = super()._held()
        if values and values["clip"] is None:  # then it clips nothing, NaN neither
            del values["clip_nan_propagation"]
        return values

    def _arguments(self) -> dict[str, Any]:
        arguments = self._held()
        arguments.pop("clip_nan_propagation", None)
        return {**arguments, "dropout": self.dropout} if arguments else {}


_OPTIONS = tuple(inspect.signature(RNNDescriptor.set).parameters)[1:]


def _clip(limits: tuple[float, float] | None) -> tuple[raw.cudnnRNNClipMode_t, float, float]:
    if limits is None:
        return raw.CUDNN_RNN_CLIP_NONE, 0.0, 0.0
    if not isinstance(limits, Sequence) or len(limits) != 2:
        raise ValueError(f"clip: expected two limits or None, got {limits!r}")
    return raw.CUDNN_RNN_CLIP_MINMAX, real("clip", limits[0]), real("clip", limits[1])
