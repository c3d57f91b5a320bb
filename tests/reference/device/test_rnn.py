"""Recurrent networks on the reference device, through C's own calls."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_size_t, c_void_p
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, raw
from cudnn_ctypes.reference.dropout import Position, draw_mask
from cudnn_ctypes.reference.rnn import rnn_backward_data, rnn_backward_weights, rnn_forward
from cudnn_ctypes.reference.rnn_cells import Clip
from cudnn_ctypes.reference.rnn_network import RecurrentNetwork, weights_in

CELLS = {"relu": raw.CUDNN_RNN_RELU, "tanh": raw.CUDNN_RNN_TANH}
CELLS |= {"lstm": raw.CUDNN_LSTM, "gru": raw.CUDNN_GRU}
BIASES = {
    "no_bias": raw.CUDNN_RNN_NO_BIAS,
    "single_inp_bias": raw.CUDNN_RNN_SINGLE_INP_BIAS,
    "double_bias": raw.CUDNN_RNN_DOUBLE_BIAS,
    "single_rec_bias": raw.CUDNN_RNN_SINGLE_REC_BIAS,
}
SEQ_MAJOR = raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED
PACKED = raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED
BATCH_MAJOR = raw.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
TRAINING, INFERENCE = raw.CUDNN_FWD_MODE_TRAINING, raw.CUDNN_FWD_MODE_INFERENCE
BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED
STEPS, LENGTHS = 5, (5, 4, 4, 1)
BATCH = len(LENGTHS)


def created(kind: str):
    descriptor = getattr(raw, f"cudnn{kind}_t")()
    getattr(raw, f"cudnnCreate{kind}")(descriptor)
    return descriptor


def rnn_descriptor(
    network: RecurrentNetwork,
    dtype=np.float64,
    algo=raw.CUDNN_RNN_ALGO_STANDARD,
    dropout=None,
    flags=1,
):
    descriptor = created("RNNDescriptor")
    types = {
        np.float64: (raw.CUDNN_DATA_DOUBLE,) * 2,
        np.float32: (raw.CUDNN_DATA_FLOAT,) * 2,
        np.float16: (raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_FLOAT),
        ml_dtypes.bfloat16: (raw.CUDNN_DATA_BFLOAT16, raw.CUDNN_DATA_FLOAT),
    }
    raw.cudnnSetRNNDescriptor_v8(
        descriptor,
        algo,
        CELLS[network.cell],
        BIASES[network.bias],
        raw.CUDNN_BIDIRECTIONAL if network.bidirectional else raw.CUDNN_UNIDIRECTIONAL,
        raw.CUDNN_SKIP_INPUT if network.skip_input else raw.CUDNN_LINEAR_INPUT,
        *types[dtype],
        raw.CUDNN_DEFAULT_MATH,
        network.input_size,
        network.hidden_size,
        network.output_size,
        network.layers,
        dropout or raw.cudnnDropoutDescriptor_t(),
        flags,
    )
    if network.clip is not None:
        low, high, propagate = network.clip
        nan = raw.CUDNN_PROPAGATE_NAN if propagate else raw.CUDNN_NOT_PROPAGATE_NAN
        raw.cudnnRNNSetClip_v8(descriptor, raw.CUDNN_RNN_CLIP_MINMAX, nan, low, high)
    return descriptor


def data_descriptor(size: int, dtype=np.float64, layout=SEQ_MAJOR, lengths=LENGTHS, fill=None):
    descriptor = created("RNNDataDescriptor")
    data_type = DeviceTensor.zeros((1,), dtype).data_type
    fill = None if fill is None else np.array(fill, dtype)
    arguments = (data_type, layout, STEPS, len(lengths), size, lengths, fill)
    raw.cudnnSetRNNDataDescriptor(descriptor, *arguments)
    return descriptor


def state_descriptor(shape, dtype=np.float64):
    descriptor = created("TensorDescriptor")
    data_type = DeviceTensor.zeros((1,), dtype).data_type
    strides = (shape[1] * shape[2], shape[2], 1)
    raw.cudnnSetTensorNdDescriptor(descriptor, data_type, 3, shape, strides)
    return descriptor


VALID = np.arange(STEPS)[:, None] < np.array(LENGTHS)


def in_layout(values: np.ndarray, layout) -> np.ndarray:
    """(T, B, size) as it lies in memory."""
    if layout == PACKED:
        return values[VALID]
    return values.swapaxes(0, 1).copy() if layout == BATCH_MAJOR else values


class Program:
    """The C calls of one training step, each with operands that can be replaced."""

    def __init__(self, handle, network, dtype=np.float64, layout=SEQ_MAJOR, seed=0, **options):
        rng = np.random.default_rng(seed)
        self.handle, self.network, self.dtype, self.layout = handle, network, dtype, layout
        self.rnn = rnn_descriptor(network, dtype, **options)
        self.x_desc = data_descriptor(network.input_size, dtype, layout)
        self.y_desc = data_descriptor(network.y_size, dtype, layout, fill=7.0)
        count = network.pseudo_layers
        self.h_desc = state_descriptor((count, BATCH, network.output_size), dtype)
        self.c_desc = state_descriptor((count, BATCH, network.hidden_size), dtype)
        size = c_size_t()
        raw.cudnnGetRNNWeightSpaceSize(handle, self.rnn, size)
        self.weight_size = size.value
        items = self.weight_size // np.dtype(dtype).itemsize
        sizes = {"x": network.input_size, "dy": network.y_size}
        self.values = {n: rng.standard_normal((STEPS, BATCH, s)) for n, s in sizes.items()}
        for name in ("hx", "dhy"):
            self.values[name] = rng.standard_normal((count, BATCH, network.output_size))
        for name in ("cx", "dcy"):
            self.values[name] = rng.standard_normal((count, BATCH, network.hidden_size))
        self.values["w"] = rng.uniform(-0.6, 0.6, items)
        self.values = {name: array.astype(dtype) for name, array in self.values.items()}
        self.memory = {}
        for name, array in self.values.items():
            if name in sizes:
                array = in_layout(array, layout)
            self.memory[name] = DeviceTensor.from_numpy(array)
        for name, like in {
            "y": "dy", "hy": "hx", "cy": "cx", "dx": "x", "dhx": "hx", "dcx": "cx",
        }.items():  # fmt: skip
            self.memory[name] = DeviceTensor.full(self.memory[like].shape, np.nan, dtype)
        self.memory["dw"] = DeviceTensor.zeros((items,), dtype)

    def spaces(self, mode=TRAINING) -> tuple[DeviceTensor, DeviceTensor]:
        work, reserve = c_size_t(), c_size_t()
        raw.cudnnGetRNNTempSpaceSizes(self.handle, self.rnn, mode, self.x_desc, work, reserve)
        result = []
        for size in (work.value, reserve.value):
            memory = DeviceTensor.empty((size,), "uint8")
            if size:
                ctypes.memset(memory.ptr, 0xFF, size)  # NaN, were it read
            result.append(memory)
        return result[0], result[1]

    def shared(self, names: str, **change) -> dict:
        """The arguments by C's names, in the order of any of the three functions."""
        if not hasattr(self, "work"):
            self.work, self.reserve = self.spaces()
        everything = {
            "handle": self.handle,
            "rnnDesc": self.rnn,
            "devSeqLengths": None,
            "xDesc": self.x_desc,
            "yDesc": self.y_desc,
            "hDesc": self.h_desc,
            "cDesc": self.c_desc,
            "weightSpaceSize": self.weight_size,
            "weightSpace": self.memory["w"],
            "dweightSpace": self.memory["dw"],
            "workSpaceSize": self.work.nbytes,
            "workSpace": self.work,
            "reserveSpaceSize": self.reserve.nbytes,
            "reserveSpace": self.reserve,
            "fwdMode": TRAINING,
            "addGrad": raw.CUDNN_WGRAD_MODE_ADD,
            **self.memory,
            **change,
        }
        wanted = [p.name for p in raw.FUNCTIONS[names].parameters]
        return {name: everything[name] for name in wanted}

    def call(self, name: str, **change) -> raw.cudnnStatus_t:
        return raw.FUNCTIONS[name].unchecked(**self.shared(name, **change))

    def forward(self, **change) -> raw.cudnnStatus_t:
        return self.call("cudnnRNNForward", **change)

    def backward_data(self, **change) -> raw.cudnnStatus_t:
        return self.call("cudnnRNNBackwardData_v8", **change)

    def backward_weights(self, **change) -> raw.cudnnStatus_t:
        return self.call("cudnnRNNBackwardWeights_v8", **change)

    def expected(self, masks=None, **change) -> dict[str, np.ndarray]:
        """The results by C's names, in float64 from the operands as they are stored."""
        v = {name: array.astype(np.float64) for name, array in (self.values | change).items()}
        weights = weights_in(self.network, v["w"])
        states = (v["hx"], v["cx"] if self.network.cell == "lstm" else None)
        forward = rnn_forward(self.network, weights, v["x"], LENGTHS, *states, masks=masks)
        gradients = {"dhy": v["dhy"], "dcy": v["dcy"] if self.network.cell == "lstm" else None}
        data = rnn_backward_data(
            self.network,
            weights=weights,
            tape=forward.tape,
            dy=v["dy"],
            lengths=LENGTHS,
            **gradients,
            **dict(zip(("hx", "cx"), states, strict=True)),
        )
        dw = np.zeros_like(v["w"])
        computed = rnn_backward_weights(
            self.network, tape=forward.tape, x=v["x"], lengths=LENGTHS, hx=v["hx"]
        )
        for into, gradient in zip(weights_in(self.network, dw), computed, strict=True):
            for name in ("w", "r", "p", "bw", "br"):
                if getattr(into, name) is not None:
                    getattr(into, name)[...] = getattr(gradient, name)
        y = np.where(VALID[..., None], forward.y, 7.0)
        results = {
            "y": in_layout(y, self.layout),
            "hy": forward.hy,
            "dx": in_layout(data.dx, self.layout),
            "dhx": data.dhx,
            "dw": dw,
        }
        if self.network.cell == "lstm":
            results |= {"cy": forward.cy, "dcx": data.dcx}
        return results

    def check(self, expected: dict[str, np.ndarray], tolerance: float) -> None:
        for name, array in expected.items():
            got = self.memory[name].numpy().astype(np.float64)
            np.testing.assert_allclose(got, array, atol=tolerance, rtol=tolerance, err_msg=name)


NETWORKS = [
    RecurrentNetwork("relu", 3, 4, 2, True, "double_bias"),
    RecurrentNetwork("tanh", 4, 4, 1, False, "no_bias", skip_input=True),
    RecurrentNetwork("lstm", 3, 4, 2, True, "single_inp_bias", projection_size=2),
    RecurrentNetwork("lstm", 3, 4, 1, clip=Clip(-0.125, 0.0625)),
    RecurrentNetwork("gru", 3, 4, 3, False, "single_rec_bias"),
]

# -- the three passes --------------------------------------------------------------------------


@pytest.mark.parametrize("network", NETWORKS, ids=str)
@pytest.mark.parametrize("layout", [SEQ_MAJOR, PACKED, BATCH_MAJOR], ids=str)
def test_a_training_step_in_every_layout(handle, network, layout):
    program = Program(handle, network, layout=layout)
    assert program.forward() == 0
    assert program.backward_data() == 0
    assert program.backward_weights() == 0
    program.check(program.expected(), 1e-12)


# Weights, operands and results are rounded to the data type, the computation is in float32. The
# largest values here are about 10.
@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(np.float32, 1e-5), (np.float16, 1e-2), (ml_dtypes.bfloat16, 5e-2)],
    ids=["float32", "float16", "bfloat16"],
)
@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_other_data_types(handle, network, dtype, tolerance):
    if dtype is ml_dtypes.bfloat16 and raw.cudnnGetVersion() < 91400:
        pytest.skip("cuDNN 9.0 has no networks in bfloat16; 9.14 has")
    program = Program(handle, network, dtype)
    assert program.forward() == 0
    assert program.backward_data() == 0
    assert program.backward_weights() == 0
    program.check(program.expected(), tolerance)


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_null_states_are_zero_and_null_results_are_not_written(handle, network):
    program = Program(handle, network)
    states = ("hx", "hy", "cx", "cy", "dhy", "dhx", "dcy", "dcx")
    nothing = dict.fromkeys(states) | {
        "hDesc": raw.cudnnTensorDescriptor_t(),
        "cDesc": raw.cudnnTensorDescriptor_t(),
    }
    assert program.forward(**nothing) == 0
    assert program.backward_data(**nothing) == 0
    assert program.backward_weights(**nothing) == 0
    zero = {name: 0 * program.values[name] for name in ("hx", "cx", "dhy", "dcy")}
    expected = program.expected(**zero)
    program.check({name: expected[name] for name in ("y", "dx", "dw")}, 1e-12)
    for name in ("hy", "cy", "dhx", "dcx"):
        assert np.isnan(program.memory[name].numpy()).all()


def test_the_type_in_the_descriptors_of_states_is_ignored(handle):
    program = Program(handle, NETWORKS[2])
    descriptors = {
        "hDesc": state_descriptor((4, BATCH, 2), np.float32),
        "cDesc": state_descriptor((4, BATCH, 4), np.float16),
    }
    assert program.forward(**descriptors) == 0
    assert program.backward_data(**descriptors) == 0
    assert program.backward_weights(**descriptors) == 0
    program.check(program.expected(), 1e-12)


def test_limits_of_the_clip_are_rounded_to_float32(handle):
    network = RecurrentNetwork("lstm", 3, 4, clip=Clip(-0.1, 0.1))
    program = Program(handle, network)
    program.values["cx"][...] = 1
    program.memory["cx"].copy_from(program.values["cx"])
    assert program.forward() == 0
    y = {"y": program.expected()["y"]}
    with pytest.raises(AssertionError):
        program.check(y, 1e-12)
    limit = float(np.float32(0.1))
    program.network = replace(network, clip=Clip(-limit, limit))
    program.check({"y": program.expected()["y"]}, 1e-12)


def test_padding_of_the_input_is_not_read(handle):
    program = Program(handle, NETWORKS[2])
    for name in ("x", "dy"):
        poisoned = np.where(VALID[..., None], program.values[name], np.nan)
        program.memory[name] = DeviceTensor.from_numpy(poisoned)
    assert program.forward() == 0
    assert program.backward_data() == 0
    assert program.backward_weights() == 0
    program.check(program.expected(), 1e-12)


def test_inference_needs_no_reserve_space(handle):
    program = Program(handle, NETWORKS[0])
    work, reserve = program.spaces(INFERENCE)
    assert reserve.nbytes == 0
    change = {"workSpace": work, "workSpaceSize": work.nbytes}
    nothing = {"reserveSpace": None, "reserveSpaceSize": 0}
    assert program.forward(fwdMode=INFERENCE, **change, **nothing) == 0
    expected = program.expected()
    program.check({name: expected[name] for name in ("y", "hy")}, 1e-12)


def test_weight_gradients_add_up(handle):
    program = Program(handle, NETWORKS[4])
    assert program.forward() == 0
    assert program.backward_data() == 0
    for _ in range(3):
        assert program.backward_weights() == 0
    program.check({"dw": 3 * program.expected()["dw"]}, 1e-12)


def test_lengths_on_the_device_are_compared(handle):
    program = Program(handle, NETWORKS[0])
    right = DeviceTensor.from_numpy(np.array(LENGTHS, np.int32))
    wrong = DeviceTensor.from_numpy(np.array(LENGTHS[::-1], np.int32))
    assert program.forward(devSeqLengths=right) == 0
    assert program.forward(devSeqLengths=wrong) == BAD_PARAM


# -- dropout between layers ----------------------------------------------------------------------


def dropout_descriptor(handle, states: DeviceBuffer, rate: float, seed: int):
    descriptor = created("DropoutDescriptor")
    arguments = (rate, states, states.nbytes, seed)
    raw.cudnnSetDropoutDescriptor(descriptor, handle, *arguments)
    return descriptor


def masks_of(network: RecurrentNetwork, seed: int, rate: float) -> list[np.ndarray]:
    """The masks of the first training step after the seed was set."""
    position, masks = Position(seed), []
    shape = (STEPS, BATCH, network.y_size)
    for _ in range(network.layers - 1):
        mask, position = draw_mask(position, int(np.prod(shape)), rate)
        masks.append(mask.reshape(shape) / (1 - rate))
    return masks


def test_training_drops_between_layers_and_repeats_for_a_seed(handle):
    network = RecurrentNetwork("gru", 3, 4, 3, True)
    with DeviceBuffer(16) as states:
        dropout = dropout_descriptor(handle, states, 0.25, 99)
        program = Program(handle, network, dropout=dropout)
        assert program.forward() == 0
        assert program.backward_data() == 0
        assert program.backward_weights() == 0
        first = program.memory["y"].numpy()
        program.check(program.expected(masks_of(network, 99, 0.25)), 1e-12)
        assert program.forward() == 0
        assert (program.memory["y"].numpy() != first).any()
        raw.cudnnSetDropoutDescriptor(dropout, handle, 0.25, states, states.nbytes, 99)
        assert program.forward() == 0
        np.testing.assert_array_equal(program.memory["y"].numpy(), first)


def test_inference_and_single_layers_drop_nothing(handle):
    with DeviceBuffer(16) as states:
        for network, mode in (
            (RecurrentNetwork("gru", 3, 4, 3, True), INFERENCE),
            (RecurrentNetwork("gru", 3, 4, 1, True), TRAINING),
        ):
            dropout = dropout_descriptor(handle, states, 0.25, 99)
            program = Program(handle, network, dropout=dropout)
            assert program.forward(fwdMode=mode) == 0
            program.check({"y": program.expected()["y"]}, 1e-12)


# -- weights -----------------------------------------------------------------------------------


def weight_params(handle, descriptor, layer: int, linear: int, size: int, space):
    matrix, bias = created("TensorDescriptor"), created("TensorDescriptor")
    m_address, b_address = c_void_p(), c_void_p()
    status = raw.cudnnGetRNNWeightParams.unchecked(
        handle, descriptor, layer, size, space, linear,
        matrix, byref(m_address), bias, byref(b_address),
    )  # fmt: skip
    return status, (matrix, m_address.value), (bias, b_address.value)


def shape_of(descriptor) -> tuple[int, ...]:
    count, dims, strides = c_int(), (c_int * 8)(), (c_int * 8)()
    data_type = raw.cudnnDataType_t()
    raw.cudnnGetTensorNdDescriptor(descriptor, 8, data_type, count, dims, strides)
    assert strides[: count.value] == [
        int(np.prod(dims[axis + 1 : count.value])) for axis in range(count.value)
    ]
    return tuple(dims[: count.value])


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("cell", CELLS)
def test_weight_params_lead_to_the_weights_that_are_used(handle, cell, bias):
    for options in ({}, {"skip_input": True}, {"projection_size": 2}):
        if "projection_size" in options and cell != "lstm":
            continue
        network = RecurrentNetwork(cell, 4, 4, 2, True, bias, **options)
        descriptor = rnn_descriptor(network)
        size = c_size_t()
        raw.cudnnGetRNNWeightSpaceSize(handle, descriptor, size)
        space = DeviceTensor.from_numpy(np.arange(size.value / 8))
        weights = weights_in(network, space.numpy())
        gates = len(network.gates)
        seen = []
        for layer in range(network.pseudo_layers):
            for linear in range(2 * gates + (cell == "lstm")):
                arguments = (descriptor, layer, linear, size.value, space)
                status, *found = weight_params(handle, *arguments)
                assert status == 0
                kind, gate = divmod(linear, gates)
                for name, (desc, address) in zip(
                    (("w", "bw"), ("r", "br"), ("p", None))[kind], found, strict=True
                ):
                    array = getattr(weights[layer], name) if name else None
                    if array is None:
                        assert address is None
                        assert shape_of(desc) == ()
                        continue
                    own = array if name == "p" else array[gate]
                    rows, columns = (*own.shape, 1)[:2]
                    assert shape_of(desc) == (1, rows, columns)
                    stored = (ctypes.c_double * own.size).from_address(address)
                    np.testing.assert_array_equal(stored, own.reshape(-1))
                    seen += list(stored)
        assert sorted(seen) == list(range(size.value // 8))


def test_without_a_weight_space_addresses_are_offsets(handle):
    descriptor = rnn_descriptor(RecurrentNetwork("tanh", 3, 4))
    size = c_size_t()
    raw.cudnnGetRNNWeightSpaceSize(handle, descriptor, size)
    _, (_, matrix), (_, bias) = weight_params(handle, descriptor, 0, 1, size.value, None)
    assert (matrix, bias) == (8 * 12, 8 * (12 + 16 + 4))


@pytest.mark.parametrize(("layer", "linear"), [(-1, 0), (4, 0), (0, -1), (0, 9)])
def test_weights_that_no_lstm_has(handle, layer, linear):
    descriptor = rnn_descriptor(RecurrentNetwork("lstm", 3, 4, 2, True))
    status, *_ = weight_params(handle, descriptor, layer, linear, 1 << 20, 4096)
    assert status == BAD_PARAM


@pytest.mark.parametrize(
    ("layer", "linear", "missing", "status"),
    [(0, 0, 8, 0), (0, 0, 1 << 12, BAD_PARAM), (3, 7, 8, BAD_PARAM)],
)
def test_weight_spaces_that_are_too_small(handle, layer, linear, missing, status):
    """As long as it holds the matrix and the bias that are asked for, cuDNN is content."""
    descriptor = rnn_descriptor(RecurrentNetwork("lstm", 3, 4, 2, True))
    size = c_size_t()
    raw.cudnnGetRNNWeightSpaceSize(handle, descriptor, size)
    got, *_ = weight_params(handle, descriptor, layer, linear, size.value - missing, 4096)
    assert got == status


# -- dynamic plans -----------------------------------------------------------------------------


def test_a_dynamic_plan_is_needed_and_belongs_to_a_batch_size(handle):
    program = Program(handle, NETWORKS[0], algo=raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC)
    assert program.forward() == BAD_PARAM
    raw.cudnnBuildRNNDynamic(handle, program.rnn, BATCH + 1)
    assert program.forward() == BAD_PARAM
    raw.cudnnBuildRNNDynamic(handle, program.rnn, BATCH)
    # The sequences have different lengths, which only the standard algorithm takes.
    assert program.forward() == raw.CUDNN_STATUS_NOT_SUPPORTED
    whole = {"lengths": (STEPS,) * BATCH}
    described = {
        "xDesc": data_descriptor(NETWORKS[0].input_size, **whole),
        "yDesc": data_descriptor(NETWORKS[0].y_size, **whole),
    }
    assert program.forward(**described) == 0


def test_other_algorithms_need_no_plan(handle):
    descriptor = rnn_descriptor(NETWORKS[0])
    assert raw.cudnnBuildRNNDynamic.unchecked(handle, descriptor, 4) == 0


def test_a_plan_ends_when_the_descriptor_is_set_or_created_anew(handle):
    dynamic = raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC
    for _ in range(20):  # an address comes back soon
        program = Program(handle, NETWORKS[0], algo=dynamic)
        assert program.forward() == BAD_PARAM
        raw.cudnnBuildRNNDynamic(handle, program.rnn, BATCH)
        assert program.forward() == raw.CUDNN_STATUS_NOT_SUPPORTED  # for its lengths
        raw.cudnnDestroyRNNDescriptor(program.rnn)


# -- wrong input -------------------------------------------------------------------------------

LSTM = RecurrentNetwork("lstm", 3, 4, 2, True)


def wrong_operands() -> dict[str, tuple]:
    """A name, what is changed (made when the test runs), and the status."""
    null = raw.cudnnRNNDataDescriptor_t
    size = 1 << 20

    def small(memory: str):
        return lambda p: {f"{memory}Size": getattr(p, memory[:-5]).nbytes - 1}

    return {
        "rnnDesc NULL": (lambda p: {"rnnDesc": raw.cudnnRNNDescriptor_t()}, BAD_PARAM),
        "rnnDesc unset": (lambda p: {"rnnDesc": created("RNNDescriptor")}, BAD_PARAM),
        "xDesc NULL": (lambda p: {"xDesc": null()}, BAD_PARAM),
        "yDesc NULL": (lambda p: {"yDesc": null()}, BAD_PARAM),
        "xDesc unset": (lambda p: {"xDesc": created("RNNDataDescriptor")}, BAD_PARAM),
        "x of another size": (lambda p: {"xDesc": data_descriptor(4)}, BAD_PARAM),
        "y of another size": (lambda p: {"yDesc": data_descriptor(4)}, BAD_PARAM),
        "x of another type": (lambda p: {"xDesc": data_descriptor(3, np.float32)}, BAD_PARAM),
        "y in another layout": (
            lambda p: {"yDesc": data_descriptor(8, layout=BATCH_MAJOR)},
            BAD_PARAM,
        ),
        "y of other lengths": (
            lambda p: {"yDesc": data_descriptor(8, lengths=(5, 5, 5, 5))},
            BAD_PARAM,
        ),
        "h of another shape": (lambda p: {"hDesc": state_descriptor((2, 4, 4))}, BAD_PARAM),
        "hDesc NULL": (lambda p: {"hDesc": raw.cudnnTensorDescriptor_t()}, BAD_PARAM),
        "too small a workspace": (small("workSpace"), BAD_PARAM),
        "too small a reserve space": (small("reserveSpace"), BAD_PARAM),
        "too small a weight space": (
            lambda p: {"weightSpaceSize": p.weight_size - 1},
            BAD_PARAM,
        ),
        "workspace NULL": (lambda p: {"workSpace": None}, BAD_PARAM),
        "reserve space NULL": (lambda p: {"reserveSpace": None}, BAD_PARAM),
        "no memory": (lambda p: {"workSpace": 4096}, raw.CUDNN_STATUS_EXECUTION_FAILED),
        "too small a buffer": (
            lambda p: {"workSpace": DeviceTensor.empty((8,), "uint8"), "workSpaceSize": size},
            raw.CUDNN_STATUS_EXECUTION_FAILED,
        ),
    }


@pytest.mark.parametrize("case", wrong_operands())
def test_wrong_operands(handle, case):
    change, status = wrong_operands()[case]
    program = Program(handle, LSTM)
    program.work, program.reserve = program.spaces()
    # Addresses: memory that contradicts its descriptor or size never gets to the device.
    operands = program.memory | change(program)
    wrong = {name: getattr(operand, "ptr", operand) for name, operand in operands.items()}
    assert program.forward(**wrong) == status
    assert program.forward() == 0
    assert program.backward_data(**wrong) == status
    assert program.backward_data() == 0
    assert program.backward_weights(**wrong) == status


@pytest.mark.parametrize("name", ["x", "y", "weightSpace"])
def test_null_operands_of_forward(handle, name):
    assert Program(handle, LSTM).forward(**{name: None}) == BAD_PARAM


def test_null_operands_of_the_backward_passes(handle):
    program = Program(handle, LSTM)
    assert program.forward() == 0
    for name in ("y", "dy", "dx", "weightSpace"):
        assert program.backward_data(**{name: None}) == BAD_PARAM
    assert program.backward_data() == 0
    for name in ("x", "y", "dweightSpace"):
        assert program.backward_weights(**{name: None}) == BAD_PARAM


def test_an_lstm_needs_the_right_cell_states(handle):
    program = Program(handle, replace(LSTM, projection_size=2))
    wrong = {"cDesc": state_descriptor((4, 4, 2))}
    assert program.forward(**wrong) == BAD_PARAM
    gru = Program(handle, RecurrentNetwork("gru", 3, 4, 2, True))
    assert gru.forward(**wrong) == 0, "ignored"


def test_the_order_of_the_passes_is_checked(handle):
    program = Program(handle, LSTM)
    assert program.backward_data() == BAD_PARAM
    assert program.forward() == 0
    assert program.backward_weights() == BAD_PARAM
    assert program.backward_data() == 0
    other = Program(handle, RecurrentNetwork("gru", 3, 4, 2, True))
    space = {"reserveSpace": program.reserve, "reserveSpaceSize": program.reserve.nbytes}
    assert other.backward_data(**space) == BAD_PARAM


def test_setting_gradients_is_not_supported(handle):
    program = Program(handle, LSTM)
    assert program.forward() == 0
    assert program.backward_data() == 0
    assert program.backward_weights(addGrad=raw.CUDNN_WGRAD_MODE_SET) == NOT_SUPPORTED


def test_padding_needs_padded_io(handle):
    program = Program(handle, LSTM, layout=PACKED, flags=raw.CUDNN_RNN_PADDED_IO_DISABLED)
    assert program.forward() == 0
    program = Program(handle, LSTM, flags=raw.CUDNN_RNN_PADDED_IO_DISABLED)
    assert program.forward() == BAD_PARAM
    whole = {"lengths": (STEPS,) * BATCH}
    change = {"xDesc": data_descriptor(3, **whole), "yDesc": data_descriptor(8, **whole)}
    assert program.forward(**change) == 0


def test_dropout_without_states_is_refused(handle):
    descriptor = created("DropoutDescriptor")
    raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.5, None, 0, 1)
    program = Program(handle, LSTM, dropout=descriptor)
    assert program.forward() == BAD_PARAM
    assert program.forward(fwdMode=INFERENCE) == 0


def test_skipping_the_input_needs_equal_sizes(handle):
    descriptor = rnn_descriptor(RecurrentNetwork("lstm", 4, 4, skip_input=True))
    raw.cudnnSetRNNDescriptor_v8(descriptor, 0, 2, 2, 0, 1, 0, 0, 0, 3, 4, 4, 1, None, 1)
    size = c_size_t()
    status = raw.cudnnGetRNNWeightSpaceSize.unchecked(handle, descriptor, size)
    assert status == BAD_PARAM
