"""Calls of the legacy API that are read from cuDNN's log, and carried out again."""

from __future__ import annotations

import dataclasses
import faulthandler
import json
import os
from contextlib import suppress

import numpy as np
import pytest
from legacy.operation_table import FAMILIES, LACKING, rows

import cudnn_ctypes as cudnn
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.evidence.logged_calls import computes, logged_call
from cudnn_ctypes.evidence.records import Argument
from cudnn_ctypes.evidence.replay.calls import replay
from cudnn_ctypes.evidence.session import listen, stop
from cudnn_ctypes.raw import library
from cudnn_ctypes.raw.function import binding


def messages_of(function, arguments):
    """What cuDNN logs of a call.

    Without a handle it logs the call and refuses it, or ends the process: it is made in a child.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        with (
            suppress(BaseException),
            cudnn.log_messages("info", callback=lambda m: write(writing, m)),
        ):
            native = library.load().symbol(
                function.__name__, since=function.since, header=function.header
            )
            native.argtypes = binding(function.__name__).argtypes
            given = {**arguments, "handle": None}
            native(*(given[each.name] for each in function.parameters))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        texts = pipe.read().decode().split("\0")[:-1]
    os.waitpid(child, 0)
    return [cudnn.Message.of(int(each[0]), each[1:]) for each in texts]


def write(pipe, message):
    os.write(pipe, f"{int(message.severity)}{message.text}\0".encode())


class Listener:
    """The launches of a program, each as a trace has it and as cuDNN logs it."""

    looks_at_numbers = False

    def __init__(self):
        self.pairs = []
        self.messages = []

    def wants(self, function):
        return computes(function)

    def allocated(self, region):
        pass

    freed = allocated

    def prepare(self, moment):
        self.messages.append(messages_of(moment.function, moment.arguments))

    def hear(self, call, moment):
        logged = self.messages[-1]
        self.pairs.append((call, logged_call(logged[0]) if logged else None))


def launches(family):
    """The launches of a family's rows, and of what makes their operands."""
    listener = Listener()
    listen(listener)
    try:
        with cudnn.Handle() as handle, rows(family, handle) as table:
            for case in table.values():
                with suppress(*LACKING):
                    case()
    finally:
        stop(listener)
    return listener


# Of these cuDNN prints nothing, or zeros whatever is set.
UNTOLD = {
    "swish_beta",
    *("pad_before", "pad_after", "fold"),
    *("states", "seed", "rate", "dropout", "attention_dropout", "output_dropout"),
    *("size_in_bytes", "clip_nan_propagation", "one_to_one", "padding_fill"),
}
LOGGED_LEGACY = [each for each in FAMILIES if "causal" not in each.__name__]
OWN_SHAPES = ("attention", "spatial_transformer", "recurrent", "fused", "gnn_aggregation")


@pytest.mark.thinned(14, always=[each for each in FAMILIES if each.__name__ in OWN_SHAPES])
@pytest.mark.parametrize("family", LOGGED_LEGACY, ids=lambda each: each.__name__)
def test_calls_are_read_and_made_again(family, reference_device):
    listener = launches(family)
    logged = [other for _, other in listener.pairs if other is not None]
    for call, other in listener.pairs:
        if other is None:
            continue
        assert other.function == call.function
        told = {each.name: each.value for each in other.arguments}
        for each in call.arguments:
            found = told.get(each.name)
            if isinstance(each.value, dict) and "holds" in each.value and found:
                compare(each.value["holds"], found["holds"], f"{call.function} {each.name}")
            elif isinstance(each.value, dict) and "allocation" in each.value:
                assert found is None or "allocation" in found, each.name
            elif isinstance(each.value, (int, float)) and isinstance(found, (int, float)):
                assert found == pytest.approx(each.value), each.name
    with cudnn.Handle() as handle:
        done = replay(logged, handle)
    assert len(done) == len(logged)
    failed = [each for each in done if each.status != "SUCCESS"]
    assert all("Transform" in each.name for each in failed), [*map(str, failed)]
    for each in done:
        for name, values in each.outputs.items():
            if values.dtype.kind == "f":
                assert np.isfinite(values.astype("f8")).all(), (each.name, name)


def compare(expected, found, what):
    for name in expected.keys() & found.keys() - UNTOLD:
        one, other = expected[name], found[name]
        if name == "shape" and "sampler" in expected:  # no channels
            one, other = [one[0], *one[2:]], [other[0], *other[2:]]
        if name == "axes":
            one, other = None, None
        same = one == other or json.dumps(one).lower() == json.dumps(other).lower()
        assert same or name == "strides", f"{what}.{name}: {one} {other}"


def convolution(x, w, y):
    """The record of a call."""

    def tensor(dims, **more):
        return {"object": "it", "holds": {"shape": dims, "data_type": "float32", **more}}

    nchw = [y[1] * y[2] * y[3], y[2] * y[3], y[3], 1]
    held = {"padding": [0, 0], "stride": [1, 1], "dilation": [1, 1], "compute_data_type": "float32"}
    values = {
        "handle": {"object": "handle"},
        "alpha": 2.0,
        "xDesc": tensor(x, strides=[x[1] * x[2] * x[3], x[2] * x[3], x[3], 1]),
        "x": {"allocation": "0x1", "offset": 0},
        "wDesc": tensor(w, format="nchw"),
        "w": {"allocation": "0x2", "offset": 0},
        "convDesc": {"object": "it", "holds": held},
        "algo": "implicit_precomp_gemm",
        "workSpace": None,
        "workSpaceSizeInBytes": 0,
        "beta": 0.0,
        "yDesc": tensor(y, strides=nchw),
        "y": {"allocation": "0x3", "offset": 0},
    }
    arguments = tuple(Argument(name, value) for name, value in values.items())
    return cudnn.CallRecord(0, "cudnnConvolutionForward", arguments, "SUCCESS")


def test_the_numbers_are_those_of_the_formula(reference_device):
    call = convolution([1, 2, 4, 4], [3, 2, 3, 3], [1, 3, 2, 2])
    with cudnn.Handle() as handle:
        one, again, other = (replay([call], handle, seed=seed)[0] for seed in (0, 0, 1))
        less = dataclasses.replace(call, arguments=(call.arguments[0], *call.arguments[2:]))
        (done,) = replay([less], handle)
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(32) / 2).astype("f4").reshape(2, 4, 4)
    w = (rng.standard_normal(54) / 2).astype("f4").reshape(3, 2, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    expected = 2 * np.einsum("chwrs,kcrs->khw", windows.astype("f8"), w)
    np.testing.assert_allclose(one.outputs["y"], expected.ravel(), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(one.outputs["y"], again.outputs["y"])
    assert (one.outputs["y"] != other.outputs["y"]).any()
    assert done.assumed == ("alpha",)
    np.testing.assert_allclose(2 * done.outputs["y"], one.outputs["y"], rtol=1e-6)


def test_a_call_that_cannot_be_made_is_said(reference_device):
    call = convolution([1, 2, 4, 4], [3, 2, 3, 3], [1, 3, 9, 9])
    with cudnn.Handle() as handle:
        (done,) = replay([call], handle)
    assert done.status == "BAD_PARAM"
    assert "yDesc" in done.reason or "shape" in done.reason
    nothing = cudnn.CallRecord(0, call.function, call.arguments[:2], "SUCCESS")
    with cudnn.Handle() as handle:
        (done,) = replay([nothing], handle)
    assert done.status != "SUCCESS"


def test_a_trace_is_ported_to_python(tmp_path, reference_device):
    with cudnn.trace() as seen, cudnn.Handle() as handle, rows(FAMILIES[0], handle) as table:
        for case in table.values():
            case()
    seen.save(tmp_path / "calls.json")
    evidence = cudnn.read_evidence(tmp_path / "calls.json")
    assert [each.call.function for each in evidence.launches] == [
        "cudnnActivationForward",
        "cudnnActivationBackward",
    ]
    with cudnn.use_reference_device():
        program = tmp_path / "out" / "calls.py"
        assert main(["port", str(tmp_path / "calls.json"), "-o", str(program)]) == 0
    text = program.read_text()
    assert "raw.cudnnActivationBackward(" in text
    compiled = compile(text, str(program), "exec")
    with pytest.raises(SystemExit) as ended:
        exec(compiled, {"__file__": str(program), "__name__": "__main__"})
    assert ended.value.code == 0
    assert main(["port", str(tmp_path / "calls.json"), "-o", str(program), "--json"]) == 2
    assert program.read_text() == text


def test_port_says_what_it_lacks(tmp_path, capsys, reference_device):
    bad = convolution([1, 2, 4, 4], [3, 2, 3, 3], [1, 3, 9, 9])
    lines = [json.dumps({"cudnn_ctypes_trace": 1}), json.dumps(bad.as_dict())]
    (tmp_path / "calls.json").write_text("\n".join(lines))
    assert main(["port", str(tmp_path / "calls.json"), "-o", str(tmp_path / "calls.py")]) == 1
    assert "0 of 1 graphs and calls" in capsys.readouterr().out
