"""Labels and lengths of the CTC loss, checked; and its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import raw
from ..arguments import expect, flag, integers
from ..raw import operand_rules
from ..raw.operand_rules import refuse
from ..raw.operand_rules.sequences import input_lengths
from ..raw.operand_rules.sequences import symbols as symbols_fit
from ..raw.records import record
from ..raw.strides import same_layout
from .ctc_descriptor import CTCLossDescriptor
from .sequence_operands import SequenceOperands
from .tensor import TensorDescriptor

__all__ = [
    "CTCOperands",
    "Packed",
    "check_input_lengths",
    "check_labels",
    "check_longest",
    "check_tensors",
    "concatenated",
]


class CTCOperands(SequenceOperands):
    """The operands of one loss: probs, and gradients, which may be None."""

    def results(
        self, loss: CTCLossDescriptor, costs: Any, with_gradients: bool
    ) -> tuple[Any, Any, TensorDescriptor | None]:
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
        check_tensors(loss, probs=probs_desc, gradients=desc)
        return costs, gradients, desc


class Packed:
    """probs and gradients in packed memory, which cuDNN takes them for (9.19)."""

    def __init__(self, operands: CTCOperands, gradients: bool) -> None:
        self._operands = operands
        self.arguments: dict[str, Any] = {}
        for name in ("probs", "gradients") if gradients else ("probs",):
            desc = operands.describe(name)
            packed = TensorDescriptor(desc.shape, desc.data_type)
            operands.enter_context(packed)
            memory = name
            if not same_layout(desc, packed):
                memory = f"{name} in packed memory"
                operands.add(memory, operands.scratch(packed.size_in_bytes), packed)
                self._transform(name, memory)
            self.arguments |= {name: memory, f"{name}Desc": packed}

    def finish(self) -> None:
        """Bring the gradients back to where they belong."""
        memory = self.arguments.get("gradients", "gradients")
        if memory != "gradients":
            self._transform(memory, "gradients")

    def _transform(self, source: str, target: str) -> None:
        x, y = dict.fromkeys(("x", "xDesc"), source), dict.fromkeys(("y", "yDesc"), target)
        self._operands.launch(raw.cudnnTransformTensor, alpha=1, beta=0, **x, **y)


def check_labels(labels: Any, batch: int, symbols: int) -> list[tuple[int, ...]]:
    """The labels of each sample, out of sequences; cuDNN looks up whatever symbol it is given.

    Raises
    ------
    ValueError
        If there are not as many sequences as samples, a sample has no symbol, or a symbol is the
        blank or not in the alphabet.
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


def check_input_lengths(
    lengths: Sequence[int] | None, steps: int, labels: Sequence[Sequence[int]]
) -> tuple[int, ...]:
    """Time steps of each sample.

    Raises
    ------
    ValueError
        If one is not from 1 to T, or less than the sample has labels.
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


def check_longest(loss: CTCLossDescriptor, labels: Sequence[Sequence[int]]) -> None:
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


def check_tensors(loss: CTCLossDescriptor, **descriptors: TensorDescriptor | None) -> Any:
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


def concatenated(labels: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """cuDNN's one array of all labels, and their lengths."""
    return [label for sequence in labels for label in sequence], [len(s) for s in labels]
