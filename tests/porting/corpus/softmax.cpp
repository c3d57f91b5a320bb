// Softmax and its cross entropy, with small classes that own what cuDNN makes.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

inline void check(cudnnStatus_t status, const std::string &what) {
  if (status != CUDNN_STATUS_SUCCESS) {
    std::cerr << what << ": " << cudnnGetErrorString(status) << std::endl;
    std::exit(1);
  }
}

inline void check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::cerr << cudaGetErrorString(status) << std::endl;
    std::exit(1);
  }
}

class Context {
 public:
  Context() { check(cudnnCreate(&handle_), "cudnnCreate"); }
  ~Context() { cudnnDestroy(handle_); }
  cudnnHandle_t handle() const { return handle_; }

 private:
  cudnnHandle_t handle_;
};

class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    check(cudaMalloc(reinterpret_cast<void **>(&data_), count * sizeof(float)));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray &) = delete;
  void upload(const std::vector<float> &host) {
    check(cudaMemcpy(data_, host.data(), count_ * sizeof(float), cudaMemcpyHostToDevice));
  }
  std::vector<float> download() const {
    std::vector<float> host(count_);
    check(cudaMemcpy(host.data(), data_, count_ * sizeof(float), cudaMemcpyDeviceToHost));
    return host;
  }
  float *get() { return data_; }

 private:
  size_t count_;
  float *data_ = nullptr;
};

const int kBatch = 3;
const int kClasses = 5;

static float cross_entropy(const std::vector<float> &log_p, const std::vector<int> &labels) {
  float loss = 0;
  for (int i = 0; i < kBatch; ++i) loss -= log_p[i * kClasses + labels[i]];
  return loss / kBatch;
}

int main() {
  Context context;
  cudnnTensorDescriptor_t desc;
  check(cudnnCreateTensorDescriptor(&desc), "create");
  check(cudnnSetTensor4dDescriptor(desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, kBatch, kClasses, 1, 1),
        "set");

  std::vector<float> logits(kBatch * kClasses);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = std::sin(0.7f * i) * 3.0f;
  std::vector<int> labels = {0, 3, 2};

  DeviceArray x(logits.size()), y(logits.size());
  x.upload(logits);
  const float alpha = 1.0f, beta = 0.0f;
  check(cudnnSoftmaxForward(context.handle(), CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE,
                            &alpha, desc, x.get(), &beta, desc, y.get()),
        "softmax");
  std::vector<float> p = y.download();
  std::cout << std::fixed << std::setprecision(4);
  for (int i = 0; i < kBatch; ++i) {
    int best = 0;
    float sum = 0;
    for (int j = 0; j < kClasses; ++j) {
      sum += p[i * kClasses + j];
      if (p[i * kClasses + j] > p[i * kClasses + best]) best = j;
      std::cout << p[i * kClasses + j] << (j + 1 < kClasses ? " " : "");
    }
    std::cout << " | sum " << sum << " class " << best << std::endl;
  }

  check(cudnnSoftmaxForward(context.handle(), CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &alpha,
                            desc, x.get(), &beta, desc, y.get()),
        "log softmax");
  std::cout << "loss " << cross_entropy(y.download(), labels) << std::endl;

  DeviceArray dy(logits.size()), dx(logits.size());
  std::vector<float> gradient(logits.size(), 0.0f);
  for (int i = 0; i < kBatch; ++i) gradient[i * kClasses + labels[i]] = -1.0f / kBatch;
  dy.upload(gradient);
  check(cudnnSoftmaxBackward(context.handle(), CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &alpha,
                             desc, y.get(), desc, dy.get(), &beta, desc, dx.get()),
        "backward");
  float norm = 0.0f;
  for (float g : dx.download()) norm += g * g;
  std::cout << "gradient norm " << std::sqrt(norm) << std::endl;
  check(cudnnDestroyTensorDescriptor(desc), "destroy");
  return 0;
}
