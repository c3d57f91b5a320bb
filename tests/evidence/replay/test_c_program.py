"""Recording programs as C, compiling them, and running them with and without a GPU."""

from __future__ import annotations

import gc
import re
import shutil
import struct
import sys
from ctypes import c_bool, c_double, c_float, c_longlong, c_ulonglong, c_void_p
from pathlib import Path
from typing import Any

import pytest
from programs import ROOT, run_command

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.evidence.replay import c_program
from cudnn_ctypes.evidence.replay import recorded as recorded_values
from cudnn_ctypes.runtime import device_count
from tools import example_outputs
from tools.generate.include import compiler, include_flags, wheel_include

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror")


@pytest.fixture(autouse=True, scope="module")
def compiled_once(cache):
    """The cache of the library that compiled programs load."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(cache))
        yield


def run(*command: object, device: str = "reference", **options: Any) -> Any:
    return run_command(*command, CUDNN_CTYPES_DEVICE=device, **options)


def traced(program: Path, folder: Path, *flags: object, device: str = "reference") -> Any:
    """Record a program as C in a folder."""
    command = (sys.executable, "-m", "cudnn_ctypes", "trace", "--c", folder, *flags, program)
    done = run(*command, device=device)
    assert done.returncode == 0, done.stderr
    return done


def recorded(
    program: Path, folder: Path, *flags: object, device: str = "reference"
) -> tuple[str, str]:
    """Record a program; the C text, and what the command says."""
    said = traced(program, folder, *flags, device=device).stderr
    (text,) = folder.glob("*.c")
    return text.read_text(), said


def recorded_here(program: str, folder: Path) -> str:
    """Record a program's text in this process; the C text."""
    with cudnn.use_reference_device(), cudnn.trace(c=folder) as seen:
        exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})
    gc.collect()  # what the program left open, before another test looks at calls
    assert seen.left_out == []
    (text,) = folder.glob("*.c")
    return text.read_text()


WRITTEN_OR_RUN = pytest.mark.parametrize(
    "runs", [False, pytest.param(True, marks=pytest.mark.soak)], ids=("written", "run")
)


def flags_of_headers() -> list[str]:
    """The compiler and what it needs; skips where there are none."""
    try:
        return [compiler(), *include_flags(wheel_include("nvidia.cudnn"))]
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


def on_the_reference_device(folder: Path, *flags: object) -> Any:
    """Compile the program in a folder, and run it without a GPU."""
    flags_of_headers()
    (source,) = folder.glob("*.c")
    assert main(["build", str(source), *STRICT, "-o", str(folder / "program")]) == 0
    return run(sys.executable, "-m", "cudnn_ctypes", "run", *flags, "./program", folder=folder)


def compared(text: str) -> int:
    """How many outputs a program compares."""
    return len(re.findall(r"^    compare\(", text, re.M))


def check_equal(done: Any, text: str) -> None:
    """All outputs are equal, and what failed fails again."""
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    failures = re.findall(r"^line \d+, \w+: .*, as expected$", done.stdout, re.M)
    assert len(failures) == len(re.findall(r"^    EXPECT\(", text, re.M))
    assert len(re.findall(r"^\w+\+\d+: equal$", done.stdout, re.M)) == compared(text)
    assert len(done.stdout.splitlines()) == len(failures) + compared(text)


def make(folder: Path, *targets: str, device: str = "reference") -> Any:
    """Run make, with CUDA from its wheels where it is not installed."""
    if shutil.which("make") is None:
        pytest.skip("no make")
    flags = flags_of_headers()
    variables = []
    if not Path("/usr/local/cuda/include/cuda_runtime_api.h").is_file():
        cuda = wheel_include("nvidia.cuda_runtime")
        includes = " ".join(flags[1:]).removeprefix("-I")
        variables = [f"CUDA_LIB={cuda.parent / 'lib'}", f"CUDA_INCLUDE={includes}"]
    return run("make", "-C", folder, *targets, "CFLAGS=-Wall -Wextra -Werror", *variables)


# --- ``trace --c``: what the C program looks like, and that it notices what differs ---------------


PROGRAM = """
import numpy as np
from cudnn_ctypes import DeviceBuffer, Handle, TensorDescriptor, raw

memory = DeviceBuffer(256)
with Handle() as handle, TensorDescriptor((1, 1, 4, 4), "float32") as tensor:
    raw.cudnnSetTensor(handle, tensor, memory + 64, 3.0)
    raw.cudnnScaleTensor(handle, tensor, memory + 64, 0.1)
    values = memory.copy_to_host().view("f4")
    memory.copy_from_host(np.arange(64, dtype="f4"))     # the program itself writes
    raw.cudnnAddTensor(handle, 2.0, tensor, memory, float("inf"), tensor, memory + 64)
    raw.cudnnSetTensor4dDescriptor.unchecked(tensor, 0, 0, 0, 1, 1, 1)
"""


MAIN = """\
int main(void)
{
    /* program.py:6 */
    cudnnHandle_t handle;
    CHECK(cudnnCreate(&handle));
    cudnnTensorDescriptor_t yDesc;
    CHECK(cudnnCreateTensorDescriptor(&yDesc));
    CHECK(cudnnSetTensor4dDescriptor(yDesc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 4, 4));

    /* program.py:7 */
    void *y;
    CHECK_CUDA(cudaMalloc(&y, 256));
    CHECK_CUDA(cudaMemset(y, 0, 256));
    CHECK(cudnnSetTensor(handle, yDesc, (char *)y + 64, &(float){3.0f}));

    /* program.py:8 */
    CHECK(cudnnScaleTensor(handle, yDesc, (char *)y + 64, &(float){0.1f}));

    /* program.py:11 */
    upload(y, "y.bin");
    CHECK(cudnnAddTensor(handle, &(float){2.0f}, yDesc, y, &(float){INFINITY}, yDesc,
        (char *)y + 64));

    /* program.py:12 */
    EXPECT(CUDNN_STATUS_BAD_PARAM, cudnnSetTensor4dDescriptor(yDesc, CUDNN_TENSOR_NCHW,
        CUDNN_DATA_FLOAT, 0, 1, 1, 1));

    /* program.py:6 */
    CHECK(cudnnDestroyTensorDescriptor(yDesc));
    CHECK(cudnnDestroy(handle));
    compare("y+64", (char *)y + 64, FLOAT32, "expected.bin", 0.003);

    CHECK_CUDA(cudaFree(y));
    return different != 0;
}
"""


def test_reads_as_c(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    text, said = recorded(program, tmp_path / "out")
    assert said == ""
    assert text[text.index("int main") :] == MAIN
    readme = (tmp_path / "out" / "README.md").read_text()
    assert "on the reference device" in readme
    assert "program.py" in readme
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "Makefile",
        "README.md",
        "data",
        "out.c",
    ]


def literals():
    """Types of C, what a program writes for a value, and the bytes that C is to have."""
    inf, nan = float("inf"), float("nan")
    for letter, base, c in (("f", c_float, "float"), ("d", c_double, "double")):
        for number in (0.1, -2.0, 1e30, 1e-38, 16777216.0, inf, -inf, nan):
            yield c, c_program._number(base, number), struct.pack(f"<{letter}", number)
            held = struct.pack(f"<{letter}", number)
            yield c, c_program.host_value(held, f"float{8 * len(held)}"), held
            scalar = recorded_values.Scalar(number, f"float{8 * len(held)}")
            yield c, f"*{c_program._scalar(scalar)}", held
    for number in (0, -1, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63)):
        yield "int64_t", c_program._number(c_longlong, number), struct.pack("<q", number)
    for number in (2**63, 2**64 - 1):
        yield "uint64_t", c_program._number(c_ulonglong, number), struct.pack("<Q", number)
    for truth in (True, False):
        yield "bool", c_program._number(c_bool, truth), bytes([truth])
        yield "bool", c_program.host_value(bytes([truth]), "bool"), bytes([truth])
    for number in (1.5, -0.25):
        halves = struct.pack("<e", number), struct.pack("<f", number)[2:]
        for held, kind in zip(halves, ("float16", "bfloat16"), strict=True):
            yield "uint16_t", c_program.host_value(held, kind), held
            scalar = recorded_values.Scalar(number, kind)
            yield "uint16_t", f"*{c_program._scalar(scalar)}", held
    yield "int8_t", c_program.host_value(b"\x85", "int8"), b"\x85"
    yield "uint8_t", c_program.host_value(b"\x85", "fp8_e4m3"), b"\x85"
    text = bytes(range(1, 256)) + b"??=1"
    yield "char", c_program._literal(text), text + b"\0"


def test_literals_mean_in_c_what_the_values_were(tmp_path):
    shown = [
        f"{{ const {c} x{'[]' * (c == 'char')} = {text}; show(&x, sizeof x); }}"
        for c, text, _ in literals()
    ]
    (tmp_path / "literals.c").write_text(
        "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>\n"
        "static void show(const void *x, size_t n) {\n"
        '  for (size_t i = 0; i < n; i++) printf("%02x", ((const unsigned char *)x)[i]);\n'
        '  puts("");\n}\nint main(void) {\n' + "\n".join(shown) + "\n}\n"
    )
    done = run(flags_of_headers()[0], *STRICT, "literals.c", "-o", "literals", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = run("./literals", folder=tmp_path).stdout.split()
    assert printed == [held.hex() for _, _, held in literals()]


def test_names_are_those_of_the_calls_that_compute(tmp_path):
    text = recorded_here(
        "from cudnn_ctypes import ConvolutionDescriptor as Conv, DeviceTensor, Handle\n"
        "from cudnn_ctypes import convolution_forward\n"
        "x, w = (DeviceTensor.full(s, 1.0, 'float32') for s in ((1, 2, 5, 5), (3, 2, 3, 3)))\n"
        "with Handle() as handle, Conv() as conv:\n"
        "    for _ in range(2):\n"
        "        convolution_forward(handle, x, w, conv).close()\n",
        tmp_path / "out",
    )
    declared = re.findall(r"^    (\w+_t) (\w+);", text, re.M)
    # cudnnGetConvolution2dForwardOutputDim, which comes first, says inputTensorDesc, filterDesc.
    assert {name for kind, name in declared if kind.endswith("Descriptor_t")} == {
        *("xDesc", "wDesc", "yDesc", "convDesc")
    }
    assert re.findall(r'compare\("(\w+)\+0"', text) == ["y", "y2"]


@pytest.mark.soak
def test_failures_and_numbers_are_compared(tmp_path):
    folder = tmp_path / "out"
    text = recorded_here(PROGRAM, folder)
    done = on_the_reference_device(folder)
    assert done.returncode == 0, done.stderr
    expected, equal = done.stdout.splitlines()
    assert re.fullmatch(
        r"line \d+, cudnnSetTensor4dDescriptor: CUDNN_STATUS_BAD_PARAM, as expected", expected
    ), expected
    assert equal == "y+64: equal"

    source = folder / "out.c"
    other = text.replace("CUDNN_STATUS_BAD_PARAM", "CUDNN_STATUS_NOT_SUPPORTED")
    source.write_text(other.replace("INFINITY", "2"))
    different = on_the_reference_device(folder)
    assert (different.returncode, different.stdout.splitlines()[-1]) == (1, "y+64: DIFFERENT")
    assert "EXPECTED" in different.stdout
    # A call that succeeded and now fails ends the program.
    source.write_text(text.replace("CHECK(cudnnScaleTensor(handle", "CHECK(cudnnScaleTensor(NULL"))
    failed = on_the_reference_device(folder)
    assert failed.returncode == 2
    assert re.search(r"out\.c:\d+: cudnnScaleTensor: ", failed.stderr)


@pytest.mark.soak
def test_reals_may_be_near(tmp_path):
    folder = tmp_path / "out"
    text = recorded_here(
        "from cudnn_ctypes import DeviceTensor, Handle, TensorDescriptor, raw\n"
        "with Handle() as handle:\n"
        "    for kind in ('float64', 'float16', 'bfloat16', 'float32'):\n"
        "        x = DeviceTensor.full((1, 1, 1, 4), 3.0, kind)\n"
        "        with TensorDescriptor((1, 1, 1, 4), kind) as desc:\n"
        "            raw.cudnnScaleTensor(handle, desc, x, 0.5)\n",
        folder,
    )
    assert all(kind in text for kind in ("FLOAT64", "FLOAT16", "BFLOAT16", "FLOAT32"))
    assert "&(double){0.5}" in text
    (source,) = folder.glob("*.c")

    def printed(*factors: str) -> list[str]:
        """What the program says of each type where it multiplies by other numbers."""
        others = iter(factors)
        source.write_text(re.sub(r"{0\.5f?}", lambda _: f"{{{next(others)}}}", text))
        done = on_the_reference_device(folder)
        assert done.returncode == ("DIFFERENT" in done.stdout), done.stderr
        return [line.partition(": ")[2] for line in done.stdout.splitlines()]

    assert printed("0.5", "0.5f", "0.5f", "0.5f") == ["equal"] * 4
    # One step of 16-bit types from 1.5 is 2^-10 and 2^-7.
    assert printed("0.5001", "0.50033f", "0.503f", "0.5001f") == [
        f"largest difference {each}" for each in ("0.0003", "0.00098", "0.0078", "0.0003")
    ]
    assert printed("0.6", "0.6f", "0.6f", "0.6f") == ["DIFFERENT"] * 4


@WRITTEN_OR_RUN
def test_a_part_of_a_program(runs, tmp_path):
    """What was there before is made in it; what cannot be is said to lack."""
    folder = tmp_path / "part"
    with cudnn.use_reference_device(), cudnn.Handle() as handle, cudnn.Handle() as other:
        x = cudnn.DeviceTensor.full((1, 1, 2, 2), 1.0, "float32")
        dropout = cudnn.DropoutDescriptor(other, 0.5)
        with cudnn.TensorDescriptor((1, 1, 2, 2), "float32", layout="NHWC") as before:
            with cudnn.trace(c=folder, py=tmp_path / "part.py") as seen:
                raw.cudnnScaleTensor(handle, before, x, 2.0)
                raw.cudnnGetDropoutDescriptor(dropout, other, c_float(), c_void_p(), c_ulonglong())
                cudnn.activation_forward(handle, x, "relu").close()
            (left_out,) = seen.left_out
        dropout.close()
        x.close()
    assert left_out.startswith(
        "cudnnGetDropoutDescriptor: dropoutDesc was made before the trace began, "
    )
    text = (folder / "part.c").read_text()
    assert "CHECK(cudnnCreateTensorDescriptor(&yDesc));" in text
    assert "cudnnSetTensor4dDescriptor(yDesc, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 1, 2" in text
    assert text.index("cudnnScaleTensor(handle, yDesc") > text.index("cudnnCreate(&handle)")
    assert f"/* Left out: {left_out} */" in text
    assert "dropoutDesc was made before" in (folder / "README.md").read_text()
    if not runs:
        return
    check_equal(on_the_reference_device(folder), text)
    done = run(sys.executable, "-W", "error", tmp_path / "part.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "y+0: equal\ny2+0: equal\n"


@WRITTEN_OR_RUN
def test_a_call_that_never_came_to_c_is_left_out(runs, tmp_path):
    folder = tmp_path / "out"
    with cudnn.use_reference_device(), cudnn.trace(c=folder) as seen:
        tensor = raw.cudnnTensorDescriptor_t()
        raw.cudnnCreateTensorDescriptor(tensor)
        with pytest.raises(TypeError):
            raw.cudnnSetTensor4dDescriptor(tensor, "NCHW", 0, 1, 1, 1, 1)
        raw.cudnnDestroyTensorDescriptor(tensor)
        # Of what is gone C would read freed memory.
        assert raw.cudnnDestroyTensorDescriptor.unchecked(tensor)
    assert len(seen.calls) == 4
    text = (folder / "out.c").read_text()
    assert text.count("cudnnDestroyTensorDescriptor(tensorDesc)") == 1
    assert "Left out: cudnnSetTensor4dDescriptor: " in text
    assert "Left out: cudnnDestroyTensorDescriptor: " in text
    if runs:
        check_equal(on_the_reference_device(folder), text)


@pytest.mark.soak
def test_a_call_that_ends_the_process_is_the_last(tmp_path):
    program, folder = tmp_path / "program.py", tmp_path / "out"
    program.write_text(
        "import os\n"
        "from cudnn_ctypes import DeviceTensor, Handle, TensorDescriptor, raw\n"
        "from cudnn_ctypes.raw.function import intercept\n"
        "x = DeviceTensor.full((1, 1, 2, 2), 3.0, 'float32')\n"
        "with Handle() as handle, TensorDescriptor((1, 1, 2, 2), 'float32') as desc:\n"
        "    raw.cudnnScaleTensor(handle, desc, x, 2.0)\n"
        "    intercept('cudnnSetTensor', lambda *arguments: os._exit(9))\n"
        "    raw.cudnnSetTensor(handle, desc, x, 4.0)\n"
    )
    command = (sys.executable, "-m", "cudnn_ctypes", "trace", "--flush", "--c", folder, program)
    assert run(*command).returncode == 9
    text = (folder / "out.c").read_text()
    last = "CHECK(cudnnSetTensor(handle, yDesc, y, &(float){4.0f}));"
    assert text.index("cudnnScaleTensor(") < text.index(last) < text.index("cudnnDestroy(handle)")
    assert 'upload(y, "y.bin");' in text
    check_equal(on_the_reference_device(folder), text)


@WRITTEN_OR_RUN
def test_streams_are_made_and_waited_for(runs, tmp_path):
    folder = tmp_path / "out"
    text = recorded_here(
        "from cudnn_ctypes import DeviceTensor, Handle, TensorDescriptor, cudart, raw\n"
        "x = DeviceTensor.full((1, 1, 2, 2), 1.0, 'float32')\n"
        "one, other = raw.cudaStream_t(), raw.cudaStream_t()\n"
        "cudart.cudaStreamCreate(one)\n"
        "cudart.cudaStreamCreate(other)\n"
        "with Handle() as handle, TensorDescriptor((1, 1, 2, 2), 'float32') as desc:\n"
        "    for stream in (one, other, one, None):\n"
        "        raw.cudnnSetStream(handle, stream)\n"
        "        raw.cudnnScaleTensor(handle, desc, x, 2.0)\n",
        folder,
    )
    assert text.count("CHECK_CUDA(cudaStreamCreate(&stream") == 2
    assert text.count("CHECK_CUDA(cudaStreamDestroy(stream") == 2
    assert text.count("CHECK(cudnnSetStream(handle, stream1));") == 2
    assert "CHECK(cudnnSetStream(handle, NULL));" in text
    assert text.count("CHECK_CUDA(cudaDeviceSynchronize());") == 3
    if runs:
        check_equal(on_the_reference_device(folder), text)


@pytest.mark.soak
def test_the_makefile_links_the_libraries(tmp_path):
    folder = tmp_path / "a folder's"
    recorded_here(PROGRAM, folder)
    done = make(folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "a_folder_s").is_file()
    done = make(folder, "run")  # without a GPU or with one
    if done.returncode != 0:
        assert done.returncode == 2
        assert re.search(r"a_folder_s\.c:\d+: cud\w+: ", done.stderr), done.stderr


# --- ``trace --c`` of every example --------------------------------------------------------------


CALLS = ["02_convolution_raw", "09_rnn", "17_ctc", "19_first_graph_raw", "27_nvidia_front_end"]
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))}
HERE = ["02_convolution_raw", "04_layouts", "18_first_graph", "19_first_graph_raw"]
HERE.append("25_graphs_as_functions")  # a GPU runs all

FIRST = {
    "11_train_on_digits": 80,
    "12_lenet_digits": 300,  # two steps: the order of atomic sums changes what later ones give
    "15_character_lstm": 600,
    "22_fusion": 900,  # what is executed; then all engines for other graphs are asked
    "23_engines": 150,
    "24_choosing_an_engine": 600,
}
"""How many calls of long programs are recorded."""

WITHOUT_OUTPUTS = {
    "01_smallest_program",
    "04_layouts",
    "23_engines",
    "24_choosing_an_engine",
    "26_compiled_elsewhere",
}
"""They compute nothing on the reference device."""


@pytest.mark.soak
@pytest.mark.parametrize("name", HERE)
def test_examples_on_the_reference_device(name, tmp_path):
    """They print what is stored, too."""
    folder, first, second = (tmp_path / each for each in (name, "first.json", "second.json"))
    to_first, to_second = (("--json", path) if name in CALLS else () for path in (first, second))
    done = traced(EXAMPLES[name], folder, *to_first)
    assert done.stderr == ""
    before = example_outputs.stored(EXAMPLES[name]).read_text("utf-8")
    assert not example_outputs.differences(name, before, done.stdout), done.stdout
    text = (folder / f"{name}.c").read_text()
    assert (compared(text) == 0) == (name in WITHOUT_OUTPUTS)
    check_equal(on_the_reference_device(folder, *to_second), text)
    if name in CALLS:
        check_calls(first, second)


def limit(name: str) -> tuple[object, ...]:
    return ("--first", FIRST[name]) if name in FIRST else ()


_STORED = "CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION"


def check_calls(first: Path, second: Path) -> None:
    """The C program makes the same calls; their arguments decide the numbers that it compares."""
    for call in cudnn.read_trace(first):  # each has its place
        assert Path(call.file).stem in CALLS
        shown = [each.value for each in call.arguments]
        assert not [each for each in shown if isinstance(each, str) and each.startswith("<")]
    one, other = (
        [
            (call.function, call.status)
            for call in cudnn.read_trace(path)
            if call.function != "cudnnGetVersion"  # returns no status, and Python calls it, too
            if all(each.value != _STORED for each in call.arguments)  # its length is a device's
        ]
        for path in (first, second)
    )
    assert other[: len(one)] == one
    assert all("Destroy" in function for function, *_ in other[len(one) :])


@pytest.mark.gpu
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_on_the_gpu(name, tmp_path):
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
def test_memory_of_torch_on_the_gpu(tmp_path):
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
