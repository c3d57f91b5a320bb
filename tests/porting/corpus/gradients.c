/* All three gradients of a convolution in double precision; one exit for every failure. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                              \
  status = (call);                                                             \
  if (status != CUDNN_STATUS_SUCCESS) {                                        \
    fprintf(stderr, "%d: %s\n", __LINE__, cudnnGetErrorString(status));        \
    goto cleanup;                                                              \
  }

enum { N = 2, C = 2, H = 5, W = 4, K = 3, R = 3, S = 2 };

static void pattern(double *p, int count, int step) {
  double *end = p + count;
  for (int i = step; p != end; i += step) *p++ = (i % 17) / 8.0 - 1;
}

static double weighted(const double *p, int count) {
  double total = 0;
  while (count--) total += p[count] * (1 + count % 4);
  return total;
}

int main(void) {
  cudnnStatus_t status;
  cudnnHandle_t handle = NULL;
  cudnnTensorDescriptor_t x_desc = NULL, y_desc = NULL, b_desc = NULL;
  cudnnFilterDescriptor_t w_desc = NULL;
  cudnnConvolutionDescriptor_t conv = NULL;
  double *host = NULL, one = 1.0, zero = 0.0;
  void *x = NULL, *w = NULL, *dy = NULL, *dx = NULL, *dw = NULL, *db = NULL, *work = NULL;
  size_t need = 0, most = 0;
  int result = EXIT_FAILURE, n, k, p, q, count;

  TRY(cudnnCreate(&handle));
  TRY(cudnnCreateTensorDescriptor(&x_desc));
  TRY(cudnnCreateTensorDescriptor(&y_desc));
  TRY(cudnnCreateTensorDescriptor(&b_desc));
  TRY(cudnnCreateFilterDescriptor(&w_desc));
  TRY(cudnnCreateConvolutionDescriptor(&conv));
  TRY(cudnnSetTensor4dDescriptor(x_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_DOUBLE, N, C, H, W));
  TRY(cudnnSetFilter4dDescriptor(w_desc, CUDNN_DATA_DOUBLE, CUDNN_TENSOR_NCHW, K, C, R, S));
  TRY(cudnnSetConvolution2dDescriptor(conv, 1, 0, 1, 2, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_DOUBLE));
  TRY(cudnnGetConvolution2dForwardOutputDim(conv, x_desc, w_desc, &n, &k, &p, &q));
  TRY(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_DOUBLE, n, k, p, q));
  TRY(cudnnSetTensor4dDescriptor(b_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_DOUBLE, 1, k, 1, 1));
  count = n * k * p * q;
  printf("y: %d %d %d %d\n", n, k, p, q);

  if (!(host = (double *)malloc(sizeof(double) * (N * C * H * W + count)))) goto cleanup;
  if (cudaMalloc(&x, N * C * H * W * sizeof(double)) || cudaMalloc(&dx, N * C * H * W * sizeof(double)) ||
      cudaMalloc(&w, K * C * R * S * sizeof(double)) || cudaMalloc(&dw, K * C * R * S * sizeof(double)) ||
      cudaMalloc(&dy, count * sizeof(double)) || cudaMalloc(&db, K * sizeof(double)))
    goto cleanup;
  pattern(host, N * C * H * W, 3);
  cudaMemcpy(x, host, N * C * H * W * sizeof(double), cudaMemcpyHostToDevice);
  pattern(host, K * C * R * S, 5);
  cudaMemcpy(w, host, K * C * R * S * sizeof(double), cudaMemcpyHostToDevice);
  pattern(host, count, 7);
  cudaMemcpy(dy, host, count * sizeof(double), cudaMemcpyHostToDevice);

  TRY(cudnnGetConvolutionBackwardDataWorkspaceSize(handle, w_desc, y_desc, conv, x_desc,
                                                   CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, &need));
  most = need > most ? need : most;
  TRY(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, x_desc, y_desc, conv, w_desc,
                                                     CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, &need));
  most = need > most ? need : most;
  if (most && cudaMalloc(&work, most)) goto cleanup;

  TRY(cudnnConvolutionBackwardBias(handle, &one, y_desc, dy, &zero, b_desc, db));
  TRY(cudnnConvolutionBackwardData(handle, &one, w_desc, w, y_desc, dy, conv,
                                   CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, work, most, &zero, x_desc, dx));
  TRY(cudnnConvolutionBackwardFilter(handle, &one, x_desc, x, y_desc, dy, conv,
                                     CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, work, most, &zero, w_desc, dw));
  cudaMemcpy(host, db, K * sizeof(double), cudaMemcpyDeviceToHost);
  printf("db: %.6f %.6f %.6f\n", host[0], host[1], host[2]);
  cudaMemcpy(host, dx, N * C * H * W * sizeof(double), cudaMemcpyDeviceToHost);
  printf("dx: %.6f, first %.6f, last %.6f\n", weighted(host, N * C * H * W), host[0],
         host[N * C * H * W - 1]);
  cudaMemcpy(host, dw, K * C * R * S * sizeof(double), cudaMemcpyDeviceToHost);
  printf("dw: %.6f, first %.6f, last %.6f\n", weighted(host, K * C * R * S), host[0],
         host[K * C * R * S - 1]);
  result = EXIT_SUCCESS;

cleanup:
  free(host);
  cudaFree(x);
  cudaFree(w);
  cudaFree(dy);
  cudaFree(dx);
  cudaFree(dw);
  cudaFree(db);
  cudaFree(work);
  if (conv) cudnnDestroyConvolutionDescriptor(conv);
  if (w_desc) cudnnDestroyFilterDescriptor(w_desc);
  if (b_desc) cudnnDestroyTensorDescriptor(b_desc);
  if (y_desc) cudnnDestroyTensorDescriptor(y_desc);
  if (x_desc) cudnnDestroyTensorDescriptor(x_desc);
  if (handle) cudnnDestroy(handle);
  return result;
}
