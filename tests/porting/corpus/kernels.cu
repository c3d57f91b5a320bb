// Own kernels around cuDNN: a fused scale and leaky ReLU, and the sum of squares of a block.
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <vector>

#define THREADS 64
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
const int kCount = 300;

__host__ __device__ inline float leaky(float x, float slope) { return x > 0 ? x : slope * x; }

template <typename T>
__global__ void scale_leaky(T *x, T scale, T slope, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = leaky(scale * x[i], slope);
}

__global__ void sum_of_squares(const float *x, float *out, int n) {
  __shared__ float part[THREADS];
  int i = blockIdx.x * THREADS + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] * x[i] : 0.0f;
  __syncthreads();
  for (int width = THREADS / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

int main() {
  cudnnHandle_t handle;
  cudnnCreate(&handle);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudnnSetStream(handle, stream);
  cudnnTensorDescriptor_t desc;
  cudnnCreateTensorDescriptor(&desc);
  cudnnSetTensor4dDescriptor(desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, kCount, 1, 1);

  std::vector<float> x(kCount);
  for (int i = 0; i < kCount; i++) x[i] = (i % 11) - 5.0f;
  float *d_x, *d_parts;
  int blocks = DIV_UP(kCount, THREADS);
  cudaMalloc(&d_x, kCount * sizeof(float));
  cudaMalloc(&d_parts, blocks * sizeof(float));
  cudaMemcpyAsync(d_x, x.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, stream);

  float half = 0.5f;
  cudnnScaleTensor(handle, desc, d_x, &half);
  scale_leaky<float><<<2, THREADS, 0, stream>>>(d_x, 3, 0.1f, kCount);
  sum_of_squares<<<dim3(blocks), dim3(THREADS), 0, stream>>>(d_x, d_parts, kCount);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));

  std::vector<float> parts(blocks);
  cudaMemcpyAsync(x.data(), d_x, kCount * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(parts.data(), d_parts, blocks * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  float total = 0, check = 0;
  for (float p : parts) total += p;
  for (int i = 0; i < kCount; i++) {
    float expected = leaky(1.5f * ((i % 11) - 5.0f), 0.1f);
    check += (x[i] - expected) * (x[i] - expected);
  }
  printf("blocks %d, x %.3f %.3f %.3f\n", blocks, x[0], x[5], x[10]);
  printf("total %.2f, error %.4f\n", total, check);
  cudaFree(d_x);
  cudaFree(d_parts);
  cudaStreamDestroy(stream);
  cudnnDestroyTensorDescriptor(desc);
  cudnnDestroy(handle);
}
