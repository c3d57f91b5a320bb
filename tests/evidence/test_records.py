"""Records of calls: as lines of 100 columns, and two runs side by side."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.evidence.memory import Places, find
from cudnn_ctypes.evidence.records import (
    Argument,
    CallRecord,
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


@pytest.mark.parametrize("width", [72, 100, 140])
def test_no_line_is_longer_than_the_width(width):
    many = Argument("values", [f"CUDNN_SOMETHING_{i}" for i in range(16)])
    for each in (FORWARD, call(many), call(failed=True, reason="because " * 40)):
        assert max(map(len, line(each, width).splitlines())) <= width


def test_a_failure_says_why():
    failed = call(status="BAD_PARAM", failed=True, reason="nbDims > CUDNN_DIM_MAX")
    *_, last = line(failed).splitlines()
    assert last == "    ! nbDims > CUDNN_DIM_MAX"


def test_what_is_not_finite():
    bad = call(not_finite={"y": "3 NaN of 64"})
    assert line(bad).endswith("    ! not finite: y: 3 NaN of 64")


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
    one, other = run(("A", 1), ("B", 2), ("C", 3)), run(("A", 1), ("B", 5), ("C", 3))
    found = compare(one, other)
    assert found.equal == 2
    assert found.pairs == [(one[1], other[1])]
    assert "~ cudnnB  call 2 and 2" in found.text(100)
    assert "    - n=2\n    + n=5" in found.text(100)


def test_calls_that_one_run_lacks():
    one, other = run(("A", 1), ("B", 2), ("C", 3)), run(("A", 1), ("C", 3), ("D", 4))
    found = compare(one, other)
    assert found.pairs == [(one[1], None), (None, other[2])]
    rows = found.text(100).splitlines()
    assert rows[0].startswith("- cudnnB(n=2)")
    assert rows[1].startswith("+ cudnnD(n=4)")
    assert rows[2] == "2 calls equal, 2 different"


def test_another_status_and_other_numbers():
    (one,) = run(("A", 1))
    failed = CallRecord(1, "cudnnA", one.arguments, "BAD_PARAM", True, "too many")
    text = compare([one], [failed]).text(100)
    assert "- SUCCESS" in text
    assert "+ BAD_PARAM: too many" in text
    bad = CallRecord(1, "cudnnA", one.arguments, "SUCCESS", not_finite={"y": "1 NaN of 2"})
    text = compare([one], [bad]).text(100)
    assert "- finite" in text
    assert "+ y: 1 NaN of 2" in text


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
