"""What the C functions of recurrent networks and dropout answer to wrong input, on both devices.

The statuses that the reference device gives are asserted of cuDNN too.
"""

from __future__ import annotations

from ctypes import byref, c_size_t, c_void_p
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    RNN,
    BadParamError,
    DeviceBuffer,
    DeviceTensor,
    DropoutDescriptor,
    Handle,
    NotSupportedError,
    RNNDataDescriptor,
    RNNDescriptor,
    RNNWeights,
    TensorDescriptor,
    dropout_reserve_size,
    raw,
)
from cudnn_ctypes.reference.rnn_cells import Clip

from .recurrent import LAYOUTS, Run, example, expected, random_operands

SUCCESS, BAD_PARAM = raw.CUDNN_STATUS_SUCCESS, raw.CUDNN_STATUS_BAD_PARAM
NOT_SUPPORTED = raw.CUDNN_STATUS_NOT_SUPPORTED
NO_TENSOR, NO_DATA = raw.cudnnTensorDescriptor_t(), raw.cudnnRNNDataDescriptor_t()


class Calls(Run):
    """The three passes of a network of 2 layers and 2 directions, as C calls."""

    def __init__(self, handle: Handle, cell: str = "lstm", **options: Any) -> None:
        problem = example(cell, layers=2, bidirectional=True)
        super().__init__(handle, problem, random_operands(problem), **options)
        network = self.network
        sizes = network.temp_space_sizes(handle)
        self.workspace = self.enter_context(DeviceBuffer(sizes.workspace))
        self.reserve_space = self.enter_context(DeviceBuffer(sizes.reserve_space))
        states = {
            name: self.put(self.given.hx)
            for name in ("hx", "hy", "dhx", "dhy", "cx", "cy", "dcx", "dcy")
        }
        gradients = self.enter_context(DeviceBuffer(self.weights.space.nbytes))
        gradients.fill(0)
        self.arguments: dict[str, Any] = {
            "handle": handle,
            "rnnDesc": self.rnn,
            "fwdMode": raw.CUDNN_FWD_MODE_TRAINING,
            "addGrad": raw.CUDNN_WGRAD_MODE_ADD,
            "devSeqLengths": None,
            "xDesc": network.x_desc,
            "x": self.x,
            "dx": self.poisoned(network.x_desc.shape),
            "yDesc": network.y_desc,
            "y": self.poisoned(network.y_desc.shape),
            "dy": self.dy,
            "hDesc": network.h_desc,
            "cDesc": network.c_desc,
            **states,
            "weightSpaceSize": self.weights.space.nbytes,
            "weightSpace": self.weights.space,
            "dweightSpace": gradients,
            "workSpaceSize": self.workspace.nbytes,
            "workSpace": self.workspace,
            "reserveSpaceSize": self.reserve_space.nbytes,
            "reserveSpace": self.reserve_space,
        }

    def status(self, name: str, **change: Any) -> raw.cudnnStatus_t:
        # Addresses: what tensors say is held against the descriptors before C.
        arguments = {
            key: value._as_parameter_ if isinstance(value, DeviceTensor) else value
            for key, value in {**self.arguments, **change}.items()
        }
        function = raw.FUNCTIONS[name]
        wanted = [parameter.name for parameter in function.parameters]
        status: raw.cudnnStatus_t = function.unchecked(**{n: arguments[n] for n in wanted})
        return status


PASSES = ("cudnnRNNForward", "cudnnRNNBackwardData_v8", "cudnnRNNBackwardWeights_v8")


def states(calls: Calls, shape: tuple[int, ...], data_type: str = "float64") -> Any:
    """A descriptor of states."""
    strides = (shape[1] * shape[2], shape[2], 1)
    return calls.enter_context(TensorDescriptor(shape, data_type, strides=strides))


@pytest.mark.parametrize("name", PASSES)
def test_the_type_in_the_descriptors_of_states_is_ignored(handle: Handle, name: str) -> None:
    with Calls(handle) as calls:
        for each in PASSES[: PASSES.index(name)]:
            assert calls.status(each) == SUCCESS
        other = {"hDesc": states(calls, (4, 4, 4), "float32")}
        other["cDesc"] = states(calls, (4, 4, 4), "float16")
        assert calls.status(name, **other) == SUCCESS


@pytest.mark.parametrize("name", PASSES)
def test_descriptors_of_states_that_are_null_may_be_null(handle: Handle, name: str) -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ("hx", "hy", "dhx", "dhy", "cx", "cy", "dcx", "dcy"), None
    )
    with Calls(handle) as calls:
        for each in PASSES[: PASSES.index(name) + 1]:
            assert calls.status(each, hDesc=NO_TENSOR, cDesc=NO_TENSOR, **nothing) == SUCCESS


def test_lengths_on_the_device_are_compared(reference_handle: Handle) -> None:
    with Calls(reference_handle) as calls:
        lengths = calls.put(np.array(calls.problem.lengths, np.int32))
        assert calls.status(PASSES[0], devSeqLengths=lengths) == SUCCESS
        other = calls.put(np.array(calls.problem.lengths[::-1], np.int32))
        assert calls.status(PASSES[0], devSeqLengths=other) == BAD_PARAM


def test_descriptors_of_cell_states_are_those_of_an_lstm(reference_handle: Handle) -> None:
    for cell, status in (("lstm", BAD_PARAM), ("gru", SUCCESS)):
        with Calls(reference_handle, cell) as calls:
            assert calls.status(PASSES[0], cDesc=states(calls, (4, 4, 2))) == status


def test_passes_follow_each_other(reference_handle: Handle) -> None:
    with Calls(reference_handle) as calls, Calls(reference_handle, "gru") as other:
        assert calls.status(PASSES[1]) == BAD_PARAM
        assert calls.status(PASSES[0]) == SUCCESS
        assert calls.status(PASSES[2]) == BAD_PARAM
        assert calls.status(PASSES[1]) == SUCCESS
        assert calls.status(PASSES[2]) == SUCCESS
        space = {name: calls.arguments[name] for name in ("reserveSpace", "reserveSpaceSize")}
        assert other.status(PASSES[1], **space) == BAD_PARAM


def test_networks_with_dropout_need_states_for_training(reference_handle: Handle) -> None:
    dropout = raw.cudnnDropoutDescriptor_t()
    raw.cudnnCreateDropoutDescriptor(dropout)
    raw.cudnnSetDropoutDescriptor(dropout, reference_handle, 0.5, None, 0, 1)
    with Calls(reference_handle) as calls:
        options = (0, raw.CUDNN_LSTM, 2, 1, 0, *(raw.CUDNN_DATA_DOUBLE,) * 2, 0, 3, 4, 4, 2)
        raw.cudnnSetRNNDescriptor_v8(calls.rnn, *options, dropout, 1)
        assert calls.status(PASSES[0]) == BAD_PARAM
        assert calls.status(PASSES[0], fwdMode=raw.CUDNN_FWD_MODE_INFERENCE) == SUCCESS
    raw.cudnnDestroyDropoutDescriptor(dropout)


def test_skipping_the_input_needs_equal_sizes(reference_handle: Handle) -> None:
    with RNNDescriptor("lstm", input_size=4, hidden_size=4, input_mode="skip_input") as rnn:
        raw.cudnnSetRNNDescriptor_v8(rnn, 0, 2, 2, 0, 1, 0, 0, 0, 3, 4, 4, 1, None, 1)
        size = c_size_t()
        status = raw.cudnnGetRNNWeightSpaceSize.unchecked(reference_handle, rnn, size)
        assert status == BAD_PARAM


def test_a_dynamic_plan_is_for_a_batch_size_and_ends_with_the_descriptor(reference_handle):
    handle, x = reference_handle, DeviceTensor.zeros((5, 4, 3), "float32")
    for _ in range(20):  # an address comes back soon
        rnn = RNNDescriptor("gru", input_size=3, hidden_size=32, algorithm="persist_dynamic")
        with rnn, RNNWeights(handle, rnn) as weights, RNN.of(rnn, x) as network:
            weights.zero()
            for batch in (None, 5):
                if batch is not None:
                    raw.cudnnBuildRNNDynamic(handle, rnn, batch)
                with pytest.raises(BadParamError):
                    network.forward(handle, x, weights)
            rnn.build_dynamic(handle, 4)
            network.forward(handle, x, weights)
            with RNN.of(rnn, x, lengths=[5, 5, 5, 1]) as padded, pytest.raises(NotSupportedError):
                padded.forward(handle, x, weights)


def test_limits_of_the_clip_are_rounded_to_float32(reference_handle: Handle) -> None:
    limit = float(np.float32(0.1))
    for given, right in ((0.1, False), (limit, True)):
        problem = example(clip=Clip(-given, given))
        operands = random_operands(problem)
        operands.cx[...] = 1
        with Run(reference_handle, problem, operands) as run:
            y, exact = run.training_step()["y"], expected(problem, operands)["y"]
        assert np.allclose(y[problem.valid], exact[problem.valid], rtol=0, atol=1e-12) == right


def test_gradients_can_only_be_added(handle: Handle) -> None:
    with Calls(handle) as calls:
        for name in PASSES[:2]:
            assert calls.status(name) == SUCCESS
        mode = raw.CUDNN_WGRAD_MODE_SET
        assert calls.status(PASSES[2], addGrad=mode) == NOT_SUPPORTED


@pytest.mark.parametrize(
    ("layout", "lengths", "status"),
    [
        (LAYOUTS[0], (3, 3), SUCCESS),
        (LAYOUTS[0], (3, 2), BAD_PARAM),
        (LAYOUTS[0], (2, 2), BAD_PARAM),
        (LAYOUTS[1], (3, 3), BAD_PARAM),
    ],
)
def test_padding_needs_padded_io(handle, layout, lengths, status):
    options: dict[str, Any] = {"max_length": 3, "layout": layout}
    with (
        Calls(handle) as calls,
        RNNDescriptor("gru", input_size=3, hidden_size=4, padded_io=False) as rnn,
        RNNDataDescriptor(lengths, 3, **options) as x_desc,
        RNNDataDescriptor(lengths, 4, **options) as y_desc,
        TensorDescriptor((1, 2, 4), strides=(8, 4, 1)) as h_desc,
    ):
        calls.weights.zero()
        sizes = rnn.temp_space_sizes(handle, x_desc)  # which cuDNN gives in any case
        changed = calls.status(
            "cudnnRNNForward",
            rnnDesc=rnn,
            fwdMode=raw.CUDNN_FWD_MODE_INFERENCE,
            xDesc=x_desc,
            yDesc=y_desc,
            hDesc=h_desc,
            cDesc=h_desc,
            workSpace=calls.enter_context(DeviceBuffer(sizes.workspace)),
            workSpaceSize=sizes.workspace,
        )
        assert changed == status


@pytest.mark.parametrize(
    ("layer", "linear", "less", "status"),
    [
        (3, 7, 0, SUCCESS),
        (0, 8, 0, SUCCESS),
        (4, 0, 0, BAD_PARAM),
        (-1, 0, 0, BAD_PARAM),
        (0, 9, 0, BAD_PARAM),
        (0, -1, 0, BAD_PARAM),
        (0, 0, 8, SUCCESS),
        (3, 7, 8, BAD_PARAM),
    ],
)
def test_weight_params(handle, layer, linear, less, status):
    with Calls(handle) as calls, TensorDescriptor() as matrix, TensorDescriptor() as bias:
        space, addresses = calls.weights.space, (c_void_p(), c_void_p())
        places = matrix, byref(addresses[0]), bias, byref(addresses[1])
        got = raw.cudnnGetRNNWeightParams.unchecked(
            handle, calls.rnn, layer, space.nbytes - less, space, linear, *places
        )
        assert got == status, "what is asked for must lie in the space"
        if linear == 8:  # a projection, which this network has not
            assert addresses[0].value is addresses[1].value is None
            assert matrix.shape == bias.shape == ()


def test_weight_params_without_memory_are_offsets(handle: Handle) -> None:
    with Calls(handle) as calls, TensorDescriptor() as matrix, TensorDescriptor() as bias:
        space = calls.weights.space

        def addresses(memory: Any) -> tuple[int, int]:
            found = c_void_p(), c_void_p()
            raw.cudnnGetRNNWeightParams(
                handle, calls.rnn, 2, space.nbytes, memory, 5, matrix, found[0], bias, found[1]
            )
            return found[0].value or 0, found[1].value or 0

        there, offsets = addresses(space), addresses(None)
        assert tuple(address - space.ptr for address in there) == offsets


@pytest.mark.parametrize("batch", [0, -1])
def test_dynamic_plans_of_no_batch(handle: Handle, batch: int) -> None:
    options = {"input_size": 32, "hidden_size": 32}
    with RNNDescriptor("lstm", **options, algorithm="persist_dynamic") as rnn:
        assert raw.cudnnBuildRNNDynamic.unchecked(handle, rnn, batch) == BAD_PARAM


def test_other_algorithms_need_no_dynamic_plan(handle: Handle) -> None:
    with RNNDescriptor("lstm", input_size=32, hidden_size=32) as rnn:
        assert raw.cudnnBuildRNNDynamic.unchecked(handle, rnn, 4) == SUCCESS


# -- dropout -------------------------------------------------------------------------------------


def test_dropout_without_states(handle: Handle) -> None:
    descriptor = raw.cudnnDropoutDescriptor_t()
    raw.cudnnCreateDropoutDescriptor(descriptor)
    try:
        arguments = (descriptor, handle, 0.5, None, 0, 1)
        assert raw.cudnnSetDropoutDescriptor.unchecked(*arguments) == SUCCESS
        assert raw.cudnnRestoreDropoutDescriptor.unchecked(*arguments) == BAD_PARAM
    finally:
        raw.cudnnDestroyDropoutDescriptor(descriptor)


@pytest.mark.parametrize(
    "change",
    [
        {"ydesc": (2, 5)},
        {"reserveSpace": None},
        {"reserveSpaceSizeInBytes": 3},
        {"x": None},
        {"y": None},
    ],
    ids=str,
)
def test_dropout_operands(handle: Handle, change: dict[str, Any]) -> None:
    memory = DeviceTensor.zeros((3, 4), "float32")
    with (
        DropoutDescriptor(handle, 0.5) as dropout,
        TensorDescriptor((3, 4, 1, 1)) as x_desc,
        TensorDescriptor((*change.get("ydesc", (3, 4)), 1, 1)) as y_desc,
        DeviceBuffer(dropout_reserve_size(x_desc)) as reserve_space,
    ):
        arguments = {
            "handle": handle,
            "dropoutDesc": dropout,
            "xdesc": x_desc,
            "x": memory._as_parameter_,
            "y": memory._as_parameter_,
            "reserveSpace": reserve_space,
            "reserveSpaceSizeInBytes": reserve_space.nbytes,
            **change,
            "ydesc": y_desc,
        }
        assert raw.cudnnDropoutForward.unchecked(**arguments) == BAD_PARAM
