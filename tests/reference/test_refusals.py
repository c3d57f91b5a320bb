"""What formulas refuse, by the name of the argument; each row is a call with one wrong argument."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import reference as ref
from cudnn_ctypes.reference import attention, causal_convolution, ctc, dropout, gnn
from cudnn_ctypes.reference.rnn import rnn_forward
from cudnn_ctypes.reference.rnn_network import RecurrentNetwork, weight_count, weights_in

FLAT, IMAGE = np.zeros((2, 3)), np.zeros((1, 1, 4, 4))
X, SCALE = np.zeros((4, 3, 2, 5)), np.ones((1, 3, 1, 1))
TAPS, SERIES, QUERIES = np.zeros((1, 1, 3, 3)), np.zeros((2, 3, 5)), np.zeros((2, 3, 2, 4))
GRID, PROBS = np.zeros((2, 3, 3, 2)), np.zeros((3, 1, 4))
ZEROS = (0, 0, 0, 0)
train = partial(ref.batch_normalization_forward_training, average_factor=1)
infer, gradient = ref.batch_normalization_forward_inference, ref.batch_normalization_backward
fused = partial(
    ref.convolution_bias_activation_forward,
    *(np.zeros((2, 4, 5, 6)), np.zeros((6, 2, 3, 3))),
    z=np.zeros((2, 6, 3, 6)),
    bias=np.zeros(6),
    padding=(1, 1),
    stride=(2, 1),
    groups=2,
)
direct = causal_convolution.causal_convolution_forward
by_fft = causal_convolution.fft_causal_convolution_forward
ATTENDED = attention.attention_forward(QUERIES, QUERIES, QUERIES)
CSC = gnn.GnnCscGraph(np.array([0, 2, 3]), np.array([0, 1, 1]), 2)
SOURCES = np.zeros((2, 6))
gat, gat_v2, Params = gnn.gnn_mha_gat_forward, gnn.gnn_mha_gat_v2_forward, gnn.GnnMhaParams
NETWORK = RecurrentNetwork("lstm", 3, 4, 2)
WEIGHTS = weights_in(NETWORK, np.zeros(weight_count(NETWORK)))
STEPS = np.zeros((5, 4, 3))
recur = partial(rnn_forward, NETWORK, WEIGHTS)


def attended(q: Any = QUERIES, k: Any = QUERIES, v: Any = QUERIES, **options: Any) -> Any:
    return attention.attention_forward(q, k, v, **options)


def network(**options: Any) -> RecurrentNetwork:
    return RecurrentNetwork(**{"cell": "lstm", "input_size": 3, "hidden_size": 4, **options})


Row = tuple[str, Callable[[], Any]]
# What blending refuses is in test_blending, and what shapes of convolutions in test_geometry.
REFUSALS: dict[str, tuple[Row, ...]] = {
    "activation": (
        ("activation must be one of identity", lambda: ref.activation_forward(FLAT, "gelu")),
        (
            "activation must be one of identity",
            lambda: ref.activation_backward("gelu", y=FLAT, dy=FLAT, x=FLAT),
        ),
        (
            r"dy must have the shape of x, \(2, 3\), got \(3, 2\)",
            lambda: ref.activation_backward("relu", y=FLAT, dy=FLAT.T, x=FLAT),
        ),
        ("y", lambda: ref.activation_backward("relu", y=FLAT.T, dy=FLAT, x=FLAT)),
    ),
    "softmax": (
        ("algorithm must be", lambda: ref.softmax_forward(FLAT, algorithm="quick")),
        ("mode must be", lambda: ref.softmax_backward(y=FLAT, dy=FLAT, mode="batch")),
        (r"dy must have the shape of y, \(2, 3\)", lambda: ref.softmax_backward(y=FLAT, dy=FLAT.T)),
        (".*N, C, spatial", lambda: ref.softmax_forward(np.zeros(3))),
    ),
    "pooling": (
        ("mode must be one of 'max'", lambda: ref.pooling_forward(IMAGE, (2, 2), mode="min")),
        ("window must hold one int for each of the 2", lambda: ref.pooling_forward(IMAGE, (2,))),
        ("window must hold ints of at least 1", lambda: ref.pooling_forward(IMAGE, (2, 0))),
        ("padding", lambda: ref.pooling_forward(IMAGE, (2, 2), padding=(0, 0, 0))),
        ("stride", lambda: ref.pooling_forward(IMAGE, (2, 2), stride=(0, 1))),
        ("window", lambda: ref.pooling_output_shape(IMAGE.shape, (5, 5))),
        (r"x must be \(N, C, spatial", lambda: ref.pooling_forward(FLAT, ())),
        ("y_shape", lambda: ref.pooling_forward(IMAGE, (2, 2), y_shape=(1, 2, 3, 3))),
        ("dy", lambda: ref.pooling_backward((2, 2), dy=np.zeros((2, 1, 3, 3)), x=IMAGE)),
    ),
    "local normalization": (
        *(
            (f"{option} must be", lambda f=formula, given=given: f(**given))
            for option, value in (("n", 0), ("n", 17), ("lrn_beta", 0.009), ("k", 0.0))
            for formula, given in (
                (ref.lrn_cross_channel_forward, {"x": X, option: value}),
                (ref.lrn_cross_channel_backward, {"x": X, "y": X, "dy": X, option: value}),
                (ref.divisive_normalization_forward, {"x": X, option: value}),
                (ref.divisive_normalization_backward, {"x": X, "dy": X, option: value}),
            )
        ),
        (r"x must be \(N, C", lambda: ref.lrn_cross_channel_forward(np.zeros(4))),
        ("y must have shape", lambda: ref.lrn_cross_channel_backward(x=X, y=X[:, :2], dy=X)),
        ("dy must have shape", lambda: ref.lrn_cross_channel_backward(x=X, y=X, dy=X[:, :2])),
        (r"x must be \(N, C", lambda: ref.divisive_normalization_forward(FLAT)),
        ("means must have shape", lambda: ref.divisive_normalization_forward(X, X[:, :2])),
        ("dy must have shape", lambda: ref.divisive_normalization_backward(x=X, dy=X[:, :2])),
    ),
    "batch normalization": (
        ("mode must be", lambda: train(X, SCALE, SCALE, mode="layer")),
        (r"x must be \(N, C", lambda: train(np.zeros(5), SCALE, SCALE)),
        (
            r"scale must have shape \(1, 3, 1, 1\), got \(3,\)",
            lambda: train(X, SCALE.ravel(), SCALE),
        ),
        ("bias", lambda: train(X, np.ones((1, 3, 2, 5)), SCALE, mode="per_activation")),
        ("running_mean and running_variance", lambda: train(X, SCALE, SCALE, running_mean=SCALE)),
        (
            "running_variance",
            lambda: train(X, SCALE, SCALE, running_mean=SCALE, running_variance=SCALE[0]),
        ),
        ("z must have shape", lambda: train(X, SCALE, SCALE, z=X[:1])),
        ("estimated_mean must have shape", lambda: infer(X, SCALE, SCALE, SCALE[0], SCALE)),
        ("dy must have shape", lambda: gradient(x=X, dy=X[:1], scale=SCALE)),
        (
            "saved_mean and saved_inv_variance",
            lambda: gradient(x=X, dy=X, scale=SCALE, saved_mean=SCALE),
        ),
        (
            "saved_inv_variance",
            lambda: gradient(x=X, dy=X, scale=SCALE, saved_mean=SCALE, saved_inv_variance=SCALE[0]),
        ),
    ),
    "dropout": (
        (r"mask must have shape \(2, 3\)", lambda: dropout.dropout_forward(FLAT, FLAT[0], 0.5)),
        ("mask", lambda: dropout.dropout_backward(0.5, dy=FLAT, mask=FLAT[0])),
    ),
    "spatial transformer": (
        ("theta", lambda: ref.spatial_tf_grid_generator_forward(FLAT, (4, 5))),
        ("size", lambda: ref.spatial_tf_grid_generator_forward(np.zeros((2, 2, 3)), (3, 4, 5))),
        ("dgrid", lambda: ref.spatial_tf_grid_generator_backward(dgrid=GRID[..., :1])),
        ("x", lambda: ref.spatial_tf_sampler_forward(X[0], GRID)),
        ("grid must have shape", lambda: ref.spatial_tf_sampler_forward(X[:2], GRID[0])),
        ("grid", lambda: ref.spatial_tf_sampler_forward(X[:2], GRID[:1])),
        ("dy", lambda: ref.spatial_tf_sampler_backward(x=X[:2], dy=X[:2], grid=GRID)),
    ),
    "tensors": (
        ("a", lambda: ref.add_tensor(X[:, :2], X)),
        ("a must have the shape", lambda: ref.add_tensor(np.zeros(5), X)),
        ("b must have the shape", lambda: ref.op_tensor("add", X, X[:1, :, :1, :2])),
        ("b must be given for mul", lambda: ref.op_tensor("mul", X)),
        ("op must be one of add, mul", lambda: ref.op_tensor("sub", X, X)),
        ("c must be given when beta", lambda: ref.op_tensor("not", X, beta=1.0)),
        ("c_shape", lambda: ref.reduce_tensor(X, (4, 2, 1, 1), "add")),
        ("c_shape must be", lambda: ref.reduce_tensor(X, (1,), "add")),
        ("op must be one of add, mul", lambda: ref.reduce_tensor(X, (1, 1, 1, 1), "median")),
        ("op must be one of min, max, amax", lambda: ref.reduce_indices(X, (1, 1, 1, 1), "add")),
        (
            "transform",
            lambda: ref.transform_tensor(X, ref.TensorTransform((0, 0, 0), (0, 0, 0), (2, 2))),
        ),
        (
            "transform",
            lambda: ref.transform_tensor(X, ref.TensorTransform(ZEROS, ZEROS, (2, 2, 2))),
        ),
    ),
    "convolution": (
        ("mode must be", lambda: ref.convolution_forward(IMAGE, TAPS, mode="correlation")),
        ("compute_dtype", lambda: ref.convolution_forward(IMAGE, TAPS, compute_dtype=np.float16)),
        ("dy", lambda: ref.convolution_backward_data(w=TAPS, dy=TAPS, dx_shape=IMAGE.shape)),
        ("dy", lambda: ref.convolution_backward_filter(x=IMAGE, dy=FLAT, dw_shape=TAPS.shape)),
        ("dy must be", lambda: ref.convolution_backward_bias(dy=FLAT)),
        ("stride", lambda: ref.convolution_forward(IMAGE, TAPS, stride=(1.5, 1))),
        ("padding", lambda: ref.convolution_forward(IMAGE, TAPS, padding=1)),
    ),
    "fused convolution": (
        (r"z must have shape \(2, 6, 3, 6\)", lambda: fused(z=np.zeros((2, 6, 3, 5)))),
        ("z must be given when alpha2", lambda: fused(z=None, alpha2=1.0)),
        (r"bias must have shape \(6,\) or \(1, 6, 1, 1\)", lambda: fused(bias=np.zeros(5))),
        ("activation must be one of identity, relu", lambda: fused(activation="gelu")),
        ("groups must divide", lambda: fused(groups=3)),
    ),
    "reordered filters": (
        *(
            ("w must have shape", lambda shape=shape: ref.reorder_filter(np.zeros(shape, np.int8)))
            for shape in ((32, 32, 3, 3), (16, 1, 1, 1, 32), (32, 8, 1, 1, 4))
        ),
        ("bias must have shape", lambda: ref.reorder_bias(np.zeros(48))),
        ("reordered must have shape", lambda: ref.restore_bias(np.zeros((2, 32)))),
    ),
    "causal convolution": (
        (r".*w \(dim, K\)", lambda: direct(SERIES, np.zeros((4, 2)))),
        ("bias must have shape", lambda: direct(SERIES, np.zeros((3, 2)), np.zeros(2))),
        ("activation must be", lambda: direct(SERIES, np.zeros((3, 2)), activation="relu")),
        (".*6 taps is longer than 5 steps", lambda: by_fft(SERIES, np.zeros((3, 6)))),
        (r".*w \(dim, K\)", lambda: by_fft(SERIES, np.zeros((4, 2)))),
    ),
    "attention": (
        ("q must be", lambda: attended(QUERIES[0])),
        ("k must have the batch of q", lambda: attended(k=QUERIES[:, :1])),
        ("v must have as many steps", lambda: attended(v=QUERIES[:1])),
        ("k must be as long as q", lambda: attended(k=QUERIES[..., :3])),
        (".*unknown names", lambda: attended(weights={"w": QUERIES})),
        *(
            (said, lambda name=name, shape=shape: attended(weights={name: np.zeros(shape)}))
            for said, name, shape in (
                (r"weights\['q_weights'\] must have shape", "q_weights", (1, 3, 5)),
                (r"weights\['q_biases'\] must have shape None", "q_biases", (1, 4, 1)),
                ("k must be as long as q after projection", "q_weights", (1, 3, 4)),
            )
        ),
        ("residuals must have shape", lambda: attended(residuals=QUERIES[:1])),
        (
            "dy",
            lambda: attention.attention_backward_data(
                **dict.fromkeys("qkv", QUERIES), dy=QUERIES[:1], attended=ATTENDED
            ),
        ),
    ),
    "CTC": (
        ("probs must be", lambda: ctc.ctc_loss(np.zeros((3, 2)), [[1]])),
        ("labels must have one sequence", lambda: ctc.ctc_loss(np.zeros((3, 2, 4)), [[1]])),
        (r"labels\[0\] must be from 1 to 3", lambda: ctc.ctc_loss(PROBS, [[4]])),
        (r"labels\[0\] must be from 1 to 3", lambda: ctc.ctc_loss(PROBS, [[0]])),
        ("input_lengths must be 1 ints from 1 to 3", lambda: ctc.ctc_loss(PROBS, [[1]], [4])),
        ("input_lengths", lambda: ctc.ctc_loss(PROBS, [[1]], [2, 2])),
        ("normalization must be", lambda: ctc.ctc_loss(PROBS, [[1]], normalization="sigmoid")),
    ),
    "GNN": (
        ("offsets", lambda: gnn.GnnCscGraph(np.array([0, 2]), CSC.indices, 2)),
        ("offsets must rise", lambda: gnn.GnnCscGraph(np.array([0, 4, 3]), CSC.indices, 2)),
        (".*sources from 0 to 0", lambda: gnn.GnnCscGraph(CSC.offsets, CSC.indices, 1)),
        ("edge_rows", lambda: gnn.GnnCscGraph(CSC.offsets, CSC.indices, 2, np.array([0, 0, 1]))),
        (".*node_features or edge_features", lambda: gnn.gnn_agg_simple_forward(CSC)),
        (
            "operation",
            lambda: gnn.gnn_agg_simple_forward(CSC, np.zeros((2, 1)), operation="product"),
        ),
        (
            ".*positions must be given for the max of nodes",
            lambda: gnn.gnn_agg_simple_backward(
                CSC, doutput=np.zeros((2, 1)), node_feat_dim=1, operation="max"
            ),
        ),
        (
            "6 features are not a multiple",
            lambda: gat_v2(CSC, SOURCES, SOURCES, np.zeros(16), params=Params(4)),
        ),
        (
            r".*weights must have shape \(12,\), got \(16,\)",
            lambda: gat(CSC, SOURCES, SOURCES, np.zeros(16), params=Params(2)),
        ),
        (
            r"attn_weights must have shape \(6,\)",
            lambda: gat_v2(CSC, SOURCES, SOURCES, np.zeros(5), params=Params(2)),
        ),
        ("unknown activation", lambda: gnn.activate(SOURCES, "gelu", 0.0)),
    ),
    "RNN": (
        (r"x must have shape \(T, B, 3\)", lambda: recur(np.zeros((5, 4, 2)))),
        *(
            ("lengths must be 4 ints from 0 to 5", lambda lengths=lengths: recur(STEPS, lengths))
            for lengths in ([5, 5, 5], [6, 1, 1, 1], [-1, 1, 1, 1])
        ),
        (r"hx must have shape \(2, 4, 4\)", lambda: recur(STEPS, hx=np.zeros((1, 4, 4)))),
        (r"cx must have shape \(2, 4, 4\)", lambda: recur(STEPS, cx=np.zeros((2, 3, 4)))),
        ("weights must be 2", lambda: rnn_forward(NETWORK, [], STEPS)),
        (
            r"weights\[1\]",
            lambda: rnn_forward(NETWORK, [WEIGHTS[0], replace(WEIGHTS[1], br=None)], STEPS),
        ),
        ("cell must be one of relu, tanh, lstm, gru", lambda: network(cell="elman")),
        ("bias must be one of no_bias, single_inp_bias", lambda: network(bias="single")),
        (".*must be at least 1", lambda: network(layers=0)),
        ("skip_input needs input_size == hidden_size", lambda: network(skip_input=True)),
        ("projection_size is for lstm", lambda: network(cell="gru", projection_size=2)),
    ),
}


@pytest.mark.parametrize("family", REFUSALS)
def test_wrong_arguments(family: str) -> None:
    wrong = []
    for said, call in REFUSALS[family]:
        try:
            call()
            wrong.append(f"{said}: nothing is refused")
        except (TypeError, ValueError) as error:
            if not re.match(said, str(error)):
                wrong.append(f"{said}: {error}")
    assert not wrong, "\n".join(wrong)
