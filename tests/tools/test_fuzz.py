"""Random calls of a fixed seed go well; what goes wrong is seen, stored and replayed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from programs import ROOT, fuzz, run_program

from cudnn_ctypes import raw
from tools.fuzz import calls
from tools.fuzz.sequences import Call, Sequences

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


def fuzzed(*flags: str) -> Any:
    program = f"import sys; from tools.fuzz import calls; sys.exit(calls.main({list(flags)!r}))"
    return run_program(program, folder=ROOT, check=False)


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["null", "reference"])
def test_random_calls_end_no_process_and_write_nowhere_else(mode: str) -> None:
    done = fuzzed("--calls", "2500", "--seed", "20", "--mode", mode)
    assert done.returncode == 0, done.stdout + done.stderr
    first, columns, *rows = done.stdout.splitlines()
    assert first.startswith(f"2500 calls, {mode}")
    assert not {"died", "overrun", "error"} & set(columns.split())
    classes = {row[:16].strip() for row in rows}
    assert {"right", "NULL", "unset", "half set", "closed", "extreme", "short array"} <= classes
    (right,) = (row for row in rows if row.startswith("right"))
    success = int(right[16:].split()[columns.split().index("success")])
    assert success > 300  # the calls that should go well do


@pytest.mark.gpu
def test_random_calls_on_a_gpu() -> None:
    done = fuzzed("--calls", "4000", "--seed", "21", "--length", "1000", "--gpu")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.soak
def test_sequences_are_the_same_for_the_same_seed() -> None:
    some, same = Sequences(3000, seed=3), Sequences(3000, seed=3)
    assert list(some[0:]) == [same[i] for i in range(3000)]
    assert list(some[850:]) == list(same[0:])[850:]
    assert some[7] != Sequences(3000, seed=4)[7]
    assert len({call.function for call in some[0:]} & set(raw.FUNCTIONS)) > 210
    assert [call.last for call in some[0:]].count(True) == 8


DEATH = """
    import json, os, signal, sys
    from pathlib import Path
    from tools.fuzz import arguments, calls

    def dying(self, call, perform=arguments.Program.perform):
        if call.function == "cudnnSetTensor4dDescriptor":
            {deed}
        return perform(self, call)

    arguments.Program.perform = dying
    code = calls.main(["--calls", "800", "--mode", "null", "--save", sys.argv[1]])
    (file,) = Path(sys.argv[1]).glob("*.json")
    stored = json.loads(file.read_text())
    print(json.dumps([code, stored["result"], [call["function"] for call in stored["calls"]]]))
"""


@pytest.mark.soak
@pytest.mark.parametrize(
    ("deed", "result"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "died: SIGSEGV"),
        ('return ["right"], "overrun: behind 4 bytes"', "overrun: behind 4 bytes"),
        ('return ["right"], "error: KeyError: 5"', "error: KeyError: 5"),
    ],
)
def test_what_goes_wrong_is_found_and_stored_as_short_as_it_can_be(
    tmp_path: Path, deed: str, result: str
) -> None:
    done = run_program(DEATH.format(deed=deed), str(tmp_path), folder=ROOT)
    code, stored, functions = json.loads(done.stdout.splitlines()[-1])
    assert code == 1
    assert stored == result
    assert functions == ["cudnnSetTensor4dDescriptor"]
    (file,) = tmp_path.glob("*.json")
    again = fuzzed("--replay", str(file))
    assert again.returncode == 0  # which needs the deed
    assert "cudnnSetTensor4dDescriptor" in again.stdout


def test_a_failure_counts_under_the_classes_of_its_arguments() -> None:
    counts: Counter[tuple[str, str]] = Counter()

    class Two(Sequences):
        def sequence(self, number: int) -> list[Call]:
            tensor = ("right", "slot", ["cudnnTensorDescriptor_t", 0])
            number_ = ("extreme", "value", -1)
            return [
                Call(0, 0, False, "cudnnCreateTensorDescriptor", (tensor,)),
                Call(
                    0,
                    1,
                    True,
                    "cudnnSetTensor4dDescriptor",
                    (
                        tensor,
                        ("right", "enum", ["cudnnTensorFormat_t", 0]),
                        ("right", "enum", ["cudnnDataType_t", 0]),
                        *[number_] * 4,
                    ),
                ),
            ]

    assert list(calls.survey(Two(2, seed=0, length=2), "null", counts=counts)) == []
    assert counts == {
        ("right", "success"): 1,
        ("extreme", "status"): 1,
        ("unset", "status"): 1,
    }


def test_arguments_of_any_class_are_answered_with_errors_of_users() -> None:
    assert "wrong" not in fuzz("misuse", "--calls", "12000", "--seed", "1")
