/* Batch normalization in training and inference, with a cleanup label. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  float *scale, *bias;
  float *running_mean, *running_variance;
  float *saved_mean, *saved_inv;
  double epsilon;
} BatchNorm;

static int failures = 0;

#define TRY(call)                                                      \
  do {                                                                 \
    cudnnStatus_t st = (call);                                         \
    if (st != CUDNN_STATUS_SUCCESS) {                                  \
      fprintf(stderr, "%s -> %s\n", #call, cudnnGetErrorString(st));   \
      failures++;                                                      \
      goto done;                                                       \
    }                                                                  \
  } while (0)

static int device_array(float **p, int count, float value) {
  float *host = (float *)malloc(count * sizeof(float));
  if (!host) return 0;
  for (int i = 0; i < count; ++i) host[i] = value;
  if (cudaMalloc((void **)p, count * sizeof(float)) != cudaSuccess) {
    free(host);
    return 0;
  }
  cudaMemcpy(*p, host, count * sizeof(float), cudaMemcpyHostToDevice);
  free(host);
  return 1;
}

static void print_array(const char *name, const float *device, int count) {
  float host[64];
  cudaMemcpy(host, device, count * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%s:", name);
  for (int i = 0; i < count; ++i) printf(" %.4f", host[i]);
  printf("\n");
}

int main(void) {
  const int n = 4, c = 3, h = 2, w = 2;
  const int total = n * c * h * w;
  cudnnHandle_t handle = NULL;
  cudnnTensorDescriptor_t data = NULL, derived = NULL;
  BatchNorm bn;
  float *x = NULL, *y = NULL;
  float host[48];
  float alpha = 1.0f, beta = 0.0f;

  memset(&bn, 0, sizeof(bn));
  bn.epsilon = 1e-5;
  srand(123);
  for (int i = 0; i < total; ++i) host[i] = rand() / (float)RAND_MAX * 4.0f - 1.0f;

  TRY(cudnnCreate(&handle));
  TRY(cudnnCreateTensorDescriptor(&data));
  TRY(cudnnCreateTensorDescriptor(&derived));
  TRY(cudnnSetTensor4dDescriptor(data, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));
  TRY(cudnnDeriveBNTensorDescriptor(derived, data, CUDNN_BATCHNORM_SPATIAL));
  if (!device_array(&bn.scale, c, 1.5f) || !device_array(&bn.bias, c, 0.25f) ||
      !device_array(&bn.running_mean, c, 0.0f) || !device_array(&bn.running_variance, c, 1.0f) ||
      !device_array(&bn.saved_mean, c, 0.0f) || !device_array(&bn.saved_inv, c, 0.0f) ||
      !device_array(&x, total, 0.0f) || !device_array(&y, total, 0.0f)) {
    printf("out of memory\n");
    goto done;
  }
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);

  for (int step = 0; step < 3; ++step) {
    double factor = 1.0 / (1.0 + step);
    TRY(cudnnBatchNormalizationForwardTraining(
        handle, CUDNN_BATCHNORM_SPATIAL, &alpha, &beta, data, x, data, y, derived, bn.scale, bn.bias,
        factor, bn.running_mean, bn.running_variance, bn.epsilon, bn.saved_mean, bn.saved_inv));
  }
  print_array("y", y, 6);
  print_array("mean", bn.saved_mean, c);
  print_array("inv", bn.saved_inv, c);
  print_array("running mean", bn.running_mean, c);
  print_array("running variance", bn.running_variance, c);

  TRY(cudnnBatchNormalizationForwardInference(handle, CUDNN_BATCHNORM_SPATIAL, &alpha, &beta, data, x,
                                              data, y, derived, bn.scale, bn.bias, bn.running_mean,
                                              bn.running_variance, bn.epsilon));
  print_array("inference", y, 6);

done:
  if (derived) cudnnDestroyTensorDescriptor(derived);
  if (data) cudnnDestroyTensorDescriptor(data);
  if (handle) cudnnDestroy(handle);
  cudaFree(x);
  cudaFree(y);
  cudaFree(bn.scale);
  cudaFree(bn.bias);
  cudaFree(bn.running_mean);
  cudaFree(bn.running_variance);
  cudaFree(bn.saved_mean);
  cudaFree(bn.saved_inv);
  printf("failures: %d\n", failures);
  return failures;
}
