"""``CTCLossDescriptor`` and the CTC loss, with fixed problems; random ones are next door."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.reference import ctc as reference

T, N, A = 6, 3, 5
LABELS = [[1, 2, 2], [4], [3, 1, 4]]
LENGTHS = [6, 5, 4]
POISON = 7.0


@pytest.fixture
def loss() -> Iterator[cudnn.CTCLossDescriptor]:
    with cudnn.CTCLossDescriptor(max_label_length=8) as loss:
        yield loss


def activations(dtype: Any = np.float32) -> Any:
    return np.random.default_rng(0).standard_normal((T, N, A)).astype(dtype) * 2


def close(actual: cudnn.DeviceTensor, expected: cudnn.DeviceTensor) -> None:
    """The same in another way: equal but for the order of float32 additions around 1."""
    np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["zero_oob_gradients", "skip_oob_gradients"])
@pytest.mark.parametrize("version", [cudnn.ctc_loss, cudnn.ctc_loss_v8])
def test_labels_that_need_more_steps(handle: cudnn.Handle, version: Any, mode: str) -> None:
    """[1, 1, 1] needs 5 steps, and has 4: cuDNN's OOB sample."""
    rng = np.random.default_rng(0)
    u = rng.standard_normal((6, 3, 4)).astype(np.float32)
    labels, lengths = [[1, 2], [1, 1, 1], [3]], [6, 4, 5]
    gradients = cudnn.DeviceTensor.full(u.shape, POISON, "float32")
    with cudnn.CTCLossDescriptor(gradient_mode=mode, max_label_length=5) as loss:
        result = version(
            handle,
            cudnn.DeviceTensor.from_numpy(u),
            labels,
            loss,
            input_lengths=lengths,
            gradients=gradients,
        )
    costs, actual = result.costs.numpy(), gradients.numpy()
    exact = reference.ctc_loss(u, labels, lengths)
    assert np.isposinf(exact.costs[1])
    for n in (0, 2):
        np.testing.assert_allclose(costs[n], exact.costs[n], rtol=1e-5)
        np.testing.assert_allclose(
            actual[: lengths[n], n], exact.gradients[: lengths[n], n], atol=1e-5
        )
    left = 0 if mode == "zero_oob_gradients" else POISON
    assert (actual[:, 1] == left).all(), "also past its input length"
    assert (actual[5:, 2] == POISON).all()


def test_labels_of_256_symbols(handle: cudnn.Handle) -> None:
    u = np.random.default_rng(2).standard_normal((600, 1, 5)).astype(np.float32)
    labels = [([1, 2, 3, 4] * 64)]
    with cudnn.CTCLossDescriptor() as loss, pytest.raises(cudnn.NotSupportedError):
        cudnn.ctc_loss(handle, cudnn.DeviceTensor.from_numpy(u), labels, loss)
    labels[0].pop()
    with cudnn.CTCLossDescriptor() as loss:
        costs = cudnn.ctc_loss(handle, cudnn.DeviceTensor.from_numpy(u), labels, loss).costs.numpy()
    np.testing.assert_allclose(costs, reference.ctc_loss(u, labels).costs, rtol=1e-4)


def test_the_workspace_of_labels_of_256_symbols(reference_handle: cudnn.Handle, loss: Any) -> None:
    size, steps = ctypes.c_size_t(), (ctypes.c_int * 1)(600)
    with cudnn.TensorDescriptor((600, 1, 5)) as probs:
        for count, status in ((255, "SUCCESS"), (256, "NOT_SUPPORTED")):
            lengths, labels = (ctypes.c_int * 1)(count), (ctypes.c_int * count)(*[1] * count)
            got = raw.cudnnGetCTCLossWorkspaceSize.unchecked(
                *(reference_handle, probs, probs, labels, lengths, steps),
                *(raw.CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, loss, size),
            )
            assert got.name == f"CUDNN_STATUS_{status}"


def test_strides_and_addresses(handle: cudnn.Handle, loss: Any) -> None:
    """Samples first in memory; then the same memory by its address."""
    x = activations()
    expected = cudnn.ctc_loss(handle, cudnn.DeviceTensor.from_numpy(x), LABELS, loss)
    turned = cudnn.DeviceTensor.from_numpy(x, strides=(A, T * A, 1))
    by_tensor = cudnn.ctc_loss(handle, turned, LABELS, loss)
    assert by_tensor.gradients.strides == turned.strides
    close(by_tensor.gradients, expected.gradients)
    with cudnn.TensorDescriptor((T, N, A), strides=turned.strides) as desc:
        by_address = cudnn.ctc_loss(handle, turned.ptr, LABELS, loss, probs_desc=desc)
        close(by_address.gradients, expected.gradients)


def test_types_that_do_not_go_together(reference_handle: cudnn.Handle, loss: Any) -> None:
    handle = reference_handle  # whose reasons these are
    with pytest.raises(cudnn.NotSupportedError, match="probsDesc: "):
        cudnn.ctc_loss(handle, cudnn.DeviceTensor.from_numpy(activations(np.float64)), LABELS, loss)
