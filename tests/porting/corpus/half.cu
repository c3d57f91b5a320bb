// Convolution in half precision: kernels convert, a 2-D grid changes the layout.
#include <cuda_fp16.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK_STATUS(s)                                    \
  if ((s) != CUDNN_STATUS_SUCCESS) {                       \
    printf("failed in line %d\n", __LINE__);               \
    return EXIT_FAILURE;                                   \
  }

__global__ void to_half(const float *in, __half *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(in[i]);
}

__global__ void to_planes(const __half *nhwc, float *nchw, int c, int pixels) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int ch = blockIdx.y * blockDim.y + threadIdx.y;
  if (p < pixels && ch < c) nchw[ch * pixels + p] = __half2float(nhwc[p * c + ch]);
}

int main() {
  const int C = 8, K = 8, S = 6, R = 3;
  const int x_count = C * S * S, w_count = K * R * R * C, y_count = K * S * S;
  float *h_x = (float *)malloc(x_count * sizeof(float)), *h_w = (float *)malloc(w_count * sizeof(float));
  float *h_y = (float *)malloc(y_count * sizeof(float));
  for (int i = 0; i < x_count; i++) h_x[i] = (i % 9 - 4) * 0.25f;
  for (int i = 0; i < w_count; i++) h_w[i] = (i % 5 - 2) * 0.5f;
  float *f_x, *f_w, *f_y;
  __half *x, *w, *y;
  cudaMalloc((void **)&f_x, x_count * sizeof(float));
  cudaMalloc((void **)&f_w, w_count * sizeof(float));
  cudaMalloc((void **)&f_y, y_count * sizeof(float));
  cudaMalloc((void **)&x, x_count * sizeof(__half));
  cudaMalloc((void **)&w, w_count * sizeof(__half));
  cudaMalloc((void **)&y, y_count * sizeof(__half));
  cudaMemcpy(f_x, h_x, x_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(f_w, h_w, w_count * sizeof(float), cudaMemcpyHostToDevice);
  int threads = 128;
  to_half<<<(x_count + threads - 1) / threads, threads>>>(f_x, x, x_count);
  to_half<<<(w_count + threads - 1) / threads, threads>>>(f_w, w, w_count);

  cudnnHandle_t handle;
  cudnnTensorDescriptor_t xd, yd;
  cudnnFilterDescriptor_t wd;
  cudnnConvolutionDescriptor_t conv;
  CHECK_STATUS(cudnnCreate(&handle));
  CHECK_STATUS(cudnnCreateTensorDescriptor(&xd));
  CHECK_STATUS(cudnnCreateTensorDescriptor(&yd));
  CHECK_STATUS(cudnnCreateFilterDescriptor(&wd));
  CHECK_STATUS(cudnnCreateConvolutionDescriptor(&conv));
  CHECK_STATUS(cudnnSetTensor4dDescriptor(xd, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 1, C, S, S));
  CHECK_STATUS(cudnnSetTensor4dDescriptor(yd, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 1, K, S, S));
  CHECK_STATUS(cudnnSetFilter4dDescriptor(wd, CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, K, C, R, R));
  CHECK_STATUS(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                               CUDNN_DATA_FLOAT));
  CHECK_STATUS(cudnnSetConvolutionMathType(conv, CUDNN_TENSOR_OP_MATH));
  size_t bytes = 0;
  cudnnConvolutionFwdAlgo_t algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  CHECK_STATUS(cudnnGetConvolutionForwardWorkspaceSize(handle, xd, wd, conv, yd, algo, &bytes));
  void *work = 0;
  if (bytes) cudaMalloc(&work, bytes);
  float one = 1.0f, zero = 0.0f;
  CHECK_STATUS(cudnnConvolutionForward(handle, &one, xd, x, wd, w, conv, algo, work, bytes, &zero, yd, y));
  dim3 block(16, 4);
  dim3 grid((S * S + block.x - 1) / block.x, (K + block.y - 1) / block.y);
  to_planes<<<grid, block>>>(y, f_y, K, S * S);
  cudaMemcpy(h_y, f_y, y_count * sizeof(float), cudaMemcpyDeviceToHost);
  float sum = 0;
  for (int i = 0; i < y_count; i++) sum += h_y[i];
  printf("sum %.2f corner %.3f middle %.3f last %.3f\n", sum, h_y[0], h_y[3 * S * S + 14], h_y[y_count - 1]);
  cudaFree(f_x); cudaFree(f_w); cudaFree(f_y);
  cudaFree(x); cudaFree(w); cudaFree(y); cudaFree(work);
  free(h_x); free(h_w); free(h_y);
  cudnnDestroyConvolutionDescriptor(conv);
  cudnnDestroyFilterDescriptor(wd);
  cudnnDestroyTensorDescriptor(yd);
  cudnnDestroyTensorDescriptor(xd);
  cudnnDestroy(handle);
  return 0;
}
