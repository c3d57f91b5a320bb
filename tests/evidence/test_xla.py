"""Graphs of the calls of cuDNN in XLA's dumps, of JAX 0.8 on an H200, and of stored plans."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from cudnn_ctypes import DeviceTensor, Graph, Handle, raw, read_evidence
from cudnn_ctypes.__main__ import main

ALGORITHM = '"algorithm":{"algo_id":"22","tuning_knobs":{"13":"0","14":"3","2":"2"}}'
CONVOLUTIONS = f"""\
HloModule jit_conv, is_scheduled=true

ENTRY %main.8 (x.1: bf16[4,32,32,16], w.1: bf16[3,3,16,32]) -> bf16[4,32,32,16] {{
  %x.1 = bf16[4,32,32,16]{{3,2,1,0}} parameter(0), metadata={{op_name="x"}}
  %wrapped_transpose = bf16[32,3,3,16]{{3,2,1,0}} fusion(%w.1), kind=kCustom
  %cudnn-conv.1 = (bf16[4,32,32,32]{{3,2,1,0}}, u8[0]{{0}}) custom-call(%x.1, %wrapped_transpose), \
window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_o01i->b01f, \
custom_call_target="__cudnn$convForward", metadata={{op_name="a/b"}}, \
backend_config={{"cudnn_conv_backend_config":{{"activation_mode":"kNone",{ALGORITHM},\
"conv_result_scale":1,"side_input_scale":0}},"force_earliest_schedule":false}}
  %loop_select_fusion = bf16[4,32,32,32]{{3,2,1,0}} fusion(%cudnn-conv.1#0), kind=kLoop
  %bw-filter.1 = (bf16[32,3,3,16]{{3,2,1,0}}, u8[0]{{0}}) custom-call(%x.1, %loop_select_fusion), \
window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_o01i->b01f, \
custom_call_target="__cudnn$convBackwardFilter", \
backend_config={{"cudnn_conv_backend_config":{{{ALGORITHM}}}}}
  ROOT %bw-input.1 = (bf16[4,32,32,16]{{3,2,1,0}}, u8[0]{{0}}) custom-call(%cudnn-conv.1#0, \
%wrapped_transpose), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_o01i->b01f, \
custom_call_target="__cudnn$convBackwardInput", \
backend_config={{"cudnn_conv_backend_config":{{{ALGORITHM}}}}}
}}
"""
FUSED = """\
  %x = f16[2,8,9,9]{3,2,1,0} parameter(0)
  %w = f16[16,8,3,3]{3,2,1,0} parameter(1)
  %b = f32[16]{0} parameter(2)
  %y = (f16[2,16,4,4]{1,3,2,0}, u8[0]{0}) custom-call(%x, %w, %b), \
window={size=3x3 stride=2x2}, dim_labels=bf01_oi01->bf01, \
custom_call_target="__cudnn$convBiasActivationForward", \
backend_config={"cudnn_conv_backend_config":{"activation_mode":"kRelu","conv_result_scale":0.5}}
"""
ATTENTION = """\
  %q.1 = bf16[2,128,4,64]{3,2,1,0} parameter(0)
  %k.1 = bf16[2,96,4,64]{3,2,1,0} parameter(1)
  %fwd.5 = (bf16[2,4,128,64]{3,1,2,0}, f32[2,4,128]{2,1,0}, u8[256]{0}) custom-call(%q.1, %k.1, \
%k.1), custom_call_target="__cudnn$fmhaSoftmax", backend_config={"cudnn_fmha_backend_config":\
{"dropout_rate":0.0,"fmha_scale":0.125,"mask_type":"CAUSAL","sliding_window_length":0}}
  %do = bf16[2,128,4,64]{3,2,1,0} fusion()
  %o = bf16[2,128,4,64]{3,2,1,0} bitcast(%fwd.5#0)
  %bwd.8 = (bf16[2,4,128,64]{3,1,2,0}, bf16[2,4,96,64]{3,1,2,0}, bf16[2,4,96,64]{3,1,2,0}, \
u8[99]{0}) custom-call(%q.1, %k.1, %k.1, %fwd.5#1, %do, /*index=5*/%o), \
custom_call_target="__cudnn$fmhaSoftmaxBackward", backend_config={"cudnn_fmha_backend_config":\
{"dropout_rate":0,"fmha_scale":0.125,"mask_type":"NO_MASK"}}
"""


def read(tmp_path, text):
    path = tmp_path / "module_0001.jit_f.gpu_after_optimizations.txt"
    path.write_text(text)
    return read_evidence(path)


def test_convolutions(tmp_path):
    found = read(tmp_path, CONVOLUTIONS)
    assert found.heading.endswith("module of XLA: 3 of 3 graphs were read")
    assert [each.text for each in found.graphs] == [
        "conv_fprop: 4x16x32x32, 32x16x3x3, 4x32x32x32",
        "conv_wgrad: 4x16x32x32, 4x32x32x32, 32x16x3x3",
        "conv_dgrad: 4x32x32x32, 32x16x3x3, 4x16x32x32",
    ]
    assert {each.engine for each in found.graphs} == {"22 (tilek=0, stages=3, tile_size=2)"}
    assert {each.types for each in found.graphs} == {"bfloat16 NHWC"}
    for each in found.graphs:
        (node,) = each.graph.nodes
        names = ("pre_padding", "post_padding", "stride", "dilation")
        assert [node.options[name] for name in names] == [(1, 1)] * 4
        assert node.options["convolution_mode"] == raw.CUDNN_CROSS_CORRELATION
        (y,) = each.graph.outputs
        assert y.strides == (y.dims[1] * y.dims[2] * y.dims[3], 1, y.dims[1] * y.dims[3], y.dims[1])


def test_the_window_and_the_activation(tmp_path):
    window = "size=3x3 pad=0_1x2_3 stride=2x1 rhs_dilate=1x2 rhs_reversal=1x1"
    text = FUSED.replace("size=3x3 stride=2x2", window).replace("f16[2,16,4,4]", "f16[2,16,4,10]")
    operations = {}
    for mode in ("kNone", "kElu", "kRelu6"):
        scaled = text.replace('"conv_result_scale":0.5', '"conv_result_scale":1')
        (found,) = read(tmp_path, scaled.replace("kRelu", mode)).graphs
        operations[mode] = [each.operation for each in found.graph.nodes]
        assert found.engine == ""
    first, last = found.graph.nodes[0].options, found.graph.nodes[-1].options
    assert (first["pre_padding"], first["post_padding"]) == ((0, 2), (1, 3))
    assert (first["stride"], first["dilation"]) == ((2, 1), (1, 2))
    assert first["convolution_mode"] == raw.CUDNN_CONVOLUTION
    assert (last["lower_clip"], last["upper_clip"]) == (None, 6.0)
    both = ["conv_fprop", "add"]
    assert operations == {"kNone": both, "kElu": [*both, "elu"], "kRelu6": [*both, "relu"]}


def test_a_fused_convolution_computes_what_hlo_means(tmp_path, reference_device):
    (found,) = read(tmp_path, FUSED).graphs
    graph = found.graph
    assert [each.operation for each in graph.nodes] == ["conv_fprop", "mul", "add", "relu"]
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(each).astype("f2") for each in ((2, 8, 9, 9), (16, 8, 3, 3)))
    b = rng.standard_normal(16).astype("f4")
    windows = np.lib.stride_tricks.sliding_window_view(x.astype("f8"), (3, 3), (2, 3))
    products = np.einsum("nchwrs,kcrs->nkhw", windows[:, :, ::2, ::2], w)
    expected = np.maximum(0.5 * products + b[:, None, None], 0)
    inputs = [each for each in graph.inputs if not each.by_value]
    (output,) = graph.outputs
    memory = {
        each: DeviceTensor.from_numpy(value)
        for each, value in zip(inputs, (x, w, b.reshape(1, 16, 1, 1)), strict=True)
    }
    memory[output] = DeviceTensor.empty((2, 16, 4, 4), "float16", layout="NHWC")
    with Handle() as handle, graph.build(handle, without_engine=True) as plan:
        plan.execute(handle, {each.uid: value for each, value in memory.items()})
    assert output.strides == (256, 1, 64, 16)
    np.testing.assert_allclose(memory[output].numpy(), expected, rtol=2e-3, atol=1e-3)


def test_attention(tmp_path):
    found = read(tmp_path, ATTENTION)
    one, two = (each.graph for each in found.graphs)
    (node,) = one.nodes
    assert node.operation == "sdpa"
    assert (node.options["use_causal_mask"], node.options["attn_scale"]) == (True, 0.125)
    long, short = ((2, 4, 128, 64), (32768, 64, 256, 1)), ((2, 4, 96, 64), (24576, 64, 256, 1))
    stats = (2, 4, 128, 1), (512, 128, 1, 1)
    for graph, inputs, outputs in (
        (one, [long, short, short], [long, stats]),
        (two, [long, short, short, long, long, stats], [long, short, short]),
    ):
        assert sorted((x.dims, x.strides) for x in graph.inputs) == sorted(inputs)
        assert sorted((x.dims, x.strides) for x in graph.outputs) == sorted(outputs)
        types = {x.data_type.name: x.dims[3] for x in (*graph.inputs, *graph.outputs)}
        assert types == {"CUDNN_DATA_BFLOAT16": 64, "CUDNN_DATA_FLOAT": 1}
    assert not two.nodes[0].options.get("use_causal_mask")
    windowed = read(tmp_path, ATTENTION.replace('length":0', 'length":5')).graphs[0]
    assert windowed.graph.nodes[0].options["sliding_window_length"] == 5
    bare = read(tmp_path, ATTENTION.replace('"dropout_rate":0,', ""))
    assert [each.graph.to_json() for each in bare.graphs] == [one.to_json(), two.to_json()]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FUSED.replace("convBiasActivationForward", "norm"), "__cudnn$norm: such calls"),
        (FUSED.replace("%b = f32", "%c = f32"), "the shape of b is unknown"),
        (FUSED.replace("convBias", "convGraph"), "such calls are not read"),
        (FUSED.replace("convBias", "convOther"), "such convolutions are not read"),
        (FUSED.replace('scale":0.5', 'scale":1,"side_input_scale":1'), "a side input"),
        (FUSED.replace("kRelu", "kReluX"), "kReluX is not read"),
        (ATTENTION.replace("#1, %do,", "#1,"), "a bias or lengths of sequences"),
        (FUSED.replace("size=3x3", "size=3x3 lhs_dilate=2x2"), "a dilated image"),
        (ATTENTION.replace('"dropout_rate":0.0', '"dropout_rate":0.1'), "dropout is not read"),
        (ATTENTION.replace("CAUSAL", "PADDING"), "PADDING is not read"),
    ],
)
def test_what_is_not_read_is_said(tmp_path, text, why):
    found = read(tmp_path, text)
    assert found.unread.total() == 1
    assert why in next(iter(found.unread))


@pytest.mark.soak
def test_stored_plans_and_cases(tmp_path, capsys, reference_device):
    graph = Graph(io_data_type="float16")
    x, w = graph.tensor((2, 64, 8, 8), layout="nhwc"), graph.tensor((32, 64, 3, 3), layout="nhwc")
    graph.relu(graph.conv_fprop(x, w, padding=1)).set_output()
    plan = tmp_path / "x.plan.json"
    with graph.build("H200") as built:
        plan.write_text(built.to_json())
    found = read_evidence(plan)
    assert found.form == "stored plan"
    assert found.graphs[0].text == "conv_fprop + relu: 2x64x8x8, 32x64x3x3, 2x32x8x8"
    engine = json.loads(plan.read_text())["engine"]["engineId"]
    assert re.match(rf"{engine} \(\w+=-?\d+", found.graphs[0].engine)
    case = tmp_path / "x.case.json"
    assert main(["case", "save", str(plan), "-o", str(case)]) == 0
    capsys.readouterr()
    assert read_evidence(case).graphs[0].text == found.graphs[0].text
