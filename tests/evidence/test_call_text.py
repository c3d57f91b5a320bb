"""Calls as lines: what a reader sees at a glance, in 100 columns."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes.evidence.records import Argument, CallRecord, argument_text, call_text, line

HALF = {"shape": [1, 64, 8, 8], "strides": [4096, 1, 512, 64], "data_type": "float16"}


def tensor(name: str, number: int = 1) -> Argument:
    return Argument(name, {"object": f"tensor{number}", "holds": {**HALF, "size_in_bytes": 8192}})


def memory(name: str, **said: Any) -> Argument:
    return Argument(name, {"allocation": name, "offset": 0, "nbytes": 8192, **said})


def call(*arguments: Argument, **said: Any) -> CallRecord:
    function = said.pop("function", "cudnnActivationForward")
    said = {"status": "SUCCESS", "seconds": 0.00021, "file": "/home/me/my_script.py", **said}
    return CallRecord(1, function, arguments, line=31, **said)


FORWARD = call(
    Argument("handle", {"object": "handle"}),
    Argument("activationDesc", {"object": "activation1", "holds": {"mode": "relu", "coef": 0.0}}),
    Argument("alpha", 1.0),
    tensor("xDesc"),
    memory("x"),
    Argument("beta", 0.0),
    tensor("yDesc", 2),
    memory("y"),
)


def test_a_launch() -> None:
    assert line(FORWARD) == (
        "cudnnActivationForward(handle, activationDesc={mode=relu, coef=0}, alpha=1,\n"
        "    xDesc=(1, 64, 8, 8) float16 NHWC, x=<x+0, 8 KiB>, beta=0, "
        "yDesc=(1, 64, 8, 8) float16 NHWC,\n"
        "    y=<y+0, 8 KiB>)                                     "
        "SUCCESS     0.210 ms  my_script.py:31"
    )


def test_in_one_line() -> None:
    assert "\n" not in line(FORWARD, 0)
    assert line(FORWARD, 0).endswith(")  SUCCESS     0.210 ms  my_script.py:31")


@pytest.mark.parametrize("width", [72, 100, 140])
def test_no_line_is_longer_than_the_width(width: int) -> None:
    many = Argument("values", [f"CUDNN_SOMETHING_{i}" for i in range(16)])
    for each in (FORWARD, call(many), call(failed=True, reason="because " * 40)):
        assert max(map(len, line(each, width).splitlines())) <= width


def test_status_and_time_are_below_each_other() -> None:
    rows = [line(each).splitlines()[-1] for each in (FORWARD, call(), call(tensor("xDesc")))]
    assert len({row.index("SUCCESS") for row in rows}) == 1


def test_breaking_lines_loses_nothing() -> None:
    for width in (50, 72, 100):
        rows = line(FORWARD, width).splitlines()
        joined = " ".join(row.strip() for row in rows)
        assert joined.replace("( ", "(").startswith(call_text(FORWARD))


def test_a_failure_says_why() -> None:
    failed = call(status="BAD_PARAM", failed=True, reason="nbDims > CUDNN_DIM_MAX")
    *_, last = line(failed).splitlines()
    assert last == "    ! nbDims > CUDNN_DIM_MAX"


def test_what_is_not_finite() -> None:
    bad = call(not_finite={"y": "3 NaN of 64"})
    assert line(bad).endswith("    ! not finite: y: 3 NaN of 64")


def test_without_a_place() -> None:
    assert line(call(file="")).endswith("at exit")


STRIDED = {"shape": [2, 3], "strides": [1, 2], "data_type": "float32"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "NULL"),
        (3, "3"),
        (0.5, "0.5"),
        ("CUDNN_DATA_HALF", "CUDNN_DATA_HALF"),
        ([1, 2], "[1, 2]"),
        ({"object": "tensor1"}, "tensor1"),
        ({"object": "tensor1", "holds": STRIDED}, "(2, 3) float32 strides (1, 2)"),
        (
            {"object": "convolution1", "holds": {"padding": [1, 1], "stride": [2, 1], "groups": 1}},
            "{padding=1, stride=(2, 1)}",
        ),
        ({"allocation": "w", "offset": 128, "nbytes": 36}, "<w+128, 36 B>"),
        ({"allocation": "w", "offset": 0}, "<w+0>"),
        (
            {"allocation": "w", "offset": 4, "nbytes": 24, **STRIDED},
            "<(2, 3) float32 strides (1, 2) at w+4>",
        ),
        ({"host": 1536}, "<host, 1.5 KiB>"),
        ({"struct": {"algo": "fft", "memory": 7}}, "{algo=fft, memory=7}"),
    ],
)
def test_values(value: Any, expected: str) -> None:
    assert argument_text(Argument("name", value)) == f"name={expected}"


def test_what_the_call_wrote() -> None:
    assert argument_text(Argument("sizeInBytes", 8, out=True)) == "sizeInBytes -> 8"


def test_typed_memory_beside_its_descriptor_is_not_described_twice() -> None:
    typed = call(tensor("xDesc"), memory("x", **HALF), memory("workSpace", **HALF))
    text = call_text(typed)
    assert "x=<x+0, 8 KiB>" in text
    assert "workSpace=<(1, 64, 8, 8) float16 NHWC at workSpace+0>" in text
