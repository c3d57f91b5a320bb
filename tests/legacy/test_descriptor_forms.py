"""The same results, whichever function of the C API set a descriptor; and reading it back."""

from __future__ import annotations

import ctypes
import gc
import math
import re
import warnings
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle, raw


def draw(*shape: int) -> DeviceTensor:
    rng = np.random.default_rng(shape)
    return DeviceTensor.from_numpy(rng.standard_normal(shape, np.float32))


def equal(results: list[DeviceTensor]) -> None:
    first, *others = (result.numpy() for result in results)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_convolution(handle: Handle) -> None:
    x, w, results = draw(2, 3, 9, 8), draw(4, 3, 3, 2), []
    with cudnn.ConvolutionDescriptor((1, 2), (2, 1), (1, 3)) as general:
        results.append(cudnn.convolution_forward(handle, x, w, general))
        with cudnn.ConvolutionDescriptor() as conv:
            conv.set_2d(1, 2, 2, 1, 1, 3, "cross_correlation", "float32")
            assert conv.get_2d() == general.get_2d()
            assert list(conv.get_2d().values())[:6] == [1, 2, 2, 1, 1, 3]
            results.append(cudnn.convolution_forward(handle, x, w, conv))
    equal(results)
    with (
        cudnn.ConvolutionDescriptor((1, 0, 2), (2, 1, 1)) as conv,
        cudnn.TensorDescriptor((2, 3, 8, 7, 6)) as x_desc,
        cudnn.FilterDescriptor((4, 3, 3, 2, 1)) as w_desc,
    ):
        assert conv.output_shape(x_desc, w_desc) == (2, 4, 4, 6, 10)


def test_pooling(handle: Handle) -> None:
    x, results = draw(2, 3, 9, 8), []
    with cudnn.PoolingDescriptor((3, 2), (1, 0), (2, 1)) as general:
        results.append(cudnn.pooling_forward(handle, x, general))
        with cudnn.PoolingDescriptor(2) as pooling:
            pooling.set_2d("max", "propagate_nan", 3, 2, 1, 0, 2, 1)
            assert pooling.get_2d() == general.get_2d()
            results.append(cudnn.pooling_forward(handle, x, pooling))
    equal(results)


def test_tensors_and_filters(handle: Handle) -> None:
    x, w, results = draw(2, 3, 6, 5), draw(4, 3, 3, 3), []
    with (
        cudnn.ConvolutionDescriptor(1) as conv,
        cudnn.TensorDescriptor((7, 8, 9), "float16") as x_desc,
        cudnn.TensorDescriptor((7, 8, 9), "float16") as y_desc,
        cudnn.FilterDescriptor((7, 8, 9), "float16") as w_desc,
    ):
        results.append(cudnn.convolution_forward(handle, x, w, conv))
        x_desc.set_4d_ex("float32", 2, 3, 6, 5, 90, 30, 5, 1)
        y_desc.set_4d("NCHW", "float32", 2, 4, 6, 5)
        w_desc.set_4d("float32", "NCHW", 4, 3, 3, 3)
        names = ["data_type", "n", "c", "h", "w", "n_stride", "c_stride", "h_stride", "w_stride"]
        values = raw.CUDNN_DATA_FLOAT, 2, 3, 6, 5, 90, 30, 5, 1
        assert x_desc.get_4d() == dict(zip(names, values, strict=True))
        assert list(w_desc.get_4d().values()) == [raw.CUDNN_DATA_FLOAT, 0, 4, 3, 3, 3]
        y = DeviceTensor.from_numpy(np.zeros((2, 4, 6, 5), np.float32))
        descriptors = {"x_desc": x_desc, "w_desc": w_desc, "y_desc": y_desc}
        results.append(cudnn.convolution_forward(handle, x, w, conv, y, **descriptors))
    equal(results)


def test_ctc_loss(handle: Handle) -> None:
    """All that four functions set of the same loss."""
    probs, labels = draw(6, 2, 5), [[1, 2, 2], [4]]
    settings: dict[str, Any] = {
        "set_ex": ("float32", "softmax", "propagate_nan"),
        "set_v8": ("float32", "softmax", "propagate_nan", 8),
        "set_v9": ("float32", "softmax", "skip_oob_gradients", 8),
    }
    results = []
    for name, values in settings.items():
        with cudnn.CTCLossDescriptor() as loss:
            getattr(loss, name)(*values)
            assert loss.compute_data_type == raw.CUDNN_DATA_FLOAT
            assert loss.normalization == raw.CUDNN_LOSS_NORMALIZATION_SOFTMAX
            assert loss.nan_propagation == raw.CUDNN_PROPAGATE_NAN
            assert loss.gradient_mode == raw.CUDNN_CTC_SKIP_OOB_GRADIENTS
            results.append(cudnn.ctc_loss(handle, probs, labels, loss).costs)
            loss.set("float32")
            assert loss.normalization == raw.CUDNN_LOSS_NORMALIZATION_NONE
    equal(results)


@pytest.mark.usefixtures("handle")
def test_arguments_that_are_none_of_theirs_are_named() -> None:
    torch: Any = pytest.importorskip("torch")
    sizes: Any = {"q_size": 4, "qo_max_length": 3, "kv_max_length": 3}
    network: Any = {"input_size": 3, "hidden_size": 4}
    nodes = DeviceTensor.from_numpy(np.array([0, 1], "int32"))
    several = torch.ones(2, 3)
    for make, named in (
        (lambda: cudnn.ConvolutionDescriptor(padding=()), "one entry is needed"),
        (lambda: cudnn.ConvolutionDescriptor(padding=several), "padding"),
        (lambda: cudnn.PoolingDescriptor(None), "window"),
        (lambda: cudnn.PoolingDescriptor(()), "one entry is needed"),
        (lambda: cudnn.AttnDescriptor("2", **sizes), "heads"),
        (lambda: cudnn.AttnDescriptor(several, **sizes), "heads"),
        (lambda: cudnn.AttnDescriptor(biases=several, **sizes), "biases"),
        (lambda: cudnn.AttnDescriptor(scaler="1", **sizes), "scaler"),
        (lambda: cudnn.RNNDescriptor("lstm", input_size=several, hidden_size=4), "inputSize"),
        (lambda: cudnn.RNNDescriptor("lstm", bidirectional="no", **network), "bidirectional"),
        (lambda: cudnn.RNNDescriptor("lstm", padded_io=None, **network), "padded_io"),
        (lambda: cudnn.RNNDataDescriptor([2, 1], 3, padding_fill=(0, 1)), "padding_fill"),
        (lambda: cudnn.RNNDataDescriptor([2, 1], several), "vectorSize"),
        (lambda: cudnn.SeqDataDescriptor((3, 2, 1, 4), padding_fill="0"), "padding_fill"),
        (lambda: cudnn.SeqDataDescriptor((3, 2, 1, 4), axes=torch.tensor(1)), "axes"),
        (lambda: cudnn.TensorDescriptor((2, 3), strides=3), "strides"),
        (lambda: cudnn.TensorTransformDescriptor(3, 3), "pad_before"),
        (lambda: cudnn.TensorTransformDescriptor(fold=(2, 2)), "pad_before: needed with pad_after"),
        (
            lambda: cudnn.TensorTransformDescriptor((0,) * 4, (0,) * 3),
            "4 entries of pad_before need 4",
        ),
        (
            lambda: cudnn.TensorTransformDescriptor((0,) * 4, fold=(2,)),
            "4 entries of pad_before need",
        ),
        (lambda: cudnn.TensorTransformDescriptor((0, 0, 0), 3), "pad_after"),
        (lambda: cudnn.GnnCscGraph(nodes, nodes[:1], 1.5), "source_count"),
        (lambda: cudnn.GnnCscGraph(nodes, nodes[:1], -1), "source_count"),
        (lambda: cudnn.GnnCscGraph(nodes, nodes[:1], 1, stream=0.5), "stream"),
        (lambda: cudnn.GnnCscGraph.from_edges([0.5], [0]), "sources"),
        (lambda: cudnn.GnnCscGraph.from_edges([0], several), "destinations"),
        (lambda: cudnn.GnnCscGraph.from_edges([0], [0], 1.5), "source_count"),
        (lambda: cudnn.GnnCscGraph.from_edges([0], [0], 1, 2**31), "destination_count"),
        (lambda: cudnn.GnnCscGraph.from_edges([0], [0], dtype="float32"), "dtype"),
        (lambda: cudnn.GnnMhaParams(0), "num_heads"),
        (lambda: cudnn.GnnMhaParams(2, several), "concat_heads"),
        (lambda: cudnn.GnnMhaParams(activation="gelu"), "activation"),
        (lambda: cudnn.GnnMhaParams(activation_alpha=None), "activation_alpha"),
        (lambda: raw.cudnnDropoutGetStatesSize(several, ctypes.c_size_t()), "handle"),
    ):
        with pytest.raises((TypeError, ValueError), match=named):
            make()  # type: ignore[no-untyped-call]


def _of(make: Any, *arguments: Any, **options: Any) -> Any:
    """Makes a descriptor for other tests' settings, of which one is wrong."""
    return lambda: make(*arguments, **options)


ATTENTION = {"q_size": 6, "qo_max_length": 4, "kv_max_length": 5}
LSTM = {"cell": "lstm", "input_size": 8, "hidden_size": 8}
FLOAT, NCHW, NHWC = raw.CUDNN_DATA_FLOAT, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_TENSOR_NHWC
VECTORS = raw.CUDNN_TENSOR_NCHW_VECT_C
PACKED = "seq_major_packed"


def dropout(*arguments: Any, **options: Any) -> Any:
    def make() -> None:
        with cudnn.Handle() as handle:
            cudnn.DropoutDescriptor(handle, *arguments, **options).close()

    return make


def ints(*numbers: int, dtype: str = "int32") -> DeviceTensor:
    return DeviceTensor.from_numpy(np.array(numbers, dtype))


def graph(offsets: Any = (0, 2), indices: Any = (0, 1), **options: Any) -> Any:
    """A graph of 2 sources; `offsets` and other arrays as numbers, or as what makes them."""
    arrays = {"offsets": offsets, "indices": indices, **options}
    return lambda: cudnn.GnnCscGraph(
        **{n: each() if callable(each) else ints(*each) for n, each in arrays.items()},
        source_count=2,
    )


def pooled(window: int, *shape: int) -> Any:
    def ask() -> None:
        with cudnn.PoolingDescriptor(window) as pooling, cudnn.TensorDescriptor(shape) as x:
            pooling.output_shape(x)

    return ask


def convolved(x: tuple[int, ...], w: tuple[int, ...], **options: Any) -> Any:
    def ask() -> None:
        with (
            cudnn.ConvolutionDescriptor(**options) as conv,
            cudnn.TensorDescriptor(x) as x_desc,
            cudnn.FilterDescriptor(w) as w_desc,
        ):
            conv.output_shape(x_desc, w_desc)

    return ask


def changed(kind: Any, setter: str, *values: Any) -> Any:
    def change() -> None:
        with kind() as descriptor:
            getattr(descriptor, setter)(*values)

    return change


# What is made, and what its error says: the argument's name, or the name of C's function.
WRONG = {
    cudnn.ActivationDescriptor: (
        (_of(cudnn.ActivationDescriptor, "sigmod"), "mode: .*did you mean 'sigmoid'"),
        (_of(cudnn.ActivationDescriptor, raw.CUDNN_POOLING_MAX), "mode: "),
    ),
    cudnn.TensorDescriptor: (
        (_of(cudnn.TensorDescriptor, (0, 3, 4)), "SetTensor"),
        (_of(cudnn.TensorDescriptor, (2, 3, 4, 5, 0)), "every dimension must be at least 1"),
        (_of(cudnn.TensorDescriptor, (2, -3, 4, 5)), "negative"),
        (_of(cudnn.TensorDescriptor, (1, 1, 1, 1), NHWC), "swapped"),
        (_of(cudnn.TensorDescriptor, (1, 1, 1, 1), layout=raw.CUDNN_DATA_HALF), "swapped"),
        (_of(cudnn.TensorDescriptor, (1, 2), layout="NCHW", strides=(2, 1)), "not both"),
        (_of(cudnn.TensorDescriptor, (1, 2, 3, 4), strides=(12, 4, 1)), "strides: "),
        (_of(cudnn.TensorDescriptor, layout="NCHW"), "shape: "),
        (_of(cudnn.TensorDescriptor, (1, 2, 3, 4), layout="NHCW"), "layout: .*NHCW"),
        # cuDNN 9.28 accepts this in cudnnSetTensorNdDescriptorEx, and divides C by 4.
        (_of(cudnn.TensorDescriptor, (1, 8, 3, 4, 5), "int8", layout=VECTORS), "vectorised data"),
        (_of(cudnn.TensorDescriptor, (1, 6, 3, 4), "int8x4"), "SetTensor"),
        *(
            (_of(cudnn.TensorDescriptor, (1, 8, 3, 4), kind), "SetTensor")
            for kind in ("int64", "boolean", "fp8_e4m3", "int4")  # which the graph API has
        ),
        (_of(cudnn.TensorDescriptor, (1,) * 9), "SetTensor"),
        (_of(cudnn.TensorDescriptor, (1, 2.5, 3, 4)), "shape"),
        # The layout and the data type are both 0, so C would take this.
        (changed(cudnn.TensorDescriptor, "set_4d", FLOAT, NCHW, 1, 1, 1, 1), "swapped"),
        (changed(cudnn.TensorDescriptor, "set_nd_ex", "float32", "NCHW", (1, 1)), "swapped"),
        (changed(cudnn.TensorDescriptor, "set_nd", "NCHW", (1, 1), (1, 1)), "swapped"),
    ),
    cudnn.FilterDescriptor: (
        (_of(cudnn.FilterDescriptor, (2, 0, 4)), "every dimension must be at least 1"),
        (_of(cudnn.FilterDescriptor, (8, 4, 3, 3), layout="NCHW_VECT_C"), "vectorised data type"),
        (_of(cudnn.FilterDescriptor, (8, 4)), "SetFilter"),
        (_of(cudnn.FilterDescriptor, layout="NCHW"), "shape: needed"),
        (changed(cudnn.FilterDescriptor, "set_4d", NCHW, FLOAT, 1, 1, 1, 1), "swapped"),
        (changed(cudnn.FilterDescriptor, "set_nd", "NCHW", "float32", (1, 1, 1)), "swapped"),
    ),
    cudnn.ConvolutionDescriptor: (
        *(
            (_of(cudnn.ConvolutionDescriptor, **option), "must be at least 1, padding at least 0")
            for option in ({"stride": 0}, {"dilation": (0, 1)}, {"padding": -1}, {"groups": 0})
        ),
        (_of(cudnn.ConvolutionDescriptor, (1, 1), (1, 1, 1)), "padding has 2, stride has 3"),
        (_of(cudnn.ConvolutionDescriptor, (1,) * 7), "SetConvolutionNd"),
        (_of(cudnn.ConvolutionDescriptor, compute_data_type="int8"), "SetConvolutionNd"),
        (_of(cudnn.ConvolutionDescriptor, mode=NHWC), "mode: "),
        (convolved((1, 3, 8, 8), (4, 2, 3, 3)), "x: it has 3 channels, but .* need 2"),
        (convolved((1, 6, 8, 8), (4, 6, 3, 3), groups=2), "x: it has 6 channels, .* need 12"),
        (convolved((1, 6, 8, 8), (5, 3, 3, 3), groups=2), "w: it has 5 filters"),
        (convolved((1, 3, 8, 8, 8), (4, 3, 3, 3, 3)), "x: a convolution over 2 spatial"),
        (convolved((1, 3, 8), (4, 3, 3, 3)), "x: a convolution over 2 spatial"),
        (convolved((1, 3, 8, 2), (4, 3, 3, 3)), "reaches over 3 elements along"),
    ),
    cudnn.PoolingDescriptor: (
        (_of(cudnn.PoolingDescriptor, (2, 2), (0, 0, 0)), "window has 2, padding has 3"),
        (_of(cudnn.PoolingDescriptor, 0), "SetPooling"),
        (_of(cudnn.PoolingDescriptor, 2, -1), "padding: expected no negative number"),
        (_of(cudnn.PoolingDescriptor, 2, 0, 0), "SetPooling"),
        (_of(cudnn.PoolingDescriptor, 2, mode="maxx"), "mode: .*did you mean 'max'"),
        (pooled(5, 1, 1, 4, 4), "window reaches over 5 elements"),
        (pooled(2, 1, 1, 4, 4, 4), "x: a pooling over 2 spatial"),
    ),
    cudnn.LRNDescriptor: tuple(
        (_of(cudnn.LRNDescriptor, **option), "SetLRN")
        for option in ({"n": 0}, {"n": 17}, {"k": 1e-6}, {"beta": 0.001})
    ),
    cudnn.ReduceTensorDescriptor: (
        (_of(cudnn.ReduceTensorDescriptor, "norm3"), "op: .*did you mean 'norm2'"),
        (_of(cudnn.ReduceTensorDescriptor, compute_data_type="bfloat16"), "SetReduceTensor"),
        (_of(cudnn.ReduceTensorDescriptor, "max", indices=3), "indices: expected True or False"),
    ),
    cudnn.OpTensorDescriptor: (
        (_of(cudnn.OpTensorDescriptor, "sub"), "op: .*'add'"),
        (_of(cudnn.OpTensorDescriptor, compute_data_type="int8"), "SetOpTensor"),
    ),
    cudnn.SpatialTransformerDescriptor: (
        (_of(cudnn.SpatialTransformerDescriptor, (2, 3, 4, 7), "bfloat16"), "SetSpatial"),
        (_of(cudnn.SpatialTransformerDescriptor, (2, 3, 4, 7), "int8"), "SetSpatial"),
        (_of(cudnn.SpatialTransformerDescriptor, (2, 3, 0, 7)), "1 to 8 dimensions of at least 1"),
        (_of(cudnn.SpatialTransformerDescriptor, (1,) * 9), "1 to 8 dimensions of at least 1"),
        (_of(cudnn.SpatialTransformerDescriptor, (2, 3, 4, 7), sampler="nearest"), "sampler: "),
    ),
    cudnn.CTCLossDescriptor: (
        (_of(cudnn.CTCLossDescriptor, "float16"), "compType"),
        (_of(cudnn.CTCLossDescriptor, normalization="sigmoid"), "normalization: "),
        (_of(cudnn.CTCLossDescriptor, gradient_mode="zero_oob_gradient"), "gradient_mode: "),
    ),
    cudnn.DropoutDescriptor: (
        *(
            (dropout(rate), "^rate: expected a number from 0 to 1")
            for rate in (-0.1, 1.1, math.nan)
        ),
        (dropout("half"), "^rate: expected a number, got 'half'"),
        *((dropout(0.5, seed=seed), "^seed: expected an int, got") for seed in (1.5, True, [1])),
        *((dropout(0.5, seed=seed), "^seed: expected an int from 0") for seed in (-1, 2**64)),
        (
            lambda: dropout(0.5, states=DeviceTensor.zeros((3,), "uint8"))(),
            "^states: 3 bytes, 16 are needed",
        ),
        (dropout(0.5, restore=True), "^states: needed to go on from"),
    ),
    cudnn.GnnCscGraph: (
        (graph(lambda: DeviceTensor.zeros((2,), "float32")), "^offsets: expected int32 or int64"),
        (graph(()), r"^offsets: expected \(destinations \+ 1,\)"),
        (graph(indices=lambda: ints(0, 1, dtype="int64")), "^indices: expected int32, got int64"),
        (graph(edge_rows=(0,)), "^edge_rows: "),
        (graph(reversed_rows=(0, 1)), "give both or none"),
        (graph(reversed_rows=(0, 1), reversed_offsets=(0, 2)), "^reversed_offsets: "),
        (_of(cudnn.GnnCscGraph.from_edges, [0, 1], [0]), "expected as many of each"),
        (_of(cudnn.GnnCscGraph.from_edges, [0, 1], [0, 0], 1), "^sources: .* from 0 to 0"),
        (_of(cudnn.GnnCscGraph.from_edges, [0, 1], [-1, 1]), "^destinations: .* from 0 to 1"),
    ),
    cudnn.RNNDescriptor: tuple(
        (_of(cudnn.RNNDescriptor, **{**LSTM, **option}), named)
        for option, named in (
            ({"hidden_size": 0}, "hiddenSize < 1|projSize <= 0"),
            ({"input_size": 0}, "inputSize < 1"),
            ({"layers": 0}, "numLayers < 1"),
            ({"projection_size": 9}, "projSize > hiddenSize"),
            ({"cell": "gru", "projection_size": 4}, "projSize != hiddenSize"),
            ({"data_type": "int8"}, "cudnnSetRNNDescriptor_v8"),
            ({"compute_data_type": "float64"}, "mathPrec != CUDNN_DATA_FLOAT"),
            ({"input_mode": "skip_input", "input_size": 7}, "input_size: must be hid"),
            ({"bias": "two"}, "bias: expected one of"),
            ({"cell": "elman"}, "cell: expected one of"),
            ({"cell": raw.CUDNN_LINEAR_INPUT}, "cell: expected a cudnnRNNMode_t"),
            ({"dropout": 0.5}, r"dropout: expected a DropoutDescriptor, got 0\.5"),
            ({"algorithm": "persist_static", "data_type": "float64"}, "PERSIST_STATIC"),
            ({"algorithm": "persist_static", "bias": "no_bias"}, "DOUBLE_BIAS"),
        )
    ),
    cudnn.RNNDataDescriptor: (
        (_of(cudnn.RNNDataDescriptor, [3, 4], 8, max_length=3), "lengths: "),
        (_of(cudnn.RNNDataDescriptor, [3, -1], 8), "lengths: "),
        (_of(cudnn.RNNDataDescriptor, [3, 4], 8, layout=PACKED), "lengths: must descend"),
        (_of(cudnn.RNNDataDescriptor, [4, 3], 8, layout=PACKED, max_length=5), "maxSeqLength"),
        (_of(cudnn.RNNDataDescriptor, [4, 0], 8, layout=PACKED), "and be 1 at least"),
        (_of(cudnn.RNNDataDescriptor, [4], 0), "vectorSize"),
        (_of(cudnn.RNNDataDescriptor, [], 8), "batchSize"),
        (_of(cudnn.RNNDataDescriptor, [4], 8, "int8"), "dataType"),
        (_of(cudnn.RNNDataDescriptor, [4], 8, layout="sorted"), "layout: expected one of"),
    ),
    cudnn.SeqDataDescriptor: (
        (_of(cudnn.SeqDataDescriptor, (4, 3, 5)), "shape: expected"),
        (_of(cudnn.SeqDataDescriptor, (4, 3, 1, 5), "int8"), "cudnnSetSeqDataDescriptor"),
        (_of(cudnn.SeqDataDescriptor, (4, 3, 0, 5)), "cudnnSetSeqDataDescriptor"),
        (_of(cudnn.SeqDataDescriptor, (4, 3, 2, 5), lengths=(4, 4)), "lengths: expected 6 entr"),
        (_of(cudnn.SeqDataDescriptor, (4, 1, 1, 5), lengths=(5,)), "cudnnSetSeqDataDescriptor"),
        (_of(cudnn.SeqDataDescriptor, (4, 1, 1, 5), lengths=(0,)), "cudnnSetSeqDataDescriptor"),
        (_of(cudnn.SeqDataDescriptor, (4, 1, 1, 5), lengths=(NCHW,)), "lengths: expected ints"),
        *(
            (_of(cudnn.SeqDataDescriptor, (4, 1, 1, 5), axes=axes), "axes: expected the letters")
            for axes in ("TNB", "TNBX", "TTBV", (0, 1))
        ),
        (_of(cudnn.SeqDataDescriptor, (4, 1, 1, 5), axes="VTNB"), "cudnnSetSeqDataDescriptor"),
    ),
    cudnn.AttnDescriptor: tuple(
        (_of(cudnn.AttnDescriptor, 2, **{**ATTENTION, **option}), named)
        for option, named in (
            ({"q_size": 0}, "q_size: expected an int, at least 1, got 0"),
            ({"o_projection": -1}, "o_projection: expected an int, at least 0, got -1"),
            ({"max_beam": 0}, "max_beam: expected an int, at least 1"),
            ({"scaler": -1.0}, "scaler: expected 0 or more"),
            ({"scaler": float("nan")}, "scaler: expected 0 or more"),
            ({"q_projection": 3, "k_projection": 4}, "keys are 4 long after projection"),
            ({"query_map": "many"}, "query_map: expected 'all_to_one'"),
            ({"math_type": "fast"}, "math_type"),
            ({"compute_data_type": "float16"}, "cudnnSetAttnDescriptor"),
            ({"query_map": "one_to_one", "max_beam": 2}, "cudnnSetAttnDescriptor"),
        )
    ),
}


@pytest.mark.usefixtures("reference_handle")
@pytest.mark.parametrize("kind", WRONG, ids=lambda kind: kind.__name__)
def test_wrong_settings(kind: Any) -> None:
    """What is refused leaves nothing open, which would warn."""
    wrong = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number, (make, named) in enumerate(WRONG[kind]):
            try:
                make()
                wrong.append(f"{number} {named}: nothing is refused")
            except (TypeError, ValueError, cudnn.CudnnError) as error:
                if not re.search(named, str(error)):
                    wrong.append(f"{number} {named}: {error}")
        gc.collect(1)
    assert not wrong, "\n".join(wrong)
    told = [str(each.message) for each in caught if each.category is cudnn.UnclosedWarning]
    assert not [each for each in told if f"unclosed {kind.__name__}" in each]
