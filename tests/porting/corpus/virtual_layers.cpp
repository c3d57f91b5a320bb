// A network as a list of layers with one interface: virtual functions and smart pointers.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <iostream>
#include <memory>
#include <vector>

#define CHECK_CUDNN(x) \
  if (auto s = (x)) throw s;

class Layer {
 public:
  explicit Layer(cudnnHandle_t handle) : handle_(handle) {}
  virtual ~Layer() = default;
  virtual const char *name() const = 0;
  virtual void forward(cudnnTensorDescriptor_t desc, const float *x, float *y) = 0;

 protected:
  cudnnHandle_t handle_;
  float one_ = 1.0f, zero_ = 0.0f;
};

class ActivationLayer : public Layer {
 public:
  ActivationLayer(cudnnHandle_t handle, cudnnActivationMode_t mode) : Layer(handle) {
    CHECK_CUDNN(cudnnCreateActivationDescriptor(&desc_));
    CHECK_CUDNN(cudnnSetActivationDescriptor(desc_, mode, CUDNN_PROPAGATE_NAN, 0.0));
  }
  ~ActivationLayer() override { cudnnDestroyActivationDescriptor(desc_); }
  const char *name() const override { return "activation"; }
  void forward(cudnnTensorDescriptor_t desc, const float *x, float *y) override {
    CHECK_CUDNN(cudnnActivationForward(handle_, desc_, &one_, desc, x, &zero_, desc, y));
  }

 private:
  cudnnActivationDescriptor_t desc_;
};

class SoftmaxLayer : public Layer {
 public:
  using Layer::Layer;
  const char *name() const override { return "softmax"; }
  void forward(cudnnTensorDescriptor_t desc, const float *x, float *y) override {
    CHECK_CUDNN(cudnnSoftmaxForward(handle_, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one_,
                                    desc, x, &zero_, desc, y));
  }
};

int main() {
  cudnnHandle_t handle;
  cudnnCreate(&handle);
  cudnnTensorDescriptor_t desc;
  cudnnCreateTensorDescriptor(&desc);
  cudnnSetTensor4dDescriptor(desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 4, 1, 1);
  std::vector<std::unique_ptr<Layer>> layers;
  layers.emplace_back(new ActivationLayer(handle, CUDNN_ACTIVATION_TANH));
  layers.push_back(std::make_unique<SoftmaxLayer>(handle));
  float host[4] = {-1, 0, 1, 2}, *x;
  cudaMalloc(&x, sizeof(host));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  for (auto &layer : layers) {
    layer->forward(desc, x, x);
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    std::cout << layer->name() << ":";
    for (float v : host) std::cout << ' ' << v;
    std::cout << std::endl;
  }
  cudaFree(x);
  cudnnDestroyTensorDescriptor(desc);
  cudnnDestroy(handle);
}
