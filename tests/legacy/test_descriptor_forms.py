"""The same results, whichever function of the C API set a descriptor; and reading it back."""

from __future__ import annotations

import ctypes
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
            results.append(cudnn.convolution_forward(handle, x, w, conv))
    equal(results)


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
        cudnn.TensorDescriptor((2, 3, 6, 5)) as x_desc,
        cudnn.TensorDescriptor((2, 4, 6, 5)) as y_desc,
        cudnn.FilterDescriptor((4, 3, 3, 3)) as w_desc,
    ):
        results.append(cudnn.convolution_forward(handle, x, w, conv))
        x_desc.set_4d_ex("float32", 2, 3, 6, 5, 90, 30, 5, 1)
        y_desc.set_4d("NCHW", "float32", 2, 4, 6, 5)
        w_desc.set_4d("float32", "NCHW", 4, 3, 3, 3)
        assert list(x_desc.get_4d().values())[1:] == [2, 3, 6, 5, 90, 30, 5, 1]
        assert list(w_desc.get_4d().values())[2:] == [4, 3, 3, 3]
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


@pytest.mark.usefixtures("handle")
def test_operands_of_fused_operations() -> None:
    operation = raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING
    with cudnn.FusedOpsVariantParamPack(operation, bn_eqscale=4096, bn_epsilon=1e-3) as pack:
        assert pack.get("bn_eqscale") == 4096
        assert pack.get("bn_epsilon") == 1e-3
        assert pack.get("bn_eqbias") is None
