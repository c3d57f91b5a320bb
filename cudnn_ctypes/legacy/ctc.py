"""The CTC loss and its gradients, with labels in host memory or in device memory.

The input is a tensor (T, N, A): time steps, samples, symbols of the alphabet, of which symbol 0 is
the blank. In memory it may have any strides: cuDNN 9.19 takes tensors as packed, so others are
copied. All work goes to the handle's stream. Of a sample with too few time steps for its labels
cuDNN gives the cost 0.

cuDNN defines no gradients at the steps past a sample's input length. 9.14 and 9.19 leave them as
they are, except, with "zero_oob_gradients", those of a sample whose labels need all of its steps
(one for each symbol, and one between equal neighbours): these become zero. Gradients that are
allocated here are zero there.

A sample must have a label: of one without, cuDNN 9.14 and 9.19 compute a cost and gradients that
have nothing to do with it, and differ from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import raw
from ..arguments import enumerator, expect, flag, integers
from ..handle import Handle
from ..raw import operand_rules
from ..raw.descriptors import CTCLoss
from ..raw.operand_rules import refuse
from ..raw.operand_rules.sequences import input_lengths
from ..raw.operand_rules.sequences import symbols as symbols_fit
from ..raw.records import record
from ..raw.strides import same_layout
from .descriptor import Descriptor, number, read_back
from .documentation import documented, launched
from .sequence_operands import SequenceOperands
from .tensor import TensorDescriptor


class CTCLossDescriptor(Descriptor[raw.cudnnCTCLossDescriptor_t]):
    """The options of the CTC loss; follows ``cudnnSetCTCLossDescriptor_v9``.

    cuDNN keeps the gradient mode in the place of what used to be called NaN propagation: setting
    one sets the other. Propagate is skip, do not propagate is zero.

    Parameters
    ----------
    compute_data_type : data type
        float32 or float64, that of the probabilities too.
    normalization : cudnnLossNormalizationMode_t or str
        "softmax": the input is activations, and the loss takes their softmax; "none": the input is
        probabilities. Gradients are by the activations both times.
    gradient_mode : cudnnCTCGradMode_t or str
        For samples with too few time steps for their labels (out of bounds): "zero_oob_gradients"
        writes zeros, "skip_oob_gradients" leaves what is there.
    max_label_length : int
        The longest labels that `ctc_loss_v8` will be given, at most 255, and at least 5, or 3 for
        float64, however short they are; `ctc_loss` does not read it.

    Raises
    ------
    NotSupportedError
        For another compute type.

    Examples
    --------
    >>> CTCLossDescriptor(gradient_mode="skip_oob_gradients").nan_propagation
    cudnnNanPropagation_t.CUDNN_PROPAGATE_NAN
    """

    def __init__(
        self,
        compute_data_type: Any = "float32",
        *,
        normalization: Any = "softmax",
        gradient_mode: Any = "zero_oob_gradients",
        max_label_length: int = 0,
    ) -> None:
        super().__init__(raw.cudnnCTCLossDescriptor_t())
        with self._closed_on_error():
            self.set_v9(compute_data_type, normalization, gradient_mode, max_label_length)

    # -- setting, as C does --------------------------------------------------------------------

    def set(self, compute_data_type: Any) -> None:
        """Set the compute type, and normalization "none"; follows ``cudnnSetCTCLossDescriptor``.

        What else cuDNN holds becomes 0.
        """
        self._set_by(raw.cudnnSetCTCLossDescriptor, locals())

    def set_ex(self, compute_data_type: Any, normalization: Any, nan_propagation: Any) -> None:
        """Set all but the longest labels; follows ``cudnnSetCTCLossDescriptorEx``.

        What else cuDNN holds becomes 0.

        Parameters
        ----------
        nan_propagation : cudnnNanPropagation_t or str
            "not_propagate_nan" or "propagate_nan": the gradient mode by its earlier name.
        """
        self._set_by(raw.cudnnSetCTCLossDescriptorEx, locals())

    def set_v8(
        self,
        compute_data_type: Any,
        normalization: Any,
        nan_propagation: Any,
        max_label_length: int,
    ) -> None:
        """Set everything; follows ``cudnnSetCTCLossDescriptor_v8``.

        Parameters
        ----------
        nan_propagation : cudnnNanPropagation_t or str
            "not_propagate_nan" or "propagate_nan": the gradient mode by its earlier name.
        """
        self._set_by(raw.cudnnSetCTCLossDescriptor_v8, locals())

    def set_v9(
        self, compute_data_type: Any, normalization: Any, gradient_mode: Any, max_label_length: int
    ) -> None:
        """Set everything; follows ``cudnnSetCTCLossDescriptor_v9``."""
        self._set_by(raw.cudnnSetCTCLossDescriptor_v9, locals())

    # -- reading back --------------------------------------------------------------------------

    compute_data_type: raw.cudnnDataType_t = read_back(CTCLoss, "What is computed in.")
    normalization: raw.cudnnLossNormalizationMode_t = read_back(
        CTCLoss, "Whether the input is activations."
    )
    gradient_mode: raw.cudnnCTCGradMode_t = read_back(
        CTCLoss, "What becomes of gradients out of bounds."
    )

    @property
    def nan_propagation(self) -> raw.cudnnNanPropagation_t:
        """The gradient mode by its earlier name."""
        return raw.cudnnNanPropagation_t(int(self.gradient_mode))

    max_label_length: int = read_back(CTCLoss, "The longest labels that `ctc_loss_v8` takes.")


class _Operands(SequenceOperands):
    """The operands of one loss: probs, and gradients, which may be None."""

    def __init__(
        self, handle: Handle, loss: CTCLossDescriptor, algorithm: Any, **described: Any
    ) -> None:
        self.loss: CTCLossDescriptor = expect("loss", loss, CTCLossDescriptor)
        self.algorithm = enumerator(raw.cudnnCTCLossAlgo_t, algorithm, "algorithm")
        super().__init__(handle, **described)

    def sizes(self) -> tuple[int, int, int]:
        """Time steps, samples and symbols."""
        self.require("probs")
        steps, batch, symbols = _checked(self.loss, probs=self.describe("probs"), gradients=None)
        return steps, batch, symbols

    def results(self, costs: Any, with_gradients: bool) -> tuple[Any, Any, TensorDescriptor | None]:
        """Costs, gradients and their descriptor: as they were given, or made."""
        probs_desc = self.describe("probs")
        costs_desc = TensorDescriptor((1, probs_desc.shape[1]), probs_desc.data_type)
        self.alike("costs", costs, self.enter_context(costs_desc))
        if costs is None:
            costs = self.new(probs_desc.shape[1:2], probs_desc.data_type)
            self.alike("costs", costs, costs_desc)
        gradients, desc = self._operands["gradients"]
        if not flag("with_gradients", with_gradients):
            if gradients is not None:
                raise ValueError("gradients: given, but with_gradients is False")
            self.alike("gradients", None, None)
            return costs, None, None
        if gradients is None:
            desc = probs_desc if desc is None else expect("gradients_desc", desc, TensorDescriptor)
            self.alike("gradients", None, desc)
            gradients = self.result("gradients", zeros=True)
        desc = expect("gradients_desc", self.describe("gradients"), TensorDescriptor)
        _checked(self.loss, probs=probs_desc, gradients=desc)
        return costs, gradients, desc

    def launch_packed(
        self, function: Callable[..., Any], workspace: Any, size: int, **arguments: Any
    ) -> None:
        """Launch with probs and gradients in packed memory, which cuDNN takes them for (9.19)."""
        names = [name for name in ("probs", "gradients") if self._operands[name][1] is not None]
        for name in names:
            desc = self.describe(name)
            packed = self.enter_context(TensorDescriptor(desc.shape, desc.data_type))
            memory = name if same_layout(desc, packed) else self.copied_as(name, packed)
            arguments |= {name: memory, f"{name}Desc": packed}
        self.launch(
            function,
            **{"gradientsDesc": None, **arguments},
            algo=self.algorithm,
            ctcLossDesc=self.loss,
            workspace=self.workspace(workspace, size),
        )
        if (memory := arguments.get("gradients", "gradients")) != "gradients":
            self.transform(memory, "gradients")


def _labels(labels: Any, batch: int, symbols: int) -> list[tuple[int, ...]]:
    """The labels of each sample, out of sequences; cuDNN looks up whatever symbol it is given.

    Raises ValueError if there are not as many sequences as samples, a sample has no symbol, or a
    symbol is the blank or not in the alphabet.
    """
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    if not isinstance(labels, Sequence) or len(labels) != batch:
        raise ValueError(f"labels: expected a sequence for each of {batch} samples, got {labels!r}")
    by_sample = [integers(f"labels[{n}]", sequence) for n, sequence in enumerate(labels)]
    for n, sequence in enumerate(by_sample):
        if not sequence:
            raise ValueError(
                f"labels[{n}]: expected symbols, got none; cuDNN gives such a sample any cost"
            )
    refuse(symbols_fit(by_sample, symbols))
    return by_sample


def _input_lengths(
    lengths: Sequence[int] | None, steps: int, labels: Sequence[Sequence[int]]
) -> tuple[int, ...]:
    """Time steps of each sample.

    Raises ValueError if one is not from 1 to T, or less than the sample has labels.
    """
    batch = len(labels)
    checked = (steps,) * batch if lengths is None else integers("input_lengths", lengths)
    refuse(input_lengths("input_lengths", checked, batch, steps))
    for n, (length, sequence) in enumerate(zip(checked, labels, strict=True)):
        if len(sequence) > length:
            # Known from PyTorch, which keeps such samples from cuDNN: illegal memory accesses.
            raise ValueError(
                f"labels[{n}]: {len(sequence)} symbols, but the sample has {length} time steps; "
                f"cuDNN may access memory that it does not have"
            )
    return checked


def _check_longest(loss: CTCLossDescriptor, labels: Sequence[Sequence[int]]) -> None:
    """Refuse labels longer than `loss` has, and a loss that ``cudnnCTCLoss_v8`` cannot take.

    With a longest label below 5, or 3 for float64, it takes too little shared memory whatever the
    labels: compute-sanitizer finds writes beyond it (cuDNN 9.14 and 9.19).
    """
    allowed, least = (
        loss.max_label_length,
        3 if loss.compute_data_type == raw.CUDNN_DATA_DOUBLE else 5,
    )
    if allowed < least:
        raise ValueError(
            f"loss: max_label_length must be at least {least}, got {allowed}: with less, cuDNN "
            f"writes where it must not"
        )
    longest = max(map(len, labels), default=0)
    if longest > allowed:
        raise ValueError(
            f"labels: up to {longest} symbols, but loss has max_label_length={allowed}"
        )


def _checked(loss: CTCLossDescriptor, **descriptors: TensorDescriptor | None) -> Any:
    """Refuse probabilities and gradients that do not fit; (T, N, A), the shape of the first."""
    probs, gradients = descriptors.values()
    of_probs, of_gradients = descriptors
    expect(of_probs, probs, TensorDescriptor)
    operand_rules.check(
        raw.cudnnGetCTCLossWorkspaceSize,
        {"ctcLossDesc": loss, "probsDesc": probs, "gradientsDesc": gradients},
        {"probsDesc": of_probs, "gradientsDesc": of_gradients},
    )
    return record(probs).shape


def _concatenated(labels: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """cuDNN's one array of all labels, and their lengths."""
    return [label for sequence in labels for label in sequence], [len(s) for s in labels]


class CTCLossResult(NamedTuple):
    """Result of `ctc_loss` and `ctc_loss_v8`.

    Attributes
    ----------
    costs : DeviceTensor
        (N,).
    gradients : DeviceTensor or None
        (T, N, A): gradients of the costs with respect to the input, activations or probabilities.
    """

    costs: Any
    gradients: Any


@launched
def ctc_loss(
    handle: Handle,
    probs: Any,
    labels: Sequence[Sequence[int]],
    loss: CTCLossDescriptor,
    *,
    input_lengths: Sequence[int] | None = None,
    costs: Any = None,
    gradients: Any = None,
    with_gradients: bool = True,
    algorithm: Any = "deterministic",
    workspace: Any = None,
    probs_desc: TensorDescriptor | None = None,
    gradients_desc: TensorDescriptor | None = None,
) -> CTCLossResult:
    """Costs and gradients, with labels in host memory; follows ``cudnnCTCLoss``.

    Parameters
    ----------
    probs : tensor
        (T, N, A): activations or probabilities, as `loss` says.
    labels : sequence of sequences of int
        For each sample symbols from 1 to A - 1, at least one, not more than it has time steps.
    input_lengths : sequence of int, optional
        Time steps of each sample, from 1 to T. Default: T.
    costs, gradients : tensor, optional
        (N,) and (T, N, A), of the type of probs. Default: allocated.
    with_gradients : bool
        False: only costs are computed.
    algorithm : cudnnCTCLossAlgo_t or str
        "deterministic" or "non_deterministic".

    Raises
    ------
    ValueError
        If shapes, labels or lengths do not fit; the message names the argument.
    NotSupportedError
        For labels of 256 symbols or more, or types that `loss` does not compute in.

    Examples
    --------
    >>> logits = DeviceTensor.zeros((4, 1, 3), "float32")
    >>> with Handle() as handle, CTCLossDescriptor(normalization="softmax") as loss:
    ...     result = ctc_loss(handle, logits, [[1, 2]], loss)
    >>> result.costs.shape, result.gradients.shape
    ((1,), (4, 1, 3))
    """
    described = {"probs": (probs, probs_desc), "gradients": (gradients, gradients_desc)}
    with _Operands(handle, loss, algorithm, **described) as operands:
        steps, batch, symbols = operands.sizes()
        by_sample = _labels(labels, batch, symbols)
        lengths = _input_lengths(input_lengths, steps, by_sample)
        costs, gradients, gradients_desc = operands.results(costs, with_gradients)
        size = ctc_loss_workspace_size(
            handle,
            operands.describe("probs"),
            by_sample,
            loss,
            gradients_desc,
            input_lengths=lengths,
            algorithm=algorithm,
        )
        host_labels, host_lengths = _concatenated(by_sample)
        operands.launch_packed(
            raw.cudnnCTCLoss,
            workspace,
            size,
            hostLabels=host_labels,
            hostLabelLengths=host_lengths,
            hostInputLengths=lengths,
        )
    return CTCLossResult(costs, gradients)


@launched
def ctc_loss_v8(
    handle: Handle,
    probs: Any,
    labels: Any,
    loss: CTCLossDescriptor,
    *,
    label_lengths: Any = None,
    input_lengths: Any = None,
    costs: Any = None,
    gradients: Any = None,
    with_gradients: bool = True,
    algorithm: Any = "deterministic",
    workspace: Any = None,
    probs_desc: TensorDescriptor | None = None,
    gradients_desc: TensorDescriptor | None = None,
) -> CTCLossResult:
    """Costs and gradients, with labels in device memory; follows ``cudnnCTCLoss_v8``.

    It waits for nothing and can be captured in a CUDA graph; with labels or lengths on the host,
    after `bind`, which copies them. What is in device memory is not checked.

    Parameters
    ----------
    labels : tensor, or sequence of sequences of int
        int32, the labels of all samples one after the other, on the device; or, as for
        `ctc_loss`, on the host, from where they are copied.
    label_lengths : tensor, optional
        (N,), int32; needed if `labels` is on the device. From 1 to what `loss` has as its longest.
    input_lengths : tensor or sequence of int, optional
        (N,), int32. Default: T.

    The other parameters, the result and the errors are those of `ctc_loss`.

    Examples
    --------
    >>> logits = DeviceTensor.zeros((1, 1, 2), "float32")
    >>> loss = CTCLossDescriptor(normalization="softmax", max_label_length=5)
    >>> with Handle() as handle:
    ...     result = ctc_loss_v8(handle, logits, [[1]], loss)
    >>> result.costs.numpy().round(3)  # -log(1 / 2)
    array([0.693], dtype=float32)
    """
    described = {"probs": (probs, probs_desc), "gradients": (gradients, gradients_desc)}
    with _Operands(handle, loss, algorithm, **described) as operands:
        steps, batch, symbols = operands.sizes()
        by_sample: list[tuple[int, ...]] = [()] * batch
        if isinstance(labels, (Sequence, np.ndarray)):
            if label_lengths is not None:
                raise ValueError("label_lengths: only for labels in device memory")
            by_sample = _labels(labels, batch, symbols)
        elif labels is None:
            raise TypeError("labels: needed, got None")
        elif label_lengths is None:
            raise ValueError("label_lengths: needed for labels in device memory")
        _check_longest(loss, by_sample)
        if input_lengths is None or isinstance(input_lengths, Sequence):
            lengths: Any = operands.copied(_input_lengths(input_lengths, steps, by_sample))
        else:
            lengths = operands.integers("input_lengths", input_lengths, batch)
        if label_lengths is None:
            flat, counts = (operands.copied(numbers) for numbers in _concatenated(by_sample))
        else:
            flat = operands.integers("labels", labels, 0)
            counts = operands.integers("label_lengths", label_lengths, batch)
        costs, gradients, gradients_desc = operands.results(costs, with_gradients)
        size = ctc_loss_v8_workspace_size(
            handle, operands.describe("probs"), loss, gradients_desc, algorithm=algorithm
        )
        operands.launch_packed(
            raw.cudnnCTCLoss_v8,
            workspace,
            size,
            labels=flat,
            labelLengths=counts,
            inputLengths=lengths,
        )
    return CTCLossResult(costs, gradients)


@documented
def ctc_loss_workspace_size(
    handle: Handle,
    probs_desc: TensorDescriptor,
    labels: Sequence[Sequence[int]],
    loss: CTCLossDescriptor,
    gradients_desc: TensorDescriptor | None = None,
    *,
    input_lengths: Sequence[int] | None = None,
    algorithm: Any = "deterministic",
) -> int:
    """Bytes of workspace that `ctc_loss` needs; follows ``cudnnGetCTCLossWorkspaceSize``.

    Without `gradients_desc`, those for costs only.

    The other parameters and errors are those of `ctc_loss`.

    Examples
    --------
    >>> with Handle() as handle, CTCLossDescriptor(normalization="softmax") as loss:
    ...     size = ctc_loss_workspace_size(handle, TensorDescriptor((4, 1, 3)), [[1, 2]], loss)
    >>> size > 0
    True
    """
    expect("loss", loss, CTCLossDescriptor)
    descriptors = {"probs_desc": probs_desc, "gradients_desc": gradients_desc}
    steps, batch, symbols = _checked(loss, **descriptors)
    by_sample = _labels(labels, batch, symbols)
    lengths = _input_lengths(input_lengths, steps, by_sample)
    algorithm = enumerator(raw.cudnnCTCLossAlgo_t, algorithm, "algorithm")
    given = (probs_desc, gradients_desc, *_concatenated(by_sample), lengths, algorithm, loss)
    return number(raw.cudnnGetCTCLossWorkspaceSize, handle, *given)


@documented
def ctc_loss_v8_workspace_size(
    handle: Handle,
    probs_desc: TensorDescriptor,
    loss: CTCLossDescriptor,
    gradients_desc: TensorDescriptor | None = None,
    *,
    algorithm: Any = "deterministic",
) -> int:
    """Bytes of workspace that `ctc_loss_v8` needs; follows ``cudnnGetCTCLossWorkspaceSize_v8``.

    Without `gradients_desc`, those for costs only.

    The other parameters and errors are those of `ctc_loss`.

    Examples
    --------
    >>> loss = CTCLossDescriptor(normalization="softmax", max_label_length=5)
    >>> with Handle() as handle:
    ...     size = ctc_loss_v8_workspace_size(handle, TensorDescriptor((4, 1, 3)), loss)
    >>> size > 0
    True
    """
    expect("loss", loss, CTCLossDescriptor)
    _checked(loss, probs_desc=probs_desc, gradients_desc=gradients_desc)
    algorithm = enumerator(raw.cudnnCTCLossAlgo_t, algorithm, "algorithm")
    given = (algorithm, loss, probs_desc, gradients_desc)
    return number(raw.cudnnGetCTCLossWorkspaceSize_v8, handle, *given)
