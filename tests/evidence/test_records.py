"""Records of calls: as lines of 100 columns, and two runs side by side."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.evidence.memory import Places, find
from cudnn_ctypes.evidence.records import (
    Argument,
    CallRecord,
    Sums,
    argument_text,
    call_text,
    compare,
    line,
)
from cudnn_ctypes.runtime import CudaError, cuda

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


def test_a_call_in_lines_of_a_width():
    assert line(FORWARD, 72) == """\
cudnnActivationForward(handle, activationDesc={mode=relu, coef=0},
    alpha=1, xDesc=(1, 64, 8, 8) float16 NHWC, x=<x+0, 8 KiB>, beta=0,
    yDesc=(1, 64, 8, 8) float16 NHWC, y=<y+0, 8 KiB>)
                            SUCCESS     0.210 ms  my_script.py:31"""  # fmt: skip


def test_the_end_of_a_line_is_where_there_is_room():
    """A call of 7 columns, two between, and 44 of status, time and place."""
    short = call(Argument("n", 12), function="f", file="/a_script_of_a_long_name.py", seconds=1.5)
    end = "SUCCESS      1.500 s  …_of_a_long_name.py:31"
    assert line(short, 53) == f"f(n=12)  {end}"
    assert line(short, 52) == f"f(n=12)\n        {end}"
    assert line(short, 0) == f"f(n=12)  {end}"
    exits = call(function="f", file="", seconds=0.9996)
    assert line(exits) == f"{'f()':56}SUCCESS   999.600 ms  at exit"


@pytest.mark.parametrize("width", [72, 100, 140])
def test_no_line_is_longer_than_the_width(width):
    many = Argument("values", [f"CUDNN_SOMETHING_{i}" for i in range(16)])
    for each in (FORWARD, call(many), call(failed=True, reason="because " * 40)):
        assert max(map(len, line(each, width).splitlines())) <= width


def test_a_failure_says_why():
    failed = call(status="BAD_PARAM", failed=True, reason="nbDims >\n  CUDNN_DIM_MAX")
    for width in (100, 0):
        _, last = line(failed, width).splitlines()
        assert last == "    ! nbDims > CUDNN_DIM_MAX"
    _, _, *rows = line(call(failed=True, reason="too many " * 9), 50).splitlines()
    words = ["too many"] * 9
    assert rows == ["    ! " + " ".join(words[:5]), "      " + " ".join(words[5:])]
    assert len(line(call(failed=True, reason="too many " * 90), 50).splitlines()) == 7


def test_what_is_not_finite():
    bad = call(not_finite={"y": "3 NaN of 64"})
    assert line(bad).splitlines()[1:] == ["    ! not finite: y: 3 NaN of 64"]


def test_a_record_is_data_for_json():
    record = call(Argument("n", 3), Argument("count", [4], out=True), not_finite={"y": "1 NaN"})
    data = record.as_dict()
    listed = [{"name": "n", "value": 3}, {"name": "count", "value": [4], "out": True}]
    assert data == dataclasses.asdict(record) | {"arguments": listed}
    assert CallRecord.from_dict(data) == record


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
        ({"host": 1023}, "<host, 1023 B>"),
        ({"host": 1536}, "<host, 1.5 KiB>"),
        ({"host": 1 << 20}, "<host, 1 MiB>"),
        ({"host": 5 << 29}, "<host, 2.5 GiB>"),
        ({"struct": {"algo": "fft", "memory": 7}}, "{algo=fft, memory=7}"),
    ],
)
def test_values(value, expected):
    assert argument_text(Argument("name", value)) == f"name={expected}"


def test_typed_memory_beside_its_descriptor_is_not_described_twice():
    typed = call(tensor("xDesc"), memory("x", **HALF), memory("workSpace", **HALF))
    text = call_text(typed)
    assert "x=<x+0, 8 KiB>" in text
    assert "workSpace=<(1, 64, 8, 8) float16 NHWC at workSpace+0>" in text


def run(*calls: tuple[str, Any], **said: Any) -> list[CallRecord]:
    return [
        CallRecord(number, f"cudnn{name}", (Argument("n", value),), "SUCCESS", **said)
        for number, (name, value) in enumerate(calls, 1)
    ]


def test_another_argument():
    """In another line of another program, and one call later."""
    one = run(("A", 1), ("B", 2), ("C", 3), file="/one.py", line=7)
    other = run(("A", 1), ("D", 0), ("B", 5), ("C", 3), file="/two.py", line=8)
    found = compare(one, other)
    assert found.equal == 2
    assert found.pairs == [(None, other[1]), (one[1], other[2])]
    assert found.text(60).splitlines() == [
        "+ cudnnD(n=0)   SUCCESS     0.000 ms  two.py:8",
        "~ cudnnB  call 2 and 3  one.py:7 and two.py:8",
        "    - n=2",
        "    + n=5",
        "2 calls equal, 2 different",
    ]


def test_calls_that_one_run_lacks():
    one, other = run(("A", 1), ("B", 2), ("C", 3)), run(("A", 1), ("C", 3), ("D", 4))
    found = compare(one, other)
    assert found.pairs == [(one[1], None), (None, other[2])]
    assert found.text(0).splitlines() == [
        "- cudnnB(n=2)  SUCCESS     0.000 ms  at exit",
        "+ cudnnD(n=4)  SUCCESS     0.000 ms  at exit",
        "2 calls equal, 2 different",
    ]


def test_another_status_and_other_numbers():
    (one,) = run(("A", 1))
    failed = CallRecord(1, "cudnnA", one.arguments, "BAD_PARAM", True, "too many")
    text = compare([one], [failed]).text(100)
    title, same = "~ cudnnA  call 1 and 1  at exit", "0 calls equal, 1 different"
    ends = ["    - SUCCESS", "    + BAD_PARAM: too many"]
    assert text.splitlines() == [title, *ends, same]
    bad = CallRecord(1, "cudnnA", one.arguments, "SUCCESS", not_finite={"y": "1 NaN of 2"})
    text = compare([one], [bad]).text(100)
    assert text.splitlines() == [title, "    - finite", "    + y: 1 NaN of 2", same]


def test_sums_by_function():
    """Those that took longest first."""
    sums = Sums()
    for name, seconds in (("A", 0.01), ("B", 0.04), ("A", 0.02), ("B", 0.1), ("A", 0.03)):
        sums.add(call(function=f"cudnn{name}", seconds=seconds, failed=seconds == 0.03))
    assert str(sums) == """\
function  calls  failed  total ms  mean ms   max ms  share
cudnnB        2       0   140.000   70.000  100.000    70%
cudnnA        3       1    60.000   20.000   30.000    30%
all           5       1   200.000"""  # fmt: skip


def test_a_call_before_all_others_shifts_nothing():
    calls = [("A", i) for i in range(50)]
    found = compare(run(*calls), run(("New", 0), *calls))
    assert found.equal == 50
    assert len(found.pairs) == 1


# --- names of memory: by allocation and offset, as the driver or the reference device -------------


BASE, SIZE = 0x7F0000000000, 4096


@pytest.fixture
def driver(monkeypatch):
    """One that knows a single allocation."""

    def call(function, address):
        assert function == "cuMemGetAddressRange"
        if not BASE <= address < BASE + SIZE:
            raise CudaError(function, 1, "CUDA_ERROR_INVALID_VALUE")
        return BASE, SIZE

    monkeypatch.setattr(cuda, "call", call)


@pytest.mark.usefixtures("driver", "gpu_device")
class TestOnAGpu:
    def test_the_driver_knows_allocations(self):
        places = Places()
        assert places.place(BASE + 256, None, "x") == ("x", 256)
        assert places.place(BASE, None, "y") == ("x", 0)
        region = find(BASE + 8, None, ())
        assert (region.address, region.nbytes) == (BASE, SIZE)

    def test_what_it_does_not_know_is_a_place_of_its_own(self):
        places = Places()
        assert places.place(64, None, "x") == ("x", 0)
        assert places.place(128, None, "x") == ("x2", 0)
        assert (find(64, None, ()).address, find(64, None, ()).nbytes) == (64, None)


def test_storages_of_torch_are_allocations():
    torch = pytest.importorskip("torch")
    places = Places()
    with use_reference_device():
        tensor = torch.zeros(8)
        assert places.place(tensor[2:].data_ptr(), tensor[2:], "x") == ("x", 8)
        # An address in it is known, too.
        assert places.place(tensor.data_ptr() + 4, None, "memory") == ("x", 4)
        view = tensor.view(2, 4)
        del tensor
        assert places.settle() == []
        del view
        (gone,) = places.settle()
        assert (gone.name, gone.nbytes, gone.owner) == ("x", 32, "PyTorch")
