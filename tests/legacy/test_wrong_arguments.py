"""Every operation refuses wrong memory, options and factors by the argument's name, before C.

What all operations refuse is tried on each argument of each row of the operation table; what one
operation refuses is a line of `WRONG`, and what a descriptor refuses one of `WRONG_DESCRIPTORS`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import (
    ClosedError,
    CudnnError,
    DeviceBuffer,
    DeviceTensor,
    Handle,
    TensorDescriptor,
    raw,
)
from cudnn_ctypes.legacy.descriptor import Descriptor

from .operation_table import FAMILIES, Case, rows
from .small_attention import HEADS, OPTIONS, TK, TQ, N


def refusal(case: Case, **changes: Any) -> Exception | None:
    try:
        case.function(**{**case.arguments, **changes})
    except (TypeError, ValueError, ClosedError, CudnnError) as error:
        return error
    return None


@pytest.fixture(params=FAMILIES, ids=lambda family: family.__name__)
def named_cases(
    request: pytest.FixtureRequest, reference_handle: Handle
) -> Iterator[dict[str, Case]]:
    with rows(request.param, reference_handle) as made:
        yield made


@pytest.fixture
def cases(named_cases: dict[str, Case]) -> list[Case]:
    return list(named_cases.values())


def operands(cases: list[Case]) -> Iterator[tuple[Case, str, DeviceTensor]]:
    for case in cases:
        for name, value in case.arguments.items():
            if isinstance(value, DeviceTensor):
                yield case, name, value


def test_what_is_no_device_memory(cases: list[Case]) -> None:
    for case, name, value in operands(cases):
        for wrong in (value.numpy(), object(), "text", 1.5, True, 0, ctypes.c_void_p()):
            error = refusal(case, **{name: wrong})
            assert isinstance(error, (TypeError, ValueError)), (case.operation, name)
            assert str(error).startswith(f"{name}: ")


def test_addresses_without_a_shape(cases: list[Case]) -> None:
    for case, name, value in operands(cases):
        error = refusal(case, **{name: value.ptr})
        # Of some operands the shape is known, which an address says to be right.
        if error is not None:
            assert isinstance(error, TypeError)
            assert str(error).startswith(f"{name}: ")
        elif f"{name}_desc" in case.parameters:
            pytest.fail(f"{case.operation} takes {name} without {name}_desc")


def test_closed_memory(cases: list[Case]) -> None:
    for case, name, value in operands(cases):
        closed = DeviceTensor.empty(value.shape, value.data_type, strides=value.strides)
        closed.close()
        assert isinstance(refusal(case, **{name: closed}), ClosedError), (case.operation, name)


def test_memory_that_is_too_small(cases: list[Case]) -> None:
    for case, name, value in operands(cases):
        if f"{name}_desc" in case.parameters and value.ndim == 4:
            with TensorDescriptor.of(value) as desc, DeviceBuffer(4) as small:
                error = refusal(case, **{name: small, f"{name}_desc": desc})
            if name != "w":  # filters have another descriptor
                assert isinstance(error, ValueError)
                assert str(error).startswith(f"{name}: 4 bytes are too small")


def test_options_of_another_kind(cases: list[Case]) -> None:
    for case in cases:
        for name, value in case.arguments.items():
            if isinstance(value, (Descriptor, Handle)) and name != "self":
                error = refusal(case, **{name: object()})
                assert isinstance(error, TypeError), (case.operation, name)
                assert name in str(error)
                assert "expected a" in str(error)


def test_factors_of_results_that_are_made(cases: list[Case]) -> None:
    for case in cases:
        made = case.parameters
        if "beta" in made and case.arguments.keys() < {n for n in made if "desc" not in n}:
            error = refusal(case, beta=0.5)
            assert error is None or "needed with beta=0.5" in str(error)
            assert isinstance(refusal(case, beta="text"), TypeError)


# --- of one operation ---------------------------------------------------------------------------


def t(*shape: int, dtype: str = "float32", **options: Any) -> Callable[[], DeviceTensor]:
    """Makes a tensor on the device in place of an argument."""
    return lambda: DeviceTensor.zeros(shape, dtype, **options)


def buffer(nbytes: int) -> Callable[[], DeviceBuffer]:
    return lambda: DeviceBuffer(nbytes)


def fewer(limit: str) -> Callable[[], cudnn.AttnDescriptor]:
    """Makes the table's attention, with one less of something."""
    return lambda: cudnn.AttnDescriptor(HEADS, **{**OPTIONS, limit: OPTIONS[limit] - 1})


LAST = t(2, 3, 16, strides=(48, 1, 3))  # channels last

# The operation, what its error names (of an error of cuDNN's functions: what it says), and the
# arguments that are exchanged.
WRONG: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("activation_forward", "activation", {"activation": "rely"}),
    ("activation_forward", "cudnnActivationForward", {"x": t(1, 2, 2, 2, dtype="int32")}),
    ("activation_backward", "strides", {"dy": t(2, 4, 6, 6, layout="NHWC")}),
    ("softmax_forward", "algorithm", {"algorithm": "acurate"}),
    ("softmax_forward", "mode", {"mode": raw.CUDNN_SOFTMAX_LOG}),
    ("softmax_forward", "cudnnSoftmaxForward", {"x": t(1, 2, dtype="int32")}),
    ("pooling_backward", "x", {"pooling": lambda: cudnn.PoolingDescriptor((2, 2, 2))}),
    ("lrn_cross_channel_forward", "mode", {"mode": "within_channel"}),
    ("divisive_normalization_forward", "means", {"means": t(2, 6, 5, 5, layout="NHWC")}),
    ("divisive_normalization_backward", "dy", {"dy": t(2, 6, 5, 5, layout="NHWC")}),
    ("divisive_normalization_backward", "dmeans", {"dmeans": t(2, 6, 5, 5, layout="NHWC")}),
    ("divisive_normalization_backward", "mode", {"mode": "none"}),
    ("batch_normalization_forward_training", "bias", {"bias": None}),
    ("batch_normalization_forward_training", "scale", {"scale": t(4, strides=(2,))}),
    ("batch_normalization_forward_training", "running_variance", {"running_mean": t(4)}),
    ("batch_normalization_forward_training", "saved_mean", {"saved_inv_variance": t(4)}),
    ("batch_normalization_forward_training", "mode", {"mode": "layer"}),
    ("batch_normalization_forward_training", "epsilon", {"epsilon": -1.0}),
    ("batch_normalization_forward_training", "param_desc: this", {"param_desc": TensorDescriptor}),
    (
        "batch_normalization_forward_training",
        "param_desc: expected shape (1, 4, 1, 1)",
        {"param_desc": lambda: TensorDescriptor((1, 5, 1, 1))},
    ),
    ("batch_normalization_forward_training_ex", "NOT_SUPPORTED", {"activation": "relu"}),
    ("batch_normalization_forward_training_ex", "activation", {"z": t(2, 4, 6, 6)}),
    ("batch_normalization_forward_training_ex", "workspace", {"workspace": 1 << 20}),
    ("normalization_forward_training", "workspace", {"workspace": 1 << 20}),
    ("normalization_forward_training", "activation", {"activation": None}),
    ("normalization_forward_training", "groupCnt", {"groups": 2}),
    ("normalization_backward", "reserve_space", {"reserve_space": buffer(1)}),
    ("normalization_backward", "reserve_space", {"reserve_space": None}),
    ("dropout_backward", "reserve_space", {"reserve_space": None}),
    ("dropout_backward", "reserve_space", {"reserve_space": 4096}),
    ("spatial_tf_grid_generator_backward", "dgrid", {"dgrid": t(2, 6, 6, 2, layout="NHWC")}),
    ("add_tensor", "A: expected the data type", {"a": t(4, dtype="float16")}),
    ("add_tensor", "cudnnAddTensor", {"a": t(1, 1, 1, 1, 1, 1), "c": t(1, 1, 1, 1, 1, 1)}),
    ("set_tensor", "value", {"y": t(1, 3, dtype="int8"), "value": 200}),
    ("set_tensor", "value", {"y": t(1, 3, dtype="int8"), "value": 0.5}),
    ("set_tensor", "alpha and beta", {"value": "3"}),
    ("scale_tensor", "alpha and beta", {"alpha": "3"}),
    ("op_tensor", "b", {"b": None}),
    ("op_tensor", "C: cuDNN has no", {"data_type": "float64"}),
    ("transform_tensor", "cudnnTransformTensor", {"data_type": "int32"}),
    (
        "transform_tensor_ex",
        "x: expected 5 dimensions",
        {"transform": lambda: cudnn.TensorTransformDescriptor((0,) * 5)},
    ),
    ("reduce_tensor", "c", {"c_shape": None}),
    ("reduce_tensor", "c_shape", {"c_shape": (1, 1, 1, 1.5)}),
    ("reduce_tensor", "cudnnReduceTensor", {"a": t(2, 4, 6, 6, dtype="int32")}),
    (
        "reduce_tensor",
        "reduction",
        {"reduction": lambda: cudnn.ReduceTensorDescriptor("add", indices=True)},
    ),
    ("reduce_tensor", "indices", {"reduction": "max", "indices": buffer(64)}),
    ("reduce_tensor", "workspace", {"workspace": 4096}),
    ("reduce_tensor", "c", {"c_shape": None, "c_desc": lambda: TensorDescriptor((2, 4, 6, 7))}),
    ("reduce_tensor", "C: it has the shape of A", {"c_shape": (2, 4, 6, 6)}),
    ("convolution_forward", "x", {"w": t(8, 3, 3, 3)}),
    ("convolution_forward", "w", {"w": t(8, 4, 3, 3, strides=(72, 18, 6, 2))}),
    ("convolution_forward", "y", {"y": t(2, 8, 6, 5)}),
    ("convolution_forward", "y", {"y": t(2, 7, 6, 6)}),
    ("convolution_forward", "y", {"beta": 1}),
    ("convolution_forward", "alpha and beta", {"alpha": "1"}),
    ("convolution_forward", "beta", {"beta": np.ones(2)}),
    ("convolution_forward", "algorithm", {"algorithm": raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0}),
    ("convolution_forward", "algorithm", {"algorithm": "winnograd"}),
    ("convolution_forward", "workspace", {"workspace": 4096}),
    ("convolution_forward", "x_desc", {"x_desc": lambda: cudnn.FilterDescriptor((2, 4, 6, 6))}),
    ("convolution_forward", "w_desc", {"w_desc": lambda: TensorDescriptor((8, 4, 3, 3))}),
    ("convolution_forward", "x", {"x_desc": lambda: TensorDescriptor((2, 4, 6, 6), "float64")}),
    ("convolution_forward", "every dimension must be at least 1", {"x": t(2, 4, 0, 6)}),
    ("convolution_backward_data", "dx", {"dx_shape": None}),
    ("convolution_backward_data", "dx", {"beta": 1}),
    ("convolution_backward_filter", "dw", {"dw_shape": None}),
    ("convolution_backward_filter", "dw", {"beta": 1}),
    ("convolution_backward_bias", "db", {"db": t(1, 7, 1, 1)}),
    ("convolution_backward_bias", "db", {"beta": 1}),
    ("convolution_bias_activation_forward", "bias", {"bias": t(8, 1)}),
    ("convolution_bias_activation_forward", "bias", {"bias": t(8, strides=(2,))}),
    ("convolution_bias_activation_forward", "z", {"z": None, "alpha2": 0.5}),
    ("convolution_bias_activation_forward", "activation", {"activation": "rely"}),
    ("convolution_bias_activation_forward", "activation", {"activation": 3}),
    ("convolution_bias_activation_forward", "TANH", {"activation": "tanh"}),
    ("reorder_filter_and_bias", "reordered_w", {"reordered_w": buffer(9216)}),
    ("causal_convolution_forward", "x", {"x": t(3, 16)}),
    ("causal_convolution_forward", "w", {"w": t(4, 4)}),
    ("causal_convolution_forward", "w", {"w": t(3, 4, dtype="float16")}),
    ("causal_convolution_forward", "bias", {"bias": t(4)}),
    ("causal_convolution_forward", "y", {"y": t(2, 3, 9)}),
    ("causal_convolution_forward", "y", {"y": t(2, 3, 16, dtype="float64")}),
    ("causal_convolution_forward", "activation", {"activation": "relu"}),
    ("causal_convolution_forward", "kernelSize", {"w": t(3, 1)}),
    ("causal_convolution_forward", "stream", {"stream": "main"}),
    ("causal_convolution_forward", "x and w: both must be dense", {"x": LAST}),
    ("causal_convolution_backward", "dw", {"dw": t(3, 4, dtype="float16")}),
    (
        "causal_convolution_backward",
        "dy: expected strides (48, 1, 3)",
        {"x": LAST, "w": t(3, 4, strides=(1, 3))},
    ),
    ("fft_causal_convolution_forward", "w", {"w": t(3, 128)}),
    ("fft_causal_convolution_forward", "power of two", {"x": t(1, 2, 192), "w": t(2, 96)}),
    ("back_to_back_convolution_forward", "x", {"x": t(2, 4, 2, 16)}),
    ("back_to_back_convolution_forward", "w_proj", {"w_proj": t(4, 2)}),
    ("back_to_back_convolution_forward", "w_mixer", {"w_mixer": t(3, 5)}),
    ("back_to_back_convolution_forward", "skip_bias", {"skip_bias": t(3)}),
    ("back_to_back_convolution_backward", "y", {"y": t(2, 4, 9)}),
    ("long_fft_causal_convolution_forward", "w", {"w": t(2, 128)}),
    ("long_fft_causal_convolution_forward", "workspace: 8 bytes", {"workspace": buffer(8)}),
    ("long_fft_causal_convolution_backward", "dy", {"dy": t(1, 4096)}),
    (
        "long_fft_causal_convolution_backward",
        "reserve_space: the size behind an address",
        {"reserve_space": 4096},
    ),
    ("scale_bias_activation_convolution", "x", {"w": t(32, 4, 3, 3, dtype="float16")}),
    ("scale_bias_activation_convolution", "y", {"y": t(2, 8, 3, 3, dtype="float16")}),
    ("scale_bias_activation_convolution", "scale", {"scale": t(4, dtype="float16")}),
    ("scale_bias_activation_convolution", "bias", {"scale": t(8, dtype="float16"), "bias": t(8)}),
    ("scale_bias_activation_convolution", "TANH", {"activation": "tanh"}),
    ("scale_bias_activation_convolution", "activation", {"activation": 3}),
    ("scale_bias_activation_convolution", "y_sum and y_sqsum", {"y_sum": t(1, 32, 1, 1)}),
    ("scale_bias_activation_convolution", "workspace", {"workspace": buffer(6)}),
    ("scale_bias_activation_backward_filter", "dw", {"dw_shape": None}),
    ("scale_bias_activation_backward_filter", "dy", {"dw_shape": (32, 8, 1, 1)}),
    ("scale_bias_activation_backward_filter", "HALF", {"dw": t(32, 8, 3, 3, layout="NHWC")}),
    ("finalize_statistics_training", "running_mean", {"running_mean": t(1, 32, 1, 1)}),
    ("finalize_statistics_training", "y_sqsum", {"y_sqsum": t(1, 4, 1, 1)}),
    ("finalize_statistics_training", "count", {"count": 0}),
    ("finalize_statistics_training", "count", {"count": 9.5}),
    ("finalize_statistics_training", "average_factor", {"average_factor": None}),
    ("finalize_statistics_training", "workspace", {"workspace": 4096}),
    ("finalize_statistics_inference", "bn_bias", {"bn_bias": t(1, 32, 1, 1, dtype="float16")}),
    ("finalize_statistics_inference", "epsilon", {"epsilon": -1}),
    ("RNN.forward", "x", {"x": None}),
    ("RNN.forward", "x", {"x": t(5, 3, 2)}),
    ("RNN.forward", "x", {"x": t(5, 3, 4, dtype="float64")}),
    ("RNN.forward", "x", {"x": t(5, 3, 4, strides=(1, 5, 15))}),
    ("RNN.forward", "x", {"x": buffer(7)}),
    ("RNN.forward", "hx", {"hx": t(2, 3, 4)}),
    ("RNN.forward", "cx", {"cx": t(1, 3, 6)}),
    ("RNN.forward", "y", {"y": t(3, 5, 6)}),
    ("RNN.forward", "hy", {"hy": t(2, 3, 6, dtype="float64")}),
    ("RNN.forward", "weights", {"weights": buffer(7)}),
    ("RNN.forward", "workspace", {"workspace": buffer(7)}),
    ("RNN.forward", "workspace", {"workspace": 4096}),
    ("RNN.forward", "training", {"training": np.ones(2)}),
    ("RNN.forward", "final_states", {"final_states": "no"}),
    ("RNN.forward", "reserve_space", {"training": True, "reserve_space": buffer(7)}),
    ("RNN.forward", "device_lengths", {"device_lengths": t(3, dtype="int64")}),
    ("RNN.forward", "device_lengths", {"device_lengths": t(2, dtype="int32")}),
    ("RNN.backward_data", "dy", {"dy": t(5, 3, 4)}),
    ("RNN.backward_data", "dhy", {"dhy": t(5, 3, 4)}),
    ("RNN.backward_data", "reserve_space", {"reserve_space": None}),
    ("RNN.backward_weights", "y", {"y": t(5, 3, 4)}),
    ("RNN.backward_weights", "dweights", {"dweights": buffer(48)}),
    ("RNN.backward_weights", "CUDNN_WGRAD_MODE_ADD only", {"mode": "set"}),
    ("attention_forward", "k", {"k": 4096}),
    ("attention_forward", "q", {"q": t(4, 3, 7)}),
    ("attention_forward", "v", {"v": t(5, 3, 5)}),
    ("attention_forward", "y", {"y": t(4, 3, 5)}),
    ("attention_forward", "k", {"k": t(5, 4, 5)}),
    ("attention_forward", "v", {"v": t(4, 3, 4)}),
    ("attention_forward", "y", {"y": t(3, 3, 6)}),
    ("attention_forward", "q", {"q": t(3, 6)}),
    ("attention_forward", "k", {"k": t(5, 3, 2, 5), "v": t(5, 3, 2, 4)}),
    ("attention_forward", "q", {"q": None}),
    ("attention_forward", "low", {"low": [0.5] * 4}),
    ("attention_forward", "low", {"low": [0, 0]}),
    ("attention_forward", "high", {"high": 4}),
    ("attention_forward", "high", {"high": [0] * 3}),
    ("attention_forward", "device_q_lengths", {"device_q_lengths": np.ones(3, np.int32)}),
    ("attention_forward", "lengths", {"q_lengths": [4]}),
    ("attention_forward", "current", {"current": "last", "y": t(4, 3, 6)}),
    ("attention_forward", "current", {"current": 4, "y": t(4, 3, 6)}),
    ("attention_forward", "y", {"current": 0}),
    (
        "attention_forward",
        "q_desc: has lengths",
        {"q_desc": lambda: cudnn.SeqDataDescriptor((TQ, N, 1, 6)), "q_lengths": [4, 4, 3]},
    ),
    ("attention_forward", "weights", {"weights": None}),
    ("attention_forward", "weights", {"weights": buffer(16)}),
    ("attention_forward", "all operands must have", {"k": t(TK, N, 5, strides=(5, TK * 5, 1))}),
    *(
        ("attention_forward", f"{name}: {size} is more than", {"attn": fewer(limit)})
        for name, size, limit in (
            ("q", TQ, "qo_max_length"),
            ("k", TK, "kv_max_length"),
            ("q", N, "max_batch"),
        )
    ),
    ("attention_forward", "workspace", {"workspace": 4096}),
    ("attention_forward", "workspace", {"workspace": buffer(16)}),
    ("attention_forward", "residuals", {"residuals": t(4, 3, 7)}),
    ("attention_forward_training", "reserve_space", {"reserve_space": buffer(16)}),
    ("attention_backward_data", "reserve_space", {"reserve_space": None}),
    ("attention_backward_data", "reserve_space", {"reserve_space": 4096}),
    ("attention_backward_data", "dy", {"dy": t(4, 3, 5)}),
    ("attention_backward_data", "dk", {"dk": t(3, 3, 5)}),
    ("attention_backward_data", "dk", {"dk": t(5, 3, 5, strides=(5, 25, 1))}),
    ("attention_backward_weights", "dweights", {"dweights": None, "mode": "add"}),
    ("attention_backward_weights", "dy", {"dy": None}),
    ("ctc_loss_v8", "probs", {"probs": None}),
    ("ctc_loss_v8", "labels: needed", {"labels": None}),
    ("ctc_loss_v8", "input_lengths", {"input_lengths": t(2, dtype="int64")}),
    ("ctc_loss", "probs", {"probs_desc": lambda: TensorDescriptor((7, 2, 5))}),
    ("ctc_loss", "probs", {"probs_desc": lambda: TensorDescriptor((6, 2, 5, 1))}),
    ("ctc_loss", "costs", {"costs": 0}),
    ("ctc_loss", "costs", {"costs": t(3)}),
    ("ctc_loss", "costs", {"costs": t(2, dtype="float64")}),
    ("ctc_loss", "gradients", {"gradients": 4096}),
    ("ctc_loss", "gradients", {"gradients": t(6, 2, 4)}),
    ("ctc_loss", "gradients", {"gradients": t(6, 2, 5), "with_gradients": False}),
    ("ctc_loss", "labels", {"labels": [[1]]}),
    ("ctc_loss", "labels", {"labels": None}),
    *(
        (version, argument, change)
        for version in ("ctc_loss", "ctc_loss_v8")
        for argument, change in (
            ("labels[0]", {"labels": [1, 2]}),
            ("labels[0]", {"labels": [[1.5], [1]]}),
            ("labels[1]", {"labels": [[1], []]}),
            ("labels[1]", {"labels": [[1], [5]]}),
            ("labels[1]", {"labels": [[1], [0]]}),
            ("labels[0]", {"input_lengths": [1, 5]}),
            ("input_lengths", {"input_lengths": [7, 5]}),
            ("input_lengths", {"input_lengths": [6]}),
            ("input_lengths", {"input_lengths": [6, 5.0]}),
            ("algorithm", {"algorithm": "fast"}),
            ("workspace", {"workspace": 4096}),
        )
    ),
    ("ctc_loss_v8", "label_lengths", {"labels": t(3, dtype="int32")}),
    ("ctc_loss_v8", "label_lengths", {"label_lengths": t(2, dtype="int32")}),
    (
        "ctc_loss_v8",
        "label_lengths",
        {"labels": t(3, dtype="int32"), "label_lengths": t(1, dtype="int32")},
    ),
    (
        "ctc_loss_v8",
        "label_lengths",
        {"labels": t(3, dtype="int32"), "label_lengths": t(2, dtype="int64")},
    ),
    ("ctc_loss_v8", "labels", {"labels": [[1, 2, 3, 4, 3, 2], [4]]}),
    ("ctc_loss_v8", "loss", {"loss": lambda: cudnn.CTCLossDescriptor(max_label_length=4)}),
    (
        "ctc_loss_v8",
        "loss",
        {"loss": lambda: cudnn.CTCLossDescriptor("float64", max_label_length=2)},
    ),
    ("gnn_agg_simple_forward", "node_features", {"node_features": None}),
    ("gnn_agg_simple_forward", "node_features", {"node_features": t(5, 2)}),
    ("gnn_agg_simple_forward", "node_features", {"node_features": t(4)}),
    ("gnn_agg_simple_forward", "edge_features", {"edge_features": t(5, 2, dtype="float16")}),
    ("gnn_agg_simple_forward", "output", {"output": t(2, 3)}),
    (
        "gnn_agg_simple_forward",
        "out_positions",
        {"operation": "sum", "out_positions": t(2, 4, dtype="int32")},
    ),
    ("gnn_agg_simple_forward", "out_positions", {"out_positions": t(2, 4)}),
    ("gnn_agg_simple_forward", "operation", {"operation": "product"}),
    ("gnn_agg_simple_forward", "DOUBLE", {"node_features": t(4, 4, dtype="float64")}),
    ("gnn_agg_simple_forward", "graph", {"graph": "graph"}),
    ("gnn_agg_simple_backward", "doutput", {"node_feat_dim": 5}),
    ("gnn_agg_simple_backward", "out_positions", {"operation": "max"}),
    ("gnn_agg_simple_backward", "dedge_features", {"dedge_features": t(5, 1)}),
    ("gnn_agg_simple_backward", "dnode_features", {"dnode_features": t(2, 4)}),
    ("gnn_mha_gat_forward", "src_features", {"src_features": t(4)}),
    ("gnn_mha_gat_forward", "src_features", {"params": cudnn.GnnMhaParams(3)}),
    ("gnn_mha_gat_forward", "dst_features", {"dst_features": t(4, 4)}),
    ("gnn_mha_gat_forward", "attn_weights", {"attn_weights": t(4)}),
    ("gnn_mha_gat_forward", "edge_features", {"edge_features": t(5, 3)}),
    ("gnn_mha_gat_forward", "dropout_mask", {"dropout_mask": t(2, 5, dtype="float16")}),
    ("gnn_mha_gat_forward", "params", {"params": {"heads": 2}}),
    ("gnn_mha_gat_v2_forward", "edge_features", {"edge_features": t(5, 2)}),
    ("gnn_mha_gat_backward", "doutput", {"doutput": t(2, 3)}),
    ("gnn_mha_gat_backward", "dedge_features", {"dedge_features": t(5, 1)}),
    ("gnn_mha_gat_v2_backward", "act_scores", {"act_scores": t(3, 3)}),
)


def test_of_one_operation(named_cases: dict[str, Case]) -> None:
    wrong = []
    for operation, about, changes in WRONG:
        if operation in named_cases:
            made = {name: v() if callable(v) else v for name, v in changes.items()}
            error = refusal(named_cases[operation], **made)
            said = str(error)
            if not (about in said if isinstance(error, CudnnError) else said.startswith(about)):
                wrong.append(f"{operation} {changes}: {about}: {said}")
    assert not wrong, "\n".join(wrong)


def test_the_rows_are_of_operations(reference_handle: Handle) -> None:
    known: set[str] = set()
    for family in FAMILIES:
        with rows(family, reference_handle) as made:
            known.update(made)
    assert {operation for operation, *_ in WRONG} <= known
