/*
 * Max and average pooling, forwards and backwards, through a small table of modes.
 */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1
#define C 2
#define H 5
#define W 6
#define IDX(n, c, h, w) ((((n) * C + (c)) * H + (h)) * W + (w))

static void die(const char *what, const char *why, int line) {
  fprintf(stderr, "%s failed in line %d: %s\n", what, line, why);
  exit(2);
}

#define CUDNN(x)                                                               \
  {                                                                            \
    cudnnStatus_t s_ = (x);                                                    \
    if (s_ != CUDNN_STATUS_SUCCESS) die(#x, cudnnGetErrorString(s_), __LINE__); \
  }
#define CUDA(x)                                                          \
  {                                                                      \
    cudaError_t e_ = (x);                                                \
    if (e_ != cudaSuccess) die(#x, cudaGetErrorString(e_), __LINE__);    \
  }

struct mode {
  const char *name;
  cudnnPoolingMode_t mode;
};

static float *to_device(const float *host, size_t count) {
  float *device = NULL;
  CUDA(cudaMalloc((void **)&device, count * sizeof(float)));
  CUDA(cudaMemcpy(device, host, count * sizeof(float), cudaMemcpyHostToDevice));
  return device;
}

static void show(const char *label, const float *x, int count) {
  int i;
  float low = x[0], high = x[0];
  double sum = 0.0;
  for (i = 0; i < count; i++) {
    if (x[i] < low) low = x[i];
    if (x[i] > high) high = x[i];
    sum += x[i];
  }
  printf("%-8s count %d sum %.4f range [%.4f, %.4f]\n", label, count, sum, low, high);
}

int main(int argc, char *argv[]) {
  static const struct mode modes[] = {
      {"max", CUDNN_POOLING_MAX},
      {"average", CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING},
      {"inside", CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING},
  };
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t xDesc, yDesc;
  float one = 1.f, zero = 0.f;
  float x[N * C * H * W];
  size_t m;
  int c, h, w;

  CUDNN(cudnnCreate(&handle));
  CUDNN(cudnnCreateTensorDescriptor(&xDesc));
  CUDNN(cudnnCreateTensorDescriptor(&yDesc));
  CUDNN(cudnnSetTensor4dDescriptor(xDesc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, C, H, W));

  for (c = 0; c < C; c++)
    for (h = 0; h < H; h++)
      for (w = 0; w < W; w++) x[IDX(0, c, h, w)] = (float)((7 * h + 3 * w + 11 * c) % 13) - 4;
  float *dx_x = to_device(x, N * C * H * W);

  for (m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
    cudnnPoolingDescriptor_t pool;
    int on, oc, oh, ow, count;
    CUDNN(cudnnCreatePoolingDescriptor(&pool));
    CUDNN(cudnnSetPooling2dDescriptor(pool, modes[m].mode, CUDNN_PROPAGATE_NAN, 3, 2, 1, 0, 2, 2));
    CUDNN(cudnnGetPooling2dForwardOutputDim(pool, xDesc, &on, &oc, &oh, &ow));
    CUDNN(cudnnSetTensor4dDescriptor(yDesc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, on, oc, oh, ow));
    count = on * oc * oh * ow;
    printf("%s: %dx%dx%dx%d\n", modes[m].name, on, oc, oh, ow);

    float *y = (float *)malloc(count * sizeof(*y));
    float *dy = (float *)malloc(count * sizeof(*dy));
    float *dx = (float *)malloc(sizeof(x));
    for (int i = 0; i < count; i++) dy[i] = 1.0f + i % 3;
    float *y_d, *dy_d = to_device(dy, count), *dx_d;
    CUDA(cudaMalloc((void **)&y_d, count * sizeof(float)));
    CUDA(cudaMalloc((void **)&dx_d, sizeof(x)));
    CUDNN(cudnnPoolingForward(handle, pool, &one, xDesc, dx_x, &zero, yDesc, y_d));
    CUDNN(cudnnPoolingBackward(handle, pool, &one, yDesc, y_d, yDesc, dy_d, xDesc, dx_x, &zero,
                               xDesc, dx_d));
    CUDA(cudaMemcpy(y, y_d, count * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(dx, dx_d, sizeof(x), cudaMemcpyDeviceToHost));
    show("y", y, count);
    show("dx", dx, N * C * H * W);
    CUDA(cudaFree(y_d));
    CUDA(cudaFree(dy_d));
    CUDA(cudaFree(dx_d));
    free(y);
    free(dy);
    free(dx);
    CUDNN(cudnnDestroyPoolingDescriptor(pool));
  }
  CUDA(cudaFree(dx_x));
  CUDNN(cudnnDestroyTensorDescriptor(xDesc));
  CUDNN(cudnnDestroyTensorDescriptor(yDesc));
  CUDNN(cudnnDestroy(handle));
  return argc > 9;
}
