"""``trace --c``: what the C program looks like, and that it notices what differs."""

from __future__ import annotations

import re
import sys
from ctypes import c_float, c_ulonglong, c_void_p
from pathlib import Path

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceTensor,
    DropoutDescriptor,
    Handle,
    TensorDescriptor,
    activation_forward,
    raw,
    trace,
    use_reference_device,
)

from .c_programs import check_equal, make, on_the_reference_device, recorded, run

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


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_reads_as_c(program: Path, tmp_path: Path) -> None:
    text, said = recorded(program, tmp_path / "out")
    assert said == ""
    assert "void *y;\n    CHECK_CUDA(cudaMalloc(&y, 256));\n" in text
    assert "cudnnTensorDescriptor_t yDesc;\n    CHECK(cudnnCreateTensorDescriptor(&yDesc));" in text
    assert "CHECK(cudnnSetTensor(handle, yDesc, (char *)y + 64, &(float){3.0f}));" in text
    assert "&(float){0.1f}" in text
    assert "&(float){INFINITY}" in text
    assert (
        "EXPECT(CUDNN_STATUS_BAD_PARAM, cudnnSetTensor4dDescriptor(yDesc, CUDNN_TENSOR_NCHW,\n"
        "        CUDNN_DATA_FLOAT, 0, 1, 1, 1));" in text
    )
    assert text.index("cudnnDestroyTensorDescriptor(yDesc)") < text.index("cudnnDestroy(handle)")
    assert 'compare("y+64", (char *)y + 64, FLOAT32, "expected.bin");' in text
    assert text.index("compare(") < text.index("cudaFree(y)")
    readme = (tmp_path / "out" / "README.md").read_text()
    assert "on the reference device" in readme
    assert "program.py" in readme
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "Makefile",
        "README.md",
        "data",
        "out.c",
    ]


def test_names_are_those_of_the_calls_that_compute(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from cudnn_ctypes import ConvolutionDescriptor as Conv, DeviceTensor, Handle\n"
        "from cudnn_ctypes import convolution_forward\n"
        "x, w = (DeviceTensor.full(s, 1.0, 'float32') for s in ((1, 2, 5, 5), (3, 2, 3, 3)))\n"
        "with Handle() as handle, Conv() as conv:\n"
        "    for _ in range(2):\n"
        "        convolution_forward(handle, x, w, conv).close()\n"
    )
    text, _ = recorded(program, tmp_path / "out")
    declared = re.findall(r"^    (\w+_t) (\w+);", text, re.M)
    # cudnnGetConvolution2dForwardOutputDim, which comes first, says inputTensorDesc, filterDesc.
    assert {name for kind, name in declared if kind.endswith("Descriptor_t")} == {
        *("xDesc", "wDesc", "yDesc", "convDesc")
    }
    assert re.findall(r'compare\("(\w+)\+0"', text) == ["y", "y2"]


@pytest.mark.soak
def test_failures_and_numbers_are_compared(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    text, _ = recorded(program, folder)
    done = on_the_reference_device(folder)
    assert done.returncode == 0, done.stderr
    expected, equal = done.stdout.splitlines()
    assert re.fullmatch(r"line \d+, cudnnSetTensor4dDescriptor: an error, as expected", expected), (
        expected
    )
    assert equal == "y+64: equal"

    source = folder / "out.c"
    source.write_text(text.replace("INFINITY", "2"))
    different = on_the_reference_device(folder)
    assert (different.returncode, different.stdout.splitlines()[-1]) == (1, "y+64: DIFFERENT")
    source.write_text(text.replace("CUDNN_STATUS_BAD_PARAM", "CUDNN_STATUS_NOT_SUPPORTED"))
    different = on_the_reference_device(folder)
    assert different.returncode == 1
    assert "EXPECTED" in different.stdout
    # A call that succeeded and now fails ends the program.
    source.write_text(text.replace("CHECK(cudnnScaleTensor(handle", "CHECK(cudnnScaleTensor(NULL"))
    failed = on_the_reference_device(folder)
    assert failed.returncode == 2
    assert re.search(r"out\.c:\d+: cudnnScaleTensor: ", failed.stderr)


def near(folder: Path, factor: str) -> str:
    (source,) = folder.glob("*.c")
    text = re.sub(r"&\(float\){0\.5\w*}", f"&(float){{{factor}}}", source.read_text())
    source.write_text(text)
    done = on_the_reference_device(folder)
    assert done.returncode == ("DIFFERENT" in done.stdout)
    return str(done.stdout)


@pytest.mark.soak
@pytest.mark.parametrize("data_type", ["float64", "float16", "bfloat16", "float32"])
def test_reals_may_be_near(data_type: str, tmp_path: Path) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "out"
    program.write_text(
        "import numpy as np\n"
        "from cudnn_ctypes import DeviceTensor, Handle, TensorDescriptor, raw\n"
        f"x = DeviceTensor.full((1, 1, 1, 4), 3.0, {data_type!r})\n"
        f"with Handle() as handle, TensorDescriptor((1, 1, 1, 4), {data_type!r}) as desc:\n"
        "    raw.cudnnScaleTensor(handle, desc, x, 0.5)\n"
    )
    text, _ = recorded(program, folder)
    assert data_type.upper() in text
    if data_type == "float64":
        assert "&(double){0.5}" in text
        (source,) = folder.glob("*.c")
        source.write_text(text.replace("(double){0.5}", "(double){0.5001}"))
        done = on_the_reference_device(folder)
        assert done.stdout == "y+0: largest difference 0.0003\n"
        return
    assert near(folder, "0.5f") == "y+0: equal\n"
    # One step of 16-bit types from 1.5 is 2^-10 and 2^-7.
    factor, difference = {
        "float16": ("0.50033f", "0.00098"),
        "bfloat16": ("0.503f", "0.0078"),
        "float32": ("0.5001f", "0.0003"),
    }[data_type]
    assert near(folder, factor) == f"y+0: largest difference {difference}\n"
    assert near(folder, "0.51f") == "y+0: DIFFERENT\n"


@pytest.mark.soak
def test_a_part_of_a_program(tmp_path: Path) -> None:
    """What was there before is made in it; what cannot be is said to lack."""
    folder = tmp_path / "part"
    with use_reference_device(), Handle() as handle, Handle() as other:
        x = DeviceTensor.full((1, 1, 2, 2), 1.0, "float32")
        dropout = DropoutDescriptor(other, 0.5)
        with TensorDescriptor((1, 1, 2, 2), "float32", layout="NHWC") as before:
            with trace(c=folder, py=tmp_path / "part.py") as seen:
                raw.cudnnScaleTensor(handle, before, x, 2.0)
                raw.cudnnGetDropoutDescriptor(dropout, other, c_float(), c_void_p(), c_ulonglong())
                activation_forward(handle, x, "relu").close()
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
    check_equal(on_the_reference_device(folder), text)
    done = run(sys.executable, "-W", "error", tmp_path / "part.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "y+0: equal\ny2+0: equal\n"


def test_a_call_that_never_came_to_c_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with use_reference_device(), trace(c=folder) as seen:
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
    check_equal(on_the_reference_device(folder), text)


@pytest.mark.soak
def test_a_call_that_ends_the_process_is_the_last(tmp_path: Path) -> None:
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


@pytest.mark.soak
def test_streams_are_made_and_waited_for(tmp_path: Path) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "out"
    program.write_text(
        "from cudnn_ctypes import DeviceTensor, Handle, TensorDescriptor, cudart, raw\n"
        "x = DeviceTensor.full((1, 1, 2, 2), 1.0, 'float32')\n"
        "one, other = raw.cudaStream_t(), raw.cudaStream_t()\n"
        "cudart.cudaStreamCreate(one)\n"
        "cudart.cudaStreamCreate(other)\n"
        "with Handle() as handle, TensorDescriptor((1, 1, 2, 2), 'float32') as desc:\n"
        "    for stream in (one, other, one, None):\n"
        "        raw.cudnnSetStream(handle, stream)\n"
        "        raw.cudnnScaleTensor(handle, desc, x, 2.0)\n"
    )
    text, _ = recorded(program, folder)
    assert text.count("CHECK_CUDA(cudaStreamCreate(&stream") == 2
    assert text.count("CHECK_CUDA(cudaStreamDestroy(stream") == 2
    assert text.count("CHECK(cudnnSetStream(handle, stream1));") == 2
    assert "CHECK(cudnnSetStream(handle, NULL));" in text
    assert text.count("CHECK_CUDA(cudaDeviceSynchronize());") == 3
    check_equal(on_the_reference_device(folder), text)


def test_gaps_are_nobodys_numbers(tmp_path: Path) -> None:
    """Between the rows of y nobody writes; what is there by chance is neither kept nor compared."""
    program, folder = tmp_path / "program.py", tmp_path / "out"
    program.write_text(
        "import numpy as np\n"
        "from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, TensorDescriptor, raw\n"
        "x = DeviceTensor.full((1, 1, 2, 2), 1.0, 'float32')\n"
        "memory = DeviceBuffer(64)\n"
        "wide = TensorDescriptor((1, 1, 2, 2), 'float32', strides=(16, 16, 8, 1))\n"
        "with Handle() as handle, wide, TensorDescriptor((1, 1, 2, 2), 'float32') as dense:\n"
        "    raw.cudnnTransformTensor(handle, 1.0, dense, x, 0.0, wide, memory)\n"
    )
    text, _ = recorded(program, folder)
    assert "CHECK_CUDA(cudaMemset(y, 0, 64));" in text
    expected = np.fromfile(folder / "data" / "expected.bin", "f4")
    assert expected.tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 1, 1]
    check_equal(on_the_reference_device(folder), text)


def test_the_makefile_links_the_libraries(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a folder's"
    text, _ = recorded(program, folder)
    assert "int main(void)" in text
    done = make(folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "a_folder_s").is_file()
    done = make(folder, "run")  # without a GPU or with one
    if done.returncode != 0:
        assert done.returncode == 2
        assert re.search(r"a_folder_s\.c:\d+: cud\w+: ", done.stderr), done.stderr
