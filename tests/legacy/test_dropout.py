"""Dropout as objects, on the reference device and on a GPU.

The masks differ between the two, so results are compared with the mask that the result itself
shows: kept elements scaled, the others zero, and the same mask in the backward pass.
"""

from __future__ import annotations

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes.errors import ClosedError, NotSupportedError

from .conftest import Report


@pytest.mark.parametrize("data_type", ["bfloat16", "int32"])
def test_types_that_are_not_supported(handle: cudnn.Handle, report: Report, data_type: str) -> None:
    device = "reference" if handle.on_reference_device else "GPU"
    x = cudnn.DeviceTensor.zeros((4, 5), data_type)
    with cudnn.DropoutDescriptor(handle, 0.5) as dropout:
        with pytest.raises(NotSupportedError) as caught:
            cudnn.dropout_forward(handle, x, dropout)
        with cudnn.DeviceBuffer(64) as reserve_space, pytest.raises(NotSupportedError):
            cudnn.dropout_backward(handle, dropout, dy=x, reserve_space=reserve_space)
    reason = f"{caught.value.function}: {caught.value.messages[0]}"
    report.not_supported((device, data_type, "dropout"), reason)


def test_masks_repeat_for_a_seed_and_for_restored_states(handle: cudnn.Handle) -> None:
    x = cudnn.DeviceTensor.from_numpy(np.ones((8, 257), np.float32))

    def masks(dropout: cudnn.DropoutDescriptor, count: int) -> list[np.ndarray]:
        results = [cudnn.dropout_forward(handle, x, dropout).y for _ in range(count)]
        return [y.numpy(stream=handle.stream) for y in results]

    with cudnn.DropoutDescriptor(handle, 0.5, seed=11) as dropout:
        first = masks(dropout, 3)
        dropout.set(0.5, 11)
        np.testing.assert_array_equal(masks(dropout, 3), first)
        assert (first[0] != first[1]).any()

        dropout.set(0.5, 11)
        masks(dropout, 1)
        saved = dropout.states.copy_to_host(stream=handle.stream)
        with cudnn.DeviceBuffer(len(saved)) as states:
            states.copy_from_host(saved)
            with cudnn.DropoutDescriptor(
                handle, 0.5, seed=11, states=states, restore=True
            ) as other:
                np.testing.assert_array_equal(masks(other, 2), first[1:])
    with cudnn.DropoutDescriptor(handle, 0.5, seed=12) as dropout:
        assert (masks(dropout, 1)[0] != first[0]).any()


def test_the_rate_alone_leaves_the_generator_as_it_is(handle: cudnn.Handle) -> None:
    x = cudnn.DeviceTensor.from_numpy(np.ones((8, 64), np.float32))
    with cudnn.DropoutDescriptor(handle, 0.5, seed=11) as dropout:
        cudnn.dropout_forward(handle, x, dropout)
        expected = cudnn.dropout_forward(handle, x, dropout).y.numpy(stream=handle.stream)
        dropout.set(0.25, 11)
        cudnn.dropout_forward(handle, x, dropout)
        dropout.rate = 0.5
        assert (dropout.rate, dropout.states_address) == (0.5, dropout.states.ptr)
        got = cudnn.dropout_forward(handle, x, dropout).y.numpy(stream=handle.stream)
        np.testing.assert_array_equal(got, expected)


def test_closing_closes_the_states_that_it_made() -> None:
    with cudnn.use_reference_device(), cudnn.Handle() as handle:
        dropout = cudnn.DropoutDescriptor(handle, 0.5)
        states = dropout.states
        dropout.close()
        dropout.close()
        assert dropout.closed
        assert states.closed
        assert repr(dropout) == "DropoutDescriptor(closed)"
        with cudnn.DeviceBuffer(cudnn.dropout_states_size(handle)) as states:
            with cudnn.DropoutDescriptor(handle, 0.5, states=states) as dropout:
                assert dropout.states is states
            assert not states.closed
            with cudnn.DropoutDescriptor(handle, 0.5) as dropout:
                made = dropout.states
                dropout.set(0.5, 1, states)
                assert made.closed
                assert dropout.states is states


def test_a_descriptor_prints_after_its_handle_is_closed() -> None:
    with cudnn.use_reference_device():
        handle = cudnn.Handle()
        with cudnn.DropoutDescriptor(handle, 0.5) as dropout:
            handle.close()
            assert repr(dropout) == "DropoutDescriptor(handle=Handle(closed), rate=0.5, seed=0)"
            with pytest.raises(ClosedError):
                dropout.rate = 0.25


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_wrong_rate_changes_nothing(reference_handle: cudnn.Handle, rate: float) -> None:
    with cudnn.DropoutDescriptor(reference_handle, 0.5) as dropout:
        with pytest.raises(ValueError, match="rate: expected a number from 0 to 1"):
            dropout.rate = rate
        assert dropout.rate == 0.5
