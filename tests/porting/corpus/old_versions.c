/* Names with the suffixes that cuDNN 3 to 5 gave them. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDNN_CHECK(s) \
  do { cudnnStatus_t e = s; if (e != CUDNN_STATUS_SUCCESS) { printf("%s\n", cudnnGetErrorString(e)); return 1; } } while (0)

int main() {
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t x_desc, y_desc, b_desc;
  cudnnFilterDescriptor_t w_desc;
  cudnnConvolutionDescriptor_t conv;
  cudnnPoolingDescriptor_t pool;
  cudnnActivationDescriptor_t relu;
  float one = 1, zero = 0, x[2 * 5 * 5], w[3 * 2 * 3 * 3], b[3] = {0.5f, -0.5f, 0.f}, y[3 * 5 * 5], dw[54];
  float *dx, *dwt, *dy, *db, *dp, *ddw;
  int n, c, h, wd, i;
  for (i = 0; i < 50; i++) x[i] = (i % 6) * 0.5f - 1;
  for (i = 0; i < 54; i++) w[i] = (i % 4) * 0.25f - 0.5f;

  CUDNN_CHECK(cudnnCreate(&handle));
  CUDNN_CHECK(cudnnCreateTensorDescriptor(&x_desc));
  CUDNN_CHECK(cudnnCreateTensorDescriptor(&y_desc));
  CUDNN_CHECK(cudnnCreateTensorDescriptor(&b_desc));
  CUDNN_CHECK(cudnnCreateFilterDescriptor(&w_desc));
  CUDNN_CHECK(cudnnCreateConvolutionDescriptor(&conv));
  CUDNN_CHECK(cudnnCreatePoolingDescriptor(&pool));
  CUDNN_CHECK(cudnnCreateActivationDescriptor(&relu));
  CUDNN_CHECK(cudnnSetTensor4dDescriptor(x_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 2, 5, 5));
  CUDNN_CHECK(cudnnSetTensor4dDescriptor(b_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 1, 1));
  CUDNN_CHECK(cudnnSetFilter4dDescriptor_v4(w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 3, 2, 3, 3));
  CUDNN_CHECK(cudnnSetConvolution2dDescriptor_v4(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION));
  CUDNN_CHECK(cudnnGetConvolution2dForwardOutputDim(conv, x_desc, w_desc, &n, &c, &h, &wd));
  CUDNN_CHECK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, wd));
  cudaMalloc((void **)&dx, sizeof(x));
  cudaMalloc((void **)&dwt, sizeof(w));
  cudaMalloc((void **)&ddw, sizeof(w));
  cudaMalloc((void **)&dy, sizeof(y));
  cudaMalloc((void **)&db, sizeof(b));
  cudaMemcpy(dx, x, sizeof(x), cudaMemcpyHostToDevice);
  cudaMemcpy(dwt, w, sizeof(w), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof(b), cudaMemcpyHostToDevice);
  CUDNN_CHECK(cudnnConvolutionForward(handle, &one, x_desc, dx, w_desc, dwt, conv,
                                      CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, y_desc, dy));
  CUDNN_CHECK(cudnnAddTensor_v3(handle, &one, b_desc, db, &one, y_desc, dy));
  CUDNN_CHECK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0.0));
  CUDNN_CHECK(cudnnActivationForward_v4(handle, relu, &one, y_desc, dy, &zero, y_desc, dy));
  cudaMemcpy(y, dy, sizeof(y), cudaMemcpyDeviceToHost);
  printf("y %.4f %.4f %.4f\n", y[0], y[32], y[74]);
  CUDNN_CHECK(cudnnConvolutionBackwardFilter_v3(handle, &one, x_desc, dx, y_desc, dy, conv,
                                                CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, NULL, 0, &zero, w_desc,
                                                ddw));
  cudaMemcpy(dw, ddw, sizeof(dw), cudaMemcpyDeviceToHost);
  printf("dw %.4f %.4f %.4f\n", dw[0], dw[30], dw[53]);
  CUDNN_CHECK(cudnnSetPooling2dDescriptor_v4(pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 3, 3, 0, 0, 2,
                                             2));
  CUDNN_CHECK(cudnnGetPooling2dForwardOutputDim(pool, y_desc, &n, &c, &h, &wd));
  CUDNN_CHECK(cudnnSetTensor4dDescriptor(b_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, wd));
  cudaMalloc((void **)&dp, n * c * h * wd * sizeof(float));
  CUDNN_CHECK(cudnnPoolingForward(handle, pool, &one, y_desc, dy, &zero, b_desc, dp));
  cudaMemcpy(y, dp, n * c * h * wd * sizeof(float), cudaMemcpyDeviceToHost);
  printf("pooled %dx%dx%d", c, h, wd);
  for (i = 0; i < 4; i++) printf(" %.4f", y[i]);
  printf("\n");
  cudaFree(dx); cudaFree(dwt); cudaFree(ddw); cudaFree(dy); cudaFree(db); cudaFree(dp);
  cudnnDestroyActivationDescriptor(relu);
  cudnnDestroyPoolingDescriptor(pool);
  cudnnDestroyConvolutionDescriptor(conv);
  cudnnDestroyFilterDescriptor(w_desc);
  cudnnDestroyTensorDescriptor(b_desc);
  cudnnDestroyTensorDescriptor(y_desc);
  cudnnDestroyTensorDescriptor(x_desc);
  cudnnDestroy(handle);
  return 0;
}
