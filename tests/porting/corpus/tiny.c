#include <cudnn.h>
#include <stdio.h>
int main() {
  cudnnHandle_t h; cudnnTensorDescriptor_t d; float *x, *u, y[4], v = -1.5f, a = 2, b = 0.5f;
  cudnnCreate(&h); cudnnCreateTensorDescriptor(&d);
  cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 2, 2);
  cudaMalloc((void**)&x, 32); u = x + 4;
  cudnnSetTensor(h, d, u, &v); cudnnScaleTensor(h, d, u, &a); cudnnAddTensor(h, &a, d, u, &b, d, u);
  cudaMemcpy(y, (char*)x + 16, 16, cudaMemcpyDeviceToHost);
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  cudnnBackendDescriptor_t p; int64_t uid = 7; void *told = NULL, *both[2] = {x, u};
  cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &p);
  cudnnBackendSetAttribute(p, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 1, &uid);
  cudnnBackendSetAttribute(p, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 1, &both[1]);
  cudnnBackendSetAttribute(p, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &told);
  cudnnBackendFinalize(p);
  told = both[1]; cudnnDestroyTensorDescriptor(d); d = NULL;
  printf("%d %d %d %d\n", told == (void*)u, (int)(u - x), u < x || both[0] != x, d == NULL);
  return cudnnCreateTensorDescriptor(&d);
}
