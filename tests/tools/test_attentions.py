"""Random attention is right on the reference device; wrong numbers are found."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from programs import ROOT, run_program

from cudnn_ctypes.graph.lower.faults import FAULTS
from tools.fuzz.attention_cases import OPERATIONS, SHOWN, draw, facets, variants

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")

REPORT = """
    import sys
    from tools.fuzz import attentions
    sys.exit(attentions.main(sys.argv[1:]))
"""
# The oracle takes values that are 1 % too large.
FALSE = """
    import sys
    from tools.fuzz import attentions
    from tools.fuzz.attention_oracle import Numbers
    draw = Numbers._draw
    def wrong(self):
        draw(self)
        self.exact["v"] *= 1.01
    Numbers._draw = wrong
    sys.exit(attentions.main(sys.argv[1:]))
"""
PLAIN = {
    "seed": 1,
    "operation": "sdpa",
    "io": "float16",
    "batch": 2,
    "heads": 2,
    "key_heads": 1,
    "queries": 8,
    "keys": 24,
    "size": 16,
    "value_size": 16,
    "layout": "bshd",
    "values": "normal",
    "outputs": "stats",
}


def searched(*flags: str, program: str = REPORT) -> Any:
    pytest.importorskip("torch")
    return run_program(program, *flags, folder=ROOT, check=False)


def outcome(case: dict[str, Any], program: str = REPORT) -> dict[str, Any]:
    done = searched("--reference", "--replay", json.dumps(case), program=program)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.soak
def test_random_attention_is_right_on_the_reference_device(tmp_path: Path) -> None:
    chosen = [each for each in OPERATIONS if each != "sdpa_unified"]  # it takes no NaN in gaps
    done = searched(
        *("--reference", "--cases", "36", "--seed", "300", "--out", str(tmp_path)),
        *("--operations", *chosen),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in (tmp_path / "0.jsonl").read_text().splitlines()]
    kinds = Counter(row["result"] for row in rows)
    assert kinds["right"] > 31
    # The bound of an element is near what rounding does: an error of a few units is seen.
    worst = sorted(row["worst"] for row in rows if row["result"] == "right")
    assert 0.2 < worst[len(worst) // 2] < 1


@pytest.mark.gpu
def test_random_attention_is_right_on_a_gpu(tmp_path: Path) -> None:
    done = searched("--cases", "30", "--seed", "100", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("operation", ["sdpa", "sdpa_backward"])
def test_wrong_numbers_are_found(operation: str) -> None:
    case = {**PLAIN, "operation": operation}
    assert outcome(case)["result"] == "right"
    assert outcome(case, FALSE)["result"].startswith("wrong: ")


def test_cases_are_json_and_the_same_for_the_same_seed() -> None:
    for seed in range(200):
        case = draw(seed)
        assert json.loads(json.dumps(case)) == case == draw(seed)
        assert all(": " in each for each in facets(case))


def test_each_warning_says_for_which_numbers_it_is() -> None:
    rows = {row.name for row in FAULTS if row.data and row.calls[0] in OPERATIONS}
    assert rows == SHOWN.keys()
    empty = {"lengths": [[1, 1], [0, 1]]}
    assert SHOWN["sequence without keys"](empty)
    assert not SHOWN["gradient of a sequence without queries"](empty)
    assert [SHOWN["pages of 8 bits"](case) for case in ({"page": 16}, {})] == [True, False]


def test_every_option_is_drawn() -> None:
    seen = Counter(each for seed in range(3000) for each in facets(draw(seed)))
    wanted = (
        *("alibi: unmasked", "alibi: masked", "bias: very low", "bias: -inf", "bias: one row"),
        *("bias: with its gradient", "lengths: some 0", "lengths: some 1", "lengths: pages"),
        *("lengths: ragged", "lengths: ragged with gaps", "lengths: as sums", "queries: 1"),
        *("queries: 3", "keys: more than 1024", "keys % 128: 64", "keys % 128: 1", "sink: -inf"),
        *("dropout: mask", "dropout: seed", "modifier: cap", "outputs: parts", "layout: packed"),
        *("layout: sbhd", "mask: causal, bottom right", "mask: left, top left", "scale: 0.0"),
        *("values: NaN query", "values: low", "type: fp8_e5m2"),
    )
    assert not [each for each in wanted if seen[each] < 10]


def test_variants_are_other_graphs_of_the_same_results() -> None:
    case = {**PLAIN, "alibi": True, "queries": 1}
    others = dict(variants(case))
    assert others.keys() >= {"lengths", "alibi as bias", "causal", "wide right"}
    assert others["lengths"]["lengths"] == [[1, 1], [24, 24]]
    for other in (others["lengths"], others["causal"], others["wide right"]):
        assert outcome(other)["result"] == "right"
