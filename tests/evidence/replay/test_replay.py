"""``trace --py``: the program that is written makes the same calls and gives the same numbers."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import ROOT, run_command

from cudnn_ctypes import read_trace
from cudnn_ctypes.evidence.records import CallRecord, call_text

# With the number of outputs that are compared at least.
EXAMPLES = {
    "02_convolution_raw": 1,
    "16_attention_step_by_step": 9,
    "17_ctc": 80,
    "20_convolution_at_every_level": 1,
    "27_nvidia_front_end": 1,
}


def run(*words: object, device: str = "reference") -> Any:
    return run_command(sys.executable, *words, CUDNN_CTYPES_DEVICE=device)


def recorded(program: Path, replay: Path, *, device: str = "reference") -> str:
    """Record a program; what the command says."""
    done = run("-m", "cudnn_ctypes", "trace", "--py", replay, program, device=device)
    assert done.returncode == 0, done.stderr
    assert replay.with_suffix(".npz").is_file()
    return done.stderr


def calls(program: Path, records: Path) -> list[CallRecord]:
    done = run("-m", "cudnn_ctypes", "trace", "--json", records, program)
    assert done.returncode == 0, done.stderr
    return read_trace(records)


def check_example(example: str, folder: Path, device: str) -> None:
    replay = folder / "replay.py"
    assert recorded(ROOT / "examples" / f"{example}.py", replay, device=device) == ""
    done = run("-W", "error", replay, device=device)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) >= EXAMPLES[example]
    if device == "reference":
        assert all(line.endswith(": equal") for line in done.stdout.splitlines())


@pytest.mark.thinned(6)
@pytest.mark.parametrize("example", list(EXAMPLES)[::2])
def test_examples_on_the_reference_device(example, tmp_path):
    check_example(example, tmp_path, "reference")


@pytest.mark.gpu
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_on_the_gpu(example, tmp_path):
    check_example(example, tmp_path, "cuda")


@pytest.mark.soak
def test_makes_the_same_calls(tmp_path):
    example, replay = ROOT / "examples" / "02_convolution_raw.py", tmp_path / "replay.py"
    recorded(example, replay)
    first, second = (
        calls(program, tmp_path / f"{number}.json")
        for number, program in enumerate((example, replay))
    )
    assert [call_text(call) for call in first] == [call_text(call) for call in second]


PROGRAM = """
import numpy as np
from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, TensorDescriptor, raw

memory = DeviceBuffer(256)
with Handle() as handle, TensorDescriptor((1, 1, 4, 4), "float32") as tensor:
    raw.cudnnSetTensor(handle, tensor, memory + 64, 3.0)
    raw.cudnnScaleTensor(handle, tensor, memory + 64, 0.5)
    values = memory.copy_to_host().view("f4")
    memory.copy_from_host(np.arange(64, dtype="f4"))     # the program itself writes
    raw.cudnnAddTensor(handle, 2.0, tensor, memory, 1.0, tensor, memory + 64)
    raw.cudnnSetTensor4dDescriptor.unchecked(tensor, 0, 0, 0, 1, 1, 1)
"""


@pytest.mark.soak
def test_memory_is_as_the_program_left_it(tmp_path):
    program, replay = tmp_path / "program.py", tmp_path / "replay.py"
    program.write_text(PROGRAM)
    assert recorded(program, replay) == ""
    text = replay.read_text()
    assert "y = DeviceBuffer(256)" in text
    assert "y + 64" in text
    assert "raw.cudnnSetTensor4dDescriptor.unchecked(" in text
    assert "# BAD_PARAM" in text
    done = run(replay)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "y+64: equal\n"
    # What is compared is what the program had: i + 16 + 2 i.
    with np.load(replay.with_suffix(".npz")) as data:
        expected = data["expected"]
    np.testing.assert_array_equal(expected.view("f4"), 3 * np.arange(16, dtype="f4") + 16)


DROPOUT = """
import numpy as np
from cudnn_ctypes import DeviceTensor, DropoutDescriptor, Handle, dropout_forward

with Handle() as handle, DropoutDescriptor(handle, 0.0) as dropout:
    x = DeviceTensor.from_numpy(np.arange(24, dtype="f4").reshape(2, 3, 2, 2))
    dropout_forward(handle, x, dropout)
"""
OTHER_SIZE = """\
from cudnn_ctypes.reference.device import dropout
dropout.STATES_SIZE = {}
"""


@pytest.mark.soak
@pytest.mark.parametrize("size", [8, 4096])
def test_sizes_are_asked_of_the_device_that_runs_it(size, tmp_path):
    """States of random numbers take 16 bytes on the reference device, and more on a GPU."""
    program, replay = tmp_path / "program.py", tmp_path / "replay.py"
    program.write_text(DROPOUT)
    recorded(program, replay)
    replay.write_text(OTHER_SIZE.format(size) + replay.read_text())
    done = run(replay)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "y+0: equal\n"


@pytest.mark.soak
def test_other_numbers_are_noticed(tmp_path):
    program, replay = tmp_path / "program.py", tmp_path / "replay.py"
    program.write_text(PROGRAM)
    recorded(program, replay)
    changed = re.sub(r"(cudnnAddTensor\(\s*handle, )2\.0", r"\g<1>2.5", replay.read_text())
    assert changed != replay.read_text()
    replay.write_text(changed)
    done = run(replay)
    assert done.returncode == 1
    assert done.stdout == "y+64: DIFFERENT\n"


@pytest.mark.soak
def test_zeros_are_memory_too(tmp_path):
    program, replay = tmp_path / "program.py", tmp_path / "replay.py"
    program.write_text(
        "from cudnn_ctypes import DeviceTensor, Handle, activation_forward\n"
        "x = DeviceTensor.full((1, 1, 2, 2), 0, 'float32')\n"
        "with Handle() as handle:\n"
        "    y = activation_forward(handle, x, 'sigmoid')\n"
    )
    recorded(program, replay)
    done = run("-W", "error", replay)
    assert (done.returncode, done.stdout) == (0, "y+0: equal\n"), done.stderr


@pytest.mark.soak
def test_what_cannot_be_written_down_is_said(tmp_path):
    program, replay = tmp_path / "program.py", tmp_path / "replay.py"
    program.write_text(
        "from cudnn_ctypes import raw\n"
        "callback = raw.cudnnCallback_t(lambda *arguments: None)\n"
        "raw.cudnnSetCallback(0, None, callback)\n"
        "raw.cudnnGetVersion()\n"
    )
    said = recorded(program, replay)
    assert "left out: cudnnSetCallback: " in said
    text = replay.read_text()
    assert "# left out: cudnnSetCallback: " in text
    assert "raw.cudnnGetVersion()" in text
    assert run(replay).returncode == 0
