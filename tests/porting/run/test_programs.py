"""Programs that use cuDNN, compiled and unchanged: their numbers against NumPy and PyTorch."""

from __future__ import annotations

import time

import pytest

from ..oracles import ORACLES
from ..translated import HERE, differences


@pytest.mark.thinned(27)
@pytest.mark.parametrize("name", sorted(ORACLES))
def test_prints_what_numpy_and_pytorch_say(name, command, compiled):
    pytest.importorskip("torch")
    done = command("run", HERE / "corpus" / name)
    assert done.returncode == 0, done.stderr
    assert differences(done.stdout, list(ORACLES[name]())) == []


@pytest.mark.gpu
@pytest.mark.parametrize("name", sorted(set(ORACLES)))
def test_prints_on_a_gpu_what_numpy_and_pytorch_say(name, command, compiled):
    pytest.importorskip("torch")
    done = command("run", "--device", "gpu", HERE / "corpus" / name)
    assert done.returncode == 0, done.stderr
    assert differences(done.stdout, list(ORACLES[name]()), tolerance=2e-3) == []


def test_a_program_gets_its_arguments_and_gives_its_exit_status(compiled):
    """It launches a kernel, and calls a function that cuDNN 9 dropped and one that is missing."""
    done = compiled(
        """
__global__ void grow(int *n, int by) { *n += by * blockDim.x; }
int main(int n, char **a) {
  int *x; cudnnRNNDescriptor_t r;
  cudaMalloc(&x, 4); cudaMemcpy(x, &n, 4, cudaMemcpyHostToDevice);
  grow<<<1, 2>>>(x, 5);
  cudaMemcpy(&n, x, 4, cudaMemcpyDeviceToHost);
  cudnnCreateRNNDescriptor(&r);
  for (int i = 2; i--;) printf("%s %d\\n", a[2], cudnnSetRNNMatrixMathType(r, CUDNN_FMA_MATH));
  if (n > 23) cudaFreeArray(nullptr);
  return n;
}""",
        name="program.cu",
        arguments=("-x", "two words"),
    )
    assert (done.stdout, done.returncode) == ("two words 2000\n" * 2, 23)
    assert done.stderr.count("program.cu:13: cudnnSetRNNMatrixMathType") == 1


def test_a_program_compiled_for_one_run_is_removed(command, compiled, tmp_path):
    (tmp_path / "program.c").write_text("int main() { return 5; }\n")
    (tmp_path / "tmp").mkdir()
    assert command("run", "program.c", TMPDIR=str(tmp_path / "tmp")).returncode == 5
    deadline = time.monotonic() + 30
    while [*(tmp_path / "tmp").iterdir()] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not [*(tmp_path / "tmp").iterdir()]


@pytest.mark.soak
def test_several_files_with_folders_and_definitions(command, compiled, tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "own.h").write_text("int number();\n")
    (tmp_path / "own.c").write_text('#include "own.h"\nint number() { return N; }\n')
    (tmp_path / "main.cpp").write_text(
        'extern "C" {\n#include "own.h"\n}\n#include <cudnn.h>\n'
        "int main() { return number() + (cudnnGetVersion() >= 90000); }\n"
    )
    words = ("main.cpp", "-I", "include", "own.c", "-D", "N=41", "-O2", "-std=c++17")
    done = command("build", *words, "-o", "program")
    assert done.returncode == 0, done.stderr
    assert command("run", "./program").returncode == 42


@pytest.mark.soak
def test_c_with_headers_of_cpp_is_cpp_and_a_function_of_the_driver_stops_where_it_is_called(
    command, tmp_path
):
    (tmp_path / "program.c").write_text(
        "#include <string>\n#include <cuda.h>\n#include <cudnn.h>\nint main(int n, char **) {\n"
        "if (n > 1) cuInit(0);\nreturn std::string(cudnnGetErrorString(CUDNN_STATUS_SUCCESS)) !="
        ' "CUDNN_STATUS_SUCCESS";\n}\n'
    )
    assert command("build", "program.c").returncode == 0
    assert command("run", "./program").returncode == 0
    done = command("run", "./program", "1")
    assert done.returncode == 127
    assert "program.c:5: cuInit is not carried out by the reference device" in done.stderr


@pytest.mark.soak
def test_an_old_function_between_forwarded_calls_reads_a_descriptor_as_it_is_then(compiled):
    done = compiled(
        """
int main() {
  cudnnRNNDescriptor_t r; cudnnDropoutDescriptor_t d; cudnnRNNBiasMode_t found;
  cudnnCreateRNNDescriptor(&r); cudnnCreateDropoutDescriptor(&d);
  cudnnSetDropoutDescriptor(d, nullptr, 0, nullptr, 0, 0);
  for (auto bias : {CUDNN_RNN_NO_BIAS, CUDNN_RNN_DOUBLE_BIAS}) {
    cudnnSetRNNDescriptor_v8(r, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, bias, CUDNN_UNIDIRECTIONAL,
                             CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
                             CUDNN_DEFAULT_MATH, 4, 4, 4, 1, d, 0);
    printf("%d ", cudnnGetRNNBiasMode(r, &found) == 0 && found == bias);
  }
}""",
        *("--device", "gpu"),
    )
    assert done.stdout == "1 1 ", done.stderr


@pytest.mark.soak
def test_what_the_compiler_refuses_and_what_is_missing_are_told(compiled):
    done = compiled("int main() { return cudnnNothing(); }")
    assert done.returncode == 2
    assert "cudnnNothing" in done.stderr
    assert "program.cpp:5" in done.stderr
    done = compiled("#include <cufft.h>\nint main() {}")
    assert "pip install nvidia-cufft-cu12" in done.stderr
