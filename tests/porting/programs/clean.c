#include <cudnn.h>

/* cudnnGetRNNParamsSize is only named in this comment, and in "cudnnSetRNNDescriptor". */
static const char *text = "cudnnSetRNNDescriptor";

int cudnnOwnFunction(int x) { return x; }

int main(void) {
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t x;
  float one = 1.0f, zero = 0.0f;
  if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) return 1;
  cudnnCreateTensorDescriptor(&x);
  cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 4);
  float *d = 0;
  cudaMalloc((void **)&d, 16);
  cudnnScaleTensor(handle, x, d, &one);
  cudnnTransformTensor(handle, &one, x, d, &zero, x, d);
  cudaFree(d);
  return cudnnOwnFunction(0);
}
