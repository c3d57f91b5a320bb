"""cuDNN's log as objects, and the callback that is put back."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from cudnn_ctypes import BadParamError, Message, TensorDescriptor, log_messages, raw


@pytest.fixture
def descriptor() -> Iterator[Any]:
    with TensorDescriptor() as made:
        yield made


def fail(descriptor: Any) -> None:
    """A call that cuDNN refuses: no channels."""
    raw.cudnnSetTensor4dDescriptor.unchecked(descriptor, 0, 0, 1, 0, 1, 1)


def callback() -> tuple[int, int | None]:
    mask, data, function = ctypes.c_uint(), ctypes.c_void_p(), raw.cudnnCallback_t()
    raw.cudnnGetCallback(mask, data, function)
    return mask.value, ctypes.cast(function, ctypes.c_void_p).value


def test_errors_are_heard(descriptor: Any) -> None:
    started = datetime.now(timezone.utc)
    with log_messages() as messages:
        fail(descriptor)
        raw.cudnnGetTensorSizeInBytes.unchecked(descriptor, ctypes.c_size_t())
    (message,) = messages
    assert message.severity == raw.CUDNN_SEV_ERROR
    assert message.function == "cudnnSetTensor4dDescriptor"
    assert message.status == raw.CUDNN_STATUS_BAD_PARAM
    assert any("c <= 0" in reason for reason in message.reasons)
    assert message.process == os.getpid()
    assert message.device is None
    assert abs(message.time - started) < timedelta(minutes=1)
    assert str(message).count("\n") >= 3


def test_information_names_arguments(descriptor: Any) -> None:
    with log_messages("info") as messages:
        raw.cudnnSetTensor4dDescriptor(descriptor, 0, 0, 2, 3, 4, 5)
    message = messages[0]  # cuDNN goes on with calls of its own
    assert message.function == "cudnnSetTensor4dDescriptor"
    assert message.severity == raw.CUDNN_SEV_INFO
    assert message.arguments["c"].value == 3
    assert message.arguments["format"].value == raw.CUDNN_TENSOR_NCHW
    assert not message.reasons


def test_the_user_s_callback_stays(descriptor: Any) -> None:
    heard: list[int] = []

    @raw.cudnnCallback_t
    def hear(severity: int, *_: Any) -> None:
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


def test_exceptions_keep_their_reasons(descriptor: Any) -> None:
    for listen in (("info",), ("error",), ()):
        with log_messages(*listen), pytest.raises(BadParamError, match="c <= 0"):
            raw.cudnnSetTensor4dDescriptor(descriptor, 0, 0, 1, 0, 1, 1)
    with pytest.raises(BadParamError, match="c <= 0"):
        raw.cudnnSetTensor4dDescriptor(descriptor, 0, 0, 1, 0, 1, 1)


def test_blocks_may_nest(descriptor: Any) -> None:
    with log_messages("error") as outer:
        with log_messages("info") as inner:
            fail(descriptor)
        fail(descriptor)
    assert [message.severity.name for message in inner] == ["CUDNN_SEV_INFO"]
    assert len(outer) == 2
    assert all(message.severity == raw.CUDNN_SEV_ERROR for message in outer)


def test_a_function_may_listen(descriptor: Any) -> None:
    heard: list[Message] = []
    with log_messages(callback=heard.append) as messages:
        fail(descriptor)
    assert heard == messages


def test_what_a_listener_raises_comes_out(descriptor: Any) -> None:
    def listen(message: Message) -> None:
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


def test_all_threads_are_heard(descriptor: Any) -> None:
    with log_messages() as messages:
        threads = [threading.Thread(target=fail, args=(descriptor,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({message.thread for message in messages}) == 4


def test_wrong_severity() -> None:
    before = callback()
    with pytest.raises(ValueError, match="severities: expected one of"), log_messages("verbose"):
        pass
    assert callback() == before
