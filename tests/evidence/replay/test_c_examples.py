"""``trace --c`` of every example: the C compiles, makes the same calls and gives the same numbers.

Without a GPU it is run with the reference device in the place of the libraries.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from programs import ROOT

from cudnn_ctypes import CallRecord, read_trace
from cudnn_ctypes.raw.function import Parameter, binding
from cudnn_ctypes.runtime import device_count

from .c_programs import check_equal, compared, make, on_the_reference_device, recorded

CALLS = ["02_convolution_raw", "09_rnn", "17_ctc", "19_first_graph_raw", "27_nvidia_front_end"]
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))}

FIRST = {
    "11_train_on_digits": 600,
    "12_lenet_digits": 300,  # two steps: the order of atomic sums changes what later ones give
    "15_character_lstm": 600,
    "22_fusion": 900,  # what is executed; then all engines for other graphs are asked
    "23_engines": 150,
    "24_choosing_an_engine": 600,
}
"""How many calls of long programs are recorded."""

SHORTER = {
    "12_lenet_digits": {"MOMENTUM = 12,": "MOMENTUM = 1,", "tested > 0.95": "tested > 0.5"},
    "15_character_lstm": {"64, 16, 301,": "64, 16, 61,", "< 0.1 * losses": "< losses"},
}
"""Texts to replace in a program, for less training after the calls that are recorded."""

WITHOUT_OUTPUTS = {
    "01_smallest_program",
    "04_layouts",
    "23_engines",
    "24_choosing_an_engine",
    "26_compiled_elsewhere",
}
"""They compute nothing on the reference device."""


@pytest.mark.thinned(30, always=CALLS[:1])
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_on_the_reference_device(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    text, said = recorded(shortened(name, tmp_path), folder, *limit(name))
    assert said == ""
    assert (compared(text) == 0) == (name in WITHOUT_OUTPUTS)
    check_equal(on_the_reference_device(folder), text)


def shortened(name: str, folder: Path) -> Path:
    """The example, or a copy that trains less."""
    if name not in SHORTER:
        return EXAMPLES[name]
    text = EXAMPLES[name].read_text()
    for long, short in SHORTER[name].items():
        assert long in text
        text = text.replace(long, short)
    copy = folder / f"{name}.py"
    copy.write_text(text)
    return copy


def limit(name: str) -> tuple[object, ...]:
    return ("--first", FIRST[name]) if name in FIRST else ()


def plain(value: Any) -> Any:
    """An argument without what only objects of Python tell of memory, without scalars and texts."""
    if isinstance(value, dict):
        if "allocation" in value:
            return {name: value[name] for name in ("allocation", "offset")}
        if value.keys() <= {"host"}:
            return "host"
        return {name: plain(each) for name, each in value.items() if name != "dropout"}
    if isinstance(value, list):
        return [plain(each) for each in value]
    is_name = isinstance(value, str) and re.fullmatch(r"\w+", value) is not None
    return "number" if isinstance(value, (float, str)) and not is_name else value


def arguments(call: CallRecord) -> list[tuple[str, Any]]:
    """Those of which Python knows the length when C passes an address."""
    known = {p.name for p in binding(call.function).parameters if has_length(p)}
    return [(each.name, plain(each.value)) for each in call.arguments if each.name in known]


def has_length(parameter: Parameter) -> bool:
    return parameter.type.kind != "array" or parameter.length is not None


@pytest.mark.soak
@pytest.mark.parametrize("name", CALLS)
def test_makes_the_same_calls(name: str, tmp_path: Path) -> None:
    folder, first, second = (tmp_path / each for each in ("program", "first", "second"))
    recorded(EXAMPLES[name], folder, "--json", first)
    done = on_the_reference_device(folder, "--json", second)
    assert done.returncode == 0, done.stderr
    # The scalars are in the C text, which another test reads.
    one, other = (
        [
            (call.function, call.status, arguments(call))
            for call in read_trace(path)
            if call.function != "cudnnGetVersion"  # returns no status, and Python calls it, too
        ]
        for path in (first, second)
    )
    assert other[: len(one)] == one
    assert all("Destroy" in function for function, *_ in other[len(one) :])


@pytest.mark.gpu
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_on_the_gpu(name: str, tmp_path: Path) -> None:
    if name == "28_synchronized_batch_norm" and device_count() > 1:
        pytest.skip("a recorded program works on one GPU")
    folder = tmp_path / name
    text, said = recorded(EXAMPLES[name], folder, *limit(name), device="cuda")
    captured = "left out: cudnnBackendExecute: it is captured in a CUDA graph\n"
    assert said == (captured if name == "26_compiled_elsewhere" else "")
    assert compared(text) > 0 or name in WITHOUT_OUTPUTS
    done = make(folder, "run", device="cuda")
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = re.findall(r"^\w+\+\d+: (equal|largest difference .*)$", done.stdout, re.M)
    assert len(lines) == compared(text)


TORCH = """
import torch
from cudnn_ctypes import Graph, Handle, activation_forward

torch.manual_seed(0)
graph = Graph("square", io_data_type="float32", compute_data_type="float32")
a = graph.tensor((1, 64, 64), name="a")
graph.mul(a, a).set_output(name="square")
with Handle() as handle:
    for step in range(3):
        x = torch.randn(2, 8, 16, 16, device="cuda")
        y = activation_forward(handle, x * 2, "relu")     # PyTorch's kernel, then cuDNN's
        del y
        square = graph.run({"a": torch.randn(1, 64, 64, device="cuda")})["square"]
        assert torch.isfinite(square + 1).all()
"""


@pytest.mark.gpu
def test_memory_of_torch_on_the_gpu(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    program, folder = tmp_path / "program.py", tmp_path / "out"
    program.write_text(TORCH)
    text, said = recorded(program, folder, device="cuda")
    assert said == ""
    # Each result of the legacy call is compared, though PyTorch gives them one address.
    assert len(re.findall(r"^    compare\(\"y\d*\+0\"", text, re.M)) >= 3
    sizes = [int(size) for size in re.findall(r"cudaMalloc\(&\w+, (\d+)\)", text)]
    assert max(sizes) < 1 << 20  # what a tensor takes, not PyTorch's segments
    done = make(folder, "run", device="cuda")
    assert done.returncode == 0, done.stdout + done.stderr
