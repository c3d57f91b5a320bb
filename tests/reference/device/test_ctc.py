"""What the C functions of CTC loss refuse on the reference device."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_size_t
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    BadParamError,
    CTCLossDescriptor,
    DeviceBuffer,
    DeviceTensor,
    ExecutionFailedError,
    Handle,
    NotSupportedError,
    TensorDescriptor,
    ctc_loss_v8,
    raw,
)

T, N, A = 6, 3, 5
LABELS, COUNTS, LENGTHS = [1, 2, 2, 4, 3, 1, 4], [3, 1, 3], [6, 5, 4]
U = np.random.default_rng(0).standard_normal((T, N, A)).astype(np.float32)


@pytest.fixture
def loss() -> Iterator[CTCLossDescriptor]:
    with CTCLossDescriptor(max_label_length=8) as loss:
        yield loss


def on_the_host(handle: Handle, loss: CTCLossDescriptor, **changes: Any) -> None:
    """cudnnCTCLoss, with the workspace that its query asks for."""
    probs, costs, size = DeviceTensor.from_numpy(U), DeviceTensor.zeros((N,), "float32"), c_size_t()
    algorithm = raw.CUDNN_CTC_LOSS_ALGO_DETERMINISTIC
    with TensorDescriptor((T, N, A)) as desc:
        labels = (LABELS, COUNTS, LENGTHS)
        raw.cudnnGetCTCLossWorkspaceSize(handle, desc, None, *labels, algorithm, loss, size)
        with DeviceBuffer(size.value) as workspace:
            workspace.fill(0)
            arguments = {
                "handle": handle,
                "probsDesc": desc,
                "probs": probs,
                "hostLabels": LABELS,
                "hostLabelLengths": COUNTS,
                "hostInputLengths": LENGTHS,
                "costs": costs,
                "gradientsDesc": None,
                "gradients": None,
                "algo": algorithm,
                "ctcLossDesc": loss,
                "workspace": workspace,
                "workSpaceSizeInBytes": size.value,
            }
            raw.cudnnCTCLoss(**{**arguments, **changes})
            assert workspace.copy_to_host().any(), "what a workspace holds is lost"


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"hostLabels": [1, 2, 2, 5, 3, 1, 4]}, BadParamError, "labels.1.: expected symbols"),
        ({"hostInputLengths": [7, 5, 4]}, BadParamError, "nputLengths: expected 3 ints"),
        ({"hostInputLengths": [0, 5, 4]}, BadParamError, "nputLengths: expected 3 ints"),
        ({"hostLabelLengths": [-1, 5, 3]}, BadParamError, "negative"),
        (
            {"hostLabels": [1] * 258, "hostLabelLengths": [256, 1, 1]},
            NotSupportedError,
            "above 255",
        ),
    ],
)
def test_wrong_input_on_the_host(
    handle: Handle, loss: CTCLossDescriptor, changes: Any, error: Any, message: str
) -> None:
    on_the_host(handle, loss)
    with pytest.raises(error, match=message):
        on_the_host(handle, loss, **changes)


def test_descriptors_of_four_dimensions(handle: Handle, loss: CTCLossDescriptor) -> None:
    with (
        TensorDescriptor((T, N, A, 1)) as desc,
        pytest.raises(BadParamError, match=r"probsDesc: expected .time"),
    ):
        on_the_host(handle, loss, probsDesc=desc)


@pytest.mark.parametrize(
    ("labels", "lengths", "longest", "error", "message"),
    [
        ([1, 2, 2, 5, 3, 1, 4], LENGTHS, 8, ExecutionFailedError, "labels.1.: "),
        (LABELS, [7, 5, 4], 8, ExecutionFailedError, "inputLengths"),
        (LABELS, LENGTHS, 256, NotSupportedError, "maxLabelLength above 255"),
    ],
)
def test_wrong_input_on_the_device(
    handle: Handle, labels: Any, lengths: Any, longest: int, error: Any, message: str
) -> None:
    given, *sizes = (
        DeviceTensor.from_numpy(np.array(numbers, np.int32))
        for numbers in (labels, COUNTS, lengths)
    )
    with (
        CTCLossDescriptor(max_label_length=longest) as loss,
        pytest.raises(error, match=message),
    ):
        ctc_loss_v8(
            *(handle, DeviceTensor.from_numpy(U), given, loss),
            label_lengths=sizes[0],
            input_lengths=sizes[1],
        )
