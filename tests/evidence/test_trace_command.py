"""``python -m cudnn_ctypes trace`` and ``CUDNN_CTYPES_TRACE``, on programs and on the examples."""

from __future__ import annotations

import gc
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from programs import run_command, run_program

from cudnn_ctypes import read_trace, use_reference_device
from cudnn_ctypes.__main__ import main


def run(*words: object) -> Any:
    """The exit status and output of the command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with use_reference_device(), redirect_stdout(out), redirect_stderr(err):
        status = main(["trace", *map(str, words)])
    gc.collect()  # what the program left open, before another test looks at calls
    return SimpleNamespace(returncode=status, stdout=out.getvalue(), stderr=err.getvalue())


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import sys\n"
        "import numpy as np\n"
        "from cudnn_ctypes import DeviceTensor, Handle, activation_forward\n"
        "values = np.array([1, 2, 3, float(sys.argv[1])], 'f4').reshape(1, 1, 2, 2)\n"
        "x, y = DeviceTensor.from_numpy(values), DeviceTensor.full((1, 1, 2, 2), 0, 'float32')\n"
        "with Handle() as handle:\n"
        "    activation_forward(handle, x, sys.argv[2], y)\n"
        "print(__name__, sys.argv[1:], sys.argv[0] == __file__, sys.path[0])\n"
        "if sys.argv[1] == '9':\n"
        "    sys.exit(3)\n"
    )
    return path


def test_a_program_runs_as_by_itself(program):
    done = run(program, "4", "relu")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"__main__ ['4', 'relu'] True {program.parent}\n"
    assert "cudnnActivationForward(handle," in done.stderr
    assert "activationDesc={mode=relu, " in done.stderr
    assert "program.py:7" in done.stderr
    assert max(map(len, done.stderr.splitlines())) <= 100


def test_its_exit_status_and_errors(program):
    assert run(program, "9", "relu").returncode == 3
    failed = run(program, "4", "no mode")
    assert failed.returncode == 1
    assert "ValueError" in failed.stderr
    assert "runpy" not in failed.stderr
    assert "commands" not in failed.stderr


@pytest.mark.soak
def test_a_module(program):
    words = ("cudnn_ctypes", "trace", "--stats", "-m", "program", "4", "relu")
    device = {"CUDNN_CTYPES_DEVICE": "reference"}
    done = run_command(sys.executable, "-m", *words, folder=program.parent, **device)
    assert done.returncode == 0, done.stderr
    assert "__main__ ['4', 'relu'] True" in done.stdout
    assert "cudnnActivationForward" in done.stderr


def test_sums_up(program):
    done = run("--stats", "--only", "Activation*", program, "4", "elu")
    header, forward, whole = done.stderr.splitlines()
    assert header.split()[:3] == ["function", "calls", "failed"]
    assert forward.split()[:3] == ["cudnnActivationForward", "1", "0"]
    assert whole.split()[:3] == ["all", "1", "0"]


def test_records_are_written_read_and_compared(program, tmp_path):
    one, same, other = (tmp_path / f"{name}.json" for name in ("one", "same", "other"))
    for path, mode in ((one, "elu"), (same, "elu"), (other, "relu")):
        done = run("--json", path, program, "4", mode)
        assert done.stderr == ""
        assert all(isinstance(json.loads(line), dict) for line in path.read_text().splitlines())
    calls = read_trace(one)
    (forward,) = (call for call in calls if call.function == "cudnnActivationForward")
    assert (Path(forward.file), forward.line) == (program, 7)

    shown = run("--read", one, "--only", "Activation*")
    assert shown.stdout.startswith("cudnnActivationForward(handle,")
    equal = run("--diff", one, same)
    assert (equal.returncode, equal.stdout) == (0, f"{len(calls)} calls equal, 0 different\n")
    different = run("--diff", one, other)
    assert different.returncode == 1
    assert "- mode=CUDNN_ACTIVATION_ELU\n    + mode=CUDNN_ACTIVATION_RELU" in different.stdout


def test_to_a_file_and_by_name(program, tmp_path):
    out = tmp_path / "calls.txt"
    done = run("-o", out, "--width", "0", "--skip", "*Descriptor", program, "4", "elu")
    assert done.stderr == ""
    rows = out.read_text().splitlines()
    assert rows[0].startswith("cudnnCreate(")
    assert not any("Descriptor(" in row for row in rows)


class TestEnvironmentVariable:
    PROGRAM = "from cudnn_ctypes import raw\nraw.cudnnGetVersion()\n"

    def test_prints_calls(self):
        done = run_program(self.PROGRAM, environment={"CUDNN_CTYPES_TRACE": "1"})
        assert done.stderr.startswith("cudnnGetVersion()")
        assert "<string>:2" in done.stderr

    @pytest.mark.thinned(2)
    @pytest.mark.parametrize(
        ("value", "expected"), [("stats", "function  "), ("nan", "no output that is not finite")]
    )
    def test_concludes(self, value, expected):
        done = run_program(self.PROGRAM, environment={"CUDNN_CTYPES_TRACE": value})
        assert done.stderr.startswith(expected)

    @pytest.mark.soak
    def test_writes_files(self, tmp_path):
        lines, records = tmp_path / "calls.txt", tmp_path / "run-%p.json"
        for path in (lines, records):
            done = run_program(self.PROGRAM, environment={"CUDNN_CTYPES_TRACE": str(path)})
            assert done.stderr == ""
        assert lines.read_text().startswith("cudnnGetVersion()")
        (written,) = tmp_path.glob("run-*.json")
        assert written.name != records.name
        assert [call.function for call in read_trace(written)] == ["cudnnGetVersion"]

    @pytest.mark.soak
    def test_processes_that_are_started_do_not_write_to_the_same_file(self, tmp_path):
        program = f"""
            import subprocess, sys
            from cudnn_ctypes import raw
            raw.cudnnGetVersion()
            subprocess.run([sys.executable, "-c", {self.PROGRAM!r}], check=True)
        """
        for name, files in (("one.json", 1), ("each-%p.json", 2)):
            path = tmp_path / name
            run_program(program, environment={"CUDNN_CTYPES_TRACE": str(path)})
            written = list(tmp_path.glob(f"{name[:3]}*.json"))
            assert [len(read_trace(each)) for each in written] == [1] * files

    @pytest.mark.parametrize("value", ["", "0"])
    def test_off(self, value):
        program = "import sys, cudnn_ctypes\nprint('cudnn_ctypes.evidence.session' in sys.modules)"
        done = run_program(program, environment={"CUDNN_CTYPES_TRACE": value})
        assert done.stdout == "False\n"


@pytest.mark.soak
def test_programs_by_the_environment(program, tmp_path):
    """At the end, in a folder as C and in a file as Python; what it starts is not traced."""
    environment = {"CUDNN_CTYPES_DEVICE": "reference"}
    source = f"__file__ = {str(program)!r}\n{program.read_text()}"
    for path in (f"{tmp_path}/c program/", f"{tmp_path}/program_%p.py"):
        run_program(source, "4", "relu", environment={**environment, "CUDNN_CTYPES_TRACE": path})
    assert "cudnnActivationForward(" in (tmp_path / "c program" / "c_program.c").read_text()
    (written,) = tmp_path.glob("program_*.py")
    assert "raw.cudnnActivationForward(" in written.read_text()


def test_the_first_calls_and_memory(program):
    done = run("--memory", "--width", 0, program, "4", "relu")
    assert "allocate(memory=<x+0, 16 B>, by=cudnn_ctypes)" in done.stderr
    done = run("--first", 3, "--width", 0, program, "4", "relu")
    assert len(done.stderr.splitlines()) == 3
    said = run("--nan", program, "nan", "relu").stderr
    assert said.startswith("call 7 is the first whose output is not finite:\ncudnnActivation")
