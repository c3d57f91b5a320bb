"""cuDNN's log as objects: messages, their nested arguments, and the callback that is put back."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from cudnn_ctypes import (
    BadParamError,
    Graph,
    LoggedArgument,
    Message,
    RNNDataDescriptor,
    TensorDescriptor,
    log_messages,
    raw,
)
from cudnn_ctypes.evidence.log_files import LogLines


@pytest.fixture
def descriptor():
    with TensorDescriptor() as made:
        yield made


def fail(descriptor: Any) -> None:
    """A call that cuDNN refuses: no channels."""
    raw.cudnnSetTensor4dDescriptor.unchecked(descriptor, 0, 0, 1, 0, 1, 1)


def callback() -> tuple[int, int | None]:
    mask, data, function = ctypes.c_uint(), ctypes.c_void_p(), raw.cudnnCallback_t()
    raw.cudnnGetCallback(mask, data, function)
    return mask.value, ctypes.cast(function, ctypes.c_void_p).value


def test_errors_are_heard(descriptor):
    started = datetime.now(timezone.utc)
    with log_messages() as messages:
        fail(descriptor)
        raw.cudnnGetTensorSizeInBytes.unchecked(descriptor, ctypes.c_size_t())
    (message,) = messages
    assert message.severity == raw.CUDNN_SEV_ERROR
    assert message.function == "cudnnSetTensor4dDescriptor"
    assert message.status == raw.CUDNN_STATUS_BAD_PARAM
    assert any("c <= 0" in reason for reason in message.reasons)
    assert (message.version, message.process) == (raw.cudnnGetVersion(), os.getpid())
    assert message.device is None
    assert timedelta(seconds=-1) < message.time - started < timedelta(minutes=1)
    assert str(message) == message.text
    assert message.text.count("\n") >= 3


TEXT = """CuDNN (v91900) function cudnnSetCallback() called:
    owner: type=CUDNN_BACKEND_ENGINE_DESCRIPTOR:
        isOn: type=bool; val=true;
        isOff: type=bool; val=false;
        mode: type=cudnnBackendHeurMode_t; val=CUDNN_HEUR_MODE_B (1);
        mask: type=unsigned; val=CUDNN_STATUS_BAD_PARAM|NAMES (0x11);
    name: type=string; val="a name";
    name: type=float; val=[0.5, -2,0x10];
    name: type=double; val=1e-3;
    handle: type=cudnnTensorDescriptor_t; val=4096;
    x: location=dev; addr=0x7f00;
Time: 2026-01-02T03:04:05.678900 (0d+0h+0m+1s since start)
Process=12; Thread=34; GPU=1; Handle=NULL; StreamId=NULL."""


def test_a_message_of_a_file():
    message = Message.of(3, TEXT)
    assert message == Message(
        raw.CUDNN_SEV_INFO,
        "cudnnSetCallback",
        91900,
        raw.CUDNN_STATUS_SUCCESS,
        datetime(2026, 1, 2, 3, 4, 5, 678_900),
        *(12, 34, 1, TEXT),
    )
    told = message.arguments
    assert {name: each.value for name, each in told["owner"].fields.items()} == {
        "isOn": True, "isOff": False, "mode": raw.CUDNN_HEUR_MODE_B, "mask": 17,
    }  # fmt: skip
    assert list(told["owner"]) == ["isOn", "isOff", "mode", "mask"]
    rest = {name: (each.type, each.value, each.location) for name, each in told.items()}
    assert rest == {
        "owner": ("CUDNN_BACKEND_ENGINE_DESCRIPTOR", None, ""),
        "name": ("string", "a name", ""),
        "name[1]": ("float", (0.5, -2, 16), ""),
        "name[2]": ("double", 0.001, ""),
        "handle": ("cudnnTensorDescriptor_t", 4096, ""),
        "x": ("", 0x7F00, "dev"),
    }
    assert [str(told[name]) for name in ("handle", "x", "name[2]")] == ["0x1000", "0x7f00", "0.001"]


@pytest.mark.parametrize("severity", raw.cudnnSeverity_t)
def test_a_message_in_lines_of_a_log(severity):
    """A line without its letter belongs to it, and what the program prints before does not."""
    lines, letter = LogLines(), "FEWI"[severity]
    text = [TEXT.split("\n")[0], "  n: type=int; val=3;", "Process=1; Thread=2; GPU=NULL"]
    log = ["epoch 1", f"{letter}! {text[0]}", text[1], f"[0]: {letter}! {text[2]}", "epoch 2"]
    (message,) = lines.messages(f"{line}\n" for line in log)
    assert (message.severity, message.text) == (severity, "\n".join(text))
    assert (lines.count, lines.cut) == (1, 0)
    assert list(lines.messages(log[1:3] * 2)) == []
    assert (lines.count, lines.cut) == (1, 2)


@pytest.mark.parametrize(
    ("severity", "line", "status"),
    [
        (3, "    status: type=cudnnStatus_t; val=CUDNN_STATUS_BAD_PARAM (2000);", "BAD_PARAM"),
        (2, "    Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: no", "NOT_SUPPORTED"),
        (1, "    Error: CUDNN_STATUS_OF_LATER; Reason: no", "SUCCESS"),
        (1, "", "SUCCESS"),
    ],
)
def test_the_status_in_a_message_of_a_file(severity, line, status):
    message = Message.of(severity, f"CUDNN_STATUS_BAD_PARAM\n{line}")
    known = message.function, message.version, message.time, message.process, message.thread
    assert known == ("", 0, datetime.min, 0, 0)
    assert (message.severity, message.device) == (severity, None)
    assert message.status == getattr(raw, f"CUDNN_STATUS_{status}")


def test_the_user_s_callback_stays(descriptor):
    heard = []

    @raw.cudnnCallback_t
    def hear(severity, *_):
        heard.append(severity)

    raw.cudnnSetCallback(raw.CUDNN_SEV_ERROR_EN, None, hear)
    try:
        before = callback()
        with log_messages("info") as messages:
            assert callback() == before
            fail(descriptor)
        assert callback() == before
        with pytest.raises(RuntimeError, match="in the block"), log_messages():
            raise RuntimeError("in the block")
        fail(descriptor)
    finally:
        raw.cudnnSetCallback(0, None, raw.cudnnCallback_t())
    assert heard == [raw.CUDNN_SEV_ERROR] * 2
    assert {message.severity for message in messages} == {raw.CUDNN_SEV_INFO}


def test_exceptions_keep_their_reasons(descriptor):
    for listen in (("info",), ("error",), ()):
        with log_messages(*listen), pytest.raises(BadParamError, match="c <= 0"):
            raw.cudnnSetTensor4dDescriptor(descriptor, 0, 0, 1, 0, 1, 1)
    with pytest.raises(BadParamError, match="c <= 0"):
        raw.cudnnSetTensor4dDescriptor(descriptor, 0, 0, 1, 0, 1, 1)


def test_what_a_listener_raises_comes_out(descriptor):
    def listen(message):
        raise KeyError(message.function)

    before = callback()
    block = log_messages(callback=listen)
    messages = block.__enter__()
    fail(descriptor)
    fail(descriptor)
    with pytest.raises(KeyError, match="cudnnSetTensor4dDescriptor"):
        block.__exit__(None, None, None)
    assert len(messages) == 2
    assert callback() == before


def test_wrong_severity():
    before = callback()
    with pytest.raises(ValueError, match="severities: expected one of"), log_messages("verbose"):
        pass
    assert callback() == before


def informed(messages: list[Message], function: str) -> Message:
    """The first message about a call."""
    return next(message for message in messages if message.function == function)


def test_null_is_none():
    with log_messages("info") as messages, RNNDataDescriptor([3, 2], 5):
        pass
    arguments = informed(messages, "cudnnSetRNNDataDescriptor").arguments
    assert arguments["seqLengthArray"].value == (3, 2)
    assert arguments["paddingFill"].value is None
    assert str(arguments["paddingFill"]) == "NULL"


@pytest.fixture(scope="module")
def built():
    """What cuDNN says while a graph of two operations is built for a GPU that is not here."""
    graph = Graph(io_data_type="half", intermediate_data_type="float", compute_data_type="float")
    x = graph.tensor((1, 8, 8, 8), layout="nhwc")
    w = graph.tensor((8, 8, 3, 3), layout="krsc")
    graph.relu(graph.conv_fprop(x, w, padding=1)).set_output()
    with log_messages("info", "warning", "error") as messages:
        graph.build("h200").close()
    return messages


def counted(arguments: Mapping[str, LoggedArgument]) -> int:
    return sum(1 + counted(each.fields) for each in arguments.values())


def test_no_line_of_a_build_is_lost(built):
    assert len(built) > 100
    for message in built:
        lines = [line for line in message.text.split("\n") if ": type=" in line]
        lines += [line for line in message.text.split("\n") if ": location=" in line]
        assert counted(message.arguments) == len(lines)


def test_operations_of_a_graph_have_their_own_fields(built):
    graph = next(
        message.arguments["descriptor"]
        for message in built
        if message.function == "cudnnBackendFinalize"
        and "descriptor" in message.arguments  # not in its warnings
        and message.arguments["descriptor"].type == "CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR"
    )
    convolution, relu = graph.fields.values()
    if next(iter(graph)) == "operation":  # cuDNN 9.14 names each after its kind
        assert list(graph) == ["operation", "operation[1]"]
    assert convolution["xDesc"]["dimA"].value == (1, 8, 8, 8)
    assert convolution["wDesc"]["dimA"].value == (8, 8, 3, 3)
    assert convolution["convDesc"]["strideA"].value == (1, 1)
    assert relu["pwDesc"]["mode"].value is raw.CUDNN_POINTWISE_RELU_FWD
    assert relu["xDesc"]["uid"] == convolution["yDesc"]["uid"]
    assert "wDesc" not in relu
    assert "mode=CUDNN_POINTWISE_RELU_FWD" in str(graph)


def test_a_missing_field_is_named():
    argument = LoggedArgument("cudnnFilterDescriptor_t", fields={"nbDims": LoggedArgument("int")})
    with pytest.raises(KeyError, match="strideA: this cudnnFilterDescriptor_t has nbDims"):
        argument["strideA"]
