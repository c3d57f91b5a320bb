"""Multi-head attention.

Queries, keys and values are tensors (T, N, B, V): time steps, batch, sequences in a beam, vector;
or (T, N, V) with one sequence for each batch entry. They are dense, and all in the same order in
memory, vectors last. Results, workspaces and reserve spaces are allocated where none are
given; all work goes to the handle's stream.

The window of query t is the keys with ``low[t] <= key < high[t]``, the same for all sequences of
the batch. A query with an empty window attends to nothing.

For training there is `attention_forward_training`, which fills a reserve space; the gradients are
in `attention_gradients`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator, expect, integer, integers
from ..handle import Handle
from ..raw import operand_rules
from ..raw.records import record
from ..runtime import DeviceTensor
from ..runtime.layout import to_shape
from .attention_descriptor import (
    AttentionBufferSizes,
    AttentionWeights,
    AttnDescriptor,
    SeqDataDescriptor,
    attention_buffer_sizes,
    axis_letters,
    fitting_axes,
    four_dimensions,
)
from .documentation import launched
from .operands import Made
from .sequence_operands import SequenceOperands

Lengths = Sequence[int] | None


class AttentionOperands(SequenceOperands):
    """The operands q, k, v, and the output y or its gradient dy, of one call.

    - `training`: whether there is a reserve space.
    - `**operands`: y may be None: it is made.
    """

    def __init__(
        self,
        handle: Handle,
        attn: AttnDescriptor,
        *,
        training: bool,
        **operands: tuple[Any, SeqDataDescriptor | None],
    ) -> None:
        described: dict[str, Any] = operands
        super().__init__(handle, **described)
        self.attn: AttnDescriptor = expect("attn", attn, AttnDescriptor)
        attn._check_dropouts()
        self.sizes: AttentionBufferSizes = attention_buffer_sizes(handle, attn, training=training)
        self.output = "y" if "y" in operands else "dy"
        self._axes: Any = None

    def describe_all(self, q_lengths: Lengths, k_lengths: Lengths) -> None:
        """Make the descriptors that are missing, of sequences of these lengths; None is all."""
        self.require("q", "k", "v", *(["dy"] if self.output == "dy" else []))
        self._axes = self._common_axes()
        q, k = (
            None if each is None else to_shape(each, name)
            for name, each in (("q_lengths", q_lengths), ("k_lengths", k_lengths))
        )
        described: dict[str, SeqDataDescriptor] = {}
        for name, lengths in {"q": q, "k": k, "v": k, self.output: q}.items():
            value, desc = self._operands[name]
            if desc is None and value is None:  # y
                source = described["q"]
                shape = (*source.shape[:3], self.attn.output_size)
                desc = SeqDataDescriptor(
                    shape, self.attn.data_type, axes=self._axes, lengths=source.lengths
                )
                self.enter_context(desc)
            elif desc is None:
                desc = SeqDataDescriptor.of(value, lengths=lengths, axes=self._axes)
                self.enter_context(desc)
            elif lengths is not None and lengths != desc.lengths:
                raise ValueError(
                    f"{name}_desc: has lengths {desc.lengths}, but {lengths} were given"
                )
            self.alike(name, value, desc)
            described[name] = desc
        in_c = {role: f"{role}Desc" for role in ("q", "k", "v")} | {self.output: "oDesc"}
        descriptors = {in_c[role]: desc for role, desc in described.items()}
        operand_rules.check(
            raw.FUNCTIONS["cudnnMultiHeadAttnForward"],
            {"attnDesc": self.attn, **descriptors},
            {name: role for role, name in in_c.items()},
        )
        self._check_projections(described["q"])

    def _check_projections(self, q: SeqDataDescriptor) -> None:
        """Refuse what an H200 computes wrong, with cuDNN 9.14 and 9.19.

        They multiply the attention of all heads but the first with what lies behind v, whatever the
        sizes, types and steps.
        """
        _, batch, beam, _ = q.shape
        order = (raw.CUDNN_SEQDATA_BATCH_DIM, raw.CUDNN_SEQDATA_TIME_DIM)
        batch_is_outer = batch > 1 and tuple(axis for axis in q.axes if axis in order) == order
        attn = record(self.attn)
        unprojected = attn.o_projection and not attn.v_projection
        if attn.heads > 1 and unprojected and beam == 1 and not batch_is_outer:
            raise ValueError(
                "attn: with several heads and an output projection, but v_projection=0, cuDNN "
                "gives wrong results for a beam of 1, unless there are several batch entries, and "
                "they lie outside of the time steps in memory (NTBV); else project v with identity "
                "matrices"
            )

    def _common_axes(self) -> Any:
        """The order in memory that all operands have, which cuDNN asks for."""
        fitting: dict[str, list[Any]] = {}
        for name, (value, desc) in self._operands.items():
            if desc is not None:
                fitting[name] = [expect(f"{name}_desc", desc, SeqDataDescriptor).axes]
            elif value is not None:
                fitting[name] = fitting_axes(*four_dimensions(name, value))
        common = [each for each in fitting["q"] if all(each in rest for rest in fitting.values())]
        if not common:
            shown = "; ".join(
                f"{name} {' or '.join(map(axis_letters, orders)) or 'none'}"
                for name, orders in fitting.items()
            )
            raise ValueError(
                f"all operands must have (time, batch, beam, vector) dense and in the same order "
                f"in memory, vectors last: {shown}"
            )
        return common[0]

    def new_like(self, name: str, source: str, *, zeros: bool = False) -> DeviceTensor:
        """Make a result by the descriptor of `name` or else `source`; without beam as `source`."""
        desc: Any = self._operands[name if name in self._operands else source][1]
        shape, strides = desc.shape, desc.strides
        if getattr(self._operands[source][0], "ndim", 4) == 3:
            shape, strides = (*shape[:2], shape[3]), (*strides[:2], strides[3])
        result = self.new(shape, desc.data_type, strides=strides, zeros=zeros)
        self.alike(name, result, desc)
        return result

    # -- what is not sequences ---------------------------------------------------------------

    def windows(
        self, low: Any, high: Any, current: int | None = None
    ) -> dict[str, tuple[int, ...]]:
        """The windows of all queries: C reads one entry for each, or the current one's."""
        steps, keys = self.describe("q").shape[0], self.describe("k").shape[0]
        wanted = steps if current is None else current + 1
        arrays = []
        for name, value, default in (("low", low, 0), ("high", high, keys)):
            array = (default,) * steps if value is None else integers(name, value)
            if len(array) < wanted:
                raise ValueError(
                    f"{name}: expected {wanted} entries, one for each time step of the queries, "
                    f"got {len(array)}"
                )
            arrays.append(array)
        return {"loWinIdx": arrays[0], "hiWinIdx": arrays[1]}

    def device_lengths(self, q: Any, k: Any) -> tuple[Any, Any]:
        """The sequences' lengths in device memory: those given, else copies of the descriptors'."""
        arguments = (("device_q_lengths", q, "q"), ("device_k_lengths", k, "k"))
        lengths = [self.describe(source).lengths for _, _, source in arguments]
        return tuple(  # type: ignore[return-value]
            self.copied(of) if value is None else self.integers(name, value, len(of))
            for (name, value, _), of in zip(arguments, lengths, strict=True)
        )

    def launch_with(
        self,
        function: Callable[..., Any],
        weights: Any,
        workspace: Any,
        reserve: Any,
        **others: Any,
    ) -> None:
        """Launch a function with what all four have: operands, weights, spaces."""
        self.launch(
            function,
            attnDesc=self.attn,
            queries="q",
            keys="k",
            values="v",
            weights=self.room("weights", weights, self.sizes.weights),
            workSpace=self.workspace(workspace, self.sizes.workspace),
            reserveSpace=self.room("reserve_space", reserve, self.sizes.reserve_space),
            **others,
        )


class AttentionForwardResult(NamedTuple):
    """Result of `attention_forward_training`.

    Attributes
    ----------
    y : DeviceTensor, or y as it was given
    reserve_space : DeviceTensor of bytes, or as it was given
        For the gradients.
    """

    y: Any
    reserve_space: Any


@launched
def attention_forward(
    handle: Handle,
    q: Any,
    k: Any,
    v: Any,
    attn: AttnDescriptor,
    weights: Any = None,
    y: Made | None = None,
    *,
    residuals: Any = None,
    current: int | None = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    device_q_lengths: Any = None,
    device_k_lengths: Any = None,
    workspace: Any = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
    y_desc: SeqDataDescriptor | None = None,
) -> Made:
    """Multi-head attention for inference; follows ``cudnnMultiHeadAttnForward``.

    Parameters
    ----------
    q : tensor
        Queries, (Tq, N, B, q_size).
    k, v : tensor
        Keys and values, (Tk, N, B, k_size) and (Tk, N, B, v_size), with B = 1 for the query map
        "all_to_one".
    attn : AttnDescriptor
    weights : AttentionWeights, DeviceBuffer or tensor, optional
        Needed if there are projections.
    y : tensor, optional
        (Tq, N, B, output size). Default: allocated, in the order in memory of q.
    residuals : tensor, optional
        Added to the output: like q, whose vectors are as long as the output's then. Often q itself.
    current : int, optional
        Process this time step of the queries only, and leave the rest of y alone.
    low, high : sequence of int, optional
        The window of each query, which may reach beyond the keys. Default: all of them.
    q_lengths, k_lengths : sequence of N * B int, optional
        Time steps of each sequence, the beam of the first batch entry first. Default: all.
    device_q_lengths, device_k_lengths : tensor, optional
        The same as int32 in device memory, from where the kernels read them; their values are not
        checked. Default: copied.

    Raises
    ------
    TypeError
        If an operand is host memory, has no shape, or is of another type than `attn`.
    ValueError
        If shapes, lengths or windows do not fit, or memory is too small; the message names the
        argument.

    Examples
    --------
    >>> attn = AttnDescriptor(1, q_size=4, qo_max_length=3, kv_max_length=3)
    >>> q = DeviceTensor.full((3, 1, 1, 4), 1, "float32")
    >>> with Handle() as handle:
    ...     y = attention_forward(handle, q, q, q, attn)
    >>> y.shape
    (3, 1, 1, 4)
    """
    described = {"q": (q, q_desc), "k": (k, k_desc), "v": (v, v_desc), "y": (y, y_desc)}
    with AttentionOperands(handle, attn, training=False, **described) as operands:
        operands.describe_all(q_lengths, k_lengths)
        if current is not None:
            current, steps = integer("current", current), operands.describe("q").shape[0]
            if y is None:
                raise ValueError("y: needed with current, which writes one time step of it")
            if not 0 <= current < steps:
                raise ValueError(
                    f"current: expected a time step of q, which has {steps}, got {current}"
                )
        made: Any = operands.new_like("y", "q") if y is None else y
        _launch(
            operands,
            residuals,
            operands.windows(low, high, current),
            operands.device_lengths(device_q_lengths, device_k_lengths),
            (weights, workspace, None),
            current,
        )
    return made  # type: ignore[no-any-return]


@launched
def attention_forward_training(
    handle: Handle,
    q: Any,
    k: Any,
    v: Any,
    attn: AttnDescriptor,
    weights: Any = None,
    y: Any = None,
    reserve_space: Any = None,
    *,
    residuals: Any = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    device_q_lengths: Any = None,
    device_k_lengths: Any = None,
    workspace: Any = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
    y_desc: SeqDataDescriptor | None = None,
) -> AttentionForwardResult:
    """The same for training, with dropout; follows ``cudnnMultiHeadAttnForward``.

    Parameters
    ----------
    reserve_space : DeviceBuffer or tensor, optional
        Filled for the gradients. Default: allocated.

    The other parameters, and the errors, are those of `attention_forward`.

    Examples
    --------
    >>> attn = AttnDescriptor(1, q_size=1, qo_max_length=2, kv_max_length=2)
    >>> q = DeviceTensor.zeros((2, 1, 1, 1), "float32")  # equal scores: y is the mean of v
    >>> v = DeviceTensor.from_numpy(np.array([1, 3], "float32").reshape(2, 1, 1, 1))
    >>> dy = DeviceTensor.full((2, 1, 1, 1), 1, "float32")
    >>> with Handle() as handle:
    ...     y, reserve_space = attention_forward_training(handle, q, q, v, attn)
    ...     gradients = attention_backward_data(
    ...         handle, attn, q=q, k=q, v=v, dy=dy, reserve_space=reserve_space
    ...     )
    >>> y.numpy().ravel(), gradients.dv.numpy().ravel()
    (array([2., 2.], dtype=float32), array([1., 1.], dtype=float32))
    """
    described = {"q": (q, q_desc), "k": (k, k_desc), "v": (v, v_desc), "y": (y, y_desc)}
    with AttentionOperands(handle, attn, training=True, **described) as operands:
        operands.describe_all(q_lengths, k_lengths)
        y = operands.new_like("y", "q") if y is None else y
        needed = operands.sizes.reserve_space
        reserve_space = operands.reserve_space(reserve_space, needed)
        _launch(
            operands,
            residuals,
            operands.windows(low, high),
            operands.device_lengths(device_q_lengths, device_k_lengths),
            (weights, workspace, reserve_space),
        )
    return AttentionForwardResult(y, reserve_space)


def _launch(
    operands: AttentionOperands,
    residuals: Any,
    windows: dict[str, tuple[int, ...]],
    lengths: tuple[Any, Any],
    spaces: tuple[Any, Any, Any],
    current: int | None = None,
) -> None:
    q_desc, y_desc = operands.describe("q"), operands.describe("y")
    if residuals is not None and q_desc.shape != y_desc.shape:
        raise ValueError(
            f"residuals: are like q, {q_desc.shape}, and are added to y, {y_desc.shape}: their "
            f"vectors must be equally long"
        )
    operands.alike("residuals", residuals, q_desc)
    operands.launch_with(
        raw.cudnnMultiHeadAttnForward,
        *spaces,
        currIdx=-1 if current is None else current,
        **windows,
        devSeqLengthsQO=lengths[0],
        devSeqLengthsKV=lengths[1],
        oDesc="y",
        out="y",
    )


class AttentionGradients(NamedTuple):
    """Gradients with respect to queries, keys and values, from `attention_backward_data`.

    For an example see `attention_forward_training`.
    """

    dq: Any
    dk: Any
    dv: Any


@launched
def attention_backward_data(
    handle: Handle,
    attn: AttnDescriptor,
    *,
    q: Any,
    k: Any,
    v: Any,
    dy: Any,
    weights: Any = None,
    reserve_space: Any,
    dq: Any = None,
    dk: Any = None,
    dv: Any = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    device_q_lengths: Any = None,
    device_k_lengths: Any = None,
    workspace: Any = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
    dy_desc: SeqDataDescriptor | None = None,
) -> AttentionGradients:
    """Gradients by queries, keys and values; follows ``cudnnMultiHeadAttnBackwardData``.

    The gradient by residuals is dy itself, and not in the results: where residuals are the
    queries, add it to dq.

    For an example see `attention_forward_training`.

    Parameters
    ----------
    dy : tensor
        Gradient of the output y, like that.
    weights : AttentionWeights, DeviceBuffer or tensor, optional
        Needed if there are projections.
    reserve_space : DeviceBuffer or tensor
        What `attention_forward_training` filled; written for `attention_backward_weights`.
    dq, dk, dv : tensor, optional
        Results, like q, k and v; zero in the padding. Default: allocated. Without a projection of
        the queries, cuDNN 9.14 and 9.19 leave a given dq alone at the time steps past the longest
        sequence of queries.

    The other parameters, and the errors, are those of `attention_forward`.
    """
    described = {"q": (q, q_desc), "k": (k, k_desc), "v": (v, v_desc), "dy": (dy, dy_desc)}
    with AttentionOperands(handle, attn, training=True, **described) as operands:
        operands.describe_all(q_lengths, k_lengths)
        results = []
        for source, result in (("q", dq), ("k", dk), ("v", dv)):
            if result is None:
                result = operands.new_like(f"d{source}", source, zeros=source == "q")
            operands.alike(f"d{source}", result, operands.describe(source))
            results.append(result)
        lengths = operands.device_lengths(device_q_lengths, device_k_lengths)
        operands.launch_with(
            raw.cudnnMultiHeadAttnBackwardData,
            weights,
            workspace,
            reserve_space,
            **operands.windows(low, high),
            devSeqLengthsDQDO=lengths[0],
            devSeqLengthsDKDV=lengths[1],
            doDesc="dy",
            dout="dy",
            dqueries="dq",
            dkeys="dk",
            dvalues="dv",
        )
    return AttentionGradients(*results)


@launched
def attention_backward_weights(
    handle: Handle,
    attn: AttnDescriptor,
    *,
    q: Any,
    k: Any,
    v: Any,
    dy: Any,
    weights: Any,
    reserve_space: Any,
    dweights: Any = None,
    mode: Any = "set",
    q_lengths: Sequence[int] | None = None,
    k_lengths: Sequence[int] | None = None,
    workspace: Any = None,
    q_desc: SeqDataDescriptor | None = None,
    k_desc: SeqDataDescriptor | None = None,
    v_desc: SeqDataDescriptor | None = None,
    dy_desc: SeqDataDescriptor | None = None,
) -> Any:
    """Gradients by weights and biases; follows ``cudnnMultiHeadAttnBackwardWeights``.

    Parameters
    ----------
    reserve_space : DeviceBuffer or tensor
        What `attention_backward_data` wrote to.
    dweights : AttentionWeights, DeviceBuffer or tensor, optional
        Result, like weights. Default: allocated.
    mode : cudnnWgradMode_t or str
        "set", or "add": the gradients are added to what `dweights` holds.

    Returns
    -------
    AttentionWeights, or dweights as it was given

    The other parameters, and the errors, are those of `attention_backward_data`.

    Examples
    --------
    >>> attn = AttnDescriptor(q_size=1, v_projection=1, qo_max_length=1, kv_max_length=1)
    >>> v = DeviceTensor.full((1, 1, 1, 1), 3, "float32")
    >>> with Handle() as handle, AttentionWeights(handle, attn) as weights:
    ...     operands = {"q": v, "k": v, "v": v, "weights": weights}
    ...     y, reserve_space = attention_forward_training(handle, attn=attn, **operands)
    ...     operands |= {"dy": v, "reserve_space": reserve_space}
    ...     gradients = attention_backward_data(handle, attn, **operands)
    ...     dweights = attention_backward_weights(handle, attn, **operands)
    >>> dweights.numpy()
    {'v_weights': array([[[9.]]], dtype=float32)}
    """
    mode = enumerator(raw.cudnnWgradMode_t, mode, "mode")
    if mode == raw.CUDNN_WGRAD_MODE_ADD and dweights is None:
        raise ValueError('dweights: needed with mode="add", which adds to what it holds')
    described = {"q": (q, q_desc), "k": (k, k_desc), "v": (v, v_desc), "dy": (dy, dy_desc)}
    with (
        ExitStack() as on_error,
        AttentionOperands(handle, attn, training=True, **described) as operands,
    ):
        operands.describe_all(q_lengths, k_lengths)
        if dweights is None:
            dweights = on_error.enter_context(AttentionWeights(handle, attn))
        operands.launch_with(
            raw.cudnnMultiHeadAttnBackwardWeights,
            weights,
            workspace,
            reserve_space,
            addGrad=mode,
            doDesc="dy",
            dout="dy",
            dweights=operands.room("dweights", dweights, operands.sizes.weights)[0],
        )
        on_error.pop_all()
    return dweights
