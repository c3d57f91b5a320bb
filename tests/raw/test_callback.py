"""cuDNN's log: its destinations and the user's callback, beside the exceptions that read it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from programs import printed, run_program

from cudnn_ctypes import raw

# The oracle: the same calls without this package.
PLAIN = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
x = ctypes.c_void_p()
library.cudnnGetVersion()
library.cudnnCreateTensorDescriptor(ctypes.byref(x))
library.cudnnSetTensor4dDescriptor(x, 0, 0, 1, 3, 0, 4)
library.cudnnDestroyTensorDescriptor(x)
"""
CALLS = """
x = raw.cudnnTensorDescriptor_t()
raw.cudnnCreateTensorDescriptor(x)
try:
    raw.cudnnSetTensor4dDescriptor(x, 0, 0, 1, 3, 0, 4)
except raw_errors.BadParamError as error:
    assert "(h <= 0)" in error.messages[-1]
    assert not any("Traceback" in message for message in error.messages)
else:
    raise AssertionError
raw.cudnnDestroyTensorDescriptor(x)
"""
HEAD = """
import ctypes
from cudnn_ctypes import errors as raw_errors, raw
"""
CHECKED = HEAD + CALLS

_VARYING = re.compile(r"Time: \S+ \(\S+|=\d+|0x[0-9a-f]+|.! (?=Time)")


def blocks(text: str) -> list[str]:
    """The log's messages about the calls, without times, addresses and numbers of processes."""
    found = [_VARYING.sub("", block) for block in text.split("\n\n") if block.strip()]
    return [block.strip("\n") for block in found if "Callback" not in block]


def logged(source: str, folder: Path, destination: str | None, level: str) -> list[str]:
    """What a program's run leaves at the destination."""
    environment = {"CUDNN_LOGLEVEL_DBG": level}
    if destination:
        environment["CUDNN_LOGDEST_DBG"] = destination
    done = run_program(source, str(raw.load().path), environment=environment, folder=folder)
    files = [file.read_text() for file in folder.iterdir()]
    return [
        *blocks(done.stdout),
        "/",
        *blocks(done.stderr),
        "/",
        *map("\n".join, map(blocks, files)),
    ]


@pytest.mark.thinned(12)
@pytest.mark.parametrize("destination", [None, "stdout", "stderr", "log.txt", "log%i.txt"])
@pytest.mark.parametrize("level", ["0", "1", "3"])
def test_the_log_is_written_as_without_this_package(tmp_path, destination, level):
    """And the exceptions have their reasons."""
    outputs = []
    for name, source in (("plain", PLAIN), ("checked", CHECKED)):
        folder = tmp_path / name
        folder.mkdir()
        if destination == "log.txt":
            (folder / destination).write_text("of an earlier process")
        outputs.append(logged(source, folder, destination, level))
    assert outputs[0] == outputs[1]
    assert (len("".join(outputs[0])) > 100) == (level != "0")


def test_a_destination_that_cannot_be_written(tmp_path: Path) -> None:
    """Setting any callback ends the process then, in cuDNN 9.28."""
    source = CHECKED.replace('"(h <= 0)" in error.messages[-1]', '"(h <= 0)" in error.detail')
    refused = """
try:
    raw.cudnnSetCallback(2, None, raw.cudnnCallback_t(lambda *_: None))
except raw_errors.NotSupportedError as error:
    print(error.messages[0])
"""
    environment = {"CUDNN_LOGLEVEL_DBG": "3"}
    for destination in ("/nowhere/log.txt", str(tmp_path)):
        environment["CUDNN_LOGDEST_DBG"] = destination
        done = run_program(source + refused, environment=environment)
        text = f"CUDNN_LOGDEST_DBG={destination} cannot be written: cuDNN would end the process\n"
        assert (done.stdout, done.stderr) == (text, "")


LISTENING = (
    HEAD
    + """
    @raw.cudnnCallback_t
    def hear(severity, data, debug, message):
        print(severity, data, int(debug.contents.cudnnStatus), message.decode().split()[4])
    mask, data, function = ctypes.c_uint(), ctypes.c_void_p(), raw.cudnnCallback_t()
    def state():
        raw.cudnnGetCallback(mask, data, function)
        address = ctypes.cast(function, ctypes.c_void_p).value
        mine = address == ctypes.cast(hear, ctypes.c_void_p).value
        print(mask.value, data.value, "mine" if mine else address)
    """
)


def program(*statements: str) -> str:
    """Statements, between which the calls are made."""
    return LISTENING.replace("\n    ", "\n") + "\n".join(
        f"{statement}\n{CALLS}" for statement in statements
    )


def test_a_callback_hears_its_level_and_exceptions_their_reasons() -> None:
    lines = printed(
        program(
            "state(); token = ctypes.c_void_p(77); "
            "raw.cudnnSetCallback(raw.CUDNN_SEV_ERROR_EN, token, hear); state()",
            "raw.cudnnSetCallback(raw.CUDNN_SEV_INFO_EN, None, hear)",
        )
    )
    failed = "cudnnSetTensor4dDescriptor()"
    assert lines == [
        "0 None None",
        "2 77 mine",
        f"1 77 2000 {failed}",
        "3 None 0 cudnnCreateTensorDescriptor()",
        f"3 None 0 {failed}",
        f"1 None 2000 {failed}",
        "3 None 0 cudnnDestroyTensorDescriptor()",
    ]


def test_without_a_callback_the_destination_is_written_again(tmp_path: Path) -> None:
    source = program(
        "raw.cudnnSetCallback(raw.CUDNN_SEV_ERROR_EN, None, hear)",
        "raw.cudnnSetCallback(0, None, raw.cudnnCallback_t()); state()",
    )
    done = run_program(source)
    assert done.stdout == "1 None 2000 cudnnSetTensor4dDescriptor()\n2 None None\n"
    assert done.stderr.count("E! CuDNN") == 1  # as cuDNN does, whatever the mask
    quiet = run_program(program("state()"))
    assert (quiet.stdout, quiet.stderr) == ("0 None None\n", "")


def test_a_callback_of_a_framework_stays(tmp_path: Path) -> None:
    """It was set before this package came."""
    source = f"""
import ctypes
kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
heard = kind(lambda severity, data, debug, message: print(severity, data))
library = ctypes.CDLL({str(raw.load().path)!r})
library.cudnnSetCallback(2, ctypes.c_void_p(5), heard)
"""
    assert printed(source + CHECKED) == ["1 5"]


def test_messages_at_exit_end_no_process() -> None:
    """Other clean-up at exit calls cuDNN when Python's callbacks are gone."""
    source = (
        program("raw.cudnnSetCallback(raw.CUDNN_SEV_ERROR_EN, None, hear)")
        + """
import atexit
class Late:
    def __del__(self, call=raw.load().cdll.cudnnSetTensor4dDescriptor):
        call(None, 0, 0, 1, 3, 0, 4)
import sys
sys.late = Late()
"""
    )
    done = run_program(source)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
