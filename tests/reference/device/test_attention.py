"""Multi-head attention on the reference device, through C's own calls."""

from __future__ import annotations

import itertools
from ctypes import c_int, c_size_t, c_void_p

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import (
    BadParamError,
    DeviceBuffer,
    DeviceTensor,
    ExecutionFailedError,
    NotSupportedError,
    as_data_type,
    raw,
)
from cudnn_ctypes.reference.attention import (
    WEIGHT_NAMES,
    attention_forward,
    visible_keys,
    weight_shapes,
)
from cudnn_ctypes.reference.attention_backward import (
    attention_backward_data,
    attention_backward_weights,
)

HEADS, SCALER = 2, 0.5
SIZES, PROJECTIONS = (6, 5, 4), (3, 3, 2, 6)
TQ, TK, N, B = 4, 5, 3, 2
Q_LENGTHS = [4, 2, 3, 4, 1, 4]
K_LENGTHS = [5, 3, 2]
LOW, HIGH = [0, 0, 2, 1], [5, 2, 2, 9]  # the third window is empty
POISON = -77.0
ORDERS = [(*order, 3) for order in itertools.permutations(range(3))]


def created(name):
    descriptor = getattr(raw, f"cudnn{name}_t")()
    getattr(raw, f"cudnnCreate{name}")(descriptor)
    return descriptor


class Program:
    """A C program's objects around one attention, and the same in NumPy."""

    def __init__(
        self,
        handle,
        dtype=np.float32,
        *,
        axes=(0, 1, 2, 3),
        mode=raw.CUDNN_ATTN_ENABLE_PROJ_BIASES,
        compute=None,
        sizes=SIZES,
        projections=PROJECTIONS,
        dropouts=(None, None),
    ):
        rng = np.random.default_rng(0)
        self.handle, self.dtype, self.axes = handle, np.dtype(dtype), axes
        self.projections = projections
        self.data_type = as_data_type(dtype)
        double = self.data_type == raw.CUDNN_DATA_DOUBLE
        self.compute = raw.CUDNN_DATA_DOUBLE if double else raw.CUDNN_DATA_FLOAT
        self.attn = created("AttnDescriptor")
        # cuDNN 9.28 supports one keys per query in the beam for a beam of one only.
        self.beam = 1 if mode & raw.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE else B
        self.q_lengths = Q_LENGTHS[:: B // self.beam]
        self.set = {
            "attnMode": mode,
            "nHeads": HEADS,
            "smScaler": SCALER,
            "dataType": self.data_type,
            "computePrec": self.compute if compute is None else compute,
            "mathType": raw.CUDNN_DEFAULT_MATH,
            "attnDropoutDesc": dropouts[0],
            "postDropoutDesc": dropouts[1],
            **dict(zip(("qSize", "kSize", "vSize"), sizes, strict=True)),
            **dict(
                zip(("qProjSize", "kProjSize", "vProjSize", "oProjSize"), projections, strict=True)
            ),
            "qoMaxSeqLength": TQ,
            "kvMaxSeqLength": TK + 1,
            "maxBatchSize": N,
            "maxBeamSize": self.beam,
        }
        raw.cudnnSetAttnDescriptor(self.attn, **self.set)
        out = projections[3] or HEADS * (projections[2] or sizes[2])
        self.k_lengths = K_LENGTHS
        shapes = {
            "q": (TQ, N, self.beam, sizes[0]),
            "k": (TK, N, 1, sizes[1]),
            "v": (TK, N, 1, sizes[2]),
            "o": (TQ, N, self.beam, out),
        }
        self.descs = {name: self.sequences(shape) for name, shape in shapes.items()}
        self.host = {
            name: rng.standard_normal(shape).astype(self.dtype) for name, shape in shapes.items()
        }
        biases = bool(mode & raw.CUDNN_ATTN_ENABLE_PROJ_BIASES)
        self.weights = {
            name: rng.standard_normal(shape).astype(self.dtype)
            for name, shape in weight_shapes(HEADS, sizes, projections, biases=biases).items()
        }
        self.size, self.workspace_size, self.reserve_size = self.buffers()
        self.buffer = self.weight_buffer(self.weights)
        self.workspace = DeviceBuffer(self.workspace_size)
        self.reserve = DeviceBuffer(self.reserve_size)
        self.device = {name: self.put(array) for name, array in self.host.items()}
        self.lengths = [
            DeviceTensor.from_numpy(np.array(each, np.int32))
            for each in (self.q_lengths, self.k_lengths)
        ]

    def close(self):
        for buffer in (self.buffer, self.workspace, self.reserve):
            buffer.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def sequences(self, shape, *, lengths=None, data_type=None, axes=None):
        desc = created("SeqDataDescriptor")
        if lengths is None:
            lengths = self.q_lengths if shape[0] == TQ else self.k_lengths
        raw.cudnnSetSeqDataDescriptor(
            desc,
            self.data_type if data_type is None else data_type,
            4,
            shape,
            [raw.cudnnSeqDataAxis_t(axis) for axis in (axes or self.axes)],
            len(lengths),
            lengths,
            None,
        )
        return desc

    def put(self, array):
        strides, step = [0] * 4, 1
        for axis in reversed(self.axes):
            strides[axis] = step
            step *= array.shape[axis]
        return DeviceTensor.from_numpy(array, strides=strides)

    def buffers(self, training=True):
        sizes = [c_size_t() for _ in range(3)]
        raw.cudnnGetMultiHeadAttnBuffers(
            self.handle, self.attn, *sizes[:2], sizes[2] if training else None
        )
        return [size.value for size in sizes]

    def weight(self, buffer, name, **changes):
        """One weight in a buffer, as cudnnGetMultiHeadAttnWeights describes it; None if none."""
        desc, address = created("TensorDescriptor"), c_void_p(1)
        arguments = {
            "handle": self.handle,
            "attnDesc": self.attn,
            "wKind": raw.cudnnMultiHeadAttnWeightKind_t(WEIGHT_NAMES.index(name)),
            "weightSizeInBytes": self.size,
            "weights": buffer if self.size else None,
            "wDesc": desc,
            "wAddr": address,
        }
        raw.cudnnGetMultiHeadAttnWeights(**{**arguments, **changes})
        if address.value is None:
            return None
        data_type, ndim = raw.cudnnDataType_t(), c_int()
        shape, strides = (c_int * 8)(), (c_int * 8)()
        raw.cudnnGetTensorNdDescriptor(desc, 8, data_type, ndim, shape, strides)
        assert data_type.value == self.data_type
        assert ndim.value == 3
        offset = address.value - buffer.ptr
        return DeviceTensor(buffer, shape[:3], self.data_type, strides=strides[:3], offset=offset)

    def weight_buffer(self, arrays):
        buffer = DeviceBuffer(self.size)
        for name, array in arrays.items():
            self.weight(buffer, name).copy_from(array)
        return buffer

    def read_weights(self, buffer):
        return {name: self.weight(buffer, name).numpy() for name in self.weights}

    # -- the calls -----------------------------------------------------------------------------

    def forward(self, *, training=False, residuals=None, **changes):
        out = self.put(np.full(self.host["o"].shape, POISON, self.dtype))
        arguments = {
            "handle": self.handle,
            "attnDesc": self.attn,
            "currIdx": -1,
            "loWinIdx": LOW,
            "hiWinIdx": HIGH,
            "devSeqLengthsQO": self.lengths[0],
            "devSeqLengthsKV": self.lengths[1],
            "qDesc": self.descs["q"],
            "queries": self.device["q"],
            "residuals": residuals,
            "kDesc": self.descs["k"],
            "keys": self.device["k"],
            "vDesc": self.descs["v"],
            "values": self.device["v"],
            "oDesc": self.descs["o"],
            "out": out,
            "weightSizeInBytes": self.size,
            "weights": self.buffer,
            "workSpaceSizeInBytes": self.workspace_size,
            "workSpace": self.workspace,
            "reserveSpaceSizeInBytes": self.reserve_size if training else 0,
            "reserveSpace": self.reserve if training else None,
        }
        raw.cudnnMultiHeadAttnForward(**{**arguments, **changes})
        return out.numpy()

    def backward_data(self, **changes):
        results = [self.put(np.full_like(self.host[name], POISON)) for name in ("q", "k", "v")]
        arguments = {
            "handle": self.handle,
            "attnDesc": self.attn,
            "loWinIdx": LOW,
            "hiWinIdx": HIGH,
            "devSeqLengthsDQDO": self.lengths[0],
            "devSeqLengthsDKDV": self.lengths[1],
            "doDesc": self.descs["o"],
            "dout": self.device["o"],
            "dqDesc": self.descs["q"],
            "dqueries": results[0],
            "queries": self.device["q"],
            "dkDesc": self.descs["k"],
            "dkeys": results[1],
            "keys": self.device["k"],
            "dvDesc": self.descs["v"],
            "dvalues": results[2],
            "values": self.device["v"],
            **self.spaces(),
        }
        raw.cudnnMultiHeadAttnBackwardData(**{**arguments, **changes})
        return [result.numpy() for result in results]

    def backward_weights(self, prior=POISON, mode=raw.CUDNN_WGRAD_MODE_SET, **changes):
        prior = {name: np.full_like(array, prior) for name, array in self.weights.items()}
        with self.weight_buffer(prior) as result:
            arguments = {
                "handle": self.handle,
                "attnDesc": self.attn,
                "addGrad": mode,
                "qDesc": self.descs["q"],
                "queries": self.device["q"],
                "kDesc": self.descs["k"],
                "keys": self.device["k"],
                "vDesc": self.descs["v"],
                "values": self.device["v"],
                "doDesc": self.descs["o"],
                "dout": self.device["o"],
                "dweights": result,
                **self.spaces(),
            }
            raw.cudnnMultiHeadAttnBackwardWeights(**{**arguments, **changes})
            return self.read_weights(result)

    def spaces(self):
        return {
            "weightSizeInBytes": self.size,
            "weights": self.buffer,
            "workSpaceSizeInBytes": self.workspace_size,
            "workSpace": self.workspace,
            "reserveSpaceSizeInBytes": self.reserve_size,
            "reserveSpace": self.reserve,
        }

    # -- the same in NumPy ---------------------------------------------------------------------

    def expected(self, residuals=None):
        visible = visible_keys(
            LOW,
            HIGH,
            np.array(self.q_lengths).reshape(N, self.beam),
            np.array(self.k_lengths).reshape(N, 1),
            TK,
        )
        operands = [self.host[name].astype(np.float64) for name in ("q", "k", "v")]
        weights = {name: array.astype(np.float64) for name, array in self.weights.items()}
        attended = attention_forward(
            *operands, weights, heads=HEADS, scaler=SCALER, visible=visible, residuals=residuals
        )
        given = dict(zip("qkv", operands, strict=True))
        given |= {"dy": self.host["o"].astype(np.float64), "attended": attended, "weights": weights}
        data = attention_backward_data(**given, scaler=SCALER)
        by_weights = attention_backward_weights(**given, gradients=data)
        return attended.y, [data.dq, data.dk, data.dv], by_weights

    def check(self):
        """All three calls against NumPy."""
        out, (dq, dk, dv), by_weights = self.expected()
        self.close_to(self.forward(), out, "inference")
        self.close_to(self.forward(training=True), out, "training")
        for name, actual, gradient in zip(
            ("dq", "dk", "dv"), self.backward_data(), (dq, dk, dv), strict=True
        ):
            self.close_to(actual, gradient, name)
        for name, actual in self.backward_weights().items():
            self.close_to(actual, by_weights[name], name)

    def close_to(self, actual, expected, name):
        # Rounded once to the type, after sums of some dozens of float32 products.
        tolerance = {"float64": 1e-12, "float32": 3e-6, "float16": 2e-3, "bfloat16": 1e-2}
        assert actual.dtype == self.dtype
        np.testing.assert_allclose(
            actual.astype(np.float64),
            expected,
            rtol=tolerance[self.dtype.name],
            # The terms are around 1; those of the key biases' gradient add up to 0.
            atol=tolerance[self.dtype.name] * max(1, np.abs(expected).max()),
            err_msg=name,
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_against_numpy(handle, dtype):
    with Program(handle, dtype) as program:
        program.check()


@pytest.mark.parametrize("axes", ORDERS)
def test_orders_in_memory(handle, axes):
    with Program(handle, axes=axes) as program:
        program.check()


@pytest.mark.parametrize("mode", range(4))
def test_query_maps_and_biases(handle, mode):
    with Program(handle, mode=mode) as program:
        program.check()


def test_one_keys_per_query_in_a_beam_of_two_is_not_supported(handle):
    with Program(handle) as program:
        one_to_one = {**program.set, "attnMode": raw.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE}
        with pytest.raises(NotSupportedError):
            raw.cudnnSetAttnDescriptor(program.attn, **one_to_one)


@pytest.mark.parametrize(
    ("sizes", "projections"),
    [
        ((4, 4, 3), (0, 0, 0, 0)),
        ((4, 4, 3), (0, 0, 0, 5)),
        ((4, 4, 3), (0, 4, 2, 0)),
        ((4, 3, 3), (3, 0, 0, 5)),
        ((4, 3, 3), (0, 4, 2, 5)),
    ],
)
def test_projections_there_or_not(handle, sizes, projections):
    with Program(handle, sizes=sizes, projections=projections) as program:
        program.check()
        absent = set(WEIGHT_NAMES) - set(program.weights)
        assert absent
        for name in absent:
            assert program.weight(program.buffer, name) is None


def test_half_computed_in_half(handle):
    with Program(handle, np.float16, compute=raw.CUDNN_DATA_HALF) as program:
        program.check()


def test_residuals(handle):
    with Program(handle) as program:
        residuals = program.host["q"].astype(np.float64)
        out, _, _ = program.expected(residuals)
        program.close_to(program.forward(residuals=program.device["q"]), out, "residuals")


def test_padding_queries_get_biases_and_residuals(handle):
    with Program(handle) as program:
        out = program.forward(residuals=program.device["q"])
        wanted = program.host["q"] + program.weights["o_biases"][0, :, 0]
        n, b = 0, 1  # 2 of 4 time steps
        np.testing.assert_array_equal(out[2:, n, b], wanted[2:, n, b])
        np.testing.assert_array_equal(out[2], wanted[2])  # the empty window


def test_one_step_at_a_time(handle):
    """All steps one after the other give what all at once give; each leaves the others alone."""
    with Program(handle) as program:
        at_once = program.forward(residuals=program.device["q"])
        for current in range(TQ):
            low = [99] * TQ  # only the current entry is read
            low[current] = LOW[current]
            out = program.forward(currIdx=current, loWinIdx=low, residuals=program.device["q"])
            np.testing.assert_array_equal(out[current], at_once[current])
            assert (np.delete(out, current, axis=0) == POISON).all()


def test_the_kernels_read_lengths_in_device_memory(handle):
    with Program(handle) as program:
        ones = DeviceTensor.from_numpy(np.ones(len(K_LENGTHS), np.int32))
        out = program.forward(devSeqLengthsKV=ones)
        program.k_lengths = [1] * len(K_LENGTHS)
        program.close_to(out, program.expected()[0], "lengths")


def test_weight_gradients_are_added(handle):
    with Program(handle) as program:
        program.forward(training=True)
        program.backward_data()
        alone = program.backward_weights()
        added = program.backward_weights(prior=1.0, mode=raw.CUDNN_WGRAD_MODE_ADD)
        for name, gradient in alone.items():
            np.testing.assert_allclose(added[name], gradient + 1, rtol=1e-6)


def test_dropout(handle):
    """Masks are drawn in training only, and the gradients use the same ones."""
    size = c_size_t()
    raw.cudnnDropoutGetStatesSize(handle, size)
    dropouts = created("DropoutDescriptor"), created("DropoutDescriptor")
    with DeviceBuffer(2 * size.value) as states:
        for i, dropout in enumerate(dropouts):
            part = states.view(i * size.value, size.value)
            raw.cudnnSetDropoutDescriptor(dropout, handle, 0.5, part, size.value, i)
        with Program(handle, np.float64, dropouts=dropouts) as program:
            plain, _, _ = program.expected()
            program.close_to(program.forward(), plain, "inference")
            direction = np.random.default_rng(1).standard_normal(program.host["q"].shape)

            def again():  # from the same states
                for i, dropout in enumerate(dropouts):
                    part = states.view(i * size.value, size.value)
                    raw.cudnnSetDropoutDescriptor(dropout, handle, 0.5, part, size.value, i)
                return program.forward(training=True)

            out = again()
            assert 0.3 < (out == 0).mean() < 0.7
            dq, _, _ = program.backward_data()
            losses, step = [], 1e-6
            for sign in (1, -1):
                program.device["q"] = program.put(program.host["q"] + sign * step * direction)
                losses.append((again() * program.host["o"]).sum())
            np.testing.assert_allclose(
                (dq * direction).sum(), (losses[0] - losses[1]) / (2 * step), rtol=1e-6
            )


def test_buffers(handle):
    with Program(handle) as program:
        weights, workspace, reserve = program.buffers()
        assert weights == 4 * sum(array.size for array in program.weights.values())
        assert 0 < workspace < reserve
        assert program.buffers(training=False) == [weights, workspace, 0]
        program.workspace.fill(0)
        program.forward()
        assert program.workspace.copy_to_host().all(), "what a workspace holds is lost"


BAD_FORWARD = [
    ({"loWinIdx": None}, "loWinIdx is NULL"),
    ({"hiWinIdx": [5, 5]}, "hiWinIdx has 2 elements, 4 are needed"),
    ({"devSeqLengthsQO": None}, "devSeqLengthsQO is NULL"),
    ({"devSeqLengthsKV": None}, "devSeqLengthsKV is NULL"),
    ({"queries": None}, "queries is NULL"),
    ({"keys": None}, "keys is NULL"),
    ({"values": None}, "values is NULL"),
    ({"out": None}, "out is NULL"),
    ({"qDesc": None}, "qDesc"),
    ({"attnDesc": None}, "attnDesc"),
    ({"weights": None}, "weights is NULL"),
    ({"weightSizeInBytes": 8}, "weightSizeInBytes = 8 is less"),
    ({"workSpace": None}, "workSpace is NULL"),
    ({"workSpaceSizeInBytes": 8}, "workSpaceSizeInBytes = 8 is less"),
    ({"reserveSpaceSizeInBytes": 8}, "reserveSpaceSizeInBytes = 8 is less"),
    ({"currIdx": TQ}, "currIdx is 4, queries have 4"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_FORWARD)
def test_wrong_input_of_forward(handle, changes, message):
    with Program(handle) as program, pytest.raises(BadParamError, match=message):
        program.forward(**changes)


def test_one_step_at_a_time_is_for_inference(handle):
    with Program(handle) as program, pytest.raises(BadParamError, match="inference only"):
        program.forward(training=True, currIdx=0)


def test_residuals_as_long_as_the_output(handle):
    with (
        Program(handle, projections=(3, 3, 2, 7)) as program,
        pytest.raises(BadParamError, match="residuals have vectors as queries do, of 6; out has 7"),
    ):
        program.forward(residuals=program.device["q"])


def test_descriptors_that_do_not_fit(handle):
    with Program(handle) as program:
        wrong = {
            "qDesc: expected vectors": {"qDesc": program.sequences((TQ, N, B, 7))},
            "kDesc: .* in the order of qDesc": {
                "kDesc": program.sequences((TK, N, 1, 5), axes=(1, 0, 2, 3))
            },
            "oDesc: expected the lengths": {
                "oDesc": program.sequences((TQ, N, B, 6), lengths=[4] * 6)
            },
            "vDesc: expected .time": {"vDesc": program.sequences((TK + 1, N, 1, 4))},
            "kDesc: expected CUDNN_DATA": {
                "kDesc": program.sequences((TK, N, 1, 5), data_type=raw.CUDNN_DATA_DOUBLE)
            },
        }
        # Addresses: typed memory that contradicts its descriptor never gets to the device.
        names = {"queries": "q", "keys": "k", "values": "v"}
        addresses = {name: program.device[short].ptr for name, short in names.items()}
        for message, change in wrong.items():
            with pytest.raises(BadParamError, match=message):
                program.forward(**addresses, **change)
        beams = {
            "kDesc": program.sequences((TK, N, B, 5), lengths=[1] * 6),
            "vDesc": program.sequences((TK, N, B, 4), lengths=[1] * 6),
        }
        with pytest.raises(BadParamError, match=r"kDesc: expected .time"):
            program.forward(**addresses, **beams)
        raw.cudnnSetAttnDescriptor(program.attn, **{**program.set, "maxBatchSize": 2})
        with pytest.raises(BadParamError, match="qDesc: 3 is more than"):
            program.forward()


def test_wrong_input_of_the_gradients(handle):
    with Program(handle) as program:
        program.forward(training=True)
        for name in ("dout", "dqueries", "queries", "dkeys", "keys", "dvalues", "values"):
            with pytest.raises(BadParamError, match=f"{name} is NULL"):
                program.backward_data(**{name: None})
        for name in ("loWinIdx", "hiWinIdx", "devSeqLengthsDQDO", "devSeqLengthsDKDV"):
            with pytest.raises(BadParamError, match=f"{name} is NULL"):
                program.backward_data(**{name: None})
        for name in ("dout", "queries", "keys", "values", "dweights", "reserveSpace"):
            with pytest.raises(BadParamError, match=f"{name} is NULL"):
                program.backward_weights(**{name: None})
        for call in (program.backward_data, program.backward_weights):
            with pytest.raises(BadParamError, match="reserveSpaceSizeInBytes = 0 is less"):
                call(reserveSpace=None, reserveSpaceSizeInBytes=0)
        with pytest.raises(BadParamError, match="addGrad: cudnnWgradMode_t has no 7"):
            program.backward_weights(mode=raw.cudnnWgradMode_t(7))


def test_memory_that_is_too_small(handle):
    with Program(handle) as program, DeviceBuffer(16) as small:
        for name in ("queries", "keys", "values", "out"):
            with pytest.raises(ExecutionFailedError, match=f"{name} is too small"):
                program.forward(**{name: small.ptr})


def test_wrong_input_of_the_weight_query(handle):
    with Program(handle) as program:
        for change, message in (
            ({"wKind": raw.cudnnMultiHeadAttnWeightKind_t(9)}, "wKind: .* has no 9"),
            ({"weightSizeInBytes": program.size - 1}, "weightSizeInBytes"),
            ({"weights": None}, "weights is NULL"),
            ({"wDesc": None}, "wDesc"),
        ):
            with pytest.raises(BadParamError, match=message):
                program.weight(program.buffer, "q_weights", **change)


def test_descriptors_that_were_never_set(handle):
    with Program(handle) as program:
        with pytest.raises(BadParamError, match="qDesc was created, but never set"):
            program.forward(qDesc=created("SeqDataDescriptor"))
        with pytest.raises(BadParamError, match="attnDesc was created, but never set"):
            program.forward(attnDesc=created("AttnDescriptor"))


def test_the_weight_layout_is_cudnns(handle):
    """Offsets and strides as cuDNN 9.28 gave them for this attention, with a handle it ignores."""
    with Program(handle, sizes=(6, 5, 4), projections=(3, 3, 2, 7)) as program:
        layout = {
            name: (view.ptr - program.buffer.ptr, view.shape, view.strides)
            for name in WEIGHT_NAMES
            if (view := program.weight(program.buffer, name)) is not None
        }
    assert layout == {
        "q_weights": (0, (2, 3, 6), (3, 1, 6)),
        "k_weights": (144, (2, 3, 5), (3, 1, 6)),
        "v_weights": (264, (2, 2, 4), (2, 1, 4)),
        "o_weights": (328, (2, 7, 2), (14, 1, 7)),
        "q_biases": (440, (2, 3, 1), (3, 1, 1)),
        "k_biases": (464, (2, 3, 1), (3, 1, 1)),
        "v_biases": (488, (2, 2, 1), (2, 1, 1)),
        "o_biases": (504, (1, 7, 1), (7, 1, 1)),
    }
