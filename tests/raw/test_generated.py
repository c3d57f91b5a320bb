"""The generated files are what the generator writes, and its overrides cannot rot."""

from __future__ import annotations

import re

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.raw import origins
from cudnn_ctypes.raw.describe import facts_of

pytest.importorskip("clang.cindex", reason="needs libclang, which reads the headers")

from tools.generate import overrides
from tools.generate.__main__ import differences, generate
from tools.generate.facts import decide
from tools.generate.include import wheel_include
from tools.generate.model import Direction, Headers
from tools.generate.parse import parse

DECLARED = f"{raw.CUDNN_MAJOR}.{raw.CUDNN_MINOR}.{raw.CUDNN_PATCHLEVEL}"


@pytest.fixture(scope="module")
def headers() -> Headers:
    try:
        wheel_include("nvidia.cudnn")
        wheel_include("nvidia.cuda_nvcc")
    except (FileNotFoundError, ImportError) as reason:
        pytest.skip(f"needs the cuDNN headers and those of CUDA: {reason}")
    found = parse()
    if found.version != DECLARED:
        pytest.skip(f"layer 1 is generated from cuDNN {DECLARED}; {found.version} is installed")
    return found


@pytest.mark.soak
def test_the_files_are_what_the_generator_writes(headers):
    files = generate(headers)
    assert differences(files) == ""
    for name, text in files.items():
        assert f"of cuDNN {DECLARED}." in text or "/" in name
        assert "by ``python -m tools.generate``; do not edit." in text


@pytest.mark.parametrize(
    "table",
    [
        *("HOST_SCALARS", "HOST_MEMORY", "DEVICE_MEMORY", "DEVICE_ARRAYS", "FACTORS", "EXTENTS"),
        *("NOT_NULL", "NULLABLE", "MUST_BE_SET", "HALF_SET", "PADDING"),
    ],
)
def test_a_name_that_matches_nothing_is_an_error(headers, monkeypatch, table):
    monkeypatch.setattr(overrides, table, getattr(overrides, table) | {"noSuchParameter"})
    with pytest.raises(ValueError, match=f"{table}: 'noSuchParameter' matches nothing"):
        decide(headers)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("table", "value"),
    [
        ("LENGTHS", "nbDims"),
        ("TOO_LONG", "CUDNN_STATUS_BAD_PARAM"),
        ("TOLD_BY", "cudnnGetRNNWeightSpaceSize"),
        ("PER_SAMPLE", "xDesc"),
        ("SUM_OF", "labelLengths"),
        ("LENT", "2"),
        ("NEEDED_BY", "normOps"),
        ("MAY_BE_UNSET", ""),
        ("CARRIED_OUT", "rnn"),
        ("FOLLOWED", "rnn"),
        ("TAKEN_OVER", "backend"),
        ("NOTED", "dropout"),
        ("POINTEES", "cudnnTensorDescriptor_t"),
        ("DIRECTIONS", Direction.OUT),
        ("SINCE", "9.1.0"),
        ("REPLACED_BY", "cudnnCreate"),
        ("RENUMBERED", {"9.1.0": 3}),
    ],
)
def test_an_entry_that_matches_nothing_is_an_error(headers, monkeypatch, table, value):
    monkeypatch.setitem(getattr(overrides, table), "noSuchName", value)
    with pytest.raises(ValueError, match=f"{table}: 'noSuchName' matches nothing"):
        decide(headers)


def test_an_override_that_changes_nothing_is_an_error(headers, monkeypatch):
    monkeypatch.setitem(overrides.SINCE, "cudnnCausalConv1dForward", "9.22.0")
    monkeypatch.setitem(overrides.DIRECTIONS, "cudnnCreate.handle", Direction.OUT)
    with pytest.raises(ValueError, match="says what the headers say") as error:
        decide(headers)
    assert "DIRECTIONS['cudnnCreate.handle'] changes nothing" in str(error.value)


def test_undecided_memory_is_an_error(headers, monkeypatch):
    monkeypatch.setattr(overrides, "DEVICE_MEMORY", overrides.DEVICE_MEMORY - {"colBuffer"})
    with pytest.raises(ValueError, match=r"cudnnIm2Col\.colBuffer: void \*, in tables \[\]"):
        decide(headers)


def test_an_array_without_length_entry_is_an_error(headers, monkeypatch):
    monkeypatch.delitem(overrides.LENGTHS, "cudnnSetFilterNdDescriptor.filterDimA")
    with pytest.raises(ValueError, match=r"cudnnSetFilterNdDescriptor\.filterDimA: an array"):
        decide(headers)


def test_every_direction_that_a_header_tags_is_kept_or_overridden(headers):
    tagged = 0
    for function in headers.functions:
        ours = {p.name: p.direction for p in raw.FUNCTIONS[function.name].parameters}
        for parameter in function.parameters:
            if parameter.tag is None:
                continue
            tagged += 1
            keys = {parameter.name, f"{function.name}.{parameter.name}"}
            if not keys & overrides.DIRECTIONS.keys():
                assert ours[parameter.name].replace("/", "") == parameter.tag.value
    assert tagged == 1277


@pytest.mark.parametrize(
    ("function", "parameter", "direction"),
    [
        ("cudnnCreate", "handle", "out"),
        ("cudnnDestroy", "handle", "in"),
        ("cudnnSetTensor4dDescriptor", "tensorDesc", "in/out"),
        ("cudnnGetTensor4dDescriptor", "tensorDesc", "in"),
        ("cudnnGetTensor4dDescriptor", "nStride", "out"),
        ("cudnnConvolutionForward", "x", "in"),
        ("cudnnConvolutionForward", "y", "in/out"),
        ("cudnnConvolutionForward", "workSpace", "in/out"),
        # without tags in the headers
        ("cudnnCreateSeqDataDescriptor", "seqDataDesc", "out"),
        ("cudnnSetAttnDescriptor", "attnDesc", "in/out"),
        ("cudnnGetAttnDescriptor", "nHeads", "out"),
        ("cudnnSetSeqDataDescriptor", "paddingFill", "in"),
        ("cudnnGetMultiHeadAttnWeights", "wAddr", "out"),
        ("cudnnCausalConv1dNwhForward", "y", "out"),
        ("cudnnGnnAggSimpleForward", "graph", "in"),
    ],
)
def test_directions(function, parameter, direction):
    parameters = {p.name: p for p in raw.FUNCTIONS[function].parameters}
    assert parameters[parameter].direction == direction


def test_every_setter_and_destroyer_may_change_its_descriptor():
    handles = {"cudnnSetStream", "cudnnSetCallback", "cudnnDestroy", "cudnnSetTensor"}
    checked = 0
    for name in raw.FUNCTIONS.keys() - handles:
        if re.match("cudnn(Backend)?(Set|Destroy|Finalize|Initialize)|cudnnRNNSetClip", name):
            assert raw.FUNCTIONS[name].parameters[0].changes_descriptor, name
            checked += 1
    assert checked == 56


@pytest.mark.parametrize(
    ("function", "parameter", "declared"),
    [
        ("cudnnConvolutionForward", "alpha", "scalar"),
        ("cudnnConvolutionBiasActivationForward", "alpha2", "scalar"),
        ("cudnnSetTensor", "valuePtr", "scalar"),
        ("cudnnScaleTensor", "alpha", "scalar"),
        ("cudnnSetRNNDataDescriptor", "paddingFill", "scalar"),
        ("cudnnBackendSetAttribute", "arrayOfElements", "host"),
        ("cudnnSetCallback", "udata", "host"),
        ("cudnnSetFusedOpsConstParamPackAttribute", "param", "labelled"),
        ("cudnnSetDropoutDescriptor", "states", "device"),
        ("cudnnRNNForward", "devSeqLengths", "device"),
        ("cudnnSetRNNDataDescriptor", "seqLengthArray", "array"),
        ("cudnnCTCLoss", "hostLabels", "array"),
        ("cudnnCTCLoss_v8", "labels", "device"),
        ("cudnnMultiHeadAttnForward", "loWinIdx", "array"),
        ("cudnnMultiHeadAttnForward", "devSeqLengthsQO", "device"),
        ("cudnnGnnMhaGatForward", "dropoutMask", "device"),
    ],
)
def test_memory(function, parameter, declared):
    parameters = {p.name: p for p in raw.FUNCTIONS[function].parameters}
    assert parameters[parameter].type.kind == declared


def test_versions_and_deprecation_are_data():
    assert raw.cudnnCreate.since == "1.0.0"
    assert raw.cudnnCnnVersionCheck.since == "9.0.0"
    assert raw.cudnnCausalConv1dForward.since == "9.22.0"
    assert raw.cudnnGnnMhaGatForward.since == "9.28.0"
    assert not raw.cudnnCreate.deprecated
    assert raw.cudnnConvolutionForward.deprecated
    assert origins.SINCE["CUDNN_POINTWISE_ATAN2"] == "9.1.0"
    facts = {name: facts_of(name)[1] for name in ("CUDNN_DATA_FLOAT", "CUDNN_DATA_INT8")}
    assert facts == {"CUDNN_DATA_FLOAT": "1.0.0", "CUDNN_DATA_INT8": "6.0.0"}
    assert "CUDNN_STATUS_ALLOC_FAILED" in origins.REPLACED_BY
    assert "cudnnConvolutionDescriptor_t" in origins.REPLACED_BY
    assert origins.FORMER_VALUES["CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR"] == {"9.10.0": 40}
    for name in (*origins.SINCE, *origins.REPLACED_BY, *origins.FORMER_VALUES):
        assert hasattr(raw, name)


def test_what_replaces_deprecated_names():
    assert raw.cudnnRNNSetClip_v8.replaced_by == "cudnnRNNSetClip_v9"  # in the header
    operation = "CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR"
    assert raw.cudnnConvolutionForward.replaced_by == operation  # in the overrides
    assert raw.cudnnCreate.replaced_by == ""
    assert origins.REPLACED_BY["CUDNN_STATUS_INVALID_VALUE"] == "CUDNN_STATUS_BAD_PARAM"
    assert origins.REPLACED_BY["cudnnFilterDescriptor_t"] == "CUDNN_BACKEND_TENSOR_DESCRIPTOR"
    replacements = {f.replaced_by for f in raw.FUNCTIONS.values() if f.deprecated}
    replacements |= {*origins.REPLACED_BY.values()}
    for name in replacements - {""}:
        assert hasattr(raw, name)
        assert name not in origins.REPLACED_BY
    assert not [f for f in raw.FUNCTIONS.values() if f.replaced_by and not f.deprecated]


def test_a_replacement_of_what_is_not_deprecated_is_an_error(headers, monkeypatch):
    monkeypatch.setitem(overrides.REPLACED_BY, "cudnnCreate", "cudnnDestroy")
    with pytest.raises(ValueError, match="REPLACED_BY: 'cudnnCreate' needs no replacement"):
        decide(headers)


def test_every_type_names_its_header():
    classes = [name for name in origins.HEADERS if hasattr(raw, name)]
    assert len(classes) == 73 + 30 == len(origins.HEADERS)
    assert origins.HEADERS["cudnnDataType_t"] == "cudnn_graph.h"
    assert origins.HEADERS["cudnnRNNDescriptor_t"] == "cudnn_adv.h"
