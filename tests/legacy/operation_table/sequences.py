"""Recurrent networks, attention, CTC, and graph neural networks."""

from __future__ import annotations

import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor

from .. import small_attention
from .case import Case, Operands


def recurrent(o: Operands) -> dict[str, Case]:
    rnn = o.own(cudnn.RNNDescriptor("lstm", input_size=4, hidden_size=6, layers=2))
    weights, dweights = (o.own(cudnn.RNNWeights(o.handle, rnn)) for _ in range(2))
    weights.flat.copy_from(o.normal(*weights.flat.shape))
    dweights.zero()
    x, dy = o.normal(5, 3, 4), o.normal(5, 3, 6)
    hx, cx, dhy, dcy = (o.normal(2, 3, 6) for _ in range(4))
    network = o.own(cudnn.RNN.of(rnn, x, lengths=[5, 3, 2]))
    made = network.forward(o.handle, x, weights, hx=hx, cx=cx)
    saved = {"y": made.y, "reserve_space": made.reserve_space}
    gradients = {"dy": dy, "weights": weights, "hx": hx, "cx": cx, "dhy": dhy, "dcy": dcy, **saved}
    network.backward_data(o.handle, **gradients)
    return {
        "RNN.forward": o.case(network.forward, x, weights, hx=hx, cx=cx, training=False),
        "RNN.backward_data": o.case(network.backward_data, **gradients),
        "RNN.backward_weights": o.case(
            network.backward_weights, x=x, hx=hx, dweights=dweights, **saved
        ),
    }


def attention(o: Operands) -> dict[str, Case]:
    t, n, s = small_attention.TQ, small_attention.N, small_attention.TK
    attn = o.own(cudnn.AttnDescriptor(small_attention.HEADS, **small_attention.OPTIONS))
    weights = o.own(cudnn.AttentionWeights(o.handle, attn, small_attention.arrays()))
    given = {"q": o.normal(t, n, 6), "k": o.normal(s, n, 5), "v": o.normal(s, n, 4)}
    given |= {"attn": attn, "weights": weights}
    made = cudnn.attention_forward_training(o.handle, **given)
    backward = {**given, "dy": o.normal(t, n, 6), "reserve_space": made.reserve_space}
    cudnn.attention_backward_data(o.handle, **backward)
    dweights = o.own(cudnn.AttentionWeights(o.handle, attn, small_attention.arrays()))
    return {
        "attention_forward": o.case(cudnn.attention_forward, **given),
        "attention_forward_training": o.case(cudnn.attention_forward_training, **given),
        "attention_backward_data": o.case(cudnn.attention_backward_data, **backward),
        "attention_backward_weights": o.case(
            cudnn.attention_backward_weights, **backward, dweights=dweights
        ),
    }


def ctc(o: Operands) -> dict[str, Case]:
    probs = DeviceTensor.from_numpy(
        np.random.default_rng(0).dirichlet(np.ones(5), (6, 2)).astype("float32")
    )
    loss = o.own(cudnn.CTCLossDescriptor(max_label_length=5))
    return {
        "ctc_loss": o.case(cudnn.ctc_loss, probs, [[1, 2, 2], [4]], loss),
        "ctc_loss_v8": o.case(cudnn.ctc_loss_v8, probs, [[1, 2, 2], [4]], loss),
    }


def gnn_aggregation(o: Operands) -> dict[str, Case]:
    graph = cudnn.GnnCscGraph.from_edges([3, 0, 2, 1, 2], [1, 0, 1, 1, 0])
    nodes, doutput = o.normal(4, 4), o.normal(2, 4)
    return {
        "gnn_agg_simple_forward": o.on_stream(
            cudnn.gnn_agg_simple_forward, graph, nodes, operation="max"
        ),
        "gnn_agg_simple_backward": o.on_stream(
            cudnn.gnn_agg_simple_backward, graph, doutput=doutput, node_feat_dim=4
        ),
    }


def gnn_attention(o: Operands) -> dict[str, Case]:
    graph = cudnn.GnnCscGraph.from_edges([3, 0, 2, 1, 2], [1, 0, 1, 1, 0])
    given = {"src_features": o.normal(4, 4), "dst_features": o.normal(2, 4)}
    given |= {"params": cudnn.GnnMhaParams(2)}
    first, second = {"attn_weights": o.normal(8)}, {"attn_weights": o.normal(4)}
    stream = o.handle.stream
    one = cudnn.gnn_mha_gat_forward(graph, **given, **first, stream=stream)
    two = cudnn.gnn_mha_gat_v2_forward(graph, **given, **second, stream=stream)
    of_one = {"doutput": o.normal(2, 4), "sm_scores": one.sm_scores, "deterministic": True}
    of_two = {**of_one, "sm_scores": two.sm_scores, "act_scores": two.act_scores}
    return {
        "gnn_mha_gat_forward": o.on_stream(cudnn.gnn_mha_gat_forward, graph, **given, **first),
        "gnn_mha_gat_backward": o.on_stream(
            cudnn.gnn_mha_gat_backward, graph, **given, **first, **of_one
        ),
        "gnn_mha_gat_v2_forward": o.on_stream(
            cudnn.gnn_mha_gat_v2_forward, graph, **given, **second
        ),
        "gnn_mha_gat_v2_backward": o.on_stream(
            cudnn.gnn_mha_gat_v2_backward, graph, **given, **second, **of_two
        ),
    }
