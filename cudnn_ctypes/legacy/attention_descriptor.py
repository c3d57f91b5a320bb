"""Descriptors of multi-head attention and of its sequences, and its weights by name."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from ctypes import c_size_t, c_void_p
from typing import Any, NamedTuple

from numpy.typing import NDArray

from .. import raw
from ..arguments import enumerator, expect, flag, integer, integers
from ..dtypes import as_data_type, numpy_dtype
from ..handle import Handle
from ..raw.ctypes_support import short_name
from ..raw.descriptors import Attention, SequenceData
from ..raw.strides import packed
from ..runtime import DeviceBuffer, DeviceTensor
from ..runtime.elements import element
from ..runtime.layout import Shape, to_shape
from .descriptor import Descriptor, read_back
from .documentation import documented
from .dropout import UsesDropout
from .layouts import check_tensor
from .operands import accumulator, real
from .sequence_operands import WeightSpace
from .tensor import TensorDescriptor

_QUERY_MAPS = {
    "all_to_one": raw.CUDNN_ATTN_QUERYMAP_ALL_TO_ONE,
    "one_to_one": raw.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE,
}

# What cudnnSetAttnDescriptor calls the sizes, in its order.
_SIZES = {
    "q_size": "qSize",
    "k_size": "kSize",
    "v_size": "vSize",
    "q_projection": "qProjSize",
    "k_projection": "kProjSize",
    "v_projection": "vProjSize",
    "o_projection": "oProjSize",
    "qo_max_length": "qoMaxSeqLength",
    "kv_max_length": "kvMaxSeqLength",
    "max_batch": "maxBatchSize",
    "max_beam": "maxBeamSize",
}


class AttnDescriptor(UsesDropout[raw.cudnnAttnDescriptor_t]):
    """The sizes and options of multi-head attention; follows ``cudnnSetAttnDescriptor``.

    Parameters
    ----------
    heads : int
        Number of attention heads.
    q_size, k_size, v_size : int
        Lengths of the vectors in queries, keys and values. Keys and values default to queries.
    q_projection, k_projection, v_projection : int
        Lengths to which each head projects them; 0: no projection, no weights. Queries and keys
        must come out equally long.
    o_projection : int
        Length of the output, to which the heads' results are projected and added up; 0: they are
        stacked on each other.
    qo_max_length, kv_max_length, max_batch, max_beam : int
        The most time steps, batch entries and sequences in a beam that will be given; buffers are
        sized for them.
    scaler : float
        What scores are multiplied by before the softmax, not negative; 1 / sqrt(projection) in
        transformers.
    query_map : {"all_to_one", "one_to_one"}
        Whether the queries in one beam have keys and values in common (whose beam is 1 then), or
        have their own, which cuDNN 9.28 supports with ``max_beam=1`` only.
    biases : bool
        Whether projections add biases.
    data_type, compute_data_type : data type
        float32 or float64 with themselves, float16 with float16 or float32, bfloat16 with float32.
        compute_data_type defaults to float32, and to float64 for float64.
    math_type : cudnnMathType_t or str
        As for `ConvolutionDescriptor`.
    attention_dropout, output_dropout : DropoutDescriptor, optional
        Dropout of the attention after the softmax, and of the output before residuals are added.
        Active in training only.

    Raises
    ------
    BadParamError, NotSupportedError
        If cuDNN refuses: a size of zero, projections that do not match, types that do not go
        together.

    Examples
    --------
    >>> attn = AttnDescriptor(2, q_size=8, q_projection=4, k_projection=4, v_projection=4,
    ...                       o_projection=8, qo_max_length=5, kv_max_length=5, scaler=0.5)
    >>> attn.output_size
    8
    """

    def __init__(
        self,
        heads: int = 1,
        *,
        q_size: int,
        k_size: int | None = None,
        v_size: int | None = None,
        q_projection: int = 0,
        k_projection: int = 0,
        v_projection: int = 0,
        o_projection: int = 0,
        qo_max_length: int,
        kv_max_length: int,
        max_batch: int = 1,
        max_beam: int = 1,
        scaler: float = 1.0,
        query_map: str = "all_to_one",
        biases: bool = False,
        data_type: Any = "float32",
        compute_data_type: Any = None,
        math_type: Any = "default_math",
        attention_dropout: Any = None,
        output_dropout: Any = None,
    ) -> None:
        k_size = q_size if k_size is None else k_size
        v_size = q_size if v_size is None else v_size
        options = {name: value for name, value in locals().items() if name in _OPTIONS}
        super().__init__(raw.cudnnAttnDescriptor_t())
        with self._closed_on_error():
            self.set(**options)

    def set(
        self,
        *,
        heads: int,
        scaler: float,
        query_map: str,
        biases: bool,
        data_type: Any,
        compute_data_type: Any,
        math_type: Any,
        attention_dropout: Any,
        output_dropout: Any,
        **sizes: int,
    ) -> None:
        """Set everything; follows ``cudnnSetAttnDescriptor``.

        Arguments, the `sizes` by their names, as for the class.
        """
        if set(sizes) != set(_SIZES):
            raise TypeError(f"expected the sizes {', '.join(_SIZES)}; got {', '.join(sizes)}")
        mapped = _QUERY_MAPS.get(str(query_map).lower().removeprefix("cudnn_attn_querymap_"))
        if mapped is None:
            raise ValueError(f"query_map: expected 'all_to_one' or 'one_to_one', got {query_map!r}")
        data_type = as_data_type(data_type)
        compute = accumulator(data_type) if compute_data_type is None else compute_data_type
        _check(heads, scaler, sizes)
        with_biases = (
            raw.CUDNN_ATTN_ENABLE_PROJ_BIASES
            if flag("biases", biases)
            else raw.CUDNN_ATTN_DISABLE_PROJ_BIASES
        )
        raw.cudnnSetAttnDescriptor(
            self,
            attnMode=mapped | with_biases,
            nHeads=heads,
            smScaler=scaler,
            dataType=data_type,
            computePrec=as_data_type(compute),
            mathType=enumerator(raw.cudnnMathType_t, math_type, "math_type"),
            attnDropoutDesc=attention_dropout,
            postDropoutDesc=output_dropout,
            **{_SIZES[name]: value for name, value in sizes.items()},
        )
        self._keep(attention_dropout, output_dropout)

    # -- reading back --------------------------------------------------------------------------

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of vectors and projections, and the most steps, batch entries and beams."""
        attention = self._record(Attention)
        return {name: getattr(attention, name) for name in _SIZES}

    @property
    def output_size(self) -> int:
        """Length of the vectors in the output."""
        return self._record(Attention).projected[3]

    @property
    def query_map(self) -> str:
        """ "all_to_one" or "one_to_one"."""
        return _query_map(self._record(Attention).one_to_one)

    @property
    def attention_dropout(self) -> Any:
        """The dropout descriptor of the attention, or None."""
        return self._dropout_at(self._record(Attention).attention_dropout)

    @property
    def output_dropout(self) -> Any:
        """The dropout descriptor of the output, or None."""
        return self._dropout_at(self._record(Attention).output_dropout)

    heads: int = read_back(Attention, "Number of attention heads.")
    scaler: float = read_back(Attention, "What scores are multiplied by before the softmax.")
    biases: bool = read_back(Attention, "Whether projections add biases.")
    data_type: raw.cudnnDataType_t = read_back(
        Attention, "Type of queries, keys, values, weights and output."
    )
    compute_data_type: raw.cudnnDataType_t = read_back(Attention, "What is computed in.")
    math_type: raw.cudnnMathType_t = read_back(Attention, "Whether tensor cores may be used.")

    def _held(self) -> dict[str, Any]:
        values = super()._held()
        if values:
            values["query_map"] = _query_map(values.pop("one_to_one"))
        return values

    def _arguments(self) -> dict[str, Any]:
        values = self._held()
        names = ("attention_dropout", "output_dropout") if values else ()
        return {**values, **{name: getattr(self, name) for name in names}}


_OPTIONS = {*inspect.signature(AttnDescriptor).parameters}


def _query_map(one_to_one: bool) -> str:
    return "one_to_one" if one_to_one else "all_to_one"


def _check(heads: int, scaler: float, sizes: dict[str, int]) -> None:
    """Say what cuDNN's BAD_PARAM does not: it gives no reason here."""
    projections = [name for name in _SIZES if name.endswith("_projection")]
    for name, value in {"heads": heads, **sizes}.items():
        integer(name, value, least=0 if name in projections else 1)
    if not real("scaler", scaler) >= 0:
        raise ValueError(f"scaler: expected 0 or more, got {scaler}")
    q, k = (sizes[f"{name}_projection"] or sizes[f"{name}_size"] for name in "qk")
    if q != k:
        raise ValueError(
            f"k_projection: keys are {k} long after projection, queries {q}; a query is "
            f"compared to keys of its own length"
        )


class AttentionBufferSizes(NamedTuple):
    """Sizes in bytes of what multi-head attention needs; `reserve_space` is 0 for inference."""

    weights: int
    workspace: int
    reserve_space: int


@documented
def attention_buffer_sizes(
    handle: Handle, attn: AttnDescriptor, *, training: bool = True
) -> AttentionBufferSizes:
    """Sizes of an attention's buffers in bytes; follows ``cudnnGetMultiHeadAttnBuffers``.

    Parameters
    ----------
    attn : AttnDescriptor
        Heads, projections and the longest sequences.
    training : bool
        Whether a reserve space for the backward passes is wanted.

    Examples
    --------
    >>> attn = AttnDescriptor(1, q_size=4, qo_max_length=3, kv_max_length=3)
    >>> with Handle() as handle:
    ...     sizes = attention_buffer_sizes(handle, attn, training=False)
    >>> sizes.weights, sizes.reserve_space  # no projections, no backward pass
    (0, 0)
    """
    expect("handle", handle, Handle)
    expect("attn", attn, AttnDescriptor)
    weights, workspace, reserve_space = c_size_t(), c_size_t(), c_size_t()
    raw.cudnnGetMultiHeadAttnBuffers(
        handle, attn, weights, workspace, reserve_space if flag("training", training) else None
    )
    return AttentionBufferSizes(weights.value, workspace.value, reserve_space.value)


class AttentionWeights(WeightSpace, Mapping[str, DeviceTensor]):
    """One space with the weights and biases of an attention, or with their gradients.

    The names are "q_weights", "k_weights", "v_weights", "o_weights", "q_biases", "k_biases",
    "v_biases" and "o_biases"; those that the attention has not are missing. Each gives a tensor in
    the space: weights (heads, rows, columns), biases (heads, rows, 1), of the output (1, rows, 1).
    Follows ``cudnnGetMultiHeadAttnWeights``.

    Parameters
    ----------
    handle : Handle
    attn : AttnDescriptor
    arrays : mapping of str to numpy.ndarray, optional
        What to copy in, by name.
    space : DeviceBuffer, optional
        Memory to use, which stays the caller's. Default: allocated, zero, and freed by `close`.

    Examples
    --------
    >>> with AttentionWeights(handle, attn, arrays) as weights:  # doctest: +SKIP
    ...     weights["q_weights"].numpy()
    """

    def __init__(
        self,
        handle: Handle,
        attn: AttnDescriptor,
        arrays: Mapping[str, NDArray[Any]] | None = None,
        *,
        space: DeviceBuffer | None = None,
    ) -> None:
        needed = attention_buffer_sizes(handle, attn, training=False).weights
        super().__init__(handle, space, needed)
        try:
            self._tensors = _tensors(handle, attn, self.space, needed)
            if arrays is not None:
                self.copy_from(arrays)
        except BaseException:
            self.close()
            raise

    def copy_from(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Copy arrays in, by name. Values are rounded to its type.

        Raises
        ------
        ValueError
            If a name is not one of this attention's, or a shape is another; the message names it.
        """
        if not isinstance(arrays, Mapping):
            raise TypeError(f"arrays: expected arrays by name, got {arrays!r}")
        unknown = [name for name in arrays if name not in self._tensors]
        if unknown:
            raise ValueError(
                f"arrays: this attention has no {', '.join(unknown)}; it has "
                f"{', '.join(self._tensors) or 'no weights'}"
            )
        for name, array in arrays.items():
            self._write(f"arrays[{name!r}]", self._tensors[name], array)

    def numpy(self) -> dict[str, NDArray[Any]]:
        """Copies of all weights and biases, by name, after the work on the handle's stream."""
        return {name: tensor.numpy(stream=self._stream) for name, tensor in self.items()}

    def __getitem__(self, name: str) -> DeviceTensor:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {tensor.shape}" for name, tensor in self.items())
        return f"<AttentionWeights, {self.nbytes} bytes: {shapes or 'none'}>"


def _tensors(
    handle: Handle, attn: AttnDescriptor, space: DeviceBuffer, size: int
) -> dict[str, DeviceTensor]:
    tensors = {}
    with TensorDescriptor() as desc:
        for kind in raw.cudnnMultiHeadAttnWeightKind_t:
            address = c_void_p()
            raw.cudnnGetMultiHeadAttnWeights(handle, attn, kind, size, space, desc, address)
            if address.value is not None:
                tensors[short_name(kind)] = DeviceTensor(
                    space,
                    desc.shape,
                    desc.data_type,
                    strides=desc.strides,
                    offset=address.value - space.ptr,
                )
    return tensors


# -- sequences ------------------------------------------------------------------------------------


_NDIM = raw.CUDNN_SEQDATA_DIM_COUNT

# The letter of each axis, in the order of cudnnSeqDataAxis_t, which is that of the shape.
_LETTERS = "TNBV"


class SeqDataDescriptor(Descriptor[raw.cudnnSeqDataDescriptor_t]):
    """Sequences of vectors, and how they lie in memory; follows ``cudnnSetSeqDataDescriptor``.

    The shape is (time, batch, beam, vector) whatever the order in memory, which `axes` gives.

    Parameters
    ----------
    shape : sequence of 4 int
        (T, N, B, V): most time steps of a sequence, batch, sequences in the beam of one batch
        entry, length of a vector.
    data_type : data type
        float32, float64, float16 or bfloat16.
    axes : str or sequence of cudnnSeqDataAxis_t
        The order in memory, slowest axis first, by the letters of the shape: "TNBV", "NTBV",
        "NBTV", ... cuDNN has V as the last one, and wants the same order for all descriptors of
        one call.
    lengths : sequence of N * B int, optional
        Time steps of each sequence, the beam of the first batch entry first, from 1 to T; what
        follows is padding. Default: T.
    padding_fill : float, optional
        A value for padding vectors. cuDNN's documentation reserves it: attention ignores it.

    Raises
    ------
    BadParamError, NotSupportedError
        If cuDNN refuses: a zero dimension or length, a length above T.
    TypeError, ValueError
        If the arguments do not go together.

    Examples
    --------
    >>> x = SeqDataDescriptor((5, 2, 1, 8), lengths=(5, 3), axes="NTBV")
    >>> x.strides
    (8, 40, 8, 1)
    """

    def __init__(
        self,
        shape: Sequence[int],
        data_type: Any = "float32",
        *,
        axes: Any = _LETTERS,
        lengths: Sequence[int] | None = None,
        padding_fill: float | None = None,
    ) -> None:
        super().__init__(raw.cudnnSeqDataDescriptor_t())
        with self._closed_on_error():
            self.set(data_type, shape, axes, lengths, padding_fill)

    @classmethod
    def of(
        cls, tensor: DeviceTensor, *, lengths: Sequence[int] | None = None, axes: Any = None
    ) -> SeqDataDescriptor:
        """The descriptor of a tensor (T, N, B, V), or (T, N, V) with one sequence per batch entry.

        Parameters
        ----------
        tensor : DeviceTensor
            Its shape, strides and data type are read.
        lengths : sequence of int, optional
            As for the class. Default: all T.
        axes : str or sequence of cudnnSeqDataAxis_t, optional
            Which order in memory to take where the strides fit several (an axis of size 1).

        Raises
        ------
        ValueError
            If the tensor is not dense, or in an order that cuDNN does not have.
        """
        shape, strides = four_dimensions("tensor", tensor)
        fitting = fitting_axes(shape, strides)
        if not fitting:
            raise ValueError(
                f"cuDNN describes dense sequences only, with vectors as the last axis in memory: "
                f"not strides {strides} for (time, batch, beam, vector) = {shape}"
            )
        wanted = None if axes is None else as_axes(axes)
        order = wanted if wanted in fitting else fitting[0]
        return cls(shape, tensor.data_type, axes=order, lengths=lengths)

    def set(
        self,
        data_type: Any,
        shape: Sequence[int],
        axes: Any,
        lengths: Sequence[int] | None = None,
        padding_fill: float | None = None,
    ) -> None:
        """Set everything; follows ``cudnnSetSeqDataDescriptor``. Arguments as for the class."""
        data_type, sizes, order = as_data_type(data_type), to_shape(shape), as_axes(axes)
        if len(sizes) != _NDIM:
            raise ValueError(f"shape: expected (time, batch, beam, vector), got {sizes}")
        sequences = sizes[1] * sizes[2]
        array = (sizes[0],) * sequences if lengths is None else to_shape(lengths, "lengths")
        if len(array) != sequences:
            raise ValueError(
                f"lengths: expected {sequences} entries, one for each of {sizes[1]} x {sizes[2]} "
                f"sequences, got {len(array)}"
            )
        fill = None
        if padding_fill is not None:
            fill = element(padding_fill, data_type, "padding_fill").reshape(1)
        raw.cudnnSetSeqDataDescriptor(self, data_type, _NDIM, sizes, order, len(array), array, fill)

    # -- reading back --------------------------------------------------------------------------

    shape: tuple[int, ...] = read_back(SequenceData, "(time, batch, beam, vector).")
    data_type: raw.cudnnDataType_t = read_back(SequenceData, "Type of the elements.")
    axes: tuple[raw.cudnnSeqDataAxis_t, ...] = read_back(
        SequenceData, "The order in memory, slowest axis first."
    )
    lengths: tuple[int, ...] = read_back(
        SequenceData, "Time steps of each sequence, the beam of the first batch entry first."
    )
    padding_fill: float | None = read_back(
        SequenceData,
        "The value for padding vectors, 0 if none was set; None for bfloat16, not to be read.",
    )
    strides: tuple[int, ...] = read_back(
        SequenceData, "Steps along (time, batch, beam, vector), in elements; sequences lie dense."
    )

    @property
    def size_in_bytes(self) -> int:
        """Bytes that the sequences take, padding included."""
        return math.prod(self.shape) * numpy_dtype(self.data_type).itemsize

    def _arguments(self) -> dict[str, Any]:
        arguments = self._held()
        return {**arguments, "axes": axis_letters(arguments["axes"])} if arguments else {}


def axis_letters(axes: Sequence[int]) -> str:
    """An order in memory by the letters of its axes: "NTBV"."""
    return "".join(_LETTERS[axis] for axis in axes)


def four_dimensions(name: str, tensor: DeviceTensor) -> tuple[Shape, Shape]:
    """Shape and strides (T, N, B, V) of a tensor, which may be without a beam."""
    check_tensor(name, tensor, "strides", "data_type")
    shape, strides = tensor.shape, tensor.strides
    if len(shape) == 3:
        return (*shape[:2], 1, shape[2]), (*strides[:2], shape[2], strides[2])
    if len(shape) != _NDIM:
        raise ValueError(
            f"{name}: expected (time, batch, beam, vector) or without beam, got {shape}"
        )
    return shape, strides


def as_axes(axes: Any) -> tuple[raw.cudnnSeqDataAxis_t, ...]:
    """The enumerators of an order in memory given by letters, "NTBV", or as enumerators.

    Raises ValueError if it is no order of the four axes.
    """
    letters = axes.upper() if isinstance(axes, str) else ""
    if isinstance(axes, (list, tuple)):
        axes = [axis.value if isinstance(axis, raw.cudnnSeqDataAxis_t) else axis for axis in axes]
    entries = [_LETTERS.find(letter) for letter in letters] or integers("axes", axes)
    if sorted(entries) != list(range(_NDIM)):
        raise ValueError(f"axes: expected the letters of {_LETTERS!r} in some order, got {axes!r}")
    return tuple(raw.cudnnSeqDataAxis_t(int(entry)) for entry in entries)


def fitting_axes(shape: Shape, strides: Shape) -> list[tuple[raw.cudnnSeqDataAxis_t, ...]]:
    """The orders in memory that these are the strides of; several if an axis has size 1."""
    return [
        order
        for order in map(as_axes, ("TNBV", "NTBV", "TBNV", "NBTV", "BTNV", "BNTV"))
        if all(
            a == b or n == 1 for a, b, n in zip(packed(shape, order), strides, shape, strict=True)
        )
    ]
