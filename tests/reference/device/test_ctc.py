"""What the C functions of CTC loss refuse on the reference device."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw

T, N, A = 6, 3, 5
LABELS, COUNTS, LENGTHS = [1, 2, 2, 4, 3, 1, 4], [3, 1, 3], [6, 5, 4]
U = np.random.default_rng(0).standard_normal((T, N, A)).astype(np.float32)


@pytest.fixture
def loss() -> Iterator[cudnn.CTCLossDescriptor]:
    with cudnn.CTCLossDescriptor(max_label_length=8) as loss:
        yield loss


@pytest.mark.parametrize(
    ("labels", "lengths", "longest", "error", "message"),
    [
        ([1, 2, 2, 5, 3, 1, 4], LENGTHS, 8, cudnn.ExecutionFailedError, "labels.1.: "),
        (LABELS, [7, 5, 4], 8, cudnn.ExecutionFailedError, "inputLengths"),
        (LABELS, LENGTHS, 256, cudnn.NotSupportedError, "maxLabelLength above 255"),
    ],
)
def test_wrong_input_on_the_device(handle, labels, lengths, longest, error, message):
    given, *sizes = (
        cudnn.DeviceTensor.from_numpy(np.array(numbers, np.int32))
        for numbers in (labels, COUNTS, lengths)
    )
    with (
        cudnn.CTCLossDescriptor(max_label_length=longest) as loss,
        pytest.raises(error, match=message),
    ):
        cudnn.ctc_loss_v8(
            *(handle, cudnn.DeviceTensor.from_numpy(U), given, loss),
            label_lengths=sizes[0],
            input_lengths=sizes[1],
        )


@pytest.mark.parametrize("symbols", [1, 2])
@pytest.mark.parametrize("algorithm", ["deterministic", "non_deterministic"])
def test_an_alphabet_of_the_blank_alone(handle, loss, symbols, algorithm):
    algo = raw.cudnnCTCLossAlgo_t[f"CUDNN_CTC_LOSS_ALGO_{algorithm.upper()}"]
    size = ctypes.c_size_t()
    with cudnn.TensorDescriptor((7, 1, symbols)) as probs:
        arguments = (handle, algo, loss, probs, None, size)
        if symbols == 1:
            with pytest.raises(cudnn.BadParamError, match="no symbol but the blank"):
                raw.cudnnGetCTCLossWorkspaceSize_v8(*arguments)
        else:
            raw.cudnnGetCTCLossWorkspaceSize_v8(*arguments)
            assert size.value > 0
