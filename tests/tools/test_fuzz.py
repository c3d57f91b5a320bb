"""Random calls of a fixed seed go well; what goes wrong is seen, stored and replayed."""

from __future__ import annotations

import ctypes
import json
import math
from collections import Counter
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import ROOT, fuzz, run_program

from cudnn_ctypes import Handle, raw, use_reference_device
from cudnn_ctypes.graph import Graph
from cudnn_ctypes.graph.lower.expand import attention
from cudnn_ctypes.graph.lower.faults import FAULTS, SEARCHED
from cudnn_ctypes.raw.faults import Fault, Range
from tools.fuzz import broadcast_graphs, campaign, oracle
from tools.fuzz.attention_cases import OPERATIONS, SHOWN, variants
from tools.fuzz.devices.batches import judge
from tools.fuzz.devices.catalogue import FAMILIES, redraw
from tools.fuzz.devices.machine import Machine
from tools.fuzz.devices.minimizing import minimized
from tools.fuzz.graph_cases import FORMS, Case
from tools.fuzz.libraries import CHOICES, _Layouts, examine
from tools.fuzz.libraries import Case as Layout
from tools.fuzz.numbers import NAMES, compared
from tools.fuzz.wrong_rows import UNSEEN, verdict

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


def fuzzed(tool: str, *flags: str) -> Any:
    program = f"import sys; from tools.fuzz import {tool}; sys.exit({tool}.main({list(flags)!r}))"
    return run_program(program, folder=ROOT, check=False)


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["null", "reference"])
def test_random_calls_end_no_process_and_write_nowhere_else(mode):
    done = fuzzed("calls", "--calls", "1000", "--seed", "20", "--mode", mode)
    assert done.returncode == 0, done.stdout + done.stderr
    first, columns, *rows = done.stdout.splitlines()
    assert first.startswith(f"1000 calls, {mode}")
    assert not {"died", "overrun", "error"} & set(columns.split())
    classes = {row[:16].strip() for row in rows}
    assert {"right", "NULL", "unset", "half set", "closed", "extreme", "short array"} <= classes
    (right,) = (row for row in rows if row.startswith("right"))
    success = int(right[16:].split()[columns.split().index("success")])
    assert success > 120  # the calls that should go well do


@pytest.mark.gpu
def test_random_calls_on_a_gpu():
    done = fuzzed("calls", "--calls", "4000", "--seed", "21", "--length", "1000", "--gpu")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.soak
def test_arguments_of_any_class_are_answered_with_errors_of_users():
    assert "wrong" not in fuzz("misuse", "--calls", "1500", "--seed", "1")


# --- random attention is right on the reference device; wrong numbers are found -------------------


PLAIN = {"seed": 1, "operation": "sdpa", "io": "float16", "layout": "bshd", "values": "normal"}
PLAIN |= {"batch": 2, "heads": 2, "key_heads": 1, "queries": 8, "keys": 24}
PLAIN |= {"size": 16, "value_size": 16, "outputs": "stats"}


def searched(tool: str, *flags: str) -> tuple[int, str]:
    """The status of a search, and what it prints, in this process: others would load PyTorch."""
    pytest.importorskip("torch")
    module = import_module(f"tools.fuzz.{tool}")
    with use_reference_device("--reference" in flags), redirect_stdout(StringIO()) as printed:
        status = module.main([*flags])
    return status, printed.getvalue()


def replayed(tool: str, case: str) -> str:
    status, printed = searched(tool, "--reference", "--replay", case)
    assert status == 0
    return printed


def outcome(case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(replayed("attentions", json.dumps(case)))
    return found


@pytest.mark.soak
def test_random_attention_is_right_on_the_reference_device(tmp_path):
    chosen = [each for each in OPERATIONS if each != "sdpa_unified"]  # it takes no NaN in gaps
    status, printed = searched(
        *("attentions", "--reference", "--cases", "7", "--seed", "300", "--out", str(tmp_path)),
        *("--operations", *chosen),
    )
    assert status == 0, printed
    rows = [json.loads(line) for line in (tmp_path / "0.jsonl").read_text().splitlines()]
    kinds = Counter(row["result"] for row in rows)
    assert kinds["right"] > 4
    # The bound of an element is near what rounding does: an error of a few units is seen.
    worst = sorted(row["worst"] for row in rows if row["result"] == "right")
    assert 0.2 < worst[len(worst) // 2] < 1


@pytest.mark.gpu
def test_random_attention_is_right_on_a_gpu(tmp_path):
    flags = ("--cases", "30", "--seed", "100", "--out", str(tmp_path))
    done = fuzzed("attentions", *flags)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.soak
def test_wrong_numbers_are_found(monkeypatch):
    """Here the oracle takes values that are 1 % too large."""
    case = {**PLAIN, "operation": "sdpa_backward"}
    assert outcome(case)["result"] == "right"
    numbers = import_module("tools.fuzz.attention_oracle").Numbers
    draw = numbers._draw

    def wrong(self):
        draw(self)
        self.exact["v"] *= 1.01

    monkeypatch.setattr(numbers, "_draw", wrong)
    assert outcome(case)["result"].startswith("wrong: ")


def test_each_warning_says_for_which_numbers_it_is():
    rows = {row.name for row in FAULTS if row.data and row.calls[0] in OPERATIONS}
    assert rows == SHOWN.keys()
    empty = {"lengths": [[1, 1], [0, 1]]}
    assert SHOWN["sequence without keys"](empty)
    assert not SHOWN["gradient of a sequence without queries"](empty)
    assert [SHOWN["pages of 8 bits"](case) for case in ({"page": 16}, {})] == [True, False]


@pytest.mark.soak
def test_variants_are_other_graphs_of_the_same_results():
    case = {**PLAIN, "alibi": True, "queries": 1}
    others = dict(variants(case))
    assert others.keys() >= {"lengths", "alibi as bias", "causal", "wide right"}
    assert others["lengths"]["lengths"] == [[1, 1], [24, 24]]
    assert outcome(others["causal"])["result"] == "right"


# --- random graphs of a fixed seed are right; wrong numbers are seen and replayed -----------------


@pytest.mark.parametrize(("found", "right"), [(np.inf, True), (65504, True), (-np.inf, False)])
def test_what_its_type_cannot_hold_may_be_infinite_or_the_largest_number(found, right):
    y = Graph().tensor((2, 1, 1), name="y", data_type="float16")
    exact, result = (np.array([each, 8.0]) for each in (7e4, found))
    assert (compared(y, result, exact, np.zeros(2)) == "") is right
    assert compared(y, np.array([np.inf, 8]), np.array([4e4, 8]), np.zeros(2)) != ""


def test_rounding_of_equal_numbers_adds_up_in_their_sum():
    """Independent errors of 4,000 would be 1/60 of one."""
    graph = Graph(io_data_type="float32")
    x = graph.tensor((1, 50, 80), name="x")
    graph.reduction(graph.tanh(x), "add", axes=(1, 2)).set_output(name="y")
    exact, spread = oracle.deviations(graph.validate(), {"x": np.full((1, 50, 80), 0.6)}, seed=0)
    assert 1e-6 < (spread["y"] / exact["y"]).item() < 1e-5


def test_the_searched_versions_are_those_of_the_campaign():
    found = {version.rpartition(".")[0] for version, *_ in json.loads(campaign.SAVED.read_text())}
    assert tuple(sorted(found)) == SEARCHED


def test_graphs_that_ran_on_a_gpu_are_judged_as_they_came_out(capsys):
    """No plan that was wrong is taken; a better rule takes more of the right ones."""
    assert campaign.main([str(campaign.MEASURED.parent)]) == 0
    taken = "all, , : 640 graphs, 884 right, "
    assert taken + "514 ruled out, wrong, 101 ruled out, lost, 86 ruled out, right" in (
        capsys.readouterr().out.splitlines()
    )


def test_records_of_graphs_are_counted_by_the_table_as_it_is(tmp_path, capsys):
    engines = {"engine 2": "wrong: y by 1", "engine 4": "lost: hang"}
    engines |= {"engine 7": "right", "engine 8": "refused: no"}
    case = {**broadcast_graphs.draw(83, {"matmul": 1}), "before": []}
    found = {"case": case, "cudnn": 91900, "beforehand": 0, "engines": engines}
    other = {**found, "form": "as it was described once"}
    lines = [json.dumps(each) for each in (other, found, {"case": case, "invalid": "no graph"})]
    (tmp_path / "0.jsonl").write_text("\n".join(lines))
    assert campaign.main([str(tmp_path)]) == 1
    lost, first, every, row = capsys.readouterr().out.splitlines()
    assert lost.startswith("lost: 9.19.0, engine 4: {")
    assert first.startswith("9.19.0, matmul, ")
    assert every == "all, , : 1 graphs, 1 right, 1 lost, 1 ruled out, wrong"
    assert row == "'rows of a product' rules out 1 plans, of which 0 are right"


@pytest.mark.soak
def test_random_graphs_are_right_on_the_reference_device():
    families = list(NAMES)[::2]
    flags = ("--cases", "1", "--seed", "30", "--families", *families)
    status, printed = searched("numbers", "--reference", *flags)
    assert status == 0, printed
    rows = dict(line.split(": ", 1) for line in printed.splitlines() if line[0] != " ")
    assert set(families) == set(rows)
    assert "right" in rows[families[0]]


@pytest.mark.gpu
def test_random_graphs_are_right_on_a_gpu():
    pytest.importorskip("torch")
    done = fuzzed("numbers", "--cases", "6", "--seed", "100")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.soak
def test_wrong_numbers_are_found_and_replayed(monkeypatch):
    """Where the oracle adds 1 % too much."""
    flags = ("--reference", "--families", "matmul", "--cases", "3", "--seed", "2")
    pytest.importorskip("torch")
    with monkeypatch.context() as patch:
        patch.setitem(
            import_module("tools.fuzz.oracle")._OPERATIONS,
            "operation_matmul",
            lambda node, operand: {"C": 1.01 * (operand("A") @ operand("B"))},
        )
        status, printed = searched("numbers", *flags)
        result, case, *_ = printed.splitlines()
        assert replayed("numbers", case.strip()).strip() == result
    assert status == 1
    assert result.startswith("wrong: y by")
    assert replayed("numbers", case.strip()).strip() == "right"


# --- graphs of two and three operations end no process; without our refusals some do --------------


@pytest.mark.soak
def test_a_sample_of_all_forms_ends_no_process():
    done = fuzzed("pairs", "--forms", *FORMS, "--each", "1", "--sample", "40", "--seed", "7")
    assert done.returncode == 0, done.stdout + done.stderr
    *_, last = done.stdout.splitlines()
    assert last.startswith(f"40 cases of cuDNN {raw.load().version_text}: ")
    assert "0 ended the process" in last
    assert " 0 accepted" not in last


@pytest.mark.soak
def test_what_ends_a_process_is_found_and_can_be_replayed():
    path = ("conv_fprop", "y", "A", "matmul")
    flags = ("--modes", "a", "--gpus", "h200", "--shapes", "image", "--types", "float16")
    only = '"path": \\["conv_fprop", "y", "A", "matmul"\\]'
    done = fuzzed("pairs", *flags, "--each", "1", "--unguarded", "--only", only)
    assert done.returncode == 1
    assert "died: SIGSEGV while asking heuristics, rows ['product of a conv" in done.stdout
    assert "0 of these in no row of faults" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("died"))
    case = Case.from_json(line[line.index("{") :])
    assert case.path == path
    refused = fuzzed("pairs", "--replay", str(case))
    assert "refused: NotSupportedError" in refused.stdout
    assert fuzzed("pairs", "--replay", str(case), "--unguarded").returncode < 0


@pytest.mark.thinned(20)
@pytest.mark.parametrize(
    "row", [row for row in FAULTS if row.effect not in UNSEEN][::5], ids=lambda row: row.name
)
def test_nothing_is_wrong_on_the_reference_device(row, monkeypatch):
    monkeypatch.setattr(Fault, "ranges_at", lambda row, target: row.ranges * bool(target.version))
    with use_reference_device(device="H200"), Handle() as handle:
        found = verdict(row, handle)
    hidden = "not shown where there are precompiled engines"
    assert found in ("right", "no engine", hidden) or found.startswith("not asked: ")


def test_no_numbers_lie_around_the_operands_of_a_row_s_program(monkeypatch):
    (row,) = (each for each in FAULTS if each.name == "number of each row")
    seen = []

    def look(graph, memory, workspace):
        for tensor, address in memory.items():
            end = address + 2 * math.prod(tensor.dims)  # all of float16, packed
            seen.append(ctypes.string_at(address - 64, 64) + ctypes.string_at(end, 64))

    monkeypatch.setattr(Fault, "ranges_at", lambda row, target: row.ranges)
    monkeypatch.setattr(Graph, "execute", look)
    with use_reference_device(device="H200"), Handle() as handle:
        assert verdict(row, handle) == "wrong"  # not computed at all
    assert len(seen) == 3
    assert set(seen) == {b"\xff" * 128}


@pytest.mark.parametrize(
    ("needed", "result"), [(91500, "right"), (92900, "not asked: it is built so by itself")]
)
def test_a_row_is_measured_only_where_its_form_is_not_taken_anyway(needed, result, monkeypatch):
    (row,) = (each for each in FAULTS if each.name == "gradient without bounds")
    monkeypatch.setattr(Fault, "ranges_at", lambda row, target: row.ranges)
    monkeypatch.setattr(attention, "UNBOUNDED", Range(91400))
    monkeypatch.setattr(attention, "_NEEDS_LENGTHS", needed)
    with use_reference_device(device="H200"), Handle() as handle:
        assert verdict(row, handle) == result


@pytest.mark.soak
def test_public_reports_are_not_reproduced_on_the_reference_device():
    _, printed = searched("reports", "--reference", "--only", "onnxruntime 26215")
    assert "    not reproduced\n" in printed


@pytest.fixture(scope="module")
def layouts(tmp_path_factory):
    if not (raw.load().path.parent / "libcudnn_ops.so.9").exists():
        pytest.skip("this cuDNN is one file, or a reduced one")
    return _Layouts(tmp_path_factory.mktemp("layouts"), None)


@pytest.mark.thinned(6)
@pytest.mark.parametrize(
    ("case", "result"),
    [
        (Layout("folder", "link to main", "same, long names"), "one cuDNN"),
        (Layout("in the process", "full", ""), "one cuDNN"),
        (Layout("file", "reduced", "empty"), "one cuDNN"),
        (Layout(CHOICES[3], "full", "nothing"), "refused"),
        (Layout("folder", "full", "other", "blank end", "_cnn"), "refused"),
        (Layout("folder", "full", "nothing", "other machine"), "refused"),
    ],
    ids=str,
)
@pytest.mark.soak
def test_layouts(layouts, case, result):
    found, text = examine(case, layouts)
    assert found == result, text


# --- the comparison of two devices: its draws, its judgement, and how it minimizes ----------------


@pytest.fixture(scope="module")
def reference_machine():
    with use_reference_device():
        yield Machine()


CALLS = [name for name in FAMILIES if not name.startswith(("layer 2", "graph"))]


@pytest.mark.soak
def test_the_reference_device_agrees_with_itself():
    judged = judge([(family, 1) for family in FAMILIES], ("reference", "reference"))
    assert [str(difference) for each in judged for difference in each.differences] == []
    succeeded = sum(each.one.succeeded for each in judged)
    assert succeeded > len(judged) / 2


@pytest.mark.soak
def test_a_planted_difference_is_found_and_minimized():
    pair = ("reference", "planted")
    judged = judge([("pooling forward", seed) for seed in range(20)], pair)
    found = [each for each in judged if each.differences]
    assert found
    case = max((each.draw.case for each in found), key=lambda case: len(str(case)))
    key = next(each.key(each.differences[0]) for each in found if each.draw.case == case)
    small = minimized(case, key, pair, seconds=20)
    strides = [value for name, value in small["choices"].items() if name.startswith("stride")]
    assert sorted(strides)[-1] == 2
    assert small["choices"]["x.layout"] == "packed"
    assert small["choices"]["x.n"] == 1
    (again,) = judge([small], pair)
    assert again.key(again.differences[0]) == key


RECORDED = json.loads((Path(__file__).parent / "statuses_of_919.json").read_text())


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case['family']} {case['seed']}")
def test_the_reference_device_returns_the_status_of_a_gpu(reference_machine, case):
    """The last status of each case, as cuDNN 9.19 returned it on an H200."""
    _, program = redraw(case)
    with np.errstate(all="ignore"):
        found = program.run(reference_machine)
    assert list(found.statuses[-1]) == case["last"]
