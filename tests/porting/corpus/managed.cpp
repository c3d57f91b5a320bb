// Managed memory that the host and cuDNN share, and layouts that cudnnTransformTensor changes.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

inline cudnnStatus_t verify(cudnnStatus_t status, int line) {
  if (status != CUDNN_STATUS_SUCCESS) {
    std::printf("line %d: %s\n", line, cudnnGetErrorString(status));
    std::exit(1);
  }
  return status;
}
#define V(x) verify(x, __LINE__)

struct Image {
  int c, h, w;
  cudnnTensorFormat_t format;
  float *pixels;

  Image(int c_, int h_, int w_, cudnnTensorFormat_t f) : c(c_), h(h_), w(w_), format(f) {
    cudaMallocManaged(&pixels, sizeof(float) * c * h * w);
  }
  ~Image() { cudaFree(pixels); }
  int at(int ci, int y, int x) const {
    return format == CUDNN_TENSOR_NHWC ? (y * w + x) * c + ci : (ci * h + y) * w + x;
  }
  void describe(cudnnTensorDescriptor_t desc) const {
    V(cudnnSetTensor4dDescriptor(desc, format, CUDNN_DATA_FLOAT, 1, c, h, w));
  }
};

int main() {
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t from, to;
  V(cudnnCreate(&handle));
  V(cudnnCreateTensorDescriptor(&from));
  V(cudnnCreateTensorDescriptor(&to));
  Image planar(3, 2, 4, CUDNN_TENSOR_NCHW), packed(3, 2, 4, CUDNN_TENSOR_NHWC);
  planar.describe(from);
  packed.describe(to);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 4; ++x) planar.pixels[planar.at(c, y, x)] = 100 * c + 10 * y + x;
  float alpha = 0.5f, beta = 0.0f;
  V(cudnnTransformTensor(handle, &alpha, from, planar.pixels, &beta, to, packed.pixels));
  cudaDeviceSynchronize();
  for (int i = 0; i < 6; ++i) std::printf("%g ", packed.pixels[i]);
  std::printf("\n%g %g\n", packed.pixels[packed.at(2, 1, 3)], planar.pixels[planar.at(2, 1, 3)]);
  int wrong = 0;
  for (int c = 0; c < planar.c; ++c)
    for (int y = 0; y < planar.h; ++y)
      for (int x = 0; x < planar.w; ++x)
        if (std::fabs(planar.pixels[planar.at(c, y, x)] - 2 * packed.pixels[packed.at(c, y, x)]) > 1e-6f)
          wrong++;
  std::printf("wrong: %d\n", wrong);
  cudnnDestroyTensorDescriptor(from);
  cudnnDestroyTensorDescriptor(to);
  cudnnDestroy(handle);
  return wrong;
}
