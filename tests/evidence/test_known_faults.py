"""Known faults as data: the enumeration, rows of C calls, and where they are shown."""

from __future__ import annotations

import json

import pytest

from cudnn_ctypes import Graph, known_faults, raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.commands.bench import _result
from cudnn_ctypes.commands.bench.measuring import Problem
from cudnn_ctypes.commands.lookup import entries
from cudnn_ctypes.graph import DeviceProperties
from cudnn_ctypes.raw.faults import Evidence, Fault, Range
from cudnn_ctypes.raw.records import Call
from tools.fault_programs import PROGRAMS, described


def _between_layouts(call: Call) -> str:
    x, y = call.record("xDesc"), call.record("yDesc")
    return f"x has strides {x.strides}, y {y.strides}" if x.strides != y.strides else ""


LAYOUTS = Fault(
    "softmax of a sample",
    ("cudnnSoftmaxForward",),
    "wrong numbers",
    "cuDNN gives wrong numbers",
    _between_layouts,
    (Range(90000, (90,), 92000),),
    (
        Evidence("measured", "H200", "9.19", "72 of 72", seen="Equal strides are right."),
        Evidence("not reproduced", "H200", "9.28", tracker="someone 123456", seen="All is wrong."),
    ),
    remedy="transform y",
)


def test_rows_are_complete():
    rows = known_faults()
    assert len({row.name for row in rows}) == len(rows)
    for each in rows:
        assert each.ranges
        assert each.evidence
        assert each.calls
        assert all(name in raw.FUNCTIONS or callable(getattr(Graph, name)) for name in each.calls)
        # What to do instead, unless another engine does it, or nobody knows.
        assert each.remedy or each.engines or each.data or each.reported or each.form


def test_engines_of_a_row_hold_where_a_range_has_none_of_its_own():
    rows = {row.name: row for row in known_faults()}
    assert [each.engines for each in rows["pooling of bfloat16"].ranges] == [(3,), (2,)]
    (elsewhere,) = rows["pages of one query with alibi"].ranges
    assert elsewhere.engines == (1,)


def test_faults_of_small_builds_are_told_of_these():
    rows, whole = known_faults(92401), known_faults(92401, small=False)
    small = {row.name for row in set(rows) - set(whole)}
    assert small == {row.name for row in rows if all(each.small for each in row.ranges)} != set()


def test_doctor_lists_the_rows(capsys):
    version = raw.load().version
    assert main(["doctor", "--faults", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"product of a convolution", "clipped product"} <= {each["name"] for each in told}
    assert all(each["evidence"] and each["cuDNN"] for each in told)
    assert len(told) <= len(known_faults(version))
    assert main(["doctor", "--faults"]) == 0
    assert "remedy:       build two graphs\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("scattered heads",),
        ("scattered", "heads"),
        ("someone", "123456"),
        ("someone#123456",),
        ("123456",),
        ("known", "fault", "softmax", "sample"),
    ],
)
def test_lookup_finds_rows(words, monkeypatch, capsys):
    monkeypatch.setattr(entries, "known_faults", lambda: (*known_faults(), LAYOUTS))
    monkeypatch.setattr("cudnn_ctypes.commands.lookup.known_faults", entries.known_faults)
    assert main(["lookup", *words]) == 0
    out = capsys.readouterr().out
    assert out.startswith(("scattered heads: known", "softmax of a sample: known"))
    assert "evidence:     measured:" in out


def test_names_tell_of_their_faults(monkeypatch, capsys):
    monkeypatch.setattr(entries, "known_faults", lambda: (*known_faults(), LAYOUTS))
    main(["lookup", "cudnnSoftmaxForward", "Graph.sdpa_unified"])
    out = capsys.readouterr().out
    assert "known faults:  softmax between layouts, softmax of a sample" in out
    assert "block mask of unified attention" in out


def test_explanations_and_benchmarks_say_what_concerns_the_graph():
    program = PROGRAMS["gradient of filters of one element"][0]
    with described(program) as graph, DeviceProperties.preset("H200") as h200:
        explained = graph.explain(h200)
        (told,) = explained.faults.values()
        assert told.startswith("NaN, conv_wgrad 'conv_wgrad': dy 'dy' (1, 8, 12, 9) has 1728 bytes")
        assert "passes over engine 4; remedy: store images with their channels last; meas" in told
        line = f"known fault 'gradient of filters of one element': {told}"
        assert line in str(explained).splitlines()
        result = _result(Problem("sum", graph), h200, [])
        assert line in str(result).splitlines()
        assert json.loads(json.dumps(result.as_dict()))["faults"] == result.faults
