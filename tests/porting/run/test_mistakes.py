"""Mistakes of compiled programs: C's status for the program, the explanation with its line."""

from __future__ import annotations

import pytest

from cudnn_ctypes.porting.run.process import _failure


@pytest.mark.soak
def test_refused_calls_are_explained_once_for_their_line_and_end_no_process(compiled, tmp_path):
    done = compiled("""
int main() {
  cudnnTensorDescriptor_t d;
  float host[4], *x;
  printf("%d ", cudnnCreateTensorDescriptor(nullptr));
  cudnnCreateTensorDescriptor(&d);
  for (int i = 0; i < 3; i++)
    printf("%d ", cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, 1, -1, 1, 1));
  printf("%d ", cudnnDestroyTensorDescriptor(d));
  printf("%d ", cudnnDestroyTensorDescriptor(d));
  printf("%d ", cudaMalloc((void **)nullptr, 4));
  cudaMalloc(&x, 16);
  printf("%d ", cudaMemcpy(x, x, 16, cudaMemcpyHostToDevice));
  printf("%d ", cudaMemcpy(x, host, 20, cudaMemcpyHostToDevice));
  puts(cudaGetErrorString(cudaGetLastError()));
}""")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2000 2000 2000 2000 0 2000 1 1 1 invalid argument\n"
    line = f"{tmp_path}/program.cpp:12: cudnnSetTensor4dDescriptor returned"
    assert done.stderr.splitlines().count(f"{line} CUDNN_STATUS_BAD_PARAM (2000)") == 1
    assert "every dimension must be at least 1" in done.stderr
    assert "src is device memory" in done.stderr


_SOFTMAX = """
int main() {
  cudnnHandle_t h; cudnnTensorDescriptor_t d; float a = 1, b = 0, *x, *y;
  cudnnCreate(&h); cudnnCreateTensorDescriptor(&d);
  cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 8, 1, 1);
  cudaMalloc(&x, 8 * sizeof(float));
  cudaMalloc(&y, YBYTES);
  BEFORE
  cudnnStatus_t s = cudnnSoftmaxForward(h, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL,
                                        &a, d, x, &b, d, y);
  cudaError_t e = cudaMemset(x, 0, 4);
  printf("%d %d\\n", s, e);
}"""


def _softmax(compiled, *options, before="cudaMemset(x, 0, 32);", nbytes="32"):
    return compiled(_SOFTMAX.replace("BEFORE", before).replace("YBYTES", nbytes), *options)


@pytest.mark.soak
def test_memory_that_is_too_small_is_named_with_its_allocation(compiled):
    done = _softmax(compiled, nbytes="28")
    assert done.stdout == "5000 0\n"
    assert "y is too small: 4 bytes are missing" in done.stderr
    assert "program.cpp:13: cudnnSoftmaxForward returned" in done.stderr
    assert "program.cpp:11" in done.stderr  # cudaMalloc(&y)


@pytest.mark.soak
def test_freed_memory_is_named_with_both_places(compiled):
    done = _softmax(compiled, before="cudaFree(x);")
    assert done.stdout == "5000 1\n"
    assert "x was freed" in done.stderr
    assert "program.cpp:10, freed at" in done.stderr
    assert "program.cpp:12" in done.stderr


@pytest.mark.soak
def test_memory_that_was_never_written_is_told(compiled):
    done = _softmax(compiled, before="")
    assert done.stdout == "0 0\n"
    assert "program.cpp:13: DeviceMemoryWarning: x: 8 of 8 elements were never written" in (
        done.stderr
    )
    assert _softmax(compiled, "--strict", before="").stdout == "5000 0\n"


@pytest.mark.soak
def test_a_function_that_is_not_carried_out_stops_the_program_at_its_line(compiled):
    done = compiled("""
int main(int n, char **) {
  puts("before");
  fflush(stdout);
  cudaArray_t array;
  cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  cudaMallocArray(&array, &format, 4, 4);
}""")
    assert (done.stdout, done.returncode) == ("before\n", 127)
    assert "program.cpp:11: cudaMallocArray is not carried out by the reference device" in (
        done.stderr
    )


@pytest.mark.soak
def test_a_workspace_a_byte_short_and_a_wrong_layout_are_named(compiled):
    done = compiled("""
int main() {
  cudnnHandle_t h; cudnnTensorDescriptor_t x, last, y; cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t c; size_t size; float a = 1, b = 0, *px, *py, *pw; void *work;
  cudnnCreate(&h); cudnnCreateTensorDescriptor(&x); cudnnCreateTensorDescriptor(&y);
  cudnnCreateTensorDescriptor(&last); cudnnCreateFilterDescriptor(&w);
  cudnnCreateConvolutionDescriptor(&c);
  cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 4, 16, 16);
  cudnnSetTensor4dDescriptor(last, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 16, 16, 4);
  cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 8, 16, 16);
  cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 8, 4, 3, 3);
  cudnnSetConvolution2dDescriptor(c, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  auto gemm = CUDNN_CONVOLUTION_FWD_ALGO_GEMM;
  cudnnGetConvolutionForwardWorkspaceSize(h, x, w, c, y, gemm, &size);
  cudaMalloc(&px, 4096); cudaMalloc(&py, 8192); cudaMalloc(&pw, 1152);
  cudaMemset(px, 0, 4096); cudaMemset(pw, 0, 1152);
  cudaMalloc(&work, size - 1);
  printf("%d ", cudnnConvolutionForward(h, &a, x, px, w, pw, c, gemm, work, size, &b, y, py));
  printf("%d\\n", cudnnConvolutionForward(h, &a, last, px, w, pw, c, gemm, work, size, &b, y, py));
}""")
    assert done.stdout == "5000 2000\n"
    assert "program.cpp:22: cudnnConvolutionForward returned" in done.stderr
    assert "workSpace is too small: 1 bytes are missing" in done.stderr
    assert "(allocated at" in done.stderr
    assert "program.cpp:21)" in done.stderr
    assert "program.cpp:23: cudnnConvolutionForward returned" in done.stderr
    assert "xDesc: it has 16 channels" in done.stderr


def test_a_missing_compiler_is_told(command, tmp_path):
    (tmp_path / "program.cpp").write_text("int main() {}")
    done = command("run", "program.cpp", PATH="/nonexistent")
    assert done.returncode == 2
    assert "no compiler of c++ (g++, clang++, c++); install one: apt install g++" in done.stderr


def test_the_statuses_of_calls_that_python_refuses():
    names = ("cudnnCreate", "cublasCreate_v2", "curandGenerate", "cudaMalloc")
    assert [_failure(each, TypeError()) for each in names] == [2000, 7, 104, 1]
    assert _failure("cudnnCreate", NotImplementedError()) == 3000
