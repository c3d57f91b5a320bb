"""Graphs that NVIDIA's front end 1.32 takes or refuses, where, and as what.

``outcome`` was asked of it for an H200 and cuDNN 9.28, whose places and classes stand here. It is
asked again by running this module where both front ends can be imported.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

STEPS = ("describe", "validate", "build_operation_graph", "create_execution_plans", "")
Describe = Callable[[Any, Any, Callable[..., Any]], None]


def lengths(cudnn: Any, new: Any) -> Any:
    return new((2, 1, 1, 1), "INT32")


def pages(cudnn: Any, new: Any) -> Any:
    return new((2, 1, 2, 1), "INT32")


def dropout(cudnn: Any, new: Any) -> Any:
    return 0.1, new((1, 1, 1, 1), "INT64"), new((1, 1, 1, 1), "INT64")


def bias(cudnn: Any, new: Any) -> Any:
    return new((1, 4, 128, 128))


def numbers(cudnn: Any, new: Any) -> Any:
    return new((2, 4, 128, 1), "FLOAT")


def sink(cudnn: Any, new: Any) -> Any:
    return new((1, 4, 1, 1), "FLOAT")


def unified(cudnn: Any, new: Any) -> Any:
    return cudnn.attention_implementation.UNIFIED


def filled(options: dict[str, Any], cudnn: Any, new: Any) -> dict[str, Any]:
    return {key: each(cudnn, new) if callable(each) else each for key, each in options.items()}


def forward(*, dims: tuple[int, ...] = (2, 4, 4, 128, 128, 64, 64), **options: Any) -> Describe:
    b, h, h_kv, s_q, s_kv, d, d_v = dims

    def describe(cudnn: Any, graph: Any, new: Any) -> None:
        heads = new((b, h, s_q, d)), new((b, h_kv, s_kv, d)), new((b, h_kv, s_kv, d_v))
        given = {"generate_stats": True, **filled(options, cudnn, new)}
        o, stats = graph.sdpa(*heads, attn_scale=0.125, name="attend", **given)
        o.set_output(True).set_dim([b, h, s_q, d_v]).set_stride([h * s_q * d_v, s_q * d_v, d_v, 1])
        if stats is not None:
            stats.set_output(True).set_data_type(cudnn.data_type.FLOAT)

    return describe


def backward(*, dims: tuple[int, ...] = (2, 4, 4, 128, 128, 64, 64), **options: Any) -> Describe:
    b, h, h_kv, s_q, s_kv, d, d_v = dims

    def describe(cudnn: Any, graph: Any, new: Any) -> None:
        q, k, v = new((b, h, s_q, d)), new((b, h_kv, s_kv, d)), new((b, h_kv, s_kv, d_v))
        o, do, stats = new((b, h, s_q, d_v)), new((b, h, s_q, d_v)), new((b, h, s_q, 1), "FLOAT")
        given = filled(options, cudnn, new)
        results = graph.sdpa_backward(
            q, k, v, o, do, stats, attn_scale=0.125, name="attend", **given
        )
        sizes = ((h, s_q, d), (h_kv, s_kv, d), (h_kv, s_kv, d_v))
        for each, (heads, tokens, size) in zip(results, sizes, strict=True):
            stride = [heads * tokens * size, tokens * size, size, 1]
            each.set_output(True).set_dim([b, heads, tokens, size]).set_stride(stride)

    return describe


def product(cudnn: Any, graph: Any, new: Any) -> None:
    graph.matmul(new((2, 8, 16)), new((2, 8, 16)), name="product").set_output(True)


def sum_of_strangers(cudnn: Any, graph: Any, new: Any) -> None:
    graph.add(new((2, 8, 16)), new((2, 5, 16)), name="sum").set_output(True)


def doubles(cudnn: Any, graph: Any, new: Any) -> None:
    a, b = new((2, 8, 16), "DOUBLE"), new((2, 16, 8), "DOUBLE")
    graph.matmul(a, b, name="product").set_output(True).set_data_type(cudnn.data_type.DOUBLE)


def without_dims(cudnn: Any, graph: Any, new: Any) -> None:
    weight = new((32, 16, 3, 3))
    graph.conv_dgrad(new((4, 32, 8)), weight, padding=[1], name="dx").set_output(True)


def turned(cudnn: Any, graph: Any, new: Any) -> None:
    x, freqs = new((1, 2, 64, 64)), new((1, 1, 64, 64), "FLOAT")
    graph.rope(x, freqs, name="turn").set_output(True)


def combined(cudnn: Any, graph: Any, new: Any) -> None:
    token, weight, first = new((1, 64, 32)), new((4, 32, 16)), new((4, 1, 1), "INT32")
    mode = cudnn.moe_grouped_matmul_mode.COMBINE
    graph.moe_grouped_matmul(token, weight, first, mode=mode, name="moe").set_output(True)


PADDED = {"use_padding_mask": True, "seq_len_q": lengths, "seq_len_kv": lengths}
TABLES = dict.fromkeys(("paged_attention_k_table", "paged_attention_v_table"), pages)
BOTH = {"use_causal_mask": True, "use_causal_mask_bottom_right": True}
PARTS = {"generate_stats": False, "score_max": numbers, "score_sum_exp": numbers}
PLAIN = "", "works"
UNPLANNED = "create_execution_plans", "not supported"
REFUSED = "validate", "not supported"
INVALID = "validate", "invalid"
CASES: dict[str, tuple[Describe, tuple[str, str]]] = {
    "attention": (forward(), PLAIN),
    "causal": (forward(use_causal_mask=True), PLAIN),
    "causal from the end": (forward(use_causal_mask_bottom_right=True), PLAIN),
    "both": (forward(**BOTH), ("describe", "invalid")),
    "odd head size": (forward(dims=(2, 4, 4, 128, 128, 63, 63)), REFUSED),
    "head size 512": (forward(dims=(2, 4, 4, 128, 128, 512, 512)), PLAIN),
    "groups": (forward(dims=(2, 4, 2, 128, 128, 64, 64)), PLAIN),
    "uneven groups": (forward(dims=(2, 4, 3, 128, 128, 64, 64)), REFUSED),
    "right bound -1": (forward(diagonal_band_right_bound=-1), INVALID),
    "lengths": (forward(**PADDED), PLAIN),
    "no lengths": (forward(use_padding_mask=True), INVALID),
    "lengths without padding": (forward(seq_len_q=lengths, seq_len_kv=lengths), INVALID),
    "one length": (forward(use_padding_mask=True, seq_len_q=lengths), INVALID),
    "dropout": (forward(dropout=dropout), PLAIN),
    "bias": (forward(bias=bias), PLAIN),
    "sink": (forward(sink_token=sink), PLAIN),
    "parts of the statistics": (forward(**PARTS), PLAIN),
    "pages without lengths": (forward(**TABLES, paged_attention_max_seq_len_kv=256), REFUSED),
    "a block mask": (
        forward(block_mask=lambda cudnn, new: new((2, 4, 1, 1), "UINT8")),
        UNPLANNED,
    ),
    "one operation": (forward(implementation=unified), PLAIN),
    "one operation with alibi": (forward(implementation=unified, use_alibi_mask=True), REFUSED),
    "gradients": (backward(), PLAIN),
    "gradients of bias": (backward(bias=bias, dBias=bias), PLAIN),
    "gradients of odd size": (backward(dims=(2, 4, 4, 128, 128, 63, 63)), REFUSED),
    "gradients with lengths": (backward(**PADDED), PLAIN),
    "gradients without lengths": (backward(use_padding_mask=True), INVALID),
    "gradients with alibi alone": (backward(use_alibi_mask=True), REFUSED),
    "a product that does not fit": (product, ("build_operation_graph", "invalid")),
    "a sum that does not fit": (sum_of_strangers, INVALID),
    "a product of doubles": (doubles, UNPLANNED),
    "a gradient without dims": (without_dims, INVALID),
    "rotated": (turned, UNPLANNED),
    "combined experts": (combined, INVALID),
}


def outcome(cudnn: Any, graph: Any, describe: Describe) -> tuple[str, str]:
    """At which step a graph is refused, "" if at none, and as what."""
    uids = iter(range(1, 100))

    def new(dims: tuple[int, ...], data_type: str = "HALF") -> Any:
        strides = [1]
        for size in reversed(dims[1:]):
            strides.insert(0, strides[0] * size)
        make = getattr(graph, "_make_tensor", None) or graph.tensor
        kind = getattr(cudnn.data_type, data_type)
        return make(dim=list(dims), stride=strides, data_type=kind, uid=next(uids))

    step = STEPS[0]
    try:
        describe(cudnn, graph, new)
        for step in STEPS[1:-1]:
            modes = [[cudnn.heur_mode.A]] if step == "create_execution_plans" else []
            getattr(graph, step)(*modes)
    except cudnn.cudnnGraphNotSupportedError:
        return step, "not supported"
    except (RuntimeError, ValueError):
        return step, "invalid"
    return PLAIN


def nvidias_graph(cudnn: Any, gpu: str) -> Any:
    """Of its compiled part, which needs no GPU if it is told of one."""
    return cudnn._pybind_module.backend_graph(
        io_data_type=cudnn.data_type.HALF,
        intermediate_data_type=cudnn.data_type.FLOAT,
        compute_data_type=cudnn.data_type.FLOAT,
        device_property=cudnn.create_device_properties(gpu),
        sm_version=90,
    )


def asked() -> dict[str, tuple[str, str]]:
    """What NVIDIA's front end says; ours has put a stand-in for the driver where there is none."""
    from cudnn_ctypes import DeviceProperties

    gpu = DeviceProperties.preset("h200").to_json()
    import cudnn

    return {
        name: outcome(cudnn, nvidias_graph(cudnn, gpu), describe)
        for name, (describe, _) in CASES.items()
    }


if __name__ == "__main__":
    print(json.dumps(asked()))
