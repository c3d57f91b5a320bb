"""cuDNN's log read back: every graph of the tests, whole logs, and commands that take them."""

from __future__ import annotations

import ctypes
import gzip
import json
import math
import os
import threading
import warnings

import pytest
from graph.describe.test_damage import STORED
from graph.families import CASES, DISTINCT
from graph.fp8_attentions import FP8_BACKWARD

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.graph.backend.device_properties import as_properties
from cudnn_ctypes.graph.describe.serialization import canonical
from cudnn_ctypes.graph.lower.lowering import lowered

FINALIZE = "cudnnBackendFinalize"


@pytest.fixture(scope="module")
def h200():
    with as_properties("h200") as properties:
        yield properties


def log_of(graph, device):
    """The messages that cuDNN logs while a graph is lowered."""
    with warnings.catch_warnings(), cudnn.log_messages("info") as messages:
        warnings.simplefilter("ignore")
        with lowered(graph.expansion(device), device):
            pass
    return messages


def printed(messages):
    """What cuDNN prints of the operation graph, whose text is the oracle."""
    texts = [each.text for each in messages if each.function == FINALIZE]
    (text,) = (each for each in texts if "descriptor: type=CUDNN_BACKEND_OPERATIONGRAPH" in each)
    return text[: text.index("Time:")]


def content(graph):
    return canonical(graph.nodes, graph.tensors)


def lines_of(messages, letters="i"):
    """The messages as cuDNN writes them to a file."""
    for message in messages:
        first, *rest = message.text.split("\n")
        yield f"\n{letters.upper()}! {first}\n" + "".join(f"{letters}! {each}\n" for each in rest)


def chain(data_type="float16"):
    graph = cudnn.Graph(io_data_type=data_type)
    x = graph.tensor((2, 32, 8, 8), layout="nhwc")
    w = graph.tensor((16, 32, 3, 3), layout="nhwc")
    y = graph.conv_fprop(x, w, padding=1, stride=2)
    graph.swish(y, swish_beta=1.25).set_output()
    return graph


ALONE = [each for each in STORED if each.endswith("alone")]


@pytest.mark.thinned(7, always=ALONE)
@pytest.mark.parametrize("name", [*DISTINCT[::3], *ALONE])
def test_every_graph_comes_back(name, h200):
    alone = name in STORED
    messages = log_of(cudnn.Graph.from_json(STORED[name]) if alone else CASES[name].graph(), h200)
    (found,) = cudnn.read_evidence(messages).graphs
    again = log_of(found.graph, h200)
    assert printed(again) == printed(messages)
    (second,) = cudnn.read_evidence(again).graphs
    assert content(second.graph) == content(found.graph)
    assert content(cudnn.Graph.from_json(found.graph.to_json())) == content(found.graph)


@pytest.mark.soak
def test_a_graph_that_cudnn_prints_in_part(h200):
    """cuDNN cuts messages off at 64 KiB: what it printed of the graph is what it prints again."""
    graph = cudnn.Graph(io_data_type="float16")
    FP8_BACKWARD["e4m3"].backward(graph)
    messages = log_of(graph, h200)
    (found,) = cudnn.read_evidence(messages).graphs
    assert len(found.graph.nodes) == len(graph.expansion(h200).nodes)
    again = log_of(found.graph, h200)
    first, second = (
        max((each.text for each in log if each.function == FINALIZE), key=len)
        for log in (messages, again)
    )
    assert len(first) > 65_000
    assert first[:65_000] == second[:65_000]
    assert content(cudnn.read_evidence(again).graphs[0].graph) == content(found.graph)


def test_options_of_descriptors_that_are_printed_alike(h200):
    graph = CASES["attention, window"].graph()
    axes = [each.options.get("axis") for each in graph.expansion(h200).nodes]
    (found,) = cudnn.read_evidence(log_of(graph, h200)).graphs
    assert [each.options.get("axis") for each in found.graph.nodes] == axes
    assert {2, 3} < set(axes)


def test_a_refused_attribute_is_forgotten(h200):
    messages = log_of(chain(), h200)
    (place,) = (i for i, each in enumerate(messages) if "POINTWISE_SWISH_BETA" in each.text)
    again = messages[place].text.replace("val=1.25;", "val=9.5;")
    refusal = "CuDNN (v92800 42) function cudnnBackendSetAttribute() called:\n    "
    refusal += "Error: CUDNN_STATUS_BAD_PARAM; Reason: no\n" + again.split("\n")[-1]
    told = [cudnn.Message.of(3, again), cudnn.Message.of(1, refusal)]
    evidence = cudnn.read_evidence([*messages[: place + 2], *told, *messages[place + 2 :]])
    assert evidence.graphs[0].graph.nodes[1].options["swish_beta"] == 1.25
    assert list(evidence.errors) == ["cudnnBackendSetAttribute: CUDNN_STATUS_BAD_PARAM; Reason: no"]


def test_a_log_of_two_processes(tmp_path, h200):
    """Their messages alternate, the program prints between, and the file is cut off and packed."""
    one = list(lines_of(log_of(chain(), h200)))
    other = [each.replace("Process=", "Process=9") for each in one]
    mixed = [text for pair in zip(one, other, strict=True) for text in pair]
    mixed.insert(7, "epoch 1: loss 0.5! no message\n")
    prefixed = [f"[rank0]: {line}\n" for line in "".join(one[:3]).split("\n") if line]
    path = tmp_path / "cudnn.log.gz"
    path.write_bytes(gzip.compress("".join([*prefixed, *mixed, one[0][:80]]).encode()))
    evidence = cudnn.read_evidence(path)
    assert [each.times for each in evidence.graphs] == [2]
    assert evidence.calls.total() == 2 * len(one) + 3
    assert evidence.cut == 1
    path.write_bytes(path.read_bytes()[:-200])  # the end of the packed file is missing
    assert cudnn.read_evidence(path).calls.total() > 0


def test_a_log_that_begins_too_late(tmp_path, h200):
    """What was described before is unknown, which is said."""
    messages = log_of(chain(), h200)
    evidence = cudnn.read_evidence(messages[len(messages) // 2 :])
    assert not evidence.graphs
    assert evidence.unread.total() == 1
    assert "0 of 1 graphs were read" in evidence.heading


EXECUTION = """\
CuDNN (v92800 42) function cudnnBackendExecute() called:
    executionPlan: type=CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
        engcfg: type=CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
            opGraph: type=CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
{block}
            engine_id: type=int; val=4;
            knobDesc: type=cudnnBackendDescriptor_t:
                CUDNN_KNOB_TYPE_STAGES: type=int; val=3;
"""


def test_executions_name_the_engine_and_numbers(h200):
    graph = cudnn.Graph(io_data_type="float32")
    graph.mul(graph.tensor((4, 8, 8)), 0.125).set_output()
    messages = log_of(graph, h200)
    block = []
    for line in printed(messages).split("\n")[2:-1]:
        block.append(f"        {line}")
        if "isByVal: type=bool; val=true" in line:
            block.append(
                block[-1].replace("isByVal: type=bool; val=true", "value: type=float; val=0.125")
            )
    text = EXECUTION.format(block="\n".join(block)) + messages[-1].text.split("\n")[-1]
    (found,) = cudnn.read_evidence([*messages, cudnn.Message.of(3, text)]).graphs
    assert found.executions == 1
    assert dict(found.engines) == {"4 (stages=3)": 1}
    assert [each.value for each in found.graph.tensors if each.by_value] == [0.125]


def test_commands_take_a_log(tmp_path, h200, capsys):
    path = tmp_path / "cudnn.log"
    path.write_text("".join(lines_of([*log_of(chain(), h200), *log_of(chain("bfloat16"), h200)])))
    assert main(["explain", f"{path}#2", "--device", "h200", "--json"]) == 0
    told, said = capsys.readouterr()
    assert "2 of 2 graphs were read" in said
    assert "bfloat16" in json.dumps(json.loads(told)["operations"]) or json.loads(told)
    assert main(["judge", str(path)]) == 2
    assert "2 graphs: choose one, such as" in capsys.readouterr().err
    assert main(["explain", f"{path}#3", "--device", "h200"]) == 2
    assert "no #3" in capsys.readouterr().err


def test_a_graph_from_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(chain().to_json(),))
    writer.start()
    assert cudnn.read_evidence(pipe).graphs[0].graph.nodes[0].operation == "conv_fprop"
    writer.join()


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("cudnn is a library\n")
    with pytest.raises(ValueError, match=r"notes\.txt"):
        cudnn.read_evidence(path)


def test_the_calls_of_a_log(tmp_path, capsys):
    """A descriptor is set twice, once wrongly; the log is what the callback heard."""
    with (
        cudnn.log_messages("info", "error") as messages,
        cudnn.TensorDescriptor((2, 3, 4, 5)) as tensor,
    ):
        with cudnn.TensorDescriptor() as other:
            raw.cudnnSetTensor4dDescriptor.unchecked(other, 0, 0, 1, 0, 1, 1)
        with cudnn.ConvolutionDescriptor(padding=1) as convolution:
            sizes = (ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.c_int())
            with cudnn.FilterDescriptor((8, 3, 3, 3)) as weight:
                raw.cudnnGetConvolution2dForwardOutputDim(convolution, tensor, weight, *sizes)
    path = tmp_path / "cudnn.log"
    letters = {raw.CUDNN_SEV_ERROR: "e"}
    path.write_text(
        "".join(text for m in messages for text in lines_of([m], letters.get(m.severity, "i")))
    )
    calls = cudnn.read_trace(path)
    failed = [each for each in calls if each.failed]
    assert [(each.function, each.status) for each in failed] == [
        ("cudnnSetTensor4dDescriptor", "BAD_PARAM")
    ]
    assert "c <= 0" in failed[0].reason
    (asked,) = (each for each in calls if each.function.endswith("ForwardOutputDim"))
    (x,) = (each.value["holds"] for each in asked.arguments if each.name == "inputTensorDesc")
    assert (x["shape"], x["data_type"]) == ([2, 3, 4, 5], "float32")
    assert main(["trace", "--read", str(path), "--only", "GetConv*", "--width", "0"]) == 0
    assert "(2, 3, 4, 5) float32" in capsys.readouterr().out


def front_end_tensor(uid, dims, strides, virtual=False, value=None):
    """A tensor as NVIDIA's front end prints it."""
    return {
        "data_type": "FLOAT" if virtual or value else "HALF",
        "dim": dims,
        "is_pass_by_value": value is not None,
        "is_virtual": virtual,
        "name": f"t{uid}",
        "pass_by_value": None if value is None else {"index": 3, "value": value},
        "reordering_type": "NONE",
        "stride": strides,
        "uid": uid,
    }


@pytest.mark.parametrize("version", [1, 2])
def test_a_graph_that_nvidia_s_front_end_prints(version, tmp_path):
    """Convolution and scaled ReLU: nodes name tensors in version 1, and give uids in version 2."""
    tensors = [
        front_end_tensor(1, [2, 32, 8, 8], [2048, 1, 256, 32]),
        front_end_tensor(2, [16, 32, 3, 3], [288, 1, 96, 32]),
        front_end_tensor(3, [2, 16, 8, 8], [1024, 1, 128, 16], virtual=True),
        front_end_tensor(4, [1, 1, 1, 1], [1, 1, 1, 1], value="3E000000"),
        front_end_tensor(5, [2, 16, 8, 8], [1024, 1, 128, 16]),
    ]
    ref = (lambda uid: uid) if version == 2 else (lambda uid: f"t{uid}")
    window = {key: [1, 1] for key in ("pre_padding", "post_padding", "stride", "dilation")}
    nodes = [
        {"tag": "CONV_FPROP", "name": "conv", "compute_data_type": "FLOAT", **window}
        | {"inputs": {"X": ref(1), "W": ref(2)}, "outputs": {"Y": ref(3)}},
        {"tag": "POINTWISE", "mode": "MUL", "name": "", "relu_lower_clip": None}
        | {"inputs": {"IN_0": ref(3), "IN_1": ref(4)}, "outputs": {"OUT_0": ref(5)}},
    ]
    name = "a name" if version == 2 else ""
    context = {"io_data_type": "HALF", "compute_data_type": "FLOAT", "name": name}
    context["intermediate_data_type"] = "FLOAT" if version == 1 else None
    if version == 1:
        tensors[2]["data_type"] = None
    listed = tensors if version == 2 else {each["name"]: each for each in tensors}
    told = {"context": context, "nodes": nodes, "tensors": listed}
    path = tmp_path / "printed.log"
    path.write_text(f"[cudnn_frontend] VALIDATING GRAPH\n{json.dumps(told)}\nmore text {{")
    evidence = cudnn.read_evidence(path)
    (graph,) = (each.graph for each in evidence.graphs)
    assert graph.name == (name or "graph")
    types = graph.io_data_type, graph.intermediate_data_type, graph.compute_data_type
    between = raw.CUDNN_DATA_FLOAT if version == 1 else cudnn.Graph().intermediate_data_type
    assert types == (raw.CUDNN_DATA_HALF, between, raw.CUDNN_DATA_FLOAT)
    graph.validate()
    same = cudnn.Graph(io_data_type="float16")
    x = same.tensor((2, 32, 8, 8), layout="nhwc", uid=1)
    w = same.tensor((16, 32, 3, 3), layout="nhwc", uid=2)
    y = same.conv_fprop(x, w, padding=1, compute_data_type="float32").set_output(False, uid=3)
    same.mul(y, 0.125).set_output(uid=5)
    same.validate()
    assert [each.operation for each in graph.nodes] == ["conv_fprop", "mul"]
    assert [each.options for each in graph.nodes] == [each.options for each in same.nodes]
    assert sorted(map(str, content(graph)["tensors"])) == sorted(map(str, content(same)["tensors"]))
    nodes[0]["tag"] = "CONV_NEW"
    path.write_text(json.dumps(told))
    with pytest.raises(ValueError, match="operation CONV_NEW of NVIDIA's front end"):
        cudnn.read_evidence(path)


QKV = [[1, 2, 4, 8], [1, 2, 8, 6], [1, 2, 6, 8], [1, 2, 4, 8]]
PRINTED = {  # shapes of tensors, the printed node, and the same graph
    "reduction": (
        [[1, 4, 8], [1, 4, 1]],
        {"tag": "REDUCTION", "mode": "MAX", "inputs": {"X": 1}, "outputs": {"Y": 2}},
        lambda g, x: g.reduction(x, "max", axes=2),
    ),
    "statistics": (
        [[2, 8, 4, 4], [1, 8, 1, 1], [1, 8, 1, 1]],
        {"tag": "GENSTATS", "inputs": {"X": 1}, "outputs": {"SUM": 2, "SQ_SUM": 3}},
        lambda g, x: g.genstats(x),
    ),
    "matmul": (
        [[1, 4, 8], [1, 8, 2], [1, 4, 2]],
        {"tag": "MATMUL", "padding_value": 2.0, "inputs": {"A": 1, "B": 2}, "outputs": {"C": 3}},
        lambda g, a, b: g.matmul(a, b, padding=2.0),
    ),
    "layer norm": (
        [[2, 8, 1, 1], [1, 8, 1, 1], [1, 8, 1, 1], [1, 1, 1, 1], [2, 8, 1, 1]],
        {"tag": "LAYER_NORM", "forward_phase": "INFERENCE", "outputs": {"Y": 5}}
        | {"inputs": {"X": 1, "SCALE": 2, "BIAS": 3, "EPSILON": 4}},
        lambda g, x, scale, bias, epsilon: g.layernorm("inference", x, scale, bias, epsilon),
    ),
    "relu, backward": (
        [[1, 4, 8], [1, 4, 8], [1, 4, 8]],
        {"tag": "POINTWISE", "mode": "RELU_BWD", "relu_lower_clip": 0.5}
        | {"inputs": {"IN_0": 1, "IN_1": 2}, "outputs": {"OUT_0": 3}},
        lambda g, dy, x: g.relu_backward(dy, x, lower_clip=0.5),
    ),
    "attention": (  # whose keys building has exchanged
        QKV,
        {"tag": "SDPA_FWD", "causal_mask": True, "attn_scale_value": "3E000000"}
        | {"inputs": {"Q": 1, "K": 2, "V": 3}, "outputs": {"O": 4}},
        lambda g, q, k, v: g.sdpa(q, k, v, attn_scale=0.125, use_causal_mask=True),
    ),
}


def packed(dims):
    return [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]


@pytest.mark.parametrize("name", PRINTED)
def test_operations_that_nvidia_s_front_end_prints(name, tmp_path):
    dims, node, describe = PRINTED[name]
    tensors = [front_end_tensor(i, each, packed(each)) for i, each in enumerate(dims, 1)]
    if name == "statistics":
        tensors[1]["data_type"] = tensors[2]["data_type"] = "FLOAT"
    node = {"name": "", "compute_data_type": "FLOAT", **node}
    context = {"io_data_type": "HALF", "compute_data_type": "FLOAT", "name": ""}
    told, path = {"context": context, "nodes": [node], "tensors": tensors}, tmp_path / "it.json"
    path.write_text(json.dumps(told))
    (graph,) = (each.graph for each in cudnn.read_evidence(path).graphs)
    graph.validate()
    same = cudnn.Graph(io_data_type="float16", compute_data_type="float32")
    inputs = [same.tensor(dims[uid - 1], uid=uid) for uid in node["inputs"].values()]
    if name == "attention":
        inputs[1].dims, inputs[1].strides = (1, 2, 6, 8), (96, 48, 1, 6)
    results = describe(same, *inputs)
    results = results if isinstance(results, tuple) else (results,)
    for uid, y in zip(node["outputs"].values(), results, strict=False):
        y.set_output(uid=uid)
    same.validate()
    (one,), (other,) = graph.nodes, same.nodes
    assert one.kind is other.kind
    assert one.options.items() <= other.options.items()
    unread = other.options.keys() - one.options.keys()
    assert {each for each in unread if other.options[each]} <= {"axes"}  # which shapes tell
    assert sorted(map(str, content(graph)["tensors"])) == sorted(map(str, content(same)["tensors"]))
    node["inputs"]["NEW"] = 1
    path.write_text(json.dumps(told))
    with pytest.raises(ValueError, match=f"{node['tag']} with NEW is not known here"):
        cudnn.read_evidence(path)
