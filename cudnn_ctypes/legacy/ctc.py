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

from collections.abc import Sequence
from ctypes import c_size_t
from typing import Any, NamedTuple

import numpy as np

from .. import raw
from ..arguments import expect
from ..handle import Handle
from .ctc_descriptor import CTCLossDescriptor
from .ctc_operands import (
    CTCOperands,
    Packed,
    check_input_lengths,
    check_labels,
    check_longest,
    check_tensors,
    concatenated,
)
from .enumerators import enumerator
from .launch import launched
from .tensor import TensorDescriptor

__all__ = [
    "CTCLossResult",
    "ctc_loss",
    "ctc_loss_v8",
    "ctc_loss_v8_workspace_size",
    "ctc_loss_workspace_size",
]


class CTCLossResult(NamedTuple):
    """Result of `ctc_loss` and `ctc_loss_v8`.

    For an example see `ctc_loss`.

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
    workspace : DeviceBuffer or tensor, optional
        Default: allocated for the call.
    probs_desc, gradients_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Returns
    -------
    CTCLossResult

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
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
    expect("loss", loss, CTCLossDescriptor)
    algorithm = enumerator(raw.cudnnCTCLossAlgo_t, algorithm, "algorithm")
    described = {"probs": (probs, probs_desc), "gradients": (gradients, gradients_desc)}
    with CTCOperands(handle, **described) as operands:
        operands.require("probs")
        probs_desc = operands.describe("probs")
        steps, batch, symbols = check_tensors(loss, probs=probs_desc, gradients=None)
        by_sample = check_labels(labels, batch, symbols)
        lengths = check_input_lengths(input_lengths, steps, by_sample)
        costs, gradients, gradients_desc = operands.results(loss, costs, with_gradients)
        size = ctc_loss_workspace_size(
            handle,
            probs_desc,
            by_sample,
            loss,
            gradients_desc,
            input_lengths=lengths,
            algorithm=algorithm,
        )
        host_labels, host_lengths = concatenated(by_sample)
        packed = Packed(operands, gradients is not None)
        operands.launch(
            raw.cudnnCTCLoss,
            hostLabels=host_labels,
            hostLabelLengths=host_lengths,
            hostInputLengths=lengths,
            **{"gradientsDesc": gradients_desc, **packed.arguments},
            algo=algorithm,
            ctcLossDesc=loss,
            workspace=operands.workspace(workspace, size),
        )
        packed.finish()
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
    expect("loss", loss, CTCLossDescriptor)
    algorithm = enumerator(raw.cudnnCTCLossAlgo_t, algorithm, "algorithm")
    described = {"probs": (probs, probs_desc), "gradients": (gradients, gradients_desc)}
    with CTCOperands(handle, **described) as operands:
        operands.require("probs")
        probs_desc = operands.describe("probs")
        steps, batch, symbols = check_tensors(loss, probs=probs_desc, gradients=None)
        by_sample: list[tuple[int, ...]] = [()] * batch
        if isinstance(labels, (Sequence, np.ndarray)):
            if label_lengths is not None:
                raise ValueError("label_lengths: only for labels in device memory")
            by_sample = check_labels(labels, batch, symbols)
        elif labels is None:
            raise TypeError("labels: needed, got None")
        elif label_lengths is None:
            raise ValueError("label_lengths: needed for labels in device memory")
        check_longest(loss, by_sample)
        if input_lengths is None or isinstance(input_lengths, Sequence):
            lengths: Any = operands.copied(check_input_lengths(input_lengths, steps, by_sample))
        else:
            lengths = operands.integers("input_lengths", input_lengths, batch)
        if label_lengths is None:
            flat, counts = (operands.copied(numbers) for numbers in concatenated(by_sample))
        else:
            flat = operands.integers("labels", labels, 0)
            counts = operands.integers("label_lengths", label_lengths, batch)
        costs, gradients, gradients_desc = operands.results(loss, costs, with_gradients)
        size = ctc_loss_v8_workspace_size(
            handle, probs_desc, loss, gradients_desc, algorithm=algorithm
        )
        packed = Packed(operands, gradients is not None)
        operands.launch(
            raw.cudnnCTCLoss_v8,
            algo=algorithm,
            ctcLossDesc=loss,
            labels=flat,
            labelLengths=counts,
            inputLengths=lengths,
            **{"gradientsDesc": gradients_desc, **packed.arguments},
            workspace=operands.workspace(workspace, size),
        )
        packed.finish()
    return CTCLossResult(costs, gradients)


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
    steps, batch, symbols = check_tensors(loss, **descriptors)
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
    check_tensors(loss, probs_desc=probs_desc, gradients_desc=gradients_desc)
    algorithm = enumerator(raw.cudnnCTCLossAlgo_t, algorithm, "algorithm")
    size = c_size_t()
    raw.cudnnGetCTCLossWorkspaceSize_v8(handle, algorithm, loss, probs_desc, gradients_desc, size)
    return size.value
