"""CTC loss on the reference device, at the level of the C calls.

Labels come one sample after the other in one array; symbol 0 is the blank. What cuDNN leaves
alone in the gradients is left alone here too: with CUDNN_CTC_SKIP_OOB_GRADIENTS the samples that
have too few steps for their labels, and the steps past a sample's input length. But with
CUDNN_CTC_ZERO_OOB_GRADIENTS these become zero for samples whose labels need all of their steps or
more, up to the longest input length (`cudnnCTCLoss`) or to T (`cudnnCTCLoss_v8`); so do cuDNN 9.14
and 9.19. What these make of a sample without labels, at random, is not imitated.

- BAD_PARAM: NULL; descriptors that are not (T, N, A) or differ; input lengths outside 1..T; labels
  in host memory outside 1..A-1; a workspace that is too small.
- NOT_SUPPORTED: other types than FLOAT and DOUBLE, or not that of the loss descriptor; labels of
  256 symbols or more; an unknown algorithm.
- EXECUTION_FAILED: labels or lengths in device memory that do not fit, which the GPU's kernels
  find.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import data_type_name, numpy_dtype
from ...raw.descriptors import CTCLoss, Tensor
from ..ctc import Normalization, ctc_loss, required_steps, split_labels
from .dispatch import Refused, implements
from .held import read
from .memory import Operand, at, require, scribble

_LONGEST = 255  # symbols in the labels of one sample

_NORMALIZATIONS: dict[raw.cudnnLossNormalizationMode_t, Normalization] = {
    raw.CUDNN_LOSS_NORMALIZATION_NONE: "none",
    raw.CUDNN_LOSS_NORMALIZATION_SOFTMAX: "softmax",
}


@dataclass(frozen=True)
class Samples:
    """Labels and lengths of a batch."""

    labels: list[list[int]]
    input_lengths: list[int]


# --- host memory: cudnnCTCLoss ------------------------------------------------------------------


@implements("cudnnGetCTCLossWorkspaceSize")
def get_workspace_size(
    handle: Any,
    probsDesc: Any,
    gradientsDesc: Any,
    labels: Any,
    labelLengths: Any,
    inputLengths: Any,
    algo: Any,
    ctcLossDesc: Any,
    sizeInBytes: Any,
) -> None:
    require(sizeInBytes=sizeInBytes)
    probs = _checked(probsDesc, gradientsDesc, _loss(ctcLossDesc), algo)
    samples = _on_host(probs, labels, labelLengths, inputLengths)
    sizeInBytes.contents.value = _workspace_bytes(probs, _longest(samples))


@implements("cudnnCTCLoss")
def host_labels(
    handle: Any,
    probsDesc: Any,
    probs: int | None,
    hostLabels: Any,
    hostLabelLengths: Any,
    hostInputLengths: Any,
    costs: int | None,
    gradientsDesc: Any,
    gradients: int | None,
    algo: Any,
    ctcLossDesc: Any,
    workspace: int | None,
    workSpaceSizeInBytes: int,
) -> None:
    loss = _loss(ctcLossDesc)
    described = _checked(probsDesc, gradientsDesc if gradients else None, loss, algo)
    samples = _on_host(described, hostLabels, hostLabelLengths, hostInputLengths)
    needed = _workspace_bytes(described, _longest(samples))
    _use_workspace(workspace, workSpaceSizeInBytes, needed)
    end = max(samples.input_lengths)
    _run(loss, described, probs, samples, costs, gradientsDesc, gradients, end)


def _on_host(probs: Tensor, labels: Any, label_lengths: Any, lengths: Any) -> Samples:
    require(labelLengths=label_lengths, inputLengths=lengths)
    steps, batch, symbols = probs.shape
    of_labels, of_inputs = label_lengths[:batch], lengths[:batch]
    if not all(length >= 0 for length in of_labels):
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"labelLengths has negative ones: {of_labels}")
    if not all(1 <= length <= steps for length in of_inputs):
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"inputLengths must be from 1 to {steps}: {of_inputs}"
        )
    if sum(of_labels):
        require(labels=labels)
    split = split_labels(labels[: sum(of_labels)] if labels else [], of_labels)
    _check_symbols(split, symbols, raw.CUDNN_STATUS_BAD_PARAM)
    if max(of_labels) > _LONGEST:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED, f"labelLengths above {_LONGEST}: {max(of_labels)}"
        )
    return Samples(split, of_inputs)


# --- device memory: cudnnCTCLoss_v8 -------------------------------------------------------------


@implements("cudnnGetCTCLossWorkspaceSize_v8")
def get_workspace_size_v8(
    handle: Any, algo: Any, ctcLossDesc: Any, probsDesc: Any, gradientsDesc: Any, sizeInBytes: Any
) -> None:
    require(sizeInBytes=sizeInBytes)
    loss = _loss(ctcLossDesc)
    probs = _checked(probsDesc, gradientsDesc, loss, algo)
    sizeInBytes.contents.value = _workspace_bytes(probs, _max_label_length(loss))


@implements("cudnnCTCLoss_v8")
def device_labels(
    handle: Any,
    algo: Any,
    ctcLossDesc: Any,
    probsDesc: Any,
    probs: int | None,
    labels: int | None,
    labelLengths: int | None,
    inputLengths: int | None,
    costs: int | None,
    gradientsDesc: Any,
    gradients: int | None,
    workSpaceSizeInBytes: int,
    workspace: int | None,
) -> None:
    loss = _loss(ctcLossDesc)
    described = _checked(probsDesc, gradientsDesc if gradients else None, loss, algo)
    longest = _max_label_length(loss)
    _use_workspace(workspace, workSpaceSizeInBytes, _workspace_bytes(described, longest))
    samples = _on_device(described, labels, labelLengths, inputLengths, longest)
    end = described.shape[0]
    _run(loss, described, probs, samples, costs, gradientsDesc, gradients, end)


def _on_device(
    probs: Tensor,
    labels: int | None,
    label_lengths: int | None,
    lengths: int | None,
    longest: int,
) -> Samples:
    steps, batch, symbols = probs.shape
    of_labels = _ints(label_lengths, batch, "labelLengths")
    of_inputs = _ints(lengths, batch, "inputLengths")
    if not all(0 <= length <= longest for length in of_labels):
        raise Refused(
            raw.CUDNN_STATUS_EXECUTION_FAILED,
            f"labelLengths must be from 0 to maxLabelLength = {longest}: {of_labels}",
        )
    if not all(1 <= length <= steps for length in of_inputs):
        raise Refused(
            raw.CUDNN_STATUS_EXECUTION_FAILED,
            f"inputLengths must be from 1 to {steps}: {of_inputs}",
        )
    count = sum(of_labels)
    split = split_labels(_ints(labels, count, "labels") if count else [], of_labels)
    _check_symbols(split, symbols, raw.CUDNN_STATUS_EXECUTION_FAILED)
    return Samples(split, of_inputs)


def _ints(address: int | None, count: int, name: str) -> list[int]:
    return [int(n) for n in at(address, raw.CUDNN_DATA_INT32, (count,), (1,), name)]


def _max_label_length(loss: CTCLoss) -> int:
    if not 1 <= loss.max_label_length <= _LONGEST:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"ctcLossDesc has maxLabelLength = {loss.max_label_length}, not 1 to {_LONGEST}",
        )
    return loss.max_label_length


# --- both ---------------------------------------------------------------------------------------


def _run(
    loss: CTCLoss,
    described: Tensor,
    probs: int | None,
    samples: Samples,
    costs: int | None,
    gradients_desc: Any,
    gradients: int | None,
    end: int,
) -> None:
    """`end` is the step up to which zeros are written past a sample's input length."""
    within = np.arange(described.shape[0])[:, None] < np.array(samples.input_lengths)
    x = Operand("probs", described, probs).load(where=within[..., None])
    of_costs = at(costs, described.data_type, (described.shape[1],), (1,), "costs", "write")
    result = ctc_loss(
        x,
        samples.labels,
        samples.input_lengths,
        normalization=_NORMALIZATIONS[loss.normalization],
        compute_dtype=numpy_dtype(loss.compute_type),
    )
    of_costs[...] = result.costs
    if gradients is None:
        return
    target = Operand("gradients", read(Tensor, gradients_desc, "gradientsDesc"), gradients)
    memory = target.view("write")
    skips = loss.gradient_mode == raw.CUDNN_CTC_SKIP_OOB_GRADIENTS
    for n, (labels, length) in enumerate(zip(samples.labels, samples.input_lengths, strict=True)):
        if not (skips and required_steps(labels) > length):
            memory[:length, n] = result.gradients[:length, n]
        if not skips and required_steps(labels) >= length:
            memory[length:end, n] = 0


def _loss(descriptor: Any) -> CTCLoss:
    loss = read(CTCLoss, descriptor, "ctcLossDesc")
    if loss.normalization not in _NORMALIZATIONS:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED, f"ctcLossDesc has normMode {loss.normalization}"
        )
    return loss


def _checked(probs_desc: Any, gradients_desc: Any, loss: CTCLoss, algo: Any) -> Tensor:
    """The descriptor of probs; without gradients, `gradients_desc` is None."""
    probs = read(Tensor, probs_desc, "probsDesc")
    if len(probs.shape) != 3:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"probsDesc is not (T, N, A): {probs.shape}")
    if not algo.known:
        raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, f"algo is {int(algo)}")
    if probs.data_type != loss.compute_type:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"probs are {data_type_name(probs.data_type)}, ctcLossDesc computes in "
            f"{data_type_name(loss.compute_type)}",
        )
    if gradients_desc:
        gradients = read(Tensor, gradients_desc, "gradientsDesc")
        if (gradients.shape, gradients.data_type) != (probs.shape, probs.data_type):
            raise Refused(
                raw.CUDNN_STATUS_BAD_PARAM,
                f"gradientsDesc is {gradients.data_type.name} {gradients.shape}, probsDesc "
                f"{probs.data_type.name} {probs.shape}",
            )
    return probs


def _check_symbols(labels: list[list[int]], symbols: int, status: raw.cudnnStatus_t) -> None:
    for n, sequence in enumerate(labels):
        if not all(1 <= label < symbols for label in sequence):
            raise Refused(
                status, f"labels of sample {n} must be from 1 to {symbols - 1}, got {sequence}"
            )


def _longest(samples: Samples) -> int:
    return max(len(labels) for labels in samples.labels)


def _workspace_bytes(probs: Tensor, longest: int) -> int:
    """For log probabilities, and alpha and beta of every state."""
    steps, batch, symbols = probs.shape
    states = 2 * longest + 1
    return steps * batch * (symbols + 2 * states) * np.dtype(numpy_dtype(probs.data_type)).itemsize


def _use_workspace(address: int | None, size: int, needed: int) -> None:
    if size < needed:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"workSpaceSizeInBytes = {size} is less than the {needed} bytes that "
            f"cudnnGetCTCLossWorkspaceSize gives",
        )
    scribble(address, needed, "workspace")
