"""What operations refuse before C reads or writes out of bounds, and how they say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import (
    ConvolutionDescriptor,
    DeviceBuffer,
    DeviceTensor,
    FilterDescriptor,
    Handle,
    NotSupportedError,
    TensorDescriptor,
)

X, W, Y = (2, 4, 6, 5), (8, 4, 3, 3), (2, 8, 6, 5)


def tensor(*shape: int, dtype: Any = np.float32) -> DeviceTensor:
    return DeviceTensor.from_numpy(np.ones(shape, dtype))


@pytest.fixture
def conv() -> Any:
    with ConvolutionDescriptor(1) as made:
        yield made


class TestOptions:
    def test_sums_of_int8_as_int32(self, handle: Handle) -> None:
        x, w = tensor(*X, dtype=np.int8), tensor(*W, dtype=np.int8)
        with ConvolutionDescriptor(1, compute_data_type="int32") as conv:  # noqa: SIM117
            with pytest.raises(ValueError, match=r"^y: .* int32 result"):
                cudnn.convolution_forward(handle, x, w, conv, data_type="int32")


class TestWorkspace:
    def test_too_small(self, handle: Handle, conv: ConvolutionDescriptor) -> None:
        x, w, y = tensor(*X), tensor(*W), tensor(*Y)
        image, filters, output = TensorDescriptor(X), FilterDescriptor(W), TensorDescriptor(Y)
        with image, filters, output:
            forward = cudnn.ConvolutionForward(image, filters, conv, output)
            rows = [row for row in forward.algorithms(handle) if row.usable]
            sizes = {row: forward.workspace_size(handle, row) for row in rows}
        refusals: dict[int, str] = {}
        for row, size in sizes.items():
            if size > 1:
                with DeviceBuffer(size - 1) as workspace:
                    try:
                        cudnn.convolution_forward(
                            handle, x, w, conv, y, algorithm=row, workspace=workspace
                        )
                    except ValueError as error:
                        refusals[size] = str(error)
        # An algorithm may do with less than it asks for; that all of them do would be a mistake.
        assert refusals
        for size, text in refusals.items():
            assert text.startswith(f"workspace: {size - 1} bytes are too small")
            assert text.endswith(f"needs {size} bytes")

    def test_nothing_fits(self, handle: Handle) -> None:
        shape, taps = (1, 4, 5, 5, 5), (4, 4, 3, 3, 3)
        image, filters = TensorDescriptor(shape, "float64"), FilterDescriptor(taps, "float64")
        conv = ConvolutionDescriptor((1, 1, 1), compute_data_type="float64")
        with image, filters, conv:
            table = cudnn.ConvolutionForward(image, filters, conv, image).algorithms(handle)
        with pytest.raises(NotSupportedError, match="needs a workspace"):
            table.choose(memory_limit=min(row.memory for row in table if row.usable) - 1)


class TestObjects:
    def test_tensors_without_memory_to_lend(self, handle: Handle) -> None:
        torch: Any = pytest.importorskip("torch")
        with tensor(*W) as weight:
            for lent in (
                torch.ones(2, 3).to_sparse(),
                torch.ones(1, 3, 4, 4, device="meta"),
                torch.ones(1, 3, 4, 4, requires_grad=True),
            ):
                with pytest.raises((BufferError, TypeError), match=r"^x: "):
                    cudnn.activation_forward(handle, lent, "relu")
                with pytest.raises((BufferError, TypeError), match=r"^x: "):
                    cudnn.causal_convolution_forward(lent, weight)
