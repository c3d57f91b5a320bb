// One program for float and double: templates over the type of the elements.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDNN_CALL(f)                                             \
  {                                                               \
    cudnnStatus_t err = (f);                                      \
    if (err != CUDNN_STATUS_SUCCESS) {                            \
      std::printf("Error occurred: %d\n", err);                   \
      std::exit(1);                                               \
    }                                                             \
  }

template <typename T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static const cudnnDataType_t value = CUDNN_DATA_FLOAT;
};
template <>
struct TypeOf<double> {
  static const cudnnDataType_t value = CUDNN_DATA_DOUBLE;
};

template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) { cudaMalloc((void **)&data_, count * sizeof(T)); }
  ~Buffer() { cudaFree(data_); }
  T *get() { return data_; }
  void write(const std::vector<T> &v) {
    cudaMemcpy(data_, v.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  std::vector<T> read() const {
    std::vector<T> v(count_);
    cudaMemcpy(v.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
  }

 private:
  T *data_;
  size_t count_;
};

template <typename T>
T average(cudnnHandle_t handle, int rows, int columns) {
  cudnnTensorDescriptor_t xd, yd;
  cudnnPoolingDescriptor_t pool;
  CUDNN_CALL(cudnnCreateTensorDescriptor(&xd));
  CUDNN_CALL(cudnnCreateTensorDescriptor(&yd));
  CUDNN_CALL(cudnnCreatePoolingDescriptor(&pool));
  CUDNN_CALL(cudnnSetTensor4dDescriptor(xd, CUDNN_TENSOR_NCHW, TypeOf<T>::value, 1, 1, rows, columns));
  CUDNN_CALL(cudnnSetTensor4dDescriptor(yd, CUDNN_TENSOR_NCHW, TypeOf<T>::value, 1, 1, 1, 1));
  CUDNN_CALL(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
                                         CUDNN_PROPAGATE_NAN, rows, columns, 0, 0, 1, 1));
  Buffer<T> x(rows * columns), y(1);
  std::vector<T> host(rows * columns);
  for (int i = 0; i < rows * columns; i++) host[i] = T(1) / T(i + 1);
  x.write(host);
  T one = 1, zero = 0;
  CUDNN_CALL(cudnnPoolingForward(handle, pool, &one, xd, x.get(), &zero, yd, y.get()));
  cudnnDestroyPoolingDescriptor(pool);
  cudnnDestroyTensorDescriptor(xd);
  cudnnDestroyTensorDescriptor(yd);
  return y.read()[0];
}

int main() {
  std::printf("averages of 1/i\n");
  cudnnHandle_t handle;
  CUDNN_CALL(cudnnCreate(&handle));
  std::printf("float  %.5f\n", average<float>(handle, 3, 4));
  std::printf("double %.12f\n", average<double>(handle, 3, 4));
  CUDNN_CALL(cudnnDestroy(handle));
}
