"""What the C functions of CTC loss refuse on the reference device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from cudnn_ctypes import (
    CTCLossDescriptor,
    DeviceTensor,
    ExecutionFailedError,
    NotSupportedError,
    ctc_loss_v8,
)

T, N, A = 6, 3, 5
LABELS, COUNTS, LENGTHS = [1, 2, 2, 4, 3, 1, 4], [3, 1, 3], [6, 5, 4]
U = np.random.default_rng(0).standard_normal((T, N, A)).astype(np.float32)


@pytest.fixture
def loss() -> Iterator[CTCLossDescriptor]:
    with CTCLossDescriptor(max_label_length=8) as loss:
        yield loss


@pytest.mark.parametrize(
    ("labels", "lengths", "longest", "error", "message"),
    [
        ([1, 2, 2, 5, 3, 1, 4], LENGTHS, 8, ExecutionFailedError, "labels.1.: "),
        (LABELS, [7, 5, 4], 8, ExecutionFailedError, "inputLengths"),
        (LABELS, LENGTHS, 256, NotSupportedError, "maxLabelLength above 255"),
    ],
)
def test_wrong_input_on_the_device(handle, labels, lengths, longest, error, message):
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
