"""What programs do besides calling cuDNN: threads, forks, callbacks, objects that outlive main."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

from cudnn_ctypes.porting.run.library import headers
from cudnn_ctypes.raw.headers import include_folder

from ..translated import HERE
from .conftest import HEAD


@pytest.mark.soak
def test_threads_and_forks(compiled):
    done = compiled("""
#include <thread>
#include <vector>
#include <unistd.h>
#include <sys/wait.h>
float once() {
  cudnnHandle_t h; cudnnTensorDescriptor_t d; float a = 1, b = 0, *x, y[2];
  cudnnCreate(&h); cudnnCreateTensorDescriptor(&d);
  cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 2, 1, 1);
  cudaMalloc(&x, 8); cudaMemset(x, 0, 8);
  cudnnSoftmaxForward(h, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &a, d, x, &b, d, x);
  cudaMemcpy(y, x, 8, cudaMemcpyDeviceToHost);
  cudnnDestroy(h); cudaFree(x);
  return y[0] + y[1];
}
int main() {
  float sums[4];
  std::vector<std::thread> threads;
  for (float &sum : sums) threads.emplace_back([&sum] { sum = once(); });
  for (auto &thread : threads) thread.join();
  int status, child = fork();
  if (!child) _exit(once() == 1 ? 7 : 8);
  waitpid(child, &status, 0);
  printf("%g %d %g\\n", sums[0] + sums[1] + sums[2] + sums[3], WEXITSTATUS(status), once());
}""")
    assert (done.stdout, done.returncode) == ("4 7 1\n", 0), done.stderr


@pytest.mark.soak
def test_texts_callbacks_and_what_is_destroyed_after_main(compiled):
    done = compiled("""
struct Handle {
  cudnnHandle_t h;
  ~Handle() { printf("destroyed %d\\n", cudnnDestroy(h)); }
} handle;
void heard(cudnnSeverity_t, void *data, const cudnnDebug_t *, const char *) { ++*(int *)data; }
int main() {
  int count = 0;
  cudnnSetCallback(CUDNN_SEV_ERROR_EN | CUDNN_SEV_WARNING_EN, &count, heard);
  cudnnTensorDescriptor_t d;
  cudnnCreateTensorDescriptor(&d);
  cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 1, 1, 1);
  cudnnSetCallback(0, nullptr, nullptr);
  printf("%d %s\\n", count > 0, cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM));
  cudnnCreate(&handle.h);
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  printf("%s %d.%d %d\\n", p.name, p.major, p.minor, p.warpSize);
}""")
    assert done.stdout.splitlines() == [
        "1 CUDNN_STATUS_BAD_PARAM",
        "NVIDIA H200 9.0 32",
        "destroyed 0",
    ]


_LRN = """
int main() {
  cudnnLRNDescriptor_t d;
  cudnnCreateLRNDescriptor(&d);
  cudnnSetLRNDescriptor(d, 5, 1e-4, 0.75, 2);
  cudnnDestroyLRNDescriptor(d);
}"""


@pytest.mark.soak
def test_the_calls_are_recorded(compiled, command, tmp_path):
    done = compiled(_LRN, "--stats", "--trace", "--nan", "--json", "calls.json", "--py", "again.py")
    assert done.returncode == 0, done.stderr
    assert "cudnnSetLRNDescriptor(normDesc=" in done.stderr  # --trace
    assert "no output that is not finite" in done.stderr
    lines = (tmp_path / "calls.json").read_text().splitlines()
    functions = [json.loads(line).get("function") for line in lines[1:]]
    assert functions == [
        "cudnnCreateLRNDescriptor", "cudnnSetLRNDescriptor", "cudnnDestroyLRNDescriptor",
    ]  # fmt: skip
    assert "cudnnSetLRNDescriptor(" in (tmp_path / "again.py").read_text()


@pytest.mark.soak
def test_a_run_that_is_written_as_c_runs_again_with_the_same_numbers(command, compiled, tmp_path):
    done = command("run", "--c", tmp_path, HERE / "corpus" / "volume.c")
    assert done.returncode == 0, done.stderr
    (again,) = tmp_path.glob("*.c")
    assert "Left out" not in again.read_text()
    done = command("run", again)
    assert done.returncode == 0, done.stderr
    expected = next(tmp_path.glob("data/expected*"))
    expected.write_bytes(bytes(len(expected.read_bytes())))
    assert command("run", again).returncode == 1


@pytest.mark.soak
def test_a_program_of_another_language_runs_too(command, tmp_path):
    """A process that has Python already."""
    (tmp_path / "program.py").write_text(
        "import ctypes\n"
        "cudnn = ctypes.CDLL('libcudnn.so.9')\n"
        "handle, start = ctypes.c_void_p(), 7\n"
        "print(cudnn.cudnnCreate(ctypes.byref(handle)) + start)\n"
    )
    done = command("run", sys.executable, "program.py")
    assert done.stdout == "7\n", done.stderr


_OLD = """
int main() {
  cudnnHandle_t h; cudnnTensorDescriptor_t x; cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t c; cudnnConvolutionFwdAlgoPerf_t found[8]; int count;
  cudnnCreate(&h); cudnnCreateTensorDescriptor(&x);
  printf("%d\\n", cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 1, 1, 1));
  cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NHWC, CUDNN_DATA_DOUBLE, 1, 4, 8, 8);
  cudnnCreateFilterDescriptor(&w);
  cudnnSetFilter4dDescriptor(w, CUDNN_DATA_DOUBLE, CUDNN_TENSOR_NCHW, 4, 4, 1, 1);
  cudnnCreateConvolutionDescriptor(&c);
  cudnnSetConvolution2dDescriptor(c, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_DOUBLE);
  printf("%d", cudnnGetConvolutionForwardAlgorithm_v7(h, x, w, c, x, 8, &count, found));
  for (int i = 0; i < count; i++) printf(" %d", found[i].status);
  puts("");
  for (int s : {0, 3, 9, 77}) puts(cudnnGetErrorString((cudnnStatus_t)s));
}"""


@pytest.mark.soak
@pytest.mark.parametrize("release", [8, 9])
def test_a_program_of_an_older_cudnn_gets_the_numbers_of_its_statuses(release, command, tmp_path):
    """A program that was linked elsewhere: here with a library that has the names alone."""
    if shutil.which("g++") is None or include_folder() is None:
        pytest.skip("no g++ and cudnn.h here")
    (tmp_path / "old.cpp").write_text(HEAD + _OLD)
    names = set(re.findall(r"cudnn(?:Create|Set|Get)\w+(?=\()", _OLD)) | {"cudnnCreate"}
    (tmp_path / "stub.c").write_text("".join(f"void {name}(void) {{}}\n" for name in names))
    stub = f"libcudnn.so.{release}"
    folders = [f"-I{each}" for each in headers()]
    for words in (
        ["gcc", "-shared", "-fPIC", f"-Wl,-soname,{stub}", "stub.c", "-o", stub],
        ["g++", "-g", *folders, "old.cpp", "-o", "old", f"./{stub}"],
    ):
        subprocess.run(words, cwd=tmp_path, check=True)
    done = command("run", "./old")
    assert done.returncode == 0, done.stderr
    refused, statuses, *texts = done.stdout.splitlines()
    bad, unsupported = ("3", "9") if release == 8 else ("2000", "3000")
    assert refused == bad
    assert {"0", unsupported} <= set(statuses.split())
    if release == 8:
        assert set(map(int, statuses.split())) <= set(range(15))
    named = ["CUDNN_STATUS_SUCCESS", "CUDNN_STATUS_BAD_PARAM", "CUDNN_STATUS_NOT_SUPPORTED"]
    assert (texts[:3] == named) is (release == 8)


def test_a_user_without_a_home_is_told_what_to_set(command):
    done = command("run", sys.executable, XDG_CACHE_HOME="", HOME="~nobody")
    assert done.returncode == 2
    assert "set XDG_CACHE_HOME to a folder" in done.stderr
