"""The CTC loss and its gradients, with labels in host memory or in device memory.

The input is a tensor (T, N, A): time steps, samples, symbols of the alphabet, of which symbol 0 is
the blank. In memory it may have any strides. All work goes to the handle's stream.

cuDNN defines no gradients at the steps past a sample's input length. 9.14 and 9.19 leave them as
they are, except, with "zero_oob_gradients", those of a sample whose labels need all of its steps
(one for each symbol, and one between equal neighbours): these become zero. Gradients that are made
here are zero there.

A sample must have a label: of one without, cuDNN 9.14 and 9.19 compute a cost and gradients that
have nothing to do with it, and differ from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_size_t
from typing import Any, NamedTuple

import numpy as np

from .. import raw
from ..handle import Handle
from .ctc_descriptor import CTCLossDescriptor
from .ctc_operands import (
    Call,
    check_input_lengths,
    check_labels,
    check_least,
    check_longest,
    check_shape,
    concatenated,
)
from .enumerators import enumerator
from .tensor import TensorDescriptor

__all__ = [
    "CTCLoss",
    "ctc_loss",
    "ctc_loss_v8",
    "ctc_loss_v8_workspace_size",
    "ctc_loss_workspace_size",
]


class CTCLoss(NamedTuple):
    """What `ctc_loss` and `ctc_loss_v8` return.

    Attributes
    ----------
    costs : DeviceTensor
        (N,).
    gradients : DeviceTensor or None
        (T, N, A): gradients of the costs by what was given, activations or probabilities.
    """

    costs: Any
    gradients: Any


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
) -> CTCLoss:
    """Costs and gradients, with labels in host memory; follows ``cudnnCTCLoss``.

    Parameters
    ----------
    probs : tensor
        (T, N, A): activations or probabilities, as `loss` says.
    labels : sequence of sequences of int
        For each sample symbols from 1 to A - 1, at least one, not more than it has time steps.
    input_lengths : sequence of int, optional
        Time steps of each sample, from 1 to T. Left out: T.
    costs, gradients : tensor, optional
        (N,) and (T, N, A), of the type of probs. Left out: made.
    with_gradients : bool
        False: only costs are computed.
    algorithm : cudnnCTCLossAlgo_t or str
        "deterministic" or "non_deterministic".
    workspace : DeviceBuffer or tensor, optional
        Left out: allocated for the call.
    probs_desc, gradients_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    CTCLoss

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes, labels or lengths do not fit; the message names the argument.
    NotSupportedError
        For labels of 256 symbols or more, or types that `loss` does not compute in.
    """
    with Call(handle, probs, probs_desc, loss, algorithm) as call:
        steps, batch, symbols = call.shape
        by_sample = check_labels(labels, batch, symbols)
        lengths = check_input_lengths(input_lengths, steps, by_sample)
        call.results(costs, gradients, with_gradients, gradients_desc)
        host = concatenated(by_sample)
        size = c_size_t()
        described = (call.probs_desc, call.gradients_desc)
        raw.cudnnGetCTCLossWorkspaceSize(
            handle, *described, *host, lengths, call.algorithm, loss, size
        )
        space, nbytes = call.workspace(workspace, size.value)
        raw.cudnnCTCLoss(
            handle,
            call.probs_desc,
            call.probs,
            *host,
            lengths,
            call.costs_memory,
            call.gradients_desc,
            call.gradients_memory,
            call.algorithm,
            loss,
            space,
            nbytes,
        )
    return CTCLoss(call.costs, call.gradients)


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
) -> CTCLoss:
    """Costs and gradients, with labels in device memory; follows ``cudnnCTCLoss_v8``.

    It waits for nothing and can be captured in a CUDA graph. What is in device memory is not
    checked.

    Parameters
    ----------
    labels : tensor, or sequence of sequences of int
        int32, the labels of all samples one after the other, on the device; or, as for
        `ctc_loss`, on the host, from where they are copied.
    label_lengths : tensor, optional
        (N,), int32; needed if `labels` is on the device. From 1 to what `loss` has as its longest.
    input_lengths : tensor or sequence of int, optional
        (N,), int32. Left out: T.

    The other parameters, the result and the errors are those of `ctc_loss`.
    """
    with Call(handle, probs, probs_desc, loss, algorithm) as call:
        steps, batch, symbols = call.shape
        check_least(loss)
        by_sample: list[tuple[int, ...]] | None = None
        if isinstance(labels, (Sequence, np.ndarray)):
            if label_lengths is not None:
                raise ValueError("label_lengths: only for labels in device memory")
            by_sample = check_labels(labels, batch, symbols)
            check_longest(by_sample, loss)
            labels, label_lengths = (call.copied(array) for array in concatenated(by_sample))
        elif labels is None:
            raise TypeError("labels: needed, got None")
        elif label_lengths is None:
            raise ValueError("label_lengths: needed for labels in device memory")
        if input_lengths is None or isinstance(input_lengths, Sequence):
            lengths = check_input_lengths(input_lengths, steps, by_sample or [()] * batch)
            input_lengths = call.copied(lengths)
        call.results(costs, gradients, with_gradients, gradients_desc)
        size = ctc_loss_v8_workspace_size(
            handle, call.probs_desc, loss, call.gradients_desc, algorithm=call.algorithm
        )
        space, nbytes = call.workspace(workspace, size)
        raw.cudnnCTCLoss_v8(
            handle,
            call.algorithm,
            loss,
            call.probs_desc,
            call.probs,
            call.integers("labels", labels, 0),
            call.integers("label_lengths", label_lengths, batch),
            call.integers("input_lengths", input_lengths, batch),
            call.costs_memory,
            call.gradients_desc,
            call.gradients_memory,
            nbytes,
            space,
        )
    return CTCLoss(call.costs, call.gradients)


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
    """
    steps, batch, symbols = check_shape("probs_desc", probs_desc)
    by_sample = check_labels(labels, batch, symbols)
    lengths = check_input_lengths(input_lengths, steps, by_sample)
    algorithm = enumerator(raw.cudnnCTCLossAlgo_t, algorithm, "algorithm")
    size = c_size_t()
    raw.cudnnGetCTCLossWorkspaceSize(
        handle,
        probs_desc,
        gradients_desc,
        *concatenated(by_sample),
        lengths,
        algorithm,
        loss,
        size,
    )
    return size.value


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
    """
    check_shape("probs_desc", probs_desc)
    algorithm = enumerator(raw.cudnnCTCLossAlgo_t, algorithm, "algorithm")
    size = c_size_t()
    raw.cudnnGetCTCLossWorkspaceSize_v8(handle, algorithm, loss, probs_desc, gradients_desc, size)
    return size.value
