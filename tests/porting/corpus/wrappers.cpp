// Every descriptor in a class of its own that converts to what cuDNN takes.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace dnn {

inline void check(cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) throw std::runtime_error(cudnnGetErrorString(status));
}

class Handle {
  cudnnHandle_t value;

 public:
  Handle() { check(cudnnCreate(&value)); }
  ~Handle() { cudnnDestroy(value); }
  operator cudnnHandle_t() const { return value; }
};

struct Shape {
  int n, c, h, w;
  int count() const { return n * c * h * w; }
};

class Tensor {
  cudnnTensorDescriptor_t desc_;
  Shape shape_;
  float *data_;

 public:
  Tensor(int n, int c, int h, int w) : shape_{n, c, h, w}, data_(nullptr) {
    check(cudnnCreateTensorDescriptor(&desc_));
    check(cudnnSetTensor4dDescriptor(desc_, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, n, c, h, w));
    size_t bytes;
    check(cudnnGetTensorSizeInBytes(desc_, &bytes));
    if (cudaMalloc(&data_, bytes) != cudaSuccess) std::abort();
  }
  ~Tensor() {
    cudaFree(data_);
    cudnnDestroyTensorDescriptor(desc_);
  }
  const Shape &shape() const { return shape_; }
  operator cudnnTensorDescriptor_t() const { return desc_; }
  float *data() { return data_; }
  void fill(float start, float step) {
    std::vector<float> host;
    for (int i = 0; i < shape_.count(); i++) host.push_back(start + step * (i % 10));
    cudaMemcpy(data_, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  }
  std::vector<float> get() const {
    std::vector<float> host(shape_.count());
    cudaMemcpy(host.data(), data_, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    return host;
  }
};

class Activation {
 public:
  Activation(cudnnActivationMode_t mode, double coefficient = 0.0) {
    check(cudnnCreateActivationDescriptor(&desc));
    check(cudnnSetActivationDescriptor(desc, mode, CUDNN_PROPAGATE_NAN, coefficient));
  }
  ~Activation() { cudnnDestroyActivationDescriptor(desc); }
  void forward(const Handle &handle, Tensor &x, Tensor &y) const {
    static const float one = 1.f, zero = 0.f;
    check(cudnnActivationForward(handle, desc, &one, x, x.data(), &zero, y, y.data()));
  }

 private:
  cudnnActivationDescriptor_t desc;
};

}  // namespace dnn

static void show(const char *name, const dnn::Tensor &t) {
  float total = 0;
  auto values = t.get();
  for (const auto &v : values) total += v;
  std::printf("%-8s %zu values, sum %.4f, third %.4f\n", name, values.size(), total, values[2]);
}

int main() {
  dnn::Handle handle;
  dnn::Tensor x(2, 5, 3, 4), y(2, 5, 3, 4);
  x.fill(-2.25f, 0.5f);
  show("x", x);
  dnn::Activation(CUDNN_ACTIVATION_RELU).forward(handle, x, y);
  show("relu", y);
  dnn::Activation clipped(CUDNN_ACTIVATION_CLIPPED_RELU, 1.5);
  clipped.forward(handle, x, y);
  show("clipped", y);
  dnn::Activation elu{CUDNN_ACTIVATION_ELU, 0.5};
  elu.forward(handle, x, y);
  show("elu", y);
  return x.shape().n == y.shape().n ? 0 : 1;
}
