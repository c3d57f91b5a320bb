"""RNNs by the names of cuDNN 5 to 8, against PyTorch on the CPU."""

from __future__ import annotations

from ctypes import byref, c_int, c_size_t, c_uint, cast, pointer
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import BadParamError, DeviceTensor, DropoutDescriptor, Handle, NotSupportedError
from cudnn_ctypes.porting.compat import v7 as cudnn
from cudnn_ctypes.raw.descriptors import record

from .old_rnn import OldProgram

pytestmark = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")


def check_training_step(
    torch: Any, handle: Handle, model: Any, lengths: list[int], **options: Any
) -> None:
    """Every result of a training step, twice the gradients of the weights, and inference."""
    dtype = next(model.parameters()).dtype
    exact = dtype == torch.float64
    # The persistent kernels in float32 have a tanh that is off by up to 7e-6.
    persistent = options.get("algorithm", cudnn.CUDNN_RNN_ALGO_STANDARD) != 0
    tolerance = {"rtol": 0, "atol": 1e-12 if exact else 3e-4 if persistent else 2e-5}
    directions = 2 if model.bidirectional else 1
    layers, batch = model.num_layers * directions, len(lengths)
    state = model.proj_size or model.hidden_size
    sequences = [torch.randn(length, model.input_size, dtype=dtype) for length in lengths]
    packed = torch.nn.utils.rnn.pack_sequence(sequences)
    x = packed.data.clone().requires_grad_()
    packed = packed._replace(data=x)
    hx = torch.randn(layers, batch, state, dtype=dtype, requires_grad=True)
    lstm = type(model).__name__ == "LSTM"
    cx = torch.randn(layers, batch, model.hidden_size, dtype=dtype, requires_grad=True)
    y, final = model(packed, (hx, cx) if lstm else hx)
    hy, cy = final if lstm else (final, None)
    dy, dhy = torch.randn_like(y.data), torch.randn_like(hy)
    dcy = torch.randn_like(cy) if lstm else None
    loss = (y.data * dy).sum() + (hy * dhy).sum()
    (loss + (cy * dcy).sum() if lstm else loss).backward()

    def host(value: Any) -> Any:
        return None if value is None else value.detach().numpy()

    with OldProgram(handle, model, lengths, **options) as program:
        given = host(x), host(hx), host(cx) if lstm else None
        for training in (False, True):
            results = program.forward(*given, training=training)
            for got, wanted in zip(results, (y.data, hy, cy), strict=True):
                if wanted is not None:
                    np.testing.assert_allclose(got, host(wanted), **tolerance)
        gradients = program.backward(host(dy), host(dhy), host(dcy))
        wanted_gradients = x.grad, hx.grad, cx.grad if lstm else None
        for got, wanted in zip(gradients, wanted_gradients, strict=True):
            if wanted is not None:
                np.testing.assert_allclose(got, host(wanted), **tolerance)
        dw = program.backward_weights()
        for parameter, where in program.places():
            # Parts of parameters are views of them; their gradients lie at the same place.
            gradient = gradient_of(model, parameter)
            largest = max(1.0, np.abs(gradient).max())
            got = dw[where].reshape(gradient.shape)
            atol = tolerance["atol"] * largest
            np.testing.assert_allclose(got, gradient, rtol=0, atol=atol)
        again = program.backward_weights()
        np.testing.assert_allclose(again, 2 * dw, rtol=1e-5, atol=1e-6)


def gradient_of(model: Any, part: Any) -> Any:
    """The gradient of a part of a parameter."""
    for parameter in model.parameters():
        begin = part.data_ptr() - parameter.data_ptr()
        if 0 <= begin < parameter.numel() * parameter.element_size():
            offset = begin // parameter.element_size()
            flat = parameter.grad.reshape(-1)[offset : offset + part.numel()]
            return flat.reshape(part.shape).numpy()
    raise AssertionError("no parameter has this part")


@pytest.mark.thinned(4)
@pytest.mark.parametrize("lengths", [[4, 4, 4], [5, 3, 1]], ids=["equal", "shorter"])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_training_step(handle, torch, kind, bidirectional, lengths):
    torch.manual_seed(1)
    options = {"num_layers": 2, "bidirectional": bidirectional, "dtype": torch.float64}
    model = getattr(torch.nn, kind)(3, 5, **options)
    check_training_step(torch, handle, model, lengths)


@pytest.mark.parametrize("how", ["v5", "plain of 6", "plain of 7"])
def test_other_ways_to_set_the_descriptor(handle, torch, how):
    torch.manual_seed(2)
    model = torch.nn.GRU(4, 4, dtype=torch.float64)
    check_training_step(torch, handle, model, [3, 2], set_descriptor=how)


def test_the_functions_for_sequences(handle, torch):
    torch.manual_seed(3)
    model = torch.nn.LSTM(3, 5, num_layers=2, dtype=torch.float64)
    check_training_step(torch, handle, model, [4, 2, 2], ex=True)


def test_a_projection(handle, torch):
    torch.manual_seed(4)
    model = torch.nn.LSTM(3, 6, num_layers=2, proj_size=2, dtype=torch.float64)
    check_training_step(torch, handle, model, [3, 3])


@pytest.mark.parametrize("algorithm", ["STANDARD", "PERSIST_STATIC", "PERSIST_DYNAMIC"])
def test_every_algorithm(handle, torch, algorithm):
    torch.manual_seed(5)
    model = torch.nn.LSTM(32, 64)
    algo = getattr(cudnn, f"CUDNN_RNN_ALGO_{algorithm}")
    check_training_step(torch, handle, model, [6, 6], algorithm=algo)


# -- settings ------------------------------------------------------------------------------------


@pytest.fixture
def rnn(reference_handle):
    descriptor = cudnn.cudnnRNNDescriptor_t()
    cudnn.cudnnCreateRNNDescriptor(descriptor)
    yield descriptor
    cudnn.cudnnDestroyRNNDescriptor(descriptor)


LSTM = [cudnn.CUDNN_LINEAR_INPUT, cudnn.CUDNN_BIDIRECTIONAL, cudnn.CUDNN_LSTM]
LSTM += [cudnn.CUDNN_RNN_ALGO_STANDARD, cudnn.CUDNN_DATA_FLOAT]


def set_lstm(handle: Handle, rnn: Any, dropout: Any = None) -> None:
    cudnn.cudnnSetRNNDescriptor_v6(handle, rnn, 5, 2, dropout, *LSTM)


def test_settings_are_read_back_as_they_were_set(reference_handle, rnn):
    with DropoutDescriptor(reference_handle, 0.25) as dropout:
        set_lstm(reference_handle, rnn, dropout)
        numbers = c_int(), c_int()
        got_dropout = cudnn.cudnnDropoutDescriptor_t()
        kinds = ("RNNInputMode", "DirectionMode", "RNNMode", "RNNAlgo", "DataType")
        words = [getattr(cudnn, f"cudnn{kind}_t")() for kind in kinds]
        cudnn.cudnnGetRNNDescriptor_v6(reference_handle, rnn, *numbers, got_dropout, *words)
        assert [each.value for each in numbers] == [5, 2]
        assert got_dropout.value == dropout._as_parameter_.value
        assert [each.value for each in words] == LSTM


@pytest.mark.parametrize(
    ("name", "value", "variable"),
    [
        ("MatrixMathType", cudnn.CUDNN_TENSOR_OP_MATH, cudnn.cudnnMathType_t),
        ("BiasMode", cudnn.CUDNN_RNN_SINGLE_INP_BIAS, cudnn.cudnnRNNBiasMode_t),
        ("PaddingMode", cudnn.CUDNN_RNN_PADDED_IO_ENABLED, c_uint),
    ],
)
def test_one_setting_and_no_other(reference_handle, rnn, name, value, variable):
    with DropoutDescriptor(reference_handle, 0.25) as dropout:
        set_lstm(reference_handle, rnn, dropout)
        before, got = record(rnn), variable()
        assert before.dropout
        getattr(cudnn, f"cudnnSetRNN{name}")(rnn, value)
    getattr(cudnn, f"cudnnGetRNN{name}")(rnn, got)
    assert got.value == value
    after = record(rnn)
    changed = [each for each in before.__slots__ if getattr(before, each) != getattr(after, each)]
    assert len(changed) == 1


def test_the_clip_outlives_what_later_calls_learn(reference_handle, rnn):
    """The size of the input is set when a tensor tells it, which takes cuDNN's clip away."""
    set_lstm(reference_handle, rnn)
    minmax, nan = cudnn.CUDNN_RNN_CLIP_MINMAX, cudnn.CUDNN_PROPAGATE_NAN
    cudnn.cudnnRNNSetClip(reference_handle, rnn, minmax, nan, -0.5, 0.75)
    x, size = cudnn.cudnnTensorDescriptor_t(), c_size_t()
    cudnn.cudnnCreateTensorDescriptor(x)
    cudnn.cudnnSetTensorNdDescriptor(x, cudnn.CUDNN_DATA_HALF, 3, [2, 7, 1], [7, 1, 1])
    cudnn.cudnnGetRNNParamsSize(reference_handle, rnn, x, size, cudnn.CUDNN_DATA_HALF)
    cudnn.cudnnDestroyTensorDescriptor(x)
    held = record(rnn)
    assert (held.input_size, held.data_type) == (7, cudnn.CUDNN_DATA_HALF)
    assert (held.compute_data_type, held.clip) == (cudnn.CUDNN_DATA_FLOAT, (-0.5, 0.75))
    # 2 layers, 2 directions, 4 gates: input and recurrent matrices, two biases
    elements = 2 * 4 * ((7 + 5 + 2) * 5 + (10 + 5 + 2) * 5)
    assert size.value >= 2 * elements


def test_an_algorithm_by_its_descriptor(reference_handle, rnn):
    set_lstm(reference_handle, rnn)
    algorithm, descriptor = cudnn.cudnnAlgorithm_t(), cudnn.cudnnAlgorithmDescriptor_t()
    algorithm.algo.RNNAlgo = cudnn.CUDNN_RNN_ALGO_PERSIST_STATIC
    cudnn.cudnnCreateAlgorithmDescriptor(descriptor)
    cudnn.cudnnSetAlgorithmDescriptor(descriptor, algorithm)
    cudnn.cudnnSetRNNAlgorithmDescriptor(reference_handle, rnn, descriptor)
    cudnn.cudnnDestroyAlgorithmDescriptor(descriptor)
    assert record(rnn).algorithm == cudnn.CUDNN_RNN_ALGO_PERSIST_STATIC
    with pytest.raises(BadParamError, match="algoDesc is NULL, destroyed or never created"):
        cudnn.cudnnSetRNNAlgorithmDescriptor(reference_handle, rnn, descriptor)


# -- refusals ------------------------------------------------------------------------------------


def size_of_workspace(handle: Handle, rnn: Any, shapes: list[list[int]], steps: int) -> int:
    descriptors = (cudnn.cudnnTensorDescriptor_t * len(shapes))()
    for descriptor, shape in zip(descriptors, shapes, strict=True):
        cudnn.cudnnCreateTensorDescriptor(descriptor)
        strides = [shape[1] * shape[2], shape[2], 1]
        cudnn.cudnnSetTensorNdDescriptor(descriptor, cudnn.CUDNN_DATA_FLOAT, 3, shape, strides)
    size = c_size_t()
    try:
        cudnn.cudnnGetRNNWorkspaceSize(handle, rnn, steps, descriptors, size)
    finally:
        for descriptor in descriptors:
            cudnn.cudnnDestroyTensorDescriptor(descriptor)
    return size.value


@pytest.mark.parametrize(
    ("shapes", "steps", "told"),
    [
        ([[2, 3, 1], [3, 3, 1]], 2, r"xDesc: the batch must never grow, got \[2, 3\]"),
        ([[2, 3, 1], [2, 4, 1]], 2, "xDesc: time steps differ in size or data type"),
        ([[2, 3, 1]], 2, "xDesc: 1 descriptors for 2 time steps"),
        ([[2, 3, 1]], 0, "xDesc: 1 descriptors for 0 time steps"),
    ],
)
def test_time_steps_that_do_not_fit(reference_handle, rnn, shapes, steps, told):
    set_lstm(reference_handle, rnn)
    with pytest.raises(BadParamError, match=told):
        size_of_workspace(reference_handle, rnn, shapes, steps)


def test_arrays_of_descriptors_as_c_passes_them(reference_handle, rnn):
    """The array, its address, a pointer to its first element, and from its second on."""
    set_lstm(reference_handle, rnn)
    descriptors = (cudnn.cudnnTensorDescriptor_t * 3)()
    for descriptor, batch in zip(descriptors, (4, 2, 2), strict=True):
        cudnn.cudnnCreateTensorDescriptor(descriptor)
        shape, strides = [batch, 3, 1], [3, 1, 1]
        cudnn.cudnnSetTensorNdDescriptor(descriptor, cudnn.CUDNN_DATA_FLOAT, 3, shape, strides)
    first = pointer(descriptors[0])
    sizes = []
    for steps, given in (
        (3, descriptors),
        (3, list(descriptors)),
        (3, byref(descriptors[0])),
        (3, cast(descriptors, type(first))),
        (2, descriptors[1:]),
        (2, byref(descriptors[1])),
    ):
        size = c_size_t()
        cudnn.cudnnGetRNNTrainingReserveSize(reference_handle, rnn, steps, given, size)
        sizes.append(size.value)
    assert len(set(sizes[:4])) == len(set(sizes[4:])) == 1
    assert sizes[0] > sizes[4]
    for descriptor in descriptors:
        cudnn.cudnnDestroyTensorDescriptor(descriptor)


def test_what_was_never_set_is_refused(reference_handle, rnn):
    with pytest.raises(BadParamError, match="rnnDesc is NULL, or was created but never set"):
        size_of_workspace(reference_handle, rnn, [[2, 3, 1]], 1)
    with pytest.raises(BadParamError, match="cudnnSetRNNBiasMode returned"):
        cudnn.cudnnSetRNNBiasMode(rnn, cudnn.CUDNN_RNN_NO_BIAS)


def test_an_output_projection_was_never_supported(reference_handle, rnn):
    set_lstm(reference_handle, rnn)
    sizes = c_int(7), c_int(7)
    cudnn.cudnnGetRNNProjectionLayers(reference_handle, rnn, *sizes)
    assert [each.value for each in sizes] == [5, 0]  # the hidden size, where nothing projects
    with pytest.raises(NotSupportedError, match="outProjSize"):
        cudnn.cudnnSetRNNProjectionLayers(reference_handle, rnn, 3, 2)


def test_a_plan_is_for_the_dynamic_algorithm(reference_handle, rnn):
    set_lstm(reference_handle, rnn)
    plan = cudnn.cudnnPersistentRNNPlan_t()
    with pytest.raises(BadParamError, match="CUDNN_RNN_ALGO_PERSIST_DYNAMIC"):
        cudnn.cudnnCreatePersistentRNNPlan(rnn, 2, cudnn.CUDNN_DATA_FLOAT, plan)


def test_an_error_of_cudnn_9_has_the_old_name_and_arguments(reference_handle, torch):
    model = torch.nn.LSTM(3, 5, dtype=torch.float64)
    with OldProgram(reference_handle, model, [2, 2]) as program:
        program.reserve = DeviceTensor.zeros((8,), "uint8")
        x, h = np.zeros((4, 3)), np.zeros((1, 2, 5))
        with pytest.raises(BadParamError, match="cudnnRNNForwardTraining returned") as error:
            program.forward(x, h, h)
        assert error.value.function == "cudnnRNNForwardTraining"
        assert error.value.arguments["seqLength"] == "2"
        assert error.value.__cause__.function == "cudnnRNNForward"
        assert "hint: cudnnRNNForward carries it out" in str(error.value)
