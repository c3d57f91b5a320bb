"""CTC loss on the reference device, through C's own calls."""

from __future__ import annotations

from ctypes import c_size_t
from itertools import chain

import numpy as np
import pytest

from cudnn_ctypes import (
    BadParamError,
    DeviceBuffer,
    DeviceTensor,
    ExecutionFailedError,
    NotSupportedError,
    raw,
)
from cudnn_ctypes.reference.ctc import ctc_loss, log_softmax

T, N, A = 6, 3, 5
LABELS = [[1, 2, 2], [4], [3, 1, 4]]
LENGTHS = [6, 5, 4]
POISON = -77.0

SOFTMAX, NONE = raw.CUDNN_LOSS_NORMALIZATION_SOFTMAX, raw.CUDNN_LOSS_NORMALIZATION_NONE
ZERO, SKIP = raw.CUDNN_CTC_ZERO_OOB_GRADIENTS, raw.CUDNN_CTC_SKIP_OOB_GRADIENTS
DETERMINISTIC = raw.CUDNN_CTC_LOSS_ALGO_DETERMINISTIC


class Program:
    """The objects that a C program has around one CTC loss."""

    def __init__(
        self, handle, dtype=np.float32, normalization=SOFTMAX, gradient_mode=ZERO, longest=8
    ):
        self.handle = handle
        self.dtype = np.dtype(dtype)
        self.data_type = raw.CUDNN_DATA_DOUBLE if dtype == np.float64 else raw.CUDNN_DATA_FLOAT
        self.desc = self.descriptor((T, N, A))
        self.loss = raw.cudnnCTCLossDescriptor_t()
        raw.cudnnCreateCTCLossDescriptor(self.loss)
        raw.cudnnSetCTCLossDescriptor_v9(
            self.loss, self.data_type, normalization, gradient_mode, longest
        )
        self.costs = DeviceTensor.full((N,), POISON, self.dtype)
        self.gradients = DeviceTensor.full((T, N, A), POISON, self.dtype)

    def descriptor(self, shape, strides=None):
        desc = raw.cudnnTensorDescriptor_t()
        raw.cudnnCreateTensorDescriptor(desc)
        strides = strides or [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
        raw.cudnnSetTensorNdDescriptor(desc, self.data_type, len(shape), shape, strides)
        return desc

    def host(self, x, labels=LABELS, lengths=LENGTHS, **changes):
        """cudnnCTCLoss, with the workspace that its query asks for."""
        flat, each = list(chain(*labels)), [len(sequence) for sequence in labels]
        size = c_size_t()
        desc = changes.get("probsDesc", self.desc)
        raw.cudnnGetCTCLossWorkspaceSize(
            self.handle, desc, desc, flat, each, lengths, DETERMINISTIC, self.loss, size
        )
        with DeviceBuffer(size.value) as workspace:
            arguments = {
                "handle": self.handle,
                "probsDesc": self.desc,
                "probs": DeviceTensor.from_numpy(x),
                "hostLabels": flat,
                "hostLabelLengths": each,
                "hostInputLengths": lengths,
                "costs": self.costs,
                "gradientsDesc": self.desc,
                "gradients": self.gradients,
                "algo": DETERMINISTIC,
                "ctcLossDesc": self.loss,
                "workspace": workspace,
                "workSpaceSizeInBytes": size.value,
            }
            raw.cudnnCTCLoss(**{**arguments, **changes})
        return self.costs.numpy(), self.gradients.numpy()

    def device(self, x, labels=LABELS, lengths=LENGTHS, **changes):
        """cudnnCTCLoss_v8, with the workspace that its query asks for."""
        arrays = list(chain(*labels)), [len(sequence) for sequence in labels], lengths
        on_device = [DeviceTensor.from_numpy(np.array(a, np.int32)) for a in arrays]
        size = c_size_t()
        raw.cudnnGetCTCLossWorkspaceSize_v8(
            self.handle, DETERMINISTIC, self.loss, self.desc, self.desc, size
        )
        with DeviceBuffer(size.value) as workspace:
            arguments = {
                "handle": self.handle,
                "algo": DETERMINISTIC,
                "ctcLossDesc": self.loss,
                "probsDesc": self.desc,
                "probs": DeviceTensor.from_numpy(x),
                "labels": on_device[0],
                "labelLengths": on_device[1],
                "inputLengths": on_device[2],
                "costs": self.costs,
                "gradientsDesc": self.desc,
                "gradients": self.gradients,
                "workSpaceSizeInBytes": size.value,
                "workspace": workspace,
            }
            raw.cudnnCTCLoss_v8(**{**arguments, **changes})
        return self.costs.numpy(), self.gradients.numpy()


def activations(dtype=np.float32):
    return np.random.default_rng(0).standard_normal((T, N, A)).astype(dtype) * 2


def written():
    """Where cuDNN writes gradients: up to each sample's input length."""
    return np.arange(T)[:, None] < np.array(LENGTHS)


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("normalization", [SOFTMAX, NONE])
def test_costs_and_gradients(handle, where, dtype, normalization):
    x = activations(dtype)
    given = x if normalization == SOFTMAX else np.exp(log_softmax(x))
    mode = "softmax" if normalization == SOFTMAX else "none"
    expected = ctc_loss(given.astype(np.float64), LABELS, LENGTHS, normalization=mode)
    program = Program(handle, dtype, normalization)
    costs, gradients = getattr(program, where)(given)
    # Computed in the compute type; a handful of additions of numbers around 1.
    tolerance = 1e-12 if dtype == np.float64 else 3e-6
    np.testing.assert_allclose(costs, expected.costs, rtol=tolerance)
    mask = written()
    np.testing.assert_allclose(
        gradients[mask], expected.gradients[mask], rtol=tolerance, atol=tolerance
    )
    assert (gradients[~mask] == POISON).all(), "steps past a sample's length are left alone"


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("mode", [ZERO, SKIP])
def test_out_of_bounds(handle, where, mode):
    labels = [[2, 2, 3], [4], [1]]  # the first needs 4 steps and has 3
    program = Program(handle, gradient_mode=mode)
    costs, gradients = getattr(program, where)(activations(), labels, [3, 5, 4])
    assert costs[0] == 0
    assert np.isfinite(costs[1:]).all()
    assert (gradients[:3, 0] == (0 if mode == ZERO else POISON)).all()
    assert (gradients[:4, 1:] != POISON).all()


def test_costs_only(handle):
    program = Program(handle)
    costs, gradients = program.host(activations(), gradientsDesc=None, gradients=None)
    assert (gradients == POISON).all()
    np.testing.assert_array_equal(costs, program.device(activations())[0])


def test_strides(handle):
    """Samples first in memory, and gradients in another order."""
    program = Program(handle)
    x = activations()
    expected = program.host(x)[1].copy()
    memory = DeviceTensor.from_numpy(x, strides=(A, T * A, 1))
    result = DeviceTensor.from_numpy(np.full((T, N, A), POISON, np.float32), strides=(1, T, N * T))
    program.host(
        x,
        probs=memory,
        probsDesc=program.descriptor((T, N, A), (A, T * A, 1)),
        gradients=result,
        gradientsDesc=program.descriptor((T, N, A), (1, T, N * T)),
    )
    np.testing.assert_array_equal(result.numpy(), expected)


def test_the_workspace_grows_with_the_labels_and_is_overwritten(handle):
    program = Program(handle)
    sizes = []
    for labels in ([[1]] * N, [[1, 2, 3]] * N):
        size = c_size_t()
        raw.cudnnGetCTCLossWorkspaceSize(
            handle,
            program.desc,
            None,
            list(chain(*labels)),
            [len(s) for s in labels],
            [T] * N,
            DETERMINISTIC,
            program.loss,
            size,
        )
        sizes.append(size.value)
    assert 0 < sizes[0] < sizes[1]
    with DeviceBuffer(sizes[1]) as workspace:
        workspace.fill(0)
        program.host(activations(), workspace=workspace, workSpaceSizeInBytes=sizes[1])
        assert workspace.copy_to_host().any()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"probs": None}, BadParamError, "probs is NULL"),
        ({"costs": None}, BadParamError, "costs is NULL"),
        ({"hostLabels": None}, BadParamError, "abels is NULL"),
        ({"hostLabels": [1, 2, 2, 5, 3, 1, 4]}, BadParamError, "labels.1.: expected symbols"),
        ({"hostInputLengths": [7, 5, 4]}, BadParamError, "nputLengths: expected 3 ints"),
        ({"hostInputLengths": [0, 5, 4]}, BadParamError, "nputLengths: expected 3 ints"),
        ({"hostLabelLengths": [-1, 5, 3]}, BadParamError, "negative"),
        ({"workSpaceSizeInBytes": 16}, BadParamError, "workSpaceSizeInBytes = 16 is less"),
        ({"workspace": None}, BadParamError, "workspace is NULL"),
        ({"algo": raw.cudnnCTCLossAlgo_t(7)}, NotSupportedError, "algo: "),
    ],
)
def test_wrong_input_on_the_host(handle, changes, error, message):
    with pytest.raises(error, match=message):
        Program(handle).host(activations(), **changes)


@pytest.mark.parametrize(
    ("labels", "lengths", "longest", "error", "message"),
    [
        ([[1, 2, 2], [5], [3, 1, 4]], LENGTHS, 8, ExecutionFailedError, "labels.1.: "),
        (LABELS, [7, 5, 4], 8, ExecutionFailedError, "inputLengths"),
        (LABELS, LENGTHS, 2, ExecutionFailedError, "maxLabelLength = 2"),
        (LABELS, LENGTHS, 0, ExecutionFailedError, "maxLabelLength = 0"),
        (LABELS, LENGTHS, 256, NotSupportedError, "maxLabelLength above 255"),
    ],
)
def test_wrong_input_on_the_device(handle, labels, lengths, longest, error, message):
    with pytest.raises(error, match=message):
        Program(handle, longest=longest).device(activations(), labels, lengths)


def test_wrong_descriptors(handle):
    program, double = Program(handle), Program(handle, np.float64)
    with pytest.raises(NotSupportedError, match="probsDesc: "):
        program.host(activations(), probsDesc=double.desc)
    for desc in (double.desc, program.descriptor((T, N, A + 1))):
        wrong = {"gradientsDesc": desc, "gradients": program.gradients.ptr}
        with pytest.raises(BadParamError, match=r"gradients.*: expected the"):
            program.host(activations(), **wrong)
    with pytest.raises(BadParamError, match=r"probsDesc: expected .time"):
        program.host(activations(), probsDesc=program.descriptor((T, N, A, 1)))
    with pytest.raises(BadParamError, match="ctcLossDesc"):
        program.host(activations(), ctcLossDesc=None)


def test_labels_of_256_symbols(handle):
    labels = [[1] * 256, [1], [1]]
    with pytest.raises(NotSupportedError, match="above 255"):
        Program(handle).host(activations(), labels)
