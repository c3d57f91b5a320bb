"""Graphs that both front ends describe, and what each says of them.

Run it with NVIDIA's front end to write what the tests compare with::

    python tests/frontend/inspected_graphs.py > tests/frontend/inspected.json
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Describe = Callable[[Any, Any], None]
GRAPHS: dict[str, Describe] = {}


def graph(describe: Describe) -> Describe:
    GRAPHS[describe.__name__] = describe
    return describe


def image(g: Any, *dims: int, **more: Any) -> Any:
    _, c, h, w = dims
    return g.tensor(dim=list(dims), stride=[c * h * w, 1, c * w, c], **more)


def rows(g: Any, *dims: int, **more: Any) -> Any:
    strides = [1]
    for size in reversed(dims[1:]):
        strides.insert(0, strides[0] * size)
    return g.tensor(dim=list(dims), stride=strides, **more)


@graph
def convolutions(cudnn: Any, g: Any) -> None:
    x, w = image(g, 4, 16, 8, 8, name="x"), image(g, 32, 16, 3, 3)
    y = g.conv_fprop(x, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    bias = image(g, 1, 32, 1, 1)
    out = g.relu(g.bias(y, bias, name="add"), negative_slope=0.25)
    out.set_output(True)
    g.conv_dgrad(loss=y, filter=w, padding=[1, 1], out_dims=[4, 16, 8, 8])
    g.conv_wgrad(image=x, loss=y, pre_padding=[1, 1], post_padding=[0, 1], name="dw")


@graph
def norms(cudnn: Any, g: Any) -> None:
    x, one = rows(g, 8, 64, 1, 1), rows(g, 1, 64, 1, 1)
    epsilon = rows(g, 1, 1, 1, 1, is_pass_by_value=True)
    training = cudnn.norm_forward_phase.TRAINING
    g.layernorm(x, one, one, epsilon, training)
    g.rmsnorm(
        norm_forward_phase=cudnn.norm_forward_phase.INFERENCE, input=x, scale=one, epsilon=epsilon
    )
    _, mean, inv_var = g.layernorm(
        norm_forward_phase=training, input=x, scale=one, bias=one, epsilon=epsilon, name="ln"
    )
    g.layernorm_backward(grad=x, input=x, scale=one, mean=mean, inv_variance=inv_var)
    g.rmsnorm_backward(
        grad=x, input=x, scale=one, inv_variance=inv_var, has_dbias=False, name="rms"
    )
    g.batchnorm_inference(input=x, mean=mean, inv_variance=inv_var, scale=one, bias=one)
    g.batchnorm_backward(grad=x, input=x, scale=one, mean=mean, inv_variance=inv_var)


@graph
def shapes(cudnn: Any, g: Any) -> None:
    x = rows(g, 4, 8, 16)
    g.reshape(x, out_dims=[4, 128, 1])
    g.slice(x, slices=[slice(0, 2), slice(0, 8), slice(4, 16, 2)])
    g.transpose(x, permutation=[0, 2, 1], name="turn")
    g.reduction(x, mode=cudnn.reduction_mode.ADD, out_dims=[4, 8, 1])
    g.concatenate(inputs=[x, x], axis=1)
    g.genstats(image(g, 4, 16, 8, 8))
    g.rope(rows(g, 1, 2, 8, 16), rows(g, 1, 1, 8, 16), rope_dim=8)


@graph
def attention(cudnn: Any, g: Any) -> None:
    q, k, v = (rows(g, 2, 4, 64, 32, name=name) for name in "qkv")
    g.sdpa(q, k, v, generate_stats=False, attn_scale=0.125)
    o, stats = g.sdpa(q, k, v, generate_stats=True, attn_scale=0.125, name="attend")
    g.sdpa_backward(q, k, v, o, o, stats, attn_scale=0.125)


@graph
def pointwise(cudnn: Any, g: Any) -> None:
    x, y = rows(g, 2, 4, 8), rows(g, 2, 4, 8)
    g.add(a=x, b=y)
    g.add(x, y, name="named")
    g.max(input0=x, input1=y)
    g.cmp_gt(input=x, comparison=y)
    g.binary_select(x, y, g.cmp_lt(x, y))
    g.swish(x, swish_beta=0.5)
    g.gen_index(x, axis=1)
    g.leaky_relu_backward(x, y, negative_slope=0.5)
    g.matmul(A=x, B=rows(g, 2, 8, 4), name="product")
    g.tensor_scalar(2.0, cudnn.scalar_type.COMPILE_TIME_CONST)


@graph
def blocks(cudnn: Any, g: Any) -> None:
    x = rows(g, 1, 64, 64)
    g.block_scale_quantize(x, block_size=32, axis=2)
    g.block_scale_dequantize(x, rows(g, 1, 64, 2), block_size=[1, 32])
    token, weight, first = rows(g, 1, 64, 32), rows(g, 4, 32, 16), rows(g, 4, 1, 1)
    g.moe_grouped_matmul(
        token=token,
        weight=weight,
        first_token_offset=first,
        mode=cudnn.moe_grouped_matmul_mode.NONE,
    )
    g.moe_grouped_matmul_bwd(doutput=rows(g, 1, 64, 16), token=token, first_token_offset=first)


def told(cudnn: Any, describe: Describe) -> dict[str, Any]:
    """What a front end says of a graph, as JSON has it."""
    kinds = cudnn.data_type
    g = cudnn.pygraph(
        io_data_type=kinds.HALF, intermediate_data_type=kinds.FLOAT, compute_data_type=kinds.FLOAT
    )
    describe(cudnn, g)
    said = g.inspect()
    for node in said["nodes"]:
        node["params"] = {key: str(value) for key, value in node["params"].items()}
    return {
        "context": said["context"],
        "nodes": said["nodes"],
        "tensors": sorted(said["tensors"]),
        "inputs": [each.name for each in g.get_inputs()],
        "outputs": [each.name for each in g.get_outputs()],
    }


if __name__ == "__main__":
    import cudnn

    print(json.dumps({name: told(cudnn, each) for name, each in GRAPHS.items()}, indent=1))
