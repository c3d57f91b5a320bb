#include <cudnn.h>

void set(cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t c, cudnnPoolingDescriptor_t p) {
#if CUDNN_VERSION_MIN(5, 0, 0)
  cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 3, 3);
#else
  cudnnSetFilter4dDescriptor_v4(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 3, 3);
#endif
#if defined(CUDNN_MAJOR) && CUDNN_MAJOR < 6
  cudnnSetConvolution2dDescriptor(c, 1, 1, 1, 1, 1, 1, CUDNN_CONVOLUTION);
#elif CUDNN_MAJOR >= 6 && defined(SOMETHING)
  cudnnSetConvolution2dDescriptor(c, 1, 1, 1, 1, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT);
#else
  cudnnSetConvolution2dDescriptor_v5(c, 1, 1, 1, 1, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT);
#endif
  cudnnSetPooling2dDescriptor(p, CUDNN_POOLING_MAX, 2, 2, 0, 0, 2, 2);
}
