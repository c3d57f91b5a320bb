"""Operands of the CTC loss: labels and lengths checked, results and workspace made."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from .. import raw
from ..device import DeviceTensor
from ..handle import Handle
from .ctc_descriptor import CTCLossDescriptor
from .enumerators import enumerator
from .operands import check_memory, expect, imported, is_address, new_workspace, workspace_memory
from .scalars import integers
from .tensor import TensorDescriptor

__all__ = [
    "Call",
    "check_input_lengths",
    "check_labels",
    "check_least",
    "check_longest",
    "check_shape",
    "concatenated",
]


class Call(ExitStack):
    """What the two loss functions have in common: operands, results, workspace."""

    def __init__(
        self,
        handle: Handle,
        probs: Any,
        probs_desc: TensorDescriptor | None,
        loss: CTCLossDescriptor,
        algorithm: Any,
    ) -> None:
        super().__init__()
        self.handle = expect("handle", handle, Handle)
        _ = handle._as_parameter_, expect("loss", loss, CTCLossDescriptor)._as_parameter_
        self.algorithm = enumerator(raw.cudnnCTCLossAlgo_t, algorithm, "algorithm")
        self.probs_desc = self._described("probs", probs, probs_desc)
        try:
            self.shape = check_shape("probs", self.probs_desc)
            self.probs = check_memory("probs", probs, self.probs_desc, handle)
        except BaseException:
            self.close()
            raise
        self.costs: Any = None
        self.gradients: Any = None
        self.gradients_desc: TensorDescriptor | None = None
        self.gradients_memory: Any = None

    def _described(self, name: str, value: Any, desc: TensorDescriptor | None) -> TensorDescriptor:
        if desc is not None:
            return expect(f"{name}_desc", desc, TensorDescriptor)
        if isinstance(value, int) or not hasattr(value, "shape"):
            raise TypeError(f"{name}: {value!r} has no shape: pass {name}_desc too, or a tensor")
        tensor = imported(name, value, self.handle)
        made = TensorDescriptor(tensor.shape, tensor.data_type, strides=tensor.strides)
        return self.enter_context(made)

    def results(
        self,
        costs: Any,
        gradients: Any,
        with_gradients: bool,
        gradients_desc: TensorDescriptor | None,
    ) -> None:
        """Take the results that were given, and make the others."""
        data_type, stream = self.probs_desc.data_type, self.handle.stream
        batch = self.shape[1]
        where = {"device": self.handle.device, "stream": stream}
        self.costs = DeviceTensor.empty((batch,), data_type, **where) if costs is None else costs
        costs_desc = self.enter_context(TensorDescriptor((1, batch), data_type))
        self.costs_memory = check_memory("costs", self.costs, costs_desc, self.handle, written=True)
        if not with_gradients:
            if gradients is not None:
                raise ValueError("gradients: given, but with_gradients is False")
            return
        if gradients is None:
            desc = self.probs_desc if gradients_desc is None else gradients_desc
            gradients = DeviceTensor.zeros(desc.shape, data_type, strides=desc.strides, **where)
        self.gradients = gradients
        self.gradients_desc = self._described("gradients", gradients, gradients_desc)
        if self.gradients_desc.shape != self.shape:
            raise ValueError(f"gradients: expected {self.shape}, got {self.gradients_desc.shape}")
        self.gradients_memory = check_memory(
            "gradients", gradients, self.gradients_desc, self.handle, written=True
        )

    def workspace(self, workspace: Any, needed: int) -> tuple[Any, int]:
        """What C receives for the workspace, and its size."""
        if workspace is None:
            workspace = self.enter_context(new_workspace(self.handle, needed))
        space, nbytes = workspace_memory(self.handle, workspace)
        if nbytes < needed:
            raise ValueError(f"workspace: {needed} bytes are needed, got {nbytes}")
        return space, nbytes

    def copied(self, numbers: Sequence[int]) -> DeviceTensor:
        """Integers of the host in device memory, until the call's end on the stream."""
        array = np.array(numbers, np.int32)
        return self.enter_context(
            DeviceTensor.from_numpy(array, device=self.handle.device, stream=self.handle.stream)
        )

    def integers(self, name: str, value: Any, count: int) -> Any:
        """What C receives for an array of `count` int32 or more."""
        if is_address(name, value):
            return value
        tensor = imported(name, value, self.handle)
        if tensor.data_type != raw.CUDNN_DATA_INT32 or tensor.nbytes != 4 * tensor.size:
            raise TypeError(f"{name}: expected dense int32, got {tensor!r}")
        if tensor.size < count:
            raise ValueError(f"{name}: expected {count} elements, got {tensor.size}")
        return tensor


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
    by_sample = [tuple(integers(f"labels[{n}]", sequence)) for n, sequence in enumerate(labels)]
    for n, sequence in enumerate(by_sample):
        if not sequence:
            raise ValueError(
                f"labels[{n}]: expected symbols, got none; cuDNN gives such a sample any cost"
            )
        if not all(1 <= label < symbols for label in sequence):
            raise ValueError(
                f"labels[{n}]: expected symbols from 1 to {symbols - 1} (0 is the blank), "
                f"got {sequence}"
            )
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
    checked = (steps,) * batch if lengths is None else tuple(integers("input_lengths", lengths))
    if len(checked) != batch or not all(1 <= length <= steps for length in checked):
        raise ValueError(f"input_lengths: expected {batch} ints from 1 to {steps}, got {checked}")
    for n, (length, sequence) in enumerate(zip(checked, labels, strict=True)):
        if len(sequence) > length:
            # Known from PyTorch, which keeps such samples from cuDNN: illegal memory accesses.
            raise ValueError(
                f"labels[{n}]: {len(sequence)} symbols, but the sample has {length} time steps; "
                f"cuDNN may access memory that it does not have"
            )
    return checked


def check_least(loss: CTCLossDescriptor) -> None:
    """Refuse a longest label for which ``cudnnCTCLoss_v8`` takes too little shared memory.

    compute-sanitizer finds writes beyond it with less, whatever the labels (cuDNN 9.14 and 9.19).
    """
    least = 3 if loss.compute_type == raw.CUDNN_DATA_DOUBLE else 5
    if loss.max_label_length < least:
        raise ValueError(
            f"loss: max_label_length must be at least {least}, got {loss.max_label_length}: with "
            f"less, cuDNN writes where it must not"
        )


def check_longest(labels: Sequence[Sequence[int]], loss: CTCLossDescriptor) -> None:
    longest = max(map(len, labels), default=0)
    if longest > loss.max_label_length:
        raise ValueError(
            f"labels: up to {longest} symbols, but loss has max_label_length="
            f"{loss.max_label_length}"
        )


def check_shape(name: str, desc: TensorDescriptor) -> tuple[int, ...]:
    shape = expect(name, desc, TensorDescriptor).shape
    if len(shape) != 3:
        raise ValueError(f"{name}: expected (time, samples, symbols), got {shape}")
    return shape


def concatenated(labels: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """cuDNN's one array of all labels, and their lengths."""
    return [label for sequence in labels for label in sequence], [len(s) for s in labels]
