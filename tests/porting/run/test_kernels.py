"""Kernels that are compiled for the host."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import warnings

import pytest
from programs import run_command

from cudnn_ctypes import DeviceTensor, cudart
from cudnn_ctypes.porting.run import library
from cudnn_ctypes.porting.run.kernels import launched
from cudnn_ctypes.porting.run.sources import for_the_host
from cudnn_ctypes.runtime.cuda import CudaError


@pytest.mark.parametrize(
    ("source", "begin"),
    [
        ("k<<<1, 2>>>(x);", '::cudnn_ctypes::launch("k", ::cudnn_ctypes::Configuration(1, 2),'),
        ("a::k<T, 3> <<<g, b, 0, s>>>();", '::cudnn_ctypes::launch("a::k<T, 3>",'),
        ("f(1); // k<<<1, 1>>>()", "f(1); // k<<<1, 1>>>()"),
        ('puts("<<<");', 'puts("<<<");'),
        ("extern __shared__ float s[];", "static ::cudnn_ctypes::Shared<float> s;"),
    ],
)
def test_source_for_the_host(source, begin):
    assert for_the_host(source).startswith(begin)


def test_lines_stay():
    source = "k<<<dim3(1,\n2), 3>>>(f(x),\n y);\nend"
    assert for_the_host(source).splitlines()[3] == "end"


@pytest.mark.parametrize(
    ("grid", "block", "shared", "status"),
    [
        ((1, 1, 1), (1024, 1, 1), 227 << 10, 0),
        ((1, 2, 3), (2, 4, 64), 0, 0),
        ((1, 1, 1), (1, 1, 65), 0, 9),
        ((1, 1, 1), (32, 33, 1), 0, 9),
        ((1, 1, 1), (1, 0, 1), 0, 9),
        ((1, 0, 1), (1, 1, 1), 0, 9),
        ((1, 1, 1), (1, 1, 1), (227 << 10) + 1, 9),
    ],
)
def test_limits_of_launches(reference_device, grid, block, shared, status):
    name, shape = ctypes.create_string_buffer(b"k"), (ctypes.c_uint * 6)(*grid, *block)
    none = (ctypes.c_void_p * 1)()
    assert launched.unchecked(*map(address, (name, shape)), shared, address(none), 1) == status


def test_arguments_of_kernels_are_written_unless_they_were_freed(reference_device):
    name, shape = ctypes.create_string_buffer(b"k"), (ctypes.c_uint * 6)(1, 1, 1, 1, 1, 1)
    x = DeviceTensor.empty((4,), "float32")
    pointers = (ctypes.c_void_p * 3)(None, x.ptr, 0x10)
    launch = address(name), address(shape), 0, address(pointers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launched(*launch, 3)
        x.numpy()
    x.close()
    launched(*launch, 1)
    with pytest.raises(CudaError, match="k: an argument was freed") as caught:
        launched(*launch, 3)
    assert caught.value.code == cudart.cudaErrorIllegalAddress


def address(variable):
    return ctypes.c_void_p(ctypes.addressof(variable))


_SUM = """
__constant__ float scale[1];
template <typename T> __global__ void sum(const T *x, T *total, int n) {
  extern __shared__ float part[];
  __shared__ int seen;
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  if (t == 0) seen = 0;
  part[t] = i < n ? x[i] * scale[0] : 0;
  __syncthreads();
  atomicAdd(&seen, 1);
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0 && seen == blockDim.x) atomicAdd(total, part[0]);
}
__global__ void warps(float *y) {
  float v = threadIdx.x;
  for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(0xffffffff, v, by);
  if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = v;
}
int main() {
  float host[100], factor = 2, *x, *y, out[2];
  for (int i = 0; i < 100; i++) host[i] = i;
  cudaMalloc(&x, sizeof host); cudaMalloc(&y, 8);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(scale, &factor, 4);
  cudaMemset(y, 0, 8);
  sum<float><<<4, 32, 32 * sizeof(float)>>>(x, y, 100);
  cudaMemcpy(out, y, 4, cudaMemcpyDeviceToHost);
  printf("%g\\n", out[0]);
  warps<<<1, 64>>>(y);
  cudaMemcpy(out, y, 8, cudaMemcpyDeviceToHost);
  printf("%g %g\\n", out[0], out[1]);
  warps<<<1, 2048>>>(y);
  printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
}"""


@pytest.mark.soak
def test_shared_memory_barriers_atomics_and_shuffles(compiled):
    done = compiled(_SUM, name="sum.cu")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["9900", "496 1520", "cudaErrorInvalidConfiguration"]
    assert "sum.cu:39: warps: cudaErrorInvalidConfiguration" in done.stderr
    assert "(1, 1, 1) blocks of (2048, 1, 1) threads" in done.stderr


@pytest.mark.soak
def test_a_kernel_that_nvcc_compiled_is_named(compiled, command, tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc here")
    (tmp_path / "k.cu").write_text(
        "#include <cudnn.h>\n__global__ void fill(float *x) { x[0] = 1; }\n"
        "int main() { fill<<<1, 1>>>(nullptr); return cudaGetLastError() == cudaSuccess; }\n"
    )
    built = command("build", "--device", "gpu", "k.cu", "-o", "k")
    assert built.returncode == 0, built.stderr
    done = command("run", "./k")
    assert "fill" in done.stderr
    assert "needs a GPU" in done.stderr


@pytest.mark.soak
def test_a_kernel_beyond_that_is_named_by_its_line(compiled):
    done = compiled("__global__ void k(float *x) { x[0] = tex2D<float>(1, 2, 3); }", name="t.cu")
    assert done.returncode == 2
    assert "t.cu:5" in done.stderr


@pytest.mark.soak
def test_on_aarch64(tmp_path):
    """The library compiles for it; a kernel that waits at barriers runs, emulated."""
    for tool in ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here")
    names = library.sources()
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    folders = [f"-I{each}" for each in (library.HERE, *library.headers())]
    files = [name for name in names if name.endswith(".c")]
    shared = ["-shared", "-fPIC", "-w", "-Wl,--version-script=versions"]
    kernel = "--include=" + str(library.HERE / "include" / "cudnn_ctypes_kernels.h")
    (tmp_path / "k.cpp").write_text("""
extern "C" int cudnn_ctypes_launch(const char *, const unsigned *, size_t, void **, int) {
  return 0;
}
__global__ void sum(float *x) {
  __shared__ float part[64];
  part[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int half = 32; half; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (!threadIdx.x) *x = part[0];
}
int main() {
  float x = 0;
  cudnn_ctypes::launch("sum", {1, 64}, [](auto... all) { sum(all...); }, &x);
  printf("%g\\n", x);
}""")
    static = ["-w", "-static", "-Wl,--unresolved-symbols=ignore-all"]
    for words in (
        ["aarch64-linux-gnu-gcc", *shared, *folders, *files, "-o", "library.so"],
        ["aarch64-linux-gnu-g++", *static, *folders, kernel, "k.cpp", "-o", "k"],
    ):
        subprocess.run(words, cwd=tmp_path, check=True)
    done = run_command("qemu-aarch64", "./k", folder=tmp_path)
    assert done.stdout == "2016\n", done.stderr
