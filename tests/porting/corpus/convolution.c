/* One convolution, forward, with an algorithm that the heuristics choose. */
#include <cudnn.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK_CUDA(call)                                                        \
  do {                                                                          \
    cudaError_t error = (call);                                                 \
    if (error != cudaSuccess) {                                                 \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(EXIT_FAILURE);                                                       \
    }                                                                           \
  } while (0)

#define CHECK_CUDNN(call)                                                       \
  do {                                                                          \
    cudnnStatus_t status = (call);                                              \
    if (status != CUDNN_STATUS_SUCCESS) {                                       \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudnnGetErrorString(status)); \
      exit(EXIT_FAILURE);                                                       \
    }                                                                           \
  } while (0)

#define BATCH 2
#define CHANNELS 3
#define HEIGHT 6
#define WIDTH 5
#define FILTERS 4
#define KERNEL 3

int main(void) {
  cudnnHandle_t cudnn;
  CHECK_CUDNN(cudnnCreate(&cudnn));

  cudnnTensorDescriptor_t x_desc, y_desc;
  cudnnFilterDescriptor_t w_desc;
  cudnnConvolutionDescriptor_t conv_desc;
  CHECK_CUDNN(cudnnCreateTensorDescriptor(&x_desc));
  CHECK_CUDNN(cudnnCreateTensorDescriptor(&y_desc));
  CHECK_CUDNN(cudnnCreateFilterDescriptor(&w_desc));
  CHECK_CUDNN(cudnnCreateConvolutionDescriptor(&conv_desc));
  CHECK_CUDNN(cudnnSetTensor4dDescriptor(x_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, BATCH,
                                         CHANNELS, HEIGHT, WIDTH));
  CHECK_CUDNN(cudnnSetFilter4dDescriptor(w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, FILTERS,
                                         CHANNELS, KERNEL, KERNEL));
  CHECK_CUDNN(cudnnSetConvolution2dDescriptor(conv_desc, 1, 1, 2, 1, 1, 1,
                                              CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));

  int n, c, h, w;
  CHECK_CUDNN(cudnnGetConvolution2dForwardOutputDim(conv_desc, x_desc, w_desc, &n, &c, &h, &w));
  printf("output: %d x %d x %d x %d\n", n, c, h, w);
  CHECK_CUDNN(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));

  const size_t x_size = BATCH * CHANNELS * HEIGHT * WIDTH;
  const size_t w_size = FILTERS * CHANNELS * KERNEL * KERNEL;
  const size_t y_size = (size_t)n * c * h * w;
  float *h_x = (float *)malloc(x_size * sizeof(float));
  float *h_w = (float *)malloc(w_size * sizeof(float));
  float *h_y = (float *)malloc(y_size * sizeof(float));
  for (size_t i = 0; i < x_size; i++) h_x[i] = (float)(i % 7) - 3.0f;
  for (size_t i = 0; i < w_size; i++) h_w[i] = (float)(i % 5) * 0.5f - 1.0f;

  float *d_x, *d_w, *d_y;
  CHECK_CUDA(cudaMalloc((void **)&d_x, x_size * sizeof(float)));
  CHECK_CUDA(cudaMalloc((void **)&d_w, w_size * sizeof(float)));
  CHECK_CUDA(cudaMalloc((void **)&d_y, y_size * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(d_x, h_x, x_size * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(d_w, h_w, w_size * sizeof(float), cudaMemcpyHostToDevice));

  cudnnConvolutionFwdAlgoPerf_t perf[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int returned = 0;
  CHECK_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7(cudnn, x_desc, w_desc, conv_desc, y_desc,
                                                     CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &returned,
                                                     perf));
  int chosen = -1;
  for (int i = 0; i < returned && chosen < 0; i++) {
    if (perf[i].status == CUDNN_STATUS_SUCCESS) chosen = i;
  }
  if (chosen < 0) {
    printf("no algorithm\n");
    return 1;
  }
  cudnnConvolutionFwdAlgo_t algo = perf[chosen].algo;

  size_t workspace_size = 0;
  CHECK_CUDNN(cudnnGetConvolutionForwardWorkspaceSize(cudnn, x_desc, w_desc, conv_desc, y_desc,
                                                      algo, &workspace_size));
  void *workspace = NULL;
  if (workspace_size > 0) CHECK_CUDA(cudaMalloc(&workspace, workspace_size));

  const float alpha = 1.0f, beta = 0.0f;
  CHECK_CUDNN(cudnnConvolutionForward(cudnn, &alpha, x_desc, d_x, w_desc, d_w, conv_desc, algo,
                                      workspace, workspace_size, &beta, y_desc, d_y));
  CHECK_CUDA(cudaMemcpy(h_y, d_y, y_size * sizeof(float), cudaMemcpyDeviceToHost));

  double sum = 0;
  for (size_t i = 0; i < y_size; i++) sum += h_y[i];
  printf("sum: %.3f\n", sum);
  for (int i = 0; i < 5; i++) printf("y[%d] = %.3f\n", i, h_y[i]);

  cudaFree(workspace);
  cudaFree(d_x);
  cudaFree(d_w);
  cudaFree(d_y);
  free(h_x);
  free(h_w);
  free(h_y);
  cudnnDestroyConvolutionDescriptor(conv_desc);
  cudnnDestroyFilterDescriptor(w_desc);
  cudnnDestroyTensorDescriptor(y_desc);
  cudnnDestroyTensorDescriptor(x_desc);
  cudnnDestroy(cudnn);
  return 0;
}
