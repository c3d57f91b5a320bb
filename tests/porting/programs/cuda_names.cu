#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <nccl.h>
#include <opencv2/opencv.hpp>
#include <thrust/device_vector.h>
#include "helper_cuda.h"

template <typename T>
__global__ void scale(const T *__restrict__ x, T *y, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

struct Net {
  float *x, *y;
  int n;
  cudaStream_t stream;
  void run(cublasHandle_t blas, ncclComm_t comm) {
    const float one = 1, zero = 0;
    scale<float><<<(n + 255) / 256, 256, 0, stream>>>(x, this->y, n, 2.5f);
    cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, x, n, x, n, &zero, y, n);
    cublasSgemm_v2(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, x, n, x, n, &zero, y, n);
    cublasStrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                CUBLAS_DIAG_UNIT, n, n, &one, x, n, y, n);
    ncclAllReduce(x, y, n, ncclFloat, ncclSum, comm, stream);
    checkCudaErrors(cudaMemcpyPeer(x, 0, y, 1, n));
    thrust::device_vector<float> v(n);
    cv::Mat image = cv::imread("cat.png");
    CUdevice device;
    cuDeviceGet(&device, 0);
  }
};
