"""``trace --py``: the program that is written makes the same calls and gives the same numbers."""

from __future__ import annotations

import gc
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import ROOT, run_command

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.evidence.records import call_text
from cudnn_ctypes.reference.device import dropout

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


def check_example(example: str, folder: Path, device: str) -> None:
    replay = folder / "replay.py"
    assert recorded(ROOT / "examples" / f"{example}.py", replay, device=device) == ""
    done = run("-W", "error", replay, device=device)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) >= EXAMPLES[example]
    if device == "reference":
        assert all(line.endswith(": equal") for line in done.stdout.splitlines())


@pytest.mark.gpu
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_on_the_gpu(example, tmp_path):
    check_example(example, tmp_path, "cuda")


def carried_out(program: Path) -> Any:
    """The trace of a program that is run in this process, and its exit status."""
    status = 0
    with cudnn.trace() as seen:
        try:
            runpy.run_path(str(program), run_name="__main__")
        except SystemExit as ended:
            status = ended.code
    return seen, status


@pytest.fixture
def recorded_text(tmp_path, reference_device):
    """Records a program's text; the trace, and the program that is written."""

    def record(text: str, c: Path | None = None) -> Any:
        replay = tmp_path / "replay.py"
        with cudnn.trace(py=replay, c=c) as seen:
            exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
        return seen, replay

    yield record
    gc.collect()  # what the program left open, before another test looks at calls


def made(seen: Any) -> list[str]:
    """Calls without their memory, but for ends of objects and a JSON of each device's own."""
    left_out = re.compile("^cudnn(Backend)?Destroy|_JSON_")
    texts = [re.sub("<.*?>", "<>", call_text(call)) for call in seen.calls]
    return [text for text in texts if not left_out.search(text)]


@pytest.mark.parametrize(
    "example", [*[*EXAMPLES][:-1], pytest.param([*EXAMPLES][-1], marks=pytest.mark.soak)]
)
def test_examples_make_the_same_calls_with_the_same_numbers(example, recorded_text, capsys):
    first, replay = recorded_text((ROOT / "examples" / f"{example}.py").read_text())
    assert first.left_out == []
    capsys.readouterr()
    second, status = carried_out(replay)
    assert status == 0
    assert made(first) == made(second)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) >= EXAMPLES[example]
    assert all(line.endswith(": equal") for line in printed)


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


CALLS = """\
# program.py:6
handle = raw.cudnnHandle_t()
raw.cudnnCreate(handle)
yDesc = raw.cudnnTensorDescriptor_t()
raw.cudnnCreateTensorDescriptor(yDesc)
raw.cudnnSetTensor4dDescriptor(
    yDesc, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 1, 1, 4, 4
)

# program.py:7
y = DeviceBuffer(256)
y.fill(0)
raw.cudnnSetTensor(handle, yDesc, y + 64, 3.0)

# program.py:8
raw.cudnnScaleTensor(handle, yDesc, y + 64, 0.5)

# program.py:11
y.copy_from_host(data["y"])
raw.cudnnAddTensor(handle, 2.0, yDesc, y, 1.0, yDesc, y + 64)

# program.py:12
# BAD_PARAM
raw.cudnnSetTensor4dDescriptor.unchecked(
    yDesc, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 0, 1, 1, 1
)

# program.py:6
raw.cudnnDestroyTensorDescriptor(yDesc)
raw.cudnnDestroy(handle)
check("y+64", y + 64, "float32", "expected", 0.003)

sys.exit(1 if different else 0)
"""


def test_memory_is_as_the_program_left_it(recorded_text, capsys):
    seen, replay = recorded_text(PROGRAM)
    assert seen.left_out == []
    text = replay.read_text()
    assert text[text.index("# program.py:6") :] == CALLS
    assert carried_out(replay)[1] == 0
    assert capsys.readouterr().out == "y+64: equal\n"
    # What is compared is what the program had: i + 16 + 2 i.
    with np.load(replay.with_suffix(".npz")) as data:
        expected = data["expected"]
    np.testing.assert_array_equal(expected.view("f4"), 3 * np.arange(16, dtype="f4") + 16)
    # Other numbers are noticed.
    changed = re.sub(r"(cudnnAddTensor\(\s*handle, )2\.0", r"\g<1>2.5", text)
    assert changed != text
    replay.write_text(changed)
    assert carried_out(replay)[1] == 1
    assert capsys.readouterr().out == "y+64: DIFFERENT\n"


DROPOUT = """
import numpy as np
from cudnn_ctypes import DeviceTensor, DropoutDescriptor, Handle, dropout_forward

with Handle() as handle, DropoutDescriptor(handle, 0.0) as dropout:
    x = DeviceTensor.from_numpy(np.arange(24, dtype="f4").reshape(2, 3, 2, 2))
    dropout_forward(handle, x, dropout)
"""


@pytest.mark.parametrize("size", [8, 4096])
def test_sizes_are_asked_of_the_device_that_runs_it(size, recorded_text, monkeypatch, capsys):
    """States of random numbers take 16 bytes on the reference device, and more on a GPU."""
    _, replay = recorded_text(DROPOUT)
    monkeypatch.setattr(dropout, "STATES_SIZE", size)
    assert carried_out(replay)[1] == 0
    assert capsys.readouterr().out == "y+0: equal\n"


def test_numbers_on_the_host_are_written_with_their_type(recorded_text, tmp_path, capsys):
    seen, replay = recorded_text(
        "from cudnn_ctypes import DeviceTensor, Graph, Handle\n"
        "graph = Graph(io_data_type='float32')\n"
        "x = graph.tensor((1, 2, 4), name='x')\n"
        "y = graph.add(x, 0.125).set_output(name='y')\n"
        "y = graph.run({'x': DeviceTensor.full((1, 2, 4), 3.0, 'float32')})['y']\n",
        tmp_path / "c",
    )
    assert seen.left_out == []
    text = replay.read_text()
    assert "= ctypes.create_string_buffer(16)\n" in text
    assert re.search(r"\[: 4\] = b'\\x00\\x00\\x00>'  # 0\.125\n", text)
    in_c = (tmp_path / "c" / "c.c").read_text()
    (name,) = re.findall(r"(\w+) = 0\.125f;", in_c)
    assert f"    float {name};\n" in in_c
    assert f"&{name}" in in_c
    assert carried_out(replay)[1] == 0
    assert capsys.readouterr().out == "y+0: equal\n"


def test_zeros_are_memory_too(recorded_text, capsys):
    _, replay = recorded_text(
        "from cudnn_ctypes import DeviceTensor, Handle, activation_forward\n"
        "x = DeviceTensor.full((1, 1, 2, 2), 0, 'float32')\n"
        "with Handle() as handle:\n"
        "    y = activation_forward(handle, x, 'sigmoid')\n"
    )
    assert carried_out(replay)[1] == 0
    assert capsys.readouterr().out == "y+0: equal\n"


def test_what_cannot_be_written_down_is_said(recorded_text):
    seen, replay = recorded_text(
        "from cudnn_ctypes import raw\n"
        "callback = raw.cudnnCallback_t(lambda *arguments: None)\n"
        "raw.cudnnSetCallback(0, None, callback)\n"
        "raw.cudnnGetVersion()\n"
    )
    raw.cudnnSetCallback(0, None, raw.cudnnCallback_t())
    assert seen.left_out[0].startswith("cudnnSetCallback: ")
    text = replay.read_text()
    assert "# left out: cudnnSetCallback: " in text
    assert "raw.cudnnGetVersion()" in text
    assert carried_out(replay)[1] == 0
