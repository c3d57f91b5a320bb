#include <cudnn.h>
#include <stdio.h>
int main() {
  cudnnHandle_t h; cudnnTensorDescriptor_t d; float *x, y[4], v = -1.5f, a = 2, b = 0.5f;
  cudnnCreate(&h); cudnnCreateTensorDescriptor(&d);
  cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 2, 2);
  cudaMalloc((void**)&x, 16);
  cudnnSetTensor(h, d, x, &v); cudnnScaleTensor(h, d, x, &a); cudnnAddTensor(h, &a, d, x, &b, d, x);
  cudaMemcpy(y, x, 16, cudaMemcpyDeviceToHost);
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
}
