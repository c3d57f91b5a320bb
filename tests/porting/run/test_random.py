"""Random numbers of compiled programs."""

from __future__ import annotations

from ctypes import byref

import numpy as np
import pytest
from scipy.stats import kstest

from cudnn_ctypes import cudart
from cudnn_ctypes.errors import CudnnWarning
from cudnn_ctypes.porting.run import random as curand
from cudnn_ctypes.runtime.cuda import CudaError


@pytest.fixture
def generator(reference_device):
    made = curand.curandGenerator_t()
    with pytest.warns(CudnnWarning, match="others than cuRAND's"):
        curand.curandCreateGenerator(byref(made), 100)
    yield made
    curand.curandDestroyGenerator(made)
    assert curand.curandDestroyGenerator.unchecked(made) == 101


def drawn(generator, name, dtype, *values, seed=2**64 - 1, offset=0, count=4096):
    memory, found = cudart.DevicePointer(), np.full(4096, 7, dtype)
    cudart.cudaMalloc(byref(memory), found.nbytes)
    curand.curandSetPseudoRandomGeneratorSeed(generator, seed)
    curand.curandSetGeneratorOffset(generator, offset)
    try:
        getattr(curand, f"curandGenerate{name}")(generator, memory, count, *values)
        cudart.cudaMemcpy(found, memory, found.nbytes, cudart.cudaMemcpyDeviceToHost)
    finally:
        cudart.cudaFree(memory)
    return found


def test_numbers_are_of_their_distribution_and_of_their_seed(generator):
    for dtype, suffix in (("f4", ""), ("f8", "Double")):
        uniform = drawn(generator, f"Uniform{suffix}", dtype)
        assert 0 < uniform.min() < uniform.max() <= 1
        assert kstest(uniform, "uniform").pvalue > 0.01
        np.testing.assert_array_equal(drawn(generator, f"Uniform{suffix}", dtype), uniform)
        for other in ({"seed": 5}, {"offset": 7}):
            assert (drawn(generator, f"Uniform{suffix}", dtype, **other) != uniform).all()
        normal = drawn(generator, f"Normal{suffix}", dtype, 5, 2)
        assert kstest(normal, "norm", (5, 2)).pvalue > 0.01
        logarithmic = drawn(generator, f"LogNormal{suffix}", dtype, 5, 2)
        np.testing.assert_allclose(np.log(logarithmic), normal, rtol=1e-5, atol=1e-5)
    assert kstest(drawn(generator, "", "u4") / 2**32, "uniform").pvalue > 0.01


def test_what_cannot_be_drawn(generator):
    with pytest.raises(CudaError, match="n is 3, and normal numbers come in pairs") as caught:
        drawn(generator, "Normal", "f4", 0, 1, count=3)
    assert caught.value.code == 105
    with pytest.raises(CudaError, match="outputPtr is too small: 4 bytes are missing") as caught:
        drawn(generator, "Uniform", "f4", count=4097)
    assert caught.value.code == 104
    drawn(generator, "", "u4", count=0)


@pytest.mark.soak
def test_a_program_draws_numbers(compiled):
    done = compiled("""
#include <curand.h>
int main() {
  curandGenerator_t g; float *x, host[2] = {7, 7};
  curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
  cudaMalloc(&x, sizeof host);
  curandSetPseudoRandomGeneratorSeed(g, ~0ULL);
  printf("%d ", curandGenerateUniform(g, x, 2));
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d ", 0 < host[0] && host[0] <= 1 && 0 < host[1] && host[1] <= 1);
  printf("%d %d", curandGenerateNormal(g, x, 3, 0, 1), curandGenerateUniform(g, x, 4097));
  printf(" %d", curandDestroyGenerator(g));
  int version = 7;
  printf(" %d %d", curandDestroyGenerator(g), curandGetVersion(&version));
  printf(" %d", version);
}""")
    assert done.stdout == "0 1 105 104 0 101 0 0", done.stderr
    assert "others than cuRAND's" in done.stderr


@pytest.mark.soak
def test_numbers_of_kernels(compiled):
    done = compiled(
        """
#include <curand_kernel.h>
__global__ void make(double *mean, double *square) {
  curandState state;
  curand_init(7, threadIdx.x, 0, &state);
  for (int i = 0; i < 1000; i++) {
    double x = curand_normal(&state);
    atomicAdd(mean, x / (1000 * warpSize));
    atomicAdd(square, x * x / (1000 * warpSize));
  }
}
int main() {
  double *m, host[2];
  cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
  cudaMalloc(&m, 16); cudaMemset(m, 0, 16);
  make<<<1, p.warpSize>>>(m, m + 1);
  cudaMemcpy(host, m, 16, cudaMemcpyDeviceToHost);
  printf("%f %f\\n", host[0], host[1]);
}""",
        name="k.cu",
    )
    assert done.returncode == 0, done.stderr
    mean, square = map(float, done.stdout.split())
    assert abs(mean) < 0.03
    assert abs(square - 1) < 0.05
