/* Convolution and pooling of volumes through the Nd functions; groups and dilation. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define DIMS 5
#define NELEMS(a) (sizeof(a) / sizeof((a)[0]))

static int errors;
#define EXPECT_OK(x) ((x) == CUDNN_STATUS_SUCCESS ? 0 : ++errors)

static void strides_of(const int dims[DIMS], int strides[DIMS]) {
  int i = DIMS - 1;
  strides[i] = 1;
  while (--i >= 0) strides[i] = dims[i + 1] * strides[i + 1];
}

static unsigned product(const int *dims) {
  unsigned total = 1;
  for (const int *d = dims; d < dims + DIMS; ++d) total *= (unsigned)*d;
  return total;
}

static float *device_array(unsigned count, unsigned seed) {
  float *host = (float *)malloc(count * sizeof(float)), *device = NULL;
  unsigned state = seed;
  for (unsigned i = 0; i < count; ++i) {
    state = state * 1103515245u + 12345u;
    host[i] = (float)((state >> 16) & 15u) * 0.125f - 1.0f;
  }
  if (cudaMalloc((void **)&device, count * sizeof(float)) != cudaSuccess) exit(2);
  cudaMemcpy(device, host, count * sizeof(float), cudaMemcpyHostToDevice);
  free(host);
  return device;
}

int main(void) {
  const int x_dims[DIMS] = {1, 4, 5, 4, 4}, w_dims[DIMS] = {6, 2, 2, 3, 1};
  const int pads[] = {1, 1, 0}, steps[] = {1, 2, 1}, dilations[] = {2, 1, 1};
  const int window[3] = {2, 1, 2}, no_pads[3] = {0, 0, 0}, pool_steps[3] = {2, 1, 2};
  int x_strides[DIMS], y_dims[DIMS], y_strides[DIMS], p_dims[DIMS], p_strides[DIMS];
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t x_desc, y_desc, p_desc;
  cudnnFilterDescriptor_t w_desc;
  cudnnConvolutionDescriptor_t conv;
  cudnnPoolingDescriptor_t pool;
  float alpha = 1.0f, beta = 0.0f;

  EXPECT_OK(cudnnCreate(&handle));
  EXPECT_OK(cudnnCreateTensorDescriptor(&x_desc));
  EXPECT_OK(cudnnCreateTensorDescriptor(&y_desc));
  EXPECT_OK(cudnnCreateTensorDescriptor(&p_desc));
  EXPECT_OK(cudnnCreateFilterDescriptor(&w_desc));
  EXPECT_OK(cudnnCreateConvolutionDescriptor(&conv));
  EXPECT_OK(cudnnCreatePoolingDescriptor(&pool));
  strides_of(x_dims, x_strides);
  EXPECT_OK(cudnnSetTensorNdDescriptor(x_desc, CUDNN_DATA_FLOAT, DIMS, x_dims, x_strides));
  EXPECT_OK(cudnnSetFilterNdDescriptor(w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, DIMS, w_dims));
  EXPECT_OK(cudnnSetConvolutionNdDescriptor(conv, NELEMS(pads), pads, steps, dilations,
                                            CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  EXPECT_OK(cudnnSetConvolutionGroupCount(conv, 2));
  EXPECT_OK(cudnnGetConvolutionNdForwardOutputDim(conv, x_desc, w_desc, DIMS, y_dims));
  strides_of(y_dims, y_strides);
  EXPECT_OK(cudnnSetTensorNdDescriptor(y_desc, CUDNN_DATA_FLOAT, DIMS, y_dims, y_strides));
  printf("y");
  for (int i = 0; i < DIMS; ++i) printf("%c%d", i ? 'x' : ' ', y_dims[i]);
  printf("\n");

  float *x = device_array(product(x_dims), 1u), *w = device_array(product(w_dims), 77u), *y, *p;
  cudaMalloc((void **)&y, product(y_dims) * sizeof(float));
  EXPECT_OK(cudnnConvolutionForward(handle, &alpha, x_desc, x, w_desc, w, conv,
                                    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &beta, y_desc, y));
  EXPECT_OK(cudnnSetPoolingNdDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 3, window, no_pads,
                                        pool_steps));
  EXPECT_OK(cudnnGetPoolingNdForwardOutputDim(pool, y_desc, DIMS, p_dims));
  strides_of(p_dims, p_strides);
  EXPECT_OK(cudnnSetTensorNdDescriptor(p_desc, CUDNN_DATA_FLOAT, DIMS, p_dims, p_strides));
  const unsigned count = product(p_dims);
  cudaMalloc((void **)&p, count * sizeof(float));
  EXPECT_OK(cudnnPoolingForward(handle, pool, &alpha, y_desc, y, &beta, p_desc, p));
  float *host = (float *)malloc(count * sizeof(float));
  cudaMemcpy(host, p, count * sizeof(float), cudaMemcpyDeviceToHost);
  float sum = 0;
  for (unsigned i = 0; i < count; ++i) sum += host[i];
  printf("%u values, sum %.4f, first %.4f, last %.4f\n", count, sum, host[0], host[count - 1]);
  printf("errors: %d\n", errors);
  free(host);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
  cudaFree(p);
  cudnnDestroyPoolingDescriptor(pool);
  cudnnDestroyConvolutionDescriptor(conv);
  cudnnDestroyFilterDescriptor(w_desc);
  cudnnDestroyTensorDescriptor(p_desc);
  cudnnDestroyTensorDescriptor(y_desc);
  cudnnDestroyTensorDescriptor(x_desc);
  cudnnDestroy(handle);
  return errors;
}
