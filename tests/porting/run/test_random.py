"""Random numbers of compiled programs."""

from __future__ import annotations

import numpy as np
import pytest

_PROGRAM = """
#include <curand.h>
int main() {
  curandGenerator_t g; float *x, host[4096]; double *d, wide[1000];
  curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
  cudaMalloc(&x, sizeof host); cudaMalloc(&d, sizeof wide);
  for (int again = 0; again < 2; again++) {
    curandSetPseudoRandomGeneratorSeed(g, ~0ULL);
    curandGenerateUniform(g, x, 4096);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    for (float each : host) printf("%.9g ", each);
    puts("");
  }
  curandGenerateNormalDouble(g, d, 1000, 5, 2);
  cudaMemcpy(wide, d, sizeof wide, cudaMemcpyDeviceToHost);
  for (double each : wide) printf("%.17g ", each);
  printf("\\n%d %d", curandGenerateNormal(g, x, 3, 0, 1), curandGenerateUniform(g, x, 4097));
  printf(" %d", curandDestroyGenerator(g));
  int version = 7;
  printf(" %d %d", curandDestroyGenerator(g), curandGetVersion(&version));
  printf(" %d\\n", version);
}"""


@pytest.mark.soak
def test_numbers_are_of_their_distribution_and_of_their_seed(compiled):
    done = compiled(_PROGRAM)
    assert done.returncode == 0, done.stderr
    first, again, normal, statuses = done.stdout.splitlines()
    uniform = np.array(first.split(), float)
    assert first == again
    assert 0 < uniform.min() < 0.01
    assert 0.99 < uniform.max() <= 1
    assert abs(uniform.mean() - 0.5) < 0.02
    numbers = np.array(normal.split(), float)
    assert abs(numbers.mean() - 5) < 0.3
    assert abs(numbers.std() - 2) < 0.2
    assert statuses == "105 104 0 101 0 0"
    assert "others than cuRAND's" in done.stderr
    assert "n is 3, and normal numbers come in pairs" in done.stderr
    assert "outputPtr is too small: 4 bytes are missing" in done.stderr


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
