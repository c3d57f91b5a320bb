"""CTC loss on the reference device, at the level of the C calls.

Labels come one sample after the other in one array; symbol 0 is the blank. As in cuDNN, some
gradients are not written: with CUDNN_CTC_SKIP_OOB_GRADIENTS the samples with too few steps for
their labels, and the steps past a sample's input length. With CUDNN_CTC_ZERO_OOB_GRADIENTS these
become zero for samples whose labels need all of their steps or more, up to the longest input length
(`cudnnCTCLoss`) or to T (`cudnnCTCLoss_v8`), as in cuDNN 9.14 and 9.19. Their random results for
samples without labels are not reproduced.

- BAD_PARAM: NULL; descriptors that are not (T, N, A) or differ in shape; input lengths outside
  1..T; a workspace that is too small. Also labels in host memory outside 1..A-1, and gradients of
  another type, of which cuDNN computes nonsense.
- NOT_SUPPORTED: other types than FLOAT and DOUBLE, or another type than the loss descriptor's;
  labels of 256 symbols or more in host memory; an unknown algorithm.
- EXECUTION_FAILED: invalid labels or lengths in device memory, of which a GPU computes nonsense or
  loses its context.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.descriptors import CTCLoss, Tensor
from ...raw.operand_rules.language import equal, with_status
from ...raw.operand_rules.sequences import input_lengths
from ...raw.operand_rules.sequences import symbols as labels_fit
from ..ctc import ctc_loss, required_steps, split_labels
from .call import Call, word
from .registry import bad_param, execution_failed, implements, not_supported

_LONGEST = 255  # symbols in the labels of one sample


@dataclass(frozen=True)
class Samples:
    """Labels and lengths of a batch."""

    labels: list[list[int]]
    input_lengths: list[int]

    @property
    def longest(self) -> int:
        """Symbols in the longest labels."""
        return max(len(labels) for labels in self.labels)


# --- host memory: cudnnCTCLoss ------------------------------------------------------------------


@implements("cudnnGetCTCLossWorkspaceSize")
def get_workspace_size(call: Call) -> None:
    call.require("sizeInBytes")
    probs = _checked(call, _loss(call))
    call.require("labels", "labelLengths", "inputLengths")
    longest = max(call["labelLengths"][: probs.shape[1]])
    if longest > _LONGEST:
        raise not_supported(f"labelLengths above {_LONGEST}: {longest}")
    call.put(sizeInBytes=_workspace_bytes(probs, max(longest, 0)))


@implements("cudnnCTCLoss")
def host_labels(call: Call) -> None:
    loss = _loss(call)
    probs = _checked(call, loss)
    samples = _on_host(call, probs, "hostLabels", "hostLabelLengths", "hostInputLengths")
    call.use_workspace("workspace", _workspace_bytes(probs, samples.longest))
    _run(call, loss, probs, samples, max(samples.input_lengths))


def _on_host(call: Call, probs: Tensor, labels: str, label_lengths: str, lengths: str) -> Samples:
    """The samples in the host arrays with these parameter names."""
    call.require(label_lengths, lengths)
    steps, batch, symbols = probs.shape
    of_labels, of_inputs = call[label_lengths][:batch], call[lengths][:batch]
    if not all(length >= 0 for length in of_labels):
        raise bad_param(f"labelLengths has negative ones: {of_labels}")
    call.refuse(input_lengths(lengths, of_inputs, batch, steps))
    count = sum(of_labels)
    if count:
        call.require(labels)
    split = split_labels(call[labels][:count] if call[labels] else [], of_labels)
    call.refuse(labels_fit(split, symbols))
    if max(of_labels) > _LONGEST:
        raise not_supported(f"labelLengths above {_LONGEST}: {max(of_labels)}")
    return Samples(split, of_inputs)


# --- device memory: cudnnCTCLoss_v8 -------------------------------------------------------------


@implements("cudnnGetCTCLossWorkspaceSize_v8")
def get_workspace_size_v8(call: Call) -> None:
    call.require("sizeInBytes")
    loss = _loss(call)
    probs = _checked(call, loss)
    if probs.shape[2] < 2:
        raise bad_param("probsDesc has no symbol but the blank")  # as cuDNN 9.14 and 9.19
    call.put(sizeInBytes=_workspace_bytes(probs, _max_label_length(call, loss)))


@implements("cudnnCTCLoss_v8")
def device_labels(call: Call) -> None:
    loss = _loss(call)
    probs, longest = _checked(call, loss), _max_label_length(call, loss)
    call.use_workspace("workspace", _workspace_bytes(probs, longest))
    _run(call, loss, probs, _on_device(call, probs, longest), probs.shape[0])


def _on_device(call: Call, probs: Tensor, longest: int) -> Samples:
    steps, batch, symbols = probs.shape
    of_labels = _ints(call, "labelLengths", batch)
    of_inputs = _ints(call, "inputLengths", batch)
    if not all(0 <= length <= longest for length in of_labels):
        raise execution_failed(
            f"labelLengths must be from 0 to maxLabelLength = {longest}: {of_labels}"
        )
    lengths_fit = input_lengths("inputLengths", of_inputs, batch, steps)
    call.refuse(with_status(raw.CUDNN_STATUS_EXECUTION_FAILED, lengths_fit))
    count = sum(of_labels)
    split = split_labels(_ints(call, "labels", count) if count else [], of_labels)
    call.refuse(with_status(raw.CUDNN_STATUS_EXECUTION_FAILED, labels_fit(split, symbols)))
    return Samples(split, of_inputs)


def _ints(call: Call, name: str, count: int) -> list[int]:
    return [int(n) for n in call.array(name, raw.CUDNN_DATA_INT32, count)]


def _max_label_length(call: Call, loss: CTCLoss) -> int:
    deterministic = call["algo"] == raw.CUDNN_CTC_LOSS_ALGO_DETERMINISTIC
    if deterministic and loss.max_label_length > _LONGEST:
        raise not_supported(f"ctcLossDesc has maxLabelLength above {_LONGEST}")
    return max(loss.max_label_length, 0)


# --- both ---------------------------------------------------------------------------------------


def _run(call: Call, loss: CTCLoss, probs: Tensor, samples: Samples, end: int) -> None:
    """`end` is the step up to which zeros are written past a sample's input length."""
    if call["gradients"]:
        call.refuse(equal("data_type", call.operand("probsDesc"), call.operand("gradientsDesc")))
    within = np.arange(probs.shape[0])[:, None] < np.array(samples.input_lengths)
    result = ctc_loss(
        call.operand("probs").load(where=within[..., None]),
        samples.labels,
        samples.input_lengths,
        normalization=word(loss.normalization, "CUDNN_LOSS_NORMALIZATION_"),
        compute_dtype=numpy_dtype(loss.compute_data_type),
    )
    costs = np.where(np.isinf(result.costs), 0, result.costs)  # as cuDNN says what cannot be
    call.array("costs", probs.data_type, probs.shape[1])[...] = costs
    if call["gradients"] is None:
        return
    memory = call.operand("gradients").view("write")
    skips = loss.gradient_mode == raw.CUDNN_CTC_SKIP_OOB_GRADIENTS
    for n, (labels, length) in enumerate(zip(samples.labels, samples.input_lengths, strict=True)):
        if not (skips and required_steps(labels) > length):
            memory[:length, n] = result.gradients[:length, n]
        if not skips and required_steps(labels) >= length:
            memory[length:end, n] = 0


def _loss(call: Call) -> CTCLoss:
    loss = call.record("ctcLossDesc", CTCLoss)
    if not loss.normalization.known:
        raise not_supported(f"ctcLossDesc has normMode {loss.normalization}")
    return loss


def _checked(call: Call, loss: CTCLoss) -> Tensor:
    """The record of probs, checked; gradients' descriptor is checked only if they are wanted."""
    probs = call.record("probsDesc", Tensor)
    if call["gradients" if "gradients" in call else "gradientsDesc"]:
        call.record("gradientsDesc", Tensor)
    call.check()
    return probs


def _workspace_bytes(probs: Tensor, longest: int) -> int:
    """For log probabilities, and alpha and beta of every state."""
    steps, batch, symbols = probs.shape
    states = 2 * longest + 1
    return steps * batch * (symbols + 2 * states) * numpy_dtype(probs.data_type).itemsize
