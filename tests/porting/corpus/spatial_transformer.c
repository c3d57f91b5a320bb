/* A spatial transformer that turns an image by a quarter and shifts it: grid generator and sampler. */
#include <cudnn.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE 4

#define ASSERT_OK(expr)                                     \
  while ((expr) != CUDNN_STATUS_SUCCESS) {                  \
    fprintf(stderr, "failed: " #expr "\n");                 \
    exit(3);                                                \
  }

static void dump(const char *what, const float (*image)[SIZE]) {
  puts(what);
  for (int r = 0; r < SIZE; ++r) {
    for (int c = 0; c < SIZE; ++c) printf("%6.2f%c", image[r][c], c == SIZE - 1 ? '\n' : ' ');
  }
}

int main() {
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t desc;
  cudnnSpatialTransformerDescriptor_t st;
  int dims[] = {1, 1, SIZE, SIZE};
  float image[SIZE][SIZE], result[SIZE][SIZE];
  float theta[2][3] = {{0.0f, 1.0f, 0.0f}, {-1.0f, 0.0f, 0.5f}};
  float *d_theta, *d_grid, *d_x, *d_y;
  float one = 1, zero = 0;

  for (int i = 0; i < SIZE * SIZE; ++i) image[i / SIZE][i % SIZE] = 10 * (i / SIZE) + i % SIZE;
  ASSERT_OK(cudnnCreate(&handle));
  ASSERT_OK(cudnnCreateTensorDescriptor(&desc));
  ASSERT_OK(cudnnSetTensor4dDescriptor(desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, dims[0], dims[1], dims[2],
                                       dims[3]));
  ASSERT_OK(cudnnCreateSpatialTransformerDescriptor(&st));
  ASSERT_OK(cudnnSetSpatialTransformerNdDescriptor(st, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 4, dims));
  cudaMalloc((void **)&d_theta, sizeof(theta));
  cudaMalloc((void **)&d_grid, SIZE * SIZE * 2 * sizeof(float));
  cudaMalloc((void **)&d_x, sizeof(image));
  cudaMalloc((void **)&d_y, sizeof(image));
  cudaMemcpy(d_theta, theta, sizeof(theta), cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, image, sizeof(image), cudaMemcpyHostToDevice);

  ASSERT_OK(cudnnSpatialTfGridGeneratorForward(handle, st, d_theta, d_grid));
  ASSERT_OK(cudnnSpatialTfSamplerForward(handle, st, &one, desc, d_x, d_grid, &zero, desc, d_y));
  cudaMemcpy(result, d_y, sizeof(result), cudaMemcpyDeviceToHost);
  dump("image", image);
  dump("turned", result);

  cudaFree(d_theta);
  cudaFree(d_grid);
  cudaFree(d_x);
  cudaFree(d_y);
  ASSERT_OK(cudnnDestroySpatialTransformerDescriptor(st));
  ASSERT_OK(cudnnDestroyTensorDescriptor(desc));
  ASSERT_OK(cudnnDestroy(handle));
  return 0;
}
